"""The corpus of ``count`` and ``sample``: columns of documents as arrays.

Labels and the design of other files are joined by the ids of documents. Dates become
calendar periods.
"""

from __future__ import annotations

import datetime
import re
import shlex
from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._periods import TooManyPeriods, months_of, parse_date, place_in_calendar
from ..evaluation._files import open_source
from ..evaluation._tables import Fractions, Names, Numbers, Table, open_table
from ..evaluation._values import as_numbers
from ._blocks import as_cell
from ._shared import LEVEL, CommandError, as_option, command_errors

# Errors of a table begin with the file.
_IN_FILE = {"path": "", "percent": "numbers divided by 100"}

# Columns of the file that `skcalib sample` writes for the whole corpus.
ID, PROBABILITY, DRAWN, STRATUM = "id", "inclusion_probability", "drawn", "stratum"

# Ids that a message shows.
_SHOWN = 5

_SLASHED = re.compile(r"\d{1,2}[/.]\d{1,2}[/.]\d{4}")

# Resolution of a date, and the resolution that each period requires.
_GRAIN = {"year": 1, "quarter": 2, "month": 3, "week": 4, "day": 4}

# Kinds of a model's numbers, by the option that names their column.
_KINDS = {"proba": "probability", "expected": "expected count"}


class Model(NamedTuple):
    """The column of a model, and the kind of its numbers."""

    column: str
    kind: str

    @property
    def is_proba(self) -> bool:
        """Return whether the numbers are probabilities."""
        return self.kind == _KINDS["proba"]


class Codes(NamedTuple):
    """A code for each document, and the name of each code."""

    code: np.ndarray
    names: list[str]


@dataclass
class Design:
    """How the labelled documents were drawn: sources, names and numbers."""

    inclusion_probability: str
    strata: list[str]
    n_drawn: int | None
    n_drawn_without_label: int


@dataclass
class Corpus:
    """Documents of a file as arrays with one entry per row.

    `label` is NaN for a document without a label. Periods are consecutive, so that some
    may have a name and no document.
    """

    path: Path
    line: np.ndarray
    expected: np.ndarray
    model: Model
    design: Design
    label: np.ndarray
    label_source: str | None = None
    id_name: str = ""
    ids: np.ndarray | None = None
    inclusion: np.ndarray | None = None
    strata: Codes | None = None
    groups: Codes | None = None
    by: Codes | None = None
    size: np.ndarray | None = None
    period: Codes | None = None
    day: np.ndarray | None = None
    months: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)
    # Warnings of estimates, after the names of the estimates.
    warned: list[tuple[str, Any]] = field(default_factory=list)

    def place(self, row: int) -> str:
        """Return the place of a row, for messages."""
        name = f"line {self.line[row]}"
        return name if self.ids is None else f"{name} ({self.id_name} {self.ids[row]})"


def read_corpus(options: Namespace) -> Corpus:
    """Return the documents of the file, with their labels and how they were drawn."""
    table = open_documents(options.file)
    model, roles = _roles(table, options)
    label = roles.get("label")
    names = [roles[r] for r in ("strata", "groups", "by", "date", "id") if r in roles]
    numbers = [roles[r] for r in ("inclusion", "size") if r in roles]
    found, line = read_documents(table, options, names, numbers, model, label)
    columns = {role: found[name] for role, name in roles.items()}
    corpus = Corpus(
        path=options.file,
        line=line,
        expected=found[model.column],
        model=model,
        # Unless a column or a file says more, documents are a simple random sample.
        design=Design("equal", [], None, 0),
        # Labels of another file are filled in below.
        label=columns.get("label", np.full(line.size, np.nan)),
        id_name=roles.get("id", ""),
        ids=columns.get("id"),
        inclusion=columns.get("inclusion"),
        size=columns.get("size"),
    )
    if label is not None:
        corpus.label_source = f"column {label!r}"
    if "inclusion" in roles:
        corpus.design.inclusion_probability = f"column {roles['inclusion']!r}"
    # Codes need less memory than the names of millions of rows.
    for role in {"strata", "groups", "by"} & roles.keys():
        setattr(corpus, role, coded(columns[role]))
    if "date" in roles:
        corpus.period, corpus.day = find_periods(columns["date"], line, options)
        corpus.months = _lengths(corpus.period.names, corpus.day, options)
    if options.labels is not None or options.design is not None:
        _join_files(corpus, options)
    if corpus.strata is not None:
        corpus.design.strata = corpus.strata.names
    _check_labels(corpus)
    return corpus


