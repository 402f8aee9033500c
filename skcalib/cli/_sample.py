"""``skcalib sample``: draw documents to label, for ``skcalib count``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import printable
from ..counts import choose_documents
from ..counts._choose_documents import DocumentChoice
from ..evaluation._tables import Names, Table
from ..evaluation._values import text_of
from . import _blocks as out
from . import _corpus as corpus
from ._corpus import Codes, Model, design_path
from ._count import check_dates, sample_path
from ._shared import CommandError, check_files, command_errors, exclude, new_file

# With fewer labels of 0 or 1, equal probabilities are better.
_FEW = 50
_RARE = 0.05


def run_sample(options: Namespace) -> None:
    """Draw the documents, write both files and say what to do with them."""
    _check_options(options)
    output = options.output or sample_path(options)
    check_files([options.file], [("--output", output)])
    design = design_path(output)
    # The design must not replace the sample, which is beside it.
    check_files([options.file, output], [("the design", design)])
    # Labels that somebody filled in would be lost.
    check_new(output, design)
    drawn = draw(options)
    check_ids(drawn)
    # If one cannot be written, neither is there.
    with new_file(output) as new_output:
        write_sample(drawn, new_output)
        with new_file(design) as new_design:
            write_design(drawn, new_design)
    print(out.as_text(_blocks(drawn, output, design, options)))
    sys.stdout.flush()


def _check_options(options: Namespace) -> None:
    check_dates(options)
    exclude(options, ("proba", "expected"), ("proba", "sd"), ("expected", "sd"))
    exclude(options, ("size", "equal"), ("sd", "equal"))
    if options.n < 1:
        raise CommandError(f"--n must be at least 1. Got {options.n}.")
    # NumPy's error would not name the option.
    if options.random_state < 0:
        raise CommandError(
            f"--random-state must not be negative. Got {options.random_state}."
        )


def _blocks(
    drawn: Drawn, output: Path, design: Path, options: Namespace
) -> Iterator[out.Block]:
    """Yield what was drawn, what was written, and what to do with it."""
    pi, index = drawn.choice.inclusion_probability, drawn.choice.index
    yield out.Line(
        f"{printable(str(options.file))}: {len(index):,} of {pi.size:,} documents "
        f"drawn, with probabilities from {pi.min():.3g} to {pi.max():.3g}"
    )
    if drawn.strata is not None:
        code, names = drawn.strata
        n, n_all = (np.bincount(c, minlength=len(names)) for c in (code[index], code))
        counts = zip(names, n, n_all, strict=True)
        each = [f"{name} {k} of {k_all:,}" for name, k, k_all in counts if k_all]
        yield out.Paragraph(f"strata: {', '.join(each)}")
    yield out.Heading(f"for annotators: {output}")
    seen = [*drawn.shown, f"{LABEL} (empty)"]
    yield out.Line(f"  they see {printable(', '.join(seen))}")
    hidden = [
        f"{LABEL} (of {options.file})" if name == LABEL else name
        for name in drawn.table.names
        if name not in drawn.shown
    ]
    if hidden:
        yield out.Line(f"  they do not see {printable(', '.join(hidden))}")
    yield out.Line(
        f"for the count: {printable(str(design))}, with the inclusion probability of "
        "each document"
    )
    yield out.Steps(_steps(drawn, options))
    files = ["--labels", str(output), "--design", str(design)]
    count = corpus.proposed(options, "count", files, drawn.id_name, drawn.model)
    yield out.Line(f"    {printable(count)}")


def _steps(drawn: Drawn, options: Namespace) -> list[str]:
    steps = []
    is_proba = drawn.model is not None and drawn.model.is_proba
    is_weighted = not options.equal
    if is_weighted and is_proba and drawn.mean_expected is not None:
        if options.n < _FEW:
            steps.append(
                f"Consider --equal: with fewer than {_FEW} labels of 0 or 1, equal "
                "probabilities give shorter intervals."
            )
        elif drawn.mean_expected < _RARE:
            steps.append(
                f"Consider --equal: the model expects {drawn.mean_expected:.1%} of the "
                "documents, and for rare documents equal probabilities give shorter "
                "intervals."
            )
    if is_weighted and not is_proba and options.size is None and options.sd is None:
        steps.append(
            "Consider --size: these probabilities increase with the model's expected "
            # They would have large weights if they are drawn, and so widen the
            # interval.
            "count alone, so large documents that the model misses are seldom drawn. "
            "Name a column of sizes, such as the number of words."
        )
    if drawn.labelled.any():
        n_again = int(drawn.labelled[drawn.choice.index].sum())
        steps.append(
            f"{int(drawn.labelled.sum()):,} documents of {options.file} have a label. "
            f"{n_again:,} of them are drawn, to be labelled again: the count below "
            "uses the labels of this sample alone."
        )
    what = "1 or 0 (yes or no)" if is_proba else "the count of the document"
    return [
        *steps,
        f"Let annotators fill in the column {LABEL!r}: {what}. They must label every "
        "row, and must not see what the model says. If documents are skipped, the "
        "sample is no longer random.",
        "Keep both files, and do not change the model. Then count:",
    ]


# Column that annotators fill in.
LABEL = "label"

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass
class Drawn:
    """A sample, and the content of its two files and its report."""

    table: Table
    choice: DocumentChoice
    ids: np.ndarray
    id_name: str
    model: Model | None
    mean_expected: float | None
    strata: Codes | None
    shown: list[str]
    labelled: np.ndarray


def draw(options: Namespace) -> Drawn:
    """Return the sample that the options describe."""
    table = corpus.open_documents(options.file)
    id_name = corpus.find_id(table, options)
    given = corpus.given_columns(table, options, "sd", "size", "strata", "date")
    model = corpus.find_model(table, options, given.values())
    # With --sd alone, a column with a usual name is not read as a model.
    if options.sd is not None and options.proba is None and options.expected is None:
        model = None
    if model is None and not (options.sd or options.size or options.equal):
        options_of = "--proba, --expected, --sd or --size"
        what = "a column that determines the probabilities"
        how = " Pass --equal for equal probabilities."
        raise corpus.not_named(table, options_of, what, how, given)
    names = [id_name, *(given[role] for role in ("strata", "date") if role in given)]
    numbers = [given[role] for role in ("sd", "size") if role in given]
    shown = _shown(table, id_name, model, options)
    found, line = corpus.read_documents(table, options, names, numbers, model)
    corpus.check_unique(options.file, found[id_name], line, id_name)
    parts = []
    if options.date is not None:
        parts.append(corpus.find_periods(found[options.date], line, options)[0])
    if options.strata is not None:
        parts.append(corpus.coded(found[options.strata]))
    strata = _crossed(parts)
    with command_errors(options.file):
        choice = choose_documents(
            _spread(found, model, options, line.size),
            options.n,
            size=None if options.size is None else found[options.size],
            strata=None if strata is None else strata.code,
            # A model may be confident and wrong: no document may have a probability
            # near 0.
            mix=1.0 if options.equal else 0.5,
            random_state=options.random_state,
        )
    mean = None if model is None else float(found[model.column].mean())
    labels = [name for name in table.usual("label") if name not in shown]
    known, _ = corpus.read_columns(table, {x: Names(x) for x in labels}, labels)
    labelled = np.zeros(line.size, dtype=bool)
    for column in known.values():
        labelled |= column != ""
    ids = found[id_name]
    return Drawn(table, choice, ids, id_name, model, mean, strata, shown, labelled)


def _crossed(parts: Sequence[Codes]) -> Codes | None:
    """Return the combinations of periods and strata that have documents."""
    if len(parts) < 2:
        return parts[0] if parts else None
    (first, names), (second, others) = parts
    cells, code = np.unique(first * len(others) + second, return_inverse=True)
    pairs = (divmod(cell, len(others)) for cell in cells.tolist())
    return Codes(code, [f"{names[a]} {others[b]}" for a, b in pairs])


def _spread(
    found: dict[str, np.ndarray], model: Model | None, options: Namespace, n: int
) -> np.ndarray | None:
    """Return a number for each document, or None if the size alone is used."""
    if options.equal:
        return np.ones(n)
    if options.sd is not None:
        return found[options.sd]
    if options.size is not None:
        return None
    assert model is not None
    expected = found[model.column]
    # The error of a count grows with the count; of 0 or 1, with the uncertainty.
    return np.sqrt(expected * (1 - expected)) if model.is_proba else expected


def _shown(
    table: Table, id_name: str, model: Model | None, options: Namespace
) -> list[str]:
    """Return the columns that annotators see."""
    if options.columns is not None:
        with command_errors(table.path):
            table.check(options.columns)
        shown = options.columns
        if LABEL in (id_name, *shown):
            raise CommandError(
                f"{table.path}: --columns must not contain {LABEL!r}, the column that "
                "annotators fill in."
            )
    else:
        roles = ("proba", "expected", "label", "inclusion")
        # Annotators who see the number of the model agree with it too often.
        secret = {*table.usual(*roles), options.sd, model and model.column}
        # Annotators see a column that an option names for another purpose.
        kept = {options.size, options.strata, options.date}
        shown = [name for name in table.names if name not in secret or name in kept]
    return [id_name, *(name for name in shown if name != id_name)]


def check_new(output: Path, design: Path) -> None:
    """Raise an error if a file of the sample exists, or is not a table."""
    if output.suffix.lower() not in _DELIMITERS:
        raise CommandError(f"--output must end in .csv or .tsv. Got {str(output)!r}.")
    for path in (output, design):
        if path.exists():
            raise CommandError(
                f"{path} exists, and may have labels that were filled in. Choose "
                "another name with --output, or remove the file."
            )


def check_ids(drawn: Drawn) -> None:
    """Raise an error if two ids would be the same in the files of the sample."""
    ids = set(drawn.ids.tolist())
    first: dict[str, str] = {}
    for name in drawn.ids.tolist():
        cell = out.as_cell(name)
        # An apostrophe before "=1" gives the id "'=1", which another document may have.
        other = first.setdefault(cell, name)
        if other != name or (cell != name and cell in ids):
            other = cell if other == name else other
            raise CommandError(
                f"{drawn.table.path}: ids must differ when they are written to a CSV "
                f"file, in which formulas begin with an apostrophe. {name!r} and "
                f"{other!r} are both written as {cell!r}. Choose another column with "
                "--id."
            )


def write_sample(drawn: Drawn, output: Path) -> None:
    """Write the drawn rows, each with an empty label."""
    mark = _DELIMITERS[output.suffix.lower()]
    index, start = drawn.choice.index, 0
    # Spreadsheet programs recognise UTF-8 by the byte order mark.
    with output.open("w", encoding="utf-8-sig", newline="") as file:
        out.write_rows(file, [[*drawn.shown, LABEL]], mark)
        # The file is read a second time, so that no text of another document is kept in
        # memory.
        for cells, lines in drawn.table.chunks(drawn.shown):
            rows = []
            for k in index[(index >= start) & (index < start + len(lines))]:
                row = [cells[name][k - start] for name in drawn.shown]
                row[0] = drawn.ids[k]  # without the blanks around it
                texts = (c if isinstance(c, str) else text_of(c) for c in row)
                rows.append([*texts, ""])
            out.write_rows(file, rows, mark)
            start += len(lines)


def write_design(drawn: Drawn, design: Path) -> None:
    """Write the inclusion probability of every document."""
    is_drawn = np.zeros(drawn.ids.size, dtype=int)
    # The design has all documents, since the count needs the probability of each one.
    is_drawn[drawn.choice.index] = 1
    columns: dict[str, Sequence[Any]] = {
        corpus.ID: drawn.ids.tolist(),
        corpus.PROBABILITY: drawn.choice.inclusion_probability.tolist(),
        corpus.DRAWN: is_drawn.tolist(),
    }
    if drawn.strata is not None:
        columns[corpus.STRATUM] = [
            drawn.strata.names[code] for code in drawn.strata.code.tolist()
        ]
    with design.open("w", encoding="utf-8", newline="") as file:
        out.write_rows(file, [list(columns)])
        out.write_rows(file, zip(*columns.values(), strict=True))
