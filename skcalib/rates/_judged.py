"""Accuracy and differences of systems, from the verdicts of a judge and a few labels.

Verdicts are post-stratified (see ``_strata.py``). Other scores of a judge enter PPI++,
a difference estimator, with the score interval of corrected counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from .._errors import ParameterError, parameter, public, warn
from .._results import Result
from .._validation import (
    as_floats,
    as_groups,
    check_choice,
    check_fraction,
    check_positive,
    check_same_length,
    raise_where,
)
from ..metrics._dependence import group_sums, sandwich
from ._accuracy import accuracy_interval, as_scores, groups_of_questions
from ._strata import (
    POPULATIONS,
    Labels,
    Strata,
    share_interval,
    strata_of,
    stratified_interval,
    without_verdicts,
)

METHODS = ("auto", "post-stratified", "PPI++")
LABELS = ("paired", "separate")

# Largest number of distinct scores of a judge that are treated as verdicts, and of
# distinct pairs of scores.
_MOST_VERDICTS, _MOST_PAIRS = 5, 16

# Standard errors by which the correlation with labels is below 0 if they are reversed.
_REVERSED = 3.0

# With fewer labels, lambda and the errors of the judge can hardly be estimated.
_ENOUGH = 5


class RateInterval(NamedTuple):
    """Rate with its confidence interval, in the results of :func:`judged_accuracy`.

    Attributes
    ----------
    estimate : float
        Estimate of the rate.
    low, high : float
        Ends of the confidence interval.

    See Also
    --------
    JudgedAccuracy : Accuracy from a judge and labels.

    Examples
    --------
    >>> from skcalib._result_classes import RateInterval
    >>> RateInterval(0.83, 0.71, 0.91).low
    0.71
    """

    estimate: float
    low: float
    high: float


# Shown by the documentation in place of "Alias for field number 0".
RateInterval.estimate.__doc__ = "The estimate."
RateInterval.low.__doc__ = "Lower end of the interval."
RateInterval.high.__doc__ = "Upper end of the interval."


# Attributes at the end of the reprs of both results.
_SHOWN = "n_items n_labelled method confidence_level:g"


@dataclass(frozen=True, repr=False)
class _Judged(Result):
    """Base of both results, which can plan the number of labels."""

    # Part of the squared standard error that more labels do not reduce.
    _of_items: float = field(default=0.0, kw_only=True, compare=False)

    @public
    def labels_for_width(self, width: float) -> float:
        """Compute the number of labels for an interval of a given width.

        Parameters
        ----------
        width : float
            Width of the interval, which is its upper end minus its lower end, in the
            unit of the scores.

        Returns
        -------
        n_labels : float
            Number of labels in all, including those of this result. The width of their
            interval is expected to be `width`. If even the labels of all items do not
            reach this width, or if all labels are in one group, the number is inf.

        Raises
        ------
        ValueError
            If `width` is not a positive finite number.

        Notes
        -----
        The variance of the estimate with n labels is

            V(n) = A / n + B,

        as in two-phase sampling [1]_. A is the variance of the labels that the judge
        does not explain, with the design effect of groups. For 'superpopulation', B is
        the variance due to the sampling of the items, which more labels do not reduce.
        For 'items', B is negative, since V is 0 if all items are labelled. Both are
        estimated from the labels of this result, and the width is proportional to the
        root of V. With w = high - low, the number is

            n = A / ((width / w)^2 V(n_labelled) - B).

        The new labels are assumed to be drawn like those of this result: with the same
        shares of the verdicts, and as many from each group. The number is an estimate.
        It is uncertain if the labels show few errors of the judge.

        References
        ----------
        .. [1] W. G. Cochran (1977). "Sampling Techniques", 3rd edition, section 12.2.
           Wiley.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.rates import judged_accuracy
        >>> judge = np.tile([1, 1, 0, 1, 0], 200)
        >>> human = np.full(1000, np.nan)
        >>> human[:50] = np.tile([1, 1, 0, 1, 0, 1, 0, 0, 1, 0], 5)
        >>> result = judged_accuracy(judge, human)
        >>> round(result.high - result.low, 3)
        0.173
        >>> result.labels_for_width(0.1)
        181.0
        """
        assert isinstance(self, (JudgedAccuracy, JudgedDifference))
        wanted = check_positive(width, name="width")
        squared, now = self.standard_error**2, self.high - self.low
        if now == 0:  # all items are labelled
            return float(self.n_labelled)
        left = squared * (wanted / now) ** 2 - self._of_items
        needed = self.n_labelled * (squared - self._of_items)
        needed = needed / left if left > 0 else np.inf
        # not one more label because of rounding
        number = max(np.ceil(needed * (1 - 1e-9)), 2.0)
        return float(number) if number <= self.n_items else np.inf


@dataclass(frozen=True, repr=False)
class JudgedAccuracy(_Judged):
    """Accuracy of a system, estimated by :func:`judged_accuracy`.

    Attributes
    ----------
    estimate : float
        Estimate of the mean score that people would give.
    low, high : float
        Ends of the confidence interval, in [0, 1].
    standard_error : float
        Standard error of the estimate. For method 'post-stratified', it is the standard
        deviation of the posterior distribution of the accuracy.
    uncorrected : float
        Mean score given by the judge.
    labels_only : RateInterval
        Mean score of the labelled items, with the interval of
        :func:`accuracy_interval`. It is only representative of all items if the
        labelled items were drawn without regard to the judge.
    equivalent_labels : float
        Number of labels that would give an interval of this width without the judge.
        Labels are counted as in `n_labelled`, also if questions have several samples.
    sensitivity : RateInterval or None
        Share of the right answers (according to people) that the judge also considers
        right. None if scores are not 0 and 1, or if the judge gives only one verdict.
    specificity : RateInterval or None
        Share of the wrong answers (according to people) that the judge also considers
        wrong. None in the same cases as `sensitivity`.
    n_items, n_labelled : int
        Number of items and number of labelled items.
    n_groups : int or None
        Number of groups with labels. None if `groups` is not given.
    population : str
        Population that the interval describes, 'superpopulation' or 'items'.
    method : str
        Method of the estimate, 'post-stratified' or 'PPI++'.
    confidence_level : float
        Confidence level of the intervals.

    See Also
    --------
    judged_accuracy : Compute the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.rates import judged_accuracy
    >>> judge = np.tile([1, 1, 0, 1, 0], 40)
    >>> human = np.full(200, np.nan)
    >>> human[:20] = np.tile([1, 1, 0, 1, 0, 1, 0, 0, 1, 0], 2)
    >>> result = judged_accuracy(judge, human)
    >>> round(result.estimate, 3), round(result.uncorrected, 3)
    (0.5, 0.6)
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    uncorrected: float
    labels_only: RateInterval
    equivalent_labels: float
    sensitivity: RateInterval | None
    specificity: RateInterval | None
    n_items: int
    n_labelled: int
    n_groups: int | None
    population: str
    method: str
    confidence_level: float

    def _in_words(self) -> Sequence[str]:
        level = f"{100 * self.confidence_level:g}%"
        of = "these items" if self.population == "items" else "items like these"
        return (
            f"According to people, {of} have a mean score of {self.estimate:.3f} "
            f"({level} interval {self.low:.3f} to {self.high:.3f}). According to the "
            f"judge, it is {self.uncorrected:.3f}.",
            f"With the judge, {self.n_labelled} labels are equivalent to "
            f"{self.equivalent_labels:.0f} labels without the judge.",
        )

    def __repr__(self) -> str:
        interval = f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"
        return self._summary(interval, f"uncorrected:.4f {_SHOWN}")


