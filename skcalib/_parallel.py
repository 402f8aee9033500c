"""Parallel computation with joblib."""

from __future__ import annotations

from typing import Any

from sklearn.utils.parallel import Parallel


def parallel(n_jobs: int | None, verbose: int = 0, **settings: Any) -> Parallel:
    """Return joblib's Parallel; if `verbose` is 0, the joblib context determines it."""
    if verbose:
        settings["verbose"] = verbose
    return Parallel(n_jobs=n_jobs, **settings)
