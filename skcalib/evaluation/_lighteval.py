"""Details that lighteval writes as parquet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ._evaluation import Evaluation
from ._files import Options, Source, read_parquet
from ._values import (
    MINUS,
    SOFTMAX,
    as_dict,
    as_list,
    choose,
    file_error,
    scalar_fields,
    softmaxes,
)

NAME = "lighteval"

# What a metric takes as the score of an option, by its name or its parameters.
_PER_TOKEN = " per token"
_RULES = {
    MINUS: "norm_pmi|PMINorm",
    _PER_TOKEN: "norm_token|TokenNorm",
    " per character": "_norm(?![a-z_])|CharNorm|length_normalization=True",
}

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
    options.reject(NAME, "percent", "filter", "split", "model")
    found, score, task = [], None, None
    for k, row in enumerate(source.progress(read_parquet(source.path))):
        place = f"row {k} of {source.path.name}"
        doc, response, metric = _parts(row, place)
        if k == 0:  # all rows have the same task and the same metrics
            task = doc.get("task_name")
            names = [name for name, value in metric.items() if value is not None]
            score = choose(options.score, names, option="score", what="metric")
            if score is None:
                raise file_error(
                    f"must contain the metrics of each answer. Got none in {place}."
                )
            rule = next((r for r in _RULES if re.search(_RULES[r], score)), "")
        found.append(_as_row(doc, response, metric.get(score), rule, place))
    about, how = f"The score is {score!r}.", SOFTMAX.format(rule)
    if rule and not any(row["option_proba"] for row in found):
        about += f" It takes log-likelihoods{rule}, which the file lacks."
    model = _model_of(source.path)
    return Evaluation._of_rows(
        source, NAME, (), found, about=about, how=how, model=model, task=task
    )


def _parts(row: dict[str, Any], place: str) -> tuple[dict, dict, dict]:
    """Return a row's document, the response of the model, and metrics."""
    if "doc" in row:
        doc, response = as_dict(row["doc"]), as_dict(row["model_response"])
        metric = row["metric"]
    else:  # the layout of older versions
        doc = {
            "id": row.get("example") or row.get("full_prompt"),  # its own prompt
            "gold_index": row.get("gold_index"),
            "choices": row.get("choices"),
            "specific": row.get("specifics"),
        }
        response, metric = {"logprobs": row.get("pred_logits")}, row["metrics"]
    if doc.get("id") is None or not isinstance(metric, dict):
        raise file_error(
            f"must contain a question and its metrics. Got none in {place}."
        )
    return doc, response, metric


def _model_of(path: Path) -> str | None:
    """Return the name of the folder of a model, which has a folder for each run."""
    folder = path.parent
    time = path.stem.rpartition("_")[2]
    return (folder.parent if folder.name == time else folder).name or None


def _as_row(
    doc: dict[str, Any], response: dict[str, Any], score: Any, rule: str, place: str
) -> dict[str, Any]:
    options = _option_proba(doc, response, rule)
    answer = doc.get("gold_index")
    right = answer if isinstance(answer, list) else [answer]
    return {
        "question": str(doc["id"]),
        "score": score,
        "option_proba": options,
        "gold": right if options and {*map(type, right)} <= {int} else None,
        "groups": scalar_fields(doc.get("specific")),
        "right_answer": answer,
        "prompt": doc.get("query"),
        "place": place,
    }


def _option_proba(doc: dict, response: dict, rule: str) -> list[np.ndarray]:
    """Return the probabilities of the options, by each meaning that a rule may have."""
    texts = list(map(str, as_list(doc.get("choices"))))
    n = len(texts)
    values = np.array(response.get("logprobs") or (), dtype=float)
    # Log-likelihoods of the options without the question may follow at the end.
    values, more = (values.ravel(), ()) if values.ndim > 1 else (values[:n], values[n:])
    if n < 2 or values.size != n or len(more) not in (0, n):
        return []
    if rule == MINUS:
        unconditional = response.get("unconditioned_logprobs") or more
        others = np.array(unconditional, dtype=float)
        return softmaxes(values - others) if others.size == n else []
    ways: tuple[list, ...] = ([1] * n,)
    if rule == _PER_TOKEN:
        tokens = as_list(response.get("output_tokens"))[:n]
        ways = (list(map(len, map(as_list, tokens))),)
    elif rule:
        # Two metrics of this name differ in whether they count the first blank.
        ways = [*map(len, texts)], [len(text.removeprefix(" ")) for text in texts]
    if any(len(way) != n or 0 in way for way in ways):
        return []
    return softmaxes(*(values / np.array(way) for way in ways))
