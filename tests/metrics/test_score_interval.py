"""The distribution of the debiased square: its tails, its moments and its inversion."""

import math

import numpy as np
import pytest
from cases import case
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, ncx2, norm, pearson3

from skcalib.metrics import calibration_error_interval
from skcalib.metrics._score_interval import (
    MOST,
    Levels,
    SquareDistribution,
    tail_above,
    upper_share,
)


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
        distribution = SquareDistribution(0.25, 0.0, 0.1, 1.0, 1e9)
        assert distribution.interval(0.95, 0.0) == pytest.approx((0.5, 0.5))

    @pytest.mark.parametrize("n", [1, 10, 1000])
    def test_what_never_came_may_come(self, n):
        distribution = SquareDistribution(0.0, 0.0, 0.0, 1.0, n)
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


SKEWNESS = [-2.0, -0.5, -0.01, 0.01, 0.3, 1.0, 2.5]
PLACES = [-2.0, -0.7, 0.0, 0.4, 1.5, 4.0]


def test_tails_are_those_of_pearsons_third_type():
    for place in PLACES:
        for skewness in SKEWNESS:
            with case(f"{place}, {skewness}"):
                distribution = pearson3(skewness)
                assert tail_above(place, skewness) == pytest.approx(
                    distribution.sf(place), rel=1e-6
                )
                # the tail below is the tail above of the mirror image
                assert tail_above(-place, -skewness) == pytest.approx(
                    distribution.cdf(place), rel=1e-6
                )


def test_hardly_any_skewness_is_none():
    assert tail_above(1.5, 1e-5) == norm.sf(1.5)


def test_more_skewness_than_of_one_squared_normal_counts_as_that():
    assert tail_above(2.0, 50.0) == tail_above(2.0, MOST)


LEVELS = Levels(
    np.array([30.0, 50.0, 20.0]),
    np.array([0.1, 0.8, 0.95]),
    np.array([0.09, 0.16, 0.0475]),
    np.array([0.02, 0.0, -0.03]),
)


class TestErrorsUnderTest:
    @pytest.mark.parametrize("x", [1e-6, 1e-4, 3e-3, 0.1])
    def test_they_have_the_mean_square_and_the_proportions(self, x):
        errors = LEVELS.errors_at(x)
        assert LEVELS.rows @ errors**2 / LEVELS.rows.sum() == pytest.approx(x)
        assert errors[0] / errors[2] == pytest.approx(0.02 / -0.03)

    def test_labels_do_not_vary_at_the_ends_of_the_unit_interval(self):
        errors = LEVELS.errors_at(0.5)
        p = np.clip(LEVELS.proba - errors, 0, 1)
        assert LEVELS.label_variance(errors) == pytest.approx(p * (1 - p))


class TestCertainty:
    """Samples in which labels hardly vary."""

    @pytest.mark.parametrize("mirrored", [False, True])
    def test_a_sample_without_negatives_may_have_a_smaller_mean_square(self, mirrored):
        # q uniform on [.9, 1], frequency .999: all 60 labels are usually positive
        truth = math.sqrt(0.1**2 / 3 - 2 * 0.001 * 0.05 + 0.001**2)
        covered = 0
        for seed in range(100):
            rng = np.random.default_rng(seed)
            q, y = rng.uniform(0.9, 1, 60), rng.random(60) < 0.999
            if mirrored:
                q, y = 1 - q, ~y
            found = calibration_error_interval(y, q, pos_label=True)
            covered += found.low <= truth <= found.high
        assert covered >= 93

    def test_the_level_with_the_error_may_be_another_one(self):
        # 45, 98 and 99.7% right: few rows at .5 hide the error at .9
        q = np.repeat([0.5, 0.9, 1.0], [34, 86, 180])
        y = np.repeat([1, 0, 1, 0, 1], [16, 18, 83, 3, 180])
        found = calibration_error_interval(y, q)
        truth = math.sqrt(0.1 * 0.05**2 + 0.3 * 0.08**2 + 0.6 * 0.003**2)
        assert found.low <= truth <= found.high


def test_the_lower_end_does_not_jump_where_the_test_ceases_to_reject():
    q = [0.97, 0.78, 0.6, 0.59, 0.74, 0.99, 0.35, 0.99, 0.14, 0.86, 0.52, 0.11]
    y = [1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0]
    q += [0.51, 0.06, 0.76]
    p = calibration_error_interval(y, q).pvalue
    low = [
        calibration_error_interval(y, q, confidence_level=1 - p - below).low
        for below in (-1e-6, 1e-6, 1e-4, 1e-2, 5e-2)
    ]
    assert low[0] == 0 < low[1] < 0.01
    assert low == sorted(low)
    assert low[-1] > 0.1


# Rows, probability and true frequency: rare events that probabilities do not announce.
RARE = (
    (100, 0.1, 0.01),
    (300, 0.02, 0.002),
    (1000, 0.02, 0.001),
    (200, 0.8, 0.995),
    (300, 0.9, 0.995),
    (60, 0.4, 0.5),
    (150, 0.05, 0.11),
)


class TestOneValue:
    @pytest.mark.parametrize(("n", "q", "p"), RARE)
    def test_the_exact_coverage_is_the_level_or_more(self, n, q, p):
        covered = 0.0
        first, last = (int(binom.ppf(tail, n, p)) for tail in (1e-7, 1 - 1e-7))
        for k in range(first, last + 1):
            y = (np.arange(n) < k).astype(int)
            found = calibration_error_interval(y, np.full(n, q))
            covered += binom.pmf(k, n, p) * (found.low <= abs(q - p) <= found.high)
        assert 0.95 <= covered < 0.99

    def test_all_right_at_ninety_percent(self):
        found = calibration_error_interval([1] * 300, [0.9] * 300, pos_label=1)
        frequency = binomtest(300, 300).proportion_ci()
        assert found.low == pytest.approx(frequency.low - 0.9, abs=0.003)
        assert found.high == pytest.approx(0.1)

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    def test_no_end_is_beyond_what_can_be(self):
        for k in (0, 1, 99, 100):
            y = (np.arange(100) < k).astype(int)
            for q in (0.0, 0.1, 0.7, 1.0):
                found = calibration_error_interval(y, np.full(100, q), pos_label=1)
                assert found.high <= max(q, 1 - q) + 1e-12

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
    def test_zero_is_inside_just_if_the_test_does_not_reject(self, level):
        for k in range(41):
            y = (np.arange(40) < k).astype(int)
            found = calibration_error_interval(
                y, np.full(40, 0.6), confidence_level=level, pos_label=1
            )
            assert (found.low == 0) == (found.pvalue >= 1 - level)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0.1, 0.02])
def test_hard_answers_are_covered(wrong):
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        q = (rng.random(250) < 0.5).astype(float)
        y = np.where(rng.random(250) < wrong, 1 - q, q).astype(int)
        found = calibration_error_interval(y, q, hard_labels=True)
        covered += found.low <= wrong <= found.high
    # the standard error of 200 is .015
    assert covered / 200 > 0.95 - 3 * 0.015
