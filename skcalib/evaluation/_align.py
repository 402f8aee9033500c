"""Two or more evaluations on their common questions, matched by name or hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError, parameter, public
from .._results import Result
from .._validation import as_labels, check_choice
from ..rates._accuracy import as_scores
from ._evaluation import IDENTIFYING, Evaluation, are_known, differing, varying
from ._table_answers import NAME as TABLE

# Number of questions that an error gives as examples.
_N_NAMED = 3

# Two systems on the same questions agree more than by chance: the correlation of their
# scores is usually between .15 and .6. If questions are identified by row numbers only,
# a clearly lower correlation indicates that the order differs.
_RELATED = 0.15
_CLEARLY = 4.0  # standard errors: from 712 questions on


@dataclass(frozen=True, repr=False, eq=False)
class AlignedEvaluations(Result):
    """Scores of several systems on the same questions.

    Returned by :func:`align_evaluations`.

    Attributes
    ----------
    names : list of str
        Names of the systems.
    question : ndarray of shape (n_questions,), str
        The questions that all systems have, in the order of the first system.
    score : ndarray of shape (n_questions, n_systems)
        Score of each question: the mean of its samples.
    n_samples : ndarray of shape (n_questions, n_systems), int
        Number of scored samples of each question.
    samples : list of ndarray of shape (n_rows,)
        Scores of the samples of each system, ordered by question.
    proba : ndarray of shape (n_questions, n_systems)
        Probability that the answer is right. NaN if no probability is known or if the
        question has several samples.
    groups : dict of str to ndarray of shape (n_questions,)
        Further attributes of each question, such as its subject, from the first system
        that has them.
    only_in : dict of str to int
        Number of questions of each system that are left out because another system does
        not have them.
    notes : tuple of str
        Descriptions of what was left out, one sentence each.

    See Also
    --------
    align_evaluations : Match evaluations.
    skcalib.significance.compare_systems : Compare the systems.

    Examples
    --------
    >>> from skcalib.evaluation import align_evaluations, evaluation_of
    >>> first = evaluation_of([1, 1, 0], question=["a", "b", "c"])
    >>> second = evaluation_of([0, 1], question=["c", "a"])
    >>> aligned = align_evaluations({"A": first, "B": second}, missing="drop")
    >>> aligned.question.tolist(), aligned.score.tolist(), aligned.only_in
    (['a', 'c'], [[1.0, 1.0], [0.0, 0.0]], {'A': 1, 'B': 0})
    """

    names: list[str]
    question: np.ndarray
    score: np.ndarray
    n_samples: np.ndarray
    samples: list[np.ndarray]
    proba: np.ndarray
    groups: dict[str, np.ndarray]
    only_in: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def is_repeated(self) -> bool:
        """Whether any question has several samples."""
        return bool((self.n_samples > 1).any())

    def sample_counts(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of right samples and of samples of a system.

        Parameters
        ----------
        k : int
            Position of the system in `names`.

        Returns
        -------
        right, number : ndarray of shape (n_questions,), int
            Number of right samples and number of samples of each question.
        """
        number = self.n_samples[:, k]
        return np.rint(self.score[:, k] * number).astype(np.int64), number

    def _columns(self) -> dict[str, Any]:
        scores = dict(zip(self.names, self.score.T, strict=True))
        return {"question": self.question, **self.groups, **scores}

    def __len__(self) -> int:
        return self.question.size

    def __repr__(self) -> str:
        return (
            f"AlignedEvaluations({len(self.names)} systems, n_questions={len(self)}, "
            f"only_in={self.only_in})"
        )


