"""The corrected count as text and as CSV."""

from __future__ import annotations

import io
from textwrap import wrap
from typing import Any

from .._errors import printable
from ._count_advice import next_steps
from ._count_words import (
    NO_INTERVAL,
    headline,
    in_words,
    interval,
    number,
    source_in_words,
)
from ._csv import write_rows
from ._report_text import columns_of


def as_text(found: dict[str, Any]) -> str:
    """Return the report on a count."""
    lines = [f"{printable(found['file'])}: {headline(found)}"]
    for sentence in (source_in_words(found), *in_words(found)):
        lines += wrap(printable(sentence), 78)
    lines += ["", *columns_of([["", *_header(found)], *totals(found)])]
    if found["table"]:
        lines += ["", periods_in_words(found), *columns_of(_joined(table(found)))]
    if found["trend"]:
        lines += ["", trend_title(found), *columns_of(_joined(trends(found)))]
    for title, sentences in (
        ("warnings", warnings_of(found)),
        ("what to do now", next_steps(found)),
    ):
        if sentences:
            lines += ["", title]
        for sentence in sentences:
            lines += wrap(
                printable(sentence), 78, initial_indent="- ", subsequent_indent="  "
            )
    return "\n".join(lines)


def _header(found: dict[str, Any]) -> list[str]:
    return [found["estimand"], f"{100 * found['confidence_level']:g}%"]


def totals(found: dict[str, Any]) -> list[list[str]]:
    """Return the corrected count, and the counts by labels and by the model alone."""
    rows = []
    if found["n_labelled"]:
        alone = found["labels_only"]
        rows = [
            ["corrected", number(found["estimate"], found), interval(found, found)],
            ["labels alone", number(alone["estimate"], found), interval(alone, found)],
        ]
    said = number(found["uncorrected"], found)
    return [*rows, ["model alone, uncorrected", said, NO_INTERVAL]]


def periods_in_words(found: dict[str, Any]) -> str:
    """Return how many rows the table has, and how many without a label."""
    rows = found["table"]
    what = "row" if found["freq"] is None or found["by"] is not None else "period"
    empty = sum(not row["n_labelled"] for row in rows)
    text = f"{len(rows)} {what}{'s' * (len(rows) != 1)}, {empty} without a label"
    n_empty = found["n_periods_without_documents"]
    if n_empty:
        have = "period has" if n_empty == 1 else "periods have"
        text += f"; {n_empty} {have} no document"
    return text


def table(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of periods and groups."""
    keys = [key for key in ("period", "by") if key in found["table"][0]]
    names = [found["freq"] if key == "period" else found["by"] for key in keys]
    header = [*map(str, names), "documents", "labels", *_header(found), "model alone"]
    rows = [
        [
            *(str(row[key]) for key in keys),
            f"{row['n_documents']:,}",
            f"{row['n_labelled']:,}",
            number(row["estimate"], found),
            interval(row, found) or "none",
            number(row["uncorrected"], found),
        ]
        for row in found["table"]
    ]
    return header, rows


def trend_title(found: dict[str, Any]) -> str:
    """Return the definition of the trend."""
    what = "mean" if found["estimand"] == "mean" else "count"
    return f"trend: change of the {what} per {found['freq']}, least squares"


def trends(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of trends."""
    percent = f"{100 * found['confidence_level']:g}%"
    rows = [
        [
            "all" if each["by"] is None else each["by"],
            f"{each['estimate']:+.3g}",
            f"{each['low']:+.3g} to {each['high']:+.3g}",
            f"{each['uncorrected']:+.3g}",
            trend_verdict(each),
        ]
        for each in found["trend"]
    ]
    return [found["by"] or "corpus", "trend", percent, "model alone", "verdict"], rows


def trend_verdict(each: dict[str, Any]) -> str:
    """Return the direction that an interval shows."""
    if each["low"] > 0:
        return "rises"
    return "falls" if each["high"] < 0 else "not shown"


def _joined(parts: tuple[list[str], list[list[str]]]) -> list[list[str]]:
    header, rows = parts
    return [header, *rows]


def warnings_of(found: dict[str, Any]) -> list[str]:
    """Return warnings, notes, and rows without an interval, as sentences."""
    sentences = [*found["warnings"], *found["notes"]]
    empty = sum(not row["n_labelled"] for row in found["table"] or [])
    if empty:
        sentences.append(
            f"{empty} of {len(found['table'])} rows have no labelled document. Their "
            "estimate uses the mean error of the whole corpus, and they have no "
            "interval."
        )
    return sentences


def as_csv(found: dict[str, Any]) -> str:
    """Return a row for each period and group, or one row for the corpus."""
    keys = ("period", "by") if found["table"] else ()
    rows = found["table"] or [found]
    names = [key for key in keys if key in rows[0]]
    names += ["estimate", "low", "high", "standard_error", "uncorrected"]
    names += ["n_documents", "n_labelled"]
    text = io.StringIO()
    write_rows(text, [names, *([row.get(name) for name in names] for row in rows)])
    return text.getvalue()
