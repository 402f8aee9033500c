"""Gains of all pairs of systems with tests and intervals: mean scores, metrics of sums.

A gain in mean scores is the mean of differences; the differences are summed by unit (a
question, or a group of questions), and units are independent. A gain in a metric of
sums is treated like a mean of the jackknife pseudovalues of units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import (
    as_floats,
    as_groups,
    check_fraction,
    check_positive,
    check_real,
)
from ..evaluation import Evaluation, align_evaluations
from ..evaluation._align import AlignedEvaluations
from ..rates._accuracy import (
    accuracy_interval,
    grouped_interval,
    independent_interval,
    is_binary,
)
from ._pair_tests import PairTests
from ._paired_items import Metric, check_named, check_systems, groups_of
from ._sign_flips import (
    FEWEST_FLIPS,
    MOST_DISCORDANT,
    SignedSum,
    as_integers,
    mcnemar_pvalues,
)
from ._system_comparison import Comparison, adjusted_pvalues, check_adjust, compared
from ._tail_probabilities import as_pvalues
from ._translation import bleu, chrf, ter

# Largest lattice of sign flips, and largest number of its points times that of sizes.
_LARGEST_LATTICE, _MOST_WORK = 1 << 22, 1 << 27

# Tango's limits need about eight steps, and more if nearly all questions are wins.
_MOST_SECANTS = 40

# Number of sign flips drawn if the exact distribution takes too long.
_N_FLIPS = 100_000

# Words for the methods of compare_systems.
_METHODS = {
    "exact": "paired bootstrap, exact",
    "saddlepoint": "paired bootstrap, saddlepoint",
    "monte_carlo": "paired bootstrap, {n:,} resamples drawn",
    "tilted": "paired bootstrap, {n:,} resamples drawn by importance sampling",
    "sign_flips": "sign flips",
}


# Scores of the samples of each question for each system, and their numbers.
Samples = list[tuple[np.ndarray, np.ndarray]]


class GainTest(NamedTuple):
    """P-values of gains, words for the tests, and the smallest attainable p-value."""

    pvalue: np.ndarray
    method: list[str]
    smallest: float


def mcnemar_gains(wins: np.ndarray, losses: np.ndarray, n: int) -> GainTest:
    """Return McNemar's tests of pairs, in the mid-p version if that is valid."""
    discordant = wins + losses
    is_midp = (discordant <= MOST_DISCORDANT * n) & (discordant > 0)
    words = np.where(is_midp, "McNemar's exact test with mid-p", "McNemar's exact test")
    # the p-values if one system won on all of these questions
    floor = mcnemar_pvalues(0, discordant, mid_p=is_midp).min()
    pvalue = mcnemar_pvalues(losses, wins, mid_p=is_midp)
    return GainTest(pvalue, words.tolist(), float(floor))


