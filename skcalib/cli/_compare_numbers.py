"""The numbers of ``skcalib compare``, as the object that ``--json`` prints."""

from __future__ import annotations

import math
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..evaluation import pass_at_k, sample_variance
from ..evaluation._align import AlignedEvaluations
from ..rates._repeats import question_best_of_k, question_pass_at_k
from ..scorers import compare_calibration
from ..significance import SystemComparison, compare_systems, paired_bootstrap_test
from ..significance._system_comparison import adjusted_pvalues, holm
from ._corpus import factorised
from ._labels import judged_pairs
from ._report_numbers import error_and_ranking
from ._runs import Answers, Inputs, column_of
from ._shared import CommandError, as_option, one_group

# Compares the items of a mask, with their groups and a correction of p-values.
Compare = Callable[[np.ndarray, np.ndarray | None, str | None], SystemComparison]

# Columns of a result for each pair, in the order of the JSON.
_OF_PAIRS = (
    *("gain", "low", "high", "pvalue", "pvalue_adjusted"),
    *("method", "wins", "losses"),
)

# Words for the methods of the paired bootstrap.
_METHODS = {
    "exact": "paired bootstrap, exact",
    "saddlepoint": "paired bootstrap, saddlepoint",
    "monte_carlo": "paired bootstrap, {n:,} resamples drawn",
    "sign_flips": "sign flips",
}

# Largest number of systems whose calibration is compared pair by pair.
_MOST_CALIBRATED = 6

# Number of values of --by from which most must have several questions.
_MOST_PARTS = 20

# The logarithm of a probability of 0 would be infinite.
_SMALLEST = 1e-6


def measure(inputs: Inputs, options: Namespace) -> dict[str, Any]:
    """Return all numbers of a comparison of scores."""
    aligned = whole = inputs.aligned
    metric = "accuracy" if _is_right_or_wrong(whole) else "score"
    for name in _OF_SAMPLES:
        if getattr(options, name) is not None:  # they exclude each other
            aligned, metric = _taking_samples(whole, name, options)
    groups, by = (
        None if name is None else column_of(aligned, name, option)
        for name, option in ((options.groups, "--groups"), (inputs.by_name, "--by"))
    )

    def compare(
        inside: np.ndarray, inner: np.ndarray | None, adjust: str | None
    ) -> SystemComparison:
        return compare_systems(
            _part(aligned, inside),
            groups=inner,
            adjust=adjust,
            confidence_level=options.confidence_level,
            random_state=0,
        )

    try:
        # The whole is compared first: its errors are about options, not about a part.
        result = compare(np.ones(len(aligned), bool), groups, options.adjust)
    except ValueError as error:
        problem = getattr(error, "problem", error)
        if getattr(error, "name", None) == "groups":
            raise CommandError(f"--groups {problem}") from None
        problem = str(problem).replace("must have", "needs")
        raise CommandError(f"compare {problem}") from None
    found: dict[str, Any] = {
        "metric": metric,
        "n": len(aligned),
        "n_samples": aligned.n_samples.sum(axis=0).tolist(),
        **numbers_of(result, inputs.files, options),
        "only_in": aligned.only_in,
        "notes": [*aligned.notes, *inputs.notes],
    }
    if metric.startswith("pass"):
        _use_pass_intervals(found["systems"], whole, groups, options)
    if options.labels:
        level = options.confidence_level
        found["judged"] = judged_pairs(options.labels, whole, groups, level)
    found |= power_and_parts(result, compare, (inputs.by_name, by), groups, options)
    if whole.is_repeated:
        found["repeats"] = list(_repeats(whole))
    is_accuracy = metric == "accuracy"
    if is_accuracy:
        found["notes"] += _without_confidence(aligned)
    return found | _confidences(aligned, is_accuracy, groups, options)


def _confidences(
    aligned: AlignedEvaluations,
    is_accuracy: bool,
    groups: np.ndarray | None,
    options: Namespace,
) -> dict[str, Any]:
    """Return what is known about the confidences of systems with probabilities."""
    known, level = np.isfinite(aligned.proba).all(axis=0), options.confidence_level
    decides = options.fail_if == "worse-calibrated"
    if decides and not (known.all() and is_accuracy):
        raise CommandError(
            "--fail-if worse-calibrated needs answers that are right or wrong, each "
            "with a probability, and one per question. Not all files have them."
        )
    if not is_accuracy or not known[0] or known.sum() < 2:
        return {}
    used = np.flatnonzero(known)
    used = used if decides else used[: _MOST_CALIBRATED + 1]
    differences = [_calibration(aligned, k, groups, level) for k in used[1:]]
    errors = [each["calibration_error"] for each in differences]
    adjusted = adjusted_pvalues(np.array([e["pvalue"] for e in errors]), options.adjust)
    for error, p in zip(errors, adjusted.tolist(), strict=True):
        error["pvalue_adjusted"] = p
    codes = None if groups is None else factorised(groups)[0]
    confidence = []
    for k in used:
        answers = Answers(aligned.score[:, k], aligned.proba[:, k], groups=codes)
        found = error_and_ranking(answers, level)
        confidence.append({"name": aligned.names[k], **found})
    return {"calibration": differences, "confidence": confidence}


