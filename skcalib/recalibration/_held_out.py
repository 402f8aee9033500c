"""Posteriors of held-out data, and the true structures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._clusterings import as_clustering
from .._compat import take_rows
from ..posteriors import AntecedentPosterior
from ..queries._query import last_step, posterior_of, tag_paths


@dataclass(frozen=True)
class HeldOut:
    """Posterior, true structures of positive probability, and their weights."""

    posterior: Any
    structures: list[Any]
    weight: np.ndarray
    n_unreachable: int

    def log_likelihood(self, temperature: float) -> float:
        """Return the weighted sum of the log probabilities of the structures."""
        if not self.structures:
            return 0.0
        tempered = self.posterior.tempered(temperature)
        return float(self.weight @ np.asarray(tempered.log_proba(self.structures)))

    def documents(self) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
        """Iterate over the scores, the entities and the weights of documents."""
        if self.structures:
            scores = self.posterior.log_scores
            yield from zip(scores, self.structures, self.weight.tolist(), strict=True)


def fit_on(
    estimator: Any, X: Any, y: Any, weight: np.ndarray | None, rows: np.ndarray | None
) -> Any:
    """Return the estimator fitted on some or all rows, with weights if supported."""
    if rows is not None:
        X, y = take_rows(X, rows), take_rows(y, rows)
        weight = None if weight is None else weight[rows]
    if weight is not None and has_fit_parameter(estimator, "sample_weight"):
        return estimator.fit(X, y, sample_weight=weight)
    return estimator.fit(X, y)


def cross_fit(
    estimator: Any,
    X: Any,
    y: Any,
    weight: np.ndarray | None,
    fold: tuple[np.ndarray, np.ndarray],
) -> HeldOut:
    """Fit a clone to the training part, and return the posterior of the test part."""
    train, test = fold
    return held_out(fit_on(clone(estimator), X, y, weight, train), X, y, weight, test)


def held_out(
    estimator: Any, X: Any, y: Any, weight: np.ndarray | None, rows: np.ndarray
) -> HeldOut:
    """Return the posterior of a fitted estimator for some rows.

    Structures of probability 0 are left out, since no temperature changes this
    probability.
    """
    if weight is not None:
        rows = rows[weight[rows] > 0]
    n = rows.size
    final, y = last_step(estimator), take_rows(y, rows)
    structures = list(y)
    if hasattr(final, "predict_marginals"):  # taggings are indices in classes_
        check_is_fitted(final)
        paths, known = tag_paths(y, np.asarray(final.classes_).tolist())
        rows, structures = _kept(known, rows, paths)
    posterior = _posterior_of_rows(estimator, X, rows)
    if isinstance(posterior, AntecedentPosterior):
        structures = [
            as_clustering(labels, len(scores), row, "y")
            for labels, scores, row in zip(
                structures, posterior.log_scores, rows.tolist(), strict=True
            )
        ]
    # If a sequence allows no tagging, log_proba raises for all sequences.
    for possible in (_has_path, _is_possible):
        keep = possible(posterior, structures, rows)
        if not keep.all():
            rows, structures = _kept(keep, rows, structures)
            posterior = _posterior_of_rows(estimator, X, rows)
    by_row = np.ones(rows.size) if weight is None else weight[rows]
    return HeldOut(posterior, structures, by_row, n - rows.size)


def _kept(
    keep: np.ndarray, rows: np.ndarray, structures: list[Any]
) -> tuple[np.ndarray, list[Any]]:
    return rows[keep], [structures[i] for i in np.flatnonzero(keep)]


def _posterior_of_rows(estimator: Any, X: Any, rows: np.ndarray) -> Any:
    return posterior_of(estimator, take_rows(X, rows)) if rows.size else None


def _has_path(posterior: Any, structures: list[Any], rows: np.ndarray) -> np.ndarray:
    """Return whether each sequence allows a tagging, found by bisection."""
    n = rows.size
    if n == 0 or not hasattr(posterior, "log_partition"):
        return np.ones(n, dtype=bool)
    try:
        posterior.log_partition()
    except ValueError:
        if n == 1:
            return np.zeros(1, dtype=bool)
        halves = (slice(0, n // 2), slice(n // 2, n))
        parts = [_has_path(posterior[h], structures[h], rows[h]) for h in halves]
        return np.concatenate(parts)
    return np.ones(n, dtype=bool)


def _is_possible(posterior: Any, structures: list[Any], rows: np.ndarray) -> np.ndarray:
    """Return whether each structure has a positive probability."""
    if not structures:
        return np.ones(0, dtype=bool)
    log_proba = np.asarray(posterior.log_proba(structures), dtype=np.float64)
    wrong = np.isnan(log_proba) | (log_proba == np.inf)
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(
            f"The log_proba of {type(posterior).__name__} must be finite or -inf. Got "
            f"{log_proba[i]} for held-out structure {rows[i]}."
        )
    return log_proba > -np.inf
