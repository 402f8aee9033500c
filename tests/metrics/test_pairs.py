"""Wrong input is refused with the argument, the row and what was expected."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import case

from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)

FUNCTIONS = [
    calibration_error,
    adaptive_reliability_curve,
    calibration_error_interval,
]

Y = (0, 1, 1)
Q = (0.1, 0.2, 0.9)
MATRIX = ((0.2, 0.3, 0.5), (0.2, 0.5, 0.3), (0.6, 0.3, 0.1))
NAMES = ("a", "b", "c")
NA = pd.NA

# name of the parameter, the arguments, what the message says of it
BAD_ROWS = [
    ("y_proba", {"y_proba": [0.1, np.nan, 0.9]}, "Got nan in row 1"),
    ("y_proba", {"y_proba": [np.inf, 0.2, 0.9]}, "Got inf in row 0"),
    ("y_proba", {"y_proba": [0.1, 0.2, -np.inf]}, "Got -inf in row 2"),
    ("y_proba", {"y_proba": [0.1, 0.2, 1.2]}, "Got 1.2 in row 2"),
    ("y_proba", {"y_proba": [0.1, -0.2, 0.9]}, "Got -0.2 in row 1"),
    ("y_proba", {"y_proba": [10, 20, 90]}, "Got 10.0 in row 0. Percentages"),
    ("y_proba", {"y_proba": [0.1, 0.2, 1 + 2e-9]}, "Got 1.000000002 in row 2"),
    ("y_proba", {"y_proba": [-2e-9, 0.2, 0.9]}, "Got -2e-09 in row 0"),
    (
        "y_proba",
        {"y_proba": np.array([0.1, 0.2, 1 + 3e-6], np.float32)},
        "Got 1.0000029",
    ),
    (
        "y_proba",
        {"y_true": NAMES, "y_proba": [*MATRIX[:2], (0.6, np.nan, 0.1)]},
        "Got nan in row 2, column 1",
    ),
    ("y_proba", {"y_proba": [0.1, None, 0.9]}, "Got nan in row 1"),
    ("y_proba", {"y_proba": pd.Series([0.1, NA, 0.9], dtype="Float64")}, "in row 1"),
    ("y_proba", {"y_proba": pl.Series([0.1, None, 0.9])}, "Got nan in row 1"),
    ("y_proba", {"y_proba": ["0.1", "0.2", "0.9"]}, "the text '0.1' in row 0"),
    ("y_proba", {"y_proba": np.array(["a", "b", "a"])}, "Got the text 'a' in row 0"),
    ("y_proba", {"y_proba": [0.2, -1.5, 3.0]}, "Got -1.5 in row 1.* Map logits to"),
    (
        "y_proba",
        {"y_proba": np.array([0.1, "0.2", 0.9], object)},
        "must contain numbers",
    ),
    ("y_proba", {"y_proba": np.array([0.1, 0.2j, 0.9])}, "must contain numbers"),
    ("y_proba", {"y_proba": [[0.1], [0.2, 0.8], [0.9]]}, "must contain numbers"),
    ("y_proba", {"y_proba": [[[0.1]], [[0.2]], [[0.9]]]}, r"Got shape \(3, 1, 1\)"),
    ("y_proba", {"y_proba": np.zeros((3, 2, 2))}, r"Got shape \(3, 2, 2\)"),
    ("y_proba", {"y_proba": 0.5}, r"Got shape \(\)"),
    ("y_proba", {"y_true": [], "y_proba": []}, "is empty"),
    ("y_true", {"y_true": []}, "is empty"),
    ("y_true", {"y_true": [0, np.nan, 1]}, "Got .*nan.* in row 1"),
    ("y_true", {"y_true": [0, 1, np.inf]}, "Got .*inf.* in row 2"),
    ("y_true", {"y_true": [0, 1, None]}, "a label in every row. Got None in row 2"),
    ("y_true", {"y_true": [None, "a", "b"]}, "every row. Got None in row 0"),
    ("y_true", {"y_true": ["a", np.nan, "b"]}, "Got .*nan.* in row 1"),
    ("y_true", {"y_true": pd.Series([0, NA, 1], dtype="Int64")}, "in row 1"),
    ("y_true", {"y_true": pd.Series(["a", NA, "b"], dtype="string")}, "in row 1"),
    ("y_true", {"y_true": pd.Series([True, NA, True], dtype="boolean")}, "in row 1"),
    ("y_true", {"y_true": pl.Series(["a", None, "b"])}, "every row. Got None in row 1"),
    ("y_true", {"y_true": np.array([0, 1, np.nan], complex)}, "Got .*nan.* in row 2"),
    (
        "y_true",
        {"y_true": np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[D]")},
        "Got None in row 1",
    ),
    ("y_true", {"y_true": ["a", 1, 0], "pos_label": 2}, "labels of one sortable type"),
    ("y_true", {"y_true": [[0, 1], [1, 0], [1, 0]]}, r"Got shape \(3, 2\)"),
    ("y_true", {"y_true": [[0], [1, 0], [1]]}, "must"),
    ("y_true", {"y_true": 1}, r"Got shape \(\)"),
    (
        "y_true",
        {"y_true": ["no", "yes", "no"]},
        "Got the labels 'no', 'yes'. Pass as pos_label",
    ),
    ("y_true", {"y_true": [1, 2, 2]}, "Got the labels 1, 2. Pass as pos_label"),
    ("y_true", {"y_true": [2, 2, 2]}, "Got the labels 2. Pass as pos_label"),
    ("y_true", {"y_true": [0, 1, 2]}, "Got the labels 0, 1, 2. Pass as pos_label"),
    ("y_true", {"y_true": [-1, 0, 1]}, "Got the labels -1, 0, 1. Pass as pos_label"),
    ("pos_label", {"pos_label": 2}, "a label of y_true. Got 2, and the labels 0, 1"),
    ("pos_label", {"pos_label": "1"}, "Got '1', and the labels 0, 1"),
    ("pos_label", {"pos_label": [1]}, r"must be one label. Got \[1\]"),
    ("pos_label", {"pos_label": [0, 1, 1]}, r"must be one label. Got \[0, 1, 1\]"),
    (
        "pos_label",
        {"y_proba": [[0.9, 0.1]] * 3, "pos_label": np.array([0, 1])},
        r"must be one label. Got an array of shape",
    ),
    (
        "pos_label",
        {"y_true": NAMES, "pos_label": "z"},
        "Got 'z', and the labels 'a', 'b', 'c'",
    ),
    (
        "pos_label",
        {"y_true": NAMES, "y_proba": MATRIX, "pos_label": "a"},
        "requires y_proba with two columns",
    ),
    (
        "pos_label",
        {"y_proba": [[0.9, 0.1]] * 3, "pos_label": 7},
        r"one of the labels \[0, 1\]. Got 7",
    ),
    (
        "y_proba",
        {"y_true": NAMES, "y_proba": [[0.9, 0.1]] * 3},
        "Got 2 columns, and y_true has 3 distinct labels. Pass 'labels'",
    ),
    (
        "y_proba",
        {"y_true": ["a", "b", "b"], "y_proba": MATRIX},
        "Got 3 columns, and y_true has 2 distinct labels. Pass 'labels'",
    ),
    (
        "y_proba",
        {"y_true": NAMES, "y_proba": MATRIX, "labels": ["a", "b", "c", "d"]},
        "Got 3 columns, and 'labels' has length 4",
    ),
    ("labels", {"labels": [0, 1]}, r"requires y_proba of shape \(n, n_classes\)"),
    (
        "labels",
        {"y_true": NAMES, "y_proba": MATRIX, "labels": ["a", "b", "b"]},
        "repeats a label",
    ),
    (
        "y_true",
        {"y_true": ["a", "b", "z"], "y_proba": MATRIX, "labels": NAMES},
        "labels that are in 'labels'. Got 'z' in row 2",
    ),
    (
        "multi_class",
        {"multi_class": "pooled"},
        r"requires y_proba of shape \(n, n_cl",
    ),
    (
        "multi_class",
        {"y_true": NAMES, "y_proba": MATRIX, "multi_class": "ovr"},
        "'class_wise', 'per_class'. Got 'ovr'",
    ),
    ("sample_weight", {"sample_weight": [1, 2]}, r"Got shape \(2,\)"),
    ("sample_weight", {"sample_weight": [[1], [2], [3]]}, r"Got shape \(3, 1\)"),
    ("sample_weight", {"sample_weight": 1.0}, r"Got shape \(\)"),
    ("sample_weight", {"sample_weight": [1, -1, 1]}, "not negative. Got -1.0 in row 1"),
    ("sample_weight", {"sample_weight": [1, 1, np.nan]}, "Got nan in row 2"),
    ("sample_weight", {"sample_weight": [np.inf, 1, 1]}, "Got inf in row 0"),
    ("sample_weight", {"sample_weight": [0, 0, 0]}, "is zero in every row"),
    ("sample_weight", {"sample_weight": ["a", "b", "c"]}, "must contain numbers"),
    ("sample_weight", {"sample_weight": ["1", "2", "3"]}, "must contain numbers"),
    ("sample_weight", {"sample_weight": [1, 2j, 1]}, "must contain numbers"),
    ("sample_weight", {"sample_weight": [5e-324] * 3}, r"Got a sum of 1\.48e-323"),
    ("sample_weight", {"sample_weight": [1e308] * 3}, "Got a sum of inf"),
    ("sample_weight", {"sample_weight": [1e16, 1, 1]}, r"Got a sum of 1e\+16"),
]


def test_bad_input_is_named():
    for parameter, arguments, said in BAD_ROWS:
        values = {"y_true": Y, "y_proba": Q, **arguments}
        for function in FUNCTIONS:
            message = f"The '{parameter}' parameter of {function.__name__} .*{said}"
            with (
                case(f"{function.__name__}, {arguments}"),
                pytest.raises(ValueError, match=message),
            ):
                function(**values)


def test_lengths_that_differ_are_both_given():
    for y, q in [(Y, Q[:2]), (Y[:2], Q), (Y[:2], MATRIX)]:
        for function in FUNCTIONS:
            with case(f"{function.__name__}, {len(y)}, {len(q)}"):
                message = (
                    f"{function.__name__} needs y_true and y_proba of the same length. "
                    f"Got: y_true has {len(y)}, y_proba has {len(q)}"
                )
                with pytest.raises(ValueError, match=message):
                    function(y, q)


def test_bad_bins_are_named():
    cases = [
        ({"bin_size": 0}, ValueError, "'bin_size' .* integer of at least 1. Got 0"),
        ({"bin_size": -3}, ValueError, "'bin_size' .* integer of at least 1. Got -3"),
        ({"bin_size": 2.0}, TypeError, "'bin_size' .* integer of at least 1. Got 2.0"),
        ({"bin_size": True}, TypeError, "'bin_size' .* integer of at least 1. Got Tr"),
        ({"bin_size": None}, TypeError, "'bin_size' .* integer of at least 1. Got No"),
        ({"bin_size": "best"}, ValueError, "'bin_size' .* 'auto' or an .* Got 'best'"),
        ({"n_bins": 0}, ValueError, "'n_bins' .* integer of at least 1. Got 0"),
        ({"n_bins": 1.5}, TypeError, "'n_bins' .* integer of at least 1. Got 1.5"),
        ({"n_bins": "auto"}, TypeError, "'n_bins' .* integer of at least 1. Got 'au"),
        ({"strategy": "uniform"}, ValueError, "'strategy' .* needs 'n_bins'"),
        ({"strategy": "equal"}, ValueError, "'strategy' .* 'uniform'. Got 'equal'"),
        (
            {"bin_size": 5, "n_bins": 3},
            ValueError,
            "takes 'bin_size' or 'n_bins', not both. Got bin_size=5 and n_bins=3",
        ),
    ]
    for function in FUNCTIONS[:2]:
        for arguments, error, message in cases:
            with case(f"{function.__name__}, {arguments}"):
                with pytest.raises(error, match=message) as caught:
                    function(Y, Q, **arguments)
                assert function.__name__ in str(caught.value)


def test_bad_norms_are_named():
    cases = [
        ({"norm": "l3"}, ValueError, "'norm' .* 'l1', 'l2', 'max'. Got 'l3'"),
        ({"norm": 2}, ValueError, "'norm' .* 'l1', 'l2', 'max'. Got 2"),
        ({"squared": "yes"}, TypeError, "'squared' .* True or False. Got 'yes'"),
        ({"debias": 1}, TypeError, "'debias' .* True or False. Got 1"),
        ({"norm": "l1", "squared": True}, ValueError, "'squared' .* needs norm='l2'"),
        ({"norm": "max", "debias": True}, ValueError, "'debias' .* needs norm='l2'"),
    ]
    for arguments, error, message in cases:
        with case(arguments), pytest.raises(error, match=message):
            calibration_error(Y, Q, **arguments)


@pytest.mark.filterwarnings("ignore:There is no test")
def test_a_bin_size_beyond_the_data_is_one_bin():
    for function in FUNCTIONS:
        for size in [2**40, 10**30]:
            with case(f"{function.__name__}, {size}"):
                found, expected = (
                    function(Y, Q, bin_size=size),
                    function(Y, Q, bin_size=3),
                )
                if function is not calibration_error:
                    found, expected = found.to_dict(), expected.to_dict()
                    assert found.pop("bin_size") == size
                    expected.pop("bin_size")
                assert found == expected


def test_more_bins_than_pairs_are_a_bin_each():
    for weight in [None, [1, 2, 1]]:
        for n_bins in [2**40, 10**30]:
            with case(f"{n_bins}, {weight}"):
                for function in FUNCTIONS[:2]:
                    found, expected = (
                        function(Y, Q, n_bins=n, sample_weight=weight)
                        for n in (n_bins, 4)
                    )
                    if function is not calibration_error:
                        found, expected = found.to_dict(), expected.to_dict()
                    assert found == expected


def test_options_are_keywords():
    for function in FUNCTIONS:
        with (
            case(function.__name__),
            pytest.raises(TypeError, match="takes 2 positional arguments but 3 were"),
        ):
            function(Y, Q, 100)


def test_what_rounding_may_add_is_that_of_the_given_precision():
    # 1 + 4 eps of float16; float64 of the same number is out of range
    q = np.array([0.25, 0.5, 1 + 2**-8], np.float16)
    assert calibration_error(Y, q) == calibration_error(Y, [0.25, 0.5, 1.0])
    with pytest.raises(ValueError, match=r"Got 1\.00390625 in row 2"):
        calibration_error(Y, q.astype(float))


def test_the_label_of_a_row_without_weight_is_not_asked_for():
    cases = [
        ((0, 1, 2), Q, {}),
        (("a", "b", "?"), ((0.8, 0.2), (0.3, 0.7), (0.5, 0.5)), {}),
        (NAMES, ((0.8, 0.2), (0.3, 0.7), (0.5, 0.5)), {"labels": ("a", "b")}),
    ]
    for y, q, settings in cases:
        with case(y):
            found = calibration_error(y, q, sample_weight=(1, 3, 0), **settings)
            assert found == calibration_error(
                y[:2], q[:2], sample_weight=(1, 3), **settings
            )


def test_rows_without_weight_are_counted_in_messages():
    with pytest.raises(ValueError, match="Got 'c' in row 2"):
        calibration_error(
            NAMES, MATRIX, labels=("a", "b", "d"), sample_weight=(0, 1, 1)
        )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_probabilities_of_sentences_are_not_printed(function):
    marginals = [np.full((size, 9), 1 / 9) for size in (30, 20)]
    with pytest.raises(
        ValueError, match=r"shape \(30, 9\) in row 0.*TagQuery"
    ) as error:
        function([0, 1], marginals)
    assert len(str(error.value)) < 320
    for arguments in ({"sample_weight": marginals}, {"pos_label": marginals[0]}):
        with pytest.raises(ValueError, match=r"an array of shape \(30, 9\)") as error:
            function([0, 1], [0.2, 0.4], **arguments)
        assert len(str(error.value)) < 200
    with pytest.raises(ValueError, match=r"label in every row. .*shape \(30, 9\)"):
        function(np.array([*marginals, None], dtype=object)[:2], [0.2, 0.4])


def test_columns_in_another_order_are_found():
    """24 of 30 rows of a class have their label, and 6 the next one."""
    index = np.repeat([0, 1, 2], 30)
    proba = np.full((90, 3), 0.2)
    proba[np.arange(90), np.where(np.arange(90) % 5, index, (index + 1) % 3)] = 0.6
    y_true = np.array(["neg", "neu", "pos"])[index]
    message = r"label in 20% of the rows, and in 80% .* order \['neu', 'pos', 'neg'\]"
    with pytest.warns(UserWarning, match=message):
        calibration_error(y_true, proba[:, [1, 2, 0]])
    with warnings.catch_warnings(action="error"):
        calibration_error(y_true, proba)
