"""All pairs: each as by enumeration, adjusted as by definition, with the same draws."""

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

from skcalib.coref import coref_f1
from skcalib.significance import compare_systems, paired_bootstrap_test

ALTERNATIVES = ("two-sided", "greater", "less")

# Five sentences of three systems: right tokens, then their number.
LENGTH = [4, 7, 3, 9, 5]
RIGHT = {"a": [4, 6, 2, 7, 5], "b": [3, 6, 3, 5, 4], "c": [2, 7, 1, 8, 2]}
RATIO = {name: np.column_stack([right, LENGTH]) for name, right in RIGHT.items()}
# right, guessed and gold entities
F1 = {
    "a": [[2, 3, 2], [0, 1, 0], [1, 1, 1], [3, 4, 4], [0, 0, 2]],
    "b": [[1, 3, 2], [0, 0, 0], [1, 2, 1], [4, 4, 4], [1, 2, 2]],
    "c": [[2, 2, 2], [0, 2, 0], [0, 0, 1], [1, 5, 4], [2, 2, 2]],
}


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_ratios_by_enumeration(listed, listed_law, alternative):
    result = compare_systems(
        RATIO, statistic="ratio", alternative=alternative, method="exact"
    )
    assert result.pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    for k, (a, b) in enumerate(result.pairs):
        gain, _ = listed_law(RATIO[b], RATIO[a], "ratio")
        p = listed(RATIO[b], RATIO[a], "ratio", alternative)
        assert result.gain[k] == pytest.approx(float(gain), abs=1e-15)
        assert result.pvalue[k] == pytest.approx(float(p), rel=1e-12)
    assert result.method == ["exact"] * 3
    assert result.n_resamples is None
    assert not result.monte_carlo_error.any()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    ("stats", "statistic", "name"),
    [
        (RATIO, "ratio", "ratio"),
        (F1, "f1", "f1"),
        (F1, lambda s: 2 * s[0] / (s[1] + s[2]) if s[1] + s[2] else 0.0, "f1"),
    ],
    ids=["ratio", "f1", "callable"],
)
def test_draws_near_the_enumeration(
    listed, listed_law, stats, statistic, name, alternative
):
    n_resamples = 20_000
    result = compare_systems(
        stats,
        statistic=statistic,
        alternative=alternative,
        method="monte_carlo",
        n_resamples=n_resamples,
        random_state=0,
    )
    for k, (a, b) in enumerate(result.pairs):
        gain, _ = listed_law(stats[b], stats[a], name)
        p = float(listed(stats[b], stats[a], name, alternative))
        assert result.gain[k] == pytest.approx(float(gain), abs=1e-14)
        # of 3 x 9 comparisons one of 4.5 standard errors comes once in 5000 runs
        error = np.sqrt(p * (1 - p) / n_resamples)
        assert abs(result.pvalue[k] - p) <= 4.5 * error + 2 / n_resamples
        assert result.monte_carlo_error[k] == pytest.approx(error, rel=0.1, abs=1e-4)


def test_systems_have_the_same_draws_whoever_else_is_there():
    both = compare_systems(
        {name: F1[name] for name in "ab"},
        statistic="f1",
        method="monte_carlo",
        random_state=3,
    )
    all_three = compare_systems(
        F1, statistic="f1", method="monte_carlo", random_state=3
    )
    assert both.pvalue[0] == all_three.pvalue[0]


def test_the_order_of_items_plays_no_part():
    order = [3, 0, 4, 1, 2]
    shuffled = {name: rows[order] for name, rows in RATIO.items()}
    one, other = (
        compare_systems(x, statistic="ratio", random_state=0) for x in (RATIO, shuffled)
    )
    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-12)
    shuffled = {name: np.array(rows)[order] for name, rows in F1.items()}
    one, other = (
        compare_systems(x, statistic="f1", random_state=0) for x in (F1, shuffled)
    )
    assert one.pvalue.tolist() == other.pvalue.tolist()


def test_a_gain_is_the_later_system_minus_the_earlier_in_every_comparison():
    right = {"a": np.r_[[1] * 50, [0] * 50], "b": np.r_[[1] * 90, [0] * 10]}
    for statistic in (None, "mean"):
        found = compare_systems(right, statistic=statistic)
        assert found.gain == pytest.approx([0.4])
        assert found.frame()["gain"].tolist() == found.gain.tolist()
        assert found.matrix("gain") == pytest.approx(np.array([[0, 0.4], [-0.4, 0]]))
    # the test of one pair is for its first system, as published
    assert paired_bootstrap_test(right["a"], right["b"]).statistic == -0.4
    better = compare_systems(right, alternative="greater")
    assert better.pvalue[0] < 1e-9
    assert better.pvalue[0] == pytest.approx(
        paired_bootstrap_test(right["b"], right["a"], alternative="greater").pvalue
    )


