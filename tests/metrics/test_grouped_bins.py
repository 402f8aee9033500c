"""Dependent rows: only rows of different groups are multiplied."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from skcalib._pairs import check_pairs
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import _grouped_bins, calibration_error, calibration_error_interval
from skcalib.metrics._bins import Binning
from skcalib.metrics._grouped_bins import GroupedBins, GroupedRows

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"

NUMBERS = ("estimate", "plug_in", "low", "high", "p_value", "n_bins", "n_groups")


def numbers(interval):
    return [getattr(interval, name) for name in NUMBERS]


def sentences(n_groups=60, size=7, seed=0, digits=17):
    """Return labels, probabilities and groups of sentences of up to `size` tokens."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, size + 1, n_groups))
    q = rng.beta(0.5, 0.5, groups.size).round(digits)
    shift = 0.1 * rng.normal(size=n_groups)[groups]
    return (rng.random(groups.size) < q + shift).astype(int), q, groups


def debiased(y, q, groups, **kwargs):
    return calibration_error(y, q, groups=groups, debias=True, squared=True, **kwargs)


class TestDebiasedSquare:
    def test_one_bin_by_hand(self):
        # residuals -.8, -.7 (group a), .6 (group b): products of different groups
        # 2 (-.48 - .42) = -1.8, four ordered pairs
        found = debiased([1, 1, 0], [0.2, 0.3, 0.6], list("aab"), bin_size=3)
        assert found == pytest.approx(-1.8 / 4)

    def test_it_is_the_rational_mean_over_the_orders_of_ties(self, exact, draw_rows):
        compared = 0
        for seed in range(250):
            y, q, groups, size = draw_rows(seed, n_max=6)
            size = max(size, 2)
            expected = exact(y, q, size, groups=groups.tolist()).debiased_square()
            if expected is None:
                with pytest.raises(ValueError, match="rows of at least two groups"):
                    debiased(y, q, groups, bin_size=size)
                continue
            compared += 1
            found = debiased(y, q, groups, bin_size=size)
            assert found == pytest.approx(expected, abs=1e-12), (y, q, groups, size)
        assert compared > 80

    @pytest.mark.parametrize("q", [[0.1, 0.9], [0.9, 0.9]])
    @pytest.mark.parametrize("groups", [None, [0, 1]])
    def test_bins_of_one_pair_are_refused(self, q, groups):
        with pytest.raises(ValueError, match="at least two pairs|at least two groups"):
            debiased([0, 0], q, groups, bin_size=1)

    @pytest.mark.parametrize("digits", [1, 17])
    @pytest.mark.parametrize("bin_size", [2, 5, 20, 300])
    def test_a_group_for_each_row_changes_nothing(self, bin_size, digits):
        y, q = make_calibrated_pairs(200, k=0.1, random_state=0)
        q = q.round(digits)
        kwargs = {"bin_size": bin_size, "debias": True, "squared": True}
        expected = calibration_error(y, q, **kwargs)
        found = calibration_error(y, q, groups=np.arange(200), **kwargs)
        assert found == pytest.approx(expected, abs=1e-13)

    @pytest.mark.parametrize("bin_size", [7, 50])
    def test_weighted_rows_that_are_groups_count_once(self, bin_size):
        # integer weights: copies of a row are one group, and are never multiplied
        y, q = make_calibrated_pairs(200, k=0.1, random_state=0)
        weight = np.random.default_rng(0).integers(1, 4, 200)
        groups = np.arange(200)
        found = debiased(y, q, groups, sample_weight=weight, bin_size=bin_size)
        copies = [array.repeat(weight) for array in (y, q, groups)]
        assert found == pytest.approx(debiased(*copies, bin_size=bin_size), abs=1e-13)

    @pytest.mark.parametrize("digits", [1, 17])
    def test_a_weight_equals_repetition_within_the_group(self, digits):
        y, q, groups = sentences(digits=digits)
        weight = np.random.default_rng(1).integers(0, 4, y.size)
        found = debiased(y, q, groups, sample_weight=weight, bin_size=30)
        expected = debiased(
            *(np.repeat(a, weight) for a in (y, q, groups)), bin_size=30
        )
        assert found == pytest.approx(expected, abs=1e-13)

    def test_groups_of_a_matrix_are_those_of_its_rows(self):
        rng = np.random.default_rng(0)
        proba, y = rng.dirichlet([1, 1, 1], 40), rng.integers(0, 3, 40)
        groups = np.arange(40) // 2
        found = debiased(y, proba, groups, bin_size=30)
        indicator = (y[:, None] == np.arange(3)).ravel()
        expected = debiased(indicator, proba.ravel(), groups.repeat(3), bin_size=30)
        assert found == pytest.approx(expected, abs=1e-14)

    @pytest.mark.parametrize("multi_class", ["top_label", "per_class"])
    def test_groups_go_with_every_question_about_a_matrix(self, multi_class):
        rng = np.random.default_rng(0)
        proba, y = rng.dirichlet([1, 1, 1], 40), rng.integers(0, 3, 40)
        kwargs = {"multi_class": multi_class, "bin_size": 10}
        found = debiased(y, proba, np.arange(40), **kwargs)
        plain = calibration_error(y, proba, debias=True, squared=True, **kwargs)
        np.testing.assert_allclose(found, plain, atol=1e-13)

    def test_without_debias_groups_change_nothing(self):
        y, q, groups = sentences()
        assert calibration_error(y, q, groups=groups) == calibration_error(y, q)

    @pytest.mark.parametrize(
        "function", [calibration_error, calibration_error_interval]
    )
    def test_a_bin_of_one_group_is_named(self, function):
        kwargs = {"debias": True} if function is calibration_error else {}
        message = (
            f"{function.__name__} needs rows of at least two groups in every bin .*"
            "Got one group in 1 of 3 bins of size 2, first in bin 1"
        )
        groups = ["a", "b", "c", "c", "d", "e"]
        with pytest.raises(ValueError, match=message):
            function([0, 1] * 3, np.arange(6) / 6, groups=groups, bin_size=2, **kwargs)

    def test_residuals_that_cancel_leave_no_rounding(self):
        # r = .1, -.1 | -.2, .3: the sums of groups are 0 and .1, their product is 0
        y, q, groups = [0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3], [0, 0, 1, 1]
        assert debiased(y, q, groups, bin_size=4) == 0

    def test_rows_of_pooled_classes_are_groups(self):
        with pytest.raises(ValueError, match="each row of pooled classes is a group"):
            calibration_error_interval(["a"], [[0.5, 0.3, 0.2]], labels=list("abc"))


