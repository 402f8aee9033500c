"""Folds of cross-validation as indices of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ._containers import described, is_collection
from ._errors import ParameterError


def folds_of(
    cv: Any, X: Any, groups: Any, of: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the indices of the rows for training and for the test of each fold.

    `of` is the plural of what a row is, for messages.
    """
    # check_cv unpacks the folds of a list with an error that does not name them.
    is_list = is_collection(cv) and not hasattr(cv, "split")
    splits = cv if is_list else check_cv(cv, classifier=False).split(X, None, groups)
    folds = [_as_fold(fold, len(X), of) for fold in splits]
    if not folds:
        raise ParameterError("cv", "gives no fold.")
    return folds


def _as_fold(fold: Any, n: int, of: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices for training and for the test."""
    try:
        train, test = fold
    except (TypeError, ValueError):
        problem = f"must yield pairs (train, test). Got {described(fold)}."
        raise ParameterError("cv", problem) from None
    return _as_rows(train, n, of), _as_rows(test, n, of)


def _as_rows(fold: Any, n: int, of: str) -> np.ndarray:
    """Return the indices of a fold, which may be a boolean mask."""
    rows = np.asarray(fold)
    if rows.shape == (n,) and rows.dtype == bool:
        return np.flatnonzero(rows)
    if rows.shape == (0,):
        return rows.astype(np.intp)
    is_row = rows.ndim == 1 and rows.dtype.kind in "iu"
    if not is_row or rows.min() < 0 or rows.max() >= n:
        got = rows[(rows < 0) | (rows >= n)][0] if is_row else described(fold)
        raise ParameterError(
            "cv",
            f"must yield indices of {of} from 0 to {n - 1}, or boolean masks "
            f"of length {n}. Got {got}.",
        )
    return rows
