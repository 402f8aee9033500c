"""Answers to a query: pairs of truth and probability, and the origin of each pair.

Answers of a query keep one row per probability vector, and build the flat arrays when
they are read.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import Pairs, Shares, draws_of, pool, shares, weighted
from .._results import Result, as_frame
from .._validation import (
    as_array,
    as_floats,
    as_label_list,
    as_labels,
    as_probabilities,
    check_integer,
    check_same_length,
    describe_container,
    is_sequence,
    label_array,
    raise_where,
)

if TYPE_CHECKING:
    import pandas as pd


class ExpectedCounts(NamedTuple):
    """Expected and true counts, returned by :meth:`Answers.expected_counts`.

    Attributes
    ----------
    expected : ndarray of shape (n,)
        Sum of the probabilities of each sample or document.
    true : ndarray of shape (n,)
        Number of pairs whose true answer is yes.
    document : ndarray of shape (n,)
        Label of each document, in the order of first appearance, or index of each
        sample.

    See Also
    --------
    Answers.expected_counts : Method that returns this result.

    Examples
    --------
    >>> from skcalib.queries import ClassQuery
    >>> proba = [[0.7, 0.3], [0.2, 0.8]]
    >>> answers = ClassQuery("N").from_proba(["N", "V"], proba, classes=["N", "V"])
    >>> answers.expected_counts(2).true
    array([1., 0.])
    """

    expected: np.ndarray
    true: np.ndarray
    document: np.ndarray


# Shown by the documentation in place of "Alias for field number 0".
ExpectedCounts.expected.__doc__ = "Sum of the probabilities of a sample or document."
ExpectedCounts.true.__doc__ = "Number of pairs whose true answer is yes."
ExpectedCounts.document.__doc__ = "Label of a document, or index of a sample."


COLUMNS = ("y_true", "y_proba", "groups", "item", "label")


class Answers(Result):
    """Pairs of truth and probability, with the origin of each pair.

    Queries return answers. Use the constructor for pairs from another source.

    Parameters
    ----------
    y_true : array-like of shape (n_pairs,)
        1 if the true answer is yes, and 0 otherwise.
    y_proba : array-like of shape (n_pairs,)
        Probability of yes.
    groups : array-like of shape (n_pairs,), int
        Index of the sample (row, sentence, document) of the pair.
    item : array-like of shape (n_pairs,) or (n_pairs, 2), int
        Position of the pair in its sample. For spans, two positions: the first token,
        and the token after the last one.
    label : array-like of shape (n_pairs,)
        Label (class, tag, pair of tags, entity label) in question.
    n_unseen : int, default=0
        Number of pairs that were added with probability 0, for labels in y that do not
        occur in the training data of the model.
    n_draws : int, default=None
        Number of samples of each pair, at least 2, if `y_proba` is the share of samples
        of a model that agree with the judged answer, as in
        :func:`~skcalib.metrics.calibration_error`. Metrics of `y_proba` use it.

    Raises
    ------
    ValueError
        If lengths differ, if `y_true` contains another value than 0 and 1, if `y_proba`
        contains a number that is not a probability, if `groups` or `item` contains
        another number than 0, 1, ..., or if a label is missing. The message names the
        pair by its row.

    See Also
    --------
    ClassQuery : Ask a classifier.
    TagQuery : Ask a tagger for the tags of tokens.
    TagPairQuery : Ask a tagger for the tags of two consecutive tokens.
    SpanQuery : Ask a tagger for entities.
    CorefPairQuery : Ask a coreference model for pairs of mentions.
    ArcQuery : Ask a dependency parser for the heads of words.
    SubtreeQuery : Ask a dependency parser for subtrees.

    Notes
    -----
    Every parameter is also an attribute. All attributes except `n_unseen` and `n_draws`
    are arrays.

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

    n_unseen: int
    n_draws: int | None
    _least: float = 0.0  # pairs with a share of samples below it were left out
    _sample: np.ndarray | None
    _place: np.ndarray | None
    _label: np.ndarray

    @public
    def __init__(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        groups: ArrayLike,
        item: ArrayLike,
        label: ArrayLike,
        n_unseen: int = 0,
        n_draws: int | None = None,
    ):
        if not isinstance(label, np.ndarray):  # NumPy would split tuples
            label = label_array(as_label_list(label, name="label"))
        values = (y_true, y_proba, groups, item, label)
        columns = {
            name: as_array(value if is_sequence(value) else [value], name=name)
            for name, value in zip(COLUMNS, values, strict=True)
        }
        check_same_length(**columns)
        n_unseen = check_integer(n_unseen, minimum=0, name="n_unseen")
        if isinstance(y_proba, Shares):
            self._least = y_proba.least
        if n_draws is None:
            n_draws = draws_of(y_proba)
        else:
            n_draws = check_integer(n_draws, minimum=2, name="n_draws")
        true, proba, *others = columns.values()
        if true.ndim != 1 or proba.ndim != 1:
            raise ParameterError(
                None,
                "needs 'y_true' and 'y_proba' of shape (n_pairs,). Got shapes "
                f"{true.shape} and {proba.shape}.",
            )
        numbers = as_floats(true, name="y_true")
        wrong = (numbers != 0) & (numbers != 1)
        raise_where(wrong, numbers, "be 1 for yes or 0 for no", name="y_true")
        if proba.size:
            proba = as_probabilities(proba, name="y_proba")
        groups, item, label = others
        groups = _as_indices(groups, "groups")
        item = _as_indices(item, "item")
        if label.size:
            label = as_labels(label, name="label")
        self._set(true, proba, groups, item, label, n_unseen, n_draws)

    def _set(
        self,
        y_true: np.ndarray,
        y_proba: np.ndarray,
        groups: np.ndarray,
        item: np.ndarray,
        label: np.ndarray,
        n_unseen: int,
        n_draws: int | None,
    ) -> Answers:
        """Keep checked arrays."""
        self.y_true, self.groups, self._proba = y_true, groups, np.asarray(y_proba)
        self.item, self.label, self._sample = item, label, groups
        self.n_unseen, self.n_draws = n_unseen, n_draws
        return self

    @classmethod
    def _of_rows(
        cls,
        q: np.ndarray,
        true: np.ndarray,
        label: np.ndarray,
        n_unseen: int = 0,
        sample: np.ndarray | None = None,
        place: np.ndarray | None = None,
    ) -> Answers:
        """Return the answers for rows of checked probabilities.

        Parameters
        ----------
        q : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Probabilities.
        true : ndarray of shape (n_rows,)
            Whether the true answer is yes. For a matrix, the column of the true class,
            or -1 if it is not among the columns.
        label : ndarray
            Labels of the columns, or of the rows. One label may stand for all rows.
        n_unseen : int, default=0
            As in :class:`Answers`.
        sample, place : ndarray of shape (n_rows,), int, default=None
            Sample of each row, and position of the row in its sample. If None, each row
            is a sample.
        """
        # One column is a single question: the true answer is no where another label is
        # true.
        if q.ndim == 2 and q.shape[1] == 1:
            q, true = q[:, 0], true == 0
        answers = cls.__new__(cls)
        answers._pairs = pool(q, true) if q.ndim == 2 else Pairs(q, true, q[true])
        answers._sample, answers._place, answers._label = sample, place, label
        answers.n_unseen, answers.n_draws = n_unseen, None
        return answers

    # The arrays are built on access: for all pairs of tags of a corpus they take
    # gigabytes, and most metrics do not read them.
    @cached_property
    def _pairs(self) -> Pairs:
        """The pairs without weights; some rows may have one pair for each class."""
        positive = self.y_true == 1
        return Pairs(self._proba, positive, self._proba[positive], least=self._least)

    @cached_property
    def y_true(self) -> np.ndarray:
        """True answers of shape (n_pairs,): 1 for yes and 0 for no."""
        return self._pairs.indicator().astype(np.int64)

    @cached_property
    def _proba(self) -> np.ndarray:
        return self._pairs.q

    @property
    def y_proba(self) -> np.ndarray:
        """Probability of yes, of shape (n_pairs,); shares carry their `n_draws`."""
        return shares(self._proba, self.n_draws, self._least)

    @cached_property
    def groups(self) -> np.ndarray:
        """Index of the sample of each pair, of shape (n_pairs,)."""
        k = self._pairs.n_classes
        if self._sample is None:
            return np.arange(len(self)) // k
        return np.repeat(self._sample, k)

    @cached_property
    def item(self) -> np.ndarray:
        """Position of the pair in its sample, of shape (n_pairs,) or (n_pairs, 2)."""
        k = self._pairs.n_classes
        if self._place is None:
            return np.arange(len(self)) % k
        return np.repeat(self._place, k)

    @cached_property
    def label(self) -> np.ndarray:
        """Label in question, of shape (n_pairs,)."""
        # The labels are those of the columns, of all rows, or one for all.
        return np.tile(self._label, len(self) // self._label.size)

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays as lists, and the number of unseen pairs."""
        return {**super().to_dict(), "n_unseen": self.n_unseen}

    @public
    def frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per pair.

        Returns
        -------
        frame : DataFrame
            Table whose columns are the arrays. For spans, `start` and `stop` replace
            `item`.
        """
        columns = self._columns()
        if self.item.ndim == 2:
            # A column of a table has one dimension.
            del columns["item"]
            columns |= {"start": self.item[:, 0], "stop": self.item[:, 1]}
        return as_frame(columns, method=f"{type(self).__name__}.frame")

    def _columns(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in COLUMNS}

    @public
    def take(self, rows: ArrayLike) -> Answers:
        """Select pairs by a mask or by their indices.

        Parameters
        ----------
        rows : array-like of bool or int
            Mask or indices of the pairs.

        Returns
        -------
        answers : Answers
            Answers of the selected pairs.
        """
        try:
            chosen = as_array(rows if is_sequence(rows) else None, name="rows")
        except ValueError:  # rows of different lengths
            chosen = np.array(None)
        if chosen.shape == (0,):
            chosen = chosen.astype(np.intp)  # an empty list has no type
        n = len(self)
        if chosen.dtype == bool and chosen.shape == (n,):
            # A mask of another length is caught below, since bool is not a type of
            # indices.
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise ParameterError(
                "rows",
                f"must be a mask of the {n} pairs, or indices of pairs. Got "
                f"{describe_container(rows)}.",
            )
        outside = (chosen < -n) | (chosen >= n)
        if outside.any():
            raise ParameterError(
                "rows",
                f"must contain indices below {n}, the number of pairs. Got "
                f"{chosen[outside][0]}.",
            )
        columns = {name: array[chosen] for name, array in self._columns().items()}
        answers = Answers.__new__(Answers)
        answers._least = self._least
        if self.n_draws is not None and 0 < chosen.size < n:
            least = self._proba[chosen].min()
            # Shares that are chosen by their size are larger than the probabilities.
            if np.delete(self._proba, chosen).max(initial=-np.inf) < least:
                answers._least = float(least)
        return answers._set(**columns, n_unseen=self.n_unseen, n_draws=self.n_draws)

    @public
    def expected_counts(
        self,
        n_groups: int | None = None,
        *,
        documents: ArrayLike | None = None,
        label: Any = None,
    ) -> ExpectedCounts:
        """Sum the true answers and the probabilities by sample or document.

        The sum of the probabilities is the expected count under the model. If the true
        counts of some documents are known, :func:`skcalib.counts.corrected_count` can
        correct the total of a corpus.

        Parameters
        ----------
        n_groups : int, default=None
            Number of samples (rows, sentences), including samples without answers.
            Required unless `documents` is given.
        documents : array-like of shape (n_groups,), default=None
            Document of each sample. Counts are then sums over documents.
        label : label, default=None
            Label to count. If None, all answers are counted.

        Returns
        -------
        counts : ExpectedCounts
            Arrays `expected`, `true` and `document`, with one entry per sample or
            document.

        Raises
        ------
        ValueError
            If both or neither of `n_groups` and `documents` are given, if the index of
            a sample is not smaller than the number of samples, or if no answer has the
            label `label`.

        See Also
        --------
        skcalib.counts.corrected_count : Correct a total with labelled documents.

        Notes
        -----
        Only the pairs that the query asks for are counted. For example,
        ``SpanQuery(spans="predicted")`` does not ask for entities that the tagger
        misses. To count entities, use ``spans="all"``.

        If samples do not have true labels, pass any labels of the model to the query,
        such as its predictions, and ignore `true`.

        Examples
        --------
        >>> from skcalib.queries import TagQuery
        >>> proba = [[[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8]], [[1.0, 0.0]]]
        >>> answers = TagQuery("V").from_proba(
        ...     [["N", "V"], ["V"], ["N"]], proba, classes=["N", "V"]
        ... )
        >>> answers.expected_counts(3).expected
        array([0.7, 0.8, 0. ])
        >>> answers.expected_counts(documents=["a", "a", "b"])
        ExpectedCounts(expected=array([1.5, 0. ]), true=array([2., 0.]),
        document=array(['a', 'b'], dtype='<U1'))
        """
        counted = self if label is None else self._with_label(label)
        sample = counted.groups
        if (n_groups is None) == (documents is None):
            raise ParameterError(
                None,
                "takes either 'n_groups', the number of samples, or 'documents', the "
                "document of each sample, because some samples may not have an answer. "
                f"Got n_groups={n_groups!r} and documents={documents!r:.50}.",
            )
        if documents is None:
            place = np.arange(check_integer(n_groups, minimum=0, name="n_groups"))
            document = place
        else:
            document, place = _in_order(as_labels(documents, name="documents"))
        least = int(sample.max(initial=-1)) + 1
        if len(place) < least:
            name = "n_groups" if documents is None else "documents"
            problem = f"must cover the {least} samples that have answers. Got "
            raise ParameterError(name, f"{problem}{len(place)}.")
        # Samples without answers count 0, and therefore the number of samples is
        # needed.
        own, n = place[sample], len(document)
        expected = np.bincount(own, counted.y_proba, n)
        return ExpectedCounts(expected, np.bincount(own, counted.y_true, n), document)

    def _with_label(self, label: Any) -> Answers:
        # Labels are compared one by one: NumPy would compare the entries of a tuple.
        (wanted,) = label_array([label])
        asked = np.array([each == wanted for each in self.label], dtype=bool)
        if not asked.any():
            seen = list(dict.fromkeys(self.label.tolist()))
            problem = f"must be a label of the answers, {seen!r:.100}. Got {label!r}."
            raise ParameterError("label", problem)
        return self.take(asked)

    def __len__(self) -> int:
        return self._proba.size

    def __repr__(self) -> str:
        n_groups = len(self) // self._pairs.n_classes
        if self._sample is not None:
            n_groups = np.unique(self._sample).size
        return (
            f"Answers(n_pairs={len(self)}, n_groups={n_groups}, "
            f"n_unseen={self.n_unseen})"
        )


def _as_indices(values: np.ndarray, name: str) -> np.ndarray:
    """Return indices of samples, of shape (n,), or positions in them, as integers."""
    numbers, n = as_floats(values, name=name), len(values)
    shapes = ((n,), (n, 2)) if name == "item" else ((n,),)
    if numbers.shape not in shapes:
        expected = " or ".join(map(str, shapes))
        problem = f"must have shape {expected}. Got shape {numbers.shape}."
        raise ParameterError(name, problem)
    for column in np.atleast_2d(numbers.T):
        bad = ~((column >= 0) & (column == np.rint(column)))
        raise_where(bad, column, "contain whole numbers from 0", name=name)
    return values if values.dtype.kind in "iu" else numbers.astype(np.intp)


def _in_order(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct labels in the order of appearance, and the index of each."""
    # np.unique sorts, but tables list documents as they were given.
    found, first, code = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return found[order], np.argsort(order)[code]


def answer_pairs(answers: Answers, weight: np.ndarray | None) -> Pairs:
    """Return answers as validated pairs, with samples as groups.

    `weight` is the validated weight of each sample, or None.
    """
    if len(answers) == 0:
        raise ValueError(
            "There are no answers from which a metric can be computed. The tagger may "
            "have predicted no entity, or no document may have two mentions."
        )
    pairs, sample = answers._pairs, answers._sample
    if sample is None:
        return pairs if weight is None else weighted(pairs, weight)
    by_row = None if weight is None else weight[sample]
    # Here a row has a pair for each class, and the item is the row.
    if pairs.n_classes > 1:
        return weighted(pairs, by_row, sample, weight)
    # Pairs are independent, and metrics are faster without groups.
    if np.unique(sample).size == sample.size:
        return weighted(pairs, by_row)
    return weighted(pairs, by_row, sample, weight, _item_total(answers, weight))


def _item_total(answers: Answers, weight: np.ndarray | None) -> float | None:
    """Return the total weight of the items; None if each has one pair."""
    place = answers.item
    if place.ndim == 2:
        place = place[:, 0] * (place[:, 1].max() + 1) + place[:, 1]
    # Sample and position as one number; several labels may be asked about one position.
    key = answers.groups * (place.max() + 1) + place
    first = np.unique(key, return_index=True)[1]
    if first.size == key.size:
        return None
    if weight is None:
        return float(first.size)
    return float(weight[answers.groups[first]].sum())


def answers_by_label(answers: Answers) -> list[Answers]:
    """Return the answers for each label that was asked for."""
    pairs = answers._pairs
    if pairs.true_class is None:
        _, code = np.unique(answers.label, return_inverse=True)
        return [answers.take(code == k) for k in range(int(code.max(initial=-1)) + 1)]
    # The columns are the labels, so there is no need to search for them.
    columns = pairs.q.reshape(-1, pairs.n_classes).T
    of_rows = partial(Answers._of_rows, sample=answers._sample, place=answers._place)
    return [
        of_rows(q, pairs.true_class == k, answers._label[k : k + 1])
        for k, q in enumerate(columns)
    ]
