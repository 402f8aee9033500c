"""Query for classes, and functions for labels and columns that all queries use."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import class_order, warn_of_sums
from .._validation import (
    as_label_list,
    as_labels,
    as_probabilities,
    check_choice,
    check_same_length,
    column_names,
    columns_by_name,
    distinct_labels,
    label_array,
    label_places,
    positives,
)
from ._answers import Answers


@dataclass(frozen=True)
class ClassQuery:
    """Ask a classifier whether a sample belongs to a class.

    Parameters
    ----------
    pos_label : label, default=None
        Class to ask for. If None and there are two classes, the query asks for the
        second class. If None and there are more than two classes, it asks for each
        class against the rest.
    multi_class : {'pooled', 'top_label'}, default=None
        'pooled' asks for every class, so that each sample gives one pair per class.
        'top_label' asks whether the most probable class is the true class. In case of
        ties, the first class is used. If None, more than two classes are pooled.

    See Also
    --------
    skcalib.scorers.make_query_scorer : Make a scorer from a query and a metric.

    Notes
    -----
    If classes are pooled, labels in y that do not occur in the training data of the
    classifier are also asked for, with probability 0. The number of these pairs is
    `n_unseen`.

    The probabilities of a sample do not need to sum to one, since every column is
    evaluated separately. If a sum differs from 1 by more than 0.02, a UserWarning is
    issued. Such sums are normal for classes that are not mutually exclusive. Otherwise,
    they are probably a mistake.

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

    @public
    def __post_init__(self) -> None:
        if self.multi_class is not None:
            choices = ("pooled", "top_label")
            check_choice(self.multi_class, choices, name="multi_class")
            if self.pos_label is not None:
                raise ParameterError(
                    None,
                    "accepts 'pos_label' or 'multi_class', not both. Got "
                    f"{self.pos_label!r} and {self.multi_class!r}.",
                )

    @public
    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> Answers:
        """Return the answers of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier with predict_proba
            A pipeline or search object that ends in a classifier is also accepted.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True labels.

        Returns
        -------
        answers : Answers
            One answer for each sample, or for each sample and class.
        """
        if not hasattr(estimator, "predict_proba"):
            raise ParameterError(
                "estimator",
                f"must have predict_proba. Got {type(estimator).__name__}. Wrap it, "
                "for example, in CalibratedClassifierCV.",
            )
        proba = estimator.predict_proba(X)
        if not hasattr(estimator, "classes_"):
            raise ParameterError(
                "estimator",
                "must have classes_, the labels of its columns. Got "
                f"{type(estimator).__name__}.",
            )
        return self.from_proba(y, proba, estimator.classes_)

    @public
    def from_proba(
        self, y_true: ArrayLike, proba: ArrayLike, classes: ArrayLike | None = None
    ) -> Answers:
        """Return answers with given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        proba : array-like of shape (n_samples,) or (n_samples, n_classes)
            Probability of `pos_label` (by default, of the second of two `classes`), or
            of every class. A matrix with one column is treated as the probability of
            `pos_label`, unless `classes` has one label. Named columns of a DataFrame
            are matched to the classes by their names.
        classes : array-like of shape (n_classes,), default=None
            Labels in the order of the columns. If None, the sorted labels in `y_true`
            are used.

        Returns
        -------
        answers : Answers
            One answer for each sample, or for each sample and class.
        """
        y = as_labels(y_true, name="y_true")
        # One column is a matrix if it has a label of its own.
        one_class = isinstance(classes, Sized) and len(classes) == 1
        q = as_probabilities(proba, name="proba", n_columns=1 if one_class else 2)
        check_same_length(y_true=y, proba=q)
        if q.ndim == 1:
            return self._from_vector(y, q, classes)
        columns = Columns(y, q, column_names(proba), classes)
        warn_of_sums(q, "row {}".format)
        labels = columns.labels.tolist()
        if self.multi_class == "top_label":
            return columns.top_class()
        if self.pos_label is not None:
            return columns.one_class(self.pos_label, "pos_label", "ClassQuery")
        if self.multi_class is not None or len(labels) != 2:
            return columns.every_class()
        # A label in y without a column is last in `labels`, whatever its order is.
        second = max(labels) if columns.n_unseen else labels[1]
        return columns.one_class(second, "pos_label", "ClassQuery")

    def _from_vector(
        self, y: np.ndarray, q: np.ndarray, classes: ArrayLike | None
    ) -> Answers:
        if self.multi_class is not None:
            raise ParameterError(
                "proba",
                "must have shape (n_samples, n_classes) for "
                f"multi_class={self.multi_class!r}. Got shape {q.shape}.",
            )
        label = self.pos_label
        order = [] if classes is None else as_label_list(classes, name="classes")
        if label is None and len(order) == 2:
            label = order[1]
        asked = label_array([1 if label is None else label])
        return Answers._of_rows(q, positives(y, label), asked)


