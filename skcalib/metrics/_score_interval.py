"""Distribution of the debiased square T, and the interval of the error from it.

The distribution has the mean x, the squared error under test. Its variance and skewness
come from the bins (theory, (I1) to (I13)): the noise of the labels, the interaction of
this noise with the error, and the sampling of the rows or groups. For independent rows,
the errors under test are multiples of the observed errors (`Levels`) or, if T is close
to 0, proportional to the noise. Groups of dependent rows have a distribution of their
own (`distribution_of_groups`).

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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import chdtrc, logit, ndtr, ndtri, stdtr

from ._bins import Bins, debiased_square
from ._frequency_intervals import brentq, clopper_pearson
from ._grouped_bins import GroupedBins
from ._smooth_square import (
    MOST,
    MeanBound,
    SmoothSquare,
    joined_square,
    smooth_square_of_bins,
    smooth_square_of_groups,
    tail_above,
)


@dataclass(frozen=True)
class Levels:
    """Rows of (nearly) equal probability: a bin, or all bins of one probability.

    Attributes
    ----------
    rows, proba, variance : ndarray
        Number of rows, mean q and mean q (1 - q) of each level.
    error : ndarray
        Observed errors.
    tied : float
        Ratio of the deviations of T with and without the ties across bins.
    """

    rows: np.ndarray
    proba: np.ndarray
    variance: np.ndarray
    error: np.ndarray
    tied: float = 1.0

    def errors_at(self, x: float) -> np.ndarray:
        """Return errors of mean square x, proportional to the observed errors."""
        square = float(self.rows @ self.error**2) / float(self.rows.sum())
        # theory, (I18)
        return self.error * math.sqrt(x / square) if square > 0 else self.error

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
            p = min(abs(float(self.error[k])), 1.0)
            # If only this level has an error p, the root mean square is p times the
            # root of its share of the rows.
            most = max(most, float(share[k]) * clopper_pearson(p, n, level)[1])
        return most

    def cumulants(self, x: float) -> tuple[float, float, float]:
        """Return variance and third cumulant of T at squared error x, and of a flip.

        The last number is half of the third cumulant that single labels cause at the
        observed error.
        """
        total, w, *_ = self._weights
        d = self.errors_at(x)
        label, square = self.label_variance(d), d * d
        lean = 1 - 2 * (self.proba - d)
        flips = w * label * square
        population = max(float(w @ square**2) - x**2, 0.0) / total
        # theory, (I19), here and below
        variance, third = self.noise(label, lean)
        variance += 4 * float(flips.sum()) / total + population
        third += 24 * float((flips * w) @ (label / self.rows)) / total
        third -= 8 * float((flips * lean) @ d) / total**2
        if x > 0:
            third += 2 * population**2 / x
        # (I12) without the approximations of many levels
        return variance, third, 4 * float(flips @ np.abs(self.error * lean)) / total**2

    def label_variance(self, d: np.ndarray) -> np.ndarray:
        """Return the mean variance of labels whose frequencies are q - d."""
        # theory, (I5)
        variance = self.variance - d * (1 - 2 * self.proba) - d * d
        # Labels whose frequency would be outside [0, 1] do not vary.
        return np.where(variance < 1e-15, 0.0, variance)

    def noise(self, label: np.ndarray, lean: np.ndarray) -> tuple[float, float]:
        """Return variance and third cumulant of T without error.

        `label` is the variance of the labels, and `lean` is 1 minus twice their
        frequency.
        """
        _, _, once, twice, thrice = self._weights
        label = self.tied * label
        third = 8 * float(twice @ (label * label * label)) + 4 * float(
            thrice @ (label * lean) ** 2
        )
        return 2 * float(once @ label**2), third

    @cached_property
    def label(self) -> np.ndarray:
        """Observed variance of labels."""
        n, p = self.rows, np.clip(self.proba - self.error, 0, 1)
        seen = n / np.maximum(n - 1, 1) * p * (1 - p)
        # theory, (I4)
        return (n * seen + self.variance / 2) / (n + 0.5)

    @property
    def carrying(self) -> float:
        """Number of rows that would carry the observed error if errors were equal.

        It is (sum d^2)^2 / sum d^4, or all rows if there is no error.
        """
        square = self.error**2
        first, second = float(self.rows @ square), float(self.rows @ square**2)
        return first**2 / second if second > 0 else float(self.rows.sum())

    @cached_property
    def _weights(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the total, the shares, and factors of the cumulants of pairs."""
        n, total = self.rows, float(self.rows.sum())
        g = 1 / (total * np.maximum(n - 1, 1))
        pairs = n * np.maximum(n - 1, 0)
        triples = pairs * np.maximum(n - 2, 0)
        return total, n / total, pairs * g**2, triples * g**3, pairs * g**3


