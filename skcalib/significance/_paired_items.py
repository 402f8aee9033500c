"""Sufficient statistics of two or of many systems on the same items, checked.

Evaluations as statistics of the paired tests: the scores of their questions.

Metrics of sums: from the summed columns of the items to one number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._validation import as_floats, as_groups, check_same_length
from ..evaluation import Evaluation, align_evaluations
from ..evaluation._align import AlignedEvaluations
from ..evaluation._evaluation import check_groups
from ._tail_probabilities import LinearGain


def pair_as_statistics(
    stats_a: Any, stats_b: Any, groups: Any, names: tuple[str, str]
) -> tuple[Any, Any, Any]:
    """Return two evaluations as scores of the same questions, other input unchanged."""
    systems = dict(zip(names, (stats_a, stats_b), strict=True))
    other = {k: x for k, x in systems.items() if not isinstance(x, Evaluation)}
    if len(other) == 1:
        ((name, value),) = other.items()
        raise ParameterTypeError(
            name,
            "must be an Evaluation if the other system is one. Got "
            f"{type(value).__name__}.",
        )
    systems, groups = systems_as_statistics(systems, groups)
    return *systems.values(), groups


def systems_as_statistics(systems: Any, groups: Any) -> tuple[Any, Any]:
    """Return evaluations by name as scores of the same questions.

    `groups` may then be the name of a column. Other input is returned unchanged.
    """
    aligned = as_aligned(systems)
    groups = groups_of(aligned, groups)
    return (systems if aligned is None else scores_of(aligned)), groups


def as_aligned(systems: Any) -> AlignedEvaluations | None:
    """Return evaluations with the same questions, None if there are no evaluations."""
    if isinstance(systems, AlignedEvaluations):
        return systems
    values = systems.values() if isinstance(systems, Mapping) else ()
    if not any(isinstance(each, Evaluation) for each in values):
        return None
    return align_evaluations({str(name): each for name, each in systems.items()})


def scores_of(aligned: AlignedEvaluations) -> dict[str, np.ndarray]:
    """Return the scores of the questions of each system by name."""
    return dict(zip(aligned.names, np.ascontiguousarray(aligned.score.T), strict=True))


def groups_of(aligned: AlignedEvaluations | None, groups: Any) -> Any:
    """Return the groups in the column named `groups`; return other input unchanged."""
    if not isinstance(groups, str):
        return groups
    if aligned is None:
        problem = "must be an array if the systems are arrays. Got a name."
        raise ParameterTypeError("groups", problem)
    if groups not in aligned.groups:
        known = ", ".join(map(repr, aligned.groups)) or "none"
        problem = f"must name a column of the evaluations ({known}). Got {groups!r}."
        raise ParameterError("groups", problem)
    check_groups(groups, aligned.groups[groups], aligned.question)
    return aligned.groups[groups]


@dataclass(frozen=True)
class Metric:
    """A metric of sums.

    `of_sums` maps sums of shape (k, m) to (values, undefined), arrays of shape (k,); if
    a value is 0/0, it is 0 and `undefined` is True. `quotient` contains the two columns
    whose sums the metric divides, or None if the metric is not a quotient.
    """

    name: str
    of_sums: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    quotient: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None

    def value(self, sums: np.ndarray) -> float:
        """Return the metric of one row of sums."""
        return float(self.of_sums(sums[np.newaxis])[0][0])


def _ratio(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return columns[:, 0], columns[:, 1]


def _f1(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return 2 * columns[:, 0], columns[:, 1] + columns[:, 2]


def _quotient_metric(name: str, quotient: Callable) -> Metric:
    def of_sums(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        above, below = quotient(sums)
        undefined = below == 0
        values = np.divide(above, below, out=np.zeros_like(above), where=~undefined)
        return values, undefined

    return Metric(name, of_sums, quotient)


# The mean of values is the ratio of their sum to the number of items. With groups of
# different sizes, it is not a mean of group sums.
READY = {
    "mean": _quotient_metric("mean", _ratio),
    "ratio": _quotient_metric("ratio", _ratio),
    "f1": _quotient_metric("f1", _f1),
}


def check_metric_name(statistic: Any) -> None:
    """Raise unless `statistic` is a known name or a callable."""
    is_known = isinstance(statistic, str) and statistic in READY
    if not is_known and not callable(statistic):
        names = ", ".join(map(repr, READY))
        raise ParameterError(
            "statistic",
            f"must be one of {names} or a callable of the summed columns. Got "
            f"{statistic!r} instead.",
        )


def metric_of_callable(function: Callable, a: np.ndarray, b: np.ndarray) -> Metric:
    """Return a metric that calls `function` on many sums at once if possible.

    A function of one row of sums, ``s[0] / s[1]``, often also takes all of them in the
    columns of a matrix; a function written with ``s[..., 0]`` takes them in rows. The
    layout is determined on sums of these data: the values must agree.
    """
    # m + 2 rows of m columns: a function cannot confuse rows with columns unnoticed.
    m = a.shape[1]
    left_out = [a.sum(axis=0) - a[i % len(a)] for i in range(m)]
    probe = np.stack([a.sum(axis=0), b.sum(axis=0), *left_out])
    name = getattr(function, "__name__", type(function).__name__)
    with np.errstate(all="ignore"):
        evaluate = _evaluation(function, probe, name=name)

    def of_sums(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            values = evaluate(sums)
        wrong = ~np.isfinite(values)
        if wrong.any():
            k = int(wrong.argmax())
            raise ParameterError(
                "statistic",
                "must return a finite number for the sums of every resample (for "
                f"example 0 for 0/0). {name!r} returned {values[k]} for the sums "
                f"{sums[k].tolist()}, one of {int(wrong.sum())} such values in "
                f"{len(values)}.",
            )
        return values, np.zeros(len(sums), dtype=bool)

    return Metric(name, of_sums)


def _evaluation(
    function: Callable, probe: np.ndarray, *, name: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Return how `function` is called on rows of sums."""

    def one_by_one(sums: np.ndarray) -> np.ndarray:
        return np.array([_as_number(function(row)) for row in sums])

    def in_rows(sums: np.ndarray) -> np.ndarray:
        return np.asarray(function(sums), dtype=np.float64)

    try:
        expected = one_by_one(probe)
    except (IndexError, TypeError, ValueError) as error:
        # The function may expect two axes.
        if isinstance(error, IndexError) and _takes(in_rows, probe) is not None:
            return in_rows
        raise ParameterError(
            "statistic",
            f"must map the {probe.shape[1]} summed columns of a system to one number. "
            f"{name!r} failed: {error}",
        ) from error
    values = _takes(in_rows, probe)
    is_equal = values is not None and np.allclose(
        values, expected, rtol=1e-9, atol=0, equal_nan=True
    )
    return in_rows if is_equal else one_by_one


