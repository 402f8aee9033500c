"""The corpus that ``skcalib count`` reads, with its columns."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from ..evaluation._cells import Names
from ..evaluation._delimited import Table
from ._count_columns import (
    Numbers,
    check_column,
    check_different,
    check_unique,
    coded,
    find_id,
    find_model,
    label_reader,
    model_reader,
    one_column,
    open_documents,
    read_columns,
    usual,
)
from ._count_corpus import Corpus
from ._count_join import join_files
from ._count_periods import find_periods
from ._shared import CommandError


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
        join_files(corpus, options)
    _note_large_labels(corpus)
    return corpus


def _note_large_labels(corpus: Corpus) -> None:
    largest = corpus.label[~np.isnan(corpus.label)].max(initial=0)
    if corpus.is_proba and largest > 1:
        corpus.notes.append(
            f"Labels go up to {largest:g}, but the model's {corpus.model!r} has "
            "probabilities, which count a document as 1 at most. If labels are codes "
            "or percentages, name the one that counts as 1 with --pos-label. If they "
            "count events, use the model's expected counts (--expected)."
        )


def _roles(table: Table, options: Namespace) -> dict[str, Any]:
    """Return the column of each role in the corpus, or None."""
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
    check_different(
        table, {"--label": label, "--proba": model[0], "--inclusion": inclusion}
    )
    return {
        "label": label,
        "model": model[0],
        "is_proba": model[1],
        "inclusion": inclusion,
        "id": name,
    }


def _readers(roles: dict[str, Any], options: Namespace) -> dict[str, Any]:
    """Return what reads each column."""
    model = roles["model"]
    readers: dict[str, Any] = {
        model: model_reader(model, roles["is_proba"], options.percent)
    }
    if roles["label"] is not None:
        readers[roles["label"]] = label_reader(roles["label"], options)
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
