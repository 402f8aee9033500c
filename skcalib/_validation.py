"""Validation of arguments: scalars, containers, numbers, labels and groups.

Every function takes the name of the parameter and raises an error that names it, with
what was expected and what was received; see :mod:`skcalib._errors`.

Containers become arrays or lists here and nowhere else: numbers by :func:`as_floats`,
one label per row by :func:`as_labels`, a sequence of labels (`classes`) by
:func:`as_label_list`, and a label sequence per sentence by :func:`as_label_lists`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain, repeat
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from ._errors import ParameterError, ParameterTypeError, warn

# The number of the CPU among DLPack's devices.
_CPU = 1
# Above the larger sum, float64 cannot count single rows. Below the smaller sum,
# products of weights underflow.
_MOST_WEIGHT = 2.0**53
_LEAST_WEIGHT = 1e-290
# Types of labels that are never missing.
_LABELS = (str, int, np.integer)


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


def _check_number(
    value: Any, expected: str, is_valid: Callable[[float], bool], name: str
) -> float:
    """Return a real number as a float if it is valid."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ParameterTypeError(name, _must_be(expected, value))
    try:
        number = float(value)
    except OverflowError:  # an int beyond the range of floats
        number = math.inf
    if not is_valid(number):
        raise ParameterError(name, _must_be(expected, value))
    return number


def check_real(value: Any, *, low: float, high: float, name: str) -> float:
    """Return `value` as a float if it lies in [low, high]."""
    expected = f"a number in [{low:g}, {high:g}]"
    return _check_number(value, expected, lambda x: low <= x <= high, name)


def check_fraction(value: Any, *, name: str) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1."""
    expected = "a number strictly between 0 and 1"
    number = _check_number(value, expected, lambda x: 0 < x < 1, name)
    # The quantile of a level that rounds to 1 is infinite.
    if number > 1 - 5e-16:
        raise ParameterError(name, _must_be("at most 1 - 1e-15", value))
    if name == "confidence_level" and number < 0.25:
        warn(
            f"A confidence_level of {number:g} is unusual. If this is the level of a "
            f"test, pass {1 - number:g}."
        )
    return number


def check_positive(value: Any, *, name: str) -> float:
    """Return `value` as a float if it is finite and greater than 0."""
    return _check_number(value, "a positive number", lambda x: 0 < x < math.inf, name)


def check_finite(value: Any, *, name: str) -> float:
    """Return `value` as a float if it is finite."""
    return _check_number(value, "a finite number", math.isfinite, name)


# Containers


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


def describe_container(values: Any) -> str:
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


def is_tensor_type(kind: type) -> bool:
    """Return whether a type is a tensor or array-API type other than NumPy's."""
    # pyarrow's arrays, which may contain texts and lists, are no tensors.
    return (
        hasattr(kind, "__dlpack_device__")
        and not hasattr(kind, "to_pylist")
        and not issubclass(kind, (np.ndarray, np.generic))
    )


def _is_array_type(kind: type) -> bool:
    return is_tensor_type(kind) or issubclass(kind, np.ndarray)


