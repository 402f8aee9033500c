"""Labels: arrays and lists of labels, distinct labels, and positive labels.

Other modules import these names from :mod:`skcalib._validation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, repeat
from typing import Any

import numpy as np
from scipy import sparse

from ._containers import as_array, is_dask, is_sequence, is_tensor_type
from ._errors import ParameterError, ParameterTypeError

__all__ = [
    "as_label_list",
    "as_label_lists",
    "as_labels",
    "described",
    "distinct_labels",
    "is_missing",
    "label_array",
    "label_places",
    "positives",
]


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


def as_label_list(values: Any, *, name: str) -> list[Any]:
    """Return one sequence of labels, such as `classes`, as a list of Python labels.

    Accepts every container that :func:`as_array` accepts, and lists of tensors with one
    entry. Raises an error for other types (such as str and set), and for labels that
    are missing or cannot be hashed. The list may be empty, and may be `values` itself.
    """
    entries = _entries(values, name)
    if entries is None:
        raise ParameterTypeError(
            name,
            "must be an ordered sequence of labels. Got "
            f"{type(values).__name__} {values!r:.50}.",
        )
    labels = _python_labels([entries], name)
    place = _not_a_label(labels)
    if place is not None:
        raise ParameterError(
            name,
            "must contain a label at every place. Got "
            f"{entries[place[1]]!r:.50} at place {place[1]}.",
        )
    return labels[0]


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
    entries = _entries(y, name)
    if entries is None:
        raise ParameterTypeError(
            name, f"must have an entry for each {entry}. Got {type(y).__name__}."
        )
    if set(map(type, entries)) <= {list}:
        lists = entries
    else:
        lists = [_entries(each, name) for each in entries]
    if None in lists:
        i = lists.index(None)
        raise ParameterTypeError(
            name,
            f"must contain a sequence of labels for each {entry}. Got "
            f"{type(entries[i]).__name__} {entries[i]!r:.50} for {entry} {i}.",
        )
    with suppress(TypeError):  # labels that cannot be hashed
        kinds = set(map(type, set(chain.from_iterable(lists))))
        if all(issubclass(kind, (str, int, np.integer)) for kind in kinds):
            return lists  # the usual case
    labels = _python_labels(lists, name)
    place = _not_a_label(labels)
    if place is not None:
        i, t = place
        raise ParameterError(
            name,
            f"must have a label for each {item}. {item.capitalize()} {t} of {entry} "
            f"{i} has {labels[i][t]!r:.50}.",
        )
    return labels


def _entries(values: Any, name: str) -> list[Any] | None:
    """Return the entries of a sequence as a list; None for any other value."""
    if isinstance(values, list):
        return values
    if is_dask(values):
        values = values.compute()
    is_array = isinstance(values, np.ndarray) or is_tensor_type(type(values))
    if is_array or sparse.issparse(values):  # as_array raises for sparse arrays
        array = as_array(values, name=name)
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


def _python_labels(lists: list[list[Any]], name: str) -> list[list[Any]]:
    """Return label lists with each tensor or array of one entry as that entry."""
    kinds = set(map(type, chain.from_iterable(lists)))
    if not any(is_tensor_type(kind) or issubclass(kind, np.ndarray) for kind in kinds):
        return lists

    def plain(label: Any) -> Any:
        if not (is_tensor_type(type(label)) or isinstance(label, np.ndarray)):
            return label
        array = as_array(label, name=name)
        return array.item() if array.size == 1 else array.tolist()

    return [list(map(plain, labels)) for labels in lists]


def _not_a_label(lists: list[list[Any]]) -> tuple[int, int] | None:
    """Return the place of the first label that is missing or cannot be hashed."""
    always = (str, int, np.integer)
    kinds = set(map(type, chain.from_iterable(lists)))
    if all(issubclass(kind, always) for kind in kinds):
        return None
    for i, labels in enumerate(lists):
        for t, label in enumerate(labels):
            if isinstance(label, always):
                continue
            try:
                hash(label)
                if not is_missing(label):
                    continue
            except TypeError:
                pass
            return i, t
    return None


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


def label_places(labels: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the index of each label in `order`, or -1 if it does not occur there.

    The labels in `order` are distinct.
    """
    if not _can_be_searched(labels, order):
        place = {label: k for k, label in enumerate(order.tolist())}
        found = map(place.get, labels.tolist(), repeat(-1))
        return np.fromiter(found, np.intp, labels.size)
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


def as_labels(values: Any, *, name: str) -> np.ndarray:
    """Return labels as a 1-D array without missing values."""
    if isinstance(values, (list, tuple)) and set(map(type, values)) == {str}:
        return label_array(values)
    is_column = type(values) is np.ndarray and values.ndim == 1
    array = values if is_column else _label_column(values, name)
    if array.size == 0:
        raise ParameterError(name, "is empty.")
    if array.dtype.kind in "fcmM":
        missing = ~np.isfinite(array)
    elif array.dtype.kind in "OT":
        missing = np.fromiter(map(is_missing, array), bool, array.size)
    else:
        return array
    if missing.any():
        row = int(missing.argmax())
        problem = (
            "must contain a label in every row. Got "
            f"{described(array[row : row + 1].tolist()[0])} in row {row}."
        )
        raise ParameterError(name, problem)
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
        problem = (
            "must be one-dimensional, with one label per row. Got shape "
            f"{array.shape} instead."
        )
        raise ParameterError(name, problem)
    return array


def distinct_labels(labels: np.ndarray, *, name: str) -> np.ndarray:
    """Return the sorted distinct labels."""
    try:
        if labels.dtype.kind == "O":
            kinds = {isinstance(v, str) for v in labels.tolist()}
            if len(kinds) > 1:
                raise TypeError  # strings and numbers do not sort
            # Sorting a set is many times faster than np.unique on objects.
            found = sorted(set(labels.tolist()))
            return label_array(found)
        return np.unique(labels)
    except TypeError:
        problem = (
            "must contain labels of one sortable type. Got several types, for example "
            "strings and numbers."
        )
        raise ParameterError(name, problem) from None


def _shown(labels: np.ndarray) -> str:
    head = ", ".join(repr(label) for label in labels[:5].tolist())
    return head + (", ..." if labels.size > 5 else "")


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
            problem = (
                f"must be a label of y_true. Got {pos_label!r}, and the labels "
                f"{_shown(found)}."
            )
            raise ParameterError("pos_label", problem)
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
        problem = (
            f"must contain labels. Got numbers such as {fraction:.4g}. Are the labels "
            "and the probabilities swapped?"
        )
        raise ParameterError("y_true", problem)
    problem = (
        "must contain 0 and 1, -1 and 1, or booleans if 'pos_label' is not given. Got "
        f"the labels {_shown(found)}. Pass as pos_label the label whose "
        "probability is given."
    )
    raise ParameterError("y_true", problem)