def _without_confidence(aligned: AlignedEvaluations) -> Iterator[str]:
    """Yield which systems lack confidences, if any system has some."""
    lacking = np.isnan(aligned.proba).sum(axis=0)
    if aligned.is_repeated or (lacking == len(aligned)).all():
        return
    for name, k in zip(aligned.names, lacking.tolist(), strict=True):
        if k:
            yield (
                f"{name} has no confidence for {k} of {len(aligned)} questions: its "
                "calibration is not compared."
            )


def numbers_of(
    result: SystemComparison, files: dict[str, list[str]], options: Namespace
) -> dict[str, Any]:
    """Return the numbers of all systems and pairs."""
    letters = result.letters(1 - result.confidence_level)
    columns = np.column_stack([result.score, result.low, result.high])
    systems = [
        {
            "name": name,
            "files": files[name],
            "score": score,
            "low": low,
            "high": high,
            "letters": letters[name],
        }
        for name, (score, low, high) in zip(result.names, columns.tolist(), strict=True)
    ]
    pairs = _pairs(result)
    if options.margin is not None:
        _add_margin(pairs, result, options)
    return {
        "n_groups": result.n_groups,
        "groups": options.groups,
        "only_in": dict.fromkeys(result.names, 0),
        "notes": [],
        "confidence_level": options.confidence_level,
        "adjust": result.adjust,
        "smallest_pvalue": result.smallest_pvalue,
        "baseline": result.names[0],
        "systems": systems,
        "pairs": pairs,
        "not_separated": result.not_separated(1 - options.confidence_level),
    }


def _pairs(result: SystemComparison) -> list[dict[str, Any]]:
    """Return each pair; a is the earlier system, and the gain is b minus a."""
    columns = result.to_dict()
    columns["method"] = [
        _METHODS.get(method, method).format(n=result.n_resamples)
        for method in result.method
    ]
    rows = zip(*(columns[name] for name in _OF_PAIRS), strict=True)
    return [
        {"a": a, "b": b, **dict(zip(_OF_PAIRS, row, strict=True))}
        for (a, b), row in zip(result.pairs, rows, strict=True)
    ]


def _add_margin(
    pairs: list[dict[str, Any]], result: SystemComparison, options: Namespace
) -> None:
    """Add the tests of non-inferiority and equivalence to the pairs."""
    margin = options.margin
    inferior = result.noninferiority_pvalue(margin).tolist()
    equal = result.equivalence_pvalue(margin).tolist()
    # Each test is one-sided, and agrees with one end of the two-sided interval.
    half = (1 - options.confidence_level) / 2
    for pair, p_inferior, p_equal in zip(pairs, inferior, equal, strict=True):
        pair["margin"] = margin
        pair["noninferiority_pvalue"] = p_inferior
        pair["equivalence_pvalue"] = p_equal
        pair["is_noninferior"] = p_inferior <= half
        pair["is_equivalent"] = p_equal <= half


# Options that use several samples of a question, and the names of their scores.
_OF_SAMPLES = {"pass_at": "pass@{k}", "pass_all": "pass^{k}", "best_of": "best of {k}"}


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
    # The estimate of a question is one number, which is tested as one sample.
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
    for k, system in enumerate(systems):
        right, number = aligned.sample_counts(k)
        found = pass_at_k(
            right,
            number,
            k=options.pass_at or options.pass_all,
            all_of=options.pass_all is not None,
            groups=groups,
            confidence_level=options.confidence_level,
        )
        system["low"], system["high"] = found.low, found.high


def _is_right_or_wrong(aligned: AlignedEvaluations) -> bool:
    return all(bool(np.isin(values, (0, 1)).all()) for values in aligned.samples)


def power_and_parts(
    result: SystemComparison,
    compare: Compare,
    by: tuple[str | None, np.ndarray | None],
    groups: np.ndarray | None,
    options: Namespace,
) -> dict[str, Any]:
    """Return the numbers of --power and of --by, if they are given."""
    found: dict[str, Any] = {}
    if options.power is not None:
        found["power"] = _power(result, options)
    name, column = by
    if name is not None and column is not None:
        # If the parts are the groups, their rows are compared.
        inner = None if options.groups == name else groups
        is_given = options.by is not None
        rows = _parts(name, column, inner, compare, is_given=is_given)
        found["by"] = {"column": name, "rows": rows}
    return found


