"""Pairs divided by a group that the user names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .._validation import is_sequence
from ..metrics._pairs import Pairs, as_labels
from ..queries import Answers, answer_pairs


def check_by(by: Any, n: int, *, caller: str) -> np.ndarray | None:
    """Return one name for each of n samples, or None for what was asked ('label')."""
    if isinstance(by, str):
        if by == "label":
            return None
        raise ValueError(
            f"The 'by' parameter of {caller} must be 'label' or hold a name for each "
            f"sample. Got {by!r} instead."
        )
    if not is_sequence(by):
        raise TypeError(
            f"The 'by' parameter of {caller} must be 'label' or hold a name for each "
            f"sample. Got {type(by).__name__} instead."
        )
    names = as_labels(by, name="by", caller=caller)
    if names.size != n:
        raise ValueError(
            f"The 'by' parameter of {caller} must have one entry for each of the {n} "
            f"samples. Got {names.size} instead."
        )
    return names


def parts_by_name(
    answers: Answers,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    by: np.ndarray | None,
) -> Iterator[tuple[Any, Pairs]]:
    """Yield each name and its pairs, the most frequent first.

    Names of as many pairs, as classes that were all asked for everywhere, stand in
    order of how often the answer is yes, and then in their own.
    `weight`, `groups` (None: each sample is one) and `by` (None: what was asked) have
    an entry for each sample. A name whose weight is zero is not there.
    """
    if weight is not None:
        answers = answers.take(weight[answers.groups] > 0)
    names, code = _numbered(answers.label if by is None else by[answers.groups])
    by_pair = None if weight is None else weight[answers.groups]
    total = np.bincount(code, by_pair, len(names))
    # A stable order of the codes keeps the pairs of a name in the order they came in.
    member = np.argsort(code, kind="stable")
    start = np.searchsorted(code[member], np.arange(len(names) + 1))
    weight_of_yes = answers.y_true if by_pair is None else by_pair * answers.y_true
    positive = np.bincount(code, weight_of_yes, len(names))
    # lexsort is stable, so that the names decide what is left
    for k in np.lexsort((-positive, -total)):
        part = answers.take(member[start[k] : start[k + 1]])
        pairs = answer_pairs(part, weight)
        if groups is not None:
            pairs = replace(pairs, groups=groups[part.groups], repeats=None)
        yield names[k], pairs


def _numbered(by: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return the distinct names in order, and the number of each entry's name."""
    values = by.tolist()
    try:
        names = sorted(set(values))
    except TypeError:  # numbers and strings, say
        names = sorted(set(values), key=lambda v: (type(v).__name__, repr(v)))
    number = {name: k for k, name in enumerate(names)}
    return names, np.fromiter((number[v] for v in values), np.intp, by.size)


def enough_for_interval(pairs: Pairs) -> bool:
    """Return whether there are two pairs, of different groups if there are any."""
    if pairs.groups is None or pairs.total < 2:
        return pairs.total >= 2
    repeats = np.ones(1) if pairs.repeats is None else pairs.repeats
    # `repeats` also counts groups that have no pair here.
    size = np.bincount(pairs.groups, pairs.weight, repeats.size)
    same = size**2 / np.where(repeats > 0, repeats, 1)
    # The share below which rounding hides the products of different groups.
    return bool(1 - same.sum() / pairs.total**2 > 1e-8)
