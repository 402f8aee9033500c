"""Ranking of answers by confidence: AUROC, risk and coverage, with intervals.

Every statistic is nearly a mean of its influence function, whose value for an answer
depends only on the level of its confidence and on whether it is right. Influences are
therefore arrays of shape (2, n_levels), with wrong answers in the first row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaincinv, ndtr, stdtr, stdtrit

from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import Pairs, warn_of_labels
from .._results import Result, plain
from .._validation import (
    as_floats,
    as_groups,
    as_labels,
    as_weights,
    check_bool,
    check_fraction,
    check_same_length,
    is_sequence,
    positives,
    raise_where,
)
from ._dependence import dependence, dependence_of_sums, group_sums, mean_variance
from ._frequency_intervals import frequency_interval

# Default coverages and accuracies of a ranking.
_COVERAGES, _ACCURACIES = (0.5, 0.8, 0.9), (0.9, 0.95)

# What to do if confidences look like labels, or like uncertainties.
_NOT_LABELS = "Pass a number that says how confident each answer is."
_UNCERTAINTY = (
    ": more confident answers are more often wrong. Check 'higher_is_confident', which "
    "must be False for an uncertainty such as an entropy."
)

# Largest number of coverages at which the curve is computed.
_N_POINTS = 200

# Draws of the curve for a simultaneous band.
_N_DRAWS = 5_000

# Losses that are added to the losses of each kind of answers, and to their squares.
# They keep the variance of few or nearly perfectly ranked answers from vanishing.
_ADDED, _ADDED_SQUARE = 0.5, 0.25

# Chance that a wrong answer, which is added to the area, is the most confident answer.
# With a smaller chance, the intervals miss the area too often if one or two of all
# wrong answers are expected to be the most confident answers, and the data have none.
_CHANCE_OF_FIRST = 0.5


class Estimate(float):
    """A number with the ends of its confidence interval, `low` and `high`."""

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Estimate:
        """Create the number."""
        self = super().__new__(cls, value)
        # Rounding must not leave the number outside of its interval.
        self.low, self.high = min(float(low), value), max(float(high), value)
        return self

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        """Return the arguments of the constructor, for copies and pickles."""
        return float(self), self.low, self.high

    def to_dict(self) -> dict[str, float]:
        """Return the number and both ends."""
        return {"estimate": float(self), "low": self.low, "high": self.high}


@dataclass(frozen=True, eq=False)
class _Answers:
    """Right and wrong answers by level of confidence, highest level first."""

    right: np.ndarray  # weight of the right answers of each level
    wrong: np.ndarray
    order: np.ndarray  # rows by level
    start: np.ndarray  # place in `order` where each level starts
    is_right: np.ndarray
    row_weight: np.ndarray | None
    groups: np.ndarray | None
    repeats: np.ndarray | None  # independent groups that each group stands for

    @cached_property
    def weight(self) -> np.ndarray:
        return self.right + self.wrong

    @cached_property
    def end(self) -> np.ndarray:
        """Weight of the answers down to each level."""
        return np.cumsum(self.weight)

    @property
    def total(self) -> float:
        return float(self.end[-1])

    def rows(self, influence: np.ndarray) -> np.ndarray:
        """Return a function of (is right, level) for each answer."""
        n_rows = np.diff(self.start, append=self.order.size)
        level = np.empty_like(self.order)
        level[self.order] = np.repeat(np.arange(n_rows.size), n_rows)
        return influence[self.is_right.astype(np.intp), level]

    def variance(self, influence: np.ndarray) -> float:
        """Return the variance of a mean influence if the answers were independent."""
        n = self.total
        squares = self.wrong @ influence[0] ** 2 + self.right @ influence[1] ** 2
        return float(squares) / n / max(n - 1, 1)

    def dependence(self, influence: np.ndarray, odd: float, level: float) -> float:
        """Return the number of answers that are equivalent to an independent one."""
        if self.groups is None:
            return 1.0
        rows, unit = self.rows(influence), self.variance(influence)
        given = self.row_weight, self.repeats
        return max(1.0, dependence(rows, self.groups, unit, odd, level, *given))

    @cached_property
    def placements(self) -> np.ndarray:
        """Share of the other kind that each answer is ranked on the right side of.

        The first row is the share of right answers above a wrong answer, the second row
        the share of wrong answers below a right answer. Answers of the same level count
        by half. The mean of each row is the AUROC.
        """
        above = (np.cumsum(self.right) - self.right / 2) / self.right.sum()
        below = 1 - (np.cumsum(self.wrong) - self.wrong / 2) / self.wrong.sum()
        return np.stack([above, below])

    @property
    def auroc(self) -> float:
        return float(self.right @ self.placements[1] / self.right.sum())

    def auroc_influence(self) -> np.ndarray:
        """Return the influence on the AUROC."""
        totals = np.array([[self.wrong.sum()], [self.right.sum()]])
        return (self.placements - self.auroc) * self.total / totals

    @cached_property
    def _harmonic(self) -> np.ndarray:
        """Sum of 1/i over the ranks i of each level."""
        before = self.end - self.weight
        exact = digamma(self.end + 1) - digamma(before + 1)
        # The difference loses the digits of large ranks; the series does not.
        x, y = np.maximum(before, 50) + 0.5, np.maximum(self.end, 50) + 0.5
        series = np.log1p((y - x) / x) + _digamma_rest(y) - _digamma_rest(x)
        return np.where(before < 50, exact, series)

    @cached_property
    def _own(self) -> np.ndarray:
        return 1 - (self.end - self.weight) * self._harmonic / self.weight

    @cached_property
    def loss_weight(self) -> np.ndarray:
        """Weight of a wrong answer of each level in the area under the curve.

        A wrong answer at rank i is one of k answers at the coverages k/n for k >= i, so
        that its weight is sum_{k>=i} 1/k, here averaged over the ranks of the level.
        """
        # The mean of digamma(i) over the level is digamma(end + 1) - own.
        return digamma(self.total + 1) - digamma(self.end + 1) + self._own

    @property
    def aurc(self) -> float:
        return float(self.wrong @ self.loss_weight) / self.total

    def area_influence(self) -> np.ndarray:
        """Return the influence on the area under the risk-coverage curve."""
        # An answer also moves all answers of lower confidence down by one rank.
        rate = self.wrong / self.weight
        moved = rate * self._harmonic
        moved = moved.sum() - np.cumsum(moved) + rate * self._own
        centre = self.weight @ (rate * self.loss_weight - moved) / self.total
        return np.stack([self.loss_weight - moved, -moved]) - centre

    def _prefixes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the accuracy of the first x answers, and of the answers near the last.

        The last answer is replaced by the next one if an answer above it is left out.
        """
        ends, right = np.append(0.0, self.end), np.append(0.0, np.cumsum(self.right))
        width = self.total**0.8 / 2
        low, high = np.maximum(x - width, 0), np.minimum(x + width, self.total)
        near = np.interp(high, ends, right) - np.interp(low, ends, right)
        return np.interp(x, ends, right) / x, near / (high - low)

    def simultaneous_level(self, share: np.ndarray, level: float) -> float:
        """Return the level of intervals that all contain the accuracies of shares.

        It follows from the largest of correlated normal errors, by simulation.
        """
        x = share * self.total
        accuracy, last = self._prefixes(x)
        # Half a right and half a wrong answer: no accuracy is free of errors.
        right, wrong = x * accuracy + share / 2, x * (1 - accuracy) + share / 2
        moved = right - last * (right + wrong)
        first = np.minimum.outer(np.arange(x.size), np.arange(x.size))
        covariance = right[first] * np.outer(1 - last, 1 - last)
        covariance += wrong[first] * np.outer(last, last)
        covariance -= np.outer(moved, moved) / (self.total + 1)
        sd = np.sqrt(np.maximum(covariance.diagonal(), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(covariance / np.outer(sd, sd))
        draws = np.random.default_rng(0).normal(size=(_N_DRAWS, x.size))
        draws *= np.sqrt(np.maximum(values, 0))
        largest = np.abs(draws @ vectors.T).max(axis=1)
        return float(2 * ndtr(np.quantile(largest, level)) - 1)

    def accuracies(
        self, share: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the accuracy of shares of the answers, and effective numbers."""
        x = share * self.total
        accuracy, last = self._prefixes(x)
        moved = share * (accuracy - last)
        ends = np.append(0.0, self.end)
        # sums of s and s^2, where s is the share of a level that is among the answers
        place = np.minimum(np.searchsorted(self.end, x), self.end.size - 1)
        part = np.clip((x - ends[place]) / self.weight[place], 0, 1)
        squares = np.zeros(x.size)
        for kind, error in ((self.wrong, -last), (self.right, 1 - last)):
            before = np.append(0.0, np.cumsum(kind))
            once = before[place] + part * kind[place]
            twice = before[place] + part**2 * kind[place]
            squares += error**2 * twice - 2 * error * moved * once
            squares += moved**2 * before[-1]
        # As in the AUROC, but an answer that is not right is a whole loss. At coverage
        # 1, the interval is the exact one.
        losses = (squares + _ADDED) / (accuracy * (1 - accuracy) * x + _ADDED)
        n = x / losses
        if self.groups is not None:
            odd = x * np.minimum(accuracy, 1 - accuracy)
            size, inside = self._group_sums(place, part)
            for k, (count, own_right) in inside:
                sums = own_right - last[k] * count - moved[k] * size
                unit = squares[k] / self.total**2
                ratio = dependence_of_sums(
                    sums, size, squares[k], unit, odd[k], level, self.repeats
                )
                n[k] /= max(1.0, ratio)
        return accuracy, n

    def _group_sums(
        self, place: np.ndarray, part: np.ndarray
    ) -> tuple[np.ndarray, Iterator[tuple[int, np.ndarray]]]:
        """Return the weight of each group, and its weight and right weight in prefixes.

        A prefix consists of the levels before `place` and of a part of this level.
        """
        codes = self.groups[self.order]  # type: ignore[index]
        weight = np.ones(codes.size) if self.row_weight is None else self.row_weight
        weight = weight[self.order]
        right = weight * self.is_right[self.order]
        ends, size = np.append(self.start, codes.size), np.bincount(codes, weight)

        def between(first: int, last: int) -> np.ndarray:
            some = codes[first:last]
            kinds = weight[first:last], right[first:last]
            return np.stack([np.bincount(some, kind, size.size) for kind in kinds])

        def prefixes() -> Iterator[tuple[int, np.ndarray]]:
            before, at, own = between(0, 0), 0, between(0, 0)
            done = -1
            for k in np.lexsort([part, place]).tolist():
                if place[k] != done:
                    done = int(place[k])
                    before, at = before + between(at, ends[done]), int(ends[done])
                    own = between(at, ends[done + 1])
                yield k, before + part[k] * own

        return size, prefixes()


def _digamma_rest(x: np.ndarray) -> np.ndarray:
    """Return digamma(x + 1/2) - log(x) for large x."""
    return (1 / 24 - (7 / 960 - 31 / 8064 / x**2) / x**2) / x**2


@dataclass(frozen=True, repr=False)
class ConfidenceRanking(Result):
    """How well a confidence ranks answers, from :func:`confidence_ranking`.

    Every estimate is a float with the attributes `low` and `high`, the ends of its
    confidence interval.

    Attributes
    ----------
    accuracy : float
        Share of right answers.
    auroc : float
        Probability that a right answer has a higher confidence than a wrong answer.
        Equal confidences count by half.
    aurc : float
        Area under the risk-coverage curve.
    excess_aurc : float
        `aurc` minus the area of the best order of the same answers.
    accuracy_at : dict
        Accuracy of the most confident answers, for each of `coverages`.
    coverage_at : dict
        Largest coverage that has an accuracy, for each of `accuracies`. It is 0 if no
        coverage has this accuracy.
    coverage, risk, risk_low, risk_high : ndarray of shape (n_points,)
        Risk-coverage curve with its pointwise confidence band. The risk is the share of
        wrong answers among the most confident answers.
    n : float
        Number of answers (total weight).
    n_groups : int or None
        Number of groups.
    confidence_level : float
        Confidence level.

    See Also
    --------
    confidence_ranking : Compute the ranking.

    Examples
    --------
    >>> from skcalib.metrics import confidence_ranking
    >>> ranking = confidence_ranking([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.7])
    >>> ranking.auroc
    0.8333333333333334
    >>> round(ranking.auroc.low, 2)
    0.04
    """

    accuracy: Estimate
    auroc: Estimate
    aurc: Estimate
    excess_aurc: Estimate
    accuracy_at: dict[float, Estimate]
    coverage_at: dict[float, Estimate]
    coverage: np.ndarray
    risk: np.ndarray
    risk_low: np.ndarray
    risk_high: np.ndarray
    n: float
    n_groups: int | None
    confidence_level: float
    _answers: _Answers

    def _columns(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in _AREAS}
        found |= {f"accuracy at coverage {c:g}": e for c, e in self.accuracy_at.items()}
        found |= {f"coverage at accuracy {a:g}": e for a, e in self.coverage_at.items()}
        return {
            "statistic": list(found),
            "estimate": [float(each) for each in found.values()],
            "low": [each.low for each in found.values()],
            "high": [each.high for each in found.values()],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, arrays as lists."""
        names = [f.name for f in fields(self) if f.name != "_answers"]
        return {name: _as_plain(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        shown = "".join(
            f"{name} {each:.3f} [{each.low:.3f}, {each.high:.3f}], "
            for name in ("auroc", "aurc", "accuracy")
            for each in [getattr(self, name)]
        )
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        return (
            f"ConfidenceRanking({shown}n={self.n:g}{groups}, "
            f"confidence_level={self.confidence_level:g})"
        )

    @public
    def compare(self, other: ConfidenceRanking) -> RankingComparison:
        """Compare two confidences in the same answers by a paired test.

        Parameters
        ----------
        other : ConfidenceRanking
            Ranking of the same answers by another confidence. The labels, groups and
            weights must be the same, in the same order.

        Returns
        -------
        comparison : RankingComparison
            Differences of the AUROC and of the AURC, this ranking minus `other`, with
            p-values.

        Raises
        ------
        ValueError
            If the answers of the rankings differ.

        Notes
        -----
        The variance of the difference of two AUROCs is the variance of DeLong et al.
        [1]_. With `groups`, influences are summed over each group. The ratio of the
        difference and its standard error is compared with Student's t distribution. Its
        degrees of freedom follow from the variances and effective numbers of right and
        of wrong answers (Welch, Satterthwaite). If there are fewer than two right or
        wrong answers, or if nearly all of a kind are in one group, the p-values are 1.
        With few groups, fewer equal rankings are rejected than the level allows (2.4%
        of 500 samples with twelve groups at .05, 4.5% to 5.8% without groups), since
        dependence is never taken to make an estimate more precise.

        References
        ----------
        .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). "Comparing
           the areas under two or more correlated receiver operating characteristic
           curves: a nonparametric approach". Biometrics 44.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.metrics import confidence_ranking
        >>> rng = np.random.default_rng(0)
        >>> y = rng.random(400) < 0.7
        >>> good, poor = y + rng.normal(size=400), y + 3 * rng.normal(size=400)
        >>> found = confidence_ranking(y, good).compare(confidence_ranking(y, poor))
        >>> print(f"{found.difference:.2f}, p = {found.pvalue:.1g}")
        0.14, p = 0.0004
        """
        if not isinstance(other, ConfidenceRanking):
            raise ParameterTypeError(
                "other",
                "must be the result of confidence_ranking. Got "
                f"{type(other).__name__} instead.",
            )
        _check_same_answers(self._answers, other._answers)
        return _compare(self._answers, other._answers, self.confidence_level)


_AREAS = ("accuracy", "auroc", "aurc", "excess_aurc")


def _as_plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, dict):
        return {f"{at:g}": each.to_dict() for at, each in value.items()}
    return plain(value)


@dataclass(frozen=True)
class RankingComparison(Result):
    """Difference of two rankings, from :meth:`ConfidenceRanking.compare`.

    Attributes
    ----------
    difference : float
        AUROC of the first ranking minus AUROC of the second ranking.
    low, high : float
        Ends of the confidence interval of the difference.
    pvalue : float
        Two-sided p-value of the hypothesis that the AUROCs are equal.
    aurc_difference : float
        AURC of the first ranking minus AURC of the second ranking.
    aurc_low, aurc_high : float
        Ends of the confidence interval of the difference.
    aurc_pvalue : float
        Two-sided p-value of the hypothesis that the AURCs are equal.
    confidence_level : float
        Confidence level of both intervals.

    See Also
    --------
    confidence_ranking : Compute a ranking.

    Examples
    --------
    >>> from skcalib.metrics import confidence_ranking
    >>> one = confidence_ranking([1, 1, 0, 0], [0.9, 0.8, 0.7, 0.7])
    >>> comparison = one.compare(confidence_ranking([1, 1, 0, 0], [0.9, 0.6, 0.7, 0.7]))
    >>> comparison.difference
    0.5
    """

    difference: float
    low: float
    high: float
    pvalue: float
    aurc_difference: float
    aurc_low: float
    aurc_high: float
    aurc_pvalue: float
    confidence_level: float


def _answers_by_level(
    is_right: np.ndarray,
    score: np.ndarray,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    repeats: np.ndarray | None = None,
) -> _Answers:
    order = np.argsort(-score)
    ordered = score[order]
    start = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    own_right = is_right[order].astype(np.float64)
    own = np.ones(score.size) if weight is None else weight[order]
    return _Answers(
        right=np.add.reduceat(own * own_right, start),
        wrong=np.add.reduceat(own * (1 - own_right), start),
        order=order,
        start=start,
        is_right=is_right,
        row_weight=weight,
        groups=groups,
        repeats=repeats,
    )


# Intervals


def _auroc(answers: _Answers, level: float) -> Estimate:
    kinds, value = np.stack([answers.wrong, answers.right]), answers.auroc
    totals = kinds.sum(axis=1)
    # variance of a placement as a share of its largest value, spread
    spread = value * (1 - value)
    squares = (kinds * (answers.placements - value) ** 2).sum(axis=1)
    losses = (squares + _ADDED_SQUARE) / (spread * (totals - 1) + _ADDED)
    n = 1 / float((np.minimum(losses, 1) / totals).sum())
    if answers.groups is not None:
        influence, odd = answers.auroc_influence(), spread * float(totals.min())
        n /= answers.dependence(influence, odd, level)
    low, high = _proportion_ends(value, n, level)
    return Estimate(value, float(low), float(high))


def _proportion_ends(
    value: ArrayLike, n: ArrayLike, level: float
) -> tuple[np.ndarray, np.ndarray]:
    return frequency_interval(value, n, level, "clopper_pearson")


def _area(
    value: float, influence: np.ndarray, answers: _Answers, level: float
) -> Estimate:
    """Return an area under a risk-coverage curve with its interval."""
    variance, n = answers.variance(influence), answers.total
    odd = float(min(answers.wrong.sum(), answers.right.sum()))
    ratio = answers.dependence(influence, odd, level)
    variance, n = variance * ratio, n / ratio
    # An area of 0, or equal influences of all answers, do not show a variance.
    spread = value * (1 - value)
    n_value = min(spread / variance, 10 * n) if spread > 0 and variance > 0 else n
    low, high = _proportion_ends(value, n_value, level)
    # Few errors have a skewed distribution. A gamma distribution with one more error
    # bounds a sum of rare weighted events. The mean weight is 1, the mean square 2. Of
    # many answers, the error is rather the most confident one with _CHANCE_OF_FIRST.
    largest = float(digamma(n + 1) + np.euler_gamma)
    mean = value + max(1.0, _CHANCE_OF_FIRST * largest) / n
    more = variance + max(2.0, _CHANCE_OF_FIRST * largest**2) / n**2
    upper = gammaincinv(mean**2 / more, (1 + level) / 2) * more / mean
    return Estimate(value, float(low), min(1.0, max(float(high), float(upper))))


def _best_area(rate: float, n: float) -> float:
    """Return the area under the curve if all errors have the lowest confidence."""
    right = n * (1 - rate)
    first = right * digamma(right + 1) - right  # sums of digamma over the first ranks
    last = n * digamma(n + 1) - n
    return float(rate * digamma(n + 1) - (last - first) / n)


def _grid(total: float) -> np.ndarray:
    n = min(_N_POINTS, int(np.ceil(total)))
    # more points at small coverages, where the curve is steep
    return np.linspace(0, 1, n + 1)[1:] ** (1 if n < _N_POINTS else 1.5)


def _curve(
    answers: _Answers, level: float, coverage: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return coverages with accuracies, effective numbers of answers and both ends."""
    accuracy, n = answers.accuracies(coverage, level)
    return coverage, accuracy, n, *_proportion_ends(accuracy, n, level)


def simultaneous_band(ranking: ConfidenceRanking) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the risk, which are valid for all coverages together."""
    answers, coverage = ranking._answers, ranking.coverage
    level = answers.simultaneous_level(coverage, ranking.confidence_level)
    *_, low, high = _curve(answers, level, coverage)
    return 1 - high, 1 - low


def _coverage_at(
    wanted: float, answers: _Answers, curve: tuple[np.ndarray, ...], level: float
) -> Estimate:
    """Return the largest coverage whose accuracy is at least `wanted`.

    The lower end is the largest coverage whose accuracy is shown to be at least
    `wanted`. At all coverages above the upper end, the accuracy is shown to be lower.
    """
    # right answers down to each level, minus the wanted number
    spare = np.cumsum(answers.right) - wanted * answers.end
    reached = np.flatnonzero(spare >= -1e-12 * answers.end)
    value = 0.0
    if reached.size:
        last = int(reached[-1])
        value = float(answers.end[last])
        if last + 1 < spare.size:  # a part of the next level
            lost = spare[last] - spare[last + 1]
            value += max(0.0, spare[last] / lost) * answers.weight[last + 1]
        value = min(1.0, value / answers.total)
    coverage, accuracy, n, low, high = curve
    # The accuracy of the first answers of a nearly perfect order varies with the number
    # of right answers, and no less if it is near 1. Clopper-Pearson expects it to.
    high = np.maximum(high, frequency_interval(accuracy, n, level, "normal")[1])
    shown, possible = np.flatnonzero(low >= wanted), np.flatnonzero(high >= wanted)
    first = coverage[shown[-1]] if shown.size else 0.0
    after = possible[-1] + 1 if possible.size else 0
    return Estimate(value, first, coverage[min(after, coverage.size - 1)])


def _rank(
    answers: _Answers, coverages: list[float], accuracies: list[float], level: float
) -> ConfidenceRanking:
    rate, area = float(answers.wrong.sum()) / answers.total, answers.aurc
    influence = answers.area_influence()
    # d/d rate of rate + (1 - rate) log(1 - rate), the smallest area of many answers
    slope = -np.log1p(-rate)
    excess = influence - slope * np.array([[1 - rate], [-rate]])
    _, accuracy, _, *ends = _curve(answers, level, np.array([*coverages, 1.0]))
    at = [Estimate(*each) for each in zip(accuracy.tolist(), *ends, strict=True)]
    curve = _curve(answers, level, _grid(answers.total))
    least = area - _best_area(rate, answers.total)
    least = least if least > 1e-12 * area else 0.0  # rounding
    return ConfidenceRanking(
        accuracy=at[-1],
        auroc=_auroc(answers, level),
        aurc=_area(area, influence, answers, level),
        excess_aurc=_area(least, excess, answers, level),
        accuracy_at=dict(zip(coverages, at, strict=False)),
        coverage_at={
            each: _coverage_at(each, answers, curve, level) for each in accuracies
        },
        coverage=curve[0],
        risk=1 - curve[1],
        risk_low=1 - curve[-1],
        risk_high=1 - curve[-2],
        n=answers.total,
        n_groups=None if answers.groups is None else int(answers.groups.max()) + 1,
        confidence_level=level,
        _answers=answers,
    )


# Comparison


def _check_same_answers(a: _Answers, b: _Answers) -> None:
    names = "is_right", "row_weight", "groups"
    if not all(np.array_equal(getattr(a, n), getattr(b, n)) for n in names):
        problem = "must rank the same answers: labels, weights and groups are equal."
        if a.is_right.size != b.is_right.size:
            problem += f" Got {a.is_right.size} and {b.is_right.size} answers."
        raise ParameterError("other", problem)


def _compare(one: _Answers, two: _Answers, level: float) -> RankingComparison:
    auroc = one.rows(one.auroc_influence()) - two.rows(two.auroc_influence())
    area = one.rows(one.area_influence()) - two.rows(two.area_influence())
    return RankingComparison(
        *_difference(one.auroc - two.auroc, auroc, one, level),
        *_difference(one.aurc - two.aurc, area, one, level),
        confidence_level=level,
    )


def _difference(
    value: float, influence: np.ndarray, answers: _Answers, level: float
) -> tuple[float, float, float, float]:
    """Return a difference, its interval and its p-value by Student's t."""
    weight, kinds = answers.row_weight, answers.is_right.astype(np.intp)
    totals = np.array([answers.wrong.sum(), answers.right.sum()])
    codes, number, ratio, free = answers.groups, totals, 1.0, np.inf
    squares = influence**2 if weight is None else weight * influence**2
    if codes is not None:
        cells = np.bincount(2 * codes + kinds, weight, 2 * int(codes.max() + 1))
        # effective number of groups of each kind
        repeats = 1.0 if answers.repeats is None else answers.repeats[:, np.newaxis]
        number = totals**2 / (cells.reshape(-1, 2) ** 2 / repeats).sum(axis=0)
        sums, size = group_sums(influence, codes, weight)
        total = float(squares.sum())
        variance, free = mean_variance(sums, size, total, answers.repeats)
        # As in the intervals, dependence does not make an estimate more precise.
        raw = max(total, np.finfo(float).tiny) / answers.total**2
        ratio = max(1.0, variance / raw)
    if min(number.min(), totals.min()) < 2:
        return value, -1.0, 1.0, 1.0  # one answer does not show its variance
    parts = np.bincount(kinds, squares, 2) / answers.total**2
    parts = parts * totals / (totals - 1)
    error = float(np.sqrt(parts.sum() * ratio))
    if error <= 1e-12:  # the confidences have the same order
        return value, value, value, 1.0
    free = min(free, parts.sum() ** 2 / (parts**2 / (number - 1)).sum())
    half = error * float(stdtrit(free, (1 + level) / 2))
    pvalue = 2 * float(stdtr(free, -abs(value) / error))
    return value, max(-1.0, value - half), min(1.0, value + half), pvalue


@public
def confidence_ranking(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    higher_is_confident: bool = True,
    coverages: Iterable[float] = _COVERAGES,
    accuracies: Iterable[float] = _ACCURACIES,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> ConfidenceRanking:
    """Measure how well a confidence ranks right answers above wrong answers.

    The confidence can be any number: a probability, or the negated entropy of sampled
    answers. To measure whether it can be believed as a probability, use
    :func:`calibration_error_interval`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Whether each answer is right: 1 or 0, or booleans.
    y_score : array-like of shape (n,)
        Confidence of each answer, finite numbers.
    higher_is_confident : bool, default=True
        Whether greater numbers mean more confidence. Pass False for an entropy or
        another measure of uncertainty.
    coverages : array-like of float, default=(0.5, 0.8, 0.9)
        Shares of the answers, such as 0.5 for the most confident half. The accuracy of
        each share is computed.
    accuracies : array-like of float, default=(0.9, 0.95)
        Accuracies for which the largest coverage is computed.
    groups : array-like of shape (n,), default=None
        Group of each answer, such as its passage. Answers of one group may depend on
        each other.
    sample_weight : array-like of shape (n,), default=None
        Frequency of each answer.
    confidence_level : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    ranking : ConfidenceRanking
        AUROC, area under the risk-coverage curve, accuracies and coverages, each with
        its interval, and the curve with its band.

    Raises
    ------
    ValueError
        If all answers are right, or all are wrong, or if an argument is invalid.

    See Also
    --------
    calibration_error_interval : Compare probabilities with frequencies.
    skcalib.rates.threshold_for_precision : Choose a threshold with a guarantee.

    Notes
    -----
    The AUROC equals :func:`sklearn.metrics.roc_auc_score`. It is the probability that a
    right answer has a higher confidence than a wrong one.

    The risk is the share of wrong answers among the i most confident answers. The area
    under the risk-coverage curve [1]_ (AURC) is its mean over i = 1, ..., n. Answers of
    equal confidence are ordered at random, and the area is its expected value over
    these orders. The excess AURC is the area minus the area of the best order, in which
    all wrong answers come last. Both areas are those of [2]_.

    The intervals are those of Clopper and Pearson for an effective number of answers,
    as in survey sampling [3]_: the number of independent answers with the same
    variance. The variance of the AUROC is that of DeLong et al. [4]_. With few wrong
    answers, it cannot be estimated well. The intervals therefore allow for one further
    wrong answer that the sample missed (:ref:`ranking-intervals`). With `groups`,
    influences are summed over each group. With few groups, the interval of the AUROC is
    wide: with twelve groups of 20 to 100 answers, 99.3 to 99.8% of 400 intervals of 95%
    contained it. Twelve sums show little about the dependence, which is therefore
    assumed to be partly complete, and at least that of independent answers.

    References
    ----------
    .. [1] R. El-Yaniv and Y. Wiener (2010). "On the foundations of noise-free selective
       classification". JMLR 11.
    .. [2] Y. Geifman, G. Uziel and R. El-Yaniv (2019). "Bias-reduced uncertainty
       estimation for deep neural classifiers". ICLR.
    .. [3] E. L. Korn and B. I. Graubard (1998). "Confidence intervals for proportions
       with small expected number of positive counts estimated from survey data". Survey
       Methodology 24.
    .. [4] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). "Comparing the
       areas under two or more correlated receiver operating characteristic curves: a
       nonparametric approach". Biometrics 44.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.metrics import confidence_ranking
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.beta(4, 1, 500)
    >>> right = rng.random(500) < confidence
    >>> ranking = confidence_ranking(right, confidence)
    >>> ranking
    ConfidenceRanking(auroc 0.744 [0.687, 0.795], aurc 0.078 [0.056, 0.117],
    accuracy 0.820 [0.783, 0.853], n=500, confidence_level=0.95)
    >>> at = ranking.accuracy_at[0.5]
    >>> print(f"{at:.3f} [{at.low:.3f}, {at.high:.3f}]")
    0.924 [0.883, 0.954]
    """
    level = check_fraction(confidence_level, name="confidence_level")
    labels = as_labels(y_true, name="y_true")
    score = as_floats(y_score, name="y_score")
    if score.ndim != 1:
        raise ParameterError(
            "y_score", f"must have one confidence per answer. Got shape {score.shape}."
        )
    check_same_length(y_true=labels, y_score=score)
    raise_where(~np.isfinite(score), score, "be finite", name="y_score")
    is_right = positives(labels, None)
    weight = as_weights(sample_weight, score.size)
    codes = as_groups(groups, score.size)
    if weight is not None and not weight.all():
        kept = weight > 0
        is_right, score, weight = is_right[kept], score[kept], weight[kept]
        codes = None if codes is None else as_groups(codes[kept], score.size)
    sign = 1 if check_bool(higher_is_confident, name="higher_is_confident") else -1
    pairs = Pairs(sign * score, is_right, sign * score[is_right])
    warn_of_labels([pairs], _NOT_LABELS, _UNCERTAINTY, "confidences")
    score = pairs.q
    return _ranking_of(
        is_right,
        score,
        weight,
        codes,
        None,
        _fractions(coverages, "coverages", most=1.0),
        _fractions(accuracies, "accuracies"),
        level,
    )


def ranking_of_pairs(pairs: Pairs, level: float) -> ConfidenceRanking:
    """Return the ranking of checked pairs by their probabilities."""
    codes, repeats = pairs.groups, pairs.repeats
    if codes is not None:
        # Samples without weight have no code.
        used, codes = np.unique(codes, return_inverse=True)
        repeats = None if repeats is None else repeats[used]
    right, q = pairs.indicator(), pairs.q
    return _ranking_of(right, q, pairs.weight, codes, repeats, level=level)


def _ranking_of(
    is_right: np.ndarray,
    score: np.ndarray,
    weight: np.ndarray | None,
    codes: np.ndarray | None,
    repeats: np.ndarray | None,
    coverages: Sequence[float] = _COVERAGES,
    accuracies: Sequence[float] = _ACCURACIES,
    level: float = 0.95,
) -> ConfidenceRanking:
    """Return the ranking of checked answers."""
    n_right = int(is_right.sum())
    if n_right in (0, score.size):
        kind = "right" if n_right else "wrong"
        raise ParameterError(
            "y_true",
            f"must contain right and wrong answers, which a confidence can rank. Got "
            f"{score.size} answers, all {kind}.",
        )
    if codes is not None and codes.max() == 0:
        raise ParameterError("groups", "must contain at least two groups. Got one.")
    answers = _answers_by_level(is_right, score, weight, codes, repeats)
    return _rank(answers, list(coverages), list(accuracies), level)


def _fractions(values: Iterable[float], name: str, most: float | None = None) -> list:
    if not is_sequence(values):
        raise ParameterTypeError(
            name, f"must be a list of numbers. Got {values!r:.50}."
        )
    return [
        1.0 if each == most else check_fraction(each, name=name)
        for each in list(values)
    ]
