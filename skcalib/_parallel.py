"""What repeated computations take: random numbers, processes and folds of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._errors import ParameterError, ParameterTypeError
from ._validation import check_verbose, describe_container, is_collection, is_integer

if TYPE_CHECKING:
    from sklearn.utils.parallel import Parallel

#: Types of a `random_state` parameter.
RandomStateLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator for None, an int, a RandomState or a Generator.

    A RandomState is converted by drawing a seed of four words from it. The RandomState
    advances, so two calls with the same RandomState give different results.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None or (is_integer(random_state) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ParameterError(
        "random_state",
        "must be None, a non-negative integer, a "
        "numpy.random.RandomState or a numpy.random.Generator. Got "
        f"{random_state!r} instead.",
    )


def parallel(n_jobs: int | None, verbose: int = 0, **settings: Any) -> Parallel:
    """Return joblib's Parallel; if `verbose` is 0, the joblib context determines it."""
    if n_jobs is not None and not (is_integer(n_jobs) and n_jobs):
        raise ParameterTypeError(
            "n_jobs",
            f"must be an integer other than 0, or None. Got {n_jobs!r:.50} instead.",
        )
    if level := check_verbose(verbose):
        settings["verbose"] = level
    # scikit-learn takes a second to import, and random numbers do not need it.
    from sklearn.utils.parallel import Parallel

    return Parallel(n_jobs=n_jobs, **settings)


def folds_of(
    cv: Any, X: Any, groups: Any, of: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the indices of the rows for training and for the test of each fold.

    `of` is the plural of what a row is, for messages.
    """
    from sklearn.model_selection import check_cv

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
        problem = f"must yield pairs (train, test). Got {describe_container(fold)}."
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
        got = rows[(rows < 0) | (rows >= n)][0] if is_row else describe_container(fold)
        raise ParameterError(
            "cv",
            f"must yield indices of {of} from 0 to {n - 1}, or boolean masks "
            f"of length {n}. Got {got}.",
        )
    return rows
