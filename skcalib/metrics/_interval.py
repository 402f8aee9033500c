"""Confidence interval of the calibration error, and a test of perfect calibration.

The default interval and the test are computed in `_score_interval`. This module
contains Algorithm 2, an interval by simulation, and the exact interval of a single
probability.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from .._errors import ParameterError, public, warn
from .._pairs import (
    Pairs,
    check_one_set,
    check_pairs,
    draws_of,
    number_of_steps,
    warn_of_shares,
)
from .._parallel import RandomStateLike, as_generator
from .._results import Result, contains_zero, ends_text, p_text
from .._validation import check_choice, check_fraction, check_integer
from ._bins import (
    AUTOMATIC,
    FOR_INTERVAL,
    Binning,
    Bins,
    Ordered,
    bins_of,
    check_binning,
    narrow_sizes,
    order_pairs,
)
from ._calibration_error import error_of_pairs
from ._cells import CellTable
from ._draws import DrawRows, bins_of_draws, distribution_of_draws, read_shares
from ._frequency_intervals import clopper_pearson, frequency_interval
from ._grouped_bins import GroupedBins, are_single_rows, grouped_bins
from ._score_interval import (
    SquareDistribution,
    distribution_of_bins,
    distribution_of_groups,
    linear_p_value,
    null_p_value,
    null_p_value_of_groups,
)

# Number of simulated values in memory at a time (8 bytes each).
_BLOCK = 2_000_000


def simulation_interval(
    sums: Bins, level: float, n_samples: int, generator: np.random.Generator
) -> tuple[float, float, float]:
    """Return the centre and the ends of the interval of Algorithm 2."""
    n, q = sums.weight, sums.q / sums.weight
    p = np.clip(sums.y / n, 0, 1)
    deviation = np.sqrt(p * (1 - p) / n)
    step = max(1, _BLOCK // n.size)
    errors = []
    for start in range(0, n_samples, step):
        size = (min(step, n_samples - start), n.size)
        drawn = np.clip(generator.normal(p, deviation, size), 0, 1)
        errors.append(np.sqrt((drawn - q) ** 2 @ n / n.sum()))
    error = np.concatenate(errors)
    centre, half = error.mean(), float(ndtri((1 + level) / 2)) * error.std(ddof=1)
    low, high = np.clip([centre - half, centre + half], 0, 1)
    return float(centre), float(low), float(high)


def interval_of_one_value(sums: Bins, level: float) -> tuple[float, float, float]:
    """Return the ends of the interval of the error, and the p-value of no error.

    The number of positives is binomial, and the error is the distance of their
    frequency from the common probability. Zero is in the interval if and only if
    p_value >= 1 - level.
    """
    n, q = float(sums.weight.sum()), float(sums.low[0])
    k = min(max(float(sums.y.sum()), 0.0), n)
    variance = n * q * (1 - q)
    p_value = linear_p_value(n * q - k, variance, -variance * (1 - 2 * q))
    first, last = clopper_pearson(k / n, n, level)
    low = max(first - q, q - last, 2.0**-52) if p_value < 1 - level else 0.0
    # For rare labels, Wilson's interval may be wider.
    left, right = (float(x) for x in frequency_interval(k / n, n, level))
    # The error is a distance, so the wider of both intervals counts.
    furthest = max(abs(x - q) for x in (first, last, left, right))
    return low, max(furthest, low), p_value


METHODS = ("score", "simulation")

# A larger T in narrow bins causes a warning if it is outside the interval, larger by
# this factor, and larger by this number of standard deviations of the difference. In
# benchmarks/interval_jumps.py, smooth errors cause it in no sample.
_HIDDEN_SHARE, _SURELY_HIDDEN = 1.2, 5.0

# With fewer effective groups, the variance between groups is poorly estimated.
LEAST_GROUPS = 10

# With fewer independent rows or groups, the approximate distributions of the statistics
# do not fit, and the test has no power: in benchmarks/interval_constants.py, samples of
# 2 to 4 calibrated rows are rejected in at most 4% of cases.
LEAST_UNITS = 5

# Fewer rows that carry the error are too few, if they are also less than a twentieth of
# all rows. benchmarks/interval_coverage.py measures how often a warning is issued.
LEAST_CARRYING = 10

# Steps to which decimals are rounded, the largest first.
_STEPS = (0.1, 0.05, 0.01, 0.005, 0.001)

# Positives are rare below this share of the pairs.
_RARE = 0.05

# Smaller p-values underflow.
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class CalibrationErrorInterval(Result):
    """Calibration error with its confidence interval.

    Returned by :func:`calibration_error_interval`.

    Attributes
    ----------
    estimate : float
        ``calibration_error(y_true, y_proba, debias=True)``: the debiased error in
        narrow bins, joined with the smooth part of the error. It is at least the
        difference of the mean probability and the frequency. With an explicit
        `bin_size`, it is the debiased error in these bins, and 0 if its square is
        negative. For 'simulation', it is the mean of the simulated errors.
    low, high : float
        Ends of the interval, in [0, 1]. If `low` is 2.2e-16 (machine epsilon), the
        interval is open at 0: perfect calibration is rejected, but every positive error
        below `high` is in the interval. The repr and the plots then contain "(0"
        instead of "[0.000".
    pvalue : float
        P-value of the hypothesis of perfect calibration. It is NaN if there are fewer
        than five independent rows or groups, and it is never 0: a smaller p-value than
        2.2e-308 is this number, the smallest normal float.
    plug_in : float
        ``calibration_error(y_true, y_proba)`` in automatic bins, or in the bins of an
        explicit `bin_size`, for comparison with published numbers. It is biased
        upwards.
    method : str
        Method of the interval.
    confidence_level : float
        Confidence level of the interval.
    bin_size : int
        Number of pairs (total weight) in a bin.
    n_bins : int
        Number of bins.
    n_pairs : int
        Number of pairs of positive weight.
    n_groups : int or None
        Number of groups of dependent rows. None if rows are treated as independent.
    n_effective_groups : float or None
        Effective number of groups: the number of groups of equal size that would carry
        the same information. It is (sum n)^2 / sum n^2 for groups of n rows.
    n_samples : int or None
        Number of random draws. None for 'score', which does not use random draws.
    rounded_to : float or None
        Step of the grid of the probabilities, such as 0.05, if a label contradicts a
        probability of 0 or 1 that the test takes as a rounded value. Otherwise None.
    expected, found : float
        Sum of the probabilities and number of positive pairs, as total weights. The
        repr contains them if fewer than 5% of the pairs are positive: the error of rare
        positives is near 0 even if half of them are missed.

    See Also
    --------
    calibration_error_interval : Compute the interval.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import calibration_error_interval
    >>> y_true, y_proba = make_calibrated_pairs(4000, k=0.1, random_state=0)
    >>> result = calibration_error_interval(y_true, y_proba)
    >>> result.low < result.estimate < result.high
    True
    >>> sorted(result.to_dict())[:3]
    ['bin_size', 'confidence_level', 'estimate']
    """

    estimate: float
    low: float
    high: float
    pvalue: float
    plug_in: float
    method: str
    confidence_level: float
    bin_size: int
    n_bins: int
    n_pairs: int
    n_groups: int | None
    n_effective_groups: float | None
    n_samples: int | None
    rounded_to: float | None = None
    # Independent rows or groups as text, such as "3 rows", if they are too few.
    _too_few: str = field(default="", compare=False)
    # Size of narrower bins, and their estimate, if the estimates are surely different.
    _hidden: tuple[int, float] | None = field(default=None, compare=False)
    _carrying: float = field(default=np.inf, compare=False)
    # Sum of the probabilities, number of positives and number of pairs (total weight).
    _sums: tuple[float, float, float] = field(default=(0, 0, 0), compare=False)

    @property
    def expected(self) -> float:
        """Sum of the probabilities."""
        return self._sums[0]

    @property
    def found(self) -> float:
        """Number of positive pairs."""
        return self._sums[1]

    @property
    def p_value(self) -> float:
        """The attribute `pvalue` under its old name."""
        return self.pvalue

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict; `p_value` is the old name of `pvalue`."""
        return {**super().to_dict(), "p_value": self.pvalue}

    def _in_words(self) -> list[str]:
        if self._too_few:
            why = f"There is no test of perfect calibration: {self._why_no_test}."
            return [why + self._rare_in_words]
        verdict = "is compatible with the data"
        if self.pvalue < 1 - self.confidence_level:
            verdict = f"is rejected at level {1 - self.confidence_level:.2g}"
        rounded = ""
        if self.rounded_to is not None:
            rounded = (
                f" All probabilities are multiples of {self.rounded_to:g}: 0 and 1 are "
                "taken as rounded values."
            )
        return [
            f"The {100 * self.confidence_level:.4g}% confidence interval "
            f"{ends_text(self.low, self.high, '.4f')} "
            f"{contains_zero(self.low, self.high)}. Perfect calibration {verdict} "
            f"({p_text(self.pvalue, before='p-value ')}).{rounded}{self._rare_in_words}"
        ]

    @property
    def _rare(self) -> tuple[str, str] | None:
        """Expected and true number of rare positives as texts, None if not rare.

        In pooled classes, both numbers are always equal. Sums of weights are no counts.
        """
        expected, found, total = (f"{each:,.1f}" for each in self._sums)
        is_rare = max(self._sums[:2]) < _RARE * self.n_pairs
        if not is_rare or expected == found or total != f"{self.n_pairs:,}.0":
            return None
        return expected, found.removesuffix(".0")

    @property
    def _rare_in_words(self) -> str:
        if self._rare is None:
            return ""
        expected, found = self._rare
        return (
            f" The probabilities sum to {expected} positives, and {found} of "
            f"{self.n_pairs:,} pairs are positive."
        )

    @property
    def _why_no_test(self) -> str:
        return (
            f"it needs at least {LEAST_UNITS} independent rows or groups, and there "
            f"are {self._too_few}"
        )

    def __repr__(self) -> str:
        pvalue = p_text(self.pvalue, before="pvalue=")
        if self._too_few:
            pvalue += f" (no test of {self._too_few})"
        if self._rare is not None:
            pvalue += ", expected={}, found={}".format(*self._rare)
        return self._summary(
            f"{self.estimate:.4f} {ends_text(self.low, self.high, '.4f')}, {pvalue}",
            "plug_in:.4f method confidence_level:g bin_size n_bins n_pairs n_groups "
            "n_samples",
        )


