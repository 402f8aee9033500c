"""Linear chains against sums over every path, at any scale and any lengths."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from skcalib.posteriors import LinearChainPosterior, _chain

LENGTHS = (3, 0, 5, 1, 4, 0, 1, 3)
K = 3


def marginals_of(table, n_tags=K):
    """Return the probability of each tag at each token, summed over the paths."""
    there = table.paths[:, :, np.newaxis] == np.arange(n_tags)
    return np.einsum("p,ptk->tk", table.proba, there)


def best_of(table):
    """Return the path of the greatest score, the first of equals."""
    return table.paths[table.scores.argmax()].tolist()


def same_lists(found, expected, **tolerance):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, **tolerance)


@pytest.fixture
def chain(random_chain):
    return random_chain(0)


@pytest.fixture
def posterior(chain):
    return LinearChainPosterior(*chain)


# Against every path


def test_log_partition_is_the_log_sum_over_all_paths(any_chain, every_path):
    emissions, *rest = any_chain
    expected = [every_path(e, *rest).log_z for e in emissions]
    found = LinearChainPosterior(emissions, *rest).log_partition()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_marginals_are_sums_over_the_paths_through_a_tag(any_chain, every_path):
    emissions, *rest = any_chain
    expected = [marginals_of(every_path(e, *rest)) for e in emissions]
    found = LinearChainPosterior(emissions, *rest).token_marginals()
    same_lists(found, expected, atol=1e-11)


def test_viterbi_finds_the_best_of_all_paths(any_chain, every_path):
    emissions, *rest = any_chain
    found = LinearChainPosterior(emissions, *rest).viterbi()
    for emission, path in zip(emissions, found, strict=True):
        assert path.tolist() == best_of(every_path(emission, *rest))


def test_viterbi_does_not_depend_on_how_sequences_are_divided(
    random_chain, monkeypatch
):
    """Ties go to the same path, too."""
    emissions, *rest = random_chain(8, 1.0, 0.2, LENGTHS * 4)
    emissions, rest = [np.round(e) for e in emissions], [np.round(r) for r in rest]
    posterior = LinearChainPosterior(emissions, *rest)
    expected = posterior.viterbi()
    monkeypatch.setattr(_chain, "_CACHED_PATHS", 1)
    same_lists(posterior.viterbi(), expected, rtol=0)


def test_log_proba_is_the_score_of_the_path_less_log_z(any_chain, every_path):
    emissions, *rest = any_chain
    some = [e for e in emissions if len(e)]
    posterior = LinearChainPosterior(some, *rest)
    rng = np.random.default_rng(0)
    chosen = [rng.integers(K ** len(e)) for e in some]
    tables = [every_path(e, *rest) for e in some]
    expected = [t.scores[j] - t.log_z for t, j in zip(tables, chosen, strict=True)]
    paths = [t.paths[j] for t, j in zip(tables, chosen, strict=True)]
    found = posterior.log_proba(paths)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_posterior_decoding_takes_the_greatest_marginal(any_chain, every_path):
    emissions, *rest = any_chain
    found = LinearChainPosterior(emissions, *rest).posterior_decode()
    for emission, path in zip(emissions, found, strict=True):
        marginals = marginals_of(every_path(emission, *rest))
        chosen = marginals[np.arange(len(path)), path]
        np.testing.assert_allclose(chosen, marginals.max(axis=1, initial=0), atol=1e-12)


# Sizes


def test_an_empty_sequence_has_log_z_zero_and_one_tagging(posterior):
    empty = np.array(LENGTHS) == 0
    assert (posterior.log_partition()[empty] == 0).all()
    paths = [np.zeros(n, dtype=int) for n in LENGTHS]
    assert (posterior.log_proba(paths)[empty] == 0).all()
    assert posterior.token_marginals()[1].shape == (0, K)
    assert posterior.viterbi()[1].shape == (0,)
    assert posterior.posterior_decode()[1].shape == (0,)


@pytest.mark.parametrize("emissions", [[], [[]], [[], np.zeros((0, 2))]])
def test_sequences_without_any_token_are_no_error(emissions):
    posterior = LinearChainPosterior(emissions, np.zeros((2, 2)))
    n = len(emissions)
    assert len(posterior) == n
    assert posterior.log_partition().tolist() == [0] * n
    assert [m.shape for m in posterior.token_marginals()] == [(0, 2)] * n
    assert [p.size for p in posterior.viterbi()] == [0] * n
    assert posterior.log_proba([[]] * n).tolist() == [0] * n


def test_no_sequences_may_come_with_an_empty_list_of_lengths():
    posterior = LinearChainPosterior(np.zeros((0, 2)), np.zeros((2, 2)), lengths=[])
    assert len(posterior) == 0


def test_a_single_token_needs_no_transition():
    scores = np.log([[0.2, 0.3, 0.5]])
    posterior = LinearChainPosterior([scores], np.full((3, 3), -np.inf))
    np.testing.assert_allclose(posterior.token_marginals()[0], np.exp(scores))


def test_with_a_single_tag_everything_is_certain():
    posterior = LinearChainPosterior([[[3.0], [-4.0]]], [[0.5]], [1.0], [2.0])
    assert posterior.token_marginals()[0].tolist() == [[1], [1]]
    assert posterior.log_partition() == pytest.approx([3 - 4 + 0.5 + 1 + 2])
    assert posterior.viterbi()[0].tolist() == [0, 0]
    assert posterior.log_proba([[0, 0]]) == pytest.approx([0])


def test_more_than_256_tags_fit_into_a_path():
    emission = np.zeros((3, 300))
    emission[[0, 1, 2], [299, 256, 1]] = 5
    posterior = LinearChainPosterior([emission], np.zeros((300, 300)))
    assert posterior.viterbi()[0].tolist() == [299, 256, 1]


# Numbers of any size


@pytest.mark.parametrize("size", [1e3, -1e3, 1e4, 1e5])
def test_great_scores_of_all_tokens_are_exact(every_path, size):
    rng = np.random.default_rng(0)
    emission = rng.normal(size=(4, K)) + size
    transition = rng.normal(size=(K, K))
    table = every_path(emission, transition)
    posterior = LinearChainPosterior([emission], transition)
    np.testing.assert_allclose(posterior.log_partition(), [table.log_z], rtol=1e-13)
    expected = marginals_of(table)
    np.testing.assert_allclose(posterior.token_marginals()[0], expected, atol=1e-10)


def two_chains_that_never_meet(n, gap, last):
    """Tag 0 is better by `gap` a token, but only tag `last` may end."""
    emission = np.zeros((n, 2))
    emission[:, 1] = -gap
    transition = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    end = np.full(2, -np.inf)
    end[last] = 0
    return LinearChainPosterior([emission], transition, None, end)


def test_mass_that_float64_loses_on_the_way_is_kept():
    """Of two chains only the one may end that falls below exp(-745) long before."""
    posterior = two_chains_that_never_meet(n=30, gap=100.0, last=1)
    np.testing.assert_array_equal(posterior.token_marginals()[0], [[0, 1]] * 30)
    assert posterior.log_partition() == pytest.approx([-3000])
    assert posterior.log_proba([[1] * 30]) == pytest.approx([0])


@pytest.mark.parametrize("spread", [700.0, 746.0, 2000.0])
def test_transitions_may_differ_by_more_than_float64_holds(spread):
    """Tag 1 must follow tag 0 at a cost of `spread`, for nothing else may be second."""
    emission = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    transition = np.array([[0.0, -spread], [0.0, 0.0]])
    posterior = LinearChainPosterior([emission], transition)
    np.testing.assert_array_equal(posterior.token_marginals()[0], np.eye(2))
    assert posterior.log_partition() == pytest.approx([-spread])


@pytest.mark.parametrize("border", ["log_start", "log_end"])
def test_border_scores_may_differ_by_more_than_float64_holds(border):
    allowed = [[-np.inf, 0.0, 0.0]]
    scores = {border: [0.0, -900.0, -900.0 + np.log(4)]}
    posterior = LinearChainPosterior([allowed], np.zeros((3, 3)), **scores)
    np.testing.assert_allclose(posterior.token_marginals()[0], [[0, 0.2, 0.8]])


def test_only_the_lost_sequence_of_a_batch_is_computed_otherwise(
    random_chain, every_path
):
    """Its neighbours come out as they do alone."""
    emissions, *rest = random_chain(1, lengths=(4, 3, 4))
    emissions[1] = emissions[1] + np.array([0.0, 800.0, -800.0])
    together = LinearChainPosterior(emissions, *rest)
    alone = [LinearChainPosterior([e], *rest) for e in emissions]
    same_lists(
        together.token_marginals(),
        [each.token_marginals()[0] for each in alone],
        rtol=1e-12,
    )
    expected = [marginals_of(every_path(e, *rest)) for e in emissions]
    same_lists(together.token_marginals(), expected, atol=1e-12)


def straightforward_log_z(emission, transition):
    alpha = emission[0]
    for row in emission[1:]:
        alpha = logsumexp(alpha[:, np.newaxis] + transition, axis=0) + row
    return logsumexp(alpha)


@pytest.mark.parametrize("scale", [pytest.param(1, marks=pytest.mark.slow), 20])
def test_ten_thousand_tokens_keep_their_precision(scale):
    rng = np.random.default_rng(0)
    emission = rng.normal(size=(10_000, 5)) * scale
    transition = rng.normal(size=(5, 5)) * scale
    posterior = LinearChainPosterior([emission], transition)
    expected = straightforward_log_z(emission, transition)
    np.testing.assert_allclose(posterior.log_partition(), [expected], rtol=1e-12)
    (marginals,) = posterior.token_marginals()
    np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-12)
    assert posterior.log_proba(posterior.viterbi())[0] <= 0


def test_float32_scores_are_computed_in_float64(random_chain):
    emissions, transition, *_ = random_chain(0)
    single = [e.astype(np.float32) for e in emissions]
    found = LinearChainPosterior(single, transition.astype(np.float32))
    double = [e.astype(np.float64) for e in single]
    expected = LinearChainPosterior(double, transition.astype(np.float32))
    assert found.token_marginals()[0].dtype == np.float64
    same_lists(found.token_marginals(), expected.token_marginals(), rtol=1e-14)


# -inf


def test_a_forbidden_tag_has_probability_exactly_zero():
    emission = np.array([[0.0, -np.inf, 1.0], [0.5, 0.2, -np.inf]])
    (marginals,) = LinearChainPosterior([emission], np.zeros((3, 3))).token_marginals()
    assert marginals[0, 1] == 0
    assert marginals[1, 2] == 0


def test_a_forbidden_transition_leaves_exact_zeros_and_no_nan():
    transition = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    posterior = LinearChainPosterior([[[0.0, -np.inf]] + [[0, 0]] * 3], transition)
    expected = [[1, 0], [0, 1], [1, 0], [0, 1]]
    np.testing.assert_array_equal(posterior.token_marginals()[0], expected)
    assert posterior.viterbi()[0].tolist() == [0, 1, 0, 1]


def test_a_forbidden_tagging_has_log_probability_minus_infinity():
    posterior = LinearChainPosterior([[[0.0, -np.inf]], [[0.0, 0.0]]], np.zeros((2, 2)))
    found = posterior.log_proba([[1], [1]])
    assert found.tolist() == [-np.inf, pytest.approx(np.log(0.5))]


def test_borders_may_make_a_sequence_impossible():
    posterior = LinearChainPosterior([[[0.0, -np.inf]]], np.zeros((2, 2)), [-np.inf, 0])
    with pytest.raises(ValueError, match="no tagging of sequence 0"):
        posterior.token_marginals()


# Ties


def test_equal_paths_go_to_the_lowest_index():
    posterior = LinearChainPosterior([np.zeros((4, 3))], np.zeros((3, 3)))
    assert posterior.viterbi()[0].tolist() == [0, 0, 0, 0]
    assert posterior.posterior_decode()[0].tolist() == [0, 0, 0, 0]


def test_ties_are_settled_from_the_last_token_back():
    """Paths 0-1 and 1-0 are equal: the last token takes tag 0."""
    transition = np.array([[-1.0, 0.0], [0.0, -1.0]])
    posterior = LinearChainPosterior([np.zeros((2, 2))], transition)
    assert posterior.viterbi()[0].tolist() == [1, 0]


# The same thing said in another way


def test_one_array_with_lengths_is_the_same_as_a_list(chain):
    emissions, *rest = chain
    expected = LinearChainPosterior(emissions, *rest)
    found = LinearChainPosterior(np.concatenate(emissions), *rest, lengths=LENGTHS)
    same_lists(found.token_marginals(), expected.token_marginals(), rtol=0)
    same_lists(found.viterbi(), expected.viterbi(), rtol=0)
    np.testing.assert_array_equal(found.log_partition(), expected.log_partition())


def test_missing_border_scores_are_zeros(chain):
    emissions, transition, *_ = chain
    found = LinearChainPosterior(emissions, transition).log_partition()
    zeros = LinearChainPosterior(emissions, transition, np.zeros(K), np.zeros(K))
    np.testing.assert_array_equal(found, zeros.log_partition())


@pytest.mark.parametrize(
    "part", [slice(2, 5), slice(None), slice(None, None, 2), slice(4, 0, -1), slice(0)]
)
def test_a_slice_is_the_posterior_of_those_sequences(posterior, part):
    sliced = posterior[part]
    assert len(sliced) == len(LENGTHS[part])
    same_lists(sliced.token_marginals(), posterior.token_marginals()[part], rtol=1e-12)
    same_lists(sliced.viterbi(), posterior.viterbi()[part], rtol=0)
    np.testing.assert_allclose(
        sliced.log_partition(), posterior.log_partition()[part], rtol=1e-12
    )


@pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)]
)
def test_a_shift_of_some_tokens_of_a_large_batch_changes_no_probability(dtype):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 30, size=400)
    # of so few digits that adding a shift to them is exact
    scores = rng.normal(size=(lengths.sum(), 20))
    scores, moves = np.round(scores * 64) / 64, rng.normal(size=(20, 20))
    shift = np.where(
        rng.random(len(scores)) < 0.1, rng.choice([60, -700], len(scores)), 0
    )
    plain = LinearChainPosterior(scores, moves, lengths=lengths, dtype=dtype)
    shifted = LinearChainPosterior(
        scores + shift[:, np.newaxis], moves, lengths=lengths, dtype=dtype
    )
    for a, b in zip(plain.token_marginals(), shifted.token_marginals(), strict=True):
        assert b == pytest.approx(a, abs=1e-12 if dtype is np.float64 else 1e-5)
    ends = np.cumsum(lengths)
    total = np.append(0, np.cumsum(shift))
    expected = plain.log_partition() + total[ends] - total[ends - lengths]
    assert shifted.log_partition() == pytest.approx(expected, abs=1e-9)


@given(
    scores=st.lists(
        st.lists(st.floats(-800, 800), min_size=2, max_size=2), min_size=1, max_size=5
    ),
    moves=st.lists(st.floats(-800, 800), min_size=4, max_size=4),
)
def test_marginals_are_right_whatever_the_scores(every_path, scores, moves):
    emission, transition = np.array(scores), np.reshape(moves, (2, 2))
    expected = marginals_of(every_path(emission, transition), 2)
    (found,) = LinearChainPosterior([emission], transition).token_marginals()
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


# Manners


def test_a_pickled_posterior_answers_as_before(posterior):
    again = pickle.loads(pickle.dumps(posterior))
    same_lists(again.token_marginals(), posterior.token_marginals(), rtol=0)


# What is refused


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_named_by_sequence_and_token(value):
    emissions = [np.zeros((2, K)), np.zeros((0, K)), np.zeros((3, K)), np.zeros((1, K))]
    emissions[2][1, 0] = value
    message = f"'log_emission' .* Got {value} in sequence 2, token 1"
    with pytest.raises(ValueError, match=message):
        LinearChainPosterior(emissions, np.zeros((K, K)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["log_transition", "log_start", "log_end"])
def test_other_scores_that_are_no_numbers_are_named_by_parameter(name, value):
    scores = {"log_transition": np.zeros((K, K))}
    scores[name] = np.full((K, K) if name == "log_transition" else K, value)
    message = f"The '{name}' parameter .* must be finite or -inf. Got {value}"
    with pytest.raises(ValueError, match=message):
        LinearChainPosterior([np.zeros((1, K))], **scores)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"log_transition": np.zeros((2, 3))}, "(n_tags, n_tags). Got (2, 3)"),
        ({"log_transition": np.zeros(3)}, "(n_tags, n_tags). Got (3,)"),
        ({"log_transition": np.zeros((0, 0))}, "needs at least one tag"),
        ({"log_transition": [["a"]]}, "'log_transition' parameter"),
        ({"log_start": np.zeros(3)}, "shape (2,) to match log_transition. Got (3,)"),
        ({"log_end": np.zeros((1, 2))}, "'log_end' parameter"),
        ({"log_emission": [np.zeros((1, 2)), np.zeros((1, 3))]}, "for sequence 1"),
        ({"log_emission": [np.zeros((1, 2)), np.zeros(2)]}, "for sequence 1"),
        ({"lengths": [1, 1], "log_emission": np.zeros((3, 2))}, "(2, 2) to match"),
        ({"lengths": [2], "log_emission": np.zeros((2, 3))}, "(2, 2) to match lengths"),
        ({"lengths": [3, -1], "log_emission": np.zeros((2, 2))}, "integers"),
        ({"lengths": [1.5, 0.5], "log_emission": np.zeros((2, 2))}, "integers"),
        ({"lengths": [[2]], "log_emission": np.zeros((2, 2))}, "integers"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(scores, message):
    defaults = {"log_emission": [np.zeros((1, 2))], "log_transition": np.zeros((2, 2))}
    with pytest.raises(ValueError, match=re.escape(message)):
        LinearChainPosterior(**{**defaults, **scores})


def test_scores_of_a_sequence_that_are_no_numbers_name_it():
    with pytest.raises(ValueError, match="'log_emission' .* sequence 1"):
        LinearChainPosterior([[[0.0, 0.0]], [["a", "b"]]], np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([[0, 0], [0, 0]], "2 tags for sequence 1, which has 1 tokens"),
        ([[0, -1], [0]], "from 0 to 1. Got -1 in sequence 0, token 1"),
        ([[0, 0], [0.5]], "tag indices"),
    ],
)
def test_paths_that_do_not_fit_are_refused(paths, message):
    posterior = LinearChainPosterior(
        [np.zeros((2, 2)), np.zeros((1, 2))], np.zeros((2, 2))
    )
    with pytest.raises(ValueError, match=message):
        posterior.log_proba(paths)


# What is out of reach, and what is near the end of float64


def test_a_tag_out_of_reach_may_be_better_at_every_token():
    """Tag 1 cannot start and cannot follow tag 0, but every token likes it more."""
    emission = np.tile([-100.0, 0.0], (30, 1))
    transition = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    posterior = LinearChainPosterior([emission], transition, [0.0, -np.inf])
    np.testing.assert_array_equal(posterior.token_marginals()[0], [[1, 0]] * 30)
    assert posterior.log_partition() == pytest.approx([-3000])


@pytest.mark.parametrize("spread", [300, *range(690, 750, 5), 800])
def test_weights_that_float64_holds_with_few_digits_only(spread):
    emission = np.array([[0.0, -np.inf, -np.inf], [-np.inf, 0.0, 0.0]])
    transition = np.zeros((3, 3))
    transition[0, 1], transition[0, 2] = -spread, -spread + np.log(3)
    found = LinearChainPosterior([emission], transition).token_marginals()[0]
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 0.25, 0.75]], rtol=1e-11)


def test_numbers_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="'log_emission'.*other content in sequence 0"):
        LinearChainPosterior([[[10**400]]], [[0]])
    with pytest.raises(ValueError, match="'log_transition'.*contain numbers"):
        LinearChainPosterior([[[0]]], [[10**400]])


@pytest.mark.parametrize("rows", [[0.1, 0.9], [[0.1, 0.9]]])
def test_no_lengths_are_not_those_of_some_rows(rows):
    with pytest.raises(ValueError, match=r"'log_emission'.*shape \(0, 2\)"):
        LinearChainPosterior(rows, np.zeros((2, 2)), lengths=[])


NUMBER = np.array(3)  # has a length for hasattr, and none for len


@pytest.mark.parametrize("scores", [None, 3.0, NUMBER, np.array(None), "ab"])
def test_scores_without_entries_are_named(scores):
    with pytest.raises(TypeError, match="'log_emission' .* must be a list with an arr"):
        LinearChainPosterior(scores, [[0.0]])


@pytest.mark.parametrize("paths", [NUMBER, 3, None, iter([[0]]), {0}, {0: [0]}])
def test_paths_without_entries_are_named(paths):
    posterior = LinearChainPosterior([[[0.0]]], [[0.0]])
    with pytest.raises(TypeError, match="'paths' .* list with an entry for each seque"):
        posterior.log_proba(paths)


@pytest.mark.parametrize("lengths", [NUMBER, 3, [[1], [1, 1]], "a"])
def test_lengths_that_are_no_row_of_integers_are_named(lengths):
    with pytest.raises(
        ValueError, match="'lengths' .* must contain non-negative integers"
    ):
        LinearChainPosterior(np.zeros((3, 2)), np.zeros((2, 2)), lengths=lengths)


@pytest.mark.filterwarnings("error")
def test_a_score_that_float32_does_not_hold_forbids():
    posterior = LinearChainPosterior(
        [[[0.0, -1e300], [0.0, 0.0]]], np.zeros((2, 2)), dtype=np.float32
    )
    np.testing.assert_allclose(posterior.token_marginals()[0], [[1, 0], [0.5, 0.5]])


def test_posterior_decoding_is_computed_in_float64():
    """In float32 both tags have the same probability, and the first would win."""
    scores = [[[0.0, 1e-9]]]
    posterior = LinearChainPosterior(scores, np.zeros((2, 2)), dtype=np.float32)
    assert posterior.token_marginals()[0][0].tolist() == [0.5, 0.5]
    assert posterior.posterior_decode()[0].tolist() == [1]


@pytest.mark.parametrize("temperature", [1e-50, 1e-300])
def test_a_temperature_that_float32_does_not_hold_is_none_of_zero(temperature):
    scores = np.array([[0.0, 1.0]], dtype=np.float32)
    posterior = LinearChainPosterior([scores], np.zeros((2, 2)), dtype=np.float32)
    with pytest.raises(ValueError, match="too small"):
        posterior.tempered(temperature)
    cold = posterior.tempered(1e-30).token_marginals()[0]
    np.testing.assert_array_equal(cold, [[0, 1]])
