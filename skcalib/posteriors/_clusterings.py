"""Kernels over antecedent choices: arrays of one document in, arrays out.

Mentions have the numbers 0 to n - 1. `scores` and `proba` are (n, n), row j for mention
j: the antecedents before it, then NEW on the diagonal; above it scores are -inf and
probabilities 0.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

BLOCK = 64


def log_normaliser(scores: np.ndarray) -> np.ndarray:
    """Return the log of the summed exponentials of each row, -inf for none."""
    if scores.size == 0:
        return np.zeros(len(scores))
    top = scores.max(axis=1)
    top[top == -np.inf] = 0
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities of each row."""
    if scores.size == 0:
        return scores.copy()
    with np.errstate(over="ignore"):
        proba = scores - scores.max(axis=1, keepdims=True)
    np.exp(proba, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    return proba


def pair_marginals(proba: np.ndarray) -> np.ndarray:
    """Return the probability of each two mentions to be in one entity.

    A mention joins the entity of its antecedent, which was settled before it: row j is
    the mean of the rows of its antecedents. Blocks of rows make it matrix products;
    every term is positive, so nothing cancels.
    """
    n = len(proba)
    pairs = np.zeros((n, n))
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        own = proba[a:b, a:b]
        inside = np.zeros((b - a, b - a))
        if a:
            # antecedents in the block wait for rows of the block
            direct = proba[a:b, :a] @ pairs[:a, :a]
            before = solve_triangular(
                -own, direct, lower=True, unit_diagonal=True, check_finite=False
            )
            pairs[a:b, :a] = before
            pairs[:a, a:b] = before.T
            inside = proba[a:b, :a] @ before.T
        _rows_of_block(own, inside)
        pairs[a:b, a:b] = inside
    return np.minimum(pairs, 1, out=pairs)


def _rows_of_block(own: np.ndarray, inside: np.ndarray) -> None:
    """Fill in the pairs of a block; `inside` has what comes by way of earlier ones."""
    np.fill_diagonal(inside, 1)
    for j in range(1, len(own)):
        row = inside[j, :j]
        row += own[j, :j] @ inside[:j, :j]
        inside[:j, j] = row


def draw_labels(proba: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return sampled labels, the first mention of each mention's entity.

    uniform : (n_samples, n), in [0, 1). Returns (n, n_samples), int32.
    """
    n, n_samples = len(proba), len(uniform)
    labels = np.empty((n, n_samples), dtype=np.int32)
    each = np.arange(n_samples)
    sums = proba.cumsum(axis=1)
    for j in range(n):
        total = sums[j, j]
        # Below the total, and right of equal sums: what has probability 0 is not drawn.
        target = np.minimum(uniform[:, j] * total, np.nextafter(total, 0))
        antecedent = np.searchsorted(sums[j, : j + 1], target, side="right")
        labels[j] = j
        labels[j] = labels[antecedent, each]
    return labels


def follow(antecedents: np.ndarray) -> np.ndarray:
    """Return the first mention of each mention's entity."""
    labels: list[int] = []
    for j, k in enumerate(antecedents.tolist()):
        labels.append(j if k == j else labels[k])
    return np.array(labels, dtype=np.intp)


def n_entities_pmf(new: np.ndarray) -> np.ndarray:
    """Return the probability of 0, 1, ... successes of independent trials."""
    pmf = np.zeros(len(new) + 1)
    pmf[0] = 1
    for j, p in enumerate(new):
        pmf[1 : j + 2] = pmf[1 : j + 2] * (1 - p) + pmf[: j + 1] * p
        pmf[0] *= 1 - p
    return pmf


def entity_proba(proba: np.ndarray, members: np.ndarray) -> float:
    """Return the probability that sorted mentions are one entity, and all of it."""
    first = members[0]
    rows = proba[first + 1 :, members]
    # the diagonal is NEW, no link to a member
    rows[members[1:] - first - 1, np.arange(1, len(members))] = 0
    link = rows.sum(axis=1)
    away = np.maximum(1 - link, 0)
    away[members[1:] - first - 1] = link[members[1:] - first - 1]
    return float(proba[first, first] * away.prod())


def clustering_scores(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return scores with -inf for every choice that does not give the clustering."""
    n = len(labels)
    allowed = np.equal.outer(labels, labels)
    allowed &= np.tri(n, k=-1, dtype=bool)
    first = ~allowed.any(axis=1)
    allowed[first, first] = True
    return np.where(allowed, scores, -np.inf)
