"""Sign flips: p-value and interval over all signs, and what counts as an item."""

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from skcalib.significance import (
    compare_systems,
    paired_bootstrap_test,
    permutation_test,
)
from skcalib.significance._sign_flips import (
    inverted_tail,
    signed_sum_saddlepoint,
    signed_sum_tails,
)

ALTERNATIVES = ("two-sided", "greater", "less")

pytestmark = pytest.mark.filterwarnings(
    "ignore:paired_bootstrap_test. the systems differ in so few",
    "ignore:paired_bootstrap_test. zero variance of the gain",
)


def all_signs(n):
    return list(product([1, -1], repeat=n))


def p_at(d, length, shift):
    """Return the share of signs with sums as far from 0, in whole fractions."""
    rest = [x - shift * y for x, y in zip(d, length, strict=True)]
    seen = abs(sum(rest))
    signs = all_signs(len(d))
    extreme = [
        abs(sum(s * x for s, x in zip(each, rest, strict=True))) >= seen
        for each in signs
    ]
    return Fraction(sum(extreme), len(signs))


def mid_p_at(d, shift):
    """Return the share of signs with sums as far from 0, with half of the ties."""
    shift = Fraction(shift)
    rest = shift.denominator * np.array(d) - shift.numerator
    sums = abs(np.array(all_signs(len(d))) @ rest)
    seen = abs(rest.sum())
    return ((sums > seen).mean() + (sums >= seen).mean()) / 2


def interval_of(d, length, level):
    """Return the gains that are not rejected: where the p-value may change, tried."""
    gains = set()
    for each in all_signs(len(d)):
        x = sum(v for s, v in zip(each, d, strict=True) if s < 0)
        y = sum(v for s, v in zip(each, length, strict=True) if s < 0)
        if y:
            gains.add(Fraction(x) / y)
    gains = sorted(gains)
    kept = [t for t in gains if p_at(d, length, t) >= 1 - level]
    beyond = (gains[0] - 1, gains[-1] + 1)
    low, high = min(kept), max(kept)
    if p_at(d, length, beyond[0]) >= 1 - level:
        low = -np.inf
    if p_at(d, length, beyond[1]) >= 1 - level:
        high = np.inf
    return float(low), float(high)


rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 5)),
    min_size=3,
    max_size=7,
)


@settings(max_examples=12, deadline=None)
@given(rows, st.sampled_from([0.5, 0.8, 0.95]))
def test_ratios_over_all_signs(rows, level):
    right_a, right_b, length = np.transpose(rows)
    assume((right_a != right_b).any())
    a, b = np.stack([right_a, length], 1), np.stack([right_b, length], 1)
    result = paired_bootstrap_test(
        a, b, statistic="ratio", method="sign_flips", confidence_level=level
    )
    d = [Fraction(int(x)) for x in right_a - right_b]
    size = [int(x) for x in length]
    expected = p_at(d, size, 0)
    assert result.pvalue == pytest.approx(float(expected), rel=1e-12)
    if len(set(zip(d, size, strict=True))) == 1:
        return  # one gain in all rows
    assert result.confidence_interval == pytest.approx(
        interval_of(d, size, Fraction(level)), rel=1e-9, abs=1e-12
    )
    low, high = result.confidence_interval
    assert (low <= 0 <= high) == (result.pvalue >= 1 - level)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", ["whole", "fractions"])
def test_the_mean_over_all_signs(kind, alternative):
    d = np.array([5, -2, 7, 1, 0, 3, -1, 4, 2, 2])
    sums = np.array([np.dot(signs, d) for signs in all_signs(10)])
    extreme = {
        "two-sided": abs(sums) >= d.sum(),
        "greater": sums >= d.sum(),
        "less": sums <= d.sum(),
    }[alternative]
    unit = 1 if kind == "whole" else 0.1
    result = paired_bootstrap_test(
        unit * d, 0 * d, alternative=alternative, method="sign_flips"
    )
    assert result.pvalue == pytest.approx(extreme.mean(), rel=1e-12)
    # nine differ
    assert result.smallest_pvalue == (2**-8 if alternative == "two-sided" else 2**-9)
    assert result.n_resamples is None


