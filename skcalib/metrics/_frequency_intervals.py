"""Intervals of label frequencies: confidence intervals and consistency bars.

A confidence interval lies around the observed frequency. A consistency bar contains the
label frequencies that occur if every probability is right. The number of positives in a
bin is then a sum of independent Bernoulli variables with probabilities q, and its
distribution is Poisson-binomial. Its mean and variance are known from the sums of q and
q^2, and its third moment is nearly known from the smallest and the largest q. A shifted
binomial distribution has the same three moments. It is the exact distribution if all q
of a bin are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv, ndtri

from ._bins import Bins

# The ends are exact to this share of a bin; halvings alone would need 40 steps.
_PRECISION = 1e-12
_MOST_STEPS = 80

# Below this probability the binomial distribution equals a Poisson distribution to all
# digits.
_LEAST_CHANCE = 1e-9


def brentq(
    function: Callable[..., float],
    start: float,
    stop: float,
    args: tuple[Any, ...] = (),
    *,
    xtol: float = 2e-12,
    rtol: float = 4 * np.finfo(float).eps,
    maxiter: int = 100,
) -> float:
    """Return a root between two numbers at which the signs of a function differ.

    The steps are those of scipy.optimize.brentq (Brent 1973, chapter 4), whose import
    would take a tenth of the time of a command.
    """
    before, x = float(start), float(stop)
    f_before, f = float(function(before, *args)), float(function(x, *args))
    if f_before == 0:
        return before
    if f != 0 and (f_before < 0) == (f < 0):
        raise ValueError("f(a) and f(b) must have different signs")
    other, f_other, step, last = before, f_before, 0.0, 0.0
    for _ in range(maxiter):
        if f_before != 0 and f != 0 and (f_before < 0) != (f < 0):
            other, f_other = before, f_before
            step = last = x - before
        if abs(f_other) < abs(f):
            before, x, other = x, other, x
            f_before, f, f_other = f, f_other, f
        delta, half = (xtol + rtol * abs(x)) / 2, (other - x) / 2
        if f == 0 or abs(half) < delta:
            return x
        tried = np.inf
        if abs(last) > delta and abs(f) < abs(f_before):
            if before == other:  # interpolate between two points, or among three
                tried = -f * (x - before) / (f - f_before)
            else:
                slope = (f_before - f) / (before - x)
                opposite = (f_other - f) / (other - x)
                tried = -f * (f_other * opposite - f_before * slope)
                divisor = opposite * slope * (f_other - f_before)
                tried = tried / divisor if divisor else np.inf
        if 2 * abs(tried) < min(abs(last), 3 * abs(half) - delta):
            last, step = step, tried
        else:
            last = step = half
        before, f_before = x, f
        x += step if abs(step) > delta else math.copysign(delta, half)
        f = float(function(x, *args))
    raise RuntimeError(f"no root was found in {maxiter} steps")


def frequency_interval(
    p: ArrayLike, n: ArrayLike, level: float, method: str = "wilson"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence interval of a frequency p seen in n trials.

    `method` is 'wilson', 'clopper_pearson' or 'normal'.
    """
    p, n = np.asarray(p, dtype=float), np.asarray(n, dtype=float)
    if method == "clopper_pearson":
        k, tail = p * n, (1 - level) / 2
        # The ends for k = 0 and k = n are 0 and 1; the quantiles are not defined.
        some, lack = k > 0, n - k > 1e-9 * n
        low = np.where(some, betaincinv(np.where(some, k, 1), n - k + 1, tail), 0)
        upper = betaincinv(k + 1, np.where(lack, n - k, 1), 1 - tail)
        return low, np.where(lack, upper, 1)
    z = float(ndtri((1 + level) / 2))
    if method == "normal":
        half = z * np.sqrt(p * (1 - p) / n)
        return np.maximum(p - half, 0), np.minimum(p + half, 1)
    # theory, (B1)
    scale = 1 + z**2 / n
    centre = (p + z**2 / (2 * n)) / scale
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / scale
    # At p = 0 and p = 1 both ends are known; the subtraction leaves 1e-17 there.
    low = np.where(p == 0, 0, np.maximum(centre - half, 0))
    return low, np.where(p == 1, 1, np.minimum(centre + half, 1))


def clopper_pearson(p: float, n: float, level: float) -> tuple[float, float]:
    """Return the interval of a frequency p in n trials; n may be fractional."""
    low, high = frequency_interval(p, n, level, "clopper_pearson")
    return float(low), float(high)


