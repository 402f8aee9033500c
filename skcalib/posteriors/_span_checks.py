"""Spans as the user gives them, to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import is_collection, is_integer, is_sequence
from ._checks import check_entries
from ._spans import Spans

_CALLER = "LinearChainPosterior.span_marginals"
_NAME = f"The 'spans' parameter of {_CALLER}"


def check_spans(
    spans: Any, lengths: np.ndarray, n_tags: int
) -> tuple[Spans, np.ndarray]:
    """Return all spans one after another, and how many each sequence has."""
    n = lengths.size
    check_entries(spans, n, "sequence", "spans", _CALLER, what="the spans of")
    starts, sizes, allowed = [], [], _Allowed(n_tags)
    for i, of_sequence in enumerate(spans):
        if not is_sequence(of_sequence):
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
    if not is_integer(start):
        raise ValueError(
            f"{_NAME} must hold (first token, tags of each token) for each span. Got "
            f"{span!r:.50} as {where}."
        )
    return int(start), tags


class _Allowed:
    """Allowed tags of tokens: a number for each different set, and their masks.

    Many spans say the same of their tokens, so a set is read once.
    """

    def __init__(self, n_tags: int):
        self.n_tags = n_tags
        self.masks = list(np.eye(n_tags, dtype=bool))  # first each tag alone
        self.numbers: dict[Any, int] = {}
        self.codes: list[int] = []

    def add(self, tags: Any, where: str) -> int:
        """Take the tags of a span; return its number of tokens."""
        before = len(self.codes)
        if isinstance(tags, np.ndarray) and tags.dtype == bool:
            if tags.ndim != 2 or tags.shape[1] != self.n_tags:
                raise ValueError(
                    f"{_NAME} must have masks of shape (n_tokens, {self.n_tags}). Got "
                    f"shape {tags.shape} for {where}."
                )
            self.codes.extend(self._number(m.tobytes(), m.copy()) for m in tags)
        elif is_collection(tags):
            self.codes.extend(self._code(some, where) for some in tags)
        else:
            self.codes.append(self._code(tags, where))
        size = len(self.codes) - before
        if size == 0:
            raise ValueError(f"{_NAME} must name a token at least. Got {where}.")
        return size

    def _code(self, some: Any, where: str) -> int:
        """Return the number of one tag or a set of them."""
        if type(some) is int and 0 <= some < self.n_tags:  # as almost always
            return some
        if isinstance(some, (set, frozenset)):
            known = self.numbers.get(frozenset(some))
            if known is not None:
                return known
        whole = self._as_list(some, where)
        for tag in whole:
            if not 0 <= tag < self.n_tags:
                raise ValueError(
                    f"{_NAME} must hold tag indices from 0 to {self.n_tags - 1}. Got "
                    f"{tag} in {where}."
                )
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
            # a list of bool would be a mask to its writer, and the tags 0 and 1 here
            if not is_integer(tag):
                raise ValueError(
                    f"{_NAME} must have a tag index or a set of them for each token. "
                    f"Got {some!r:.50} in {where}."
                )
        return [int(tag) for tag in items]

    def rows(self) -> np.ndarray:
        """Return a mask of shape (n_rows, n_tags)."""
        return np.array(self.masks)[np.array(self.codes, dtype=np.intp)]
