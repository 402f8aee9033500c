"""Plain tables: CSV, TSV, JSON objects and parquet, read chunk by chunk.

A :class:`Table` yields the cells of chosen columns, and the classes of columns convert
them: each reads cells by `add` and returns an array by `finish`, and `first_missing` is
the line of its first missing cell, or None.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._errors import ParameterError, parameter
from ._files import (
    Source,
    columns_at_once,
    long_cells,
    not_text,
    read_parquet,
    without_quotes,
)
from ._values import (
    LETTERS,
    NO,
    YES,
    NoAnswersError,
    as_number,
    as_numbers,
    columns_of,
    decimals,
    file_error,
    flat,
    no_label,
    none_of,
    share_of_scale,
    text_of,
    value_of,
)

# Largest number of texts that are stored once; beyond it, few are repeated.
_MOST_SHARED = 50_000

# Rounding that a probability may have outside of [0, 1].
_ROUNDING = 1e-9

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?\s*%?")


def _plain_numbers(cells: Sequence[Any], words: bool = False) -> np.ndarray | None:
    """Return cells that are all numbers, as in most files; None for others.

    With `words`, they may also be the values true and false of JSON.
    """
    with suppress(ValueError, OverflowError):
        if isinstance(cells, _Cells):
            return cells.numbers()
        kinds = set(map(type, cells))
        if kinds == {str}:
            return as_numbers(cells)
        if kinds <= ({int, float, bool} if words else {int, float}):
            return np.fromiter(cells, float, len(cells))
    return None


class _Column:
    """Arrays of the chunks of a column."""

    def __init__(self, name: str):
        self.name = name
        self.first_missing: int | None = None
        self._chunks: list[np.ndarray] = []

    def _keep(self, found: np.ndarray, lines: Sequence[int]) -> None:
        """Keep the numbers of a chunk."""
        is_missing = np.isnan(found)
        if self.first_missing is None and is_missing.any():
            self.first_missing = lines[int(is_missing.argmax())]
        self._chunks.append(found)

    @property
    def n_read(self) -> int:
        """Number of rows that were read."""
        return sum(chunk.size for chunk in self._chunks)

    def finish(self) -> np.ndarray:
        """Return the column of all rows."""
        return np.concatenate(self._chunks)


class Names(_Column):
    """Names, for example of groups or questions; an empty cell is an empty name."""

    def __init__(self, name: str):
        super().__init__(name)
        self._known: dict[str, str] = {}

    def add(self, cells: Sequence[Any], lines: Sequence[int]) -> None:
        """Read the cells of a chunk."""
        are_texts = isinstance(cells, _Cells) or set(map(type, cells)) == {str}
        names = list(map(str.strip if are_texts else text_of, cells))
        if len(self._known) < _MOST_SHARED:
            names = list(map(self._known.setdefault, names, names))
        if self.first_missing is None and not all(names):
            self.first_missing = lines[names.index("")]
        self._chunks.append(np.array(names, dtype=object))


class Numbers(_Column):
    """Numbers from a minimum to a maximum; NaN for a missing cell.

    With `words`, cells may be words such as true, yes or correct and their opposites.
    With `pos_label`, cells that are this label count as 1 and others as 0.

    With `outcomes`, they say whether answers are right. They may be words, the letters
    of inspect_ai (C, I, P, N), scores in [0, 1], or 1 and -1, the labels of support
    vector machines. They may also be grades on a `scale`, which are returned as shares
    of it.
    """

    def __init__(
        self,
        name: str,
        least: float = 0.0,
        most: float = np.inf,
        *,
        words: bool = False,
        pos_label: str | None = None,
        outcomes: bool = False,
        scale: tuple[float, float] | None = None,
    ):
        super().__init__(name)
        self._scale, outcomes = scale, outcomes and scale is None
        self._least, self._most = (0.0, 1.0) if outcomes else scale or (least, most)
        self._words, self._outcomes = words or outcomes, outcomes
        self._pos_label = pos_label
        self._other_labels: set[str] = set()
        self._first_minus: int | None = None  # line of the first -1
        self._letters: dict[str, int] = {}  # with their first lines
        self._n_letters = 0

    def add(self, cells: Sequence[Any], lines: Sequence[int]) -> None:
        """Read the cells of a chunk."""
        found = None
        if self._pos_label is None:
            found = _plain_numbers(cells, self._words)
        if found is None or not self._is_inside(found).all():
            found = np.array(list(map(self._value, cells, lines)))
        self._keep(found, lines)
        self._check_letters()

    def _check_letters(self) -> None:
        """Raise if letters may be the names of options or of classes."""
        letters = self._letters.keys()
        if letters <= {"n"}:  # no
            return
        n_known = sum(int(np.isfinite(chunk).sum()) for chunk in self._chunks)
        are_verdicts = "i" in letters or ("c" in letters and len(letters) > 1)
        if n_known > self._n_letters or not are_verdicts:
            first = min(letters - {"n"}, key=self._letters.__getitem__)
            raise file_error(self._problem(first.upper(), self._letters[first]))

    def _is_inside(self, found: Any) -> Any:
        return (found >= self._least) & (found <= self._most) & (found < np.inf)

    def _value(self, cell: Any, line: int) -> float:
        label = self._pos_label
        if label is not None and text_of(cell) == label:
            return 1.0
        text = value_of(cell)
        if label is not None and text_of(cell).lower() == "none":
            text = text_of(cell)  # a label, as one of no event
        if not text:
            return np.nan
        if label is not None:
            self._other_labels.add(text)
            return 0.0
        word = text.lower()
        if self._outcomes and word in LETTERS:
            self._letters.setdefault(word, line)
            self._n_letters += 1
            return LETTERS[word]
        if self._words and word in YES | NO:
            return float(word in YES)
        try:
            number = as_number(word)
        except ValueError:
            number = np.nan
        if self._outcomes and number == -1:
            self._first_minus = self._first_minus or line
            return -1.0
        if not self._is_inside(number):
            raise file_error(self._problem(text, line))
        return number

    def _problem(self, text: str, line: int) -> str:
        if self._outcomes:
            is_number = text.strip().lstrip("+-").replace(".", "", 1).isdecimal()
            scale = (
                "Rescale other scores to [0, 1], or name the scale of grades with "
                f"{parameter('scale')}. "
            )
            return (
                "must contain 0/1, true/false, yes/no, correct/incorrect or a score in "
                f"[0, 1] in {self.name!r}. Got {text!r:.60} in line {line}. "
                f"{scale * is_number}Name the label that counts as right with "
                f"{parameter('pos_label')}. If the column "
                f"contains answers, {parameter('_gold', '')}add a column 'correct' "
                "with 1 for each right answer and 0 for each wrong one."
            )
        expected, remedy = f"numbers of at least {self._least:g}", ""
        if self._words and self._most == 1:
            expected = "1 or 0, yes or no, or a score in [0, 1]"
            remedy = " Leave the cell of an answer without a label empty."
        elif self._words:
            expected = "1 or 0, yes or no, or a count"
            remedy = (
                f" Name the label that counts as 1 with {parameter('pos_label')}. Leave"
                " the cell of a document without a label empty."
            )
        elif self._most < np.inf:
            expected = f"numbers in [{self._least:g}, {self._most:g}]"
        return (
            f"column {self.name!r} must have {expected}. Got {text!r:.60} in line "
            f"{line}.{remedy}"
        )

    def finish(self) -> np.ndarray:
        """Return the numbers of all rows."""
        found = super().finish()
        if self._scale is not None:
            return share_of_scale(found, self._scale)
        if self._first_minus is not None:
            if ((found >= 0) & (found < 1)).any():
                raise ParameterError(
                    "columns",
                    "must contain 1 and 0, or 1 and -1, but not all three: -1 beside 0 "
                    "may mean a wrong answer or no verdict. Got -1 in line "
                    f"{self._first_minus} of {self.name!r}. Leave the cells of answers "
                    "without a verdict empty.",
                )
            found[found < 0] = 0.0
        # A sample may have no positive label, and then has one other label as a rule.
        is_sample = len(self._other_labels) < 2 and not self._outcomes
        if self._pos_label is None or is_sample or (found > 0).any():
            return found
        raise no_label(self._pos_label, repr(self.name), self._other_labels)


class Fractions(_Column):
    """Probabilities, which must all have one unit; NaN for a missing cell.

    With `percent`, they are numbers from 0 to 100. With `of_options`, a cell may have
    the probabilities of several options, of which the largest is read. With `may_lack`,
    words are missing cells if most cells are numbers.
    """

    def __init__(
        self, name: str, percent: bool, of_options: bool = False, may_lack: bool = False
    ):
        super().__init__(name)
        self.notes: list[str] = []
        self._n_words, self._may_lack = 0, may_lack
        self._percent, self._of_options = percent, of_options
        # With `of_options`, the probabilities of each row, if they have names.
        self.options: list[dict[str, float]] = []
        self._n_fractions = self._n_positive = 0
        # The first cell of each kind, with its line, for messages.
        self._first: dict[str, tuple[str, int]] = {}

    def add(self, cells: Sequence[Any], lines: Sequence[int]) -> None:
        """Read the cells of a chunk."""
        if self._of_options:
            cells = list(map(self._largest, cells, lines))
        signed = np.zeros(len(cells), dtype=bool)  # whether cells have a percent sign
        found = _plain_numbers(cells)
        if found is None:
            texts = [value_of(cell) for cell in cells]
            signed = np.array([text.endswith("%") for text in texts], dtype=bool)
            found = np.array(list(map(self._number, texts, lines)))
        kinds = self._kinds(found, signed)
        for kind, where in kinds.items():
            if kind not in self._first and where.any():
                k = int(where.argmax())
                self._first[kind] = text_of(cells[k]), lines[k]
        self._n_fractions += int(kinds["fraction"].sum())
        self._n_positive += int((found > 0).sum())
        self._keep(found, lines)

    def _kinds(self, values: np.ndarray, signed: np.ndarray) -> dict[str, np.ndarray]:
        """Return which cells show the unit of the probabilities, or a fault."""
        top = 100 if self._percent else 1
        return {
            "signed": signed,
            "fraction": (values > 0) & (values < 1) & ~signed,
            "outside": ((values < -_ROUNDING * top) | (values > top * (1 + _ROUNDING)))
            & (self._percent | ~signed),
            "large": values > 1,
        }

    def _largest(self, cell: Any, line: int) -> Any:
        """Return the largest probability of a list or an object of probabilities."""
        options = cell
        if isinstance(cell, str) and cell.strip()[:1] in ("[", "{"):
            try:
                options = json.loads(cell)
            except ValueError:
                options = [None]
        names: list[str] = []
        if isinstance(options, dict):
            names, options = list(options), list(options.values())
        self.options.append({})
        if not isinstance(options, list):
            return cell
        if not options or not {type(each) for each in options} <= {int, float}:
            problem = (
                "is not a list of numbers. Name the column of the probability that the "
                "answer is right."
            )
            raise self._error([((text_of(cell), line), problem)])
        self.options[-1] = dict(zip(names, options, strict=False))
        return max(options)

    def _number(self, text: str, line: int) -> float:
        if not text:
            return np.nan
        if _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        try:
            return as_number(text.removesuffix("%"))
        except ValueError:
            self._first.setdefault("text", (text, line))
            self._n_words += 1
            # Without `may_lack`, `finish` raises an error.
            return np.nan if self._may_lack else 0.0

    def _error(self, faults: Iterable[tuple[tuple[str, int], str]]) -> ParameterError:
        """Return the error for cells, each with what is wrong with it."""
        got = [
            f"Got {text!r:.60} in line {line}, which {problem}"
            for (text, line), problem in faults
        ]
        return file_error(
            f"must contain probabilities in {self.name!r}. {' '.join(got)}"
        )

    def finish(self) -> np.ndarray:
        """Return the probabilities of all rows; `notes` says how they were read."""
        values = super().finish()
        if self._may_lack and 0 < self._n_words < np.isfinite(values).sum():
            text, line = self._first.pop("text")
            self.notes.append(
                f"{self._n_words:,} of {values.size:,} cells of {self.name!r} are "
                f"words without a probability, such as {text!r:.60} in line {line}."
            )
        faults = list(self._faults(is_negative=bool((values < 0).any())))
        if faults:
            raise self._error(faults)
        if not self._percent:
            return np.clip(values, 0, 1)  # rounding, which was checked
        has_large, has_signs = "large" in self._first, "signed" in self._first
        if not has_large and not has_signs and np.nansum(values) > 0:
            self.notes.append(
                f"No cell of {self.name!r} is above 1, and 1 is read as 1%. Do not "
                "read probabilities from 0 to 1 as percentages."
            )
        elif self._n_fractions:
            self.notes.append(
                f"{self._n_fractions} of {values.size} cells of {self.name!r} are "
                "below 1 and are read as less than 1%."
            )
        elif has_large and not has_signs and np.nanmax(values) <= 10:
            self.notes.append(
                f"No cell of {self.name!r} is above 10, and 10 is read as 10%. Divide "
                "a scale from 0 to 10 by 10 instead."
            )
        return np.clip(values / 100, 0, 1)

    def _faults(self, *, is_negative: bool) -> Iterator[tuple[tuple[str, int], str]]:
        """Yield the first cell of each kind that cannot be read, and why."""
        first, in_one_unit = self._first, "Write all probabilities in one unit."
        if "text" in first:
            by = parameter("_by", "")
            yield first["text"], f"is not a number. Replace words by probabilities{by}."
        if "fraction" in first and "signed" in first:
            text, line = first["fraction"]
            why = f"looks like a percentage, while {text!r} in line {line} does not."
            yield first["signed"], f"{why} {in_one_unit}"
        elif "signed" in first and not self._percent:
            yield first["signed"], f"is a percentage: use {parameter('percent')}."
        if "outside" in first:
            hint = f"Use {parameter('percent')} if probabilities run from 0 to 100."
            if is_negative:
                hint = (
                    "Convert log-probabilities by exp and logits by "
                    "scipy.special.expit."
                )
            # A few cells may be below 1 in percent, or above 1 by mistake.
            elif 2 * self._n_fractions >= self._n_positive > 0:
                hint = f"{in_one_unit} {hint}"
            where = "[0, 100]." if self._percent else f"[0, 1]. {hint}"
            yield first["outside"], f"is outside {where}"


_DELIMITERS = ",;\t|"

# Number of rows read as text at a time, and bytes of a block of usual rows. Of objects,
# which are read twice, columns of this many bytes are kept from the first time.
CHUNK = 10_000
_BLOCK = 2**18
_KEPT = 2**26

# Mark of the encoding and blank lines before the header.
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?(?:(?:[ \t\n]|\r\n)*\r?\n)?")

# Row that is added after the last line. A quote that is not closed swallows it.
_END = "\x1aend of table"

# Rows after which progress is printed.
_SAID_EACH = 500_000

_QUESTION = ("question_id", "qid", "sample_id", "item_id", "doc_id", "id", "question")

# Usual names of the column of each role, the preferred ones first.
USUAL = {
    # whether an answer was right; a label next to it is the label of the question
    "right": ("correct", "is_correct", "correctness"),
    "label": ("y_true", "label", "gold", "truth", "outcome", "y", "class"),
    "proba": (
        *("y_proba", "y_prob", "proba", "probability", "prob", "confidence", "conf"),
        *("score", "y_score", "p", "q"),
    ),
    "question": _QUESTION,
    "model": ("model", "system"),
    "sample": ("repeat", "sample", "epoch", "trial"),
    "id": (*_QUESTION, "document_id", "document", "doc", "docid"),
    "expected": ("expected", "expected_count"),
    "inclusion": ("inclusion_probability", "inclusion"),
    # the right answer and the prompt, which distinguish questions of the same name
    "answer": ("gold", "target", "expected", "gold_answer", "correct_answer"),
    "prompt": ("prompt", "prompt_hash", "doc_hash", "input", "question_text", "text"),
    # who gave a label, a second factor beside the question
    "rater": ("annotator", "annotator_id", "rater", "coder", "labeler", "worker_id"),
    # what a question is about, and what it shares with other questions
    "subject": ("subject", "topic", "domain"),
    "passage": ("passage", "passage_id", "document", "document_id", "story", "context"),
}

Chunk = tuple[dict[str, Sequence[Any]], Sequence[int]]
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
                only = self.names[0] if len(self.names) == 1 else ""
                hint = " It has one column: are its cells separated by blanks?"
                raise ParameterError(
                    parameter,
                    f"must name a column of {self.path.name}. "
                    f"{none_of(name, self.names)}{hint * (name in only)}",
                )

    def read(
        self,
        columns: Sequence[Column],
        verbose: int = 0,
        failed: dict[Column, ParameterError] | None = None,
    ) -> list[Sequence[int]]:
        """Read the cells of columns, and return the lines of the rows of each chunk.

        If `failed` is given, the error of a column is added to it, and not raised.
        """
        read, n, n_said = [], 0, 0
        for cells, lines in self.chunks(list(dict.fromkeys(c.name for c in columns))):
            for column in columns:
                try:
                    if failed is None or column not in failed:
                        column.add(cells[column.name], lines)
                except ParameterError as error:
                    if failed is None:
                        raise
                    failed[column] = error
            read.append(lines)
            n += len(lines)
            if verbose and n >= n_said + _SAID_EACH:
                print(f"{n:,} rows of {self.path.name} read", file=sys.stderr)
                n_said = n
        if not n:
            raise file_error(
                f"must contain rows. Got {self.path.name}, which has none."
            )
        return read


# First lines of CoNLL-2012, or of CoNLL-U.
_DOCUMENTS = re.compile(
    r"#begin document|# *(newdoc|newpar|(global\.\w+|sent_id|text) *=)"
)


def open_table(source: Source, n_rows: int | None = None) -> Table:
    """Return the columns of a file, or of its first objects; cells are read later."""
    if source.kind == "text":
        if documents := _DOCUMENTS.match(source.head[0] if source.head else ""):
            reader = "read_conllu" if documents[1] else "read_conll2012"
            raise file_error(
                f"must be a table. Got {source.path.name}, a file of documents. In "
                f"Python, skcalib.datasets.{reader} reads it, and "
                "skcalib.coref.coref_scores measures coreference."
            )
        return _delimited(source.path, source.head)
    names: dict[str, None] = {}
    kept: list[_Block] = []
    if source.kind == "parquet":
        names |= dict.fromkeys(flat(next(read_parquet(source.path), {})))
    elif isinstance(source.first_row, dict):
        for block in _object_blocks(source):
            names |= dict.fromkeys(block.columns)
            if not kept or kept[-1].end[1] < _KEPT:
                kept.append(block)
            if n_rows is not None and block.lines[-1] >= n_rows:
                break
    else:
        raise file_error(
            "must be a table: CSV, TSV, parquet, or JSON objects one per line or in an "
            f"array. Got {source.path.name}."
        )

    def chunks(wanted: list[str]) -> Iterator[Chunk]:
        # Objects after those kept are parsed again, so that few need memory.
        after = _object_blocks(source, *(block.end for block in kept[-1:]))
        for block in chain(kept, after):
            empty = [None] * len(block.lines)
            yield {n: block.columns.get(n, empty) for n in wanted}, block.lines

    return Table(source.path, list(names), chunks)


@dataclass(frozen=True)
class _Block:
    """Columns and lines of some objects of a file, and the line and byte at its end."""

    columns: dict[str, list[Any]]
    lines: Sequence[int]
    end: tuple[int, int]


def _object_blocks(source: Source, end: tuple[int, int] = (0, 0)) -> Iterator[_Block]:
    """Yield the flat objects or rows of a file, or of those after a block."""
    line, at = end
    if source.kind != "jsonl":
        is_parquet = source.kind == "parquet"
        every = read_parquet(source.path) if is_parquet else source.content
        rows = _flat_rows(source, islice(enumerate(every, 1), line, None))
        while block := list(islice(rows, CHUNK)):
            lines, objects = zip(*block, strict=True)
            yield _Block(columns_of(objects), lines, (lines[-1], 0))
        return
    with source.path.open("rb") as file:
        file.seek(at)
        while data := file.read(_BLOCK) + file.readline():
            columns, lines, n = _lines_of_objects(source, data, line, is_first=at == 0)
            line, at = line + n, file.tell()
            if lines:
                yield _Block(columns, lines, (line, at))


def _lines_of_objects(
    source: Source, data: bytes, before: int, *, is_first: bool
) -> tuple[dict[str, list[Any]], Sequence[int], int]:
    """Return the columns of objects, those lines, and the number of all lines."""
    if is_first:
        data = data.removeprefix(BOM_UTF8)
    columns = columns_at_once(data)
    if columns is not None:
        n = len(next(iter(columns.values())))
        return columns, range(before + 1, before + 1 + n), n
    try:
        texts = list(io.StringIO(data.decode(), newline=None))
    except UnicodeDecodeError:
        # Reading from the start names the place, or an earlier error.
        for _ in _flat_rows(source, source.numbered_rows()):
            pass
        raise
    some = ((k, text) for k, text in enumerate(texts, before + 1) if text.strip())
    found = list(_flat_rows(source, source.rows_of(some)))
    lines, objects = zip(*found, strict=True) if found else ((), ())
    return columns_of(objects), lines, len(texts)


def _flat_rows(
    source: Source, rows: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the flat entries of each object or row."""
    for number, row in rows:
        if not isinstance(row, dict):
            what = "line" if source.kind == "jsonl" else "entry"
            raise file_error(
                f"must contain one object per {what}. Got {type(row).__name__} in "
                f"number {number}."
            )
        if row and all(name == cell for name, cell in row.items()):
            raise _repeated_header(number, source.path.name)
        yield number, flat(row)


