"""Lengths of the two sides of a score interval for skewed totals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._sample import Sample

# An unseen error has this weight beside the errors that were seen. If no error was
# seen, 0.5 gives an arm of 3.84 errors at 95% in large samples: the rule of three.
_UNSEEN = 0.5

# So many errors on one side are needed before the other side is shortened.
_BEFORE_SHORTENING = 4.0


def arms(
    second: float, third: float, unseen: Sequence[float], m: float, quantile: float
) -> tuple[float, float]:
    """Return the lengths of the interval below and above the estimate.

    If the total were larger by x, its variance would be

        second + skewness x - x^2 / m,  skewness = third / second,

    and the length solves x^2 = quantile^2 times this variance.

    Parameters
    ----------
    second, third : float
        Sums of squares and of cubes of the contributions to the total.
    unseen : pair of float
        What one unseen error adds to the total, and takes from it.
    m : float
        Number of labels of a plain count of 0 and 1, otherwise inf.
    quantile : float
        Quantile of the normal or of Student's distribution.
    """
    square = quantile**2
    tight = 1 + square / m if m > 0 else 1.0
    lengths = []
    for sign, error in zip((1, -1), unseen, strict=True):
        skewness = _skewness(second, sign * third, error, _UNSEEN)
        if skewness < 0:
            few = _skewness(second, sign * third, error, _BEFORE_SHORTENING)
            skewness = min(few, 0.0) if m < np.inf else 0.0
        half = quantile * skewness / 2
        root = np.sqrt(second * tight + half**2)
        lengths.append(quantile * (half + root) / tight)
    above, below = lengths
    return float(below), float(above)


def _skewness(second: float, third: float, error: float, n_errors: float) -> float:
    """Return third / second after `n_errors` errors of one size were added to both."""
    below = second + n_errors * error**2
    return (third + n_errors * error**3) / below if below > 0 else 0.0


def unseen_errors(
    sample: Sample, fitted: np.ndarray, weight: np.ndarray, step: np.ndarray | float
) -> tuple[tuple[float, float], bool]:
    """Return what one unseen error adds to and takes from the total.

    An error of a document is at most one unit, and at most what its bounds allow: a
    fitted count of 0.2 cannot be too large by more than 0.2. The mean is over the
    errors that documents may have. The second value says whether the total is a plain
    count, with one weight, of documents that are 0 or 1.

    step : standard deviation that the design gives to a document's weight.
    """
    used = weight != 0
    c = weight[used]
    if c.size == 0:
        return (0.0, 0.0), False
    spread = np.abs(c) * np.broadcast_to(step, weight.shape)[used]
    low, high = sample.low[used], sample.high[used]
    inside = np.clip(fitted[used], low, high)
    up, down = high - inside, inside - low
    rising = np.where(c > 0, up, down), np.where(c > 0, down, up)
    found = []
    for room in rising:
        size = np.minimum(room, sample.unit)
        total = float(size.sum())
        found.append(float(size**2 @ spread) / total if total > 0 else 0.0)
    is_plain = bool(c.min() > 0 and np.ptp(c) <= 1e-12 * c.max())
    is_plain = is_plain and bool((high - low <= sample.unit * (1 + 1e-9)).all())
    return (found[0], found[1]), is_plain
