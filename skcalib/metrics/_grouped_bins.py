"""Bins of dependent rows: sums by group (sentence, document) and bin.

Rows of one group may depend on each other in any way, so only products of rows from
different groups are used. The sum of these products over a bin, divided by their
number, has the same mean as for independent rows.

Let p be the share of a tie class that belongs to a bin. The mean over the orders of the
class replaces (sum r)^2 by (p sum r)^2 plus the variance of a draw without replacement.
This is done both for the bin and for each group in it. Sums of squares of single rows
cancel.

Three things vary from sample to sample: the labels, the part of the error that is
common to a group, and the choice of the groups. Leaving out one group at a time (the
jackknife) measures all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .._errors import ParameterError
from .._pairs import Pairs
from ._bins import (
    FOR_GROUPS,
    FOR_INTERVAL,
    Binning,
    Ordered,
    first_of_each,
    merge_ties,
    order_pairs,
    without_noise,
)

# Number of entries of a block of products (12 bytes each).
_BLOCK = 20_000_000

# Number of products that are computed together (48 bytes each).
_PRODUCTS = 2**17

# Number of entries of groups that are multiplied together, which the cache can hold.
_ENTRIES = 20_000

# Sums of more pairs of sets than this, and than seven for each entry, are not stored
# in one table (8 bytes for each pair in both orders), but in tables of `_PART` sums.
_CELLS, _PART = 4_000_000, 2**16

# This number of pairs in such tables takes the time of one product. If most of the time
# would be theirs, only pairs that have products are stored.
_EMPTY = 20

# A product of dense tables needs one part in this number of the time of a sparse one.
_DENSE_GAIN = 64

# Share of the estimated degrees of freedom that is used: a sample of few groups seldom
# contains the large groups. In benchmarks/interval_constants.py, larger shares lower
# the coverage for 100 groups of Zipf sizes, and smaller shares make intervals wider.
_SEEN = 0.6

# Bins are made wider if at least this factor is needed, as between candidate sizes.
_WIDER = 1.25

# Bins of rows of unequal weights have this share of the root of their number.
_SHARE = 0.8

# Largest size of a table of groups and sets that is stored densely (8 bytes each).
_DENSE = 4_000_000


class GroupedRows:
    """Dependent pairs in the order of their groups, used by all their binnings.

    Attributes
    ----------
    ordered : Ordered
        The pairs in ascending order of q, without their groups.
    proba : ndarray of shape (n_rows,)
        w q.
    weight : ndarray of shape (n_rows,) or None
        Weights w. If None, they are 1.
    group : ndarray of shape (n_rows,), int
        Code of the group, in ascending order.
    same : ndarray of shape (n_codes,)
        1 / m for a group that represents m independent groups.
    n_groups : int
        Number of groups that have rows.
    are_single : bool
        Whether no group has two rows.
    """

    def __init__(self, pairs: Pairs):
        assert pairs.groups is not None
        group, q, positive = pairs.groups, pairs.q, pairs.indicator()
        weight, row_total, repeats = pairs.weight, pairs.row_total, pairs.repeats
        if (group[1:] < group[:-1]).any():
            by_group = order_of_codes(group)
            group, q, positive = group[by_group], q[by_group], positive[by_group]
            weight = None if weight is None else weight[by_group]
        self.group: np.ndarray = group.astype(_code_type(group.size), copy=False)
        self.weight = weight
        self._q = q = q.astype(np.float64, copy=False)
        self._positive, self.proba = positive, q
        self._first: np.ndarray | None = None
        if weight is None:
            # Sorting without a permutation takes a quarter of the time.
            self.ordered = order_pairs(pairs)
            self._sorted_q = self.ordered.rows.q
        else:
            order = self._order
            self._sorted_q = q[order]
            self._first = np.append(first_of_each(self._sorted_q), q.size)
            self.ordered = merge_ties(
                self._sorted_q, positive[order], weight[order], row_total
            )
            self.proba = q * weight
        size = np.bincount(self.group)
        self.n_groups = int(np.count_nonzero(size))
        self.are_single = int(size.max()) == 1
        self.same = np.ones(size.size)
        if repeats is not None:
            repeats = repeats[: size.size]
            self.same /= np.where(repeats > 0, repeats, 1)  # 0: a group without rows

    @cached_property
    def _order(self) -> np.ndarray:
        """Rows in ascending order of q; without weights, only divided ties need it."""
        return np.argsort(self._q).astype(_code_type(self._q.size))

    @property
    def residual(self) -> np.ndarray:
        """Return w r of each row, with r = q - y."""
        residual = self._q - self._positive
        return residual if self.weight is None else residual * self.weight

    @property
    def variance(self) -> np.ndarray:
        """Return w q (1 - q) of each row."""
        q = self.proba if self.weight is None else self.proba / self.weight
        return self.proba * (1 - q)

    def bin_of_rows(self, bounds: np.ndarray) -> np.ndarray:
        """Return the bin of each row; a divided tie class is in any of its bins.

        With weights, a number of `ordered` is a whole tie class.
        """
        cut = self.ordered.rows.index(bounds[1:-1])
        unsure = np.zeros(0, dtype=np.intp)
        if self._first is not None:
            cut, order = self._first[cut], self._order
        else:
            # Bits of numbers that are not negative ascend as the numbers do.
            lost = self._q.size.bit_length()
            bits = (self._q + 0.0).view(np.int64)
            bits >>= lost
            order, bits = _sort_with_places(bits, 62 - lost)
            # Probabilities that differ in the lost bits may be on either side of a cut.
            at = bits[cut[bits[cut - 1] == bits[cut]]]
            if at.size:
                inside = np.zeros(bits.size + 1, dtype=np.int32)
                np.add.at(inside, np.searchsorted(bits, at, side="left"), 1)
                np.add.at(inside, np.searchsorted(bits, at, side="right"), -1)
                unsure = order[inside.cumsum()[:-1] > 0]
        size = np.diff(np.r_[0, cut, self.group.size])
        found = np.empty(self.group.size, dtype=np.int32)
        found[order] = np.repeat(np.arange(size.size, dtype=np.int32), size)
        found[unsure] = np.searchsorted(
            self._sorted_q[cut], self._q[unsure], side="right"
        )
        return found

    def rows_with(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that have one of some q, and the number of rows of each."""
        start = np.searchsorted(self._sorted_q, values, side="left")
        size = np.searchsorted(self._sorted_q, values, side="right") - start
        if not values.size:
            return np.zeros(0, dtype=np.intp), size
        # 0, 1, ... inside each class
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        return self._order[np.repeat(start, size) + offset], size


