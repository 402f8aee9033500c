"""How the calibration error depends on the bin size and on the number of rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import Pairs, check_one_set, check_pairs, take_pairs
from .._parallel import RandomStateLike, as_generator
from .._results import Result
from .._validation import as_floats, check_choice, check_integer, raise_where
from ._bins import Binning, check_norm, order_pairs
from ._grouped_bins import GroupedBins, GroupedRows, are_single_rows


class SizeCurve(Result):
    """Plug-in and debiased errors at several sizes."""

    plug_in: np.ndarray
    debiased_square: np.ndarray | None
    debias: bool
    _COLUMNS = "plug_in debiased debiased_square"

    def _sizes(self) -> str:
        """Return a text with the number of sizes and their range."""
        name = self._COLUMNS.split()[0]
        return range_text(getattr(self, name), name.replace("_", " "))

    @property
    def debiased(self) -> np.ndarray | None:
        """Root of `debiased_square` (0 for negative values), or None if it is None."""
        if self.debiased_square is None:
            return None
        return np.sqrt(np.maximum(self.debiased_square, 0))

    @property
    def error(self) -> np.ndarray:
        """Calibration error: `debiased` if `debias` is True, otherwise `plug_in`."""
        if self.debias:
            assert self.debiased is not None
            return self.debiased
        return self.plug_in


def range_text(sizes: np.ndarray, what: str) -> str:
    """Return a text with the number of sizes and their range."""
    low, high = sizes.min(), sizes.max()
    span = f"of {low}" if low == high else f"from {low} to {high}"
    return f"{sizes.size} {what}{'s' if sizes.size > 1 else ''} {span}"


def check_sizes(
    values: Any, *, minimum: int, largest: float, name: str, of: str
) -> np.ndarray:
    """Return sizes from `minimum` to `largest`; `of` describes `largest`."""
    expected = f"must contain integers from {minimum} to the {of}, here {largest:g}."
    try:
        sizes = np.asarray(values)
    except ValueError:  # rows of different lengths
        problem = f"{expected} Got rows of different lengths."
        raise ParameterError(name, problem) from None
    if sizes.ndim != 1 or not sizes.size:
        raise ParameterError(name, f"{expected} Got an array of shape {sizes.shape}.")
    if sizes.dtype.kind not in "iu":
        raise ParameterTypeError(name, f"{expected} Got an array of {sizes.dtype}.")
    bad = (sizes < minimum) | (sizes > largest)
    if bad.any():
        at = int(bad.argmax())
        raise ParameterError(name, f"{expected} Got {sizes[at]} at index {at}.")
    return sizes.astype(np.int64)


@dataclass(frozen=True, repr=False, eq=False)
class BinSizeCurve(SizeCurve):
    """Calibration error at several bin sizes.

    Returned by :func:`bin_size_curve`. Arrays have shape (n_sizes,), in the order of
    `bin_sizes`.

    Attributes
    ----------
    bin_size : ndarray of int
        Target number of pairs (total weight) in a bin.
    n_bins : ndarray of int
        Number of bins.
    plug_in : ndarray
        :func:`calibration_error` at each bin size, computed with `norm`.
    debiased_square : ndarray or None
        Unbiased estimate of the squared error at each bin size, which may be negative.
        None if `norm` is not 'l2', or if at one of the sizes a bin contains a single
        pair or rows of a single group.
    norm : str
        Norm of the errors.
    debias : bool
        Whether the attribute `error` is the debiased error. If False, it is the plug-in
        error.
    n_pairs : int
        Number of pairs of positive weight.
    n_groups : int or None
        Number of groups of dependent rows. None if pairs are independent.

    See Also
    --------
    bin_size_curve : Compute the curve.
    skcalib.plot.BinSizeDisplay : Draw the curve.

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

    _COLUMNS = f"bin_size n_bins {SizeCurve._COLUMNS}"

    def __repr__(self) -> str:
        return self._summary(self._sizes(), "norm debias n_pairs n_groups")


