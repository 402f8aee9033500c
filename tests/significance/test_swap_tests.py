"""The swap test and McNemar's test."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from skcalib.significance import mcnemar_test, permutation_test

ALTERNATIVES = ("two-sided", "greater", "less")


def is_extreme(gain, seen, alternative):
    if alternative == "greater":
        return gain >= seen
    if alternative == "less":
        return gain <= seen
    return abs(gain) >= abs(seen)


def f1(rows):
    correct, guessed, gold = (sum(x) for x in zip(*rows, strict=True))
    return Fraction(2 * correct, guessed + gold) if guessed + gold else Fraction(0)


def listed_swaps(gain, a, b, alternative):
    seen, extreme, n = gain(a, b), 0, len(a)
    for swaps in product([False, True], repeat=n):
        first = [y if s else x for s, x, y in zip(swaps, a, b, strict=True)]
        second = [x if s else y for s, x, y in zip(swaps, a, b, strict=True)]
        extreme += is_extreme(gain(first, second), seen, alternative)
    return extreme / 2**n


@given(
    st.lists(st.tuples(st.integers(-3, 9), st.integers(-3, 9)), min_size=2, max_size=8),
    st.sampled_from(ALTERNATIVES),
)
def test_the_mean_of_whole_numbers_over_all_swaps(pairs, alternative):
    a, b = (list(x) for x in zip(*pairs, strict=True))
    expected = listed_swaps(lambda x, y: sum(x) - sum(y), a, b, alternative)
    result = permutation_test(a, b, alternative=alternative)
    assert result.method == "exact"
    assert result.pvalue == pytest.approx(expected, rel=1e-12)
    # and as fractions, all of which are listed
    a, b = np.array(a) / 7, np.array(b) / 7
    listed = permutation_test(a, b, alternative=alternative, method="exact")
    assert listed.pvalue == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_f1_over_all_swaps(alternative):
    a = [(2, 3, 3), (0, 1, 0), (1, 1, 2), (0, 0, 0), (2, 2, 2), (1, 3, 1), (3, 3, 4)]
    b = [(1, 3, 3), (0, 0, 0), (1, 2, 2), (0, 0, 0), (2, 3, 2), (1, 1, 1), (1, 3, 4)]
    expected = listed_swaps(lambda x, y: f1(x) - f1(y), a, b, alternative)
    kwargs = {"statistic": "f1", "alternative": alternative}
    result = permutation_test(a, b, **kwargs)
    assert (result.pvalue, result.method) == (pytest.approx(expected), "exact")
    drawn = permutation_test(
        a, b, method="monte_carlo", n_resamples=40_000, random_state=0, **kwargs
    )
    assert drawn.pvalue == pytest.approx(expected, abs=4 * drawn.monte_carlo_error)


@pytest.mark.parametrize(("only_a", "only_b"), [(9, 3), (5, 5), (40, 11), (300, 60)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_accuracies_are_the_sign_test(only_a, only_b, alternative):
    a = np.repeat([1, 0, 1, 0], [only_a, only_b, 30, 10])
    b = np.repeat([0, 1, 1, 0], [only_a, only_b, 30, 10])
    binomial = binomtest(only_a, only_a + only_b, alternative=alternative)
    result = permutation_test(a, b, alternative=alternative)
    assert result.pvalue == pytest.approx(binomial.pvalue, rel=1e-11)
    mcnemar = mcnemar_test(a, b, alternative=alternative)
    assert mcnemar.pvalue == pytest.approx(binomial.pvalue, rel=1e-11)
    assert mcnemar == mcnemar_test(only_a, only_b, alternative=alternative)
    assert mcnemar.statistic == only_a - only_b


def test_swaps_of_groups_are_swaps_of_their_sums():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 60))
    groups = np.repeat(np.arange(20), 3)
    sums_a, sums_b = (np.bincount(groups, x) for x in (a, b))
    # groups of one size: the mean of the items is that of the groups, over three
    grouped = permutation_test(a, b, groups=groups)
    assert grouped.pvalue == pytest.approx(permutation_test(sums_a, sums_b).pvalue)
    assert (grouped.n_items, grouped.n_groups) == (60, 20)
    assert "n_groups=20" in repr(grouped)


def test_many_floats_are_drawn_and_their_order_is_nothing():
    rng = np.random.default_rng(1)
    a, b = rng.random(40) + 0.1, rng.random(40)
    order = rng.permutation(40)
    one, other = (
        permutation_test(a[k], b[k], random_state=0) for k in (np.arange(40), order)
    )
    assert one == other
    assert one.method == "monte_carlo"
    assert one.n_resamples == 10_000
    with pytest.raises(ValueError, match="lists at most"):
        permutation_test(a, b, method="exact")


def test_identical_systems_and_a_constant_lead():
    same = np.random.default_rng(0).random(30)
    assert permutation_test(same, same).pvalue == 1
    assert permutation_test([3, 4, 5], [2, 3, 4]).pvalue == 0.25
    assert permutation_test([3, 4, 5], [2, 3, 4], alternative="greater").pvalue == 0.125


def test_no_extreme_swap_gives_one_of_b_plus_1():
    rng = np.random.default_rng(2)
    result = permutation_test(
        rng.random(50) + 1, rng.random(50), method="monte_carlo", n_resamples=499
    )
    assert result.pvalue == 1 / 500
    assert result.to_dict()["n_resamples"] == 499
    assert result.frame().shape[0] == 1


@pytest.mark.parametrize(("only_a", "only_b"), [(9, 3), (1, 0), (3, 3)])
def test_mid_p_counts_the_table_by_half(only_a, only_b):
    n, least = only_a + only_b, min(only_a, only_b)
    half = Fraction(comb(n, least), 2**n)
    tail = Fraction(sum(comb(n, k) for k in range(least + 1)), 2**n)
    expected = 1 - half / 2 if only_a == only_b else 2 * tail - half
    found = mcnemar_test(only_a, only_b, mid_p=True)
    assert found.pvalue == pytest.approx(float(expected), rel=1e-12)
    greater = mcnemar_test(only_a, only_b, mid_p=True, alternative="greater")
    less = mcnemar_test(only_a, only_b, mid_p=True, alternative="less")
    # mid-p tails share the table
    assert greater.pvalue + less.pvalue == pytest.approx(1)


def test_without_a_discordant_pair_p_is_1():
    for mid_p in (False, True):
        assert mcnemar_test([1, 0, 1], [1, 0, 1], mid_p=mid_p).pvalue == 1
        assert mcnemar_test(0, 0, mid_p=mid_p, alternative="greater").pvalue == 1


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 0], [1], "correct_a has 2, correct_b has 1"),
        ([1, 2], [1, 0], "'correct_a'.*0 or 1.*row 1"),
        ([1, 0], [0, np.nan], "'correct_b'.*row 1"),
        (3, [1, 0], "'correct_a'"),
        (3, -1, "'correct_b'.*at least 0"),
    ],
)
def test_bad_tables_are_named(a, b, message):
    with pytest.raises(ValueError, match=message):
        mcnemar_test(a, b)


def test_switches_are_checked():
    with pytest.raises(TypeError, match="'mid_p'"):
        mcnemar_test(3, 1, mid_p=1)
    with pytest.raises(ValueError, match="'alternative'"):
        mcnemar_test(3, 1, alternative="better")
    with pytest.raises(ValueError, match="'method' parameter of permutation_test"):
        permutation_test([1, 0], [0, 0], method="saddlepoint")
    with pytest.raises(ValueError, match="permutation_test needs at least two items"):
        permutation_test([1], [0])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("counts", [(0, 7), (5, 5), (999_000, 1_000_000)])
def test_mcnemar_p_values_equal_those_of_the_binomial_test(counts, alternative):
    expected = binomtest(counts[0], sum(counts), 0.5, alternative).pvalue
    found = mcnemar_test(*counts, alternative=alternative).pvalue
    assert found == pytest.approx(expected, rel=1e-12)
