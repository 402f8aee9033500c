"""Intervals by simulation: basic bootstrap of the debiased square, and Algorithm 2."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ._bins import BinSums
from ._grouped_bins import GroupedBins

# Number of simulated values in memory at a time (8 bytes each).
_BLOCK = 2_000_000


def pivots_of_bins(
    sums: BinSums, n_samples: int, generator: np.random.Generator
) -> np.ndarray:
    """Return T* - S for labels drawn in every bin with the observed frequency.

    If the observed frequencies were true, the squared error would be the plug-in S, and
    T* = sum w ((q - p*)^2 - p* (1 - p*) / (n - 1)) is an unbiased estimate of S.
    """
    n, q = sums.weight, sums.q / sums.weight
    share, p = n / n.sum(), np.clip(sums.y / n, 0, 1)
    truth = float(share @ (q - p) ** 2)
    # A weight that is not an integer is rounded for the draw.
    trials = np.maximum(np.rint(n), 2).astype(np.int64)
    pivots = np.empty(n_samples)
    step = max(1, _BLOCK // n.size)
    for start in range(0, n_samples, step):
        size = (min(step, n_samples - start), n.size)
        drawn = generator.binomial(trials, p, size) / trials
        square = (q - drawn) ** 2 - drawn * (1 - drawn) / (trials - 1)
        pivots[start : start + step] = square @ share - truth
    return pivots


def pivots_of_groups(
    bins: GroupedBins, n_samples: int, generator: np.random.Generator
) -> np.ndarray:
    """Return T* - S for groups drawn with replacement.

    Each draw counts as a separate group, even if the same group is drawn twice. The
    squared error of the resampled population is therefore the plug-in S over the bins.
    """
    residual, count, number = bins.single_groups()
    share = bins.weight / bins.weight.sum()
    n = bins.count_sum
    truth = float(share @ (bins.residual_sum / n) ** 2)
    own, own_n = residual * residual, count * count
    n_draws, chance = max(2, round(number.sum())), number / number.sum()
    pivots = np.empty(n_samples)
    step = max(1, _BLOCK // max(number.size, share.size))
    for start in range(0, n_samples, step):
        size = min(step, n_samples - start)
        drawn = generator.multinomial(n_draws, chance, size).astype(np.float64)
        products = (drawn @ residual) ** 2 - drawn @ own
        pairs = (drawn @ count) ** 2 - drawn @ own_n
        some = pairs > 1e-9 * n**2
        square = np.divide(products, pairs, out=np.zeros_like(products), where=some)
        # Bins without two of the drawn groups contain no information.
        weight = np.where(some, share, 0)
        total = np.maximum(weight.sum(axis=1), 1e-300)
        pivots[start : start + step] = (square * weight).sum(axis=1) / total - truth
    return pivots


def basic_interval(
    square: float, pivots: np.ndarray, level: float
) -> tuple[float, float]:
    """Return the interval of the error, [T - pivot quantiles], with equal tails."""
    # basic bootstrap: the upper quantile of T* - S gives the lower end
    tails = np.quantile(pivots, [(1 + level) / 2, (1 - level) / 2])
    low, high = np.sqrt(np.clip(square - tails, 0, 1))
    return float(low), float(high)


def simulate_errors(
    sums: BinSums, n_samples: int, generator: np.random.Generator
) -> np.ndarray:
    """Return simulated calibration errors, step 2 of Algorithm 2."""
    q, p, n = sums.q / sums.weight, sums.y / sums.weight, sums.weight
    p = np.clip(p, 0, 1)
    deviation = np.sqrt(p * (1 - p) / n)
    errors = np.empty(n_samples)
    step = max(1, _BLOCK // n.size)
    for start in range(0, n_samples, step):
        size = (min(step, n_samples - start), n.size)
        drawn = np.clip(generator.normal(p, deviation, size), 0, 1)
        errors[start : start + step] = np.sqrt((drawn - q) ** 2 @ n / n.sum())
    return errors


def simulation_interval(
    sums: BinSums, level: float, n_samples: int, generator: np.random.Generator
) -> tuple[float, float, float]:
    """Return the centre and the ends of the interval of Algorithm 2."""
    errors = simulate_errors(sums, n_samples, generator)
    centre, half = errors.mean(), float(ndtri((1 + level) / 2)) * errors.std(ddof=1)
    low, high = np.clip([centre - half, centre + half], 0, 1)
    return float(centre), float(low), float(high)
