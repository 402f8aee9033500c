"""The gate of every tagger: sentences and their labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import chain, count, repeat
from operator import attrgetter, eq
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from .._results import object_array
from .._validation import is_missing, is_sequence

RAGGED = (
    "X must be a sequence of sentences, a sentence a sequence of tokens: "
    "[['the', 'dog'], ['it', 'barks']]"
)


def numbering() -> defaultdict[Any, int]:
    """Return a dict that numbers things in the order that they are looked up first."""
    return defaultdict(count().__next__)


def number_all(things: Iterable[Any], of: dict[Any, int], size: int) -> np.ndarray:
    """Return the numbers that the dict has, or makes, for so many things."""
    return np.fromiter(map(of.__getitem__, things), np.intp, size)


def known_numbers(things: Iterable[Any], of: dict[Any, int], size: int) -> np.ndarray:
    """Return the numbers of so many things, -1 for those that have none."""
    return np.fromiter(map(of.get, things, repeat(-1)), np.int32, size)


def check_sentences(X: Any, *, caller: str) -> list[Any]:
    """Return the sentences as a list, each with a length.

    What the tokens may be is checked by those who read them.
    """
    if hasattr(X, "columns") or sparse.issparse(X):
        raise TypeError(
            f"{RAGGED}. {caller} got a table of shape {X.shape} for X: group its rows "
            "into sentences first."
        )
    if not is_sequence(X):
        raise TypeError(f"{RAGGED}. {caller} got {type(X).__name__} for X.")
    sentences = list(X)
    if set(map(type, sentences)) <= {list}:
        return sentences  # as almost always
    # whether an entry is a sentence is a matter of its type, but for arrays
    arrays = (each for each in sentences if isinstance(each, np.ndarray))
    if all(map(is_sequence, chain(one_of_each_type(sentences), arrays))):
        return sentences
    i, sentence = next(
        (i, each) for i, each in enumerate(sentences) if not is_sequence(each)
    )
    raise TypeError(
        f"{RAGGED}. {caller} got {type(sentence).__name__} {sentence!r:.50} as "
        f"sentence {i}: put its tokens into a list."
    )


def one_of_each_type(things: list[Any]) -> Collection[Any]:
    """Return an example of each type, where a look at each thing takes too long."""
    return dict(zip(map(type, things), things, strict=True)).values()


def n_tokens(sentence: Any) -> int:
    """Return the number of tokens of a sentence, the rows of a matrix."""
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


def check_labels(y: Any, sentences: list[Any], *, caller: str) -> list[list]:
    """Return the labels as lists, one as long as each sentence.

    That each is a label is left to those who number them.
    """
    if not is_sequence(y):
        raise TypeError(
            f"y must be a sequence of label sequences. {caller} got {type(y).__name__}."
        )
    if len(y) != len(sentences):
        raise ValueError(
            f"X and y of {caller} must have an entry for each sentence. Got "
            f"{len(sentences)} sentences in X and {len(y)} in y."
        )
    if {*map(type, y), *map(type, sentences)} <= {list} and all(
        map(eq, map(len, y), map(len, sentences))
    ):
        return list(y)  # as almost always
    labels = []
    for i, (sentence, tags) in enumerate(zip(sentences, y, strict=True)):
        if not is_sequence(tags):
            raise TypeError(
                f"y must be a sequence of label sequences. {caller} got "
                f"{type(tags).__name__} {tags!r:.50} for sentence {i}."
            )
        if type(tags) is not list:
            tags = tags.tolist() if isinstance(tags, np.ndarray) else list(tags)
        if len(tags) != n_tokens(sentence):
            raise ValueError(
                f"y of {caller} must have a label for each token. Sentence {i} has "
                f"{n_tokens(sentence)} tokens and {len(tags)} labels."
            )
        labels.append(tags)
    return labels


def distinct_labels(labels: list[list], *, caller: str) -> set[Any]:
    """Return the set of all labels."""
    try:
        distinct = set(chain.from_iterable(labels))
    except TypeError:
        _refuse_label(labels, caller)
    if any(map(is_missing, distinct)):
        _refuse_label(labels, caller)
    return distinct


def _refuse_label(labels: list[list], caller: str) -> NoReturn:
    i, t, label = next(
        (i, t, label)
        for i, tags in enumerate(labels)
        for t, label in enumerate(tags)
        if not _is_label(label)
    )
    raise ValueError(
        f"y of {caller} must have a label for each token. Token {t} of sentence {i} "
        f"has {label!r:.50}."
    )


def _is_label(label: Any) -> bool:
    """Return False for what is missing, and for what no set can hold."""
    try:
        hash(label)
    except TypeError:
        return False
    return not is_missing(label)


def check_fit(X: Any, y: Any, *, caller: str) -> tuple[list[Any], list[list]]:
    """Return sentences and labels to learn from."""
    sentences = check_sentences(X, caller=caller)
    if y is None:
        raise ValueError(f"{caller} requires y to be passed, but the target y is None.")
    labels = check_labels(y, sentences, caller=caller)
    if not any(labels):
        raise ValueError(
            f"{caller} needs a sentence with a token at least. "
            f"Got {len(sentences)} sentences."
        )
    return sentences, labels


def all_words(sentences: list[Any], *, caller: str) -> list[str]:
    """Return the words of all sentences one after another."""
    words = list(chain.from_iterable(sentences))
    if all(issubclass(kind, str) for kind in set(map(type, words))):
        return words
    i, t, word = next(
        (i, t, word)
        for i, sentence in enumerate(sentences)
        for t, word in enumerate(sentence)
        if not isinstance(word, str)
    )
    raise TypeError(
        f"Tokens of {caller} must be str, a word each. Got {type(word).__name__} "
        f"{word!r:.50} in sentence {i}, token {t}."
    )


def number_words(sentences: list[Any], *, caller: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct words in order of appearance, and the number of each word."""
    number = numbering()
    words = chain.from_iterable(sentences)
    try:
        numbers = number_all(words, number, sum(map(len, sentences)))
    except TypeError:  # no str
        number[None] = 0
    if not all(issubclass(kind, str) for kind in set(map(type, number))):
        all_words(sentences, caller=caller)  # which says where
    return list(number), numbers


def number_labels(labels: list[list], *, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels, and the number of each label."""
    number = numbering()
    tags = chain.from_iterable(labels)
    try:
        numbers = number_all(tags, number, sum(map(len, labels)))
    except TypeError:
        _refuse_label(labels, caller)
    if any(map(is_missing, number)):
        _refuse_label(labels, caller)
    ordered = _ordered(number, caller)
    place = {label: k for k, label in enumerate(ordered)}
    places = np.array([place[label] for label in number], dtype=np.intp)
    return _as_classes(ordered), places[numbers]


def sorted_labels(labels: list[list], *, caller: str) -> np.ndarray:
    """Return the distinct labels in order, with their type."""
    return _as_classes(_ordered(distinct_labels(labels, caller=caller), caller))


def _ordered(distinct: Iterable[Any], caller: str) -> list[Any]:
    try:
        return sorted(distinct)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in distinct})
        raise ValueError(
            f"y of {caller} must hold labels of one kind. Got {', '.join(kinds)}."
        ) from None


def _as_classes(ordered: list[Any]) -> np.ndarray:
    if all(isinstance(label, str) for label in ordered):
        return np.array(ordered)
    if all(isinstance(label, (int, np.integer)) for label in ordered):
        return np.array(ordered)
    return object_array(ordered)
