"""Logs of OpenAI evals: JSON lines that begin with a specification."""

from __future__ import annotations

from ._evaluation import Evaluation
from ._files import Options, Source
from ._values import as_dict, choose, file_error

NAME = "OpenAI evals"

# Events that score a sample, and the field of their data that is the score.
_SCORED = {"match": "correct", "metrics": "score"}


def claims(source: Source) -> bool:
    """Return whether the file is a log of OpenAI evals."""
    return source.kind == "jsonl" and isinstance(as_dict(source.head).get("spec"), dict)


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a log."""
    options.reject(NAME, "percent", "filter", "split", "model")
    events = [
        (k, str(event["sample_id"]), event)
        for k, event in enumerate(source.content)
        if isinstance(event, dict) and "sample_id" in event
    ]
    kinds = [str(e["type"]) for _, _, e in events if str(e.get("type")) in _SCORED]
    kind = choose(options.score, kinds, option="score", what="kind of event")
    prompts = {
        sample: as_dict(event.get("data")).get("prompt")
        for _, sample, event in events
        if event.get("type") == "sampling"
    }
    rows = []
    for k, sample, event in events:
        if kind is None or event.get("type") != kind:
            continue
        data = as_dict(event.get("data"))
        if _SCORED[kind] not in data:
            raise file_error(
                f"must contain {_SCORED[kind]!r} in each event {kind!r}. Got "
                f"{source.place(k)}, which has none."
            )
        score, right = data[_SCORED[kind]], data.get("expected")
        rows.append(
            {"question": sample, "score": score, "right_answer": right, "place": k}
        )
    failed = {sample for _, sample, event in events if event.get("type") == "error"}
    # A sample that failed and was tried again is scored.
    known = failed if kind is None else {sample for _, sample, _ in events}
    lost = known - {row["question"] for row in rows}
    rows += [
        {"question": sample, "status": "error" if sample in failed else None}
        for sample in sorted(lost)
    ]
    rows = [
        {**row, "repeat": 0, "prompt": prompts.get(row["question"])} for row in rows
    ]
    spec = source.content[0]["spec"]
    models = spec.get("completion_fns")
    model = ", ".join(map(str, models)) if isinstance(models, list) else None
    notes = [f"The score is the score of the events {kind!r}."]
    return Evaluation._of_rows(
        source, NAME, notes, rows, model=model, task=spec.get("eval_name")
    )
