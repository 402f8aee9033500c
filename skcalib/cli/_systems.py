"""Reading of the answers of systems, given the files and options of a command."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import Evaluation, accuracy_interval, read_evaluation
from ..evaluation._evaluation import rule_of
from ._count_columns import without_file
from ._labels import judged_report, read_labels
from ._shared import CommandError

TABLE = "table"

# Above this file size in bytes, progress is shown on a terminal.
_LONG = 20_000_000

# Options that name a column of a plain table.
_COLUMNS = {"y_true": "score", "y_proba": "proba"}

# Options that name any column.
_COLUMN_OPTIONS = ("y_true", "y_proba", "score", "groups", "by")

# Names of parameters in errors of the reader, with the corresponding options.
_IN_QUOTES = {
    "'format'": "--format",
    "with pos_label": "with --pos-label",
    "pass percent": "use --percent",
    "Pass percent": "Use --percent",
    "Replace words by probabilities.": (
        "Replace words by probabilities, or report the accuracy of each word with --by."
    ),
}


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
        columns = (self.question, self.groups, self.by)
        question, groups, by = (
            None if column is None else column[rows] for column in columns
        )
        return Answers(
            self.y[rows],
            self.q[rows],
            question,
            groups,
            by,
            group_names=self.group_names,
            by_names=self.by_names,
        )

    def compact(self) -> Answers:
        """Return the same answers, with consecutive codes of questions and groups."""
        columns = (self.question, self.groups)
        question, groups = (None if c is None else _compact(c) for c in columns)
        return replace(self, question=question, groups=groups)

    def parts(self) -> dict[str, Answers]:
        """Return the answers of each value of the column `by`, as they appear."""
        if self.by is None:
            return {}
        order = np.argsort(self.by, kind="stable")
        ends = np.cumsum(np.bincount(self.by, minlength=len(self.by_names)))
        parts = {
            str(name): self[rows]
            for name, rows in zip(
                self.by_names, np.split(order, ends[:-1]), strict=True
            )
            if rows.size
        }
        if self.is_by_group:
            parts = {name: replace(part, groups=None) for name, part in parts.items()}
        return parts

    @property
    def dependent(self) -> np.ndarray | None:
        """The groups within which answers depend on each other."""
        return self.question if self.groups is None else self.groups

    @property
    def has_two_groups(self) -> bool:
        """Whether there are two or more groups of dependent answers."""
        codes = self.dependent
        return codes is not None and bool((codes != codes[0]).any())


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
    if_wrong: dict[str, float] | None = None
    judged: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        """Name of a single curve in a figure."""
        return safe_stem(Path(self.file)) if self.is_table else self.name

    @property
    def is_table(self) -> bool:
        """Whether the file is a plain table and not a file of a harness."""
        return self.evaluation.format == TABLE


def read_systems(options: Namespace) -> list[System]:
    """Return the systems of all files; files of one run are one system."""
    found = [(path, _read(path, options)) for path in options.file]
    systems = [_system(run, options) for run in _runs(found)]
    names = [system.name for system in systems]
    for system in systems:
        if names.count(system.name) > 1:
            system.name = system.file
    return systems


def _read(path: Path, options: Namespace) -> Evaluation:
    """Return the evaluation of a file, with errors that name options."""
    columns = {
        role: getattr(options, option)
        for option, role in _COLUMNS.items()
        if getattr(options, option) is not None
    }
    inside = [options.groups, options.by]
    may_miss = options.skip_missing or options.unanswered is not None
    try:
        evaluation = read_evaluation(
            path,
            format=options.format,
            score=options.score,
            filter=options.filter,
            split=options.split,
            model=options.model,
            columns=columns,
            groups=[name for name in inside if name is not None],
            pos_label=options.pos_label,
            percent=options.percent,
            missing="keep" if may_miss else "error",
            verbose=int(sys.stderr.isatty() and _is_long(path)),
        )
    except (ValueError, TypeError) as error:
        raise _as_command_error(path, error, options) from None
    except ImportError as error:
        raise CommandError(str(error)) from None
    if evaluation.format != TABLE:
        _reject_columns(path, evaluation, options)
    return evaluation


def _is_long(path: Path) -> bool:
    """Return whether a file, or the files of a folder, take long to read."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) > _LONG


