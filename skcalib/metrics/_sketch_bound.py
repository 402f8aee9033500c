"""Bounds on the distance between results of a sketch and exact results.

A cut divides a cell of weight w and P positives, and a bin gets a part of weight m. The
sketch assumes that the part has the composition of the cell. The following is certain
about the true part:

* its number of positives is at least P - (w - m) and 0, and at most P and m;
* its probabilities, and the probabilities of the rest of the cell, lie between the
  smallest and the largest probability of the cell. The sum over both parts is known, so
  the sum of q over the part lies in a known interval.

True parts are means over the orders of tied rows, and means stay inside intervals.
Therefore the true sum of r = q - y of each bin lies in a known interval. The error is a
norm of the mean residuals that increases with each |mean|. Its smallest and largest
values follow from the smallest and the largest |mean| of every bin.

The debiased square also depends on the sum of r^2 in each bin and on the variance of a
draw without replacement from divided ties. Intervals for both are derived in the same
way. If all probabilities of a cell are equal, the sketch is exact and adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._bins import BinSums, norm_of
from ._cells import SketchedCells

# Rounding errors of sums of float64, for an error and for a square.
_ROUNDING = 1e-12
_ROUNDING_OF_SQUARE = 1e-14

# Cuts within this share of the total weight from the end of a tie are moved onto it.
_SNAPPED = 1e-12


@dataclass(frozen=True)
class _Parts:
    """Parts of divided cells with different probabilities that belong to bins.

    bin : the bin; taken, total, positive, value : weight of the part, weight, positives
    and mean q of the cell; low, high : its smallest and largest q; fewest, most :
    positives that the part can have.
    """

    bin: np.ndarray
    taken: np.ndarray
    total: np.ndarray
    positive: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    fewest: np.ndarray
    most: np.ndarray


def _parts(cells: SketchedCells, sums: BinSums) -> _Parts:
    s = sums.shares
    cell = np.searchsorted(cells.q, s.value)
    some = np.flatnonzero(cells.low[cell] < cells.high[cell])
    cell = cell[some]
    taken, total, positive = s.taken[some], s.total[some], s.positive[some]
    return _Parts(
        bin=s.bin[some],
        taken=taken,
        total=total,
        positive=positive,
        value=s.value[some],
        low=cells.low[cell],
        high=cells.high[cell],
        fewest=np.maximum(positive - (total - taken), 0),
        most=np.minimum(positive, taken),
    )


def _residual_range(parts: _Parts, sums: BinSums) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest sum of r that each bin can have."""
    rest = parts.total - parts.taken
    below, above = parts.value - parts.low, parts.high - parts.value
    # theory, (S1): what the part has less, the rest of the cell has more
    q_less = np.minimum(parts.taken * below, rest * above)
    q_more = np.minimum(parts.taken * above, rest * below)
    y = parts.taken * parts.positive / parts.total
    n_bins = sums.weight.size
    less = np.bincount(parts.bin, q_less + (parts.most - y), n_bins)
    more = np.bincount(parts.bin, q_more + (y - parts.fewest), n_bins)
    return sums.residual - less, sums.residual + more


def _rounding(cells: SketchedCells, sums: BinSums) -> float:
    """Return a bound on the rounding error of a calibration error."""
    if (cells.weight == np.floor(cells.weight)).all():
        return _ROUNDING
    # a cut may be moved onto a tie that the sketch does not distinguish
    return _ROUNDING + 4 * _SNAPPED * cells.total / float(sums.weight.min())


