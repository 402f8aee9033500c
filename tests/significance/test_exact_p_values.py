"""Exact and saddlepoint p-values against laws listed in whole numbers."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skcalib.significance import (
    compare_systems,
    mcnemar_test,
    paired_bootstrap_test,
    permutation_test,
)

ALTERNATIVES = ("two-sided", "greater", "less")

TINY = np.finfo(float).tiny

# 12 of 100 items differ, 9 for A and 3 for B; and so on.
ACCURACIES = [(100, 9, 3), (100, 8, 5), (100, 30, 14), (400, 32, 20), (40, 20, 2)]


def accuracies(n, only_a, only_b):
    a = np.repeat([1, 0, 1], [only_a, only_b, n - only_a - only_b])
    b = np.repeat([0, 1, 1], [only_a, only_b, n - only_a - only_b])
    return a, b


def varies(differences):
    return len(set(differences)) > 1


def as_reported(p):
    """Return p as a float; no p-value is 0, even if no resample reaches the event."""
    return max(float(p), TINY)


@given(
    st.lists(st.tuples(st.integers(-3, 4), st.integers(-3, 4)), min_size=2, max_size=6),
    st.sampled_from(ALTERNATIVES),
)
def test_the_mean_of_few_items(listed, pairs, alternative):
    a, b = np.transpose(pairs)
    assume(varies(a - b))
    result = paired_bootstrap_test(a, b, alternative=alternative, method="exact")
    expected = as_reported(listed(a, b, "mean", alternative))
    assert result.pvalue == pytest.approx(expected, rel=1e-12, abs=0)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)),
        min_size=2,
        max_size=6,
    ),
    st.sampled_from(ALTERNATIVES),
)
def test_the_ratio_of_few_items(listed, rows, alternative):
    correct_a, correct_b, length = np.transpose(rows)
    assume(length.any())
    correct_a, correct_b = np.minimum(correct_a, length), np.minimum(correct_b, length)
    total = (correct_a - correct_b).sum()
    assume(((correct_a - correct_b) * length.sum() != total * length).any())
    a, b = np.stack([correct_a, length], 1), np.stack([correct_b, length], 1)
    kwargs = {"statistic": "ratio", "alternative": alternative}
    result = paired_bootstrap_test(a, b, method="exact", **kwargs)
    expected = as_reported(listed(a, b, "ratio", alternative))
    assert result.pvalue == pytest.approx(expected, rel=1e-12, abs=0)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=9),
    st.data(),
)
def test_the_mean_of_items_in_groups(listed, pairs, data):
    groups = data.draw(st.lists(st.sampled_from("abcde"), min_size=len(pairs)))
    groups = groups[: len(pairs)]
    assume(len(set(groups)) > 1)
    a, b = np.transpose(pairs)
    names = sorted(set(groups))
    total = np.array([sum((a - b)[[g == x for g in groups]]) for x in names])
    size = np.array([groups.count(x) for x in names])
    assume((total * size.sum() != total.sum() * size).any())
    result = paired_bootstrap_test(a, b, groups=groups, method="exact")
    expected = as_reported(listed(a, b, "mean", "two-sided", groups))
    assert result.pvalue == pytest.approx(expected, rel=1e-12, abs=0)
    assert (result.n_items, result.n_groups) == (len(a), len(names))


@pytest.mark.parametrize(("n", "only_a", "only_b"), ACCURACIES)
def test_accuracies_against_a_power_of_a_whole_number(n, only_a, only_b, convolved):
    a, b = accuracies(n, only_a, only_b)
    d = (a - b).tolist()
    upper = convolved(d, 2 * (only_a - only_b))
    lower = convolved([-x for x in d], 0)
    expected = {"greater": float(upper), "two-sided": float(upper + lower)}
    for alternative, p in expected.items():
        kwargs = {"alternative": alternative}
        exact = paired_bootstrap_test(a, b, method="exact", **kwargs).pvalue
        assert exact == pytest.approx(p, rel=1e-12, abs=0)
        if n >= 100:
            near = paired_bootstrap_test(a, b, method="saddlepoint", **kwargs).pvalue
            assert near == pytest.approx(p, rel=2e-3, abs=0)


@pytest.mark.parametrize(
    ("n", "only_a", "only_b", "p", "without_ties"),
    [(100, 8, 5, 0.2405, 0.1633), (1000, 32, 20, 0.0557, None)],
)
def test_ties_are_counted_in(n, only_a, only_b, p, without_ties, convolved):
    """Numbers measured apart from this package, to their four digits."""
    a, b = accuracies(n, only_a, only_b)
    result = paired_bootstrap_test(a, b, alternative="greater")
    assert result.method == "exact"
    assert result.pvalue == pytest.approx(p, abs=5e-5)
    if without_ties is not None:
        strict = convolved((a - b).tolist(), 2 * (only_a - only_b) + 1)
        assert float(strict) == pytest.approx(without_ties, abs=5e-5)


def test_small_p_values_down_to_1e_30(convolved):
    rng = np.random.default_rng(0)
    smallest = 1.0
    for n, lead in [(100, 0.1), (100, 0.2), (150, 0.3), (150, 0.45)]:
        d = rng.binomial(3, 0.4 + lead, n) - rng.binomial(3, 0.4, n)
        expected = float(convolved(d.tolist(), int(2 * d.sum())))
        kwargs = {"alternative": "greater"}
        exact = paired_bootstrap_test(d, np.zeros(n), method="exact", **kwargs)
        near = paired_bootstrap_test(d, np.zeros(n), method="saddlepoint", **kwargs)
        assert exact.pvalue == pytest.approx(expected, rel=1e-12, abs=0)
        assert near.pvalue == pytest.approx(expected, rel=2e-3, abs=0)
        smallest = min(smallest, expected)
    assert smallest < 1e-30


def law_of_two_sums(first, second):
    """Return the chance of each pair of sums, second >= 0, by adding draw after draw.

    Only positive numbers are added, so the relative error stays near 1e-14.
    """
    n, low = len(first), first.min()
    pairs, times = np.unique([first - low, second], axis=1, return_counts=True)
    shape = n * pairs.max(axis=1) + 1
    law = np.zeros(shape)
    law[0, 0] = 1
    for k in range(n):
        old, (p, q) = law, pairs.max(axis=1) * k + 1
        law = np.zeros(shape)
        for (i, j), m in zip(pairs.T, times, strict=True):
            law[i : i + p, j : j + q] += m / n * old[:p, :q]
    return np.arange(shape[0])[:, np.newaxis] + n * low, np.arange(shape[1]), law


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("lead", [0.005, 0.06, 0.12])
def test_ratios_of_100_items_against_the_law_of_both_sums(seed, lead):
    rng = np.random.default_rng(seed)
    length = rng.integers(1, 4, 100)
    correct_a = rng.binomial(length, 0.75 + lead)
    correct_b = rng.binomial(length, 0.75)
    a, b = np.stack([correct_a, length], 1), np.stack([correct_b, length], 1)
    d, drawn_length, law = law_of_two_sums(correct_a - correct_b, length)
    total = (correct_a - correct_b).sum()
    difference = d * length.sum() - total * drawn_length
    events = {
        "greater": d * length.sum() >= 2 * total * drawn_length,
        "two-sided": np.abs(difference) >= np.abs(total) * drawn_length,
    }
    for alternative, event in events.items():
        kwargs = {"statistic": "ratio", "alternative": alternative}
        exact = paired_bootstrap_test(a, b, method="exact", **kwargs)
        near = paired_bootstrap_test(a, b, method="saddlepoint", **kwargs)
        assert exact.pvalue == pytest.approx(law[event].sum(), rel=1e-12, abs=0)
        assert near.pvalue == pytest.approx(law[event].sum(), rel=2e-3, abs=0)


@pytest.mark.parametrize("unit", [0.5, 0.01, 1 / 3])
def test_numbers_on_a_lattice_of_fractions_are_as_their_multiples(unit):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    a[:20] = 3
    whole = paired_bootstrap_test(a, b, method="saddlepoint")
    parts = paired_bootstrap_test(unit * a, unit * b)
    assert parts.method == "saddlepoint"
    assert parts.pvalue == pytest.approx(whole.pvalue, rel=1e-8)
    assert parts.pvalue == pytest.approx(paired_bootstrap_test(a, b).pvalue, rel=2e-3)


def test_numbers_on_no_lattice_by_a_saddlepoint_against_a_fine_one():
    rng = np.random.default_rng(2)
    d = rng.gamma(2, 1, 150) - 1.7
    fine = np.rint(4000 * (d - d.min())).astype(int)
    length = 1 << 22
    law = np.bincount(fine, minlength=length) / 150
    law = np.fft.irfft(np.fft.rfft(law) ** 150, length)
    total, low = 4000 * d.sum(), 150 * 4000 * d.min()
    place = np.arange(length) + low
    for alternative, event in (
        ("greater", place >= 2 * total),
        ("less", place <= 2 * total),
        ("two-sided", np.abs(place - total) >= abs(total)),
    ):
        kwargs = {"alternative": alternative, "method": "saddlepoint"}
        near = paired_bootstrap_test(d, np.zeros(150), **kwargs).pvalue
        assert near == pytest.approx(law[event].sum(), rel=1.5e-3)


def test_exact_and_saddlepoint_agree_on_24_000_items():
    rng = np.random.default_rng(3)
    a = rng.binomial(1, 0.9, 24_000)
    b = np.where(rng.random(24_000) < 0.9, a, rng.binomial(1, 0.85, 24_000))
    exact = paired_bootstrap_test(a, b)
    near = paired_bootstrap_test(a, b, method="saddlepoint")
    assert (exact.method, near.method) == ("exact", "saddlepoint")
    assert near.pvalue == pytest.approx(exact.pvalue, rel=1e-4)
    assert near.standard_error == exact.standard_error


def test_a_p_value_that_underflows_is_the_smallest_normal_float():
    a = np.repeat([1, 1, 0], [8_000, 5_000, 11_000])
    b = np.repeat([0, 1, 0], [8_000, 5_000, 11_000])
    for method in ("auto", "exact", "saddlepoint", "sign_flips"):
        result = paired_bootstrap_test(a, b, method=method, random_state=0)
        assert result.pvalue == TINY, method
    for alternative in ("two-sided", "greater"):
        assert mcnemar_test(8_000, 0, alternative=alternative).pvalue == TINY
        assert mcnemar_test(8_000, 0, alternative=alternative, mid_p=True).pvalue == (
            TINY
        )
    assert permutation_test(a, b).pvalue == TINY
    systems = {"a": a, "b": b}
    for statistic in ("mean", None):
        found = compare_systems(systems, statistic=statistic)
        assert found.pvalue.tolist() == found.pvalue_adjusted.tolist() == [TINY]
    turned = compare_systems({"b": b, "a": a})
    assert turned.noninferiority_pvalue(0.9).tolist() == [TINY]


def test_the_exact_interval_leaves_out_0_just_if_the_p_value_is_small(listed_law):
    rng = np.random.default_rng(4)
    for _ in range(25):
        a, b = rng.integers(0, 3, (2, 5))
        if not varies(a - b):
            continue
        for level in (0.5, 0.8, 0.95):
            result = paired_bootstrap_test(a, b, method="exact", confidence_level=level)
            d, law = listed_law(a, b, "mean")
            reached = [
                abs(x - d)
                for x in law
                if sum(c for y, c in law.items() if abs(y - d) >= abs(x - d))
                >= 1 - level
            ]
            half = float(max(reached))
            low, high = result.confidence_interval
            assert (low, high) == pytest.approx((float(d) - half, float(d) + half))
            assert (low <= 1e-12 and high >= -1e-12) == (result.pvalue >= 1 - level)


@pytest.mark.parametrize("method", ["exact", "saddlepoint"])
def test_the_interval_of_a_ratio_holds_the_gains_that_are_not_rejected(method):
    rng = np.random.default_rng(5)
    length = rng.integers(1, 9, 60)
    a = np.stack([rng.binomial(length, 0.8), length], 1)
    b = np.stack([rng.binomial(length, 0.7), length], 1)
    result = paired_bootstrap_test(a, b, statistic="ratio", method=method)
    at_p = paired_bootstrap_test(
        a, b, statistic="ratio", method=method, confidence_level=1 - result.pvalue
    )
    # at the level of the p-value one end is 0, but for the clumps of a small lattice
    low, high = at_p.confidence_interval
    assert low == pytest.approx(0, abs=0.02 * (high - low))


def test_the_interval_stays_within_what_can_be_drawn():
    """Of three empty items in five, nothing at all is drawn in 8% of all resamples."""
    a = np.array([[0, 2], [1, 2], [0, 0], [0, 0], [0, 0]])
    b = np.array([[1, 2], [2, 2], [0, 0], [0, 0], [0, 0]])
    b[0, 0] = 0
    result = paired_bootstrap_test(a, b, statistic="ratio", method="saddlepoint")
    low, high = result.confidence_interval
    assert result.statistic == -0.25
    assert -0.5 <= low <= high <= 0
