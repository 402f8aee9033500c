"""Few distinct probabilities: counts by value, and the exact interval of one value."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from skcalib.metrics import calibration_error_interval
from skcalib.metrics._score_interval import Levels

LEVELS = Levels(
    np.array([30.0, 50.0, 20.0]),
    np.array([0.1, 0.8, 0.95]),
    np.array([0.02, 0.0, -0.03]),
)


class TestErrorsUnderTest:
    @pytest.mark.parametrize("x", [1e-6, 1e-4, 3e-3])
    def test_they_have_the_mean_square_and_the_proportions(self, x):
        errors = LEVELS.errors_at(x)
        assert LEVELS.rows @ errors**2 / LEVELS.rows.sum() == pytest.approx(x)
        if x < 1e-3:  # no frequency is at its end yet
            assert errors[0] / errors[2] == pytest.approx(0.02 / -0.03)

    def test_no_frequency_leaves_the_unit_interval(self):
        for x in np.geomspace(1e-6, 1, 50):
            p = LEVELS.proba - LEVELS.errors_at(x)
            assert ((p >= -1e-12) & (p <= 1 + 1e-12)).all()


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
        for k in range(0, 41):
            y = (np.arange(40) < k).astype(int)
            found = calibration_error_interval(
                y, np.full(40, 0.6), confidence_level=level, pos_label=1
            )
            assert (found.low == 0) == (found.p_value >= 1 - level)


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
