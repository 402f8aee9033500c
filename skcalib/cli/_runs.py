"""Runs of systems: the files that ``report`` and ``compare`` read, as arrays.

A run is one system on one file, or on one file per task.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._pairs import SHARES, number_of_shares
from ..evaluation import (
    Evaluation,
    _inspect,
    align_evaluations,
    read_evaluation,
    read_evaluations,
)
from ..evaluation._align import AlignedEvaluations, are_row_numbers
from ..evaluation._decisions import NAME as DECISIONS
from ..evaluation._evaluation import IDENTIFYING, check_groups, rule_of, varying
from ..evaluation._files import open_source
from ..evaluation._table_answers import NAME as TABLE
from ..evaluation._table_answers import SYSTEMS_NOTE, of_one_model
from ..evaluation._tables import CHUNK, USUAL, open_table
from ..rates import accuracy_interval, sampled_confidence
from ..rates._accuracy import large_group
from ._blocks import Estimate, estimate_of
from ._corpus import factorised
from ._labels import JudgedReport, judged_report
from ._options import reject
from ._shared import CommandError, NoAnswers, command_errors, in_options

# What right or wrong answers have, answers with other scores, grades, and labels.
ACCURACY, SCORE, GRADE, FREQUENCY = "accuracy", "mean score", "mean grade", "frequency"

# Above this file size in bytes, progress is shown on a terminal.
_LONG = 20_000_000

# Options that name a column of a plain table, and the role of the column.
_COLUMNS = {"y_true": "score", "y_proba": "proba", "question": "question"}
# Options of `report` for a table with answers instead of scores.
_OF_ANSWERS = ("gold", "prediction")
# Options of `compare` that say how questions are matched.
_MATCHING = ("missing", "duplicates", "mismatch", "unanswered")
# Options that a reader takes as they are.
_CHOICES = (
    *("format", "score", "filter", "split", "model"),
    *("pos_label", "scale", "percent"),
)

# Rules for samples without an answer that --unanswered chooses.
_RULES = {
    "wrong": "Samples without an answer count as wrong.",
    "drop": "Samples without an answer are left out.",
    "separate": "Samples without an answer are left out and counted separately.",
}

# Columns of the tasks of a run that are joined as they are.
_JOINED = ("repeat", "score", "proba", "status", "_sample", *IDENTIFYING.values())

# Largest share of answers whose probability is not used because of a partial score.
_MOST_PARTIAL = 0.1

# More systems are names of questions by mistake, and their pairs take too long.
_MOST_SYSTEMS = 100

# The beginning of the note on a file of a folder.
_LEFT_OUT = "Left out:"

# The time of a run in the name of its file.
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}([.+-]\d+)*")

_ROW_NUMBERS = (
    "The questions are named by numbers without gaps, and no other column identifies "
    "them. If they are row numbers, all files must have the same order."
)

# What errors of a command propose in addition.
_REPORT_SHOWN = {
    "missing": "",
    "_empty": "must have no empty cells (--skip-missing leaves such rows out)",
    "_by": ", or report the accuracy of each word with --by",
    "_gold": "name right answers with --gold and the model's with --prediction, or ",
    "_judged": (
        " If a judge scored all answers and people a few of them, name the judge's "
        "scores with --y-true and the file of people's scores with --labels. If both "
        "are columns of this file, run skcalib count FILE --mean --proba JUDGE --label "
        "PEOPLE."
    ),
}
_COMPARE_SHOWN = {"_gold": "name the column of right answers with --gold, or "}
_TRANSLATIONS = (
    " If each line is a translation, pass --metric bleu and --reference FILE."
)


@dataclass
class _File:
    """The answers of one system in one file."""

    path: Path
    name: str | None
    evaluation: Evaluation
    # The folder that the command names, if it does not name the file.
    folder: Path | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """The system and the folder; a harness writes the tasks of a run into one."""
        e, folder = self.evaluation, str(self.path.resolve().parent)
        # Without a model, files that the command names may be systems.
        name = self.name if e.model is None and self.folder is None else None
        return e.format, e.model, folder, name


@dataclass
class Answers:
    """Scored answers as arrays; question, groups and `by` are codes, or None."""

    y: np.ndarray
    q: np.ndarray
    question: np.ndarray | None = None
    groups: np.ndarray | None = None
    by: np.ndarray | None = None
    group_names: list[str] = field(default_factory=list)
    by_names: list[str] = field(default_factory=list)
    # Whether `by` names the groups, so that each part is one group.
    is_by_group: bool = False

    def __getitem__(self, rows: np.ndarray) -> Answers:
        columns = {n: getattr(self, n) for n in ("y", "q", "question", "groups", "by")}
        taken = {n: column[rows] for n, column in columns.items() if column is not None}
        return replace(self, **taken)

    def parts(self) -> dict[str, Answers]:
        """Return the answers of each value of the column `by`, as they appear."""
        if self.by is None:
            return {}
        # One sort for all parts: a mask per value is slow if there are many.
        # Stable, so that the rows of a part keep the order of the file.
        order = np.argsort(self.by, kind="stable")
        ends = np.cumsum(np.bincount(self.by, minlength=len(self.by_names)))
        # A part that is one group has no variance between groups: its answers are its
        # sample.
        every = replace(self, groups=None) if self.is_by_group else self
        rows_of = zip(self.by_names, np.split(order, ends[:-1]), strict=True)
        return {str(name): every[rows] for name, rows in rows_of if rows.size}

    @property
    def dependent(self) -> np.ndarray | None:
        """The groups within which answers depend on each other."""
        return self.question if self.groups is None else self.groups

    @property
    def clusters(self) -> np.ndarray | None:
        """The groups of dependent answers, if there are two or more."""
        codes = self.dependent
        return codes if codes is not None and (codes != codes[0]).any() else None


@dataclass
class System:
    """Content of the files of one system. `evaluation` no longer has rows."""

    name: str
    file: str
    evaluation: Evaluation
    answers: Answers
    unanswered: dict[str, int]
    n_skipped: int
    rule: str
    by_name: str | None
    files: list[str]
    is_graded: bool
    # Name of the probabilities: their column, or what a harness wrote.
    probability: str
    scale: tuple[float, float] | None = None
    if_wrong: Estimate | None = None
    judged: JudgedReport | None = None

    @property
    def title(self) -> str:
        """Name of a single curve in a figure."""
        return safe_stem(Path(self.file)) if self.is_table else self.name

    @property
    def is_table(self) -> bool:
        """Whether the file is a plain table and not a file of a harness."""
        return self.evaluation.format == TABLE


@dataclass
class Inputs:
    """The systems of ``compare``: their names, files and aligned answers.

    `samples` are the names of the only sample of each question, of systems that have
    such names.
    """

    files: dict[str, list[str]]
    aligned: AlignedEvaluations
    by_name: str | None
    notes: list[str]
    samples: dict[str, dict[str, str]]


def word_of(*systems: System) -> str:
    """Return what the outcomes of systems have."""
    if not all(each.is_graded for each in systems):
        return FREQUENCY
    if any(each.scale is not None for each in systems):
        return GRADE
    # Several systems share one figure, whose axis has one name.
    are_whole = all(np.isin(each.answers.y, (0, 1)).all() for each in systems)
    return ACCURACY if are_whole else SCORE


def read_systems(options: Namespace) -> list[System]:
    """Return the systems of all files for ``report``."""
    runs = _runs(_read_files(options, lambda path: list(_read_each(path, options))))
    systems = [_system(run, options) for run in runs]
    names = [system.name for system in systems]
    for system in systems:
        if names.count(system.name) > 1:
            # Two files of one model are told apart by their paths.
            system.name = system.file
    return systems


def read_inputs(options: Namespace) -> Inputs:
    """Return the systems of all files for ``compare``, on the same questions."""
    found = _read_files(options, lambda path: _read_all(path, options))
    runs = _runs(found)
    notes = dict.fromkeys(note for each in found for note in each.evaluation.notes)
    # Folders of harnesses often have short trial runs.
    runs = _with_two_questions(runs, notes)
    if len(runs) < 2:
        # The second system may be in a file that was left out.
        left = "".join(f" {note}" for note in notes if note.startswith(_LEFT_OUT))
        raise CommandError(
            f"compare needs at least two systems. Got one, of {found[0].path}. Pass "
            f"one file per system, or a table with one column per system.{left}"
        )
    _check_tasks(runs)
    if len(runs) > _MOST_SYSTEMS:
        raise CommandError(
            f"compare needs at most {_MOST_SYSTEMS} systems. Got {len(runs)}, such as "
            f"{runs[0][0].name!r}. Call the column of systems 'model'."
        )
    if options.systems is None:
        # With --systems, the user has said what the columns are.
        _check_one_reading(found)
    named = dict(zip(_names(runs), runs, strict=True))
    evaluations = {name: _joined(run) for name, run in named.items()}
    with command_errors(options=options):
        how = {name: getattr(options, name) for name in _MATCHING}
        aligned = align_evaluations(evaluations, **how)
    formats = dict.fromkeys(e.format for e in evaluations.values())
    if TABLE not in formats:
        why = (
            "applies to plain tables. The files are read as files of "
            f"{', '.join(formats)}."
        )
        reject(options, ["question"], why)
    else:
        is_checked = bool(aligned.groups) or any(
            e.right_answer is not None or e.prompt is not None
            for e in evaluations.values()
        )
        if (
            len({each.path for each in found}) > 1
            and not is_checked
            and are_row_numbers(aligned.question)
        ):
            notes[_ROW_NUMBERS] = None
        if options.groups is None:
            # Dependence that nobody mentioned makes p-values too small, so that a note
            # proposes groups.
            notes |= dict.fromkeys(_passages(aligned))
    # A run of several tasks is compared by task, also if nobody asked for it.
    by_name = options.by or next(filter(None, map(_parts_of, runs)), None)
    files = {name: [str(each.path) for each in run] for name, run in named.items()}
    samples = {
        name: dict(zip(e.question.tolist(), e._sample.tolist(), strict=True))
        for name, e in evaluations.items()
        if options.labels and e._sample is not None
    }
    return Inputs(files, aligned, by_name, list(map(in_options, notes)), samples)


def _passages(aligned: AlignedEvaluations) -> Iterator[str]:
    """Yield the attributes that several questions share, which may be groups."""
    n = len(aligned)
    for name, values in aligned.groups.items():
        n_values = len(set(values.tolist()))
        if name.lower().strip() in USUAL["passage"] and 1 < n_values < n:
            yield (
                f"The {n:,} questions have {n_values:,} values of {name!r}. If answers "
                "to questions with one value depend on each other, add --groups "
                f"{name}."
            )


def _reading(options: Namespace) -> dict[str, Any]:
    """Return the arguments of a reader that options give."""
    given = {role: getattr(options, name, None) for name, role in _COLUMNS.items()}
    return {
        "columns": {role: name for role, name in given.items() if name is not None},
        **{name: getattr(options, name) for name in _CHOICES if name in options},
    }


def _read_each(path: Path, options: Namespace) -> Iterator[_File]:
    """Yield the only system of a file, the one of --model, or all if --by names them.

    The mean of several systems is the accuracy of none of them.
    """
    every = _read_one(path, options)
    found = [every]
    if _has_systems(every, options):
        systems = every.groups[options.by]
        names = [name for name in dict.fromkeys(systems.tolist()) if name]
        found = [of_one_model(every, systems, name) for name in names]
    for part in found:
        evaluation = _with_questions(path, part, options.prediction)
        if options.confidence is not None:
            shown = {"answers": "--confidence agreement: the file"}
            with command_errors(path, shown=shown):
                evaluation = _most_frequent(evaluation, options, path)
        yield _File(path, evaluation.model, evaluation)


def _has_systems(evaluation: Evaluation, options: Namespace) -> bool:
    """Return whether --by names the column of the systems of a table."""
    by = options.by or ""
    return evaluation.format == TABLE and by.lower().strip() in USUAL["model"]


def _read_one(path: Path, options: Namespace) -> Evaluation:
    """Return the answers of a file, or those of --model."""
    may_miss = options.skip_missing or options.unanswered is not None
    reading = _reading(options)
    given = {name: getattr(options, name) for name in _OF_ANSWERS}
    inside = [options.groups, options.by]
    if options.confidence is not None:  # it replaces a column of probabilities
        reading["columns"]["proba"] = ""
        inside.append(given["prediction"])
        if options.gold is None:  # a column says which answers are right
            given["prediction"] = None
    reading["columns"] |= {k: name for k, name in given.items() if name is not None}
    with command_errors(path, options, _REPORT_SHOWN):
        evaluation = read_evaluation(
            path,
            **reading,
            groups=[name for name in dict.fromkeys(inside) if name is not None],
            missing="keep" if may_miss else "error",
            # In a log, lines of progress would be noise.
            verbose=int(sys.stderr.isatty() and _is_long(path)),
        )
    if evaluation.format != TABLE and options.prediction is not None:
        raise CommandError(
            f"{path} is read as a file of {evaluation.format}, to which --prediction "
            f"does not apply. Read the file as a plain table with --format {TABLE}."
        )
    return evaluation


def _with_questions(path: Path, found: Evaluation, sampled: str | None) -> Evaluation:
    """Raise an error if rows of a table with one name are of several questions.

    Other attributes that differ between the rows of a question give a note, except the
    column of sampled answers.
    """
    columns = {"right answers": found.right_answer, **found.groups}
    for what, texts in columns.items() if found.format == TABLE else ():
        several = {} if texts is None else varying(found, texts)
        if not several or what == sampled:
            continue
        question, (one, other) = next(iter(several.items()))
        is_name = what in found.groups
        values = f"values of {what!r}" if is_name else what
        got = (
            f"rows of the question {question!r:.60} with the {values} {one!r:.60} and "
            f"{other!r:.60}"
        )
        if is_name and what.lower().strip() not in USUAL["subject"] + USUAL["passage"]:
            note = f"There are {got}. They count as samples of one question."
            found = replace(found, notes=(*found.notes, note))
            continue
        raise CommandError(
            f"{path}: --question must name a column that differs between questions. "
            f"Got {got}. If the names begin again in each part of the file, join the "
            "part and the name in one column. If only the order of the options "
            "differs, remove the column of right answers."
        )
    return found


def _most_frequent(
    evaluation: Evaluation, options: Namespace, path: Path
) -> Evaluation:
    """Return the most frequent answer of each question, with its share as confidence.

    The score of an answer is the score of its first sample.
    """
    column = options.prediction
    if evaluation.format != TABLE:
        scored = evaluation.scored(options.unanswered)
        evaluation = replace(scored, notes=evaluation.notes)
    elif column is None:
        raise CommandError(
            "--confidence agreement needs --prediction COL, the column of the sampled "
            "answers."
        )
    # The agreement is of texts: samples that failed have none and are not counted.
    samples = evaluation._samples(column)
    for question, each in samples.items():
        if len(each.answers) < 2:
            raise CommandError(
                f"{path}: --confidence agreement needs at least two samples of each "
                f"question. Got one of question {question!r}."
            )
    found = sampled_confidence([each.answers for each in samples.values()])
    chosen = list(zip(samples.values(), found.chosen.tolist(), strict=True))
    score = np.array([each.scores[k] for each, k in chosen], dtype=float)
    if evaluation.format != TABLE and np.isnan(score).any():
        question = list(samples)[int(np.isnan(score).argmax())]
        raise CommandError(
            f"{path}: --confidence agreement needs the score of the most frequent "
            f"answer. Got only the score of another answer to question {question!r}. "
            "Choose a filter that takes a majority vote with --filter."
        )
    # The set has one number if all questions have as many samples.
    several = "-".join(map(str, sorted({found.n_draws.min(), found.n_draws.max()})))
    note = (
        f"The {len(chosen):,} answers are the most frequent of {several} samples. The "
        "confidence is the share of the samples that agree."
    )
    return replace(
        evaluation.take(np.array([each.rows[k] for each, k in chosen])),
        score=score,
        proba=found.share,
        repeat=np.zeros(len(chosen), dtype=evaluation.repeat.dtype),
        notes=(*evaluation.notes, note),
    )


def _read_all(path: Path, options: Namespace) -> list[_File]:
    """Return the systems of a file."""
    shown = dict(_COMPARE_SHOWN)
    if path.suffix.lower() == ".txt":
        # Whoever compares translations may not know of --metric.
        shown["_metric"] = _TRANSLATIONS
    inside = dict.fromkeys([options.groups, options.by])
    with command_errors(path, options, shown):
        found = read_evaluations(
            path,
            systems=options.systems,
            gold=options.gold,
            groups=[name for name in inside if name not in (None, "question")],
            **_reading(options),
        )
    for name, evaluation in found.items():
        if evaluation.format == TABLE:
            _check_names(f"{path}: {name}", evaluation)
    return [_File(path, name, evaluation) for name, evaluation in found.items()]


def _is_long(path: Path) -> bool:
    """Return whether a file, or the files of a folder, take long to read."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) > _LONG


