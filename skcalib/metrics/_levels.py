"""Distribution of the debiased square for data with few distinct probabilities.

Each level has enough rows to estimate its frequency, and therefore to locate the error.
The error under test is a multiple of the observed error, clipped so that frequencies
stay in [0, 1]. Variances are computed for the frequencies that this error implies. A
level whose observed labels are all equal therefore still has a positive variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._bins import BinSums
from ._frequency_intervals import blaker_interval, clopper_pearson, frequency_interval
from ._null_test import linear_p_value
from ._pearson import MOST

# Required average number of rows per level. In benchmarks/interval_constants.py, no
# interval changes with values from 2 to 20.
_ROWS = 5


@dataclass(frozen=True)
class Levels:
    """Rows, probability and observed error of each level, as arrays of equal length."""

    rows: np.ndarray
    proba: np.ndarray
    error: np.ndarray

    @cached_property
    def _path(self) -> _Path:
        return _Path.of(self)

    def errors_at(self, x: float) -> np.ndarray:
        """Return errors of mean square x, proportional to the observed errors.

        Errors are limited by the ends of [0, 1]. If x is larger than any possible mean
        square, the largest errors are returned.
        """
        path = self._path
        k = int(path.reached.searchsorted(x))
        # infinity would give NaN for levels without error
        factor = 1e300
        if k < path.reached.size:
            # theory, (I18): full + growing * factor^2 = x
            factor = math.sqrt(max(x - path.full[k], 0.0) / path.growing[k])
        return np.minimum(factor, path.most) * self.error

    def unseen(self, level: float) -> float:
        """Return the largest error that a single level of probability 0 or 1 allows.

        A probability of 0 or 1 excludes one of the labels. This label may have a
        positive frequency and still be absent from the sample by chance.
        """
        if not self.error.any():
            return 0.0
        sure = np.flatnonzero((self.proba == 0) | (self.proba == 1))
        share = np.sqrt(self.rows / self.rows.sum())
        most = 0.0
        for k in sure:
            n = float(self.rows[k])
            # the observed frequency, before one row was added
            p = min(abs(float(self.error[k])) * (n + 1) / n, 1.0)
            # If only this level has an error p, the root mean square is p times the
            # root of its share of the rows.
            most = max(most, float(share[k]) * clopper_pearson(p, n, level)[1])
        return most

    def at(self, x: float) -> tuple[float, float, float]:
        """Return deviation and skewness of T at squared error x, and half a step.

        The step is the effect of one additional label at the observed error.
        """
        n, q = self.rows, self.proba
        total, w, once, twice, thrice = self._weights
        d = self.errors_at(x)
        p = q - d
        label = p * (1 - p)
        # A frequency at an end of [0, 1] is 1e-17 by rounding.
        label[label < 1e-15] = 0.0
        v, square, lean = label / n, d * d, 1 - 2 * p
        flips = w * label * square
        # smaller than the given x if no error of this size is possible
        x = float(w @ square)
        linear = 4 * float(flips.sum()) / total
        population = max(float(w @ square**2) - x**2, 0.0) / total
        # theory, (I19), here and below
        variance = 2 * float(once @ label**2) + linear + population
        deviation = math.sqrt(variance)
        if deviation < 1e-150:
            return 0.0, 0.0, 0.0
        cube = 8 * float(twice @ label**3) + 4 * float(thrice @ (label * lean) ** 2)
        cube += 24 * float((flips * w) @ v) / total
        cube -= 8 * float((flips * lean) @ d) / total**2
        if x > 0:
            cube += 2 * population**2 / x
        step = 0.0
        if linear > 0:
            # (I12) without the approximations of many levels. It uses the observed
            # error, because the observed labels make the step.
            step = 4 * float(flips @ np.abs(self.error * lean)) / total**2 / variance
        return deviation, min(max(cube / deviation**3, -MOST), MOST), step

    @cached_property
    def _weights(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the total, the shares, and factors of the cumulants of pairs."""
        n, total = self.rows, float(self.rows.sum())
        g = 1 / (total * np.maximum(n - 1, 1))
        pairs = n * np.maximum(n - 1, 0)
        triples = pairs * np.maximum(n - 2, 0)
        return total, n / total, pairs * g**2, triples * g**3, pairs * g**3


@dataclass(frozen=True)
class _Path:
    """Multiples of the observed errors at which levels reach the ends of [0, 1].

    For example, two levels with half of the rows each: q = .2 with error .1, and q = .5
    with error .1. The errors are f times .1, but at most .2 and .5. From f = 2 on, the
    first level has reached its end, and only the second one grows::

        mean square x at multiple f = .01 f^2              for f <= 2, x <= .04
                                    = .02 + .005 f^2       for f <= 5, x <= .145

    Here `most` is (2, 5), `reached` is (.04, .145), `full` is (0, .02), and `growing`
    is (.01, .005).

    `most` is the largest multiple of each level. In ascending order of the multiples,
    `reached` is the mean square at which the next level reaches an end, `full` is the
    part of the levels that have reached their ends before, and `growing` is the part of
    the other levels at multiple 1.
    """

    most: np.ndarray
    reached: np.ndarray
    full: np.ndarray
    growing: np.ndarray

    @classmethod
    def of(cls, levels: Levels) -> _Path:
        error = levels.error
        room = np.where(error > 0, levels.proba, 1 - levels.proba)
        some = np.flatnonzero(error)
        most = np.full(error.size, 1e300)
        most[some] = room[some] / np.abs(error[some])
        order = some[np.argsort(most[some])]
        share = levels.rows[order] / levels.rows.sum()
        # sums over this level and all levels that reach their ends later
        growing = np.cumsum((share * error[order] ** 2)[::-1])[::-1]
        full = np.cumsum(share * room[order] ** 2) - share * room[order] ** 2
        return cls(most, full + growing * most[order] ** 2, full, growing)


def levels_of(sums: BinSums) -> Levels | None:
    """Return the levels.

    Return None if a bin contains several levels, or if levels have too few rows.
    """
    if (sums.low < sums.high).any():
        return None
    first = np.flatnonzero(np.r_[True, sums.low[1:] != sums.low[:-1]])
    n = np.add.reduceat(sums.weight, first)
    if n.sum() < _ROWS * n.size:
        return None
    # One additional row with the expected label keeps every variance positive.
    error = np.add.reduceat(sums.q - sums.y, first) / (n + 1)
    error[np.abs(error) < 1e-12] = 0
    return Levels(n, sums.low[first], error)


def has_one_value(sums: BinSums) -> bool:
    """Return whether all rows have the same probability."""
    return bool(sums.low.min() == sums.high.max())


def interval_of_one_value(sums: BinSums, level: float) -> tuple[float, float, float]:
    """Return the ends of the interval of the error, and the p-value of no error.

    The number of positives is binomial, and the error is the distance of their
    frequency from the common probability. Zero is in the interval if and only if
    p_value >= 1 - level.
    """
    n, q = float(sums.weight.sum()), float(sums.low[0])
    k = min(max(float(sums.y.sum()), 0.0), n)
    variance = n * q * (1 - q)
    p_value = linear_p_value(n * q - k, variance, -variance * (1 - 2 * q))
    first, last = blaker_interval(k, n, level)
    low = 0.0
    if p_value < 1 - level:
        low = max(first - q, q - last, 2.0**-52)
    # For rare labels, Wilson's interval may be wider.
    left, right = (float(x) for x in frequency_interval(k / n, n, level))
    # The error is a distance, so the wider of both intervals counts.
    furthest = max(abs(x - q) for x in (first, last, left, right))
    return low, max(furthest, low), p_value
