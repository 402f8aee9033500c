"""The corrected count as one HTML page."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ._count_advice import next_steps
from ._count_text import (
    periods_in_words,
    table,
    trend_title,
    trends,
    warnings_of,
)
from ._count_words import NO_INTERVAL, headline, in_words, interval, number
from ._html import Page


def count_page(found: dict[str, Any], svg: str) -> str:
    """Return the page of a count."""
    page = Page(f"Corrected count: {found['file']}")
    page.paragraph(headline(found), "soft")
    first, *others = in_words(found)
    page.paragraph(first, "verdict")
    page.numbers(_cards(found))
    for sentence in others:
        page.paragraph(sentence)
    for sentence in warnings_of(found):
        page.paragraph(f"Warning: {sentence}")
    page.figure(svg, "Corrected counts with intervals, and counts by the model alone")
    if found["table"]:
        page.heading(periods_in_words(found))
        page.table(*table(found))
    if found["trend"]:
        title = trend_title(found)
        page.heading(title[:1].upper() + title[1:])
        page.table(*trends(found))
    page.heading("What to do now")
    for step in next_steps(found):
        page.paragraph(step)
    page.heading("How this was made")
    rows = [
        ["documents", found["file"]],
        ["labels", found["labels"] or "none"],
        [f"{found['model']['kind']} by the model", found["model"]["column"]],
        ["inclusion probabilities", found["design"]["inclusion_probability"]],
        ["strata", str(len(found["design"]["strata"]) or "none")],
        ["skcalib", __version__],
    ]
    page.table(["what", "value"], rows)
    return str(page)


def _cards(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return cards with the counts by both, labels and model, and the labels' worth."""
    said = number(found["uncorrected"], found)
    model = ("Model alone", said, NO_INTERVAL)
    if not found["n_labelled"]:
        return [model]
    alone, percent = found["labels_only"], f"{100 * found['confidence_level']:g}%"
    return [
        (
            "Corrected",
            number(found["estimate"], found),
            f"{percent} interval {interval(found, found)}",
        ),
        (
            "Labels alone",
            number(alone["estimate"], found),
            f"{percent} interval {interval(alone, found)}",
        ),
        model,
        (
            "Labels",
            f"{found['n_labelled']:,}",
            f"worth {found['equivalent_labels']:,.0f} with the model",
        ),
    ]
