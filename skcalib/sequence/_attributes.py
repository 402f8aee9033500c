"""CRFsuite attributes of tokens, as CRFsuite reads them.

A token is a dict, or a collection of names. In a dict, a str value makes the attribute
``key:value`` of weight 1, a number (or True, False) the attribute ``key`` of that
weight, a list or set of str one attribute ``key:element`` for each, a dict attributes
``key:inner``. An attribute that occurs twice counts twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, compress, repeat
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from ._sentences import n_tokens

WORD = "word"
_FINITE = float("inf")
_NUMBERS = (Real, np.bool_)
_COLLECTIONS = (list, tuple, set, frozenset)


def expand(item: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the attributes of a dict and their weights."""
    for key, value in item.items():
        _as_name(key)
        if isinstance(value, str):
            yield f"{key}:{value}", 1.0
        elif isinstance(value, _NUMBERS):
            yield key, _as_weight(key, value)
        elif isinstance(value, Mapping):
            for inner, weight in expand(value):
                yield f"{key}:{inner}", weight
        elif isinstance(value, _COLLECTIONS):
            for element in value:
                yield f"{key}:{_as_name(element)}", 1.0
        else:
            raise TypeError(
                f"the value of {key!r} must be a str, a number, or a collection of str."
                f" Got {type(value).__name__} {value!r:.50}"
            )


def _as_weight(key: str, value: Any) -> float:
    try:
        weight = float(value)
    except OverflowError:
        weight = _FINITE
    if not -_FINITE < weight < _FINITE:
        raise ValueError(f"the weight of {key!r} must be finite. Got {value!r:.50}")
    return weight


def _as_name(element: Any) -> str:
    if not isinstance(element, str):
        raise TypeError(f"attributes must be str. Got {element!r:.50}")
    return element


def attributes(token: Any) -> Iterator[tuple[str, float]]:
    """Yield the attributes of a token and their weights."""
    if isinstance(token, str):
        yield f"{WORD}:{token}", 1.0
    elif isinstance(token, Mapping):
        yield from expand(token)
    elif isinstance(token, _COLLECTIONS):
        for element in token:
            yield _as_name(element), 1.0
    else:
        raise TypeError(
            "a token must be a str or a dict of attributes. "
            f"Got {type(token).__name__} {token!r:.50}"
        )


def _storable(name: str) -> str:
    """Return a name that CRFsuite's file can hold: UTF-8 without a NUL."""
    if not is_storable(name):
        raise ValueError(f"CRFsuite cannot store the attribute {name!r:.50}")
    return name


def is_storable(name: str) -> bool:
    """Return whether CRFsuite's file can hold a name."""
    try:
        return b"\0" not in name.encode("utf-8")
    except UnicodeEncodeError:
        return False


def _explain(error: Exception, caller: str, i: int, t: int) -> Exception:
    message = f"X of {caller}, sentence {i}, token {t}: {error}."
    return type(error)(message)


def as_items(sentences: list[Any], *, caller: str) -> list[list[dict[str, float]]]:
    """Return checked tokens as flat dicts of attribute weights, for training."""
    if sparse_width(sentences, caller=caller) is not None:
        return [_sparse_items(m, i, caller) for i, m in enumerate(sentences)]
    items = []
    for i, sentence in enumerate(sentences):
        row = []
        for t, token in enumerate(sentence):
            flat: dict[str, float] = {}
            try:
                for name, weight in attributes(token):
                    flat[_storable(name)] = flat.get(name, 0.0) + weight
            except (TypeError, ValueError) as error:
                raise _explain(error, caller, i, t) from None
            row.append(flat)
        items.append(row)
    return items


def sparse_width(sentences: list[Any], *, caller: str) -> int | None:
    """Return the number of columns of sparse sentences, None for those of tokens."""
    kinds = [sparse.issparse(sentence) for sentence in sentences]
    if not any(kinds):
        return None
    if not all(kinds):
        i = kinds.index(False)
        raise TypeError(
            f"X of {caller} must hold sparse matrices only, or none. Got "
            f"{type(sentences[i]).__name__} as sentence {i}."
        )
    widths = sorted({sentence.shape[1] for sentence in sentences})
    if len(widths) > 1:
        raise ValueError(
            f"X of {caller} must hold matrices of one number of columns. Got {widths}."
        )
    return widths[0]


def _sparse_items(matrix: Any, i: int, caller: str) -> list[dict[str, float]]:
    matrix = sparse.csr_array(matrix, copy=True)
    matrix.sum_duplicates()
    _check_finite(matrix, i, caller)
    names = [str(column) for column in matrix.indices.tolist()]
    values, ends = matrix.data.tolist(), matrix.indptr.tolist()
    return [
        dict(zip(names[a:b], values[a:b], strict=True))
        for a, b in zip(ends, ends[1:], strict=False)
    ]


def _check_finite(matrix: sparse.csr_array, i: int, caller: str) -> None:
    if not np.isfinite(matrix.data).all():
        bad = int((~np.isfinite(matrix.data)).argmax())
        token = int(np.searchsorted(matrix.indptr, bad, side="right")) - 1
        raise ValueError(
            f"X of {caller}, sentence {i}, token {token}: weights must be finite. "
            f"Got {matrix.data[bad]}."
        )