def levels_of(sums: Bins, null_deviation: float) -> Levels:
    """Return the levels; neighbouring bins of one probability are one level."""
    one = sums.low == sums.high
    same = one[1:] & one[:-1] & (sums.low[1:] == sums.low[:-1])
    first = np.flatnonzero(np.r_[True, ~same])
    n, q, y, variance = (
        np.add.reduceat(each, first)
        for each in (sums.weight, sums.q, sums.y, sums.label_variance)
    )
    error = (q - y) / n
    error[np.abs(error) < 1e-12] = 0
    found = Levels(n, q / n, variance / n, error)
    alone = found.noise(found.variance, np.zeros(n.size))[0]
    if alone <= 0:
        return found
    # theory, (I7): products of the rows of a divided class vary less
    return replace(found, tied=null_deviation / math.sqrt(alone))


# A smaller standard deviation is treated as 0, since ratios to it would overflow.
_NO_DEVIATION = 1e-90

# The growth of the variance of T with the error depends on the location of the error.
# At this number of standard deviations from 0, its estimate and the prior guess have
# the same weight. benchmarks/interval_constants.py measures coverage and width by it.
_TRUSTED = 2.5


# Upper ends in narrow bins use this share of the normal quantile.
# benchmarks/interval_jumps.py measures coverage and width by it.
_NARROW_SHARE = 0.4

# Weights of the tails of T, of the smooth part and of the mean at the lower end. Their
# sum exceeds 1, since the three are seldom close to the squared error at once: where it
# is not smooth, the smooth part and the mean are far below it, and where it is, T has
# the most noise. benchmarks/interval_coverage.py measures the coverage.
SHARES = (0.9, 0.15, 0.1)


