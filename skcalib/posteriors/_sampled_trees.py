"""Sampling of trees by Wilson's algorithm (cycle popping), or by elimination."""

from __future__ import annotations

import numpy as np

# Rounds after which samples that still have cycles are drawn by elimination.
MOST_ROUNDS = 100


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
        # Given its only child, the other words form a tree below this child. The child
        # is drawn from the marginals of root arcs, which sum to 1.
        roots = _pick(np.tile(proba[:, 0], (size, 1)), rng)
        if n > 1:
            # no other word may choose the root
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
            # The drawn child keeps the root as its head in every round.
            part[np.arange(rows.size), roots[rows]] = 0
        heads[rows] = part
        # Words below a cycle keep their heads: only the cycle is removed, as in
        # Wilson's stacks of heads.
        redraw = _on_cycle(part)
        wrong = redraw.any(axis=1)
        rows, redraw = rows[wrong], redraw[wrong]
        if rows.size == 0:
            return heads
    if roots is None:
        heads[rows] = _by_elimination(scores, rows.size, rng)
    else:
        heads[rows] = _with_roots(scores, roots[rows], rng)
    return heads


def _pick(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the column drawn in each row, never a column of weight 0."""
    sums = weights.cumsum(axis=1)
    target = rng.random(len(weights)) * sums[:, -1]
    return (sums <= target[:, np.newaxis]).sum(axis=1)


def _pick_log(log_weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _pick(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), rng)


def _on_cycle(heads: np.ndarray) -> np.ndarray:
    """Return which words are on a cycle, bool (size, n).

    After at least n steps upwards, every word has arrived at the root or on a cycle.
    For example, with heads 2, 1, 1 and 0 of the words 1 to 4, eight steps lead to 1,
    2, 2 and 0: the words 1 and 2 are a cycle, and word 3 is only below it.
    """
    size, n = heads.shape
    after = np.zeros((size, n + 1), dtype=np.intp)
    after[:, 1:] = heads
    after = _follow(after)
    found = np.zeros((size, n + 1), dtype=bool)
    # marks the nodes that are arrived at, which are the root and all cycles
    np.put_along_axis(found, after, True, axis=1)
    return found[:, 1:]


def _follow(after: np.ndarray) -> np.ndarray:
    """Return the node that is reached from each node after at least n steps."""
    for _ in range((after.shape[1] - 1).bit_length()):
        # theory, (R6): after s rounds, 2^s steps
        after = np.take_along_axis(after, after, axis=1)
    return after


def _with_roots(
    scores: np.ndarray, roots: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the heads of one tree for each of the `roots`, the only child of 0."""
    n = len(scores)
    heads = np.zeros((roots.size, n), dtype=np.intp)
    for root in np.unique(roots).tolist():
        rows = np.flatnonzero(roots == root)
        # The child of the root takes its place.
        words = np.delete(np.arange(n), root)
        nodes = np.concatenate([[root], words]) + 1
        part = _by_elimination(scores[np.ix_(words, nodes)], rows.size, rng)
        heads[np.ix_(rows, words)] = nodes[part]
    return heads


def _by_elimination(
    scores: np.ndarray, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the heads (size, n) of trees with any number of roots.

    Words are eliminated one by one (see _tree_elimination): the arc from d to h gains
    the weight of the way through the eliminated word k. Then they are put back in the
    opposite order. A word whose arc leads through k becomes a child of k. By Cayley's
    formula, the head of k is drawn from the probabilities of leaving k, among the words
    that are connected to the root without passing through k.
    """
    n = len(scores)
    to, leaving = _eliminate_all(scores)
    heads = np.zeros((size, n), dtype=np.intp)
    via = np.full((size, n), -1)  # the word through which an arc leads; -1 if direct
    for k in range(n - 1, -1, -1):
        through = via == k
        # Words up to k are not in the tree yet; their entries mean nothing.
        through[:, : k + 1] = False
        after = np.zeros((size, n + 1), dtype=np.intp)
        after[:, 1:] = np.where(through, np.arange(1, n + 1), heads)
        after = _follow(after)
        # k may only choose a head whose way up does not lead through k.
        heads[:, k] = _pick_log(np.where(after == 0, leaving[k], -np.inf), rng)
        heads[through] = k + 1
        through[:, k] = True
        row, word = np.nonzero(through)
        head = heads[row, word]
        ways = np.empty((row.size, k + 1))
        # the arc itself, or a way through each word that was eliminated before k
        ways[:, 0] = scores[word, head]
        ways[:, 1:] = to[word, :k] + leaving[:k, head].T
        via[row, word] = _pick_log(ways, rng) - 1
    return heads


def _eliminate_all(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log weights to each word, and log probabilities of leaving it for a head.

    Both are from the time when the word is eliminated: only the root and later words
    are left. For earlier words, the probabilities are -inf, and the weights undefined.
    """
    n = len(scores)
    arcs = scores.copy()
    to = np.empty((n, n))
    leaving = np.full((n, n + 1), -np.inf)
    left = np.ones(n + 1, dtype=bool)
    for k in range(n):
        left[k + 1] = False
        leaving[k, left] = arcs[k, left] - np.logaddexp.reduce(arcs[k, left])
        to[k + 1 :, k] = arcs[k + 1 :, k + 1]
        # theory, (R3), in logarithms
        ways = to[k + 1 :, k, np.newaxis] + leaving[k]
        arcs[k + 1 :] = np.logaddexp(arcs[k + 1 :], ways)
    return to, leaving
