"""Plain tables as evaluations: one row per answer, or one column per system."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import Marked, ParameterError, parameter
from ._evaluation import Evaluation, contradiction, of_one, scored_options, statuses
from ._files import Options, Source
from ._tables import USUAL, Column, Fractions, Names, Numbers, Table, open_table
from ._values import OF_OPTIONS, file_error, listed, none_of, numbered_repeats

NAME = "table"

# In the records of some harnesses this is the right option, not whether it was chosen.
_TARGET = "target"
# A column of scores 0 and 1, or of probabilities beside a column of labels.
_SCORE = "score"
# Columns of right answers and of answers, in place of a column of scores.
_ANSWERS = ("gold", "prediction")

# Beside a probability, a confidence may be another number.
_CONFIDENCE = ("confidence", "conf")

# Columns that are never systems.
_NO_SYSTEMS = frozenset(
    [
        *("question_id", "qid", "sample_id", "item_id", "doc_id", "id", "question"),
        *("item", "task_id", "index", "row", "epoch", "trial", "repeat", "sample"),
        *("y_true", "label", "gold", "truth", "answer", "target", "model", "system"),
    ]
)

# Names of columns of a judge's scores, or of the labels of people for some of them.
_PEOPLE = re.compile("judge|human|people|person|grader|rater|annotat|expert", re.I)

# Names of columns of probabilities, also inside longer names.
_OF_PROBABILITIES = re.compile(
    "prob(?!lem|e)|confiden|certain|(?<![a-z])conf(?![a-z])", re.I
)

# Number of rows used to decide whether a column contains scores.
_N_LOOKED_AT = 2000

# Entries of an object that are scores of one system and not names of systems.
_ONE_SCORE = (*USUAL["right"], "score")

# Beginning of the note on the systems of a table in wide form.
SYSTEMS_NOTE = "The systems are the columns"


def claims(source: Source) -> bool:
    """Return whether the file may be a plain table, if no harness wrote it."""
    return source.kind in ("text", "parquet") or isinstance(source.first_row, dict)


def _table_of(source: Source, options: Options) -> Table:
    """Return a table, which must have the columns that options name."""
    options.reject("plain tables", "filter", "split")
    table = open_table(source)
    # A role without a column is not read.
    table.check(filter(None, options.columns.values()))
    table.check(options.groups, "groups")
    table.check(filter(None, [options.score]), "score")
    return table


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation in a table."""
    every, systems = _read_long(_table_of(source, options), options)
    if systems is None:
        return every
    model, _, notes = of_one(systems, systems, options.model, "model", "system")
    found = of_one_model(every, systems, model)
    return replace(found, notes=(*found.notes, *notes))


def read_systems(
    source: Source, options: Options, systems: Sequence[str] | None, gold: str | None
) -> dict[str, Evaluation]:
    """Return the evaluation of each system of a table."""
    if gold is not None and gold == options.columns.get("question"):
        raise _two_roles(gold, "question", "gold")
    table = _table_of(source, options)
    table.check(filter(None, [gold]), "gold")
    # A column of systems is looked for first: it makes a table long.
    model = options.columns.get("model") or next(iter(table.usual("model")), None)
    if model is None:
        wide = _read_wide(table, options, systems, gold)
        if wide:
            return wide
    else:
        options = replace(options, columns={**options.columns, "model": model})
    if gold is not None:
        raise no_answers(table.path, gold)
    every, system = _read_long(table, options, describes=True)
    if system is None:
        return {table.path.stem: every}
    names = system.tolist()
    if "" in names:
        raise file_error(
            f"must name the system of each row in column {model!r}. Got an empty cell "
            f"in row {names.index('') + 1} of {table.path.name}."
        )
    # The table is read once, also if it has many systems.
    wanted = chosen_systems(list(dict.fromkeys(names)), systems)
    return {name: of_one_model(every, system, name) for name in wanted}


def no_answers(path: Path, gold: str) -> ParameterError:
    return ParameterError(
        "gold",
        "applies to plain tables with one column of answers per system. Got "
        f"{gold!r} for {path.name}.",
    )


def chosen_systems(names: list[str], systems: Sequence[str] | None) -> list[str]:
    """Return the systems that the user chose among some names, or all."""
    for name in systems or ():
        if name not in names:
            raise ParameterError(
                "systems", f"must name systems of the file. {none_of(name, names)}"
            )
    return names if systems is None else list(systems)


