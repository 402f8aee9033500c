"""Pairs in order, the bounds of their bins, the sums in each bin, and the error.

Pairs are sorted by q. Rows of equal q form a *tie class*. A position is the total
weight of the pairs below it; without weights, it is a rank. Every sum in a bin is an
expectation over the orders of the rows of a tie class: if a cut divides a class of t
rows so that a bin receives m of them, the bin receives the share m / t of the positives
of the class. Results therefore do not depend on the order of the rows, and a row of
weight 3 is equivalent to three rows.

The bins of the score interval are chosen here, too. Inside a bin the error q - p is
averaged before it is squared, so an interval over wide bins estimates a smaller
quantity. On the other hand, the noise of the debiased square grows with the square root
of the number of bins. If the error changes no faster than the probability, the variance
of the probabilities inside the bins is a bound on the loss through averaging. The
widest bins are chosen for which this bound is at most a tenth of the standard deviation
of the debiased square under calibration. The choice depends on the probabilities and
never on the labels, so it does not change the distribution of the estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._pairs import Pairs
from .._validation import check_bool, check_choice, check_integer

NORMS = ("l1", "l2", "max")

# Number of numbers whose powers are computed at a time; they stay in the cache.
_BLOCK = 2**16

# Number of rows in a block of tie classes.
_ROWS = 2**20

# Automatic bins are the distinct probabilities if there are at most this many, and if
# they have on average at least this many rows.
MOST_STATED, _STATED_ROWS = 20, 5

# No automatic bin spans more of [0, 1] than this, unless a part of it would have fewer
# than this number of pairs.
WIDTH, _LEAST_PART = 0.1, 10

# Cuts within this share of the total weight from the end of a tie are moved onto it.
SNAPPED = 1e-12

# Allowed loss, in standard deviations of the debiased square.
# benchmarks/interval_constants.py measures coverage and width by it.
_LOSS = 0.1

# Ratio of consecutive candidate bin sizes, and the smallest candidate. The variance of
# fewer rows cannot be estimated well.
_STEP = 1.25
_LEAST = 5

# Narrow bins are smaller than automatic bins by these factors, but not smaller than
# `_LEAST`. The noise of their T is at most twice and four times as large.
_NARROWER = (4, 16)

# A tie class with at least this number of rows is a bin of the score interval. Fewer
# rows have too large a share of the noise, and the fourth power of a frequency has no
# unbiased estimate from fewer than four rows.
OWN_BIN = 5

# More bins would need gigabytes of memory.
_MOST_BINS = 2**22

# From this number of distinct probabilities on, the bin size of the score interval is
# chosen from their leading bits.
_ROUNDED = 2**18
_BITS = 12

# Largest relative difference that rounding alone can cause.
NOISE = 16 * float(np.finfo(np.float64).eps)


def without_noise(value: Any, scale: Any) -> np.ndarray:
    """Return values, or 0 if they are within the rounding error at this scale.

    A root would turn 1e-17 into 3e-9.
    """
    return np.where(np.abs(value) <= NOISE * np.asarray(scale), 0.0, value)


class Sorted:
    """Numbers in ascending order, and their weights (1 if `weight` is None)."""

    def __init__(self, q: np.ndarray, weight: np.ndarray | None = None):
        self.q, self.weight, self.end = q, weight, None
        self.total = float(q.size)
        if weight is not None:
            self._before = np.zeros(q.size + 1)
            np.cumsum(weight, out=self._before[1:])
            self.end, self.total = self._before[1:], float(self._before[-1])

    def index(self, positions: np.ndarray) -> np.ndarray:
        """Return the index of the number after each position."""
        if self.end is None:  # a position is a rank
            return positions
        return np.searchsorted(self.end, positions, side="right")

    def position(self, index: np.ndarray) -> np.ndarray:
        """Return the position before the number with each index."""
        return index if self.end is None else self._before[index]

    def between(self, start: float, stop: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers between two positions, and the positions around them."""
        first = int(self.index(np.array([start]))[0])
        last = int(stop) if self.end is None else int(np.searchsorted(self.end, stop))
        last = last if self.end is None else last + 1
        inner = self.position(np.arange(first + 1, min(last, self.q.size)))
        return self.q[first:last], np.r_[start, inner, stop]

    def sums(self, start: np.ndarray, stop: np.ndarray, power: int) -> np.ndarray:
        """Return the sums of w q^power over ascending, disjoint ranges of indices."""
        if power == 0 and self.weight is None:
            return np.maximum(stop - start, 0).astype(np.float64)
        sums = np.zeros(start.size)
        some = np.flatnonzero(start < stop)
        parts = [some] if some.size else []
        if self.q.size > _BLOCK:
            # Ranges that end in the same block are summed together.
            ends = np.flatnonzero(np.diff(stop[some] // _BLOCK)) + 1
            parts = [part for part in np.split(some, ends) if part.size]
        for part in parts:
            first, last = start[part[0]], stop[part[-1]]
            values = self.q[first:last]
            if power != 1:
                values = values**power
            if self.weight is not None:
                values = values * self.weight[first:last]
            edges = np.column_stack([start[part], stop[part]]).ravel() - first
            # reduceat sums from each edge to the next edge or to the end: the even
            # entries are the ranges, the odd entries are the gaps between them. It adds
            # pairwise, so a sum of n terms loses about log2(n) roundings.
            sums[part] = np.add.reduceat(values, edges[:-1])[::2]
        return sums


class Ordered:
    """Pairs in ascending order of q: all of them, and the positives.

    Attributes
    ----------
    rows : Sorted
        All pairs. With weights, the rows of a tie class are one number.
    positives : Sorted
        The positive pairs.
    low, high : ndarray
        Smallest and largest q of each number in `rows`. They are equal, except in
        sketches, whose cells have a range of probabilities.
    row_total : float
        Total weight of the rows of the input, which may have several pairs each.
    """

    def __init__(
        self,
        rows: Sorted,
        positives: Sorted,
        low: np.ndarray | None = None,
        high: np.ndarray | None = None,
        row_total: float | None = None,
    ):
        self.rows, self.positives = rows, positives
        self.total = rows.total
        self.row_total = rows.total if row_total is None else row_total
        self.low = rows.q if low is None else low
        self.high = rows.q if high is None else high

    @cached_property
    def is_high(self) -> bool:
        """Whether the mean probability is above 1/2.

        If so, what would begin at 0 begins at 1. Results are then the same for 1 - q.
        """
        total = self.rows.sums(np.array([0]), np.array([self.rows.q.size]), 1)[0]
        return bool(total > self.total / 2)

    def classes(
        self, start: int = 0, stop: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, weight and weight of the positives of each tie class.

        `start` and `stop` are the ends of a part of `rows` that has whole classes.
        """
        q, weight, positives = self.rows.q[start:stop], self.rows.weight, self.positives
        if weight is not None:
            assert positives.weight is not None
            positive = np.zeros(q.size)
            # the sums are 0 if there is no class
            inside = slice(
                np.searchsorted(positives.q, q[:1], side="left").sum(),
                np.searchsorted(positives.q, q[-1:], side="right").sum(),
            )
            positive[np.searchsorted(q, positives.q[inside])] = positives.weight[inside]
            return q, weight[start:stop], positive
        first = first_of_each(q)
        value = q if first.size == q.size else q[first]
        ends = np.searchsorted(positives.q, value, side="left")
        last = np.searchsorted(positives.q, value[-1:], side="right")
        positive = np.diff(ends, append=last)
        return value, np.diff(first, append=q.size), positive

    def blocks_of_classes(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield `classes` in blocks, each in the memory of a block."""
        q = self.rows.q
        cuts = np.searchsorted(q, q[::_ROWS])  # the first row of each class
        for start, stop in pairwise(np.unique(np.append(cuts, q.size)).tolist()):
            yield self.classes(start, stop)

    def stated(self) -> np.ndarray | None:
        """Return the bounds of the distinct probabilities if they are few.

        Otherwise, or if a number stands for a range of probabilities, return None.
        """
        q, stops = self.rows.q, [0]
        if self.low is not q and (self.low < self.high).any():
            return None
        while stops[-1] < q.size:
            if len(stops) > MOST_STATED:
                return None
            stops.append(int(np.searchsorted(q, q[stops[-1]], side="right")))
        if self.total < _STATED_ROWS * (len(stops) - 1):
            return None
        return self.rows.position(np.array(stops))

    def below(self, values: np.ndarray) -> np.ndarray:
        """Return the positions that separate q <= value from q > value."""
        return self.rows.position(np.searchsorted(self.rows.q, values, side="right"))

    def snap(self, bounds: np.ndarray) -> np.ndarray:
        """Return bounds as ranks.

        With weights, bounds are moved to the end of a class if only rounding separates
        them from it.
        """
        end = self.rows.end
        if end is None:
            return np.asarray(bounds, dtype=np.intp)
        bounds = np.array(bounds, dtype=np.float64)
        cuts = bounds[1:-1]
        at = np.searchsorted(end, cuts)
        # The nearest class end is the one before or the one at the insertion point.
        for shift in (-1, 0):
            near = end[np.clip(at + shift, 0, end.size - 1)]
            hit = np.abs(near - cuts) <= SNAPPED * self.total
            cuts[hit] = near[hit]
        return bounds

    def surprise(self) -> float:
        """Return how many labels as improbable as the least probable one are expected.

        The number is 0 if and only if a label contradicts a probability of exactly 0 or
        1. It is at least the probability of such a label if all probabilities are
        right, also if rows depend on each other.
        """
        q, weight = self.rows.q, self.rows.weight
        # A cell of a sketch may contain other probabilities than its mean.
        least, last = 1.0, self._last_negative()
        if self.positives.q.size:
            least = float(self.high[np.searchsorted(q, self.positives.q[0])])
        if last >= 0:
            least = min(least, 1 - float(self.low[last]))
        start = int(np.searchsorted(q, 1 - least, side="left"))
        stop = int(np.searchsorted(q, least, side="right"))
        chance = np.concatenate([q[:stop], 1 - q[start:]]).astype(np.float64)
        if weight is not None:
            chance *= np.concatenate([weight[:stop], weight[start:]])
        return max(float(chance.sum()), least)

    def _last_negative(self) -> int:
        """Return the index of the last number in `rows` that has negatives, or -1."""
        q, positive = self.rows.q, self.positives.q
        if self.rows.weight is not None:
            _, weight, positive = self.classes()
            return int(np.flatnonzero(np.append(True, weight > positive))[-1]) - 1
        # Above the last negative, all rows are positive.
        n_first = q.size - positive.size
        differ = np.flatnonzero(q[n_first:] != positive)
        return n_first + (int(differ[-1]) if differ.size else -1)

    def extremes(self, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and largest q between consecutive bounds."""
        end = self.rows.end
        if end is None:
            last = bounds[1:] - 1
        else:
            # The class that ends exactly at a bound belongs to the bin before it.
            last = np.searchsorted(end, bounds[1:], side="left")
            last = np.minimum(last, end.size - 1)
        return self.low[self.rows.index(bounds[:-1])], self.high[last]


def first_of_each(values: np.ndarray) -> np.ndarray:
    """Return the index of the first of each run of equal values."""
    return np.flatnonzero(np.r_[True, values[1:] != values[:-1]][: values.size])


def order_pairs(pairs: Pairs) -> Ordered:
    """Return the pairs in ascending order of q."""
    if pairs.row_weight is None:
        # Neither labels nor a permutation are carried through the sort, since positives
        # are counted by binary search.
        q, positive_q, n = pairs.sorted_q, pairs.sorted_positive_q, pairs.row_total
        return Ordered(Sorted(q), Sorted(positive_q), row_total=n)
    order = np.argsort(pairs.q)
    assert pairs.weight is not None
    q = pairs.q[order].astype(np.float64, copy=False)
    positive, weight = pairs.indicator()[order], pairs.weight[order]
    del order  # as large as a column
    return merge_ties(q, positive, weight, pairs.row_total)


def merge_ties(
    q: np.ndarray, positive: np.ndarray, weight: np.ndarray, row_total: float
) -> Ordered:
    """Return the tie classes of sorted pairs."""
    if (q[1:] != q[:-1]).all():
        rows, positives = Sorted(q, weight), Sorted(q[positive], weight[positive])
        return Ordered(rows, positives, row_total=row_total)
    first = first_of_each(q)
    positive = np.add.reduceat(weight * positive, first)
    weight = np.add.reduceat(weight, first)
    return order_cells(q[first], weight, positive, row_total)


def order_cells(
    q: np.ndarray,
    weight: np.ndarray,
    positive: np.ndarray,
    row_total: float,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> Ordered:
    """Return pairs that are summed up by ascending q; `positive` is a weight."""
    some = np.flatnonzero(positive)
    positives = Sorted(q[some], positive[some])
    return Ordered(Sorted(q, weight), positives, low, high, row_total)


@dataclass(frozen=True)
class Binning:
    """Checked `bin_size`, `n_bins` and `strategy`.

    The strategies 'automatic', 'interval' and 'groups' are private: the first one is
    that of the bin size 'auto', and the others are the bins of the score interval of
    independent rows and of groups, whose bin size 'auto' is chosen for it.
    """

    bin_size: int | str | None
    n_bins: int | None
    strategy: str

    def for_rows(self, row_total: float) -> Binning:
        """Return the binning with an automatic bin size replaced by a number."""
        if self.bin_size != "auto":
            return self
        return replace(self, bin_size=automatic_size(row_total))

    def bins(self, ordered: Ordered) -> Bins:
        """Return the bins of pairs."""
        binning = self.for_rows(ordered.row_total)
        if self.bin_size == "auto" and self.strategy in ("interval", "groups"):
            binning = replace(self, bin_size=_interval_size(ordered.rows))
        elif self.bin_size == "auto":
            stated = ordered.stated()
            if stated is not None:
                return Bins(ordered, stated, stated=True)
        size = binning.bin_size
        assert not isinstance(size, str)
        joins = self.strategy in ("interval", "groups")
        return Bins(ordered, binning.bounds(ordered), size, joins=joins)

    def bounds(self, ordered: Ordered) -> np.ndarray:
        """Return the bounds of the bins, from 0 to the total weight."""
        if self.strategy == "uniform":
            assert self.n_bins is not None
            edges = edges_of_width(ordered.rows.q, self.n_bins)
            # As in sklearn.calibration.calibration_curve, a bin contains its upper
            # edge. Empty bins are left out.
            bounds = np.unique(np.r_[0, ordered.below(edges), ordered.total])
        elif self.strategy in ("interval", "groups"):
            assert isinstance(self.bin_size, int)
            # All rows of a class may belong to one group, which has no products.
            own = OWN_BIN if self.strategy == "interval" else max(self.bin_size, 4)
            bounds = ordered.snap(cut_around_classes(ordered, self.bin_size, own))
            # Cuts that only rounding separates are equal after they were moved.
            return np.unique(bounds)
        elif self.n_bins is not None:
            bounds = cut_by_number(ordered.total, self.n_bins)
        elif self.strategy == "automatic":
            assert isinstance(self.bin_size, int)
            least = _LEAST_PART * self.bin_size / automatic_size(ordered.row_total)
            bounds = cut_evenly(ordered, self.bin_size)
            bounds = cut_wide_bins(ordered, ordered.snap(bounds), least)
        else:
            assert isinstance(self.bin_size, int)  # see `for_rows`
            bounds = cut_by_size(ordered.total, self.bin_size)
        return ordered.snap(bounds)


# The automatic bins of the score interval, for independent rows and for groups.
FOR_INTERVAL = Binning("auto", None, "interval")
FOR_GROUPS = Binning("auto", None, "groups")

# The bins of all else whose bin size is 'auto'.
AUTOMATIC = Binning("auto", None, "automatic")


def check_binning(bin_size: Any, n_bins: Any, strategy: Any) -> Binning:
    """Return the checked binning."""
    if not isinstance(strategy, str) or strategy != "quantile":
        check_choice(strategy, ("quantile", "uniform"), name="strategy")
    automatic = isinstance(bin_size, str) and bin_size == "auto"
    if n_bins is not None:
        if not automatic:
            raise ParameterError(
                None,
                "takes 'bin_size' or 'n_bins', not both. Got "
                f"bin_size={bin_size!r} and n_bins={n_bins!r}.",
            )
        return Binning(None, check_integer(n_bins, minimum=1, name="n_bins"), strategy)
    if strategy == "uniform":
        problem = "needs 'n_bins', the number of bins, if it is 'uniform'."
        raise ParameterError("strategy", problem)
    if automatic:
        return AUTOMATIC
    if isinstance(bin_size, str):
        raise ParameterError(
            "bin_size",
            f"must be 'auto' or an integer of at least 1. Got {bin_size!r} instead.",
        )
    return Binning(check_integer(bin_size, minimum=1, name="bin_size"), None, strategy)


def automatic_size(row_total: float) -> int:
    """Return the number of pairs in an automatic bin, for rows of this total weight.

    The number of bins grows as n^(2/5), the rate that minimises the error of a
    regressogram of a smooth curve. A row whose classes are pooled counts once, so each
    of K classes gets about n^(2/5) bins.
    """
    return max(2, round(row_total**0.6))


def cut_evenly(ordered: Ordered, size: int) -> np.ndarray:
    """Return the bounds of bins of at least `size` pairs, as equal as possible.

    If all q are replaced by 1 - q, the bins are the same in the opposite order.
    """
    total = ordered.total
    n_bins = max(int(total / size + 1e-9), 1)
    bounds = np.arange(n_bins + 1) * (total / n_bins)
    if total == np.floor(total):  # equivalent to single rows
        exact = np.arange(n_bins + 1) * total / n_bins
        bounds = np.ceil(exact) if ordered.is_high else np.floor(exact)
    return bounds


def cut_wide_bins(ordered: Ordered, bounds: np.ndarray, least: float) -> np.ndarray:
    """Return bounds with other cuts where bins span more than `WIDTH`.

    Neighbouring bins that do are divided again: a part ends where it would span more
    than `WIDTH` or have more pairs than a bin, and has at least `least` pairs.
    """
    low, high = ordered.extremes(bounds)
    wide, size = high - low > WIDTH + 1e-9, np.diff(bounds).max()
    end = np.r_[False, wide, False]
    for first, last in np.flatnonzero(end[1:] != end[:-1]).reshape(-1, 2)[::-1]:
        start, stop = bounds[[first, last]]
        value, edge = ordered.rows.between(start, stop)
        if ordered.is_high:
            value, edge = 1 - value[::-1], start + stop - edge[::-1]
        cuts = edge[_starts_of_parts(value, edge, size, least)]
        if cuts.size >= last - first - 1:  # at least as many parts as bins
            cuts = start + stop - cuts[::-1] if ordered.is_high else cuts
            bounds = np.r_[bounds[: first + 1], cuts, bounds[last:]]
    return bounds


def _starts_of_parts(
    value: np.ndarray, edge: np.ndarray, size: float, least: float
) -> list[int]:
    """Return the indices of the values with which the parts after the first begin.

    `edge` has the positions before the values, and the end of the last part.
    """
    starts, start, most, rounding = [], 0, WIDTH + 1e-9, 1e-9 * size
    # The last part begins with this value or before it.
    last = int(np.searchsorted(edge, edge[-1] - least + rounding, side="right")) - 1
    last = int(np.searchsorted(value, value[last]))
    while edge[last] - edge[start] >= least - rounding and (
        value[-1] - value[start] > most or edge[-1] - edge[start] > size + rounding
    ):
        narrow = int(np.searchsorted(value, value[start] + most, side="right"))
        full = int(np.searchsorted(edge, edge[start] + size - rounding))
        enough = int(np.searchsorted(edge, edge[start] + least - rounding))
        start = max(min(narrow, full), enough)
        # a class of equal values is not divided
        start = min(int(np.searchsorted(value, value[start - 1], side="right")), last)
        starts.append(start)
    return starts


def cut_by_size(total: float, bin_size: float) -> np.ndarray:
    """Return the bounds of Algorithm 1, which merges a short last bin into another.

    Its steps: `order_pairs` sorts by q (1), this function divides into bins of beta and
    merges a short last bin (2 and 3), `Bins` has the sums of y and q of each bin (4),
    and `norm_of` returns the root of the weighted mean square of the differences (5).
    """
    # Weights such as .1 sum up to slightly less than an integer.
    n_bins = int(np.floor(total / bin_size + 1e-9))
    if n_bins <= 1:
        return np.array([0.0, total])
    return np.r_[np.arange(n_bins) * bin_size, total]


def cut_by_number(total: float, n_bins: int) -> np.ndarray:
    """Return the bounds of `n_bins` bins of equal weight.

    Integer weights are divided as in numpy.array_split. Empty bins are omitted.
    """
    if total == np.floor(total):
        n_bins = min(n_bins, int(total))
        # as numpy.array_split: the first `longer` bins have one row more
        size, longer = divmod(int(total), n_bins)
        number = np.arange(n_bins + 1)
        return number * size + np.minimum(number, longer)
    return np.r_[np.arange(n_bins) * (total / n_bins), total]


def edges_of_width(q: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the inner edges of `n_bins` bins of equal width that can divide `q`.

    If there are more bins than numbers, only the upper edges of non-empty bins are
    returned.
    """
    if n_bins <= max(q.size, 1000):
        return np.linspace(0, 1, n_bins + 1)[1:-1]
    step = 1.0 / n_bins
    number = np.ceil(q * float(n_bins))
    # a product may round to the other side of an edge
    number -= q <= (number - 1) * step
    number += q > number * step
    return np.unique(number[number < n_bins]) * step


def cut_around_classes(ordered: Ordered, size: int, own: int) -> np.ndarray:
    """Return the bounds of bins that keep tie classes of at least `own` rows whole.

    Stated confidences, hard answers and isotonic recalibration have few distinct
    probabilities. A bin that contains the end of one class and the start of the next
    averages their errors, which may differ. Each class with enough rows is therefore a
    bin. The rows between two such classes are divided into bins of `size`. Fewer than
    two of them belong to the bin after them.

    For example, let classes have 7, 1, 1, 1, 6, 1 and 8 rows, let `size` be 2, and let
    `own` be 5. The pieces are 7, 1 + 1 + 1, 6, 1 and 8 rows. The second one is one bin,
    since a short last bin is merged. The bins have 7, 3, 6 and 9 rows.
    """
    q, weight = ordered.rows.q, ordered.rows.weight
    if weight is None:
        if not (q[own - 1 :] == q[: 1 - own]).any():  # no class is so large
            return cut_by_size(ordered.total, size)
        weight = np.diff(first_of_each(q), append=q.size)
    large = weight >= own
    if ordered.low is not ordered.rows.q:  # a cell of several values is no tie class
        large &= ordered.low == ordered.high
    if not large.any():
        return cut_by_size(ordered.total, size)
    last = large | np.r_[large[1:], True]  # of each piece
    stop, whole = np.cumsum(weight)[last].astype(np.float64), large[last]
    short = ~whole & (np.diff(stop, prepend=0.0) < 2)
    if short[-1] and short.size > 1:  # no class comes after it
        short[-2:], whole[-1] = (True, False), True
    stop, whole = stop[~short], whole[~short]
    start = np.r_[0.0, stop[:-1]]
    number = np.maximum(np.floor((stop - start) / size + 1e-9), 1)
    number = np.where(whole, 1, number).astype(np.intp)
    step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    return np.r_[np.repeat(start, number) + step * size, ordered.total]


def _interval_size(rows: Sorted) -> int:
    """Return the bin size of the score interval for the given probabilities."""
    if np.count_nonzero(rows.q[1:] != rows.q[:-1]) < _ROUNDED:
        first = first_of_each(rows.q)
        values = rows.q[first]
    else:
        # The leading bits of a float are its exponent and its first binary digits.
        # Shifting the others out rounds down; adding 0.0 turns -0.0 into 0.0.
        shift = np.finfo(np.float64).nmant - _BITS
        bits = (rows.q + 0.0).view(np.int64)
        bits >>= shift
        first = first_of_each(bits)
        values = (bits[first] << shift).view(np.float64)
    end = rows.position(np.append(first, rows.q.size)).astype(np.float64)
    total, weights = rows.total, np.diff(end)
    # Sums of squares of centred values lose fewer digits.
    centred = values - float(weights @ values) / total
    sums = [
        np.concatenate([[0.0], np.cumsum(weights * term)])
        for term in (values * (1 - values), centred, centred**2)
    ]
    *sizes, least = _sizes(total)
    for size in sizes:
        bounds = cut_by_size(total, size)
        n = np.diff(bounds)
        # A divided class contributes its share to each side of the cut.
        variance, first, second = (
            np.diff(np.interp(bounds, end, each)) for each in sums
        )
        # theory, (C7); rounding may make the variance of equal values negative
        loss = float(np.maximum(second - first**2 / n, 0).sum() / total)
        # A bin has n (n - 1) ordered pairs, each with weight 1 / (N (n - 1)).
        noise = np.sqrt(2 * float((variance / total) ** 2 @ (1 / (n * (n - 1)))))
        if loss <= _LOSS * noise:
            return size
    return least


def narrow_sizes(size: int) -> list[int]:
    """Return the bin sizes that show whether bins of `size` hide errors."""
    sizes = (max(_LEAST, size // factor) for factor in _NARROWER)
    return [each for each in dict.fromkeys(sizes) if each < size]


def _sizes(total: float) -> list[int]:
    """Return bin sizes from 0.8 sqrt(total) downwards.

    Even the widest bins lose little if the error has a jump, because the jump affects
    only one of many bins.
    """
    # From 2e7 rows on, bins of five rows would need too much memory.
    narrowest = int(np.ceil(total / _MOST_BINS))
    widest = max(2, round(0.8 * total**0.5), narrowest)
    least = min(max(_LEAST, narrowest), widest)
    steps = np.arange(np.ceil(np.log(widest / least) / np.log(_STEP)))
    sizes = dict.fromkeys(int(round(size)) for size in widest / _STEP**steps)
    return [size for size in sizes if size > least] + [least]


@dataclass(frozen=True)
class Shares:
    """Contributions of divided tie classes to bins: `taken` of `total` rows.

    All arrays have one entry for each overlapping (bin, divided class). `tie` is the
    index of the class, `value` its probability, and `rate` its label frequency.
    """

    bin: np.ndarray
    tie: np.ndarray
    taken: np.ndarray
    total: np.ndarray
    value: np.ndarray
    rate: np.ndarray


_NO_SHARES = Shares(*np.zeros((2, 0), dtype=np.intp), *np.zeros((4, 0)))


class Bins:
    """Sums in the bins between consecutive bounds, in ascending order of q.

    Sums that the plug-in error does not need are computed when they are first used.

    Attributes
    ----------
    bounds : ndarray of shape (n_bins + 1,)
        Positions of the ends of the bins, from 0 to the total weight.
    bin_size : int or None
        Target weight of a bin.
    stated : bool
        Whether each distinct probability is a bin.
    joins : bool
        Whether the bins are the automatic bins of the interval, whose estimate joins
        their square with the smooth part.
    weight, q, y, qq, yq, label_variance : ndarray of shape (n_bins,)
        Sums of w, w q, w y, w q^2, w y q and w q (1 - q).
    residual, squared_residual, pair_residual : ndarray of shape (n_bins,)
        Sums of r, of r^2, and of r_i r_j over i != j, with r = q - y.
    low, high : ndarray of shape (n_bins,)
        Smallest and largest q.
    shares : Shares
        The divided tie classes.
    surprise : float
        Expected number of labels as improbable as the least probable one.
    """

    def __init__(
        self,
        ordered: Ordered,
        bounds: np.ndarray,
        bin_size: int | None = None,
        stated: bool = False,
        joins: bool = False,
    ):
        self.bounds, self.bin_size = bounds, bin_size
        self.stated, self.joins = stated, joins
        self.weight = np.diff(bounds).astype(np.float64)
        self.low, self.high = ordered.extremes(bounds)
        self._ordered = ordered
        self._rows, self._positives = rows, positives = ordered.rows, ordered.positives
        # the tie class of the first row after each cut
        cuts = bounds[1:-1]
        at = rows.index(cuts)
        value = rows.q[at]
        # Most cuts are not inside a tie. There is nothing to search for then.
        first, last = at.copy(), at + 1
        tied = np.flatnonzero(rows.q[np.maximum(at - 1, 0)] == value)
        first[tied] = np.searchsorted(rows.q, value[tied], side="left")
        tied = np.flatnonzero(rows.q[np.minimum(last, rows.q.size - 1)] == value)
        last[tied] = np.searchsorted(rows.q, value[tied], side="right")
        positive_first = np.searchsorted(positives.q, value, side="left")
        start, stop = rows.position(first), rows.position(last)
        divided = start < cuts
        positive_last = positive_first.copy()
        positive_last[divided] = np.searchsorted(
            positives.q, value[divided], side="right"
        )
        # The whole classes of a bin lie between the class at its left cut and the class
        # at its right cut. A class that is not divided belongs to the bin on the right.
        self._whole_rows = (
            np.r_[0, np.where(divided, last, first)],
            np.r_[first, rows.q.size],
        )
        self._whole_positives = (
            np.r_[0, np.where(divided, positive_last, positive_first)],
            np.r_[positive_first, positives.q.size],
        )
        self.shares = _NO_SHARES
        if divided.any():
            before, after = map(positives.position, (positive_first, positive_last))
            self.shares = _shares(bounds, divided, start, stop, value, after - before)
        self.q, self.y = self._sum(1), self._sum(0, positive=True)
        self.residual = self.q - self.y

    def _sum(self, power: int, *, positive: bool = False) -> np.ndarray:
        """Return the sum of w q^power, or of w y q^power, in each bin."""
        s, rows, ranges = self.shares, self._rows, self._whole_rows
        if positive:
            rows, ranges = self._positives, self._whole_positives
        whole = rows.sums(*ranges, power)
        if s.bin.size:
            taken = s.taken * s.rate if positive else s.taken
            whole += np.bincount(s.bin, taken * s.value**power, whole.size)
        return whole

    @cached_property
    def surprise(self) -> float:
        """Expected number of labels as improbable as the least probable one."""
        return self._ordered.surprise()

    @cached_property
    def qq(self) -> np.ndarray:
        """Sum of w q^2 in each bin."""
        return self._sum(2)

    @cached_property
    def label_variance(self) -> np.ndarray:
        """Sum of w q (1 - q) in each bin."""
        return np.maximum(self.q - self.qq, 0)

    @cached_property
    def yq(self) -> np.ndarray:
        """Sum of w y q in each bin."""
        return self._sum(1, positive=True)

    @property
    def trials(self) -> np.ndarray:
        """Independent rows with the same variance of the label frequency of each bin.

        A bin that contains m of the t rows of a divided class gets m / t of each
        positive of the class. The variance of this share is that of m^2 / t rows.
        """
        # theory, (B4)
        s, n = self.shares, self.weight
        spared = np.bincount(s.bin, s.taken * (1 - s.taken / s.total), n.size)
        return n**2 / (n - spared)

    @cached_property
    def squared_residual(self) -> np.ndarray:
        """Sum of r^2 in each bin."""
        return self.qq - 2 * self.yq + self.y

    @cached_property
    def pair_residual(self) -> np.ndarray:
        """Sum of r_i r_j over i != j in each bin."""
        # theory, (C4) and (C3): E[(sum r)^2] = (E sum r)^2 + Var(sum r). A divided
        # class adds the variance of a hypergeometric count: positives among `taken`
        # rows drawn from `total`. All rows of a class have the same q, so only labels
        # vary.
        s, r = self.shares, self.residual
        drawn = s.taken * (s.total - s.taken) / np.maximum(s.total - 1, 1)
        variance = np.bincount(s.bin, drawn * s.rate * (1 - s.rate), r.size)
        total = r**2 + variance - self.squared_residual
        scale = r**2 + self.squared_residual + np.abs(r) * (self.q + self.y)
        return without_noise(total, scale)

    def error(
        self, norm: str = "l2", squared: bool = False, debias: bool = False
    ) -> float:
        """Return the error over these bins; pairs are independent."""
        if debias:
            return debiased_error(self.weight, self.pair_residual, squared, self.stated)
        return norm_of(self.residual / self.weight, self.weight, norm, squared)


def _shares(
    bounds: np.ndarray,
    divided: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    value: np.ndarray,
    positive: np.ndarray,
) -> Shares:
    """Return the contribution of each divided class to the bins that it overlaps.

    Arrays have one entry per cut: whether it divides the class of the row after it, and
    the ends, the probability and the positives of this class.

    For example, let bounds be 0, 4, 8, 12, and let one class have the rows 2 to 10.
    Both cuts, at 4 and at 8, divide it. The cut at 4 contributes `ahead` = 4 rows to
    the bin 4-8. The class begins in the bin 0-4, which gets `behind` = 2 rows. The
    cut at 8 contributes 2 rows to the bin 8-12. Its left bin is complete already. The
    class has number 0 in all three entries, because it begins at the first cut.
    """
    cut = np.flatnonzero(divided)
    left, right = cut, cut + 1  # the bins on both sides of a cut
    # A class contributes to the bin on the right of its cut all rows up to its own end
    # or the end of the bin.
    ahead = np.minimum(stop[cut], bounds[right + 1]) - bounds[right]
    # It contributes to the bin on the left only if it begins there. Otherwise, its
    # previous cut has already contributed its rows to this bin.
    begins = start[cut] >= bounds[left]
    behind = (bounds[right] - start[cut])[begins]
    # A class is counted at its first cut; later cuts repeat its number.
    number = np.cumsum(begins) - 1
    which = np.r_[cut, cut[begins]]
    total = (stop - start)[which].astype(np.float64)
    return Shares(
        bin=np.r_[right, left[begins]],
        tie=np.r_[number, number[begins]],
        taken=np.r_[ahead, behind].astype(np.float64),
        total=total,
        value=value[which],
        rate=positive[which] / total,
    )


def bins_of(pairs: Pairs, binning: Binning) -> Bins:
    """Return the bins of checked pairs."""
    return binning.bins(order_pairs(pairs))


def debiased_square(weight: np.ndarray, pair_residual: np.ndarray) -> float:
    """Return (1/N) sum_b 1/(n_b - 1) sum_{i != j in b} r_i r_j."""
    # theory, (C2)
    terms, total = pair_residual / (weight - 1), weight.sum()
    return float(without_noise(terms.sum() / total, np.abs(terms).sum() / total))


def norm_of(
    difference: np.ndarray, weight: np.ndarray, norm: str, squared: bool
) -> float:
    """Return the weighted norm of the differences between mean q and mean y."""
    distance = np.abs(difference)
    if norm == "max":
        return float(distance.max())
    if norm == "l1":
        return float(weight @ distance / weight.sum())
    # theory, (C1)
    square = float(weight @ distance**2 / weight.sum())
    return square if squared else float(np.sqrt(square))


def check_norm(norm: Any, squared: Any, debias: Any) -> None:
    """Raise an error if norm, squared and debias cannot be combined."""
    check_choice(norm, NORMS, name="norm")
    for name, value in (("squared", squared), ("debias", debias)):
        if value is not False and check_bool(value, name=name) and norm != "l2":
            raise ParameterError(name, f"needs norm='l2'. Got norm={norm!r}.")


def rooted(square: float, squared: bool) -> float:
    """Return the debiased square, or the root of its positive part."""
    return square if squared else float(np.sqrt(max(square, 0)))


def debiased_error(
    weight: np.ndarray, pair_residual: np.ndarray, squared: bool, stated: bool = False
) -> float:
    """Return the debiased error over bins of independent pairs.

    If each distinct probability is a bin (`stated`), bins of a single pair are left
    out, since a square needs two pairs.
    """
    if stated:
        some = weight > 1
        weight, pair_residual = weight[some], pair_residual[some]
    check_debiasable(weight)
    return rooted(debiased_square(weight, pair_residual), squared)


def check_debiasable(weight: np.ndarray) -> None:
    """Raise an error if a bin is too small for an unbiased estimate of its square."""
    small = weight <= 1
    if small.any():
        b = int(small.argmax())
        raise ParameterError(
            "debias",
            "needs bins of at least two pairs, since it multiplies the "
            f"residuals of different pairs. Got weight {weight[b]:g} in bin "
            f"{b} of {weight.size}. Use larger or fewer bins.",
        )