@pytest.mark.parametrize("seed", range(4))
def test_f1_is_the_swap_test_of_its_score(seed):
    """c_A - c_B - F (m_A - m_B) with F of both systems, in whole fractions."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 4, 8)
    systems = []
    for chance in (0.8, 0.5):
        right = rng.binomial(gold, chance)
        systems.append(np.stack([right, right + rng.integers(0, 3, 8), gold], 1))
    a, b = systems
    right = 2 * (a[:, 0] - b[:, 0])
    below = a[:, 1] - b[:, 1]
    both = Fraction(
        int(2 * (a[:, 0] + b[:, 0]).sum()), int((a[:, 1:] + b[:, 1:]).sum())
    )
    d = [Fraction(int(x)) - both * int(y) for x, y in zip(right, below, strict=True)]
    total_a, total_b = int(a[:, 1:].sum()), int(b[:, 1:].sum())
    share = Fraction(total_b, total_a + total_b)
    length = [
        share * int(x) + (1 - share) * int(y)
        for x, y in zip(a[:, 1:].sum(1), b[:, 1:].sum(1), strict=True)
    ]
    result = paired_bootstrap_test(a, b, statistic="f1", method="sign_flips")
    # the sum of the differences is the gain times the sum of the lengths
    assert result.statistic == pytest.approx(float(sum(d) / sum(length)))
    assert result.pvalue == pytest.approx(float(p_at(d, length, 0)), rel=1e-12)
    low, high = result.confidence_interval
    eps = Fraction(1, 10**6)
    for end, out in ((low, -eps), (high, eps)):
        if np.isfinite(end):
            end = Fraction(end)
            assert p_at(d, length, end - out) >= Fraction(1, 20)
            assert p_at(d, length, end + out) < Fraction(1, 20)


@pytest.mark.parametrize(
    "d",
    [
        [2, 1, 1, 0, -1, 1, 2, 1],
        [3, 1, 1, -2, 0, 0, 1, 1, 2],
        [1, 1, 1, 0, 1, 0, 1, -1, 1, 0],
        [1, -1, 2, -2, 3, -3, 1, -1],
    ],
)
def test_by_default_ties_count_by_half(d):
    """The same p-value as that of compare_systems, and the interval that belongs to it.

    Between the gains of the flipped rows, the p-value is constant.
    """
    n, d = len(d), np.array(d)
    result = paired_bootstrap_test(d, 0 * d, confidence_level=0.8)
    assert result.pvalue == pytest.approx(mid_p_at(d, 0), rel=1e-12)
    score = 0.5 + d / 6
    other = compare_systems({"B": np.full(n, 0.5), "A": score})
    if len(set(abs(d))) > 2:
        assert other.pvalue[0] == pytest.approx(result.pvalue, rel=1e-12)
    assert result.smallest_pvalue == 2.0 ** -np.count_nonzero(d)
    sets = [np.flatnonzero(np.array(each) < 0) for each in all_signs(n)]
    gains = sorted({Fraction(int(d[s].sum()), s.size) for s in sets if s.size})
    inner = [
        (x, y)
        for x, y in zip(gains[:-1], gains[1:], strict=True)
        if mid_p_at(d, (x + y) / 2) >= 0.2
    ]
    low, high = result.confidence_interval
    assert low == pytest.approx(float(inner[0][0]), abs=1e-12)
    assert high == pytest.approx(float(inner[-1][1]))
    assert (low <= 0 <= high) == (result.pvalue >= 0.2)


def test_ties_count_fully_below_seven_differences_and_without_ties():
    six, all_equal = [2, 1, 1, -1, 1, 2, 0, 0], [1, 1, 1, 1, 1, -1, 1, 0]
    for d in (six, all_equal):  # in `six`, two sizes differ
        p = [
            paired_bootstrap_test(d, np.zeros(8), method=method).pvalue
            for method in ("auto", "sign_flips")
        ]
        assert p[0] == p[1] == permutation_test(d, np.zeros(8)).pvalue


def skewed(n, seed=0):
    """Gains that are negative except for rare large ones."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(size=n)) - np.exp(0.5) - 0.4


def hall(d):
    """Return the two-sided p-value of Hall's transformation of Student's t (1992)."""
    n, t = len(d), stats.ttest_1samp(d, 0).statistic
    g = stats.skew(d) / np.sqrt(n)
    moved = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    return 2 * stats.t.sf(abs(moved), n - 1)


