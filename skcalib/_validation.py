"""Validation of arguments: scalars, containers, labels, probabilities, weights, groups.

Every function takes the name of the parameter and raises an error that names it, with
what was expected and what was received; see :mod:`skcalib._errors`.

Containers become arrays or lists here and nowhere else: numbers by :func:`as_floats`,
one label per row by :func:`as_labels`, a sequence of labels (`classes`) by
:func:`as_label_list`, and a label sequence per sentence by :func:`as_label_lists`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._containers import (
    as_array,
    column_names,
    columns_by_name,
    is_collection,
    is_dask,
    is_sequence,
    on_cpu,
)
from ._errors import ParameterError, ParameterTypeError
from ._labels import (
    as_label_list,
    as_label_lists,
    as_labels,
    described,
    distinct_labels,
    is_missing,
    label_array,
    label_places,
    positives,
)

# Above the larger sum, float64 cannot count single rows. Below the smaller sum,
# products of weights underflow.
_MOST_WEIGHT = 2.0**53
_LEAST_WEIGHT = 1e-290

__all__ = [
    "as_array",
    "as_floats",
    "as_groups",
    "as_label_list",
    "as_label_lists",
    "as_labels",
    "as_probabilities",
    "as_weights",
    "check_bool",
    "check_choice",
    "check_finite",
    "check_float_type",
    "check_fraction",
    "check_integer",
    "check_positive",
    "check_real",
    "check_same_length",
    "check_verbose",
    "column_names",
    "columns_by_name",
    "described",
    "distinct_labels",
    "is_collection",
    "is_dask",
    "is_integer",
    "is_missing",
    "is_sequence",
    "label_array",
    "label_places",
    "on_cpu",
    "out_of_range",
    "positives",
    "raise_where",
]


# Scalars


def _must_be(expected: str, value: Any) -> str:
    return f"must be {expected}. Got {value!r:.200} instead."


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer, and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_bool(value: Any, *, name: str) -> bool:
    """Return `value` as a bool if it is one."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterTypeError(name, _must_be("True or False", value))
    return bool(value)


def check_choice(value: Any, choices: Sequence[str], *, name: str) -> str:
    """Return `value` if it is one of the `choices`."""
    if not isinstance(value, str) or value not in choices:
        expected = "one of " + ", ".join(repr(choice) for choice in choices)
        raise ParameterError(name, _must_be(expected, value))
    return value


def check_float_type(value: Any, *, name: str) -> np.dtype:
    """Return `value` as a dtype if it is float64 or float32."""
    try:
        found = np.dtype(value)
    except TypeError:
        found = np.dtype(object)
    if value is None or found not in (np.float64, np.float32):
        raise ParameterError(name, _must_be("float64 or float32", value))
    return found


def check_integer(
    value: Any, *, minimum: int, name: str, maximum: int | None = None
) -> int:
    """Return `value` as an int if it is an integer of at least `minimum`."""
    expected = f"an integer of at least {minimum}"
    if maximum is not None:
        expected += f" and at most {maximum:,}"
    if not is_integer(value):
        raise ParameterTypeError(name, _must_be(expected, value))
    if value < minimum or (maximum is not None and value > maximum):
        raise ParameterError(name, _must_be(expected, value))
    return int(value)


def check_verbose(value: Any) -> int:
    """Return the verbosity as an integer; True is 1."""
    level = int(value) if isinstance(value, (bool, np.bool_)) else value
    return check_integer(level, minimum=0, name="verbose")


def _as_float(value: Any, expected: str, name: str) -> float:
    """Return a real number as a float; inf if it exceeds the range of floats."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ParameterTypeError(name, _must_be(expected, value))
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_real(value: Any, *, low: float, high: float, name: str) -> float:
    """Return `value` as a float if it lies in [low, high]."""
    expected = f"a number in [{low:g}, {high:g}]"
    number = _as_float(value, expected, name)
    if not low <= number <= high:
        raise ParameterError(name, _must_be(expected, value))
    return number


def check_fraction(value: Any, *, name: str) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1."""
    expected = "a number strictly between 0 and 1"
    number = _as_float(value, expected, name)
    if not 0 < number < 1:
        raise ParameterError(name, _must_be(expected, value))
    # The quantile of a level that rounds to 1 is infinite.
    if number > 1 - 5e-16:
        raise ParameterError(name, _must_be("at most 1 - 1e-15", value))
    return number


def check_positive(value: Any, *, name: str) -> float:
    """Return `value` as a float if it is finite and greater than 0."""
    expected = "a positive number"
    number = _as_float(value, expected, name)
    if not 0 < number < math.inf:
        raise ParameterError(name, _must_be(expected, value))
    return number


def check_finite(value: Any, *, name: str) -> float:
    """Return `value` as a float if it is finite."""
    expected = "a finite number"
    number = _as_float(value, expected, name)
    if not math.isfinite(number):
        raise ParameterError(name, _must_be(expected, value))
    return number


# Arrays


