"""Labels from every container become Python labels, with their places in errors."""

import datetime

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest

from skcalib._validation import (
    as_label_list,
    as_label_lists,
    as_labels,
    distinct_labels,
    label_array,
    label_places,
)

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "object array": lambda v: np.array(v, dtype=object),
    "unmasked array": np.ma.array,
    "array API": array_api_strict.asarray,
    "Series": pd.Series,
    "Series with NA type": lambda v: pd.Series(v, dtype="Int64"),
    "Index": pd.Index,
    "polars": pl.Series,
    "NumPy numbers": lambda v: [np.int64(each) for each in v],
    "0-d arrays": lambda v: [np.array(each) for each in v],
}


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_label_lists_from_every_container(make):
    assert as_label_list(make([2, 0]), name="classes") == [2, 0]
    assert as_label_lists([make([1, 0]), make([2])], name="y") == [[1, 0], [2]]


def test_label_lists_from_tensors(tensor):
    assert as_label_lists([tensor([0, 1]), tensor([0])], name="y") == [[0, 1], [0]]
    assert as_label_lists(tensor([[0, 1], [1, 1]]), name="y") == [[0, 1], [1, 1]]
    scalars = [[tensor(0), tensor(1)], [tensor([0])]]
    assert as_label_lists(scalars, name="y") == [[0, 1], [0]]
    assert as_label_list(tensor([3, 4]), name="classes") == [3, 4]
    assert as_label_list([tensor(3), tensor(4)], name="classes") == [3, 4]


def test_label_lists_from_a_nested_tensor():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    y = torch.nested.nested_tensor([torch.tensor([0, 1]), torch.tensor([0])])
    assert as_label_lists(y, name="y") == [[0, 1], [0]]


def test_label_lists_from_arrow():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    y = pa.array([["a", "b"], ["c"]])
    assert as_label_lists(y, name="y") == [["a", "b"], ["c"]]
    assert as_label_lists(pa.chunked_array([y]), name="y") == [["a", "b"], ["c"]]
    assert as_label_lists([each.values for each in y], name="y") == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([["a", "b"], ["c"]]),
        pl.Series([["a", "b"], ["c"]]),
        np.array([["a", "b"], ["c"]], dtype=object),
        (["a", "b"], np.array(["c"])),
    ],
    ids=["pandas", "polars", "object array", "tuple"],
)
def test_sentences_from_every_container(y):
    assert as_label_lists(y, name="y") == [["a", "b"], ["c"]]


def test_label_lists_are_not_copied_where_they_are_lists_already():
    y = [["a"], ["b", "c"]]
    assert as_label_lists(y, name="y") is y


def test_dates_stay_dates():
    days = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[ns]")
    assert as_label_list(days, name="classes") == list(days)
    day = datetime.date(2020, 1, 1)
    assert as_label_list([day], name="classes") == [day]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ({"a"}, "must have an entry for each sentence. Got set"),
        ("ab", "must have an entry for each sentence. Got str"),
        ([["a"], "bc"], "of labels for each sentence. Got str 'bc' for sent.* 1"),
        ([["a"], 3], "Got int 3 for sentence 1"),
        ([["a"], ["b", None]], "Token 1 of sentence 1 has None"),
        ([[0.0, np.nan]], "Token 1 of sentence 0 has nan"),
        ([[1], pd.array([1, None], dtype="Int64")], "Token 1 of sentence 1 has <NA>"),
        ([[1], pl.Series([1, None])], "Token 1 of sentence 1 has None"),
        ([["a", ["b"]]], r"Token 1 of sentence 0 has \['b'\]"),
        ([np.ma.array([1, 2], mask=[0, 1])], "masked entry in row 1"),
    ],
)
def test_what_is_not_label_lists_is_named_with_its_place(y, message):
    with pytest.raises((ValueError, TypeError), match=f"'tags' parameter .*{message}"):
        as_label_lists(y, name="tags")


def test_documents_have_their_own_words():
    with pytest.raises(ValueError, match="for each mention. Mention 1 of document 0"):
        as_label_lists([["a", None]], name="y", entry="document", item="mention")


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ({"a"}, "ordered sequence of labels. Got set"),
        ("ab", "Got str 'ab'"),
        (["a", None], "Got None at place 1"),
        ([["a"]], r"Got \['a'\] at place 0"),
    ],
)
def test_what_is_not_a_label_list_is_named(classes, message):
    with pytest.raises((ValueError, TypeError), match=f"'classes' .*{message}"):
        as_label_list(classes, name="classes")


def test_strings_that_end_in_nul_stay_different():
    labels = ["N", "N\0", "N"]
    assert label_array(labels).tolist() == labels
    assert as_labels(labels, name="y").tolist() == labels
    assert distinct_labels(label_array(labels), name="y").tolist() == ["N", "N\0"]
    assert label_places(label_array(labels), label_array(["N", "N\0"])).tolist() == [
        0,
        1,
        0,
    ]


def test_tuples_are_labels():
    labels = [("a", "b"), ("a", "c")]
    assert label_array(labels).tolist() == labels


@pytest.mark.parametrize(
    ("labels", "order", "expected"),
    [
        ([2, 0, 7], [0, 1, 2], [2, 0, -1]),
        ([2, 0, 7], [2, 1, 0], [0, 2, -1]),
        ([True, False], [0, 1], [1, 0]),
        ([1.0, 0.0, 0.5], [0, 1], [1, 0, -1]),
        (["b", "a", "aa", ""], ["b", "a"], [0, 1, -1, -1]),
        ([("a", 1), ("a", 2)], [("a", 2)], [-1, 0]),
        ([1, "1"], [1, 2], [0, -1]),
        ([2**63, 2**63 + 1], [2**63 + 1], [-1, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [None, object])
def test_the_place_of_a_label_in_an_order(labels, order, expected, dtype):
    given, wanted = label_array(labels), label_array(order)
    if dtype is object:
        given = given.astype(object)
    assert label_places(given, wanted).tolist() == expected


def test_integers_of_different_signs_are_compared_exactly():
    big = np.array([2**53, 2**53 + 1], dtype=np.uint64)
    assert label_places(big, np.array([2**53 + 1])).tolist() == [-1, 0]
