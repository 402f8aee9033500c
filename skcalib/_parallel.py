"""Parallel computation with joblib."""

from __future__ import annotations

from typing import Any

from sklearn.utils.parallel import Parallel

from ._errors import ParameterTypeError
from ._validation import check_verbose, is_integer


def parallel(n_jobs: int | None, verbose: int = 0, **settings: Any) -> Parallel:
    """Return joblib's Parallel; if `verbose` is 0, the joblib context determines it."""
    if n_jobs is not None and not (is_integer(n_jobs) and n_jobs):
        problem = (
            f"must be an integer other than 0, or None. Got {n_jobs!r:.50} instead."
        )
        raise ParameterTypeError("n_jobs", problem)
    if level := check_verbose(verbose):
        settings["verbose"] = level
    return Parallel(n_jobs=n_jobs, **settings)