@public
def bin_size_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    bin_sizes: ArrayLike,
    norm: str = "l2",
    debias: bool = False,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> BinSizeCurve:
    """Compute the calibration error at several bin sizes.

    Each value equals the result of :func:`calibration_error` with the same `bin_size`.
    The pairs are sorted only once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`.
    bin_sizes : array-like of shape (n_sizes,), int
        Numbers of pairs (total weight) in a bin, in any order. Each size must be
        between 1 (2 with `debias`) and the total weight of all pairs.
    norm : {'l1', 'l2', 'max'}, default='l2'
        Norm of the error, as in :func:`calibration_error`.
    debias : bool, default=False
        Whether the attribute `error` of the curve is the debiased error. If False, it
        is the plug-in error. With norm 'l2', the curve contains both errors if the
        debiased error is defined.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs, as in :func:`calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is equivalent to three rows.
    groups : array-like of shape (n,), default=None
        Group (sentence, document) of each row, used for the debiased error. Rows of the
        same group may depend on each other.

    Returns
    -------
    curve : BinSizeCurve

    Raises
    ------
    TypeError
        If `bin_sizes` contains a value that is not an integer.
    ValueError
        If a parameter or a row is invalid. The message names the parameter or the row.
        With `debias`, an error is also raised if a bin contains rows of a single group.

    See Also
    --------
    sample_size_curve : Calibration error of subsamples of several sizes.
    calibration_error_interval : The error with a confidence interval and a bin size
        that is chosen for this interval.

    Notes
    -----
    When the bin size doubles, each bin is the union of two smaller bins (the last bin
    is a union of up to three). The plug-in error therefore does not increase in any
    norm [1]_. A smaller error in wider bins does not mean better calibration: the
    decrease has two causes. First, label noise adds about mean(q (1 - q)) / b to the
    squared error in bins of b pairs. Second, errors of opposite sign cancel inside a
    bin, and more of them cancel in wider bins. Only the second cause changes the
    debiased squared error.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 4.3.2.

    Examples
    --------
    The plug-in error of a calibrated model consists of noise at every bin size:

    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import bin_size_curve
    >>> y_true, y_proba = make_calibrated_pairs(50_000, random_state=0)
    >>> curve = bin_size_curve(y_true, y_proba, bin_sizes=[2, 20, 200, 2000])
    >>> curve.plug_in.round(3)
    array([0.25 , 0.076, 0.024, 0.008])
    >>> curve.debiased.round(3)
    array([0.013, 0.   , 0.   , 0.   ])
    """
    check_norm(norm, False, debias)
    check_one_set(multi_class, "curve")
    (pairs,) = check_pairs(
        y_true,
        y_proba,
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
    )
    return curve_of_sizes(pairs, sizes, norm, bool(debias))


def curve_of_sizes(
    pairs: Pairs, sizes: np.ndarray, norm: str, debias: bool
) -> BinSizeCurve:
    """Return the curve of checked pairs at checked bin sizes."""
    n_bins, plug_in, square = _errors_at(pairs, sizes, norm, debias)
    return BinSizeCurve(
        bin_size=sizes,
        n_bins=n_bins.astype(np.int64),
        plug_in=plug_in,
        debiased_square=None if np.isnan(square).any() else square,
        norm=norm,
        debias=debias,
        n_pairs=pairs.q.size,
        n_groups=None if pairs.groups is None else np.unique(pairs.groups).size,
    )


def _errors_at(pairs: Pairs, sizes: np.ndarray, norm: str, debias: bool) -> np.ndarray:
    """Return number of bins, plug-in error and debiased square at each bin size.

    The squares are NaN if the square is not defined at one of the sizes.
    """
    found = np.full((3, sizes.size), np.nan)
    squares = norm == "l2" and sizes.min() > 1
    rows = None
    if squares and pairs.is_dependent and not are_single_rows(pairs):
        rows = GroupedRows(pairs)
    ordered = order_pairs(pairs)
    # Narrow bins come first because they are the most likely to contain a single group.
    for k in np.argsort(sizes, kind="stable"):
        binning = Binning(int(sizes[k]), None, "quantile")
        bins = binning.bins(ordered)
        found[:2, k] = bins.weight.size, bins.error(norm)
        if squares and rows is None:
            found[2, k] = bins.error(squared=True, debias=True)
        elif squares:
            assert rows is not None
            grouped = GroupedBins(rows, binning)
            if debias:
                grouped.check_several_groups()
            squares = grouped.several_groups.all()
            found[2, k] = grouped.debiased_square if squares else np.nan
    return found


def doubling_sizes(pairs: Pairs) -> np.ndarray:
    """Return powers of two from 2 to the total weight, or 1 if the weight is below 2.

    With groups, the first size is the smallest at which every bin has several groups.
    """
    if pairs.total < 2:
        return np.array([1])
    sizes = 2 ** np.arange(1, int(np.log2(pairs.total)) + 1)
    if not pairs.is_dependent or are_single_rows(pairs):
        return sizes
    rows = GroupedRows(pairs)
    for k, size in enumerate(sizes.tolist()):
        if GroupedBins(rows, Binning(size, None, "quantile")).several_groups.all():
            return sizes[k:]
    return sizes