def on_cpu(values: Any, *, name: str) -> Any:
    """Return a value that NumPy can convert: tensors are detached from gradients.

    Tensors and array-API arrays have to be in the memory of the CPU, since copying
    from a device is left to the caller.
    """
    if not is_tensor_type(type(values)):
        return values
    if getattr(values, "is_nested", False):
        raise ParameterTypeError(
            name,
            "must not be a nested tensor. Pass the list of its tensors, which "
            "`.unbind()` returns.",
        )
    if getattr(values, "is_sparse", False) or getattr(values, "is_sparse_csr", False):
        raise ParameterTypeError(
            name,
            f"must be dense. Got a sparse {type(values).__name__}: convert it with "
            "`.to_dense()`.",
        )
    device = getattr(values, "device", "another device")
    try:
        is_there = values.__dlpack_device__()[0] == _CPU
    except (BufferError, RuntimeError, ValueError):  # for tensors without data
        is_there = False
    if not is_there:
        raise ParameterTypeError(
            name,
            f"must be in the memory of the CPU. Got {type(values).__name__} on "
            f"{device}. Copy it first, for example with `.cpu()` (PyTorch) or `.get()` "
            "(CuPy).",
        )
    if hasattr(values, "detach"):
        values = values.detach()
        if "bfloat16" in str(values.dtype):  # NumPy does not have this type
            values = values.float()
    return values


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
        raise ParameterTypeError(
            name,
            f"must be dense. Got {type(values).__name__} of shape {values.shape}: "
            "convert it with `.toarray()`.",
        )
    if hasattr(values, "collect") and not hasattr(values, "__len__"):
        raise ParameterTypeError(
            name,
            f"must be in memory. Got {type(values).__name__}: load it first, for "
            "example with `.collect()`.",
        )
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


