"""Lengths of the two sides of a score interval for skewed totals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._sample import Sample

# Weight of one unseen error relative to observed errors. If no error was observed, 0.5
# gives a side of 3.84 errors at 95% in large samples (compare the rule of three).
_UNSEEN = 0.5

# Number of errors on one side that is needed to shorten the other side.
_BEFORE_SHORTENING = 4.0


def arms(
    second: float, third: float, unseen: Sequence[float], m: float, quantile: float
) -> tuple[float, float]:
    """Return the lengths of the interval below and above the estimate.

    If the total were larger by x, its variance would be

        second + skewness x - x^2 / m,  skewness = third / second,

    and the length solves x^2 = quantile^2 times this variance. For example, with second
    4, third 1, m = inf and quantile 2, x^2 = 4 (4 + x / 4) above, so x = 4.53. The
    length below would solve x^2 = 4 (4 - x / 4), x = 3.53; without a finite m it is not
    made shorter than the symmetric x = 4.

    Parameters
    ----------
    second, third : float
        Sums of squares and of cubes of the contributions to the total.
    unseen : pair of float
        Amounts that one unseen error adds to the total and subtracts from it.
    m : float
        Number of labels for an unweighted count of 0 and 1, otherwise inf.
    quantile : float
        Quantile of the normal or of Student's distribution.
    """
    square = quantile**2
    # x^2 (1 + q^2 / m) = q^2 (second + skewness x), a quadratic equation
    tight = 1 + square / m if m > 0 else 1.0
    lengths = []
    for sign, error in zip((1, -1), unseen, strict=True):
        skewness = _skewness(second, sign * third, error, _UNSEEN)
        if skewness < 0:
            # A side becomes shorter only if several errors of the other sign were seen,
            # and only for binomial counts.
            few = _skewness(second, sign * third, error, _BEFORE_SHORTENING)
            skewness = min(few, 0.0) if m < np.inf else 0.0
        half = quantile * skewness / 2
        root = np.sqrt(second * tight + half**2)
        # its positive root
        lengths.append(quantile * (half + root) / tight)
    above, below = lengths
    return float(below), float(above)


def _skewness(second: float, third: float, error: float, n_errors: float) -> float:
    """Return third / second after adding `n_errors` errors of one size to both."""
    below = second + n_errors * error**2
    return (third + n_errors * error**3) / below if below > 0 else 0.0


def unseen_errors(
    sample: Sample, fitted: np.ndarray, weight: np.ndarray, step: np.ndarray | float
) -> tuple[tuple[float, float], bool]:
    """Return the amounts that one unseen error adds to and subtracts from the total.

    The error of a document is at most one unit and respects the bounds of its count: a
    fitted count of 0.2 is too large by at most 0.2. The amounts are means over the
    possible errors of the documents. The second returned value is whether the total is
    an unweighted count of documents with counts of 0 or 1.

    step : standard deviation of a document's weight under the design.
    """
    used = weight != 0
    c = weight[used]
    if c.size == 0:
        return (0.0, 0.0), False
    # an error of size e adds e times the deviation of the document's weight
    spread = np.abs(c) * np.broadcast_to(step, weight.shape)[used]
    low, high = sample.low[used], sample.high[used]
    inside = np.clip(fitted[used], low, high)
    up, down = high - inside, inside - low
    # A count with a negative weight lowers the total when it rises.
    rising = np.where(c > 0, up, down), np.where(c > 0, down, up)
    found = []
    for room in rising:
        size = np.minimum(room, sample.unit)
        total = float(size.sum())
        found.append(float(size**2 @ spread) / total if total > 0 else 0.0)
    is_plain = bool(c.min() > 0 and np.ptp(c) <= 1e-12 * c.max())
    is_plain = is_plain and bool((high - low <= sample.unit * (1 + 1e-9)).all())
    return (found[0], found[1]), is_plain
