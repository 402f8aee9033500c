"""The tests of many pairs of systems, with as few draws as may be."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ._bootstrap_test import (
    FEWEST_EXTREME,
    FEWEST_FOR_SADDLEPOINT,
    LARGEST_QUICK_WINDOW,
    LARGEST_WINDOW,
    check_linear,
    does_not_vary,
    swap_floor,
)
from ._counts import resample_counts, sum_type
from ._items import PairedItems
from ._linear import linear_p_value
from ._monte_carlo import plain_p_value, thresholds
from ._systems import Systems
from ._tilted import tilted_tail

# Tilted draws for a tail: each pair needs its own, and among many pairs little depends
# on the error of 5 to 10% that so many leave. Where the p-value is so small that it
# stays below _CLEAR times any number of pairs, fewer will do.
_MOST_TILTED, _FEW_TILTED = 500, 100
_CLEAR = 1e-3


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
            window = LARGEST_QUICK_WINDOW if auto else LARGEST_WINDOW
            p = linear_p_value(linear, self.alternative, largest_window=window)
        if p is not None:
            found = p, "exact"
        elif self.method == "exact":
            raise ValueError(
                f"method='exact' of {caller} would need a lattice of more than "
                f"{LARGEST_WINDOW:,} points for these sums. Use method='saddlepoint'."
            )
        elif self.method == "auto" and linear.n < FEWEST_FOR_SADDLEPOINT:
            return None
        else:
            p = linear_p_value(linear, self.alternative, largest_window=None)
            assert p is not None
            found = p, "saddlepoint"
        if found[0] == 0 and self.method == "auto":
            return swap_floor(items, self.alternative), "permutation"
        return found

    def _needs_tilting(self, n_extreme: int) -> bool:
        rare = n_extreme < FEWEST_EXTREME and n_extreme < self.n_resamples / 20
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
        tails = [tilted_tail(items, at, sign, n_draws, rng) for at, sign, _ in sides]
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
        # draws go to rows in their own order, whatever the order they came in; the
        # first system's columns count most, so further systems change nothing
        columns = columns[np.lexsort(columns.T[::-1])]
        dtype = sum_type(columns)
        columns = np.ascontiguousarray(columns, dtype=dtype)
        for counts in resample_counts(n, self.n_resamples, self.rng, dtype=dtype):
            sums = (counts @ columns).astype(np.float64).reshape(-1, n_systems, m)
            metric = self.systems.metric.of_sums
            values = [metric(sums[:, k])[0] for k in range(n_systems)]
            yield np.column_stack(values)