def _two_roles(name: str, one: str, other: str) -> ParameterError:
    return ParameterError(
        "columns",
        f"must name different columns for {one} and {other}. Got {name!r} for both.",
    )


def _identifying(table: Table, roles: Mapping[str, str]) -> dict[str, Names]:
    """Return the columns that distinguish questions of the same name, or samples."""
    if "question" not in roles:
        return {}
    taken = {name for role, name in roles.items() if role != "gold"}
    answers = [roles["gold"]] if "gold" in roles else table.usual("answer")
    usual = {"right_answer": answers, "prompt": table.usual("prompt")}
    usual["_sample"] = table.usual("sample")
    # A column that is used in another role says nothing about the question.
    named = {key: [n for n in names if n not in taken] for key, names in usual.items()}
    return {key: Names(names[0]) for key, names in named.items() if names}


def _texts_of(columns: dict[str, Names]) -> dict[str, np.ndarray]:
    """Return the texts of columns, and None for an empty cell."""
    found = {key: column.finish() for key, column in columns.items()}
    for texts in found.values():
        texts[texts == ""] = None
    return found


def _attributes(
    table: Table, options: Options, taken: Iterable[str | None]
) -> list[Names]:
    """Return the columns with usual names of subjects and passages of questions."""
    used = {*taken, *options.groups}
    names = table.usual("subject", "passage")
    return [Names(name) for name in names if name not in used]


def _with_attributes(
    groups: dict[str, np.ndarray], columns: list[Names]
) -> dict[str, np.ndarray]:
    """Return groups, and attributes that all questions have."""
    found = {column.name: column.finish() for column in columns}
    # Nobody asked for these columns, so that an empty cell is no error.
    return groups | {n: c for n, c in found.items() if "" not in c.tolist()}


def of_one_model(
    every: Evaluation, systems: np.ndarray, model: str | None
) -> Evaluation:
    """Return the rows of one system of a table that names the system of each row."""
    part = every.take(systems == model)
    return replace(part, model=model, repeat=numbered_repeats(part.question))


def _read_long(
    table: Table, options: Options, describes: bool = False
) -> tuple[Evaluation, np.ndarray | None]:
    """Return all rows of a table, and the system of each row if a column names it.

    If `describes`, the subjects and passages of questions are read, too.
    """
    roles, notes = _roles(table, options)
    if options.model is not None and "model" not in roles:
        raise ParameterError(
            "model",
            "does not apply to a table without a column of systems. Got "
            f"{options.model!r}, and the columns of {table.path.name} are "
            f"{', '.join(table.names)}.",
        )
    columns: dict[str, Column] = {}
    if "score" in roles:
        columns |= _outcomes([roles["score"]], options)
    else:
        columns |= {roles[role]: Names(roles[role]) for role in _ANSWERS}
    proba = None
    if "proba" in roles:
        # The probabilities are of the options, not of the label that counts as right.
        is_largest = _is_of_options(roles["proba"]) and options.pos_label is None
        may_lack = options.missing == "keep"
        proba = Fractions(roles["proba"], options.percent, is_largest, may_lack)
        columns[roles["proba"]] = proba
    texts = [(role, roles[role]) for role in ("question", "model") if role in roles]
    for role, name in [*texts, *(("groups", name) for name in options.groups)]:
        if not isinstance(columns.setdefault(name, Names(name)), Names):
            other = "score" if name == roles.get("score") else "proba"
            raise _two_roles(name, other, role)
    known = _identifying(table, roles)
    more = _attributes(table, options, roles.values()) if describes else []
    # The first attempt names all kinds of cells that cannot be read.
    failed: dict[Column, ParameterError] = {}
    others = [*known.values(), *more]
    table.read([*columns.values(), *others], options.verbose, failed)
    found = _finished(columns, failed, is_complete=options.missing == "error")
    score = found[roles["score"]] if "score" in roles else _equal(roles, found)
    if not (np.isnan(score) | np.isin(score, (0, 1))).all():
        _check_named(table, roles, options)
    identities = _texts_of(known)
    if proba is not None:
        right = found.get(roles.get("gold", ""), identities.get("right_answer"))
        # Only the names of the options say to which answer the largest probability
        # belongs.
        if right is not None and any(proba.options):
            found[proba.name] = _of_best(proba, right, score, found[proba.name])
        notes += proba.notes
        if "prediction" in roles and not is_largest:
            answers = found[roles["prediction"]]
            notes += _of_one_class(proba.name, found[proba.name], answers)
    evaluation = Evaluation._of_scores(
        found.get(roles.get("question", "")),
        score,
        found.get(roles.get("proba", "")),
        _response=found.get(roles.get("prediction", "")),
        groups=_with_attributes({name: found[name] for name in options.groups}, more),
        notes=tuple(notes),
        **identities,
    )
    return evaluation, found.get(roles.get("model", ""))


