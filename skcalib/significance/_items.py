"""Paired items: the sufficient statistics of two systems, checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import check_same_length
from ._metrics import READY, Metric, check_metric_name, metric_of_callable

# Whole numbers beyond are not exact in float64.
_EXACT = 2.0**53

# Cubes of sums of numbers up to here, and of their inverses, are in range.
_LARGEST = 1e90


@dataclass(frozen=True)
class PairedItems:
    """Statistics of two systems on the same items, a row for each item or group.

    Attributes
    ----------
    a, b : ndarray of shape (n, m)
    metric : Metric
    n_items : int
        Number of rows that were passed; more than n if these are in groups.
    n_groups : int or None
    """

    a: np.ndarray
    b: np.ndarray
    metric: Metric
    n_items: int
    n_groups: int | None

    @property
    def n(self) -> int:
        """Number of rows that are resampled."""
        return len(self.a)

    @cached_property
    def scores(self) -> tuple[float, float]:
        """Return the metric of each system."""
        if self.is_integer:
            first, second = self.a.sum(axis=0), self.b.sum(axis=0)
        else:
            first, second = column_sums(self.a), column_sums(self.b)
        return self.metric.value(first), self.metric.value(second)

    @property
    def gain(self) -> float:
        """Return metric(A) - metric(B)."""
        linear = self.linear
        if linear is not None:
            return float(linear.total / linear.length_total)
        return self.scores[0] - self.scores[1]

    @cached_property
    def is_integer(self) -> bool:
        """Whether all sums are whole numbers that float64 holds."""
        return is_integer(self.a) and is_integer(self.b)

    @cached_property
    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct rows (a, b) in a fixed order, and how often each is there.

        The better system comes first in that order, so that swapping the systems
        changes no draw.
        """
        first, second = self.scores
        found = distinct_rows(np.hstack([self.a, self.b]))
        if first > second:
            return found
        swapped = distinct_rows(np.hstack([self.b, self.a]))
        if first == second and _as_lists(found) <= _as_lists(swapped):
            return found
        rows, times = swapped
        return np.hstack(np.hsplit(rows, 2)[::-1]), times

    @cached_property
    def linear(self) -> LinearGain | None:
        """The gain as one ratio of sums, where it is one."""
        if self.metric.of_sums is not READY["ratio"].of_sums:
            return None
        length = self.a[:, 1]
        if not length.any() or (length != self.b[:, 1]).any():
            return None
        difference = self.a[:, 0] - self.b[:, 0]
        if difference[length == 0].any():
            return None
        rows, times = distinct_rows(np.column_stack([difference, length]))
        return LinearGain(rows[:, 0], rows[:, 1], times, self.is_integer)

    def gains(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gain, and whether a system's metric is 0/0, for rows of sums."""
        m = self.a.shape[1]
        first, undefined_first = self.metric.of_sums(sums[:, :m])
        second, undefined_second = self.metric.of_sums(sums[:, m:])
        return first - second, undefined_first | undefined_second

    @property
    def tolerance(self) -> float:
        """How far below a threshold still counts as a tie, for rounded numbers."""
        return max(1e-9 * abs(self.gain), 1e-12 * max(map(abs, self.scores)))


@dataclass(frozen=True)
class LinearGain:
    """A gain of the form (sum of differences) / (sum of lengths).

    Row k is there times[k] times. Whole numbers are kept as such.
    """

    difference: np.ndarray
    length: np.ndarray
    times: np.ndarray
    is_integer: bool

    @cached_property
    def total(self) -> Any:
        """Sum of the differences: an int for whole numbers."""
        return self._sum(self.difference)

    @cached_property
    def length_total(self) -> Any:
        """Sum of the lengths."""
        return self._sum(self.length)

    def _sum(self, column: np.ndarray) -> Any:
        if self.is_integer:
            return int((column * self.times).sum())
        return math.fsum((column * self.times).tolist())

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.times.sum())

    @cached_property
    def residual(self) -> np.ndarray:
        """Difference less the gain times the length: sums to 0."""
        return self.difference - self.total / self.length_total * self.length

    @property
    def standard_error(self) -> float:
        """Return that of the gain, by its influence; of a mean, the bootstrap's own."""
        square = float(self.times @ self.residual**2)
        return math.sqrt(square) / float(self.length_total)

    @property
    def chance_of_nothing(self) -> float:
        """Return the chance that all drawn items have length 0."""
        empty = int(self.times[self.length == 0].sum())
        return (empty / self.n) ** self.n


