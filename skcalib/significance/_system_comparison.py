"""Comparison of all pairs of several systems, or of fitted estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._parallel import RandomStateLike, as_generator
from .._results import Result
from .._validation import check_choice, check_fraction
from ..evaluation import Evaluation
from ..metrics import accuracy_statistics
from ._pair_tests import PairResults, PairTests
from ._paired_items import check_systems
from ._resamples import check_n_resamples
from ._two_systems import ALTERNATIVES, METHODS

ADJUSTMENTS = ("holm", "bh")

# Quantities with one value for each order of a pair.
COLUMNS = ("gain", "pvalue", "pvalue_adjusted")

# Metric implied by the number of columns of the statistics.
STATISTIC_OF_COLUMNS = {1: "mean", 2: "ratio", 3: "f1"}

RESPONSES = ("predict", "predict_proba")


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's method (family-wise error rate)."""
    order = np.argsort(pvalues, kind="stable")
    stepped = pvalues[order] * np.arange(pvalues.size, 0, -1)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def adjusted_pvalues(pvalues: np.ndarray, adjust: str | None) -> np.ndarray:
    """Return p-values adjusted by Holm's or Benjamini and Hochberg's method, if any."""
    if adjust is None or pvalues.size < 2:
        return pvalues.copy()
    if adjust == "holm":
        return holm(pvalues)
    from scipy.stats import false_discovery_control  # takes half a second to import

    return false_discovery_control(pvalues)


def check_adjust(adjust: str | None) -> None:
    """Raise unless `adjust` names an adjustment of p-values or is None."""
    if adjust is not None:
        check_choice(adjust, ADJUSTMENTS, name="adjust")


