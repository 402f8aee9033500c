"""The cells of a sketch: a fixed grid on [0, 1], and what is kept of each cell.

The grid is fine near both ends. Let x be the distance of q to the nearer end, which
float64 holds exactly. A cell is where two grids meet: steps of 2 ** -n_bits, and 2 **
(n_bits - 8) steps to every halving of x, which are the narrower ones below 2 ** -8. As
both grids number their steps upwards, the sum of the two numbers is a number of the
cell, and costs a shift and a product.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ._bins import SortedCells

# Below this power of 2 all x share a cell.
_LEAST_EXPONENT = -64

# Steps to a halving of x are finer than the even ones below 2 ** -_EVEN.
_EVEN = 8

# Probabilities whose cells are held at once: so few stay in the cache.
_BLOCK = 2**14

# What stands for the value of a cell that holds no pairs, or different values.
_EMPTY, _MIXED = -1.0, 2.0

_INFO = np.finfo(np.float64)


class Grid:
    """Numbers the cells of [0, 1] in ascending order; some numbers stay unused.

    Attributes
    ----------
    n_cells : int
    low, high : ndarray of shape (n_cells,)
        Edges of each cell.
    """

    def __init__(self, n_bits: int):
        self.n_bits = n_bits
        self.step = 2.0**-n_bits
        log_bits = n_bits - _EVEN
        self._shift = _INFO.nmant - log_bits
        bias = _INFO.maxexp - 1
        self._first = ((bias + _LEAST_EXPONENT) << log_bits) - 1
        steps = np.arange(self._first + 1, (bias - 1) << log_bits) << self._shift
        even = np.arange(2 ** (n_bits - 1) + 1) * self.step
        edges = np.union1d(steps.view(np.float64), even)
        # edges have the numbers of the cells behind them
        number = self._place(edges)[0]
        half = int(number[-1]) + 1
        self.n_cells = 2 * half
        self.low, self.high = np.zeros(self.n_cells), np.zeros(self.n_cells)
        self.low[number] = edges
        self.high[number] = np.r_[edges[1:], 0.5]
        self.low[half:] = 1 - self.high[half - 1 :: -1]
        self.high[half:] = 1 - self.low[half - 1 :: -1]

    def _place(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the cell from the end, and the rest of an even step."""
        number = x.view(np.int64) >> self._shift
        number -= self._first
        np.maximum(number, 0, out=number)
        rest = x * 2.0**self.n_bits
        even = rest.astype(np.int64)
        number += even
        rest -= even
        return number, rest

    def place(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell of each probability, float64, and its distance to a step.

        It is that of x to the next even step towards the end, in steps, and exact.
        """
        cell, rest = self._place(np.minimum(q, 1 - q))
        return np.where(q > 0.5, self.n_cells - 1 - cell, cell), rest

    def mean(self, cell: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Return the mean probability of cells from the means of these distances."""
        upper = cell >= self.n_cells // 2
        x = np.where(upper, 1 - self.high[cell], self.low[cell])
        x = (np.floor(x * 2.0**self.n_bits) + rest) * self.step
        return np.where(upper, 1 - x, x)


@lru_cache(maxsize=4)
def grid_of(n_bits: int) -> Grid:
    """Return the grid, made once for all sketches of a process."""
    return Grid(n_bits)


class SketchedCells(SortedCells):
    """Cells in ascending order of q, each as if all its pairs had their mean q.

    The q of a cell lie in [low, high]; where these are equal they are all the same.
    """

    def __init__(
        self,
        q: np.ndarray,
        weight: np.ndarray,
        positive: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
    ):
        self.q, self.weight, self.positive = q, weight, positive
        self.low, self.high = low, high
        self._accumulate()


class CellTable:
    """Sums over the pairs of each cell of a grid, to which pairs can be added.

    Attributes
    ----------
    weight : ndarray of shape (n_cells, 2)
        Sum of weights, of negatives and of positives.
    rest : ndarray of shape (n_cells,)
        Sum of w times the distance to an even step, whose rounding is nothing beside
        that of a sum of w q.
    value : ndarray of shape (n_cells,)
        The probability of all pairs, where they have the same.
    """

    def __init__(self, n_bits: int):
        self.grid = grid_of(n_bits)
        self.weight = np.zeros((self.grid.n_cells, 2))
        self.rest = np.zeros(self.grid.n_cells)
        self.value = np.full(self.grid.n_cells, _EMPTY)

    def add(
        self, q: np.ndarray, positive: np.ndarray, weight: np.ndarray | None
    ) -> None:
        """Add pairs."""
        by_label = self.weight.reshape(-1)
        for start in range(0, q.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = np.add(q[rows], 0.0, dtype=np.float64)  # -0.0 is 0.0
            cell, rest = self.grid.place(block)
            self._compare(cell, block)
            w = 1.0 if weight is None else weight[rows]
            np.add.at(self.rest, cell, rest * w)
            cell *= 2
            cell += positive[rows]
            np.add.at(by_label, cell, w)

    def _compare(self, cell: np.ndarray, q: np.ndarray) -> None:
        """Keep the value of cells where all are equal."""
        known = self.value.take(cell)
        new = np.flatnonzero((known != q) & (known != _MIXED))
        if new.size:
            cell, q = cell[new], q[new]
            empty = self.value[cell] == _EMPTY
            self.value[cell[empty]] = q[empty]
            self.value[cell[self.value[cell] != q]] = _MIXED

    def merge(self, other: CellTable) -> None:
        """Add the pairs of another table with the same grid."""
        self.weight += other.weight
        self.rest += other.rest
        differ = (self.value != other.value) & (other.value != _EMPTY)
        empty = self.value == _EMPTY
        self.value[differ] = np.where(empty[differ], other.value[differ], _MIXED)

    def used(self) -> np.ndarray:
        """Return the numbers of the cells that hold pairs."""
        return np.flatnonzero(self.value != _EMPTY)

    def sorted_cells(self) -> SketchedCells:
        """Return the cells that hold pairs."""
        used, grid = self.used(), self.grid
        value, positive = self.value[used], self.weight[used, 1]
        weight = self.weight[used, 0] + positive
        mixed = value == _MIXED
        low = np.where(mixed, grid.low[used], value)
        high = np.where(mixed, grid.high[used], value)
        mean = np.clip(grid.mean(used, self.rest[used] / weight), low, high)
        return SketchedCells(mean, weight, positive, low, high)

    def __getstate__(self) -> dict:
        used = self.used()
        return {
            "n_bits": self.grid.n_bits,
            "used": used.astype(np.int32),
            "weight": self.weight[used],
            "rest": self.rest[used],
            "value": self.value[used],
        }

    def __setstate__(self, state: dict) -> None:
        CellTable.__init__(self, state["n_bits"])
        for name in ("weight", "rest", "value"):
            getattr(self, name)[state["used"]] = state[name]
