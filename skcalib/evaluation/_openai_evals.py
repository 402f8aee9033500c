"""Logs of OpenAI evals: JSON lines that begin with a specification."""

from __future__ import annotations

from ._evaluation import Evaluation, Row
from ._files import Options, Source
from ._values import as_dict, choose, file_error, text_or_none

NAME = "OpenAI evals"

# Events that score a sample, and the field of their data that is the score.
_SCORED = {"match": "correct", "metrics": "score"}


def claims(source: Source) -> bool:
    """Return whether the file is a log of OpenAI evals."""
    return source.kind == "jsonl" and isinstance(as_dict(source.head).get("spec"), dict)


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a log."""
    options.reject(NAME, "filter", "split", "model")
    events = [
        (event, k)
        for k, event in enumerate(source.content)
        if isinstance(event, dict) and "sample_id" in event
    ]
    kind = choose(
        options.score,
        (str(e["type"]) for e, _ in events if str(e.get("type")) in _SCORED),
        option="score",
        what="kind of event",
    )
    failed = {str(e["sample_id"]) for e, _ in events if e.get("type") == "error"}
    prompts = {
        str(e["sample_id"]): as_dict(e.get("data")).get("prompt")
        for e, _ in events
        if e.get("type") == "sampling"
    }
    rows, scored = [], set()
    for event, place in events:
        if event.get("type") == kind:
            data = event.get("data")
            if not isinstance(data, dict) or _SCORED[str(kind)] not in data:
                raise file_error(
                    f"must contain {_SCORED[str(kind)]!r} in each event {kind!r}. Got "
                    f"{source.place(place)}, which has none."
                )
            sample = str(event["sample_id"])
            rows.append(
                Row(
                    sample,
                    data[_SCORED[str(kind)]],
                    answer=data.get("expected"),
                    prompt=prompts.get(sample),
                    place=place,
                )
            )
            scored.add(rows[-1].question)
    rows += [
        Row(sample, status="error", prompt=prompts.get(sample))
        for sample in sorted(failed - scored)
    ]
    spec = source.content[0]["spec"]
    models = spec.get("completion_fns")
    return Evaluation._from_rows(
        rows,
        source,
        model=", ".join(map(str, models)) if isinstance(models, list) else None,
        task=text_or_none(spec.get("eval_name")),
        format=NAME,
        notes=(f"The score is the score of the events {kind!r}.",),
    )
