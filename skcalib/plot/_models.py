"""Models that a display is given, their pairs, and the pairs of named groups.

A model is given by its probabilities, by a fitted estimator or by the results of a
cross-validation. Every constructor of a display turns its models into a list of names
and pairs, from which it computes the numbers to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._pairs import Pairs, check_pairs
from .._validation import (
    as_groups,
    as_labels,
    as_probabilities,
    as_weights,
    check_choice,
    column_names,
    columns_by_name,
    distinct_labels,
    is_sequence,
    label_array,
)
from ..metrics import CalibrationErrorInterval
from ..metrics._bins import Binning
from ..metrics._draws import DrawRows, rows_of_shares
from ..metrics._interval import interval_of_draws, interval_of_pairs
from ..queries import Answers
from ..queries._answers import answer_pairs
from ._base import check_type, percent_text

# A query object, which is called with a fitted estimator, X and y.
Query = Callable[[Any, Any, Any], Answers]

# Bins for which the interval of the error is valid.
AUTOMATIC = Binning("auto", None, "quantile")


def named(
    models: Any, name: Any, parameter: str, *, several: bool
) -> list[tuple[Any, Any]]:
    """Return the name (None if it is not given) and the value of each model.

    If `several`, the models are a mapping by name, or a sequence with an optional list
    of names. Otherwise there is one model, whose name is a str.
    """
    if not several:
        if name is not None and not isinstance(name, str):
            raise ParameterTypeError(
                "name",
                "must be a str; for several models pass a mapping of names to "
                f"{parameter}. Got {name!r}.",
            )
        return [(name, models)]
    if not models:
        kind = "mapping" if isinstance(models, Mapping) else "sequence"
        raise ParameterError(parameter, f"is an empty {kind}.")
    if isinstance(models, Mapping):
        return list(models.items())
    names = [None] * len(models) if name is None else name
    if not isinstance(names, (list, tuple)) or len(names) != len(models):
        raise ParameterError(
            "name",
            f"must have a name for each of the {len(models)} models. Got {name!r}.",
        )
    return list(zip(names, models, strict=True))


def named_probabilities(y_true: Any, y_proba: Any, name: Any) -> list[tuple[Any, Any]]:
    """Return the name and the probabilities of each of one or several models."""
    n = len(y_true) if hasattr(y_true, "__len__") else -1
    is_list = isinstance(y_proba, (list, tuple)) and len(y_proba) not in (0, n)
    several = isinstance(y_proba, Mapping) or (
        # an array with one row per label is the matrix of one model
        is_list and all(is_sequence(each) and len(each) == n for each in y_proba)
    )
    return named(y_proba, name, "y_proba", several=several)


def pairs_of_predictions(
    y_true: Any,
    y_proba: Any,
    name: Any,
    multi_class: str | None,
    labels: Any,
    pos_label: Hashable,
    sample_weight: Any,
    groups: Any,
) -> list[tuple[Any, Pairs]]:
    """Return the name and the checked pairs of each of one or several models."""
    several = named_probabilities(y_true, y_proba, name)
    _check_multi_class(multi_class)
    params = {"multi_class": multi_class, "labels": labels, "pos_label": pos_label}
    params |= {"sample_weight": sample_weight, "groups": groups}
    found = []
    for own, proba in several:
        try:
            (pairs,) = check_pairs(y_true, proba, **params)
        except ParameterError as error:
            if own is not None:
                # With several models, the error says which of them it is about.
                error.problem += f" The model is {own!r}."
            raise
        found.append((own, pairs))
    return found


def ask_estimators(
    estimator: Any,
    X: Any,
    y: Any,
    query: Any,
    name: Any,
    multi_class: str | None = None,
    pos_label: Hashable = None,
) -> list[tuple[Any, Answers]]:
    """Return the name and the answers of each of one or several estimators.

    `multi_class` and `pos_label` are for the query that fits a classifier.
    """
    # Scorers import scikit-learn, which figures of probabilities do not need.
    from ..scorers._query_scorers import ask

    options = _given(query, multi_class, pos_label)
    several = isinstance(estimator, (Mapping, list, tuple))
    return [
        (type(each).__name__ if own is None else own, ask(each, X, y, query, **options))
        for own, each in named(estimator, name, "estimator", several=several)
    ]


def ask_folds(
    cv_results: Any,
    X: Any,
    y: Any,
    query: Any,
    name: Any,
    multi_class: str | None,
    pos_label: Hashable,
    by_fold: bool = False,
) -> list[tuple[Any, Answers]]:
    """Return the name and the held-out answers of one or several cross-validations.

    The groups of the answers are the samples in the order of X. If `by_fold`, each fold
    has a name and answers of its own.
    """
    options = _given(query, multi_class, pos_label)
    several = isinstance(cv_results, Mapping) and all(
        isinstance(each, Mapping) for each in cv_results.values()
    )
    found = []
    for own, each in named(cv_results, name, "cv_results", several=several):
        check_cv_results(each, X, y)
        # The estimators of all folds are clones of one.
        own = type(each["estimator"][0]).__name__ if own is None else own
        parts = [(own, each)]
        if by_fold:
            folds = zip(each["estimator"], each["indices"]["test"], strict=True)
            parts = [
                (
                    f"{own}, fold {k}",
                    {"estimator": [model], "indices": {"test": [test]}},
                )
                for k, (model, test) in enumerate(folds, 1)
            ]
        found += [(own, _held_out(part, X, y, query, options)) for own, part in parts]
    return found


def _check_multi_class(multi_class: Any) -> None:
    """Raise an error unless `multi_class` gives one curve for all classes."""
    if multi_class is not None:
        check_choice(multi_class, ("pooled", "top_label"), name="multi_class")


def _given(query: Any, multi_class: str | None, pos_label: Hashable) -> dict[str, Any]:
    """Return the options that are given; with a query, none may be given."""
    _check_multi_class(multi_class)
    options = {"multi_class": multi_class, "pos_label": pos_label}
    options = {key: value for key, value in options.items() if value is not None}
    if query is not None and options:
        raise ParameterError(
            None,
            f"takes 'query' or {' and '.join(map(repr, options))}, not both. Set "
            f"{'them' if len(options) > 1 else 'it'} in the query.",
        )
    return options


def check_cv_results(cv_results: Any, X: Any, y: Any) -> None:
    """Raise an error unless these are results of cross_validate on X and y."""
    expected = "the dict of cross_validate, or a mapping of names to such dicts"
    check_type(cv_results, Mapping, expected, name="cv_results")
    for key in ("estimator", "indices"):
        if key not in cv_results:
            raise ParameterError(
                "cv_results",
                f"must contain 'estimator' and 'indices'. Got no {key!r}: call "
                "cross_validate with return_estimator=True, return_indices=True.",
            )
    # Folds need not contain all samples: these are the least that X and y have.
    n = max(int(np.max(test)) + 1 for test in cv_results["indices"]["test"])
    for argument, value in (("X", X), ("y", y)):
        found = value.shape[0] if hasattr(value, "shape") else len(value)
        if found < n:
            raise ParameterError(
                argument,
                "must be the data passed to cross_validate, whose folds contain "
                f"{n} samples. Got {found} samples.",
            )


def _held_out(
    cv_results: Mapping[str, Any], X: Any, y: Any, query: Any, options: dict[str, Any]
) -> Answers:
    """Return the answers of each model of a cross-validation about its test fold."""
    from .._compat import take_rows
    from ..scorers._query_scorers import ask

    folds = [np.asarray(test) for test in cv_results["indices"]["test"]]
    answers = [
        ask(estimator, take_rows(X, test), take_rows(y, test), query, **options)
        for estimator, test in zip(cv_results["estimator"], folds, strict=True)
    ]
    columns = {
        name: np.concatenate([getattr(each, name) for each in answers])
        for name in ("y_true", "y_proba", "item", "label")
    }
    # The query numbers the samples of a fold; `test` has their rows in X.
    samples = [test[a.groups] for a, test in zip(answers, folds, strict=True)]
    return Answers(
        **columns,
        groups=np.concatenate(samples),
        n_unseen=sum(each.n_unseen for each in answers),
        n_draws=answers[0].n_draws,
    )


def weight_and_groups(
    y: Any, sample_weight: Any, groups: Any
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the checked weight and the code of the group of each sample."""
    return as_weights(sample_weight, len(y)), as_groups(groups, len(y))


