"""The gate of every calibration metric: labels and probabilities become pairs.

A pair is (y, q): whether a polar query is true, and the probability it was given.
Whatever comes in (binary labels, a matrix of class probabilities, weights, groups), the
kernels behind this gate see clean arrays only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_choice, check_same_length, is_missing, on_cpu

# Beyond this many rows float64 no longer counts single ones; below the other number
# products with weights are lost.
_MOST_WEIGHT = 2.0**53
_LEAST_WEIGHT = 1e-290

MULTI_CLASS = ("pooled", "top_label", "class_wise", "per_class")


@dataclass(frozen=True)
class Pairs:
    """Checked (y, q) pairs; rows of zero weight are gone.

    Attributes
    ----------
    q : ndarray of shape (n_pairs,)
        Probabilities in [0, 1], float32 or float64. May be a view of the caller's data:
        never write to it.
    positive : ndarray of shape (n_pairs,), bool, or None
        Whether the pair is a positive. None for pooled pairs, whose n x K indicator is
        built only where it cannot be avoided: see `indicator`.
    positive_q : ndarray of shape (n_positives,)
        Probabilities of the positive pairs.
    weight : ndarray of shape (n_pairs,), float64, or None
    groups : ndarray of shape (n_pairs,), int, or None
        Codes 0, 1, ... of the groups of dependent rows.
    n_classes : int
        Number of pairs that one row of the input gave.
    true_class : ndarray of shape (n_rows,), int, or None
        Column of the true class of each row that gave several pairs.
    repeats : ndarray of shape (n_groups,), or None
        How many independent groups each group stands for; 1 where None.
    """

    q: np.ndarray
    positive: np.ndarray | None
    positive_q: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    n_classes: int = 1
    true_class: np.ndarray | None = None
    repeats: np.ndarray | None = None

    @property
    def total(self) -> float:
        """Total weight, the number of pairs where there are no weights."""
        return float(self.q.size if self.weight is None else self.weight.sum())

    def indicator(self) -> np.ndarray:
        """Whether each pair is a positive, bool of shape (n_pairs,)."""
        if self.positive is not None:
            return self.positive
        assert self.true_class is not None
        positive = np.zeros((self.true_class.size, self.n_classes), dtype=bool)
        positive[np.arange(self.true_class.size), self.true_class] = True
        return positive.ravel()


def label_array(labels: Any) -> np.ndarray:
    """Return labels as a 1-D array, object where they are not all str."""
    labels = list(labels)
    if labels and all(isinstance(label, str) for label in labels):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    for k, label in enumerate(labels):
        array[k] = label
    return array


def as_labels(values: Any, *, name: str, caller: str) -> np.ndarray:
    """Return labels as a 1-D array without missing values."""
    values = on_cpu(values, name=name, caller=caller)
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(
            f"The {name!r} parameter of {caller} must be one-dimensional, a label a "
            "row. Got rows of different lengths."
        ) from None
    if isinstance(values, (list, tuple)) and array.dtype.kind == "U":
        # numpy would turn ["a", 1] and ["a", nan] into strings without a word.
        array = np.array(values, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"The {name!r} parameter of {caller} must be one-dimensional, a label a "
            f"row. Got shape {array.shape} instead."
        )
    if array.size == 0:
        raise ValueError(f"The {name!r} parameter of {caller} is empty.")
    if array.dtype.kind in "fcmM":
        missing = ~np.isfinite(array)
    elif array.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, array), bool, array.size)
    else:
        return array
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold a label in every row. "
            f"Got {array[row : row + 1].tolist()[0]!r} in row {row}."
        )
    return array


def distinct_labels(labels: np.ndarray, *, name: str, caller: str) -> np.ndarray:
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
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold labels of one kind that can "
            "be sorted. Got a mix, for example of strings and numbers."
        ) from None


def out_of_range(q: np.ndarray) -> np.ndarray:
    """Return which numbers are no probabilities, by more than rounding, or NaN."""
    eps = np.finfo(q.dtype).eps if q.dtype.kind == "f" else 0.0
    tolerance = max(1e-9, 16 * float(eps))
    return ~((q >= -tolerance) & (q <= 1 + tolerance))


def _check_range(q: np.ndarray, *, name: str, caller: str) -> np.ndarray:
    """Return q clipped to [0, 1] where it leaves it by rounding only."""
    low, high = q.min(), q.max()  # NaN propagates through both
    if low >= 0 and high <= 1:
        return q
    bad = out_of_range(q)
    if bad.any():
        where = np.unravel_index(int(bad.argmax()), q.shape)
        place = f"row {where[0]}"
        if q.ndim == 2:
            place += f", column {where[1]}"
        hint = ""
        if 1.5 < q[where] <= 100:
            hint = " Percentages must be divided by 100."
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold probabilities in [0, 1]. "
            f"Got {float(q[where])!r} in {place}.{hint}"
        )
    return np.clip(q, 0, 1)


def _holds_text(array: np.ndarray) -> bool:
    kinds = {type(value) for value in array.flat} if array.dtype == object else ()
    return any(issubclass(kind, (str, bytes)) for kind in kinds)


def as_floats(values: Any, *, name: str, caller: str) -> np.ndarray:
    """Return numbers as an array of floats, whose precision stays."""
    values = on_cpu(values, name=name, caller=caller)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO" or _holds_text(array):
            raise ValueError  # NumPy would drop imaginary parts, and read digits
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold numbers, a row a sample. "
            f"Got {type(values).__name__} that holds something else."
        ) from None


def as_probabilities(
    values: Any, *, name: str, caller: str, n_columns: int = 2
) -> np.ndarray:
    """Return probabilities as an array of float32 or float64 in [0, 1].

    It is 1-D, or 2-D with at least `n_columns` columns.
    """
    array = as_floats(values, name=name, caller=caller)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] < n_columns):
        raise ValueError(
            f"The {name!r} parameter of {caller} must have shape (n,) or (n, n_classes "
            f">= {n_columns}). Got shape {array.shape} instead."
        )
    if array.size == 0:
        raise ValueError(f"The {name!r} parameter of {caller} is empty.")
    array = _check_range(array, name=name, caller=caller)
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def as_weights(values: Any, n: int, *, caller: str) -> np.ndarray | None:
    """Return one finite weight a row, not all zero; None for None."""
    if values is None:
        return None
    name = "sample_weight"
    weight = as_floats(values, name=name, caller=caller)
    weight = weight.astype(np.float64, copy=False)
    if weight.shape != (n,):
        raise ValueError(
            f"The {name!r} parameter of {caller} must have a weight for each of the "
            f"{n} samples. Got shape {weight.shape} instead."
        )
    bad = ~((weight >= 0) & np.isfinite(weight))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must be finite and not negative. "
            f"Got {float(weight[row])!r} in row {row}."
        )
    if not weight.any():
        raise ValueError(f"The {name!r} parameter of {caller} is zero in every row.")
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not _LEAST_WEIGHT <= total <= _MOST_WEIGHT:
        raise ValueError(
            f"The {name!r} parameter of {caller} holds frequencies, which count rows. "
            f"Got a sum of {total:.3g}, not in [{_LEAST_WEIGHT:.0e}, "
            f"{_MOST_WEIGHT:.0e}]: multiply them by a constant."
        )
    # A weight that is lost in the sum of all would leave bins that have none.
    lost = (weight > 0) & (weight <= np.finfo(np.float64).eps * total)
    return np.where(lost, 0.0, weight) if lost.any() else weight


def as_groups(values: Any, n: int, *, caller: str) -> np.ndarray | None:
    if values is None:
        return None
    groups = as_labels(values, name="groups", caller=caller)
    if groups.size != n:
        raise ValueError(
            f"The 'groups' parameter of {caller} must have one entry for each of the "
            f"{n} rows. Got {groups.size} instead."
        )
    try:
        return np.unique(groups, return_inverse=True)[1]
    except TypeError:
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(g, len(codes)) for g in groups.tolist()])


def _shown(labels: np.ndarray) -> str:
    head = ", ".join(repr(label) for label in labels[:5].tolist())
    return head + (", ..." if labels.size > 5 else "")


def positives(
    labels: np.ndarray, pos_label: Any, *, caller: str, are_all: bool = True
) -> np.ndarray:
    """Return which labels are the positive one, by scikit-learn's rule where None.

    Unless these `are_all` labels, the positive one may be elsewhere.
    """
    if pos_label is not None:
        positive = np.asarray(labels == pos_label)
        if positive.any() or not are_all:
            return positive
        found = distinct_labels(labels, name="y_true", caller=caller)
        if found.size > 1:
            raise ValueError(
                f"The 'pos_label' parameter of {caller} must be a label of y_true. "
                f"Got {pos_label!r}, and the labels {_shown(found)}."
            )
        return np.zeros(labels.size, dtype=bool)
    if labels.dtype.kind in "buif":  # spares the usual case np.unique and its sort
        positive = labels == 1
        if any((positive | (labels == negative)).all() for negative in (0, -1)):
            return positive
    found = distinct_labels(labels, name="y_true", caller=caller)
    if any(set(found.tolist()) <= standard for standard in ({0, 1}, {-1, 1})):
        return labels == 1
    raise ValueError(
        f"The 'y_true' parameter of {caller} must hold 0 and 1, -1 and 1, or booleans "
        f"where 'pos_label' is not given. Got the labels {_shown(found)}: say with "
        "pos_label which one the probabilities are of."
    )


def _class_index(
    y: np.ndarray, labels: Any, n_columns: int, rows: np.ndarray | None, *, caller: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the column of each row's label, and the labels in column order.

    `rows` are the places of the labels among those given, where some were left out.
    """
    found = distinct_labels(y, name="y_true", caller=caller)
    if labels is None:
        order = found
        source = "y_true has {n} distinct labels; give 'labels' in column order"
    else:
        order = as_labels(labels, name="labels", caller=caller)
        source = "labels has {n} entries"
        if len(set(order.tolist())) != order.size:
            raise ValueError(f"The 'labels' parameter of {caller} repeats a label.")
    if order.size != n_columns:
        raise ValueError(
            f"The 'y_proba' parameter of {caller} must have one column for each label. "
            f"Got {n_columns} columns, and {source.format(n=order.size)}."
        )
    column = {label: k for k, label in enumerate(order.tolist())}
    unknown = [label for label in found.tolist() if label not in column]
    if unknown:
        row = int(np.asarray(y == unknown[0]).argmax())
        row = row if rows is None else int(rows[row])
        raise ValueError(
            f"The 'y_true' parameter of {caller} must hold labels that are in 'labels'."
            f" Got {unknown[0]!r} in row {row}."
        )
    if y.dtype.kind in "biuf" and order.dtype.kind in "biuf":
        sorter = np.argsort(order)
        return sorter[np.searchsorted(order, y, sorter=sorter)], order
    return np.fromiter((column[v] for v in y.tolist()), np.intp, y.size), order


