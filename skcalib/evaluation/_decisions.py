"""Answers of decision models beside gold labels: System One, OpenAI's Decisions API.

An object is one response, with ``answers`` and ``model`` at the top or in ``response``.
Beside it are the right answers by question in ``labels``, and ``id``, ``state`` or
``input``. The answers have the schema of ``/v1/systemone`` (typesafe-jev 0.2.0), or of
OpenAI's specification of 13 October 2026. ``labels`` has the form of the labelled data
that the README of jev-eval 1.2.0 describes; the APIs themselves define no labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._evaluation import Evaluation, left_out, of_one
from ._files import Options, Source
from ._values import as_dict, as_key, as_list, file_error, scalar_fields

NAME = "decision models"

_KINDS = {k: k for k in ("predicate", "choice", "score")} | {"noul": "predicate"}
_REFUSAL = "refusal"
_YES_NO = {"false": 0, "no": 0, "0": 0, "true": 1, "yes": 1, "1": 1}

# Keys of an object by their role, the preferred ones first.
_GOLD = ("labels", "label", "gold", "expected")
_ITEM = ("id", "item_id", "state", "input")
_KNOWN = (*_GOLD, *_ITEM, "answers", "response", "model", "usage", "questions")

# Rounding that the sum of up to 255 probabilities may have.
_ROUNDING = 0.02


def claims(source: Source) -> bool:
    """Return whether the file contains responses of a decision model."""
    answers = _answers_of(source.first_row or source.object).values()
    types = [str(answer.get("type")) for answer in answers]
    return bool(types) and set(types) <= {*_KINDS, _REFUSAL}


def _response(row: Any) -> dict[str, Any]:
    return as_dict(as_dict(row).get("response")) or as_dict(row)


def _answers_of(row: Any) -> dict[str, dict[str, Any]]:
    """Return the answers by question; questions without a name are numbered."""
    answers = _response(row).get("answers")
    if isinstance(answers, dict):
        return {name: as_dict(answer) for name, answer in answers.items()}
    found: dict[str, dict[str, Any]] = {}
    for k, answer in enumerate(map(as_dict, as_list(answers))):
        name = as_key(answer.get("name") or k)
        found[name if name not in found else str(k)] = answer
    return found


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of the answers to all questions."""
    options.reject(NAME, "percent", "score", "filter", "split")
    content = source.content if isinstance(source.content, list) else [source.content]
    models = [str(_response(row).get("model")) for row in content]
    entries = enumerate(content)
    model, kept, others = of_one(entries, models, options.model, "model", "system")
    # A refusal does not say what was asked.
    kinds = {
        name: _KINDS[str(answer["type"])]
        for row in content
        for name, answer in _answers_of(row).items()
        if answer.get("type") in list(_KINDS)
    }
    rows = [
        answer
        for k, row in kept
        for answer in _rows_of(as_dict(row), k, source.place(k), kinds)
    ]
    if all(row.get("gold") is None for row in rows):
        raise file_error(
            f"must have gold labels: {_GOLD[0]!r}, an object of right answers by "
            f"question, beside 'answers'. Got {source.path.name}, which has none."
        )
    named = None if model == "None" else model
    notes = [*_notes(rows), *others]
    n_empty = sum(not _answers_of(row) for _, row in kept)
    notes += left_out(n_empty, "responses without an answer")
    return Evaluation._of_rows(source, NAME, notes, rows, model=named)


