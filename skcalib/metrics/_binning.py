"""How pairs are binned: by number of pairs, by number of bins, or by width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_choice, check_integer
from ._bins import (
    BinSums,
    SortedCells,
    SortedRows,
    cut_by_number,
    cut_by_size,
    cut_by_value,
    sort_pairs,
    sum_bins,
)
from ._counting import Cells, count_bins, counting_pays, mantissa_bits
from ._pairs import Pairs


def auto_bin_size(total: float) -> int:
    """Return round(total ** 0.6), at least 2.

    Wide enough to show a curve and not its noise: the number of bins grows as n^(2/5),
    the rate at which the error of a regressogram of a smooth curve is least.
    """
    return max(2, round(total**0.6))


@dataclass(frozen=True)
class Binning:
    """How pairs are binned: checked `bin_size`, `n_bins` and `strategy`."""

    bin_size: int | str | None
    n_bins: int | None
    strategy: str

    def bounds(
        self, ordered: SortedRows | SortedCells
    ) -> tuple[np.ndarray, int | None]:
        """Return the bounds of the bins, and the bin size where there is one."""
        if self.strategy == "uniform":
            assert self.n_bins is not None
            bounds = cut_by_value(ordered.below, self.n_bins, ordered.total)
            return ordered.snap(bounds), None
        bounds, size = self.rank_bounds(ordered.total)
        return ordered.snap(bounds), size

    def rank_bounds(self, total: float) -> tuple[np.ndarray, int | None]:
        """Return the bounds that depend on the total weight only."""
        if self.n_bins is not None:
            return cut_by_number(total, self.n_bins), None
        size = self.bin_size if isinstance(self.bin_size, int) else auto_bin_size(total)
        return cut_by_size(total, size), size

    def sums(self, pairs: Pairs, *, squares: bool = True) -> tuple[BinSums, int | None]:
        """Return the sums of each bin and the bin size, None where there is none.

        Without `squares` only those of y and q are sure to be there.
        """
        if pairs.weight is None:
            counted = self._counted(pairs, squares)
            if counted is not None:
                return counted
        ordered = sort_pairs(pairs)
        bounds, size = self.bounds(ordered)
        return sum_bins(ordered, bounds), size

    def _counted(
        self, pairs: Pairs, squares: bool
    ) -> tuple[BinSums, int | None] | None:
        """Return the sums and the bin size without a sort; None where it is faster."""
        n, q = pairs.q.size, pairs.q
        size, cells = None, None
        if self.strategy == "quantile":
            bounds, size = self.rank_bounds(pairs.total)
            if not counting_pays(n, bounds.size - 1):
                return None
        else:
            assert self.n_bins is not None
            if not counting_pays(n, self.n_bins):
                return None
            cells = Cells(q, mantissa_bits(self.n_bins))
            bounds = cut_by_value(cells.below, self.n_bins, n)
        ranks = bounds.astype(np.intp)
        sums = count_bins(q, pairs.positive_q, ranks, squares=squares, cells=cells)
        return sums, size


def check_binning(bin_size: Any, n_bins: Any, strategy: Any, *, caller: str) -> Binning:
    """Return the way to bin, or say which of the three parameters is wrong."""
    check_choice(strategy, ("quantile", "uniform"), name="strategy", caller=caller)
    automatic = isinstance(bin_size, str) and bin_size == "auto"
    if n_bins is not None:
        if not automatic:
            raise ValueError(
                f"{caller} takes 'bin_size' or 'n_bins', not both. "
                f"Got bin_size={bin_size!r} and n_bins={n_bins!r}."
            )
        n_bins = check_integer(n_bins, minimum=1, name="n_bins", caller=caller)
        return Binning(None, n_bins, strategy)
    if strategy == "uniform":
        raise ValueError(
            f"strategy='uniform' of {caller} needs 'n_bins', the number of bins."
        )
    if automatic:
        return Binning("auto", None, strategy)
    if isinstance(bin_size, str):
        raise ValueError(
            f"The 'bin_size' parameter of {caller} must be 'auto' or an integer of at "
            f"least 1. Got {bin_size!r} instead."
        )
    bin_size = check_integer(bin_size, minimum=1, name="bin_size", caller=caller)
    return Binning(bin_size, None, strategy)
