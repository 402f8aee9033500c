"""Variance of the mean of answers that depend on each other within groups."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit


def dependence(
    residual: np.ndarray,
    codes: np.ndarray,
    unit: float,
    odd: float,
    level: float,
    weight: np.ndarray | None = None,
    repeats: np.ndarray | None = None,
) -> float:
    """Return the number of dependent answers that are equivalent to an independent one.

    It is inf for a single group. `unit` is the variance of the mean if all answers were
    independent. `odd` is the number of answers that differ from most others. If it is
    small, the data contain little information about the dependence: the design effect
    is shrunk towards that of fully dependent groups, which has the weight of half an
    answer. `weight` is the frequency of each answer, and `repeats` the number of
    independent groups that each group stands for (1 if None).
    """
    sums, size = group_sums(residual, codes, weight)
    if size.size == 1:
        return np.inf
    squares = residual**2 if weight is None else weight * residual**2
    return dependence_of_sums(
        sums, size, float(squares.sum()), unit, odd, level, repeats
    )


def dependence_of_sums(
    sums: np.ndarray,
    size: np.ndarray,
    squares: float,
    unit: float,
    odd: float,
    level: float,
    repeats: np.ndarray | None = None,
) -> float:
    """Return the number of :func:`dependence`, given the sums of the groups."""
    variance, freedom = mean_variance(sums, size, squares, repeats)
    ratio = odd * variance / unit if unit > 0 else 0.0
    alone = size if repeats is None else size / repeats
    ratio = (ratio + float(size @ alone) / size.sum() / 2) / (odd + 0.5)
    # Student's quantile in place of the normal one; both round to 0 at smaller levels.
    half = (1 + max(level, 1e-9)) / 2
    return ratio * float(stdtrit(freedom, half) / ndtri(half)) ** 2


def group_sums(
    residual: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of the residuals of each group, and the sizes of the groups."""
    size = np.bincount(codes, weight)
    sums = np.bincount(codes, residual if weight is None else weight * residual)
    if not size.all():
        sums, size = sums[size > 0], size[size > 0]
    return sums, size.astype(np.float64)


def mean_variance(
    sums: np.ndarray,
    size: np.ndarray,
    squares: float,
    repeats: np.ndarray | None = None,
) -> tuple[float, float]:
    """Return the variance of a mean by analysis of variance, and its freedom.

    `sums` contains the sum of the residuals of each group, and `squares` is the sum of
    the squares of all residuals. The correlation within groups is estimated from all
    groups, whatever their sizes, and then applied to the sizes. With equal sizes, the
    variance equals that of `sandwich`. A group with `repeats` r stands for r
    independent groups with an r-th of its sum and size.
    """
    alone = size if repeats is None else size / repeats
    n_groups = size.size if repeats is None else float(repeats.sum())
    n, own = float(size.sum()), float(size @ alone)
    between = float((sums**2 / size).sum())
    free = n - n_groups
    within = max(squares - between, 0.0) / free if free > 0 else 0.0
    effect = (between - (n_groups - 1) * within) / (n - own / n)
    # No sum of a group has a negative variance.
    effect = max(effect, -within / float(alone.max()))
    return (within * n + effect * own) / n**2, max(n**2 / own - 1, 1.0)


def sandwich(residual: np.ndarray, size: np.ndarray) -> tuple[float, float]:
    """Return the CR2 variance of a mean and its degrees of freedom.

    `residual` contains the sum of the residuals of each group.
    """
    n = size.sum()
    # Residuals from the mean are too small; 1 - size / n is one minus the leverage of a
    # group on the mean.
    free = 1 - size / n
    variance = float((residual**2 / free).sum() / n**2)
    # The estimate is a quadratic form of independent scores. Its degrees of freedom are
    # the squared trace over the trace of the square; n^2 cancels.
    across = size**2 / free
    total = (across.sum() ** 2 - across @ across) / n**2
    return variance, float(n**2 / (size @ size + total))