def _of_best(
    column: Fractions, right: np.ndarray, score: np.ndarray, proba: np.ndarray
) -> np.ndarray:
    """Return the largest probabilities, or NaN if they are about other answers."""
    rows = list(zip(column.options, right.tolist(), strict=True))
    ways = [[np.array(list(o.values()))] if r in o else [] for o, r in rows]
    golds = [[list(o).index(r)] if r in o else [] for o, r in rows]
    *_, wrong = scored_options(ways, np.full(score.size, np.nan), score, golds)
    if not wrong:
        return proba
    column.notes.append(contradiction(wrong, score.size, lambda k: f"row {k + 1}"))
    return np.full(score.size, np.nan)


def _of_one_class(name: str, proba: np.ndarray, answers: np.ndarray) -> list[str]:
    """Return the note on probabilities that may be those of one of two classes.

    The probability of a predicted label out of two is usually at least 0.5.
    """
    labels = set(answers.tolist())
    if len(labels) != 2:
        return []
    label, other = sorted(labels, key=lambda x: float(proba[answers == x].mean()))
    low = proba[answers == label] < 0.5
    if low.mean() < 0.9:
        return []
    return [
        f"{name!r} is below 0.5 for {int(low.sum())} of {low.size} answers {label!r}. "
        f"If it is the probability of one class, such as {other!r}, compare it with "
        "the labels of this class, not with right answers."
    ]


def _finished(
    columns: dict[str, Column],
    failed: dict[Column, ParameterError],
    *,
    is_complete: bool,
) -> dict[str, np.ndarray]:
    """Return the columns, or raise one error for all cells that cannot be read."""
    found = {}
    for name, column in columns.items():
        try:
            if column not in failed:
                found[name] = column.finish()
        except ParameterError as error:
            failed[column] = error
    # A file is corrected once if one message names all of its problems.
    errors = list(failed.values())
    empty = [
        f"of {name!r} in line {column.first_missing}"
        for name, column in columns.items()
        if column.first_missing is not None
    ]
    if is_complete and empty:
        rule = parameter("_empty", "must be 'keep' if cells are empty or NaN")
        problem = f"{rule}. Got an empty cell {' and '.join(empty)}."
        # Labels of people are scores, and most of their cells are empty.
        if any(type(c) is Numbers and c.first_missing for c in columns.values()):
            problem += parameter("_judged", "")
        errors.append(ParameterError("missing", problem))
    if len(errors) > 1:
        problems = (each.problem.template for each in errors)  # type: ignore[attr-defined]
        raise file_error(" It also ".join(problems))
    if errors:
        raise errors[0]
    return found


def _check_named(table: Table, roles: dict[str, str], options: Options) -> None:
    """Raise an error if scores are other numbers, and no option says what they are."""
    is_named = options.score or options.columns.get("score") or options.scale
    if roles.get("score", "").lower().strip() == _SCORE and not is_named:
        _truth(table, [])  # raises an error: they may be probabilities


def _is_of_options(name: str) -> bool:
    return name.lower().strip() == OF_OPTIONS


def _roles(table: Table, options: Options) -> tuple[dict[str, str], list[str]]:
    """Return the column of each role (score, proba, question, model), and notes."""
    roles = {role: name for role, name in options.columns.items() if name}
    if options.score is not None:
        roles.setdefault("score", options.score)
    notes: list[str] = []
    if roles.keys() & set(_ANSWERS):
        _check_answers(roles, options)
    elif "score" not in roles:
        # The name is usual for probabilities as well, which do not say what is right.
        scores = [] if table.usual("right", "label") else table.named([_SCORE])
        roles["score"] = scores[0] if scores else _truth(table)
    usual = {
        "proba": table.named(_proba_names(roles, options)),
        "question": table.usual("question"),
        "model": table.usual("model"),
    }
    for role, names in usual.items():
        if role in options.columns:
            continue
        taken = {*roles.values(), *(() if role == "question" else options.groups)}
        found = [name for name in names if name not in taken]
        if found:
            roles[role] = found[0]
        if role == "proba":
            free = [name for name in table.names if name not in taken]
            notes += _probability_notes(free, found)
    for role in ("score", *_ANSWERS):
        if role in roles and roles.get("proba") == roles[role]:
            raise _two_roles(roles[role], role, "proba")
    return roles, [*notes, *_notes_on_choices(roles)]


