"""Every Eval Ever: instances (``*_samples.jsonl``), or the aggregate beside them.

By the schemas of instances of versions 0.2.1 and 0.2.2 and of aggregates of version
0.2.1, as stored in August 2026.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ._evaluation import Evaluation, of_one
from ._files import Options, Source, open_source
from ._values import as_dict, as_list, choose, file_error, scalar_fields, text_or_none

NAME = "Every Eval Ever"

_SCORES = ("is_correct", "score")


def claims(source: Source) -> bool:
    """Return whether the file has instances or an aggregate."""
    keys = source.keys or set(source.object)
    return keys >= {"schema_version", "evaluation_id"} and bool(
        keys & {"sample_id", "evaluation_results"}
    )


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of the instances, also if the file is their aggregate."""
    options.reject(NAME, "percent", "split")
    if "evaluation_results" in source.object:
        source = _instances_of(source)
    score = options.score or _SCORES[0]
    choose(score, _SCORES, option="score", what="score")
    content = source.content if isinstance(source.content, list) else [source.content]
    models = [str(row["model_id"]) for row in content]
    entries = enumerate(content)
    model, kept, others = of_one(entries, models, options.model, "model", "system")
    notes = [f"The score is {score!r}. There are no probabilities.", *others]
    # A sample has one instance for each metric.
    metrics: dict[Any, set[str]] = defaultdict(set)
    for _, row in kept:
        prompt = as_dict(row.get("input")).get("raw")
        metrics[str(row["sample_id"]), str(prompt)].add(_result(row))
    # Several instances of a sample would count as repeated answers.
    if options.filter is not None or any(len(each) > 1 for each in metrics.values()):
        names = [_result(row) for _, row in kept]
        _, kept, others = of_one(kept, names, options.filter, "filter", "result")
        notes += others
    tasks = {str(row["evaluation_name"]) for _, row in kept}
    # A grade and a verdict by a threshold are both in the schema.
    n = sum(len({float(row["evaluation"][s]) for s in _SCORES}) > 1 for _, row in kept)
    if n:
        notes.append(f"'is_correct' and 'score' differ in {n} of {len(kept)} rows.")
    rows = [
        {
            # Samples of different tasks may have the same id.
            "question": f"{row['evaluation_name']}: " * (len(tasks) > 1)
            + str(row["sample_id"]),
            "score": row["evaluation"][score],
            "status": "error" if row.get("error") else "answered",
            "groups": {
                **scalar_fields(row.get("metadata")),
                "evaluation_name": str(row["evaluation_name"]),
            },
            "right_answer": as_dict(row.get("input")).get("reference"),
            "prompt": as_dict(row.get("input")).get("raw"),
            "response": _answer(row),
            "place": k,
        }
        for k, row in kept
    ]
    task = tasks.pop() if len(tasks) == 1 else None
    return Evaluation._of_rows(source, NAME, notes, rows, model=model, task=task)


def _instances_of(source: Source) -> Source:
    """Return the file of instances that an aggregate names, in the same folder."""
    named = as_dict(source.object.get("detailed_evaluation_results")).get("file_path")
    # The datastore writes the path from its root.
    name = str(named).replace("\\", "/").rpartition("/")[2]
    beside = {path.name: path for path in source.path.parent.iterdir()}
    if name not in beside or name == source.path.name:
        raise file_error(
            f"must be a file with the individual answers. Got {source.path.name}, "
            "which contains averages only. Pass the file of instances, or put it "
            f"beside this file (detailed_evaluation_results: {named!r:.80})."
        )
    return open_source(beside[name], source.options)


def _result(row: dict[str, Any]) -> str:
    return str(row.get("evaluation_result_id") or row["evaluation_name"])


def _answer(row: dict[str, Any]) -> str | None:
    """Return the answer that the harness extracted from the last output."""
    found = map(as_dict, as_list(row.get("answer_attribution")))
    final = [each for each in found if each.get("is_terminal")]
    return text_or_none(final[-1].get("extracted_value")) if final else None