@public
def calibration_error_interval(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    bin_size: int | Literal["auto"] = "auto",
    confidence_level: float = 0.95,
    method: str = "score",
    n_samples: int = 10_000,
    multi_class: str | None = None,
    labels: ArrayLike | None = None,
    pos_label: Hashable = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomStateLike = None,
    hard_labels: bool = False,
    n_draws: int | ArrayLike | None = None,
) -> CalibrationErrorInterval:
    """Compute the calibration error with a confidence interval and a p-value.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of every class, as in
        :func:`calibration_error`.
    bin_size : int or 'auto', default='auto'
        Number of pairs (total weight) in a bin, at least 2. The differences q - y are
        averaged inside a bin before they are squared. If bins are wide, differences of
        opposite sign cancel, and the interval estimates a quantity that is smaller than
        the root mean square error of the individual probabilities. If bins are narrow,
        the interval is wider than necessary. 'auto' is the largest size, at most 0.8
        sqrt(n) and at least 5, for which the variance of the probabilities inside the
        bins is at most a tenth of the standard deviation of the estimated squared
        error. Without `groups`, a probability of at least five rows is a bin of its
        own, and the upper end of 'score' also uses narrower bins (see Notes). Larger
        bins are used if `groups` are given and a bin of this size would contain a
        single group, or if there would be more than 2 ** 22 bins. For 'simulation',
        'auto' is the rule of :func:`calibration_error` for many distinct probabilities.
        The bins of 'score' are counted from the smallest probability, so that (1 - y,
        1 - q) may have other bins, another estimate and another interval. Choose the
        positive class before looking at the results.
    confidence_level : float, default=0.95
        Confidence level, strictly between 0 and 1.
    method : {'score', 'simulation'}, default='score'
        'score' inverts a test based on the debiased squared error and does not use
        random draws (see Notes). 'simulation' is Algorithm 2 of [1]_ as published. Its
        coverage is too low or too high if the error is small; it is provided for
        comparison.
    n_samples : int, default=10_000
        Number of draws of 'simulation', at least 2.
    multi_class : {'pooled', 'top_label'}, default=None
        How a matrix is reduced to pairs, as in :func:`calibration_error`. Pooled pairs
        of one row are dependent. Without `groups`, each row is a group.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns. If None, the sorted labels of `y_true` are
        used.
    pos_label : label, default=None
        Positive class. If None, it is 1, or the label of the second column if `y_proba`
        has two columns.
    sample_weight : array-like of shape (n,), default=None
        Frequencies: a row of weight 3 is equivalent to three independent rows. If the
        weights are sampling weights instead of frequencies, also pass
        ``groups=np.arange(n)``, so that each row counts as one observation. After
        undersampling, coverage depends on the number of negatives (see Notes).
    groups : array-like of shape (n,), default=None
        Sentence or document of each row. Rows of the same group may depend on each
        other. Not available for 'simulation'.
    random_state : int, RandomState, Generator or None, default=None
        Random state used by 'simulation'.
    hard_labels : bool, default=False
        Whether `y_proba` contains predicted labels (0 and 1) on purpose. If False, a
        warning is issued if there are at least 20 rows and all values are 0 or 1.
    n_draws : int or array-like of shape (n,), default=None
        Number of samples of each row, at least 2, if `y_proba` is the share of samples
        of a model that agree with the judged answer. The interval is then about the
        error of the probability behind the share (see Notes). Requires method 'score'.
        Shares may not be used if the judged answer was chosen from the same samples:
        use :func:`~skcalib.rates.sampled_confidence`. If None, and the method is
        'score', it is the number of samples of the answers that `y_proba` comes from
        (:attr:`Answers.n_draws <skcalib.queries.Answers>`).

    Returns
    -------
    interval : CalibrationErrorInterval

    Raises
    ------
    ValueError
        If a parameter or a row is invalid, or if there are fewer than two pairs.

    Warns
    -----
    UserWarning
        In these cases, and for the reasons that :func:`calibration_error` names:

        - There are fewer than five independent rows or groups, or fewer than ten
          effective groups.
        - Few rows carry the error: with errors d, (sum d^2)^2 / sum d^4 is less than
          ten and less than a twentieth of the rows.
        - `bin_size` is 'auto', and the estimate in narrower bins is outside the
          interval and larger by more than five standard deviations of the difference
          (see Notes).

    See Also
    --------
    calibration_error : The error without an interval, for any bins and any norm.

    Notes
    -----
    The parameter of interest is the calibration error of the population from which the
    rows (or, with `groups`, the groups) were drawn. The interval accounts for the
    randomness of the labels and of the sample.

    Let D be the mean of r = q - y in a bin of n pairs, w = n / N the share of the bin,
    and s^2 the sample variance of r. The debiased squared error [2]_ is::

        T = sum w (D^2 - s^2 / n)

    The interval contains sqrt(x) for every squared error x that a test based on T does
    not reject. The test rejects x if T is in one of the tails of the distribution that
    T has if the squared error is x. This distribution has mean x, and its variance is
    the sum of three parts:

    - the label noise alone, 2 sum w^2 V^2, where V is the variance of D;
    - the interaction of the label noise with the error, 4 x sum w^2 V d^2 / sum w d^2,
      where d is the true error of a bin, the expected value of D;
    - the sampling of the rows, which is the variance of the mean of d^2 over the rows.

    For each x, the errors d are assumed to be proportional to the observed errors, and
    the variances are computed from the label frequencies that these errors imply. If T
    is close to 0, the observed errors are noise. The variances are then mixed with the
    variances for errors whose d^2 is proportional to the noise. The distribution of T
    is approximated by the shifted chi-squared distribution with the same first three
    moments. Neighbouring bins of one probability, such as a confidence that a language
    model states or a hard prediction of 0 or 1, are one bin for the variances. If all
    probabilities are equal, the interval is derived from the exact interval of Clopper
    and Pearson for a proportion [5]_.

    The lower end needs no assumption about the error. It combines the tails of T, of
    the smooth part of the squared error (see :func:`calibration_error`) and of the mean
    residual: each estimates a lower bound of the squared error. It is therefore usually
    above 0 if the test rejects because of a shift or a slope that T alone does not see.

    The upper end assumes that the errors inside a bin are alike. With bin_size='auto'
    and independent rows, intervals in narrower bins therefore limit it from below:
    their bins have a fourth and a sixteenth of the automatic size (and at least five
    rows), and they use .4 times the normal quantile of `confidence_level`. Errors that
    jump from probability to probability, as after isotonic recalibration, are then in
    the interval. Errors that change within a few rows cannot be seen in any sample (see
    the user guide).

    The division of 1 - confidence_level between the tails depends on x and follows the
    method of Feldman and Cousins [3]_ for a normal mean that cannot be negative. At
    x = 0, the lower tail is empty. If x is at least z standard deviations of T, where z
    is the two-sided normal quantile, the tails are equal. The upper end of the interval
    is at least the upper confidence bound of the absolute difference between the mean
    probability and the frequency of all labels, because the root mean square of the
    errors is never below their mean. It is also at least
    1 - (1 - confidence_level)^(1/N): a label with a higher frequency is absent from a
    sample of N pairs with a probability of less than 1 - confidence_level. It is at
    most the root mean square of max(q, 1 - q), the largest possible error. The lower
    end is 0 if the p-value is at least 1 - confidence_level.

    The p-value is a variant of the Cauchy combination [4]_, in which a p-value near 1
    is no evidence for calibration. It combines the p-values of six statistics under
    perfect calibration:

    - the mean residual and Cox's score statistic of the slope [6]_;
    - Neyman's smooth tests with four and with eight Legendre polynomials [7]_, each of
      which is only used if the sum of q (1 - q) is at least its number of polynomials;
    - T;
    - the probability of the least probable label, whose p-value is the expected number
      of labels that are as improbable.

    The first four detect shifts, slopes and smooth curves in samples that are too small
    for T alone to detect them. The last one detects nearly certain answers that are
    wrong. Sometimes few labels are expected to vary, and nearly all of them are of one
    kind, such as wrong answers of which the model is nearly certain. The mean residual
    then has most of the weight.

    The interval contains 0 if and only if pvalue >= 1 - confidence_level, or if there
    is no test. With fewer than five independent rows (or, with `groups`, groups), there
    is no test, because the distributions of its statistics are not known: pvalue is
    NaN, and a warning is issued. The number of independent rows is their total weight.
    The classes of one row are not independent of each other.

    A probability of exactly 0 or 1 means that one of the labels is impossible. If this
    label occurs in a single row, perfect calibration is excluded, and pvalue is
    2.2e-308, the smallest float. This is not so if probabilities are rounded: if all of
    them are multiples of .1, .05, .01, .005 or .001, and at least two different ones
    are between 0 and 1, then 1 stands for at least 1 - step / 2, and 0 for at most step
    / 2. The same is true of multiples of 1/k for a k of at most 1000, such as shares of
    k trees, if at least three different ones (for k = 3, both) are between 0 and 1, and
    one of them occurs twice. The test replaces 1 and 0 by the number in this range that
    is next to the frequency of the labels, and `rounded_to` is the step. To state
    another range, clip the probabilities, such as ``np.clip(y_proba, 0.005, 0.995)``.

    If a bin boundary falls between rows of equal probability, T is averaged over all
    orders of these rows. The variance treats these rows as one set, regardless of the
    number of bins that contain them. With `groups`, T contains only products of
    residuals from different groups. The variances are computed from sums over groups.
    The variance due to the choice of the groups is a jackknife estimate, with
    Satterthwaite's degrees of freedom and quantiles of Student's t distribution. The
    p-value then combines only the mean residual, Spiegelhalter's statistic [8]_ and T.
    With fewer than ten effective groups, a warning is issued. If every group has one
    row, the rows are treated as independent.

    With `n_draws`, the estimate and the interval are about sqrt(sum P(v) (E[p - y |
    v])^2), where p is the probability behind the share, and v is the number of agreeing
    samples of all but one. It is 0 for a calibrated model and at most the error of p
    (see :func:`calibration_error`), so the p-value tests whether the model is
    calibrated, and `low` is also a lower bound on the error of p. `plug_in` is the
    error of using the share as a probability. The distribution of T is computed as with
    `groups`, where both rows of a question are a group.

    With few groups, a calibrated model is rejected less often than the level allows: in
    three of 400 samples at .05 with twelve groups of 50 independent rows, and in none
    with `n_draws`. Twelve sums show little about the dependence within groups, which is
    therefore assumed to be partly complete.

    Sampling weights that depend on the label, as after undersampling negatives, make
    the variance depend on the error. In simulations with 20,000 rows of which 1% are
    positive, if one of 10 or one of 50 negatives is kept, 95% intervals contain the
    true error in 89% to 100% of the samples, depending on the model. If they miss it,
    the upper end is usually too low.

    Dask arrays are not accepted: use :meth:`ReliabilitySketch.from_dask`.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Algorithm 2.
    .. [2] Y. Sun, P. Chaudhari, I. J. Barnett and E. Dobriban (2024). "A confidence
       interval for the l2 expected calibration error". arXiv 2408.08998.
    .. [3] G. J. Feldman and R. D. Cousins (1998). "Unified approach to the classical
       statistical analysis of small signals". Physical Review D 57(7).
    .. [4] Y. Liu and J. Xie (2020). "Cauchy combination test: a powerful test with
       analytic p-value calculation under arbitrary dependency structures". Journal of
       the American Statistical Association 115(529).
    .. [5] C. J. Clopper and E. S. Pearson (1934). "The use of confidence or fiducial
       limits illustrated in the case of the binomial". Biometrika 26(4).
    .. [6] D. R. Cox (1958). "Two further applications of a model for binary
       regression". Biometrika 45(3/4).
    .. [7] J. Neyman (1937). "Smooth test for goodness of fit". Skandinavisk
       Aktuarietidskrift 20.
    .. [8] D. J. Spiegelhalter (1986). "Probabilistic prediction in patient management
       and clinical trials". Statistics in Medicine 5(5).

    Examples
    --------
    A calibrated model, and one whose true error is 0.082:

    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.metrics import calibration_error_interval
    >>> y_true, y_proba = make_calibrated_pairs(4000, random_state=0)
    >>> result = calibration_error_interval(y_true, y_proba)
    >>> result.low, result.pvalue > 0.05
    (0.0, True)
    >>> y_true, y_proba = make_calibrated_pairs(4000, k=0.1, random_state=0)
    >>> result = calibration_error_interval(y_true, y_proba)
    >>> round(result.low, 3), round(result.high, 3)
    (0.073, 0.097)
    """
    check_choice(method, METHODS, name="method")
    level = check_fraction(confidence_level, name="confidence_level")
    n_samples = check_integer(n_samples, minimum=2, name="n_samples")
    binning = check_binning(bin_size, None, "quantile")
    check_two(binning)
    check_one_set(multi_class, "interval")
    params: dict[str, Any] = {
        "multi_class": multi_class,
        "labels": labels,
        "pos_label": pos_label,
        "sample_weight": sample_weight,
        "groups": groups,
    }
    if method == "simulation" and (n_draws is not None or groups is not None):
        given = "groups" if n_draws is None else "n_draws"
        raise ParameterError(
            "method",
            f"must be 'score' if {given!r} is given: 'simulation' takes rows as "
            "independent and probabilities as exact, as published.",
        )
    if n_draws is None and method == "score":
        n_draws = draws_of(y_proba)
    if n_draws is not None:
        pairs, rows = read_shares(y_true, y_proba, n_draws, **params)
        result = interval_of_draws(rows, pairs, binning, level)
    else:
        (pairs,) = check_pairs(y_true, y_proba, hard_labels=hard_labels, **params)
        if draws_of(y_proba) is None:
            warn_of_shares(pairs)
        if method == "score":
            result = interval_of_pairs(pairs, binning, level)
        else:
            generator = as_generator(random_state)
            result = _simulated(pairs, binning, level, n_samples, generator)
    warn_of_few([(None, result)])
    return result