def _as_number(value: Any) -> float:
    found = np.asarray(value, dtype=np.float64)
    if found.size != 1:
        raise ValueError(f"it returned an array of shape {found.shape}, not a number.")
    return float(found.reshape(()))


def _takes(evaluate: Callable, probe: np.ndarray) -> np.ndarray | None:
    """Return the values of all rows of sums, or None if one call cannot do it."""
    # Any exception means that the function does not support this layout.
    try:
        values = evaluate(probe)
    except Exception:
        return None
    return values if values.shape == (len(probe),) else None


# Larger integers are not exact in float64.
_EXACT = 2.0**53

# Cubes of sums of numbers up to here, and of their inverses, are in range.
_LARGEST = 1e90


@dataclass(frozen=True)
class PairedItems:
    """Statistics of two systems on the same items, with one row per item or group.

    Attributes
    ----------
    a, b : ndarray of shape (n, m)
    metric : Metric
    n_items : int
        Number of rows that were passed; more than n if these are in groups.
    n_groups : int or None
    sizes : ndarray of shape (n,), default=None
        Number of rows that count in each item or group. If None, one row each.
    """

    a: np.ndarray
    b: np.ndarray
    metric: Metric
    n_items: int
    n_groups: int | None
    sizes: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of rows that are resampled."""
        return len(self.a)

    @cached_property
    def informative(self) -> PairedItems:
        """The same data without items that are all zeros in both systems.

        Such items have no denominator, entity or weight. They do not change any sum and
        carry no information about the scores or the gain.
        """
        counts = is_informative(self.a, self.b)
        if counts.all():
            return self
        sizes = None if self.sizes is None else self.sizes[counts]
        return replace(self, a=self.a[counts], b=self.b[counts], sizes=sizes)

    @property
    def n_effective(self) -> float:
        """Return (sum n)^2 / sum n^2 over the sizes n of items or groups that count."""
        items = self.informative
        if items.sizes is None or items.n == 0:
            return float(items.n)
        return float(items.sizes.sum()) ** 2 / float((items.sizes**2).sum())

    @cached_property
    def scores(self) -> tuple[float, float]:
        """Return the metric of each system."""
        # Sums of integers are exact in any order.
        sums = partial(np.sum, axis=0) if self.is_integer else column_sums
        return self.metric.value(sums(self.a)), self.metric.value(sums(self.b))

    @property
    def gain(self) -> float:
        """Return metric(A) - metric(B)."""
        linear = self.linear
        if linear is not None:
            return float(linear.total / linear.length_total)
        return self.scores[0] - self.scores[1]

    @cached_property
    def is_integer(self) -> bool:
        """Whether all sums are integers that are exact in float64."""
        return is_integer(self.a) and is_integer(self.b)

    @cached_property
    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct rows (a, b) in a fixed order, and the number of times each occurs.

        The better system comes first in that order, so that swapping the systems
        changes no draw.
        """
        # Equal systems have no better one: the smaller of both tables is used.
        first, second = self.scores
        columns_a, columns_b = list(self.a.T), list(self.b.T)
        if first >= second:
            found = distinct_rows(columns_a + columns_b)
            if first > second:
                return found
        rows, times = distinct_rows(columns_b + columns_a)
        if first == second and _as_lists(found) <= _as_lists((rows, times)):
            return found
        return np.hstack(np.hsplit(rows, 2)[::-1]), times

    @cached_property
    def linear(self) -> LinearGain | None:
        """The gain as one ratio of sums, or None if it is not a ratio."""
        if self.metric.quotient is not _ratio:
            return None
        # With other lengths, the gain is a difference of two ratios. A row of length 0
        # must not have a difference, since resamples may consist of such rows.
        length = self.a[:, 1]
        if not length.any() or (length != self.b[:, 1]).any():
            return None
        difference = self.a[:, 0] - self.b[:, 0]
        if difference[length == 0].any():
            return None
        rows, times = distinct_rows([difference, length])
        return LinearGain(rows[:, 0], rows[:, 1], times, self.is_integer)

    @cached_property
    def is_constant(self) -> bool:
        """Whether every resample has the observed gain."""
        linear = self.linear
        if linear is None:
            # Other metrics are constant if the systems, or all rows, are equal.
            same = bool((self.a == self.b).all())
            return same or all(bool((x == x[0]).all()) for x in (self.a, self.b))
        if linear.is_integer:
            return linear.is_constant
        scale = np.abs(self.a[:, 0]).max() + np.abs(self.b[:, 0]).max()
        return bool((np.abs(linear.residual) <= 1e-12 * scale).all())

    def gains(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gain, and whether a system's metric is 0/0, for rows of sums."""
        m = self.a.shape[1]
        first, undefined_first = self.metric.of_sums(sums[:, :m])
        second, undefined_second = self.metric.of_sums(sums[:, m:])
        return first - second, undefined_first | undefined_second

    @property
    def tolerance(self) -> float:
        """Distance below a threshold up to which a rounded number counts as a tie."""
        # The difference of two scores has the rounding error of the scores.
        return max(1e-9 * abs(self.gain), 1e-12 * max(map(abs, self.scores)))


def is_informative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return which rows are not all zeros in both systems, of shape (n,)."""
    counts = np.zeros(len(a), dtype=bool)
    for column in (*a.T, *b.T):
        counts |= column != 0
    return counts


def column_sums(columns: np.ndarray) -> np.ndarray:
    """Return sums of columns that do not depend on the order of rows."""
    return np.array([math.fsum(column.tolist()) for column in columns.T])


def is_integer(columns: np.ndarray) -> bool:
    """Return whether all values are integers whose sums are exact in float64."""
    is_whole = bool((columns == np.rint(columns)).all())
    return is_whole and float(np.abs(columns).sum(axis=0).max(initial=0)) < _EXACT


def distinct_rows(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows in a fixed order, and the count of each."""
    order = np.lexsort(columns[::-1])  # the last key is the first criterion
    rows = np.column_stack([column[order] for column in columns])
    new = np.zeros(len(rows), dtype=bool)
    new[:1] = True
    for column in rows.T:
        new[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(new)
    return rows[first], np.diff(first, append=len(rows))


def _as_lists(arrays: tuple[np.ndarray, ...]) -> list[list]:
    return [array.tolist() for array in arrays]


def check_items(stats_a: Any, stats_b: Any, statistic: Any, groups: Any) -> PairedItems:
    """Return the checked items of two systems, summed by group."""
    stats_a, stats_b, groups = pair_as_statistics(
        stats_a, stats_b, groups, ("stats_a", "stats_b")
    )
    check_metric_name(statistic)
    a, b = (
        check_statistics(x, statistic, name=name)
        for x, name in ((stats_a, "stats_a"), (stats_b, "stats_b"))
    )
    check_same_length(stats_a=a, stats_b=b)
    if a.shape[1] != b.shape[1]:
        raise ParameterError(
            None,
            "needs the same columns in 'stats_a' and 'stats_b'. Got "
            f"{a.shape[1]} and {b.shape[1]}.",
        )
    n_items, counts = len(a), is_informative(a, b).astype(np.float64)
    (a, b, sizes), n_groups = in_groups([a, b, counts[:, np.newaxis]], groups)
    metric = check_metric(statistic, {"stats_a": a, "stats_b": b})
    return PairedItems(a, b, metric, n_items, n_groups, sizes[:, 0])


def in_groups(
    systems: list[np.ndarray], groups: Any
) -> tuple[list[np.ndarray], int | None]:
    """Return the statistics of each system, summed by group, and the group count."""
    index, n_groups = as_groups(groups, len(systems[0])), None
    if index is not None:
        n_groups = int(index.max()) + 1
        systems = [
            np.column_stack([np.bincount(index, column) for column in each.T])
            for each in systems
        ]
    if len(systems[0]) < 2:
        unit = "items" if index is None else "groups"
        raise ParameterError(
            None,
            f"needs at least two {unit}, because one cannot be resampled. Got "
            f"{len(systems[0])}.",
        )
    return systems, n_groups


def check_metric(statistic: Any, systems: dict[str, np.ndarray]) -> Metric:
    """Return the metric, which has to be defined for each of the named systems."""
    if callable(statistic):
        first, *others = systems.values()
        return metric_of_callable(statistic, first, others[0] if others else first)
    for name, columns in systems.items():
        if statistic == "ratio" and not columns[:, 1].any():
            raise ParameterError(
                name,
                "must have a denominator above 0 in at least one row. Got 0 in all "
                "rows.",
            )
    return READY[statistic]


def check_statistics(stats: Any, statistic: str | Callable, *, name: str) -> np.ndarray:
    """Return the statistics of one system as float64 columns of shape (n, m)."""
    columns = as_floats(stats, name=name).astype(np.float64, copy=False)
    if columns.ndim == 1 and (callable(statistic) or statistic == "mean"):
        columns = columns[:, np.newaxis]
    n_columns = None if callable(statistic) else _N_COLUMNS[statistic]
    if columns.ndim != 2 or n_columns not in (None, columns.shape[1]):
        shape = _SHAPES.get(statistic, "(n,) or (n, m)")  # type: ignore[arg-type]
        raise ParameterError(
            name,
            f"must have shape {shape} for statistic={statistic!r}, with one row per "
            f"item. Got shape {np.shape(stats)}.",
        )
    finite = np.isfinite(columns)
    if not finite.all():
        check_rows(np.asarray(finite.all(axis=1)), columns, "finite numbers", name)
    # Powers of the numbers have to be in the range of float64.
    low, high = columns.min(axis=0, initial=0), columns.max(axis=0, initial=0)
    largest = np.maximum(-low, high)
    wrong = (largest > _LARGEST) | ((largest > 0) & (largest < 1 / _LARGEST))
    if wrong.any():
        k = int(wrong.argmax())
        raise ParameterError(
            name,
            f"must contain numbers with absolute values from {1 / _LARGEST:g} to "
            f"{_LARGEST:g}, or 0. Got {largest[k]:g} as the largest of column {k}. "
            "Use another unit.",
        )
    if statistic == "ratio":
        check_rows(columns[:, 1] >= 0, columns, "denominators of at least 0", name)
    if statistic == "f1":
        least = np.minimum(columns[:, 1], columns[:, 2])
        # Weighted counts may exceed their limit by rounding.
        good = (columns >= 0).all(axis=1) & (columns[:, 0] <= least * (1 + 1e-9))
        rule = "columns with 0 <= correct <= guessed and gold, in this order"
        check_rows(good, columns, rule, name)
    # A mean is a ratio of sums whose lengths are 1, also after rows have been grouped.
    if statistic == "mean":
        columns = np.column_stack([columns[:, 0], np.ones(len(columns))])
    return columns


_N_COLUMNS = {"mean": 1, "ratio": 2, "f1": 3}
_SHAPES = {
    "mean": "(n,)",
    "ratio": "(n, 2), numerator and denominator,",
    "f1": "(n, 3), correct, guessed and gold,",
}


def check_rows(good: np.ndarray, columns: np.ndarray, rule: str, name: str) -> None:
    """Raise an error that shows the first row that is not as the rule says."""
    if not good.all():
        row = int(good.argmin())
        raise ParameterError(
            name,
            f"must contain {rule}. Got {columns[row].tolist()} in row {row}, one of "
            f"{int((~good).sum())} such rows.",
        )


@dataclass(frozen=True)
class Systems:
    """Checked statistics of several systems on the same items, or summed by group.

    `columns` has shape (n, n_systems, m).
    """

    names: list[str]
    columns: np.ndarray
    metric: Metric
    n_items: int
    n_groups: int | None

    @property
    def scores(self) -> np.ndarray:
        """Return the metric of each system."""
        systems = np.moveaxis(self.columns, 1, 0)
        return np.array([self.metric.value(column_sums(each)) for each in systems])

    def ordered(self) -> Systems:
        """Return the same systems with sorted rows.

        The columns of the first system are the primary sort keys, so that adding
        systems does not change the order.
        """
        flat = self.columns.reshape(len(self.columns), -1)
        return replace(self, columns=self.columns[np.lexsort(flat.T[::-1])])

    def items(self, i: int, j: int) -> PairedItems:
        """Return the paired items of two systems."""
        a, b = self.columns[:, i], self.columns[:, j]
        return PairedItems(a, b, self.metric, self.n_items, self.n_groups)

    def take(self, rows: np.ndarray) -> Systems:
        """Return the same systems on some of the items or groups."""
        n_groups = None if self.n_groups is None else rows.size
        return replace(
            self, columns=self.columns[rows], n_items=rows.size, n_groups=n_groups
        )


def check_columns(
    systems: Any, statistic: Any, least: int = 2
) -> tuple[list[str], list[np.ndarray]]:
    """Return the names and the checked statistics of at least `least` systems."""
    check_metric_name(statistic)
    if not isinstance(systems, Mapping):
        kind = type(systems).__name__
        problem = f"must be a mapping from names to statistics. Got {kind}."
        raise ParameterTypeError("systems", problem)
    if len(systems) < least:
        number = "one system" if least == 1 else "two systems"
        problem = f"must contain at least {number}. Got {len(systems)}."
        raise ParameterError("systems", problem)
    names = list(systems)
    columns = [
        check_statistics(x, statistic, name=f"systems[{name!r}]")
        for name, x in systems.items()
    ]
    for name, each in zip(names, columns, strict=True):
        if each.shape != columns[0].shape:
            raise ParameterError(
                "systems",
                "must have one row per item and the same columns in every system. "
                f"Got {columns[0].shape} for {names[0]!r} and {each.shape} for "
                f"{name!r}.",
            )
    return names, columns


def group_systems(
    names: list[str], columns: list[np.ndarray], statistic: Any, groups: Any
) -> Systems:
    """Return the statistics of several systems, summed by group."""
    n_items = len(columns[0])
    columns, n_groups = in_groups(columns, groups)
    labels = [f"systems[{name!r}]" for name in names]
    metric = check_metric(statistic, dict(zip(labels, columns, strict=True)))
    return Systems(names, np.stack(columns, axis=1), metric, n_items, n_groups)
