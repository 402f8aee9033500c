"""The bin size of an interval: narrow bins where the error may change inside them.

Inside a bin the error q - p is averaged before it is squared, so an interval over wide
bins is one of a smaller quantity; but the noise of the debiased square grows with the
root of the number of bins. How much can be averaged away depends on how far the
probabilities of a bin lie apart: where the error changes no faster than the probability
itself, their variance inside bins bounds the loss. The widest bins are taken whose
bound is a tenth of the deviation of the square under calibration.

Only probabilities decide, never labels, so the choice does not bend the law of the
interval.
"""

from __future__ import annotations

import numpy as np

from ._bins import BinSums, SortedCells, SortedRows, cut_by_size, sort_pairs, sum_bins
from ._counting import Cells, count_bins, counting_pays
from ._pairs import Pairs

# Loss allowed, in deviations of the debiased square.
_LOSS = 0.1

# Ratio of neighbouring bin sizes that are tried, and the least of them: the variance
# of fewer rows is hardly known.
_STEP = 1.25
_LEAST = 5

# More bins would take gigabytes.
_MOST_BINS = 2**22

# From this weight on, probabilities are rounded to so many leading bits.
_ROUNDED = 2**18
_BITS = 12


def interval_bin_size(pairs: Pairs) -> int:
    """Return the bin size of the score interval."""
    if pairs.total >= _ROUNDED:
        return _size_of_atoms(*_rounded(Cells(pairs.q, _BITS), pairs.weight))
    return _size_of_ordered(sort_pairs(pairs))


def interval_bin_size_of_cells(cells: SortedCells) -> int:
    """Return the bin size of the score interval for tie classes, as for their pairs."""
    if cells.total < _ROUNDED:
        return _size_of_atoms(cells.q, cells.weight)
    shift = np.finfo(np.float64).nmant - _BITS
    edge = ((cells.q + 0.0).view(np.int64) >> shift << shift).view(np.float64)
    first = np.flatnonzero(np.r_[True, edge[1:] != edge[:-1]])
    return _size_of_atoms(edge[first], np.add.reduceat(cells.weight, first))


def interval_sums(pairs: Pairs) -> tuple[BinSums, int]:
    """Return the sums in the bins of the score interval, and the bin size.

    Many pairs are counted once for the bin size and the bins, or sorted if the bins
    are too narrow for that; few are sorted once.
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
        few = pairs.total < _ROUNDED
        size = _size_of_ordered(ordered) if few else interval_bin_size(pairs)
    bounds = ordered.snap(cut_by_size(ordered.total, size))
    return sum_bins(ordered, bounds), size


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
    centred = values - float(weights @ values) / total
    sums = [
        np.concatenate([[0.0], np.cumsum(weights * term)])
        for term in (values * (1 - values), centred, centred**2)
    ]
    *sizes, least = _sizes(total)
    for size in sizes:
        bounds = cut_by_size(total, size)
        n = np.diff(bounds)
        # an atom that a cut divides gives each side its share
        variance, first, second = (
            np.diff(np.interp(bounds, end, each)) for each in sums
        )
        loss = float(np.maximum(second - first**2 / n, 0).sum() / total)
        # n (n - 1) pairs of a bin, each with the weight 1 / (N (n - 1))
        noise = np.sqrt(2 * float((variance / total) ** 2 @ (1 / (n * (n - 1)))))
        if loss <= _LOSS * noise:
            return size
    return least


def _sizes(total: float) -> list[int]:
    """Return bin sizes from 0.8 sqrt(total) downwards.

    The widest lose little even where the error jumps, in one bin of some hundred.
    """
    narrowest = int(np.ceil(total / _MOST_BINS))
    widest = max(2, round(0.8 * total**0.5), narrowest)
    least = min(max(_LEAST, narrowest), widest)
    steps = np.arange(np.ceil(np.log(widest / least) / np.log(_STEP)))
    sizes = dict.fromkeys(int(round(size)) for size in widest / _STEP**steps)
    return [size for size in sizes if size > least] + [least]
