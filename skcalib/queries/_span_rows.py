"""Validation of rows that describe spans and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._validation import is_collection, is_integer, out_of_range

# (start, stop, label, probability) of each span of a sentence.
SpanRows: TypeAlias = Sequence[tuple[int, int, str, float]]


def read_spans(i: int, entry: Any, n: int, name: str = "proba") -> list[tuple]:
    """Return the checked spans of one sentence."""
    if not is_collection(entry):
        raise ParameterTypeError(
            name,
            f"must have a list of spans for each sentence. Got {entry!r:.50} for "
            f"sentence {i}.",
        )
    if getattr(entry, "ndim", 1) == 2 and not hasattr(entry, "columns"):
        raise ParameterError(
            name,
            "must have a list of (start, stop, label, probability) for each sentence. "
            f"Got an array of shape {tuple(entry.shape)} for sentence {i}. For "
            "probabilities of tags use TagQuery, or make a LinearChainPosterior of "
            "their logarithms for from_posterior.",
        )
    found: dict[tuple, float] = {}
    for j, row in enumerate(entry):
        where = f"span {j} of sentence {i}"
        start, stop, label, proba = _parts(row, where, name)
        problem = ""
        if not 0 <= start < stop <= n:
            problem = (
                f"must have 0 <= start < stop <= {n}, the number of tokens. Got "
                f"start {start} and stop {stop} in {where}."
            )
        elif (start, stop, label) in found:
            problem = f"has {(start, stop, label)} twice: {where}."
        elif out_of_range(np.array([proba]))[0]:
            problem = f"must have probabilities in [0, 1]. Got {proba!r} in {where}."
        if problem:
            raise ParameterError(name, problem)
        found[start, stop, label] = proba
    return [(*span, proba) for span, proba in found.items()]


def _parts(row: Any, where: str, name: str) -> tuple[int, int, str, float]:
    try:
        start, stop, label, proba = row
        if isinstance(proba, str):
            raise TypeError
        proba = float(proba)
    except (TypeError, ValueError):
        start = stop = label = proba = None
    if not (is_integer(start) and is_integer(stop) and isinstance(label, str)):
        raise ParameterError(
            name,
            "must have (start, stop, label, probability) for each span. Got "
            f"{row!r:.80} as {where}.",
        )
    return int(start), int(stop), label, proba
