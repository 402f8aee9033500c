"""Scorers that put a query to an estimator and a metric to its answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import (
    UNCHANGED,
    MetadataRequest,
    get_routing_for_object,
)

from .._validation import check_choice
from ..metrics import calibration_error
from ..metrics._binning import Binning, check_binning
from ..metrics._error import error_of_pairs
from ..metrics._norms import check_norm
from ..metrics._pairs import as_weights
from ..queries import (
    Answers,
    ClassQuery,
    CorefPairQuery,
    TagQuery,
    answer_pairs,
    last_step,
    transform_before,
)
from ..queries._sentences import check_tags

# Parameters of calibration_error that the data decide, and that the query has.
_OF_THE_DATA = ("y_true", "y_proba", "labels", "sample_weight", "groups")
_OF_THE_QUERY = ("multi_class", "pos_label")


def is_tagger(estimator: Any) -> bool:
    """Return whether an estimator gives probabilities of tags in sequences."""
    return hasattr(last_step(estimator), "predict_marginals")


def is_coreference(estimator: Any) -> bool:
    """Return whether an estimator gives probabilities of pairs of mentions."""
    final = last_step(estimator)
    has_both = hasattr(final, "posterior") and hasattr(final, "predict_proba")
    return has_both and not is_tagger(final)


def default_query(estimator: Any, **params: Any) -> Any:
    """Return the query that fits a kind of estimator."""
    for fits, query in ((is_tagger, TagQuery), (is_coreference, CorefPairQuery)):
        if fits(estimator):
            if params:
                raise ValueError(
                    f"{sorted(params)} are for classifiers, not for "
                    f"{type(estimator).__name__}. Pass a {query.__name__} with 'query'."
                )
            return query()
    # scikit-learn complains of objects without tags, each version in its own way
    if hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator):
        return ClassQuery(**params)
    raise ValueError(
        f"No query is known for {type(estimator).__name__}, which is not a classifier, "
        "a tagger or a coreference model. Pass one with the 'query' parameter."
    )


def check_query(query: Any, *, caller: str) -> None:
    """Raise unless `query` is one, or None for the one that fits."""
    if isinstance(query, type) or not (query is None or callable(query)):
        raise TypeError(
            f"The 'query' parameter of {caller} must be a query such as TagQuery(), or "
            f"None. Got {query!r}."
        )


def ask(
    estimator: Any, X: Any, y: Any, query: Any, *, caller: str, **params: Any
) -> Answers:
    """Return an estimator's answers to a query, of None to the one that fits it.

    `params` are for the query that fits it.
    """
    check_query(query, caller=caller)
    query = default_query(estimator, **params) if query is None else query
    answers = query(estimator, X, y)
    if not isinstance(answers, Answers):
        raise TypeError(
            f"The 'query' parameter of {caller} must return Answers. Got "
            f"{type(answers).__name__} of {query!r}."
        )
    return answers


class QueryScorer:
    """Score the answers of an estimator to a query.

    `metric` is called with the answers, the weight of each sample (or None), and
    `params`; `query_params` are for the query that fits the estimator, where none is
    given; `shown` are the settings for the repr.
    """

    def __init__(
        self,
        metric: Callable[..., float],
        query: Any,
        greater_is_better: bool,
        params: dict[str, Any],
        name: str,
        query_params: dict[str, Any] | None = None,
        shown: dict[str, Any] | None = None,
    ):
        self._metric = metric
        self._query = query
        self._sign = 1 if greater_is_better else -1
        self._params = params
        self._name = name
        self._query_params = query_params or {}
        self._shown = params if shown is None else shown
        self._request = MetadataRequest(owner=name)
        self._request.score.add_request(param="sample_weight", alias=None)

    def __call__(
        self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None
    ) -> float:
        """Return the score of a fitted estimator, greater for better.

        Parameters
        ----------
        estimator : fitted estimator
            What is asked.
        X : array-like
            Samples.
        y_true : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample; every pair of the sample gets it.

        Returns
        -------
        score : float
        """
        answers = ask(
            estimator, X, y_true, self._query, caller=self._name, **self._query_params
        )
        weight = as_weights(sample_weight, len(y_true), caller=self._name)
        score = self._metric(answers, weight, **self._params)
        if np.ndim(score) != 0:
            raise TypeError(
                f"The metric of {self._name} must return a number. Got "
                f"{type(score).__name__} of shape {np.shape(score)}."
            )
        return self._sign * float(score)

    def set_score_request(
        self, *, sample_weight: bool | str | None = UNCHANGED
    ) -> QueryScorer:
        """Request `sample_weight` by metadata routing.

        Parameters
        ----------
        sample_weight : bool, str or None
            True to request it, False not to, a str for an alias.

        Returns
        -------
        self : object
            The scorer.
        """
        if sample_weight != UNCHANGED:
            self._request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that this scorer asks for."""
        return get_routing_for_object(self._request)

    def _accept_sample_weight(self) -> bool:
        # scikit-learn asks this of every scorer where routing is off.
        return True

    def __repr__(self) -> str:
        settings = dict(self._shown)
        if self._query is not None:
            settings = {"query": self._query, **settings}
        inside = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        return f"{self._name}({inside})"