def trust_in(estimate: float, deviation: float) -> float:
    """Return the weight of an estimate relative to a guess by its distance from 0."""
    if estimate <= 0:
        return 0.0
    # theory, (I8)
    return 1 / (1 + min(_TRUSTED * deviation / estimate, 1e100) ** 2)


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
    reach : float
        Largest possible error.
    bound : MeanBound
        Bounds of the error by the mean residual.
    smooth : SmoothSquare or None
        The smooth part of the squared error, if the estimate joins it with T.
    between : float
        Variance of the mean of d^2 due to the choice of the groups, divided by T^2.
    freedom : float
        Degrees of freedom of the variances.
    levels : Levels or None
        The rows by level, if they are independent.
    """

    square: float
    deviation: float
    null_deviation: float
    null_skewness: float
    n_units: float
    skewness: float = 0.0
    slope: float = 0.0
    reach: float = 1.0
    bound: MeanBound = MeanBound(0.0, 0.0, 0.0)
    smooth: SmoothSquare | None = None
    between: float = 0.0
    freedom: float = math.inf
    levels: Levels | None = None

    @property
    def estimate(self) -> float:
        """Root of the estimated squared error, or 0 if it is negative."""
        square = self.square
        if self.smooth is not None:
            square = joined_square(square, self.null_deviation, self.smooth)
        return math.sqrt(max(square, 0.0))

    def p_value(self, squared_residual: np.ndarray) -> float:
        """Return the p-value of perfect calibration by T alone.

        `squared_residual` contains the sum of r^2 in each bin.
        """
        if self.null_deviation <= 0:  # every probability is 0 or 1
            return 0.0 if np.any(squared_residual > 0) else 1.0
        return tail_above(self.square / self.null_deviation, self.null_skewness)

    @property
    def trust(self) -> float:
        """Weight of the observed shape of the error."""
        return 0.0 if self.levels is None else trust_in(self.square, self.deviation)

    def _at(self, x: float) -> tuple[float, float, float]:
        """Return deviation and skewness of T at squared error x, and half a step.

        A sum of noncentral chi-squared variables with weights l and shifts d^2 has the
        cumulants 2 sum l^2 (1 + 2 d^2) and 8 sum l^3 (1 + 3 d^2). The cumulants of the
        mean of d^2 over the sample are added.
        """
        n, u = self.n_units, self.trust
        population, linear = self.between * x**2, 4 * self.slope * x
        # theory, (I11), and (I12): |1 - 2 p| if the mean label variance slope * n is
        # p (1 - p)
        variance = self.deviation**2 + linear + population
        third = self.skewness * self.deviation**3 + 24 * self.slope**2 * x
        third += 2 * self.between**2 * x**3
        asymmetry = math.sqrt(max(1 - 4 * min(self.slope * n, 0.25), 0))
        flip = math.sqrt(max(self.square, 0)) / n * asymmetry * linear
        if u > 0:
            assert self.levels is not None
            # theory, (I6)
            variance, third, flip = (
                u * seen + (1 - u) * guess
                for seen, guess in zip(
                    self.levels.cumulants(x), (variance, third, flip), strict=True
                )
            )
        deviation = math.sqrt(variance)
        if deviation <= _NO_DEVIATION:
            # nothing varies: every label is known
            return 0.0, 0.0, 0.0
        skewness = min(max(third / deviation**3, -MOST), MOST)
        return deviation, skewness, flip / variance

    def interval(self, level: float, p_value: float) -> tuple[float, float]:
        """Return the ends of the interval of the error.

        Zero is in the interval if and only if p_value >= 1 - level.
        """
        low, high, estimate = self._low(level), self._high(level), self.estimate
        if p_value >= 1 - level:
            low = 0.0
        else:
            # theory, (I13): the end falls to 0 as the p-value rises to 1 - level
            low = min(low, estimate * math.sqrt(1 - p_value / (1 - level)))
            # If the test rejects, 0 must be outside, even if T is below 0.
            low = max(low, 2.0**-52)
        # A label that was not observed may still have a positive frequency.
        # theory, (I16)
        unseen = -math.expm1(math.log1p(-level) / self.n_units)
        if self.levels is not None:
            unseen = max(unseen, self.levels.unseen(level))
        # The root mean square is never below the mean.
        high = min(max(high, unseen, self.bound.furthest(level)), self.reach)
        return min(low, self.reach), max(high, low, estimate)

    def raised_end(self, high: float, level: float) -> float:
        """Return `high`, the upper end of wider bins, or a larger end.

        The other end is the upper end of these bins at the share `_NARROW_SHARE` of the
        normal quantile of `level`. If the error does not change inside the bins, the
        noise of T in narrow bins seldom raises the end then.
        """
        # theory, (I23)
        z = _NARROW_SHARE * float(ndtri((1 + level) / 2))
        return self._high(2 * float(ndtr(z)) - 1, high)

    def excess_over(self, wide: SquareDistribution) -> float:
        """Return by how many standard deviations T is larger than T in wider bins.

        The result is 0 if the variance of T is not at least twice as large: the bins
        are then too similar. If each product of two residuals of a narrow bin is also a
        product of a wide bin, the covariance of both T without error is the variance of
        the second.
        """
        # theory, (I24)
        variance = self.deviation**2 - wide.deviation**2
        if variance <= wide.deviation**2:
            return 0.0
        return (self.square - wide.square) / math.sqrt(variance)

    def _student(self, tail: float) -> float:
        """Return the tail of Student's t at the quantile of a normal tail."""
        if self.freedom > 1e6 or tail < 1e-12:
            return tail
        return float(stdtr(self.freedom, ndtri(tail)))

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
        tail = self._student(tail_above(distance / deviation, side * skewness))
        if side > 0:
            # theory, (J6): each is a lower bound on the squared error
            mean = self.bound.p_value(math.sqrt(x))
            smooth = tail if self.smooth is None else self.smooth.p_value(x)
            # An error that is not smooth is no evidence for a small one.
            tail = cauchy((tail, min(smooth, 0.5), min(mean, 0.5)), SHARES, 1)
        return tail - share

    def _low(self, level: float) -> float:
        estimate = self.estimate
        if estimate <= 0 or self.deviation <= _NO_DEVIATION:
            return estimate
        if self._excess(0, level, 1) >= 0:
            return 0.0
        # At a low confidence level, T is above the median of its distribution.
        if self._excess(estimate**2, level, 1) <= 0:
            return estimate
        return self._root(level, 1, 0, estimate**2)

    def _high(self, level: float, least: float = 0.0) -> float:
        """Return the larger of `least` and the upper end."""
        least = max(least, math.sqrt(max(self.square, 0.0)))
        if self.deviation <= _NO_DEVIATION:
            return least
        # T may be negative, but x is not.
        start, stop = max(least**2, 1e-9 * self.deviation), self.reach**2
        if start >= stop or self._excess(stop, level, -1) >= 0:
            return max(self.reach, least)
        # T is above the median at a low confidence level.
        if self._excess(start, level, -1) <= 0:
            return least
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
# distributions of benchmarks/interval_coverage.py, the true fraction is between .39 and
# .71 on average (version 0.9). The guess is at the upper end, which makes intervals
# wider. benchmarks/interval_constants.py compares it with others.
_GUESSED = 2 / 3


