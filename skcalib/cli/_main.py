"""The command ``skcalib``: its parser, its errors and its exit status."""

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
from typing import Any, NoReturn, TextIO, cast

from .. import __version__
from .._errors import printable, shortened
from . import _options
from ._compare import run_compare
from ._count import run_count
from ._demo import run_demo
from ._report import run_report
from ._sample import run_sample
from ._shared import DONE, INTERRUPTED, WRONG_USE, CommandError

DESCRIPTION = """\
Are the probabilities of a model calibrated? If the model gives 70% to some
cases, do 70% of them come true?

One command measures the calibration in your own file, one compares systems,
and one shows an example:

  skcalib report answers.csv   the answers of your model: the output of an
                               evaluation harness, or a table with one column
                               for right or wrong and one for probabilities
  skcalib compare old new      is a system better than another on the same
                               questions?
  skcalib demo                 two classifiers side by side, in a few seconds

A sum of probabilities over documents estimates a count, with the errors of the
model. Two commands draw documents to label and correct the count:

  skcalib sample docs.csv --n 100   which documents to label
  skcalib count docs.csv            the corrected count, with an interval
"""

EPILOG = """\
'skcalib COMMAND --help' explains a command. For classifiers, taggers and
coreference models in Python, import skcalib.
"""

# The commands in the order of the help.
COMMANDS: dict[str, tuple[_options.Command, Callable[..., int | None]]] = {
    "report": (_options.REPORT, run_report),
    "compare": (_options.COMPARE, run_compare),
    "sample": (_options.SAMPLE, run_sample),
    "count": (_options.COUNT, run_count),
    "demo": (_options.DEMO, run_demo),
}

# matplotlib's warning about a character
_LACKING = re.compile(r"Glyph (\d+) .* missing from")


class _Parser(argparse.ArgumentParser):
    """A parser that does not rewrap its texts and whose errors refer to the help."""

    def __init__(self, **kwargs: Any):
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=formatter, **kwargs)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        problem = shortened(printable(message))
        error = f"{self.prog}: error: {problem}. See '{self.prog} --help'.\n"
        self.exit(WRONG_USE, error)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="skcalib", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    for name, (command, _) in COMMANDS.items():
        _options.add_command(commands, name, command)
    return parser


def _remedy(arguments: argparse.Namespace, error: Exception) -> str:
    """Return advice on an error of the operating system."""
    if isinstance(error, CommandError):
        return ""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return f". Paths start from {Path.cwd()}. Is this the right folder?"
    if getattr(arguments, "data", None) == "ark_twitter_pos":
        return ". '--data tagged' and '--data classification' need no download."
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
                raise

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
        Exit status. 0 if the command succeeded; 1 if the condition of ``--fail-if`` is
        met; 2 for invalid arguments, or if a file cannot be read or written; 130 if
        the user interrupted the command. The status does not depend on whether the
        reader of a pipe closes it early.

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
        except KeyboardInterrupt:
            print("skcalib: interrupted", file=sys.stderr)
            return INTERRUPTED
        finally:
            out.flush()
            err.flush()


def _run(argv: Sequence[str] | None) -> int:
    """Run a command and print its errors and warnings; return the exit status."""
    arguments = _parser().parse_args(argv)
    caught = _Warnings(arguments.command)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("default", message=_LACKING.pattern)
            warnings.showwarning = caught.show  # type: ignore[assignment]
            status = COMMANDS[arguments.command][1](arguments)
        sys.stdout.flush()
    except (CommandError, OSError) as error:
        message = shortened(printable(f"{error}{_remedy(arguments, error)}"))
        print(f"skcalib {arguments.command}: error: {message}", file=sys.stderr)
        return WRONG_USE
    caught.finish()
    return DONE if status is None else status


class _Warnings:
    """Warnings of a command, on one line each and without a line of source code."""

    def __init__(self, command: str):
        self._command = command
        self._lacking: dict[str, None] = {}

    def show(self, message: Warning | str, *_: Any) -> None:
        """Print a warning, or keep a character that matplotlib cannot draw."""
        glyph = _LACKING.match(str(message))
        if glyph is None:
            self._print(str(message))
        else:
            self._lacking[chr(int(glyph[1]))] = None

    def finish(self) -> None:
        """Print which characters are missing in the figures."""
        if self._lacking:
            n = len(self._lacking)
            self._print(
                f"the font of the figures does not have {n} of the characters, which "
                f"are drawn as boxes: {', '.join(self._lacking)}"
            )

    def _print(self, text: str) -> None:
        text = shortened(printable(text))
        print(f"skcalib {self._command}: warning: {text}", file=sys.stderr)
