"""Pairs (y, q) of labels and probabilities, on which calibration is measured.

A pair consists of the truth of a polar query and the probability that the model gives
to it. Binary labels, matrices of class probabilities, weights and groups are validated
here, so that the metrics receive clean arrays only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ._errors import ParameterError, ParameterTypeError, warn
from ._validation import (
    as_groups,
    as_label_list,
    as_labels,
    as_probabilities,
    as_weights,
    check_bool,
    check_choice,
    check_same_length,
    column_names,
    columns_by_name,
    described,
    distinct_labels,
    is_dask,
    label_array,
    label_places,
    positives,
)

# Tolerance for the sum of class probabilities. A softmax over many classes in bfloat16
# is within it.
_TOLERANCE = 0.02

# What to do if probabilities look like labels, or like those of another class.
_NOT_LABELS = (
    "If they are labels, pass probabilities instead (make_scorer needs "
    'response_method="predict_proba").'
)
_REMEDY = " If this is intended, pass hard_labels=True."
OTHER_CLASS = (
    ", as with the probabilities of the other class, or with rows that were selected "
    "by their labels. Check 'pos_label' and the order of the columns."
)

SHARES = (
    "All probabilities are multiples of 1/{k}, like shares of {k} samples or votes. "
    "Tests take 0 and 1 as values rounded to 1/{k}."
)
_SAMPLES = (
    " If each row has {k} independent samples of its own, pass n_draws={k}. The trees "
    "of a forest are no such samples: they share their training data."
)

MULTI_CLASS = ("pooled", "top_label", "class_wise", "per_class")

# From this number of rows on, probabilities that are all 0 or 1 are suspicious.
_MANY_ROWS = 20

# Shares of more samples are not recognised.
_MOST_DRAWS = 1000

# Labels are reversed if their correlation with the probabilities is this many standard
# errors below 0, with at least this many labels.
_CLEARLY, _FEW_LABELS = 4.0, 20


class Shares(np.ndarray):
    """Probabilities that are shares of `n_draws` samples of a model.

    Selected rows keep the number. Results of arithmetic, which need not be shares, do
    not.
    """

    n_draws: int | None = None
    least: float = 0.0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if not isinstance(found, Shares):
            return found
        return shares(found, self.n_draws, self.least)

    def __reduce__(self) -> Any:
        return shares, (np.asarray(self), self.n_draws, self.least)

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def shares(values: np.ndarray, n_draws: int | None, least: float = 0.0) -> np.ndarray:
    """Return probabilities that carry the number of their samples, if there is one.

    Rows with a share below `least` were left out.
    """
    if n_draws is None or n_draws < 2:  # one sample is a label
        return np.asarray(values)
    found = np.asarray(values).view(Shares)
    found.n_draws, found.least = n_draws, least
    return found


def draws_of(y_proba: Any) -> int | None:
    """Return the number of samples that probabilities carry."""
    return y_proba.n_draws if isinstance(y_proba, Shares) else None


def common_draws(numbers: Iterable[int | None], name: str) -> int | None:
    """Return the number of samples of all parts of the parameter `name`."""
    found = set(numbers)
    if len(found) > 1:
        raise ParameterError(
            name,
            "must have probabilities from the same number of samples in all parts. Got "
            f"{' and '.join(sorted(map(str, found)))} samples.",
        )
    return found.pop() if found else None


@dataclass(frozen=True)
class Pairs:
    """Checked (y, q) pairs without rows of zero weight.

    A row of the input gives one pair, or `n_classes` pairs if the classes are pooled.
    The pooled pairs of one row depend on each other, so they form one group unless
    groups were given.

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
    row_weight : ndarray of shape (n_rows,), float64, or None
        Weight of each row.
    row_groups : ndarray of shape (n_rows,), int, or None
        Codes 0, 1, ... of the groups of dependent rows, if groups were given.
    n_classes : int
        Number of pairs per row of the input.
    true_class : ndarray of shape (n_rows,), int, or None
        Column of the true class of each row, if rows have several pairs; -1 if a row
        does not have a true class.
    group_repeats : ndarray of shape (n_groups,), or None
        Number of independent groups that each group represents, if `row_groups` were
        given. If None, it is 1.
    item_total : float or None
        Total weight of the items of the pairs, if a query gave a varying number of
        pairs per item; see `row_total`.
    least : float
        Pairs with a share of samples below this value were left out.
    """

    q: np.ndarray
    positive: np.ndarray | None
    positive_q: np.ndarray
    row_weight: np.ndarray | None = None
    row_groups: np.ndarray | None = None
    n_classes: int = 1
    true_class: np.ndarray | None = None
    group_repeats: np.ndarray | None = None
    item_total: float | None = None
    least: float = 0.0

    @cached_property
    def sorted_q(self) -> np.ndarray:
        """Probabilities in ascending order, float64; sorted once for all metrics."""
        # Sorting float32 is twice as fast as sorting float64.
        return np.sort(self.q).astype(np.float64, copy=False)

    @cached_property
    def sorted_positive_q(self) -> np.ndarray:
        """Probabilities of the positive pairs in ascending order, float64."""
        return np.sort(self.positive_q).astype(np.float64, copy=False)

    @property
    def is_dependent(self) -> bool:
        """Whether some pairs depend on each other, so that `groups` is not None."""
        return self.row_groups is not None or self.n_classes > 1

    @cached_property
    def weight(self) -> np.ndarray | None:
        """Weight of each pair, float64 of shape (n_pairs,), or None."""
        if self.row_weight is None or self.n_classes == 1:
            return self.row_weight
        return np.repeat(self.row_weight, self.n_classes)

    @cached_property
    def groups(self) -> np.ndarray | None:
        """Group of each pair, codes of shape (n_pairs,); None if pairs are independent.

        The pooled pairs of a row are a group unless groups were given.
        """
        if self.n_classes == 1:
            return self.row_groups
        rows = self.row_groups
        if rows is None:
            rows = np.arange(self.q.size // self.n_classes)
        if self.q.size < 2**31:  # half of the memory
            rows = rows.astype(np.int32)
        return np.repeat(rows, self.n_classes)

    @property
    def repeats(self) -> np.ndarray | None:
        """Number of independent groups that each group represents; if None, 1.

        A row of weight 3 is three independent rows.
        """
        if self.row_groups is not None:
            return self.group_repeats
        return self.row_weight if self.n_classes > 1 else None

    @property
    def total(self) -> float:
        """Total weight. Without weights, this is the number of pairs."""
        if self.row_weight is None:
            return float(self.q.size)
        return float(self.row_weight.sum()) * self.n_classes

    @property
    def row_total(self) -> float:
        """Total weight of the rows. A row counts once for any number of pairs."""
        if self.item_total is not None:
            return self.item_total
        if self.row_weight is None:
            return float(self.q.size // self.n_classes)
        return float(self.row_weight.sum())

    def indicator(self) -> np.ndarray:
        """Whether each pair is a positive, bool of shape (n_pairs,)."""
        if self.positive is not None:
            return self.positive
        assert self.true_class is not None
        positive = np.zeros((self.true_class.size, self.n_classes), dtype=bool)
        rows, columns = _true_places(self.true_class)
        positive[rows, columns] = True
        return positive.ravel()


def _true_places(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that have a true column, and these columns."""
    rows = np.arange(index.size)
    has_one = index >= 0
    return (rows, index) if has_one.all() else (rows[has_one], index[has_one])


