"""What to do after a count, and how to quote it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from ._corpus import design_path
from ._count_words import interval, number
from ._runs import safe_stem

# If a warning contains one of these phrases, the interval may be invalid.
_DOUBTS = ("do not look like a sample", "interval is not valid", "add up to")

# Number of labels of 0 or 1 from which a model usually improves on labels alone.
_FEW_LABELS = 50


def next_steps(found: dict[str, Any]) -> list[str]:
    """Return what to do now, a sentence or two each."""
    if not found["n_labelled"]:
        return _how_to_label(found)
    steps = []
    empty = [row for row in found["table"] or [] if not row["n_labelled"]]
    if empty and found["freq"] is not None:
        date = f"--date {shlex.quote(found['date'])} --freq {found['freq']}"
        steps.append(
            "For an interval in each period, draw within periods: "
            f"{sample_command(found, max(100, found['n_labelled']))} {date}"
        )
    steps += _how_many_more(found)
    steps += _how_to_quote(found)
    return steps


def _how_to_label(found: dict[str, Any]) -> list[str]:
    """Return how to count with a sample that lies here, or else how to draw one."""
    sample = Path(f"{safe_stem(Path(found['file']))}.sample.csv")
    design = design_path(sample)
    if sample.exists() and design.exists():
        return [
            f"{sample} and {design} are in this folder and are not used. Count with "
            f"the labels: {_command('count', found)} {_model_option(found)} --labels "
            f"{shlex.quote(str(sample))} --design {shlex.quote(str(design))}"
        ]
    return [
        "Draw documents to label at random: "
        f"{sample_command(found, min(100, found['n_documents']))}",
        "If documents have labels already, name their column with --label, or their "
        "file with --labels.",
    ]


def _command(name: str, found: dict[str, Any]) -> str:
    return f"skcalib {name} {shlex.quote(found['file'])}"


def _model_option(found: dict[str, Any]) -> str:
    kind = "proba" if found["model"]["kind"] == "probability" else "expected"
    return f"--{kind} {shlex.quote(found['model']['column'])}"


def sample_command(found: dict[str, Any], n: int) -> str:
    """Return the command that draws documents of the file."""
    return f"{_command('sample', found)} --n {n} {_model_option(found)}"


def _how_many_more(found: dict[str, Any]) -> list[str]:
    n, n_all = found["n_labelled"], found["n_documents"]
    if n == n_all:
        return [
            "All documents have a label. If nobody labelled some of them, leave their "
            "cells empty: a 0 is a label."
        ]
    # The variance of n of N documents is proportional to 1 / n - 1 / N.
    needed = round(1 / (1 / n_all + (1 / n - 1 / n_all) / 4))
    steps = [
        f"To halve the width of the interval, label about {needed - n:,} more "
        f"documents: {needed:,} of {n_all:,} in all. Choose the number before you see "
        "the interval; do not stop when it is narrow enough."
    ]
    if found["equivalent_labels"] < n:
        steps.append(
            f"The model makes the interval wider: with the model, {n:,} labels are "
            f"worth {found['equivalent_labels']:,.0f}. "
            + (
                f"This is usual with fewer than {_FEW_LABELS} labels."
                if n < _FEW_LABELS
                else "The model's numbers are hardly correlated with the labels."
            )
        )
    return steps


def _how_to_quote(found: dict[str, Any]) -> list[str]:
    if found["n_labelled"] == found["n_documents"]:
        return []
    if any(doubt in each for each in found["warnings"] for doubt in _DOUBTS):
        return [
            "Do not quote the interval before the warnings are resolved: it is valid "
            "only if the documents were drawn at random, as the options state."
        ]
    percent = f"{100 * found['confidence_level']:g}%"
    what = "documents" if found["model"]["kind"] == "probability" else "in all"
    estimate = number(found["estimate"], found)
    if found["estimand"] == "mean":
        what = "of the documents" if what == "documents" else "per document"
    drawn = (
        "at random"
        if found["design"]["inclusion_probability"] == "equal"
        else "at random with known probabilities"
    )
    return [
        f"Quote: {estimate} {what} ({percent} interval {interval(found, found)}); the "
        f"model's sum, corrected by {found['n_labelled']:,} of "
        f"{found['n_documents']:,} documents that were drawn {drawn} and labelled by "
        "hand."
    ]
