"""Gains in mean scores of all pairs of systems, with intervals and exact tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator
from .._results import Result, plain
from .._validation import as_floats, as_groups, check_choice, check_fraction, check_real
from ..evaluation import Evaluation, accuracy_interval, align_evaluations
from ..evaluation._align import AlignedEvaluations
from ._score_tests import (
    Moments,
    flipped_gains,
    limits_of_gains,
    mcnemar_gains,
    smallest_pvalue,
    tango_statistic,
    wins_and_losses,
)
from ._system_comparison import ADJUSTMENTS, adjusted_pvalues
from ._tail_probabilities import as_pvalues


@dataclass(frozen=True, repr=False, eq=False)
class ScoreComparison(Result):
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
            the score of A minus the margin.
        """
        margin = check_real(margin, low=0, high=self._moments.bound, name="margin")
        return self._tail(self._distance(-margin))

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
        lower = self._tail(self._distance(-margin))
        return np.maximum(lower, self._tail(-self._distance(margin)))

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
        if smallest_pvalue(n_units) > 1 - self.confidence_level:
            return np.full(len(self.pairs), np.nan)
        z, z_power = self._quantile(), float(ndtri(power))
        m = self._moments
        if not m.is_binary:
            return (z + z_power) * self._standard_error()
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
        return np.ceil(m.n * ((z + z_power) * self._standard_error() / gain) ** 2)

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
        place = {k: i for i, k in enumerate(order)}
        number = {name: k for k, name in enumerate(self.names)}
        groups = [set(range(len(order)))]
        for (a, b), p in zip(self.pairs, self.pvalue_adjusted, strict=True):
            if p > alpha:
                continue
            i, j = place[number[a]], place[number[b]]
            split = [g - {x} for g in groups if {i, j} <= g for x in (i, j)]
            whole = [g for g in groups if not {i, j} <= g]
            for part in sorted(split, key=len, reverse=True):
                if not any(part <= other for other in whole):
                    whole.append(part)
            groups = whole
        ordered = sorted(sorted(group) for group in groups)
        return [[self.names[order[i]] for i in group] for group in ordered]

    @public
    def matrix(self, column: str = "pvalue_adjusted") -> np.ndarray:
        """Return the values of all pairs as a matrix.

        Parameters
        ----------
        column : {'pvalue_adjusted', 'pvalue', 'gain'}, default='pvalue_adjusted'
            Attribute to return.

        Returns
        -------
        matrix : ndarray of shape (n_systems, n_systems)
            The entry in row i and column j belongs to systems i and j. A gain is the
            score of system j minus the score of system i. On the diagonal, gains are 0
            and p-values are 1.
        """
        check_choice(column, ("gain", "pvalue", "pvalue_adjusted"), name="column")
        n = len(self.names)
        found = np.zeros((n, n)) if column == "gain" else np.ones((n, n))
        upper = np.triu_indices(n, 1)
        found[upper] = getattr(self, column)
        found.T[upper] = -found[upper] if column == "gain" else found[upper]
        return found

    def _best_first(self) -> list[int]:
        """Return the indices of the systems, with the best system first."""
        value = self.score if self._lower_is_better else -self.score
        return list(np.argsort(value, kind="stable").tolist())

    def _distance(self, gain: float) -> np.ndarray:
        """Return the standardised distance of the observed gains from a gain."""
        m = self._moments
        if m.is_binary:
            z = tango_statistic(m.wins, m.losses, m.n, np.full(m.wins.size, gain))
        else:
            spread = m.squares - 2 * gain * m.across + gain**2 * m.sizes
            if m.bound == 1:
                spread += abs(gain) * (1 - abs(gain)) * m.sizes / m.n_effective
            z = (m.total - m.n * gain) / np.sqrt(np.maximum(spread, 1e-300))
        return z

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

    def _standard_error(self) -> np.ndarray:
        m = self._moments
        gain = m.total / m.n
        spread = m.squares - 2 * gain * m.across + gain**2 * m.sizes
        units = m.n_effective
        return (
            np.sqrt(np.maximum(spread, 0.5 * m.sizes / units) * units / (units - 1))
            / m.n
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict of lists and numbers."""
        ends = zip(self.score, self.low, self.high, strict=True)
        systems = dict(zip(self.names, (plain(list(e)) for e in ends), strict=True))
        columns = {name: plain(value) for name, value in self._columns().items()}
        settings = ("n_questions", "n_groups", "adjust", "confidence_level")
        return {
            "systems": systems,
            **columns,
            **{name: getattr(self, name) for name in settings},
        }

    def _columns(self) -> dict[str, Any]:
        return {
            "system_a": [a for a, _ in self.pairs],
            "system_b": [b for _, b in self.pairs],
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
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        alpha = 1 - self.confidence_level
        n = int(np.count_nonzero(self.pvalue_adjusted <= alpha))
        return (
            f"ScoreComparison({len(self.names)} systems, {len(self.pairs)} pairs, "
            f"{n} with pvalue_adjusted <= {alpha:.3g}; "
            f"n_questions={self.n_questions}{groups}, adjust={self.adjust!r})"
        )


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
    if adjust is not None:
        check_choice(adjust, ADJUSTMENTS, name="adjust")
    level = check_fraction(confidence_level, name="confidence_level")
    rng = as_generator(random_state)
    names, score, number, samples, codes = _check_systems(systems, groups)
    n_groups = None if codes is None else int(codes.max()) + 1
    if n_groups == 1:
        raise ParameterError("groups", "must name at least two groups. Got one.")
    if n_groups == len(score):  # groups of one question are no groups
        codes = None
    intervals = [
        _interval_of(
            score[:, k],
            None if samples is None else samples[k],
            number[:, k],
            codes,
            level,
        )
        for k in range(len(names))
    ]
    first, second = np.triu_indices(len(names), 1)
    is_binary = bool(np.isin(score, (0, 1)).all()) and codes is None
    wins, losses = wins_and_losses(score, first, second)
    if is_binary:
        pvalue, methods, moments, floor = mcnemar_gains(score, wins, losses)
    else:
        pvalue, methods, moments, floor = flipped_gains(
            score, number, codes, first, second, wins, losses, rng
        )
    gain = (score.mean(axis=0)[second] - score.mean(axis=0)[first]) + 0.0
    low, high = limits_of_gains(moments, gain, pvalue, level)
    return ScoreComparison(
        names=names,
        score=score.mean(axis=0),
        low=np.array([ends[0] for ends in intervals]),
        high=np.array([ends[1] for ends in intervals]),
        pairs=[(names[i], names[j]) for i, j in zip(first, second, strict=True)],
        gain=gain,
        gain_low=low,
        gain_high=high,
        pvalue=pvalue,
        pvalue_adjusted=adjusted_pvalues(pvalue, adjust),
        method=methods,
        wins=wins,
        losses=losses,
        n_questions=len(score),
        n_groups=n_groups,
        adjust=adjust,
        confidence_level=level,
        smallest_pvalue=floor,
        _moments=moments,
    )


def _check_systems(
    systems: Any, groups: Any
) -> tuple[
    list[str], np.ndarray, np.ndarray, list[np.ndarray] | None, np.ndarray | None
]:
    """Return names, scores, numbers of samples, the samples, and codes of groups."""
    if isinstance(systems, Mapping) and systems:
        kinds = {isinstance(value, Evaluation) for value in systems.values()}
        if kinds == {True}:
            systems = align_evaluations(systems)
    if isinstance(systems, AlignedEvaluations):
        names, score, number = systems.names, systems.score, systems.n_samples
        samples: list[np.ndarray] | None = systems.samples
        if isinstance(groups, str):
            if groups not in systems.groups:
                known = ", ".join(map(repr, systems.groups)) or "none"
                raise ParameterError(
                    "groups",
                    f"must name a column of the evaluations ({known}). Got {groups!r}.",
                )
            groups = systems.groups[groups]
    else:
        names, score = _check_arrays(systems)
        number, samples = np.ones(score.shape, dtype=np.int64), None
        if isinstance(groups, str):
            raise ParameterTypeError(
                "groups", "must be an array if the systems are arrays. Got a name."
            )
    if len(score) < 2:
        raise ParameterError(
            "systems", f"must have at least two questions. Got {len(score)}."
        )
    return names, score, number, samples, as_groups(groups, len(score))


def _check_arrays(systems: Any) -> tuple[list[str], np.ndarray]:
    if not isinstance(systems, Mapping):
        raise ParameterTypeError(
            "systems", f"must be a mapping of names. Got {type(systems).__name__}."
        )
    if len(systems) < 2:
        raise ParameterError(
            "systems", f"must contain at least two systems. Got {len(systems)}."
        )
    columns: list[np.ndarray] = []
    for name, values in systems.items():
        column = as_floats(values, name=f"systems[{name!r}]").astype(np.float64)
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
    return [str(name) for name in systems], np.column_stack(columns)


def _interval_of(
    score: np.ndarray,
    samples: np.ndarray | None,
    number: np.ndarray,
    codes: np.ndarray | None,
    level: float,
) -> tuple[float, float]:
    if samples is None or (number == 1).all():
        found = accuracy_interval(score, groups=codes, confidence_level=level)
    else:
        question = np.repeat(np.arange(score.size), number)
        found = accuracy_interval(
            samples,
            questions=question,
            groups=None if codes is None else codes[question],
            confidence_level=level,
        )
    return found.low, found.high