class TestGroupNames:
    @pytest.mark.parametrize(
        "rename",
        [
            lambda g: -3 * g,
            lambda g: 7.5 - g,
            lambda g: np.array([f"doc {i}" for i in g]),
            lambda g: [("doc", "page")[i % 2] + str(i) for i in g],
            lambda g: np.array([i if i % 2 else str(i) for i in g], dtype=object),
            lambda g: pd.Series(g, index=np.arange(g.size)[::-1]),
            lambda g: np.random.default_rng(0).permutation(100)[g],
        ],
        ids=["negative", "float", "text", "list", "mixed", "pandas", "shuffled"],
    )
    @pytest.mark.parametrize("digits", [1, 17])
    def test_other_names_change_nothing(self, rename, digits):
        y, q, groups = sentences(digits=digits)
        found = calibration_error_interval(y, q, groups=rename(groups))
        expected = calibration_error_interval(y, q, groups=groups)
        assert numbers(found) == pytest.approx(numbers(expected), rel=1e-9)

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([0, 1], "one entry for each of the 3 rows. Got 2 instead"),
            ([0, np.nan, 1], "a label in every row. Got .*nan.* in row 1"),
            ([0, 1, None], "a label in every row. Got None in row 2"),
            ([[0, 1], [1, 1], [2, 1]], r"one-dimensional.*Got shape \(3, 2\)"),
        ],
    )
    def test_bad_groups_are_named(self, groups, message):
        message = f"The 'groups' parameter of calibration_error must.*{message}"
        with pytest.raises(ValueError, match=message):
            calibration_error([0, 1, 1], [0.1, 0.2, 0.3], groups=groups)