def _as_command_error(path: Path, error: Exception, options: Namespace) -> CommandError:
    """Return an error of the reader with the option instead of its parameter."""
    name = getattr(error, "name", None)
    problem = without_file(path, str(getattr(error, "problem", error)))
    for said, option in _IN_QUOTES.items():
        problem = problem.replace(said, option)
    if name == "path" and not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    if name == "path":
        if "in UTF-8" in problem:
            problem += " Spreadsheets write it if told to save as 'CSV UTF-8'."
        return CommandError(f"{path} {problem}")
    if name == "missing":
        cell = problem.partition("Got ")[2]
        return CommandError(
            f"{path}: {cell} Fill it in, or leave out such rows with --skip-missing."
        )
    if name == "percent":
        problem = problem.replace("must not be given", "does not apply")
    option = f"--{name}".replace("_", "-")
    if name in ("columns", "groups"):
        option = option_of(problem, options, _COLUMN_OPTIONS, "--y-true")
    return CommandError(f"{path}: {option} {problem}")


def option_of(
    problem: str, options: Namespace, names: Sequence[str], default: str
) -> str:
    """Return the options that gave the column of an error."""
    found = [
        "--" + name.replace("_", "-")
        for name in names
        if getattr(options, name) is not None
        and f"Got {getattr(options, name)!r}" in problem
    ]
    return " and ".join(found) or default


def _reject_columns(path: Path, evaluation: Evaluation, options: Namespace) -> None:
    """Raise if options for plain tables are given with the file of a harness."""
    for name in ("y_true", "y_proba", "pos_label", "percent"):
        if getattr(options, name):
            option = "--" + name.replace("_", "-")
            raise CommandError(
                f"{path} is read as a file of {evaluation.format}, to which {option} "
                "does not apply. Choose the score with --score, or read the file as a "
                f"plain table with --format {TABLE}."
            )


def _runs(found: Sequence[tuple[Path, Evaluation]]) -> list[list]:
    """Return the files of each run: one system on different tasks."""
    runs: dict[tuple, list] = {}
    for path, evaluation in found:
        key = (evaluation.format, evaluation.model, str(path.resolve().parent))
        runs.setdefault(key, []).append((path, evaluation))
    separate = []
    for run in runs.values():
        tasks = [evaluation.task for _, evaluation in run]
        if None in tasks or len(set(tasks)) < len(tasks):
            separate += [[each] for each in run]
        else:
            separate.append(run)
    return separate


def _system(run: list[tuple[Path, Evaluation]], options: Namespace) -> System:
    paths = [path for path, _ in run]
    evaluation = run[0][1] if len(run) == 1 else joined([e for _, e in run])
    by_name = options.by or ("task" if len(run) > 1 else None)
    name = evaluation.model or paths[0].stem
    file = str(paths[0]) if len(paths) == 1 else str(paths[0].parent)
    try:
        scored = evaluation.scored(options.unanswered)
    except ValueError as error:
        raise CommandError(f"{file}: {getattr(error, 'problem', error)}") from None
    by, by_names = _codes_of(scored, by_name, "--by", file)
    groups, group_names = by, by_names
    if options.groups != by_name:
        groups, group_names = _codes_of(scored, options.groups, "--groups", file)
    answers = Answers(
        y=scored.score,
        q=scored.proba,
        question=_factorised(scored.question)[0] if _is_repeated(scored) else None,
        groups=groups if options.groups is not None else None,
        by=by,
        group_names=group_names,
        by_names=by_names,
        is_by_group=by_name == options.groups,
    )
    if evaluation.format == TABLE and options.unanswered != "wrong":
        answers = _complete(answers, scored.has_proba, file)
    counts = evaluation.counts()
    counts.pop("answered", None)
    judged = None
    if options.labels is not None:
        judged = judged_report(
            read_labels(options.labels),
            scored,
            groups if options.groups is not None else None,
            names=(file, name, paths[0].stem),
            level=options.confidence_level,
        )
    return System(
        name=name,
        file=file,
        evaluation=evaluation.take(slice(0, 0)),  # the columns are large
        answers=answers,
        unanswered=counts,
        n_skipped=len(evaluation) - answers.y.size,
        rule=_rule(evaluation.format, options.unanswered),
        by_name=by_name,
        files=[str(path) for path in paths],
        if_wrong=_accuracy_if_wrong(evaluation, options),
        judged=judged,
    )


