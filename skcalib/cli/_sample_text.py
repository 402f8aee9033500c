"""What was drawn, and what to do with it, as text."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from textwrap import wrap

import numpy as np

from .._errors import printable
from ._sample_draw import LABEL, Drawn

# With fewer labels of 0 or 1, equal probabilities are better.
_FEW = 50
_RARE = 0.05


def as_text(drawn: Drawn, output: Path, design: Path, options: Namespace) -> str:
    """Return what was drawn, what was written, and what to do with it."""
    pi, index = drawn.choice.inclusion_probability, drawn.choice.index
    lines = [
        f"{printable(str(options.file))}: {len(index):,} of {pi.size:,} documents "
        f"drawn, with probabilities from {pi.min():.3g} to {pi.max():.3g}"
    ]
    if drawn.strata is not None:
        held = np.bincount(drawn.strata[index], minlength=len(drawn.strata_names))
        all_of = np.bincount(drawn.strata, minlength=len(drawn.strata_names))
        each = [
            f"{name} {n} of {n_all:,}"
            for name, n, n_all in zip(drawn.strata_names, held, all_of, strict=True)
            if n_all
        ]
        lines += wrap(printable(f"strata: {', '.join(each)}"), 78)
    lines += [
        "",
        f"for annotators: {printable(str(output))}",
        f"  they see {printable(', '.join([*drawn.shown, LABEL]))}",
    ]
    if drawn.hidden:
        lines.append(f"  they do not see {printable(', '.join(drawn.hidden))}")
    lines += [
        f"for the count: {printable(str(design))}, with the inclusion probability of "
        "each document",
        "",
        "what to do now",
    ]
    for step in _steps(drawn, options):
        lines += wrap(printable(step), 78, initial_indent="- ", subsequent_indent="  ")
    lines.append(f"    {printable(_command(drawn, output, design, options))}")
    return "\n".join(lines)


def _steps(drawn: Drawn, options: Namespace) -> list[str]:
    steps = []
    is_proba = drawn.model is not None and drawn.model[1]
    is_weighted = not options.equal and (options.mix or 0.5) < 1
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
    what = "1 or 0 (yes or no)" if is_proba else "the count of the document"
    steps += [
        f"Let annotators fill in the column {LABEL!r}: {what}. They must label every "
        "row, and must not see what the model says. If documents are skipped, the "
        "sample is no longer random.",
        "Keep both files, and do not change the model. Then count:",
    ]
    return steps


def _command(drawn: Drawn, output: Path, design: Path, options: Namespace) -> str:
    """Return the command that counts with the labels."""
    words = ["skcalib", "count", str(options.file), "--labels", str(output)]
    words += ["--design", str(design), "--id", drawn.id_name]
    if drawn.model is not None:
        words += ["--proba" if drawn.model[1] else "--expected", drawn.model[0]]
    else:
        words += ["--proba", "COL"]
    words += ["--percent"] * bool(options.percent)
    for name in ("date", "freq", "date_format"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name}".replace("_", "-"), value]
    return shlex.join(words)
