"""How the size of the test set changes what is significant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from .._random import as_generator
from .._results import as_frame
from .._validation import check_bool, check_fraction, check_integer, check_real
from ._pair_tests import PairTests
from ._systems import Systems, check_systems
from ._threshold import threshold_of


@dataclass(frozen=True, repr=False, eq=False)
class TestSizeCurve:
    """Threshold, mean p-value and power at several sizes of the test set.

    Made by :func:`test_size_curve`; arrays have shape (n_sizes,), in the order asked
    for.

    Attributes
    ----------
    size : ndarray of int
        Number of items (groups) in the test set.
    threshold : list of float or None
        :func:`borderline_threshold` of the pairs of all subsamples; None where none is
        borderline.
    n_borderline : ndarray of int
        Number of borderline pairs it is from.
    mean_pvalue : ndarray
        Mean p-value over pairs and subsamples.
    power : ndarray
        Share of pairs and subsamples with a p-value of at most `alpha`.
    alpha : float
    n_pairs : int
        Number of pairs of systems.
    n_repeats : int
        Number of subsamples of each size.

    See Also
    --------
    test_size_curve : Compute it.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib import significance
    >>> rng = np.random.default_rng(0)
    >>> right = {"a": rng.random(900) < 0.8, "b": rng.random(900) < 0.7}
    >>> significance.test_size_curve(right, sizes=[100, 900], random_state=0)
    TestSizeCurve(2 sizes from 100 to 900, 1 pairs, n_repeats=10, alpha=0.05)
    """

    # no test, whatever the name says
    __test__ = False

    size: np.ndarray
    threshold: list[float | None]
    n_borderline: np.ndarray
    mean_pvalue: np.ndarray
    power: np.ndarray
    alpha: float
    n_pairs: int
    n_repeats: int

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays and settings as a dict of lists and numbers."""
        columns = {name: list(np.asarray(x).tolist()) for name, x in self._columns()}
        settings = ("alpha", "n_pairs", "n_repeats")
        return {**columns, **{name: getattr(self, name) for name in settings}}

    def frame(self) -> Any:
        """Return a pandas DataFrame with a row for each size."""
        return as_frame(dict(self._columns()), caller="TestSizeCurve.frame")

    def _columns(self) -> list[tuple[str, Any]]:
        names = ("size", "threshold", "n_borderline", "mean_pvalue", "power")
        return [(name, getattr(self, name)) for name in names]

    def __repr__(self) -> str:
        return (
            f"TestSizeCurve({self.size.size} sizes from {self.size.min()} to "
            f"{self.size.max()}, {self.n_pairs} pairs, n_repeats={self.n_repeats}, "
            f"alpha={self.alpha:g})"
        )


