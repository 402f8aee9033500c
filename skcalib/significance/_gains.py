"""Tests and intervals of gains in mean scores, from the differences of units.

A unit is a question or a group of questions; units are independent. The differences are
summed by unit. A gain in a metric of sums is treated like a mean of the jackknife
pseudovalues of units.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..metrics._frequency_intervals import brentq
from ..rates._accuracy import is_binary, mid_p_interval
from ._paired_items import Metric
from ._sign_flips import (
    FEWEST_FLIPS,
    MOST_DISCORDANT,
    SignedSum,
    are_verdicts,
    as_integers,
    mcnemar_pvalues,
)

# Largest lattice of sign flips, and largest number of its points times that of sizes.
_LARGEST_LATTICE, _MOST_WORK = 1 << 22, 1 << 27

# Number of sign flips drawn if no formula is fast and accurate.
N_FLIPS = 100_000


class GainTest(NamedTuple):
    """P-values with Monte Carlo errors, words for the tests, and smallest p-value.

    `mid_p` are the pairs whose words do not say that ties count by half.
    """

    pvalue: np.ndarray
    error: np.ndarray
    method: list[str]
    smallest: float
    mid_p: Collection[int] = ()


def mcnemar_gains(wins: np.ndarray, losses: np.ndarray, n: int) -> GainTest:
    """Return McNemar's tests of pairs, in the mid-p version if that is valid."""
    discordant = wins + losses
    is_midp = (discordant <= MOST_DISCORDANT * n) & (discordant > 0)
    words = np.where(is_midp, "McNemar's exact test with mid-p", "McNemar's exact test")
    # the p-values if one system won on all of these questions
    floor = mcnemar_pvalues(0, discordant, mid_p=is_midp).min()
    pvalue = mcnemar_pvalues(losses, wins, mid_p=is_midp)
    return GainTest(pvalue, np.zeros(pvalue.size), words.tolist(), float(floor))


