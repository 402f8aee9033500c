"""Calibration error against bin size and sample size."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import bin_size_curve, calibration_error, sample_size_curve

# Matrices of rounded probabilities.
pytestmark = pytest.mark.filterwarnings("ignore:The probabilities in")


# Residuals r = q - y in tenths: 1, 2, -7, 6, -2, -1.
Y = [0, 0, 1, 0, 1, 1]
Q = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]

# Two positives among four rows of 0.5, which the cuts 2 and 4 divide.
TIED_Q = [0.2, 0.5, 0.5, 0.5, 0.5, 0.9]
TIED_Y = [0, 1, 1, 0, 0, 1]

NORMS = ["l1", "l2", "max"]


def mixed_rows(seed, n=60):
    """Draw labels, rounded probabilities, weights (some 0) and groups."""
    rng = np.random.default_rng(seed)
    q = rng.beta(0.5, 0.5, n).round(1)
    y = (rng.random(n) < q).astype(int)
    return y, q, rng.integers(0, 4, n), rng.integers(0, 12, n)


def matrix(seed, n=40, k=3):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(n) % k), rng.dirichlet(np.ones(k), n).round(1)


def one_by_one(y, q, sizes, **params):
    return [calibration_error(y, q, bin_size=size, **params) for size in sizes]


class TestBinSizesByHand:
    def test_plain_errors_of_six_pairs(self):
        # Sums of r in tenths: bins of 2: 3, -1, -3; of 3: -4, 3; of 4 and 6: -1 in one
        curve = bin_size_curve(Y, Q, bin_sizes=[6, 3, 2, 1, 4])
        squares = [
            Fraction(1, 60) ** 2,
            (Fraction(4, 30) ** 2 + Fraction(3, 30) ** 2) / 2,
            (Fraction(3, 20) ** 2 + Fraction(1, 20) ** 2 + Fraction(3, 20) ** 2) / 3,
            Fraction(1 + 4 + 49 + 36 + 4 + 1, 600),
            Fraction(1, 60) ** 2,
        ]
        expected = [math.sqrt(square) for square in squares]
        np.testing.assert_allclose(curve.plug_in, expected, rtol=0, atol=1e-15)
        assert curve.bin_size.tolist() == [6, 3, 2, 1, 4]
        assert curve.n_bins.tolist() == [1, 2, 3, 6, 1]

    def test_debiased_squares_of_six_pairs(self):
        # ((sum r)^2 - sum r^2) / (n_b - 1), over N, in hundredths:
        # bins of 2: 9 - 5, 1 - 85, 9 - 5; of 3: (16 - 54) / 2, (9 - 41) / 2;
        # of 6: (1 - 95) / 5
        curve = bin_size_curve(Y, Q, bin_sizes=[2, 3, 6])
        expected = [-76 / 600, -35 / 600, -94 / 3000]
        np.testing.assert_allclose(curve.debiased_square, expected, atol=1e-15)
        assert curve.debiased.tolist() == [0, 0, 0]

    def test_ties_share_their_positives_in_proportion(self):
        # mean q .35 .5 .7 against mean y .25 .5 .75
        curve = bin_size_curve(TIED_Y, TIED_Q, bin_sizes=[2])
        assert curve.plug_in[0] == pytest.approx(math.sqrt(0.0125 / 3), abs=1e-15)

    @pytest.mark.parametrize("seed", range(12))
    def test_values_are_those_of_all_orders_of_tied_rows(self, exact, draw_rows, seed):
        y, q, groups, _ = draw_rows(seed)
        sizes = np.arange(1, len(q) + 1)
        for norm in NORMS:
            expected = [exact(y, q, size).error(norm) for size in sizes.tolist()]
            found = bin_size_curve(y, q, bin_sizes=sizes, norm=norm).plug_in
            np.testing.assert_allclose(found, expected, atol=1e-14)
        for size in sizes.tolist():
            expected = exact(y, q, size, groups).debiased_square()
            found = bin_size_curve(y, q, bin_sizes=[size], groups=groups)
            if expected is None or size == 1:
                assert found.debiased_square is None
            else:
                assert found.debiased_square[0] == pytest.approx(expected, abs=1e-14)


class TestOneSort:
    """Every value is that of calibration_error at its size, to the last bit."""

    SIZES = (20, 2, 7, 3, 60, 7, 59)

    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize("rounded", [False, True])
    def test_plain_errors(self, norm, rounded):
        y, q = make_calibrated_pairs(60, random_state=1)
        q = q.round(1) if rounded else q
        curve = bin_size_curve(y, q, bin_sizes=self.SIZES, norm=norm)
        assert curve.plug_in.tolist() == one_by_one(y, q, self.SIZES, norm=norm)
        assert curve.error is curve.plug_in

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("grouped", [False, True])
    def test_debiased_errors(self, weighted, grouped):
        y, q, weight, groups = mixed_rows(2)
        params = {"sample_weight": weight if weighted else None}
        params["groups"] = groups if grouped else None
        sizes = (40, 20, 5, 31)
        plain = bin_size_curve(y, q, bin_sizes=sizes, **params)
        assert plain.plug_in.tolist() == one_by_one(y, q, sizes, **params)
        curve = bin_size_curve(y, q, bin_sizes=sizes, debias=True, **params)
        assert curve.error.tolist() == one_by_one(y, q, sizes, debias=True, **params)
        squares = one_by_one(y, q, sizes, debias=True, squared=True, **params)
        assert curve.debiased_square.tolist() == squares
        assert plain.debiased_square.tolist() == squares

    @pytest.mark.parametrize("multi_class", [None, "pooled", "top_label"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_matrices(self, multi_class, weighted):
        y, proba = matrix(3)
        params = {"multi_class": multi_class, "labels": [0, 1, 2]}
        if weighted:
            params["sample_weight"] = np.arange(40) % 3
        curve = bin_size_curve(y, proba, bin_sizes=(2, 5, 30), **params)
        assert curve.plug_in.tolist() == one_by_one(y, proba, (2, 5, 30), **params)

    def test_pos_label_and_two_columns(self):
        q = np.array(Q)
        proba = np.column_stack([q, 1 - q])
        names = np.where(Y, "a", "b")
        curve = bin_size_curve(names, proba, bin_sizes=[2, 3], pos_label="a")
        np.testing.assert_allclose(
            curve.plug_in, bin_size_curve(Y, Q, bin_sizes=[2, 3]).plug_in, atol=1e-15
        )

    def test_many_pairs_agree_to_rounding(self):
        # calibration_error counts so many pairs instead of sorting them
        y, q = make_calibrated_pairs(2**18, a=0.1, b=2, random_state=0)
        curve = bin_size_curve(y, q, bin_sizes=[2000, 50_000])
        for debias, values in ((False, curve.plug_in), (True, curve.debiased)):
            expected = one_by_one(y, q, [2000, 50_000], debias=debias)
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


class TestDistributionsOfBinSizes:
    @given(st.integers(0, 2**32 - 1), st.integers(2, 200))
    def test_doubling_never_increases_the_plain_error(self, seed, n):
        y, q, weight, _ = mixed_rows(seed, n)
        weight[0] = 2
        sizes = 2 ** np.arange(int(np.log2(weight.sum())) + 1)
        for norm in NORMS:
            curve = bin_size_curve(
                y, q, bin_sizes=sizes, norm=norm, sample_weight=weight
            )
            assert (np.diff(curve.plug_in) <= 1e-12).all()

    def test_sizes_between_doublings_may_increase_it(self):
        # r = 1, 1, -1, -1 halves: bins of 2 see it, bins of 3 and 4 are one bin
        curve = bin_size_curve([0, 0, 0, 1, 1, 1], [0.5] * 6, bin_sizes=[4, 2])
        assert curve.plug_in.tolist() == [0, 0]
        y, q = [0, 0, 0, 1, 1, 1], [0.4, 0.41, 0.42, 0.58, 0.59, 0.6]
        narrow, wide = bin_size_curve(y, q, bin_sizes=[2, 3]).plug_in
        assert narrow < wide

    @pytest.mark.parametrize("k", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
    def test_the_plain_square_is_too_large_by_the_variance_of_the_frequencies(self, k):
        # E S = T2^2 + sum_b w_b Var(mean y), with T2 the error of the binned truth,
        # for labels drawn anew at the same q; the debiased square has no such term
        n, n_draws, sizes = 2400, 400, [2, 10, 60, 400]
        _, q, t = make_calibrated_pairs(n, k=k, return_frequency=True, random_state=5)
        order = np.argsort(q)
        q, t = q[order], t[order]
        rng = np.random.default_rng(6)
        plain, debiased = np.empty((2, n_draws, len(sizes)))
        for i in range(n_draws):
            curve = bin_size_curve((rng.random(n) < t) * 1, q, bin_sizes=sizes)
            plain[i], debiased[i] = curve.plug_in**2, curve.debiased_square
        for j, size in enumerate(sizes):
            binned = (q - t).reshape(-1, size).mean(axis=1)
            noise = np.mean(t * (1 - t)) * (n / size) / n
            expected = np.mean(binned**2) + noise
            error = plain[:, j].std(ddof=1) / math.sqrt(n_draws)
            assert abs(plain[:, j].mean() - expected) < 4 * error
            # products of different pairs: (sum d)^2 - sum d^2 over the number of them
            d = (q - t).reshape(-1, size)
            pairs = (d.sum(axis=1) ** 2 - (d**2).sum(axis=1)) / (size * (size - 1))
            error = debiased[:, j].std(ddof=1) / math.sqrt(n_draws)
            assert abs(debiased[:, j].mean() - pairs.mean()) < 4 * error
            if k == 0:
                # calibrated: the bias is mean q (1 - q) times bins over pairs
                assert expected == pytest.approx(np.mean(q * (1 - q)) / size)


class TestBinSizeResult:
    def test_debiased_values_are_absent_where_one_is_not_defined(self):
        curve = bin_size_curve(Y, Q, bin_sizes=[1, 3])
        assert curve.debiased is None
        assert curve.debiased_square is None
        assert set(curve.to_dict()) >= {"bin_size", "plug_in"}
        assert "debiased" not in curve.to_dict()
        assert bin_size_curve(Y, Q, bin_sizes=[3], norm="max").debiased is None
        lone = bin_size_curve(Y, Q, bin_sizes=[6, 2], groups=[0, 0, 1, 2, 3, 4])
        assert lone.debiased is None
        assert lone.n_groups == 5

    def test_inputs_are_not_modified(self):
        y, q, weight, groups = mixed_rows(7)
        copies = [array.copy() for array in (y, q, weight, groups)]
        bin_size_curve(y, q, bin_sizes=[10, 30], sample_weight=weight, groups=groups)
        sample_size_curve(y, q, sample_sizes=[20, 30], sample_weight=weight)
        for array, copy in zip((y, q, weight, groups), copies, strict=True):
            assert array.tolist() == copy.tolist()


class TestBinSizeErrors:
    @pytest.mark.parametrize(
        ("sizes", "params", "message"),
        [
            ([2, 7], {}, r"'bin_sizes'.* from 1 to .*, here 6\. Got 7 at index 1"),
            ([0, 2], {}, r"Got 0 at index 0"),
            ([3, 1], {"debias": True}, r"integers from 2 .* Got 1 at index 1"),
            ([], {}, r"Got an array of shape \(0,\)"),
            (3, {}, r"Got an array of shape \(\)"),
            ([[2], [3]], {}, r"Got an array of shape \(2, 1\)"),
            ([[2], [3, 4]], {}, r"Got rows of different lengths"),
            ([4], {"sample_weight": [0.5] * 6}, r"here 3\. Got 4 at index 0"),
            ([2], {"norm": "l3"}, r"'norm' parameter of bin_size_curve"),
            ([2], {"norm": "l1", "debias": True}, r"needs norm='l2'"),
            (
                [6, 2],
                {"debias": True, "groups": [0, 0, 1, 2, 3, 4]},
                "bin_size_curve needs rows of at least two groups.*3 bins of size 2",
            ),
        ],
    )
    def test_values(self, sizes, params, message):
        with pytest.raises(ValueError, match=message):
            bin_size_curve(Y, Q, bin_sizes=sizes, **params)

    @pytest.mark.parametrize("sizes", [[2.0, 3.0], [True], ["2"], [2, 2.5]])
    def test_kinds(self, sizes):
        with pytest.raises(TypeError, match="'bin_sizes' .* must contain integers"):
            bin_size_curve(Y, Q, bin_sizes=sizes)

    @pytest.mark.parametrize("multi_class", ["class_wise", "per_class"])
    def test_several_errors_make_no_curve(self, multi_class):
        y, proba = matrix(0)
        with pytest.raises(ValueError, match="bin_size_curve returns one curve"):
            bin_size_curve(y, proba, bin_sizes=[2], multi_class=multi_class)
        with pytest.raises(ValueError, match="sample_size_curve returns one curve"):
            sample_size_curve(y, proba, sample_sizes=[2], multi_class=multi_class)


class TestSampleSizes:
    def test_all_rows_give_the_error_of_the_sample(self):
        y, q, *_ = mixed_rows(8)
        curve = sample_size_curve(
            y, q, sample_sizes=[60], bin_size=7, n_repeats=3, random_state=0
        )
        np.testing.assert_allclose(
            curve.plug_in, calibration_error(y, q, bin_size=7), atol=1e-15
        )
        assert curve.standard_deviation[0] == pytest.approx(0, abs=1e-15)

    def test_two_of_three_rows_by_enumeration(self):
        # subsamples of r = .2, .4, -.5 in one bin: errors .3, .15, .05, debiased
        # squares .08, -.1, -.2
        y, q = [0, 0, 1], [0.2, 0.4, 0.5]
        curve = sample_size_curve(
            y, q, sample_sizes=[2], bin_size=2, n_repeats=3000, random_state=0
        )
        found, count = np.unique(curve.plug_in.round(12), return_counts=True)
        assert found.tolist() == [0.05, 0.15, 0.3]
        # 1,000 each, with a standard deviation of sqrt(3000 / 3 * 2 / 3) = 26
        assert (abs(count - 1000) < 4 * 26).all()
        assert set(curve.debiased_square.round(12).ravel()) == {0.08, -0.1, -0.2}

    @pytest.mark.slow
    def test_expected_square_of_a_calibrated_sample(self):
        # bins of b pairs: mean q (1 - q) / b, whatever the sample size; 1/8 for U
        y, q = make_calibrated_pairs(200_000, random_state=9)
        curve = sample_size_curve(
            y, q, sample_sizes=[200, 800], bin_size=20, n_repeats=300, random_state=1
        )
        squares = curve.plug_in**2
        error = squares.std(axis=1, ddof=1) / math.sqrt(300)
        assert (abs(squares.mean(axis=1) - 0.125 / 20) < 4 * error).all()
        square = curve.debiased_square
        error = square.std(axis=1, ddof=1) / math.sqrt(300)
        assert (abs(square.mean(axis=1)) < 4 * error).all()

    def test_mean_and_deviation_are_over_the_repeats(self):
        y, q = make_calibrated_pairs(300, random_state=0)
        params = {"sample_sizes": [100, 50], "random_state": 2, "n_repeats": 5}
        curve = sample_size_curve(y, q, **params)
        assert curve.n_repeats == 5
        assert curve.error.shape == (2, 5)
        np.testing.assert_allclose(curve.mean, curve.plug_in.mean(axis=1))
        np.testing.assert_allclose(
            curve.standard_deviation, np.std(curve.plug_in, axis=1, ddof=1)
        )
        debiased = sample_size_curve(y, q, debias=True, **params)
        assert debiased.plug_in.tolist() == curve.plug_in.tolist()
        roots = np.sqrt(np.maximum(curve.debiased_square, 0))
        np.testing.assert_allclose(debiased.error, roots)

    def test_bin_sizes_by_rule(self):
        y, q = make_calibrated_pairs(300, random_state=0)
        sizes = [2, 100, 250]

        def bins(rule):
            curve = sample_size_curve(y, q, sample_sizes=sizes, bin_size=rule)
            return curve.bin_size.tolist()

        assert bins("sqrt") == [2, 10, 16]
        assert bins("auto") == [2, round(100**0.6), round(250**0.6)]
        assert bins(2) == [2, 2, 2]

    def test_a_row_of_a_matrix_comes_with_all_its_classes(self):
        y, proba = matrix(1)
        curve = sample_size_curve(
            y, proba, sample_sizes=[40, 16], bin_size="sqrt", random_state=0
        )
        assert curve.bin_size.tolist() == [round(math.sqrt(120)), 7]
        expected = calibration_error(y, proba, bin_size=11)
        np.testing.assert_allclose(curve.plug_in[0], expected, atol=1e-15)

    def test_other_sizes_and_more_repeats_change_no_value(self):
        y, q = make_calibrated_pairs(300, random_state=0)
        several = sample_size_curve(
            y, q, sample_sizes=[200, 50], n_repeats=6, random_state=3
        )
        one = sample_size_curve(y, q, sample_sizes=[50], n_repeats=4, random_state=3)
        assert several.plug_in[1, :4].tolist() == one.plug_in[0].tolist()

    @pytest.mark.parametrize("classes", [1, 3])
    def test_the_seed_fixes_the_result_whatever_the_row_order(self, classes):
        y, q = matrix(2) if classes > 1 else mixed_rows(2)[:2]
        order = np.random.default_rng(0).permutation(y.size)
        params = {"sample_sizes": [20], "random_state": 4}
        np.testing.assert_allclose(
            sample_size_curve(y, q, **params).plug_in,
            sample_size_curve(y[order], q[order], **params).plug_in,
            atol=1e-15,
        )

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"sample_sizes": [7]}, r"'sample_sizes'.* rows, here 6\. Got 7"),
            ({"sample_sizes": [1]}, r"integers from 2 .* Got 1 at index 0"),
            ({"bin_size": 4}, r"from 1 to .* smallest subsample, here 3\. Got 4"),
            ({"bin_size": 1, "debias": True}, r"'bin_size'.* from 2 .* Got 1"),
            ({"bin_size": "root"}, r"'bin_size' .* 'auto', 'sqrt'\. Got 'root'"),
            ({"n_repeats": 1}, r"'n_repeats' .* at least 2"),
            ({"norm": "l1", "debias": True}, r"needs norm='l2'"),
            (
                {"sample_weight": [1, 1, 1.5, 1, 1, 1]},
                r"'sample_weight'.* contain integers.* Got 1.5 in row 2",
            ),
            ({"random_state": -1}, r"'random_state' parameter of sample_size_curve"),
        ],
    )
    def test_errors(self, params, message):
        params = {"sample_sizes": [3, 5], **params}
        with pytest.raises(ValueError, match=message):
            sample_size_curve(Y, Q, **params)

    def test_sizes_that_are_no_integers(self):
        with pytest.raises(TypeError, match="'sample_sizes' .* must contain integers"):
            sample_size_curve(Y, Q, sample_sizes=[2.0])