def interval_of_pairs(
    pairs: Pairs, binning: Binning, level: float
) -> CalibrationErrorInterval:
    """Return the score interval of checked pairs."""
    _check_total(pairs.total)
    if binning.bin_size == "auto":
        binning = FOR_INTERVAL
    n_pairs, (rounded, step) = pairs.q.size, as_rounded(pairs)
    if not pairs.is_dependent or are_single_rows(pairs):
        ordered = None if rounded is None else order_pairs(rounded)
        n_groups = n_pairs if pairs.is_dependent else None
        result = _of_rows(
            order_pairs(pairs), binning, level, n_pairs, n_groups, ordered
        )
    else:
        grouped = grouped_bins(pairs, binning)
        tested = None if rounded is None else grouped_bins(rounded, binning)
        distribution = distribution_of_groups(grouped)
        result = _of_groups(grouped, distribution, level, pairs, tested)
    return result if step is None else replace(result, rounded_to=step)


def as_rounded(pairs: Pairs) -> tuple[Pairs | None, float | None]:
    """Return pairs in which 0 and 1 are rounded values, and the step of their grid.

    Return None twice if no label contradicts a probability of 0 or 1, or if the
    probabilities are not on a grid.
    """
    is_one, positive_q = pairs.q == 1, pairs.positive_q
    is_contradicted = np.count_nonzero(is_one) > np.count_nonzero(positive_q == 1)
    if not is_contradicted and positive_q.min(initial=1) > 0:
        return None, None
    step = _step_of(pairs.q)
    if step is None:
        return None, None
    positive = pairs.indicator()
    q = pairs.q.astype(np.float64)
    for rows, low, high in ((pairs.q == 0, 0.0, step / 2), (is_one, 1 - step / 2, 1.0)):
        if rows.any():
            weight = None if pairs.weight is None else pairs.weight[rows]
            frequency = float(np.average(positive[rows], weights=weight))
            q[rows] = min(max(frequency, low), high)
    return replace(pairs, q=q, positive_q=q[positive]), step