def _delimited(path: Path, sample: list[str]) -> Table:
    """Return the columns of a text with a delimiter, which its first lines show."""
    if not sample:
        raise NoAnswersError(f"must contain rows. Got {path.name}, which is empty.")
    try:
        with long_cells():
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

    # A header that is repeated after the end of another file may have its mark. One
    # column with blanks is a text, in which a line may be repeated.
    is_text = len(first) == 1 and " " in header[0]
    starts = set() if is_text else {first[0], f"\ufeff{first[0]}"}

    def chunks(names: list[str]) -> Iterator[Chunk]:
        places = [header.index(name) for name in names]
        with path.open("rb") as file:
            for columns, lines in _blocks(path, file, delimiter, len(header)):
                if any(name in columns[0] for name in starts):
                    _check_rows(columns, lines, header, path.name)
                cells = (columns[k] for k in places)
                yield dict(zip(names, cells, strict=True)), lines

    return Table(path, header, chunks)


def _check_rows(
    columns: Sequence[Sequence[str]], lines: Sequence[int], header: list[str], file: str
) -> None:
    """Raise an error if a row consists of the names of the columns."""
    for line, row in zip(lines, zip(*columns, strict=True), strict=True):
        if [cell.lstrip("\ufeff").strip() for cell in row] == header:
            raise _repeated_header(line, file)


