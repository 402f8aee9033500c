"""The k best taggings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.posteriors import LinearChainPosterior, _chain


def best_by_enumeration(every):
    """Return the allowed paths and their log probabilities, the best first."""
    order = np.argsort(-every.scores, kind="stable")
    order = order[every.scores[order] > -np.inf]
    return every.paths[order], every.scores[order] - every.log_z


@pytest.mark.parametrize("k", [1, 2, 5, 1000])
def test_they_are_the_best_of_all_paths(any_chain, every_path, k):
    """Random scores have no ties, so the order is one."""
    emissions, *rest = any_chain
    found = LinearChainPosterior(*any_chain).k_best(k)
    for emission, (paths, log_proba) in zip(emissions, found, strict=True):
        best, expected = best_by_enumeration(every_path(emission, *rest))
        assert paths.tolist() == best[:k].tolist()
        np.testing.assert_allclose(log_proba, expected[:k], rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 10_000), k=st.integers(1, 30), levels=st.integers(1, 4))
def test_sorted_distinct_complete_and_led_by_viterbi(random_chain, seed, k, levels):
    """Scores of few levels, so that many are equal."""
    emissions, *rest = (
        [np.round(e * levels) for e in part]
        if isinstance(part, list)
        else np.round(part * levels)
        for part in random_chain(seed, 0.5)
    )
    posterior = LinearChainPosterior(emissions, *rest)
    found = posterior.k_best(k)
    for (paths, log_proba), path in zip(found, posterior.viterbi(), strict=True):
        n = paths.shape[1]
        assert len(paths) == len(log_proba) == min(k, 3**n)
        assert len({tuple(p) for p in paths.tolist()}) == len(paths)
        assert (np.diff(log_proba) <= 0).all()
        assert paths[0].tolist() == path.tolist()


def test_equal_paths_are_ordered_from_the_last_token_back():
    posterior = LinearChainPosterior([np.zeros((3, 2))], np.zeros((2, 2)))
    ((paths, log_proba),) = posterior.k_best(8)
    assert [path[::-1] for path in paths.tolist()] == sorted(
        path[::-1] for path in paths.tolist()
    )
    np.testing.assert_allclose(log_proba, -3 * np.log(2))


def test_how_sequences_are_divided_does_not_matter(any_chain, monkeypatch):
    posterior = LinearChainPosterior(*any_chain)
    expected = posterior.k_best(4)
    monkeypatch.setattr(_chain, "BLOCK", 1)
    for (a, b), (c, d) in zip(posterior.k_best(4), expected, strict=True):
        assert a.tolist() == c.tolist()
        assert b.tolist() == d.tolist()


def test_an_empty_sequence_has_one_tagging():
    posterior = LinearChainPosterior([[], np.zeros((1, 2)), []], np.zeros((2, 2)))
    (first, one), (second, two), _ = posterior.k_best(3)
    assert (first.shape, one.tolist()) == ((1, 0), [0])
    assert (second.tolist(), two.shape) == ([[0], [1]], (2,))
    assert LinearChainPosterior([], np.zeros((2, 2))).k_best(1) == []


@pytest.mark.slow
def test_ten_thousand_tokens():
    rng = np.random.default_rng(0)
    emission = 1000 * rng.normal(size=(10_000, 3))
    posterior = LinearChainPosterior([emission], 1000 * rng.normal(size=(3, 3)))
    ((paths, log_proba),) = posterior.k_best(3)
    assert paths[0].tolist() == posterior.viterbi()[0].tolist()
    assert np.isfinite(log_proba).all()
    assert len(np.unique(paths, axis=0)) == 3


def test_more_than_256_tags_and_ranks_fit():
    emission = np.zeros((2, 300))
    emission[:, 299] = 1
    posterior = LinearChainPosterior([emission], np.zeros((300, 300)))
    ((paths, _),) = posterior.k_best(700)
    assert paths.shape == (700, 2)
    assert paths[0].tolist() == [299, 299]
    assert len(np.unique(paths, axis=0)) == 700
    assert (paths[1:599] == 299).any(axis=1).all()


def test_more_paths_than_there_are_cost_nothing():
    posterior = LinearChainPosterior([np.zeros((2, 2)), []], np.zeros((2, 2)))
    (paths, _), (empty, _) = posterior.k_best(10**30)
    assert paths.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert empty.shape == (1, 0)
