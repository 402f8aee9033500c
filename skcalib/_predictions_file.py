"""Reading a file of predictions: CSV, TSV or JSON lines."""

from __future__ import annotations

import csv
import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Predictions", "ReportError", "read_predictions"]

YES = frozenset(["true", "t", "yes", "y", "correct", "right"])
NO = frozenset(["false", "f", "no", "n", "incorrect", "wrong"])
# Names of columns that are known where none is given, the first found is taken.
TRUTH_NAMES = ["y_true", "label", "correct", "is_correct", "target", "gold", "truth"]
TRUTH_NAMES += ["outcome", "y"]
PROBA_NAMES = ["y_proba", "y_prob", "proba", "probability", "prob", "confidence"]
PROBA_NAMES += ["conf", "score", "p", "q"]

_OBJECTS = (
    "Write each object on a line of its own, without brackets or commas around them."
)


class ReportError(Exception):
    """Something in the file or the options that the user can mend."""


@dataclass
class Table:
    """Columns of text, the line of the file of each row, and notes for the user."""

    path: Path
    columns: dict[str, list]
    lines: list[int]
    notes: list[str] = field(default_factory=list)

    def pick(self, wanted: str | None, known: list[str], option: str) -> str:
        """Return the name of the column asked for, or the one of a known name."""
        names = list(self.columns)
        said = f"Its columns are: {', '.join(names) or 'none'}."
        if wanted is not None:
            if wanted not in self.columns:
                raise ReportError(
                    f"{self.path} has no column {wanted!r} ({option}). {said}"
                )
            return wanted
        lower = {name.lower().strip(): name for name in reversed(names)}
        found = [lower[name] for name in known if name in lower]
        if not found:
            raise ReportError(
                f"Say with {option} which column of {self.path} to read: none has a "
                f"known name ({', '.join(known)}). {said}{_other_delimiter(names)}"
            )
        if len(found) > 1:
            others = ", ".join(map(repr, found[1:]))
            self.notes.append(
                f"{found[0]!r} of {self.path} is read, not {others}; choose with "
                f"{option}."
            )
        return found[0]


def _other_delimiter(names: list[str]) -> str:
    """Return a hint where a single name looks like several."""
    if len(names) != 1:
        return ""
    for mark, said in {";": "semicolons", "\t": "tabs", ",": "commas"}.items():
        if mark in names[0]:
            return (
                f" Cells seem to be set apart by {said}: .csv files are read with "
                "commas, .tsv files with tabs."
            )
    return ""


@dataclass
class Predictions:
    """What is read from a table: a row for each prediction."""

    y: np.ndarray
    q: np.ndarray
    groups: np.ndarray | None
    by: np.ndarray | None
    n_skipped: int
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, rows: np.ndarray) -> Predictions:
        groups = None if self.groups is None else self.groups[rows]
        by = None if self.by is None else self.by[rows]
        return Predictions(self.y[rows], self.q[rows], groups, by, 0)


def _read_table(path: Path) -> Table:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson", ".json"):
        raise ReportError(
            f"{path} must end in .csv, .tsv or .jsonl, so that it is known how to "
            "read. Save a sheet as CSV."
        )
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if suffix in (".jsonl", ".ndjson", ".json"):
                table = _read_json_lines(path, file)
            else:
                delimiter = "," if suffix == ".csv" else "\t"
                table = _read_delimited(path, csv.reader(file, delimiter=delimiter))
    except UnicodeDecodeError as error:
        raise ReportError(
            f"{path} is not UTF-8 text: {error}. Save it as such."
        ) from None
    except csv.Error as error:
        raise ReportError(f"{path} is not a table: {error}.") from None
    if not table.lines:
        raise ReportError(f"{path} holds no predictions.")
    return table


def _read_delimited(path: Path, reader: Any) -> Table:
    header = next(reader, None)
    if not header:
        raise ReportError(f"{path}: the first line is empty; it must name the columns.")
    header = [name.strip() for name in header]
    repeated = sorted({name for name in header if name and header.count(name) > 1})
    if repeated:
        raise ReportError(f"{path} names the column {repeated[0]!r} twice.")
    rows, lines = [], []
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise ReportError(
                f"{path}, line {reader.line_num}: expected {len(header)} cells as in "
                f"the first line, got {len(row)}." + _other_delimiter(header)
            )
        rows.append(row)
        lines.append(reader.line_num)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    named = zip(header, map(list, columns), strict=True)
    return Table(path, dict(named), lines)