def distribution_of_bins(sums: Bins) -> SquareDistribution:
    """Return the distribution of T for independent rows."""
    n, total = sums.weight, float(sums.weight.sum())
    square, null = debiased_square(n, sums.pair_residual), sums.label_variance
    null_deviation, null_skewness = _cumulants(sums)
    levels = levels_of(sums, null_deviation)
    noise, third = levels.noise(levels.label, 1 - 2 * (levels.proba - levels.error))
    deviation = math.sqrt(noise)
    linear = float(levels.label.sum()) / total
    p, q = float(sums.y.sum()) / total, float(sums.q.sum()) / total
    variance = float(levels.rows @ levels.label) / total**2
    return SquareDistribution(
        square=square,
        deviation=deviation,
        skewness=min(third / deviation**3, MOST) if deviation > _NO_DEVIATION else 0.0,
        slope=slope_of(0.0, 0.0, deviation, linear),
        null_deviation=null_deviation,
        null_skewness=null_skewness,
        n_units=total,
        reach=largest_error(sums),
        bound=MeanBound(p, q, variance, n_least=total),
        smooth=smooth_square_of_bins(sums) if sums.joins else None,
        between=(_proportional_ratio(n, null) - 1) / total,
        levels=levels,
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
    return max(float(n.sum() * (null**2 / n).sum() / null.sum() ** 2), 1.0)


def largest_error(sums: Bins) -> float:
    """Return the root mean square of max(q, 1 - q), bin by bin."""
    most = np.maximum(sums.qq, sums.weight - 2 * sums.q + sums.qq)
    return float(np.sqrt(most.sum() / sums.weight.sum()))


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


def _cumulants(sums: Bins) -> tuple[float, float]:
    """Return deviation and skewness of T if every probability is right.

    T is a sum over pairs of independent rows. If the pairs have weight g, and the
    labels have variance v and third moment m, the n rows of a bin add 2 n (n - 1) g^2
    v^2 to the variance and 8 n (n - 1) (n - 2) g^3 v^3 + 4 n (n - 1) g^3 m^2 to the
    third cumulant.

    A bin contains only the share m / t of a divided tie class. The products inside the
    class are one term, regardless of the number of bins that it is divided into. For
    example, bins of 5 rows divide a class of 4 rows, 2 to each side. A product of two
    of the 4 rows is in each bin with the chance (2/4) (1/3) = 1/6. Its weight is then
    1/6 of the weights of both bins.
    """
    variance = sums.label_variance
    top = float(variance.max())
    if top == 0:
        return 0.0, 1.0
    mean, mean_square = sums.q / sums.weight, sums.qq / sums.weight
    # E q^3 = 3 E q^2 E q - 2 (E q)^3 if the third central moment of q is 0
    third = mean - 3 * mean_square + 2 * (3 * mean_square * mean - 2 * mean**3)
    tie_variance = sums.shares.value * (1 - sums.shares.value)
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
    t, v, m = s.total[one], tie[one], tie[one] * (1 - 2 * s.value[one])
    second += 2 * float((t * (t - 1)) @ (per_tie * v) ** 2)
    m = np.minimum(np.abs(m), v * top) / top
    triples = 8 * (t - 2) * v**3 + 4 * rarity * m**2
    skew += float((t * (t - 1)) @ (per_tie**3 * triples))
    if second <= 0:
        return 0.0, 1.0
    return top * float(np.sqrt(second)), skew / second**1.5


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
    # Labels of independent rows vary at least as much. Without this bound, T would seem
    # large if fewer labels than expected contradict confident probabilities.
    # theory, (G9)
    independent = share * bins.label_variance * bins.mean_weight / bins.count_sum
    null_deviation, null_skewness = _chi_squares(np.maximum(null, independent))
    growth = max(null_deviation / max(_chi_squares(null)[0], 1e-300), 1.0)
    null_variance, null_third = null_variance * growth**2, null_third * growth**3
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
        bound=_mean_bound(bins),
        smooth=smooth_square_of_groups(bins) if bins.bins.joins else None,
        between=between,
        freedom=freedom,
    )


