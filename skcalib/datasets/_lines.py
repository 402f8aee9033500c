"""Lines of text files; malformed ones raise an error with file and line number."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import lzma
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

from .._errors import ParameterTypeError

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
                # One lone carriage return makes it a file with these line ends.
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
