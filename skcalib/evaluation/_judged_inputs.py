"""Arguments of the estimates from a judge and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError
from .._validation import as_floats, as_groups
from .._warn import warn
from ._accuracy import as_scores, check_nested

METHODS = ("auto", "post-stratified", "PPI++")


class RateInterval(NamedTuple):
    """Rate with its confidence interval, in the results of :func:`judged_accuracy`.

    Attributes
    ----------
    estimate : float
        Estimate of the rate.
    low, high : float
        Ends of the confidence interval.

    See Also
    --------
    JudgedAccuracy : Accuracy from a judge and labels.

    Examples
    --------
    >>> from skcalib.evaluation import RateInterval
    >>> RateInterval(0.83, 0.71, 0.91).low
    0.71
    """

    estimate: float
    low: float
    high: float


# Shown by the documentation in place of "Alias for field number 0".
RateInterval.estimate.__doc__ = "The rate."
RateInterval.low.__doc__ = "Lower end of the interval."
RateInterval.high.__doc__ = "Upper end of the interval."


@dataclass(frozen=True)
class Items:
    """Questions and groups of items as codes, and weights that add up to 1."""

    weight: np.ndarray
    questions: np.ndarray | None
    groups: np.ndarray | None


def scores_of(values: Any, *, name: str) -> np.ndarray:
    """Return scores in [0, 1], or NaN."""
    return as_scores(values, name=name, may_be_missing=True)


def check_labels(has: np.ndarray, *, name: str, what: str = "an item") -> None:
    """Raise an error unless at least two items have a score."""
    n = int(has.sum())
    if n < 2:
        raise ParameterError(
            name,
            f"must have scores of {what} in at least two rows. Got {n} of {has.size}.",
        )


def items_of(n: int, questions: Any, groups: Any) -> Items:
    """Return the questions and groups of items; samples of a question are dependent."""
    codes = as_groups(groups, n)
    if questions is None:
        return Items(np.full(n, 1 / n), None, codes)
    question = as_groups(questions, n, name="questions")
    assert question is not None
    if codes is not None:
        check_nested(question, codes)
    number = np.bincount(question)
    weight = 1 / (number.size * number[question])
    if codes is None and number.max() > 1:
        codes = question
    return Items(weight, question, codes)


def expansions(inclusion_probability: Any, is_labelled: np.ndarray) -> np.ndarray:
    """Return the number of items that each labelled item represents, up to a factor."""
    if inclusion_probability is None:
        return np.ones(is_labelled.size)
    name = "inclusion_probability"
    chance = as_floats(inclusion_probability, name=name).astype(np.float64)
    if chance.shape != is_labelled.shape:
        raise ParameterError(
            name,
            f"must have one entry for each of the {is_labelled.size} items. Got shape "
            f"{chance.shape}.",
        )
    bad = is_labelled & ~((chance > 0) & (chance < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise ParameterError(
            name,
            "must be positive for each item with a label. Got "
            f"{float(chance[row])!r} in row {row}.",
        )
    return 1 / np.where(is_labelled, chance, 1)


def values_of(labels: np.ndarray, *possible: float) -> tuple[float, ...]:
    """Return the values of the labels and the given possible values, sorted."""
    found = np.unique(labels[~np.isnan(labels)])
    return tuple(np.union1d(found, possible).tolist())


def verdict_codes(*judges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the code of the verdicts of each item, and the verdicts of each code.

    The verdicts are an array with one column per judge, in ascending order. A missing
    score is a separate verdict, NaN, and comes first.
    """
    scores = [np.where(np.isnan(judge), -1, judge) for judge in judges]
    found = [np.unique(column, return_inverse=True) for column in scores]
    sizes = [levels.size for levels, _ in found]
    pairs = np.ravel_multi_index([codes for _, codes in found], sizes)
    used, codes = np.unique(pairs, return_inverse=True)
    columns = zip(found, np.unravel_index(used, sizes), strict=True)
    verdicts = np.column_stack([levels[rows] for (levels, _), rows in columns])
    return codes, np.where(verdicts < 0, np.nan, verdicts)


def warn_of_verdicts(
    verdicts: np.ndarray, weight: np.ndarray, n_labelled: np.ndarray
) -> None:
    """Warn if items have a verdict for which there is no label."""
    lacking = np.flatnonzero((n_labelled == 0) & (weight > 0))
    if lacking.size == 0:
        return
    shown = ", ".join(
        " and ".join("none" if np.isnan(v) else f"{v:g}" for v in verdicts[k])
        for k in lacking[:3]
    )
    more = ", ..." if lacking.size > 3 else ""
    warn(
        f"No item with the verdict {shown}{more} has a label. These items are "
        f"{float(weight[lacking].sum()):.1%} of all items. Nothing is assumed about "
        "their labels: the estimate uses the middle of the possible values. Label a "
        "few of these items.",
    )


def is_one_group(groups: np.ndarray | None, rows: np.ndarray) -> bool:
    """Return whether all labels are in one group, and warn if so."""
    if groups is None or (groups[rows] != groups[rows[0]]).any():
        return False
    warn(
        "All labels are in one group, so the variation between groups cannot be "
        "estimated. The interval contains all possible values.",
    )
    return True