def class_order(
    y: np.ndarray, labels: Any, n_columns: int, *, name: str, of: str
) -> np.ndarray:
    """Return the labels in the order of the columns of the parameter `of`.

    The labels are given by the parameter `name`, or are the sorted labels in `y_true`.
    """
    if labels is None:
        order = distinct_labels(y, name="y_true")
        source = (
            f"y_true has {order.size} distinct labels. Pass {name!r} in column order"
        )
    else:
        if not isinstance(labels, np.ndarray):
            labels = label_array(as_label_list(labels, name=name))
        order = as_labels(labels, name=name)
        source = f"{name!r} has length {order.size}"
        if len(set(order.tolist())) != order.size:
            raise ParameterError(name, "repeats a label.")
    if order.size != n_columns:
        raise ParameterError(
            of,
            "must have one column for each label. "
            f"Got {n_columns} columns, and {source}.",
        )
    return order


def _class_index(
    y: np.ndarray, order: np.ndarray, rows: np.ndarray | None
) -> np.ndarray:
    """Return the column of each row's label.

    `rows` are the indices of the labels in the input, if some rows were dropped.
    """
    index = label_places(y, order)
    if index.min() < 0:
        row = int(index.argmin())
        unknown = y[row : row + 1].tolist()[0]
        row = row if rows is None else int(rows[row])
        raise ParameterError(
            "y_true",
            f"must contain labels that are in 'labels'. Got {unknown!r:.50} in row "
            f"{row}.",
        )
    return index


