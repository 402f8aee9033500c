"""The gate of queries about sentences: ragged lists become flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import is_missing, is_sequence, on_cpu
from ..metrics._pairs import as_probabilities, out_of_range


def flat_tags(
    y_true: Any, other: Any, name: str, caller: str
) -> tuple[list[Any], np.ndarray]:
    """Return the tags of all tokens, and the lengths of the sentences.

    `other` is what is asked about the sentences, with as many entries.
    """
    check_tags(y_true, caller)
    _check_entries(other, name, caller)
    if len(y_true) != len(other):
        raise ValueError(
            f"{caller} needs an entry of {name!r} for each sentence of 'y_true'. "
            f"Got {len(other)} and {len(y_true)}."
        )
    tags: list[Any] = []
    lengths = []
    for labels in y_true:
        tags.extend(labels)
        lengths.append(len(labels))
    if not tags:
        raise ValueError(f"The 'y_true' parameter of {caller} holds no token.")
    return tags, np.array(lengths, dtype=np.intp)


def check_tags(y_true: Any, caller: str) -> None:
    """Raise unless there is a sequence of labels for each sentence."""
    _check_entries(y_true, "y_true", caller)
    for i, labels in enumerate(y_true):
        _check_sentence(i, labels, caller)


def _check_entries(value: Any, name: str, caller: str) -> None:
    if not is_sequence(value):
        raise TypeError(
            f"The {name!r} parameter of {caller} must have an entry for each "
            f"sentence. Got {type(value).__name__}."
        )


def _check_sentence(i: int, labels: Any, caller: str) -> None:
    if not is_sequence(labels):
        raise ValueError(
            f"The 'y_true' parameter of {caller} must hold a sequence of labels for "
            f"each sentence. Got {type(labels).__name__} {labels!r:.50} for sentence "
            f"{i}."
        )
    for t, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(
                f"The 'y_true' parameter of {caller} must have a label for each "
                f"token. Token {t} of sentence {i} has {label!r}."
            )


def check_posterior(posterior: Any, lengths: np.ndarray, caller: str) -> None:
    """Raise unless a posterior is one of sentences of these lengths."""
    found = getattr(posterior, "lengths", None)
    if found is None or not hasattr(posterior, "n_tags"):
        raise TypeError(
            f"The 'posterior' parameter of {caller} must be a LinearChainPosterior. "
            f"Got {type(posterior).__name__}."
        )
    wrong = np.flatnonzero(found != lengths)
    if wrong.size:
        i = int(wrong[0])
        raise ValueError(
            f"The 'posterior' parameter of {caller} must be of the sentences of "
            f"'y_true'. Sentence {i} has {lengths[i]} labels and {found[i]} tokens."
        )


def stack_rows(
    proba: Any, n_rows: np.ndarray, lengths: np.ndarray, shape: str, caller: str
) -> np.ndarray:
    """Return the rows of probabilities of all sentences.

    `n_rows` is how many a sentence should have, `shape` how the message says it.
    """
    some: list[np.ndarray] = []
    for i, part in enumerate(proba):
        array = as_numbers(part, f"sentence {i}", caller)
        if n_rows[i] == 0 and array.size == 0:
            continue
        right = array.ndim == shape.count(",") + 1 and array.shape[0] == n_rows[i]
        if not right or array.size == 0 or len(set(array.shape[1:])) != 1:
            raise ValueError(
                f"The 'proba' parameter of {caller} must have shape {shape} "
                f"for each sentence. Sentence {i} has {lengths[i]} labels and shape "
                f"{array.shape}."
            )
        some.append(array.reshape(n_rows[i], -1))
    widths = {part.shape[1] for part in some}
    if len(widths) > 1:
        raise ValueError(
            f"The 'proba' parameter of {caller} must have one number of tags. "
            f"Got {sorted(widths)}."
        )
    rows = np.concatenate(some)
    _check_rows(rows, n_rows, lengths - n_rows, caller)
    return as_probabilities(rows, name="proba", caller=caller, n_columns=1)


def as_numbers(part: Any, where: str, caller: str) -> np.ndarray:
    """Return the probabilities of one sentence or document as an array of numbers."""
    try:
        array = np.asarray(on_cpu(part, name="proba", caller=caller))
        if array.dtype == object:
            array = array.astype(np.float64)
        if array.size and array.dtype.kind not in "fiub":
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"The 'proba' parameter of {caller} must hold numbers, as many in each "
            f"row. Got {part!r:.50} for {where}."
        ) from None
    return array


def _check_rows(
    rows: np.ndarray, n_rows: np.ndarray, first: np.ndarray, caller: str
) -> None:
    """Raise where a number is no probability, with sentence and token.

    `first` is the token that the first row of each sentence is about.
    """
    if rows.dtype.kind not in "fiu":
        return
    bad = out_of_range(rows)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        i = int(np.searchsorted(np.cumsum(n_rows), row, side="right"))
        token = row - n_rows[:i].sum() + first[i]
        raise ValueError(
            f"The 'proba' parameter of {caller} must hold probabilities in [0, 1]. Got "
            f"{float(rows[row, column])!r} in sentence {i}, token {token}."
        )
