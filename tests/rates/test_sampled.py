"""Answers and confidences from repeated samples."""

import itertools
from math import log

import numpy as np
import pytest

from skcalib.metrics import calibration_error_interval
from skcalib.rates import sampled_confidence


def test_a_table_worked_by_hand():
    result = sampled_confidence(
        [["b", "a", "A ", "c", "a."], ["x", "y"], ["\uff11  km", "1 km", "2 km"]]
    )
    assert result.answer.tolist() == ["a", "x", "\uff11  km"]
    assert result.chosen.tolist() == [1, 0, 0]
    np.testing.assert_allclose(result.share, [3 / 5, 1 / 2, 2 / 3])
    np.testing.assert_allclose(result.same, [3 / 10, 0, 1 / 3])
    entropy = [-0.6 * log(0.6) - 0.4 * log(0.2), log(2), log(3) - 2 / 3 * log(2)]
    np.testing.assert_allclose(result.entropy, entropy)
    assert [each.tolist() for each in result.cluster] == [
        [0, 1, 1, 2, 1],
        [0, 1],
        [0, 0, 1],
    ]
    assert result.n_draws.tolist() == [5, 2, 3]
    assert result.conflict == 0


def test_numbers_and_texts_that_look_alike_are_different_answers():
    result = sampled_confidence([[".5", "5", "-5"], [1, "1", 2]])
    assert result.share.tolist() == [1 / 3, 1 / 3]


def test_clusters_are_connected_components_and_conflicts_are_counted():
    # 0 - 1 - 2 is a chain without 0 - 2; 3 points to 0, but 0 does not point to 3.
    chain = np.eye(4)
    chain[0, 1] = chain[1, 0] = chain[1, 2] = chain[2, 1] = chain[3, 0] = 1
    pair = np.ones((2, 2))
    result = sampled_confidence(
        [["p", "q", "r", "s"], ["p", "q"]], equivalent=[chain, pair]
    )
    assert [each.tolist() for each in result.cluster] == [[0, 0, 0, 1], [0, 0]]
    assert result.conflict == 1 / 4  # of 3 + 1 pairs of samples in one cluster
    assert result.answer.tolist() == ["p", "p"]


def test_labels_of_clusters_in_an_array():
    labels = np.array([[3, 1, 1], [2, 2, 2]])
    result = sampled_confidence(labels)
    assert result.answer.tolist() == [1, 2]
    assert result.entropy[1] == 0
    assert result.frame().shape == (2, 6)


def left_out_by_loops(draws):
    """Return (agrees, agreeing others, answer) with each sample left out."""
    found = []
    for j, out in enumerate(draws):
        rest = draws[:j] + draws[j + 1 :]
        most = max(map(rest.count, rest))
        answer = next(each for each in rest if rest.count(each) == most)
        found.append((answer == out, most, answer))
    return sorted(found)


def test_the_answer_is_chosen_again_without_each_sample():
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, 4, rng.integers(2, 8)).tolist() for _ in range(200)]
    result = sampled_confidence(draws)
    left = result._left_out
    for i, own in enumerate(draws):
        rows = np.flatnonzero((left["question"] == i) & (left["weight"] > 0))
        found = []
        for row in rows:
            times = round(left["weight"][row] * len(own))
            answer = own[left["chosen"][row]]
            found += times * [(left["left_out"][row], left["count"][row], answer)]
        assert sorted(found) == left_out_by_loops(own)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_residuals_of_a_calibrated_model_have_mean_zero_given_the_other_samples(k):
    # Three answers; the right one is drawn from the same distribution as the samples.
    total = {}
    for p in ([0.5, 0.3, 0.2], [0.9, 0.1, 0.0]):
        for *draws, truth in itertools.product(range(3), repeat=k + 1):
            chance = np.prod([p[each] for each in (*draws, truth)])
            right = [[each == truth for each in draws]]
            _, rows = sampled_confidence([draws])._rows(right)
            for q, residual in zip(
                rows.proba / rows.weight, rows.residual, strict=True
            ):
                total[round(q, 9)] = total.get(round(q, 9), 0) + chance * residual
    np.testing.assert_allclose(list(total.values()), 0, atol=1e-14)


def samples(n, k, seed, a=0.8):
    """Return draws of two answers, and whether each is right; p is Beta(a, a)."""
    rng = np.random.default_rng(seed)
    p = rng.beta(a, a, n)[:, np.newaxis]
    draws = (rng.random((n, k)) < p).astype(int)
    return draws, draws == (rng.random((n, 1)) < p)


def test_the_choice_is_part_of_the_estimate():
    draws, right = samples(2000, 5, seed=4)
    result = sampled_confidence(draws)
    found = result.calibration_error_interval(right)
    assert found.low == 0
    assert found.high < 0.05
    given = right[np.arange(2000), result.chosen]
    # with the answers taken as chosen in advance
    assert calibration_error_interval(given, result.share, n_draws=5).low > 0.1
    by_group = result.calibration_error_interval(right, groups=np.arange(2000) // 2)
    assert by_group.n_groups == 1000
    assert by_group.estimate == pytest.approx(found.estimate, abs=0.01)


def test_an_overconfident_model_is_found():
    rng = np.random.default_rng(2)
    draws, _ = samples(2000, 5, seed=2, a=0.3)
    right = draws == rng.integers(0, 2, (2000, 1))
    found = sampled_confidence(draws).calibration_error_interval(right)
    # The right answer does not depend on p, so p - y has the mean E[p | v] - 1 / 2.
    assert 0.3 < found.low < found.estimate < 0.5


def test_shrunk_shares_are_posterior_means():
    k, a = 5, 0.8
    draws, right = samples(20_000, k, seed=3, a=a)
    result = sampled_confidence(draws)
    # Both answers are alike, so the choice does not change the posterior.
    expected = (result.share * k + a) / (k + 2 * a)
    np.testing.assert_allclose(result.shrunk, expected, atol=0.015)
    given = right[np.arange(20_000), result.chosen]
    assert calibration_error_interval(given, result.shrunk).high < 0.02
    assert calibration_error_interval(given, result.share).low > 0.06


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "sequence of answers for each question"),
        ("abc", "sequence of answers for each question"),
        (["ab", "cd"], "Got 'ab' for question 0"),
        ([["a", "b"], ["a"]], "at least two samples of each question. Got 1 of"),
        ([["a", None]], "Got None in sample 1 of question 0"),
        ([["a", float("nan")]], "Got nan in sample 1 of question 0"),
        ([["a", ["b"]]], "Got list in sample 1 of question 0"),
    ],
)
def test_bad_answers_raise_an_error(answers, message):
    with pytest.raises(ValueError, match=message):
        sampled_confidence(answers)


@pytest.mark.parametrize(
    ("equivalent", "message"),
    [
        ([], "one matrix for each of 1 questions. Got 0"),
        ([np.eye(3)], r"shape \(2, 2\) for the 2 samples of question 0"),
        ([np.full((2, 2), 0.5)], "contain 0 and 1"),
    ],
)
def test_bad_judgements_raise_an_error(equivalent, message):
    with pytest.raises(ValueError, match=message):
        sampled_confidence([["a", "b"]], equivalent=equivalent)


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ([[1, 0]], "values for each of 2 questions. Got 1"),
        ([[1, 0], [1]], "Got 1 values and 2 samples of question 1"),
        ([[1, 0], [1, 2]], "Got 2 in question 1"),
    ],
)
def test_bad_labels_raise_an_error(right, message):
    result = sampled_confidence([["a", "b"], ["a", "a"]])
    with pytest.raises(ValueError, match=message):
        result.calibration_error_interval(right)
