"""Results of promptfoo, written with ``-o out.json`` or ``-o out.jsonl``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._errors import ParameterError
from ._evaluation import Evaluation, of_one
from ._files import Options, Source
from ._values import as_dict, as_key, as_list, file_error, scalar_fields

NAME = "promptfoo"

# failureReason of a result without an answer.
_ERROR = 2

# What distinguishes test cases with the same variables.
_OF_TEST = ("description", "assert", "metadata", "options", "threshold")


def claims(source: Source) -> bool:
    """Return whether the file contains results of promptfoo."""
    rows = as_list(_results(source)) if source.object else [source.first_row]
    first = as_dict(next(iter(rows), None))
    has_prompt = "promptIdx" in first or isinstance(first.get("prompt"), dict)
    return has_prompt and "success" in first and isinstance(_vars(first), dict)


def _results(source: Source) -> Any:
    """Return the rows; a file that was made to be shared has them in 'data'."""
    content = source.content
    for name in ("data", "results", "results"):
        content = content.get(name, content) if isinstance(content, dict) else content
    return content


def _vars(row: dict) -> Any:
    """Return the variables of a test, which stand in the result or in its test case."""
    case = as_dict(row.get("testCase"))
    return row.get("vars", case.get("vars", {} if case else None))


def _question(row: dict) -> str:
    """Return the variables of a test, and what else its test case consists of."""
    case, values = as_dict(row.get("testCase")), _vars(row)
    more = {name: case[name] for name in _OF_TEST if case.get(name)}
    # Outputs of earlier tests may be added to the variables of a test case.
    own = {n: values[n] for n in values if n in (case.get("vars") or values)}
    return as_key(own | ({"test case": more} if more else {}))


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of one system; a file may contain several."""
    systems = systems_of(source)
    model, _, notes = of_one(systems, systems, options.model, "model", "system")
    found = read_one(source, options, systems, model)
    return replace(found, notes=(*found.notes, *notes))


def systems_of(source: Source) -> list[str]:
    """Return the system of each row.

    It is the provider. Providers with one id differ in their labels, and prompts of one
    provider in their labels or numbers. Version 2 does not number the prompts.
    """
    keys = []
    for k, row in enumerate(_results(source)):
        if not isinstance(row, dict) or not isinstance(_vars(row), dict):
            raise file_error(
                f"must contain the variables of a test. Got {source.place(k)}, "
                "which has none."
            )
        provider = _texts(row.get("provider"), "id", "label")
        prompt = _texts(row.get("prompt"), "label", "display", "id")
        keys.append((provider[0], provider[-1], prompt[0], str(row.get("promptIdx"))))
    names = {key: key[0] for key in keys}
    for level in (1, 2, 3):
        finer = {key: f"{name} | {key[level]}" for key, name in names.items()}
        names = max(names, finer, key=lambda found: len(set(found.values())))
    return [names[key] for key in keys]


def _texts(value: Any, *names: str) -> list[str]:
    """Return the names of a provider or a prompt, which may be an object."""
    if isinstance(value, dict):
        return [str(value[name]) for name in names if value.get(name)] or [""]
    return [str(value)]


def read_one(
    source: Source, options: Options, systems: list[str], model: str | None
) -> Evaluation:
    """Return the evaluation of the rows of one system."""
    options.reject(NAME, "percent", "filter", "split")
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
    # Version 2 does not say why a result failed.
    is_ungraded = bool(row.get("error")) and not row.get("gradingResult")
    has_failed = row.get("failureReason", _ERROR * is_ungraded) == _ERROR
    output = as_dict(row.get("response")).get("output")
    return {
        "question": _question(row),
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
