"""Difference of two systems from a judge and labels: by hand, limits, simulation."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from skcalib.rates import judged_difference


def systems(rng, n, accuracies=(0.7, 0.74), rates=(0.9, 0.85)):
    """Return labels and verdicts of two systems on questions of shared difficulty."""
    ease = rng.normal(size=n)
    own = rng.normal(size=(2, n))
    right = np.sqrt(0.6) * ease + np.sqrt(0.4) * own < ndtri(accuracies)[:, np.newaxis]
    u = rng.random((2, n))
    judge = np.where(right, u < rates[0], u >= rates[1])
    return right.astype(float), judge.astype(float)


def with_labels(right, rows):
    human = np.full(right.shape, np.nan)
    human[:, rows] = right[:, rows]
    return human


def test_estimate_is_that_worked_by_hand():
    # Verdicts of a and b, labels of a and b, number of questions.
    labelled = [
        (1, 1, 1, 1, 6), (1, 1, 1, 0, 2), (0, 1, 0, 1, 3), (0, 1, 0, 0, 2),
        (1, 0, 1, 0, 2), (1, 0, 1, 1, 2), (0, 0, 0, 0, 5),
    ]  # fmt: skip
    rest = [(1, 1, 92), (0, 1, 25), (1, 0, 16), (0, 0, 45)]
    rows = [row[:4] for row in labelled for _ in range(row[4])]
    rows += [(*row[:2], np.nan, np.nan) for row in rest for _ in range(row[2])]
    found = judged_difference(*np.array(rows, float).T)
    expected = (
        Fraction(100, 200) * Fraction(-2, 8)
        + Fraction(30, 200) * Fraction(3, 5)
        + Fraction(20, 200) * Fraction(-2, 4)
    )
    assert found.estimate == pytest.approx(float(expected), rel=1e-12)
    assert found.uncorrected == pytest.approx(10 / 200, rel=1e-12)
    assert (found.n_items, found.n_labelled) == (200, 22)
    assert found.low < found.estimate < found.high


def test_systems_that_change_places_change_the_sign():
    right, judge = systems(np.random.default_rng(0), 400)
    human = with_labels(right, np.arange(80))
    one = judged_difference(*judge, *human)
    other = judged_difference(*judge[::-1], *human[::-1])
    assert other.estimate == pytest.approx(-one.estimate, rel=1e-12)
    assert other.low == pytest.approx(-one.high, abs=1e-4)


def test_all_labels_known_leave_no_doubt_about_the_items():
    right, judge = systems(np.random.default_rng(1), 200)
    found = judged_difference(*judge, *right, population="items")
    expected = right[1].mean() - right[0].mean()
    assert [found.low, found.high] == pytest.approx([expected] * 2, abs=1e-12)


def test_only_questions_with_both_labels_count():
    right, judge = systems(np.random.default_rng(2), 300)
    human = with_labels(right, np.arange(90))
    expected = judged_difference(*judge, *human)
    human[0, 90:120] = right[0, 90:120]
    assert judged_difference(*judge, *human) == expected


def test_graded_scores_are_corrected_by_regression():
    rng = np.random.default_rng(3)
    judge = rng.random((2, 400))
    human = np.clip(judge + rng.normal(0, 0.1, (2, 400)), 0, 1)
    human[:, 150:] = np.nan
    found = judged_difference(*judge, *human)
    assert found.method == "PPI++"
    f, y = judge[1] - judge[0], (human[1] - human[0])[:150]
    covariance = np.mean((y - y.mean()) * (f[:150] - f[:150].mean()))
    lam = covariance / ((1 + 150 / 250) * f.var(ddof=1))
    estimate = lam * f[150:].mean() + np.mean(y - lam * f[:150])
    assert 0 < lam < 1
    assert found.estimate == pytest.approx(estimate, rel=1e-10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge_b": [1, 0, 3, 0]}, r"'judge_b' .* Got 3\.0 in row 2"),
        ({"human_a": [1, np.nan, np.nan, np.nan]}, "both answers in at least two rows"),
        ({"judge_a": [1, 0, 1]}, "of the same length"),
        ({"population": "all"}, "'population'"),
        ({"groups": [1, 2]}, "'groups'"),
    ],
)
def test_errors_name_the_argument(change, message):
    zeros = [0, 1, 0, 1]
    names = ("judge_a", "judge_b", "human_a", "human_b")
    with pytest.raises(ValueError, match=message):
        judged_difference(**(dict.fromkeys(names, zeros) | change))


def test_whole_groups_widen_the_interval():
    rng = np.random.default_rng(4)
    right, judge = systems(rng, 60)
    right, judge = np.repeat(right, 10, axis=1), np.repeat(judge, 10, axis=1)
    human = with_labels(right, np.arange(200))
    groups = np.repeat(np.arange(60), 10)
    plain = judged_difference(*judge, *human)
    grouped = judged_difference(*judge, *human, groups=groups)
    assert grouped.high - grouped.low > 2 * (plain.high - plain.low)
    assert grouped.n_groups == 20


@pytest.mark.slow
# Few labels may miss a verdict.
@pytest.mark.filterwarnings("ignore:No item with the verdict")
@pytest.mark.parametrize("rates", [(0.9, 0.85), (0.97, 0.5)])
def test_coverage_with_a_hundred_labels(rates):
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        right, judge = systems(rng, 1000, rates=rates)
        human = with_labels(right, rng.choice(1000, 100, replace=False))
        found = judged_difference(*judge, *human)
        covered += found.low <= 0.04 <= found.high
    assert covered >= 0.88 * 200
