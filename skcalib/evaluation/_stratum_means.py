"""Distribution of a sum of independent stratum means, by numerical convolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.special import betainc, betaincinv

# Cells of the grid of a convolution, and nodes of integrals over a quantile.
_N_CELLS = 2048
_N_NODES = 64
_N_RATIO_NODES = 256

# Probability outside the grid, on each side of each mean.
_OUTSIDE = 1e-10


@dataclass(frozen=True)
class StratumMean:
    """Distribution of offset + weight * mean, for random shares of some values.

    Attributes
    ----------
    values : tuple of float
        Two or three values in ascending order.
    alpha : tuple of float
        Parameters of the Dirichlet distribution of their shares.
    weight, offset : float
        Positive factor of the mean, and constant that is added to the product.
    """

    values: tuple[float, ...]
    alpha: tuple[float, ...]
    weight: float = 1.0
    offset: float = 0.0

    @property
    def variance(self) -> float:
        """The variance of the distribution."""
        total, values = sum(self.alpha), np.array(self.values)
        share = np.array(self.alpha) / total
        spread = float(share @ values**2 - (share @ values) ** 2)
        return self.weight**2 * spread / (total + 1)

    def range(self) -> tuple[float, float]:
        """Return limits that are exceeded with negligible probability."""
        low, middle, high = self.values[0], self.values[-2], self.values[-1]
        total, last = sum(self.alpha), self.alpha[-1]
        first = self.alpha[0] if len(self.alpha) == 3 else total - last
        most = betaincinv(last, total - last, 1 - _OUTSIDE)
        least = betaincinv(last, total - last, _OUTSIDE)
        ends = [middle + (high - middle) * least, middle + (high - middle) * most]
        if middle > low:
            ends[0] -= (middle - low) * betaincinv(first, total - first, 1 - _OUTSIDE)
            ends[1] -= (middle - low) * betaincinv(first, total - first, _OUTSIDE)
        left, right = np.clip(ends, low, high) * self.weight + self.offset
        return float(left), float(right)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Return the probability of a value of at most x."""
        mean = (x - self.offset) / self.weight
        low, high = self.values[0], self.values[-1]
        first, last = self.alpha[0], self.alpha[-1]
        if len(self.values) == 2:
            share = np.clip((mean - low) / (high - low), 0, 1)
            return betainc(last, first, share)
        # Given the share of the middle value, the share of the highest one in the rest
        # has a Beta distribution.
        node, chance = np.polynomial.legendre.leggauss(_N_NODES)
        middle = betaincinv(self.alpha[1], first + last, (node + 1) / 2)[:, np.newaxis]
        rest = (mean - middle * self.values[1]) / np.maximum(1 - middle, 1e-300)
        return (
            chance
            / 2
            @ betainc(last, first, np.clip((rest - low) / (high - low), 0, 1))
        )


def sum_interval(
    means: Sequence[StratumMean], constant: float, level: float
) -> tuple[float, float]:
    """Return the central interval of a constant plus a sum of independent means."""
    if not means:
        return constant, constant
    ranges = [mean.range() for mean in means]
    step = sum(high - low for low, high in ranges) / _N_CELLS
    chances, start = np.ones(1), constant
    for mean, (low, high) in zip(means, ranges, strict=True):
        n_cells = int(np.ceil((high - low) / step))
        edges = low + step * np.arange(n_cells + 1)
        chances = fftconvolve(chances, np.diff(mean.cdf(edges)))
        start += low + step / 2  # the middle of the first cell
    cumulative = np.cumsum(np.clip(chances, 0, None))
    above = start + step * (np.arange(chances.size) + 0.5)
    tail = (1 - level) / 2
    low, high = np.interp(
        np.array([tail, 1 - tail]) * cumulative[-1],
        np.append(0, cumulative),
        np.append(above[0] - step, above),
    )
    return float(low), float(high)


def share_interval(
    part: StratumMean, rest: StratumMean, level: float
) -> tuple[float, float]:
    """Return the central interval of part / (part + rest) for independent means."""
    node = (np.arange(_N_RATIO_NODES) + 0.5) / _N_RATIO_NODES
    first, last = rest.alpha
    others = rest.offset + rest.weight * betaincinv(last, first, node)

    def chance(share: float, tail: float) -> float:
        return float(part.cdf(others * (share / (1 - share))).mean() - tail)

    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        low, high = 1e-12, 1 - 1e-12
        if chance(low, tail) >= 0:
            ends.append(0.0)
        elif chance(high, tail) <= 0:
            ends.append(1.0)
        else:
            ends.append(float(brentq(chance, low, high, args=(tail,), xtol=1e-10)))
    return ends[0], ends[1]
