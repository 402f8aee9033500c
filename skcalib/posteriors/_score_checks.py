"""Validation of the scores of posteriors."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from .._errors import ParameterError, ParameterTypeError
from .._validation import as_array, as_floats, is_collection

# Largest absolute score. Larger scores could overflow in a chain of 10^7 tokens.
MOST_SCORE = np.float64(1e300)
# Number of rows of a matrix that are checked together.
_N_ROWS = 64


def entries_of(values: Any, name: str, expected: str) -> list[Any]:
    """Return the arrays in a list with one array for each sequence or document."""
    if sparse.issparse(values):
        as_array(values, name=name)  # raises an error
    is_table = isinstance(values, (Mapping, Set)) or hasattr(values, "columns")
    if is_table or not is_collection(values):
        raise ParameterTypeError(
            name,
            f"must be a list with {expected}. Got {type(values).__name__} "
            f"{values!r:.50}.",
        )
    return list(values)


def rows_of_column(values: Any) -> Any:
    """Return a column of pandas, polars or pyarrow as a list, for rows of any type."""
    if not hasattr(values, "columns"):
        for method in ("to_list", "to_pylist"):
            if hasattr(values, method):
                return getattr(values, method)()
    return values


def as_scores(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Return scores as float64; scores of the given dtype stay as they are."""
    if type(values) is np.ndarray and values.dtype == np.float64:  # the usual case
        return values
    scores = as_floats(rows_of_column(values), name=name)
    return scores.astype(dtype if scores.dtype == dtype else np.float64, copy=False)


def scores_of(values: Any, name: str, entry: str, dtype: Any) -> np.ndarray:
    """Return the scores of one entry of a list; errors name the entry."""
    try:
        return as_scores(values, name, dtype)
    except ParameterError as error:
        found, colon, advice = error.problem.removesuffix(".").partition(": ")
        problem = f"{found} in {entry}{colon}{advice}."
        raise type(error)(name, problem) from None


# Linear chains


