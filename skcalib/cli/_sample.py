"""``skcalib sample``: draw documents to label, for ``skcalib count``."""

from __future__ import annotations

import argparse
import csv
import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from ..counts import DocumentChoice, choose_documents
from ..evaluation import Names, Table, text_of
from ._count import add_dates, add_model, check_dates, exclude
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
from ._count_inputs import DRAWN, ID, PROBABILITY, STRATUM, design_path
from ._count_periods import find_periods
from ._shared import CommandError, check_folders, printable
from ._systems import safe_stem

DESCRIPTION = """\
Draw documents to label at random, more of those about which the model is in
doubt. Two files are written: the drawn documents with an empty column 'label',
for annotators, who do not see what the model said; and the inclusion
probability of every document of the corpus, for 'skcalib count'.
"""

EPILOG = """\
examples:
  skcalib sample docs.csv --n 100 --proba p
  skcalib sample docs.csv --n 100 --proba p --date date --freq quarter
  skcalib sample docs.csv --n 60 --expected victims --strata newspaper
  skcalib sample docs.csv --n 40 --equal --columns id,text

Without --equal, half of the probability is spread evenly (--mix), because a
model may be sure and wrong. Equal probabilities are better for fewer than 50
labels and for rare documents.
"""

LABEL = "label"

# Labels below which equal probabilities are better, if documents are 0 or 1.
_FEW = 50
_RARE = 0.05

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass
class Drawn:
    """A sample, and what the two files and the report say about it."""

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


def add_sample(commands: argparse._SubParsersAction) -> None:
    """Add the command to those of the parser."""
    sample = commands.add_parser(
        "sample",
        help="draw documents to label, for a corrected count",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    sample.set_defaults(run=run_sample)
    sample.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="the corpus, a row for each document: CSV, TSV, JSON, JSON lines, parquet",
    )
    _add_reading(sample.add_argument_group("what to read"))
    _add_drawing(sample.add_argument_group("how to draw"))
    _add_output(sample.add_argument_group("what to write"))