@public
def evaluation_of(
    score: Any,
    *,
    question: Any = None,
    proba: Any = None,
    groups: Mapping[str, Any] | None = None,
    model: str | None = None,
) -> Evaluation:
    """Create an evaluation from arrays.

    Parameters
    ----------
    score : array-like of shape (n,)
        Scores in [0, 1]. NaN for a question without a score.
    question : array-like of shape (n,), default=None
        Identity of each question. Rows of the same question are its samples. If None,
        each row is a separate question and cannot be matched with another evaluation.
    proba : array-like of shape (n,), default=None
        Probability that the answer is right.
    groups : mapping of str to array-like of shape (n,), default=None
        Further attributes of each row, such as its subject or source.
    model : str, default=None
        Name of the system.

    Returns
    -------
    evaluation : Evaluation
        The evaluation.

    See Also
    --------
    read_evaluation : Read the file of a harness.

    Examples
    --------
    >>> from skcalib.evaluation import evaluation_of
    >>> evaluation_of([1, 0, 1], question=["a", "b", "b"], model="tiny")
    Evaluation(n_rows=3, n_questions=2, model='tiny', format='table')
    """
    scores = as_scores(score, name="score", may_be_missing=True)
    n = scores.size
    names = None if question is None else _texts(question, n, "question")
    if proba is not None:
        proba = as_scores(proba, name="proba", may_be_missing=True)
        if proba.size != n:
            raise ParameterError(
                "proba", f"must have one entry per score, {n}. Got {proba.shape}."
            )
    if groups is not None and not isinstance(groups, Mapping):
        raise ParameterTypeError(
            "groups",
            "must be a mapping of names to one entry per score. Got "
            f"{type(groups).__name__}.",
        )
    return Evaluation._of_scores(
        names,
        scores,
        proba,
        groups={
            name: _texts(values, n, f"groups[{name!r}]")
            for name, values in (groups or {}).items()
        },
        model=model,
    )


@public
def align_evaluations(
    evaluations: Mapping[str, Evaluation],
    *,
    missing: str = "error",
    duplicates: str = "error",
    mismatch: str = "error",
    unanswered: str | None = None,
) -> AlignedEvaluations:
    """Match the questions of two or more systems by name or hash, never by position.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluation of each system by name.
    missing : {'error', 'drop'}, default='error'
        Action if a system does not have a question of another system, or does not have
        a score for it. 'error' raises an error, 'drop' leaves the question out.
    duplicates : {'error', 'mean', 'drop'}, default='error'
        Action if some questions occur more than once in a system, while most occur
        once. 'mean' uses the mean of their rows. 'drop' keeps one row of a question
        whose rows are equal, and leaves other such questions out. If most questions
        have several rows, the rows are samples and not duplicates.
    mismatch : {'error', 'drop', 'keep'}, default='error'
        Action if a question of the same name has different right answers or different
        prompts in two systems (`Evaluation.right_answer` and `Evaluation.prompt`).
        'drop' leaves out questions that differ, 'keep' compares them nevertheless. The
        scores of two systems are also a mismatch if they are nearly uncorrelated and
        questions are identified by row numbers, since the rows may then be in different
        orders.
    unanswered : {'wrong', 'drop', 'separate'}, default=None
        How samples without an answer are scored, as in :meth:`Evaluation.scored`.

    Returns
    -------
    aligned : AlignedEvaluations
        Scores of all systems on their common questions.

    Raises
    ------
    ValueError
        If the questions do not have names, if no question is common to all systems, or
        if questions are missing, duplicated or different and the corresponding
        parameter is 'error'. The message gives the number of these questions and
        examples.

    Examples
    --------
    >>> from skcalib.evaluation import align_evaluations, evaluation_of
    >>> a = evaluation_of([1, 0, 1], question=["x", "y", "z"])
    >>> b = evaluation_of([1, 1, 1], question=["z", "x", "y"])
    >>> align_evaluations({"A": a, "B": b})
    AlignedEvaluations(2 systems, n_questions=3, only_in={'A': 0, 'B': 0})
    """
    _check(evaluations, missing, duplicates, mismatch)
    notes: list[str] = []
    dropped: dict[str, set[str]] = {}
    scored: dict[str, Evaluation] = {}
    for name, evaluation in evaluations.items():
        # Duplicates are looked for before, since rows without a score are named too.
        dropped[name], kept = _duplicated(name, evaluation, duplicates, notes)
        scored[name] = kept.scored(unanswered)
    places = _places_of(evaluations, scored, dropped)
    common = _common(evaluations, places, missing, notes)
    left = np.count_nonzero(places.number, axis=1) - common.size
    only_in = dict(zip(scored, left.tolist(), strict=True))
    # Only common questions can differ.
    common = _agreeing(scored, places, common, mismatch, notes)
    aligned = _collect(scored, places, common, only_in, tuple(notes))
    if mismatch != "keep":
        _check_related(aligned)
    return aligned


