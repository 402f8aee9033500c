"""Summary of pairs in fixed memory, for data that do not fit on one machine.

A bin boundary may divide a cell of weight w and P positives, so that a bin gets a part
of weight m. The sketch assumes that the part has the composition of the cell. The
following is certain about the true part:

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

import copy
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_choice, check_fraction, check_integer
from ._bins import (
    FOR_INTERVAL,
    SNAPPED,
    Bins,
    Ordered,
    check_binning,
    check_norm,
    norm_of,
)
from ._cells import CellTable, add_chunk, table_of_dask
from ._curve import ReliabilityCurve, curve_of_table
from ._interval import CalibrationErrorInterval, interval_of_table, warn_of_few
from ._score_interval import distribution_of_bins

# Rounding errors of sums of float64, for an error and for a square.
_ROUNDING = 1e-12
_ROUNDING_OF_SQUARE = 1e-14


class _Parts:
    """Parts of divided cells with different probabilities that belong to bins.

    bin : the bin; taken, total, positive, value : weight of the part, weight, positives
    and mean q of the cell; low, high : its smallest and largest q; fewest, most :
    positives that the part can have.
    """

    def __init__(self, cells: Ordered, bins: Bins):
        s = bins.shares
        cell = np.searchsorted(cells.rows.q, s.value)
        some = np.flatnonzero(cells.low[cell] < cells.high[cell])
        self.bin, self.value = s.bin[some], s.value[some]
        self.taken, self.total = s.taken[some], s.total[some]
        self.positive = s.rate[some] * self.total
        self.low, self.high = cells.low[cell[some]], cells.high[cell[some]]
        self.fewest = np.maximum(self.positive - (self.total - self.taken), 0)
        self.most = np.minimum(self.positive, self.taken)


def _residual_range(parts: _Parts, bins: Bins) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest |sum of r| that each bin can have."""
    rest = parts.total - parts.taken
    below, above = parts.value - parts.low, parts.high - parts.value
    # theory, (S1): what the part has less, the rest of the cell has more
    q_less = np.minimum(parts.taken * below, rest * above)
    q_more = np.minimum(parts.taken * above, rest * below)
    y = parts.taken * parts.positive / parts.total
    n_bins = bins.weight.size
    low = bins.residual - np.bincount(parts.bin, q_less + (parts.most - y), n_bins)
    high = bins.residual + np.bincount(parts.bin, q_more + (y - parts.fewest), n_bins)
    return np.maximum(np.maximum(low, -high), 0), np.maximum(-low, high)


def _rounding(cells: Ordered, sums: Bins) -> float:
    """Return a bound on the rounding error of a calibration error."""
    _, weight, _ = cells.classes()
    if (weight == np.floor(weight)).all():
        return _ROUNDING
    # a cut may be moved onto a tie that the sketch does not distinguish
    return _ROUNDING + 4 * SNAPPED * cells.total / float(sums.weight.min())