def pairs_of_models(
    models: list[tuple[Any, Answers]], y: Any, sample_weight: Any, groups: Any
) -> list[tuple[Any, Pairs]]:
    """Return the name and the pairs of each model from its answers about `y`."""
    weight, codes = weight_and_groups(y, sample_weight, groups)
    return [(name, pairs_of_answers(each, weight, codes)) for name, each in models]


def pairs_of_answers(
    answers: Answers, weight: np.ndarray | None, groups: np.ndarray | None
) -> Pairs:
    """Return checked pairs from answers.

    `weight` and `groups` have one entry per sample. If `groups` is None, the pairs of
    one sample depend on each other.
    """
    pairs = answer_pairs(answers, weight)
    if groups is None:
        return pairs
    sample = answers.groups
    if weight is not None:
        # The pairs have no rows of zero weight, unlike the answers.
        sample = sample[weight[sample] > 0]
    # Pooled classes of a sample are consecutive, and form one row of the pairs.
    own = groups[sample[:: pairs.n_classes]]
    # Samples of positive weight repeat their pairs, but not the given groups.
    return replace(pairs, row_groups=own, group_repeats=None)


def pairs_by_name(
    answers: Answers,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    by: np.ndarray | None = None,
) -> Iterator[tuple[Any, Pairs]]:
    """Yield each name and its pairs, the name with the most pairs first.

    Names with equally many pairs, such as the classes of a classifier, are sorted by
    the number of positive answers and then by name. `weight`, `groups` and `by` (if
    None, the labels of the queries) have one entry per sample. Names without weight are
    left out.
    """
    if weight is not None and not weight.all():
        # A name whose pairs all have weight 0 would otherwise get a panel.
        answers = answers.take(weight[answers.groups] > 0)
    names, code = numbered(answers.label if by is None else by[answers.groups])
    own = np.ones(len(answers)) if weight is None else weight[answers.groups]
    total = np.bincount(code, own, len(names))
    positive = np.bincount(code, own * answers.y_true, len(names))
    # A stable sort of the codes keeps the pairs of a name in their original order.
    member = np.argsort(code, kind="stable")
    start = np.searchsorted(code[member], np.arange(len(names) + 1))
    # lexsort is stable, so that ties are sorted by name
    for k in np.lexsort((-positive, -total)):
        part = answers.take(member[start[k] : start[k + 1]])
        yield names[k], pairs_of_answers(part, weight, groups)