@dataclass(frozen=True)
class Entries:
    """Sums of w r and of w, for each group and set that have rows in common.

    Entries are in the order of groups, and in the order of sets inside a group.
    If a group represents m groups, the squares of its entries are divided by m.
    """

    group: np.ndarray
    set: np.ndarray
    residual: np.ndarray
    count: np.ndarray
    shape: tuple[int, int]
    same: np.ndarray

    def by_set(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the groups of each set."""
        return np.ones(self.shape[0]) @ self.table(values)

    def by_group(
        self, values: np.ndarray, factor: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the sum over the sets of each group, with a factor of each set."""
        return self.table(values) @ (
            np.ones(self.shape[1]) if factor is None else factor
        )

    @cached_property
    def _part(self) -> np.ndarray | None:
        """1 / m for each entry of a group that represents m groups, if m varies."""
        return None if (self.same == 1).all() else self.same[self.group]

    def of_one(self, values: np.ndarray) -> np.ndarray:
        """Return the values, divided by m if the group represents m groups."""
        return values if self._part is None else values * self._part

    def squares(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the groups of the squared values of each set."""
        return self.same @ self.table(np.square(values, dtype=np.float64))

    @cached_property
    def residual_squares(self) -> np.ndarray:
        """Sum over the groups of the squared sums of w r of each set."""
        return self.squares(self.residual)

    @cached_property
    def count_squares(self) -> np.ndarray:
        """Sum over the groups of the squared sums of w of each set."""
        return self.squares(self.count)

    def table(self, values: np.ndarray) -> sparse.csr_array:
        """Return the values as a sparse table of groups and sets."""
        return sparse.csr_array((values, self.set, self._ends_of_groups), self.shape)

    @cached_property
    def _ends_of_groups(self) -> np.ndarray:
        ends = np.searchsorted(self.group, np.arange(self.shape[0] + 1))
        return ends.astype(_code_type(self.group.size))

    def blocks(self) -> Iterator[slice]:
        """Yield consecutive entries whose temporary values the cache can hold."""
        for start in range(0, self.group.size, _ENTRIES):
            yield slice(start, start + _ENTRIES)

    @property
    def is_small(self) -> bool:
        """Whether the exact third moment is computed."""
        return self.shape[0] * self.shape[1] <= _DENSE and min(self.shape) <= 1000

    @cached_property
    def _n_products(self) -> tuple[float, float]:
        """Numbers of products of root^T root and of root root^T."""
        per_group = np.diff(self._ends_of_groups).astype(float)
        per_set = np.bincount(self.set).astype(float)
        return float(per_group @ per_group), float(per_set @ per_set)

    def _lines(self, of_groups: bool) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return the ends of units, the lines of entries, and the order of entries.

        The products of two lines, which are sets or groups, are summed over the units,
        which are the other ones. Lines ascend inside a unit.
        """
        if not of_groups:
            return self._ends_of_groups, self.set, slice(None)
        order = order_of_codes(self.set)
        ends = np.searchsorted(self.set[order], np.arange(self.shape[1] + 1))
        return ends, self.group[order], order

    def gram_moments(
        self, roots: Sequence[np.ndarray], owns: Sequence[np.ndarray]
    ) -> list[tuple[float, float, float]]:
        """Return tr H^2, tr H^3 and the sum of own_c (H^2)_cc for H = root root^T.

        There are one or two roots, with the numbers `own` of each. root^T root has the
        same traces, so the smaller of the two matrices is used.
        """
        n_groups, n_sets = self.shape
        of_groups, n_lines = n_groups <= n_sets, min(self.shape)
        # The last sum is the trace of root^T own root, times root^T root.
        columns = [*roots]
        if not of_groups:
            pairs = zip(roots, owns, strict=True)
            columns += [root * np.sqrt(own)[self.group] for root, own in pairs]
        size = float(n_groups * n_sets) * n_lines
        if _DENSE_GAIN * self._n_products[of_groups] > size:
            tables = (self.table(values).toarray() for values in columns)
            h = [each @ each.T if of_groups else each.T @ each for each in tables]
        else:
            ends, line, order = self._lines(of_groups)
            columns = [values[order] for values in columns]
            h, above = [], np.triu_indices(n_lines, 1)
            sums = _sums_of_products(ends, line, n_lines, columns)
            for k, values in enumerate(columns):
                table = np.diag(np.bincount(line, values * values, n_lines))
                table[above] = table.T[above] = sums[k // 2][:, k % 2]
                h.append(table)
        found = []
        for k, own in enumerate(owns):
            square = h[k] @ h[k]
            if of_groups:
                weighted = float(np.diag(square) @ own)
            else:
                weighted = float((h[k] * h[len(owns) + k]).sum())
            norm, cube = (float((h[k] * each).sum()) for each in (h[k], square))
            found.append((norm, cube, weighted))
        return found

    def gram_norms(
        self, columns: Sequence[np.ndarray], scale: np.ndarray
    ) -> list[float]:
        """Return tr H^2 for H = root^T root, a matrix of products of sets.

        The root of each of the one or two columns of values is value sqrt(scale / m).
        root root^T has the same trace, so the matrix that takes less time is used.
        """
        if self._part is not None:
            columns = [values * np.sqrt(self._part) for values in columns]
        n_groups, n_sets = self.shape
        by_set, by_group = self._n_products
        if by_set <= by_group and n_sets**2 <= max(_CELLS, 7 * self.group.size):
            diagonals = [scale * self.by_set(values * values) for values in columns]
            sums = _sums_of_products(self._ends_of_groups, self.set, n_sets, columns)
            total = np.array([float(each @ each) for each in diagonals])
            stops = np.cumsum(np.arange(n_sets)[::-1]).tolist()
            for i, (start, stop) in enumerate(pairwise([0, *stops])):
                upper = scale[i + 1 :] @ sums[0][start:stop] ** 2
                total += 2 * scale[i] * upper[: len(columns)]
            return total.tolist()
        columns = [values * np.sqrt(scale)[self.set] for values in columns]
        cost_of_sets = by_set + n_sets**2 / _EMPTY
        cost_of_groups = by_group + n_groups**2 / _EMPTY
        if min(cost_of_sets, cost_of_groups) > 2 * min(by_set, by_group):
            norms = []
            for values in columns:
                table = self.table(values)
                sides = table.T.tocsr(), table
                norms.append(
                    squared_norm(*(sides if by_set <= by_group else sides[::-1]))
                )
            return norms
        of_groups = cost_of_groups < cost_of_sets
        ends, line, order = self._lines(of_groups)
        columns = [values[order] for values in columns]
        return _norms_in_parts(ends, line, self.shape[not of_groups], columns)


def _blocks_of_units(ends: np.ndarray) -> Iterator[np.ndarray]:
    """Yield entries of some units with equally many, entry i of each in row i."""
    sizes = np.diff(ends)
    for m in np.unique(sizes[sizes > 1]):
        start = ends[:-1][sizes == m]
        step = max(1, _ENTRIES // m)
        for k in range(0, start.size, step):
            yield start[k : k + step] + np.arange(m)[:, np.newaxis]


def _sums_of_products(
    ends: np.ndarray, line: np.ndarray, n_lines: int, columns: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return the sums over units of the products of each two lines.

    Each table has the columns of sums of one or two `columns`. The rows of line 0 with
    each later line come first. Units of equal sizes are multiplied together.
    """
    lower = np.arange(n_lines)
    before = lower * (n_lines - 1) - lower * (lower + 1) // 2 - 1
    # The sums of two columns are the parts of complex numbers, which are added at once.
    # Most of the time is spent on the access to their place in the table.
    n_pairs, pairs = n_lines * (n_lines - 1) // 2, range(0, len(columns), 2)
    tables = [np.zeros(n_pairs, dtype=np.complex128) for _ in pairs]
    for entry in _blocks_of_units(ends):
        lines = line[entry].astype(np.intp)
        tabled = [values[entry] for values in columns]
        for i in range(len(lines) - 1):
            place = (lines[i + 1 :] + before[lines[i]]).ravel()
            product = np.empty(lines[i + 1 :].shape, dtype=np.complex128)
            product.imag[:] = 0 if len(columns) == 1 else product.imag
            for k, table in zip(pairs, tables, strict=True):
                outs = (product.real, product.imag)
                for each, out in zip(tabled[k : k + 2], outs, strict=False):
                    np.multiply(each[i], each[i + 1 :], out=out)
                np.add.at(table, place, product.ravel())
    return [table.view(np.float64).reshape(-1, 2) for table in tables]


def _norms_in_parts(
    ends_of_units: np.ndarray,
    line: np.ndarray,
    n_lines: int,
    columns: Sequence[np.ndarray],
) -> list[float]:
    """Return the squared Frobenius norm of the table of products of lines.

    The products are summed as in `_sums_of_products`, but in parts of consecutive lower
    lines.
    """
    order = order_of_codes(line)
    # number of entries of the unit with higher lines
    later = np.repeat(ends_of_units[1:], np.diff(ends_of_units))
    later = (later - np.arange(1, line.size + 1))[order]
    ends = np.searchsorted(line[order], np.arange(n_lines + 1))
    total = np.array([(np.bincount(line, each * each) ** 2).sum() for each in columns])
    # As above, the sums of two columns are the parts of complex numbers.
    values = columns[0] + 1j * columns[1] if len(columns) == 2 else columns[0]
    low = 0
    while low < n_lines:
        width = n_lines - low
        high = low + max(1, min(width, _PART // width))
        h = np.zeros((high - low) * width, dtype=values.dtype)
        inside = order[ends[low] : ends[high]]
        n_later = later[ends[low] : ends[high]]
        for start, stop in pairwise(_parts(n_later, _PRODUCTS)):
            entry, count = inside[start:stop], n_later[start:stop]
            # the entries after each entry
            skipped = entry + 1 - (np.cumsum(count) - count)
            other = np.arange(count.sum()) + np.repeat(skipped, count)
            place = np.repeat((line[entry] - low) * np.int64(width) - low, count)
            place += line[other]
            product = np.repeat(values[entry], count).view(np.float64)
            product *= values[other].view(np.float64)
            np.add.at(h, place, product.view(values.dtype))
        squares = h.view(np.float64)
        squares *= squares
        by_column = np.ones(high - low) @ squares.reshape(high - low, -1)
        total += 2 * by_column.reshape(width, -1).sum(axis=0)
        low = high
    return total.tolist()


def _code_type(n: int) -> type:
    """Return the type of indices below n; smaller ones need half of the memory."""
    return np.int32 if n < 2**31 else np.int64


def order_of_codes(codes: np.ndarray) -> np.ndarray:
    """Return the stable order of integers from 0.

    NumPy sorts integers of 16 bits in linear time, and others five times as slowly.
    """
    order = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    top = int(codes.max(initial=0))
    while top := top >> 16:
        codes = codes >> 16
        digit = (codes & 0xFFFF).astype(np.uint16)[order]
        order = order[np.argsort(digit, kind="stable")]
    return order


def _sort_with_places(keys: np.ndarray, n_bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the stable order of integers of at most `n_bits` bits, and sort them.

    The keys are overwritten. Sorting numbers whose last bits are their places takes
    half of the time of sorting places.
    """
    bits = keys.size.bit_length()
    if n_bits + bits >= 64:
        order = np.argsort(keys, kind="stable")
        return order, keys[order]
    keys <<= bits
    keys += np.arange(keys.size)
    keys.sort()
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    return order, keys


def _entries(
    rows: GroupedRows,
    row: slice | np.ndarray,
    where: np.ndarray,
    n_sets: int,
    chance: np.ndarray | None = None,
) -> Entries:
    """Return the sums over rows, weighted by the chance of each row if it is given."""
    group, residual = rows.group[row], rows.residual[row]
    weight = None if rows.weight is None else rows.weight[row]
    if chance is not None:
        residual = chance * residual
        weight = chance if weight is None else chance * weight
    if rows.are_single and isinstance(row, slice):
        count = np.ones(group.size) if weight is None else weight
    else:
        # Groups ascend, which makes it quicker to sort them.
        key = group * np.int64(n_sets)
        key += where
        order, key = _sort_with_places(key, (rows.same.size * n_sets).bit_length())
        first = first_of_each(key)
        # Each of these arrays is as large as a column.
        del key
        residual, at = residual[order], order[first]
        weight = None if weight is None else weight[order]
        del order
        group, where = group[at], where[at]
        del at
        if weight is None:  # exact in half of the memory, unless there are very many
            exact = np.float32 if residual.size < 2**24 else np.float64
            count = np.diff(first, append=residual.size).astype(exact)
        else:
            count = np.add.reduceat(weight, first) if first.size else weight
        if first.size < residual.size:
            residual = np.add.reduceat(residual, first)
    return Entries(group, where, residual, count, (rows.same.size, n_sets), rows.same)


class GroupedBins:
    """Sums over bins, by group.

    Bins that lie completely inside the same tie class have the same mean. They are
    stored as one *set* with their total weight. Every other bin is a separate set.

    Attributes
    ----------
    bins : Bins
        Sums over the bins of all rows.
    weight : ndarray of shape (n_sets,)
        Total weight of the set.
    share : ndarray of shape (n_sets,)
        The weight, divided by the total weight.
    pair_residual, pair_count : ndarray of shape (n_sets,)
        Expected sums of r_i r_j and expected number of pairs, with i and j from
        different groups.
    scale : ndarray of shape (n_sets,)
        Factor of each product r_i r_j in the debiased square.
    debiased_square : float
        sum_b w_b sum r_i r_j / number of pairs, over different groups.
    several_groups : ndarray of shape (n_sets,), bool
        Whether the set has rows of different groups.
    residual_sum, count_sum : ndarray of shape (n_sets,)
        Expected sums of w r and of w, with r = q - y.
    entries : Entries
        Expected sums of w r and of w by group.
    label_variance, mean_proba : ndarray of shape (n_sets,)
        Means of q (1 - q) and of q.
    set_of_bin : ndarray of shape (n_bins,), int
        The set of each bin.
    n_effective : ndarray of shape (n_sets,)
        Number of groups of equal size that would carry the same information.
    same : ndarray of shape (n_codes,)
        1 / m for a group that represents m groups.
    group_weight : ndarray of shape (n_codes,)
        Total weight of each group.
    n_groups, n_independent : int and float
        Number of groups. In `n_independent`, a group that represents m groups is
        counted m times.
    n_effective_groups : float
        Effective number of groups of equal size: (sum n)^2 / sum n^2.
    """

    def __init__(self, rows: GroupedRows, binning: Binning):
        self._rows, self.same, self.n_groups = rows, rows.same, rows.n_groups
        self.bins = binning.bins(rows.ordered)
        self._place()
        self._multiply()
        self.label_variance = self._mean(rows.variance)
        self.mean_proba = self._mean(rows.proba)
        del self._row, self._set, self._chance  # as large as columns
        e, n = self.entries, self.count_sum
        self.group_weight = size = e.by_group(e.count)
        self.n_independent = float((1 / self.same[size > 0]).sum())
        self.n_effective_groups = float(size.sum()) ** 2 / float(self.same @ size**2)
        self.n_effective = n**2 / e.count_squares

    @cached_property
    def centred(self) -> np.ndarray:
        """The sums of w r in `entries`, minus the mean residual of their set."""
        e, mean = self.entries, self.residual_sum / self.count_sum
        return e.residual - e.count * mean[e.set]

    @property
    def ordered(self) -> Ordered:
        """The pairs in ascending order of q, without their groups."""
        return self._rows.ordered

    @property
    def repetition(self) -> float:
        """Mean number of rows in the group and the set of a row, and at least 1.

        The number of other rows that is expected if groups are independent of
        probabilities is subtracted, because these rows do not repeat each other.
        """
        e, size = self.entries, self.group_weight
        total = float(size.sum())
        # theory, (G8)
        in_set = float(e.count_squares.sum()) / total
        in_group = float(self.same @ size**2) / total
        by_chance = (in_group - 1) * float(self.share @ self.share)
        return max(in_set - by_chance, 1.0)

    @cached_property
    def mean_weight(self) -> float:
        """Mean weight of a row, by weight, and at most 1.

        It is 1 for rows of weight 1 and for frequencies, which stand for such rows.
        """
        weight = self._rows.weight
        if weight is None:
            return 1.0
        same = self.same[self._rows.group]
        return min(float(weight**2 @ same) / float(weight.sum()), 1.0)

    def _mean(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over each set of values that include the factor w."""
        values = values[self._row]
        if self._chance is not None:
            values = values * self._chance
        return np.bincount(self._set, values, self.weight.size) / self.count_sum

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
        bins, shares = self.bins, self.bins.shares
        n_bins, n_ties = bins.weight.size, int(shares.tie.max(initial=-1)) + 1
        # a bin that consists of one class only
        inside = shares.taken == bins.weight[shares.bin]
        edge = ~inside
        # the inner bins of divided class k are set n_bins + k
        inner = np.bincount(shares.tie[inside], shares.taken[inside], n_ties)
        weight = np.r_[bins.weight, inner]
        weight[shares.bin[inside]] = 0
        # Sets of no weight are left out; `number` is meaningless for them.
        number = (np.cumsum(weight > 0) - 1).astype(np.int32)
        self.set_of_bin = number[:n_bins].copy()
        self.set_of_bin[shares.bin[inside]] = number[n_bins + shares.tie[inside]]
        self.weight = weight[weight > 0]
        self._edge_value, self._edge_set = shares.value[edge], number[shares.bin[edge]]
        self._edge_taken, self._edge_total = shares.taken[edge], shares.total[edge]
        self._row: slice | np.ndarray = slice(None)
        self._chance: np.ndarray | None = None
        bin_of = self._rows.bin_of_rows(bins.bounds)
        if not n_ties:
            self._set = number[bin_of]
            return
        # Rows of whole classes, then of divided classes: once for each bin at an edge
        # of the class, and once for its inner set.
        value = np.zeros(n_ties)
        value[shares.tie] = shares.value
        has_inner = np.flatnonzero(inner > 0)
        divided, _ = self._rows.rows_with(value)
        whole = np.ones(bin_of.size, dtype=bool)
        whole[divided] = False
        whole = np.flatnonzero(whole)
        more, size = self._rows.rows_with(np.r_[self._edge_value, value[has_inner]])
        where = np.r_[self._edge_set, number[n_bins + has_inner]]
        share = np.r_[self._edge_taken / self._edge_total, np.ones(has_inner.size)]
        self._row = np.r_[whole, more]
        self._set = np.r_[number[bin_of[whole]], np.repeat(where, size)]
        self._chance = np.r_[np.ones(whole.size), np.repeat(share, size)]

    def _multiply(self) -> None:
        """Sum the products of rows from different groups in each set."""
        rows, n_sets = self._rows, self.weight.size
        self.entries = whole = _entries(
            rows, self._row, self._set, n_sets, self._chance
        )
        self.residual_sum = whole.by_set(whole.residual)
        self.count_sum = whole.by_set(whole.count)
        taken, size = self._edge_taken, self._edge_total
        drawn = taken * (size - taken) / np.maximum(size - 1, 1)
        # The sums of a whole class by group are needed once, though two bins share it.
        known, column = np.unique(self._edge_value, return_inverse=True)
        row, n_rows = rows.rows_with(known)
        tied = _entries(rows, row, np.repeat(np.arange(known.size), n_rows), known.size)

        def products(
            squares: np.ndarray, sums: np.ndarray, tied_values: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
            # theory, (C5)
            between = sums**2 - squares
            tied_sums = tied.by_set(tied_values)
            # theory, (C6)
            inside = (tied.squares(tied_values) - tied_sums**2)[column] / size**2
            total = between + np.bincount(self._edge_set, drawn * inside, n_sets)
            return total, 2 * sums**2 - between

        sums, scales = zip(
            products(whole.residual_squares, self.residual_sum, tied.residual),
            products(whole.count_squares, self.count_sum, tied.count),
            strict=True,
        )
        self.pair_residual, self.pair_count = without_noise(sums, scales)
        # theory, (C5), divided by the number of products
        self.share = self.weight / self.weight.sum()
        self.several_groups = some = self.pair_count > 1e-9 * self.weight**2
        # A set of one group has no products; it raises an error where it matters.
        self.scale = np.zeros(n_sets)
        np.divide(self.share, self.pair_count, out=self.scale, where=some)
        self.debiased_square = float(self.scale @ self.pair_residual)

    def check_several_groups(self) -> None:
        """Raise an error if a set contains rows of a single group."""
        lone = ~self.several_groups
        if lone.any():
            b, size = int(lone.argmax()), self.bins.bin_size
            of_size = "" if size is None else f" of size {size}"
            raise ParameterError(
                None,
                "needs rows of at least two groups in every bin (without "
                "'groups', each row of pooled classes is a group). Got one group "
                f"in {int(lone.sum())} of {lone.size} bins{of_size}, first in bin {b}. "
                "Use a larger 'bin_size', or smaller groups.",
            )

    def mean_residual_variance(self) -> float:
        """Variance of the mean residual of all rows, estimated between groups."""
        weight = self.group_weight
        residual = self.entries.by_group(self.entries.residual)
        total, n = weight.sum(), self.n_independent
        centred = residual - weight * (residual.sum() / total)
        return float(self.same @ centred**2) / total**2 * n / max(n - 1, 1)

    def product_moments(self, *columns: np.ndarray) -> list[tuple[float, float]]:
        """Return variance and third moment of the sum of group products of each column.

        These are 2 sum h^2 and 8 sum h h h over different groups c, d with h = sum_b
        scale_b value_cb value_db. They are exact for the sum with random signs of the
        groups. For many groups, the third moment is computed as for independent bins
        with the same variances.
        """
        e, same, found = self.entries, self.same, []
        # Product of a group with itself; each of m equal parts contributes 1 / m.
        sums = []
        for values in columns:
            squares = e.table(e.of_one(values * values))
            sums.append((squares @ self.scale * same, np.ones(same.size) @ squares))
            del squares  # as large as a column
        owns = [own for own, _ in sums]
        moments: Sequence[Any] = [None] * len(columns)
        if e.is_small:
            factor = np.sqrt(e.of_one(self.scale[e.set]))
            moments = e.gram_moments([values * factor for values in columns], owns)
            norms = [norm for norm, *_ in moments]
        else:
            norms = e.gram_norms(columns, self.scale)
        for norm, moment, (own, by_set) in zip(norms, moments, sums, strict=True):
            # theory, (G1); a stored group of m equal groups has m own squares
            second = 2 * max(norm - float(own @ (own / same)), 0.0)
            third = 0.0
            bins = self.scale * by_set
            if moment is not None:
                cubes = float(own**2 @ (own / same))
                third = 8 * (moment[1] - 3 * moment[2] + 2 * cubes)
            elif second > 0 and bins.any():
                bins = bins / bins.max()
                shape = float((bins**3).sum() / (bins**2).sum() ** 1.5)
                # skewness of a weighted sum of chi squares, scaled to the variance
                third = float(np.sqrt(8) * second**1.5 * shape)
            found.append((second, third))
        return found

    def mean_variance(self) -> np.ndarray:
        """Return the variance of the mean residual of each set.

        One group of variance q (1 - q) is added to the observed groups, since labels
        that never occur would have no variance.
        """
        m = self.n_effective
        seen = self.entries.squares(self.centred) / self.count_sum**2
        # theory, (G2), left
        return (m * seen + self.label_variance / m) / (m + 1)

    def repetition_of_bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how many of the `trials` of each bin count as one, at least 1.

        The second array has the degrees of freedom of this estimate.
        """
        m = self.n_effective
        positive = self.mean_proba - self.residual_sum / self.count_sum
        # A bin of one probability 0 or 1 has another variance if labels contradict it.
        variance = np.maximum(self.label_variance, positive * (1 - positive))
        seen = self.mean_variance() * m / np.maximum(m - 1, 0.5)
        of_one = np.divide(seen, variance, out=1 / m, where=variance > 0)
        of_bin = self.set_of_bin
        rows = np.maximum(of_one[of_bin] * self.bins.trials, 1)
        return rows, np.maximum(m - 1, 1)[of_bin]

    def null_variance(self) -> np.ndarray:
        """Return the variance of the mean residual under perfect calibration.

        The observed variance is used if labels are expected to vary in several groups
        of the set. If they are expected to vary in less than one group, the variance of
        groups with identical rows is used.
        """
        m = self.n_effective
        seen = self.entries.residual_squares / self.count_sum**2
        # theory, (G2), right
        varying = (m * self.label_variance) ** 2
        return (varying * seen + self.label_variance / m) / (varying + 1)

    def error_noise(self) -> float:
        """Return sum_c (sum_b w_b D_b r_cb / n_b)^2, D_b without group c.

        The r_cb are centred. Group c is left out of the mean residual D_b, because
        noise and error would otherwise be correlated for skewed labels.
        """
        e, n, r = self.entries, self.count_sum, self.residual_sum
        own_r, own_n, values = (
            e.of_one(e.residual),
            e.of_one(e.count),
            self.centred.copy(),
        )
        for b in e.blocks():
            column = e.set[b].astype(np.intp)
            all_n = n[column]
            mean, rest_n = r[column] - own_r[b], all_n - own_n[b]
            # If no other group is in the bin, the mean with the group is used.
            alone = np.flatnonzero(rest_n <= 1e-9 * all_n)
            mean[alone], rest_n[alone] = (r / n)[column[alone]], 1
            values[b] *= mean / rest_n
        # theory, (G3)
        return float(e.by_group(values, self.share / n) ** 2 @ self.same)

    def squares_left_out(self) -> np.ndarray:
        """Return the debiased square without each group.

        A group that represents several identical groups is left out once.
        """
        e = self.entries
        own_r, own_n = e.of_one(e.residual), e.of_one(e.count)
        pairs_r, pairs_n, weight = self.pair_residual, self.pair_count, self.weight
        before, after = weight * pairs_r / pairs_n, np.empty(e.set.size)
        for b in e.blocks():
            column, r, n = e.set[b].astype(np.intp), own_r[b], own_n[b]
            all_n = pairs_n[column]
            # Without group c, sum_{a != b} r_a r_b loses r_c times all others, twice.
            rest_r = pairs_r[column] - 2 * r * (self.residual_sum[column] - r)
            rest_n = all_n - 2 * n * (self.count_sum[column] - n)
            # If only one group is left in a bin, its term stays as it was.
            alone = np.flatnonzero(rest_n <= 1e-6 * all_n)
            rest_r[alone], rest_n[alone] = (pairs_r / pairs_n)[column[alone]], 1
            after[b] = (weight[column] - n) * (rest_r / rest_n) - before[column]
        change, size = e.by_group(after), self.group_weight * self.same
        total = float(weight.sum())
        used = size > 0
        return (before.sum() + change[used]) / np.maximum(total - size[used], 1e-300)

    def spread(self, noise_variance: float) -> tuple[float, float]:
        """Return the jackknife variance of T over groups, and its degrees of freedom.

        `noise_variance` is the variance of T without error. The degrees of freedom
        follow Satterthwaite's formula: 2 over the relative variance of the variance
        estimate.

        For example, with four groups and centred values 1, 1, -1, -1, the sum of fourth
        powers over the squared sum of squares is 4 / 16 = 1 / 4. It is 1 / n_groups,
        and the degrees of freedom are only limited by the number of groups. With the
        values 3, -1, -1, -1 it is 84 / 144, and the degrees of freedom are
        2 / (.58 - .25) = 6, times `_SEEN`, limited to 3.
        """
        squares = self.squares_left_out()
        repeats = 1 / self.same[self.group_weight > 0]
        n_groups = self.n_independent
        if n_groups < 2:
            return 0.0, 1.0
        centred = squares - float(repeats @ squares) / n_groups
        most = float(np.abs(centred).max())
        if most <= 0:
            return 0.0, max(self.n_effective_groups - 1, 1.0)
        centred /= most  # fourth powers of values near 1e-100 underflow
        share = float(repeats @ centred**2)
        total = share * most**2
        # theory, (G4): the jackknife counts the noise twice
        linear = max((n_groups - 1) / n_groups * total - 2 * noise_variance, 0.0)
        return linear, self.freedom(float(repeats @ centred**4 / share**2))

    def freedom(self, peaked: float) -> float:
        """Return the degrees of freedom of a sum of squares over the groups.

        `peaked` is the sum of the squares of their shares of the sum.
        """
        # theory, (G5), limited to the number of groups minus 1
        freedom = _SEEN * 2 / max(peaked - 1 / self.n_independent, 1e-12)
        return max(min(freedom, self.n_effective_groups - 1), 1.0)

    def proportional_spread(self) -> float:
        """Return the relative variance of the mean of q (1 - q) over groups.

        If squared errors were proportional to q (1 - q), the mean square of the error
        would vary in this way with the choice of the groups.
        """
        e, size = self.entries, self.group_weight
        noise = e.by_group(e.count, self.label_variance)
        total = float(noise.sum())
        if total <= 0:
            return 0.0
        centred = noise / total - size / float(size.sum())
        n_groups = self.n_independent
        # A stored group of m equal groups has m times their value; its square is m
        # times the sum of their squares, and `same` is 1 / m.
        return float(self.same @ centred**2) * n_groups / max(n_groups - 1, 1)


def are_single_rows(pairs: Pairs) -> bool:
    """Return whether each pair is a group of weight 1.

    Products of rows of different groups are then products of different rows.
    """
    if pairs.row_groups is None or pairs.row_weight is not None or pairs.n_classes > 1:
        return False
    return int(np.bincount(pairs.row_groups).max()) == 1


def grouped_bins(pairs: Pairs | GroupedRows, binning: Binning) -> GroupedBins:
    """Return bins of dependent rows such that each bin has rows of at least two groups.

    Automatic bins are doubled until this is true. For other bins an error is raised.
    The automatic bins of the interval are chosen for independent rows. If rows of a
    group repeat each other k times, n rows contain n / k independent ones. Bins of
    about sqrt(n / k) of them have sqrt(n k) rows, sqrt(k) times as many as before. If
    every row is a group, and k is the mean weight of a row (by weight), bins have the
    weight 0.8 sqrt(n k), where n is the total weight: in narrower bins of a few heavy
    rows, the variance is too small where T is too small.
    """
    if isinstance(pairs, GroupedRows):
        rows = pairs
    else:
        rows = GroupedRows(pairs)
        if binning is FOR_INTERVAL and not are_single_rows(pairs):
            binning = FOR_GROUPS
    found = GroupedBins(rows, binning)
    if binning is FOR_GROUPS:
        found = _widened(found, rows)
    if binning.bin_size == "auto":
        while not found.several_groups.all() and found.bins.weight.size > 1:
            if found.bins.stated:  # all rows of a probability are in one group
                binning = binning.for_rows(rows.ordered.row_total)
            else:
                assert found.bins.bin_size is not None
                binning = replace(binning, bin_size=2 * found.bins.bin_size)
            found = GroupedBins(rows, binning)
    found.check_several_groups()
    return found


def _widened(found: GroupedBins, rows: GroupedRows) -> GroupedBins:
    """Return wider bins if rows of a group repeat each other, or if rows are heavy."""
    assert found.bins.bin_size is not None
    start = size = found.bins.bin_size
    if rows.are_single and found.repetition >= _WIDER:
        size = round(_SHARE * (found.repetition * rows.ordered.total) ** 0.5)
        return GroupedBins(rows, replace(FOR_GROUPS, bin_size=size))
    while found.bins.weight.size > 1:
        wider = round(start * found.repetition**0.5)
        if wider < _WIDER * size:
            break
        size = wider
        found = GroupedBins(rows, replace(FOR_GROUPS, bin_size=size))
    return found


def squared_norm(left: sparse.csr_array, right: sparse.csr_array) -> float:
    """Return the squared Frobenius norm of left @ right in blocks of rows."""
    per_row = np.asarray((left != 0) @ np.diff(right.indptr).astype(float))
    total = 0.0
    for start, end in pairwise(_parts(per_row, _BLOCK)):
        block = left[start:end] @ right
        total += float(block.data @ block.data)
    return total


def _parts(sizes: np.ndarray, most: int) -> np.ndarray:
    """Return the bounds of consecutive parts whose sizes sum up to about `most`."""
    ends = np.arange(1, sizes.sum() // most + 2) * most
    return np.unique(np.r_[0, np.searchsorted(np.cumsum(sizes), ends), sizes.size])