def flipped_gain(
    difference: np.ndarray,
    rng: np.random.Generator,
    n_flips: int = N_FLIPS,
    *,
    are_answers: bool = False,
) -> tuple[float, str, float]:
    """Return p-value, method and smallest p-value of sign flips of units.

    `difference` has one entry per unit. The method is 'exact', 'saddlepoint',
    'inversion' or 'drawn', with or without ' with mid-p'. `are_answers` is as in
    :meth:`SignedSum.allows_mid_p`.
    """
    found = SignedSum(difference)
    largest = min(_LARGEST_LATTICE, _MOST_WORK // max(found.values.size, 1))
    way, least = "exact", 0.0
    tails = found.exact_tails(largest)
    if tails is None:
        way, tails = found.computed_tails() or ("drawn", None)
    if tails is None:
        least = 1 / (n_flips + 1)
        tails = found.drawn_tails(n_flips, rng)
    mid_p = found.allows_mid_p(difference.size, are_answers=are_answers)
    return (
        found.p_value("two-sided", tails, mid_p=mid_p),
        way + " with mid-p" * mid_p,
        max(smallest_pvalue(found.n, mid_p=mid_p), least),
    )


def smallest_pvalue(n_differing: int, *, mid_p: bool) -> float:
    """Return the smallest p-value that sign flips of this many units can give."""
    return min(2.0 ** max((0 if mid_p else 1) - n_differing, -1000), 1.0)


def _tango_error(
    wins: np.ndarray | int, losses: np.ndarray | int, n: int, gain: np.ndarray | float
) -> np.ndarray:
    """Return the standard deviation of wins - losses if this is the true gain."""
    # The maximum likelihood estimate of the fraction of losses, for a fixed gain,
    # solves n share^2 + b share = c (Tango 1998).
    spread = n * gain * (1 - gain)
    b = ((2 * n - wins + losses) * gain - (wins + losses)) / 2
    twice = np.sqrt(np.maximum(b * b + 2 * losses * spread, 0)) - b
    return np.asarray(np.sqrt(np.maximum(twice + spread, 0)))


def _tango_limit(wins: int, losses: int, n: int, quantile: float) -> float:
    """Return the upper limit, the root of the excess above the gain."""
    gain = (wins - losses) / n

    def excess(limit: float) -> float:
        return limit - gain - quantile / n * float(_tango_error(wins, losses, n, limit))

    # A gain of 0 without wins and losses, or of -1, is a root as well.
    least = gain + 1e-12
    return float(brentq(excess, least, 1.0, xtol=1e-15)) if least < 1 else 1.0


@dataclass(frozen=True)
class Moments:
    """Moments of the differences of pairs; arrays have one entry per pair.

    `squares`, `across` and `sizes` are the sums over units of D^2, D times size, and
    size^2, where D is the sum of the differences in a unit. Gains are from -bound to
    bound. All numbers are in multiples of `scale`, the distance of the two values of
    scores such as 0 and 100.
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
    scale: float = 1.0

    @property
    def n_effective(self) -> float:
        """Effective number of units."""
        return self.n**2 / self.sizes

    @property
    def _few(self) -> np.ndarray:
        """Whether so few units differ that other differences may be unobserved."""
        return np.asarray(self.wins + self.losses < FEWEST_FLIPS)

    def spread(self, gain: np.ndarray | float) -> np.ndarray:
        """Return the sums of (D - gain size)^2."""
        found = self.squares - 2 * gain * self.across + gain**2 * self.sizes
        return np.maximum(found, 0)  # equal gains may differ by rounding

    def distance(self, gain: float) -> np.ndarray:
        """Return the standardised distance of the observed gains from a gain."""
        if self.is_binary:
            above = self.total - self.n * gain
            with np.errstate(divide="ignore", invalid="ignore"):
                z = above / _tango_error(self.wins, self.losses, self.n, gain)
            return np.where(above == 0, 0.0, z)
        spread = self.spread(gain)
        if math.isfinite(self.bound):
            # One more unit that differs by 0 or bound, so that the spread is not 0.
            unit = abs(gain) * (self.bound - abs(gain))
            spread = spread + unit * self.sizes / self.n_effective
        return (self.total - self.n * gain) / np.sqrt(np.maximum(spread, 1e-300))

    def standard_error(self) -> np.ndarray:
        """Return standard errors of gains, as in their intervals.

        If few units differ and gains are bounded, at least half a unit differs fully.
        """
        spread, units = self.spread(self.total / self.n), self.n_effective
        if math.isfinite(self.bound):
            spread = np.where(self._few, np.maximum(spread, self.bound**2 / 2), spread)
        return np.sqrt(spread * units / (units - 1)) / self.n

    def score_limits(self, quantile: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the gains d with (total - d n)^2 <= quantile^2 spread(d).

        The limits are -bound and bound if there are effectively too few units.
        """
        c2 = quantile**2
        # theory, (P11): a t^2 - 2 b t + c <= 0
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
        self, gain: np.ndarray, pvalue: np.ndarray | None, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of gains.

        They agree with the p-values of two-sided tests of 0, if these are given.
        """
        quantile = float(-ndtri((1 - level) / 2))
        if self.is_binary:
            counts = list(zip(self.wins, self.losses, strict=True))
            high = np.array([_tango_limit(a, b, self.n, quantile) for a, b in counts])
            # The lower limit is the upper limit of the exchanged systems, negated.
            low = np.array([-_tango_limit(b, a, self.n, quantile) for a, b in counts])
        else:
            low, high = self.score_limits(quantile)
            # upper end of Wilson's interval for no success in n_effective trials
            unseen = quantile**2 / (self.n_effective + quantile**2)
            if math.isfinite(self.bound):
                unseen *= self.bound
                least = np.maximum(gain - unseen, -self.bound)
                most = np.minimum(gain + unseen, self.bound)
                low = np.where(self._few, np.minimum(low, least), low)
                high = np.where(self._few, np.maximum(high, most), high)
        low, high = np.minimum(low, gain), np.maximum(high, gain)
        if pvalue is None:
            return low, high
        tiny = np.finfo(np.float64).tiny
        significant = pvalue < 1 - level
        # The exact test decides whether 0 is inside.
        low = np.where(significant & (gain > 0), np.maximum(low, tiny), low)
        high = np.where(significant & (gain < 0), np.minimum(high, -tiny), high)
        low = np.where(significant, low, np.minimum(low, 0.0))
        high = np.where(significant, high, np.maximum(high, 0.0))
        return low, high


def _wins_and_losses(
    score: np.ndarray, pairs: list[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of questions on which the second system wins and loses."""
    slack, found = 1e-12, []
    for i, j in pairs:
        gain = score[j] - score[i]
        found.append((np.count_nonzero(gain > slack), np.count_nonzero(gain < -slack)))
    wins, losses = np.array(found).T
    return wins, losses


def table_moments(wins: np.ndarray, losses: np.ndarray, n: int) -> Moments:
    """Return the moments of wins and losses on n independent questions."""
    total = (wins - losses).astype(np.float64)
    squares = (wins + losses).astype(np.float64)
    return Moments(n, float(n), total, squares, total, wins, losses, is_binary=True)


def gains_of_scores(
    score: np.ndarray,
    pairs: list[tuple[int, int]],
    codes: np.ndarray | None,
    n_flips: int,
    rng: np.random.Generator,
) -> tuple[Moments, GainTest]:
    """Return moments and tests of the pairs of scores, which have a row per system.

    `codes` are the groups of the questions, or None.
    """
    n, step, units = score.shape[1], 1.0, "questions"
    are_binary = is_binary(score)
    wins, losses = _wins_and_losses(score, pairs)
    if codes is None and are_binary:
        return table_moments(wins, losses, n), mcnemar_gains(wins, losses, n)
    size = np.ones(n)
    whole = None if are_binary else as_integers(score, score.size)
    if whole is not None:  # sums of integers have no rounding error
        score, step = whole
    if codes is not None:
        units, size = "groups", np.bincount(codes).astype(np.float64)
        score = np.stack([np.bincount(codes, column) for column in score])
    method, rows = [], []
    for i, j in pairs:
        difference = (score[j] - score[i]).astype(np.float64, copy=False)
        are_answers = codes is None and are_verdicts(score[i], score[j])
        p, way, smallest = flipped_gain(
            difference, rng, n_flips, are_answers=are_answers
        )
        error = math.sqrt(p * (1 - p) / n_flips) if way.startswith("drawn") else 0.0
        method.append(f"sign flips of {size.size:,} {units}, {way}")
        difference *= step
        squares, across = difference @ difference, difference @ size
        rows.append((p, error, smallest, difference.sum(), squares, across))
    pvalue, errors, floors, total, squares, across = np.array(rows).T
    moments = Moments(n, float(size @ size), total, squares, across, wins, losses)
    return moments, GainTest(pvalue, errors, method, float(floors.min()))


def gains_of_metric(
    columns: np.ndarray,
    metric: Metric,
    pairs: list[tuple[int, int]],
    gain: np.ndarray,
    bound: float,
) -> tuple[Moments, list[np.ndarray]]:
    """Return moments of the pairs, and the pseudovalues of the units of each system.

    `columns` has shape (n_units, n_systems, m). Wins and losses are the units whose
    statistics differ and raise, or lower, the gain.
    """
    values = [_pseudovalues(each, metric) for each in np.moveaxis(columns, 1, 0)]
    n = len(columns)
    rows = []
    for (i, j), observed in zip(pairs, gain.tolist(), strict=True):
        difference = values[j] - values[i]
        slack = 1e-9 * np.abs(difference).max()
        # The metric of the sums differs slightly from the mean of the pseudovalues.
        difference += observed - difference.mean()
        # items without any change are neither wins nor losses
        changed = (columns[:, i] != columns[:, j]).any(axis=1)
        up = np.count_nonzero((difference > slack) & changed)
        down = np.count_nonzero((difference < -slack) & changed)
        rows.append((difference.sum(), (difference**2).sum(), up, down))
    total, squares, wins, losses = np.array(rows).reshape(-1, 4).T
    counts = wins.astype(int), losses.astype(int)
    return Moments(n, float(n), total, squares, total, *counts, bound=bound), values


def _pseudovalues(columns: np.ndarray, metric: Metric) -> np.ndarray:
    """Return n metric - (n - 1) metric without the row, for each row."""
    sums, n = columns.sum(axis=0), len(columns)
    without, _ = metric.of_sums(sums - columns)
    return n * metric.value(sums) - (n - 1) * without


def metric_interval(
    score: float,
    values: np.ndarray,
    size: np.ndarray,
    level: float,
    bound: float,
    reach: float = 1.0,
) -> tuple[float, float]:
    """Return the interval of a metric from 0 to bound, given pseudovalues of units.

    `size` is the weight of each unit. The largest value is `reach` times the value
    `bound` of a unit that is all wrong. The interval is Student's if the metric has no
    bound, or is below 0.
    """
    n, half = values.size, (1 + max(level, 1e-9)) / 2
    square = (values - values.mean()) ** 2
    variance = float(square.sum()) / n**2
    if not math.isfinite(bound) or score < 0:
        width = float(stdtrit(n - 1, half)) * math.sqrt(variance * n / (n - 1))
        return score - width, min(score + width, bound)
    top = bound * reach
    share = min(score / top, 1.0)
    # theory, (P13): variances relative to that of a single right or wrong answer
    total = float(size.sum())
    units = total**2 / float(size @ size) if total > 0 else 0.0
    answer = top**2 * share * (1 - share)
    # Pseudovalues without spread differ by rounding errors.
    if variance * n <= (1e-9 * bound) ** 2 or answer == 0:
        n_effective = units * reach
    else:
        carrying = float(square.sum() ** 2 / (square @ square))
        freedom = max(min(2 * carrying, units - 1), 1.0)
        ratio = float(stdtrit(freedom, half) / ndtri(half)) ** 2 * n / (n - 1)
        widest = max(variance, min(variance * ratio, answer / (units * reach)))
        n_effective = min(answer / widest, 1e11)
    low, high = mid_p_interval(share * n_effective, n_effective, level)
    return min(top * low, score), max(top * high, score)


def unit_sizes(columns: np.ndarray, metric: Metric) -> np.ndarray:
    """Return denominators of units, or their mean shares of the sums of columns."""
    if metric.quotient is not None:
        return metric.quotient(columns)[1]
    sums = np.abs(columns).sum(axis=0)
    return (np.abs(columns[:, sums > 0]) / sums[sums > 0]).sum(axis=1)
