"""Which words a model knows, and pairs divided by it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from .._validation import is_sequence
from ..queries import Answers


def as_known(known: Any, X: Any, caller: str) -> list[np.ndarray] | None:
    """Return for each sentence whether its tokens are known."""
    if known is None:
        return None
    if isinstance(known, (Mapping, Set)):
        known = [[_is_word(word, caller) and word in known for word in s] for s in X]
    if not is_sequence(known):
        raise TypeError(
            f"The 'known' parameter of {caller} must be a set of words, or have a "
            f"sequence of bool for each sentence. Got {type(known).__name__}."
        )
    found = []
    for i, tokens in enumerate(known):
        array = np.asarray(tokens)
        if array.ndim != 1 or (array.size and array.dtype != bool):
            raise ValueError(
                f"The 'known' parameter of {caller} must have a sequence of bool for "
                f"each sentence. Got {tokens!r:.50} for sentence {i}."
            )
        found.append(array.astype(bool))
    if X is not None and len(found) != len(X):
        raise ValueError(
            f"The 'known' parameter of {caller} must have an entry for each of the "
            f"{len(X)} sentences. Got {len(found)}."
        )
    return found


def _is_word(word: Any, caller: str) -> bool:
    if not isinstance(word, str):
        raise TypeError(
            f"The 'known' parameter of {caller} is a set of words, and tokens must be "
            f"str. Got {type(word).__name__} {word!r:.50}; pass a sequence of bool for "
            "each sentence."
        )
    return True


def parts_by_words(
    answers: Answers, known: list[np.ndarray] | None, caller: str
) -> list[tuple[str, Answers]]:
    """Return the answers about all words, or about known and unknown ones."""
    if known is None:
        return [("all", answers)]
    two = answers.item.ndim == 2
    start = answers.item[:, 0] if two else answers.item
    stop = answers.item[:, 1] if two else answers.item + 1
    lengths = np.array([each.size for each in known], dtype=np.intp)
    here = np.r_[lengths, 0][np.minimum(answers.groups, lengths.size)]
    short = np.flatnonzero(stop > here)
    if short.size:
        i = short[0]
        raise ValueError(
            f"The 'known' parameter of {caller} must have a bool for each token. "
            f"Sentence {answers.groups[i]} has {here[i]}, and was asked about token "
            f"{stop[i] - 1}."
        )
    before = np.r_[0, np.cumsum(np.concatenate([*known, np.zeros(0, dtype=bool)]))]
    first = (np.cumsum(lengths) - lengths)[answers.groups]
    is_known = before[first + stop] - before[first + start] == stop - start
    return [("known", answers.take(is_known)), ("unknown", answers.take(~is_known))]
