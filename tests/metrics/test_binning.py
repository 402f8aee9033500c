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
from skcalib.metrics._bins import (
    AUTOMATIC,
    Ordered,
    Sorted,
    cut_around_classes,
)


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
        assert AUTOMATIC.for_rows(n).bin_size == size

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


def random_rows(seed, n=None):
    """Labels and probabilities of a rare class, a frequent one, or whole percents."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 700)) if n is None else n
    q = [rng.beta(0.3, 3, n), rng.beta(6, 1, n), rng.random(n).round(2)][seed % 3]
    y = (rng.random(n) < q).astype(int)
    y[0] = 1 - y[-1]
    return y, q


class TestAutomaticBins:
    def test_the_remainder_is_spread_over_all_bins(self):
        q = (np.arange(1000) + 0.5) / 1000
        curve = adaptive_reliability_curve(np.arange(1000) % 2, q)
        # 1000 / 63 = 15.9
        assert curve.n_bins == 15
        assert sorted(set(curve.weight)) == [66, 67]

    def test_a_bin_that_spans_a_tenth_is_cut(self):
        # Six bins of 16 or 17 rows; the last two are rows 67 to 100. Row 81 is more
        # than .1 above row 67, and row 91 is more than .1 above row 81.
        near = np.arange(10) / 1000
        q = np.r_[np.linspace(0, 0.1, 80), 0.5 + near, 0.9 + near]
        y = np.arange(100) % 2
        curve = adaptive_reliability_curve(y, q)
        assert curve.weight.tolist() == [16, 17, 17, 16, 14, 10, 10]
        assert curve.proba_min[-2:].tolist() == [0.5, 0.9]
        reverse = adaptive_reliability_curve(1 - y, 1 - q).weight[::-1]
        assert sorted(reverse) == sorted(curve.weight)

    def test_a_part_has_ten_rows(self):
        # Of the last 17 rows, five are far from the others, but five are too few.
        q = np.r_[np.linspace(0, 0.1, 95), np.linspace(0.8, 0.9, 5)]
        curve = adaptive_reliability_curve(np.arange(100) % 2, q)
        assert curve.weight.min() >= 10
        assert curve.proba_min[-1] < 0.1

    @pytest.mark.parametrize("seed", range(30))
    def test_no_bin_spans_more_than_a_tenth_unless_it_is_small(self, seed):
        curve = adaptive_reliability_curve(*random_rows(seed))
        wide = curve.proba_max - curve.proba_min > 0.1 + 1e-8
        # Equal probabilities, such as whole percents, are not divided.
        assert curve.weight[wide].max(initial=0) < (30 if seed % 3 == 2 else 20)
        assert curve.weight[curve.weight < curve.bin_size].min(initial=10) >= 10

    @pytest.mark.parametrize("seed", range(30))
    def test_the_order_of_two_classes_does_not_matter(self, seed):
        y, q = random_rows(seed)
        found = calibration_error(1 - y, 1 - q)
        assert found == pytest.approx(calibration_error(y, q), abs=1e-12)

    @pytest.mark.parametrize("seed", range(9))
    def test_a_weight_is_a_number_of_rows(self, seed):
        y, q = random_rows(seed)
        weight = np.random.default_rng(seed).integers(1, 4, y.size)
        found = adaptive_reliability_curve(y, q, sample_weight=weight)
        expected = adaptive_reliability_curve(y.repeat(weight), q.repeat(weight))
        assert found.weight == pytest.approx(expected.weight)
        assert found.prob_true == pytest.approx(expected.prob_true, abs=1e-12)

    def test_the_rows_of_a_rare_class_have_bins_of_their_own(self):
        # 956 rows below .1, and 44 positives at .77: the error is at least
        # sqrt(.044) .23 = .048, and in bins of 63 rows it would be .3 sqrt(.063)
        rng = np.random.default_rng(0)
        q = np.r_[rng.uniform(0, 0.1, 956), rng.uniform(0.6, 0.94, 44)]
        y = np.r_[rng.random(956) < q[:956], np.ones(44)].astype(int)
        assert calibration_error(y, q) > 0.045
        curve = adaptive_reliability_curve(y, q)
        assert curve.prob_pred[-1] - curve.prob_true[-1] < -0.05
        assert (curve.prob_true[curve.prob_pred > 0.5] == 1).all()


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
