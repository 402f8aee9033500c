"""All pairs of systems at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from .._random import as_generator
from .._validation import check_choice, check_fraction, check_integer
from ._bootstrap_test import ALTERNATIVES, METHODS
from ._comparison import ADJUSTMENTS, SystemComparison, adjusted_pvalues
from ._pair_tests import PairResults, PairTests
from ._systems import check_systems


def compare_systems(
    systems: Mapping[str, Any],
    *,
    statistic: str | Callable = "mean",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 10_000,
    adjust: str | None = "holm",
    groups: Any = None,
    alpha: float = 0.05,
    random_state: Any = None,
) -> SystemComparison:
    """Test the gains of all pairs of systems on the same items.

    Parameters
    ----------
    systems : mapping of str to array-like of shape (n,) or (n, m)
        Sufficient statistics of each system by name, a row for each item, in the same
        order, as in :func:`paired_bootstrap_test`.
    statistic : {'mean', 'ratio', 'f1'} or callable, default='mean'
        The metric of summed columns, as in :func:`paired_bootstrap_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        'greater' asks for each pair whether the system named first in `systems` is
        better. Order them before the data are seen: to order them by their metric
        doubles the error rate.
    method : {'auto', 'exact', 'saddlepoint', 'monte_carlo', 'tilted'}, default='auto'
        As in :func:`paired_bootstrap_test`. Where resamples are drawn they are the
        same for all pairs; tilted ones are each pair's own. 'auto' takes a saddlepoint
        also for small p-values of 'f1', from 100 items on that are not all 0, and draws
        tilted resamples only where that is in doubt.
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
    caller = "compare_systems"
    check_choice(alternative, ALTERNATIVES, name="alternative", caller=caller)
    check_choice(method, METHODS, name="method", caller=caller)
    if adjust is not None:
        check_choice(adjust, ADJUSTMENTS, name="adjust", caller=caller)
    n_resamples = check_integer(
        n_resamples, minimum=1, name="n_resamples", caller=caller
    )
    alpha = check_fraction(alpha, name="alpha", caller=caller)
    rng = as_generator(random_state, caller=caller)
    checked = check_systems(systems, statistic, groups, caller=caller)
    test = PairTests(checked, alternative, method, n_resamples, rng)
    found = test.run(list(combinations(range(checked.n_systems), 2)), caller=caller)
    _warn_of_floor(found, adjust, alpha, n_resamples, caller)
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
    found: PairResults, adjust: str | None, alpha: float, n_resamples: int, caller: str
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
        f"{caller}: n_resamples={n_resamples} gives p-values of at least "
        f"{least:.3g}, and times {n_pairs} pairs that is {n_pairs * least:.3g}, more "
        f"than alpha={alpha:g}: the number of resamples decides what is significant. "
        f"Draw more than {int(n_pairs / alpha)}, or use method='auto'.",
        UserWarning,
        stacklevel=3,
    )
