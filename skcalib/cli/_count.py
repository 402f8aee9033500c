"""``skcalib count``: a count in a corpus, corrected by labelled documents."""

from __future__ import annotations

import argparse
import io
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import printable
from .._periods import EMPTY_PERIODS, FREQS
from ._corpus import Corpus, read_corpus
from ._count_figure import MOST_LINES, draw, groups_of
from ._count_numbers import measure
from ._count_page import count_page
from ._count_text import as_csv, as_text
from ._shared import (
    CommandError,
    as_option,
    check_figure,
    check_files,
    check_level,
    exclude,
)

DESCRIPTION = """\
Count documents or events in a corpus, with an interval that is valid even if
the model is wrong.

A model gives each document a probability or an expected count. The sum of
these numbers has the errors of the model. Labels of a random sample of
documents correct the sum:

  id,date,p,label
  d1,2020-01-07,0.93,1
  d2,2020-01-09,0.12,
  d3,2020-02-01,0.40,0

The cell of a document without a label is empty. 'skcalib sample' draws the
documents to label.
"""

EPILOG = """\
examples:
  skcalib count docs.csv --labels docs.sample.csv --design docs.design.csv
  skcalib count docs.csv --label event --proba p
  skcalib count docs.csv --label victims --expected n --date date --freq year --trend
  skcalib count docs.csv --by newspaper --mean --html count.html

Columns with usual names are found (label, y_true, gold, ...; p, proba,
probability, ...; expected; inclusion_probability; id, doc_id, ...). Labels of
another file are joined by the ids of documents, never by position.
"""