def _step_of(q: np.ndarray) -> float | None:
    """Return the largest step of which all probabilities are multiples, or None.

    Predicted labels, and a single value between them, do not show a step.
    """
    inside = q[(q > 0) & (q < 1)]
    if not inside.size or inside.min() == inside.max():
        return None
    for step in _STEPS:
        multiple = inside / step
        # float32 has seven digits
        if (np.abs(multiple - np.rint(multiple)) < 1e-4).all():
            return step
    k = number_of_steps(q)
    return None if k is None else 1 / k


def interval_of_table(
    table: CellTable, binning: Binning, level: float
) -> CalibrationErrorInterval:
    """Return the score interval of the pairs of a table."""
    check_two(binning)
    if binning.bin_size == "auto":
        binning = FOR_INTERVAL
    ordered = table.ordered(independent=True)
    _check_total(ordered.total)
    return _of_rows(ordered, binning, level, table.n_samples)


def interval_of_draws(
    rows: DrawRows, pairs: Pairs, binning: Binning, level: float
) -> CalibrationErrorInterval:
    """Return the score interval of the probabilities behind shares of draws.

    `pairs` are the questions with their shares.
    """
    _check_total(pairs.total)
    grouped = bins_of_draws(rows, binning)
    result = _of_groups(grouped, distribution_of_draws(rows, grouped), level, pairs)
    if pairs.row_groups is None:
        result = replace(result, n_groups=None, n_effective_groups=None)
    # The bins sum the probabilities behind the shares, and `expected` the shares.
    _, found, total = result._sums
    sums = rows.mean_share * total, found, total
    return replace(result, plug_in=error_of_pairs(pairs, binning), _sums=sums)


