"""The numbers of a reliability plot, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._compat import take_rows
from ..metrics import CalibrationErrorInterval, ReliabilityCurve
from ..metrics._binning import Binning
from ..metrics._curve import curve_of_pairs
from ..metrics._interval import interval_of_pairs
from ..metrics._pairs import Pairs
from ..queries import Answers
from ..scorers import ask

# Equal-width cells of the histogram under the curve.
_N_CELLS = 50


@dataclass(frozen=True)
class Numbers:
    """Curve, error and histogram of one model on some pairs."""

    curve: ReliabilityCurve
    error: CalibrationErrorInterval | None
    count: np.ndarray


def numbers_of_pairs(
    pairs: Pairs, binning: Binning, level: float, *, caller: str, error: bool = True
) -> Numbers:
    """Return the numbers of checked pairs; without `error` that is None."""
    automatic = Binning("auto", None, "quantile")
    cells = Binning(None, _N_CELLS, "uniform")
    return Numbers(
        curve=curve_of_pairs(pairs, binning),
        error=interval_of_pairs(pairs, automatic, level, caller=caller)
        if error
        else None,
        count=_histogram(curve_of_pairs(pairs, cells)),
    )


def _histogram(cells: ReliabilityCurve) -> np.ndarray:
    """Return the weight of every equal-width cell, the empty ones included."""
    # A cell holds its upper edge, and the first one 0 too.
    middle = np.where(cells.proba_max > 0, cells.proba_max, 1e-9)
    edges = np.linspace(0, 1, _N_CELLS + 1)
    count = np.zeros(_N_CELLS)
    np.add.at(count, np.searchsorted(edges[1:-1], middle, side="left"), cells.weight)
    return count


def held_out_answers(
    cv_results: Mapping[str, Any], X: Any, y: Any, query: Any, *, caller: str
) -> tuple[Answers, str]:
    """Return the answers of each model of a cross-validation about its test fold.

    The groups are the samples in the order of X. The name is that of the estimators.
    """
    name = f"The 'cv_results' parameter of {caller} must"
    if not isinstance(cv_results, Mapping):
        raise TypeError(
            f"{name} be the dict of cross_validate. Got {type(cv_results).__name__}."
        )
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ValueError(
            f"{name} hold 'estimator' and 'indices'. Got no {missing[0]!r}: call "
            "cross_validate with return_estimator=True, return_indices=True."
        )
    answers, samples = [], []
    estimators, folds = cv_results["estimator"], cv_results["indices"]["test"]
    n = max(int(np.max(test)) + 1 for test in folds)
    for argument, value in (("X", X), ("y", y)):
        found = value.shape[0] if hasattr(value, "shape") else len(value)
        if found < n:
            raise ValueError(
                f"The {argument!r} parameter of {caller} must be that given to "
                f"cross_validate, whose folds hold {n} samples. Got {found}."
            )
    for estimator, test in zip(estimators, folds, strict=True):
        held_out = take_rows(X, test), take_rows(y, test)
        found = ask(estimator, *held_out, query, caller=caller)
        answers.append(found)
        samples.append(np.asarray(test)[found.groups])
    pooled = Answers(
        y_true=np.concatenate([a.y_true for a in answers]),
        y_proba=np.concatenate([a.y_proba for a in answers]),
        groups=np.concatenate(samples),
        item=np.concatenate([a.item for a in answers]),
        label=np.concatenate([a.label for a in answers]),
        n_unseen=sum(a.n_unseen for a in answers),
    )
    return pooled, type(estimators[0]).__name__
