"""Small p-values of any smooth metric, from importance sampling of resamples.

Items are drawn with probabilities proportional to e^(theta h), where h is the effect of
an item on the gain. theta is chosen so that the gain at the mean of the drawn sums
equals the threshold. Each resample is weighted by the ratio of its probability under
uniform sampling to its probability under this distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ._paired_items import PairedItems
from ._resamples import Extremes, plain_p_value, sides
from ._tail_probabilities import log_mean_exp

# Largest number of slopes of the gain that are tried.
_MOST_ROUNDS = 16

# Indices held at once (8 bytes each).
_BLOCK = 1 << 21


class DrawnPValue(NamedTuple):
    """A p-value, its Monte Carlo standard error, and its method."""

    pvalue: float
    error: float
    method: str


def drawn_p_value(
    items: PairedItems,
    alternative: str,
    method: str,
    seen: Extremes,
    n_draws: int,
    rng: np.random.Generator,
) -> DrawnPValue:
    """Return the p-value of plain resamples, or of tilted ones if few are extreme.

    `seen` counts the plain resamples. `n_draws` tilted resamples are drawn for each
    tail, but at least two, which the standard error needs. If `n_draws` is 0, no tilted
    resamples are drawn.
    """
    rare = method == "auto" and seen.is_rare
    if n_draws and (method == "tilted" or rare):
        tilted = _tilted_p_value(items, alternative, seen, max(n_draws, 2), rng)
        if tilted is not None:
            return DrawnPValue(*tilted, "tilted")
    return DrawnPValue(*plain_p_value(seen.either, seen.n), "monte_carlo")


def _tilted_p_value(
    items: PairedItems,
    alternative: str,
    seen: Extremes,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """Return the p-value and its standard error, or None if no tail can be tilted.

    If no mixture of items reaches a tail in the mean, the probability of the tail is
    estimated from the plain resamples (resamples that are 0/0 may still reach it).
    """
    found, tilted = [], False
    for threshold, sign in sides(items.gain, alternative):
        tail = tilted_tail(items, threshold, sign, n_draws, rng)
        tilted |= tail is not None
        if tail is None:
            p = (seen.upper if sign > 0 else seen.lower) / seen.n
            tail = p, math.sqrt(p * (1 - p) / seen.n)
        found.append(tail)
    if not tilted:
        return None
    p = math.fsum(tail for tail, _ in found)  # 0 if it underflows
    return min(p, 1.0), math.hypot(*(error for _, error in found))


def tilted_tail(
    items: PairedItems,
    threshold: float,
    sign: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """Return P(sign * (d* - threshold) >= 0) and its standard error."""
    rows, times = items.distinct
    p, n = times / items.n, items.n
    tilt = _find_tilt(items, rows, p, threshold, sign)
    if tilt is None:
        return None
    theta, h = tilt
    # theory, (P8)
    log_chance = log_mean_exp(theta, h, p)
    drawn = p * np.exp(theta * h - log_chance)
    drawn /= drawn.sum()
    weights = np.empty(n_resamples)
    columns = np.column_stack([rows, h])
    for start, counts in _draw_counts(drawn, n, n_resamples, rng):
        sums = counts @ columns
        gains = items.gains(sums[:, :-1])[0]
        # The event uses the exact gain; h only chooses the distribution.
        reached = sign * (gains - threshold) >= -items.tolerance
        log_weight = n * log_chance - theta * sums[:, -1]
        weights[start : start + len(counts)] = np.where(reached, log_weight, -np.inf)
    # Weights are scaled by the largest, as they may all underflow.
    largest = float(weights.max())
    if largest == -np.inf:
        return None
    scaled = np.exp(weights - largest)
    error = scaled.std(ddof=1) / math.sqrt(n_resamples)
    return float(scaled.mean()) * math.exp(largest), float(error) * math.exp(largest)


def _find_tilt(
    items: PairedItems, rows: np.ndarray, p: np.ndarray, threshold: float, sign: int
) -> tuple[float, np.ndarray] | None:
    """Return theta >= 0 and the h with which the mean sums reach the threshold.

    h is the slope of the gain at the mean sums, which depend on h. A few iterations
    converge. If no theta reaches the threshold, the next iteration starts from the
    nearest sums. If the slopes oscillate, it starts between these and the previous
    sums.
    """
    n = items.n

    def mean_sums(theta: float, h: np.ndarray) -> np.ndarray:
        weight = p * np.exp(theta * h - (theta * h).max())
        return n * (weight @ rows) / weight.sum()

    at = n * (p @ rows)
    result = None
    for k in range(_MOST_ROUNDS):
        h = sign * (rows @ gain_slope(items, at))
        # With mean 0, theta = 0 is the uniform distribution with K = 0.
        h = h - p @ h
        deviation = math.sqrt(float(p @ h**2) * n)
        if not deviation > 0:
            break

        def missing(theta: float, h: np.ndarray = h) -> float:
            gain = items.gains(mean_sums(theta, h)[np.newaxis])[0]
            return sign * (float(gain[0]) - threshold)

        theta, reached = _root(missing, 1 / deviation)
        if reached:
            settled = result is not None and _is_near(theta * h, result[0] * result[1])
            result = theta, h
            if settled:
                break
        new = mean_sums(theta, h)
        # Half steps end an oscillation between two points.
        at = new if k < _MOST_ROUNDS // 4 else (at + new) / 2
    return result


def _is_near(new: np.ndarray, old: np.ndarray) -> bool:
    return float(np.abs(new - old).max()) <= 0.01 * float(np.abs(new).max())


def _root(missing: Callable[..., float], unit: float) -> tuple[float, bool]:
    """Return the smallest theta >= 0 (approximately) where `missing` is 0, and True.

    If there is none, return the theta at which `missing` is largest, and False.
    """
    low, best, largest = 0.0, 0.0, missing(0.0)
    if largest >= 0:
        return 0.0, True
    high = unit
    for _ in range(60):
        now = missing(high)
        if now >= 0:
            return float(brentq(missing, low, high, rtol=1e-6)), True
        if now > largest:
            best, largest = high, now
        # small steps, so that the smallest root is not passed
        low, high = high, 1.5 * high
    return best, False


def gain_slope(items: PairedItems, sums: np.ndarray) -> np.ndarray:
    """Return the derivatives of the gain with respect to the sums, by differences."""
    # central differences: cube root of the precision of a float
    size = 1e-5 * np.maximum(np.abs(sums), np.abs(sums).max() * 1e-3)
    steps = np.diag(size)
    ahead, behind = items.gains(sums + steps)[0], items.gains(sums - steps)[0]
    return (ahead - behind) / (2 * size)


def _draw_counts(
    chance: np.ndarray, n: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield starts and counts of shape (chunk, len(chance)) of n draws each."""
    k = len(chance)
    # A multinomial draw costs k steps, an alias draw n steps with a smaller factor.
    few = 16 * k <= n
    step = max(1, _BLOCK // (k if few else max(n, k)))
    keep, other = (None, None) if few else _aliases(chance)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        if keep is None or other is None:
            counts = rng.multinomial(n, chance, size)
        else:
            place = rng.integers(0, k, (size, n))
            place = np.where(rng.random((size, n)) < keep[place], place, other[place])
            place += k * np.arange(size)[:, np.newaxis]
            counts = np.bincount(place.ravel(), minlength=size * k).reshape(size, k)
        yield start, counts.astype(np.float64)


def _aliases(chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Walker's alias table: cell i with probability keep[i], else other[i]."""
    k = len(chance)
    keep, other = chance * k, np.arange(k)
    full = keep.tolist()
    small = [i for i, x in enumerate(full) if x < 1]
    large = [i for i, x in enumerate(full) if x >= 1]
    while small and large:
        i, j = small.pop(), large[-1]
        other[i] = j
        # cell j fills the rest of cell i
        full[j] -= 1 - full[i]
        if full[j] < 1:
            small.append(large.pop())
    for i in small + large:  # 1 up to rounding
        full[i] = 1.0
    return np.array(full), other
