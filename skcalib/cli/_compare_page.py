"""A comparison as one HTML page."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ._compare_text import (
    gain_interval,
    headline,
    interval,
    legend,
    number,
    pair_in_words,
    pairs_in_words,
    pairs_table,
    pvalue,
    sections,
    signed,
    systems_table,
    warnings_of,
)
from ._html import Page

# Largest number of pairs on the page; beyond it, only pairs with the baseline.
_MOST_PAIRS = 120


def compare_page(found: dict[str, Any], svg: str | None) -> str:
    """Return the page of a comparison."""
    names = [each["name"] for each in found["systems"]]
    title = " and ".join(names) if len(names) == 2 else f"{len(names)} systems"
    page = Page(f"Comparison: {title}")
    page.paragraph(headline(found), "soft")
    if len(found["pairs"]) == 1:
        pair = found["pairs"][0]
        sentences = pair_in_words(found, pair)
        page.paragraph(sentences[0], "verdict")
        page.numbers(
            [
                *(
                    (each["name"], number(each["score"], found), interval(each, found))
                    for each in found["systems"]
                ),
                ("gain", signed(pair["gain"], found), gain_interval(pair, found)),
                ("p-value", pvalue(pair["pvalue"]), pair["method"]),
            ]
        )
        for sentence in sentences[1:]:
            page.paragraph(sentence)
    for sentence in warnings_of(found):
        page.paragraph(sentence)
    if svg is not None:
        page.figure(svg, "Score of each system with its interval")
    if len(found["pairs"]) > 1:
        page.heading("Systems")
        page.table(*systems_table(found))
        page.paragraph(legend(found), "soft")
        page.heading("Pairs")
        page.table(*pairs_table(found, _MOST_PAIRS))
        page.paragraph(pairs_in_words(found, _MOST_PAIRS), "soft")
    for title, header, rows, words in sections(found):
        page.heading(title[:1].upper() + title[1:])
        if rows:
            page.table(header, rows)
        for sentence in words:
            page.paragraph(sentence)
    page.heading("How this was made")
    files = [file for each in found["systems"] for file in each["files"]]
    made = f"skcalib {__version__}; files: {', '.join(dict.fromkeys(files))}."
    page.paragraph(made, "soft")
    for note in found["notes"]:
        page.paragraph(note, "soft")
    return str(page)
