"""The documents of a corpus as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ._count_periods import Periods


@dataclass
class Corpus:
    """Documents of a file as arrays with one entry per row.

    `label` is NaN for a document without a label. `strata`, `groups` and `by` are codes
    with their names, or None.
    """

    path: Path
    line: np.ndarray
    expected: np.ndarray
    model: str
    is_proba: bool
    label: np.ndarray
    label_source: str | None
    id_name: str | None = None
    ids: np.ndarray | None = None
    inclusion: np.ndarray | None = None
    inclusion_source: str | None = None
    strata: np.ndarray | None = None
    strata_names: list[str] = field(default_factory=list)
    groups: np.ndarray | None = None
    by: np.ndarray | None = None
    by_names: list[str] = field(default_factory=list)
    size: np.ndarray | None = None
    periods: Periods | None = None
    n_drawn: int | None = None
    n_unlabelled: int = 0
    notes: list[str] = field(default_factory=list)

    def place(self, row: int) -> str:
        """Return the place of a row, for messages."""
        name = f"line {self.line[row]}"
        return name if self.ids is None else f"{name} ({self.id_name} {self.ids[row]})"
