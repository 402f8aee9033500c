"""Formulas of docs/guide/theory.rst, compared with the code and with enumeration."""

import itertools

import numpy as np
import pytest

from skcalib._pairs import Pairs, check_pairs
from skcalib.metrics._bins import Binning, Bins, debiased_square, order_pairs
from skcalib.metrics._grouped_bins import grouped_bins
from skcalib.metrics._score_interval import (
    Levels,
    SquareDistribution,
    _cumulants,
    distribution_of_bins,
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
    deviation, skewness = _cumulants(sums)
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
    found = Levels(n, q, q * (1 - q), d).cumulants(x)
    rows = n.astype(int)
    mean, variance, third = cumulants(np.repeat(q, rows), np.repeat(p, rows), [0, 4, 7])
    assert mean == pytest.approx(x)
    population = (w @ d**4 - x**2) / total
    mixed = (24 * g**2 * d * n * (n - 1) * v**2 * (2 * p - 1)).sum() / total
    flip = 4 * (w * v * d**2) @ np.abs(d * (1 - 2 * p)) / total**2
    third += 2 * population**2 / x - mixed
    assert found == pytest.approx((variance + population, third, flip))


@pytest.mark.parametrize("x", [0.005, 0.02, 0.05])
def test_many_levels(x):
    """Formulas (I6), (I8), (I11) and (I12)."""
    n, square, kappa, sigma, skew, ratio = 300, 0.02, 4e-4, 0.006, 0.7, 1.3
    q = np.array([0.2, 0.5, 0.6])
    levels = Levels(np.full(3, 100.0), q, q * (1 - q), np.array([0.1, -0.15, 0.2]))
    distribution = SquareDistribution(
        square,
        sigma,
        0.008,
        0.5,
        n,
        skewness=skew,
        slope=kappa,
        between=(ratio - 1) / n,
        levels=levels,
    )
    population = (ratio - 1) / n * x**2
    variance = sigma**2 + 4 * kappa * x + population
    third = skew * sigma**3 + 24 * kappa**2 * x + 2 * population**2 / x
    flip = 4 * kappa * x * np.sqrt(square) / n * np.sqrt(1 - 4 * kappa * n)
    u = 1 / (1 + (2.5 * sigma / square) ** 2)
    guess = np.array([variance, third, flip])
    variance, third, flip = u * np.array(levels.cumulants(x)) + (1 - u) * guess
    assert distribution._at(x) == pytest.approx(
        (variance**0.5, third / variance**1.5, flip / variance)
    )


def test_label_variance_of_shifted_frequencies():
    """Formula (I5), where the error is the same for all rows of a bin."""
    q, d = np.array([0.1, 0.3, 0.6]), 0.05
    p = q - d
    mean = np.array([q.mean()])
    levels = Levels(np.array([3.0]), mean, np.array([(q * (1 - q)).mean()]), mean * 0)
    assert levels.label_variance(np.array([d])) == pytest.approx((p * (1 - p)).mean())


def test_observed_label_variance():
    """Formula (I4): 3 of 5 positives at .9."""
    found = Levels(*np.array([[5.0], [0.9], [0.09], [0.3]])).label
    assert found == pytest.approx((5 * (5 * 0.6 * 0.4 / 4) + 0.09 / 2) / 5.5)


def test_rows_of_a_divided_class_vary_less():
    """Formula (I7); products of a class and other rows are approximated."""
    q = np.array([0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 0.7, 0.8])
    sums = sums_of(np.arange(8) % 2, q, [0, 4, 8])
    found = distribution_of_bins(sums)
    _, variance, _ = cumulants(q, q, [0, 4, 8])
    assert found.levels.tied < 0.9
    assert found.levels.cumulants(0.0)[0] == pytest.approx(found.null_deviation**2)
    assert found.null_deviation**2 == pytest.approx(variance, rel=0.05)


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
