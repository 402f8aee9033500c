"""Corpus, labels and design of the sample, joined by the ids of documents."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import Names, Table
from ._count_columns import (
    Numbers,
    check_column,
    check_unique,
    coded,
    find_id,
    find_model,
    model_reader,
    one_column,
    open_documents,
    read_columns,
    usual,
)
from ._count_periods import Periods, find_periods
from ._shared import CommandError

# Columns of the file that `skcalib sample` writes for the whole corpus.
ID, PROBABILITY, DRAWN, STRATUM = "id", "inclusion_probability", "drawn", "stratum"

# Ids that a message shows.
_SHOWN = 5


@dataclass
class Corpus:
    """Documents of a file as arrays with an entry per row.

    `label` has NaN where there is none. `strata`, `groups` and `by` are codes with
    their names, or None.
    """

    path: Path
    line: np.ndarray
    expected: np.ndarray
    model: str
    is_proba: bool
    label: np.ndarray
    label_source: str | None
    id_name: str | None = None
    ids: np.ndarray | None = None
    inclusion: np.ndarray | None = None
    inclusion_source: str | None = None
    strata: np.ndarray | None = None
    strata_names: list[str] = field(default_factory=list)
    groups: np.ndarray | None = None
    by: np.ndarray | None = None
    by_names: list[str] = field(default_factory=list)
    size: np.ndarray | None = None
    periods: Periods | None = None
    n_drawn: int | None = None
    n_unlabelled: int = 0
    notes: list[str] = field(default_factory=list)

    def place(self, row: int) -> str:
        """Return where a row is, for messages."""
        name = f"line {self.line[row]}"
        return name if self.ids is None else f"{name} ({self.id_name} {self.ids[row]})"


def read_corpus(options: Namespace) -> Corpus:
    """Return the documents of the file, with their labels and how they were drawn."""
    table = open_documents(options.file)
    roles = _roles(table, options)
    readers = _readers(roles, options)
    found, line = read_columns(table, readers, may_miss=_may_miss(roles))
    model, is_proba = roles["model"], roles["is_proba"]
    corpus = Corpus(
        path=options.file,
        line=line,
        expected=found[model],
        model=model,
        is_proba=is_proba,
        label=np.full(line.size, np.nan),
        label_source=None,
        size=None if options.size is None else found[options.size],
    )
    if roles["label"] is not None:
        corpus.label = found[roles["label"]]
        corpus.label_source = f"column {roles['label']!r}"
    if roles["inclusion"] is not None:
        corpus.inclusion = found[roles["inclusion"]]
        corpus.inclusion_source = f"column {roles['inclusion']!r}"
    if options.strata is not None:
        corpus.strata, corpus.strata_names = coded(found[options.strata])
    if options.groups is not None:
        corpus.groups = coded(found[options.groups])[0]
    if options.by is not None:
        corpus.by, corpus.by_names = coded(found[options.by])
    if options.date is not None:
        corpus.periods = find_periods(
            found[options.date],
            line,
            column=options.date,
            freq=options.freq,
            date_format=options.date_format,
            where=str(options.file),
        )
    if roles["id"] is not None:
        corpus.id_name, corpus.ids = roles["id"], found[roles["id"]]
    if options.labels is not None or options.design is not None:
        assert corpus.ids is not None
        assert corpus.id_name is not None
        check_unique(options.file, corpus.ids, line, corpus.id_name)
        _join(corpus, options)
    return corpus


def _roles(table: Table, options: Namespace) -> dict[str, Any]:
    """Return the column of each role in the corpus, None where it has none."""
    named = [options.strata, options.groups, options.by, options.size, options.date]
    for option in ("strata", "groups", "by", "size", "date"):
        if getattr(options, option) is not None:
            check_column(table, getattr(options, option), f"--{option}")
    label = None
    if options.labels is None:
        known = [name for name in usual(table, "label") if name not in named]
        label = one_column(table, options.label, "--label COL", known)
    model = find_model(table, options.proba, options.expected, [*named, label])
    if model is None:
        raise CommandError(
            f"{table.path}: --proba or --expected must name the column of the model's "
            "probabilities or expected counts, since no column has a usual name. "
            f"Columns are {', '.join(table.names)}."
        )
    inclusion = None
    if options.design is None:
        known = usual(table, "inclusion")
        inclusion = one_column(table, options.inclusion, "--inclusion COL", known)
    needs_id = options.labels is not None or options.design is not None
    known_ids = usual(table, "id")
    if needs_id or options.id is not None:
        name: str | None = (
            find_id(table, options.id)
            if needs_id
            else check_column(table, options.id, "--id")
        )
    else:
        name = known_ids[0] if known_ids else None
    _check_different(
        table, {"--label": label, "--proba": model[0], "--inclusion": inclusion}
    )
    return {
        "label": label,
        "model": model[0],
        "is_proba": model[1],
        "inclusion": inclusion,
        "id": name,
    }


def _check_different(table: Table, named: dict[str, str | None]) -> None:
    """Raise if one column has two roles."""
    seen: dict[str, str] = {}
    for option, name in named.items():
        if name is not None and seen.setdefault(name, option) != option:
            raise CommandError(
                f"{table.path}: {seen[name]} and {option} must be different columns. "
                f"Got {name!r} for both."
            )


def _readers(roles: dict[str, Any], options: Namespace) -> dict[str, Any]:
    """Return what reads each column."""
    model = roles["model"]
    readers: dict[str, Any] = {
        model: model_reader(model, roles["is_proba"], options.percent)
    }
    if roles["label"] is not None:
        readers[roles["label"]] = _label_reader(roles["label"], options)
    if roles["inclusion"] is not None:
        readers[roles["inclusion"]] = Numbers(roles["inclusion"], 0.0)
    if options.size is not None:
        readers.setdefault(options.size, Numbers(options.size, 0.0))
    for name in (options.strata, options.groups, options.by, options.date, roles["id"]):
        if name is None:
            continue
        if not isinstance(readers.setdefault(name, Names(name)), Names):
            raise CommandError(
                f"{options.file}: column {name!r} is read as numbers and as names. "
                "Choose different columns."
            )
    return readers


def _may_miss(roles: dict[str, Any]) -> list[str]:
    names = [roles["label"]]
    return [name for name in names if name is not None]


def _label_reader(name: str, options: Namespace) -> Numbers:
    return Numbers(name, 0.0, words=True, pos_label=options.pos_label)


def _join(corpus: Corpus, options: Namespace) -> None:
    """Add the labels and the design of other files."""
    drawn = None
    if options.design is not None:
        drawn = _read_design(corpus, options.design)
    if options.labels is not None:
        rows, labels = _read_labels(corpus, options)
        corpus.label[rows] = labels
        corpus.label_source = str(options.labels)
        if drawn is None:
            drawn = np.zeros(corpus.line.size, dtype=bool)
            drawn[rows] = True
            _note_forgotten_design(corpus, options)
    assert drawn is not None
    corpus.n_drawn = int(drawn.sum())
    _check_drawn(corpus, drawn, options)


def _note_forgotten_design(corpus: Corpus, options: Namespace) -> None:
    beside = design_path(options.labels)
    if corpus.inclusion is None and beside.exists():
        corpus.notes.append(
            f"{beside} lies beside the labels and is not used. If these documents were "
            f"drawn with it, add --design {beside}."
        )


def design_path(sample: Path) -> Path:
    """Return where the design of a sample is written, beside the sample."""
    return sample.with_name(f"{sample.stem.removesuffix('.sample')}.design.csv")


def _read_labels(corpus: Corpus, options: Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the corpus that a file of labels has, and the labels."""
    path = options.labels
    table = open_documents(path)
    given = options.id if options.id is not None else corpus.id_name
    given = given if given in table.names or options.id is not None else None
    id_name = find_id(table, given)
    label = one_column(table, options.label, "--label COL", usual(table, "label"))
    if label is None:
        raise CommandError(
            f"{path}: --label must name the column of labels, since no column has a "
            f"usual name. Columns are {', '.join(table.names)}."
        )
    _check_different(table, {"--id": id_name, "--label": label})
    readers = {id_name: Names(id_name), label: _label_reader(label, options)}
    found, line = read_columns(table, readers, may_miss=[label])
    check_unique(path, found[id_name], line, id_name)
    rows = _rows_of(corpus, found[id_name].tolist())
    unknown = np.flatnonzero(rows < 0)
    if unknown.size:
        names = [f"{found[id_name][k]} (line {line[k]})" for k in unknown[:_SHOWN]]
        raise CommandError(
            f"{path}: {unknown.size} of {rows.size} ids are not in {corpus.path}: "
            f"{_listed(names, unknown.size)}. Labels must be of documents of the "
            f"corpus. The ids of the corpus are those of its column "
            f"{corpus.id_name!r}; choose another one with --id. Spreadsheets change "
            "some ids, such as 007 to 7."
        )
    return rows, found[label]


