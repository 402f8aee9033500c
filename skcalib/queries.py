"""Polar queries: yes-or-no questions put to a model, answered with probabilities.

A query turns whatever a model predicts into pairs (y, q): whether the answer is yes,
and the probability that the model gives to yes. On such pairs calibration is measured
in the same way for every kind of model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._results import as_frame
from ._validation import check_choice
from .metrics._pairs import (
    Pairs,
    as_labels,
    as_probabilities,
    as_weights,
    distinct_labels,
    drop_weightless,
    positives,
)

__all__ = ["Answers", "ClassQuery"]


@dataclass(frozen=True, repr=False, eq=False)
class Answers:
    """Pairs of truth and probability, and where each comes from.

    Attributes
    ----------
    y_true : ndarray of shape (n_pairs,), int
        1 where the answer is yes.
    y_proba : ndarray of shape (n_pairs,)
        Probability of yes.
    groups : ndarray of shape (n_pairs,), int
        Index of the sample (row, sentence, document) that was asked.
    item : ndarray of shape (n_pairs,), int
        Place of the pair in its sample.
    label : ndarray of shape (n_pairs,)
        What was asked for.
    n_unseen : int
        Number of pairs added with probability 0, for labels in y that the model did not
        see in training.

    See Also
    --------
    ClassQuery : Ask a classifier.

    Examples
    --------
    >>> from skcalib.queries import ClassQuery
    >>> proba = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]]
    >>> answers = ClassQuery().from_proba(["N", "V"], proba, classes=["A", "N", "V"])
    >>> answers
    Answers(n_pairs=6, n_groups=2, n_unseen=0)
    >>> answers.y_true
    array([0, 1, 0, 0, 0, 1])
    """

    y_true: np.ndarray
    y_proba: np.ndarray
    groups: np.ndarray
    item: np.ndarray
    label: np.ndarray
    n_unseen: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays as lists, and the number of unseen pairs."""
        columns = {name: array.tolist() for name, array in self._columns().items()}
        return {**columns, "n_unseen": self.n_unseen}

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each pair."""
        return as_frame(self._columns(), caller="Answers.frame")

    def _columns(self) -> dict[str, np.ndarray]:
        names = ("y_true", "y_proba", "groups", "item", "label")
        return {name: getattr(self, name) for name in names}

    def take(self, rows: Any) -> Answers:
        """Return the answers of some pairs.

        Parameters
        ----------
        rows : array of bool or int
            Which pairs.

        Returns
        -------
        answers : Answers
        """
        columns = {name: array[rows] for name, array in self._columns().items()}
        return replace(self, **columns)

    def __len__(self) -> int:
        return self.y_true.size

    def __repr__(self) -> str:
        n_groups = np.unique(self.groups).size
        return (
            f"Answers(n_pairs={len(self)}, n_groups={n_groups}, "
            f"n_unseen={self.n_unseen})"
        )


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
            Probability of `pos_label`, or of every class.
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
            positive = positives(y, self.pos_label, caller=caller)
            label = 1 if self.pos_label is None else self.pos_label
            return _one_each(positive, q, np.full(y.size, label))
        return self._from_matrix(y, q, classes, caller)

    def _from_matrix(
        self, y: np.ndarray, q: np.ndarray, classes: Any, caller: str
    ) -> Answers:
        found = distinct_labels(y, name="y_true", caller=caller)
        if classes is None:
            order = found
        else:
            order = as_labels(classes, name="classes", caller=caller)
        if order.size != q.shape[1]:
            raise ValueError(
                f"The 'proba' parameter of {caller} must have one column for each "
                f"class. Got {q.shape[1]} columns and {order.size} classes."
            )
        if isinstance(order.tolist()[0], str) != isinstance(found.tolist()[0], str):
            raise ValueError(
                f"The 'y_true' and 'classes' parameters of {caller} must hold labels "
                f"of one kind. Got {found.tolist()[0]!r} and {order.tolist()[0]!r}."
            )
        known = set(order.tolist())
        if len(known) < order.size:
            raise ValueError(f"The 'classes' parameter of {caller} repeats a label.")
        unseen = [label for label in found.tolist() if label not in known]
        n_classes = order.size + len(unseen)
        if self.multi_class == "top_label":
            top = q.argmax(axis=1)
            label = order[top]
            return _one_each(label == y, q[np.arange(y.size), top], label)
        if self.pos_label is not None or (self.multi_class is None and n_classes == 2):
            return self._binary(y, q, order, unseen, caller)
        return _every_class(y, q, order, unseen)

    def _binary(
        self, y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list, caller: str
    ) -> Answers:
        pos_label = self.pos_label
        if pos_label is None:
            pos_label = sorted([*order.tolist(), *unseen])[1] if unseen else order[1]
        known = order.tolist()
        if pos_label in known:
            return _one_each(
                y == pos_label, q[:, known.index(pos_label)], np.full(y.size, pos_label)
            )
        if pos_label not in unseen:
            raise ValueError(
                f"The 'pos_label' parameter of ClassQuery must be a class of the model "
                f"or a label in y. Got {pos_label!r}, and the classes {known}."
            )
        return _one_each(
            y == pos_label, np.zeros(y.size), np.full(y.size, pos_label), y.size
        )


def answer_pairs(answers: Answers, sample_weight: Any, *, caller: str) -> Pairs:
    """Return answers as checked pairs, a weight a sample, dependent within a sample."""
    n = int(answers.groups.max(initial=-1)) + 1
    weight = as_weights(sample_weight, n, caller=caller)
    several = np.unique(answers.groups).size < len(answers)
    columns = [answers.y_proba, answers.y_true == 1, answers.groups]
    by_pair = None if weight is None else weight[answers.groups]
    (q, positive, groups), by_pair = drop_weightless(columns, by_pair)
    return Pairs(
        q=q,
        positive=positive,
        positive_q=q[positive],
        weight=by_pair,
        groups=groups if several else None,
        repeats=weight if several else None,
    )


def _one_each(
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


def _every_class(y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list):
    """Return the answers where every sample was asked for every class."""
    n = y.size
    if unseen:
        order = np.array([*order.tolist(), *unseen])
        q = np.hstack([q, np.zeros((n, len(unseen)), dtype=q.dtype)])
    k = order.size
    return Answers(
        y_true=(y[:, np.newaxis] == order).astype(np.int64).ravel(),
        y_proba=q.ravel(),
        groups=np.repeat(np.arange(n), k),
        item=np.tile(np.arange(k), n),
        label=np.tile(order, n),
        n_unseen=n * len(unseen),
    )
