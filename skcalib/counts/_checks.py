"""Validation of labels, expectations and the design of the sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError, parameter, warn
from .._validation import as_floats, as_groups, as_labels, check_choice, check_real

# With fewer labels, the errors of the model cannot be estimated.
_FEWEST_LABELS = 5

_ROUNDING = 1e-9

# Sums of squares of larger numbers overflow, as do quotients by smaller ones.
_LARGEST = 1e50
_LEAST = 1 / _LARGEST

# A random sample of this size has documents on both sides of the median.
_ENOUGH_FOR_SIDES = 20


# Names in messages, which the command line shows as columns, options and lines.
EXPECTED = parameter("_expected", "`expected`")
THE_EXPECTED = parameter("_expected", "The 'expected' parameter")
PROBABILITY = parameter("_probability", "`inclusion_probability`")
AS_PROBABILITY = parameter("_as_probability", "as `inclusion_probability`")
SEE_CHOICE = parameter("_choice", "(see choose_documents)")
NO_GROUPS = parameter("_no_groups", "do not pass `groups`")


def as_column(values: Any, n: int | None, *, name: str) -> np.ndarray:
    """Return one number per document as floats."""
    array = as_floats(values, name=name).astype(np.float64, copy=False)
    if array.ndim != 1:
        problem = f"must have one entry per document. Got shape {array.shape}."
        raise ParameterError(name, problem)
    if n is not None and len(array) != n:
        problem = f"must have one entry for each of {n} documents. Got {len(array)}."
        raise ParameterError(name, problem)
    too_large = np.isfinite(array) & (np.abs(array) > _LARGEST)
    _raise_where(too_large, array, f"be at most {_LARGEST:g}", name)
    return array


def _raise_where(bad: np.ndarray, values: np.ndarray, expected: str, name: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        got = f"Got {float(values[row])!r} in row {row}."
        raise ParameterError(name, f"must {expected}. {got}")


def check_labels(y_true: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels (NaN if missing) and the rows of the labelled documents."""
    y = as_column(y_true, None, name="y_true")
    _raise_where(np.isinf(y), y, "be finite, or NaN where there is no label", "y_true")
    rows = np.flatnonzero(~np.isnan(y))
    if len(rows) < min(_FEWEST_LABELS, max(len(y), 1)):
        problem = (
            f"must have at least {_FEWEST_LABELS} labels. Got {len(rows)} labels in "
            f"{len(y)} documents. Use NaN for documents without a label."
        )
        raise ParameterError("y_true", problem)
    return y, rows


def check_expected(expected: Any, n: int) -> np.ndarray:
    """Return the model's expectations."""
    f = as_column(expected, n, name="expected")
    _raise_where(~np.isfinite(f), f, "be finite in every row", "expected")
    return f


def check_size(size: Any, n: int) -> np.ndarray:
    """Return the size of each document, or 1 if `size` is None."""
    if size is None:
        return np.ones(n)
    x = as_column(size, n, name="size")
    bad = ~((x >= _LEAST) & np.isfinite(x))
    _raise_where(bad, x, f"be positive (at least {_LEAST:g}) and finite", "size")
    return x


def check_bounds(bounds: Any, y: np.ndarray, f: np.ndarray) -> list[np.ndarray]:
    """Return the smallest and the largest possible count of each document."""
    labelled = ~np.isnan(y)
    if bounds is None:
        if (y[labelled] < 0).any():
            row = int((labelled & (y < 0)).argmax())
            problem = (
                f"has a negative label. Got {float(y[row])!r} in row {row}. Use NaN "
                "for documents without a label. For a difference of counts, pass "
                "bounds=(-numpy.inf, numpy.inf)."
            )
            raise ParameterError("y_true", problem)
        is_binary = np.isin(y[labelled], (0, 1)).all() and f.max() <= 1 + 1e-9
        bounds = (0.0, 1.0 if is_binary else np.inf)
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        problem = f"must be a pair (low, high). Got {bounds!r:.80}."
        raise ParameterTypeError("bounds", problem)
    ends = []
    for end in bounds:
        array = as_floats(end, name="bounds").astype(np.float64)
        if array.shape not in ((), y.shape) or np.isnan(array).any():
            problem = f"must be two numbers or two arrays of {len(y)} numbers, not NaN."
            raise ParameterError("bounds", f"{problem} Got shape {array.shape}.")
        ends.append(np.broadcast_to(array, y.shape))
    low, high = ends
    if (low > high).any():
        row = int((low > high).argmax())
        problem = f"must have low <= high. Got {low[row]}, {high[row]} in row {row}."
        raise ParameterError("bounds", problem)
    with np.errstate(invalid="ignore"):
        bad = labelled & ((y < low) | (y > high))
    _raise_where(bad, y, "lie within `bounds` where a document is labelled", "y_true")
    _warn_of_impossible(f, *ends)
    return ends