def _of_rows(
    ordered: Ordered,
    binning: Binning,
    level: float,
    n_pairs: int,
    n_groups: int | None = None,
    rounded: Ordered | None = None,
) -> CalibrationErrorInterval:
    """Return the score interval of independent rows; `n_groups` have one row each.

    The test uses the probabilities of `rounded` if they are given.
    """
    bins = binning.bins(ordered)
    distribution, hidden = distribution_of_bins(bins), None
    if bins.low.min() == bins.high.max():
        low, high, p_value = interval_of_one_value(bins, level)
        # The estimate is computed in another order, and rounds to other digits.
        estimate = distribution.estimate
        low, high = min(low, max(estimate, 2.0**-52)), max(high, estimate)
    else:
        tested, of_square = bins, distribution
        if rounded is not None:
            tested = binning.bins(rounded)
            of_square = distribution_of_bins(tested)
        p_value = null_p_value(tested, of_square.p_value(tested.squared_residual))
        low, high = distribution.interval(level, p_value)
        if binning is FOR_INTERVAL:
            high, hidden = _look_inside(ordered, bins, distribution, high, level)
    return _result(
        bins,
        distribution,
        level,
        (low, high, p_value),
        f"{ordered.total:.3g} {'rows' if n_groups is None else 'groups'}",
        ordered.total,
        n_pairs=n_pairs,
        n_groups=n_groups,
        n_effective_groups=n_groups,
        _hidden=hidden,
        plug_in=_plug_in(ordered, bins),
    )


