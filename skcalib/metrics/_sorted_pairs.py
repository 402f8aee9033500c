"""Pairs in ascending order of their probability, and their tie classes.

Rows of equal q form a *tie class*. A position is the total weight of the pairs below
it. Without weights, a position is a rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from .._pairs import Pairs


@dataclass(frozen=True)
class TieClasses:
    """Tie classes at some positions: value of q, start and stop, positives before."""

    value: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    positive_start: np.ndarray
    positive_stop: np.ndarray


def _range_sums(x: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Return the sums of x[start:stop] for ascending, disjoint ranges."""
    sums = np.zeros(start.size)
    some = np.flatnonzero(start < stop)
    if some.size:
        edges = np.column_stack([start[some], stop[some]]).ravel()
        # reduceat sums from each edge to the next edge: the even entries are the
        # ranges, the odd entries are the gaps between them. It accepts no edge at the
        # end of x.
        edges = edges[:-1] if edges[-1] == x.size else edges
        # reduceat adds pairwise, so a sum of n terms loses about log2(n) roundings
        sums[some] = np.add.reduceat(x, edges, dtype=np.float64)[::2]
    return sums


class SortedRows:
    """Unweighted pairs in ascending order of q. Sorts copies of both arrays.

    The positives below any value are counted by binary search in their own sorted
    array, so neither labels nor a permutation are carried through the sort.

    With `reusable`, `sums` may be called any number of times, which requires one more
    array. Otherwise `sums` may be called only once, because the squares overwrite q.
    """

    def __init__(
        self, q: np.ndarray, positive_q: np.ndarray, *, reusable: bool = False
    ):
        # sorting float32 is twice as fast; the sums are computed in float64
        self.q = np.sort(q).astype(np.float64, copy=False)
        self.positive_q = np.sort(positive_q).astype(np.float64, copy=False)
        self.total = float(self.q.size)
        self.positives = float(self.positive_q.size)
        self._reusable = reusable

    @cached_property
    def _squares(self) -> np.ndarray:
        out = None if self._reusable else self.q
        return np.multiply(self.q, self.q, out=out)

    def below(self, values: np.ndarray) -> np.ndarray:
        """Return the positions that separate q <= value from q > value."""
        return np.searchsorted(self.q, values, side="right")

    def snap(self, bounds: np.ndarray) -> np.ndarray:
        """Return the bounds as ranks."""
        return np.asarray(bounds, dtype=np.intp)

    def ties_at(self, cuts: np.ndarray) -> TieClasses:
        """Return the tie class of the first row after each cut."""
        value = self.q[cuts]
        return TieClasses(
            value,
            np.searchsorted(self.q, value, side="left"),
            np.searchsorted(self.q, value, side="right"),
            np.searchsorted(self.positive_q, value, side="left"),
            np.searchsorted(self.positive_q, value, side="right"),
        )

    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, number of rows and of positives of each tie class."""
        start = np.flatnonzero(np.r_[True, self.q[1:] != self.q[:-1]])
        value = self.q[start]
        before = np.searchsorted(self.positive_q, value, side="left")
        positive = np.diff(before, append=self.positive_q.size)
        return value, np.diff(start, append=self.q.size), positive

    def extremes(self, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and largest q between consecutive bounds."""
        return self.q[bounds[:-1]], self.q[bounds[1:] - 1]

    def sums(
        self,
        start: np.ndarray,
        stop: np.ndarray,
        positive_start: np.ndarray,
        positive_stop: np.ndarray,
        squares: bool,
    ) -> list[np.ndarray]:
        """Return the sums of q, y, q^2 and y q over ranges of whole tie classes.

        Without `squares`, only the first two sums are returned. Unless the rows are
        reusable, the squares overwrite the sorted q, so this must be the last call.
        """
        q = _range_sums(self.q, start, stop)
        # A bin inside one class has no whole class: start is after stop.
        y = np.maximum(positive_stop - positive_start, 0).astype(np.float64)
        if not squares:
            return [q, y]
        qq = _range_sums(self._squares, start, stop)
        yq = _range_sums(
            self.positive_q,
            positive_start.astype(np.intp),
            positive_stop.astype(np.intp),
        )
        return [q, y, qq, yq]


