"""Sign flips: one engine for all tests that swap two systems at random.

Swapping the systems in a row (an item or a group) changes the sign of its difference d.
The p-value is the probability that abs(sum s d) is at least abs(sum d) for random signs
s. It is exact if the sums lie on a small lattice, which also differences such as half
points, percentages and group means of them do, or if few rows differ. It is a
saddlepoint approximation if the distribution of the sum is smooth, and computed from
the characteristic function if that vanishes at large frequencies. Otherwise signs are
drawn. McNemar's test is the case in which all differences have the same size.

The functions that use the engine differ on purpose:

- `permutation_test` and ``method="sign_flips"`` count ties as extreme.
- `paired_bootstrap_test` and, for metrics of sums, `compare_systems` use sign flips by
  default if the bootstrap is unreliable. They count ties by half (mid-p) where the
  error rate allows it, and correct the p-value for skewness, which is then called
  'hall'. A p-value from few extreme draws is replaced by a saddlepoint approximation.
- `compare_systems` counts ties of scores by half by the same rule, in sign flips and in
  McNemar's test, and draws more signs. `mcnemar_test` does so on request.

`FlippedGain` also gives an interval. The gain is a ratio (sum d) / (sum l) over rows.
Under the hypothesis that the gain is t, the signs of d - t l are treated as random. Let
D and L be the sums over all rows, and X and Y those over the rows that are flipped. The
event is (t Y - X) (D - X - t (L - Y)) >= 0: theory, (P7) and (P8). It means that t
lies between the gain of the flipped rows, X / Y, and the gain of the other rows. These
two gains are on different sides of D / L, so the p-value decreases on both sides of the
gain. The ends of the interval of all t that are not rejected are therefore quantiles of
these gains. No search is needed, and p-value and interval use the same flips. Only the
saddlepoint approximation, which draws nothing, needs a search for the ends.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln, ndtri, stdtr, stdtrit

from ._paired_items import PairedItems, distinct_rows
from ._resamples import plain_p_value
from ._tail_probabilities import (
    NEGLIGIBLE,
    TINY,
    LinearGain,
    as_pvalues,
    common_step,
    corrected_tail,
    distance_reached,
    increasing_root,
    merged,
)

# Largest number of sets of flips that are enumerated, and of points of a lattice.
MOST_LISTED, LARGEST_LATTICE = 1 << 16, 1 << 15

# Numbers held at once (8 bytes each).
_BLOCK = 1 << 21

# Sums that differ by at most this fraction of the sum of absolute values are ties.
_TIE = 1e-11

# Number of factors of a characteristic function that are computed first.
_FACTORS = 8

# Nanoseconds that decide how a distribution is computed: for a step of a convolution,
# in addition to one for each sum, and for a value at a point of the lattice.
_STEP_COST, _ANGLE_COST = 3000, 10

# For rows that occur this often, the number of flips is drawn instead of each flip.
_MANY = 16

# Larger integers are not exact in float64.
_EXACT = 2.0**53

# A drawn p-value with fewer extreme flips is replaced by a saddlepoint approximation,
# which needs at least this many differences.
_FEWEST_EXTREME, _FEWEST_FOR_SADDLEPOINT = 50, 30

# A p-value is not drawn, but computed by a saddlepoint approximation, if the effective
# number of differences is at least the first number and if the sum is not close to a
# coarse lattice. Its characteristic function is estimated from this number of quantiles
# of the differences, at this number of frequencies with this distance (in units of one
# over the standard deviation of the sum), and must stay below e to the last number.
# With these values, the error of the p-value is below 1e-4: a fifth of a standard error
# of a million draws.
_FEWEST_EFFECTIVE, _QUANTILES = 100, 64
_FREQUENCIES, _APART, _LOWEST = 1000, 2.0, -8.0

# Otherwise its characteristic function is inverted, if its logarithm is below the last
# number at frequencies from half the first number to the first number, divided by the
# standard deviation, and if at most the second number of frequencies contribute. The
# factors of this number of largest values are computed first, a few at a time.
_LARGEST_FREQUENCY, _MOST_FREQUENCIES, _LARGEST, _VANISHED = 2000, 4000, 128, -9.0

# A smaller probability has a large relative error, so the saddlepoint is used.
_INVERTED = 1e-8

# Effective numbers of items or groups that the bootstrap needs, by the squares and by
# the fourth powers of their lengths. Groups need a larger value of the latter, because
# their differences grow with their lengths. For wins, losses and ties: the number
# needed if at least half are ties, and the number needed otherwise. The values were
# chosen on the distributions for tuning of benchmarks/paired_test_size.py.
_FEWEST_BY_SQUARES, _FEWEST_ITEMS, _FEWEST_GROUPS = 60, 20, 60
_FEWEST_WITH_TIES, _FEWEST_WITHOUT_TIES = 20, 30

# The mid-p variant is used if its rejection rate stays below .055: McNemar's test if
# at most this fraction of the units is discordant, sign flips if at least this number
# of units differ.
MOST_DISCORDANT, FEWEST_FLIPS = 0.75, 7

# P-values are corrected for skewness if the skewness, divided by the square root of the
# number n of items, is above the first number and above the second number divided by n
# (2.4 standard errors for normal differences), and if the effective number of items is
# at least this fraction of n. Chosen on distributions such as those of the part skewed
# of benchmarks/paired_test_size.py, among them the lognormal.
_SKEWED, _SKEWED_FEW, _LEAST_EVEN = 0.2, 6, 0.5

# If at least the first number of items differ, the skewness must be above the second
# number and above the third number of standard errors under random signs, or above the
# last number. One large difference has a skewness of one standard error, so it is no
# evidence unless it dominates. Chosen on F1 of names in tweets, for which the power of
# the bootstrap is kept, and on differences with equal means and rare large values.
_FEWEST_DIFFERING, _SKEWED_MANY, _SKEWED_ERRORS, _DOMINATED = 60, 0.25, 1.2, 0.45

# Differences between p-values below this value are irrelevant.
_NEGLIGIBLE_P_VALUE = 1e-12

# Binomial probabilities are quotients of integers up to this number of coins.
_EXACT_BINOMIAL = 500


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
    below = np.where(end > 0, betainc(n - end + 1, np.maximum(end, 1), 0.5), 0.0)
    p = np.minimum((2 if is_two_sided else 1) * tail, 1.0)
    # The observed table (and its mirror image, if two-sided) has weight one half.
    seen = (tail - below) * np.where(is_two_sided & (a != b), 1.0, 0.5)
    return as_pvalues(np.where(np.asarray(mid_p) & (n > 0), p - seen, p))


class SignedSum:
    """Sum S of differences with random signs, and its observed value T.

    Attributes
    ----------
    values, times : ndarray
        Distinct sizes of the differences that are not 0, and the count of each. They
        are integers if the sums lie on a lattice.
    total, top : number
        The observed abs(T) and the largest value of S, in the same unit.
    tie : float
        Sums that differ by no more than this are ties.
    n : int
        Number of differences that are not 0.
    """

    def __init__(self, difference: np.ndarray, times: np.ndarray | None = None):
        if times is None:
            times = np.ones(difference.size, dtype=np.int64)
        size = np.abs(difference)
        self.tie = _TIE * float(size @ times)
        differs = size > self.tie
        size, times = size[differs], times[differs]
        whole = as_integers(size, int(times.sum()))
        self.is_lattice = whole is not None
        if whole is not None:
            size, self.tie = whole[0], 0.5
        sign = np.sign(difference[differs]).astype(size.dtype)
        total = ((sign * size) @ times).item()
        self.sign = 0 if abs(total) <= self.tie else int(math.copysign(1, total))
        self.total = abs(total)
        self.values, self.times = merged(size, times)
        self.top = (self.values @ self.times).item()
        self.n = int(times.sum())

    def p_value(
        self, alternative: str, tails: tuple[float, float], *, mid_p: bool = False
    ) -> float:
        """Return the p-value from P(S >= abs(T)) and P(S = abs(T))."""
        above, equal = tails
        if alternative == "two-sided":
            if self.sign == 0:
                return 1 - mid_p * equal / 2
            return min(2 * above - mid_p * equal, 1.0)
        # S is symmetric: P(S <= T) = P(S >= T) for T of the other sign
        is_upper = (alternative == "greater") == (self.sign >= 0)
        return (above if is_upper else 1 - above + equal) - mid_p * equal / 2

    def allows_mid_p(self, n: int, *, are_answers: bool) -> bool:
        """Whether ties can count by half, for differences of n items or groups.

        `are_answers` is whether the scores of single items take two values, such as 0
        and 1 or 0 and 100 (see `are_verdicts`), so that this is McNemar's test.
        """
        if self.values.size == 1 and self.n > MOST_DISCORDANT * n:
            return False
        return self.n >= FEWEST_FLIPS or are_answers

    def exact_tails(
        self, largest_lattice: int = LARGEST_LATTICE, most_listed: int = MOST_LISTED
    ) -> tuple[float, float] | None:
        """Return P(S >= abs(T)) and P(S = abs(T)), None if there are too many sums."""
        if self.n == 0:
            return 1.0, 1.0
        rows, flips = self.values[:, np.newaxis], None
        # Few differences are listed first: their probabilities are exact fractions.
        if self.n <= _EXACT_BINOMIAL:
            flips = listed_flips(rows, self.times, most_listed)
        if flips is None and self.is_lattice:
            total = int(self.total)
            found = signed_sum_tails(self.values, self.times, total, largest_lattice)
            if found is not None:
                return found
        if flips is None:
            flips = listed_flips(rows, self.times, most_listed)
        if flips is None:
            return None
        above, equal = self._extremes(flips[0][:, 0])
        return float(flips[1][above].sum()), float(flips[1][equal].sum())

    def computed_tails(self) -> tuple[str, tuple[float, float]] | None:
        """Return 'saddlepoint' or 'inversion', and the tails; None if neither works."""
        if self.is_smooth:
            return "saddlepoint", self.saddlepoint()
        half = self._step / 2
        beyond = inverted_tail(self.values, self.times, self.total + half, half)
        if beyond is None:
            return None
        if beyond < _INVERTED:
            return "saddlepoint", self.saddlepoint()
        if self.total == 0:
            above: float | None = 1 - beyond
        else:
            above = inverted_tail(self.values, self.times, self.total - half, half)
        return None if above is None else ("inversion", (above, above - beyond))

    def saddlepoint(self) -> tuple[float, float]:
        """Return approximations of the tails."""
        if self.total >= self.top - self.tie:
            p = max(2.0**-self.n, TINY)
            return p, p
        return signed_sum_saddlepoint(self.values, self.times, self.total, self._step)

    @property
    def _step(self) -> float:
        """Distance of the sums, 0 if they have no lattice."""
        return 2.0 * int(np.gcd.reduce(self.values)) if self.is_lattice else 0.0

    @property
    def is_smooth(self) -> bool:
        """Whether many differences contribute, not close to a coarse lattice.

        See theory, (P15) and (P16).

        The characteristic function of the sum has peaks at the frequencies of a coarse
        lattice, for example if most differences are 0, 1/3, 2/3 and 1, rounded.
        """
        if self.n < _FEWEST_EFFECTIVE:
            return False
        values, times = self.values / self.values[-1], self.times
        square = float(times @ values**2)
        if square**2 < _FEWEST_EFFECTIVE * float(times @ values**4):
            return False
        place = (np.arange(_QUANTILES) + 0.5) / _QUANTILES * self.n
        values = values[np.searchsorted(times.cumsum(), place)]
        omega = _APART * np.arange(4, _FREQUENCIES) / math.sqrt(square)
        if self.is_lattice:  # whose peak at 2 pi / step is part of the formula
            omega = omega[omega <= math.pi / self._step * self.values[-1]]
        # logarithms of the sizes of the factors, without 0
        size = np.cos(np.multiply.outer(omega, values)) ** 2 + 1e-30
        return bool((self.n * np.log(size).mean(axis=1) / 2 < _LOWEST).all())

    def drawn_tails(
        self, n_resamples: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Return estimates of the tails; the observed signs are one of the draws."""
        rows = self.values[:, np.newaxis]
        flipped = drawn_flips(rows, self.times, n_resamples, rng)[:, 0]
        # S and -S have the same probability, so both count.
        upper, equal = self._extremes(flipped)
        lower, mirrored = self._extremes(self.top - flipped)
        above = (upper | lower).sum() + 1
        n_equal = (equal | mirrored).sum() / (1 if self.sign == 0 else 2)
        return float(above) / (n_resamples + 1) / 2, float(n_equal) / n_resamples

    def _extremes(self, flipped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which sums are at least, and which are, abs(T)."""
        beyond = self.top - 2 * flipped - self.total
        return beyond >= -self.tie, np.abs(beyond) <= self.tie


def are_verdicts(*scores: np.ndarray) -> bool:
    """Return whether scores take at most two values, such as right and wrong.

    The p-value of such systems must not depend on the unit of the scores.
    """
    low, high = (min(map(np.min, scores)), max(map(np.max, scores)))
    return all(bool(((each == low) | (each == high)).all()) for each in scores)


def as_integers(values: np.ndarray, n: int) -> tuple[np.ndarray, float] | None:
    """Return integers and their unit, or None if the values have no lattice.

    Sums of n values of this size are then exact in float64.
    """
    whole, step = np.rint(values), 1.0
    largest = float(np.abs(values).max(initial=0))
    if (whole != values).any() or n * largest >= _EXACT:
        step = common_step(np.abs(values))
        if step == 0:
            return None
        whole = np.rint(values / step)
        # the step of all values together has a smaller rounding error
        step = float((values * whole).sum() / (whole**2).sum())
        if float(np.abs(values / step - whole).max()) > 1e-6:
            return None
    return whole.astype(np.int64), step


def listed_flips(
    rows: np.ndarray, times: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the sums over flipped rows for all sets of flips, and their probabilities.

    Row k occurs times[k] times. The result is None if there are more than `most` sets.
    """
    # Equal rows differ only in the number of flips, 0 to times.
    if float(np.log2(times + 1.0).sum()) > math.log2(most):
        return None
    sums, chance = np.zeros((1, rows.shape[1])), np.ones(1)
    for row, n in zip(rows, times.tolist(), strict=True):
        flipped = np.arange(n + 1)[:, np.newaxis, np.newaxis] * row
        sums = (flipped + sums).reshape(-1, rows.shape[1])
        chance = np.outer(_binomial(n), chance).ravel()
    return sums, chance


def _binomial(n: int) -> np.ndarray:
    """Return the probabilities of 0 to n heads of n fair coins."""
    if n > _EXACT_BINOMIAL:
        heads = np.arange(n + 1)
        log_count = -np.log(n + 1) - betaln(heads + 1, n - heads + 1)
        return np.exp(log_count - n * np.log(2))
    return np.array([math.comb(n, k) / 2**n for k in range(n + 1)])


def drawn_flips(
    rows: np.ndarray, times: np.ndarray, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums over flipped rows for random flips, (n_resamples, m)."""
    often = times >= _MANY
    single = np.repeat(rows[~often], times[~often], axis=0).astype(np.float64)
    sums = np.zeros((n_resamples, rows.shape[1]))
    step = max(1, _BLOCK // max(len(single), int(often.sum()), 1))
    for start in range(0, n_resamples, step):
        chunk = sums[start : start + step]
        shape = len(chunk), len(single)
        # one random bit for each sign instead of one float
        bits = np.frombuffer(rng.bytes(-(-shape[0] * shape[1] // 8)), dtype=np.uint8)
        signs = np.unpackbits(bits, count=shape[0] * shape[1]).reshape(shape)
        chunk += signs.astype(np.float64) @ single
        if often.any():
            n_flips = rng.binomial(times[often], 0.5, (len(chunk), int(often.sum())))
            chunk += n_flips @ rows[often]
    return sums


def signed_sum_tails(
    values: np.ndarray, times: np.ndarray, threshold: int, largest_lattice: int
) -> tuple[float, float] | None:
    """Return P(S >= threshold) and P(S = threshold) for S = sum of +-v.

    v[k] > 0 occurs times[k] times, and `threshold` is a possible value of S of at least
    0. None is returned if S has more than `largest_lattice` points. As for sums of
    draws, the distribution is tilted so that the threshold is the mean, and its
    characteristic function is inverted.
    """
    # Changing one sign changes the sum by 2 v, so the sums have the distance `step`.
    step = 2 * int(np.gcd.reduce(values))
    top = int(values @ times)
    length, n_above = 2 * top // step + 1, (top - threshold) // step + 1
    if length > largest_lattice:
        return None
    n = int(times.sum())
    if threshold == top:
        p = max(2.0**-n, TINY)
        return p, p
    if n * (_STEP_COST + n_above) < _ANGLE_COST * length * values.size:
        return _convolved_tails(np.repeat(values, times) // (step // 2), n_above)
    v, t = values / step, threshold / step
    # theory, (P10)
    theta, log_chance = _signed_tilt(v, times, t)
    omega = 2 * np.pi / length * np.arange(length // 2 + 1)
    power = _signed_characteristic(v, times, theta, t, omega)
    # Other frequencies stand for themselves and their negatives.
    once = (omega == 0) | (2 * np.arange(omega.size) == length)
    power *= np.where(once, 1.0, 2.0) * (math.exp(log_chance) / length)
    equal = max(float(power.real.sum()), 0.0)
    if threshold == 0:
        return (1 + equal) / 2, equal
    some = np.flatnonzero(power)
    ratio = -(theta + 1j * omega[some])
    share = np.expm1(n_above * ratio) / np.expm1(ratio)
    return min(max(float((power[some] * share).real.sum()), TINY), 1.0), equal


def _convolved_tails(values: np.ndarray, n_above: int) -> tuple[float, float]:
    """Return the probabilities of the `n_above` largest sums, and of the last of them.

    The distribution of the sum of values that are flipped, or not, is convolved value
    by value. Only positive numbers are added, so that small tails keep their digits.
    """
    # S is as far from its largest value as twice this sum says.
    chance = np.zeros(n_above)
    chance[0] = 1.0
    for v in values.tolist():
        chance *= 0.5
        chance[v:] += chance[:-v].copy()
    return max(float(chance.sum()), TINY), float(chance[-1])


def signed_sum_saddlepoint(
    values: np.ndarray, times: np.ndarray, threshold: float, step: float = 0.0
) -> tuple[float, float]:
    """Return P(S >= threshold) and P(S = threshold) by Lugannani and Rice.

    The formula is for sums of many values that do not lie on a coarse lattice, and for
    0 <= threshold < top. The sums have the distance `step`; it is 0 if they have no
    lattice, and equality is then impossible.
    """
    # theory, (P4), with (P10)
    theta, log_chance = _signed_tilt(values, times, threshold)
    log_chance = min(log_chance, 0.0)  # up to rounding
    # second derivative of log cosh(theta v); cosh overflows above 700
    variance = float(times @ (values / np.cosh(np.minimum(theta * values, 300))) ** 2)
    deviation, w = math.sqrt(variance), math.sqrt(-2 * log_chance)
    # the limit near 0, where the difference cancels
    correction = step / (2 * deviation)
    if w > 1e-6:
        u = theta if step == 0 else -math.expm1(-theta * step) / step
        correction = 1 / (u * deviation) - 1 / w
    above = corrected_tail(log_chance, correction)
    equal = step / deviation * math.exp(log_chance) / math.sqrt(2 * math.pi)
    return min(max(above, TINY), 1.0), equal


def inverted_tail(
    values: np.ndarray, times: np.ndarray, threshold: float, resolution: float
) -> float | None:
    """Return P(S >= threshold) by inversion of the characteristic function.

    The values are in increasing order. None is returned if the function does not vanish
    at large frequencies, because there are few values or because the sums are close to
    a lattice whose distance is above `resolution`. The error is below 1e-8.
    """
    # sixth powers of large numbers overflow
    values, scale = values / values[-1], float(values[-1])
    threshold, resolution = threshold / scale, resolution / scale
    power = np.cumsum(times * values ** np.array([[2.0], [4.0], [6.0]]), axis=1)
    deviation = math.sqrt(power[0, -1])
    if resolution * _LARGEST_FREQUENCY > deviation:
        return None
    if threshold > 9 * deviation:  # Hoeffding's inequality
        return 0.0
    # theory, (P17); sums outside of the period have a probability below 1e-17
    period = 2 * (threshold + 9 * deviation)
    unit = 2 * math.pi / period
    omega = unit * np.arange(1, int(_LARGEST_FREQUENCY / deviation / unit) + 1)
    # No factor is above 1, and for x below pi / 2, cos(x) is at most exp(-x^2 / 2). The
    # largest and the small values show that most frequencies are negligible.
    rest, n = values[:-_LARGEST], values.size
    small = np.searchsorted(rest, math.pi / 2 / omega)
    bound = -(omega**2) / 2 * np.where(small > 0, power[0, small - 1], 0.0)
    some = np.arange(omega.size)
    for stop in range(n, max(n - _LARGEST, 0), -_FACTORS):
        part = slice(max(stop - _FACTORS, 0), stop)
        cosine = np.cos(np.multiply.outer(omega[some], values[part]))
        bound[some] += np.log(np.abs(cosine) + 1e-300) @ times[part]
        some = some[bound[some] > -30]
    if some.size > _MOST_FREQUENCIES:
        return None
    total = 0.0
    for k in some.tolist():
        # log cos(x) of small x by its series, summed for all of them at once
        x, first = omega[k], int(np.searchsorted(values, 0.05 / omega[k]))
        log = -float(power[:, first - 1] @ [x**2 / 2, x**4 / 12, x**6 / 45])
        cosine = np.cos(x * values[first:])
        others = np.log(np.abs(cosine) + 1e-300) @ times[first:]
        log = (log if first else 0.0) + float(others)
        if 2 * k > omega.size and log > _VANISHED:
            return None
        sign = 1 - 2 * (int(times[first:][cosine < 0].sum()) % 2)
        total += sign * math.exp(log) * math.sin(x * threshold) / x
    return max(float(0.5 - (threshold + 2 * total) / period), 0.0)


def _log_cosh(x: np.ndarray) -> np.ndarray:
    # log1p of 2 sinh(x/2)^2 = cosh(x) - 1, which does not overflow here
    size = np.minimum(x, 30)
    small = np.log1p(2 * np.sinh(size / 2) ** 2)
    return np.where(x < 30, small, x - math.log(2))


def _signed_tilt(v: np.ndarray, times: np.ndarray, t: float) -> tuple[float, float]:
    """Return theta with sum v tanh(theta v) = t, 0 <= t < sum v, and K - theta t.

    K, the sum of log cosh(theta v), is the cumulant function of the sum of s v.
    """

    def excess_and_slope(theta: float) -> tuple[float, float]:
        bent = np.tanh(theta * v)
        return float(times @ (v * bent)) - t, float(times @ (v**2 * (1 - bent**2)))

    start = t / float(times @ v**2)
    theta = increasing_root(excess_and_slope, start, low=0.0, tolerance=1e-13)
    return theta, float(times @ _log_cosh(theta * v)) - theta * t


def _signed_characteristic(
    v: np.ndarray, times: np.ndarray, theta: float, t: float, omega: np.ndarray
) -> np.ndarray:
    """Return the characteristic function of the tilted S - t at each frequency."""
    # E e^(i omega s v) under the tilt is cos + i tanh sin, of squared size 1 - sin^2 /
    # cosh^2
    tanh, cosh2 = np.tanh(theta * v), np.cosh(np.minimum(theta * v, 300)) ** 2
    drift = float(times @ (v * tanh)) - t

    def log_size(sine: np.ndarray, part: Any = slice(None)) -> np.ndarray:
        with np.errstate(divide="ignore"):
            factors = np.log1p(-np.minimum(sine**2 / cosh2[part], 1))
        return factors / 2 @ times[part]

    # No factor is above 1, so a few of them show that most frequencies are negligible.
    few = np.argsort(-times, kind="stable")[: min(_FACTORS, v.size // 2)]
    rows, alive = _BLOCK // _FACTORS, []
    for start in range(0, omega.size, rows):
        sine = np.sin(omega[start : start + rows, np.newaxis] * v[few])
        alive.append(start + np.flatnonzero(log_size(sine, few) > NEGLIGIBLE))
    places = np.concatenate(alive)
    power = np.zeros(omega.size, dtype=complex)
    rows = max(1, _BLOCK // v.size)
    for start in range(0, places.size, rows):
        place = places[start : start + rows]
        angle = omega[place, np.newaxis] * v
        sine = np.sin(angle)
        size = log_size(sine)
        some = size > NEGLIGIBLE
        angle, sine, place = angle[some], sine[some], place[some]
        # the phase of each term minus the phase of its mean, to keep rounding small
        phase = (np.arctan2(tanh * sine, np.cos(angle)) - tanh * angle) @ times
        power[place] = np.exp(size[some] + 1j * (phase + omega[place] * drift))
    return power


class FlippedGain:
    """The gain as a ratio of sums over rows whose differences change sign in a swap.

    Items that are all zeros in both systems change neither a score nor the gain. They
    are left out. With `adjusts`, ties count by half if there are enough differences,
    and p-value and interval are corrected for skewness. Otherwise, the p-value is exact
    for exchangeable systems.
    """

    def __init__(self, items: PairedItems, *, adjusts: bool = False):
        items = items.informative
        self.grouped = items.n_groups is not None and items.n_groups < items.n_items
        gain = _as_ratio(items) if items.linear is None else items.linear
        # the better system first, so that swapping the two changes no draw
        self.sign = _orientation(gain)
        rows, times = _rows_of(gain, self.sign)
        counts = rows.any(axis=1)
        self.rows, self.times = rows[counts], times[counts]
        difference, length = self.rows.T
        self.gain = replace(
            gain, difference=difference, length=length, times=self.times
        )
        size = np.abs(difference)
        self.tie = _TIE * float(size @ self.times)
        # number of items or groups that a swap changes
        self.n_differing = int(self.times[size > self.tie].sum())
        self.adjusts = adjusts
        self._are_answers = (
            self._equal_lengths
            and not self.grouped
            and items.linear is not None
            and are_verdicts(items.a[:, 0], items.b[:, 0])
        )

    @cached_property
    def sum(self) -> SignedSum:
        """The sum of the differences with random signs."""
        return SignedSum(self.gain.difference, self.times)

    @cached_property
    def mid_p(self) -> bool:
        """Whether ties count by half."""
        return self.adjusts and self.sum.allows_mid_p(
            self.gain.n, are_answers=self._are_answers
        )

    @property
    def has_mid_p(self) -> bool:
        """Whether the p-value counts ties by half, which drawn flips do not."""
        return self.mid_p and self._known_tails is not None

    @cached_property
    def skewness(self) -> float:
        """Skewness of the differences over the square root of their number.

        It is 0 if p-values are not corrected for it. It is not estimated well if a few
        long items or groups dominate. Wins and losses with equal means are
        exchangeable.
        """
        if not self.adjusts or self.sum.values.size <= 1:
            return 0.0
        n, residual = self.gain.n, self.gain.residual
        square = float(self.times @ residual**2)
        if square == 0 or self._effective[0] < _LEAST_EVEN * n:
            return 0.0
        # theory, (P12) and (P14)
        skewness = float(self.times @ residual**3) / square**1.5
        least = max(_SKEWED, _SKEWED_FEW / n)
        if self.n_differing >= _FEWEST_DIFFERING:
            error = math.sqrt(float(self.times @ residual**6)) / square**1.5
            least = max(_SKEWED_MANY, min(_SKEWED_ERRORS * error, _DOMINATED))
        return skewness if abs(skewness) > least else 0.0

    @cached_property
    def _effective(self) -> tuple[float, float]:
        """Effective numbers of items: n for equal lengths, 1 if one length dominates.

        They are computed from the squares and from the fourth powers of the lengths.
        """
        length, times = self.gain.length, self.times
        share = length / length.max()
        square = float(times @ share**2)
        return (float(times @ share) ** 2 / square, square**2 / float(times @ share**4))

    @property
    def _equal_lengths(self) -> bool:
        length = self.gain.length
        return not length.size or bool(np.ptp(length) <= 1e-9 * length.max())

    def smallest_p_value(self, alternative: str) -> float:
        """Return the smallest p-value over all signs of these differences."""
        n_sides = (2 if alternative == "two-sided" else 1) * (0.5 if self.mid_p else 1)
        return min(max(n_sides * 2.0**-self.n_differing, TINY), 1.0)

    def rejects(self, pvalue: float, alternative: str) -> bool:
        """Whether a p-value is below the smallest p-value that sign flips can give."""
        smallest = self.smallest_p_value(alternative)
        return pvalue < smallest and (pvalue == 0 or smallest > _NEGLIGIBLE_P_VALUE)

    @cached_property
    def suits_bootstrap(self) -> bool:
        """Whether the bootstrap has approximately its nominal error rate.

        The bootstrap estimates the variance of the gain from the items and treats it as
        known. The estimate is too small by a factor of one over the number of items
        (the effective number if lengths differ). Ties compensate for this bias if all
        differences are wins, losses and ties. It rejects too often if rare large losses
        are possible.
        """
        if not self.gain.length.size:
            return True
        if self.skewness < 0:
            return False
        by_squares, by_fourth_powers = self._effective
        if by_squares >= _FEWEST_BY_SQUARES * (1 - 1e-9):
            fewest = _FEWEST_GROUPS if self.grouped else _FEWEST_ITEMS
            return by_fourth_powers >= fewest
        if self.sum.values.size == 1 and self._equal_lengths:
            n, fewest = self.gain.n, max(_FEWEST_WITH_TIES, 2 * self.n_differing)
            return n >= min(fewest, _FEWEST_WITHOUT_TIES)
        return False

    def test(
        self, alternative: str, level: float, n_resamples: int, rng: np.random.Generator
    ) -> tuple[str, float, float, float, float, int | None]:
        """Return method, p-value, ends of the interval, error and number of draws.

        The method is 'sign_flips', or 'hall' if the p-value is corrected for skewness.
        P-value and interval are from the same flips. An end is infinite if no gain can
        be rejected on its side. The error is the Monte Carlo standard error of the
        p-value; the number is None if nothing is drawn.
        """
        flips = listed_flips(self.rows, self.times, MOST_LISTED)
        n_drawn = drawn = ends = None
        if flips is None and self._known_tails is not None:
            ends = self._saddlepoint_ends(level)
        if flips is None and ends is None:
            flips, n_drawn = self._drawn(n_resamples, rng), n_resamples
            drawn = flips[0]
        if ends is None:
            assert flips is not None
            ends = self._ends_of(*flips, level)
        method, p, error = self._p_value(alternative, drawn)
        _, both, _ = self._p_value("two-sided", drawn)
        low, high = self._interval(ends, level, both)
        if self.sign < 0:
            # The systems were exchanged, so the interval is mirrored.
            low, high = -high, -low
        return method, p, low, high, error, n_drawn

    def p_value(
        self, alternative: str, n_resamples: int, rng: np.random.Generator
    ) -> tuple[str, float, float, int | None]:
        """Return the method, the p-value, its error and the number of draws."""
        if self._known_tails is not None:
            return *self._p_value(alternative, None), None
        drawn, _ = self._drawn(n_resamples, rng)
        return *self._p_value(alternative, drawn), n_resamples

    @cached_property
    def _known_tails(self) -> tuple[float, float] | None:
        """Tails of the sum that are exact, or a good approximation."""
        exact = self.sum.exact_tails()
        if exact is not None:
            return exact
        computed = self.sum.computed_tails()
        return None if computed is None else computed[1]

    def _p_value(
        self, alternative: str, drawn: np.ndarray | None
    ) -> tuple[str, float, float]:
        """Return the method, the p-value and its Monte Carlo standard error.

        `drawn` are the sums of drawn flips; they are not used if all flips are known.
        """
        if self.sign < 0:
            turned = {"greater": "less", "less": "greater"}
            alternative = turned.get(alternative, alternative)
        p, error = self._flipped_p_value(alternative, drawn)
        a, total = self.skewness, float(self.gain.total)
        if a < 0 and alternative != "less":
            # The variance of the gain is too small if rare large losses are not seen.
            t = total / float(self.gain.length_total) / self._student_error
            # theory, (P12): approximately symmetric
            moved = ((1 + a * t / 3) ** 3 - 1) / a + a / 6
            tail = float(stdtr(self.gain.n - 1, -moved))
            corrected = min((2 if alternative == "two-sided" else 1) * tail, 1.0)
            if corrected > p:
                return "hall", corrected, 0.0
        return "sign_flips", p, error

    @property
    def _student_error(self) -> float:
        """Return the standard error with the number of items minus one."""
        return self.gain.standard_error * math.sqrt(self.gain.n / (self.gain.n - 1))

    def _flipped_p_value(
        self, alternative: str, drawn: np.ndarray | None
    ) -> tuple[float, float]:
        """Return the p-value of sign flips and its Monte Carlo standard error."""
        if self._known_tails is not None:
            p = self.sum.p_value(alternative, self._known_tails, mid_p=self.mid_p)
            return min(max(p, TINY), 1.0), 0.0
        assert drawn is not None
        # Flipping a row changes the sum by twice its difference.
        beyond = -2 * drawn[:, 0]
        if alternative == "less":
            extreme = beyond <= self.tie
        else:
            extreme = beyond >= -self.tie
            if alternative == "two-sided":
                extreme |= beyond <= self.tie - 2 * float(self.gain.total)
        n_extreme = int(extreme.sum())
        # A p-value from few extreme draws has a large relative error.
        if n_extreme <= _FEWEST_EXTREME and alternative != "less":
            tail = self._saddlepoint(alternative)
            if tail is not None:
                return tail, 0.0
        return plain_p_value(n_extreme - 1, len(drawn) - 1)

    def _saddlepoint(self, alternative: str) -> float | None:
        """Return a small p-value, or None if the formula is unreliable."""
        found = self.sum
        if found.total >= found.top - found.tie:
            return self.smallest_p_value(alternative)
        if found.n < _FEWEST_FOR_SADDLEPOINT or found.sign == 0:
            return None
        tail, _ = found.saddlepoint()
        return min(2 * tail, 1.0) if alternative == "two-sided" else tail

    def _drawn(
        self, n_resamples: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of random flips and their probabilities."""
        sums = drawn_flips(self.rows, self.times, n_resamples, rng)
        # Row 0 is the observed signs, which makes the p-value (s + 1) / (b + 1).
        sums = np.concatenate([np.zeros((1, 2)), sums])
        return sums, np.full(n_resamples + 1, 1 / (n_resamples + 1))

    def _saddlepoint_ends(self, level: float) -> tuple[float, float, float] | None:
        """Return the ends as `_ends_of` does, None if they may not be accurate.

        An end is the gain t at which the p-value of sign flips of d - t l is 1 - level.
        """
        difference, length, times = self.gain.difference, self.gain.length, self.times
        centre = float(self.gain.total) / float(self.gain.length_total)
        z, ends = float(ndtri((1 + level) / 2)), []
        for side in (-1, 1):

            def chance(distance: float, side: int = side) -> float:
                values = np.abs(difference - (centre + side * distance) * length)
                total = distance * float(self.gain.length_total)
                if total >= (1 - _TIE) * float(values @ times):
                    return 0.0
                return 2 * signed_sum_saddlepoint(values, times, total)[0]

            distance = distance_reached(chance, z, z * self.gain.standard_error)
            ends.append(centre + side * distance)
            if not SignedSum(difference - ends[-1] * length, times).is_smooth:
                return None
        return ends[0], ends[1], TINY

    def _ends_of(
        self, sums: np.ndarray, chance: np.ndarray, level: float
    ) -> tuple[float, float, float]:
        """Return the ends of the interval, and the smallest lower end above 0."""
        above, length = sums.T
        # theory, (P8): the gains of the flipped rows and of the others
        total, whole = float(self.gain.total), float(self.gain.length_total)
        least = _TIE * whole
        first = _quotient(above, length, self.tie, least)
        second = _quotient(total - above, whole - length, self.tie, least)
        # rows without length and difference do not depend on the gain
        anything = np.isnan(first) | np.isnan(second)
        low = np.where(anything, -np.inf, np.minimum(first, second))
        high = np.where(anything, np.inf, np.maximum(first, second))
        if self.mid_p:
            # These flips are ties for every gain, and for most gains the only ties.
            chance = np.where(anything, chance / 2, chance)
        # Ties at 1 - level belong to the interval.
        least = (1 - level) * (1 - 1e-12)
        ends = -_reached(-low, chance, least), _reached(high, chance, least)
        return *ends, float(np.min(low[low > 0], initial=total / whole))

    def _interval(
        self, found: tuple[float, float, float], level: float, pvalue: float
    ) -> tuple[float, float]:
        """Return the interval of gains not rejected, consistent with the p-value."""
        *ends, smallest = found
        total, whole = float(self.gain.total), float(self.gain.length_total)
        least = (1 - level) * (1 - 1e-12)
        if self.skewness:
            # theory, (P12), solved for the studentised distance from the gain
            a, side = self.skewness, int(self.skewness > 0)
            y = (1, -1)[side] * float(stdtrit(self.gain.n - 1, (1 + level) / 2))
            t = 3 / a * (float(np.cbrt(1 + a * (y - a / 6))) - 1)
            end = total / whole - t * self._student_error
            ends[side] = (min, max)[side](ends[side], end)
        # The p-value may come from a lattice or a saddlepoint instead of flips.
        if pvalue >= least:
            ends[0] = min(ends[0], 0.0)
        elif ends[0] <= 0:
            # the p-value has no Monte Carlo error, but the end may have one
            ends[0] = smallest
            if self.has_mid_p:
                # Ties count by half at 0, but not beside it.
                ends[0] = total / whole - math.nextafter(total / whole, 0.0)
        return ends[0], ends[1]


def _quotient(
    above: np.ndarray, below: np.ndarray, tie: float, least: float
) -> np.ndarray:
    """Return above / below: infinite with the sign of `above` for 0, nan for 0/0."""
    nothing = below <= least
    values = np.divide(above, below, out=np.zeros_like(above), where=~nothing)
    # No rows, or rows without length: the sign of the sum decides.
    sign = np.where(np.abs(above) > tie, np.sign(above), np.nan)
    return np.where(nothing, sign * np.inf, values)


def _reached(values: np.ndarray, weight: np.ndarray, chance: float) -> float:
    """Return the largest value that is reached with the given probability."""
    order = np.argsort(-values, kind="stable")
    k = int(np.searchsorted(weight[order].cumsum(), chance))
    return float(values[order[min(k, order.size - 1)]])


def _orientation(gain: LinearGain) -> int:
    """Return 1 if A is better and -1 if B is better; ties use the sorted order."""
    if gain.total != 0:
        return 1 if gain.total > 0 else -1
    first, second = (_rows_of(gain, sign)[0].tolist() for sign in (1, -1))
    return 1 if first <= second else -1


def _rows_of(gain: LinearGain, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows (d, l) in a fixed order, and the count of each."""
    order = np.lexsort([gain.length, sign * gain.difference])
    difference = sign * gain.difference[order] + 0.0  # no negative zero
    return np.column_stack([difference, gain.length[order]]), gain.times[order]


def _as_ratio(items: PairedItems) -> LinearGain:
    """Return a gain that is not a ratio of sums as a ratio over rows.

    For a quotient of sums c and sums m, the difference of a row is c_A - c_B - F (m_A -
    m_B). F is the quotient of both systems together, that is, the score under the
    hypothesis that they are equal. The sum of the differences is the gain times the
    harmonic mean of both denominators. The length of a row is its share of this mean.
    """
    a, b = items.a, items.b
    if items.metric.quotient is None:
        difference, length = _of_callable(items)
    else:
        (above_a, below_a), (above_b, below_b) = map(items.metric.quotient, (a, b))
        total_a, total_b = math.fsum(below_a), math.fsum(below_b)
        together = total_a + total_b
        middle = (math.fsum(above_a) + math.fsum(above_b)) / together
        # theory, (P9)
        difference = above_a - above_b - middle * (below_a - below_b)
        length = (total_b * below_a + total_a * below_b) / together
    if not length.any():
        length = np.ones(len(a))
    difference[np.abs(difference) <= 1e-12 * np.abs(difference).max()] = 0
    rows, times = distinct_rows([difference, length])
    return LinearGain(rows[:, 0], rows[:, 1], times, is_integer=False)


def _of_callable(items: PairedItems) -> tuple[np.ndarray, np.ndarray]:
    """Return differences and lengths of the rows of any metric.

    The metric is evaluated at the mean sums of both systems. The difference of a row is
    the change of this metric when the row is taken from A instead of B. The length is
    the share of the row in the statistics, averaged over their columns.
    """
    a, b = items.a, items.b
    mean, half = (a.sum(axis=0) + b.sum(axis=0)) / 2, (a - b) / 2
    difference, _ = items.gains(np.hstack([mean + half, mean - half]))
    # the remainder of the gain is small; rows that do not differ have no part in it
    size = np.abs(difference)
    if size.any():
        # The differences are first-order changes, so their sum is not exactly the gain.
        missing = items.gain - math.fsum(difference)
        difference = difference + missing * size / math.fsum(size)
    share = np.abs(a) + np.abs(b)
    share = share[:, share.any(axis=0)]
    return difference, (share / share.sum(axis=0)).mean(axis=1)