def _notes_on_choices(roles: dict[str, str]) -> Iterator[str]:
    """Yield a note if a column may be of another kind than its role says."""
    names = {role: name.lower().strip() for role, name in roles.items()}
    # Any column can be chosen as the score, also one by mistake.
    if names.get("score") in _CONFIDENCE:
        yield (
            f"The scores are the column {roles['score']!r}, which usually has "
            "confidences. They do not say which answers are right."
        )
    if names.get("prediction") == "choice" and names.get("proba") in _CONFIDENCE:
        # Neither the numbers nor their range distinguish it from a probability.
        yield (
            f"If a decision model wrote {roles['prediction']!r}, its "
            f"{roles['proba']!r} is (k p - 1) / (k - 1) of k options, and p is the "
            "probability that the answer is right. Read p, or the responses of the "
            "model instead of this table."
        )


def _check_answers(roles: dict[str, str], options: Options) -> None:
    """Raise an error unless the columns of both answers are given, and no score."""
    # With both, two columns would say whether an answer is right.
    if not roles.keys() >= set(_ANSWERS) or "score" in roles:
        given = ", ".join(f"{role} {name!r}" for role, name in roles.items())
        raise ParameterError(
            None,
            f"needs {parameter('gold')} and {parameter('prediction')} together, and no "
            f"column of scores beside them. Got {given}.",
        )
    if roles["gold"] == roles["prediction"]:
        raise _two_roles(roles["gold"], *_ANSWERS)
    if options.pos_label is not None:
        raise ParameterError(
            "pos_label",
            f"does not apply to columns of answers. Got {options.pos_label!r}.",
        )


def _equal(roles: dict[str, str], found: dict[str, np.ndarray]) -> np.ndarray:
    """Return whether answers are equal to the right ones; NaN for an empty cell."""
    right, given = (found[roles[role]] for role in _ANSWERS)
    # Such columns have different codes, for example letters and texts, and no answer
    # would be right.
    if not set(right.tolist()) & set(given.tolist()) - {""}:
        raise file_error(
            f"must have answers in {roles['prediction']!r} that are right answers in "
            f"{roles['gold']!r}. Got {given[0]!r:.60} and {right[0]!r:.60} in the "
            "first row, for example."
        )
    return np.where((right == "") | (given == ""), np.nan, right == given)


def _proba_names(roles: dict[str, str], options: Options) -> tuple[str, ...]:
    """Return the names of columns of probabilities, the preferred ones first.

    The probabilities of several options are read instead of a confidence. They are of
    the options, so they are not read beside a label, or if a label counts as right.
    """
    names = USUAL["proba"]
    score = roles.get("score", "").lower().strip()
    if options.pos_label is not None or score in USUAL["label"]:
        return names
    k = names.index(_CONFIDENCE[0])
    return (*names[:k], OF_OPTIONS, *names[k:])


def _probability_notes(free: list[str], found: list[str]) -> Iterator[str]:
    """Yield which probability is read, if there is a choice, or which may be one."""
    if not found:
        unread = [name for name in free if _OF_PROBABILITIES.search(name)]
        if unread:
            yield (
                f"Not read, but perhaps probabilities: {listed(map(repr, unread))}. "
                "The probability that the answer is right is read from a column with a "
                f"usual name, such as {_CONFIDENCE[0]!r}."
            )
        return
    read, *others = found
    what = repr(read)
    if _is_of_options(read):
        what = f"the largest of {read!r} in each row"
    elif not others:
        return
    note = f"The probability is {what}"
    note += f", not {', '.join(map(repr, others))}." if others else "."
    unread = [name for name in others if name.lower().strip() in _CONFIDENCE]
    if unread:
        note += (
            f" Beside a probability, {unread[0]!r} may measure the shape of a "
            "distribution instead of the chance that the answer is right."
        )
    yield note


