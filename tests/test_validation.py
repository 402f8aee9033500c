"""The shared checks of parameters."""

from collections import deque

import numpy as np
import pandas as pd
import pytest

from skcalib._validation import (
    as_groups,
    check_bool,
    check_choice,
    check_finite,
    check_fraction,
    check_integer,
    check_positive,
    check_real,
    check_same_length,
    check_verbose,
    is_collection,
    is_integer,
    is_missing,
    is_sequence,
)

WHO = {"name": "beta"}


def test_checks_return_plain_numbers():
    assert type(check_integer(np.int8(3), minimum=1, **WHO)) is int
    assert type(check_real(np.float32(0.5), low=0, high=1, **WHO)) is float
    assert type(check_real(1, low=0, high=1, **WHO)) is float
    assert type(check_fraction(np.float64(0.5), **WHO)) is float


def test_bounds_belong_to_the_range_of_a_number_and_not_of_a_fraction():
    assert check_integer(2, minimum=2, **WHO) == 2
    assert check_real(0, low=0, high=1, **WHO) == 0
    assert check_real(1, low=0, high=1, **WHO) == 1
    for end in (0, 1, 0.0, 1.0):
        with pytest.raises(ValueError, match=r"strictly between 0 and 1\. Got"):
            check_fraction(end, **WHO)


def test_a_level_that_rounding_cannot_tell_from_1_is_an_error():
    assert check_fraction(1 - 1e-15, **WHO) == 1 - 1e-15
    with pytest.raises(ValueError, match="must be at most 1 - 1e-15"):
        check_fraction(1 - 1e-16, **WHO)


@pytest.mark.parametrize("value", [1.0, "3", None, True, np.True_, [2]], ids=repr)
def test_what_is_no_integer_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"'beta' parameter must be an integer"):
        check_integer(value, minimum=1, **WHO)


@pytest.mark.parametrize("value", ["0.5", None, True, 0.5j, [0.5]], ids=repr)
def test_what_is_no_number_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"'beta' parameter must be a number"):
        check_real(value, low=0, high=1, **WHO)
    with pytest.raises(TypeError, match=r"'beta' parameter must be a number"):
        check_fraction(value, **WHO)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf, -np.inf], ids=repr)
def test_a_number_out_of_range_is_a_value_error(value):
    with pytest.raises(ValueError, match=r"must be a number in \[0, 1\]\. Got"):
        check_real(value, low=0, high=1, **WHO)
    with pytest.raises(ValueError, match="must be a number strictly between 0 and 1"):
        check_fraction(value, **WHO)


@pytest.mark.parametrize("value", ["l3", "L2", None, 2, ["l1"]], ids=repr)
def test_a_choice_that_is_not_offered_is_refused_with_the_offer(value):
    with pytest.raises(ValueError, match=r"one of 'l1', 'l2'\. Got .* instead"):
        check_choice(value, ("l1", "l2"), **WHO)


def test_arrays_of_different_lengths_are_refused_with_each_length():
    with pytest.raises(
        ValueError, match=r"needs y and q of the same length.* y has 2, q has 3"
    ):
        check_same_length(y=[0, 1], q=[0.1, 0.2, 0.3], weight=None)


def test_a_number_beyond_all_floats_is_out_of_every_range():
    for check in (check_positive, check_finite, check_fraction):
        with pytest.raises(ValueError, match="'beta' parameter must be"):
            check(10**400, **WHO)
    with pytest.raises(ValueError, match=r"number in \[0, 1e\+300\]"):
        check_real(10**400, low=0, high=1e300, **WHO)


@pytest.mark.parametrize("value", [0, -1, np.inf, np.nan], ids=repr)
def test_what_is_not_positive_is_a_value_error(value):
    with pytest.raises(ValueError, match=r"must be a positive number\. Got"):
        check_positive(value, **WHO)


def test_every_number_but_infinity_is_finite():
    assert check_finite(np.float32(-2), **WHO) == -2
    assert check_positive(5e-324, **WHO) == 5e-324
    with pytest.raises(ValueError, match=r"must be a finite number\. Got -inf"):
        check_finite(-np.inf, **WHO)
    with pytest.raises(TypeError, match=r"must be a finite number\. Got True"):
        check_finite(True, **WHO)


SEQUENCES = [[], (1, 2), np.zeros(2), pd.Series([1]), range(3), deque([1])]
COLLECTIONS = [{1}, {1: 2}, iter([1]), pd.DataFrame({"a": [1]})]


@pytest.mark.parametrize("values", SEQUENCES, ids=lambda v: type(v).__name__)
def test_what_has_entries_in_an_order_is_a_sequence(values):
    assert is_sequence(values)
    assert is_collection(values)


@pytest.mark.parametrize("values", COLLECTIONS, ids=lambda v: type(v).__name__)
def test_what_has_entries_without_an_order_is_a_collection_only(values):
    assert not is_sequence(values)
    assert is_collection(values)


@pytest.mark.parametrize("value", ["ab", b"ab", np.array(3), 3, None], ids=repr)
def test_what_has_no_entries_is_neither(value):
    assert not is_sequence(value)
    assert not is_collection(value)


@pytest.mark.parametrize("label", [None, np.nan, pd.NA, pd.NaT], ids=repr)
def test_these_stand_for_no_label(label):
    assert is_missing(label)


@pytest.mark.parametrize("label", ["", 0, False, (), -np.inf, "nan"], ids=repr)
def test_these_are_labels(label):
    assert not is_missing(label)


@pytest.mark.parametrize("value", ["no", 1, None, np.array(True), []], ids=repr)
def test_what_is_neither_true_nor_false_is_a_type_error(value):
    with pytest.raises(TypeError, match="'beta' parameter must be True or False"):
        check_bool(value, **WHO)


@pytest.mark.parametrize(
    ("value", "level"), [(0, 0), (True, 1), (np.False_, 0), (9, 9)]
)
def test_verbose_may_be_a_bool(value, level):
    assert check_verbose(value) == level


@pytest.mark.parametrize(("value", "error"), [("yes", TypeError), (-1, ValueError)])
def test_verbose_is_no_text_and_not_negative(value, error):
    with pytest.raises(error, match="'verbose' parameter must"):
        check_verbose(value)


@pytest.mark.parametrize(
    ("value", "expected"), [(3, True), (np.int8(3), True), (True, False), (3.0, False)]
)
def test_a_bool_is_no_integer(value, expected):
    assert is_integer(value) is expected


def test_groups_that_are_codes_are_numbered_as_any_labels():
    rng = np.random.default_rng(0)
    for codes in (rng.integers(0, 60, 40), rng.integers(50, 1000, 40), np.array([3])):
        expected = np.unique(codes, return_inverse=True)[1]
        for groups in (codes, [f"{code:04}" for code in codes], codes - 100):
            found = as_groups(groups, codes.size)
            np.testing.assert_array_equal(found, expected)
