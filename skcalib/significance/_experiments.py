"""Experiments: models trained on resamples, borderline gains, sizes of the test set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._parallel import RandomStateLike, as_generator, parallel
from .._results import Result
from .._validation import (
    as_floats,
    check_bool,
    check_fraction,
    check_real,
    check_same_length,
    raise_where,
)
from ._pair_tests import PairTests
from ._paired_items import Systems, check_columns, group_systems, systems_as_statistics
from ._resamples import check_n_resamples

# With fewer pairs, a high quantile of the gains is hardly more than their maximum.
_FEW = 10


class BorderlineThreshold(NamedTuple):
    """A borderline gain and the number of pairs that it is computed from."""

    threshold: float | None
    n_pairs: int


@public
def borderline_threshold(
    gains: ArrayLike,
    pvalues: ArrayLike,
    *,
    low: float = 0.04,
    high: float = 0.06,
    quantile: float = 0.95,
) -> BorderlineThreshold:
    """Compute the gain above which a difference is probably significant.

    Parameters
    ----------
    gains : array-like of shape (n_pairs,)
        Difference of the metric for each pair of systems. Its sign is ignored.
    pvalues : array-like of shape (n_pairs,)
        The p-value of each pair.
    low : float, default=0.04
        Lowest p-value of a borderline pair (inclusive).
    high : float, default=0.06
        Highest p-value of a borderline pair (inclusive).
    quantile : float, default=0.95
        Quantile of the borderline gains, in [0, 1], with linear interpolation.

    Returns
    -------
    threshold : float
        The quantile of the borderline gains. The result is a named tuple of `threshold`
        and `n_pairs`.
    n_pairs : int
        Number of borderline pairs.

    Raises
    ------
    ValueError
        If no pair is borderline, if a p-value is outside [0, 1], if a gain is not
        finite, or if the arrays differ in length.

    Warns
    -----
    UserWarning
        If fewer than 10 pairs are borderline. The threshold is then close to the
        largest of these gains.

    See Also
    --------
    compare_systems : Gains and p-values of all pairs.
    test_size_curve : The threshold at several sizes of the test set.
    skcalib.plot.SignificanceDisplay : Plot of gains and p-values.

    Notes
    -----
    The threshold is defined in Section 3.1.1 of [1]_. Among the pairs with a p-value of
    about 0.05, 95% have a gain below the threshold. The threshold is not a test. It
    depends on the systems, the metric and the test set: it is lower for pairs of
    similar systems and for larger test sets.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import borderline_threshold
    >>> gains, pvalues = np.linspace(0, 2, 201), np.linspace(0.2, 0, 201)
    >>> threshold, n_pairs = borderline_threshold(gains, pvalues)
    >>> round(threshold, 2), n_pairs
    (1.59, 21)
    """
    gain, pvalue = check_gains(gains, pvalues)
    found = threshold_of(gain, pvalue, *check_borderline(low, high, quantile))
    if found.threshold is None:
        raise ParameterError(
            None,
            f"needs pairs with a p-value in [{low:g}, {high:g}]. Got none "
            f"among {gain.size}.",
        )
    if found.n_pairs < _FEW:
        warn(
            f"The threshold of borderline_threshold is from {found.n_pairs} "
            "borderline pairs. With so few pairs, it is little more than the largest "
            "of their gains. Compare more systems."
        )
    return found


def check_borderline(low: Any, high: Any, quantile: Any) -> tuple[float, float, float]:
    """Return the limits of borderline p-values and the quantile of their gains."""
    low = check_real(low, low=0, high=1, name="low")
    high = check_real(high, low=low, high=1, name="high")
    return low, high, check_real(quantile, low=0, high=1, name="quantile")


def check_gains(gains: Any, pvalues: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return gains and p-values of pairs as checked arrays."""
    gain = _finite(gains, "gains")
    pvalue = _finite(pvalues, "pvalues")
    check_same_length(gains=gain, pvalues=pvalue)
    bad = (pvalue < 0) | (pvalue > 1)
    raise_where(bad, pvalue, "contain numbers in [0, 1]", name="pvalues")
    return gain, pvalue


