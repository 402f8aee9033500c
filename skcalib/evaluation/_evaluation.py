"""Output of a harness for one system: one row per question and sample.

Scoring of samples without an answer, by the rule of the harness or by choice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._results import Result, object_array
from .._validation import check_choice
from ._files import Source
from ._values import (
    NoAnswersError,
    as_key,
    as_scores,
    choose,
    columns_of,
    numbered_repeats,
    text_or_none,
)

# How each harness counts samples without a score, and which count them as wrong.
_RULES = {
    "lm-evaluation-harness": (
        "An answer that no filter could read ([invalid]) counts as wrong."
    ),
    "inspect_ai": (
        "Samples with an error or without a score are in no metric; a sample without "
        "an answer (N) counts as wrong."
    ),
    "HELM": "Every answer has a score.",
    "lighteval": "Samples without a score are in no metric.",
    "HLE": (
        "Answers that were not judged count as wrong. For the harness, so do questions "
        "that are not in the file."
    ),
    "simple-evals": (
        "An answer that was not extracted counts as wrong; samples without a score are "
        "in no metric."
    ),
    "promptfoo": "A test with an error counts as failed.",
    "deepeval": "Test cases on which the metric failed are not in its mean.",
    "OpenAI evals": "Samples with an error are in no metric.",
    "Every Eval Ever": "A sample with an error has the score in the file.",
    "decision models": (
        "A question that the model refuses and an answer without a gold label have no "
        "score."
    ),
}
_COUNT_AS_WRONG = ("HLE", "promptfoo")

# Accuracies with a smaller difference are printed as one number.
_VISIBLE = 0.0005

POLICIES = ("wrong", "drop", "separate")


def rule_of(format: str) -> str:
    """Return in words how a harness counts samples without an answer."""
    return _RULES.get(format, "")


def left_out(n: int, what: str) -> list[str]:
    """Return the note on rows that a reader leaves out, if there are some."""
    return [f"{n:,} rows of {what} are left out."] if n else []


def of_one(
    rows: Iterable[Any], names: Iterable[str], name: str | None, option: str, what: str
) -> tuple[str | None, list[Any], list[str]]:
    """Return the name that the user chose, or the only one, with its rows and a note.

    The note says how many rows have other names. `option` and `what` are those of
    :func:`choose`.
    """
    chosen = choose(name, names, option=option, what=what)
    is_kept = [own == chosen for own in names]
    notes = left_out(is_kept.count(False), f"other {what}s than {chosen!r}")
    return chosen, list(compress(rows, is_kept)), notes


# Columns that distinguish questions of the same name, by what they contain.
IDENTIFYING = {"right answers": "right_answer", "prompts": "prompt"}

STATUSES = ("answered", "refused", "unparseable", "error", "unscored")


class Samples(NamedTuple):
    """Sampled answers of a question, their scores, and the rows they are from.

    A score that is not known is NaN. A reader does not fill in the rows.
    """

    answers: list[Any]
    scores: list[float]
    rows: list[int]


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation(Result):
    """The scored answers of one system, as :func:`read_evaluation` returns them.

    A row is one sample of one question. Questions are identified by their own names or
    hashes, never by their position in the file.

    Attributes
    ----------
    question : ndarray of shape (n_rows,), str
        Identity of the question.
    repeat : ndarray of shape (n_rows,), int
        Index of the sample within its question, starting at 0.
    score : ndarray of shape (n_rows,)
        Score in [0, 1]. NaN if the harness did not write a score.
    proba : ndarray of shape (n_rows,)
        Probability that the answer is right. NaN if there is none.
    status : ndarray of shape (n_rows,), str
        'answered', 'refused', 'unparseable', 'error' (the sample failed) or 'unscored'.
    option_proba : list of ndarray or None
        Probabilities of the options of each row, for multiple-choice questions.
    gold : ndarray of shape (n_rows,), int, or None
        Index of the right option of each row. -1 if it is not known.
    groups : dict of str to ndarray of shape (n_rows,)
        Further attributes of each row, such as its subject or source.
    right_answer, prompt : ndarray of shape (n_rows,), object, or None
        Right answer and prompt of the question of each row, as text; the prompt may be
        a hash of it. None where it is not known. They distinguish questions of the same
        name in different files.
    model, task : str or None
        Name of the model, and name of the task it was evaluated on.
    format : str
        Name of the format that was read.
    notes : tuple of str
        Choices made by the reader and rows that it left out, one sentence each.

    See Also
    --------
    read_evaluation : Read the file of a harness.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from skcalib import read_evaluation
    >>> verdicts = [("q1", "yes", 80), ("q2", "no", 60), ("q3", "yes", 90)]
    >>> judged = {
    ...     name: {
    ...         "response": f"Confidence: {percent}%",
    ...         "judge_response": {"correct": correct, "confidence": percent},
    ...     }
    ...     for name, correct, percent in verdicts
    ... }
    >>> path = Path(tempfile.mkdtemp()) / "judged.json"
    >>> _ = path.write_text(json.dumps(judged))
    >>> evaluation = read_evaluation(path)
    >>> evaluation
    Evaluation(n_rows=3, n_questions=3, format='HLE')
    >>> evaluation.score
    array([1., 0., 1.])
    """

    question: np.ndarray
    repeat: np.ndarray
    score: np.ndarray
    proba: np.ndarray
    status: np.ndarray
    option_proba: list[np.ndarray] | None = None
    gold: np.ndarray | None = None
    groups: dict[str, np.ndarray] = field(default_factory=dict)
    right_answer: np.ndarray | None = None
    prompt: np.ndarray | None = None
    # Answers of the system, if the reader knows them.
    _response: np.ndarray | None = None
    # Names of the samples of a question in the file, if it has them.
    _sample: np.ndarray | None = None
    model: str | None = None
    task: str | None = None
    format: str = "table"
    notes: tuple[str, ...] = ()

    @classmethod
    def _of_rows(
        cls,
        source: Source,
        format: str,
        notes: Iterable[str],
        rows: Sequence[dict[str, Any]],
        *,
        about: str = "",
        how: str = "",
        model: Any = None,
        task: Any = None,
        headlines: Iterable[tuple[str, Any]] = (),
    ) -> Evaluation:
        """Return the evaluation of the rows that a reader made, which have attributes.

        A row may lack any attribute but the question. Scores and probabilities are
        numbers, or verdicts of a harness, or None. Right answers and prompts are JSON
        values, and a `response` is the answer of the system, or its samples. A row
        without a score is not 'answered' but 'unscored'. Two rows of a question with
        the same `repeat` are duplicates; if no row has one, the rows of a question are
        its samples in the order of the file. `place` is the entry of the file, as a
        number or in words, for messages.

        `option_proba` is a list of the probabilities of the options by each rule that
        the harness may have used, and `gold` are the indices of the right options.
        Without `proba`, the answer is the most probable option. The last note is what
        is said `about` the score, and `how` there are probabilities, if there are some.
        `headlines` are the accuracies that the file states, each with its conditions. A
        note says which differ from the mean score.
        """
        n = len(rows)
        if not n:
            raise NoAnswersError("must contain at least one answer. Got none.")
        # A reader gives what its harness writes; other attributes are not known.
        columns = defaultdict(lambda: [None] * n, columns_of(rows))

        def where(k: int) -> str:
            place = columns["place"][k]
            if isinstance(place, str):
                return place
            return source.place(k if place is None else place)

        label, scale = source.options.pos_label, source.options.scale
        scores = as_scores(columns["score"], where, "score", label, scale)
        stated = as_scores(columns["proba"], where, "probability")
        right = [k or [] for k in columns["gold"]]
        given, proba, wrong = scored_options(
            columns["option_proba"], stated, scores, right
        )
        if wrong:
            # A probability of another answer than the scored one would look like an
            # error of calibration.
            proba, given = np.full(n, np.nan), []
            how = contradiction(wrong, n, where)
        elif how and np.isnan(proba).all():
            how = "There are no probabilities."
        known = np.array([each or "answered" for each in columns["status"]], object)
        names = np.array(columns["question"], dtype=object)
        # Options are kept only if every row has them, since columns have all rows.
        options = [each for each in given if each is not None]
        # Of several right options, no single one is the class of a classifier.
        golds = np.array([k[0] if len(k) == 1 else -1 for k in right])
        groups = [each or {} for each in columns["groups"]]
        repeat = numbered_repeats(names)
        if "repeat" in columns:
            repeat = np.array(columns["repeat"], dtype=np.int64)
        # Asked before a look-up, which would add the column.
        has_response = "response" in columns
        found = cls(
            question=names,
            repeat=repeat,
            score=scores,
            proba=proba,
            status=np.where(known == "answered", statuses(scores), known),
            option_proba=options if len(options) == n else None,
            gold=golds if (golds >= 0).any() else None,
            _response=object_array(columns["response"]) if has_response else None,
            _sample=_as_texts(columns["sample"]),
            groups={
                name: np.array([each.get(name, "") for each in groups], dtype=object)
                for name in dict.fromkeys(name for each in groups for name in each)
            },
            right_answer=_as_texts(columns["right_answer"]),
            prompt=_as_texts(columns["prompt"]),
            model=text_or_none(model),
            task=text_or_none(task),
            format=format,
            notes=(*notes, *filter(None, [f"{about} {how}".strip()])),
        )
        if label is None and scale is None:
            found = replace(found, notes=(*found.notes, *found._deviations(headlines)))
        return found

    def _deviations(self, headlines: Iterable[tuple[str, Any]]) -> Iterator[str]:
        """Yield which of the accuracies that a file states differ from its scores."""
        known = self.score[~np.isnan(self.score)]
        ours = known.mean() if known.size else np.nan
        for condition, value in headlines:
            # The harness may score unanswered samples in another way, or leave samples
            # out.
            if isinstance(value, float) and abs(value - ours) >= _VISIBLE:
                yield (
                    f"The file states an accuracy of {value:.3f}{condition}. The mean "
                    f"score of its samples is {ours:.3f}."
                )

    @classmethod
    def _of_scores(
        cls,
        question: np.ndarray | None,
        score: np.ndarray,
        proba: np.ndarray | None = None,
        **properties: Any,
    ) -> Evaluation:
        """Return the evaluation of scores; without names, rows number the questions."""
        rows = np.arange(score.size)
        return cls(
            question=rows if question is None else question,
            repeat=0 * rows if question is None else numbered_repeats(question),
            score=score,
            proba=np.full(score.size, np.nan) if proba is None else proba,
            status=statuses(score),
            **properties,
        )

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return len(set(self.question.tolist()))

    @property
    def has_proba(self) -> bool:
        """Whether any row has a probability."""
        return bool(np.isfinite(self.proba).any())

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each status that occurs."""
        if len(self) and (self.status == "answered").all():  # which is fast
            return {"answered": len(self)}
        found = Counter(self.status.tolist())
        return {status: found[status] for status in STATUSES if status in found}

    def take(self, rows: Any) -> Evaluation:
        """Return an evaluation that contains only the given rows.

        Parameters
        ----------
        rows : array of bool or int
            Rows to keep.

        Returns
        -------
        evaluation : Evaluation
        """
        # `rows` may be a mask or a slice, and lists need positions.
        kept = np.arange(len(self))[rows]
        columns: dict[str, Any] = {}
        for name in (*_COLUMNS, *_MAY_LACK):
            column = getattr(self, name)
            columns[name] = None if column is None else column[kept]
        options = self.option_proba
        return replace(
            self,
            **columns,
            option_proba=None if options is None else [options[k] for k in kept],
            groups={name: values[kept] for name, values in self.groups.items()},
        )

    @public
    def scored(self, unanswered: str | None = None) -> Evaluation:
        """Return the samples that are included in the accuracy, with their scores.

        Parameters
        ----------
        unanswered : {'wrong', 'drop', 'separate'}, default=None
            How samples whose status is not 'answered' are scored. If 'wrong', their
            score is 0. If 'drop' or 'separate', they are left out. If None, the rule of
            the harness is applied and described in `notes`.

        Returns
        -------
        evaluation : Evaluation
        """
        score = self.score
        if unanswered is not None:
            check_choice(unanswered, POLICIES, name="unanswered")
            fill = 0.0 if unanswered == "wrong" else np.nan
            score = np.where(self.status == "answered", score, fill)
        # Other harnesses have written a score for each sample that they count.
        elif self.format in _COUNT_AS_WRONG:
            score = np.where(np.isnan(score), 0.0, score)
        # The rule may give unanswered samples a score, so rows are dropped after it.
        kept = replace(self, score=score)
        if np.isnan(score).any():
            kept = kept.take(~np.isnan(score))
        if not len(kept):
            raise ParameterError(
                None,
                f"needs an answer with a score. Got {len(self)} samples, none of which "
                "has one.",
            )
        if unanswered is None and self.counts().keys() - {"answered"}:
            kept = replace(kept, notes=(*kept.notes, rule_of(self.format)))
        return kept

    def _samples(self, column: str | None = None) -> dict[Any, Samples]:
        """Return the samples of each question; `column` may contain the answers."""
        known = self._response if column is None else self.groups[column]
        is_sample = self.status != "error"  # a sample that failed has no answer
        if known is None or any(each is None for each in known[is_sample]):
            raise ParameterError(
                "answers",
                f"must be an evaluation whose file contains the answers. Got "
                f"{self.format!r}. Pass the sampled answers of each question.",
            )
        found: dict[Any, Samples] = {}
        score = self.score.tolist()
        for row in np.flatnonzero(is_sample).tolist():
            question, each = self.question[row], known[row]
            if not isinstance(each, Samples):
                each = Samples([each], [score[row]], [])
            # Several rows of a question are its samples, and so are several answers of
            # a row.
            answers, scores, rows = found.setdefault(question, Samples([], [], []))
            answers += each.answers
            scores += each.scores
            rows += [row] * len(each.answers)
        return found

    def answered(self) -> Evaluation:
        """Return the samples with a score and, if any sample has one, a probability.

        Returns
        -------
        evaluation : Evaluation
        """
        kept = np.isfinite(self.score)
        if self.has_proba:
            kept &= np.isfinite(self.proba)
        return self.take(kept)

    @public
    def aligned(self, other: Evaluation) -> tuple[Evaluation, Evaluation]:
        """Return this evaluation and another one, restricted to common questions.

        Rows are matched by question and sample, and are in the same order in both
        results. Samples that only one evaluation has are left out, and `notes` states
        their number.

        Parameters
        ----------
        other : Evaluation
            Evaluation of another system on the same questions.

        Returns
        -------
        evaluations : tuple of two Evaluation

        Raises
        ------
        ValueError
            If a sample of a question occurs twice, or if the two evaluations do not
            have any sample in common. Also if they have different right answers or
            different prompts for a question.
        """
        if not isinstance(other, Evaluation):
            raise ParameterTypeError(
                "other", f"must be an Evaluation. Got {type(other).__name__}."
            )
        own, others = self._places(), other._places()
        common = [key for key in own if key in others]
        if not common:
            raise ParameterError(
                "other",
                "must share questions with this evaluation. Got "
                f"{next(iter(others))[0]!r} there and {next(iter(own))[0]!r} here, for "
                "example.",
            )
        sides = []
        for one, places in ((self, own), (other, others)):
            n_left = len(places) - len(common)
            part = one.take([places[key] for key in common])
            if n_left:
                note = f"{n_left} of {len(places)} samples are not in the other file."
                part = replace(part, notes=(*one.notes, note))
            sides.append(part)
        for what, name in IDENTIFYING.items():
            known = [getattr(side, name) for side in sides]
            # Not every harness writes both.
            if any(side is None for side in known):
                continue
            differ = np.flatnonzero(differing(known))
            if differ.size:
                here, there = (side[differ[0]] for side in known)
                raise ParameterError(
                    "other",
                    f"must have the same {what} as this evaluation. Got {differ.size} "
                    f"of {len(common)} samples with different {what}, for example "
                    f"{there!r:.60} there and {here!r:.60} here for question "
                    f"{common[differ[0]][0]!r:.60}.",
                )
        return sides[0], sides[1]

    def _places(self) -> dict[tuple[str, int], int]:
        places: dict[tuple[str, int], int] = {}
        for k, key in enumerate(zip(self.question, self.repeat.tolist(), strict=True)):
            if key in places:
                raise ParameterError(
                    None,
                    f"needs each sample of a question once. Got sample {key[1]} of "
                    f"question {key[0]!r} in rows {places[key]} and {k}.",
                )
            places[key] = k
        return places

    def _columns(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in _COLUMNS}
        for name, values in self.groups.items():
            # A group may have the name of a column, for example 'status'.
            columns[f"group_{name}" if name in _COLUMNS else name] = values
        return columns

    def _in_words(self) -> Sequence[str]:
        counts = ", ".join(f"{n} {status}" for status, n in self.counts().items())
        return (f"{len(self)} samples of {self.n_questions} questions: {counts}.",)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as lists, and the model, task and format.

        Returns
        -------
        dict
            Missing scores and probabilities (NaN) are None, so that the dict can be
            written as JSON.
        """
        columns = super().to_dict()
        for name in ("score", "proba"):
            columns[name] = [None if x != x else x for x in columns[name]]
        # The model, the task, the format and the notes, which are no columns.
        more = {f.name: getattr(self, f.name) for f in fields(self)[-4:]}
        return columns | more

    def __len__(self) -> int:
        return self.question.size

    def __repr__(self) -> str:
        named = {"model": self.model, "task": self.task, "format": self.format}
        shown = "".join(f", {k}={v!r}" for k, v in named.items() if v is not None)
        return f"Evaluation(n_rows={len(self)}, n_questions={self.n_questions}{shown})"


_COLUMNS = ("question", "repeat", "score", "proba", "status")
_MAY_LACK = ("gold", "right_answer", "prompt", "_response", "_sample")


# Options whose probabilities differ by this part are tied: files have float32 numbers,
# and harnesses choose among ties by their order.
_TIED = 1e-4


def scored_options(
    ways: Sequence[Any], stated: np.ndarray, scores: np.ndarray, golds: Sequence[Any]
) -> tuple[list[np.ndarray | None], np.ndarray, list[int]]:
    """Return the probabilities of options and of answers, and contradictions.

    A row contradicts its score if the option that has the probability of the answer is
    right and the score is not 1, or wrong and the score is not 0. The first rule is
    taken by which no row does.
    """
    found = []
    # The rule of a harness is not in all files: the scores tell which one it was.
    for way in range(max(len(each or [0]) for each in ways)):
        options = [each[min(way, len(each) - 1)] if each else None for each in ways]
        best = np.array([np.nan if each is None else each.max() for each in options])
        proba = np.where(np.isnan(stated), best, stated)
        rows = zip(options, proba.tolist(), scores.tolist(), golds, strict=True)
        wrong = [k for k, row in enumerate(rows) if _is_contradiction(*row)]
        if not wrong:
            return options, proba, []
        found.append((options, proba, wrong))
    return found[0]


def _is_contradiction(
    options: np.ndarray | None, proba: float, score: float, golds: Sequence[int]
) -> bool:
    if options is None or score != score:
        return False
    near = set(np.flatnonzero(np.abs(options - proba) <= _TIED * proba).tolist())
    is_right = near & set(golds) if score else near - set(golds)
    # A partial score is not about a single option.
    return 0 < score < 1 or (bool(golds) and not is_right)


def contradiction(rows: Sequence[int], n: int, where: Callable[[int], str]) -> str:
    """Return the note on rows whose score contradicts their most probable option."""
    named = ", ".join(map(where, rows[:3])) + " and others" * (len(rows) > 3)
    return (
        f"No probability is used. In {len(rows):,} of {n:,} rows, the score is not "
        "that of the most probable option (ties are allowed), so that the "
        f"probabilities are about other answers: {named}. Choose the score of "
        "this option, if the file has one, to measure calibration."
    )


def check_groups(name: str, groups: np.ndarray, question: np.ndarray) -> None:
    """Raise if a question lacks the attribute by which questions are grouped."""
    lacks = groups == ""
    if lacks.any():
        raise ParameterError(
            "groups",
            f"needs a group for each question. {int(lacks.sum())} of {lacks.size} have "
            f"no {name}, such as {str(question[lacks.argmax()])!r:.60}.",
        )


def statuses(score: np.ndarray) -> np.ndarray:
    """Return the status of answers by whether they have a score."""
    # an index gives all rows the same two texts
    return np.array(["answered", "unscored"], dtype=object)[np.isnan(score).astype(int)]


def _as_texts(values: Sequence[Any]) -> np.ndarray | None:
    """Return right answers or prompts as text, and None where one is not known."""
    found = [None if value is None else as_key(value) for value in values]
    return np.array(found, dtype=object) if any(x is not None for x in found) else None


def are_known(texts: np.ndarray) -> np.ndarray:
    """Return which entries are not None."""
    return np.not_equal(texts, None)  # type: ignore[call-overload]


def varying(found: Evaluation, texts: np.ndarray) -> dict[Any, tuple[Any, Any]]:
    """Return the questions whose rows have different known texts, with two of them."""
    first: dict[Any, Any] = {}
    several: dict[Any, tuple[Any, Any]] = {}
    if found.repeat.any():
        for name, text in zip(found.question.tolist(), texts.tolist(), strict=True):
            if text not in (None, "") and first.setdefault(name, text) != text:
                several.setdefault(name, (first[name], text))
    return several


def differing(sides: Sequence[np.ndarray]) -> np.ndarray:
    """Return where two columns of texts are known and differ."""
    first, *others = sides
    found = np.zeros(first.size, dtype=bool)
    for side in others:
        is_known = are_known(first)
        found |= is_known & are_known(side) & (side != first)
        first = np.where(is_known, first, side)
    return found
