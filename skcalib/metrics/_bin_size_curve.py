"""How the calibration error depends on the bin size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._results import as_frame
from ._binning import Binning
from ._bins import sort_pairs, sum_bins
from ._grouped import GroupedBins, sort_cells
from ._norms import check_norm, debiased_square, norm_of
from ._pairs import Pairs, check_one_set, check_pairs
from ._sizes import SizeCurve, check_sizes, range_text


@dataclass(frozen=True, repr=False, eq=False)
class BinSizeCurve(SizeCurve):
    """Calibration error at several bin sizes.

    Made by :func:`bin_size_curve`; arrays have shape (n_sizes,), in the order asked
    for.

    Attributes
    ----------
    bin_size : ndarray of int
        Target weight of a bin, the number of its pairs where there are no weights.
    n_bins : ndarray of int
        Number of bins.
    plug_in : ndarray
        :func:`calibration_error` at each bin size, with `norm`.
    debiased_square : ndarray or None
        Unbiased estimate of the square at each bin size, which may be negative. None
        where `norm` is not 'l2', or where at one of the sizes a bin holds a single
        pair, or rows of a single group; ``debias=True`` says in which.
    norm : str
    debias : bool
        Whether `error` is `debiased`.
    n_pairs : int
        Number of pairs of positive weight.
    n_groups : int or None
        Number of groups of dependent rows; None if rows are taken as independent.

    See Also
    --------
    bin_size_curve : Compute it.
    skcalib.plot.BinSizeDisplay : Draw it.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import bin_size_curve
    >>> y_true, y_proba = make_calibrated_pairs(4000, random_state=0)
    >>> curve = bin_size_curve(y_true, y_proba, bin_sizes=[10, 100, 1000])
    >>> curve
    BinSizeCurve(3 bin sizes from 10 to 1000, norm='l2', debias=False, n_pairs=4000)
    >>> curve.n_bins
    array([400,  40,   4])
    >>> curve.plug_in.round(3), curve.debiased.round(3)
    (array([0.107, 0.038, 0.011]), array([0.   , 0.016, 0.002]))
    """

    bin_size: np.ndarray
    n_bins: np.ndarray
    plug_in: np.ndarray
    debiased_square: np.ndarray | None
    norm: str
    debias: bool
    n_pairs: int
    n_groups: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays and settings as a dict of lists and numbers."""
        arrays = {name: column.tolist() for name, column in self._columns().items()}
        settings = ("norm", "debias", "n_pairs", "n_groups")
        return {**arrays, **{name: getattr(self, name) for name in settings}}

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each bin size."""
        return as_frame(self._columns(), caller="BinSizeCurve.frame")

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("bin_size", "n_bins", "plug_in", "debiased", "debiased_square")
        columns = {name: getattr(self, name) for name in names}
        return {name: column for name, column in columns.items() if column is not None}

    def _sizes(self) -> str:
        return range_text(self.bin_size, "bin size")

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        return (
            f"BinSizeCurve({self._sizes()}, norm={self.norm!r}, "
            f"debias={self.debias}, n_pairs={self.n_pairs}{groups})"
        )


def bin_size_curve(
    y_true: Any,
    y_proba: Any,
    *,
    bin_sizes: Any,
    norm: str = "l2",
    debias: bool = False,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> BinSizeCurve:
    """Compute the calibration error at several bin sizes.

    Each value is that of :func:`calibration_error` with ``bin_size``. The pairs are
    sorted once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`.
    bin_sizes : array-like of shape (n_sizes,), int
        Numbers of pairs (total weight) in a bin, from 1, with `debias` from 2, to the
        total weight of all pairs; in any order.
    norm : {'l1', 'l2', 'max'}, default='l2'
        As in :func:`calibration_error`.
    debias : bool, default=False
        Whether the curve's `error` is the debiased one. With 'l2' both are in the
        result wherever they are defined.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix becomes pairs.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns.
    pos_label : label, default=None
        The positive class; by default 1, or with two columns the second.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is three rows.
    groups : array-like of shape (n,), default=None
        For the debiased error, rows of one group (sentence, document) are dependent.

    Returns
    -------
    curve : BinSizeCurve

    Raises
    ------
    TypeError
        If `bin_sizes` are no integers.
    ValueError
        If a parameter or a row is not as described; the message names it. With
        `debias`, if a bin holds rows of a single group.

    See Also
    --------
    sample_size_curve : The error against the number of rows.
    calibration_error_interval : The error with an interval, at bins made for it.

    Notes
    -----
    When the bin size doubles, each bin is the union of two (the last of up to three),
    so the plug-in does not increase in any norm [1]_. That is no better calibration.
    At bins of b pairs the noise of the label frequencies adds about
    mean q (1 - q) / b to the square, which shrinks; and errors of both signs in
    one bin cancel, more of them in wider bins. The debiased square has the second
    effect only.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 4.3.2.

    Examples
    --------
    A calibrated model, whose plain error is noise at all bin sizes:

    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import bin_size_curve
    >>> y_true, y_proba = make_calibrated_pairs(50_000, random_state=0)
    >>> curve = bin_size_curve(y_true, y_proba, bin_sizes=[2, 20, 200, 2000])
    >>> curve.plug_in.round(3)
    array([0.25 , 0.076, 0.024, 0.008])
    >>> curve.debiased.round(3)
    array([0.013, 0.   , 0.   , 0.   ])
    """
    caller = "bin_size_curve"
    check_norm(norm, False, debias, caller=caller)
    check_one_set(multi_class, "curve", caller=caller)
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        caller=caller,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
    )
    sizes = check_sizes(
        bin_sizes,
        minimum=2 if debias else 1,
        largest=pairs.total,
        name="bin_sizes",
        of="total weight of the pairs",
        caller=caller,
    )
    return curve_of_sizes(pairs, sizes, norm, bool(debias), caller=caller)


def curve_of_sizes(
    pairs: Pairs, sizes: np.ndarray, norm: str, debias: bool, *, caller: str
) -> BinSizeCurve:
    """Return the curve of checked pairs at checked bin sizes."""
    ordered = sort_pairs(pairs, reusable=True)
    plug_in, n_bins = np.empty(sizes.size), np.empty(sizes.size, dtype=np.int64)
    square = np.empty(sizes.size)
    for k, size in enumerate(sizes.tolist()):
        bounds, _ = Binning(size, None, "quantile").bounds(ordered)
        sums = sum_bins(ordered, bounds)
        n_bins[k] = sums.weight.size
        plug_in[k] = norm_of(sums.residual / sums.weight, sums.weight, norm, False)
        if size > 1:
            square[k] = debiased_square(sums.weight, sums.pair_residual)
    squares: np.ndarray | None = square
    if norm != "l2" or sizes.min() == 1:
        squares = None
    elif pairs.groups is not None:
        squares = _grouped_squares(pairs, sizes, debias, caller=caller)
    return BinSizeCurve(
        bin_size=sizes,
        n_bins=n_bins,
        plug_in=plug_in,
        debiased_square=squares,
        norm=norm,
        debias=debias,
        n_pairs=pairs.q.size,
        n_groups=None if pairs.groups is None else np.unique(pairs.groups).size,
    )


def _grouped_squares(
    pairs: Pairs, sizes: np.ndarray, debias: bool, *, caller: str
) -> np.ndarray | None:
    """Return the debiased squares of dependent rows, None where one is not defined."""
    cells = sort_cells(pairs)
    squares = np.empty(sizes.size)
    # From narrow bins on, since those are the first to hold a single group.
    for k in np.argsort(sizes, kind="stable"):
        bins = GroupedBins(pairs, Binning(int(sizes[k]), None, "quantile"), cells)
        if debias:
            bins.check_several_groups(caller=f"{caller} at bin size {sizes[k]}")
        elif not bins.several_groups.all():
            return None
        squares[k] = bins.debiased_square()
    return squares


def doubling_sizes(pairs: Pairs) -> np.ndarray:
    """Return powers of two from 2 to the total weight, or 1 where that is less.

    With groups, from the first on at which every bin holds several groups.
    """
    if pairs.total < 2:
        return np.array([1])
    sizes = 2 ** np.arange(1, int(np.log2(pairs.total)) + 1)
    if pairs.groups is None:
        return sizes
    cells = sort_cells(pairs)
    for k, size in enumerate(sizes.tolist()):
        bins = GroupedBins(pairs, Binning(size, None, "quantile"), cells)
        if bins.several_groups.all():
            return sizes[k:]
    return sizes
