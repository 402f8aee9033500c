"""Attributes of tokens, as CRFsuite defines them, and design matrices of attributes.

A token is a dict or a collection of names. In a dict, a str value becomes the attribute
``key:value`` with weight 1. A number (or True or False) becomes the attribute ``key``
with this number as its weight. A list or set of str becomes one attribute
``key:element`` per element, and a dict becomes attributes ``key:inner``. If an
attribute occurs twice, its weights are added. Names and values in bytes are read as
UTF-8.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain, repeat
from numbers import Real
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._errors import ParameterError, ParameterTypeError
from ._base import known_numbers, n_tokens, number_all, numbering, one_of_each_type

WORD = "word"
_NUMBERS = (Real, np.bool_)
_COLLECTIONS = (list, tuple, set, frozenset)
# Maximum depth of nested dicts. A dict that contains itself exceeds it.
_DEEPEST = 100
# Maximum number of cells of a table of keys and values, plus 16 cells per attribute.
_TABLE_SIZE = 2**22


def expand(item: Mapping[str, Any], level: int = 1) -> Iterator[tuple[str, float]]:
    """Yield the attributes of a dict and their weights."""
    if level > _DEEPEST:
        raise ValueError(f"dicts are nested more than {_DEEPEST} levels deep")
    for key, value in item.items():
        key = _as_name(key)
        if isinstance(value, (str, bytes)):
            yield f"{key}:{_as_name(value)}", 1.0
        elif isinstance(value, _NUMBERS):
            yield key, _as_weight(key, value)
        elif isinstance(value, Mapping):
            for inner, weight in expand(value, level + 1):
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
        weight = math.inf
    if not math.isfinite(weight):
        raise ValueError(f"the weight of {key!r} must be finite. Got {value!r:.50}")
    return weight


def _as_name(element: Any) -> str:
    if isinstance(element, bytes):
        return element.decode("utf-8")
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


def is_storable(name: str) -> bool:
    """Return whether CRFsuite can store a name in its model file.

    It stores UTF-8 text without NUL characters.
    """
    try:
        return b"\0" not in name.encode("utf-8")
    except UnicodeEncodeError:
        return False


def _read_token(
    token: Any, i: int, t: int, *, to_store: bool = False
) -> list[tuple[str, float]]:
    """Return the attributes of token t of sentence i; errors name the token."""
    try:
        found = list(attributes(token))
        for name, _ in found if to_store else ():
            if not is_storable(name):
                raise ValueError(f"CRFsuite cannot store the attribute {name!r:.50}")
    except (TypeError, ValueError) as error:
        kind = ParameterTypeError if isinstance(error, TypeError) else ParameterError
        problem = f"cannot be read at sentence {i}, token {t}: {error}."
        raise kind("X", problem) from None
    return found


def as_items(sentences: list[Any]) -> Iterator[list[dict[str, float]]]:
    """Yield the checked tokens of each sentence as flat dicts, for training.

    One sentence is read at a time, since flat dicts take much more memory than tokens.
    """
    is_sparse = sparse_width(sentences) is not None
    for i, sentence in enumerate(sentences):
        yield (_sparse_items if is_sparse else _token_items)(sentence, i)


def _token_items(sentence: Any, i: int) -> list[dict[str, float]]:
    items = []
    for t, token in enumerate(sentence):
        flat: dict[str, float] = {}
        for name, weight in _read_token(token, i, t, to_store=True):
            flat[name] = flat.get(name, 0.0) + weight
        items.append(flat)
    return items


def sparse_width(sentences: list[Any]) -> int | None:
    """Return the number of columns of sparse sentences, or None for lists of tokens."""
    kinds = set(map(sparse.issparse, one_of_each_type(sentences)))
    if True not in kinds:
        return None
    if False in kinds:
        i = list(map(sparse.issparse, sentences)).index(False)
        raise ParameterTypeError(
            "X",
            "must contain either sparse matrices only, or no sparse matrix. Got "
            f"{type(sentences[i]).__name__} as sentence {i}.",
        )
    shapes = list(map(attrgetter("shape"), sentences))
    if set(map(len, shapes)) != {2}:
        i = next(i for i, shape in enumerate(shapes) if len(shape) != 2)
        raise ParameterError(
            "X",
            "must contain matrices with one row per token. Got shape "
            f"{shapes[i]} as sentence {i}.",
        )
    widths = sorted({width for _, width in shapes})
    if len(widths) > 1:
        raise ParameterError(
            "X", f"must contain matrices with the same number of columns. Got {widths}."
        )
    return widths[0]


def _sparse_items(matrix: Any, i: int) -> list[dict[str, float]]:
    matrix = sparse.csr_array(matrix, copy=True)
    matrix.sum_duplicates()
    _check_finite(matrix, i)
    names = [str(column) for column in matrix.indices.tolist()]
    values, ends = matrix.data.tolist(), matrix.indptr.tolist()
    return [
        dict(zip(names[a:b], values[a:b], strict=True))
        for a, b in zip(ends, ends[1:], strict=False)
    ]


def _check_finite(matrix: sparse.csr_array, i: int) -> None:
    if not np.isfinite(matrix.data).all():
        bad = int((~np.isfinite(matrix.data)).argmax())
        token = int(np.searchsorted(matrix.indptr, bad, side="right")) - 1
        raise ParameterError(
            "X",
            f"must have finite weights. Got {matrix.data[bad]} in sentence {i}, token "
            f"{token}.",
        )


class _Table(NamedTuple):
    """Attributes by key and value.

    `row` maps a key to its row. `attribute` has shape (n_rows, 1 + n_values) and
    contains the number of each attribute, or -1 if there is no such attribute. Row 0 is
    for unknown keys, and column 0 is for unknown values. Their entries are -1.
    """

    row: dict[str, int]
    attribute: np.ndarray


def _shapes(tokens: list[dict]) -> tuple[dict[tuple, int], np.ndarray, list[Any]]:
    """Return the numbered key tuples, the number of each token's tuple, all values."""
    if set(map(len, tokens)) == {1}:
        (key,) = tokens[0]
        # takes a third of the time of the general case below
        with suppress(KeyError):
            values = list(map(itemgetter(key), tokens))
            return {(key,): 0}, np.zeros(len(tokens), np.intp), values
    shape = numbering()
    shapes = number_all(map(tuple, tokens), shape, len(tokens))
    return shape, shapes, list(chain.from_iterable(map(dict.values, tokens)))


