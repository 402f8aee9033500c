"""Right answers and prompts, which distinguish questions of the same name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from os import PathLike
from typing import Any

from . import (
    _deepeval,
    _helm,
    _hle,
    _inspect,
    _lighteval,
    _lm_eval,
    _openai_evals,
    _simple_evals,
    _tables,
)
from ._cells import Names
from ._files import Archive, Source, open_source, read_parquet, sibling
from ._values import as_dict, as_list, as_text

Known = tuple[dict[str, str], dict[str, str]]

_GOLDS = ("gold", "target", "expected", "gold_answer", "correct_answer")
_CORRECT = re.compile(r"<p>Correct Answer: ([^<]*)</p>")
_PROMPTS = ("prompt", "prompt_hash", "doc_hash", "input", "question_text", "text")


def read_fingerprints(
    path: str | PathLike[str],
    *,
    filter: str | None = None,
    question: str | None = None,
    format: str | None = None,
) -> Known:
    """Return the right answer and the prompt of each question, as far as known.

    Prompts are texts, or hashes if the file contains hashes. Entries that a file does
    not contain are missing. The format of the file was checked when it was read.
    """
    source = open_source(path)
    for module, read in _READERS:
        if (format is None or format == module.NAME) and module.claims(source):
            return _collected(read(source, filter))
    if source.kind in ("text", "parquet", "jsonl", "json") and _tables.claims(source):
        return _of_table(source, question)
    return {}, {}


def _collected(rows: Iterator[tuple[str, Any, Any]]) -> Known:
    golds: dict[str, str] = {}
    prompts: dict[str, str] = {}
    for question, gold, prompt in rows:
        if gold is not None:
            golds.setdefault(question, _as_key(gold))
        if prompt is not None:
            prompts.setdefault(question, _as_key(prompt))
    return golds, prompts


def _as_key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _of_lm_eval(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    rows, _ = _lm_eval._of_one_filter(list(enumerate(source.content)), filter)
    found = [row for _, row in rows]
    for question, row in zip(_lm_eval._identities(found), found, strict=True):
        prompt = row.get("prompt_hash")
        if prompt is None and row.get("doc") is not None:
            prompt = sha256(_as_key(row["doc"]).encode()).hexdigest()
        yield question, row.get("target"), prompt


def _of_inspect(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    if source.kind == "zip":
        with Archive(source.path) as archive:
            yield from _samples(_inspect._open_archive(archive)[1])
    else:
        yield from _samples(as_list(as_dict(source.content).get("samples")))


def _samples(samples: Any) -> Iterator[tuple[str, Any, Any]]:
    for sample in samples:
        prompt = [_texts_of(sample.get("input")), sample.get("choices")]
        yield as_text(sample["id"]), sample.get("target"), prompt


def _texts_of(value: Any) -> Any:
    """Return the texts of messages, without their random ids."""
    if isinstance(value, list):
        return [as_dict(each).get("content") for each in value]
    return value


def _of_helm(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    inside = source.path / _helm._FILE if source.kind == "folder" else source.path
    state = as_dict(sibling(inside, "scenario_state.json"))
    for request in map(as_dict, as_list(state.get("request_states"))):
        instance = as_dict(request.get("instance"))
        if instance.get("id") is None or instance.get("perturbation"):
            continue
        options = [as_dict(each) for each in as_list(instance.get("references"))]
        texts = [as_dict(each.get("output")).get("text") for each in options]
        right = [
            text
            for text, each in zip(texts, options, strict=True)
            if "correct" in as_list(each.get("tags"))
        ]
        prompt = [as_dict(instance.get("input")).get("text"), texts]
        yield as_text(instance["id"]), right or None, prompt


def _of_simple_evals(
    source: Source, filter: str | None
) -> Iterator[tuple[str, Any, Any]]:
    pairs = zip(source.content["htmls"], source.content["convos"], strict=True)
    for k, (page, talk) in enumerate(pairs):
        found = _CORRECT.findall(page) if isinstance(page, str) else []
        # The last match is by the harness; an answer could also contain such a line.
        gold = found[-1] if found else None
        yield _simple_evals._question(talk, source.place(k)), gold, None


def _of_lighteval(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    for k, row in enumerate(read_parquet(source.path)):
        flat = _lighteval._flat(row, f"row {k}")
        doc = as_dict(row.get("doc"))
        yield str(flat["question"]), flat["gold"], doc.get("query")


def _of_hle(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    for question, entry in source.content.items():
        judged = as_dict(entry.get("judge_response"))
        yield as_text(question), judged.get("correct_answer"), None


def _of_deepeval(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    content = as_dict(source.content)
    content = as_dict(content.get("testRunData")) or content
    for case in map(as_dict, as_list(content.get("testCases"))):
        name = case.get("name") or case.get("input")
        yield str(name), case.get("expectedOutput"), case.get("input")


def _of_openai(source: Source, filter: str | None) -> Iterator[tuple[str, Any, Any]]:
    for event in map(as_dict, source.content):
        if event.get("sample_id") is None:
            continue
        data = as_dict(event.get("data"))
        prompt = data.get("prompt") if event.get("type") == "sampling" else None
        yield str(event["sample_id"]), data.get("expected"), prompt


def _of_table(source: Source, question: str | None) -> Known:
    table = _tables.open_table(source)
    lower = {name.lower().strip(): name for name in reversed(table.names)}
    question = question or next(
        (lower[name] for name in _tables._QUESTION if name in lower), None
    )
    if question not in table.names:
        return {}, {}
    found: list[dict[str, str]] = []
    for names in (_GOLDS, _PROMPTS):
        column = next((lower[n] for n in names if n in lower), None)
        if column is None or column == question:
            found.append({})
            continue
        cells = {name: Names(name) for name in (question, column)}
        for chunk, lines in table.chunks([question, column]):
            for name, each in cells.items():
                each.add(chunk[name], lines)
        pairs = zip(
            cells[question].finish().tolist(),
            cells[column].finish().tolist(),
            strict=True,
        )
        found.append({q: value for q, value in pairs if value})
    return found[0], found[1]


_READERS: tuple[tuple[Any, Any], ...] = (
    (_lm_eval, _of_lm_eval),
    (_inspect, _of_inspect),
    (_helm, _of_helm),
    (_simple_evals, _of_simple_evals),
    (_lighteval, _of_lighteval),
    (_hle, _of_hle),
    (_deepeval, _of_deepeval),
    (_openai_evals, _of_openai),
)