def test_groups_are_drawn_as_a_whole():
    doubled = {name: np.repeat(rows, 2, axis=0) for name, rows in RATIO.items()}
    groups = np.repeat(list("vwxyz"), 2)
    summed = {name: 2 * rows for name, rows in RATIO.items()}
    one = compare_systems(doubled, statistic="ratio", groups=groups, method="exact")
    two = compare_systems(summed, statistic="ratio", method="exact")
    assert one.pvalue == pytest.approx(two.pvalue, rel=1e-12)
    assert (one.n_items, one.n_groups) == (10, 5)


def test_coreference_statistics_go_with_their_metric():
    rng = np.random.default_rng(0)
    shared = rng.integers(5, 9, 40)
    stats = {
        name: np.column_stack([rng.binomial(shared, p), shared, shared - 1, shared])
        for name, p in {"one": 0.6, "two": 0.9}.items()
    }
    result = compare_systems(stats, statistic=coref_f1, random_state=0)
    scores = [float(coref_f1(rows.sum(axis=0))) for rows in stats.values()]
    assert result.metric.tolist() == pytest.approx(scores)
    assert result.gain[0] == pytest.approx(scores[1] - scores[0])
    assert result.pvalue[0] < 1e-4
    assert result.statistic == "coref_f1"


# Small p-values


def gained(n, n_systems, step, seed=0):
    rng = np.random.default_rng(seed)
    length = rng.poisson(10, n) + 1
    return {
        f"s{k}": np.column_stack([rng.binomial(length, 0.8 + step * k), length])
        for k in range(n_systems)
    }


def test_small_p_values_survive_the_adjustment():
    result = compare_systems(gained(1000, 12, 0.015), statistic="ratio")
    assert len(result.pairs) == 66
    assert set(result.method) == {"saddlepoint"}
    far = np.array([int(b[1:]) - int(a[1:]) >= 6 for a, b in result.pairs])
    assert (result.pvalue_adjusted[far] < 1e-6).all()


def test_p_values_of_resamples_have_a_floor():
    """A has all and B nothing: the gain is 1, and no resample doubles it."""
    gold = np.arange(200) % 4
    systems = {
        "a": np.stack([gold, gold, gold], 1),
        "b": np.stack([0 * gold, np.arange(200) % 3, gold], 1),
    }
    result = compare_systems(systems, statistic="f1", random_state=0)
    assert result.gain.tolist() == [-1]
    assert result.method == ["monte_carlo"]
    assert result.pvalue[0] == result.smallest_pvalue == 1 / 10_001


