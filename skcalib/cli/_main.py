"""The command ``skcalib``: its parser, its errors and its exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from .. import __version__
from ._compare import add_compare
from ._count import add_count
from ._demo import add_demo
from ._report import add_report
from ._sample import add_sample
from ._shared import DONE, WRONG_USE, CommandError, printable

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


class _Parser(argparse.ArgumentParser):
    """A parser that does not rewrap its texts and whose errors refer to the help."""

    def __init__(self, **kwargs: Any):
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=formatter, **kwargs)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        error = f"{self.prog}: error: {message}. See '{self.prog} --help'.\n"
        self.exit(WRONG_USE, error)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="skcalib", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    add_report(commands)
    add_compare(commands)
    add_sample(commands)
    add_count(commands)
    add_demo(commands)
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments. If None, the arguments of the running program are used.

    Returns
    -------
    status : int
        Exit status. 0 if the command succeeded, even if the reader of a pipe closed it
        early; 1 if the condition of ``--fail-if`` is met; 2 for invalid arguments, or
        if a file cannot be read or written.

    Examples
    --------
    >>> from skcalib.cli import main
    >>> main(["report", "answers.csv", "--no-figure"])  # doctest: +SKIP
    0
    """
    arguments = _parser().parse_args(argv)
    if hasattr(sys.stdout, "reconfigure"):
        # A terminal without Unicode shows replacement characters, not a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, for example `head`, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (CommandError, OSError) as error:
        message = printable(f"{error}{_remedy(arguments, error)}")
        print(f"skcalib {arguments.command}: error: {message}", file=sys.stderr)
        return WRONG_USE
    return DONE if status is None else status
