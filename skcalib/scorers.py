"""Scorers: a query put to an estimator, and a metric on its answers.

They are callables ``scorer(estimator, X, y)`` for cross_val_score, cross_validate and
GridSearchCV. scikit-learn's own make_scorer cannot build them: it knows neither
sequences nor documents, and hands a metric one prediction a sample.
:func:`compare_calibration` says whether two models differ.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import (
    UNCHANGED,
    MetadataRequest,
    get_routing_for_object,
)

from ._random import as_generator
from ._results import TableRepr, as_frame
from ._validation import check_choice, check_fraction, check_integer
from .metrics import calibration_error
from .metrics._binning import Binning, auto_bin_size, check_binning
from .metrics._brier import brier_of_rows
from .metrics._error import error_of_pairs
from .metrics._norms import check_norm
from .metrics._pairs import Pairs, as_probabilities, as_weights, check_pairs
from .metrics._resampled_error import ResampledError
from .queries import (
    Answers,
    ClassQuery,
    CorefPairQuery,
    TagQuery,
    answer_pairs,
    last_step,
    transform_before,
)
from .significance import paired_bootstrap_test
from .significance._bootstrap_test import ConfidenceInterval
from .significance._counts import resample_counts

__all__ = [
    "CalibrationComparison",
    "calibration_error_scorer",
    "compare_calibration",
    "log_likelihood_scorer",
    "make_calibration_scorer",
    "make_query_scorer",
]

ALTERNATIVES = ("two-sided", "greater", "less")


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


class _QueryScorer:
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
        query = self._query
        if query is None:
            query = default_query(estimator, **self._query_params)
        answers = query(estimator, X, y_true)
        weight = as_weights(sample_weight, len(y_true), caller=self._name)
        return self._sign * float(self._metric(answers, weight, **self._params))

    def set_score_request(
        self, *, sample_weight: bool | str | None = UNCHANGED
    ) -> _QueryScorer:
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
    name = getattr(score_func, "__name__", repr(score_func))
    return _QueryScorer(
        _PairMetric(score_func), query, greater_is_better, params, f"{name}_scorer"
    )


def _answers_error(
    answers: Answers,
    weight: np.ndarray | None,
    by_class: bool = False,
    bin_size: Any = "auto",
    n_bins: Any = None,
    strategy: Any = "quantile",
    **norm_params: Any,
) -> float:
    """Return the error of the answers, or its mean over what was asked for."""
    caller = "make_calibration_scorer"
    binning = check_binning(bin_size, n_bins, strategy, caller=caller)
    errors = [
        error_of_pairs(
            answer_pairs(part, weight),
            binning,
            **norm_params,
            caller=caller,
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
    known = set(inspect.signature(calibration_error).parameters)
    known -= {"y_true", "y_proba", "labels", "sample_weight", "groups"}
    unknown = sorted(set(params) - known)
    if unknown:
        raise TypeError(
            f"make_calibration_scorer got the parameter {unknown[0]!r}. It passes on "
            f"{', '.join(sorted(known))}; labels, weights and groups are the data's."
        )
    query_params: dict[str, Any] = {
        key: params.pop(key) for key in ("multi_class", "pos_label") if key in params
    }
    if query is not None and query_params:
        raise ValueError(
            f"make_calibration_scorer got {sorted(query_params)} beside a query. "
            "Set them in the query."
        )
    shown = {**params, **query_params}
    _check_settings(params)
    if query_params.get("multi_class") == "class_wise":
        query_params["multi_class"] = "pooled"
        params["by_class"] = True
    ClassQuery(**query_params)  # a wrong setting is better found here than in each fold
    return _QueryScorer(
        _answers_error,
        query,
        False,
        params,
        "make_calibration_scorer",
        query_params,
        shown,
    )


def _check_settings(params: dict[str, Any]) -> None:
    caller = "make_calibration_scorer"
    check_norm(
        params.get("norm", "l2"),
        params.get("squared", False),
        params.get("debias", False),
        caller=caller,
    )
    binning = check_binning(
        params.get("bin_size", "auto"),
        params.get("n_bins"),
        params.get("strategy", "quantile"),
        caller=caller,
    )
    if params.get("debias") and binning.bin_size == 1:
        raise ValueError(f"debias=True of {caller} needs a 'bin_size' of 2 or more.")


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


class _LogLikelihoodScorer(_QueryScorer):
    """Mean log probability of the true labels of a sample."""

    def __call__(
        self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None
    ) -> float:
        """Return the mean log probability of a sample's true label or structure."""
        if is_tagger(estimator):
            of_samples = _tagging_log_proba
        elif is_coreference(estimator):
            of_samples = _clustering_log_proba
        else:
            return super().__call__(estimator, X, y_true, sample_weight=sample_weight)
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


