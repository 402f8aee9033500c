"""One temperature for a whole posterior, and for antecedents an offset of NEW."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._validation import check_same_length
from ..coref import SampledCorefPairs
from ..coref._ranker import log_proba_of_mention
from ..metrics._pairs import as_weights
from ..posteriors import AntecedentPosterior
from ..queries import last_step, transform_before
from ..scorers import is_coreference, is_tagger
from ..sequence._base import pair_places, token_accuracy
from ..sequence._sentences import check_fit, object_array
from ._antecedents import best_temperature_and_offset
from ._held_out import (
    HeldOut,
    cross_fit,
    final_estimator,
    fit_on,
    held_out,
    posterior_of,
)
from ._search import best_temperature, check_bounds, check_offset_bounds


def _final_has(name: str) -> Callable[[Any], bool]:
    """Return a check that the final estimator has a method."""

    def check(self: Any) -> bool:
        return hasattr(self._final(), name)

    return check


def _gives_marginals(self: Any) -> bool:
    """Return whether the final estimator is a tagger or a coreference model."""
    return is_tagger(self._final()) or is_coreference(self._final())


class TemperatureScaling(MetaEstimatorMixin, BaseEstimator):
    """Recalibrate a tagger or a coreference model by one temperature.

    All scores of the model are divided by a temperature: a tagging of probability p
    gets one in proportion to p to the power of 1 / temperature. More than 1 makes an
    overconfident model more modest, less than 1 a timid one more decided. The order of
    taggings stays, so the best one does; marginals of tags, pairs and spans are still
    those of one distribution.

    In coreference a structure is a clustering of a document's mentions, and a number is
    added to the score of NEW after the division: a model may be right about antecedents
    and yet find too many entities, or too few. It may change the best clustering.

    The temperature (and offset) is the one of the highest likelihood of true taggings
    or clusterings as wholes, on sentences or documents that the model did not see in
    training.

    Parameters
    ----------
    estimator : tagger or coreference model, or pipeline or search that ends in one
        For scores of antecedents from anywhere, a neural model say, take
        :class:`~skcalib.coref.SampledCorefPairs`, whose X they are. Or any estimator
        whose ``posterior(X)`` has a length, ``log_proba(structures)`` and
        ``tempered(temperature)``, where y holds the structures.
    cv : int, splitter, iterable of (train, test) or 'prefit', default=5
        Folds over sentences. A clone is fitted to each training part and asked about
        the test part; one temperature is fitted to all of these, and the estimator to
        all data. An int cuts the sentences in order, without shuffling. 'prefit': the
        estimator is fitted already, to other data, and the temperature is fitted to
        all of X, y; or wrap it in scikit-learn's FrozenEstimator, which survives
        cloning too.
    bounds : tuple of (float, float), default=(0.01, 100.0)
        Least and greatest temperature, with 1 among them or between.
    offset_bounds : tuple of (float, float), default=(-10.0, 10.0)
        Least and greatest offset of NEW, with 0 among them or between; for coreference
        only. With ``(0, 0)`` there is none, and the best antecedents stay.
    n_jobs : int, default=None
        Number of folds fitted at once, by joblib.
    verbose : int, default=0
        Print how far the folds are if positive, as joblib does.

    Attributes
    ----------
    temperature_ : float
        The temperature.
    new_offset_ : float
        What is added to the scores of NEW; for coreference only.
    estimator_ : estimator
        The estimator, fitted to all data.
    classes_ : ndarray of shape (n_classes,)
        Its labels, if it has any.
    log_likelihood_ : tuple of (float, float)
        Mean log probability of a held-out true tagging or clustering, before
        (temperature 1, offset 0) and after. It is never lower after.
    n_unreachable_ : int
        Number of held-out taggings or clusterings left out because the model gives them
        probability 0, which no temperature changes: a tag that the fold's training part
        lacks, a forbidden transition, a word impossible under counts without smoothing,
        a mention none of whose true antecedents is allowed.

    See Also
    --------
    skcalib.scorers.log_likelihood_scorer : Choose a penalty or pseudocount by
        likelihood, before or instead.
    skcalib.sequence.cross_val_marginals : Out-of-fold marginals, to recalibrate by
        other means.

    Notes
    -----
    The log likelihood of taggings is concave in 1 / temperature, so the optimum is
    unique. That of clusterings is concave in the offset at each temperature; a grid of
    temperatures finds the highest maximum, and a search its place. Where an optimum
    lies at an end of its bounds there is a ConvergenceWarning.

    For taggers `predict` is that of the estimator, untouched; but one with
    ``decoding="posterior"`` picks the best tag of each token by itself, and those may
    change. For coreference all methods are of the new scores: `transform` gives them
    (of SampledCorefPairs, the probabilities of pairs), `predict_proba` those pairs,
    and `score` is as that of the estimator.

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

    >>> import numpy as np
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

    Scores of antecedents that are twice too large, and too low for NEW:

    >>> from skcalib import SampledCorefPairs
    >>> from skcalib.datasets import make_coref_documents
    >>> _, y, scores = make_coref_documents(200, return_scores=True, random_state=0)
    >>> scores = [2 * (each - np.eye(len(each))) for each in scores]
    >>> model = TemperatureScaling(SampledCorefPairs(method="exact"))
    >>> model = model.fit(scores[:150], y[:150])
    >>> round(model.temperature_, 1), round(model.new_offset_, 1)
    (2.1, 1.0)
    >>> model.predict_proba(scores[150:])[0].shape
    (120,)
    """

    def __init__(
        self,
        estimator: Any,
        cv: Any = 5,
        *,
        bounds: Any = (0.01, 100.0),
        offset_bounds: Any = (-10.0, 10.0),
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.cv = cv
        self.bounds = bounds
        self.offset_bounds = offset_bounds
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> TemperatureScaling:
        """Fit the temperature, and the estimator unless it is fitted.

        Parameters
        ----------
        X : sequence of sentences, or what the estimator takes
            For coreference an entry a document.
        y : sequence of label sequences
            True tags, or true labels of mentions, where equal ones are one entity.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sentence or document, a frequency.
        groups : array-like of shape (n_samples,), default=None
            For group splitters: the document of each sentence, say.

        Returns
        -------
        self : TemperatureScaling
            The fitted estimator.
        """
        caller = "TemperatureScaling.fit"
        bounds = check_bounds(self.bounds)
        offsets = check_offset_bounds(self.offset_bounds)
        y = self._check_data(X, y, caller)
        weight = as_weights(sample_weight, len(y), caller=caller)
        if isinstance(self.cv, str) and self.cv == "prefit":
            estimator = self.estimator
            parts = [held_out(estimator, X, y, weight, np.arange(len(y)))]
        else:
            folds = self._folds(len(y), groups)
            parts = cross_fit(
                self.estimator, X, y, weight, folds, self.n_jobs, self.verbose
            )
            estimator = fit_on(clone(self.estimator), X, y, weight, None)
        n_unreachable = sum(part.n_unreachable for part in parts)
        total = sum(part.weight.sum() for part in parts)
        if total == 0:
            raise ValueError(
                f"{caller} needs a held-out structure of positive probability. All "
                f"{n_unreachable} have probability 0 under the estimator."
            )
        for name in ("new_offset_", "classes_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if _are_of_antecedents(parts):
            temperature, self.new_offset_, after, before = best_temperature_and_offset(
                parts, bounds, offsets
            )
        else:
            temperature, after, before = best_temperature(
                lambda t: sum(part.log_likelihood(t) for part in parts), *bounds
            )
        self.estimator_ = estimator
        self.temperature_ = temperature
        self.log_likelihood_ = (float(before / total), float(after / total))
        self.n_unreachable_ = n_unreachable
        if hasattr(last_step(estimator), "classes_"):
            self.classes_ = last_step(estimator).classes_
        return self

    def _check_data(self, X: Any, y: Any, caller: str) -> Any:
        """Return the structures; labels of a tagger as lists."""
        final = final_estimator(self.estimator)
        if not hasattr(final, "posterior"):
            raise TypeError(
                "The 'estimator' parameter of TemperatureScaling must have a posterior,"
                f" as taggers and AntecedentRanker do. Got {type(final).__name__}."
            )
        if hasattr(final, "predict_marginals"):
            return check_fit(X, y, caller=caller)[1]
        if y is None:
            raise ValueError(f"{caller} requires y to be passed. Got None.")
        check_same_length(caller, X=X, y=y)
        if len(y) == 0:
            raise ValueError(
                f"{caller} needs X and y with an entry at least. Got none."
            )
        return y

    def _folds(self, n: int, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the rows of the training and the test part of each fold."""
        rows = np.arange(n)
        folds = [
            (rows[train], rows[test])  # folds may be masks
            for train, test in check_cv(self.cv).split(rows, None, groups)
        ]
        if not folds:
            raise ValueError("The 'cv' parameter of TemperatureScaling gives no fold.")
        return folds

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
        posterior : LinearChainPosterior or AntecedentPosterior
            Or what the estimator's `posterior` gives.
        """
        check_is_fitted(self)
        posterior = posterior_of(self.estimator_, X)
        if hasattr(self, "new_offset_"):
            return posterior.tempered(self.temperature_, self.new_offset_)
        return posterior.tempered(self.temperature_)

    def _scores(self, X: Any) -> np.ndarray:
        """Return the new scores of antecedents."""
        return object_array(self.posterior(X).log_scores)

    def _pairs(self) -> SampledCorefPairs | None:
        """Return the final estimator if it is one that only reads scores."""
        final = self._final()
        final = final.estimator if isinstance(final, FrozenEstimator) else final
        return final if isinstance(final, SampledCorefPairs) else None

    def _reader(self) -> SampledCorefPairs:
        """Return what turns scores of antecedents into what the estimator gives."""
        return self._pairs() or SampledCorefPairs(method="exact")

    @available_if(_final_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict as the estimator does.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            The estimator's prediction, which the temperature does not change; with
            ``decoding="posterior"`` the tag of each token with the highest probability
            at the temperature. For coreference the clustering by the new scores.
        """
        check_is_fitted(self)
        if hasattr(self, "new_offset_"):
            return self._reader().predict(self._scores(X))
        if getattr(self._final(), "decoding", None) == "posterior":
            paths = self.posterior(X).posterior_decode()
            return object_array([self.classes_[path] for path in paths])
        return self.estimator_.predict(X)

    @available_if(_gives_marginals)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each tag, or of each pair of mentions.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence, with columns in
            the order of `classes_` and rows that sum to one. For coreference a
            condensed vector for each document, as `SampledCorefPairs` gives it.
        """
        check_is_fitted(self)
        if hasattr(self, "new_offset_"):
            return self._reader().predict_proba(self._scores(X))
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
        """Return the estimator's scores at the temperature and offset.

        Parameters
        ----------
        X : sequence
            What the estimator takes.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            An array of log scores for each sample. Of an estimator that gives
            probabilities of pairs, SampledCorefPairs, these.
        """
        check_is_fitted(self)
        if hasattr(self, "new_offset_"):
            pairs = self._pairs()
            scores = self._scores(X)
            return scores if pairs is None else pairs.transform(scores)
        before = transform_before(self.estimator_, X)
        scores = last_step(self.estimator_).transform(before)
        return object_array([np.asarray(each) / self.temperature_ for each in scores])

    @available_if(_gives_marginals)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens tagged right, or what the estimator scores.

        Parameters
        ----------
        X : sequence of sentences
            What the estimator takes.
        y : sequence of label sequences
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sentence or document; its tokens, mentions or pairs have it
            each.

        Returns
        -------
        score : float
            For a ranker the log probability of the true clusterings for each mention,
            for SampledCorefPairs minus the Brier score of pairs.
        """
        check_is_fitted(self)
        if hasattr(self, "new_offset_"):
            pairs = self._pairs()
            if pairs is not None:
                return pairs.score(self._scores(X), y, sample_weight)
            caller = f"{type(self).__name__}.score"
            return log_proba_of_mention(self.posterior(X), y, sample_weight, caller)
        return token_accuracy(self, X, y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "temperature_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _are_of_antecedents(parts: list[HeldOut]) -> bool:
    """Return whether the structures are clusterings by antecedents."""
    found = [part.posterior for part in parts if part.structures]
    return all(isinstance(posterior, AntecedentPosterior) for posterior in found)
