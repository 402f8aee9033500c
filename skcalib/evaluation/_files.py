"""Files on disk: JSON, JSON lines, parquet, zip archives and run folders.

Choices of the user among several scores, filters or systems of a file.
"""

from __future__ import annotations

import csv
import json
import math
import stat
import struct
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import IO, Any, TypeVar

import numpy as np

from .._errors import ParameterError, parameter
from .._validation import check_bool, check_choice, check_verbose
from ._values import NoAnswersError, as_dict, columns_of, file_error

ROLES = ("score", "proba", "question", "model", "gold", "prediction")


@dataclass
class Options:
    """Parameters of :func:`read_evaluation`; None if a parameter is not given.

    `scale` has the lowest and the highest grade. `columns`, `groups` and `missing` are
    for plain tables: columns of the score, the probability and the question, further
    columns to keep, and the treatment of empty cells.
    """

    score: str | None = None
    filter: str | None = None
    split: str | None = None
    model: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    pos_label: str | None = None
    scale: tuple[float, float] | None = None
    percent: bool = False
    missing: str = "keep"
    verbose: int = 0

    def __post_init__(self) -> None:
        self.percent = check_bool(self.percent, name="percent")
        check_choice(self.missing, ("keep", "error"), name="missing")
        self.verbose = check_verbose(self.verbose)
        if self.scale is not None:
            self.scale = _as_scale(self.scale)
            if self.pos_label is not None:
                raise ParameterError(
                    "pos_label",
                    f"does not apply to grades, whose scale is {parameter('scale')}.",
                )
        for role in self.columns:
            if role not in ROLES:
                raise ParameterError(
                    "columns",
                    f"must be a mapping of roles ({', '.join(ROLES)}) to columns. Got "
                    f"the role {role!r}.",
                )

    def reject(self, format: str, *names: str) -> None:
        """Raise an error if a given parameter does not apply to the format."""
        for name in names:
            # An option that is ignored would look as if it had been followed.
            if getattr(self, name) not in (None, False):
                raise ParameterError(
                    name,
                    f"does not apply to files of {format}. Got "
                    f"{getattr(self, name)!r}.",
                )


def _as_scale(scale: Any) -> tuple[float, float]:
    problem = "must be the lowest and the highest grade, two numbers"
    try:
        low, high = map(float, [None] if isinstance(scale, str) else scale)
    except (TypeError, ValueError):
        raise ParameterError("scale", f"{problem}. Got {scale!r:.60}.") from None
    if not -math.inf < low < high < math.inf:
        raise ParameterError("scale", f"{problem}. Got {low:g} and {high:g}.")
    return low, high


# The members of an archive may unpack to this multiple of its size, and to this number
# of bytes in any case. Logs of a harness reach about 30 times their size.
_LARGEST_RATIO = 200
_SMALLEST_LIMIT = 2**26

# Largest unpacked size of a member, which is held in memory.
_LARGEST_MEMBER = 2**28

_BLOCK = 2**20

_ZSTANDARD = 93

# What is not a file of bytes that can be read again from its beginning.
_NOT_REGULAR = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}

# Number of lines that show what a text is.
_N_LOOKED_AT = 20

# Number of answers of a harness after which progress is printed.
_SAID_EACH = 10_000

Each = TypeVar("Each")


