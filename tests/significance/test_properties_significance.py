"""Laws of comparisons: items have no order, systems swap with their sign."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib.scorers import compare_calibration
from skcalib.significance import (
    borderline_threshold,
    compare_systems,
    paired_bootstrap_test,
    permutation_test,
)

SEEDS = st.integers(0, 10_000)
TURNED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}

few = settings(max_examples=15)

pytestmark = [
    pytest.mark.filterwarnings("ignore:paired_bootstrap_test. zero variance of the"),
    pytest.mark.filterwarnings("ignore:paired_bootstrap_test. the systems differ in"),
    pytest.mark.filterwarnings("ignore:The threshold of borderline_threshold is from"),
]
alternatives = pytest.mark.parametrize("alternative", TURNED)

# Tests of one gain, and the kind of statistics.
TESTS = {
    "bootstrap": (paired_bootstrap_test, "mean", {}),
    "bootstrap of ratios": (paired_bootstrap_test, "ratio", {"method": "saddlepoint"}),
    "bootstrap of f1": (paired_bootstrap_test, "f1", {"method": "monte_carlo"}),
    "flips of ratios": (paired_bootstrap_test, "ratio", {"method": "sign_flips"}),
    "flips of f1": (paired_bootstrap_test, "f1", {"method": "sign_flips"}),
    "swaps": (permutation_test, "mean", {}),
    "swaps of f1": (permutation_test, "f1", {"method": "monte_carlo"}),
}
each_test = pytest.mark.parametrize("name", TESTS)


def draw_statistics(statistic, seed, n=12):
    """Return whole numbers of a better and a worse system."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 6, n)
    systems = []
    for rate in (0.7, 0.5):
        guessed = rng.integers(1, 6, n)
        correct = rng.binomial(np.minimum(gold, guessed), rate)
        columns = {
            "mean": correct,
            "ratio": np.column_stack([rng.binomial(gold, rate), gold]),
            "f1": np.column_stack([correct, guessed, gold]),
        }
        systems.append(columns[statistic])
    return systems


def run(name, a, b, alternative, **kwargs):
    test, statistic, params = TESTS[name]
    params = {**params, "n_resamples": 99, "random_state": 0, **kwargs}
    return test(a, b, statistic=statistic, alternative=alternative, **params)


@each_test
@alternatives
@few
@given(seed=SEEDS)
def test_swapping_systems_flips_the_sign(name, alternative, seed):
    statistic = TESTS[name][1]
    a, b = draw_statistics(statistic, seed)
    if seed % 5 == 0 and statistic != "ratio":  # neither is better
        b = a[np.random.default_rng(seed).permutation(len(a))]
    one = run(name, a, b, alternative)
    other = run(name, b, a, TURNED[alternative])
    assert other.statistic == -one.statistic
    assert other.pvalue == pytest.approx(one.pvalue, rel=1e-5)
    assert 0 <= one.pvalue <= 1
    if hasattr(one, "confidence_interval"):
        low, high = other.confidence_interval
        expected = [-high, -low]
        np.testing.assert_allclose(one.confidence_interval, expected, atol=1e-9)
        assert other.standard_error == pytest.approx(one.standard_error)


@each_test
@few
@given(seed=SEEDS)
def test_the_order_of_items_and_names_of_groups(name, seed):
    a, b = draw_statistics(TESTS[name][1], seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(a))
    groups = rng.permutation(np.arange(len(a)) // 3)
    one, mixed = (
        run(name, a, b, "two-sided"),
        run(name, a[order], b[order], "two-sided"),
    )
    assert mixed.statistic == pytest.approx(one.statistic, abs=1e-12)
    grouped = run(name, a, b, "two-sided", groups=groups)
    renamed = run(
        name,
        a[order],
        b[order],
        "two-sided",
        groups=[f"s{9 - g}" for g in groups[order]],
    )
    assert renamed.statistic == pytest.approx(grouped.statistic, abs=1e-12)
    assert mixed.pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert renamed.pvalue == pytest.approx(grouped.pvalue, rel=1e-9)


@few
@given(seed=SEEDS)
def test_all_pairs_whatever_the_order_of_systems(seed):
    a, b = draw_statistics("mean", seed)
    systems = {"a": a, "b": b, "c": (a + b) // 2}
    one = compare_systems(systems, random_state=0)
    other = compare_systems(
        {name: systems[name] for name in reversed(systems)}, random_state=0
    )
    expected = {frozenset(pair): k for k, pair in enumerate(one.pairs)}
    for k, pair in enumerate(other.pairs):
        i = expected[frozenset(pair)]
        assert pair == tuple(reversed(one.pairs[i]))
        assert other.gain[k] == -one.gain[i]
        assert other.pvalue[k] == pytest.approx(one.pvalue[i])
        assert other.pvalue_adjusted[k] == pytest.approx(one.pvalue_adjusted[i])


@pytest.mark.filterwarnings("ignore:.*borderline pairs:UserWarning")
@few
@given(seed=SEEDS)
def test_the_threshold_knows_neither_order_nor_sign(seed):
    rng = np.random.default_rng(seed)
    gain, pvalue = rng.normal(size=20), rng.uniform(0.03, 0.07, 20)
    order, sign = rng.permutation(20), rng.choice([-1, 1], 20)
    expected = borderline_threshold(gain, pvalue)
    assert borderline_threshold((gain * sign)[order], pvalue[order]) == expected


@few
@given(seed=SEEDS)
def test_calibration_of_two_models_swaps_with_its_sign(seed):
    rng = np.random.default_rng(seed)
    y, (a, b) = rng.integers(0, 2, 30), rng.random((2, 30))
    kwargs = {"n_resamples": 50, "random_state": 0, "pos_label": 1}
    one, other = (
        compare_calibration(y, a, b, **kwargs),
        compare_calibration(y, b, a, **kwargs),
    )
    assert other.difference == -one.difference
    assert other.brier_difference == pytest.approx(-one.brier_difference)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert other.pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert other.brier_pvalue == pytest.approx(one.brier_pvalue)