#: Calibration error with all defaults, negated: :func:`make_calibration_scorer`.
calibration_error_scorer = make_calibration_scorer()
#: Mean log probability of a sample's true label, of a sentence's true tagging, or of a
#: document's true clustering of mentions; clipped at machine epsilon (a token, a
#: mention).
log_likelihood_scorer = _LogLikelihoodScorer(
    _log_likelihood, None, True, {}, "log_likelihood_scorer"
)


@dataclass(frozen=True)
class CalibrationComparison(TableRepr):
    """Two models' calibration errors and Brier scores on the same items.

    Made by :func:`compare_calibration`.

    Attributes
    ----------
    error_a, error_b : float
        Calibration errors, in bins of the same size.
    difference : float
        `error_a` - `error_b`.
    pvalue : float
        Of the hypothesis that the errors are equal.
    low, high : float
        Ends of the interval of the difference.
    brier_a, brier_b : float
        Brier scores.
    brier_difference : float
        `brier_a` - `brier_b`.
    brier_pvalue : float
        Of the hypothesis that the Brier scores are equal.
    brier_low, brier_high : float
        Ends of the interval of their difference.
    alternative : str
    confidence_level : float
    bin_size : int
    n_items : int
        Number of rows, or of groups: what is drawn.
    n_resamples : int

    See Also
    --------
    compare_calibration : Compute it.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.scorers import compare_calibration
    >>> y_true, y_proba = make_calibrated_pairs(2000, random_state=0)
    >>> result = compare_calibration(y_true, y_proba, y_proba, random_state=0)
    >>> result.difference, result.pvalue
    (0.0, 1.0)
    """

    error_a: float
    error_b: float
    difference: float
    pvalue: float
    low: float
    high: float
    brier_a: float
    brier_b: float
    brier_difference: float
    brier_pvalue: float
    brier_low: float
    brier_high: float
    alternative: str
    confidence_level: float
    bin_size: int
    n_items: int
    n_resamples: int

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """Interval of the difference of calibration errors, (low, high)."""
        return ConfidenceInterval(self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        return as_frame(columns, caller="CalibrationComparison.frame")

    def __repr__(self) -> str:
        return (
            f"CalibrationComparison(error {self.error_a:.4f} - {self.error_b:.4f} = "
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"pvalue={self.pvalue:.3g}; Brier {self.brier_difference:+.4f}, "
            f"pvalue={self.brier_pvalue:.3g}; alternative={self.alternative!r}, "
            f"confidence_level={self.confidence_level:g}, bin_size={self.bin_size}, "
            f"n_items={self.n_items}, n_resamples={self.n_resamples})"
        )


def compare_calibration(
    y_true: Any,
    proba_a: Any,
    proba_b: Any,
    *,
    groups: Any = None,
    bin_size: int | str = "auto",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> CalibrationComparison:
    """Test whether two models differ in calibration error, on the same items.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    proba_a : array-like of shape (n,) or (n, n_classes)
        Probabilities of model A, as in :func:`~skcalib.metrics.calibration_error`.
    proba_b : array-like of shape (n,) or (n, n_classes)
        Those of model B for the same rows.
    groups : array-like of shape (n,), default=None
        Sentence or document of each row. Groups are drawn as a whole. Without them the
        rows of one sentence are taken as independent, which they are not.
    bin_size : int or 'auto', default='auto'
        As in :func:`~skcalib.metrics.calibration_error`; one size for both models and
        every resample.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater': A has the larger error; 'less': A is calibrated better. Fixed before
        the data are seen.
    confidence_level : float, default=0.95
        Of the intervals of the differences.
    n_resamples : int, default=2000
        Number of resamples.
    multi_class : {'pooled', 'top_label'}, default=None
        As in :func:`~skcalib.metrics.calibration_error`.
    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the columns.
    pos_label : label, default=None
        The positive class.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    result : CalibrationComparison

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, the two models have probabilities
        of different shapes, or there are fewer than two items.

    See Also
    --------
    skcalib.metrics.calibration_error_interval : The error of one model.
    skcalib.significance.paired_bootstrap_test : The same rule for other metrics.

    Notes
    -----
    With d the difference of the errors and d* that of a resample of items (rows, or
    groups), p is the share of ``|d* - d| >= |d|``, of 'greater' that of
    ``d* >= 2 d``, with one added above and below; the interval is d with the quantile
    of ``|d* - d|`` at both sides. The errors are the plug-in ones, which label noise
    makes too large; so are those of a resample once more. Of models that are about
    equally sharp this falls out of the difference. The rule ``d* <= 0`` and percentile
    intervals do not allow for it, and hardly ever reject.

    The Brier score is a mean, so its test is exact or nearly so
    (:func:`~skcalib.significance.paired_bootstrap_test`), and has more power; but it is
    of sharpness too.

    Examples
    --------
    >>> from skcalib.datasets import make_calibrated_pairs
    >>> from skcalib.scorers import compare_calibration
    >>> y_true, right = make_calibrated_pairs(2000, random_state=0)
    >>> result = compare_calibration(y_true, right, right**2, random_state=0)
    >>> result.difference < 0, result.pvalue < 0.01, result.brier_pvalue < 0.01
    (True, True, True)
    """
    caller = "compare_calibration"
    check_choice(alternative, ALTERNATIVES, name="alternative", caller=caller)
    level = check_fraction(confidence_level, name="confidence_level", caller=caller)
    n_resamples = check_integer(
        n_resamples, minimum=1, name="n_resamples", caller=caller
    )
    binning = check_binning(bin_size, None, "quantile", caller=caller)
    if multi_class in ("class_wise", "per_class"):
        raise ValueError(
            f"{caller} compares one error with another: the 'multi_class' parameter "
            f"must be 'pooled' or 'top_label'. Got {multi_class!r}."
        )
    probabilities = _same_shape(proba_a, proba_b, caller)
    settings = {"multi_class": multi_class, "labels": labels, "pos_label": pos_label}
    several = [
        check_pairs(y_true, proba, caller=caller, groups=groups, **settings)[0]
        for proba in probabilities
    ]
    generator = as_generator(random_state, caller=caller)
    item, brier_groups = _items_of_pairs(*several)
    n_items = int(item.max()) + 1
    if n_items < 2:
        what = "rows" if groups is None else "groups"
        raise ValueError(f"{caller} needs two {what} at least. Got {n_items}.")
    size = binning.bin_size
    size = size if isinstance(size, int) else auto_bin_size(several[0].total)
    error_a, error_b = (
        ResampledError(pairs, item, Binning(size, None, "quantile"))
        for pairs in several
    )
    a, b = (float(error(np.ones((1, n_items)))[0]) for error in (error_a, error_b))
    chunks = resample_counts(n_items, n_resamples, generator)
    drawn = np.concatenate([error_a(counts) - error_b(counts) for counts in chunks])
    brier = [brier_of_rows(pairs) for pairs in several]
    score = paired_bootstrap_test(
        *brier,
        statistic="mean",
        alternative=alternative,
        groups=brier_groups,
        confidence_level=level,
        random_state=generator,
    )
    half = float(np.quantile(np.abs(drawn - (a - b)), level))
    return CalibrationComparison(
        error_a=a,
        error_b=b,
        difference=a - b,
        pvalue=_recentred_pvalue(a - b, drawn, alternative),
        low=a - b - half,
        high=a - b + half,
        brier_a=float(brier[0].mean()),
        brier_b=float(brier[1].mean()),
        brier_difference=float(score.statistic),
        brier_pvalue=float(score.pvalue),
        brier_low=float(score.confidence_interval[0]),
        brier_high=float(score.confidence_interval[1]),
        alternative=alternative,
        confidence_level=level,
        bin_size=size,
        n_items=n_items,
        n_resamples=n_resamples,
    )


def _same_shape(proba_a: Any, proba_b: Any, caller: str) -> list[np.ndarray]:
    """Return the probabilities of both models, which must have one shape."""
    found = [
        as_probabilities(proba, name=name, caller=caller)
        for name, proba in (("proba_a", proba_a), ("proba_b", proba_b))
    ]
    if found[0].shape != found[1].shape:
        raise ValueError(
            f"{caller} needs probabilities of the same shape from both models. Got "
            f"{found[0].shape} in 'proba_a' and {found[1].shape} in 'proba_b'."
        )
    return found


def _items_of_pairs(a: Pairs, b: Pairs) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the item of each pair, and the group of each row if there are groups.

    Rows are numbered by what they hold: draws do not depend on the order they came in,
    nor on which model is named first.
    """
    if a.groups is not None:
        return a.groups, a.groups[:: a.n_classes]
    if math.fsum(brier_of_rows(a)) < math.fsum(brier_of_rows(b)):
        a, b = b, a
    columns = [x.reshape(-1, a.n_classes).T for x in (a.indicator(), a.q, b.q)]
    order = np.lexsort(np.concatenate(columns))
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    return np.repeat(rank, a.n_classes), None


def _recentred_pvalue(difference: float, drawn: np.ndarray, alternative: str) -> float:
    """Return (s + 1) / (b + 1), ties counted in."""
    away = drawn - difference
    if alternative == "two-sided":
        away, difference = np.abs(away), abs(difference)
    elif alternative == "less":
        away, difference = -away, -difference
    # what rounding alone makes is a tie
    extreme = away >= difference - 1e-9 * abs(difference)
    return float((np.count_nonzero(extreme) + 1) / (drawn.size + 1))