@pytest.mark.parametrize(("n", "seed"), [(30, 0), (80, 2)])
def test_skewed_differences_are_corrected(n, seed):
    d = skewed(n, seed)
    result = paired_bootstrap_test(d, 0 * d, random_state=0)
    plain = paired_bootstrap_test(d, 0 * d, method="sign_flips", random_state=0)
    assert stats.skew(d) / np.sqrt(n) > 0.2
    assert (result.method, plain.method) == ("hall", "sign_flips")
    assert result.pvalue == pytest.approx(hall(d), rel=1e-9)
    assert result.pvalue > 1.5 * plain.pvalue
    assert result.confidence_interval.low == plain.confidence_interval.low
    end = optimize.brentq(lambda t: hall(d - t) - 0.05, d.mean() + 0.05, d.mean() + 2)
    assert result.confidence_interval.high == pytest.approx(end, rel=1e-6)
    mirrored = paired_bootstrap_test(-d, 0 * d, random_state=0)
    assert mirrored.pvalue == result.pvalue
    assert mirrored.confidence_interval.low == pytest.approx(-end, rel=1e-6)
    # in the direction of the long tail, the p-value is not too small
    less = paired_bootstrap_test(d, 0 * d, alternative="less", random_state=0)
    assert less.pvalue == pytest.approx(hall(d) / 2, rel=1e-9)
    assert paired_bootstrap_test(
        d, 0 * d, alternative="greater", method="auto", random_state=0
    ).pvalue == pytest.approx(1 - plain.pvalue / 2, abs=0.02)


@pytest.mark.parametrize(("n_large", "method"), [(1, "monte_carlo"), (2, "hall")])
def test_one_large_loss_is_no_evidence_of_skewness(n_large, method):
    """A finds one name more in some sentences, and loses all names of long ones."""
    gold = np.repeat([8, 4], [n_large, 90 - n_large])
    right = np.zeros((2, 90)) + gold // 2
    right[0, n_large:50] += 1
    right[1, 50:62] += 1
    right[:, :n_large] = [[0], [7]]
    a, b = (np.stack([c, gold, gold], 1) for c in right)
    result = paired_bootstrap_test(a, b, statistic="f1", random_state=0)
    # both systems guess as many names as there are, so the gain is one ratio of sums
    d = right[0] - right[1]
    drawn = np.random.default_rng(1).multinomial(90, np.full(90, 1 / 90), 100_000)
    gains, gain = (drawn @ d) / (drawn @ gold), d.sum() / gold.sum()
    p = (abs(gains - gain) >= gain - 1e-12).mean()
    assert result.method == method
    if method == "hall":
        assert result.pvalue == pytest.approx(hall(d - gain * gold + d.mean()))
        assert result.pvalue > 1.5 * p
    else:
        assert result.pvalue == pytest.approx(p, abs=4 * result.monte_carlo_error)


def test_gains_in_the_direction_of_the_long_tail_are_not_corrected():
    d = skewed(30) + 1.2
    result = paired_bootstrap_test(d, 0 * d, random_state=0)
    plain = paired_bootstrap_test(d, 0 * d, method="sign_flips", random_state=0)
    assert result.pvalue == plain.pvalue


def test_right_and_wrong_answers_and_unequal_groups_are_not_corrected():
    """Wins and losses with equal means are exchangeable."""
    d = np.repeat([1, -1, 0], [9, 1, 9])
    assert stats.skew(d) < -0.2
    assert paired_bootstrap_test(d, 0 * d).pvalue == pytest.approx(
        stats.binomtest(1, 10).pvalue - stats.binom.pmf(1, 10, 0.5)
    )
    sizes = 2 ** (np.arange(30) % 8)
    d, groups = np.repeat(skewed(30), sizes), np.repeat(np.arange(30), sizes)
    p = [
        paired_bootstrap_test(d, 0 * d, groups=groups, method=method, random_state=0)
        for method in ("auto", "sign_flips")
    ]
    assert p[0].pvalue == p[1].pvalue


def unequal_groups(n_groups, seed, lead=0.0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), np.minimum(rng.zipf(1.6, n_groups), 200))
    a = lead + rng.normal(size=n_groups)[groups] + rng.normal(size=groups.size)
    return a, np.zeros(groups.size), groups


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("lead", [0.0, 0.3])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_p_value_and_interval_of_drawn_signs_agree(seed, lead, level):
    a, b, groups = unequal_groups(60, seed, lead)
    result = paired_bootstrap_test(
        a, b, groups=groups, confidence_level=level, random_state=seed
    )
    assert result.method == "sign_flips"
    assert result.n_resamples == 10_000
    low, high = result.confidence_interval
    assert low <= result.statistic <= high
    assert (low <= 0 <= high) == (result.pvalue >= 1 - level)


def test_drawn_signs_near_all_of_them():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.4, 1, 18), np.zeros(18)
    listed = permutation_test(a, b, method="exact")
    drawn = paired_bootstrap_test(a, b, n_resamples=40_000, random_state=0)
    assert drawn.n_resamples == 40_000
    assert drawn.pvalue == pytest.approx(listed.pvalue, abs=4 * drawn.monte_carlo_error)


