"""What LinearChainPosterior takes: clean arrays, or an error that says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._validation import is_collection, is_sequence


def as_floats(
    values: Any, dtype: Any = np.float64, *, copy: bool | None = None, order: Any = "K"
) -> np.ndarray:
    """Return an array of real numbers; what holds something else raises ValueError."""
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise ValueError("complex numbers")  # whose imaginary part would be dropped
    try:
        return np.array(values, dtype=dtype, copy=copy, order=order)
    except (TypeError, OverflowError) as error:
        raise ValueError("no numbers") from error


def _as_array(values: Any) -> np.ndarray:
    """Return an array, 0-d where entries differ in shape."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)


def check_entries(
    values: Any, n: int, of: str, name: str, caller: str, what: str = "an entry for"
) -> None:
    """Refuse what has not an entry for each of n sequences or documents."""
    name = f"The {name!r} parameter of {caller}"
    if not is_sequence(values):
        raise TypeError(
            f"{name} must be a list with {what} each {of}. Got "
            f"{type(values).__name__} {values!r:.50}."
        )
    if len(values) != n:
        raise ValueError(
            f"{name} must have an entry for each of the {n} {of}s. Got {len(values)}."
        )


def as_scores(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Return scores as an array of numbers."""
    try:
        return as_floats(values, dtype)
    except ValueError:
        raise ValueError(
            f"The {name!r} parameter of LinearChainPosterior must hold numbers in rows "
            f"of one length. Got {type(values).__name__} that holds something else."
        ) from None


def as_border(values: Any, n_tags: int, name: str) -> np.ndarray:
    """Return the scores of the first or the last tag."""
    if values is None:
        return np.zeros(n_tags)
    scores = as_scores(values, name)
    if scores.shape != (n_tags,):
        raise ValueError(
            f"The {name!r} parameter of LinearChainPosterior must have shape "
            f"({n_tags},), as log_transition has it. Got {scores.shape}."
        )
    return scores


def as_emission(
    values: Any, lengths: Any, n_tags: int, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of all tokens and the lengths of the sequences.

    With `dtype` float32, float32 scores are kept as they are.
    """
    if lengths is not None:
        return _one_array(values, lengths, n_tags, dtype)
    if not is_collection(values):
        raise TypeError(
            "The 'log_emission' parameter of LinearChainPosterior must be a list with "
            f"an array for each sequence. Got {type(values).__name__} {values!r:.50}."
        )
    parts = [_as_part(part, i, n_tags, dtype) for i, part in enumerate(values)]
    size = np.array([part.shape[0] for part in parts], dtype=np.intp)
    return np.concatenate(parts or [np.zeros((0, n_tags))]), size


def _one_array(
    values: Any, lengths: Any, n_tags: int, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    rows = as_scores(values, "log_emission", _kept(values, dtype))
    size = _as_array(lengths)
    if size.size == 0 and size.ndim == 1:
        size = size.astype(np.intp)
        rows = rows.reshape(0, n_tags) if rows.size == 0 else rows
    if size.ndim != 1 or size.dtype.kind not in "iu" or (size < 0).any():
        raise ValueError(
            "The 'lengths' parameter of LinearChainPosterior must hold integers of at "
            f"least 0. Got {lengths!r}."
        )
    if rows.shape != (size.sum(), n_tags):
        raise ValueError(
            "The 'log_emission' parameter of LinearChainPosterior must have shape "
            f"({size.sum()}, {n_tags}), as lengths and log_transition have it. "
            f"Got {rows.shape}."
        )
    return rows, size.astype(np.intp)


def _as_part(part: Any, i: int, n_tags: int, dtype: np.dtype) -> np.ndarray:
    name = "The 'log_emission' parameter of LinearChainPosterior must"
    try:
        rows = as_floats(part, _kept(part, dtype))
    except ValueError:
        raise ValueError(
            f"{name} hold numbers in rows of one length. Got something else in "
            f"sequence {i}."
        ) from None
    if rows.size == 0:
        rows = rows.reshape(0, n_tags)
    if rows.ndim != 2 or rows.shape[1] != n_tags:
        raise ValueError(
            f"{name} have an array of shape (n_tokens, {n_tags}) for each sequence. "
            f"Got shape {rows.shape} for sequence {i}."
        )
    return rows


def _kept(values: Any, dtype: np.dtype) -> np.dtype:
    return dtype if getattr(values, "dtype", None) == dtype else np.dtype(np.float64)


def check_finite(
    emission: np.ndarray, lengths: np.ndarray, **scores: np.ndarray
) -> None:
    """Refuse NaN and +inf."""
    for name, values in scores.items():
        if not (values < np.inf).all():  # False for NaN too
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must be finite or "
                f"-inf. Got {values[~(values < np.inf)][0]}."
            )
    # a maximum is NaN or inf if an entry is, at a third of the cost of a mask
    with np.errstate(invalid="ignore"):
        suspect = not (emission.max(initial=0) < np.inf)
    if suspect:
        bad = ~(emission < np.inf)
        row = int(bad.any(axis=1).argmax())
        sequence = int(np.searchsorted(np.cumsum(lengths), row, side="right"))
        raise ValueError(
            "The 'log_emission' parameter of LinearChainPosterior must be finite or "
            f"-inf. Got {emission[row][bad[row]][0]} in sequence {sequence}, token "
            f"{row - int(lengths[:sequence].sum())}."
        )


def check_paths(paths: Sequence[Any], lengths: np.ndarray, n_tags: int) -> np.ndarray:
    """Return the tags of all sequences one after another."""
    caller = "LinearChainPosterior.log_proba"
    check_entries(paths, lengths.size, "sequence", "paths", caller)
    name = f"The 'paths' parameter of {caller}"
    arrays = [_as_array(path) for path in paths]
    for i, (path, length) in enumerate(zip(arrays, lengths, strict=True)):
        if path.ndim != 1 or (path.size and path.dtype.kind not in "iu"):
            raise ValueError(
                f"{name} must hold tag indices in one dimension. Got {path.dtype} of "
                f"shape {path.shape} for sequence {i}."
            )
        if path.size != length:
            raise ValueError(
                f"{name} has {path.size} tags for sequence {i} of {length} tokens."
            )
        outside = (path < 0) | (path >= n_tags)
        if outside.any():
            token = int(outside.argmax())
            raise ValueError(
                f"{name} must hold tag indices from 0 to {n_tags - 1}. Got "
                f"{path[token]} in sequence {i}, token {token}."
            )
    whole = [path.astype(np.intp, copy=False) for path in arrays]
    return np.concatenate([np.zeros(0, dtype=np.intp), *whole])


def check_pairs(pairs: Any, n_tags: int, caller: str) -> np.ndarray:
    """Return index pairs of shape (n_pairs, 2)."""
    name = f"The 'pairs' parameter of {caller}"
    found = _as_array(pairs)
    if found.size == 0 and found.ndim < 3:
        return np.zeros((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold pairs of tag indices, (previous, next). Got "
            f"{pairs!r:.80}."
        )
    outside = (found < 0) | (found >= n_tags)
    if outside.any():
        row = int(outside.any(axis=1).argmax())
        raise ValueError(
            f"{name} must hold tag indices from 0 to {n_tags - 1}. Got "
            f"{tuple(found[row].tolist())} as pair {row}."
        )
    return found.astype(np.intp, copy=False)
