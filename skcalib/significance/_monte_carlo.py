"""Resampled gains, and what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._counts import resample_distinct_sums
from ._items import PairedItems

# With fewer extreme resamples, 'auto' looks for another method.
_FEWEST_EXTREME = 50


@dataclass
class Extremes:
    """How many of n resamples are beyond the upper, the lower, and either threshold."""

    upper: int = 0
    lower: int = 0
    either: int = 0
    n: int = 0

    def add(self, upper: np.ndarray, lower: np.ndarray, alternative: str) -> None:
        """Count some more resamples, of which it is known what they reach."""
        self.upper += int(np.count_nonzero(upper))
        self.lower += int(np.count_nonzero(lower))
        sides = {"greater": upper, "less": lower}
        either = sides[alternative] if alternative in sides else upper | lower
        self.either += int(np.count_nonzero(either))
        self.n += len(either)

    @property
    def is_rare(self) -> bool:
        """Whether a share of them says little about a p-value."""
        return self.either < min(_FEWEST_EXTREME, self.n / 20)


@dataclass(frozen=True)
class ResampledGains:
    """Gains d* of resamples.

    Attributes
    ----------
    values : ndarray of shape (n_resamples,)
    upper, lower : ndarray of bool
        Whether d* reaches the threshold from below, and from above, ties counted in.
    n_undefined : int
        Number of resamples in which a system's metric was 0/0.
    gain : float
        The gain d that was seen.
    """

    values: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    n_undefined: int
    gain: float

    @property
    def n(self) -> int:
        """Number of resamples."""
        return self.values.size

    def extremes(self, alternative: str) -> Extremes:
        """Return how many are at least as extreme as the gain that was seen."""
        seen = Extremes()
        seen.add(self.upper, self.lower, alternative)
        return seen

    @cached_property
    def distances(self) -> np.ndarray:
        """|d* - d|, sorted."""
        return np.sort(np.abs(self.values - self.gain))

    def half_width(self, level: float) -> float:
        """Return the largest distance x whose p-value (s + 1) / (b + 1) is 1 - level.

        s counts resamples with |d* - d| >= x.
        """
        reached = math.ceil((1 - level) * (1 - 1e-12) * (self.n + 1)) - 1
        return float(self.distances[-max(reached, 1)])


def plain_p_value(n_extreme: int, n_resamples: int) -> tuple[float, float]:
    """Return (s + 1) / (b + 1) and its Monte Carlo standard error."""
    p = (n_extreme + 1) / (n_resamples + 1)
    return p, math.sqrt(p * (1 - p) / n_resamples)


def resample_gains(
    items: PairedItems,
    alternative: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> ResampledGains:
    """Draw resamples of the items and return their gains."""
    up, down = thresholds(items.gain, alternative)
    linear = items.linear
    if linear is None:
        rows, times = items.distinct
        sums = resample_distinct_sums(rows, times, n_resamples, rng)
        values, undefined = items.gains(sums)
        above, below = values - up, values - down
        tolerance = items.tolerance
    else:
        rows = np.column_stack([linear.difference, linear.length])
        sums = resample_distinct_sums(rows, linear.times, n_resamples, rng)
        d, length = sums.T
        undefined = length == 0
        values = np.divide(d, length, out=np.zeros_like(d), where=~undefined)
        above, below, tolerance = values - up, values - down, items.tolerance
        if linear.is_integer and _fits(linear.total, linear.length_total, linear.n):
            # ties as whole numbers: d* N against 2 D l*
            up, down = thresholds(linear.total, alternative)
            length = np.where(undefined, 1, length)
            above = d * linear.length_total - up * length
            below = d * linear.length_total - down * length
            tolerance = 0.5
    return ResampledGains(
        values=values,
        upper=above >= -tolerance,
        lower=below <= tolerance,
        n_undefined=int(undefined.sum()),
        gain=items.gain,
    )


def thresholds(gain: float, alternative: str) -> tuple[float, float]:
    """Return what d* must reach from below, and from above."""
    if alternative == "two-sided":
        return gain + abs(gain), gain - abs(gain)
    return 2 * gain, 2 * gain


def sides(gain: float, alternative: str) -> list[tuple[float, int]]:
    """Return the thresholds of the tails, with the sign of what is beyond."""
    up, down = thresholds(gain, alternative)
    upper, lower = (up, 1), (down, -1)
    return {"greater": [upper], "less": [lower]}.get(alternative, [upper, lower])


def _fits(total: int, length_total: int, n: int) -> bool:
    """Return whether products of sums of a resample are exact in float64."""
    return 4 * abs(total) * length_total * n < 2**53
