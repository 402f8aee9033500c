"""Models that a display is given, their pairs, and the pairs of named groups.

A model is given by its probabilities, by a fitted estimator or by the results of a
cross-validation. Every constructor of a display turns its models into a list of parts,
named pairs, from which it computes the numbers to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._pairs import Pairs, check_pairs, common_draws, draws_of, warn_of_shares
from .._validation import (
    as_groups,
    as_labels,
    as_probabilities,
    as_weights,
    check_bool,
    check_choice,
    column_names,
    columns_by_name,
    distinct_labels,
    is_sequence,
    label_array,
)
from ..metrics import CalibrationErrorInterval
from ..metrics._bins import AUTOMATIC
from ..metrics._draws import (
    DrawRows,
    check_draws_of_model,
    check_n_draws,
    rows_of_shares,
)
from ..metrics._interval import interval_of_draws, interval_of_pairs
from ..queries import Answers
from ..queries._answers import answer_pairs
from ._base import check_type, percent_text


class Part(NamedTuple):
    """Pairs of a model, or of one group of its pairs.

    `draws` are the rows of left-out draws, if the probabilities are shares of draws.
    """

    name: Any
    pairs: Pairs
    draws: DrawRows | None = None


# A query object, which is called with a fitted estimator, X and y.
Query = Callable[[Any, Any, Any], Answers]


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


def parts_of_predictions(
    y_true: Any,
    y_proba: Any,
    name: Any,
    multi_class: str | None,
    labels: Any,
    pos_label: Hashable,
    sample_weight: Any,
    groups: Any,
    by: Any = None,
    n_draws: Any = None,
) -> list[Part]:
    """Return the checked pairs of each of one or several models, or of groups of one.

    `n_draws` is the number of samples, if the probabilities are shares of samples.
    """
    several = named_probabilities(y_true, y_proba, name)
    _check_multi_class(multi_class)
    if n_draws is not None:
        check_draws_of_model(2, multi_class)
    params = {"multi_class": multi_class, "labels": labels, "pos_label": pos_label}
    params["sample_weight"] = sample_weight
    found = []
    for own, proba in several:
        try:
            (pairs,) = check_pairs(y_true, proba, groups=groups, **params)
        except ParameterError as error:
            if own is not None:
                # With several models, the error says which of them it is about.
                error.problem += f" The model is {own!r}."
            raise
        found.append((own, pairs, draws_of(proba) if n_draws is None else n_draws))
    if by is None:
        parts = []
        for own, pairs, k in found:
            draws = None
            if k is None:
                warn_of_shares(pairs)
            else:
                draws = rows_of_shares(pairs, *check_n_draws(k, y_true, sample_weight))
            parts.append(Part(own, pairs, draws))
        return parts
    answers = []
    for (own, pairs, k), (_, proba) in zip(found, several, strict=True):
        each: Any = _answers_of_pairs(pairs, y_true, proba, **params)
        each.n_draws = check_draws_of_model(k, multi_class)
        answers.append((own, each))
    return parts_of_answers(answers, y_true, sample_weight, groups, by)


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
    check_bool(by_fold, name="by_fold")
    several = isinstance(cv_results, Mapping) and all(
        isinstance(each, Mapping) for each in cv_results.values()
    )
    found = []
    for own, each in named(cv_results, name, "cv_results", several=several):
        _check_cv_results(each, X, y)
        # The estimators of all folds are clones of one.
        own = type(each["estimator"][0]).__name__ if own is None else own
        folds = list(zip(each["estimator"], each["indices"]["test"], strict=True))
        parts = [(own, folds)]
        if by_fold:
            parts = [(f"{own}, fold {k}", [fold]) for k, fold in enumerate(folds, 1)]
        found += [(own, _held_out(part, X, y, query, options)) for own, part in parts]
    return found


def positive_class(models: list[tuple[Any, Answers]]) -> Any:
    """Return the class that all answers are about; None if there are several."""
    labels = {label for _, each in models for label in numbered(each.label)[0]}
    return labels.pop() if len(labels) == 1 else None


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


def _check_cv_results(cv_results: Any, X: Any, y: Any) -> None:
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
    folds: list[tuple[Any, Any]], X: Any, y: Any, query: Any, options: dict[str, Any]
) -> Answers:
    """Return the answers of the model of each fold about the test samples."""
    from .._compat import take_rows
    from ..scorers._query_scorers import ask

    tests = [np.asarray(test) for _, test in folds]
    answers = [
        ask(model, take_rows(X, test), take_rows(y, test), query, **options)
        for (model, _), test in zip(folds, tests, strict=True)
    ]
    columns = {
        name: np.concatenate([getattr(each, name) for each in answers])
        for name in ("y_true", "y_proba", "item", "label")
    }
    # The query numbers the samples of a fold; `test` has their rows in X.
    samples = [test[a.groups] for a, test in zip(answers, tests, strict=True)]
    result = Answers(
        **columns,
        groups=np.concatenate(samples),
        n_unseen=sum(each.n_unseen for each in answers),
        n_draws=common_draws((each.n_draws for each in answers), "cv_results"),
    )
    result._least = answers[0]._least
    return result


def weight_and_groups(
    y: Any, sample_weight: Any, groups: Any
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the checked weight and the code of the group of each sample."""
    return as_weights(sample_weight, len(y)), as_groups(groups, len(y))


