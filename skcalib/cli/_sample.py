"""``skcalib sample``: draw documents to label, for ``skcalib count``."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from ._count import check_dates
from ._count_join import design_path
from ._sample_draw import draw
from ._sample_files import check_ids, check_new, write_design, write_sample
from ._sample_text import as_text
from ._shared import CommandError, check_files, exclude
from ._systems import safe_stem


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
