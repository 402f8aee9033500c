"""Query for the heads of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._validation import as_probabilities, check_choice, out_of_range
from ..posteriors import TreePosterior
from ._answers import Answers
from ._dependencies import as_heads, heads_for, posterior_and_trees
from ._sentences import as_numbers


@dataclass(frozen=True)
class ArcQuery:
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
    skcalib.posteriors.TreePosterior.arc_marginals : Probabilities of arcs.
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
    >>> from skcalib.posteriors import TreePosterior
    >>> from skcalib.queries import ArcQuery
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
    def __call__(self, estimator: Any, X: Any, y: Sequence[ArrayLike]) -> Answers:
        """Return the answers of a fitted parser.

        Parameters
        ----------
        estimator : fitted parser with a posterior method
            A pipeline or search object that ends in such a parser is also accepted. If
            the parser has a `predict` method, this method predicts the arcs. Otherwise,
            the most probable tree is the prediction.
        X : sequence of sentences
            Input of the estimator.
        y : sequence of array-like of shape (n_words,), int
            True heads.

        Returns
        -------
        answers : Answers
            One answer for each arc.
        """
        predict = self.arcs == "predicted"
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
            One answer for each arc.
        """
        return self._of_posterior(y_true, posterior, None)

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
        gold = as_heads(y_true, proba, "proba")
        parts = [
            _as_proba(part, heads.size, i)
            for i, (part, heads) in enumerate(zip(proba, gold, strict=True))
        ]
        return self._ask(gold, parts, [part.argmax(axis=1) for part in parts])

    def _of_posterior(self, y_true: Any, posterior: Any, predicted: Any) -> Answers:
        gold = heads_for(y_true, posterior)
        if self.arcs == "predicted" and predicted is None:
            predicted = posterior.best_tree()
        return self._ask(gold, posterior.arc_marginals(), predicted)

    def _ask(
        self, gold: list[np.ndarray], proba: list[np.ndarray], predicted: Any
    ) -> Answers:
        none = np.zeros(0, dtype=np.intp)
        sentence, word, head = [none], [none], [none]
        q, y = [np.zeros(0)], [none]
        for i, (truth, part) in enumerate(zip(gold, proba, strict=True)):
            n = truth.size
            if self.arcs == "predicted":
                words, heads = np.arange(n), predicted[i]
            else:
                other = np.arange(n + 1) != np.arange(1, n + 1)[:, np.newaxis]
                words, heads = np.nonzero(other)
            sentence.append(np.full(words.size, i))
            word.append(words)
            head.append(heads)
            q.append(part[words, heads])
            y.append((truth[words] == heads).astype(np.intp))
        return Answers(
            y_true=np.concatenate(y),
            y_proba=np.concatenate(q),
            groups=np.concatenate(sentence),
            item=np.concatenate(word),
            label=np.concatenate(head),
        )


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
    array[np.arange(n), np.arange(1, n + 1)] = 0
    bad = out_of_range(array)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ParameterError(
            "proba",
            f"must be probabilities in [0, 1]. Got {float(array[row, column])!r} in "
            f"sentence {i}, row {row}, column {column}.",
        )
    return as_probabilities(array, name="proba", n_columns=1)
