"""The mean of scores in [0, 1] with a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit
from scipy.stats import binom

from .._errors import ParameterError, public, warn
from .._results import Result
from .._validation import as_floats, as_groups, check_fraction, raise_where
from ..metrics._frequency_intervals import frequency_interval


@dataclass(frozen=True, repr=False)
class AccuracyInterval(Result):
    """Mean of scores with a confidence interval, from :func:`accuracy_interval`.

    Attributes
    ----------
    estimate : float
        Mean of the scores. With `questions`, mean of the question means.
    low, high : float
        Ends of the interval, in [0, 1].
    n : int
        Number of questions, or number of scores if `questions` is not given.
    n_groups : int or None
        Number of groups.
    n_effective : float
        Number of independent answers that would give an interval of this width.
    method : str
        'mid-P' (binomial) or 'Wilson' (with an effective number of answers).
    confidence_level : float
        Confidence level of the interval.

    See Also
    --------
    accuracy_interval : Compute the interval.

    Examples
    --------
    >>> from skcalib.evaluation import accuracy_interval
    >>> interval = accuracy_interval([1, 1, 0, 1, 1, 1, 0, 1])
    >>> interval.estimate, interval.n, interval.method
    (0.75, 8, 'mid-P')
    """

    estimate: float
    low: float
    high: float
    n: int
    n_groups: int | None
    n_effective: float
    method: str
    confidence_level: float

    def _in_words(self) -> Sequence[str]:
        level = f"{100 * self.confidence_level:g}%"
        return (
            f"The {level} interval of the mean is {self.low:.3f} to {self.high:.3f}.",
        )

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        return (
            f"AccuracyInterval({self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}], "
            f"n={self.n}{groups}, method={self.method!r}, "
            f"confidence_level={self.confidence_level:g})"
        )


@public
def accuracy_interval(
    y: ArrayLike,
    *,
    questions: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> AccuracyInterval:
    """Compute the mean of scores in [0, 1] with a confidence interval.

    Parameters
    ----------
    y : array-like of shape (n,)
        Scores in [0, 1], for example 1 for a right and 0 for a wrong answer.
    questions : array-like of shape (n,), default=None
        Question of each score, if questions were asked several times. The estimate is
        then the mean of the question means.
    groups : array-like of shape (n,), default=None
        Group of each score, such as the passage that several questions are about.
        Scores of one group may depend on each other. All scores of a question must be
        in one group.
        Groups of one score each have the same interval as no groups.
    confidence_level : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    interval : AccuracyInterval
        Mean of the scores with its confidence interval.

    Warns
    -----
    UserWarning
        If all scores are in one group. The interval is then [0, 1].

    Notes
    -----
    For independent scores of 0 and 1, the binomial mid-P interval is used [1]_.
    Otherwise the variance of the mean is estimated from the sums of the groups (the CR2
    sandwich estimate) and its degrees of freedom are computed by the rule of Bell and
    McCaffrey [2]_. Let z and t be the quantiles of the normal and of Student's t
    distribution. The interval is Wilson's interval [3]_ for

        n_effective = m (1 - m) / variance * (z / t)^2

    answers, where m is the mean. If nearly all answers are equal, the data contain
    little information about the dependence within groups. The design effect, which is
    the ratio of the variance to m (1 - m) / n, is therefore shrunk towards its value
    for fully dependent groups, sum(size^2) / n. The estimated ratio has a weight of n
    min(m, 1 - m), and the value for full dependence has a weight of 1/2.

    References
    ----------
    .. [1] A. Agresti and A. Gottard (2007). "Nonconservative exact small-sample
       inference for discrete data". Computational Statistics and Data Analysis 51.
    .. [2] R. M. Bell and D. F. McCaffrey (2002). "Bias reduction in standard errors for
       linear regression with multi-stage samples". Survey Methodology 28(2).
    .. [3] E. B. Wilson (1927). "Probable inference, the law of succession, and
       statistical inference". Journal of the American Statistical Association 22.

    Examples
    --------
    All of 15 answers are right:

    >>> from skcalib.evaluation import accuracy_interval
    >>> accuracy_interval([1] * 15)
    AccuracyInterval(1.0000 [0.8190, 1.0000], n=15, method='mid-P',
                     confidence_level=0.95)

    Twelve questions about three passages:

    >>> right = [1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1]
    >>> passage = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    >>> interval = accuracy_interval(right, groups=passage)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.09, 0.98)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    score = as_scores(y, name="y")
    codes = as_groups(groups, score.size)
    question = as_groups(questions, score.size, name="questions")
    if question is not None:
        codes = None if codes is None else groups_of_questions(question, codes)
        score = np.bincount(question, score) / np.bincount(question)
    mean, n = float(score.mean()), score.size
    n_groups = None if codes is None else int(codes.max()) + 1
    # groups of one row are no groups
    if codes is None or n_groups == n:
        codes = np.arange(n)
    if codes.max() == n - 1 and np.isin(score, (0, 1)).all():
        low, high = mid_p_interval(int(score.sum()), n, level)
        n_effective, method = float(n), "mid-P"
    else:
        unit = mean * (1 - mean) / n
        found = _wilson_of_groups(mean, score - mean, codes, unit, level)
        low, high, n_effective = found
        method = "Wilson"
        if n_effective == 0:
            warn(
                "All scores are in one group, so the variation between groups cannot "
                "be estimated. The interval is [0, 1].",
            )
    return AccuracyInterval(
        estimate=mean,
        low=low,
        high=high,
        n=n,
        n_groups=n_groups,
        n_effective=n_effective,
        method=method,
        confidence_level=level,
    )


