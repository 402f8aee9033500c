"""Comparison of fitted estimators, and clones of an estimator fitted on resamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.parallel import delayed

from .._compat import take_rows
from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator, parallel
from .._validation import check_choice
from ..metrics import accuracy_statistics
from ._resamples import check_n_resamples
from ._system_comparison import SystemComparison, compare_systems

# Metric implied by the number of columns of the statistics.
STATISTIC_OF_COLUMNS = {1: "mean", 2: "ratio", 3: "f1"}

RESPONSES = ("predict", "predict_proba")


@public
def significance_table(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    statistics: Callable[[Any, Any], Any] | None = None,
    statistic: str | Callable | None = None,
    response_method: str = "predict",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    adjust: str | None = "holm",
    groups: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> SystemComparison:
    """Test the differences between all pairs of fitted estimators on one test set.

    Parameters
    ----------
    estimators : mapping of str to fitted estimator
        Fitted estimators by name: classifiers, taggers, pipelines or fitted searches.
    X : array-like or sequence
        Test samples (sentences for taggers). None of the estimators may have been
        trained or selected on them.
    y : array-like or sequence
        True labels of the samples.
    statistics : callable, default=None
        Function called as ``statistics(y, response)`` that returns sufficient
        statistics with one row per sample, such as
        :func:`~skcalib.metrics.span_statistics`. If None,
        :func:`~skcalib.metrics.accuracy_statistics` is used.
    statistic : {'mean', 'ratio', 'f1'} or callable, default=None
        Metric of the summed statistics. If None, it depends on the number of columns:
        'mean' for one, 'ratio' for two and 'f1' for three columns.
    response_method : {'predict', 'predict_proba'}, default='predict'
        Method of the estimators that computes the response.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        As in :func:`compare_systems`.
    method : str, default='auto'
        As in :func:`compare_systems`.
    n_resamples : int, default=10_000
        As in :func:`compare_systems`.
    adjust : {'holm', 'bh'} or None, default='holm'
        As in :func:`compare_systems`.
    groups : array-like of shape (n,), default=None
        Group of each sample, for example its document. Whole groups are drawn.
    random_state : int, RandomState, Generator or None, default=None
        Random state used if p-values are computed from draws.

    Returns
    -------
    result : SystemComparison
        Gains and p-values of all pairs.

    Raises
    ------
    ValueError
        If there are fewer than two estimators, or if :func:`compare_systems` raises a
        ValueError.
    NotFittedError
        If an estimator is not fitted.

    See Also
    --------
    compare_systems : Comparison of systems from their sufficient statistics.
    skcalib.plot.SignificanceDisplay : Draw the pairs.

    Notes
    -----
    The test compares the fitted models on new samples from the same population. It does
    not account for the variation between training runs. It is not valid on the folds of
    a cross-validation without further assumptions; see
    :ref:`the guide <significance_and_folds>`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> from skcalib.significance import significance_table
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> candidates = {
    ...     "constant": DummyClassifier(),
    ...     "Bernoulli": BernoulliNB(),
    ...     "Gaussian": GaussianNB(),
    ... }
    >>> for model in candidates.values():
    ...     _ = model.fit(X[:300], y[:300])
    >>> result = significance_table(candidates, X[300:], y[300:])
    >>> result.significant()
    [('constant', 'Bernoulli'), ('constant', 'Gaussian'), ('Bernoulli', 'Gaussian')]
    """
    check_choice(response_method, RESPONSES, name="response_method")
    if not isinstance(estimators, Mapping) or len(estimators) < 2:
        raise ParameterError(
            "estimators",
            "must be a mapping from names to at least two fitted estimators. Got "
            f"{estimators!r:.80}.",
        )
    for name, estimator in estimators.items():
        _check_estimator(estimator, f"estimators[{name!r}]", response_method)
    make = accuracy_statistics if statistics is None else statistics
    if not callable(make):
        raise ParameterTypeError(
            "statistics",
            f"must be callable, such as span_statistics. Got {statistics!r}.",
        )
    systems = {
        name: np.asarray(make(y, getattr(estimator, response_method)(X)))
        for name, estimator in estimators.items()
    }
    for name, stats in systems.items():
        if stats.ndim not in (1, 2):
            raise ParameterError(
                "statistics",
                "must return an array with one row per sample. Got shape "
                f"{stats.shape} for {name!r}.",
            )
    if statistic is None:
        statistic = _statistic_of(systems)
    return compare_systems(
        systems,
        statistic=statistic,
        alternative=alternative,
        method=method,
        n_resamples=n_resamples,
        adjust=adjust,
        groups=groups,
        random_state=random_state,
    )


def _statistic_of(systems: dict[str, np.ndarray]) -> str:
    """Return the metric implied by the number of columns."""
    first = next(iter(systems.values()))
    n_columns = 1 if first.ndim == 1 else first.shape[-1]
    if n_columns not in STATISTIC_OF_COLUMNS:
        raise ParameterError(
            None,
            f"cannot choose a metric for statistics with {n_columns} columns. Pass "
            "the metric as 'statistic'.",
        )
    return STATISTIC_OF_COLUMNS[n_columns]


@public
def resample_training(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_models: int,
    sizes: float | Sequence[float] | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Train clones of an estimator on resamples of its training set.

    Parameters
    ----------
    estimator : estimator
        A classifier, tagger or other estimator with a `fit` method. Only clones are
        fitted.
    X : array-like or sequence
        Training samples (sentences for a tagger).
    y : array-like or sequence
        Labels of the samples.
    n_models : int
        Number of clones.
    sizes : int, float, or sequence of either of length n_models, default=None
        Number of samples drawn for each model, or a float in (0, 1] for a fraction of
        the training set. If None, as many samples are drawn as the training set has.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the resamples. The random state of the estimator
        itself is set by its own `random_state` parameter.
    n_jobs : int, default=None
        Number of models trained in parallel with joblib. The result does not depend on
        it.
    verbose : int, default=0
        Passed to joblib.

    Returns
    -------
    models : list of estimators
        Fitted clones.

    Raises
    ------
    ValueError
        If X and y differ in length or are empty, or if the length of `sizes` is not
        `n_models`.

    See Also
    --------
    compare_systems : Comparison of all pairs of models on a test set.

    Notes
    -----
    The procedure is described in Section 3.2.1 of [1]_. Samples are drawn with
    replacement. The variation between the models imitates the variation between
    successive versions of a system. Models of one kind are closely correlated; models
    of different kinds are less correlated. A resample may lack a rare class.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP.

    Examples
    --------
    >>> from skcalib import HMMTagger
    >>> from skcalib.datasets import make_tagged_sentences
    >>> from skcalib.significance import resample_training
    >>> X, y = make_tagged_sentences(100, random_state=0)
    >>> models = resample_training(
    ...     HMMTagger(), X, y, n_models=3, sizes=[1.0, 0.5, 0.5], random_state=0
    ... )
    >>> len(models)
    3
    """
    _check_estimator(estimator, "estimator")
    n = _n_samples(X, "X")
    if _n_samples(y, "y") != n:
        raise ParameterError(
            None,
            f"needs X and y of the same length. Got {n} and {_n_samples(y, 'y')}.",
        )
    if n == 0:
        raise ParameterError(None, "needs at least one sample. Got none in X.")
    n_models = check_n_resamples(n_models, name="n_models")
    counts = _sizes(sizes, n, n_models)
    # one random stream per model, so that the result does not depend on n_jobs
    streams = as_generator(random_state).spawn(n_models)
    draws = [
        stream.integers(n, size=size)
        for stream, size in zip(streams, counts, strict=True)
    ]
    return parallel(n_jobs, verbose)(
        delayed(_fit)(clone(estimator), X, y, rows) for rows in draws
    )


