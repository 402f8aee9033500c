"""Tables as columns: CSV, TSV, JSON objects and parquet, read chunk by chunk.

The columns with usual names of each role. Cells are converted by the classes of
``_columns``.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np

from .._errors import ParameterError
from ._columns import Fractions, Names, Numbers
from ._files import Source, not_text, read_parquet
from ._values import file_error, none_of

_DELIMITERS = ",;\t|"

# Number of rows read as text at a time, and bytes of a block without quotes.
CHUNK = 10_000
_BLOCK = 2**19

# Row that is added after the last line. A quote that is not closed swallows it.
_END = "\x1aend of table"

_LONGEST_CELL = 2**31 - 1
_CELLS_LOCK = Lock()

# Rows after which progress is printed.
_SAID_EACH = 500_000

_QUESTION = ("question_id", "qid", "sample_id", "item_id", "doc_id", "id", "question")

# Usual names of the column of each role, the preferred ones first.
USUAL = {
    # whether an answer was right; a label next to it is the label of the question
    "right": ("correct", "is_correct", "correctness"),
    "label": ("y_true", "label", "gold", "truth", "outcome", "y"),
    "proba": (
        *("y_proba", "y_prob", "proba", "probability", "prob", "confidence", "conf"),
        *("score", "p", "q"),
    ),
    "question": _QUESTION,
    "model": ("model", "system"),
    "id": (*_QUESTION, "document_id", "document", "doc", "docid"),
    "expected": ("expected", "expected_count"),
    "inclusion": ("inclusion_probability", "inclusion"),
    # the right answer and the prompt, which distinguish questions of the same name
    "answer": ("gold", "target", "expected", "gold_answer", "correct_answer"),
    "prompt": ("prompt", "prompt_hash", "doc_hash", "input", "question_text", "text"),
}
OF_OPTIONS = "probabilities"

Chunk = tuple[dict[str, list[Any]], Sequence[int]]
Column = Names | Numbers | Fractions


@dataclass(frozen=True)
class Table:
    """Names of the columns, and a function that yields chunks of chosen columns."""

    path: Path
    names: list[str]
    chunks: Callable[[list[str]], Iterator[Chunk]]

    def named(self, names: Iterable[str]) -> list[str]:
        """Return the columns that have one of the known names, in their order."""
        lower = {name.lower().strip(): name for name in reversed(self.names)}
        return [lower[name] for name in names if name in lower]

    def usual(self, *roles: str) -> list[str]:
        """Return the columns with usual names of some roles."""
        return self.named(name for role in roles for name in USUAL[role])

    def check(self, names: Iterable[str], parameter: str = "columns") -> None:
        """Raise an error if a name is not a column."""
        for name in names:
            if name not in self.names:
                raise ParameterError(
                    parameter,
                    f"must name a column of {self.path.name}. "
                    f"{none_of(name, self.names)}",
                )

    def read(self, columns: Sequence[Column], verbose: int = 0) -> np.ndarray:
        """Read the cells of columns, and return the line of each row."""
        read = [np.empty(0, dtype=np.int64)]
        n = n_said = 0
        for cells, lines in self.chunks(list(dict.fromkeys(c.name for c in columns))):
            for column in columns:
                column.add(cells[column.name], lines)
            read.append(np.fromiter(lines, np.int64, len(lines)))
            n += len(lines)
            if verbose and n >= n_said + _SAID_EACH:
                print(f"{n:,} rows of {self.path.name} read", file=sys.stderr)
                n_said = n
        if not n:
            raise file_error(
                f"must contain rows. Got {self.path.name}, which has none."
            )
        return np.concatenate(read)


def open_table(source: Source) -> Table:
    """Return the columns of a file; the cells are read later."""
    if source.kind == "text":
        return _delimited(source.path, source.head)
    if source.kind == "parquet":
        names = dict.fromkeys(_flat(next(read_parquet(source.path), {})))
    elif isinstance(source.first_row, dict):
        names = dict.fromkeys(name for _, row in _objects(source) for name in row)
    else:
        raise file_error(
            "must be a table: CSV, TSV, parquet, or JSON objects one per line or in an "
            f"array. Got {source.path.name}."
        )

    def chunks(wanted: list[str]) -> Iterator[Chunk]:
        # Objects are parsed again, so that they need not all be in memory.
        rows = _objects(source)
        while block := list(islice(rows, CHUNK)):
            columns = {name: [row.get(name) for _, row in block] for name in wanted}
            yield columns, [line for line, _ in block]

    return Table(source.path, list(names), chunks)


def _objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the flat entries of each object or row."""
    rows: Iterable[tuple[int, Any]]
    if source.kind == "parquet":
        rows = enumerate(read_parquet(source.path), 1)
    elif source.kind == "jsonl":
        rows = source.numbered_rows()
    else:
        rows = enumerate(source.content, 1)
    for number, row in rows:
        if not isinstance(row, dict):
            what = "line" if source.kind == "jsonl" else "entry"
            raise file_error(
                f"must contain one object per {what}. Got {type(row).__name__} in "
                f"number {number}."
            )
        yield number, _flat(row)


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the entries of an object; nested entries have dotted names."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{name}.")
        # The probabilities of options are one cell, of which the largest is read.
        if not isinstance(value, dict) or name.lower() == OF_OPTIONS:
            found[f"{before}{name}"] = value
    return found


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the csv module read cells of any length, for example whole documents."""
    with _CELLS_LOCK:  # the limit applies to all threads
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _delimited(path: Path, sample: list[str]) -> Table:
    """Return the columns of a text with a delimiter, which its first lines show."""
    if not sample:
        raise file_error(f"must contain rows. Got {path.name}, which is empty.")
    try:
        with _long_cells():
            delimiter = _delimiter(sample, path)
            first = next(csv.reader(sample, delimiter=delimiter))
    except csv.Error as error:
        raise file_error(
            f"must be a table. The first lines of {path.name} cannot be read: {error}."
        ) from None
    header = [name.strip() for name in first]
    repeated = sorted({name for name in header if name and header.count(name) > 1})
    if repeated:
        raise file_error(f"must name each column once. Got {repeated[0]!r} twice.")

    def chunks(names: list[str]) -> Iterator[Chunk]:
        places = [header.index(name) for name in names]
        with path.open("rb") as file:
            for columns, lines in _blocks(path, file, delimiter, len(header)):
                cells = (columns[k] for k in places)
                yield dict(zip(names, map(list, cells), strict=True)), lines

    return Table(path, header, chunks)


def _delimiter(sample: list[str], path: Path) -> str:
    """Return the delimiter that divides all first lines into equally many cells."""
    found = []
    for mark in _DELIMITERS:
        sizes = {len(row) for row in csv.reader(sample[:-1] or sample, delimiter=mark)}
        if len(sizes) == 1 and sizes != {1}:
            found.append(mark)
    if not found:  # one column, or rows of different lengths, which are an error later
        return "\t" if "\t" in sample[0] else max(_DELIMITERS, key=sample[0].count)
    usual = "\t" if path.suffix.lower() in (".tsv", ".tab", ".txt") else ","
    return usual if usual in found else found[0]


def _blocks(
    path: Path, file: BinaryIO, delimiter: str, width: int
) -> Iterator[tuple[list, Sequence[int]]]:
    """Yield columns and lines, with a fast path up to the first quoted text."""
    header = file.readline()
    line = 1
    while _is_blank(header):
        header = file.readline()
        line += 1
    if b'"' in header or b"\r" in header.rstrip(b"\r\n") or width == 1:
        file.seek(0)
        line = 0
    while line:
        start = file.tell()
        block = file.read(_BLOCK) + file.readline()
        columns = _split(block, delimiter, width)
        if columns is None:  # from here on, the slower parser of quotes
            file.seek(start)
            break
        if not columns:
            return
        n = len(columns[0])
        yield columns, range(line + 1, line + 1 + n)
        line += n
    try:
        yield from _parsed(path, file, delimiter, width, line)
    except csv.Error as error:
        raise file_error(
            f"must be a table. A line of {path.name} cannot be read: {error}."
        ) from None
    except UnicodeDecodeError as error:
        raise not_text(path, error) from None


def _is_blank(line: bytes) -> bool:
    return bool(line) and not line.decode("utf-8-sig", "replace").strip()


def _split(block: bytes, delimiter: str, width: int) -> list[list[str]] | None:
    """Return the columns of whole lines without quotes; None for other text."""
    block = block.replace(b"\r\n", b"\n")
    if not block:
        return []
    if b'"' in block or b"\r" in block:
        return None
    if not block.endswith(b"\n"):
        block += b"\n"
    raw = np.frombuffer(block, np.uint8)
    # In whole rows, each width-th mark is the end of a line, and no other one.
    marks = raw[(raw == ord(delimiter)) | (raw == ord("\n"))]
    if marks.size % width:
        return None
    is_end = marks.reshape(-1, width) == ord("\n")
    if not is_end[:, -1].all() or is_end[:, :-1].any():
        return None
    try:
        cells = block.decode()[:-1].replace("\n", delimiter).split(delimiter)
    except UnicodeDecodeError:
        return None
    return [cells[k::width] for k in range(width)]


def _parsed(
    path: Path, file: BinaryIO, delimiter: str, width: int, before: int
) -> Iterator[tuple[list, list[int]]]:
    """Yield columns and lines of the rest of a file, after the first `before` lines."""
    # The wrapper must not outlive the file, which the caller closes.
    text = io.TextIOWrapper(file, "utf-8-sig", newline="")
    try:
        lines = chain(text, [f'"{_END}"'])
        reader = csv.reader(lines, delimiter=delimiter)
        if before == 0:
            with _long_cells():
                header = next(row for row in reader if any(map(str.strip, row)))
            if _END in header[-1]:
                raise _not_closed(path, 0, 0, delimiter)
        yield from _chunks(path, reader, width, before)
    finally:
        text.detach()


def _chunks(
    path: Path, reader: Any, width: int, before: int
) -> Iterator[tuple[list, list[int]]]:
    at_end = False
    while not at_end:
        first = before + reader.line_num
        with _long_cells():
            rows = list(islice(reader, CHUNK))
        last = before + reader.line_num
        if rows[-1] and _END in rows[-1][-1]:
            if rows.pop() != [_END]:
                n_before = sum(map(bool, rows))
                raise _not_closed(path, first, n_before, reader.dialect.delimiter)
            at_end = True
            last -= 1
        if not all(rows):
            rows = [row for row in rows if row]
        if not rows:
            continue
        # Lines and rows differ if there are empty lines, or line breaks in cells.
        lines = list(range(first + 1, first + 1 + len(rows)))
        if last != first + len(rows):
            lines = _lines_of(path, first, len(rows), reader.dialect.delimiter)
        sizes = list(map(len, rows))
        if set(sizes) - {width}:
            k = next(k for k, size in enumerate(sizes) if size != width)
            raise file_error(
                f"must have {width} cells in each line, as in the first. Got "
                f"{sizes[k]} in line {lines[k]} of {path.name}."
            )
        yield list(zip(*rows, strict=True)), lines


def _not_closed(path: Path, first: int, n: int, delimiter: str) -> ParameterError:
    """Return the error for a row, after n others, that does not end."""
    lines = _lines_of(path, first, n, delimiter) if n else [first]
    return file_error(
        f"must close each quote. The row of {path.name} that begins in line "
        f"{lines[-1] + 1} has a quote that is not closed."
    )


def _lines_of(path: Path, first: int, n: int, delimiter: str) -> list[int]:
    """Return the line at which each of n rows ends, by reading the rows again."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        again = csv.reader(file, delimiter=delimiter)
        lines: list[int] = []
        with _long_cells():
            for row in again:
                if again.line_num > first and row:
                    lines.append(again.line_num)
                if len(lines) == n:
                    break
    return lines
