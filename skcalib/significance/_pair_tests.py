"""Tests of many pairs of systems with as few draws as possible.

Small p-values of a gain in F1 without draws, by a saddlepoint approximation.

Equation: theory, (P7). The mean row m of a resample has a density close to e^(-n L(m)),
where L is the convex conjugate of K(l) = log mean e^(l x) over the rows x. The means
with gain t form a surface. Its most probable point satisfies m = K'(l) and l = theta
G'(m). Let g be the gradient and B the matrix of second derivatives of the gain at this
point, and V = K''(l). The tail beyond the surface is the Lugannani-Rice formula at r
and u,

    r^2 = 2 n L(m),   u^2 = n theta^2 det(I - theta V B) g' (I - theta V B)^-1 V g,

where theta B accounts for the curvature of the surface (DiCiccio and Martin 1991,
Biometrika 78, 891; Jing and Robinson 1994, Annals of Statistics 22, 1115). For a plane,
B is 0 and u is theta times the standard deviation of the sum of g' x.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._errors import warn
from ._paired_items import READY, PairedItems, Systems
from ._ratio_gain import undrawn_p_value
from ._resamples import (
    DrawnPValue,
    Extremes,
    drawn_p_value,
    resample_counts,
    sides,
    sum_type,
    thresholds,
)
from ._sign_flips import FlippedGain
from ._tail_probabilities import TINY, as_pvalues, corrected_tail

# With fewer non-empty items, the distribution is too far from continuous, and F1 may be
# 0/0 in a resample. Sums on a coarse lattice are also too far from continuous. They
# occur if the denominators of the systems differ on hardly any item, or if they differ
# exactly as the numerators do.
_FEWEST_ITEMS, _FEWEST_DENOMINATORS = 100, 5

# Largest change of an exponent in a Newton step, and the largest number of steps.
_LONGEST_STEP, _MOST_STEPS = 3.0, 60


def surface_p_value(items: PairedItems, alternative: str) -> float | None:
    """Return the p-value, or None if the formula is unreliable or the metric is not F1.

    The relative error is about 1% with 200 or more items that are not empty, and about
    2% with 100 or more.
    """
    if items.metric is not READY["f1"]:
        return None
    of_rows = items.metric.quotient
    assert of_rows is not None
    rows = np.column_stack([*of_rows(items.a), *of_rows(items.b)])
    rows /= rows.max()  # F1 has no unit
    few = np.count_nonzero(rows.any(axis=1)) < _FEWEST_ITEMS
    if few or _n_denominators(rows) < _FEWEST_DENOMINATORS:
        return None
    p = 0.0
    for threshold, sign in sides(items.gain, alternative):
        tail = surface_tail(rows, threshold, sign)
        if tail is None:
            return None
        p += tail
    return min(p, 1.0)


def _n_denominators(rows: np.ndarray) -> float:
    """Return the effective number of items whose denominators differ independently."""
    above, below = rows[:, 0] - rows[:, 2], rows[:, 1] - rows[:, 3]
    above, below = above - above.mean(), below - below.mean()
    square = float(above @ above)
    # the part of the denominators that the numerators do not explain
    own = below - (above @ below / square if square > 0 else 0.0) * above
    if own @ own <= 1e-9 * (below @ below):
        return 0.0
    return float((own @ own) ** 2 / (own**2 @ own**2))


def surface_tail(rows: np.ndarray, threshold: float, sign: int) -> float | None:
    """Return P(sign * (d* - threshold) >= 0), where d* is the gain of resampled rows.

    The gain is the difference of two quotients of sums, from four columns. None is
    returned if no mixture of rows reaches the threshold or if the formula is undefined.
    """
    found = _most_probable(rows, threshold, sign)
    if found is None:
        return None
    at, tilt, theta = found
    n = len(rows)
    log_chance = n * (at.log_mean - float(tilt @ at.mean))
    matrix = np.eye(4) - theta * at.covariance @ at.bend
    (bent,) = _solve(matrix, at.covariance @ at.slope)
    # theory, (P7): for a plane, B is 0 and this is n theta^2 g' V g
    square = n * theta**2 * float(np.linalg.det(matrix) * (at.slope @ bent))
    # below 1 almost nothing varies: only copies of one row reach the threshold
    if theta <= 0 or log_chance >= 0 or not square > 1:
        return None
    # as (P4) with the u and w of (P7)
    correction = 1 / math.sqrt(square) - 1 / math.sqrt(-2 * log_chance)
    return min(max(corrected_tail(log_chance, correction), TINY), 1.0)


class _Tilted(NamedTuple):
    """Rows under a tilt, and the gain at their mean with its derivatives."""

    log_mean: float
    mean: np.ndarray
    covariance: np.ndarray
    centred: np.ndarray
    gain: float
    slope: np.ndarray
    bend: np.ndarray


def _most_probable(
    rows: np.ndarray, threshold: float, sign: int
) -> tuple[_Tilted, np.ndarray, float] | None:
    """Return the point of the surface, its tilt and theta, by Newton's method.

    At this point the tilt is theta times the slope, and the gain equals the threshold.
    To first order, both are true after the step `new * along - back` with theta =
    `new`.
    """
    tilt, theta = np.zeros(4), 0.0
    for _ in range(_MOST_STEPS):
        at = _tilted(rows, tilt, sign)
        if at is None:
            return None
        # The slope at the mean after a step changes by B V step, and the mean by V
        # step.
        matrix = np.eye(4) - theta * at.bend @ at.covariance
        along, back = _solve(matrix, at.slope, tilt)
        reach = at.covariance @ at.slope
        width = float(reach @ along)
        if not width > 0:
            return None
        # the theta for which the gain reaches the threshold to first order
        new = (sign * threshold - at.gain + float(reach @ back)) / width
        step = new * along - back
        longest = float(np.abs(at.centred @ step).max())
        if not math.isfinite(longest):
            return None
        if longest < 1e-8:
            return at, tilt, theta
        # Exponents that change more would leave the region of the first order.
        share = min(1.0, _LONGEST_STEP / longest)
        tilt, theta = tilt + share * step, theta + share * (new - theta)
    return None


def _tilted(rows: np.ndarray, tilt: np.ndarray, sign: int) -> _Tilted | None:
    """Return the rows with weights e^(tilt x), or None if a quotient is 0/0."""
    exponent = rows @ tilt
    largest = float(exponent.max())
    weight = np.exp(exponent - largest)
    total = float(weight.sum())
    mean = weight @ rows / total
    a, b, c, d = mean.tolist()
    if b <= 0 or d <= 0:
        return None
    centred = rows - mean
    covariance = (centred * weight[:, np.newaxis]).T @ centred / total
    # derivatives of a / b - c / d
    slope = np.array([1 / b, -a / b**2, -1 / d, c / d**2])
    bend = np.zeros((4, 4))
    bend[0, 1] = bend[1, 0] = -1 / b**2
    bend[2, 3] = bend[3, 2] = 1 / d**2
    bend[1, 1], bend[3, 3] = 2 * a / b**3, -2 * c / d**3
    log_mean = largest + math.log(total / len(rows))
    gain = sign * (a / b - c / d)
    return _Tilted(log_mean, mean, covariance, centred, gain, sign * slope, sign * bend)


def _solve(matrix: np.ndarray, *right: np.ndarray) -> np.ndarray:
    """Return the solutions for several right-hand sides; NaN if there are none."""
    try:
        return np.linalg.solve(matrix, np.column_stack(right)).T
    except np.linalg.LinAlgError:
        return np.full((len(right), len(matrix)), np.nan)


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
