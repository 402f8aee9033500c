"""The cells of a sketch: a fixed grid on [0, 1], and what is kept of each cell.

The grid is fine near both ends. Let x be the distance of q to the nearer end, which
float64 holds exactly. A cell is where two grids meet: steps of 2 ** -n_bits, and 2 **
(n_bits - 8) steps to every halving of x, which are the narrower ones below 2 ** -8. As
both grids number their steps upwards, the sum of the two numbers is a number of the
cell, and costs a shift and a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from ._bins import SortedCells

# Below this power of 2 all x share a cell.
_LEAST_EXPONENT = -64

# Steps to a halving of x are finer than the even ones below 2 ** -_EVEN.
_EVEN = 8

# Probabilities whose cells are held at once: so few stay in the cache.
_BLOCK = 2**16

_INFO = np.finfo(np.float64)


class Grid:
    """Numbers the cells of [0, 1] in ascending order; some numbers stay unused.

    Attributes
    ----------
    n_cells : int
    anchor : ndarray of shape (n_cells,)
        A number at an edge of each cell. Differences to it are exact, and are small.
    """

    def __init__(self, n_bits: int):
        self.n_bits = n_bits
        self._log_bits = n_bits - _EVEN
        self._shift = _INFO.nmant - self._log_bits
        bias = _INFO.maxexp - 1
        self._first = ((bias + _LEAST_EXPONENT) << self._log_bits) - 1
        half = int(self._from_end(np.array([0.5]))[0]) + 1
        self.n_cells = 2 * half
        steps = np.arange(self._first + 1, (bias - 1) << self._log_bits)
        even = np.arange(1, 2 ** (n_bits - 1) + 1) * 2.0**-n_bits
        # the key numbers edges as it numbers what lies behind them
        edges = np.concatenate([[0.0], (steps << self._shift).view(np.float64), even])
        self.anchor = np.zeros(self.n_cells)
        key = self._from_end(edges)
        self.anchor[key] = edges
        self.anchor[self.n_cells - 1 - key] = 1 - edges

    def _from_end(self, x: np.ndarray) -> np.ndarray:
        key = x.view(np.int64) >> self._shift
        key -= self._first
        np.maximum(key, 0, out=key)
        key += (x * 2.0**self.n_bits).astype(np.int64)
        return key

    def cells(self, q: np.ndarray) -> np.ndarray:
        """Return the number of the cell of each probability, float64 and not -0.0."""
        key = self._from_end(np.minimum(q, 1 - q))
        return np.where(q > 0.5, self.n_cells - 1 - key, key)


@lru_cache(maxsize=4)
def grid_of(n_bits: int) -> Grid:
    """Return the grid, made once for all sketches of a process."""
    return Grid(n_bits)


class SketchedCells(SortedCells):
    """Cells in ascending order of q, each as if all its pairs had their mean q.

    `low` and `high` are the smallest and largest q of a cell.
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
    weight, positive : ndarray of shape (n_cells,)
        Sum of weights, and that of the positives.
    offset : ndarray of shape (n_cells,)
        Sum of w (q - anchor), whose rounding is nothing beside that of w q.
    low, high : ndarray of shape (n_cells,)
        Smallest and largest q.
    """

    NAMES = ("weight", "positive", "offset", "low", "high")

    def __init__(self, n_bits: int):
        self.n_bits = n_bits
        n_cells = grid_of(n_bits).n_cells
        self.weight = np.zeros(n_cells)
        self.positive = np.zeros(n_cells)
        self.offset = np.zeros(n_cells)
        self.low = np.full(n_cells, 2.0)
        self.high = np.full(n_cells, -1.0)

    def add(
        self, q: np.ndarray, positive: np.ndarray, weight: np.ndarray | None
    ) -> None:
        """Add pairs in blocks."""
        grid = grid_of(self.n_bits)
        for rows in _blocks(q.size):
            # -0.0 is 0.0
            x = q[rows].astype(np.float64) + 0.0
            cell = grid.cells(x)
            self._keep_extremes(cell, x)
            x -= grid.anchor.take(cell)
            true = positive[rows]
            if weight is None:
                np.add.at(self.weight, cell, 1.0)
                np.add.at(self.positive, cell[true], 1.0)
            else:
                w = weight[rows]
                x *= w
                np.add.at(self.weight, cell, w)
                np.add.at(self.positive, cell[true], w[true])
            np.add.at(self.offset, cell, x)

    def _keep_extremes(self, cell: np.ndarray, q: np.ndarray) -> None:
        # few pairs are the first, the smallest or the largest of their cell
        below = np.flatnonzero(q < self.low.take(cell))
        np.minimum.at(self.low, cell[below], q[below])
        above = np.flatnonzero(q > self.high.take(cell))
        np.maximum.at(self.high, cell[above], q[above])

    def merge(self, other: CellTable) -> None:
        """Add the pairs of another table with the same grid."""
        self.weight += other.weight
        self.positive += other.positive
        self.offset += other.offset
        np.minimum(self.low, other.low, out=self.low)
        np.maximum(self.high, other.high, out=self.high)

    def used(self) -> np.ndarray:
        """Return the numbers of the cells that hold pairs."""
        return np.flatnonzero(self.weight)

    def sorted_cells(self) -> SketchedCells:
        """Return the cells that hold pairs."""
        used = self.used()
        weight, positive, offset, low, high = (
            getattr(self, name)[used] for name in self.NAMES
        )
        mean = grid_of(self.n_bits).anchor[used] + offset / weight
        # where all are equal this is their value, without rounding
        mean = np.clip(mean, low, high)
        return SketchedCells(mean, weight, np.minimum(positive, weight), low, high)

    def __getstate__(self) -> dict:
        used = self.used()
        columns = {name: getattr(self, name)[used] for name in self.NAMES}
        return {"n_bits": self.n_bits, "used": used.astype(np.int32), **columns}

    def __setstate__(self, state: dict) -> None:
        CellTable.__init__(self, state["n_bits"])
        for name in self.NAMES:
            getattr(self, name)[state["used"]] = state[name]


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, _BLOCK):
        yield slice(start, start + _BLOCK)
