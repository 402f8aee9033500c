"""Adaptive bins: where the cuts lie, and the sums in each bin.

Everything here is an expectation over the orders of rows with equal q (a *tie class*).
A class that a cut divides gives each bin a share of m of its t rows, and with the share
m / t of its positives: so no number depends on the order of the rows, and a row of
weight 3 is three rows.

Positions count weight from the smallest q upwards; where there are no weights a
position is a rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ._pairs import Pairs


@dataclass(frozen=True)
class TieClasses:
    """Tie classes at some positions: value of q, start and stop, positives before."""

    value: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    positive_start: np.ndarray
    positive_stop: np.ndarray


@dataclass(frozen=True)
class Shares:
    """What divided tie classes give to bins: `taken` of `total` rows.

    All arrays have one entry for each (bin, divided class) that meet; `tie` numbers the
    classes.
    """

    bin: np.ndarray
    tie: np.ndarray
    taken: np.ndarray
    total: np.ndarray
    positive: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class BinSums:
    """Sums over each of T bins, in ascending order of q.

    weight, q, y, qq, yq : sum of w, w q, w y, w q^2, w y q; low, high : smallest and
    largest q; shares : the divided tie classes.
    """

    weight: np.ndarray
    q: np.ndarray
    y: np.ndarray
    qq: np.ndarray
    yq: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shares: Shares

    def __add__(self, other: BinSums) -> BinSums:
        """Add sums over whole tie classes that lie strictly inside the bins."""
        names = ("weight", "q", "y", "qq", "yq")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, **sums)

    @property
    def residual(self) -> np.ndarray:
        """Sum of r = q - y in each bin."""
        return self.q - self.y

    @property
    def squared_residual(self) -> np.ndarray:
        """Sum of r^2 in each bin."""
        return self.qq - 2 * self.yq + self.y

    @property
    def pair_residual(self) -> np.ndarray:
        """Sum of r_i r_j over i != j in each bin."""
        # E[(sum r)^2] = (E sum r)^2 + Var(sum r); a divided class adds the variance of
        # a hypergeometric count: positives among `taken` rows drawn from `total`.
        s = self.shares
        drawn = s.taken * (s.total - s.taken) / np.maximum(s.total - 1, 1)
        rate = s.positive / s.total
        variance = np.bincount(s.bin, drawn * rate * (1 - rate), self.weight.size)
        r, q2 = self.residual, self.squared_residual
        total = r**2 + variance - q2
        # What rounding alone can make is zero: a root would turn 1e-17 into 3e-9.
        noise = r**2 + q2 + np.abs(r) * (self.q + self.y)
        return np.where(np.abs(total) <= 16 * np.finfo(float).eps * noise, 0, total)


def _range_sums(x: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Return the sums of x[start:stop] for ascending, disjoint ranges."""
    sums = np.zeros(start.size)
    some = np.flatnonzero(start < stop)
    if some.size:
        edges = np.column_stack([start[some], stop[some]]).ravel()
        edges = edges[:-1] if edges[-1] == x.size else edges
        # reduceat adds pairwise, so a sum of n terms loses about log2(n) roundings
        sums[some] = np.add.reduceat(x, edges, dtype=np.float64)[::2]
    return sums


