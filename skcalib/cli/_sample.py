"""``skcalib sample``: draw documents to label, for ``skcalib count``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .._errors import printable
from ._blocks import Block, Heading, Line, Paragraph, Steps, as_text
from ._corpus import design_path, proposed
from ._count import check_dates
from ._runs import safe_stem
from ._sample_draw import (
    LABEL,
    Drawn,
    check_ids,
    check_new,
    draw,
    write_design,
    write_sample,
)
from ._shared import CommandError, check_files, exclude

# With fewer labels of 0 or 1, equal probabilities are better.
_FEW = 50
_RARE = 0.05


def run_sample(options: Namespace) -> None:
    """Draw the documents, write both files and say what to do with them."""
    _check_options(options)
    output = options.output or Path(f"{safe_stem(options.file)}.sample.csv")
    check_files([options.file], [("--output", output)])
    design = design_path(output)
    # The design must not replace the sample, which is beside it.
    check_files([options.file, output], [("the design", design)])
    check_new(output, design)
    drawn = draw(options)
    check_ids(drawn)
    write_sample(drawn, output)
    write_design(drawn, design)
    print(as_text(_blocks(drawn, output, design, options)))
    sys.stdout.flush()


def _check_options(options: Namespace) -> None:
    check_dates(options)
    exclude(options, ("proba", "expected"), ("proba", "sd"), ("expected", "sd"))
    exclude(options, ("strata", "date"), ("size", "equal"), ("sd", "equal"))
    if options.n < 1:
        raise CommandError(f"--n must be at least 1. Got {options.n}.")
    if options.random_state < 0:
        raise CommandError(
            f"--random-state must not be negative. Got {options.random_state}."
        )


def _blocks(
    drawn: Drawn, output: Path, design: Path, options: Namespace
) -> Iterator[Block]:
    """Yield what was drawn, what was written, and what to do with it."""
    pi, index = drawn.choice.inclusion_probability, drawn.choice.index
    yield Line(
        f"{printable(str(options.file))}: {len(index):,} of {pi.size:,} documents "
        f"drawn, with probabilities from {pi.min():.3g} to {pi.max():.3g}"
    )
    if drawn.strata is not None:
        n = np.bincount(drawn.strata[index], minlength=len(drawn.strata_names))
        n_all = np.bincount(drawn.strata, minlength=len(drawn.strata_names))
        counts = zip(drawn.strata_names, n, n_all, strict=True)
        each = [f"{name} {k} of {k_all:,}" for name, k, k_all in counts if k_all]
        yield Paragraph(f"strata: {', '.join(each)}")
    yield Heading(f"for annotators: {output}")
    yield Line(f"  they see {printable(', '.join([*drawn.shown, LABEL]))}")
    if drawn.hidden:
        yield Line(f"  they do not see {printable(', '.join(drawn.hidden))}")
    yield Line(
        f"for the count: {printable(str(design))}, with the inclusion probability of "
        "each document"
    )
    yield Steps(_steps(drawn, options))
    files = ["--labels", str(output), "--design", str(design)]
    count = proposed("count", files, drawn.model, options, id_name=drawn.id_name)
    yield Line(f"    {printable(count)}")


def _steps(drawn: Drawn, options: Namespace) -> list[str]:
    steps = []
    is_proba = drawn.model is not None and drawn.model[1]
    is_weighted = not options.equal
    if is_weighted and is_proba and drawn.mean_expected is not None:
        if options.n < _FEW:
            steps.append(
                f"Consider --equal: with fewer than {_FEW} labels of 0 or 1, equal "
                "probabilities give shorter intervals."
            )
        elif drawn.mean_expected < _RARE:
            steps.append(
                f"Consider --equal: the model expects {drawn.mean_expected:.1%} of the "
                "documents, and for rare documents equal probabilities give shorter "
                "intervals."
            )
    if is_weighted and not is_proba and options.size is None and options.sd is None:
        steps.append(
            "Consider --size: these probabilities increase with the model's expected "
            "count alone, so large documents that the model misses are seldom drawn. "
            "Name a column of sizes, such as the number of words."
        )
    what = "1 or 0 (yes or no)" if is_proba else "the count of the document"
    return [
        *steps,
        f"Let annotators fill in the column {LABEL!r}: {what}. They must label every "
        "row, and must not see what the model says. If documents are skipped, the "
        "sample is no longer random.",
        "Keep both files, and do not change the model. Then count:",
    ]
