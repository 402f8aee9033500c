"""The scorer of the log likelihood, for classifiers, taggers and coreference models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError
from .._validation import as_label_lists, as_weights
from ..queries import Answers, answer_pairs, last_step, transform_before
from ._ask import is_coreference, is_tagger
from ._query_scorers import QueryScorer


class LogLikelihoodScorer(QueryScorer):
    """Scorer of the mean log probability of the truth; greater is better.

    ``log_likelihood_scorer(estimator, X, y, *, sample_weight=None)`` -> float. The
    score is at most 0, and it is not negated.

    For classifiers, the truth is the label of a sample. For taggers, it is the tagging
    of a sentence. For coreference models, it is the clustering of the mentions of a
    document. Probabilities are clipped at machine epsilon per token or mention.
    """

    def __init__(self) -> None:
        super().__init__(_log_likelihood, None, True, {}, "log_likelihood_scorer")
        self.__name__ = "log_likelihood"

    def _score(
        self, estimator: Any, X: Any, y_true: Any, sample_weight: ArrayLike | None
    ) -> float:
        if is_tagger(estimator):
            y_true = as_label_lists(y_true, name="y_true")
            of_samples = _tagging_log_proba
        elif is_coreference(estimator):
            of_samples = _clustering_log_proba
        else:
            return super()._score(estimator, X, y_true, sample_weight)
        if len(y_true) == 0:
            raise ParameterError("y_true", "is empty.")
        weight = as_weights(sample_weight, len(y_true))
        log_proba = of_samples(estimator, X, y_true)
        return float(np.average(log_proba, weights=weight))


def _log_likelihood(answers: Answers, weight: np.ndarray | None) -> float:
    """Return the mean log probability of the true labels of samples."""
    pairs = answer_pairs(answers, weight)
    if pairs.n_classes > 1:  # the pair of the true class has the probability
        truth = pairs.positive_q.astype(np.float64)
    else:
        q = pairs.q.astype(np.float64)
        truth = np.where(pairs.indicator(), q, 1 - q)
    eps = np.finfo(pairs.q.dtype).eps  # as in sklearn.metrics.log_loss
    return float(np.average(np.log(np.clip(truth, eps, 1)), weights=pairs.row_weight))


def _tagging_log_proba(estimator: Any, X: Any, y_true: Any) -> np.ndarray:
    """Return the log probability of each sentence's true tagging.

    A tagging of probability 0, for example with a tag that the model never saw, counts
    as machine epsilon for each token.
    """
    tagger = last_step(estimator)
    if not hasattr(tagger, "posterior"):
        raise ParameterTypeError(
            "estimator",
            f"must be a tagger with a posterior. Got {type(tagger).__name__}.",
        )
    posterior = tagger.posterior(transform_before(estimator, X))
    lengths = [len(tags) for tags in y_true]
    index = {label: k for k, label in enumerate(np.asarray(tagger.classes_).tolist())}
    known = [all(label in index for label in tags) for tags in y_true]
    # The probability of a sentence with an unknown tag is not used.
    paths = [[index.get(label, 0) for label in tags] for tags in y_true]
    least = np.array(lengths) * np.log(np.finfo(np.float64).eps)
    return np.where(known, np.maximum(posterior.log_proba(paths), least), least)


def _clustering_log_proba(estimator: Any, X: Any, y_true: Any) -> np.ndarray:
    """Return the log probability of each document's true clustering.

    A clustering of probability 0 counts as machine epsilon for each mention.
    """
    posterior = last_step(estimator).posterior(transform_before(estimator, X))
    least = posterior.lengths * np.log(np.finfo(np.float64).eps)
    return np.maximum(posterior.log_proba(y_true), least)


log_likelihood_scorer = LogLikelihoodScorer()
