"""The numbers of ``skcalib report``."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from ..evaluation import accuracy_interval
from ..metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
    score_decomposition,
)
from ..metrics._frequency_intervals import frequency_interval
from ..rates._accuracy import grouped_frequency_interval
from ..significance._system_comparison import holm
from ._advice import is_tested
from ._runs import Answers

N_REGIONS = 10
# With at most this number of different probabilities, each one has its own region.
MOST_STATED = 20
# Number of probabilities checked first, to avoid sorting all of them.
_FIRST = 10_000


def stated_values(q: np.ndarray) -> np.ndarray | None:
    """Return the different probabilities, or None if there are too many.

    None is also returned if most of them occur only once.
    """
    if np.unique(q[:_FIRST]).size > MOST_STATED:
        return None
    values = np.unique(q)
    return values if values.size <= min(MOST_STATED, q.size / 2) else None


def with_probabilities(part: Answers) -> Answers | None:
    """Return the answers with a probability; None if none, or if a score is partial."""
    has = np.isfinite(part.q)
    if has.sum() < 2 or not np.isin(part.y, (0, 1)).all():
        return None
    return part if has.all() else part[has]


def _region(
    part: Answers, low: float, high: float, level: float, *, is_all: bool
) -> dict[str, Any]:
    """Compare probabilities and outcomes in a range of probabilities.

    If the range contains all answers, their frequency is the accuracy, and has its
    interval.
    """
    said, came = float(part.q.mean()), float(part.y.mean())
    codes = part.dependent
    if codes is None and is_all:
        accuracy = accuracy_interval(part.y, confidence_level=level)
        left, right = accuracy.low, accuracy.high
    elif codes is None or np.bincount(codes).max() == 1:
        left, right = (
            float(end) for end in frequency_interval(came, part.y.size, level)
        )
    else:
        left, right = grouped_frequency_interval(part.y, part.q, codes, level)
    verdict = "fits"
    if said > right:
        verdict = "too high"
    elif said < left:
        verdict = "too low"
    return {
        "from": round(low, 10),
        "to": round(high, 10),
        "n": part.y.size,
        "mean_probability": said,
        "frequency": came,
        "frequency_low": left,
        "frequency_high": right,
        "verdict": verdict,
    }


def _regions(
    part: Answers, stated: np.ndarray | None, level: float
) -> list[dict[str, Any]]:
    """Compare probabilities and outcomes at each stated value, or in each tenth."""
    if stated is None:
        edges = np.linspace(0, 1, N_REGIONS + 1)
        low, high = edges[:-1], edges[1:]
        region = np.searchsorted(edges[1:-1], part.q, side="left")
    else:
        low = high = stated
        region = np.searchsorted(stated, part.q)
    used = np.unique(region)
    return [
        _region(
            part[region == k],
            float(low[k]),
            float(high[k]),
            level,
            is_all=used.size == 1,
        )
        for k in used
    ]


def _accuracy(part: Answers, level: float) -> dict[str, Any]:
    """Return the accuracy, and the numbers of questions, samples and groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a single group
        found = accuracy_interval(
            part.y, questions=part.question, groups=part.groups, confidence_level=level
        )
    return {
        "n": found.n,
        "n_samples": part.y.size,
        "n_groups": found.n_groups,
        "accuracy": {
            "estimate": found.estimate,
            "low": found.low,
            "high": found.high,
        },
    }


def _calibration(
    part: Answers, stated: np.ndarray | None, bin_size: int | None, level: float
) -> dict[str, Any]:
    """Compare probabilities and outcomes."""
    size: int | Literal["auto"] = "auto" if bin_size is None else bin_size
    curve = adaptive_reliability_curve(part.y, part.q, bin_size=size)
    groups = part.dependent if part.has_two_groups else None
    with warnings.catch_warnings():  # the report mentions few groups
        warnings.simplefilter("ignore", UserWarning)
        interval = calibration_error_interval(
            part.y,
            part.q,
            groups=groups,
            confidence_level=level,
            hard_labels=True,
        )
    error = interval.to_dict()
    if np.isnan(error["p_value"]):  # too few answers; JSON has no NaN
        error["p_value"] = None
    bins = score_decomposition(part.y, part.q, bin_size=size)
    levels = score_decomposition(part.y, part.q, method="isotonic")
    return {
        "overall": _region(part, 0.0, 1.0, level, is_all=True),
        "calibration_error": error,
        "plug_in": {"error": curve.error(), "bin_size": curve.bin_size},
        "ece": calibration_error(
            part.y,
            part.q,
            n_bins=N_REGIONS,
            strategy="uniform",
            norm="l1",
            hard_labels=True,
        ),
        "brier": {"adaptive": bins.to_dict(), "isotonic": levels.to_dict()},
        "regions": _regions(part, stated, level),
    }


def measure(
    part: Answers,
    stated: np.ndarray | None,
    *,
    bin_size: int | None,
    level: float,
) -> dict[str, Any]:
    """Return all numbers of the report on some answers."""
    part = part.compact()
    found = _accuracy(part, level)
    stating = with_probabilities(part)
    if stating is not None:
        return found | _calibration(stating, stated, bin_size, level)
    names = ("overall", "calibration_error", "plug_in", "ece", "brier")
    return found | dict.fromkeys(names) | {"regions": []}


def adjust_pvalues(parts: dict[str, dict[str, Any]]) -> None:
    """Add the p-value of each part, adjusted over all parts by Holm's method."""
    tested = [
        part
        for part in parts.values()
        if part["calibration_error"] is not None
        and is_tested(part["calibration_error"])
    ]
    pvalues = np.array([part["calibration_error"]["p_value"] for part in tested])
    for part in parts.values():
        part["p_value_adjusted"] = None
    for part, pvalue in zip(tested, holm(pvalues), strict=True):
        part["p_value_adjusted"] = float(pvalue)
