"""Paired permutation test: the systems swapped in each item by a coin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._random import as_generator
from .._results import TableRepr, as_frame
from .._validation import check_choice, check_integer
from ._bootstrap_test import ALTERNATIVES
from ._items import PairedItems, check_items
from ._monte_carlo import plain_p_value
from ._swaps import all_swapped_gains, signed_sum_tail, swapped_gains

METHODS = ("auto", "exact", "monte_carlo")

# Swaps that 'exact' lists where it must, and places of a lattice it may take.
_MOST_SWAPS, _LARGEST_LATTICE = 1 << 20, 1 << 20

# What 'auto' lists and takes.
_FEW_SWAPS, _QUICK_LATTICE = 1 << 13, 1 << 15


@dataclass(frozen=True, repr=False)
class PermutationTestResult(TableRepr):
    """The gain of one system over another, tested by swapping them.

    Made by :func:`permutation_test`.

    Attributes
    ----------
    statistic : float
        The gain, metric(A) - metric(B).
    pvalue : float
    score_a, score_b : float
        Metric of each system.
    metric : str
        'mean', 'ratio', 'f1' or the name of the callable.
    alternative : str
    method : str
        'exact' or 'monte_carlo'.
    n_items : int
        Number of rows that were passed.
    n_groups : int or None
        Number of groups; None if items are swapped.
    n_resamples : int or None
        None where nothing is drawn.
    monte_carlo_error : float
        Standard error of the p-value by drawing; 0 where nothing is drawn.

    See Also
    --------
    permutation_test : Compute it.

    Examples
    --------
    >>> from skcalib.significance import permutation_test
    >>> permutation_test([1, 1, 1, 0], [0, 0, 0, 0]).pvalue
    0.25
    """

    statistic: float
    pvalue: float
    score_a: float
    score_b: float
    metric: str
    alternative: str
    method: str
    n_items: int
    n_groups: int | None
    n_resamples: int | None
    monte_carlo_error: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict."""
        return asdict(self)

    def frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        columns = {name: [value] for name, value in self.to_dict().items()}
        return as_frame(columns, caller="PermutationTestResult.frame")

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        drawn = ""
        if self.n_resamples is not None:
            drawn = f", n_resamples={self.n_resamples}"
            drawn += f", monte_carlo_error={self.monte_carlo_error:.2g}"
        return (
            f"PermutationTestResult({self.statistic:.6g}, pvalue={self.pvalue:.3g}, "
            f"metric={self.metric!r}, alternative={self.alternative!r}, "
            f"method={self.method!r}, n_items={self.n_items}{groups}{drawn})"
        )


def permutation_test(
    stats_a: Any,
    stats_b: Any,
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    groups: Any = None,
    random_state: Any = None,
) -> PermutationTestResult:
    """Test whether two systems can be told apart, by swapping them in each item.

    If system A and system B are exchangeable, each item's two outputs could as well
    have come the other way round [1]_. The p-value is how often a gain as large comes
    if a coin decides for each item. This is a stronger hypothesis than equal means: it
    speaks of these items only, where :func:`paired_bootstrap_test` speaks of the
    population that they come from.

    Parameters
    ----------
    stats_a, stats_b : array-like of shape (n,) or (n, m)
        Sufficient statistics of the two systems, a row for each item, as in
        :func:`paired_bootstrap_test`.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        The metric of summed columns, as in :func:`paired_bootstrap_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater' asks whether A is better.
    method : {'auto', 'exact', 'monte_carlo'}, default='auto'
        'exact' is the law of all 2^n swaps: of sums of whole numbers on their lattice,
        else by listing them where at most 20 items differ. 'auto' is exact where that
        is quick.
    n_resamples : int, default=10_000
        Number of draws of 'monte_carlo'.
    groups : array-like of shape (n,), default=None
        Document of each item, say: whole groups are swapped.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    result : PermutationTestResult

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, there are fewer than two items or
        groups, or there are too many swaps for 'exact'.

    See Also
    --------
    paired_bootstrap_test : Draws items with replacement.
    mcnemar_test : The exact test of two classifiers, from counts.

    Notes
    -----
    Ties are counted in, as in :func:`paired_bootstrap_test`, and a Monte Carlo p-value
    is (s + 1) / (b + 1). No p-value is below 2^-n.

    References
    ----------
    .. [1] E. W. Noreen (1989). "Computer-intensive methods for testing hypotheses".
       Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from skcalib.significance import permutation_test
    >>> correct_a = np.repeat([1, 1, 0, 0], [60, 9, 3, 28])
    >>> correct_b = np.repeat([1, 0, 1, 0], [60, 9, 3, 28])
    >>> round(permutation_test(correct_a, correct_b).pvalue, 4)
    0.146
    """
    caller = "permutation_test"
    check_choice(alternative, ALTERNATIVES, name="alternative", caller=caller)
    check_choice(method, METHODS, name="method", caller=caller)
    n_resamples = check_integer(
        n_resamples, minimum=1, name="n_resamples", caller=caller
    )
    rng = as_generator(random_state, caller=caller)
    items = check_items(stats_a, stats_b, statistic, groups, caller=caller)
    p, drawn, error = None, None, 0.0
    if method != "monte_carlo":
        p = _exact_p_value(items, alternative, quick=method == "auto")
    if p is None and method == "exact":
        raise ValueError(
            f"method='exact' of {caller} lists at most {_MOST_SWAPS:,} swaps, and for "
            f"sums of whole numbers takes at most {_LARGEST_LATTICE:,} of these. There "
            "are more here: use method='monte_carlo'."
        )
    if p is None:
        gains = swapped_gains(items, n_resamples, rng)
        n_extreme = int(_is_extreme(gains, items, alternative).sum())
        p, error = plain_p_value(n_extreme, n_resamples)
        drawn = n_resamples
    return PermutationTestResult(
        statistic=items.gain,
        pvalue=p,
        score_a=items.scores[0],
        score_b=items.scores[1],
        metric=items.metric.name,
        alternative=alternative,
        method="exact" if drawn is None else "monte_carlo",
        n_items=items.n_items,
        n_groups=items.n_groups,
        n_resamples=drawn,
        monte_carlo_error=error,
    )


def _exact_p_value(
    items: PairedItems, alternative: str, *, quick: bool
) -> float | None:
    linear = items.linear
    if linear is not None and linear.is_integer:
        largest = _QUICK_LATTICE if quick else _LARGEST_LATTICE
        return _signed_p_value(linear, alternative, largest)
    gains = all_swapped_gains(items, _FEW_SWAPS if quick else _MOST_SWAPS)
    if gains is None:
        return None
    return float(_is_extreme(gains, items, alternative).mean())


def _signed_p_value(linear: Any, alternative: str, largest: int) -> float | None:
    size, place = np.unique(np.abs(linear.difference), return_inverse=True)
    times = np.bincount(place, linear.times)
    values, times = size[size > 0].astype(np.int64), times[size > 0].astype(np.int64)
    if values.size == 0 or (alternative == "two-sided" and linear.total == 0):
        return 1.0
    threshold = -linear.total if alternative == "less" else linear.total
    if alternative != "two-sided":
        return signed_sum_tail(values, times, threshold, largest)
    tail = signed_sum_tail(values, times, abs(threshold), largest)
    return None if tail is None else min(2 * tail, 1.0)


def _is_extreme(gains: np.ndarray, items: PairedItems, alternative: str) -> np.ndarray:
    if alternative == "greater":
        return gains >= items.gain - items.tolerance
    if alternative == "less":
        return gains <= items.gain + items.tolerance
    return np.abs(gains) >= abs(items.gain) - items.tolerance
