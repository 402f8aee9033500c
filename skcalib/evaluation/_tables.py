"""Tables of answers: CSV, TSV, JSON lines, a JSON array of objects, and parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import ParameterError
from ._cells import Fractions, Names, Outcomes
from ._delimited import CHUNK, Chunk, Table, delimited_table
from ._evaluation import Evaluation
from ._files import Source, read_parquet
from ._options import Options
from ._values import choose, numbered_repeats

NAME = "table"

# Columns that are read if none is named. Columns that say whether an answer was right
# come first; a label next to them is the label of the question.
_RIGHT = ("correct", "is_correct", "correctness")
_LABELS = ("y_true", "label", "gold", "truth", "outcome", "y")

# In the records of some harnesses this is the right option, not whether it was chosen.
_TARGET = "target"
_PROBA = (
    *("y_proba", "y_prob", "proba", "probability", "prob", "confidence", "conf"),
    *("score", "p", "q"),
)
_QUESTION = ("question_id", "qid", "sample_id", "item_id", "doc_id", "id", "question")
_MODEL = ("model", "system")

# Rows after which progress is printed.
_SAID_EACH = 500_000


def open_table(source: Source) -> Table:
    """Return the columns of a file; the cells are read later."""
    if source.kind == "parquet":
        return _parquet_table(source.path)
    if source.kind == "text":
        return delimited_table(source.path)
    if not isinstance(source.first_row, dict):
        raise ParameterError(
            "path",
            "must be a table: CSV, TSV, parquet, or JSON objects one per line or in an "
            f"array. Got {source.path.name}.",
        )
    return _object_table(source)


def _parquet_table(path: Path) -> Table:
    first = next(read_parquet(path), {})

    def chunks(names: list[str]) -> Iterator[Chunk]:
        rows = enumerate(map(_flat, read_parquet(path)), 1)
        while block := list(islice(rows, CHUNK)):
            yield _columns(block, names)

    return Table(path, list(_flat(first)), chunks)


def _object_table(source: Source) -> Table:
    """Return the columns of objects, with the union of their names."""
    names: dict[str, None] = {}
    for _, row in _objects(source):
        names.update(dict.fromkeys(row))

    def chunks(wanted: list[str]) -> Iterator[Chunk]:
        rows = _objects(source)
        while block := list(islice(rows, CHUNK)):
            yield _columns(block, wanted)

    return Table(source.path, list(names), chunks)


def _objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the flat entries of each object."""
    is_lines = source.kind == "jsonl"
    rows = source.numbered_rows() if is_lines else enumerate(source.content, 1)
    for number, row in rows:
        if not isinstance(row, dict):
            raise ParameterError(
                "path",
                f"must contain one object per {'line' if is_lines else 'entry'}. Got "
                f"{type(row).__name__} in number {number}.",
            )
        yield number, _flat(row)


def _columns(block: list[tuple[int, dict]], names: list[str]) -> Chunk:
    columns = {name: [row.get(name) for _, row in block] for name in names}
    return columns, [line for line, _ in block]


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the entries of an object; nested entries have dotted names."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found


