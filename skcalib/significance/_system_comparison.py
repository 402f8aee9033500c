"""Comparison of all pairs of several systems on the same items."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from .._errors import ParameterError, public, warn
from .._pairs import holm
from .._parallel import RandomStateLike, as_generator
from .._results import Result
from .._validation import (
    as_groups,
    check_choice,
    check_fraction,
    check_positive,
    check_real,
)
from ..evaluation import Evaluation
from ..evaluation._align import AlignedEvaluations
from ..rates._accuracy import (
    accuracy_interval,
    grouped_interval,
    independent_interval,
    warn_of_large_group,
)
from ._gains import (
    N_FLIPS,
    GainTest,
    Moments,
    gains_of_metric,
    gains_of_scores,
    metric_interval,
    smallest_pvalue,
    unit_sizes,
)
from ._pair_tests import PairTests
from ._paired_items import (
    Systems,
    as_aligned,
    check_columns,
    group_systems,
    groups_of,
    scores_of,
)
from ._resamples import check_n_resamples
from ._sign_flips import FEWEST_FLIPS, are_verdicts
from ._tail_probabilities import as_pvalues
from ._translation import bleu, chrf, ter
from ._two_systems import ALTERNATIVES, METHODS

ADJUSTMENTS = ("holm", "bh")

# Quantities with one value for each order of a pair.
COLUMNS = ("gain", "pvalue", "pvalue_adjusted")

# Number of resamples by default.
_N_RESAMPLES = 10_000


def adjusted_pvalues(pvalues: np.ndarray, adjust: str | None) -> np.ndarray:
    """Return p-values adjusted by Holm's or Benjamini and Hochberg's method, if any."""
    if adjust is None or pvalues.size < 2:
        return pvalues.copy()
    if adjust == "holm":
        return holm(pvalues)
    from scipy.stats import false_discovery_control  # takes half a second to import

    return false_discovery_control(pvalues)


def check_adjust(adjust: str | None) -> None:
    """Raise unless `adjust` names an adjustment of p-values or is None."""
    if adjust is not None:
        check_choice(adjust, ADJUSTMENTS, name="adjust")


@dataclass(frozen=True, repr=False, eq=False)
class SystemComparison(Result):
    """Scores of systems, and the gains of all pairs with intervals and p-values.

    Returned by :func:`compare_systems`. Arrays of pairs are in the order of `pairs`.

    Attributes
    ----------
    names : list of str
        Names of the systems.
    score, low, high : ndarray of shape (n_systems,)
        Mean score or metric of each system with its confidence interval.
    pairs : list of tuple of str
        Names (A, B) of each pair. A comes before B in `names`.
    gain : ndarray of shape (n_pairs,)
        Score of B minus score of A. It is positive if B has the larger score.
    gain_low, gain_high : ndarray of shape (n_pairs,)
        Ends of the interval of the gain. If the test is two-sided, the interval
        excludes 0 if and only if the p-value is below 1 - confidence_level.
    pvalue, pvalue_adjusted : ndarray of shape (n_pairs,)
        The p-value of each pair, before and after the adjustment for the number of
        pairs.
    method : list of str
        Test of each pair: a description for scores, and otherwise the method that
        computed the p-value of the paired bootstrap.
    wins, losses : ndarray of shape (n_pairs,), int
        Number of questions on which B scores higher, and lower, than A. For a metric of
        sums, number of items (or groups) whose statistics raise and lower the gain.
    n_questions : int
        Number of questions or items. `n_items` is the same number.
    n_groups : int or None
        Number of groups.
    adjust : str or None
        Adjustment of the p-values: 'holm', 'bh' or None.
    confidence_level : float
        Confidence level of the intervals.
    smallest_pvalue : float
        Smallest p-value that the test of any pair could give on the questions (or
        groups) on which its systems differ: the p-value if one system were better on
        all of them. If few differ, it may be above 1 - confidence_level, and then no
        gain can be significant. If resamples are drawn, it is at least 1 / (n_resamples
        + 1). It is 0 if the method does not limit it.
    monte_carlo_error : ndarray of shape (n_pairs,)
        Monte Carlo standard error of the p-value. 0 if neither resamples nor sign flips
        were drawn.
    statistic : str
        Name of the statistic; 'mean' for scores.
    alternative : str
        The alternative hypothesis.
    n_resamples : int or None
        Number of resamples or sign flips. None if none were drawn.

    See Also
    --------
    compare_systems : Compare the systems.
    skcalib.plot.SignificanceDisplay : Plot of gains and p-values.
    skcalib.plot.SystemScoresDisplay : Plot of scores with intervals.

    Examples
    --------
    >>> from skcalib.significance import compare_systems
    >>> result = compare_systems({"A": [1, 0, 0, 0, 1, 0], "B": [1, 1, 1, 1, 1, 1]})
    >>> round(float(result.pvalue[0]), 4), result.wins.tolist(), result.losses.tolist()
    (0.0625, [4], [0])
    """

    names: list[str]
    score: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pairs: list[tuple[str, str]]
    gain: np.ndarray
    gain_low: np.ndarray
    gain_high: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    method: list[str]
    wins: np.ndarray
    losses: np.ndarray
    n_questions: int
    n_groups: int | None
    adjust: str | None
    confidence_level: float
    smallest_pvalue: float
    monte_carlo_error: np.ndarray
    statistic: str
    alternative: str
    n_resamples: int | None
    _moments: Moments
    _lower_is_better: bool = False
    _mid_p: Collection[int] = ()

    @property
    def metric(self) -> np.ndarray:
        """The same as `score`."""
        return self.score

    @property
    def n_items(self) -> int:
        """The same as `n_questions`."""
        return self.n_questions

    @public
    def significant(self, alpha: float = 0.05) -> list[tuple[str, str]]:
        """Return the pairs whose adjusted p-value is at most alpha.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level, strictly between 0 and 1.

        Returns
        -------
        pairs : list of tuple of str
            Names (A, B) of the pairs.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 99, 0], "b": np.r_[[1] * 70, [0] * 30]}
        >>> compare_systems(right, statistic="mean").significant()
        [('a', 'b')]
        """
        alpha = check_fraction(alpha, name="alpha")
        tested = zip(self.pairs, self.pvalue_adjusted, strict=True)
        return [pair for pair, p in tested if p <= alpha]

    @public
    def matrix(self, column: str = "pvalue_adjusted") -> np.ndarray:
        """Return the values of all pairs as a matrix.

        Parameters
        ----------
        column : {'pvalue_adjusted', 'pvalue', 'gain'}, default='pvalue_adjusted'
            Attribute to return. The entry in row i and column j compares system i with
            system j.

        Returns
        -------
        matrix : ndarray of shape (n_systems, n_systems)
            Matrix in the order of `names`. The gain in row i and column j is the metric
            of system j minus the metric of system i. On the diagonal, gains are 0 and
            p-values are 1. One-sided tests have p-values above the diagonal only; below
            it, the entries are 1.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 9, 0], "b": np.r_[[1] * 7, [0] * 3]}
        >>> compare_systems(right, statistic="mean").matrix("gain").round(1)
        array([[ 0. , -0.2],
               [ 0.2,  0. ]])
        """
        check_choice(column, COLUMNS, name="column")
        values, n = getattr(self, column), len(self.names)
        found = np.zeros((n, n)) if column == "gain" else np.ones((n, n))
        upper = np.triu_indices(n, 1)
        found[upper] = values
        if column == "gain":
            found.T[upper] = -values
        elif self.alternative == "two-sided":
            found.T[upper] = values
        return found

    @public
    def noninferiority_pvalue(self, margin: float) -> np.ndarray:
        """Return p-values of the hypothesis that B is worse by at least the margin.

        Parameters
        ----------
        margin : float
            Largest loss that is considered irrelevant. It must be above 0.

        Returns
        -------
        pvalue : ndarray of shape (n_pairs,)
            One-sided p-values. A small p-value is evidence that the score of B is above
            the score of A minus the margin, or for TER, below the score of A plus the
            margin.
        """
        m, margin = self._moments, self._checked_margin(margin)
        if self._lower_is_better:
            return self._tail(-m.distance(margin))
        return self._tail(m.distance(-margin))

    @public
    def equivalence_pvalue(self, margin: float) -> np.ndarray:
        """Return p-values of the hypothesis that A and B differ by at least the margin.

        Parameters
        ----------
        margin : float
            Largest difference that is considered irrelevant. It must be above 0.

        Returns
        -------
        pvalue : ndarray of shape (n_pairs,)
            The larger of the two one-sided p-values. A small p-value is evidence that
            the scores of A and B differ by less than the margin.
        """
        m, margin = self._moments, self._checked_margin(margin)
        return np.maximum(
            self._tail(m.distance(-margin)), self._tail(-m.distance(margin))
        )

    def _checked_margin(self, margin: float) -> float:
        """Return the margin in the unit of the moments."""
        scale = self._moments.scale
        high = self._moments.bound * scale
        return check_real(margin, low=0, high=high, name="margin") / scale

    @public
    def detectable_gain(self, power: float = 0.8) -> np.ndarray:
        """Return the smallest true gain that is detected with a given power.

        Parameters
        ----------
        power : float, default=0.8
            Probability of a p-value below 1 - confidence_level.

        Returns
        -------
        gain : ndarray of shape (n_pairs,)
            Smallest gain of each pair. NaN if there are too few questions or groups for
            any p-value below 1 - confidence_level. Infinity if even the largest
            possible gain is not detected with this power.
        """
        power = check_fraction(power, name="power")
        n_units = self.n_questions if self.n_groups is None else self.n_groups
        least = smallest_pvalue(n_units, mid_p=n_units >= FEWEST_FLIPS)
        # Even if all units differ in the same direction, no gain is significant.
        if least > 1 - self.confidence_level:
            return np.full(len(self.pairs), np.nan)
        z, z_power = self._quantile(), float(ndtri(power))
        m = self._moments
        if not m.is_binary:
            gain = (z + z_power) * m.standard_error()
            return np.where(gain < m.bound, m.scale * gain, np.inf)
        # A gain cannot exceed the share of discordant questions, which it may therefore
        # raise, and a larger share needs a larger gain: both are found by iteration.
        share, gain = self._discordant(), np.zeros(len(self.pairs))
        for _ in range(100):
            left = np.sqrt(np.maximum(share - gain**2, 0))
            gain = np.minimum((z * np.sqrt(share) + z_power * left) / np.sqrt(m.n), 1)
            share = np.maximum(share, gain)
        return np.where(gain < 1, m.scale * gain, np.inf)

    @public
    def questions_needed(self, gain: float, power: float = 0.8) -> np.ndarray:
        """Return the number of questions needed to detect a gain with a given power.

        Parameters
        ----------
        gain : float
            True gain. It must not be 0.
        power : float, default=0.8
            Probability of a p-value below 1 - confidence_level.

        Returns
        -------
        n_questions : ndarray of shape (n_pairs,)
            Number of questions, assuming that new questions and groups resemble the
            present ones.
        """
        m = self._moments
        bound = m.bound * m.scale
        gain = abs(check_real(gain, low=-bound, high=bound, name="gain")) / m.scale
        if gain == 0:
            raise ParameterError("gain", "must not be 0.")
        power = check_fraction(power, name="power")
        z, z_power = self._quantile(), float(ndtri(power))
        if m.is_binary:
            share = np.maximum(self._discordant(), gain)
            root = z * np.sqrt(share) + z_power * np.sqrt(share - gain**2)
            return np.ceil(root**2 / gain**2)
        # The units of a metric of sums are groups, but questions are what is collected.
        error = m.standard_error()
        return np.ceil(self.n_questions * ((z + z_power) * error / gain) ** 2)

    @public
    def letters(self, alpha: float = 0.05) -> dict[str, str]:
        """Return a compact letter display, in which separated systems share no letter.

        Parameters
        ----------
        alpha : float, default=0.05
            Two systems are separated if their adjusted p-value is at most `alpha`.

        Returns
        -------
        letters : dict of str to str
            Letters of each system by name, with the best system first.

        Examples
        --------
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": [1] * 30, "b": [1] * 29 + [0], "c": [0] * 30}
        >>> compare_systems(right).letters()
        {'a': 'a', 'b': 'a', 'c': 'b'}
        """
        groups = self.not_separated(alpha)
        return {
            self.names[k]: "".join(
                _letter(i) for i, group in enumerate(groups) if self.names[k] in group
            )
            for k in self._best_first()
        }

    @public
    def not_separated(self, alpha: float = 0.05) -> list[list[str]]:
        """Return the maximal groups of systems in which no two systems are separated.

        Parameters
        ----------
        alpha : float, default=0.05
            Two systems are separated if their adjusted p-value is at most `alpha`.

        Returns
        -------
        groups : list of list of str
            Names of the systems in each group. The best group and, within each group,
            the best system come first.
        """
        alpha = check_fraction(alpha, name="alpha")
        order = self._best_first()
        place = {self.names[k]: i for i, k in enumerate(order)}
        # Piepho (2004), insert and absorb: a separated pair splits each group with both
        # systems into two groups without one of them. Parts of others are absorbed.
        groups = [set(range(len(order)))]
        for (a, b), p in zip(self.pairs, self.pvalue_adjusted, strict=True):
            if p > alpha:
                continue
            i, j = place[a], place[b]
            split = [g - {x} for g in groups if {i, j} <= g for x in (i, j)]
            whole = [g for g in groups if not {i, j} <= g]
            # The longest first, because it may contain shorter parts.
            for part in sorted(split, key=len, reverse=True):
                if not any(part <= other for other in whole):
                    whole.append(part)
            groups = whole
        ordered = sorted(sorted(group) for group in groups)
        return [[self.names[order[i]] for i in group] for group in ordered]

    def _best_first(self) -> list[int]:
        """Return the indices of the systems, with the best system first."""
        value = self.score if self._lower_is_better else -self.score
        return np.argsort(value, kind="stable").tolist()

    def _tail(self, distance: np.ndarray) -> np.ndarray:
        """Return one-sided p-values, not below the smallest attainable p-value."""
        m = self._moments
        # The normal tail can be below all p-values of so few signs. A power far beyond
        # 1000 underflows.
        floor = 0.0 if m.is_binary else 2.0 ** -min(m.n_effective, 1000)
        return as_pvalues(np.maximum(ndtr(-distance), floor))

    def _quantile(self) -> float:
        tail = (1 - self.confidence_level) / 2
        freedom = self._moments.n_effective - 1
        if self._moments.is_binary:
            return float(-ndtri(tail))
        return float(-stdtrit(freedom, tail)) if freedom > 0 else np.inf

    def _discordant(self) -> np.ndarray:
        m = self._moments
        # the mean under Jeffreys's prior, which is neither 0 nor 1
        return (m.wins + m.losses + 0.5) / (m.n + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict of lists and numbers."""
        systems = np.column_stack([self.score, self.low, self.high]).tolist()
        names = "statistic alternative adjust confidence_level n_questions n_items"
        return {
            "metric": dict(zip(self.names, self.score.tolist(), strict=True)),
            "systems": dict(zip(self.names, systems, strict=True)),
            **super().to_dict(),
            **{name: getattr(self, name) for name in names.split()},
            "n_groups": self.n_groups,
            "n_resamples": self.n_resamples,
        }

    def _columns(self) -> dict[str, Any]:
        first, second = np.triu_indices(len(self.names), 1)
        return {
            "system_a": [a for a, _ in self.pairs],
            "system_b": [b for _, b in self.pairs],
            "metric_a": self.score[first],
            "metric_b": self.score[second],
            "gain": self.gain,
            "low": self.gain_low,
            "high": self.gain_high,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "method": self.method,
            "wins": self.wins,
            "losses": self.losses,
            "monte_carlo_error": self.monte_carlo_error,
        }

    def _in_words(self) -> tuple[str, ...]:
        return (
            "A gain is the score of the second system minus the score of the first; "
            "p-values are adjusted over all pairs.",
        )

    def __repr__(self) -> str:
        alpha = 1 - self.confidence_level
        n = int(np.count_nonzero(self.pvalue_adjusted <= alpha))
        start = (
            f"{len(self.names)} systems, {len(self.pairs)} pairs, {n} with "
            f"pvalue_adjusted <= {alpha:.3g}; statistic={self.statistic!r}, "
            f"alternative={self.alternative!r}, adjust={self.adjust!r}"
        )
        return self._summary(start, "n_items n_groups n_resamples")