@public
def judged_accuracy(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    questions: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    inclusion_probability: ArrayLike | None = None,
    population: str = "superpopulation",
    method: str = "auto",
    confidence_level: float = 0.95,
) -> JudgedAccuracy:
    """Estimate an accuracy from the verdicts of a judge and a few labelled items.

    Parameters
    ----------
    judge : array-like of shape (n_items,)
        Score that the judge gives to each item (its verdict), in [0, 1], or NaN if the
        judge gives no score. Items without a score are treated as a separate verdict.
    human : array-like of shape (n_items,)
        Score that a person gave to each item (its label), in [0, 1], or NaN if the item
        is not labelled. The labelled items must have been drawn at random, either from
        all items or separately from the items with each verdict.
    questions : array-like of shape (n_items,), default=None
        Question of each item, if questions were answered several times. If given, all
        questions have the same weight.
    groups : array-like of shape (n_items,), default=None
        Group of each item, such as a document. Items of the same group may be
        dependent. If whole units, such as documents, were drawn to be labelled, pass
        these units.
    inclusion_probability : array-like of shape (n_items,), default=None
        Probability, up to a constant factor, with which each item was drawn to be
        labelled. It is only needed if it differs between items with the same verdict.
        Entries of items without a label are not used.
    population : {'superpopulation', 'items'}, default='superpopulation'
        Population that the interval describes. 'superpopulation' is the accuracy on
        items drawn from the same population, as in :func:`accuracy_interval`. 'items'
        is the mean score that people would give to these items if they labelled all of
        them.
    method : {'auto', 'post-stratified', 'PPI++'}, default='auto'
        'post-stratified' estimates the mean label of each verdict. 'PPI++' adds a
        correction, estimated from the labelled items, to the mean score of the judge
        (see Notes). 'auto' uses 'post-stratified' if the judge gives at most five
        different scores and people give at most one score other than 0 and 1, and
        'PPI++' otherwise.
    confidence_level : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    result : JudgedAccuracy
        Estimate with its confidence interval.

    Raises
    ------
    ValueError
        If a score is not in [0, 1], if fewer than two items have a label, or if a
        parameter is not as described.

    Warns
    -----
    UserWarning
        If none of the items with a given verdict is labelled, if all labels are in one
        group, if 'PPI++' has fewer than five labels, or if the labels are significantly
        lower where the judge's scores are higher.

    See Also
    --------
    judged_difference : Compare two systems.
    accuracy_interval : Confidence interval from labels alone.
    skcalib.counts.corrected_count : Corrected rates by period.

    Notes
    -----
    Let w be the share of the items that the judge considers right, and let p1 and p0 be
    the mean labels of the items that the judge considers right and wrong. The accuracy
    is

        theta = w p1 + (1 - w) p0

    This is post-stratification [1]_. The labels of each verdict are binomial. With
    Jeffreys's prior, p1 and p0 have independent posteriors Beta(k + 1/2, n - k + 1/2),
    where k is the number of right answers among the n labels of the verdict. If labels
    have three possible values, the shares of the values have a Dirichlet posterior. The
    parameters of its prior sum to one, so the prior has the weight of one label. For
    'superpopulation', w is also random. The interval accounts for this with an
    additional independent error that has a shifted Beta distribution. To compute the
    variance of this error, each item is assigned the value p1 or p0 of its verdict. The
    variance is the estimated variance of the mean of these values. For 'items', the
    labels of the labelled items are known, and only the mean of the unlabelled items is
    random. The ends of the interval are quantiles of the sum of these random terms,
    computed by numerical convolution. Because labels are averaged within verdicts, the
    number of labelled items may differ between verdicts in any way.

    With groups, or with unequal weights within a verdict, n and k are divided by deff *
    (t / z)^2. The design effect deff is computed from the sums of the linearised
    residuals over groups. t is a quantile of Student's distribution, with the degrees
    of freedom of :func:`accuracy_interval`, and z is the same quantile of the normal
    distribution.

    'PPI++' [2]_ is a difference estimator,

        theta = lambda mean(judge, unlabelled) + mean(human - lambda judge, labelled),

    with the lambda in [0, 1] that minimises the estimated variance. Student's interval
    of this estimate is too short if few labels show errors of the judge. The score
    interval of :func:`~skcalib.counts.corrected_count` is used instead, with n - 2
    degrees of freedom. It allows for skewed errors, and for errors of at most 1 that
    the labels missed.

    References
    ----------
    .. [1] D. Holt and T. M. F. Smith (1979). "Post stratification". Journal of the
       Royal Statistical Society A 142(1).
    .. [2] A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). "PPI++: Efficient
       prediction-powered inference". arXiv 2311.01453.

    Examples
    --------
    A judge considers 74% of 2,000 answers right. People have graded 100 of these
    answers:

    >>> import numpy as np
    >>> from skcalib.rates import judged_accuracy
    >>> rng = np.random.default_rng(2)
    >>> right = rng.random(2000) < 0.6
    >>> judge = np.where(right, rng.random(2000) < 0.95, rng.random(2000) < 0.4)
    >>> human = np.full(2000, np.nan)
    >>> human[:100] = right[:100]
    >>> judged_accuracy(judge, human)
    JudgedAccuracy(0.6410 [0.5681, 0.7054], uncorrected=0.7370, n_items=2000,
                   n_labelled=100, method='post-stratified', confidence_level=0.95)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    check_choice(population, POPULATIONS, name="population")
    check_choice(method, METHODS, name="method")
    f, y = _scores(judge, name="judge"), _scores(human, name="human")
    check_same_length(judge=f, human=y)
    has, judged = ~np.isnan(y), ~np.isnan(f)
    _check_two(has, name="human")
    _check_two(judged, name="judge")
    _warn_if_reversed(f, y)
    inner = as_groups(groups, y.size)
    question = as_groups(questions, y.size, name="questions")
    weight, inner = _of_questions(question, inner, y.size)
    expansion = _expansions(inclusion_probability, has)
    values = _values(y, 0.0, 1.0)
    found_verdicts = None
    if method == "post-stratified" or (method == "auto" and len(values) <= 3):
        most = _MOST_VERDICTS if method == "auto" else y.size
        found_verdicts = _verdict_codes(f, most=most)
    rates: tuple[RateInterval | None, RateInterval | None] = (None, None)
    if found_verdicts is None:
        method = "PPI++"
        _check_for_regression(judged, inclusion_probability, name="judge")
        means = f, y, inner
        if question is not None:
            means = _question_means(f, y, question, inner)
        found = _by_regression(*means, population=population, level=level)
        # Labels are counted as in n_labelled, and not by question.
        per_question = has.sum() / np.isfinite(means[1]).sum()
        worth = found.equivalent_labels * float(per_question)
        found = found._replace(equivalent_labels=worth)
    else:
        method, (codes, verdicts) = "post-stratified", found_verdicts
        if len(values) > 3:
            raise ParameterError(
                "human",
                "must have at most one score other than 0 and 1 for "
                f"method='post-stratified'. Got {values!r:.60}. Use method='PPI++'.",
            )
        labels = Labels(codes, y, values, weight, expansion, inner)
        strata = strata_of(labels, level)
        found = _post_stratified(labels, strata, verdicts, population, level)
        rates = _error_rates(strata, verdicts, level)
    return JudgedAccuracy(
        **found.numbers(),
        uncorrected=_mean(f, None if question is None else weight),
        labels_only=_labels_only(y, question, inner, level),
        sensitivity=rates[0],
        specificity=rates[1],
        n_items=y.size,
        n_labelled=int(has.sum()),
        n_groups=None if inner is None else np.unique(inner[has]).size,
        population=population,
        method=method,
        confidence_level=level,
    )


def _check_for_regression(
    judged: np.ndarray, inclusion_probability: Any, *, name: str, bounds: str = ""
) -> None:
    """Raise unless the judge scored each item, and items had equal chances."""
    if inclusion_probability is not None:
        raise ParameterError(
            "inclusion_probability",
            "must be None for PPI++. Use skcalib.counts.corrected_count with "
            f"estimand='mean'{bounds}.",
        )
    if not judged.all():
        raise ParameterError(
            name,
            "must contain a score for each item for PPI++. Got NaN in row "
            f"{int(judged.argmin())}.",
        )


def _of_questions(
    question: np.ndarray | None, groups: np.ndarray | None, n: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return weights, equal for all questions, and the groups of dependent items."""
    if question is None:
        return np.broadcast_to(1 / n, n), groups
    number = np.bincount(question)
    if groups is not None:
        groups_of_questions(question, groups)
    elif number.max() > 1:  # samples of a question are dependent
        groups = question
    return 1 / (number.size * number[question]), groups