def _warn_of_impossible(f: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Warn if an expected count is outside the bounds."""
    bad = (f < low - _ROUNDING) | (f > high + _ROUNDING)
    if bad.any():
        row = int(bad.argmax())
        warn(
            f"{THE_EXPECTED} is outside the range of possible counts in "
            f"{int(bad.sum())} of {len(f)} rows: {float(f[row])!r} in row {row}, where "
            f"a count is between {low[row]:g} and {high[row]:g}. The interval is still "
            "valid. Pass probabilities or expected counts, not logarithms or scores, "
            "or pass the `bounds` of the counts."
        )


def check_unit(unit: Any) -> float:
    """Return the smallest possible error of a count."""
    return check_real(unit, low=_LEAST, high=_LARGEST, name="unit")


def check_slope(slope: Any) -> str | float:
    """Return the method that estimates the slope, or the slope itself."""
    if isinstance(slope, str):
        return check_choice(slope, ("shrunk", "best"), name="slope")
    return check_real(slope, low=-_LARGEST, high=_LARGEST, name="slope")


def as_codes(values: Any, n: int, *, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct labels in order, and the code of each document's label."""
    labels = as_labels(values, name=name)
    if labels.size != n:
        problem = f"must have one entry for each of {n} documents. Got {labels.size}."
        raise ParameterError(name, problem)
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        problem = f"must contain labels that can be sorted. Got {', '.join(kinds)}."
        raise ParameterTypeError(name, problem) from None


def check_groups(groups: Any, labelled: np.ndarray) -> np.ndarray | None:
    """Return the group of each document, and raise if a group is partly labelled."""
    codes = as_groups(groups, len(labelled))
    if codes is None:
        return None
    held = np.bincount(codes, labelled)
    partial = (held > 0) & (held < np.bincount(codes))
    if partial.any():
        row = int((partial[codes] & ~labelled).argmax())
        problem = (
            "must be labelled as a whole or not at all, because whole groups were "
            f"drawn. Row {row} has no label, but other rows of its group have one. If "
            f"single documents were drawn, {NO_GROUPS}."
        )
        raise ParameterError("groups", problem)
    if (held > 0).sum() < 3 and not labelled.all():
        problem = f"must have at least 3 labelled groups. Got {(held > 0).sum()}."
        raise ParameterError("groups", problem)
    return codes


def check_probability(probability: Any, labelled: np.ndarray) -> np.ndarray:
    """Return the inclusion probabilities that were given."""
    n, name = len(labelled), "inclusion_probability"
    array = as_floats(probability, name=name).astype(np.float64)
    pi = np.full(n, float(array)) if array.ndim == 0 else as_column(array, n, name=name)
    zero = pi == 0
    if zero.any():
        problem = (
            "must be positive, because the errors in documents that cannot be drawn "
            f"are unknown. Got 0 in row {int(zero.argmax())}. Remove such documents "
            "from the corpus, or draw them with a small probability."
        )
        raise ParameterError(name, problem)
    bad = ~((pi >= _LEAST) & (pi <= 1 + 1e-9))
    _raise_where(bad, pi, f"lie in (0, 1], and be at least {_LEAST:g}", name)
    pi = np.minimum(pi, 1.0)
    missed = (pi > 1 - 1e-12) & ~labelled
    if missed.any():
        problem = (
            "is 1 for a document without a label. Got 1 in row "
            f"{int(missed.argmax())}. Use a probability below 1 for documents that "
            "could be missed by the draw."
        )
        raise ParameterError(name, problem)
    return pi


def equal_probability(
    labelled: np.ndarray, strata: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the share of documents (or groups) drawn in each stratum."""
    if groups is not None:
        _, first = np.unique(groups, return_index=True)
        strata_drawn, drawn = strata[first], labelled[first]
    else:
        strata_drawn, drawn = strata, labelled
    n_strata = int(strata.max()) + 1
    held = np.bincount(strata_drawn, drawn, n_strata)
    share = held / np.bincount(strata_drawn, minlength=n_strata)
    return share[strata]


def check_strata(
    codes: np.ndarray, labels: np.ndarray, groups: np.ndarray | None
) -> None:
    """Raise if a group is in two strata."""
    if groups is None:
        return
    _, first, place = np.unique(groups, return_index=True, return_inverse=True)
    other = codes != codes[first][place]
    if other.any():
        row = int(other.argmax())
        stratum = labels.tolist()[codes[row]]
        problem = (
            f"must be one for all documents of a group. Got {stratum!r} in row {row}, "
            "and another stratum in other rows of its group."
        )
        raise ParameterError("strata", problem)


def check_sides(expected: np.ndarray, rows: np.ndarray) -> None:
    """Raise if all labelled documents are on one side of the median expectation."""
    if len(rows) < _ENOUGH_FOR_SIDES or len(rows) == len(expected):
        return
    middle = np.median(expected)
    for side, is_there in (("above", expected > middle), ("below", expected < middle)):
        if is_there[rows].all():
            problem = (
                "must be drawn from the whole corpus. All labelled documents are "
                f"{side} the median of {EXPECTED}, so the errors of the model in the "
                "other documents are unknown. Label some of the other documents, or "
                "pass the corpus from which the documents were drawn."
            )
            raise ParameterError("y_true", problem)