def _mean_bound(bins: GroupedBins) -> MeanBound:
    """Return the bound by the mean residual, which varies with the groups."""
    sums, variance = bins.bins, bins.mean_residual_variance()
    total = float(sums.weight.sum())
    p, q = float(sums.y.sum()) / total, float(sums.q.sum()) / total
    n = max(p * (1 - p) / max(variance, 1e-100), bins.n_effective_groups)
    return MeanBound(p, q, variance, n_least=min(n, total))


def _chi_squares(spectrum: np.ndarray) -> tuple[float, float]:
    """Return deviation and skewness of a weighted sum of chi squares."""
    top = float(spectrum.max())
    if top == 0:
        return 0.0, 1.0
    weight = spectrum / top
    second, third = float(weight @ weight), float((weight**3).sum())
    return top * float(np.sqrt(2 * second)), float(np.sqrt(8) * third / second**1.5)


# The test of perfect calibration. T has power against errors of every shape, but little
# power against each of them. Most errors are shifts, slopes and smooth curves, so the
# test also uses statistics that detect these errors. If a label contradicts a
# probability of exactly 0 or 1, perfect calibration is impossible: the p-value is 0.

# Weights of the p-values without groups, in the order of `null_p_value`. The mean
# residual and the slope, which cross-validated models fit, have less than half.
# In benchmarks/interval_constants.py, their mean power is 67.5%, rank 6 among 3,004
# weights, and their worst ratio to the best of other tests is .65, rank 121.
ROW_WEIGHTS = (0.2, 0.25, 0.15, 0.25, 0.05, 0.1)

# If nearly all labels that are expected to vary are of the same kind, such as a few
# wrong answers among nearly certain ones, they show a shift, but no shape. If the mean
# residual has this squared skewness, half of all weight is moved to it. With larger
# numbers, fewer of these shifts are found; with smaller ones, fewer other errors.
_SKEWED = 0.03

# Weights of the mean residual, Spiegelhalter's statistic and T with groups.
WEIGHTS = (0.3, 0.4, 0.2)

# The expected variance of a sum over groups has the weight of this number of labels.
_LABELS = 2

# Numbers of polynomials of the smooth tests.
ORDERS = (4, 8)

# The statistics are neither independent nor equal. Under perfect calibration the
# combination for rows has these quantiles, to .01 (means over nine distributions of
# probabilities at 100 to 3,000 rows). The quantiles for groups are the same from .2 on;
# below, they are larger (.06 instead of .05), so their test is conservative.
# benchmarks/interval_constants.py finds the quantiles for rows again.
_COMBINED = (
    *(0, 0.049, 0.094, 0.178, 0.255, 0.329, 0.406),
    *(0.478, 0.553, 0.638, 0.739, 0.806, 1),
)
_UNIFORM = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)


def combine(p_values: list[float], weights: list[float]) -> float:
    """Return the half-Cauchy combination of p-values, corrected for their dependence.

    The combination needs no simulation, and it is little affected by dependence between
    the statistics. Unlike in the Cauchy combination (Liu and Xie 2020), a p-value near
    1 is no evidence for calibration: its term is 0 instead of a large negative number.
    """
    halves = [p / 2 for p, w in zip(p_values, weights, strict=True) if w > 0]
    weights = [w for w in weights if w > 0]
    if not weights:
        return 1.0
    # theory, (I22): cot(pi p / 2) is the term of the Cauchy combination for p / 2
    combined = 2 * cauchy(halves, weights, sum(weights))
    return float(np.interp(combined, _COMBINED, _UNIFORM))


def cauchy(p_values: Sequence[float], weights: Sequence[float], total: float) -> float:
    """Return the Cauchy combination of p-values; weights are divided by `total`."""
    if min(p_values) < 1e-15:
        # The tangent of pi (1/2 - p) is about 1 / (pi p), and the smallest p / w
        # dominates the sum.
        least = min(p / w for p, w in zip(p_values, weights, strict=True))
        return min(1.0, least * total)
    statistic = sum(
        w * math.tan(math.pi * (0.5 - min(p, 0.99)))
        for p, w in zip(p_values, weights, strict=True)
    )
    return 0.5 - math.atan(statistic / total) / math.pi


