"""Spans as the user gives them, to arrays."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from ._spans import Spans

_NAME = "The 'spans' parameter of LinearChainPosterior.span_marginals"


def check_spans(
    spans: Any, lengths: np.ndarray, n_tags: int
) -> tuple[Spans, np.ndarray]:
    """Return all spans one after another, and how many each sequence has."""
    if isinstance(spans, (str, bytes)) or not hasattr(spans, "__len__"):
        raise TypeError(
            f"{_NAME} must be a list with the spans of each sequence. Got "
            f"{spans!r:.50}."
        )
    if len(spans) != lengths.size:
        raise ValueError(
            f"{_NAME} must have an entry for each of the {lengths.size} sequences. Got "
            f"{len(spans)}."
        )
    starts, sizes, allowed = [], [], _Allowed(n_tags)
    for i, of_sequence in enumerate(spans):
        if not hasattr(of_sequence, "__len__"):
            raise TypeError(
                f"{_NAME} must be a list with the spans of each sequence. Got "
                f"{of_sequence!r:.50} for sequence {i}."
            )
        for j, span in enumerate(of_sequence):
            where = f"span {j} of sequence {i}"
            start, tags = _halves(span, where)
            size = allowed.add(tags, where)
            if not 0 <= start <= lengths[i] - size:
                raise ValueError(
                    f"{_NAME} has tokens {start} to {start + size - 1} as {where}, "
                    f"which has {lengths[i]} tokens."
                )
            starts.append(start)
            sizes.append(size)
    count = np.array([len(of_sequence) for of_sequence in spans], dtype=np.intp)
    offset = np.repeat(np.cumsum(lengths) - lengths, count)
    start = np.array(starts, dtype=np.intp) + offset
    return Spans(start, np.array(sizes, dtype=np.intp), allowed.rows()), count


def _halves(span: Any, where: str) -> tuple[int, Any]:
    try:
        start, tags = span
    except (TypeError, ValueError):
        start, tags = None, None
    if isinstance(start, (bool, np.bool_)) or not isinstance(start, Integral):
        raise ValueError(
            f"{_NAME} must hold (first token, tags of each token) for each span. Got "
            f"{span!r:.50} as {where}."
        )
    return int(start), tags


class _Allowed:
    """Allowed tags of tokens, gathered as pairs of row and tag."""

    def __init__(self, n_tags: int):
        self.n_tags, self.n_rows = n_tags, 0
        self.row: list[int] = []
        self.tag: list[int] = []

    def add(self, tags: Any, where: str) -> int:
        """Take the tags of a span; return its number of tokens."""
        tags = self._as_lists(tags, where)
        for row, some in enumerate(tags, start=self.n_rows):
            for tag in some:
                if not 0 <= tag < self.n_tags:
                    raise ValueError(
                        f"{_NAME} must hold tag indices from 0 to {self.n_tags - 1}. "
                        f"Got {tag} in {where}."
                    )
                self.row.append(row)
                self.tag.append(tag)
        self.n_rows += len(tags)
        return len(tags)

    def _as_lists(self, tags: Any, where: str) -> list[list[int]]:
        if isinstance(tags, np.ndarray) and tags.dtype == bool:
            if tags.ndim != 2 or tags.shape[1] != self.n_tags:
                raise ValueError(
                    f"{_NAME} must have masks of shape (n_tokens, {self.n_tags}). Got "
                    f"shape {tags.shape} for {where}."
                )
            lists = [np.flatnonzero(mask).tolist() for mask in tags]
        elif isinstance(tags, Iterable) and not isinstance(tags, (str, bytes)):
            lists = [self._as_list(some, where) for some in tags]
        else:
            lists = [self._as_list(tags, where)]
        if not lists:
            raise ValueError(f"{_NAME} must name a token at least. Got {where}.")
        return lists

    def _as_list(self, some: Any, where: str) -> list[int]:
        if isinstance(some, Integral) and not isinstance(some, (bool, np.bool_)):
            return [int(some)]
        if isinstance(some, Iterable) and not isinstance(some, (str, bytes)):
            found = list(some)
            if all(isinstance(tag, Integral) for tag in found):
                return [int(tag) for tag in found]
        raise ValueError(
            f"{_NAME} must have a tag index or a set of them for each token. Got "
            f"{some!r:.50} in {where}."
        )

    def rows(self) -> np.ndarray:
        """Return a mask of shape (n_rows, n_tags)."""
        allowed = np.zeros((self.n_rows, self.n_tags), dtype=bool)
        allowed[self.row, self.tag] = True
        return allowed
