"""The test of perfect calibration, against exact distributions and other tests."""

import itertools
import sys

import numpy as np
import pytest
from scipy.stats import binom, chi2, t, ttest_1samp

from skcalib._pairs import check_pairs
from skcalib.metrics import ReliabilitySketch, calibration_error_interval
from skcalib.metrics._bins import FOR_INTERVAL, bins_of
from skcalib.metrics._score_interval import (
    ORDERS,
    ROW_WEIGHTS,
    combine,
    linear_p_value,
    scaled_chi_square_p_value,
    smooth_basis,
    student_p_value,
)


class TestCombination:
    def test_equal_p_values_stay_nearly_as_they_are(self):
        for p, most in ((0.01, 3e-4), (0.05, 2e-3), (0.2, 0.03), (0.5, 0.14)):
            assert combine([p] * 4, [0.3, 0.4, 0.1, 0.2]) == pytest.approx(p, abs=most)

    def test_it_falls_with_each_p_value(self):
        found = [combine([p, 0.4, 0.6], [0.5, 0.3, 0.2]) for p in np.geomspace(1e-9, 1)]
        assert (np.diff(found) >= 0).all()

    @pytest.mark.parametrize("least", [1e-18, 1e-100, 0.0])
    def test_the_smallest_decides_where_the_tangent_would_overflow(self, least):
        assert combine([least, 0.5], [0.5, 0.5]) == pytest.approx(2 * least)

    def test_a_p_value_of_one_does_not_hide_a_small_one(self):
        # half of the weight doubles it, which is all that 1 may do
        assert combine([1.0, 1e-4], [0.5, 0.5]) == pytest.approx(2e-4, rel=0.03)
        assert combine([1.0, 0.01], [0.9, 0.1]) == pytest.approx(0.1, rel=0.07)

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


def exact_p_value(y, q):
    """Return twice the smaller tail of the number of positives if `q` is right."""
    chance = np.ones(1)
    for each in q:
        chance = np.convolve(chance, [1 - each, each])
    k = y.sum()
    return min(1, 2 * min(chance[: k + 1].sum(), chance[k:].sum()))


class TestNearlyCertainAnswers:
    """Few labels are expected to vary, and all of them in the same direction."""

    @pytest.mark.parametrize(("low", "n"), [(0.9, 97), (0.95, 180), (0.98, 450)])
    @pytest.mark.parametrize("mirrored", [False, True])
    def test_none_wrong_is_seen_as_by_the_exact_test(self, low, n, mirrored):
        q, y = np.linspace(low, 1 - 1e-3, n), np.ones(n, dtype=int)
        if mirrored:  # rare positives that do not come
            q, y = 1 - q, 1 - y
        exact = exact_p_value(y, q)
        found = calibration_error_interval(y, q)
        assert 0.5 * exact < found.pvalue < 1.5 * exact < 0.05
        assert found.low > 0

    @pytest.mark.slow
    @pytest.mark.parametrize("classes", [1, 2])
    def test_calibrated_ones_are_rejected_as_often_as_the_level_says(self, classes):
        # Standard errors: .007 and .003. Labels of 13.5 rows are expected to vary.
        p = []
        for seed in range(1000):
            rng = np.random.default_rng(seed)
            q = rng.choice([0.9, 0.98, 0.999], p=[0.1, 0.2, 0.7], size=1000)
            y = (rng.random(1000) < q).astype(int)
            given = q if classes == 1 else np.stack([1 - q, q], axis=1)
            multi_class = None if classes == 1 else "pooled"
            found = calibration_error_interval(y, given, multi_class=multi_class)
            p.append(found.pvalue)
        assert 0.02 < np.mean(np.array(p) < 0.05) < 0.055 + 2 * 0.007
        assert np.mean(np.array(p) < 0.01) < 0.013 + 2 * 0.003


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
    found = student_p_value(value, np.ones(30), 30.0, variance, 1000.0)
    assert found == pytest.approx(ttest_1samp(value, 0).pvalue, rel=1e-3)


def test_few_confident_groups_of_equal_rows_are_seldom_rejected():
    # Ten answers of a deterministic model to each of 20 questions. If all are right,
    # the observed variance is close to 0. The standard error of .05 is .015.
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        q = rng.beta(8, 1, 20)
        y = (rng.random(20) < q).astype(int)
        groups = np.arange(20).repeat(10)
        found = calibration_error_interval(y.repeat(10), q.repeat(10), groups=groups)
        rejected += found.pvalue < 0.05
    assert rejected / 200 < 0.05 + 2 * 0.015


def test_expected_variance_has_the_weight_of_one_label():
    # The sum of the residuals 1, -1, 1, 1 of groups has an estimated variance of 4, and
    # 10 are expected. If the estimate has the weight 4, the result is (4 * 4 + 10) / 5.
    found = student_p_value(np.array([1.0, -1, 1, 1]), np.ones(4), 4.0, 10.0, 4.0)
    assert found == pytest.approx(2 * t.sf(2 / np.sqrt(26 / 5), 3))


def test_the_weights_of_the_p_values_sum_to_one():
    assert sum(ROW_WEIGHTS) == pytest.approx(1)
    assert len(ROW_WEIGHTS) == 4 + len(ORDERS)


