"""What every tagger can do once it has scores: predict, give probabilities, score."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._validation import (
    check_choice,
    check_float_type,
    is_collection,
    is_sequence,
)
from ..posteriors import LinearChainPosterior
from ._sentences import check_labels, check_sentences, distinct_labels, object_array


class BaseTagger(BaseEstimator):
    """Base of taggers; a subclass has `fit`, `classes_` and `_posterior`.

    There is no ClassifierMixin: scikit-learn would take ragged labels for a
    classifier's, and break in cross-validation.
    """

    decoding: str
    dtype: Any
    classes_: np.ndarray

    def _posterior(self, sentences: list[Any]) -> LinearChainPosterior:
        raise NotImplementedError

    def _check_inference(self) -> np.dtype:
        """Check the parameters that say how to predict, and return the dtype."""
        caller = type(self).__name__
        check_choice(
            self.decoding, ("viterbi", "posterior"), name="decoding", caller=caller
        )
        return check_float_type(self.dtype, name="dtype", caller=caller)

    def posterior(self, X: Any) -> LinearChainPosterior:
        """Return the posterior over taggings of each sentence.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        posterior : LinearChainPosterior
            Its tag indices are places in `classes_`.

        Raises
        ------
        NotFittedError
            Before `fit`. All methods that take sentences raise this and what follows.
        TypeError
            If `X` holds no sentences, or tokens that the tagger does not take.
        ValueError
            If the weight of an attribute is not finite, or a matrix does not have the
            columns that the tagger was fitted on.
        """
        check_is_fitted(self)
        caller = f"{type(self).__name__}.posterior"
        return self._posterior(check_sentences(X, caller=caller))

    def predict(self, X: Any) -> np.ndarray:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.

        Returns
        -------
        y : ndarray of shape (n_sentences,), object
            An array of labels for each sentence: the best tagging, or with
            ``decoding="posterior"`` the best tag of each token.
        """
        posterior = self.posterior(X)
        if self.decoding == "viterbi":
            paths = posterior.viterbi()
        else:
            paths = posterior.posterior_decode()
        return object_array([self.classes_[path] for path in paths])

    def predict_proba(self, X: Any) -> np.ndarray:
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
        return object_array(self.posterior(X).token_marginals())

    def predict_marginals(self, X: Any) -> np.ndarray:
        """Return the posterior probability of each tag at each token.

        The same as :meth:`predict_proba`, which pipelines and searches pass on.

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

    def predict_pair_marginals(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Return the posterior probability of pairs of tags at tokens in a row.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.
        pairs : sequence of (label, label), default=None
            Labels of a token and of the next one, as `classes_` has them. None: all
            pairs, which take n_classes times the memory of :meth:`predict_proba`.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array for each sentence, its row t for tokens t and t + 1: of shape
            (n_tokens - 1, n_pairs), or for all pairs (n_tokens - 1, n_classes,
            n_classes), [this label, the next one].

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
            caller = f"{type(self).__name__}.predict_pair_marginals"
            chosen = pair_places(pairs, self.classes_.tolist(), caller)
        return object_array(self.posterior(X).pair_marginals(chosen))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens that are tagged right.

        Parameters
        ----------
        X : sequence of sentences
            Sentences of tokens.
        y : sequence of label sequences
            True labels.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weight of each sentence; its tokens have it each.

        Returns
        -------
        accuracy : float

        Raises
        ------
        ValueError
            If a sentence has more or fewer labels than tokens, a label is missing, a
            weight is negative or not finite, or no token has a positive weight.
        """
        return token_accuracy(self, X, y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def token_accuracy(tagger: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the share of tokens that a fitted tagger tags right."""
    check_is_fitted(tagger)
    caller = f"{type(tagger).__name__}.score"
    sentences = check_sentences(X, caller=caller)
    labels = check_labels(y, sentences, caller=caller)
    distinct_labels(labels, caller=caller)  # all of which have to be labels
    weight = _sentence_weights(sample_weight, len(labels), caller)
    size = np.array([len(tags) for tags in labels])
    if not (weight * size).sum() > 0:
        raise ValueError(f"{caller} needs a token of positive weight at least.")
    right = [
        sum(a == b for a, b in zip(found.tolist(), tags, strict=True))
        for found, tags in zip(tagger.predict(sentences), labels, strict=True)
    ]
    return float(weight @ np.array(right) / (weight @ size))


def _sentence_weights(values: Any, n: int, caller: str) -> np.ndarray:
    if values is None:
        return np.ones(n)
    name = f"The 'sample_weight' parameter of {caller}"
    try:
        weight = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must hold numbers. Got {type(values).__name__} that holds "
            "something else."
        ) from None
    if weight.shape != (n,):
        raise ValueError(
            f"{name} must have a weight for each of the {n} sentences. Got shape "
            f"{weight.shape}."
        )
    bad = ~((weight >= 0) & np.isfinite(weight))
    if bad.any():
        i = int(bad.argmax())
        raise ValueError(
            f"{name} must be finite and not negative. Got {weight[i]} for sentence {i}."
        )
    return weight


def pair_places(pairs: Any, classes: list[Any], caller: str) -> np.ndarray:
    """Return the places in `classes` of pairs of labels."""
    place = {label: i for i, label in enumerate(classes)}
    name = f"The 'pairs' parameter of {caller}"
    if not is_collection(pairs) or not hasattr(pairs, "__len__"):
        raise TypeError(
            f"{name} must be a list of (label, next label). Got {pairs!r:.50}."
        )
    found = np.empty((len(pairs), 2), dtype=np.intp)
    for i, pair in enumerate(pairs):
        if not is_sequence(pair) or len(pair) != 2:
            raise ValueError(
                f"{name} must be a list of (label, next label). Got {pair!r:.50} as "
                f"pair {i}."
            )
        for j, label in enumerate(pair):
            try:
                found[i, j] = place[label]
            except (KeyError, TypeError):
                raise ValueError(
                    f"{name} must hold labels of classes_, {classes!r:.200}. Got "
                    f"{label!r} in pair {i}."
                ) from None
    return found