@dataclass(frozen=True)
class Source:
    """A file, and the part of its content that readers need to recognise it.

    `kind` is 'json' (`head` is the value), 'jsonl' (`head` is the value of the first
    line), 'text' (`head` is a list of the first lines), 'parquet', 'zip' or 'folder'
    (`head` is None). `options` are the parameters of the reader.
    """

    path: Path
    kind: str
    head: Any = None
    options: Options = field(default_factory=Options)

    @property
    def first_row(self) -> Any:
        """The first entry of a file of rows; None for any other file."""
        if self.kind == "json" and isinstance(self.head, list):
            return self.head[0] if self.head else None
        return self.head if self.kind == "jsonl" else None

    @property
    def keys(self) -> set[str]:
        """The keys of the first entry, if it is an object."""
        return set(self.first_row) if isinstance(self.first_row, dict) else set()

    @property
    def object(self) -> dict[str, Any]:
        """The value of a JSON file, if it is an object; an empty one otherwise."""
        is_object = self.kind == "json" and isinstance(self.head, dict)
        return self.head if is_object else {}

    @cached_property
    def content(self) -> Any:
        """The value of a JSON file, or a list of the values of its lines."""
        if self.kind != "jsonl":
            return self.head
        # Read when it is first needed: tables read the file block by block instead.
        return [value for _, value in self.progress(self.numbered_rows())]

    def progress(self, rows: Iterable[Each]) -> Iterator[Each]:
        """Yield the rows, and print the number of rows read at intervals."""
        for n, row in enumerate(rows, 1):
            yield row
            if self.options.verbose and n % _SAID_EACH == 0:
                print(f"{n:,} rows of {self.path.name} read", file=sys.stderr)

    @cached_property
    def _lines(self) -> list[int]:
        return [k for k, _ in numbered_lines(self.path)]

    def numbered_rows(self) -> Iterator[tuple[int, Any]]:
        """Yield the line and value of each line that is not empty, one at a time."""
        return self.rows_of(numbered_lines(self.path))

    def rows_of(self, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
        """Yield the numbers of lines, and their values."""
        name, decode = self.path.name, _DECODER.decode
        for k, line in lines:
            try:
                value = decode(line)
            except (ValueError, RecursionError):
                value = parse(line, f"line {k} of {name}")  # which says what is wrong
            yield k, value

    def place(self, k: int) -> str:
        """Return the place of the k-th entry, for messages."""
        if self.kind == "jsonl":
            return f"line {self._lines[k]} of {self.path.name}"
        return f"entry {k} of {self.path.name}"


def not_text(path: Path, error: UnicodeDecodeError) -> ParameterError:
    return file_error(
        f"must be a text file in UTF-8, a parquet file or a log. Got {path.name}, with "
        f"byte {error.object[error.start]:#x}. Spreadsheets write it if told to save "
        "as 'CSV UTF-8'."
    )


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for k, line in enumerate(file, 1):
                if line.strip():
                    yield k, line
    except UnicodeDecodeError as error:
        raise not_text(path, error) from None


def check_regular(path: Path) -> None:
    """Raise an error if a path is a pipe or a device, such as /dev/stdin."""
    kind = _NOT_REGULAR.get(stat.S_IFMT(path.stat().st_mode))
    if kind is not None:
        raise file_error(
            "must be a regular file, because files are read more than once. Got "
            f"{path.name}, which is {kind}. Save its content to a file first, and pass "
            "that file."
        )


def open_source(path: Any, options: Options | None = None) -> Source:
    """Return the file or run folder at a path, recognised by its content."""
    options = options or Options()
    try:
        path = Path(path)
    except TypeError:
        raise file_error(
            f"must be a path to a file or folder. Got {path!r:.80}."
        ) from None
    try:
        check_regular(path)
        if path.is_dir():
            return Source(path, "folder", options=options)
        with path.open("rb") as file:
            head = file.read(4)
    except ParameterError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character
        problem = getattr(error, "strerror", error)
        raise file_error(
            f"must be a file that can be read. Got {path}: {problem}."
        ) from None
    # Formats are recognised by their first bytes: names of downloaded files are not
    # reliable.
    if head == b"PAR1":
        return Source(path, "parquet", options=options)
    if head.startswith(b"\x1f\x8b"):
        raise file_error(
            f"must not be compressed by gzip. Got {path.name}. Decompress it, for "
            "example with gunzip."
        )
    if head == b"PK\x03\x04":
        return Source(path, "zip", options=options)
    return _open_text(path, options)


def _open_text(path: Path, options: Options) -> Source:
    """Return a text file: one JSON value, one value per line, or neither."""
    lines = [line for _, line in islice(numbered_lines(path), _N_LOOKED_AT)]
    first = lines[0] if lines else ""
    if first.lstrip()[:1] not in ("{", "["):
        return Source(path, "text", lines, options)
    # A value over many lines begins with a line that is not JSON. Only its name tells a
    # file with one record from a file with one value.
    is_record = path.suffix == ".jsonl" and first.lstrip().startswith("{")
    if (len(lines) > 1 or is_record) and _is_json(first):
        head = parse(first, f"the first line of {path.name}")
        return Source(path, "jsonl", head, options)
    if options.verbose:
        # A value over many lines is parsed in one call, whose progress is not known.
        size = path.stat().st_size / 1e6
        print(f"reading {path.name}, {size:,.0f} MB", file=sys.stderr)
    # Read by lines, which leaves out the mark of the encoding.
    text = "".join(line for _, line in numbered_lines(path))
    return Source(path, "json", parse(text, path.name), options)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of a JSON object, whose keys must differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        n_times = Counter(name for name, _ in pairs)
        name = n_times.most_common(1)[0][0]
        # Python keeps the last value, without a word.
        raise ValueError(f"the key {name!r:.80} occurs more than once in an object")
    return found


# A decoder that is made once costs little more than json.loads.
_DECODER = json.JSONDecoder(object_pairs_hook=_as_object)


def parse(text: str | bytes | bytearray, place: str) -> Any:
    """Return the JSON value of a text, without repeated keys."""
    try:
        if not isinstance(text, str):
            text = text.decode("utf-8-sig")
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = "" if error.lineno == 1 else f"line {error.lineno}, "
        # Some messages of the decoder end before the place.
        what = error.msg.removesuffix(" at")
        problem = f"{what} at {line}column {error.colno}"
        # An error at the very end is one of a file that was not written to its end.
        if what.startswith("Unterminated") or error.pos >= len(error.doc.rstrip()):
            problem += ". The text may have been cut off while it was written"
            raise NoAnswersError(
                f"must contain valid JSON. Got {place}: {problem}."
            ) from None
    except RecursionError:
        problem = "objects nested too deeply"
    except ValueError as error:  # a repeated key, no UTF-8, or a very long number
        problem = str(error)
    raise file_error(f"must contain valid JSON. Got {place}: {problem}.")


def columns_at_once(data: bytes) -> dict[str, list[Any]] | None:
    """Return the columns of lines of flat objects; None for other lines.

    Outside of texts, there are as many braces as lines, and as many colons as entries:
    no object is inside another one, and no key occurs twice.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    data = data.removesuffix(b"\n") + b"\n"
    raw = np.frombuffer(data, np.uint8)
    if b"\\" in data:  # pairs of a text
        plain = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        raw = np.frombuffer(plain, np.uint8)
    marks, kinds, quoted = _marks_of(raw, "{:,}\n")
    outside = ~quoted & (kinds != ord('"'))
    marks, kinds = marks[outside], kinds[outside]
    n, n_braces, n_entries = (int((kinds == ord(c)).sum()) for c in "\n{:")
    if n_braces != n or not n_entries or b"\r" in data:
        return None
    try:
        columns = _of_equal_keys(data, marks, kinds, n)
        if columns is None:
            rows = json.loads(f"[{data.decode()[:-1]}]".replace("\n", ",\n"))
            firsts = (name == row[name] for row in rows for name in islice(row, 1))
            is_odd = len(rows) != n or (b"\n" + data).count(b"\n{") != n or any(firsts)
            if is_odd or sum(map(len, rows)) != n_entries:
                return None
            columns = columns_of(rows)
    except (ValueError, RecursionError):
        return None
    return columns


def _of_equal_keys(
    data: bytes, marks: np.ndarray, kinds: np.ndarray, n: int
) -> dict[str, list[Any]] | None:
    """Return the columns of lines that differ in their values only; None for others.

    The values are decoded as one array, without the keys.
    """
    names = list(as_dict(parse(data[: data.index(b"\n")], "the first line")))
    # A brace, a colon and a comma or brace for each entry, and the end of the line.
    if not names or marks.size != n * (2 * len(names) + 2):
        return None
    raw = np.frombuffer(data, np.uint8).copy()
    marks = marks.reshape(n, -1)
    kinds = kinds.reshape(n, -1)
    if (kinds != kinds[0]).any():
        return None
    ends = marks[:, 2::2]
    edges = np.stack([marks[:, 1:-1:2], ends], axis=-1).ravel() + 1
    sizes = np.diff(edges, prepend=0, append=raw.size)
    of_values = np.repeat(np.arange(sizes.size) % 2 == 1, sizes)
    raw[ends] = ord(",")
    others = raw[~of_values].tobytes()
    if others != others[: len(others) // n] * n:
        return None
    values = json.loads(f"[{raw[of_values].tobytes().decode()[:-1]}]")
    # A row that names the columns names the first one.
    if len(values) != n * len(names) or names[0] in values[:: len(names)]:
        return None
    return {name: values[k :: len(names)] for k, name in enumerate(names)}


def _marks_of(raw: np.ndarray, marks: str) -> tuple[np.ndarray, ...]:
    """Return the places of marks and quotes, the marks, and which are inside quotes.

    The first quote of a text is inside, and the last one is not.
    """
    is_mark = raw == ord('"')
    for mark in marks:
        is_mark |= raw == ord(mark)
    at = np.flatnonzero(is_mark)
    kinds = raw[at]
    return at, kinds, np.logical_xor.accumulate(kinds == ord('"'))


def without_quotes(
    block: bytes, delimiter: str
) -> tuple[bytes, np.ndarray, np.ndarray, int] | None:
    """Return whole rows without their quotes, each cell with a null byte at its end.

    Also returned are whether each cell is the last one of its row, the line at the end
    of each row, and the length of the rows in the block. None is returned for quotes
    inside other text.
    """
    raw = np.frombuffer(block, np.uint8)
    at, kind, quoted = _marks_of(raw, f"{delimiter}\n\r")
    is_quote, is_line, is_return = (kind == ord(c) for c in '"\n\r')
    is_end = is_line & ~quoted
    n = is_end.size - int(is_end[::-1].argmax())  # up to the end of the last whole row
    joined = np.diff(at, prepend=-1) == 1  # to the mark before, or at the start
    next_joined = np.append(joined[1:], False)
    is_mark = ~quoted & ~is_quote & ~is_return
    opening, closing = is_quote & quoted, is_quote & ~quoted
    after_mark = joined & np.append(True, is_mark[:-1])
    before_line = next_joined & np.append(is_line[1:], False)
    # Between the quotes of a cell, a quote is written twice.
    again = opening & joined & np.append(False, closing[:-1])
    is_return_outside = is_return & ~quoted
    ends = next_joined & np.append((is_mark | is_return_outside | again)[1:], False)
    is_odd = (opening & ~after_mark & ~again) | (closing & ~ends)
    is_odd |= is_return_outside & ~before_line
    if not is_end.any() or is_odd[:n].any():
        return None
    size = int(at[n - 1]) + 1
    marks = at[:n][is_mark[:n]]
    clean, kept = raw[:size].copy(), np.ones(size, dtype=bool)
    clean[marks] = 0
    kept[at[:n][(closing | (opening & after_mark) | is_return_outside)[:n]]] = False
    lines = (is_line | (is_return & ~before_line)).cumsum()[is_end]
    return clean[kept].tobytes(), is_end[:n][is_mark[:n]], lines, size


_LONGEST_CELL = 2**31 - 1
_CELLS_LOCK = Lock()


@contextmanager
def long_cells() -> Iterator[None]:
    """Let the csv module read cells of any length, for example whole documents."""
    with _CELLS_LOCK:  # the limit applies to all threads
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def sibling(path: Path, name: str) -> Any:
    """Return the JSON value of another file in the same folder; None if missing."""
    other = path.parent / name
    return parse(other.read_bytes(), name) if other.is_file() else None


class Archive(zipfile.ZipFile):
    """The members of a zip archive, read one at a time.

    A member may unpack to 256 MiB, and all members together to 200 times the size of
    the archive, or to 64 MiB if that is more.
    """

    def __init__(self, path: Path):
        try:
            super().__init__(path)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
            raise NoAnswersError(
                f"must be a complete zip archive. Got {path.name}: {error}."
            ) from None
        self.path = path
        self._limit = max(_SMALLEST_LIMIT, _LARGEST_RATIO * path.stat().st_size)
        self._n_read = 0

    def json(self, name: str) -> Any:
        """Return the JSON value of a member."""
        # The only reference to the bytes, so that they are not held beside the text.
        return parse(self._unpacked(name), f"{name} of {self.path.name}")

    def _unpacked(self, name: str) -> bytearray:
        """Return the bytes of a member, within the limits."""
        # A small archive can unpack to more than the memory (a zip bomb).
        limit = min(_LARGEST_MEMBER, self._limit - self._n_read)
        data = bytearray()
        try:
            with self._stream(self.getinfo(name)) as stream:
                while len(data) <= limit and (block := stream.read(_BLOCK)):
                    data += block
        except ImportError:
            raise
        except Exception as error:  # each decoder raises different errors
            raise file_error(
                f"must be a complete archive. Got {name} of {self.path.name}, which "
                f"cannot be unpacked: {error}."
            ) from None
        if len(data) > limit:
            what = f"which unpacks to more than {limit:,} bytes"
            if limit < _LARGEST_MEMBER:
                what = (
                    f"with which the archive unpacks to more than {self._limit:,} bytes"
                )
            raise file_error(
                f"must contain logs of answers. Got {name} of {self.path.name}, {what}."
                " Convert a genuine log with `inspect log convert --to json`."
            )
        self._n_read += len(data)
        return data

    def _stream(self, info: zipfile.ZipInfo) -> IO[bytes]:
        # Before Python 3.14, zipfile cannot decode Zstandard.
        if info.compress_type != _ZSTANDARD or hasattr(zipfile, "ZIP_ZSTANDARD"):
            return self.open(info)
        try:
            import zstandard
        except ImportError as error:
            raise ImportError(
                f"{self.path.name} is compressed with Zstandard, which Python can read "
                "from 3.14 on. Run `pip install zstandard`."
            ) from error
        with self.path.open("rb") as file:
            # The local header has the lengths of the name and of the extra field here.
            file.seek(info.header_offset + 26)
            file.seek(sum(struct.unpack("<2H", file.read(4))), 1)
            data = file.read(info.compress_size)
        # The member is read past zipfile, which does not know the method.
        decoder = zstandard.ZstdDecompressor()
        return decoder.stream_reader(data, read_across_frames=True)


def read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file as dicts."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(
            f"{path.name} is a parquet file, and pyarrow is not installed. Run "
            "`pip install pyarrow`."
        ) from error
    try:
        file = pq.ParquetFile(path)
        for batch in file.iter_batches(batch_size=1000):
            yield from batch.to_pylist()
    except Exception as error:  # pyarrow raises several types
        raise file_error(
            f"must be a complete parquet file. Got {path.name}: {error}."
        ) from None
