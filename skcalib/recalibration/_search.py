"""The temperature of the highest likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

# Of log T: far below any standard error, far above what rounding leaves of a maximum.
PRECISION = 1e-6


def best_temperature(
    log_likelihood: Callable[[float], float], low: float, high: float
) -> tuple[float, float, float]:
    """Return the best temperature in [low, high], its log likelihood and that of 1.

    The log likelihood is concave in 1 / T, so it has one maximum. Where it is no
    higher than at 1 the temperature is 1.
    """
    found = minimize_scalar(
        lambda log_t: -log_likelihood(float(np.exp(log_t))),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": PRECISION},
    )
    # The search never tries the ends. Among equals, as where it is flat, the first.
    tried = {t: log_likelihood(t) for t in (1.0, low, high, float(np.exp(found.x)))}
    best = max(tried, key=lambda t: tried[t])
    if best != 1 and best in (low, high):
        _warn(best, best == low)
    return best, tried[best], tried[1.0]


def _warn(temperature: float, is_low: bool) -> None:
    reason = "true structures are nearly always the most probable ones"
    if not is_low:
        reason = "the probabilities say little of which structures are true"
    warnings.warn(
        f"The likelihood of TemperatureScaling is highest at {temperature:g}, an end "
        f"of 'bounds': on the held-out data {reason}. More data may tell, or wider "
        "bounds.",
        ConvergenceWarning,
        stacklevel=4,
    )
