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
BAD_ZIP = (*DAMAGED, lzma.LZMAError, struct.error, RuntimeError, UnicodeDecodeError)


class Line(NamedTuple):
    """A line without its line ending, its number, and the name of its file."""

    number: int
    text: str
    source: str

    def is_blank(self) -> bool:
        """Return whether the line consists of white space, if anything."""
        return not self.text.strip()

    def malformed(self, expected: str, got: str) -> NoReturn:
        """Raise an error for a malformed line."""
        raise ValueError(
            f"{self.source}, line {self.number}: expected {expected}, got {got}."
        )


# Lines of a sentence.
Block = list[Line]


@contextlib.contextmanager
def opened(
    path: TextFile, *, newline: str | None = "\n"
) -> Iterator[tuple[TextIO, str]]:
    """Yield a text file and its name; a file that was passed open stays open.

    By default, a lone carriage return does not end a line.
    """
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
    with opener(path, "rt", encoding="utf-8-sig", newline=newline) as file:
        yield file, str(path)


@contextlib.contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield an open zip archive; raise an OSError if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BAD_ZIP as error:
        raise OSError(f"{path} is not a complete zip archive: {error}.") from error


def lines_of(file: TextIO, source: str) -> Iterator[Line]:
    """Yield the lines of a text file or of a complete compressed text file."""
    number = 0
    try:
        for number, text in enumerate(file, start=1):
            yield Line(number, text.rstrip("\r\n"), source)
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


def blocks_of(path: TextFile, *, newline: str | None = "\n") -> Iterator[Block]:
    """Yield the blocks of lines that are not blank."""
    with opened(path, newline=newline) as (file, source):
        lines = lines_of(file, source)
        for is_blank, block in itertools.groupby(lines, key=Line.is_blank):
            if not is_blank:
                yield list(block)


def interned(column: Iterable[str]) -> list[str]:
    """Return a column in which equal strings are the same object.

    This takes a fraction of the memory, and dict lookups compare pointers.
    """
    return list(map(sys.intern, column))
