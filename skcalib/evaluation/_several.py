"""Files with the answers of several systems, in long or in wide form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from typing import Any

import numpy as np

from .._errors import ParameterError, public
from . import _promptfoo, _tables
from ._cells import Names, Outcomes
from ._delimited import Table
from ._evaluation import Evaluation
from ._files import Options, Source, open_source
from ._read import complete_file, reader_of
from ._values import none_of

# Columns that are never systems.
_NO_SYSTEMS = frozenset(
    [
        *("question_id", "qid", "sample_id", "item_id", "doc_id", "id", "question"),
        *("item", "task_id", "index", "row", "epoch", "trial", "repeat", "sample"),
        *("y_proba", "y_prob", "proba", "probability", "prob", "confidence", "conf"),
        *("y_true", "label", "gold", "truth", "answer", "target", "model", "system"),
    ]
)

# Number of rows used to decide whether a column contains scores.
_N_LOOKED_AT = 2000

# Entries of an object that are scores of one system and not names of systems.
_ONE_SCORE = (*_tables._RIGHT, "score")

# Columns that a note names.
_N_NAMED = 10

# Beginning of the note on the systems of a table in wide form.
SYSTEMS_NOTE = "The systems are the columns"

_OPTIONS = frozenset(field.name for field in fields(Options))


@public
def read_evaluations(
    path: str | PathLike[str],
    *,
    systems: Sequence[str] | None = None,
    gold: str | None = None,
    columns: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    **options: Any,
) -> dict[str, Evaluation]:
    r"""Read all systems of a file.

    Parameters
    ----------
    path : str or path-like
        File, as for :func:`read_evaluation`. A plain table may contain the system of
        each row in a column (long form), or one column of scores per system (wide
        form).
    systems : sequence of str, default=None
        Systems to read, or columns of a table in wide form. If None, all systems are
        read. In wide form these are the columns of numbers in [0, 1]. A column with one
        number in every row, such as a temperature of 0.7, is not a system, unless the
        number is 0 or 1. `Evaluation.notes` names the columns that were read and the
        other columns.
    gold : str, default=None
        Column of a table in wide form that contains the right answer. The columns of
        the systems then contain answers instead of scores. An answer is right if it is
        equal to the right answer. An empty cell means that the system was not asked the
        question; NA and None are answers.
    columns : mapping of str to str, default=None
        Columns of a plain table by their role: 'question', 'model', 'score'.
    groups : sequence of str, default=()
        Further columns of a plain table to keep.
    **options : dict
        Further parameters of :func:`read_evaluation`.

    Returns
    -------
    evaluations : dict of str to Evaluation
        Evaluation of each system by name, in the order of the file.

    Raises
    ------
    ValueError
        If the file cannot be read, if a system is not in it, or if columns may be
        several scores of one system, such as `is_correct` inside an object of a JSON
        file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skcalib.evaluation import read_evaluations
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("question,small,large\na,0,1\nb,1,1\nc,0,0\n")
    >>> list(read_evaluations(path))
    ['small', 'large']
    """
    format = options.pop("format", None)
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"read_evaluations() got an unexpected keyword argument {name!r}"
            )
    given = Options(columns=columns or {}, groups=tuple(groups), **options)
    source = open_source(path, given.verbose)
    reader = reader_of(source, format)
    with complete_file(reader, source):
        if reader is _tables and given.model is None:
            return _of_table(source, given, systems, gold)
        if gold is not None:
            raise _no_answers(source, gold)
        if reader is _promptfoo and given.model is None:
            names = _promptfoo._systems(_promptfoo._results(source))
            return {
                name: reader.read(source, replace(given, model=name))
                for name in _chosen(list(dict.fromkeys(names)), systems)
            }
        return _only(reader.read(source, given), source)


def _no_answers(source: Source, gold: str) -> ParameterError:
    return ParameterError(
        "gold",
        "applies to plain tables with one column of answers per system. Got "
        f"{gold!r} for {source.path.name}.",
    )


def _only(evaluation: Evaluation, source: Source) -> dict[str, Evaluation]:
    return {evaluation.model or source.path.stem: evaluation}


def _of_table(
    source: Source, options: Options, systems: Sequence[str] | None, gold: str | None
) -> dict[str, Evaluation]:
    """Return the systems of a table, which is sniffed and read once."""
    table = _tables.open_table(source)
    if gold is not None and gold == options.columns.get("question"):
        raise _tables.two_roles(gold, "question", "gold")
    model = options.columns.get("model") or next(
        iter(_tables.named(table, _tables._MODEL)), None
    )
    if model is None:
        wide = _wide_columns(table, systems, gold, options)
        if wide is not None:
            return _read_wide(table, *wide, gold, options)
    if gold is not None:
        raise _no_answers(source, gold)
    if model is None:
        return _only(_tables.read_rows(table, options)[0], source)
    options = replace(options, columns={**options.columns, "model": model})
    every, names = _tables.read_rows(table, options)
    assert names is not None
    found = list(dict.fromkeys(names.tolist()))
    if "" in found:
        raise ParameterError(
            "path",
            f"must name the system of each row in column {model!r}. Got an empty cell "
            f"in row {names.tolist().index('') + 1} of {table.path.name}.",
        )
    return {
        name: _tables.of_one_model(every, names, name)
        for name in _chosen(found, systems)
    }


def _chosen(names: list[str], systems: Sequence[str] | None) -> list[str]:
    if systems is None:
        return names
    for name in systems:
        if name not in names:
            raise ParameterError(
                "systems",
                f"must name systems of the file. {none_of(name, names)}",
            )
    return list(systems)


def _cells(table: Table, columns: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return columns of a table as arrays, given the reader of each column."""
    n = 0
    for cells, lines in table.chunks(list(columns)):
        n += len(lines)
        for name, column in columns.items():
            column.add(cells[name], lines)
    if not (n and columns):
        raise ParameterError(
            "path",
            f"must contain scores of systems. Got {table.path.name}, which has none.",
        )
    return {name: column.finish() for name, column in columns.items()}