def test_size_curve(
    systems: Mapping[str, Any],
    *,
    sizes: Any,
    statistic: str | Callable = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    n_repeats: int = 10,
    shuffle: bool = True,
    groups: Any = None,
    alpha: float = 0.05,
    low: float = 0.04,
    high: float = 0.06,
    quantile: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> TestSizeCurve:
    """Compute threshold, mean p-value and power against the size of the test set.

    Parameters
    ----------
    systems : mapping of str to array-like of shape (n,) or (n, m)
        Sufficient statistics of each system, as in :func:`compare_systems`.
    sizes : array-like of int
        Numbers of items (of groups, where there are any), from 2 to all.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        The metric, as in :func:`compare_systems`.
    pairs : sequence of tuple of str, default=None
        Names of the pairs that are compared: those of one model, say. None: all.
    n_repeats : int, default=10
        Number of subsamples of each size, drawn without replacement. A size of all
        items has one.
    shuffle : bool, default=True
        False: the first items, one subsample of each size, as in [1]_.
    groups : array-like of shape (n,), default=None
        Document of each item.
    alpha : float, default=0.05
        Level of the power.
    low : float, default=0.04
        Lowest p-value of a borderline pair.
    high : float, default=0.06
        Highest p-value of a borderline pair.
    quantile : float, default=0.95
        Quantile of the borderline gains.
    n_resamples : int, default=10_000
        Number of resamples where p-values are drawn. None of them is tilted: what is
        far below `alpha` need not be known exactly here.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    curve : TestSizeCurve

    Raises
    ------
    ValueError
        If a parameter is not as described, or for the reasons of
        :func:`compare_systems`.

    See Also
    --------
    borderline_threshold : The threshold at one size.
    compare_systems : All p-values of one test set.

    Notes
    -----
    Thresholds fall about as the root of the size. Subsamples overlap, the more the
    larger they are, so their spread is no standard error.

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP. Section 4.1.

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
    caller = "test_size_curve"
    n_repeats = check_integer(n_repeats, minimum=1, name="n_repeats", caller=caller)
    n_resamples = check_integer(
        n_resamples, minimum=1, name="n_resamples", caller=caller
    )
    alpha = check_fraction(alpha, name="alpha", caller=caller)
    low = check_real(low, low=0, high=1, name="low", caller=caller)
    high = check_real(high, low=low, high=1, name="high", caller=caller)
    quantile = check_real(quantile, low=0, high=1, name="quantile", caller=caller)
    shuffle = check_bool(shuffle, name="shuffle", caller=caller)
    rng = as_generator(random_state, caller=caller)
    checked = check_systems(systems, statistic, groups, caller=caller)
    size = _check_sizes(sizes, len(checked.columns), caller)
    numbers = _numbers_of(pairs, checked.names, caller)
    rows = []
    for each in size.tolist():
        gain, pvalue = [], []
        for subset in _subsets(checked, each, n_repeats if shuffle else None, rng):
            test = PairTests(subset, "two-sided", "auto", n_resamples, rng, tilts=False)
            found = test.run(numbers, caller=caller)
            gain.append(found.gain)
            pvalue.append(found.pvalue)
        p = np.concatenate(pvalue)
        threshold = threshold_of(np.concatenate(gain), p, low, high, quantile)
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


def _check_sizes(sizes: Any, n: int, caller: str) -> np.ndarray:
    size = np.asarray(sizes)
    if size.ndim != 1 or size.size == 0 or size.dtype.kind not in "iu":
        raise ValueError(
            f"The 'sizes' parameter of {caller} must be a sequence of integers. Got "
            f"{sizes!r:.50}."
        )
    if size.min() < 2 or size.max() > n:
        raise ValueError(
            f"The 'sizes' parameter of {caller} must be from 2 to the {n} items (or "
            f"groups) there are. Got {size.min()} to {size.max()}."
        )
    return size


def _numbers_of(pairs: Any, names: list[str], caller: str) -> list[tuple[int, int]]:
    """Return the numbers of the systems of each pair."""
    numbers = range(len(names))
    if pairs is None:
        return list(combinations(numbers, 2))
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise TypeError(
            f"The 'pairs' parameter of {caller} must be a sequence of pairs of names. "
            f"Got {pairs!r}."
        )
    known = {(names[i], names[j]): (i, j) for i, j in permutations(numbers, 2)}
    found = []
    for pair in pairs:
        try:
            found.append(known[tuple(pair)])
        except (KeyError, TypeError):
            raise ValueError(
                f"The 'pairs' parameter of {caller} must hold pairs of different names "
                f"of systems. Got {pair!r}."
            ) from None
    if not found:
        raise ValueError(f"The 'pairs' parameter of {caller} is empty.")
    return found


def _subsets(
    systems: Systems, size: int, n_repeats: int | None, rng: np.random.Generator
) -> Iterator[Systems]:
    """Yield the systems on subsamples of items; on the first ones without repeats."""
    n = len(systems.columns)
    if n_repeats is None or size == n:
        yield systems.take(np.arange(size))
        return
    for _ in range(n_repeats):
        yield systems.take(np.sort(rng.choice(n, size, replace=False)))


# pytest collects what is called test_...
test_size_curve.__test__ = False  # type: ignore[attr-defined]
