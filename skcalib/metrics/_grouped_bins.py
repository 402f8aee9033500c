"""Bins of dependent rows: sums by group (sentence, document) and bin.

Rows of one group may depend on each other in any way, so only products of rows from
different groups are used. The sum of these products over a bin, divided by their
number, has the same mean as for independent rows.

Let p be the share of a tie class that belongs to a bin. The mean over the orders of the
class replaces (sum r)^2 by (p sum r)^2 plus the variance of a draw without replacement.
This is done both for the bin and for each group in it. Sums of squares of single rows
cancel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from .._errors import ParameterError
from .._pairs import Pairs
from ._binning import Binning
from ._bins import sum_bins
from ._sorted_pairs import SortedCells

# Number of entries of a block of products (12 bytes each).
_BLOCK = 20_000_000

# Largest size of a table of groups and sets that is stored densely (8 bytes each).
_DENSE = 4_000_000


class GroupedRows:
    """Dependent pairs in ascending order of q, used by all their binnings.

    Attributes
    ----------
    cells : SortedCells
        Tie classes; a row without weight has weight 1.
    first : ndarray of shape (n_cells + 1,), int
        First row of each class, and the number of rows.
    group : ndarray of shape (n_rows,), int
        Code of the group.
    residual, weight, proba, variance : ndarray of shape (n_rows,)
        w r, w, w q and w q (1 - q), with r = q - y.
    repeats : ndarray of shape (n_codes,), or None
        Number of independent groups that each group represents. If None, it is 1.
    n_codes, n_groups : int
        Number of group codes, and number of groups that have rows.
    are_single : bool
        Whether no group has two rows.
    """

    def __init__(self, pairs: Pairs):
        assert pairs.groups is not None
        order = np.argsort(pairs.q, kind="stable")
        q = pairs.q[order].astype(np.float64, copy=False)
        positive = pairs.indicator()[order]
        weight = pairs.weight
        self.weight = np.ones(q.size) if weight is None else weight[order]
        self.first = np.flatnonzero(np.r_[True, q[1:] != q[:-1], True])
        self.cells = SortedCells.from_sorted(q, positive, self.weight, self.first)
        self.residual = self.weight * (q - positive)
        self.proba = self.weight * q
        self.variance = self.proba * (1 - q)
        self.group = pairs.groups[order]
        size = np.bincount(self.group)
        self.n_codes = size.size
        self.n_groups = int(np.count_nonzero(size))
        self.are_single = int(size.max()) == 1
        self.repeats: np.ndarray | None = None
        if pairs.repeats is not None:
            repeats = pairs.repeats[: self.n_codes]
            self.repeats = np.where(repeats > 0, repeats, 1)  # 0: a group without rows

    def rows_of(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of some tie classes, and the number of rows of each class."""
        size = self.first[cells + 1] - self.first[cells]
        # 0, 1, ... inside each class
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        return np.repeat(self.first[cells], size) + offset, size


