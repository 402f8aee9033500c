"""Details that lighteval writes as parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._evaluation import Evaluation
from ._files import Options, Source, read_parquet
from ._values import as_dict, choose, file_error, scalar_fields, softmax

NAME = "lighteval"

_NEW = {"doc", "model_response", "metric"}
_OLD = {"predictions", "gold_index", "metrics"}


def claims(source: Source) -> bool:
    """Return whether the file contains details of lighteval."""
    if source.kind != "parquet":
        return False
    first = next(read_parquet(source.path), {})
    return set(first) >= _NEW or set(first) >= _OLD


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a file of details."""
    options.reject(NAME, "filter", "split", "model")
    found, score, task = [], None, None
    for k, row in enumerate(source.progress(read_parquet(source.path))):
        place = f"row {k} of {source.path.name}"
        doc, logprobs, metric = _parts(row, place)
        if k == 0:  # all rows have the same task and the same metrics
            task = doc.get("task_name")
            names = [name for name, value in metric.items() if value is not None]
            score = choose(options.score, names, option="score", what="metric")
            if score is None:
                raise file_error(
                    f"must contain the metrics of each answer. Got none in {place}."
                )
        found.append(_as_row(doc, logprobs, metric.get(score), place))
    how = "There are no probabilities."
    if any(row["option_proba"] is not None for row in found):
        how = "Probabilities are the softmax of the options' log-likelihoods."
    notes = f"The score is {score!r}.", how
    model = _model_of(source.path)
    return Evaluation._of_rows(source, NAME, notes, found, model=model, task=task)


def _parts(row: dict[str, Any], place: str) -> tuple[dict[str, Any], Any, dict]:
    """Return a row's document, log-likelihoods of options, and metrics."""
    if "doc" in row:
        doc, response = as_dict(row["doc"]), as_dict(row["model_response"])
        logprobs, metric = response.get("logprobs"), row["metric"]
    else:  # the layout of older versions
        doc = {
            "id": row.get("example") or row.get("full_prompt"),  # its own prompt
            "gold_index": row.get("gold_index"),
            "choices": row.get("choices"),
            "specific": row.get("specifics"),
        }
        logprobs, metric = row.get("pred_logits"), row["metrics"]
    if doc.get("id") is None or not isinstance(metric, dict):
        raise file_error(
            f"must contain a question and its metrics. Got none in {place}."
        )
    return doc, logprobs, metric


def _model_of(path: Path) -> str | None:
    """Return the name of the folder of a model, which has a folder for each run."""
    folder = path.parent
    time = path.stem.rpartition("_")[2]
    return (folder.parent if folder.name == time else folder).name or None


def _as_row(
    doc: dict[str, Any], logprobs: Any, score: Any, place: str
) -> dict[str, Any]:
    logprobs = np.array(logprobs or (), dtype=float).ravel()
    options = None
    if logprobs.size > 1 and logprobs.size == len(doc.get("choices") or ()):
        options = softmax(logprobs)
    gold = answer = doc.get("gold_index")
    gold = gold[0] if isinstance(gold, list) and len(gold) == 1 else gold
    return {
        "question": str(doc["id"]),
        "score": score,
        "proba": None if options is None else options.max(),
        "option_proba": options,
        "gold": gold if isinstance(gold, int) and options is not None else None,
        "groups": scalar_fields(doc.get("specific")),
        "right_answer": answer,
        "prompt": doc.get("query"),
        "place": place,
    }