def check_same_length(**arrays: Any) -> None:
    """Raise an error if the named arrays differ in length; None is skipped."""
    lengths = {name: len(a) for name, a in arrays.items() if a is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        problem = f"needs {' and '.join(lengths)} of the same length. Got: {found}."
        raise ParameterError(None, problem)


# Numbers


def raise_where(
    bad: np.ndarray, values: np.ndarray, expected: str, *, name: str
) -> None:
    """Raise an error that shows the first of the `bad` values, if there is one."""
    if bad.any():
        row = int(bad.argmax())
        got = f"Got {float(values[row])!r} in row {row}."
        raise ParameterError(name, f"must {expected}. {got}")


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
        raise ParameterError(name, _not_numbers(values, name)) from None


def _holds_text(array: np.ndarray) -> bool:
    kinds = {type(value) for value in array.flat}
    return any(issubclass(kind, (str, bytes)) for kind in kinds)


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
        raise ParameterError(
            name,
            f"must have shape (n,) or (n, n_classes >= {n_columns}). Got shape "
            f"{array.shape} instead.",
        )
    if array.size == 0:
        raise ParameterError(name, "is empty.")
    if not (array.min() >= 0 and array.max() <= 1):  # NaN propagates through both
        array = _clip_rounding(array, name)
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


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
        elif q.max() <= 100:
            hint = " Percentages must be divided by 100."
        raise ParameterError(
            name,
            f"must contain probabilities in [0, 1]. Got {float(q[where])!r} in "
            f"{place}.{hint}",
        )
    return np.clip(q, 0, 1)


def out_of_range(q: np.ndarray) -> np.ndarray:
    """Return which numbers are NaN, or outside [0, 1] by more than rounding."""
    # Sums of many float32 probabilities exceed 1 by several units of the last digit.
    eps = np.finfo(q.dtype).eps if q.dtype.kind == "f" else 0.0
    tolerance = max(1e-9, 16 * float(eps))
    return ~((q >= -tolerance) & (q <= 1 + tolerance))


def as_weights(values: Any, n: int) -> np.ndarray | None:
    """Return one finite weight per row, not all zero; None for None."""
    if values is None:
        return None
    name = "sample_weight"
    weight = as_floats(values, name=name)
    weight = weight.astype(np.float64, copy=False)
    if weight.shape != (n,):
        raise ParameterError(
            name,
            f"must have a weight for each of the {n} samples. Got shape "
            f"{weight.shape} instead.",
        )
    bad = ~((weight >= 0) & np.isfinite(weight))
    raise_where(bad, weight, "be finite and not negative", name=name)
    if not weight.any():
        raise ParameterError(name, "is zero in every row.")
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not _LEAST_WEIGHT <= total <= _MOST_WEIGHT:
        raise ParameterError(
            name,
            "must contain frequencies whose sum is in "
            f"[{_LEAST_WEIGHT:.0e}, {_MOST_WEIGHT:.0e}]. Got a sum of {total:.3g}. "
            "Multiply the weights by a constant.",
        )
    # A weight below the rounding error of the total would make bins without weight.
    lost = (weight > 0) & (weight <= np.finfo(np.float64).eps * total)
    return np.where(lost, 0.0, weight) if lost.any() else weight


def weights_or_ones(values: Any, n: int) -> np.ndarray:
    """Return one weight per row, see `as_weights`; ones for None."""
    weight = as_weights(values, n)
    return np.ones(n) if weight is None else weight


# Labels


def described(value: Any) -> str:
    """Return a value as short text: an array by its shape."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"{value!r:.50}"


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas' NA cannot be compared
        return True


def label_array(labels: Iterable[Any]) -> np.ndarray:
    """Return labels as a 1-D array: of str, of numbers of one type, or of objects."""
    labels = list(labels)
    kinds = set(map(type, labels))
    # NumPy drops trailing NUL characters from strings of fixed length.
    are_text = kinds <= {str, np.str_} and not any(
        label.endswith("\0") for label in set(labels)
    )
    if labels and (are_text or kinds in ({int}, {float}, {bool})):
        return np.array(labels)
    return np.fromiter(labels, dtype=object, count=len(labels))


def as_label_list(values: Any, *, name: str) -> list[Any]:
    """Return one sequence of labels, such as `classes`, as a list of Python labels.

    Accepts every container that :func:`as_array` accepts, and lists of tensors with one
    entry. Raises an error for other types (such as str and set), and for labels that
    are missing or cannot be hashed. The list may be empty, and may be `values` itself.
    """
    entries = as_entries(values, name)
    if entries is None:
        raise ParameterTypeError(
            name,
            "must be an ordered sequence of labels. Got "
            f"{type(values).__name__} {values!r:.50}.",
        )
    (labels,), place = _python_labels([entries], name)
    if place is not None:
        raise ParameterError(
            name,
            f"must contain a label at every place. Got {entries[place[1]]!r:.50} at "
            f"place {place[1]}.",
        )
    return labels


def as_label_lists(
    y: Any, *, name: str, entry: str = "sentence", item: str = "token"
) -> list[list[Any]]:
    """Return a sequence of label sequences as a list of lists of Python labels.

    Each label sequence may be any container that :func:`as_array` accepts: a list, an
    array, a tensor, a Series, a list of tensors with one entry. `y` itself may also be
    such a container, for example a matrix with one row per sentence or a nested tensor.
    If a label is missing (None, NaN, NA) or cannot be hashed, an error is raised that
    gives its position, using the nouns `entry` and `item`. The lists may be empty, and
    may be the lists in `y`.
    """
    if getattr(y, "is_nested", False):
        y = list(y.unbind())
    entries = as_entries(y, name)
    if entries is None:
        raise ParameterTypeError(
            name, f"must have an entry for each {entry}. Got {type(y).__name__}."
        )
    if set(map(type, entries)) <= {list}:
        lists = entries
    else:
        lists = [as_entries(each, name) for each in entries]
    if None in lists:
        i = lists.index(None)
        raise ParameterTypeError(
            name,
            f"must contain a sequence of labels for each {entry}. Got "
            f"{type(entries[i]).__name__} {entries[i]!r:.50} for {entry} {i}.",
        )
    labels, place = _python_labels(lists, name)
    if place is not None:
        i, t = place
        raise ParameterError(
            name,
            f"must have a label for each {item}. {item.capitalize()} {t} of {entry} "
            f"{i} has {labels[i][t]!r:.50}.",
        )
    return labels


def as_entries(values: Any, name: str) -> list[Any] | None:
    """Return the entries of a sequence as a list; None for any other value."""
    if isinstance(values, list):
        return values
    if is_dask(values):
        values = values.compute()
    if _is_array_type(type(values)) or sparse.issparse(values):
        array = as_array(values, name=name)  # raises an error for sparse arrays
        if array.ndim == 0:
            return None
        # Dates as numbers of nanoseconds would no longer be dates.
        return list(array) if array.dtype.kind in "mM" else array.tolist()
    if not is_sequence(values):
        return None
    for method in ("tolist", "to_list", "to_pylist"):  # pandas, polars, pyarrow
        if hasattr(values, method):
            return getattr(values, method)()
    return list(values)


def _python_labels(
    lists: list[list[Any]], name: str
) -> tuple[list[list[Any]], tuple[int, int] | None]:
    """Return label lists, and the place of the first entry that is not a label.

    Each tensor or array of one entry becomes this entry. Missing values, and values
    that cannot be hashed, are not labels.
    """
    with suppress(TypeError):  # entries that cannot be hashed
        # Types of distinct entries, since corpora have few distinct labels.
        kinds = set(map(type, set(chain.from_iterable(lists))))
        if all(issubclass(kind, _LABELS) for kind in kinds):
            return lists, None  # the usual case
    if any(map(_is_array_type, set(map(type, chain.from_iterable(lists))))):
        lists = [[_python_label(label, name) for label in labels] for labels in lists]
    for i, labels in enumerate(lists):
        for t, label in enumerate(labels):
            if not isinstance(label, _LABELS) and _is_no_label(label):
                return lists, (i, t)
    return lists, None


def _python_label(label: Any, name: str) -> Any:
    if not _is_array_type(type(label)):
        return label
    array = as_array(label, name=name)
    return array.item() if array.size == 1 else array.tolist()


def _is_no_label(value: Any) -> bool:
    """Return whether a value is missing or cannot be hashed."""
    try:
        hash(value)
    except TypeError:
        return True
    return is_missing(value)


def as_labels(values: Any, *, name: str) -> np.ndarray:
    """Return labels as a 1-D array without missing values."""
    if isinstance(values, (list, tuple)) and set(map(type, values)) == {str}:
        return label_array(values)
    is_column = type(values) is np.ndarray and values.ndim == 1
    array = values if is_column else _label_column(values, name)
    if array.size == 0:
        raise ParameterError(name, "is empty.")
    if array.dtype.kind in "fcmM":  # NaN and NaT
        missing = ~np.isfinite(array)
    elif array.dtype.kind in "OT":
        missing = np.fromiter(map(is_missing, array), bool, array.size)
    else:
        return array
    if missing.any():
        row = int(missing.argmax())
        raise ParameterError(
            name,
            "must contain a label in every row. Got "
            f"{described(array[row : row + 1].tolist()[0])} in row {row}.",
        )
    return array


def _label_column(values: Any, name: str) -> np.ndarray:
    """Return what should be labels as a 1-D array."""
    try:
        array = as_array(values, name=name)
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
        problem = "must be one-dimensional. Got rows of different lengths."
        raise ParameterError(name, problem) from None
    if isinstance(values, (list, tuple)) and array.dtype.kind == "U":
        # NumPy would turn ["a", 1] and ["a", nan] into strings.
        array = np.array(values, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ParameterError(
            name,
            "must be one-dimensional, with one label per row. Got shape "
            f"{array.shape} instead.",
        )
    return array


def as_groups(values: Any, n: int, *, name: str = "groups") -> np.ndarray | None:
    """Return the group of each row as a code from 0; None for None."""
    if values is None:
        return None
    groups = as_labels(values, name=name)
    if groups.size != n:
        raise ParameterError(
            name,
            f"must have one entry for each of the {n} rows. Got {groups.size} instead.",
        )
    if n and groups.dtype.kind == "i" and groups.min() >= 0 and groups.max() < 2 * n:
        seen = np.bincount(groups) > 0  # codes already: quicker than sorting
        groups = groups.astype(np.intp, copy=False)
        return groups if seen.all() else (np.cumsum(seen) - 1)[groups]
    try:
        return np.unique(groups, return_inverse=True)[1]
    except TypeError:
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(g, len(codes)) for g in groups.tolist()])


def distinct_labels(labels: np.ndarray, *, name: str) -> np.ndarray:
    """Return the sorted distinct labels."""
    try:
        if labels.dtype.kind == "O":
            kinds = {isinstance(v, str) for v in labels.tolist()}
            if len(kinds) > 1:
                raise TypeError  # strings and numbers do not sort
            # Sorting a set is many times faster than np.unique on objects.
            return label_array(sorted(set(labels.tolist())))
        return np.unique(labels)
    except TypeError:
        raise ParameterError(
            name,
            "must contain labels of one sortable type. Got several types, for example "
            "strings and numbers.",
        ) from None


def label_places(labels: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the index of each label in `order`, or -1 if it does not occur there.

    The labels in `order` are distinct.
    """
    if not _can_be_searched(labels, order):
        place = {label: k for k, label in enumerate(order.tolist())}
        found = map(place.get, labels.tolist(), repeat(-1))
        return np.fromiter(found, np.intp, labels.size)
    # a binary search in the sorted labels, whose places are mapped back at the end
    sorter = np.argsort(order)
    ordered = order[sorter]
    places = np.searchsorted(ordered, labels)
    if places.max(initial=0) == order.size:  # beyond the last label
        places = np.minimum(places, order.size - 1)
    absent = ordered[places] != labels
    if np.any(sorter[1:] < sorter[:-1]):
        places = sorter[places]
    if absent.any():
        places[absent] = -1
    return places


def _can_be_searched(labels: np.ndarray, order: np.ndarray) -> bool:
    """Return whether NumPy compares the labels correctly and fast.

    Signed and unsigned integers would be compared as floats.
    """
    kinds = labels.dtype.kind + order.dtype.kind
    return kinds == "UU" or (set(kinds) <= set("biuf") and kinds not in ("iu", "ui"))


def positives(
    labels: np.ndarray, pos_label: Any, *, are_all: bool = True
) -> np.ndarray:
    """Return which labels are positive, by scikit-learn's rule if `pos_label` is None.

    If `are_all` is False, the positive label may be missing from these labels.
    """
    if pos_label is not None:
        positive = np.asarray(labels == pos_label)
        if positive.any() or not are_all:
            return positive
        found = distinct_labels(labels, name="y_true")
        if found.size > 1:
            raise ParameterError(
                "pos_label",
                f"must be a label of y_true. Got {pos_label!r}, and the labels "
                f"{_shown(found)}.",
            )
        return np.zeros(labels.size, dtype=bool)
    if labels.dtype.kind in "buif":  # the usual case, without the sort of np.unique
        positive = labels == 1
        for negative in (0, -1):
            if (positive | (labels == negative)).all():
                return positive
    found = distinct_labels(labels, name="y_true")
    if any(set(found.tolist()) <= standard for standard in ({0, 1}, {-1, 1})):
        return labels == 1
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        fraction = float(labels[labels % 1 != 0][0])
        raise ParameterError(
            "y_true",
            f"must contain labels. Got numbers such as {fraction:.4g}. Are the labels "
            "and the probabilities swapped?",
        )
    raise ParameterError(
        "y_true",
        "must contain 0 and 1, -1 and 1, or booleans if 'pos_label' is not given. Got "
        f"the labels {_shown(found)}. Pass as pos_label the label whose "
        "probability is given.",
    )


def _shown(labels: np.ndarray) -> str:
    head = ", ".join(repr(label) for label in labels[:5].tolist())
    return head + (", ..." if labels.size > 5 else "")


def check_pair(value: Any, *, name: str, what: str) -> tuple[Any, Any]:
    """Return both entries of a pair."""
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise ParameterTypeError(name, f"must be a pair of {what}. Got {value!r:.80}.")
    return value[0], value[1]
