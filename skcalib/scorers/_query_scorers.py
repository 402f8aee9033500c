"""Scorers that compute a metric of the answers of an estimator to a query.

The query is given, or the one that fits the kind of the estimator. The log likelihood
is of whole taggings and clusterings, and does not need a query for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import (
    UNCHANGED,
    MetadataRequest,
    get_routing_for_object,
)

from .._errors import ParameterError, ParameterTypeError, public
from .._pairs import OTHER_CLASS, warn_of_labels, warn_of_shares
from .._validation import as_label_lists, as_weights, check_choice, check_integer
from ..metrics._bins import (
    Binning,
    check_binning,
    check_norm,
    order_pairs,
    without_noise,
)
from ..metrics._calibration_error import error_of_pairs
from ..metrics._curve import curve_of_pairs
from ..metrics._decomposition import check_rule
from ..metrics._draws import (
    check_draws_of_model,
    check_norm_of_draws,
    error_of_draws,
    rows_of_shares,
)
from ..queries import Answers, ClassQuery, CorefPairQuery, TagQuery
from ..queries._answers import answer_pairs, answers_by_label
from ..queries._query import last_step, posterior_of, tag_paths

_NOT_LABELS = (
    "If they are labels, the query must return probabilities instead. A fully grown "
    "decision tree has only such probabilities."
)


def kind_of(estimator: Any) -> str:
    """Return "tagger", "coreference model", or "" for any other estimator."""
    final = last_step(estimator)
    if hasattr(final, "predict_marginals"):
        return "tagger"
    has_both = hasattr(final, "posterior") and hasattr(final, "predict_proba")
    # The probabilities of pairs of mentions do not have classes.
    return "coreference model" if has_both and not hasattr(final, "classes_") else ""


def default_query(estimator: Any, **params: Any) -> Any:
    """Return the query that fits a kind of estimator; `params` are for classifiers."""
    kind = kind_of(estimator)
    if kind:
        query = TagQuery() if kind == "tagger" else CorefPairQuery()
        if params:
            raise ParameterError(
                None,
                f"accepts {sorted(params)} for classifiers only. Got "
                f"{type(estimator).__name__}. Pass a {type(query).__name__} as "
                "'query'.",
            )
        return query
    # For objects without tags, versions of scikit-learn raise different errors.
    if hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator):
        return ClassQuery(**params)
    final = last_step(estimator)
    hint = ""
    if hasattr(final, "posterior") and hasattr(final, "classes_"):
        hint = " Use TagQuery() if it is a tagger."
    raise ValueError(
        f"No query is known for {type(estimator).__name__}, which is not a classifier, "
        f"a tagger or a coreference model. Pass one with the 'query' parameter.{hint}"
    )


def check_query(query: Any) -> None:
    """Raise an error unless `query` is a query or None."""
    if isinstance(query, type) or not (query is None or callable(query)):
        problem = f"must be a query such as TagQuery(), or None. Got {query!r}."
        raise ParameterTypeError("query", problem)


def ask(estimator: Any, X: Any, y: Any, query: Any, **params: Any) -> Answers:
    """Return the answers of an estimator to a query.

    If `query` is None, the default query of the estimator with `params` is used.
    """
    check_query(query)
    query = default_query(estimator, **params) if query is None else query
    answers = query(estimator, X, y)
    if not isinstance(answers, Answers):
        problem = f"must return Answers. Got {type(answers).__name__} from {query!r}."
        raise ParameterTypeError("query", problem)
    last = -1 if answers._sample is None else int(answers._sample.max(initial=-1))
    if last >= len(y):
        raise ParameterError(
            "query",
            f"must return answers about the {len(y)} samples, whose indices are their "
            f"'groups'. Got the sample {last} from {query!r}.",
        )
    if len(answers):
        # A question about what the model predicted has no other class.
        fields = ("multi_class", "tag", "spans")
        asked = {str(getattr(query, each, None)) for each in fields}
        other = None if asked & {"top_label", "top", "predicted"} else OTHER_CLASS
        hard = None if answers.n_draws else _NOT_LABELS
        warn_of_labels([answers._pairs], hard, other)
    return answers


class QueryScorer:
    """Scorer of the probabilities of an estimator; greater is better.

    ``scorer(estimator, X, y, *, sample_weight=None)`` -> float puts a yes-or-no
    question (the query) to a fitted estimator. The score is the metric of the true
    answers, which are 0 or 1, and of the probabilities of the estimator. A metric of
    which smaller values are better, such as an error, is negated.

    The default query asks a classifier for the second of two classes, or for each of
    several classes. It asks a tagger for every tag of every token, and a coreference
    model for the pairs of mentions.

    Scorers are made by :func:`make_query_scorer` and :func:`make_calibration_scorer`,
    and are accepted as `scoring` by cross_val_score, cross_validate and GridSearchCV.
    """

    # `metric` is called with the answers and the weight of each sample (or None). If
    # `query` is None, the default query of the estimator is used, with `query_params`.
    # `shown` are the settings for the repr.
    def __init__(
        self,
        metric: Callable[..., Any],
        query: Any,
        greater_is_better: bool,
        name: str,
        shown: dict[str, Any],
        **query_params: Any,
    ):
        self._metric = metric
        self._query = query
        self._sign = 1 if greater_is_better else -1
        # The name for the repr, and of the function to call with other parameters.
        self._own_name = self._name = name
        self._shown = shown
        self._query_params = query_params
        # scikit-learn's displays of scores read this name.
        metric_name = name.removesuffix("_scorer")
        self.__name__: str = metric_name if greater_is_better else f"neg_{metric_name}"
        self._request = MetadataRequest(owner=name)
        self._request.score.add_request(param="sample_weight", alias=None)

    @public
    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the score of a fitted estimator; greater is better.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator that answers the query.
        X : array-like
            Samples.
        y_true : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample. Every pair of the sample has this weight.

        Returns
        -------
        score : float
        """
        try:
            return self._score(estimator, X, y_true, sample_weight)
        except ParameterError as error:
            if error.function is None:  # name the scorer in the message
                error.function = self._name
            raise

    def _measure(
        self, estimator: Any, X: Any, y_true: Any, sample_weight: ArrayLike | None
    ) -> Any:
        answers = ask(estimator, X, y_true, self._query, **self._query_params)
        return self._metric(answers, as_weights(sample_weight, len(y_true)))

    def _score(
        self, estimator: Any, X: Any, y_true: Any, sample_weight: ArrayLike | None
    ) -> float:
        score = self._measure(estimator, X, y_true, sample_weight)
        if np.ndim(score) != 0:
            raise TypeError(
                f"The metric of {self._name} must return a number. Got "
                f"{type(score).__name__} of shape {np.shape(score)}."
            )
        return self._sign * float(score)

    def set_score_request(
        self, *, sample_weight: bool | str | None = UNCHANGED
    ) -> QueryScorer:
        """Set whether metadata routing passes `sample_weight` to the scorer.

        Parameters
        ----------
        sample_weight : bool, str or None
            Whether the weights are requested. A str requests them under that name. If
            None, weights are not requested and passing them is an error.

        Returns
        -------
        self : object
            The scorer.
        """
        if sample_weight != UNCHANGED:
            self._request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that this scorer requests."""
        return get_routing_for_object(self._request)

    def _accept_sample_weight(self) -> bool:
        # scikit-learn calls this for every scorer if routing is off.
        return True

    def __repr__(self) -> str:
        settings = dict(self._shown)
        if self._query is not None:
            settings = {"query": self._query, **settings}
        inside = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        return f"{self._own_name}({inside})"


def _pair_metric(
    answers: Answers,
    weight: np.ndarray | None,
    /,
    *,
    score_func: Callable[..., float],
    **params: Any,
) -> float:
    """Return a metric of (y_true, y_proba), with the weights of the samples."""
    if weight is not None:
        params["sample_weight"] = weight[answers.groups]
    return score_func(answers.y_true, answers.y_proba, **params)


class CalibrationScorer(QueryScorer):
    """Calibration error as a score, negated so that greater is better.

    ``scorer(estimator, X, y, *, sample_weight=None)`` -> float. The score is minus the
    calibration error of the probabilities of a fitted estimator, and 0 is best.

    By default, a classifier is asked for the second of two classes, or for each of
    several classes, whose probabilities are pooled. A tagger is asked for every tag of
    every token, and a coreference model for the pairs of mentions. The probabilities
    are sorted and divided into the automatic bins of
    :func:`~skcalib.metrics.calibration_error`, and the error is the root mean square
    distance between mean probability and label frequency.

    The repr shows the parameters of :func:`skcalib.scorers.make_calibration_scorer`
    that differ from these defaults.
    """


@public
def make_query_scorer(
    score_func: Callable[..., float],
    *,
    query: Callable[..., Answers] | None = None,
    greater_is_better: bool = True,
    **params: Any,
) -> QueryScorer:
    """Make a scorer from a metric of true labels and probabilities.

    Parameters
    ----------
    score_func : callable
        Metric ``score_func(y_true, y_proba, **params)`` -> float, where y_true contains
        0 and 1. If weights are given, it is also called with ``sample_weight=``.
    query : query object, default=None
        Yes-or-no question put to the estimator, such as
        :class:`~skcalib.queries.ClassQuery` (see :mod:`skcalib.queries`). If None, the
        default query of the estimator is used: :class:`~skcalib.queries.ClassQuery` for
        classifiers, :class:`~skcalib.queries.TagQuery` for taggers and
        :class:`~skcalib.queries.CorefPairQuery` for coreference models.
    greater_is_better : bool, default=True
        Whether greater values of the metric are better. If False, the score is the
        negated metric.
    **params
        Parameters of `score_func`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, *, sample_weight=None)`` -> float. It supports
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
        problem = f"must be callable. Got {score_func!r} instead."
        raise ParameterTypeError("score_func", problem)
    check_query(query)
    inner = getattr(score_func, "func", score_func)  # of a functools.partial
    name = getattr(inner, "__name__", type(inner).__name__)
    metric = partial(_pair_metric, score_func=score_func, **params)
    return QueryScorer(metric, query, greater_is_better, f"{name}_scorer", params)


