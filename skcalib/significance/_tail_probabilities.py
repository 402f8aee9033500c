"""P-values of gains of resamples for which nothing is drawn.

The tail of a sum of n draws with replacement from values y with probabilities p is
exact on a lattice, or a saddlepoint approximation. Both tilt the distribution by
e^(theta y), so that a rare sum becomes common. Let K(theta) = log sum p e^(theta y),
and let y be centred so that the event is a sum of at least 0. The tail is e^(n K) times
the sum of e^(-theta S) times the tilted probability of S, over all sums S of at least
0. These tails give the p-value and the interval of a gain that is one ratio of sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import erfcx, ndtri

from .._errors import ParameterError

# Sums further from the threshold than this many standard deviations and largest values
# together are left out. They contribute less than 1e-40 of the tail.
_DEVIATIONS, _LARGEST = 14, 25

# Frequencies whose weight is below e^-60 are left out.
NEGLIGIBLE = -60.0

# Possible events have a probability above 0, even below the smallest float.
TINY = float(np.finfo(float).tiny)

# Peaks of a coarse lattice below e^-18 are left out, as are peaks that need more than
# this number of products.
_LOWEST_PEAK, _PEAK_WORK = -18.0, 50_000

# Complex numbers held at once (16 bytes each).
_BLOCK = 1 << 21


def as_pvalues(p: np.ndarray) -> np.ndarray:
    """Return p-values in (0, 1]: a p-value that underflows becomes `TINY`."""
    # each of two tails may be TINY already
    return np.where(p <= 2 * TINY, TINY, np.minimum(p, 1.0))


def thresholds(gain: Any, alternative: str) -> tuple[Any, Any]:
    """Return the thresholds that d* must reach from below, and from above."""
    # theory, (P1): d* >= 2 d or d* <= 0 for a positive gain
    if alternative == "two-sided":
        return gain + abs(gain), gain - abs(gain)
    return 2 * gain, 2 * gain


def tilt(y: np.ndarray, p: np.ndarray) -> float:
    """Return theta with sum p y e^(theta y) = 0; y has both signs."""
    scale = float(np.abs(y).max())
    z = y / scale

    def mean_and_slope(theta: float) -> tuple[float, float]:
        exponent = theta * z
        # The largest weight is 1, so that no exponential overflows.
        weight = p * np.exp(exponent - exponent.max())
        weight /= weight.sum()
        mean = float(weight @ z)
        return mean, float(weight @ (z * z)) - mean**2

    # one Newton step from 0 for the mean
    start = -float(p @ z) / float(p @ (z * z))
    # the error of a Newton step is close to the square of the previous error
    return increasing_root(mean_and_slope, start, tolerance=1e-8) / scale


def increasing_root(
    value_and_slope: Callable[[float], tuple[float, float]],
    theta: float,
    *,
    low: float = -math.inf,
    tolerance: float,
) -> float:
    """Return the root of an increasing function by Newton's method in an interval.

    The iteration ends if a Newton step is relatively smaller than the tolerance.
    """
    high = math.inf
    for _ in range(200):
        value, slope = value_and_slope(theta)
        # The sign of the value tells the side of the root.
        low, high = (theta, high) if value < 0 else (low, theta)
        new = theta - value / slope if slope > 0 else math.inf
        is_newton = low < new < high
        if not is_newton:
            new = _between(low, high)
        is_near = is_newton and abs(new - theta) <= tolerance * abs(new)
        if is_near or new in (low, high):
            break
        theta = new
    return new


def _between(low: float, high: float) -> float:
    if high == math.inf:
        return max(2 * low, low + 1)
    if low == -math.inf:
        return min(2 * high, high - 1)
    return (low + high) / 2


def log_mean_exp(theta: float, y: np.ndarray, p: np.ndarray) -> float:
    """Return K(theta) with a small relative error even if it is near 0."""
    exponent = theta * y
    largest = float(exponent.max())
    # expm1 and log1p keep the digits of a mean near 1, which n K multiplies
    if largest < 500:
        return math.log1p(float(p @ np.expm1(exponent)))
    return largest + math.log(float(p @ np.exp(exponent - largest)))


def merged(values: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values in increasing order, and the count of each."""
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, times).astype(np.int64)


