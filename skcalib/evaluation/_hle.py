"""Judged answers of Humanity's Last Exam, and of benchmarks that use its script."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._evaluation import Evaluation
from ._files import Options, Source
from ._values import as_confidence, as_dict, text_or_none

NAME = "HLE"


def claims(source: Source) -> bool:
    """Return whether the file contains judged answers."""
    entries = source.object.values()
    return all(isinstance(e, dict) and "response" in e for e in entries) and any(
        isinstance(e.get("judge_response"), dict) for e in entries
    )


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a file of judged answers."""
    options.reject(NAME, "score", "filter", "split", "model")
    # If no text mentions a confidence, the texts are not the answers.
    has_texts = any(map(_speaks_of_confidence, source.content.values()))
    rows = [_as_row(name, entry, has_texts) for name, entry in source.content.items()]
    notes = [
        "Questions without an answer are not in the file; the harness counts them as "
        "wrong."
    ]
    unstated = sum(row["score"] is not None and np.isnan(row["proba"]) for row in rows)
    if unstated:
        notes.append(
            f"{unstated} answers do not state a confidence. The judge's value of 100 "
            "for these answers is left out."
        )
    models = {text_or_none(entry.get("model")) for entry in source.content.values()}
    model = models.pop() if len(models) == 1 else None
    return Evaluation._of_rows(source, NAME, notes, rows, model=model)


def _as_row(name: str, entry: dict, has_texts: bool) -> dict[str, Any]:
    """Return the attributes of an answer; without texts, each confidence is stated."""
    judged, place = as_dict(entry.get("judge_response")), f"question {name!r}"
    given = judged.get("confidence") if "correct" in judged else None
    proba = as_confidence(given, place, top=100)
    # The judge writes 100 if no confidence is stated.
    if proba == 1 and has_texts and not _speaks_of_confidence(entry):
        proba = np.nan
    return {
        "question": name,
        "score": judged.get("correct"),
        "proba": proba,
        "right_answer": judged.get("correct_answer"),
        "place": place,
    }


def _speaks_of_confidence(entry: dict) -> bool:
    response = entry["response"]
    return isinstance(response, str) and "confidence" in response.lower()