@dataclass(frozen=True, repr=False, eq=False)
class SampleSizeCurve(SizeCurve):
    """Calibration error of subsamples of several sizes.

    Returned by :func:`sample_size_curve`. The sizes are in the order of `sample_sizes`.

    Attributes
    ----------
    sample_size : ndarray of shape (n_sizes,), int
        Number of rows drawn.
    bin_size : ndarray of shape (n_sizes,), int
        Bin size at each sample size.
    plug_in : ndarray of shape (n_sizes, n_repeats)
        :func:`calibration_error` of each subsample, with `norm`.
    debiased_square : ndarray of shape (n_sizes, n_repeats), or None
        Unbiased estimate of the squared error, which may be negative. None if `norm` is
        not 'l2', or if a bin contains a single pair or pairs of a single row.
    norm : str
        Norm of the errors.
    debias : bool
        Whether the attribute `error` is the debiased error. If False, it is the plug-in
        error.
    n_rows : int
        Total number (weight) of the rows from which subsamples were drawn.

    See Also
    --------
    sample_size_curve : Compute the curve.
    skcalib.plot.BinSizeDisplay : Draw the curve.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import sample_size_curve
    >>> y_true, y_proba = make_calibrated_pairs(20_000, random_state=0)
    >>> curve = sample_size_curve(
    ...     y_true, y_proba, sample_sizes=[100, 1000], bin_size=50, random_state=0
    ... )
    >>> curve.plug_in.shape
    (2, 20)
    >>> curve.mean.shape, curve.standard_deviation.shape
    ((2,), (2,))
    """

    sample_size: np.ndarray
    bin_size: np.ndarray
    plug_in: np.ndarray
    debiased_square: np.ndarray | None
    norm: str
    debias: bool
    n_rows: int

    @property
    def n_repeats(self) -> int:
        """Number of subsamples of each size."""
        return self.plug_in.shape[1]

    @property
    def mean(self) -> np.ndarray:
        """Mean of `error` over the repeats, of shape (n_sizes,)."""
        return self.error.mean(axis=1)

    @property
    def standard_deviation(self) -> np.ndarray:
        """Standard deviation of `error` over the repeats, of shape (n_sizes,)."""
        return self.error.std(axis=1, ddof=1)

    _COLUMNS = f"sample_size bin_size {SizeCurve._COLUMNS}"

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {}
        for name, values in self._named_columns().items():
            if values.ndim == 1:
                columns[name] = values
            else:
                columns[f"{name}_mean"] = values.mean(axis=1)
                columns[f"{name}_standard_deviation"] = values.std(axis=1, ddof=1)
        return columns

    def __repr__(self) -> str:
        bin_sizes = range_text(self.bin_size, "bin size")
        start = f"{self._sizes()} of {self.n_rows} rows, {bin_sizes}"
        return self._summary(start, "norm debias n_repeats")


