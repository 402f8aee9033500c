"""Test of perfect calibration that combines four statistics.

The debiased square has power against errors of every shape, but little power against
each of them. Most errors are shifts and slopes. The test therefore also uses three
statistics that are linear in the probabilities or smooth functions of them. The four
statistics are:

- the mean residual;
- Spiegelhalter's statistic, the sum of (1 - 2 q) (q - y);
- the sum of squares of eight Legendre polynomials' coefficients, Neyman's smooth test;
- the debiased square.

Each statistic has a known distribution if all probabilities are right, so each gives a
p-value. The Cauchy combination of the p-values (Liu and Xie 2020) is the p-value of the
test. It needs no simulation, and it is little affected by dependence between the
statistics.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import chdtrc, ndtri, stdtr

from ._bins import Bins
from ._grouped_bins import GroupedBins
from ._score_interval import tail_above

# Weights of the p-values. In benchmarks/interval_constants.py, their mean power is
# 71.4%. Of all weights in steps of .1, the best ones have 72.5% and none on the square.
WEIGHTS = (0.3, 0.4, 0.1, 0.2)

# Number of polynomials.
N_SMOOTH = 8

# The statistics are neither independent nor equal. Under perfect calibration the
# combination has these quantiles, found by simulation of five kinds of probabilities.
# benchmarks/interval_constants.py finds them again, to .007 up to the quantile .6 and
# to .021 above it.
_COMBINED = np.array(
    [0, 0.01, 0.048, 0.104, 0.219, 0.332, 0.441, 0.561, 0.668, 0.767, 0.858]
    + [0.949, 0.974, 0.979, 1]
)
_UNIFORM = (0, 0.0104, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)


def combine(p_values: list[float], weights: list[float]) -> float:
    """Return the Cauchy combination of p-values, corrected for their dependence."""
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
    return float(np.interp(combined, _COMBINED, _UNIFORM))


def null_p_value(sums: Bins, square_p_value: float) -> float:
    """Return the p-value of perfect calibration for independent rows.

    `square_p_value` is the p-value of the debiased square.
    """
    variance, residual, mean = sums.label_variance, sums.residual, sums.q / sums.weight
    total = float(variance.sum())
    if total <= 0:  # every probability is 0 or 1
        return 1.0 if not (sums.squared_residual > 0).any() else 0.0
    lean = 1 - 2 * mean
    # (1 - 2 q) (q - y) is exact. Powers of q inside a bin are replaced by powers of its
    # mean.
    # (1 - 2 q) (q - y) = q - y - 2 q^2 + 2 q y
    slope = float((residual - 2 * (sums.qq - sums.yq)).sum())
    thirds = variance * lean
    weights = list(WEIGHTS)
    if total < N_SMOOTH:  # too few labels are expected to vary for the polynomials
        weights[2] = 0.0
    p_values = [
        linear_p_value(float(residual.sum()), total, -float(thirds.sum())),
        linear_p_value(
            slope, float(variance @ lean**2), -float((thirds * lean**3).sum())
        ),
        _smooth_p_value(residual, variance, mean),
        square_p_value,
    ]
    return combine(p_values, weights)


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


def _smooth_p_value(
    residual: np.ndarray, variance: np.ndarray, mean: np.ndarray
) -> float:
    """Return the p-value of Neyman's smooth test.

    The sum of squares is matched by its first two moments, which include the fourth
    cumulants of the labels.
    """
    basis = smooth_basis(variance)
    total = float(variance.sum())
    if total < 1e-100:
        return 1.0
    coefficients = basis @ residual / math.sqrt(total)
    covariance = (basis * variance) @ basis.T / total
    # theory, (I21); fourth cumulant of a Bernoulli variable
    kurtosis = variance * (1 - 6 * mean * (1 - mean))
    own = (basis**2).sum(axis=0)
    spread = 2 * float((covariance**2).sum())
    spread += float(own**2 @ kurtosis) / total / total
    return scaled_chi_square_p_value(
        float(coefficients @ coefficients), float(np.trace(covariance)), spread
    )


def smooth_basis(variance: np.ndarray) -> np.ndarray:
    """Return the orthonormal polynomials at the midpoint of each bin.

    Midpoints are in [-1, 1], by the shares of the bins in the variance.
    """
    end = np.cumsum(variance)
    top = max(float(end[-1]), 1e-300)
    degrees = np.arange(min(N_SMOOTH, variance.size))
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
    over groups by Student's distribution.
    """
    e, n = bins.entries, bins.count_sum
    factors = (np.ones(n.size), 1 - 2 * bins.mean_proba)
    n_effective = bins.n_effective_groups
    freedom = max(n_effective - 1, 1.0)
    # same quantile, longer tail: the variance of T is estimated from few groups
    widened = float(stdtr(freedom, ndtri(max(square_p_value, 1e-300))))
    p_values, weights = [widened], [WEIGHTS[3]]
    for factor, weight in zip(factors, WEIGHTS[:2], strict=True):
        value = e.by_group(e.residual * factor[e.set])
        expected = float(n @ (bins.label_variance * factor**2))
        # Residuals of all classes of a row sum to 0 and contain no information.
        if float(np.abs(value).max()) > 1e-12 * float(bins.group_weight.max()):
            p_values.append(student_p_value(value, bins.same, n_effective, expected))
            weights.append(weight)
    return combine(p_values, weights)


def student_p_value(
    value: np.ndarray, same: np.ndarray, n_effective: float, expected: float
) -> float:
    """Return the two-sided p-value of a sum over groups that has mean 0."""
    square, total = float(same @ value**2), float(value.sum())
    if square <= 0:
        return 1.0
    freedom = max(n_effective - 1, 1.0)
    centred = max(square - total**2 / n_effective, 0.0) * n_effective / freedom
    # Labels that almost never vary have no observed variance.
    expected_rows = max(expected, 1e-12)
    # as (G2): the expected variance in labels is the weight of the observed one
    variance = (expected_rows * max(centred, 1e-300) + expected) / (expected_rows + 1)
    return min(1.0, 2 * float(stdtr(freedom, -abs(total) / math.sqrt(variance))))
