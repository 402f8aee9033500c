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
    distinct_labels,
    drop_weightless,
    is_missing,
    label_array,
    out_of_range,
    positives,
)

__all__ = ["Answers", "ClassQuery", "TagQuery"]


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
        order, unseen = _columns_of(y, q.shape[1], classes, caller)
        if self.multi_class == "top_label":
            return _top(y, q, order, unseen)
        pos_label = self.pos_label
        if pos_label is None:
            if self.multi_class is not None or order.size + len(unseen) != 2:
                return _every_class(y, q, order, unseen)
            pos_label = sorted([*order.tolist(), *unseen])[1] if unseen else order[1]
        return _one_class(y, q, order, unseen, pos_label, "pos_label of ClassQuery")


def _columns_of(
    y: np.ndarray, n_columns: int, classes: Any, caller: str
) -> tuple[np.ndarray, list]:
    """Return the labels of the columns, and those of y that have none."""
    found = distinct_labels(y, name="y_true", caller=caller)
    order = found
    if classes is not None:
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


def _codes(y: np.ndarray, order: list) -> np.ndarray:
    """Return the place of each label in `order`."""
    place = {label: k for k, label in enumerate(order)}
    return np.fromiter((place[label] for label in y.tolist()), np.intp, y.size)


def _top(y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list) -> Answers:
    """Return the answers where every sample was asked for its most probable class."""
    best = q.argmax(axis=1)
    right = _codes(y, [*order.tolist(), *unseen]) == best
    return _one_each(right, q[np.arange(y.size), best], order[best])


