"""Calibration errors and proper scores of two systems on the same questions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._pairs import check_pairs
from .._validation import as_groups
from ..metrics import ResampledError, check_binning
from ..significance import paired_bootstrap_test, resample_counts

# Resamples of the calibration errors. The standard error of a p-value near .05 is .007.
_N_RESAMPLES = 1000

# The logarithm of a probability of 0 would be infinite.
_SMALLEST = 1e-6


def compare_probabilities(
    score: np.ndarray,
    proba: np.ndarray,
    *,
    groups: np.ndarray | None,
    level: float,
) -> dict[str, Any]:
    """Return the differences b - a of the calibration error, Brier and log scores.

    `score` and `proba` have shape (n, 2). Unlike in `compare_calibration`, each system
    has outcomes of its own: whether its own answers are right.
    """
    n = len(score)
    codes = np.arange(n) if groups is None else as_groups(groups, n)
    assert codes is not None
    binning = check_binning("auto", None, "quantile").for_rows(n)
    errors = [
        ResampledError(
            check_pairs(score[:, k].astype(int), proba[:, k], pos_label=1)[0],
            codes,
            binning,
        )
        for k in range(2)
    ]
    n_items = int(codes.max()) + 1
    a, b = (float(error(np.ones((1, n_items)))[0]) for error in errors)
    rng = np.random.default_rng(0)
    chunks = resample_counts(n_items, _N_RESAMPLES, rng)
    drawn = np.concatenate([errors[1](c) - errors[0](c) for c in chunks])
    away = np.abs(drawn - (b - a))
    half = float(np.quantile(away, level))
    extreme = int((away >= abs(b - a) * (1 - 1e-9)).sum())
    return {
        "calibration_error": {
            "a": a,
            "b": b,
            "difference": b - a,
            "low": b - a - half,
            "high": b - a + half,
            "pvalue": (extreme + 1) / (_N_RESAMPLES + 1),
        },
        "brier": _difference((score - proba) ** 2, groups, level),
        "log_score": _difference(_log_scores(score, proba), groups, level),
    }


def _log_scores(score: np.ndarray, proba: np.ndarray) -> np.ndarray:
    q = np.clip(proba, _SMALLEST, 1 - _SMALLEST)
    return -(score * np.log(q) + (1 - score) * np.log1p(-q))


def _difference(
    columns: np.ndarray, groups: np.ndarray | None, level: float
) -> dict[str, float]:
    test = paired_bootstrap_test(
        columns[:, 1],
        columns[:, 0],
        groups=groups,
        confidence_level=level,
        random_state=0,
    )
    a, b = columns.mean(axis=0)
    low, high = test.confidence_interval
    return {
        "a": float(a),
        "b": float(b),
        "difference": float(b - a),
        "low": float(low),
        "high": float(high),
        "pvalue": float(test.pvalue),
    }