def error_of_model(
    pairs: Pairs, level: float, rows: DrawRows | None = None
) -> CalibrationErrorInterval:
    """Return the error, or the error of the probability behind shares of draws."""
    if rows is None:
        return interval_of_pairs(pairs, AUTOMATIC, level)
    return interval_of_draws(rows, pairs, AUTOMATIC, level)


def error_of_part(
    pairs: Pairs, level: float, n_draws: int | None = None
) -> CalibrationErrorInterval | None:
    """Return the error of a part of the data, or None if the part is too small."""
    rows = None if n_draws is None else rows_of_shares(pairs, n_draws)
    try:
        return error_of_model(pairs, level, rows)
    except ParameterError:  # fewer than two pairs, or all pairs of a single group
        return None


def errors_in_words(errors: Iterable[Any], parts: str) -> list[str]:
    """Return a sentence about the errors of parts of the data, if any are known."""
    found = [error for error in errors if error is not None]
    if not found:
        return []
    n_wrong = sum(error.low > 0 for error in found)
    level = percent_text(found[0].confidence_level)
    return [
        f"{n_wrong} of {len(found)} {parts} have a calibration error whose {level} "
        "confidence interval does not contain 0."
    ]


def numbered(names: np.ndarray | list) -> tuple[list[Any], np.ndarray]:
    """Return the distinct names in order, and the number of each entry's name."""
    values = names if isinstance(names, list) else names.tolist()
    try:
        distinct = sorted(set(values))
    except TypeError:  # such as numbers and strings
        distinct = sorted(set(values), key=lambda v: (type(v).__name__, repr(v)))
    number = {name: k for k, name in enumerate(distinct)}
    return distinct, np.fromiter((number[v] for v in values), np.intp, len(values))


def check_by(by: Any, y: Any) -> np.ndarray | None:
    """Return the name of each sample, or None for the labels of the query ('label')."""
    if isinstance(by, str) and by == "label":
        return None
    if not is_sequence(by):
        is_text = isinstance(by, str)
        error = ParameterError if is_text else ParameterTypeError
        raise error(
            "by",
            "must be 'label' or contain one name per sample. Got "
            f"{repr(by) if is_text else type(by).__name__} instead.",
        )
    names = as_labels(by, name="by")
    if names.size != len(y):
        raise ParameterError(
            "by",
            f"must have one entry for each of the {len(y)} samples. Got "
            f"{names.size} instead.",
        )
    return names


def answers_of_pairs(
    pairs: Pairs,
    y_true: Any,
    y_proba: Any,
    multi_class: str | None,
    labels: Any,
    pos_label: Hashable,
    sample_weight: Any,
) -> Answers:
    """Return the checked pairs of some predictions with the class of each pair."""
    rows = np.arange(len(y_true))
    if sample_weight is not None:
        # check_pairs has dropped the other rows.
        rows = np.flatnonzero(np.asarray(sample_weight))
    if np.ndim(y_proba) == 1:
        # A vector has the probabilities of the label 1, unless another one is given.
        order = label_array([0, 1])
    elif labels is None:
        order = distinct_labels(as_labels(y_true, name="y_true")[rows], name="y_true")
    else:
        order = as_labels(labels, name="labels")
    if multi_class == "top_label":
        proba = as_probabilities(y_proba, name="y_proba")[rows]
        # The columns of a DataFrame may be in any order, as in check_pairs.
        columns = columns_by_name(column_names(y_proba), order, name="y_proba")
        proba = proba if columns is None else proba[:, columns]
        asked = order[proba.argmax(axis=1)]
    elif pairs.n_classes > 1:
        asked = order
    else:
        # Two classes have one pair per row, about the second class by default.
        asked = order[1:] if pos_label is None else label_array([pos_label])
    return Answers._of_rows(
        # The classes of one row are repeated for every row.
        pairs.q,
        pairs.indicator(),
        asked,
        sample=np.repeat(rows, pairs.n_classes),
    )