def _truth(table: Table, found: list[str] | None = None) -> str:
    """Return the column that says whether an answer is right, which is in `found`."""
    if found is None:
        right = table.usual("right")
        found = right or table.named([*USUAL["label"], _TARGET])
    problem = "must name the column that says whether an answer is right"
    if not found:
        known = ", ".join([*USUAL["right"], *USUAL["label"]])
        problem += (
            f", since no column of {table.path.name} has a known name ({known}). Its "
            f"columns are {', '.join(table.names)}.{parameter('_metric', '')}"
        )
        for name in table.named([_SCORE]):
            grades = f"or pass {parameter('scale')} if it contains grades"
            problem += f" Name {name!r} if it contains scores in [0, 1], {grades}."
        if any(_PEOPLE.search(name) for name in table.names):
            problem += parameter("_judged", "")
        raise ParameterError("columns", problem)
    if len(found) > 1:
        several = ", ".join(map(repr, found))
        raise ParameterError("columns", f"{problem}, since {several} are possible.")
    if found[0].lower().strip() == _TARGET:
        raise ParameterError(
            "columns",
            f"{problem}. {found[0]!r} may be this column, or say which option is the "
            "right one, as in the records of lm-evaluation-harness.",
        )
    return found[0]


def _read_wide(
    table: Table, options: Options, systems: Sequence[str] | None, gold: str | None
) -> dict[str, Evaluation]:
    """Return the systems of a table with one column per system; none of another table.

    If `systems` is None, columns of numbers in [0, 1] are systems, or with `gold`,
    columns that contain right answers.
    """
    taken = {*options.columns.values(), *options.groups, gold}
    free = [name for name in table.names if name not in taken]
    names = _candidates(table, free, options, systems, gold)
    if names is None:
        return {}
    question = options.columns.get("question")
    usual = next(iter(table.usual("question")), None)
    if question is None and usual not in (*names, gold):
        question = usual
    roles = {k: n for k, n in (("question", question), ("gold", gold)) if n is not None}
    texts = {name: Names(name) for name in (*options.groups, *roles.values())}
    known = _identifying(table, roles)
    used = {*options.columns.values(), *roles.values(), *(systems or ())}
    more = _attributes(table, options, used)
    # All columns that may be systems are read at once, and others are left out then.
    columns: dict[str, Any] = _outcomes(names, options)
    if gold is not None:
        columns = {name: Names(name) for name in names}
    # Labels are not numbers, but only columns of numbers are systems by themselves.
    numbers = columns if options.pos_label is None else _outcomes(names, Options())
    # If the user names the systems, an unreadable cell is an error. Otherwise, its
    # column is not a system.
    is_free = gold is None and systems is None
    failed: dict[Column, ParameterError] = {}
    every = [*texts.values(), *known.values(), *more, *columns.values()]
    every += numbers.values() if is_free and numbers is not columns else ()
    table.read(every, options.verbose, failed if is_free else None)
    found = {name: column.finish() for name, column in texts.items()}
    constant: dict[str, float] = {}
    if is_free:
        columns, constant = _systems_among(table, columns, numbers, failed)
    if gold is not None:
        scores = _right_answers(table, columns, gold, found[gold], systems)
    else:
        scores = {name: column.finish() for name, column in columns.items()}
    if not scores:
        _check_units(table, failed)
        return {}
    left = [name for name in free if name not in scores and name != question]
    notes = () if systems is not None else (_note(list(scores), left, constant),)
    more = [column for column in more if column.name not in scores]
    groups = _with_attributes({name: found[name] for name in options.groups}, more)
    score = next(iter(scores.values()))
    base = Evaluation._of_scores(
        found.get(question or ""), score, groups=groups, notes=notes, **_texts_of(known)
    )
    # Questions that no system has a score for stay, so that they are counted.
    unscored = np.all([np.isnan(score) for score in scores.values()], axis=0)
    evaluations = {}
    for name, score in scores.items():
        # All columns but the scores are shared, without copies.
        part = replace(base, score=score, status=statuses(score), model=name)
        kept = unscored | ~np.isnan(score)
        evaluations[name] = part if kept.all() else part.take(kept)
    return evaluations


