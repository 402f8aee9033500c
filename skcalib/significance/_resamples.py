"""Bootstrap resamples: counts of the items, sums, and gains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import pdtr

from .._validation import check_integer
from ._paired_items import PairedItems
from ._tail_probabilities import thresholds

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


def n_extreme(above: np.ndarray, below: np.ndarray, alternative: str) -> int:
    """Return how many resamples are extreme, given which reach the thresholds."""
    one_sided = {"greater": above, "less": below}
    return int(np.count_nonzero(one_sided.get(alternative, above | below)))


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


def plain_p_value(seen: int, n_resamples: int) -> tuple[float, float]:
    """Return (s + 1) / (b + 1) and its Monte Carlo standard error."""
    p = (seen + 1) / (n_resamples + 1)
    return p, math.sqrt(p * (1 - p) / n_resamples)


def resample_gains(
    items: PairedItems, alternative: str, n_resamples: int, rng: np.random.Generator
) -> tuple[np.ndarray, int, int]:
    """Return gains of resamples, how many are extreme, and how many were 0/0."""
    linear, tolerance = items.linear, items.tolerance
    up, down = thresholds(items.gain, alternative)
    if linear is None:
        rows, times = items.distinct
        sums = resample_distinct_sums(rows, times, n_resamples, rng)
        values, undefined = items.gains(sums)
    else:
        rows = np.column_stack([linear.difference, linear.length])
        d, length = resample_distinct_sums(rows, linear.times, n_resamples, rng).T
        undefined = length == 0
        values = np.divide(d, length, out=np.zeros_like(d), where=~undefined)
    above, below = values - up, values - down
    if linear is not None and linear.is_integer:
        total, whole = linear.total, linear.length_total
        # whether products of sums of a resample are exact in float64
        if 4 * abs(total) * whole * linear.n < 2**53:
            # ties as whole numbers: d* N against 2 D l*
            up, down = thresholds(total, alternative)
            length = np.where(undefined, 1, length)
            # Both sides are integers, so a tie is exact and .5 separates neighbours.
            above, below = d * whole - up * length, d * whole - down * length
            tolerance = 0.5
    seen = n_extreme(above >= -tolerance, below <= tolerance, alternative)
    return values, seen, int(undefined.sum())
