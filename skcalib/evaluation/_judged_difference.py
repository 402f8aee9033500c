"""The difference of two systems from the verdicts of a judge and a few labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._results import Result
from .._validation import check_choice, check_fraction, check_same_length
from ._judged_accuracy import by_regression, post_stratified
from ._judged_inputs import (
    check_labels,
    expansions,
    items_of,
    scores_of,
    values_of,
    verdict_codes,
    warn_of_verdicts,
)
from ._strata import POPULATIONS, Labels, strata_of

# Largest number of distinct pairs of scores that are treated as verdicts.
_MOST_PAIRS = 16


@dataclass(frozen=True, repr=False)
class JudgedDifference(Result):
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
        Number of questions and number of questions with labels of both answers.
    n_groups : int or None
        Number of groups with labels. None if `groups` is not given.
    population : str
        Population that the interval describes, 'superpopulation' or 'items'.
    method : str
        Method of the estimate, 'post-stratified' or 'PPI++'.
    confidence_level : float
        Confidence level of the interval.

    See Also
    --------
    judged_difference : Compute the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.evaluation import judged_difference
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
        return (
            f"JudgedDifference({self.estimate:+.4f} [{self.low:+.4f}, "
            f"{self.high:+.4f}], uncorrected={self.uncorrected:+.4f}, "
            f"n_items={self.n_items}, n_labelled={self.n_labelled}, "
            f"method={self.method!r}, confidence_level={self.confidence_level:g})"
        )


@public
def judged_difference(
    judge_a: ArrayLike,
    judge_b: ArrayLike,
    human_a: ArrayLike,
    human_b: ArrayLike,
    *,
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
        answer is not labelled. Only questions with labels of both answers are used.
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
        a parameter is not as described.

    Warns
    -----
    UserWarning
        If none of the questions with a given pair of verdicts is labelled, if all
        labels are in one group, or if PPI++ has fewer than 100 labels.

    See Also
    --------
    judged_accuracy : Estimate the accuracy of one system.
    skcalib.significance.compare_scores : Compare two systems with all answers labelled.

    Notes
    -----
    Questions are stratified by the pair of verdicts. In each stratum, the shares of the
    differences -1, 0 and 1 between the two labels have a Dirichlet posterior. The
    parameters of its prior sum to one, so the prior has the weight of one label. The
    interval is computed from the weighted sum of the means of the strata, as in
    :func:`judged_accuracy`. If people give scores other than 0 and 1, or if a judge
    gives more than four different scores, PPI++ is applied to the differences instead.

    Examples
    --------
    A judge considers 20% of the wrong answers of the second system right, and 5% of the
    wrong answers of the first system:

    >>> import numpy as np
    >>> from skcalib.evaluation import judged_difference
    >>> rng = np.random.default_rng(2)
    >>> right = rng.random((2, 1000)) < 0.6
    >>> too_kind = rng.random((2, 1000)) < [[0.05], [0.2]]
    >>> judge = right | too_kind
    >>> human = np.where(np.arange(1000) < 150, right, np.nan)
    >>> judged_difference(*judge, *human)
    JudgedDifference(-0.0269 [-0.0904, +0.0370], uncorrected=+0.0700, n_items=1000,
                     n_labelled=150, method='post-stratified', confidence_level=0.95)
    """
    level = check_fraction(confidence_level, name="confidence_level")
    check_choice(population, POPULATIONS, name="population")
    f_a, f_b = scores_of(judge_a, name="judge_a"), scores_of(judge_b, name="judge_b")
    y_a, y_b = scores_of(human_a, name="human_a"), scores_of(human_b, name="human_b")
    check_same_length(judge_a=f_a, judge_b=f_b, human_a=y_a, human_b=y_b)
    f, y = f_b - f_a, y_b - y_a
    has, judged = ~np.isnan(y), ~np.isnan(f)
    check_labels(has, name="human_b", what="both answers")
    check_labels(judged, name="judge_b", what="both answers")
    items = items_of(y.size, None, groups)
    expansion = expansions(inclusion_probability, has)
    values = values_of(y, -1.0, 1.0, 0.0)
    codes, verdicts = verdict_codes(f_a, f_b)
    if len(values) == 3 and len(verdicts) <= _MOST_PAIRS:
        method = "post-stratified"
        labels = Labels(codes, y, values, items.weight, expansion, items.groups)
        strata = strata_of(labels, level)
        warn_of_verdicts(verdicts, strata.weight, strata.n_labelled)
        numbers = post_stratified(labels, strata, population, level)
    else:
        method = "PPI++"
        _check_for_regression(judged, inclusion_probability)
        numbers = by_regression(f, y, items.groups, population=population, level=level)
        numbers["low"], numbers["high"] = np.clip(
            [numbers["low"], numbers["high"]], -1.0, 1.0
        ).tolist()
    inner = items.groups
    return JudgedDifference(
        uncorrected=float(f[judged].mean()),
        n_items=y.size,
        n_labelled=int(has.sum()),
        n_groups=None if inner is None else np.unique(inner[has]).size,
        population=population,
        method=method,
        confidence_level=level,
        **numbers,
    )


def _check_for_regression(judged: np.ndarray, inclusion_probability: Any) -> None:
    if not judged.all():
        raise ParameterError(
            "judge_b",
            "must have scores of both answers to each question if scores are not 0 and "
            f"1. Got NaN in row {int((~judged).argmax())}.",
        )
    if inclusion_probability is not None:
        raise ParameterError(
            "inclusion_probability",
            "must be None if scores are not 0 and 1. Use "
            "skcalib.counts.corrected_count of the differences, with "
            "estimand='mean' and bounds=(-1, 1).",
        )