def _of_groups(
    grouped: GroupedBins,
    distribution: SquareDistribution,
    level: float,
    pairs: Pairs,
    rounded: GroupedBins | None = None,
) -> CalibrationErrorInterval:
    """Return the score interval of groups of dependent rows.

    The test uses the probabilities of `rounded` if they are given.
    """
    bins, n_units = grouped.bins, grouped.n_independent
    tested, of_square = grouped, distribution
    if rounded is not None:
        tested, of_square = rounded, distribution_of_groups(rounded)
    square_p_value = of_square.p_value(tested.bins.squared_residual)
    p_value = null_p_value_of_groups(tested, square_p_value)
    return _result(
        bins,
        distribution,
        level,
        (*distribution.interval(level, p_value), p_value),
        f"{n_units:.3g} {'rows' if pairs.row_groups is None else 'groups'}",
        n_units,
        n_pairs=pairs.q.size,
        n_groups=grouped.n_groups,
        n_effective_groups=grouped.n_effective_groups,
        plug_in=_plug_in(grouped.ordered, bins),
    )


def _plug_in(ordered: Ordered, bins: Bins) -> float:
    """Return :func:`calibration_error`, in automatic bins if `bins` are automatic."""
    return (AUTOMATIC.bins(ordered) if bins.joins else bins).error()


