"""Command line: ``skcalib report FILE`` and ``skcalib demo``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import __version__
from ._demo import run_demo
from ._demo_tagging import run_tagging_demo
from ._report import ReportError, run_report

__all__ = ["main"]


DESCRIPTION = """\
Do these probabilities mean what they say? Of the cases to which a model gives
70%, do 70% come true?

Two commands answer it, one for a file of your own and one on data at hand:

  skcalib report answers.csv   your model's answers, a row each: a column says
                               whether it was right, another how sure it was
  skcalib demo                 two classifiers side by side, in a few seconds
"""

EPILOG = """\
'skcalib COMMAND --help' explains a command. For classifiers, taggers and
coreference models in Python, import skcalib.
"""

REPORT = """\
Measure the calibration of a file of predictions: print the numbers, draw them.

A file has a row for each prediction, one column that says whether it came true
and one with the probability that it would:

  question,correct,confidence
  capital of Peru,1,0.98
  boiling point of tin,0,0.75

Columns with usual names are found (correct, label, y_true, ...; confidence,
probability, score, ...); others are named by --y-true and --y-proba.
"""

REPORT_EPILOG = """\
examples:
  skcalib report answers.csv
  skcalib report answers.jsonl --percent --by model
  skcalib report mails.tsv --y-true class --pos-label spam --y-proba p

What is printed: whether probabilities are too high or too low on the whole;
the calibration error (root mean square distance between probability and
frequency) with its interval, and whether perfect calibration is rejected; the
Brier score and its parts; and a row for each tenth of the probabilities.
"""

DEMO = """\
Compare the calibration of models, print a table and draw a figure.
"""

DEMO_EPILOG = """\
data:
  classification   naive Bayes and logistic regression, out of fold, on two
                   data sets that come with scikit-learn; a few seconds
  tagged           taggers (HMM and CRF) on generated sentences; about a minute
  ark_twitter_pos  the same taggers on tweets, downloaded once to the folder
                   SKCALIB_DATA or ~/skcalib_data; two minutes on two cores
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose texts are printed as written, and whose errors say what next."""

    def __init__(self, **kwargs: Any):
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=formatter, **kwargs)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}. See '{self.prog} --help'.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="skcalib", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    _add_report(commands)
    _add_demo(commands)
    return parser


def _add_demo(commands: argparse._SubParsersAction) -> None:
    demo = commands.add_parser(
        "demo",
        help="compare models on data that are at hand",
        description=DEMO,
        epilog=DEMO_EPILOG,
    )
    demo.add_argument(
        "--data",
        choices=["classification", "tagged", "ark_twitter_pos"],
        default="classification",
        help="see below (default: %(default)s)",
    )
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("skcalib-demo"),
        metavar="DIR",
        help="folder for the figure, made where it is missing (default: %(default)s)",
    )


def _add_report(commands: argparse._SubParsersAction) -> None:
    report = commands.add_parser(
        "report",
        help="measure the probabilities in a file",
        description=REPORT,
        epilog=REPORT_EPILOG,
    )
    report.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help=".csv, .tsv (or .txt, with tabs) or .jsonl (an object a line)",
    )
    _add_columns(report.add_argument_group("what to read"))
    _add_measures(report.add_argument_group("how to measure"))
    _add_output(report.add_argument_group("what to write"))


def _add_columns(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--y-true", metavar="COL", help="column of 0/1, true/false, yes/no or labels")
    add("--y-proba", metavar="COL", help="column of probabilities")
    add(
        "--pos-label",
        metavar="LABEL",
        help="the label that the probability is of, where --y-true holds others than "
        "yes and no",
    )
    add("--percent", action="store_true", help="probabilities run from 0 to 100")
    add(
        "--skip-missing",
        action="store_true",
        help="leave out rows with an empty cell, and say how many",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--groups",
        metavar="COL",
        help="column of the document, user, ... of a row: rows of one group may depend "
        "on each other, and the interval allows for it",
    )
    add("--by", metavar="COL", help="report each value of this column by itself too")
    add(
        "--bin-size",
        type=int,
        metavar="N",
        help="pairs in a bin of the curve (default: about n to the power of 0.6; the "
        "interval chooses its own)",
    )
    add(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="LEVEL",
        help="of all intervals, between 0 and 1 (default: %(default)s)",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="print JSON instead of text")
    add(
        "--output",
        type=Path,
        metavar="FIGURE",
        help="PNG, SVG or PDF to draw to (default: FILE's name with .reliability.png, "
        "in this folder; none with --json)",
    )
    add("--no-figure", action="store_true", help="draw nothing")


def _remedy(arguments: argparse.Namespace, error: Exception) -> str:
    """Return what to do about an error of the system."""
    if isinstance(error, ReportError):
        return ""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return f". Paths start from {Path.cwd()}; is it the right folder?"
    if getattr(arguments, "data", None) == "ark_twitter_pos":
        return ". '--data tagged' and '--data classification' need no download."
    return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = _parser().parse_args(argv)
    if hasattr(sys.stdout, "reconfigure"):
        # a terminal without Unicode shows what it can, rather than a traceback
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if arguments.command == "report":
            run_report(arguments)
        elif arguments.data == "classification":
            run_demo(arguments.output)
        else:
            run_tagging_demo(arguments.data, arguments.output)
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ReportError, OSError) as error:
        said = f"{error}{_remedy(arguments, error)}"
        print(f"skcalib {arguments.command}: error: {said}", file=sys.stderr)
        return 2
    return 0
