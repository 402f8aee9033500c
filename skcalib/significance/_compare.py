"""All pairs of systems at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from .._random import as_generator
from .._validation import check_choice, check_fraction, check_integer
from ._bootstrap_test import (
    _FEWEST_EXTREME,
    _FEWEST_FOR_SADDLEPOINT,
    _LARGEST_QUICK_WINDOW,
    _LARGEST_WINDOW,
    ALTERNATIVES,
    METHODS,
    check_linear,
    does_not_vary,
    swap_floor,
)
from ._comparison import ADJUSTMENTS, SystemComparison, adjusted_pvalues
from ._counts import _sum_type, resample_counts
from ._items import PairedItems, check_groups, check_statistics, column_sums, sum_groups
from ._linear import linear_p_value
from ._metrics import READY, Metric, check_metric_name, metric_of_callable
from ._monte_carlo import plain_p_value, thresholds
from ._tilted import _tail

# Tilted draws for a tail: each pair needs its own, and among many pairs little depends
# on the error of 5 to 10% that so many leave. Where the p-value is so small that it
# stays below _CLEAR times any number of pairs, fewer will do.
_MOST_TILTED, _FEW_TILTED = 500, 100
_CLEAR = 1e-3


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
        same for all pairs; tilted ones are each pair's own.
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
        If the smallest p-value that the resamples can give is decided by their number:
        with b resamples, b + 1 less than the number of pairs divided by `alpha`,
        nothing can be significant. Or if a gain has zero variance, as in
        :func:`paired_bootstrap_test`.

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

    References
    ----------
    .. [1] T. Berg-Kirkpatrick, D. Burkett and D. Klein (2012). "An empirical
       investigation of statistical significance in NLP". EMNLP.

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
        f"{caller}: with {n_pairs} pairs and n_resamples={n_resamples} no adjusted "
        f"p-value of a resampled pair can be below {n_pairs * least:.3g}, "
        f"more than alpha={alpha:g}. Draw more than {int(n_pairs / alpha)}, or use "
        "method='auto'.",
        UserWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class Systems:
    """Checked statistics of several systems on the same items, or summed by group.

    `columns` has shape (n, n_systems, m).
    """

    names: list[str]
    columns: np.ndarray
    metric: Metric
    n_items: int
    n_groups: int | None

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.names)

    @property
    def scores(self) -> np.ndarray:
        """Return the metric of each system."""
        return np.array(
            [
                self.metric.value(column_sums(self.columns[:, k]))
                for k in range(self.n_systems)
            ]
        )

    def items(self, i: int, j: int) -> PairedItems:
        """Return the paired items of two systems."""
        return PairedItems(
            self.columns[:, i],
            self.columns[:, j],
            self.metric,
            self.n_items,
            self.n_groups,
        )

    def take(self, rows: np.ndarray) -> Systems:
        """Return the same systems on some of the items or groups."""
        n_groups = None if self.n_groups is None else rows.size
        return replace(
            self, columns=self.columns[rows], n_items=rows.size, n_groups=n_groups
        )


def check_systems(systems: Any, statistic: Any, groups: Any, *, caller: str) -> Systems:
    """Return the checked statistics of several systems, summed by group."""
    check_metric_name(statistic, caller=caller)
    if not isinstance(systems, Mapping):
        raise TypeError(
            f"The 'systems' parameter of {caller} must be a mapping from names to "
            f"statistics. Got {type(systems).__name__}."
        )
    if len(systems) < 2:
        raise ValueError(
            f"The 'systems' parameter of {caller} must have two systems at least. Got "
            f"{len(systems)}."
        )
    names = list(systems)
    columns = [
        check_statistics(x, statistic, name=f"systems[{name!r}]", caller=caller)
        for name, x in systems.items()
    ]
    for name, each in zip(names, columns, strict=True):
        if each.shape != columns[0].shape:
            raise ValueError(
                f"The 'systems' parameter of {caller} must have a row for each item "
                f"and the same columns in each system. Got {columns[0].shape} for "
                f"{names[0]!r} and {each.shape} for {name!r}."
            )
    n_items, n_groups = len(columns[0]), None
    if groups is not None:
        index, n_groups = check_groups(groups, caller=caller)
        if index.size != n_items:
            raise ValueError(
                f"The 'groups' parameter of {caller} must have one entry for each of "
                f"the {n_items} items. Got {index.size}."
            )
        columns = [sum_groups(each, index, n_groups) for each in columns]
    if len(columns[0]) < 2:
        unit = "items" if groups is None else "groups"
        raise ValueError(f"{caller} needs two {unit} at least. Got {len(columns[0])}.")
    if callable(statistic):
        metric = metric_of_callable(statistic, columns[0], columns[1], caller=caller)
    else:
        metric = READY[statistic]
        _check_denominators(names, columns, metric, caller)
    return Systems(names, np.stack(columns, axis=1), metric, n_items, n_groups)


def _check_denominators(
    names: list[str], columns: list[np.ndarray], metric: Metric, caller: str
) -> None:
    for name, each in zip(names, columns, strict=True):
        if metric.name == "ratio" and not each[:, 1].any():
            raise ValueError(
                f"The 'systems' parameter of {caller} must have a denominator above 0 "
                f"in some row. Got 0 in all of {name!r}."
            )


@dataclass
class PairResults:
    """What the tests of pairs gave; arrays have an entry for each pair."""

    pairs: list[tuple[int, int]]
    gain: np.ndarray
    pvalue: np.ndarray
    method: list[str]
    monte_carlo_error: np.ndarray
    drawn: bool = False
    tilts: bool = False


@dataclass
class Extremes:
    """How many resamples are beyond the upper, the lower, and either threshold."""

    upper: int = 0
    lower: int = 0
    either: int = 0

    def add(self, upper: np.ndarray, lower: np.ndarray, alternative: str) -> None:
        """Count some more resamples."""
        self.upper += int(np.count_nonzero(upper))
        self.lower += int(np.count_nonzero(lower))
        sides = {"greater": upper, "less": lower}
        either = sides[alternative] if alternative in sides else upper | lower
        self.either += int(np.count_nonzero(either))


class PairTests:
    """The tests of many pairs: without draws where that is possible.

    What is left shares one stream of resample counts.
    """

    def __init__(
        self,
        systems: Systems,
        alternative: str,
        method: str,
        n_resamples: int,
        rng: np.random.Generator,
    ):
        self.systems, self.alternative, self.method = systems, alternative, method
        self.n_resamples, self.rng = n_resamples, rng

    def run(self, pairs: Sequence[tuple[int, int]], *, caller: str) -> PairResults:
        """Return the gains and p-values of pairs of systems, by their numbers."""
        n = len(pairs)
        found = PairResults(list(pairs), np.zeros(n), np.ones(n), [""] * n, np.zeros(n))
        constant, left = [], []
        for k, (i, j) in enumerate(pairs):
            items = self.systems.items(i, j)
            found.gain[k] = items.gain
            if does_not_vary(items):
                found.method[k] = "exact" if items.gain == 0 else "permutation"
                if items.gain != 0:
                    constant.append(k)
                    found.pvalue[k] = swap_floor(items, self.alternative)
                continue
            known = self._undrawn(items, caller)
            if known is None:
                left.append((k, items))
            else:
                found.pvalue[k], found.method[k] = known
        if constant:
            self._warn_of_constant(found, constant, caller)
        if left:
            self._draw(found, left)
        return found

    def _warn_of_constant(
        self, found: PairResults, constant: list[int], caller: str
    ) -> None:
        i, j = found.pairs[constant[0]]
        names = self.systems.names
        warnings.warn(
            f"{caller}: zero variance of the gain in {len(constant)} of "
            f"{len(found.pairs)} pairs ({names[i]!r} and {names[j]!r} first): it is "
            "the same in every item. Their p-values are those of swapping the systems "
            "at random.",
            UserWarning,
            stacklevel=4,
        )

    def _undrawn(self, items: PairedItems, caller: str) -> tuple[float, str] | None:
        """Return p-value and method where nothing needs to be drawn."""
        if self.method in ("exact", "saddlepoint"):
            check_linear(items, self.method, caller=caller)
        linear = items.linear
        if self.method in ("monte_carlo", "tilted") or linear is None:
            return None
        p = None
        if self.method != "saddlepoint" and linear.is_integer:
            auto = self.method == "auto"
            window = _LARGEST_QUICK_WINDOW if auto else _LARGEST_WINDOW
            p = linear_p_value(linear, self.alternative, largest_window=window)
        if p is not None:
            found = p, "exact"
        elif self.method == "exact":
            raise ValueError(
                f"method='exact' of {caller} would need a lattice of more than "
                f"{_LARGEST_WINDOW:,} points for these sums. Use method='saddlepoint'."
            )
        elif self.method == "auto" and linear.n < _FEWEST_FOR_SADDLEPOINT:
            return None
        else:
            p = linear_p_value(linear, self.alternative, largest_window=None)
            assert p is not None
            found = p, "saddlepoint"
        if found[0] == 0 and self.method == "auto":
            return swap_floor(items, self.alternative), "permutation"
        return found

    def _needs_tilting(self, n_extreme: int) -> bool:
        rare = n_extreme < _FEWEST_EXTREME and n_extreme < self.n_resamples / 20
        return self.method == "tilted" or (self.method == "auto" and rare)

    def _draw(self, found: PairResults, left: list[tuple[int, PairedItems]]) -> None:
        """Fill in the p-values of the pairs that are left."""
        found.drawn, found.tilts = True, self.method != "monte_carlo"
        seen = self._count_extremes(found, left)
        # a stream for each pair: none depends on what others needed
        streams = self.rng.spawn(len(left))
        for (k, items), each, stream in zip(left, seen, streams, strict=True):
            p, error = plain_p_value(each.either, self.n_resamples)
            method = "monte_carlo"
            if self._needs_tilting(each.either):
                tilted = self._tilted(items, each, len(found.pairs), stream)
                if tilted is not None:
                    (p, error), method = tilted, "tilted"
            found.pvalue[k], found.monte_carlo_error[k] = p, error
            found.method[k] = method

    def _tilted(
        self,
        items: PairedItems,
        seen: Extremes,
        n_pairs: int,
        rng: np.random.Generator,
    ) -> tuple[float, float] | None:
        """Return p-value and standard error, as precise as the number of pairs asks."""
        found = None
        for most in (_FEW_TILTED, _MOST_TILTED):
            n_draws = max(2, min(self.n_resamples, most))
            found = self._sum_of_tails(items, seen, n_draws, rng)
            if found is not None and found[0] * n_pairs < _CLEAR:
                break
        return found

    def _sum_of_tails(
        self, items: PairedItems, seen: Extremes, n_draws: int, rng: np.random.Generator
    ) -> tuple[float, float] | None:
        """Return p-value and standard error; None if no tail can be tilted.

        A tail that cannot is taken from the shared resamples.
        """
        up, down = thresholds(items.gain, self.alternative)
        sides = []
        if self.alternative != "less":
            sides.append((up, 1, seen.upper))
        if self.alternative != "greater":
            sides.append((down, -1, seen.lower))
        tails = [_tail(items, at, sign, n_draws, rng) for at, sign, _ in sides]
        if all(tail is None for tail in tails):
            return None
        p = variance = 0.0
        for tail, (_, _, n_seen) in zip(tails, sides, strict=True):
            share = n_seen / self.n_resamples
            plain = share, (share * (1 - share) / self.n_resamples) ** 0.5
            value, error = plain if tail is None else tail
            p, variance = p + value, variance + error**2
        return (min(p, 1.0), variance**0.5) if p > 0 else None

    def _count_extremes(
        self, found: PairResults, left: list[tuple[int, PairedItems]]
    ) -> list[Extremes]:
        """Return how many of the shared resamples are as extreme, of each pair."""
        first, second = np.array([found.pairs[k] for k, _ in left]).T
        seen = [Extremes() for _ in left]
        limits = []
        for _, items in left:
            up, down = thresholds(items.gain, self.alternative)
            limits.append((up - items.tolerance, down + items.tolerance))
        for values in self._metric_of_resamples():
            for k, (up, down) in enumerate(limits):
                gain = values[:, first[k]] - values[:, second[k]]
                seen[k].add(gain >= up, gain <= down, self.alternative)
        return seen

    def _metric_of_resamples(self) -> Iterator[np.ndarray]:
        """Yield the metric of each system, (chunk, n_systems), in shared resamples."""
        n, n_systems, m = self.systems.columns.shape
        columns = self.systems.columns.reshape(n, n_systems * m)
        dtype = _sum_type(columns)
        columns = np.ascontiguousarray(columns, dtype=dtype)
        for counts in resample_counts(n, self.n_resamples, self.rng, dtype=dtype):
            sums = (counts @ columns).astype(np.float64).reshape(-1, n_systems, m)
            metric = self.systems.metric.of_sums
            values = [metric(sums[:, k])[0] for k in range(n_systems)]
            yield np.column_stack(values)
