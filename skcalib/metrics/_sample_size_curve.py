"""How the calibration error depends on the number of rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import Pairs, check_one_set, check_pairs, take_pairs
from .._random import RandomStateLike, as_generator
from .._validation import as_floats, check_choice, check_integer
from ._bin_size_curve import SizeCurve, check_sizes, grouped_square, range_text
from ._binning import Binning
from ._bins import check_norm, debiased_square, norm_of
from ._grouped_bins import GroupedBins


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

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays and settings as a dict of lists and numbers."""
        names = ("sample_size", "bin_size", "plug_in", "debiased", "debiased_square")
        arrays = {name: getattr(self, name) for name in names}
        lists = {name: a.tolist() for name, a in arrays.items() if a is not None}
        settings = ("norm", "debias", "n_rows")
        return {**lists, **{name: getattr(self, name) for name in settings}}

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {"sample_size": self.sample_size, "bin_size": self.bin_size}
        for name in ("plug_in", "debiased", "debiased_square"):
            values = getattr(self, name)
            if values is not None:
                columns[f"{name}_mean"] = values.mean(axis=1)
                columns[f"{name}_standard_deviation"] = values.std(axis=1, ddof=1)
        return columns

    def _sizes(self) -> str:
        return range_text(self.sample_size, "sample size")

    def __repr__(self) -> str:
        return (
            f"SampleSizeCurve({self._sizes()} "
            f"of {self.n_rows} rows, {range_text(self.bin_size, 'bin size')}, "
            f"norm={self.norm!r}, debias={self.debias}, n_repeats={self.n_repeats})"
        )


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
    return _curve_of_samples(
        pairs, rows, sizes, bins, norm, bool(debias), n_repeats, generator
    )


def _single_rows(pairs: Pairs, sample_weight: Any) -> np.ndarray:
    """Return the rows, repeated by weight, in an order that depends on content only."""
    # Rows are sorted by content so that the sample does not depend on the input order.
    if pairs.n_classes == 1:
        order = np.lexsort((pairs.indicator(), pairs.q))
    else:
        columns = pairs.q.reshape(-1, pairs.n_classes).T
        order = np.lexsort((pairs.true_class, *columns))
    if pairs.weight is None:
        return order
    given = as_floats(sample_weight, name="sample_weight")
    broken = given != np.floor(given)
    if broken.any():
        row = int(broken.argmax())
        raise ParameterError(
            "sample_weight",
            "must contain integers, since rows are drawn one by one. Got "
            f"{float(given[row])!r} in row {row}.",
        )
    repeats = pairs.weight[:: pairs.n_classes].astype(np.int64)
    return np.repeat(order, repeats[order])


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


def _curve_of_samples(
    pairs: Pairs,
    rows: np.ndarray,
    sizes: np.ndarray,
    bins: np.ndarray,
    norm: str,
    debias: bool,
    n_repeats: int,
    generator: np.random.Generator,
) -> SampleSizeCurve:
    plug_in = np.empty((sizes.size, n_repeats))
    square = np.empty_like(plug_in)
    squares = norm == "l2" and bins.min() > 1
    for j in range(n_repeats):
        drawn = generator.permutation(rows)
        for k, n in enumerate(sizes.tolist()):
            binning = Binning(int(bins[k]), None, "quantile")
            part = take_pairs(pairs, drawn[:n])
            sums, _ = binning.sums(part, squares=squares)
            n_b = sums.weight
            plug_in[k, j] = norm_of(sums.residual / n_b, n_b, norm, False)
            if squares and part.is_dependent:
                found = grouped_square(GroupedBins(part, binning), debias)
                square[k, j] = np.nan if found is None else found
            elif squares:
                square[k, j] = debiased_square(n_b, sums.pair_residual)
    squares = squares and not np.isnan(square).any()
    return SampleSizeCurve(
        sample_size=sizes,
        bin_size=bins,
        plug_in=plug_in,
        debiased_square=square if squares else None,
        norm=norm,
        debias=debias,
        n_rows=rows.size,
    )