def _letter(k: int) -> str:
    """Return a to z, then a2, b2, ..."""
    return chr(ord("a") + k % 26) + (str(k // 26 + 1) if k >= 26 else "")


class _Tested(NamedTuple):
    """Scores of systems with intervals, and the tests of all pairs."""

    score: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gain: np.ndarray
    moments: Moments
    test: GainTest
    n_groups: int | None
    n_drawn: int | None


@public
def compare_systems(
    systems: Mapping[str, ArrayLike] | Mapping[str, Evaluation] | AlignedEvaluations,
    *,
    statistic: str | Callable | None = None,
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int | None = None,
    adjust: str | None = "holm",
    groups: ArrayLike | str | None = None,
    confidence_level: float = 0.95,
    largest: float | None = None,
    alpha: float = 0.05,
    random_state: RandomStateLike = None,
) -> SystemComparison:
    """Compare all pairs of systems on the same items: scores, or a metric of sums.

    Without `statistic`, the systems are scores in [0, 1], for example of right and
    wrong answers. Their gains are tested by McNemar's test or by sign flips. With a
    `statistic`, the systems are sufficient statistics of this metric, which are
    compared by the paired bootstrap, as in :func:`paired_bootstrap_test`.

    Parameters
    ----------
    systems : mapping of str to array-like or Evaluation, or AlignedEvaluations
        Systems to compare by name, with the baseline first. Without `statistic`, arrays
        of shape (n,) with one score per question in the same order. With `statistic`,
        arrays of shape (n,) or (n, m) with one row of statistics per item. Evaluations
        are matched by :func:`~skcalib.evaluation.align_evaluations`. A single system is
        allowed if `statistic` is given; its metric then has an interval.
    statistic : {'mean', 'ratio', 'f1'} or callable, default=None
        Metric of the summed columns, as in :func:`paired_bootstrap_test`; for example
        :func:`bleu`. If None, scores are compared. If a score is not in [0, 1], or if
        `method` or a one-sided `alternative` is given, None means 'mean'.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that the gain is above 0: the system of
        the pair that comes later in `systems` has the larger metric. Choose the order
        before looking at the data: ordering the systems by their metric doubles the
        error rate.
    method : str, default='auto'
        Method used to compute the p-values of the paired bootstrap, as in
        :func:`paired_bootstrap_test`. Monte Carlo resamples are the same for all pairs.
    n_resamples : int, default=None
        Number of draws if resamples or sign flips are drawn. If None, 10,000 for a
        `statistic` and 100,000 for scores.
    adjust : {'holm', 'bh'} or None, default='holm'
        Adjustment of the p-values for the number of pairs. 'holm' controls the
        family-wise error rate. 'bh' (Benjamini and Hochberg) controls the false
        discovery rate. If None, the p-values are not adjusted.
    groups : array-like of shape (n,) or str, default=None
        Group of each item, such as its document or passage, or the name of a column of
        the evaluations that contains the groups. Items of one group may depend on each
        other. Groups of one question each give the same result as no groups.
    confidence_level : float, default=0.95
        Confidence level of the intervals.
    largest : float, default=None
        Largest value of the metric. If None, it is 100 for :func:`bleu`, :func:`chrf`
        and :func:`ter`. It is 1 for other metrics if the numerator of each row is
        between 0 and the denominator, or for callables, if all metrics are in [0, 1].
        Otherwise the metric is not bounded.
    alpha : float, default=0.05
        Significance level used for the warning below.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw resamples and sign flips, if any are drawn.

    Returns
    -------
    result : SystemComparison
        Scores of the systems, and gains of all pairs with intervals and p-values. A
        gain is the score of the later system minus the score of the earlier system.

    Raises
    ------
    ValueError
        If there are fewer than two systems (one with a `statistic`), items or groups,
        if the systems have different numbers of rows, if the evaluations do not match,
        if a parameter or a row is not as described, or if the metric of a system is
        above `largest` (which only TER can be).

    Warns
    -----
    UserWarning
        If p-values are fractions of b resamples and there are more than
        ``alpha * (b + 1)`` pairs. The smallest possible p-value, adjusted for this
        number of pairs, is then above `alpha`, so the number of resamples decides which
        pairs are significant. The warning is also raised if a gain has zero variance,
        as in :func:`paired_bootstrap_test`.

    See Also
    --------
    paired_bootstrap_test, permutation_test, mcnemar_test : Tests of one pair.
    borderline_threshold : Gain above which a test is usually significant.
    skcalib.metrics.accuracy_statistics : Statistics of predictions of an estimator.

    Notes
    -----
    *Scores.* Independent questions with scores of 0 and 1, or of two other values such
    as 0 and 100, are compared by McNemar's exact test in its mid-p version [1]_. If
    more than three quarters of the questions are discordant, the mid-p version would
    reject too often and the test without mid-p is used. Other scores, and questions in
    groups, are compared by flipping the signs of the differences of whole questions or
    groups [2]_. The distribution of their sum is exact if the differences are multiples
    of a common fraction. For other differences, and for many different multiples, it is
    a saddlepoint approximation, or the inverse of its characteristic function, where
    this is accurate, as in :func:`permutation_test`. This needs no random state.
    Otherwise, for example if the systems differ in fewer than about 50 questions, sign
    flips are drawn. `method` names the procedure. Mid-p is used if the systems differ
    in at least seven questions or groups.

    The interval of a gain is Tango's score interval [3]_ for scores of 0 and 1 or 0 and
    100, and otherwise the set of gains d that satisfy ::

        |sum_u (D_u - d n_u)| <= c sqrt(sum_u (D_u - d n_u)^2)

    where D_u is the sum of the differences in unit u (a question or a group), n_u is
    its number of questions, and c is the quantile of the normal distribution. If the
    interval and the p-value would lead to different decisions about a gain of 0, the
    end of the interval that is closest to 0 is set to 0.

    *Metrics of sums.* One matrix of resample counts is used for all systems, as in
    [4]_. The Monte Carlo errors of the p-values are therefore dependent. A Monte Carlo
    p-value is at least 1 / (b + 1) for b resamples. Exact and saddlepoint p-values, and
    p-values of sign flips, can be smaller and remain significant after the adjustment.
    The intervals are computed from jackknife pseudovalues. A pseudovalue is n times the
    metric minus n - 1 times the metric without one item (or group). The interval of a
    gain is that of their mean. The interval of a metric between 0 and `largest` is the
    binomial mid-P interval, as in :func:`~skcalib.rates.accuracy_interval`, for ::

        n_effective = m (1 - m) / variance

    answers, where m is the metric divided by `largest`. If few items are imperfect, the
    variance of the pseudovalues is uncertain. It is therefore multiplied by (t / z)^2,
    where t is the quantile of Student's distribution for 2 k degrees of freedom, and
    k = (sum e^2)^2 / sum e^4 is the number of items that carry the squared deviations
    e^2 [5]_. This increases the variance to at most that of items that are all right or
    all wrong, which is m (1 - m) / n for n items of equal sizes. If all pseudovalues
    are equal, for example because all items are right, n_effective is the number of
    items (or groups), reduced if their sizes differ. TER has no largest value, and its
    interval is the limit for Poisson counts. Metrics that have no largest value or are
    below 0 have Student's interval, whose width is 0 if all pseudovalues are equal.

    *Fitted estimators* are compared on the statistics of their predictions. The test
    compares the fitted models on new samples from the same population. It does not
    account for the variation between training runs, and is not valid on the folds of a
    cross-validation without further assumptions; see :ref:`the guide
    <significance_and_folds>`.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake (2013). "The McNemar test for
       binary matched-pairs data: mid-p and asymptotic are better than exact
       conditional". BMC Medical Research Methodology 13, 91.
    .. [2] J. P. Romano (1990). "On the behavior of randomization tests without a group
       invariance assumption". Journal of the American Statistical Association 85.
    .. [3] T. Tango (1998). "Equivalence test and confidence interval for the difference
       in proportions for the paired-sample design". Statistics in Medicine 17.
    .. [4] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL.
    .. [5] F. E. Satterthwaite (1946). "An approximate distribution of estimates of
       variance components". Biometrics Bulletin 2.

    Examples
    --------
    Right and wrong answers of two models:

    >>> import numpy as np
    >>> from skcalib.significance import compare_systems
    >>> base, new = np.repeat([1, 0], [60, 40]), np.repeat([1, 0], [75, 25])
    >>> result = compare_systems({"base": base, "new": new})
    >>> result.pairs, result.gain.round(2).tolist(), result.method
    ([('base', 'new')], [0.15], ["McNemar's exact test with mid-p"])
    >>> result.gain_low.round(3).tolist(), result.gain_high.round(3).tolist()
    ([0.093], [0.233])

    Token accuracy, from the numbers of correct tokens and of tokens of each sentence:

    >>> rng = np.random.default_rng(0)
    >>> length = rng.integers(5, 30, 500)
    >>> stats = {
    ...     name: np.column_stack([rng.binomial(length, accuracy), length])
    ...     for name, accuracy in {"old": 0.90, "new": 0.93, "same": 0.93}.items()
    ... }
    >>> result = compare_systems(stats, statistic="ratio")
    >>> result.significant()
    [('old', 'new'), ('old', 'same')]

    Fitted estimators, by their predictions for the same test samples:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> from skcalib.metrics import accuracy_statistics
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"Bernoulli": BernoulliNB(), "Gaussian": GaussianNB()}
    >>> for model in models.values():
    ...     _ = model.fit(X[:300], y[:300])
    >>> result = compare_systems({
    ...     name: accuracy_statistics(y[300:], model.predict(X[300:]))
    ...     for name, model in models.items()
    ... })
    >>> result.significant()
    [('Bernoulli', 'Gaussian')]
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    check_choice(method, METHODS, name="method")
    check_adjust(adjust)
    if n_resamples is not None:
        n_resamples = check_n_resamples(n_resamples)
    level = check_fraction(confidence_level, name="confidence_level")
    if largest is not None:
        largest = check_positive(largest, name="largest")
    alpha = check_fraction(alpha, name="alpha")
    rng = as_generator(random_state)
    aligned = as_aligned(systems)
    groups = groups_of(aligned, groups)
    names, columns = check_columns(
        systems if aligned is None else scores_of(aligned),
        "mean" if statistic is None else statistic,
        least=2 if statistic is None else 1,
    )
    pairs = list(combinations(range(len(names)), 2))
    n = len(columns[0])
    score, origin, scale = None, 0.0, 1.0
    if statistic is None and method == "auto" and alternative == "two-sided":
        score = np.stack([each[:, 0] for each in columns])
        least, most = float(score.min()), float(score.max())
        if least < 0 or most > 1:
            # Verdicts in another unit, such as 0 and 100, are right or wrong as well.
            score = _as_verdicts(score, aligned, largest)
            origin, scale = (0.0, 1.0) if score is None else (least, most - least)
    if score is not None:
        name = "mean"
        tested = _test_scores(score, aligned, groups, pairs, n_resamples, level, rng)
    else:
        statistic = "mean" if statistic is None else statistic
        checked = group_systems(names, columns, statistic, groups)
        name = checked.metric.name
        n_resamples = n_resamples or _N_RESAMPLES
        tests = PairTests(checked, alternative, method, n_resamples, rng)
        tested = _test_metric(tests, statistic, pairs, level, largest)
        _warn_of_floor(tested.test.method, adjust, alpha, n_resamples)
    # A one-sided p-value does not decide whether 0 is inside a two-sided interval.
    gain_low, gain_high = tested.moments.limits(
        tested.gain, tested.test.pvalue if alternative == "two-sided" else None, level
    )
    return SystemComparison(
        names=names,
        score=origin + scale * tested.score,
        low=origin + scale * tested.low,
        high=origin + scale * tested.high,
        pairs=[(names[i], names[j]) for i, j in pairs],
        gain=scale * tested.gain,
        gain_low=scale * gain_low,
        gain_high=scale * gain_high,
        pvalue=tested.test.pvalue,
        pvalue_adjusted=adjusted_pvalues(tested.test.pvalue, adjust),
        method=tested.test.method,
        wins=tested.moments.wins,
        losses=tested.moments.losses,
        n_questions=n,
        n_groups=tested.n_groups,
        adjust=adjust,
        confidence_level=level,
        smallest_pvalue=tested.test.smallest,
        monte_carlo_error=tested.test.error,
        statistic=name,
        alternative=alternative,
        n_resamples=tested.n_drawn,
        _moments=replace(tested.moments, scale=scale),
        _lower_is_better=statistic is ter,
        _mid_p=tested.test.mid_p,
    )


def _as_verdicts(
    score: np.ndarray, aligned: AlignedEvaluations | None, largest: float | None
) -> np.ndarray | None:
    """Return scores of two values as 0 and 1, and None for other scores."""
    most = score.max()
    if score.min() == most or not are_verdicts(score):
        return None
    if largest is not None and largest < most:
        return None  # which is an error
    if aligned is not None and (aligned.n_samples != 1).any():
        return None  # their intervals are those of the samples
    return np.where(score == most, 1.0, 0.0)


def _test_scores(
    score: np.ndarray,
    aligned: AlignedEvaluations | None,
    groups: Any,
    pairs: list[tuple[int, int]],
    n_flips: int | None,
    level: float,
    rng: np.random.Generator,
) -> _Tested:
    """Return the tests of mean scores, which have a row per system."""
    n = score.shape[1]
    if n < 2:
        unit = "items" if aligned is None else "questions"
        raise ParameterError("systems", f"must have at least two {unit}. Got {n}.")
    codes = as_groups(groups, n)
    n_groups = None if codes is None else int(codes.max()) + 1
    if n_groups == 1:
        raise ParameterError("groups", "must name at least two groups. Got one.")
    if n_groups == n:  # groups of one question are no groups
        codes = None
    warn_of_large_group(codes)
    ends = []
    for k, values in enumerate(score):
        # The mean of several samples of a question varies less than one verdict.
        if aligned is not None and (aligned.n_samples[:, k] != 1).any():
            questions = np.repeat(np.arange(n), aligned.n_samples[:, k])
            interval = accuracy_interval(
                aligned.samples[k],
                questions=questions,
                groups=None if codes is None else codes[questions],
                confidence_level=level,
            )
            ends.append((interval.low, interval.high))
        elif codes is None:
            ends.append(independent_interval(values, level)[:2])
        else:
            ends.append(grouped_interval(values, codes, level)[:2])
    low, high = np.array(ends).T
    n_flips = n_flips or N_FLIPS
    moments, test = gains_of_scores(score, pairs, codes, n_flips, rng)
    mean = score.mean(axis=1)
    gain = np.array([mean[j] - mean[i] for i, j in pairs]) + 0.0  # no negative zero
    n_drawn = n_flips if any("drawn" in words for words in test.method) else None
    return _Tested(mean, low, high, gain, moments, test, n_groups, n_drawn)


def _test_metric(
    tests: PairTests,
    statistic: str | Callable,
    pairs: list[tuple[int, int]],
    level: float,
    largest: float | None,
) -> _Tested:
    """Return the tests of a metric of sums."""
    systems = tests.systems
    score = systems.scores
    bound = _bound_of(systems, score, statistic) if largest is None else largest
    # No metric is near a larger bound, whose square overflows.
    bound = math.inf if bound > 1e100 else bound
    best = int(np.argmax(score))
    if statistic is not ter and score[best] > bound + 1e-9:
        raise ParameterError(
            "largest",
            "must be the largest possible value of the metric, such as 100 for "
            f"percentages. Got {bound:g}, and the metric of {systems.names[best]!r} is "
            f"{score[best]:g}.",
        )
    # gains of pairs of tests are those of the first system, as for two systems
    found = tests.run([(later, earlier) for earlier, later in pairs])
    moments, values = gains_of_metric(
        systems.columns, systems.metric, pairs, found.gain, bound
    )
    # TER has no largest value, and its counts of edits are those of very many trials.
    reach = 1e4 if statistic is ter else 1.0
    columns = np.moveaxis(systems.columns, 1, 0)
    sizes = [unit_sizes(each, systems.metric) for each in columns]
    ends = [
        metric_interval(*each, level, bound, reach)
        for each in zip(score.tolist(), values, sizes, strict=True)
    ]
    low, high = np.array(ends).T
    smallest = float(found.smallest.min(initial=1))
    numbers = found.pvalue, found.monte_carlo_error, found.method
    test = GainTest(*numbers, smallest, found.mid_p)
    n_drawn = tests.n_resamples if found.drawn else None
    return _Tested(
        score, low, high, found.gain, moments, test, systems.n_groups, n_drawn
    )


def _bound_of(systems: Systems, score: np.ndarray, statistic: str | Callable) -> float:
    """Return the largest value of a metric, infinity if it is not bounded."""
    if statistic in (bleu, chrf, ter):
        return 100.0
    parts, whole = score, np.ones_like(score)
    if systems.metric.quotient is not None:
        rows = systems.columns.reshape(-1, systems.columns.shape[2])
        parts, whole = systems.metric.quotient(rows)
    # If no row has more parts than its whole, no sum of rows has.
    return 1.0 if ((parts >= 0) & (parts <= whole * (1 + 1e-9))).all() else math.inf


def _warn_of_floor(
    method: list[str], adjust: str | None, alpha: float, n_resamples: int
) -> None:
    """Warn if no p-value of resamples could be significant when adjusted."""
    # Holm's method multiplies the smallest p-value by the number of pairs.
    n_pairs, least = len(method), 1 / (n_resamples + 1)
    if adjust is None or n_pairs * least <= alpha or "monte_carlo" not in method:
        return
    warn(
        f"compare_systems: n_resamples={n_resamples} gives p-values of at least "
        f"{least:.3g}. Multiplied by {n_pairs} pairs, this is {n_pairs * least:.3g}, "
        f"more than alpha={alpha:g}, so the number of resamples decides what is "
        f"significant. Draw more than {int(n_pairs / alpha)} resamples."
    )
