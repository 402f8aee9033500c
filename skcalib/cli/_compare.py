"""``skcalib compare``: tests whether systems differ on the same questions."""

from __future__ import annotations

import io
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from .._errors import printable
from ..plot import SystemScoresDisplay
from ._compare_inputs import TABLE, read_inputs
from ._compare_numbers import measure
from ._compare_page import compare_page
from ._compare_text import as_csv, as_text, too_few
from ._compare_texts import measure_texts, metric_of
from ._shared import (
    DONE,
    CommandError,
    as_option,
    check_figure,
    check_files,
    check_level,
    exclude,
)

FAILED = 1


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
