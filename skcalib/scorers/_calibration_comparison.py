"""Whether two models differ in calibration, on the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import Pairs, check_pairs
from .._random import RandomStateLike, as_generator
from .._results import Result
from .._validation import as_probabilities, check_choice, check_fraction, check_integer
from ..metrics import (
    ResampledError,
    brier_of_rows,
    check_binning,
)
from ..significance import (
    ConfidenceInterval,
    paired_bootstrap_test,
    resample_counts,
)

ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True)
class CalibrationComparison(Result):
    """Two models' calibration errors and Brier scores on the same items.

    Made by :func:`compare_calibration`.

    Attributes
    ----------
    error_a, error_b : float
        Calibration errors, in bins of the same size.
    difference : float
        `error_a` - `error_b`.
    pvalue : float
        Of the hypothesis that the errors are equal.
    low, high : float
        Ends of the interval of the difference.
    brier_a, brier_b : float
        Brier scores.
    brier_difference : float
        `brier_a` - `brier_b`.
    brier_pvalue : float
        Of the hypothesis that the Brier scores are equal.
    brier_low, brier_high : float
        Ends of the interval of their difference.
    alternative : str
    confidence_level : float
    bin_size : int
    n_items : int
        Number of rows, or of groups: what is drawn.
    n_resamples : int

    See Also
    --------
    compare_calibration : Compute it.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.scorers import compare_calibration
    >>> y_true, y_proba = make_calibrated_pairs(2000, random_state=0)
    >>> result = compare_calibration(y_true, y_proba, y_proba, random_state=0)
    >>> result.difference, result.pvalue
    (0.0, 1.0)
    """

    error_a: float
    error_b: float
    difference: float
    pvalue: float
    low: float
    high: float
    brier_a: float
    brier_b: float
    brier_difference: float
    brier_pvalue: float
    brier_low: float
    brier_high: float
    alternative: str
    confidence_level: float
    bin_size: int
    n_items: int
    n_resamples: int

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """Interval of the difference of calibration errors, (low, high)."""
        return ConfidenceInterval(self.low, self.high)

    def __repr__(self) -> str:
        return (
            f"CalibrationComparison(error {self.error_a:.4f} - {self.error_b:.4f} = "
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"pvalue={self.pvalue:.3g}; Brier {self.brier_difference:+.4f}, "
            f"pvalue={self.brier_pvalue:.3g}; alternative={self.alternative!r}, "
            f"confidence_level={self.confidence_level:g}, bin_size={self.bin_size}, "
            f"n_items={self.n_items}, n_resamples={self.n_resamples})"
        )


@public
def compare_calibration(
    y_true: ArrayLike,
    proba_a: ArrayLike,
    proba_b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    bin_size: int | str = "auto",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: RandomStateLike = None,
) -> CalibrationComparison:
    """Test whether two models differ in calibration error, on the same items.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    proba_a : array-like of shape (n,) or (n, n_classes)
        Probabilities of model A, as in :func:`~skcalib.metrics.calibration_error`.
    proba_b : array-like of shape (n,) or (n, n_classes)
        Those of model B for the same rows.
    groups : array-like of shape (n,), default=None
        Sentence or document of each row. Groups are drawn as a whole. Without them the
        rows of one sentence are taken as independent, which they are not.
    bin_size : int or 'auto', default='auto'
        As in :func:`~skcalib.metrics.calibration_error`; one size for both models and
        every resample.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater': A has the larger error; 'less': A is calibrated better. Fixed before
        the data are seen.
    confidence_level : float, default=0.95
        Of the intervals of the differences.
    n_resamples : int, default=2000
        Number of resamples.
    multi_class : {'pooled', 'top_label'}, default=None
        As in :func:`~skcalib.metrics.calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns.
    pos_label : label, default=None
        The positive class.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    result : CalibrationComparison

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, the two models have probabilities
        of different shapes, or there are fewer than two items.

    See Also
    --------
    skcalib.metrics.calibration_error_interval : The error of one model.
    skcalib.significance.paired_bootstrap_test : The same rule for other metrics.

    Notes
    -----
    With d the difference of the errors and d* that of a resample of items (rows, or
    groups), p is the share of ``|d* - d| >= |d|``, of 'greater' that of
    ``d* >= 2 d``, with one added above and below; the interval is d with the quantile
    of ``|d* - d|`` at both sides. The errors are the plug-in ones, which label noise
    makes too large; so are those of a resample once more. Of models that are about
    equally sharp this falls out of the difference. The rule ``d* <= 0`` and percentile
    intervals do not allow for it, and hardly ever reject.

    The Brier score is a mean, so its test is exact or nearly so
    (:func:`~skcalib.significance.paired_bootstrap_test`), and has more power; but it is
    of sharpness too.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.scorers import compare_calibration
    >>> y_true, right = make_calibrated_pairs(2000, random_state=0)
    >>> result = compare_calibration(y_true, right, right**2, random_state=0)
    >>> result.difference < 0, result.pvalue < 0.01, result.brier_pvalue < 0.01
    (True, True, True)
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    level = check_fraction(confidence_level, name="confidence_level")
    n_resamples = check_integer(n_resamples, minimum=1, name="n_resamples")
    binning = check_binning(bin_size, None, "quantile")
    if multi_class in ("class_wise", "per_class"):
        raise ParameterError(
            None,
            "compares one error with another: the 'multi_class' parameter "
            f"must be 'pooled' or 'top_label'. Got {multi_class!r}.",
        )
    probabilities = _same_shape(proba_a, proba_b)
    settings = {"multi_class": multi_class, "labels": labels, "pos_label": pos_label}
    several = [
        check_pairs(y_true, proba, groups=groups, **settings)[0]
        for proba in probabilities
    ]
    generator = as_generator(random_state)
    item, brier_groups = _items_of_pairs(*several)
    n_items = int(item.max()) + 1
    if n_items < 2:
        what = "rows" if groups is None else "groups"
        raise ParameterError(None, f"needs two {what} at least. Got {n_items}.")
    binning = binning.for_rows(several[0].row_total)
    assert isinstance(binning.bin_size, int)
    error_a, error_b = (ResampledError(pairs, item, binning) for pairs in several)
    a, b = (float(error(np.ones((1, n_items)))[0]) for error in (error_a, error_b))
    chunks = resample_counts(n_items, n_resamples, generator)
    drawn = np.concatenate([error_a(counts) - error_b(counts) for counts in chunks])
    brier = [brier_of_rows(pairs) for pairs in several]
    score = paired_bootstrap_test(
        *brier,
        statistic="mean",
        alternative=alternative,
        groups=brier_groups,
        confidence_level=level,
        random_state=generator,
    )
    half = float(np.quantile(np.abs(drawn - (a - b)), level))
    return CalibrationComparison(
        error_a=a,
        error_b=b,
        difference=a - b,
        pvalue=_recentred_pvalue(a - b, drawn, alternative),
        low=a - b - half,
        high=a - b + half,
        brier_a=float(brier[0].mean()),
        brier_b=float(brier[1].mean()),
        brier_difference=float(score.statistic),
        brier_pvalue=float(score.pvalue),
        brier_low=float(score.confidence_interval[0]),
        brier_high=float(score.confidence_interval[1]),
        alternative=alternative,
        confidence_level=level,
        bin_size=binning.bin_size,
        n_items=n_items,
        n_resamples=n_resamples,
    )


def _same_shape(proba_a: Any, proba_b: Any) -> list[np.ndarray]:
    """Return the probabilities of both models, which must have one shape."""
    found = [
        as_probabilities(proba, name=name)
        for name, proba in (("proba_a", proba_a), ("proba_b", proba_b))
    ]
    if found[0].shape != found[1].shape:
        raise ParameterError(
            None,
            "needs probabilities of the same shape from both models. Got "
            f"{found[0].shape} in 'proba_a' and {found[1].shape} in 'proba_b'.",
        )
    return found


def _items_of_pairs(a: Pairs, b: Pairs) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the item of each pair, and the group of each row if there are groups.

    Rows are numbered by what they hold: draws do not depend on the order they came in,
    nor on which model is named first.
    """
    if a.groups is not None:
        return a.groups, a.groups[:: a.n_classes]
    if math.fsum(brier_of_rows(a)) < math.fsum(brier_of_rows(b)):
        a, b = b, a
    columns = [x.reshape(-1, a.n_classes).T for x in (a.indicator(), a.q, b.q)]
    order = np.lexsort(np.concatenate(columns))
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    return np.repeat(rank, a.n_classes), None


def _recentred_pvalue(difference: float, drawn: np.ndarray, alternative: str) -> float:
    """Return (s + 1) / (b + 1), ties counted in."""
    away = drawn - difference
    if alternative == "two-sided":
        away, difference = np.abs(away), abs(difference)
    elif alternative == "less":
        away, difference = -away, -difference
    # what rounding alone makes is a tie
    extreme = away >= difference - 1e-9 * abs(difference)
    return float((np.count_nonzero(extreme) + 1) / (drawn.size + 1))