class TestInterval:
    @pytest.mark.parametrize("digits", [1, 17])
    @pytest.mark.parametrize("bin_size", ["auto", 7, 100])
    def test_the_order_of_rows_does_not_matter(self, bin_size, digits):
        y, q, groups = sentences(digits=digits)
        expected = calibration_error_interval(y, q, groups=groups, bin_size=bin_size)
        for seed in range(5):
            o = np.random.default_rng(seed).permutation(y.size)
            found = calibration_error_interval(
                y[o], q[o], groups=groups[o], bin_size=bin_size
            )
            assert numbers(found) == pytest.approx(numbers(expected), rel=1e-9)

    @pytest.mark.parametrize("digits", [1, 17])
    @pytest.mark.parametrize("n", [1500, 2500])  # the second with sparse products
    @pytest.mark.parametrize("k", [0.02, 0.1])
    def test_a_group_for_each_row_is_close_to_none(self, n, k, digits):
        y, q = make_calibrated_pairs(n, k=k, random_state=0)
        q = q.round(digits)
        found = calibration_error_interval(y, q, groups=np.arange(n))
        plain = calibration_error_interval(y, q)
        assert found.n_groups == n
        assert found.estimate == pytest.approx(plain.estimate, abs=1e-12)
        assert found.plug_in == pytest.approx(plain.plug_in, abs=1e-12)
        width = plain.high - plain.low
        assert found.low == pytest.approx(plain.low, abs=0.1 * width)
        assert found.high == pytest.approx(plain.high, abs=0.1 * width)

    @pytest.mark.filterwarnings("ignore:Positive labels are rarer")
    def test_its_estimate_multiplies_rows_of_different_groups(self):
        y, q, groups = sentences(n_groups=300)
        y = (y * (q < 0.6)).astype(int)
        found = calibration_error_interval(y, q, groups=groups, bin_size=20)
        expected = debiased(y, q, groups, bin_size=20)
        assert expected > 0
        assert found.estimate == pytest.approx(np.sqrt(expected), rel=1e-12)
        assert found.n_groups == 300

    @pytest.mark.filterwarnings(FEW)
    @pytest.mark.filterwarnings("ignore:The interval is based on")
    def test_automatic_bins_grow_until_each_has_two_groups(self):
        # the groups meet in the middle only, so one bin has to hold them all
        y, q = make_calibrated_pairs(1000, random_state=0)
        found = calibration_error_interval(y, q, groups=q < 0.5)
        assert (found.n_bins, found.n_groups) == (1, 2)
        apart = calibration_error_interval(y, q, groups=np.arange(1000) % 2)
        assert apart.bin_size == 25

    def test_few_groups_of_many_rows_do_not_widen_it(self):
        # 60 groups of 200 rows, all nearly independent: close to no groups at all
        y, q = make_calibrated_pairs(12_000, a=0.1, b=2, random_state=0)
        found = calibration_error_interval(y, q, groups=np.arange(12_000) // 200)
        alone = calibration_error_interval(y, q)
        # what never came in 60 rows may come in 5% of them, but these are 12,000
        assert found.high < 1.5 * alone.high < 0.04

    def test_a_single_group_has_no_interval(self):
        with pytest.raises(ValueError, match="needs rows of at least two groups"):
            calibration_error_interval([0, 1], [0.2, 0.6], groups=["a", "a"])

    def test_copies_of_a_row_in_one_group_tell_nothing_new(self):
        y, q = make_calibrated_pairs(600, k=0.1, random_state=0)
        once = calibration_error_interval(y, q, bin_size=20)
        twice, thrice = (
            calibration_error_interval(
                y.repeat(m),
                q.repeat(m),
                groups=np.arange(600).repeat(m),
                bin_size=20 * m,
            )
            for m in (2, 3)
        )
        for name in ("estimate", "low", "high", "n_effective_groups"):
            first, second = getattr(twice, name), getattr(thrice, name)
            # The mean has as many binomial trials as there are rows.
            rel = 0.02 if name == "low" else 1e-6
            assert second == pytest.approx(first, rel=rel), name
        # z = 4.5 of Spiegelhalter's test of the 600 rows has the p-value 7e-6
        assert max(twice.pvalue, thrice.pvalue) < 7e-6
        assert twice.n_effective_groups == pytest.approx(600)
        assert twice.estimate == pytest.approx(once.estimate, rel=1e-10)
        width = once.high - once.low
        assert twice.low == pytest.approx(once.low, abs=0.1 * width)
        assert twice.high == pytest.approx(once.high, abs=0.1 * width)

    @pytest.mark.parametrize(
        ("groups", "expected"),
        # Two bins of two rows. A row is expected to share its group and bin with
        # (2 - 1) (1/4 + 1/4) = 1/2 other rows by chance.
        [([0, 0, 1, 1], 2 - 0.5), ([0, 1, 0, 1], 1)],
    )
    def test_repetition_is_the_number_of_rows_that_share_group_and_bin(
        self, groups, expected
    ):
        (pairs,) = check_pairs([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], groups=groups)
        found = GroupedBins(GroupedRows(pairs), Binning(2, None, "quantile"))
        assert found.repetition == expected

    def test_bins_of_repeated_rows_contain_enough_groups(self):
        # 10 rows of each of 100 groups: bins of .8 sqrt(1000) rows contain 2.5 groups
        widths = []
        for seed in range(10):
            y, q = make_calibrated_pairs(100, k=0.1, random_state=seed)
            once = calibration_error_interval(y, q)
            ten = calibration_error_interval(
                y.repeat(10), q.repeat(10), groups=np.arange(100).repeat(10)
            )
            assert 50 <= ten.bin_size <= 90
            widths.append((once.high - once.low, ten.high - ten.low))
        once, ten = np.mean(widths, axis=0)
        assert ten < 1.3 * once

    def test_spread_rows_of_a_group_do_not_change_the_bins(self):
        y, q = make_calibrated_pairs(1000, random_state=0)
        plain = calibration_error_interval(y, q)
        found = calibration_error_interval(y, q, groups=np.arange(1000) // 10)
        assert found.bin_size == plain.bin_size

    @pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.1, 2)])
    def test_one_group_more_makes_no_jump(self, a, b):
        # without two rows in a group, rows are independent
        y, q = make_calibrated_pairs(2001, a=a, b=b, k=0.02, random_state=1)
        groups = np.arange(2001)
        # narrow bins raise the upper end of automatic bins for independent rows only
        size = calibration_error_interval(y, q).bin_size
        many = calibration_error_interval(y, q, groups=groups, bin_size=size)
        fewer = calibration_error_interval(y, q, groups=groups % 2000, bin_size=size)
        assert (fewer.n_groups, many.n_groups) == (2000, 2001)
        width = many.high - many.low
        assert fewer.low == pytest.approx(many.low, abs=0.1 * width)
        assert fewer.high == pytest.approx(many.high, abs=0.12 * width)
        # the test of groups combines fewer statistics
        assert fewer.pvalue == pytest.approx(many.pvalue, abs=0.12)

    def test_sampling_weights_widen_it_where_every_row_is_a_group(self):
        y, q = make_calibrated_pairs(1000, k=0.1, random_state=0)
        kwargs = {"sample_weight": np.full(1000, 9), "bin_size": 180}
        sampled = calibration_error_interval(y, q, groups=np.arange(1000), **kwargs)
        plain = calibration_error_interval(y, q, bin_size=20)
        frequencies = calibration_error_interval(y, q, **kwargs)
        width, expected, narrow = (
            i.high - i.low for i in (sampled, plain, frequencies)
        )
        assert width == pytest.approx(expected, rel=0.1)
        assert narrow < 0.5 * expected

    def test_classes_of_one_row_are_dependent(self):
        rng = np.random.default_rng(0)
        proba, y = rng.dirichlet([1, 1, 1], 200), rng.integers(0, 3, 200)
        found = calibration_error_interval(y, proba)
        asked = calibration_error_interval(y, proba, groups=np.arange(200))
        assert numbers(found) == pytest.approx(numbers(asked), rel=1e-12)
        assert found.n_groups == 200

    @pytest.mark.filterwarnings("ignore:The probabilities in")
    @pytest.mark.parametrize("digits", [1, 17])
    @pytest.mark.parametrize("n", [60, 800])  # the second with sparse products
    def test_a_weight_of_a_row_of_classes_equals_repetition(self, n, digits):
        rng = np.random.default_rng(0)
        proba, y = rng.dirichlet([1, 1, 1], n).round(digits), rng.integers(0, 3, n)
        weight = rng.integers(0, 6, n)
        found = calibration_error_interval(y, proba, sample_weight=weight)
        repeated = calibration_error_interval(
            y.repeat(weight), proba.repeat(weight, axis=0)
        )
        for name in ("estimate", "plug_in", "low", "high", "p_value", "n_bins"):
            value = getattr(repeated, name)
            assert getattr(found, name) == pytest.approx(value, rel=1e-7), name


