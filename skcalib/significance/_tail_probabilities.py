"""Tails of sums of independent draws, exact on a lattice or by a saddlepoint.

Both methods consider n draws with replacement from values y with probabilities p. The
distribution is tilted by e^(theta y), so that a rare sum becomes common. Let K(theta) =
log sum p e^(theta y), and let y be centred so that the event is a sum of at least 0.
The tail is e^(n K) times the sum of e^(-theta S) times the tilted probability of S,
over all sums S of at least 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import erfcx

# Sums further from the threshold than this many standard deviations and largest values
# together are left out. They contribute less than 1e-40 of the tail.
_DEVIATIONS, _LARGEST = 14, 25

# Frequencies whose weight is below e^-60 are left out.
NEGLIGIBLE = -60.0

# Possible events have a probability above 0, even below the smallest float.
TINY = float(np.finfo(float).tiny)

# Peaks of a coarse lattice below e^-18 are left out, as are peaks that need more than
# this number of products.
_LOWEST_PEAK, _PEAK_WORK = -18.0, 50_000

# Complex numbers held at once (16 bytes each).
_BLOCK = 1 << 21


def as_pvalues(p: np.ndarray) -> np.ndarray:
    """Return p-values in (0, 1]: a p-value that underflows becomes `TINY`."""
    # each of two tails may be TINY already
    return np.where(p <= 2 * TINY, TINY, np.minimum(p, 1.0))


def tilt(y: np.ndarray, p: np.ndarray) -> float:
    """Return theta with sum p y e^(theta y) = 0; y has both signs."""
    scale = float(np.abs(y).max())
    z, low, high = y / scale, -math.inf, math.inf
    # one Newton step from 0 for the mean
    theta = -float(p @ z) / float(p @ (z * z))
    for _ in range(200):
        exponent = theta * z
        # The largest weight is 1, so that no exponential overflows.
        weight = p * np.exp(exponent - exponent.max())
        weight /= weight.sum()
        mean = float(weight @ z)
        slope = float(weight @ (z * z)) - mean**2
        # The tilted mean grows with theta, so its sign tells the side of the root.
        low, high = (theta, high) if mean < 0 else (low, theta)
        new = theta - mean / slope if slope > 0 else math.inf
        is_newton = low < new < high
        if not is_newton:
            new = _between(low, high)
        # the error of a Newton step is close to the square of the previous error
        is_near = is_newton and abs(new - theta) <= 1e-8 * abs(new)
        if is_near or new in (low, high):
            break
        theta = new
    return new / scale


def _between(low: float, high: float) -> float:
    if high == math.inf:
        return max(2 * low, low + 1)
    if low == -math.inf:
        return min(2 * high, high - 1)
    return (low + high) / 2


def log_mean_exp(theta: float, y: np.ndarray, p: np.ndarray) -> float:
    """Return K(theta) with a small relative error even if it is near 0."""
    exponent = theta * y
    largest = float(exponent.max())
    # expm1 and log1p keep the digits of a mean near 1, which n K multiplies
    if largest < 500:
        return math.log1p(float(p @ np.expm1(exponent)))
    return largest + math.log(float(p @ np.exp(exponent - largest)))


class IntegerSum:
    """Sum of n draws from integers; values[k] has probability times[k] / n.

    The tail is the sum of e^(-theta S) over a window of the lattice. The distribution
    of S is the inverse of the tilted characteristic function. This is a finite sum over
    few frequencies, because the n-th power of the function vanishes at all others.
    There is no other approximation.
    """

    def __init__(self, values: np.ndarray, times: np.ndarray):
        self.n = int(times.sum())
        self.low = int(values.min())
        shifted = values.astype(np.int64) - self.low
        # 0 if all values are equal
        self.step = int(np.gcd.reduce(shifted)) or 1
        self.places = shifted // self.step
        self.p = times / self.n
        self.top = self.n * int(self.places.max())

    def tail(self, threshold: int, largest_window: int) -> float | None:
        """Return P(S >= threshold), or None if this needs a larger window."""
        # Python's integers do not overflow
        # ceil((threshold - n low) / step)
        place = -((self.n * self.low - threshold) // self.step)
        return _lattice_tail(self.places, self.p, self.n, place, largest_window)

    def distances(self, largest_window: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the lattice x of |S - E S| and P(|S - E S| >= x), from x = 0."""
        middle = round(self.n * float(self.p @ self.places))
        distribution = _lattice_pmf(self.places, self.p, self.n, middle, largest_window)
        if distribution is None:
            return None
        place, chance = distribution
        distance = np.abs(place - middle)
        at = np.bincount(distance, chance)
        # summed from the far end, so that small tails keep their digits
        return np.arange(at.size) * self.step, at[::-1].cumsum()[::-1]


