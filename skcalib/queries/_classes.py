"""Questions to classifiers, and what all queries share about labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_choice, is_sequence
from ..metrics._pairs import (
    as_labels,
    as_probabilities,
    distinct_labels,
    label_array,
    positives,
)
from ._answers import Answers


@dataclass(frozen=True)
class ClassQuery:
    """Ask a classifier whether a sample is of a class.

    Parameters
    ----------
    pos_label : label, default=None
        The class asked for. None: the second of two classes; with more classes each
        against the rest.
    multi_class : {'pooled', 'top_label'}, default=None
        Ask for every class, a pair a class ('pooled', the default for more than two
        classes), or whether the most probable class is the right one ('top_label',
        ties to the first class).

    See Also
    --------
    skcalib.scorers.make_query_scorer : A scorer from a query and a metric.

    Notes
    -----
    A label of y that the classifier did not see in training is asked for like any
    other under 'pooled', with probability 0.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcalib.metrics import calibration_error
    >>> from skcalib.queries import ClassQuery
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GaussianNB().fit(X[:300], y[:300])
    >>> answers = ClassQuery()(model, X[300:], y[300:])
    >>> round(calibration_error(answers.y_true, answers.y_proba), 2)
    0.04
    """

    pos_label: Any = None
    multi_class: str | None = None

    def __post_init__(self) -> None:
        if self.multi_class is not None:
            choices = ("pooled", "top_label")
            check_choice(
                self.multi_class, choices, name="multi_class", caller="ClassQuery"
            )
            if self.pos_label is not None:
                raise ValueError(
                    "ClassQuery takes 'pos_label' or 'multi_class', not both. Got "
                    f"{self.pos_label!r} and {self.multi_class!r}."
                )

    def __call__(self, estimator: Any, X: Any, y: Any) -> Answers:
        """Ask a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier with predict_proba
            Or a pipeline or search object that ends in one.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True labels.

        Returns
        -------
        answers : Answers
        """
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                "The 'estimator' parameter of ClassQuery must have predict_proba. Got "
                f"{type(estimator).__name__}; wrap it in CalibratedClassifierCV, say."
            )
        proba = estimator.predict_proba(X)
        if not hasattr(estimator, "classes_"):
            raise ValueError(
                "The 'estimator' parameter of ClassQuery must have classes_, the labels"
                f" of its columns. Got {type(estimator).__name__}."
            )
        return self.from_proba(y, proba, estimator.classes_)

    def from_proba(self, y_true: Any, proba: Any, classes: Any = None) -> Answers:
        """Ask probabilities from anywhere.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples,) or (n_samples, n_classes)
            Probability of `pos_label` (of the second of two `classes` by default), or
            of every class.
        classes : array-like of shape (n_classes,), default=None
            Labels in the order of the columns; by default the sorted labels of
            `y_true`.

        Returns
        -------
        answers : Answers
        """
        caller = "ClassQuery.from_proba"
        y = as_labels(y_true, name="y_true", caller=caller)
        q = as_probabilities(proba, name="proba", caller=caller, n_columns=1)
        if len(q) != y.size:
            raise ValueError(
                f"{caller} needs a row of 'proba' for each label of 'y_true'. "
                f"Got {len(q)} rows and {y.size} labels."
            )
        if q.ndim == 1:
            if self.multi_class is not None:
                raise ValueError(
                    f"multi_class={self.multi_class!r} needs a 'proba' of shape "
                    f"(n_samples, n_classes). Got shape {q.shape}."
                )
            label = self.pos_label
            if label is None and classes is not None and len(classes) == 2:
                label = classes[1]
            positive = positives(y, label, caller=caller)
            return one_each(positive, q, np.full(y.size, 1 if label is None else label))
        return self._from_matrix(y, q, classes, caller)

    def _from_matrix(
        self, y: np.ndarray, q: np.ndarray, classes: Any, caller: str
    ) -> Answers:
        order, unseen = columns_of(y, q.shape[1], classes, caller)
        if self.multi_class == "top_label":
            return top_class(y, q, order, unseen)
        pos_label = self.pos_label
        if pos_label is None:
            if self.multi_class is not None or order.size + len(unseen) != 2:
                return every_class(y, q, order, unseen)
            pos_label = sorted([*order.tolist(), *unseen])[1] if unseen else order[1]
        return one_class(y, q, order, unseen, pos_label, "pos_label of ClassQuery")


def columns_of(
    y: np.ndarray, n_columns: int, classes: Any, caller: str
) -> tuple[np.ndarray, list]:
    """Return the labels of the columns, and those of y that have none."""
    found = distinct_labels(y, name="y_true", caller=caller)
    order = found
    if classes is not None:
        _check_ordered(classes, caller)
        labels = classes if isinstance(classes, np.ndarray) else label_array(classes)
        order = as_labels(labels, name="classes", caller=caller)
    if order.size != n_columns:
        raise ValueError(
            f"The 'proba' parameter of {caller} must have one column for each class. "
            f"Got {n_columns} columns and {order.size} classes."
        )
    if isinstance(order.tolist()[0], str) != isinstance(found.tolist()[0], str):
        raise ValueError(
            f"The 'y_true' and 'classes' parameters of {caller} must hold labels of "
            f"one kind. Got {found.tolist()[0]!r} and {order.tolist()[0]!r}."
        )
    known = set(order.tolist())
    if len(known) < order.size:
        raise ValueError(f"The 'classes' parameter of {caller} repeats a label.")
    return order, [label for label in found.tolist() if label not in known]


def _check_ordered(classes: Any, caller: str) -> None:
    """Raise unless `classes` may be labels in an order."""
    if not is_sequence(classes):
        raise TypeError(
            f"The 'classes' parameter of {caller} must be a sequence of the labels in "
            f"the order of the columns. Got {type(classes).__name__} {classes!r:.50}."
        )


def codes(y: np.ndarray, order: list) -> np.ndarray:
    """Return the place of each label in `order`."""
    place = {label: k for k, label in enumerate(order)}
    return np.fromiter((place[label] for label in y.tolist()), np.intp, y.size)


def top_class(y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list) -> Answers:
    """Return the answers where every sample was asked for its most probable class."""
    best = q.argmax(axis=1)
    right = codes(y, [*order.tolist(), *unseen]) == best
    return one_each(right, q[np.arange(y.size), best], order[best])


def one_class(
    y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list, label: Any, what: str
) -> Answers:
    """Return the answers where every sample was asked for one class."""
    known = order.tolist()
    everything = [*known, *unseen]
    if label not in everything:
        raise ValueError(
            f"The {what} must be a class of the model or a label in y. Got {label!r}, "
            f"and the classes {known}."
        )
    k = everything.index(label)
    positive = codes(y, everything) == k
    asked = label_array(everything)[np.full(y.size, k)]
    if k < len(known):
        return one_each(positive, q[:, k], asked)
    return one_each(positive, np.zeros(y.size), asked, y.size)


def one_each(
    positive: np.ndarray, q: np.ndarray, label: np.ndarray, n_unseen: int = 0
) -> Answers:
    """Return the answers where every sample was asked one question."""
    n = positive.size
    return Answers(
        y_true=positive.astype(np.int64),
        y_proba=q,
        groups=np.arange(n),
        item=np.zeros(n, dtype=np.int64),
        label=label,
        n_unseen=n_unseen,
    )


def every_class(
    y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list
) -> Answers:
    """Return the answers where every sample was asked for every class."""
    everything = [*order.tolist(), *unseen]
    n, k = y.size, len(everything)
    if unseen:
        q = np.hstack([q, np.zeros((n, len(unseen)), dtype=q.dtype)])
    code = codes(y, everything)
    return Answers(
        y_true=(code[:, np.newaxis] == np.arange(k)).astype(np.int64).ravel(),
        y_proba=q.ravel(),
        groups=np.repeat(np.arange(n), k),
        item=np.tile(np.arange(k), n),
        label=np.tile(label_array(everything), n),
        n_unseen=n * len(unseen),
    )
