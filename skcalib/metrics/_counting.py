"""Adaptive bins of many pairs without sorting all of them.

The leading bits of floats in [0, 1] have the order of the floats. Counting them gives,
in one pass, a histogram with cells of equal relative width, and the counts show which
cells contain a cut. Only the pairs of these cells are sorted; all other pairs are
summed by cell. The result equals the result of sorting. It takes less time only if
np.sort does not use vector instructions (AVX2 or AVX-512).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._bins import BinSums, Shares, sum_bins
from ._sorted_pairs import SortedRows

# More cells than 2 ** (10 + 12), the exponents times the leading bits of the
# significand, would no longer stay in the cache.
_MOST_BITS = 12

# Smaller numbers of pairs are sorted just as fast.
LEAST_COUNTED = 2**18

# With fewer pairs in a bin, most pairs share a cell with a cut and must be sorted.
_LEAST_SIZE = 1000

# Number of probabilities in a block (8 bytes each). Each block adds its sums to the
# sums of all cells, so a block should not be much smaller than the number of cells.
_BLOCK = 2**21

# This number of roundings in sequence changes a sum by at most 5e-13 of its value.
_FEW = 2**13


def mantissa_bits(n_bins: int) -> int:
    """Return the number of leading bits of the significand that make a cell.

    The number is large enough that a bin spans several cells at its widest place, and
    that few pairs share a cell with a cut.
    """
    return int(np.clip(n_bins.bit_length() + 1, 7, _MOST_BITS))


def counting_pays(n: int, n_bins: int) -> bool:
    """Return whether few enough cells are expected to contain a cut."""
    few_bins = n_bins * _LEAST_SIZE <= n and n_bins < 2 ** (_MOST_BITS + 1)
    return few_bins and n >= LEAST_COUNTED


class Cells:
    """Cell of each number in [0, 1], and the sums of numbers and squares by cell.

    The cells of single numbers are computed again when they are needed, one block at a
    time, which is faster than reading them from memory.
    """

    def __init__(self, q: np.ndarray, mantissa_bits: int):
        q = np.ascontiguousarray(q)
        integer = np.int32 if q.dtype == np.float32 else np.int64
        self.bits: np.ndarray = q.view(integer)
        if self.bits.size and self.bits.min() < 0:  # -0.0
            q = q + 0.0
            self.bits = q.view(self.bits.dtype)
        self.q = q
        self.mantissa_bits = mantissa_bits
        info = np.finfo(q.dtype)
        self.shift = info.nmant - mantissa_bits
        # The key of 1.0 is the largest: its exponent is the bias of the type.
        self.n_cells = ((info.maxexp - 1) << mantissa_bits) + 1
        self.count = np.zeros(self.n_cells, dtype=np.intp)
        for _, key in self._blocks():
            self.count += np.bincount(key, minlength=self.n_cells)

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the rows of each block and their cells, in an array that is reused."""
        key = np.empty(min(_BLOCK, self.q.size), dtype=np.intp)
        for start in range(0, self.q.size, _BLOCK):
            rows = slice(start, min(start + _BLOCK, self.q.size))
            bits = self.bits[rows]
            yield rows, np.right_shift(bits, self.shift, out=key[: bits.size])

    def edges(self, cells: np.ndarray) -> np.ndarray:
        """Return the lower edges of the cells, float64."""
        edges = (cells << self.shift).astype(self.bits.dtype).view(self.q.dtype)
        return edges.astype(np.float64)

    def weights(self, weight: np.ndarray) -> np.ndarray:
        """Return the sum of the weights of each cell."""
        total = np.zeros(self.n_cells)
        for rows, key in self._blocks():
            total += np.bincount(key, weight[rows], self.n_cells)
        return total

    def select(self, cells: np.ndarray) -> np.ndarray:
        """Return the numbers that are in a cell where `cells` is True."""
        inside = np.empty(min(_BLOCK, self.q.size), dtype=bool)
        found = []
        for rows, key in self._blocks():
            # the keys are in range, so 'clip' avoids a check
            cells.take(key, out=inside[: key.size], mode="clip")
            found.append(self.q[rows][inside[: key.size]])
        return np.concatenate(found) if found else self.q

    def below(self, values: np.ndarray) -> np.ndarray:
        """Return how many numbers are at most as large as each value."""
        used = np.flatnonzero(self.count)
        edge, end = self.edges(used), np.cumsum(self.count[used])
        place = np.searchsorted(edge, values, side="right") - 1
        # Only the cell that contains the value has numbers on both sides of the value.
        opened = np.zeros(self.n_cells, dtype=bool)
        opened[used[place[place >= 0]]] = True
        inside = np.sort(self.select(opened)).astype(np.float64, copy=False)
        passed = np.searchsorted(inside, values, side="right")
        passed -= np.searchsorted(inside, edge[place], side="left")
        rank = end[place] - self.count[used][place] + passed
        return np.where(place >= 0, rank, 0)

    def sums(self, cells: np.ndarray, squares: bool) -> list[np.ndarray]:
        """Return the sums of q, and with `squares` of q^2, in the given cells.

        bincount adds in sequence, so its rounding error grows with the count. If a
        count is not small, only the distances to the lower edges of the cells are
        added. The distances are exact, and the rounding error of their sums is
        negligible.
        """
        count = self.count[cells]
        if not squares and count.max(initial=0) <= _FEW:
            return [self.weights(self.q)[cells]]
        first = np.zeros(self.n_cells)
        second = np.zeros(self.n_cells if squares else 0)
        for rows, key in self._blocks():
            edge = (self.bits[rows] & (-1 << self.shift)).view(self.q.dtype)
            rest = np.subtract(self.q[rows], edge, out=edge)
            rest = rest.astype(np.float64, copy=False)
            first += np.bincount(key, rest, self.n_cells)
            if squares:
                np.square(rest, out=rest)
                second += np.bincount(key, rest, self.n_cells)
        edge, first = self.edges(cells), first[cells]
        if not squares:
            return [count * edge + first]
        return [
            count * edge + first,
            count * edge**2 + 2 * edge * first + second[cells],
        ]