def _lattice_tail(
    v: np.ndarray, p: np.ndarray, n: int, place: int, largest_window: int
) -> float | None:
    """Return P(V >= place) for the sum V of n draws from v >= 0 with minimum 0."""
    top = n * int(v.max())
    if place <= 0:
        return 1.0
    if place > top:
        return 0.0
    if place == top:
        return max(float(p[v.argmax()]) ** n, TINY)
    # A frequent event is not tilted; its complement is the rare one.
    if place <= n * float(p @ v):
        below = _lattice_tail(v.max() - v, p, n, top - place + 1, largest_window)
        return None if below is None else 1 - below
    # the event is now a sum of at least 0
    y = v - place / n
    theta = tilt(y, p)
    log_chance = log_mean_exp(theta, y, p)
    tilted = p * np.exp(theta * y - log_chance)
    length, half = _window(v, tilted, y, n, top)
    if length > largest_window:
        return None
    omega, power, weight = _frequencies(v, y, tilted, n, length)
    # The window is the whole lattice: its part above the threshold ends at the largest
    # sum.
    if length > top:
        half = top - place + 1
    # theory, (P3): the geometric series; expm1 keeps its digits if theta is small
    ratio = -(theta + 1j * omega)
    geometric = np.expm1(half * ratio) / np.expm1(ratio)
    total = float(weight @ (power * geometric).real) / length
    return min(max(math.exp(n * log_chance) * total, TINY), 1.0)


def _window(
    v: np.ndarray, p: np.ndarray, y: np.ndarray, n: int, top: int
) -> tuple[int, int]:
    """Return the length of the window and of its part above the threshold."""
    deviation = math.sqrt(n * float(p @ (y * y)))
    half = math.ceil(_DEVIATIONS * deviation + _LARGEST * int(v.max()))
    length = 2 * half
    return (top + 1, half) if length > top else (length, half)


