"""Tails of a distribution with given mean, variance and skewness.

The distribution is a shifted and scaled chi-squared distribution or its mirror image
(Pearson's type III).
"""

from __future__ import annotations

import math

from scipy.special import chdtr, chdtrc, chdtri, ndtr, ndtri

# A distribution with less skewness than the first number is normal to 4 digits. The
# family does not contain distributions with more skewness than a single squared normal
# variable, which occur with very rare labels: the median would be at the lower end. The
# bound then gives the longer tails.
LEAST, MOST = 1e-3, math.sqrt(8)


def tail_above(standardised: float, skewness: float) -> float:
    """Return the probability of values above a number of standard deviations."""
    return _tail(standardised, skewness, True)


def tail_below(standardised: float, skewness: float) -> float:
    """Return the probability of values below a number of standard deviations."""
    return _tail(standardised, skewness, False)


def quantile(chance: float, skewness: float) -> float:
    """Return the quantile at `chance`, in standard deviations from the mean."""
    size = min(abs(skewness), MOST)
    if size < LEAST:
        return float(ndtri(chance))
    freedom = 8 / size**2
    upper = 1 - chance if skewness > 0 else chance
    value = (float(chdtri(freedom, upper)) - freedom) / math.sqrt(2 * freedom)
    return value if skewness > 0 else -value


def _tail(standardised: float, skewness: float, above: bool) -> float:
    size = min(abs(skewness), MOST)
    if not size >= LEAST:
        return float(ndtr(-standardised if above else standardised))
    if skewness < 0:
        standardised, above = -standardised, not above
    # theory, (I14)
    freedom = 8 / size**2
    # Below its smallest value the distribution has no probability.
    value = max(freedom + standardised * math.sqrt(2 * freedom), 0.0)
    return float(chdtrc(freedom, value) if above else chdtr(freedom, value))
