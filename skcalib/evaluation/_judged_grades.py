"""The mean of labels by regression on a judge's scores: PPI++ with Student's t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from .._warn import warn
from ._accuracy import _sandwich

# With fewer labels, the interval is too short if no label shows a judge's error.
_ENOUGH = 100


@dataclass(frozen=True)
class Regression:
    """The estimate, its standard error, and the ends of its interval."""

    estimate: float
    standard_error: float
    low: float
    high: float


def regression_interval(
    f: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    *,
    population: str,
    level: float,
    slope: float | None = None,
) -> Regression:
    """Return the mean of y, which is NaN without a label, by its regression on f."""
    has = ~np.isnan(y)
    known, seen, unseen = y[has], f[has], f[~has]
    n, rest = seen.size, unseen.size
    lam = _slope(known, seen, f, rest) if slope is None else slope
    error = known - lam * seen
    estimate = error.mean() + (lam * unseen.mean() if rest else 0.0)
    inner = None if groups is None else groups[has]
    if population == "items":
        error = known - lam * (1 + n / max(rest, 1)) * seen
        variance, freedom = _variance(error, inner, n - 2)
        variance *= rest / (n + rest)
    else:
        variance, freedom = _variance(error, inner, n)
        if rest:
            outer = None if groups is None else groups[~has]
            variance += lam**2 * _variance(unseen, outer, rest)[0]
    half = float(stdtrit(max(freedom - 1, 1), (1 + level) / 2)) * np.sqrt(variance)
    return Regression(
        float(estimate),
        float(np.sqrt(variance)),
        float(estimate - half),
        float(estimate + half),
    )


def _slope(y: np.ndarray, seen: np.ndarray, f: np.ndarray, rest: int) -> float:
    """Return lambda of PPI++, between 0 and 1."""
    variance = float(f.var(ddof=1))
    if rest == 0 or variance == 0:
        return 0.0
    covariance = float(((y - y.mean()) * (seen - seen.mean())).mean())
    return min(max(covariance / ((1 + y.size / rest) * variance), 0.0), 1.0)


def _variance(
    values: np.ndarray, groups: np.ndarray | None, divisor: int
) -> tuple[float, float]:
    """Return the variance of a mean and its degrees of freedom."""
    residual = values - values.mean()
    if groups is None or np.unique(groups).size == 1:
        return float(residual @ residual) / divisor / values.size, values.size - 1
    place = np.unique(groups, return_inverse=True)[1]
    return _sandwich(np.bincount(place, residual), np.bincount(place).astype(float))


def warn_of_few(n: int) -> None:
    """Warn if labels are too few for Student's interval."""
    if n < _ENOUGH:
        warn(
            f"PPI++ has {n} labels. With fewer than {_ENOUGH} its interval is too "
            "short if no label shows an error of the judge. Round the judge's "
            "scores to verdicts, for example judge >= 0.5, to use "
            "method='post-stratified'.",
        )
