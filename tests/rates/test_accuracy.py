"""Intervals of an accuracy, against enumeration, matrices and simulation."""

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power
from scipy.stats import binom

from skcalib.metrics._dependence import mean_variance, sandwich
from skcalib.rates import accuracy_interval
from skcalib.significance import compare_systems


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (15, 15), (49, 50), (1, 1)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_mid_p_ends_have_half_of_the_level_in_each_tail(k, n, level):
    found = accuracy_interval([1] * k + [0] * (n - k), confidence_level=level)
    tail = (1 - level) / 2
    if k > 0:
        above = binom.sf(k, n, found.low) + binom.pmf(k, n, found.low) / 2
        assert above == pytest.approx(tail, rel=1e-6)
    else:
        assert found.low == 0
    if k < n:
        below = binom.cdf(k - 1, n, found.high) + binom.pmf(k, n, found.high) / 2
        assert below == pytest.approx(tail, rel=1e-6)
    else:
        assert found.high == 1


@pytest.mark.parametrize(
    ("n", "p", "expected"),
    # Exact coverage of mid-P intervals, by enumeration.
    [
        (15, 0.5, 0.965),
        (15, 0.9, 0.987),
        (50, 0.9, 0.942),
        pytest.param(200, 0.99, 0.984, marks=pytest.mark.slow),
    ],
)
def test_coverage_of_independent_answers(n, p, expected):
    ends = [accuracy_interval([1] * k + [0] * (n - k)) for k in range(n + 1)]
    covers = np.array([e.low <= p <= e.high for e in ends])
    assert binom.pmf(np.arange(n + 1), n, p) @ covers == pytest.approx(
        expected, abs=5e-4
    )


def test_the_sandwich_is_that_of_the_matrices():
    # Bell and McCaffrey (2002) for a regression on a constant, by matrices.
    size = np.array([1, 4, 2, 7])
    codes = np.repeat(np.arange(4), size)
    y = np.random.default_rng(0).random(14)
    n = y.size
    residual = y - y.mean()
    hat = np.ones((n, n)) / n
    columns = []
    for g in range(4):
        own = codes == g
        adjusted = fractional_matrix_power(
            np.eye(own.sum()) - hat[np.ix_(own, own)], -0.5
        )
        columns.append((np.eye(n) - hat)[:, own] @ adjusted @ np.ones(own.sum()) / n)
    design = np.column_stack(columns)
    products = design.T @ design
    expected = (residual @ design) @ (residual @ design)
    freedom = np.trace(products) ** 2 / np.trace(products @ products)
    found = sandwich(np.bincount(codes, residual), size.astype(float))
    assert found == pytest.approx((expected, freedom), rel=1e-10)


def test_variance_is_that_of_the_analysis_of_variance():
    # Sizes 1, 2, 3 with scores 1; 0, 1; 0, 0, 1. The mean is 1/2. The sum of squares
    # within groups is 1/2 + 2/3 = 7/6 with 3 degrees of freedom, and between groups
    # 3/2 - 7/6 = 1/3 with 2. The mean size of Donner and Klar is (6 - 14/6) / 2 =
    # 11/6, so the variance between groups is (1/6 - 7/18) / (11/6) = -4/33, which is
    # above -7/18 / 3. The other variances follow.
    within, between = 7 / 18, -4 / 33
    variance, freedom = mean_variance(
        np.array([0.5, 0, -0.5]), np.array([1.0, 2, 3]), 1.5
    )
    assert variance == pytest.approx((6 * within + 14 * between) / 36, rel=1e-12)
    assert freedom == pytest.approx(36 / 14 - 1)


def test_large_passages_that_are_all_right_do_not_narrow_the_interval():
    # The answers of a passage are identical. The largest passages are right, and the
    # squared residuals of the passages alone give an interval with half of the width.
    size = np.r_[np.full(2, 50), np.full(40, 2)]
    right = np.repeat(np.arange(42) % 4 > 0, size) * 1.0
    right[:100] = 1
    with pytest.warns(UserWarning, match="28% of the scores are in one of 42 groups"):
        found = accuracy_interval(right, groups=np.repeat(np.arange(42), size))
    mean, n, own = right.mean(), right.size, size @ size
    assert found.n_effective < n**2 / own
    assert found.low < mean - 2 * np.sqrt(mean * (1 - mean) * own) / n


