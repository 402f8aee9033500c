"""From the differences in bins to one number: norms, and the debiased square."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_bool, check_choice

NORMS = ("l1", "l2", "max")


def debiased_square(weight: np.ndarray, pair_residual: np.ndarray) -> float:
    """Return (1/N) sum_b 1/(n_b - 1) sum_{i != j in b} r_i r_j."""
    terms = pair_residual / (weight - 1)
    square = float(terms.sum() / weight.sum())
    # What rounding alone can make is zero: a root would turn 1e-17 into 3e-9.
    noise = 16 * np.finfo(np.float64).eps * float(np.abs(terms).sum() / weight.sum())
    return 0.0 if abs(square) <= noise else square


def norm_of(
    difference: np.ndarray, weight: np.ndarray, norm: str, squared: bool
) -> float:
    """Return the weighted norm of the differences between mean q and mean y."""
    distance = np.abs(difference)
    if norm == "max":
        return float(distance.max())
    if norm == "l1":
        return float(weight @ distance / weight.sum())
    square = float(weight @ distance**2 / weight.sum())
    return square if squared else float(np.sqrt(square))


def check_norm(norm: Any, squared: Any, debias: Any, *, caller: str) -> None:
    """Raise where norm, squared and debias do not go together."""
    check_choice(norm, NORMS, name="norm", caller=caller)
    for name, value in (("squared", squared), ("debias", debias)):
        if check_bool(value, name=name, caller=caller) and norm != "l2":
            raise ValueError(f"{name}=True of {caller} goes with norm='l2' only.")


def rooted(square: float, squared: bool) -> float:
    """Return the debiased square, or the root of what of it is positive."""
    return square if squared else float(np.sqrt(max(square, 0)))


def debiased_error(
    weight: np.ndarray, pair_residual: np.ndarray, squared: bool, *, caller: str
) -> float:
    """Return the debiased error over bins of independent pairs."""
    check_debiasable(weight, caller=caller)
    return rooted(debiased_square(weight, pair_residual), squared)


def check_debiasable(weight: np.ndarray, *, caller: str) -> None:
    """Raise where a bin is too small for the unbiased estimate of its square."""
    small = weight <= 1
    if small.any():
        b = int(small.argmax())
        raise ValueError(
            f"debias=True of {caller} needs bins of more than one pair, since it "
            f"multiplies the residuals of different pairs. Got weight {weight[b]:g} in "
            f"bin {b} of {weight.size}: use larger or fewer bins."
        )