def as_chain_scores(
    emission: Any, transition: Any, lengths: Any, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores of all tokens, of pairs of tags, and the lengths.

    Without transitions, their scores are zeros. With `dtype` float32, float32 scores of
    tokens are kept as they are.
    """
    n_tags = None
    if transition is not None:
        transition = as_scores(transition, "log_transition")
        if transition.ndim != 2 or transition.shape[0] != transition.shape[1]:
            problem = f"must have shape (n_tags, n_tags). Got {transition.shape}."
            raise ParameterError("log_transition", problem)
        n_tags = transition.shape[0]
        if n_tags == 0:
            raise ParameterError(None, "needs at least one tag. Got none.")
    if lengths is None:
        rows, size = _stacked(emission, n_tags, dtype)
    else:
        rows, size = _one_array(emission, lengths, n_tags, dtype)
    if transition is None:
        transition = np.zeros((rows.shape[1], rows.shape[1]))
    return rows, transition, size


def _stacked(
    values: Any, n_tags: int | None, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Return the concatenated rows of all sequences, and the lengths."""
    name = "log_emission"
    parts = []
    size = []
    for i, part in enumerate(entries_of(values, name, "an array for each sequence")):
        rows = scores_of(part, name, f"sequence {i}", dtype)
        size.append(len(rows) if rows.ndim and rows.size else 0)
        if not rows.size:
            continue
        if n_tags is None and rows.ndim:
            n_tags = rows.shape[-1]
        if rows.ndim != 2 or rows.shape[1] != n_tags:
            problem = (
                f"must have an array of shape (n_tokens, {n_tags}) for each sequence. "
                f"Got shape {rows.shape} for sequence {i}."
                + " Put a single sequence into a list."
                * (rows.ndim == 1)
            )
            raise ParameterError(name, problem)
        parts.append(rows)
    if n_tags is None:
        _raise_without_tags()
    whole = np.concatenate(parts) if parts else np.zeros((0, n_tags))
    return whole, np.array(size, dtype=np.intp)


def _one_array(
    values: Any, lengths: Any, n_tags: int | None, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of one array, and the lengths of the sequences in it."""
    rows = as_scores(values, "log_emission", dtype)
    size = _as_lengths(lengths)
    if n_tags is None:
        if rows.ndim != 2 or rows.shape[1] == 0:
            _raise_without_tags()
        n_tags = rows.shape[1]
    if rows.size == 0 == size.sum():
        rows = rows.reshape(0, n_tags)
    if rows.shape != (size.sum(), n_tags):
        problem = (
            f"must have shape ({size.sum()}, {n_tags}) to match lengths and "
            f"log_transition. Got {rows.shape}."
        )
        raise ParameterError("log_emission", problem)
    return rows, size


def _raise_without_tags() -> NoReturn:
    problem = (
        "must have an array of shape (n_tokens, n_tags) for at least one sequence, "
        "unless log_transition gives the number of tags."
    )
    raise ParameterError("log_emission", problem)


def _as_lengths(lengths: Any) -> np.ndarray:
    try:
        size = as_array(lengths, name="lengths")
    except ParameterError:
        raise
    except ValueError:  # entries of several lengths
        size = np.array(None)
    if size.shape == (0,):
        size = size.astype(np.intp)
    if size.ndim != 1 or size.dtype.kind not in "iu" or (size < 0).any():
        problem = f"must contain non-negative integers. Got {lengths!r:.80}."
        raise ParameterError("lengths", problem)
    return size.astype(np.intp)


def as_border(values: Any, n_tags: int, name: str) -> np.ndarray:
    """Return the scores of the first or the last tag."""
    if values is None:
        return np.zeros(n_tags)
    scores = as_scores(values, name)
    if scores.shape != (n_tags,):
        problem = (
            f"must have shape ({n_tags},) to match log_transition. Got {scores.shape}."
        )
        raise ParameterError(name, problem)
    return scores


def check_chain_scores(
    emission: np.ndarray, lengths: np.ndarray, **others: np.ndarray
) -> None:
    """Raise an error for NaN, +inf, and numbers whose sums might overflow."""
    for name, scores in others.items():
        bad = ~_is_score(scores)
        if bad.any():
            value = scores[bad][0]
            raise ParameterError(name, f"{_must_be(value)} Got {value}.")
    # If the sum of squares is finite, all scores are finite, and no score is too large.
    # The sum takes a tenth of the time of a mask.
    flat = emission.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(flat.dot(flat)):
            return
    bad = ~_is_score(emission)
    if bad.any():
        row = int(bad.any(axis=1).argmax())
        sequence = int(np.searchsorted(np.cumsum(lengths), row, side="right"))
        token = row - int(lengths[:sequence].sum())
        value = emission[row][bad[row]][0]
        problem = (
            f"{_must_be(value)} Got {value} in sequence {sequence}, token {token}."
        )
        raise ParameterError("log_emission", problem)


def _must_be(value: float) -> str:
    if np.isfinite(value):
        return f"must be within ±{MOST_SCORE:g}, so that sums are finite."
    return "must be finite or -inf."


def _is_score(values: np.ndarray) -> np.ndarray:
    return (np.abs(values) <= MOST_SCORE) | (values == -np.inf)


# Antecedents


def as_antecedent_scores(values: Any) -> list[np.ndarray]:
    """Return the score matrix of each document, a copy with -inf above the diagonal."""
    parts = entries_of(values, "log_scores", "a square array for each document")
    return [_as_square(part, i) for i, part in enumerate(parts)]


def _as_square(part: Any, i: int) -> np.ndarray:
    name = "log_scores"
    found = scores_of(part, name, f"document {i}", np.float64)
    scores = np.array(found, order="C", copy=True)
    if scores.size == 0 and scores.ndim < 3:
        return np.empty((0, 0))
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
        problem = (
            "must have a square array for each document. Got shape "
            f"{scores.shape} for document {i}. Put a single document into a list."
        )
        raise ParameterError(name, problem)
    if not _clear_above(scores):
        above = ~np.tri(len(scores), dtype=bool)
        bad = above & ~((scores == 0) | (scores == -np.inf) | np.isnan(scores))
        expected = (
            "must be 0, -inf or NaN above the diagonal, since no later mention is an "
            "antecedent"
        )
        _raise_where(bad, scores, expected, i)
    top = scores.max(axis=1)
    if not (top < np.inf).all():  # NaN is the maximum of its row
        _raise_where(~(scores < np.inf), scores, "must be finite or -inf", i)
    if (top == -np.inf).any():
        problem = (
            "must allow an antecedent, or NEW, for each mention. Got only -inf for "
            f"mention {int(top.argmin())} of document {i}."
        )
        raise ParameterError(name, problem)
    return scores


def _clear_above(scores: np.ndarray) -> bool:
    """Write -inf above the diagonal; return False if there is a score.

    `scores` is a copy that belongs to the caller. Blocks are checked and
    written while they are in the cache. If a later block has a score, the
    earlier blocks have been written already. The caller then raises an error, so the
    partial result is never used; its message needs only the later blocks.
    """
    n = len(scores)
    for a in range(0, n, _N_ROWS):
        b = min(a + _N_ROWS, n)
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


def _raise_where(
    bad: np.ndarray, scores: np.ndarray, expected: str, i: int
) -> NoReturn:
    row, column = np.argwhere(bad)[0]
    problem = (
        f"{expected}. Got {scores[row, column]} in document {i}, row {row}, column "
        f"{column}."
    )
    raise ParameterError("log_scores", problem)
