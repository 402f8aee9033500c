"""Labels and design of a sample, joined to the corpus by the ids of documents."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation._cells import Names
from ._count_columns import (
    Numbers,
    check_different,
    check_unique,
    coded,
    find_id,
    label_reader,
    one_column,
    open_documents,
    read_columns,
    usual,
)
from ._count_corpus import Corpus
from ._csv import as_cell
from ._shared import CommandError

# Columns of the file that `skcalib sample` writes for the whole corpus.
ID, PROBABILITY, DRAWN, STRATUM = "id", "inclusion_probability", "drawn", "stratum"

# Ids that a message shows.
_SHOWN = 5


def join_files(corpus: Corpus, options: Namespace) -> None:
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
            f"{beside} is beside the labels and is not used. If these documents were "
            f"drawn with this design, add --design {beside}."
        )


def design_path(sample: Path) -> Path:
    """Return where the design of a sample is written, beside the sample."""
    return sample.with_name(f"{sample.stem.removesuffix('.sample')}.design.csv")


def _read_labels(corpus: Corpus, options: Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the corpus in a file of labels, and their labels."""
    path = options.labels
    table = open_documents(path)
    given = options.id if options.id is not None else corpus.id_name
    if given is not None and given not in table.names:
        written = as_cell(given)
        given = written if written in table.names else options.id
    id_name = find_id(table, given)
    label = one_column(table, options.label, "--label COL", usual(table, "label"))
    if label is None:
        raise CommandError(
            f"{path}: --label must name the column of labels, since no column has a "
            f"usual name. Columns are {', '.join(table.names)}."
        )
    check_different(table, {"--id": id_name, "--label": label})
    readers = {id_name: Names(id_name), label: label_reader(label, options)}
    found, line = read_columns(table, readers, may_miss=[label])
    check_unique(path, found[id_name], line, id_name)
    rows = _rows_of(corpus, found[id_name].tolist())
    unknown = np.flatnonzero(rows < 0)
    if unknown.size:
        names = [f"{found[id_name][k]} (line {line[k]})" for k in unknown[:_SHOWN]]
        raise CommandError(
            f"{path}: {unknown.size} of {rows.size} ids are not in {corpus.path}: "
            f"{_listed(names, unknown.size)}. Labels must be of documents of the "
            f"corpus. The ids of the corpus are in its column "
            f"{corpus.id_name!r}; choose another column with --id. Spreadsheet "
            "programs change some ids, for example 007 to 7."
        )
    return rows, found[label]


def _rows_of(corpus: Corpus, names: list[str]) -> np.ndarray:
    """Return the row of each id in the corpus, or -1.

    An id may be as it is, or as 'skcalib sample' writes it: '=1 for =1.
    """
    assert corpus.ids is not None
    if names == corpus.ids.tolist():
        return np.arange(len(names))
    wanted = dict(zip(names, range(len(names)), strict=True))
    rows = np.full(len(names), -1, dtype=np.intp)
    for row, name in enumerate(corpus.ids.tolist()):
        place = wanted.get(name)
        if place is None:
            place = wanted.get(as_cell(name))
        if place is not None:
            rows[place] = row
    return rows


def _read_design(corpus: Corpus, path: Path) -> np.ndarray:
    """Add inclusion probabilities and strata of a design; return the drawn rows."""
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
    """Compare the labelled documents with the drawn documents."""
    labelled = ~np.isnan(corpus.label)
    extra = np.flatnonzero(labelled & ~drawn)
    if extra.size:
        raise CommandError(
            f"{corpus.label_source}: {extra.size} of {int(labelled.sum())} labels are "
            "of documents that were not drawn: "
            f"{_places(corpus, extra)} of {corpus.path}. Labels of documents that were "
            "chosen in another way make the interval invalid. Remove them."
        )
    missed = np.flatnonzero(drawn & ~labelled)
    if not missed.size or not labelled.any():
        return
    corpus.n_unlabelled = missed.size
    if options.missing == "error":
        raise CommandError(
            f"{corpus.label_source}: {missed.size} of {int(drawn.sum())} drawn "
            f"documents have no label: {_places(corpus, missed)} of {corpus.path}. If "
            "documents are skipped, the sample is no longer random, because the "
            "skipped documents differ from the others. Label them. If labels are "
            "missing at random (a lost page, no time left in a random order), pass "
            "--missing drop."
        )
    corpus.notes.append(
        f"{missed.size} of {int(drawn.sum())} drawn documents have no label and are "
        "left out. The interval is valid only if labels are missing at random, "
        "whatever the content of the documents."
    )
    if corpus.inclusion is None:
        return
    # The labelled documents are treated as a random sample of the drawn documents.
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
