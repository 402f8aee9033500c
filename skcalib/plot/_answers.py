"""Pairs of one or several models, and their division into named groups.

The models are probabilities, fitted estimators or results of a cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._compat import take_rows
from .._errors import ParameterError, ParameterTypeError
from .._pairs import Pairs, check_pairs
from .._validation import (
    as_groups,
    as_labels,
    as_probabilities,
    as_weights,
    check_choice,
    distinct_labels,
    is_sequence,
    label_array,
)
from ..queries import Answers
from ..queries._answers import answer_pairs
from ..scorers._query_scorers import ask

# A query object, which is called with a fitted estimator, X and y.
Query = Callable[[Any, Any, Any], Answers]


def named(
    models: Any,
    name: Any,
    parameter: str,
    default: Callable[[Any], Any],
    *,
    several: bool,
) -> list[tuple[Any, Any]]:
    """Return the name and the value of each model.

    If `several`, the models are a mapping by name, or a sequence with an optional list
    of names. Otherwise there is one model, whose name is a str. `default` returns the
    name if none is given.
    """
    if not several:
        if name is not None and not isinstance(name, str):
            raise ParameterTypeError(
                "name",
                "must be a str; for several models pass a mapping of names to "
                f"{parameter}. Got {name!r}.",
            )
        return [(default(models) if name is None else name, models)]
    if not models:
        kind = "mapping" if isinstance(models, Mapping) else "sequence"
        raise ParameterError(parameter, f"is an empty {kind}.")
    if isinstance(models, Mapping):
        return list(models.items())
    names = [default(each) for each in models] if name is None else name
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
    return named(y_proba, name, "y_proba", lambda _: None, several=several)


def pairs_of_predictions(
    y_true: Any, y_proba: Any, name: Any, *, multi_class: Any, **params: Any
) -> list[tuple[Any, Pairs]]:
    """Return the name and the checked pairs of each of one or several models.

    `params` are parameters of check_pairs.
    """
    several = named_probabilities(y_true, y_proba, name)
    _check_multi_class(multi_class)
    found = []
    for own, proba in several:
        try:
            pairs = check_pairs(y_true, proba, multi_class=multi_class, **params)[0]
        except ParameterError as error:
            if own is not None:
                error.problem += f" The model is {own!r}."
            raise
        found.append((own, pairs))
    return found


def answers_of_estimators(
    estimator: Any,
    X: Any,
    y: Any,
    query: Any,
    name: Any,
    *,
    multi_class: str | None = None,
    pos_label: Hashable = None,
) -> list[tuple[Any, Answers]]:
    """Return the name and the answers of each of one or several estimators.

    `multi_class` and `pos_label` are for the query that fits a classifier.
    """
    options = _given(query, multi_class, pos_label)
    several = isinstance(estimator, (Mapping, list, tuple))
    models = named(estimator, name, "estimator", _class_name, several=several)
    return [(own, ask(each, X, y, query, **options)) for own, each in models]


def answers_of_folds(
    cv_results: Any,
    X: Any,
    y: Any,
    query: Any,
    name: Any,
    *,
    multi_class: str | None = None,
    pos_label: Hashable = None,
) -> list[tuple[Any, Answers]]:
    """Return the name and the held-out answers of one or several cross-validations.

    The groups of the answers are the samples in the order of X.
    """
    options = _given(query, multi_class, pos_label)
    several = isinstance(cv_results, Mapping) and all(
        isinstance(each, Mapping) for each in cv_results.values()
    )
    results = named(cv_results, name, "cv_results", lambda _: None, several=several)
    found = []
    for own, each in results:
        _check_cv_results(each, X, y)
        own = _class_name(each["estimator"][0]) if own is None else own
        found.append((own, _held_out(each, X, y, query, options)))
    return found


def _check_multi_class(multi_class: Any) -> None:
    """Raise an error unless `multi_class` gives one curve for all classes."""
    if multi_class is not None:
        check_choice(multi_class, ("pooled", "top_label"), name="multi_class")


def _given(query: Any, multi_class: str | None, pos_label: Hashable) -> dict[str, Any]:
    """Return the options that are given; with a query, none may be given."""
    _check_multi_class(multi_class)
    options: dict[str, Any] = {}
    if multi_class is not None:
        options["multi_class"] = multi_class
    if pos_label is not None:
        options["pos_label"] = pos_label
    if query is not None and options:
        raise ParameterError(
            None,
            f"takes 'query' or {' and '.join(map(repr, options))}, not both. Set "
            f"{'them' if len(options) > 1 else 'it'} in the query.",
        )
    return options


def _class_name(estimator: Any) -> str:
    return type(estimator).__name__


def _check_cv_results(cv_results: Any, X: Any, y: Any) -> None:
    """Raise an error unless these are results of cross_validate on X and y."""
    if not isinstance(cv_results, Mapping):
        raise ParameterTypeError(
            "cv_results",
            "must be the dict of cross_validate, or a mapping of names to such dicts. "
            f"Got {type(cv_results).__name__}.",
        )
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ParameterError(
            "cv_results",
            f"must contain 'estimator' and 'indices'. Got no {missing[0]!r}: call "
            "cross_validate with return_estimator=True, return_indices=True.",
        )
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
    answers, samples = [], []
    folds = cv_results["indices"]["test"]
    for estimator, test in zip(cv_results["estimator"], folds, strict=True):
        found = ask(estimator, take_rows(X, test), take_rows(y, test), query, **options)
        answers.append(found)
        samples.append(np.asarray(test)[found.groups])
    return Answers(
        y_true=np.concatenate([a.y_true for a in answers]),
        y_proba=np.concatenate([a.y_proba for a in answers]),
        groups=np.concatenate(samples),
        item=np.concatenate([a.item for a in answers]),
        label=np.concatenate([a.label for a in answers]),
        n_unseen=sum(a.n_unseen for a in answers),
    )


def weight_and_groups(
    y: Any, sample_weight: Any, groups: Any
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the checked weight and the code of the group of each sample."""
    return as_weights(sample_weight, len(y)), as_groups(groups, len(y))


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
        sample = sample[weight[sample] > 0]
    own = groups[sample[:: pairs.n_classes]]
    return replace(pairs, row_groups=own, group_repeats=None)


