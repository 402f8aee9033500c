"""Sign flips: tests of a gain by swapping the two systems at random.

The gain is written as a ratio (sum d) / (sum l) over rows (items or groups). Swapping
the systems in a row changes the sign of its d. Under the hypothesis that the gain is t,
the signs of d - t l are treated as random. The p-value is the probability that abs(sum
s (d - t l)) is at least abs(sum (d - t l)) for random signs s. At t = 0 this is the
permutation test that swaps the systems.

Let D and L be the sums over all rows, and X and Y those over the rows that are flipped.
The event is (t Y - X) (D - X - t (L - Y)) >= 0: theory, (P9) and (P10). It means that t
lies between the gain of the flipped rows, X / Y, and the gain of the other rows. These
two gains are on different sides of D / L, so the p-value decreases on both sides of the
gain. The ends of the interval of all t that are not rejected are therefore quantiles of
these gains. No search is needed, and p-value and interval use the same flips.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import binom

from ._paired_items import PairedItems, distinct_rows
from ._ratio_gain import LinearGain
from ._resamples import plain_p_value
from ._tail_probabilities import TINY, signed_sum_saddlepoint, signed_sum_tail

# Largest number of flips that are enumerated, and of points of an integer lattice.
_MOST_LISTED, _LARGEST_LATTICE = 1 << 16, 1 << 15

# Signs held at once (8 bytes each).
_BLOCK = 1 << 21

# Sums that differ by at most this fraction of the sum of absolute values are ties.
_TIE = 1e-11

# For rows that occur this often, the number of flips is drawn instead of each flip.
_MANY = 16

# A drawn p-value with fewer extreme flips is replaced by a saddlepoint approximation,
# which needs at least this many differences.
_FEWEST_EXTREME, _FEWEST_FOR_SADDLEPOINT = 50, 30

# Effective numbers of items or groups that the bootstrap needs, by the squares and by
# the fourth powers of their lengths. Groups need a larger value of the latter, because
# their differences grow with their lengths. For wins, losses and ties: the number
# needed if at least half are ties, and the number needed otherwise. The values were
# chosen on the distributions for tuning of benchmarks/paired_test_size.py.
_FEWEST_BY_SQUARES, _FEWEST_ITEMS, _FEWEST_GROUPS = 60, 30, 60
_FEWEST_WITH_TIES, _FEWEST_WITHOUT_TIES = 20, 30

# Differences between p-values below this value are irrelevant.
_NEGLIGIBLE = 1e-12

# Binomial probabilities are quotients of integers up to this number of coins.
_EXACT_BINOMIAL = 500


@dataclass(frozen=True)
class FlipTest:
    """P-value and interval of a gain from sign flips.

    Attributes
    ----------
    pvalue : float
    low, high : float
        Ends of the interval. An end is infinite if no gain can be rejected on its side.
    error : float
        Monte Carlo standard error of the p-value.
    n_drawn : int or None
        Number of draws. None if nothing was drawn.
    """

    pvalue: float
    low: float
    high: float
    error: float
    n_drawn: int | None


@dataclass(frozen=True)
class _Flips:
    """Sums X, Y over the flipped rows, and the probability of each set of flips."""

    difference: np.ndarray
    length: np.ndarray
    chance: np.ndarray
    n_drawn: int | None


class FlippedGain:
    """The gain as a ratio of sums over rows whose differences change sign in a swap.

    Items that are all zeros in both systems change neither a score nor the gain. They
    are left out.
    """

    def __init__(self, items: PairedItems):
        items = items.informative
        self.grouped = items.n_groups is not None and items.n_groups < items.n_items
        gain = _as_ratio(items) if items.linear is None else items.linear
        # the better system first, so that swapping the two changes no draw
        self.sign = _orientation(gain)
        rows, times = _rows_of(gain, self.sign)
        counts = rows.any(axis=1)
        rows, times = rows[counts], times[counts]
        self.gain = replace(gain, difference=rows[:, 0], length=rows[:, 1], times=times)
        self.tie = _TIE * float(np.abs(rows[:, 0]) @ times)

    @cached_property
    def n_differences(self) -> int:
        """Number of items or groups that a swap changes."""
        return int(self.gain.times[np.abs(self.gain.difference) > self.tie].sum())

    def smallest_p_value(self, alternative: str) -> float:
        """Return the smallest p-value over all signs of these differences."""
        n_sides = 2 if alternative == "two-sided" else 1
        return min(max(n_sides * 2.0**-self.n_differences, TINY), 1.0)

    def rejects(self, pvalue: float, alternative: str) -> bool:
        """Whether a p-value is below the smallest p-value that sign flips can give."""
        smallest = self.smallest_p_value(alternative)
        return pvalue < smallest and (pvalue == 0 or smallest > _NEGLIGIBLE)

    @cached_property
    def suits_bootstrap(self) -> bool:
        """Whether the bootstrap has approximately its nominal error rate.

        The bootstrap estimates the variance of the gain from the items and treats it as
        known. The estimate is too small by a factor of one over the number of items
        (the effective number if lengths differ). Ties compensate for this bias if all
        differences are wins, losses and ties.
        """
        gain = self.gain
        length, size = gain.length, np.abs(gain.difference)
        if not length.size:
            return True
        share = length / length.max()
        square = float(gain.times @ share**2)
        # effective numbers: n for equal lengths, 1 if one length dominates
        by_squares = float(gain.times @ share) ** 2 / square
        by_fourth_powers = square**2 / float(gain.times @ share**4)
        if by_squares >= _FEWEST_BY_SQUARES * (1 - 1e-9):
            fewest = _FEWEST_GROUPS if self.grouped else _FEWEST_ITEMS
            return by_fourth_powers >= fewest
        size = size[size > self.tie]
        if size.size and np.ptp(size) <= 1e-9 * size[0] and np.ptp(share) <= 1e-9:
            many = gain.n >= _FEWEST_WITHOUT_TIES
            return many or gain.n >= max(_FEWEST_WITH_TIES, 2 * self.n_differences)
        return False

    def test(
        self,
        alternative: str,
        level: float,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> FlipTest:
        """Return p-value and interval from the same flips."""
        flips = self._listed()
        if flips is None:
            flips = self._drawn(n_resamples, rng)
        p, error = self._p_value(flips, self._oriented(alternative))
        both = p
        if alternative != "two-sided":
            both, _ = self._p_value(flips, "two-sided")
        low, high = self._interval(flips, level, both)
        if self.sign < 0:
            # The systems were exchanged, so the interval is mirrored.
            low, high = -high, -low
        return FlipTest(p, low, high, error, flips.n_drawn)

    def p_value(
        self, alternative: str, n_resamples: int, rng: np.random.Generator
    ) -> tuple[float, float, int | None]:
        """Return the p-value, its Monte Carlo error and the number of draws."""
        alternative = self._oriented(alternative)
        flips = self._listed()
        if flips is None:
            whole = self._lattice_p_value(alternative)
            if whole is not None:
                return whole, 0.0, None
            flips = self._drawn(n_resamples, rng)
        return *self._p_value(flips, alternative), flips.n_drawn

    def _oriented(self, alternative: str) -> str:
        turned = {"greater": "less", "less": "greater"}
        return alternative if self.sign > 0 else turned.get(alternative, alternative)

    def _p_value(self, flips: _Flips, alternative: str) -> tuple[float, float]:
        """Return the p-value and its Monte Carlo standard error."""
        if abs(self.total) <= self.tie and alternative == "two-sided":
            return 1.0, 0.0
        p = self._share(flips, alternative)
        if flips.n_drawn is None:
            return p, 0.0
        whole = self._lattice_p_value(alternative)
        if whole is not None:
            return whole, 0.0
        # A p-value from few extreme draws has a large relative error.
        if p * flips.n_drawn < _FEWEST_EXTREME:
            tail = self._saddlepoint(alternative)
            if tail is not None:
                return tail, 0.0
        return p, plain_p_value(round(p * (flips.n_drawn + 1)) - 1, flips.n_drawn)[1]

    @property
    def total(self) -> float:
        """Sum of the differences, at least 0."""
        return float(self.gain.total)

    def _share(self, flips: _Flips, alternative: str) -> float:
        """Return the probability of flips with a gain at least as large."""
        # Flipping a row changes the sum by twice its difference.
        flipped = self.total - 2 * flips.difference
        if alternative == "greater":
            extreme = flipped >= self.total - self.tie
        elif alternative == "less":
            extreme = flipped <= self.total + self.tie
        else:
            extreme = np.abs(flipped) >= self.total - self.tie
        return min(max(float(flips.chance[extreme].sum()), TINY), 1.0)

    def _lattice_p_value(self, alternative: str) -> float | None:
        """Return the p-value of integers, or None if the lattice is too long."""
        if not self.gain.is_integer:
            return None
        size, place = np.unique(np.abs(self.gain.difference), return_inverse=True)
        times = np.bincount(place, self.gain.times)
        values, times = size[size > 0], times[size > 0]
        total = int(self.gain.total)
        if values.size == 0 or (alternative == "two-sided" and total == 0):
            return 1.0
        tail = signed_sum_tail(
            values.astype(np.int64),
            times.astype(np.int64),
            -total if alternative == "less" else total,
            _LARGEST_LATTICE,
        )
        if tail is None or alternative != "two-sided":
            return tail
        # The sum of random signs is symmetric.
        return min(2 * tail, 1.0)

    def _saddlepoint(self, alternative: str) -> float | None:
        """Return a small p-value, or None if the formula is unreliable."""
        size = np.abs(self.gain.difference)
        differs = size > self.tie
        size, times = size[differs], self.gain.times[differs]
        if alternative == "less":
            return None
        if self.total >= float(size @ times) - self.tie:
            return self.smallest_p_value(alternative)
        if self.n_differences < _FEWEST_FOR_SADDLEPOINT:
            return None
        tail = signed_sum_saddlepoint(size, times, self.total)
        return min(2 * tail, 1.0) if alternative == "two-sided" else tail

    def _interval(
        self, flips: _Flips, level: float, pvalue: float
    ) -> tuple[float, float]:
        """Return the interval of gains not rejected, consistent with the p-value."""
        above, others = flips.difference, self.total - flips.difference
        whole = float(self.gain.length_total)
        length, rest = flips.length, whole - flips.length
        # theory, (P10): the gains of the flipped rows and of the others
        first = _quotient(above, length, self.tie)
        second = _quotient(others, rest, self.tie)
        # rows without length and difference do not depend on the gain
        anything = np.isnan(first) | np.isnan(second)
        low = np.where(anything, -np.inf, np.minimum(first, second))
        high = np.where(anything, np.inf, np.maximum(first, second))
        # Ties at 1 - level belong to the interval.
        chance = (1 - level) * (1 - 1e-12)
        ends = [
            -_reached(-low, flips.chance, chance),
            _reached(high, flips.chance, chance),
        ]
        # The p-value may come from a lattice or a saddlepoint instead of these flips.
        rejected = pvalue < chance
        if rejected and ends[0] <= 0:
            # the p-value has no Monte Carlo error, but the end may have one
            ends[0] = float(np.min(low[low > 0], initial=self.total / whole))
        if not rejected:
            ends[0] = min(ends[0], 0.0)
        return ends[0], ends[1]

    def _listed(self) -> _Flips | None:
        """Return all flips, or None if there are too many."""
        times = self.gain.times
        # Equal rows differ only in the number of flips, 0 to times.
        if float(np.log2(times + 1.0).sum()) > math.log2(_MOST_LISTED):
            return None
        counts = np.zeros((1, 0))
        chance = np.ones(1)
        for n in times.tolist():
            k = np.arange(n + 1)
            distribution = _binomial(n)
            counts = np.hstack(
                [np.repeat(counts, n + 1, axis=0), np.tile(k, len(counts))[:, None]]
            )
            chance = np.outer(chance, distribution).ravel()
        gain = self.gain
        return _Flips(counts @ gain.difference, counts @ gain.length, chance, None)

    def _drawn(self, n_resamples: int, rng: np.random.Generator) -> _Flips:
        """Return random flips, including the observed one (no row flipped)."""
        times = self.gain.times
        often = times >= _MANY
        rows = np.column_stack([self.gain.difference, self.gain.length])
        single = np.repeat(rows[~often], times[~often], axis=0)
        # Row 0 is the observed signs, which makes the p-value (s + 1) / (b + 1).
        sums = np.zeros((n_resamples + 1, 2))
        step = max(1, _BLOCK // max(len(single), int(often.sum()), 1))
        for start in range(1, n_resamples + 1, step):
            size = min(step, n_resamples + 1 - start)
            chunk = sums[start : start + size]
            chunk += random_signs(size, len(single), rng) @ single
            if often.any():
                n_flips = rng.binomial(times[often], 0.5, (size, int(often.sum())))
                chunk += n_flips @ rows[often]
        chance = np.full(n_resamples + 1, 1 / (n_resamples + 1))
        return _Flips(sums[:, 0], sums[:, 1], chance, n_resamples)


def _binomial(n: int) -> np.ndarray:
    """Return the probabilities of 0 to n heads of n fair coins."""
    if n > _EXACT_BINOMIAL:
        return np.asarray(binom.pmf(np.arange(n + 1), n, 0.5))
    return np.array([math.comb(n, k) / 2**n for k in range(n + 1)])


def random_signs(n_rows: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return zeros and ones of shape (n_rows, n), each with probability one half."""
    # one random bit for each sign instead of one float
    bits = np.frombuffer(rng.bytes(-(-n_rows * n // 8)), dtype=np.uint8)
    return np.unpackbits(bits, count=n_rows * n).reshape(n_rows, n).astype(np.float64)


def _quotient(above: np.ndarray, below: np.ndarray, tie: float) -> np.ndarray:
    """Return above / below: infinite with the sign of `above` for 0, nan for 0/0."""
    nothing = below <= 0
    values = np.divide(above, below, out=np.zeros_like(above), where=~nothing)
    # No rows, or rows without length: the sign of the sum decides.
    sign = np.where(np.abs(above) > tie, np.sign(above), np.nan)
    return np.where(nothing, sign * np.inf, values)


def _reached(values: np.ndarray, weight: np.ndarray, chance: float) -> float:
    """Return the largest value that is reached with the given probability."""
    order = np.argsort(-values, kind="stable")
    k = int(np.searchsorted(weight[order].cumsum(), chance))
    return float(values[order[min(k, order.size - 1)]])


def _orientation(gain: LinearGain) -> int:
    """Return 1 if A is better and -1 if B is better; ties use the sorted order."""
    if gain.total != 0:
        return 1 if gain.total > 0 else -1
    first, second = (_rows_of(gain, sign)[0].tolist() for sign in (1, -1))
    return 1 if first <= second else -1


def _rows_of(gain: LinearGain, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows (d, l) in a fixed order, and the count of each."""
    order = np.lexsort([gain.length, sign * gain.difference])
    difference = sign * gain.difference[order] + 0.0  # no negative zero
    return np.column_stack([difference, gain.length[order]]), gain.times[order]


def _as_ratio(items: PairedItems) -> LinearGain:
    """Return a gain that is not a ratio of sums as a ratio over rows.

    For a quotient of sums c and sums m, the difference of a row is c_A - c_B - F (m_A -
    m_B). F is the quotient of both systems together, that is, the score under the
    hypothesis that they are equal. The sum of the differences is the gain times the
    harmonic mean of both denominators. The length of a row is its share of this mean.
    """
    a, b = items.a, items.b
    if items.metric.quotient is None:
        difference, length = _of_callable(items)
    else:
        (above_a, below_a), (above_b, below_b) = map(items.metric.quotient, (a, b))
        total_a, total_b = math.fsum(below_a), math.fsum(below_b)
        together = total_a + total_b
        middle = (math.fsum(above_a) + math.fsum(above_b)) / together
        # theory, (P11)
        difference = above_a - above_b - middle * (below_a - below_b)
        length = (total_b * below_a + total_a * below_b) / together
    if not length.any():
        length = np.ones(len(a))
    difference[np.abs(difference) <= 1e-12 * np.abs(difference).max()] = 0
    rows, times = distinct_rows(np.column_stack([difference, length]))
    return LinearGain(rows[:, 0], rows[:, 1], times, is_integer=False)


def _of_callable(items: PairedItems) -> tuple[np.ndarray, np.ndarray]:
    """Return differences and lengths of the rows of any metric.

    The metric is evaluated at the mean sums of both systems. The difference of a row is
    the change of this metric when the row is taken from A instead of B. The length is
    the share of the row in the statistics, averaged over their columns.
    """
    a, b = items.a, items.b
    mean, half = (a.sum(axis=0) + b.sum(axis=0)) / 2, (a - b) / 2
    difference, _ = items.gains(np.hstack([mean + half, mean - half]))
    # the remainder of the gain is small; rows that do not differ have no part in it
    size = np.abs(difference)
    if size.any():
        # The differences are first-order changes, so their sum is not exactly the gain.
        missing = items.gain - math.fsum(difference)
        difference = difference + missing * size / math.fsum(size)
    share = np.abs(a) + np.abs(b)
    share = share[:, share.any(axis=0)]
    return difference, (share / share.sum(axis=0)).mean(axis=1)
