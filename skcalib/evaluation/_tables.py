"""Tables of answers: CSV, TSV, JSON lines, a JSON array of objects, and parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import ParameterError
from ._cells import Fractions, Names, Outcomes
from ._delimited import CHUNK, Chunk, Table, delimited_table
from ._evaluation import Evaluation
from ._files import Options, Source, read_parquet
from ._values import choose, none_of, numbered_repeats

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
# Of these, a probability is preferred: beside it, a confidence may be another number.
_CONFIDENCE = ("confidence", "conf")
_OF_OPTIONS = "probabilities"
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
        if not isinstance(value, dict) or name.lower() == _OF_OPTIONS:
            found[f"{before}{name}"] = value
    return found


def claims(source: Source) -> bool:
    """Return whether the file may be a plain table, if no harness wrote it."""
    return source.kind in ("text", "parquet") or isinstance(source.first_row, dict)


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation in a table."""
    every, systems = read_rows(open_table(source), options)
    if systems is None:
        return every
    return of_one_model(every, systems, options.model)


def read_rows(table: Table, options: Options) -> tuple[Evaluation, np.ndarray | None]:
    """Return all rows of a table, and the system of each row if a column names it."""
    options.reject("plain tables", "filter", "split")
    roles, notes = _roles(table, options)
    if options.model is not None and "model" not in roles:
        raise ParameterError(
            "model",
            "does not apply to a table without a column of systems. Got "
            f"{options.model!r}, and the columns of {table.path.name} are "
            f"{', '.join(table.names)}.",
        )
    outcomes = Outcomes(roles["score"], options.pos_label)
    columns: dict[str, Any] = {roles["score"]: outcomes}
    fractions = None
    if "proba" in roles:
        is_of_options = roles["proba"].lower().strip() == _OF_OPTIONS
        of_options = is_of_options and options.pos_label is None
        fractions = Fractions(roles["proba"], options.percent, of_options)
        columns[roles["proba"]] = fractions
    texts = [(role, roles[role]) for role in ("question", "model") if role in roles]
    for role, name in [*texts, *(("groups", name) for name in options.groups)]:
        if not isinstance(columns.setdefault(name, Names(name)), Names):
            raise two_roles(name, "score" if name == roles["score"] else "proba", role)
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
    return evaluation, names[roles["model"]] if "model" in roles else None


def two_roles(name: str, one: str, other: str) -> ParameterError:
    return ParameterError(
        "columns",
        f"must name different columns for {one} and {other}. Got {name!r} for both.",
    )


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
            "path", f"must contain rows. Got {table.path.name}, which has none."
        )
    for name, column in columns.items():
        if options.missing == "error" and column.first_missing is not None:
            raise ParameterError(
                "missing",
                f"must be 'keep' if cells are empty or NaN. Got an empty cell of "
                f"{name!r} in line {column.first_missing} of {table.path.name}.",
            )


def of_one_model(
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
    check_columns(table, chosen.values())
    check_columns(table, options.groups, "groups")
    notes: list[str] = []
    if "score" not in chosen:
        chosen["score"] = _truth(table, notes)
    for role, names in (
        ("proba", _proba_names(table, options)),
        ("question", _QUESTION),
        ("model", _MODEL),
    ):
        if role in chosen:
            continue
        found = [n for n in named(table, names) if n not in chosen.values()]
        found = [n for n in found if n not in options.groups or role == "question"]
        if found:
            chosen[role] = found[0]
        if role == "proba" and len(found) > 1:
            notes.append(_probability_note(*found))
    if chosen.get("proba") == chosen["score"]:
        raise two_roles(chosen["score"], "score", "proba")
    return chosen, notes


def _proba_names(table: Table, options: Options) -> tuple[str, ...]:
    """Return the names of columns of probabilities, the preferred ones first.

    The probabilities of several options are read instead of a confidence. They are of
    the options, so they are not read if a label counts as right.
    """
    if options.pos_label is not None or not named(table, _CONFIDENCE):
        return _PROBA
    k = _PROBA.index(_CONFIDENCE[0])
    return (*_PROBA[:k], _OF_OPTIONS, *_PROBA[k:])


def _probability_note(read: str, *others: str) -> str:
    what = repr(read)
    if read.lower().strip() == _OF_OPTIONS:
        what = f"the largest of {read!r} in each row"
    note = f"The probability is {what}, not {', '.join(map(repr, others))}."
    unread = [name for name in others if name.lower().strip() in _CONFIDENCE]
    if unread:
        note += (
            f" Beside a probability, {unread[0]!r} may measure the shape of a "
            "distribution instead of the chance that the answer is right."
        )
    return note


def check_columns(
    table: Table, names: Iterable[str], parameter: str = "columns"
) -> None:
    """Raise if a name is not a column."""
    for name in names:
        if name not in table.names:
            raise ParameterError(
                parameter,
                f"must name a column of {table.path.name}. "
                f"{none_of(name, table.names)}",
            )


def named(table: Table, names: Sequence[str]) -> list[str]:
    """Return the columns that have one of the known names, in their order."""
    lower = {name.lower().strip(): name for name in reversed(table.names)}
    return [lower[name] for name in names if name in lower]


def known_columns(table: Table, role: str) -> list[str]:
    """Return the columns with usual names of a role: label, proba or question."""
    names = {"label": _LABELS, "proba": _PROBA, "question": _QUESTION}[role]
    return named(table, names)


def _truth(table: Table, notes: list[str]) -> str:
    """Return the column that says whether an answer is right."""
    right, labels = named(table, _RIGHT), named(table, [*_LABELS, _TARGET])
    found = right or labels
    if not found:
        raise ParameterError(
            "columns",
            "must name the column that says whether an answer is right, since no "
            f"column of {table.path.name} has a known name "
            f"({', '.join([*_RIGHT, *_LABELS])}). Its columns are "
            f"{', '.join(table.names)}.",
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
