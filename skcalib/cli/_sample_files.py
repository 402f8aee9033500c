"""The files of a sample: for annotators, and the design for the count."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import text_of
from ._count_join import DRAWN, ID, PROBABILITY, STRATUM
from ._sample_draw import LABEL, Drawn
from ._shared import CommandError, check_folders

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_files(file: Path, output: Path, design: Path) -> None:
    """Raise unless both files can be written without loss."""
    if output.suffix.lower() not in _DELIMITERS:
        raise CommandError(f"--output must end in .csv or .tsv. Got {str(output)!r}.")
    check_folders(output)
    for path in (output, design):
        if path.exists():
            what = "is the corpus" if path.samefile(file) else "exists"
            raise CommandError(
                f"{path} {what}, and may have labels that were filled in. Choose "
                "another name with --output, or remove the file."
            )


def write_sample(drawn: Drawn, output: Path) -> None:
    """Write the drawn rows, each with an empty label."""
    mark = _DELIMITERS[output.suffix.lower()]
    index, start, k = drawn.choice.index, 0, 0
    # Spreadsheet programs recognise UTF-8 by the byte order mark.
    with output.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=mark, lineterminator="\n")
        writer.writerow([*drawn.shown, LABEL])
        for cells, lines in drawn.table.chunks(drawn.shown):
            while k < len(index) and index[k] < start + len(lines):
                row = [cells[name][index[k] - start] for name in drawn.shown]
                writer.writerow([*map(_as_written, row), ""])
                k += 1
            start += len(lines)


def _as_written(cell: Any) -> str:
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
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
