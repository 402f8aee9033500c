"""Calibration error: bins, ties, norms, weights, classes."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import case
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skcalib import ReliabilityDisplay, calibration_error_scorer
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    brier_statistics,
    calibration_error,
    calibration_error_interval,
    score_decomposition,
)
from skcalib.plot import RiskCoverageDisplay
from skcalib.scorers import compare_calibration

# Matrices of rounded probabilities.
pytestmark = pytest.mark.filterwarnings("ignore:The probabilities in")


# Two positives among four rows of 0.5, which the cuts 2 and 4 divide.
TIED_Q = [0.2, 0.5, 0.5, 0.5, 0.5, 0.9]
TIED_Y = [0, 1, 1, 0, 0, 1]
# Expected mean labels of the bins: (0 + 1/2)/2, 1/2, (1/2 + 1)/2; mean q .35, .5, .7:
# sqrt((.1^2 + 0 + .05^2) / 3)
TIED_ERROR = math.sqrt(0.0125 / 3)

# Even ranks, and four positives in every ten rows.
LAST_BIN_Q = (np.arange(250) + 0.5) / 250
LAST_BIN_Y = (7 * np.arange(250)) % 10 < 4

PROBA = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]])

NORMS = ["l1", "l2", "max"]
TOP = {"multi_class": "top_label", "bin_size": 1}

# Every way to get a number from a binary problem.
WAYS = [
    *({"norm": norm} for norm in NORMS),
    {"bin_size": 3},
    {"bin_size": 3, "debias": True},
    {"bin_size": 2, "debias": True, "squared": True},
    {"n_bins": 4},
    {"n_bins": 4, "norm": "l1"},
    {"n_bins": 3, "strategy": "uniform"},
    {"n_bins": 3, "strategy": "uniform", "norm": "max"},
]
CLASSES = [
    {"multi_class": "pooled"},
    {"multi_class": "pooled", "bin_size": 4, "debias": True},
    {"multi_class": "top_label", "bin_size": 3},
    {"multi_class": "class_wise", "n_bins": 2},
    {"multi_class": "per_class", "bin_size": 2, "norm": "max"},
]


def as_id(kwargs):
    return "-".join(map(str, kwargs.values()))


def random_matrix(seed, n=12, k=3):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(n) % k), rng.dirichlet(np.ones(k), n).round(1)


class TestBins:
    def test_two_bins_by_hand(self):
        # bins .1 .2 .3 | .6 .8 .9 with labels 0 0 1 | 0 1 1: distances 2/15 and .1
        y, q = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]
        found = [calibration_error(y, q, bin_size=3, norm=norm) for norm in NORMS]
        expected = [(2 / 15 + 0.1) / 2, math.sqrt((4 / 225 + 0.01) / 2), 2 / 15]
        assert found == pytest.approx(expected, abs=1e-15)

    def test_a_short_last_bin_joins_the_one_before(self):
        # Bins of 100 and 150 rows have mean q .2 and .7 and mean y .4:
        # sqrt(.4 * .2^2 + .6 * .3^2) = sqrt(.07); without the last bin it is .126491
        error = calibration_error(LAST_BIN_Y, LAST_BIN_Q, bin_size=100)
        assert error == pytest.approx(0.264575, abs=5e-7)

    def test_fewer_pairs_than_a_bin_make_one_bin(self):
        error = calibration_error([0, 1, 0], [0.1, 0.2, 0.6], bin_size=100)
        assert error == pytest.approx(1 / 3 - 0.3)

    def test_one_pair_is_its_own_bin(self):
        assert calibration_error([1], [0.3]) == pytest.approx(0.7)

    @pytest.mark.parametrize(("label", "error"), [(0, 0.2), (1, 0.8)])
    def test_labels_of_one_class_are_binned_like_others(self, label, error):
        assert calibration_error([label] * 3, [0.1, 0.2, 0.3], bin_size=3) == (
            pytest.approx(error)
        )

    @pytest.mark.parametrize("bin_size", [1, 3, 7, 10, 50])
    def test_equal_probabilities_give_their_distance_from_the_frequency(self, bin_size):
        y = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0]
        error = calibration_error(y, [0.3] * 10, bin_size=bin_size)
        assert error == pytest.approx(0.1, abs=1e-15)

    def test_a_bin_for_each_pair_gives_the_root_mean_square_residual(self):
        error = calibration_error([0, 0, 1], [0.1, 0.9, 0.5], bin_size=1)
        assert error == pytest.approx(math.sqrt((0.01 + 0.81 + 0.25) / 3))

    @pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 29, 30])
    def test_a_number_of_bins_divides_rows_as_array_split_does(self, n_bins):
        y, q = make_calibrated_pairs(30, random_state=n_bins)
        order = np.argsort(q)
        parts = zip(
            np.array_split(q[order], n_bins),
            np.array_split(y[order], n_bins),
            strict=True,
        )
        square = sum(a.size / 30 * (a.mean() - b.mean()) ** 2 for a, b in parts)
        found = calibration_error(y, q, n_bins=n_bins)
        assert found == pytest.approx(math.sqrt(square), abs=1e-14)

    def test_more_bins_than_pairs_make_a_bin_for_each_pair(self):
        # both distances are .1
        assert calibration_error([0, 1], [0.1, 0.9], n_bins=5) == pytest.approx(0.1)

    @pytest.mark.parametrize("n_bins", [1, 2, 5, 10, 100])
    def test_equal_width_bins_are_those_of_sklearn(self, n_bins):
        y, q = make_calibrated_pairs(400, random_state=0)
        q = q.round(2)  # many on the edges
        true, pred = calibration_curve(y, q, n_bins=n_bins, strategy="uniform")
        curve = adaptive_reliability_curve(y, q, n_bins=n_bins, strategy="uniform")
        np.testing.assert_allclose(curve.prob_true, true, atol=1e-14)
        np.testing.assert_allclose(curve.prob_pred, pred, atol=1e-14)

    def test_a_probability_of_one_is_in_the_last_equal_width_bin(self):
        # mean q .975, mean y .5; a bin of its own for q = 1 would give .525
        error = calibration_error([1, 0], [0.95, 1.0], n_bins=10, strategy="uniform")
        assert error == pytest.approx(0.475)

    def test_the_last_equal_width_bin_counts(self):
        y, q = [1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9]
        error = calibration_error(y, q, n_bins=2, strategy="uniform")
        assert error == pytest.approx(0.85)


class TestAutomaticBins:
    """Equal numbers of at least round(n ** 0.6) pairs; see test_binning.py."""

    def test_they_are_the_default(self):
        y, q = make_calibrated_pairs(1000, random_state=0)
        found = calibration_error(y, q)
        assert found == calibration_error(y, q, bin_size="auto")

    def test_rows_of_no_weight_do_not_count(self):
        y, q = make_calibrated_pairs(1100, random_state=2)
        weight = np.r_[np.ones(1000), np.zeros(100)]
        found = calibration_error(y, q, sample_weight=weight)
        expected = calibration_error(y[:1000], q[:1000])
        assert found == pytest.approx(expected, abs=1e-13)

    @pytest.mark.parametrize("multi_class", ["pooled", "top_label"])
    def test_rows_count_not_pooled_pairs(self, multi_class):
        # 100 ** .6 = 15.8, however many classes a row has
        y, _ = random_matrix(3, n=100)
        proba = np.random.default_rng(0).dirichlet([1, 1, 1], 100)
        curve = adaptive_reliability_curve(y, proba, multi_class=multi_class)
        assert curve.bin_size == 16
        found = calibration_error(y, proba, multi_class=multi_class)
        assert curve.error() == pytest.approx(found, rel=1e-12)

    @pytest.mark.parametrize("n_values", [1, 2, 20])
    def test_few_distinct_probabilities_are_the_bins(self, n_values):
        rng = np.random.default_rng(n_values)
        values = rng.permutation(np.arange(1, n_values + 1) / 21)
        q = np.r_[np.repeat(values, 4), rng.choice(values, n_values)]
        y = (rng.random(q.size) < 0.4).astype(int)
        squares = [(y[q == v].mean() - v) ** 2 * (q == v).mean() for v in values]
        expected = math.sqrt(sum(squares))
        assert calibration_error(y, q) == pytest.approx(expected, rel=1e-12)
        curve = adaptive_reliability_curve(y, q)
        assert curve.prob_pred == pytest.approx(np.sort(values), rel=1e-12)
        assert curve.error() == pytest.approx(calibration_error(y, q), rel=1e-12)
        # Algorithm 1 as published
        assert adaptive_reliability_curve(y, q, bin_size=5).n_bins == n_values

    @pytest.mark.parametrize(("n_values", "n"), [(21, 200), (8, 39)])
    def test_more_values_or_fewer_rows_are_divided_by_size(self, n_values, n):
        q = np.resize(np.arange(1, n_values + 1) / 22, n)
        y = (np.arange(n) % 3 == 0).astype(int)
        assert adaptive_reliability_curve(y, q).bin_size == round(n**0.6)

    def test_a_probability_of_one_row_is_left_out_of_the_debiased_error(self):
        q, y = np.r_[np.full(9, 0.3), 0.8], np.r_[np.arange(9) < 5, 0].astype(int)
        # sum of r_i r_j over i != j, where five labels are 1
        products = (9 * 0.3 - 5) ** 2 - (5 * 0.7**2 + 4 * 0.3**2)
        expected = products / (9 * 8)
        found = calibration_error(y, q, debias=True, squared=True)
        assert found == pytest.approx(expected, rel=1e-12)
        curve = adaptive_reliability_curve(y, q)
        assert curve.error(debias=True, squared=True) == found

    def test_a_gross_error_of_many_classes_is_seen(self):
        # .9 on a class that is right half the time, .1 spread over the other 999:
        # the root mean square over all pairs is .4 / sqrt(1000)
        n = k = 1000
        rng = np.random.default_rng(0)
        proba = np.full((n, k), 0.1 / (k - 1))
        top = rng.integers(0, k, n)
        proba[np.arange(n), top] = 0.9
        y = np.where(rng.random(n) < 0.5, top, (top + rng.integers(1, k, n)) % k)
        found = calibration_error(y, proba, labels=range(k))
        assert found == pytest.approx(0.4 / math.sqrt(1000), rel=0.1)


class TestTies:
    def test_rows_on_both_sides_of_a_cut_share_their_positives(self):
        error = calibration_error(TIED_Y, TIED_Q, bin_size=2)
        assert error == pytest.approx(TIED_ERROR, abs=1e-15)

    @pytest.mark.parametrize("kwargs", WAYS, ids=as_id)
    def test_no_order_of_the_rows_changes_a_bit(self, kwargs):
        # equal rows in another order are the same data
        orders = set(itertools.permutations(zip(TIED_Y, TIED_Q, strict=True)))
        found = {
            calibration_error(*map(np.array, zip(*o, strict=True)), **kwargs)
            for o in orders
        }
        assert len(found) == 1

    def test_verbal_confidences_in_any_order_give_the_same(self):
        rng = np.random.default_rng(0)
        q = rng.integers(1, 16, 2500) / 16
        y = rng.random(2500) < q
        orders = [rng.permutation(2500) for _ in range(30)]
        found = {calibration_error(y[o], q[o], bin_size=100) for o in orders}
        assert len(found) == 1

    @pytest.mark.parametrize("norm", NORMS)
    def test_it_is_the_rational_mean_over_the_orders_of_ties(
        self, norm, exact, draw_rows
    ):
        for seed in range(150):
            y, q, _, size = draw_rows(seed)
            expected = exact(y, q, size).error(norm)
            found = calibration_error(y, q, bin_size=size, norm=norm)
            assert found == pytest.approx(expected, abs=1e-12), (y, q, size)

    def test_its_square_is_the_rational_one(self, exact, draw_rows):
        for seed in range(150, 250):
            y, q, _, size = draw_rows(seed)
            expected = exact(y, q, size).error("l2") ** 2
            found = calibration_error(y, q, bin_size=size, squared=True)
            assert found == pytest.approx(expected, abs=1e-12), (y, q, size)

    @pytest.mark.parametrize("bin_size", [1, 10, 33, 100, 1000])
    def test_long_ties_over_many_bins_are_shared(self, bin_size, bin_means, cut_rows):
        rng = np.random.default_rng(1)
        q, y = rng.choice([0.0, 0.3, 0.35, 0.8, 1.0], 500), rng.integers(0, 2, 500)
        cuts = cut_rows(500, bin_size)
        mean_q, mean_y = bin_means(y, q, cuts)
        expected = math.sqrt(np.average((mean_q - mean_y) ** 2, weights=np.diff(cuts)))
        found = calibration_error(y, q, bin_size=bin_size)
        assert found == pytest.approx(expected, abs=1e-12)


class TestDebiased:
    def test_two_bins_by_hand(self):
        y, q = [1, 0, 0, 1, 1], [0.2, 0.3, 0.6, 0.8, 0.9]
        # residuals -.8, .3 | .6, -.2, -.1; products 2 (-.24) = -.48 and
        # 2 (-.12 - .06 + .02) = -.32, over n_b - 1 and N
        found = calibration_error(y, q, bin_size=2, debias=True, squared=True)
        assert found == pytest.approx((-0.48 - 0.32 / 2) / 5)

    def test_the_root_of_a_negative_square_is_zero(self):
        assert calibration_error([1, 0], [0.3, 0.7], debias=True) == 0

    def test_rounding_alone_makes_no_error(self):
        # residuals .6, .6, -.3: .36 - .18 - .18 = 0, and a root makes 1e-9 of 1e-18
        q = [0.6, 0.6, 0.7]
        assert calibration_error([0, 0, 1], q, bin_size=3, debias=True) == 0

    def test_in_automatic_bins_it_is_at_least_the_mean_difference(self):
        assert calibration_error([0, 0, 1], [0.6, 0.6, 0.7], debias=True) == (
            pytest.approx(0.3, rel=1e-12)
        )

    def test_the_root_of_a_positive_square_is_taken(self):
        # residuals .9, .8: 2 * .72 / (2 * 1)
        error = calibration_error([0, 0], [0.9, 0.8], bin_size=2, debias=True)
        assert error == pytest.approx(math.sqrt(0.72))

    def test_it_is_the_rational_mean_over_the_orders_of_ties(self, exact, draw_rows):
        for seed in range(200):
            y, q, _, size = draw_rows(seed)
            kwargs = {"bin_size": size + 1, "debias": True}
            expected = exact(y, q, size + 1).debiased_square()
            found = calibration_error(y, q, squared=True, **kwargs)
            assert found == pytest.approx(expected, abs=1e-12), (y, q, size)
            root = math.sqrt(max(expected, 0))
            # a root makes 1e-9 of a rounding error of 1e-18
            assert calibration_error(y, q, **kwargs) == pytest.approx(root, abs=1e-8)

    @pytest.mark.parametrize("k", [pytest.param(0, marks=pytest.mark.slow), 0.1])
    def test_its_mean_is_the_true_square_and_the_plain_one_adds_the_noise(self, k):
        draws = [
            make_calibrated_pairs(4000, k=k, return_frequency=True, random_state=seed)
            for seed in range(300)
        ]
        # Bins of 20 of 4000: the mean of t(1 - t)/20 is the noise of a bin; inside a
        # bin q - t is all but constant.
        truth = np.array([np.mean((q - t) ** 2) for _, q, t in draws])
        noise = np.array([np.mean(t * (1 - t)) / 20 for _, _, t in draws])
        for debias, mean in [(True, truth), (False, truth + noise)]:
            kwargs = {"bin_size": 20, "squared": True, "debias": debias}
            found = np.array([calibration_error(y, q, **kwargs) for y, q, _ in draws])
            off = found - mean
            assert abs(off.mean()) < 4 * off.std() / math.sqrt(300) + 2e-5

    @pytest.mark.parametrize(
        ("y", "q", "kwargs"),
        [
            # errors .9, .9, .5 that an estimate of 0 would hide
            ([1, 0, 1], [0.1, 0.9, 0.5], {"bin_size": 1}),
            ([0, 1], [0.3, 0.4], {"n_bins": 15}),
            ([1], [0.3], {}),
        ],
    )
    def test_it_needs_two_pairs_in_every_bin(self, y, q, kwargs):
        message = "parameter of calibration_error needs bins of at least two pairs"
        with pytest.raises(ValueError, match=message):
            calibration_error(y, q, debias=True, **kwargs)

    def test_without_it_bins_of_one_pair_are_fine(self):
        # .3 and .6: sqrt((.09 + .36) / 2)
        error = calibration_error([0, 1], [0.3, 0.4], n_bins=15)
        assert error == pytest.approx(0.474342, abs=5e-7)


class TestWeights:
    def test_a_weight_of_a_row_of_classes_equals_repetition(self):
        for seed in range(5):
            for kwargs in CLASSES:
                with case(f"{seed}, {kwargs}"):
                    y, proba = random_matrix(seed)
                    kwargs = {**kwargs, "labels": [0, 1, 2]}
                    weight = np.random.default_rng(seed).integers(0, 4, y.size)
                    found = calibration_error(y, proba, sample_weight=weight, **kwargs)
                    repeated = calibration_error(
                        np.repeat(y, weight), np.repeat(proba, weight, axis=0), **kwargs
                    )
                    assert found == pytest.approx(repeated, abs=1e-8)

    @pytest.mark.parametrize("kwargs", WAYS, ids=as_id)
    def test_rows_of_zero_weight_vanish(self, kwargs):
        y, q = make_calibrated_pairs(20, random_state=0)
        extra = [0.0, 1.0, 0.5, q[3]]
        weight = np.r_[np.ones(20), np.zeros(4)]
        found = calibration_error(
            np.r_[y, 1, 0, 1, 1], np.r_[q, extra], sample_weight=weight, **kwargs
        )
        assert found == pytest.approx(calibration_error(y, q, **kwargs), abs=1e-8)

    @pytest.mark.parametrize("kwargs", [*CLASSES, {}], ids=as_id)
    def test_rows_of_zero_weight_vanish_from_a_matrix(self, kwargs):
        y, proba = random_matrix(4)
        weight = np.ones(12)
        weight[:3] = 0
        found = calibration_error(y, proba, sample_weight=weight, **kwargs)
        expected = calibration_error(y[3:], proba[3:], **kwargs)
        assert found == pytest.approx(expected, abs=1e-8)

    def test_fractional_weights_share_a_pair_between_bins(self):
        # A total of 3.5, so the row of .5 has .75 on each side of 1.75:
        # |.1 + .375 - .75| + |.375 + .9 - .75| = .8
        error = calibration_error(
            [0, 1, 0], [0.1, 0.5, 0.9], sample_weight=[1, 1.5, 1], n_bins=2, norm="l1"
        )
        assert error == pytest.approx(0.8 / 3.5)

    def test_the_order_of_weighted_rows_does_not_matter(self):
        rng = np.random.default_rng(0)
        q, y, w = rng.integers(1, 8, 60) / 8, rng.integers(0, 2, 60), rng.random(60)
        o = rng.permutation(60)
        found = calibration_error(y[o], q[o], sample_weight=w[o], bin_size=4)
        expected = calibration_error(y, q, sample_weight=w, bin_size=4)
        assert found == pytest.approx(expected, abs=1e-14)


class TestClasses:
    def test_pooled_pairs_are_those_of_every_class_against_the_rest(self):
        # (.1, 0) (.1, 0) | (.2, 0) (.3, 0) | (.6, 1) (.7, 1): .1, .25, -.35
        error = calibration_error([0, 1], PROBA, bin_size=2, labels=[0, 1, 2])
        assert error == pytest.approx(math.sqrt((0.01 + 0.0625 + 0.1225) / 3))

    def test_pooled_is_the_default_of_three_columns(self):
        y, proba = random_matrix(0)
        assert calibration_error(y, proba) == (
            calibration_error(y, proba, multi_class="pooled")
        )

    def test_top_label_compares_the_largest_probability_with_its_class(self):
        # .7 right, .6 right, .5 wrong: sorted by q -.5 -> .5, -.4, -.3
        proba = [*PROBA.tolist(), [0.2, 0.3, 0.5]]
        error = calibration_error([0, 1, 0], proba, labels=[0, 1, 2], **TOP)
        assert error == pytest.approx(math.sqrt((0.25 + 0.16 + 0.09) / 3))

    def test_top_label_ties_go_to_the_first_column(self):
        proba = [[0.4, 0.4, 0.2]] * 2
        right = calibration_error([0, 0], proba, labels=[0, 1, 2], **TOP)
        wrong = calibration_error([1, 1], proba, labels=[0, 1, 2], **TOP)
        assert [right, wrong] == pytest.approx([0.6, 0.4])

    def test_each_class_has_its_own_error(self):
        # one bin: (.7 + .3)/2 - 1/2, (.2 + .6)/2 - 1/2, (.1 + .1)/2 - 0
        kwargs = {"labels": [0, 1, 2], "bin_size": 2}
        found = calibration_error([0, 1], PROBA, multi_class="per_class", **kwargs)
        assert found == pytest.approx([0, 0.1, 0.1])
        mean = calibration_error([0, 1], PROBA, multi_class="class_wise", **kwargs)
        assert mean == pytest.approx(0.2 / 3)

    @pytest.mark.parametrize("kwargs", CLASSES, ids=as_id)
    def test_labels_name_the_columns(self, kwargs):
        y, proba = random_matrix(1)
        expected = calibration_error(y, proba, **kwargs)
        for names in (["V", "N", "A"], [7, -2, 3], [2.5, 7.5, 0.5]):
            found = calibration_error(np.array(names)[y], proba, labels=names, **kwargs)
            assert found == pytest.approx(expected)

    def test_columns_are_in_sorted_order_without_labels(self):
        y, proba = random_matrix(2)
        names = np.array(["A", "N", "V"])
        assert calibration_error(names[y], proba) == calibration_error(y, proba)

    @pytest.mark.parametrize("pos_label", [None, "yes", "no"])
    def test_two_columns_are_the_binary_problem(self, pos_label):
        y, q = make_calibrated_pairs(90, k=0.2, random_state=0)
        names, proba = np.array(["no", "yes"])[y], np.column_stack([1 - q, q])
        expected = (
            calibration_error(1 - y, 1 - q)
            if pos_label == "no"
            else (calibration_error(y, q))
        )
        found = calibration_error(names, proba, pos_label=pos_label)
        assert found == pytest.approx(expected, abs=1e-14)

    def test_two_columns_in_another_order(self):
        y, q = make_calibrated_pairs(90, k=0.2, random_state=0)
        names, proba = np.array(["no", "yes"])[y], np.column_stack([q, 1 - q])
        kwargs = {"labels": ["yes", "no"], "pos_label": "yes"}
        assert calibration_error(names, proba, **kwargs) == calibration_error(y, q)

    def test_two_columns_are_pooled_when_asked(self):
        # (.2, 0) (.4, 1) | (.6, 0) (.8, 1): .3 - .5 and .7 - .5
        proba = [[0.8, 0.2], [0.4, 0.6]]
        kwargs = {"labels": [0, 1], "bin_size": 2, "multi_class": "pooled"}
        error = calibration_error([0, 0], proba, **kwargs)
        assert error == pytest.approx(0.2)

    def test_a_class_that_never_occurs_has_an_error_too(self):
        found = calibration_error(
            [0, 1], PROBA, labels=[0, 1, 2], multi_class="per_class", bin_size=1
        )
        assert found[2] == pytest.approx(0.1)


class TestLabels:
    Q = (0.1, 0.2, 0.8, 0.9)

    @pytest.mark.parametrize(
        ("y", "pos_label"),
        [
            ([0, 0, 1, 1], None),
            ([-1, -1, 1, 1], None),
            ([False, False, True, True], None),
            ([0.0, 0.0, 1.0, 1.0], None),
            (np.array([0, 0, 1, 1], dtype=np.uint8), None),
            (np.array([0, 0, 1, 1], dtype=object), None),
            ([[0], [0], [1], [1]], None),
            ([1, 1, 2, 2], 2),
            (["no", "no", "yes", "yes"], "yes"),
            (["a", "b", "yes", "yes"], "yes"),
            (np.array(["no", "no", "yes", "yes"], dtype=object), "yes"),
            ([0, 0, 1, 1], True),
        ],
    )
    def test_every_spelling_of_the_positive_class_gives_the_same(self, y, pos_label):
        error = calibration_error(y, self.Q, bin_size=2, pos_label=pos_label)
        assert error == pytest.approx(0.15)

    def test_pos_label_zero_turns_the_question_round(self):
        # q is the probability of the label 0, which the first two rows have
        error = calibration_error([0, 0, 1, 1], self.Q, bin_size=2, pos_label=0)
        assert error == pytest.approx(0.85)

    @pytest.mark.parametrize("y", [[0, 0], [1, 1], [-1, -1], [True, True]])
    def test_one_of_the_usual_labels_alone_is_enough(self, y):
        positive = max(y) == 1
        error = calibration_error(y, [0.3, 0.3])
        assert error == pytest.approx(0.7 if positive else 0.3)

    def test_without_positives_every_label_is_negative(self):
        assert calibration_error(["b", "b"], [0.3, 0.3], pos_label="a") == (
            pytest.approx(0.3)
        )


class TestContainers:
    Y, Q = make_calibrated_pairs(80, random_state=5)

    @pytest.mark.parametrize(
        "wrap",
        [
            list,
            tuple,
            pd.Series,
            lambda a: pd.Series(a, index=np.random.default_rng(0).permutation(80)),
            lambda a: pd.Series(a).convert_dtypes(),
            pl.Series,
            lambda a: np.repeat(a, 2)[::2],
        ],
        ids=["list", "tuple", "pandas", "shuffled index", "nullable", "polars", "view"],
    )
    def test_a_column_may_come_in_any_container(self, wrap):
        weight = np.arange(80)
        found = calibration_error(
            wrap(self.Y), wrap(self.Q), sample_weight=wrap(weight)
        )
        expected = calibration_error(self.Y, self.Q, sample_weight=weight)
        assert found == expected

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_a_matrix_may_come_in_a_data_frame(self, frame):
        y, proba = random_matrix(0)
        columns = dict(zip("ANV", proba.T, strict=True))
        found = calibration_error(np.array(list("ANV"))[y], frame(columns))
        assert found == calibration_error(y, proba)

    def test_categorical_labels_are_labels(self):
        y = pd.Series(np.array(["no", "yes"])[self.Y], dtype="category")
        found = calibration_error(y, self.Q, pos_label="yes")
        assert found == calibration_error(self.Y, self.Q)

    def test_a_matrix_of_float32_agrees_with_float64(self):
        y, proba = random_matrix(0, n=300)
        found = calibration_error(y, proba.astype(np.float32))
        assert found == pytest.approx(calibration_error(y, proba), abs=1e-6)

    @pytest.mark.parametrize("dtype", [int, bool])
    def test_hard_decisions_are_probabilities(self, dtype):
        error = calibration_error([0, 1, 1], np.array([0, 1, 0], dtype), bin_size=1)
        # rows with q = 0 share their one positive
        assert error == pytest.approx(math.sqrt((0.25 + 0.25 + 0) / 3))

    @pytest.mark.parametrize("n", [50, 2**18])
    @pytest.mark.parametrize("kwargs", [*WAYS, {"sample_weight": 2}], ids=as_id)
    def test_inputs_are_not_modified(self, n, kwargs):
        y, q = make_calibrated_pairs(n, random_state=0)
        q[:5] = [-0.0, 0.0, 1.0, 1 + 1e-12, -1e-12]
        copies = y.copy(), q.copy()
        if "sample_weight" in kwargs:
            kwargs = {"sample_weight": np.arange(n)}
        for array in (y, q, *kwargs.values()):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        calibration_error(y, q, **kwargs)
        assert y.tobytes() == copies[0].tobytes()
        assert q.tobytes() == copies[1].tobytes()

    @pytest.mark.parametrize("kwargs", CLASSES, ids=as_id)
    def test_a_matrix_is_not_modified(self, kwargs):
        y, proba = random_matrix(0)
        copies = y.copy(), proba.copy()
        calibration_error(y, proba, sample_weight=np.arange(12), **kwargs)
        assert (y == copies[0]).all()
        assert (proba == copies[1]).all()


class TestExtremeProbabilities:
    def test_minus_zero_is_zero(self):
        q = np.array([0.0, -0.0, 0.0, -0.0, 0.5, 0.5])
        y = [1, 0, 0, 0, 1, 0]
        for bin_size in (1, 2, 3, 4):
            found = calibration_error(y, q, bin_size=bin_size)
            assert found == calibration_error(y, np.abs(q), bin_size=bin_size)

    def test_denormal_probabilities_are_in_order(self):
        # bins (0, 5e-324) and (1e-310, .5): mean y 0 and 1/2
        q = [0.5, 1e-310, 0.0, 5e-324]
        error = calibration_error([1, 0, 0, 0], q, bin_size=2, norm="max")
        assert error == pytest.approx(0.25)

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    def test_zeros_and_ones_that_are_right_have_no_error(self):
        q = [0.0, 1.0] * 50
        for kwargs in WAYS:
            assert calibration_error(q, q, **kwargs) == 0

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    @pytest.mark.parametrize("q", [0.0, 1.0])
    def test_zeros_and_ones_that_are_wrong_have_all_of_it(self, q):
        for kwargs in WAYS:
            error = calibration_error([int(1 - q)] * 50, [q] * 50, **kwargs)
            assert error == pytest.approx(1)

    @pytest.mark.parametrize(
        ("dtype", "excess"), [(np.float64, 1e-9), (np.float32, 16 * 2.0**-23)]
    )
    def test_what_rounding_adds_beyond_the_ends_is_clipped(self, dtype, excess):
        q = np.array([-excess * 0.9, 0.5, 1 + excess * 0.9], dtype)
        assert calibration_error([0, 1, 1], q, bin_size=1, norm="l1") == (
            pytest.approx(0.5 / 3, abs=1e-15)
        )


def test_numbers_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="'y_proba'.*must contain numbers"):
        calibration_error([0, 1], [10**400, 0.5])
    with pytest.raises(ValueError, match="'sample_weight'.*must contain numbers"):
        calibration_error([0, 1], [0.2, 0.5], sample_weight=[10**400, 1])


@pytest.mark.parametrize("name", ["y_true", "y_proba", "sample_weight", "groups"])
def test_masked_entries_are_not_read(name):
    data = {
        "y_true": [0, 1, 1],
        "y_proba": [0.2, 0.7, 0.9],
        "sample_weight": [1, 2, 1],
        "groups": [0, 0, 1],
    }
    data[name] = np.ma.masked_array(data[name], mask=[False, True, False])
    message = f"'{name}' parameter of calibration_error must not have masked .* row 1"
    with pytest.raises(ValueError, match=message):
        calibration_error(**data)


def test_rows_that_do_not_sum_to_one_are_said():
    y, proba = np.array([0, 1, 2]), np.array([[0.9, 0.5, 0.4]] * 3)
    with pytest.warns(UserWarning, match=r"3 of 3 rows .* to 1: row 0 sums to 1.8"):
        found = calibration_error(y, proba, bin_size=3)
    # bins of .4, .5 and .9, each with one positive in three pairs
    distances = np.array([0.4, 0.5, 0.9]) - 1 / 3
    assert found == pytest.approx(math.sqrt(np.mean(distances**2)))


class TestHardLabels:
    Y, HARD = np.arange(20) % 2, np.arange(20) // 3 % 2

    @pytest.mark.parametrize(
        "function", [calibration_error, calibration_error_interval]
    )
    def test_they_are_said_and_may_be_meant(self, function):
        for q in (self.HARD, self.HARD.astype(float), np.eye(2)[self.HARD]):
            message = r'20 rows are 0 or 1.*response_method="predict_proba"'
            with pytest.warns(UserWarning, match=message) as caught:
                found = function(self.Y, q)
            assert caught[0].filename == __file__
            assert function(self.Y, q, hard_labels=True) == found
        with pytest.raises(TypeError, match="'hard_labels' .* True or False. Got 1"):
            function(self.Y, self.HARD, hard_labels=1)

    @pytest.mark.parametrize(
        "function",
        [
            adaptive_reliability_curve,
            score_decomposition,
            brier_statistics,
            lambda y, q: compare_calibration(y, q, 0.5 * q),
            ReliabilityDisplay.from_predictions,
        ],
    )
    def test_every_metric_says_them_and_reversed_probabilities(self, function):
        with pytest.warns(UserWarning, match='"predict_proba"\\).$'):
            function(self.Y, self.HARD)
        with pytest.warns(UserWarning, match="Positive labels are rarer"):
            function(self.Y, 0.7 - 0.4 * self.Y)

    def test_few_rows_or_one_probability_are_not_said(self):
        calibration_error(self.Y[:19], self.HARD[:19])
        calibration_error(np.tile(self.Y, 10), np.r_[np.tile(self.HARD, 10)[:-1], 0.5])
        weight = np.r_[np.zeros(1), np.ones(19)]
        calibration_error(self.Y, self.HARD, sample_weight=weight)

    def test_a_scorer_of_predictions_is_told(self):
        X, y = load_iris(return_X_y=True)
        model = GaussianNB().fit(X, y == 1)
        with pytest.warns(UserWarning, match="make_scorer needs response_method"):
            make_scorer(calibration_error)(model, X, y == 1)
        make_scorer(calibration_error, response_method="predict_proba")(
            model, X, y == 1
        )
        make_scorer(calibration_error, hard_labels=True)(model, X, y == 1)

    def test_the_answers_of_an_estimator_give_the_warning_as_well(self):
        X, y = load_iris(return_X_y=True)
        tree = DecisionTreeClassifier(random_state=0).fit(X, y)
        assert set(np.unique(tree.predict_proba(X))) == {0, 1}
        message = "All probabilities of the 150 rows are 0 or 1.* the query must return"
        with pytest.warns(UserWarning, match=message):
            assert calibration_error_scorer(tree, X, y) == 0
        with pytest.warns(UserWarning, match=message):
            ReliabilityDisplay.from_estimator(tree, X, y)
        y[0] = 1  # one wrong answer, for a ranking
        with pytest.warns(UserWarning, match=message):
            RiskCoverageDisplay.from_estimator(tree, X, y)


def test_swapped_arguments_are_said():
    y, q = np.array([0, 1, 1, 0]), np.array([0.25, 0.5, 0.75, 0.125])
    message = "numbers such as 0.25. Are the labels and the probabilities swapped"
    with pytest.raises(ValueError, match=message) as caught:
        calibration_error(q, y)
    assert len(str(caught.value)) < 200


def test_an_unknown_keyword_names_the_known_one():
    message = r"unexpected keyword argument 'bins'.* Did you mean 'n_bins'\?"
    with pytest.raises(TypeError, match=message):
        calibration_error([0, 1], [0.2, 0.7], bins=10)
    with pytest.raises(TypeError, match="argument 'xyz'$"):
        calibration_error([0, 1], [0.2, 0.7], xyz=10)
