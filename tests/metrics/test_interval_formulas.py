"""Formulas of docs/guide/theory.rst, compared with the code and with enumeration."""

import itertools

import numpy as np
import pytest

from skcalib._pairs import Pairs, check_pairs
from skcalib.metrics._bins import Binning, Bins, debiased_square, order_pairs
from skcalib.metrics._grouped_bins import grouped_bins
from skcalib.metrics._score_interval import (
    ErrorMoments,
    Levels,
    SquareDistribution,
    _cumulants,
    slope_of,
)


def sums_of(y, q, bounds):
    ordered = order_pairs(Pairs(q, y == 1, q[y == 1]))
    return Bins(ordered, np.array(bounds))


def cumulants(q, p, bounds):
    """Return three cumulants of T, over all labels with frequencies p."""
    raw = np.zeros(3)
    for labels in itertools.product((0, 1), repeat=q.size):
        y = np.array(labels)
        sums = sums_of(y, q, bounds)
        square = debiased_square(sums.weight, sums.pair_residual)
        raw += np.prod(np.where(y, p, 1 - p)) * square ** np.arange(1, 4)
    first, second, third = raw
    return first, second - first**2, third - 3 * first * second + 2 * first**3


def test_without_error():
    """Formula (I2), for two bins of (nearly) equal probabilities."""
    p = np.repeat([0.2, 0.7], 4)
    q = p + 1e-9 * np.arange(8)
    sums = sums_of(np.arange(8) % 2, q, [0, 4, 8])
    v = np.array([0.2 * 0.8, 0.7 * 0.3])
    m = v * np.array([0.6, -0.4])
    none = np.zeros(0)
    _, deviation, skewness = _cumulants(sums, 4 * v, m, none, none)
    mean, variance, third = cumulants(q, q, [0, 4, 8])
    assert mean == pytest.approx(0, abs=1e-12)
    assert deviation**2 == pytest.approx(variance, rel=1e-6)
    assert skewness * deviation**3 == pytest.approx(third, rel=1e-6)


def test_few_levels():
    """Formula (I19), with the mixed term that is left out."""
    n, q, d = np.array([4.0, 3.0]), np.array([0.3, 0.6]), np.array([0.1, -0.15])
    total, p = n.sum(), q - d
    v, w, g = p * (1 - p), n / total, 1 / (total * (n - 1))
    x = w @ d**2
    deviation, skewness, half = Levels(n, q, d).at(x)
    rows = n.astype(int)
    mean, variance, third = cumulants(np.repeat(q, rows), np.repeat(p, rows), [0, 4, 7])
    assert mean == pytest.approx(x)
    population = (w @ d**4 - x**2) / total
    assert deviation**2 - population == pytest.approx(variance)
    mixed = (24 * g**2 * d * n * (n - 1) * v**2 * (2 * p - 1)).sum() / total
    found = skewness * deviation**3 - 2 * population**2 / x + mixed
    assert found == pytest.approx(third)
    linear = 4 * (w * v * d**2) @ np.abs(d * (1 - 2 * p)) / total**2
    assert half == pytest.approx(linear / deviation**2)


@pytest.mark.parametrize("x", [0.005, 0.02, 0.05])
def test_many_levels(x):
    """Formulas (I7), (I8), (I11) and (I12)."""
    n, square, kappa, sigma, skew = 300, 0.02, 4e-4, 0.006, 0.7
    moments = ErrorMoments(square, 0.0024, 0.001, 9e-4)
    trust = 1 / (1 + (2.5 * sigma / square) ** 2)
    c = np.sqrt(x / square)
    distribution = SquareDistribution(
        square, sigma, skew, kappa, 0.008, 0.5, n, moments=moments, ratio=1.3
    )
    moved = (1 - c) * moments.lean - (1 - c) ** 2 * moments.fourth
    kappa += trust * moved / (n * square)
    lean = trust * c**3 * (moments.lean - 2 * (1 - c) * moments.fourth)
    sigma += trust * max(1 - c, 0) * (0.008 - sigma)
    ratio = trust * moments.fourth / square**2 + (1 - trust) * 1.3
    population = (ratio - 1) / n * x**2
    variance = sigma**2 + 4 * kappa * x + population
    third = skew * sigma**3 + 24 * kappa**2 * x - 8 * kappa * lean / n
    third += 2 * population**2 / x
    half = 4 * kappa * x / variance * np.sqrt(ratio * square) / n
    half *= np.sqrt(1 - 4 * kappa * n)
    assert distribution._at(x) == pytest.approx(
        (variance**0.5, third / variance**1.5, half)
    )


def test_slope_is_at_least_a_tenth_of_the_guess():
    """Formula (I9)."""
    guess = 2 / 3 * (0.03**2 / 2) / 0.5
    assert slope_of(1.0, -1.0, 0.03, 0.5) == pytest.approx(guess)
    assert slope_of(-1.0, 0.1, 0.03, 0.5) == pytest.approx(guess / 10)


def test_groups():
    """Formulas (C5), (G1), (G4) and (G5)."""
    rng = np.random.default_rng(0)
    q = np.sort(rng.random(40))
    y, group = (rng.random(40) < q).astype(int), rng.permutation(40) % 10
    y[group == 0] = 0  # one group with a large error
    (pairs,) = check_pairs(y, q, groups=group)
    bins = grouped_bins(pairs, Binning(10, None, "quantile"))
    r, n = np.zeros((2, 10, 4))
    np.add.at(r, (group, np.arange(40) // 10), q - y)
    np.add.at(n, (group, np.arange(40) // 10), 1)

    def square(r, n):
        products = r.sum(axis=0) ** 2 - (r**2).sum(axis=0)
        pairs = n.sum(axis=0) ** 2 - (n**2).sum(axis=0)
        return n.sum(axis=0) / n.sum() @ (products / pairs)

    assert bins.debiased_square == pytest.approx(square(r, n))
    scale = n.sum(axis=0) / n.sum() / (n.sum(axis=0) ** 2 - (n**2).sum(axis=0))
    z = r - n * (r.sum(axis=0) / n.sum(axis=0))
    h = (z * scale) @ z.T
    np.fill_diagonal(h, 0)
    expected = 2 * (h**2).sum(), 8 * np.trace(h @ h @ h)
    (found,) = bins.product_moments(bins.centred)
    assert found == pytest.approx(expected)
    left = [square(np.delete(r, c, 0), np.delete(n, c, 0)) for c in range(10)]
    assert bins.squares_left_out() == pytest.approx(np.array(left))
    t = left - np.mean(left)
    between, freedom = bins.spread(1e-5)
    assert between == pytest.approx(0.9 * t @ t - 2e-5)
    assert freedom == pytest.approx(1.2 / ((t**4).sum() / (t @ t) ** 2 - 0.1))
