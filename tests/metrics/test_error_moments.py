"""Moments of the error, against their means over all labels."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from skcalib._pairs import check_pairs
from skcalib.metrics._bins import Binning, bins_of
from skcalib.metrics._score_interval import ErrorMoments, error_moments

# Rows, probability and true frequency of two values.
SETS = ((5, 0.3, 0.1), (7, 0.8, 0.95))


def true_moments():
    n, q, p = np.array(SETS).T
    share, d = n / n.sum(), q - p
    moments = d**2, p * (1 - p) * d**2, (1 - 2 * p) * d**3, d**4
    return [float(share @ each) for each in moments]


def moments_of(counts):
    q = np.repeat([q for _, q, _ in SETS], [n for n, _, _ in SETS])
    y = np.concatenate(
        [np.arange(n) < k for (n, _, _), k in zip(SETS, counts, strict=True)]
    )
    (pairs,) = check_pairs(y.astype(int), q, pos_label=1)
    sums = bins_of(pairs, Binning(None, 2, "uniform"))
    found = error_moments(sums)
    return np.array([found.square, found.noise, found.lean, found.fourth])


def test_they_are_unbiased():
    mean = np.zeros(4)
    for counts in product(*(range(n + 1) for n, _, _ in SETS)):
        chance = 1.0
        for (n, _, p), k in zip(SETS, counts, strict=True):
            chance *= binom.pmf(k, n, p)
        mean += chance * moments_of(counts)
    assert mean == pytest.approx(true_moments(), rel=1e-9)


@pytest.mark.parametrize("c", [0.0, 0.5, 1.0, 1.2])
def test_a_multiple_of_the_error_has_the_moments_of_its_frequencies(c):
    n, q, p = np.array(SETS).T
    share, d = n / n.sum(), c * (q - p)
    moved = q - d
    noise, lean = ErrorMoments(*true_moments()).moved(c)
    expected = float(share @ (moved * (1 - moved) * d**2))
    assert c**2 * noise == pytest.approx(expected, abs=1e-12)
    assert c**3 * lean == pytest.approx(float(share @ ((1 - 2 * moved) * d**3)))


def test_sets_of_fewer_than_four_rows_say_nothing():
    (pairs,) = check_pairs([0, 1, 1], [0.2, 0.5, 0.9])
    sums = bins_of(pairs, Binning(3, None, "quantile"))
    found = error_moments(sums)
    assert (found.square, found.noise, found.lean, found.fourth) == (0, 0, 0, 0)