def drop_weightless(arrays: list, weight: np.ndarray | None) -> tuple[list, Any]:
    """Drop the rows of zero weight from every array."""
    if weight is None or weight.all():
        return arrays, weight
    keep = weight > 0
    return [a if a is None else a[keep] for a in arrays], weight[keep]


def _binary_pairs(
    y_true: np.ndarray,
    q: np.ndarray,
    pos_label: Any,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    *,
    caller: str,
    are_all: bool = True,
) -> Pairs:
    """Return the pairs of a binary problem from checked probabilities."""
    positive = positives(y_true, pos_label, caller=caller, are_all=are_all)
    return Pairs(q, positive, q[positive], weight, groups)


def _pool(proba: np.ndarray, index: np.ndarray, weight: Any, groups: Any) -> Pairs:
    n, k = proba.shape
    return Pairs(
        q=proba.ravel(),
        positive=None,
        positive_q=proba[np.arange(n), index],
        weight=None if weight is None else np.repeat(weight, k),
        groups=None if groups is None else np.repeat(groups, k),
        n_classes=k,
        true_class=index,
    )


def take_pairs(pairs: Pairs, rows: np.ndarray) -> Pairs:
    """Return the pairs that some rows of the input gave, each as often as it is named.

    Weights and groups are left behind.
    """
    if pairs.n_classes == 1:
        q, positive = pairs.q[rows], pairs.indicator()[rows]
        return Pairs(q, positive, q[positive])
    assert pairs.true_class is not None
    proba = pairs.q.reshape(-1, pairs.n_classes)
    return _pool(proba[rows], pairs.true_class[rows], None, None)


