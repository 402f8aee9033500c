"""Run folders of HELM, by their ``per_instance_stats.json``."""

from __future__ import annotations

from typing import Any

from .._errors import ParameterError
from ._evaluation import Evaluation, left_out, of_one
from ._files import Options, Source, open_source, sibling
from ._values import as_dict, as_list, file_error

NAME = "HELM"

_FILE = "per_instance_stats.json"

# Scores of an answer; the first score is the default.
_SCORES = ("exact_match", "quasi_exact_match")

_OF_LETTERS = "Each probability is the probability of the option letter that was given."
_NO_LOGPROBS = (
    "All log-probabilities are 0, as for models that do not report them. There are no "
    "probabilities."
)


def claims(source: Source) -> bool:
    """Return whether the file or folder is a run of HELM."""
    if source.kind == "folder":
        return (source.path / _FILE).is_file()
    return source.keys >= {"instance_id", "stats"}


def read(source: Source, options: Options) -> Evaluation:
    """Return the evaluation of a run."""
    options.reject(NAME, "percent", "filter", "model")
    if source.kind == "folder":
        # A user who names the folder need not know its files.
        source = open_source(source.path / _FILE, options)
    entries = source.content
    rows = [(*_stats(row, source.place(k)), row) for k, row in enumerate(entries)]
    # Perturbed copies of questions measure robustness and not accuracy.
    original = [row for row in rows if not row[2].get("perturbation")]
    splits = [split for _, split, _ in original]
    _, kept, others = of_one(original, splits, options.split, "split", "split")
    score = options.score or _default_score([means for means, *_ in kept])
    # Models that report no log-probability have 0 in each row.
    has_logprob = any(means.get("logprob") for means, *_ in kept)
    spec = as_dict(sibling(source.path, "run_spec.json"))
    # The other files are optional: they add names, and no scores.
    subject = as_dict(as_dict(spec.get("scenario_spec")).get("args")).get("subject")
    groups = {"subject": str(subject)} if subject else {}
    notes = [f"The score is {score!r}.", _OF_LETTERS if has_logprob else _NO_LOGPROBS]
    notes += left_out(len(rows) - len(original), "perturbed questions")
    notes += others
    instances = _instances(sibling(source.path, "scenario_state.json"))
    found = []
    for means, _, entry in kept:
        row = _as_row(means, entry, score, has_logprob) | {"groups": groups}
        # Right answers and prompts are in another file of the run, by instance.
        found.append(row | instances.get(row["question"], {}))
    model = as_dict(spec.get("adapter_spec")).get("model")
    return Evaluation._of_rows(
        source, NAME, notes, found, model=model, task=spec.get("name")
    )


def _instances(state: Any) -> dict[str, dict[str, Any]]:
    """Return the right answers and the prompt of each question."""
    found = {}
    for request in map(as_dict, as_list(as_dict(state).get("request_states"))):
        instance = as_dict(request.get("instance"))
        # Perturbed copies of a question have its id.
        if instance.get("id") is None or instance.get("perturbation"):
            continue
        options = [as_dict(each) for each in as_list(instance.get("references"))]
        texts = [as_dict(each.get("output")).get("text") for each in options]
        right = [
            text
            for text, each in zip(texts, options, strict=True)
            if "correct" in as_list(each.get("tags"))
        ]
        prompt = [as_dict(instance.get("input")).get("text"), texts]
        found[str(instance["id"])] = {"right_answer": right or None, "prompt": prompt}
    return found


def _stats(entry: Any, place: str) -> tuple[dict[str, Any], str]:
    """Return the means of a row's statistics by name, and its split."""
    if not isinstance(entry, dict) or not isinstance(entry.get("stats"), list):
        raise file_error(f"must contain statistics. Got none in {place}.")
    means, split = {}, "none"
    for stat in entry["stats"]:
        name = stat.get("name") if isinstance(stat, dict) else None
        if not isinstance(name, dict) or "name" not in name:
            raise file_error(
                f"must name each statistic. Got a statistic without name in {place}."
            )
        means[str(name["name"])] = stat.get("mean")
        split = str(name.get("split", split))
    return means, split


def _default_score(rows: list[dict[str, Any]]) -> str:
    # Statistics differ between scenarios.
    names = sorted(set().union(*rows))
    for name in _SCORES:
        if name in names:
            return name
    raise ParameterError(
        "score",
        f"must name one of the statistics {names}, since the run has neither of "
        f"{_SCORES}. Got None.",
    )


def _as_row(means: dict, entry: dict, score: str, has_logprob: bool) -> dict:
    place = f"instance {entry['instance_id']!r}"
    if score not in means:
        raise ParameterError(
            "score",
            f"must be a statistic of each row. Got {score!r}, which {place} lacks.",
        )
    trial = entry.get("train_trial_index", 0)
    if not isinstance(trial, int) or not 0 <= trial < 2**31:
        raise file_error(
            f"must number the trials from 0. Got {trial!r:.60} in {place}."
        )
    return {
        "question": str(entry["instance_id"]),
        "score": means[score],
        "proba": means.get("max_prob") if has_logprob else None,
        "repeat": trial,
        "place": place,
    }
