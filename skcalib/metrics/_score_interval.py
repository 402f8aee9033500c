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

from ._bins import BinSums, debiased_square
from ._grouped_bins import GroupedBins

# How the variance of T grows with the error depends on where the error is. So many
# deviations from 0, T itself counts as much as a guess, ...
_TRUSTED = 2.5

# ... which is this part of the growth that errors in proportion to the noise have. In
# the simulations of benchmarks/coverage.py the true part is between 0.3 and 1.
_GUESSED = 2 / 3

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


def law_of_bins(sums: BinSums) -> SquareLaw:
    """Return the law of T for independent rows."""
    n = sums.weight
    total = float(n.sum())
    # The sample variance of r, and the sum of label variances.
    sample = (sums.squared_residual - sums.pair_residual / (n - 1)) / n
    null = np.maximum(sums.q - sums.qq, 0)
    observed = _smoothed(n, n * np.maximum(sample, 0), null)
    s = sums.shares
    rate = s.positive / s.total
    seen = _class_variance(s.total, rate, s.value)
    linear, deviation, skewness = _cumulants(
        sums, observed, _third_moment(_shrunk(sums)), seen, rate
    )
    _, null_deviation, null_skewness = _cumulants(
        sums, null, _null_third_moment(sums), s.value * (1 - s.value), s.value
    )
    square = debiased_square(n, sums.pair_residual)
    return SquareLaw(
        square=square,
        deviation=deviation,
        skewness=skewness,
        slope=_slope(_error_noise(sums), square, deviation, linear),
        null_deviation=null_deviation,
        null_skewness=null_skewness,
        n_units=total,
        mean=_mean_law(sums, float(observed.sum()) / total**2),
    )


def _mean_law(sums: BinSums, variance: float) -> MeanLaw:
    """Return the law of the label frequency of all rows, which has that variance."""
    total = float(sums.weight.sum())
    return MeanLaw(float(sums.y.sum()) / total, float(sums.q.sum()) / total, variance)


def _slope(seen: float, square: float, deviation: float, linear: float) -> float:
    """Return the growth of the variance of T with the squared error, over 4.

    It is sum w^2 V d^2 / sum w d^2, d the error of a bin and V the variance of its
    mean: `seen` and `square` estimate numerator and denominator without bias. `linear`
    is sum w V.
    """
    if linear <= 0 or deviation <= 0:
        return 0.0
    guess = _GUESSED * (deviation / linear) * deviation / 2
    if square <= 0:
        return guess
    trust = 1 / (1 + min(_TRUSTED * deviation / square, 1e100) ** 2)
    return float(max(trust * seen / square + (1 - trust) * guess, 0.1 * guess))