class SortedRows:
    """Unweighted pairs in ascending order of q. Sorts copies of both arrays.

    The positives below any value are counted by binary search in their own sorted
    array, so neither labels nor a permutation are carried through the sort.

    With `reusable`, sums over any number of cuts may be taken, at the cost of one more
    array; without it only once, since the squares then take the place of q.
    """

    def __init__(
        self, q: np.ndarray, positive_q: np.ndarray, *, reusable: bool = False
    ):
        # float32 sorts twice as fast; the sums are float64's
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
        """Return the tie class of the first row behind each cut."""
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

    def sums(self, start, stop, positive_start, positive_stop) -> list[np.ndarray]:
        """Return the sums of q, y, q^2 and y q over ranges of whole tie classes.

        Unless the rows are reusable, squares the sorted q in place: call it once, last.
        """
        q = _range_sums(self.q, start, stop)
        y = np.maximum(positive_stop - positive_start, 0).astype(np.float64)
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
        self.q = q[order].astype(np.float64, copy=False)
        self.weight = weight[order]
        self.positive = self.weight * positive[order]
        del order
        new = np.r_[True, self.q[1:] != self.q[:-1]]
        if not new.all():
            first = np.flatnonzero(new)
            self.q = self.q[first]
            self.weight = np.add.reduceat(self.weight, first)
            self.positive = np.add.reduceat(self.positive, first)
        self.low = self.high = self.q
        self._accumulate()

    def _accumulate(self) -> None:
        self.end = np.cumsum(self.weight)
        self.positive_end = np.cumsum(self.positive)
        # sums of one number, or of none in a sketch without pairs
        self.total = float(self.end[-1:].sum())
        self.positives = float(self.positive_end[-1:].sum())

    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, weight and weight of the positives of each tie class."""
        return self.q, self.weight, self.positive

    def _terms(self) -> Iterator[np.ndarray]:
        """Yield w q, w y, w q^2 and w y q of each class, one held at a time."""
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
        """Move bounds that miss the end of a class by rounding only onto it."""
        bounds = np.array(bounds, dtype=np.float64)
        cuts = bounds[1:-1]
        at = np.searchsorted(self.end, cuts)
        for shift in (-1, 0):
            near = self.end[np.clip(at + shift, 0, self.end.size - 1)]
            hit = np.abs(near - cuts) <= 1e-12 * self.total
            cuts[hit] = near[hit]
        return bounds

    def ties_at(self, cuts: np.ndarray) -> TieClasses:
        """Return the tie class of the first weight behind each cut."""
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
        high = np.searchsorted(self.end, bounds[1:], side="left")
        return self.low[low], self.high[np.minimum(high, self.q.size - 1)]

    def sums(self, start, stop, positive_start, positive_stop) -> list[np.ndarray]:
        """Return the sums of w q, w y, w q^2 and w y q over ranges of whole classes."""
        first = np.searchsorted(self.end, start, side="right")
        last = np.searchsorted(self.end, stop, side="right")
        return [_range_sums(term, first, last) for term in self._terms()]


def sort_pairs(pairs: Pairs, *, reusable: bool = False) -> SortedRows | SortedCells:
    """Return the pairs in ascending order of q.

    With `reusable`, :func:`sum_bins` may be called on them with any number of bounds.
    """
    if pairs.weight is None:
        return SortedRows(pairs.q, pairs.positive_q, reusable=reusable)
    return SortedCells(pairs.q, pairs.indicator(), pairs.weight)


def cut_by_size(total: float, bin_size: float) -> np.ndarray:
    """Return the bounds of Algorithm 1: a short last bin joins the one before."""
    n_bins = int(np.floor(total / bin_size + 1e-9))
    if n_bins <= 1:
        return np.array([0.0, total])
    return np.r_[np.arange(n_bins) * bin_size, total]


def cut_by_number(total: float, n_bins: int) -> np.ndarray:
    """Return the bounds of `n_bins` bins of equal weight.

    Whole weights are divided as numpy.array_split does it. Bins that would be empty
    are left out.
    """
    if total == np.floor(total):
        n_bins = min(n_bins, int(total))
        size, longer = divmod(int(total), n_bins)
        number = np.arange(n_bins + 1)
        return number * size + np.minimum(number, longer)
    return np.r_[np.arange(n_bins) * (total / n_bins), total]


def cut_by_value(
    below: Callable[[np.ndarray], np.ndarray], n_bins: int, total: float
) -> np.ndarray:
    """Return the bounds of equal-width bins; empty ones are left out.

    `below` tells the weight of what is not above each of some values.
    """
    # As in sklearn.calibration.calibration_curve: a bin holds its upper edge.
    edges = np.linspace(0, 1, n_bins + 1)[1:-1]
    return np.unique(np.r_[0, below(edges), total])


def sum_bins(ordered: SortedRows | SortedCells, bounds: np.ndarray) -> BinSums:
    """Return the sums in the bins between consecutive bounds, 0 and total included."""
    low, high = ordered.extremes(bounds)
    cuts = bounds[1:-1]
    ties = ordered.ties_at(cuts)
    divided = ties.start < cuts
    # Whole classes of a bin lie between the class at its left cut and that at its
    # right; where a cut divides nothing, they begin or end at the cut itself.
    start = np.r_[0, np.where(divided, ties.stop, cuts)]
    stop = np.r_[np.where(divided, ties.start, cuts), bounds[-1]]
    positive_start = np.r_[
        0, np.where(divided, ties.positive_stop, ties.positive_start)
    ]
    positive_stop = np.r_[ties.positive_start, ordered.positives]
    shares = _shares(bounds, ties, divided)
    rate = shares.positive / shares.total
    sums = ordered.sums(start, stop, positive_start, positive_stop)
    per_row = (shares.value, rate, shares.value**2, rate * shares.value)
    q, y, qq, yq = (
        whole + np.bincount(shares.bin, shares.taken * each, whole.size)
        for whole, each in zip(sums, per_row, strict=True)
    )
    weight = np.diff(bounds).astype(np.float64)
    return BinSums(weight, q, y, qq, yq, low, high, shares)


def _shares(bounds: np.ndarray, ties: TieClasses, divided: np.ndarray) -> Shares:
    """Return what each divided class gives to the bins that it meets."""
    cut = np.flatnonzero(divided)
    left, right = cut, cut + 1  # the bins on both sides of a cut
    # To its right, a class gives all up to its end or the end of that bin.
    ahead = np.minimum(ties.stop[cut], bounds[right + 1]) - bounds[right]
    # To its left it gives what it has there, once: if it began in an earlier bin,
    # its cut before this one has given it to this bin already.
    begins = ties.start[cut] >= bounds[left]
    behind = (bounds[right] - ties.start[cut])[begins]
    number = np.cumsum(begins) - 1
    taken = np.r_[ahead, behind].astype(np.float64)
    which = np.r_[cut, cut[begins]]
    return Shares(
        bin=np.r_[right, left[begins]],
        tie=np.r_[number, number[begins]],
        taken=taken,
        total=(ties.stop - ties.start)[which].astype(np.float64),
        positive=(ties.positive_stop - ties.positive_start)[which].astype(np.float64),
        value=ties.value[which],
    )