def threshold_of(
    gain: np.ndarray,
    pvalue: np.ndarray,
    low: float = 0.04,
    high: float = 0.06,
    quantile: float = 0.95,
) -> BorderlineThreshold:
    """Return the threshold (None without a borderline pair) and the number of pairs."""
    # The sign depends on the order of the pair, which is arbitrary.
    borderline = np.abs(gain[(pvalue >= low) & (pvalue <= high)])
    if not borderline.size:
        return BorderlineThreshold(None, 0)
    threshold = float(np.quantile(borderline, quantile))
    return BorderlineThreshold(threshold, int(borderline.size))


def _finite(values: Any, name: str) -> np.ndarray:
    array = as_floats(values, name=name)
    if array.ndim != 1:
        raise ParameterError(
            name,
            "must be a sequence of numbers, one per pair of systems. Got "
            f"{values!r:.50}.",
        )
    raise_where(~np.isfinite(array), array, "contain finite numbers", name=name)
    return array


@dataclass(frozen=True, repr=False, eq=False)
class TestSizeCurve(Result):
    """Threshold, mean p-value and power at several sizes of the test set.

    Returned by :func:`test_size_curve`. Arrays have shape (n_sizes,), in the order of
    the sizes that were passed.

    Attributes
    ----------
    size : ndarray of int
        Number of items (or groups) in the test set.
    threshold : list of float or None
        Result of :func:`borderline_threshold` at each size, from the pairs in all
        subsamples. An entry is None if no pair is borderline.
    n_borderline : ndarray of int
        Number of borderline pairs used for the threshold.
    mean_pvalue : ndarray
        Mean p-value over pairs and subsamples.
    power : ndarray
        Fraction of pairs and subsamples with a p-value of at most `alpha`.
    alpha : float
        Significance level.
    n_pairs : int
        Number of pairs of systems.
    n_repeats : int
        Number of subsamples of each size.

    See Also
    --------
    test_size_curve : Compute the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib import significance
    >>> rng = np.random.default_rng(0)
    >>> right = {"a": rng.random(900) < 0.8, "b": rng.random(900) < 0.7}
    >>> significance.test_size_curve(right, sizes=[100, 900], random_state=0)
    TestSizeCurve(2 sizes from 100 to 900, 1 pairs, n_repeats=10, alpha=0.05)
    """

    # This class is not a test; pytest would collect it.
    __test__ = False

    size: np.ndarray
    threshold: list[float | None]
    n_borderline: np.ndarray
    mean_pvalue: np.ndarray
    power: np.ndarray
    alpha: float
    n_pairs: int
    n_repeats: int

    _COLUMNS = "size threshold n_borderline mean_pvalue power"

    def __repr__(self) -> str:
        sizes = f"{self.size.size} sizes from {self.size.min()} to {self.size.max()}"
        return self._summary(f"{sizes}, {self.n_pairs} pairs", "n_repeats alpha:g")