def _noise_range(
    cells: Ordered, parts: _Parts, sums: Bins
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
    least, largest = _whole_squares(cells, sums)
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


def _whole_squares(cells: Ordered, sums: Bins) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of the sum of r^2 over whole cells, minus the sketched sum.

    Let d be q minus the mean q of the cell. The difference is the sum of w d^2, minus
    twice the sum of w d over positives.
    """
    n_bins = sums.weight.size
    q, weight, positive = cells.classes()
    starts = cells.rows.position(np.arange(q.size))
    place = np.searchsorted(sums.bounds[1:-1], starts, "right")
    whole = np.ones(q.size, dtype=bool)
    whole[np.searchsorted(q, sums.shares.value)] = False
    whole &= cells.low < cells.high
    weight, positive = weight[whole], positive[whole]
    below = (q - cells.low)[whole]
    above = (cells.high - q)[whole]
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


def error_bound(cells: Ordered, sums: Bins, norm: str, squared: bool) -> float:
    """Return a bound on the distance between the sketched and the exact error."""
    least, largest = _residual_range(_Parts(cells, sums), sums)
    weight = sums.weight
    low, middle, high = (
        norm_of(distance / weight, weight, norm, squared)
        for distance in (least, sums.residual, largest)
    )
    return max(high - middle, middle - low) + _rounding(cells, sums)


def debiased_bound(cells: Ordered, sums: Bins, found: float, squared: bool) -> float:
    """Return a bound on the debiased square `found`, or for its root."""
    parts = _Parts(cells, sums)
    least, largest = _residual_range(parts, sums)
    down, up = _noise_range(cells, parts, sums)
    share = 1 / ((sums.weight - 1) * sums.weight.sum())
    middle = sums.residual**2
    # A square of at most 1 changes by twice the change of its root.
    slack = _ROUNDING_OF_SQUARE + 4 * (_rounding(cells, sums) - _ROUNDING)
    low = found + float(share @ (least**2 - middle + down)) - slack
    high = found + float(share @ (largest**2 - middle + up)) + slack
    if not squared:
        low, found, high = (float(np.sqrt(max(x, 0))) for x in (low, found, high))
    return max(high - found, found - low) + _ROUNDING


# With fewer bits the even cells would be wider than the cells near the ends. More bits
# would need gigabytes of memory.
_BITS = (12, 24)


class ReliabilitySketch:
    """Summary of labels and probabilities in fixed memory, for streams and clusters.

    Chunks of data are added with :meth:`update`, and summaries of several machines are
    combined with :meth:`merge`, in any order. The reliability curve, the calibration
    error and its interval can then be computed at any bin size. :meth:`error_bound`
    returns the largest possible difference from the exact calibration error.

    Parameters
    ----------
    n_bits : int, default=18
        Resolution, from 12 to 24. Probabilities are distinguished in steps of
        ``2 ** -n_bits``, and in smaller steps near 0 and 1. Each additional bit doubles
        the memory (13 MB at 18) and about halves the bound of the error.

    Attributes
    ----------
    n_pairs : int
        Number of pairs of positive weight. A pair is a label and its probability. With
        pooled classes, a row of K classes gives K pairs.
    total_weight : float
        Total weight of the pairs.
    heaviest_cell : float
        Weight of the heaviest cell (see Notes) among those with more than one distinct
        probability. The bin size should be larger than this weight. If it is 0, all
        results are exact.

    See Also
    --------
    calibration_error : The error of pairs that fit in memory, or of Dask arrays.
    adaptive_reliability_curve : The reliability curve of pairs in memory.
    calibration_error_interval : The confidence interval of the calibration error.

    Notes
    -----
    The interval [0, 1] is divided into fixed cells. For each cell the sketch stores the
    weight, the weight of the positives, the sum of the probabilities, and the
    probability itself if all are equal.

    The results are computed as if all pairs of a cell had its mean probability. They
    differ from the exact results only if a bin boundary falls inside a cell. It is then
    unknown which labels of the cell belong to the bin, and :meth:`error_bound` is the
    bound over all possible parts (:ref:`sketch-formulas`). If all probabilities of a
    cell are equal, it is divided in the same way as in the exact metrics. Results are
    therefore exact for data with few distinct probabilities.

    The results do not depend on the order and the sizes of the chunks, except for
    rounding errors. Pickles contain only the used cells, with 36 bytes per cell.

    A sketch does not store which pairs belong to the same row. The debiased error and
    the interval use products of residuals from different rows, so they are not
    available for pooled classes.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import ReliabilitySketch, calibration_error
    >>> sketch = ReliabilitySketch()
    >>> for seed in range(10):
    ...     y_true, y_proba = make_calibrated_pairs(20_000, k=0.1, random_state=seed)
    ...     sketch = sketch.update(y_true, y_proba)
    >>> sketch
    ReliabilitySketch(n_pairs=200000, n_bits=18)
    >>> round(sketch.error(), 3), sketch.error_bound() < 1e-4
    (0.081, True)
    >>> sketch.curve(n_bins=4).prob_true.round(2)
    array([0.  , 0.21, 0.78, 1.  ])
    """

    @public
    def __init__(self, *, n_bits: int = 18):
        n_bits = check_integer(n_bits, minimum=_BITS[0], name="n_bits")
        if n_bits > _BITS[1]:
            raise ParameterError("n_bits", f"must be at most {_BITS[1]}. Got {n_bits}.")
        self._table = CellTable(n_bits)

    @property
    def n_bits(self) -> int:
        """Resolution of the sketch."""
        return self._table.grid.n_bits

    @property
    def n_pairs(self) -> int:
        """Number of pairs of positive weight."""
        return self._table.n_samples

    #: The attribute `n_pairs` under its old name.
    n_samples = n_pairs

    @public
    def update(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        multi_class: str | None = None,
        labels: ArrayLike | None = None,
        pos_label: Hashable = None,
    ) -> ReliabilitySketch:
        """Add a chunk of labels and probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels. A chunk may be empty. It does not need to contain every label;
            even `pos_label` may be missing.
        y_proba : array-like of shape (n,) or (n, n_classes)
            Probabilities, as in :func:`calibration_error`.
        sample_weight : array-like of shape (n,), default=None
            Frequencies: a row of weight 3 is equivalent to three rows.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix is reduced to pairs, as in :func:`calibration_error`.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns. Required unless every chunk contains
            all of them.
        pos_label : label, default=None
            Positive class. If None, it is 1, or the label of the second column if
            `y_proba` has two columns.

        Returns
        -------
        self : ReliabilitySketch

        Raises
        ------
        ValueError
            If a parameter or a row is invalid. In this case nothing is added.
        """
        settings = _settings(multi_class, labels, pos_label)
        add_chunk(self._table, y_true, y_proba, sample_weight, **settings)
        return self

    @classmethod
    @public
    def from_dask(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        multi_class: str | None = None,
        labels: ArrayLike | None = None,
        pos_label: Hashable = None,
        n_bits: int = 18,
    ) -> ReliabilitySketch:
        """Create a sketch from Dask arrays.

        One sketch is created for each block, and the sketches are merged pairwise (tree
        reduction). The computation uses Dask's current scheduler. If a
        `distributed.Client` is open, the work is done by its workers, and the work of a
        lost worker is repeated. Blocks are never collected on one machine.

        Parameters
        ----------
        y_true : dask array or series of shape (n,)
            Labels.
        y_proba : dask array, series or frame of shape (n,) or (n, n_classes)
            Probabilities, as in :func:`calibration_error`.
        sample_weight : dask array or series of shape (n,), default=None
            Frequencies.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix is reduced to pairs, as in :func:`calibration_error`.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns. If None, the sorted labels of `y_true`
            are used, which requires an additional pass over the data.
        pos_label : label, default=None
            Positive class. If None, it is 1, or the label of the second column if
            `y_proba` has two columns.
        n_bits : int, default=18
            Resolution, as in :class:`ReliabilitySketch`.

        Returns
        -------
        sketch : ReliabilitySketch

        Raises
        ------
        ValueError
            If lengths differ, if blocks of unknown length cannot be matched, or for the
            reasons given in :meth:`update`.
        """
        sketch = cls(n_bits=n_bits)
        settings = _settings(multi_class, labels, pos_label)
        sketch._table = table_of_dask(
            y_true, y_proba, sample_weight, sketch.n_bits, **settings
        )
        return sketch

    @public
    def merge(self, other: ReliabilitySketch) -> ReliabilitySketch:
        """Add the pairs of another sketch to this one, like ``+=``.

        Parameters
        ----------
        other : ReliabilitySketch
            Sketch to add. It is not changed. The expression ``sketch + other`` returns
            a new sketch and changes neither of the two.

        Returns
        -------
        self : ReliabilitySketch

        Raises
        ------
        TypeError
            If `other` is not a ReliabilitySketch.
        ValueError
            If `other` has a different resolution or different negative labels.
        """
        if not isinstance(other, ReliabilitySketch):
            raise ParameterTypeError(
                "other",
                f"must be a ReliabilitySketch. Got {type(other).__name__} instead.",
            )
        if other.n_bits != self.n_bits:
            raise ParameterError(
                None,
                f"needs sketches of equal n_bits. Got n_bits={self.n_bits} and "
                f"n_bits={other.n_bits}.",
            )
        self._table.merge(other._table)
        return self

    def __iadd__(self, other: ReliabilitySketch) -> ReliabilitySketch:
        return self.merge(other)

    def __add__(self, other: ReliabilitySketch) -> ReliabilitySketch:
        if not isinstance(other, ReliabilitySketch):
            return NotImplemented
        return copy.deepcopy(self).merge(other)

    @property
    def total_weight(self) -> float:
        """Total weight of the pairs."""
        return float(self._table.weight.sum())

    @property
    def heaviest_cell(self) -> float:
        """Largest weight of a cell that contains different probabilities."""
        cells = self._table.cells
        _, weight, _ = cells.classes()
        return float(weight[cells.low < cells.high].max(initial=0))

    @public
    def curve(
        self, bin_size: int | Literal["auto"] = "auto", *, n_bins: int | None = None
    ) -> ReliabilityCurve:
        """Return the reliability curve.

        Parameters
        ----------
        bin_size : int or 'auto', default='auto'
            Number of pairs (total weight) in a bin, as in
            :func:`adaptive_reliability_curve`.
        n_bins : int, default=None
            Number of bins. If given, it is used instead of `bin_size`.

        Returns
        -------
        curve : ReliabilityCurve
            Reliability curve. If the values are not exact, `proba_min` and `proba_max`
            are edges of cells.
        """
        return curve_of_table(self._table, check_binning(bin_size, n_bins, "quantile"))

    @public
    def error(
        self,
        bin_size: int | Literal["auto"] = "auto",
        *,
        n_bins: int | None = None,
        norm: str = "l2",
        squared: bool = False,
        debias: bool = False,
    ) -> float:
        """Return the calibration error.

        Parameters
        ----------
        bin_size : int or 'auto', default='auto'
            Number of pairs (total weight) in a bin.
        n_bins : int, default=None
            Number of bins. If given, it is used instead of `bin_size`.
        norm : {'l1', 'l2', 'max'}, default='l2'
            As in :func:`calibration_error`.
        squared : bool, default=False
            Whether to return the square of the error. Requires norm 'l2'.
        debias : bool, default=False
            Whether to remove the bias due to label noise, as in
            :func:`calibration_error`. Requires norm 'l2', and is not available for
            pooled classes.

        Returns
        -------
        error : float
        """
        check_norm(norm, squared, debias)
        binning = check_binning(bin_size, n_bins, "quantile")
        if debias and not squared and binning.bin_size == "auto":
            bins = self._table.bins(FOR_INTERVAL, independent=True)
            return distribution_of_bins(bins).estimate
        return self._table.bins(binning, independent=debias).error(
            norm, squared, debias
        )

    @public
    def error_bound(
        self,
        bin_size: int | Literal["auto"] = "auto",
        *,
        n_bins: int | None = None,
        norm: str = "l2",
        squared: bool = False,
        debias: bool = False,
    ) -> float:
        """Return a bound on the distance between :meth:`error` and the exact error.

        The bound is deterministic: it is valid for every assignment of the labels of a
        split cell to the probabilities in that cell. It increases with the weight of
        the cells relative to the weight of the bins. If all probabilities in each cell
        are equal, the bound is 1e-12, which accounts for rounding. If the debiased
        squared error is near 0, the bound for its square root may be 1e-7.

        Parameters
        ----------
        bin_size : int or 'auto', default='auto'
            As in :meth:`error`.
        n_bins : int, default=None
            As in :meth:`error`.
        norm : {'l1', 'l2', 'max'}, default='l2'
            As in :meth:`error`.
        squared : bool, default=False
            As in :meth:`error`.
        debias : bool, default=False
            As in :meth:`error`. In automatic bins, the bound is that of the unbiased
            estimate of the squared error, which ``squared=True`` returns.

        Returns
        -------
        bound : float
            Bound on the absolute difference.
        """
        check_norm(norm, squared, debias)
        bins = self._bins(bin_size, n_bins, debias)
        if not debias:
            return error_bound(self._table.cells, bins, norm, squared)
        square = bins.error(norm, True, True)
        return debiased_bound(self._table.cells, bins, square, squared)

    @public
    def interval(
        self,
        bin_size: int | Literal["auto"] = "auto",
        *,
        confidence_level: float = 0.95,
    ) -> CalibrationErrorInterval:
        """Return the score interval of the error for independent pairs.

        The interval is the result of :func:`calibration_error_interval` if each
        probability is replaced by the mean of its cell, except that a cell of different
        probabilities is not a bin of its own. 'auto' also uses these means. For few
        pairs, the bin size may therefore differ from the bin size for the exact
        probabilities by a factor of 1.25.

        :meth:`error_bound` is no bound on the ends. The upper end also depends on bins
        of a few pairs, whose ends divide cells. In samples of 3,000 to a million
        continuous probabilities from six distributions, the root mean square difference
        of the upper ends was less than 12% of the end for each distribution, and the
        largest difference was 30%. The lower ends differed by less than .001. If
        probabilities are rounded to a few digits, both intervals are the same.

        Parameters
        ----------
        bin_size : int or 'auto', default='auto'
            Number of pairs (total weight) in a bin, at least 2. 'auto' is chosen as in
            :func:`calibration_error_interval`.
        confidence_level : float, default=0.95
            Confidence level, strictly between 0 and 1.

        Returns
        -------
        interval : CalibrationErrorInterval

        Raises
        ------
        ValueError
            If a parameter is invalid, if there are fewer than two pairs, or if classes
            were pooled.

        Warns
        -----
        UserWarning
            If there are fewer than five rows. There is no test then, and `p_value` is
            NaN.
        """
        level = check_fraction(confidence_level, name="confidence_level")
        binning = check_binning(bin_size, None, "quantile")
        result = interval_of_table(self._table, binning, level)
        warn_of_few([(None, result)])
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return the settings and the used cells as a dict of numbers and lists."""
        cells = self._table.cells
        q, weight, positive = cells.classes()
        return {
            "n_bits": self.n_bits,
            "n_pairs": self.n_pairs,
            "n_samples": self.n_pairs,  # the old name
            "total_weight": self.total_weight,
            "prob_pred": q.tolist(),
            "weight": weight.tolist(),
            "positive_weight": positive.tolist(),
            "proba_min": cells.low.tolist(),
            "proba_max": cells.high.tolist(),
        }

    def __repr__(self) -> str:
        return f"ReliabilitySketch(n_pairs={self.n_pairs}, n_bits={self.n_bits})"

    def _bins(self, bin_size: Any, n_bins: Any, debias: bool) -> Bins:
        """Return the bins; with `debias`, pairs must be independent."""
        binning = check_binning(bin_size, n_bins, "quantile")
        return self._table.bins(binning, independent=debias)


def _settings(multi_class: Any, labels: Any, pos_label: Any) -> dict[str, Any]:
    """Return the settings of a sketch, which has one set of pairs."""
    if multi_class is not None:
        check_choice(multi_class, ("pooled", "top_label"), name="multi_class")
    return {"multi_class": multi_class, "labels": labels, "pos_label": pos_label}
