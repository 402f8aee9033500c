"""Tests that swap two systems on the same items: permutation and McNemar's test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, public
from .._parallel import RandomStateLike, as_generator
from .._results import p_text
from .._validation import (
    as_floats,
    check_bool,
    check_choice,
    check_integer,
    check_same_length,
)
from ..evaluation import Evaluation
from ._bootstrap_test import ALTERNATIVES, PairedTestResult
from ._paired_items import PairedItems, check_items, pair_as_statistics
from ._resamples import check_n_resamples, plain_p_value
from ._score_tests import mcnemar_pvalues
from ._sign_flips import random_signs
from ._tail_probabilities import signed_sum_tail

METHODS = ("auto", "exact", "monte_carlo")

# Largest number of swaps that 'exact' enumerates, and of lattice points it uses.
_MOST_SWAPS, _LARGEST_LATTICE = 1 << 20, 1 << 20

# The corresponding limits of 'auto'.
_FEW_SWAPS, _QUICK_LATTICE = 1 << 13, 1 << 15

# Swaps held at once (8 bytes each).
_BLOCK = 1 << 21


@dataclass(frozen=True, repr=False)
class PermutationTestResult(PairedTestResult):
    """Result of the permutation test of two systems.

    Returned by :func:`permutation_test`.

    Attributes
    ----------
    statistic : float
        The gain, metric(A) - metric(B).
    pvalue : float
        The p-value.
    score_a, score_b : float
        Metric of each system.
    metric : str
        'mean', 'ratio', 'f1' or the name of the callable.
    alternative : str
        The alternative hypothesis.
    method : str
        'exact' or 'monte_carlo'.
    n_items : int
        Number of rows that were passed.
    n_groups : int or None
        Number of groups. None if items are swapped.
    n_resamples : int or None
        Number of draws. None if nothing was drawn.
    monte_carlo_error : float
        Monte Carlo standard error of the p-value. 0 if nothing was drawn.

    See Also
    --------
    permutation_test : Run the test.

    Examples
    --------
    >>> from skcalib.significance import permutation_test
    >>> permutation_test([1, 1, 1, 0], [0, 0, 0, 0]).pvalue
    0.25
    """

    _shown: ClassVar[tuple[str, ...]] = (
        "metric",
        "alternative",
        "method",
        "n_items",
        "n_groups",
        "n_resamples",
        "monte_carlo_error",
    )

    score_a: float
    score_b: float
    metric: str
    alternative: str
    method: str
    n_items: int
    n_groups: int | None
    n_resamples: int | None
    monte_carlo_error: float


@public
def permutation_test(
    stats_a: ArrayLike | Evaluation,
    stats_b: ArrayLike | Evaluation,
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    groups: ArrayLike | None = None,
    random_state: RandomStateLike = None,
) -> PermutationTestResult:
    """Test whether two systems are exchangeable, by swapping them in each item.

    If system A and system B are exchangeable, the two outputs for each item could
    equally well have been swapped [1]_. The p-value is the probability of a gain at
    least as large if the systems are swapped at random in each item. Exchangeability is
    a stronger hypothesis than equal means. The test concerns these items only, while
    :func:`paired_bootstrap_test` concerns the population from which the items were
    drawn.

    Parameters
    ----------
    stats_a, stats_b : array-like of shape (n,) or (n, m), or Evaluation
        Sufficient statistics of the two systems, with one row per item, as in
        :func:`paired_bootstrap_test`.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        Metric of the summed columns, as in :func:`paired_bootstrap_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that A is better.
    method : {'auto', 'exact', 'monte_carlo'}, default='auto'
        'exact' uses the distribution over all 2^n swaps. It is computed on a lattice
        for sums of integers. Otherwise the swaps are enumerated, if at most 20 items
        differ. 'auto' uses 'exact' if the computation is fast, and 'monte_carlo'
        otherwise.
    n_resamples : int, default=10_000
        Number of draws for 'monte_carlo'.
    groups : array-like of shape (n,), default=None
        Group of each item, for example its document. Whole groups are swapped.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the swaps.

    Returns
    -------
    result : PermutationTestResult
        Gain and p-value.

    Raises
    ------
    ValueError
        If a parameter or a row is not as described, if there are fewer than two items
        or groups, or if there are too many swaps for 'exact'.

    See Also
    --------
    paired_bootstrap_test : Test that draws items with replacement.
    mcnemar_test : Exact test of two classifiers from counts.

    Notes
    -----
    Ties count as extreme, as in :func:`paired_bootstrap_test`. A Monte Carlo p-value is
    (s + 1) / (b + 1). No p-value is below 2^-n.

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
    check_choice(alternative, ALTERNATIVES, name="alternative")
    check_choice(method, METHODS, name="method")
    n_resamples = check_n_resamples(n_resamples)
    rng = as_generator(random_state)
    items = check_items(stats_a, stats_b, statistic, groups)
    p, drawn, error = None, None, 0.0
    if method != "monte_carlo":
        p = _exact_p_value(items, alternative, quick=method == "auto")
    if p is None and method == "exact":
        raise ParameterError(
            "method",
            f"lists at most {_MOST_SWAPS:,} swaps, or at most {_LARGEST_LATTICE:,} "
            "lattice points for sums of integers. These data need more. Use "
            "method='monte_carlo'.",
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


def swapped_gains(
    items: PairedItems, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return gains with random swaps, of shape (n_resamples,)."""
    differing, rest = _differing(items)
    difference = differing[:, items.a.shape[1] :] - differing[:, : items.a.shape[1]]
    n, gains = len(difference), np.empty(n_resamples)
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        swapped = random_signs(size, n, rng)
        gains[start : start + size] = _gains(items, rest, swapped, difference)
    return gains


def all_swapped_gains(items: PairedItems, largest: int) -> np.ndarray | None:
    """Return the gains of all swaps of differing items, None if there are too many."""
    differing, rest = _differing(items)
    n = len(differing)
    if 2**n > largest:
        return None
    difference = differing[:, items.a.shape[1] :] - differing[:, : items.a.shape[1]]
    swapped = (np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.float64)
    return _gains(items, rest, swapped, difference)


def _differing(items: PairedItems) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows (a, b) that a swap changes, in a fixed order, and all sums."""
    distinct, times = items.distinct
    m = items.a.shape[1]
    changes = (distinct[:, :m] != distinct[:, m:]).any(axis=1)
    rows = np.repeat(distinct[changes], times[changes], axis=0)
    return rows, times @ distinct


def _gains(
    items: PairedItems, sums: np.ndarray, swapped: np.ndarray, difference: np.ndarray
) -> np.ndarray:
    moved = swapped @ difference
    return items.gains(sums + np.hstack([moved, -moved]))[0]


@dataclass(frozen=True, repr=False)
class McNemarResult(PairedTestResult):
    """Result of McNemar's test of two classifiers.

    Returned by :func:`mcnemar_test`.

    Attributes
    ----------
    statistic : int
        n_only_a - n_only_b.
    pvalue : float
        The p-value.
    n_only_a, n_only_b : int
        Numbers of items on which only A, and only B, is correct.
    alternative : str
        The alternative hypothesis.
    mid_p : bool
        Whether the p-value is a mid-p value.

    See Also
    --------
    mcnemar_test : Run the test.

    Examples
    --------
    >>> from skcalib.significance import mcnemar_test
    >>> mcnemar_test(9, 3)
    McNemarResult(statistic=6, pvalue=0.1459..., n_only_a=9, n_only_b=3, ...)
    """

    n_only_a: int
    n_only_b: int
    alternative: str
    mid_p: bool

    def __repr__(self) -> str:
        p = p_text(self.pvalue, "", before="pvalue=")
        return (
            f"McNemarResult(statistic={self.statistic}, {p}, n_only_a={self.n_only_a}, "
            f"n_only_b={self.n_only_b}, alternative={self.alternative!r}, "
            f"mid_p={self.mid_p})"
        )


@public
def mcnemar_test(
    correct_a: ArrayLike | Evaluation,
    correct_b: ArrayLike | Evaluation,
    *,
    alternative: str = "two-sided",
    mid_p: bool = False,
) -> McNemarResult:
    """Test whether two classifiers are equally accurate with McNemar's exact test.

    The test uses the discordant items, on which exactly one classifier is correct. If
    the classifiers are equally accurate, the number of discordant items on which A is
    correct has a binomial distribution with probability 1/2 [1]_. Items must be
    independent. For tokens of sentences, use :func:`paired_bootstrap_test` with the
    sentences as items.

    Parameters
    ----------
    correct_a, correct_b : array-like of shape (n,), Evaluation, or int
        1 if the classifier is correct on the item, otherwise 0, for the same items in
        both arrays. Alternatively, the numbers of items on which only A, and only B, is
        correct. Evaluations are matched by question.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis. 'greater' means that A is better.
    mid_p : bool, default=False
        If True, the probability of the observed table is multiplied by one half. The
        exact test is conservative. The error rate of the mid-p version is close to the
        nominal level and rarely above it.

    Returns
    -------
    result : McNemarResult
        Numbers of discordant items and p-value.

    Raises
    ------
    ValueError
        If an entry is not 0 or 1, or a count is negative.

    See Also
    --------
    permutation_test : Permutation test for any metric.
    paired_bootstrap_test : Test of the gain in the population of the items.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake (2013). "The McNemar test for
       binary matched-pairs data: mid-p and asymptotic are better than exact
       conditional". BMC Medical Research Methodology 13, 91.

    Examples
    --------
    >>> from skcalib.significance import mcnemar_test
    >>> mcnemar_test([1, 1, 1, 0], [0, 0, 1, 0]).pvalue
    0.5
    >>> round(mcnemar_test(9, 3, mid_p=True).pvalue, 4)
    0.0923
    """
    check_choice(alternative, ALTERNATIVES, name="alternative")
    mid_p = check_bool(mid_p, name="mid_p")
    only_a, only_b = _discordant(correct_a, correct_b)
    return McNemarResult(
        statistic=only_a - only_b,
        pvalue=float(
            mcnemar_pvalues(only_a, only_b, alternative=alternative, mid_p=mid_p)
        ),
        n_only_a=only_a,
        n_only_b=only_b,
        alternative=alternative,
        mid_p=mid_p,
    )


def _discordant(correct_a: Any, correct_b: Any) -> tuple[int, int]:
    """Return the numbers of items on which only A, and only B, is correct."""
    correct_a, correct_b, _ = pair_as_statistics(
        correct_a, correct_b, None, ("correct_a", "correct_b")
    )
    counts = (("correct_a", correct_a), ("correct_b", correct_b))
    if all(isinstance(x, Integral) for _, x in counts):
        # floats represent larger counts with an error
        only_a, only_b = (
            check_integer(x, minimum=0, maximum=2**53, name=name) for name, x in counts
        )
        return only_a, only_b
    a, b = (_indicator(x, name=name) for name, x in counts)
    check_same_length(correct_a=a, correct_b=b)
    return int((a & ~b).sum()), int((~a & b).sum())


def _indicator(values: Any, *, name: str) -> np.ndarray:
    array = as_floats(values, name=name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ParameterError(
            name,
            "must have shape (n,) and contain 0 or 1, or both must be integers. Got "
            f"shape {array.shape}.",
        )
    wrong = ~((array == 0) | (array == 1))
    if wrong.any():
        row = int(wrong.argmax())
        raise ParameterError(
            name,
            f"must contain 0 or 1. Got {array[row]:g} in row {row}, one of "
            f"{int(wrong.sum())} such rows.",
        )
    return array.astype(bool)
