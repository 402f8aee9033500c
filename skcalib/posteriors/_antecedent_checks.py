"""What AntecedentPosterior takes: clean arrays, or an error that says why."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import numpy as np

from .._validation import is_collection, is_integer, is_missing, is_sequence
from ._checks import as_floats, check_entries

BLOCK = 64  # rows looked at together


def as_log_scores(values: Any) -> list[np.ndarray]:
    """Return the score matrix of each document, a copy with -inf above the diagonal."""
    if not is_collection(values):
        raise TypeError(
            "The 'log_scores' parameter of AntecedentPosterior must be a list with a "
            "square array for each document. Got "
            f"{type(values).__name__} {values!r:.50}."
        )
    return [_as_scores(part, i) for i, part in enumerate(values)]


def _as_scores(part: Any, i: int) -> np.ndarray:
    name = "The 'log_scores' parameter of AntecedentPosterior must"
    try:
        scores = as_floats(part, copy=True, order="C")
    except ValueError:
        raise ValueError(
            f"{name} hold numbers in rows of one length. Got something else in "
            f"document {i}."
        ) from None
    if scores.size == 0 and scores.ndim < 3:
        return np.empty((0, 0))
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
        raise ValueError(
            f"{name} have a square array for each document; a single document goes "
            f"into a list. Got shape {scores.shape} for document {i}."
        )
    if not _is_empty_above(scores):
        above = ~np.tri(len(scores), dtype=bool)
        _refuse_where(
            above & ~((scores == 0) | (scores == -np.inf) | np.isnan(scores)),
            scores,
            f"{name} hold 0, -inf or NaN above the diagonal, since no mention has a "
            "later one as its antecedent",
            i,
        )
    top = scores.max(axis=1)
    if not (top < np.inf).all():  # NaN is the maximum where it stands
        _refuse_where(~(scores < np.inf), scores, f"{name} be finite or -inf", i)
    if (top == -np.inf).any():
        raise ValueError(
            f"{name} leave each mention an antecedent, or NEW. Got -inf only for "
            f"mention {int(top.argmin())} of document {i}."
        )
    return scores


def _is_empty_above(scores: np.ndarray) -> bool:
    """Write -inf above the diagonal, and return whether there was nothing to read.

    What was not nothing is left there. Blocks of rows stay in the cache.
    """
    n = len(scores)
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        own = ~np.tri(b - a, dtype=bool)
        unread = scores[a:b, a:b][own]
        right = scores[a:b, b:]
        if not (_is_nothing(unread) and _is_nothing(right)):
            return False
        scores[a:b, a:b][own] = -np.inf
        right[...] = -np.inf
    return True


def _is_nothing(values: np.ndarray) -> bool:
    if not values.any() or (values == -np.inf).all():
        return True
    return bool(((values == 0) | (values == -np.inf) | np.isnan(values)).all())


def _refuse_where(
    bad: np.ndarray, scores: np.ndarray, expected: str, i: int
) -> NoReturn:
    row, column = np.argwhere(bad)[0]
    raise ValueError(
        f"{expected}. Got {scores[row, column]} in document {i}, row {row}, column "
        f"{column}."
    )


def as_clusterings(
    values: Any, lengths: Sequence[int], name: str, caller: str
) -> list[np.ndarray]:
    """Return the labels of each document, see `as_clustering`."""
    check_entries(values, len(lengths), "document", name, caller)
    return [
        as_clustering(entry, n, i, caller, name)
        for i, (entry, n) in enumerate(zip(values, lengths, strict=True))
    ]


def as_clustering(
    values: Any, n: int, i: int, caller: str, name: str = "labels"
) -> np.ndarray:
    """Return labels as integers from 0, numbered as they first occur.

    values : labels of the n mentions of document i, anything that can be hashed but
    None.
    """
    name = f"The {name!r} parameter of {caller} must"
    if not is_sequence(values):
        raise TypeError(
            f"{name} hold a label for each mention. Got {type(values).__name__} "
            f"{values!r:.50} for document {i}."
        )
    labels = as_list(values)
    if len(labels) != n:
        raise ValueError(
            f"{name} hold a label for each of the {n} mentions of document {i}. Got "
            f"{len(labels)}."
        )
    number: dict[Hashable, int] = {}
    for j, label in enumerate(labels):
        if is_missing(label):  # as of a document whose entities are not known
            raise ValueError(
                f"{name} say of each mention to which entity it belongs. Got {label!r} "
                f"for mention {j} of document {i}."
            )
        if not isinstance(label, Hashable):
            raise ValueError(
                f"{name} hold labels that can be compared. Got {label!r:.50} for "
                f"mention {j} of document {i}."
            )
        number.setdefault(label, len(number))
    return np.array([number[label] for label in labels], dtype=np.intp)


def as_list(values: Any) -> list[Any]:
    """Return a row of values as a list, of numbers where it is a tensor.

    What iterating a tensor gives are tensors, no two of which are equal.
    """
    return values.tolist() if hasattr(values, "tolist") else list(values)


def as_members(entry: Any, n: int, i: int) -> tuple[bool, list[np.ndarray]]:
    """Return whether an entry is one set of mentions, and its sets, sorted."""
    name = "The 'members' parameter of AntecedentPosterior.entity_proba"
    if not (is_collection(entry) and hasattr(entry, "__len__")):
        raise TypeError(
            f"{name} must hold mentions, or collections of them, for each document. "
            f"Got {entry!r:.50} for document {i}."
        )
    members = list(entry)
    is_one = bool(members) and all(map(is_integer, members))
    sets = [entry] if is_one else members
    return is_one, [_as_set(each, n, i, name) for each in sets]


def _as_set(values: Any, n: int, i: int, name: str) -> np.ndarray:
    if is_collection(values):
        found = list(values)
        inside = all(is_integer(k) and 0 <= k < n for k in found)
        if found and inside and len(set(found)) == len(found):
            return np.sort(np.array(found, dtype=np.intp))
    raise ValueError(
        f"{name} must hold different mentions, at least one, from 0 to {n - 1}. Got "
        f"{values!r:.80} in document {i}."
    )
