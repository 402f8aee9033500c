"""Judged answers of Humanity's Last Exam, and of benchmarks that use its script."""

from __future__ import annotations

from ._evaluation import Evaluation
from ._files import Options, Source
from ._values import as_dict, as_number, file_error, text_or_none

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
    entries = source.content
    places = [f"question {name!r}" for name in entries]
    judged = [as_dict(entry.get("judge_response")) for entry in entries.values()]
    proba = [
        None if "correct" not in each else _confidence(each, place)
        for each, place in zip(judged, places, strict=True)
    ]
    # The judge writes 100 if no confidence is stated.
    proba = [
        None if p == 1 and has_texts and not _speaks_of_confidence(entry) else p
        for p, entry in zip(proba, entries.values(), strict=True)
    ]
    notes = [
        "Questions without an answer are not in the file; the harness counts them as "
        "wrong."
    ]
    scores = [each.get("correct") for each in judged]
    stated = zip(scores, proba, strict=True)
    unstated = sum(s is not None and p is None for s, p in stated)
    if unstated:
        notes.append(
            f"{unstated} answers do not state a confidence. The judge's value of 100 "
            "for these answers is left out."
        )
    models = {text_or_none(entry.get("model")) for entry in entries.values()}
    return Evaluation._from_columns(
        source,
        NAME,
        notes,
        question=list(map(str, entries)),
        score=scores,
        proba=proba,
        right_answer=[each.get("correct_answer") for each in judged],
        place=places,
        model=models.pop() if len(models) == 1 else None,
    )


def _speaks_of_confidence(entry: dict) -> bool:
    response = entry["response"]
    return isinstance(response, str) and "confidence" in response.lower()


def _confidence(judged: dict, place: str) -> float | None:
    """Return the confidence that the judge read, as a probability; None if missing."""
    value = judged.get("confidence")
    if isinstance(value, str):
        value = value.strip().removesuffix("%")
    try:
        return None if value is None else as_number(str(value)) / 100
    except ValueError:
        raise file_error(
            "must contain a confidence from 0 to 100. Got "
            f"{judged['confidence']!r:.60} in {place}."
        ) from None
