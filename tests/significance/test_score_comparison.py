"""Gains of mean scores: tests by enumeration, intervals by their meaning."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, binomtest, norm

from skcalib.evaluation import align_evaluations, evaluation_of
from skcalib.significance import compare_scores, mcnemar_test, permutation_test
from skcalib.significance._score_gains import limits_of_gains, mcnemar_gains
from skcalib.significance._score_tests import tango_limits, tango_statistic


def tables(n, wins, losses):
    """Return scores of two systems with these numbers of wins of the second."""
    first = np.repeat([0, 1, 1], [wins, losses, n - wins - losses])
    second = np.repeat([1, 0, 1], [wins, losses, n - wins - losses])
    return {"A": first, "B": second}


@pytest.mark.parametrize(
    ("n", "wins", "losses"), [(30, 9, 3), (40, 0, 6), (99, 20, 20)]
)
def test_independent_answers_have_mcnemars_midp_test(n, wins, losses):
    result = compare_scores(tables(n, wins, losses))
    expected = mcnemar_test(losses, wins, mid_p=True).pvalue
    assert result.pvalue[0] == pytest.approx(expected, rel=1e-12)
    if wins != losses:  # half of the chance of what was seen, in both tails
        seen = binom.pmf(wins, wins + losses, 0.5)
        exact = binomtest(wins, wins + losses).pvalue
        assert result.pvalue[0] == pytest.approx(exact - seen, rel=1e-12)
    assert result.method == ["McNemar's exact test with mid-p"]
    assert (result.wins[0], result.losses[0]) == (wins, losses)
    assert result.gain[0] == pytest.approx((wins - losses) / n)


def test_midp_is_left_out_where_most_questions_are_discordant():
    result = compare_scores(tables(10, 7, 1))
    assert result.pvalue[0] == pytest.approx(mcnemar_test(1, 7).pvalue)
    assert result.method == ["McNemar's exact test"]


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
    result = compare_scores({"A": a, "B": b}, groups=groups)
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
    result = compare_scores(aligned)
    sixths = np.rint(6 * (aligned.score[:, 1] - aligned.score[:, 0])).astype(int)
    expected = enumerated(sixths.tolist(), np.count_nonzero(sixths) >= 7)
    assert result.pvalue[0] == pytest.approx(float(expected))
    assert "questions" in result.method[0]


def test_scores_without_a_common_fraction_are_enumerated_if_they_are_few():
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 12))
    result = compare_scores({"A": a, "B": b})
    size = (b - a).tolist()
    expected = float(enumerated([Fraction(x) for x in size], True))
    assert result.pvalue[0] == pytest.approx(expected)


def test_many_scores_without_a_common_fraction_are_drawn():
    rng = np.random.default_rng(1)
    a = rng.random(300)
    b = np.clip(a + rng.normal(0.02, 0.1, 300), 0, 1)
    result = compare_scores({"A": a, "B": b})
    assert "drawn" in result.method[0]
    d = b - a
    z = abs(d.sum()) / np.sqrt(d @ d)
    assert result.pvalue[0] == pytest.approx(2 * norm.sf(z), abs=1e-4)
    again = compare_scores({"A": a, "B": b})
    assert again.pvalue[0] == result.pvalue[0]


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_excludes_zero_where_the_test_rejects(seed):
    rng = np.random.default_rng(seed)
    n, level = 60, rng.choice([0.8, 0.9, 0.95])
    a = rng.random(n) < 0.5
    b = rng.random(n) < rng.choice([0.5, 0.7])
    groups = rng.choice([None, 1]) and rng.integers(0, 12, n)
    result = compare_scores({"A": a, "B": b}, groups=groups, confidence_level=level)
    excludes = result.gain_low[0] > 0 or result.gain_high[0] < 0
    assert excludes == (result.pvalue[0] < 1 - level)
    assert result.gain_low[0] <= result.gain[0] <= result.gain_high[0]


@pytest.mark.parametrize(("wins", "losses", "n"), [(1, 0, 44), (9, 3, 60), (2, 11, 30)])
@pytest.mark.parametrize("gain", [-0.2, -0.05, 0.1, 0.3])
def test_tangos_statistic_has_the_variance_of_the_most_likely_table(
    wins, losses, n, gain
):
    def minus_log_likelihood(share):
        chances = (share + gain, share, 1 - gain - 2 * share)
        counts = (wins, losses, n - wins - losses)
        return -sum(xlogy(k, p) for k, p in zip(counts, chances, strict=True))

    low, high = max(0, -gain), (1 - gain) / 2
    found = minimize_scalar(
        minus_log_likelihood, bounds=(low, high), options={"xatol": 1e-12}
    )
    variance = n * (2 * found.x + gain - gain**2)
    expected = (wins - losses - n * gain) / np.sqrt(variance)
    z = tango_statistic(np.array([wins]), np.array([losses]), n, np.array([gain]))
    assert z[0] == pytest.approx(expected, rel=1e-4)


def test_tangos_interval_without_a_discordant_question():
    z = norm.ppf(0.975)
    low, high = tango_limits(np.array([0]), np.array([0]), 50, z)
    assert high[0] == pytest.approx(z**2 / (50 + z**2), abs=1e-9)
    assert low[0] == -high[0]


@pytest.mark.parametrize(
    ("n", "p_win", "p_loss"), [(20, 0.1, 0.1), (50, 0.2, 0.05), (100, 0.02, 0.1)]
)
def test_intervals_of_independent_answers_cover(n, p_win, p_loss):
    # Exact coverage: the sum over all tables that are not too rare.
    wins, losses, chance = [], [], []
    for d in range(n + 1):
        p = binom.pmf(d, n, p_win + p_loss)
        if p < 1e-6:
            continue
        for w in range(d + 1):
            q = p * binom.pmf(w, d, p_win / (p_win + p_loss))
            if q > 1e-7:
                wins.append(w), losses.append(d - w), chance.append(q)
    w, lo, q = map(np.array, (wins, losses, chance))
    pvalue, _, moments = mcnemar_gains(np.zeros((n, 2)), w, lo)
    low, high = limits_of_gains(moments, (w - lo) / n, pvalue, 0.95)
    true = p_win - p_loss
    assert q.sum() > 0.999
    assert 0.935 < q[(low <= true) & (true <= high)].sum() < 0.985


def test_few_groups_cannot_reject_and_say_so():
    groups = np.repeat(np.arange(4), 10)
    result = compare_scores({"A": np.zeros(40), "B": np.ones(40)}, groups=groups)
    assert result.smallest_pvalue == 0.125
    assert result.pvalue[0] == 0.125
    assert (result.gain_low[0], result.gain_high[0]) == (-1, 1) or result.gain_low[
        0
    ] <= 0


def test_systems_that_agree_everywhere_have_an_interval():
    right = np.arange(30) % 2
    for groups in (None, np.repeat(np.arange(10), 3)):
        result = compare_scores({"A": right, "B": right}, groups=groups)
        assert result.pvalue[0] == 1
        assert result.gain_low[0] < -0.05 < 0.05 < result.gain_high[0]


def test_swapping_the_systems_mirrors_the_gain():
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 50)) < [[0.5], [0.7]]
    groups = rng.integers(0, 15, 50)
    for each in (None, groups):
        first = compare_scores({"A": a, "B": b}, groups=each)
        second = compare_scores({"B": b, "A": a}, groups=each)
        assert second.gain[0] == -first.gain[0]
        assert second.pvalue[0] == first.pvalue[0]
        assert second.gain_low[0] == pytest.approx(-first.gain_high[0], abs=1e-12)
        assert (second.wins[0], second.losses[0]) == (first.losses[0], first.wins[0])


def test_margins():
    result = compare_scores(tables(400, 20, 22))
    p = result.noninferiority_pvalue(0.05)[0]
    assert p < 0.025
    assert result.gain_low[0] > -0.05
    assert result.equivalence_pvalue(0.05)[0] < 0.025
    assert result.noninferiority_pvalue(0.01)[0] > 0.05
    groups = np.arange(400) % 40
    grouped = compare_scores(tables(400, 20, 22), groups=groups)
    assert (grouped.noninferiority_pvalue(0.05)[0] < 0.025) == (
        grouped.gain_low[0] > -0.05
    )
    with pytest.raises(ValueError, match="margin"):
        result.noninferiority_pvalue(-0.1)


def test_power_of_independent_answers_is_that_of_enumeration():
    result = compare_scores(tables(300, 15, 15))
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


def test_groups_of_systems_that_are_not_separated():
    names = list("dcba")
    scores = {
        name: np.r_[np.ones(40 * k), np.zeros(160 - 40 * k)]
        for k, name in enumerate(names, 1)
    }
    result = compare_scores(scores)
    assert result.not_separated() == [["a"], ["b"], ["c"], ["d"]]
    flat = compare_scores({name: np.ones(10) for name in names})
    assert flat.not_separated() == [names]
    assert set(flat.letters().values()) == {"a"}


def test_letters_share_one_if_and_only_if_the_pair_is_not_separated():
    rng = np.random.default_rng(8)
    ease = rng.random(200)
    scores = {f"s{k}": rng.random(200) < ease ** (0.4 + 0.15 * k) for k in range(9)}
    result = compare_scores(scores)
    letters = result.letters()
    for (a, b), p in zip(result.pairs, result.pvalue_adjusted, strict=True):
        assert bool(set(letters[a]) & set(letters[b])) == (p > 0.05)


def test_matrix_and_repr():
    result = compare_scores({**tables(30, 9, 3), "C": np.zeros(30)})
    assert result.matrix("gain")[0, 1] == -result.matrix("gain")[1, 0] == result.gain[0]
    assert result.matrix()[0, 0] == 1
    assert repr(result).startswith("ScoreComparison(3 systems, 3 pairs, 2 with")
    numbers = result.to_dict()
    assert numbers["systems"]["A"] == [result.score[0], result.low[0], result.high[0]]
    assert numbers["gain"] == result.gain.tolist()
    assert numbers["n_questions"] == 30


@pytest.mark.parametrize(
    ("systems", "options", "error"),
    [
        ({"A": [1, 0]}, {}, "at least two systems"),
        ([1, 0], {}, "mapping"),
        ({"A": [1, 0], "B": [1]}, {}, r"shape \(2,\)"),
        ({"A": [1, 0], "B": [1, 3]}, {}, "3.0 in row 1 of 'B'"),
        ({"A": [1], "B": [0]}, {}, "at least two questions"),
        ({"A": [1, 0], "B": [0, 1]}, {"groups": [1, 1]}, "at least two groups"),
        ({"A": [1, 0], "B": [0, 1]}, {"groups": "src"}, "must be an array"),
        ({"A": [1, 0], "B": [0, 1]}, {"adjust": "x"}, "adjust"),
    ],
)
def test_other_arguments_are_errors(systems, options, error):
    with pytest.raises(ValueError, match=error):
        compare_scores(systems, **options)


def test_evaluations_are_matched_first():
    systems = {
        "A": evaluation_of([1, 0, 1], question=list("abc"), groups={"src": [1, 1, 2]}),
        "B": evaluation_of([1, 1, 0], question=list("cba")),
    }
    result = compare_scores(systems)
    assert (result.wins[0], result.losses[0]) == (1, 1)
    grouped = compare_scores(align_evaluations(systems), groups="src")
    assert grouped.n_groups == 2
    with pytest.raises(ValueError, match="name a column of the evaluations .'src'"):
        compare_scores(align_evaluations(systems), groups="subject")
