"""Distribution of the debiased square T, and the interval of the error from it.

The distribution has the mean x, the squared error under test. Its variance and skewness
come from the bins (theory, (I1) to (I13)): the noise of the labels, the interaction of
this noise with the error, and the sampling of the rows or groups. The moments of the
error that this needs are estimated without bias (`ErrorMoments`). For data with few
distinct probabilities, the frequency of each of them is used instead (`Levels`). Groups
of dependent rows have a distribution of their own (`distribution_of_groups`).

The interval contains each x for which T is not in a tail of its distribution. x cannot
be negative. An interval with equal tails would be empty if T is far below 0, and it
would contain 0 less often than a test at the same level accepts perfect calibration.
The tails are therefore divided as Feldman and Cousins (1998) divide them for a normal
mean that is not negative: by likelihood ratio, with an empty lower tail at x = 0 and
equal tails from x = z standard deviations on. With this division, the interval contains
0 if and only if the test does not reject.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, ndtr, ndtri, stdtrit

from ._bins import Bins, debiased_square
from ._frequency_intervals import clopper_pearson
from ._grouped_bins import GroupedBins

# Tails of a distribution with given mean, variance and skewness: a shifted and scaled
# chi-squared distribution or its mirror image (Pearson's type III).

# A distribution with less skewness than the first number is normal to 4 digits. The
# family does not contain distributions with more skewness than a single squared normal
# variable, which occur with very rare labels: the median would be at the lower end. The
# bound then gives the longer tails.
LEAST, MOST = 1e-3, math.sqrt(8)


def tail_above(standardised: float, skewness: float) -> float:
    """Return the probability of values above a number of standard deviations."""
    size = min(abs(skewness), MOST)
    if not size >= LEAST:
        return float(ndtr(-standardised))
    # theory, (I14); a negative skewness is that of the mirror image
    freedom = 8 / size**2
    place = standardised if skewness > 0 else -standardised
    # Below its smallest value the distribution has no probability.
    value = max(freedom + place * math.sqrt(2 * freedom), 0.0)
    return float(chdtrc(freedom, value) if skewness > 0 else chdtr(freedom, value))


@dataclass(frozen=True)
class ErrorMoments:
    """Means over rows, where p is the true frequency and d = q - p.

    Attributes
    ----------
    square : float
        Mean of d^2.
    noise : float
        Mean of p (1 - p) d^2.
    lean : float
        Mean of (1 - 2 p) d^3.
    fourth : float
        Mean of d^4.
    """

    square: float
    noise: float
    lean: float
    fourth: float

    def moved(self, c: float) -> tuple[float, float]:
        """Return noise / c^2 and lean / c^3 if the error were c d instead of d.

        The frequencies are then q - c d = p + (1 - c) d. Equation: theory, (I7).
        """
        rest = 1 - c
        noise = self.noise + rest * self.lean - rest**2 * self.fourth
        return noise, self.lean - 2 * rest * self.fourth


def error_moments(sums: Bins) -> ErrorMoments:
    """Return the moments of the error, from the counts of positives in each bin."""
    n, k, q = _at_least_four(*_whole_sets(sums))
    if n.size == 0:
        return ErrorMoments(0.0, 0.0, 0.0, 0.0)
    # theory, (I5)
    one = k / n
    two = one * (k - 1) / (n - 1)
    three = two * (k - 2) / (n - 2)
    four = three * (k - 3) / (n - 3)
    # theory, (I6)
    square = q**2 - 2 * q * one + two
    noise = q**2 * one - (2 * q + q**2) * two + (1 + 2 * q) * three - four
    fourth = q**4 - 4 * q**3 * one + 6 * q**2 * two - 4 * q * three + four
    # q (1 - q) = p (1 - p) + (1 - 2 p) d - d^2
    lean = q * (1 - q) * square - noise + fourth
    share = n / n.sum()
    return ErrorMoments(
        *(float(share @ each) for each in (square, noise, lean, fourth))
    )


def _whole_sets(sums: Bins) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, positives and sums of q of the bins and of the divided tie classes.

    A divided class is a separate set and is removed from the bins that share it.
    """
    s, n_bins = sums.shares, sums.weight.size
    first = np.unique(s.tie, return_index=True)[1]

    def with_ties(whole: np.ndarray, share: np.ndarray, tie: np.ndarray) -> np.ndarray:
        # rounding may leave -1e-17 rows
        rest = np.maximum(whole - np.bincount(s.bin, share, n_bins), 0)
        return np.concatenate([rest, tie[first]])

    return (
        with_ties(sums.weight, s.taken, s.total),
        with_ties(sums.y, s.taken * s.rate, s.total * s.rate),
        with_ties(sums.q, s.taken * s.value, s.total * s.value),
    )