def _check_labels(corpus: Corpus) -> None:
    """Raise if a label is above 1, the most that a probability counts.

    A note says if the labelled documents are the first ones of the file.
    """
    above = np.flatnonzero(corpus.label > 1)
    if corpus.model.is_proba and above.size:
        raise CommandError(
            f"{corpus.label_source}: labels must be 0 or 1 or between them, because "
            f"the model's {corpus.model.column!r} has probabilities. {above.size} "
            f"labels are above 1: {corpus.label[above[0]]:g} in "
            f"{_places(corpus, above)} of {corpus.path}. If labels are codes or "
            "percentages, name the one that counts as 1 with --pos-label. If they "
            "count events, name the column of the model's expected counts with "
            "--expected."
        )
    rows = np.flatnonzero(~np.isnan(corpus.label))
    # Whoever labels a file from its top stops somewhere, and files are often sorted by
    # date or by score.
    is_first = 0 < rows.size < corpus.label.size and rows[-1] == rows.size - 1
    if is_first and corpus.design.n_drawn is None and corpus.inclusion is None:
        corpus.notes.append(
            f"The labelled documents are the first {rows.size} of the file. Unless the "
            "file is in random order, they are not a random sample, and the interval "
            "is not valid."
        )


def _roles(table: Table, options: Namespace) -> tuple[Model, dict[str, str]]:
    """Return the column of the model, and the columns of other roles."""
    roles = given_columns(table, options, "strata", "groups", "by", "size", "date")
    if options.labels is None:
        roles |= _find_column(table, options, "label", taken=roles.values())
    # A column that has another role is not the model, even if its name is usual.
    model = find_model(table, options, roles.values())
    if model is None:
        what = "the column of the model's probabilities or expected counts"
        raise not_named(table, "--proba or --expected", what, taken=roles)
    if options.design is None:
        roles |= _find_column(table, options, "inclusion")
    # Other files are joined by id. Without them, an id only names a row in messages.
    if options.labels is None and options.design is None:
        usual = zip(["id"], table.usual("id"), strict=False)
        roles |= given_columns(table, options, "id") or dict(usual)
    else:
        roles["id"] = find_id(table, options)
    label, inclusion = roles.get("label"), roles.get("inclusion")
    _check_different(table, label=label, proba=model.column, inclusion=inclusion)
    return model, roles


def open_documents(path: Path) -> Table:
    """Return the columns of a file, without its cells."""
    with command_errors(path, shown=_IN_FILE):
        return open_table(open_source(path))


