"""Labels of people from a table, joined by question, and what they say."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import Evaluation
from ..evaluation._align import AlignedEvaluations
from ..evaluation._tables import Names, Numbers
from ..metrics import calibration_error_interval
from ..rates import judged_accuracy, judged_difference
from ._blocks import estimate_of
from ._corpus import open_documents, read_columns
from ._shared import CommandError

# Columns of names.
_TEXTS = ("question", "repeat", "system")

# Number of questions that an error gives as examples.
_N_NAMED = 3


@dataclass(frozen=True)
class Label:
    """A person's score of the answer of a system to a question or a sample of it."""

    question: str
    score: float
    repeat: str | None
    system: str | None
    inclusion: float
    place: str


def read_labels(path: Path, systems: Sequence[str] = ()) -> list[Label]:
    """Return the labels of a table: a row each, or a column for each system."""
    table = open_documents(path)
    columns: dict[str | None, str] = {n: n for n in systems if n in table.names}
    if "score" in table.names:
        columns = {None: "score"}
    if "question" not in table.names or not columns:
        names = f" or one of {', '.join(systems)}" if systems else ""
        raise CommandError(
            f"{path}: --labels needs the columns question and score{names}. Got "
            f"{', '.join(table.names)}."
        )
    readers: dict[str, Any] = {
        name: Names(name) for name in _TEXTS if name in table.names
    }
    readers |= {name: Numbers(name, 0, 1, words=True) for name in columns.values()}
    if "inclusion" in table.names:
        readers["inclusion"] = Numbers("inclusion", 0, 1)
    found, lines = read_columns(table, readers, may_miss=readers)
    labels = [
        _label(
            {name: found[name][row] for name in found},
            column,
            system,
            f"{path}, line {line}",
        )
        for row, line in enumerate(lines.tolist())
        for system, column in columns.items()
        if not np.isnan(found[column][row])
    ]
    if not labels:
        raise CommandError(f"{path}: --labels has no row with a score.")
    return labels


def _label(row: dict[str, Any], column: str, system: str | None, place: str) -> Label:
    if not row["question"]:
        raise CommandError(f"{place} has a score but no question.")
    inclusion = float(row.get("inclusion", 1))
    if not inclusion > 0:  # or NaN, for an empty cell
        got = "an empty cell" if np.isnan(inclusion) else f"{inclusion:g}"
        raise CommandError(
            f"{place}: inclusion must be above 0 and at most 1. Got {got}."
        )
    return Label(
        question=row["question"],
        score=float(row[column]),
        repeat=row.get("repeat") or None,
        system=system or row.get("system") or None,
        inclusion=inclusion,
        place=place,
    )


