"""The test of perfect calibration, against exact distributions and other tests."""

import numpy as np
import pytest
from scipy.stats import binom, chi2, ttest_1samp

from skcalib.metrics import calibration_error_interval
from skcalib.metrics._null_test import (
    combine,
    linear_p_value,
    scaled_chi_square_p_value,
    smooth_basis,
    student_p_value,
)


class TestCombination:
    def test_equal_p_values_stay_nearly_as_they_are(self):
        for p in (0.01, 0.05, 0.2, 0.5):
            assert combine([p] * 4, [0.3, 0.4, 0.1, 0.2]) == pytest.approx(p, abs=0.06)

    def test_it_falls_with_each_p_value(self):
        found = [combine([p, 0.4, 0.6], [0.5, 0.3, 0.2]) for p in np.geomspace(1e-9, 1)]
        assert (np.diff(found) >= 0).all()

    @pytest.mark.parametrize("least", [1e-18, 1e-100, 0.0])
    def test_the_smallest_decides_where_the_tangent_would_overflow(self, least):
        assert combine([least, 0.5], [0.5, 0.5]) == pytest.approx(2 * least)

    def test_a_p_value_of_one_does_not_hide_a_small_one(self):
        assert combine([1.0, 1e-4], [0.5, 0.5]) < 1e-3

    def test_what_has_no_weight_is_not_looked_at(self):
        assert combine([0.3, 1e-9], [1.0, 0.0]) == combine([0.3], [1.0])


@pytest.mark.parametrize(("n", "q"), [(60, 0.05), (200, 0.1), (1000, 0.02)])
def test_a_sum_of_residuals_has_nearly_the_binomial_tails(n, q):
    variance = n * q * (1 - q)
    for k in range(n):
        exact = min(1, 2 * min(binom.cdf(k, n, q), binom.sf(k - 1, n, q)))
        if exact > 1e-4:
            found = linear_p_value(n * q - k, variance, -variance * (1 - 2 * q))
            assert found == pytest.approx(exact, rel=0.2, abs=0.03)


def test_polynomials_are_orthonormal():
    basis = smooth_basis(np.ones(100_000))
    np.testing.assert_allclose(basis @ basis.T / 100_000, np.eye(8), atol=1e-6)


@pytest.mark.parametrize("freedom", [1, 2.5, 8])
def test_a_multiple_of_a_chi_square_has_its_upper_tail(freedom):
    for value in (0.5, 3.0, 40.0):
        found = scaled_chi_square_p_value(value, 3 * freedom, 2 * 9 * freedom)
        assert found == pytest.approx(chi2.sf(value / 3, freedom))


def test_a_sum_of_squares_that_cannot_vary_has_no_evidence():
    # One label with a probability of 1/2 has the squared residual 1/4 either way.
    assert scaled_chi_square_p_value(0.25, 0.25, 0.0) == 1
    assert scaled_chi_square_p_value(0.0, 0.0, 0.0) == 1


def test_groups_of_equal_size_have_students_p_value():
    rng = np.random.default_rng(0)
    value = 1000 * rng.normal(0.3, 1, 30)
    variance = 30 * value.var(ddof=1)
    found = student_p_value(value, np.ones(30), 30.0, variance)
    assert found == pytest.approx(ttest_1samp(value, 0).pvalue, rel=1e-3)


class TestSizeAndPower:
    """Rejections at .05 of samples from distributions that set none of the weights."""

    N = 300

    def rejections(self, frequency, n, groups=None):
        found = 0
        for seed in range(self.N):
            rng = np.random.default_rng(seed)
            q = rng.triangular(0.1, 0.7, 1.0, n)
            y = (rng.random(n) < frequency(q)).astype(int)
            found += calibration_error_interval(y, q, groups=groups).pvalue < 0.05
        return found / self.N

    # the standard error of .05 is .013
    def test_calibrated_rows_are_rejected_as_often_as_the_level_says(self):
        assert abs(self.rejections(lambda q: q, 150) - 0.05) < 0.03

    @pytest.mark.slow
    def test_calibrated_groups_are_rejected_as_often_as_the_level_says(self):
        groups = np.arange(300) // 5
        assert abs(self.rejections(lambda q: q, 300, groups) - 0.05) < 0.03

    @pytest.mark.slow
    def test_a_shift_is_seen_in_most_samples(self):
        # T alone sees it in a third
        assert self.rejections(lambda q: q - 0.1, 150) > 0.6