def flipped_gain(
    difference: np.ndarray, rng: np.random.Generator
) -> tuple[float, str, float]:
    """Return p-value, method and smallest p-value of sign flips of units.

    `difference` has one entry per unit. The method is 'exact' or 'drawn', with or
    without ' with mid-p'.
    """
    found = SignedSum(difference)
    largest = min(_LARGEST_LATTICE, _MOST_WORK // max(found.values.size, 1))
    exact = found.exact_tails(largest)
    tails = found.drawn_tails(_N_FLIPS, rng) if exact is None else exact
    mid_p = found.allows_mid_p(difference.size, are_answers=False)
    way, least = ("exact", 0.0) if exact else ("drawn", 1 / (_N_FLIPS + 1))
    return (
        found.p_value("two-sided", tails, mid_p=mid_p),
        way + " with mid-p" * mid_p,
        max(smallest_pvalue(found.n, mid_p=mid_p), least),
    )


def smallest_pvalue(n_differing: int, *, mid_p: bool) -> float:
    """Return the smallest p-value that sign flips of this many units can give."""
    return min(2.0 ** max((0 if mid_p else 1) - n_differing, -1000), 1.0)


def tango_statistic(
    wins: np.ndarray, losses: np.ndarray, n: int, gain: np.ndarray | float
) -> np.ndarray:
    """Return Tango's standardised distance of (wins - losses) / n from a gain."""
    above = wins - losses - n * gain
    with np.errstate(divide="ignore", invalid="ignore"):
        z = above / _tango_error(wins, losses, n, gain)
    return np.where(above == 0, 0.0, z)


def _tango_error(
    wins: np.ndarray, losses: np.ndarray, n: int, gain: np.ndarray | float
) -> np.ndarray:
    """Return the standard deviation of wins - losses if this is the true gain."""
    # The maximum likelihood estimate of the fraction of losses, for a fixed gain,
    # solves n share^2 + b share = c (Tango 1998).
    spread = n * gain * (1 - gain)
    b = ((2 * n - wins + losses) * gain - (wins + losses)) / 2
    twice = np.sqrt(np.maximum(b * b + 2 * losses * spread, 0)) - b
    return np.asarray(np.sqrt(np.maximum(twice + spread, 0)))


def tango_limits(
    wins: np.ndarray, losses: np.ndarray, n: int, quantile: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Tango's interval of the gain, for a normal quantile."""
    # The lower limit is the upper limit of the exchanged systems, with another sign.
    wins, losses = np.stack([losses, wins]), np.stack([wins, losses])
    gain = (wins - losses) / n

    def excess(limit: np.ndarray) -> np.ndarray:
        error = _tango_error(wins, losses, n, limit)
        return np.asarray(limit - gain - quantile / n * error)

    # The excess has one root above the gain. It is nearly linear, so that secants (the
    # Illinois method) find the root in about eight steps.
    inside, outside = gain, np.ones_like(gain)
    # A gain of 1 is a root as well: the bound keeps the secants from it.
    below, above = np.minimum(excess(inside), -quantile / n), excess(outside)
    was_low = None
    for _ in range(_MOST_SECANTS):
        share = -below / np.maximum(above - below, 1e-300)
        limit = inside + share * (outside - inside)
        found = excess(limit)
        if (np.abs(found) <= 1e-14).all():
            break
        # A value that stays a second time counts half.
        is_low = found <= 0
        part = 1.0 if was_low is None else np.where(is_low == was_low, 0.5, 1.0)
        below = np.where(is_low, found, part * below)
        above = np.where(is_low, part * above, found)
        inside = np.where(is_low, limit, inside)
        outside = np.where(is_low, outside, limit)
        was_low = is_low
    return -limit[0], limit[1]


@dataclass(frozen=True)
class Moments:
    """Moments of the differences of pairs; arrays have one entry per pair.

    `squares`, `across` and `sizes` are the sums over units of D^2, D times size, and
    size^2, where D is the sum of the differences in a unit. Gains are from -bound to
    bound.
    """

    n: int
    sizes: float
    total: np.ndarray
    squares: np.ndarray
    across: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    is_binary: bool = False
    bound: float = 1.0

    @property
    def n_effective(self) -> float:
        """Effective number of units."""
        return self.n**2 / self.sizes

    def spread(self, gain: np.ndarray | float) -> np.ndarray:
        """Return the sums of (D - gain size)^2."""
        return np.asarray(self.squares - 2 * gain * self.across + gain**2 * self.sizes)

    def distance(self, gain: float) -> np.ndarray:
        """Return the standardised distance of the observed gains from a gain."""
        if self.is_binary:
            return tango_statistic(self.wins, self.losses, self.n, gain)
        spread = self.spread(gain)
        if self.bound == 1:
            # One more unit that differs by 0 or 1, so that the spread is not 0.
            unit = abs(gain) * (1 - abs(gain))
            spread = spread + unit * self.sizes / self.n_effective
        return (self.total - self.n * gain) / np.sqrt(np.maximum(spread, 1e-300))

    def standard_error(self) -> np.ndarray:
        """Return standard errors of the gains, of at least half a question."""
        spread, units = self.spread(self.total / self.n), self.n_effective
        spread = np.maximum(spread, 0.5)
        return np.sqrt(spread * units / (units - 1)) / self.n

    def score_limits(self, quantile: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the gains d with (total - d n)^2 <= quantile^2 spread(d).

        The limits are -bound and bound if there are effectively too few units.
        """
        c2 = quantile**2
        # theory, (P13): a t^2 - 2 b t + c <= 0
        a = self.n**2 - c2 * self.sizes
        b = self.n * self.total - c2 * self.across
        c = self.total**2 - c2 * self.squares
        # With effectively few units, a is not positive, and no large gain is rejected.
        if a <= 1e-9 * self.n**2:
            return np.full(b.shape, -self.bound), np.full(b.shape, self.bound)
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        low = np.maximum((b - root) / a, -self.bound)
        return low, np.minimum((b + root) / a, self.bound)

    def limits(
        self, gain: np.ndarray, pvalue: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of gains, which agree with tests of 0."""
        quantile = float(-ndtri((1 - level) / 2))
        if self.is_binary:
            low, high = tango_limits(self.wins, self.losses, self.n, quantile)
        else:
            low, high = self.score_limits(quantile)
            # If few units differ, further kinds of differences may be unobserved.
            few = ((self.wins + self.losses) < FEWEST_FLIPS) & (self.bound == 1)
            # upper end of Wilson's interval for no success in n_effective trials
            unseen = quantile**2 / (self.n_effective + quantile**2)
            low = np.where(few, np.maximum(np.minimum(low, gain - unseen), -1), low)
            high = np.where(few, np.minimum(np.maximum(high, gain + unseen), 1), high)
        tiny = np.finfo(np.float64).tiny
        significant = pvalue < 1 - level
        # The exact test decides whether 0 is inside.
        low = np.where(significant & (gain > 0), np.maximum(low, tiny), low)
        high = np.where(significant & (gain < 0), np.minimum(high, -tiny), high)
        low = np.where(significant, low, np.minimum(low, 0.0))
        high = np.where(significant, high, np.maximum(high, 0.0))
        return np.minimum(low, gain), np.maximum(high, gain)


@dataclass(frozen=True, repr=False, eq=False)
class ScoreComparison(Comparison):
    """Scores of systems, and the gains of all pairs.

    Returned by :func:`compare_scores`. Arrays of pairs are in the order of `pairs`.

    Attributes
    ----------
    names : list of str
        Names of the systems.
    score, low, high : ndarray of shape (n_systems,)
        Mean score of each system with its confidence interval.
    pairs : list of tuple of str
        Names (A, B) of each pair. A comes before B in `names`.
    gain : ndarray of shape (n_pairs,)
        Score of B minus score of A. It is positive if B is better.
    gain_low, gain_high : ndarray of shape (n_pairs,)
        Ends of the interval of the gain. It excludes 0 if and only if the p-value is
        below 1 - confidence_level.
    pvalue, pvalue_adjusted : ndarray of shape (n_pairs,)
        Two-sided p-value of the hypothesis of no gain, before and after the adjustment
        for the number of pairs.
    method : list of str
        Description of the test of each pair.
    wins, losses : ndarray of shape (n_pairs,), int
        Number of questions on which B scores higher, and lower, than A.
    n_questions : int
        Number of questions.
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
        gain can be significant.

    See Also
    --------
    compare_scores : Compare the systems.
    compare_systems : Comparison for metrics that are not means of scores.

    Examples
    --------
    >>> from skcalib.significance import compare_scores
    >>> result = compare_scores({"A": [1, 0, 0, 0, 1, 0], "B": [1, 1, 1, 1, 1, 1]})
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
    _moments: Moments
    _lower_is_better: bool = False

    _settings = "n_questions n_groups adjust confidence_level"

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
        m = self._moments
        margin = check_real(margin, low=0, high=m.bound, name="margin")
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
        margin = check_real(margin, low=0, high=self._moments.bound, name="margin")
        lower = self._tail(self._moments.distance(-margin))
        return np.maximum(lower, self._tail(-self._moments.distance(margin)))

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
            any p-value below 1 - confidence_level.
        """
        power = check_fraction(power, name="power")
        n_units = self.n_questions if self.n_groups is None else self.n_groups
        least = smallest_pvalue(n_units, mid_p=n_units >= FEWEST_FLIPS)
        if least > 1 - self.confidence_level:
            return np.full(len(self.pairs), np.nan)
        z, z_power = self._quantile(), float(ndtri(power))
        m = self._moments
        if not m.is_binary:
            return (z + z_power) * m.standard_error()
        share, gain = self._discordant(), np.zeros(len(self.pairs))
        for _ in range(100):
            left = np.sqrt(np.maximum(share - gain**2, 0))
            gain = np.minimum((z * np.sqrt(share) + z_power * left) / np.sqrt(m.n), 1)
            share = np.maximum(share, gain)
        return gain

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
        bound = self._moments.bound
        gain = abs(check_real(gain, low=-bound, high=bound, name="gain"))
        if gain == 0:
            raise ParameterError("gain", "must not be 0.")
        power = check_fraction(power, name="power")
        z, z_power = self._quantile(), float(ndtri(power))
        m = self._moments
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
        >>> from skcalib.significance import compare_scores
        >>> right = {"a": [1] * 30, "b": [1] * 29 + [0], "c": [0] * 30}
        >>> compare_scores(right).letters()
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
        groups = [set(range(len(order)))]
        for (a, b), p in zip(self.pairs, self.pvalue_adjusted, strict=True):
            if p > alpha:
                continue
            i, j = place[a], place[b]
            split = [g - {x} for g in groups if {i, j} <= g for x in (i, j)]
            whole = [g for g in groups if not {i, j} <= g]
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
        return (m.wins + m.losses + 0.5) / (m.n + 1)

    def _scores(self) -> dict[str, Any]:
        values = np.column_stack([self.score, self.low, self.high]).tolist()
        return {"systems": dict(zip(self.names, values, strict=True))}

    def _columns(self) -> dict[str, Any]:
        return {
            **self._names_of_pairs(),
            "gain": self.gain,
            "low": self.gain_low,
            "high": self.gain_high,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "method": self.method,
            "wins": self.wins,
            "losses": self.losses,
        }

    def _in_words(self) -> Sequence[str]:
        return (
            "A gain is the score of the second system minus the score of the first; "
            "p-values are adjusted over all pairs.",
        )

    def __repr__(self) -> str:
        alpha = 1 - self.confidence_level
        return self._text(alpha, "n_questions n_groups adjust")


def _letter(k: int) -> str:
    """Return a to z, then a2, b2, ..."""
    return chr(ord("a") + k % 26) + (str(k // 26 + 1) if k >= 26 else "")


@public
def compare_scores(
    systems: AlignedEvaluations | Mapping[str, Any],
    *,
    groups: ArrayLike | str | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    random_state: RandomStateLike = 0,
) -> ScoreComparison:
    """Compare the mean scores of systems on the same questions.

    Parameters
    ----------
    systems : AlignedEvaluations, or mapping of str to Evaluation or array-like
        Systems to compare, with the baseline first. Evaluations are matched by
        :func:`~skcalib.evaluation.align_evaluations`; arrays have shape (n,), with one
        score in [0, 1] per question in the same order.
    groups : array-like of shape (n,) or str, default=None
        Group of each question, such as the passage it is about, or the name of a column
        of the evaluations that contains the groups. Scores of one group may depend on
        each other.
        Groups of one question each give the same result as no groups.
    adjust : {'holm', 'bh'} or None, default='holm'
        Correction of the p-values for the number of pairs.
    confidence_level : float, default=0.95
        Confidence level of the intervals.
    random_state : int, RandomState, Generator or None, default=0
        Random state used to draw sign flips if there are too many to enumerate.

    Returns
    -------
    comparison : ScoreComparison
        Scores and gains with intervals and p-values.

    Raises
    ------
    ValueError
        If there are fewer than two systems, questions or groups, if a score is not in
        [0, 1], or if the evaluations do not match.

    See Also
    --------
    compare_systems : Comparison by metrics of sums, such as F1.
    mcnemar_test, permutation_test : Tests of one pair.

    Notes
    -----
    Independent questions with scores of 0 and 1 are compared by McNemar's exact test in
    its mid-p version [1]_. If more than three quarters of the questions are discordant,
    the mid-p version would reject too often and the test without mid-p is used. Other
    scores, and questions in groups, are compared by flipping the signs of the
    differences of whole questions or groups [2]_. The distribution of their sum is
    exact if the differences are multiples of a common fraction; otherwise sign flips
    are drawn. Mid-p is used if the systems differ in at least seven questions or
    groups.

    The interval of a gain is Tango's score interval [3]_ for scores of 0 and 1, and
    otherwise the set of gains d that satisfy ::

        |sum_u (D_u - d n_u)| <= c sqrt(sum_u (D_u - d n_u)^2)

    where D_u is the sum of the differences in unit u (a question or a group), n_u is
    its number of questions, and c is the quantile of the normal distribution. If the
    interval and the p-value would lead to different decisions about a gain of 0, the
    end of the interval that is closest to 0 is set to 0.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake (2013). "The McNemar test for
       binary matched-pairs data". BMC Medical Research Methodology 13, 91.
    .. [2] J. P. Romano (1990). "On the behavior of randomization tests without a group
       invariance assumption". Journal of the American Statistical Association 85.
    .. [3] T. Tango (1998). "Equivalence test and confidence interval for the difference
       in proportions for the paired-sample design". Statistics in Medicine 17.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import compare_scores
    >>> base, new = np.repeat([1, 0], [60, 40]), np.repeat([1, 0], [75, 25])
    >>> result = compare_scores({"base": base, "new": new})
    >>> result.pairs, result.gain.round(2).tolist(), result.method
    ([('base', 'new')], [0.15], ["McNemar's exact test with mid-p"])
    >>> result.gain_low.round(3).tolist(), result.gain_high.round(3).tolist()
    ([0.093], [0.233])
    """
    check_adjust(adjust)
    level = check_fraction(confidence_level, name="confidence_level")
    rng = as_generator(random_state)
    names, score, samples, codes = _check_systems(systems, groups)
    n_questions = score.shape[1]
    n_groups = None if codes is None else int(codes.max()) + 1
    if n_groups == 1:
        raise ParameterError("groups", "must name at least two groups. Got one.")
    if n_groups == n_questions:  # groups of one question are no groups
        codes = None
    low, high = _intervals(score, samples, codes, level)
    are_binary = is_binary(score)
    wins, losses = _wins_and_losses(score, are_binary)
    if codes is None and are_binary:
        moments = table_moments(wins, losses, n_questions)
        test = mcnemar_gains(wins, losses, n_questions)
    else:
        moments, test = _flipped_gains(score, are_binary, codes, wins, losses, rng)
    first, second = np.triu_indices(len(names), 1)
    mean = score.mean(axis=1)
    gain = (mean[second] - mean[first]) + 0.0
    gain_low, gain_high = moments.limits(gain, test.pvalue, level)
    return ScoreComparison(
        names=names,
        score=mean,
        low=low,
        high=high,
        pairs=[(names[i], names[j]) for i, j in zip(first, second, strict=True)],
        gain=gain,
        gain_low=gain_low,
        gain_high=gain_high,
        pvalue=test.pvalue,
        pvalue_adjusted=adjusted_pvalues(test.pvalue, adjust),
        method=test.method,
        wins=wins,
        losses=losses,
        n_questions=n_questions,
        n_groups=n_groups,
        adjust=adjust,
        confidence_level=level,
        smallest_pvalue=test.smallest,
        _moments=moments,
    )


def _wins_and_losses(
    score: np.ndarray, are_binary: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of questions on which the second system wins and loses."""
    pairs = list(zip(*np.triu_indices(len(score), 1), strict=True))
    found = []
    if are_binary:
        right = score == 1
        n_right = np.count_nonzero(right, axis=1)
        for i, j in pairs:
            both = np.count_nonzero(right[i] & right[j])
            found.append((n_right[j] - both, n_right[i] - both))
    else:
        slack = 1e-12
        for i, j in pairs:
            gain = score[j] - score[i]
            more, less = gain > slack, gain < -slack
            found.append((np.count_nonzero(more), np.count_nonzero(less)))
    wins, losses = np.array(found).T
    return wins, losses


def table_moments(wins: np.ndarray, losses: np.ndarray, n: int) -> Moments:
    """Return the moments of wins and losses on n independent questions."""
    total = (wins - losses).astype(np.float64)
    squares = (wins + losses).astype(np.float64)
    return Moments(n, float(n), total, squares, total, wins, losses, is_binary=True)


def _flipped_gains(
    score: np.ndarray,
    are_binary: bool,
    codes: np.ndarray | None,
    wins: np.ndarray,
    losses: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Moments, GainTest]:
    """Return the moments of units, and sign flips of their differences."""
    n, step, units = score.shape[1], 1.0, "questions"
    size = np.ones(n)
    whole = None if are_binary else as_integers(score, score.size)
    if whole is not None:  # sums of integers have no rounding error
        score, step = whole
    if codes is not None:
        units, size = "groups", np.bincount(codes).astype(np.float64)
        score = np.stack([np.bincount(codes, column) for column in score])
    method, rows = [], []
    for i, j in zip(*np.triu_indices(len(score), 1), strict=True):
        difference = (score[j] - score[i]).astype(np.float64, copy=False)
        pvalue, way, smallest = flipped_gain(difference, rng)
        method.append(f"sign flips of {size.size} {units}, {way}")
        difference *= step
        squares, across = difference @ difference, difference @ size
        rows.append((pvalue, smallest, difference.sum(), squares, across))
    pvalues, floors, total, squares, across = np.array(rows).T
    moments = Moments(n, float(size @ size), total, squares, across, wins, losses)
    return moments, GainTest(pvalues, method, float(floors.min()))


def _check_systems(
    systems: Any, groups: Any
) -> tuple[list[str], np.ndarray, Samples | None, np.ndarray | None]:
    """Return names, scores (a row per system), samples of systems, codes of groups.

    The samples of a system are their scores, and the number of samples per question.
    """
    values = list(systems.values()) if isinstance(systems, Mapping) else []
    if values and all(isinstance(each, Evaluation) for each in values):
        systems = align_evaluations(systems)
    if isinstance(systems, AlignedEvaluations):
        names, score = systems.names, np.ascontiguousarray(systems.score.T)
        number = systems.n_samples.T
        samples = list(zip(systems.samples, number, strict=True))
        groups = groups_of(systems, groups)
    else:
        names, score = _check_arrays(systems)
        samples = None
        if isinstance(groups, str):
            problem = "must be an array if the systems are arrays. Got a name."
            raise ParameterTypeError("groups", problem)
    n = score.shape[1]
    if n < 2:
        raise ParameterError("systems", f"must have at least two questions. Got {n}.")
    return names, score, samples, as_groups(groups, n)


def _check_arrays(systems: Any) -> tuple[list[str], np.ndarray]:
    check_named(systems, "scores")
    columns: list[np.ndarray] = []
    for name, values in systems.items():
        column = as_floats(values, name=f"systems[{name!r}]")
        if column.ndim != 1 or (columns and column.size != columns[0].size):
            expected = columns[0].size if columns else "n"
            raise ParameterError(
                "systems",
                f"must have one score per question, shape ({expected},). Got "
                f"{column.shape} for {name!r}.",
            )
        bad = ~((column >= 0) & (column <= 1))
        if bad.any():
            row = int(bad.argmax())
            raise ParameterError(
                "systems",
                f"must have scores in [0, 1]. Got {float(column[row])!r} in row {row} "
                f"of {name!r}.",
            )
        columns.append(column)
    return [str(name) for name in systems], np.array(columns, dtype=np.float64)


def _intervals(
    score: np.ndarray, samples: Samples | None, codes: np.ndarray | None, level: float
) -> np.ndarray:
    """Return the ends of the intervals of the mean scores."""
    found = []
    for k, values in enumerate(score):
        if samples is not None and (samples[k][1] != 1).any():
            values, number = samples[k]
            questions = np.repeat(np.arange(number.size), number)
            interval = accuracy_interval(
                values,
                questions=questions,
                groups=None if codes is None else codes[questions],
                confidence_level=level,
            )
            found.append((interval.low, interval.high))
        elif codes is None:
            found.append(independent_interval(values, level)[:2])
        else:
            found.append(grouped_interval(values, codes, level)[:2])
    return np.array(found).T


@public
def compare_metrics(
    systems: Mapping[str, ArrayLike],
    *,
    statistic: str | Callable,
    groups: ArrayLike | None = None,
    adjust: str | None = "holm",
    confidence_level: float = 0.95,
    largest: float | None = None,
    random_state: RandomStateLike = 0,
) -> ScoreComparison:
    """Compare systems by a metric of summed statistics, such as F1 or BLEU.

    Parameters
    ----------
    systems : mapping of str to array-like of shape (n_items, m)
        Sufficient statistics of each system by name, with one row per sentence in the
        same order. The baseline comes first. If there is one system, its metric has an
        interval, and there are no pairs.
    statistic : {'ratio', 'f1'} or callable
        Metric of the summed columns, as in :func:`paired_bootstrap_test`; for example
        :func:`bleu`.
    groups : array-like of shape (n_items,), default=None
        Group of each item, such as its document.
    adjust : {'holm', 'bh'} or None, default='holm'
        Correction of the p-values for the number of pairs.
    confidence_level : float, default=0.95
        Confidence level of the intervals.
    largest : float, default=None
        Largest value of the metric. If None, it is 100 for :func:`bleu`, :func:`chrf`
        and :func:`ter`, and 1 for all others.
    random_state : int, RandomState, Generator or None, default=0
        Random state used to draw resamples.

    Returns
    -------
    comparison : ScoreComparison
        Gains, p-values and intervals. `wins` and `losses` are the numbers of items
        whose statistics raise and lower the gain.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, or if the metric of a system is
        above `largest` (which only TER can be).

    See Also
    --------
    compare_scores : Comparison of mean scores, with exact tests.
    compare_systems : Comparison that computes p-values only.

    Notes
    -----
    The p-values are computed by :func:`compare_systems`. The interval of a metric or
    gain is an interval of the mean of its jackknife pseudovalues. A pseudovalue is n
    times the metric minus n - 1 times the metric without one item (or group).

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import compare_metrics
    >>> rng = np.random.default_rng(0)
    >>> gold = rng.integers(0, 3, 200)
    >>> a, b = (rng.binomial(gold, p) for p in (0.6, 0.8))
    >>> counts = {"A": np.c_[a, gold, gold], "B": np.c_[b, gold, gold]}
    >>> result = compare_metrics(counts, statistic="f1")
    >>> result.score.round(2).tolist(), bool(result.pvalue[0] < 0.001)
    ([0.58, 0.77], True)

    The F1 of one system with its interval:

    >>> result = compare_metrics({"A": counts["A"]}, statistic="f1")
    >>> print(f"{result.score[0]:.3f} [{result.low[0]:.3f}, {result.high[0]:.3f}]")
    0.576 [0.511, 0.641]
    """
    level = check_fraction(confidence_level, name="confidence_level")
    if largest is None:
        largest = 100.0 if statistic in (bleu, chrf, ter) else 1.0
    bound = check_positive(largest, name="largest")
    check_adjust(adjust)
    rng = as_generator(random_state)
    checked = check_systems(systems, statistic, groups, least=1)
    tests = PairTests(checked, "two-sided", "auto", 10_000, rng)
    found = compared(tests, adjust, 0.05)
    best = int(np.argmax(found.metric))
    if statistic is not ter and found.metric[best] > bound + 1e-9:
        raise ParameterError(
            "largest",
            "must be the largest possible value of the metric, such as 100 for "
            f"percentages. Got {bound:g}, and the metric of {found.names[best]!r} is "
            f"{found.metric[best]:g}.",
        )
    columns = checked.columns
    units = np.stack(
        [_pseudovalues(x, checked.metric) for x in np.moveaxis(columns, 1, 0)]
    )
    n_units = units.shape[1]
    quantile = float(stdtrit(n_units - 1, (1 + level) / 2))
    half = quantile * units.std(axis=1, ddof=1) / np.sqrt(n_units)
    first, second = np.triu_indices(len(units), 1)
    difference = units[second] - units[first]
    slack = 1e-9 * np.abs(difference).max(axis=1, initial=0, keepdims=True)
    # The metric of the sums differs slightly from the mean of the pseudovalues.
    difference += (found.gain - difference.mean(axis=1))[:, np.newaxis]
    # items without any change are neither wins nor losses
    changed = (columns[:, first] != columns[:, second]).any(axis=2).T
    total = difference.sum(axis=1)
    moments = Moments(
        n=n_units,
        sizes=float(n_units),
        total=total,
        squares=(difference**2).sum(axis=1),
        across=total,
        wins=((difference > slack) & changed).sum(axis=1),
        losses=((difference < -slack) & changed).sum(axis=1),
        bound=bound,
    )
    gain_low, gain_high = moments.limits(found.gain, found.pvalue, level)
    return ScoreComparison(
        names=found.names,
        score=found.metric,
        low=np.maximum(found.metric - half, 0),
        high=np.minimum(found.metric + half, np.maximum(bound, found.metric)),
        pairs=found.pairs,
        gain=found.gain,
        gain_low=gain_low,
        gain_high=gain_high,
        pvalue=found.pvalue,
        pvalue_adjusted=found.pvalue_adjusted,
        method=[_METHODS[name].format(n=found.n_resamples) for name in found.method],
        wins=moments.wins,
        losses=moments.losses,
        n_questions=found.n_items,
        n_groups=found.n_groups,
        adjust=adjust,
        confidence_level=level,
        smallest_pvalue=found._smallest_pvalue,
        _moments=moments,
        _lower_is_better=statistic is ter,
    )


def _pseudovalues(columns: np.ndarray, metric: Metric) -> np.ndarray:
    """Return n metric - (n - 1) metric without the row, for each row."""
    sums = columns.sum(axis=0)
    n = len(columns)
    without, _ = metric.of_sums(sums - columns)
    return n * metric.value(sums) - (n - 1) * without