def join_labels(
    labels: Iterable[Label], question: np.ndarray, repeat: np.ndarray, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the label of each answer, or NaN, and its inclusion probability."""
    rows_of: dict[str, dict[str, int]] = {}
    for row, (name, number) in enumerate(zip(question, repeat, strict=True)):
        rows_of.setdefault(str(name), {})[str(number)] = row
    human, inclusion = np.full(len(question), np.nan), np.ones(len(question))
    found: dict[int, Label] = {}
    unknown = [label for label in labels if label.question not in rows_of]
    if unknown:
        shown = ", ".join(repr(label.question) for label in unknown[:_N_NAMED])
        more = ", ..." if len(unknown) > _N_NAMED else ""
        raise CommandError(
            f"{unknown[0].place}: {len(unknown)} labels are of questions that {where} "
            f"does not have: {shown}{more}. Its questions are named like "
            f"{next(iter(rows_of))!r}."
        )
    for label in labels:
        row = _row_of(label, rows_of[label.question], where)
        other = found.setdefault(row, label)
        if other is not label:
            how = "the same" if other.score == label.score else "another"
            raise CommandError(
                f"{label.place}: question {label.question!r} has {how} score in "
                f"{other.place}. Give each answer one label."
            )
        human[row], inclusion[row] = label.score, label.inclusion
    return human, inclusion


def _row_of(label: Label, rows: dict[str, int], where: str) -> int:
    if label.repeat is None and len(rows) > 1:
        raise CommandError(
            f"{label.place}: question {label.question!r} has {len(rows)} samples in "
            f"{where}. Add a column repeat to --labels: {', '.join(rows)}."
        )
    repeat = next(iter(rows)) if label.repeat is None else label.repeat
    if repeat not in rows:
        raise CommandError(
            f"{label.place}: question {label.question!r} has no sample "
            f"{repeat!r} in {where}. It has {', '.join(rows)}."
        )
    return rows[repeat]


def judged_report(
    labels: list[Label],
    scored: Evaluation,
    groups: np.ndarray | None,
    *,
    names: Sequence[str],
    level: float,
) -> dict[str, Any]:
    """Return what labels say about the scored answers of a judge.

    `names` are the names of the system in a column system; messages use the first one.
    """
    where = names[0]
    if scored.question.dtype != object:
        raise CommandError(
            f"{where}: --labels needs questions with names, in a column such as "
            "question_id. Rows are not matched by position."
        )
    own = [label for label in labels if label.system is None or label.system in names]
    if not own:
        raise CommandError(
            f"--labels has no label of {where}. Its column system has "
            f"{', '.join(dict.fromkeys(str(label.system) for label in labels))}."
        )
    human, inclusion = join_labels(own, scored.question, scored.repeat, where)
    # Samples of one question depend on each other.
    questions = scored.question if scored.n_questions < len(scored) else None
    settings: dict[str, Any] = {
        "questions": questions,
        "groups": groups,
        "inclusion_probability": inclusion if (inclusion != 1).any() else None,
        "confidence_level": level,
    }
    try:
        with _noted() as notes:
            whole = judged_accuracy(scored.score, human, **settings)
            items = judged_accuracy(scored.score, human, population="items", **settings)
    except ValueError as error:
        problem = getattr(error, "problem", error)
        raise CommandError(f"{where}: --labels {problem}") from None
    dependent = questions if groups is None else groups
    return whole.to_dict() | {
        "items": {"low": items.low, "high": items.high},
        "notes": notes,
        "calibration_error": _calibration(human, scored.proba, dependent, level),
    }


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Collect the warnings of a block in a list, each once."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes += dict.fromkeys(str(each.message) for each in caught)


def _calibration(
    human: np.ndarray, proba: np.ndarray, groups: np.ndarray | None, level: float
) -> dict[str, Any] | None:
    """Return the calibration error of the labelled answers, by their labels."""
    # A calibration error needs outcomes; a score such as 0.5 is none.
    used = np.isin(human, (0, 1)) & np.isfinite(proba)
    inner = None if groups is None else groups[used]
    if used.sum() < 2 or (inner is not None and len(set(inner.tolist())) < 2):
        return None
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        error = calibration_error_interval(
            human[used].astype(int), proba[used], groups=inner, confidence_level=level
        )
    return {"n": int(used.sum())} | estimate_of(error)


def judged_pairs(
    paths: Sequence[Path],
    aligned: AlignedEvaluations,
    groups: np.ndarray | None,
    level: float,
) -> list[dict[str, Any]]:
    """Return the gain of each pair of systems, corrected by labels."""
    if aligned.is_repeated:
        raise CommandError(
            "--labels of compare needs one answer to each question. The files have "
            "several samples. Correct each system by skcalib report --labels."
        )
    human, inclusion = _of_systems(paths, aligned)
    pairs = []
    for a, b in combinations(range(len(aligned.names)), 2):
        both = ~np.isnan(human[a] + human[b])
        if both.sum() < 2:
            raise CommandError(
                f"--labels needs two questions with labels of both {aligned.names[a]} "
                f"and {aligned.names[b]}. Got {int(both.sum())}."
            )
        used = inclusion[a] if (inclusion[a][both] != 1).any() else None
        with _noted() as notes:
            found = judged_difference(
                aligned.score[:, a],
                aligned.score[:, b],
                human[a],
                human[b],
                groups=groups,
                inclusion_probability=used,
                confidence_level=level,
            )
        names = {"a": aligned.names[a], "b": aligned.names[b]}
        pairs.append(names | found.to_dict() | {"notes": notes})
    return pairs


def _of_systems(
    paths: Sequence[Path], aligned: AlignedEvaluations
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and inclusion of each system on the common questions."""
    names = aligned.names
    if len(paths) not in (1, len(names)):
        raise CommandError(
            f"--labels must be given once, or once for each of the {len(names)} "
            f"systems in their order. Got {len(paths)} files."
        )
    if len(paths) > 1:
        each = [read_labels(path) for path in paths]
    else:
        labels = read_labels(paths[0], names)
        for label in labels:
            if label.system not in names:
                raise CommandError(
                    f"{label.place}: --labels of compare must name the system of each "
                    f"label, in a column system or by a column for each of "
                    f"{', '.join(names)}. Got {label.system!r}."
                )
        each = [[x for x in labels if x.system == name] for name in names]
    first = np.zeros(len(aligned), dtype=int)
    joined = [
        join_labels(part, aligned.question, first, name)
        for part, name in zip(each, names, strict=True)
    ]
    # From a pair of rows per system to a row per system in each of two arrays.
    human, inclusion = np.stack(joined, axis=1)
    return human, inclusion
