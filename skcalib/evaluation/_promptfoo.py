"""Results of promptfoo, written with ``-o out.json`` or ``-o out.jsonl``."""

from __future__ import annotations

from typing import Any

from .._errors import ParameterError
from ._evaluation import Evaluation, Row
from ._files import Options, Source
from ._values import as_key, as_list, as_score, choose, scalar_fields

NAME = "promptfoo"

# failureReason of a result without an answer.
_ERROR = 2


def claims(source: Source) -> bool:
    """Return whether the file contains results of promptfoo."""
    first = source.first_row
    if source.kind == "json" and isinstance(source.head, dict):
        first = next(iter(as_list(_results(source))), None)
    return isinstance(first, dict) and {"promptIdx", "success", "vars"} <= set(first)


def _results(source: Source) -> Any:
    content = source.content
    if isinstance(content, dict):
        inner = content.get("results")
        return inner.get("results") if isinstance(inner, dict) else inner
    return content


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of one system; a file may contain several."""
    options.reject(NAME, "filter", "split")
    rows = _results(source)
    for k, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("vars"), dict):
            raise ParameterError(
                "path",
                f"must contain the variables of a test. Got {source.place(k)}, "
                "which has none.",
            )
    systems = _systems(rows)
    model = choose(options.model, systems, option="model", what="system")
    kept = [
        (k, row)
        for k, (row, system) in enumerate(zip(rows, systems, strict=True))
        if system == model
    ]
    found = [_as_row(row, options.score, source.place(k)) for k, row in kept]
    score = options.score or "success"
    return Evaluation._from_rows(
        found,
        model=model,
        format=NAME,
        notes=(f"The score is {score!r}. There are no probabilities.",),
    )


def _systems(rows: list[dict]) -> list[str]:
    """Return the system of each row: its provider, with its prompt if several."""
    providers = [row.get("provider") for row in rows]
    names = [
        str(p.get("id") or p.get("label")) if isinstance(p, dict) else str(p)
        for p in providers
    ]
    prompts = [
        str(p.get("label") or p.get("raw")) if isinstance(p, dict) else str(p)
        for p in (row.get("prompt") for row in rows)
    ]
    numbers = [str(row.get("promptIdx")) for row in rows]
    if len(set(zip(names, numbers, strict=True))) == len(set(names)):
        return names
    return [f"{name} | {prompt}" for name, prompt in zip(names, prompts, strict=True)]


def _as_row(row: dict, score: str | None, place: str) -> Row:
    test = row.get("testCase")
    metadata = test.get("metadata") if isinstance(test, dict) else None
    common: dict[str, Any] = {
        "question": as_key(row["vars"]),
        "repeat": None,
        "groups": scalar_fields(metadata),
        "place": place,
    }
    if row.get("failureReason") == _ERROR:
        return Row(status="error", **common)
    if score in (None, "success"):
        return Row(score=as_score(row.get("success"), place), **common)
    named = row.get("namedScores")
    named = named if isinstance(named, dict) else {}
    if score == "score":
        return Row(score=as_score(row.get("score"), place), **common)
    if score not in named:
        raise ParameterError(
            "score",
            f"must be 'success', 'score' or one of the named scores {list(named)}. Got "
            f"{score!r} for {place}.",
        )
    return Row(score=as_score(named[score], place), **common)
