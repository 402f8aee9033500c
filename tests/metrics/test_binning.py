"""Bins of equal width, however many; automatic bin sizes; no circles of imports."""

import tracemalloc

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
    sample_size_curve,
    score_decomposition,
)
from skcalib.metrics._bins import Binning, Ordered, Sorted, cut_around_classes


class TestManyBinsOfEqualWidth:
    def test_memory_does_not_grow_with_their_number(self):
        y, q = make_calibrated_pairs(200, random_state=0)
        tracemalloc.start()
        found = calibration_error(y, q, n_bins=10**9, strategy="uniform")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 10e6
        # no two of these probabilities share a bin
        assert found == pytest.approx(np.sqrt(np.mean((q - y) ** 2)))

    @pytest.mark.parametrize("n_bins", [1001, 1024, 3000, 99_999, 10**6])
    def test_they_are_those_of_all_edges(self, n_bins):
        rng = np.random.default_rng(0)
        edges = np.linspace(0, 1, n_bins + 1)
        on_edges = rng.choice(edges, 200)
        q = np.r_[
            rng.random(100),
            on_edges,
            np.nextafter(on_edges, 0),
            np.nextafter(on_edges, 1).clip(0, 1),
            0,
            1,
        ]
        q = np.sort(q)
        bins = np.searchsorted(edges[1:-1], q, side="left")
        expected = np.flatnonzero(np.diff(bins)) + 1
        y = np.arange(q.size) % 2
        curve = adaptive_reliability_curve(y, q, n_bins=n_bins, strategy="uniform")
        found = np.cumsum(curve.weight[curve.weight > 0])[:-1]
        assert found.tolist() == expected.tolist()


class TestAutomaticSizes:
    @pytest.mark.parametrize(
        ("n", "size"), [(1, 2), (10, 4), (100, 16), (1000, 63), (33_306, 517)]
    )
    def test_they_are_the_0_6th_power(self, n, size):
        assert Binning("auto", None, "quantile").for_rows(n).bin_size == size

    def test_a_row_of_many_classes_counts_once_everywhere(self):
        rng = np.random.default_rng(0)
        proba, y = rng.dirichlet(np.ones(5), 100), rng.integers(0, 5, 100)
        assert adaptive_reliability_curve(y, proba).bin_size == 16
        assert score_decomposition(y, proba).bin_size == 16
        sizes = sample_size_curve(y, proba, sample_sizes=[10, 100], random_state=0)
        assert sizes.bin_size.tolist() == [4, 16]
        weight = np.full(100, 10)
        weighted = adaptive_reliability_curve(y, proba, sample_weight=weight)
        assert weighted.bin_size == 63

    def test_they_grow_until_each_bin_has_two_groups(self):
        # one row has all its probabilities where no other row has any
        y, proba = np.arange(40) % 30, np.full((40, 30), 0.0)
        proba[np.arange(40), y] = 1
        proba[0] = 1 / 30
        found = calibration_error(y, proba, labels=range(30), debias=True)
        assert np.isfinite(found)
        with pytest.raises(ValueError, match="at least two groups"):
            calibration_error(y, proba, labels=range(30), debias=True, bin_size=10)


class TestWholeClasses:
    """Bins of the score interval: large tie classes begin and end with a cut."""

    def bounds(self, q, size, own=5):
        ordered = Ordered(Sorted(np.asarray(q, float)), Sorted(np.zeros(0)))
        return cut_around_classes(ordered, size, own).tolist()

    def test_a_class_of_five_rows_is_a_bin(self):
        # classes of 3, 12 and 5 rows
        q = [0.1] * 3 + [0.5] * 12 + [0.9] * 5
        assert self.bounds(q, 6) == [0, 3, 15, 20]
        assert self.bounds(q, 20) == [0, 3, 15, 20]
        # for groups, as many rows as a bin are needed
        assert self.bounds(q, 6, own=6) == [0, 3, 15, 20]
        assert self.bounds(q, 20, own=20) == [0, 20]

    def test_rows_between_two_large_classes_have_bins_of_the_size(self):
        # classes of 7, 1, 1, 1, 6, 1 and 8 rows
        q = np.repeat(np.arange(7) / 7, [7, 1, 1, 1, 6, 1, 8])
        assert self.bounds(q, 2) == [0, 7, 10, 16, 25]
        q = np.repeat(np.arange(6) / 6, [1, 1, 1, 1, 5, 1])
        assert self.bounds(q, 2) == [0, 2, 4, 10]

    def test_levels_with_opposite_errors_do_not_cancel(self):
        # 51 levels with 20 rows each; the error is .2 or -.2 by turns
        q = np.repeat(np.linspace(0.25, 0.75, 51), 20)
        sign = np.where(np.arange(51) % 2 == 0, 1, -1)
        right = np.rint(20 * (np.linspace(0.25, 0.75, 51) + 0.2 * sign)).astype(int)
        y = (np.tile(np.arange(20), 51) < np.repeat(right, 20)).astype(int)
        found = calibration_error_interval(y, q)
        assert found.low < 0.2 < found.high
        assert found.n_bins == 51

    def test_a_single_row_before_a_class_joins_it(self):
        assert self.bounds([0.1] + [0.5] * 8 + [0.9] * 2, 8) == [0, 9, 11]

    def test_without_large_classes_cuts_are_those_of_the_size(self):
        assert self.bounds(np.arange(20) / 20, 6) == [0, 6, 12, 20]

    def test_weights_that_are_not_integers_leave_no_bin_empty(self):
        rng = np.random.default_rng(0)
        q = rng.random(3000).round(1)
        y, weight = (rng.random(3000) < q).astype(int), 2 * rng.random(3000)
        found = calibration_error_interval(y, q, sample_weight=weight)
        plain = calibration_error_interval(y, q)
        assert found.plug_in == pytest.approx(plain.plug_in, abs=0.03)
        assert 0.001 < found.pvalue < 1