def _check(evaluations: Any, missing: str, duplicates: str, mismatch: str) -> None:
    if not isinstance(evaluations, Mapping):
        raise ParameterTypeError(
            "evaluations",
            "must be a mapping of names to evaluations. Got "
            f"{type(evaluations).__name__}.",
        )
    for name, value in evaluations.items():
        if not isinstance(value, Evaluation):
            raise ParameterTypeError(
                "evaluations",
                f"must contain evaluations. Got {type(value).__name__} for {name!r}.",
            )
    if len(evaluations) < 2:
        raise ParameterError(
            "evaluations", f"must contain at least two systems. Got {len(evaluations)}."
        )
    check_choice(missing, ("error", "drop"), name="missing")
    check_choice(duplicates, ("error", "mean", "drop"), name="duplicates")
    check_choice(mismatch, ("error", "drop", "keep"), name="mismatch")
    for name, evaluation in evaluations.items():
        if evaluation.question.dtype != object:
            raise ParameterError(
                "evaluations",
                f"must name their questions. Got {name}, whose questions have no "
                "names. Its rows may be in any order, so they are not matched by "
                f"position. {parameter('question', 'Pass')} the column that contains "
                "the id or the text of the question.",
            )


def _examples(questions: Sequence[str]) -> str:
    shown = ", ".join(repr(_short(q)) for q in questions[:_N_NAMED])
    return shown + (", ..." if len(questions) > _N_NAMED else "")


def _short(text: Any) -> str:
    text = str(text)
    return text if len(text) <= 60 else text[:57] + "..."


def _duplicated(
    name: str, evaluation: Evaluation, duplicates: str, notes: list[str]
) -> tuple[set[str], Evaluation]:
    """Return questions to leave out, since names are not unique, and rows to keep."""
    if evaluation.n_questions == len(evaluation):
        return set(), evaluation
    counts = Counter(evaluation.question.tolist())
    more = [question for question, n in counts.items() if n > 1]
    # A few repeated names are a mistake in a file, while many are repeated samples.
    are_samples = 2 * len(more) > len(counts)
    if are_samples:
        # The rows are samples; only rows with one number of a sample are duplicates.
        same = Counter(
            zip(evaluation.question.tolist(), evaluation.repeat.tolist(), strict=True)
        )
        more = list(
            dict.fromkeys(question for (question, _), n in same.items() if n > 1)
        )
    if not more:
        return set(), evaluation
    what = f"{len(more):,} of {len(counts):,} questions of {name}"
    if duplicates == "error":
        raise ParameterError(
            "duplicates",
            f"must be 'mean' or 'drop' if a name stands for several rows. Got {what} "
            f"with more than one row: {_examples(more)}.",
        )
    left, done = set[str](), "count with their mean"
    if duplicates == "drop":
        left, done = set(more), "are left out"
        equal = {} if are_samples else _first_of_equal(evaluation, left)
        if equal:
            left -= equal.keys()
            evaluation = evaluation.take(
                [equal.get(q, k) == k for k, q in enumerate(evaluation.question)]
            )
            done += f", except one row of those with equal rows ({len(equal)})"
    notes.append(f"{what} have more than one row and {done}.")
    return left, evaluation


def _first_of_equal(evaluation: Evaluation, questions: set[str]) -> dict[str, int]:
    """Return the first row of each of some questions whose rows are equal."""
    e = evaluation
    columns = [e.score, e.proba, e.status, *e.groups.values()]
    known = [c for c in (e.right_answer, e.prompt, e._response) if c is not None]
    found: dict[str, dict[str, int]] = {}
    # NaN differs from itself, but its text does not.
    rows = map(repr, zip(*(c.tolist() for c in (*columns, *known)), strict=True))
    for k, (question, row) in enumerate(zip(e.question, rows, strict=True)):
        if question in questions:
            found.setdefault(question, {}).setdefault(row, k)
    return {q: min(each.values()) for q, each in found.items() if len(each) == 1}


@dataclass(frozen=True)
class _Places:
    """The rows of each question in each system.

    Questions have codes in the order in which they first occur. `rows` contains the
    scored rows of each system by the code of their question, and `number` the number of
    scored rows of each question, of shape (n_systems, n_questions). `is_named` is False
    for questions that are left out because their names are not unique.
    """

    question: np.ndarray
    rows: list[np.ndarray]
    number: np.ndarray
    is_named: np.ndarray

    def first_known(self, k: int, column: np.ndarray) -> np.ndarray:
        """Return the first known value of each question in a system; None without."""
        found = np.full(self.question.size, None)
        codes = np.repeat(np.arange(self.question.size), self.number[k])
        values = column[self.rows[k]]
        is_known = are_known(values)
        # Of several values of a question, the one that is assigned last is kept.
        found[codes[is_known][::-1]] = values[is_known][::-1]
        return found


