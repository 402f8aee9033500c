"""The smooth part of the squared error, and the mean of the error.

T, the debiased square over narrow bins, sees errors of every shape, but its noise grows
with the number of bins. Most errors are shifts and temperatures. They lie in the span
of 1, v and v logit q, with v = q (1 - q): these are the changes of q if the intercept
and the slope of a logistic recalibration (Platt scaling) change a little. The squared
length of the projection on this span has the noise of three numbers. By Pythagoras'
theorem it is at most the squared error, whatever the error is, and so is the square of
the mean.

References
----------
.. [1] L. Breiman (1995). "Better subset regression using the nonnegative garrote".
   Technometrics 37(4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, chdtr, chdtrc, logit, ndtr

from ._bins import Bins
from ._frequency_intervals import clopper_pearson
from ._grouped_bins import GroupedBins

# What T has more than the smooth part counts if it is more than this number of standard
# deviations of T. Larger numbers make the estimate better for smooth errors and for
# calibrated models, and worse for jumps and waves. See benchmarks/interval_coverage.py.
_NOISE = 0.65

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


def joined_square(square: float, deviation: float, smooth: SmoothSquare) -> float:
    """Return the squared error from T, its deviation without error, and smooth parts.

    The nonnegative garrote [1]_ shrinks the rest of T beyond the smooth part: nothing
    is left of a rest within the noise, and nearly everything of a large one.
    """
    # theory, (J3) and (J4)
    least = max(smooth.mean**2, smooth.square)
    rest, noise = square - least, _NOISE * deviation
    return square - noise**2 / rest if rest > noise else least


@dataclass(frozen=True)
class MeanBound:
    """Estimate of a mean that is a lower bound on the root mean square error.

    Attributes
    ----------
    frequency : float
        Frequency of labels.
    expected : float
        Expected frequency if each probability were right.
    variance : float
        Variance of the frequency.
    n_least : float
        Lower bound on the number of trials with the same information.
    """

    frequency: float
    expected: float
    variance: float
    n_least: float = 1.0

    def furthest(self, level: float) -> float:
        """Return the largest error that the mean alone would allow."""
        p = self.frequency
        if not (0 < p < 1 and self.variance > 0):
            return 0.0
        # theory, (I17): the binomial distribution with the observed mean and variance
        n = max(min(p * (1 - p) / max(self.variance, 1e-100), 1e15), self.n_least)
        low, high = clopper_pearson(p, n, level)
        return max(abs(low - self.expected), abs(high - self.expected))

    def p_value(self, error: float) -> float:
        """Return the probability of so large a mean if it were `error` at most."""
        n, p, q = self.n_least, self.frequency, self.expected
        if p < q:
            p, q = 1 - p, 1 - q
        # With the smallest number of trials, the p-value is not too small.
        above = _binomial_tail(n * p, n, min(q + error, 1.0))
        below = _binomial_tail(n * (1 - 2 * q + p), n, 1 - max(q - error, 0.0))
        return min(above + below, 1.0)


def _binomial_tail(successes: float, n: float, p: float) -> float:
    """Return the probability of at least a number of successes, also of a fraction."""
    if successes <= 0:
        return 1.0
    return 0.0 if successes > n else float(betainc(successes, n - successes + 1, p))


@dataclass(frozen=True)
class SmoothSquare:
    """Mean residual, and debiased square of the projection on the smooth errors.

    Attributes
    ----------
    mean : float
        Mean residual.
    square : float
        Sum of f_i f_j r_i r_j over different rows (or groups) and three orthonormal
        functions f, divided by the total weight.
    second, third : float
        Sums of the squares and cubes of the eigenvalues of the covariance matrix of the
        coefficients, divided by the powers of the total weight.
    along : float
        Variance of the coefficients in the observed direction, divided by the total
        weight.
    """

    mean: float
    square: float
    second: float
    third: float
    along: float

    def p_value(self, x: float) -> float:
        """Return the probability of so large a square at a smooth squared error x."""
        # theory, (J5): a sum of noncentral chi squares
        variance = 2 * self.second + 4 * x * self.along
        if variance <= 0:
            return float(self.square <= x)
        deviation = math.sqrt(variance)
        third = 8 * self.third + 24 * x * self.along**2
        return tail_above((self.square - x) / deviation, third / deviation**3)


def smooth_square_of_bins(sums: Bins) -> SmoothSquare:
    """Return the smooth part for independent rows."""
    basis = _smooth_functions(sums.weight, sums.q / sums.weight)
    within = (basis * sums.squared_residual[:, np.newaxis]).T @ basis
    return _of_coefficients(basis.T @ sums.residual, within, sums.weight.sum())


def smooth_square_of_groups(bins: GroupedBins) -> SmoothSquare:
    """Return the smooth part for rows that depend on each other within groups."""
    e = bins.entries
    basis = _smooth_functions(bins.count_sum, bins.mean_proba)
    by_group = np.stack([e.by_group(e.residual, each) for each in basis.T])
    within = (by_group * bins.same) @ by_group.T
    return _of_coefficients(by_group.sum(axis=1), within, bins.count_sum.sum())


def _of_coefficients(
    sums: np.ndarray, within: np.ndarray, total: float
) -> SmoothSquare:
    """Return the smooth part from sums of f r and their products inside rows."""
    length = float(sums @ sums)
    along = float(sums @ within @ sums) / length if length > 0 else 0.0
    return SmoothSquare(
        mean=float(sums[0]) / math.sqrt(total),
        # theory, (J2)
        square=(length - float(np.trace(within))) / total,
        second=float((within**2).sum()) / total**2,
        third=float(np.trace(within @ within @ within)) / total**3,
        along=along / total,
    )


def _smooth_functions(weight: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Return 1, v and v logit q of bins as columns, orthonormal under the weights."""
    # theory, (J1)
    variance = proba * (1 - proba)
    log_odds = logit(np.clip(proba, 1e-300, 1 - 2.0**-53))
    columns = np.stack([np.ones_like(proba), variance, variance * log_odds], axis=1)
    columns *= np.sqrt(weight)[:, np.newaxis]
    size = np.linalg.norm(columns, axis=0)
    columns = columns[:, size > 0] / size[size > 0]
    basis, triangle = np.linalg.qr(columns)
    basis = basis[:, np.abs(np.diag(triangle)) > 1e-7]
    basis *= np.sign(basis[0, 0])
    return basis / np.sqrt(weight)[:, np.newaxis]
