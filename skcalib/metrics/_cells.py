"""Tables of cells: mergeable sums over pairs in chunks or Dask arrays.

The cells are a fixed grid on [0, 1], which is finer near both ends. Let x be the
distance of q to the nearer end, which float64 represents exactly. A cell is the
intersection of steps of two grids. The first grid has even steps of 2 ** -n_bits. The
second one has 2 ** (n_bits - 8) steps for every halving of x; below 2 ** -8 these steps
are narrower than the even steps. Both grids number their steps upwards, so the sum of
the two numbers identifies the cell. Computing the sum requires one shift and one
product.

Tables of blocks are merged as a tree. Dask is imported inside functions, and only for
Dask collections.
"""

from __future__ import annotations

import pickle
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._pairs import Pairs, check_pairs
from .._validation import as_floats, is_dask, label_array, on_cpu, positives
from ._bins import Binning, Bins, Ordered, order_cells

# Number of tables that a Dask task merges.
_FAN_IN = 8

# All x below this power of 2 share a cell.
_LEAST_EXPONENT = -64

# Below 2 ** -_EVEN the steps per halving of x are finer than the even steps.
_EVEN = 8

# Number of probabilities in a block; such a block stays in the cache.
_BLOCK = 2**14

# Marks the value of a cell that contains no pairs or different values.
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
        # Floats in ascending order have ascending bit patterns, so equal steps of the
        # leading bits divide each halving of x into equal parts.
        steps = np.arange(self._first + 1, (bias - 1) << log_bits) << self._shift
        even = np.arange(2 ** (n_bits - 1) + 1) * self.step
        edges = np.union1d(steps.view(np.float64), even)
        # An edge has the number of the cell above it.
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
        # number of the logarithmic step: exponent and leading bits
        number = x.view(np.int64) >> self._shift
        number -= self._first
        np.maximum(number, 0, out=number)
        rest = x * 2.0**self.n_bits
        even = rest.astype(np.int64)
        number += even
        rest -= even
        return number, rest

    def place(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell of each float64 probability, and its distance to a step.

        The distance is measured from x to the next even step towards the end, in units
        of steps. It is exact.
        """
        cell, rest = self._place(np.minimum(q, 1 - q))
        return np.where(q > 0.5, self.n_cells - 1 - cell, cell), rest

    def mean(self, cell: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Return the mean probability of cells from mean distances as in `place`."""
        upper = cell >= self.n_cells // 2
        x = np.where(upper, 1 - self.high[cell], self.low[cell])
        x = (np.floor(x * 2.0**self.n_bits) + rest) * self.step
        return np.where(upper, 1 - x, x)


# A grid is made once for all sketches of a process.
grid_of = lru_cache(maxsize=4)(Grid)


class CellTable:
    """Sums over the pairs of each cell of a grid, to which pairs can be added.

    Attributes
    ----------
    weight : ndarray of shape (n_cells, 2)
        Sums of the weights of negatives and of positives.
    rest : ndarray of shape (n_cells,)
        Sum of w times the distance to an even step. Its rounding error is negligible
        compared with the rounding error of a sum of w q.
    value : ndarray of shape (n_cells,)
        The probability of the pairs, if it is the same for all pairs.
    n_samples : int
        Number of pairs.
    row_total : float
        Total weight of the rows. A row contributes one or several pairs.
    negatives : frozenset of int
        Labels of negatives, among 0 and -1.
    is_dependent : bool
        Whether some rows contributed several pairs, which depend on each other.
    """

    def __init__(self, n_bits: int):
        self.grid = grid_of(n_bits)
        self.weight = np.zeros((self.grid.n_cells, 2))
        self.rest = np.zeros(self.grid.n_cells)
        self.value = np.full(self.grid.n_cells, _EMPTY)
        self.n_samples = 0
        self.row_total = 0.0
        self.negatives: frozenset[int] = frozenset()
        self.is_dependent = False

    def add_pairs(
        self, pairs: Pairs, negatives: frozenset[int] = frozenset()
    ) -> CellTable:
        """Add checked pairs, whose negatives have the labels `negatives`."""
        self.negatives = _one_negative(self.negatives | negatives)
        self.__dict__.pop("cells", None)
        self._add(pairs.q, pairs.indicator(), pairs.weight)
        self.n_samples += pairs.q.size
        self.row_total += pairs.row_total
        self.is_dependent |= pairs.n_classes > 1
        return self

    def _add(
        self, q: np.ndarray, positive: np.ndarray, weight: np.ndarray | None
    ) -> None:
        """Add pairs to their cells."""
        by_label = self.weight.reshape(-1)
        for start in range(0, q.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = np.add(q[rows], 0.0, dtype=np.float64)  # -0.0 is 0.0
            cell, rest = self.grid.place(block)
            self._compare(cell, block)
            w = 1.0 if weight is None else weight[rows]
            np.add.at(self.rest, cell, rest * w)
            # columns of the table are negative and positive: index 2 cell + label
            cell *= 2
            cell += positive[rows]
            np.add.at(by_label, cell, w)

    def _compare(self, cell: np.ndarray, q: np.ndarray) -> None:
        """Keep the value of cells whose probabilities are all equal."""
        known = self.value.take(cell)
        new = np.flatnonzero((known != q) & (known != _MIXED))
        if new.size:
            cell, q = cell[new], q[new]
            empty = self.value[cell] == _EMPTY
            self.value[cell[empty]] = q[empty]
            self.value[cell[self.value[cell] != q]] = _MIXED

    def merge(self, other: CellTable) -> CellTable:
        """Add the pairs of another table with the same grid."""
        self.negatives = _one_negative(self.negatives | other.negatives)
        self.__dict__.pop("cells", None)
        self.weight += other.weight
        self.rest += other.rest
        # A cell that is mixed in either table stays mixed.
        differ = (self.value != other.value) & (other.value != _EMPTY)
        empty = self.value == _EMPTY
        self.value[differ] = np.where(empty[differ], other.value[differ], _MIXED)
        self.n_samples += other.n_samples
        self.row_total += other.row_total
        self.is_dependent |= other.is_dependent
        return self

    def used(self) -> np.ndarray:
        """Return the numbers of the cells that contain pairs."""
        return np.flatnonzero(self.value != _EMPTY)

    @cached_property
    def cells(self) -> Ordered:
        """The cells that contain pairs, as if all pairs had the mean q of the cell."""
        used, grid = self.used(), self.grid
        value, positive = self.value[used], self.weight[used, 1]
        weight = self.weight[used, 0] + positive
        mixed = value == _MIXED
        low = np.where(mixed, grid.low[used], value)
        high = np.where(mixed, grid.high[used], value)
        mean = np.clip(grid.mean(used, self.rest[used] / weight), low, high)
        return order_cells(mean, weight, positive, self.row_total, low, high)

    def ordered(self, *, independent: bool = False) -> Ordered:
        """Return the cells; an error if the pairs must be independent and are not."""
        if independent and self.is_dependent:
            raise rows_are_unknown()
        if self.n_samples == 0:
            raise ParameterError(None, "needs pairs, but none have been added.")
        return self.cells

    def bins(self, binning: Binning, *, independent: bool = False) -> Bins:
        """Return the bins of the pairs; an error if they must be independent."""
        return binning.bins(self.ordered(independent=independent))

    def __getstate__(self) -> dict[str, Any]:
        used = self.used()
        state = self.__dict__.copy()
        state.pop("cells", None)
        del state["grid"]
        for name in ("weight", "rest", "value"):
            state[name] = state[name][used]
        return {**state, "n_bits": self.grid.n_bits, "used": used.astype(np.int32)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = state.copy()
        used = state.pop("used")
        CellTable.__init__(self, state.pop("n_bits"))
        for name in ("weight", "rest", "value"):
            getattr(self, name)[used] = state.pop(name)
        self.__dict__.update(state)


def rows_are_unknown() -> ParameterError:
    """Return the error that a result needs to know which pairs share a row."""
    return ParameterError(
        None,
        "does not support pooled classes: pairs of the same row depend on each other, "
        "and a sketch does not store rows. Use one sketch for each class, or "
        "multi_class='top_label'.",
    )


def add_chunk(
    table: CellTable,
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    *,
    pos_label: Any,
    **params: Any,
) -> None:
    """Add the rows of a chunk; `params` are parameters of `check_pairs`."""
    weight = None
    if sample_weight is not None:
        weight = as_floats(sample_weight, name="sample_weight")
    if all(map(_is_empty, (y_true, y_proba))) and (weight is None or not weight.size):
        return
    weightless = weight is not None and not weight.any()
    # Labels and probabilities of a chunk without weight are checked nevertheless.
    (pairs,) = check_pairs(
        y_true,
        y_proba,
        pos_label=pos_label,
        sample_weight=np.ones_like(weight) if weightless else weight,
        are_all=False,
        **params,
    )
    if weightless:
        return
    negatives: frozenset[int] = frozenset()
    if pos_label is None and np.ndim(y_proba) == 1:
        labels = np.asarray(on_cpu(y_true, name="y_true"))
        labels = labels if weight is None else labels[weight > 0]
        negatives = frozenset(label for label in (0, -1) if (labels == label).any())
    table.add_pairs(pairs, negatives)


def _is_empty(values: Any) -> bool:
    is_scalar = getattr(values, "ndim", 1) == 0
    return hasattr(values, "__len__") and not is_scalar and len(values) == 0


def _one_negative(negatives: frozenset[int]) -> frozenset[int]:
    """Return `negatives`, or raise an error if chunks have different negatives."""
    if len(negatives) > 1:
        raise ParameterError(
            "y_true",
            "must contain the same two labels in every chunk. Got 0 and 1 in one "
            "chunk, and -1 and 1 in another.",
        )
    return negatives


def table_of_dask(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    n_bits: int,
    *,
    labels: Any,
    pos_label: Any,
    **params: Any,
) -> CellTable:
    """Return the merged tables of all blocks; `params` are of `check_pairs`."""
    import dask

    y_proba = _as_dask_array(y_proba, name="y_proba")
    if y_proba.ndim == 2:
        y_proba = y_proba.rechunk({1: -1})
    rows, weight = y_proba.chunks[0], sample_weight
    y_true = _with_blocks(y_true, rows, name="y_true")
    if weight is not None:
        weight = _with_blocks(weight, rows, name="sample_weight")
    if y_proba.ndim == 2 and labels is None:
        labels = _labels_of(y_true)
    params |= {"labels": labels, "pos_label": pos_label}
    arrays = (y_true, y_proba, y_true if weight is None else weight)
    blocks = zip(*map(_blocks, arrays), strict=True)
    part = dask.delayed(_table_of_block)
    parts = [
        part(y, q, None if weight is None else w, params, n_bits, i)
        for i, (y, q, w) in enumerate(blocks)
    ]
    merge = dask.delayed(_merge_all)
    while len(parts) > 1:
        firsts = range(0, len(parts), _FAN_IN)
        parts = [merge(parts[first : first + _FAN_IN]) for first in firsts]
    (merged,) = dask.compute(parts[0])
    table = pickle.loads(merged)
    # No block needs to contain the positive label, but some block must.
    if y_proba.ndim == 1 and pos_label is not None and not table.weight[:, 1].any():
        positives(label_array(_labels_of(y_true)), pos_label)
    return table


def _table_of_block(
    y_true: Any,
    y_proba: Any,
    weight: Any,
    params: dict[str, Any],
    n_bits: int,
    number: int,
) -> bytes:
    """Return the pickled table of a block.

    A pickle contains only used cells, and Dask can determine its size.
    """
    table = CellTable(n_bits)
    try:
        add_chunk(table, y_true, y_proba, weight, **params)
    except ParameterError as error:
        where = f"has an error in block {number} (rows are counted within it): it"
        raise type(error)(error.name, f"{where} {error.problem}") from None
    return pickle.dumps(table)


def _merge_all(parts: list[bytes]) -> bytes:
    merged, *others = map(pickle.loads, parts)
    for other in others:
        merged.merge(other)
    return pickle.dumps(merged)


def _as_dask_array(values: Any, *, name: str) -> Any:
    import dask.array as da

    if hasattr(values, "to_dask_array"):  # a series or a frame
        values = values.to_dask_array()
    if isinstance(values, da.Array):
        if values.ndim == 1 or (name == "y_proba" and values.ndim == 2):
            return values
        problem = f"has the wrong number of dimensions. Got shape {values.shape}."
        raise ParameterError(name, problem)
    if is_dask(values):
        raise ParameterTypeError(
            name,
            "must be a Dask array, series or frame. Got "
            f"{type(values).__name__} instead.",
        )
    values = on_cpu(values, name=name)
    return da.from_array(np.asarray(values), chunks="auto")


def _with_blocks(values: Any, rows: tuple, *, name: str) -> Any:
    """Return a Dask array in blocks of these numbers of rows."""
    array = _as_dask_array(values, name=name)
    (own,) = array.chunks
    if not np.isnan([*own, *rows]).any():
        if sum(own) != sum(rows):
            raise ParameterError(
                None,
                f"needs {name} and y_proba of the same length. Got {sum(own)} rows "
                f"of {name} and {sum(rows)} rows of y_proba.",
            )
        return array.rechunk((rows,))
    if len(own) != len(rows):
        raise ParameterError(
            None,
            f"cannot match the blocks of {name!r} to the blocks of 'y_proba', "
            "since the lengths of the blocks are unknown. Got "
            f"{len(own)} and {len(rows)} blocks. Call compute_chunk_sizes() on the "
            "arrays first.",
        )
    return array


def _labels_of(y_true: Any) -> list:
    """Return the sorted labels."""
    import dask.array as da

    return da.unique(y_true).compute().tolist()


def _blocks(array: Any) -> list:
    """Return the blocks of rows as delayed arrays."""
    # If each array were optimised separately, common inputs would be computed twice.
    return array.to_delayed(optimize_graph=False).ravel().tolist()
