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
from functools import cached_property

import numpy as np
from scipy import sparse

from .._errors import ParameterError
from .._pairs import Pairs
from ._binning import Binning
from ._bins import sum_bins
from ._sorted_pairs import SortedCells

# Entries of a block of products that are held at once (12 bytes each).
_BLOCK = 20_000_000


class GroupedRows:
    """Dependent pairs in ascending order of q, which all binnings of them share.

    Attributes
    ----------
    cells : SortedCells
        Tie classes; a row without weight has weight 1.
    first : ndarray of shape (n_cells + 1,), int
        First row of each class, and the number of rows.
    group : ndarray of shape (n_rows,), int
        Code of the group.
    residual, weight : ndarray of shape (n_rows,)
        w r and w, with r = q - y.
    repeats : ndarray of shape (n_codes,), or None
        How many independent groups each group stands for; 1 where None.
    n_codes, n_groups : int
        Number of codes of groups, and of those that have rows.
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
        self.variance = self.weight * q * (1 - q)
        self.group = pairs.groups[order]
        size = np.bincount(self.group)
        self.n_codes = size.size
        self.n_groups = int(np.count_nonzero(size))
        self.are_single = int(size.max()) == 1
        self.repeats: np.ndarray | None = None
        if pairs.repeats is not None:
            repeats = pairs.repeats[: self.n_codes]
            self.repeats = np.where(repeats > 0, repeats, 1)  # 0: no row is left of it

    def rows_of(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of some tie classes, and how many there are of each."""
        size = self.first[cells + 1] - self.first[cells]
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        return np.repeat(self.first[cells], size) + offset, size


@dataclass(frozen=True)
class _Entries:
    """Sums of w r and of w by group and set, one entry for each pair that meets.

    Where a group stands for m groups, the squares of its entries are over m.
    """

    group: np.ndarray
    set: np.ndarray
    residual: np.ndarray
    count: np.ndarray

    def squares(
        self, values: np.ndarray, n_sets: int, repeats: np.ndarray | None
    ) -> np.ndarray:
        """Return the sum over the groups of the squared values of each set."""
        square = values * values
        if repeats is not None:
            square /= repeats[self.group]
        return np.bincount(self.set, square, n_sets)


def _entries(
    rows: GroupedRows, row: np.ndarray, where: np.ndarray, chance: np.ndarray | None
) -> _Entries:
    """Return the sums over rows that are in a set with some chance, 1 where None."""
    group, residual, count = rows.group[row], rows.residual[row], rows.weight[row]
    if chance is not None:
        residual, count = chance * residual, chance * count
    if not rows.are_single:
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
    return _Entries(group, where, residual, count)