def check_one_set(multi_class: Any, what: str, *, caller: str) -> None:
    """Raise where a matrix would give pairs, and so a `what`, for each class."""
    if isinstance(multi_class, str) and multi_class in ("class_wise", "per_class"):
        raise ValueError(
            f"{caller} returns one {what}: the 'multi_class' parameter must be "
            f"'pooled' or 'top_label'. Got {multi_class!r}; for one of each class pass "
            "y_true == label and the column of that label."
        )


def check_pairs(
    y_true: Any,
    y_proba: Any,
    *,
    caller: str,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    are_all: bool = True,
) -> list[Pairs]:
    """Check the input of a calibration metric.

    Unless these `are_all` rows, `pos_label` need not be among the labels.

    Returns
    -------
    pairs : list of Pairs
        One entry, but for 'class_wise' and 'per_class', which have one for each class.
    """
    q = as_probabilities(y_proba, name="y_proba", caller=caller)
    y_true = as_labels(y_true, name="y_true", caller=caller)
    check_same_length(caller, y_true=y_true, y_proba=q)
    weight = as_weights(sample_weight, q.shape[0], caller=caller)
    codes = as_groups(groups, q.shape[0], caller=caller)
    # Before the labels are counted: a row of no weight is no row.
    rows = None if weight is None else np.arange(weight.size)
    (y_true, q, codes, rows), weight = drop_weightless([y_true, q, codes, rows], weight)
    if multi_class is not None:
        check_choice(multi_class, MULTI_CLASS, name="multi_class", caller=caller)
    if np.ndim(pos_label) > 0:  # it would be compared row by row
        raise ValueError(
            f"The 'pos_label' parameter of {caller} must be one label. Got "
            f"{pos_label!r}."
        )
    if q.ndim == 1:
        if multi_class is not None:
            raise ValueError(
                f"The 'multi_class' parameter of {caller} goes with a y_proba of shape "
                f"(n, n_classes). Got {multi_class!r} with shape {q.shape}."
            )
        if labels is not None:
            raise ValueError(
                f"The 'labels' parameter of {caller} goes with a y_proba of shape "
                f"(n, n_classes); use 'pos_label' with shape {q.shape}."
            )
        return [
            _binary_pairs(
                y_true, q, pos_label, weight, codes, caller=caller, are_all=are_all
            )
        ]
    index, order = _class_index(y_true, labels, q.shape[1], rows, caller=caller)
    return _matrix_pairs(q, index, order, multi_class, pos_label, weight, codes, caller)


