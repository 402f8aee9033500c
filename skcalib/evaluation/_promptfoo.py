"""Results of promptfoo, written with ``-o out.json`` or ``-o out.jsonl``."""

from __future__ import annotations

from typing import Any

from .._errors import ParameterError
from ._evaluation import Evaluation
from ._files import Options, Source
from ._values import as_dict, as_key, as_list, choose, file_error, scalar_fields

NAME = "promptfoo"

# failureReason of a result without an answer.
_ERROR = 2


def claims(source: Source) -> bool:
    """Return whether the file contains results of promptfoo."""
    keys = source.keys
    if source.object:
        keys = set(as_dict(next(iter(as_list(_results(source))), None)))
    return keys >= {"promptIdx", "success", "vars"}


def _results(source: Source) -> Any:
    content = source.content
    if isinstance(content, dict):
        inner = content.get("results")
        return inner.get("results") if isinstance(inner, dict) else inner
    return content


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of one system; a file may contain several."""
    systems = systems_of(source)
    model = choose(options.model, systems, option="model", what="system")
    return read_one(source, options, systems, model)


def systems_of(source: Source) -> list[str]:
    """Return the system of each row: its provider, with its prompt if several."""
    rows = _results(source)
    for k, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("vars"), dict):
            raise file_error(
                f"must contain the variables of a test. Got {source.place(k)}, "
                "which has none."
            )
    names = [_named(row.get("provider"), "id", "label") for row in rows]
    prompts = [_named(row.get("prompt"), "label", "raw") for row in rows]
    numbers = [str(row.get("promptIdx")) for row in rows]
    # Several prompts of one provider are several systems.
    if len(set(zip(names, numbers, strict=True))) == len(set(names)):
        return names
    return [f"{name} | {prompt}" for name, prompt in zip(names, prompts, strict=True)]


def _named(value: Any, first: str, second: str) -> str:
    """Return the name of a provider or a prompt, which may be an object."""
    if isinstance(value, dict):
        value = value.get(first) or value.get(second)
    return str(value)


def read_one(
    source: Source, options: Options, systems: list[str], model: str | None
) -> Evaluation:
    """Return the evaluation of the rows of one system."""
    options.reject(NAME, "filter", "split")
    score = options.score or "success"
    rows = [
        _as_row(row, score, source, k)
        for k, (row, system) in enumerate(zip(_results(source), systems, strict=True))
        if system == model
    ]
    notes = [f"The score is {score!r}. There are no probabilities."]
    return Evaluation._of_rows(source, NAME, notes, rows, model=model)


def _as_row(row: dict, score: str, source: Source, k: int) -> dict[str, Any]:
    """Return the attributes of a result."""
    has_failed = row.get("failureReason") == _ERROR
    output = as_dict(row.get("response")).get("output")
    return {
        "question": as_key(row["vars"]),
        "score": None if has_failed else _score(row, score, source, k),
        "status": "error" if has_failed else "answered",
        "groups": scalar_fields(as_dict(row.get("testCase")).get("metadata")),
        "response": None if output is None else as_key(output),
        "place": k,
    }


def _score(row: dict, name: str, source: Source, k: int) -> Any:
    if name in ("success", "score"):
        return row.get(name)
    named = as_dict(row.get("namedScores"))
    if name not in named:
        raise ParameterError(
            "score",
            f"must be 'success', 'score' or one of the named scores {list(named)}. Got "
            f"{name!r} for {source.place(k)}.",
        )
    return named[name]
