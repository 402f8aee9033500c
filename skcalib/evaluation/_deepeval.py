"""Test runs that deepeval keeps in ``.deepeval``."""

from __future__ import annotations

from typing import Any

from ._evaluation import Evaluation
from ._files import Options, Source
from ._values import as_dict, as_list, choose, file_error, text_or_none

NAME = "deepeval"


def claims(source: Source) -> bool:
    """Return whether the file is a test run."""
    return isinstance(_run(source).get("testCases"), list)


def _run(source: Source) -> dict[str, Any]:
    return as_dict(source.object.get("testRunData", source.object))


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a test run."""
    options.reject(NAME, "percent", "filter", "split", "model")
    run = _run(source)
    cases = run["testCases"]
    metrics = [_metrics(case, source.place(k)) for k, case in enumerate(cases)]
    names = [name for each in metrics for name in each]
    score = choose(options.score, names, option="score", what="metric")
    rows = [
        _as_row(case, each.get(str(score), {}))
        for case, each in zip(cases, metrics, strict=True)
    ]
    notes = [f"The score is the score of the metric {score!r}."]
    model = as_dict(run.get("hyperparameters")).get("model")
    return Evaluation._of_rows(source, NAME, notes, rows, model=model)


def _as_row(case: dict, found: dict) -> dict[str, Any]:
    """Return the attributes of a test case with the data of the metric."""
    has_failed = bool(found.get("error"))
    return {
        "question": _question(case),
        "score": None if has_failed else found.get("score"),
        "status": "error" if has_failed else "answered",
        "right_answer": case.get("expectedOutput"),
        "prompt": case.get("input"),
        "response": text_or_none(case.get("actualOutput")),
    }


def _metrics(case: Any, place: str) -> dict[str, dict]:
    """Return the data of each metric of a test case, by name."""
    if not isinstance(case, dict):
        raise file_error(f"must contain test cases. Got {case!r:.60} in {place}.")
    data = [as_dict(each) for each in as_list(case.get("metricsData"))]
    return {str(each["name"]): each for each in data if "name" in each}


def _question(case: dict) -> str:
    """Return the name of a test case if it was given, otherwise its input."""
    name = case.get("name")
    # deepeval itself numbers cases without a name.
    is_given = isinstance(name, str) and not name.startswith("test_case_")
    return name if is_given and name else str(case.get("input"))
