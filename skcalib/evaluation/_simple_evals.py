"""Results of simple-evals: the files that end in ``_allresults.json``."""

from __future__ import annotations

import re
from typing import Any

from ._evaluation import Evaluation
from ._files import Options, Source
from ._values import as_dict, file_error

NAME = "simple-evals"

_SCORE = re.compile(r"<p>Score: ([^<]*)</p>")
_CORRECT = re.compile(r"<p>Correct Answer: ([^<]*)</p>")
_EXTRACTED = re.compile(r"<p>Extracted Answer: ([^<]*)</p>")


def claims(source: Source) -> bool:
    """Return whether the file contains results of simple-evals."""
    return source.object.keys() >= {"htmls", "convos", "metrics"}


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a file of results."""
    options.reject(NAME, "percent", "score", "filter", "split", "model")
    pages, talks = source.content["htmls"], source.content["convos"]
    if not isinstance(pages, list) or not isinstance(talks, list):
        raise file_error("must contain the lists 'htmls' and 'convos'.")
    if len(pages) != len(talks):
        raise file_error(
            f"must contain one page per conversation. Got {len(pages)} pages and "
            f"{len(talks)} conversations."
        )
    rows = [
        _as_row(page if isinstance(page, str) else "", talk, source.place(k))
        for k, (page, talk) in enumerate(zip(pages, talks, strict=True))
    ]
    notes = ["Questions are identified by first messages. There are no probabilities."]
    # SimpleQA states this rate in its metrics only.
    missed = as_dict(source.content["metrics"]).get("is_not_attempted")
    if isinstance(missed, float) and missed > 0:
        notes.append(
            f"{missed:.1%} of the answers were not attempted; the file does not say "
            "which, and they count as wrong."
        )
    headlines = [("", source.content.get("score"))]
    return Evaluation._of_rows(source, NAME, notes, rows, headlines=headlines)


def _as_row(page: str, talk: Any, place: str) -> dict[str, Any]:
    """Return the attributes of an answer."""
    score, extracted = _last(_SCORE, page), _EXTRACTED.findall(page)
    is_lost = score is not None and {"None", ""} & set(extracted)
    return {
        "question": _question(talk, place),
        "score": score,
        "status": "unparseable" if is_lost else None,
        "right_answer": _last(_CORRECT, page),
        "response": extracted[-1] if extracted else None,
    }


def _question(talk: Any, place: str) -> str:
    try:
        content = talk[0]["content"]
    except (TypeError, KeyError, IndexError):
        raise file_error(
            f"must contain a first message. Got none in {place}."
        ) from None
    return content if isinstance(content, str) else repr(content)


def _last(pattern: re.Pattern, page: str) -> str | None:
    """Return the last match, by the harness; an answer may contain such a line too."""
    found = pattern.findall(page)
    return found[-1] if found else None
