"""The mean of scores in [0, 1] with a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from .._errors import ParameterError, public, warn
from .._results import Result
from .._validation import as_floats, as_groups, check_fraction, raise_where
from ..metrics._dependence import dependence
from ..metrics._frequency_intervals import brentq, frequency_interval


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
    >>> from skcalib.rates import accuracy_interval
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
        interval = f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"
        return self._summary(interval, "n n_groups method confidence_level:g")


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
        If all scores are in one group, so that the interval is [0, 1], or if one of
        ten or more groups has more than a tenth of the scores and few others have
        several: (sum size^2)^2 / sum size^4 is below 2.2. The interval may contain the
        mean less often than its level says: with 40% of 300 scores in one group, a mean
        of 0.8 and correlated scores, it did in 82% of samples, and with 15%, in 92%.
        Such intervals are below the mean.

    Notes
    -----
    For independent scores of 0 and 1, the binomial mid-P interval is used [1]_.
    Otherwise the scores of a group are treated as a common effect of the group plus
    independent deviations. Analysis of variance estimates both variances, for example
    b for the effects and w for the deviations, from all groups [2]_. The mean of n
    scores in groups of some sizes then has the variance

        (w n + b sum(size^2)) / n^2

    and n^2 / sum(size^2) - 1 degrees of freedom. A sum over squared residuals of the
    groups would be too small if the few large groups happen to be all right [3]_. Let z
    and t be the quantiles of the normal and of Student's t distribution. The interval
    is Wilson's interval [4]_ for

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
    .. [2] A. Donner and N. Klar (2000). "Design and analysis of cluster randomization
       trials in health research". Arnold.
    .. [3] J. N. K. Rao and A. J. Scott (1992). "A simple method for the analysis of
       clustered binary data". Biometrics 48(2).
    .. [4] E. B. Wilson (1927). "Probable inference, the law of succession, and
       statistical inference". Journal of the American Statistical Association 22.

    Examples
    --------
    All of 15 answers are right:

    >>> from skcalib.rates import accuracy_interval
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
    n_groups = None if codes is None else int(codes.max()) + 1
    if codes is None or n_groups == score.size:  # groups of one row are no groups
        found = independent_interval(score, level)
    else:
        found = grouped_interval(score, codes, level)
    low, high, n_effective, method = found
    if n_effective == 0:
        warn(
            "All scores are in one group, so the variation between groups cannot be "
            "estimated. The interval is [0, 1]."
        )
    warn_of_large_group(codes)
    return AccuracyInterval(
        estimate=float(score.mean()),
        low=low,
        high=high,
        n=score.size,
        n_groups=n_groups,
        n_effective=n_effective,
        method=method,
        confidence_level=level,
    )


# With a larger share of the scores in one of many groups, intervals cover too seldom if
# only one or two groups show how scores of a group depend on each other. With fewer
# groups, Student's quantile is large enough.
_LARGEST_SHARE, _FEWEST, _MANY_GROUPS = 0.1, 2.2, 10


def large_group(codes: np.ndarray | None) -> str | None:
    """Return what is wrong if only one or two groups have many of the scores."""
    if codes is None:
        return None
    size = np.bincount(codes).astype(np.float64)
    share = size.max() / codes.size
    n_shown = (size @ size) ** 2 / (size**2 @ size**2)
    if size.size < _MANY_GROUPS or share <= _LARGEST_SHARE or n_shown >= _FEWEST:
        return None
    return (
        f"{share:.0%} of the scores are in one of {size.size} groups. If they depend "
        "on each other, the interval of the mean may contain it less often than its "
        "level says. Use more groups, or groups of more equal sizes."
    )


def warn_of_large_group(codes: np.ndarray | None) -> None:
    """Warn if only one or two groups have many of the scores."""
    text = large_group(codes)
    if text is not None:
        warn(text)


def as_scores(values: Any, *, name: str, may_be_missing: bool = False) -> np.ndarray:
    """Return scores in [0, 1], or NaN if a score may be missing."""
    score = as_floats(values, name=name).astype(np.float64, copy=False)
    if score.ndim != 1 or score.size == 0:
        problem = f"must have shape (n,) with at least one score. Got {score.shape}."
        raise ParameterError(name, problem)
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


def is_binary(score: np.ndarray) -> bool:
    """Return whether all scores are 0 or 1."""
    return bool(((score == 0) | (score == 1)).all())


def independent_interval(
    score: np.ndarray, level: float
) -> tuple[float, float, float, str]:
    """Return the interval of a mean, the effective number of scores, and the method."""
    if is_binary(score):
        low, high = mid_p_interval(int(np.count_nonzero(score)), score.size, level)
        return low, high, float(score.size), "mid-P"
    return grouped_interval(score, np.arange(score.size), level)


def grouped_interval(
    score: np.ndarray, codes: np.ndarray, level: float
) -> tuple[float, float, float, str]:
    """Return the interval of a mean of scores in groups, with codes from 0.

    The other values are the effective number of scores, and the method.
    """
    mean = float(score.mean())
    unit = mean * (1 - mean) / score.size
    return *_wilson_of_groups(mean, score - mean, codes, unit, level), "Wilson"


def mid_p_interval(k: float, n: float, level: float) -> tuple[float, float]:
    """Return the mid-P interval of the frequency k / n; n may be fractional."""
    tail = (1 - level) / 2
    # The upper end is the lower end for the other answers.
    return _mid_p_end(k, n, tail), 1 - _mid_p_end(n - k, n, tail)


def _mid_p_end(k: float, n: float, tail: float) -> float:
    """Return p with P(X > k) + P(X = k) / 2 = tail for X ~ binomial(n, p)."""
    if k in (0, n):
        return (2 * tail) ** (1 / n) if k else 0.0

    # mid-P: the probability of k itself counts half
    def excess(p: float) -> float:
        return float(betainc(k, n - k + 1, p) + betainc(k + 1, n - k, p)) / 2 - tail

    # P(X >= k) is the tail at the first end, and P(X > k) at the second end.
    low, high = betaincinv(k, n - k + 1, tail), betaincinv(k + 1, n - k, tail)
    # The end of a fraction of an answer may be below the smallest float.
    if excess(low) >= 0:
        return 0.0
    return float(brentq(excess, low, high, xtol=max(1e-13 * low, 1e-200), maxiter=2000))


def _wilson_of_groups(
    mean: float, residual: np.ndarray, codes: np.ndarray, unit: float, level: float
) -> tuple[float, float, float]:
    """Return Wilson's interval for the effective number of answers, and this number.

    The residuals add up to 0. `unit` is the variance of the mean if all answers were
    independent. For a single group, the interval is [0, 1] and the number is 0.
    """
    n = residual.size
    odd = n * min(mean, 1 - mean)  # answers that differ from the rest
    n_effective = n / dependence(residual, codes, unit, odd, level)
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