def _add_reading(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--id", metavar="COL", help="column of document ids")
    add_model(group)
    add(
        "--sd",
        metavar="COL",
        help="column of standard deviations of the model's counts",
    )
    add("--size", metavar="COL", help="draw in proportion to this column, a size")


def _add_drawing(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--n", type=int, required=True, help="number of documents to label")
    add("--strata", metavar="COL", help="column of strata; each has two draws or more")
    add_dates(group)
    add(
        "--mix",
        type=float,
        metavar="SHARE",
        help="share of the probability that is spread evenly (default: 0.5)",
    )
    add("--equal", action="store_true", help="equal probabilities, as --mix 1")
    add(
        "--random-state",
        type=int,
        default=0,
        metavar="SEED",
        help="seed of the draw (default: %(default)s)",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--columns",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        metavar="A,B,...",
        help="columns that annotators see (default: all but those of the model and of "
        "labels)",
    )
    add(
        "--output",
        type=Path,
        metavar="SAMPLE",
        help="CSV or TSV of the drawn documents (default: FILE's name with "
        ".sample.csv, in this folder); the design is beside it, as .design.csv",
    )


def run_sample(options: Namespace) -> None:
    """Draw the documents, write both files and say what to do with them."""
    _check_options(options)
    output = options.output or Path(f"{safe_stem(options.file)}.sample.csv")
    design = design_path(output)
    _check_files(options.file, output, design)
    drawn = _draw(options)
    _write_sample(drawn, output)
    _write_design(drawn, design)
    print(_as_text(drawn, output, design, options))
    sys.stdout.flush()


def _check_options(options: Namespace) -> None:
    check_dates(options)
    exclude(options, ("proba", "expected"), ("proba", "sd"), ("expected", "sd"))
    exclude(options, ("size", "sd"), ("strata", "date"))
    exclude(options, ("mix", "equal"), ("size", "equal"))
    if options.mix is not None and not 0 < options.mix <= 1:
        raise CommandError(f"--mix must be above 0 and at most 1. Got {options.mix!r}.")
    if options.n < 1:
        raise CommandError(f"--n must be at least 1. Got {options.n}.")
    if options.random_state < 0:
        raise CommandError(
            f"--random-state must not be negative. Got {options.random_state}."
        )


def _check_files(file: Path, output: Path, design: Path) -> None:
    """Raise unless both files can be written without loss."""
    if output.suffix.lower() not in _DELIMITERS:
        raise CommandError(f"--output must end in .csv or .tsv. Got {str(output)!r}.")
    check_folders(output)
    for path in (output, design):
        if path.exists():
            what = "is the corpus" if path.samefile(file) else "exists"
            raise CommandError(
                f"{path} {what}, and may have labels that were filled in. Choose "
                "another name with --output, or remove the file."
            )


def _draw(options: Namespace) -> Drawn:
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
            "that says where to look more closely, since no column has a usual name. "
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
    """Return a number for each document that its probability follows."""
    if options.equal:
        return np.ones(n)
    if options.sd is not None or options.size is not None:
        return found[options.sd or options.size]
    assert model is not None
    expected = found[model[0]]
    # Errors of counts grow with the count; those of 0 and 1 with the doubt.
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


def _write_sample(drawn: Drawn, output: Path) -> None:
    """Write the drawn rows, with an empty label each."""
    mark = _DELIMITERS[output.suffix.lower()]
    index, start, k = drawn.choice.index, 0, 0
    # Spreadsheets read UTF-8 as such if the file begins with its mark.
    with output.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=mark, lineterminator="\n")
        writer.writerow([*drawn.shown, LABEL])
        for cells, lines in drawn.table.chunks(drawn.shown):
            while k < len(index) and index[k] < start + len(lines):
                row = [cells[name][index[k] - start] for name in drawn.shown]
                writer.writerow([*map(_as_written, row), ""])
                k += 1
            start += len(lines)


def _as_written(cell: Any) -> str:
    return cell if isinstance(cell, str) else text_of(cell)


def _write_design(drawn: Drawn, design: Path) -> None:
    """Write the inclusion probability of every document."""
    is_drawn = np.zeros(drawn.ids.size, dtype=int)
    is_drawn[drawn.choice.index] = 1
    columns: dict[str, Sequence[Any]] = {
        ID: drawn.ids.tolist(),
        PROBABILITY: drawn.choice.inclusion_probability.tolist(),
        DRAWN: is_drawn.tolist(),
    }
    if drawn.strata is not None:
        columns[STRATUM] = [drawn.strata_names[code] for code in drawn.strata.tolist()]
    with design.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _as_text(drawn: Drawn, output: Path, design: Path, options: Namespace) -> str:
    """Return what was drawn, what was written, and what to do with it."""
    pi, index = drawn.choice.inclusion_probability, drawn.choice.index
    lines = [
        f"{printable(str(options.file))}: {len(index):,} of {pi.size:,} documents "
        f"drawn, with probabilities from {pi.min():.3g} to {pi.max():.3g}"
    ]
    if drawn.strata is not None:
        held = np.bincount(drawn.strata[index], minlength=len(drawn.strata_names))
        all_of = np.bincount(drawn.strata, minlength=len(drawn.strata_names))
        each = [
            f"{name} {n} of {n_all:,}"
            for name, n, n_all in zip(drawn.strata_names, held, all_of, strict=True)
            if n_all
        ]
        lines += wrap(printable(f"strata: {', '.join(each)}"), 78)
    lines += [
        "",
        f"for annotators: {printable(str(output))}",
        f"  they see {printable(', '.join([*drawn.shown, LABEL]))}",
    ]
    if drawn.hidden:
        lines.append(f"  they do not see {printable(', '.join(drawn.hidden))}")
    lines += [
        f"for the count: {printable(str(design))}, with the inclusion probability of "
        "each document",
        "",
        "what to do now",
    ]
    for step in _steps(drawn, options):
        lines += wrap(printable(step), 78, initial_indent="- ", subsequent_indent="  ")
    lines.append(f"    {printable(_command(drawn, output, design, options))}")
    return "\n".join(lines)


def _steps(drawn: Drawn, options: Namespace) -> list[str]:
    steps = []
    is_proba = drawn.model is not None and drawn.model[1]
    is_weighted = not options.equal and (options.mix or 0.5) < 1
    if is_weighted and is_proba and drawn.mean_expected is not None:
        if options.n < _FEW:
            steps.append(
                f"Consider --equal: with fewer than {_FEW} labels of 0 or 1, equal "
                "probabilities give shorter intervals."
            )
        elif drawn.mean_expected < _RARE:
            steps.append(
                f"Consider --equal: the model expects {drawn.mean_expected:.1%} of the "
                "documents, and for rare ones equal probabilities give shorter "
                "intervals."
            )
    what = "1 or 0 (yes or no)" if is_proba else "the count of the document"
    steps += [
        f"Let annotators fill in the column {LABEL!r}: {what}. They must label every "
        "row, and must not see what the model says. A document that is skipped breaks "
        "the random sample.",
        "Keep both files, and do not change the model. Then count:",
    ]
    return steps


def _command(drawn: Drawn, output: Path, design: Path, options: Namespace) -> str:
    """Return the command that counts with the labels."""
    words = ["skcalib", "count", str(options.file), "--labels", str(output)]
    words += ["--design", str(design), "--id", drawn.id_name]
    if drawn.model is not None:
        words += ["--proba" if drawn.model[1] else "--expected", drawn.model[0]]
    else:
        words += ["--proba", "COL"]
    words += ["--percent"] * bool(options.percent)
    for name in ("date", "freq", "date_format"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name}".replace("_", "-"), value]
    return shlex.join(words)
