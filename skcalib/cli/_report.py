"""``skcalib report``: accuracy and calibration of answers in files."""

from __future__ import annotations

import argparse
import io
import json
import sys
import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import printable
from ..evaluation._evaluation import POLICIES
from ..evaluation._read import FORMATS
from ..plot import ReliabilityDisplay
from ._labels import HELP as LABELS_HELP
from ._report_numbers import (
    adjust_pvalues,
    measure,
    stated_values,
    with_probabilities,
)
from ._report_page import report_page
from ._report_text import as_json, as_text, systems_table
from ._runs import Answers, System, read_systems, safe_stem
from ._shared import (
    CommandError,
    as_option,
    check_figure,
    check_files,
    check_level,
    exclude,
    new_axes,
    one_group,
    save_figure,
)

DESCRIPTION = """\
Measure the accuracy and the calibration of answers: print the numbers and draw
a reliability plot.

A file is the output of an evaluation harness (lm-evaluation-harness,
inspect_ai, HELM, lighteval, HLE, simple-evals, promptfoo, deepeval, OpenAI
evals), or a table with one row per answer. One column says whether the answer
was right, and another contains the probability that it is right:

  question,correct,confidence
  capital of Peru,1,0.98
  boiling point of tin,0,0.75

Columns with usual names are found (correct, y_true, label, ...; confidence,
probability, score, ...); others are named by --y-true and --y-proba.
"""

EPILOG = """\
examples:
  skcalib report answers.csv
  skcalib report answers.jsonl --percent --by model
  skcalib report mails.tsv --y-true class --pos-label spam --y-proba p
  skcalib report samples_gsm8k_*.jsonl --filter strict-match
  skcalib report logs/*.eval --html report.html
  skcalib report judged.json --labels people.csv

The report contains the fraction of right answers with an interval, and whether
probabilities are too high or too low on average. It contains the calibration
error (root mean square distance between probability and frequency) with its
interval, a test of perfect calibration, and the Brier score with its parts. A
table has one row per tenth of the probabilities, or one row per probability if
there are at most twenty different ones. Files of one run, with one task each,
are combined in one report.
"""

# With more values of --by, the colours of the figure would repeat.
MOST_CURVES = 10


