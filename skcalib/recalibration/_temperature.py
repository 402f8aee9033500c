"""One temperature for a whole posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._validation import check_real, check_same_length
from ..metrics._pairs import as_weights
from ..queries import last_step, transform_before
from ..sequence._base import pair_places, token_accuracy
from ..sequence._sentences import check_fit, object_array
from ._held_out import HeldOut, final_estimator, fit_on, held_out, posterior_of
from ._search import best_temperature


def _final_has(name: str) -> Callable[[Any], bool]:
    """Return a check that the final estimator has a method."""

    def check(self: Any) -> bool:
        return hasattr(self._final(), name)

    return check


class TemperatureScaling(MetaEstimatorMixin, BaseEstimator):
    """Recalibrate a tagger by one temperature for its whole posterior.

    All scores of the model are divided by a temperature: a tagging of probability p
    gets one in proportion to p to the power of 1 / temperature. More than 1 makes an
    overconfident model more modest, less than 1 a timid one more decided. The order of
    taggings stays, so the best one does; marginals of tags, pairs and spans are still
    those of one distribution.

    The temperature is the one of the highest likelihood of true taggings as wholes, on
    sentences that the model did not see in training.

    Parameters
    ----------
    estimator : tagger, or pipeline or search that ends in one
        Or any estimator whose ``posterior(X)`` has a length, ``log_proba(structures)``
        and ``tempered(temperature)``, where y holds the structures.
    cv : int, splitter, iterable of (train, test) or 'prefit', default=5
        Folds over sentences. A clone is fitted to each training part and asked about
        the test part; one temperature is fitted to all of these, and the estimator to
        all data. An int cuts the sentences in order, without shuffling. 'prefit': the
        estimator is fitted already, to other data, and the temperature is fitted to
        all of X, y; or wrap it in scikit-learn's FrozenEstimator, which survives
        cloning too.
    bounds : tuple of (float, float), default=(0.01, 100.0)
        Least and greatest temperature, with 1 among them or between.
    n_jobs : int, default=None
        Number of folds fitted at once, by joblib.

    Attributes
    ----------
    temperature_ : float
        The temperature.
    estimator_ : estimator
        The estimator, fitted to all data.
    classes_ : ndarray of shape (n_classes,)
        Its labels, if it has any.
    log_likelihood_ : tuple of (float, float)
        Mean log probability of a held-out true tagging, before (temperature 1) and
        after. It is never lower after.
    n_unreachable_ : int
        Number of held-out taggings left out because the model gives them probability
        0, which no temperature changes: a tag that the fold's training part lacks, a
        forbidden transition, a word impossible under counts without smoothing.

    See Also
    --------
    skcalib.scorers.log_likelihood_scorer : Choose a penalty or pseudocount by
        likelihood, before or instead.
    skcalib.sequence.cross_val_marginals : Out-of-fold marginals, to recalibrate by
        other means.

    Notes
    -----
    The log likelihood is concave in 1 / temperature, so the optimum is unique. Where
    it lies at an end of `bounds` there is a ConvergenceWarning.

    `predict` is that of the estimator, untouched; but a tagger with
    ``decoding="posterior"`` picks the best tag of each token by itself, and those may
    change.

    Weights multiply the log likelihood of a sentence, and go to the estimator's `fit`
    if it takes them.

    Probabilities by isotonic or Platt's calibration of each tag's marginals no longer
    sum to one, and those of pairs of tags no longer sum to those of tags.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Weinberger (2017). "On calibration of modern
       neural networks". ICML.

    Examples
    --------
    Counts with a pseudocount of 1 are timid:

    >>> from skcalib import HMMTagger, TemperatureScaling
    >>> from skcalib.datasets import make_tagged_sentences
    >>> X, y = make_tagged_sentences(600, random_state=0)
    >>> model = TemperatureScaling(HMMTagger(), cv=3).fit(X[:400], y[:400])
    >>> round(model.temperature_, 2)
    0.64
    >>> from skcalib.scorers import log_likelihood_scorer
    >>> round(log_likelihood_scorer(model.estimator_, X[400:], y[400:]), 1)
    -11.1
    >>> round(log_likelihood_scorer(model, X[400:], y[400:]), 1)
    -9.8
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        bounds: Any = (0.01, 100.0),
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.cv = cv
        self.bounds = bounds
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> TemperatureScaling:
        """Fit the temperature, and the estimator unless it is fitted.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.
        y : sequence of label sequences
            True taggings.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weight of each sentence, a frequency.
        groups : array-like of shape (n_sentences,), default=None
            For group splitters: the document of each sentence, say.

        Returns
        -------
        self : TemperatureScaling
            The fitted estimator.
        """
        caller = "TemperatureScaling.fit"
        low, high = self._check_bounds()
        y = self._check_data(X, y, caller)
        weight = as_weights(sample_weight, len(y), caller=caller)
        if isinstance(self.cv, str) and self.cv == "prefit":
            parts = [held_out(self.estimator, X, y, weight, np.arange(len(y)))]
            estimator = self.estimator
        else:
            parts = self._cross_fit(X, y, weight, groups)
            estimator = fit_on(clone(self.estimator), X, y, weight, None)
        n_unreachable = sum(part.n_unreachable for part in parts)
        total = sum(part.weight.sum() for part in parts)
        if total == 0:
            raise ValueError(
                f"{caller} needs a held-out structure of positive probability. All "
                f"{n_unreachable} have probability 0 under the estimator."
            )
        temperature, after, before = best_temperature(
            lambda t: sum(part.log_likelihood(t) for part in parts), low, high
        )
        self.estimator_ = estimator
        self.temperature_ = temperature
        self.log_likelihood_ = (float(before / total), float(after / total))
        self.n_unreachable_ = n_unreachable
        if hasattr(last_step(estimator), "classes_"):
            self.classes_ = last_step(estimator).classes_
        return self

    def _check_bounds(self) -> tuple[float, float]:
        name = "The 'bounds' parameter of TemperatureScaling"
        if not isinstance(self.bounds, (tuple, list)) or len(self.bounds) != 2:
            raise ValueError(
                f"{name} must be two temperatures (low, high). Got {self.bounds!r}."
            )
        low, high = (
            check_real(
                bound, low=1e-6, high=1e6, name="bounds", caller=type(self).__name__
            )
            for bound in self.bounds
        )
        if not low <= 1 <= high or low == high:
            raise ValueError(
                f"{name} must have 1 between them, low < high. Got {self.bounds!r}."
            )
        return low, high

    def _check_data(self, X: Any, y: Any, caller: str) -> Any:
        """Return the structures; labels of a tagger as lists."""
        final = self._final()
        if not hasattr(final, "posterior"):
            raise TypeError(
                "The 'estimator' parameter of TemperatureScaling must have a posterior,"
                f" as HMMTagger and CRFTagger do. Got {type(final).__name__}."
            )
        if hasattr(final, "predict_marginals"):
            return check_fit(X, y, caller=caller)[1]
        if y is None:
            raise ValueError(f"{caller} requires y to be passed. Got None.")
        check_same_length(caller, X=X, y=y)
        return y

    def _cross_fit(
        self, X: Any, y: Any, weight: np.ndarray | None, groups: Any
    ) -> list[HeldOut]:
        """Return the held-out part of each fold."""
        rows = np.arange(len(y))
        folds = [
            (rows[train], rows[test])  # folds may be masks
            for train, test in check_cv(self.cv).split(rows, None, groups)
        ]
        if not folds:
            raise ValueError("The 'cv' parameter of TemperatureScaling gives no fold.")
        return Parallel(n_jobs=self.n_jobs)(
            delayed(_cross_fit_fold)(clone(self.estimator), X, y, weight, *fold)
            for fold in folds
        )

    def _final(self) -> Any:
        """Return the tagger itself, fitted where it is."""
        return final_estimator(getattr(self, "estimator_", self.estimator))

    def posterior(self, X: Any) -> Any:
        """Return the posterior at the temperature.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.

        Returns
        -------
        posterior : LinearChainPosterior
            Or what the estimator's `posterior` gives.
        """
        check_is_fitted(self)
        return posterior_of(self.estimator_, X).tempered(self.temperature_)

    @available_if(_final_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict as the estimator does.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.

        Returns
        -------
        y : ndarray of shape (n_sentences,), object
            The estimator's prediction, which the temperature does not change; with
            ``decoding="posterior"`` the tag of each token with the highest probability
            at the temperature.
        """
        check_is_fitted(self)
        if getattr(self._final(), "decoding", None) == "posterior":
            paths = self.posterior(X).posterior_decode()
            return object_array([self.classes_[path] for path in paths])
        return self.estimator_.predict(X)

    @available_if(_final_has("predict_marginals"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each tag at each token, at the temperature.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence, with columns in
            the order of `classes_` and rows that sum to one.
        """
        return object_array(self.posterior(X).token_marginals())

    @available_if(_final_has("predict_marginals"))
    def predict_marginals(self, X: Any) -> np.ndarray:
        """Return the probability of each tag at each token, as :meth:`predict_proba`.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence.
        """
        return self.predict_proba(X)

    @available_if(_final_has("predict_pair_marginals"))
    def predict_pair_marginals(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Return the probability of pairs of tags at tokens in a row.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.
        pairs : sequence of (label, label), default=None
            Labels of a token and of the next one. None: all pairs.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array for each sentence, of shape (n_tokens - 1, n_pairs), or for all
            pairs (n_tokens - 1, n_classes, n_classes), [this label, the next one].
        """
        check_is_fitted(self)
        chosen = None
        if pairs is not None:
            caller = "TemperatureScaling.predict_pair_marginals"
            chosen = pair_places(pairs, self.classes_.tolist(), caller)
        return object_array(self.posterior(X).pair_marginals(chosen))

    @available_if(_final_has("transform"))
    def transform(self, X: Any) -> np.ndarray:
        """Return the estimator's scores, divided by the temperature.

        Parameters
        ----------
        X : sequence
            What the estimator takes.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            An array of log scores for each sample.
        """
        check_is_fitted(self)
        before = transform_before(self.estimator_, X)
        scores = last_step(self.estimator_).transform(before)
        return object_array([np.asarray(each) / self.temperature_ for each in scores])

    @available_if(_final_has("predict_marginals"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens that are tagged right.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.
        y : sequence of label sequences
            True labels.
        sample_weight : array-like of shape (n_sentences,), default=None
            Weight of each sentence; its tokens have it each.

        Returns
        -------
        accuracy : float
        """
        return token_accuracy(self, X, y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "temperature_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _cross_fit_fold(
    estimator: Any,
    X: Any,
    y: Any,
    weight: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
) -> HeldOut:
    """Return what an estimator fitted to the training part holds of the test part."""
    return held_out(fit_on(estimator, X, y, weight, train), X, y, weight, test)
