"""Samples that lm-evaluation-harness writes with ``--log_samples``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import ParameterError
from ._evaluation import Evaluation, of_one
from ._files import Options, Source, sibling
from ._lm_eval_samples import samples_of
from ._values import (
    MINUS,
    SOFTMAX,
    as_dict,
    as_key,
    as_list,
    as_numbers,
    choose,
    file_error,
    numbered_repeats,
    scalar_fields,
    softmaxes,
    text_or_none,
)

NAME = "lm-evaluation-harness"

# Keys of a row that are not metrics; versions before 0.4.6 do not list the metrics.
_NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"),
    *("metrics", "doc_hash", "prompt_hash", "target_hash"),
}

# Metrics whose number in a row is not a score of the answer. The value of a metric that
# is computed from all answers, such as F1 of classes, is a list and no number.
_NO_SCORES = {"brier_score", "mcc", "perplexity", "word_perplexity", "bleu", "ter"}

# Lengths by which a metric divides the log-likelihood of an option.
_LENGTHS: dict[str, Callable[[str], int]] = {
    "acc_norm": len,
    "acc_bytes": lambda text: len(text.encode()),
}
_MUTUAL = "acc_mutual_info"

# What the metric takes as the score of an option, for the note.
_HOW = {"acc_norm": " per character", "acc_bytes": " per byte", _MUTUAL: MINUS}

# Fields of a document that name its subject or source.
_GROUPS = ("subject", "category", "source", "src", "level", "type", "domain", "topic")


def claims(source: Source) -> bool:
    """Return whether the file contains samples of this harness."""
    return source.keys >= {"doc_id", "resps", "filtered_resps"}


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a file of samples."""
    options.reject(NAME, "percent", "split", "model")
    numbered = list(enumerate(source.content))
    # Before anything is chosen, so that a message names the first wrong row.
    for k, row in numbered:
        if not (isinstance(row, dict) and {"doc_id", "filtered_resps"} <= set(row)):
            raise file_error(
                f"must contain samples of {NAME}. Got {source.place(k)}, which has no "
                "'doc_id' or no 'filtered_resps'."
            )
    # The rows keep their numbers in the file, which messages name.
    numbered, notes = _of_one_filter(numbered, options.filter)
    rows = [row for _, row in numbered]
    score = _choose_score(rows, options.score)
    task, model, config, more = _run_of(source.path, len(rows))
    notes += more
    delimiter = str(config.get("target_delimiter", " "))
    options_of = [
        _option_proba(row, score, source.place(k), delimiter) for k, row in numbered
    ]
    samples = samples_of(rows, config, str(rows[0].get("filter")), score)
    identities = _identities(rows)
    found = [
        {
            "question": name,
            "repeat": 0,
            "score": row.get(score),
            "status": "unparseable"
            if row["filtered_resps"] == ["[invalid]"]
            else "answered",
            "option_proba": proba,
            "gold": _gold(row, len(proba[0])) if proba else None,
            "groups": scalar_fields(
                {n: v for n, v in as_dict(row.get("doc")).items() if n in _GROUPS}
            ),
            "right_answer": row.get("target"),
            "prompt": _prompt(row),
            "response": sample,
            "place": k,
        }
        for (k, row), name, proba, sample in zip(
            numbered, identities, options_of, samples, strict=True
        )
    ]
    about, how = f"The score is {score!r}.", SOFTMAX.format(_HOW.get(score, ""))
    return Evaluation._of_rows(
        source, NAME, notes, found, about=about, how=how, model=model, task=task
    )


def _of_one_filter(rows: list, wanted: str | None) -> tuple[list, list[str]]:
    """Return the rows of one filter; each filter gives a row per question."""
    names = [row.get("filter") for _, row in rows]
    if None in names:
        # Versions before 0.4.6 write the filters one after the other, without names.
        numbers = np.array([str(row["doc_id"]) for _, row in rows], dtype=object)
        names = numbered_repeats(numbers).tolist()
    _, *found = of_one(rows, list(map(str, names)), wanted, "filter", "filter")
    return found[0], found[1]


def _choose_score(rows: list[dict], wanted: str | None) -> str:
    """Return the metric that is the score of an answer.

    If there are several, 'acc' is the default, and any other is preferred to 'f1'.
    """
    listed = rows[0].get("metrics")
    names = sorted(set(rows[0]) - _NO_METRICS)
    if isinstance(listed, list):
        names = [name for name in listed if isinstance(name, str)]
    scalar = [
        name
        for name in names
        if name not in _NO_SCORES and isinstance(rows[0].get(name), (int, float, bool))
    ]
    # `acc` is about the most probable option, and other metrics may be about another
    # one.
    if wanted is None and "acc" in scalar:
        return "acc"
    # F1 of a token overlap is a partial score beside an exact match.
    if wanted is None:
        scalar = [name for name in scalar if name != "f1"] or scalar
    chosen = choose(wanted, scalar, option="score", what="metric")
    if chosen is None:
        raise file_error(
            f"must contain a score of each answer. Got only the metrics {names}, which "
            "are not scores."
        )
    return chosen


