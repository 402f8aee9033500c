"""Sentences and numbers that the text, the page and the advice share."""

from __future__ import annotations

from typing import Any

NO_INTERVAL = "no valid interval"


def estimand_in_words(found: dict[str, Any]) -> str:
    """Return what is estimated."""
    if found["estimand"] != "mean":
        return "count"
    is_share = found["model"]["kind"] == "probability"
    return "share of documents" if is_share else "mean per document"


def headline(found: dict[str, Any]) -> str:
    """Return how many documents there are, and how many have labels."""
    n, n_all = found["n_labelled"], found["n_documents"]
    text = f"{n_all:,} documents, {n:,} with a label"
    if found.get("n_groups") is not None:
        text += f" in {found['n_groups']:,} groups"
    return text


def source_in_words(found: dict[str, Any]) -> str:
    """Return which columns and files were read, since columns may be guessed."""
    model, design = found["model"], found["design"]
    text = f"model: {model['kind']} in column {model['column']!r}"
    if not found["n_labelled"]:
        return text
    text += f"; labels: {found['labels']}; inclusion probabilities: "
    text += design["inclusion_probability"]
    n_strata = len(design["strata"])
    return f"{text}, {n_strata} strata" if n_strata else text


def in_words(found: dict[str, Any]) -> list[str]:
    """Return what the count is, and what the model and the labels say."""
    what = estimand_in_words(found)
    said = number(found["uncorrected"], found)
    model = found["model"]["column"]
    if not found["n_labelled"]:
        return [
            f"The {what} by the model's {model!r} alone is {said}. It has "
            f"{NO_INTERVAL}: without labels, the error of the model is not known."
        ]
    percent = f"{100 * found['confidence_level']:g}%"
    if found["n_labelled"] == found["n_documents"]:
        return [
            f"All documents have labels: the {what} is "
            f"{number(found['estimate'], found)}, without sampling error."
        ]
    inside = found["low"] <= found["uncorrected"] <= found["high"]
    place = "inside" if inside else "outside"
    worth = found["equivalent_labels"]
    return [
        f"The corrected {what} is {number(found['estimate'], found)}, with a {percent} "
        f"interval of {interval(found, found)}. It is valid for these documents even "
        "if the model is wrong, provided that the labelled documents were drawn at "
        "random.",
        f"The model alone says {said}, {place} of this interval.",
        f"With the model, {found['n_labelled']:,} labels are worth about {worth:,.0f}.",
    ]


def number(value: float | None, found: dict[str, Any]) -> str:
    """Return a number of a count or mean, with decimals for small ones."""
    if value is None:
        return ""
    if found["estimand"] == "mean":
        return f"{value:.3f}"
    scale = abs(found["high"] if found["high"] is not None else found["uncorrected"])
    text = f"{value:,.{0 if scale >= 100 else 1}f}"
    return text.replace("-0.0", "0.0") if float(text.replace(",", "")) == 0 else text


def interval(row: dict[str, Any], found: dict[str, Any]) -> str:
    """Return the ends of an interval; an empty text if there is no interval."""
    if row["low"] is None:
        return ""
    return f"{number(row['low'], found)} to {number(row['high'], found)}"
