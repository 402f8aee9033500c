"""Several systems on the same items: their statistics, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._items import PairedItems, check_metric, check_statistics, column_sums, in_groups
from ._metrics import Metric, check_metric_name


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
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.names)

    @property
    def scores(self) -> np.ndarray:
        """Return the metric of each system."""
        return np.array(
            [
                self.metric.value(column_sums(self.columns[:, k]))
                for k in range(self.n_systems)
            ]
        )

    def ordered(self) -> Systems:
        """Return the same systems with sorted rows.

        The first system's columns count most, so further systems change nothing.
        """
        flat = self.columns.reshape(len(self.columns), -1)
        return replace(self, columns=self.columns[np.lexsort(flat.T[::-1])])

    def items(self, i: int, j: int) -> PairedItems:
        """Return the paired items of two systems."""
        return PairedItems(
            self.columns[:, i],
            self.columns[:, j],
            self.metric,
            self.n_items,
            self.n_groups,
        )

    def take(self, rows: np.ndarray) -> Systems:
        """Return the same systems on some of the items or groups."""
        n_groups = None if self.n_groups is None else rows.size
        return replace(
            self, columns=self.columns[rows], n_items=rows.size, n_groups=n_groups
        )


def check_systems(systems: Any, statistic: Any, groups: Any, *, caller: str) -> Systems:
    """Return the checked statistics of several systems, summed by group."""
    check_metric_name(statistic, caller=caller)
    if not isinstance(systems, Mapping):
        raise TypeError(
            f"The 'systems' parameter of {caller} must be a mapping from names to "
            f"statistics. Got {type(systems).__name__}."
        )
    if len(systems) < 2:
        raise ValueError(
            f"The 'systems' parameter of {caller} must have two systems at least. Got "
            f"{len(systems)}."
        )
    names = list(systems)
    columns = [
        check_statistics(x, statistic, name=f"systems[{name!r}]", caller=caller)
        for name, x in systems.items()
    ]
    for name, each in zip(names, columns, strict=True):
        if each.shape != columns[0].shape:
            raise ValueError(
                f"The 'systems' parameter of {caller} must have a row for each item "
                f"and the same columns in each system. Got {columns[0].shape} for "
                f"{names[0]!r} and {each.shape} for {name!r}."
            )
    n_items = len(columns[0])
    columns, n_groups = in_groups(columns, groups, caller=caller)
    labels = [f"systems[{name!r}]" for name in names]
    metric = check_metric(
        statistic, dict(zip(labels, columns, strict=True)), caller=caller
    )
    return Systems(names, np.stack(columns, axis=1), metric, n_items, n_groups)