# What counts


EMPTY_CASES = {
    "three right": ("ratio", [[1, 1]] * 3, [[0, 1]] * 3, 997),
    "parts": ("ratio", [[3, 4]] * 3, [[1, 4]] * 3, 497),
    "entities": (
        "f1",
        [[1, 1, 1], [2, 2, 2], [1, 2, 1]],
        [[0, 1, 1], [1, 2, 2], [0, 0, 1]],
        197,
    ),
}


@pytest.mark.parametrize("case", EMPTY_CASES)
def test_items_without_anything_are_no_evidence(case):
    statistic, a, b, n_empty = EMPTY_CASES[case]
    few = paired_bootstrap_test(a, b, statistic=statistic)
    nothing = np.zeros((n_empty, len(a[0])))
    padded = np.concatenate([a, nothing]), np.concatenate([b, nothing])
    result = paired_bootstrap_test(*padded, statistic=statistic)
    assert result.pvalue == few.pvalue == 0.25
    assert result.smallest_pvalue == few.smallest_pvalue == 0.25
    assert result.confidence_interval == few.confidence_interval == (-np.inf, np.inf)
    assert result.statistic == few.statistic
    assert result.n_informative == result.n_effective_groups == 3
    assert (result.n_items, few.n_items) == (n_empty + 3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = compare_systems(
            {"a": padded[0], "b": padded[1]}, statistic=statistic, random_state=0
        )
    assert pairs.pvalue.tolist() == [0.25]


@pytest.mark.parametrize("statistic", ["ratio", "f1"])
@pytest.mark.parametrize("n", [15, 40, 300])
def test_empty_items_change_no_answer(statistic, n):
    rng = np.random.default_rng(n)
    gold = rng.integers(1, 4, n)
    right = [rng.binomial(gold, p) for p in (0.8, 0.7)]
    extra = [rng.integers(0, 2, n) for _ in right]
    a, b = (
        np.stack([x, gold] if statistic == "ratio" else [x, x + y, gold], 1)
        for x, y in zip(right, extra, strict=True)
    )
    nothing = np.zeros((9 * n, a.shape[1]))
    kwargs = {"statistic": statistic, "random_state": 0}
    one = paired_bootstrap_test(a, b, **kwargs).to_dict()
    two = paired_bootstrap_test(
        np.concatenate([nothing, a]), np.concatenate([nothing, b]), **kwargs
    ).to_dict()
    assert (one.pop("n_items"), two.pop("n_items")) == (n, 10 * n)
    assert one == two


def test_effective_groups_count_what_is_not_empty():
    a = np.array([[1, 1], [1, 2], [0, 0], [2, 3], [1, 1], [0, 0], [0, 0]])
    b = np.array([[0, 1], [1, 2], [0, 0], [1, 3], [1, 1], [0, 0], [0, 0]])
    groups = [0, 0, 0, 1, 2, 2, 3]
    result = paired_bootstrap_test(a, b, statistic="ratio", groups=groups)
    # groups of 2, 1 and 1 rows; the fourth has none
    assert result.n_effective_groups == pytest.approx(4**2 / 6)
    assert (result.n_groups, result.n_informative) == (4, 3)


# Which method


def test_the_method_follows_the_number_of_items():
    rng = np.random.default_rng(0)
    for n, method in ((10, "sign_flips"), (40, "sign_flips"), (120, "saddlepoint")):
        d = rng.normal(size=n)
        assert paired_bootstrap_test(d, np.zeros(n)).method == method
    wins = np.repeat([1, -1, 0], [9, 3, 88])
    assert paired_bootstrap_test(wins, 0 * wins).method == "exact"
    a, b, groups = unequal_groups(100, 0)
    assert paired_bootstrap_test(a, b, groups=groups).method == "sign_flips"
    equal = np.arange(600) // 5
    d = rng.normal(size=600)
    assert paired_bootstrap_test(d, 0 * d, groups=equal).method == "saddlepoint"
    pairs = compare_systems({"a": d[:30], "b": 0 * d[:30]}, random_state=0)
    assert pairs.method == ["sign_flips"]


def test_few_wins_in_many_items_claim_no_more_than_their_signs():
    """Five wins, no loss: at least 2^-5, as McNemar's test with mid-p.

    In fewer than seven groups, ties count fully.
    """
    a = np.zeros(1000)
    a[:10:2] = 1
    result = paired_bootstrap_test(a, 0 * a)
    assert result.smallest_pvalue == 2**-5 < result.pvalue < 0.05
    assert compare_systems({"B": 0 * a, "A": a}).pvalue[0] == pytest.approx(2**-5)
    result = paired_bootstrap_test(a, 0 * a, groups=np.arange(1000) // 2)
    assert (result.pvalue, result.method) == (pytest.approx(2**-4), "sign_flips")
    low, high = result.confidence_interval
    assert low <= 0 < result.statistic < high


@pytest.mark.filterwarnings("default:paired_bootstrap_test. the systems differ in so")
def test_too_few_items_are_said():
    message = "so few items that no p-value can be below 0.125.*six in which they"
    with pytest.warns(UserWarning, match=message):
        result = paired_bootstrap_test([3.0, 1.0, 2.5, 4.0], [1.0, 0.5, 0.0, 0.25])
    assert result.pvalue == result.smallest_pvalue == 0.125
    with pytest.warns(UserWarning, match="so few groups.*0.125.*five in which"):
        paired_bootstrap_test(
            [3.0, 1.0, 2.5, 4.0],
            [1.0, 0.5, 0.0, 0.25],
            groups=list("aabc"),
            alternative="greater",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paired_bootstrap_test([3.0, 1.0, 2.5, 4.0, 1, 2], [1.0, 0.5, 0, 0.25, 0, 0])


def test_a_metric_of_any_kind_has_its_signs():
    rng = np.random.default_rng(0)
    gold = rng.integers(1, 5, 14)
    a, b = (
        np.stack([x, x + rng.integers(0, 2, 14), gold], 1)
        for x in (rng.binomial(gold, 0.8), rng.binomial(gold, 0.6))
    )

    def f1(sums):
        return 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2])

    named = paired_bootstrap_test(a, b, statistic="f1")
    called = paired_bootstrap_test(a, b, statistic=f1)
    assert called.method == "sign_flips"
    assert called.pvalue == pytest.approx(named.pvalue, abs=0.02)
    assert called.confidence_interval == pytest.approx(
        named.confidence_interval, abs=0.05
    )


# Small p-values


@pytest.mark.parametrize("seed", range(3))
def test_the_saddlepoint_of_signs_against_the_lattice(seed):
    rng = np.random.default_rng(seed)
    values, times = np.unique(rng.integers(50, 1000, 60), return_counts=True)
    for share in (0.3, 0.5, 0.7):
        threshold = int(share * (values @ times))
        threshold -= (values @ times - threshold) % 2
        exact = signed_sum_tails(values, times, threshold, 1 << 20)
        near = signed_sum_saddlepoint(values.astype(float), times, threshold, 2.0)
        assert near[0] == pytest.approx(exact[0], rel=0.002)
        assert near[1] == pytest.approx(exact[1], rel=0.02)
        inverted = inverted_tail(values, times, threshold - 1, 1.0)
        assert inverted == pytest.approx(exact[0], abs=1e-9)


def test_small_p_values_of_many_groups_survive():
    a, b, groups = unequal_groups(100, 1, lead=3.0)
    result = paired_bootstrap_test(a, b, groups=groups, random_state=0)
    assert result.method == "sign_flips"
    assert 0 < result.pvalue < 1e-6
    assert result.monte_carlo_error == 0
    low, _ = result.confidence_interval
    assert low > 0


def test_one_hypothesis_has_one_p_value():
    """Half points have the lattice of whole points, in every function."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 3, 300), rng.integers(0, 3, 300)
    b[:20] = 2
    whole = permutation_test(a, b)
    assert whole.method == "exact"
    for unit in (1, 1 / 2, 1 / 3, 0.01):
        swaps = permutation_test(a * unit, b * unit)
        assert swaps.method == "exact"
        flips = paired_bootstrap_test(a * unit, b * unit, method="sign_flips")
        pairs = compare_systems({"b": b * unit, "a": a * unit}, method="sign_flips")
        for pvalue in (swaps.pvalue, flips.pvalue, pairs.pvalue[0]):
            assert pvalue == pytest.approx(whole.pvalue, rel=1e-11)
    # mid-p: ties, in both tails, count by half
    size = np.abs(b - a)
    values, times = np.unique(size[size > 0], return_counts=True)
    total = abs(int((b - a).sum()))
    above, equal = signed_sum_tails(values, times, total, 1 << 20)
    assert whole.pvalue == pytest.approx(2 * above, rel=1e-11)
    scores = compare_systems({"a": a / 2, "b": b / 2})
    assert scores.pvalue[0] == pytest.approx(2 * above - equal, rel=1e-11)