def _matrix_pairs(
    proba, index, order, multi_class, pos_label, weight, groups, caller
) -> list[Pairs]:
    """Return the pairs of a matrix of class probabilities."""
    if multi_class is None and order.size == 2:
        column = 1
        if pos_label is not None:
            if pos_label not in order.tolist():
                raise ValueError(
                    f"The 'pos_label' parameter of {caller} must be one of the labels "
                    f"{order.tolist()}. Got {pos_label!r}."
                )
            column = order.tolist().index(pos_label)
        y, q = index == column, proba[:, column]
        return [_binary_pairs(y, q, None, weight, groups, caller=caller)]
    if pos_label is not None:
        raise ValueError(
            f"The 'pos_label' parameter of {caller} goes with two columns and no "
            f"multi_class. Got {pos_label!r} with {order.size} columns."
        )
    multi_class = multi_class or "pooled"
    if multi_class == "pooled":
        return [_pool(proba, index, weight, groups)]
    if multi_class == "top_label":
        top = proba.argmax(axis=1)  # ties to the lowest column
        q = proba[np.arange(top.size), top]
        return [_binary_pairs(top == index, q, None, weight, groups, caller=caller)]
    return [
        _binary_pairs(index == k, proba[:, k], None, weight, groups, caller=caller)
        for k in range(order.size)
    ]
