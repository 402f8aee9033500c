"""Test of perfect calibration that combines several statistics.

The debiased square has power against errors of every shape, but little power against
each of them. Most errors are shifts, slopes and smooth curves. The test therefore also
uses statistics that detect these errors. Without groups, the statistics are:

- the mean residual, Cox's score statistic of the intercept;
- the sum of (q - y) (logit q - c), Cox's score statistic of the slope, where c makes it
  uncorrelated with the mean residual;
- the sums of squares of the coefficients of four and of eight Legendre polynomials,
  Neyman's smooth tests;
- the debiased square;
- the expected number of labels as improbable as the least probable one. Rows that are
  nearly certain have almost no variance, so the other statistics do not see them.

With groups, they are the mean residual, Spiegelhalter's statistic, which is the sum of
(1 - 2 q) (q - y), and the debiased square.

Each statistic has a known distribution if all probabilities are right, so each gives a
p-value. The Cauchy combination of the p-values (Liu and Xie 2020) is the p-value of the
test. It needs no simulation, and it is little affected by dependence between the
statistics. If a label contradicts a probability of exactly 0 or 1, perfect calibration
is impossible, and the p-value is 0, with and without groups.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import chdtrc, logit, ndtri, stdtr

from ._bins import Bins
from ._grouped_bins import GroupedBins
from ._score_interval import tail_above

# Weights of the p-values without groups, in the order of `null_p_value`.
# In benchmarks/interval_constants.py, their mean power is 66.7%, rank 21 among 3,004
# weights, and their worst ratio to the best of other tests is .67, rank 17.
ROW_WEIGHTS = (0.25, 0.3, 0.1, 0.2, 0.05, 0.1)

# Weights of the mean residual, Spiegelhalter's statistic and (last) T with groups.
WEIGHTS = (0.3, 0.4, 0.1, 0.2)

# Numbers of polynomials of the smooth tests.
ORDERS = (4, 8)

# The statistics are neither independent nor equal. Under perfect calibration the
# combination of rows has these quantiles, found by simulation of five kinds of
# probabilities. benchmarks/interval_constants.py finds them again, to .005. With
# groups, the quantiles are those of the mean residual, Spiegelhalter's statistic, a
# smooth test and T.
_ROW_COMBINED = np.array(
    [0, 0.0095, 0.055, 0.112, 0.22, 0.33, 0.449, 0.56, 0.677, 0.778, 0.882]
    + [0.962, 0.968, 0.976, 1]
)
_COMBINED = np.array(
    [0, 0.01, 0.048, 0.104, 0.219, 0.332, 0.441, 0.561, 0.668, 0.767, 0.858]
    + [0.949, 0.974, 0.979, 1]
)
_UNIFORM = (0, 0.0104, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)


def combine(
    p_values: list[float], weights: list[float], quantiles: np.ndarray | None = None
) -> float:
    """Return the Cauchy combination of p-values, corrected for their dependence.

    `quantiles` are the quantiles of the combination under perfect calibration, by
    default with groups.
    """
    p_values = [p for p, w in zip(p_values, weights, strict=True) if w > 0]
    weights = [w for w in weights if w > 0]
    total = sum(weights)
    # A p-value of 1 has the tangent -infinity and would hide all others, so p-values
    # are limited to .99.
    if total <= 0 or min(p_values) >= 0.99:
        return 1.0
    if min(p_values) < 1e-15:
        # The tangent of pi (1/2 - p) is about 1 / (pi p), and the smallest p / w
        # dominates the sum.
        least = min(p / w for p, w in zip(p_values, weights, strict=True))
        return min(1.0, least * total)
    statistic = sum(
        w * math.tan(math.pi * (0.5 - min(p, 0.99)))
        for p, w in zip(p_values, weights, strict=True)
    )
    # theory, (I22)
    combined = 0.5 - math.atan(statistic / total) / math.pi
    quantiles = _COMBINED if quantiles is None else quantiles
    return float(np.interp(combined, quantiles, _UNIFORM))


def null_p_value(sums: Bins, square_p_value: float) -> float:
    """Return the p-value of perfect calibration for independent rows.

    `square_p_value` is the p-value of the debiased square.
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
    p_values = [
        linear_p_value(float(residual.sum()), total, -float(thirds.sum())),
        linear_p_value(
            float(residual @ slope),
            float(variance @ slope**2),
            -float(thirds @ slope**3),
        ),
        *_smooth_p_values(residual, variance, mean),
        square_p_value,
        # an upper bound, which is not evidence for calibration if it is large
        min(sums.surprise, 0.5),
    ]
    # If fewer labels are expected to vary than there are polynomials, the distribution
    # of the sum of squares is not close to the distribution it is compared with.
    enough = (True, True, *(total >= order for order in ORDERS), True, True)
    weights = [w * e for w, e in zip(ROW_WEIGHTS, enough, strict=True)]
    return combine(p_values, weights, _ROW_COMBINED)


def linear_p_value(value: float, variance: float, third: float) -> float:
    """Return the two-sided p-value of a sum with mean 0 and a known third cumulant.

    As a continuity correction, the value is moved by half of the typical step
    third / variance. This matters if few positive labels are expected.
    """
    if variance < 1e-100:  # ratios overflow; Chebyshev's inequality is enough
        return 1.0 if value**2 <= variance else variance / value**2
    deviation = math.sqrt(variance)
    skewness = third / variance / deviation
    # theory, (I20)
    step = abs(third) / variance / 2
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
    rows of a group in a bin were identical.
    """
    if bins.bins.surprise == 0:
        return 0.0
    e, n = bins.entries, bins.count_sum
    factors = (np.ones(n.size), 1 - 2 * bins.mean_proba)
    n_effective = bins.n_effective_groups
    freedom = max(n_effective - 1, 1.0)
    # same quantile, longer tail: the variance of T is estimated from few groups
    widened = float(stdtr(freedom, ndtri(max(square_p_value, 1e-300))))
    p_values, weights = [widened], [WEIGHTS[3]]
    for factor, weight in zip(factors, WEIGHTS[:2], strict=True):
        value = e.by_group(e.residual * factor[e.set])
        spread = n * bins.label_variance * factor**2
        # theory, (G7)
        expected = float(spread @ (n / bins.n_effective))
        n_varying = float(spread.sum()) ** 2 / max(expected, 1e-300)
        # Residuals of all classes of a row sum to 0 and contain no information.
        if float(np.abs(value).max()) > 1e-12 * float(bins.group_weight.max()):
            p_values.append(
                student_p_value(value, bins.same, n_effective, expected, n_varying)
            )
            weights.append(weight)
    return combine(p_values, weights)


def student_p_value(
    value: np.ndarray,
    same: np.ndarray,
    n_effective: float,
    expected: float,
    n_varying: float,
) -> float:
    """Return the two-sided p-value of a sum over groups that has mean 0.

    `expected` is the expected variance of the sum. `n_varying` is the number of labels
    that are expected to vary; it is the weight of the observed variance.
    """
    square, total = float(same @ value**2), float(value.sum())
    if square <= 0:
        return 1.0
    freedom = max(n_effective - 1, 1.0)
    centred = max(square - total**2 / n_effective, 0.0) * n_effective / freedom
    # Labels that almost never vary have no observed variance.
    weight = max(n_varying, 1e-12)
    # theory, (G7)
    variance = (weight * max(centred, 1e-300) + expected) / (weight + 1)
    return min(1.0, 2 * float(stdtr(freedom, -abs(total) / math.sqrt(variance))))