def tied_unit(sums: Bins) -> np.ndarray:
    """Return the contribution of one positive row to each bin.

    The contribution is 1 if no tie class is divided. A bin that contains m of the t
    rows of a class gets m / t of each positive of the class. The number of positives
    therefore changes in smaller steps and varies less.
    """
    s = sums.shares
    # Variance m q (1 - q) of m own rows, minus the variance m^2 / t q (1 - q) of the
    # share m / t of t rows.
    spared = s.taken * (1 - s.taken / s.total) * s.value * (1 - s.value)
    variance = sums.q - sums.qq
    lost = np.bincount(s.bin, spared, variance.size)
    share = np.zeros(variance.size)
    unit = 1 - np.divide(lost, variance, out=share, where=variance > 0)
    return np.clip(unit, 1e-9, 1)


def skewness_ratio(
    mean: np.ndarray, variance: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the ratio of the third to the second moment of a label in each bin.

    `variance` is the mean of q (1 - q), and with the mean it gives the variance of q.
    The third moment of q lies between the third moments of two distributions on two
    points each. One of them has a point at the smallest q, the other one at the largest
    q. The mean of both third moments is used.
    """
    spread = np.clip(mean * (1 - mean) - variance, 0, (mean - low) * (high - mean))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left, right = mean - low, high - mean
        # theory, (B3)
        third = spread * ((spread / left - left) + (right - spread / right)) / 2
        third = np.where(spread > 0, third, 0)
        square = mean**2 + spread
        cube = mean**3 + 3 * mean * spread + third
        # E q (1 - q) (1 - 2 q) from the moments of q
        ratio = (mean - 3 * square + 2 * cube) / variance
    return np.clip(np.nan_to_num(ratio), -1, 1)


def _binomial_cut(
    tail: Callable[..., np.ndarray], chance: float, n: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """Return x in [0, n + 1] where a tail of the binomial distribution has `chance`.

    For integers x, P(X < x) is betaincc(x, n + 1 - x, p) and P(X >= x) is
    betainc(x, n + 1 - x, p); both functions are smooth between integers. Chandrupatla's
    method bisects the bracket or moves to the root of the inverse quadratic through the
    last three points.
    """
    sign = 1 if tail is betaincc else -1
    a, b = np.zeros_like(n), n + 1
    # P(X < x) is 0 at 0 and grows to 1; P(X >= x) is 1 there and falls.
    at_0 = -chance if sign > 0 else chance - 1
    fa, fb = np.full_like(n, at_0), np.full_like(n, at_0 + 1)
    step = np.full_like(n, 0.5)
    for _ in range(_MOST_STEPS):
        x = a + step * (b - a)
        fx = sign * (tail(x, n + 1 - x, p) - chance)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        width = np.abs(b - a)
        near = _PRECISION * (n + 1)
        if np.all((width <= 2 * near) | (fa == 0)):
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            place, value = (a - b) / (c - b), (fa - fb) / (fc - fb)
            smooth = (value**2 < place) & ((1 - value) ** 2 < 1 - place)
            curved = fa / (fb - fa) * fc / (fb - fc)
            curved += (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        # The step is a share of the way from a to b.
        step = np.where(smooth & np.isfinite(curved), curved, 0.5)
        least = near / np.maximum(width, 2 * near)
        step = np.clip(step, least, 1 - least)
    return a


def consistency_interval(
    mean: np.ndarray,
    weight: np.ndarray,
    variance: np.ndarray,
    unit: np.ndarray,
    extremes: tuple[np.ndarray, np.ndarray],
    level: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of the label frequency under perfect calibration.

    `variance` is the sum of q (1 - q) in each bin. `unit` is the result of
    :func:`tied_unit`.
    """
    ratio = skewness_ratio(mean, variance / weight, *extremes)
    # If the positives are skewed to the left, the negatives are skewed to the right.
    left = ratio < 0
    count = weight * np.where(left, 1 - mean, mean) / unit
    # theory, (B2): a binomial distribution of n rows with frequency p, shifted
    p = np.maximum((1 - np.abs(ratio)) / 2, _LEAST_CHANCE)
    n = np.maximum(variance / unit, np.finfo(float).tiny) / (p * (1 - p))
    shift, tail = count - n * p, (1 - level) / 2
    # P(X < x) and P(X <= x) differ by one step, so both ends are conservative.
    low = (shift + (_binomial_cut(betaincc, tail, n, p) - 1)) * unit / weight
    high = (shift + _binomial_cut(betainc, tail, n, p)) * unit / weight
    low, high = np.where(left, 1 - high, low), np.where(left, 1 - low, high)
    certain = variance <= 16 * np.finfo(float).eps * weight * mean * (1 - mean)
    low, high = np.where(certain, mean, low), np.where(certain, mean, high)
    return np.clip(np.minimum(low, mean), 0, 1), np.clip(np.maximum(high, mean), 0, 1)
