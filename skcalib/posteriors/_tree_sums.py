"""Sums over trees by the matrix-tree theorem, for sentences of one length at a time.

`scores` are (b, n, n + 1): rows are words, the first column is the root, column h + 1
is word h. A word's own column is -inf.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from . import _tree_elimination as elimination

# Maximum number of entries of a stack of matrices.
AT_ONCE = 2**20
# Estimated error above which elimination without subtraction replaces the inverse.
TOLERANCE = 1e-11


class Solution(NamedTuple):
    """Logarithms of determinants, inverses, and whether they are accurate."""

    log_z: np.ndarray
    inverse: np.ndarray
    weights: np.ndarray
    is_accurate: np.ndarray


def stacks(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the indices of sentences of one length, not too many at a time."""
    for n in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == n)
        size = max(1, AT_ONCE // (n + 1) ** 2)
        for first in range(0, rows.size, size):
            yield rows[first : first + size]


def log_partition(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return log Z of each sentence, -inf where there is no tree."""
    if scores.shape[1] == 0:
        return np.zeros(len(scores))
    found = _solve(scores, single_root)
    log_z, again = found.log_z, ~found.is_accurate
    if again.any():
        log_z[again] = elimination.log_partition(scores[again], single_root)
    return log_z


def arc_marginals(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return the probability of each arc, NaN for a sentence without a tree."""
    if scores.shape[1] == 0:
        return np.zeros(scores.shape)
    found = _solve(scores, single_root)
    proba = _marginals(found, single_root)
    again = ~found.is_accurate
    if again.any():
        log_z = elimination.log_partition(scores[again], single_root)
        again[again] = log_z > -np.inf
        proba[~found.is_accurate & ~again] = np.nan
        proba[again] = elimination.arc_marginals(scores[again], single_root)
    return proba


def _solve(scores: np.ndarray, single_root: bool) -> Solution:
    """Return determinants and inverses of the Laplacians."""
    weights, offset = _scaled(scores, single_root)
    # theory, (R1)
    matrix = -weights[:, :, 1:]
    n = matrix.shape[1]
    diagonal = np.arange(n)
    in_sum = slice(1 if single_root else 0, None)
    matrix[:, diagonal, diagonal] = weights[:, :, in_sum].sum(axis=2)
    if single_root:  # Koo et al., equation 8, transposed
        matrix[:, :, 0] = weights[:, :, 0]
    with np.errstate(divide="ignore"):  # a singular matrix
        sign, log_det = np.linalg.slogdet(matrix)
    # The inverse contains the reciprocal, which overflows beyond e^709.
    regular = (sign > 0) & (log_det > -600)
    matrix[~regular] = np.eye(n)
    inverse = np.linalg.inv(matrix)
    size = np.abs(inverse)
    with np.errstate(over="ignore"):
        # norm of the inverse times norm of the matrix bounds the relative error of an
        # inverse; times its largest entry, the absolute error
        error = size.sum(axis=2).max(axis=1) * size.max(axis=(1, 2))
    error *= np.abs(matrix).sum(axis=2).max(axis=1) * np.finfo(float).eps
    return Solution(log_det + offset, inverse, weights, regular & (error < TOLERANCE))


def _scaled(scores: np.ndarray, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of at most 1, and the log of the factor divided out of all trees.

    Each word has one head, so a factor of a row is a factor of every tree. With a
    single root, a factor of all arcs of the root is also a factor of every tree.
    """
    top = scores[:, :, 1 if single_root else 0 :].max(axis=2, initial=-np.inf)
    top = np.where(top == -np.inf, scores[:, :, 0], top)
    top[top == -np.inf] = 0
    scaled = scores - top[:, :, np.newaxis]
    offset = top.sum(axis=1)
    if single_root:
        root = scaled[:, :, 0].max(axis=1)
        root[root == -np.inf] = 0
        scaled[:, :, 0] -= root[:, np.newaxis]
        offset = offset + root
    weights = np.exp(scaled)
    total = weights[:, :, 1 if single_root else 0 :].sum(axis=2)
    total[total == 0] = 1
    weights /= total[:, :, np.newaxis]
    return weights, offset + np.log(total).sum(axis=1)


def _marginals(found: Solution, single_root: bool) -> np.ndarray:
    """Return the weights of arcs times the derivatives of log Z."""
    inverse, proba = found.inverse, np.empty_like(found.weights)
    # theory, (R2)
    own = np.diagonal(inverse, axis1=1, axis2=2).copy()
    other = np.swapaxes(inverse, 1, 2)
    if single_root:
        proba[:, :, 0] = inverse[:, 0, :]
        # The first column of L' contains weights of the root instead of arcs to word 1.
        own[:, 0] = 0
        other = other.copy()
        other[:, :, 0] = 0
    else:
        proba[:, :, 0] = own
    np.subtract(own[:, :, np.newaxis], other, out=proba[:, :, 1:])
    proba *= found.weights
    np.clip(proba, 0, 1, out=proba)  # rounding errors can give -1e-17
    return proba


def log_subtree_sums(
    scores: np.ndarray, start: int, stop: int, single_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the trees inside a span and of the trees outside it.

    One word of the span has its head outside. No word outside has its head inside.
    """
    inside = np.arange(start, stop)
    outside = np.delete(np.arange(len(scores)), inside)
    heads = outside + 1
    # With a single root, the root may only be the head if nothing is outside.
    if not single_root or outside.size == 0:
        heads = np.concatenate([[0], heads])
    above = scores[np.ix_(inside, heads)]
    entry = np.logaddexp.reduce(above, axis=1)
    within = np.column_stack([entry, scores[start:stop, start + 1 : stop + 1]])
    return within, scores[np.ix_(outside, np.concatenate([[0], outside + 1]))]
