"""Tests and intervals of gains in mean scores, for many pairs of systems at once.

Everything here takes clean arrays. A gain is the mean of differences; the differences
are summed by unit (a question, or a group of questions), and units are independent.

Gains in mean scores of all pairs of systems: tests, moments and intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, ndtri
from scipy.stats import binom

from ._tail_probabilities import as_pvalues, signed_sum_tail

# The mid-p variant is used if its rejection rate stays below .055: McNemar's test if
# at most this fraction of the questions is discordant, sign flips if at least this
# number of units differ.
MOST_DISCORDANT = 0.75
FEWEST_FLIPS = 7

# Largest cost of the exact distribution of sign flips (units times lattice points), and
# the number of distinct values from which the lattice is filled unit by unit.
_MOST_WORK, _MANY_VALUES = 20_000_000, 24
_LARGEST_LATTICE = 1 << 22

# Number of sign flips drawn if the exact distribution takes too long.
_N_FLIPS = 100_000
_BLOCK = 1 << 22


def mcnemar_pvalues(
    only_a: ArrayLike,
    only_b: ArrayLike,
    *,
    mid_p: ArrayLike,
    alternative: str = "two-sided",
) -> np.ndarray:
    """Return p-values of McNemar's test from numbers of discordant items.

    only_a, only_b : numbers of items on which only A, and only B, is correct.
    mid_p : whether each p-value is a mid-p value.
    """
    a, b = np.asarray(only_a, dtype=np.float64), np.asarray(only_b, dtype=np.float64)
    n = a + b
    # With probability 1/2, the upper tail of one number is the lower tail of the other.
    end = {"greater": b, "less": a}.get(alternative, np.minimum(a, b))
    is_two_sided = alternative == "two-sided"
    # P(X <= end), more precise for many items than scipy.special.bdtr.
    tail = np.where(end < n, betainc(np.maximum(n - end, 1), end + 1, 0.5), 1.0)
    p = np.minimum((2 if is_two_sided else 1) * tail, 1.0)
    # The observed table (and its mirror image, if two-sided) has weight one half.
    seen = binom.pmf(end, n, 0.5) * np.where(is_two_sided & (a != b), 1.0, 0.5)
    return as_pvalues(np.where(np.asarray(mid_p) & (n > 0), p - seen, p))


def flip_pvalue(
    difference: np.ndarray, is_integer: bool, rng: np.random.Generator
) -> tuple[float, str]:
    """Return the two-sided p-value of flipping the signs of units, and its method.

    `difference` has one entry per unit. The method is 'exact', 'mid-p', 'drawn' or
    'drawn mid-p'.
    """
    differing = difference[difference != 0]
    if differing.size == 0:
        return 1.0, "exact"
    tails, way = _exact_tails(differing, is_integer), "exact"
    if tails is None:
        tails, way = _drawn_tails(differing, rng), "drawn"
    above, equal = tails
    is_tie = abs(float(differing.sum())) <= 1e-9 * float(np.abs(differing).sum())
    if not use_midp(differing, difference.size):
        return (1.0 if is_tie else min(1.0, 2 * above)), way
    way = "mid-p" if way == "exact" else "drawn mid-p"
    return (1 - equal / 2 if is_tie else min(1.0, 2 * above - equal)), way


def use_midp(differing: np.ndarray, n_units: int) -> bool:
    """Return whether the mid-p variant of sign flips keeps its nominal level."""
    if differing.size < FEWEST_FLIPS:
        return False
    size = np.abs(differing)
    return bool(size.min() < size.max()) or differing.size <= MOST_DISCORDANT * n_units


def _exact_tails(differing: np.ndarray, is_integer: bool) -> tuple[float, float] | None:
    """Return P(sum >= |observed|) and P(sum = |observed|) over all sign flips."""
    if not is_integer:
        if differing.size > 16:
            return None
        signs = 1 - 2.0 * (
            np.arange(1 << differing.size)[:, np.newaxis] >> np.arange(differing.size)
            & 1
        )
        sums, total = signs @ differing, abs(float(differing.sum()))
        slack = 1e-9 * float(np.abs(differing).sum())
        equal = np.abs(sums - total) <= slack
        return float((equal | (sums > total)).mean()), float(equal.mean())
    whole = np.rint(differing).astype(np.int64)
    whole //= np.gcd.reduce(np.abs(whole))
    size, total = np.abs(whole), abs(int(whole.sum()))
    values, times = np.unique(size, return_counts=True)
    if values.size < _MANY_VALUES:
        above = signed_sum_tail(values, times, total, _LARGEST_LATTICE)
        if above is None:
            return None
        beyond = signed_sum_tail(values, times, total + 1, _LARGEST_LATTICE)
        assert beyond is not None
        return above, above - beyond
    top = int(size.sum())
    if size.size * top > _MOST_WORK:
        return None
    chance = np.zeros(top + 1)
    chance[0], reach = 1.0, 0
    for step in np.sort(size).tolist():
        # sums of the units with sign +, with one more unit
        reach += step
        moved = chance[: reach + 1 - step].copy()
        chance[: reach + 1] *= 0.5
        chance[step : reach + 1] += 0.5 * moved
    first = (top + total) // 2
    return float(chance[first:].sum()), float(chance[first])


def _drawn_tails(
    differing: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the tails of drawn sign flips, including the observed signs as a draw."""
    n, total = differing.size, abs(float(differing.sum()))
    slack = 1e-9 * float(np.abs(differing).sum())
    above = equal = 0
    rows = max(1, _BLOCK // n)
    for start in range(0, _N_FLIPS, rows):
        m = min(rows, _N_FLIPS - start)
        bits = np.frombuffer(rng.bytes(-(-m * n // 8)), dtype=np.uint8)
        plus = np.unpackbits(bits, count=m * n).reshape(m, n)
        sums = np.abs(2 * (plus @ differing) - float(differing.sum()))
        ties = np.abs(sums - total) <= slack
        above += int((ties | (sums > total)).sum())
        equal += int(ties.sum())
    # Both signs of the sum were counted.
    return (above + 1) / (_N_FLIPS + 1) / 2, equal / _N_FLIPS / 2


def smallest_pvalue(n_differing: int, method: str | None = None) -> float:
    """Return the smallest p-value that sign flips of this many units can give.

    `method` is the method that :func:`flip_pvalue` returned for these units. If it is
    None, mid-p is assumed if enough units differ.
    """
    if n_differing == 0:
        return 1.0
    is_midp = n_differing >= FEWEST_FLIPS if method is None else "mid-p" in method
    p: float = 2.0 ** max((0 if is_midp else 1) - n_differing, -1000)
    return max(p, 1 / (_N_FLIPS + 1)) if method and "drawn" in method else p


def score_limits(
    total: np.ndarray,
    squares: np.ndarray,
    across: np.ndarray,
    sizes: float,
    n: float,
    quantile: float,
    bound: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gains d with (sum of D - d n)^2 <= quantile^2 sum of (D - d size)^2.

    `squares`, `across` and `sizes` are the sums of D^2, D times size and size^2. The
    limits are -bound and bound if there are effectively too few units.
    """
    c2 = quantile**2
    # theory, (P13): a t^2 - 2 b t + c <= 0
    a = n**2 - c2 * sizes
    b = n * total - c2 * across
    c = total**2 - c2 * squares
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        low, high = (b - root) / a, (b + root) / a
    # With effectively few units, a is not positive, and no large gain is rejected.
    bounded = a > 1e-9 * n**2
    low = np.where(bounded, np.maximum(low, -bound), -bound)
    high = np.where(bounded, np.minimum(high, bound), bound)
    return low, high


def tango_statistic(
    wins: np.ndarray, losses: np.ndarray, n: int, gain: np.ndarray
) -> np.ndarray:
    """Return Tango's standardised distance of (wins - losses) / n from a gain."""
    # The likelihood equation of the fraction of losses, for a fixed gain, is quadratic
    # (Tango 1998).
    a = 2.0 * n
    b = -(wins + losses) + (2 * n - wins + losses) * gain
    c = -losses * gain * (1 - gain)
    # Maximum likelihood estimate of the fraction of losses for this gain.
    share = (-b + np.sqrt(np.maximum(b**2 - 4 * a * c, 0))) / (2 * a)
    variance = n * (2 * share + gain * (1 - gain))
    above = wins - losses - n * gain
    with np.errstate(divide="ignore", invalid="ignore"):
        z = above / np.sqrt(np.maximum(variance, 0))
    return np.where(above == 0, 0.0, z)


def tango_limits(
    wins: np.ndarray, losses: np.ndarray, n: int, quantile: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Tango's interval of the gain, for a normal quantile."""
    gain = (wins - losses) / n

    def limit(side: float) -> np.ndarray:
        inside, outside = gain.astype(float).copy(), np.full(gain.shape, side)
        for _ in range(60):
            middle = (inside + outside) / 2
            # The statistic is monotone in the gain, so halving finds the end.
            near = np.abs(tango_statistic(wins, losses, n, middle)) <= quantile
            inside, outside = (
                np.where(near, middle, inside),
                np.where(near, outside, middle),
            )
        return (inside + outside) / 2

    return limit(-1.0), limit(1.0)


def as_whole(difference: np.ndarray, scale: int) -> tuple[np.ndarray, bool]:
    """Return differences times a scale, and whether they are integers."""
    scaled = difference * scale
    whole = np.rint(scaled)
    is_whole = bool(np.abs(scaled - whole).max(initial=0) < 1e-6)
    return (whole if is_whole else difference), is_whole


def common_scale(n_samples: np.ndarray, most: int = 10_000) -> int:
    """Return the least common multiple of numbers of samples, 1 if it is too large."""
    scale = 1
    for number in np.unique(n_samples).tolist():
        scale = math.lcm(scale, int(number))
        if scale > most:
            return 1
    return scale


# Scales tried to convert scores with unknown denominators to integers.
_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 64, 100, 120, 840)

_METHODS = {
    "exact": "sign flips of {n} {units}, exact",
    "mid-p": "sign flips of {n} {units}, exact with mid-p",
    "drawn": "sign flips of {n} {units}, drawn",
    "drawn mid-p": "sign flips of {n} {units}, drawn with mid-p",
}


@dataclass(frozen=True)
class Moments:
    """Moments used by the intervals of pairs; arrays have one entry per pair."""

    n: int
    sizes: float
    total: np.ndarray
    squares: np.ndarray
    across: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    is_binary: bool
    bound: float = 1.0

    @property
    def n_effective(self) -> float:
        """Effective number of units."""
        return self.n**2 / self.sizes


def wins_and_losses(
    score: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of questions on which the second system wins and loses."""
    slack = 1e-12
    wins = np.empty(first.size, dtype=np.int64)
    losses = np.empty(first.size, dtype=np.int64)
    columns = np.ascontiguousarray(score.T)
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference = columns[j] - columns[i]
        wins[k] = np.count_nonzero(difference > slack)
        losses[k] = np.count_nonzero(difference < -slack)
    return wins, losses


def mcnemar_gains(
    score: np.ndarray, wins: np.ndarray, losses: np.ndarray
) -> tuple[np.ndarray, list[str], Moments, float]:
    n, discordant = len(score), wins + losses
    is_midp = (discordant <= MOST_DISCORDANT * n) & (discordant > 0)
    pvalue = mcnemar_pvalues(losses, wins, mid_p=is_midp)
    # the p-values if one system won on all of these questions
    floor = mcnemar_pvalues(0, discordant, mid_p=is_midp).min()
    words = np.where(is_midp, "McNemar's exact test with mid-p", "McNemar's exact test")
    total = (wins - losses).astype(np.float64)
    squares = (wins + losses).astype(np.float64)
    moments = Moments(
        n=n,
        sizes=float(n),
        total=total,
        squares=squares,
        across=total,
        wins=wins,
        losses=losses,
        is_binary=True,
    )
    return pvalue, words.tolist(), moments, float(floor)


def flipped_gains(
    score: np.ndarray,
    number: np.ndarray,
    codes: np.ndarray | None,
    first: np.ndarray,
    second: np.ndarray,
    wins: np.ndarray,
    losses: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, list[str], Moments, float]:
    n, n_pairs = len(score), first.size
    scale = _scale_of(score, number)
    whole = np.rint(score * scale) if scale else score
    if codes is None:
        sums, size = whole, np.ones(n)
    else:
        size = np.bincount(codes).astype(np.float64)
        sums = np.column_stack(
            [np.bincount(codes, column, size.size) for column in whole.T]
        )
    units = "questions" if codes is None else "groups"
    unit = float(scale or 1)
    pvalue, methods = np.empty(n_pairs), []
    total, squares, across = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    floor = 1.0
    columns = np.ascontiguousarray(sums.T)
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference = columns[j] - columns[i]
        if not scale:
            difference[np.abs(difference) < 1e-12] = 0
        pvalue[k], way = flip_pvalue(difference, bool(scale), rng)
        n_differing = int(np.count_nonzero(difference))
        floor = min(floor, smallest_pvalue(n_differing, way))
        methods.append(_METHODS[way].format(n=size.size, units=units))
        total[k] = difference.sum() / unit
        squares[k] = difference @ difference / unit**2
        across[k] = difference @ size / unit
    moments = Moments(
        n=n,
        sizes=float(size @ size),
        total=total,
        squares=squares,
        across=across,
        wins=wins,
        losses=losses,
        is_binary=False,
    )
    return pvalue, methods, moments, floor


def _scale_of(score: np.ndarray, number: np.ndarray) -> int:
    """Return a scale that makes all scores integers, 0 if there is no small one."""
    for scale in (common_scale(number), *_SCALES):
        if as_whole(score, scale)[1]:
            return scale
    return 0


def limits_of_gains(
    m: Moments, gain: np.ndarray, pvalue: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals of gains, which agree with the tests at 0."""
    quantile = float(-ndtri((1 - level) / 2))
    if m.is_binary:
        low, high = tango_limits(m.wins, m.losses, m.n, quantile)
    else:
        low, high = score_limits(
            m.total, m.squares, m.across, m.sizes, float(m.n), quantile, m.bound
        )
        # If few units differ, further kinds of differences may be unobserved.
        few = ((m.wins + m.losses) < FEWEST_FLIPS) & (m.bound == 1)
        # upper end of Wilson's interval for no success in n_effective trials
        unseen = quantile**2 / (m.n_effective + quantile**2)
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