def drop_weightless(arrays: list, weight: np.ndarray | None) -> tuple[list, Any]:
    """Drop the rows of zero weight from every array."""
    if weight is None or weight.all():
        return arrays, weight
    keep = weight > 0
    return [a if a is None else a[keep] for a in arrays], weight[keep]


def pool(
    proba: np.ndarray,
    index: np.ndarray,
    weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Pairs:
    """Return the pairs of all columns; `index` is the true column, or -1 if none."""
    return Pairs(
        q=proba.ravel(),
        positive=None,
        positive_q=proba[_true_places(index)],
        row_weight=weight,
        row_groups=groups,
        n_classes=proba.shape[1],
        true_class=index,
    )


def take_pairs(pairs: Pairs, rows: np.ndarray) -> Pairs:
    """Return the pairs of some rows of the input, in which a row may occur repeatedly.

    The result has no weights and groups.
    """
    if pairs.n_classes == 1:
        q, positive = pairs.q[rows], pairs.indicator()[rows]
        return Pairs(q, positive, np.compress(positive, q))
    assert pairs.true_class is not None
    return pool(pairs.q.reshape(-1, pairs.n_classes)[rows], pairs.true_class[rows])


def weighted(
    pairs: Pairs,
    weight: np.ndarray | None,
    groups: np.ndarray | None = None,
    repeats: np.ndarray | None = None,
    item_total: float | None = None,
) -> Pairs:
    """Return unweighted pairs with the weights and groups of their rows.

    Rows of weight 0 are dropped.
    """
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight)
        pairs, weight = take_pairs(pairs, rows), weight[rows]
        groups = None if groups is None else groups[rows]
    return replace(
        pairs,
        row_weight=weight,
        row_groups=groups,
        group_repeats=repeats,
        item_total=item_total,
    )


def warn_of_sums(q: np.ndarray, place: Callable[[int], str]) -> None:
    """Warn if the probabilities of a row do not sum to 1; `place` names the row."""
    sums = q @ np.ones(q.shape[1], dtype=q.dtype)
    wrong = np.abs(sums - 1) > _TOLERANCE
    if wrong.any():
        row = int(wrong.argmax())
        warn(
            f"The probabilities in {int(wrong.sum())} of {sums.size} rows do not sum "
            f"to 1: {place(row)} sums to {sums[row]:.3g}. Every column is evaluated "
            "separately, which is right if several labels may be true at once. "
            "Otherwise, normalise the rows."
        )


def check_one_set(multi_class: Any, what: str) -> None:
    """Raise an error if a matrix would be reduced to one set of pairs per class."""
    if isinstance(multi_class, str) and multi_class in ("class_wise", "per_class"):
        raise ParameterError(
            None,
            f"returns one {what}: the 'multi_class' parameter must be "
            f"'pooled' or 'top_label'. Got {multi_class!r}. For the {what} of one "
            "class, pass y_true == label and the column of that label.",
        )


def are_reversed(y: np.ndarray, q: np.ndarray) -> bool:
    """Return whether labels are clearly lower where probabilities are higher."""
    dy, dq = y - y.mean(), q - q.mean()
    size = float((dy @ dy) * (dq @ dq))
    if y.size < _FEW_LABELS or not size > 0:
        return False
    # The standard error of a correlation near 0 is 1 / sqrt(n).
    return bool(dy @ dq / np.sqrt(size) < -_CLEARLY / np.sqrt(y.size))


