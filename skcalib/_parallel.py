"""Work that joblib spreads over processes, or over what its context names."""

from __future__ import annotations

from typing import Any

from sklearn.utils.parallel import Parallel


def parallel(n_jobs: int | None, verbose: int = 0, **settings: Any) -> Parallel:
    """Return joblib's Parallel; without `verbose` its context says what is printed."""
    if verbose:
        settings["verbose"] = verbose
    return Parallel(n_jobs=n_jobs, **settings)