@public
def make_calibration_scorer(
    query: Callable[..., Answers] | None = None,
    *,
    bin_size: int | str = "auto",
    n_bins: int | None = None,
    strategy: str = "quantile",
    norm: str = "l2",
    squared: bool = False,
    debias: bool | None = None,
    multi_class: str | None = None,
    pos_label: Any = None,
    n_draws: int | None = None,
) -> QueryScorer:
    """Make a scorer of the calibration error, negated so that greater is better.

    Parameters
    ----------
    query : query object, default=None
        Yes-or-no question put to the estimator (see :mod:`skcalib.queries`). If None,
        the default query of the estimator is used: :class:`~skcalib.queries.ClassQuery`
        for classifiers, :class:`~skcalib.queries.TagQuery` for taggers and
        :class:`~skcalib.queries.CorefPairQuery` for coreference models.
    bin_size : int or 'auto', default='auto'
        Number of pairs in a bin, as in :func:`~skcalib.metrics.calibration_error`.
    n_bins : int, default=None
        Number of bins. If given, it is used instead of `bin_size`.
    strategy : {'quantile', 'uniform'}, default='quantile'
        How pairs are divided into bins, as in
        :func:`~skcalib.metrics.calibration_error`.
    norm : {'l1', 'l2', 'max'}, default='l2'
        Norm of the error, as in :func:`~skcalib.metrics.calibration_error`.
    squared : bool, default=False
        Whether to return the negated square of the error. Requires norm 'l2'.
    debias : bool, default=None
        Whether to use the debiased error. Requires norm 'l2'. The pairs of one sample
        are treated as dependent. If None, it is False, or True with `n_draws`.
    multi_class : {'pooled', 'top_label', 'class_wise'}, default=None
        How the classes are reduced to binary problems, for a classifier with more than
        two classes. 'class_wise' is the mean of the errors of the classes. Not
        available with a `query`, which determines the reduction itself.
    pos_label : label, default=None
        Positive class of a classifier. If None, the second class of a binary
        classifier. Not available with a `query`.
    n_draws : int, default=None
        Number of samples, if the probability is the share of samples of a model that
        agree, as in :func:`~skcalib.metrics.calibration_error`. If None, it is the
        attribute `n_draws` of the answers to the query. Not available for 'top_label',
        since the class is chosen from the samples. The error does not depend on the
        number of samples: choose it by a Brier score, which improves with it.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, *, sample_weight=None)`` -> float. The score is at
        most 0, unless both `squared` and `debias` are True, or the number of samples is
        known: it is then positive if the debiased squared error is negative.

    See Also
    --------
    calibration_error_scorer : The scorer with the default parameters.

    Examples
    --------
    Choose the regularisation strength that gives the smallest calibration error:

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
    check_query(query)
    check_norm(norm, squared, False if debias is None else debias)
    n_draws = check_draws_of_model(n_draws, multi_class)
    if n_draws is not None:
        check_norm_of_draws(norm, debias)
    binning = check_binning(bin_size, n_bins, strategy)
    if debias and binning.bin_size == 1:
        raise ParameterError("debias", "needs a 'bin_size' of at least 2. Got 1.")
    query_params = _query_params(query, multi_class, pos_label)
    metric = partial(
        _answers_error,
        binning=binning,
        by_class=multi_class == "class_wise",
        norm=norm,
        squared=squared,
        debias=debias,
        n_draws=n_draws,
    )
    binned = bin_size, n_bins, strategy, norm, squared, debias
    given = (*binned, multi_class, pos_label, n_draws)
    shown = _not_default(make_calibration_scorer, given)
    name = "make_calibration_scorer"
    scorer = CalibrationScorer(metric, query, False, name, shown, **query_params)
    scorer.__name__ = "neg_calibration_error"
    return scorer


def _not_default(make: Callable[..., Any], given: tuple[Any, ...]) -> dict[str, Any]:
    """Return the settings for the repr, which leaves out those with their default."""
    _, *settings = signature(make).parameters.values()  # the first one is the query
    return {
        each.name: value
        for each, value in zip(settings, given, strict=True)
        if value is not each.default and value != each.default
    }


def _query_params(query: Any, multi_class: Any, pos_label: Any) -> dict[str, Any]:
    """Return the checked parameters of the query for classifiers."""
    given = {"multi_class": multi_class, "pos_label": pos_label}
    given = {name: value for name, value in given.items() if value is not None}
    if query is not None and given:
        raise ParameterError(
            None,
            f"does not accept {sorted(given)} together with a query. Set them in the "
            "query.",
        )
    if multi_class is not None:
        kinds = ("pooled", "top_label", "class_wise")
        check_choice(multi_class, kinds, name="multi_class")
    if multi_class == "class_wise":
        given["multi_class"] = "pooled"
    ClassQuery(**given)  # raise errors here, before the first fold
    return given


def _answers_error(
    answers: Answers,
    weight: np.ndarray | None,
    *,
    binning: Binning,
    by_class: bool,
    norm: str,
    squared: bool,
    debias: bool | None,
    n_draws: int | None,
) -> float:
    """Return the error of the answers, or the mean of the errors of the labels."""
    k = answers.n_draws if n_draws is None else n_draws
    if k is not None:
        check_norm_of_draws(norm, debias)
        rows = rows_of_shares(answer_pairs(answers, weight), k)
        square = error_of_draws(rows, binning, squared=True)
        # Clipped at 0, well calibrated models would tie, and the first would be chosen.
        return square if squared else math.copysign(math.sqrt(abs(square)), square)
    warn_of_shares(answers._pairs)
    errors = [
        error_of_pairs(answer_pairs(part, weight), binning, norm, squared, bool(debias))
        for part in (answers_by_label(answers) if by_class else [answers])
    ]
    return float(np.mean(errors))


#: Negated calibration error with the defaults of :func:`make_calibration_scorer`.
calibration_error_scorer: QueryScorer = make_calibration_scorer()
calibration_error_scorer._own_name = "calibration_error_scorer"


class ReliabilityCurveScorer(QueryScorer):
    """Numbers of the reliability curve of an estimator, for cross_validate.

    ``scorer(estimator, X, y, *, sample_weight=None)`` -> dict of float. The dict has
    the debiased error, the plug-in error, the surplus, the Brier score, the log score
    and the gap in each bin. No number is negated: smaller errors and scores are better.

    See :func:`skcalib.scorers.make_reliability_curve_scorer` for the parameters, which
    the repr shows if they differ from their defaults.
    """

    @public
    def __call__(  # type: ignore[override]
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> dict[str, float]:
        """Return the numbers of the curve of a fitted estimator, with their names."""
        numbers: Any = super().__call__(
            estimator, X, y_true, sample_weight=sample_weight
        )
        return numbers

    _score = QueryScorer._measure


@public
def make_reliability_curve_scorer(
    query: Callable[..., Answers] | None = None,
    *,
    n_bins: int = 5,
    multi_class: str | None = None,
    pos_label: Any = None,
) -> ReliabilityCurveScorer:
    """Make a scorer of several numbers of a reliability curve, for cross_validate.

    The curve is :func:`~skcalib.metrics.adaptive_reliability_curve` with `n_bins` bins
    of equal weight. A curve is not a number, so the scorer returns a dict of numbers,
    and :func:`sklearn.model_selection.cross_validate` returns each number for every
    fold.

    Parameters
    ----------
    query : query object, default=None
        Yes-or-no question put to the estimator (see :mod:`skcalib.queries`). If None,
        the default query of the estimator is used, as in
        :func:`make_calibration_scorer`.
    n_bins : int, default=5
        Number of bins. All folds must have the same numbers, so the number of bins is
        fixed, and bins of equal width, which may be empty, are not available.
    multi_class : {'pooled', 'top_label'}, default=None
        How the classes are reduced to pairs, for a classifier with more than two
        classes. Not available with a `query`, which determines the reduction itself.
    pos_label : label, default=None
        Positive class of a classifier. If None, the second class of a binary
        classifier. Not available with a `query`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, *, sample_weight=None)`` -> dict. It supports metadata
        routing: ``scorer.set_score_request(sample_weight=True)``. The keys of the dict
        are:

        - ``error``, the debiased error, ``curve.error(debias=True)``;
        - ``plug_in``, the error without debiasing, ``curve.error()``;
        - ``surplus``, mean probability minus frequency of positive labels;
        - ``brier`` and ``log``, the mean losses of the pairs, as `score` of
          :func:`~skcalib.metrics.score_decomposition`;
        - ``gap_1``, ``gap_2`` and so on: mean probability minus frequency in each bin,
          in ascending order of the probability.

    Raises
    ------
    ValueError
        If a parameter is invalid. The scorer raises an error if a bin does not have
        pairs of at least two samples, from which the debiased error is computed.

    See Also
    --------
    make_calibration_scorer : A scorer of one number, for a search.
    skcalib.plot.ReliabilityDisplay.from_cv_results : Draw the curves of the folds.

    Notes
    -----
    The numbers describe a model, and none of them is negated: `error`, `plug_in`,
    `brier` and `log` are losses, and smaller values are better. If the surplus or a gap
    is positive, the probabilities are too high; 0 is best. The surplus of pooled
    classes is always 0.

    A search maximises a score, so ``refit="error"`` would select the worst model. Use
    :func:`make_calibration_scorer` for a search, or pass a function as `refit`, such as
    ``lambda results: results["mean_test_error"].argmin()``.

    Pass the scorer itself as `scoring`. ``cross_val_score`` and dicts of scorers accept
    only scorers that return one number.

    Rows of equal probability are divided between bins in proportion, so a fold has all
    `n_bins` bins even if all its probabilities are equal. If a fold is too small, the
    scorer raises an error, which ``cross_validate`` replaces by a warning unless
    ``error_score="raise"`` is passed.

    Errors of opposite sign cancel in a few wide bins. With `debias` and automatic bins,
    the score is the estimate of
    :func:`~skcalib.metrics.calibration_error_interval`, which sees them.

    Examples
    --------
    Naive Bayes is overconfident. The lowest third of its probabilities is too low, and
    the next third is too high:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skcalib.scorers import make_reliability_curve_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_reliability_curve_scorer(n_bins=3)
    >>> found = cross_validate(GaussianNB(), X, y, scoring=scorer)
    >>> for key in ("error", "surplus", "gap_1", "gap_2"):
    ...     print(f"{key}: {found[f'test_{key}'].mean():.3f}")
    error: 0.039
    surplus: 0.021
    gap_1: -0.028
    gap_2: 0.090
    """
    check_query(query)
    number = check_integer(n_bins, minimum=1, name="n_bins")
    binning = check_binning("auto", number, "quantile")
    if multi_class is not None:
        check_choice(multi_class, ("pooled", "top_label"), name="multi_class")
    query_params = _query_params(query, multi_class, pos_label)
    metric = partial(_curve_numbers, binning=binning)
    name = "make_reliability_curve_scorer"
    given = (n_bins, multi_class, pos_label)
    shown = _not_default(make_reliability_curve_scorer, given)
    return ReliabilityCurveScorer(metric, query, True, name, shown, **query_params)


def _curve_numbers(
    answers: Answers, weight: np.ndarray | None, *, binning: Binning
) -> dict[str, float]:
    """Return the numbers of the curve of the answers."""
    pairs = answer_pairs(answers, weight)
    curve = curve_of_pairs(pairs, binning)
    try:
        error = curve.error(debias=True)
    except ParameterError:
        raise ParameterError(
            "n_bins",
            "must be so small that each bin has pairs of at least two samples. Got "
            f"{binning.n_bins} bins for pairs with a total weight of {pairs.total:g}. "
            "Use fewer bins or larger folds.",
        ) from None
    gap, ordered = curve.prob_pred - curve.prob_true, order_pairs(pairs)
    mean = partial(np.average, weights=curve.weight)
    surplus = without_noise(mean(gap), mean(curve.prob_pred + curve.prob_true))
    return {
        "error": error,
        "plug_in": curve.error(),
        "surplus": float(surplus),
        "brier": check_rule("brier").mean_loss(ordered, None),
        "log": check_rule("log").mean_loss(ordered, None),
        **{f"gap_{b}": value for b, value in enumerate(gap.tolist(), 1)},
    }


#: Numbers of a reliability curve for cross_validate, with the defaults of
#: :func:`make_reliability_curve_scorer`. They are not negated.
adaptive_reliability_curve_scorer: ReliabilityCurveScorer = (
    make_reliability_curve_scorer()
)
adaptive_reliability_curve_scorer._own_name = "adaptive_reliability_curve_scorer"


class LogLikelihoodScorer(QueryScorer):
    """Scorer of the mean log probability of the truth; greater is better.

    ``log_likelihood_scorer(estimator, X, y, *, sample_weight=None)`` -> float. The
    score is at most 0, and it is not negated.

    For classifiers, the truth is the label of a sample. For taggers, it is the tagging
    of a sentence. For coreference models, it is the clustering of the mentions of a
    document. Probabilities are clipped at machine epsilon per token or mention.
    """

    def __init__(self) -> None:
        super().__init__(_log_likelihood, None, True, "log_likelihood_scorer", {})
        self.__name__ = "log_likelihood"

    def _score(
        self, estimator: Any, X: Any, y_true: Any, sample_weight: ArrayLike | None
    ) -> float:
        kind = kind_of(estimator)
        if not kind:
            return super()._score(estimator, X, y_true, sample_weight)
        if kind == "tagger":
            y_true = as_label_lists(y_true, name="y_true")
        if len(y_true) == 0:
            raise ParameterError("y_true", "is empty.")
        weight = as_weights(sample_weight, len(y_true))
        final = last_step(estimator)
        if not hasattr(final, "posterior"):
            problem = f"must be a tagger with a posterior. Got {type(final).__name__}."
            raise ParameterTypeError("estimator", problem)
        posterior = posterior_of(estimator, X)
        if kind == "tagger":
            # The probability of a sentence with an unknown tag is 0.
            paths, known = tag_paths(y_true, np.asarray(final.classes_).tolist())
            log_proba = np.where(known, posterior.log_proba(paths), -np.inf)
        else:
            log_proba = posterior.log_proba(y_true)
        # A structure of probability 0 counts as machine epsilon for each of its parts.
        least = np.array(list(map(len, y_true))) * np.log(np.finfo(np.float64).eps)
        return float(np.average(np.maximum(log_proba, least), weights=weight))


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


#: Mean log probability of the true label of a sample, of the true tagging of a
#: sentence, or of the true clustering of the mentions of a document. Probabilities are
#: clipped at machine epsilon per token or mention.
log_likelihood_scorer: LogLikelihoodScorer = LogLikelihoodScorer()