def column_sums(columns: np.ndarray) -> np.ndarray:
    """Return sums of columns that do not depend on the order of rows."""
    return np.array([math.fsum(column.tolist()) for column in columns.T])


def is_integer(columns: np.ndarray) -> bool:
    """Return whether all are whole numbers whose sums float64 holds."""
    whole = bool((columns == np.rint(columns)).all())
    return whole and float(np.abs(columns).sum(axis=0).max()) < _EXACT


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows in a fixed order, and how often each is there."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)]
    first = np.flatnonzero(new)
    return ordered[first], np.diff(np.r_[first, len(rows)])


def _as_lists(arrays: tuple[np.ndarray, ...]) -> list[list]:
    return [array.tolist() for array in arrays]


def check_items(
    stats_a: Any, stats_b: Any, statistic: Any, groups: Any, *, caller: str
) -> PairedItems:
    """Return the checked items of two systems, summed by group."""
    check_metric_name(statistic, caller=caller)
    a, b = (
        check_statistics(x, statistic, name=name, caller=caller)
        for x, name in ((stats_a, "stats_a"), (stats_b, "stats_b"))
    )
    check_same_length(caller, stats_a=a, stats_b=b)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"'stats_a' and 'stats_b' of {caller} must have the same columns. Got "
            f"{a.shape[1]} and {b.shape[1]}."
        )
    n_items = len(a)
    (a, b), n_groups = in_groups([a, b], groups, caller=caller)
    metric = check_metric(statistic, {"stats_a": a, "stats_b": b}, caller=caller)
    return PairedItems(a, b, metric, n_items, n_groups)


def in_groups(
    systems: list[np.ndarray], groups: Any, *, caller: str
) -> tuple[list[np.ndarray], int | None]:
    """Return the statistics of each system, summed by group, and how many there are."""
    n_groups = None
    if groups is not None:
        index, n_groups = _check_groups(groups, len(systems[0]), caller=caller)
        systems = [_sum_groups(each, index, n_groups) for each in systems]
    if len(systems[0]) < 2:
        unit = "items" if groups is None else "groups"
        raise ValueError(
            f"{caller} needs two {unit} at least: with one there is nothing to "
            f"resample. Got {len(systems[0])}."
        )
    return systems, n_groups


def check_metric(
    statistic: Any, systems: dict[str, np.ndarray], *, caller: str
) -> Metric:
    """Return the metric, which has to be defined for each of the named systems."""
    if callable(statistic):
        first, second, *_ = systems.values()
        return metric_of_callable(statistic, first, second, caller=caller)
    for name, columns in systems.items():
        if statistic == "ratio" and not columns[:, 1].any():
            raise ValueError(
                f"The {name!r} parameter of {caller} must have a denominator above 0 "
                "in some row. Got 0 in all of them."
            )
    return READY[statistic]


def check_statistics(
    stats: Any, statistic: str | Callable, *, name: str, caller: str
) -> np.ndarray:
    """Return the statistics of one system as float64 columns of shape (n, m)."""
    columns = _as_numbers(stats, name=name, caller=caller)
    if columns.ndim == 1 and (callable(statistic) or statistic == "mean"):
        columns = columns[:, np.newaxis]
    n_columns = None if callable(statistic) else _N_COLUMNS[statistic]
    if columns.ndim != 2 or n_columns not in (None, columns.shape[1]):
        shape = _SHAPES.get(statistic, "(n,) or (n, m)")  # type: ignore[arg-type]
        raise ValueError(
            f"The {name!r} parameter of {caller} must have shape {shape} for "
            f"statistic={statistic!r}, a row for each item. Got shape "
            f"{np.shape(stats)}."
        )
    wrong = ~np.isfinite(columns).all(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold finite numbers. Got "
            f"{columns[row].tolist()} in row {row}, one of {int(wrong.sum())} such "
            "rows."
        )
    _check_size(columns, name=name, caller=caller)
    if statistic in ("ratio", "f1"):
        _check_signs(columns, statistic, name=name, caller=caller)
    if statistic == "mean":
        columns = np.column_stack([columns[:, 0], np.ones(len(columns))])
    return columns


