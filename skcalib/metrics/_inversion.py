"""From the law of the debiased square to an interval of the error.

The squared error x cannot be negative, so an interval with equal tails would be empty
where the estimate T is far below 0 and would hold 0 less often than a test at its level
accepts it. Tails are divided as Feldman and Cousins (1998) divide them for a normal
mean that is not negative: by likelihood ratio, all in the upper tail at x = 0, equal
from x = z deviations on. Any division has its level, and this one makes "0 is in the
interval" and "the test does not reject" the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, chdtri, ndtr, ndtri

# A law less skewed than the first is normal to 4 digits. One more skewed than a single
# squared normal, as of labels that hardly ever come, is not of this family: its middle
# would be at the lower end. The bound then gives the longer tails.
_SKEWNESS = (1e-3, np.sqrt(8))

# A deviation below this is none: ratios to it would overflow.
_NO_DEVIATION = 1e-100

# A square below this quantile is so by chance.
_BY_CHANCE = 0.05


@dataclass(frozen=True)
class MeanLaw:
    """What is known of the label frequency of all rows together.

    Attributes
    ----------
    frequency : float
        Of the positive label.
    proba : float
        Mean probability.
    variance : float
        Of the frequency.
    """

    frequency: float
    proba: float
    variance: float

    def furthest(self, level: float) -> float:
        """Return the largest distance of a true frequency from the mean probability.

        True frequencies are those of Wilson's interval: where labels are rare, many
        are so by chance although their variance seen is small.
        """
        p = self.frequency
        if not (0 < p < 1 and self.variance > 0):
            return 0.0
        n = p * (1 - p) / self.variance  # independent rows that would tell as much
        z2 = float(ndtri((1 + level) / 2)) ** 2
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = math.sqrt(z2 / n * (p * (1 - p) + z2 / (4 * n))) / (1 + z2 / n)
        return half + abs(centre - self.proba)


@dataclass(frozen=True)
class SquareLaw:
    """What is known of the debiased square T.

    Attributes
    ----------
    square : float
        T.
    deviation, skewness : float
        Of T, by the variances seen, if there were no error.
    slope : float
        Growth of the variance of T with the squared error, over 4.
    null_deviation, null_skewness : float
        Of T under perfect calibration, by the variances q (1 - q).
    n_units : float
        Number of independent rows, or of groups in all bins.
    mean : MeanLaw or None
        Of all rows together; None: not known.
    """

    square: float
    deviation: float
    skewness: float
    slope: float
    null_deviation: float
    null_skewness: float
    n_units: float
    mean: MeanLaw | None = None

    def p_value(self, any_residual: bool) -> float:
        """Return the p-value of perfect calibration."""
        if self.null_deviation <= 0:  # every probability is 0 or 1
            return 0.0 if any_residual else 1.0
        return _upper_tail(self.square / self.null_deviation, self.null_skewness)

    def _at(self, square: float) -> tuple[float, float]:
        """Return deviation and skewness of T if the squared error is `square`.

        Of a sum of noncentral chi squares with weights l and shifts d^2 the cumulants
        are 2 sum l^2 (1 + 2 d^2) and 8 sum l^3 (1 + 3 d^2).
        """
        growth = 2 * np.sqrt(self.slope) * np.sqrt(square)
        deviation = float(np.hypot(self.deviation, growth))
        # ratios first: the cube of a deviation may underflow
        noise = self.skewness * (self.deviation / deviation) ** 3
        error = 24 * (self.slope / deviation) ** 2 * (square / deviation)
        return deviation, noise + error

    def interval(self, level: float, p_value: float) -> tuple[float, float]:
        """Return the ends of the interval of the error.

        Zero is in the interval if and only if p_value >= 1 - level.
        """
        low, high = self._low(level), self._high(level)
        if p_value >= 1 - level:
            low = 0.0
        elif low == 0:
            low = np.finfo(np.float64).eps
        # Even where no label ever came, their frequency may be above 0.
        unseen = -np.expm1(np.log1p(-level) / self.n_units)
        # no root mean square is below the mean
        mean = 0.0 if self.mean is None else self.mean.furthest(level)
        high = max(high, low, unseen, mean)
        return float(min(low, 1)), float(min(high, 1))

    def _low(self, level: float) -> float:
        if self.square <= 0:
            return 0.0

        def excess(x: float) -> float:
            deviation, skewness = self._at(x)
            tail = _upper_tail((self.square - x) / deviation, skewness)
            return tail - upper_share(x / deviation, level)

        if self.deviation <= _NO_DEVIATION:
            return float(np.sqrt(self.square))
        if excess(0) >= 0:
            return 0.0
        if excess(self.square) <= 0:  # a low level: T is above the middle of its law
            return float(np.sqrt(self.square))
        return _root(excess, 0, self.square)

    def _high(self, level: float) -> float:
        if self.deviation <= _NO_DEVIATION:
            return float(np.sqrt(max(self.square, 0)))
        # A square that low says that the noise was small by chance, not that the error
        # is known to be 0: it counts as the lowest of 20.
        lowest = self.deviation * _lower_quantile(_BY_CHANCE, self.skewness)
        square = max(self.square, lowest)

        def excess(x: float) -> float:
            deviation, skewness = self._at(x)
            tail = _lower_tail((square - x) / deviation, skewness)
            return tail - (1 - level - upper_share(x / deviation, level))

        start = max(square, 1e-9 * self.deviation)
        if start >= 1 or excess(1.0) >= 0:
            return 1.0
        if excess(start) <= 0:  # a low level again
            return float(np.sqrt(max(self.square, 0)))
        return _root(excess, start, 1.0)


def _root(excess: Callable[[float], float], start: float, stop: float) -> float:
    """Return the root of the squared error between start and stop."""
    root = brentq(excess, start, stop, xtol=1e-12 * stop, rtol=1e-10)
    return float(np.sqrt(root))


def upper_share(distance: float, level: float) -> float:
    """Return how much of 1 - level is in the upper tail at a mean that far from 0.

    `distance` is in deviations. Values t of the normal estimate are taken in by their
    likelihood ratio to the best mean max(t, 0).
    """
    z = float(ndtri((1 + level) / 2))
    if distance >= z:
        return (1 - level) / 2
    if distance < 1e-8:
        return min(1 - level, 0.5)

    def excess(up: float) -> float:
        down = -distance / 2 - up**2 / (2 * distance)
        return float(ndtr(up) - ndtr(down)) - level

    start = max(float(ndtri(level)), 0.0)
    if excess(start) >= 0:  # by rounding, where the lower end is far away
        return float(ndtr(-start))
    return float(ndtr(-brentq(excess, start, z + 1e-9)))


def _freedom(skewness: float) -> float:
    """Return the degrees of freedom of the chi square law of that skewness."""
    return 8 / float(np.clip(skewness, *_SKEWNESS)) ** 2


def _upper_tail(standardised: float, skewness: float) -> float:
    """Return the chance of more, by a shifted chi square law of that skewness."""
    freedom = _freedom(skewness)
    return float(chdtrc(freedom, _chi_square(standardised, freedom)))


def _lower_tail(standardised: float, skewness: float) -> float:
    freedom = _freedom(skewness)
    return float(chdtr(freedom, _chi_square(standardised, freedom)))


def _chi_square(standardised: float, freedom: float) -> float:
    """Return the value of that many deviations from the mean; inf if it overflows."""
    return max(freedom + float(standardised) * math.sqrt(2 * freedom), 0.0)


def _lower_quantile(chance: float, skewness: float) -> float:
    freedom = _freedom(skewness)
    return float((chdtri(freedom, 1 - chance) - freedom) / np.sqrt(2 * freedom))