@public
def test_size_curve(
    systems: Mapping[str, ArrayLike],
    *,
    sizes: ArrayLike,
    statistic: str | Callable = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    n_repeats: int = 10,
    shuffle: bool = True,
    groups: ArrayLike | None = None,
    alpha: float = 0.05,
    low: float = 0.04,
    high: float = 0.06,
    quantile: float = 0.95,
    n_resamples: int = 10_000,
    random_state: RandomStateLike = None,
) -> TestSizeCurve:
    """Compute threshold, mean p-value and power as functions of the test set size.

    Parameters
    ----------
    systems : mapping of str to array-like of shape (n,) or (n, m)
        Sufficient statistics of each system, as in :func:`compare_systems`.
    sizes : array-like of int
        Numbers of items in the test set, from 2 to the number of all items. With
        `groups`, numbers of groups.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        The metric, as in :func:`compare_systems`.
    pairs : sequence of tuple of str, default=None
        Names of the pairs to compare, for example all pairs of one kind of model. If
        None, all pairs are compared.
    n_repeats : int, default=10
        Number of subsamples of each size, drawn without replacement. If the size is the
        number of all items, there is one subsample.
    shuffle : bool, default=True
        If False, the first items are used, with one subsample of each size, as in [1]_.
    groups : array-like of shape (n,), default=None
        Group of each item, for example its document.
    alpha : float, default=0.05
        Significance level used for the power.
    low : float, default=0.04
        Lowest p-value of a borderline pair.
    high : float, default=0.06
        Highest p-value of a borderline pair.
    quantile : float, default=0.95
        Quantile of the borderline gains.
    n_resamples : int, default=10_000
        Number of resamples if p-values are computed from resamples.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw subsamples and resamples.

    Returns
    -------
    curve : TestSizeCurve
        Threshold, mean p-value and power for each size.

    Raises
    ------
    ValueError
        If a parameter is not as described, or if :func:`compare_systems` raises a
        ValueError.

    See Also
    --------
    borderline_threshold : Compute the threshold for one test set.
    compare_systems : Compute all p-values of one test set.

    Notes
    -----
    Thresholds are approximately inversely proportional to the square root of the size.
    Subsamples overlap, and larger subsamples overlap more. Their spread is therefore
    not a standard error.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP-CoNLL. Section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib import significance
    >>> rng = np.random.default_rng(0)
    >>> right = {"a": rng.random(900) < 0.8, "b": rng.random(900) < 0.7}
    >>> curve = significance.test_size_curve(
    ...     right, sizes=[100, 900], statistic="mean", random_state=0
    ... )
    >>> bool(curve.mean_pvalue[1] < curve.mean_pvalue[0])
    True
    """
    n_repeats = check_n_resamples(n_repeats, name="n_repeats")
    n_resamples = check_n_resamples(n_resamples)
    alpha = check_fraction(alpha, name="alpha")
    borderline = check_borderline(low, high, quantile)
    shuffle = check_bool(shuffle, name="shuffle")
    rng = as_generator(random_state)
    statistics, groups = systems_as_statistics(systems, groups)
    names, columns = check_columns(statistics, statistic)
    checked = group_systems(names, columns, statistic, groups)
    size = _check_sizes(sizes, len(checked.columns))
    numbers = _numbers_of(pairs, checked.names)
    rows = []
    for each in size.tolist():
        tests = [
            PairTests(subset, "two-sided", "auto", n_resamples, rng).run(numbers)
            for subset in _subsets(checked, each, n_repeats if shuffle else None, rng)
        ]
        # The threshold is that of the pairs of all subsamples together.
        gain, p = np.hstack([(test.gain, test.pvalue) for test in tests])
        threshold = threshold_of(gain, p, *borderline)
        rows.append((*threshold, float(p.mean()), float((p <= alpha).mean())))
    thresholds, n_borderline, mean_pvalue, power = zip(*rows, strict=True)
    return TestSizeCurve(
        size=size,
        threshold=list(thresholds),
        n_borderline=np.array(n_borderline),
        mean_pvalue=np.array(mean_pvalue),
        power=np.array(power),
        alpha=alpha,
        n_pairs=len(numbers),
        n_repeats=n_repeats if shuffle else 1,
    )


def _check_sizes(sizes: Any, n: int) -> np.ndarray:
    size = as_floats(sizes, name="sizes")
    if size.ndim != 1 or size.size == 0 or (size != np.rint(size)).any():
        problem = f"must be a sequence of integers. Got {sizes!r:.50}."
        raise ParameterError("sizes", problem)
    if size.min() < 2 or size.max() > n:
        raise ParameterError(
            "sizes",
            f"must be from 2 to {n}, the number of items (or groups). Got "
            f"{size.min():g} to {size.max():g}.",
        )
    return size.astype(np.int64)