def _smoothed(n: np.ndarray, seen: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return the sums of label variances seen in two neighbouring bins together.

    They are shrunk by one row towards q (1 - q), whose course inside the two is kept.
    """
    first = np.arange(0, max(n.size - 1, 1), 2)

    def both(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, first)

    rows, expected = both(n), both(null)
    together = (rows * both(seen) + expected) / (rows + 1)
    # where every q is 0 or 1 the rows share alike
    course = null + 1e-6 * n
    which = np.minimum(np.arange(n.size) // 2, first.size - 1)
    return together[which] * course / both(course)[which]


def _error_noise(sums: BinSums) -> float:
    """Return an unbiased estimate of sum w^2 p (1 - p) (q - p)^2 / n over bins.

    With the plug-in, labels more frequent than p make both p (1 - p) and (q - p)^2
    wrong, in opposite directions; falling factorials of the count of positives are
    unbiased for powers of p. Counts are those of whole rows: a divided tie class is
    taken by itself, out of the bins that share it.
    """
    s, n_bins = sums.shares, sums.weight.size
    first = np.unique(s.tie, return_index=True)[1]
    rate = s.positive / s.total

    def with_ties(whole: np.ndarray, share: np.ndarray, tie: np.ndarray) -> np.ndarray:
        rest = np.maximum(whole - np.bincount(s.bin, share, n_bins), 0)
        return np.concatenate([rest, tie[first]])

    n = with_ties(sums.weight, s.taken, s.total)
    k = with_ties(sums.y, s.taken * rate, s.positive)
    q = with_ties(sums.q, s.taken * s.value, s.total * s.value)
    n, k, q = _at_least_four(n, k, q)
    if n.size == 0:
        return 0.0
    one = k / n
    two = one * (k - 1) / (n - 1)
    three = two * (k - 2) / (n - 2)
    four = three * (k - 3) / (n - 3)
    product = q**2 * one - (2 * q + q**2) * two + (1 + 2 * q) * three - four
    return float(n @ product) / float(n.sum() * sums.weight.sum())


def _at_least_four(n: np.ndarray, k: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    """Return rows, positives and mean q of sets of four rows or more.

    The fourth power of a frequency has no unbiased estimate from fewer, so neighbours
    are joined by where they start in the order of q; what is still smaller is left out.
    """
    some = n > 0
    n, k, q = n[some], k[some], q[some]
    order = np.argsort(q / n, kind="stable")
    n, k, q = n[order], k[order], q[order]
    _, joined = np.unique((np.cumsum(n) - n) // 4, return_inverse=True)
    n, k, q = (np.bincount(joined, each) for each in (n, k, q))
    enough = n > 4 - 1e-9
    return [n[enough], k[enough], (q / n)[enough]]


def _class_variance(total: np.ndarray, rate: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the variance of a label, shrunk by one row towards q (1 - q)."""
    sample = total * rate * (1 - rate) / np.maximum(total - 1, 1)
    return (total * sample + q * (1 - q)) / (total + 1)


def _third_moment(p: np.ndarray) -> np.ndarray:
    """Return the third central moment of labels of that frequency."""
    return p * (1 - p) * (1 - 2 * p)


def _shrunk(sums: BinSums) -> np.ndarray:
    """Return the label frequency of each bin, shrunk by one row towards mean q."""
    n = sums.weight
    return np.clip((sums.y + sums.q / n) / (n + 1), 0, 1)


def _null_third_moment(sums: BinSums) -> np.ndarray:
    """Return the mean of q (1 - q) (1 - 2 q) in each bin, as if q were not skewed."""
    mean, square = sums.q / sums.weight, sums.qq / sums.weight
    return mean - 3 * square + 2 * (3 * square * mean - 2 * mean**3)


def _cumulants(
    sums: BinSums,
    variance: np.ndarray,
    third: np.ndarray,
    tie_variance: np.ndarray,
    tie_rate: np.ndarray,
) -> tuple[float, float, float]:
    """Return sum w V, deviation and skewness of T where there is no error.

    `variance` is the sum of label variances in each bin, `third` their mean third
    moment, `tie_variance` and `tie_rate` those of a row of each share. T is a sum over
    pairs of independent rows: with weight g, variances v and third moments m, n rows
    of a bin add 2 n (n - 1) g^2 v^2 to the variance and
    8 n (n - 1) (n - 2) g^3 v^3 + 4 n (n - 1) g^3 m^2 to the third cumulant.

    Of a divided tie class a bin knows the share m / t only; the products inside the
    class are one term, whatever the number of bins it is cut into.
    """
    top = float(variance.max())
    if top == 0:
        return 0.0, 0.0, 1.0
    s, n, total = sums.shares, sums.weight, sums.weight.sum()
    # over the largest, since squares of what is near 1e-160 are lost
    variance, tie = variance / top, tie_variance / top
    chance = s.taken / s.total
    spread = variance - np.bincount(
        s.bin, chance * (1 - chance) * s.total * tie, n.size
    )
    own = np.bincount(s.bin, (chance**2 * s.total * tie) ** 2, n.size)
    # squares of the sums of variances, of pairs that share no divided class
    pairs = np.maximum(spread**2 - own, 0)
    weight = 1 / (total * (n - 1))
    root = np.sqrt(pairs)
    first = float(root @ (weight * (n - 1) / n))
    second = 2 * float((pairs * weight**2) @ ((n - 1) / n))
    skew = 8 * float((root**3 * weight**3) @ ((n - 1) * (n - 2) / n**2))
    # The share of a bin's variance; at most 1, but for what its neighbour lent it.
    free = np.divide(root, variance, out=np.sign(root), where=root < variance) ** 2
    rarity = 1 / max(top, 1e-200)
    # no third moment of a label is larger than its variance
    rare = np.minimum(np.abs(third) * n, variance * top) / top
    skew += 4 * rarity * float((free * rare**2 * weight**3) @ ((n - 1) / n))
    together = chance * np.maximum(s.taken - 1, 0) / np.maximum(s.total - 1, 1)
    per_tie = np.bincount(s.tie, together * weight[s.bin])
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


def _chi_squares(spectrum: np.ndarray) -> tuple[float, float]:
    """Return deviation and skewness of a weighted sum of chi squares."""
    top = float(spectrum.max())
    if top == 0:
        return 0.0, 1.0
    weight = spectrum / top
    second, third = float(weight @ weight), float((weight**3).sum())
    return top * float(np.sqrt(2 * second)), float(np.sqrt(8) * third / second**1.5)


def law_of_groups(bins: GroupedBins) -> SquareLaw:
    """Return the law of T for rows that depend on each other within groups.

    Noise is at least that of bins whose groups are independent of each other's bins:
    sums over groups do not see the variance of labels that never came in any of them.
    """
    share = bins.weight / bins.weight.sum()
    centred = bins.centred()
    noise = bins.mean_variance(centred)
    variance, _ = bins.product_moments(centred)
    null_variance, null_third = bins.product_moments(bins.residual)
    null_deviation, null_skewness = _chi_squares(share * bins.null_variance())
    if null_variance > null_deviation**2:
        null_deviation = float(np.sqrt(null_variance))
        null_skewness = null_third / null_deviation**3
    deviation, skewness = _chi_squares(share * noise)
    square, seen = bins.debiased_square(), bins.error_noise(centred) - variance / 2
    return SquareLaw(
        square=square,
        deviation=max(float(np.sqrt(max(variance, 0))), deviation),
        skewness=max(skewness, null_skewness),
        slope=_slope(seen, square, np.sqrt(max(variance, 0)), float(share @ noise)),
        null_deviation=null_deviation,
        null_skewness=null_skewness,
        n_units=bins.n_units,
        mean=_mean_law(bins.sums, bins.mean_residual_variance),
    )
