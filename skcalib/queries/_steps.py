"""The last step of pipelines and searches, and its input."""

from __future__ import annotations

from typing import Any


def last_step(estimator: Any) -> Any:
    """Return the last estimator of nested pipelines and fitted searches."""
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return last_step(estimator.steps[-1][1])
    return estimator


def transform_before(estimator: Any, X: Any) -> Any:
    """Return X as the last estimator of a pipeline or a fitted search receives it."""
    if hasattr(estimator, "best_estimator_"):
        return transform_before(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return transform_before(estimator.steps[-1][1], X)
    return X
