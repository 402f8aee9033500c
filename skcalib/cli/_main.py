"""The command ``skcalib``: its errors, its warnings and its exit status."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast

from .._errors import printable, shortened

INTERRUPTED = 130

# matplotlib's warning about a character
_LACKING = re.compile(r"Glyph (\d+) .* missing from")


def _remedy(error: Exception) -> str:
    """Return advice on an error of the operating system."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        try:
            return f". Paths start from {Path.cwd()}. Is this the right folder?"
        except OSError:
            return ". The current folder does not exist any more: go to another one."
    return ""


class _Output:
    """An output stream that drops texts once its reader has closed the pipe.

    What a command does, and its exit status, thus do not depend on the reader.
    """

    def __init__(self, stream: TextIO | None):
        # Python sets a stream to None that was closed before the start.
        self._stream: TextIO = io.StringIO() if stream is None else stream
        if isinstance(self._stream, io.TextIOWrapper):
            # A terminal without Unicode shows replacement characters, not a traceback.
            self._stream.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        self._attempt(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self._attempt(self._stream.flush)

    def _attempt(self, do: Callable[..., object], *args: str) -> None:
        try:
            do(*args)
        except OSError as error:
            # Python writes the rest of the buffer at the end of the program.
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())
            if not isinstance(error, BrokenPipeError):
                name = getattr(self._stream, "name", None)
                raise OSError(error.errno, error.strerror, name) from None

    # Everything else, for example `isatty` and `encoding`, comes from the stream.
    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments. If None, the arguments of the running program are used.

    Returns
    -------
    status : int
        Exit status. 0 if the command succeeded; 1 if the condition of ``--fail-if`` or
        ``--max-error`` is met; 2 for invalid arguments, or if a file cannot be read or
        written; 130 if the user interrupted the command. The status does not depend on
        whether the reader of a pipe closes it early.

    Examples
    --------
    >>> from skcalib.cli import main
    >>> main(["report", "answers.csv", "--no-figure"])  # doctest: +SKIP
    0
    """
    out, err = _Output(sys.stdout), _Output(sys.stderr)
    with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, err)):
        try:
            return _run(argv)
        except BaseException as error:
            if not _is_interrupt(error):
                raise
            # If the code of an exec, such as of a dataclass, is interrupted,
            # Python remembers it up to the next exec, and ends by the signal instead.
            exec("")
            print("skcalib: interrupted", file=sys.stderr)
            return INTERRUPTED
        finally:
            out.flush()
            err.flush()


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether an interrupt caused an error.

    Imports raise other errors from it, such as a RuntimeError of __set_name__.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _runner(command: str) -> Callable[[argparse.Namespace], int | None]:
    """Return the function that runs a command.

    Its module is imported after the options are read: --help is immediate, and a
    command imports only what it needs.
    """
    run: Callable[[argparse.Namespace], int | None]
    match command:
        case "report":
            from ._report import run_report as run
        case "compare":
            from ._compare import run_compare as run
        case "sample":
            from ._sample import run_sample as run
        case "count":
            from ._count import run_count as run
        case _:
            from ._demo import run_demo as run
    return run


def _run(argv: Sequence[str] | None) -> int:
    """Run a command and print its errors and warnings; return the exit status."""
    # numpy and scipy take a second, in which the user may interrupt the command.
    from ._options import parser
    from ._shared import DONE, WRONG_USE, CommandError

    arguments = parser().parse_args(argv)
    missing: dict[str, None] = {}

    def say(kind: str, text: str) -> None:
        # One line each, and warnings without a line of source code.
        # Texts of files may have control characters, and may be very long.
        text = shortened(printable(text))
        print(f"skcalib {arguments.command}: {kind}: {text}", file=sys.stderr)

    def warn(message: Warning | str, *_: Any) -> None:
        glyph = _LACKING.match(str(message))
        if glyph is None:
            say("warning", str(message))
        else:
            missing[chr(int(glyph[1]))] = None

    try:
        with warnings.catch_warnings():
            # Each character is collected, whatever filters the user has set.
            warnings.filterwarnings("default", message=_LACKING.pattern)
            warnings.showwarning = warn  # type: ignore[assignment]
            # Errors while the module is imported are errors of the command as well.
            status = _runner(arguments.command)(arguments)
        sys.stdout.flush()
    except (CommandError, OSError) as error:
        say("error", f"{error}{_remedy(error)}")
        return WRONG_USE
    if missing:
        say(
            "warning",
            f"the font of the figures does not have {len(missing)} of the characters, "
            f"which are drawn as boxes: {', '.join(missing)}",
        )
    return DONE if status is None else status