def _places_of(
    evaluations: Mapping[str, Evaluation],
    scored: dict[str, Evaluation],
    dropped: Mapping[str, set[str]],
) -> _Places:
    """Return the rows of each question that is not left out."""
    every = (*scored.values(), *evaluations.values())
    first, *others = (each.question.tolist() for each in every)
    # Most systems answer the same questions in the same order.
    more = [column for column in others if column != first]
    names = list(dict.fromkeys(chain(first, *more)))
    code_of = dict(zip(names, range(len(names)), strict=True))
    rows, numbers, is_named = [], [], np.ones(len(names), dtype=bool)
    codes_of_first = _codes(first, code_of)
    for left, evaluation in zip(dropped.values(), scored.values(), strict=True):
        column = evaluation.question.tolist()
        codes = codes_of_first if column == first else _codes(column, code_of)
        number = np.bincount(codes, minlength=len(names))
        is_left = [code_of[name] for name in left]
        number[is_left] = is_named[is_left] = 0
        order = np.argsort(codes, kind="stable")
        # A stable order keeps the samples of a question in the order of the file.
        rows.append(order if not left else order[number[codes[order]] > 0])
        numbers.append(number)
    question = np.array(names, dtype=object)
    return _Places(question, rows, np.array(numbers), is_named)


def _codes(names: list[str], code_of: dict[str, int]) -> np.ndarray:
    return np.fromiter(map(code_of.__getitem__, names), np.int64, len(names))


def _common(
    evaluations: Mapping[str, Evaluation],
    places: _Places,
    missing: str,
    notes: list[str],
) -> np.ndarray:
    """Return the codes of the questions that all systems have."""
    names, has = list(evaluations), places.number > 0
    common = np.flatnonzero(has.all(axis=0))
    if not common.size:
        # One name of each of two systems shows whether one has ids and the other one
        # texts.
        firsts = places.question[has[:2].argmax(axis=1)]
        pairs = ", ".join(f"{names[k]}: {_examples([q])}" for k, q in enumerate(firsts))
        raise ParameterError(
            "evaluations",
            f"must have questions in common. Got no question that all {len(names)} "
            f"systems have ({pairs}).",
        )
    lacking = []
    # A question without a score in any system is named too.
    others = has.any(axis=0) | places.is_named
    for name, each in zip(names, has, strict=True):
        absent = places.question[others & ~each].tolist()
        if absent:
            # A question without a score is in the file, which the message says.
            known = set(evaluations[name].question.tolist())
            unscored = sum(q in known for q in absent)
            why = f"; {unscored} of them without a score there" if unscored else ""
            lacking.append(
                f"{name} lacks {len(absent):,} of {others.sum():,} questions "
                f"({_examples(absent)}{why})"
            )
    if lacking and missing == "error":
        raise ParameterError(
            "missing",
            f"must be 'drop' to compare the systems on their {common.size:,} common "
            f"question{'s' * (common.size > 1)}: {', '.join(lacking)}.",
        )
    notes += [f"{text}: left out." for text in lacking]
    return common


def _agreeing(
    scored: dict[str, Evaluation],
    places: _Places,
    common: np.ndarray,
    mismatch: str,
    notes: list[str],
) -> np.ndarray:
    """Return the questions whose answers and prompts are the same in all systems."""
    # Files of one harness may number the questions of different versions of a data set.
    differs = np.zeros(common.size, dtype=bool)
    found = []
    question = places.question[common].tolist()
    for what, columns in _identifying(scored).items():
        known, several = {}, dict[Any, str]()
        for k, (name, e) in enumerate(scored.items()):
            if name not in columns:
                continue
            known[name] = places.first_known(k, columns[name])[common]
            for each, pair in varying(e, columns[name]).items():
                texts = " and ".join(repr(_short(text)) for text in pair)
                several.setdefault(each, f"{texts} in {name}")
        other = differing(list(known.values()))
        other |= [each in several for each in question]
        if other.any():
            first = int(other.argmax())
            sides = " and ".join(
                f"{_short(side[first])!r} in {name}"
                for name, side in known.items()
                if side[first] is not None
            )
            found.append(
                f"{other.sum():,} of {common.size:,} questions with different {what}, "
                f"for example question {_short(question[first])!r}: "
                f"{several.get(question[first], sides)}"
            )
            differs |= other
    if not found:
        return common
    if mismatch == "error":
        raise ParameterError(
            "mismatch",
            "must be 'drop' or 'keep' if questions of the same name differ. Got "
            f"{'; '.join(found)}. If many differ, the files may have the questions in "
            "different orders and row numbers as their names, or the names begin again "
            "in each part of a file: join the part and the name.",
        )
    done = "compared nevertheless" if mismatch == "keep" else "left out"
    notes += [f"{text}: {done}." for text in found]
    if mismatch == "keep":
        return common
    # Dropping is decided for all systems, so that they stay on the same questions.
    if differs.all():
        raise ParameterError(
            "mismatch", f"must leave questions to compare. Got {'; '.join(found)}."
        )
    return common[~differs]