def check_same_length(**arrays: Any) -> None:
    """Raise an error if the named arrays differ in length; None is skipped."""
    lengths = {name: len(a) for name, a in arrays.items() if a is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        problem = f"needs {' and '.join(lengths)} of the same length. Got: {found}."
        raise ParameterError(None, problem)


def raise_where(
    bad: np.ndarray, values: np.ndarray, expected: str, *, name: str
) -> None:
    """Raise an error that shows the first of the `bad` values, if there is one."""
    if bad.any():
        row = int(bad.argmax())
        got = f"Got {float(values[row])!r} in row {row}."
        raise ParameterError(name, f"must {expected}. {got}")


def out_of_range(q: np.ndarray) -> np.ndarray:
    """Return which numbers are NaN, or outside [0, 1] by more than rounding."""
    eps = np.finfo(q.dtype).eps if q.dtype.kind == "f" else 0.0
    tolerance = max(1e-9, 16 * float(eps))
    return ~((q >= -tolerance) & (q <= 1 + tolerance))


def _clip_rounding(q: np.ndarray, name: str) -> np.ndarray:
    """Return q clipped to [0, 1], if it is outside by rounding only."""
    bad = out_of_range(q)
    if bad.any():
        where = np.unravel_index(int(bad.argmax()), q.shape)
        place = f"row {where[0]}"
        if q.ndim == 2:
            place += f", column {where[1]}"
        hint = ""
        if (q < 0).any():
            hint = (
                " Map logits to probabilities, by a softmax or a sigmoid, and log "
                "probabilities by exp."
            )
        elif 1.5 < q[where] <= 100:
            hint = " Percentages must be divided by 100."
        problem = (
            f"must contain probabilities in [0, 1]. Got {float(q[where])!r} in "
            f"{place}.{hint}"
        )
        raise ParameterError(name, problem)
    return np.clip(q, 0, 1)


def _holds_text(array: np.ndarray) -> bool:
    kinds = {type(value) for value in array.flat}
    return any(issubclass(kind, (str, bytes)) for kind in kinds)


def as_floats(values: Any, *, name: str) -> np.ndarray:
    """Return numbers as an array of floats without changing their precision."""
    try:
        array = as_array(values, name=name)
        if array.dtype.kind not in "fiubO" or (
            array.dtype.kind == "O" and _holds_text(array)
        ):
            raise ValueError  # NumPy would drop imaginary parts and parse digits
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except ParameterError:
        raise
    except (TypeError, ValueError, OverflowError):
        problem = _not_numbers(values, name)
        raise ParameterError(name, problem) from None


def _not_numbers(values: Any, name: str) -> str:
    """Return what is wrong with values that are not an array of numbers."""
    try:
        entries = np.asarray(values, dtype=object)
    except (TypeError, ValueError, RuntimeError):
        entries = np.empty(0, dtype=object)
    for place, each in np.ndenumerate(entries):
        if is_collection(each) and place:
            hint = ""
            if name.endswith("proba"):
                hint = (
                    " If these are probabilities of the tags of sentences, use "
                    "skcalib.queries.TagQuery, whose answers have one probability per "
                    "row."
                )
            return (
                "must contain numbers, in rows of equal length. Got "
                f"{described(each)} in row {place[0]}.{hint}"
            )
        if is_missing(each) and not isinstance(each, float):  # as pandas' NA
            return (
                f"must contain a number at every place. Got {each!r} in row {place[0]}."
            )
        if isinstance(each, (str, bytes)) and place:
            return f"must contain numbers. Got the text {each!r:.40} in row {place[0]}."
    return (
        "must contain numbers, in rows of equal length. Got "
        f"{type(values).__name__} with other content."
    )


def as_probabilities(values: Any, *, name: str, n_columns: int = 2) -> np.ndarray:
    """Return probabilities as an array of float32 or float64 in [0, 1].

    The array is 1-D, or 2-D with at least `n_columns` columns. If `n_columns` is above
    1, a single column is treated as 1-D, since many models with one sigmoid output
    return such an array.
    """
    array = as_floats(values, name=name)
    if array.ndim == 2 and array.shape[1] == 1 < n_columns:
        array = array[:, 0]
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] < n_columns):
        problem = (
            f"must have shape (n,) or (n, n_classes >= {n_columns}). Got shape "
            f"{array.shape} instead."
        )
        raise ParameterError(name, problem)
    if array.size == 0:
        raise ParameterError(name, "is empty.")
    if not (array.min() >= 0 and array.max() <= 1):  # NaN propagates through both
        array = _clip_rounding(array, name)
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def as_weights(values: Any, n: int) -> np.ndarray | None:
    """Return one finite weight per row, not all zero; None for None."""
    if values is None:
        return None
    name = "sample_weight"
    weight = as_floats(values, name=name)
    weight = weight.astype(np.float64, copy=False)
    if weight.shape != (n,):
        problem = (
            f"must have a weight for each of the {n} samples. Got shape "
            f"{weight.shape} instead."
        )
        raise ParameterError(name, problem)
    bad = ~((weight >= 0) & np.isfinite(weight))
    raise_where(bad, weight, "be finite and not negative", name=name)
    if not weight.any():
        raise ParameterError(name, "is zero in every row.")
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not _LEAST_WEIGHT <= total <= _MOST_WEIGHT:
        problem = (
            "must contain frequencies whose sum is in "
            f"[{_LEAST_WEIGHT:.0e}, {_MOST_WEIGHT:.0e}]. Got a sum of {total:.3g}. "
            "Multiply the weights by a constant."
        )
        raise ParameterError(name, problem)
    # A weight below the rounding error of the total would make bins without weight.
    lost = (weight > 0) & (weight <= np.finfo(np.float64).eps * total)
    return np.where(lost, 0.0, weight) if lost.any() else weight


def as_groups(values: Any, n: int, *, name: str = "groups") -> np.ndarray | None:
    """Return the group of each row as a code from 0; None for None."""
    if values is None:
        return None
    groups = as_labels(values, name=name)
    if groups.size != n:
        problem = (
            f"must have one entry for each of the {n} rows. Got {groups.size} instead."
        )
        raise ParameterError(name, problem)
    if n and groups.dtype.kind == "i" and groups.min() >= 0 and groups.max() < 2 * n:
        seen = np.bincount(groups) > 0  # codes already: quicker than sorting
        return (np.cumsum(seen) - 1)[groups]
    try:
        return np.unique(groups, return_inverse=True)[1]
    except TypeError:
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(g, len(codes)) for g in groups.tolist()])
