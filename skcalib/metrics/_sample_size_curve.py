"""How the calibration error depends on the number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._random import as_generator
from .._results import as_frame
from .._validation import check_choice, check_integer
from ._binning import Binning, auto_bin_size
from ._norms import check_norm, debiased_square, norm_of
from ._pairs import Pairs, as_floats, check_one_set, check_pairs, take_pairs
from ._sizes import SizeCurve, check_sizes, range_text


@dataclass(frozen=True, repr=False, eq=False)
class SampleSizeCurve(SizeCurve):
    """Calibration error of subsamples of several sizes.

    Made by :func:`sample_size_curve`; sizes stand in the order asked for.

    Attributes
    ----------
    sample_size : ndarray of shape (n_sizes,), int
        Number of rows drawn.
    bin_size : ndarray of shape (n_sizes,), int
        Bin size at each of them.
    plug_in : ndarray of shape (n_sizes, n_repeats)
        :func:`calibration_error` of each subsample, with `norm`.
    debiased_square : ndarray of shape (n_sizes, n_repeats), or None
        Unbiased estimate of the square, which may be negative. None where `norm` is
        not 'l2' or the bins hold single pairs.
    norm : str
    debias : bool
        Whether `error` is `debiased`.
    n_rows : int
        Number of rows drawn from, the total weight.

    See Also
    --------
    sample_size_curve : Compute it.
    skcalib.plot.BinSizeDisplay : Draw it.

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

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each sample size."""
        return as_frame(self._columns(), caller="SampleSizeCurve.frame")

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


def sample_size_curve(
    y_true: Any,
    y_proba: Any,
    *,
    sample_sizes: Any,
    bin_size: int | str = "auto",
    n_repeats: int = 20,
    norm: str = "l2",
    debias: bool = False,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
) -> SampleSizeCurve:
    """Compute the calibration error of random subsamples of several sizes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`.
    sample_sizes : array-like of shape (n_sizes,), int
        Numbers of rows to draw, from 2 to the number of rows (their total weight); in
        any order. Rows are drawn without replacement, each with the pairs of all its
        classes.
    bin_size : int, 'auto' or 'sqrt', default='auto'
        Number of pairs in a bin, no more than the smallest subsample has. 'auto' is
        that of :func:`calibration_error`, 'sqrt' the rounded root of the number of
        pairs, at least 2, as in the thesis [1]_.
    n_repeats : int, default=20
        Number of subsamples of each size, at least 2.
    norm : {'l1', 'l2', 'max'}, default='l2'
        As in :func:`calibration_error`.
    debias : bool, default=False
        Whether the curve's `error` is the debiased one. With 'l2' both are in the
        result.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix becomes pairs.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns.
    pos_label : label, default=None
        The positive class; by default 1, or with two columns the second.
    sample_weight : array-like of shape (n,), int, default=None
        Frequencies, whole numbers: a row of weight 3 is three rows, any of which may
        be drawn. Memory is needed for all of them.
    random_state : int, RandomState, Generator or None, default=None
        Source of the subsamples.

    Returns
    -------
    curve : SampleSizeCurve

    Raises
    ------
    TypeError
        If `sample_sizes` are no integers.
    ValueError
        If a parameter or a row is not as described; the message names it.

    See Also
    --------
    bin_size_curve : The error against the bin size.

    Notes
    -----
    Each repeat orders the rows at random and takes the first of them for every size.
    So values at one size do not depend on the other sizes, and sizes are compared on
    nested rows. The seed fixes the result, whatever the order of the rows.

    Subsamples of nearly all rows are nearly the same, so the standard deviation goes to
    0 at the full size. It understates the deviation between independent samples by the
    factor sqrt(1 - sample size / n), roughly. For the error of the full sample see
    :func:`calibration_error_interval`.

    Rows are drawn one by one; groups of dependent rows are not kept together.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 4.3.3.

    Examples
    --------
    With bins of the root of the sample size, the plain error of a calibrated model goes
    to 0 slowly, as the fourth root of the sample size:

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
    caller = "sample_size_curve"
    check_norm(norm, False, debias, caller=caller)
    check_one_set(multi_class, "curve", caller=caller)
    n_repeats = check_integer(n_repeats, minimum=2, name="n_repeats", caller=caller)
    if isinstance(bin_size, str):
        check_choice(bin_size, ("auto", "sqrt"), name="bin_size", caller=caller)
    else:
        check_integer(bin_size, minimum=1, name="bin_size", caller=caller)
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        caller=caller,
        multi_class=multi_class,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
    rows = _single_rows(pairs, sample_weight, caller)
    sizes = check_sizes(
        sample_sizes,
        minimum=2,
        largest=rows.size,
        name="sample_sizes",
        of="number of rows",
        caller=caller,
    )
    bins = _bins_of_samples(bin_size, sizes * pairs.n_classes, debias, caller)
    generator = as_generator(random_state, caller=caller)
    return _curve_of_samples(
        pairs, rows, sizes, bins, norm, bool(debias), n_repeats, generator
    )


def _single_rows(pairs: Pairs, sample_weight: Any, caller: str) -> np.ndarray:
    """Return the rows, each as often as its weight says, in an order of their own."""
    # Sorted by what they hold, the rows drawn do not depend on how they came.
    if pairs.n_classes == 1:
        order = np.lexsort((pairs.indicator(), pairs.q))
    else:
        columns = pairs.q.reshape(-1, pairs.n_classes).T
        order = np.lexsort((pairs.true_class, *columns))
    if pairs.weight is None:
        return order
    given = as_floats(sample_weight, name="sample_weight", caller=caller)
    broken = given != np.floor(given)
    if broken.any():
        row = int(broken.argmax())
        raise ValueError(
            f"The 'sample_weight' parameter of {caller} must hold whole numbers, since "
            f"rows are drawn one by one. Got {float(given[row])!r} in row {row}."
        )
    repeats = pairs.weight[:: pairs.n_classes].astype(np.int64)
    return np.repeat(order, repeats[order])


def _bins_of_samples(
    bin_size: int | str, n_pairs: np.ndarray, debias: bool, caller: str
) -> np.ndarray:
    """Return the bin size at each number of pairs."""
    if bin_size == "auto":
        return np.array([auto_bin_size(n) for n in n_pairs.tolist()])
    if bin_size == "sqrt":
        return np.maximum(2, np.rint(np.sqrt(n_pairs)).astype(np.int64))
    sizes = np.full(n_pairs.size, bin_size)
    low, high = 2 if debias else 1, int(n_pairs.min())
    if not low <= sizes[0] <= high:
        raise ValueError(
            f"The 'bin_size' parameter of {caller} must be from {low} to the number of "
            f"pairs in the smallest subsample, here {high}. Got {bin_size}."
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
            sums, _ = binning.sums(take_pairs(pairs, drawn[:n]), squares=squares)
            n_b = sums.weight
            plug_in[k, j] = norm_of(sums.residual / n_b, n_b, norm, False)
            if squares:
                square[k, j] = debiased_square(n_b, sums.pair_residual)
    return SampleSizeCurve(
        sample_size=sizes,
        bin_size=bins,
        plug_in=plug_in,
        debiased_square=square if squares else None,
        norm=norm,
        debias=debias,
        n_rows=rows.size,
    )