class TestDependence:
    """Sentences of twelve tokens, of which one number decides all labels.

    Rates are of 300 data sets: their standard error is sqrt(.05 * .95 / 300) = .0126.
    """

    GROUPS = np.repeat(np.arange(40), 12)
    Q = np.random.default_rng(1).beta(2, 2, (40, 12))

    def intervals(self, frequency, groups=GROUPS):
        rng = np.random.default_rng(3)
        for _ in range(300):
            y = (rng.random((40, 1)) < frequency).ravel()
            yield calibration_error_interval(y, self.Q.ravel(), groups=groups)

    def test_calibrated_sentences_are_seldom_rejected(self):
        rejected = np.mean([i.pvalue < 0.05 for i in self.intervals(self.Q)])
        assert rejected <= 0.05 + 2 * 0.0126

    @pytest.mark.slow
    def test_without_groups_they_often_are(self):
        rejected = np.mean([i.pvalue < 0.05 for i in self.intervals(self.Q, None)])
        assert rejected > 0.2

    @pytest.mark.slow
    def test_the_true_error_of_overconfident_sentences_is_covered(self):
        frequency = expit(logit(self.Q) / 1.6)
        truth = np.sqrt(np.mean((self.Q - frequency) ** 2))
        found = self.intervals(frequency)
        covered = np.mean([i.low <= truth <= i.high for i in found])
        assert covered >= 0.95 - 0.01 - 2 * 0.0126


