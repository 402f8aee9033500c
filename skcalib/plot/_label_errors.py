"""Calibration error of each label, for all words or for known and unknown words."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._pairs import Pairs
from .._validation import is_sequence
from ..metrics import Binning, CalibrationErrorInterval, interval_of_pairs, warn_of_few
from ..queries import Answers
from ._answers import enough_for_interval, pairs_by_name

# Error of each label; None if there are too few pairs.
Errors = list[CalibrationErrorInterval | None]


def errors_of_labels(
    answers: Mapping[str, Answers],
    known: list[np.ndarray] | None,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    top: int | None,
    level: float,
) -> tuple[list[Any], np.ndarray, dict[str, dict[str, Errors]]]:
    """Return the most frequent labels, their frequencies, and their errors.

    There is one error for each model and part of the words. `weight` and `groups` have
    one entry per sample.
    """
    pairs = {
        name: {
            words: dict(pairs_by_name(part, weight, groups, None))
            for words, part in parts_by_words(each, known)
        }
        for name, each in answers.items()
    }
    count = _frequencies(pairs)
    if not count:
        raise ParameterError(
            None, f"needs at least one answer. Got none of {list(answers)}."
        )
    # the sort is stable, so that ties keep the order of their labels
    labels = sorted(count, key=lambda label: -count[label])[:top]
    errors = {
        name: {
            words: [_error(part.get(label), level) for label in labels]
            for words, part in parts.items()
        }
        for name, parts in pairs.items()
    }
    warn_of_few(
        (label, error)
        for parts in errors.values()
        for part in parts.values()
        for label, error in zip(labels, part, strict=True)
    )
    return labels, np.array([count[label] for label in labels]), errors


def _frequencies(pairs: dict[str, dict[str, dict[Any, Pairs]]]) -> dict[Any, float]:
    """Return the number of positive answers for each label, in the order of labels."""
    total: dict[Any, list[float]] = {}
    for parts in pairs.values():
        mine: dict[Any, float] = {}
        for part in parts.values():
            for label, each in part.items():
                yes = each.indicator()
                weight = yes.sum() if each.weight is None else each.weight[yes].sum()
                mine[label] = mine.get(label, 0.0) + float(weight)
        for label, weight in mine.items():
            total.setdefault(label, []).append(weight)
    try:
        order = sorted(total)
    except TypeError:  # labels of several kinds
        order = sorted(total, key=repr)
    return {label: sum(total[label]) / len(pairs) for label in order}


def _error(pairs: Pairs | None, level: float) -> CalibrationErrorInterval | None:
    if pairs is None or not enough_for_interval(pairs):
        return None
    automatic = Binning("auto", None, "quantile")
    return interval_of_pairs(pairs, automatic, level)


def means_of_first(errors: Errors, sizes: list[int]) -> list[float | None]:
    """Return the mean estimates of the first labels."""
    found: list[float | None] = []
    for size in sizes:
        some = [error.estimate for error in errors[:size] if error is not None]
        found.append(float(np.mean(some)) if some else None)
    return found


def as_known(known: Any, X: Any) -> list[np.ndarray] | None:
    """Return for each sentence whether its tokens are known."""
    if known is None:
        return None
    if isinstance(known, (Mapping, Set)):
        known = [[_is_word(word) and word in known for word in s] for s in X]
    if not is_sequence(known):
        raise ParameterTypeError(
            "known",
            "must be a set of words, or have a sequence of bool for each "
            f"sentence. Got {type(known).__name__}.",
        )
    found = []
    for i, tokens in enumerate(known):
        array = np.asarray(tokens)
        if array.ndim != 1 or (array.size and array.dtype != bool):
            raise ParameterError(
                "known",
                "must have a sequence of bool for each sentence. Got "
                f"{tokens!r:.50} for sentence {i}.",
            )
        found.append(array.astype(bool))
    if X is not None and len(found) != len(X):
        raise ParameterError(
            "known",
            f"must have an entry for each of the {len(X)} sentences. Got {len(found)}.",
        )
    return found


def _is_word(word: Any) -> bool:
    if not isinstance(word, str):
        raise ParameterTypeError(
            "known",
            "is a set of words, so tokens must be str. Got "
            f"{type(word).__name__} {word!r:.50}. Pass a sequence of bool for "
            "each sentence.",
        )
    return True


def parts_by_words(
    answers: Answers, known: list[np.ndarray] | None
) -> list[tuple[str, Answers]]:
    """Return the answers about all words, or about known and unknown words."""
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
        raise ParameterError(
            "known",
            f"must have one bool per token. Got {here[i]} for sentence "
            f"{answers.groups[i]}, which has an answer about token {stop[i] - 1}.",
        )
    before = np.r_[0, np.cumsum(np.concatenate([*known, np.zeros(0, dtype=bool)]))]
    first = (np.cumsum(lengths) - lengths)[answers.groups]
    is_known = before[first + stop] - before[first + start] == stop - start
    return [("known", answers.take(is_known)), ("unknown", answers.take(~is_known))]
