"""The temperature of the highest likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from .._validation import check_real

# Of log T: far below any standard error, far above what rounding leaves of a maximum.
PRECISION = 1e-6
# Of log likelihoods, beside their size: what is no further apart is the same but for
# rounding. Near a maximum it is what PRECISION in log T amounts to.
ROUNDING = 1e-12


def check_bounds(bounds: Any) -> tuple[float, float]:
    """Return the least and the greatest temperature."""
    expected = "two temperatures, low < high, with 1 among them or between"
    low, high = _two_numbers(bounds, "bounds", expected, 1e-6, 1e6)
    if not low <= 1 <= high or low == high:
        raise _refused("bounds", expected, bounds)
    return low, high


def check_offset_bounds(bounds: Any) -> tuple[float, float]:
    """Return the least and the greatest offset of NEW."""
    expected = "two offsets, low <= high, with 0 among them or between"
    low, high = _two_numbers(bounds, "offset_bounds", expected, -1e6, 1e6)
    if not low <= 0 <= high:
        raise _refused("offset_bounds", expected, bounds)
    return low, high


def _two_numbers(
    bounds: Any, name: str, expected: str, least: float, most: float
) -> tuple[float, float]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise _refused(name, expected, bounds)
    low, high = (
        check_real(bound, low=least, high=most, name=name, caller="TemperatureScaling")
        for bound in bounds
    )
    return low, high


def _refused(name: str, expected: str, bounds: Any) -> ValueError:
    return ValueError(
        f"The {name!r} parameter of TemperatureScaling must be {expected}. Got "
        f"{bounds!r}."
    )


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
    # The search never tries the ends.
    tried = {t: log_likelihood(t) for t in (1.0, low, high, float(np.exp(found.x)))}
    best = max(tried, key=lambda t: tried[t])
    if tried[best] - tried[1.0] <= ROUNDING * max(1.0, abs(tried[1.0])):
        best = 1.0  # as where it is flat
    if best != 1 and best in (low, high):
        warn_at_end("bounds", best, best == low)
    return best, tried[best], tried[1.0]


REASONS = {
    ("bounds", True): "true structures are nearly always the most probable ones",
    ("bounds", False): "the probabilities say little of which structures are true",
    ("offset_bounds", True): "no mention is new that might have an antecedent",
    ("offset_bounds", False): "all mentions are new",
}


def warn_at_end(name: str, value: float, is_low: bool) -> None:
    """Warn, in the name of whoever called `fit`, of a value at an end of its bounds."""
    warnings.warn(
        f"The likelihood of TemperatureScaling is highest at {value:g}, an end of "
        f"{name!r}: on the held-out data {REASONS[name, is_low]}, or nearly so. More "
        "data may tell, or wider bounds.",
        ConvergenceWarning,
        stacklevel=4,
    )