def _frequencies(
    v: np.ndarray, y: np.ndarray, p: np.ndarray, n: int, length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the frequencies that contribute, phi^n there, and their multiplicities.

    phi is the characteristic function of y. A fast Fourier transform locates the
    frequencies that contribute. At those frequencies phi is then summed with an
    algorithm that stays accurate when |phi| is close to 1.
    """
    # The transform has an absolute error of 1e-16, which the n-th power of a value near
    # 1 would multiply by n.
    fast = np.fft.rfft(np.bincount(v % length, p, length))
    with np.errstate(divide="ignore"):
        matters = np.flatnonzero(n * np.log(np.abs(fast)) > NEGLIGIBLE)
    omega = 2 * np.pi / length * matters
    power = np.empty(omega.size, dtype=complex)
    step = max(1, _BLOCK // y.size)
    for start in range(0, omega.size, step):
        angle = omega[start : start + step, np.newaxis] * y
        # cos(x) - 1 without cancellation, so |phi|^2 - 1 is exact near 0
        real = -2 * np.sin(angle / 2) ** 2 @ p
        imaginary = np.sin(angle) @ p
        size = np.log1p(2 * real + real**2 + imaginary**2) / 2
        turn = np.arctan2(imaginary, 1 + real)
        power[start : start + step] = np.exp(n * (size + 1j * turn))
    # Every other frequency stands for itself and its negative, with the conjugate
    # value.
    once = (matters == 0) | (2 * matters == length)
    return omega, power, np.where(once, 1.0, 2.0)


def _lattice_pmf(
    v: np.ndarray, p: np.ndarray, n: int, middle: int, largest_window: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lattice points near the mean of the sum, and their probabilities."""
    y, top = v - middle / n, n * int(v.max())
    length, half = _window(v, p, y, n, top)
    if length > largest_window:
        return None
    first = 0 if length > top else middle - half
    # a longer window is still correct, and its transform is faster
    length = next_fast_len(length, real=True)
    power = np.zeros(length // 2 + 1, dtype=complex)
    omega, found, _ = _frequencies(v, y, p, n, length)
    power[np.rint(omega * length / (2 * np.pi)).astype(int)] = found
    place = np.arange(first, min(first + length, top + 1))
    place = place[place >= 0]
    # phi has e^(+i omega S): entry j is the probability of the point middle - j
    chance = np.fft.irfft(power, length)[(middle - place) % length]
    return place, np.maximum(chance, 0)


@dataclass(frozen=True)
class Lattice:
    """Lattice of the sums of n draws.

    Attributes
    ----------
    step : float
        Spacing of the lattice; 0 if there is none.
    offset : float
        The first point of the lattice that is not negative.
    coarse : float
        Spacing of a coarse lattice close to which the sums lie, because the main part
        of each value lies on it; 0 if there is none.
    """

    step: float = 0.0
    offset: float = 0.0
    coarse: float = 0.0


NO_LATTICE = Lattice()


def saddlepoint_tail(
    y: np.ndarray, times: np.ndarray, lattice: Lattice = NO_LATTICE
) -> float:
    """Return P(S >= 0) for the sum S of n draws, by Lugannani and Rice.

    y[k] has probability times[k] / n.
    """
    n = float(times.sum())
    # The event starts at the first point of the lattice that is not negative.
    p, y = times / n, y - lattice.offset / n
    if y.min() >= 0:
        return 1.0
    if y.max() <= 0:
        at_top = float(p[y == 0].sum()) if y.max() == 0 else 0.0
        return max(at_top**n, TINY) if at_top > 0 else 0.0
    theta = tilt(y, p)
    # K(theta) is at most K(0) = 0; rounding may make it positive.
    log_chance = min(n * log_mean_exp(theta, y, p), 0.0)
    tilted = p * np.exp(theta * y - log_chance / n)
    deviation = math.sqrt(n * float(tilted @ (y * y)))
    # theory, (P4)
    w = math.copysign(math.sqrt(-2 * log_chance), theta)
    clumps = _clumps(y, tilted, n, theta, lattice)
    if abs(w) < 1e-4:
        # theory, (P5): 1 / u - 1 / w cancels near 0, so its limit is used
        skewness = n * float(p @ (y - p @ y) ** 3) / deviation**3
        correction = lattice.step / (2 * deviation) - skewness / 6 + clumps
        return 0.5 + (correction - w) / math.sqrt(2 * math.pi)
    step = lattice.step
    u = theta if step == 0 else -math.expm1(-theta * step) / step
    correction = 1 / (u * deviation) - 1 / w + clumps
    if w > 0:
        tail = corrected_tail(log_chance, correction)
    else:
        # The other tail is the rare one, and the correction changes its sign.
        tail = 1 - corrected_tail(log_chance, -correction)
    return min(max(tail, TINY), 1.0)


def corrected_tail(log_chance: float, correction: float) -> float:
    """Return the corrected normal tail beyond w = sqrt(-2 log_chance).

    The correction is in units of the density at w.
    """
    # (1 - Phi(w)) / phi(w) does not underflow, however small the tail is
    mills = math.sqrt(math.pi / 2) * float(erfcx(math.sqrt(-log_chance)))
    return math.exp(log_chance) / math.sqrt(2 * math.pi) * (mills + correction)


def _clumps(
    y: np.ndarray, p: np.ndarray, n: float, theta: float, lattice: Lattice
) -> float:
    """Return the term that a coarse lattice adds to the correction.

    The characteristic function may then also have peaks near multiples of 2 pi /
    coarse. Each of them is integrated like the peak at 0, with a parabola for the
    logarithm. The height of a peak depends on the remainders of the values.
    """
    if not 0 < lattice.step < lattice.coarse:
        return 0.0
    # up to the middle between two peaks of the fine lattice, if that is fast
    n_peaks = round(lattice.coarse / lattice.step)
    k = np.arange(1, min(n_peaks // 2, int(_PEAK_WORK / y.size) + 1) + 1)
    omega = 2 * np.pi / lattice.coarse * k
    # multiples of the coarse spacing do not change the phase, so values that differ by
    # them are merged; rounding errors are negligible
    phase, same = np.unique(np.round(y / lattice.coarse % 1, 12), return_inverse=True)
    turn = np.exp(2j * np.pi * np.multiply.outer(k, phase))
    height = turn @ np.bincount(same, p)
    matters = n * np.log(np.maximum(np.abs(height), TINY)) > _LOWEST_PEAK
    k, omega, height = k[matters], omega[matters], height[matters]
    wave = np.exp(1j * np.multiply.outer(omega, y)) * p
    # theory, (P6): derivatives of the logarithm at the peak
    slope = 1j * (wave @ y) / height
    bend = slope**2 + (wave @ (y * y)) / height
    power = n * (np.log(height) + slope**2 / (2 * bend))
    # the top of the parabola, which is not exactly at omega
    place = theta + 1j * (omega + slope / bend)
    geometric = -lattice.step / np.expm1(-lattice.step * place)
    each = (np.exp(power) / np.sqrt(n * bend) * geometric).real
    # a peak in the middle of the period is its own mirror image
    return float(each @ np.where(2 * k == n_peaks, 1.0, 2.0))


def signed_sum_tail(
    values: np.ndarray, times: np.ndarray, threshold: int, largest_lattice: int
) -> float | None:
    """Return P(S >= threshold) for S = sum of +-v, where v[k] occurs times[k] times.

    None is returned if S has more than `largest_lattice` points. As for sums of draws,
    the distribution is tilted so that the threshold is the mean, and its characteristic
    function is inverted.
    """
    step = 2 * int(np.gcd.reduce(values))
    top = int((values * times).sum())
    # Changing one sign changes the sum by 2 v, so the sums have the distance `step`.
    place = top - (top - threshold) // step * step  # first at or above
    if place <= -top:
        return 1.0
    if place > top:
        return 0.0
    if place <= 0:
        # P(S >= x) = 1 - P(S < x), and S is symmetric
        above = signed_sum_tail(values, times, step - place, largest_lattice)
        return None if above is None else 1 - above
    length = top // (step // 2) + 1
    if length > largest_lattice:
        return None
    if place == top:
        return max(2.0 ** -float(times.sum()), TINY)
    v, t = values / step, place / step
    # theory, (P12)
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


def signed_sum_saddlepoint(
    values: np.ndarray, times: np.ndarray, threshold: float
) -> float:
    """Return P(S >= threshold) by Lugannani and Rice, for 0 < threshold < top.

    The formula is for sums of many values that do not lie on a coarse lattice.
    """
    theta = _signed_tilt(values, times, threshold)
    log_chance = float(times @ _log_cosh(theta * values)) - theta * threshold
    # second derivative of log cosh(theta v); cosh overflows above 700
    variance = float(times @ (values / np.cosh(np.minimum(theta * values, 300))) ** 2)
    w, u = math.sqrt(-2 * log_chance), theta * math.sqrt(variance)
    return min(max(corrected_tail(log_chance, 1 / u - 1 / w), TINY), 1.0)


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
    # E e^(i omega s v) under the tilt is cos + i tanh sin, of squared size 1 - sin^2 /
    # cosh^2
    tanh, cosh2 = np.tanh(theta * v), np.cosh(np.minimum(theta * v, 300)) ** 2
    power = np.zeros(omega.size, dtype=complex)
    rows = max(1, _BLOCK // v.size)
    for start in range(0, omega.size, rows):
        angle = omega[start : start + rows, np.newaxis] * v
        sine, cosine = np.sin(angle), np.cos(angle)
        with np.errstate(divide="ignore"):
            size = np.log1p(-np.minimum(sine**2 / cosh2, 1)) / 2 @ times
        some = size > NEGLIGIBLE
        # the phase of each term minus the phase of its mean, to keep rounding small
        turn = np.arctan2(tanh * sine, cosine) - tanh * angle
        phase = turn[some] @ times
        place = start + np.flatnonzero(some)
        drift = float(times @ (v * tanh)) - t
        power[place] = np.exp(size[some] + 1j * (phase + omega[place] * drift))
    return power
