"""Queries for labels: classes of samples, tags of tokens and of pairs of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._pairs import class_order, warn_of_sums
from .._validation import (
    as_array,
    as_label_list,
    as_labels,
    as_probabilities,
    check_choice,
    check_integer,
    check_same_length,
    column_names,
    columns_by_name,
    distinct_labels,
    is_sequence,
    label_array,
    label_places,
    positives,
)
from ..posteriors import LinearChainPosterior
from ..posteriors._checks import check_label_pairs
from ._answers import Answers
from ._query import (
    TaggerQuery,
    flat_tags,
    last_step,
    place_of_row,
    sentence_and_token,
    stack_rows,
    tags_and_lengths,
    transform_before,
)


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
    0.07
    """

    pos_label: Any = None
    multi_class: str | None = None

    @public
    def __post_init__(self) -> None:
        if self.multi_class is not None:
            check_choice(self.multi_class, ("pooled", "top_label"), name="multi_class")
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
        # The classes of a multi-label classifier do not sum to 1, so this is not an
        # error.
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
        # A model gives a label that it does not know probability 0. Dropping such rows
        # would hide these errors.
        self.labels, self._true = known_and_unseen(y, order)
        self.n_unseen = self.labels.size - order.size
        if self._true.size and np.mean(self._true >= order.size) > _MOSTLY:
            warn(
                f"Hardly any label in y is a class of the model. y has "
                f"{self.labels[-1]!r:.50}, and the model {order[0]!r:.50}. Are X and y "
                "exchanged?"
            )
        self._of_rows = partial(Answers._of_rows, sample=sample, place=place)

    def top_class(self) -> Answers:
        """Return the answers to whether the most probable class is the true class."""
        # In case of ties, the first class is used.
        best = self._q.argmax(axis=1)
        q = self._q[np.arange(best.size), best]
        return self._of_rows(q, self._true == best, self.labels[best])

    def one_class(self, label: Any, name: str, query: str) -> Answers:
        """Return the answers for one class, given by the parameter of a query."""
        labels, n_classes = self.labels.tolist(), self._q.shape[1]
        # `in` would compare an array entry by entry.
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
            # The type of q is kept: float32 needs half the memory.
            q = np.hstack([q, np.zeros((n, self.n_unseen), dtype=q.dtype)])
        return self._of_rows(q, self._true, self.labels, n * self.n_unseen)


