"""The numbers of ``skcalib compare``, as the object that ``--json`` prints."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._errors import ParameterError
from ..evaluation import AlignedEvaluations, pass_at_k, sample_variance
from ..rates._repeats import question_best_of_k, question_pass_at_k
from ..significance import ScoreComparison, compare_scores
from ..significance._system_comparison import holm
from ._compare_calibration import compare_probabilities
from ._labels import judged_pairs
from ._runs import Inputs, column_of
from ._shared import CommandError, as_option, one_group

# Largest number of systems whose calibration is compared pair by pair.
_MOST_CALIBRATED = 6


def measure(inputs: Inputs, options: Namespace) -> dict[str, Any]:
    """Return all numbers of a comparison of scores."""
    aligned, metric = inputs.aligned, "score"
    taken = _of_samples(options)
    if taken is not None:
        aligned, metric = _taking_samples(aligned, taken, options)
    elif np.isin(aligned.score, (0, 1)).all() or aligned.is_repeated:
        metric = "accuracy" if _is_right_or_wrong(aligned) else "score"
    groups = None
    if options.groups is not None:
        groups = column_of(aligned, options.groups, "--groups")
    result = _compared(aligned, groups, options)
    found: dict[str, Any] = {
        "metric": metric,
        "n": len(aligned),
        "n_samples": aligned.n_samples.sum(axis=0).tolist(),
        "n_groups": result.n_groups,
        "groups": options.groups,
        "only_in": aligned.only_in,
        "notes": [*aligned.notes, *inputs.notes],
        "confidence_level": options.confidence_level,
        "adjust": result.adjust,
        "smallest_pvalue": result.smallest_pvalue,
        "baseline": aligned.names[0],
        "systems": systems_of(result, inputs.files),
        "pairs": pairs_of(result, options),
        "not_separated": result.not_separated(1 - options.confidence_level),
    }
    if metric.startswith("pass"):
        _use_pass_intervals(found["systems"], inputs.aligned, groups, options)
    if options.labels:
        level = options.confidence_level
        found["judged"] = judged_pairs(options.labels, inputs.aligned, groups, level)
    if options.power is not None:
        found["power"] = power_of(result, options)
    if inputs.by_name is not None:
        found["by"] = _by(aligned, inputs.by_name, options)
    if inputs.aligned.is_repeated:
        found["repeats"] = _repeats(inputs.aligned)
    known = np.isfinite(aligned.proba).all(axis=0)
    if known[0] and known.sum() > 1 and metric == "accuracy":
        found["calibration"] = _calibration(aligned, known, groups, options)
    return found


# Options that use several samples of a question, and the names of their scores.
_OF_SAMPLES = {"pass_at": "pass@{k}", "pass_all": "pass^{k}", "best_of": "best of {k}"}


def _of_samples(options: Namespace) -> str | None:
    """Return the option that uses several samples, or None."""
    given = (name for name in _OF_SAMPLES if getattr(options, name) is not None)
    return next(given, None)


def _taking_samples(
    aligned: AlignedEvaluations, name: str, options: Namespace
) -> tuple[AlignedEvaluations, str]:
    """Return the estimates of pass@k, pass^k or best of k of each question."""
    k, option = getattr(options, name), as_option(name)
    if k < 1:
        raise CommandError(f"{option} must be at least 1. Got {k}.")
    if name != "best_of" and not _is_right_or_wrong(aligned):
        raise CommandError(
            f"{option} needs samples that are right or wrong, 1 or 0. For other scores "
            "use --best-of."
        )
    columns = []
    for j, system in enumerate(aligned.names):
        right, number = aligned.sample_counts(j)
        if (number < k).any():
            raise CommandError(
                f"{option} {k} needs {k} samples of each question. {system} has fewer "
                f"of {int((number < k).sum())} of {number.size} questions (at least "
                f"{int(number.min())} of each). Use a smaller number."
            )
        if name == "best_of":
            codes = np.repeat(np.arange(number.size), number)
            columns.append(question_best_of_k(aligned.samples[j], codes, k))
        else:
            all_of = name == "pass_all"
            columns.append(question_pass_at_k(right, number, k, all_of=all_of))
    score = np.column_stack(columns)
    single = np.ones(score.shape, dtype=np.int64)
    part = replace(aligned, score=score, n_samples=single, samples=list(score.T))
    return part, _OF_SAMPLES[name].format(k=k)


def _use_pass_intervals(
    systems: list[dict[str, Any]],
    aligned: AlignedEvaluations,
    groups: np.ndarray | None,
    options: Namespace,
) -> None:
    """Replace the intervals of the systems by the intervals of pass@k."""
    all_of = options.pass_all is not None
    for k, system in enumerate(systems):
        right, number = aligned.sample_counts(k)
        found = pass_at_k(
            right,
            number,
            k=options.pass_all if all_of else options.pass_at,
            all_of=all_of,
            groups=groups,
            confidence_level=options.confidence_level,
        )
        system["low"], system["high"] = found.low, found.high


def _is_right_or_wrong(aligned: AlignedEvaluations) -> bool:
    return all(bool(np.isin(values, (0, 1)).all()) for values in aligned.samples)


def _compared(
    aligned: AlignedEvaluations, groups: Any, options: Namespace
) -> ScoreComparison:
    try:
        return compare_scores(
            aligned,
            groups=groups,
            adjust=None if options.adjust == "none" else options.adjust,
            confidence_level=options.confidence_level,
        )
    except ValueError as error:
        problem = getattr(error, "problem", error)
        if getattr(error, "name", None) == "groups":
            raise CommandError(f"--groups {problem}") from None
        problem = str(problem).replace("must have", "needs")
        raise CommandError(f"compare {problem}") from None


def systems_of(result: Any, files: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the score of each system with its interval and letters."""
    letters = result.letters(1 - result.confidence_level)
    return [
        {
            "name": name,
            "files": files.get(name, []),
            "score": float(result.score[k]),
            "low": float(result.low[k]),
            "high": float(result.high[k]),
            "letters": letters[name],
        }
        for k, name in enumerate(result.names)
    ]


