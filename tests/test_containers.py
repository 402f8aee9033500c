"""Containers become arrays; what cannot is named with the remedy."""

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skcalib._validation import as_array, as_floats, as_probabilities, column_names


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("dtype", ["torch.float32", "torch.bfloat16"])
def test_numbers_from_tensors(tensor, dtype, requires_grad):
    expected = [[0.5, 0.25], [1, 0]]
    whole = tensor(expected, dtype, requires_grad)
    rows = [tensor(row, dtype, requires_grad) for row in expected]
    entries = [[tensor(q, dtype, requires_grad) for q in row] for row in expected]
    for values in (whole, rows, entries, tuple(rows)):
        assert as_floats(values, name="q").tolist() == expected
    assert as_floats([tensor([q]) for q in (0.5, 1.0)], name="q").shape == (2, 1)


def test_array_api_arrays_inside_lists():
    rows = [array_api_strict.asarray([0.5, 0.25]), array_api_strict.asarray([1.0, 0])]
    assert as_floats(rows, name="q").tolist() == [[0.5, 0.25], [1, 0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ma.array([0.1, 0.2], mask=[0, 1]), "masked entry in row 1"),
        ([np.ma.array([0.1]), np.ma.array([0.2], mask=[1])], "masked entry in row 1"),
        ([0.1, np.ma.masked], "masked entry in row 1"),
        (sparse.eye_array(2).tocsr(), "must be dense. Got csr_array .* `.toarray"),
        (
            [[0.1], [0.2, 0.3]],
            "numbers, in rows of equal length. Got .0.1. in row",
        ),
        (["0.1"], "must contain numbers"),
        ([0.1, pd.NA], "number at every place. Got <NA> in row 1"),
    ],
)
def test_what_is_not_numbers_is_named(values, message):
    with pytest.raises((ValueError, TypeError), match=f"'q' parameter .*{message}"):
        as_floats(values, name="q")


def test_nested_and_sparse_tensors_are_named(tensor):
    class Nested(type(tensor([0.5]))):
        is_nested = True

    class Sparse(type(tensor([0.5]))):
        is_nested = False
        is_sparse = True

    if not hasattr(Nested([0.5]), "values"):
        pytest.skip("subclasses of PyTorch's tensors are not like this")
    with pytest.raises(TypeError, match=r"nested tensor.* `\.unbind\(\)`"):
        as_array(Nested([0.5]), name="q")
    with pytest.raises(TypeError, match=r"dense.* `\.to_dense\(\)`"):
        as_array(Sparse([0.5]), name="q")


def test_one_column_is_one_probability_a_row():
    assert as_probabilities([[0.1], [0.2]], name="q").tolist() == [0.1, 0.2]
    assert as_probabilities(pd.DataFrame({"p": [0.1]}), name="q").tolist() == [0.1]
    assert as_probabilities([[0.1]], name="q", n_columns=1).shape == (1, 1)


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), ["a", "b"]),
        (pl.DataFrame({"a": [1], "b": [2]}), ["a", "b"]),
        (pd.DataFrame([[1, 2]], columns=[5, 3]), [5, 3]),
        (pd.DataFrame([[1, 2]]), None),
        (pl.DataFrame(np.ones((1, 2))), None),
        (np.ones((1, 2)), None),
        ([[1, 2]], None),
    ],
)
def test_names_of_columns_are_none_where_columns_are_numbered(table, names):
    assert column_names(table) == names


def test_names_of_arrow_columns():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert column_names(pa.table({"a": [1], "b": [2]})) == ["a", "b"]
