"""Command line: ``skcalib report FILE`` and ``skcalib demo``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__
from ._demo import run_demo
from ._demo_tagging import run_tagging_demo
from ._report import ReportError, run_report

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skcalib",
        description="Do these probabilities mean what they say?",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_report(commands)
    demo = commands.add_parser(
        "demo",
        help="models against each other on real data, with a figure",
        description="Compare the calibration of models, and draw it. By default naive "
        "Bayes and logistic regression, out of fold, on two data sets that "
        "scikit-learn ships; or taggers (HMM and CRF) on sentences.",
    )
    demo.add_argument(
        "--data",
        choices=["classification", "tagged", "ark_twitter_pos"],
        default="classification",
        help="'tagged' are generated sentences; 'ark_twitter_pos' are tweets, "
        "downloaded to SKCALIB_DATA or ~/skcalib_data, about two minutes on two cores "
        "(default: %(default)s)",
    )
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("skcalib-demo"),
        metavar="DIR",
        help="folder for the figure, made where it is missing (default: %(default)s)",
    )
    return parser


def _add_report(commands: argparse._SubParsersAction) -> None:
    report = commands.add_parser(
        "report",
        help="how well calibrated a file of predictions is",
        description="Measure the calibration of a file of predictions: a row for each, "
        "with a column that says whether it came true and one with its probability.",
        epilog="example: skcalib report answers.jsonl --y-true correct "
        "--y-proba confidence --percent",
    )
    add = report.add_argument
    add("file", type=Path, metavar="FILE", help="CSV, TSV or JSON lines (by suffix)")
    add(
        "--y-true", metavar="COL", help="column of labels: 0/1, true/false, yes/no, ..."
    )
    add("--y-proba", metavar="COL", help="column of probabilities")
    add("--pos-label", metavar="LABEL", help="the label that the probability is of")
    add("--percent", action="store_true", help="probabilities run from 0 to 100")
    add("--groups", metavar="COL", help="rows of one group (document) are dependent")
    add("--by", metavar="COL", help="report each value of this column by itself too")
    add(
        "--skip-missing",
        action="store_true",
        help="leave out rows with an empty cell, and say how many",
    )
    add(
        "--bin-size",
        type=int,
        metavar="N",
        help="bin size of the curve (default: auto)",
    )
    add(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="LEVEL",
        help="of all intervals (default: %(default)s)",
    )
    add("--json", action="store_true", help="print JSON instead of text")
    add(
        "--output",
        type=Path,
        metavar="FIGURE",
        help="PNG, SVG or PDF to draw to (default: FILE's name with .reliability.png, "
        "in this folder; none with --json)",
    )
    add("--no-figure", action="store_true", help="draw nothing")


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
        print(f"skcalib {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
