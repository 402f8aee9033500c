"""Metrics of Dask arrays: a sketch for each block, merged as a tree.

Dask is imported by calls only, and only where a Dask collection came in.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_choice, is_dask, on_cpu
from ._binning import Binning
from ._chunks import check_chunk, check_pos_label
from ._curve import ReliabilityCurve, curve_of_sums
from ._error import error_of_sums
from ._interval import CalibrationErrorInterval
from ._pairs import MULTI_CLASS
from ._sketch import ReliabilitySketch, sums_of_sketch

# Sketches that are merged at once.
_FAN_IN = 8


@dataclass(frozen=True)
class Chunked:
    """Arguments of a metric, of which some are Dask collections."""

    y_true: Any
    y_proba: Any
    sample_weight: Any
    multi_class: str | None
    labels: Any
    pos_label: Any
    caller: str


def error_of_dask(
    data: Chunked,
    binning: Binning,
    groups: Any,
    norm: str,
    squared: bool,
    debias: bool,
) -> Any:
    """Return what calibration_error returns."""
    _check_sketchable(binning, groups, data.caller)
    errors = []
    for sketch in sketch_blocks(data):
        sums = sums_of_sketch(sketch, binning, caller=data.caller)[0]
        errors.append(error_of_sums(sums, norm, squared, debias, caller=data.caller))
    if data.multi_class == "per_class":
        return np.array(errors)
    return float(np.mean(errors))


def curve_of_dask(data: Chunked, binning: Binning) -> ReliabilityCurve:
    """Return what adaptive_reliability_curve returns."""
    _check_sketchable(binning, None, data.caller)
    (sketch,) = sketch_blocks(data)
    sums, _, size = sums_of_sketch(sketch, binning, caller=data.caller)
    return curve_of_sums(sums, size, sketch.n_samples)


def interval_of_dask(
    data: Chunked, binning: Binning, groups: Any, level: float, method: str
) -> CalibrationErrorInterval:
    """Return what calibration_error_interval returns."""
    _check_sketchable(binning, groups, data.caller)
    if method != "score":
        raise ValueError(
            f"{data.caller} takes method='score' only with Dask arrays. Got {method!r}."
        )
    (sketch,) = sketch_blocks(data)
    size = "auto" if binning.bin_size is None else binning.bin_size
    return sketch.interval(bin_size=size, confidence_level=level)


def _check_sketchable(binning: Binning, groups: Any, caller: str) -> None:
    """Raise where a sketch cannot tell what is asked."""
    if groups is not None:
        raise ValueError(
            f"{caller} takes no 'groups' with Dask arrays: rows of one group may be in "
            "different blocks. Compute the arrays first, or a part of the groups."
        )
    if binning.strategy == "uniform":
        raise ValueError(
            f"{caller} takes strategy='quantile' only with Dask arrays. Got 'uniform'."
        )


def sketch_blocks(data: Chunked, n_bits: int = 18) -> list[ReliabilitySketch]:
    """Return the merged sketch of all blocks; one of each class where it is asked."""
    import dask

    if data.multi_class is not None:
        check_choice(
            data.multi_class, MULTI_CLASS, name="multi_class", caller=data.caller
        )
    ReliabilitySketch(n_bits=n_bits)  # checks it here, not on a worker
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
    part = dask.delayed(_sketch_block)
    parts = [
        part(y, q, None if weight is None else w, settings, n_bits, i, data.caller)
        for i, (y, q, w) in enumerate(blocks)
    ]
    merge = dask.delayed(_merge_all)
    while len(parts) > 1:
        firsts = range(0, len(parts), _FAN_IN)
        parts = [merge(parts[first : first + _FAN_IN]) for first in firsts]
    (merged,) = dask.compute(parts[0])
    sketches = pickle.loads(merged)
    if y_proba.ndim == 1:
        check_pos_label(
            sketches[0]._table,
            lambda: _labels_of(y_true),
            data.pos_label,
            caller=data.caller,
        )
    return sketches


def _sketch_block(
    y_true: Any,
    y_proba: Any,
    weight: Any,
    settings: dict[str, Any],
    n_bits: int,
    number: int,
    caller: str,
) -> bytes:
    """Return the pickled sketch of a block, or those of each class, as a list.

    A pickle holds used cells only, and Dask knows its size.
    """
    single = settings["multi_class"] not in ("class_wise", "per_class")
    n_sketches = 1 if single else y_proba.shape[1]
    sketches = [ReliabilitySketch(n_bits=n_bits) for _ in range(n_sketches)]
    try:
        if single:
            sketches[0].update(y_true, y_proba, weight, **settings)
        else:
            several = check_chunk(y_true, y_proba, weight, caller=caller, **settings)
            for sketch, pairs in zip(sketches, several, strict=False):
                sketch._add(pairs)
    except ValueError as error:
        raise ValueError(
            f"In block {number} of the arrays passed to {caller}, where rows are "
            f"counted from 0: {error}"
        ) from None
    return pickle.dumps(sketches)


def _merge_all(parts: list[bytes]) -> bytes:
    merged = pickle.loads(parts[0])
    for part in parts[1:]:
        for sketch, other in zip(merged, pickle.loads(part), strict=True):
            sketch.merge(other)
    return pickle.dumps(merged)


def _aligned(data: Chunked) -> tuple[Any, Any, Any]:
    """Return labels, probabilities and weights as Dask arrays with the same blocks."""
    named = {
        "y_true": data.y_true,
        "y_proba": data.y_proba,
        "sample_weight": data.sample_weight,
    }
    found = {
        name: _as_dask_array(value, name=name, caller=data.caller)
        for name, value in named.items()
        if value is not None
    }
    y_proba = found["y_proba"]
    if y_proba.ndim == 2:
        y_proba = y_proba.rechunk({1: -1})
    elif data.multi_class is not None:
        raise ValueError(
            f"The 'multi_class' parameter of {data.caller} goes with a y_proba of "
            f"shape (n, n_classes). Got {data.multi_class!r} with one dimension."
        )
    rows = y_proba.chunks[0]
    others = (
        _with_blocks(found[name], rows, name=name, caller=data.caller)
        if name in found
        else None
        for name in ("y_true", "sample_weight")
    )
    y_true, weight = others
    return y_true, y_proba, weight


def _as_dask_array(values: Any, *, name: str, caller: str) -> Any:
    import dask.array as da

    if hasattr(values, "to_dask_array"):  # a series or a frame
        values = values.to_dask_array()
    if isinstance(values, da.Array):
        if values.ndim == 1 or (name == "y_proba" and values.ndim == 2):
            return values
        raise ValueError(
            f"The {name!r} parameter of {caller} has the wrong number of dimensions. "
            f"Got shape {values.shape}."
        )
    if is_dask(values):
        raise TypeError(
            f"The {name!r} parameter of {caller} must be a Dask array, series or "
            f"frame. Got {type(values).__name__} instead."
        )
    values = on_cpu(values, name=name, caller=caller)
    return da.from_array(np.asarray(values), chunks="auto")


def _with_blocks(array: Any, rows: tuple, *, name: str, caller: str) -> Any:
    """Return the array in blocks of these numbers of rows."""
    (own,) = array.chunks
    if not np.isnan([*own, *rows]).any():
        if sum(own) != sum(rows):
            raise ValueError(
                f"The arrays passed to {caller} must have one entry for each row, so "
                f"the same length. Got: {name} has {sum(own)}, y_proba has {sum(rows)}."
            )
        return array.rechunk((rows,))
    if len(own) != len(rows):
        raise ValueError(
            f"{caller} cannot match the blocks of {name!r} to those of 'y_proba', "
            f"since their lengths are not known. Got {len(own)} and {len(rows)} "
            "blocks: call compute_chunk_sizes() on the arrays first."
        )
    return array


def _labels_of(y_true: Any) -> list:
    """Return the sorted labels, as without Dask."""
    import dask.array as da

    return da.unique(y_true).compute().tolist()


def _blocks(array: Any) -> list:
    """Return the blocks of rows as delayed arrays."""
    # each array optimised by itself would make anew what several come from
    return array.to_delayed(optimize_graph=False).ravel().tolist()
