"""Base class of taggers: predictions, probabilities and accuracy from a posterior."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._errors import ParameterError, ParameterTypeError, public
from .._results import object_array
from .._validation import (
    as_weights,
    check_choice,
    check_float_type,
    is_collection,
    is_sequence,
)
from ..posteriors import LinearChainPosterior
from ._sentences import (
    Labels,
    Sentences,
    check_labels,
    check_sentences,
    sentence_lengths,
)


class BaseTagger(BaseEstimator):
    """Base class of taggers. Subclasses define `fit`, `classes_` and `_posterior`.

    Taggers do not inherit from ClassifierMixin, because scikit-learn would then treat
    ragged labels as labels of a classifier, and cross-validation would fail.
    """

    decoding: str
    dtype: DTypeLike
    classes_: np.ndarray

    def _posterior(self, sentences: list[Any]) -> LinearChainPosterior:
        raise NotImplementedError

    def _check_inference(self) -> np.dtype:
        """Check the parameters of prediction, and return the dtype."""
        check_choice(self.decoding, ("viterbi", "posterior"), name="decoding")
        return check_float_type(self.dtype, name="dtype")

    def _posterior_of(self, X: Sentences) -> LinearChainPosterior:
        check_is_fitted(self)
        return self._posterior(check_sentences(X))

    @public
    def posterior(self, X: Sentences) -> LinearChainPosterior:
        """Return the posterior over taggings of each sentence.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        posterior : LinearChainPosterior
            Posterior over taggings. Its tag index k stands for the label
            ``classes_[k]``.

        Raises
        ------
        NotFittedError
            If the tagger is not fitted. This error and the errors below are raised by
            all methods that take sentences.
        TypeError
            If `X` is not a sequence of sentences, or if the tagger does not accept
            tokens of this type.
        ValueError
            If the weight of an attribute is not finite, or if a matrix does not have
            the number of columns that the tagger was fitted on.
        """
        return self._posterior_of(X)

    @public
    def predict(self, X: Sentences) -> np.ndarray:
        """Predict the tags of sentences.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        y : ndarray of shape (n_sentences,), object
            A list of labels for each sentence: the most probable tagging, or with
            ``decoding="posterior"`` the most probable tag of each token.
        """
        posterior = self._posterior_of(X)
        if self.decoding == "viterbi":
            paths = posterior.viterbi()
        else:
            paths = posterior.posterior_decode()
        return object_array([self.classes_[path].tolist() for path in paths])

    @public
    def predict_proba(self, X: Sentences) -> np.ndarray:
        """Return the posterior probability of each tag at each token.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence, with columns in
            the order of `classes_` and rows that sum to one.
        """
        return object_array(self._posterior_of(X).token_marginals())

    def predict_marginals(self, X: Sentences) -> np.ndarray:
        """Return the posterior probability of each tag at each token.

        This method is an alias of :meth:`predict_proba`. Pipelines and search
        estimators do not have this alias.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence.
        """
        return self.predict_proba(X)

    @public
    def predict_pair_marginals(
        self, X: Sentences, pairs: Sequence[tuple[Hashable, Hashable]] | None = None
    ) -> np.ndarray:
        """Return the posterior probability of pairs of tags at consecutive tokens.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.
        pairs : sequence of (label, label), default=None
            Pairs of labels from `classes_`: the label of a token and the label of the
            next token. If None, all pairs are computed, which takes n_classes times the
            memory of :meth:`predict_proba`.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array for each sentence, in which row t is for tokens t and t + 1. Its
            shape is (n_tokens - 1, n_pairs). If `pairs` is None, the shape is
            (n_tokens - 1, n_classes, n_classes), with indices [this label, next label].

        Examples
        --------
        >>> from skcalib import HMMTagger
        >>> X = [["the", "dog", "barks"], ["dogs", "bark"]]
        >>> tagger = HMMTagger(0.1).fit(X, [["D", "N", "V"], ["N", "V"]])
        >>> tagger.predict_pair_marginals(X, [("D", "N"), ("N", "V")])[0].round(2)
        array([[0.99, 0.  ],
               [0.  , 0.98]])
        """
        check_is_fitted(self)
        chosen = None
        if pairs is not None:
            chosen = pair_places(pairs, self.classes_.tolist())
        return object_array(self._posterior_of(X).pair_marginals(chosen))

    @public
    def score(
        self, X: Sentences, y: Labels, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy of the predicted tags.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True labels.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weight of each sentence. Every token has the weight of its sentence.

        Returns
        -------
        accuracy : float
            Fraction of tokens whose predicted tag is the true tag.

        Raises
        ------
        ValueError
            If a sentence has more or fewer labels than tokens, if a label is missing,
            if a weight is negative or not finite, or if no token has a positive weight.
        """
        return token_accuracy(self, X, y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def token_accuracy(tagger: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the fraction of tokens that a fitted tagger tags correctly."""
    check_is_fitted(tagger)
    sentences = check_sentences(X)
    labels = check_labels(y, sentences)
    weight = as_weights(sample_weight, len(labels))
    size = sentence_lengths(labels).astype(np.float64)
    if weight is None:
        weight = np.ones(len(labels))
    if not (weight * size).sum() > 0:
        raise ParameterError(None, "needs at least one token of positive weight.")
    right = [
        sum(a == b for a, b in zip(found, tags, strict=True))
        for found, tags in zip(tagger.predict(sentences), labels, strict=True)
    ]
    return float(weight @ np.array(right) / (weight @ size))


def pair_places(pairs: Any, classes: list[Any]) -> np.ndarray:
    """Return the positions in `classes` of pairs of labels."""
    place = {label: i for i, label in enumerate(classes)}
    expected = "must be a list of (label, next label)."
    if not is_collection(pairs) or not hasattr(pairs, "__len__"):
        raise ParameterTypeError("pairs", f"{expected} Got {pairs!r:.50}.")
    found = np.empty((len(pairs), 2), dtype=np.intp)
    for i, pair in enumerate(pairs):
        if not is_sequence(pair) or len(pair) != 2:
            raise ParameterError("pairs", f"{expected} Got {pair!r:.50} as pair {i}.")
        for j, label in enumerate(pair):
            try:
                found[i, j] = place[label]
            except (KeyError, TypeError):
                problem = (
                    f"must contain labels of classes_, {classes!r:.200}. Got {label!r} "
                    f"in pair {i}."
                )
                raise ParameterError("pairs", problem) from None
    return found