def test_a_floor_that_decides_is_said():
    stats = gained(200, 6, 0.02)
    message = "n_resamples=100 .*by 15 pairs, this is 0.149, more than alpha=0.05"
    with pytest.warns(UserWarning, match=message):
        compare_systems(stats, statistic="ratio", method="monte_carlo", n_resamples=100)
    for params in ({"n_resamples": 299}, {"adjust": None}, {"alpha": 0.2}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compare_systems(
                stats,
                statistic="ratio",
                method="monte_carlo",
                random_state=0,
                **{"n_resamples": 100, **params},
            )


# Pitfalls


def test_equal_systems_have_a_p_value_of_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare_systems({"a": F1["a"], "same": F1["a"]}, statistic="f1")
    assert result.gain.tolist() == [0]
    assert result.pvalue.tolist() == [1]
    assert result.pvalue_adjusted.tolist() == [1]


def test_a_lead_in_every_item_is_no_certainty():
    a = np.array([0.1, 0.5, 0.3, 0.2])
    with pytest.warns(UserWarning, match="zero variance.*1 of 1 pairs.*'a' and 'b'"):
        result = compare_systems({"a": a, "b": a - 0.1}, statistic="mean")
    assert result.pvalue[0] == 2 * 0.5**4
    assert result.method == ["sign_flips"]


@pytest.mark.parametrize(
    ("systems", "params", "error", "message"),
    [
        ([[1, 0], [0, 1]], {}, TypeError, "mapping from names.*Got list"),
        (
            {"a": [1, 0], "b": [1, 0, 1]},
            {},
            ValueError,
            r"\(2, 2\) for 'a' and \(3, 2\) for 'b'",
        ),
        ({"a": [1], "b": [0]}, {}, ValueError, "at least two items"),
        ({"a": [1, 0], "b": [1, np.nan]}, {}, ValueError, "'b'.*row 1"),
        ({"a": [1, 0], "b": [1, 1]}, {"adjust": "fdr"}, ValueError, "'adjust'"),
        ({"a": [1, 0], "b": [1, 1]}, {"method": "t"}, ValueError, "'method'"),
        ({"a": [1, 0], "b": [1, 1]}, {"alternative": "up"}, ValueError, "'alternative"),
        ({"a": [1, 0], "b": [1, 1]}, {"statistic": "acc"}, ValueError, "'statistic'"),
        ({"a": [1, 0], "b": [1, 1]}, {"n_resamples": 0}, ValueError, "'n_resamples'"),
        ({"a": [1, 0], "b": [1, 1]}, {"groups": [1]}, ValueError, "2 rows. Got 1"),
        ({"a": [1, 0], "b": [1, 1]}, {"groups": 7}, ValueError, "'groups'.*shape"),
        ({"a": [1, 0], "b": [1, 1]}, {"groups": "s"}, ValueError, "must be an array"),
        ({"a": [1, 0], "b": [1, 1]}, {"groups": [1, 1]}, ValueError, "two groups"),
        ({"a": [1, 0], "b": [0.5, 1]}, {"method": "exact"}, ValueError, "integer"),
        (
            {"a": [[1, 2]] * 2, "b": [[0, 0]] * 2},
            {"statistic": "ratio"},
            ValueError,
            "'b'.*denominator above 0",
        ),
    ],
)
def test_what_is_refused(systems, params, error, message):
    with pytest.raises(error, match=message):
        compare_systems(systems, **params)


def test_inputs_stay_as_they_are():
    before = {name: rows.copy() for name, rows in RATIO.items()}
    compare_systems(RATIO, statistic="ratio", method="monte_carlo", n_resamples=99)
    for name, rows in before.items():
        assert np.array_equal(rows, RATIO[name])


# Adjustment


def closed_testing(pvalues):
    """Adjust by the closure principle with Bonferroni tests, which Holm's rule is."""
    n = len(pvalues)
    adjusted = np.zeros(n)
    for size in range(1, n + 1):
        for subset in itertools.combinations(range(n), size):
            p = min(1.0, size * min(pvalues[k] for k in subset))
            for k in subset:
                adjusted[k] = max(adjusted[k], p)
    return adjusted


def test_the_adjustment_is_over_all_pairs():
    rules = {"holm": closed_testing, "bh": false_discovery_control, None: np.array}
    for adjust, rule in rules.items():
        for step in (0, 0.004, 0.01):
            systems = gained(300, 5, step)
            result = compare_systems(systems, statistic="ratio", adjust=adjust)
            expected = rule(result.pvalue)
            assert result.pvalue_adjusted == pytest.approx(expected, rel=1e-12)
            assert result.adjust == adjust


# The result


@pytest.fixture(scope="module")
def result():
    return compare_systems(gained(200, 4, 0.05), statistic="ratio")


def test_frame_and_dict(result):
    frame = result.frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 6
    assert (frame["metric_b"] - frame["metric_a"]).to_numpy() == pytest.approx(
        frame["gain"].to_numpy()
    )
    assert frame["pvalue_adjusted"].tolist() == result.pvalue_adjusted.tolist()
    pairs = list(zip(frame["system_a"], frame["system_b"], strict=True))
    assert pairs == result.pairs == list(itertools.combinations(result.names, 2))
    found = json.loads(json.dumps(result.to_dict()))
    assert found["pvalue"] == result.pvalue.tolist()
    assert found["metric"] == dict(
        zip(result.names, result.metric.tolist(), strict=True)
    )


def test_matrices(result):
    gain, p = result.matrix("gain"), result.matrix()
    assert np.array_equal(gain, -gain.T)
    assert np.array_equal(p, p.T)
    assert p.diagonal().tolist() == [1] * 4
    k = result.pairs.index(("s1", "s3"))
    assert gain[1, 3] == result.gain[k]
    assert gain[1, 3] == pytest.approx(result.metric[3] - result.metric[1])
    assert p[3, 1] == result.pvalue_adjusted[k]
    with pytest.raises(ValueError, match="'column'"):
        result.matrix("p")


def test_a_matrix_of_one_sided_tests_has_one_side():
    result = compare_systems(RATIO, statistic="ratio", alternative="greater")
    p = result.matrix("pvalue")
    assert p[0, 1] == result.pvalue[0]
    assert p[1, 0] == 1


def test_significant_pairs(result):
    chosen = result.significant(0.01)
    expected = [
        pair
        for pair, p in zip(result.pairs, result.pvalue_adjusted, strict=True)
        if p <= 0.01
    ]
    assert chosen == expected
    assert ("s0", "s3") in chosen
    with pytest.raises(ValueError, match="'alpha' parameter of .*.significant"):
        result.significant(0)
