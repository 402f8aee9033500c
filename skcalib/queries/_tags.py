"""Query for the tags of single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._pairs import warn_of_sums
from ..posteriors import LinearChainPosterior
from ._answers import Answers
from ._classes import Columns
from ._sentences import check_posterior, flat_tags, place_of_row, stack_rows
from ._steps import last_step, transform_before


@dataclass(frozen=True)
class TagQuery:
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

    @public
    def __call__(self, estimator: Any, X: Any, y: Sequence[Sequence[Any]]) -> Answers:
        """Return the answers of a fitted tagger.

        Parameters
        ----------
        estimator : fitted tagger
            A tagger of this package or of sklearn-crfsuite, or a pipeline or search
            object that ends in such a tagger.
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True tags.

        Returns
        -------
        answers : Answers
            One answer for each token, or for each token and tag.
        """
        tagger = last_step(estimator)
        if hasattr(estimator, "predict_proba"):
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
    def from_posterior(
        self,
        y_true: Sequence[Sequence[Any]],
        posterior: LinearChainPosterior,
        classes: ArrayLike,
    ) -> Answers:
        """Return answers with the exact probabilities of a posterior over taggings.

        Parameters
        ----------
        y_true : sequence of label sequences
            True tags.
        posterior : LinearChainPosterior
            Posterior over the taggings of the same sentences.
        classes : array-like of shape (n_tags,)
            Labels of the tag indices.

        Returns
        -------
        answers : Answers
            One answer for each token, or for each token and tag.
        """
        tags, lengths = flat_tags(y_true, posterior, "posterior")
        check_posterior(posterior, lengths)
        proba = posterior.token_marginals()
        return self._ask(tags, lengths, proba, classes)

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
        return self._ask(tags, lengths, proba, classes)

    def _ask(
        self, y: np.ndarray, lengths: np.ndarray, proba: Any, classes: Any
    ) -> Answers:
        rows, names = stack_rows(proba, lengths, lengths, "(n_tokens, n_tags)")
        columns = Columns.of(y, rows, names, classes)
        if rows.shape[1] > 1:
            first = np.zeros_like(lengths)
            warn_of_sums(rows, lambda row: place_of_row(row, lengths, first))
        if isinstance(self.tag, str) and self.tag == "top":
            answered = columns.top_class()
        elif self.tag is None:
            answered = columns.every_class()
        else:
            answered = columns.one_class(self.tag, "tag", "TagQuery")
        sentence = np.repeat(np.arange(lengths.size), lengths)
        token = np.arange(sentence.size) - (np.cumsum(lengths) - lengths)[sentence]
        return Answers._of_rows(replace(answered, sample=sentence, place=token))


def _from_dicts(marginals: Any, classes: Any) -> list[np.ndarray]:
    """Return marginals as arrays; sklearn-crfsuite gives a dict for each token."""
    if not len(marginals) or not all(
        isinstance(token, dict) for sentence in marginals for token in sentence[:1]
    ):
        return list(marginals)
    return [
        np.array([[token[label] for label in classes] for token in sentence], float)
        for sentence in marginals
    ]
