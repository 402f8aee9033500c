"""Binning of pairs by number of pairs, by number of bins, or by width.

This module also chooses the bin size of an interval. Inside a bin the error q - p is
averaged before it is squared, so an interval over wide bins estimates a smaller
quantity. On the other hand, the noise of the debiased square grows with the square root
of the number of bins. The loss through averaging depends on the spread of the
probabilities in a bin: if the error changes no faster than the probability, the
variance of the probabilities inside the bins is a bound on the loss. The module chooses
the widest bins for which this bound is at most a tenth of the standard deviation of the
debiased square under calibration. The choice depends on the probabilities and never on
the labels, so it does not change the distribution of the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._pairs import Pairs
from .._validation import check_choice, check_integer
from ._bins import (
    BinSums,
    cut_around_classes,
    cut_by_number,
    cut_by_size,
    cut_by_value,
    edges_of_width,
    sum_bins,
)
from ._counting import (
    LEAST_COUNTED,
    Cells,
    count_bins,
    counting_pays,
    mantissa_bits,
)
from ._sorted_pairs import SortedCells, SortedRows, sort_pairs

# Allowed loss, in standard deviations of the debiased square.
# benchmarks/interval_constants.py measures coverage and width by it.
_LOSS = 0.1

# Ratio of consecutive candidate bin sizes, and the smallest candidate. The variance of
# fewer rows cannot be estimated well.
_STEP = 1.25
_LEAST = 5

# More bins would need gigabytes of memory.
_MOST_BINS = 2**22

# From this total weight on, probabilities are rounded to this number of leading bits.
_ROUNDED = 2**18
_BITS = 12


@dataclass(frozen=True)
class Binning:
    """Checked `bin_size`, `n_bins` and `strategy`.

    With `whole_classes`, the bins of the score interval are used. See
    `interval_bounds`.
    """

    bin_size: int | str | None
    n_bins: int | None
    strategy: str
    whole_classes: bool = False

    @property
    def is_automatic(self) -> bool:
        """Whether the bin size depends on the number of rows."""
        return self.bin_size == "auto"

    def for_rows(self, row_total: float) -> Binning:
        """Return the binning with an automatic bin size replaced by a number.

        For rows of total weight n the number is round(n ** 0.6), and at least 2. The
        number of bins then grows as n^(2/5), the rate that minimises the error of a
        regressogram of a smooth curve. A row whose classes are pooled counts once, so
        each of K classes gets about n^(2/5) bins.
        """
        if self.bin_size != "auto":
            return self
        return Binning(max(2, round(row_total**0.6)), None, self.strategy)

    def bounds(
        self, ordered: SortedRows | SortedCells
    ) -> tuple[np.ndarray, int | None]:
        """Return the bounds of the bins, and the bin size or None."""
        if self.strategy == "uniform":
            assert self.n_bins is not None
            edges = edges_of_width(ordered.q, self.n_bins)
            return ordered.snap(cut_by_value(ordered.below, edges, ordered.total)), None
        if self.whole_classes:
            assert isinstance(self.bin_size, int)
            return interval_bounds(ordered, self.bin_size), self.bin_size
        bounds, size = self.rank_bounds(ordered.total)
        if isinstance(ordered, SortedRows):  # every cut is a rank
            return bounds.astype(np.intp), size
        return ordered.snap(bounds), size

    def rank_bounds(self, total: float) -> tuple[np.ndarray, int | None]:
        """Return the bounds that depend on the total weight only."""
        if self.n_bins is not None:
            return cut_by_number(total, self.n_bins), None
        assert isinstance(self.bin_size, int)  # see `for_rows`
        return cut_by_size(total, self.bin_size), self.bin_size

    def sums(self, pairs: Pairs, *, squares: bool = True) -> tuple[BinSums, int | None]:
        """Return the sums of each bin, and the bin size or None.

        Without `squares`, only the sums of y and q are guaranteed to be computed.
        """
        binning = self.for_rows(pairs.row_total)
        if pairs.row_weight is None and pairs.q.size >= LEAST_COUNTED:
            counted = binning._counted(pairs, squares)
            if counted is not None:
                return counted
        ordered: SortedRows | SortedCells
        if pairs.row_weight is None:
            ordered = SortedRows(pairs.q, pairs.positive_q)
        else:
            ordered = sort_pairs(pairs)
        bounds, size = binning.bounds(ordered)
        return sum_bins(ordered, bounds, squares=squares), size

    def _counted(
        self, pairs: Pairs, squares: bool
    ) -> tuple[BinSums, int | None] | None:
        """Return sums and bin size without sorting, or None if sorting is faster."""
        n, q = pairs.q.size, pairs.q
        size, cells = None, None
        if self.strategy == "quantile":
            bounds, size = self.rank_bounds(pairs.total)
            if not counting_pays(n, bounds.size - 1):
                return None
        else:
            assert self.n_bins is not None
            if not counting_pays(n, self.n_bins):
                return None
            cells = Cells(q, mantissa_bits(self.n_bins))
            bounds = cut_by_value(cells.below, edges_of_width(q, self.n_bins), n)
        ranks = bounds.astype(np.intp)
        sums = count_bins(q, pairs.positive_q, ranks, squares=squares, cells=cells)
        return sums, size


def check_binning(bin_size: Any, n_bins: Any, strategy: Any) -> Binning:
    """Return the checked binning."""
    check_choice(strategy, ("quantile", "uniform"), name="strategy")
    automatic = isinstance(bin_size, str) and bin_size == "auto"
    if n_bins is not None:
        if not automatic:
            raise ParameterError(
                None,
                "takes 'bin_size' or 'n_bins', not both. Got "
                f"bin_size={bin_size!r} and n_bins={n_bins!r}.",
            )
        n_bins = check_integer(n_bins, minimum=1, name="n_bins")
        return Binning(None, n_bins, strategy)
    if strategy == "uniform":
        raise ParameterError(
            "strategy", "needs 'n_bins', the number of bins, if it is 'uniform'."
        )
    if automatic:
        return Binning("auto", None, strategy)
    if isinstance(bin_size, str):
        raise ParameterError(
            "bin_size",
            f"must be 'auto' or an integer of at least 1. Got {bin_size!r} instead.",
        )
    bin_size = check_integer(bin_size, minimum=1, name="bin_size")
    return Binning(bin_size, None, strategy)


def interval_bin_size(pairs: Pairs) -> int:
    """Return the bin size of the score interval."""
    if pairs.total >= _ROUNDED:
        return _size_of_atoms(*_rounded(Cells(pairs.q, _BITS), pairs.weight))
    return _size_of_ordered(sort_pairs(pairs))


def interval_bin_size_of_cells(cells: SortedCells) -> int:
    """Return the bin size of the score interval, computed from tie classes."""
    if cells.total < _ROUNDED:
        return _size_of_atoms(cells.q, cells.weight)
    # The leading bits of a float are its exponent and its first binary digits. Shifting
    # the others out rounds down; adding 0.0 turns -0.0 into 0.0.
    shift = np.finfo(np.float64).nmant - _BITS
    edge = ((cells.q + 0.0).view(np.int64) >> shift << shift).view(np.float64)
    first = np.flatnonzero(np.r_[True, edge[1:] != edge[:-1]])
    return _size_of_atoms(edge[first], np.add.reduceat(cells.weight, first))


def interval_sums(pairs: Pairs) -> tuple[BinSums, int]:
    """Return the sums in the bins of the score interval, and the bin size.

    For large inputs, the probabilities are counted by cell once, and both the bin size
    and the bins are computed from the counts, unless the bins are too narrow. In that
    case, and for small inputs, the pairs are sorted.
    """
    if pairs.weight is None and pairs.total >= _ROUNDED:
        cells = Cells(pairs.q, _BITS)
        size = _size_of_atoms(*_rounded(cells, None))
        bounds = cut_by_size(pairs.total, size)
        if counting_pays(pairs.q.size, bounds.size - 1):
            ranks = bounds.astype(np.intp)
            return count_bins(pairs.q, pairs.positive_q, ranks, cells=cells), size
        del cells
        ordered = sort_pairs(pairs)
    else:
        ordered = sort_pairs(pairs)
        # Weighted pairs of a large total are rounded like unweighted ones.
        few = pairs.total < _ROUNDED
        size = _size_of_ordered(ordered) if few else interval_bin_size(pairs)
    return sum_bins(ordered, interval_bounds(ordered, size)), size


def interval_bounds(ordered: SortedRows | SortedCells, size: int) -> np.ndarray:
    """Return the bounds of the bins of the score interval.

    Each large tie class has its own bins, unless there are so many pairs that the bins
    at the ends of the class are a small part of the total.
    """
    if ordered.total >= _ROUNDED:
        return ordered.snap(cut_by_size(ordered.total, size))
    return cut_around_classes(ordered, size)


def _size_of_ordered(ordered: SortedRows | SortedCells) -> int:
    weights = np.ones(ordered.q.size)
    if isinstance(ordered, SortedCells):
        weights = ordered.weight
    return _size_of_atoms(ordered.q, weights)


def _rounded(cells: Cells, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower edges of the cells that are not empty, and their weights."""
    count = cells.count
    if weight is not None:
        count = cells.weights(weight)
    used = np.flatnonzero(cells.count)
    return cells.edges(used), count[used].astype(np.float64)


def _size_of_atoms(values: np.ndarray, weights: np.ndarray) -> int:
    """Return the bin size for ascending probabilities and their weights."""
    end = np.concatenate([[0.0], np.cumsum(weights)])
    total = float(end[-1])
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
        # A divided atom contributes its share to each side of the cut.
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
