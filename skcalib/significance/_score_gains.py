"""Gains in mean scores of all pairs of systems: tests, moments and intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ._score_tests import (
    FEWEST_FLIPS,
    MOST_DISCORDANT,
    as_whole,
    common_scale,
    flip_pvalue,
    mcnemar_pvalues,
    score_limits,
    smallest_pvalue,
    tango_limits,
)

# Scales tried to convert scores with unknown denominators to integers.
_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 64, 100, 120, 840)

_METHODS = {
    "exact": "sign flips of {n} {units}, exact",
    "mid-p": "sign flips of {n} {units}, exact with mid-p",
    "drawn": "sign flips of {n} {units}, drawn",
    "drawn mid-p": "sign flips of {n} {units}, drawn with mid-p",
}


@dataclass(frozen=True)
class Moments:
    """Moments used by the intervals of pairs; arrays have one entry per pair."""

    n: int
    sizes: float
    total: np.ndarray
    squares: np.ndarray
    across: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    is_binary: bool
    bound: float = 1.0

    @property
    def n_effective(self) -> float:
        """Effective number of units."""
        return self.n**2 / self.sizes


def wins_and_losses(
    score: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of questions on which the second system wins and loses."""
    slack = 1e-12
    wins = np.empty(first.size, dtype=np.int64)
    losses = np.empty(first.size, dtype=np.int64)
    columns = np.ascontiguousarray(score.T)
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference = columns[j] - columns[i]
        wins[k] = np.count_nonzero(difference > slack)
        losses[k] = np.count_nonzero(difference < -slack)
    return wins, losses


def mcnemar_gains(
    score: np.ndarray, wins: np.ndarray, losses: np.ndarray
) -> tuple[np.ndarray, list[str], Moments, float]:
    n, discordant = len(score), wins + losses
    is_midp = (discordant <= MOST_DISCORDANT * n) & (discordant > 0)
    pvalue = mcnemar_pvalues(losses, wins, mid_p=is_midp)
    # the p-values if one system won on all of these questions
    floor = mcnemar_pvalues(0, discordant, mid_p=is_midp).min()
    words = np.where(is_midp, "McNemar's exact test with mid-p", "McNemar's exact test")
    total = (wins - losses).astype(np.float64)
    squares = (wins + losses).astype(np.float64)
    moments = Moments(
        n=n,
        sizes=float(n),
        total=total,
        squares=squares,
        across=total,
        wins=wins,
        losses=losses,
        is_binary=True,
    )
    return pvalue, words.tolist(), moments, float(floor)


def flipped_gains(
    score: np.ndarray,
    number: np.ndarray,
    codes: np.ndarray | None,
    first: np.ndarray,
    second: np.ndarray,
    wins: np.ndarray,
    losses: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, list[str], Moments, float]:
    n, n_pairs = len(score), first.size
    scale = _scale_of(score, number)
    whole = np.rint(score * scale) if scale else score
    if codes is None:
        sums, size = whole, np.ones(n)
    else:
        size = np.bincount(codes).astype(np.float64)
        sums = np.column_stack(
            [np.bincount(codes, column, size.size) for column in whole.T]
        )
    units = "questions" if codes is None else "groups"
    unit = float(scale or 1)
    pvalue, methods = np.empty(n_pairs), []
    total, squares, across = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    floor = 1.0
    columns = np.ascontiguousarray(sums.T)
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference = columns[j] - columns[i]
        if not scale:
            difference[np.abs(difference) < 1e-12] = 0
        pvalue[k], way = flip_pvalue(difference, bool(scale), rng)
        n_differing = int(np.count_nonzero(difference))
        floor = min(floor, smallest_pvalue(n_differing, way))
        methods.append(_METHODS[way].format(n=size.size, units=units))
        total[k] = difference.sum() / unit
        squares[k] = difference @ difference / unit**2
        across[k] = difference @ size / unit
    moments = Moments(
        n=n,
        sizes=float(size @ size),
        total=total,
        squares=squares,
        across=across,
        wins=wins,
        losses=losses,
        is_binary=False,
    )
    return pvalue, methods, moments, floor


def _scale_of(score: np.ndarray, number: np.ndarray) -> int:
    """Return a scale that makes all scores integers, 0 if there is no small one."""
    for scale in (common_scale(number), *_SCALES):
        if as_whole(score, scale)[1]:
            return scale
    return 0


def limits_of_gains(
    m: Moments, gain: np.ndarray, pvalue: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals of gains, which agree with the tests at 0."""
    quantile = float(-ndtri((1 - level) / 2))
    if m.is_binary:
        low, high = tango_limits(m.wins, m.losses, m.n, quantile)
    else:
        low, high = score_limits(
            m.total, m.squares, m.across, m.sizes, float(m.n), quantile, m.bound
        )
        # If few units differ, further kinds of differences may be unobserved.
        few = ((m.wins + m.losses) < FEWEST_FLIPS) & (m.bound == 1)
        # upper end of Wilson's interval for no success in n_effective trials
        unseen = quantile**2 / (m.n_effective + quantile**2)
        low = np.where(few, np.maximum(np.minimum(low, gain - unseen), -1), low)
        high = np.where(few, np.minimum(np.maximum(high, gain + unseen), 1), high)
    tiny = np.finfo(np.float64).tiny
    significant = pvalue < 1 - level
    # The exact test decides whether 0 is inside.
    low = np.where(significant & (gain > 0), np.maximum(low, tiny), low)
    high = np.where(significant & (gain < 0), np.minimum(high, -tiny), high)
    low = np.where(significant, low, np.minimum(low, 0.0))
    high = np.where(significant, high, np.maximum(high, 0.0))
    return np.minimum(low, gain), np.maximum(high, gain)