def check_pairs(
    y_true: Any,
    y_proba: Any,
    *,
    multi_class: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    are_all: bool = True,
    hard_labels: bool | None = None,
) -> list[Pairs]:
    """Check the input of a calibration metric.

    If `are_all` is False, the rows are a part of the data: `pos_label` does not need to
    be among the labels, and no warning looks at all rows. `hard_labels` is a parameter
    of the metric, or None if the metric does not have it.

    Returns
    -------
    pairs : list of Pairs
        One entry. For 'class_wise' and 'per_class', one entry per class.
    """
    _check_in_memory(y_true, y_proba, sample_weight, groups)
    if hard_labels is not None:
        check_bool(hard_labels, name="hard_labels")
    q = as_probabilities(y_proba, name="y_proba")
    y_true = as_labels(y_true, name="y_true")
    if len(y_true) != len(q):
        check_same_length(y_true=y_true, y_proba=q)
    weight = rows = None
    codes = None if groups is None else as_groups(groups, len(q))
    if sample_weight is not None:
        weight = as_weights(sample_weight, len(q))
        # Rows of weight 0 are dropped before the labels are counted.
        kept = [y_true, q, codes, np.arange(len(q))]
        (y_true, q, codes, rows), weight = drop_weightless(kept, weight)
    if multi_class is not None:
        check_choice(multi_class, MULTI_CLASS, name="multi_class")
    if np.ndim(pos_label) > 0:  # it would be compared row by row
        raise ParameterError(
            "pos_label", f"must be one label. Got {described(pos_label)}."
        )
    if q.ndim == 1:
        if multi_class is not None or labels is not None:
            raise _needs_matrix(multi_class, q.shape)
        positive = positives(y_true, pos_label, are_all=are_all)
        # faster than an index of bools, which costs more than half of a sort
        least = y_proba.least if isinstance(y_proba, Shares) else 0.0
        several = [
            Pairs(q, positive, np.compress(positive, q), weight, codes, least=least)
        ]
    else:
        order = class_order(y_true, labels, q.shape[1], name="labels", of="y_proba")
        columns = columns_by_name(column_names(y_proba), order, name="y_proba")
        q = q if columns is None else q[:, columns]
        index = _class_index(y_true, order, rows)
        if are_all:
            warn_of_sums(q, lambda i: f"row {i if rows is None else rows[i]}")
            _warn_of_order(q, index, order)
        several = _matrix_pairs(q, index, order, multi_class, pos_label, weight, codes)
    if are_all:
        advice = _NOT_LABELS if hard_labels is None else _NOT_LABELS + _REMEDY
        warn_of_labels(
            several,
            None if hard_labels else advice,
            # A top label may rank wrong above right answers, but has no other class.
            OTHER_CLASS if multi_class is None else None,
        )
    return several


def _warn_of_order(proba: np.ndarray, index: np.ndarray, order: np.ndarray) -> None:
    """Warn if the labels are the largest columns in most rows, but in another order.

    In the given order, this is true in at most a quarter of the rows and in half as
    many as in the other. A calibrated model cannot cause this, however weak it is: the
    label is then most probable in the largest column.
    """
    n, k = proba.shape
    top = proba.argmax(axis=1)
    right = np.count_nonzero(top == index)
    if n < 20 * k or k == 2 or 4 * right > n:
        return
    # Its import takes a tenth of the time of a command.
    from scipy.optimize import linear_sum_assignment

    count = np.bincount(top * k + index, minlength=k * k).reshape(k, k)
    column, label = linear_sum_assignment(-count)
    most = int(count[column, label].sum())
    if most > n / 2 and most >= 2 * right:
        warn(
            f"The column with the largest probability is the label in {right / n:.0%} "
            f"of the rows, and in {most / n:.0%} if the columns are in the order "
            f"{order[label].tolist()!r:.80}. Check the order of the columns, or pass "
            "it as 'labels'."
        )


def _needs_matrix(multi_class: Any, shape: tuple[int, ...]) -> ParameterError:
    """Return the error that `multi_class`, or else `labels`, is for matrices only."""
    need = "requires y_proba of shape (n, n_classes)"
    if multi_class is None:
        return ParameterError("labels", f"{need}; use 'pos_label' with shape {shape}.")
    problem = f"{need}. Got {multi_class!r} with shape {shape}."
    return ParameterError("multi_class", problem)


def warn_of_labels(
    several: list[Pairs],
    hard: str | None,
    other: str | None,
    noun: str = "probabilities",
) -> None:
    """Warn if probabilities look like labels, or like those of another class.

    `hard` and `other` are the advice; without it, the warning is not given.
    """
    n_rows = several[0].q.size // several[0].n_classes
    if hard and n_rows >= _MANY_ROWS and all(_are_hard(pairs.q) for pairs in several):
        warn(
            f"All {noun} of the {n_rows} rows are 0 or 1, like predicted labels. {hard}"
        )
    if other and _is_reversed(several[0]):
        warn(f"Positive labels are rarer where {noun} are higher{other}")


