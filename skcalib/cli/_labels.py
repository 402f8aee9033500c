"""Labels of people from a table, joined by question, and what they say."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError
from ..evaluation import Evaluation
from ..evaluation._align import AlignedEvaluations
from ..evaluation._evaluation import are_known
from ..evaluation._tables import Names, Numbers
from ..rates import judged_accuracy, judged_difference
from ..rates._judged import JudgedAccuracy, JudgedDifference
from ._blocks import INSIDE
from ._corpus import check_known, check_unique, open_documents, read_columns
from ._shared import CommandError, in_options

# Parameters of a comparison, which name the first and the second system.
_OF_PAIRS = ("judge_a", "judge_b", "human_a", "human_b")

# The lowest and the highest grade, if scores are grades.
Scale = tuple[float, float] | None

# Columns of names.
_TEXTS = ("question", "system")


class Labels(NamedTuple):
    """People's scores of answers as arrays; repeat and system are "" if not given."""

    line: np.ndarray
    question: np.ndarray
    repeat: np.ndarray
    system: np.ndarray
    score: np.ndarray
    inclusion: np.ndarray

    def take(self, rows: np.ndarray) -> Labels:
        """Return the labels of a mask."""
        return Labels(*(column[rows] for column in self))


class Ends(NamedTuple):
    """Ends of an interval."""

    low: float
    high: float


class LabelledError(NamedTuple):
    """The calibration error of n answers, by their labels."""

    n: int
    estimate: float
    low: float
    high: float


@dataclass
class JudgedReport:
    """The accuracy by a judge and labels; `items` is the interval for these answers.

    The calibration error is measured on the answers with a label.
    """

    accuracy: JudgedAccuracy = field(metadata=INSIDE)
    items: Ends
    notes: list[str]
    calibration_error: LabelledError | None = None


@dataclass
class JudgedPair:
    """The gain of system b over system a, corrected by labels.

    `decisive` is the interval that decides about several pairs, with Bonferroni's
    correction.
    """

    a: str
    b: str
    gain: JudgedDifference = field(metadata=INSIDE)
    decisive: Ends
    notes: list[str]


def read_labels(path: Path, scale: Scale, systems: Sequence[str] = ()) -> Labels:
    """Return the labels of a table: a row each, or a column for each system.

    Grades on a scale become shares of it.
    """
    table = open_documents(path)
    columns = {name: name for name in systems if name in table.names}
    if "score" in table.names:
        # A column `score` has one label per row. Its system, if it has one, is named by
        # another column.
        columns = {"": "score"}
    if "question" not in table.names or not columns:
        names = f" or one of {', '.join(systems)}" if systems else ""
        raise CommandError(
            f"{path}: --labels needs the columns question and score{names}. Got "
            f"{', '.join(table.names)}."
        )
    texts = [name for name in _TEXTS if name in table.names]
    numbers = table.usual("sample")[:1]
    readers: dict[str, Any] = {name: Names(name) for name in (*texts, *numbers)}
    readers |= {
        name: Numbers(name, 0, 1, words=scale is None, scale=scale)
        for name in columns.values()
    }
    if "inclusion" in table.names:
        readers["inclusion"] = Numbers("inclusion", 0, 1)
    # Most cells are empty, because people label few answers.
    found, line = read_columns(table, readers, may_miss=readers)
    # Both forms become one: a matrix with a column of scores, or with a column per
    # system.
    score = np.column_stack([found[column] for column in columns.values()])
    # A row for each label, in the order of the file.
    row, k = np.nonzero(~np.isnan(score))
    none = np.full(line.size, "", dtype=object)
    system = found.get("system", none)[row]
    labels = Labels(
        line=line[row],
        question=found["question"][row],
        repeat=found.get("".join(numbers), none)[row],
        # In the wide form, the column of a label names its system.
        system=np.where(system == "", np.array(list(columns), object)[k], system),
        score=score[row, k],
        inclusion=found.get("inclusion", np.ones(line.size))[row],
    )
    if not row.size:
        raise CommandError(f"{path}: --labels has no row with a score.")
    is_never = ~(labels.inclusion > 0)  # or NaN, for an empty cell
    for is_wrong, problem in (
        (labels.question == "", "a label needs a question. Got an empty cell"),
        (is_never, "inclusion must be above 0 and at most 1. Got 0 or an empty cell"),
    ):
        if is_wrong.any():
            line_of = labels.line[is_wrong.argmax()]
            raise CommandError(f"{path}, line {line_of}: {problem}.")
    return labels


