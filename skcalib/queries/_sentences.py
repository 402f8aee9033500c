"""Labels and probabilities of sentences, from ragged lists to flat arrays.

The last step of pipelines and searches, and its input.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._clusterings import check_entries
from .._errors import ParameterError, ParameterTypeError
from .._validation import (
    as_array,
    as_label_lists,
    as_probabilities,
    column_names,
    label_array,
    out_of_range,
)
from .._validation import describe_container as described


def last_step(estimator: Any) -> Any:
    """Return the last estimator of nested pipelines and fitted searches."""
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return last_step(estimator.steps[-1][1])
    return estimator


def transform_before(estimator: Any, X: Any) -> Any:
    """Return X as the last estimator of a pipeline or a fitted search receives it."""
    if hasattr(estimator, "best_estimator_"):
        return transform_before(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return transform_before(estimator.steps[-1][1], X)
    return X


def flat_tags(y_true: Any, other: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the tags of all tokens, and the lengths of the sentences.

    `other` must have one entry per sentence.
    """
    labels = as_label_lists(y_true, name="y_true")
    check_entries(other, None, "sentence", name)
    if len(labels) != len(other):
        raise ParameterError(
            None,
            f"needs an entry of {name!r} for each sentence of 'y_true'. Got "
            f"{len(other)} and {len(labels)}.",
        )
    lengths = np.fromiter(map(len, labels), np.intp, len(labels))
    if not lengths.any():
        raise ParameterError("y_true", "must have at least one token. Got no token.")
    return label_array(chain.from_iterable(labels)), lengths


def check_posterior(posterior: Any, lengths: np.ndarray) -> None:
    """Raise an error unless a posterior is for sentences of these lengths."""
    found = getattr(posterior, "lengths", None)
    if found is None or not hasattr(posterior, "n_tags"):
        hint = ""
        if hasattr(last_step(posterior), "predict"):
            hint = (
                " Pass what the tagger's method posterior(X) returns, and the "
                "tagger's attribute classes_ as 'classes'."
            )
        raise ParameterTypeError(
            "posterior",
            f"must be a LinearChainPosterior. Got {type(posterior).__name__}.{hint}",
        )
    wrong = np.flatnonzero(found != lengths)
    if wrong.size:
        i = int(wrong[0])
        raise ParameterError(
            "posterior",
            f"must describe the sentences of 'y_true'. Sentence {i} has "
            f"{lengths[i]} labels and {found[i]} tokens.",
        )


def stack_rows(
    proba: Any, n_rows: np.ndarray, lengths: np.ndarray, shape: str
) -> tuple[np.ndarray, list[Any] | None]:
    """Return the rows of probabilities of all sentences, and the column names.

    `n_rows` is the number of rows of each sentence, `shape` their shape for messages.
    """
    some: list[np.ndarray] = []
    names: list[Any] | None = None
    for i, part in enumerate(proba):
        array = as_numbers(part, f"sentence {i}")
        if n_rows[i] == 0 and array.size == 0:
            continue
        right = array.ndim == shape.count(",") + 1 and array.shape[0] == n_rows[i]
        if not right or array.size == 0 or len(set(array.shape[1:])) != 1:
            raise ParameterError(
                "proba",
                f"must have shape {shape} for each sentence. Sentence {i} has "
                f"{lengths[i]} labels and shape {array.shape}.",
            )
        found = column_names(part)
        if some and found != names:
            raise ParameterError(
                "proba",
                "must have the same columns in each sentence. Got "
                f"{found!r:.100} for sentence {i}, and {names!r:.100} before it.",
            )
        names = found
        some.append(array.reshape(n_rows[i], -1))
    widths = {part.shape[1] for part in some}
    if len(widths) > 1:
        raise ParameterError(
            "proba",
            f"must have the same number of tags for each token. Got {sorted(widths)}.",
        )
    rows = np.concatenate(some)
    _check_rows(rows, n_rows, lengths - n_rows)
    return as_probabilities(rows, name="proba", n_columns=1), names


def as_numbers(part: Any, where: str) -> np.ndarray:
    """Return the probabilities of one sentence or document as an array of numbers."""
    try:
        array = as_array(part, name="proba")
        if array.dtype == object:
            array = array.astype(np.float64)
        if array.size and array.dtype.kind not in "fiub":
            raise ValueError
    except ParameterError as error:
        error.problem += f" This is in {where}."
        raise
    except (TypeError, ValueError):
        raise ParameterError(
            "proba",
            "must contain numbers, in rows of equal length. Got "
            f"{described(part)} for {where}.",
        ) from None
    return array


def place_of_row(row: int, n_rows: np.ndarray, first: np.ndarray) -> str:
    """Return the sentence and token of a row, for messages.

    `first` is the token of the first row of each sentence.
    """
    i = int(np.searchsorted(np.cumsum(n_rows), row, side="right"))
    return f"sentence {i}, token {row - n_rows[:i].sum() + first[i]}"


def _check_rows(rows: np.ndarray, n_rows: np.ndarray, first: np.ndarray) -> None:
    """Raise an error that names sentence and token if a number is not a probability."""
    if rows.dtype.kind not in "fiu":
        return
    bad = out_of_range(rows)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ParameterError(
            "proba",
            "must be probabilities in [0, 1]. Got "
            f"{float(rows[row, column])!r} in {place_of_row(row, n_rows, first)}.",
        )