def warn_of_shares(pairs: Pairs) -> None:
    """Warn if all probabilities are multiples of 1/k, but not rounded decimals."""
    k = None if pairs.n_classes > 1 else number_of_shares(pairs.q)
    if k is not None:
        warn((SHARES + _SAMPLES).format(k=k))


def number_of_shares(proba: np.ndarray) -> int | None:
    """Return the k if probabilities look like shares of k samples, or else None."""
    inside = proba[: 100 * _MANY_ROWS]
    inside = inside[(inside > 0) & (inside < 1)]
    # without 0 and 1, shares do not mislead
    if inside.size < _MANY_ROWS or not ((proba == 0) | (proba == 1)).any():
        return None
    k = number_of_steps(proba)
    # Models state percentages, and tables have numbers rounded to more digits. bfloat16
    # has steps of 1/256 above 1/2.
    if k is None or 100 % k == 0 or k in (40, 256, 512):
        return None
    return None if k > 100 and 10**6 % k == 0 else k


def number_of_steps(proba: np.ndarray) -> int | None:
    """Return the least k for which all probabilities are multiples of 1/k, or None.

    Three different values between 0 and 1 (for k = 3, both) show it if some occur
    twice.
    """
    inside = proba[(proba > 0) & (proba < 1)].astype(np.float64)
    tolerance = 10 * np.finfo(proba.dtype).eps
    k = np.arange(2, _MOST_DRAWS + 1)
    values = inside
    # A few values nearly always decide.
    for q in (inside[:_MANY_ROWS], inside):
        values = np.unique(q)
        for start in range(0, values.size, _MANY_ROWS):
            product = values[start : start + _MANY_ROWS] * k[:, np.newaxis]
            off = np.abs(product - np.rint(product)).max(axis=1)
            k = k[off <= tolerance * k]
            if not k.size:
                return None
    n_values = np.unique(np.rint(values * k[0])).size
    return int(k[0]) if min(3, k[0] - 1) <= n_values < inside.size else None


def _are_hard(q: np.ndarray) -> bool:
    # The first values nearly always decide.
    return all(((part == 0) | (part == 1)).all() for part in (q[:_MANY_ROWS], q))


def _is_reversed(pairs: Pairs) -> bool:
    y, q, positive_q = pairs.positive, pairs.q, pairs.positive_q
    # The means nearly always decide, and need no memory.
    if y is None or not positive_q.size or positive_q.mean() >= q.mean():
        return False
    return are_reversed(y, q)


def _check_in_memory(*arrays: Any) -> None:
    if is_dask(*arrays):
        raise ParameterTypeError(
            None,
            "needs arrays in memory. Got a Dask collection: use "
            "ReliabilitySketch.from_dask(y_true, y_proba), whose methods return the "
            "curve, the error and the interval, or call compute() first.",
        )


def _matrix_pairs(
    proba: np.ndarray,
    index: np.ndarray,
    order: np.ndarray,
    multi_class: str | None,
    pos_label: Any,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
) -> list[Pairs]:
    """Return the pairs of a matrix of class probabilities."""
    if multi_class is None and order.size == 2:
        column = 1
        if pos_label is not None:
            if pos_label not in order.tolist():
                raise ParameterError(
                    "pos_label",
                    f"must be one of the labels {order.tolist()}. Got {pos_label!r}.",
                )
            column = order.tolist().index(pos_label)
        y, q = index == column, proba[:, column]
        return [Pairs(q, y, np.compress(y, q), weight, groups)]
    if pos_label is not None:
        raise ParameterError(
            "pos_label",
            "requires y_proba with two columns, and multi_class=None. Got "
            f"{pos_label!r} with {order.size} columns.",
        )
    multi_class = multi_class or "pooled"
    if multi_class == "pooled":
        return [pool(proba, index, weight, groups)]
    if multi_class == "top_label":
        top = proba.argmax(axis=1)  # ties to the lowest column
        q, right = proba[np.arange(top.size), top], top == index
        return [Pairs(q, right, q[right], weight, groups)]
    return [
        Pairs(proba[:, k], index == k, proba[index == k, k], weight, groups)
        for k in range(order.size)
    ]


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's method (family-wise error rate).

    A p-value of NaN stays NaN, and is not counted.
    """
    n_known = np.count_nonzero(~np.isnan(pvalues))
    order = np.argsort(pvalues, kind="stable")[:n_known]  # NaN is sorted last
    stepped = pvalues[order] * np.arange(n_known, 0, -1)
    adjusted = np.full_like(pvalues, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted
