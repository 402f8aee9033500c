"""Bounds of the bins, the sums in each bin, and the error over all bins.

Every sum is an expectation over the orders of rows with equal q (a *tie class*). If a
cut divides a class of t rows so that a bin receives m of them, the bin receives the
share m / t of the positives of the class. Results therefore do not depend on the order
of the rows, and a row of weight 3 is equivalent to three rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._validation import check_bool, check_choice
from ._sorted_pairs import SortedCells, SortedRows, TieClasses

NORMS = ("l1", "l2", "max")


@dataclass(frozen=True)
class Shares:
    """Contributions of divided tie classes to bins: `taken` of `total` rows.

    All arrays have one entry for each overlapping (bin, divided class); `tie` is the
    index of the class.
    """

    bin: np.ndarray
    tie: np.ndarray
    taken: np.ndarray
    total: np.ndarray
    positive: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class BinSums:
    """Sums over each of T bins, in ascending order of q.

    weight, q, y, qq, yq : sum of w, w q, w y, w q^2, w y q; low, high : smallest and
    largest q; shares : the divided tie classes.
    """

    weight: np.ndarray
    q: np.ndarray
    y: np.ndarray
    qq: np.ndarray
    yq: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shares: Shares

    def __add__(self, other: BinSums) -> BinSums:
        """Add sums over whole tie classes that lie strictly inside the bins."""
        names = ("weight", "q", "y", "qq", "yq")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, **sums)

    @property
    def residual(self) -> np.ndarray:
        """Sum of r = q - y in each bin."""
        return self.q - self.y

    @property
    def squared_residual(self) -> np.ndarray:
        """Sum of r^2 in each bin."""
        return self.qq - 2 * self.yq + self.y

    @property
    def pair_residual(self) -> np.ndarray:
        """Sum of r_i r_j over i != j in each bin."""
        # theory, (C4) and (C3): E[(sum r)^2] = (E sum r)^2 + Var(sum r). A divided
        # class adds the variance of a hypergeometric count: positives among `taken`
        # rows drawn from `total`. All rows of a class have the same q, so only labels
        # vary.
        s = self.shares
        drawn = s.taken * (s.total - s.taken) / np.maximum(s.total - 1, 1)
        rate = s.positive / s.total
        variance = np.bincount(s.bin, drawn * rate * (1 - rate), self.weight.size)
        r, q2 = self.residual, self.squared_residual
        total = r**2 + variance - q2
        # Values that rounding alone can cause are set to 0, since a root would turn
        # 1e-17 into 3e-9.
        noise = r**2 + q2 + np.abs(r) * (self.q + self.y)
        return np.where(np.abs(total) <= 16 * np.finfo(float).eps * noise, 0, total)


def cut_by_size(total: float, bin_size: float) -> np.ndarray:
    """Return the bounds of Algorithm 1, which merges a short last bin into another."""
    # Weights such as .1 sum up to slightly less than an integer.
    n_bins = int(np.floor(total / bin_size + 1e-9))
    if n_bins <= 1:
        return np.array([0.0, total])
    return np.r_[np.arange(n_bins) * bin_size, total]


def cut_around_classes(ordered: SortedRows | SortedCells, size: int) -> np.ndarray:
    """Return the bounds of bins that keep large tie classes whole.

    Stated confidences and hard answers have few distinct probabilities. A bin that
    contains the end of one class and the start of the next averages their errors, which
    may differ. Therefore a class with at least the weight of a bin starts and ends at a
    cut.
    """
    _, weight, _ = ordered.cells()
    # Sets of fewer than four rows are merged for the error moments in any case.
    large = weight >= max(size, 4)
    if not large.any():
        return ordered.snap(cut_by_size(ordered.total, size))
    end = np.cumsum(weight)
    stops = end[large]
    pieces: list[np.ndarray] = [np.zeros(1)]
    place = 0.0
    for start, stop in zip(stops - weight[large], stops, strict=True):
        pieces.append(_between(place, start, size))
        pieces.append(start + cut_by_size(stop - start, size)[1:])
        place = stop
    last = _between(place, float(end[-1]), size)
    if last.size == 0:  # too few rows after the last class for a bin
        pieces[-1] = pieces[-1][:-1]
    bounds = np.concatenate([*pieces, last[1:]])
    # A last bin of less than half a row is only a rounding error.
    bounds = np.unique(np.r_[bounds[bounds < ordered.total - 0.5], ordered.total])
    return ordered.snap(bounds)


def _between(start: float, stop: float, size: int) -> np.ndarray:
    """Return the bounds from the end of a class to the start of the next.

    Fewer than two rows are merged with the class after them.
    """
    rest = stop - start
    if rest < 1e-9 * max(stop, 1.0):
        return np.array([stop])
    if rest < 2:
        return np.zeros(0)
    return start + cut_by_size(rest, size)


def cut_by_number(total: float, n_bins: int) -> np.ndarray:
    """Return the bounds of `n_bins` bins of equal weight.

    Integer weights are divided as in numpy.array_split. Empty bins are omitted.
    """
    if total == np.floor(total):
        n_bins = min(n_bins, int(total))
        # as numpy.array_split: the first `longer` bins have one row more
        size, longer = divmod(int(total), n_bins)
        number = np.arange(n_bins + 1)
        return number * size + np.minimum(number, longer)
    return np.r_[np.arange(n_bins) * (total / n_bins), total]


def edges_of_width(q: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the inner edges of `n_bins` bins of equal width that can divide `q`.

    If there are more bins than numbers, only the upper edges of non-empty bins are
    returned.
    """
    if n_bins <= max(q.size, 1000):
        return np.linspace(0, 1, n_bins + 1)[1:-1]
    step = 1.0 / n_bins
    number = np.ceil(q * float(n_bins))
    # a product may round to the other side of an edge
    number -= q <= (number - 1) * step
    number += q > number * step
    return np.unique(number[number < n_bins]) * step


def cut_by_value(
    below: Callable[[np.ndarray], np.ndarray], edges: np.ndarray, total: float
) -> np.ndarray:
    """Return the bounds of the non-empty bins between edges.

    `below` returns the total weight of the probabilities that are at most each value.
    As in :func:`sklearn.calibration.calibration_curve`, a bin contains its upper edge.
    """
    return np.unique(np.r_[0, below(edges), total])


def sum_bins(
    ordered: SortedRows | SortedCells, bounds: np.ndarray, *, squares: bool = True
) -> BinSums:
    """Return the sums in the bins between consecutive bounds, including 0 and total.

    Without `squares`, the extremes and the sums of q^2 and y q are NaN, and the
    function is a fifth faster.
    """
    cuts = bounds[1:-1]
    ties = ordered.ties_at(cuts)
    divided = ties.start < cuts
    # The whole classes of a bin lie between the class at its left cut and the class at
    # its right cut. If a cut divides no class, they begin or end at the cut itself.
    start = np.r_[0, np.where(divided, ties.stop, cuts)]
    stop = np.r_[np.where(divided, ties.start, cuts), bounds[-1]]
    positive_start = np.r_[
        0, np.where(divided, ties.positive_stop, ties.positive_start)
    ]
    # A cut that divides no class is the start of its class, so both cases use the
    # positives before that class.
    positive_stop = np.r_[ties.positive_start, ordered.positives]
    weight = np.diff(bounds).astype(np.float64)
    low = high = np.full(weight.size, np.nan)
    if squares:
        low, high = ordered.extremes(bounds)
    sums = ordered.sums(start, stop, positive_start, positive_stop, squares)
    shares = _NO_SHARES
    if divided.any():
        shares = _shares(bounds, ties, divided)
        rate = shares.positive / shares.total
        per_row = (shares.value, rate, shares.value**2, rate * shares.value)
        # in place; without `squares` there are only the first two sums
        for whole, each in zip(sums, per_row, strict=False):
            whole += np.bincount(shares.bin, shares.taken * each, whole.size)
    q, y, *rest = sums
    qq, yq = rest or (np.full(weight.size, np.nan),) * 2
    return BinSums(weight, q, y, qq, yq, low, high, shares)


