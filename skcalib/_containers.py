"""Containers: what counts as a sequence, and how arrays and tables become NumPy arrays.

Other modules import these names from :mod:`skcalib._validation`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from scipy import sparse

from ._errors import ParameterError, ParameterTypeError

__all__ = [
    "as_array",
    "column_names",
    "columns_by_name",
    "is_collection",
    "is_dask",
    "is_sequence",
    "is_tensor_type",
    "on_cpu",
]

# The number of the CPU among DLPack's devices.
_CPU = 1


def is_collection(values: Any) -> bool:
    """Return whether the value has entries; False for a str and for a 0-d array."""
    return (
        (hasattr(values, "__iter__") or hasattr(values, "__getitem__"))
        and not isinstance(values, (str, bytes))
        and getattr(values, "ndim", 1) > 0
    )


def is_sequence(values: Any) -> bool:
    """Return whether the value has a known number of ordered entries.

    A set has no order, and iterating a mapping or a table gives names.
    """
    return (
        is_collection(values)
        and hasattr(values, "__len__")
        and not isinstance(values, (Set, Mapping))
        and not hasattr(values, "columns")
    )


def described(values: Any) -> str:
    """Return what a container or another value is, without its numbers."""
    kind = type(values).__name__
    if hasattr(values, "shape"):
        return f"{kind} of shape {tuple(values.shape)}"
    if not is_collection(values) or not hasattr(values, "__len__"):
        return f"{values!r:.50}"
    inside = " and ".join(sorted({type(each).__name__ for each in values})[:3])
    return f"{kind} of length {len(values)}" + f" that contains {inside}" * bool(inside)


def is_dask(*values: Any) -> bool:
    """Return whether any of the values is a Dask collection."""
    dask = sys.modules.get("dask")  # imported if a collection exists
    return dask is not None and any(map(dask.is_dask_collection, values))


def on_cpu(values: Any, *, name: str) -> Any:
    """Return a value that NumPy can convert: tensors are detached from gradients.

    Tensors and array-API arrays have to be in the memory of the CPU, since copying
    from a device is left to the caller.
    """
    if not is_tensor_type(type(values)):
        return values
    if getattr(values, "is_nested", False):
        problem = (
            "must not be a nested tensor. Pass the list of its tensors, which "
            "`.unbind()` returns."
        )
        raise ParameterTypeError(name, problem)
    if getattr(values, "is_sparse", False) or getattr(values, "is_sparse_csr", False):
        problem = (
            f"must be dense. Got a sparse {type(values).__name__}: convert it with "
            "`.to_dense()`."
        )
        raise ParameterTypeError(name, problem)
    device = getattr(values, "device", "another device")
    try:
        is_there = values.__dlpack_device__()[0] == _CPU
    except (BufferError, RuntimeError, ValueError):  # for tensors without data
        is_there = False
    if not is_there:
        problem = (
            f"must be in the memory of the CPU. Got {type(values).__name__} on "
            f"{device}. Copy it first, for example with `.cpu()` (PyTorch) or `.get()` "
            "(CuPy)."
        )
        raise ParameterTypeError(name, problem)
    if hasattr(values, "detach"):
        values = values.detach()
        if "bfloat16" in str(values.dtype):  # NumPy does not have this type
            values = values.float()
    return values


def is_tensor_type(kind: type) -> bool:
    """Return whether a type is a tensor or array-API type other than NumPy's."""
    return hasattr(kind, "__dlpack_device__") and not issubclass(
        kind, (np.ndarray, np.generic)
    )


def as_array(values: Any, *, name: str) -> np.ndarray:
    """Return the entries of a container as a NumPy array of any shape and type.

    Accepts sequences (including sequences of tensors), NumPy and array-API arrays,
    tensors with gradients or of type bfloat16, and columns of pandas, polars and
    pyarrow. Raises an error for masked entries, sparse matrices, and rows of different
    lengths (a ValueError of NumPy).
    """
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            place = np.argwhere(np.ma.getmaskarray(values))[0]
            raise _masked(name, int(place[0]) if place.size else 0)
        return values.data
    if sparse.issparse(values):
        problem = (
            f"must be dense. Got {type(values).__name__} of shape {values.shape}: "
            "convert it with `.toarray()`."
        )
        raise ParameterTypeError(name, problem)
    if hasattr(values, "collect") and not hasattr(values, "__len__"):
        problem = (
            f"must be in memory. Got {type(values).__name__}: load it first, for "
            "example with `.collect()`."
        )
        raise ParameterTypeError(name, problem)
    if isinstance(values, (list, tuple)) and _has_arrays(values):
        masked = [np.ma.is_masked(each) for each in values]
        if any(masked):
            raise _masked(name, masked.index(True))
        # NumPy would read tensors entry by entry, and labels as objects.
        return np.array([as_array(each, name=name) for each in values])
    return np.asarray(on_cpu(values, name=name))


def _masked(name: str, row: int) -> ParameterError:
    problem = (
        f"must not have masked entries. Got a masked entry in row {row}: drop these "
        "rows, or fill them."
    )
    return ParameterError(name, problem)


def _has_arrays(values: Sequence[Any]) -> bool:
    """Return whether the entries, or the entries of row 0, are tensors or masked."""
    if any(
        is_tensor_type(kind) or issubclass(kind, np.ma.MaskedArray)
        for kind in set(map(type, values))
    ):
        return True
    first = values[0] if len(values) else None
    return isinstance(first, (list, tuple)) and _has_arrays(first)


def column_names(values: Any) -> list[Any] | None:
    """Return the names of the columns of a table; None if they are only numbered.

    pandas numbers columns 0, 1, ..., polars calls them column_0, column_1, ...
    """
    names = getattr(values, "column_names", None)  # pyarrow's columns are the data
    if names is None:
        names = getattr(values, "columns", None)
    if names is None or callable(names):
        return None
    names = list(names)
    numbered: list[list[Any]] = [
        list(range(len(names))),
        [f"column_{k}" for k in range(len(names))],
    ]
    return None if names in numbered else names


def columns_by_name(
    names: list[Any] | None, labels: np.ndarray, *, name: str
) -> list[int] | None:
    """Return the column of each label in a table with named columns.

    The names must be the labels, or the labels as strings. None is returned if the
    columns are in the order of the labels or have no names.
    """
    order = labels.tolist()
    if names is None or names in (order, list(map(str, order))):
        return None
    for wanted in (order, list(map(str, order))):
        if len(names) == len(wanted) and set(names) == set(wanted):
            return [names.index(label) for label in wanted]
    raise ParameterError(
        name,
        f"must have columns named as the labels. Got the columns {names!r:.200} and "
        f"the labels {order!r:.200}: rename the columns, or pass an array with its "
        "columns in the order of the labels.",
    )
