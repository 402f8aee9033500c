"""Columns of a table of documents: which they are, and numbers in them."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation._cells import NO, YES, Fractions, text_of, value_of
from ..evaluation._delimited import Table
from ..evaluation._files import open_source
from ..evaluation._tables import known_columns, named, open_table
from ..evaluation._values import as_number, as_numbers, none_of
from ._shared import CommandError

# Usual names beside those that `skcalib report` knows.
_IDS = ("document_id", "document", "doc", "docid")
_EXPECTED = ("expected", "expected_count")
_INCLUSION = ("inclusion_probability", "inclusion")

# Labels that a message shows.
_SHOWN = 5


class Numbers:
    """Numbers from a minimum to a maximum; NaN for a missing cell.

    With `words`, cells may be yes and no, or `pos_label` (1) and other words (0).
    """

    def __init__(
        self,
        name: str,
        least: float,
        most: float = np.inf,
        *,
        words: bool = False,
        pos_label: str | None = None,
    ):
        self.name = name
        self.first_missing: int | None = None
        self._least, self._most = least, most
        self._words, self._pos_label = words, pos_label
        self._chunks: list[np.ndarray] = []
        self._other_labels: set[str] = set()

    def add(self, cells: Sequence[Any], lines: Sequence[int]) -> None:
        """Read the cells of a chunk."""
        found = self._quickly(cells)
        if found is None:
            texts = [cell if type(cell) is str else text_of(cell) for cell in cells]
            known: dict[str, float] = {}
            for text, line in zip(texts, lines, strict=True):
                if text not in known:
                    known[text] = self._number(text, line)
            found = np.fromiter(map(known.__getitem__, texts), float, len(texts))
        if self.first_missing is None and np.isnan(found).any():
            self.first_missing = lines[int(np.isnan(found).argmax())]
        self._chunks.append(found)

    def _quickly(self, cells: Sequence[Any]) -> np.ndarray | None:
        """Return cells that are all numbers; None for others."""
        if self._pos_label is not None or set(map(type, cells)) != {str}:
            return None
        try:
            found = as_numbers(cells)
        except ValueError:
            return None
        return found if self._is_inside(found).all() else None

    def _is_inside(self, found: Any) -> Any:
        return (found >= self._least) & (found <= self._most) & (found < np.inf)

    def _number(self, cell: str, line: int) -> float:
        if self._pos_label is not None and text_of(cell) == self._pos_label:
            return 1.0
        text = value_of(cell)
        if not text:
            return np.nan
        if self._pos_label is not None:
            self._other_labels.add(text)
            return 0.0
        if self._words and text.lower() in YES | NO:
            return float(text.lower() in YES)
        try:
            number = as_number(text)
        except ValueError:
            number = np.nan
        if not self._is_inside(number):
            raise self._error(text, line)
        return number

    def _error(self, text: str, line: int) -> CommandError:
        is_share = self._most == 1
        expected, remedy = f"numbers of at least {self._least:g}", ""
        if is_share:
            expected = "numbers in [0, 1]"
        if self._words:
            more = "a score in [0, 1]" if is_share else "a count"
            expected = f"1 or 0, yes or no, or {more}"
            what = "an answer" if is_share else "a document"
            remedy = f" Leave the cell of {what} without a label empty."
        if self._words and not is_share:
            remedy = f" Name the label that counts as 1 with --pos-label.{remedy}"
        return CommandError(
            f"column {self.name!r} must have {expected}. Got {text!r:.60} in line "
            f"{line}.{remedy}"
        )

    def finish(self) -> np.ndarray:
        """Return the numbers of all rows."""
        found = np.concatenate(self._chunks)
        # A sample may have no positive label, and then has one other label as a rule.
        if len(self._other_labels) > 1 and not (found > 0).any():
            shown = ", ".join(sorted(self._other_labels)[:_SHOWN])
            raise CommandError(
                f"--pos-label must be a label of {self.name!r}, which has {shown}. "
                f"Got {self._pos_label!r}."
            )
        return found


def open_documents(path: Path) -> Table:
    """Return the columns of a file, without its cells."""
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    try:
        return open_table(open_source(path))
    except ImportError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        raise _as_command_error(path, error) from None


def without_file(path: Path, problem: str) -> str:
    """Return the problem of a reader for a message that begins with the file."""
    name = re.escape(path.name)
    for said, shorter in (
        (f"Got {name}, which ", "It "),
        (f"Got {name}, with ", "It has "),
        (f"Got {name}: ", ""),
        (f" Got {name}\\.", ""),
        (f" of {name}(?![\\w.]\\w)", ""),
    ):
        problem = re.sub(said, shorter, problem)
    return problem


def _as_command_error(path: Path, error: Exception) -> CommandError:
    problem = without_file(path, str(getattr(error, "problem", error)))
    problem = problem.replace("pass percent", "use --percent")
    problem = problem.replace("Pass percent", "Use --percent")
    if "UTF-8" in problem:
        problem += " Spreadsheet programs write UTF-8 if you save as 'CSV UTF-8'."
    if getattr(error, "name", None) == "percent":
        problem = f"--percent {problem.replace('must not be given', 'does not apply')}"
    return CommandError(f"{path}: {problem}")


def read_columns(
    table: Table, columns: Mapping[str, Any], may_miss: Iterable[str] = ()
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the cells of columns by their names, and the line of each row."""
    read: list[np.ndarray] = []
    found = {}
    try:
        for cells, lines in table.chunks(list(columns)):
            for name, column in columns.items():
                column.add(cells[name], lines)
            read.append(np.array(lines, dtype=np.int64))
        if not sum(map(len, read)):
            raise CommandError("must contain rows. It has none.")
        for name, column in columns.items():
            if name not in may_miss and column.first_missing is not None:
                raise CommandError(
                    f"column {name!r} must have a value for every document, including "
                    "labelled documents. Got an empty cell in line "
                    f"{column.first_missing}. Fill it in, or leave the document out "
                    "of the corpus before documents are drawn."
                )
            is_fractions = isinstance(column, Fractions)
            found[name] = column.finish()[0] if is_fractions else column.finish()
    except CommandError as error:
        raise CommandError(f"{table.path}: {error}") from None
    except ValueError as error:
        raise _as_command_error(table.path, error) from None
    return found, np.concatenate(read)


