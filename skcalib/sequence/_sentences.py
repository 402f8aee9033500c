"""Validation of sentences and their labels, for all taggers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, count, repeat
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from .._errors import ParameterError, ParameterTypeError
from .._validation import as_array, as_label_lists, is_dask, is_sequence, label_array

Words: TypeAlias = Sequence[Sequence[str]] | np.ndarray
Sentences: TypeAlias = (
    Words
    | Sequence[Sequence[Mapping[str, object]]]
    | Sequence[sparse.sparray | sparse.spmatrix]
)
Labels: TypeAlias = Sequence[Sequence[Hashable] | np.ndarray] | np.ndarray

_MUST_BE = (
    "must be a sequence of sentences, and a sentence a sequence of tokens, as in "
    "[['the', 'dog'], ['it', 'barks']]."
)


def numbering() -> defaultdict[Any, int]:
    """Return a dict that numbers things in the order of their first lookup."""
    return defaultdict(count().__next__)


def number_all(things: Iterable[Any], of: dict[Any, int], size: int) -> np.ndarray:
    """Return the numbers of `size` things in the dict, which may add new things."""
    return np.fromiter(map(of.__getitem__, things), np.intp, size)


def known_numbers(things: Iterable[Any], of: dict[Any, int], size: int) -> np.ndarray:
    """Return the numbers of `size` things, -1 for things that are not in the dict."""
    return np.fromiter(map(of.get, things, repeat(-1)), np.int32, size)


def one_of_each_type(things: list[Any]) -> Collection[Any]:
    """Return one thing of each type, since checking all things would take too long."""
    return dict(zip(map(type, things), things, strict=True)).values()


# Sentences


def check_sentences(X: Any) -> list[Any]:
    """Return the sentences as a list, each with a length.

    The tokens are checked by the functions that read them.
    """
    if hasattr(X, "columns") or sparse.issparse(X):
        problem = (
            f"{_MUST_BE} Got a table of shape {X.shape}: group its rows into sentences "
            "first."
        )
        raise ParameterTypeError("X", problem)
    if not is_sequence(X):
        raise ParameterTypeError("X", f"{_MUST_BE} Got {type(X).__name__}.")
    sentences = _entries(X)
    if set(map(type, sentences)) <= {list}:
        return sentences  # the usual case
    # Except for arrays, the type determines whether an entry is a sentence.
    examples = one_of_each_type(sentences)
    arrays = (each for each in sentences if isinstance(each, np.ndarray))
    if not all(map(is_sequence, chain(examples, arrays))):
        i = next(i for i, each in enumerate(sentences) if not is_sequence(each))
        problem = (
            f"{_MUST_BE} Got {type(sentences[i]).__name__} {sentences[i]!r:.50} as "
            f"sentence {i}: put its tokens into a list."
        )
        raise ParameterTypeError("X", problem)
    if is_dask(*examples) or any(hasattr(each, "to_pylist") for each in examples):
        return list(map(_entries, sentences))
    return sentences


def _entries(values: Any) -> list[Any]:
    """Return the entries of a sequence as a list."""
    if isinstance(values, list):
        return values
    if is_dask(values):
        values = values.compute()
    if hasattr(values, "to_pylist"):  # pyarrow's own strings are not str
        return values.to_pylist()
    is_array = isinstance(values, np.ndarray) or hasattr(values, "__dlpack_device__")
    return list(as_array(values, name="X") if is_array else values)


def n_tokens(sentence: Any) -> int:
    """Return the number of tokens of a sentence, or of rows if it is a matrix."""
    return sentence.shape[0] if sparse.issparse(sentence) else len(sentence)


def sentence_lengths(sentences: list[Any]) -> np.ndarray:
    """Return the number of tokens of each sentence."""
    if set(map(type, sentences)) <= {list}:
        return np.fromiter(map(len, sentences), np.intp, len(sentences))
    if all(map(sparse.issparse, one_of_each_type(sentences))):
        lengths = [n for n, _ in map(attrgetter("shape"), sentences)]
    else:
        lengths = list(map(n_tokens, sentences))
    return np.array(lengths, np.intp)


def all_words(sentences: list[Any]) -> list[str]:
    """Return the concatenated words of all sentences."""
    words = list(chain.from_iterable(sentences))
    if all(issubclass(kind, str) for kind in set(map(type, words))):
        return words
    i, t, word = next(
        (i, t, word)
        for i, sentence in enumerate(sentences)
        for t, word in enumerate(sentence)
        if not isinstance(word, str)
    )
    problem = (
        f"must contain str, one word per token. Got {type(word).__name__} {word!r:.50} "
        f"in sentence {i}, token {t}."
    )
    raise ParameterTypeError("X", problem)


def number_words(sentences: list[Any]) -> tuple[list[str], np.ndarray]:
    """Return the distinct words in order of appearance, and the number of each word."""
    number = numbering()
    words = chain.from_iterable(sentences)
    try:
        numbers = number_all(words, number, sum(map(len, sentences)))
    except TypeError:  # not all are str
        number[None] = 0
    if not all(issubclass(kind, str) for kind in set(map(type, number))):
        all_words(sentences)  # raises an error that names the token
    return list(number), numbers


# Labels


def check_fit(X: Any, y: Any) -> tuple[list[Any], list[list]]:
    """Return the sentences and labels of a training set."""
    sentences = check_sentences(X)
    if y is None:
        raise ParameterError(None, "requires y to be passed, but the target y is None.")
    labels = check_labels(y, sentences)
    if not any(labels):
        problem = (
            f"needs at least one sentence with a token. Got {len(sentences)} sentences."
        )
        raise ParameterError(None, problem)
    return sentences, labels


def check_labels(y: Any, sentences: list[Any]) -> list[list]:
    """Return the labels as lists, one as long as each sentence."""
    labels = as_label_lists(y, name="y")
    if len(labels) != len(sentences):
        problem = (
            "needs X and y with one entry per sentence. Got "
            f"{len(sentences)} sentences in X and {len(labels)} in y."
        )
        raise ParameterError(None, problem)
    expected, found = sentence_lengths(sentences), sentence_lengths(labels)
    if (expected != found).any():
        i = int((expected != found).argmax())
        problem = (
            f"must have a label for each token. Sentence {i} has {expected[i]} tokens "
            f"and {found[i]} labels."
        )
        raise ParameterError("y", problem)
    return labels


def number_labels(labels: list[list]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels, and the number of each label."""
    number = numbering()
    tags = chain.from_iterable(labels)
    numbers = number_all(tags, number, sum(map(len, labels)))
    ordered = _ordered(number)
    place = {label: k for k, label in enumerate(ordered)}
    places = np.array([place[label] for label in number], dtype=np.intp)
    return _as_classes(ordered), places[numbers]


def sorted_labels(labels: list[list]) -> np.ndarray:
    """Return the distinct labels, sorted, as an array of their type."""
    return _as_classes(_ordered(set(chain.from_iterable(labels))))


def _ordered(distinct: Iterable[Any]) -> list[Any]:
    try:
        return sorted(distinct)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in distinct}))
        problem = f"must have labels of one type, to be sorted. Got {kinds}."
        raise ParameterError("y", problem) from None


def _as_classes(ordered: list[Any]) -> np.ndarray:
    if all(isinstance(label, (int, np.integer)) for label in ordered):
        return np.array(ordered)
    return label_array(ordered)