def _rows_of(
    row: dict[str, Any], k: int, place: str, kinds: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the entries of the answers of a response in the columns."""
    answers = _answers_of(row)
    # The APIs have no labels, so that files name them in several ways.
    gold: Any = next((row[name] for name in _GOLD if row.get(name) is not None), {})
    if not isinstance(gold, dict):  # the label of the only question
        gold = {next(iter(answers)) if len(answers) == 1 else None: gold}
    for name in gold:
        if name not in answers:
            raise file_error(
                "must have an answer to each labelled question. Got a label of "
                f"{name!r} and answers to {list(answers)} in {place}."
            )
    # Without an id, the text of the state identifies the item.
    item = as_key(next((row[n] for n in _ITEM if row.get(n) is not None), k))
    extra = {name: value for name, value in row.items() if name not in _KNOWN}
    groups = {**scalar_fields(extra), "item": item}
    for name, answer in answers.items():
        about = f"the question {name!r} in {place}"
        right = gold.get(name)
        groups = {**groups, "name": name, "kind": kinds.get(name, _REFUSAL)}
        common: dict[str, Any] = {
            "question": f"{item}: {name}",
            "groups": groups,
            "right_answer": right,
            "prompt": row.get("state", row.get("input")),
            "place": about,
        }
        if answer.get("type") == _REFUSAL:
            yield common | {"status": "refused", "score": None}
            continue
        options, proba, chosen = _options(answer, about)
        index = None if right is None else _index(right, options, about)
        yield common | {
            "score": None if index is None else float(chosen == index),
            "proba": float(proba[chosen]),
            "option_proba": [proba],
            "gold": None if index is None else [index],
        }


def _options(
    answer: dict[str, Any], about: str
) -> tuple[dict[str, int], np.ndarray, int]:
    """Return the options of an answer by name, their probabilities and the choice."""
    kind = _KINDS.get(str(answer.get("type")))
    given, legend = answer.get("probabilities"), as_dict(answer.get("legend"))
    if kind == "predicate":
        p = answer.get("noul", answer.get("probability"))
        # A predicate has the probability of yes only; the two options have both.
        given = {"false": 1 - p if isinstance(p, float) else int(not p), "true": p}
    elif isinstance(given, list):
        entries = {as_key(as_dict(e).get("value")): as_dict(e) for e in given}
        given = {name: e.get("probability") for name, e in entries.items()}
        legend = {name: e.get("label") for name, e in entries.items()}
    options = {name: k for k, name in enumerate(as_dict(given))}
    values = list(as_dict(given).values())
    if (
        kind is None
        or not {type(p) for p in values} <= {int, float}
        or not all(0 <= p <= 1 for p in values)
        # Other numbers, such as logits, would pass as probabilities.
        or abs(sum(values) - 1) > _ROUNDING
        or (kind == "score" and set(options) != set(map(str, range(len(options)))))
    ):
        raise file_error(
            f"must have answers of a known type ({', '.join(_KINDS)}), and "
            "probabilities in [0, 1] with a sum of 1. Got the type "
            f"{answer.get('type')!r:.30} and {given!r:.80} for {about}."
        )
    proba = np.array(values, dtype=float)
    if kind == "predicate":
        return _YES_NO, proba, int(proba[1] >= 0.5)
    if kind == "choice":
        return options, proba, _index(answer.get("choice"), options, about)
    proba = proba[[options[str(k)] for k in range(len(options))]]
    levels = {name: int(name) for name in options}
    labels = {as_key(text): int(name) for name, text in legend.items() if text}
    # Labels may be numbers that do not begin at 0, and then are meant.
    is_clear = all(labels.get(name, k) == k for name, k in levels.items())
    return (levels if is_clear else {}) | labels, proba, int(proba.argmax())


def _index(name: Any, options: dict[str, int], about: str) -> int:
    """Return the option that a label names."""
    if as_key(name) not in options:
        raise file_error(
            f"must have a label among the options {list(options)}. Got {name!r:.80} "
            f"for {about}."
        )
    return options[as_key(name)]


def _notes(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what the questions are, and what their probabilities are."""
    named = dict.fromkeys((r["groups"]["name"], r["groups"]["kind"]) for r in rows)
    yield f"The questions are {', '.join(f'{n!r} ({kind})' for n, kind in named)}."
    yield (
        "The probability is that of the answer, never 'confidence', which measures the "
        "shape of the distribution."
    )
    if len({row["groups"]["item"] for row in rows}) < len(rows):
        yield (
            "Answers about one item may depend on each other: the column 'item' has "
            "their groups."
        )
