"""Clusterings of mentions: label arrays, and pairs of mentions with equal labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform

from ._errors import ParameterError, ParameterTypeError
from ._validation import is_missing, is_sequence

# Labels of the mentions of each document.
LabelArrays = Sequence[ArrayLike] | np.ndarray


def as_clusterings(values: Any, lengths: Sequence[int], name: str) -> list[np.ndarray]:
    """Return the labels of each document, see `as_clustering`."""
    return [
        as_clustering(entry, n, i, name)
        for i, entry, n in each_entry(values, lengths, "document", name)
    ]


def as_clustering(values: Any, n: int, i: int, name: str = "labels") -> np.ndarray:
    """Return the labels of the n mentions of document i as integers from 0.

    Labels are numbered in the order of their first occurrence. Any hashable label is
    accepted, except missing ones and "-", which marks mentions without an entity.
    """
    if not is_sequence(values):
        raise ParameterTypeError(
            name,
            f"must contain one label per mention. Got {type(values).__name__} "
            f"{values!r:.50} for document {i}.",
        )
    labels = as_list(values)
    if len(labels) != n:
        raise ParameterError(
            name,
            f"must contain one label for each of the {n} mentions of document {i}. "
            f"Got {len(labels)}.",
        )
    number: dict[Hashable, int] = {}
    for j, label in enumerate(labels):
        if is_missing(label):  # for example in a document with unknown entities
            raise ParameterError(
                name,
                f"must give the entity of each mention. Got {label!r} for mention {j} "
                f"of document {i}.",
            )
        if not isinstance(label, Hashable):
            raise ParameterError(
                name,
                f"must contain hashable labels. Got {label!r:.50} for "
                f"mention {j} of document {i}.",
            )
        number.setdefault(label, len(number))
    if "-" in number:
        raise ParameterError(
            name,
            "must give the entity of each mention. Got '-' for mention "
            f"{labels.index('-')} of document {i}: leave mentions without an entity "
            "out, or give each a label of its own.",
        )
    return np.array([number[label] for label in labels], dtype=np.intp)


def as_list(values: Any) -> list[Any]:
    """Return the entries of a container as a list of Python objects.

    The entries of a tensor would be tensors, which are compared by identity.
    """
    if hasattr(values, "tolist"):
        return values.tolist()
    if hasattr(values, "__array__"):  # columns that have no `tolist`
        return np.asarray(values).tolist()
    return [each.tolist() if getattr(each, "ndim", 1) == 0 else each for each in values]


def check_entries(
    values: Any, n: int | None, of: str, name: str, what: str = "an entry for"
) -> None:
    """Raise an error unless there are n entries, one per sequence or document.

    If n is None, any number is accepted.
    """
    if not is_sequence(values):
        raise ParameterTypeError(
            name,
            f"must be a list with {what} each {of}. Got {type(values).__name__} "
            f"{values!r:.50}.",
        )
    if n is not None and len(values) != n:
        raise ParameterError(
            name, f"must have an entry for each of the {n} {of}s. Got {len(values)}."
        )


def each_entry(
    values: Any, lengths: Sequence[int], of: str, name: str, what: str = "an entry for"
) -> Iterator[tuple[int, Any, int]]:
    """Yield the index, the entry and the length of each sequence or document."""
    check_entries(values, len(lengths), of, name, what)
    yield from zip(range(len(lengths)), values, lengths, strict=True)


def condensed(pairs: np.ndarray) -> np.ndarray:
    """Return the entries above the diagonal of a symmetric matrix, row by row."""
    if len(pairs) < 2:
        return np.zeros(0, dtype=pairs.dtype)
    return squareform(pairs, checks=False)


def true_pairs(y: Any, lengths: list[int] | None, name: str) -> list[np.ndarray]:
    """Return whether each pair of mentions has equal labels, condensed, by document.

    `lengths` are the numbers of mentions. If None, any number is accepted.
    """
    if lengths is None and is_sequence(y):
        lengths = [len(each) if is_sequence(each) else 0 for each in y]
    entities = as_clusterings(y, lengths or [], name)
    return [condensed(np.equal.outer(each, each)) for each in entities]
