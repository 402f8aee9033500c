"""Right answers and prompts, which distinguish questions of the same name."""

from __future__ import annotations

from os import PathLike

from . import _tables
from ._cells import Names
from ._evaluation import Evaluation
from ._files import Source, open_source

Known = tuple[dict[str, str], dict[str, str]]

_GOLDS = ("gold", "target", "expected", "gold_answer", "correct_answer")
_PROMPTS = ("prompt", "prompt_hash", "doc_hash", "input", "question_text", "text")


def read_fingerprints(
    path: str | PathLike[str], evaluation: Evaluation, *, question: str | None = None
) -> Known:
    """Return the right answer and the prompt of each question, as far as known.

    The evaluation was read from the file. Prompts are texts, or hashes if the file
    contains hashes. `question` is the column of a table that names the question.
    """
    if evaluation.format == _tables.NAME:
        return _of_table(open_source(path), question)
    return evaluation._fingerprints


def _of_table(source: Source, question: str | None) -> Known:
    table = _tables.open_table(source)
    lower = {name.lower().strip(): name for name in reversed(table.names)}
    question = question or next(
        (lower[name] for name in _tables._QUESTION if name in lower), None
    )
    if question not in table.names:
        return {}, {}
    found: list[dict[str, str]] = []
    for names in (_GOLDS, _PROMPTS):
        column = next((lower[n] for n in names if n in lower), None)
        if column is None or column == question:
            found.append({})
            continue
        cells = {name: Names(name) for name in (question, column)}
        for chunk, lines in table.chunks([question, column]):
            for name, each in cells.items():
                each.add(chunk[name], lines)
        pairs = zip(
            cells[question].finish().tolist(),
            cells[column].finish().tolist(),
            strict=True,
        )
        found.append({q: value for q, value in pairs if value})
    return found[0], found[1]
