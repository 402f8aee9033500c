"""Accuracy from a judge and labels: formulas by hand, exact sums, simulation, peers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta, betabinom
from scipy.stats import t as student

from skcalib.rates import accuracy_interval, judged_accuracy
from skcalib.rates._strata import StratumMean, share_interval, sum_interval

TAILS = (0.025, 0.975)


def judged(table, n_unlabelled):
    """Return judge and human from {(verdict, label): count} and {verdict: count}."""
    judge, human = [], []
    for (verdict, label), count in table.items():
        judge += [verdict] * count
        human += [label] * count
    for verdict, count in n_unlabelled.items():
        judge += [verdict] * count
        human += [np.nan] * count
    return np.array(judge, float), np.array(human, float)


TABLE = {(1, 1): 9, (1, 0): 3, (0, 1): 2, (0, 0): 6}
REST = {1: 488, 0: 192}


def test_reversed_labels_warn():
    # The correlation of 2 x 2 tables with equal margins is (1 - 81) / 100.
    reversed_table = {(1, 1): 1, (1, 0): 9, (0, 1): 9, (0, 0): 1}
    judge, human = judged(reversed_table, {1: 50, 0: 50})
    with pytest.warns(UserWarning, match=r"higher where the labels are lower .*-0\.80"):
        judged_accuracy(judge, human)
    # -.4 sqrt(20) is -1.8, which is no significant correlation.
    judge, human = judged({(1, 1): 3, (1, 0): 7, (0, 1): 7, (0, 0): 3}, {1: 50, 0: 50})
    judged_accuracy(judge, human)


# The distribution of sums


@pytest.mark.parametrize(
    ("first", "second", "weight"),
    [((18.5, 2.5), (0.5, 3.5), 0.7), ((0.5, 0.5), (20.5, 0.5), 0.1)],
)
def test_interval_of_a_sum_of_two_betas_is_that_of_the_integral(first, second, weight):
    parts = [
        StratumMean((0.0, 1.0), (b, a), w)
        for (a, b), w in ((first, weight), (second, 1 - weight))
    ]

    def chance(x):
        def inner(u):
            other = (1 - weight) * beta.ppf(u, *second)
            return beta.cdf((x - other) / weight, *first)

        return quad(inner, 0, 1, epsabs=1e-9, limit=400)[0]

    ends = sum_interval(parts, 0.0, 0.95)
    assert [chance(x) for x in ends] == pytest.approx(TAILS, abs=1e-4)


def test_interval_of_one_mean_is_that_of_the_beta_distribution():
    ends = sum_interval([StratumMean((0.0, 1.0), (3.5, 7.5), 0.5)], 0.25, 0.9)
    expected = 0.25 + 0.5 * beta.ppf([0.05, 0.95], 7.5, 3.5)
    assert ends == pytest.approx(expected, abs=1e-5)


def test_mean_of_three_values_has_the_shares_of_drawn_dirichlets():
    rng = np.random.default_rng(0)
    parts = [
        StratumMean((-1.0, 0.0, 1.0), (1 / 3, 8.3, 2.3), 0.6),
        StratumMean((-1.0, 0.0, 1.0), (2.3, 1.3, 1.3), 0.4),
    ]
    drawn = sum(
        part.weight * (rng.dirichlet(part.alpha, 400_000) @ np.array(part.values))
        for part in parts
    )
    ends = sum_interval(parts, 0.0, 0.95)
    assert [(drawn < x).mean() for x in ends] == pytest.approx(TAILS, abs=1e-3)
    variance = sum(part.variance for part in parts)
    assert variance == pytest.approx(drawn.var(), rel=0.01)


def test_interval_of_a_share_is_that_of_drawn_betas():
    rng = np.random.default_rng(1)
    parts = [
        StratumMean((0.0, 1.0), (2.5, 18.5), 0.7),
        StratumMean((0.0, 1.0), (3.5, 1.5), 0.3),
    ]
    a, b = (p.weight * rng.beta(p.alpha[1], p.alpha[0], 400_000) for p in parts)
    ends = share_interval(*parts, 0.95)
    assert [(a / (a + b) < x).mean() for x in ends] == pytest.approx(TAILS, abs=1e-3)


# Estimates


def test_estimates_are_those_worked_by_hand():
    found = judged_accuracy(*judged(TABLE, REST))
    share = Fraction(500, 700)
    right_one, right_zero = share * Fraction(9, 12), (1 - share) * Fraction(2, 8)
    accuracy = right_one + right_zero
    assert found.estimate == pytest.approx(float(accuracy), rel=1e-12)
    assert found.uncorrected == pytest.approx(5 / 7, rel=1e-12)
    assert found.sensitivity.estimate == pytest.approx(float(right_one / accuracy))
    wrong_zero = (1 - share) * Fraction(6, 8)
    specificity = wrong_zero / (1 - accuracy)
    assert found.specificity.estimate == pytest.approx(float(specificity))
    alone = accuracy_interval([1] * 11 + [0] * 9)
    assert found.labels_only == (alone.estimate, alone.low, alone.high)
    assert (found.n_items, found.n_labelled) == (700, 20)


def test_labels_of_items_are_exactly_beta_binomial_in_a_large_corpus():
    judge, human = judged({(1, 1): 27, (1, 0): 3}, {1: 70})
    found = judged_accuracy(judge, human, population="items")
    rest = betabinom(70, 27.5, 3.5)
    for end, tail in zip((found.low, found.high), TAILS, strict=True):
        k = 100 * end - 27
        below, above = rest.cdf(np.floor(k) - 1), rest.cdf(np.ceil(k))
        assert below - 0.005 <= tail <= above + 0.005


def test_all_labels_known_leave_no_doubt_about_the_items():
    judge, human = judged(TABLE, {})
    found = judged_accuracy(judge, human, population="items")
    assert (found.low, found.estimate, found.high) == pytest.approx([0.55] * 3)


def test_all_labels_known_give_about_the_interval_of_an_accuracy():
    rng = np.random.default_rng(2)
    human = (rng.random(800) < 0.7).astype(float)
    judge = np.where(rng.random(800) < 0.8, human, 1 - human)
    found, plain = judged_accuracy(judge, human), accuracy_interval(human)
    assert found.estimate == pytest.approx(plain.estimate, rel=1e-12)
    assert found.low == pytest.approx(plain.low, abs=2e-3)
    assert found.high == pytest.approx(plain.high, abs=2e-3)
    assert found.equivalent_labels == pytest.approx(800, rel=0.03)


def test_a_judge_that_knows_nothing_is_worth_no_labels():
    table = {(1, 1): 20, (1, 0): 20, (0, 1): 20, (0, 0): 20}
    found = judged_accuracy(*judged(table, {1: 5000, 0: 5000}))
    assert found.equivalent_labels == pytest.approx(80, rel=0.05)


def test_a_judge_without_errors_is_worth_many_labels():
    found = judged_accuracy(*judged({(1, 1): 40, (0, 0): 40}, {1: 5000, 0: 5000}))
    assert found.equivalent_labels > 1000


def test_labels_drawn_by_verdict_leave_the_estimate_unbiased():
    rng = np.random.default_rng(3)
    estimates, alone, covered = [], [], 0
    for _ in range(25):
        right = rng.random(1000) < 0.7
        judge = np.where(right, rng.random(1000) < 0.9, rng.random(1000) < 0.3)
        chosen = [rng.choice(np.flatnonzero(judge == v), 40, False) for v in (0, 1)]
        human = np.full(1000, np.nan)
        human[np.concatenate(chosen)] = right[np.concatenate(chosen)]
        found = judged_accuracy(judge, human)
        estimates.append(found.estimate)
        alone.append(found.labels_only.estimate)
        covered += found.low <= 0.7 <= found.high
    assert np.mean(estimates) == pytest.approx(0.7, abs=4 * 0.05 / np.sqrt(25))
    assert covered >= 18  # of 25, five standard errors below 95%
    # Labels alone have as many of each verdict, and a mean of about .6.
    assert np.mean(alone) < 0.65


def test_unequal_chances_within_a_verdict_are_weighted():
    # Of 30 labelled items with verdict 1, ten wrong ones were twice as likely drawn.
    judge, human = judged({(1, 1): 20, (1, 0): 10, (0, 0): 5}, {1: 100, 0: 30})
    chance = np.where(human == 0, 0.4, 0.2)
    found = judged_accuracy(judge, human, inclusion_probability=chance)
    share = 20 / 0.2 / (20 / 0.2 + 10 / 0.4)
    assert found.estimate == pytest.approx(130 / 165 * share, rel=1e-12)
    scaled = judged_accuracy(judge, human, inclusion_probability=chance / 3)
    assert scaled.low == pytest.approx(found.low, rel=1e-9)


def test_chances_that_differ_by_verdict_only_change_nothing():
    judge, human = judged(TABLE, REST)
    chance = np.where(judge == 1, 0.1, 0.7)
    found = judged_accuracy(judge, human, inclusion_probability=chance)
    plain = judged_accuracy(judge, human)
    assert found.low == pytest.approx(plain.low, rel=1e-9)
    assert found.high == pytest.approx(plain.high, rel=1e-9)


def test_verdicts_of_three_levels_are_three_strata():
    table = {(1, 1): 8, (1, 0): 2, (0.5, 1): 3, (0.5, 0): 3, (0, 0): 4}
    found = judged_accuracy(*judged(table, {1: 90, 0.5: 44, 0: 46}))
    expected = Fraction(100, 200) * Fraction(4, 5) + Fraction(50, 200) * Fraction(1, 2)
    assert found.estimate == pytest.approx(float(expected), rel=1e-12)
    assert found.method == "post-stratified"
    assert found.sensitivity is None


def test_partly_right_answers_count_half():
    table = {(1, 1): 8, (1, 0.5): 2, (0, 0.5): 3, (0, 0): 7}
    found = judged_accuracy(*judged(table, {1: 90, 0: 90}))
    assert found.estimate == pytest.approx(0.5 * 0.9 + 0.5 * 0.15, rel=1e-12)
    assert 0 < found.low < found.estimate < found.high < 1


def test_items_without_a_verdict_are_a_stratum():
    judge, human = judged({(1, 1): 9, (1, 0): 1, (0, 0): 10}, {1: 90, 0: 40})
    judge = np.append(judge, np.full(50, np.nan))
    human = np.append(human, [1, 1, 1, 1, 0, *[np.nan] * 45])
    found = judged_accuracy(judge, human)
    expected = 0.5 * 0.9 + 0.25 * 0.8
    assert found.estimate == pytest.approx(expected, rel=1e-12)
    assert found.uncorrected == pytest.approx(100 / 150, rel=1e-12)
    assert found.sensitivity.estimate == pytest.approx(1.0)


def test_a_verdict_without_labels_is_named_in_a_warning():
    judge, human = judged({(1, 1): 9, (1, 0): 1}, {1: 80, 0: 10})
    with pytest.warns(UserWarning, match=r"verdict 0 has a label\. .* 10\.0% of all"):
        found = judged_accuracy(judge, human)
    assert found.estimate == pytest.approx(0.9 * 0.9 + 0.1 * 0.5)
    assert found.high - found.low > 0.1 * 0.95


# Questions and groups


def test_samples_of_a_question_share_its_weight():
    judge = np.array([1, 1, 1, 1, 0, 0, 1, 0], float)
    human = np.array([1, 1, 0, 1, 0, 0, 1, 0], float)
    questions = [0, 0, 0, 0, 1, 1, 2, 3]
    found = judged_accuracy(judge, human, questions=questions)
    assert found.uncorrected == pytest.approx(0.5)
    assert found.labels_only.estimate == pytest.approx((0.75 + 0 + 1 + 0) / 4)
    # Post-stratified: weights 1/4 and 1/3 are those of the questions.
    assert found.estimate == pytest.approx(0.5 * (3 / 16 + 1 / 4) / (1 / 4 + 1 / 4))


def test_groups_of_one_item_are_nearly_independent_items():
    rng = np.random.default_rng(4)
    right = rng.random(500) < 0.6
    judge = np.where(rng.random(500) < 0.8, right, ~right).astype(float)
    human = np.where(np.arange(500) < 200, right, np.nan)
    plain = judged_accuracy(judge, human)
    grouped = judged_accuracy(judge, human, groups=np.arange(500))
    assert grouped.high - grouped.low == pytest.approx(plain.high - plain.low, rel=0.05)


def test_equal_items_of_a_group_count_once():
    judge, human = judged({k: 3 * v for k, v in TABLE.items()}, {1: 488, 0: 192})
    groups = np.arange(judge.size)
    once = np.repeat(np.arange(40), 5)[: judge.size]
    groups[:60] = once[:60]
    few = judged_accuracy(judge, human, groups=groups)
    plain = judged_accuracy(judge, human)
    assert few.high - few.low > 1.5 * (plain.high - plain.low)
    assert few.n_groups == 12


def test_labels_of_one_group_say_nothing():
    judge, human = judged(TABLE, REST)
    groups = np.r_[np.zeros(20, int), np.arange(1, 681)]
    with pytest.warns(UserWarning, match="All labels are in one group"):
        found = judged_accuracy(judge, human, groups=groups)
    assert (found.low, found.high) == (0.0, 1.0)


# Scores that are no verdicts


def grades(seed=0, n=40, rest=300):
    rng = np.random.default_rng(seed)
    judge = rng.random(n + rest)
    human = np.clip(0.7 * judge + 0.3 * rng.random(n + rest), 0, 1)
    human[n:] = np.nan
    return judge, human


def test_grades_have_the_estimate_and_error_of_ppi_plus_plus():
    # Angelopoulos, Duchi and Zrnic (2023), section 6, worked out by hand:
    # labels 0, 1, 1/2 of grades 1/4, 3/4, 5/8, and four grades without a label.
    y = [Fraction(0), Fraction(1), Fraction(1, 2)]
    f = [Fraction(1, 4), Fraction(3, 4), Fraction(5, 8)]
    other = [Fraction(1, 8), Fraction(3, 8), Fraction(1, 2), Fraction(7, 8)]

    def mean(values):
        return sum(values, Fraction(0)) / len(values)

    def variance(values, free=0):
        centre = mean(values)
        return sum((v - centre) ** 2 for v in values) / (len(values) - free)

    pairs = zip(y, f, strict=True)
    covariance = mean([(a - mean(y)) * (b - mean(f)) for a, b in pairs])
    lam = covariance / ((1 + Fraction(3, 4)) * variance(f + other, 1))
    assert 0 < lam < 1
    residual = [a - lam * b for a, b in zip(y, f, strict=True)]
    estimate = lam * mean(other) + mean(residual)
    squared = variance(residual) / 3 + lam**2 * variance(other) / 4
    judge = np.array([float(v) for v in f + other])
    human = np.array([float(v) for v in y] + [np.nan] * 4)
    with pytest.warns(UserWarning, match="PPI\\+\\+ has 3 labels"):
        found = judged_accuracy(judge, human, method="PPI++")
    assert found.estimate == pytest.approx(float(estimate), rel=1e-12)
    assert found.standard_error == pytest.approx(float(squared) ** 0.5, rel=1e-12)


@pytest.mark.parametrize(("n", "rest"), [(120, 300), (150, 60)])
def test_grades_agree_with_ppi_python(n, rest):
    ppi = pytest.importorskip("ppi_py")
    judge, human = grades(5, n, rest)
    found = judged_accuracy(judge, human)
    assert found.method == "PPI++"
    arguments = human[:n], judge[:n], judge[n:]
    estimate = float(np.squeeze(ppi.ppi_mean_pointestimate(*arguments)))
    low, high = np.squeeze(ppi.ppi_mean_ci(*arguments, alpha=0.05))
    assert found.estimate == pytest.approx(estimate, abs=1e-10)
    error = (high - low) / 2 / 1.959963984540054
    assert found.standard_error == pytest.approx(error, abs=1e-10)


@pytest.mark.parametrize("population", ["items", "superpopulation"])
def test_grades_have_the_score_interval_by_hand(population):
    # The judge says 1/2 of all items: lambda is 0. The residuals are -1/2, 0, 1/2, 0.
    human = np.r_[np.tile([0, 0.5, 1, 0.5], 5), np.full(80, np.nan)]
    found = judged_accuracy(
        np.full(100, 0.5), human, method="PPI++", population=population
    )
    free = 0.8 if population == "items" else 1.0
    # One unseen error of 1/2 has the weight 1/2. Two parameters are estimated.
    variance, u = free * 10 / 4 / (18 * 20), 0.5 * free**0.5 / 20
    k, q = (u**3 / 2) / (variance + u**2 / 2), student.ppf(0.975, 18)
    x = found.high - found.estimate
    assert found.estimate == pytest.approx(0.5)
    assert x**2 * (1 + q**2 / 20) == pytest.approx(q**2 * (variance + k * x))
    assert found.low == pytest.approx(1 - found.high)


@pytest.mark.parametrize("population", ["items", "superpopulation"])
def test_a_judge_without_errors_in_the_labels_may_have_others(population):
    judge = np.tile(np.arange(1, 11) / 10, 100)
    truth = judge.copy()
    truth[500:530] = 0  # 3% of the grades are too high, by 0.55 on average
    human = np.where(np.arange(1000) < 20, truth, np.nan)
    found = judged_accuracy(judge, human, population=population)
    assert found.method == "PPI++"
    assert found.low < truth.mean() < found.estimate - 0.01


def test_grades_of_all_items_have_the_mean_of_their_labels():
    judge, human = grades(6, 150, 0)
    found = judged_accuracy(judge, human)
    assert found.estimate == pytest.approx(human.mean(), rel=1e-12)
    expected = human.std() / np.sqrt(150)
    assert found.standard_error == pytest.approx(expected, rel=1e-12)
    items = judged_accuracy(judge, human, population="items")
    assert items.low == items.high == pytest.approx(human.mean(), rel=1e-12)


def test_grades_of_samples_are_those_of_questions():
    judge, human = grades(7, 240, 240)
    questions = np.repeat(np.arange(240), 2)
    found = judged_accuracy(judge, human, questions=questions)
    means = judge.reshape(-1, 2).mean(axis=1), human.reshape(-1, 2).mean(axis=1)
    expected = judged_accuracy(*means)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert found.high == pytest.approx(expected.high, rel=1e-12)


def test_equivalent_labels_of_questions_are_counted_like_labels():
    judge, human = grades(9, 120, 200)
    questions = np.repeat(np.arange(judge.size), 2)
    found = judged_accuracy(
        np.repeat(judge, 2), np.repeat(human, 2), questions=questions
    )
    one = judged_accuracy(judge, human)
    assert found.n_labelled == 2 * one.n_labelled
    assert found.equivalent_labels == pytest.approx(2 * one.equivalent_labels)


# Number of labels for a width


@pytest.mark.parametrize(
    ("population", "expected"),
    # 1/n - 1/1000 is a quarter of 1/100 - 1/1000, so n = 1 / .00325 = 307.7
    [("superpopulation", 400), ("items", 308)],
)
def test_without_a_judge_half_the_width_needs_the_labels_of_a_plain_sample(
    population, expected
):
    judge, human = judged({(1, 1): 60, (1, 0): 40}, {1: 900})
    found = judged_accuracy(judge, human, population=population)
    width = found.high - found.low
    assert found.labels_for_width(width) == 100
    assert found.labels_for_width(width / 2) == pytest.approx(expected, abs=1)


def test_labels_for_a_width_are_those_of_two_phase_sampling():
    judge, human = judged(
        {(1, 1): 90, (1, 0): 10, (0, 1): 20, (0, 0): 80}, {1: 900, 0: 900}
    )
    found = judged_accuracy(judge, human)
    # Cochran, section 12.2: within verdicts over n, and between verdicts over N.
    within, between = 0.5 * 0.9 * 0.1 + 0.5 * 0.8 * 0.2, 0.35**2
    now = within / 200 + between / 2000
    for ratio in (0.5, 0.7, 2.0):
        expected = within / (ratio**2 * now - between / 2000)
        needed = found.labels_for_width(ratio * (found.high - found.low))
        assert needed == pytest.approx(expected, rel=0.03)
    # All labels would leave 0.2025 / 2000.
    limit = np.sqrt((within + between) / 2000 / now)
    width = found.high - found.low
    assert found.labels_for_width(0.95 * limit * width) == np.inf
    assert found.labels_for_width(1.05 * limit * width) < 2000


def test_labels_for_a_width_by_regression_have_the_unexplained_variance():
    judge, human = grades(10, 100, 6000)
    found = judged_accuracy(judge, human)
    has = ~np.isnan(human)
    r2 = np.corrcoef(judge[has], human[has])[0, 1] ** 2
    variance, n = human[has].var(), judge.size
    a, b = variance * (1 - r2), variance * r2 / n
    expected = a / ((a / has.sum() + b) / 4 - b)
    needed = found.labels_for_width((found.high - found.low) / 2)
    # The scores of labelled and of all items do not have quite the same variance.
    assert needed == pytest.approx(expected, rel=0.08)


def test_labels_for_a_width_if_all_are_labelled_or_in_one_group():
    judge, human = judged(TABLE, {})
    found = judged_accuracy(judge, human, population="items")
    assert found.labels_for_width(0.1) == 20
    judge, human = judged(TABLE, REST)
    with pytest.warns(UserWarning, match="All labels are in one group"):
        found = judged_accuracy(judge, human, groups=np.arange(judge.size) >= 20)
    assert found.labels_for_width(0.5) == np.inf


@pytest.mark.parametrize("width", [0, -0.1, np.nan, np.inf, "wide", None])
def test_a_width_must_be_positive(width):
    found = judged_accuracy(*judged(TABLE, REST))
    with pytest.raises(ValueError, match=r"'width' .* must be a positive number"):
        found.labels_for_width(width)


# What cannot be estimated


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge": [1, 0, 2, 0]}, r"'judge' .* Got 2\.0 in row 2"),
        ({"human": [1, -1, np.nan, 0]}, r"'human' .* Got -1\.0 in row 1"),
        ({"human": [1, np.nan, np.nan, np.nan]}, "at least two rows. Got 1 of 4"),
        ({"human": [1, 0]}, "of the same length"),
        ({"population": "all"}, "'population'"),
        ({"method": "ppi"}, "'method'"),
        ({"confidence_level": 1}, "'confidence_level'"),
        ({"inclusion_probability": [0.1, 0, 1, 1]}, r"Got 0\.0 in row 1"),
        ({"inclusion_probability": [0.1]}, "for each of the 4 items"),
        ({"questions": [0, 0, 1, 1], "groups": [0, 1, 1, 1]}, "one group"),
        ({"judge": [np.nan] * 4}, "'judge' .* Got 0 of 4"),
        ({"human": ["yes", "no", "no", "no"]}, "'human' .* must contain numbers"),
    ],
)
def test_errors_name_the_argument_and_the_row(changes, message):
    arguments = {"judge": [1, 0, 1, 0], "human": [1, 0, np.nan, 0]} | changes
    with pytest.raises(ValueError, match=message):
        judged_accuracy(arguments.pop("judge"), arguments.pop("human"), **arguments)


def test_grades_without_a_score_of_the_judge_are_an_error():
    judge, human = grades(8, 150)
    judge[7] = np.nan
    with pytest.raises(ValueError, match="Got NaN in row 7"):
        judged_accuracy(judge, human)


def test_grades_with_unequal_chances_are_an_error():
    with pytest.raises(ValueError, match=r"Use skcalib\.counts\.corrected_count"):
        judged_accuracy(*grades(), inclusion_probability=np.full(340, 0.1))


def test_graded_labels_cannot_be_stratified():
    judge, human = grades()
    with pytest.raises(ValueError, match="at most one score other than 0 and 1"):
        judged_accuracy(judge > 0.5, human, method="post-stratified")


def test_dict_and_words():
    found = judged_accuracy(*judged(TABLE, REST), population="items")
    numbers = found.to_dict()
    assert numbers["labels_only"]["estimate"] == 0.55
    assert numbers["sensitivity"]["low"] == found.sensitivity.low
    html = found._repr_html_()
    assert "these items have a mean score of" in html
    assert "20 labels are equivalent to" in html


# Properties


@settings(max_examples=10, deadline=None)
@given(
    counts=st.tuples(*[st.integers(0, 8)] * 4),
    rest=st.tuples(*[st.integers(0, 60)] * 2),
    population=st.sampled_from(["items", "superpopulation"]),
)
@pytest.mark.filterwarnings("ignore:No item with the verdict")
def test_intervals_contain_the_estimate_and_do_not_depend_on_the_order(
    counts, rest, population
):
    if sum(counts) < 2:
        return
    keys = [(1, 1), (1, 0), (0, 1), (0, 0)]
    table = dict(zip(keys, counts, strict=True))
    judge, human = judged(table, {1: rest[0], 0: rest[1]})
    found = judged_accuracy(judge, human, population=population)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    order = np.random.default_rng(0).permutation(judge.size)
    other = judged_accuracy(judge[order], human[order], population=population)
    assert other.low == pytest.approx(found.low, abs=1e-9)
    # What is right and what is wrong can change places.
    turned = judged_accuracy(1 - judge, 1 - human, population=population)
    assert turned.low == pytest.approx(1 - found.high, abs=1e-3)
    for rate in (found.sensitivity, found.specificity):
        assert rate is None or 0 <= rate.low <= rate.estimate <= rate.high <= 1


# Simulation


@pytest.mark.slow
# Few labels may miss a verdict.
@pytest.mark.filterwarnings("ignore:No item with the verdict")
@pytest.mark.parametrize("n", [20, 100])
def test_coverage_of_a_lenient_judge(n):
    rng = np.random.default_rng(n)
    covered = {"superpopulation": 0, "items": 0}
    for _ in range(400):
        right = rng.random(2000) < 0.7
        judge = np.where(right, rng.random(2000) < 0.95, rng.random(2000) < 0.4)
        human = np.full(2000, np.nan)
        rows = rng.choice(2000, n, replace=False)
        human[rows] = right[rows]
        for population, truth in (("superpopulation", 0.7), ("items", right.mean())):
            found = judged_accuracy(judge, human, population=population)
            covered[population] += found.low <= truth <= found.high
    assert min(covered.values()) >= 0.9 * 400


def graded(rng, n):
    judge = rng.beta(3, 2, n)
    return np.clip(np.round(judge + rng.normal(0, 0.15, n), 1), 0, 1), judge


def lenient(rng, n):
    right = rng.random(n) < 0.7
    return right * 1.0, np.where(right, rng.random(n) < 0.95, rng.random(n) < 0.4) * 1.0


@pytest.mark.slow
@pytest.mark.parametrize("population", ["superpopulation", "items"])
@pytest.mark.parametrize(("draw", "mean"), [(lenient, 0.7), (graded, None)])
def test_planned_labels_give_the_width_and_the_coverage(draw, mean, population):
    rng, ratios, covered = np.random.default_rng(11), [], 0
    if mean is None:
        mean = draw(np.random.default_rng(12), 2_000_000)[0].mean()
    for _ in range(200):
        right, judge = draw(rng, 2000)
        order = rng.permutation(2000)

        def with_labels(n, right=right, order=order):
            return np.where(np.argsort(order) < n, right, np.nan)

        first = judged_accuracy(judge, with_labels(100), population=population)
        width = 0.6 * (first.high - first.low)
        n = first.labels_for_width(width)
        found = judged_accuracy(judge, with_labels(n), population=population)
        ratios.append((found.high - found.low) / width)
        truth = mean if population == "superpopulation" else right.mean()
        covered += found.low <= truth <= found.high
    assert np.mean(ratios) == pytest.approx(1, abs=0.04)
    assert np.std(ratios) < 0.15
    assert covered >= 0.9 * 200