class TestMoments:
    """Variance and third moment of the products, against the full double sum."""

    def bins_of(self, n_groups, bin_size=30):
        y, q, groups = sentences(n_groups=n_groups)
        (pairs,) = check_pairs(y, q, groups=groups)
        return GroupedBins(GroupedRows(pairs), Binning(bin_size, None, "quantile"))

    def products(self, bins, values):
        """Return h_cd = sum_b w_b r_cb r_db / pairs_b, c and d different."""
        r = bins.entries.table(values).toarray()
        h = (r * bins.scale) @ r.T
        np.fill_diagonal(h, 0)
        return h

    @pytest.mark.parametrize("n_groups", [2, 3, 50, 400])
    @pytest.mark.parametrize("gain", [0, 1e9], ids=["sparse", "dense"])
    def test_few_groups_have_those_of_the_double_sum(self, n_groups, gain, monkeypatch):
        monkeypatch.setattr(_grouped_bins, "_DENSE_GAIN", gain)
        bins = self.bins_of(n_groups, bin_size=30 if n_groups > 9 else 100)
        columns = bins.entries.residual, bins.centred
        for values, found in zip(columns, bins.product_moments(*columns), strict=True):
            h = self.products(bins, values)
            expected = 2 * np.sum(h**2), 8 * np.einsum("ab,bc,ca->", h, h, h)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-20)

    @pytest.mark.parametrize("n_columns", [1, 2])
    @pytest.mark.parametrize(
        ("constants", "n_groups", "bin_size"),
        [
            ({}, 2100, 30),  # in one table
            ({"_CELLS": 0, "_PART": 2000, "_PRODUCTS": 100}, 2100, 15),  # in parts
            ({"_PART": 100, "_PRODUCTS": 100}, 30, 3),  # groups in parts
            ({"_CELLS": 0, "_EMPTY": 1e-9, "_BLOCK": 100}, 2100, 15),  # sparse
            ({"_EMPTY": 1e-9, "_BLOCK": 5000}, 30, 3),
        ],
    )
    def test_many_groups_have_the_variance_of_the_double_sum(
        self, constants, n_groups, bin_size, n_columns, monkeypatch
    ):
        for name, value in {"_DENSE": 0, **constants}.items():
            monkeypatch.setattr(_grouped_bins, name, value)
        bins = self.bins_of(n_groups, bin_size)
        columns = (bins.entries.residual, bins.centred)[:n_columns]
        for values, (variance, third) in zip(
            columns, bins.product_moments(*columns), strict=True
        ):
            h = self.products(bins, values)
            assert variance == pytest.approx(2 * np.sum(h**2), rel=1e-9)
            assert third > 0

    def test_few_groups_of_many_sets(self, monkeypatch):
        monkeypatch.setattr(_grouped_bins, "_DENSE", 0)
        bins = self.bins_of(5, bin_size=30)
        expected = 2 * np.sum(self.products(bins, bins.entries.residual) ** 2)
        ((variance, _),) = bins.product_moments(bins.entries.residual)
        assert variance == pytest.approx(expected, rel=1e-9)

    def test_the_debiased_square_is_the_sum_of_the_products(self):
        bins = self.bins_of(400)
        expected = self.products(bins, bins.entries.residual).sum()
        assert bins.debiased_square == pytest.approx(expected, rel=1e-10)