class _PairMetric:
    """A metric of (y_true, y_proba) as one of answers; picklable."""

    def __init__(self, score_func: Callable[..., float]):
        self.score_func = score_func

    def __call__(
        self, answers: Answers, weight: np.ndarray | None, **params: Any
    ) -> float:
        if weight is not None:
            params["sample_weight"] = weight[answers.groups]
        return self.score_func(answers.y_true, answers.y_proba, **params)


def make_query_scorer(
    score_func: Callable[..., float],
    *,
    query: Any = None,
    greater_is_better: bool = True,
    **params: Any,
) -> Any:
    """Make a scorer from a metric on pairs of truth and probability.

    Parameters
    ----------
    score_func : callable
        ``score_func(y_true, y_proba, **params)`` -> float, where y_true is 0 or 1; also
        called with ``sample_weight=`` where weights are given.
    query : query object, default=None
        What the estimator is asked, such as :class:`~skcalib.queries.ClassQuery`. None
        takes the query that fits the estimator.
    greater_is_better : bool, default=True
        False negates the metric, so that the greater score is the better one.
    **params
        Passed to `score_func`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, *, sample_weight=None)`` -> float. It takes part in
        metadata routing: ``scorer.set_score_request(sample_weight=True)``.

    See Also
    --------
    make_calibration_scorer : The scorer of the calibration error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import brier_score_loss
    >>> from sklearn.model_selection import cross_val_score
    >>> from skcalib.scorers import make_query_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_query_scorer(brier_score_loss, greater_is_better=False)
    >>> model = LogisticRegression(max_iter=1000)
    >>> round(float(cross_val_score(model, X, y, scoring=scorer).mean()), 2)
    -0.02
    """
    if not callable(score_func):
        raise TypeError(
            "The 'score_func' parameter of make_query_scorer must be callable. "
            f"Got {score_func!r} instead."
        )
    check_query(query, caller="make_query_scorer")
    inner = getattr(score_func, "func", score_func)  # of a functools.partial
    name = getattr(inner, "__name__", type(inner).__name__)
    return QueryScorer(
        _PairMetric(score_func), query, greater_is_better, params, f"{name}_scorer"
    )


def _answers_error(
    answers: Answers,
    weight: np.ndarray | None,
    *,
    binning: Binning,
    by_class: bool,
    **norm_params: Any,
) -> float:
    """Return the error of the answers, or its mean over what was asked for."""
    errors = [
        error_of_pairs(
            answer_pairs(part, weight),
            binning,
            **norm_params,
            caller="make_calibration_scorer",
        )
        for part in (_parts_by_label(answers) if by_class else [answers])
    ]
    return float(np.mean(errors))


def _parts_by_label(answers: Answers) -> list[Answers]:
    _, code = np.unique(answers.label, return_inverse=True)
    return [answers.take(code == k) for k in range(code.max() + 1)]


