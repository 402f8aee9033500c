"""Questions for the tags of two tokens in a row."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from .._validation import check_integer, is_collection, is_sequence
from ..metrics._pairs import as_labels, label_array
from ._answers import Answers, last_step, transform_before
from ._classes import codes, columns_of
from ._sentences import check_posterior, flat_tags, stack_rows

# Numbers of pairs of tags that a posterior makes at once.
_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class TagPairQuery:
    """Ask a tagger whether two tokens in a row have two tags.

    Parameters
    ----------
    pairs : sequence of (label, label), default=None
        Tags of a token and of the next one; each is asked for at every two tokens in
        a row. None: all pairs of tags, concatenated.
    top : int, default=None
        Ask for the `top` most frequent pairs in y only, the first in the order of the
        labels among those that are as frequent; for fewer where y has fewer. The
        frequencies are those of the labels alone, so that the choice knows nothing of
        the probabilities. They count each sentence once, whatever weight a scorer
        gives it; to ask every fold of a cross-validation the same, name the pairs.

    See Also
    --------
    TagQuery : The same for single tokens.
    skcalib.plot.TagErrorDisplay : The error of each pair.
    skcalib.scorers.make_query_scorer : A scorer from a query and a metric.

    Notes
    -----
    In the answers `label` is the pair as a tuple, and `item` the place of the second
    token. The probabilities are the posterior's, from one forward-backward pass; the
    product of two tokens' marginals would be wrong, since neighbours depend on each
    other.

    A pair with a label that the model did not see in training has probability 0 and is
    counted in `n_unseen`. Among all pairs there is one for every two labels of the
    model and of y.

    All pairs are computed some sentences at a time, but the answers take 40 bytes a
    pair of tags and position: with 47 tags and 30,000 tokens 2.7 GB. The most frequent
    100 take a twentieth.

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

    Probabilities from anywhere have a row for every two tokens in a row:

    >>> query = TagPairQuery([("D", "N")])
    >>> answers = query.from_proba([["D", "N", "V"]], [[[0.8], [0.1]]], query.pairs)
    >>> answers.y_true, answers.y_proba, answers.item
    (array([1, 0]), array([0.8, 0.1]), array([1, 2]))
    """

    pairs: Any = None
    top: int | None = None

    def __post_init__(self) -> None:
        if self.pairs is not None and self.top is not None:
            raise ValueError(
                "TagPairQuery takes 'pairs' or 'top', not both. Got "
                f"{self.pairs!r:.50} and {self.top!r}."
            )
        if self.pairs is not None:
            pairs = _check_pairs(self.pairs, "TagPairQuery")
            object.__setattr__(self, "pairs", pairs)
        if self.top is not None:
            check_integer(self.top, minimum=1, name="top", caller="TagPairQuery")

    def __call__(self, estimator: Any, X: Any, y: Any) -> Answers:
        """Ask a fitted tagger.

        Parameters
        ----------
        estimator : fitted tagger with a posterior method
            Or a pipeline or search object that ends in one.
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True tags.

        Returns
        -------
        answers : Answers
        """
        tagger = last_step(estimator)
        if not hasattr(tagger, "posterior"):
            raise ValueError(
                "The 'estimator' parameter of TagPairQuery must have a posterior "
                f"method. Got {type(tagger).__name__}; if it gives probabilities of "
                "pairs of tags in its own way, pass them to from_proba."
            )
        posterior = tagger.posterior(transform_before(estimator, X))
        return self.from_posterior(y, posterior, tagger.classes_)

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
        caller = "TagPairQuery.from_posterior"
        tags, lengths = flat_tags(y_true, posterior, "posterior", caller)
        check_posterior(posterior, lengths, caller)
        places = _Places(tags, lengths, caller)
        order, unseen = columns_of(places.labels, posterior.n_tags, classes, caller)
        labels = [*order.tolist(), *unseen]
        asked = self._asked(places, labels, None)
        known = _known(asked, order.size)
        q = np.zeros((places.second.size, len(asked)), posterior.dtype)
        if self.pairs is None and self.top is None:
            _fill_all(q, known, posterior)
        elif known.any():
            q[:, known] = np.concatenate(posterior.pair_marginals(asked[known]))
        return places.answers(asked, labels, q, known)

    def from_proba(
        self, y_true: Any, proba: Any, pairs: Any = None, classes: Any = None
    ) -> Answers:
        """Ask probabilities from anywhere, of a neural tagger say.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        proba : sequence of array-like
            Probabilities of the pairs of each sentence, row t for its tokens t and
            t + 1: of shape (n_tokens - 1, n_pairs), or without `pairs` of shape
            (n_tokens - 1, n_tags, n_tags).
        pairs : sequence of (label, label), default=None
            Pairs of the columns. A query for all pairs asks for these then. None: those
            of the query, or all pairs of `classes`, [previous, next]. Labels that are
            no pairs are taken for `classes`, which is third in other queries.
        classes : array-like of shape (n_tags,), default=None
            Labels that the model knows; by default those in `pairs`, or without them
            the sorted labels of `y_true`. Or the pairs of the columns.

        Returns
        -------
        answers : Answers
        """
        caller = "TagPairQuery.from_proba"
        tags, lengths = flat_tags(y_true, proba, "proba", caller)
        places = _Places(tags, lengths, caller)
        n_rows = np.maximum(lengths - 1, 0)
        columns = None
        pairs, classes = self._named(proba, pairs, classes)
        if pairs is None:
            shape = "(n_tokens - 1, n_tags, n_tags)"
            rows = stack_rows(proba, n_rows, lengths, shape, caller)
            n_tags = isqrt(rows.shape[1])
            order, unseen = columns_of(places.labels, n_tags, classes, caller)
        else:
            columns = _check_pairs(pairs, caller)
            shape = "(n_tokens - 1, n_pairs)"
            rows = stack_rows(proba, n_rows, lengths, shape, caller)
            if rows.shape[1] != len(columns):
                raise ValueError(
                    f"The 'pairs' parameter of {caller} must have a pair for each "
                    f"column. Got {len(columns)} pairs and {rows.shape[1]} columns."
                )
            if classes is None:
                classes = sorted({label for pair in columns for label in pair})
            order, unseen = columns_of(places.labels, len(classes), classes, caller)
        labels = [*order.tolist(), *unseen]
        asked = self._asked(places, labels, columns)
        known = _known(asked, order.size)
        given = _pair_codes(columns, labels, f"pairs of {caller}")
        if columns is None:
            given = _all_pairs(order.size)
        column = _columns(asked[known], given, labels, caller)
        q = np.zeros((len(rows), len(asked)), rows.dtype)
        q[:, known] = rows[:, column]
        return places.answers(asked, labels, q, known)

    def _named(self, proba: Any, pairs: Any, classes: Any) -> tuple[Any, Any]:
        """Return the pairs of the columns and the labels of the model, as given."""
        if classes is None and is_sequence(pairs) and not any(map(is_sequence, pairs)):
            pairs, classes = None, pairs
        if pairs is None and any(np.ndim(part) == 2 for part in proba):
            if classes is not None and all(map(is_sequence, classes)):
                return classes, None
            pairs = self.pairs
        return pairs, classes

    def _asked(self, places: _Places, labels: list, columns: Any) -> np.ndarray:
        """Return what is asked for, as places in `labels`, (n_pairs, 2)."""
        if self.pairs is not None:
            return _pair_codes(self.pairs, labels, "pairs of TagPairQuery")
        if self.top is not None:
            return places.most_frequent(self.top, labels)
        if columns is not None:
            return _pair_codes(columns, labels, "pairs of TagPairQuery.from_proba")
        return _all_pairs(len(labels))


class _Places:
    """Every two tokens in a row.

    labels : (n_tokens,) true tags; sentence : (n_places,) of each place; second :
    (n_places,) second token, counted through all sentences; item : the same, counted in
    its sentence.
    """

    def __init__(self, tags: list, lengths: np.ndarray, caller: str):
        self.labels = as_labels(label_array(tags), name="y_true", caller=caller)
        sentence = np.repeat(np.arange(lengths.size), lengths)
        self.second = np.flatnonzero(np.diff(sentence) == 0) + 1
        if self.second.size == 0:
            raise ValueError(
                f"The 'y_true' parameter of {caller} holds no two tokens in a row."
            )
        self.sentence = sentence[self.second]
        self.item = self.second - (np.cumsum(lengths) - lengths)[self.sentence]

    def _codes(self, labels: list) -> np.ndarray:
        """Return the true pair of each place, previous * n_labels + next."""
        code = codes(self.labels, labels)
        return code[self.second - 1] * len(labels) + code[self.second]

    def most_frequent(self, top: int, labels: list) -> np.ndarray:
        found, count = np.unique(self._codes(labels), return_counts=True)
        best = found[np.argsort(-count, kind="stable")[:top]]
        return np.column_stack(np.divmod(best, len(labels)))

    def answers(
        self, asked: np.ndarray, labels: list, q: np.ndarray, known: np.ndarray
    ) -> Answers:
        """Return the answers, of which `q` has a row a place and a column a pair."""
        n_places, n_pairs = q.shape
        column = np.full(len(labels) ** 2, -1)
        column[asked[:, 0] * len(labels) + asked[:, 1]] = np.arange(n_pairs)
        true = column[self._codes(labels)]
        y_true = np.zeros((n_places, n_pairs), dtype=np.int64)
        there = np.flatnonzero(true >= 0)
        y_true[there, true[there]] = 1
        names = label_array((labels[a], labels[b]) for a, b in asked.tolist())
        return Answers(
            y_true=y_true.ravel(),
            y_proba=q.ravel(),
            groups=np.repeat(self.sentence, n_pairs),
            item=np.repeat(self.item, n_pairs),
            label=np.tile(names, n_places),
            n_unseen=n_places * int((~known).sum()),
        )


def _check_pairs(pairs: Any, caller: str) -> tuple[tuple[Any, Any], ...]:
    """Return pairs of labels as tuples."""
    name = f"The 'pairs' parameter of {caller}"
    if not is_collection(pairs) or not hasattr(pairs, "__len__"):
        raise TypeError(
            f"{name} must be a list of (label, next label). Got {pairs!r:.50}."
        )
    if len(pairs) == 0:
        raise ValueError(f"{name} must hold a pair at least. Got none.")
    found = []
    for i, pair in enumerate(pairs):
        if not is_sequence(pair) or len(pair) != 2:
            raise ValueError(
                f"{name} must be a list of (label, next label). Got {pair!r:.50} as "
                f"pair {i}."
            )
        found.append(tuple(pair.tolist() if isinstance(pair, np.ndarray) else pair))
    try:
        repeats = len(set(found)) < len(found)
    except TypeError:
        raise TypeError(
            f"{name} must hold pairs of labels. Got {found!r:.50}."
        ) from None
    if repeats:
        raise ValueError(f"{name} repeats a pair.")
    return tuple(found)


def _pair_codes(pairs: Any, labels: list, what: str) -> np.ndarray:
    """Return pairs as places in `labels`."""
    place = {label: k for k, label in enumerate(labels)}
    for pair in pairs or ():
        for label in pair:
            if label not in place:
                raise ValueError(
                    f"The {what} must hold classes of the model or labels in y, "
                    f"{labels!r:.200}. Got {label!r} in {pair!r}."
                )
    found = [(place[a], place[b]) for a, b in pairs or ()]
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def _known(asked: np.ndarray, n_tags: int) -> np.ndarray:
    """Return which pairs are of two labels that the model has, the first ones."""
    return np.logical_and(asked[:, 0] < n_tags, asked[:, 1] < n_tags)


def _all_pairs(n: int) -> np.ndarray:
    return np.column_stack(np.divmod(np.arange(n * n), n))


def _columns(
    asked: np.ndarray, given: np.ndarray, labels: list, caller: str
) -> np.ndarray:
    """Return the column of each pair that is asked for."""
    place = {(a, b): k for k, (a, b) in enumerate(given.tolist())}
    found = []
    for a, b in asked.tolist():
        if (a, b) not in place:
            raise ValueError(
                f"The 'pairs' parameter of {caller} must have the pairs that are asked "
                f"for. Got no column for {(labels[a], labels[b])!r}."
            )
        found.append(place[a, b])
    return np.array(found, dtype=np.intp)


def _fill_all(q: np.ndarray, known: np.ndarray, posterior: Any) -> None:
    """Write the probabilities of all pairs of the model's tags."""
    per_sentence = max(1, q.shape[1] * q.shape[0] // len(posterior))
    columns = slice(None) if known.all() else known
    start = 0
    chunk = max(1, _AT_ONCE // per_sentence)
    for _, part in posterior.iter_pair_marginals(chunk):
        table = np.concatenate(part).reshape(-1, posterior.n_tags**2)
        q[start : start + len(table), columns] = table
        start += len(table)
