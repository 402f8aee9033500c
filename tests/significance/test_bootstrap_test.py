"""The door of the paired bootstrap: methods, intervals, groups, bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skcalib.significance import paired_bootstrap_test

TINY = np.finfo(float).tiny

F1_A = np.array([[2, 3, 3], [0, 1, 0], [1, 1, 2], [0, 0, 0], [2, 2, 2], [1, 3, 1]])
F1_B = np.array([[1, 3, 3], [0, 0, 0], [1, 2, 2], [0, 0, 0], [2, 3, 2], [0, 1, 1]])

# Six of nine rows without anything: resamples of these alone are 0/0.
EMPTY_A = np.array([[1, 1, 1], [1, 2, 1], [0, 0, 1]] + [[0, 0, 0]] * 3)
EMPTY_B = np.array([[0, 1, 1], [1, 1, 1], [0, 1, 1]] + [[0, 0, 0]] * 3)


def f1_of(sums):
    below = sums[1] + sums[2]
    return 2 * sums[0] / below if below else 0.0


def f1_of_rows(sums):
    below = sums[..., 1] + sums[..., 2]
    return np.where(below > 0, 2 * sums[..., 0] / np.maximum(below, 1), 0)


def f1_of_matrix(sums):
    return 2 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1e-9)


def f1_of_columns(sums):
    return 2 * sums[0] / np.maximum(sums[1] + sums[2], 1e-9)


def entities(n, seed, lead=0.05):
    """Return correct, guessed and gold of two systems."""
    rng = np.random.default_rng(seed)
    gold = rng.poisson(1.5, n)
    systems = []
    for chance in (0.75 + lead, 0.75):
        correct = rng.binomial(gold, chance)
        systems.append(np.stack([correct, correct + rng.poisson(0.3, n), gold], 1))
    return systems


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("a", "b"), [(F1_A, F1_B), (EMPTY_A, EMPTY_B)])
def test_f1_of_few_items_within_its_stated_error(listed, a, b, alternative):
    expected = float(listed(a, b, "f1", alternative))
    result = paired_bootstrap_test(
        a,
        b,
        statistic="f1",
        method="monte_carlo",
        alternative=alternative,
        n_resamples=40_000,
        random_state=0,
    )
    assert result.n_resamples == 40_000
    assert result.pvalue == pytest.approx(expected, abs=4 * result.monte_carlo_error)
    assert result.monte_carlo_error < 0.01


def test_resamples_that_are_0_by_0_are_counted():
    result = paired_bootstrap_test(
        EMPTY_A,
        EMPTY_B,
        statistic="f1",
        method="monte_carlo",
        n_resamples=40_000,
        random_state=0,
    )
    # three of six rows are empty for both
    expected = 40_000 * 0.5**6
    assert result.n_undefined == pytest.approx(expected, abs=5 * np.sqrt(expected))


@pytest.mark.parametrize(
    "statistic", [pytest.param("mean", marks=pytest.mark.slow), "ratio"]
)
def test_monte_carlo_of_sums_within_its_stated_error(statistic):
    rng = np.random.default_rng(0)
    length = rng.integers(1, 5, 80)
    a, b = rng.binomial(length, 0.8), rng.binomial(length, 0.7)
    if statistic == "ratio":
        a, b = np.stack([a, length], 1), np.stack([b, length], 1)
    for alternative in ("two-sided", "greater", "less"):
        kwargs = {"statistic": statistic, "alternative": alternative}
        exact = paired_bootstrap_test(a, b, method="exact", **kwargs)
        drawn = paired_bootstrap_test(
            a, b, method="monte_carlo", n_resamples=50_000, random_state=1, **kwargs
        )
        error = 4 * drawn.monte_carlo_error
        assert drawn.pvalue == pytest.approx(exact.pvalue, abs=error)
        assert drawn.standard_error == pytest.approx(exact.standard_error, rel=0.02)
        assert drawn.confidence_interval == pytest.approx(
            exact.confidence_interval, abs=0.1 * exact.standard_error
        )


def test_no_extreme_resample_gives_one_of_b_plus_1():
    rng = np.random.default_rng(0)
    a, b = 1 + rng.random(30), rng.random(30)
    result = paired_bootstrap_test(a, b, method="monte_carlo", n_resamples=999)
    assert result.pvalue == 1 / 1000
    a, b = entities(500, 0, lead=0.25)
    result = paired_bootstrap_test(a, b, statistic="f1", random_state=0)
    assert (result.method, result.n_resamples) == ("monte_carlo", 10_000)
    assert result.pvalue == result.smallest_pvalue == 1 / 10_001


def test_no_method_gives_0_if_no_resample_doubles_the_gain():
    a, b = [1, 1, 1, 1, 1, 0, 0], [0] * 7
    kwargs = {"alternative": "greater"}
    for method in ("exact", "saddlepoint"):
        assert paired_bootstrap_test(a, b, method=method, **kwargs).pvalue == TINY
    # signs of five differences, of which the observed ones count by half
    result = paired_bootstrap_test(a, b, **kwargs)
    assert (result.pvalue, result.method) == (2**-6, "sign_flips")


@pytest.mark.filterwarnings("ignore:paired_bootstrap_test. the systems differ in so")
@pytest.mark.parametrize("statistic", ["f1", f1_of_matrix])
@pytest.mark.parametrize("n", [2, 3, 60])
def test_few_items_with_one_winner_are_no_certainty(statistic, n):
    """A has all and B nothing, so no resample reaches twice the gain."""
    gold = np.arange(1, n + 1)
    a = np.stack([gold, gold, gold], 1)
    b = np.stack([0 * gold, gold, gold], 1)
    for alternative, p in (("two-sided", 2.0 ** (1 - n)), ("greater", 2.0**-n)):
        for method, mid_p in (("sign_flips", 1), ("auto", 1 if n < 7 else 0.5)):
            result = paired_bootstrap_test(
                a,
                b,
                statistic=statistic,
                alternative=alternative,
                method=method,
                random_state=0,
            )
            assert (result.method, result.pvalue) == ("sign_flips", p * mid_p)


@pytest.mark.parametrize("function", [f1_of, f1_of_rows, f1_of_matrix, f1_of_columns])
def test_a_callable_is_f1_however_it_takes_the_sums(function):
    a, b = entities(120, 1)
    kwargs = {"n_resamples": 2000, "random_state": 0}
    expected = paired_bootstrap_test(a, b, statistic="f1", **kwargs)
    result = paired_bootstrap_test(a, b, statistic=function, **kwargs)
    assert result.metric == function.__name__
    assert result.pvalue == expected.pvalue
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)


def test_a_callable_takes_one_column_too():
    rng = np.random.default_rng(0)
    a, b = rng.random(30), rng.random(30)
    result = paired_bootstrap_test(a, b, statistic=lambda s: np.sqrt(s[0]))
    assert result.statistic == pytest.approx(np.sqrt(a.sum()) - np.sqrt(b.sum()))


@pytest.mark.parametrize("statistic", ["mean", "ratio", "f1"])
def test_groups_of_one_item_are_no_groups(statistic):
    a, b = entities(50, 5)
    columns = {"mean": 0, "ratio": [0, 2], "f1": [0, 1, 2]}[statistic]
    a, b = a[:, columns], b[:, columns]
    kwargs = {"statistic": statistic, "n_resamples": 300, "random_state": 0}
    plain = paired_bootstrap_test(a, b, **kwargs).to_dict()
    grouped = paired_bootstrap_test(a, b, groups=np.arange(50), **kwargs).to_dict()
    assert (plain.pop("n_groups"), grouped.pop("n_groups")) == (None, 50)
    assert grouped == plain


def test_groups_are_resampled_whole():
    """Ten copies of each item say no more than one; the items alone think they do."""
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 3, (2, 40))
    a[:12] = 2
    groups = np.repeat([f"document {k}" for k in range(40)], 10)
    one = paired_bootstrap_test(a, b)
    copies = np.repeat(a, 10), np.repeat(b, 10)
    grouped = paired_bootstrap_test(*copies, groups=groups)
    assert grouped.pvalue == pytest.approx(one.pvalue, rel=1e-10)
    assert grouped.confidence_interval == pytest.approx(one.confidence_interval)
    naive = paired_bootstrap_test(*copies)
    assert naive.standard_error == pytest.approx(one.standard_error / np.sqrt(10))


@pytest.mark.parametrize("statistic", ["mean", "ratio", "f1", f1_of])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_identical_systems_have_no_gain_and_no_warning(statistic, alternative):
    a, _ = entities(20, 7)
    a = a[:, {"mean": 0, "ratio": [0, 2]}.get(statistic, [0, 1, 2])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = paired_bootstrap_test(
            a, a, statistic=statistic, alternative=alternative
        )
    assert (result.statistic, result.pvalue, result.standard_error) == (0, 1, 0)
    assert result.confidence_interval == (0, 0)


@pytest.mark.parametrize("method", ["auto", "exact", "saddlepoint", "monte_carlo"])
def test_a_constant_lead_is_said_to_have_no_variance(method):
    a, b = np.array([3, 5, 7]), np.array([2, 4, 6])
    for alternative, p in (("two-sided", 1 / 4), ("greater", 1 / 8), ("less", 1)):
        with pytest.warns(UserWarning, match="zero variance of the gain"):
            result = paired_bootstrap_test(a, b, method=method, alternative=alternative)
        assert (result.statistic, result.pvalue, result.method) == (1, p, "sign_flips")
        # of eight swaps even the two extreme ones are too common to reject anything
        assert result.confidence_interval == (-np.inf, np.inf)


def test_a_constant_lead_of_rounded_numbers_has_no_variance_either():
    b = np.random.default_rng(0).random(30)
    with pytest.warns(UserWarning, match="zero variance"):
        result = paired_bootstrap_test(b + 0.1, b)
    assert result.pvalue == 2**-29
    assert result.confidence_interval == pytest.approx((0.1, 0.1))


def test_rounded_scores_keep_their_ties():
    """Scores in percent, as floats, against the same accuracies as whole numbers."""
    a = np.repeat([1, 0, 1], [8, 5, 87])
    b = np.repeat([0, 1, 1], [8, 5, 87])
    kwargs = {"method": "monte_carlo", "random_state": 0, "alternative": "greater"}
    whole = paired_bootstrap_test(a, b, **kwargs)
    for unit in (0.01, 1 / 3, 1e-7):
        rounded = paired_bootstrap_test(unit * a, unit * b, **kwargs)
        assert rounded.pvalue == whole.pvalue
    assert whole.pvalue == pytest.approx(0.2405, abs=4 * whole.monte_carlo_error)


def test_columns_of_one_value_are_values():
    a, b = np.random.default_rng(0).integers(0, 3, (2, 25))
    flat = paired_bootstrap_test(a, b)
    assert paired_bootstrap_test(a[:, np.newaxis], b) == flat
    assert paired_bootstrap_test(a[:, np.newaxis], b[:, np.newaxis]) == flat
    assert paired_bootstrap_test(pd.Series(a), list(b)) == flat
    assert paired_bootstrap_test(a.astype(np.float32), b.astype(bool) * b) == flat


def test_inputs_are_not_modified():
    a, b = entities(30, 8)
    before = a.copy(), b.copy()
    paired_bootstrap_test(a, b, statistic="f1", groups=np.arange(30) // 2)
    assert (a == before[0]).all()
    assert (b == before[1]).all()


def test_the_same_seed_gives_the_same_answer():
    a, b = entities(200, 9, lead=0.02)
    one, two, other = (
        paired_bootstrap_test(a, b, statistic="f1", random_state=seed)
        for seed in (0, np.random.default_rng(0), 1)
    )
    assert one == two
    assert one.pvalue != other.pvalue


ONES = np.ones(5)


@pytest.mark.parametrize(
    ("a", "b", "kwargs", "message"),
    [
        ([], [], {}, "at least two items.*Got 0"),
        ([1, 0, 1], [0, 1, 1], {"groups": [1, 1, 1]}, "at least two groups.*Got 1"),
        ([1, 0, np.nan], [0, 1, 1], {}, "'stats_a'.*nan.*in row 2"),
        ([1, 0, 1], [0, np.inf, 1], {}, "'stats_b'.*inf.*in row 1"),
        (ONES, ONES, {"groups": [1, 2]}, "'groups'.*5 rows. Got 2"),
        (ONES, ONES, {"groups": 5}, r"'groups'.*one-dimensional.*Got shape \(\)"),
        (ONES, ONES, {"groups": [[1], [2, 3], 4, 5, 6]}, "'groups'.*one-dimensional"),
        (ONES, ONES, {"groups": [1, 2, None, 1, 2]}, "'groups'.*None in row 2"),
        (ONES, ONES, {"statistic": "ratio"}, r"shape \(n, 2\).*Got shape \(5,\)"),
        (np.ones((5, 2)), np.ones((5, 2)), {}, r"shape \(n,\).*Got shape \(5, 2\)"),
        (np.ones((5, 2)), np.ones((5, 2)), {"statistic": "f1"}, "correct, guessed"),
        (["a", "b"], ["a", "c"], {}, "'stats_a'.*numbers"),
        ([10**400, 1], [0, 1], {}, "'stats_a'.*must contain numbers"),
        ([[1], [2, 3]], [[1], [2]], {}, "'stats_a'.*numbers, in rows of equal length"),
        ([1e200, 2e200], [0, 1], {}, "'stats_a'.*2e.200.*of column 0"),
        ([0, 1], [0, 1e-320], {}, "'stats_b'.*e-32.*of column 0"),
        (ONES, ONES, {"alternative": "better"}, "'alternative'.*'better'"),
        (ONES, ONES, {"method": "tilted"}, "'method'.*'monte_carlo'.*'tilted'"),
        (ONES, ONES, {"confidence_level": 1.0}, "'confidence_level'"),
        (F1_A, F1_B, {"statistic": "f1", "method": "exact"}, "'mean', or 'ratio'"),
        (F1_A, F1_B, {"statistic": "f1", "method": "saddlepoint"}, "'monte_carlo'"),
        (F1_A[:, ::-1], F1_B, {"statistic": "f1"}, "correct <= guessed.*row 0"),
        (
            [[1, 2], [1, -1]],
            [[1, 2], [1, 1]],
            {"statistic": "ratio"},
            "'stats_a'.*at least 0.*row 1",
        ),
        (np.zeros((2, 2)), np.zeros((2, 2)), {"statistic": "ratio"}, "above 0"),
        (F1_A, F1_B[:, :2], {"statistic": f1_of_rows}, "same columns.*Got 3 and 2"),
        (F1_A, F1_B, {"statistic": lambda s: s}, "one number"),
        (F1_A, F1_B, {"statistic": lambda s: s[7]}, "3 summed columns.*index 7"),
        (F1_A, F1_B, {"statistic": None}, "'mean', 'ratio', 'f1'.*None"),
        (
            EMPTY_A,
            EMPTY_B,
            {"statistic": lambda s: s[0] / s[1], "method": "monte_carlo"},
            "finite.*0 for 0/0",
        ),
    ],
)
def test_bad_input_is_named(a, b, kwargs, message):
    with pytest.raises(ValueError, match=message):
        paired_bootstrap_test(a, b, **kwargs)


@pytest.mark.parametrize("value", [1.5, True, "10"])
def test_numbers_of_resamples_are_integers(value):
    with pytest.raises(TypeError, match="'n_resamples' parameter of paired_boot"):
        paired_bootstrap_test([1, 0, 1], [0, 0, 1], n_resamples=value)


def test_a_ratio_with_two_denominators_is_drawn():
    rng = np.random.default_rng(11)
    a = np.stack([rng.binomial(6, 0.8, 60), np.full(60, 6)], 1)
    b = np.stack([rng.binomial(5, 0.75, 60), np.full(60, 5)], 1)
    with pytest.raises(ValueError, match="same denominators"):
        paired_bootstrap_test(a, b, statistic="ratio", method="exact")
    result = paired_bootstrap_test(a, b, statistic="ratio", random_state=0)
    assert result.method == "monte_carlo"
    # constant denominators: the difference of two means, after all
    expected = paired_bootstrap_test(5 * a[:, 0], 6 * b[:, 0]).pvalue
    assert result.pvalue == pytest.approx(expected, abs=4 * result.monte_carlo_error)


def test_a_callable_may_have_the_name_of_a_statistic():
    def ratio(sums):
        return sums[..., 0] / 10

    a, b = np.random.default_rng(0).integers(0, 3, (2, 20))
    result = paired_bootstrap_test(a, b, statistic=ratio, random_state=0)
    assert result.statistic == pytest.approx((a.sum() - b.sum()) / 10)
    assert result.metric == "ratio"
