"""Resamples as counts: how often each item was drawn, and the sums that follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import pdtr

# Counts held at once (4 or 8 bytes each).
_BLOCK = 1 << 22

# Cells made at once, so few that they stay in a cache near the processor.
_CELLS = 1 << 18

# Below this number of items, indices are drawn one by one.
_FEW_ITEMS = 60

# Every integer up to here is exact in float32.
_EXACT_IN_FLOAT32 = 1 << 24


def resample_counts(
    n: int,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    dtype: Any = np.float32,
    block: int = _BLOCK,
) -> Iterator[np.ndarray]:
    """Yield chunks of counts of n draws with replacement from n items.

    Each chunk has shape (chunk, n), its rows sum to n. Chunks are views of one buffer:
    use a chunk before the next is asked for.
    """
    step = max(1, min(block // n, n_resamples))
    buffer = np.empty((step, n), dtype=dtype)
    fill = _fill_by_index if n < _FEW_ITEMS else _PoissonCells(n).fill
    inner = max(1, _CELLS // n)
    for start in range(0, n_resamples, step):
        chunk = buffer[: min(step, n_resamples - start)]
        for k in range(0, len(chunk), inner):
            fill(chunk[k : k + inner], rng)
        yield chunk


def resample_sums(
    columns: np.ndarray, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums of the columns in each resample of the rows.

    `columns` has shape (n, m), the result (n_resamples, m). Whole numbers are summed
    without rounding: in float32 while the sums stay below 2^24.
    """
    n, m = columns.shape
    dtype = sum_type(columns)
    right = np.ascontiguousarray(columns, dtype=dtype)
    sums = np.empty((n_resamples, m))
    start = 0
    for counts in resample_counts(n, n_resamples, rng, dtype=dtype):
        sums[start : start + len(counts)] = counts @ right
        start += len(counts)
    return sums


def resample_distinct_sums(
    rows: np.ndarray, times: np.ndarray, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums of resamples of distinct rows, row k of which is there times[k].

    Where few rows are distinct, their counts are drawn instead of those of the items.
    """
    n = int(times.sum())
    if 16 * len(rows) > n:
        return resample_sums(np.repeat(rows, times, axis=0), n_resamples, rng)
    chance, sums = times / n, np.empty((n_resamples, rows.shape[1]))
    step = max(1, _BLOCK // len(rows))
    for start in range(0, n_resamples, step):
        counts = rng.multinomial(n, chance, min(step, n_resamples - start))
        sums[start : start + step] = counts.astype(np.float64) @ rows
    return sums


def sum_type(columns: np.ndarray) -> Any:
    if columns.dtype.kind in "bui" or (columns == np.rint(columns)).all():
        largest = float(np.abs(columns).max(initial=0)) * len(columns)
        if largest < _EXACT_IN_FLOAT32:
            return np.float32
    return np.float64


def _fill_by_index(counts: np.ndarray, rng: np.random.Generator) -> None:
    n_rows, n = counts.shape
    drawn = rng.integers(0, n, counts.shape)
    drawn += n * np.arange(n_rows)[:, np.newaxis]
    counts[:] = np.bincount(drawn.ravel(), minlength=n_rows * n).reshape(n_rows, n)


class _PoissonCells:
    """Counts from independent Poisson cells and a uniform rest.

    Given their total, independent Poisson counts of equal mean are multinomial; so are
    they with what is missing to n drawn uniformly. The mean is a little below 1, so
    that almost never too many are drawn (such a row is made anew).

    A cell is 16 random bits: of the 65,536 values of these, the share of a count in
    them is rounded down, and what is left over stands for the law of the remainders.
    So the law is that of Poisson, not a rounded one.
    """

    def __init__(self, n: int):
        mean = 1 - min(0.5, 3.5 / np.sqrt(n))
        law = np.diff(pdtr(np.arange(20), mean), prepend=0.0)
        common = np.where(np.arange(20) < 5, np.floor(law * 65536), 0)
        self.bounds = common[:5].cumsum().astype(np.uint16)
        rest = (law - common / 65536).cumsum()
        self.rest = rest / rest[-1]

    def fill(self, counts: np.ndarray, rng: np.random.Generator) -> None:
        n_rows, n = counts.shape
        cells = self._cells(n_rows * n, rng).reshape(n_rows, n)
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
        bits = words.view(np.uint16)[:size]
        cells, above = np.zeros(size, np.uint8), np.empty(size, bool)
        for bound in self.bounds:
            np.greater_equal(bits, bound, out=above)
            cells += above.view(np.uint8)
        left = np.flatnonzero(above)
        cells[left] = np.searchsorted(self.rest, rng.random(left.size), side="right")
        return cells
