"""Tests of all pairs of systems, and their result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from .._errors import public
from .._random import RandomStateLike, as_generator
from .._results import Result, plain
from .._validation import check_choice, check_fraction, check_integer
from ..evaluation import Evaluation
from ._bootstrap_test import METHODS
from ._pair_tests import PairResults, PairTests
from ._paired_items import check_systems
from ._test_result import ALTERNATIVES

ADJUSTMENTS = ("holm", "bh")

# What a pair has two values of, mirrored where the two change places.
COLUMNS = ("gain", "pvalue", "pvalue_adjusted")


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for the chance of any false finding among all."""
    order = np.argsort(pvalues, kind="stable")
    stepped = pvalues[order] * np.arange(pvalues.size, 0, -1)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def adjusted_pvalues(pvalues: np.ndarray, adjust: str | None) -> np.ndarray:
    """Return p-values by Holm's or by Benjamini and Hochberg's rule, or as they are."""
    if adjust is None:
        return pvalues.copy()
    return holm(pvalues) if adjust == "holm" else false_discovery_control(pvalues)


@dataclass(frozen=True, repr=False, eq=False)
class SystemComparison(Result):
    """Gains and p-values of all pairs of systems.

    Made by :func:`compare_systems` and :func:`significance_table`. Arrays have an entry
    for each pair, in the order of `pairs`.

    Attributes
    ----------
    names : list of str
        Names of the systems.
    metric : ndarray of shape (n_systems,)
        Metric of each system.
    pairs : list of tuple of str
        Names (A, B) of each pair; A stands before B in `names`.
    gain : ndarray of shape (n_pairs,)
        Metric of A less that of B.
    pvalue : ndarray of shape (n_pairs,)
    pvalue_adjusted : ndarray of shape (n_pairs,)
        By `adjust`, over all pairs.
    method : list of str
        How the p-value of each pair was found.
    monte_carlo_error : ndarray of shape (n_pairs,)
        Standard error of the p-value by drawing; 0 where nothing was drawn.
    statistic : str
        Name of the statistic.
    alternative : str
    adjust : str or None
    n_items : int
        Number of rows.
    n_groups : int or None
        Number of groups; None if rows are resampled.
    n_resamples : int or None
        Number of resamples; None where nothing was drawn.

    See Also
    --------
    compare_systems : Compute it from statistics.
    significance_table : Compute it from estimators.
    skcalib.plot.SignificanceDisplay : Draw it.

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

    @public
    def matrix(self, column: str = "pvalue_adjusted") -> np.ndarray:
        """Return one column as a matrix, systems against systems.

        Parameters
        ----------
        column : {'pvalue_adjusted', 'pvalue', 'gain'}, default='pvalue_adjusted'
            What is shown: of row i and column j, of system i against system j.

        Returns
        -------
        matrix : ndarray of shape (n_systems, n_systems)
            In the order of `names`. On the diagonal gains are 0 and p-values 1. Below
            it gains change their sign; p-values of one-sided tests are of the
            hypothesis above the diagonal only, and 1 below it.

        Examples
        --------
        >>> import numpy as np
        >>> from skcalib.significance import compare_systems
        >>> right = {"a": np.r_[[1] * 9, 0], "b": np.r_[[1] * 7, [0] * 3]}
        >>> compare_systems(right, statistic="mean").matrix("gain").round(1)
        array([[ 0. ,  0.2],
               [-0.2,  0. ]])
        """
        check_choice(column, COLUMNS, name="column")
        values = getattr(self, column)
        n = len(self.names)
        found = np.zeros((n, n)) if column == "gain" else np.ones((n, n))
        upper = np.triu_indices(n, 1)
        found[upper] = values
        if column == "gain":
            found.T[upper] = -values
        elif self.alternative == "two-sided":
            found.T[upper] = values
        return found

    @public
    def significant(self, alpha: float = 0.05) -> list[tuple[str, str]]:
        """Return the pairs whose adjusted p-value is at most alpha.

        Parameters
        ----------
        alpha : float, default=0.05
            Strictly between 0 and 1.

        Returns
        -------
        pairs : list of tuple of str
            Names (A, B).

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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and settings as a dict of lists and numbers."""
        columns = {name: plain(value) for name, value in self._columns().items()}
        settings = (
            "statistic",
            "alternative",
            "adjust",
            "n_items",
            "n_groups",
            "n_resamples",
        )
        return {
            "metric": dict(zip(self.names, self.metric.tolist(), strict=True)),
            **columns,
            **{name: getattr(self, name) for name in settings},
        }

    def _columns(self) -> dict[str, Any]:
        first, second = np.triu_indices(len(self.names), 1)
        return {
            "system_a": [a for a, _ in self.pairs],
            "system_b": [b for _, b in self.pairs],
            "metric_a": self.metric[first],
            "metric_b": self.metric[second],
            "gain": self.gain,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "method": self.method,
            "monte_carlo_error": self.monte_carlo_error,
        }

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f", n_groups={self.n_groups}"
        drawn = "" if self.n_resamples is None else f", n_resamples={self.n_resamples}"
        n = int(np.count_nonzero(self.pvalue_adjusted <= 0.05))
        return (
            f"SystemComparison({len(self.names)} systems, {len(self.pairs)} pairs, "
            f"{n} with pvalue_adjusted <= 0.05; statistic={self.statistic!r}, "
            f"alternative={self.alternative!r}, adjust={self.adjust!r}, "
            f"n_items={self.n_items}{groups}{drawn})"
        )


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
        Sufficient statistics of each system by name, a row for each item, in the same
        order, as in :func:`paired_bootstrap_test`; or evaluations, which are matched by
        question.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        The metric of summed columns, as in :func:`paired_bootstrap_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater' asks for each pair whether the system named first in `systems` is
        better. Order them before the data are seen: to order them by their metric
        doubles the error rate.
    method : str, default='auto'
        As in :func:`paired_bootstrap_test`. Where resamples are drawn they are the
        same for all pairs; tilted ones are each pair's own. 'auto' takes a saddlepoint
        also for small p-values of 'f1', from 100 items on that are not all 0, and draws
        tilted resamples only where that is in doubt. Pairs with few items, or few or
        unequal groups, have their signs flipped; that p-value is at least 2^(1 - k),
        with k the number of items or groups in which the two differ.
    n_resamples : int, default=10_000
        Number of shared resamples; of tilted ones 500 at most for each pair and
        tail, and 100 where the p-value is far below what could matter.
    adjust : {'holm', 'bh'} or None, default='holm'
        How p-values allow for the number of pairs. 'holm': the chance of any false
        finding. 'bh' (Benjamini and Hochberg): the share of false ones among those
        found. None: not at all.
    groups : array-like of shape (n,), default=None
        Document of each item, say; groups are drawn as a whole.
    alpha : float, default=0.05
        Level at which the warning below looks.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    result : SystemComparison

    Raises
    ------
    ValueError
        If there are fewer than two systems or two items, the systems have different
        numbers of rows, or a parameter or a row is not as described.

    Warns
    -----
    UserWarning
        If p-values are plain shares of b resamples and there are more than
        ``alpha * (b + 1)`` pairs: the least share possible, adjusted for so many
        pairs, is above `alpha`, so the number of resamples decides. Or if a gain has
        zero variance, as in :func:`paired_bootstrap_test`.

    See Also
    --------
    paired_bootstrap_test : One pair, with an interval of the gain.
    significance_table : The same for estimators.
    borderline_threshold : From which gain on a test usually finds significance.
    skcalib.plot.SignificanceDisplay : Draw gains and p-values.

    Notes
    -----
    One matrix of resample counts serves all systems, as in [1]_. There is then the same
    Monte Carlo error in all p-values; exact, saddlepoint and tilted ones have none of
    it, and are not bounded below by 1 / (b + 1), so that they survive the adjustment.

    The gain of two F1 scores is a smooth function of sums. Where fewer than 50 of the
    shared resamples are as extreme, its tail is that of a saddlepoint on the surface
    on which the gain is at the threshold [2]_. It has a relative error of about 1% from
    200 such items on, 2% from 100 on, and of up to 10% where hardly more than three
    distinct rows of statistics are there. Where the denominators of both systems differ
    on hardly any item, or just as their numbers correct do, the sums are on too coarse
    a lattice for it. Tilted resamples leave a standard error of 5 to 30%, which is in
    the result.

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
    if adjust is not None:
        check_choice(adjust, ADJUSTMENTS, name="adjust")
    n_resamples = check_integer(n_resamples, minimum=1, name="n_resamples")
    alpha = check_fraction(alpha, name="alpha")
    rng = as_generator(random_state)
    checked = check_systems(systems, statistic, groups)
    test = PairTests(checked, alternative, method, n_resamples, rng)
    found = test.run(list(combinations(range(checked.n_systems), 2)))
    _warn_of_floor(found, adjust, alpha, n_resamples)
    return SystemComparison(
        names=checked.names,
        metric=checked.scores,
        pairs=[(checked.names[i], checked.names[j]) for i, j in found.pairs],
        gain=found.gain,
        pvalue=found.pvalue,
        pvalue_adjusted=adjusted_pvalues(found.pvalue, adjust),
        method=found.method,
        monte_carlo_error=found.monte_carlo_error,
        statistic=checked.metric.name,
        alternative=alternative,
        adjust=adjust,
        n_items=checked.n_items,
        n_groups=checked.n_groups,
        n_resamples=n_resamples if found.drawn else None,
    )


def _warn_of_floor(
    found: PairResults, adjust: str | None, alpha: float, n_resamples: int
) -> None:
    """Warn where no p-value of plain resamples could survive the adjustment."""
    n_pairs, least = len(found.pairs), 1 / (n_resamples + 1)
    if adjust is None or n_pairs * least <= alpha:
        return
    plain = np.array([method == "monte_carlo" for method in found.method])
    # where small ones are tilted, only those matter that could not be
    plain &= (found.pvalue <= least) | (not found.tilts)
    if not plain.any():
        return
    warnings.warn(
        f"compare_systems: n_resamples={n_resamples} gives p-values of at least "
        f"{least:.3g}, and times {n_pairs} pairs that is {n_pairs * least:.3g}, more "
        f"than alpha={alpha:g}: the number of resamples decides what is significant. "
        f"Draw more than {int(n_pairs / alpha)}, or use method='auto'.",
        UserWarning,
        stacklevel=4,
    )