class Columns:
    """Columns of probabilities, with the labels in y that have no column.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        True labels.
    q : ndarray of shape (n_rows, n_classes)
        Checked probabilities.
    names : list or None
        Names of the columns, if they are named.
    classes : array-like of shape (n_classes,) or None
        Labels in the order of the columns.
    sample, place : ndarray of shape (n_rows,) or None
        Origin of the rows, as in `Answers._of_rows`.

    Attributes
    ----------
    labels : ndarray of shape (n_classes + n_unseen,)
        Classes in the order of the columns, then labels in y that have no column.
    n_unseen : int
        Number of labels in y that have no column.
    """

    def __init__(
        self,
        y: np.ndarray,
        q: np.ndarray,
        names: list[Any] | None,
        classes: Any,
        sample: np.ndarray | None = None,
        place: np.ndarray | None = None,
    ):
        order = class_order(y, classes, q.shape[1], name="classes", of="proba")
        chosen = names and columns_by_name(names, order, name="proba")
        self._q = q[:, chosen] if chosen else q
        self.labels, self._true = known_and_unseen(y, order)
        self.n_unseen = self.labels.size - order.size
        self._of_rows = partial(Answers._of_rows, sample=sample, place=place)

    def top_class(self) -> Answers:
        """Return the answers to whether the most probable class is the true class."""
        best = self._q.argmax(axis=1)
        q = self._q[np.arange(best.size), best]
        right = self._true == best
        return self._of_rows(q, right, self.labels[best])

    def one_class(self, label: Any, name: str, query: str) -> Answers:
        """Return the answers for one class, given by the parameter of a query."""
        labels, n_classes = self.labels.tolist(), self._q.shape[1]
        if getattr(label, "ndim", 0) or label not in labels:
            raise ParameterError(
                name,
                f"must be a class of the model or a label in y. Got {label!r:.50}, and "
                f"the classes {labels[:n_classes]!r:.200}.",
                query,
            )
        k = labels.index(label)
        right, asked = self._true == k, self.labels[k : k + 1]
        if k < n_classes:
            return self._of_rows(self._q[:, k], right, asked)
        return self._of_rows(np.zeros(right.size), right, asked, right.size)

    def every_class(self) -> Answers:
        """Return the answers for every class and every label in y."""
        q, n = self._q, self._true.size
        if self.n_unseen:
            q = np.hstack([q, np.zeros((n, self.n_unseen), dtype=q.dtype)])
        return self._of_rows(q, self._true, self.labels, n * self.n_unseen)


def known_and_unseen(y: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of a model, then new labels in y, and the index of each y."""
    places = label_places(y, order)
    absent = places < 0
    if not absent.any():
        return order, places
    unseen = distinct_labels(y[absent], name="y_true")
    first, other = order.tolist()[0], unseen.tolist()[0]
    if isinstance(first, str) != isinstance(other, str):
        raise ParameterError(
            None,
            "needs labels of one type in 'y_true' and 'classes'. Got "
            f"{other!r} and {first!r}.",
        )
    places[absent] = order.size + label_places(y[absent], unseen)
    return label_array([*order.tolist(), *unseen.tolist()]), places
