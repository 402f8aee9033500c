"""Laws of a gain when the systems are swapped in each item by a coin."""

from __future__ import annotations

import math

import numpy as np

from ._items import PairedItems
from ._tails import NEGLIGIBLE, TINY

# Swaps held at once (4 bytes each).
_BLOCK = 1 << 22

# Complex numbers held at once (16 bytes each).
_COMPLEX_BLOCK = 1 << 20


def signed_sum_tail(
    values: np.ndarray, times: np.ndarray, threshold: int, largest_lattice: int
) -> float | None:
    """Return P(S >= threshold) for S = sum of +-v, value v being there times[v] times.

    None if S has more than `largest_lattice` places. As for sums of draws: tilted so
    that the threshold is the mean, then an inverted characteristic function.
    """
    step = 2 * int(np.gcd.reduce(values))
    top = int((values * times).sum())
    place = top - (top - threshold) // step * step  # the first not below the threshold
    if place <= -top:
        return 1.0
    if place > top:
        return 0.0
    if place <= 0:
        above = signed_sum_tail(values, times, step - place, largest_lattice)
        return None if above is None else 1 - above
    length = top // (step // 2) + 1
    if length > largest_lattice:
        return None
    if place == top:
        return max(2.0 ** -float(times.sum()), TINY)
    v, t = values / step, place / step
    theta = _signed_tilt(v, times, t)
    log_chance = float(times @ _log_cosh(theta * v)) - theta * t
    omega = 2 * np.pi / length * np.arange(length // 2 + 1)
    power = _signed_characteristic(v, times, theta, t, omega)
    ratio = -(theta + 1j * omega)
    n_above = (top - place) // step + 1
    geometric = np.expm1(n_above * ratio) / np.expm1(ratio)
    once = (omega == 0) | (2 * np.arange(omega.size) == length)
    total = float(np.where(once, 1.0, 2.0) @ (power * geometric).real) / length
    return min(max(math.exp(log_chance) * total, TINY), 1.0)


def _log_cosh(x: np.ndarray) -> np.ndarray:
    # log1p of 2 sinh(x/2)^2 = cosh(x) - 1, which does not overflow here
    size = np.minimum(x, 30)
    small = np.log1p(2 * np.sinh(size / 2) ** 2)
    return np.where(x < 30, small, x - math.log(2))


def _signed_tilt(v: np.ndarray, times: np.ndarray, t: float) -> float:
    """Return theta with sum v tanh(theta v) = t, 0 < t < sum v."""
    low, high = 0.0, math.inf
    theta = t / float(times @ v**2)
    for _ in range(200):
        bent = np.tanh(theta * v)
        missing = t - float(times @ (v * bent))
        slope = float(times @ (v**2 * (1 - bent**2)))
        low, high = (theta, high) if missing > 0 else (low, theta)
        new = theta + missing / slope if slope > 0 else math.inf
        if not low < new < high:
            new = 2 * low if high == math.inf else (low + high) / 2
        if abs(new - theta) <= 1e-13 * theta or new in (low, high):
            break
        theta = new
    return new


def _signed_characteristic(
    v: np.ndarray, times: np.ndarray, theta: float, t: float, omega: np.ndarray
) -> np.ndarray:
    """Return the characteristic function of the tilted S - t at each frequency."""
    tanh, cosh2 = np.tanh(theta * v), np.cosh(np.minimum(theta * v, 300)) ** 2
    power = np.zeros(omega.size, dtype=complex)
    rows = max(1, _COMPLEX_BLOCK // v.size)
    for start in range(0, omega.size, rows):
        angle = omega[start : start + rows, np.newaxis] * v
        sine, cosine = np.sin(angle), np.cos(angle)
        with np.errstate(divide="ignore"):
            size = np.log1p(-np.minimum(sine**2 / cosh2, 1)) / 2 @ times
        some = size > NEGLIGIBLE
        # the phase of each coin less that of its mean, so that rounding stays small
        turn = np.arctan2(tanh * sine, cosine) - tanh * angle
        phase = turn[some] @ times
        place = start + np.flatnonzero(some)
        drift = float(times @ (v * tanh)) - t
        power[place] = np.exp(size[some] + 1j * (phase + omega[place] * drift))
    return power


def swapped_gains(
    items: PairedItems, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return gains with random swaps, of shape (n_resamples,)."""
    differing, rest = _differing(items)
    difference = differing[:, items.a.shape[1] :] - differing[:, : items.a.shape[1]]
    n, gains = len(difference), np.empty(n_resamples)
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        bits = np.frombuffer(rng.bytes(-(-size * n // 8)), dtype=np.uint8)
        swapped = np.unpackbits(bits, count=size * n).reshape(size, n)
        gains[start : start + size] = _gains(items, rest, swapped, difference)
    return gains


def all_swapped_gains(items: PairedItems, largest: int) -> np.ndarray | None:
    """Return the gains of all swaps of items that differ, None if those are many."""
    differing, rest = _differing(items)
    n = len(differing)
    if 2**n > largest:
        return None
    difference = differing[:, items.a.shape[1] :] - differing[:, : items.a.shape[1]]
    swapped = np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1
    return _gains(items, rest, swapped, difference)


def _differing(items: PairedItems) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows (a, b) that a swap changes, in a fixed order, and all sums."""
    distinct, times = items.distinct
    m = items.a.shape[1]
    changes = (distinct[:, :m] != distinct[:, m:]).any(axis=1)
    rows = np.repeat(distinct[changes], times[changes], axis=0)
    return rows, times @ distinct


def _gains(
    items: PairedItems, sums: np.ndarray, swapped: np.ndarray, difference: np.ndarray
) -> np.ndarray:
    moved = swapped.astype(np.float64) @ difference
    return items.gains(sums + np.hstack([moved, -moved]))[0]
