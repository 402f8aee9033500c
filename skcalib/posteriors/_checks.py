"""Validation of posteriors: their scores, and the structures that methods ask about.

Structures are tag paths, pairs and spans of tags, and sets of mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np
from scipy import sparse

from .._clusterings import check_entries, each_entry
from .._errors import ParameterError, ParameterTypeError, warn
from .._validation import (
    as_array,
    as_floats,
    describe_container,
    is_collection,
    is_integer,
    is_sequence,
)

# Largest absolute score. Larger scores could overflow in a chain of 10^7 tokens.
MOST_SCORE = np.float64(1e300)


def entries_of(values: Any, name: str, what: str, of: str) -> list[Any]:
    """Return the arrays in a list with one array for each sequence or document."""
    if sparse.issparse(values):
        as_array(values, name=name)  # raises an error
    if is_collection(values) and not hasattr(values, "__len__"):  # a generator
        values = list(values)
    check_entries(values, None, of, name, what)
    return list(values)


def rows_of_column(values: Any) -> Any:
    """Return a column of pandas, polars or pyarrow as a list, for rows of any type."""
    if not hasattr(values, "columns"):
        for method in ("to_list", "to_pylist"):
            if hasattr(values, method):
                return getattr(values, method)()
    return values


def as_scores(
    values: Any, name: str, dtype: Any = np.float64, entry: str = ""
) -> np.ndarray:
    """Return scores as float64; scores of the given dtype stay as they are.

    Errors name the `entry` of a list, if it is given.
    """
    if type(values) is np.ndarray and values.dtype == np.float64:  # the usual case
        return values
    try:
        scores = as_floats(rows_of_column(values), name=name)
    except ParameterError as error:
        if not entry:
            raise
        found, colon, advice = error.problem.removesuffix(".").partition(": ")
        problem = f"{found} in {entry}{colon}{advice}."
        raise type(error)(name, problem) from None
    return scores.astype(dtype if scores.dtype == dtype else np.float64, copy=False)


def is_score(values: np.ndarray) -> np.ndarray:
    """Return which scores are -inf, or finite and not too large."""
    return (np.abs(values) <= MOST_SCORE) | (values == -np.inf)


def tempered(scores: np.ndarray, temperature: Any, of: str = "") -> np.ndarray:
    """Return scores divided by a temperature, in their type."""
    with np.errstate(over="ignore"):
        divided = np.divide(scores, float(temperature), dtype=np.float64)
        divided = divided.astype(scores.dtype, copy=False)
    if ((np.abs(divided) > MOST_SCORE) & np.isfinite(scores)).any():
        raise ParameterError(
            "temperature",
            f"is too small: {temperature!r} makes scores{of} exceed {MOST_SCORE:g}.",
        )
    return divided


def warn_of_proba(scores: Iterable[np.ndarray], name: str) -> None:
    """Warn if all rows of scores are probabilities, which must be logarithms."""
    n_rows, is_between = 0, False
    for part in filter(len, scores):
        # The last row tells scores from probabilities without a pass over the matrix.
        for some in (part[-1:], part):
            proba = np.where(some == -np.inf, 0, some)
            if proba.min() < 0 or proba.max() > 1:
                return
            if not np.allclose(proba.sum(axis=1), 1, atol=0.02):
                return
        n_rows += len(part)
        is_between |= bool(((proba > 0) & (proba < 1)).any())
    # Rows of zeros and a single one are scores in many examples.
    if n_rows > 1 and is_between:
        warn(
            f"All rows of {name!r} are probabilities: no number is negative, and each "
            f"row sums to 1. {name!r} must contain scores, such as logarithms of "
            "probabilities. Pass np.log(proba)."
        )


def check_slice(posterior: Any, value: Any, of: str) -> None:
    """Raise an error if a posterior is indexed by anything other than a slice."""
    if not isinstance(value, slice):
        raise TypeError(
            f"{type(posterior).__name__} is indexed by a slice of {of}. Got {value!r}."
        )


class ScoreMatrices:
    """Base class of posteriors that have a matrix of scores for each document."""

    log_scores: list[np.ndarray]
    lengths: np.ndarray

    def _with(self, log_scores: list[np.ndarray]) -> Self:
        """Return a posterior with other scores, without validation."""
        new = copy(self)
        new.log_scores, new.lengths = log_scores, lengths_of(log_scores)
        return new

    def __len__(self) -> int:
        return len(self.log_scores)


def lengths_of(scores: list[np.ndarray]) -> np.ndarray:
    """Return the number of rows of each matrix."""
    return np.array(list(map(len, scores)), dtype=np.intp)


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
    for i, part in enumerate(entries_of(values, name, "an array for", "sequence")):
        rows = as_scores(part, name, dtype, f"sequence {i}")
        size.append(len(rows) if rows.ndim and rows.size else 0)
        if not rows.size:
            continue
        if n_tags is None and rows.ndim:
            n_tags = rows.shape[-1]
        if rows.ndim != 2 or rows.shape[1] != n_tags:
            raise ParameterError(
                name,
                f"must have an array of shape (n_tokens, {n_tags}) for each sequence. "
                f"Got shape {rows.shape} for sequence {i}."
                + " Put a single sequence into a list."
                * (rows.ndim == 1),
            )
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
        raise ParameterError(
            "log_emission",
            f"must have shape ({size.sum()}, {n_tags}) to match lengths and "
            f"log_transition. Got {rows.shape}.",
        )
    return rows, size


def _raise_without_tags() -> NoReturn:
    raise ParameterError(
        "log_emission",
        "must have an array of shape (n_tokens, n_tags) for at least one sequence, "
        "unless log_transition gives the number of tags.",
    )


def _as_lengths(lengths: Any) -> np.ndarray:
    size = as_integers(lengths, "lengths")
    if size.shape == (0,):  # of floats
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
        raise ParameterError(
            name,
            f"must have shape ({n_tags},) to match log_transition. Got {scores.shape}.",
        )
    return scores


def check_chain_scores(
    emission: np.ndarray, lengths: np.ndarray, **others: np.ndarray
) -> None:
    """Raise an error for NaN, +inf, and numbers whose sums might overflow."""
    for name, scores in others.items():
        bad = ~is_score(scores)
        if bad.any():
            value = scores[bad][0]
            raise ParameterError(name, f"{_must_be(value)} Got {value}.")
    # If the sum of squares is finite, all scores are finite, and no score is too large.
    # The sum takes a tenth of the time of a mask.
    flat = emission.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(flat.dot(flat)):
            return
    bad = ~is_score(emission)
    if bad.any():
        row = int(bad.any(axis=1).argmax())
        sequence = int(np.searchsorted(np.cumsum(lengths), row, side="right"))
        token = row - int(lengths[:sequence].sum())
        value = emission[row][bad[row]][0]
        raise ParameterError(
            "log_emission",
            f"{_must_be(value)} Got {value} in sequence {sequence}, token {token}.",
        )


def _must_be(value: float) -> str:
    if np.isfinite(value):
        return f"must be within ±{MOST_SCORE:g}, so that sums are finite."
    return "must be finite or -inf."


# Antecedents


def as_antecedent_scores(part: Any, i: int) -> np.ndarray:
    """Return the score matrix of a document, a copy with -inf above the diagonal."""
    name = "log_scores"
    entry = f"document {i}"
    scores = as_scores(part, name, entry=entry).copy(order="C")
    if scores.size == 0 and scores.ndim < 3:
        return np.empty((0, 0))
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
        raise ParameterError(
            name,
            "must have a square array for each document. Got shape "
            f"{scores.shape} for document {i}. Put a single document into a list.",
        )
    above = ~np.tri(len(scores), dtype=bool)
    unread = scores[above]
    # the two usual cases take one pass each
    if unread.any() and not (unread == -np.inf).all():
        bad = above & ~((scores == 0) | (scores == -np.inf) | np.isnan(scores))
        expected = (
            "must be 0, -inf or NaN above the diagonal, since no later mention is an "
            "antecedent"
        )
        raise_in_matrix(bad, scores, expected, entry)
    np.copyto(scores, -np.inf, where=above)
    top = scores.max(axis=1)
    if not (top < np.inf).all():  # NaN is the maximum of its row
        bad, expected = ~(scores < np.inf), "must be finite or -inf"
        raise_in_matrix(bad, scores, expected, entry)
    if (top == -np.inf).any():
        raise ParameterError(
            name,
            "must allow an antecedent, or NEW, for each mention. Got only -inf for "
            f"mention {int(top.argmin())} of document {i}.",
        )
    return scores


def raise_in_matrix(
    bad: np.ndarray, scores: np.ndarray, expected: str, entry: str
) -> None:
    """Raise an error that shows the first of the `bad` scores, if there is one."""
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ParameterError(
            "log_scores",
            f"{expected}. Got {scores[row, column]} in {entry}, row {row}, "
            f"column {column}.",
        )


# Tags


def as_integers(values: Any, name: str) -> np.ndarray:
    """Return an array, or a 0-d array if rows differ in length."""
    try:
        return as_array(rows_of_column(values), name=name)
    except ParameterError:
        raise
    except ValueError:
        return np.array(None)


def check_paths(paths: Any, lengths: np.ndarray, n_tags: int) -> np.ndarray:
    """Return the concatenated tags of all sequences."""
    name = "paths"
    whole = [np.zeros(0, dtype=np.intp)]
    for i, entry, length in each_entry(paths, lengths.tolist(), "sequence", name):
        path = as_integers(entry, name)
        if path.ndim != 1 or (path.size and path.dtype.kind not in "iu"):
            raise ParameterError(
                name,
                f"must contain tag indices in one dimension. Got {path.dtype} of shape "
                f"{path.shape} for sequence {i}.",
            )
        if path.size != length:
            raise ParameterError(
                name,
                f"must have one tag per token. Got {path.size} tags for sequence {i}, "
                f"which has {length} tokens.",
            )
        outside = (path < 0) | (path >= n_tags)
        if outside.any():
            token = int(outside.argmax())
            raise ParameterError(
                name,
                f"must contain tag indices from 0 to {n_tags - 1}. Got {path[token]} "
                f"in sequence {i}, token {token}.",
            )
        whole.append(path.astype(np.intp, copy=False))
    return np.concatenate(whole)


def check_tag_pairs(pairs: Any, n_tags: int) -> np.ndarray:
    """Return index pairs of shape (n_pairs, 2)."""
    name = "pairs"
    found = as_integers(pairs, name)
    if found.size == 0 and found.ndim < 3:
        return np.zeros((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ParameterError(
            name,
            "must contain pairs of tag indices, (previous, next). Got "
            f"{describe_container(pairs)}.",
        )
    outside = (found < 0) | (found >= n_tags)
    if outside.any():
        row = int(outside.any(axis=1).argmax())
        raise ParameterError(
            name,
            f"must contain tag indices from 0 to {n_tags - 1}. Got "
            f"{tuple(found[row].tolist())} as pair {row}.",
        )
    return found.astype(np.intp, copy=False)


def check_label_pairs(pairs: Any) -> list[tuple[Any, Any]]:
    """Return pairs of labels, (label, next label), as tuples."""
    expected = "must be a list of (label, next label)."
    if not is_collection(pairs) or not hasattr(pairs, "__len__"):
        raise ParameterTypeError("pairs", f"{expected} Got {pairs!r:.50}.")
    for i, pair in enumerate(pairs):
        if not is_sequence(pair) or len(pair) != 2:
            raise ParameterError("pairs", f"{expected} Got {pair!r:.50} as pair {i}.")
    return [
        tuple(pair.tolist() if isinstance(pair, np.ndarray) else pair) for pair in pairs
    ]


# Spans


@dataclass(frozen=True)
class Spans:
    """Spans of a batch of sequences.

    start : (n_spans,) first token, counted through all sequences; length : (n_spans,);
    allowed : (n_rows, n_tags) bool, the concatenated rows of all spans.
    """

    start: np.ndarray
    length: np.ndarray
    allowed: np.ndarray


def spans_by_entry(
    spans: Any, lengths: np.ndarray, of: str
) -> Iterator[tuple[int, Any, int]]:
    """Yield the index, the spans and the length of each sequence or sentence."""
    entries = each_entry(spans, lengths.tolist(), of, "spans", what="the spans of")
    for i, entry, n in entries:
        if not is_sequence(entry):
            raise ParameterTypeError(
                "spans",
                f"must be a list with the spans of each {of}. Got {entry!r:.50} for "
                f"{of} {i}.",
            )
        yield i, entry, n


def check_spans(
    spans: Any, lengths: np.ndarray, n_tags: int
) -> tuple[Spans, np.ndarray]:
    """Return the concatenated spans, and the number of spans of each sequence."""
    starts, sizes, allowed = [], [], _AllowedTags(n_tags)
    for i, of_sequence, n in spans_by_entry(spans, lengths, "sequence"):
        for j, span in enumerate(of_sequence):
            where = f"span {j} of sequence {i}"
            start, tags = _start_and_tags(span, where)
            size = allowed.add(tags, where)
            if not 0 <= start <= n - size:
                raise ParameterError(
                    "spans",
                    f"must have spans inside the sequences. Got tokens {start} to "
                    f"{start + size - 1} as {where}, which has {n} tokens.",
                )
            starts.append(start)
            sizes.append(size)
    count = np.array([len(of_sequence) for of_sequence in spans], dtype=np.intp)
    offset = np.repeat(np.cumsum(lengths) - lengths, count)
    start = np.array(starts, dtype=np.intp) + offset
    return Spans(start, np.array(sizes, dtype=np.intp), allowed.rows()), count


def two_of(value: Any) -> tuple[Any, Any]:
    """Return the two entries of a value, or None and None if it does not have two."""
    with suppress(TypeError, ValueError):
        first, second = value
        return first, second
    return None, None


def _start_and_tags(span: Any, where: str) -> tuple[int, Any]:
    start, tags = two_of(span)
    if not is_integer(start):
        raise ParameterError(
            "spans",
            "must contain (first token, tags of each token) for each span. Got "
            f"{span!r:.50} as {where}.",
        )
    return int(start), tags


class _AllowedTags:
    """Sets of allowed tags, with a number and a mask for each distinct set.

    Many spans have the same sets, so each set is validated once.
    """

    def __init__(self, n_tags: int):
        self.n_tags = n_tags
        self.masks = list(np.eye(n_tags, dtype=bool))  # single tags come first
        self.numbers: dict[Any, int] = {}
        self.codes: list[int] = []

    def add(self, tags: Any, where: str) -> int:
        """Add the tags of a span; return its number of tokens."""
        before = len(self.codes)
        if isinstance(tags, np.ndarray) and tags.dtype == bool:
            if tags.ndim != 2 or tags.shape[1] != self.n_tags:
                raise ParameterError(
                    "spans",
                    f"must have masks of shape (n_tokens, {self.n_tags}). Got shape "
                    f"{tags.shape} for {where}.",
                )
            self.codes.extend(self._number(m.tobytes(), m.copy()) for m in tags)
        elif is_collection(tags):
            self.codes.extend(self._code(some, where) for some in tags)
        else:
            self.codes.append(self._code(tags, where))
        size = len(self.codes) - before
        if size == 0:
            raise ParameterError(
                "spans", f"must have at least one token. Got none in {where}."
            )
        return size

    def _code(self, some: Any, where: str) -> int:
        """Return the number of one tag or a set of them."""
        if type(some) is int and 0 <= some < self.n_tags:  # the usual case
            return some
        if isinstance(some, (set, frozenset)):
            known = self.numbers.get(frozenset(some))
            if known is not None:
                return known
        whole = list(some) if is_collection(some) else [some]
        # A list of bool is probably meant as a mask, not as the tags 0 and 1.
        if not all(map(is_integer, whole)):
            raise ParameterError(
                "spans",
                "must have a tag index or a set of them for each token. Got "
                f"{some!r:.50} in {where}.",
            )
        mask = np.zeros(self.n_tags, dtype=bool)
        for tag in whole:
            if not 0 <= tag < self.n_tags:
                raise ParameterError(
                    "spans",
                    f"must contain tag indices from 0 to {self.n_tags - 1}. Got {tag} "
                    f"in {where}.",
                )
            mask[tag] = True
        return self._number(frozenset(whole), mask)

    def _number(self, key: Any, mask: np.ndarray) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.masks)
            self.masks.append(mask)
        return self.numbers[key]

    def rows(self) -> np.ndarray:
        """Return a mask of shape (n_rows, n_tags)."""
        return np.array(self.masks)[np.array(self.codes, dtype=np.intp)]


# Mentions


def as_members(entry: Any, n: int, i: int) -> tuple[bool, list[np.ndarray]]:
    """Return whether an entry is one set of mentions, and its sets, sorted."""
    if not (is_collection(entry) and hasattr(entry, "__len__")):
        raise ParameterTypeError(
            "members",
            "must contain mentions, or collections of mentions, for each document. Got "
            f"{entry!r:.50} for document {i}.",
        )
    members = list(entry)
    is_one = bool(members) and all(map(is_integer, members))
    sets = [entry] if is_one else members
    return is_one, [_as_mentions(each, n, i) for each in sets]


def _as_mentions(values: Any, n: int, i: int) -> np.ndarray:
    if is_collection(values):
        found = list(values)
        inside = all(is_integer(k) and 0 <= k < n for k in found)
        if found and inside and len(set(found)) == len(found):
            return np.sort(np.array(found, dtype=np.intp))
    raise ParameterError(
        "members",
        f"must contain one or more distinct mentions from 0 to {n - 1}. Got "
        f"{values!r:.80} in document {i}.",
    )