def _check_estimator(estimator: Any, name: str, method: str = "fit") -> None:
    if isinstance(estimator, type) or not callable(getattr(estimator, method, None)):
        raise ParameterTypeError(
            name,
            f"must be an estimator with the method {method!r}. Got {estimator!r:.80}.",
        )


def _fit(estimator: Any, X: Any, y: Any, rows: np.ndarray) -> Any:
    return estimator.fit(take_rows(X, rows), take_rows(y, rows))


def _n_samples(values: Any, name: str) -> int:
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    sized = shape is None and hasattr(values, "__len__")
    if isinstance(values, (str, bytes)) or not sized:
        raise ParameterTypeError(
            name,
            "must be a sequence with one entry per sample. Got "
            f"{type(values).__name__}.",
        )
    return len(values)


def _sizes(sizes: Any, n: int, n_models: int) -> list[int]:
    if sizes is None:
        return [n] * n_models
    if isinstance(sizes, Real):
        return [_size(sizes, n)] * n_models
    several = isinstance(sizes, Sequence) or np.ndim(sizes) == 1
    if isinstance(sizes, (str, bytes)) or not several:
        raise ParameterTypeError(
            "sizes", f"must be a number or a sequence of numbers. Got {sizes!r}."
        )
    if len(sizes) != n_models:
        raise ParameterError(
            "sizes",
            f"must have one entry for each of the {n_models} models. Got {len(sizes)}.",
        )
    return [_size(size, n) for size in sizes]


def _size(size: Any, n: int) -> int:
    """Return the number of samples, at least 1, from a number or a fraction."""
    if isinstance(size, Integral) or not isinstance(size, Real):
        return check_n_resamples(size, name="sizes")
    if not 0 < float(size) <= 1:
        raise ParameterError(
            "sizes",
            (
                "must contain integers of at least 1 or fractions in (0, 1]. Got "
                f"{size!r}."
            ),
        )
    return max(1, round(float(size) * n))