def _identities(rows: list[dict]) -> list[str]:
    """Return what identifies the question of each row: its hash, or its number.

    Identical documents have the same hash, so their numbers are appended.
    """
    hashes = [text_or_none(row.get("doc_hash")) for row in rows]
    number = [str(row["doc_id"]) for row in rows]
    # Old versions have no hashes; then the numbers of the documents are the names.
    if any(each is None for each in hashes):
        return number
    times = Counter(hashes)
    return [
        str(each) if times[each] == 1 else f"{each}#{k}"
        for each, k in zip(hashes, number, strict=True)
    ]


def _prompt(row: dict) -> Any:
    """Return the hash of the prompt, or of the document in files of old versions."""
    known, doc = row.get("prompt_hash"), row.get("doc")
    if known is not None or doc is None:
        return known
    return sha256(as_key(doc).encode()).hexdigest()


def _option_proba(
    row: dict, score: str, place: str, delimiter: str
) -> list[np.ndarray]:
    """Return the probabilities of the options by the rule of the score, if it has one.

    The score 'exact_match' is about the right option only. Lengths may include the
    delimiter if it is not known, so that there may be two rules.
    """
    pairs = as_list(row["filtered_resps"]) if score.startswith("acc") else []
    # Generated answers are single texts, and have no options.
    if len(pairs) < 2 or any(len(as_list(pair)) != 2 for pair in pairs):
        return []
    try:
        values = as_numbers([str(pair[0]) for pair in pairs])
    except ValueError:  # texts that are no numbers are answers
        return []
    if not (values < np.inf).all():
        raise file_error(
            f"must have finite log-likelihoods or -inf. Got {pairs!r:.80} in {place}."
        )
    texts = _texts(row)
    n = values.size
    if _MUTUAL in row and n % 2 == 0 and len(texts) in (0, n):
        # The log-likelihoods of the options without the question follow.
        n //= 2
        values, unconditional = values[:n], values[n:]
        if score == _MUTUAL:
            with np.errstate(invalid="ignore"):  # of -inf and -inf
                values = values - unconditional
    elif score == _MUTUAL:
        return []
    # A single log-likelihood has nothing to be compared with.
    if n < 2:
        return []
    if score not in _LENGTHS:
        return softmaxes(values)
    lengths = _lengths(texts, n, score, place, delimiter)
    return softmaxes(*(values / each for each in lengths))


def _lengths(
    texts: list, n: int, score: str, place: str, delimiter: str
) -> list[np.ndarray]:
    """Return the lengths of the options, without the delimiter before them and with."""
    problem = "does not keep the texts of the options"
    if len(texts) in (n, 2 * n) and all(isinstance(text, str) for text in texts):
        ways = [text.removeprefix(delimiter) for text in texts[:n]], texts[:n]
        if "" not in ways[0]:
            return [np.array(list(map(_LENGTHS[score], way)), float) for way in ways]
        problem = "has an empty option"
    raise ParameterError(
        "score", f"must be 'acc', since {place} {problem}. Got {score!r}."
    )


def _texts(row: dict) -> list[Any]:
    """Return the texts of the options, as they follow the prompt."""
    arguments = row.get("arguments")
    if isinstance(arguments, dict):
        return [as_dict(each).get("arg_1") for each in arguments.values()]
    return [each[1] for each in map(as_list, as_list(arguments)) if len(each) > 1]


def _gold(row: dict, n: int) -> list[int]:
    """Return the indices of the right options, as far as they are known.

    The target is an index, a list of indices, or the text of an option. A number that
    is the text of another option may mean either.
    """
    target = str(row.get("target"))
    texts = [str(text).strip() for text in _texts(row)[:n]]
    named = [k for k, text in enumerate(texts) if text == target.strip()]
    if re.fullmatch(r"\d{1,6}|\[\d{1,6}(, \d{1,6})*\]", target):
        indices = [int(k) for k in re.findall(r"\d+", target)]
        return indices if max(indices) < n and named in ([], indices) else []
    return named if len(named) == 1 else []


def _run_of(path: Path, n: int) -> tuple[str | None, str | None, dict, list[str]]:
    """Return the task by the name of the file, and its model and configuration."""
    match = re.fullmatch(r"samples_(.+)_([^_]+)\.jsonl?", path.name)
    if match is None:
        return None, None, {}, []
    task, time = match.groups()
    results = as_dict(sibling(path, f"results_{time}.json"))
    model = results.get("model_name") or results.get("model_source")
    known = as_dict(as_dict(results.get("n-samples")).get(task))
    expected = known.get("effective")
    notes = []
    # An interrupted run, or a file of which rows were removed.
    if isinstance(expected, int) and expected != n:
        notes.append(f"The results file states {expected} questions; this one has {n}.")
    config = as_dict(as_dict(results.get("configs")).get(task))
    return task, text_or_none(model), config, notes
