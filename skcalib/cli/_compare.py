"""``skcalib compare``: tests whether systems differ on the same questions."""

from __future__ import annotations

import argparse
import io
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from .._errors import printable
from ..evaluation._evaluation import POLICIES
from ..evaluation._read import FORMATS
from ..plot import SystemScoresDisplay
from ._compare_numbers import measure
from ._compare_page import compare_page
from ._compare_text import as_csv, as_text, too_few
from ._compare_texts import METRICS, measure_texts, metric_of
from ._labels import HELP as LABELS_HELP
from ._runs import TABLE, read_inputs
from ._shared import (
    DONE,
    CommandError,
    as_option,
    check_figure,
    check_files,
    check_level,
    exclude,
)

DESCRIPTION = """\
Compare systems on the same questions. The output contains scores with
intervals, the gain of each later file over each earlier one, an exact test,
and a verdict.

A file is the output of an evaluation harness, a folder of such files (one per
task), or a table. A table may have one column of scores per system:

  question,small,large
  capital of Peru,1,1
  boiling point of tin,0,1

The first system is the baseline. Questions are matched by their names or hashes,
never by their position.
"""

EPILOG = """\
examples:
  skcalib compare old.jsonl new.jsonl
  skcalib compare runs/base runs/tuned --groups subject --html compare.html
  skcalib compare scores.csv --by subject
  skcalib compare answers.csv --gold answer --missing drop
  skcalib compare old.eval new.eval --margin 0.02 --fail-if inferior
  skcalib compare old.eval new.eval --pass-at 4 --power 0.03
  skcalib compare old.json new.json --labels people.csv
  skcalib compare a.txt b.txt c.txt --metric bleu --reference ref.txt

exit status:
  0  the comparison was made
  1  the condition of --fail-if is met
  2  invalid arguments, or files that cannot be read or do not match
The status does not depend on whether the reader of a pipe closes it early.
"""

CONDITIONS = ("worse", "not-better", "inferior")
FAILED = 1