def enumerated_size(q, level=0.05):
    """Return the probability of p < level over all labels if `q` is right."""
    size = 0.0
    for y in itertools.product((0, 1), repeat=q.size):
        chance = np.where(y, q, 1 - q).prod()
        size += chance * (calibration_error_interval(y, q).pvalue < level)
    return size


def test_few_calibrated_rows_are_not_rejected_more_often_than_the_level_says():
    rng = np.random.default_rng(5)
    laws = (rng.uniform(size=(2, 5)), rng.beta(0.5, 0.5, (2, 5)))
    laws += (rng.beta(1, 4, (2, 5)), rng.beta(4, 1, (2, 5)))
    sizes = [enumerated_size(q) for q in np.concatenate(laws)]
    assert np.mean(sizes) <= 0.05
    assert max(sizes) <= 0.07


def binned(y, q, weight=None):
    (pairs,) = check_pairs(y, q, sample_weight=weight)
    return bins_of(pairs, FOR_INTERVAL)


@pytest.mark.parametrize(("y", "expected"), [
    ([0, 0, 0, 1, 1, 1], 0.1 + 0.2 + 0.4 + 0.6 + 0.3 + 0.3 + 0.05),
    ([1, 0, 0, 1, 1, 1], 0.1 + 0.05),
    ([0, 0, 0, 1, 1, 0], 0.05),
    ([0, 1, 0, 1, 0, 1], 0.1 + 0.2 + 0.05),
    ([0, 0, 0, 0, 0, 1], 0.1 + 0.2 + 0.3 + 0.3 + 0.05),
])  # fmt: skip
def test_the_least_probable_label_counts_all_rows_that_are_as_certain(y, expected):
    q = [0.1, 0.2, 0.4, 0.7, 0.7, 0.95]
    for weight in (None, np.ones(6)):
        assert binned(y, q, weight).surprise == pytest.approx(expected)
    # a row of weight 3 is three rows
    assert binned(y, q, np.full(6, 3.0)).surprise == pytest.approx(3 * expected)


class TestImpossibleLabel:
    """A label that contradicts a probability of exactly 0 or 1 decides the test."""

    @pytest.fixture
    def rows(self):
        rng = np.random.default_rng(0)
        q = np.r_[np.ones(300), rng.random(700)]
        y = (rng.random(1000) < q).astype(int)
        assert calibration_error_interval(y, q).pvalue > 0.05
        return y, q

    @pytest.fixture(params=["probabilities of 1", "probabilities of 0"])
    def contradicted(self, rows, request):
        y, q = rows
        y[7] = 0
        return (y, q) if request.param.endswith("1") else (1 - y, 1 - q)

    @pytest.mark.parametrize("options", [
        {},
        {"sample_weight": np.tile([0.7, 1.3, 2.2, 0.4], 250)},
        {"groups": np.arange(1000) // 2},
        {"method": "simulation", "n_samples": 10},
        {"bin_size": 300},
    ], ids=str)  # fmt: skip
    def test_perfect_calibration_is_rejected(self, contradicted, options):
        found = calibration_error_interval(*contradicted, **options)
        assert found.pvalue == sys.float_info.min
        if "method" not in options:
            assert 0 < found.low <= found.high

    def test_a_sketch_rejects_it_too(self, contradicted):
        sketch = ReliabilitySketch()
        for y, q in zip(*(np.split(each, 4) for each in contradicted), strict=True):
            sketch.update(y, q)
        assert sketch.interval().pvalue == sys.float_info.min

    @pytest.mark.parametrize("least", [1e-300, 2.0**-53])
    def test_a_probability_close_to_zero_excludes_no_label(self, rows, least):
        y, q = rows
        y[7] = 0
        found = calibration_error_interval(1 - y, np.maximum(1 - q, least))
        assert found.pvalue > sys.float_info.min

    def test_a_cell_of_a_sketch_with_other_probabilities_excludes_no_label(self, rows):
        y, q = rows
        y, q = 1 - y, 1 - q
        q[:300] = np.where(np.arange(300) % 2, 0, 1e-18)
        y[8] = 1
        sketch = ReliabilitySketch()
        sketch.update(y, q)
        assert sketch.interval().pvalue > sys.float_info.min

    def test_clipped_probabilities_are_tested_as_usual(self, rows):
        y, q = rows
        y[7] = 0
        assert calibration_error_interval(y, np.clip(q, 0, 0.995)).pvalue > 0.05


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
        # conservative where the rows of a group are independent
        assert 0.01 < self.rejections(lambda q: q, 300, groups) < 0.07

    @pytest.mark.slow
    def test_a_shift_is_seen_in_most_samples(self):
        # T alone sees it in a third
        assert self.rejections(lambda q: q - 0.1, 150) > 0.6

    def test_overconfidence_of_nearly_certain_answers_is_seen(self):
        # Spiegelhalter's statistic, whose factors are nearly equal here, sees a fifth
        def is_rejected(rng):
            q = np.clip(rng.beta(0.1, 0.1, 100), 1e-12, 1 - 1e-12)
            y = (rng.random(100) < 0.02 + 0.96 * q).astype(int)
            return calibration_error_interval(y, q).pvalue < 0.05

        found = [is_rejected(np.random.default_rng(seed)) for seed in range(100)]
        assert np.mean(found) > 0.5
