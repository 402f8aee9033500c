"""Numerators and denominators of cluster metrics, from one document's table."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ._clusters import Table

__all__ = ["COUNTS", "EMPTY"]

# Each function returns numerator and denominator of precision, then of recall.

Counts = tuple[float, float, float, float]
_NONE = np.zeros(0)
_NOWHERE = np.zeros(0, dtype=np.intp)
EMPTY = Table(_NONE, _NONE, _NOWHERE, _NOWHERE, _NONE)


def _pairs(n: Any) -> Any:
    return n * (n - 1) / 2


def _pairwise(table: Table) -> Counts:
    right = _pairs(table.shared).sum()
    return right, _pairs(table.pred).sum(), right, _pairs(table.true).sum()


def _muc(table: Table) -> Counts:
    # A cluster with s mentions in p parts has s - p of its s - 1 links. A part is a
    # cell, or a mention that the other side lacks. So the sum of s - p over clusters is
    # the number of shared mentions minus the number of cells.
    right = table.shared.sum() - table.shared.size
    return right, (table.pred - 1).sum(), right, (table.true - 1).sum()


def _b3(table: Table) -> Counts:
    square = table.shared**2
    return (
        fsum(square / table.pred[table.column]),
        table.pred.sum(),
        fsum(square / table.true[table.row]),
        table.true.sum(),
    )


def _ceafe(table: Table) -> Counts:
    likeness = 2 * table.shared / (table.true[table.row] + table.pred[table.column])
    best = _best_alignment(table, likeness)
    return best, table.pred.size, best, table.true.size


def _ceafm(table: Table) -> Counts:
    best = _best_alignment(table, table.shared)
    return best, table.pred.sum(), best, table.true.sum()


def _best_alignment(table: Table, likeness: np.ndarray) -> float:
    """Return the largest total similarity of aligned clusters."""
    # a cluster that is equal on both sides shares no mention with others
    size = np.maximum(table.true[table.row], table.pred[table.column])
    rest = table.shared < size
    rows, row = np.unique(table.row[rest], return_inverse=True)
    columns, column = np.unique(table.column[rest], return_inverse=True)
    matrix = np.zeros((rows.size, columns.size))
    matrix[row, column] = likeness[rest]
    chosen = matrix[linear_sum_assignment(matrix, maximize=True)]
    return fsum(likeness[~rest]) + fsum(chosen)


def _blanc(table: Table) -> tuple[float, ...]:
    """Return the counts of links within clusters, then of links between clusters."""
    within = _pairwise(table)
    _, n_pred, right, n_true = within
    # pairs of common mentions, minus the pairs within a cluster of either side
    true = _pairs(np.bincount(table.row, table.shared)).sum()
    pred = _pairs(np.bincount(table.column, table.shared)).sum()
    apart = _pairs(table.shared.sum()) - true - pred + right
    between_pred = _pairs(table.pred.sum()) - n_pred
    between_true = _pairs(table.true.sum()) - n_true
    return (*within, apart, between_pred, apart, between_true)


def _lea(table: Table) -> Counts:
    true, pred = table.true[table.row], table.pred[table.column]
    alone = (true == 1) & (pred == 1)
    counts = []
    for size, sizes in ((pred, table.pred), (true, table.true)):
        links = np.where(
            size > 1, _pairs(table.shared) / np.maximum(_pairs(size), 1), alone
        )
        counts += [fsum(size * links), sizes.sum()]
    return counts[0], counts[1], counts[2], counts[3]


COUNTS: dict[str, Callable[[Table], tuple[float, ...]]] = {
    "pairwise": _pairwise,
    "muc": _muc,
    "b3": _b3,
    "ceafe": _ceafe,
    "ceafm": _ceafm,
    "blanc": _blanc,
    "lea": _lea,
}
