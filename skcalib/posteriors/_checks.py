"""What LinearChainPosterior takes: clean arrays, or an error that says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def as_scores(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Return scores as an array of numbers."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
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
    name = "log_emission"
    if lengths is not None:
        rows, size = as_scores(values, name, _kept(values, dtype)), np.asarray(lengths)
        if size.size == 0:
            size = size.astype(np.intp)
            rows = rows.reshape(0, n_tags) if rows.size == 0 else rows
        if size.ndim != 1 or size.dtype.kind not in "iu" or (size < 0).any():
            raise ValueError(
                "The 'lengths' parameter of LinearChainPosterior must hold integers of "
                f"at least 0. Got {lengths!r}."
            )
        if rows.shape != (size.sum(), n_tags):
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must have shape "
                f"({size.sum()}, {n_tags}), as lengths and log_transition have it. "
                f"Got {rows.shape}."
            )
        return rows, size.astype(np.intp)
    if not hasattr(values, "__iter__"):
        raise TypeError(
            f"The {name!r} parameter of LinearChainPosterior must be a list with an "
            f"array for each sequence. Got {type(values).__name__}."
        )
    parts = []
    for i, part in enumerate(values):
        try:
            array = np.asarray(part, dtype=_kept(part, dtype))
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must hold numbers in "
                f"rows of one length. Got something else in sequence {i}."
            ) from None
        if array.size == 0:
            array = array.reshape(0, n_tags)
        if array.ndim != 2 or array.shape[1] != n_tags:
            raise ValueError(
                f"The {name!r} parameter of LinearChainPosterior must have an array of "
                f"shape (n_tokens, {n_tags}) for each sequence. Got shape "
                f"{array.shape} for sequence {i}."
            )
        parts.append(array)
    size = np.array([part.shape[0] for part in parts], dtype=np.intp)
    return np.concatenate(parts or [np.zeros((0, n_tags))]), size


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
    name = "The 'paths' parameter of LinearChainPosterior.log_proba"
    if len(paths) != lengths.size:
        raise ValueError(
            f"{name} must have an entry for each of the {lengths.size} sequences. Got "
            f"{len(paths)}."
        )
    arrays = [np.asarray(path) for path in paths]
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
    try:
        found = np.asarray(pairs)
    except ValueError:
        found = np.empty(1, dtype=object)
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
