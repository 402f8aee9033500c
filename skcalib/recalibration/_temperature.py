"""One temperature for a whole posterior, and an offset of NEW for antecedents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import folds_of, parallel
from .._results import object_array
from .._validation import as_weights
from ..coref import SampledCorefPairs
from ..coref._ranker import log_proba_of_mention
from ..posteriors import AntecedentPosterior, LinearChainPosterior
from ..queries._query import final_estimator, last_step, posterior_of, transform_before
from ..sequence._base import check_structures, pair_places, token_accuracy
from ._held_out import cross_fit, fit_on, held_out
from ._likelihood import (
    Mentions,
    best_temperature,
    best_temperature_and_offset,
    check_bounds,
)

Bounds = tuple[float, float]


def _final_has(name: str) -> Callable[[Any], bool]:
    """Return a check that the final estimator has a method."""
    return lambda self: hasattr(self._final(), name)


def _gives_marginals(self: Any) -> bool:
    """Return whether the final estimator has a posterior and probabilities of parts."""
    final = self._final()
    return hasattr(final, "posterior") and (
        hasattr(final, "predict_marginals") or hasattr(final, "predict_proba")
    )


class TemperatureScaling(MetaEstimatorMixin, BaseEstimator):
    """Recalibrate a tagger or a coreference model with one temperature.

    All scores of the model are divided by a temperature. A tagging of probability p
    then has a probability proportional to p ** (1 / temperature). A temperature above 1
    corrects an overconfident model, and a temperature below 1 an underconfident one.
    The ranking of the taggings by probability does not change, and therefore the most
    probable tagging does not change. The probabilities of tags, pairs of tags and spans
    are still marginals of one distribution and agree with each other.

    For coreference, the structures are clusterings of the mentions of a document. After
    the division, an offset is added to the score of NEW (the mention starts a new
    entity), because a model that chooses the right antecedents may still find too many
    or too few entities. The offset may change the best clustering.

    The temperature and the offset maximise the likelihood of whole true taggings or
    clusterings, on sentences or documents that the model did not see in training. A
    prior keeps the temperature close to 1 if there are few of them.

    Parameters
    ----------
    estimator : tagger or coreference model, or pipeline or search that ends in one
        Estimator to recalibrate. For scores of antecedents from another source, for
        example a neural model, use :class:`~skcalib.coref.SampledCorefPairs` with these
        scores as X. Any other estimator can be used if its ``posterior(X)`` supports
        ``len`` and has the methods ``log_proba(structures)`` and
        ``tempered(temperature)``. In this case y contains the structures.
    cv : int, splitter, iterable of (train, test) or 'prefit', default=5
        Cross-validation splitting strategy for the sentences or documents. A clone of
        the estimator is fitted to each training part and applied to the test part. One
        temperature is then fitted to the predictions for all test parts, and the
        estimator is fitted to all data. An int is the number of folds of consecutive
        sentences or documents, without shuffling. With 'prefit', the estimator must
        already be fitted to other data, and the temperature is fitted to all of X and
        y. An estimator wrapped in scikit-learn's FrozenEstimator is not fitted again
        either. Unlike an estimator with 'prefit', it remains fitted when it is cloned.
    bounds : tuple of (float, float), default=(0.01, 100.0)
        Smallest and largest temperature, (low, high) with low <= 1 <= high.
    offset_bounds : tuple of (float, float), default=(-10.0, 10.0)
        Smallest and largest offset of NEW, (low, high) with low <= 0 <= high, used for
        coreference only. With ``(0, 0)`` there is no offset, and the best antecedents
        do not change.
    n_jobs : int, default=None
        Number of folds that joblib fits in parallel.
    verbose : int, default=0
        Verbosity of joblib. If positive, progress over the folds is printed.

    Attributes
    ----------
    temperature_ : float
        Fitted temperature.
    new_offset_ : float
        Fitted offset of the scores of NEW, for coreference only.
    estimator_ : estimator
        Estimator fitted to all data.
    classes_ : ndarray of shape (n_classes,)
        Labels of the estimator, if it has any.
    log_likelihood_ : tuple of (float, float)
        Mean log probability of a held-out true tagging or clustering before
        recalibration (temperature 1, offset 0) and after it. The second value is never
        lower than the first.
    n_unreachable_ : int
        Number of held-out taggings or clusterings that were left out because the model
        gives them probability 0 at every temperature. Possible causes are a tag that
        the fold's training part does not contain, a forbidden transition, a word that
        has probability 0 because counts are not smoothed, or a mention none of whose
        true antecedents is allowed.

    See Also
    --------
    skcalib.scorers.log_likelihood_scorer : Scorer to choose a penalty or pseudocount
        by likelihood.
    skcalib.sequence.cross_val_marginals : Out-of-fold marginals, to which other methods
        of recalibration can be fitted.

    Notes
    -----
    The log likelihood minus 8 abs(log(temperature)) is maximised. The second term is
    the logarithm of a Laplace prior. With few sentences, the temperature of maximum
    likelihood would make a calibrated model worse. With the prior, the temperature is
    exactly 1 unless the derivative of the log likelihood with respect to
    log(temperature) is above 8 or below -8 there. With hundreds of sentences, the prior
    has little influence. The offset has no prior.

    The log likelihood of taggings is concave in 1 / temperature, so the optimum is
    unique. The log likelihood of clusterings is concave in the offset at each
    temperature, but not in the temperature. A grid of temperatures finds the
    neighbourhood of the global maximum, and a search refines it. If the optimal
    temperature or offset is at one of its bounds, a ConvergenceWarning is issued.

    For taggers, `predict` returns the predictions of the estimator, which do not depend
    on the temperature. An exception is an estimator with ``decoding="posterior"``,
    which chooses the most probable tag of each token separately. The temperature may
    change these tags. For coreference, all methods use the new scores: `transform`
    returns the new scores (for SampledCorefPairs, the probabilities of pairs),
    `predict_proba` returns the probabilities of pairs, and `score` returns the
    estimator's own score, computed from the new scores.

    Weights multiply the log likelihoods of the sentences, but not the prior. They are
    passed to the estimator's `fit` if it accepts them.

    Isotonic or Platt calibration of the marginals of each tag does not keep the
    probabilities consistent: the probabilities of a token's tags no longer sum to one,
    and the probabilities of pairs of tags no longer sum to the probabilities of tags.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger (2017). "On calibration of
       modern neural networks". ICML.

    Examples
    --------
    An HMM with a pseudocount of 1 is underconfident:

    >>> import numpy as np
    >>> from skcalib import HMMTagger, TemperatureScaling
    >>> from skcalib.datasets import make_tagged_sentences
    >>> X, y = make_tagged_sentences(600, random_state=0)
    >>> model = TemperatureScaling(HMMTagger(1.0), cv=3).fit(X[:400], y[:400])
    >>> round(model.temperature_, 2)
    0.64
    >>> from skcalib.scorers import log_likelihood_scorer
    >>> round(log_likelihood_scorer(model.estimator_, X[400:], y[400:]), 1)
    -11.1
    >>> round(log_likelihood_scorer(model, X[400:], y[400:]), 1)
    -9.8

    Recalibrate scores of antecedents that are too large by a factor of 2 and too low
    for NEW:

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
        cv: int | str | BaseCrossValidator | Iterable[Any] = 5,
        *,
        bounds: tuple[float, float] = (0.01, 100.0),
        offset_bounds: tuple[float, float] = (-10.0, 10.0),
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.cv = cv
        self.bounds = bounds
        self.offset_bounds = offset_bounds
        self.n_jobs = n_jobs
        self.verbose = verbose

    @public
    def fit(
        self,
        X: Any,
        y: Sequence[Any],
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> TemperatureScaling:
        """Fit the estimator (unless it is already fitted) and the temperature.

        Parameters
        ----------
        X : sequence of sentences, or other input of the estimator
            Sentences, or for coreference one entry per document.
        y : sequence of label sequences
            True tags, or true labels of mentions. Mentions with equal labels form an
            entity.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight (frequency) of each sentence or document.
        groups : array-like of shape (n_samples,), default=None
            Groups for group splitters, for example the document of each sentence.

        Returns
        -------
        self : TemperatureScaling
            The fitted estimator.
        """
        bounds, offset_bounds = self._check_params()
        y = self._check_data(X, y)
        weight = as_weights(sample_weight, len(y))
        if isinstance(self.cv, str) and self.cv == "prefit":
            estimator = self.estimator
            parts = [held_out(estimator, X, y, weight, np.arange(len(y)))]
        else:
            folds = self._folds(len(y), groups)
            parts = parallel(self.n_jobs, self.verbose)(
                delayed(cross_fit)(self.estimator, X, y, weight, fold) for fold in folds
            )
            estimator = fit_on(clone(self.estimator), X, y, weight, None)
        n_unreachable = sum(part.n_unreachable for part in parts)
        total = sum(part.weight.sum() for part in parts)
        if total == 0:
            raise ParameterError(
                None,
                "needs a held-out structure of positive probability. All "
                f"{n_unreachable} have probability 0 under the estimator.",
            )
        for name in ("new_offset_", "classes_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        found = [part.posterior for part in parts if part.structures]
        if all(isinstance(posterior, AntecedentPosterior) for posterior in found):
            mentions = Mentions(each for part in parts for each in part.documents())
            temperature, new_offset, after, before = best_temperature_and_offset(
                mentions, bounds, offset_bounds
            )
            self.new_offset_: float = new_offset
        else:
            temperature, after, before = best_temperature(
                lambda t: sum(part.log_likelihood(t) for part in parts), *bounds
            )
        self.estimator_ = estimator
        self.temperature_ = temperature
        self.log_likelihood_: tuple[float, float] = (
            float(before / total),
            float(after / total),
        )
        self.n_unreachable_: int = n_unreachable
        if hasattr(last_step(estimator), "classes_"):
            self.classes_: np.ndarray = last_step(estimator).classes_
        return self

    @public
    def _check_params(self) -> tuple[Bounds, Bounds]:
        return (
            check_bounds(self.bounds),
            check_bounds(self.offset_bounds, "offset_bounds"),
        )

    def _is_of_clusterings(self) -> bool:
        """Return whether the posterior is over clusterings, not taggings."""
        check_is_fitted(self)
        return hasattr(self, "new_offset_")

    def _posterior(self, X: Any) -> Any:
        """Return the posterior at the temperature and the offset."""
        offset = (self.new_offset_,) if self._is_of_clusterings() else ()
        return posterior_of(self.estimator_, X).tempered(self.temperature_, *offset)

    def _scores(self, X: Any) -> np.ndarray:
        """Return the new scores of antecedents."""
        return object_array(self._posterior(X).log_scores)

    def _pairs(self) -> SampledCorefPairs | None:
        """Return the final estimator if it only converts scores to probabilities."""
        final = last_step(self.estimator_)
        final = final.estimator if isinstance(final, FrozenEstimator) else final
        return final if isinstance(final, SampledCorefPairs) else None

    def _reader(self) -> SampledCorefPairs:
        """Return the estimator that converts scores to probabilities of pairs."""
        return self._pairs() or SampledCorefPairs(method="exact")

    def _check_data(self, X: Any, y: Any) -> Any:
        """Return the structures. For a tagger, these are lists of labels."""
        final = final_estimator(self.estimator)
        if not hasattr(final, "posterior"):
            raise ParameterTypeError(
                "estimator",
                "must have a posterior method, like taggers and AntecedentRanker. Got "
                f"{type(final).__name__}. Recalibrate a LinearChainPosterior with "
                "fit_temperature, and a classifier with CalibratedClassifierCV.",
                "TemperatureScaling",
            )
        return check_structures(final, X, y)

    @public
    def _folds(self, n: int, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the rows of the training and the test part of each fold."""
        return folds_of(self.cv, np.arange(n), groups, "rows")

    def _final(self) -> Any:
        """Return the final estimator, fitted if `fit` was called."""
        return final_estimator(getattr(self, "estimator_", self.estimator))

    def posterior(self, X: Any) -> LinearChainPosterior | AntecedentPosterior:
        """Return the posterior at the fitted temperature.

        Parameters
        ----------
        X : sequence of sentences
            Input of the estimator.

        Returns
        -------
        posterior : LinearChainPosterior or AntecedentPosterior
            Posterior at the fitted temperature. For other estimators, an object of the
            type of their posterior.
        """
        return self._posterior(X)

    @available_if(_final_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict taggings or clusterings.

        Parameters
        ----------
        X : sequence of sentences
            Input of the estimator.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Prediction of the estimator, which the temperature does not change. With
            ``decoding="posterior"``, the most probable tag of each token at the fitted
            temperature. For coreference, the clustering predicted from the new scores.
        """
        if self._is_of_clusterings():
            return self._reader().predict(self._scores(X))
        if getattr(last_step(self.estimator_), "decoding", None) != "posterior":
            return self.estimator_.predict(X)
        classes = np.asarray(self.classes_)
        paths = self._posterior(X).posterior_decode()
        return object_array([classes[path].tolist() for path in paths])

    @available_if(_gives_marginals)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each tag, or of each pair of mentions.

        Parameters
        ----------
        X : sequence of sentences
            Input of the estimator.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence, with columns in
            the order of `classes_` and rows that sum to one. For coreference, a
            condensed vector for each document, as from `SampledCorefPairs`.
        """
        if self._is_of_clusterings():
            return self._reader().predict_proba(self._scores(X))
        return object_array(self._posterior(X).token_marginals())

    @available_if(_final_has("predict_marginals"))
    def predict_marginals(self, X: Any) -> np.ndarray:
        """Return the probability of each tag at each token, like :meth:`predict_proba`.

        Parameters
        ----------
        X : sequence of sentences
            Input of the estimator.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            An array of shape (n_tokens, n_classes) for each sentence.
        """
        return self.predict_proba(X)

    @available_if(_final_has("predict_pair_marginals"))
    @public
    def predict_pair_marginals(
        self, X: Any, pairs: Sequence[tuple[Any, Any]] | None = None
    ) -> np.ndarray:
        """Return the probability of pairs of tags at consecutive tokens.

        Parameters
        ----------
        X : sequence of sentences
            Input of the estimator.
        pairs : sequence of (label, label), default=None
            Labels of a token and of the next token. If None, all pairs are returned.

        Returns
        -------
        proba : ndarray of shape (n_sentences,), object
            One array per sentence, of shape (n_tokens - 1, n_pairs). If `pairs` is
            None, the shape is (n_tokens - 1, n_classes, n_classes), with indices
            [token, label, next label].
        """
        check_is_fitted(self)
        chosen = pair_places(pairs, np.asarray(self.classes_).tolist())
        return object_array(self._posterior(X).pair_marginals(chosen))

    @available_if(_final_has("transform"))
    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of the estimator at the fitted temperature and offset.

        Parameters
        ----------
        X : sequence
            Input of the estimator.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            One array of log scores per sample. For SampledCorefPairs, one array of
            probabilities of pairs per sample.
        """
        if self._is_of_clusterings():
            pairs, scores = self._pairs(), self._scores(X)
            return scores if pairs is None else pairs.transform(scores)
        before = transform_before(self.estimator_, X)
        found = last_step(self.estimator_).transform(before)
        return object_array([np.asarray(each) / self.temperature_ for each in found])

    @available_if(_gives_marginals)
    @public
    def score(
        self, X: Any, y: Sequence[Any], sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy of the tags, or the score of a coreference model.

        Parameters
        ----------
        X : sequence of sentences
            Input of the estimator.
        y : sequence of label sequences
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sentence or document. Each of its tokens, mentions or pairs
            has this weight.

        Returns
        -------
        score : float
            Share of tokens with the right tag. For a ranker, the log probability of the
            true clusterings per mention; for SampledCorefPairs, the negated Brier score
            of pairs.
        """
        if not self._is_of_clusterings():
            return token_accuracy(self, X, y, sample_weight)
        pairs = self._pairs()
        if pairs is not None:
            return pairs.score(self._scores(X), y, sample_weight)
        return log_proba_of_mention(self._posterior(X), y, sample_weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "temperature_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags
