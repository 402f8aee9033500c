"""Answers that do not come from the package: rational arithmetic, plain numpy.

Test modules cannot import each other, so helpers are handed out as fixtures.
"""

import itertools
import math
from fractions import Fraction
from operator import itemgetter

import numpy as np
import pytest


def paper_cuts(n, size):
    """Cut n sorted rows every `size`; a short last bin joins the one before."""
    n_bins = max(1, n // size)
    return [b * size for b in range(n_bins)] + [n]


def row_orders(rows):
    """Yield all orders of (q, y, group) that ascend in q; equal rows are one."""
    ties = itertools.groupby(sorted(rows, key=itemgetter(0)), key=itemgetter(0))
    several = [sorted(set(itertools.permutations(tied))) for _, tied in ties]
    for chosen in itertools.product(*several):
        yield list(itertools.chain(*chosen))


def bin_terms(rows, grouped):
    """Return sum r, sum of r_i r_j over different groups, and their number."""
    r = [q - y for q, y, _ in rows]
    names = [group if grouped else i for i, (_, _, group) in enumerate(rows)]
    sums = {g: sum(x for x, h in zip(r, names, strict=True) if h == g) for g in names}
    squares = sum(s**2 for s in sums.values())
    same = sum(names.count(g) ** 2 for g in sums)
    return sum(r), sum(r) ** 2 - squares, len(rows) ** 2 - same


class ExactBins:
    """Means over all orders of tied rows, as fractions."""

    def __init__(self, y, q, size, groups=None):
        grouped = groups is not None
        names = list(groups) if grouped else [0] * len(q)
        rows = list(zip(map(Fraction, q), map(int, y), names, strict=True))
        bins = list(itertools.pairwise(paper_cuts(len(q), size)))
        every = [
            [bin_terms(order[a:b], grouped) for a, b in bins]
            for order in row_orders(rows)
        ]
        means = [
            [sum(term) / Fraction(len(every)) for term in zip(*one_bin, strict=True)]
            for one_bin in zip(*every, strict=True)
        ]
        self.share = [Fraction(b - a, len(q)) for a, b in bins]
        self.size = [b - a for a, b in bins]
        self.residual, self.products, self.pairs = zip(*means, strict=True)

    def error(self, norm):
        distances = [abs(r) / n for r, n in zip(self.residual, self.size, strict=True)]
        weighed = list(zip(self.share, distances, strict=True))
        if norm == "max":
            return float(max(distances))
        if norm == "l1":
            return float(sum(w * d for w, d in weighed))
        return math.sqrt(sum(w * d**2 for w, d in weighed))

    def debiased_square(self):
        """Return None where a bin has no two rows of different groups."""
        if 0 in self.pairs:
            return None
        terms = zip(self.share, self.products, self.pairs, strict=True)
        return float(sum(w * p / n for w, p, n in terms))


def random_rows(seed, n_max=7):
    """Draw y, q and groups with many ties, and a bin size that may exceed n."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, n_max + 1))
    q = rng.choice([0.0, 0.1, 0.25, 0.5, 0.9, 1.0], n)
    return rng.integers(0, 2, n), q, rng.integers(0, 3, n), int(rng.integers(1, n + 4))


def shared_means(y, q, cuts):
    """Return mean q and mean y between the cuts, ties shared in proportion.

    Along the rows of a tie the expected sums grow linearly, so the sums up to a cut
    are interpolated between the ends of ties.
    """
    value, code, count = np.unique(q, return_inverse=True, return_counts=True)
    ends = np.r_[0, np.cumsum(count)]
    sums_q = np.r_[0, np.cumsum(count * value.astype(np.float64))]
    sums_y = np.r_[0, np.cumsum(np.bincount(code, y))]
    size = np.diff(cuts)
    mean_q = np.diff(np.interp(cuts, ends, sums_q)) / size
    return mean_q, np.diff(np.interp(cuts, ends, sums_y)) / size


@pytest.fixture(scope="session")
def exact():
    return ExactBins


@pytest.fixture(scope="session")
def draw_rows():
    return random_rows


@pytest.fixture(scope="session")
def cut_rows():
    return paper_cuts


@pytest.fixture(scope="session")
def bin_means():
    return shared_means