def _at_least_four(n: np.ndarray, k: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    """Return rows, positives and mean q of sets of at least four rows.

    The fourth power of a frequency has no unbiased estimate from fewer rows. Smaller
    sets are therefore merged with their neighbours in the order of q. Sets that are
    still smaller are omitted.

    A set goes to block number floor(rows before it / 4). For sets of 2, 1, 3, 2 and 6
    rows, 0, 2, 3, 6 and 8 rows come before, and the blocks are 0, 0, 0, 1 and 2, of 6,
    2 and 6 rows. The block of 2 rows is omitted: the block before it took 6.
    """
    some = n > 0
    n, k, q = n[some], k[some], q[some]
    order = np.argsort(q / n, kind="stable")
    n, k, q = n[order], k[order], q[order]
    _, joined = np.unique((np.cumsum(n) - n) // 4, return_inverse=True)
    n, k, q = (np.bincount(joined, each) for each in (n, k, q))
    # fractional weights: four rows may sum up to slightly less
    enough = n > 4 - 1e-9
    return [n[enough], k[enough], (q / n)[enough]]


# Required average number of rows per level. In benchmarks/interval_constants.py, no
# interval changes with values from 2 to 20.
_ROWS = 5


@dataclass(frozen=True)
class Levels:
    """Rows, probability and observed error of each level, as arrays of equal length."""

    rows: np.ndarray
    proba: np.ndarray
    error: np.ndarray

    @cached_property
    def _path(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return at which multiples of the observed errors levels reach [0, 1].

        The first array, `most`, is the largest multiple of each level. The others are
        in ascending order of the multiples: `reached` is the mean square at which the
        next level reaches an end of [0, 1], `full` is the part of the levels that have
        reached their ends before, and `growing` is the part of the other levels at
        multiple 1.

        For example, two levels with half of the rows each: q = .2 with error .1, and
        q = .5 with error .1. The errors are f times .1, but at most .2 and .5. From
        f = 2 on, the first level has reached its end, and only the second one grows::

            mean square x at multiple f = .01 f^2            for f <= 2, x <= .04
                                        = .02 + .005 f^2     for f <= 5, x <= .145

        Here `most` is (2, 5), `reached` is (.04, .145), `full` is (0, .02), and
        `growing` is (.01, .005).
        """
        error = self.error
        room = np.where(error > 0, self.proba, 1 - self.proba)
        some = np.flatnonzero(error)
        most = np.full(error.size, 1e300)
        most[some] = room[some] / np.abs(error[some])
        order = some[np.argsort(most[some])]
        share = self.rows[order] / self.rows.sum()
        # sums over this level and all levels that reach their ends later
        growing = np.cumsum((share * error[order] ** 2)[::-1])[::-1]
        full = np.cumsum(share * room[order] ** 2) - share * room[order] ** 2
        return most, full + growing * most[order] ** 2, full, growing

    def errors_at(self, x: float) -> np.ndarray:
        """Return errors of mean square x, proportional to the observed errors.

        Errors are limited by the ends of [0, 1]. If x is larger than any possible mean
        square, the largest errors are returned.
        """
        most, reached, full, growing = self._path
        k = int(reached.searchsorted(x))
        # infinity would give NaN for levels without error
        factor = 1e300
        if k < reached.size:
            # theory, (I18): full + growing * factor^2 = x
            factor = math.sqrt(max(x - full[k], 0.0) / growing[k])
        return np.minimum(factor, most) * self.error

    def unseen(self, level: float) -> float:
        """Return the largest error that a single level of probability 0 or 1 allows.

        A probability of 0 or 1 excludes one of the labels. This label may have a
        positive frequency and still be absent from the sample by chance.
        """
        if not self.error.any():
            return 0.0
        sure = np.flatnonzero((self.proba == 0) | (self.proba == 1))
        share = np.sqrt(self.rows / self.rows.sum())
        most = 0.0
        for k in sure:
            n = float(self.rows[k])
            # the observed frequency, before one row was added
            p = min(abs(float(self.error[k])) * (n + 1) / n, 1.0)
            # If only this level has an error p, the root mean square is p times the
            # root of its share of the rows.
            most = max(most, float(share[k]) * clopper_pearson(p, n, level)[1])
        return most

    def at(self, x: float) -> tuple[float, float, float]:
        """Return deviation and skewness of T at squared error x, and half a step.

        The step is the effect of one additional label at the observed error.
        """
        n, q = self.rows, self.proba
        total, w, once, twice, thrice = self._weights
        d = self.errors_at(x)
        p = q - d
        label = p * (1 - p)
        # A frequency at an end of [0, 1] is 1e-17 by rounding.
        label[label < 1e-15] = 0.0
        v, square, lean = label / n, d * d, 1 - 2 * p
        flips = w * label * square
        # smaller than the given x if no error of this size is possible
        x = float(w @ square)
        linear = 4 * float(flips.sum()) / total
        population = max(float(w @ square**2) - x**2, 0.0) / total
        # theory, (I19), here and below
        variance = 2 * float(once @ label**2) + linear + population
        deviation = math.sqrt(variance)
        if deviation < 1e-150:
            return 0.0, 0.0, 0.0
        cube = 8 * float(twice @ label**3) + 4 * float(thrice @ (label * lean) ** 2)
        cube += 24 * float((flips * w) @ v) / total
        cube -= 8 * float((flips * lean) @ d) / total**2
        if x > 0:
            cube += 2 * population**2 / x
        step = 0.0
        if linear > 0:
            # (I12) without the approximations of many levels. It uses the observed
            # error, because the observed labels make the step.
            step = 4 * float(flips @ np.abs(self.error * lean)) / total**2 / variance
        return deviation, min(max(cube / deviation**3, -MOST), MOST), step

    @cached_property
    def _weights(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the total, the shares, and factors of the cumulants of pairs."""
        n, total = self.rows, float(self.rows.sum())
        g = 1 / (total * np.maximum(n - 1, 1))
        pairs = n * np.maximum(n - 1, 0)
        triples = pairs * np.maximum(n - 2, 0)
        return total, n / total, pairs * g**2, triples * g**3, pairs * g**3


def levels_of(sums: Bins) -> Levels | None:
    """Return the levels.

    Return None if a bin contains several levels, or if levels have too few rows.
    """
    if (sums.low < sums.high).any():
        return None
    first = np.flatnonzero(np.r_[True, sums.low[1:] != sums.low[:-1]])
    n = np.add.reduceat(sums.weight, first)
    if n.sum() < _ROWS * n.size:
        return None
    # One additional row with the expected label keeps every variance positive.
    error = np.add.reduceat(sums.q - sums.y, first) / (n + 1)
    error[np.abs(error) < 1e-12] = 0
    return Levels(n, sums.low[first], error)


# A smaller standard deviation is treated as 0, since ratios to it would overflow.
_NO_DEVIATION = 1e-100

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
            # The factor c^2 of the label noise is in 4 slope x, since x = c^2 T.
            moved_noise, moved_lean = m.moved(c)
            slope = max(slope + trust * (moved_noise - m.noise) / (n * t), 0.0)
            lean = trust * moved_lean * c**3
            ratio = max(trust * m.fourth / t / t + (1 - trust) * ratio, 1.0)
            # Smaller errors move the frequencies towards q. For larger errors the
            # observed variances stay.
            if c < 1:
                noise += trust * (1 - c) * (self.null_deviation - noise)
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

    def _excess(self, x: float, level: float, side: int) -> float:
        """Return a tail at squared error x minus its share; 0 at an end.

        `side` is 1 for the lower end, which uses the tail above T, and -1 for the upper
        end, which uses the tail below T. A tail below is the tail above of the mirror
        image.
        """
        deviation, skewness, step = self._at(x)
        if deviation <= 0:
            # T is known without error, so the sign is the sign of x - T.
            return -side if x < self.square else side
        share = upper_share(x / deviation, level)
        if side < 0:
            share = 1 - level - share
        distance = side * (self.square - x) - step
        tail = tail_above(distance / deviation, side * skewness)
        return tail - self._quantile(share)

    def _low(self, level: float) -> float:
        estimate = math.sqrt(max(self.square, 0.0))
        if self.square <= 0 or self.deviation <= _NO_DEVIATION:
            return estimate
        if self._excess(0, level, 1) >= 0:
            return 0.0
        # At a low confidence level, T is above the median of its distribution.
        if self._excess(self.square, level, 1) <= 0:
            return estimate
        return self._root(level, 1, 0, self.square)

    def _high(self, level: float) -> float:
        estimate = math.sqrt(max(self.square, 0.0))
        if self.deviation <= _NO_DEVIATION:
            return estimate
        # T may be negative, but x is not.
        start, stop = max(self.square, 1e-9 * self.deviation), self.reach**2
        if start >= stop or self._excess(stop, level, -1) >= 0:
            return self.reach
        if self._excess(start, level, -1) <= 0:  # at a low confidence level
            return estimate
        return self._root(level, -1, start, stop)

    def _root(self, level: float, side: int, start: float, stop: float) -> float:
        """Return the error at which the excess is 0, between two squared errors."""
        root = brentq(
            self._excess, start, stop, (level, side), xtol=1e-12 * stop, rtol=1e-8
        )
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


# If T is close to 0, the growth of its variance with the error is estimated as this
# fraction of the growth for errors that are proportional to the noise. In the
# distributions of benchmarks/method_coverage.py, the true fraction is between .39 and
# .71 on average. The guess is at the upper end, which makes intervals wider. See
# benchmarks/interval_constants.py.
_GUESSED = 2 / 3


def distribution_of_bins(sums: Bins) -> SquareDistribution:
    """Return the distribution of T for independent rows."""
    n = sums.weight
    total = float(n.sum())
    # The sample variance of r, and the sum of label variances.
    sample = (sums.squared_residual - sums.pair_residual / (n - 1)) / n
    null = sums.label_variance
    observed = _smoothed(n, n * np.maximum(sample, 0), null)
    mean, mean_square = sums.q / n, sums.qq / n
    # The label frequency of each bin is shrunk by one row towards its mean q.
    third = _third_moment(np.clip((sums.y + mean) / (n + 1), 0, 1))
    # E q^3 = 3 E q^2 E q - 2 (E q)^3 if the third central moment of q is 0
    cube = 3 * mean_square * mean - 2 * mean**3
    null_third = mean - 3 * mean_square + 2 * cube
    # The label variance of a divided class is shrunk by one row towards q (1 - q).
    s, null_of_class = sums.shares, sums.shares.value * (1 - sums.shares.value)
    of_class = s.total * s.rate * (1 - s.rate) / np.maximum(s.total - 1, 1)
    of_class = (s.total * of_class + null_of_class) / (s.total + 1)
    linear, deviation, skewness = _cumulants(sums, observed, third, of_class, s.rate)
    _, null_deviation, null_skewness = _cumulants(
        sums, null, null_third, null_of_class, s.value
    )
    square = debiased_square(n, sums.pair_residual)
    moments, labels = error_moments(sums), label_noise(sums, 1 / total)
    return SquareDistribution(
        square=square,
        deviation=deviation,
        skewness=skewness,
        slope=slope_of(moments.noise / total, square, deviation, linear),
        null_deviation=null_deviation,
        null_skewness=null_skewness,
        n_units=total,
        moments=moments,
        ratio=_proportional_ratio(n, null),
        reach=largest_error(sums),
        bounds=mean_bounds(sums, observed, labels),
        labels=labels,
        levels=levels_of(sums),
    )


def _proportional_ratio(n: np.ndarray, null: np.ndarray) -> float:
    """Return the mean fourth power of the error over the squared mean square.

    The ratio is computed for squared errors proportional to the noise q (1 - q).
    """
    top = float(null.max())
    if top <= 0:
        return 1.0
    null = null / top
    # theory, (I10), where null = n a
    return float(n.sum() * (null**2 / n).sum() / null.sum() ** 2)


def largest_error(sums: Bins) -> float:
    """Return the root mean square of max(q, 1 - q), bin by bin."""
    most = np.maximum(sums.qq, sums.weight - 2 * sums.q + sums.qq)
    return float(np.sqrt(most.sum() / sums.weight.sum()))


def label_noise(sums: Bins, share: float) -> LabelNoise:
    """Return how label variance depends on the error; `share` is one over the units."""
    total = float(sums.weight.sum())
    null, lean = sums.label_variance, 1 - 2 * sums.q / sums.weight
    mean = float(null.sum()) / total
    return LabelNoise(
        null=mean,
        excess=float(sums.squared_residual.sum()) / total - mean,
        deviation=float(np.sqrt(lean**2 @ null / total * share)),
        scale=float(np.sqrt((sums.weight - 4 * sums.q + 4 * sums.qq).sum() / total)),
    )


def mean_bounds(
    sums: Bins, variance: np.ndarray, labels: LabelNoise
) -> tuple[MeanBound, ...]:
    """Return the bounds by the mean residual and by the mean squared residual.

    `variance` is the sum of the label variances in each bin. If d = q - p is the error,
    the excess of the Brier score over the mean of q (1 - q) is minus the mean of (1 - 2
    q) d.
    """
    total = float(sums.weight.sum())
    lean = 1 - 2 * sums.q / sums.weight
    residual = MeanBound(
        float(sums.y.sum()) / total,
        float(sums.q.sum()) / total,
        float(variance.sum()) / total**2,
        n_least=total,
        from_below=True,
    )
    squared = MeanBound(
        labels.null + labels.excess,
        labels.null,
        float(lean**2 @ variance) / total**2,
        labels.scale,
        n_least=total,
    )
    return residual, squared


def slope_of(seen: float, square: float, deviation: float, linear: float) -> float:
    """Return the growth of the variance of T with the squared error, over 4.

    Equation: theory, (I1). The growth is sum w^2 V d^2 / sum w d^2, where d is the
    error of a bin and V the variance of its mean residual. `seen` and `square` estimate
    numerator and denominator without bias. `linear` is sum w V.
    """
    if linear <= 0 or deviation <= 0:
        return 0.0
    # theory, (I9), as tau = deviation^2; the order avoids underflow
    guess = _GUESSED * (deviation / linear) * deviation / 2
    if square <= 0:
        return guess
    trust = trust_in(square, deviation)
    # A slope of 0 would leave out the linear part, although an error exists. In
    # benchmarks/interval_constants.py, the floor of .1 changes no coverage.
    return float(max(trust * seen / square + (1 - trust) * guess, 0.1 * guess))


def _smoothed(n: np.ndarray, seen: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return the sums of label variances seen in two neighbouring bins together.

    The sums are shrunk by one row towards q (1 - q). Inside the two bins, they stay
    proportional to q (1 - q).
    """
    # Of an odd number of bins, the last three are one set.
    first = np.arange(0, max(n.size - 1, 1), 2)
    rows, seen, expected = (np.add.reduceat(each, first) for each in (n, seen, null))
    # theory, (I4), times the number of rows
    together = (rows * seen + expected) / (rows + 1)
    # If every q is 0 or 1, all rows have the same share.
    course = null + 1e-6 * n
    which = np.minimum(np.arange(n.size) // 2, first.size - 1)
    return together[which] * course / np.add.reduceat(course, first)[which]


def _third_moment(p: np.ndarray) -> np.ndarray:
    """Return the third central moment of labels with frequency p."""
    return p * (1 - p) * (1 - 2 * p)


def _cumulants(
    sums: Bins,
    variance: np.ndarray,
    third: np.ndarray,
    tie_variance: np.ndarray,
    tie_rate: np.ndarray,
) -> tuple[float, float, float]:
    """Return sum w V, deviation and skewness of T if there is no error.

    `variance` is the sum of label variances in each bin, and `third` is the mean third
    moment of the labels. `tie_variance` and `tie_rate` are the label variance and the
    label frequency of a row of each share. T is a sum over pairs of independent rows.
    If the pairs have weight g, and the labels have variance v and third moment m, the n
    rows of a bin add 2 n (n - 1) g^2 v^2 to the variance and 8 n (n - 1) (n - 2) g^3
    v^3 + 4 n (n - 1) g^3 m^2 to the third cumulant.

    A bin contains only the share m / t of a divided tie class. The products inside the
    class are one term, regardless of the number of bins that it is divided into. For
    example, bins of 5 rows divide a class of 4 rows, 2 to each side. A product of two
    of the 4 rows is in each bin with the chance (2/4) (1/3) = 1/6. Its weight is then
    1/6 of the weights of both bins.
    """
    top = float(variance.max())
    if top == 0:
        return 0.0, 0.0, 1.0
    s, n, total = sums.shares, sums.weight, sums.weight.sum()
    # Divided by the largest value, since squares of values near 1e-160 underflow.
    variance, tie = variance / top, tie_variance / top
    # A bin has each row of a divided class with this chance, and so the square of the
    # chance times the variance of the row.
    chance = s.taken / s.total
    # sum over the rows of a bin of chance^2 times variance
    spread = variance - np.bincount(
        s.bin, chance * (1 - chance) * s.total * tie, n.size
    )
    # products inside divided classes, which are added below
    own = np.bincount(s.bin, (chance**2 * s.total * tie) ** 2, n.size)
    # squares of the sums of variances, of pairs that share no divided class
    pairs = np.maximum(spread**2 - own, 0)
    weight = 1 / (total * (n - 1))
    root = np.sqrt(pairs)
    first = float(root @ (weight * (n - 1) / n))
    # theory, (I2); `pairs` is n^2 v^2, so (n - 1) / n removes a row times itself
    second = 2 * float((pairs * weight**2) @ ((n - 1) / n))
    skew = 8 * float((root**3 * weight**3) @ ((n - 1) * (n - 2) / n**2))
    # Share of the variance of a bin. It may exceed 1 only because of the smoothing.
    free = np.divide(root, variance, out=np.sign(root), where=root < variance) ** 2
    rarity = 1 / max(top, 1e-200)
    # no third moment of a label is larger than its variance
    rare = np.minimum(np.abs(third) * n, variance * top) / top
    skew += 4 * rarity * float((free * rare**2 * weight**3) @ ((n - 1) / n))
    # theory, (I3): both rows of a pair are in the bin with this chance
    together = chance * np.maximum(s.taken - 1, 0) / np.maximum(s.total - 1, 1)
    per_tie = np.bincount(s.tie, together * weight[s.bin])
    # all shares of a class have the same total, variance and rate
    one = np.unique(s.tie, return_index=True)[1]
    t, v, m = s.total[one], tie[one], _third_moment(tie_rate[one])
    first += float((t - 1) @ (per_tie * v))
    second += 2 * float((t * (t - 1)) @ (per_tie * v) ** 2)
    m = np.minimum(np.abs(m), v * top) / top
    triples = 8 * (t - 2) * v**3 + 4 * rarity * m**2
    skew += float((t * (t - 1)) @ (per_tie**3 * triples))
    if second <= 0:
        return top * first, 0.0, 1.0
    return top * first, top * float(np.sqrt(second)), skew / second**1.5


def distribution_of_groups(bins: GroupedBins) -> SquareDistribution:
    """Return the distribution of T for rows that depend on each other within groups.

    The noise that is estimated from sums over groups is too small for labels that never
    occur. The noise of bins that are independent of each other is therefore used as a
    lower bound.
    """
    share, square = bins.share, bins.debiased_square
    (variance, _), (null_variance, null_third) = bins.product_moments(
        bins.centred, bins.entries.residual
    )
    noise, null = share * bins.mean_variance(), share * bins.null_variance()
    # theory, (G3)
    seen = bins.error_noise() - variance / 2
    variance = max(variance, 0.0)
    linear, freedom = bins.spread(variance)
    between = bins.proportional_spread()
    null_deviation, null_skewness = _chi_squares(null)
    # the larger of the variances from the groups and from independent bins
    if null_variance > null_deviation**2:
        null_deviation = float(np.sqrt(null_variance))
        null_skewness = null_third / null_deviation**3
    deviation, skewness = _chi_squares(noise)
    slope = slope_of(seen, square, np.sqrt(variance), float(noise.sum()))
    if square > 1e-100:  # otherwise its square underflows
        seen = max(linear - 4 * slope * square, 0) / square**2
        trust = trust_in(square, deviation)
        # theory, (G6)
        between = trust * seen + (1 - trust) * between
    return SquareDistribution(
        square=square,
        deviation=max(float(np.sqrt(variance)), deviation),
        skewness=max(skewness, null_skewness),
        slope=slope,
        null_deviation=null_deviation,
        null_skewness=null_skewness,
        # A sentence with rows in many bins counts as a group in each of them.
        n_units=float(bins.n_effective.sum()),
        reach=largest_error(bins.bins),
        bounds=(_mean_bound(bins),),
        between=between,
        freedom=freedom,
        labels=label_noise(bins.bins, 1 / bins.n_effective_groups),
    )


def _mean_bound(bins: GroupedBins) -> MeanBound:
    """Return the bound by the mean residual, which varies with the groups."""
    sums, variance = bins.bins, bins.mean_residual_variance()
    total = float(sums.weight.sum())
    p, q = float(sums.y.sum()) / total, float(sums.q.sum()) / total
    n = max(p * (1 - p) / max(variance, 1e-100), bins.n_effective_groups)
    return MeanBound(p, q, variance, n_least=min(n, total), from_below=True)


def _chi_squares(spectrum: np.ndarray) -> tuple[float, float]:
    """Return deviation and skewness of a weighted sum of chi squares."""
    top = float(spectrum.max())
    if top == 0:
        return 0.0, 1.0
    weight = spectrum / top
    second, third = float(weight @ weight), float((weight**3).sum())
    return top * float(np.sqrt(2 * second)), float(np.sqrt(8) * third / second**1.5)
