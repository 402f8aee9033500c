"""The files of a sample: for annotators, and the design for the count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation._cells import text_of
from ._count_join import DRAWN, ID, PROBABILITY, STRATUM
from ._csv import as_cell, write_rows
from ._sample_draw import LABEL, Drawn
from ._shared import CommandError

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_new(output: Path, design: Path) -> None:
    """Raise an error if a file of the sample exists, or is not a table."""
    if output.suffix.lower() not in _DELIMITERS:
        raise CommandError(f"--output must end in .csv or .tsv. Got {str(output)!r}.")
    for path in (output, design):
        if path.exists():
            raise CommandError(
                f"{path} exists, and may have labels that were filled in. Choose "
                "another name with --output, or remove the file."
            )


def check_ids(drawn: Drawn) -> None:
    """Raise an error if two ids would be the same in the files of the sample."""
    ids = set(drawn.ids.tolist())
    first: dict[str, str] = {}
    for name in drawn.ids.tolist():
        cell = as_cell(name)
        other = first.setdefault(cell, name)
        if other != name or (cell != name and cell in ids):
            other = cell if other == name else other
            raise CommandError(
                f"{drawn.table.path}: ids must differ when they are written to a CSV "
                f"file, in which formulas begin with an apostrophe. {name!r} and "
                f"{other!r} are both written as {cell!r}. Choose another column with "
                "--id."
            )


def write_sample(drawn: Drawn, output: Path) -> None:
    """Write the drawn rows, each with an empty label."""
    mark = _DELIMITERS[output.suffix.lower()]
    index, start, k = drawn.choice.index, 0, 0
    # Spreadsheet programs recognise UTF-8 by the byte order mark.
    with output.open("w", encoding="utf-8-sig", newline="") as file:
        write_rows(file, [[*drawn.shown, LABEL]], mark)
        for cells, lines in drawn.table.chunks(drawn.shown):
            rows = []
            while k < len(index) and index[k] < start + len(lines):
                row = [cells[name][index[k] - start] for name in drawn.shown]
                row[0] = drawn.ids[index[k]]  # without the blanks around it
                rows.append([*map(_as_text, row), ""])
                k += 1
            write_rows(file, rows, mark)
            start += len(lines)


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else text_of(cell)


def write_design(drawn: Drawn, design: Path) -> None:
    """Write the inclusion probability of every document."""
    is_drawn = np.zeros(drawn.ids.size, dtype=int)
    is_drawn[drawn.choice.index] = 1
    columns: dict[str, Sequence[Any]] = {
        ID: drawn.ids.tolist(),
        PROBABILITY: drawn.choice.inclusion_probability.tolist(),
        DRAWN: is_drawn.tolist(),
    }
    if drawn.strata is not None:
        columns[STRATUM] = [drawn.strata_names[code] for code in drawn.strata.tolist()]
    with design.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, [list(columns)])
        write_rows(file, zip(*columns.values(), strict=True))