def pairs_of(result: ScoreComparison, options: Namespace) -> list[dict[str, Any]]:
    """Return each pair; a is the earlier system, and the gain is b minus a."""
    pairs = []
    for k, (a, b) in enumerate(result.pairs):
        pairs.append(
            {
                "a": a,
                "b": b,
                "gain": float(result.gain[k]),
                "low": float(result.gain_low[k]),
                "high": float(result.gain_high[k]),
                "pvalue": float(result.pvalue[k]),
                "pvalue_adjusted": float(result.pvalue_adjusted[k]),
                "method": result.method[k],
                "wins": int(result.wins[k]),
                "losses": int(result.losses[k]),
            }
        )
    if options.margin is not None:
        inferior = _of_gain(result.noninferiority_pvalue, options.margin, "margin")
        equal = _of_gain(result.equivalence_pvalue, options.margin, "margin")
        half = (1 - options.confidence_level) / 2
        for k, pair in enumerate(pairs):
            pair["margin"] = options.margin
            pair["noninferiority_pvalue"] = float(inferior[k])
            pair["equivalence_pvalue"] = float(equal[k])
            pair["is_noninferior"] = bool(inferior[k] <= half)
            pair["is_equivalent"] = bool(equal[k] <= half)
    return pairs


def _of_gain(
    function: Callable[[float], np.ndarray], gain: float, option: str
) -> np.ndarray:
    """Return the values of a function of a gain, with errors that name the option."""
    try:
        return function(gain)
    except ParameterError as error:
        raise CommandError(
            f"--{option} {error.problem} Divide percentage points by 100: "
            f"{gain / 100:g}."
        ) from None


def power_of(result: ScoreComparison, options: Namespace) -> list[dict[str, Any]]:
    """Return the detectable gain for each pair with the baseline."""
    smallest = result.detectable_gain()
    found = []
    for k, (a, b) in enumerate(result.pairs):
        if a != result.names[0]:
            continue
        gain = float(smallest[k]) if np.isfinite(smallest[k]) else None
        each: dict[str, Any] = {"a": a, "b": b, "detectable_gain": gain}
        if options.power is not True:
            needed = _of_gain(result.questions_needed, options.power, "power")
            each["gain"] = options.power
            each["questions_needed"] = (
                int(needed[k]) if np.isfinite(needed[k]) else None
            )
        found.append(each)
    return found


