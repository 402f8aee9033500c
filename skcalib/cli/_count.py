"""``skcalib count``: a count in a corpus, corrected by labelled documents."""

from __future__ import annotations

import io
import json
import sys
from argparse import Namespace
from typing import Any

import numpy as np

from .._errors import printable
from ._count_corpus import Corpus
from ._count_figure import MOST_LINES, draw, groups_of
from ._count_inputs import read_corpus
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
