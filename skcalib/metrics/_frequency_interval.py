"""Confidence intervals of frequencies, as bars of a reliability curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri


def frequency_interval(
    p: Any, n: Any, level: float, method: str = "wilson"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of a frequency p seen in n trials."""
    p, n = np.asarray(p, dtype=float), np.asarray(n, dtype=float)
    if method == "clopper_pearson":
        return _clopper_pearson(p * n, n, level)
    z = float(ndtri((1 + level) / 2))
    if method == "normal":
        half = z * np.sqrt(p * (1 - p) / n)
        return np.maximum(p - half, 0), np.minimum(p + half, 1)
    return _wilson(p, n, z)


def _wilson(p: np.ndarray, n: np.ndarray, z: float) -> tuple[np.ndarray, np.ndarray]:
    scale = 1 + z**2 / n
    centre = (p + z**2 / (2 * n)) / scale
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / scale
    # At p = 0 and p = 1 both ends are known; the subtraction leaves 1e-17 there.
    low = np.where(p == 0, 0, np.maximum(centre - half, 0))
    return low, np.where(p == 1, 1, np.minimum(centre + half, 1))


def _clopper_pearson(
    k: np.ndarray, n: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    tail = (1 - level) / 2
    some, lack = k > 0, n - k > 1e-9 * n
    low = np.where(some, betaincinv(np.where(some, k, 1), n - k + 1, tail), 0)
    upper = betaincinv(k + 1, np.where(lack, n - k, 1), 1 - tail)
    return low, np.where(lack, upper, 1)