def parts_of_answers(
    models: list[tuple[Any, Answers]],
    y: Any,
    sample_weight: Any,
    groups: Any,
    by: Any = None,
) -> list[Part]:
    """Return the pairs of each model, or of each group of one model if `by` is given.

    `by` has the group of each sample, or is 'label'.
    """
    weight, codes = weight_and_groups(y, sample_weight, groups)
    for _, each in models:
        if each.n_draws is None:
            warn_of_shares(each._pairs)
    if by is None:
        found = [(own, pairs_of_answers(each, weight, codes)) for own, each in models]
    else:
        names = _check_by(by, y)
        if len(models) > 1:
            raise ParameterError(
                "by", f"divides the pairs of one model. Got {len(models)} models."
            )
        found = pairs_by_name(models[0][1], weight, codes, names)
        models = models * len(found)
    parts = []
    for (own, pairs), (_, answers) in zip(found, models, strict=True):
        k = answers.n_draws
        draws = None if k is None else rows_of_shares(pairs, k)
        parts.append(Part(own, pairs, draws))
    return parts


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


def answers_by_name(answers: Answers, names: np.ndarray) -> dict[Any, Answers]:
    """Return the answers of each name, of which `names` has one per answer, sorted."""
    distinct, code = numbered(names)
    # A stable sort of the codes keeps the answers of a name in their original order.
    member = np.argsort(code, kind="stable")
    ends = np.searchsorted(code[member], np.arange(len(distinct) + 1))
    return {
        name: answers.take(member[start:end])
        for name, (start, end) in zip(distinct, pairwise(ends), strict=True)
    }


def pairs_by_name(
    answers: Answers,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    by: np.ndarray | None = None,
) -> list[tuple[Any, Pairs]]:
    """Return each name and its pairs, the name with the most pairs first.

    Names with equally many pairs, such as the classes of a classifier, are sorted by
    the number of positive answers and then by name. `weight`, `groups` and `by` (if
    None, the labels of the queries) have one entry per sample. Names without weight are
    left out.
    """
    if weight is not None and not weight.all():
        # A name whose pairs all have weight 0 would otherwise get a panel.
        answers = answers.take(weight[answers.groups] > 0)
    found = []
    names = answers.label if by is None else by[answers.groups]
    for name, part in answers_by_name(answers, names).items():
        own = np.ones(len(part)) if weight is None else weight[part.groups]
        size = -float(own.sum()), -float(own @ part.y_true)
        found.append((size, name, pairs_of_answers(part, weight, groups)))
    # The sort is stable, so that ties are sorted by name.
    return [(name, pairs) for _, name, pairs in sorted(found, key=lambda x: x[0])]


def error_of_pairs(
    pairs: Pairs, level: float, draws: DrawRows | None = None
) -> CalibrationErrorInterval:
    """Return the error, or the error of the probability behind shares of draws."""
    if draws is None:
        return interval_of_pairs(pairs, AUTOMATIC, level)
    return interval_of_draws(draws, pairs, AUTOMATIC, level)


def error_if_enough(
    pairs: Pairs, level: float, draws: DrawRows | None = None
) -> CalibrationErrorInterval | None:
    """Return the error of a part of the data, or None if the part is too small."""
    try:
        return error_of_pairs(pairs, level, draws)
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


def _check_by(by: Any, y: Any) -> np.ndarray | None:
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


def _answers_of_pairs(
    pairs: Pairs,
    y_true: Any,
    y_proba: Any,
    *,
    multi_class: str | None,
    labels: Any,
    pos_label: Hashable,
    sample_weight: Any,
) -> Answers:
    """Return the checked pairs of some predictions with the class of each pair."""
    weight = as_weights(sample_weight, len(y_true))
    # check_pairs has dropped the rows without weight.
    rows = np.arange(len(y_true)) if weight is None else np.flatnonzero(weight)
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
    # The classes of one row are repeated for every row.
    sample = np.repeat(rows, pairs.n_classes)
    return Answers._of_rows(pairs.q, pairs.indicator(), asked, sample=sample)