@public
def sample_size_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_sizes: ArrayLike,
    bin_size: int | Literal["auto", "sqrt"] = "auto",
    n_repeats: int = 20,
    norm: str = "l2",
    debias: bool = False,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> SampleSizeCurve:
    """Compute the calibration error of random subsamples of several sizes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`.
    sample_sizes : array-like of shape (n_sizes,), int
        Numbers of rows to draw, in any order, from 2 to the number of rows (their total
        weight). Rows are drawn without replacement, and each row contributes the pairs
        of all classes.
    bin_size : int, 'auto' or 'sqrt', default='auto'
        Number of pairs in a bin, at most the number of pairs in the smallest subsample.
        'auto' is chosen as in :func:`calibration_error`. 'sqrt' is the rounded square
        root of the number of pairs, and at least 2, as in [1]_.
    n_repeats : int, default=20
        Number of subsamples of each size, at least 2.
    norm : {'l1', 'l2', 'max'}, default='l2'
        Norm of the error, as in :func:`calibration_error`.
    debias : bool, default=False
        Whether the attribute `error` of the curve is the debiased error. If False, it
        is the plug-in error. With norm 'l2', the curve contains both errors.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs, as in :func:`calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.
    sample_weight : array-like of shape (n,), int, default=None
        Frequencies, which must be integers. A row of weight 3 is equivalent to three
        rows, each of which may be drawn. Memory is needed for all of these rows.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the subsamples.

    Returns
    -------
    curve : SampleSizeCurve

    Raises
    ------
    TypeError
        If `sample_sizes` contains a value that is not an integer.
    ValueError
        If a parameter or a row is invalid. The message names the parameter or the row.

    See Also
    --------
    bin_size_curve : Calibration error at several bin sizes.

    Notes
    -----
    In each repeat, the rows are shuffled once, and the subsample of size m contains the
    first m rows. The subsamples of different sizes are therefore nested, and the values
    at one size do not depend on which other sizes are requested. The result does not
    depend on the order of the rows in the input.

    Subsamples that contain nearly all rows are nearly equal, so the standard deviation
    goes to 0 at the full size. It is about sqrt(1 - sample size / n) times the standard
    deviation of independent samples. For the uncertainty of the error of the full
    sample, see :func:`calibration_error_interval`.

    Rows are drawn individually. Groups of dependent rows are not kept together.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 4.3.3.

    Examples
    --------
    If the bin size is the square root of the sample size n, the plug-in error of a
    calibrated model decreases only as n ** -0.25:

    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import sample_size_curve
    >>> y_true, y_proba = make_calibrated_pairs(100_000, random_state=0)
    >>> curve = sample_size_curve(
    ...     y_true, y_proba, sample_sizes=[100, 1600, 25_600], bin_size="sqrt",
    ...     random_state=0,
    ... )
    >>> curve.mean.round(2)
    array([0.11, 0.06, 0.03])
    """
    check_norm(norm, False, debias)
    check_one_set(multi_class, "curve")
    n_repeats = check_integer(n_repeats, minimum=2, name="n_repeats")
    if isinstance(bin_size, str):
        check_choice(bin_size, ("auto", "sqrt"), name="bin_size")
    else:
        check_integer(bin_size, minimum=1, name="bin_size")
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
    rows = _single_rows(pairs, sample_weight)
    sizes = check_sizes(
        sample_sizes,
        minimum=2,
        largest=rows.size,
        name="sample_sizes",
        of="number of rows",
    )
    bins = _bins_of_samples(bin_size, sizes, pairs.n_classes, debias)
    generator = as_generator(random_state)
    plug_in, square = np.empty((2, sizes.size, n_repeats))
    for j in range(n_repeats):
        drawn = generator.permutation(rows)
        for k, n in enumerate(sizes.tolist()):
            part = take_pairs(pairs, drawn[:n])
            _, *found = _errors_at(part, bins[k : k + 1], norm, debias)
            plug_in[k, j], square[k, j] = np.ravel(found)
    return SampleSizeCurve(
        sample_size=sizes,
        bin_size=bins,
        plug_in=plug_in,
        debiased_square=None if np.isnan(square).any() else square,
        norm=norm,
        debias=bool(debias),
        n_rows=rows.size,
    )


def _single_rows(pairs: Pairs, sample_weight: Any) -> np.ndarray:
    """Return the rows, repeated by weight, in an order that depends on content only."""
    # Rows are sorted by content so that the sample does not depend on the input order.
    if pairs.n_classes == 1:
        order = np.lexsort((pairs.indicator(), pairs.q))
    else:
        order = np.lexsort((pairs.true_class, *pairs.q.reshape(-1, pairs.n_classes).T))
    if pairs.weight is None:
        return order
    given = as_floats(sample_weight, name="sample_weight")
    expected = "contain integers, since rows are drawn one by one"
    raise_where(given != np.floor(given), given, expected, name="sample_weight")
    return np.repeat(order, pairs.weight[:: pairs.n_classes].astype(np.int64)[order])


def _bins_of_samples(
    bin_size: int | str, n_rows: np.ndarray, n_classes: int, debias: bool
) -> np.ndarray:
    """Return the bin size at each number of rows of `n_classes` pairs."""
    if bin_size == "auto":
        automatic = Binning("auto", None, "quantile")
        return np.array([automatic.for_rows(n).bin_size for n in n_rows.tolist()])
    n_pairs = n_rows * n_classes
    if bin_size == "sqrt":
        return np.maximum(2, np.rint(np.sqrt(n_pairs)).astype(np.int64))
    sizes = np.full(n_pairs.size, bin_size)
    low, high = 2 if debias else 1, int(n_pairs.min())
    if not low <= sizes[0] <= high:
        raise ParameterError(
            "bin_size",
            f"must be from {low} to the number of pairs in the smallest "
            f"subsample, here {high}. Got {bin_size}.",
        )
    return sizes
