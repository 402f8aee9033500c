"""P-values and intervals of a gain that is one ratio of sums, without resampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from .._errors import ParameterError
from ._tail_probabilities import NO_LATTICE, IntegerSum, Lattice, saddlepoint_tail

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
        empty = int(self.times[self.length == 0].sum())
        return (empty / self.n) ** self.n


def linear_p_value(
    gain: LinearGain, alternative: str, *, largest_window: int | None
) -> float | None:
    """Return the p-value of the recentred bootstrap.

    With `largest_window`, it is exact, or None if the lattice needs a larger window.
    Without it, it is a saddlepoint approximation.
    """
    if largest_window is None:
        tail: Any = saddlepoint_above
    else:
        tail = partial(exact_above, largest_window=largest_window)
    return recentred(partial(_tail, gain, tail), gain.total, alternative)


def recentred(tail: Any, total: Any, alternative: str) -> float | None:
    """Return the p-value, given tail(threshold, upper), at twice the gain and at 0."""
    if alternative == "greater":
        return tail(2 * total, True)
    if alternative == "less":
        return tail(2 * total, False)
    if total == 0:
        return 1.0
    # theory, (P1): d* >= 2 d or d* <= 0 for a positive gain
    upper, lower = tail(total + abs(total), True), tail(total - abs(total), False)
    if upper is None or lower is None:
        return None
    return min(upper + lower, 1.0)


def _tail(gain: LinearGain, above: Any, threshold: Any, upper: bool) -> float | None:
    """Return the probability of a gain at or beyond threshold / length_total."""
    sign = 1 if upper else -1
    chance = above(gain, sign, threshold)
    if chance is None:
        return None
    # If only empty items are drawn, the metric is 0/0 and both systems score 0.
    wrong = sign * threshold > 0
    return max(chance - gain.chance_of_nothing, 0.0) if wrong else chance


def exact_above(
    gain: LinearGain, sign: int, threshold: Any, *, largest_window: int
) -> float | None:
    """Return P(sign * (N sum d - threshold sum l) >= 0), or None."""
    # theory, (P2)
    weights = _integer_weights(gain, sign, threshold)
    if weights is None:
        return None
    values, place = np.unique(weights, return_inverse=True)
    times = np.bincount(place, gain.times)
    return IntegerSum(values, times).tail(0, largest_window)


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
            lattice = _lattice_of(gain, weights)
            return saddlepoint_tail(weights.astype(float), gain.times, lattice)
    ratio = threshold / gain.length_total
    y = sign * (gain.difference - ratio * gain.length)
    # Values that are 0 up to rounding would make a false lattice.
    y[np.abs(y) <= 1e-12 * np.abs(gain.difference).max()] = 0
    return saddlepoint_tail(y, gain.times, float_lattice(y, gain.n))


def _lattice_of(gain: LinearGain, weights: np.ndarray) -> Lattice:
    """Return the lattice of sums of integer weights N d - threshold l.

    If the threshold is small, the sums cluster around multiples of N.
    """
    low = int(weights.min())
    step = int(np.gcd.reduce(weights - low))
    d = gain.difference.astype(np.int64)
    # N d is a multiple of N, and threshold * l moves it only a little
    coarse = gain.length_total * int(np.gcd.reduce(d - d.min()))
    return Lattice(step, (gain.n * low) % step if step else 0, coarse)


def float_lattice(y: np.ndarray, n: int) -> Lattice:
    """Return the lattice of sums of n values, such as percentages or half points."""
    z = np.unique(y - y.min())
    extent = float(z[-1])
    step = 0.0
    for value in z[1:]:
        # greatest common divisor of all distances, one after the other
        step = _common_step(step, float(value), _FINEST * extent)
        if step == 0:
            return NO_LATTICE
    if step == 0:
        return NO_LATTICE
    offset = math.fmod(n * float(y.min()), step) % step
    # a value just below a point of the lattice is that point, up to rounding
    return Lattice(step, 0.0 if step - offset < 1e-6 * step else offset)


def _common_step(first: float, second: float, least: float) -> float:
    """Return the greatest common divisor of two numbers, 0 if it is below `least`."""
    if first == 0:
        return second if second > least else 0.0
    while second > 1e-9 * first:
        rest = math.fmod(first, second)
        # a multiple up to rounding, just below or just above
        if second - rest < 1e-6 * second or rest < 1e-6 * second:
            return second if second > least else 0.0
        first, second = second, rest
        if second <= least:
            return 0.0
    return first


def linear_half_width(gain: LinearGain, level: float, *, largest_window: int) -> float:
    """Return the largest distance |d* - d| that is reached with probability 1 - level.

    It is computed on the lattice for a mean of integers, otherwise by a saddlepoint
    approximation.
    """
    # The tolerance exceeds the rounding error of 1 - level.
    chance = (1 - level) * (1 - 1e-12)
    if gain.is_integer and (gain.length == gain.length[0]).all():
        values, place = np.unique(gain.difference, return_inverse=True)
        times = np.bincount(place, gain.times)
        distribution = IntegerSum(values.astype(np.int64), times).distances(
            largest_window
        )
        if distribution is not None:
            distance, reached = distribution
            return float(distance[reached >= chance][-1]) / gain.length_total
    return _saddlepoint_half_width(gain, level)


def _saddlepoint_half_width(gain: LinearGain, level: float) -> float:
    """Return the distance with a two-tailed probability of 1 - level, by iteration."""
    z = float(ndtri((1 + level) / 2))
    distance, furthest = z * gain.standard_error, _furthest(gain)
    for _ in range(20):
        chance = _two_tails(gain, distance)
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
    alone = gain.difference[some] / gain.length[some]
    furthest = float(np.abs(alone - centre).max())
    return furthest if some.all() else max(furthest, abs(centre))


class Undrawn(NamedTuple):
    """A p-value, its method, and the largest lattice that was allowed."""

    pvalue: float
    method: str
    largest_window: int


def undrawn_p_value(
    linear: LinearGain | None, metric: str, alternative: str, method: str
) -> Undrawn | None:
    """Return the exact or saddlepoint p-value, or None if resamples must be drawn."""
    if method in ("exact", "saddlepoint"):
        _check_linear(linear, metric, method)
    if method in ("monte_carlo", "tilted") or linear is None:
        return None
    found = None
    if method != "saddlepoint" and linear.is_integer:
        found = _exact(linear, alternative, method)
    few = linear.n < _FEWEST_FOR_SADDLEPOINT
    if found is None and not (method == "auto" and few):
        p = linear_p_value(linear, alternative, largest_window=None)
        assert p is not None
        found = Undrawn(p, "saddlepoint", 0)
    return found


def _exact(linear: LinearGain, alternative: str, method: str) -> Undrawn | None:
    largest = _LARGEST_QUICK_WINDOW if method == "auto" else _LARGEST_WINDOW
    p = linear_p_value(linear, alternative, largest_window=largest)
    if p is not None:
        return Undrawn(p, "exact", largest)
    if method == "exact":
        raise ParameterError(
            "method",
            f"would need a lattice of more than {largest:,} points for these "
            "sums. Use method='saddlepoint'.",
        )
    return None


def _check_linear(linear: LinearGain | None, metric: str, method: str) -> None:
    """Raise if the gain is not a ratio of sums, or not of integers for 'exact'."""
    if linear is None:
        raise ParameterError(
            "method",
            "needs statistic='mean', or 'ratio' with the same denominators "
            f"for both systems. Got {metric!r}; use method='monte_carlo' or 'tilted'.",
        )
    if method == "exact" and not linear.is_integer:
        raise ParameterError(
            "method",
            "needs integer columns. Got numbers with fractions; use "
            "method='saddlepoint'.",
        )