def _simulated(
    pairs: Pairs,
    binning: Binning,
    level: float,
    n_samples: int,
    generator: np.random.Generator,
) -> CalibrationErrorInterval:
    """Return the interval of Algorithm 2, which takes pairs as independent."""
    _check_total(pairs.total)
    bins = bins_of(pairs, binning.for_rows(pairs.row_total))
    distribution, n_units = distribution_of_bins(bins), pairs.total / pairs.n_classes
    estimate, *ends = simulation_interval(bins, level, n_samples, generator)
    result = _result(
        bins,
        distribution,
        level,
        (*ends, null_p_value(bins, distribution.p_value(bins.squared_residual))),
        f"{n_units:.3g} rows",
        n_units,
        n_pairs=pairs.q.size,
        n_groups=None,
        n_effective_groups=None,
        method="simulation",
        n_samples=n_samples,
        plug_in=bins.error(),
    )
    return replace(result, estimate=estimate)


def _look_inside(
    ordered: Ordered,
    bins: Bins,
    distribution: SquareDistribution,
    high: float,
    level: float,
) -> tuple[float, tuple[int, float] | None]:
    """Return the upper end that narrower bins allow, and what `bins` surely hide.

    The latter is the size of narrower bins and their estimate, or None.
    """
    assert bins.bin_size is not None
    hidden, n_bins = None, bins.weight.size
    least = max(high**2, _HIDDEN_SHARE * distribution.square)
    for size in narrow_sizes(bins.bin_size):
        narrow = Binning(size, None, "interval").bins(ordered)
        if narrow.weight.size <= n_bins:
            continue
        n_bins = narrow.weight.size
        found = distribution_of_bins(narrow)
        high = found.raised_end(high, level)
        if found.excess_over(distribution) > _SURELY_HIDDEN and found.square > least:
            hidden = size, found.estimate
    return high, hidden


