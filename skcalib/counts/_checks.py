"""Validation of labels and expectations, and of the design: groups, strata, chances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError, parameter, warn
from .._validation import (
    as_floats,
    as_groups,
    as_labels,
    check_choice,
    check_real,
    raise_where,
)

# With fewer labels, the errors of the model cannot be estimated.
_FEWEST_LABELS = 5

_ROUNDING = 1e-9

# Sums of squares of larger numbers overflow, as do quotients by smaller ones.
LARGEST = 1e50
LEAST = 1 / LARGEST

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
    too_large = np.isfinite(array) & (np.abs(array) > LARGEST)
    raise_where(too_large, array, f"be at most {LARGEST:g}", name=name)
    return array


def check_labels(y_true: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels (NaN if missing) and the rows of the labelled documents."""
    y = as_column(y_true, None, name="y_true")
    raise_where(
        np.isinf(y), y, "be finite, or NaN where there is no label", name="y_true"
    )
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
    raise_where(~np.isfinite(f), f, "be finite in every row", name="expected")
    return f


def check_size(size: Any, n: int) -> np.ndarray:
    """Return the size of each document, or 1 if `size` is None."""
    if size is None:
        return np.ones(n)
    x = as_column(size, n, name="size")
    bad = ~((x >= LEAST) & np.isfinite(x))
    raise_where(bad, x, f"be positive (at least {LEAST:g}) and finite", name="size")
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
    raise_where(
        bad, y, "lie within `bounds` where a document is labelled", name="y_true"
    )
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


def check_slope(slope: Any) -> str | float:
    """Return the method that estimates the slope, or the slope itself."""
    if isinstance(slope, str):
        return check_choice(slope, ("shrunk", "best"), name="slope")
    return check_real(slope, low=-LARGEST, high=LARGEST, name="slope")


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
    bad = ~((pi >= LEAST) & (pi <= 1 + 1e-9))
    raise_where(bad, pi, f"lie in (0, 1], and be at least {LEAST:g}", name=name)
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


def drawn_units(groups: np.ndarray | None) -> np.ndarray | slice:
    """Return one document of each unit that was drawn: each document, or each group."""
    if groups is None:
        return slice(None)
    return np.unique(groups, return_index=True)[1]


def equal_probability(
    labelled: np.ndarray, strata: np.ndarray, groups: np.ndarray | None
) -> np.ndarray:
    """Return the share of documents (or groups) drawn in each stratum."""
    unit = drawn_units(groups)
    held = np.bincount(strata[unit], labelled[unit])
    return (held / np.bincount(strata[unit]))[strata]


def check_strata(
    strata: Any, f: np.ndarray, labelled: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stratum of each document, and merged strata for the variance.

    If only one of several documents (or groups) in a stratum is labelled, the variance
    within the stratum cannot be estimated. The stratum is then merged with the stratum
    that has the nearest mean of `f`.
    """
    n = len(f)
    if strata is None:
        return np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    labels, codes = as_codes(strata, n, name="strata")
    unit = drawn_units(groups)
    if groups is not None:
        other = codes != codes[unit][groups]
        if other.any():
            row = int(other.argmax())
            stratum = labels.tolist()[codes[row]]
            problem = (
                f"must be one for all documents of a group. Got {stratum!r} in row "
                f"{row}, and another stratum in other rows of its group."
            )
            raise ParameterError("strata", problem)
    n_units = np.bincount(codes[unit], minlength=len(labels))
    held = np.bincount(codes[unit], labelled[unit], len(labels)).astype(int)
    if (held == 0).any():
        stratum = labels.tolist()[int((held == 0).argmax())]
        problem = (
            f"must have a label in each stratum. Got none in {stratum!r}. If documents "
            "were drawn from this and another stratum together, merge both strata. "
            "Otherwise, remove the documents of the stratum from the corpus."
        )
        raise ParameterError("strata", problem)
    single = (held == 1) & (n_units > 1)
    if not single.any():
        return codes, codes
    means = np.bincount(codes, f) / np.bincount(codes)
    joined = _join(single, held < n_units, means)
    names = ", ".join(map(repr, labels[single].tolist()[:5]))
    warn(
        f"{single.sum()} strata have one label: {names}. To estimate the variance, "
        f"each is merged with the stratum that has the nearest mean of {EXPECTED}."
    )
    return codes, np.unique(joined, return_inverse=True)[1][codes]


def _join(single: np.ndarray, is_open: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the stratum that each stratum is merged with."""
    joined = np.arange(len(means))
    for h in np.flatnonzero(single):
        if (joined == joined[h]).sum() > 1:
            continue  # another stratum has been merged with it
        others = np.flatnonzero(is_open & (np.arange(len(means)) != h))
        if not others.size:
            problem = (
                "must have at least two labels in a stratum that is not completely "
                "labelled, so that the variance can be estimated. Got one."
            )
            raise ParameterError("strata", problem)
        nearest = others[np.argmin(np.abs(means[others] - means[h]))]
        joined[joined == joined[h]] = joined[nearest]
    return joined


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