class IntegerSum:
    """Sum of n draws from integers; values[k] has probability times[k] / n.

    The tail is the sum of e^(-theta S) over a window of the lattice. The distribution
    of S is the inverse of the tilted characteristic function. This is a finite sum over
    few frequencies, because the n-th power of the function vanishes at all others.
    There is no other approximation.
    """

    def __init__(self, values: np.ndarray, times: np.ndarray):
        values, times = merged(values, times)
        self.n = int(times.sum())
        self.low = int(values.min())
        shifted = values.astype(np.int64) - self.low
        # 0 if all values are equal
        self.step = int(np.gcd.reduce(shifted)) or 1
        self.places = shifted // self.step
        self.p = times / self.n
        self.top = self.n * int(self.places.max())

    def tail(self, largest_window: int) -> float | None:
        """Return P(S >= 0), or None if this needs a larger window."""
        # ceil(-n low / step); Python's integers do not overflow
        place = -(self.n * self.low // self.step)
        return _lattice_tail(self.places, self.p, self.n, place, largest_window)

    def distances(self, largest_window: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the lattice x of |S - E S| and P(|S - E S| >= x), from x = 0."""
        middle = round(self.n * float(self.p @ self.places))
        distribution = _lattice_pmf(self.places, self.p, self.n, middle, largest_window)
        if distribution is None:
            return None
        place, chance = distribution
        at = np.bincount(np.abs(place - middle), chance)
        # summed from the far end, so that small tails keep their digits
        return np.arange(at.size) * self.step, at[::-1].cumsum()[::-1]


def _lattice_tail(
    v: np.ndarray, p: np.ndarray, n: int, place: int, largest_window: int
) -> float | None:
    """Return P(V >= place) for the sum V of n draws from v >= 0 with minimum 0."""
    top = n * int(v.max())
    if place <= 0:
        return 1.0
    if place > top:
        return 0.0
    if place == top:
        return max(float(p[v.argmax()]) ** n, TINY)
    # A frequent event is not tilted; its complement is the rare one.
    if place <= n * float(p @ v):
        below = _lattice_tail(v.max() - v, p, n, top - place + 1, largest_window)
        return None if below is None else 1 - below
    # the event is now a sum of at least 0
    y = v - place / n
    theta = tilt(y, p)
    log_chance = log_mean_exp(theta, y, p)
    tilted = p * np.exp(theta * y - log_chance)
    length, half = _window(v, tilted, y, n, top)
    if length > largest_window:
        return None
    omega, power, weight = _frequencies(v, y, tilted, n, length)
    # The window is the whole lattice: its part above the threshold ends at the largest
    # sum.
    if length > top:
        half = top - place + 1
    # theory, (P3): the geometric series; expm1 keeps its digits if theta is small
    ratio = -(theta + 1j * omega)
    geometric = np.expm1(half * ratio) / np.expm1(ratio)
    total = float(weight @ (power * geometric).real) / length
    return min(max(math.exp(n * log_chance) * total, TINY), 1.0)


def _window(
    v: np.ndarray, p: np.ndarray, y: np.ndarray, n: int, top: int
) -> tuple[int, int]:
    """Return the length of the window and of its part above the threshold."""
    deviation = math.sqrt(n * float(p @ (y * y)))
    half = math.ceil(_DEVIATIONS * deviation + _LARGEST * int(v.max()))
    length = 2 * half
    return (top + 1, half) if length > top else (length, half)


def _frequencies(
    v: np.ndarray, y: np.ndarray, p: np.ndarray, n: int, length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the frequencies that contribute, phi^n there, and their multiplicities.

    phi is the characteristic function of y. A fast Fourier transform locates the
    frequencies that contribute. At those frequencies phi is then summed with an
    algorithm that stays accurate when |phi| is close to 1.
    """
    # The transform has an absolute error of 1e-16, which the n-th power of a value near
    # 1 would multiply by n.
    fast = np.fft.rfft(np.bincount(v % length, p, length))
    with np.errstate(divide="ignore"):
        matters = np.flatnonzero(n * np.log(np.abs(fast)) > NEGLIGIBLE)
    omega = 2 * np.pi / length * matters
    power = np.empty(omega.size, dtype=complex)
    step = max(1, _BLOCK // y.size)
    for start in range(0, omega.size, step):
        angle = omega[start : start + step, np.newaxis] * y
        # cos(x) - 1 without cancellation, so |phi|^2 - 1 is exact near 0
        real = -2 * np.sin(angle / 2) ** 2 @ p
        imaginary = np.sin(angle) @ p
        size = np.log1p(2 * real + real**2 + imaginary**2) / 2
        turn = np.arctan2(imaginary, 1 + real)
        power[start : start + step] = np.exp(n * (size + 1j * turn))
    # Every other frequency stands for itself and its negative, with the conjugate
    # value.
    return omega, power, np.where((matters == 0) | (2 * matters == length), 1.0, 2.0)


def _lattice_pmf(
    v: np.ndarray, p: np.ndarray, n: int, middle: int, largest_window: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lattice points near the mean of the sum, and their probabilities."""
    y, top = v - middle / n, n * int(v.max())
    length, half = _window(v, p, y, n, top)
    if length > largest_window:
        return None
    first = 0 if length > top else middle - half
    # a longer window is still correct, and its transform is faster
    length = next_fast_len(length, real=True)
    power = np.zeros(length // 2 + 1, dtype=complex)
    omega, found, _ = _frequencies(v, y, p, n, length)
    power[np.rint(omega * length / (2 * np.pi)).astype(int)] = found
    place = np.arange(first, min(first + length, top + 1))
    place = place[place >= 0]
    # phi has e^(+i omega S): entry j is the probability of the point middle - j
    return place, np.maximum(np.fft.irfft(power, length)[(middle - place) % length], 0)


@dataclass(frozen=True)
class Lattice:
    """Lattice of the sums of n draws.

    Attributes
    ----------
    step : float
        Spacing of the lattice; 0 if there is none.
    offset : float
        The first point of the lattice that is not negative.
    coarse : float
        Spacing of a coarse lattice close to which the sums lie, because the main part
        of each value lies on it; 0 if there is none.
    """

    step: float = 0.0
    offset: float = 0.0
    coarse: float = 0.0


NO_LATTICE = Lattice()


def saddlepoint_tail(
    y: np.ndarray, times: np.ndarray, lattice: Lattice = NO_LATTICE
) -> float:
    """Return P(S >= 0) for the sum S of n draws, by Lugannani and Rice.

    y[k] has probability times[k] / n.
    """
    n = float(times.sum())
    # The event starts at the first point of the lattice that is not negative.
    p, y = times / n, y - lattice.offset / n
    if y.min() >= 0:
        return 1.0
    if y.max() <= 0:
        at_top = float(p[y == 0].sum()) if y.max() == 0 else 0.0
        return max(at_top**n, TINY) if at_top > 0 else 0.0
    theta = tilt(y, p)
    # K(theta) is at most K(0) = 0; rounding may make it positive.
    log_chance = min(n * log_mean_exp(theta, y, p), 0.0)
    tilted = p * np.exp(theta * y - log_chance / n)
    deviation = math.sqrt(n * float(tilted @ (y * y)))
    # theory, (P4)
    w = math.copysign(math.sqrt(-2 * log_chance), theta)
    clumps = _clumps(y, tilted, n, theta, lattice)
    if abs(w) < 1e-4:
        # theory, (P5): 1 / u - 1 / w cancels near 0, so its limit is used
        skewness = n * float(p @ (y - p @ y) ** 3) / deviation**3
        correction = lattice.step / (2 * deviation) - skewness / 6 + clumps
        return 0.5 + (correction - w) / math.sqrt(2 * math.pi)
    step = lattice.step
    u = theta if step == 0 else -math.expm1(-theta * step) / step
    correction = 1 / (u * deviation) - 1 / w + clumps
    if w > 0:
        tail = corrected_tail(log_chance, correction)
    else:
        # The other tail is the rare one, and the correction changes its sign.
        tail = 1 - corrected_tail(log_chance, -correction)
    return min(max(tail, TINY), 1.0)


def corrected_tail(log_chance: float, correction: float) -> float:
    """Return the corrected normal tail beyond w = sqrt(-2 log_chance).

    The correction is in units of the density at w.
    """
    # (1 - Phi(w)) / phi(w) does not underflow, however small the tail is
    mills = math.sqrt(math.pi / 2) * float(erfcx(math.sqrt(-log_chance)))
    return math.exp(log_chance) / math.sqrt(2 * math.pi) * (mills + correction)


def _clumps(
    y: np.ndarray, p: np.ndarray, n: float, theta: float, lattice: Lattice
) -> float:
    """Return the term that a coarse lattice adds to the correction.

    The characteristic function may then also have peaks near multiples of 2 pi /
    coarse. Each of them is integrated like the peak at 0, with a parabola for the
    logarithm. The height of a peak depends on the remainders of the values.
    """
    if not 0 < lattice.step < lattice.coarse:
        return 0.0
    # up to the middle between two peaks of the fine lattice, if that is fast
    n_peaks = round(lattice.coarse / lattice.step)
    k = np.arange(1, min(n_peaks // 2, int(_PEAK_WORK / y.size) + 1) + 1)
    omega = 2 * np.pi / lattice.coarse * k
    # multiples of the coarse spacing do not change the phase, so values that differ by
    # them are merged; rounding errors are negligible
    phase, same = np.unique(np.round(y / lattice.coarse % 1, 12), return_inverse=True)
    height = np.exp(2j * np.pi * np.multiply.outer(k, phase)) @ np.bincount(same, p)
    matters = n * np.log(np.maximum(np.abs(height), TINY)) > _LOWEST_PEAK
    k, omega, height = k[matters], omega[matters], height[matters]
    wave = np.exp(1j * np.multiply.outer(omega, y)) * p
    # theory, (P6): derivatives of the logarithm at the peak
    slope = 1j * (wave @ y) / height
    bend = slope**2 + (wave @ (y * y)) / height
    power = n * (np.log(height) + slope**2 / (2 * bend))
    # the top of the parabola, which is not exactly at omega
    place = theta + 1j * (omega + slope / bend)
    geometric = -lattice.step / np.expm1(-lattice.step * place)
    each = (np.exp(power) / np.sqrt(n * bend) * geometric).real
    # a peak in the middle of the period is its own mirror image
    return float(each @ np.where(2 * k == n_peaks, 1.0, 2.0))


# Lattices that are finer than this fraction of their extent are not used.
_FINEST = 1e-5

_INT64 = 2**62

# Number of lattice points that 'exact' may use, and that 'auto' uses.
_LARGEST_WINDOW, _LARGEST_QUICK_WINDOW = 1 << 24, 1 << 16

# With fewer items, sums that are not on a lattice are too far from a continuous
# distribution.
_FEWEST_FOR_SADDLEPOINT = 30


@dataclass(frozen=True)
class LinearGain:
    """A gain of the form (sum of differences) / (sum of lengths).

    Row k occurs times[k] times. Integers are not converted to floats.
    """

    difference: np.ndarray
    length: np.ndarray
    times: np.ndarray
    is_integer: bool

    @cached_property
    def total(self) -> Any:
        """Sum of the differences; an int for integer statistics."""
        return self._sum(self.difference)

    @cached_property
    def length_total(self) -> Any:
        """Sum of the lengths."""
        return self._sum(self.length)

    def _sum(self, column: np.ndarray) -> Any:
        if self.is_integer:
            return int((column * self.times).sum())
        return math.fsum((column * self.times).tolist())

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.times.sum())

    @property
    def in_wins(self) -> tuple[LinearGain, float]:
        """The gain with wins of 1 and losses of -1, if they have one size; the size.

        Its p-value does not depend on the unit of the scores, such as half points.
        """
        size = np.unique(np.abs(self.difference[self.difference != 0]))
        is_whole = bool((self.length == np.rint(self.length)).all())
        if self.is_integer or size.size != 1 or not is_whole:
            return self, 1.0
        wins = replace(self, difference=np.sign(self.difference), is_integer=True)
        return wins, float(size[0])

    @cached_property
    def residual(self) -> np.ndarray:
        """Difference minus the gain times the length; these sum to 0."""
        return self.difference - self.total / self.length_total * self.length

    @property
    def standard_error(self) -> float:
        """Return the standard error of the gain, from its influence function."""
        square = float(self.times @ self.residual**2)
        return math.sqrt(square) / float(self.length_total)

    @property
    def is_constant(self) -> bool:
        """Whether every resample of integers has the observed gain."""
        # every row has the gain D / N, compared as integers
        d = self.difference * self.length_total
        return bool((d == self.total * self.length).all())

    @property
    def chance_of_nothing(self) -> float:
        """Return the probability that all drawn items have length 0."""
        return (int(self.times[self.length == 0].sum()) / self.n) ** self.n


def linear_p_value(
    gain: LinearGain, alternative: str, above: Callable[..., float | None]
) -> float | None:
    """Return the p-value of the recentred bootstrap, None if a tail is unknown.

    `above` is `exact_above` or `saddlepoint_above`.
    """
    if alternative == "two-sided" and gain.total == 0:
        return 1.0

    up, down = thresholds(gain.total, alternative)
    tails = {"greater": [(up, 1)], "less": [(down, -1)]}
    p = 0.0
    for threshold, sign in tails.get(alternative, [(up, 1), (down, -1)]):
        chance = above(gain, sign, threshold)
        if chance is None:
            return None
        # If only empty items are drawn, the metric is 0/0 and both systems score 0.
        if sign * threshold > 0:
            chance = max(chance - gain.chance_of_nothing, 0.0)
        p += chance
    return min(p, 1.0)


def exact_above(
    gain: LinearGain, sign: int, threshold: Any, *, largest_window: int
) -> float | None:
    """Return P(sign * (N sum d - threshold sum l) >= 0), or None."""
    # theory, (P2)
    weights = _integer_weights(gain, sign, threshold)
    if weights is None:
        return None
    return IntegerSum(weights, gain.times).tail(largest_window)


def _integer_weights(gain: LinearGain, sign: int, threshold: int) -> np.ndarray | None:
    """Return sign * (N d - threshold l) as int64, or None if this may overflow."""
    d, length = gain.difference.astype(np.int64), gain.length.astype(np.int64)
    largest = abs(gain.length_total) * int(np.abs(d).max())
    if largest + abs(threshold) * int(length.max()) >= _INT64:
        return None
    return sign * (gain.length_total * d - threshold * length)


def saddlepoint_above(gain: LinearGain, sign: int, threshold: Any) -> float:
    """Return P(sign * (sum d - threshold / N sum l) >= 0)."""
    if gain.is_integer:
        weights = _integer_weights(gain, sign, threshold)
        if weights is not None:
            low = int(weights.min())
            step = int(np.gcd.reduce(weights - low))
            d = gain.difference.astype(np.int64)
            # If the threshold is small, the sums of N d - threshold l cluster around
            # the multiples of N.
            coarse = gain.length_total * int(np.gcd.reduce(d - d.min()))
            lattice = Lattice(step, (gain.n * low) % step if step else 0, coarse)
            return saddlepoint_tail(weights.astype(float), gain.times, lattice)
    y = sign * (gain.difference - (threshold / gain.length_total) * gain.length)
    # Values that are 0 up to rounding would make a false lattice.
    y[np.abs(y) <= 1e-12 * np.abs(gain.difference).max()] = 0
    return saddlepoint_tail(y, gain.times, float_lattice(y, gain.n))


def float_lattice(y: np.ndarray, n: int) -> Lattice:
    """Return the lattice of sums of n values, such as percentages or half points."""
    step = common_step(y - y.min())
    if step == 0:
        return NO_LATTICE
    offset = math.fmod(n * float(y.min()), step) % step
    # a value just below a point of the lattice is that point, up to rounding
    return Lattice(step, 0.0 if step - offset < 1e-6 * step else offset)


def common_step(values: np.ndarray) -> float:
    """Return the greatest common divisor of numbers of at least 0, up to rounding.

    It is 0 if there is none above 1e-5 of the largest number.
    """
    values = np.unique(values[values > 0])
    if values.size == 0:
        return 0.0
    step, least = float(values[0]), _FINEST * float(values[-1])
    for value in values[1:].tolist():
        if step <= least:
            break
        step = _greatest_divisor(value, step, least)
    return step if step > least else 0.0


def _greatest_divisor(first: float, second: float, least: float) -> float:
    """Return the greatest common divisor by Euclid's algorithm, 0 if it is small."""
    while second > least:
        rest = math.fmod(first, second)
        # a multiple up to rounding, just below or just above
        if second - rest < 1e-6 * second or rest < 1e-6 * second:
            return second
        first, second = second, rest
    return 0.0


def linear_half_width(gain: LinearGain, level: float, method: str) -> float:
    """Return the largest distance |d* - d| that is reached with probability 1 - level.

    It is computed on the lattice for 'exact' and a mean of integers, otherwise by a
    saddlepoint approximation.
    """
    if method == "exact" and (gain.length == gain.length[0]).all():
        total = IntegerSum(gain.difference, gain.times)
        distribution = total.distances(_LARGEST_WINDOW)
        if distribution is not None:
            lattice, tails = distribution
            # The tolerance exceeds the rounding error of 1 - level.
            least = (1 - level) * (1 - 1e-12)
            return float(lattice[tails >= least][-1]) / gain.length_total
    # the distance whose two tails have the probability 1 - level, by iteration
    z = float(ndtri((1 + level) / 2))
    start = z * gain.standard_error
    return distance_reached(partial(_two_tails, gain), z, start, _furthest(gain))


def distance_reached(
    two_tails: Callable[[float], float],
    z: float,
    distance: float,
    furthest: float = math.inf,
) -> float:
    """Return the distance whose two tails are those of a normal variable beyond z."""
    for _ in range(20):
        chance = two_tails(distance)
        # normal quantile of the tail found
        reached = -float(ndtri(min(chance / 2, 0.5))) if chance > 0 else 2 * z
        if abs(reached - z) < 1e-6 * z:
            break
        # The quantile is nearly proportional to the distance; a step at most doubles
        # it.
        distance = min(distance * z / max(reached, z / 2), furthest)
    return distance


def _two_tails(gain: LinearGain, distance: float) -> float:
    """Return P(|d* - d| >= distance) by a saddlepoint, distance > 0."""
    chance, centre = 0.0, gain.total / gain.length_total
    for sign in (1, -1):
        ratio = centre + sign * distance
        y = sign * (gain.difference - ratio * gain.length)
        tail = saddlepoint_tail(y, gain.times)
        chance += tail - (gain.chance_of_nothing if sign * ratio > 0 else 0)
    return chance


def _furthest(gain: LinearGain) -> float:
    """Return the largest |d* - d|: one item is drawn n times, or only empty items."""
    some = gain.length > 0
    centre = gain.total / gain.length_total
    # A ratio of sums lies between the ratios of single items.
    furthest = float(np.abs(gain.difference[some] / gain.length[some] - centre).max())
    return furthest if some.all() else max(furthest, abs(centre))


def undrawn_p_value(
    linear: LinearGain | None, metric: str, alternative: str, method: str
) -> tuple[float, str] | None:
    """Return the exact or saddlepoint p-value, or None if resamples must be drawn."""
    if linear is None and method in ("exact", "saddlepoint"):
        raise ParameterError(
            "method",
            "needs statistic='mean', or 'ratio' with the same denominators "
            f"for both systems. Got {metric!r}; use method='monte_carlo'.",
        )
    if linear is None or method == "monte_carlo":
        return None
    if method == "exact" and not linear.is_integer:
        raise ParameterError(
            "method",
            "needs integer columns. Got numbers with fractions; use "
            "method='saddlepoint'.",
        )
    if method != "saddlepoint" and linear.is_integer:
        largest = _LARGEST_QUICK_WINDOW if method == "auto" else _LARGEST_WINDOW
        exact = partial(exact_above, largest_window=largest)
        p = linear_p_value(linear, alternative, exact)
        if p is not None:
            return p, "exact"
        if method == "exact":
            raise ParameterError(
                "method",
                f"would need a lattice of more than {largest:,} points for these "
                "sums. Use method='saddlepoint'.",
            )
    if method == "auto" and linear.n < _FEWEST_FOR_SADDLEPOINT:
        return None
    p = linear_p_value(linear, alternative, saddlepoint_above)
    assert p is not None
    return p, "saddlepoint"