def claims(source: Source) -> bool:
    """Return whether the file may be a plain table, if no harness wrote it."""
    return source.kind in ("text", "parquet") or isinstance(source.first_row, dict)


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation in a table."""
    options.reject("plain tables", "filter", "split")
    table = open_table(source)
    roles, notes = _roles(table, options)
    outcomes = Outcomes(roles["score"], options.pos_label)
    columns: dict[str, Any] = {roles["score"]: outcomes}
    fractions = None
    if "proba" in roles:
        fractions = Fractions(roles["proba"], options.percent)
        columns[roles["proba"]] = fractions
    named = [roles[role] for role in ("question", "model") if role in roles]
    for name in dict.fromkeys([*named, *options.groups]):
        if name not in columns:
            columns[name] = Names(name)
    _fill(columns, table, options)
    score = outcomes.finish()
    proba = np.full(score.size, np.nan)
    if fractions is not None:
        proba, more = fractions.finish()
        notes += more
    names = {n: c.finish() for n, c in columns.items() if isinstance(c, Names)}
    question = (
        names[roles["question"]] if "question" in roles else np.arange(score.size)
    )
    status = np.full(score.size, "answered", dtype=object)
    status[np.isnan(score)] = "unscored"
    evaluation = Evaluation(
        question=question,
        repeat=_repeats(question),
        score=score,
        proba=proba,
        status=status,
        groups={name: names[name] for name in options.groups},
        format=NAME,
        notes=tuple(notes),
    )
    if "model" not in roles:
        return evaluation
    return _of_one_model(evaluation, names[roles["model"]], options.model)


def _fill(columns: dict[str, Any], table: Table, options: Options) -> None:
    """Read the cells of the columns, chunk by chunk."""
    n = n_said = 0
    for cells, lines in table.chunks(list(columns)):
        for name, column in columns.items():
            column.add(cells[name], lines)
        n += len(lines)
        if options.verbose and n >= n_said + _SAID_EACH:
            print(f"{n:,} rows of {table.path.name} read", file=sys.stderr)
            n_said = n
    if not n:
        raise ParameterError(
            "path", f"must contain answers. Got {table.path.name}, which has no rows."
        )
    for name, column in columns.items():
        if options.missing == "error" and column.first_missing is not None:
            raise ParameterError(
                "missing",
                f"must be 'keep' if cells are empty or NaN. Got an empty cell of "
                f"{name!r} in line {column.first_missing} of {table.path.name}.",
            )


def _of_one_model(
    evaluation: Evaluation, systems: np.ndarray, wanted: str | None
) -> Evaluation:
    """Return the rows of one system of a table that names the system of each row."""
    model = choose(wanted, systems, option="model", what="system")
    part = evaluation.take(systems == model)
    return replace(part, model=model, repeat=_repeats(part.question))


def _repeats(question: np.ndarray) -> np.ndarray:
    """Return the number of earlier rows of the same question, for each row."""
    if question.dtype != object:  # numbers of rows
        return np.zeros(question.size, dtype=np.int64)
    # Hashes need less memory than a table of millions of names.
    hashes = np.fromiter(map(hash, question.tolist()), np.int64, question.size)
    hashes.sort()
    if (hashes[1:] != hashes[:-1]).all():
        return np.zeros(question.size, dtype=np.int64)
    return np.array(numbered_repeats(question.tolist()), dtype=np.int64)


def _roles(table: Table, options: Options) -> tuple[dict[str, str], list[str]]:
    """Return the column of each role (score, proba, question, model), and notes."""
    chosen = dict(options.columns)
    if options.score is not None:
        chosen.setdefault("score", options.score)
    for name in [*chosen.values(), *options.groups]:
        if name not in table.names:
            raise ParameterError(
                "columns",
                f"must name columns of {table.path.name}. Got {name!r}, which is none "
                f"of {', '.join(table.names)}.",
            )
    notes: list[str] = []
    if "score" not in chosen:
        chosen["score"] = _truth(table, notes)
    known = {"proba": _PROBA, "question": _QUESTION, "model": _MODEL}
    for role, names in known.items():
        if role in chosen:
            continue
        found = [n for n in _known(table, names) if n not in chosen.values()]
        found = [n for n in found if n not in options.groups or role == "question"]
        if found:
            chosen[role] = found[0]
        if role == "proba" and len(found) > 1:
            others = ", ".join(map(repr, found[1:]))
            notes.append(f"The probability is {found[0]!r}, not {others}.")
    if chosen.get("proba") == chosen["score"]:
        raise ParameterError(
            "columns",
            f"must name different columns for score and proba. Got {chosen['score']!r} "
            "for both.",
        )
    return chosen, notes


def _known(table: Table, names: Sequence[str]) -> list[str]:
    """Return the columns that have one of the known names, in their order."""
    lower = {name.lower().strip(): name for name in reversed(table.names)}
    return [lower[name] for name in names if name in lower]


def known_columns(table: Table, role: str) -> list[str]:
    """Return the columns with usual names of a role: label, proba or question."""
    names = {"label": _LABELS, "proba": _PROBA, "question": _QUESTION}[role]
    return _known(table, names)


def _truth(table: Table, notes: list[str]) -> str:
    """Return the column that says whether an answer is right."""
    right, labels = _known(table, _RIGHT), _known(table, [*_LABELS, _TARGET])
    found = right or labels
    if not found:
        raise ParameterError(
            "columns",
            "must name the column that says whether an answer is right, since none of "
            f"{table.path.name} has a known name ({', '.join([*_RIGHT, *_LABELS])}). "
            f"Its columns are {', '.join(table.names)}.",
        )
    if len(found) > 1:
        raise ParameterError(
            "columns",
            "must name the column that says whether an answer is right, since "
            f"{', '.join(map(repr, found))} are possible.",
        )
    if found[0].lower().strip() == _TARGET:
        raise ParameterError(
            "columns",
            f"must name the column that says whether an answer is right. {found[0]!r} "
            "may be this column, or say which option is the right one, as in the "
            "records of lm-evaluation-harness.",
        )
    if right and labels:
        others = ", ".join(map(repr, labels))
        notes.append(f"The score is {found[0]!r}, not {others}.")
    return found[0]
