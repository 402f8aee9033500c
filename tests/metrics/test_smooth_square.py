"""The smooth part of the squared error, the mean, and the estimate that joins them."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom

from skcalib.metrics import calibration_error, calibration_error_interval
from skcalib.metrics._bins import FOR_INTERVAL, bins_of
from skcalib.metrics._grouped_bins import grouped_bins
from skcalib.metrics._smooth_square import (
    MeanBound,
    SmoothSquare,
    joined_square,
    smooth_square_of_bins,
    smooth_square_of_groups,
)
from skcalib.scorers import make_calibration_scorer
from tests.metrics.test_binning import random_rows


def projection(q, weight):
    """Matrix of the projection on 1, v and v logit q, in the weighted norm."""
    v = q * (1 - q)
    functions = np.stack([np.ones_like(q), v, v * logit(q)])
    inverse = np.linalg.pinv(functions * weight @ functions.T, rcond=1e-13)
    return functions.T @ inverse @ functions


def pairs_of(y, q, **kwargs):
    from skcalib._pairs import check_pairs

    (pairs,) = check_pairs(y, q, **kwargs)
    return pairs


class TestSmoothSquare:
    def test_it_is_a_sum_over_pairs_of_different_rows(self):
        rng = np.random.default_rng(0)
        q = rng.choice([0.1, 0.35, 0.6, 0.8, 0.95], 60)
        y = (rng.random(60) < q**1.5).astype(int)
        kernel, r = projection(q, np.ones(60)), q - y
        np.fill_diagonal(kernel, 0)
        found = smooth_square_of_bins(bins_of(pairs_of(y, q), FOR_INTERVAL))
        assert found.square == pytest.approx(r @ kernel @ r / 60, rel=1e-9)
        assert found.mean == pytest.approx(r.mean(), rel=1e-12)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_rows_of_one_group_are_not_multiplied(self, weighted):
        rng = np.random.default_rng(1)
        q, groups = rng.choice([0.1, 0.35, 0.6, 0.8, 0.95], 80), rng.integers(0, 20, 80)
        y = (rng.random(80) < q).astype(int)
        kernel, r = projection(q, np.ones(80)), q - y
        kernel[groups[:, np.newaxis] == groups] = 0
        expected = r @ kernel @ r / 80
        weight = np.ones(80) if weighted else None
        pairs = pairs_of(y, q, groups=groups, sample_weight=weight)
        found = smooth_square_of_groups(grouped_bins(pairs, FOR_INTERVAL))
        assert found.square == pytest.approx(expected, rel=1e-9)

    def test_it_is_the_square_of_a_smooth_error_on_average(self):
        # labels of shifted log odds; the rest of the error is 2% of its square
        rng = np.random.default_rng(2)
        q = expit(rng.normal(size=400))
        p = expit(logit(q) - 0.3)
        squares = [
            smooth_square_of_bins(
                bins_of(pairs_of((rng.random(400) < p).astype(int), q), FOR_INTERVAL)
            ).square
            for _ in range(400)
        ]
        error = np.std(squares) / 20
        assert np.mean(squares) == pytest.approx(np.mean((q - p) ** 2), abs=3 * error)

    def test_its_p_value_is_a_tail_of_a_sum_of_squares(self):
        # Two coefficients of variance s, of which one has the mean m: x = m^2 / n.
        # T is (z'z - 2 s) / n, and z'z / s is a noncentral chi square.
        n, s, x = 100, 0.2, 0.004
        rng = np.random.default_rng(3)
        z = rng.normal(0, np.sqrt(s), (200_000, 2))
        z[:, 0] += np.sqrt(n * x)
        squares = ((z**2).sum(axis=1) - 2 * s) / n
        for place in (0.004, 0.01, 0.02):
            found = SmoothSquare(0, place, 2 * s**2 / n**2, 2 * s**3 / n**3, s / n)
            expected = np.mean(squares >= place)
            assert found.p_value(x) == pytest.approx(expected, abs=0.01)

    @pytest.mark.parametrize("q", [0.5, 1e-12, 1 - 1e-12])
    def test_equal_probabilities_have_a_mean_only(self, q):
        y = np.arange(20) < 9
        found = smooth_square_of_bins(
            bins_of(pairs_of(y.astype(int), np.full(20, q)), FOR_INTERVAL)
        )
        r = q - y
        products = r.sum() ** 2 - (r**2).sum()
        assert found.square == pytest.approx(products / 400, rel=1e-6)


class TestMean:
    @pytest.mark.parametrize("k", [3, 10, 17])
    def test_the_p_value_is_binomial(self, k):
        # 20 labels, of which .5 is expected, and an error of at most .1
        bound = MeanBound(k / 20, 0.5, 0.01, n_least=20)
        for error in (0.0, 0.1):
            far = abs(k - 10)
            above = binom.sf(10 + far - 1, 20, 0.5 + error)
            below = binom.cdf(10 - far, 20, 0.5 - error)
            expected = min(above + below, 1)
            assert bound.p_value(error) == pytest.approx(expected, rel=1e-9)


class TestJoined:
    def test_a_rest_within_the_noise_is_dropped(self):
        smooth = SmoothSquare(0.05, 0.004, 0, 0, 0)
        assert joined_square(0.0049, 0.002, smooth) == 0.004
        # .004 + .006 - (.65 .002)^2 / .006
        found = joined_square(0.01, 0.002, smooth)
        assert found == pytest.approx(0.01 - 0.0013**2 / 0.006, rel=1e-12)

    def test_the_square_of_the_mean_is_the_least(self):
        assert joined_square(-1, 0.1, SmoothSquare(-0.2, 0.01, 0, 0, 0)) == 0.2**2

    @pytest.mark.parametrize("seed", range(12))
    @pytest.mark.filterwarnings("ignore")
    def test_it_is_one_number_and_at_least_the_mean_difference(self, seed):
        y, q = random_rows(seed)
        for groups in (None, np.arange(y.size) // 3):
            found = calibration_error(y, q, debias=True, groups=groups)
            assert found >= abs(y.mean() - q.mean()) * (1 - 1e-9)
            if y.size >= 12:
                interval = calibration_error_interval(y, q, groups=groups)
                assert interval.estimate == found
                assert interval.low <= found <= interval.high
                assert interval.plug_in == calibration_error(y, q)

    def test_the_scorer_is_the_same_number(self):
        from sklearn.dummy import DummyClassifier

        y, _ = random_rows(0, n=300)
        model = DummyClassifier(strategy="prior").fit(y[:100, np.newaxis], y[:100])
        proba = model.predict_proba(y[100:, np.newaxis])
        found = make_calibration_scorer(debias=True)(
            model, y[100:, np.newaxis], y[100:]
        )
        assert found == -calibration_error(y[100:], proba, debias=True)

    def test_pooled_classes_and_weights_have_an_estimate(self):
        rng = np.random.default_rng(4)
        proba = rng.dirichlet([1, 1, 1], 200)
        y = np.array([rng.choice(3, p=p) for p in proba])
        weight = rng.integers(1, 4, 200)
        found = calibration_error(y, proba, debias=True, sample_weight=weight)
        interval = calibration_error_interval(y, proba, sample_weight=weight)
        assert found == interval.estimate
        shifted = np.roll(proba, 1, axis=1)
        with pytest.warns(UserWarning, match="Check the order of the columns"):
            assert calibration_error(y, shifted, debias=True) > 0.25

    def test_the_square_stays_the_unbiased_one(self):
        y, q = random_rows(1, n=400)
        square = calibration_error(y, q, debias=True, squared=True)
        root = calibration_error(y, q, debias=True)
        assert square < root**2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_estimate_of_shifted_models_is_closer_than_the_square_alone():
    """Beta(2, 5) and log odds + .4, 1,000 rows: two thirds of the error, SE 4%."""
    errors = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        q = rng.beta(2, 5, 1000)
        p = expit(logit(q) + 0.4)
        y = (rng.random(1000) < p).astype(int)
        true = np.sqrt(np.mean((q - p) ** 2))
        found = calibration_error_interval(y, q)
        alone = calibration_error(y, q, bin_size=found.bin_size, debias=True)
        errors.append([found.estimate - true, alone - true])
    joined, alone = np.sqrt(np.mean(np.square(errors), axis=0))
    assert joined < 0.8 * alone
