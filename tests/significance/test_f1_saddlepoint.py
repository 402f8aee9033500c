"""Small p-values of F1 among many pairs: by a saddlepoint, as by enumeration."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln

from skcalib.significance import compare_systems, paired_bootstrap_test
from skcalib.significance._tail_probabilities import saddlepoint_tail, surface_tail

# Correct, guessed and gold of two systems: four kinds of sentence.
KINDS_A = np.array([[1, 1, 1], [1, 1, 1], [2, 3, 2], [0, 1, 1]])
KINDS_B = np.array([[0, 1, 1], [1, 1, 1], [1, 2, 2], [0, 0, 1]])


def enumerated(times, alternative):
    """Return the p-value of so many sentences of each kind, over all resamples."""
    n = sum(times)
    # four counts with the sum n, by where three bars stand among n stars
    bars = np.array(list(combinations(range(n + 3), 3)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n + 3)])
    counts = np.diff(edges) - 1
    log_chance = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)
    log_chance += counts @ np.log(np.array(times) / n)
    above, below = fraction(counts)
    d, whole = (x[0] for x in fraction(np.array([times])))
    # d* = above / below against d = d / whole, in whole numbers
    reached = {
        "two-sided": np.abs(above * whole - d * below) >= abs(d) * below,
        "greater": above * whole >= 2 * d * below,
    }[alternative]
    return np.exp(log_chance[reached]).sum()


def fraction(counts):
    """Return the gain of F1 as a fraction of whole numbers."""
    (correct_a, *rest_a), (correct_b, *rest_b) = (
        (counts @ KINDS_A).T,
        (counts @ KINDS_B).T,
    )
    below_a, below_b = sum(rest_a), sum(rest_b)
    return 2 * (correct_a * below_b - correct_b * below_a), below_a * below_b


def systems_of(times):
    """Return the systems with the better one, A, last: a gain is A minus B."""
    return {
        "b": np.repeat(KINDS_B, times, axis=0),
        "a": np.repeat(KINDS_A, times, axis=0),
    }


def entities(n, lead, seed=0):
    """Return correct, guessed and gold of two systems."""
    rng = np.random.default_rng(seed)
    gold = rng.poisson(1.5, n)
    systems = {}
    for name, chance in (("a", 0.7 + lead), ("b", 0.7)):
        correct = rng.binomial(gold, chance)
        systems[name] = np.stack([correct, correct + rng.poisson(0.3, n), gold], 1)
    return systems


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize(
    "times",
    [
        (12, 90, 10, 8),
        pytest.param((10, 80, 20, 10), marks=pytest.mark.slow),
        pytest.param((25, 80, 10, 15), marks=pytest.mark.slow),
    ],
)
def test_four_kinds_of_sentence_by_enumeration(times, alternative):
    expected = enumerated(times, alternative)
    assert expected < 3e-4
    result = compare_systems(
        systems_of(times), statistic="f1", alternative=alternative, random_state=0
    )
    assert result.method == ["saddlepoint"]
    assert result.monte_carlo_error.tolist() == [0]
    assert result.pvalue[0] == pytest.approx(expected, rel=0.025)


@pytest.mark.parametrize(
    ("n", "lead", "low", "high"),
    [
        (400, 0.17, 1e-9, 1e-4),
        pytest.param(1000, 0.2, 1e-60, 1e-15, marks=pytest.mark.slow),
    ],
)
def test_many_kinds_against_tilted_resamples(n, lead, low, high):
    systems = entities(n, lead)
    (p,) = compare_systems(systems, statistic="f1", random_state=0).pvalue
    drawn = paired_bootstrap_test(
        *systems.values(),
        statistic="f1",
        method="tilted",
        n_resamples=10_000,
        random_state=1,
    )
    assert low < p < high
    error = 4 * drawn.monte_carlo_error + 0.01 * drawn.pvalue
    assert abs(p - drawn.pvalue) < error < 0.2 * drawn.pvalue


def test_quotients_with_fixed_denominators_are_means():
    """The surface is then a plane, and the formula that of Lugannani and Rice."""
    rng = np.random.default_rng(0)
    a, b = rng.gamma(2, 1, 150), rng.gamma(2, 0.8, 150)
    rows = np.stack([a, np.full(150, 3.0), b, np.full(150, 2.0)], 1)
    y = a / 3 - b / 2
    for threshold in (y.mean() + 0.2, y.mean() + 0.5):
        plane = saddlepoint_tail(y - threshold, np.ones(150))
        assert surface_tail(rows, threshold, 1) == pytest.approx(plane, rel=1e-7)
    for threshold in (y.mean() - 0.2, y.mean() - 0.5):
        plane = saddlepoint_tail(threshold - y, np.ones(150))
        assert surface_tail(rows, threshold, -1) == pytest.approx(plane, rel=1e-7)


def test_order_unit_and_sides_play_no_part():
    systems = entities(300, 0.15)
    order = np.random.default_rng(1).permutation(300)
    mixed = {name: rows[order] for name, rows in systems.items()}
    scaled = {name: 1e80 * rows for name, rows in systems.items()}
    turned = dict(reversed(systems.items()))
    one, *others = (
        compare_systems(x, statistic="f1", random_state=0)
        for x in (systems, mixed, scaled, turned)
    )
    assert one.method == ["saddlepoint"]
    assert others[0].pvalue[0] == one.pvalue[0]
    for other in others[1:]:
        assert other.method == ["saddlepoint"]
        assert other.pvalue[0] == pytest.approx(one.pvalue[0], rel=1e-6)


def precise(n):
    """Return systems that guess nothing wrong: guessed are those that are correct."""
    rng = np.random.default_rng(0)
    gold = rng.poisson(1.5, n) + 1
    found = rng.binomial(gold, 0.7)
    more = np.minimum(gold, found + (rng.random(n) < 0.25))
    less = np.maximum(0, found - (rng.random(n) < 0.05))
    return {name: np.stack([x, x, gold], 1) for name, x in (("a", more), ("b", less))}


def forced(n):
    """Return systems that guess as many as there are gold."""
    systems = precise(n)
    return {name: rows[:, [0, 2, 2]] for name, rows in systems.items()}


@pytest.mark.parametrize("make", [precise, forced])
def test_sums_on_a_coarse_lattice_are_tilted(make):
    systems = make(300)
    result = compare_systems(systems, statistic="f1", random_state=0)
    assert result.method == ["tilted"]
    assert 0 < result.monte_carlo_error[0] < 0.5 * result.pvalue[0]


def test_few_items_and_other_metrics_are_tilted():
    few = entities(99, 0.3)
    empty = {
        name: np.concatenate([rows, np.zeros((50, 3))]) for name, rows in few.items()
    }
    for systems in (few, empty):
        result = compare_systems(systems, statistic="f1", random_state=0)
        assert result.method == ["tilted"]
    many = entities(300, 0.2)

    def f1(sums):
        return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    result = compare_systems(many, statistic=f1, random_state=0)
    assert result.method == ["tilted"]


@pytest.mark.parametrize("method", ["monte_carlo", "tilted"])
def test_what_is_asked_for_is_drawn(method):
    systems = entities(300, 0.2)
    result = compare_systems(systems, statistic="f1", method=method, random_state=0)
    assert result.method == [method]
    assert result.monte_carlo_error[0] > 0


def test_a_gain_that_no_resample_doubles():
    """A has all and B nothing: the gain is 1 and cannot be 2."""
    gold = np.arange(200) % 4
    systems = {
        "a": np.stack([gold, gold, gold], 1),
        "b": np.stack([0 * gold, np.arange(200) % 3, gold], 1),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare_systems(systems, statistic="f1", random_state=0)
    assert result.gain[0] == -1
    assert result.pvalue[0] == 1 / 10_001
    assert surface_tail(np.ones((100, 4)), 0.5, 1) is None
