"""Difference of two systems from a judge and labels: by hand, limits, simulation."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from skcalib.rates import judged_accuracy, judged_difference


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


# Labels of different questions


def separately(right, first, second):
    human = np.full(right.shape, np.nan)
    human[0, first], human[1, second] = right[0, first], right[1, second]
    return human


def test_separate_labels_add_the_squared_lengths_of_both_intervals():
    right, judge = systems(np.random.default_rng(6), 400)
    human = separately(right, np.arange(60), np.arange(60, 150))
    found = judged_difference(*judge, *human, labels="separate")
    a, b = (judged_accuracy(*each) for each in zip(judge, human, strict=True))
    # Zou and Donner (2008), equation 6
    assert found.estimate == pytest.approx(b.estimate - a.estimate)
    below = (found.estimate - found.low) ** 2
    assert below == pytest.approx(
        (b.estimate - b.low) ** 2 + (a.high - a.estimate) ** 2
    )
    above = (found.high - found.estimate) ** 2
    assert above == pytest.approx(
        (b.high - b.estimate) ** 2 + (a.estimate - a.low) ** 2
    )
    variance = a.standard_error**2 + b.standard_error**2
    assert found.standard_error**2 == pytest.approx(variance)
    assert (found.n_labelled, found.labels) == (150, "separate")
    assert found.uncorrected == pytest.approx(judge[1].mean() - judge[0].mean())


def test_separate_labels_of_a_judge_that_knows_nothing_are_worth_their_number():
    right, judge = systems(np.random.default_rng(7), 400)
    human = separately(right, np.arange(60), np.arange(60, 150))
    found = judged_difference(*np.ones((2, 400)), *human, labels="separate")
    assert found.equivalent_labels == pytest.approx(150)
    # Without a judge, the variance is inverse to the number of labels.
    width = found.high - found.low
    assert found.labels_for_width(width) == 150
    assert found.labels_for_width(width * 0.8) == pytest.approx(150 / 0.64, abs=1)


def test_separate_labels_have_one_method():
    rng = np.random.default_rng(8)
    right, judge = systems(rng, 400)
    judge[1] = np.clip(0.2 + 0.6 * right[1] + rng.uniform(-0.2, 0.2, 400), 0, 1)
    human = separately(right, np.arange(60), np.arange(60, 150))
    found = judged_difference(*judge, *human, labels="separate")
    a, b = (
        judged_accuracy(*each, method="PPI++")
        for each in zip(judge, human, strict=True)
    )
    assert found.method == "PPI++"
    assert found.estimate == pytest.approx(b.estimate - a.estimate)


def test_separate_labels_of_another_method_repeat_no_warning(recwarn):
    y = np.tile([0.0, 1.0], 100)
    human = separately(np.array([y, y]), np.arange(60), np.arange(60, 150))
    graded = 0.5 * y + np.linspace(0, 0.5, 200)
    found = judged_difference(1 - y, graded, *human, labels="separate")
    assert found.method == "PPI++"
    (warning,) = recwarn
    assert str(warning.message).startswith("judge_a: The judge's scores are higher")


def test_separate_labels_have_one_inclusion_probability_each():
    right, judge = systems(np.random.default_rng(9), 400)
    human = separately(right, np.arange(60), np.arange(60, 150))
    chance = np.linspace(0.1, 0.9, 400)
    arguments = {"inclusion_probability": chance}
    found = judged_difference(*judge, *human, labels="separate", **arguments)
    a, b = (
        judged_accuracy(*each, **arguments) for each in zip(judge, human, strict=True)
    )
    assert found.estimate == pytest.approx(b.estimate - a.estimate)


@pytest.mark.parametrize(
    ("first", "second", "arguments", "message"),
    [
        (range(9), range(9, 20), {}, "labels='separate'"),
        (range(9), range(8, 20), {"labels": "separate"}, "1 such questions, .* row 8"),
        (
            range(9),
            range(9, 20),
            {"labels": "both"},
            "'labels' .* 'paired', 'separate'",
        ),
        (range(1), range(9, 20), {"labels": "separate"}, "'human_a' .* Got 1 of 400"),
        (
            *(range(2), range(9, 20), {"labels": "separate", "grade": 0.3}),
            "'human_a' .* needs at least three labels for PPI",
        ),
    ],
)
def test_labels_that_can_be_read_in_two_ways_are_an_error(
    first, second, arguments, message
):
    right, judge = systems(np.random.default_rng(10), 400)
    human = separately(right, list(first), list(second))
    if arguments.pop("grade", None):  # more than five scores of the judge
        judge = (judge + np.arange(400) / 400) / 2
    with pytest.raises(ValueError, match=message):
        judged_difference(*judge, *human, **arguments)


def graded(rng, n):
    judge = rng.beta(3, 2, (2, n))
    error = rng.normal([[0], [0.1]], 0.15, (2, n))
    return np.clip(np.round(judge + error, 1), 0, 1), judge


@pytest.mark.slow
# Few labels may miss a verdict.
@pytest.mark.filterwarnings("ignore:judge_[ab]. No item with the verdict")
@pytest.mark.parametrize(("draw", "truth"), [(systems, 0.04), (graded, None)])
def test_coverage_with_labels_of_different_questions(draw, truth):
    rng, covered, errors = np.random.default_rng(13), 0, []
    if truth is None:
        right = draw(np.random.default_rng(14), 1_000_000)[0]
        truth = right[1].mean() - right[0].mean()
    for _ in range(300):
        right, judge = draw(rng, 1000)
        rows = rng.permutation(1000)
        human = separately(right, rows[:50], rows[50:100])
        found = judged_difference(*judge, *human, labels="separate")
        covered += found.low <= truth <= found.high
        errors.append((found.estimate - truth) / found.standard_error)
    # The standard error of a coverage of 95% is 1.3%.
    assert covered >= 0.95 * 300 - 3 * 0.013 * 300
    assert np.std(errors) == pytest.approx(1, abs=0.15)


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
