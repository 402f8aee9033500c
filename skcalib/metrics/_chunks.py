"""The gate of a sketch: chunks that may be empty, and labels that must go together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._validation import check_choice, on_cpu
from ._pairs import Pairs, as_floats, check_pairs, label_array, positives
from ._sketch_cells import CellTable


def check_chunk(
    y_true: Any, y_proba: Any, sample_weight: Any, *, caller: str, **settings: Any
) -> list[Pairs]:
    """Return the pairs of a chunk; none where it is empty or all its weights are 0."""
    weight = None
    if sample_weight is not None:
        weight = as_floats(sample_weight, name="sample_weight", caller=caller)
    if all(map(_is_empty, (y_true, y_proba))) and (weight is None or not weight.size):
        return []
    weightless = weight is not None and not weight.any()
    if weightless:  # the rest of the chunk is checked all the same
        weight = np.ones_like(weight)
    several = check_pairs(
        y_true,
        y_proba,
        caller=caller,
        sample_weight=weight,
        are_all=False,
        **settings,
    )
    return [] if weightless else several


def check_pos_label(
    table: CellTable, labels: Callable[[], Iterable], pos_label: Any, *, caller: str
) -> None:
    """Raise where no chunk held `pos_label`, but there are several `labels`."""
    if pos_label is not None and not table.weight[:, 1].any():
        positives(label_array(labels()), pos_label, caller=caller)


def check_one_sketch(multi_class: Any, caller: str) -> None:
    """Raise where what is asked of a matrix is not one set of pairs."""
    if multi_class is not None:
        choices = ("pooled", "top_label")
        check_choice(multi_class, choices, name="multi_class", caller=caller)


def _is_empty(values: Any) -> bool:
    is_scalar = getattr(values, "ndim", 1) == 0
    return hasattr(values, "__len__") and not is_scalar and len(values) == 0


def negatives_in(y_true: Any, sample_weight: Any, caller: str) -> frozenset:
    """Return which of 0 and -1 are among checked labels of some weight."""
    labels = np.asarray(on_cpu(y_true, name="y_true", caller=caller))
    if sample_weight is not None:
        weight = as_floats(sample_weight, name="sample_weight", caller=caller)
        labels = labels[weight > 0]
    return frozenset(label for label in (0, -1) if (labels == label).any())


def check_negatives(negatives: frozenset, *, caller: str) -> None:
    """Raise where one chunk had 0 as its negative label, and another -1."""
    if len(negatives) > 1:
        raise ValueError(
            f"The 'y_true' parameter of {caller} must hold the same two labels in "
            "every chunk. Got 0 and 1 in one, -1 and 1 in another."
        )