def _check_units(table: Table, failed: dict[Column, ParameterError]) -> None:
    """Raise if a table without systems has columns of numbers on another scale."""
    mark = parameter("scale")
    texts = (each.problem.template for each in failed.values())  # type: ignore[attr-defined]
    problems = [text for text in texts if mark in text]
    if not problems or table.named([_SCORE]):
        return
    try:
        _truth(table)
    except ParameterError as error:
        truth = error.problem.template  # type: ignore[attr-defined]
        # The first columns often have numbers of questions.
        each, _, _ = problems[-1].partition(mark)
        text = f"{truth} If the columns are systems, each {each}{mark}."
        raise ParameterError(error.name, text) from None


def _candidates(
    table: Table,
    free: list[str],
    options: Options,
    systems: Sequence[str] | None,
    gold: str | None,
) -> list[str] | None:
    """Return the columns that may be systems; None for a table of one system."""
    if systems is not None:
        names = chosen_systems(free, systems)
        if not names:
            raise ParameterError("systems", "must name systems of the file. Got none.")
        return names
    is_named = options.columns.keys() & {"score", *_ANSWERS} or options.score
    if is_named or (gold is None and table.usual("right", "label")):
        return None
    names = [name for name in free if name.lower().strip() not in _NO_SYSTEMS]
    return [name for name in names if not _OF_PROBABILITIES.search(name)]


def _outcomes(names: Iterable[str], options: Options) -> dict[str, Numbers]:
    label, scale = options.pos_label, options.scale
    return {n: Numbers(n, outcomes=True, pos_label=label, scale=scale) for n in names}


def _right_answers(
    table: Table,
    columns: dict[str, Any],
    gold: str,
    right: np.ndarray,
    systems: Sequence[str] | None,
) -> dict[str, np.ndarray]:
    """Return whether the answers in columns are right; NaN for an empty cell.

    If `systems` is None, columns are left out unless at least half of their cells are
    possible right answers.
    """
    possible = set(right.tolist()) - {""}
    scores = {}
    for name, column in columns.items():
        given = column.finish()
        are_possible = [text in possible for text in given.tolist() if text]
        # Answers of a system that the user names may all be wrong.
        if systems is not None or 2 * sum(are_possible) > len(are_possible):
            scores[name] = np.where(given == "", np.nan, given == right)
    if not scores:
        raise ParameterError(
            "gold",
            "must name a column of right answers that other columns contain too. Got "
            f"{gold!r}, and no other column of {table.path.name} has these answers in "
            "half of its cells.",
        )
    return scores


def _systems_among(
    table: Table,
    columns: dict[str, Numbers],
    numbers: dict[str, Numbers],
    failed: dict[Column, ParameterError],
) -> tuple[dict[str, Numbers], dict[str, float]]:
    """Return the columns of scores, and the number of each constant column.

    A column with the same number in each row, such as a temperature, has no scores,
    unless the number is 0 or 1, as for a system that is always wrong or always right.
    """
    scores, constant = {}, {}
    for name, column in numbers.items():
        if column in failed:
            if column.n_read >= _N_LOOKED_AT:  # the first cells were numbers
                raise failed[column]
            continue
        values = column.finish()
        values = values[np.isfinite(values)]
        if not values.size:
            continue
        # A system that is always wrong or always right is not a setting.
        if (values == values[0]).all() and values[0] not in (0, 1):
            constant[name] = float(values[0])
        else:
            scores[name] = columns[name]
    # A single column of numbers is more often a number about the question than a
    # system.
    if len(scores) < 2:
        return {}, {}
    found = list(scores)
    # Scores inside an object may be several scores of one system.
    nested = [name for name in found if name.lower().rpartition(".")[2] in _ONE_SCORE]
    if any("." in name for name in nested):
        found = nested if len(nested) > 1 else found
        raise ParameterError(
            "systems",
            f"must name the columns of the systems, or {parameter('score')} the column "
            f"of one system. {listed(map(repr, found))} of {table.path.name} may be "
            f"the scores of {len(found)} systems or {len(found)} scores of one system.",
        )
    return scores, constant


def _note(found: list[str], left: list[str], constant: dict[str, float]) -> str:
    note = f"{SYSTEMS_NOTE} {listed(map(repr, found))}."
    if left:
        why = {name: f" ({value:g} in each row)" for name, value in constant.items()}
        named = (f"{name!r}{why.get(name, '')}" for name in left)
        note += f" Not taken as systems: {listed(named)}."
    return Marked(f"{note} Choose others with {parameter('systems')}.")
