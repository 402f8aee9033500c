"""The draw of a sample of documents."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..counts import choose_documents
from ..counts._choose_documents import DocumentChoice
from ..evaluation._cells import Names
from ..evaluation._delimited import Table
from ._count_columns import (
    Numbers,
    check_column,
    check_unique,
    coded,
    find_id,
    find_model,
    model_reader,
    open_documents,
    read_columns,
    usual,
)
from ._count_periods import find_periods
from ._shared import CommandError

# Column that annotators fill in.
LABEL = "label"


@dataclass
class Drawn:
    """A sample, and the content of its two files and its report."""

    table: Table
    choice: DocumentChoice
    ids: np.ndarray
    id_name: str
    model: tuple[str, bool] | None
    mean_expected: float | None
    strata: np.ndarray | None
    strata_names: list[str]
    shown: list[str]
    hidden: list[str]


def draw(options: Namespace) -> Drawn:
    table = open_documents(options.file)
    id_name = find_id(table, options.id)
    named = [options.sd, options.size, options.strata, options.date]
    for option in ("sd", "size", "strata", "date"):
        if getattr(options, option) is not None:
            check_column(table, getattr(options, option), f"--{option}")
    model = find_model(table, options.proba, options.expected, named)
    if options.sd is not None and options.proba is None and options.expected is None:
        model = None
    _check_has_doubt(table, model, options)
    readers = _readers(id_name, model, options)
    shown, hidden = _shown(table, id_name, model, options)
    found, line = read_columns(table, readers)
    check_unique(options.file, found[id_name], line, id_name)
    strata, names = _strata(found, line, options)
    try:
        choice = choose_documents(
            _spread(found, model, options, line.size),
            options.n,
            strata=strata,
            mix=1.0 if options.equal else (options.mix or 0.5),
            random_state=options.random_state,
        )
    except ValueError as error:
        problem = str(getattr(error, "problem", error))
        name = getattr(error, "name", None)
        raise CommandError(f"{options.file}: --{name} {problem}") from None
    return Drawn(
        table=table,
        choice=choice,
        ids=found[id_name],
        id_name=id_name,
        model=model,
        mean_expected=None if model is None else float(found[model[0]].mean()),
        strata=strata,
        strata_names=names,
        shown=shown,
        hidden=hidden,
    )


def _check_has_doubt(
    table: Table, model: tuple[str, bool] | None, options: Namespace
) -> None:
    if model is None and options.sd is None and options.size is None:
        if options.equal:
            return
        raise CommandError(
            f"{table.path}: --proba, --expected, --sd or --size must name a column "
            "that determines the probabilities, since no column has a usual name. "
            "Pass --equal for equal probabilities. Columns are "
            f"{', '.join(table.names)}."
        )


def _readers(
    id_name: str, model: tuple[str, bool] | None, options: Namespace
) -> dict[str, Any]:
    readers: dict[str, Any] = {id_name: Names(id_name)}
    for name in (options.strata, options.date):
        if name is not None:
            readers[name] = Names(name)
    if model is not None:
        readers[model[0]] = model_reader(*model, options.percent)
    for name in (options.sd, options.size):
        if name is not None:
            readers.setdefault(name, Numbers(name, 0.0))
            if isinstance(readers[name], Names):
                raise CommandError(
                    f"{options.file}: column {name!r} is read as numbers and as names. "
                    "Choose different columns."
                )
    return readers


def _spread(
    found: dict[str, np.ndarray],
    model: tuple[str, bool] | None,
    options: Namespace,
    n: int,
) -> np.ndarray:
    """Return a number for each document, from which its probability is computed."""
    if options.equal:
        return np.ones(n)
    if options.sd is not None or options.size is not None:
        return found[options.sd or options.size]
    assert model is not None
    expected = found[model[0]]
    # The error of a count grows with the count; of 0 or 1, with the uncertainty.
    return np.sqrt(expected * (1 - expected)) if model[1] else expected


def _strata(
    found: dict[str, np.ndarray], line: np.ndarray, options: Namespace
) -> tuple[np.ndarray | None, list[str]]:
    """Return the stratum of each document as a code, and the names of strata."""
    if options.strata is not None:
        return coded(found[options.strata])
    if options.date is None:
        return None, []
    periods = find_periods(
        found[options.date],
        line,
        column=options.date,
        freq=options.freq,
        date_format=options.date_format,
        where=str(options.file),
    )
    return periods.number, periods.labels


def _shown(
    table: Table, id_name: str, model: tuple[str, bool] | None, options: Namespace
) -> tuple[list[str], list[str]]:
    """Return the columns that annotators see, and those that they do not see."""
    if options.columns is not None:
        for name in options.columns:
            check_column(table, name, "--columns")
        shown = [id_name, *(name for name in options.columns if name != id_name)]
        if LABEL in shown:
            raise CommandError(
                f"{table.path}: --columns must not contain {LABEL!r}, the column that "
                "annotators fill in."
            )
    else:
        roles = ("proba", "expected", "label", "inclusion")
        secret: set[str | None] = {n for role in roles for n in usual(table, role)}
        secret |= {options.sd} | ({model[0]} if model else set())
        kept = {id_name, options.size, options.strata, options.date}
        shown = [name for name in table.names if name not in secret or name in kept]
        if id_name in shown:
            shown.remove(id_name)
        shown.insert(0, id_name)
    return shown, [name for name in table.names if name not in shown]