def pairs_by_name(
    answers: Answers,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    by: np.ndarray | None,
) -> Iterator[tuple[Any, Pairs]]:
    """Yield each name and its pairs, the name with the most pairs first.

    Names with equally many pairs, such as the classes of a classifier, are sorted by
    the number of positive answers and then by name. `weight`, `groups` and `by` (if
    None, the labels of the queries) have one entry per sample. Names without weight are
    left out.
    """
    if weight is not None and not weight.all():
        answers = answers.take(weight[answers.groups] > 0)
    names, code = numbered(answers.label if by is None else by[answers.groups])
    by_pair = None if weight is None else weight[answers.groups]
    total = np.bincount(code, by_pair, len(names))
    weight_of_yes = answers.y_true if by_pair is None else by_pair * answers.y_true
    positive = np.bincount(code, weight_of_yes, len(names))
    # A stable sort of the codes keeps the pairs of a name in their original order.
    member = np.argsort(code, kind="stable")
    start = np.searchsorted(code[member], np.arange(len(names) + 1))
    # lexsort is stable, so that ties are sorted by name
    for k in np.lexsort((-positive, -total)):
        part = answers.take(member[start[k] : start[k + 1]])
        yield names[k], pairs_of_answers(part, weight, groups)


def numbered(names: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return the distinct names in order, and the number of each entry's name."""
    values = names.tolist()
    try:
        distinct = sorted(set(values))
    except TypeError:  # such as numbers and strings
        distinct = sorted(set(values), key=lambda v: (type(v).__name__, repr(v)))
    number = {name: k for k, name in enumerate(distinct)}
    return distinct, np.fromiter((number[v] for v in values), np.intp, names.size)


def enough_for_interval(pairs: Pairs) -> bool:
    """Return whether there are two pairs, of different groups if there are any."""
    if pairs.groups is None or pairs.total < 2:
        return pairs.total >= 2
    repeats = np.ones(1) if pairs.repeats is None else pairs.repeats
    # `repeats` also counts groups that have no pair here.
    size = np.bincount(pairs.groups, pairs.weight, repeats.size)
    same = size**2 / np.where(repeats > 0, repeats, 1)
    # The fraction below which rounding hides the products of different groups.
    return bool(1 - same.sum() / pairs.total**2 > 1e-8)


def check_by(by: Any, y: Any) -> np.ndarray | None:
    """Return the name of each sample, or None for the labels of the query ('label')."""
    if isinstance(by, str):
        if by == "label":
            return None
        raise ParameterError(
            "by", f"must be 'label' or contain one name per sample. Got {by!r} instead."
        )
    if not is_sequence(by):
        raise ParameterTypeError(
            "by",
            "must be 'label' or contain one name per sample. Got "
            f"{type(by).__name__} instead.",
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
    *,
    labels: Any,
    pos_label: Hashable,
    multi_class: str | None,
    weight: np.ndarray | None,
) -> Answers:
    """Return the checked pairs of some predictions with the class of each pair."""
    kept = np.arange(len(y_true)) if weight is None else np.flatnonzero(weight > 0)
    k = pairs.n_classes
    if np.ndim(y_proba) == 1:
        asked = label_array([1 if pos_label is None else pos_label]).repeat(kept.size)
    else:
        if labels is None:
            order = distinct_labels(
                as_labels(y_true, name="y_true")[kept], name="y_true"
            )
        else:
            order = as_labels(labels, name="labels")
        if multi_class == "top_label":
            proba = as_probabilities(y_proba, name="y_proba")
            asked = order[proba[kept].argmax(axis=1)]
        elif k > 1:
            asked = np.tile(order, kept.size)
        else:
            label = order.tolist()[1] if pos_label is None else pos_label
            asked = label_array([label]).repeat(kept.size)
    return Answers(
        y_true=pairs.indicator().astype(np.int64),
        y_proba=pairs.q,
        groups=np.repeat(kept, k),
        # all pairs of a row are about one item
        item=np.zeros(pairs.q.size, dtype=np.int64),
        label=asked,
    )