def _rows_of(corpus: Corpus, names: list[str]) -> np.ndarray:
    """Return the row of each id in the corpus, -1 for none."""
    assert corpus.ids is not None
    if names == corpus.ids.tolist():
        return np.arange(len(names))
    wanted = dict(zip(names, range(len(names)), strict=True))
    rows = np.full(len(names), -1, dtype=np.intp)
    for row, name in enumerate(corpus.ids.tolist()):
        if name in wanted:
            rows[wanted[name]] = row
    return rows


def _read_design(corpus: Corpus, path: Path) -> np.ndarray:
    """Add inclusion probabilities and strata of a design; return which are drawn."""
    assert corpus.ids is not None
    table = open_documents(path)
    for name in (ID, PROBABILITY, DRAWN):
        if name not in table.names:
            raise CommandError(
                f"{path}: --design must be a file that 'skcalib sample' has written, "
                f"with the columns {ID}, {PROBABILITY}, {DRAWN}. It has no {name!r}. "
                "Inclusion probabilities in a column of the corpus are named by "
                "--inclusion."
            )
    readers: dict[str, Any] = {ID: Names(ID)}
    readers |= {name: Numbers(name, 0.0) for name in (PROBABILITY, DRAWN)}
    if STRATUM in table.names:
        readers[STRATUM] = Names(STRATUM)
    found, line = read_columns(table, readers)
    check_unique(path, found[ID], line, ID)
    rows = _rows_of(corpus, found[ID].tolist())
    if rows.size != corpus.line.size or (rows < 0).any():
        n_new = corpus.line.size - int((rows >= 0).sum())
        raise CommandError(
            f"{path}: must be the design of {corpus.path}. {int((rows < 0).sum())} "
            f"documents of the design are not in the corpus, and {n_new} documents of "
            "the corpus are not in the design. Count in the corpus from which the "
            "documents were drawn."
        )
    order = np.argsort(rows)
    corpus.inclusion = found[PROBABILITY][order]
    corpus.inclusion_source = str(path)
    if STRATUM in found:
        corpus.strata, corpus.strata_names = coded(found[STRATUM][order])
    return found[DRAWN][order] > 0


