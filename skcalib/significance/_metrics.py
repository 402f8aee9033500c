"""Metrics of sums: from the summed columns of the items to one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ParameterError


@dataclass(frozen=True)
class Metric:
    """A metric of sums.

    `of_sums` maps sums of shape (k, m) to (values, undefined), arrays of shape (k,); if
    a value is 0/0, it is 0 and `undefined` is True. `quotient` contains the two columns
    whose sums the metric divides, or None if the metric is not a quotient.
    """

    name: str
    of_sums: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    quotient: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None

    def value(self, sums: np.ndarray) -> float:
        """Return the metric of one row of sums."""
        return float(self.of_sums(sums[np.newaxis])[0][0])


def _ratio_columns(stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return stats[:, 0], stats[:, 1]


def _f1_columns(stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return 2 * stats[:, 0], stats[:, 1] + stats[:, 2]


def _ratio(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _divide(*_ratio_columns(sums))


def _f1(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _divide(*_f1_columns(sums))


def _divide(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    undefined = below == 0
    values = np.divide(above, below, out=np.zeros_like(above), where=~undefined)
    return values, undefined


# The mean of values is the ratio of their sum to the number of items. With groups of
# different sizes, it is not a mean of group sums.
READY = {
    "mean": Metric("mean", _ratio, _ratio_columns),
    "ratio": Metric("ratio", _ratio, _ratio_columns),
    "f1": Metric("f1", _f1, _f1_columns),
}


def check_metric_name(statistic: Any) -> None:
    """Raise unless `statistic` is a known name or a callable."""
    known = isinstance(statistic, str) and statistic in READY
    if not known and not callable(statistic):
        names = ", ".join(repr(name) for name in READY)
        raise ParameterError(
            "statistic",
            f"must be one of {names} or a callable of the summed columns. Got "
            f"{statistic!r} instead.",
        )


def metric_of_callable(function: Callable, a: np.ndarray, b: np.ndarray) -> Metric:
    """Return a metric that calls `function` on many sums at once if possible.

    A function of one row of sums, ``s[0] / s[1]``, often also takes all of them in the
    columns of a matrix; a function written with ``s[..., 0]`` takes them in rows. The
    layout is determined on sums of these data: the values must agree.
    """
    m = a.shape[1]
    left_out = [a.sum(axis=0) - a[i % len(a)] for i in range(m)]
    probe = np.stack([a.sum(axis=0), b.sum(axis=0), *left_out])
    name = getattr(function, "__name__", type(function).__name__)
    with np.errstate(all="ignore"):
        evaluate = _evaluation(function, probe, name=name)

    def of_sums(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            values = evaluate(sums)
        _check_finite(values, sums, name=name)
        return values, np.zeros(len(sums), dtype=bool)

    return Metric(name, of_sums)


def _evaluation(
    function: Callable, probe: np.ndarray, *, name: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Return how `function` is called on rows of sums."""

    def one_by_one(sums: np.ndarray) -> np.ndarray:
        return np.array([_as_number(function(row)) for row in sums])

    def in_rows(sums: np.ndarray) -> np.ndarray:
        return np.asarray(function(sums), dtype=np.float64)

    def in_columns(sums: np.ndarray) -> np.ndarray:
        return np.asarray(function(np.ascontiguousarray(sums.T)), dtype=np.float64)

    try:
        expected = one_by_one(probe)
    except (IndexError, TypeError, ValueError) as error:
        # The function may expect two axes.
        if isinstance(error, IndexError) and _takes(in_rows, probe) is not None:
            return in_rows
        raise ParameterError(
            "statistic",
            f"must map the {probe.shape[1]} summed columns of a system to one number. "
            f"{name!r} failed: {error}",
        ) from error
    for evaluate in (in_rows, in_columns):
        values = _takes(evaluate, probe)
        if values is not None and np.allclose(
            values, expected, rtol=1e-9, atol=0, equal_nan=True
        ):
            return evaluate
    return one_by_one


def _as_number(value: Any) -> float:
    found = np.asarray(value, dtype=np.float64)
    if found.size != 1:
        raise ValueError(f"it returned an array of shape {found.shape}, not a number.")
    return float(found.reshape(()))


def _takes(evaluate: Callable, probe: np.ndarray) -> np.ndarray | None:
    """Return the values of all rows of sums, or None if one call cannot do it."""
    # Any exception means that the function does not support this layout.
    try:
        values = evaluate(probe)
    except Exception:
        return None
    return values if values.shape == (len(probe),) else None


def _check_finite(values: np.ndarray, sums: np.ndarray, *, name: str) -> None:
    wrong = ~np.isfinite(values)
    if wrong.any():
        k = int(wrong.argmax())
        raise ParameterError(
            "statistic",
            "must return a finite number for the sums of every resample (for example "
            f"0 for 0/0). {name!r} returned {values[k]} for the sums "
            f"{sums[k].tolist()}, one of {int(wrong.sum())} such values in "
            f"{len(values)}.",
        )