def null_p_value(sums: Bins, square_p_value: float) -> float:
    """Return the p-value of perfect calibration for independent rows.

    It combines the p-values of

    - the mean residual, Cox's score statistic of the intercept;
    - the sum of (q - y) (logit q - c), Cox's score statistic of the slope, where c
      makes it uncorrelated with the mean residual;
    - the sums of squares of the coefficients of four and of eight Legendre polynomials,
      Neyman's smooth tests;
    - the debiased square, whose p-value is `square_p_value`;
    - the expected number of labels as improbable as the least probable one. Rows that
      are nearly certain have almost no variance, so the other statistics do not see
      them.
    """
    variance, residual, mean = sums.label_variance, sums.residual, sums.q / sums.weight
    total = float(variance.sum())
    if total <= 0:  # every probability is 0 or 1
        return 1.0 if sums.surprise > 0 else 0.0
    # Residuals times any function of q have the mean 0. Inside a bin, the value of the
    # function at the mean of q is used.
    log_odds = logit(np.clip(mean, 1e-300, 1 - 2.0**-53))
    slope = log_odds - float(variance @ log_odds) / total
    thirds = variance * (1 - 2 * mean)
    third = -float(thirds.sum())
    p_values = [
        linear_p_value(float(residual.sum()), total, third, 0.5),
        linear_p_value(
            float(residual @ slope),
            float(variance @ slope**2),
            -float(thirds @ slope**3),
        ),
        *_smooth_p_values(residual, variance, mean),
        square_p_value,
        min(sums.surprise, 1.0),
    ]
    # If fewer labels are expected to vary than there are polynomials, the distribution
    # of the sum of squares is not close to the distribution it is compared with.
    enough = (True, True, *(total >= order for order in ORDERS), True, True)
    weights = [w * e for w, e in zip(ROW_WEIGHTS, enough, strict=True)]
    # theory, (I25); the bound keeps the sum finite if labels almost never vary
    skewed = min((third / total) ** 2 / total / _SKEWED, 1e6)
    weights[0] += sum(weights) * skewed
    return combine(p_values, weights)


def linear_p_value(
    value: float, variance: float, third: float, correction: float = 1.0
) -> float:
    """Return the two-sided p-value of a sum with mean 0 and a known third cumulant.

    As a continuity correction, the value is moved by half of the typical step
    third / variance, times `correction`. This matters if few positive labels are
    expected. Twice the exact tail of so few labels is below .05 in only 2 to 4% of the
    samples of calibrated labels, and without correction in up to 9%. With half of the
    correction it is below .05 in 3 to 5%.
    """
    if variance < 1e-100:  # ratios overflow; Chebyshev's inequality is enough
        return 1.0 if value**2 <= variance else variance / value**2
    deviation = math.sqrt(variance)
    skewness = third / variance / deviation
    # theory, (I20)
    step = correction * abs(third) / variance / 2
    above = tail_above((value - step) / deviation, skewness)
    below = tail_above(-(value + step) / deviation, -skewness)
    return min(1.0, 2 * min(above, below))


def _smooth_p_values(
    residual: np.ndarray, variance: np.ndarray, mean: np.ndarray
) -> list[float]:
    """Return the p-values of Neyman's smooth tests with the first 4 and 8 polynomials.

    The sums of squares are matched by their first two moments, which include the fourth
    cumulants of the labels.
    """
    basis = smooth_basis(variance)
    total = float(variance.sum())
    if total < 1e-100:
        return [1.0] * len(ORDERS)
    squares = (basis @ residual) ** 2 / total
    covariance = (basis * variance) @ basis.T / total
    # theory, (I21); fourth cumulant of a Bernoulli variable
    kurtosis = variance * (1 - 6 * mean * (1 - mean))
    found = []
    for k in ORDERS:
        own = (basis[:k] ** 2).sum(axis=0)
        spread = 2 * float((covariance[:k, :k] ** 2).sum())
        spread += float(own**2 @ kurtosis) / total / total
        expected = float(np.trace(covariance[:k, :k]))
        found.append(
            scaled_chi_square_p_value(float(squares[:k].sum()), expected, spread)
        )
    return found