def _numbers_of(pairs: Any, names: list[str]) -> list[tuple[int, int]]:
    """Return the indices of the systems of each pair."""
    numbers = range(len(names))
    if pairs is None:
        return list(combinations(numbers, 2))
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        problem = f"must be a sequence of pairs of names. Got {pairs!r}."
        raise ParameterTypeError("pairs", problem)
    known = {(names[i], names[j]): (i, j) for i, j in permutations(numbers, 2)}
    found = []
    for pair in pairs:
        try:
            found.append(known[tuple(pair)])
        except (KeyError, TypeError):
            problem = f"must contain pairs of different names of systems. Got {pair!r}."
            raise ParameterError("pairs", problem) from None
    if not found:
        raise ParameterError("pairs", "is empty.")
    return found


def _subsets(
    systems: Systems, size: int, n_repeats: int | None, rng: np.random.Generator
) -> Iterator[Systems]:
    """Yield the systems on random subsamples of items, or on the first items."""
    n = len(systems.columns)
    if n_repeats is None or size == n:
        yield systems.take(np.arange(size))
        return
    for _ in range(n_repeats):
        yield systems.take(np.sort(rng.choice(n, size, replace=False)))


# pytest would collect a function named test_... as a test
test_size_curve.__test__ = False  # type: ignore[attr-defined]


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
       investigation of statistical significance in NLP". EMNLP-CoNLL.

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
    if isinstance(estimator, type) or not callable(getattr(estimator, "fit", None)):
        problem = f"must be an estimator with the method 'fit'. Got {estimator!r:.80}."
        raise ParameterTypeError("estimator", problem)
    n = _n_samples(X, "X")
    if _n_samples(y, "y") != n:
        problem = f"needs X and y of the same length. Got {n} and {_n_samples(y, 'y')}."
        raise ParameterError(None, problem)
    if n == 0:
        raise ParameterError(None, "needs at least one sample. Got none in X.")
    n_models = check_n_resamples(n_models, name="n_models")
    counts = _sizes(sizes, n, n_models)
    # Tables and thresholds of this module do not need scikit-learn.
    from sklearn.base import clone
    from sklearn.utils.parallel import delayed

    # one random stream per model, so that the result does not depend on n_jobs
    streams = as_generator(random_state).spawn(n_models)
    return parallel(n_jobs, verbose)(
        delayed(_fit)(clone(estimator), X, y, stream.integers(n, size=size))
        for stream, size in zip(streams, counts, strict=True)
    )


def _fit(estimator: Any, X: Any, y: Any, rows: np.ndarray) -> Any:
    from .._compat import take_rows

    return estimator.fit(take_rows(X, rows), take_rows(y, rows))


def _n_samples(values: Any, name: str) -> int:
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    # An array of no dimension has the attribute __len__, which raises an error.
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
        problem = f"must be a number or a sequence of numbers. Got {sizes!r}."
        raise ParameterTypeError("sizes", problem)
    if len(sizes) != n_models:
        raise ParameterError(
            "sizes",
            f"must have one entry for each of the {n_models} models. Got {len(sizes)}.",
        )
    return [_size(size, n) for size in sizes]


def _size(size: Any, n: int) -> int:
    """Return the number of samples, at least 1, from a number or a fraction."""
    # The integer 1 is one sample, and 1.0 is all samples.
    if isinstance(size, Integral) or not isinstance(size, Real):
        return check_n_resamples(size, name="sizes")
    if not 0 < float(size) <= 1:
        raise ParameterError(
            "sizes",
            "must contain integers of at least 1 or fractions in (0, 1]. Got "
            f"{size!r}.",
        )
    return max(1, round(float(size) * n))
