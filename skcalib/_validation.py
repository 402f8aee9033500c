"""Checks that every room shares, so that the same mistake gets the same message.

A message says which argument of which function, what was expected, what came.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

# The number of the CPU among DLPack's devices.
_CPU = 1

__all__ = [
    "check_bool",
    "check_choice",
    "check_finite",
    "check_fraction",
    "check_integer",
    "check_positive",
    "check_real",
    "check_same_length",
    "check_verbose",
    "is_collection",
    "is_dask",
    "is_integer",
    "is_missing",
    "is_sequence",
    "on_cpu",
]


def _refuse(caller: str, name: str, expected: str, value: Any) -> str:
    return (
        f"The {name!r} parameter of {caller} must be {expected}. Got {value!r} instead."
    )


def on_cpu(values: Any, *, name: str, caller: str) -> Any:
    """Return what NumPy can convert: tensors without gradient; others as they are.

    Tensors and array-API arrays have to be in the memory of the CPU, since what copies
    them from a device, and when, is for the caller to choose.
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return values
    device = getattr(values, "device", "another device")
    try:
        is_there = values.__dlpack_device__()[0] == _CPU
    except (BufferError, RuntimeError, ValueError):  # as of tensors without data
        is_there = False
    if not is_there:
        raise TypeError(
            f"The {name!r} parameter of {caller} must be in the memory of the CPU. Got "
            f"{type(values).__name__} on {device}: copy it first, as by `.cpu()` of "
            "PyTorch or `.get()` of CuPy."
        )
    if hasattr(values, "detach"):
        values = values.detach()
        if "bfloat16" in str(values.dtype):  # which NumPy does not know
            values = values.float()
    return values


def is_collection(values: Any) -> bool:
    """Return whether there are entries to iterate; a text or a 0-d array has none."""
    return (
        (hasattr(values, "__iter__") or hasattr(values, "__getitem__"))
        and not isinstance(values, (str, bytes))
        and getattr(values, "ndim", 1) > 0
    )


def is_sequence(values: Any) -> bool:
    """Return whether there are entries of a number and in an order.

    A set has no order, and of a mapping or a table one would iterate names.
    """
    return (
        is_collection(values)
        and hasattr(values, "__len__")
        and not isinstance(values, (Set, Mapping))
        and not hasattr(values, "columns")
    )


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer, and no bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas' NA will not be compared
        return True


def is_dask(*values: Any) -> bool:
    """Return whether any of the values is a Dask collection."""
    dask = sys.modules.get("dask")  # there if a collection is
    return dask is not None and any(map(dask.is_dask_collection, values))


def check_bool(value: Any, *, name: str, caller: str) -> bool:
    """Return `value` as a bool if it is one."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(_refuse(caller, name, "True or False", value))
    return bool(value)


def check_choice(value: Any, choices: Sequence[str], *, name: str, caller: str) -> str:
    """Return `value` if it is one of the `choices`."""
    if not isinstance(value, str) or value not in choices:
        expected = "one of " + ", ".join(repr(choice) for choice in choices)
        raise ValueError(_refuse(caller, name, expected, value))
    return value


def check_float_type(value: Any, *, name: str, caller: str) -> np.dtype:
    """Return `value` as a dtype if it is float64 or float32."""
    try:
        found = np.dtype(value)
    except TypeError:
        found = np.dtype(object)
    if value is None or found not in (np.float64, np.float32):
        raise ValueError(_refuse(caller, name, "float64 or float32", value))
    return found


def check_integer(value: Any, *, minimum: int, name: str, caller: str) -> int:
    """Return `value` as an int if it is an integer of at least `minimum`."""
    if not is_integer(value):
        expected = f"an integer of at least {minimum}"
        raise TypeError(_refuse(caller, name, expected, value))
    if value < minimum:
        expected = f"an integer of at least {minimum}"
        raise ValueError(_refuse(caller, name, expected, value))
    return int(value)


def check_verbose(value: Any, *, caller: str) -> int:
    """Return how much is to be printed; True is 1."""
    level = int(value) if isinstance(value, (bool, np.bool_)) else value
    return check_integer(level, minimum=0, name="verbose", caller=caller)


def _as_float(value: Any, expected: str, *, name: str, caller: str) -> float:
    """Return a real number as a float, one beyond all floats as inf."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(_refuse(caller, name, expected, value))
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_real(value: Any, *, low: float, high: float, name: str, caller: str) -> float:
    """Return `value` as a float if it lies in [low, high]."""
    expected = f"a number in [{low:g}, {high:g}]"
    number = _as_float(value, expected, name=name, caller=caller)
    if not low <= number <= high:
        raise ValueError(_refuse(caller, name, expected, value))
    return number


def check_fraction(value: Any, *, name: str, caller: str) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1."""
    expected = "a number strictly between 0 and 1"
    number = _as_float(value, expected, name=name, caller=caller)
    if not 0 < number < 1:
        raise ValueError(_refuse(caller, name, expected, value))
    return number


def check_positive(value: Any, *, name: str, caller: str) -> float:
    """Return `value` as a float if it is finite and more than 0."""
    expected = "a positive number"
    number = _as_float(value, expected, name=name, caller=caller)
    if not 0 < number < math.inf:
        raise ValueError(_refuse(caller, name, expected, value))
    return number


def check_finite(value: Any, *, name: str, caller: str) -> float:
    """Return `value` as a float if it is finite."""
    expected = "a finite number"
    number = _as_float(value, expected, name=name, caller=caller)
    if not math.isfinite(number):
        raise ValueError(_refuse(caller, name, expected, value))
    return number


def check_same_length(caller: str, **arrays: Any) -> None:
    """Raise if the named arrays (None is skipped) differ in length."""
    lengths = {name: len(a) for name, a in arrays.items() if a is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"The arrays passed to {caller} must have one entry for each row, "
            f"so the same length. Got: {found}."
        )
