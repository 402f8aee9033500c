"""Several responses per question (``repeats``) in files of lm-evaluation-harness.

The harness writes all responses, but only the score of what a filter made of them. The
steps of the filter and the rule of the metric are in the results file. They are applied
to each response, and are used only if they give again what the file has.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ._evaluation import Samples
from ._values import as_dict, as_list

# A repeated group may need exponential time, and files may come from anybody.
_SLOW = re.compile(r"(?<!\\)\)[*+{]")

# Steps of a filter that change each response.
_STEPS: dict[str, Callable[[str], str]] = {
    "lowercase": str.lower,
    "uppercase": str.upper,
    "remove_whitespace": str.lstrip,
}
# Steps that reduce the responses of a question.
_REDUCING = ("take_first", "take_first_k", "majority_vote")


def samples_of(
    rows: list[dict], config: dict[str, Any], filter: str, score: str
) -> list[Samples | None]:
    """Return the answers and scores of the responses of each row.

    They are None if a row has one response, or if the answers are not known. Scores
    that are not known are NaN.
    """
    extract = _extractor(config, filter)
    several = [_answers(row, extract) for row in rows]
    if not any(several):
        return [None] * len(rows)
    is_right = _exact_match(config) if score == "exact_match" else None
    if is_right is not None:
        checked = [row for row in rows if _kept(row) is not None]
        again = [is_right(_kept(row), row.get("target")) for row in checked]
        if not checked or again != [row.get(score) for row in checked]:
            is_right = None
    found: list[Samples | None] = []
    for row, answers in zip(rows, several, strict=True):
        if answers is None:
            found.append(None)
        elif is_right is not None:
            right = [is_right(answer, row.get("target")) for answer in answers]
            found.append(Samples(answers, right, []))
        else:
            known = {_kept(row): row.get(score, np.nan)}
            scores = [known.get(each, np.nan) for each in answers]
            found.append(Samples(answers, scores, []))
    return found


def _kept(row: dict) -> str | None:
    """Return the response that the filter left, if it left one."""
    kept = row["filtered_resps"]
    is_one = isinstance(kept, list) and len(kept) == 1 and isinstance(kept[0], str)
    return kept[0] if is_one else None


def _answers(row: dict, extract: Callable[[str], str] | None) -> list[str] | None:
    """Return the answers of a row with several responses."""
    given = as_list(row.get("resps"))
    responses = as_list(given[0]) if len(given) == 1 else []
    n = len(responses)
    if n < 2 or not all(isinstance(each, str) for each in responses):
        return None
    kept = row["filtered_resps"]
    if isinstance(kept, list) and len(kept) == 1 and len(as_list(kept[0])) == n:
        return kept[0]  # the filter did not reduce them
    if extract is None:
        return None
    found = list(map(extract, responses))
    return found if _kept(row) in found else None


def _extractor(config: dict[str, Any], name: str) -> Callable[[str], str] | None:
    """Return the steps of a filter before it reduces the responses."""
    filters = map(as_dict, as_list(config.get("filter_list")))
    steps = next((f.get("filter") for f in filters if f.get("name") == name), None)
    found: list[Callable[[str], str]] = []
    for step in map(as_dict, as_list(steps)):
        kind = str(step.get("function"))
        if kind in _REDUCING:
            break
        if kind == "regex":
            pattern = _compiled(step.get("regex_pattern", r"#### (\-?[0-9\.\,]+)"))
            if pattern is None:
                return None
            found.append(partial(_first_match, pattern, step))
        elif kind in _STEPS:
            found.append(_STEPS[kind])
        else:
            return None

    def extract(text: str) -> str:
        for step in found:
            text = step(text)
        return text

    return extract


def _compiled(pattern: Any) -> re.Pattern[str] | None:
    try:
        return None if _SLOW.search(pattern) else re.compile(pattern)
    except (re.error, TypeError):
        return None


def _first_match(pattern: re.Pattern[str], step: dict[str, Any], text: str) -> str:
    """Return what the filter 'regex' of the harness returns."""
    invalid = str(step.get("fallback", "[invalid]"))
    matches = pattern.findall(text)
    try:
        match = matches[int(step.get("group_select", 0))]
    except (IndexError, TypeError, ValueError):
        return invalid
    if isinstance(match, tuple):  # of the groups of a pattern that has several
        match = next(filter(None, match), invalid)
    return match.strip()


def _exact_match(config: dict[str, Any]) -> Callable[[Any, Any], float] | None:
    """Return the rule of the metric 'exact_match' of the harness."""
    metrics = map(as_dict, as_list(config.get("metric_list")))
    rule = next((m for m in metrics if m.get("metric") == "exact_match"), {})
    ignored = [_compiled(each) for each in as_list(rule.get("regexes_to_ignore"))]
    left_out = string.punctuation * bool(rule.get("ignore_punctuation"))
    left_out += string.digits * bool(rule.get("ignore_numbers"))
    table = str.maketrans("", "", left_out)
    if None in ignored:
        return None

    def reduced(text: Any) -> str:
        text = str(text)
        for pattern in filter(None, ignored):
            text = pattern.sub("", text)
        return (text.lower() if rule.get("ignore_case") else text).translate(table)

    return lambda answer, target: float(reduced(answer) == reduced(target))