def _wide_columns(
    table: Table, systems: Sequence[str] | None, gold: str | None, options: Options
) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the columns that are systems, and notes; None for a table of one system.

    If `systems` is None, columns of numbers in [0, 1] are systems. A column with the
    same number in each row, such as a temperature, is not one, unless the number is 0
    or 1, the score of a system that is always wrong or always right.
    """
    taken = {*options.columns.values(), *options.groups, gold}
    free = [name for name in table.names if name not in taken]
    if systems is not None:
        return _chosen(free, systems), ()
    if "score" in options.columns or options.score is not None:
        return None
    names = [name for name in free if name.lower().strip() not in _NO_SYSTEMS]
    constant: dict[str, float] = {}
    if gold is not None:
        _tables.check_columns(table, [gold], "gold")
        found = _answer_columns(table, names, gold)
        if not found:
            raise ParameterError(
                "gold",
                "must name a column of right answers that other columns contain too. "
                f"Got {gold!r}, and no other column of {table.path.name} has these "
                "answers in half of its cells.",
            )
    else:
        if _tables.named(table, (*_tables._RIGHT, *_tables._LABELS)):
            return None
        found, constant = _score_columns(table, names)
        if len(found) < 2:
            return None
        _check_several_systems(table, found)
    question = options.columns.get("question") or _question(table)
    left = [name for name in free if name not in (*found, question)]
    return found, (_note(found, left, constant),)


def _question(table: Table) -> str | None:
    return next(iter(_tables.named(table, _tables._QUESTION)), None)


def _note(found: list[str], left: list[str], constant: dict[str, float]) -> str:
    note = f"{SYSTEMS_NOTE} {_listed(map(repr, found))}."
    if left:
        named = (
            f"{name!r} ({constant[name]:g} in each row)"
            if name in constant
            else repr(name)
            for name in left
        )
        note += f" Not taken as systems: {_listed(named)}."
    return f"{note} Choose others with systems."


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _N_NAMED
    return ", ".join(every[:_N_NAMED]) + (f" and {more} more" if more > 0 else "")


def _score_columns(
    table: Table, names: list[str]
) -> tuple[list[str], dict[str, float]]:
    """Return the columns of scores, and the others with one number in each row."""
    columns = {name: Outcomes(name, None) for name in names}
    n = 0
    for cells, lines in table.chunks(names):
        for name, column in list(columns.items()):
            try:
                column.add(cells[name], lines)
            except ValueError:
                if n >= _N_LOOKED_AT:
                    raise
                del columns[name]
        n += len(lines)
    found, constant = [], {}
    for name, column in columns.items():
        values = column.finish() if n else np.empty(0)
        values = values[np.isfinite(values)]
        if not values.size:
            continue
        if (values == values[0]).all() and values[0] not in (0, 1):
            constant[name] = float(values[0])
        else:
            found.append(name)
    return found, constant


def _check_several_systems(table: Table, found: list[str]) -> None:
    """Raise if columns are scores inside an object, which may be of one system."""
    nested = [name for name in found if name.lower().rpartition(".")[2] in _ONE_SCORE]
    if any("." in name for name in nested):
        found = nested if len(nested) > 1 else found
        raise ParameterError(
            "systems",
            f"must name the columns of the systems, or score the column of one system. "
            f"{_listed(map(repr, found))} of {table.path.name} may be the scores of "
            f"{len(found)} systems or {len(found)} scores of one system.",
        )


def _answer_columns(table: Table, names: list[str], gold: str) -> list[str]:
    """Return the columns with possible right answers in at least half of the cells."""
    texts = _cells(table, {name: Names(name) for name in (gold, *names)})
    possible = set(texts[gold].tolist()) - {""}
    found = []
    for name in names:
        given = [text for text in texts[name].tolist() if text]
        if 2 * sum(text in possible for text in given) > len(given):
            found.append(name)
    return found


def _read_wide(
    table: Table,
    systems: list[str],
    notes: tuple[str, ...],
    gold: str | None,
    options: Options,
) -> dict[str, Evaluation]:
    """Return the evaluations of a table with one column per system."""
    options.reject("plain tables", "filter", "split")
    _tables.check_columns(table, options.columns.values())
    _tables.check_columns(table, options.groups, "groups")
    if gold is not None:
        _tables.check_columns(table, [gold], "gold")
    question = options.columns.get("question")
    if question is None and _question(table) not in (*systems, gold):
        question = _question(table)
    readers: dict[str, Any] = {}
    for name in (*options.groups, question, gold):
        if name is not None:
            readers[name] = Names(name)
    for name in systems:
        readers[name] = Names(name) if gold else Outcomes(name, options.pos_label)
    columns = _cells(table, readers)
    scores = {
        name: np.where(columns[name] == "", np.nan, columns[name] == columns[gold])
        if gold
        else columns[name]
        for name in systems
    }
    n = len(next(iter(columns.values())))
    questions = columns[question] if question else np.arange(n)
    base = Evaluation(
        question=questions,
        repeat=_tables._repeats(questions),
        score=np.full(n, np.nan),
        proba=np.full(n, np.nan),
        status=np.full(n, "answered", dtype=object),
        groups={name: columns[name] for name in options.groups},
        format=_tables.NAME,
        notes=notes,
    )
    found = {}
    for name in systems:
        asked = np.isfinite(scores[name])
        part = replace(base, score=scores[name].astype(np.float64), model=name)
        found[name] = part if asked.all() else part.take(asked)
    return found
