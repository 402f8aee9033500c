"""Thresholds and power over sizes: each subsample as it would be compared alone."""

import numpy as np
import pytest

from skcalib import significance
from skcalib.significance import compare_systems

curve_of = significance.test_size_curve


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(0)
    length = rng.poisson(10, 400) + 1
    hard = rng.normal(0, 0.05, 400)
    return {
        f"s{k}": np.column_stack(
            [rng.binomial(length, np.clip(0.8 + 0.006 * k + hard, 0, 1)), length]
        )
        for k in range(8)
    }


def test_first_items_are_those_compared(systems):
    curve = curve_of(systems, sizes=[100, 400], statistic="ratio", shuffle=False)
    for k, size in enumerate((100, 400)):
        part = {name: rows[:size] for name, rows in systems.items()}
        found = compare_systems(part, statistic="ratio")
        borderline = (found.pvalue >= 0.04) & (found.pvalue <= 0.06)
        assert curve.mean_pvalue[k] == pytest.approx(found.pvalue.mean())
        assert curve.power[k] == pytest.approx(np.mean(found.pvalue <= 0.05))
        assert curve.n_borderline[k] == borderline.sum()
        if borderline.any():
            expected = np.quantile(np.abs(found.gain[borderline]), 0.95)
            assert curve.threshold[k] == pytest.approx(expected)
    assert curve.n_repeats == 1
    assert curve.n_pairs == 28


def test_power_grows_and_thresholds_fall(systems):
    curve = curve_of(
        systems, sizes=[50, 200, 400], statistic="ratio", n_repeats=8, random_state=0
    )
    assert (np.diff(curve.power) > 0).all()
    assert (np.diff(curve.mean_pvalue) < 0).all()
    assert curve.threshold[0] > curve.threshold[1]
    # about as the root of the size
    assert curve.threshold[0] / curve.threshold[1] == pytest.approx(2, rel=0.35)


def test_chosen_pairs_and_seed(systems):
    pairs = [("s0", "s1"), ("s6", "s7")]
    params = {"sizes": [60], "statistic": "ratio", "pairs": pairs, "n_repeats": 3}
    one, same, other = (
        curve_of(systems, random_state=seed, **params) for seed in (1, 1, 2)
    )
    assert one.n_pairs == 2
    assert one.to_dict() == same.to_dict()
    assert one.mean_pvalue[0] != other.mean_pvalue[0]


def test_drawn_metrics_and_groups(systems):
    f1 = {name: rows[:, [0, 1, 1]] for name, rows in systems.items()}
    groups = np.repeat(np.arange(100), 4)
    curve = curve_of(
        f1, sizes=[100], statistic="f1", groups=groups, n_resamples=2000, random_state=0
    )
    exact = curve_of(systems, sizes=[100], statistic="ratio", groups=groups)
    # with as many guessed as gold, F1 is the accuracy
    assert curve.mean_pvalue[0] == pytest.approx(exact.mean_pvalue[0], abs=0.02)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sizes": [1]}, "'sizes'.*from 2 to 400"),
        ({"sizes": [401]}, "'sizes'.*Got 401 to 401"),
        ({"sizes": [0.5]}, "'sizes'.*integers"),
        ({"sizes": []}, "'sizes'.*integers"),
        ({"sizes": [10], "pairs": []}, "'pairs'.*empty"),
        ({"sizes": [10], "pairs": [("s0", "t")]}, r"'pairs'.*\('s0', 't'\)"),
        ({"sizes": [10], "pairs": [("s0", "s0")]}, "'pairs'.*different names"),
        ({"sizes": [10], "pairs": [5]}, "'pairs'.*Got 5"),
        ({"sizes": [10], "pairs": [("s0", ["s1"])]}, "'pairs'.*'s1'"),
        ({"sizes": [10], "pairs": [("s0", "s1", "s0")]}, "'pairs'.*'s1', 's0'"),
        ({"sizes": [10], "n_repeats": 0}, "'n_repeats'"),
        ({"sizes": [10], "alpha": 1.0}, "'alpha'"),
    ],
)
def test_what_is_refused(systems, params, message):
    with pytest.raises(ValueError, match=message):
        curve_of(systems, statistic="ratio", **params)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pairs": 5}, "'pairs'.*sequence of pairs.*Got 5"),
        ({"pairs": "s0"}, "'pairs'.*sequence of pairs.*Got 's0'"),
        ({"shuffle": "no"}, "'shuffle'.*True or False"),
    ],
)
def test_which_types_are_refused(systems, params, message):
    with pytest.raises(TypeError, match=message):
        curve_of(systems, statistic="ratio", sizes=[10], **params)


def test_a_subsample_without_a_token_shows_no_gain():
    empty = [[0, 0], [0, 0]]
    systems = {"a": empty + [[1, 2], [2, 3]], "b": empty + [[2, 2], [1, 3]]}
    curve = curve_of(systems, sizes=[2], statistic="ratio", shuffle=False)
    assert curve.mean_pvalue.tolist() == [1]


def test_pairs_with_denominators_of_their_own_are_drawn_and_no_others():
    """Each pair takes its own method, whichever comes first, and none is tilted."""
    rng = np.random.default_rng(3)
    length = rng.integers(1, 9, 80)
    same = {
        name: np.stack([rng.binomial(length, p), length], 1)
        for name, p in (("a", 0.9), ("b", 0.5))
    }
    other = {"c": np.stack([rng.binomial(length + 1, 0.1), length + 1], 1)}
    params = {"sizes": [80], "statistic": "ratio", "n_resamples": 19}
    (alone,) = curve_of(same, **params).mean_pvalue
    for pairs in ([("a", "b"), ("a", "c")], [("a", "c"), ("a", "b")]):
        curve = curve_of({**same, **other}, pairs=pairs, **params)
        # of 19 resamples none is extreme
        assert curve.mean_pvalue[0] == pytest.approx((alone + 1 / 20) / 2)