def _places(
    table: _Table, shape: dict[tuple, int], shapes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of each item's key and value 0, and the ends of the tokens."""
    row = {key: table.row.get(key, 0) for key in chain.from_iterable(shape)}
    rows = np.array(list(map(row.__getitem__, chain.from_iterable(shape))), np.intp)
    size = np.fromiter(map(len, shape), np.intp, len(shape))
    n_items = size[shapes]
    ends = np.concatenate([[0], np.cumsum(n_items)])
    # index in the flattened table of value 0, in column 1
    starts = rows * table.attribute.shape[1] + 1
    # The items of a token are adjacent, and so are the keys of its shape in `starts`.
    # An item therefore finds its key at a distance that is the same for the whole
    # token: the end of its shape minus the end of its items.
    away = np.cumsum(size)[shapes] - ends[1:]
    item = np.repeat(away, n_items)
    item += np.arange(ends[-1])
    return starts.take(item), ends


class AttributeIndex:
    """Numbers of the attributes that a model knows, for building design matrices.

    A dict of attributes is looked up without joining its keys and values to names.
    Tokens of one template have the same keys, so that the keys of a corpus form few
    tuples (shapes). Each shape is translated once, to rows of a table of keys and
    values; each value is translated by one dict to a column. All other work is done in
    arrays, which takes a quarter of the time of a loop over attributes.

    `width` is the number of columns of the sparse matrices that the model was fitted
    on. The names of their attributes are the column numbers. If the model was fitted on
    tokens, `width` is None.
    """

    def __init__(self, names: list[str], width: int | None = None):
        self.width = width
        self.number = {name: k for k, name in enumerate(names)}
        self.size = len(names)
        # Keys and values are looked up separately, so that they need not be joined.
        # All values are numbered. A table contains the attribute of each numbered key
        # and value.
        self.value: dict[str, int] = {}
        # Values and attributes of each key. A name with several colons may come from
        # several keys.
        self._pairs: dict[str, list[tuple[int, int]]] = {}
        for k, name in enumerate(names):
            colon = name.find(":")
            while colon >= 0:
                # TokenFeatures uses the same interned strings, so that a lookup only
                # compares pointers.
                value = sys.intern(name[colon + 1 :])
                number = self.value.setdefault(value, len(self.value))
                self._pairs.setdefault(name[:colon], []).append((number, k))
                colon = name.find(":", colon + 1)
        self._table = _Table({}, np.full((1, len(self.value) + 1), -1, np.int32))

    def __reduce__(self) -> tuple:
        return AttributeIndex, (list(self.number), self.width)

    def matrix(self, sentences: list[Any]) -> sparse.csr_array:
        """Return the attribute weights of all tokens, (n_tokens, n_attributes).

        Attributes for which the model does not have a weight are left out.
        """
        width = sparse_width(sentences)
        if any(n_tokens(sentence) for sentence in sentences):
            self._check_width(width)
        if width is not None:
            return self._from_sparse(sentences)
        tokens = list(chain.from_iterable(sentences))
        kinds = set(map(type, tokens))
        found = None
        if kinds == {str}:
            found = self._from_words(tokens)
        elif kinds == {dict}:
            found = self._from_dicts(tokens)
        return self._from_any(sentences) if found is None else found

    def _from_words(self, words: list[str]) -> sparse.csr_array | None:
        table = self._table_of([WORD])
        if table is None:
            return None
        values = known_numbers(words, self.value, len(words))
        # An unknown word is value -1, and so reads the -1 in column 0.
        numbers = table.attribute[table.row.get(WORD, 0), 1 + values]
        return self._compress(numbers, None, np.arange(len(words) + 1))

    def _from_dicts(self, tokens: list[dict]) -> sparse.csr_array | None:
        """Return the matrix of dicts of str and finite numbers, else None."""
        shape, shapes, values = _shapes(tokens)
        keys = dict.fromkeys(chain.from_iterable(shape))
        table = self._table_of(keys) if set(map(type, keys)) <= {str} else None
        if table is None:
            return None
        try:
            columns = known_numbers(values, self.value, len(values))
        except TypeError:  # a value is a list, a set or a dict
            return None
        places, ends = _places(table, shape, shapes)
        places += columns
        numbers = table.attribute.ravel().take(places)
        strangers = np.flatnonzero(columns < 0)  # all others are str
        others = list(map(values.__getitem__, strangers.tolist()))
        kinds = set(map(type, others))
        # All values that are not in the vocabulary are str, so no item is a number, and
        # all weights are 1.
        if kinds <= {str}:
            return self._compress(numbers, None, ends)
        if kinds <= {str, float, bool, int}:
            is_text = np.fromiter(map(isinstance, others, repeat(str)), np.bool_)
            return self._add_weights(tokens, values, strangers[~is_text], numbers, ends)
        return None

    def _table_of(self, keys: Iterable[str]) -> _Table | None:
        """Return a table with a row for each key with pairs, or None if too large.

        For example, the attributes w:the, w:cat and pos:N have the numbers 0, 1 and 2,
        and the values the, cat and N the numbers 0, 1 and 2. The table is::

                      unknown  the  cat   N
            unknown        -1   -1   -1  -1
            w              -1    0    1  -1
            pos            -1   -1   -1   2

        Value k is in column 1 + k, so an unknown value, number -1, is in column 0.
        """
        table = self._table
        new = [key for key in keys if key in self._pairs and key not in table.row]
        if new:
            n_rows, n_columns = table.attribute.shape
            if (n_rows + len(new)) * n_columns > _TABLE_SIZE + 16 * self.size:
                return None
            more = np.full((len(new), n_columns), -1, np.int32)
            for row, key in zip(more, new, strict=True):
                values, attributes = np.array(self._pairs[key], dtype=np.int32).T
                row[1 + values] = attributes
            rows = {key: n_rows + j for j, key in enumerate(new)}
            # Build a new object, since another thread may be reading the previous one.
            table = _Table(table.row | rows, np.vstack([table.attribute, more]))
            self._table = table
        return table

    def _add_weights(
        self,
        tokens: list[dict],
        values: list[Any],
        chosen: np.ndarray,
        numbers: np.ndarray,
        ends: np.ndarray,
    ) -> sparse.csr_array | None:
        """Look up items whose value is a number; return None if one is not finite."""
        places = chosen.tolist()
        weights = np.ones(numbers.size)
        try:
            weights[chosen] = list(map(values.__getitem__, places))
        except OverflowError:
            return None
        if not np.isfinite(weights).all():
            return None
        keys = list(chain.from_iterable(tokens))
        names = map(keys.__getitem__, places)
        numbers[chosen] = known_numbers(names, self.number, chosen.size)
        return self._compress(numbers, weights, ends)

    def _compress(
        self, numbers: np.ndarray, weights: np.ndarray | None, ends: np.ndarray
    ) -> sparse.csr_array:
        """Return the matrix whose row t has the attributes ends[t] to ends[t + 1]."""
        known = numbers >= 0
        passed = np.zeros(numbers.size + 1, dtype=np.int32)
        np.cumsum(known, out=passed[1:])
        numbers = numbers[known]
        weights = np.ones(numbers.size) if weights is None else weights[known]
        shape = (ends.size - 1, self.size)
        return sparse.csr_array((weights, numbers, passed[ends]), shape=shape)

    def _from_any(self, sentences: list[Any]) -> sparse.csr_array:
        """Return the matrix of tokens of any kind, checking each."""
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for i, sentence in enumerate(sentences):
            for t, token in enumerate(sentence):
                for name, weight in _read_token(token, i, t):
                    if name in self.number:
                        columns.append(self.number[name])
                        values.append(weight)
                ends.append(len(columns))
        return sparse.csr_array(
            (np.array(values), np.array(columns, dtype=np.int32), np.array(ends)),
            shape=(len(ends) - 1, self.size),
        )

    def _check_width(self, width: int | None) -> None:
        """Raise an error if the type or width differs from the training data."""
        if width == self.width:
            return
        problem = (
            f"must have the {self.width} columns that the tagger was fitted on. "
            f"Got {width}."
        )
        tokens, matrices = "sentences of tokens", "sparse matrices"
        if width is None:
            problem = f"must contain {matrices}, like the training data. Got {tokens}."
        elif self.width is None:
            problem = f"must contain {tokens}, like the training data. Got {matrices}."
        raise ParameterError("X", problem)

    def _from_sparse(self, sentences: list[Any]) -> sparse.csr_array:
        # Concatenate the arrays of all sentences. Making a matrix per sentence would
        # take longer than all other steps together; scipy's vstack is slow as well.
        parts = list(map(_as_csr, sentences))
        weights = np.concatenate(list(map(attrgetter("data"), parts)))
        columns = np.concatenate(list(map(attrgetter("indices"), parts)))
        if not np.isfinite(weights).all():
            for i, part in enumerate(parts):
                _check_finite(part, i)
        pointers = list(map(attrgetter("indptr"), parts))
        counts = np.diff(np.concatenate(pointers))
        # Differences between the last pointer of a sentence and the first pointer of
        # the next are not counts.
        counts = np.delete(counts, np.cumsum(list(map(len, pointers)))[:-1] - 1)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return self._compress(self._columns.take(columns), weights, ends)

    @cached_property
    def _columns(self) -> np.ndarray:
        """Attribute of each column of sparse sentences, or -1 if there is none."""
        numbers = np.full(self.width or 0, -1, np.int32)
        columns = np.array(list(map(int, self.number)), dtype=np.intp)
        numbers[columns] = np.arange(self.size)
        return numbers


def _as_csr(matrix: Any) -> Any:
    """Return a CSR matrix whose arrays do not have unused entries at the end."""
    if matrix.format == "csr" and matrix.indptr[-1] == matrix.data.size:
        return matrix
    matrix = sparse.csr_array(matrix, copy=True)
    matrix.prune()
    return matrix
