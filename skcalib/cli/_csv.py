"""CSV that is safe to open in a spreadsheet program."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from .._errors import printable

# A spreadsheet program runs a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[.,]?\d[\d.,]*([eE][+-]?\d+)?\s?%?")


def as_cell(text: str) -> str:
    """Return a text as a cell: a formula after an apostrophe, no control characters.

    Line feeds and tabs within a text are kept.
    """
    cell = printable(text.replace("\r\n", "\n"), keep="\n\t")
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{cell}" if is_formula else cell


def write_rows(
    file: TextIO, rows: Iterable[Sequence[Any]], delimiter: str = ","
) -> None:
    """Write rows of texts and numbers; None is an empty cell."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    for row in rows:
        # Python writes numbers with all digits.
        writer.writerow([as_cell(c) if isinstance(c, str) else c for c in row])