def _repeated_header(line: int, file: str) -> ParameterError:
    return file_error(
        f"must name the columns once. Got {file}, with the names of the columns again "
        f"in line {line}, as if files had been joined. Remove that line."
    )


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


@dataclass(frozen=True, eq=False)
class _Rows:
    """Whole rows of a text without quotes: where each cell ends, with a mark.

    `size` is their length in the file, and `lines` are those at which they end.
    """

    text: str
    mark: str
    data: bytes
    stop: np.ndarray
    lines: Sequence[int]
    size: int

    @cached_property
    def cells(self) -> list[str]:
        """The cells of all columns."""
        return self.text.split(self.mark)


class _Cells(Sequence[str]):
    """Cells of the k-th column, which are decoded when they are first used as texts."""

    def __init__(self, rows: _Rows, k: int, first: int):
        self._rows, self._k, self._first = rows, k, first

    @cached_property
    def _texts(self) -> list[str]:
        n_rows, width = self._rows.stop.shape
        return self._rows.cells[self._first * width + self._k :: width]

    def __len__(self) -> int:
        return len(self._rows.lines) - self._first

    def __getitem__(self, k: Any) -> Any:
        return self._texts[k]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __contains__(self, text: object) -> bool:
        rows = self._rows
        return f"{rows.mark}{text}{rows.mark}" in rows.text and text in self._texts

    def numbers(self) -> np.ndarray:
        """Return the numbers in the cells; raise ValueError for other texts."""
        rows, k = self._rows, self._first * self._rows.stop.shape[1] + self._k
        start = np.append(0, rows.stop.ravel() + 1)[k : -1 : rows.stop.shape[1]]
        stop = rows.stop[self._first :, self._k]
        values, is_other = decimals(rows.data, start, stop)
        others = np.flatnonzero(is_other)
        if 4 * others.size > values.size:
            return as_numbers(self._texts)
        for i in others.tolist():
            values[i] = as_number(rows.data[start[i] : stop[i]].decode())
        return values


