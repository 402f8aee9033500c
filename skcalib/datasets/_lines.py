"""Lines of text files: a malformed one is refused by its file and number."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn, TextIO

# What reading a compressed file raises where bytes are wrong or missing.
DAMAGED = (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError)


def refuse(source: str, number: int, expected: str, got: str) -> NoReturn:
    """Raise for a malformed line of the file `source`."""
    raise ValueError(f"{source}, line {number}: expected {expected}, got {got}.")


class Line(NamedTuple):
    """A line without its end, and where it stands."""

    number: int
    text: str


class Block(NamedTuple):
    """Lines of a sentence, and the name of the file for messages."""

    source: str
    lines: list[Line]

    def refuse(self, number: int, expected: str, got: str) -> NoReturn:
        """Raise for a malformed line of the block."""
        refuse(self.source, number, expected, got)


@contextlib.contextmanager
def opened(path: Any, *, caller: str) -> Iterator[tuple[TextIO, str]]:
    """Give a text file and its name; a file that came open stays open."""
    if hasattr(path, "read") and isinstance(path.read(0), str):
        yield path, str(getattr(path, "name", "<text>"))
        return
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"The 'path' parameter of {caller} must be a str, a Path or a file opened "
            f"as text. Got {type(path).__name__} instead."
        )
    opener: Callable[..., Any] = gzip.open if str(path).endswith(".gz") else open
    # newline="\n": a lone carriage return ends no line.
    with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:
        yield file, str(path)


def lines_of(file: TextIO, source: str) -> Iterator[Line]:
    """Give the lines of a file; bytes that are no text, or no archive, are refused."""
    number = 0
    try:
        for number, text in enumerate(file, start=1):
            yield Line(number, text.rstrip("\r\n"))
    except UnicodeDecodeError as error:
        # Text is decoded ahead of the lines it is cut into.
        raise ValueError(
            f"{source}, after line {number}: expected {error.encoding}, got "
            f"{error.reason}."
        ) from error
    except DAMAGED as error:
        raise ValueError(
            f"{source}, after line {number}: expected a whole file, got {error!r}."
        ) from error


def blocks_of(path: Any, *, caller: str) -> Iterator[Block]:
    """Give the runs of lines that are not blank."""
    with opened(path, caller=caller) as (file, source):
        block: list[Line] = []
        for line in lines_of(file, source):
            if line.text.strip():
                block.append(line)
            elif block:
                yield Block(source, block)
                block = []
        if block:
            yield Block(source, block)


def interned(column: Iterable[str]) -> list[str]:
    """Return a column whose strings are one object wherever they occur.

    They take a fraction of the memory, and a dict finds one by comparing pointers.
    """
    return list(map(sys.intern, column))
