"""Validation of structures: tag paths, pairs and spans of tags, sets of mentions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._clusterings import check_entries
from .._containers import described
from .._errors import ParameterError, ParameterTypeError
from .._validation import as_array, is_collection, is_integer, is_sequence
from ._score_checks import rows_of_column


def as_integers(values: Any, name: str) -> np.ndarray:
    """Return an array, or a 0-d array if rows differ in length."""
    try:
        return as_array(rows_of_column(values), name=name)
    except ParameterError:
        raise
    except ValueError:
        return np.array(None)


# Tags


def check_paths(paths: Any, lengths: np.ndarray, n_tags: int) -> np.ndarray:
    """Return the concatenated tags of all sequences."""
    name = "paths"
    check_entries(paths, lengths.size, "sequence", name)
    whole = [np.zeros(0, dtype=np.intp)]
    for i, (entry, length) in enumerate(zip(paths, lengths.tolist(), strict=True)):
        path = as_integers(entry, name)
        if path.ndim != 1 or (path.size and path.dtype.kind not in "iu"):
            problem = (
                f"must contain tag indices in one dimension. Got {path.dtype} of shape "
                f"{path.shape} for sequence {i}."
            )
            raise ParameterError(name, problem)
        if path.size != length:
            problem = (
                f"must have one tag per token. Got {path.size} tags for sequence {i}, "
                f"which has {length} tokens."
            )
            raise ParameterError(name, problem)
        outside = (path < 0) | (path >= n_tags)
        if outside.any():
            token = int(outside.argmax())
            problem = (
                f"must contain tag indices from 0 to {n_tags - 1}. Got {path[token]} "
                f"in sequence {i}, token {token}."
            )
            raise ParameterError(name, problem)
        whole.append(path.astype(np.intp, copy=False))
    return np.concatenate(whole)


def check_tag_pairs(pairs: Any, n_tags: int) -> np.ndarray:
    """Return index pairs of shape (n_pairs, 2)."""
    name = "pairs"
    found = as_integers(pairs, name)
    if found.size == 0 and found.ndim < 3:
        return np.zeros((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        problem = (
            "must contain pairs of tag indices, (previous, next). Got "
            f"{described(pairs)}."
        )
        raise ParameterError(name, problem)
    outside = (found < 0) | (found >= n_tags)
    if outside.any():
        row = int(outside.any(axis=1).argmax())
        problem = (
            f"must contain tag indices from 0 to {n_tags - 1}. Got "
            f"{tuple(found[row].tolist())} as pair {row}."
        )
        raise ParameterError(name, problem)
    return found.astype(np.intp, copy=False)


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


def check_spans(
    spans: Any, lengths: np.ndarray, n_tags: int
) -> tuple[Spans, np.ndarray]:
    """Return the concatenated spans, and the number of spans of each sequence."""
    name = "spans"
    check_entries(spans, lengths.size, "sequence", name, what="the spans of")
    starts, sizes, allowed = [], [], _AllowedTags(n_tags)
    for i, of_sequence in enumerate(spans):
        if not is_sequence(of_sequence):
            problem = (
                "must be a list with the spans of each sequence. Got "
                f"{of_sequence!r:.50} for sequence {i}."
            )
            raise ParameterTypeError(name, problem)
        for j, span in enumerate(of_sequence):
            where = f"span {j} of sequence {i}"
            start, tags = _start_and_tags(span, where)
            size = allowed.add(tags, where)
            if not 0 <= start <= lengths[i] - size:
                problem = (
                    f"must have spans inside the sequences. Got tokens {start} to "
                    f"{start + size - 1} as {where}, which has {lengths[i]} tokens."
                )
                raise ParameterError(name, problem)
            starts.append(start)
            sizes.append(size)
    count = np.array([len(of_sequence) for of_sequence in spans], dtype=np.intp)
    offset = np.repeat(np.cumsum(lengths) - lengths, count)
    start = np.array(starts, dtype=np.intp) + offset
    return Spans(start, np.array(sizes, dtype=np.intp), allowed.rows()), count


def _start_and_tags(span: Any, where: str) -> tuple[int, Any]:
    try:
        start, tags = span
    except (TypeError, ValueError):
        start, tags = None, None
    if not is_integer(start):
        problem = (
            "must contain (first token, tags of each token) for each span. Got "
            f"{span!r:.50} as {where}."
        )
        raise ParameterError("spans", problem)
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
                problem = (
                    f"must have masks of shape (n_tokens, {self.n_tags}). Got shape "
                    f"{tags.shape} for {where}."
                )
                raise ParameterError("spans", problem)
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
        whole = self._as_list(some, where)
        for tag in whole:
            if not 0 <= tag < self.n_tags:
                problem = (
                    f"must contain tag indices from 0 to {self.n_tags - 1}. Got {tag} "
                    f"in {where}."
                )
                raise ParameterError("spans", problem)
        mask = np.zeros(self.n_tags, dtype=bool)
        mask[whole] = True
        return self._number(frozenset(whole), mask)

    def _number(self, key: Any, mask: np.ndarray) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.masks)
            self.masks.append(mask)
        return self.numbers[key]

    def _as_list(self, some: Any, where: str) -> list[int]:
        items = list(some) if is_collection(some) else [some]
        for tag in items:
            # A list of bool is probably meant as a mask, not as the tags 0 and 1.
            if not is_integer(tag):
                problem = (
                    "must have a tag index or a set of them for each token. Got "
                    f"{some!r:.50} in {where}."
                )
                raise ParameterError("spans", problem)
        return [int(tag) for tag in items]

    def rows(self) -> np.ndarray:
        """Return a mask of shape (n_rows, n_tags)."""
        return np.array(self.masks)[np.array(self.codes, dtype=np.intp)]


# Mentions


def as_members(entry: Any, n: int, i: int) -> tuple[bool, list[np.ndarray]]:
    """Return whether an entry is one set of mentions, and its sets, sorted."""
    if not (is_collection(entry) and hasattr(entry, "__len__")):
        problem = (
            "must contain mentions, or collections of mentions, for each document. Got "
            f"{entry!r:.50} for document {i}."
        )
        raise ParameterTypeError("members", problem)
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
    problem = (
        f"must contain one or more distinct mentions from 0 to {n - 1}. Got "
        f"{values!r:.80} in document {i}."
    )
    raise ParameterError("members", problem)