class SortedCells:
    """Weighted pairs summed up by tie class, in ascending order of q."""

    def __init__(self, q: np.ndarray, positive: np.ndarray, weight: np.ndarray):
        order = np.argsort(q, kind="stable")
        q, weight = q[order].astype(np.float64, copy=False), weight[order]
        # first row of each class, followed by the number of rows
        first = np.flatnonzero(np.r_[True, q[1:] != q[:-1], True])
        self._sum_up(q, positive[order], weight, first)

    @classmethod
    def from_sorted(
        cls,
        q: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray,
        first: np.ndarray,
    ) -> SortedCells:
        """Return the classes of sorted pairs, whose first rows are known."""
        cells = cls.__new__(cls)
        cells._sum_up(q, positive, weight, first)
        return cells

    def _sum_up(
        self,
        q: np.ndarray,
        positive: np.ndarray,
        weight: np.ndarray,
        first: np.ndarray,
    ) -> None:
        """Sum the weights by class.

        `first` has one entry for each class and the number of rows at its end. For q =
        .2, .5, .5 it is 0, 1, 3: three entries for three rows, so there are ties. For
        q = .2, .5, .7 it has four entries, and every row is its own class.
        """
        self.q, self.weight, self.positive = q, weight, weight * positive
        # there are ties
        if first.size <= q.size:
            first = first[:-1]
            self.q = q[first]
            self.weight = np.add.reduceat(self.weight, first)
            self.positive = np.add.reduceat(self.positive, first)
        # In a class all q are equal; sketched cells have wider ranges.
        self.low = self.high = self.q
        self.accumulate()

    def accumulate(self) -> None:
        """Accumulate the weights, from which positions are computed."""
        self.end = np.cumsum(self.weight)
        self.positive_end = np.cumsum(self.positive)
        # sums of one number, or of none in a sketch without pairs
        self.total = float(self.end[-1:].sum())
        self.positives = float(self.positive_end[-1:].sum())

    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, weight and weight of the positives of each tie class."""
        return self.q, self.weight, self.positive

    def _terms(self) -> Iterator[np.ndarray]:
        """Yield w q, w y, w q^2 and w y q of each class, one array at a time."""
        yield self.weight * self.q
        yield self.positive
        yield self.weight * self.q**2
        yield self.positive * self.q

    def _before(self, ends: np.ndarray, index: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], ends])[index]

    def below(self, values: np.ndarray) -> np.ndarray:
        """Return the positions that separate q <= value from q > value."""
        return self._before(self.end, np.searchsorted(self.q, values, side="right"))

    def snap(self, bounds: np.ndarray) -> np.ndarray:
        """Move bounds to the end of a class if only rounding separates them."""
        bounds = np.array(bounds, dtype=np.float64)
        cuts = bounds[1:-1]
        at = np.searchsorted(self.end, cuts)
        # The nearest class end is the one before or the one at the insertion point.
        for shift in (-1, 0):
            near = self.end[np.clip(at + shift, 0, self.end.size - 1)]
            hit = np.abs(near - cuts) <= 1e-12 * self.total
            cuts[hit] = near[hit]
        return bounds

    def ties_at(self, cuts: np.ndarray) -> TieClasses:
        """Return the tie class of the first weight after each cut."""
        cell = np.searchsorted(self.end, cuts, side="right")
        return TieClasses(
            self.q[cell],
            self._before(self.end, cell),
            self.end[cell],
            self._before(self.positive_end, cell),
            self.positive_end[cell],
        )

    def extremes(self, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and largest q between consecutive bounds."""
        low = np.searchsorted(self.end, bounds[:-1], side="right")
        # The class that ends exactly at a bound belongs to the bin before it.
        high = np.searchsorted(self.end, bounds[1:], side="left")
        return self.low[low], self.high[np.minimum(high, self.q.size - 1)]

    def sums(
        self,
        start: np.ndarray,
        stop: np.ndarray,
        positive_start: np.ndarray,
        positive_stop: np.ndarray,
        squares: bool,
    ) -> list[np.ndarray]:
        """Return the sums of w q, w y, w q^2 and w y q over ranges of whole classes.

        Without `squares`, only the first two sums are returned.
        """
        first = np.searchsorted(self.end, start, side="right")
        last = np.searchsorted(self.end, stop, side="right")
        terms = islice(self._terms(), 4 if squares else 2)
        return [_range_sums(term, first, last) for term in terms]


def sort_pairs(pairs: Pairs, *, reusable: bool = False) -> SortedRows | SortedCells:
    """Return the pairs in ascending order of q.

    With `reusable`, :func:`sum_bins` may be called on them with any number of bounds.
    """
    if pairs.row_weight is None:
        return SortedRows(pairs.q, pairs.positive_q, reusable=reusable)
    assert pairs.weight is not None
    return SortedCells(pairs.q, pairs.indicator(), pairs.weight)