def check_column(table: Table, name: str, option: str) -> str:
    """Return the name of a column that an option names."""
    if name not in table.names:
        raise CommandError(
            f"{table.path}: {option} must name a column. {none_of(name, table.names)}"
        )
    return name


def one_column(
    table: Table, given: str | None, option: str, known: Sequence[str]
) -> str | None:
    """Return the given column, the column with a usual name, or None."""
    if given is not None:
        return check_column(table, given, option.split()[0])
    if len(known) > 1:
        names = " and ".join(map(repr, known))
        raise CommandError(f"{table.path}: {names} may each be meant. Choose {option}.")
    return known[0] if known else None


def usual(table: Table, role: str) -> list[str]:
    """Return the columns with usual names of a role.

    role : 'label', 'proba', 'expected', 'inclusion' or 'id'.
    """
    more = {"id": _IDS, "expected": _EXPECTED, "inclusion": _INCLUSION}.get(role, ())
    found = named(table, more)
    if role in ("label", "proba"):
        found += known_columns(table, role)
    elif role == "id":
        found = known_columns(table, "question") + found
    return found


def find_id(table: Table, given: str | None) -> str:
    """Return the column of document ids."""
    name = one_column(table, given, "--id COL", usual(table, "id"))
    if name is None:
        raise CommandError(
            f"{table.path}: --id must name the column of document ids, since no column "
            f"has a usual name. Columns are {', '.join(table.names)}. If documents "
            "have no id, add a column of numbers first: labels are joined by id, not "
            "by position."
        )
    return name


def find_model(
    table: Table,
    proba: str | None,
    expected: str | None,
    taken: Iterable[str | None] = (),
) -> tuple[str, bool] | None:
    """Return the column of the model, and whether it has probabilities."""
    if proba is not None:
        return check_column(table, proba, "--proba"), True
    if expected is not None:
        return check_column(table, expected, "--expected"), False
    used = set(taken)
    counts = [name for name in usual(table, "expected") if name not in used]
    both = [name for name in usual(table, "proba") if name not in used] + counts
    found = one_column(table, None, "--proba COL or --expected COL", both)
    return None if found is None else (found, found not in counts)


def model_reader(name: str, is_proba: bool, percent: bool) -> Fractions | Numbers:
    """Return what reads the column of the model."""
    return Fractions(name, percent) if is_proba else Numbers(name, 0.0)


def check_unique(path: Path, ids: np.ndarray, lines: np.ndarray, name: str) -> None:
    """Raise if two rows have one id."""
    if len(set(ids.tolist())) == len(ids):
        return
    first: dict[str, int] = {}
    repeated = []
    for each, line in zip(ids.tolist(), lines.tolist(), strict=True):
        if first.setdefault(each, line) != line:
            repeated.append((each, first[each], line))
    each, one, other = repeated[0]
    raise CommandError(
        f"{path}: each document must have one row. {len(repeated)} of {len(ids)} rows "
        f"have the id of an earlier row: {name} {each!r} is in lines {one} and "
        f"{other}. Keep one of them, or choose another column with --id."
    )


def coded(names: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return a code for each name, and the names; numbers are sorted as numbers."""
    known: dict[str, int] = {}
    values = names.tolist()
    codes = np.fromiter(
        (known.setdefault(name, len(known)) for name in values), np.intp, len(values)
    )
    different = list(known)
    order = sorted(different)
    with suppress(ValueError):
        numbers = as_numbers(different)
        if not np.isnan(numbers).any():
            order = [different[k] for k in np.argsort(numbers, kind="stable")]
    place = np.empty(len(order), dtype=np.intp)
    place[[known[name] for name in order]] = np.arange(len(order))
    return place[codes], order


def check_different(table: Table, named: dict[str, str | None]) -> None:
    """Raise if one column has two roles."""
    seen: dict[str, str] = {}
    for option, name in named.items():
        if name is not None and seen.setdefault(name, option) != option:
            raise CommandError(
                f"{table.path}: {seen[name]} and {option} must be different columns. "
                f"Got {name!r} for both."
            )


def label_reader(name: str, options: Namespace) -> Numbers:
    return Numbers(name, 0.0, words=True, pos_label=options.pos_label)