def _distances(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest absolute value of numbers in the intervals."""
    return np.maximum(np.maximum(low, -high), 0), np.maximum(-low, high)


def _noise_range(
    cells: SketchedCells, bounds: np.ndarray, parts: _Parts, sums: BinSums
) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of the variance of draws minus the sum of r^2.

    The result has two arrays with one entry per bin: the smallest and the largest
    difference from the value that the sketch assumes.

    For example, a bin takes 2 of the 4 pairs of a cell with 2 positives and q in [.4,
    .5], taken as .45. The part has 0, 1 or 2 positives, so its sum of r^2 is at least
    2 (.4)^2 = .32 (no positive) and at most 2 (1 - .4)^2 = .72 (two). The sketch takes
    it as 2 (.5 (.55)^2 + .5 (.45)^2) = .505, and the variance of the draw as 2 (2/3)
    (1/4) = .333. The true variance is between 0 (the exact cut divides no tie) and 2
    min(2, 2, 2/4) = 1. The difference of both is therefore at least .505 - .72 - .333,
    and at most .505 - .32 + 1 - .333.
    """
    n_bins = sums.weight.size
    least, largest = _whole_squares(cells, bounds, sums)
    # the part of a divided cell: between the least and the largest (q - y)^2
    mean = parts.positive / parts.total
    near, far = (1 - parts.high) ** 2, (1 - parts.low) ** 2
    few, many = parts.fewest, parts.most
    # theory, (S2): linear in the number of positives, so its ends are enough
    lowest = [k * near + (parts.taken - k) * parts.low**2 for k in (few, many)]
    highest = [k * far + (parts.taken - k) * parts.high**2 for k in (few, many)]
    taken_as = parts.taken * (
        mean * (1 - parts.value) ** 2 + (1 - mean) * parts.value**2
    )
    drawn = parts.taken * (parts.total - parts.taken)
    drawn_as = drawn / np.maximum(parts.total - 1, 1) * mean * (1 - mean)
    # theory, (S3): (t - m) / (t - 1) is at most 2, even if weights are below 1
    draw = 2 * np.minimum(np.minimum(many, parts.taken - few), parts.taken / 4)
    # If the exact cut divides no tie, there is no variance of a draw.
    down = np.maximum(*highest) - taken_as + drawn_as
    up = taken_as - np.minimum(*lowest) + np.maximum(draw - drawn_as, 0)
    return (
        -largest - np.bincount(parts.bin, down, n_bins),
        -least + np.bincount(parts.bin, up, n_bins),
    )


def _whole_squares(
    cells: SketchedCells, bounds: np.ndarray, sums: BinSums
) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of the sum of r^2 over whole cells, minus the sketched sum.

    Let d be q minus the mean q of the cell. The difference is the sum of w d^2, minus
    twice the sum of w d over positives.
    """
    n_bins = sums.weight.size
    starts = np.concatenate([[0.0], cells.end[:-1]])
    place = np.searchsorted(bounds[1:-1], starts, "right")
    whole = np.ones(cells.q.size, dtype=bool)
    whole[np.searchsorted(cells.q, sums.shares.value)] = False
    whole &= cells.low < cells.high
    weight, positive = cells.weight[whole], cells.positive[whole]
    below = (cells.q - cells.low)[whole]
    above = (cells.high - cells.q)[whole]
    negative = weight - positive
    # theory, (S4): what positives have more, negatives have less
    shift_up = np.minimum(positive * above, negative * below)
    shift_down = np.minimum(positive * below, negative * above)
    # a variance in [a, b] is at most (mean - a) (b - mean)
    most = weight * below * above + 2 * shift_down
    return (
        np.bincount(place[whole], -2 * shift_up, n_bins),
        np.bincount(place[whole], most, n_bins),
    )


def error_bound(cells: SketchedCells, sums: BinSums, norm: str, squared: bool) -> float:
    """Return a bound on the distance between the sketched and the exact error."""
    parts = _parts(cells, sums)
    least, largest = _distances(*_residual_range(parts, sums))
    weight = sums.weight
    low, middle, high = (
        norm_of(distance / weight, weight, norm, squared)
        for distance in (least, sums.residual, largest)
    )
    return max(high - middle, middle - low) + _rounding(cells, sums)


def debiased_bound(
    cells: SketchedCells, bounds: np.ndarray, sums: BinSums, found: float, squared: bool
) -> float:
    """Return a bound on the debiased square `found`, or for its root."""
    parts = _parts(cells, sums)
    least, largest = _distances(*_residual_range(parts, sums))
    down, up = _noise_range(cells, bounds, parts, sums)
    share = 1 / ((sums.weight - 1) * sums.weight.sum())
    middle = sums.residual**2
    # A square of at most 1 changes by twice the change of its root.
    slack = _ROUNDING_OF_SQUARE + 4 * (_rounding(cells, sums) - _ROUNDING)
    low = found + float(share @ (least**2 - middle + down)) - slack
    high = found + float(share @ (largest**2 - middle + up)) + slack
    if not squared:
        low, found, high = (float(np.sqrt(max(x, 0))) for x in (low, found, high))
    return max(high - found, found - low) + _ROUNDING