def join_labels(
    path: Path, labels: Labels, question: np.ndarray, repeat: np.ndarray, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the label of each answer, or NaN, and its inclusion probability.

    `repeat` are the names of the samples in the file, or their numbers from 0.
    """
    if repeat.dtype != object:
        repeat = repeat + _first_number(path, labels, question, repeat, where)
    rows_of: dict[str, dict[str, int]] = {}
    for row, (name, number) in enumerate(zip(question, repeat, strict=True)):
        if rows_of.setdefault(str(name), {}).setdefault(str(number), row) != row:
            raise CommandError(
                f"{where}: --labels needs each sample of a question once. Got the "
                f"sample {number!r} of question {name!r} twice."
            )
    is_known = np.array([name in rows_of for name in labels.question], dtype=bool)
    named = f"The questions of {where} are named like {next(iter(rows_of))!r}."
    check_known(path, labels.question, labels.line, is_known, where, named)
    rows = []
    for line, name, sample in zip(
        labels.line, labels.question, labels.repeat, strict=True
    ):
        # A question with one sample needs no number of the sample.
        samples = rows_of[name]
        if not sample and len(samples) == 1:
            sample = next(iter(samples))
        if sample not in samples:
            got = f"no sample {sample!r}" if sample else "several samples"
            raise CommandError(
                f"{path}, line {line}: question {name!r} has {got} in {where}. Name "
                f"one of {', '.join(samples)} in a column sample."
            )
        rows.append(samples[sample])
    # Samples of one question have different rows.
    is_repeated = len(rows_of) < len(question)
    ids = [f"{question[row]}{f', sample {repeat[row]}' * is_repeated}" for row in rows]
    how = "Give each answer one label."
    check_unique(path, np.array(ids, object), labels.line, "question", how)
    human, inclusion = np.full(len(question), np.nan), np.ones(len(question))
    # Answers without a label keep an inclusion probability of 1, which no estimate
    # uses.
    human[rows], inclusion[rows] = labels.score, labels.inclusion
    return human, inclusion


def _first_number(
    path: Path, labels: Labels, question: np.ndarray, repeat: np.ndarray, where: str
) -> int:
    """Return the number of the first sample in labels, 0 or 1."""
    named = list(zip(labels.question, labels.repeat, strict=True))
    given = {pair for pair in named if pair[1]}
    if not given:
        return 0
    fits = [
        first
        for first in (0, 1)
        if given <= set(zip(question, (repeat + first).astype(str), strict=True))
    ]
    if len(fits) == 2:
        k = next(k for k, pair in enumerate(named) if pair[1])
        raise CommandError(
            f"{path}, line {labels.line[k]}: sample {labels.repeat[k]!r} of question "
            f"{labels.question[k]!r} is ambiguous, since {where} has no column sample. "
            "It has another answer if samples are numbered from 0 than if they are "
            "numbered from 1. Add a column sample to both files."
        )
    return fits[0] if fits else 0


def judged_report(
    path: Path,
    scored: Evaluation,
    groups: np.ndarray | None,
    *,
    names: Sequence[str],
    level: float,
    scale: Scale,
) -> tuple[JudgedReport, np.ndarray, bool]:
    """Return what the labels of a file say about the scored answers of a judge.

    Also return the label of each answer, or NaN, and whether all answers had the same
    chance of a label. `names` are the names of the system in a column system; messages
    use the first one.
    """
    labels, where = read_labels(path, scale), names[0]
    if scored.question.dtype != object:
        raise CommandError(
            f"{where}: --labels needs questions with names, in a column such as "
            "question_id. Rows are not matched by position."
        )
    # A label without a system is about the answers of the report, which has one system.
    own = labels.take(np.isin(labels.system, ["", *names]))
    if not own.line.size:
        raise CommandError(
            f"--labels has no label of {where}. Its column system has "
            f"{', '.join(dict.fromkeys(labels.system))}. Write {names[-1]} there, or "
            f"name the system in a column system of {where}."
        )
    repeat, numbers = scored.repeat, scored._sample
    if numbers is not None and are_known(numbers).all():
        repeat = numbers
    human, inclusion = join_labels(path, own, scored.question, repeat, where)
    # Samples of one question depend on each other.
    questions = scored.question if scored.n_questions < len(scored) else None
    is_equal = bool((inclusion == 1).all())
    settings: dict[str, Any] = {
        "questions": questions,
        "groups": groups,
        "inclusion_probability": None if is_equal else inclusion,
        "confidence_level": level,
    }
    with _noted(where) as notes:
        # The same estimate, for all answers of their kind and for these only.
        whole, items = (
            in_unit(judged_accuracy(scored.score, human, **settings | of), scale)
            for of in ({}, {"population": "items"})
        )
    if not is_equal and scored.has_proba:
        notes.append(
            "Calibration is not measured: answers had unequal chances of a label."
        )
    report = JudgedReport(whole, Ends(items.low, items.high), notes)
    return report, human, is_equal


def in_unit(found: Any, scale: Scale) -> Any:
    """Return a result in grades, if it is in shares of a scale."""
    if scale is None or found is None:
        return found
    start, span = scale[0], scale[1] - scale[0]
    if isinstance(found, tuple):  # an estimate and the ends of its interval
        return type(found)(*(start + span * each for each in found))
    start *= not isinstance(found, JudgedDifference)
    numbers: dict[str, Any] = {}
    for name, value in vars(found).items():
        if name in ("estimate", "low", "high", "uncorrected"):
            numbers[name] = start + span * value
        elif name == "labels_only":
            numbers[name] = in_unit(value, scale)
        elif name.startswith("standard_error"):
            numbers[name] = span * value
        elif name in ("between", "within", "_of_items"):  # variances
            numbers[name] = span**2 * value
    return replace(found, **numbers)


@contextmanager
def _noted(where: str, **shown: str) -> Iterator[list[str]]:
    """Collect the warnings of a block in a list, each once; raise errors as its own.

    `shown` are texts that are shown for parameters, in errors in place of `where`.
    """
    notes: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield notes
    except ParameterError as error:
        who = shown.get(error.name or "", where)
        raise CommandError(f"{who}: --labels {error.problem}") from None
    messages = (getattr(each.message, "args", ("",))[0] for each in caught)
    notes += dict.fromkeys(in_options(text, shown) for text in messages)


def judged_pairs(
    paths: Sequence[Path],
    aligned: AlignedEvaluations,
    samples: Mapping[str, Mapping[str, str]],
    groups: np.ndarray | None,
    level: float,
    scale: Scale,
) -> list[JudgedPair]:
    """Return the gain of each pair of systems, corrected by labels.

    `samples` are the names of the samples of questions, of systems that have them.
    """
    if aligned.is_repeated:
        raise CommandError(
            "--labels of compare needs one answer to each question. The files have "
            "several samples. Correct each system by skcalib report --labels, or the "
            "gain in Python by skcalib.rates.judged_difference, with an entry for each "
            "sample and the questions as groups."
        )
    human, inclusion = _of_systems(paths, aligned, samples, scale)
    pairs, both_of = [], list(combinations(range(len(aligned.names)), 2))
    for a, b in both_of:
        names = aligned.names[a], aligned.names[b]
        has = ~np.isnan(human[[a, b]])
        both, either = has.all(axis=0), has.any(axis=0)
        n_both = int(both.sum())
        n_one = int(either.sum()) - n_both
        # Labels without a partner may be left out, or most labels are of two samples.
        if 0 < n_both < n_one:
            raise CommandError(
                f"--labels needs labels of the same questions for {names[0]} and "
                f"{names[1]}, or of different ones. Got {n_both} with labels of both, "
                f"and {n_one} with a label of one. Remove the labels of one kind."
            )
        used = np.where(has[0], *inclusion[[a, b]])
        is_equal = (used[both if n_both else either] == 1).all()
        shown = dict(zip(_OF_PAIRS, names * 2, strict=True))
        with _noted(" and ".join(names), **shown) as notes:
            found, wider = (
                judged_difference(
                    *(aligned.score[:, k] for k in (a, b)),
                    *human[[a, b]],
                    labels="paired" if n_both else "separate",
                    groups=groups,
                    inclusion_probability=None if is_equal else used,
                    confidence_level=confidence_level,
                )
                for confidence_level in (level, 1 - (1 - level) / len(both_of))
            )
        found, wider = in_unit(found, scale), in_unit(wider, scale)
        if not n_both:
            notes.append(
                f"The labels of {names[0]} and {names[1]} are of different questions: "
                "the errors of both add up."
            )
        elif n_one:
            notes.append(
                f"{n_one} labels of {names[0]} and {names[1]} are not used: the "
                "question has a label of one of them only."
            )
        pairs.append(JudgedPair(*names, found, Ends(wider.low, wider.high), notes))
    return pairs


def _of_systems(
    paths: Sequence[Path],
    aligned: AlignedEvaluations,
    samples: Mapping[str, Mapping[str, str]],
    scale: Scale,
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and inclusion of each system on the common questions."""
    names = aligned.names
    if len(paths) not in (1, len(names)):
        raise CommandError(
            f"--labels must be given once, or once for each of the {len(names)} "
            f"systems in their order. Got {len(paths)} files."
        )
    if len(paths) > 1:
        each = [read_labels(path, scale) for path in paths]
    else:
        labels = read_labels(paths[0], scale, names)
        # A misspelled system would lose its labels without a word.
        unknown = ~np.isin(labels.system, names)
        if unknown.any():
            k = int(unknown.argmax())
            raise CommandError(
                f"{paths[0]}, line {labels.line[k]}: --labels of compare must name the "
                "system of each label, in a column system or by a column for each of "
                f"{', '.join(names)}. Got {labels.system[k]!r}."
            )
        each = [labels.take(labels.system == name) for name in names]
        paths = [*paths] * len(names)
    question, joined = aligned.question, []
    for path, part, name in zip(paths, each, names, strict=True):
        # A question has one sample here, the number of which is 0 without a name.
        numbers = np.zeros(len(aligned), dtype=int)
        if name in samples:
            numbers = np.array([samples[name][q] for q in question], dtype=object)
        joined.append(join_labels(path, part, question, numbers, name))
    # From a pair of rows per system to a row per system in each of two arrays.
    human, inclusion = np.stack(joined, axis=1)
    return human, inclusion