def check_two(binning: Binning) -> None:
    """Raise an error if bins of the given size would contain a single pair."""
    if binning.bin_size != "auto":
        check_integer(binning.bin_size, minimum=2, name="bin_size")


def _check_total(total: float) -> None:
    if total < 2:
        raise ParameterError(
            None,
            "needs at least two pairs. Got 'y_true' and 'y_proba' with a "
            f"total weight of {total:g}.",
        )


def _result(
    bins: Bins,
    distribution: SquareDistribution,
    level: float,
    ends: Sequence[float],
    units: str,
    n_units: float,
    *,
    method: str = "score",
    n_samples: int | None = None,
    **others: Any,
) -> CalibrationErrorInterval:
    """Return the interval with these ends and this p-value, in this order.

    `units` are the `n_units` independent rows or groups as text.
    """
    assert bins.bin_size is not None
    low, high, p_value = ends
    too_few, p_value = "", max(p_value, _TINY)
    # Rounding may make a total weight of 5 slightly smaller.
    if n_units < LEAST_UNITS * (1 - 1e-9):
        too_few, p_value, low = units, np.nan, 0.0
    return CalibrationErrorInterval(
        estimate=distribution.estimate,
        low=low,
        high=high,
        pvalue=p_value,
        method=method,
        confidence_level=level,
        bin_size=bins.bin_size,
        n_bins=bins.weight.size,
        n_samples=n_samples,
        _too_few=too_few,
        _carrying=_carrying(distribution),
        _sums=(float(bins.q.sum()), float(bins.y.sum()), float(bins.weight.sum())),
        **others,
    )


def _carrying(distribution: SquareDistribution) -> float:
    """Return the number of rows that carry the error, or infinity if it is not small.

    If all probabilities are 0 or 1, every wrong row has the same error.
    """
    if distribution.levels is None or distribution.null_deviation <= 0:
        return np.inf
    n = distribution.levels.carrying
    return n if n < min(LEAST_CARRYING, distribution.n_units / 20) else np.inf


def warn_of_few(found: Iterable[tuple[Any, CalibrationErrorInterval | None]]) -> None:
    """Warn of too few rows or groups, of unequal groups, and of errors inside bins.

    `found` has the name of each model or part of the data (or None), and its interval.
    A warning names the interval with the fewest rows or groups.
    """
    intervals = [(k, each) for k, each in found if each is not None]
    untested = [(k, each) for k, each in intervals if each._too_few]
    if untested:
        name, least = min(untested, key=lambda x: float(x[1]._too_few.split()[0]))
        warn(
            f"There is no test of perfect calibration{_of(name, len(untested))}: "
            f"{least._why_no_test}. The p-value is NaN, and the interval contains 0."
        )
    carrying = [(each._carrying, k) for k, each in intervals if each._carrying < np.inf]
    if carrying:
        n, name = min(carrying, key=lambda x: x[0])
        warn(
            f"Only {n:.1f} rows carry the error of the interval"
            f"{_of(name, len(carrying))}, (sum d^2)^2 / sum d^4 for errors d. Another "
            "sample may contain more of them, and the upper end may be too low. Use "
            "more rows, for example ten times as many."
        )
    sizes = [(each.n_effective_groups, k) for k, each in intervals]
    few = [(n, k) for n, k in sizes if n is not None and n < LEAST_GROUPS]
    if few:
        n_effective, name = min(few, key=lambda x: x[0])
        warn(
            f"The interval{_of(name, len(few))} is based on {n_effective:.1f} "
            "effective groups, (sum n)^2 / sum n^2 for groups of n rows. With fewer "
            f"than {LEAST_GROUPS} effective groups, its coverage is below the "
            "confidence level. Use more groups, or groups of more equal sizes."
        )
    hidden = [(each, k) for k, each in intervals if each._hidden is not None]
    if hidden:
        result, name = hidden[0]
        size, estimate = result._hidden or (0, 0.0)
        warn(
            f"The errors{_of(name, len(hidden))} change inside the bins: the estimate "
            f"is {result.estimate:.4f} in bins of {result.bin_size} pairs and "
            f"{estimate:.4f} in bins of {size}. Errors of opposite sign cancel in wide "
            "bins, so the estimate and the lower end are too low. Pass "
            f"bin_size={size} to compute them in narrow bins. If rows repeat each "
            "other, pass `groups`."
        )


def _of(name: Any, n: int) -> str:
    """Return the name of one of `n` intervals as text."""
    if name is None:
        return ""
    return f" of {name!r:.60}" + (f" (and {n - 1} more)" if n > 1 else "")
