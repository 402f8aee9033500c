"""Which differences among fitted estimators are real."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._label_statistics import accuracy_statistics
from .._validation import check_choice
from ._compare import compare_systems
from ._comparison import SystemComparison

# What the number of columns of ready statistics says.
STATISTIC_OF_COLUMNS = {1: "mean", 2: "ratio", 3: "f1"}

RESPONSES = ("predict", "predict_proba")


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
    groups: Any = None,
    random_state: Any = None,
) -> SystemComparison:
    """Test which differences among fitted estimators are real, on one test set.

    Parameters
    ----------
    estimators : mapping of str to fitted estimator
        Candidates by name: classifiers, taggers, pipelines, fitted searches.
    X : array-like or sequence
        Test samples, which none of the candidates was trained or chosen on; sentences,
        for taggers.
    y : array-like or sequence
        Their true labels.
    statistics : callable, default=None
        ``statistics(y, response)`` -> sufficient statistics, a row for each sample,
        such as :func:`~skcalib.metrics.span_statistics`. None:
        :func:`~skcalib.metrics.accuracy_statistics`.
    statistic : {'mean', 'ratio', 'f1'} or callable, default=None
        The metric of summed statistics. None: by their number of columns, 'mean' of
        one, 'ratio' of two, 'f1' of three.
    response_method : {'predict', 'predict_proba'}, default='predict'
        What the estimators are asked for.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        As in :func:`compare_systems`.
    method : {'auto', 'exact', 'saddlepoint', 'monte_carlo', 'tilted'}, default='auto'
        As in :func:`compare_systems`.
    n_resamples : int, default=10_000
        As in :func:`compare_systems`.
    adjust : {'holm', 'bh'} or None, default='holm'
        As in :func:`compare_systems`.
    groups : array-like of shape (n,), default=None
        Document of each sample, say; groups are drawn as a whole.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws, where there are any.

    Returns
    -------
    result : SystemComparison

    Raises
    ------
    ValueError
        If there are fewer than two estimators, or for the reasons of
        :func:`compare_systems`.
    NotFittedError
        If an estimator is not fitted.

    See Also
    --------
    compare_systems : The same for statistics of systems from anywhere.
    skcalib.plot.SignificanceDisplay : Draw the pairs.

    Notes
    -----
    The test is of the fitted models, on new samples of the same kind; training again
    would give other models. On the folds of a cross-validation it is not valid without
    more: see :ref:`the guide <significance_and_folds>`.

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
    caller = "significance_table"
    check_choice(response_method, RESPONSES, name="response_method", caller=caller)
    if not isinstance(estimators, Mapping) or len(estimators) < 2:
        raise ValueError(
            f"The 'estimators' parameter of {caller} must be a mapping from names to "
            f"two fitted estimators at least. Got {estimators!r:.80}."
        )
    make = accuracy_statistics if statistics is None else statistics
    if not callable(make):
        raise TypeError(
            f"The 'statistics' parameter of {caller} must be callable, such as "
            f"span_statistics. Got {statistics!r}."
        )
    systems = {
        name: np.asarray(make(y, getattr(estimator, response_method)(X)))
        for name, estimator in estimators.items()
    }
    if statistic is None:
        statistic = _statistic_of(systems, caller)
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


def _statistic_of(systems: dict[str, np.ndarray], caller: str) -> str:
    """Return the metric that goes with so many columns."""
    first = next(iter(systems.values()))
    n_columns = 1 if first.ndim == 1 else first.shape[-1]
    if n_columns not in STATISTIC_OF_COLUMNS:
        raise ValueError(
            f"{caller} does not know the metric of statistics with {n_columns} "
            "columns. Pass it as 'statistic'."
        )
    return STATISTIC_OF_COLUMNS[n_columns]
