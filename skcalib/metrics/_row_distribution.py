"""Distribution of the debiased square for independent rows."""

from __future__ import annotations

import numpy as np

from ._bins import BinSums, debiased_square
from ._error_moments import error_moments
from ._levels import levels_of
from ._score_interval import LabelNoise, MeanBound, SquareDistribution, trust_in

# If T is close to 0, the growth of its variance with the error is estimated as this
# fraction of the growth for errors that are proportional to the noise. In the
# distributions of benchmarks/method_coverage.py, the true fraction is between .39 and
# .71 on average. The guess is at the upper end, which makes intervals wider. See
# benchmarks/interval_constants.py.
_GUESSED = 2 / 3


def distribution_of_bins(sums: BinSums) -> SquareDistribution:
    """Return the distribution of T for independent rows."""
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
    moments = error_moments(sums)
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
        bounds=mean_bounds(sums, observed),
        labels=label_noise(sums, 1 / total),
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


def largest_error(sums: BinSums) -> float:
    """Return the root mean square of max(q, 1 - q), bin by bin."""
    most = np.maximum(sums.qq, sums.weight - 2 * sums.q + sums.qq)
    return float(np.sqrt(most.sum() / sums.weight.sum()))


def label_noise(sums: BinSums, share: float) -> LabelNoise:
    """Return how label variance depends on the error; `share` is one over the units."""
    total = float(sums.weight.sum())
    null = np.maximum(sums.q - sums.qq, 0)
    lean = 1 - 2 * sums.q / sums.weight
    mean = float(null.sum()) / total
    return LabelNoise(
        null=mean,
        excess=float(sums.squared_residual.sum()) / total - mean,
        deviation=float(np.sqrt(lean**2 @ null / total * share)),
        scale=float(np.sqrt((sums.weight - 4 * sums.q + 4 * sums.qq).sum() / total)),
    )


def mean_bounds(sums: BinSums, variance: np.ndarray) -> tuple[MeanBound, ...]:
    """Return the bounds by the mean residual and by the mean squared residual.

    `variance` is the sum of the label variances in each bin. If d = q - p is the error,
    the excess of the Brier score over the mean of q (1 - q) is minus the mean of (1 - 2
    q) d.
    """
    total = float(sums.weight.sum())
    lean = 1 - 2 * sums.q / sums.weight
    frequency, expected = float(sums.y.sum()), float(sums.q.sum())
    score = float(sums.squared_residual.sum())
    return (
        MeanBound(
            frequency / total,
            expected / total,
            float(variance.sum()) / total**2,
            n_least=total,
            from_below=True,
        ),
        MeanBound(
            score / total,
            float((sums.q - sums.qq).sum()) / total,
            float(lean**2 @ variance) / total**2,
            float(np.sqrt((sums.weight - 4 * sums.q + 4 * sums.qq).sum() / total)),
            n_least=total,
        ),
    )


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

    def both(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, first)

    rows, expected = both(n), both(null)
    # theory, (I4), times the number of rows
    together = (rows * both(seen) + expected) / (rows + 1)
    # If every q is 0 or 1, all rows have the same share.
    course = null + 1e-6 * n
    which = np.minimum(np.arange(n.size) // 2, first.size - 1)
    return together[which] * course / both(course)[which]


def _class_variance(total: np.ndarray, rate: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the variance of a label, shrunk by one row towards q (1 - q)."""
    sample = total * rate * (1 - rate) / np.maximum(total - 1, 1)
    return (total * sample + q * (1 - q)) / (total + 1)


def _third_moment(p: np.ndarray) -> np.ndarray:
    """Return the third central moment of labels with frequency p."""
    return p * (1 - p) * (1 - 2 * p)


def _shrunk(sums: BinSums) -> np.ndarray:
    """Return the label frequency of each bin, shrunk by one row towards mean q."""
    n = sums.weight
    return np.clip((sums.y + sums.q / n) / (n + 1), 0, 1)


def _null_third_moment(sums: BinSums) -> np.ndarray:
    """Return the mean of q (1 - q) (1 - 2 q) in each bin, for unskewed q."""
    mean, square = sums.q / sums.weight, sums.qq / sums.weight
    # E q^3 = 3 E q^2 E q - 2 (E q)^3 if the third central moment of q is 0
    return mean - 3 * square + 2 * (3 * square * mean - 2 * mean**3)


def _cumulants(
    sums: BinSums,
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
