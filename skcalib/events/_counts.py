"""Kernels of counts: distributions of sums of independent counts, and quantiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ROUNDING = 1e-12  # of sums of probabilities


def pmf_of(values: np.ndarray, proba: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the least value and the probabilities of it and of those above it."""
    start = int(values.min())
    return start, np.bincount(values - start, weights=proba)


def sum_of(parts: Sequence[tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
    """Return the distribution of the sum of independent counts, as `pmf_of` has it.

    Neighbours are added up in pairs, then the pairs: n counts take O(n^2) in few calls,
    and every term is positive, so that nothing cancels.
    """
    start = sum(least for least, _ in parts)
    level = [pmf for _, pmf in parts if pmf.size > 1]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        both = zip(level[::2], level[1::2], strict=False)
        level = [np.convolve(one, other) for one, other in both] + odd
    pmf = level[0] if level else np.ones(1)
    return start, pmf / pmf.sum()


def quantile(start: int, pmf: np.ndarray, level: float) -> int:
    """Return the least value whose cumulative probability reaches the level."""
    reached = np.cumsum(pmf) >= level - ROUNDING
    return start + (int(reached.argmax()) if reached.any() else pmf.size - 1)
