"""Calibration errors and proper scores of two systems on the same questions."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..scorers import compare_calibration
from ..significance import paired_bootstrap_test

# Number of resamples for calibration errors. A p-value near .05 has standard error
# .007.
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

    `score` and `proba` have shape (n, 2). Each system has its own outcomes, namely
    whether its own answers are right.
    """
    with warnings.catch_warnings():
        # about few groups, which the comparison also reports
        warnings.simplefilter("ignore", UserWarning)
        found = compare_calibration(
            score[:, 1].astype(int),
            proba[:, 1],
            proba[:, 0],
            y_true_b=score[:, 0].astype(int),
            pos_label=1,
            groups=groups,
            confidence_level=level,
            n_resamples=_N_RESAMPLES,
            random_state=0,
        )
        return {
            "calibration_error": {
                "a": found.error_b,
                "b": found.error_a,
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "pvalue": found.pvalue,
            },
            "brier": _difference((score - proba) ** 2, groups, level, 1.0),
            "log_score": _difference(
                _log_scores(score, proba), groups, level, -math.log(_SMALLEST)
            ),
        }


def _log_scores(score: np.ndarray, proba: np.ndarray) -> np.ndarray:
    q = np.clip(proba, _SMALLEST, 1 - _SMALLEST)
    return -(score * np.log(q) + (1 - score) * np.log1p(-q))


def _difference(
    columns: np.ndarray, groups: np.ndarray | None, level: float, largest: float
) -> dict[str, float]:
    """Return the difference of two means, at most `largest`, with its interval."""
    test = paired_bootstrap_test(
        columns[:, 1],
        columns[:, 0],
        groups=groups,
        confidence_level=level,
        random_state=0,
    )
    a, b = columns.mean(axis=0)
    # With few groups, no hypothesis can be rejected.
    low, high = np.clip(test.confidence_interval, -largest, largest)
    return {
        "a": float(a),
        "b": float(b),
        "difference": float(b - a),
        "low": float(low),
        "high": float(high),
        "pvalue": float(test.pvalue),
    }
