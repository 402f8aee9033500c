"""Several samples per question: pass@k, pass^k and components of the variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result
from .._validation import (
    as_floats,
    as_groups,
    check_bool,
    check_fraction,
    check_integer,
    raise_where,
)
from ._accuracy import AccuracyInterval, accuracy_interval, as_scores

# The prior of the Beta-binomial model: a uniform mean, and a concentration whose
# logarithm is uniform between these limits.
_CONCENTRATIONS = (0.05, 3000.0)
_N_MEANS, _N_CONCENTRATIONS = 160, 60

# More samples of a question need minutes.
_MOST_SAMPLES = 100_000

# If the posterior probability of a value below the mean estimate, or above it, is
# smaller than this, the model is considered not to fit.
_MISFIT = 0.1


@dataclass(frozen=True, repr=False)
class PassAtK(Result):
    """Probability that at least one of k samples is right, or that all k are right.

    Returned by :func:`pass_at_k`.

    Attributes
    ----------
    estimate : float
        Mean over questions of the unbiased estimate for each question.
    low, high : float
        Ends of the interval.
    standard_error : float
        Standard error of the estimate. NaN for a single question.
    k : int
        Number of samples, the k in pass@k.
    all_of : bool
        Whether all k samples must be right (pass^k).
    n_questions : int
        Number of questions.
    n_samples : int
        Smallest number of samples of a question.
    method : str
        'Beta-binomial', 'Beta-binomial and Wilson', 'Wilson' or 'mid-P'.
    confidence_level : float
        Confidence level of the interval.

    See Also
    --------
    pass_at_k : Compute the estimate.

    Examples
    --------
    >>> from skcalib.rates import pass_at_k
    >>> result = pass_at_k([4, 0, 2, 1], 4, k=2)
    >>> round(result.estimate, 4)
    0.5833
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    k: int
    all_of: bool
    n_questions: int
    n_samples: int
    method: str
    confidence_level: float

    def _in_words(self) -> Sequence[str]:
        what = "all are right" if self.all_of else "at least one is right"
        return (
            f"If a question is answered {self.k} times, {what} with probability "
            f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f}).",
        )

    def __repr__(self) -> str:
        name = f"pass{'^' if self.all_of else '@'}{self.k}"
        interval = f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"
        names = "n_questions n_samples method confidence_level:g"
        return self._summary(f"{name} {interval}", names)


@dataclass(frozen=True, repr=False)
class SampleVariance(Result):
    """Variance of a mean score, with its components due to questions and samples.

    Returned by :func:`sample_variance`.

    Attributes
    ----------
    standard_error : float
        Standard error of the mean score.
    between : float
        Variance of the true mean scores of the questions.
    within : float
        Variance of the scores of the samples of one question, averaged over questions.
    share_of_samples : float
        Fraction of the variance of the mean that more samples would remove.
    standard_error_more_samples : float
        Standard error with twice as many samples per question.
    standard_error_more_questions : float
        Standard error with twice as many questions and the same number of samples of
        each.
    n_questions : int
        Number of questions.
    n_samples : float
        Mean number of samples per question.

    See Also
    --------
    sample_variance : Compute the components of the variance.

    Examples
    --------
    >>> from skcalib.experimental import sample_variance
    >>> result = sample_variance([1, 1, 0, 1, 0, 0], question=[0, 0, 1, 1, 2, 2])
    >>> round(result.share_of_samples, 2)
    0.33
    """

    standard_error: float
    between: float
    within: float
    share_of_samples: float
    standard_error_more_samples: float
    standard_error_more_questions: float
    n_questions: int
    n_samples: float

    @property
    def advice(self) -> str:
        """Advice on how to reduce the standard error."""
        percent = f"{100 * self.share_of_samples:.0f}%"
        to = (
            f"twice the samples give {self.standard_error_more_samples:.4f}, twice the "
            f"questions {self.standard_error_more_questions:.4f}"
        )
        if self.share_of_samples < 0.1:
            what = "More samples hardly reduce the standard error: use more questions"
        elif self.share_of_samples < 0.9:
            what = "Both more samples and more questions help, questions more"
        else:
            what = "More samples help as much as more questions"
        return (
            f"{what}. {percent} of the variance comes from the samples (standard "
            f"error {self.standard_error:.4f}; {to})."
        )

    def _in_words(self) -> Sequence[str]:
        return (self.advice,)

    def __repr__(self) -> str:
        names = "standard_error:.4f share_of_samples:.2f n_questions n_samples:g"
        return self._summary("", names)


