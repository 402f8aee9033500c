"""Scoring of samples without an answer, by the rule of the harness or by choice."""

from __future__ import annotations

import numpy as np

# For each format, whether samples without a score count as wrong, and the rule.
_RULES = {
    "lm-evaluation-harness": (
        False,
        "An answer that no filter could read ([invalid]) counts as wrong.",
    ),
    "inspect_ai": (
        False,
        "Samples with an error or without a score are in no metric; a sample without "
        "an answer (N) counts as wrong.",
    ),
    "HELM": (False, "Every answer has a score."),
    "lighteval": (False, "Samples without a score are in no metric."),
    "HLE": (
        True,
        "Answers that were not judged count as wrong. For the harness, so do questions "
        "that are not in the file.",
    ),
    "simple-evals": (
        False,
        "An answer that was not extracted counts as wrong; samples without a score are "
        "in no metric.",
    ),
    "promptfoo": (True, "A test with an error counts as failed."),
    "deepeval": (
        False,
        "Test cases on which the metric failed are not in its mean.",
    ),
    "OpenAI evals": (False, "Samples with an error are in no metric."),
}

POLICIES = ("wrong", "drop", "separate")


def rule_of(format: str) -> str:
    """Return in words how a harness counts samples without an answer."""
    return _RULES[format][1] if format in _RULES else ""


def counted_scores(
    score: np.ndarray, status: np.ndarray, format: str, policy: str | None
) -> np.ndarray:
    """Return the scores that count; NaN for samples that are left out."""
    if policy is None:
        is_wrong = _RULES.get(format, (False, ""))[0]
        return np.where(np.isnan(score), 0.0, score) if is_wrong else score
    fill = 0.0 if policy == "wrong" else np.nan
    return np.where(status == "answered", score, fill)