def _check_drawn(corpus: Corpus, drawn: np.ndarray, options: Namespace) -> None:
    """Compare the documents that are labelled with those that were drawn."""
    labelled = ~np.isnan(corpus.label)
    extra = np.flatnonzero(labelled & ~drawn)
    if extra.size:
        raise CommandError(
            f"{corpus.label_source}: {extra.size} of {int(labelled.sum())} labels are "
            "of documents that were not drawn: "
            f"{_places(corpus, extra)} of {corpus.path}. Labels of documents that were "
            "chosen in another way make the interval invalid. Take them out."
        )
    missed = np.flatnonzero(drawn & ~labelled)
    if not missed.size or not labelled.any():
        return
    corpus.n_unlabelled = missed.size
    if options.missing == "error":
        raise CommandError(
            f"{corpus.label_source}: {missed.size} of {int(drawn.sum())} drawn "
            f"documents have no label: {_places(corpus, missed)} of {corpus.path}. A "
            "document that is skipped breaks the random sample, since the skipped ones "
            "differ from the others. Label them. If chance decided which are missing "
            "(a lost page, no time left in a random order), pass --missing drop."
        )
    corpus.notes.append(
        f"{missed.size} of {int(drawn.sum())} drawn documents have no label and are "
        "left out. The interval is valid only if chance decided which ones, not their "
        "content."
    )
    if corpus.inclusion is None:
        return
    # As if the labelled ones had been drawn from the drawn ones at random.
    strata = np.zeros(drawn.size, np.intp) if corpus.strata is None else corpus.strata
    held = np.bincount(strata, drawn)
    with np.errstate(invalid="ignore"):
        corpus.inclusion = (
            corpus.inclusion * (np.bincount(strata, labelled) / held)[strata]
        )


def _places(corpus: Corpus, rows: np.ndarray) -> str:
    return _listed([corpus.place(row) for row in rows[:_SHOWN]], rows.size)


def _listed(names: Sequence[str], n: int) -> str:
    return ", ".join(names) + (", ..." if n > len(names) else "")