def _blocks(
    path: Path, file: BinaryIO, delimiter: str, width: int
) -> Iterator[tuple[Sequence[Sequence[str]], Sequence[int]]]:
    """Yield columns and lines, with a fast path up to the first unusual row."""
    start = line = n_header = 0
    while width > 1:
        block = file.read(_BLOCK) + file.readline()
        if not block:
            return
        before = b"" if n_header else _BEFORE.findall(block)[0]
        rows = _split(block[len(before) :], delimiter, width)
        if rows is None:  # the csv module reads the rest
            break
        first = 1 - n_header
        n_header, line = 1, line + before.count(b"\n")
        lines = rows.lines[first:]
        if line and isinstance(lines, range):
            lines = range(line + lines.start, line + lines.stop)
        elif line:
            lines = [line + k for k in lines]
        start += len(before) + rows.size
        file.seek(start)
        line += rows.lines[-1]
        if lines:
            yield [_Cells(rows, k, first) for k in range(width)], lines
    file.seek(start)
    try:
        yield from _parsed(path, file, delimiter, width, line)
    except csv.Error as error:
        raise file_error(
            f"must be a table. A line of {path.name} cannot be read: {error}."
        ) from None
    except UnicodeDecodeError as error:
        raise not_text(path, error) from None


def _split(block: bytes, delimiter: str, width: int) -> _Rows | None:
    """Return the whole rows at the start of a block; None for another text."""
    if not block.endswith(b"\n"):
        block += b"\n"
    mark, size = delimiter, len(block)
    if b'"' not in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:
            return None
        raw = np.frombuffer(block, np.uint8)
        stop = np.flatnonzero((raw == ord(delimiter)) | (raw == ord("\n")))
        is_end = raw[stop] == ord("\n")
        block = block.replace(b"\n", delimiter.encode())
    elif b"\0" not in block:
        mark = "\0"
        found = without_quotes(block, delimiter)
        if found is None:
            return None
        block, is_end, line_ends, size = found
        stop = np.flatnonzero(np.frombuffer(block, np.uint8) == 0)
    else:
        return None
    # In whole rows, each width-th mark is the end of a line, and no other one.
    if stop.size % width:
        return None
    cells, is_end = stop.reshape(-1, width), is_end.reshape(-1, width)
    if not is_end[:, -1].all() or is_end[:, :-1].any():
        return None
    lines = range(1, 1 + len(cells)) if mark == delimiter else line_ends.tolist()
    try:
        return _Rows(block.decode()[:-1], mark, block, cells, lines, size)
    except UnicodeDecodeError:
        return None


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
            with long_cells():
                header = next(row for row in reader if any(map(str.strip, row)))
            if _END in header[-1]:
                raise _not_closed(path, 1)
        yield from _chunks(path, reader, width, before)
    finally:
        text.detach()


