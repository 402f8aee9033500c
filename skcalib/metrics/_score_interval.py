"""Interval of the error, computed from the distribution of the debiased square.

The squared error x cannot be negative. An interval with equal tails would be empty if
the estimate T is far below 0, and it would contain 0 less often than a test at the same
level accepts perfect calibration. The tails are therefore divided as Feldman and
Cousins (1998) divide them for a normal mean that is not negative: by likelihood ratio,
with an empty lower tail at x = 0 and equal tails from x = z standard deviations on.
Every division has the required level. With this division, the interval contains 0 if
and only if the test does not reject.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

from ._error_moments import ErrorMoments
from ._frequency_intervals import clopper_pearson
from ._levels import Levels
from ._pearson import MOST, quantile, tail_above, tail_below

# A smaller standard deviation is treated as 0, since ratios to it would overflow.
_NO_DEVIATION = 1e-100

# A square below this quantile is attributed to chance. In
# benchmarks/interval_constants.py, values from .01 to .2 have nearly the same coverage.
_BY_CHANCE = 0.05

# The growth of the variance of T with the error depends on the location of the error.
# At this number of standard deviations from 0, its estimate and the prior guess have
# the same weight. benchmarks/interval_constants.py measures coverage and width by it.
_TRUSTED = 2.5


def trust_in(estimate: float, deviation: float) -> float:
    """Return the weight of an estimate relative to a guess by its distance from 0."""
    if estimate <= 0:
        return 0.0
    # theory, (I8)
    return 1 / (1 + min(_TRUSTED * deviation / estimate, 1e100) ** 2)


@dataclass(frozen=True)
class MeanBound:
    """Estimate of a mean that is a lower bound on the root mean square error.

    Attributes
    ----------
    frequency : float
        Frequency of labels, or mean of another quantity in [0, 1].
    expected : float
        Expected frequency if each probability were right.
    variance : float
        Variance of the frequency.
    scale : float
        Largest distance of the frequency from `expected` per unit of the error.
    n_least : float
        Lower bound on the number of trials with the same information.
    from_below : bool
        Whether the lower end of the interval may be raised as well.
    """

    frequency: float
    expected: float
    variance: float
    scale: float = 1.0
    n_least: float = 1.0
    from_below: bool = False

    def furthest(self, level: float) -> float:
        """Return the largest error that the mean alone would allow."""
        p = self.frequency
        if not (0 < p < 1 and self.variance > 0 and self.scale > 0):
            return 0.0
        # theory, (I17): the binomial distribution with the observed mean and variance
        n = max(min(p * (1 - p) / max(self.variance, 1e-100), 1e15), self.n_least)
        low, high = clopper_pearson(p, n, level)
        return max(abs(low - self.expected), abs(high - self.expected)) / self.scale

    def nearest(self, level: float) -> float:
        """Return the smallest error that the mean alone would allow."""
        if not self.from_below:
            return 0.0
        # With the smallest number of trials, the bound is not too high.
        low, high = clopper_pearson(self.frequency, self.n_least, level)
        return max(low - self.expected, self.expected - high, 0.0) / self.scale


@dataclass(frozen=True)
class LabelNoise:
    """How the variance of labels depends on the error.

    Let d be the error. The mean variance of labels is the mean of q (1 - q), plus the
    excess of the Brier score over this mean, minus the mean of d^2. The excess is minus
    the mean of (1 - 2 q) d.

    Attributes
    ----------
    null : float
        Mean of q (1 - q).
    excess : float
        Excess of the Brier score.
    deviation : float
        Standard deviation of the excess under perfect calibration.
    scale : float
        Root of the mean of (1 - 2 q)^2. The excess is at most `scale` times the error.
    """

    null: float
    excess: float
    deviation: float
    scale: float

    def growth(self, square: float, x: float) -> float:
        """Return the ratio of the variances at squared errors x and `square`.

        The ratio is at least 1. If labels vary because of the error, as for hard
        answers, a sample with few errors also has a small variance.
        """
        if self.excess <= 0 or x <= square:
            return 1.0
        # theory, (I13): mean variance of labels at the observed error
        seen = self.null + self.excess - max(square, 0.0)
        if seen <= 0:
            return 1.0
        # Cauchy and Schwarz; the observed shape gives a smaller bound
        most = self.scale * math.sqrt(x)
        if square > 0:
            most = min(most, self.excess * math.sqrt(x / square))
        trust = trust_in(self.excess, self.deviation)
        return 1 + trust * max((self.null + most - x) / seen - 1, 0.0)


@dataclass(frozen=True)
class SquareDistribution:
    """Moments of the debiased square T as functions of the squared error.

    Attributes
    ----------
    square : float
        T.
    deviation, skewness : float
        Standard deviation and skewness of T without error, for the observed variances.
    slope : float
        Growth of the variance of T with the squared error, divided by 4.
    null_deviation, null_skewness : float
        Standard deviation and skewness of T under perfect calibration, for the
        variances q (1 - q).
    n_units : float
        Number of independent rows, or of groups in all bins.
    moments : ErrorMoments or None
        Moments of the error over the rows, if they are known.
    ratio : float
        Mean fourth power of the error divided by its squared mean square, if squared
        errors were proportional to q (1 - q). It is the guess for a T close to 0.
    reach : float
        Largest possible error.
    bounds : tuple of MeanBound
        Bounds of the error by means.
    between : float or None
        Variance of the mean of d^2 due to the choice of the groups, divided by T^2.
        None if rows are independent.
    freedom : float
        Degrees of freedom of the variances.
    labels : LabelNoise or None
        Dependence of the label variance on the error.
    levels : Levels or None
        The rows by level, if there are few distinct probabilities.
    """

    square: float
    deviation: float
    skewness: float
    slope: float
    null_deviation: float
    null_skewness: float
    n_units: float
    moments: ErrorMoments | None = None
    ratio: float = 1.0
    reach: float = 1.0
    bounds: tuple[MeanBound, ...] = field(default=())
    between: float | None = None
    freedom: float = math.inf
    labels: LabelNoise | None = None
    levels: Levels | None = None

    def p_value(self, any_residual: bool) -> float:
        """Return the p-value of perfect calibration by T alone."""
        if self.null_deviation <= 0:  # every probability is 0 or 1
            return 0.0 if any_residual else 1.0
        return tail_above(self.square / self.null_deviation, self.null_skewness)

    @property
    def trust(self) -> float:
        """Weight of the observed shape of the error."""
        if self.moments is None:
            return 0.0
        return trust_in(self.square, self.deviation)

    def _at(self, x: float) -> tuple[float, float, float]:
        """Return deviation and skewness of T at squared error x, and half a step.

        The error is taken as c d, where d is the observed error and c^2 = x / T. A sum
        of noncentral chi-squared variables with weights l and shifts d^2 has the
        cumulants 2 sum l^2 (1 + 2 d^2) and 8 sum l^3 (1 + 3 d^2). The cumulants of the
        linear part (labels times d) and of the mean of d^2 over the sample are added.

        For example, without skewness, error moments and groups: T = .02, deviation
        .006, slope .0004, ratio 1.3 and 300 rows. At x = .02 the parts of the variance
        are .006^2 = 36e-6, 4 slope x = 32e-6 and (1.3 - 1) / 300 x^2 = .4e-6.
        """
        if self.levels is not None:
            return self.levels.at(x)
        trust, n = self.trust, self.n_units
        noise, slope, lean, ratio = self.deviation, self.slope, 0.0, self.ratio
        if self.labels is not None:
            # The deviation is proportional to label variances. The observed part of the
            # slope has been estimated with these labels, so only the guess grows.
            growth = self.labels.growth(self.square, x)
            noise, slope = noise * growth, slope * (trust + (1 - trust) * growth)
        if trust > 0:
            assert self.moments is not None
            m, t = self.moments, self.square
            c = math.sqrt(x / t)
            rest = 1 - c
            # theory, (I7); the factor c^2 is in 4 slope x, as x = c^2 T
            slope += trust * (rest * m.lean - rest**2 * m.fourth) / (n * t)
            slope = max(slope, 0.0)
            lean = trust * (m.lean - 2 * rest * m.fourth) * c**3
            ratio = max(trust * m.fourth / t / t + (1 - trust) * ratio, 1.0)
            # Smaller errors move the frequencies towards q. For larger errors the
            # observed variances stay.
            if c < 1:
                noise += trust * rest * (self.null_deviation - noise)
        # theory, (I11), from here to the skewness. With groups, (G6) replaces the first
        # form.
        spread = max((ratio - 1) / n if self.between is None else self.between, 0.0)
        population = spread * x**2
        linear = 4 * slope * x
        variance = noise**2 + linear + population
        deviation = math.sqrt(variance)
        if deviation <= 0:
            # nothing varies: every label is known
            return 0.0, 0.0, 0.0
        skewness = self.skewness * (noise / deviation) ** 3
        # quotients first: powers of a small deviation would underflow
        skewness += 24 * (slope / deviation) ** 2 * (x / deviation)
        skewness -= 8 / n * lean / deviation * (slope / deviation) / deviation
        skewness += 2 * spread**0.5 * (population / variance) ** 1.5
        # theory, (I12): |1 - 2 p| if the mean label variance slope * n is p (1 - p)
        asymmetry = math.sqrt(max(1 - 4 * min(slope * n, 0.25), 0))
        step = (
            math.sqrt(ratio * max(self.square, 0)) / n * asymmetry * linear / variance
        )
        return deviation, min(max(skewness, -MOST), MOST), step

    def interval(self, level: float, p_value: float) -> tuple[float, float]:
        """Return the ends of the interval of the error.

        Zero is in the interval if and only if p_value >= 1 - level.
        """
        low, high = self._low(level), self._high(level)
        if p_value >= 1 - level:
            low = 0.0
        else:
            # A fifth of 1 - level is used for the bounds by means.
            # The share is small, because T alone already uses 1 - level.
            means = [bound.nearest(1 - (1 - level) / 5) for bound in self.bounds]
            estimate = math.sqrt(max(self.square, 0.0))
            # If the test rejects, 0 must be outside, even if T is below 0. The end
            # stays below the estimate.
            low = max(low, min(max(means, default=0.0), estimate), 2.0**-52)
        # A label that was not observed may still have a positive frequency.
        # theory, (I16)
        unseen = -math.expm1(math.log1p(-level) / self.n_units)
        if self.levels is not None:
            unseen = max(unseen, self.levels.unseen(level))
        # The root mean square is never below the mean.
        means = [bound.furthest(level) for bound in self.bounds]
        high = min(max(high, unseen, *means), self.reach)
        return min(low, self.reach), max(high, low)

    def _quantile(self, tail: float) -> float:
        """Return the normal tail with the same quantile as a tail of Student's t."""
        if self.freedom > 1e6 or tail < 1e-12:
            return tail
        # Fewer degrees of freedom give longer tails, so a normal tail must be smaller.
        return float(ndtr(stdtrit(self.freedom, tail)))

    def _low(self, level: float) -> float:
        if self.square <= 0:
            return 0.0

        def excess(x: float) -> float:
            deviation, skewness, step = self._at(x)
            if deviation <= 0:
                # T is known without error, so the sign is the sign of x - T.
                return -1.0 if x < self.square else 1.0
            tail = tail_above((self.square - step - x) / deviation, skewness)
            return tail - self._quantile(upper_share(x / deviation, level))

        if self.deviation <= _NO_DEVIATION:
            return math.sqrt(self.square)
        if excess(0) >= 0:
            return 0.0
        # At a low confidence level, T is above the median of its distribution.
        if excess(self.square) <= 0:
            return math.sqrt(self.square)
        return _root(excess, 0, self.square)

    def _high(self, level: float) -> float:
        if self.deviation <= _NO_DEVIATION:
            return math.sqrt(max(self.square, 0))
        # A square below this quantile means that the noise was small by chance, not
        # that the error is known to be 0. Such a square is replaced by the quantile.
        lowest = self.deviation * quantile(_BY_CHANCE, self.skewness)
        square = max(self.square, lowest)

        def excess(x: float) -> float:
            deviation, skewness, step = self._at(x)
            if deviation <= 0:
                return 1.0 if x <= square else -1.0
            tail = tail_below((square + step - x) / deviation, skewness)
            share = 1 - level - upper_share(x / deviation, level)
            return tail - self._quantile(share)

        # T may be negative, but x is not.
        start, stop = max(square, 1e-9 * self.deviation), self.reach**2
        if start >= stop or excess(stop) >= 0:
            return self.reach
        if excess(start) <= 0:  # at a low confidence level
            return math.sqrt(max(self.square, 0))
        return _root(excess, start, stop)


