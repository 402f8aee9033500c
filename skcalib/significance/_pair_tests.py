"""Choice of the test of a pair of systems, and tests of many pairs with shared draws.

| data | test |
|---|---|
| the gain is 0 in every resample | p-value 1 |
| the gain is the same in every item | sign flips |
| few or unequal items or groups, or rare large losses, for 'auto' | sign flips |
| rare large losses, for 'auto', if the p-value is then larger | Hall's t |
| the gain is one ratio of sums | exact on a lattice, or saddlepoint |
| another metric | resamples |
| a p-value below the smallest one of sign flips, for 'auto' | sign flips |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._errors import warn
from ._paired_items import PairedItems, Systems
from ._resamples import iter_sums, n_extreme, plain_p_value
from ._sign_flips import FlippedGain
from ._tail_probabilities import as_pvalues, thresholds, undrawn_p_value


class PairTest(NamedTuple):
    """The test of a pair: 'identical', 'sign_flips', 'undrawn' or 'resamples'.

    `flips` is given if sign flips are, or may have to be, used. `undrawn` contains the
    p-value and its method if nothing has to be drawn.
    """

    engine: str
    items: PairedItems
    flips: FlippedGain | None = None
    undrawn: tuple[float, str] | None = None


def choose_test(items: PairedItems, alternative: str, method: str) -> PairTest:
    """Return the test of a pair, with the p-value if nothing has to be drawn."""
    if method == "auto":
        items = items.informative
    if items.is_constant and items.gain == 0:
        return PairTest("identical", items)
    flips = None
    if items.is_constant or method in ("auto", "sign_flips"):
        # Only 'auto' corrects sign flips for ties and for skewness.
        flips = FlippedGain(items, adjusts=method == "auto")
        if method != "auto" or items.is_constant or not flips.suits_bootstrap:
            return PairTest("sign_flips", items, flips)
    linear = None if items.linear is None else items.linear.in_wins[0]
    known = undrawn_p_value(linear, items.metric.name, alternative, method)
    if known is None:
        return PairTest("resamples", items, flips)
    # The bootstrap cannot know more than the signs of the differences show.
    if flips is not None and flips.rejects(known[0], alternative):
        return PairTest("sign_flips", items, flips)
    return PairTest("undrawn", items, flips, known)


@dataclass
class PairResults:
    """Results of the tests of pairs; arrays have one entry per pair.

    The gain of a pair (i, j) is the metric of system i minus the metric of system j.
    `smallest` is the smallest p-value that the test of the pair can give, 0 if the
    method does not limit it.
    """

    pairs: list[tuple[int, int]]
    gain: np.ndarray
    pvalue: np.ndarray
    method: list[str]
    monte_carlo_error: np.ndarray
    smallest: np.ndarray
    drawn: bool = False
    # the pairs whose p-values count ties by half
    mid_p: set[int] = field(default_factory=set)


@dataclass
class PairTests:
    """Tests of many pairs, without draws if possible.

    The remaining pairs share one stream of resample counts.
    """

    systems: Systems
    alternative: str
    method: str
    n_resamples: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        # Sorted rows, because rounding and the assignment of draws depend on the order.
        self.systems = self.systems.ordered()

    def run(self, pairs: Sequence[tuple[int, int]]) -> PairResults:
        """Return the gains and p-values of pairs of systems, by their numbers."""
        n = len(pairs)
        found = PairResults(
            list(pairs), np.zeros(n), np.ones(n), [""] * n, np.zeros(n), np.zeros(n)
        )
        constant: list[int] = []
        left: list[tuple[int, PairTest]] = []
        flipped: list[tuple[int, FlippedGain]] = []
        for k, (i, j) in enumerate(pairs):
            test = choose_test(self.systems.items(i, j), self.alternative, self.method)
            found.gain[k] = test.items.gain
            if test.flips is not None:
                found.smallest[k] = test.flips.smallest_p_value(self.alternative)
            if test.engine == "identical":
                found.method[k], found.smallest[k] = "exact", 1.0
            elif test.undrawn is not None:
                found.pvalue[k], found.method[k] = test.undrawn
            elif test.engine == "resamples":
                left.append((k, test))
            elif test.flips is not None:
                flipped.append((k, test.flips))
                if test.items.is_constant:
                    constant.append(k)
        if constant:
            i, j = sorted(found.pairs[constant[0]])
            names = self.systems.names
            warn(
                f"There is zero variance of the gain in {len(constant)} of "
                f"{len(found.pairs)} pairs ({names[i]!r} and {names[j]!r} first): it "
                "is the same in every item. Their p-values are computed by swapping "
                "the systems at random."
            )
        # All pairs share the resamples, whose sums of systems are computed once.
        if left:
            flipped += self._draw(found, left)
        self._flip(found, flipped)
        found.pvalue = as_pvalues(found.pvalue)
        return found

    def _flip(self, found: PairResults, flipped: list[tuple[int, FlippedGain]]) -> None:
        """Fill in the p-values of the pairs whose signs are flipped."""
        # one stream per pair, so that no pair depends on the draws of the others
        streams = self.rng.spawn(len(flipped))
        for (k, flips), stream in zip(flipped, streams, strict=True):
            test = flips.p_value(self.alternative, self.n_resamples, stream)
            found.method[k], found.pvalue[k], found.monte_carlo_error[k] = test[:3]
            found.drawn |= test[3] is not None
            if flips.has_mid_p and test[0] == "sign_flips":
                found.mid_p.add(k)

    def _draw(
        self, found: PairResults, left: list[tuple[int, PairTest]]
    ) -> list[tuple[int, FlippedGain]]:
        """Fill in the p-values of the remaining pairs.

        Return the pairs for which the resamples are not informative.
        """
        found.drawn, refused = True, []
        seen = self._count_extremes(found, left)
        for (k, test), n_seen in zip(left, seen, strict=True):
            p, error = plain_p_value(n_seen, self.n_resamples)
            if test.flips is not None and test.flips.rejects(p, self.alternative):
                refused.append((k, test.flips))
                continue
            found.pvalue[k], found.monte_carlo_error[k] = p, error
            found.method[k] = "monte_carlo"
            found.smallest[k] = max(found.smallest[k], 1 / (self.n_resamples + 1))
        return refused

    def _count_extremes(
        self, found: PairResults, left: list[tuple[int, PairTest]]
    ) -> list[int]:
        """Return the number of shared resamples that are as extreme, for each pair."""
        seen = [0] * len(left)
        limits = []
        for k, test in left:
            up, down = thresholds(test.items.gain, self.alternative)
            tolerance = test.items.tolerance
            # Ties count as extreme.
            limits.append((*found.pairs[k], up - tolerance, down + tolerance))
        n, n_systems, m = self.systems.columns.shape
        columns, metric = self.systems.columns.reshape(n, -1), self.systems.metric
        for flat in iter_sums(columns, self.n_resamples, self.rng):
            sums = flat.reshape(-1, n_systems, m)
            values = [metric.of_sums(sums[:, k])[0] for k in range(n_systems)]
            for k, (i, j, up, down) in enumerate(limits):
                gain = values[i] - values[j]
                seen[k] += n_extreme(gain >= up, gain <= down, self.alternative)
        return seen
