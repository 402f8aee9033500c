"""Query for subtrees of dependency trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import (
    check_choice,
    check_integer,
    is_collection,
    is_integer,
    out_of_range,
)
from ..posteriors import TreePosterior
from ._answers import Answers
from ._dependencies import as_heads, heads_for, posterior_and_trees

Span = tuple[int, int]


@dataclass(frozen=True)
class SubtreeQuery:
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
    skcalib.posteriors.TreePosterior.subtree_marginals : Probabilities of subtrees.

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
    >>> from skcalib.posteriors import TreePosterior
    >>> from skcalib.queries import SubtreeQuery
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
        check_choice(self.spans, ("predicted", "all"), name="spans")
        least = check_integer(self.min_length, minimum=1, name="min_length")
        if self.max_length is not None:
            check_integer(self.max_length, minimum=least, name="max_length")
        elif self.spans == "all":
            raise ParameterError(
                None,
                "needs 'max_length', the length of the longest span in words, for "
                "spans='all'. Got None.",
            )

    @public
    def __call__(self, estimator: Any, X: Any, y: Sequence[ArrayLike]) -> Answers:
        """Return the answers of a fitted parser.

        Parameters
        ----------
        estimator : fitted parser with a posterior method
            A pipeline or search object that ends in such a parser is also accepted. If
            the parser has a `predict` method, this method predicts the tree. Otherwise,
            the most probable tree is the prediction.
        X : sequence of sentences
            Input of the estimator.
        y : sequence of array-like of shape (n_words,), int
            True heads.

        Returns
        -------
        answers : Answers
            One answer for each span.
        """
        predict = self.spans == "predicted"
        posterior, predicted = posterior_and_trees(estimator, X, predict)
        return self._of_posterior(y, posterior, predicted)

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
            One answer for each span.
        """
        return self._of_posterior(y_true, posterior, None)

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
        gold = as_heads(y_true, proba, "proba")
        found = [
            _read_spans(entry, heads.size, i)
            for i, (entry, heads) in enumerate(zip(proba, gold, strict=True))
        ]
        spans = [
            [span for span in part if self._is_wanted(span, heads.size)]
            for part, heads in zip(found, gold, strict=True)
        ]
        q = [
            np.array([part[span] for span in some], dtype=np.float64)
            for part, some in zip(found, spans, strict=True)
        ]
        return _answers(gold, spans, q)

    def _of_posterior(self, y_true: Any, posterior: Any, predicted: Any) -> Answers:
        gold = heads_for(y_true, posterior)
        if self.spans == "all":
            spans = [self._all_spans(heads.size) for heads in gold]
        else:
            trees = posterior.best_tree() if predicted is None else predicted
            spans = [
                sorted(s for s in subtrees(heads) if self._is_wanted(s, heads.size))
                for heads in trees
            ]
        return _answers(gold, spans, posterior.subtree_marginals(spans))

    def _all_spans(self, n: int) -> list[Span]:
        assert self.max_length is not None
        return [
            (start, stop)
            for start in range(n)
            for stop in range(
                start + self.min_length, min(start + self.max_length, n) + 1
            )
            if stop - start < n
        ]

    def _is_wanted(self, span: Span, n: int) -> bool:
        length = span[1] - span[0]
        most = n - 1 if self.max_length is None else min(self.max_length, n - 1)
        return self.min_length <= length <= most


def subtrees(heads: np.ndarray) -> set[Span]:
    """Return (start, stop) of the subtrees whose words are consecutive."""
    n = heads.size
    first, last = np.arange(n), np.arange(n)
    size = np.ones(n, dtype=np.intp)
    missing = np.bincount(heads, minlength=n + 1)[1:]  # dependents not yet counted
    ready = np.flatnonzero(missing == 0).tolist()
    while ready:
        word = ready.pop()
        head = heads[word] - 1
        if head < 0:
            continue
        first[head] = min(first[head], first[word])
        last[head] = max(last[head], last[word])
        size[head] += size[word]
        missing[head] -= 1
        if missing[head] == 0:
            ready.append(int(head))
    whole = size == last - first + 1
    return set(zip(first[whole].tolist(), (last[whole] + 1).tolist(), strict=True))


def _answers(
    gold: list[np.ndarray], spans: list[list[Span]], q: list[np.ndarray]
) -> Answers:
    true = []
    for heads, some in zip(gold, spans, strict=True):
        found = subtrees(heads)
        true.extend([int(span in found) for span in some])
    count = [len(some) for some in spans]
    rows = [span for some in spans for span in some]
    return Answers(
        y_true=np.array(true, dtype=np.int64),
        y_proba=np.concatenate([*q, np.zeros(0)]),
        groups=np.repeat(np.arange(len(gold)), count),
        item=np.array(rows, dtype=np.intp).reshape(-1, 2),
        label=np.ones(len(rows), dtype=np.int64),
    )


def _read_spans(entry: Any, n: int, i: int) -> dict[Span, float]:
    """Return the checked probabilities of the spans of one sentence."""
    if not is_collection(entry):
        raise ParameterTypeError(
            "proba",
            f"must have a list of spans for each sentence. Got {entry!r:.50} for "
            f"sentence {i}.",
        )
    found: dict[Span, float] = {}
    for j, row in enumerate(entry):
        try:
            start, stop, q = row
            q = float(q)
        except (TypeError, ValueError):
            start, stop, q = None, None, np.nan
        whole = is_integer(start) and is_integer(stop) and 0 <= start < stop <= n
        if not whole or out_of_range(np.array([q]))[0] or (start, stop) in found:
            raise ParameterError(
                "proba",
                "must have (start, stop, probability) once for each span, with 0 <= "
                f"start < stop <= {n}, the number of words, and a probability in "
                f"[0, 1]. Got {row!r:.80} as span {j} of sentence {i}.",
            )
        found[int(start), int(stop)] = min(max(q, 0.0), 1.0)
    return found
