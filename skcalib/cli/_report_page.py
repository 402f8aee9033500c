"""The report as one HTML page."""

from __future__ import annotations

import platform
from argparse import Namespace
from importlib.metadata import version
from typing import Any

from .. import __version__
from .._results import is_open
from ._advice import error_interval, next_steps, verdict
from ._html import Page
from ._report_text import (
    by_cells,
    by_header,
    by_row,
    by_verdict,
    decision,
    judged_rows,
    judged_words,
    limits,
    pvalue_of,
)
from ._runs import System

Measured = tuple[dict[str, Any], dict[str, dict[str, Any]]]


def report_page(
    systems: list[System], found: list[Measured], svg: str | None, options: Namespace
) -> str:
    """Return the page of one or several systems."""
    level = options.confidence_level
    names = [system.name for system in systems]
    title = names[0] if len(names) == 1 else f"{len(names)} systems"
    page = Page(f"Accuracy and calibration: {title}")
    if len(systems) > 1:
        page.table(
            ["system", *by_header(f"{100 * level:g}%")],
            [[name, *by_row(w)] for name, (w, _) in zip(names, found, strict=True)],
        )
    for k, (system, (whole, by)) in enumerate(zip(systems, found, strict=True)):
        if len(systems) > 1:
            page.heading(names[k])
        _summary(page, system, whole, level)
        if svg is not None and len(systems) == 1:
            _figure(page, svg, found)
        _tables(page, system, whole, by, level)
    if svg is not None and len(systems) > 1:
        _figure(page, svg, found)
    _settings(page, systems, options)
    return str(page)


def _figure(page: Page, svg: str, found: list[Measured]) -> None:
    page.heading("Reliability")
    page.paragraph(
        "How often answers were right (vertical) for each stated probability "
        "(horizontal). On the diagonal, frequencies equal the stated probabilities."
    )
    errors = [whole["calibration_error"] for whole, _ in found]
    if any(error and is_open(error["low"]) for error in errors):
        page.paragraph(
            "In the legend, an interval that begins with (0 excludes 0, but every "
            "larger error up to its end is compatible with the data."
        )
    page.figure(svg, "Frequency of right answers against stated probability")


def _summary(page: Page, system: System, found: dict[str, Any], level: float) -> None:
    overall, error, accuracy = (
        found["overall"],
        found["calibration_error"],
        found["accuracy"],
    )
    page.paragraph(verdict(found, level), "verdict")
    percent = f"{100 * level:g}% interval"
    cards = [
        (
            "Right answers",
            f"{accuracy['estimate']:.1%}",
            f"{percent} {accuracy['low']:.1%} to {accuracy['high']:.1%}",
        )
    ]
    if error is not None:
        cards += [
            ("Mean probability", f"{overall['mean_probability']:.1%}", "stated"),
            (
                "Calibration error",
                f"{error['estimate']:.3f}",
                f"{percent} {error_interval(error)}",
            ),
        ]
    count = f"{found['n_samples']:,} samples"
    if found["n_groups"] is not None:
        count += f", {found['n_groups']:,} groups"
    cards.append(("Questions", f"{found['n']:,}", count))
    page.numbers(cards)
    if system.unanswered:
        counts = ", ".join(f"{n} {status}" for status, n in system.unanswered.items())
        page.paragraph(f"Without an answer: {counts}. {system.rule}")
    if "judged" in found:
        page.heading("Accuracy by people")
        page.table(["rate", "estimate", percent], judged_rows(found["judged"]))
        for sentence in judged_words(found["judged"]):
            page.paragraph(sentence)
    page.heading("What to do now")
    for step in next_steps(found, level):
        page.paragraph(step)


def _tables(
    page: Page, system: System, found: dict[str, Any], by: dict[str, Any], level: float
) -> None:
    percent = f"{100 * level:g}%"
    if found["regions"]:
        page.heading("Stated probabilities and frequencies")
        page.table(
            ["probability", "n", "mean", "freq.", percent, "verdict"],
            [
                [
                    limits(row),
                    str(row["n"]),
                    f"{row['mean_probability']:.3f}",
                    f"{row['frequency']:.3f}",
                    f"{row['frequency_low']:.3f} to {row['frequency_high']:.3f}",
                    row["verdict"],
                ]
                for row in found["regions"]
            ],
        )
    if by:
        page.heading(f"By {system.by_name}")
        page.table(*by_cells(str(system.by_name), by, level))
        tested = [p["p_value_adjusted"] for p in by.values()]
        tested = [p for p in tested if p is not None]
        if tested:
            n = sum(p < 1 - level for p in tested)
            page.paragraph(by_verdict(n, len(tested)))
    if found["calibration_error"] is not None:
        _errors(page, found, percent)


def _errors(page: Page, found: dict[str, Any], percent: str) -> None:
    error, bins = found["calibration_error"], found["brier"]["adaptive"]
    page.heading("Errors")
    page.table(
        ["measure", "value", "remark"],
        [
            [
                "calibration error, debiased",
                f"{error['estimate']:.4f}",
                f"{percent} interval {error_interval(error, 4)}, root mean square in "
                f"bins of {error['bin_size']}",
            ],
            [
                "calibration error, plug-in",
                f"{found['plug_in']['error']:.4f}",
                f"bins of {found['plug_in']['bin_size']}; biased upwards",
            ],
            ["ECE", f"{found['ece']:.4f}", "10 equal-width bins; biased upwards"],
            [
                "perfect calibration",
                pvalue_of(error),
                decision(error, error["confidence_level"]),
            ],
            ["Brier score", f"{bins['score']:.4f}", "lower is better"],
            [
                "Brier score: calibration part",
                f"{bins['calibration']:.4f}",
                "removable by recalibration",
            ],
            [
                "Brier score: refinement part",
                f"{bins['refinement']:.4f}",
                "the rest after recalibration",
            ],
        ],
    )


def _settings(page: Page, systems: list[System], options: Namespace) -> None:
    page.heading("Settings")
    rows = []
    for system in systems:
        evaluation = system.evaluation
        rows += [["file", file] for file in system.files]
        named = {"format": evaluation.format, "model": evaluation.model}
        named |= {"task": evaluation.task}
        rows += [[name, value] for name, value in named.items() if value]
        rows += [["note", note] for note in evaluation.notes]
    shown: tuple[str, ...] = (
        "score",
        "filter",
        "split",
        "unanswered",
        "groups",
        "labels",
        "by",
        "bin_size",
    )
    shown += ("y_true", "y_proba", "pos_label", "confidence_level")
    for name in shown:
        value = getattr(options, name)
        if value is not None:
            rows.append(["--" + name.replace("_", "-"), str(value)])
    page.table(["what", "value"], rows)
    used = ("numpy", "scipy", "scikit-learn", "matplotlib")
    versions = [f"skcalib {__version__}", f"Python {platform.python_version()}"]
    versions += [f"{package} {version(package)}" for package in used]
    page.paragraph(", ".join(versions), "soft")
