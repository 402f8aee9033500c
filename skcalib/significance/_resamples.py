"""Bootstrap resamples: counts of the items, sums, and gains.

Small p-values of any smooth metric, from importance sampling of resamples.

Items are drawn with probabilities proportional to e^(theta h), where h is the effect of
an item on the gain. theta is chosen so that the gain at the mean of the drawn sums
equals the threshold. Each resample is weighted by the ratio of its probability under
uniform sampling to its probability under this distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import pdtr

from .._validation import check_integer
from ._paired_items import PairedItems
from ._tail_probabilities import PValue, log_mean_exp, sides, thresholds

# Counts held at once (4 or 8 bytes each).
_BLOCK = 1 << 22

# Number of cells made at once, small enough for the processor cache.
_CELLS = 1 << 18

# Below this number of items, indices are drawn one by one.
_FEW_ITEMS = 60

# Every integer up to here is exact in float32.
_EXACT_IN_FLOAT32 = 1 << 24

# More resamples need gigabytes and hours, and hardly change a p-value.
_MOST_RESAMPLES = 10_000_000

# With fewer extreme resamples, 'auto' looks for another method.
_FEWEST_EXTREME = 50


def check_n_resamples(value: Any, *, name: str = "n_resamples") -> int:
    """Return a number of draws whose results fit into memory."""
    return check_integer(value, minimum=1, maximum=_MOST_RESAMPLES, name=name)


def resample_counts(
    n: int,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    dtype: Any = np.float32,
    block: int = _BLOCK,
) -> Iterator[np.ndarray]:
    """Yield chunks of counts of n draws with replacement from n items.

    Each chunk has shape (chunk, n) and its rows sum to n. Chunks are views of one
    buffer: a chunk is overwritten when the next one is generated.
    """
    step = max(1, min(block // n, n_resamples))
    buffer = np.empty((step, n), dtype=dtype)
    fill = _fill_by_index if n < _FEW_ITEMS else _PoissonCells(n).fill
    # Chunks are filled in parts that stay in the cache.
    inner = max(1, _CELLS // n)
    for start in range(0, n_resamples, step):
        chunk = buffer[: min(step, n_resamples - start)]
        for k in range(0, len(chunk), inner):
            fill(chunk[k : k + inner], rng)
        yield chunk


def iter_sums(
    columns: np.ndarray, n_resamples: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the sums of the columns, of shape (chunk, m), in resamples of the rows.

    Whole numbers are summed without rounding: in float32 while the sums stay below
    2^24.
    """
    whole = columns.dtype.kind in "bui" or (columns == np.rint(columns)).all()
    largest = float(np.abs(columns).max(initial=0)) * len(columns)
    dtype = np.float32 if whole and largest < _EXACT_IN_FLOAT32 else np.float64
    columns = np.ascontiguousarray(columns, dtype=dtype)
    for counts in resample_counts(len(columns), n_resamples, rng, dtype=dtype):
        yield (counts @ columns).astype(np.float64)


