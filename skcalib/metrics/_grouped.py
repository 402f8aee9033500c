"""Bins of dependent rows: sums by group (sentence, document) and bin.

Rows of one group may depend on each other in any way, so only products of rows from
different groups are used: their sum over a bin, divided by the number of such pairs,
has the mean that independent rows would give.

With p the share of a tie class that a bin takes, the mean over the orders of the class
replaces (sum r)^2 by (p sum r)^2 plus the variance of a draw without replacement, both
for the bin and for each group in it; sums of squares of single rows cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ._binning import Binning
from ._bins import SortedCells, sum_bins
from ._pairs import Pairs

# Entries of a block of products that are held at once (12 bytes each).
_BLOCK = 20_000_000


@dataclass(frozen=True)
class _Membership:
    """Which row is in which set with which probability (up to 3 sets a row)."""

    row: np.ndarray
    set: np.ndarray
    chance: np.ndarray


def sort_cells(pairs: Pairs) -> SortedCells:
    """Return the tie classes of the pairs, a row without weight being one."""
    q = pairs.q.astype(np.float64, copy=False)
    weight = np.ones(q.size) if pairs.weight is None else pairs.weight
    return SortedCells(q, pairs.indicator(), weight)


class GroupedBins:
    """Sums over the bins of `pairs`, by group.

    A bin that lies wholly inside one tie class has the same mean as every other such
    bin of the class, so these are held as one *set* with the weight of them all; every
    other bin is a set of its own. The tie classes of the pairs may be passed as `cells`
    where several binnings share them.

    Attributes
    ----------
    weight : ndarray of shape (n_sets,)
        Total weight of the set.
    residual, count : csr_array of shape (n_groups, n_sets)
        Expected sums of w r and of w, r = q - y.
    pair_residual, pair_count : ndarray of shape (n_sets,)
        Expected sums of r_i r_j and number of pairs, i and j from different groups.
    label_variance : ndarray of shape (n_sets,)
        Mean of q (1 - q).
    n_effective : ndarray of shape (n_sets,)
        Number of groups that would tell as much if all were of one size.
    """

    def __init__(
        self, pairs: Pairs, binning: Binning, cells: SortedCells | None = None
    ):
        assert pairs.groups is not None
        q = pairs.q.astype(np.float64, copy=False)
        positive = pairs.indicator()
        weight = np.ones(q.size) if pairs.weight is None else pairs.weight
        self.n_groups = np.unique(pairs.groups).size
        cells = sort_cells(pairs) if cells is None else cells
        self.bounds, self.bin_size = binning.bounds(cells)
        self.sums = sum_bins(cells, self.bounds)
        cell = np.searchsorted(cells.q, q)
        member = self._members(cells, cell)
        row_residual = weight * (q - positive)
        shape = (int(pairs.groups.max()) + 1, self.weight.size)
        place = (pairs.groups[member.row], member.set)
        repeats = np.ones(shape[0])
        if pairs.repeats is not None:
            repeats = pairs.repeats[: shape[0]]
        # A group that stands for m of them has m parts of 1/m: squares are over m.
        repeats = np.where(repeats > 0, repeats, 1)  # 0: no row is left of it
        self._part = sparse.diags_array(1 / np.sqrt(repeats))
        self._same = 1 / repeats
        self._row_sums = [
            np.bincount(pairs.groups, each, shape[0]) for each in (row_residual, weight)
        ]
        self.residual = _table(member.chance * row_residual[member.row], place, shape)
        self.count = _table(member.chance * weight[member.row], place, shape)
        self._multiply(cell, row_residual, weight, pairs.groups)
        variance = (member.chance * (weight * q * (1 - q))[member.row], member.set)
        n = np.asarray(self.count.sum(axis=0))
        self.label_variance = np.bincount(variance[1], variance[0], n.size) / n
        self.n_effective = n**2 / _column_squares(self._part @ self.count)

    def _members(self, cells: SortedCells, cell: np.ndarray) -> _Membership:
        """Place every row in its sets."""
        sums, shares, n_bins = self.sums, self.sums.shares, self.sums.weight.size
        inside = shares.taken == sums.weight[shares.bin]
        n_ties = int(shares.tie.max()) + 1 if shares.tie.size else 0
        # the inner bins of divided class k are set n_bins + k
        inner = np.bincount(shares.tie[inside], shares.taken[inside], n_ties)
        weight = np.r_[sums.weight, inner]
        weight[shares.bin[inside]] = 0
        self.edge = ~inside
        # sets of no weight are left out
        number = np.cumsum(weight > 0) - 1
        self.weight = weight[weight > 0]
        tie_cell = np.searchsorted(cells.q, shares.value)
        whole_bin = np.searchsorted(
            self.bounds[1:-1], cells.end - cells.weight, "right"
        )
        divided = np.zeros(cells.q.size, dtype=bool)
        divided[tie_cell] = True
        rows = [np.flatnonzero(~divided[cell])]
        sets = [whole_bin[cell[rows[0]]]]
        chances = [np.ones(rows[0].size)]
        by_cell = np.argsort(cell, kind="stable")
        first = np.searchsorted(cell[by_cell], np.arange(cells.q.size + 1))
        has_inner = np.flatnonzero(inner > 0)
        tie_first_share = np.unique(shares.tie, return_index=True)[1]
        joined = np.r_[tie_cell[self.edge], tie_cell[tie_first_share][has_inner]]
        target = np.r_[shares.bin[self.edge], n_bins + has_inner]
        chance = np.r_[
            (shares.taken / shares.total)[self.edge], np.ones(has_inner.size)
        ]
        size = first[joined + 1] - first[joined]
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        rows.append(by_cell[np.repeat(first[joined], size) + offset])
        sets.append(np.repeat(target, size))
        chances.append(np.repeat(chance, size))
        self._edge_set = number[shares.bin[self.edge]]
        self._edge_cell = tie_cell[self.edge]
        return _Membership(
            np.concatenate(rows),
            number[np.concatenate(sets)],
            np.concatenate(chances),
        )

    def _multiply(
        self,
        cell: np.ndarray,
        row_residual: np.ndarray,
        row_weight: np.ndarray,
        groups: np.ndarray,
    ) -> None:
        """Sum the products of rows from different groups in each set."""
        shares, n_sets = self.sums.shares, self.weight.size
        taken, size = shares.taken[self.edge], shares.total[self.edge]
        drawn = taken * (size - taken) / np.maximum(size - 1, 1)
        known = np.unique(self._edge_cell)
        rows = np.flatnonzero(np.isin(cell, known))
        place = (groups[rows], np.searchsorted(known, cell[rows]))
        shape = (self.residual.shape[0], known.size)
        column = np.searchsorted(known, self._edge_cell)

        def products(table: sparse.csr_array, values: np.ndarray) -> np.ndarray:
            sums = np.asarray(table.sum(axis=0))
            between = sums**2 - _column_squares(self._part @ table)
            tied = _table(values[rows], place, shape)
            tied_sums = np.asarray(tied.sum(axis=0))
            squares = _column_squares(self._part @ tied)
            inside = (squares - tied_sums**2)[column] / size**2
            total = between + np.bincount(self._edge_set, drawn * inside, n_sets)
            # What rounding alone can make is zero: a root would turn 1e-17 into 3e-9.
            noise = 16 * np.finfo(np.float64).eps * (2 * sums**2 - between)
            return np.where(np.abs(total) <= noise, 0, total)

        self.pair_residual = products(self.residual, row_residual)
        self.pair_count = products(self.count, row_weight)

    @property
    def several_groups(self) -> np.ndarray:
        """Whether each set has rows of different groups."""
        return self.pair_count > 1e-9 * self.weight**2

    def check_several_groups(self, *, caller: str) -> None:
        """Raise if a set holds rows of a single group."""
        lone = ~self.several_groups
        if lone.any():
            b = int(lone.argmax())
            raise ValueError(
                f"{caller} needs rows of two groups or more in every bin (without "
                "'groups', each row of pooled classes is a group). Got one group in "
                f"{int(lone.sum())} of {lone.size} bins, first in bin {b}: use a "
                "larger 'bin_size', or groups that are smaller."
            )

    def single_groups(self) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
        """Return the residual and count of one group of each kind, and how many."""
        used = np.asarray(self.count.sum(axis=1)) > 0
        part = sparse.diags_array(self._same[used])
        single = (part @ self.residual[used]).tocsr(), (part @ self.count[used]).tocsr()
        return *single, 1 / self._same[used]

    @property
    def n_units(self) -> float:
        """Number of groups of equal size that would tell as much, over all sets.

        A sentence that has rows in many bins is a group in each of them.
        """
        return float(self.n_effective.sum())

    @property
    def mean_residual_variance(self) -> float:
        """Variance of the mean residual of all rows, by how groups differ in it."""
        residual, weight = self._row_sums
        total, n = weight.sum(), float((weight > 0).sum())
        centred = residual - weight * (residual.sum() / total)
        return float(self._same @ centred**2) / total**2 * n / max(n - 1, 1)

    @property
    def scale(self) -> np.ndarray:
        """Factor of each product r_i r_j in the debiased square."""
        return self.weight / self.weight.sum() / self.pair_count

    def debiased_square(self) -> float:
        """Return sum_b w_b sum r_i r_j / number of pairs, over different groups."""
        return float(self.scale @ self.pair_residual)

    def centred(self) -> sparse.csr_array:
        """Return the sums of residuals less the mean residual of their set."""
        mean = np.asarray(self.residual.sum(axis=0)) / np.asarray(
            self.count.sum(axis=0)
        )
        return (self.residual - self.count * mean).tocsr()

    def product_moments(self, table: sparse.csr_array) -> tuple[float, float]:
        """Return the variance and third moment of the sum of group products.

        These are 2 sum h^2 and 8 sum h h h over different groups c, d with
        h = sum_b scale_b table_cb table_db: exact for the sum with random signs of
        the groups. The third moment of many groups is that of independent bins with
        the same variances.
        """
        root = self._part @ (table * np.sqrt(self.scale))
        # What a group would give with itself; in m equal parts, each gives 1 / m of it.
        own = np.asarray((root * root).sum(axis=1)) * self._same
        twice = float(own @ (own / self._same))
        if (1 / self._same).sum() <= 2000:
            h = (root @ root.T).toarray()
            squared = h @ h
            thrice = 3 * np.diag(squared) @ own - 2 * own**2 @ (own / self._same)
            third = float((squared * h).sum() - thrice)
            return 2 * (float(np.trace(squared)) - twice), 8 * third
        second = 2 * (_squared_norm(root) - twice)
        bins = _column_squares(root)
        shape = float((bins**3).sum() ** 2 / (bins**2).sum() ** 3)
        # skewness of a weighted sum of chi squares, on the variance found
        return second, float(np.sqrt(8 * second**3 * shape))

    def mean_variance(self, table: sparse.csr_array) -> np.ndarray:
        """Return the variance of the mean residual of each set.

        One group of variance q (1 - q) is added to those that were seen, since labels
        that never came would have none.
        """
        n, m = np.asarray(self.count.sum(axis=0)), self.n_effective
        seen = _column_squares(self._part @ table) / n**2
        return (m * seen + self.label_variance / m) / (m + 1)

    def null_variance(self) -> np.ndarray:
        """Return the variance of the mean residual under perfect calibration.

        As seen, where labels are expected to vary in several groups of the set; where
        not even in one, that of groups whose rows are all alike.
        """
        n, m = np.asarray(self.count.sum(axis=0)), self.n_effective
        seen = _column_squares(self._part @ self.residual) / n**2
        varying = (m * self.label_variance) ** 2
        return (varying * seen + self.label_variance / m) / (varying + 1)

    def error_noise(self, table: sparse.csr_array) -> float:
        """Return sum_c (sum_b w_b D_b table_cb / n_b)^2, D_b without group c.

        `table` are centred sums. A group that is in the mean residual D_b as well would
        make large noise meet a large error, or a small one, where labels are skewed.
        """
        n, r = np.asarray(self.count.sum(axis=0)), np.asarray(self.residual.sum(axis=0))
        own, own_n = (each.tocoo() for each in (self.residual, self.count))
        group, column = own_n.coords
        rest_n = n[column] - own_n.data * self._same[group]
        rest = r[column] - own.data * self._same[group]
        alone = rest_n <= 1e-9 * n[column]
        mean = np.where(alone, (r / n)[column], rest / np.where(alone, 1, rest_n))
        factor = sparse.coo_array((mean, (group, column)), shape=own.shape).tocsr()
        linear = (self._part @ (factor * table)) @ (self.weight / self.weight.sum() / n)
        return float(linear @ linear)


def _table(values: np.ndarray, place: tuple, shape: tuple) -> sparse.csr_array:
    table = sparse.coo_array((values, place), shape=shape).tocsr()
    table.sum_duplicates()
    return table


def _column_squares(table: sparse.csr_array) -> np.ndarray:
    return np.asarray((table * table).sum(axis=0))


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
