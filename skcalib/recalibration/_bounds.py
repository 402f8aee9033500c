"""Bounds of the temperature and the offset, and the warning at their ends."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .._errors import ParameterError
from .._validation import check_real
from .._warn import warn

# Precision of the logarithm of the temperature. It is much smaller than any standard
# error and much larger than the rounding error of a maximum.
PRECISION = 1e-6

_REASONS = {
    ("bounds", True): "true structures are nearly always the most probable ones",
    ("bounds", False): "the probabilities do not identify the true structures",
    ("offset_bounds", True): "every mention that could have an antecedent has one",
    ("offset_bounds", False): "all mentions are new",
}


def check_bounds(bounds: Any) -> tuple[float, float]:
    """Return the smallest and the largest temperature."""
    expected = "two temperatures (low, high) with low < high and low <= 1 <= high"
    low, high = _two_numbers(bounds, "bounds", expected, 1e-6, 1e6)
    if not low <= 1 <= high or low == high:
        raise _wrong("bounds", expected, bounds)
    return low, high


def check_offset_bounds(bounds: Any) -> tuple[float, float]:
    """Return the smallest and the largest offset of NEW."""
    expected = "two offsets (low, high) with low <= 0 <= high"
    low, high = _two_numbers(bounds, "offset_bounds", expected, -1e6, 1e6)
    if not low <= 0 <= high:
        raise _wrong("offset_bounds", expected, bounds)
    return low, high


def _two_numbers(
    bounds: Any, name: str, expected: str, least: float, most: float
) -> tuple[float, float]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise _wrong(name, expected, bounds)
    low, high = (check_real(bound, low=least, high=most, name=name) for bound in bounds)
    return low, high


def _wrong(name: str, expected: str, bounds: Any) -> ParameterError:
    return ParameterError(name, f"must be {expected}. Got {bounds!r}.")


def warn_at_end(name: str, value: float, is_low: bool) -> None:
    """Warn that a fitted value is at an end of its bounds."""
    warn(
        f"The likelihood of TemperatureScaling is highest at {value:g}, an end of "
        f"{name!r}. The probable reason is that on the held-out data "
        f"{_REASONS[name, is_low]}. Pass more data or wider bounds.",
        ConvergenceWarning,
    )