def _parts(
    name: str,
    column: np.ndarray,
    groups: np.ndarray | None,
    compare: Compare,
    *,
    is_given: bool,
) -> list[dict[str, Any]]:
    """Return the gains over the baseline for each value, adjusted over all of them.

    is_given : whether the user asked for these parts.
    """
    rows: list[dict[str, Any]] = []
    values = dict.fromkeys(column.tolist())
    if len(values) > max(_MOST_PARTS, column.size / 2):
        raise CommandError(
            f"--by must have values that several questions share. Got {len(values)} "
            f"values of {name!r} for {column.size} questions."
        )
    for value in values:
        inside = column == value
        # A value with a single question is listed without a gain.
        row: dict[str, Any] = {"value": value, "n": int(inside.sum())}
        if row["n"] < 2:
            rows.append(row)
            continue
        inner = None if groups is None else groups[inside]
        if inner is not None and (inner == inner[0]).all():
            # The tasks of a harness may each be a group.
            if not is_given:
                rows.append(row)
                continue
            raise CommandError(one_group(f"--by {name}, value {value}", inner[0]))
        result = compare(inside, inner, None)
        score = result.score.tolist()
        # The pairs with the baseline come first. Only they are listed, since `score`
        # ends the loop.
        for pair, other in zip(_pairs(result), score[1:], strict=False):
            del pair["pvalue_adjusted"], pair["method"]
            names = {"a": pair.pop("a"), "b": pair.pop("b")}
            rows.append(row | names | {"score_a": score[0], "score_b": other} | pair)
    tested = [row for row in rows if "pvalue" in row]
    adjusted = holm(np.array([row["pvalue"] for row in tested])) if tested else ()
    for row, p in zip(tested, adjusted, strict=True):
        row["pvalue_adjusted"] = float(p)
    return rows


def _power(result: SystemComparison, options: Namespace) -> list[dict[str, Any]]:
    """Return the detectable gain for each pair with the baseline."""
    smallest = result.detectable_gain()
    found = []
    for k, (a, b) in enumerate(result.pairs):
        if a != result.names[0]:
            continue
        # JSON has no infinity, so an infinite number is None.
        gain = float(smallest[k]) if np.isfinite(smallest[k]) else None
        each: dict[str, Any] = {"a": a, "b": b, "detectable_gain": gain}
        if options.power is not True:
            n = result.questions_needed(options.power)[k]
            each["gain"] = options.power
            each["questions_needed"] = int(n) if np.isfinite(n) else None
        found.append(each)
    return found


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


def _repeats(aligned: AlignedEvaluations) -> Iterator[dict[str, Any]]:
    """Yield the components of variance of each system with several samples."""
    for k, name in enumerate(aligned.names):
        number = aligned.n_samples[:, k]
        if len(aligned) < 2 or not (number > 1).any():
            continue
        question = np.repeat(np.arange(number.size), number)
        split = sample_variance(aligned.samples[k], question=question)
        yield {"name": name, **split.to_dict(), "advice": split.advice}


def _calibration(
    aligned: AlignedEvaluations, k: int, groups: np.ndarray | None, level: float
) -> dict[str, Any]:
    """Return differences of a system from the baseline: error, Brier and log scores.

    Each system has its own outcomes, namely whether its own answers are right.
    """
    score, proba = aligned.score[:, [0, k]], aligned.proba[:, [0, k]]
    q = np.clip(proba, _SMALLEST, 1 - _SMALLEST)
    log_score = -(score * np.log(q) + (1 - score) * np.log1p(-q))
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # about few groups, which the comparison also reports
        error = compare_calibration(
            score[:, 1].astype(int),
            proba[:, 1],
            proba[:, 0],
            y_true_b=score[:, 0].astype(int),
            pos_label=1,
            groups=groups,
            confidence_level=level,
            random_state=0,
        )
        log = paired_bootstrap_test(
            log_score[:, 1],
            log_score[:, 0],
            groups=groups,
            confidence_level=level,
            random_state=0,
        )
    log_a, log_b = log_score.mean(axis=0)
    # The functions subtract their second system, which is the baseline here.
    return {
        "a": aligned.names[0],
        "b": aligned.names[k],
        "calibration_error": _difference(
            error.error_b, error.error_a, error.low, error.high, error.pvalue
        ),
        "brier": _difference(
            *(error.brier_b, error.brier_a),
            *(error.brier_low, error.brier_high, error.brier_pvalue),
            largest=1.0,
        ),
        "log_score": _difference(
            *(log_a, log_b, *log.confidence_interval, log.pvalue),
            largest=-math.log(_SMALLEST),
        ),
    }


def _difference(
    a: float, b: float, low: float, high: float, pvalue: float, largest: float = np.inf
) -> dict[str, float | None]:
    """Return two scores and their difference, at most `largest`, with its interval.

    With few groups, no hypothesis can be rejected, and there is no interval.
    """
    is_known = low > -largest or high < largest
    return {
        "a": float(a),
        "b": float(b),
        "difference": float(b - a),
        "low": max(float(low), -largest) if is_known else None,
        "high": min(float(high), largest) if is_known else None,
        "pvalue": float(pvalue),
    }
