"""Queries for the heads of words and for subtrees of dependency trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._validation import as_probabilities, check_choice, check_integer, is_sequence
from ..posteriors._tree_posterior import TreePosterior, check_trees
from ._answers import Answers
from ._query import (
    Query,
    as_numbers,
    check_labels,
    check_posterior,
    check_range,
    check_same_entries,
)
from ._spans import check_asked, read_spans

Span = tuple[int, int]


class ParserQuery(Query):
    """Base of the queries for dependency parsers."""

    _needs = "a posterior method that returns a TreePosterior"
    _advice = (
        "For scores of arcs from any source, make a TreePosterior and pass it to "
        "from_posterior."
    )

    @public
    def __call__(self, estimator: Any, X: Any, y: Sequence[ArrayLike]) -> Answers:
        """Return the answers of a fitted parser.

        Parameters
        ----------
        estimator : fitted parser with a posterior method
            A pipeline or search object that ends in such a parser is also accepted. If
            the parser has a `predict` method, this method predicts the trees.
            Otherwise, the most probable trees are the prediction.
        X : sequence of sentences
            Input of the estimator.
        y : sequence of array-like of shape (n_words,), int
            True heads.

        Returns
        -------
        answers : Answers
            One answer for each arc or span.
        """
        check_labels(X, y, "sentence")
        return self._ask_estimator(estimator, X, y)

    @public
    def from_posterior(
        self,
        y_true: Sequence[ArrayLike],
        posterior: TreePosterior,
        classes: None = None,
    ) -> Answers:
        """Return answers with the exact probabilities of a posterior over trees.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_words,), int
            True heads of the words of each sentence.
        posterior : TreePosterior
            Posterior over the trees of the same sentences. Its most probable tree is
            the prediction.
        classes : None
            Ignored; present for consistency with other queries.

        Returns
        -------
        answers : Answers
            One answer for each arc or span.
        """
        return self._ask(y_true, posterior, None, None)


def _heads_of_posterior(y_true: Any, posterior: Any) -> list[np.ndarray]:
    """Return the true heads of the sentences that a posterior describes."""
    check_posterior(posterior, "a TreePosterior", isinstance(posterior, TreePosterior))
    # The lengths of y are compared below, where the error can name the posterior.
    gold = _true_heads(y_true, posterior.log_scores, "posterior")
    for i, (heads, n) in enumerate(zip(gold, posterior.lengths.tolist(), strict=True)):
        if heads.size != n:
            raise ParameterError(
                "posterior",
                "must describe the sentences of 'y_true'. "
                f"Sentence {i} has {heads.size} heads and {n} words.",
            )
    return gold


def _predicted_heads(posterior: TreePosterior, predict: Any) -> list[np.ndarray]:
    """Return the heads that a parser predicts, or the most probable trees."""
    if predict is None:
        return posterior.best_tree()
    return check_trees(predict(), posterior.lengths, "predict(X)")


def _true_heads(y_true: Any, other: Any, name: str) -> list[np.ndarray]:
    """Return the true heads of each sentence, one array per entry of `other`."""
    check_same_entries(y_true, other, name)
    lengths = [len(heads) if is_sequence(heads) else 0 for heads in y_true]
    return check_trees(y_true, np.array(lengths, dtype=np.intp), "y_true")


@dataclass(frozen=True)
class ArcQuery(ParserQuery):
    """Ask a dependency parser whether a word is the head of another word.

    Parameters
    ----------
    arcs : {'predicted', 'all'}, default='predicted'
        Arcs to ask for. 'predicted' asks for the arcs of the predicted tree, one per
        word. 'all' asks for the arcs from every word to the root and to every other
        word. The true arcs do not affect the choice.

    See Also
    --------
    SubtreeQuery : Ask whether words are a subtree.
    skcalib.experimental.TreePosterior.arc_marginals : Probabilities of arcs.
    skcalib.scorers.make_query_scorer : Make a scorer from a query and a metric.

    Notes
    -----
    Heads are numbered as in CoNLL-U: 0 is the root, and words are counted from 1. In
    the answers, `item` is the index of the dependent word, counted from 0, and `label`
    is the head in question. With 'predicted', the proportion of pairs with y = 1 is the
    unlabelled attachment score.

    References
    ----------
    .. [1] K. Nguyen and B. O'Connor (2015). "Posterior calibration and exploratory
       analysis for natural language processing models". EMNLP. Section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.experimental import TreePosterior
    >>> from skcalib.experimental import ArcQuery
    >>> posterior = TreePosterior([np.log([[1, 1, 3], [2, 1, 1]])])
    >>> answers = ArcQuery().from_posterior([[2, 0]], posterior)
    >>> answers.item, answers.label
    (array([0, 1]), array([2, 0]))
    >>> answers.y_true, answers.y_proba.round(2)
    (array([1, 1]), array([0.86, 0.86]))

    For parsers without a posterior, pass one array of probabilities per sentence:

    >>> proba = [[[0.1, 0, 0.9], [0.9, 0.1, 0]]]
    >>> ArcQuery(arcs="all").from_proba([[2, 0]], proba).y_proba
    array([0.1, 0.9, 0.9, 0.1])
    """

    arcs: str = "predicted"

    @public
    def __post_init__(self) -> None:
        check_choice(self.arcs, ("predicted", "all"), name="arcs")

    @public
    def from_proba(
        self,
        y_true: Sequence[ArrayLike],
        proba: Sequence[ArrayLike],
        classes: None = None,
    ) -> Answers:
        """Return answers with given probabilities of arcs.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_words,), int
            True heads of the words of each sentence.
        proba : sequence of array-like of shape (n_words, n_words + 1)
            Probability of each head of each word. The first column is the root, and the
            other columns are the words. The predicted head of a word is its most
            probable head. In case of ties, the first head is used.
        classes : None
            Ignored; present for consistency with other queries.

        Returns
        -------
        answers : Answers
            One answer for each arc.
        """
        gold = _true_heads(y_true, proba, "proba")
        parts = [
            _as_proba(part, heads.size, i)
            for i, (part, heads) in enumerate(zip(proba, gold, strict=True))
        ]
        return self._answers(gold, parts, [part.argmax(axis=1) for part in parts])

    def _ask(self, y_true: Any, posterior: Any, classes: Any, predict: Any) -> Answers:
        gold = _heads_of_posterior(y_true, posterior)
        predicted = None
        if self.arcs == "predicted":
            predicted = _predicted_heads(posterior, predict)
        return self._answers(gold, posterior.arc_marginals(), predicted)

    def _answers(
        self, gold: list[np.ndarray], proba: list[np.ndarray], predicted: Any
    ) -> Answers:
        # Without a sentence, the columns have these types.
        none = np.zeros(0, dtype=np.intp)
        columns = [(none, np.zeros(0), none, none, none)]
        for i, (truth, q) in enumerate(zip(gold, proba, strict=True)):
            n = truth.size
            if self.arcs == "predicted":
                # One arc for each word.
                word, head = np.arange(n), predicted[i]
            else:  # all arcs but those from a word to itself
                word, head = np.nonzero(~np.eye(n, n + 1, 1, dtype=bool))
            sentence = np.full(word.size, i)
            columns.append((truth[word] == head, q[word, head], sentence, word, head))
        y, q, groups, word, head = map(np.concatenate, zip(*columns, strict=True))
        return Answers(y, q, groups, word, head)


def _as_proba(part: Any, n: int, i: int) -> np.ndarray:
    """Return the probabilities of one sentence, 0 for a word with itself."""
    array = as_numbers(part, f"sentence {i}")
    if array.size == 0 and n == 0:
        return np.zeros((0, 1))
    if array.shape != (n, n + 1):
        raise ParameterError(
            "proba",
            f"must have shape {(n, n + 1)} for sentence {i}, which has {n} words: a "
            "column for the root, then one for each word. Got shape "
            f"{array.shape}.",
        )
    array = array.astype(np.float64)
    # A word is not its own head; models leave any number there.
    array[np.arange(n), np.arange(1, n + 1)] = 0
    check_range(array, lambda row, k: f"sentence {i}, row {row}, column {k}")
    return as_probabilities(array, name="proba", n_columns=1)


@dataclass(frozen=True)
class SubtreeQuery(ParserQuery):
    """Ask a dependency parser whether consecutive words are a whole subtree.

    Parameters
    ----------
    spans : {'predicted', 'all'}, default='predicted'
        Spans to ask for. 'predicted' asks for the subtrees of the predicted tree whose
        words are consecutive. 'all' asks for all spans. The true subtrees do not affect
        the choice.
    min_length : int, default=1
        Number of words of the shortest span to ask for. With 2, words without
        dependents are not asked for.
    max_length : int, default=None
        Number of words of the longest span to ask for. If None, spans of any length
        are asked for. Required for 'all'.

    See Also
    --------
    ArcQuery : Ask a dependency parser for single arcs.
    SpanQuery : Ask a tagger for entities.
    skcalib.experimental.TreePosterior.subtree_marginals : Probabilities of subtrees.

    Notes
    -----
    Words start to stop - 1 are a subtree if exactly one of them has its head outside
    the span, the heads of all others are inside, and no word outside has its head
    inside. They are then a word with all its descendants (a constituent). The
    probability is exact. It is the sum of the probabilities of all trees of the
    sentence that contain the subtree.

    The whole sentence is never asked for, since with a single root it is a subtree of
    every tree. Subtrees are one of the structures for which [1]_ suggests polar
    queries. In the answers, `item` has two columns: the first word of the span and the
    word after its last one, counted from 0. The `label` is always 1, since there is
    only one question.

    References
    ----------
    .. [1] K. Nguyen. "Calibration for natural language processing systems". Honours
       thesis, University of Massachusetts Amherst. Section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.experimental import TreePosterior
    >>> from skcalib.experimental import SubtreeQuery
    >>> scores = [[0, 0, 2, 0], [1, 0, 0, 3], [2, 0, 0, 0]]  # "the dog barks"
    >>> posterior = TreePosterior([scores])
    >>> answers = SubtreeQuery().from_posterior([[2, 3, 0]], posterior)
    >>> answers.item.tolist()
    [[0, 1], [0, 2]]
    >>> answers.y_true, answers.y_proba.round(2)
    (array([1, 1]), array([0.96, 0.84]))
    """

    spans: str = "predicted"
    min_length: int = 1
    max_length: int | None = None

    @public
    def __post_init__(self) -> None:
        least = check_integer(self.min_length, minimum=1, name="min_length")
        check_asked(self.spans, self.max_length, "words", least)

    @public
    def from_proba(
        self,
        y_true: Sequence[ArrayLike],
        proba: Sequence[Sequence[tuple[int, int, float]]],
        classes: None = None,
    ) -> Answers:
        """Return answers with given probabilities of spans, for example frequencies.

        Parameters
        ----------
        y_true : sequence of array-like of shape (n_words,), int
            True heads of the words of each sentence.
        proba : sequence with an entry for each sentence
            Each entry is a list of (start, stop, probability): the first word, the word
            after the last one, and the probability that these words are a subtree. The
            query asks for these spans, except for the whole sentence and for spans that
            are shorter than `min_length` or longer than `max_length`.
        classes : None
            Ignored; present for consistency with other queries.

        Returns
        -------
        answers : Answers
            One answer for each span.
        """
        gold = _true_heads(y_true, proba, "proba")
        found = read_spans(proba, [heads.size for heads in gold], labelled=False)
        wanted = [
            [row for row in rows if self._is_wanted(row[:2], heads.size)]
            for rows, heads in zip(found, gold, strict=True)
        ]
        spans = [[row[:2] for row in rows] for rows in wanted]
        return _answers(gold, spans, [[row[2] for row in rows] for rows in wanted])

    def _ask(self, y_true: Any, posterior: Any, classes: Any, predict: Any) -> Answers:
        gold = _heads_of_posterior(y_true, posterior)
        if self.spans == "all":
            spans = [self._all_spans(heads.size) for heads in gold]
        else:
            spans = [
                sorted(s for s in subtrees(heads) if self._is_wanted(s, heads.size))
                for heads in _predicted_heads(posterior, predict)
            ]
        return _answers(gold, spans, posterior.subtree_marginals(spans))

    def _all_spans(self, n: int) -> list[Span]:
        spans = combinations(range(n + 1), 2)
        return [span for span in spans if self._is_wanted(span, n)]

    def _is_wanted(self, span: Span, n: int) -> bool:
        length = span[1] - span[0]
        # With a single root, the whole sentence is a subtree of every tree.
        most = n - 1 if self.max_length is None else min(self.max_length, n - 1)
        return self.min_length <= length <= most


def subtrees(heads: np.ndarray) -> set[Span]:
    """Return (start, stop) of the subtrees whose words are consecutive."""
    word = np.arange(heads.size)
    first, last, size = word.copy(), word.copy(), np.ones_like(word)
    ancestor = heads - 1
    while word.size:  # all words climb one arc at a time
        below_root = ancestor >= 0
        word, ancestor = word[below_root], ancestor[below_root]
        np.minimum.at(first, ancestor, word)
        np.maximum.at(last, ancestor, word)
        np.add.at(size, ancestor, 1)
        ancestor = heads[ancestor] - 1
    # The words of a subtree are consecutive if there are as many as from first to last.
    whole = size == last - first + 1
    return set(zip(first[whole].tolist(), (last[whole] + 1).tolist(), strict=True))


def _answers(gold: list[np.ndarray], spans: list[list[Span]], q: list[Any]) -> Answers:
    true = [subtrees(heads) for heads in gold]
    rows = [
        (i, *span, span in true[i]) for i, some in enumerate(spans) for span in some
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)
    y, proba = columns[:, 3], np.concatenate([*q, np.zeros(0)])
    label = np.ones(len(rows), dtype=np.int64)
    return Answers(y, proba, columns[:, 0], columns[:, 1:3], label)