@public
def pass_at_k(
    correct: ArrayLike,
    n_samples: ArrayLike,
    *,
    k: int,
    all_of: bool = False,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> PassAtK:
    """Estimate the probability that at least one, or all, of k samples are right.

    Parameters
    ----------
    correct : array-like of shape (n_questions,), int
        Number of right samples of each question.
    n_samples : int or array-like of shape (n_questions,), int
        Number of samples of each question.
    k : int
        Number of samples, the k in pass@k. No question may have fewer samples.
    all_of : bool, default=False
        If True, all k samples must be right (pass^k). If False, at least one (pass@k).
    groups : array-like of shape (n_questions,), default=None
        Group of each question. Questions of one group may depend on each other.
    confidence_level : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    result : PassAtK
        Estimate with its confidence interval.

    Raises
    ------
    ValueError
        If k is larger than the number of samples of a question, if there are more right
        samples than samples, or if a parameter is not as described.

    Notes
    -----
    For a question with n samples, of which c are right, the unbiased estimate is 1 -
    C(n - c, k) / C(n, k) for pass@k [1]_, and C(c, k) / C(n, k) for pass^k.

    The interval is the posterior interval of a Beta-binomial model. The success
    probabilities of the questions have a Beta distribution, with a uniform prior on the
    mean and a log-uniform prior on the concentration. The model is considered not to
    fit if the mean of the questions' estimates is outside the central 80% of the
    posterior. The interval is then extended to include the interval of
    :func:`accuracy_interval` for these estimates. With groups, only the latter interval
    is used. With a single sample of each question, the mid-P interval is used.

    With 5 to 10 questions, the interval is too short if a few questions are never
    answered correctly and the others nearly always: if these are 5% of the questions,
    a 95% interval of pass^4 from 8 samples of 10 questions covers the true value in
    about 89% of all samples.

    References
    ----------
    .. [1] M. Chen et al. (2021). "Evaluating large language models trained on code".
       arXiv 2107.03374.

    Examples
    --------
    >>> from skcalib.rates import pass_at_k
    >>> pass_at_k([4, 0, 2, 1, 4, 3, 0, 4, 4, 1], 4, k=2)
    PassAtK(pass@2 0.6833 [0.43..., 0.87...], n_questions=10, n_samples=4, ...)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    all_of = check_bool(all_of, name="all_of")
    k = check_integer(k, minimum=1, name="k")
    right, number = _check_counts(correct, n_samples)
    scores = question_pass_at_k(right, number, k, all_of=all_of)
    is_modelled = groups is None and int(number.max()) > 1
    codes = np.arange(scores.size) if is_modelled else groups
    plain = accuracy_interval(scores, groups=codes, confidence_level=level)
    low, high, method = plain.low, plain.high, plain.method
    if is_modelled:
        low, high, method = _interval(right, number, k, all_of, plain)
    error = np.nan
    if scores.size > 1:
        error = float(scores.std(ddof=1) / np.sqrt(scores.size))
    return PassAtK(
        estimate=plain.estimate,
        low=low,
        high=high,
        standard_error=error,
        k=k,
        all_of=all_of,
        n_questions=scores.size,
        n_samples=int(number.min()),
        method=method,
        confidence_level=level,
    )


def question_pass_at_k(
    right: np.ndarray, number: np.ndarray, k: int, *, all_of: bool
) -> np.ndarray:
    """Return the unbiased estimate of each question."""
    short = number < k
    if short.any():
        row = int(short.argmax())
        raise ParameterError(
            "k",
            f"must be at most the number of samples of each question. Got {k} and "
            f"{int(number[row])} samples of question {row}. {int(short.sum())} of "
            f"{number.size} questions have fewer than {k} samples. Use a smaller k or "
            "draw more samples.",
        )
    chosen = right if all_of else number - right
    # C(m, k) / C(n, k) is the product of (m - i) / (n - i), and 0 if m < k
    share = np.ones(number.size)
    for i in range(k):
        share *= np.clip((chosen - i) / (number - i), 0, None)
    return share if all_of else 1 - share


@public
def sample_variance(score: ArrayLike, *, question: ArrayLike) -> SampleVariance:
    """Split the variance of a mean score into components of questions and samples.

    Parameters
    ----------
    score : array-like of shape (n_rows,)
        Score of each sample, in [0, 1].
    question : array-like of shape (n_rows,)
        Question of each sample.

    Returns
    -------
    variance : SampleVariance
        Components of the variance.

    Raises
    ------
    ValueError
        If a score is not in [0, 1], if there are fewer than two questions, or if no
        question has two samples.

    Notes
    -----
    The score is the mean of the question means. The variance of the score is estimated
    by the sample variance of the question means, divided by the number of questions.
    The component due to samples is estimated from the mean variance within questions,
    divided by the number of samples per question. The rest is the component due to the
    choice of questions.

    Examples
    --------
    >>> from skcalib.experimental import sample_variance
    >>> score = [1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> question = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> sample_variance(score, question=question)
    SampleVariance(standard_error=0.2357, share_of_samples=0.12, n_questions=4, ...)
    """
    values = as_scores(score, name="score")
    codes = as_groups(question, values.size, name="question")
    if codes is None:
        raise ParameterTypeError("question", "must name the question of each score.")
    number = np.bincount(codes)
    n = number.size
    if n < 2 or not (number > 1).any():
        raise ParameterError(
            "question",
            "must name at least two questions, one of which has two samples. Got "
            f"{n} questions and at most {number.max(initial=0)} samples.",
        )
    means = np.bincount(codes, values) / number
    squares = np.bincount(codes, (values - means[codes]) ** 2)
    several = number > 1
    within = float((squares[several] / (number[several] - 1)).mean())
    of_samples = float((within / number).mean())
    spread = float(means.var(ddof=1))
    # The variance of the question means contains the noise of their samples.
    between = max(0.0, spread - of_samples)
    total = max(spread, of_samples)
    return SampleVariance(
        standard_error=float(np.sqrt(total / n)),
        between=between,
        within=within,
        share_of_samples=of_samples / total if total > 0 else 0.0,
        standard_error_more_samples=float(np.sqrt((between + of_samples / 2) / n)),
        standard_error_more_questions=float(np.sqrt(total / (2 * n))),
        n_questions=n,
        n_samples=float(number.mean()),
    )


def _check_counts(correct: Any, n_samples: Any) -> tuple[np.ndarray, np.ndarray]:
    right = as_floats(correct, name="correct")
    if right.ndim != 1 or right.size == 0:
        raise ParameterError(
            "correct",
            f"must have shape (n_questions,) with at least one. Got {right.shape}.",
        )
    number = as_floats(n_samples, name="n_samples")
    if number.shape not in ((), right.shape):
        raise ParameterError(
            "n_samples",
            f"must be one number, or one per question. Got {number.shape} for "
            f"{right.size} questions.",
        )
    number = np.broadcast_to(number, right.shape)
    for name, values in (("correct", right), ("n_samples", number)):
        bad = ~np.isfinite(values) | (values != np.rint(values))
        bad |= np.abs(values) > _MOST_SAMPLES
        expected = f"contain integers of at most {_MOST_SAMPLES:,}"
        raise_where(bad, values, expected, name=name)
    bad = (right < 0) | (right > number)
    if bad.any():
        row = int(bad.argmax())
        raise ParameterError(
            "correct",
            f"must be between 0 and the number of samples. Got {int(right[row])} of "
            f"{int(number[row])} in row {row}.",
        )
    return right.astype(np.int64), number.astype(np.int64)


def _interval(
    right: np.ndarray, number: np.ndarray, k: int, all_of: bool, plain: AccuracyInterval
) -> tuple[float, float, str]:
    """Return the interval of the model, joined with `plain` if it does not fit."""
    value, cumulative = _posterior(right, number, k, all_of)
    mean, tail = plain.estimate, (1 - plain.confidence_level) / 2
    low, high = np.interp([tail, 1 - tail], cumulative, value).tolist()
    place = float(np.interp(mean, value, cumulative))
    if _MISFIT < place < 1 - _MISFIT:
        return min(low, mean), max(high, mean), "Beta-binomial"
    return min(low, plain.low), max(high, plain.high), "Beta-binomial and Wilson"


def _posterior(
    right: np.ndarray, number: np.ndarray, k: int, all_of: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return values of pass@k or pass^k and their cumulative posterior."""
    # finer near 0 and 1
    mean = np.sin(np.pi / 2 * (np.arange(_N_MEANS) + 0.5) / _N_MEANS) ** 2
    edges = np.sin(np.pi / 2 * np.arange(_N_MEANS + 1) / _N_MEANS) ** 2
    weight = np.log(np.diff(edges))
    concentration = np.geomspace(*_CONCENTRATIONS, _N_CONCENTRATIONS)
    a = mean[:, np.newaxis] * concentration
    b = (1 - mean)[:, np.newaxis] * concentration
    # The likelihood of c right of n samples is a ratio of rising factorials,
    # a^(c) b^(n - c) / (a + b)^(n), and a + b is the concentration.
    log_posterior = np.repeat(weight[:, np.newaxis], concentration.size, axis=1)
    log_posterior += _log_rising(a, right) + _log_rising(b, number - right)
    log_posterior -= _log_rising(concentration, number)
    posterior = np.exp(log_posterior - logsumexp(log_posterior))
    # E[p^k], or E[(1 - p)^k], of a Beta distribution
    once = np.array([k])
    moment = _log_rising(a if all_of else b, once) - _log_rising(concentration, once)
    moment = np.exp(moment)
    # posterior of the value: the cells of the grid, sorted by their values
    value = (moment if all_of else 1 - moment).ravel()
    order = np.argsort(value)
    return value[order], np.cumsum(posterior.ravel()[order])


def _log_rising(x: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the sum over counts c of log(x (x + 1) ... (x + c - 1))."""
    above = counts.size - np.cumsum(np.bincount(counts))  # counts above 0, 1, ...
    total = np.zeros(x.shape)
    for i, times in enumerate(above.tolist()):
        if times:
            total += times * np.log(x + i)
    return total
