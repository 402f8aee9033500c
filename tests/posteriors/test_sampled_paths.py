"""Taggings drawn at random."""

import numpy as np
import pytest
from scipy import stats

from skcalib.posteriors import LinearChainPosterior, _chain


def test_every_path_comes_as_often_as_its_probability_says(any_chain, every_path):
    """In a range that each count leaves once in 10^8; never, where it is forbidden."""
    emissions, *rest = any_chain
    n = 4000
    drawn = LinearChainPosterior(*any_chain).sample(n, random_state=0)
    for emission, samples in zip(emissions, drawn, strict=True):
        assert samples.shape == (n, len(emission))
        every = every_path(emission, *rest)
        code = samples @ 3 ** np.arange(len(emission))[::-1]
        counts = np.bincount(code.astype(int), minlength=every.proba.size)
        p = np.clip(every.proba, 0, 1)
        assert (stats.binom.cdf(counts, n, p) > 1e-8).all()
        assert (stats.binom.sf(counts - 1, n, p) > 1e-8).all()
        assert (counts[p == 0] == 0).all()


def test_paths_of_moderate_scores_pass_a_chi_square_test(random_chain, every_path):
    emissions, *rest = random_chain(3, scale=0.5, lengths=(4,))
    (samples,) = LinearChainPosterior(emissions, *rest).sample(50_000, random_state=1)
    every = every_path(emissions[0], *rest)
    counts = np.bincount(samples @ 3 ** np.arange(4)[::-1], minlength=81)
    assert stats.chisquare(counts, 50_000 * every.proba).pvalue > 1e-4


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_frequencies_agree_with_marginals_and_pairs(scale):
    rng = np.random.default_rng(0)
    emission, transition = rng.normal(size=(40, 5)), rng.normal(size=(5, 5))
    posterior = LinearChainPosterior([emission * scale], transition * scale)
    (samples,) = posterior.sample(5000, random_state=0)
    (token,), (table,) = posterior.token_marginals(), posterior.pair_marginals()
    share = (samples[:, :, np.newaxis] == np.arange(5)).mean(axis=0)
    bound = 5 * np.sqrt(token * (1 - token) / 5000) + 1e-9
    assert (np.abs(share - token) <= bound).all()
    pair = samples[:, :-1] * 5 + samples[:, 1:]
    share = (pair[:, :, np.newaxis] == np.arange(25)).mean(axis=0)
    p = np.clip(table.reshape(39, 25), 0, 1)
    assert (np.abs(share - p) <= 5 * np.sqrt(p * (1 - p) / 5000) + 1e-9).all()


def test_sequences_are_drawn_independently():
    posterior = LinearChainPosterior([np.zeros((1, 2))] * 2, np.zeros((2, 2)))
    first, second = posterior.sample(20_000, random_state=0)
    both = (first & second).mean()
    assert both == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 20_000))


# The seed


def as_lists(samples):
    return [each.tolist() for each in samples]


def test_the_same_seed_gives_the_same_taggings(any_chain):
    posterior = LinearChainPosterior(*any_chain)
    first = posterior.sample(5, random_state=7)
    assert as_lists(posterior.sample(5, random_state=7)) == as_lists(first)
    again = posterior.sample(5, random_state=np.random.default_rng(7))
    assert as_lists(again) == as_lists(first)


def test_fewer_samples_are_the_first_of_more(any_chain):
    posterior = LinearChainPosterior(*any_chain)
    many = posterior.sample(9, random_state=0)
    few = posterior.sample(4, random_state=0)
    assert as_lists(few) == [each[:4].tolist() for each in many]


def test_how_the_work_is_divided_does_not_matter(any_chain, monkeypatch):
    posterior = LinearChainPosterior(*any_chain)
    expected = as_lists(posterior.sample(9, random_state=0))
    monkeypatch.setattr(_chain, "BLOCK", 1)
    assert as_lists(posterior.sample(9, random_state=0)) == expected


# Sizes and refusals


@pytest.mark.parametrize("emissions", [[], [[]], [[], np.zeros((0, 2))]])
def test_sequences_without_any_token_have_empty_samples(emissions):
    samples = LinearChainPosterior(emissions, np.zeros((2, 2))).sample(3)
    assert [s.shape for s in samples] == [(3, 0)] * len(emissions)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 1000])
def test_ten_thousand_tokens(scale):
    rng = np.random.default_rng(0)
    emission, transition = rng.normal(size=(10_000, 3)), rng.normal(size=(3, 3))
    posterior = LinearChainPosterior([emission * scale], transition * scale)
    (samples,) = posterior.sample(2, random_state=0)
    assert samples.shape == (2, 10_000)
    log_proba = [posterior.log_proba([path])[0] for path in samples]
    assert np.isfinite(log_proba).all()


@pytest.mark.parametrize("n_samples", [0, -3])
def test_at_least_one_sample_is_drawn(n_samples):
    posterior = LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="'n_samples' parameter of LinearChainPost"):
        posterior.sample(n_samples)


def test_a_seed_that_is_none_is_refused():
    posterior = LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="'random_state' .* LinearChainPosterior.samp"):
        posterior.sample(1, random_state="seed")