class Comparison(Result):
    """Base class of comparisons of all pairs of several systems.

    In each pair (A, B), A comes before B in `names`. A gain is the score of B minus the
    score of A.
    """

    names: list[str]
    pairs: list[tuple[str, str]]
    gain: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    n_groups: int | None

    # Attributes that `to_dict` adds to the scores and the columns.
    _settings: ClassVar[str]

    @public
    def matrix(self, column: str = "pvalue_adjusted") -> np.ndarray:
        """Return the values of all pairs as a matrix.

        Parameters
        ----------
        column : {'pvalue_adjusted', 'pvalue', 'gain'}, default='pvalue_adjusted'
            Attribute to return. The entry in row i and column j compares system i with
            system j.

        Returns
        -------
        matrix : ndarray of shape (n_systems, n_systems)
            Matrix in the order of `names`. The gain in row i and column j is the metric
            of system j minus the metric of system i. On the diagonal, gains are 0 and
            p-values are 1. One-sided tests have p-values above the diagonal only; below
            it, the entries are 1.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 9, 0], "b": np.r_[[1] * 7, [0] * 3]}
        >>> compare_systems(right, statistic="mean").matrix("gain").round(1)
        array([[ 0. , -0.2],
               [ 0.2,  0. ]])
        """
        check_choice(column, COLUMNS, name="column")
        values, n = getattr(self, column), len(self.names)
        found = np.zeros((n, n)) if column == "gain" else np.ones((n, n))
        upper = np.triu_indices(n, 1)
        found[upper] = values
        if column == "gain":
            found.T[upper] = -values
        elif getattr(self, "alternative", "two-sided") == "two-sided":
            found.T[upper] = values
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict of lists and numbers."""
        return {
            **self._scores(),
            **super().to_dict(),
            **{name: getattr(self, name) for name in self._settings.split()},
        }

    def _scores(self) -> dict[str, Any]:
        """Return the numbers of each system, by name."""
        raise NotImplementedError

    def _names_of_pairs(self) -> dict[str, list[str]]:
        first, second = zip(*self.pairs, strict=True) if self.pairs else ((), ())
        return {"system_a": list(first), "system_b": list(second)}

    def _text(self, alpha: float, settings: str) -> str:
        """Return the repr with some settings."""
        n = int(np.count_nonzero(self.pvalue_adjusted <= alpha))
        values = {name: getattr(self, name) for name in settings.split()}
        shown = ", ".join(
            f"{name}={value!r}"
            for name, value in values.items()
            if value is not None or name == "adjust"
        )
        return (
            f"{type(self).__name__}({len(self.names)} systems, {len(self.pairs)} "
            f"pairs, {n} with pvalue_adjusted <= {alpha:.3g}; {shown})"
        )


@dataclass(frozen=True, repr=False, eq=False)
class SystemComparison(Comparison):
    """Gains and p-values of all pairs of systems.

    Returned by :func:`compare_systems` and :func:`significance_table`. Arrays have one
    entry per pair, in the order of `pairs`.

    Attributes
    ----------
    names : list of str
        Names of the systems.
    metric : ndarray of shape (n_systems,)
        Value of the metric for each system.
    pairs : list of tuple of str
        Names (A, B) of each pair. A comes before B in `names`.
    gain : ndarray of shape (n_pairs,)
        Metric of B minus metric of A. It is positive if B has the larger metric.
    pvalue : ndarray of shape (n_pairs,)
        The p-value of each pair.
    pvalue_adjusted : ndarray of shape (n_pairs,)
        The p-value of each pair, adjusted for the number of pairs.
    method : list of str
        Method that computed the p-value of each pair.
    monte_carlo_error : ndarray of shape (n_pairs,)
        Monte Carlo standard error of the p-value. 0 if neither resamples nor sign flips
        were drawn.
    statistic : str
        Name of the statistic.
    alternative : str
        The alternative hypothesis.
    adjust : str or None
        Adjustment of the p-values: 'holm', 'bh' or None.
    n_items : int
        Number of items, that is, rows of the statistics.
    n_groups : int or None
        Number of groups. None if rows are resampled.
    n_resamples : int or None
        Number of resamples. None if neither resamples nor sign flips were drawn.

    See Also
    --------
    compare_systems : Comparison of systems from their statistics.
    significance_table : Comparison of fitted estimators.
    skcalib.plot.SignificanceDisplay : Plot of gains and p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> right = {"a": rng.random(500) < 0.8, "b": rng.random(500) < 0.7}
    >>> result = compare_systems(right, statistic="mean")
    >>> result.pairs
    [('a', 'b')]
    >>> bool(result.pvalue[0] < 0.05)
    True
    """

    names: list[str]
    metric: np.ndarray
    pairs: list[tuple[str, str]]
    gain: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    method: list[str]
    monte_carlo_error: np.ndarray
    statistic: str
    alternative: str
    adjust: str | None
    n_items: int
    n_groups: int | None
    n_resamples: int | None
    _smallest_pvalue: float

    _settings = "statistic alternative adjust n_items n_groups n_resamples"

    @public
    def significant(self, alpha: float = 0.05) -> list[tuple[str, str]]:
        """Return the pairs whose adjusted p-value is at most alpha.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level, strictly between 0 and 1.

        Returns
        -------
        pairs : list of tuple of str
            Names (A, B) of the pairs.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 99, 0], "b": np.r_[[1] * 70, [0] * 30]}
        >>> compare_systems(right, statistic="mean").significant()
        [('a', 'b')]
        """
        alpha = check_fraction(alpha, name="alpha")
        return [
            pair
            for pair, p in zip(self.pairs, self.pvalue_adjusted, strict=True)
            if p <= alpha
        ]

    def _scores(self) -> dict[str, Any]:
        return {"metric": dict(zip(self.names, self.metric.tolist(), strict=True))}

    def _columns(self) -> dict[str, Any]:
        first, second = np.triu_indices(len(self.names), 1)
        return {
            **self._names_of_pairs(),
            "metric_a": self.metric[first],
            "metric_b": self.metric[second],
            "gain": self.gain,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "method": self.method,
            "monte_carlo_error": self.monte_carlo_error,
        }

    def __repr__(self) -> str:
        return self._text(0.05, self._settings)


@public
def compare_systems(
    systems: Mapping[str, ArrayLike] | Mapping[str, Evaluation],
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    adjust: str | None = "holm",
    groups: ArrayLike | None = None,
    alpha: float = 0.05,
    random_state: RandomStateLike = None,
) -> SystemComparison:
    """Test the gains of all pairs of systems on the same items.

    Parameters
    ----------
    systems : mapping of str to array-like of shape (n,) or (n, m), or to Evaluation
        Sufficient statistics of each system by name, with one row per item in the same
        order, as in :func:`paired_bootstrap_test`. The baseline comes first.
        Alternatively, evaluations, which are matched by question.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        Metric of the summed columns, as in :func:`paired_bootstrap_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that the gain is above 0: the system of
        the pair that comes later in `systems` has the larger metric. Choose the order
        before looking at the data: ordering the systems by their metric doubles the
        error rate.
    method : str, default='auto'
        Method used to compute the p-values, as in :func:`paired_bootstrap_test`. Monte
        Carlo resamples are the same for all pairs. Tilted resamples are drawn for each
        pair separately. 'auto' also uses a saddlepoint approximation for small p-values
        of 'f1', if at least 100 items are not all zeros, and draws tilted resamples
        only if the approximation is unreliable. For pairs with few items, or with few
        or unequal groups, signs are flipped. The p-value is then at least 2^(1 - k),
        where k is the number of items or groups in which the two systems differ.
    n_resamples : int, default=10_000
        Number of shared resamples. At most 500 tilted resamples are drawn for each pair
        and tail, and at most 100 if the p-value is far below any usual significance
        level.
    adjust : {'holm', 'bh'} or None, default='holm'
        Adjustment of the p-values for the number of pairs. 'holm' controls the
        family-wise error rate. 'bh' (Benjamini and Hochberg) controls the false
        discovery rate. If None, the p-values are not adjusted.
    groups : array-like of shape (n,), default=None
        Group of each item, for example its document. Whole groups are drawn.
    alpha : float, default=0.05
        Significance level used for the warning below.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw resamples and sign flips.

    Returns
    -------
    result : SystemComparison
        Gains and p-values of all pairs. A gain is the metric of the later system minus
        the metric of the earlier system.

    Raises
    ------
    ValueError
        If there are fewer than two systems or two items, if the systems have different
        numbers of rows, or if a parameter or a row is not as described.

    Warns
    -----
    UserWarning
        If p-values are fractions of b resamples and there are more than
        ``alpha * (b + 1)`` pairs. The smallest possible p-value, adjusted for this
        number of pairs, is then above `alpha`, so the number of resamples decides which
        pairs are significant. The warning is also raised if a gain has zero variance,
        as in :func:`paired_bootstrap_test`.

    See Also
    --------
    paired_bootstrap_test : Test of one pair, with an interval of the gain.
    significance_table : Comparison of fitted estimators.
    borderline_threshold : Gain above which a test is usually significant.
    skcalib.plot.SignificanceDisplay : Plot of gains and p-values.

    Notes
    -----
    One matrix of resample counts is used for all systems, as in [1]_. The Monte Carlo
    errors of the p-values are therefore dependent. Exact and saddlepoint p-values do
    not have a Monte Carlo error, and tilted resamples are drawn for each pair
    separately. The p-values of these three methods can be below 1 / (b + 1), so they
    can remain significant after the adjustment.

    A difference of two F1 scores is a smooth function of sums. If fewer than 50 of the
    shared resamples are extreme, its tail is computed by a saddlepoint approximation on
    the surface on which the gain equals the threshold [2]_. The relative error is about
    1% with 200 or more items that are not all zeros, and 2% with 100 or more. It is up
    to 10% if there are only about three distinct rows of statistics. The approximation
    is not used if the denominators of the two systems differ on very few items. It is
    also not used if, in each item, the difference of the denominators equals the
    difference of the numbers of correct entities. In both cases, the sums lie on too
    coarse a lattice. P-values from tilted resamples have a relative standard error of 5
    to 30%, which is reported in the result.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP.
    .. [2] B.-Y. Jing and J. Robinson (1994). "Saddlepoint approximations for marginal
       and conditional probabilities of transformed variables". Annals of Statistics 22,
       1115-1132.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> length = rng.integers(5, 30, 500)
    >>> stats = {
    ...     name: np.column_stack([rng.binomial(length, accuracy), length])
    ...     for name, accuracy in {"old": 0.90, "new": 0.93, "same": 0.93}.items()
    ... }
    >>> result = compare_systems(stats, statistic="ratio")
    >>> result.significant()
    [('old', 'new'), ('old', 'same')]
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    check_choice(method, METHODS, name="method")
    check_adjust(adjust)
    n_resamples = check_n_resamples(n_resamples)
    alpha = check_fraction(alpha, name="alpha")
    rng = as_generator(random_state)
    checked = check_systems(systems, statistic, groups)
    tests = PairTests(checked, alternative, method, n_resamples, rng)
    return compared(tests, adjust, alpha)


def compared(tests: PairTests, adjust: str | None, alpha: float) -> SystemComparison:
    """Return the tests of all pairs of checked systems."""
    systems = tests.systems
    pairs = list(combinations(range(len(systems.names)), 2))
    # gains of pairs of tests are those of the first system, as for two systems
    found = tests.run([(later, earlier) for earlier, later in pairs])
    _warn_of_floor(found, adjust, alpha, tests.n_resamples)
    return SystemComparison(
        names=systems.names,
        metric=systems.scores,
        pairs=[(systems.names[i], systems.names[j]) for i, j in pairs],
        gain=found.gain,
        pvalue=found.pvalue,
        pvalue_adjusted=adjusted_pvalues(found.pvalue, adjust),
        method=found.method,
        monte_carlo_error=found.monte_carlo_error,
        statistic=systems.metric.name,
        alternative=tests.alternative,
        adjust=adjust,
        n_items=systems.n_items,
        n_groups=systems.n_groups,
        n_resamples=tests.n_resamples if found.drawn else None,
        _smallest_pvalue=float(found.smallest.min(initial=1)),
    )


def _warn_of_floor(
    found: PairResults, adjust: str | None, alpha: float, n_resamples: int
) -> None:
    """Warn if no p-value of plain resamples could be significant when adjusted."""
    n_pairs, least = len(found.pairs), 1 / (n_resamples + 1)
    if adjust is None or n_pairs * least <= alpha:
        return
    plain = np.array([method == "monte_carlo" for method in found.method])
    # if small p-values are tilted, only the pairs that could not be tilted matter
    plain &= (found.pvalue <= least) | (not found.tilts)
    if not plain.any():
        return
    warn(
        f"compare_systems: n_resamples={n_resamples} gives p-values of at least "
        f"{least:.3g}. Multiplied by {n_pairs} pairs, this is {n_pairs * least:.3g}, "
        f"more than alpha={alpha:g}, so the number of resamples decides what is "
        f"significant. Draw more than {int(n_pairs / alpha)} resamples, or use "
        "method='auto'.",
    )


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
        check_estimator(estimator, f"estimators[{name!r}]", response_method)
    make = accuracy_statistics if statistics is None else statistics
    if not callable(make):
        problem = f"must be callable, such as span_statistics. Got {statistics!r}."
        raise ParameterTypeError("statistics", problem)
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
        first = next(iter(systems.values()))
        n_columns = 1 if first.ndim == 1 else first.shape[1]
        if n_columns not in STATISTIC_OF_COLUMNS:
            raise ParameterError(
                None,
                f"cannot choose a metric for statistics with {n_columns} columns. Pass "
                "the metric as 'statistic'.",
            )
        statistic = STATISTIC_OF_COLUMNS[n_columns]
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


def check_estimator(estimator: Any, name: str, method: str = "fit") -> None:
    if isinstance(estimator, type) or not callable(getattr(estimator, method, None)):
        raise ParameterTypeError(
            name,
            f"must be an estimator with the method {method!r}. Got {estimator!r:.80}.",
        )
