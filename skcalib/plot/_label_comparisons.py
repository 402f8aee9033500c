"""Tests of whether models differ in calibration, for each label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._random import RandomStateLike
from .._validation import check_choice, check_integer
from .._warn import warn
from ..queries import Answers
from ..scorers import CalibrationComparison, compare_calibration
from ..significance import adjusted_pvalues
from ._answers import numbered

# Comparison of each label; None if there are too few pairs.
Comparisons = list[CalibrationComparison | None]


def check_reference(
    reference: Any,
    answers: Mapping[str, Answers],
    adjust: Any,
    n_resamples: Any,
    **others: Any,
) -> None:
    """Raise an error unless `reference` is a model and `others` are None."""
    if adjust is not None:
        check_choice(adjust, ("holm", "bh"), name="adjust")
    check_integer(n_resamples, minimum=1, name="n_resamples")
    if reference is None:
        return
    if reference not in answers or len(answers) < 2:
        raise ParameterError(
            "reference",
            "must be the name of one of two or more models. Got "
            f"{reference!r}, and the models {list(answers)}.",
        )
    for name, value in others.items():
        if value is not None:
            raise ParameterError(
                None, f"takes 'reference' or {name!r}, not both. Leave one out."
            )


def compare_labels(
    answers: Mapping[str, Answers],
    labels: list[Any],
    reference: str,
    groups: np.ndarray | None,
    level: float,
    n_resamples: int,
    random_state: RandomStateLike,
) -> dict[str, Comparisons]:
    """Compare every other model with the reference, for each label.

    `groups` has an entry for each sample. The result has a list for each model, with
    one entry for each of `labels`. The entry is None if one of the models has no answer
    for the label, or if the answers are from a single group.
    """
    base = _by_label(answers[reference])

    def compare(name: str, a: Answers | None, label: Any) -> Any:
        b = base.get(label)
        if a is None or b is None:
            return None
        _check_same_items(a, b, name, reference, label)
        group = a.groups if groups is None else groups[a.groups]
        if np.unique(group).size < 2:
            return None
        return compare_calibration(
            a.y_true,
            a.y_proba,
            b.y_proba,
            y_true_b=b.y_true,
            groups=group,
            pos_label=1,
            confidence_level=level,
            n_resamples=n_resamples,
            random_state=random_state,
        )

    return {
        name: [compare(name, mine.get(label), label) for label in labels]
        for name, each in answers.items()
        if name != reference
        # once for each model, not once for each label
        for mine in [_by_label(each)]
    }


def warn_of_few_resamples(
    n_labels: int, n_resamples: int, adjust: str | None, level: float
) -> None:
    """Warn if no p-value can be significant after the adjustment by Holm's rule."""
    alpha = 1 - level
    if adjust == "holm" and n_labels / (n_resamples + 1) >= alpha:
        warn(
            f"TagErrorDisplay: {n_resamples} resamples are too few for {n_labels} "
            "labels: by Holm's rule no adjusted p-value can be below "
            f"{n_labels / (n_resamples + 1):.3g}. Pass n_resamples of at least "
            f"{math.floor(n_labels / alpha) + 1}, a smaller 'top', or "
            "adjust='bh'.",
        )


def _by_label(answers: Answers) -> dict[Any, Answers]:
    """Return the answers for each label, in the order of their samples and places."""
    names, code = numbered(answers.label)
    place = answers.item.reshape(len(code), -1).T
    order = np.lexsort((*place[::-1], answers.groups, code))
    ends = np.searchsorted(code[order], np.arange(len(names) + 1))
    return {
        name: answers.take(order[ends[k] : ends[k + 1]]) for k, name in enumerate(names)
    }


def _check_same_items(
    a: Answers, b: Answers, name: str, reference: str, label: Any
) -> None:
    """Raise an error unless both models have answers for a label at the same items."""
    if np.array_equal(a.groups, b.groups) and np.array_equal(a.item, b.item):
        return
    raise ParameterError(
        "reference",
        f"needs answers about the same items. {name!r} and {reference!r} were asked "
        f"for {label!r} at different items ({len(a.y_true)} and {len(b.y_true)}). Pass "
        "a query whose items do not depend on the model, such as SpanQuery(spans='all')"
        ".",
    )


def adjusted(comparisons: Comparisons, adjust: str | None) -> list[float | None]:
    """Return the p-values of the labels, adjusted for the number of labels."""
    there = [each for each in comparisons if each is not None]
    values = np.array([each.pvalue for each in there], dtype=float)
    found = iter(adjusted_pvalues(values, adjust).tolist() if values.size else ())
    return [None if each is None else next(found) for each in comparisons]


def verdicts(comparisons: Comparisons, adjust: str | None) -> np.ndarray:
    """Return the sign of the difference of each label if it is significant.

    The sign is -1 if the model is significantly better calibrated than the reference,
    and 1 if it is worse. Without a significant difference or a comparison it is 0.
    """
    signs = [
        0
        if each is None or p is None or p >= 1 - each.confidence_level
        else np.sign(each.difference)
        for each, p in zip(comparisons, adjusted(comparisons, adjust), strict=True)
    ]
    return np.array(signs, dtype=int)


def comparison_columns(comparisons: Comparisons, adjust: str | None) -> dict[str, list]:
    """Return the columns of a table with a row for each label."""
    numbers = {
        "difference": "difference",
        "difference_low": "low",
        "difference_high": "high",
        "pvalue": "pvalue",
    }
    columns = {
        column: [getattr(each, attribute, None) for each in comparisons]
        for column, attribute in numbers.items()
    }
    return columns | {"pvalue_adjusted": adjusted(comparisons, adjust)}


def comparison_dicts(comparisons: Comparisons, adjust: str | None) -> list[dict | None]:
    """Return all numbers of each label, with the adjusted p-value."""
    p_values = adjusted(comparisons, adjust)
    return [
        None if each is None else each.to_dict() | {"pvalue_adjusted": p}
        for each, p in zip(comparisons, p_values, strict=True)
    ]


def verdict_in_words(
    comparisons: Comparisons, adjust: str | None, reference: str
) -> str:
    """Return the numbers of labels with significant differences, in words."""
    signs = verdicts(comparisons, adjust)
    n = sum(each is not None for each in comparisons)
    rule = {"holm": "Holm", "bh": "Benjamini and Hochberg", None: "unadjusted"}
    return (
        f"significantly better calibrated than {reference} for {(signs < 0).sum()} of "
        f"{n} labels, and significantly worse for {(signs > 0).sum()} ({rule[adjust]})."
    )
