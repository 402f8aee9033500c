"""Sums over trees by elimination without subtraction, for scores of any size.

The heads of words form a Markov chain that ends at the root. Words are eliminated one
by one, as in the algorithm of Grassmann, Taksar and Heyman. There are no subtractions
and therefore no cancellation. A number is represented by its logarithm and a power of a
small t (see `Terms`). If trees must have a single root, arcs of the root have the
factor t. Sums then only keep the lowest power, which belongs to the trees with the
fewest roots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Maximum number of array entries that are processed together.
AT_ONCE = 2**21


class Terms(NamedTuple):
    """Arrays of numbers exp(log) t^power; the power of 0 is inf."""

    power: np.ndarray
    log: np.ndarray

    @classmethod
    def of(cls, log: np.ndarray, power: np.ndarray) -> Terms:
        return cls(np.where(log == -np.inf, np.inf, power), log)

    def at(self, *index: Any) -> Terms:
        return Terms(self.power[index], self.log[index])

    def times(self, other: Terms) -> Terms:
        return Terms(self.power + other.power, self.log + other.log)

    def over(self, other: Terms) -> Terms:
        """Divide; 0 divided by 0 is 0."""
        is_zero = np.isinf(self.power)
        with np.errstate(invalid="ignore"):
            power, log = self.power - other.power, self.log - other.log
        return Terms(np.where(is_zero, np.inf, power), np.where(is_zero, -np.inf, log))

    def plus(self, other: Terms) -> Terms:
        # For small t, a higher power is negligible beside a lower one.
        power = np.minimum(self.power, other.power)
        ours = np.where(self.power == power, self.log, -np.inf)
        theirs = np.where(other.power == power, other.log, -np.inf)
        return Terms(power, np.logaddexp(ours, theirs))

    def sum(self, axis: int) -> Terms:
        power = self.power.min(axis=axis, keepdims=True)
        log = np.where(self.power == power, self.log, -np.inf)
        top = log.max(axis=axis, keepdims=True)
        top[top == -np.inf] = 0
        with np.errstate(divide="ignore"):
            total = top + np.log(np.exp(log - top).sum(axis=axis, keepdims=True))
        return Terms(power.squeeze(axis), total.squeeze(axis))


def as_terms(scores: np.ndarray, single_root: bool) -> Terms:
    """Return arcs (..., n, n + 1) with the root in the first column."""
    power = np.zeros(scores.shape)
    if single_root:
        power[..., 0] = 1
    return Terms.of(scores, power)


def log_partition(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return log Z of each matrix of a stack (b, n, n + 1), -inf without a tree."""
    arcs = as_terms(scores, single_root)
    power, log = np.zeros(len(scores)), np.zeros(len(scores))
    for _ in range(scores.shape[1]):
        arcs, _, total = _eliminate(arcs, 0)
        # theory, (R3): log Z is the sum of the logs of the totals
        power, log = power + total.power, log + total.log
    # With t^2 or higher, no tree has a single root; inf means no tree at all.
    return np.where(power == int(single_root), log, -np.inf)


def arc_marginals(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """Return the probability of each arc of a stack (b, n, n + 1) that has trees.

    The head of d is h in proportion to the weight of the arc times the probability that
    the chain from h ends at the root before it visits d.
    """
    n = scores.shape[1]
    found = np.empty(scores.shape)
    size = max(1, AT_ONCE // max(1, n * (n + 1)))
    for first in range(0, len(scores), size):
        arcs = as_terms(scores[first : first + size], single_root)
        escape = _escape(arcs)
        # theory, (R4), with the escape from h before d at row d, column h
        words = arcs.at(..., slice(1, None)).times(
            Terms(*(np.swapaxes(each, 1, 2) for each in escape))
        )
        power = np.concatenate([arcs.power[..., :1], words.power], axis=2)
        log = np.concatenate([arcs.log[..., :1], words.log], axis=2)
        # Heads with a higher power of t belong to trees with more roots.
        log = np.where(power == power.min(axis=2, keepdims=True), log, -np.inf)
        proba = np.exp(log - log.max(axis=2, keepdims=True))
        proba /= proba.sum(axis=2, keepdims=True)
        found[first : first + size] = proba
    return found


def _eliminate(arcs: Terms, k: int) -> tuple[Terms, Terms, Terms]:
    """Return the arcs after eliminating word k, the next words of k, and its weight."""
    keep = np.delete(np.arange(arcs.log.shape[-2]), k)
    columns = np.concatenate([[0], keep + 1])
    row = arcs.at(slice(None), k, columns)
    total = row.sum(axis=-1)
    row = row.over(total.at(slice(None), np.newaxis))
    to_k = arcs.at(slice(None), keep, slice(k + 1, k + 2))
    rest = Terms(*(each[:, keep][:, :, columns] for each in arcs))
    via = to_k.times(row.at(slice(None), np.newaxis))
    return rest.plus(via), row, total


def _escape(arcs: Terms) -> Terms:
    """Return the probability (b, n, n) that a row's chain ends before a column.

    Entry (h, d) is the probability that the chain of heads from h reaches the root
    before it visits d. Eliminating words other than d does not change it for the words
    that are left. One half of the words is eliminated, the columns of the other half
    are solved as a smaller problem, and the eliminated words are put back in the
    opposite order. Both halves take turns.

    For example, with words 0 to 3: eliminate 0, then 1, solve the columns 2 and 3 for
    the rows 2 and 3, add the row of 1 from its next words (root, 2, 3), then the row of
    0 from its next words (root, 1, 2, 3).
    """
    b, n = arcs.log.shape[:2]
    found = Terms(np.full((b, n, n), np.inf), np.full((b, n, n), -np.inf))
    if n < 2:
        return found
    half = np.arange(n // 2), np.arange(n // 2, n)
    for drop, keep in (half, half[::-1]):
        rest, rows = arcs, []
        for _ in drop:  # the words of `drop` are adjacent
            rest, row, _ = _eliminate(rest, int(drop[0]))
            rows.append(row)
        below = _escape(rest)
        # The row of the root: a chain at the root has ended, with probability 1.
        one = Terms(np.zeros((b, 1, keep.size)), np.zeros((b, 1, keep.size)))
        below = Terms(
            *(np.concatenate(each, 1) for each in zip(one, below, strict=True))
        )
        for row in rows[::-1]:
            # theory, (R5)
            step = row.at(slice(None), slice(None), np.newaxis).times(below).sum(1)
            below = _insert(below, step, int(drop[0]) + 1)
        for whole, part in zip(found, below, strict=True):
            whole[:, :, keep] = part[:, 1:]
    diagonal = np.arange(n)
    # A chain from d visits d at once.
    found.power[:, diagonal, diagonal] = np.inf
    found.log[:, diagonal, diagonal] = -np.inf
    return found


def _insert(terms: Terms, row: Terms, k: int) -> Terms:
    power, log = (np.insert(a, k, r, axis=1) for a, r in zip(terms, row, strict=True))
    return Terms(power, log)
