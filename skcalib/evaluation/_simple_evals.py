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
    options.reject(NAME, "score", "filter", "split", "model")
    pages, talks = source.content["htmls"], source.content["convos"]
    if not isinstance(pages, list) or not isinstance(talks, list):
        raise file_error("must contain the lists 'htmls' and 'convos'.")
    if len(pages) != len(talks):
        raise file_error(
            f"must contain one page per conversation. Got {len(pages)} pages and "
            f"{len(talks)} conversations."
        )
    questions = [_question(talk, source.place(k)) for k, talk in enumerate(talks)]
    texts = [page if isinstance(page, str) else "" for page in pages]
    scores = [_last(_SCORE, text) for text in texts]
    extracted = [_EXTRACTED.findall(text) for text in texts]
    notes = ["Questions are identified by first messages. There are no probabilities."]
    # SimpleQA states this rate in its metrics only.
    missed = as_dict(source.content["metrics"]).get("is_not_attempted")
    if isinstance(missed, float) and missed > 0:
        notes.append(
            f"{missed:.1%} of the answers were not attempted; the file does not say "
            "which, and they count as wrong."
        )
    return Evaluation._from_columns(
        source,
        NAME,
        notes,
        question=questions,
        score=scores,
        status=[
            "unparseable" if score is not None and {"None", ""} & set(found) else None
            for score, found in zip(scores, extracted, strict=True)
        ],
        right_answer=[_last(_CORRECT, text) for text in texts],
        response=[found[-1] if found else None for found in extracted],
    )


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
