"""The calibration error of each label, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..metrics import CalibrationErrorInterval
from ..metrics._binning import Binning
from ..metrics._interval import interval_of_pairs
from ..metrics._pairs import Pairs
from ..queries import Answers
from ._by import enough_for_interval, parts_by_name
from ._known_words import parts_by_words

# Error of each label; None where there are too few pairs.
Errors = list[CalibrationErrorInterval | None]


def errors_of_labels(
    answers: Mapping[str, Answers],
    known: list[np.ndarray] | None,
    weight: np.ndarray | None,
    top: int | None,
    level: float,
    *,
    caller: str,
) -> tuple[list[Any], np.ndarray, dict[str, dict[str, Errors]]]:
    """Return the most frequent labels, their frequencies, and their errors.

    The errors are those of each model and part of the words.
    """
    pairs = {
        name: {
            words: dict(parts_by_name(part, weight, None, None))
            for words, part in parts_by_words(each, known, caller)
        }
        for name, each in answers.items()
    }
    count = _frequencies(pairs)
    if not count:
        raise ValueError(
            f"{caller} needs an answer at least. Got none of {list(answers)}."
        )
    # the sort is stable, so that equal ones keep the order of their labels
    labels = sorted(count, key=lambda label: -count[label])[:top]
    errors = {
        name: {
            words: [_error(part.get(label), level, caller) for label in labels]
            for words, part in parts.items()
        }
        for name, parts in pairs.items()
    }
    return labels, np.array([count[label] for label in labels]), errors


def _frequencies(pairs: dict[str, dict[str, dict[Any, Pairs]]]) -> dict[Any, float]:
    """Return how often the answer is yes for each label, in the order of labels."""
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


def _error(
    pairs: Pairs | None, level: float, caller: str
) -> CalibrationErrorInterval | None:
    if pairs is None or not enough_for_interval(pairs):
        return None
    automatic = Binning("auto", None, "quantile")
    return interval_of_pairs(pairs, automatic, level, caller=caller)


def means_of_first(errors: Errors, sizes: list[int]) -> list[float | None]:
    """Return the mean estimates of the first labels."""
    found: list[float | None] = []
    for size in sizes:
        some = [error.estimate for error in errors[:size] if error is not None]
        found.append(float(np.mean(some)) if some else None)
    return found
