"""``skcalib sample``: draw documents to label, for ``skcalib count``."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from pathlib import Path

from ._corpus import design_path
from ._count import add_dates, add_model, check_dates
from ._runs import safe_stem
from ._sample_draw import check_ids, check_new, draw, write_design, write_sample
from ._sample_text import as_text
from ._shared import CommandError, check_files, exclude

DESCRIPTION = """\
Draw documents to label at random, with higher probabilities for documents
about which the model is uncertain. Two files are written. The file for
annotators contains the drawn documents with an empty column 'label', without
the numbers of the model. The file for 'skcalib count' contains the inclusion
probability of every document of the corpus.
"""

EPILOG = """\
examples:
  skcalib sample docs.csv --n 100 --proba p
  skcalib sample docs.csv --n 100 --proba p --date date --freq quarter
  skcalib sample docs.csv --n 60 --expected victims --strata newspaper
  skcalib sample docs.csv --n 40 --equal --columns id,text

Without --equal, half of the probability is spread evenly (--mix), because a
model may be confident and wrong. Equal probabilities are better for fewer than
50 labels and for rare documents.
"""


def add_sample(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    sample = commands.add_parser(
        "sample",
        help="draw documents to label, for a corrected count",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    sample.set_defaults(run=run_sample)
    sample.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="corpus with one row per document: CSV, TSV, JSON, JSON lines, parquet",
    )
    _add_reading(sample.add_argument_group("what to read"))
    _add_drawing(sample.add_argument_group("how to draw"))
    _add_output(sample.add_argument_group("what to write"))


def _add_reading(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--id", metavar="COL", help="column of document ids")
    add_model(group)
    add(
        "--sd",
        metavar="COL",
        help="column of standard deviations of the model's counts",
    )
    add("--size", metavar="COL", help="draw in proportion to this column of sizes")


def _add_drawing(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--n", type=int, required=True, help="number of documents to label")
    add("--strata", metavar="COL", help="column of strata; each gets at least 2 draws")
    add_dates(group)
    add(
        "--mix",
        type=float,
        metavar="SHARE",
        help="share of the inclusion probabilities that is equal for all documents, "
        "whatever the model says (default: 0.5)",
    )
    add("--equal", action="store_true", help="equal probabilities, as --mix 1")
    add(
        "--random-state",
        type=int,
        default=0,
        metavar="SEED",
        help="seed of the draw (default: %(default)s)",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--columns",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        metavar="A,B,...",
        help="columns that annotators see (default: all except columns of the model "
        "and of labels)",
    )
    add(
        "--output",
        type=Path,
        metavar="SAMPLE",
        help="CSV or TSV of the drawn documents (default: FILE's name with "
        ".sample.csv, in this folder); the design is written beside it as .design.csv",
    )


def run_sample(options: Namespace) -> None:
    """Draw the documents, write both files and say what to do with them."""
    _check_options(options)
    output = options.output or Path(f"{safe_stem(options.file)}.sample.csv")
    check_files([options.file], [("--output", output)])
    design = design_path(output)
    check_files([options.file, output], [("the design", design)])
    check_new(output, design)
    drawn = draw(options)
    if options.percent and (drawn.model is None or not drawn.model[1]):
        raise CommandError(
            "--percent needs probabilities. Name their column with --proba."
        )
    check_ids(drawn)
    write_sample(drawn, output)
    write_design(drawn, design)
    print(as_text(drawn, output, design, options))
    sys.stdout.flush()


def _check_options(options: Namespace) -> None:
    check_dates(options)
    exclude(options, ("proba", "expected"), ("proba", "sd"), ("expected", "sd"))
    exclude(options, ("size", "sd"), ("strata", "date"), ("percent", "expected"))
    exclude(options, ("mix", "equal"), ("size", "equal"), ("sd", "equal"))
    if options.mix is not None and not 0 < options.mix <= 1:
        raise CommandError(f"--mix must be above 0 and at most 1. Got {options.mix!r}.")
    if options.n < 1:
        raise CommandError(f"--n must be at least 1. Got {options.n}.")
    if options.random_state < 0:
        raise CommandError(
            f"--random-state must not be negative. Got {options.random_state}."
        )