def _chunks(
    path: Path, reader: Any, width: int, before: int
) -> Iterator[tuple[list, list[int]]]:
    end, at_end = before + reader.line_num, False
    while not at_end:
        with long_cells():
            # A row has the number of the line at which it ends.
            numbered = [
                (before + reader.line_num, row) for row in islice(reader, CHUNK)
            ]
        last = numbered[-1][1]
        if last and _END in last[-1]:
            numbered.pop()
            at_end = True
        end = numbered[-1][0] if numbered else end
        if at_end and last != [_END]:
            raise _not_closed(path, end + 1)
        numbered = [(line, row) for line, row in numbered if row]
        if not numbered:
            continue
        lines, rows = map(list, zip(*numbered, strict=True))
        sizes = list(map(len, rows))
        if set(sizes) - {width}:
            k = next(k for k, size in enumerate(sizes) if size != width)
            raise file_error(
                f"must have {width} cells in each line, as in the first. Got "
                f"{sizes[k]} in line {lines[k]} of {path.name}."
            )
        yield list(zip(*rows, strict=True)), lines


def _not_closed(path: Path, line: int) -> ParameterError:
    """Return the error for a row that does not end."""
    return file_error(
        f"must close each quote. The row of {path.name} that begins in line {line} has "
        "a quote that is not closed."
    )
