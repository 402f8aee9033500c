"""The random_state parameter."""

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs

SEEDS = [0, 7, 2**40, np.int64(7), np.uint8(7)]


def draw(random_state):
    return make_calibrated_pairs(5, random_state=random_state)[1]


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_an_integer_is_the_seed_of_numpys_default_generator(seed):
    np.testing.assert_array_equal(draw(seed), draw(np.random.default_rng(int(seed))))


def test_no_seed_draws_afresh():
    assert not np.array_equal(draw(None), draw(None))


def test_a_generator_is_used_itself():
    generator, untouched = np.random.default_rng(0), np.random.default_rng(0)
    assert not np.array_equal(draw(generator), draw(generator))
    assert generator.random() != untouched.random()


def test_equal_random_states_give_the_same_stream():
    first, second = np.random.RandomState(3), np.random.RandomState(3)
    np.testing.assert_array_equal(draw(first), draw(second))


def test_a_random_state_moves_on_with_each_use():
    random_state = np.random.RandomState(3)
    untouched = np.random.RandomState(3)
    assert not np.array_equal(draw(random_state), draw(random_state))
    assert random_state.random_sample() != untouched.random_sample()


@pytest.mark.parametrize(
    "value",
    [-1, np.int64(-1), 1.0, "0", True, np.True_, [0], np.array([1, 2]), np.nan, object],
    ids=repr,
)
def test_what_is_no_source_of_randomness_is_refused_by_name(value):
    message = "'random_state' parameter of make_calibrated_pairs must be .* Got "
    with pytest.raises(ValueError, match=message):
        draw(value)
