"""Gains of mean scores: tests by enumeration, intervals by their meaning."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, binomtest, norm

from skcalib.evaluation import align_evaluations, evaluation_of
from skcalib.significance import (
    compare_systems,
    mcnemar_test,
    paired_bootstrap_test,
    permutation_test,
)


def tables(n, wins, losses):
    """Return scores of two systems with these numbers of wins of the second."""
    first = np.repeat([0, 1, 1], [wins, losses, n - wins - losses])
    second = np.repeat([1, 0, 1], [wins, losses, n - wins - losses])
    return {"A": first, "B": second}


@pytest.mark.parametrize(
    ("n", "wins", "losses"), [(30, 9, 3), (40, 0, 6), (99, 20, 20)]
)
def test_independent_answers_have_mcnemars_midp_test(n, wins, losses):
    result = compare_systems(tables(n, wins, losses))
    expected = mcnemar_test(losses, wins, mid_p=True).pvalue
    assert result.pvalue[0] == pytest.approx(expected, rel=1e-12)
    if wins != losses:  # half of the chance of what was seen, in both tails
        seen = binom.pmf(wins, wins + losses, 0.5)
        exact = binomtest(wins, wins + losses).pvalue
        assert result.pvalue[0] == pytest.approx(exact - seen, rel=1e-12)
    assert result.method == ["McNemar's exact test with mid-p"]
    assert (result.wins[0], result.losses[0]) == (wins, losses)
    assert result.gain[0] == pytest.approx((wins - losses) / n)


def enumerated(difference, midp):
    """Return the p-value of sign flips as an exact fraction."""
    total = abs(sum(difference))
    sums = [
        abs(sum(s * d for s, d in zip(signs, difference, strict=True)))
        for signs in product((1, -1), repeat=len(difference))
    ]
    above, equal = sum(s > total for s in sums), sum(s == total for s in sums)
    return (above + equal * (Fraction(1, 2) if midp else 1)) / Fraction(len(sums))


@pytest.mark.parametrize("seed", range(6))
def test_groups_have_the_exact_distribution_of_sign_flips(seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(10), rng.integers(1, 6, 10))
    a, b = rng.integers(0, 2, (2, groups.size))
    difference = np.bincount(groups, b - a).astype(int).tolist()
    n_differing = np.count_nonzero(difference)
    result = compare_systems({"A": a, "B": b}, groups=groups)
    midp = "mid-p" in result.method[0]
    assert midp == (n_differing >= 7)
    p = enumerated(difference, midp)
    assert result.pvalue[0] == pytest.approx(float(p))
    if not midp:
        other = permutation_test(a, b, groups=groups, method="exact")
        assert result.pvalue[0] == pytest.approx(other.pvalue)


def test_question_means_of_several_samples_are_exact_in_any_denominator():
    rng = np.random.default_rng(3)
    names = np.repeat(np.arange(9), 6)
    systems = {
        "A": evaluation_of(rng.integers(0, 2, 54), question=names),
        "B": evaluation_of(rng.integers(0, 2, 27), question=names[::2]),
    }
    aligned = align_evaluations(systems)
    result = compare_systems(aligned)
    sixths = np.rint(6 * (aligned.score[:, 1] - aligned.score[:, 0])).astype(int)
    expected = enumerated(sixths.tolist(), np.count_nonzero(sixths) >= 7)
    assert result.pvalue[0] == pytest.approx(float(expected))
    assert "questions" in result.method[0]


def test_scores_without_a_common_fraction_are_enumerated_if_they_are_few():
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 12))
    result = compare_systems({"A": a, "B": b})
    size = (b - a).tolist()
    expected = float(enumerated([Fraction(x) for x in size], True))
    assert result.pvalue[0] == pytest.approx(expected)


def test_mid_p_is_used_up_to_three_quarters_of_discordant_questions():
    for n, midp in ((12, True), (11, False)):
        result = compare_systems(tables(n, 8, 1))
        expected = mcnemar_test(1, 8, mid_p=midp).pvalue
        assert result.pvalue[0] == expected
        # nine of n half points, which sign flips compare
        halves = {name: score / 2 for name, score in tables(n, 8, 1).items()}
        expected = enumerated([1] * 8 + [-1], midp)
        assert compare_systems(halves).pvalue[0] == pytest.approx(float(expected))


def test_sums_that_are_equal_up_to_rounding_are_ties():
    # differences a, b, -(a + b), c, d, -(c + d) and e, as rows of coefficients
    rows = [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [-1, -1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, -1, -1, 0],
        [0, 0, 0, 0, 1],
    ]
    size = np.random.default_rng(2).random(5) / 3
    above = equal = 0
    for signs in product((1, -1), repeat=7):
        combination = np.array(signs) @ rows
        if not combination[:4].any():  # plus or minus e
            equal += 1
        else:
            above += abs(combination @ size) > size[4]
    expected = (above + equal / 2) / 2**7
    difference = np.array(rows) @ size
    a = np.where(difference < 0, -difference, 0)
    b = np.where(difference > 0, difference, 0)
    result = compare_systems({"A": a, "B": b})
    assert "exact with mid-p" in result.method[0]
    assert equal == 8
    assert result.pvalue[0] == pytest.approx(expected)


@pytest.mark.parametrize("n", [40, 60])
def test_equal_irrational_differences_are_a_sign_test(n):
    # 25 wins and 15 losses by the same number. If other questions do not differ, ties
    # have half of their weight.
    difference = np.repeat([1, -1, 0], [25, 15, n - 40]) * np.sqrt(0.07)
    a = np.where(difference < 0, -difference, 0)
    b = np.where(difference > 0, difference, 0)
    result = compare_systems({"A": a, "B": b})
    assert result.method[0].endswith("exact with mid-p" if n == 60 else "exact")
    half_of_ties = binom.pmf(15, 40, 0.5) if n == 60 else 0
    expected = binomtest(15, 40).pvalue - half_of_ties
    assert result.pvalue[0] == pytest.approx(expected, rel=1e-12)


def test_a_drawn_p_value_counts_the_observed_signs():
    rng = np.random.default_rng(0)
    a, b = np.zeros(40), 0.1 + rng.random(40) / 2
    result = compare_systems({"A": a, "B": b})
    assert "drawn" in result.method[0]
    assert result.pvalue[0] == result.smallest_pvalue == 1 / 100_001


def test_three_groups_do_not_bound_the_gain():
    # 3 is below the squared quantile, 3.84: no gain is rejected
    groups = np.repeat(np.arange(3), 20)
    a = np.arange(60) % 4 > 0
    b = np.arange(60) % 5 > 0
    for count, bounded in ((3, False), (5, True)):
        groups = np.arange(60) % count
        result = compare_systems({"A": a, "B": b}, groups=groups)
        assert ((result.gain_low[0], result.gain_high[0]) == (-1, 1)) != bounded


def test_many_scores_without_a_common_fraction_are_not_drawn():
    rng = np.random.default_rng(1)
    a = rng.random(300)
    b = np.clip(a + rng.normal(0.02, 0.1, 300), 0, 1)
    result = compare_systems({"A": a, "B": b}, random_state=0)
    assert "saddlepoint" in result.method[0]
    assert result.n_resamples is None
    d = b - a
    z = abs(d.sum()) / np.sqrt(d @ d)
    assert result.pvalue[0] == pytest.approx(2 * norm.sf(z), abs=1e-4)
    again = compare_systems({"A": a, "B": b}, random_state=1)
    assert again.pvalue[0] == result.pvalue[0]


def test_one_difference_that_dominates_and_the_normal_rest():
    d = np.random.default_rng(0).normal(size=300) / 1000
    d[0] = 0.1
    result = compare_systems({"A": 0.5 - d / 2, "B": 0.5 + d / 2})
    assert "inversion" in result.method[0]
    # the large difference has its sign, and the rest is at least as far, on both sides
    z = d[1:].sum() / np.sqrt(d[1:] @ d[1:])
    assert result.pvalue[0] == pytest.approx(norm.sf(z), abs=1e-3)


@pytest.mark.parametrize("kind", ["rounded thirds", "few"])
def test_sign_flips_are_drawn_if_the_sum_is_not_smooth(kind):
    rng = np.random.default_rng(0)
    d = rng.normal(size=30)
    if kind == "rounded thirds":
        d = rng.choice([-2, -1, 1, 2], 300) / 3 + rng.choice([-1e-5, 0, 1e-5], 300) / 7
    result = compare_systems({"A": 0.5 - d / 250, "B": 0.5 + d / 250}, random_state=0)
    assert "drawn" in result.method[0]


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_excludes_zero_where_the_test_rejects(seed):
    rng = np.random.default_rng(seed)
    n, level = 60, rng.choice([0.8, 0.9, 0.95])
    a = rng.random(n) < 0.5
    b = rng.random(n) < rng.choice([0.5, 0.7])
    groups = rng.choice([None, 1]) and rng.integers(0, 12, n)
    result = compare_systems({"A": a, "B": b}, groups=groups, confidence_level=level)
    excludes = result.gain_low[0] > 0 or result.gain_high[0] < 0
    assert excludes == (result.pvalue[0] < 1 - level)
    assert result.gain_low[0] <= result.gain[0] <= result.gain_high[0]


def of_table(wins, losses, n):
    """Compare two systems with these numbers of discordant questions."""
    a, b = np.zeros(n), np.zeros(n)
    b[:wins] = 1
    a[wins : wins + losses] = 1
    return compare_systems({"A": a, "B": b})


@pytest.mark.parametrize(
    ("wins", "losses", "n"), [(0, 0, 50), (1, 0, 44), (9, 3, 60), (2, 11, 30)]
)
def test_intervals_end_where_tangos_statistic_is_the_quantile(wins, losses, n):
    """The variance is that of the most likely table with this gain."""

    def statistic(gain):
        def minus_log_likelihood(share):
            chances = (share + gain, share, 1 - gain - 2 * share)
            counts = (wins, losses, n - wins - losses)
            return -sum(xlogy(k, p) for k, p in zip(counts, chances, strict=True))

        low, high = max(0, -gain), (1 - gain) / 2
        found = minimize_scalar(
            minus_log_likelihood, bounds=(low, high), options={"xatol": 1e-12}
        )
        variance = n * (2 * found.x + gain - gain**2)
        return (wins - losses - n * gain) / np.sqrt(variance)

    result, z = of_table(wins, losses, n), norm.ppf(0.975)
    assert statistic(result.gain_low[0]) == pytest.approx(z, rel=1e-4)
    assert statistic(result.gain_high[0]) == pytest.approx(-z, rel=1e-4)
    if wins == losses == 0:
        assert result.gain_high[0] == pytest.approx(z**2 / (n + z**2), abs=1e-9)


@pytest.mark.parametrize(("wins", "losses"), [(3, 0), (2, 1), (0, 3)])
def test_smallest_pvalue_is_for_the_questions_that_differ(wins, losses):
    scores = tables(100, wins, losses)
    found = compare_systems(scores)
    # all three for one system: both tails minus the mid-p half, 2 / 8 - 1 / 8
    assert found.smallest_pvalue == 0.125
    assert (found.pvalue[0] == 0.125) == (0 in (wins, losses))
    # half points are verdicts in another unit
    halves = {name: score / 2 for name, score in scores.items()}
    assert compare_systems(halves).smallest_pvalue == 0.125
    # three different scores: sign flips of three questions have no mid-p
    partial = {name: np.append(score / 2, 1) for name, score in scores.items()}
    assert compare_systems(partial).smallest_pvalue == 0.25


@pytest.mark.parametrize(("scale", "origin"), [(100, 0), (0.5, 0), (1, 1), (0.3, 7.1)])
@pytest.mark.parametrize("n", [9, 40, 150])
def test_verdicts_in_another_unit_have_the_same_p_values(n, scale, origin):
    scores = tables(n, 6, 1)
    other = {name: origin + scale * score for name, score in scores.items()}
    one, two = compare_systems(scores), compare_systems(other)
    assert two.pvalue == pytest.approx(one.pvalue, rel=1e-12)
    if scale + origin > 1:  # otherwise there may be partial credit
        assert two.high == pytest.approx(origin + scale * one.high)
        assert two.gain_low == pytest.approx(scale * one.gain_low)
        assert two.detectable_gain() == pytest.approx(scale * one.detectable_gain())
        more = one.questions_needed(0.2)
        assert two.questions_needed(0.2 * scale) == pytest.approx(more)
        least = one.noninferiority_pvalue(0.1)
        assert two.noninferiority_pvalue(0.1 * scale) == pytest.approx(least)
        least = one.equivalence_pvalue(0.1)
        assert two.equivalence_pvalue(0.1 * scale) == pytest.approx(least)
    for alternative in ("two-sided", "greater", "less"):
        for test in (paired_bootstrap_test, permutation_test):
            found, expected = (
                test(each["A"], each["B"], alternative=alternative, random_state=0)
                for each in (other, scores)
            )
            assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
            ends, wanted = (
                np.array(getattr(each, "confidence_interval", (0, 0)))
                for each in (found, expected)
            )
            assert ends == pytest.approx(scale * wanted, rel=1e-9, abs=1e-12)


def test_smallest_pvalue_of_other_tests():
    # nine questions, all discordant: no mid-p, 2 / 2^9
    assert compare_systems(tables(9, 4, 5)).smallest_pvalue == 2**-8
    # sign flips of nine questions that all differ by one half: no mid-p either
    halves = {name: score / 2 for name, score in tables(9, 4, 5).items()}
    assert compare_systems(halves).smallest_pvalue == 2**-8
    # seven groups, of 1 to 7 questions: only all signs equal are as extreme, and
    # half of their chance of 2 / 2^7 is counted
    groups = np.repeat(np.arange(7), np.arange(1, 8))
    found = compare_systems({"A": np.zeros(28), "B": np.ones(28)}, groups=groups)
    assert found.method == ["sign flips of 7 groups, exact with mid-p"]
    assert found.smallest_pvalue == found.pvalue[0] == 2**-7
    # drawn sign flips: one of 100,000 and the observed flip
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 40))
    drawn = compare_systems({"A": a, "B": b})
    assert "drawn" in drawn.method[0]
    assert drawn.smallest_pvalue == 1 / 100_001
    # the smallest of several pairs, and 1 if no question differs
    scores = tables(100, 3, 0)
    assert compare_systems({**scores, "C": np.zeros(100)}).smallest_pvalue < 1e-20
    assert compare_systems({"A": scores["A"], "B": scores["A"]}).smallest_pvalue == 1


def test_systems_that_agree_everywhere_have_an_interval():
    right = np.arange(30) % 2
    for groups in (None, np.repeat(np.arange(10), 3)):
        result = compare_systems({"A": right, "B": right}, groups=groups)
        assert result.pvalue[0] == 1
        assert result.gain_low[0] < -0.05 < 0.05 < result.gain_high[0]


def test_swapping_the_systems_mirrors_the_gain():
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 50)) < [[0.5], [0.7]]
    groups = rng.integers(0, 15, 50)
    for each in (None, groups):
        first = compare_systems({"A": a, "B": b}, groups=each)
        second = compare_systems({"B": b, "A": a}, groups=each)
        assert second.gain[0] == -first.gain[0]
        assert second.pvalue[0] == first.pvalue[0]
        assert second.gain_low[0] == pytest.approx(-first.gain_high[0], abs=1e-12)
        assert (second.wins[0], second.losses[0]) == (first.losses[0], first.wins[0])


def test_margins():
    result = compare_systems(tables(400, 20, 22))
    p = result.noninferiority_pvalue(0.05)[0]
    assert p < 0.025
    assert result.gain_low[0] > -0.05
    assert result.equivalence_pvalue(0.05)[0] < 0.025
    assert result.noninferiority_pvalue(0.01)[0] > 0.05
    groups = np.arange(400) % 40
    grouped = compare_systems(tables(400, 20, 22), groups=groups)
    assert (grouped.noninferiority_pvalue(0.05)[0] < 0.025) == (
        grouped.gain_low[0] > -0.05
    )
    with pytest.raises(ValueError, match="margin"):
        result.noninferiority_pvalue(-0.1)


def test_power_of_independent_answers_is_that_of_enumeration():
    result = compare_systems(tables(300, 15, 15))
    gain = result.detectable_gain()[0]
    share = 30.5 / 301
    p_win, p_loss = (share + gain) / 2, (share - gain) / 2
    power = 0.0
    for d in range(301):
        p = binom.pmf(d, 300, share)
        if p > 1e-9:
            w = np.arange(d + 1)
            fewer = np.minimum(w, d - w)
            tail = 2 * binom.cdf(fewer, d, 0.5) - binom.pmf(fewer, d, 0.5)
            power += p * binom.pmf(w, d, p_win / share)[tail <= 0.05].sum()
    assert power == pytest.approx(0.8, abs=0.02)
    assert result.questions_needed(gain)[0] == pytest.approx(300, abs=2)
    assert p_loss > 0
    with pytest.raises(ValueError, match="must not be 0"):
        result.questions_needed(0)


def test_power_of_small_gains_has_the_standard_error_of_the_interval():
    # Gains of .01 and .03, ten each: the standard error is .01 / sqrt(19).
    a = np.linspace(0.2, 0.8, 20)
    result = compare_systems({"A": a, "B": a + np.tile([0.01, 0.03], 10)})
    # 2.0930 is the quantile .975 of Student's distribution with 19 degrees of freedom.
    expected = (2.0930 + 0.8416) * 0.01 / 19**0.5
    assert result.detectable_gain()[0] == pytest.approx(expected, rel=1e-4)
    assert result.questions_needed(expected)[0] == pytest.approx(20, abs=1)
    # Ten groups of entities, of which 90 + k and 80 + k are found among 200.
    k = np.arange(10) % 3
    few, more = (np.c_[m + k, 100 + 0 * k, 100 + 0 * k] for m in (80, 90 + 4 * k))
    of_sums = compare_systems({"A": few, "B": more}, statistic="f1")
    # The gains of groups are .1 + .04 k with k = 0, 1, 2, 0, ..., 0.
    error = (0.1 + 0.04 * k).std(ddof=1) / 10**0.5
    expected = (2.2622 + 0.8416) * error
    assert of_sums.detectable_gain()[0] == pytest.approx(expected, rel=1e-4)


def test_groups_of_systems_that_are_not_separated():
    names = list("dcba")
    scores = {
        name: np.r_[np.ones(40 * k), np.zeros(160 - 40 * k)]
        for k, name in enumerate(names, 1)
    }
    result = compare_systems(scores)
    assert result.not_separated() == [["a"], ["b"], ["c"], ["d"]]
    flat = compare_systems({name: np.ones(10) for name in names})
    assert flat.not_separated() == [names]
    assert set(flat.letters().values()) == {"a"}


def test_letters_share_one_if_and_only_if_the_pair_is_not_separated():
    rng = np.random.default_rng(8)
    ease = rng.random(200)
    scores = {f"s{k}": rng.random(200) < ease ** (0.4 + 0.15 * k) for k in range(9)}
    result = compare_systems(scores)
    letters = result.letters()
    for (a, b), p in zip(result.pairs, result.pvalue_adjusted, strict=True):
        assert bool(set(letters[a]) & set(letters[b])) == (p > 0.05)


def test_evaluations_are_matched_first():
    systems = {
        "A": evaluation_of([1, 0, 1], question=list("abc"), groups={"src": [1, 1, 2]}),
        "B": evaluation_of([1, 1, 0], question=list("cba")),
    }
    result = compare_systems(systems)
    assert (result.wins[0], result.losses[0]) == (1, 1)
    grouped = compare_systems(align_evaluations(systems), groups="src")
    assert grouped.n_groups == 2
    with pytest.raises(ValueError, match="name a column of the evaluations .'src'"):
        compare_systems(align_evaluations(systems), groups="subject")


@pytest.mark.parametrize("unit", [1, 0.5])
def test_groups_of_one_question_give_the_comparison_without_groups(unit):
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (2, 40)) * unit
    b[:9] = unit
    plain = compare_systems({"a": a, "b": b})
    single = compare_systems({"a": a, "b": b}, groups=rng.permutation(40))
    for name in ("pvalue", "low", "high", "gain_low", "gain_high"):
        np.testing.assert_array_equal(getattr(single, name), getattr(plain, name))
    copies = compare_systems(
        {"a": np.repeat(a, 2), "b": np.repeat(b, 2)}, groups=np.arange(80) // 2
    )
    rows = compare_systems({"a": np.repeat(a, 2), "b": np.repeat(b, 2)})
    assert copies.gain_high - copies.gain_low > rows.gain_high - rows.gain_low


def test_power_of_small_differences_in_groups_is_that_of_simulation():
    # Scores that differ by hundredths, in 71 groups of 20 questions.
    rng, n, of = np.random.default_rng(0), 71, 20
    groups = np.repeat(np.arange(n), of)

    def draw(gain):
        effect = np.repeat(rng.normal(0, 0.02, n), of)
        return 0.5 + rng.normal(0, 0.02, n * of), 0.5 + effect + gain

    base, new = draw(0.0)
    gain = compare_systems({"A": base, "B": new}, groups=groups).detectable_gain()[0]
    # z(0.975) + z(0.8) standard errors of the mean of 71 means
    error = np.sqrt((0.02**2 + 0.02**2 / of) / n)
    assert gain == pytest.approx(2.8 * error, rel=0.2)
    found = compare_systems({"A": base, "B": new}, groups=groups).questions_needed(
        gain
    )[0]
    assert found == pytest.approx(n * of, rel=0.01)
    differences = (np.subtract(*draw(gain)[::-1]).reshape(n, of) for _ in range(500))
    t = [d.mean() / (d.mean(axis=1).std(ddof=1) / np.sqrt(n)) for d in differences]
    assert np.mean(np.array(t) > 1.99) == pytest.approx(0.8, abs=0.12)