_N_COLUMNS = {"mean": 1, "ratio": 2, "f1": 3}
_SHAPES = {
    "mean": "(n,)",
    "ratio": "(n, 2), numerator and denominator,",
    "f1": "(n, 3), correct, guessed and gold,",
}


def _as_numbers(stats: Any, *, name: str, caller: str) -> np.ndarray:
    try:
        columns = np.asarray(stats)
        if columns.dtype.kind in "buifO":
            return columns.astype(np.float64)
        found = f"an array of dtype {columns.dtype} and shape {columns.shape}"
    except (TypeError, ValueError, OverflowError):
        found = f"{stats!r:.80}"
    raise ValueError(
        f"The {name!r} parameter of {caller} must be an array of numbers, a row for "
        f"each item. Got {found}."
    )


def _check_size(columns: np.ndarray, *, name: str, caller: str) -> None:
    """Raise where powers of the numbers would leave the range of float64."""
    largest = np.abs(columns).max(axis=0, initial=0)
    wrong = (largest > _LARGEST) | ((largest > 0) & (largest < 1 / _LARGEST))
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold numbers of a size from "
            f"{1 / _LARGEST:g} to {_LARGEST:g}, or 0. Got {largest[k]:g} as the "
            f"largest of column {k}: use another unit."
        )


def _check_signs(
    columns: np.ndarray, statistic: Any, *, name: str, caller: str
) -> None:
    """Raise where counts cannot be: negative, or more correct than guessed or gold."""
    if statistic == "ratio":
        wrong, rule = columns[:, 1] < 0, "denominators of at least 0"
    else:
        least = np.minimum(columns[:, 1], columns[:, 2])
        wrong = (columns < 0).any(axis=1) | (columns[:, 0] > least * (1 + 1e-9))
        rule = "0 <= correct <= guessed and gold, in columns in this order"
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The {name!r} parameter of {caller} must hold {rule}. Got "
            f"{columns[row].tolist()} in row {row}, one of {int(wrong.sum())} such "
            "rows."
        )


def _check_groups(groups: Any, n: int, *, caller: str) -> tuple[np.ndarray, int]:
    """Return the number of each row's group, and how many groups there are."""
    try:
        labels = np.asarray(groups)
    except ValueError:  # ragged
        labels = np.empty((len(groups), 0))
    if labels.ndim != 1:
        raise ValueError(
            f"The 'groups' parameter of {caller} must have shape (n,), the label of "
            f"each item's group. Got shape {labels.shape}."
        )
    if labels.size != n:
        raise ValueError(
            f"The 'groups' parameter of {caller} must have one entry for each of the "
            f"{n} items. Got {labels.size}."
        )
    missing = labels != labels  # NaN differs from itself
    if labels.dtype.kind == "O":
        missing = np.array([x is None or x != x for x in labels], dtype=bool)
    if np.any(missing):
        raise ValueError(
            f"The 'groups' parameter of {caller} must have no missing labels. Got "
            f"{labels[int(np.argmax(missing))]!r} in row {int(np.argmax(missing))}."
        )
    try:
        distinct, index = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types
        numbers: dict[Any, int] = {}
        index = np.array([numbers.setdefault(x, len(numbers)) for x in labels])
        return index, len(numbers)
    return index.ravel(), distinct.size


def _sum_groups(columns: np.ndarray, index: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the sums of the rows of each group."""
    return np.column_stack([np.bincount(index, x, n_groups) for x in columns.T])