def _json_rows(path: Path, file: Any) -> Iterator[tuple[int, dict]]:
    for line, text in enumerate(file, 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ReportError(
                f"{path}, line {line}: not JSON: {getattr(error, 'msg', error)}. "
                f"{_OBJECTS}"
            ) from None
        if not isinstance(row, dict):
            raise ReportError(
                f"{path}, line {line}: expected an object, got {type(row).__name__}. "
                f"{_OBJECTS}"
            )
        yield line, row


def _read_json_lines(path: Path, file: Any) -> Table:
    rows, lines = [], []
    for line, row in _json_rows(path, file):
        rows.append(row)
        lines.append(line)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table(path, {name: [row.get(name) for row in rows] for name in names}, lines)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, float):
        return cell != cell
    return cell is None or (
        isinstance(cell, str) and cell.strip().lower() in ("", "nan")
    )


def _text(cell: Any) -> str:
    return cell.strip() if isinstance(cell, str) else json.dumps(cell)


def read_predictions(options: Namespace) -> Predictions:
    """Return the predictions of the file and columns that the options name."""
    table = _read_table(options.file)
    y_name = table.pick(options.y_true, TRUTH_NAMES, "--y-true")
    q_name = table.pick(options.y_proba, PROBA_NAMES, "--y-proba")
    if y_name == q_name:
        raise ReportError(
            f"{table.path}: --y-true and --y-proba are the same column, {y_name!r}."
        )
    names = [y_name, q_name]
    for option in ("groups", "by"):
        wanted = getattr(options, option)
        if wanted is not None:
            names.append(table.pick(wanted, [], f"--{option}"))
    rows = []
    for row in range(len(table.lines)):
        empty = [name for name in names if _is_missing(table.columns[name][row])]
        if not empty:
            rows.append(row)
        elif not options.skip_missing:
            raise ReportError(
                f"{table.path}, line {table.lines[row]}: the cell of {empty[0]!r} is "
                "empty or NaN. Mend it, or leave such rows out with --skip-missing."
            )
    if not rows:
        raise ReportError(f"{table.path} has no row without an empty cell.")

    def column(name: str | None) -> np.ndarray | None:
        if name is None:
            return None
        return np.array([_text(table.columns[name][row]) for row in rows])

    return Predictions(
        y=_truth(table, y_name, rows, options.pos_label),
        q=_probabilities(table, q_name, rows, options.percent),
        groups=column(options.groups),
        by=column(options.by),
        n_skipped=len(table.lines) - len(rows),
        notes=table.notes,
    )


def _truth(
    table: Table, name: str, rows: list[int], pos_label: str | None
) -> np.ndarray:
    cells = [_text(table.columns[name][row]) for row in rows]
    if pos_label is not None:
        y = np.array([cell == pos_label for cell in cells], dtype=int)
        if not y.any():
            found = ", ".join(sorted(set(cells))[:5])
            raise ReportError(
                f"{table.path}: the column {name!r} never holds {pos_label!r} "
                f"(--pos-label). It holds: {found}."
            )
        return y
    y = np.empty(len(rows), dtype=int)
    for k, (row, cell) in enumerate(zip(rows, cells, strict=True)):
        y[k] = _is_true(cell.lower())
        if y[k] < 0:
            raise ReportError(
                f"{table.path}, line {table.lines[row]}: {cell!r} in {name!r} is not "
                "0/1, true/false, yes/no or correct/incorrect. Say with --pos-label "
                "which label the probability is of."
            )
    return y


def _is_true(word: str) -> int:
    """Return 1 or 0 for words and numbers that say so, -1 for others."""
    if word in YES or word in NO:
        return int(word in YES)
    try:
        return {1.0: 1, 0.0: 0, -1.0: 0}.get(float(word), -1)
    except ValueError:
        return -1


def _probabilities(
    table: Table, name: str, rows: list[int], percent: bool
) -> np.ndarray:
    top = 100 if percent else 1
    q = np.empty(len(rows))
    for k, row in enumerate(rows):
        text = _text(table.columns[name][row])
        place = f"{table.path}, line {table.lines[row]}"
        try:
            q[k] = float(text.removesuffix("%") if percent else text)
        except ValueError:
            hint = " Use --percent." if text.endswith("%") else ""
            if "," in text:
                hint = " Write decimals with a point."
            raise ReportError(
                f"{place}: {text!r} in {name!r} is not a number.{hint}"
            ) from None
        if not -1e-9 <= q[k] / top <= 1 + 1e-9:
            hint = ""
            if not percent and 1 < q[k] <= 100:
                hint = " Use --percent if probabilities run from 0 to 100."
            raise ReportError(
                f"{place}: {text} in {name!r} is outside [0, {top}].{hint}"
            )
    if percent and q.max() <= 1 and q.any():
        raise ReportError(
            f"{table.path}: no probability in {name!r} is above 1, so they do not run "
            "from 0 to 100. Leave out --percent."
        )
    return np.clip(q / top, 0, 1)