def _by(aligned: AlignedEvaluations, name: str, options: Namespace) -> dict[str, Any]:
    """Return the gains over the baseline in each part of the questions."""
    groups = None
    if options.groups is not None:
        groups = column_of(aligned, options.groups, "--groups")

    def compare(inside: np.ndarray, inner: np.ndarray | None) -> ScoreComparison:
        return compare_scores(
            _part(aligned, inside),
            groups=inner,
            adjust=None,
            confidence_level=options.confidence_level,
        )

    column = column_of(aligned, name, "--by")
    return gains_by(name, column, options.groups, groups, compare)


def gains_by(
    name: str,
    column: np.ndarray,
    groups_name: str | None,
    groups: np.ndarray | None,
    compare: Callable[[np.ndarray, np.ndarray | None], ScoreComparison],
) -> dict[str, Any]:
    """Return the gains over the baseline for each value, adjusted over all of them."""
    if groups_name == name:
        groups = None  # each part is one group, and its rows are compared
    rows: list[dict[str, Any]] = []
    for value in dict.fromkeys(column.tolist()):
        inside = column == value
        n = int(inside.sum())
        if n < 2:
            rows.append({"value": value, "n": n})
            continue
        inner = None if groups is None else groups[inside]
        if inner is not None and len(set(inner.tolist())) < 2:
            raise CommandError(one_group(f"--by {name}, value {value}", inner[0]))
        result = compare(inside, inner)
        for k in range(len(result.names) - 1):
            rows.append(
                {
                    "value": value,
                    "n": n,
                    "a": result.pairs[k][0],
                    "b": result.pairs[k][1],
                    "score_a": float(result.score[0]),
                    "score_b": float(result.score[k + 1]),
                    "gain": float(result.gain[k]),
                    "low": float(result.gain_low[k]),
                    "high": float(result.gain_high[k]),
                    "pvalue": float(result.pvalue[k]),
                    "wins": int(result.wins[k]),
                    "losses": int(result.losses[k]),
                }
            )
    tested = [row for row in rows if "pvalue" in row]
    adjusted = holm(np.array([row["pvalue"] for row in tested])) if tested else ()
    for row, p in zip(tested, adjusted, strict=True):
        row["pvalue_adjusted"] = float(p)
    return {"column": name, "rows": rows}


def _part(aligned: AlignedEvaluations, inside: np.ndarray) -> AlignedEvaluations:
    samples = [
        values[np.repeat(inside, aligned.n_samples[:, k])]
        for k, values in enumerate(aligned.samples)
    ]
    return replace(
        aligned,
        question=aligned.question[inside],
        score=aligned.score[inside],
        n_samples=aligned.n_samples[inside],
        samples=samples,
        proba=aligned.proba[inside],
        groups={name: values[inside] for name, values in aligned.groups.items()},
    )


def _repeats(aligned: AlignedEvaluations) -> list[dict[str, Any]]:
    """Return the components of variance of each system with several samples."""
    found = []
    for k, name in enumerate(aligned.names):
        number = aligned.n_samples[:, k]
        if len(aligned) < 2 or not (number > 1).any():
            continue
        question = np.repeat(np.arange(number.size), number)
        split = sample_variance(aligned.samples[k], question=question)
        found.append({"name": name, **split.to_dict(), "advice": split.advice})
    return found


def _calibration(
    aligned: AlignedEvaluations,
    known: np.ndarray,
    groups: np.ndarray | None,
    options: Namespace,
) -> list[dict[str, Any]]:
    """Return differences in calibration errors and proper scores from the baseline."""
    others = [k for k in np.flatnonzero(known).tolist() if k > 0][:_MOST_CALIBRATED]
    return [
        {
            "a": aligned.names[0],
            "b": aligned.names[k],
            **compare_probabilities(
                aligned.score[:, [0, k]],
                aligned.proba[:, [0, k]],
                groups=groups,
                level=options.confidence_level,
            ),
        }
        for k in others
    ]