def make_calibration_scorer(query: Any = None, **params: Any) -> Any:
    """Make a scorer of the calibration error, negated so that greater is better.

    Parameters
    ----------
    query : query object, default=None
        What the estimator is asked; None takes the query that fits it.
    **params
        Parameters of :func:`~skcalib.metrics.calibration_error`: `bin_size`, `n_bins`,
        `strategy`, `norm`, `squared`, `debias`, and for classifiers without a query
        `multi_class` ('pooled', 'top_label', 'class_wise') and `pos_label`. With
        `debias`, pairs of one sample are taken as dependent.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, *, sample_weight=None)`` -> float, at most 0 (but for
        `squared` with `debias`).

    See Also
    --------
    calibration_error_scorer : The scorer with all defaults.

    Examples
    --------
    Choose a regularisation by calibration:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skcalib.scorers import make_calibration_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> grid = {"logisticregression__C": [0.001, 1]}
    >>> search = GridSearchCV(
    ...     model, grid, scoring=make_calibration_scorer(bin_size=20, debias=True)
    ... )
    >>> search.fit(X, y).best_params_
    {'logisticregression__C': 1}
    """
    caller = "make_calibration_scorer"
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(calibration_error).parameters.items()
        if name not in _OF_THE_DATA
    }
    unknown = sorted(set(params) - set(defaults))
    if unknown:
        raise TypeError(
            f"{caller} got the parameter {unknown[0]!r}. It passes on "
            f"{', '.join(sorted(defaults))}; labels, weights and groups are the data's."
        )
    query_params = {key: params[key] for key in _OF_THE_QUERY if key in params}
    if query is not None and query_params:
        raise ValueError(
            f"{caller} got {sorted(query_params)} beside a query. Set them in the "
            "query."
        )
    check_query(query, caller=caller)
    settings = {**defaults, **params}
    norm = {key: settings[key] for key in ("norm", "squared", "debias")}
    check_norm(**norm, caller=caller)
    binning = check_binning(
        *(settings[key] for key in ("bin_size", "n_bins", "strategy")), caller=caller
    )
    if norm["debias"] and binning.bin_size == 1:
        raise ValueError(f"debias=True of {caller} needs a 'bin_size' of 2 or more.")
    if settings["multi_class"] is not None:
        kinds = ("pooled", "top_label", "class_wise")
        check_choice(settings["multi_class"], kinds, name="multi_class", caller=caller)
    by_class = settings["multi_class"] == "class_wise"
    if by_class:
        query_params["multi_class"] = "pooled"
    ClassQuery(**query_params)  # a wrong setting is better found here than in each fold
    return QueryScorer(
        _answers_error,
        query,
        False,
        {"binning": binning, "by_class": by_class, **norm},
        caller,
        query_params,
        params,
    )


def _log_likelihood(answers: Answers, weight: np.ndarray | None) -> float:
    """Return the mean log probability of what is true, a sample."""
    y, q = answers.y_true, answers.y_proba.astype(np.float64)
    several = np.any(answers.item)
    # Where each class was asked for, its own question holds a sample's probability.
    rows = np.flatnonzero(y) if several else np.arange(y.size)
    truth = np.where(y == 1, q, 1 - q)[rows]
    eps = np.finfo(answers.y_proba.dtype).eps  # as in sklearn.metrics.log_loss
    by_row = None if weight is None else weight[answers.groups[rows]]
    return float(np.average(np.log(np.clip(truth, eps, 1)), weights=by_row))


class LogLikelihoodScorer(QueryScorer):
    """Mean log probability of the true labels of a sample."""

    def __init__(self) -> None:
        super().__init__(_log_likelihood, None, True, {}, "log_likelihood_scorer")

    def __call__(
        self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None
    ) -> float:
        """Return the mean log probability of a sample's true label or structure."""
        if is_tagger(estimator):
            check_tags(y_true, self._name)
            of_samples = _tagging_log_proba
        elif is_coreference(estimator):
            of_samples = _clustering_log_proba
        else:
            return super().__call__(estimator, X, y_true, sample_weight=sample_weight)
        if len(y_true) == 0:
            raise ValueError(f"The 'y_true' parameter of {self._name} is empty.")
        weight = as_weights(sample_weight, len(y_true), caller=self._name)
        log_proba = of_samples(estimator, X, y_true)
        return float(np.average(log_proba, weights=weight))


def _tagging_log_proba(estimator: Any, X: Any, y_true: Any) -> np.ndarray:
    """Return the log probability of each sentence's true tagging.

    A tagging that the model holds impossible, for a tag that it never saw, counts as
    one of machine epsilon a token.
    """
    tagger = last_step(estimator)
    if not hasattr(tagger, "posterior"):
        raise TypeError(
            "log_likelihood_scorer needs a tagger with a posterior. Got "
            f"{type(tagger).__name__}."
        )
    posterior = tagger.posterior(transform_before(estimator, X))
    lengths = [len(tags) for tags in y_true]
    index = {label: k for k, label in enumerate(np.asarray(tagger.classes_).tolist())}
    known = [all(label in index for label in tags) for tags in y_true]
    # any path will do for a sentence with an unknown tag: its probability is not used
    paths = [[index.get(label, 0) for label in tags] for tags in y_true]
    least = np.array(lengths) * np.log(np.finfo(np.float64).eps)
    return np.where(known, np.maximum(posterior.log_proba(paths), least), least)


def _clustering_log_proba(estimator: Any, X: Any, y_true: Any) -> np.ndarray:
    """Return the log probability of each document's true clustering.

    One that the model holds impossible counts as one of machine epsilon a mention.
    """
    posterior = last_step(estimator).posterior(transform_before(estimator, X))
    least = posterior.lengths * np.log(np.finfo(np.float64).eps)
    return np.maximum(posterior.log_proba(y_true), least)


calibration_error_scorer = make_calibration_scorer()
log_likelihood_scorer = LogLikelihoodScorer()
