"""Questions for the tags of single tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..metrics._pairs import as_labels, label_array
from ._answers import Answers
from ._classes import columns_of, every_class, one_class, top_class
from ._sentences import check_posterior, flat_tags, stack_rows


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
        caller = "TagQuery.from_posterior"
        tags, lengths = flat_tags(y_true, posterior, "posterior", caller)
        check_posterior(posterior, lengths, caller)
        proba = posterior.token_marginals()
        return self._ask(tags, lengths, proba, classes, caller)

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
        tags, lengths = flat_tags(y_true, proba, "proba", caller)
        return self._ask(tags, lengths, proba, classes, caller)

    def _ask(
        self, tags: list, lengths: np.ndarray, proba: Any, classes: Any, caller: str
    ) -> Answers:
        shape = "(n_tokens, n_tags)"
        rows = stack_rows(proba, lengths, lengths, shape, caller)
        y = as_labels(label_array(tags), name="y_true", caller=caller)
        order, unseen = columns_of(y, rows.shape[1], classes, caller)
        if isinstance(self.tag, str) and self.tag == "top":
            answers = top_class(y, rows, order, unseen)
        elif self.tag is None:
            answers = every_class(y, rows, order, unseen)
        else:
            answers = one_class(y, rows, order, unseen, self.tag, "tag of TagQuery")
        return _by_sentence(answers, lengths)


def _from_dicts(marginals: Any, classes: Any) -> list[np.ndarray]:
    """Return marginals given as a dict a token, as sklearn-crfsuite does, as arrays."""
    return [
        np.array([[token[label] for label in classes] for token in sentence], float)
        for sentence in marginals
    ]


def _by_sentence(answers: Answers, lengths: np.ndarray) -> Answers:
    """Return answers asked of tokens as asked of sentences."""
    token = answers.groups
    sentence = np.repeat(np.arange(lengths.size), lengths)[token]
    place = token - (np.cumsum(lengths) - lengths)[sentence]
    return replace(answers, groups=sentence, item=place)