def _root(excess: Callable[[float], float], start: float, stop: float) -> float:
    """Return the root of the squared error between start and stop."""
    root = brentq(excess, start, stop, xtol=1e-12 * stop, rtol=1e-8)
    return math.sqrt(root)


def upper_share(distance: float, level: float) -> float:
    """Return the share of 1 - level in the upper tail for a mean at `distance` from 0.

    `distance` is in standard deviations. Values t of the normal estimate are accepted
    in the order of their likelihood ratio to the best mean max(t, 0).
    """
    places, shares = _shares(level)
    return float(np.interp(distance, places, shares))


@lru_cache(maxsize=32)
def _shares(level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of the share in the upper tail, exact to six digits."""
    z = float(ndtri((1 + level) / 2))
    # The share falls fastest near 0, where squared places are dense.
    places = z * np.linspace(0, 1, 401) ** 2
    return places, np.array([_upper_share(each, level) for each in places])


def _upper_share(distance: float, level: float) -> float:
    z = float(ndtri((1 + level) / 2))
    if distance >= z:
        return (1 - level) / 2
    # At levels below 1/2, the upper tail is at most 1/2.
    if distance < 1e-8:
        return min(1 - level, 0.5)

    def excess(up: float) -> float:
        # theory, (I15)
        down = -distance / 2 - up**2 / (2 * distance)
        return float(ndtr(up) - ndtr(down)) - level

    start = max(float(ndtri(level)), 0.0)
    if excess(start) >= 0:  # by rounding, where the lower end is far away
        return float(ndtr(-start))
    return float(ndtr(-brentq(excess, start, z + 1e-9)))