class GroupedBins:
    """Sums over bins, by group.

    A bin that lies wholly inside one tie class has the same mean as every other such
    bin of the class, so these are held as one *set* with the weight of them all; every
    other bin is a set of its own. The sorted `rows` of the pairs may be passed where
    several binnings share them.

    Attributes
    ----------
    weight : ndarray of shape (n_sets,)
        Total weight of the set.
    pair_residual, pair_count : ndarray of shape (n_sets,)
        Expected sums of r_i r_j and number of pairs, i and j from different groups.
    residual, count : csr_array of shape (n_groups, n_sets)
        Expected sums of w r and of w, r = q - y.
    label_variance : ndarray of shape (n_sets,)
        Mean of q (1 - q).
    n_effective : ndarray of shape (n_sets,)
        Number of groups that would tell as much if all were of one size.
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
        """Place every row in its sets: one, or up to three for a divided tie class."""
        cells, sums, shares = self._rows.cells, self.sums, self.sums.shares
        n_bins = sums.weight.size
        inside = shares.taken == sums.weight[shares.bin]
        n_ties = int(shares.tie.max()) + 1 if shares.tie.size else 0
        # the inner bins of divided class k are set n_bins + k
        inner = np.bincount(shares.tie[inside], shares.taken[inside], n_ties)
        weight = np.r_[sums.weight, inner]
        weight[shares.bin[inside]] = 0
        # sets of no weight are left out
        number = np.cumsum(weight > 0) - 1
        self.weight = weight[weight > 0]
        self._edge = ~inside
        tie_cell = np.searchsorted(cells.q, shares.value)
        self._edge_set = number[shares.bin[self._edge]]
        self._edge_cell = tie_cell[self._edge]
        cell_set = number[
            np.searchsorted(self.bounds[1:-1], cells.end - cells.weight, "right")
        ]
        row_set = np.repeat(cell_set, np.diff(self._rows.first))
        self._row, self._set = np.arange(row_set.size), row_set
        self._chance: np.ndarray | None = None
        if not n_ties:
            return
        whole = np.ones(cells.q.size, dtype=bool)
        whole[tie_cell] = False
        undivided = np.flatnonzero(np.repeat(whole, np.diff(self._rows.first)))
        has_inner = np.flatnonzero(inner > 0)
        first_share = np.unique(shares.tie, return_index=True)[1]
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
        self._entries = whole = _entries(rows, self._row, self._set, self._chance)
        taken, size = shares.taken[self._edge], shares.total[self._edge]
        drawn = taken * (size - taken) / np.maximum(size - 1, 1)
        known, column = np.unique(self._edge_cell, return_inverse=True)
        row, n_rows = rows.rows_of(known)
        tied = _entries(rows, row, np.repeat(np.arange(known.size), n_rows), None)

        def products(values: np.ndarray, tied_values: np.ndarray) -> np.ndarray:
            sums = np.bincount(whole.set, values, n_sets)
            between = sums**2 - whole.squares(values, n_sets, rows.repeats)
            tied_sums = np.bincount(tied.set, tied_values, known.size)
            squares = tied.squares(tied_values, known.size, rows.repeats)
            inside = (squares - tied_sums**2)[column] / size**2
            total = between + np.bincount(self._edge_set, drawn * inside, n_sets)
            # What rounding alone can make is zero: a root would turn 1e-17 into 3e-9.
            noise = 16 * np.finfo(np.float64).eps * (2 * sums**2 - between)
            return np.where(np.abs(total) <= noise, 0, total)

        self.pair_residual = products(whole.residual, tied.residual)
        self.pair_count = products(whole.count, tied.count)

    def _table(self, values: np.ndarray) -> sparse.csr_array:
        place, shape = (self._entries.group, self._entries.set), self._shape
        return sparse.coo_array((values, place), shape=shape).tocsr()

    @property
    def _shape(self) -> tuple[int, int]:
        return self._rows.n_codes, self.weight.size

    @cached_property
    def residual(self) -> sparse.csr_array:
        """Expected sum of w r of each group in each set."""
        return self._table(self._entries.residual)

    @cached_property
    def count(self) -> sparse.csr_array:
        """Expected sum of w of each group in each set."""
        return self._table(self._entries.count)

    @cached_property
    def _same(self) -> np.ndarray:
        """1 / m for a group that stands for m groups."""
        repeats = self._rows.repeats
        return np.ones(self._rows.n_codes) if repeats is None else 1 / repeats

    @cached_property
    def _part(self) -> sparse.dia_array:
        # A group that stands for m of them has m parts of 1/m: squares are over m.
        return sparse.diags_array(np.sqrt(self._same))

    @cached_property
    def label_variance(self) -> np.ndarray:
        """Mean of q (1 - q) in each set."""
        variance = self._rows.variance[self._row]
        if self._chance is not None:
            variance = self._chance * variance
        n_sets = self.weight.size
        n = np.bincount(self._entries.set, self._entries.count, n_sets)
        return np.bincount(self._set, variance, n_sets) / n

    @cached_property
    def n_effective(self) -> np.ndarray:
        """Number of groups of equal size that would tell as much, in each set."""
        entries, n_sets = self._entries, self.weight.size
        n = np.bincount(entries.set, entries.count, n_sets)
        return n**2 / entries.squares(entries.count, n_sets, self._rows.repeats)

    @property
    def several_groups(self) -> np.ndarray:
        """Whether each set has rows of different groups."""
        return self.pair_count > 1e-9 * self.weight**2

    def check_several_groups(self) -> None:
        """Raise if a set holds rows of a single group."""
        lone = ~self.several_groups
        if lone.any():
            b = int(lone.argmax())
            size = "" if self.bin_size is None else f" of size {self.bin_size}"
            raise ParameterError(
                None,
                "needs rows of two groups or more in every bin (without "
                "'groups', each row of pooled classes is a group). Got one group "
                f"in {int(lone.sum())} of {lone.size} bins{size}, first in bin {b}: "
                "use a larger 'bin_size', or groups that are smaller.",
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
        rows = self._rows
        residual, weight = (
            np.bincount(rows.group, each, rows.n_codes)
            for each in (rows.residual, rows.weight)
        )
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


def are_single_rows(pairs: Pairs) -> bool:
    """Return whether each pair is a group of weight 1.

    The products of rows of different groups are then those of different rows.
    """
    if pairs.row_groups is None or pairs.row_weight is not None or pairs.n_classes > 1:
        return False
    return int(np.bincount(pairs.row_groups).max()) == 1


def grouped_bins(
    pairs: Pairs, binning: Binning, *, may_grow: bool = False
) -> GroupedBins:
    """Return bins of dependent rows that all hold rows of two groups or more.

    Automatic bins, and those that `may_grow`, are doubled until they do; others raise.
    """
    rows = GroupedRows(pairs)
    bins = GroupedBins(pairs, binning, rows)
    if may_grow or binning.is_automatic:
        while not bins.several_groups.all() and bins.sums.weight.size > 1:
            assert bins.bin_size is not None
            doubled = Binning(2 * bins.bin_size, None, "quantile")
            bins = GroupedBins(pairs, doubled, rows)
    bins.check_several_groups()
    return bins


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