@pytest.mark.filterwarnings("ignore:.* of the scores are in one of 100 groups")
@pytest.mark.parametrize(("icc", "n"), [(0.5, 100), (1, 100)])
def test_answers_about_passages_of_zipf_sizes_are_covered(icc, n):
    # Squared residuals of passages cover 88% and 83% of 2,000 samples.
    rng = np.random.default_rng(0)
    chance = np.cumsum(np.arange(1, 101) ** -1.6)
    covered = []
    for _ in range(400):
        size = 1 + np.searchsorted(chance / chance[-1], rng.random(n))
        rate = rng.random(n) < 0.9 if icc == 1 else rng.beta(0.9, 0.1, n)
        groups = np.repeat(np.arange(n), size)
        right = (rng.random(groups.size) < rate[groups]) * 1.0
        found = accuracy_interval(right, groups=groups)
        covered.append(found.low <= 0.9 <= found.high)
    assert np.mean(covered) > 0.95 - 2 * 0.011


def test_several_samples_of_a_question_count_as_one():
    once = accuracy_interval([0.5, 1, 0, 1])
    twice = accuracy_interval(
        [0, 1, 1, 1, 0, 0, 1, 1], questions=["a", "a", "b", "b", "c", "c", "d", "d"]
    )
    assert (twice.estimate, twice.n) == (once.estimate, 4)
    assert (twice.low, twice.high) == (once.low, once.high)


def test_one_group_says_nothing():
    with pytest.warns(UserWarning, match="one group"):
        found = accuracy_interval([1, 0, 1], groups=["a", "a", "a"])
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": []}, "at least one score"),
        ({"y": [0.5, 1.5]}, "1.5 in row 1"),
        ({"y": [0.5, np.nan]}, "nan in row 1"),
        ({"y": [1, 0], "groups": [1]}, "for each of the 2 rows. Got 1"),
        ({"y": [1, 0], "questions": [1, 1], "groups": [1, 2]}, "two groups"),
        ({"y": [1, 0], "confidence_level": 1}, "strictly between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        accuracy_interval(**arguments)


@pytest.mark.filterwarnings("ignore:.* of the scores are in one of")
@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("kind", ["poisson", "lognormal", "zipf"])
def test_coverage_in_groups(accuracy, kind):
    # Laws that were not used to choose the rule for few odd answers; se at most .008.
    generator = np.random.default_rng(1)
    covered = []
    for _ in range(1500):
        size = {
            "poisson": lambda: 1 + generator.poisson(5, 12),
            "lognormal": lambda: np.ceil(generator.lognormal(1.5, 1, 30)).astype(int),
            "zipf": lambda: np.maximum(1, 60 // np.arange(1, 31)),
        }[kind]()
        own = generator.beta(9 * accuracy, 9 * (1 - accuracy), size.size)
        codes = np.repeat(np.arange(size.size), size)
        right = generator.random(codes.size) < own[codes]
        found = accuracy_interval(right.astype(float), groups=codes)
        covered.append(found.low <= accuracy <= found.high)
    assert np.mean(covered) > 0.93 - 2 * 0.008


@pytest.mark.parametrize("score", [[1, 0, 1, 1, 0, 1, 1, 1], [0.5, 1, 0.25, 1, 0, 1]])
def test_groups_of_one_row_give_the_interval_without_groups(score):
    plain = accuracy_interval(score)
    single = accuracy_interval(score, groups=[f"g{i}" for i in range(len(score))])
    assert (single.low, single.high) == (plain.low, plain.high)
    assert single.method == plain.method
    assert single.n_groups == len(score)
    # each row twice, as one group: no narrower, and no more than rounding apart
    copies = accuracy_interval(
        np.repeat(score, 2), groups=np.arange(len(score)).repeat(2)
    )
    rows = accuracy_interval(np.repeat(score, 2))
    assert copies.high - copies.low > rows.high - rows.low


def test_one_large_group_among_many_is_said():
    rng = np.random.default_rng(0)
    groups = np.r_[np.arange(180), np.full(120, 180)]
    y = (rng.random(300) < 0.8).astype(float)
    with pytest.warns(UserWarning, match="40% of the scores are in one of 181 groups"):
        accuracy_interval(y, groups=groups)
    with pytest.warns(UserWarning, match="40% of the scores are in one of 181 groups"):
        compare_systems({"a": y, "b": y[::-1]}, groups=groups)
    # Few groups of equal sizes have an interval that covers.
    accuracy_interval(y, groups=np.arange(300) % 6)