def _one_class(
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
    positive = _codes(y, everything) == k
    asked = label_array(everything)[np.full(y.size, k)]
    if k < len(known):
        return _one_each(positive, q[:, k], asked)
    return _one_each(positive, np.zeros(y.size), asked, y.size)


@dataclass(frozen=True)
class TagQuery:
    """Ask a tagger whether a token has a tag.

    Parameters
    ----------
    tag : label, 'top' or None, default=None
        The tag asked for. None: every tag at every token, concatenated. 'top': whether
        the most probable tag of the token is the right one (ties to the first).

    See Also
    --------
    ClassQuery : The same for classifiers.
    skcalib.scorers.make_query_scorer : A scorer from a query and a metric.

    Notes
    -----
    The set of tags is that of the model and the labels of y. For a tag that the model
    did not see in training every token adds a pair of probability 0, counted in
    `n_unseen`: an honest count of what the model holds impossible.

    A model whose label is the str 'top' is asked for it by
    ``from_proba(...).take(answers.label == 'top')``.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 4.2.

    Examples
    --------
    Of any model, a list with the probabilities of each sentence is enough:

    >>> from skcalib.queries import TagQuery
    >>> proba = [[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4]]]
    >>> tags = [["D", "N"], ["N"]]
    >>> answers = TagQuery("N").from_proba(tags, proba, classes=["D", "N"])
    >>> answers.y_true, answers.y_proba
    (array([0, 1, 1]), array([0.1, 0.7, 0.4]))
    >>> answers.groups, answers.item
    (array([0, 0, 1]), array([0, 1, 0]))
    """

    tag: Any = None

    def __call__(self, estimator: Any, X: Any, y: Any) -> Answers:
        """Ask a fitted tagger.

        Parameters
        ----------
        estimator : fitted tagger
            Or a pipeline or search object that ends in one, or sklearn-crfsuite's.
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True tags.

        Returns
        -------
        answers : Answers
        """
        if hasattr(estimator, "predict_proba"):
            proba = estimator.predict_proba(X)
        elif hasattr(estimator, "predict_marginals"):
            proba = _from_dicts(estimator.predict_marginals(X), estimator.classes_)
        else:
            raise ValueError(
                "The 'estimator' parameter of TagQuery must have predict_proba or "
                f"predict_marginals. Got {type(estimator).__name__}."
            )
        return self.from_proba(y, proba, estimator.classes_)

    def from_posterior(self, y_true: Any, posterior: Any, classes: Any) -> Answers:
        """Ask a posterior over taggings.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        posterior : LinearChainPosterior
            Over the taggings of the same sentences.
        classes : array-like of shape (n_tags,)
            Labels of the tag indices.

        Returns
        -------
        answers : Answers
        """
        return self.from_proba(y_true, posterior.token_marginals(), classes)

    def from_proba(self, y_true: Any, proba: Any, classes: Any = None) -> Answers:
        """Ask tag probabilities from anywhere, of a neural tagger say.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        proba : sequence of array-like of shape (n_tokens, n_tags)
            Probabilities of the tags of each sentence.
        classes : array-like of shape (n_tags,), default=None
            Labels in the order of the columns; by default the sorted labels of
            `y_true`.

        Returns
        -------
        answers : Answers
        """
        caller = "TagQuery.from_proba"
        rows, lengths, tags = _stack_sentences(y_true, proba, caller)
        y = as_labels(label_array(tags), name="y_true", caller=caller)
        order, unseen = _columns_of(y, rows.shape[1], classes, caller)
        if isinstance(self.tag, str) and self.tag == "top":
            answers = _top(y, rows, order, unseen)
        elif self.tag is None:
            answers = _every_class(y, rows, order, unseen)
        else:
            answers = _one_class(y, rows, order, unseen, self.tag, "tag of TagQuery")
        return _by_sentence(answers, lengths)


def _from_dicts(marginals: Any, classes: Any) -> list[np.ndarray]:
    """Return marginals given as a dict a token, as sklearn-crfsuite does, as arrays."""
    return [
        np.array([[token[label] for label in classes] for token in sentence], float)
        for sentence in marginals
    ]


def _check_lists(y_true: Any, proba: Any, caller: str) -> None:
    """Raise unless labels and probabilities are lists with an entry a sentence."""
    for name, value in (("y_true", y_true), ("proba", proba)):
        if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
            raise TypeError(
                f"The {name!r} parameter of {caller} must have an entry for each "
                f"sentence. Got {type(value).__name__}."
            )
    if len(y_true) != len(proba):
        raise ValueError(
            f"{caller} needs an entry of 'proba' for each sentence of 'y_true'. "
            f"Got {len(proba)} and {len(y_true)}."
        )


def _stack_sentences(
    y_true: Any, proba: Any, caller: str
) -> tuple[np.ndarray, np.ndarray, list]:
    """Return all rows of probabilities, the lengths of the sentences, all labels."""
    _check_lists(y_true, proba, caller)
    parts: list[np.ndarray] = []
    tags: list[Any] = []
    for i, (labels, part) in enumerate(zip(y_true, proba, strict=True)):
        if isinstance(labels, (str, bytes)):
            raise ValueError(
                f"The 'y_true' parameter of {caller} must hold a sequence of labels for"
                f" each sentence. Got str {labels!r:.50} for sentence {i}."
            )
        array = np.asarray(part)
        if len(labels) == 0 and array.size == 0:
            array = np.zeros((0, 0))
        elif array.ndim != 2 or array.shape[0] != len(labels) or array.size == 0:
            raise ValueError(
                f"The 'proba' parameter of {caller} must have shape (n_tokens, n_tags) "
                f"for each sentence. Sentence {i} has {len(labels)} labels and shape "
                f"{array.shape}."
            )
        for t, label in enumerate(labels):
            if is_missing(label):
                raise ValueError(
                    f"The 'y_true' parameter of {caller} must have a label for each "
                    f"token. Token {t} of sentence {i} has {label!r}."
                )
        tags.extend(labels)
        parts.append(array)
    lengths = np.array([part.shape[0] for part in parts])
    some = [part for part in parts if part.size]
    if not some:
        raise ValueError(f"The 'y_true' parameter of {caller} holds no token.")
    widths = {part.shape[1] for part in some}
    if len(widths) > 1:
        raise ValueError(
            f"The 'proba' parameter of {caller} must have one number of tags. "
            f"Got {sorted(widths)}."
        )
    rows = np.concatenate(some)
    _check_rows(rows, lengths, caller)
    rows = as_probabilities(rows, name="proba", caller=caller, n_columns=1)
    return rows, lengths, tags


def _check_rows(rows: np.ndarray, lengths: np.ndarray, caller: str) -> None:
    """Raise where a number is no probability, with sentence and token."""
    if rows.dtype.kind not in "fiu":
        return
    bad = out_of_range(rows)
    if bad.any():
        token, column = np.argwhere(bad)[0]
        sentence = int(np.searchsorted(np.cumsum(lengths), token, side="right"))
        place = token - lengths[:sentence].sum()
        raise ValueError(
            f"The 'proba' parameter of {caller} must hold probabilities in [0, 1]. Got "
            f"{float(rows[token, column])!r} in sentence {sentence}, token {place}."
        )


def _by_sentence(answers: Answers, lengths: np.ndarray) -> Answers:
    """Return answers asked of tokens as asked of sentences."""
    token = answers.groups
    sentence = np.repeat(np.arange(lengths.size), lengths)[token]
    place = token - (np.cumsum(lengths) - lengths)[sentence]
    return replace(answers, groups=sentence, item=place)


def last_step(estimator: Any) -> Any:
    """Return the last estimator of a pipeline or search, through both."""
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return last_step(estimator.steps[-1][1])
    return estimator


def transform_before(estimator: Any, X: Any) -> Any:
    """Return X as the last estimator of a pipeline or search gets it."""
    if hasattr(estimator, "best_estimator_"):
        return transform_before(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return transform_before(estimator.steps[-1][1], X)
    return X


def answer_pairs(answers: Answers, weight: np.ndarray | None) -> Pairs:
    """Return answers as checked pairs, dependent within a sample.

    `weight` is the checked weight of each sample, or None.
    """
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


def _every_class(
    y: np.ndarray, q: np.ndarray, order: np.ndarray, unseen: list
) -> Answers:
    """Return the answers where every sample was asked for every class."""
    everything = [*order.tolist(), *unseen]
    n, k = y.size, len(everything)
    if unseen:
        q = np.hstack([q, np.zeros((n, len(unseen)), dtype=q.dtype)])
    code = _codes(y, everything)
    return Answers(
        y_true=(code[:, np.newaxis] == np.arange(k)).astype(np.int64).ravel(),
        y_proba=q.ravel(),
        groups=np.repeat(np.arange(n), k),
        item=np.tile(np.arange(k), n),
        label=np.tile(label_array(everything), n),
        n_unseen=n * len(unseen),
    )