def _question_means(
    f: np.ndarray, y: np.ndarray, question: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return mean scores of questions, and the groups of the questions.

    All samples of a question must have labels, or none of them.
    """
    number = np.bincount(question)
    labelled = np.bincount(question, ~np.isnan(y))
    partly = (labelled > 0) & (labelled < number)
    if partly.any():
        row = int(partly[question].argmax())
        raise ParameterError(
            "human",
            "must have labels of all samples of a question, or of none, for "
            f"method='PPI++'. Got some of the samples of the question of row {row}.",
        )
    mean_f, mean_y = (np.bincount(question, each) / number for each in (f, y))
    # Questions are independent unless other groups were given.
    if groups is None or groups is question:
        return mean_f, mean_y, None
    return mean_f, mean_y, groups_of_questions(question, groups)


def _labels_only(
    y: np.ndarray, question: np.ndarray | None, groups: np.ndarray | None, level: float
) -> RateInterval:
    """Return the interval of the labels without the judge."""
    has = ~np.isnan(y)
    # The warning about a single group was already given.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        found = accuracy_interval(
            y[has],
            questions=None if question is None else question[has],
            groups=None if groups is None else groups[has],
            confidence_level=level,
        )
    return RateInterval(found.estimate, found.low, found.high)


@dataclass(frozen=True, repr=False)
class JudgedDifference(_Judged):
    """Difference between two systems, estimated by :func:`judged_difference`.

    Attributes
    ----------
    estimate : float
        Estimate of the mean score that people would give to the second system, minus
        the mean score that they would give to the first system.
    low, high : float
        Ends of the confidence interval, in [-1, 1].
    standard_error : float
        Standard error of the estimate. For method 'post-stratified', it is the standard
        deviation of the posterior distribution of the difference.
    uncorrected : float
        Difference between the mean scores given by the judge.
    equivalent_labels : float
        Number of labelled questions that would give an interval of this width without
        the judge.
    n_items, n_labelled : int
        Number of questions, and number of questions with labels of both answers. If
        `labels` is 'separate', number of questions with a label of one answer.
    n_groups : int or None
        Number of groups with labels. None if `groups` is not given.
    population : str
        Population that the interval describes, 'superpopulation' or 'items'.
    method : str
        Method of the estimate, 'post-stratified' or 'PPI++'.
    labels : str
        Whether questions have labels of both answers, 'paired' or 'separate'.
    confidence_level : float
        Confidence level of the interval.

    See Also
    --------
    judged_difference : Compute the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.rates import judged_difference
    >>> judge_a, judge_b = np.tile([1, 1, 0, 0], 50), np.tile([1, 1, 1, 0], 50)
    >>> human_a, human_b = np.full((2, 200), np.nan)
    >>> human_a[:40], human_b[:40] = judge_a[:40], np.tile([1, 1, 0, 0, 1, 1, 1, 0], 5)
    >>> result = judged_difference(judge_a, judge_b, human_a, human_b)
    >>> round(result.estimate, 3), result.uncorrected
    (0.125, 0.25)
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    uncorrected: float
    equivalent_labels: float
    n_items: int
    n_labelled: int
    n_groups: int | None
    population: str
    method: str
    labels: str
    confidence_level: float

    def _in_words(self) -> Sequence[str]:
        level = f"{100 * self.confidence_level:g}%"
        return (
            "According to people, the second system minus the first one is "
            f"{self.estimate:+.3f} ({level} interval {self.low:+.3f} to "
            f"{self.high:+.3f}). According to the judge, it is "
            f"{self.uncorrected:+.3f}.",
        )

    def __repr__(self) -> str:
        interval = f"{self.estimate:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"
        return self._summary(interval, f"uncorrected:+.4f {_SHOWN}")


@public
def judged_difference(
    judge_a: ArrayLike,
    judge_b: ArrayLike,
    human_a: ArrayLike,
    human_b: ArrayLike,
    *,
    labels: str = "paired",
    groups: ArrayLike | None = None,
    inclusion_probability: ArrayLike | None = None,
    population: str = "superpopulation",
    confidence_level: float = 0.95,
) -> JudgedDifference:
    """Estimate the difference between two systems from a judge and a few labels.

    The difference is the mean score of the second system minus the mean score of the
    first system. Entry k of every array belongs to question k.

    Parameters
    ----------
    judge_a, judge_b : array-like of shape (n_items,)
        Score that the judge gives to the answer of each system, in [0, 1], or NaN if
        the judge gives no score.
    human_a, human_b : array-like of shape (n_items,)
        Score that a person gave to the answer of each system, in [0, 1], or NaN if the
        answer is not labelled.
    labels : {'paired', 'separate'}, default='paired'
        'paired' uses only the questions with labels of both answers. 'separate' is for
        systems that were labelled on different questions: no question may have labels
        of both answers.
    groups : array-like of shape (n_items,), default=None
        Group of each question. Questions of the same group may be dependent. If whole
        units, such as documents, were drawn to be labelled, pass these units.
    inclusion_probability : array-like of shape (n_items,), default=None
        Probability, up to a constant factor, with which each question was drawn to be
        labelled. It is only needed if it differs between questions with the same two
        verdicts.
    population : {'superpopulation', 'items'}, default='superpopulation'
        Population that the interval describes. 'superpopulation' is the difference on
        questions drawn from the same population. 'items' is the difference on these
        questions if people labelled all answers.
    confidence_level : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    result : JudgedDifference
        Estimate with its confidence interval.

    Raises
    ------
    ValueError
        If a score is not in [0, 1], if fewer than two questions have both labels, or if
        a parameter is not as described. For 'separate', if fewer than two answers of
        one system have a label, or if a question has labels of both answers.

    Warns
    -----
    UserWarning
        If none of the questions with a given pair of verdicts is labelled, if all
        labels are in one group, if PPI++ has fewer than five labels, or if the labels
        of a system are significantly lower where the judge's scores are higher. For
        'separate', the warning names the system, and is about its own verdicts.

    See Also
    --------
    judged_accuracy : Estimate the accuracy of one system.
    skcalib.significance.compare_systems : Compare systems with all answers labelled.

    Notes
    -----
    Questions are stratified by the pair of verdicts. In each stratum, the shares of the
    differences -1, 0 and 1 between the two labels have a Dirichlet posterior. The
    parameters of its prior sum to one, so the prior has the weight of one label. The
    interval is computed from the weighted sum of the means of the strata, as in
    :func:`judged_accuracy`. If people give scores other than 0 and 1, or if a judge
    gives more than four different scores, PPI++ is applied to the differences instead.

    For 'separate', :func:`judged_accuracy` estimates the mean score of each system from
    its own labels. The errors of the labels are independent, so the variances add up.
    The interval adds the squared distances from the estimates to the ends (MOVER
    [1]_),

        low = b - a - sqrt((b - low_b)^2 + (high_a - a)^2),

    and likewise for the upper end. The judge's scores of both answers to a question,
    and labels of different questions in one group, are treated as independent. The
    interval is too wide if they are positively correlated, which is the usual case.

    References
    ----------
    .. [1] G. Y. Zou and A. Donner (2008). "Construction of confidence limits about
       effect measures: A general approach". Statistics in Medicine 27.

    Examples
    --------
    A judge considers 20% of the wrong answers of the second system right, and 5% of the
    wrong answers of the first system:

    >>> import numpy as np
    >>> from skcalib.rates import judged_difference
    >>> rng = np.random.default_rng(2)
    >>> right = rng.random((2, 1000)) < 0.6
    >>> too_kind = rng.random((2, 1000)) < [[0.05], [0.2]]
    >>> judge = right | too_kind
    >>> human = np.where(np.arange(1000) < 150, right, np.nan)
    >>> judged_difference(*judge, *human)
    JudgedDifference(-0.0269 [-0.0904, +0.0370], uncorrected=+0.0700, n_items=1000,
                     n_labelled=150, method='post-stratified', confidence_level=0.95)

    The same number of labels is worth less if they are of different questions:

    >>> human_a = np.where(np.arange(1000) < 75, right[0], np.nan)
    >>> human_b = np.where(np.arange(1000) >= 925, right[1], np.nan)
    >>> found = judged_difference(*judge, human_a, human_b, labels="separate")
    >>> round(found.low, 3), round(found.high, 3)
    (-0.061, 0.096)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    check_choice(population, POPULATIONS, name="population")
    check_choice(labels, LABELS, name="labels")
    f_a, f_b = _scores(judge_a, name="judge_a"), _scores(judge_b, name="judge_b")
    y_a, y_b = _scores(human_a, name="human_a"), _scores(human_b, name="human_b")
    check_same_length(judge_a=f_a, judge_b=f_b, human_a=y_a, human_b=y_b)
    inner = as_groups(groups, y_a.size)
    estimate, has = _paired, ~np.isnan(y_a + y_b)
    if labels == "separate":
        estimate, has = _separate, ~(np.isnan(y_a) & np.isnan(y_b))
    settings = inner, inclusion_probability, population, level
    found, method, uncorrected = estimate((f_a, f_b), (y_a, y_b), *settings)
    return JudgedDifference(
        **found.numbers(),
        uncorrected=uncorrected,
        n_items=y_a.size,
        n_labelled=int(has.sum()),
        n_groups=None if inner is None else np.unique(inner[has]).size,
        population=population,
        method=method,
        labels=labels,
        confidence_level=level,
    )


def _paired(
    judges: tuple[np.ndarray, np.ndarray],
    humans: tuple[np.ndarray, np.ndarray],
    inner: np.ndarray | None,
    inclusion_probability: Any,
    population: str,
    level: float,
) -> tuple[MeanLabel, str, float]:
    """Return the difference from questions with both labels, and the method.

    The last number is the difference between the mean scores given by the judge.
    """
    f, y = (second - first for first, second in (judges, humans))
    has, judged = ~np.isnan(y), ~np.isnan(f)
    different = ""
    if min(np.isfinite(each).sum() for each in humans) >= 2:
        different = " If different questions were labelled, pass labels='separate'."
    _check_two(has, name="human_b", what="both answers", remedy=different)
    _check_two(judged, name="judge_b", what="both answers")
    for k, name in enumerate(("judge_a", "judge_b")):
        _warn_if_reversed(judges[k], humans[k], f"{parameter(name)}: ")
    expansion = _expansions(inclusion_probability, has)
    values = _values(y, -1.0, 1.0, 0.0)
    is_verdict = len(values) == 3
    found_verdicts = _verdict_codes(*judges, most=_MOST_PAIRS) if is_verdict else None
    if found_verdicts is not None:
        codes, verdicts = found_verdicts
        labels = Labels(codes, y, values, np.full(y.size, 1 / y.size), expansion, inner)
        found = _post_stratified(
            *(labels, strata_of(labels, level), verdicts, population, level),
            of=[f" of {parameter(name)}" for name in ("judge_a", "judge_b")],
        )
        return found, "post-stratified", _mean(f)
    _check_for_regression(
        judged,
        inclusion_probability,
        name="judge_b",
        bounds=" and bounds=(-1, 1), for the differences",
    )
    found = _by_regression(f, y, inner, population=population, level=level, low=-1)
    return found, "PPI++", _mean(f)


def _separate(
    judges: tuple[np.ndarray, np.ndarray],
    humans: tuple[np.ndarray, np.ndarray],
    inner: np.ndarray | None,
    inclusion_probability: Any,
    population: str,
    level: float,
) -> tuple[MeanLabel, str, float]:
    """Return the difference, the method and the judge's difference of `_paired`.

    The labels of the systems are of different questions.
    """
    both = ~np.isnan(humans[0] + humans[1])
    if both.any():
        raise ParameterError(
            "labels",
            "must be 'paired' if questions have labels of both answers. Got 'separate' "
            f"and {int(both.sum())} such questions, the first in row "
            f"{int(both.argmax())}. For 'separate', remove one of the two labels.",
        )

    def accuracy(system: str, method: str) -> tuple[JudgedAccuracy, list[str]]:
        """Return the result of a system and its warnings, with its name in errors."""
        k = "ab".index(system)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                found = judged_accuracy(
                    judges[k],
                    humans[k],
                    groups=inner,
                    inclusion_probability=inclusion_probability,
                    population=population,
                    method=method,
                    confidence_level=level,
                )
        except ParameterError as error:
            name = error.name or "human"
            name += f"_{system}" * (name in ("judge", "human"))
            raise ParameterError(name, error.problem) from None
        name = parameter(f"judge_{system}")
        return found, [f"{name}: {each.message}" for each in caught]

    (a, of_a), (b, of_b) = (accuracy(system, "auto") for system in "ab")
    if a.method != b.method:
        (a, of_a), (b, of_b) = (accuracy(system, "PPI++") for system in "ab")
    for message in of_a + of_b:
        warn(message)
    below = float(np.hypot(b.estimate - b.low, a.high - a.estimate))
    above = float(np.hypot(b.high - b.estimate, a.estimate - a.low))
    estimate, n = b.estimate - a.estimate, a.n_labelled + b.n_labelled
    # Without the judge, squared widths would be larger by these factors.
    squares = np.array([(each.high - each.low) ** 2 for each in (a, b)])
    factors = np.array([each.equivalent_labels / each.n_labelled for each in (a, b)])
    found = MeanLabel(
        *(estimate, max(estimate - below, -1.0), min(estimate + above, 1.0)),
        standard_error=float(np.hypot(a.standard_error, b.standard_error)),
        equivalent_labels=float(n * (squares @ factors) / squares.sum()),
        of_items=a._of_items + b._of_items,
    )
    return found, a.method, b.uncorrected - a.uncorrected


# Validation


def _scores(values: Any, *, name: str) -> np.ndarray:
    """Return scores in [0, 1], or NaN."""
    return as_scores(values, name=name, may_be_missing=True)


def _check_two(
    has: np.ndarray, *, name: str, what: str = "an item", remedy: str = ""
) -> None:
    """Raise an error unless at least two items have a score."""
    n = int(has.sum())
    if n < 2:
        raise ParameterError(
            name,
            f"must have scores of {what} in at least two rows. Got {n} of {has.size}."
            f"{remedy}",
        )


def _warn_if_reversed(f: np.ndarray, y: np.ndarray, who: str = "") -> None:
    """Warn if labels are significantly lower where scores are higher."""
    has = np.isfinite(f + y)
    f, y = f[has], y[has]
    if has.sum() < 2 or not f.std() * y.std():
        return
    r = float(np.corrcoef(f, y)[0, 1])
    # For independent scores and labels, r sqrt(n) is about standard normal.
    if r * np.sqrt(f.size) < -_REVERSED:
        warn(
            f"{who}The judge's scores are higher where the labels are lower "
            f"(correlation {r:.2f}). Are the scores or the labels reversed?"
        )


def _mean(scores: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the mean of the scores that are not missing."""
    known = ~np.isnan(scores)
    weights = None if weight is None else weight[known]
    return float(np.average(scores[known], weights=weights))


def _expansions(inclusion_probability: Any, is_labelled: np.ndarray) -> np.ndarray:
    """Return the number of items that each labelled item represents, up to a factor."""
    if inclusion_probability is None:
        return np.broadcast_to(1.0, is_labelled.size)
    name = "inclusion_probability"
    chance = as_floats(inclusion_probability, name=name).astype(np.float64)
    if chance.shape != is_labelled.shape:
        raise ParameterError(
            name,
            f"must have one entry for each of the {is_labelled.size} items. Got shape "
            f"{chance.shape}.",
        )
    bad = is_labelled & ~((chance > 0) & (chance < np.inf))
    raise_where(bad, chance, "be positive for each item with a label", name=name)
    return 1 / np.where(is_labelled, chance, 1)


def _values(labels: np.ndarray, *possible: float) -> tuple[float, ...]:
    """Return the values of the labels and the given possible values, sorted."""
    return tuple(np.union1d(labels[~np.isnan(labels)], possible).tolist())


def _verdict_codes(
    *judges: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the code of the verdicts of each item, and the verdicts of each code.

    The verdicts are an array with one column per judge, in ascending order. A missing
    score is a separate verdict, NaN, and comes first. The result is None if there are
    more than `most` different verdicts.
    """
    # -1 comes before all scores, which are at least 0
    scores = [np.where(np.isnan(judge), -1, judge) for judge in judges]
    found = [np.unique(column, return_inverse=True) for column in scores]
    sizes = [levels.size for levels, _ in found]
    if max(sizes) > most:
        return None
    pairs = np.ravel_multi_index([codes for _, codes in found], sizes)
    seen = np.bincount(pairs) > 0
    used = np.flatnonzero(seen)
    if used.size > most:
        return None
    columns = zip(found, np.unravel_index(used, sizes), strict=True)
    verdicts = np.column_stack([levels[rows] for (levels, _), rows in columns])
    codes = (np.cumsum(seen) - 1)[pairs]
    return codes, np.where(verdicts < 0, np.nan, verdicts)


def _is_one_group(groups: np.ndarray | None, rows: np.ndarray) -> bool:
    """Return whether all labels are in one group, and warn if so."""
    if groups is None or (groups[rows] != groups[rows[0]]).any():
        return False
    warn(
        "All labels are in one group, so the variation between groups cannot be "
        "estimated. The interval contains all possible values."
    )
    return True


# Post-stratification


class MeanLabel(NamedTuple):
    """Estimate of the mean label of all items, with its interval."""

    estimate: float
    low: float
    high: float
    standard_error: float
    equivalent_labels: float
    of_items: float

    def numbers(self) -> dict[str, float]:
        """Return the numbers by the names of the fields of results."""
        found = self._asdict()
        found["_of_items"] = found.pop("of_items")
        return found


def _post_stratified(
    labels: Labels,
    strata: Strata,
    verdicts: np.ndarray,
    population: str,
    level: float,
    of: Sequence[str] = ("",),
) -> MeanLabel:
    """Return the mean label, estimated from the labels of each verdict.

    `of` names the judge of each verdict for a warning.
    """
    _warn_of_verdicts(verdicts, strata.weight, strata.n_labelled, of)
    if _is_one_group(labels.groups, labels.rows):
        low, high = labels.values[0], labels.values[-1]
        error = (high - low) / 2
        return MeanLabel(strata.estimate, low, high, error, 1.0, error**2)
    low, high, error, of_items = stratified_interval(labels, strata, population, level)
    worth = float(labels.rows.size)
    if high > low:
        alone = stratified_interval(
            *without_verdicts(labels, strata), population, level
        )
        # The width is proportional to the inverse root of the number of labels.
        worth *= ((alone[1] - alone[0]) / (high - low)) ** 2
    return MeanLabel(strata.estimate, low, high, error, worth, of_items)


def _warn_of_verdicts(
    verdicts: np.ndarray, weight: np.ndarray, n_labelled: np.ndarray, of: Sequence[str]
) -> None:
    """Warn if items have a verdict for which there is no label."""
    lacking = np.flatnonzero((n_labelled == 0) & (weight > 0))
    if lacking.size == 0:
        return
    names = [
        [
            ("none" if np.isnan(v) else f"{v:g}") + end
            for v, end in zip(row, of, strict=True)
        ]
        for row in verdicts
    ]
    shown = ", ".join(" and ".join(names[k]) for k in lacking[:3])
    more = ", ..." if lacking.size > 3 else ""
    warn(
        f"No item with the verdict {shown}{more} has a label. These items are "
        f"{float(weight[lacking].sum()):.1%} of all items. Nothing is assumed about "
        "their labels: the estimate uses the middle of the possible values. Label a "
        "few of these items."
    )


def _error_rates(
    strata: Strata, verdicts: np.ndarray, level: float
) -> tuple[RateInterval | None, RateInterval | None]:
    """Return sensitivity and specificity, if the verdicts are 0 and 1."""
    if strata.values.size > 2:
        return None, None
    given = np.flatnonzero(~np.isnan(verdicts[:, 0]))
    if verdicts[given, 0].tolist() != [0.0, 1.0]:
        return None, None
    zero, one = given.tolist()
    return (
        _rate(strata, one, zero, label=1, level=level),
        _rate(strata, zero, one, label=0, level=level),
    )


def _rate(
    strata: Strata, own: int, other: int, *, label: int, level: float
) -> RateInterval | None:
    """Return the share of the verdict `own` among items with one value of the label."""
    right, wrong = (
        float(strata.weight[k] * strata.shares[k, label]) for k in (own, other)
    )
    if right + wrong <= 0:
        return None
    low, high = share_interval(
        strata.share_of(own, label), strata.share_of(other, label), level
    )
    rate = right / (right + wrong)
    return RateInterval(rate, min(low, rate), max(high, rate))


# PPI++


def _by_regression(
    f: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    *,
    population: str,
    level: float,
    low: float = 0.0,
) -> MeanLabel:
    """Return the mean label by PPI++; the ends are between `low` and 1."""
    rows = np.flatnonzero(~np.isnan(y))
    if rows.size < 3:
        problem = f"needs at least three labels for PPI++. Got {rows.size}."
        raise ParameterError(None, problem)
    if rows.size < _ENOUGH:
        warn(
            f"PPI++ has {rows.size} labels. With fewer than {_ENOUGH}, the errors of "
            "the judge can hardly be estimated. Label more items, or round the judge's "
            "scores to verdicts, for example judge >= 0.5, to use "
            "method='post-stratified'."
        )
    found = regression_interval(
        f, y, groups, population=population, level=level, low=low
    )
    if _is_one_group(groups, rows):  # the variance between groups is unknown
        return found._replace(low=low, high=1.0, of_items=found.standard_error**2)
    return found._replace(low=max(found.low, low), high=min(found.high, 1.0))


def regression_interval(
    f: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    *,
    population: str,
    level: float,
    low: float = 0.0,
) -> MeanLabel:
    """Return the mean of y, which is NaN without a label, by its regression on f.

    Labels are between `low` and 1.
    """
    has = ~np.isnan(y)
    known, seen, unseen = y[has], f[has], f[~has]
    inner, outer = (None if groups is None else groups[rows] for rows in (has, ~has))
    n, rest = seen.size, unseen.size
    lam = _slope(known, seen, f, rest)
    mean, of_unseen = 0.0, 0.0
    if rest and lam:
        mean = float(unseen.mean())
        # The unlabelled items are a sample too.
        if population == "superpopulation":
            of_unseen = _variance(unseen, outer, rest)[0]
    share, slope = 1.0, lam
    if population == "items":
        # The error is rest / N times the difference between labelled and unlabelled
        # items in the mean of y - lambda (N / rest) f, and N / rest = 1 + n / rest.
        # The labels of labelled items are known.
        share, slope = rest / (n + rest), lam * (1 + n / max(rest, 1))
    divisor = n if population == "superpopulation" else n - 2

    def variance(slope: float, lam: float) -> tuple[float, float]:
        """Return the variance of the estimate, and its degrees of freedom."""
        found, freedom = _variance(known - slope * seen, inner, divisor)
        return found * share + lam**2 * of_unseen, freedom

    estimate = float((known - lam * seen).mean() + lam * mean)
    (squared, freedom), (alone, _) = variance(slope, lam), variance(0.0, 0.0)
    deviation, worth = float(np.sqrt(squared)), float(n)
    if deviation > 0:
        worth *= float(np.sqrt(alone) / deviation) ** 2
    # As for corrected counts, errors are skewed, and the labels may have missed errors
    # of at most 1.
    residual = known - slope * seen
    residual -= residual.mean()
    parts = residual if inner is None else np.bincount(inner, residual)
    weight = np.sqrt(share) / n
    fitted = np.clip(known.mean() + slope * (f - seen.mean()), low, 1)
    errors = [
        (unseen_error(np.minimum(room, 1), weight), 0.0, 0.0, 0.0)
        for room in (1 - fitted, fitted - low)
    ]
    # the variance of scores in [0, 1] is at most that of a binomial
    m = float(n) if groups is None and low == 0 else np.inf
    quantile = float(stdtrit(max(freedom - 1, 1), (1 + level) / 2))
    # two parameters were estimated
    second = squared * n / (n - 2) if divisor == n else squared
    third = float((parts**3).sum()) * weight**3
    below, above = arms(second, third, errors, m, quantile)
    of_items = lam**2 * of_unseen * (n + rest) / max(rest, 1)
    if population == "items":
        of_items = -squared * n / max(rest, 1)
    ends = estimate - below, estimate + above
    return MeanLabel(estimate, *ends, deviation, worth, of_items)


def _slope(y: np.ndarray, seen: np.ndarray, f: np.ndarray, rest: int) -> float:
    """Return lambda of PPI++, between 0 and 1."""
    variance = float(f.var(ddof=1))
    if rest == 0 or variance == 0:
        return 0.0
    # minimum of the variance, a quadratic function of lambda
    covariance = float(((y - y.mean()) * (seen - seen.mean())).mean())
    return min(max(covariance / ((1 + y.size / rest) * variance), 0.0), 1.0)


def _variance(
    values: np.ndarray, groups: np.ndarray | None, divisor: int
) -> tuple[float, float]:
    """Return the variance of a mean and its degrees of freedom."""
    residual = values - values.mean()
    if groups is None or (groups == groups[0]).all():
        return float(residual @ residual) / divisor / values.size, values.size - 1
    # Items of a group are dependent: only the sums of groups are independent.
    return sandwich(*group_sums(residual, groups))


# Score intervals, also of counts


# Weight of one unseen error relative to observed errors. If no error was observed, 0.5
# gives a side of 3.84 errors at 95% in large samples (compare the rule of three).
_UNSEEN = 0.5

# Weight of one unseen document whose events were all missed by the model.
_MISSED = 0.125

# Number of errors on one side that is needed to shorten the other side.
_BEFORE_SHORTENING = 4.0


# Amount of one error of a unit; mean square and cube of the amounts of documents that
# the model missed; limit of the length of the interval due to such documents.
Unseen = tuple[float, float, float, float]


def arms(
    second: float, third: float, unseen: Sequence[Unseen], m: float, quantile: float
) -> tuple[float, float]:
    """Return the lengths of the interval below and above the estimate.

    If the total were larger by x, its variance would be

        second + skewness x - x^2 / m,  skewness = third / second,

    and the length solves x^2 = quantile^2 times this variance. For example, with second
    4, third 1, m = inf and quantile 2, x^2 = 4 (4 + x / 4) above, so x = 4.53. The
    length below would solve x^2 = 4 (4 - x / 4), x = 3.53; without a finite m it is not
    made shorter than the symmetric x = 4.

    Parameters
    ----------
    second, third : float
        Sums of squares and of cubes of the contributions to the total.
    unseen : pair of Unseen
        Errors above and below the estimate that the sample may have missed.
    m : float
        Number of labels for an unweighted count of 0 and 1, otherwise inf.
    quantile : float
        Quantile of the normal or of Student's distribution.
    """
    # x^2 (1 + q^2 / m) = q^2 (second + skewness x), a quadratic equation
    tight = 1 + quantile**2 / m if m > 0 else 1.0
    lengths = []
    for sign, (error, square, cube, most) in zip((1, -1), unseen, strict=True):
        seen, unit = (second, sign * third), (error**2, error**3)
        rare = _skewness(*seen, *unit, _UNSEEN)
        if rare < 0:
            # A side becomes shorter only if several errors of the other sign were seen,
            # and only for binomial counts.
            few = _skewness(*seen, *unit, _BEFORE_SHORTENING)
            rare = min(few, 0.0) if m < np.inf else 0.0
        missed = _skewness(*seen, square, cube, _MISSED)
        half = quantile / 2 * np.array([rare, missed])
        # positive roots of the equation
        length, longer = quantile * (half + np.sqrt(second * tight + half**2)) / tight
        # theory, (E3)
        lengths.append(max(length, min(longer, most)) if square > 0 else length)
    above, below = lengths
    return float(below), float(above)


def _skewness(
    second: float, third: float, square: float, cube: float, weight: float
) -> float:
    """Return third / second after adding a mean square and cube with a weight."""
    below = second + weight * square
    return (third + weight * cube) / below if below > 0 else 0.0


def unseen_error(size: np.ndarray, spread: np.ndarray | float) -> float:
    """Return the amount of an unseen error, a mean over possible errors of documents.

    An error adds its size times the spread to the total.
    """
    total = float(size.sum())
    return float((size**2 * spread).sum()) / total if total > 0 else 0.0
