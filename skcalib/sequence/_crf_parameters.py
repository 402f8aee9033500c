"""Parameters of CRFsuite, and the algorithms that accept them."""

from __future__ import annotations

from typing import Any

from .._errors import ParameterError
from .._validation import (
    check_bool,
    check_choice,
    check_integer,
    check_real,
    check_verbose,
)

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")
LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")

# With a number that exceeds a C int, CRFsuite would stop immediately.
_LARGEST_INTEGER = 2**31 - 1
_ITERATIVE = ("lbfgs", "ap", "pa", "arow")
_PENALTIES = {"c1": ("lbfgs",), "c2": ("lbfgs", "l2sgd")}
_NO_PENALTY_GIVEN = {"c1": 0.0, "c2": 1.0}  # the defaults
_INTEGERS = {
    "max_iterations": ALGORITHMS,
    "period": ("lbfgs", "l2sgd"),
    "num_memories": ("lbfgs",),
    "max_linesearch": ("lbfgs",),
    "calibration_samples": ("l2sgd",),
    "calibration_candidates": ("l2sgd",),
    "calibration_max_trials": ("l2sgd",),
}
_REALS = {
    "epsilon": _ITERATIVE,
    "delta": ("lbfgs", "l2sgd"),
    "calibration_eta": ("l2sgd",),
    "calibration_rate": ("l2sgd",),
    "c": ("pa",),
    "variance": ("arow",),
    "gamma": ("arow",),
}
_BOOLS = {"error_sensitive": ("pa",), "averaging": ("pa",)}
_CHOICES = {"linesearch": ("lbfgs",), "pa_type": ("pa",)}


def crf_settings(params: dict[str, Any]) -> dict[str, Any]:
    """Return the validated parameters that CRFsuite accepts for the algorithm."""
    algorithm = check_choice(params["algorithm"], ALGORITHMS, name="algorithm")
    settings = {
        "algorithm": algorithm,
        "verbose": bool(check_verbose(params["verbose"])),
    }
    for name in ("all_possible_transitions", "all_possible_states"):
        settings[name] = check_bool(params[name], name=name)
    for name in ("c1", "c2", "min_freq"):
        settings[name] = check_real(params[name], low=0, high=1e300, name=name)
    for name, default in _NO_PENALTY_GIVEN.items():
        if algorithm not in _PENALTIES[name] and settings.pop(name) != default:
            raise _not_of_algorithm(name, params)
    for name, algorithms in {**_INTEGERS, **_REALS, **_BOOLS, **_CHOICES}.items():
        if params[name] is None:
            continue
        if algorithm not in algorithms:
            raise _not_of_algorithm(name, params)
        settings[name] = _checked(name, params[name])
    _check_unsupported(params)
    return settings


def _checked(name: str, value: Any) -> Any:
    """Return the validated value of a parameter that is not None."""
    if name in _INTEGERS:
        return min(check_integer(value, minimum=1, name=name), _LARGEST_INTEGER)
    if name in _REALS:
        return check_real(value, low=0, high=1e300, name=name)
    if name in _BOOLS:
        return check_bool(value, name=name)
    if name == "linesearch":
        return check_choice(value, LINE_SEARCHES, name=name)
    value = check_integer(value, minimum=0, name=name)
    if value > 2:
        raise ParameterError(name, f"must be 0, 1 or 2. Got {value} instead.")
    return value


def _not_of_algorithm(name: str, params: dict[str, Any]) -> ParameterError:
    problem = (
        f"cannot be used with algorithm={params['algorithm']!r}. Got "
        f"{params[name]!r}. Leave it at its default."
    )
    return ParameterError(name, problem)


def _check_unsupported(params: dict[str, Any]) -> None:
    """Raise an error for parameters of sklearn-crfsuite that are not supported."""
    if params["keep_tempfiles"] not in (False, None):
        raise ParameterError(
            "keep_tempfiles",
            f"must be False, because there are no temporary files. Got "
            f"{params['keep_tempfiles']!r}. Pass model_filename to write the model to "
            "a file.",
        )
    if params["trainer_cls"] is not None:
        raise ParameterError(
            "trainer_cls",
            f"must be None. Got {params['trainer_cls']!r}. Read training_log_ after "
            "fit, or pass verbose=True to print the progress.",
        )