def add_count(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    count = commands.add_parser(
        "count",
        help="count in a corpus, corrected by labelled documents",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    count.set_defaults(run=run_count)
    count.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="corpus with one row per document: CSV, TSV, JSON, JSON lines, parquet",
    )
    _add_columns(count.add_argument_group("what to read"))
    _add_design(count.add_argument_group("how documents were drawn"))
    _add_measures(count.add_argument_group("what to count"))
    _add_output(count.add_argument_group("what to write"))


def _add_columns(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--label",
        metavar="COL",
        help="column of labels: 1/0, yes/no or counts, empty for no label",
    )
    add(
        "--labels",
        type=Path,
        metavar="LABELS",
        help="file of labels, with the ids of documents and a column of labels",
    )
    add("--pos-label", metavar="LABEL", help="label that counts as 1 (others: 0)")
    add("--id", metavar="COL", help="column of document ids, in both files")
    add_model(group)
    add(
        "--size",
        metavar="COL",
        help="column of sizes (tokens, mentions), if counts and errors grow with them",
    )


def add_model(group: argparse._ArgumentGroup) -> None:
    """Add the options that name the column of the model."""
    add = group.add_argument
    add("--proba", metavar="COL", help="column of the model's probabilities")
    add("--expected", metavar="COL", help="column of the model's expected counts")
    add("--percent", action="store_true", help="probabilities are percentages")


def add_dates(group: argparse._ArgumentGroup) -> None:
    """Add the options that divide the corpus into periods."""
    add = group.add_argument
    add("--date", metavar="COL", help="column of dates, for periods")
    add("--freq", choices=FREQS, help="length of a period (default: year)")
    add(
        "--date-format",
        metavar="FORMAT",
        help="format of the dates, such as %%d.%%m.%%Y (default: 2024-05-31, 2024-05, "
        "2024Q2 or 2024)",
    )


def _add_design(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--design",
        type=Path,
        metavar="DESIGN",
        help="file of inclusion probabilities that 'skcalib sample' wrote",
    )
    add(
        "--inclusion",
        metavar="COL",
        help="column of inclusion probabilities, for all documents (default: equal)",
    )
    add("--strata", metavar="COL", help="column of the strata of the draw")
    add(
        "--groups",
        metavar="COL",
        help="column of groups that were drawn as a whole, such as newspapers",
    )
    add(
        "--missing",
        choices=("error", "drop"),
        default="error",
        help="treatment of drawn documents without a label (default: %(default)s)",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add_dates(group)
    add("--by", metavar="COL", help="also count each value of this column separately")
    add("--trend", action="store_true", help="change of the count per period")
    add(
        "--empty-periods",
        choices=EMPTY_PERIODS,
        help="periods without documents in the trend: a count of 0, or left out "
        "(default: zero)",
    )
    add(
        "--mean",
        action="store_true",
        help="estimate the share of documents, or the mean per document, not the total",
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
    add("--csv", type=Path, metavar="TABLE", help="CSV to write the table to")
    add(
        "--figure",
        type=Path,
        metavar="FIGURE",
        help="PNG, SVG or PDF file for the figure",
    )
    add("--html", type=Path, metavar="PAGE", help="HTML file for the page")


def run_count(options: Namespace) -> None:
    """Print the count, write its table, draw it and write its page."""
    _check_options(options)
    corpus = read_corpus(options)
    _check_used(corpus, options)
    found = measure(corpus, options)
    if options.json:
        print(json.dumps(found, indent=2, allow_nan=False))
    else:
        print(as_text(found))
    sys.stdout.flush()
    written = []
    if options.csv is not None:
        options.csv.write_text(as_csv(found), "utf-8")
        written.append(("table", options.csv))
    if options.figure is not None or options.html is not None:
        _say_what_is_drawn(found)
    if options.figure is not None:
        draw(found).savefig(options.figure, dpi=150)
        written.append(("figure", options.figure))
    if options.html is not None:
        svg = io.StringIO()
        draw(found).savefig(svg, format="svg")
        options.html.write_text(count_page(found, svg.getvalue()), "utf-8")
        written.append(("page", options.html))
    if written and not options.json:
        lines = [f"{what}: {printable(str(path))}" for what, path in written]
        print("\n" + "\n".join(lines))


def _say_what_is_drawn(found: dict[str, Any]) -> None:
    n = len(groups_of(found)) if found["table"] else 0
    if n > MOST_LINES and "period" in found["table"][0]:
        print(
            f"skcalib count: the figure shows the {MOST_LINES} largest of the {n} "
            f"values of {printable(found['by'])!r}.",
            file=sys.stderr,
        )


def check_dates(options: Namespace) -> None:
    """Raise if options of dates are given without dates; set the default of --freq."""
    if options.date is None:
        for name in ("freq", "date_format"):
            if getattr(options, name) is not None:
                raise CommandError(
                    f"{as_option(name)} needs --date COL, the column of dates."
                )
    elif options.freq is None:
        options.freq = "year"


# Options that act on the labels, or on the correction by them.
_OF_LABELS = (
    *("pos_label", "inclusion", "strata", "groups", "size"),
    *("date", "by", "trend"),
)


def _check_used(corpus: Corpus, options: Namespace) -> None:
    """Raise an error if options have nothing to act on."""
    if options.percent and not corpus.is_proba:
        raise CommandError(
            "--percent needs probabilities. Name their column with --proba."
        )
    if corpus.n_drawn is not None or not np.isnan(corpus.label).all():
        return
    for name in _OF_LABELS:
        if getattr(options, name):
            raise CommandError(
                f"{corpus.path}: {as_option(name)} needs labels, and no document has "
                "one. Without labels, only the sum of the model is known. Name their "
                "column with --label, or their file with --labels."
            )


def _check_options(options: Namespace) -> None:
    check_level(options.confidence_level)
    check_dates(options)
    exclude(options, ("proba", "expected"), ("design", "inclusion"))
    exclude(options, ("percent", "expected"))
    if options.trend and options.date is None:
        raise CommandError("--trend needs --date COL, the column of dates.")
    if options.empty_periods is not None and (options.mean or not options.trend):
        raise CommandError(
            "--empty-periods applies to --trend of counts. Periods without documents "
            "have no mean."
        )
    for name in ("groups", "strata"):
        if options.design is not None and getattr(options, name) is not None:
            raise CommandError(
                f"--{name} does not apply with --design, which says how 'skcalib "
                "sample' drew the documents."
            )
    if options.missing == "drop" and options.labels is None and options.design is None:
        raise CommandError(
            "--missing drop needs --labels or --design, which say what was drawn."
        )
    check_figure(options.figure, "--figure")
    check_files(
        [options.file, options.labels, options.design],
        [
            ("--csv", options.csv),
            ("--figure", options.figure),
            ("--html", options.html),
        ],
    )