_NO_SHARES = Shares(
    *(np.empty(0, dtype=np.intp) for _ in range(2)),
    *(np.empty(0) for _ in range(4)),
)


def _shares(bounds: np.ndarray, ties: TieClasses, divided: np.ndarray) -> Shares:
    """Return the contribution of each divided class to the bins that it overlaps.

    For example, let bounds be 0, 4, 8, 12, and let one class have the rows 2 to 10.
    Both cuts, at 4 and at 8, divide it. The cut at 4 contributes `ahead` = 4 rows to
    the bin 4-8. The class begins in the bin 0-4, which gets `behind` = 2 rows. The
    cut at 8 contributes 2 rows to the bin 8-12. Its left bin is complete already. The
    class has number 0 in all three entries, because it begins at the first cut.
    """
    cut = np.flatnonzero(divided)
    left, right = cut, cut + 1  # the bins on both sides of a cut
    # A class contributes to the bin on the right of its cut all rows up to its own end
    # or the end of the bin.
    ahead = np.minimum(ties.stop[cut], bounds[right + 1]) - bounds[right]
    # It contributes to the bin on the left only if it begins there. Otherwise, its
    # previous cut has already contributed its rows to this bin.
    begins = ties.start[cut] >= bounds[left]
    behind = (bounds[right] - ties.start[cut])[begins]
    # A class is counted at its first cut; later cuts repeat its number.
    number = np.cumsum(begins) - 1
    taken = np.r_[ahead, behind].astype(np.float64)
    which = np.r_[cut, cut[begins]]
    return Shares(
        bin=np.r_[right, left[begins]],
        tie=np.r_[number, number[begins]],
        taken=taken,
        total=(ties.stop - ties.start)[which].astype(np.float64),
        positive=(ties.positive_stop - ties.positive_start)[which].astype(np.float64),
        value=ties.value[which],
    )


def debiased_square(weight: np.ndarray, pair_residual: np.ndarray) -> float:
    """Return (1/N) sum_b 1/(n_b - 1) sum_{i != j in b} r_i r_j."""
    # theory, (C2)
    terms = pair_residual / (weight - 1)
    square = float(terms.sum() / weight.sum())
    # Values that rounding alone can cause are set to 0, since a root would turn 1e-17
    # into 3e-9.
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
    # theory, (C1)
    square = float(weight @ distance**2 / weight.sum())
    return square if squared else float(np.sqrt(square))


def check_norm(norm: Any, squared: Any, debias: Any) -> None:
    """Raise an error if norm, squared and debias cannot be combined."""
    check_choice(norm, NORMS, name="norm")
    for name, value in (("squared", squared), ("debias", debias)):
        if value is not False and check_bool(value, name=name) and norm != "l2":
            raise ParameterError(name, f"needs norm='l2'. Got norm={norm!r}.")


def rooted(square: float, squared: bool) -> float:
    """Return the debiased square, or the root of its positive part."""
    return square if squared else float(np.sqrt(max(square, 0)))


def debiased_error(
    weight: np.ndarray, pair_residual: np.ndarray, squared: bool
) -> float:
    """Return the debiased error over bins of independent pairs."""
    check_debiasable(weight)
    return rooted(debiased_square(weight, pair_residual), squared)


def check_debiasable(weight: np.ndarray) -> None:
    """Raise an error if a bin is too small for an unbiased estimate of its square."""
    small = weight <= 1
    if small.any():
        b = int(small.argmax())
        raise ParameterError(
            "debias",
            "needs bins of at least two pairs, since it multiplies the "
            f"residuals of different pairs. Got weight {weight[b]:g} in bin "
            f"{b} of {weight.size}. Use larger or fewer bins.",
        )
