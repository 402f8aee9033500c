"""Reading of the files of ``skcalib compare`` and alignment of the systems."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import Evaluation, align_evaluations, read_evaluations
from ..evaluation._align import AlignedEvaluations
from ..evaluation._fingerprints import read_fingerprints
from ..evaluation._several import SYSTEMS_NOTE
from ._count_columns import without_file
from ._shared import CommandError
from ._systems import TABLE, joined, option_of

# Options that name a column of a table.
_COLUMN_OPTIONS = ("question", "system_column", "score", "groups", "by")
_UNNAMED = "--question, --system-column or --score"


@dataclass
class Inputs:
    """The systems of a command: their names, files and aligned answers."""

    files: dict[str, list[str]]
    aligned: AlignedEvaluations
    formats: list[str]
    by_name: str | None
    notes: list[str] = field(default_factory=list)


@dataclass
class _Read:
    """One system of one file."""

    path: Path
    name: str
    evaluation: Evaluation
    golds: Mapping[str, str]
    prompts: Mapping[str, str]


def read_inputs(options: Namespace) -> Inputs:
    """Return the systems of all files, on the same questions."""
    found = [
        each
        for path in options.file
        for file in _files_of(path)
        for each in _read(file, options)
    ]
    runs = _runs(found)
    if len(runs) < 2:
        raise CommandError(
            f"compare needs at least two systems. Got one, of {found[0].path}. Pass "
            "one file per system, or a table with one column per system."
        )
    names = _names(runs)
    if options.systems is None:
        _check_one_reading(found)
    evaluations, golds, prompts, files = {}, {}, {}, {}
    for name, run in zip(names, runs, strict=True):
        evaluations[name] = _of_run(run)
        golds[name] = _known(run, "golds")
        prompts[name] = _known(run, "prompts")
        files[name] = [str(each.path) for each in run]
    known = {name: each for name, each in golds.items() if each}
    try:
        aligned = align_evaluations(
            evaluations,
            missing=options.missing,
            duplicates=options.duplicates,
            mismatch=options.mismatch,
            unanswered=options.unanswered,
            golds=known or None,
            prompts={name: each for name, each in prompts.items() if each},
        )
    except ValueError as error:
        raise _as_command_error(error, options) from None
    notes = list(
        dict.fromkeys(
            note.replace("Choose others with systems.", "Choose others with --systems.")
            for each in found
            for note in each.evaluation.notes
        )
    )
    by_name = options.by
    if by_name is None and any(len(run) > 1 for run in runs):
        by_name = "task"
    return Inputs(
        files=files,
        aligned=aligned,
        formats=list(dict.fromkeys(e.format for e in evaluations.values())),
        by_name=by_name,
        notes=notes,
    )


def column_of(aligned: AlignedEvaluations, name: str, option: str) -> np.ndarray:
    """Return the group names of the questions for an option."""
    if name == "question":
        return aligned.question
    if name not in aligned.groups:
        known = ", ".join([*aligned.groups, "question"])
        raise CommandError(f"{option} must be one of {known}. Got {name!r}.")
    return aligned.groups[name]


def _files_of(path: Path) -> list[Path]:
    """Return the files of a folder that are samples of tasks, or the path itself."""
    if not path.is_dir() or (path / "per_instance_stats.json").is_file():
        return [path]
    patterns = ("samples_*.jsonl", "*.eval", "details_*.parquet")
    found = sorted(file for pattern in patterns for file in path.glob(pattern))
    if not found:
        raise CommandError(
            f"{path} is a folder without {', '.join(patterns)} or "
            "per_instance_stats.json. Pass the files."
        )
    return found


def _read(path: Path, options: Namespace) -> list[_Read]:
    """Return the systems of a file, with errors that name options."""
    columns = {}
    if options.question is not None:
        columns["question"] = options.question
    if options.system_column is not None:
        columns["model"] = options.system_column
    inside = dict.fromkeys([options.groups, options.by])
    groups = [name for name in inside if name not in (None, "question")]
    try:
        found = read_evaluations(
            path,
            systems=options.systems,
            gold=options.gold,
            columns=columns,
            groups=groups,
            format=options.format,
            score=options.score,
            filter=options.filter,
            split=options.split,
            model=options.model,
            pos_label=options.pos_label,
        )
        golds, prompts = read_fingerprints(
            path, next(iter(found.values())), question=options.question
        )
    except (ValueError, TypeError) as error:
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path)) from None
        raise _as_command_error(error, options, path) from None
    except ImportError as error:
        raise CommandError(str(error)) from None
    for name, evaluation in found.items():
        if evaluation.format == TABLE:
            _check_names(f"{path}: {name}", evaluation)
    return [
        _Read(path, name, evaluation, golds, prompts)
        for name, evaluation in found.items()
    ]


def _check_names(where: str, evaluation: Evaluation) -> None:
    """Raise if a row of a table has an empty cell instead of a name."""
    columns = {"question": evaluation.question} | evaluation.groups
    for column, names in columns.items():
        empty = names == ""
        if empty.any():
            n = int(empty.sum())
            raise CommandError(
                f"{where} has {n} row{'s' * (n > 1)} with an empty cell in column "
                f"{column!r}. Fill in each name, or remove such rows."
            )


def _check_one_reading(found: list[_Read]) -> None:
    """Raise if several files have the same columns of scores.

    They may be several scores of one system per file.
    """
    wide = [
        each
        for each in found
        if any(note.startswith(SYSTEMS_NOTE) for note in each.evaluation.notes)
    ]
    first: dict[str, Path] = {}
    for each in wide:
        path = first.setdefault(each.name, each.path)
        if path != each.path:
            names = [other.name for other in wide if other.path == path]
            raise CommandError(
                f"{path} and {each.path} both have the columns of scores "
                f"{', '.join(map(repr, names))}. If they are scores of one system per "
                "file, choose one with --score. If they are systems, pass one file "
                "with the answers of all systems."
            )


def _as_command_error(
    error: Exception, options: Namespace, path: Path | None = None
) -> CommandError:
    """Return an error with the option instead of the parameter."""
    name = getattr(error, "name", None)
    problem = str(getattr(error, "problem", error))
    if path is not None:
        problem = without_file(path, problem)
    problem = problem.replace("'format'", "--format")
    problem = problem.replace("with pos_label", "with --pos-label")
    problem = problem.replace("or score the column", "or --score the column")
    problem = problem.replace(
        "add a column 'correct'",
        "name the column of right answers with --gold, or add a column 'correct'",
    )
    where = "" if path is None else f"{path}: "
    if name == "path":
        return CommandError(f"{path} {problem}")
    if name == "columns" and path is not None and path.suffix.lower() == ".txt":
        problem += (
            " If each line is a translation, pass --metric bleu and --reference FILE."
        )
    if name is None or name == "evaluations":
        problem = problem.replace(
            "Pass the column that", "Name with --question the column that"
        )
        subject = "the files " if path is None else ""
        return CommandError(f"{where}{subject}{problem}")
    option = "--" + name.replace("_", "-")
    if name in ("columns", "groups"):
        option = option_of(problem, options, _COLUMN_OPTIONS, _UNNAMED)
    return CommandError(f"{where}{option} {problem}")


def _runs(found: list[_Read]) -> list[list[_Read]]:
    """Return the files of each run: one system on different tasks."""
    runs: dict[Any, list[_Read]] = {}
    for each in found:
        e = each.evaluation
        key = (e.format, each.name, e.model, str(each.path.resolve().parent))
        runs.setdefault(key, []).append(each)
    separate: list[list[_Read]] = []
    for run in runs.values():
        tasks = [each.evaluation.task for each in run]
        if len(run) > 1 and (None in tasks or len(set(tasks)) < len(tasks)):
            separate += [[each] for each in run]
        else:
            separate.append(run)
    return separate


def _names(runs: list[list[_Read]]) -> list[str]:
    """Return names that identify the systems: model, file, folder or path."""
    choices = [
        [run[0].name for run in runs],
        [run[0].path.stem for run in runs],
        [run[0].path.resolve().parent.name for run in runs],
        [str(run[0].path) for run in runs],
    ]
    for names in choices:
        if len(set(names)) == len(names):
            return names
    return [f"{name} {k}" for k, name in enumerate(choices[0], 1)]


def _of_run(run: list[_Read]) -> Evaluation:
    if len(run) == 1:
        return run[0].evaluation
    return joined([each.evaluation for each in run])


def _known(run: list[_Read], what: str) -> dict[str, str]:
    """Return the known values of each question, by its name when joined."""
    if len(run) == 1:
        return dict(getattr(run[0], what))
    return {
        f"{each.evaluation.task}: {question}": value
        for each in run
        for question, value in getattr(each, what).items()
    }
