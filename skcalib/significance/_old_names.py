"""Functions that `compare_systems` replaced. They warn when they are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import ParameterError, public, warn
from .._validation import as_floats
from ..evaluation import Evaluation
from ..metrics import accuracy_statistics
from ._system_comparison import SystemComparison, compare_systems
from ._translation import bleu, chrf, ter

# Metric implied by the number of columns of the statistics.
_STATISTIC_OF_COLUMNS = {1: "mean", 2: "ratio", 3: "f1"}


def _warn_of(name: str, remedy: str) -> None:
    warn(
        f"skcalib.significance.{name} will be removed in version 0.13. Use {remedy}.",
        FutureWarning,
    )


@public
def compare_scores(systems: Any, **settings: Any) -> SystemComparison:
    """Call :func:`compare_systems` without a statistic."""
    _warn_of("compare_scores", "compare_systems(systems)")
    for name, values in systems.items() if isinstance(systems, dict) else ():
        if isinstance(values, Evaluation):
            continue
        score = as_floats(values, name=f"systems[{name!r}]")
        bad = ~((score >= 0) & (score <= 1))
        if bad.any():
            row = int(bad.argmax())
            raise ParameterError(
                "systems",
                f"must have scores in [0, 1]. Got {float(score[row])!r} in row {row} "
                f"of {name!r}.",
            )
    return compare_systems(systems, **{"random_state": 0, **settings})


@public
def compare_metrics(
    systems: Any, *, statistic: Any, largest: float | None = None, **settings: Any
) -> SystemComparison:
    """Call :func:`compare_systems` with a statistic."""
    _warn_of("compare_metrics", "compare_systems(systems, statistic=...)")
    if largest is None and statistic not in (bleu, chrf, ter):
        largest = 1.0
    settings = {"random_state": 0, **settings}
    return compare_systems(systems, statistic=statistic, largest=largest, **settings)


@public
def significance_table(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    statistics: Any = None,
    statistic: Any = None,
    response_method: str = "predict",
    **settings: Any,
) -> SystemComparison:
    """Call :func:`compare_systems` with the statistics of fitted estimators."""
    _warn_of(
        "significance_table",
        "compare_systems({name: accuracy_statistics(y, estimator.predict(X)), ...})",
    )
    make = accuracy_statistics if statistics is None else statistics
    systems = {
        name: np.asarray(make(y, getattr(estimator, response_method)(X)))
        for name, estimator in estimators.items()
    }
    if statistic is None:
        first = next(iter(systems.values()))
        n_columns = 1 if first.ndim == 1 else first.shape[1]
        statistic = _STATISTIC_OF_COLUMNS[n_columns]
    return compare_systems(systems, statistic=statistic, **settings)