def known_and_unseen(y: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of a model, then new labels in y, and the index of each y."""
    places = label_places(y, order)
    absent = places < 0
    if not absent.any():
        return order, places
    unseen = distinct_labels(y[absent], name="y_true")
    if -100 in unseen.tolist():
        raise ParameterError(
            "y_true",
            "must have a label of the model for every token. Got -100, with which "
            "libraries mark padding: remove these tokens and their probabilities.",
        )
    # Indices of tags instead of their names would make every answer no.
    first, other = order.tolist()[0], unseen.tolist()[0]
    if isinstance(first, str) != isinstance(other, str):
        raise ParameterError(
            None,
            "needs labels of one type in 'y_true' and 'classes'. Got "
            f"{other!r} and {first!r}.",
        )
    places[absent] = order.size + label_places(y[absent], unseen)
    return label_array([*order.tolist(), *unseen.tolist()]), places


# (rows, probabilities): a block of the probabilities of pairs of tags.
Block = tuple[slice, np.ndarray]


@dataclass(frozen=True)
class TagQuery(TaggerQuery):
    """Ask a tagger whether a token has a tag.

    Parameters
    ----------
    tag : label, 'top' or None, default=None
        Tag to ask for. 'top' asks whether the most probable tag of the token is the
        true tag. In case of ties, the first tag is used. If None, every tag is asked
        for at every token.

    See Also
    --------
    ClassQuery : Ask a classifier for classes.
    skcalib.scorers.make_query_scorer : Make a scorer from a query and a metric.

    Notes
    -----
    The query uses the tags of the model and the tags in y. For a tag that does not
    occur in the training data, every token adds a pair with probability 0, because the
    model considers the tag impossible. The number of these pairs is `n_unseen`.

    If the str 'top' is a label of the model, select its pairs from the answers for all
    tags: ``answers.take(answers.label == 'top')``.

    The tags of a token are mutually exclusive. If the sum of their probabilities
    differs from 1 by more than 0.02, a UserWarning is issued.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 4.2.

    Examples
    --------
    For any model, pass a list with the probabilities of each sentence:

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

    def _ask_estimator(self, estimator: Any, X: Any, y: Any) -> Answers:
        tagger = last_step(estimator)
        has_proba = hasattr(estimator, "predict_proba")
        if has_proba and not hasattr(tagger, "classes_"):
            raise ParameterError(
                "estimator",
                "must be a fitted tagger, with classes_. Got "
                f"{type(tagger).__name__}. CorefPairQuery is the query for models of "
                "coreference.",
            )
        if has_proba:
            proba = estimator.predict_proba(X)
        elif hasattr(tagger, "predict_marginals"):  # pipelines do not pass it on
            marginals = tagger.predict_marginals(transform_before(estimator, X))
            proba = _from_dicts(marginals, tagger.classes_)
        else:
            raise ParameterError(
                "estimator",
                "must have predict_proba or predict_marginals. Got "
                f"{type(tagger).__name__}.",
            )
        return self.from_proba(y, proba, tagger.classes_)

    @public
    def from_proba(
        self,
        y_true: Sequence[Sequence[Any]],
        proba: Sequence[ArrayLike],
        classes: ArrayLike | None = None,
    ) -> Answers:
        """Return answers with given tag probabilities, for example of a neural tagger.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        proba : sequence of array-like of shape (n_tokens, n_tags)
            Probabilities of the tags of each sentence.
        classes : array-like of shape (n_tags,), default=None
            Labels in the order of the columns. If None, the sorted labels in `y_true`
            are used.

        Returns
        -------
        answers : Answers
            One answer for each token, or for each token and tag.
        """
        tags, lengths = flat_tags(y_true, proba, "proba")
        return self._ask_rows(tags, lengths, proba, classes)

    def _ask(self, y_true: Any, posterior: Any, classes: Any, predict: Any) -> Answers:
        tags, lengths = tags_and_lengths(y_true, posterior)
        return self._ask_rows(tags, lengths, posterior.token_marginals(), classes)

    def _ask_rows(
        self, tags: np.ndarray, lengths: np.ndarray, proba: Any, classes: Any
    ) -> Answers:
        # The tags of all sentences are one matrix, as the classes of a classifier are.
        rows, names = stack_rows(proba, lengths, lengths, "(n_tokens, n_tags)")
        sentence, token = sentence_and_token(lengths)
        columns = Columns(tags, rows, names, classes, sample=sentence, place=token)
        # A single column has one tag out of several, so that its sum is not 1.
        if rows.shape[1] > 1:
            first = np.zeros_like(lengths)
            warn_of_sums(rows, lambda row: place_of_row(row, lengths, first))
        if isinstance(self.tag, str) and self.tag == "top":
            return columns.top_class()
        if self.tag is None:
            return columns.every_class()
        return columns.one_class(self.tag, "tag", "TagQuery")


def _from_dicts(marginals: Any, classes: Any) -> list[np.ndarray]:
    """Return marginals as arrays; sklearn-crfsuite gives a dict for each token."""
    # One token of each sentence shows the type; the others are not looked at.
    if not len(marginals) or not all(
        isinstance(token, dict) for sentence in marginals for token in sentence[:1]
    ):
        return list(marginals)
    return [
        np.array([[token[label] for label in classes] for token in sentence], float)
        for sentence in marginals
    ]


# Share of labels in y that a model does not know, from which y is taken for X.
_MOSTLY = 0.9

# Number of probabilities of pairs that a posterior computes at once.
_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class TagPairQuery(TaggerQuery):
    """Ask a tagger whether two consecutive tokens have a given pair of tags.

    Parameters
    ----------
    pairs : sequence of (label, label), default=None
        Tags of a token and of the next token. Every pair of tags is asked for at every
        token that has a next token. If None, all pairs of tags are asked for.
    top : int, default=None
        Number of the most frequent pairs in y to ask for. In case of ties, the first
        pairs in the order of the labels are used. If y has fewer pairs, all of them are
        asked for. Only the labels are counted, so the choice does not depend on the
        probabilities. Each sentence counts once, regardless of its weight in a scorer.
        To ask for the same pairs in every fold of a cross-validation, pass `pairs`
        instead.

    See Also
    --------
    TagQuery : Ask a tagger for the tags of single tokens.
    skcalib.plot.TagErrorDisplay : Draw the error of each pair.
    skcalib.scorers.make_query_scorer : Make a scorer from a query and a metric.

    Notes
    -----
    In the answers, `label` is the pair as a tuple, and `item` is the index of the
    second token. The probabilities are exact marginals of the posterior, computed in
    one forward-backward pass. The product of the marginals of two tokens would be
    wrong, since neighbouring tags depend on each other.

    If no pairs are given, all pairs of the labels of the model and the labels in y are
    asked for. A pair with a label that does not occur in the training data has
    probability 0 and is counted in `n_unseen`.

    All pairs are computed in blocks of sentences. The answers need 8 bytes for each
    pair of tags at each position, and 40 bytes once the arrays of :class:`Answers` have
    been accessed. For 47 tags and 30,000 tokens, the answers need 0.5 GB, and 2.7 GB
    after access. The 100 most frequent pairs need a twentieth of this memory.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 4.2.3.

    Examples
    --------
    >>> from skcalib import HMMTagger
    >>> from skcalib.datasets import make_tagged_sentences
    >>> from skcalib.metrics import calibration_error
    >>> from skcalib.queries import TagPairQuery
    >>> X, y = make_tagged_sentences(300, random_state=0)
    >>> tagger = HMMTagger(0.1).fit(X[:200], y[:200])
    >>> answers = TagPairQuery([("DT", "NN")])(tagger, X[200:], y[200:])
    >>> answers.label[0], int(answers.item[0])
    (('DT', 'NN'), 1)
    >>> 0 < calibration_error(answers.y_true, answers.y_proba) < 0.2
    True

    Probabilities of other models have one row per pair of consecutive tokens:

    >>> query = TagPairQuery([("D", "N")])
    >>> answers = query.from_proba([["D", "N", "V"]], [[[0.8], [0.1]]], query.pairs)
    >>> answers.y_true, answers.y_proba, answers.item
    (array([1, 0]), array([0.8, 0.1]), array([1, 2]))
    """

    pairs: Sequence[Any] | None = None
    top: int | None = None
    _advice = (
        "If it gives probabilities of pairs of tags in another way, pass them to "
        "from_proba."
    )

    @public
    def __post_init__(self) -> None:
        if self.pairs is not None and self.top is not None:
            raise ParameterError(
                None,
                "accepts 'pairs' or 'top', not both. Got "
                f"{self.pairs!r:.50} and {self.top!r}.",
            )
        if self.pairs is not None:
            object.__setattr__(self, "pairs", _as_pairs(self.pairs))
        if self.top is not None:
            check_integer(self.top, minimum=1, name="top")

    @public
    def from_proba(
        self,
        y_true: Sequence[Sequence[Any]],
        proba: Sequence[ArrayLike],
        pairs: Sequence[Any] | None = None,
        classes: ArrayLike | Sequence[Any] | None = None,
    ) -> Answers:
        """Return answers with given probabilities of pairs.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        proba : sequence of array-like
            Probabilities of the pairs of each sentence, with row t for tokens t and
            t + 1. The shape is (n_tokens - 1, n_pairs), or
            (n_tokens - 1, n_tags, n_tags) if no pairs are given.
        pairs : sequence of (label, label), default=None
            Pairs in the order of the columns. A query for all pairs then asks for these
            pairs only. If None, the columns are the pairs of the query. For a query for
            all pairs, they are all pairs of `classes`, indexed [previous, next]. A
            sequence of single labels is treated as `classes`, because `classes` is the
            third parameter of this method in other queries.
        classes : array-like of shape (n_tags,), default=None
            Labels of the model. If None, the labels in `pairs` are used, or the sorted
            labels in `y_true` if there are no pairs. If pairs are passed as `classes`,
            they are treated as `pairs`.

        Returns
        -------
        answers : Answers
            One answer for each pair of tags at each position.
        """
        tags, lengths = flat_tags(y_true, proba, "proba", least=2)
        n_rows = np.maximum(lengths - 1, 0)
        # The third parameter of other queries is `classes`, so pairs and classes may be
        # exchanged.
        pairs, classes = self._named(proba, pairs, classes)
        columns = None
        if pairs is None:
            shape = "(n_tokens - 1, n_tags, n_tags)"
            rows, _ = stack_rows(proba, n_rows, lengths, shape)
            # Rows are flat, with a column for each pair of tags.
            n_tags = isqrt(rows.shape[1])
        else:
            columns = _as_pairs(pairs)
            rows, _ = stack_rows(proba, n_rows, lengths, "(n_tokens - 1, n_pairs)")
            if rows.shape[1] != len(columns):
                raise ParameterError(
                    "pairs",
                    f"must have a pair for each column. Got {len(columns)} pairs and "
                    f"{rows.shape[1]} columns.",
                )
            if classes is None:
                # Labels that are in no pair are not needed, and count as unseen if they
                # are in y.
                classes = sorted({label for pair in columns for label in pair})
            classes = as_label_list(classes, name="classes")
            n_tags = len(classes)
        order = class_order(tags, classes, n_tags, name="classes", of="proba")
        places = _Places(tags, lengths, order)
        given = _all_pairs(n_tags) if columns is None else places.codes_of(columns)
        asked = self._asked(places, None if columns is None else given)
        known = places.known(asked)
        # Pairs with a label that the model does not know have no column, and
        # probability 0.
        column = places.column_of(given)[tuple(asked[known].T)]
        if (column < 0).any():
            a, b = asked[known][column < 0][0]
            raise ParameterError(
                "pairs",
                "must have all pairs that the query asks for. Got no column for "
                f"{(places.labels[a], places.labels[b])!r}.",
            )
        return places.answers(asked, [(slice(None), rows[:, column])], rows.dtype)

    def _ask(self, y_true: Any, posterior: Any, classes: Any, predict: Any) -> Answers:
        tags, lengths = tags_and_lengths(y_true, posterior, least=2)
        order = class_order(
            tags, classes, posterior.n_tags, name="classes", of="posterior"
        )
        places = _Places(tags, lengths, order)
        asked = self._asked(places, None)
        known = places.known(asked)
        blocks: Iterable[Block] = []
        if self.pairs is None and self.top is None:
            # All pairs at once would need three arrays of the size of the answers.
            blocks = _all_marginals(posterior)
        elif known.any():
            # Only the columns of these pairs are computed.
            marginals = np.concatenate(posterior.pair_marginals(asked[known]))
            blocks = [(slice(None), marginals)]
        return places.answers(asked, blocks, posterior.dtype)

    def _named(self, proba: Any, pairs: Any, classes: Any) -> tuple[Any, Any]:
        """Return the pairs of the columns and the labels of the model, as given."""
        if pairs is not None and not is_sequence(pairs):  # as array-API arrays
            pairs = as_array(pairs, name="pairs").tolist()
        if classes is None and is_sequence(pairs) and not any(map(is_sequence, pairs)):
            pairs, classes = None, pairs
        if pairs is None and any(np.ndim(part) == 2 for part in proba):
            if classes is not None and all(map(is_sequence, classes)):
                return classes, None
            pairs = self.pairs
        return pairs, classes

    def _asked(self, places: _Places, columns: np.ndarray | None) -> np.ndarray:
        """Return the pairs to ask for, as places in the labels, (n_pairs, 2)."""
        if self.pairs is not None:
            return places.codes_of(self.pairs)
        if self.top is not None:
            found, count = np.unique(places.true, return_counts=True)
            # The sort is stable, so that ties go to the first in the order of labels.
            best = found[np.argsort(-count, kind="stable")[: self.top]]
            return np.column_stack(np.divmod(best, len(places.labels)))
        return _all_pairs(len(places.labels)) if columns is None else columns


class _Places:
    """Positions of all pairs of consecutive tokens.

    Attributes
    ----------
    labels : list
        Labels of the model in `order`, then other labels in y.
    true : ndarray of shape (n_places,), int
        True pair of each place, as previous * n_labels + next.
    sentence, item : ndarray of shape (n_places,), int
        Sentence of each place, and index of its second token in the sentence.
    """

    def __init__(self, tags: np.ndarray, lengths: np.ndarray, order: np.ndarray):
        sentence, token = sentence_and_token(lengths)
        # The first token of a sentence does not follow another one.
        second = np.flatnonzero(token)
        self.sentence, self.item = sentence[second], token[second]
        labels, code = known_and_unseen(tags, order)
        self.labels, self._n_known = labels.tolist(), order.size
        # A pair of labels is one number, so that pairs can be counted and looked up at
        # once.
        self.true = code[second - 1] * labels.size + code[second]

    def known(self, asked: np.ndarray) -> np.ndarray:
        """Return which pairs are of two labels of the model."""
        return np.asarray((asked < self._n_known).all(axis=1))

    def codes_of(self, pairs: Sequence[tuple[Any, Any]]) -> np.ndarray:
        """Return pairs as places in the labels."""
        place = {label: k for k, label in enumerate(self.labels)}
        unknown = [(x, pair) for pair in pairs for x in pair if x not in place]
        if unknown:
            label, pair = unknown[0]
            raise ParameterError(
                "pairs",
                f"must contain classes of the model or labels in y, "
                f"{self.labels!r:.200}. Got {label!r} in {pair!r}.",
                "TagPairQuery",
            )
        return np.array([(place[a], place[b]) for a, b in pairs], dtype=np.intp)

    def column_of(self, pairs: np.ndarray) -> np.ndarray:
        """Return the column of each pair of labels, -1 if it is not in `pairs`."""
        column = np.full((len(self.labels), len(self.labels)), -1)
        column[tuple(pairs.T)] = np.arange(len(pairs))
        return column

    def answers(
        self, asked: np.ndarray, blocks: Iterable[Block], dtype: np.dtype
    ) -> Answers:
        """Return the answers; `blocks` have the columns of the known pairs."""
        known = self.known(asked)
        q = np.zeros((self.item.size, len(asked)), dtype)
        for rows, block in blocks:
            # A slice copies several times faster than a mask.
            q[rows, slice(None) if known.all() else known] = block
        return Answers._of_rows(
            q,
            self.column_of(asked).ravel()[self.true],
            label_array((self.labels[a], self.labels[b]) for a, b in asked.tolist()),
            n_unseen=self.item.size * int((~known).sum()),
            sample=self.sentence,
            place=self.item,
        )


def _as_pairs(pairs: Any) -> tuple[tuple[Any, Any], ...]:
    """Return pairs of labels as tuples."""
    found = check_label_pairs(pairs)
    if not found:
        raise ParameterError("pairs", "must contain at least one pair. Got none.")
    try:
        repeats = len(set(found)) < len(found)
    except TypeError:
        raise ParameterTypeError(
            "pairs", f"must contain pairs of labels. Got {found!r:.50}."
        ) from None
    if repeats:
        raise ParameterError("pairs", "repeats a pair.")
    return tuple(found)


def _all_pairs(n: int) -> np.ndarray:
    return np.column_stack(np.divmod(np.arange(n * n), n))


def _all_marginals(posterior: LinearChainPosterior) -> Iterable[Block]:
    """Yield the probabilities of all pairs of tags, for some sentences at a time."""
    n_pairs = posterior.n_tags**2
    # Sentences are taken together up to a number of probabilities, whatever their
    # length.
    per_sentence = n_pairs * posterior.lengths.sum() // len(posterior)
    start = 0
    chunk = max(1, _AT_ONCE // max(1, int(per_sentence)))
    for _, part in posterior.iter_pair_marginals(chunk):
        table = np.concatenate(part).reshape(-1, n_pairs)
        yield slice(start, start + len(table)), table
        start += len(table)