def _read_files(options: Namespace, read: Callable[[Path], list[_File]]) -> list[_File]:
    """Return what `read` finds in the files and folders that the command names."""
    found = []
    for path in options.file:
        if path.is_dir() and not (path / "per_instance_stats.json").is_file():
            found += _read_folder(path, options, read)
            continue
        try:
            found += read(path)
        except NoAnswers as error:
            # One file of many without answers stops the command, since it was named.
            hint = " If the command names its folder, such a file is left out."
            raise CommandError(f"{error}{hint * (len(options.file) > 1)}") from None
    if not any(each.evaluation.has_proba for each in found):
        why = "needs probabilities. The files have none."
        why += " Name their column with --y-proba." * ("y_proba" in options)
        reject(options, ["percent"], why, f"{found[0].path}: ")
    return found


def _read_folder(
    folder: Path, options: Namespace, read: Callable[[Path], list[_File]]
) -> list[_File]:
    """Return what is in a folder; notes name the files that are left out.

    These are files without scores or without an end, and earlier runs.
    """
    found: list[_File] = []
    left = []
    for path in _files_of(folder):
        try:
            found += read(path)
            # Scoring shows now whether any sample has a score: later, the error would
            # end the command.
            for each in found[-1:]:
                each.evaluation.scored(options.unanswered)
        except NoAnswers as error:
            left.append(f"{_LEFT_OUT} {path}. It {str(error).removeprefix(f'{path} ')}")
        except ParameterError as error:  # no sample has a score
            del found[-1]
            left.append(f"{_LEFT_OUT} {path}. It {error.problem}")
    if not found:
        raise CommandError(f"{folder} has no file with scores. {' '.join(left)}")
    latest: dict[Any, _File] = {}
    found = [replace(each, folder=folder) for each in found]
    # Names of one task differ in the time only: their order is the order of the runs.
    for each in sorted(found, key=lambda each: each.path.name):
        e, name = each.evaluation, _TIME.sub("", each.path.name)
        # Two runs have names that differ in their time only. Of files without a time,
        # the path distinguishes them.
        key = (*each.identity, e.task, name if name != each.path.name else each.path)
        if key in latest:
            left.append(
                f"{_LEFT_OUT} {latest[key].path}, an earlier run than {each.path}."
            )
        latest[key] = each
    first, *others = latest.values()
    # A folder has no place for notes, so that its first file has them.
    notes = (*first.evaluation.notes, *left)
    return [replace(first, evaluation=replace(first.evaluation, notes=notes)), *others]


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a folder that have samples of tasks."""
    patterns = ("samples_*.jsonl", "*_samples.jsonl", "*.eval", "details_*.parquet")
    # A folder has also results and settings, which have no answers.
    found = [file for pattern in patterns for file in folder.glob(pattern)]
    found += [file for file in folder.glob("*.json") if _is_log(file)]
    if not found:
        raise CommandError(
            f"{folder} is a folder without {', '.join(patterns)}, logs of inspect_ai "
            "or per_instance_stats.json. Pass the files."
        )
    return sorted(found)


def _is_log(path: Path) -> bool:
    """Return whether a file is a log of inspect_ai, or the beginning of a file."""
    try:
        with command_errors(path):
            # Other JSON files of a folder are settings or averages.
            return _inspect.claims(open_source(path))
    except NoAnswers:
        return True


def _with_two_questions(
    runs: list[list[_File]], notes: dict[str, None]
) -> list[list[_File]]:
    """Leave out runs of folders that have one question, with a note.

    One question is too few to compare systems.
    """
    short = [
        run
        for run in runs
        if run[0].folder is not None
        and sum(each.evaluation.n_questions for each in run) < 2
    ]
    for run in short:
        notes[f"{_LEFT_OUT} {run[0].path}, which has one question."] = None
    return [run for run in runs if run not in short]


def _check_tasks(runs: list[list[_File]]) -> None:
    """Raise if a system has several files of one task, and files of other tasks."""
    single: dict[Any, list[_File]] = {}
    for run in runs:
        # Runs of several files have different tasks already.
        if len(run) == 1 and run[0].evaluation.task is not None:
            single.setdefault(run[0].identity, []).append(run[0])
    for files in single.values():
        first: dict[str | None, _File] = {}
        for each in files:
            first.setdefault(each.evaluation.task, each)
        again = [each for each in files if first[each.evaluation.task] is not each]
        if again and len(first) > 1:
            each, other = again[0], first[again[0].evaluation.task]
            raise CommandError(
                f"{other.path} and {each.path} are two runs of the task "
                f"{each.evaluation.task!r} by one system, which has other tasks. Pass "
                "one of the two, or put the files of each system into a folder."
            )


def _check_names(where: str, evaluation: Evaluation) -> None:
    """Raise if a row of a table has an empty cell instead of a name."""
    # An empty name would be a question that all such rows share.
    columns = {"question": evaluation.question} | evaluation.groups
    for column, names in columns.items():
        n = int((names == "").sum())
        if n:
            raise CommandError(
                f"{where} has {n} row{'s' * (n > 1)} with an empty cell in column "
                f"{column!r}. Fill in each name, or remove such rows."
            )


def _check_one_reading(found: list[_File]) -> None:
    """Raise if several files have the same columns of scores.

    They may be several scores of one system per file.
    """
    first: dict[str | None, Path] = {}
    for each in found:
        if not any(note.startswith(SYSTEMS_NOTE) for note in each.evaluation.notes):
            continue
        path = first.setdefault(each.name, each.path)
        if path != each.path:
            names = [repr(other.name) for other in found if other.path == path]
            raise CommandError(
                f"{path} and {each.path} both have the columns of scores "
                f"{', '.join(names)}. If they are scores of one system per "
                "file, choose one with --score. If they are systems, pass one file "
                "with the answers of all systems."
            )


def _runs(found: list[_File]) -> list[list[_File]]:
    """Return the files of each run: one system on different tasks."""
    runs: dict[Any, list[_File]] = {}
    for each in found:
        runs.setdefault(each.identity, []).append(each)
    separate: list[list[_File]] = []
    for run in runs.values():
        tasks = [each.evaluation.task for each in run]
        # Two files of one task are two systems, not two parts of a run.
        # Files without the name of a task cannot be tasks of one run.
        if len(run) > 1 and (None in tasks or len(set(tasks)) < len(tasks)):
            separate += [[each] for each in run]
        else:
            separate.append(run)
    return separate


def _name_of(run: list[_File]) -> str:
    """Return the name of a system, or of the folder of its tasks."""
    if len(run) > 1 and run[0].evaluation.model is None:
        return run[0].path.resolve().parent.name
    return str(run[0].name or run[0].path.stem)


def _names(runs: list[list[_File]]) -> list[str]:
    """Return names that identify the systems: model, file, folder or path."""
    choices: list[list[str]] = [
        [_name_of(run) for run in runs],
        [run[0].path.stem for run in runs],
        [run[0].path.resolve().parent.name for run in runs],
        [str(run[0].path) for run in runs],
    ]
    # The first kind of name that differs between all systems is the shortest.
    for names in choices:
        if len(set(names)) == len(names):
            return names
    return [f"{name} {k}" for k, name in enumerate(choices[0], 1)]


def column_of(
    found: Evaluation | AlignedEvaluations, name: str, option: str, where: str = ""
) -> np.ndarray:
    """Return the group names that an option chooses.

    Metadata that a harness does not have for some questions are an error for --groups
    and a part of their own for --by.
    """
    if name in found.groups:
        values = found.groups[name]
        lacks = values == ""
        # Empty cells of a table are an error, or their rows are left out.
        if not lacks.any() or getattr(found, "format", None) == TABLE:
            return values
        if option == "--by":
            # A part of its own: leaving rows out would change the total.
            return np.where(lacks, f"(no {name})", values)
        try:
            check_groups(name, values, found.question)
        except ParameterError as error:
            problem = f"{where}{option} {name} {error.problem}"
            raise CommandError(problem) from None
    if name == "question":
        return found.question
    known = ", ".join([*found.groups, "question"])
    raise CommandError(f"{where}{option} must be one of {known}. Got {name!r}.")


def _parts_of(run: list[_File]) -> str | None:
    """Return the attribute with the parts of a run: its tasks, or kinds of answers."""
    if len(run) > 1:
        return "task"
    evaluation = run[0].evaluation
    is_mixed = (
        evaluation.format == DECISIONS and len(set(evaluation.groups["kind"])) > 1
    )
    return "kind" if is_mixed else None


def _system(run: list[_File], options: Namespace) -> System:
    paths = [each.path for each in run]
    evaluation = _joined(run)
    by_name = options.by or _parts_of(run)
    if _has_systems(evaluation, options):
        by_name = None
    name = _name_of(run)
    file = str(paths[0]) if len(paths) == 1 else str(paths[0].parent)
    with command_errors(file):
        scored = evaluation.scored(options.unanswered)
    codes: dict[str | None, tuple[Any, list[str]]] = {None: (None, [])}
    for option, column in (("--by", by_name), ("--groups", options.groups)):
        if column is not None and column not in codes:
            codes[column] = factorised(column_of(scored, column, option, f"{file}: "))
    is_repeated = scored.n_questions < len(scored)
    # A sample of a table stays a sample if the others of its question have no score.
    if scored.format == TABLE:
        is_repeated = bool(scored.repeat.any())
    by, by_names = codes[by_name]
    groups, group_names = codes[options.groups]
    answers = Answers(
        y=scored.score,
        q=scored.proba,
        question=factorised(scored.question)[0] if is_repeated else None,
        groups=groups,
        by=by,
        group_names=group_names,
        by_names=by_names,
        is_by_group=by_name == options.groups,
    )
    is_graded, judged = _are_graded(evaluation, answers, paths[0], options), None
    if options.labels is not None:
        judged, human, is_equal = judged_report(
            options.labels,
            scored,
            groups,
            names=(file, name, paths[0].stem),
            level=options.confidence_level,
            scale=options.scale,
        )
        # The scores of the judge are not the truth about the probabilities.
        answers.y = human
        if not is_equal:
            # The labelled answers are then no random sample of the probabilities.
            answers.q = np.full(human.size, np.nan)
        answers = _with_labels(answers, judged)
    # Harnesses have no empty cells. Groups that some samples lack are an error above.
    if evaluation.format == TABLE and options.unanswered != "wrong":
        answers = _complete(answers, file)
    answers.q, partial = _of_whole_scores(answers, options)
    k = None if options.confidence else number_of_shares(answers.q)
    shares = None if k is None else SHARES.format(k=k)
    notes = (*evaluation.notes, *partial, large_group(answers.dependent), shares)
    if evaluation.format == TABLE:
        notes += tuple(_raters(paths[0], options))
    evaluation = replace(evaluation, notes=tuple(filter(None, notes)))
    counts = evaluation.counts()
    counts.pop("answered", None)
    return System(
        name=name,
        file=file,
        evaluation=evaluation.take(slice(0, 0)),  # the columns are large
        answers=answers,
        unanswered=counts,
        n_skipped=len(evaluation) - (answers.y if judged is None else human).size,
        rule=_RULES.get(options.unanswered) or rule_of(evaluation.format),
        by_name=by_name,
        files=[str(path) for path in paths],
        is_graded=is_graded,
        probability=_probability_of(evaluation, paths[0], options),
        scale=options.scale,
        if_wrong=_accuracy_if_wrong(evaluation, options),
        judged=judged,
    )


def _of_whole_scores(
    answers: Answers, options: Namespace
) -> tuple[np.ndarray, list[str]]:
    """Return the probabilities, with NaN for partial scores, and a note.

    If more than a tenth of the scores are partial, the others are a selection by the
    score, and calibration is not measured.
    """
    is_partial = np.isfinite(answers.q) & ~np.isin(answers.y, (0, 1))
    n, n_known = int(is_partial.sum()), int(np.isfinite(answers.q).sum())
    if options.scale is not None:  # a grade is not right or wrong
        return np.full(answers.q.size, np.nan), []
    if not 0 < n <= _MOST_PARTIAL * n_known:
        return answers.q, []
    return np.where(is_partial, np.nan, answers.q), [
        f"{n:,} of {n_known:,} answers with a probability {'have' if n > 1 else 'has'} "
        "a score other than 0 and 1: the probability is not used."
    ]


def _raters(path: Path, options: Namespace) -> Iterator[str]:
    """Yield what a column of annotators means for the interval."""
    for name in _usual(path, "rater")[:1]:
        if name not in (options.groups, options.by):
            yield (
                f"The column {name!r} may be a second factor: the intervals are for "
                f"these annotators. For others, add --groups {name}."
            )


def _are_graded(
    evaluation: Evaluation, answers: Answers, path: Path, options: Namespace
) -> bool:
    """Return whether outcomes are graded answers, by a harness or by their column.

    Labels, for example of a classifier, are outcomes that are not graded.
    """
    if evaluation.format != TABLE or options.gold is not None:
        return True
    if not np.isin(answers.y, (0, 1)).all():  # grades such as 0.5
        return True
    name = options.y_true or options.score
    if name is None:
        return bool(_usual(path, "right")) or not _usual(path, "label")
    return name.lower().strip() in USUAL["right"]


def _probability_of(evaluation: Evaluation, path: Path, options: Namespace) -> str:
    """Return the name of the probabilities: their column, or what a harness wrote."""
    if options.confidence is not None:
        return "agreement of samples"
    if evaluation.format != TABLE:
        given = (evaluation.format, options.score, options.filter)
        return " ".join(filter(None, given))
    if options.y_proba is not None:
        return str(options.y_proba)
    names = _usual(path, "proba")
    return next((name for name in names if name != options.y_true), "")


def _usual(path: Path, role: str) -> list[str]:
    """Return the columns of a table that have a usual name of a role."""
    return open_table(open_source(path), CHUNK).usual(role)


def _accuracy_if_wrong(evaluation: Evaluation, options: Namespace) -> Estimate | None:
    """Return the accuracy with unanswered samples as wrong, for comparison."""
    if options.unanswered != "separate":
        return None
    every, level = evaluation.scored("wrong"), options.confidence_level
    codes, _ = factorised(every.question)
    found = accuracy_interval(every.score, questions=codes, confidence_level=level)
    return estimate_of(found)


def _with_labels(answers: Answers, judged: JudgedReport) -> Answers:
    """Return the answers with a label; a note says which parts have too few."""
    answers = answers[~np.isnan(answers.y)]
    if answers.by is None:
        return answers
    # Labels are drawn from all answers, so that small parts may have none.
    number = np.bincount(answers.by, minlength=len(answers.by_names))
    few = np.flatnonzero(number < 2)
    if few.size:
        names = ", ".join(str(answers.by_names[k]) for k in few)
        judged.notes.append(f"Parts with fewer than two labels are left out: {names}.")
    return answers[~np.isin(answers.by, few)]


def _complete(answers: Answers, file: str) -> Answers:
    """Return the rows of a table without empty cells in the columns of names.

    Answers without a probability are kept: their accuracy is reported separately.
    """
    complete = np.ones(answers.y.size, dtype=bool)
    columns = (answers.groups, answers.group_names), (answers.by, answers.by_names)
    for codes, names in columns:
        if codes is not None and "" in names:
            complete &= codes != names.index("")
    if not complete.any():
        raise CommandError(f"{file} has no row without an empty cell.")
    return answers if complete.all() else answers[complete]


def _joined(run: Sequence[_File]) -> Evaluation:
    """Return the evaluation of a run; names of questions include their task."""
    evaluations = [each.evaluation for each in run]
    if len(run) == 1:
        return evaluations[0]

    def joined(name: str) -> np.ndarray:
        columns = ((getattr(e, name), len(e)) for e in evaluations)
        return np.concatenate(
            [np.full(n, None) if c is None else c for c, n in columns]
        )

    # Only attributes that all tasks have are kept, since each row needs a value.
    names = set.intersection(*(set(e.groups) for e in evaluations)) - {"task"}
    groups = {n: np.concatenate([e.groups[n] for e in evaluations]) for n in names}
    # Tasks may number their questions from 0 each.
    question = [f"{e.task}: {name}" for e in evaluations for name in e.question]
    task = [str(e.task) for e in evaluations for _ in range(len(e))]
    # A note of all tasks is said once, and other notes with their task.
    common = set.intersection(*(set(e.notes) for e in evaluations))
    notes = dict.fromkeys(
        note if note in common or note.startswith(_LEFT_OUT) else f"{e.task}: {note}"
        for e in evaluations
        for note in e.notes
    )
    return replace(
        evaluations[0],
        **{name: joined(name) for name in _JOINED},  # type: ignore[arg-type]
        question=np.array(question, dtype=object),
        groups=groups | {"task": np.array(task, dtype=object)},
        option_proba=None,
        gold=None,
        # Samples were joined into one answer per question before, if they are needed.
        _response=None,
        task=None,
        notes=tuple(notes),
    )


def safe_stem(path: Path) -> str:
    """Return the name of a file or folder without its suffix, for a figure."""
    return re.sub(r"\.(json|jsonl|csv|tsv|eval|parquet)$", "", path.name) or "report"
