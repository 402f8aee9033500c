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
    options.reject(NAME, "filter", "split", "model")
    run = _run(source)
    cases = run["testCases"]
    metrics = [_metrics(case, source.place(k)) for k, case in enumerate(cases)]
    names = [name for each in metrics for name in each]
    score = choose(options.score, names, option="score", what="metric")
    found = [each.get(str(score), {}) for each in metrics]
    failed = [bool(each.get("error")) for each in found]
    return Evaluation._from_columns(
        source,
        NAME,
        [f"The score is the score of the metric {score!r}."],
        question=list(map(_question, cases)),
        score=[
            None if has_failed else each.get("score")
            for each, has_failed in zip(found, failed, strict=True)
        ],
        status=["error" if has_failed else "answered" for has_failed in failed],
        right_answer=[case.get("expectedOutput") for case in cases],
        prompt=[case.get("input") for case in cases],
        response=[text_or_none(case.get("actualOutput")) for case in cases],
        model=as_dict(run.get("hyperparameters")).get("model"),
    )


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
