"""Sampling of trees from the posterior by Wilson's algorithm (cycle popping)."""

from __future__ import annotations

import numpy as np

from ._tree_sums import arc_marginals

# Rounds after which samples that still have cycles are drawn word by word.
MOST_ROUNDS = 500


def sample(
    scores: np.ndarray,
    proba: np.ndarray,
    single_root: bool,
    size: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the heads (size, n) of trees of one sentence.

    scores, proba : (n, n + 1), log scores and marginals of arcs. The popped cycles are
    independent of the tree (Propp and Wilson). Samples that still have a cycle after
    many rounds can therefore be drawn by another method.
    """
    n = len(scores)
    heads = np.zeros((size, n), dtype=np.intp)
    if n == 0:
        return heads
    free = scores.copy()
    roots = None
    if single_root:
        roots = _pick(np.tile(proba[:, 0], (size, 1)), rng)
        if n > 1:
            free[:, 0] = -np.inf
    top = free.max(axis=1, keepdims=True)
    top[top == -np.inf] = 0
    sums = np.exp(free - top).cumsum(axis=1)
    rows = np.arange(size)
    redraw = np.ones((size, n), dtype=bool)
    for _ in range(MOST_ROUNDS):
        at, words = np.nonzero(redraw)
        target = rng.random(at.size) * sums[words, -1]
        part = heads[rows]
        part[at, words] = (sums[words] <= target[:, np.newaxis]).sum(axis=1)
        if roots is not None:
            part[np.arange(rows.size), roots[rows]] = 0
        heads[rows] = part
        redraw = _on_cycle(part)
        wrong = redraw.any(axis=1)
        rows, redraw = rows[wrong], redraw[wrong]
        if rows.size == 0:
            return heads
    heads[rows] = _word_by_word(
        scores, None if roots is None else roots[rows], rows.size, rng
    )
    return heads


def _pick(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the column drawn in each row, never a column of weight 0."""
    sums = weights.cumsum(axis=1)
    target = rng.random(len(weights)) * sums[:, -1]
    return (sums <= target[:, np.newaxis]).sum(axis=1)


def _on_cycle(heads: np.ndarray) -> np.ndarray:
    """Return which words are on a cycle, bool (size, n)."""
    size, n = heads.shape
    after = np.zeros((size, n + 1), dtype=np.intp)
    after[:, 1:] = heads
    for _ in range(int(n).bit_length()):
        after = np.take_along_axis(after, after, axis=1)
    found = np.zeros((size, n + 1), dtype=bool)
    np.put_along_axis(found, after, True, axis=1)
    return found[:, 1:]


def _word_by_word(
    scores: np.ndarray, roots: np.ndarray | None, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return heads drawn word by word, each given the heads drawn before it.

    Samples that agree so far share the marginals of the next word. `roots` are the
    words below the root if trees have a single root.
    """
    n = len(scores)
    heads = np.zeros((size, n), dtype=np.intp)
    if roots is None:
        group, cases = np.zeros(size, dtype=np.intp), scores[np.newaxis]
    else:
        first, group = np.unique(roots, return_inverse=True)
        cases = np.repeat(scores[np.newaxis], first.size, axis=0)
        alone = np.arange(n) != first[:, np.newaxis]
        cases[..., 0][alone] = -np.inf
        cases[..., 1:][~alone] = -np.inf
    drawn = np.zeros(n, dtype=bool)
    for _ in range(n + 1):
        proba = arc_marginals(cases, roots is not None)
        heads = proba.argmax(axis=2)[group]
        # A head of probability 1 does not change the marginals of other words.
        open_words = np.flatnonzero((proba.max(axis=2) < 1).any(axis=0) & ~drawn)
        if open_words.size == 0:
            break
        word = open_words[0]
        drawn[word] = True
        head = _pick(proba[group, word], rng)
        known, group = np.unique(group * (n + 1) + head, return_inverse=True)
        before, head = np.divmod(known, n + 1)
        cases = cases[before]
        kept = cases[np.arange(head.size), word, head]
        cases[:, word] = -np.inf
        cases[np.arange(head.size), word, head] = kept
    return heads
