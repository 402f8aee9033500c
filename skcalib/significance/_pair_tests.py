"""Tests of many pairs of systems with as few draws as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .._warn import warn
from ._f1_saddlepoint import surface_p_value
from ._paired_items import PairedItems, Systems
from ._ratio_gain import undrawn_p_value
from ._resamples import Extremes, resample_counts, sum_type, thresholds
from ._sign_flips import FlippedGain
from ._tail_probabilities import as_pvalues
from ._tilted_resamples import DrawnPValue, drawn_p_value

# Numbers of tilted resamples per tail. Each pair needs separate resamples, and among
# many pairs an error of 5 to 10% of a p-value has little influence. The smaller number
# is used for p-values that stay below _CLEAR after adjustment for the number of pairs.
_MOST_TILTED, _FEW_TILTED = 500, 100
_CLEAR = 1e-3


@dataclass
class PairResults:
    """Results of the tests of pairs; arrays have one entry per pair.

    The gain of a pair (i, j) is the metric of system i minus the metric of system j.
    `smallest` is the smallest p-value that the differing items allow, 0 if the method
    does not limit it.
    """

    pairs: list[tuple[int, int]]
    gain: np.ndarray
    pvalue: np.ndarray
    method: list[str]
    monte_carlo_error: np.ndarray
    smallest: np.ndarray
    drawn: bool = False
    tilts: bool = False


class PairTests:
    """Tests of many pairs, without draws if possible.

    The remaining pairs share one stream of resample counts.
    """

    def __init__(
        self,
        systems: Systems,
        alternative: str,
        method: str,
        n_resamples: int,
        rng: np.random.Generator,
        *,
        tilts: bool = True,
    ):
        # Sorted rows, because rounding and the assignment of draws depend on the order.
        self.systems = systems.ordered()
        self.alternative, self.method = alternative, method
        self.n_resamples, self.rng, self.tilts = n_resamples, rng, tilts

    def run(self, pairs: Sequence[tuple[int, int]]) -> PairResults:
        """Return the gains and p-values of pairs of systems, by their numbers."""
        n = len(pairs)
        found = PairResults(
            list(pairs), np.zeros(n), np.ones(n), [""] * n, np.zeros(n), np.zeros(n)
        )
        constant: list[int] = []
        left: list[tuple[int, PairedItems]] = []
        flipped: list[tuple[int, FlippedGain]] = []
        for k, (i, j) in enumerate(pairs):
            items = self.systems.items(i, j)
            if self.method == "auto":
                items = items.informative
            found.gain[k] = items.gain
            if items.is_constant and items.gain == 0:
                found.method[k], found.smallest[k] = "exact", 1.0
                continue
            flips = FlippedGain(items) if items.is_constant else self._flips(items)
            if flips is not None:
                found.smallest[k] = flips.smallest_p_value(self.alternative)
            if items.is_constant:
                constant.append(k)
            if flips is not None and (items.is_constant or not self._bootstraps(flips)):
                flipped.append((k, flips))
            elif not self._undrawn(found, k, items):
                left.append((k, items))
            elif flips is not None and self._refused(flips, found.pvalue[k]):
                flipped.append((k, flips))
        if constant:
            self._warn_of_constant(found, constant)
        self._flip(found, flipped + self._draw(found, left))
        found.pvalue = as_pvalues(found.pvalue)
        return found

    def _undrawn(self, found: PairResults, k: int, items: PairedItems) -> bool:
        """Fill in a p-value for which nothing is drawn, if there is one."""
        known = undrawn_p_value(
            items.linear, items.metric.name, self.alternative, self.method
        )
        if known is not None:
            found.pvalue[k], found.method[k] = known.pvalue, known.method
        return known is not None

    def _flips(self, items: PairedItems) -> FlippedGain | None:
        """Return the sign flips of the pair if they may be needed."""
        return FlippedGain(items) if self.method in ("auto", "sign_flips") else None

    def _bootstraps(self, flips: FlippedGain) -> bool:
        return self.method == "auto" and flips.suits_bootstrap

    def _refused(self, flips: FlippedGain, pvalue: float) -> bool:
        return flips.rejects(pvalue, self.alternative)

    def _flip(self, found: PairResults, flipped: list[tuple[int, FlippedGain]]) -> None:
        """Fill in the p-values of the pairs whose signs are flipped."""
        streams = self.rng.spawn(len(flipped))
        for (k, flips), stream in zip(flipped, streams, strict=True):
            test = flips.p_value(self.alternative, self.n_resamples, stream)
            found.pvalue[k], found.monte_carlo_error[k], n_drawn = test
            found.method[k] = "sign_flips"
            found.drawn |= n_drawn is not None

    def _warn_of_constant(self, found: PairResults, constant: list[int]) -> None:
        i, j = sorted(found.pairs[constant[0]])
        names = self.systems.names
        warn(
            f"There is zero variance of the gain in {len(constant)} of "
            f"{len(found.pairs)} pairs ({names[i]!r} and {names[j]!r} first): it is "
            "the same in every item. Their p-values are computed by swapping the "
            "systems at random.",
        )

    def _draw(
        self, found: PairResults, left: list[tuple[int, PairedItems]]
    ) -> list[tuple[int, FlippedGain]]:
        """Fill in the p-values of the remaining pairs.

        Return the pairs for which the resamples are not informative.
        """
        if not left:
            return []
        found.drawn, found.tilts = True, self.method != "monte_carlo"
        seen = self._count_extremes(found, left)
        # one stream per pair, so that no pair depends on the draws of the others
        streams = self.rng.spawn(len(left))
        for (k, items), each, stream in zip(left, seen, streams, strict=True):
            drawn = self._drawn_p_value(items, each, len(found.pairs), stream)
            found.pvalue[k], found.monte_carlo_error[k] = drawn.pvalue, drawn.error
            found.method[k] = drawn.method
        several = ((k, self._flips(items)) for k, items in left)
        return [
            (k, flips)
            for k, flips in several
            if flips is not None and self._refused(flips, found.pvalue[k])
        ]

    def _drawn_p_value(
        self, items: PairedItems, seen: Extremes, n_pairs: int, rng: np.random.Generator
    ) -> DrawnPValue:
        """Return a p-value with the precision that the number of pairs requires."""
        if self.method == "auto" and self.tilts and seen.is_rare:
            p = surface_p_value(items, self.alternative)
            if p is not None:
                return DrawnPValue(p, 0.0, "saddlepoint")
        for most in (_FEW_TILTED, _MOST_TILTED):
            n_draws = min(self.n_resamples, most) if self.tilts else 0
            found = drawn_p_value(
                items, self.alternative, self.method, seen, n_draws, rng
            )
            if found.method != "tilted" or found.pvalue * n_pairs < _CLEAR:
                break
        return found

    def _count_extremes(
        self, found: PairResults, left: list[tuple[int, PairedItems]]
    ) -> list[Extremes]:
        """Return the number of shared resamples that are as extreme, for each pair."""
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
        dtype = sum_type(columns)
        columns = np.ascontiguousarray(columns, dtype=dtype)
        for counts in resample_counts(n, self.n_resamples, self.rng, dtype=dtype):
            sums = (counts @ columns).astype(np.float64).reshape(-1, n_systems, m)
            metric = self.systems.metric.of_sums
            values = [metric(sums[:, k])[0] for k in range(n_systems)]
            yield np.column_stack(values)
