"""Test whether two models differ in calibration on the same items."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from .._errors import ParameterError, public, warn
from .._pairs import Pairs, check_one_set, check_pairs, draws_of, warn_of_shares
from .._parallel import RandomStateLike, as_generator
from .._results import Result, p_text, zero_in_words
from .._validation import check_choice, check_fraction, check_integer
from ..metrics._bins import FOR_INTERVAL, Binning, check_binning
from ..metrics._decomposition import brier_of_rows
from ..metrics._draws import DrawRows, bins_of_draws, rows_of_shares
from ..metrics._grouped_bins import GroupedBins, grouped_bins, squared_norm
from ..metrics._interval import (
    CalibrationErrorInterval,
    interval_of_draws,
    interval_of_pairs,
)
from ..significance import paired_bootstrap_test
from ..significance._two_systems import ConfidenceInterval

ALTERNATIVES = ("two-sided", "greater", "less")

# With so few items that swaps of the models cannot give a smaller p-value, the test
# does not reject.
_USUAL_LEVEL = 0.05

# Smaller p-values underflow.
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class CalibrationComparison(Result):
    """Calibration errors and Brier scores of two models on the same items.

    Returned by :func:`compare_calibration`.

    Attributes
    ----------
    error_a, error_b : float
        Debiased calibration errors of models A and B, as `estimate` of
        :func:`~skcalib.metrics.calibration_error_interval`.
    difference : float
        `error_a` - `error_b`.
    pvalue : float
        P-value of the hypothesis that the errors are equal. It is never 0: a smaller
        p-value than 2.2e-308 is this number, the smallest normal float.
    low, high : float
        Ends of the confidence interval of the difference.
    brier_a, brier_b : float
        Brier scores of models A and B.
    brier_difference : float
        `brier_a` - `brier_b`.
    brier_pvalue : float
        P-value of the hypothesis that the Brier scores are equal.
    brier_low, brier_high : float
        Ends of the confidence interval of `brier_difference`.
    alternative : str
        Alternative hypothesis.
    confidence_level : float
        Confidence level of the intervals.
    bin_size : int
        Number of pairs in a bin. If the automatic sizes of the models differ, it is the
        smaller one.
    n_items : int
        Number of items: the number of groups, or of rows if `groups` is None.
    n_resamples : int
        Number of resamples of the test of the Brier scores, if it draws resamples.

    See Also
    --------
    compare_calibration : Compute the comparison.

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
        """Confidence interval of the difference of calibration errors, (low, high)."""
        return ConfidenceInterval(self.low, self.high)

    def _in_words(self) -> tuple[str, ...]:
        words = zero_in_words(self.low, self.high, self.confidence_level, self.pvalue)
        return (f"Calibration error: {words[0].lower()}{words[1:]}",)

    def __repr__(self) -> str:
        return self._summary(
            f"error {self.error_a:.4f} - {self.error_b:.4f} = "
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"{p_text(self.pvalue, before='pvalue=')}; "
            f"Brier {self.brier_difference:+.4f}, "
            f"{p_text(self.brier_pvalue, before='pvalue=')}; "
            f"alternative={self.alternative!r}",
            "confidence_level:g bin_size n_items n_resamples",
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
    y_true_b: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> CalibrationComparison:
    """Test whether two models differ in calibration error, on the same items.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    proba_a : array-like of shape (n,) or (n, n_classes)
        Probabilities of model A, as in :func:`~skcalib.metrics.calibration_error`.
    proba_b : array-like of shape (n,) or (n, n_classes)
        Probabilities of model B for the same rows. If the probabilities of a model are
        shares of samples from the answers to a query, its error is the error of the
        probability behind the share. Brier scores are those of the share.
    groups : array-like of shape (n,), default=None
        Sentence or document of each row. Rows of the same group may depend on each
        other. If None, rows are treated as independent, which is wrong for the tokens
        of a sentence.
    bin_size : int or 'auto', default='auto'
        Number of pairs in a bin, at least 2. 'auto' is chosen for each model as in
        :func:`~skcalib.metrics.calibration_error_interval`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that the error of A is larger than the
        error of B, and 'less' means that it is smaller. Choose the alternative before
        looking at the data.
    confidence_level : float, default=0.95
        Confidence level of the intervals of the differences.
    n_resamples : int, default=2000
        Number of resamples of the test of the Brier scores. The comparison of the
        calibration errors does not draw resamples.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs, as in
        :func:`~skcalib.metrics.calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if there are
        two columns.
    y_true_b : array-like of shape (n,), default=None
        Labels for model B, if the two models have different labels. For example, the
        label for a language model may be whether its own answer is right. If None,
        `y_true` is used for both models.
    random_state : int, RandomState, Generator or None, default=None
        Random state used by the test of the Brier scores.

    Returns
    -------
    result : CalibrationComparison

    Raises
    ------
    ValueError
        If a parameter or a row is invalid, if the probabilities of the two models have
        different numbers of classes, if there are fewer than two items, or if a bin of
        the given size contains a single group.

    Warns
    -----
    UserWarning
        If there are so few items that the smallest possible p-value (see Notes) is
        above .05, or if the probabilities of a model look like labels or like those of
        another class, as in :func:`~skcalib.metrics.calibration_error`.

    See Also
    --------
    skcalib.metrics.calibration_error_interval : The error of one model.
    skcalib.significance.paired_bootstrap_test : Paired test for other metrics.

    Notes
    -----
    Let e_A and e_B be the calibration errors in the population, and T_A and T_B the
    debiased squared errors (see :func:`~skcalib.metrics.calibration_error_interval`),
    which are unbiased estimates of their squares. The reported errors are the estimates
    of the two intervals; with an explicit `bin_size`, they are the square roots of T_A
    and T_B, or 0 if these are negative. The test of equal errors compares T_A - T_B
    with its standard deviation. The difference of the estimates would not be suitable,
    because their bias depends on the error. If T_A - T_B and the difference of the
    estimates have opposite signs, the p-value is 1 (1/2 if it is one-sided).

    T_A - T_B is a sum over pairs of different items (rows or groups), and its variance
    is estimated jointly for both models. It contains the noise of the labels, the
    interaction of this noise with the errors, the sampling of the items, and every
    covariance of the two models. The jackknife over items measures all of them, but
    counts the noise in products of two labels twice. This noise is therefore estimated
    separately and subtracted once. One more unexpected label is added, since labels
    that hardly vary would have almost no variance. The p-value comes from Student's t
    distribution with Satterthwaite's degrees of freedom. If T_A and T_B are both
    negative, their difference is taken as 0. The p-value is at least the smallest
    p-value that exact swaps of the models can have, which is 2^(1 - n) for n items if
    the test is two-sided. With fewer than six items, the two-sided p-value is therefore
    above .05.

    The interval combines two intervals for e_A - e_B. The first one is computed from
    the intervals of e_A and e_B [1]_; a positive correlation of the estimates is not
    used. With other labels in `y_true_b`, it ends at the end of the interval of one
    error if the other error may be 0, since its estimate is then the root of a square
    that may be noise. The second one is the interval of e_A^2 - e_B^2 divided by the
    interval of e_A + e_B. It is short if the estimates are highly correlated. The
    combined interval is the intersection of the two, and contains the difference of the
    estimates. It contains 0 if and only if the two-sided p-value is at least 1 -
    confidence_level. If the probabilities and the labels of both models are identical,
    it is [0, 0].

    The Brier score is a mean, so its test
    (:func:`~skcalib.significance.paired_bootstrap_test`) does not need this
    construction and has more power. However, the Brier score also measures sharpness.

    References
    ----------
    .. [1] G. Y. Zou and A. Donner (2008). "Construction of confidence limits about
       effect measures: a general approach". Statistics in Medicine 27(10).

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
    check_one_set(multi_class, "comparison")
    level = check_fraction(confidence_level, name="confidence_level")
    n_resamples = check_integer(n_resamples, minimum=1, name="n_resamples")
    binning = check_binning(bin_size, None, "quantile")
    if binning.bin_size == "auto":
        binning = FOR_INTERVAL
    else:
        check_integer(bin_size, minimum=2, name="bin_size")
    (pairs_a, draws_a), (pairs_b, draws_b) = (
        _pairs_of_model(
            y,
            proba,
            name,
            multi_class=multi_class,
            labels=labels,
            pos_label=pos_label,
            groups=groups,
        )
        for y, proba, name in (
            (y_true, proba_a, "proba_a"),
            (y_true if y_true_b is None else y_true_b, proba_b, "proba_b"),
        )
    )
    if pairs_a.n_classes != pairs_b.n_classes:
        raise ParameterError(
            None,
            "needs probabilities of the same classes from both models. Got "
            f"{pairs_a.n_classes} in 'proba_a' and {pairs_b.n_classes} in 'proba_b'.",
        )
    brier_a, brier_b = brier_of_rows(pairs_a), brier_of_rows(pairs_b)
    rows = pairs_a.row_groups
    n_items = brier_a.size if rows is None else int(rows.max()) + 1
    unit = "rows" if groups is None else "groups"
    if n_items < 2:
        raise ParameterError(None, f"needs at least two {unit}. Got {n_items}.")
    smallest = _smallest_p_value(n_items, alternative)
    if smallest > _USUAL_LEVEL:
        warn(
            f"compare_calibration: with {n_items} {unit}, swapping the models cannot "
            f"give a p-value below {smallest:.3g}. Compare the models on more {unit}."
        )
    models = (pairs_a, draws_a), (pairs_b, draws_b)
    of_a, of_b = (
        interval_of_pairs(pairs, binning, level)
        if draws is None
        else interval_of_draws(draws, pairs, binning, level)
        for pairs, draws in models
    )
    differ = not np.array_equal(pairs_a.indicator(), pairs_b.indicator())
    squares = _DifferenceOfSquares(
        *(_bins(*model, binning) for model in models),
        has_own_labels=differ and y_true_b is not None,
    )
    if (of_a.estimate - of_b.estimate) * squares.value < 0:
        squares.value = 0.0  # T_A - T_B says nothing about the sign of the difference
    low, high = squares.interval(of_a, of_b, level)
    if np.array_equal(pairs_a.q, pairs_b.q) and not differ:
        low = high = 0.0
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # the user was already warned of few items
        score = paired_bootstrap_test(
            brier_a,
            brier_b,
            statistic="mean",
            alternative=alternative,
            groups=rows,
            confidence_level=level,
            n_resamples=n_resamples,
            random_state=as_generator(random_state),
        )
    return CalibrationComparison(
        error_a=of_a.estimate,
        error_b=of_b.estimate,
        difference=of_a.estimate - of_b.estimate,
        pvalue=squares.p_value(alternative),
        low=low,
        high=high,
        brier_a=float(brier_a.mean()),
        brier_b=float(brier_b.mean()),
        brier_difference=float(score.statistic),
        brier_pvalue=float(score.pvalue),
        brier_low=float(score.confidence_interval[0]),
        brier_high=float(score.confidence_interval[1]),
        alternative=alternative,
        confidence_level=level,
        bin_size=min(of_a.bin_size, of_b.bin_size),
        n_items=n_items,
        n_resamples=n_resamples,
    )


def _pairs_of_model(
    y_true: Any, proba: Any, name: str, **params: Any
) -> tuple[Pairs, DrawRows | None]:
    """Return the pairs of the model whose probabilities are the parameter `name`.

    The second entry has the rows of left-out draws, if the probabilities are shares.
    """
    try:
        (pairs,) = check_pairs(y_true, proba, **params)
    except ParameterError as error:
        parameter = name if error.name == "y_proba" else error.name
        raise type(error)(parameter, error.problem.replace("y_proba", name)) from None
    k = draws_of(proba)
    if k is not None:
        return pairs, rows_of_shares(pairs, k)
    warn_of_shares(pairs)
    return pairs, None


def _bins(pairs: Pairs, draws: DrawRows | None, binning: Binning) -> GroupedBins:
    """Return the bins of a model, where each row is a group if there are no groups."""
    if draws is not None:
        return bins_of_draws(draws, binning)
    if pairs.groups is None:
        pairs = replace(pairs, row_groups=np.arange(pairs.q.size))
    return grouped_bins(pairs, binning)


class _DifferenceOfSquares:
    """Difference of the debiased squared errors of two models on the same items.

    Attributes
    ----------
    value : float
        T_A - T_B, or 0 if both are negative.
    deviation : float
        Standard deviation of T_A - T_B.
    correlation : float
        Correlation of T_A and T_B.
    freedom : float
        Degrees of freedom of the deviation.
    n_items : int
        Number of items (rows or groups).
    has_own_labels : bool
        Whether the labels of B differ from the labels of A.
    """

    def __init__(self, a: GroupedBins, b: GroupedBins, *, has_own_labels: bool):
        self.has_own_labels = has_own_labels
        squares = np.maximum([a.debiased_square, b.debiased_square], 0)
        n = self.n_items = a.n_groups
        self.value = 0.0
        if squares.any():
            self.value = a.debiased_square - b.debiased_square
        # before the arrays below, because it needs the most memory
        noise = _noise(a, b)
        without = np.stack([a.squares_left_out(), b.squares_left_out()])
        without -= without.mean(axis=1, keepdims=True)
        # theory, (K2): the jackknife counts the noise twice
        seen = (n - 1) / n * (without @ without.T) - noise
        varying = np.maximum(seen, noise).diagonal().prod()
        self.correlation = seen[0, 1] / math.sqrt(varying) if varying > 0 else 0.0
        variance, least = (
            float(each[0, 0] + each[1, 1] - 2 * each[0, 1]) for each in (seen, noise)
        )
        variance = max(variance, least, 0.0)
        centred = without[0] - without[1]
        share = float(centred @ centred)
        # theory, (K3): one more unexpected label
        variance += (2 * np.sqrt(squares).sum() / a.bins.weight.sum()) ** 2
        self.deviation = math.sqrt(variance)
        parts = centred**2 / share if share > 0 else np.ones(1)
        self.freedom = a.freedom(float(parts @ parts))

    def p_value(self, alternative: str = "two-sided") -> float:
        """Return the p-value of equal errors."""
        place = self.value / self.deviation if self.value else 0.0
        if alternative == "two-sided":
            tail = 2 * stdtr(self.freedom, -abs(place))
        else:
            tail = stdtr(self.freedom, place if alternative == "less" else -place)
        return max(float(tail), _smallest_p_value(self.n_items, alternative), _TINY)

    def interval(
        self, a: CalibrationErrorInterval, b: CalibrationErrorInterval, level: float
    ) -> tuple[float, float]:
        """Return the interval of the difference of the errors.

        It contains 0 if and only if p_value() >= 1 - level.
        """
        low, high = self._low(a, b, level), -self._low(b, a, level, -1)
        difference = a.estimate - b.estimate
        low, high = min(low, difference), max(high, difference)
        if self.p_value() >= (1 - level) * (1 - 1e-12):
            return min(low, 0.0), max(high, 0.0)
        if difference > 0:
            return max(low, math.nextafter(0, 1)), high
        return low, min(high, math.nextafter(0, -1))

    def _low(
        self,
        a: CalibrationErrorInterval,
        b: CalibrationErrorInterval,
        level: float,
        sign: int = 1,
    ) -> float:
        """Return the lower end of e_A - e_B; for sign -1, A and B are exchanged."""
        down, up = a.estimate - a.low, b.high - b.estimate
        # theory, (K4); a positive correlation would make it narrower
        rho = min(max(self.correlation, -1.0), 0.0)
        first = a.estimate - b.estimate
        first -= math.sqrt(down**2 + up**2 - 2 * rho * down * up)
        if self.has_own_labels and a.low == 0:  # the estimate of A may be noise
            first = min(first, -b.high)
        # theory, (K5)
        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.deviation
        square = sign * self.value - half
        total = a.high + b.high if square > 0 else a.low + b.low
        return max(first, square / total if total > 0 else -math.inf)


def _noise(a: GroupedBins, b: GroupedBins) -> np.ndarray:
    """Return the covariance matrix of T_A and T_B due to products of two labels."""

    def root(bins: GroupedBins) -> np.ndarray:
        # The squares of residuals of m groups around their mean sum up to m - 1
        # variances.
        m = bins.n_effective
        by_set = np.sqrt(bins.scale * m / np.maximum(m - 1, 1))
        return bins.centred * by_set[bins.entries.set]

    owns = np.stack([x.entries.by_group(root(x) ** 2) for x in (a, b)])
    own = owns @ owns.T
    del owns  # the tables need the memory
    x, y = (each.entries.table(root(each)) for each in (a, b))
    # theory, (K1)
    norms = [squared_norm(s.T.tocsr(), t) for s, t in ((x, x), (x, y), (y, y))]
    return 2 * (np.array(norms)[[[0, 1], [1, 2]]] - own)


def _smallest_p_value(n_items: int, alternative: str) -> float:
    """Return the smallest p-value that swaps of the models can attain."""
    return 2.0 ** (1 - n_items if alternative == "two-sided" else -n_items)