def smooth_basis(variance: np.ndarray) -> np.ndarray:
    """Return the orthonormal polynomials at the midpoint of each bin.

    Midpoints are in [-1, 1], by the shares of the bins in the variance.
    """
    end = np.cumsum(variance)
    top = max(float(end[-1]), 1e-300)
    degrees = np.arange(min(ORDERS[-1], variance.size))
    polynomials = legvander((2 * end - variance) / top - 1, degrees[-1]).T
    return polynomials * np.sqrt(2 * degrees + 1)[:, np.newaxis]


def scaled_chi_square_p_value(value: float, mean: float, variance: float) -> float:
    """Return the upper tail of a multiple of a chi square with these moments."""
    if mean <= 0 or variance <= 0:
        return 1.0
    # a chi-squared variable times mean / freedom has these moments
    freedom = 2 * mean**2 / variance
    return float(chdtrc(freedom, max(value, 0) * freedom / mean))


def null_p_value_of_groups(bins: GroupedBins, square_p_value: float) -> float:
    """Return the p-value of perfect calibration for groups of dependent rows.

    The mean residual and Spiegelhalter's statistic are compared with their variances
    over groups by Student's distribution. Their expected variance is computed as if the
    rows of a group in a bin were identical, and as if all rows were independent.
    """
    if bins.bins.surprise == 0:
        return 0.0
    e, n = bins.entries, bins.count_sum
    factors = (np.ones(n.size), 1 - 2 * bins.mean_proba)
    # same quantile, longer tail: the variance of T is estimated from few groups
    most = max(bins.n_effective_groups - 1, 1.0)
    widened = float(stdtr(most, ndtri(max(square_p_value, 1e-300))))
    p_values, weights = [widened], [WEIGHTS[2]]
    for factor, weight in zip(factors, WEIGHTS[:2], strict=True):
        value = e.by_group(e.residual, factor)
        spread = n * bins.label_variance * factor**2
        # theory, (G7)
        expected = float(spread @ (n / bins.n_effective))
        independent = float(spread.sum())
        n_varying = independent**2 / max(expected, 1e-300)
        # Residuals of all classes of a row sum to 0 and contain no information.
        if float(np.abs(value).max()) > 1e-12 * float(bins.group_weight.max()):
            p_values.append(
                student_p_value(
                    value,
                    bins.same,
                    bins.n_effective_groups,
                    expected,
                    n_varying / _LABELS,
                    independent * bins.mean_weight,
                    _freedom(bins, (value * bins.same) ** 2),
                )
            )
            weights.append(weight)
    return combine(p_values, weights)


def _freedom(bins: GroupedBins, squares: np.ndarray) -> float:
    """Return the degrees of freedom of the sum over the groups of `squares`.

    A group that represents several groups has the square of one of them. If few labels
    vary, a few groups have most of the sum, which then depends on the statistic itself:
    if fewer labels than expected contradict confident probabilities, it is small.
    """
    # theory, (G10); the sizes are already in the effective number of groups
    peaked, by_size = (
        float(each**2 @ (1 / bins.same))
        / max(float(each @ (1 / bins.same)), 1e-150) ** 2
        for each in (squares, (bins.group_weight * bins.same) ** 2)
    )
    most = max(bins.n_effective_groups - 1, 1.0)
    return min(max(2 / max(peaked - by_size, 1e-12), 1.0), most)


def student_p_value(
    value: np.ndarray,
    same: np.ndarray,
    n_effective: float,
    expected: float,
    n_varying: float,
    least: float = 0.0,
    freedom: float | None = None,
) -> float:
    """Return the two-sided p-value of a sum over groups that has mean 0.

    `expected` is the expected variance of the sum. `n_varying` is the number of labels
    that are expected to vary; it is the weight of the observed variance. `least` is a
    lower bound on the variance. `freedom` is by default `n_effective` - 1.
    """
    square, total = float(same @ value**2), float(value.sum())
    if square <= 0:
        return 1.0
    most = max(n_effective - 1, 1.0)
    freedom = most if freedom is None else freedom
    centred = max(square - total**2 / n_effective, 0.0) * n_effective / most
    # Labels that almost never vary have no observed variance.
    weight = max(n_varying, 1e-12)
    # theory, (G7)
    variance = (weight * max(centred, 1e-300) + expected) / (weight + 1)
    variance = max(variance, least)
    return min(1.0, 2 * float(stdtr(freedom, -abs(total) / math.sqrt(variance))))
