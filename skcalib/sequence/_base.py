"""What every tagger can do once it has scores: predict, give probabilities, score."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._validation import check_choice
from ..posteriors import LinearChainPosterior
from ._sentences import check_labels, check_sentences, object_array


class BaseTagger(BaseEstimator):
    """Base of taggers; a subclass has `fit`, `classes_` and `_posterior`.

    There is no ClassifierMixin: scikit-learn would take ragged labels for a
    classifier's, and break in cross-validation.
    """

    decoding: str
    classes_: np.ndarray

    def _posterior(self, sentences: list[Any]) -> LinearChainPosterior:
        raise NotImplementedError

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
        check_choice(
            self.decoding,
            ("viterbi", "posterior"),
            name="decoding",
            caller=type(self).__name__,
        )
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
        """
        check_is_fitted(self)
        caller = f"{type(self).__name__}.score"
        sentences = check_sentences(X, caller=caller)
        labels = check_labels(y, sentences, caller=caller)
        weight = np.ones(len(labels))
        if sample_weight is not None:
            weight = np.asarray(sample_weight, dtype=float)
            if weight.shape != (len(labels),):
                raise ValueError(
                    f"The 'sample_weight' parameter of {caller} must have a weight for "
                    f"each of the {len(labels)} sentences. Got shape {weight.shape}."
                )
            if not ((weight >= 0) & np.isfinite(weight)).all():
                raise ValueError(
                    f"The 'sample_weight' parameter of {caller} must be finite and not "
                    f"negative. Got {weight.min()} at the least."
                )
        size = np.array([len(tags) for tags in labels])
        if not (weight * size).sum() > 0:
            raise ValueError(f"{caller} needs a token of positive weight at least.")
        right = [
            sum(a == b for a, b in zip(found.tolist(), tags, strict=True))
            for found, tags in zip(self.predict(sentences), labels, strict=True)
        ]
        return float(weight @ np.array(right) / (weight @ size))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags
