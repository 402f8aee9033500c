"""Pairs of tags, transitions, entropy, forward probabilities, temperature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from skcalib.posteriors import LinearChainPosterior

K = 3
SEEDS = st.integers(0, 10_000)
SCALES = st.sampled_from([0.5, 5.0, 100.0, 1000.0])


def pairs_by_enumeration(every):
    """Return (n - 1, K, K) sums over all paths."""
    n = every.paths.shape[1]
    table = np.zeros((max(n - 1, 0), K, K))
    for path, p in zip(every.paths, every.proba, strict=True):
        for t in range(n - 1):
            table[t, path[t], path[t + 1]] += p
    return table


def entropy_by_enumeration(every):
    some = every.proba > 0
    return -(every.proba[some] * (every.scores[some] - every.log_z)).sum()


def same_lists(found, expected, **tolerance):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, **tolerance)


# Against every path


def test_pair_marginals_are_sums_over_the_paths_through_a_pair(any_chain, every_path):
    emissions, *rest = any_chain
    expected = [pairs_by_enumeration(every_path(e, *rest)) for e in emissions]
    found = LinearChainPosterior(*any_chain).pair_marginals()
    same_lists(found, expected, atol=1e-10)


def test_chosen_pairs_are_columns_of_all_pairs(any_chain):
    posterior = LinearChainPosterior(*any_chain)
    pairs = [(2, 0), (1, 1), (2, 0), (0, 2)]
    expected = [
        np.stack([table[:, a, b] for a, b in pairs], axis=1)
        for table in posterior.pair_marginals()
    ]
    same_lists(posterior.pair_marginals(pairs), expected, atol=1e-14)


def test_expected_transitions_count_pairs_over_all_paths(any_chain, every_path):
    emissions, *rest = any_chain
    each = [pairs_by_enumeration(every_path(e, *rest)).sum(axis=0) for e in emissions]
    found = LinearChainPosterior(*any_chain).expected_transitions()
    np.testing.assert_allclose(found, sum(each), atol=1e-9)


def test_entropy_is_that_of_the_distribution_over_paths(any_chain, every_path):
    emissions, *rest = any_chain
    expected = [entropy_by_enumeration(every_path(e, *rest)) for e in emissions]
    found = LinearChainPosterior(*any_chain).entropy()
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_filtered_is_the_last_marginal_of_each_prefix(any_chain, every_path):
    """Sums over the paths of each prefix, without end scores."""
    emissions, transition, *borders = any_chain
    start = borders[0] if borders else None
    expected = []
    for emission in emissions:
        rows = np.zeros_like(emission)
        for t in range(len(emission)):
            every = every_path(emission[: t + 1], transition, start)
            np.add.at(rows[t], every.paths[:, -1], every.proba)
        expected.append(rows)
    found = LinearChainPosterior(*any_chain).filtered()
    same_lists(found, expected, atol=1e-10)


@pytest.mark.parametrize("temperature", [0.5, 3, np.float32(7)])
def test_tempered_takes_every_probability_to_a_power(
    any_chain, every_path, temperature
):
    emissions, *rest = any_chain
    found = LinearChainPosterior(*any_chain).tempered(temperature).log_partition()
    expected = [
        logsumexp(every_path(e, *rest).scores / float(temperature)) for e in emissions
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


# By hand


def test_two_tokens_by_hand():
    """Paths weigh .9 * .8 = .72, .18, .02 and .08, each times .5."""
    posterior = LinearChainPosterior(
        [np.log([[0.9, 0.1], [0.5, 0.5]])], np.log([[0.8, 0.2], [0.2, 0.8]])
    )
    expected = np.array([[0.72, 0.18], [0.02, 0.08]])
    np.testing.assert_allclose(posterior.pair_marginals()[0], [expected])
    np.testing.assert_allclose(posterior.expected_transitions(), expected)
    assert posterior.entropy() == pytest.approx([-(expected * np.log(expected)).sum()])
    np.testing.assert_allclose(posterior.filtered()[0], [[0.9, 0.1], [0.74, 0.26]])


def test_the_end_scores_do_not_reach_back_into_filtered():
    certain_end = [0.0, -np.inf]
    posterior = LinearChainPosterior(
        [np.zeros((2, 2))], np.zeros((2, 2)), None, certain_end
    )
    assert posterior.filtered()[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert posterior.token_marginals()[0][1].tolist() == [1, 0]


def test_even_scores_have_the_greatest_entropy():
    lengths = [4, 0, 1, 10_000]
    posterior = LinearChainPosterior(
        np.zeros((sum(lengths), 5)), np.zeros((5, 5)), lengths=lengths
    )
    np.testing.assert_allclose(
        posterior.entropy(), np.array(lengths) * np.log(5), rtol=1e-12
    )


def test_a_certain_tagging_has_no_entropy():
    emission = np.where(np.arange(3) == np.array([[0], [2], [1]]), 0.0, -1000.0)
    posterior = LinearChainPosterior([emission] * 2, np.zeros((3, 3)))
    assert posterior.entropy().tolist() == [0, 0]


# Laws


@given(seed=SEEDS, scale=SCALES, forbidden=st.sampled_from([0.0, 0.5]))
def test_margins_of_pairs_are_token_marginals(random_chain, seed, scale, forbidden):
    posterior = LinearChainPosterior(*random_chain(seed, scale, forbidden))
    tables, tokens = posterior.pair_marginals(), posterior.token_marginals()
    same_lists([t.sum(axis=2) for t in tables], [m[:-1] for m in tokens], atol=1e-10)
    same_lists([t.sum(axis=1) for t in tables], [m[1:] for m in tokens], atol=1e-10)


@given(seed=SEEDS, scale=SCALES, forbidden=st.sampled_from([0.0, 0.5]))
def test_expected_transitions_are_the_sum_of_pairs(
    random_chain, seed, scale, forbidden
):
    posterior = LinearChainPosterior(*random_chain(seed, scale, forbidden))
    total = sum(table.sum(axis=0) for table in posterior.pair_marginals())
    np.testing.assert_allclose(posterior.expected_transitions(), total, atol=1e-10)


@given(seed=SEEDS, temperature=st.floats(0.1, 10))
def test_entropy_is_log_z_less_the_mean_score(random_chain, seed, temperature):
    emissions, transition, start, end = random_chain(seed, lengths=(4, 2))
    posterior = LinearChainPosterior(emissions, transition, start, end)
    posterior = posterior.tempered(temperature)
    tokens = posterior.token_marginals()
    score = [
        (m * e).sum()
        + (table * posterior.log_transition).sum()
        + m[0] @ posterior.log_start
        + m[-1] @ posterior.log_end
        for m, e, table in zip(
            tokens,
            [e / temperature for e in emissions],
            posterior.pair_marginals(),
            strict=True,
        )
    ]
    expected = posterior.log_partition() - score
    np.testing.assert_allclose(posterior.entropy(), expected, atol=1e-9)


def test_a_temperature_of_one_changes_nothing(any_chain):
    posterior = LinearChainPosterior(*any_chain)
    same_lists(
        posterior.tempered(1).token_marginals(), posterior.token_marginals(), rtol=0
    )


def test_great_heat_makes_all_allowed_paths_equal(random_chain, every_path):
    emissions, *rest = random_chain(1, 1.0, forbidden=0.4)
    hot = LinearChainPosterior(emissions, *rest).tempered(1e12)
    allowed = [np.isfinite(every_path(e, *rest).scores).sum() for e in emissions]
    np.testing.assert_allclose(hot.entropy(), np.log(allowed), atol=1e-9)


def test_great_cold_leaves_the_best_path(random_chain):
    posterior = LinearChainPosterior(*random_chain(0))
    cold = posterior.tempered(1e-6)
    np.testing.assert_allclose(cold.log_proba(posterior.viterbi()), 0, atol=1e-9)
    same_lists(cold.viterbi(), posterior.viterbi(), rtol=0)


@pytest.mark.parametrize("chunk", [1, 3, 8, 100])
def test_chunks_together_are_all_pairs(any_chain, chunk):
    posterior = LinearChainPosterior(*any_chain)
    expected, seen = posterior.pair_marginals(), []
    for sequences, tables in posterior.iter_pair_marginals(chunk):
        same_lists(tables, expected[sequences], rtol=1e-14)
        seen.extend(range(len(posterior))[sequences])
    assert seen == list(range(len(posterior)))


# Sizes


@pytest.mark.parametrize("emissions", [[], [[]], [[], np.zeros((0, 2))]])
def test_sequences_without_any_token_are_no_error(emissions):
    n = len(emissions)
    posterior = LinearChainPosterior(emissions, np.zeros((2, 2)))
    assert [t.shape for t in posterior.pair_marginals()] == [(0, 2, 2)] * n
    assert [t.shape for t in posterior.pair_marginals([(0, 1)])] == [(0, 1)] * n
    assert [t.shape for t in posterior.filtered()] == [(0, 2)] * n
    assert posterior.entropy().tolist() == [0] * n
    assert posterior.expected_transitions().tolist() == [[0, 0], [0, 0]]
    assert len(posterior.tempered(2)) == n
    assert sum(len(tables) for _, tables in posterior.iter_pair_marginals()) == n


def test_a_single_token_has_no_pair():
    posterior = LinearChainPosterior([np.zeros((1, 2))], np.full((2, 2), -np.inf))
    assert posterior.pair_marginals()[0].shape == (0, 2, 2)
    assert posterior.expected_transitions().sum() == 0
    assert posterior.entropy() == pytest.approx([np.log(2)])


@pytest.mark.parametrize("pairs", [[], np.zeros((0, 2), dtype=int)])
def test_no_pairs_give_no_columns(pairs):
    posterior = LinearChainPosterior([np.zeros((3, 2))], np.zeros((2, 2)))
    assert posterior.pair_marginals(pairs)[0].shape == (2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 1000])
def test_ten_thousand_tokens_stay_finite_and_sum_to_one(scale):
    rng = np.random.default_rng(0)
    emission, transition = rng.normal(size=(10_000, 4)), rng.normal(size=(4, 4))
    posterior = LinearChainPosterior([emission * scale], transition * scale)
    (table,) = posterior.pair_marginals()
    np.testing.assert_allclose(table.sum(axis=(1, 2)), 1, atol=1e-9)
    assert posterior.expected_transitions().sum() == pytest.approx(9999, abs=1e-6)
    assert 0 <= posterior.entropy()[0] <= 10_000 * np.log(4)
    np.testing.assert_allclose(posterior.filtered()[0].sum(axis=1), 1, atol=1e-12)


def test_a_forbidden_pair_has_probability_exactly_zero():
    transition = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    posterior = LinearChainPosterior([np.zeros((4, 2))], transition)
    off = [[0, 0.5], [0.5, 0]]
    np.testing.assert_allclose(posterior.pair_marginals()[0], [off] * 3)
    assert (posterior.pair_marginals([(0, 0)])[0] == 0).all()
    assert posterior.expected_transitions()[0, 0] == 0


def test_pairs_of_transitions_that_float64_does_not_hold():
    """Only pairs at -900 are allowed between these tokens."""
    emission = np.array([[0.0, -np.inf, -np.inf], [-np.inf, 0.0, 0.0]])
    transition = np.zeros((3, 3))
    transition[0, 1], transition[0, 2] = -900.0, -900.0 + np.log(3)
    posterior = LinearChainPosterior([np.zeros((2, 3)), emission], transition)
    found = posterior.pair_marginals()[1]
    np.testing.assert_allclose(found, [[[0, 0.25, 0.75], [0] * 3, [0] * 3]], atol=1e-13)
    quarter = np.array([0.25, 0.75])
    expected = -(quarter * np.log(quarter)).sum()
    assert posterior.entropy()[1] == pytest.approx(expected)
    total = posterior[:1].expected_transitions() + found[0]
    np.testing.assert_allclose(posterior.expected_transitions(), total)


# float32


def test_single_precision_keeps_four_digits(random_chain):
    for seed, scale in [(0, 1.0), (1, 5.0), (2, 50.0), (3, 1000.0)]:
        scores = random_chain(seed, scale, forbidden=0.2)
        double = LinearChainPosterior(*scores)
        single = LinearChainPosterior(*scores, dtype=np.float32)
        for ask in ("token_marginals", "pair_marginals", "filtered"):
            found = getattr(single, ask)()
            assert {f.dtype for f in found} == {np.dtype(np.float32)}
            same_lists(found, getattr(double, ask)(), atol=1e-5)
        np.testing.assert_array_equal(single.log_partition(), double.log_partition())
        np.testing.assert_array_equal(single.entropy(), double.entropy())


def test_single_precision_scores_of_ten_thousand_tokens_stay_as_they_are():
    rng = np.random.default_rng(0)
    emission = 5 * rng.normal(size=(10_000, 17)).astype(np.float32)
    transition = rng.normal(size=(17, 17))
    single = LinearChainPosterior(
        emission, transition, lengths=[10_000], dtype="float32"
    )
    assert single.log_emission is emission
    double = LinearChainPosterior([emission], transition)
    same_lists(single.token_marginals(), double.token_marginals(), atol=1e-4)
    np.testing.assert_allclose(
        single.tempered(2).token_marginals()[0],
        double.tempered(2).token_marginals()[0],
        atol=1e-4,
    )


# What is refused


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1, 2)], "pairs of tag indices"),
        ([0, 1], "pairs of tag indices"),
        ([(0.0, 1.0)], "pairs of tag indices"),
        ([("a", "b")], "pairs of tag indices"),
        ([(0, 1), (0,)], "pairs of tag indices"),
        ([(0, 1), (2, 0)], r"from 0 to 1. Got \(2, 0\) as pair 1"),
        ([(-1, 0)], r"from 0 to 1. Got \(-1, 0\) as pair 0"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(pairs, message):
    posterior = LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)))
    expected = f"'pairs' parameter of LinearChainPosterior.pair_marginals .*{message}"
    with pytest.raises(ValueError, match=expected):
        posterior.pair_marginals(pairs)


def test_a_temperature_that_makes_scores_infinite_is_refused():
    posterior = LinearChainPosterior([np.full((2, 2), 1e5)], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="too small: 1e-305 .* log_emission"):
        posterior.tempered(1e-305)


@pytest.mark.parametrize("chunk", [0, -1])
def test_a_chunk_of_no_sequence_is_refused_at_once(chunk):
    posterior = LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="'chunk' parameter"):
        posterior.iter_pair_marginals(chunk)


@pytest.mark.parametrize("dtype", [np.float16, int, None, "words"])
def test_other_types_of_number_are_refused(dtype):
    with pytest.raises(ValueError, match="'dtype' .* must be float64 or float32. Got"):
        LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)), dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "ask",
    [
        lambda p: p.pair_marginals(),
        lambda p: p.pair_marginals([(0, 1)]),
        lambda p: list(p.iter_pair_marginals(1)),
        lambda p: p.expected_transitions(),
        lambda p: p.entropy(),
        lambda p: p.filtered(),
        lambda p: p.sample(2, random_state=0),
        lambda p: p.k_best(2),
        lambda p: p.span_marginals([[(0, 0)]] * 3),
        lambda p: p.token_marginals(),
        lambda p: p.log_partition(),
        lambda p: p.viterbi(),
        lambda p: p.posterior_decode(),
        lambda p: p.log_proba([[0] * 4, [0], [0, 0]]),
    ],
)
def test_a_sequence_that_no_path_fits_is_named(ask, dtype):
    no_tag = [[0.0, 0.0], [-np.inf, -np.inf]]
    no_transition = [[0.0, -np.inf], [-np.inf, 0.0]]
    transition = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    for impossible in (no_tag, no_transition):
        emissions = [np.zeros((4, 2)), np.zeros((1, 2)), impossible]
        posterior = LinearChainPosterior(emissions, transition, dtype=dtype)
        with pytest.raises(ValueError, match="no tagging of sequence 2: every path"):
            ask(posterior)


def test_nothing_given_is_modified(random_chain):
    emissions, *rest = random_chain(0)
    arrays = [np.concatenate(emissions), *rest]
    copies = [a.copy() for a in arrays]
    posterior = LinearChainPosterior(*arrays, lengths=[len(e) for e in emissions])
    for ask in (
        *("pair_marginals", "expected_transitions", "entropy", "filtered"),
        *("token_marginals", "viterbi", "log_partition", "posterior_decode"),
    ):
        getattr(posterior, ask)()
    posterior.k_best(2), posterior.sample(2), posterior.tempered(3)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
