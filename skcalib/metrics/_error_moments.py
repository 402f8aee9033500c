"""Moments of the error over the rows, estimated without the bias of noise.

Let p be the true frequency in a set of rows of probability q, and let d = q - p. The
distribution of the debiased square depends on the error only through means over rows of
polynomials in p. Falling factorials of the number of positives are unbiased for powers
of p, so each mean is estimated without bias from sets of at least four rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._bins import BinSums


@dataclass(frozen=True)
class ErrorMoments:
    """Means over rows, where p is the true frequency and d = q - p.

    Attributes
    ----------
    square : float
        Mean of d^2.
    noise : float
        Mean of p (1 - p) d^2.
    lean : float
        Mean of (1 - 2 p) d^3.
    fourth : float
        Mean of d^4.
    """

    square: float
    noise: float
    lean: float
    fourth: float

    def moved(self, c: float) -> tuple[float, float, float]:
        """Return noise, lean and fourth moment if the error were c d instead of d.

        The frequencies are then q - c d = p + (1 - c) d. Equation: theory, (I7).
        """
        rest = 1 - c
        noise = self.noise + rest * self.lean - rest**2 * self.fourth
        lean = self.lean - 2 * rest * self.fourth
        return c**2 * noise, c**3 * lean, c**4 * self.fourth


def error_moments(sums: BinSums) -> ErrorMoments:
    """Return the moments of the error, from the counts of positives in each bin."""
    n, k, q = _at_least_four(*_whole_sets(sums))
    if n.size == 0:
        return ErrorMoments(0.0, 0.0, 0.0, 0.0)
    # theory, (I5)
    one = k / n
    two = one * (k - 1) / (n - 1)
    three = two * (k - 2) / (n - 2)
    four = three * (k - 3) / (n - 3)
    # theory, (I6)
    square = q**2 - 2 * q * one + two
    noise = q**2 * one - (2 * q + q**2) * two + (1 + 2 * q) * three - four
    fourth = q**4 - 4 * q**3 * one + 6 * q**2 * two - 4 * q * three + four
    # q (1 - q) = p (1 - p) + (1 - 2 p) d - d^2
    lean = q * (1 - q) * square - noise + fourth
    share = n / n.sum()
    return ErrorMoments(
        *(float(share @ each) for each in (square, noise, lean, fourth))
    )


def _whole_sets(sums: BinSums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, positives and sums of q of the bins and of the divided tie classes.

    A divided class is a separate set and is removed from the bins that share it.
    """
    s, n_bins = sums.shares, sums.weight.size
    first = np.unique(s.tie, return_index=True)[1]
    rate = s.positive / s.total

    def with_ties(whole: np.ndarray, share: np.ndarray, tie: np.ndarray) -> np.ndarray:
        # rounding may leave -1e-17 rows
        rest = np.maximum(whole - np.bincount(s.bin, share, n_bins), 0)
        return np.concatenate([rest, tie[first]])

    n = with_ties(sums.weight, s.taken, s.total)
    k = with_ties(sums.y, s.taken * rate, s.positive)
    q = with_ties(sums.q, s.taken * s.value, s.total * s.value)
    return n, k, q


def _at_least_four(n: np.ndarray, k: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    """Return rows, positives and mean q of sets of at least four rows.

    The fourth power of a frequency has no unbiased estimate from fewer rows. Smaller
    sets are therefore merged with their neighbours in the order of q. Sets that are
    still smaller are omitted.

    A set goes to block number floor(rows before it / 4). For sets of 2, 1, 3, 2 and 6
    rows, 0, 2, 3, 6 and 8 rows come before, and the blocks are 0, 0, 0, 1 and 2, of 6,
    2 and 6 rows. The block of 2 rows is omitted: the block before it took 6.
    """
    some = n > 0
    n, k, q = n[some], k[some], q[some]
    order = np.argsort(q / n, kind="stable")
    n, k, q = n[order], k[order], q[order]
    _, joined = np.unique((np.cumsum(n) - n) // 4, return_inverse=True)
    n, k, q = (np.bincount(joined, each) for each in (n, k, q))
    # fractional weights: four rows may sum up to slightly less
    enough = n > 4 - 1e-9
    return [n[enough], k[enough], (q / n)[enough]]
