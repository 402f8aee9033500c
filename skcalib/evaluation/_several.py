"""Files with the answers of several systems, in long or in wide form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from .._errors import ParameterError, public
from . import _promptfoo, _tables
from ._cells import Names, Outcomes
from ._evaluation import Evaluation
from ._files import Source, open_source
from ._read import READERS, read_evaluation

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
        read.
    gold : str, default=None
        Column of a table in wide form that contains the right answer. The columns of
        the systems then contain answers instead of scores. An answer is right if it is
        equal to the right answer. An empty cell means that the system was not asked the
        question.
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
        If the file cannot be read, or if a system is not in it.

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
    source = open_source(path)
    options = dict(options, groups=tuple(groups), columns=dict(columns or {}))
    wanted = options.pop("model", None)
    if wanted is not None:
        return {wanted: read_evaluation(path, model=wanted, **options)}
    if _promptfoo.claims(source):
        names = list(dict.fromkeys(_promptfoo._systems(_promptfoo._results(source))))
        return _each(path, _chosen(names, systems), options)
    if not _is_table(source, options.get("format")):
        only = read_evaluation(path, **options)
        return {only.model or source.path.stem: only}
    table = _tables.open_table(source)
    model = options["columns"].get("model") or _first(table, ("model", "system"))
    if model is not None:
        if model not in table.names:
            raise ParameterError(
                "columns",
                f"must name columns of {source.path.name}. Got {model!r}, which is "
                f"none of {', '.join(table.names)}.",
            )
        options["columns"]["model"] = model
        names = list(dict.fromkeys(_cells(table, [model], Names)[model].tolist()))
        return _each(path, _chosen(names, systems), options)
    wide = _wide_columns(table, systems, gold, options)
    if wide is None:
        only = read_evaluation(path, **options)
        return {only.model or source.path.stem: only}
    return _read_wide(table, wide, gold, options)


def _is_table(source: Source, format: str | None) -> bool:
    if format is not None:
        return format == _tables.NAME
    return not any(reader.claims(source) for reader in READERS) and _tables.claims(
        source
    )


def _each(path: Any, names: Sequence[str], options: dict) -> dict[str, Evaluation]:
    return {name: read_evaluation(path, model=name, **options) for name in names}


def _chosen(names: list[str], systems: Sequence[str] | None) -> list[str]:
    if systems is None:
        return names
    absent = [name for name in systems if name not in names]
    if absent:
        raise ParameterError(
            "systems",
            f"must name systems of the file ({', '.join(names)}). Got {absent[0]!r}.",
        )
    return list(systems)


def _first(table: Any, names: Sequence[str]) -> str | None:
    lower = {name.lower().strip(): name for name in reversed(table.names)}
    return next((lower[name] for name in names if name in lower), None)


def _cells(
    table: Any, names: Sequence[str], kind: Any, *more: Any
) -> dict[str, np.ndarray]:
    """Return columns of a table as arrays."""
    columns = {name: kind(name, *more) for name in names}
    for cells, lines in table.chunks(list(names)):
        for name, column in columns.items():
            column.add(cells[name], lines)
    return {name: column.finish() for name, column in columns.items()}


def _wide_columns(
    table: Any, systems: Sequence[str] | None, gold: str | None, options: dict
) -> list[str] | None:
    """Return the columns that are systems; None if the table is of one system."""
    taken = {*options["columns"].values(), *options["groups"], gold}
    if systems is not None:
        return _chosen([n for n in table.names if n not in taken], systems)
    if "score" in options["columns"] or options.get("score") is not None:
        return None
    names = [
        name
        for name in table.names
        if name not in taken and name.lower().strip() not in _NO_SYSTEMS
    ]
    if gold is not None:
        return _answer_columns(table, names, gold)
    if _first(table, (*_tables._RIGHT, *_tables._LABELS)) is not None:
        return None
    found = [name for name in names if _holds_scores(table, name)]
    return found if len(found) > 1 else None


def _answer_columns(table: Any, names: list[str], gold: str) -> list[str]:
    """Return the columns with possible right answers in at least half of the cells."""
    if gold not in table.names:
        raise ParameterError(
            "gold",
            f"must name a column of {table.path.name} ({', '.join(table.names)}). Got "
            f"{gold!r}.",
        )
    texts = _cells(table, [gold, *names], Names)
    possible = set(texts[gold].tolist()) - {""}
    found = []
    for name in names:
        given = [text for text in texts[name].tolist() if text]
        if 2 * sum(text in possible for text in given) > len(given):
            found.append(name)
    return found


def _holds_scores(table: Any, name: str) -> bool:
    outcomes = Outcomes(name, None)
    n = 0
    try:
        for cells, lines in table.chunks([name]):
            outcomes.add(cells[name], lines)
            n += len(lines)
            if n >= _N_LOOKED_AT:
                break
        return bool(np.isfinite(outcomes.finish()).any())
    except ValueError:
        return False


def _read_wide(
    table: Any, systems: list[str], gold: str | None, options: dict
) -> dict[str, Evaluation]:
    """Return the evaluations of a table with one column per system."""
    known = [name for name in (gold, *options["groups"]) if name is not None]
    for name in known:
        if name not in table.names:
            raise ParameterError(
                "gold" if name == gold else "groups",
                f"must name a column of {table.path.name} ({', '.join(table.names)}). "
                f"Got {name!r}.",
            )
    question = options["columns"].get("question")
    if question is None:
        named = _first(table, _tables._QUESTION)
        question = named if named not in (*systems, gold) else None
    names = _cells(
        table, [*options["groups"], *([question] if question else [])], Names
    )
    if gold is None:
        scores = _cells(table, systems, Outcomes, options.get("pos_label"))
    else:
        texts = _cells(table, [gold, *systems], Names)
        scores = {
            name: np.where(texts[name] == "", np.nan, texts[name] == texts[gold])
            for name in systems
        }
    n = len(next(iter(scores.values()))) if scores else 0
    if not n:
        raise ParameterError(
            "path",
            f"must contain scores of systems. Got {table.path.name}, which has none.",
        )
    questions = names[question] if question else np.arange(n)
    base = Evaluation(
        question=questions,
        repeat=_tables._repeats(questions),
        score=np.full(n, np.nan),
        proba=np.full(n, np.nan),
        status=np.full(n, "answered", dtype=object),
        groups={name: names[name] for name in options["groups"]},
        format=_tables.NAME,
    )
    found = {}
    for name in systems:
        asked = np.isfinite(scores[name])
        part = replace(base, score=scores[name].astype(np.float64), model=name)
        found[name] = part if asked.all() else part.take(asked)
    return found
