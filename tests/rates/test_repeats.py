"""pass@k and pass^k by enumeration, and the split of a variance."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from skcalib.experimental import sample_variance
from skcalib.rates import pass_at_k


@pytest.mark.parametrize("all_of", [False, True])
@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 2), (5, 3), (5, 5)])
def test_estimates_are_means_over_all_choices_of_k_samples(n, k, all_of):
    rng = np.random.default_rng(n + k)
    samples = rng.integers(0, 2, (7, n))
    rule = np.all if all_of else np.any
    expected = np.mean(
        [
            np.mean([rule(row[list(chosen)]) for chosen in combinations(range(n), k)])
            for row in samples
        ]
    )
    result = pass_at_k(samples.sum(axis=1), n, k=k, all_of=all_of)
    assert result.estimate == pytest.approx(expected)
    assert 0 <= result.low <= result.estimate <= result.high <= 1


def test_the_published_formula():
    n, c, k = 200, 13, 100
    expected = 1 - comb(n - c, k) / comb(n, k)
    assert pass_at_k([c, c], n, k=k).estimate == pytest.approx(expected, rel=1e-12)


def test_k_beyond_the_samples_is_an_error():
    with pytest.raises(ValueError, match=r"Got 4 and 3 samples of question 1.* 1 of 3"):
        pass_at_k([1, 1, 1], [5, 3, 4], k=4)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([], 3), "at least one"),
        (([4], 3), "Got 4 of 3 in row 0"),
        (([1.5], 3), "must contain integers of at most 100,000. Got 1.5 in row 0"),
        (([1, 2], [3, 3, 3]), "one per question"),
    ],
)
def test_other_arguments_are_errors(arguments, error):
    with pytest.raises(ValueError, match=error):
        pass_at_k(*arguments, k=1)


def test_questions_in_groups_have_a_wider_interval():
    rng = np.random.default_rng(0)
    chance = np.repeat(rng.beta(0.5, 0.5, 12), 5)
    right = rng.binomial(4, chance)
    alone = pass_at_k(right, 4, k=2)
    grouped = pass_at_k(right, 4, k=2, groups=np.repeat(np.arange(12), 5))
    assert grouped.estimate == alone.estimate
    assert grouped.high - grouped.low > alone.high - alone.low
    assert grouped.method == "Wilson"


def test_all_right_and_all_wrong():
    for right in (0, 4):
        for all_of in (False, True):
            result = pass_at_k([right] * 15, 4, k=2, all_of=all_of)
            assert result.estimate == right / 4
            assert result.high - result.low > 0.03


@pytest.mark.slow
@pytest.mark.parametrize("all_of", [False, True])
@pytest.mark.parametrize(("a", "b"), [(0.6, 0.4), (2, 6)])
def test_intervals_cover(a, b, all_of):
    rng = np.random.default_rng(5)
    n, m, k, n_replicates = 30, 8, 4, 300
    p = rng.beta(a, b, 1_000_000)
    true = (p**k).mean() if all_of else (1 - (1 - p) ** k).mean()
    covered = 0
    for _ in range(n_replicates):
        right = rng.binomial(m, rng.beta(a, b, n))
        result = pass_at_k(right, m, k=k, all_of=all_of)
        covered += result.low <= true <= result.high
    # three standard errors below .93
    assert covered / n_replicates > 0.885


def test_the_split_of_a_variance_by_hand():
    # Means 1, .5 and 0: variance .25. Within: 0, .5 and 0, so 1/6, and 1/12 of means.
    result = sample_variance([1, 1, 0, 1, 0, 0], question=[0, 0, 1, 1, 2, 2])
    assert result.standard_error == pytest.approx(np.sqrt(0.25 / 3))
    assert result.within == pytest.approx(1 / 6)
    assert result.between == pytest.approx(1 / 4 - 1 / 12)
    assert result.share_of_samples == pytest.approx(1 / 3)
    assert result.standard_error_more_samples == pytest.approx(
        np.sqrt((1 / 6 + 1 / 24) / 3)
    )
    assert result.standard_error_more_questions == pytest.approx(np.sqrt(0.125 / 3))
    assert "questions more" in result.advice


def test_the_split_finds_the_variances_of_a_simulation():
    rng = np.random.default_rng(1)
    chance = np.repeat(rng.beta(2, 2, 4000), 5)
    score = rng.random(chance.size) < chance
    result = sample_variance(score, question=np.repeat(np.arange(4000), 5))
    assert result.between == pytest.approx(1 / 20, rel=0.1)
    assert result.within == pytest.approx(1 / 4 - 1 / 20, rel=0.05)


@pytest.mark.parametrize("wrong", [5, -0.1, np.nan, np.inf])
def test_scores_of_samples_are_in_0_1(wrong):
    score, question = [0.5, wrong, 1, 0], [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"'score' .* in \[0, 1\]. Got .* in row 1"):
        sample_variance(score, question=question)
