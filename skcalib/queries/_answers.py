"""Answers to a query, and the estimator that gives them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._results import TableRepr, as_frame
from ..metrics._pairs import Pairs, drop_weightless


@dataclass(frozen=True, repr=False, eq=False)
class Answers(TableRepr):
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
        Place of the pair in its sample. Of spans (n_pairs, 2), the first token and the
        one behind the last.
    label : ndarray of shape (n_pairs,)
        What was asked for.
    n_unseen : int
        Number of pairs added with probability 0, for labels in y that the model did not
        see in training.

    See Also
    --------
    ClassQuery : Ask a classifier.
    TagQuery : Ask a tagger for the tags of tokens.
    TagPairQuery : Ask a tagger for the tags of two tokens in a row.
    SpanQuery : Ask a tagger for entities.
    CorefPairQuery : Ask a coreference model for pairs of mentions.

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
        """Return a pandas DataFrame with a row for each pair.

        Returns
        -------
        frame : DataFrame
            Columns are the attributes; of spans `start` and `stop` instead of `item`.
        """
        columns = self._columns()
        if self.item.ndim == 2:
            del columns["item"]
            columns |= {"start": self.item[:, 0], "stop": self.item[:, 1]}
        return as_frame(columns, caller="Answers.frame")

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
    if len(answers) == 0:
        raise ValueError(
            "There is no answer to measure: the query asked nothing, as where a tagger "
            "predicts no entity, or no document has two mentions."
        )
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
