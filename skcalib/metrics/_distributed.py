"""Tables of cells of Dask arrays and Spark DataFrames, merged as a tree.

Dask is imported inside functions, and only if an argument is a Dask collection. Spark
is not imported: only methods of the DataFrame are called.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._pairs import MULTI_CLASS
from .._validation import check_choice, is_dask, on_cpu
from ._bins import Binning
from ._cells import CellTable, add_chunk, check_pos_label

# Number of tables that a Dask task merges, and approximate number that a Spark task
# merges.
_FAN_IN = 8
_FAN_IN_OF_SPARK = 16


@dataclass(frozen=True)
class Chunked:
    """Arguments of a metric, of which some are Dask collections."""

    y_true: Any
    y_proba: Any
    sample_weight: Any
    multi_class: str | None
    labels: Any
    pos_label: Any


def check_mergeable(binning: Binning, groups: Any) -> None:
    """Raise an error if a table of cells does not support the parameters."""
    if groups is not None:
        raise ParameterError(
            None,
            "does not accept 'groups' with Dask arrays: rows of one group may be in "
            "different blocks. Call compute() on the arrays first, or pass a "
            "subset of the groups in memory.",
        )
    if binning.strategy == "uniform":
        raise ParameterError(
            None, "needs strategy='quantile' with Dask arrays. Got 'uniform'."
        )


def tables_of_dask(data: Chunked, n_bits: int = 18) -> list[CellTable]:
    """Return the merged tables of all blocks, one for each set of pairs."""
    import dask

    if data.multi_class is not None:
        check_choice(data.multi_class, MULTI_CLASS, name="multi_class")
    y_true, y_proba, weight = _aligned(data)
    labels = data.labels
    if y_proba.ndim == 2 and labels is None:
        labels = _labels_of(y_true)
    settings = {
        "multi_class": data.multi_class,
        "labels": labels,
        "pos_label": data.pos_label,
    }
    arrays = (y_true, y_proba, y_true if weight is None else weight)
    blocks = zip(*map(_blocks, arrays), strict=True)
    part = dask.delayed(_tables_of_block)
    parts = [
        part(y, q, None if weight is None else w, settings, n_bits, i)
        for i, (y, q, w) in enumerate(blocks)
    ]
    merge = dask.delayed(_merge_all)
    while len(parts) > 1:
        firsts = range(0, len(parts), _FAN_IN)
        parts = [merge(parts[first : first + _FAN_IN]) for first in firsts]
    (merged,) = dask.compute(parts[0])
    tables = pickle.loads(merged)
    if y_proba.ndim == 1:
        check_pos_label(tables[0], lambda: _labels_of(y_true), data.pos_label)
    return tables


def _tables_of_block(
    y_true: Any,
    y_proba: Any,
    weight: Any,
    settings: dict[str, Any],
    n_bits: int,
    number: int,
) -> bytes:
    """Return the pickled tables of a block, one for each set of pairs.

    A pickle contains only used cells, and Dask can determine its size.
    """
    by_class = settings["multi_class"] in ("class_wise", "per_class")
    tables = [CellTable(n_bits) for _ in range(y_proba.shape[1] if by_class else 1)]
    try:
        add_chunk(tables, y_true, y_proba, weight, **settings)
    except ParameterError as error:
        where = f"has an error in block {number} (rows are counted within it): it"
        raise type(error)(error.name, f"{where} {error.problem}") from None
    return pickle.dumps(tables)


def _merge_all(parts: list[bytes]) -> bytes:
    merged = pickle.loads(parts[0])
    for part in parts[1:]:
        for table, other in zip(merged, pickle.loads(part), strict=True):
            table.merge(other)
    return pickle.dumps(merged)


def _aligned(data: Chunked) -> tuple[Any, Any, Any]:
    """Return labels, probabilities and weights as Dask arrays with the same blocks."""
    named = {
        "y_true": data.y_true,
        "y_proba": data.y_proba,
        "sample_weight": data.sample_weight,
    }
    found = {
        name: _as_dask_array(value, name=name)
        for name, value in named.items()
        if value is not None
    }
    y_proba = found["y_proba"]
    if y_proba.ndim == 2:
        y_proba = y_proba.rechunk({1: -1})
    elif data.multi_class is not None:
        raise ParameterError(
            "multi_class",
            "needs 'y_proba' of shape (n, n_classes). Got "
            f"{data.multi_class!r} and 'y_proba' with one dimension.",
        )
    rows = y_proba.chunks[0]
    others = (
        _with_blocks(found[name], rows, name=name) if name in found else None
        for name in ("y_true", "sample_weight")
    )
    y_true, weight = others
    return y_true, y_proba, weight


def _as_dask_array(values: Any, *, name: str) -> Any:
    import dask.array as da

    if hasattr(values, "to_dask_array"):  # a series or a frame
        values = values.to_dask_array()
    if isinstance(values, da.Array):
        if values.ndim == 1 or (name == "y_proba" and values.ndim == 2):
            return values
        raise ParameterError(
            name, f"has the wrong number of dimensions. Got shape {values.shape}."
        )
    if is_dask(values):
        raise ParameterTypeError(
            name,
            "must be a Dask array, series or frame. Got "
            f"{type(values).__name__} instead.",
        )
    values = on_cpu(values, name=name)
    return da.from_array(np.asarray(values), chunks="auto")


def _with_blocks(array: Any, rows: tuple, *, name: str) -> Any:
    """Return the array in blocks of these numbers of rows."""
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


@dataclass(frozen=True)
class Columns:
    """Names of the columns that contain labels, probabilities and weights."""

    y_true: str
    y_proba: str | Sequence[str]
    sample_weight: str | None

    @property
    def names(self) -> list[str]:
        """All names."""
        several = [self.y_proba] if isinstance(self.y_proba, str) else self.y_proba
        weight = [] if self.sample_weight is None else [self.sample_weight]
        return [self.y_true, *several, *weight]

    def probabilities(self, frame: Any) -> np.ndarray:
        """Return the probabilities of a pandas DataFrame."""
        if not isinstance(self.y_proba, str):
            return frame[list(self.y_proba)].to_numpy()
        column = frame[self.y_proba].to_numpy()
        holds_arrays = column.dtype == object and isinstance(column[0], np.ndarray)
        return np.stack(column) if holds_arrays else column


def table_of_spark(
    frame: Any, columns: Columns, settings: dict[str, Any], n_bits: int = 18
) -> CellTable:
    """Return the merged table of all partitions."""
    _check_columns(frame, columns)
    several = not isinstance(columns.y_proba, str) or _holds_arrays(frame, columns)

    def found_labels() -> list:
        return sorted(
            row[0] for row in frame.select(columns.y_true).distinct().collect()
        )

    if several and settings["labels"] is None:
        settings = {**settings, "labels": found_labels()}

    def add_frames(frames: Iterable[Any]) -> Iterator[Any]:
        import pandas as pd

        part = CellTable(n_bits)
        for rows in frames:
            if len(rows):
                weight = columns.sample_weight
                add_chunk(
                    [part],
                    rows[columns.y_true].to_numpy(),
                    columns.probabilities(rows),
                    None if weight is None else rows[weight].to_numpy(),
                    **settings,
                )
        yield pd.DataFrame({"table": [pickle.dumps(part)]})

    parts = frame.select(*columns.names).mapInPandas(add_frames, "table binary").rdd
    n_parts = parts.getNumPartitions()
    if n_parts == 0:
        return CellTable(n_bits)
    depth = max(1, int(np.ceil(np.log(n_parts) / np.log(_FAN_IN_OF_SPARK))))
    merged = parts.map(_table_of_row).treeReduce(CellTable.merge, depth)
    if not several:
        check_pos_label(merged, found_labels, settings["pos_label"])
    return merged


def _check_columns(frame: Any, columns: Columns) -> None:
    missing = [name for name in columns.names if name not in frame.columns]
    if missing:
        raise ParameterError(
            None,
            f"needs names of columns of the frame. Got {missing[0]!r}, and the columns "
            f"{', '.join(map(repr, frame.columns))}.",
        )


def _holds_arrays(frame: Any, columns: Columns) -> bool:
    return dict(frame.dtypes)[columns.y_proba].startswith("array")


def _table_of_row(row: Any) -> CellTable:
    return pickle.loads(row[0])