class AttributeIndex:
    """Numbers of the attributes that a model knows, and design matrices by them.

    `width` is the number of columns of the sparse matrices that the model was fitted
    on, whose columns are the names; None for tokens.
    """

    def __init__(self, names: list[str], width: int | None = None):
        self.width = width
        self.number = {name: k for k, name in enumerate(names)}
        self.size = len(names)
        # Looking up the items of a token as they are spares joining key and value.
        # Interned strings are the very objects that the templates use, so comparing
        # them is comparing pointers. A name with several colons may come from several
        # keys.
        self.pair: dict[tuple[str, str], int] = {}
        for k, name in enumerate(names):
            colon = name.find(":")
            while colon >= 0:
                self.pair[sys.intern(name[:colon]), sys.intern(name[colon + 1 :])] = k
                colon = name.find(":", colon + 1)

    def matrix(self, sentences: list[Any], *, caller: str) -> sparse.csr_array:
        """Return the attribute weights of all tokens, (n_tokens, n_attributes).

        Attributes that the model does not know are left out: it has no weight for them.
        """
        width = sparse_width(sentences, caller=caller)
        if any(n_tokens(sentence) for sentence in sentences):
            self._check_width(width, caller)
        if width is not None:
            return self._from_sparse(sentences, caller)
        tokens = list(chain.from_iterable(sentences))
        kinds = set(map(type, tokens))
        if kinds == {str}:
            numbers = self._look_up(
                zip(repeat(WORD), tokens, strict=False), len(tokens)
            )
            return self._compress(numbers, None, np.arange(len(tokens) + 1))
        if kinds == {dict}:
            found = self._from_dicts(tokens)
            if found is not None:
                return found
        return self._from_any(sentences, caller)

    def _look_up(self, items: Iterable[tuple[str, Any]], n: int) -> np.ndarray:
        """Return the number of the attribute of each item with a str value, or -1."""
        return np.fromiter(map(self.pair.get, items, repeat(-1)), np.int32, n)

    def _from_dicts(self, tokens: list[dict]) -> sparse.csr_array | None:
        """Return the matrix of dicts of str and finite numbers, None for others."""
        ends = np.zeros(len(tokens) + 1, dtype=np.intp)
        np.cumsum(np.fromiter(map(len, tokens), np.intp, len(tokens)), out=ends[1:])
        try:
            # an iterator: a list of all items would cost more than the look-up
            items = chain.from_iterable(map(dict.items, tokens))
            numbers = self._look_up(items, int(ends[-1]))
        except TypeError:  # a value is a list, a set or a dict
            return None
        missed = (numbers < 0).tolist()
        keys = set(map(type, compress(chain.from_iterable(tokens), missed)))
        values = chain.from_iterable(map(dict.values, tokens))
        kinds = set(map(type, compress(values, missed)))
        if keys <= {str} and kinds <= {str}:
            return self._compress(numbers, None, ends)
        if keys <= {str} and kinds <= {str, float}:
            return self._add_weights(tokens, numbers, ends)
        return None

    def _add_weights(
        self, tokens: list[dict], numbers: np.ndarray, ends: np.ndarray
    ) -> sparse.csr_array | None:
        """Look up the items with a number, None if one is not finite."""
        keys = list(chain.from_iterable(tokens))
        values = list(chain.from_iterable(map(dict.values, tokens)))
        weights = np.ones(numbers.size)
        for j in np.flatnonzero(numbers < 0).tolist():
            value = values[j]
            if type(value) is float:
                if not -_FINITE < value < _FINITE:
                    return None
                numbers[j] = self.number.get(keys[j], -1)
                weights[j] = value
        return self._compress(numbers, weights, ends)

    def _compress(
        self, numbers: np.ndarray, weights: np.ndarray | None, ends: np.ndarray
    ) -> sparse.csr_array:
        """Return the matrix whose row t has the attributes ends[t] to ends[t + 1]."""
        known = numbers >= 0
        passed = np.concatenate([[0], np.cumsum(known)])
        numbers = numbers[known]
        weights = np.ones(numbers.size) if weights is None else weights[known]
        shape = (ends.size - 1, self.size)
        return sparse.csr_array((weights, numbers, passed[ends]), shape=shape)

    def _from_any(self, sentences: list[Any], caller: str) -> sparse.csr_array:
        """Return the matrix of tokens of any kind, checking each."""
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for i, sentence in enumerate(sentences):
            for t, token in enumerate(sentence):
                try:
                    for name, weight in attributes(token):
                        column = self.number.get(name)
                        if column is not None:
                            columns.append(column)
                            values.append(weight)
                except (TypeError, ValueError) as error:
                    raise _explain(error, caller, i, t) from None
                ends.append(len(columns))
        return sparse.csr_array(
            (np.array(values), np.array(columns, dtype=np.int32), np.array(ends)),
            shape=(len(ends) - 1, self.size),
        )

    def _check_width(self, width: int | None, caller: str) -> None:
        if (width is None) != (self.width is None):
            kinds = ["sentences of tokens", "sparse matrices"]
            if self.width is None:
                kinds.reverse()
            raise ValueError(
                f"X of {caller} must hold {kinds[1]}, as the tagger was fitted on. "
                f"Got {kinds[0]}."
            )
        # more columns are attributes that were not there in training
        if width is not None and self.width is not None and width < self.width:
            raise ValueError(
                f"X of {caller} must have the columns that the tagger was fitted on, "
                f"{self.width} at least. Got {width}."
            )

    def _from_sparse(self, sentences: list[Any], caller: str) -> sparse.csr_array:
        parts = [sparse.csr_array(sentence) for sentence in sentences]
        for i, part in enumerate(parts):
            _check_finite(part, i, caller)
        known = np.array([int(name) for name in self.number], dtype=np.intp)
        return sparse.vstack(parts, format="csr")[:, known]
