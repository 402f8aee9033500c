"""Details that lighteval writes as parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._evaluation import Evaluation, Row
from ._files import Options, Source, read_parquet
from ._values import (
    as_dict,
    as_text,
    choose,
    file_error,
    scalar_fields,
    softmax,
)

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
    rows = [
        _flat(row, f"row {k} of {source.path.name}")
        for k, row in enumerate(source.progress(read_parquet(source.path)))
    ]
    names = [name for name, value in rows[0]["metric"].items() if value is not None]
    score = choose(options.score, names, option="score", what="metric")
    found = [
        _as_row(row, score, f"row {k} of {source.path.name}")
        for k, row in enumerate(rows)
    ]
    has_options = any(row.option_proba is not None for row in found)
    how = (
        "Probabilities are the softmax of the options' log-likelihoods."
        if has_options
        else "There are no probabilities."
    )
    return Evaluation._from_rows(
        found,
        source,
        model=_model_of(source.path),
        task=rows[0]["task"],
        format=NAME,
        notes=(f"The score is {score!r}.", how),
    )


def _flat(row: dict, place: str) -> dict[str, Any]:
    """Return a row with the same keys for both layouts."""
    if "doc" in row:
        doc, response = as_dict(row["doc"]), as_dict(row["model_response"])
        found = {
            "question": doc.get("id"),
            "task": doc.get("task_name"),
            "gold": doc.get("gold_index"),
            "logprobs": response.get("logprobs"),
            "n_options": len(doc.get("choices") or ()),
            "groups": scalar_fields(doc.get("specific")),
            "prompt": doc.get("query"),
            "metric": row["metric"],
        }
    else:
        found = {
            "question": row.get("example") or row.get("full_prompt"),
            "task": None,
            "gold": row.get("gold_index"),
            "logprobs": row.get("pred_logits"),
            "n_options": len(row.get("choices") or ()),
            "groups": scalar_fields(row.get("specifics")),
            "prompt": None,  # the question itself
            "metric": row["metrics"],
        }
    if found["question"] is None or not isinstance(found["metric"], dict):
        raise file_error(
            f"must contain a question and its metrics. Got none in {place}."
        )
    found["question"] = as_text(found["question"])
    return found


def _model_of(path: Path) -> str | None:
    """Return the name of the folder of a model, which has a folder for each run."""
    folder = path.parent
    time = path.stem.rpartition("_")[2]
    return (folder.parent if folder.name == time else folder).name or None


def _as_row(row: dict, score: str | None, place: str) -> Row:
    if score is None:
        raise file_error(
            f"must contain the metrics of each answer. Got none in {place}."
        )
    logprobs = np.array(row["logprobs"] or (), dtype=float).ravel()
    options = None
    if logprobs.size > 1 and logprobs.size == row["n_options"]:
        options = softmax(logprobs)
    gold = row["gold"]
    gold = gold[0] if isinstance(gold, list) and len(gold) == 1 else gold
    return Row(
        row["question"],
        row["metric"].get(score),
        proba=None if options is None else options.max(),
        option_proba=options,
        gold=gold if isinstance(gold, int) and options is not None else -1,
        repeat=None,
        groups=row["groups"],
        answer=row["gold"],
        prompt=row["prompt"],
        place=place,
    )
