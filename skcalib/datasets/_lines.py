"""Lines of text files; malformed ones raise an error with file and line number.

Mentions in brackets: ``(12`` opens one, ``12)`` closes it, ``(12)`` does both.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import lzma
import os
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO
from urllib.parse import unquote

from .._errors import ParameterTypeError, warn
from ..documents import Mention, Sentence
from ..text._trees import head_of_span

TextFile = str | os.PathLike[str] | TextIO

# Exceptions raised by a compressed file with wrong or missing bytes.
DAMAGED = (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError)

# Exceptions raised by zipfile for wrong bytes or for encrypted members.
BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    UnicodeDecodeError,
)


def malformed(source: str, number: int, expected: str, got: str) -> NoReturn:
    """Raise an error for a malformed line of the file `source`."""
    raise ValueError(f"{source}, line {number}: expected {expected}, got {got}.")


class Line(NamedTuple):
    """A line without its line ending, and its number."""

    number: int
    text: str


class Block(NamedTuple):
    """Lines of a sentence, and the name of the file for messages."""

    source: str
    lines: list[Line]

    def malformed(self, number: int, expected: str, got: str) -> NoReturn:
        """Raise an error for a malformed line of the block."""
        malformed(self.source, number, expected, got)


@contextlib.contextmanager
def opened(path: TextFile) -> Iterator[tuple[TextIO, str]]:
    """Yield a text file and its name; a file that was passed open stays open."""
    if not isinstance(path, (str, os.PathLike)):
        if not (hasattr(path, "read") and isinstance(path.read(0), str)):
            raise ParameterTypeError(
                "path",
                "must be a str, a Path or a file opened as text. Got "
                f"{type(path).__name__} instead.",
            )
        yield path, str(getattr(path, "name", "<text>"))
        return
    opener: Callable[..., Any] = gzip.open if str(path).endswith(".gz") else open
    # newline="\n": a lone carriage return does not end a line.
    with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:
        yield file, str(path)


@contextlib.contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield an open zip archive; raise an OSError if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BAD_ZIP as error:
        raise OSError(f"{path} is not a complete zip archive: {error}.") from error


def lines_of(
    file: TextIO, source: str, *, returns_end_lines: bool = False
) -> Iterator[Line]:
    """Yield the lines of a text file or of a complete compressed text file.

    Lines end at line feeds and, optionally, at lone carriage returns.
    """
    number = 0
    try:
        for number, text in enumerate(file, start=1):
            text = text.rstrip("\r\n")
            if returns_end_lines and "\r" in text:
                yield from _cut_at_returns(itertools.chain([text], file), number)
                return
            yield Line(number, text)
    except UnicodeDecodeError as error:
        # Text is decoded before it is split into lines.
        raise ValueError(
            f"{source}, after line {number}: expected {error.encoding}, got "
            f"{error.reason}."
        ) from error
    except DAMAGED as error:
        raise ValueError(
            f"{source}, after line {number}: expected a complete file, got {error!r}."
        ) from error


def _cut_at_returns(texts: Iterable[str], number: int) -> Iterator[Line]:
    """Yield lines that also end at carriage returns, numbered from `number`."""
    pieces = (piece for text in texts for piece in text.rstrip("\r\n").split("\r"))
    yield from itertools.starmap(Line, enumerate(pieces, number))


def blocks_of(path: TextFile, *, returns_end_lines: bool = False) -> Iterator[Block]:
    """Yield the blocks of lines that are not blank."""
    with opened(path) as (file, source):
        block: list[Line] = []
        for line in lines_of(file, source, returns_end_lines=returns_end_lines):
            if line.text.strip():
                block.append(line)
            elif block:
                yield Block(source, block)
                block = []
        if block:
            yield Block(source, block)


def interned(column: Iterable[str]) -> list[str]:
    """Return a column in which equal strings are the same object.

    This takes a fraction of the memory, and dict lookups compare pointers.
    """
    return list(map(sys.intern, column))


BRACKET = re.compile(r"(\()?([^()|]+)(\))?")
# Numbers have at most nine digits, because int() raises an error for long numbers.
PART = re.compile(r"(.+)\[([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\]")


class Span(NamedTuple):
    """Words of a mention, its entity, and the line where it opens.

    `end` is -1 while the bracket is open. `order` is the number of brackets of the
    sentence that opened before.
    """

    start: int
    end: int
    order: int
    entity: str
    line: int
    attributes: dict[str, Any]


class Brackets:
    """Spans of a sentence, from the brackets of its block in order.

    Words are counted over the document. `fields` are the names of the fields that
    hyphens separate in an opening bracket, with the entity first. Mentions with the
    same words as another mention are left out and described in `repeated`.
    """

    def __init__(self, fields: Sequence[str], block: Block, repeated: list[str]):
        self.fields, self.block, self.repeated = fields, block, repeated
        self.open: dict[str, list[Span]] = {}
        self.parts: dict[str, list[Span]] = {}
        self.closed: list[Span] = []
        self.n_opened = 0

    def read(self, text: str, line: int, start: int, end: int) -> None:
        """Read the brackets of a word: spans open at `start` and close at `end`."""
        place = 0
        for match in BRACKET.finditer(text):
            opens, name, closes = match[1], match[2], match[3]
            if match.start() != place or not (opens or closes):
                break
            if opens:
                name = self._open(name, line, start)
            if closes:
                self._close(name, line, end)
            place = match.end()
        if place != len(text):
            self.block.malformed(line, "brackets like (1 or 1) or (1)", repr(text))

    def _open(self, text: str, line: int, start: int) -> str:
        name, *values = text.split("-", len(self.fields) - 1)
        known = zip(self.fields[1:], map(unquote, values), strict=False)
        span = Span(start, -1, self.n_opened, name, line, dict(known))
        self.open.setdefault(name, []).append(span)
        self.n_opened += 1
        return name

    def _close(self, name: str, line: int, end: int) -> None:
        # an entity may be nested in itself: the last opened bracket is closed first
        if not self.open.get(name):
            self.block.malformed(line, f"({name} before {name})", "none that is open")
        span = self.open[name].pop()._replace(end=end)
        part = PART.fullmatch(name)
        if part is None:
            self.closed.append(span)
            return
        parts = self.parts.setdefault(part[1], [])
        parts.append(span)
        number, n_parts = int(part[2]), int(part[3])
        if number != len(parts) or number > n_parts:
            self.block.malformed(line, f"part {len(parts)} of {part[1]}", f"{name})")
        if number == n_parts:
            words = tuple((each.start, each.end) for each in self.parts.pop(part[1]))
            attributes = parts[0].attributes | {"parts": words}
            whole = parts[0]._replace(entity=part[1], end=end, attributes=attributes)
            self.closed.append(whole)

    def finish(self) -> list[Span]:
        """Return the spans of a complete sentence in order, without repeated words.

        Spans that contain only empty nodes are left out.
        """
        for name, spans in self.open.items():
            if spans:
                expected = f"{name}) in the sentence of ({name}"
                self.block.malformed(spans[-1].line, expected, "its end")
        for name, parts in self.parts.items():
            expected = f"all parts of {name}"
            self.block.malformed(parts[-1].line, expected, f"{len(parts)}")
        spans = [span for span in self.closed if span.start < span.end]
        return self._distinct(sorted(spans, key=lambda s: (s.start, -s.end, s.order)))

    def _distinct(self, spans: list[Span]) -> list[Span]:
        """Return the first of several spans with the same words."""
        kept: list[Span] = []
        for span in spans:
            if kept and (kept[-1].start, kept[-1].end) == (span.start, span.end):
                self.repeated.append(
                    f"{self.block.source}, line {span.line}: two mentions of the same "
                    f"words, with entities {kept[-1].entity!r} and {span.entity!r}. "
                    "The first mention is kept."
                )
            else:
                kept.append(span)
        return kept


def warn_of_repeated(repeated: list[str]) -> None:
    """Warn once per file, with the first repeated mention and the number of them."""
    if not repeated:
        return
    more = len(repeated) - 1
    count = f" This is true of {more} more mention{'s' * (more > 1)}." if more else ""
    warn(repeated[0] + count)


def as_mention(span: Span, sentence: Sentence, offset: int) -> Mention:
    """Return a mention of a parsed sentence whose first word is number `offset`."""
    start, end = span.start - offset, span.end - offset
    head = head_of_span(sentence.head, sentence.upos, start, end)
    return Mention(
        span.start,
        span.end,
        None if head is None else head + offset,
        span.attributes,
    )