def _accuracy_if_wrong(
    evaluation: Evaluation, options: Namespace
) -> dict[str, float] | None:
    """Return the accuracy with unanswered samples as wrong, for comparison."""
    if options.unanswered != "separate":
        return None
    every = evaluation.scored("wrong")
    found = accuracy_interval(
        every.score,
        questions=_factorised(every.question)[0],
        confidence_level=options.confidence_level,
    )
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def _rule(format: str, unanswered: str | None) -> str:
    return {
        None: rule_of(format),
        "wrong": "Samples without an answer count as wrong.",
        "drop": "Samples without an answer are left out.",
        "separate": "Samples without an answer are left out and counted separately.",
    }[unanswered]


def _complete(answers: Answers, has_proba: bool, file: str) -> Answers:
    """Return the rows of a table without empty cells in the columns that are read."""
    complete = np.ones(answers.y.size, dtype=bool)
    if has_proba:
        complete &= np.isfinite(answers.q)
    for codes, names in (
        (answers.groups, answers.group_names),
        (answers.by, answers.by_names),
    ):
        if codes is not None and "" in names:
            complete &= codes != names.index("")
    if not complete.any():
        raise CommandError(f"{file} has no row without an empty cell.")
    return answers if complete.all() else answers[complete]


def joined(evaluations: list[Evaluation]) -> Evaluation:
    """Return the evaluation of several tasks; names of questions include the task."""
    columns = {
        name: np.concatenate([getattr(e, name) for e in evaluations])
        for name in ("repeat", "score", "proba", "status")
    }
    question = [f"{e.task}: {name}" for e in evaluations for name in e.question]
    names = set.intersection(*(set(e.groups) for e in evaluations)) - {"task"}
    groups = {
        name: np.concatenate([e.groups[name] for e in evaluations]) for name in names
    }
    task = [str(e.task) for e in evaluations for _ in range(len(e))]
    is_common = len({e.notes for e in evaluations}) == 1
    notes = dict.fromkeys(
        note if is_common else f"{e.task}: {note}"
        for e in evaluations
        for note in e.notes
    )
    return replace(
        evaluations[0],
        **columns,  # type: ignore[arg-type]
        question=np.array(question, dtype=object),
        groups=groups | {"task": np.array(task, dtype=object)},
        option_proba=None,
        gold=None,
        task=None,
        notes=tuple(notes),
    )


def _codes_of(
    evaluation: Evaluation, name: str | None, option: str, file: str
) -> tuple[np.ndarray | None, list[str]]:
    """Return the codes and names of the groups of an option."""
    if name is None:
        return None, []
    if name in evaluation.groups:
        return _factorised(evaluation.groups[name])
    if name == "question":
        return _factorised(evaluation.question)
    known = ", ".join([*evaluation.groups, "question"])
    raise CommandError(f"{file}: {option} must be one of {known}. Got {name!r}.")


def _is_repeated(evaluation: Evaluation) -> bool:
    if evaluation.format == TABLE:
        return bool(evaluation.repeat.any())
    return evaluation.n_questions < len(evaluation)


def _factorised(names: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return a number for each distinct name in order of appearance, and the names.

    Readers store one object for all rows with a name, so few texts are compared.
    """
    values = names.tolist()
    identity = np.fromiter(map(id, values), np.int64, len(values))
    _, first, code = np.unique(identity, return_index=True, return_inverse=True)
    order = np.argsort(first)
    objects = [values[k] for k in first[order]]
    different = list(dict.fromkeys(objects))
    number = dict(zip(different, range(len(different)), strict=True))
    number_of_code = np.empty(order.size, dtype=np.int64)
    number_of_code[order] = [number[name] for name in objects]
    return number_of_code[code], different


def _compact(codes: np.ndarray) -> np.ndarray:
    """Return codes without gaps, in the same order."""
    seen = np.bincount(codes) > 0
    return codes if seen.all() else (np.cumsum(seen) - 1)[codes]


def safe_stem(path: Path) -> str:
    """Return the name of a file or folder without its suffix, for a figure."""
    return re.sub(r"\.(json|jsonl|csv|tsv|eval|parquet)$", "", path.name) or "report"
