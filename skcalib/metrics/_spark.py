"""Metrics of Spark DataFrames: a sketch for each partition, merged as a tree.

Nothing of Spark is imported: the DataFrame brings what is called.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._chunks import check_pos_label
from ._sketch import ReliabilitySketch

# Sketches that a task merges, about.
_FAN_IN = 16


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold labels, probabilities and weights."""

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


def sketch_partitions(
    frame: Any, columns: Columns, settings: dict[str, Any], n_bits: int
) -> ReliabilitySketch:
    """Return the merged sketch of all partitions."""
    ReliabilitySketch(n_bits=n_bits)  # checks it here, not on a worker
    _check_columns(frame, columns)
    several = not isinstance(columns.y_proba, str) or _holds_arrays(frame, columns)

    def found_labels() -> list:
        return sorted(
            row[0] for row in frame.select(columns.y_true).distinct().collect()
        )

    if several and settings["labels"] is None:
        settings = {**settings, "labels": found_labels()}

    def sketch_frames(frames: Iterable[Any]) -> Iterator[Any]:
        import pandas as pd

        part = ReliabilitySketch(n_bits=n_bits)
        for rows in frames:
            if len(rows):
                weight = columns.sample_weight
                part.update(
                    rows[columns.y_true].to_numpy(),
                    columns.probabilities(rows),
                    None if weight is None else rows[weight].to_numpy(),
                    **settings,
                )
        yield pd.DataFrame({"sketch": [pickle.dumps(part)]})

    parts = frame.select(*columns.names).mapInPandas(sketch_frames, "sketch binary").rdd
    n_parts = parts.getNumPartitions()
    if n_parts == 0:
        return ReliabilitySketch(n_bits=n_bits)
    depth = max(1, int(np.ceil(np.log(n_parts) / np.log(_FAN_IN))))
    merged = parts.map(_sketch_of_row).treeReduce(ReliabilitySketch.merge, depth)
    if not several:
        check_pos_label(
            merged._table,
            found_labels,
            settings["pos_label"],
            caller="ReliabilitySketch.from_spark",
        )
    return merged


def _check_columns(frame: Any, columns: Columns) -> None:
    missing = [name for name in columns.names if name not in frame.columns]
    if missing:
        raise ValueError(
            "ReliabilitySketch.from_spark needs columns of the DataFrame. Got "
            f"{missing[0]!r}, and the columns {', '.join(map(repr, frame.columns))}."
        )


def _holds_arrays(frame: Any, columns: Columns) -> bool:
    return dict(frame.dtypes)[columns.y_proba].startswith("array")


def _sketch_of_row(row: Any) -> ReliabilitySketch:
    return pickle.loads(row[0])
