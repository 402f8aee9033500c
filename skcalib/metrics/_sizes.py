"""What curves of the calibration error against a size have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._results import TableRepr


class SizeCurve(TableRepr):
    """The error that was asked for, plug-in or debiased."""

    plug_in: np.ndarray
    debiased_square: np.ndarray | None
    debias: bool

    @property
    def debiased(self) -> np.ndarray | None:
        """Root of `debiased_square`, 0 where that is negative; None where it is."""
        if self.debiased_square is None:
            return None
        return np.sqrt(np.maximum(self.debiased_square, 0))

    @property
    def error(self) -> np.ndarray:
        """Calibration error as asked for, `plug_in` or `debiased`."""
        if self.debias:
            assert self.debiased is not None
            return self.debiased
        return self.plug_in


def range_text(sizes: np.ndarray, what: str) -> str:
    """Return how many sizes there are, and from where to where."""
    low, high = sizes.min(), sizes.max()
    span = f"of {low}" if low == high else f"from {low} to {high}"
    return f"{sizes.size} {what}{'s' if sizes.size > 1 else ''} {span}"


def check_sizes(
    values: Any, *, minimum: int, largest: float, name: str, of: str, caller: str
) -> np.ndarray:
    """Return one or more integers from `minimum` to `largest`, the number of `of`."""
    expected = (
        f"The {name!r} parameter of {caller} must hold integers from {minimum} to the "
        f"{of}, here {largest:g}."
    )
    try:
        sizes = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{expected} Got rows of different lengths.") from None
    if sizes.ndim != 1 or not sizes.size:
        raise ValueError(f"{expected} Got an array of shape {sizes.shape}.")
    if sizes.dtype.kind not in "iu":
        raise TypeError(f"{expected} Got an array of {sizes.dtype}.")
    bad = (sizes < minimum) | (sizes > largest)
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"{expected} Got {sizes[at]} at index {at}.")
    return sizes.astype(np.int64)