def add_compare(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    compare = commands.add_parser(
        "compare",
        help="compare systems on the same questions",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    compare.set_defaults(run=run_compare)
    compare.add_argument(
        "file",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="output of a harness for one system, a folder of such files, or a table; "
        "the first system is the baseline",
    )
    _add_reading(compare.add_argument_group("what to read"))
    _add_matching(compare.add_argument_group("how to match questions"))
    _add_measures(compare.add_argument_group("how to compare"))
    _add_output(compare.add_argument_group("what to write"))


def _add_reading(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--question", metavar="COL", help="column of a table that names the question")
    add(
        "--system-column",
        metavar="COL",
        help="column of a table that names the system of each row",
    )
    add(
        "--systems",
        type=_names,
        metavar="A,B,...",
        help="systems to compare, or columns of a table, in this order",
    )
    add(
        "--gold",
        metavar="COL",
        help="column of right answers, if the columns of the systems contain answers",
    )
    add(
        "--pos-label",
        metavar="LABEL",
        help="label in the score column that counts as right",
    )
    add("--format", choices=FORMATS, metavar="NAME", help="one of %(choices)s")
    add("--score", metavar="NAME", help="metric, scorer, or column of the score")
    add("--filter", metavar="NAME", help="filter of lm-evaluation-harness")
    add("--split", metavar="NAME", help="split of HELM")
    add("--model", metavar="NAME", help="system, if the files contain several")
    add(
        "--unanswered",
        choices=POLICIES,
        help="scoring of refused, unparseable and failed samples (default: the rule "
        "of the harness)",
    )


def _add_matching(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--missing",
        choices=("error", "drop"),
        default="error",
        help="treatment of questions that not all systems have (default: %(default)s)",
    )
    add(
        "--duplicates",
        choices=("error", "mean", "drop"),
        default="error",
        help="treatment of questions with several rows, if most have one (default: "
        "%(default)s)",
    )
    add(
        "--mismatch",
        choices=("error", "drop", "keep"),
        default="error",
        help="treatment of questions with different right answers or prompts "
        "(default: %(default)s)",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--groups",
        metavar="COL",
        help="column of the passage, document, ... of a question: answers of one "
        "group may depend on each other, and tests and intervals take this into "
        "account. For --metric: a file with one label per sentence, or "
        "'document' for documents that begin with -DOCSTART- lines",
    )
    add(
        "--metric",
        choices=METRICS,
        help="f1: entities of files with one token per line and tags in the last "
        "column; bleu, chrf, ter: plain lines (default: scores of questions, or "
        "f1 if every line ends in a tag)",
    )
    add(
        "--reference",
        type=Path,
        metavar="FILE",
        help="references, one line per sentence; for f1, a file with the gold tags "
        "(default: the last column but one)",
    )
    add(
        "--by",
        metavar="COL",
        help="also compare the systems for each value of this column; with --metric, a "
        "file or 'document', as for --groups",
    )
    add(
        "--labels",
        type=Path,
        action="append",
        metavar="LABELS",
        help=f"{LABELS_HELP}. The file must have a column system or a column of scores "
        "for each system; or repeat --labels, once per system in their order",
    )
    add("--pass-at", type=int, metavar="K", help="compare pass@K (any of K is right)")
    add("--pass-all", type=int, metavar="K", help="compare pass^K (all K are right)")
    add("--best-of", type=int, metavar="K", help="compare the best score of K samples")
    add(
        "--margin",
        type=float,
        metavar="D",
        help="test whether a later system is worse by less than D, and whether both "
        "are equivalent",
    )
    add(
        "--power",
        type=_gain,
        nargs="?",
        const=True,
        metavar="D",
        help="print the gain that these questions detect with 80%% power, and the "
        "number of questions needed to detect a gain of D; without D, after the files",
    )
    add(
        "--adjust",
        choices=("holm", "bh", "none"),
        default="holm",
        help="correction of p-values for the number of pairs (default: %(default)s)",
    )
    add(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="LEVEL",
        help="level of all intervals; tests use 1 - LEVEL (default: %(default)s)",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="print JSON instead of text")
    add("--csv", action="store_true", help="print one row per pair as CSV")
    add(
        "--output",
        type=Path,
        metavar="FIGURE",
        help="PNG, SVG or PDF file for the figure",
    )
    add("--html", type=Path, metavar="PAGE", help="HTML file for the page")
    add(
        "--fail-if",
        choices=CONDITIONS,
        help="exit with status 1 if any later system is significantly worse than the "
        "baseline (worse), is not significantly better (not-better), or is not shown "
        "to be worse by less than the margin (inferior); with --labels, the interval "
        "of the corrected gain decides",
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _gain(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "must be followed by a gain D, such as 0.02, or stand after the files. "
            f"Got {text!r}"
        ) from None


def run_compare(options: Namespace) -> int:
    """Print the comparison, draw it and write its page; return the exit status."""
    _check_options(options)
    metric = metric_of(options)
    if metric is None and options.reference is not None:
        raise CommandError(
            "--reference needs --metric: bleu, chrf or ter for files of plain lines, "
            "f1 for files with one token per line and tags in the last column."
        )
    if metric is None:
        inputs = read_inputs(options)
        _check_used(inputs.formats, options)
        found = measure(inputs, options)
    else:
        found = measure_texts(metric, options)
    failed = fails(found, options.fail_if) if options.fail_if else []
    if options.fail_if:
        found["fail_if"] = {"condition": options.fail_if, "systems": failed}
    _print(found, options)
    if options.output is not None:
        figure = draw(found)
        figure.savefig(options.output, dpi=150, bbox_inches="tight")
    if options.html is not None:
        text = io.StringIO()
        draw(found).savefig(text, format="svg", bbox_inches="tight")
        options.html.write_text(compare_page(found, text.getvalue()), "utf-8")
    return _status(found, failed, options.fail_if)


def _print(found: dict[str, Any], options: Namespace) -> None:
    if options.json:
        print(json.dumps(found, indent=2, allow_nan=False))
    elif options.csv:
        print(as_csv(found), end="")
    else:
        print(as_text(found))
    sys.stdout.flush()


def _status(found: dict[str, Any], failed: list[str], condition: str | None) -> int:
    """Return the exit status, and print why the condition is met or cannot be met."""
    words = []
    if failed:
        words = [", ".join(failed)]
    elif condition == "worse" and "judged" not in found:
        words = [f"not met. {sentence}" for sentence in too_few(found)]
    for each in words:
        print(printable(f"skcalib compare: {condition}: {each}"), file=sys.stderr)
    return FAILED if failed else DONE


def fails(found: dict[str, Any], condition: str) -> list[str]:
    """Return the later systems that meet a condition of --fail-if."""
    if "judged" in found:
        return _fails_by_labels(found, condition)
    alpha = 1 - found["confidence_level"]
    sign = -1 if found.get("lower_is_better") else 1
    failed = []
    for pair in found["pairs"]:
        if pair["a"] != found["baseline"]:
            continue
        significant = pair["pvalue_adjusted"] <= alpha
        met = {
            "worse": significant and sign * pair["gain"] < 0,
            "not-better": not (significant and sign * pair["gain"] > 0),
            "inferior": not pair.get("is_noninferior", True),
        }
        if met[condition]:
            failed.append(pair["b"])
    return failed


def _fails_by_labels(found: dict[str, Any], condition: str) -> list[str]:
    """Return the later systems whose corrected gain meets the condition."""
    margin = found["pairs"][0].get("margin", 0.0)
    return [
        pair["b"]
        for pair in found["judged"]
        if pair["a"] == found["baseline"]
        and {
            "worse": pair["high"] < 0,
            "not-better": pair["low"] <= 0,
            "inferior": pair["low"] <= -margin,
        }[condition]
    ]


def draw(found: dict[str, Any]) -> Any:
    """Return a figure of the scores of all systems."""
    from matplotlib.figure import Figure

    systems = found["systems"]
    height = max(1.8, 0.32 * len(systems) + 1.1)
    axes = Figure(figsize=(6.4, height), layout="constrained").subplots()
    display = SystemScoresDisplay(
        names=[printable(each["name"]) for each in systems],
        score=[each["score"] for each in systems],
        low=[each["low"] for each in systems],
        high=[each["high"] for each in systems],
        not_separated=[list(map(printable, g)) for g in found["not_separated"]],
        metric=found["metric"],
        confidence_level=found["confidence_level"],
    )
    return display.plot(axes).figure_


def _check_options(options: Namespace) -> None:
    _check_numbers(options)
    if options.fail_if == "inferior" and options.margin is None:
        raise CommandError(
            "--fail-if inferior needs --margin D, the largest loss that is "
            "considered irrelevant."
        )
    exclude(options, ("json", "csv"), ("pass_at", "pass_all"))
    exclude(options, ("pass_at", "best_of"), ("pass_all", "best_of"))
    if options.csv and options.html is None:
        exclude(options, ("csv", "by"), ("csv", "power"))
    if len({path.resolve() for path in options.file}) < len(options.file):
        raise CommandError("compare needs different files. Got one of them twice.")
    check_figure(options.output, "--output")
    # With --metric, --groups and --by may be files.
    labels = [Path(name) for name in (options.groups, options.by) if name is not None]
    check_files(
        [*options.file, *(options.labels or ()), options.reference, *labels],
        [("--output", options.output), ("--html", options.html)],
    )


# Options that choose columns or rows of a plain table.
_OF_TABLES = ("question", "system_column", "systems", "gold", "pos_label")


def _check_used(formats: list[str], options: Namespace) -> None:
    """Raise an error if options for plain tables are given without a table."""
    if TABLE in formats:
        return
    for name in _OF_TABLES:
        if getattr(options, name) is not None:
            raise CommandError(
                f"{as_option(name)} applies to plain tables. The files are read as "
                f"files of {', '.join(formats)}."
            )


def _check_numbers(options: Namespace) -> None:
    check_level(options.confidence_level)
    for name in ("margin", "power"):
        value = getattr(options, name)
        if value is not None and not 0 < value < 100:
            raise CommandError(
                f"--{name} must be above 0 and below 100, for example 0.02. Got "
                f"{value:g}."
            )