def add_report(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    report = commands.add_parser(
        "report",
        help="measure accuracy and calibration of the answers in files",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    report.set_defaults(run=run_report)
    report.add_argument(
        "file",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="output of a harness (a file, or a run folder of HELM), or a table: CSV, "
        "TSV, JSON, JSON lines, parquet",
    )
    _add_columns(report.add_argument_group("what to read of a table"))
    _add_choices(report.add_argument_group("what to read of a harness"))
    _add_measures(report.add_argument_group("how to measure"))
    _add_output(report.add_argument_group("what to write"))


def _add_columns(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--y-true", metavar="COL", help="column of 0/1, true/false, yes/no or labels")
    add("--y-proba", metavar="COL", help="column of probabilities")
    add(
        "--pos-label",
        metavar="LABEL",
        help="the label whose probability is given, if --y-true contains labels other "
        "than yes and no",
    )
    add(
        "--percent",
        action="store_true",
        help="probabilities are percentages, from 0 to 100",
    )
    add(
        "--skip-missing",
        action="store_true",
        help="leave out rows with an empty cell, and print their number",
    )


def _add_choices(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--format",
        choices=FORMATS,
        metavar="NAME",
        help="format of the files, if it is not recognised: %(choices)s",
    )
    add("--score", metavar="NAME", help="metric or scorer, if a file contains several")
    add("--filter", metavar="NAME", help="filter of lm-evaluation-harness")
    add("--split", metavar="NAME", help="split of HELM")
    add("--model", metavar="NAME", help="system, if a file contains several")
    add(
        "--unanswered",
        choices=POLICIES,
        help="refused, unparseable and failed samples count as wrong, are left out, or "
        "are left out and reported separately (default: the rule of the harness)",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--groups",
        metavar="COL",
        help="column of the document, user, ... of a row: rows of one group may "
        "depend on each other, and the interval takes this into account",
    )
    add("--by", metavar="COL", help="also report each value of this column separately")
    add("--labels", type=Path, metavar="LABELS", help=LABELS_HELP)
    add(
        "--bin-size",
        type=int,
        metavar="N",
        help="pairs per bin of the curve (default: about n to the power of 0.6; the "
        "interval uses its own bins)",
    )
    add(
        "--confidence-level",
        type=float,
        default=0.95,
        metavar="LEVEL",
        help="level of all intervals, between 0 and 1 (default: %(default)s)",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="print JSON instead of text")
    add(
        "--output",
        type=Path,
        metavar="FIGURE",
        help="PNG, SVG or PDF file for the figure (default: the name of FILE with "
        ".reliability.png, in this folder; none with --json)",
    )
    add("--no-figure", action="store_true", help="draw nothing")
    add(
        "--html",
        type=Path,
        metavar="PAGE",
        help="HTML file for a page with figure, tables and verdict",
    )


def run_report(options: Namespace) -> None:
    """Print the report on the files, then draw it and write its page."""
    _check_options(options)
    path = _figure_path(options)
    systems = read_systems(options)
    _check_used(systems, options)
    for system in systems:
        for note in system.evaluation.notes if system.is_table else ():
            print(printable(f"skcalib report: {system.file}: {note}"), file=sys.stderr)
    found = [_measured(system, options) for system in systems]
    if options.json:
        figure = None if path is None else str(path)
        objects = [
            as_json(system, whole, by, figure)
            for system, (whole, by) in zip(systems, found, strict=True)
        ]
        print(
            json.dumps(
                objects[0] if len(objects) == 1 else objects, indent=2, allow_nan=False
            )
        )
    elif len(systems) == 1:
        print(as_text(systems[0], *found[0], options))
    else:
        print(systems_table(systems, found, options.confidence_level))
    # The numbers are printed before the figure, which may fail.
    sys.stdout.flush()
    if path is not None:
        axes = _draw(_curves(systems), options)
        if axes is not None:
            save_figure(axes, path, dpi=150)
            if not options.json:
                print(f"\nfigure: {printable(str(path))}")
    if options.html is not None:
        # Many curves are not readable on a phone; the page has a table of the parts.
        answers = {system.title: system.answers for system in systems}
        svg = _as_svg(_draw(answers, options))
        options.html.write_text(report_page(systems, found, svg, options), "utf-8")
        if not options.json:
            print(f"page: {printable(str(options.html))}")


def _as_svg(axes: list[Any] | None) -> str | None:
    """Return a figure as the text of an SVG file."""
    if axes is None:
        return None
    text = io.StringIO()
    save_figure(axes, text, dpi=150, format="svg")
    return text.getvalue()


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    if options.bin_size is not None and options.bin_size < 1:
        raise CommandError(f"--bin-size must be at least 1. Got {options.bin_size}.")
    exclude(
        options,
        ("output", "no_figure"),
        ("skip_missing", "unanswered"),
        ("y_true", "score"),
    )
    check_figure(options.output, "--output")
    figure = "--output" if options.output else "the figure (--output)"
    check_files(
        [*options.file, options.labels],
        [(figure, _figure_path(options)), ("--html", options.html)],
    )


def _check_used(systems: list[System], options: Namespace) -> None:
    """Raise an error if options for tables or probabilities have nothing to act on."""
    if options.skip_missing and not any(system.is_table for system in systems):
        raise CommandError(
            "--skip-missing applies to plain tables. For files of a harness, use "
            "--unanswered drop."
        )
    if any(np.isfinite(system.answers.q).any() for system in systems):
        return
    for name in ("bin_size", "percent"):
        if getattr(options, name):
            raise CommandError(
                f"{as_option(name)} needs probabilities. {options.file[0]} has none; "
                "name their column with --y-proba."
            )


def _figure_path(options: Namespace) -> Path | None:
    """Return the path of the figure, or None for no figure."""
    if options.no_figure or (options.output is None and options.json):
        return None
    if options.output is not None:
        return options.output
    if len(options.file) > 1:
        return Path("reliability.png")
    return Path(f"{safe_stem(options.file[0])}.reliability.png")


def _measured(
    system: System, options: Namespace
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the numbers of a system, and the numbers of its parts by name."""
    answers = system.answers
    if answers.y.size < 2:
        raise CommandError(f"{system.file} must contain at least two predictions.")
    stating = with_probabilities(answers)
    stated = None if stating is None else stated_values(stating.q)
    whole = _measure_part(system, answers, None, stated, options)
    by = {
        value: _measure_part(system, part, value, stated, options)
        for value, part in answers.parts().items()
    }
    adjust_pvalues(by)
    if system.judged is not None:
        whole["judged"] = system.judged
    return whole, by


def _measure_part(
    system: System,
    part: Answers,
    value: str | None,
    stated: np.ndarray | None,
    options: Namespace,
) -> dict[str, Any]:
    """Return the numbers of a system, or of its part with a value of --by."""
    where = system.file
    if value is not None:
        where += f", {system.by_name} = {value}"
    if part.y.size < 2:
        raise CommandError(
            f"{system.file}: --by needs at least two rows of each value. Got one row "
            f"of {value!r}."
        )
    if part.groups is not None and (part.groups == part.groups[0]).all():
        raise CommandError(one_group(where, part.group_names[part.groups[0]]))
    try:
        return measure(
            part, stated, bin_size=options.bin_size, level=options.confidence_level
        )
    except ValueError as error:
        problem = getattr(error, "problem", error)
        name = getattr(error, "name", None)
        raise CommandError(
            f"{where}: " + (f"--{name} {problem}" if name == "groups" else str(problem))
        ) from None


def _curves(systems: list[System]) -> dict[str, Answers]:
    """Return the answers of each curve of the figure."""
    if len(systems) == 1:
        only = systems[0]
        return only.answers.parts() or {only.title: only.answers}
    return {system.name: system.answers for system in systems}


def _draw(parts: dict[str, Answers], options: Namespace) -> list[Any] | None:
    """Return the axes with one curve per part that has probabilities.

    If there are many parts, the largest are drawn. Return None if no part has
    probabilities.
    """
    curves = {name: with_probabilities(part) for name, part in parts.items()}
    known = {name: part for name, part in curves.items() if part is not None}
    if not known:
        return None
    largest = sorted(known, key=lambda name: -known[name].y.size)[:MOST_CURVES]
    axes = new_axes()
    for name in (name for name in known if name in largest):
        part = known[name]
        with warnings.catch_warnings():  # the report mentions few groups
            warnings.simplefilter("ignore", UserWarning)
            ReliabilityDisplay.from_predictions(
                part.y.astype(int),
                part.q,
                groups=part.dependent if part.has_two_groups else None,
                bin_size="auto" if options.bin_size is None else options.bin_size,
                confidence_level=options.confidence_level,
                name=printable(name),
                ax=axes[0],
            )
    axes[0].set_ylabel("Share that came true")
    for panel in axes[0].child_axes:
        panel.set_ylabel("Answers")
    if len(known) > MOST_CURVES:
        what = "systems" if options.by is None else f"values of {options.by!r}"
        print(
            f"skcalib report: the figure shows the {MOST_CURVES} largest of the "
            f"{len(known)} {what}.",
            file=sys.stderr,
        )
    return axes