def count_bins(
    q: np.ndarray,
    positive_q: np.ndarray,
    bounds: np.ndarray,
    *,
    squares: bool = True,
    cells: Cells | None = None,
) -> BinSums:
    """Return the sums in the bins between consecutive ranks, including 0 and n.

    The result equals ``sum_bins(SortedRows(q, positive_q), bounds)``. Without
    `squares`, the sums of q^2 and y q are NaN, and the function is a fifth faster.
    `cells` are the cells of q, if they have been computed already.
    """
    bits = mantissa_bits(bounds.size - 1) if cells is None else cells.mantissa_bits
    rows = Cells(q, bits) if cells is None else cells
    positives = Cells(positive_q, bits)
    used = np.flatnonzero(rows.count)
    end = np.cumsum(rows.count[used])
    # The pairs of cells that contain the first or last pair of a bin are sorted.
    ends_of_bins = np.union1d(bounds[:-1], bounds[1:] - 1)
    opened = np.zeros(rows.n_cells, dtype=bool)
    opened[used[np.searchsorted(end, ends_of_bins, side="right")]] = True
    detail = SortedRows(rows.select(opened), positives.select(opened))
    closed = ~opened[used]
    whole, stop = used[closed], end[closed]
    passed = np.concatenate([[0], np.cumsum(rows.count[whole])])
    detail_bounds = bounds - passed[np.searchsorted(stop, bounds, side="right")]
    place = np.searchsorted(bounds[1:-1], stop, side="left")
    n_bins = bounds.size - 1
    return sum_bins(detail, detail_bounds) + _whole_cells(
        rows, positives, whole, place, n_bins, squares
    )


def _whole_cells(
    rows: Cells,
    positives: Cells,
    cells: np.ndarray,
    place: np.ndarray,
    n_bins: int,
    squares: bool,
) -> BinSums:
    """Return the sums over whole cells, each in its bin."""

    def by_bin(values: np.ndarray) -> np.ndarray:
        return np.bincount(place, values, n_bins)

    nothing, unknown = np.zeros(0), np.full(n_bins, np.nan)
    q, *qq = map(by_bin, rows.sums(cells, squares))
    return BinSums(
        weight=by_bin(rows.count[cells]),
        q=q,
        y=by_bin(positives.count[cells]),
        qq=qq[0] if squares else unknown,
        yq=by_bin(positives.sums(cells, False)[0]) if squares else unknown,
        low=nothing,
        high=nothing,
        shares=Shares(*[nothing] * 6),
    )
