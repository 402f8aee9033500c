"""Containers of probabilities are read; what cannot be read is named."""

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from cases import case
from scipy import sparse

from skcalib.metrics import calibration_error

Y = [0, 1]
ROWS = [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("dtype", ["torch.float32", "torch.bfloat16"])
def test_numbers_from_tensors(tensor, dtype, requires_grad):
    whole = tensor(ROWS, dtype, requires_grad)
    rows = [tensor(row, dtype, requires_grad) for row in ROWS]
    entries = [[tensor(q, dtype, requires_grad) for q in row] for row in ROWS]
    for values in (whole, rows, entries, tuple(rows)):
        assert calibration_error(Y, values) == calibration_error(Y, ROWS)
    column = [tensor([q]) for q in (0.5, 1.0)]
    assert calibration_error(Y, column) == calibration_error(Y, [0.5, 1.0])


def test_array_api_arrays_inside_lists():
    rows = [array_api_strict.asarray(row) for row in ROWS]
    assert calibration_error(Y, rows) == calibration_error(Y, ROWS)


def test_what_is_not_numbers_is_named():
    cases = [
        (np.ma.array([0.1, 0.2], mask=[0, 1]), "masked entry in row 1"),
        ([np.ma.array([0.1]), np.ma.array([0.2], mask=[1])], "masked entry in row 1"),
        ([0.1, np.ma.masked], "masked entry in row 1"),
        (sparse.eye_array(2).tocsr(), "must be dense. Got csr_array .* `.toarray"),
        ([[0.1], [0.2, 0.3]], "numbers, in rows of equal length. Got .0.1. in row"),
        (["0.1", "0.2"], "must contain numbers"),
        ([0.1, pd.NA], "number at every place. Got <NA> in row 1"),
    ]
    for values, message in cases:
        with (
            case(message),
            pytest.raises(
                (ValueError, TypeError), match=f"'y_proba' parameter .*{message}"
            ),
        ):
            calibration_error(Y, values)


def test_nested_and_sparse_tensors_are_named(tensor):
    class Nested(type(tensor([0.5]))):
        is_nested = True

    class Sparse(type(tensor([0.5]))):
        is_nested = False
        is_sparse = True

    if not hasattr(Nested([0.5]), "values"):
        pytest.skip("subclasses of PyTorch's tensors are not like this")
    with pytest.raises(TypeError, match=r"nested tensor.* `\.unbind\(\)`"):
        calibration_error([1], Nested([0.5]))
    with pytest.raises(TypeError, match=r"dense.* `\.to_dense\(\)`"):
        calibration_error([1], Sparse([0.5]))