def read_columns(
    table: Table, columns: Mapping[str, Any], may_miss: Iterable[str | None] = ()
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the cells of columns by their names, and the line of each row."""
    with command_errors(table.path, shown=_IN_FILE):
        lines = np.concatenate(table.read(list(columns.values())))
        for name, column in columns.items():
            if name not in may_miss and column.first_missing is not None:
                raise CommandError(
                    f"{table.path}: column {name!r} must have a value for every "
                    "document, including labelled documents. Got an empty cell in line "
                    f"{column.first_missing}. Fill it in, or leave the document out "
                    "of the corpus before documents are drawn."
                )
        return {name: column.finish() for name, column in columns.items()}, lines


def read_documents(
    table: Table,
    options: Namespace,
    names: Iterable[str],
    numbers: Iterable[str] = (),
    model: Model | None = None,
    label: str | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the cells of names, numbers, a model and labels, and lines of the rows."""
    readers: dict[str, Any] = {name: Numbers(name) for name in numbers}
    if model is not None:
        fractions = Fractions(model.column, percent=False)
        readers[model.column] = fractions if model.is_proba else Numbers(model.column)
    if label is not None:
        readers[label] = Numbers(label, words=True, pos_label=options.pos_label)
    for name in names:
        # A column is read once, by one reader.
        if not isinstance(readers.setdefault(name, Names(name)), Names):
            raise CommandError(
                f"{table.path}: column {name!r} is read as numbers and as names. "
                "Choose different columns."
            )
    # An empty label means that nobody labelled the document.
    return read_columns(table, readers, may_miss=[label])


def given_columns(table: Table, options: Namespace, *names: str) -> dict[str, str]:
    """Return the columns that options name, which the table must have."""
    options_of = ((name, getattr(options, name)) for name in names)
    given = {name: column for name, column in options_of if column is not None}
    with command_errors(table.path):
        for name, column in given.items():
            table.check([column], name)
    return given


def _find_column(
    table: Table, options: Namespace, *roles: str, taken: Collection[str] = ()
) -> dict[str, str]:
    """Return a column by its role: a given one, or the only one with a usual name."""
    given = given_columns(table, options, *roles)
    usual = {name: r for r in roles for name in table.usual(r) if name not in taken}
    if not given and len(usual) > 1:
        # A wrong guess would not be seen in the result.
        names = " and ".join(map(repr, usual))
        choice = " or ".join(f"{as_option(role)} COL" for role in roles)
        raise CommandError(f"{table.path}: {names} may each be meant. Choose {choice}.")
    return given or {role: name for name, role in usual.items()}


def not_named(
    table: Table,
    option: str,
    what: str,
    how: str = "",
    taken: Mapping[str, str] | None = None,
) -> CommandError:
    """Return the error for an option that must name a column; `how` ends it.

    `taken` are columns by the options that name them.
    """
    why = "no column has a usual name"
    usual = table.usual(*_KINDS)
    for role, name in (taken or {}).items():
        if name in usual:
            why = f"{as_option(role)} names {name!r}, which has a usual name"
    return CommandError(
        f"{table.path}: {option} must name {what}, since {why}. Columns are "
        f"{', '.join(table.names)}.{how}"
    )


def find_id(table: Table, options: Namespace) -> str:
    """Return the column of document ids."""
    for name in _find_column(table, options, "id").values():
        return name
    how = (
        " If documents have no id, add a column of numbers first: labels are joined by "
        "id, not by position."
    )
    raise not_named(table, "--id", "the column of document ids", how)


def find_model(
    table: Table, options: Namespace, taken: Collection[str] = ()
) -> Model | None:
    """Return the column of the model, given or with a usual name."""
    found = _find_column(table, options, *_KINDS, taken=taken)
    for role, name in found.items():
        return Model(name, _KINDS[role])
    return None


def check_known(
    path: Path,
    names: np.ndarray,
    lines: np.ndarray,
    is_known: np.ndarray,
    where: str,
    how: str,
) -> None:
    """Raise if labels are of names that a file does not have."""
    unknown = np.flatnonzero(~is_known)
    if unknown.size:
        shown = [f"{names[k]} (line {lines[k]})" for k in unknown[:_SHOWN]]
        raise CommandError(
            f"{path}: {unknown.size} of {lines.size} labels are of names that {where} "
            f"does not have: {_listed(shown, unknown.size)}. {how} Spreadsheet "
            "programs change some names, for example 007 to 7."
        )


def check_unique(
    path: Path,
    ids: np.ndarray,
    lines: np.ndarray,
    name: str,
    how: str = "Keep one of them, or choose another column with --id.",
) -> None:
    """Raise if two rows have one id."""
    # A set is faster than the search for the first repeated id, which is rarely needed.
    n_repeated = len(ids) - len(set(ids.tolist()))
    if not n_repeated:
        return
    first: dict[str, int] = {}
    for each, line in zip(ids.tolist(), lines.tolist(), strict=True):
        if first.setdefault(each, line) != line:
            raise CommandError(
                f"{path}: each {name} must have one row. {n_repeated} of {len(ids)} "
                f"rows repeat an earlier one: {name} {each!r} is in lines "
                f"{first[each]} and {line}. {how}"
            )


def factorised(names: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return a code for each name in order of appearance, and the names."""
    known: dict[Any, int] = {}
    codes = (known.setdefault(name, len(known)) for name in names.tolist())
    return np.fromiter(codes, np.intp, names.size), list(known)


def coded(names: np.ndarray) -> Codes:
    """Return a code for each name, and the names; numbers are sorted as numbers."""
    codes, different = factorised(names)
    # As Python sorts texts: an array of texts has the width of the longest one.
    order = np.argsort(np.array(different, dtype=object), kind="stable")
    # Otherwise, 10 would stand before 9.
    with suppress(ValueError):
        numbers = as_numbers(different)
        if not np.isnan(numbers).any():
            order = np.argsort(numbers, kind="stable")
    return Codes(np.argsort(order)[codes], [different[k] for k in order])


def _check_different(table: Table, **columns: str | None) -> None:
    """Raise if one column has two roles."""
    seen: dict[str, str] = {}
    for role, name in columns.items():
        if name is not None and seen.setdefault(name, role) != role:
            raise CommandError(
                f"{table.path}: {as_option(seen[name])} and {as_option(role)} must be "
                f"different columns. Got {name!r} for both."
            )


def _join_files(corpus: Corpus, options: Namespace) -> None:
    """Add the labels and the design of other files."""
    assert corpus.ids is not None
    check_unique(options.file, corpus.ids, corpus.line, corpus.id_name)
    # A design says which documents were drawn; without it, the labelled ones were.
    drawn = np.zeros(corpus.line.size, dtype=bool)
    if options.design is not None:
        drawn = _read_design(corpus, options)
    if options.labels is not None:
        rows, labels = _read_labels(corpus, options)
        corpus.label[rows] = labels
        corpus.label_source = str(options.labels)
        beside = design_path(options.labels)
        if options.design is None:
            drawn[rows] = True
            # A forgotten design would make all inclusion probabilities equal.
            if corpus.inclusion is None and beside.exists():
                corpus.notes.append(
                    f"{beside} is beside the labels and is not used. If these "
                    f"documents were drawn with this design, add --design {beside}."
                )
    corpus.design.n_drawn = int(drawn.sum())
    _check_drawn(corpus, drawn, options)


# Options that a proposed command repeats.
_DATES = ("date", "freq", "date_format")
_OF_COUNT = (*_DATES, "mean", "confidence_level")
_REPEATED = {"sample": ("size", *_DATES), "count": _OF_COUNT}


def proposed(
    options: Namespace,
    command: str,
    words: Iterable[str],
    id_name: str | None,
    model: Model | None,
) -> str:
    """Return a command on the same file, with the options of this one that it has.

    `words` follow the file. An option with its default is left out.
    """
    model = model or Model("COL", _KINDS["proba"])
    given: dict[str, Any] = {"id": id_name}
    given["proba" if model.is_proba else "expected"] = model.column
    given |= {name: getattr(options, name, None) for name in _REPEATED[command]}
    more: list[str] = []
    for name, value in given.items():
        if value not in (None, False, LEVEL):
            more += [as_option(name), *([] if value is True else [str(value)])]
    return shlex.join(["skcalib", command, str(options.file), *words, *more])


def design_path(sample: Path) -> Path:
    """Return where the design of a sample is written, beside the sample."""
    return sample.with_name(f"{sample.stem.removesuffix('.sample')}.design.csv")


def _read_labels(corpus: Corpus, options: Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the corpus in a file of labels, and their labels."""
    path = options.labels
    table = open_documents(path)
    # 'skcalib sample' writes a name such as "=id" after an apostrophe.
    names = [n for n in (corpus.id_name, as_cell(corpus.id_name)) if n in table.names]
    # Annotators may rename the column.
    id_name = names[0] if names else find_id(table, options)
    label = _find_column(table, options, "label").get("label")
    if label is None:
        raise not_named(table, "--label", "the column of labels")
    _check_different(table, id=id_name, label=label)
    found, line = read_documents(table, options, [id_name], label=label)
    check_unique(path, found[id_name], line, id_name)
    rows = _rows_of(corpus, found[id_name].tolist())
    how = (
        f"The ids of the corpus are in its column {corpus.id_name!r}; choose another "
        "column with --id."
    )
    check_known(path, found[id_name], line, rows >= 0, str(corpus.path), how)
    return rows, found[label]


def _rows_of(corpus: Corpus, names: list[str]) -> np.ndarray:
    """Return the row of each id in the corpus, or -1.

    An id may be as it is, or as 'skcalib sample' writes it: '=1 for =1.
    """
    assert corpus.ids is not None
    if names == corpus.ids.tolist():
        # 'skcalib sample' writes the design in the order of the corpus.
        return np.arange(len(names))
    # Most samples are in another order than the corpus, and shorter.
    wanted = {name: k for k, name in enumerate(names)}
    rows = np.full(len(names), -1, dtype=np.intp)
    for row, name in enumerate(corpus.ids.tolist()):
        place = wanted[name] if name in wanted else wanted.get(as_cell(name))
        if place is not None:
            rows[place] = row
    return rows


def _read_design(corpus: Corpus, options: Namespace) -> np.ndarray:
    """Add inclusion probabilities and strata of a design; return the drawn rows."""
    path = options.design
    table = open_documents(path)
    for name in (ID, PROBABILITY, DRAWN):
        if name not in table.names:
            raise CommandError(
                f"{path}: --design must be a file that 'skcalib sample' has written, "
                f"with the columns {ID}, {PROBABILITY}, {DRAWN}. It has no {name!r}. "
                "Inclusion probabilities in a column of the corpus are named by "
                "--inclusion."
            )
    names = [name for name in (ID, STRATUM) if name in table.names]
    found, line = read_documents(table, options, names, [PROBABILITY, DRAWN])
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
    # Rows of the design may be in another order than the corpus.
    order = np.argsort(rows)
    corpus.inclusion = found[PROBABILITY][order]
    corpus.design.inclusion_probability = str(path)
    if STRATUM in found:
        corpus.strata = coded(found[STRATUM][order])
    return found[DRAWN][order] > 0


def _check_drawn(corpus: Corpus, drawn: np.ndarray, options: Namespace) -> None:
    """Compare the labelled documents with the drawn documents."""
    labelled = ~np.isnan(corpus.label)
    # Such documents were chosen for another reason, with unknown probabilities.
    extra = np.flatnonzero(labelled & ~drawn)
    if extra.size:
        raise CommandError(
            f"{corpus.label_source}: {extra.size} of {int(labelled.sum())} labels are "
            "of documents that were not drawn: "
            f"{_places(corpus, extra)} of {corpus.path}. Labels of documents that were "
            "chosen in another way make the interval invalid. Remove them."
        )
    missed = np.flatnonzero(drawn & ~labelled)
    # Without any label, the count says so, which is the better message.
    if not missed.size or not labelled.any():
        return
    corpus.design.n_drawn_without_label = missed.size
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
    strata = corpus.strata.code if corpus.strata else np.zeros(drawn.size, np.intp)
    held = np.bincount(strata, drawn)
    with np.errstate(invalid="ignore"):
        share = np.bincount(strata, labelled) / held
    corpus.inclusion = corpus.inclusion * share[strata]


def _places(corpus: Corpus, rows: np.ndarray) -> str:
    return _listed([corpus.place(row) for row in rows[:_SHOWN]], rows.size)


def _listed(names: Sequence[str], n: int) -> str:
    return ", ".join(names) + (", ..." if n > len(names) else "")


def find_periods(
    dates: np.ndarray, lines: np.ndarray, options: Namespace
) -> tuple[Codes, np.ndarray]:
    """Return the period and the day of each date of the column --date."""
    freq = options.freq
    codes, texts = coded(dates)

    def line_of(k: int) -> str:
        return f"line {lines[int((codes == k).argmax())]}"

    # Each different text is read once: a corpus has many documents of one day.
    days = []
    for k, text in enumerate(texts):
        try:
            # A date that cannot be read is an error: leaving its document out would
            # bias the count.
            days.append(_parse(text, freq, options.date_format))
        except CommandError as error:
            where = f"{options.file}: {line_of(k)}, column {options.date!r}"
            raise CommandError(f"{where}: {error}") from None
    try:
        labels, number = place_in_calendar(days, freq)
    except TooManyPeriods as error:
        first, last = (f"{days[k]} ({line_of(k)})" for k in (error.first, error.last))
        raise CommandError(
            f"{options.file}: dates from {first} to {last} are {error.n:,} periods of "
            f"a {freq}. Correct the dates, or choose a longer --freq."
        ) from None
    return Codes(number[codes], labels), np.array(days, dtype=object)[codes]


def _lengths(names: list[str], day: np.ndarray, options: Namespace) -> np.ndarray:
    """Return the months of periods: given ones, or from the dates."""
    if options.lengths is None:
        return months_of(day, len(names), options.freq)
    try:
        found = np.array(options.lengths, dtype=np.float64)
    except ValueError:
        found = np.zeros(0)
    if len(found) != len(names) or not ((found > 0) & (found < np.inf)).all():
        raise CommandError(
            f"--lengths must have {len(names)} positive numbers, one for each period "
            f"from {names[0]} to {names[-1]}. Got {','.join(options.lengths)}."
        )
    return found


def _parse(text: str, freq: str, date_format: str | None) -> datetime.date:
    """Return the day of a date; the first day of a month or year."""
    if date_format is not None:
        try:
            day = datetime.datetime.strptime(text, date_format).date()
        except ValueError:
            raise CommandError(
                f"must have dates as {date_format!r}. Got {text!r:.60}."
            ) from None
        # strptime fills in January for a missing month, and the day 1.
        _check_resolution(_resolution_of(date_format), freq, text)
        return day
    found = parse_date(text.strip('"'))  # quoted in parquet files
    if found is None:
        raise CommandError(_no_date(text))
    parts, resolution = found
    _check_resolution(resolution, freq, text)
    try:
        return datetime.date(*parts)
    except ValueError as error:
        raise CommandError(f"{text!r} is not a date: {error}.") from None


def _check_resolution(resolution: str, freq: str, text: str) -> None:
    if _GRAIN[resolution] < _GRAIN[freq]:
        raise CommandError(
            f"{text!r} does not say which {freq} it is. Choose a longer --freq."
        )


def _resolution_of(date_format: str) -> str:
    """Return what dates of a format say: the year, the month or the day."""
    # Year, month and day differ from the values that strptime fills in (1900-01-01).
    day = datetime.datetime(2001, 11, 23)
    found = datetime.datetime.strptime(day.strftime(date_format), date_format)
    if found.year != day.year:
        raise CommandError(f"--date-format {date_format} does not have a year, as %Y.")
    if found.month != day.month:
        return "year"
    return "day" if found.day == day.day else "month"


def _no_date(text: str) -> str:
    if _SLASHED.fullmatch(text):
        mark = "/" if "/" in text else "."
        # Both orders are common, and many dates are valid in both.
        formats = [each.replace("/", mark) for each in ("%d/%m/%Y", "%m/%d/%Y")]
        passed = " or ".join(f"--date-format {each}" for each in formats)
        return f"{text!r} may begin with the day or with the month. Pass {passed}."
    return (
        "must have dates such as 2024-05-31, 2024-05, 2024Q2 or 2024. Got "
        f"{text!r:.60}. Pass --date-format for other formats, such as %d.%m.%Y."
    )
