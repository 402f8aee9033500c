"""The test of one logistic recalibration for all parts."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2_contingency

from skcalib.metrics._one_map import one_map_p_value


def test_equal_probabilities_have_the_chi_squared_test_of_equal_frequencies():
    table = np.array([[30, 70], [45, 75], [20, 90]])
    part = np.repeat([0, 1, 2], table.sum(axis=1))
    y = np.concatenate([np.repeat([1, 0], row) for row in table])
    found = one_map_p_value(y, np.full(y.size, 0.3), part)
    expected = chi2_contingency(table, correction=False).pvalue
    assert found == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_groups_have_nearly_the_same_test():
    rng = np.random.default_rng(0)
    q, part = rng.beta(2, 1, 3000), rng.integers(0, 3, 3000)
    y = (rng.random(3000) < expit(logit(q) + 0.15 * part)).astype(int)
    alone = one_map_p_value(y, q, part)
    grouped = one_map_p_value(y, q, part, np.arange(3000))
    assert np.log(grouped) == pytest.approx(np.log(alone), rel=0.1)


def test_rows_that_repeat_each_other_count_once():
    rng = np.random.default_rng(1)
    q, part = rng.beta(2, 1, 900), rng.integers(0, 3, 900)
    y = (rng.random(900) < q).astype(int)
    once = one_map_p_value(y, q, part, np.arange(900))
    again = one_map_p_value(*(x.repeat(4) for x in (y, q, part, np.arange(900))))
    assert again == pytest.approx(once, rel=1e-6)


@pytest.mark.parametrize("n", [3, 400])
def test_parts_without_labels_that_vary_are_not_tested(n):
    y = np.r_[np.arange(n) % 2, np.ones(50, dtype=int)]
    part = np.repeat([0, 1], [n, 50])
    assert one_map_p_value(y, np.full(y.size, 0.6), part) is None


def world(seed, by_part):
    """Five parts of 120 answers with stated confidences that are .08 too high."""
    rng = np.random.default_rng(seed)
    part = np.repeat(np.arange(5), 120)
    q = rng.choice([0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95], 600)
    true = expit(logit(q - 0.08) + by_part * (part - 2))
    return (rng.random(600) < true).astype(int), q, part


@pytest.mark.parametrize(("by_part", "low", "high"), [(0, 0.015, 0.085), (0.4, 0.9, 1)])
def test_parts_of_one_curve_seldom_differ_and_others_are_found(by_part, low, high):
    """200 samples, standard error 1.5 points at 5%."""
    found = [one_map_p_value(*world(seed, by_part)) for seed in range(200)]
    assert low <= np.mean(np.array(found) < 0.05) <= high
