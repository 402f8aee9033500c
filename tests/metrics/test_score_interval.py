"""From the distribution of the debiased square to an interval."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import ncx2, norm

from skcalib.metrics._score_interval import SquareDistribution, upper_share


def interval_of_a_normal_mean(measured, level):
    """Return the ends for a mean that is not negative, variance 1."""

    def low(mean):
        return norm.sf(measured - mean) - upper_share(mean, level)

    def high(mean):
        lower = 1 - level - upper_share(mean, level)
        return norm.cdf(measured - mean) - lower

    inside = low(0) >= 0
    return (0 if inside else brentq(low, 0, measured)), brentq(high, 1e-9, 10)


class TestUpperShare:
    @pytest.mark.parametrize(
        ("measured", "ninety", "ninety_five"),
        [
            (-3.0, (0, 0.26), (0, 0.42)),
            (-1.0, (0, 0.81), (0, 1.10)),
            (0.0, (0, 1.64), (0, 1.96)),
            (1.0, (0, 2.64), (0, 2.96)),
            (2.0, (0.58, 3.64), (0.35, 3.96)),
            (3.0, (1.37, 4.64), (1.14, 4.96)),
        ],
    )
    def test_it_gives_the_table_of_feldman_and_cousins(
        self, measured, ninety, ninety_five
    ):
        # their Table X, to its two digits
        for level, expected in ((0.9, ninety), (0.95, ninety_five)):
            found = interval_of_a_normal_mean(measured, level)
            assert found == pytest.approx(expected, abs=0.006)

    @pytest.mark.parametrize("level", [0.05, 0.5, 0.8, 0.95, 0.999])
    def test_it_falls_from_one_tail_to_two(self, level):
        z = norm.ppf((1 + level) / 2)
        shares = [upper_share(x, level) for x in np.linspace(0, z + 1, 200)]
        assert shares[0] == pytest.approx(min(1 - level, 0.5))
        assert shares[-1] == pytest.approx((1 - level) / 2)
        assert (np.diff(shares) <= 1e-12).all()

    @pytest.mark.parametrize("level", [0.51, 0.7383245103604626, 0.9, 0.999999])
    def test_it_is_found_at_any_distance(self, level):
        # near 0 the lower end is so far away that its tail is lost in rounding
        for distance in np.geomspace(1e-9, 10, 2000):
            assert (1 - level) / 2 <= upper_share(distance, level) <= 1 - level + 1e-15

    def test_a_higher_level_leaves_out_less_in_both_tails(self):
        for x in (0.1, 0.5, 1, 2, 3):
            shares = [upper_share(x, level) for level in (0.5, 0.8, 0.95, 0.99)]
            lower = [
                1 - level - share
                for level, share in zip((0.5, 0.8, 0.95, 0.99), shares, strict=True)
            ]
            assert (np.diff(shares) < 0).all()
            assert (np.diff(lower) <= 1e-12).all()


def distribution_of_chi_squares(n_bins, noise, square):
    """Return the distribution of a mean of n_bins equal squares, minus its noise."""
    weight = noise / n_bins
    deviation = math.sqrt(2 * n_bins) * weight
    return SquareDistribution(
        square=square,
        deviation=deviation,
        skewness=math.sqrt(8 / n_bins),
        slope=weight,
        null_deviation=deviation,
        null_skewness=math.sqrt(8 / n_bins),
        n_units=1e6,
    )


class TestSquareDistribution:
    @pytest.mark.parametrize("n_bins", [1, 3, 40, 1000])
    @pytest.mark.parametrize("square", [0.0, 0.1, 0.7, 4.0])
    def test_its_moments_are_those_of_noncentral_chi_squares(self, n_bins, square):
        # T + noise = noise / n_bins times chi square, noncentrality square n_bins/noise
        noise = 0.3
        distribution = distribution_of_chi_squares(n_bins, noise, 0.2)
        exact = ncx2(n_bins, max(square * n_bins / noise, 1e-12))
        _, variance, skewness = exact.stats("mvs")
        *found, step = distribution._at(square)
        expected = math.sqrt(variance) * noise / n_bins, skewness
        assert found == pytest.approx(expected, rel=1e-6)

    @pytest.mark.parametrize("n_bins", [4, 40, 400])
    def test_its_p_value_is_exact_for_bins_of_equal_noise(self, n_bins):
        distribution = distribution_of_chi_squares(n_bins, 0.3, 0.05)
        expected = ncx2(n_bins, 1e-12).sf((0.05 + 0.3) / 0.3 * n_bins)
        assert distribution.p_value(True) == pytest.approx(expected, rel=1e-6)

    @pytest.mark.parametrize(
        "n_bins", [3, 30, pytest.param(300, marks=pytest.mark.slow)]
    )
    @pytest.mark.parametrize(
        "distance",
        [0, *(pytest.param(d, marks=pytest.mark.slow) for d in (0.3, 1, 2, 5)), 30],
    )
    def test_it_covers_noncentral_chi_squares(self, n_bins, distance):
        # squares of normal means: only the tails are approximate
        noise, rng = 0.3, np.random.default_rng(0)
        deviation = math.sqrt(2 / n_bins) * noise
        truth = distance * deviation
        drawn = rng.noncentral_chisquare(n_bins, truth * n_bins / noise + 1e-12, 1500)
        covered = 0
        for t in drawn * noise / n_bins - noise:
            distribution = distribution_of_chi_squares(n_bins, noise, t)
            low, high = distribution.interval(0.95, distribution.p_value(True))
            covered += low**2 <= truth <= high**2
        # an end above 1 is 1
        if truth < 1:
            assert covered / 1500 == pytest.approx(0.95, abs=0.01 + 2 * 0.0056)

    def test_without_noise_it_is_a_point(self):
        distribution = SquareDistribution(0.25, 0.0, 1.0, 0.0, 0.1, 1.0, 1e9)
        assert distribution.interval(0.95, 0.0) == pytest.approx((0.5, 0.5))

    @pytest.mark.parametrize("n", [1, 10, 1000])
    def test_what_never_came_may_come(self, n):
        distribution = SquareDistribution(0.0, 0.0, 1.0, 0.0, 0.0, 1.0, n)
        low, high = distribution.interval(0.95, distribution.p_value(False))
        assert low == 0
        # the frequency with which n labels are all 0 one time in 20
        assert (1 - high) ** n == pytest.approx(0.05)

    @pytest.mark.parametrize("t", [-3.0, -2.0, -1.0])
    def test_noise_that_was_small_by_chance_gives_no_empty_interval(self, t):
        deviation = distribution_of_chi_squares(100, 0.01, 0).deviation
        distribution = distribution_of_chi_squares(100, 0.01, t * deviation)
        low, high = distribution.interval(0.95, distribution.p_value(True))
        assert low == 0
        assert high**2 > 0.3 * deviation