def resample_sums(
    columns: np.ndarray, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums of the columns in each resample, of shape (n_resamples, m)."""
    return np.concatenate(list(iter_sums(columns, n_resamples, rng)))


def resample_distinct_sums(
    rows: np.ndarray, times: np.ndarray, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums of resamples of distinct rows; row k occurs times[k] times.

    If few rows are distinct, counts of the distinct rows are drawn instead of counts of
    the items.
    """
    n = int(times.sum())
    # A multinomial draw costs one binomial draw for each distinct row.
    if 16 * len(rows) > n:
        return resample_sums(np.repeat(rows, times, axis=0), n_resamples, rng)
    chance, sums = times / n, np.empty((n_resamples, rows.shape[1]))
    step = max(1, _BLOCK // len(rows))
    for start in range(0, n_resamples, step):
        counts = rng.multinomial(n, chance, min(step, n_resamples - start))
        sums[start : start + step] = counts.astype(np.float64) @ rows
    return sums


def _fill_by_index(counts: np.ndarray, rng: np.random.Generator) -> None:
    n_rows, n = counts.shape
    drawn = rng.integers(0, n, counts.shape)
    # One bincount counts all rows: row k uses the numbers from k n on.
    drawn += n * np.arange(n_rows)[:, np.newaxis]
    counts[:] = np.bincount(drawn.ravel(), minlength=n_rows * n).reshape(n_rows, n)


class _PoissonCells:
    """Multinomial counts from independent Poisson counts and uniform draws.

    Given their total, independent Poisson counts of equal mean are multinomial. They
    are still multinomial if the draws missing from n are made uniformly. The mean is
    slightly below 1, so that the total almost never exceeds n (such a row is drawn
    again).

    A cell is drawn from 16 random bits. The number of the 65,536 values that stand for
    a count is rounded down, and the values left over stand for the distribution of the
    remainders. The counts therefore have exactly the Poisson distribution.
    """

    def __init__(self, n: int):
        # The total exceeds n only beyond 3.5 standard deviations.
        mean = 1 - min(0.5, 3.5 / np.sqrt(n))
        pmf = np.diff(pdtr(np.arange(20), mean), prepend=0.0)
        common = np.where(np.arange(20) < 5, np.floor(pmf * 65536), 0)
        self.bounds = common[:5].cumsum().astype(np.uint16)
        rest = (pmf - common / 65536).cumsum()
        self.rest = rest / rest[-1]

    def fill(self, counts: np.ndarray, rng: np.random.Generator) -> None:
        n_rows, n = counts.shape
        cells = self._cells(n_rows * n, rng).reshape(n_rows, n)
        # signed, since a row may have drawn too many
        missing = n - cells.sum(axis=1, dtype=np.int64)
        for row in np.flatnonzero(missing < 0):
            while missing[row] < 0:
                cells[row] = self._cells(n, rng)
                missing[row] = n - cells[row].sum(dtype=np.int64)
        place = np.repeat(np.arange(n_rows) * n, missing)
        place += rng.integers(0, n, place.size)
        np.add.at(cells.reshape(-1), place, np.uint8(1))
        counts[:] = cells

    def _cells(self, size: int, rng: np.random.Generator) -> np.ndarray:
        top = np.iinfo(np.uint64).max
        words = rng.integers(0, top, -(-size // 4), dtype=np.uint64, endpoint=True)
        # four cells from one 64-bit number
        bits = words.view(np.uint16)[:size]
        cells, above = np.zeros(size, np.uint8), np.empty(size, bool)
        for bound in self.bounds:
            np.greater_equal(bits, bound, out=above)
            cells += above.view(np.uint8)
        # `above` is now: at least the last bound, a value left over for rare counts
        left = np.flatnonzero(above)
        cells[left] = np.searchsorted(self.rest, rng.random(left.size), side="right")
        return cells


@dataclass
class Extremes:
    """Numbers of resamples beyond the upper, the lower, and either threshold."""

    upper: int = 0
    lower: int = 0
    either: int = 0
    n: int = 0

    def add(self, upper: np.ndarray, lower: np.ndarray, alternative: str) -> None:
        """Count further resamples, given which thresholds they reach."""
        self.upper += int(np.count_nonzero(upper))
        self.lower += int(np.count_nonzero(lower))
        sides = {"greater": upper, "less": lower}
        either = sides[alternative] if alternative in sides else upper | lower
        self.either += int(np.count_nonzero(either))
        self.n += len(either)

    @property
    def is_rare(self) -> bool:
        """Whether the resamples are too few for a precise p-value."""
        return self.either < min(_FEWEST_EXTREME, self.n / 20)


def half_width_of_drawn(distances: np.ndarray, level: float) -> float:
    """Return the largest distance x whose p-value (s + 1) / (b + 1) is 1 - level.

    Here s is the number of the b resamples whose gain has a distance of at least x to
    the observed gain.
    """
    # smallest s with (s + 1) / (b + 1) of at least 1 - level
    n = distances.size
    reached = math.ceil((1 - level) * (1 - 1e-12) * (n + 1)) - 1
    place = n - max(reached, 1)
    return float(np.partition(distances, place)[place])


def plain_p_value(n_extreme: int, n_resamples: int) -> tuple[float, float]:
    """Return (s + 1) / (b + 1) and its Monte Carlo standard error."""
    p = (n_extreme + 1) / (n_resamples + 1)
    return p, math.sqrt(p * (1 - p) / n_resamples)


def resample_gains(
    items: PairedItems,
    alternative: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, Extremes, int]:
    """Return gains of resamples, numbers of extreme ones, and how many were 0/0."""
    linear, tolerance = items.linear, items.tolerance
    up, down = thresholds(items.gain, alternative)
    if linear is None:
        rows, times = items.distinct
        sums = resample_distinct_sums(rows, times, n_resamples, rng)
        values, undefined = items.gains(sums)
        above, below = values - up, values - down
    else:
        rows = np.column_stack([linear.difference, linear.length])
        d, length = resample_distinct_sums(rows, linear.times, n_resamples, rng).T
        undefined = length == 0
        values = np.divide(d, length, out=np.zeros_like(d), where=~undefined)
        above, below = values - up, values - down
        total, whole = linear.total, linear.length_total
        # whether products of sums of a resample are exact in float64
        if linear.is_integer and 4 * abs(total) * whole * linear.n < 2**53:
            # ties as whole numbers: d* N against 2 D l*
            up, down = thresholds(total, alternative)
            length = np.where(undefined, 1, length)
            # Both sides are integers, so a tie is exact and .5 separates neighbours.
            above, below = d * whole - up * length, d * whole - down * length
            tolerance = 0.5
    seen = Extremes()
    seen.add(above >= -tolerance, below <= tolerance, alternative)
    return values, seen, int(undefined.sum())


# Largest number of slopes of the gain that are tried, and the smallest effect of the
# items on the gain relative to the effects of their columns.
_MOST_ROUNDS, _LEAST_SLOPE = 16, 1e-8

# Indices held at once (8 bytes each).
_TILTED_BLOCK = 1 << 21


def drawn_p_value(
    items: PairedItems,
    alternative: str,
    method: str,
    seen: Extremes,
    n_draws: int,
    rng: np.random.Generator,
) -> PValue:
    """Return the p-value of plain resamples, or of tilted ones if few are extreme.

    `seen` counts the plain resamples. `n_draws` tilted resamples are drawn for each
    tail, but at least two, which the standard error needs. If `n_draws` is 0, no tilted
    resamples are drawn.

    If no mixture of items reaches a tail in the mean, the probability of the tail is
    estimated from the plain resamples (resamples that are 0/0 may still reach it).
    """
    if n_draws and (method == "tilted" or (method == "auto" and seen.is_rare)):
        found, tilted = [], False
        for threshold, sign in sides(items.gain, alternative):
            tail = tilted_tail(items, threshold, sign, max(n_draws, 2), rng)
            tilted |= tail is not None
            if tail is None:
                p = (seen.upper if sign > 0 else seen.lower) / seen.n
                tail = p, math.sqrt(p * (1 - p) / seen.n)
            found.append(tail)
        if tilted:
            p = math.fsum(tail for tail, _ in found)  # 0 if it underflows
            error = math.hypot(*(error for _, error in found))
            return PValue(min(p, 1.0), "tilted", error)
    p, error = plain_p_value(seen.either, seen.n)
    return PValue(p, "monte_carlo", error)


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
        slope = gain_slope(items, at)
        h, size = sign * (rows @ slope), np.abs(rows) @ np.abs(slope)
        # With mean 0, theta = 0 is the uniform distribution with K = 0.
        h = h - p @ h
        deviation = math.sqrt(float(p @ h**2) * n)
        # If no row moves the gain, h is 0, or differs from it by rounding.
        if not deviation > _LEAST_SLOPE * math.sqrt(float(p @ size**2) * n):
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
    step = max(1, _TILTED_BLOCK // (k if few else max(n, k)))
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