@dataclass(frozen=True)
class Entries:
    """Sums of w r and of w, for each group and set that have rows in common.

    If a group represents m groups, the squares of its entries are divided by m.
    """

    group: np.ndarray
    set: np.ndarray
    residual: np.ndarray
    count: np.ndarray
    shape: tuple[int, int]
    repeats: np.ndarray | None

    def by_set(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the groups of each set."""
        return np.bincount(self.set, values, self.shape[1])

    def by_group(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the sets of each group."""
        return np.bincount(self.group, values, self.shape[0])

    def squares(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the groups of the squared values of each set."""
        square = values * values
        if self.repeats is not None:
            square /= self.repeats[self.group]
        return self.by_set(square)

    def table(self, values: np.ndarray) -> sparse.csr_array:
        """Return the values as a sparse table of groups and sets."""
        return sparse.coo_array((values, (self.group, self.set)), self.shape).tocsr()

    def gram_moments(
        self, root: np.ndarray, own: np.ndarray
    ) -> tuple[float, float | None, float]:
        """Return tr H^2, tr H^3 and the sum of own_c (H^2)_cc for H = root root^T.

        tr H^3 is None if the table is too large. root^T root has the same traces, so
        the smaller of the two matrices is used.
        """
        n_groups, n_sets = self.shape
        if n_groups * n_sets <= _DENSE and min(self.shape) <= 1000:
            dense = np.zeros(self.shape)
            dense[self.group, self.set] = root
            # (A A^T)^k and (A^T A)^k have the same trace
            h = dense @ dense.T if n_groups <= n_sets else dense.T @ dense
            square = h @ h
            if n_groups <= n_sets:
                diagonal = np.diag(square)
            else:
                diagonal = ((dense @ h) * dense).sum(axis=1)
            norm, cube = float((h * h).sum()), float((square * h).sum())
            return norm, cube, float(diagonal @ own)
        table = self.table(root)
        per_group = np.bincount(self.group, minlength=n_groups).astype(float)
        per_set = np.bincount(self.set, minlength=n_sets).astype(float)
        # These are the numbers of products of each way to multiply.
        if (per_group**2).sum() < (per_set**2).sum():
            table = table.T.tocsr()
        return _squared_norm(table), None, 0.0


def _entries(
    rows: GroupedRows,
    row: np.ndarray,
    where: np.ndarray,
    n_sets: int,
    chance: np.ndarray | None,
) -> Entries:
    """Return the sums over rows, weighted by the chance of each row (1 if None)."""
    group, residual, count = rows.group[row], rows.residual[row], rows.weight[row]
    if chance is not None:
        residual, count = chance * residual, chance * count
    if not rows.are_single:
        # one integer for each pair of group and set
        key = where + group * (int(where.max(initial=0)) + 1)
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]][: key.size])
        residual, count = (
            np.add.reduceat(each[order], first) if first.size else each
            for each in (residual, count)
        )
        last = order[first]
        group, where = group[last], where[last]
    shape = (rows.n_codes, n_sets)
    return Entries(group, where, residual, count, shape, rows.repeats)


class GroupedBins:
    """Sums over bins, by group.

    Bins that lie completely inside the same tie class have the same mean. They are
    stored as one *set* with their total weight. Every other bin is a separate set. The
    sorted `rows` of the pairs may be passed if several binnings share them.

    Attributes
    ----------
    weight : ndarray of shape (n_sets,)
        Total weight of the set.
    pair_residual, pair_count : ndarray of shape (n_sets,)
        Expected sums of r_i r_j and expected number of pairs, with i and j from
        different groups.
    residual_sum, count_sum : ndarray of shape (n_sets,)
        Expected sums of w r and of w, with r = q - y.
    entries : Entries
        Expected sums of w r and of w by group.
    residual, count : csr_array of shape (n_codes, n_sets)
        The sums by group as sparse tables.
    label_variance, mean_proba : ndarray of shape (n_sets,)
        Means of q (1 - q) and of q.
    n_effective : ndarray of shape (n_sets,)
        Number of groups of equal size that would carry the same information.
    """

    def __init__(self, pairs: Pairs, binning: Binning, rows: GroupedRows | None = None):
        self._rows = GroupedRows(pairs) if rows is None else rows
        self.n_groups = self._rows.n_groups
        binning = binning.for_rows(pairs.row_total)
        self.bounds, self.bin_size = binning.bounds(self._rows.cells)
        self.sums = sum_bins(self._rows.cells, self.bounds)
        self._place()
        self._multiply()

    def _place(self) -> None:
        """Place every row in its sets: one, or up to three for a divided tie class.

        For example, bins of 4 rows and sorted q = a b c c c c c c c c c d: the class c
        has the positions 2 to 11 and is divided by the cuts at 4 and 8. The bin 4-8
        lies inside c. It loses its weight, and the inner part of c becomes the set
        n_bins + 0. Each row of c is then in three sets: in bin 0-4 with chance 2/9, in
        bin 8-12 with chance 3/9, and in the inner set with chance 1. The inner set
        stands for bins with the mean of the whole class, so it contains all rows of c
        and has the weight 4.
        """
        cells, sums, shares = self._rows.cells, self.sums, self.sums.shares
        n_bins = sums.weight.size
        # a bin that consists of one class only
        inside = shares.taken == sums.weight[shares.bin]
        n_ties = int(shares.tie.max()) + 1 if shares.tie.size else 0
        # the inner bins of divided class k are set n_bins + k
        inner = np.bincount(shares.tie[inside], shares.taken[inside], n_ties)
        weight = np.r_[sums.weight, inner]
        weight[shares.bin[inside]] = 0
        # sets of no weight are left out
        # position of each kept set; meaningless for the others
        number = np.cumsum(weight > 0) - 1
        self.weight = weight[weight > 0]
        self._edge = ~inside
        tie_cell = np.searchsorted(cells.q, shares.value)
        self._edge_set = number[shares.bin[self._edge]]
        self._edge_cell = tie_cell[self._edge]
        # bin of each class by its start; right for undivided classes only
        cell_set = number[
            np.searchsorted(self.bounds[1:-1], cells.end - cells.weight, "right")
        ]
        row_set = np.repeat(cell_set, np.diff(self._rows.first))
        # With no divided class this is all: each row is in one set.
        self._row, self._set = np.arange(row_set.size), row_set
        self._chance: np.ndarray | None = None
        if not n_ties:
            return
        whole = np.ones(cells.q.size, dtype=bool)
        whole[tie_cell] = False
        undivided = np.flatnonzero(np.repeat(whole, np.diff(self._rows.first)))
        has_inner = np.flatnonzero(inner > 0)
        first_share = np.unique(shares.tie, return_index=True)[1]
        # entries of divided classes: first bins at their edges, then inner sets
        joined = np.r_[self._edge_cell, tie_cell[first_share][has_inner]]
        target = np.r_[self._edge_set, number[n_bins + has_inner]]
        taken = (shares.taken / shares.total)[self._edge]
        row, size = self._rows.rows_of(joined)
        chance = np.repeat(np.r_[taken, np.ones(has_inner.size)], size)
        self._row = np.r_[undivided, row]
        self._set = np.r_[row_set[undivided], np.repeat(target, size)]
        self._chance = np.r_[np.ones(undivided.size), chance]

    def _multiply(self) -> None:
        """Sum the products of rows from different groups in each set."""
        rows, shares, n_sets = self._rows, self.sums.shares, self.weight.size
        self.entries = whole = _entries(
            rows, self._row, self._set, n_sets, self._chance
        )
        self.residual_sum = whole.by_set(whole.residual)
        self.count_sum = whole.by_set(whole.count)
        taken, size = shares.taken[self._edge], shares.total[self._edge]
        drawn = taken * (size - taken) / np.maximum(size - 1, 1)
        # The sums of a whole class by group are needed once, though two bins share it.
        known, column = np.unique(self._edge_cell, return_inverse=True)
        row, n_rows = rows.rows_of(known)
        where = np.repeat(np.arange(known.size), n_rows)
        tied = _entries(rows, row, where, known.size, None)

        def products(
            values: np.ndarray, sums: np.ndarray, tied_values: np.ndarray
        ) -> np.ndarray:
            # theory, (C5)
            between = sums**2 - whole.squares(values)
            tied_sums = tied.by_set(tied_values)
            # theory, (C6)
            inside = (tied.squares(tied_values) - tied_sums**2)[column] / size**2
            total = between + np.bincount(self._edge_set, drawn * inside, n_sets)
            # Values that rounding alone can cause are set to 0, since a root would turn
            # 1e-17 into 3e-9.
            noise = 16 * np.finfo(np.float64).eps * (2 * sums**2 - between)
            return np.where(np.abs(total) <= noise, 0, total)

        self.pair_residual = products(whole.residual, self.residual_sum, tied.residual)
        self.pair_count = products(whole.count, self.count_sum, tied.count)

    @cached_property
    def residual(self) -> sparse.csr_array:
        """Expected sum of w r of each group in each set."""
        return self.entries.table(self.entries.residual)

    @cached_property
    def count(self) -> sparse.csr_array:
        """Expected sum of w of each group in each set."""
        return self.entries.table(self.entries.count)

    @cached_property
    def same(self) -> np.ndarray:
        """1 / m for a group that represents m groups."""
        repeats = self._rows.repeats
        return np.ones(self._rows.n_codes) if repeats is None else 1 / repeats

    @cached_property
    def label_variance(self) -> np.ndarray:
        """Mean of q (1 - q) in each set."""
        return self._mean(self._rows.variance)

    @cached_property
    def mean_proba(self) -> np.ndarray:
        """Mean of q in each set."""
        return self._mean(self._rows.proba)

    def _mean(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over each set of values that include the factor w."""
        values = values[self._row]
        if self._chance is not None:
            values = self._chance * values
        return np.bincount(self._set, values, self.weight.size) / self.count_sum

    @cached_property
    def n_effective(self) -> np.ndarray:
        """Number of groups of equal size with the same information, in each set."""
        return self.count_sum**2 / self.entries.squares(self.entries.count)

    @cached_property
    def group_weight(self) -> np.ndarray:
        """Total weight of each group."""
        return self.entries.by_group(self.entries.count)

    @property
    def several_groups(self) -> np.ndarray:
        """Whether each set has rows of different groups."""
        return self.pair_count > 1e-9 * self.weight**2

    def check_several_groups(self) -> None:
        """Raise an error if a set contains rows of a single group."""
        lone = ~self.several_groups
        if lone.any():
            b = int(lone.argmax())
            size = "" if self.bin_size is None else f" of size {self.bin_size}"
            raise ParameterError(
                None,
                "needs rows of at least two groups in every bin (without "
                "'groups', each row of pooled classes is a group). Got one group "
                f"in {int(lone.sum())} of {lone.size} bins{size}, first in bin {b}. "
                "Use a larger 'bin_size', or smaller groups.",
            )

    @property
    def n_independent(self) -> float:
        """Number of groups. A group that represents m groups is counted m times."""
        return float((1 / self.same[self.group_weight > 0]).sum())

    @property
    def n_effective_groups(self) -> float:
        """Effective number of groups of equal size: (sum n)^2 / sum n^2."""
        n = self.group_weight
        return float(n.sum()) ** 2 / float(self.same @ n**2)

    def single_groups(self) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
        """Return the residuals, the counts and the multiplicity of distinct groups."""
        used = self.group_weight > 0
        part = sparse.diags_array(self.same[used])
        single = (part @ self.residual[used]).tocsr(), (part @ self.count[used]).tocsr()
        return *single, 1 / self.same[used]

    @property
    def n_units(self) -> float:
        """Number of groups of equal size with the same information, over all sets.

        A sentence with rows in many bins counts as a group in each of them.
        """
        return float(self.n_effective.sum())

    @property
    def mean_residual_variance(self) -> float:
        """Variance of the mean residual of all rows, estimated between groups."""
        weight = self.group_weight
        residual = self.entries.by_group(self.entries.residual)
        total, n = weight.sum(), self.n_independent
        centred = residual - weight * (residual.sum() / total)
        return float(self.same @ centred**2) / total**2 * n / max(n - 1, 1)

    @property
    def scale(self) -> np.ndarray:
        """Factor of each product r_i r_j in the debiased square."""
        return self.weight / self.weight.sum() / self.pair_count

    def debiased_square(self) -> float:
        """Return sum_b w_b sum r_i r_j / number of pairs, over different groups."""
        # theory, (C5), divided by the number of products
        return float(self.scale @ self.pair_residual)

    def centred(self) -> np.ndarray:
        """Return the sums of residuals minus the mean residual of their set."""
        mean = self.residual_sum / self.count_sum
        return self.entries.residual - self.entries.count * mean[self.entries.set]

    def product_moments(self, values: np.ndarray) -> tuple[float, float]:
        """Return the variance and third moment of the sum of group products.

        These are 2 sum h^2 and 8 sum h h h over different groups c, d with h = sum_b
        scale_b value_cb value_db. They are exact for the sum with random signs of the
        groups. For many groups, the third moment is computed as for independent bins
        with the same variances.
        """
        e, same = self.entries, self.same
        root = values * np.sqrt(self.scale[e.set] * same[e.group])
        # Product of a group with itself; each of m equal parts contributes 1 / m of it.
        own = e.by_group(root**2) * same
        norm, cube, weighted = e.gram_moments(root, own)
        # theory, (G1); a stored group of m equal groups has m own squares
        second = 2 * max(norm - float(own @ (own / same)), 0.0)
        if cube is not None:
            return second, 8 * (cube - 3 * weighted + 2 * float(own**2 @ (own / same)))
        bins = e.by_set(root**2)
        if second <= 0 or not bins.any():
            return second, 0.0
        bins = bins / bins.max()
        shape = float((bins**3).sum() / (bins**2).sum() ** 1.5)
        # skewness of a weighted sum of chi squares, scaled to the variance above
        return second, float(np.sqrt(8) * second**1.5 * shape)

    def mean_variance(self, values: np.ndarray) -> np.ndarray:
        """Return the variance of the mean residual of each set.

        One group of variance q (1 - q) is added to the observed groups, since labels
        that never occur would have no variance.
        """
        m = self.n_effective
        seen = self.entries.squares(values) / self.count_sum**2
        # theory, (G2), left
        return (m * seen + self.label_variance / m) / (m + 1)

    def null_variance(self) -> np.ndarray:
        """Return the variance of the mean residual under perfect calibration.

        The observed variance is used if labels are expected to vary in several groups
        of the set. If they are expected to vary in less than one group, the variance of
        groups with identical rows is used.
        """
        m = self.n_effective
        seen = self.entries.squares(self.entries.residual) / self.count_sum**2
        # theory, (G2), right
        varying = (m * self.label_variance) ** 2
        return (varying * seen + self.label_variance / m) / (varying + 1)

    def error_noise(self, values: np.ndarray) -> float:
        """Return sum_c (sum_b w_b D_b value_cb / n_b)^2, D_b without group c.

        `values` are centred sums. Group c is left out of the mean residual D_b, because
        noise and error would otherwise be correlated for skewed labels.
        """
        e, n, r = self.entries, self.count_sum, self.residual_sum
        rest_n = n[e.set] - e.count * self.same[e.group]
        rest = r[e.set] - e.residual * self.same[e.group]
        # If no other group is in the bin, the mean with the group is used.
        alone = rest_n <= 1e-9 * n[e.set]
        mean = np.where(alone, (r / n)[e.set], rest / np.where(alone, 1, rest_n))
        share = self.weight / self.weight.sum() / n
        # theory, (G3)
        linear = e.by_group(mean * values * share[e.set])
        return float(linear**2 @ self.same)


def are_single_rows(pairs: Pairs) -> bool:
    """Return whether each pair is a group of weight 1.

    Products of rows of different groups are then products of different rows.
    """
    if pairs.row_groups is None or pairs.row_weight is not None or pairs.n_classes > 1:
        return False
    return int(np.bincount(pairs.row_groups).max()) == 1


def grouped_bins(
    pairs: Pairs, binning: Binning, *, may_grow: bool = False
) -> GroupedBins:
    """Return bins of dependent rows such that each bin has rows of at least two groups.

    Automatic bins and bins that `may_grow` are doubled until this is true. For other
    bins an error is raised.
    """
    rows = GroupedRows(pairs)
    bins = GroupedBins(pairs, binning, rows)
    if may_grow or binning.is_automatic:
        while not bins.several_groups.all() and bins.sums.weight.size > 1:
            assert bins.bin_size is not None
            doubled = replace(binning, bin_size=2 * bins.bin_size, n_bins=None)
            bins = GroupedBins(pairs, doubled, rows)
    bins.check_several_groups()
    return bins


def _squared_norm(root: sparse.csr_array) -> float:
    """Return the squared Frobenius norm of root @ root.T in blocks of its rows."""
    per_row = np.asarray((root != 0) @ np.asarray((root != 0).sum(axis=0), float))
    other = root.T.tocsr()
    total, start = 0.0, 0
    ends = np.searchsorted(
        np.cumsum(per_row), np.arange(1, per_row.sum() // _BLOCK + 2) * _BLOCK
    )
    for end in np.unique(np.r_[ends, root.shape[0]]):
        if end > start:
            block = root[start:end] @ other
            total += float(block.data @ block.data)
        start = end
    return total