def as_scores(values: Any, *, name: str, may_be_missing: bool = False) -> np.ndarray:
    """Return scores in [0, 1], or NaN if a score may be missing."""
    score = as_floats(values, name=name).astype(np.float64, copy=False)
    if score.ndim != 1 or score.size == 0:
        raise ParameterError(
            name, f"must have shape (n,) with at least one score. Got {score.shape}."
        )
    bad = ~((score >= 0) & (score <= 1))
    expected = "contain scores in [0, 1]"
    if may_be_missing:
        bad &= ~np.isnan(score)
        expected += ", or NaN if there is no score"
    raise_where(bad, score, expected, name=name)
    return score


def groups_of_questions(question: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the group of each question; all scores of a question must be in it."""
    group = codes[np.unique(question, return_index=True)[1]]
    split = codes != group[question]
    if split.any():
        raise ParameterError(
            "groups",
            "must put all scores of a question into one group. Got two groups for the "
            f"question of row {int(split.argmax())}.",
        )
    return group


def mid_p_interval(k: int, n: int, level: float) -> tuple[float, float]:
    """Return the mid-P interval of the frequency k / n."""
    tail = (1 - level) / 2

    # mid-P: the probability of k itself counts half
    def upper_tail(p: float, k: int) -> float:
        return float(binom.sf(k, n, p) + binom.pmf(k, n, p) / 2 - tail)

    low = 0.0 if k == 0 else brentq(upper_tail, 0, 1, args=(k,), xtol=1e-12)
    # The upper end is the lower end for the other answers.
    high = 1.0 if k == n else 1 - brentq(upper_tail, 0, 1, args=(n - k,), xtol=1e-12)
    return float(low), float(high)


def _wilson_of_groups(
    mean: float, residual: np.ndarray, codes: np.ndarray, unit: float, level: float
) -> tuple[float, float, float]:
    """Return Wilson's interval for the effective number of answers, and this number.

    `residual` has the mean 0. `unit` is the variance of the mean if all answers were
    independent. For a single group, the interval is [0, 1] and the number is 0.
    """
    odd = residual.size * min(mean, 1 - mean)  # answers that differ from the rest
    n_effective = residual.size / dependence(residual, codes, unit, odd, level)
    if n_effective == 0:
        return 0.0, 1.0, 0.0
    low, high = frequency_interval(mean, n_effective, level, "wilson")
    return float(low), float(high), float(n_effective)


def grouped_frequency_interval(
    y: np.ndarray, q: np.ndarray, codes: np.ndarray, level: float
) -> tuple[float, float]:
    """Return an interval of the frequency of y, given probabilities q, with groups.

    `codes` are group numbers from 0; some numbers may not occur. The variation
    between groups is estimated from y - q, so that differences predicted by the
    probabilities do not count as noise. The interval of a single group is [0, 1].
    """
    residual = (y - q) - (y - q).mean()
    unit = float(residual @ residual) / y.size**2
    return _wilson_of_groups(float(y.mean()), residual, codes, unit, level)[:2]


def dependence(
    residual: np.ndarray, codes: np.ndarray, unit: float, odd: float, level: float
) -> float:
    """Return the number of dependent answers that are equivalent to an independent one.

    It is inf for a single group. `unit` is the variance of the mean if all answers were
    independent. `odd` is the number of answers that differ from most others. If it is
    small, the data contain little information about the dependence: the design effect
    is shrunk towards that of fully dependent groups, which has the weight of half an
    answer.
    """
    sums, size = group_sums(residual, codes)
    if size.size == 1:
        return np.inf
    variance, freedom = sandwich(sums, size)
    ratio = odd * variance / unit if unit > 0 else 0.0
    ratio = (ratio + float(size @ size) / size.sum() / 2) / (odd + 0.5)
    # Student's quantile in place of the normal one; both round to 0 at smaller levels.
    half = (1 + max(level, 1e-9)) / 2
    return ratio * float(stdtrit(freedom, half) / ndtri(half)) ** 2


def group_sums(
    residual: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of the residuals of each group, and the sizes of the groups."""
    size = np.bincount(codes).astype(np.float64)
    seen = size > 0
    return np.bincount(codes, residual)[seen], size[seen]


def sandwich(residual: np.ndarray, size: np.ndarray) -> tuple[float, float]:
    """Return the CR2 variance of a mean and its degrees of freedom.

    `residual` contains the sum of the residuals of each group.
    """
    n = size.sum()
    # Residuals from the mean are too small; 1 - size / n is one minus the leverage of a
    # group on the mean.
    variance = float((residual**2 / (1 - size / n)).sum() / n**2)
    # The estimate is a quadratic form of independent scores. Its degrees of freedom are
    # the squared trace over the trace of the square.
    factor = 1 / (n**2 * (1 - size / n))
    own = factor * (size - size**2 / n)
    across = ((factor * size**2).sum() ** 2 - ((factor * size**2) ** 2).sum()) / n**2
    return variance, float(own.sum() ** 2 / ((own**2).sum() + across))
