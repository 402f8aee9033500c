"""A summary of pairs in fixed memory, for data that no machine holds."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import check_fraction, check_integer
from ._bin_size import interval_bin_size_of_cells
from ._binning import Binning, check_binning
from ._bins import BinSums, sum_bins
from ._chunks import check_chunk, check_negatives, check_one_sketch, negatives_in
from ._curve import ReliabilityCurve, curve_of_sums
from ._error import error_of_sums
from ._interval import CalibrationErrorInterval, interval_of_sums
from ._norms import check_norm
from ._pairs import Pairs
from ._sketch_bound import debiased_bound, error_bound
from ._sketch_cells import CellTable, SketchedCells

# With fewer bits the even cells would be wider than those near the ends; more would
# take gigabytes.
_BITS = (12, 24)


class ReliabilitySketch:
    """Summary of labels and probabilities in fixed memory, for streams and clusters.

    Chunks of data are added with :meth:`update`, summaries of several machines with
    :meth:`merge`, in any order. The reliability curve, the calibration error and its
    interval are then read at any bin size, with a guaranteed bound of the distance to
    the number that all pairs together would give.

    Parameters
    ----------
    n_bits : int, default=18
        Fineness: probabilities are told apart in steps of ``2 ** -n_bits``, near 0 and
        1 in finer ones. From 12 to 24; one bit more takes twice the memory (13 MB at
        18) and about halves the bound.

    Attributes
    ----------
    n_samples : int
        Number of pairs of positive weight; pooled classes count one pair each.
    total_weight : float
        Their total weight.
    heaviest_cell : float
        Largest weight of pairs that the sketch does not tell apart although their
        probabilities differ. Bins should be wider. It is 0 where every number read is
        that of the pairs themselves.

    See Also
    --------
    calibration_error : The error of pairs that fit in memory, or of Dask arrays.
    adaptive_reliability_curve : Their curve.
    calibration_error_interval : Their interval.

    Notes
    -----
    The interval [0, 1] is divided into fixed cells. Of each the sketch holds the
    weight, that of the positives, the sum of the probabilities and the smallest and
    the largest of them. What is read is what the pairs would give if each had the mean
    probability of its cell. As every pair keeps its place in the order up to its cell,
    only cells that a cut divides make a difference, and it is bounded: the part of a
    cell of weight w with P positives that a bin gets, m of weight, has between
    max(0, P - (w - m)) and min(P, m) positives, and its probabilities are between the
    smallest and the largest of the cell. A cell whose probabilities are all equal is a
    tie, which the exact metrics divide in proportion too. So data with few distinct
    probabilities lose nothing.

    Adding is all that is done with chunks, so neither their order nor their sizes
    change a number by more than rounding, and a sketch that was pickled and sent goes
    on as if it had not been. Pickles hold used cells only: 36 bytes for each.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import ReliabilitySketch, calibration_error
    >>> sketch = ReliabilitySketch()
    >>> for seed in range(10):
    ...     y_true, y_proba = make_calibrated_pairs(20_000, k=0.1, random_state=seed)
    ...     sketch = sketch.update(y_true, y_proba)
    >>> sketch
    ReliabilitySketch(n_samples=200000, n_bits=18)
    >>> round(sketch.error(), 3), sketch.error_bound() < 1e-4
    (0.082, True)
    >>> sketch.curve(n_bins=4).prob_true.round(2)
    array([0.  , 0.21, 0.78, 1.  ])
    """

    def __init__(self, *, n_bits: int = 18):
        n_bits = check_integer(
            n_bits, minimum=_BITS[0], name="n_bits", caller="ReliabilitySketch"
        )
        if n_bits > _BITS[1]:
            raise ValueError(
                f"The 'n_bits' parameter of ReliabilitySketch must be at most "
                f"{_BITS[1]}. Got {n_bits}."
            )
        self.n_bits = n_bits
        self.n_samples = 0
        self._table = CellTable(n_bits)
        self._negatives: frozenset = frozenset()
        self._dependent = False

    def update(
        self,
        y_true: Any,
        y_proba: Any,
        sample_weight: Any = None,
        *,
        multi_class: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
    ) -> ReliabilitySketch:
        """Add a chunk of labels and probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels. A chunk may be empty, and need not hold every label, not even
            `pos_label`.
        y_proba : array-like of shape (n,) or (n, n_classes)
            Probabilities, as in :func:`calibration_error`.
        sample_weight : array-like of shape (n,), default=None
            Frequencies: a row of weight 3 is three rows.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix becomes pairs, as in :func:`calibration_error`.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns; to be given unless every chunk holds
            all of them.
        pos_label : label, default=None
            The positive class; by default 1, or with two columns the second.

        Returns
        -------
        self : ReliabilitySketch

        Raises
        ------
        ValueError
            If a parameter or a row is not as described; nothing is added then.
        """
        caller = "ReliabilitySketch.update"
        check_one_sketch(multi_class, caller)
        several = check_chunk(
            y_true,
            y_proba,
            sample_weight,
            caller=caller,
            multi_class=multi_class,
            labels=labels,
            pos_label=pos_label,
        )
        for pairs in several:
            negatives = self._negatives
            if pos_label is None and np.ndim(y_proba) == 1:
                negatives = negatives | negatives_in(y_true, sample_weight, caller)
            check_negatives(negatives, caller=caller)
            self._negatives = negatives
            self._add(pairs)
        return self

    @classmethod
    def from_dask(
        cls,
        y_true: Any,
        y_proba: Any,
        sample_weight: Any = None,
        *,
        multi_class: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
        n_bits: int = 18,
    ) -> ReliabilitySketch:
        """Make a sketch of Dask arrays: one for each block, merged as a tree.

        Dask's scheduler of the moment computes it, so a `distributed.Client` that is
        open does, and repeats what a lost worker had done. Blocks are never gathered.

        Parameters
        ----------
        y_true : dask array or series of shape (n,)
            Labels.
        y_proba : dask array, series or frame of shape (n,) or (n, n_classes)
            Probabilities, as in :func:`calibration_error`.
        sample_weight : dask array or series of shape (n,), default=None
            Frequencies.
        multi_class : {'pooled', 'top_label'}, default=None
            How a matrix becomes pairs.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the columns; by default the sorted labels of
            `y_true`, which takes a pass of its own.
        pos_label : label, default=None
            The positive class; by default 1, or with two columns the second.
        n_bits : int, default=18
            Fineness of the sketch.

        Returns
        -------
        sketch : ReliabilitySketch

        Raises
        ------
        ValueError
            If lengths differ, or blocks whose lengths are not known cannot be matched;
            and as :meth:`update` does.
        """
        from ._dask import Chunked, sketch_blocks

        caller = "ReliabilitySketch.from_dask"
        check_one_sketch(multi_class, caller)
        data = Chunked(
            y_true, y_proba, sample_weight, multi_class, labels, pos_label, caller
        )
        (sketch,) = sketch_blocks(data, n_bits)
        return sketch

    @classmethod
    def from_spark(
        cls,
        frame: Any,
        y_true: str,
        y_proba: str | Sequence[str],
        sample_weight: str | None = None,
        *,
        multi_class: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
        n_bits: int = 18,
    ) -> ReliabilitySketch:
        """Make a sketch of a Spark DataFrame: one for each partition, merged as a tree.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            Its partitions are read by `mapInPandas`, which needs pandas and pyarrow,
            and skcalib on every worker.
        y_true : str
            Column of the labels.
        y_proba : str or sequence of str
            Column of the probabilities, numbers or arrays of one for each class; or a
            column for each class.
        sample_weight : str, default=None
            Column of the frequencies.
        multi_class : {'pooled', 'top_label'}, default=None
            How several classes become pairs.
        labels : array-like of shape (n_classes,), default=None
            Labels in the order of the classes; by default the sorted labels of
            `y_true`, which takes a pass of its own.
        pos_label : label, default=None
            The positive class; by default 1, or with two classes the second.
        n_bits : int, default=18
            Fineness of the sketch.

        Returns
        -------
        sketch : ReliabilitySketch

        Raises
        ------
        ValueError
            If `frame` has no such column. What is wrong in a row is raised by Spark,
            with the message of :meth:`update` in its own.
        """
        from ._spark import Columns, sketch_partitions

        check_one_sketch(multi_class, "ReliabilitySketch.from_spark")
        columns = Columns(y_true, y_proba, sample_weight)
        settings = {
            "multi_class": multi_class,
            "labels": labels,
            "pos_label": pos_label,
        }
        return sketch_partitions(frame, columns, settings, n_bits)

    def merge(self, other: ReliabilitySketch) -> ReliabilitySketch:
        """Add the pairs of another sketch to this one, which ``+=`` does too.

        Parameters
        ----------
        other : ReliabilitySketch
            It is not changed. ``one + other`` leaves both alone.

        Returns
        -------
        self : ReliabilitySketch

        Raises
        ------
        TypeError
            If `other` is not a ReliabilitySketch.
        ValueError
            If `other` has another fineness, or other negative labels.
        """
        caller = "ReliabilitySketch.merge"
        if not isinstance(other, ReliabilitySketch):
            raise TypeError(
                f"The 'other' parameter of {caller} must be a ReliabilitySketch. Got "
                f"{type(other).__name__} instead."
            )
        if other.n_bits != self.n_bits:
            raise ValueError(
                f"{caller} needs sketches of one fineness. Got n_bits={self.n_bits} "
                f"and n_bits={other.n_bits}."
            )
        negatives = self._negatives | other._negatives
        check_negatives(negatives, caller=caller)
        self._table.merge(other._table)
        self._negatives = negatives
        self._dependent |= other._dependent
        self.n_samples += other.n_samples
        self._forget()
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
        """Largest weight of pairs that are not told apart."""
        cells = self._cells
        return float(cells.weight[cells.low < cells.high].max(initial=0))

    def curve(
        self, bin_size: int | str = "auto", *, n_bins: int | None = None
    ) -> ReliabilityCurve:
        """Return the reliability curve.

        Parameters
        ----------
        bin_size : int or 'auto', default='auto'
            Number of pairs (total weight) in a bin, as in
            :func:`adaptive_reliability_curve`.
        n_bins : int, default=None
            Instead of `bin_size`, a number of bins.

        Returns
        -------
        curve : ReliabilityCurve
            `proba_min` and `proba_max` are edges of cells where these are not exact.
        """
        caller = "ReliabilitySketch.curve"
        sums, _, size = self._sums(bin_size, n_bins, caller)
        return curve_of_sums(sums, size, self.n_samples)

    def error(
        self,
        bin_size: int | str = "auto",
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
            Instead of `bin_size`, a number of bins.
        norm : {'l1', 'l2', 'max'}, default='l2'
            As in :func:`calibration_error`.
        squared : bool, default=False
            With 'l2', return the square.
        debias : bool, default=False
            With 'l2', the unbiased estimate of the square, or its root.

        Returns
        -------
        error : float
        """
        caller = "ReliabilitySketch.error"
        check_norm(norm, squared, debias, caller=caller)
        sums, _, _ = self._sums(bin_size, n_bins, caller)
        return error_of_sums(sums, norm, squared, debias, caller=caller)

    def error_bound(
        self,
        bin_size: int | str = "auto",
        *,
        n_bins: int | None = None,
        norm: str = "l2",
        squared: bool = False,
        debias: bool = False,
    ) -> float:
        """Return how far :meth:`error` can be from the error of the pairs themselves.

        The bound is sure, not probable: it holds whichever labels in a divided cell go
        with its smaller probabilities. It is the larger, the heavier the cells are
        beside the bins; where bins are narrower than cells it says little. Where every
        cell holds one probability it is 1e-12, for rounding (the root of a debiased
        square near 0 may lose 1e-7).

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
            As in :meth:`error`.

        Returns
        -------
        bound : float
            Of the absolute difference.
        """
        caller = "ReliabilitySketch.error_bound"
        check_norm(norm, squared, debias, caller=caller)
        sums, bounds, _ = self._sums(bin_size, n_bins, caller)
        if not debias:
            return error_bound(self._cells, sums, norm, squared)
        square = error_of_sums(sums, norm, True, True, caller=caller)
        return debiased_bound(self._cells, bounds, sums, square, squared)

    def interval(
        self, bin_size: int | str = "auto", *, confidence_level: float = 0.95
    ) -> CalibrationErrorInterval:
        """Return the score interval of the error, taking pairs as independent.

        It is that of :func:`calibration_error_interval` for probabilities that are the
        mean of their cell; 'auto' also chooses its bin size by these, which may change
        it by a step where there are few pairs.

        Parameters
        ----------
        bin_size : int or 'auto', default='auto'
            Number of pairs (total weight) in a bin, at least 2; 'auto' as in
            :func:`calibration_error_interval`.
        confidence_level : float, default=0.95
            Strictly between 0 and 1.

        Returns
        -------
        interval : CalibrationErrorInterval

        Raises
        ------
        ValueError
            If a parameter is not as described, there are fewer than two pairs, or
            classes were pooled: pairs of one row depend on each other, and the sketch
            does not know rows.
        """
        caller = "ReliabilitySketch.interval"
        level = check_fraction(confidence_level, name="confidence_level", caller=caller)
        if self._dependent:
            raise ValueError(
                f"{caller} takes pairs as independent, and those of pooled classes are "
                "not: use a sketch for each class, or of multi_class='top_label'."
            )
        cells = self._checked_cells(caller)
        if cells.total < 2:
            raise ValueError(
                f"{caller} needs two pairs at least. Got a total weight of "
                f"{cells.total:g}."
            )
        if isinstance(bin_size, str) and bin_size == "auto":
            bin_size = interval_bin_size_of_cells(cells)
        binning = check_binning(bin_size, None, "quantile", caller=caller)
        size = check_integer(bin_size, minimum=2, name="bin_size", caller=caller)
        sums = sum_bins(cells, binning.bounds(cells)[0])
        return interval_of_sums(sums, size, level, self.n_samples)

    def _add(self, pairs: Pairs) -> None:
        self._table.add(pairs.q, pairs.indicator(), pairs.weight)
        self._dependent |= pairs.n_classes > 1
        self.n_samples += pairs.q.size
        self._forget()

    def to_dict(self) -> dict[str, Any]:
        """Return the settings and the used cells as a dict of numbers and lists."""
        cells = self._cells
        return {
            "n_bits": self.n_bits,
            "n_samples": self.n_samples,
            "total_weight": self.total_weight,
            "prob_pred": cells.q.tolist(),
            "weight": cells.weight.tolist(),
            "positive_weight": cells.positive.tolist(),
            "proba_min": cells.low.tolist(),
            "proba_max": cells.high.tolist(),
        }

    def __repr__(self) -> str:
        return f"ReliabilitySketch(n_samples={self.n_samples}, n_bits={self.n_bits})"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_cells", None)
        return state

    @cached_property
    def _cells(self) -> SketchedCells:
        """The used cells, until pairs are added."""
        return self._table.sorted_cells()

    def _forget(self) -> None:
        self.__dict__.pop("_cells", None)

    def _checked_cells(self, caller: str) -> SketchedCells:
        if self.n_samples == 0:
            raise ValueError(f"{caller} needs pairs, and none were added.")
        return self._cells

    def _sums(
        self, bin_size: Any, n_bins: Any, caller: str
    ) -> tuple[BinSums, np.ndarray, int | None]:
        binning = check_binning(bin_size, n_bins, "quantile", caller=caller)
        return sums_of_sketch(self, binning, caller=caller)


def sums_of_sketch(
    sketch: ReliabilitySketch, binning: Binning, *, caller: str
) -> tuple[BinSums, np.ndarray, int | None]:
    """Return the sums in bins, the bounds of the bins and the bin size."""
    cells = sketch._checked_cells(caller)
    bounds, size = binning.bounds(cells)
    return sum_bins(cells, bounds), bounds, size
