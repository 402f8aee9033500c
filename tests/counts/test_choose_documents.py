"""Samples of documents to label, and their probabilities."""

import numpy as np
import pytest

from skcalib.counts import choose_documents, corrected_count


def test_probabilities_by_hand():
    # Half is even, 1/4 each; half goes by sd, 1/2, 1/4, 1/8 and 1/8.
    choice = choose_documents([4, 2, 1, 1], 2, random_state=0)
    expected = [3 / 4, 1 / 2, 3 / 8, 3 / 8]
    assert choice.inclusion_probability == pytest.approx(expected, abs=1e-12)
    assert len(choice.index) == 2


def test_probabilities_by_a_known_size_by_hand():
    # Half is even, 1/4 each; half goes by size, 1/8, 1/8, 1/4 and 1/2.
    size = [1, 1, 2, 4]
    alone = choose_documents(None, 2, size=size, random_state=0)
    expected = [3 / 8, 3 / 8, 1 / 2, 3 / 4]
    assert alone.inclusion_probability == pytest.approx(expected, abs=1e-12)
    same = choose_documents(size, 2, random_state=0)
    assert same.index.tolist() == alone.index.tolist()
    # With sd, each has half of this part: sd 1/2, 1/4, 1/8, 1/8 and size 1/8 to 1/2.
    both = choose_documents([4, 2, 1, 1], 2, size=size, random_state=0)
    expected = [9 / 16, 7 / 16, 7 / 16, 9 / 16]
    assert both.inclusion_probability == pytest.approx(expected, abs=1e-12)


def test_probabilities_beyond_one_are_divided_again():
    # 3 * (1/8 + 1/2) > 1: this document is certain, two are drawn of the other three.
    choice = choose_documents([1, 0, 0, 0], 3, random_state=0)
    expected = [1, 2 / 3, 2 / 3, 2 / 3]
    assert choice.inclusion_probability == pytest.approx(expected, abs=1e-12)
    assert choice.index[0] == 0


def test_documents_are_drawn_with_their_probabilities():
    rng = np.random.default_rng(0)
    sd = np.array([5.0, 3, 1, 1, 0.5, 0, 0, 2])
    drawn = np.zeros(8)
    together = np.zeros((8, 8))
    for _ in range(4000):
        choice = choose_documents(sd, 3, random_state=rng)
        assert len(set(choice.index.tolist())) == 3
        drawn[choice.index] += 1
        together[np.ix_(choice.index, choice.index)] += 1
    assert drawn / 4000 == pytest.approx(choice.inclusion_probability, abs=0.035)
    assert (
        together.min() > 0
    )  # all pairs can be drawn, so the variance can be estimated


@pytest.mark.parametrize("mix", [0.05, 0.5, 1])
def test_no_probability_is_zero(mix):
    sd = np.r_[np.zeros(99), 1]
    pi = choose_documents(sd, 10, mix=mix, random_state=0).inclusion_probability
    assert pi.sum() == pytest.approx(10)
    assert pi.min() >= mix * 9 / 99
    assert (1 / pi).max() <= 100 / (10 * mix) * (1 + 1e-9) or mix < 0.5


def test_equal_when_all_is_certain():
    pi = choose_documents(np.zeros(20), 5, random_state=0).inclusion_probability
    assert pi == pytest.approx(np.full(20, 0.25))


def test_strata_have_two_documents_at_least():
    strata = np.repeat(["a", "b", "c", "d"], [50, 40, 5, 1])
    sd = np.where(strata == "a", 1, 0.01)
    choice = choose_documents(sd, 20, strata=strata, random_state=0)
    n = {each: int((strata[choice.index] == each).sum()) for each in "abcd"}
    assert sum(n.values()) == 20
    assert n["d"] == 1
    assert min(n["b"], n["c"]) >= 2
    for each in "abcd":
        total = choice.inclusion_probability[strata == each].sum()
        assert total == pytest.approx(n[each])


def test_whole_corpus():
    choice = choose_documents([1, 2, 3], 3, random_state=0)
    assert choice.index.tolist() == [0, 1, 2]
    assert choice.inclusion_probability.tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "with_strata", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_sample_fits_corrected_count(with_strata):
    rng = np.random.default_rng(0)
    proba = rng.beta(0.5, 1.5, 500)
    truth = rng.random(500) < proba
    strata = np.arange(500) % 4 if with_strata else None
    sd = np.sqrt(proba * (1 - proba))
    estimates = []
    for _ in range(100):
        choice = choose_documents(sd, 60, strata=strata, random_state=rng)
        y_true = np.full(500, np.nan)
        y_true[choice.index] = truth[choice.index]
        pi = choice.inclusion_probability
        result = corrected_count(y_true, proba, inclusion_probability=pi, strata=strata)
        estimates.append(result.estimate)
    error = np.std(estimates) / 10
    assert np.mean(estimates) == pytest.approx(truth.sum(), abs=4 * error)


def test_same_seed_same_sample():
    sd = np.linspace(0, 1, 50)
    first, second = (choose_documents(sd, 9, random_state=3) for _ in range(2))
    assert first.index.tolist() == second.index.tolist()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sd": [1, np.nan], "n": 1}, "'sd'.* row 1"),
        ({"sd": [[1], [2]], "n": 1}, "'sd'.*shape"),
        ({"sd": None, "n": 1}, "'sd' .* if `size` is None"),
        ({"sd": [1, 2], "size": [1, -1], "n": 1}, "'size'.* row 1"),
        ({"sd": [1, 2], "size": [1], "n": 1}, "'size'.*2 documents"),
        ({"sd": [1, 2], "n": 0}, "'n'.*at least 1"),
        ({"sd": [1, 2], "n": 1, "mix": 0}, "'mix'.*positive"),
        ({"sd": [1, 2], "n": 1, "mix": 1.5}, "'mix'"),
        ({"sd": [1, 2], "n": 1, "strata": ["a"]}, "'strata'.*2 documents"),
        ({"sd": np.ones(9), "n": 5, "strata": np.arange(9) % 3}, "'n'.*at least 6"),
    ],
)
def test_wrong_arguments(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        choose_documents(**arguments)