def _identifying(scored: dict[str, Evaluation]) -> dict[str, dict[str, np.ndarray]]:
    """Return the attributes of questions, each with its column of systems by name."""
    found: dict[str, dict[str, np.ndarray]] = {what: {} for what in IDENTIFYING}
    for name, e in scored.items():
        for what, column in IDENTIFYING.items():
            values = getattr(e, column)
            if values is not None and are_known(values).any():
                found[what][name] = values
        # The attributes of a harness may be of answers, such as the order of options.
        for group, values in e.groups.items() if e.format == TABLE else ():
            found.setdefault(f"values of {group!r}", {})[name] = values
    return {what: columns for what, columns in found.items() if columns}


def _collect(
    scored: dict[str, Evaluation],
    places: _Places,
    common: np.ndarray,
    only_in: dict[str, int],
    notes: tuple[str, ...],
) -> AlignedEvaluations:
    n, n_systems = common.size, len(scored)
    score, proba = np.empty((n, n_systems)), np.full((n, n_systems), np.nan)
    number = np.ascontiguousarray(places.number[:, common].T)
    is_common = np.zeros(places.question.size, dtype=bool)
    is_common[common] = True
    samples = []
    groups: dict[str, np.ndarray] = {}
    for k, evaluation in enumerate(scored.values()):
        # Samples are sorted by question, so that each question is a slice.
        flat = places.rows[k][np.repeat(is_common, places.number[k])]
        starts = np.cumsum(number[:, k]) - number[:, k]
        values = evaluation.score[flat]
        samples.append(values)
        score[:, k] = np.add.reduceat(values, starts) / number[:, k]
        if evaluation.has_proba:
            # The mean of several confidences is not the confidence of an answer.
            single = number[:, k] == 1
            proba[single, k] = evaluation.proba[flat[starts[single]]]
        for group, column in evaluation.groups.items():
            # Attributes of the question: any of its samples has them.
            groups.setdefault(group, column[flat[starts]])
    return AlignedEvaluations(
        names=list(scored),
        question=places.question[common],
        score=score,
        n_samples=number,
        samples=samples,
        proba=proba,
        groups=groups,
        only_in=only_in,
        notes=notes,
    )


def _check_related(aligned: AlignedEvaluations) -> None:
    """Raise if row numbers name the questions and the scores are unrelated."""
    if not are_row_numbers(aligned.question):
        return
    n, names = len(aligned), aligned.names
    # Equal scores have no correlation.
    varying = np.flatnonzero(np.ptp(aligned.score, axis=0) > 0)
    for i, j in combinations(varying, 2):
        r = np.corrcoef(aligned.score[:, [i, j]], rowvar=False)[0, 1]
        # The standard error of a correlation near 0 is 1 / sqrt(n).
        if r + _CLEARLY / np.sqrt(n) < _RELATED:
            raise ParameterError(
                "mismatch",
                "must be 'keep' if questions are named by row numbers and the scores "
                f"of two systems are unrelated. Got a correlation of {r:.3f} between "
                f"{names[i]} and {names[j]} on {n} questions. Either their questions "
                "are in different orders, and row numbers do not match them, or one of "
                "the two systems guesses.",
            )


def are_row_numbers(questions: np.ndarray) -> bool:
    """Return whether the names are integers with hardly any gaps."""
    names, tasks = questions.tolist(), 1
    try:
        if ": " in names[0]:  # the name of a joined task precedes the number
            parts = [name.rpartition(": ") for name in names]
            tasks = len({task for task, _, _ in parts})
            names = [number for _, _, number in parts]
        numbers = list(map(int, names))
    except (TypeError, ValueError):
        return False
    span = max(numbers) - min(numbers) + 1
    # Ids of a data set have gaps, and rarely begin at 0 or 1.
    return min(numbers) <= 1 and span * tasks <= 2 * len(numbers) + 2 * tasks


def _texts(values: Any, n: int, name: str) -> np.ndarray:
    found = as_labels(values, name=name).tolist()
    if len(found) != n:
        raise ParameterError(
            name, f"must have one entry per score, {n}. Got {len(found)}."
        )
    return np.array(list(map(str, found)), dtype=object)
