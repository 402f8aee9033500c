"""Reliability curve: what is in each bin, intervals of frequencies, export."""

import math
import pickle
import sys

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import adaptive_reliability_curve, calibration_error

Y = [0, 0, 1, 0, 1, 1, 1]
Q = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9, 0.9]


def curve_by_hand(**kwargs):
    # bins .1 .2 .3 (labels 0 0 1) and .6 .8 .9 .9 (labels 0 1 1 1)
    return adaptive_reliability_curve(Y, Q, bin_size=3, **kwargs)


class TestBins:
    def test_two_bins_by_hand(self):
        curve = curve_by_hand()
        assert curve.prob_true == pytest.approx([1 / 3, 3 / 4])
        assert curve.prob_pred == pytest.approx([0.2, 0.8])
        assert curve.weight.tolist() == [3, 4]
        assert curve.proba_min.tolist() == [0.1, 0.6]
        assert curve.proba_max.tolist() == [0.3, 0.9]
        assert (curve.bin_size, curve.n_bins, curve.n_pairs) == (3, 2, 7)

    def test_standard_errors_are_those_of_a_frequency(self):
        # sqrt(2/9 / 3) and sqrt(3/16 / 4)
        expected = [math.sqrt(2 / 27), math.sqrt(3 / 64)]
        assert curve_by_hand().standard_error == pytest.approx(expected)

    def test_weights_count_as_rows(self):
        # total 6, cut at 3: (.1, .5 .5 | .5, .9 .9) with the labels of the .5 shared
        curve = adaptive_reliability_curve(
            [0, 1, 0, 1], [0.1, 0.5, 0.5, 0.9], bin_size=3, sample_weight=[1, 2, 1, 2]
        )
        assert curve.weight.tolist() == [3, 3]
        assert curve.prob_true == pytest.approx([4 / 9, (2 / 3 + 2) / 3])
        assert curve.prob_pred == pytest.approx([1.1 / 3, 2.3 / 3])
        assert curve.standard_error[0] == pytest.approx(math.sqrt(20 / 81 / 3))
        assert curve.n_pairs == 4

    def test_a_cut_that_rounding_moves_past_a_row_is_put_right(self):
        # Ten weights of .1 add up to a little less than 1, where the first cut is.
        y, q = make_calibrated_pairs(100, random_state=0)
        found = adaptive_reliability_curve(
            y, q, sample_weight=np.full(100, 0.1), bin_size=1
        )
        expected = adaptive_reliability_curve(y, q, bin_size=10)
        for name in ("proba_min", "proba_max"):
            values = getattr(expected, name).tolist()
            assert getattr(found, name).tolist() == values

    def test_a_tie_over_a_cut_is_in_both_bins(self):
        curve = adaptive_reliability_curve(
            [0, 1, 1, 0, 0, 1], [0.2, 0.5, 0.5, 0.5, 0.5, 0.9], bin_size=2
        )
        assert curve.proba_min.tolist() == [0.2, 0.5, 0.5]
        assert curve.proba_max.tolist() == [0.5, 0.5, 0.9]
        assert curve.prob_true == pytest.approx([0.25, 0.5, 0.75])

    @pytest.mark.parametrize(("n_bins", "weight"), [(2, [2, 2]), (4, [1, 1, 1, 1])])
    def test_zeros_are_counted_in_bins_of_equal_number(self, n_bins, weight):
        curve = adaptive_reliability_curve([0] * 4, [0, 0, 0, 0.5], n_bins=n_bins)
        assert curve.weight.tolist() == weight

    def test_zeros_and_ones_are_counted_in_bins_of_equal_width(self):
        curve = adaptive_reliability_curve(
            [0, 0, 0, 1, 1], [0, 0, 0, 0.75, 1], n_bins=2, strategy="uniform"
        )
        assert curve.weight.tolist() == [3, 2]
        assert curve.bin_size is None

    def test_empty_bins_of_equal_width_are_left_out(self):
        curve = adaptive_reliability_curve(
            [0, 1], [0.05, 0.95], n_bins=10, strategy="uniform"
        )
        assert curve.prob_pred == pytest.approx([0.05, 0.95])

    @pytest.mark.parametrize("n_bins", [1, 3, 10])
    def test_equal_probabilities_leave_no_bin_empty(self, n_bins):
        y = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        curve = adaptive_reliability_curve(y, [0.3] * 12, n_bins=n_bins)
        assert curve.n_bins == n_bins
        assert curve.weight.sum() == 12
        assert curve.prob_true == pytest.approx(np.full(n_bins, 1 / 6))

    @pytest.mark.parametrize("digits", [3, 17])
    def test_the_number_of_bins_does_not_shrink(self, digits):
        # Most of these are below .001, and three digits leave few distinct values.
        y, q = make_calibrated_pairs(300_000, a=0.1, b=2, random_state=0)
        curve = adaptive_reliability_curve(y, q.round(digits), n_bins=200)
        assert curve.weight.tolist() == [1500] * 200
        assert curve.weight @ curve.prob_true == pytest.approx(y.sum())

    def test_pooled_classes_count_a_pair_each(self):
        curve = adaptive_reliability_curve(
            [0, 1], [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]], labels=[0, 1, 2], bin_size=3
        )
        assert curve.n_pairs == 6
        assert curve.prob_pred == pytest.approx([0.4 / 3, 1.6 / 3])
        assert curve.prob_true == pytest.approx([0, 2 / 3])

    def test_top_label_takes_a_pair_a_row(self):
        curve = adaptive_reliability_curve(
            [0, 1, 2],
            [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]],
            multi_class="top_label",
            bin_size=3,
        )
        assert curve.prob_pred == pytest.approx([0.6])
        assert curve.prob_true == pytest.approx([2 / 3])

    def test_rows_of_zero_weight_are_not_counted(self):
        curve = curve_by_hand(sample_weight=[1, 1, 1, 0, 0, 0, 0])
        assert curve.n_pairs == 3
        assert curve.proba_max.tolist() == [0.3]

    @pytest.mark.parametrize("bin_size", [1, 7, 20, 100])
    def test_the_brier_score_decomposes_over_the_bins(self, bin_size):
        # (q - y)^2 splits into that of the means of each bin, the variance of y and
        # of q inside, and minus twice their covariance.
        y, q = make_calibrated_pairs(300, k=0.1, random_state=0)
        curve = adaptive_reliability_curve(y, q, bin_size=bin_size)
        code = np.searchsorted(curve.proba_max, q)
        inside_y, inside_q = y - curve.prob_true[code], q - curve.prob_pred[code]
        refinement = curve.weight @ (curve.prob_true * (1 - curve.prob_true)) / 300
        residual = np.mean(inside_q**2 - 2 * inside_q * inside_y)
        total = curve.error(squared=True) + refinement + residual
        assert total == pytest.approx(np.mean((q - y) ** 2), abs=1e-14)

    def test_the_brier_score_has_no_residual_where_q_is_constant_in_a_bin(self):
        q = np.repeat([0.1, 0.4, 0.7], 10)
        y = np.r_[np.arange(10) < 2, np.arange(10) < 5, np.arange(10) < 6]
        curve = adaptive_reliability_curve(y, q, bin_size=10)
        refinement = curve.weight @ (curve.prob_true * (1 - curve.prob_true)) / 30
        total = curve.error(squared=True) + refinement
        assert total == pytest.approx(np.mean((q - y) ** 2), abs=1e-15)

    @pytest.mark.parametrize("multi_class", ["class_wise", "per_class"])
    def test_one_curve_cannot_be_of_every_class(self, multi_class):
        message = "adaptive_reliability_curve returns one curve.*pass y_true == label"
        with pytest.raises(ValueError, match=message):
            adaptive_reliability_curve(
                [0, 1], [[0.1, 0.9], [0.2, 0.8]], multi_class=multi_class
            )


class TestInterval:
    def wilson(self, p, n):
        z = 1.959963984540054
        centre, scale = p + z**2 / (2 * n), 1 + z**2 / n
        half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        return (centre - half) / scale, (centre + half) / scale

    @pytest.mark.parametrize("params", [{}, {"bin_size": 20}, {"n_bins": 3}])
    def test_a_tied_probability_has_the_interval_of_all_its_rows(self, params):
        y = np.r_[np.ones(40), np.zeros(60)].astype(int)
        curve = adaptive_reliability_curve(y, np.full(100, 0.5), **params)
        low, high = curve.interval()
        # Wilson's interval for 40 of 100
        assert low == pytest.approx(0.309401, abs=1e-6)
        assert high == pytest.approx(0.497997, abs=1e-6)

    def test_a_share_of_a_tie_varies_as_fewer_rows(self):
        # Bins of 5 rows divide six rows of .5: three belong to the first bin, whose
        # frequency (k / 2 + j) / 5 has the variance (6 / 4 + 2) v / 25 of 50 / 7 rows.
        q = [0.1, 0.2, *[0.5] * 6, 0.8, 0.9]
        y = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1]
        curve = adaptive_reliability_curve(y, q, bin_size=5)
        low, high = curve.interval()
        expected = self.wilson(np.array([2.5, 3.5]) / 5, 50 / 7)
        assert low == pytest.approx(expected[0], rel=1e-12)
        assert high == pytest.approx(expected[1], rel=1e-12)

    # bins of 12 rows with 0, 1, 5, 11, 12 positives
    POSITIVES = (0, 1, 5, 11, 12)
    N = 12

    @pytest.fixture
    def curve(self):
        y = np.concatenate([np.arange(self.N) < k for k in self.POSITIVES])
        q = np.repeat([0.1, 0.2, 0.5, 0.8, 0.9], self.N)
        return adaptive_reliability_curve(y, q, bin_size=self.N)

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
    @pytest.mark.parametrize(
        ("method", "scipy_name"), [("wilson", "wilson"), ("clopper_pearson", "exact")]
    )
    def test_it_is_that_of_scipy(self, curve, level, method, scipy_name):
        expected = [
            binomtest(k, self.N).proportion_ci(level, method=scipy_name)
            for k in self.POSITIVES
        ]
        found = curve.interval(level, method=method)
        np.testing.assert_allclose(np.transpose(found), expected, atol=1e-12)

    def test_the_normal_one_is_as_published(self, curve):
        p = np.array(self.POSITIVES) / self.N
        half = norm.ppf(0.975) * np.sqrt(p * (1 - p) / self.N)
        low, high = curve.interval(method="normal")
        np.testing.assert_allclose(low, np.maximum(p - half, 0), atol=1e-12)
        np.testing.assert_allclose(high, np.minimum(p + half, 1), atol=1e-12)

    def test_the_default_is_that_of_wilson_at_95_percent(self, curve):
        np.testing.assert_array_equal(
            curve.interval(), curve.interval(0.95, method="wilson")
        )

    @pytest.mark.parametrize("method", ["wilson", "clopper_pearson"])
    def test_a_bin_of_one_label_has_a_bar(self, curve, method):
        low, high = curve.interval(method=method)
        assert (low[0], high[-1]) == (0, 1)
        assert high[0] > 0.2
        assert low[-1] < 0.8

    @pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "normal"])
    def test_it_holds_the_frequency(self, curve, method):
        low, high = curve.interval(method=method)
        assert (low <= curve.prob_true).all()
        assert (curve.prob_true <= high).all()

    @pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "normal"])
    def test_weights_count_as_rows(self, method):
        y, q, weight = [0, 1, 0], [0.3, 0.3, 0.4], [3, 5, 2]
        once = adaptive_reliability_curve(y, q, sample_weight=weight, bin_size=10)
        rows = adaptive_reliability_curve(
            np.repeat(y, weight), np.repeat(q, weight), bin_size=10
        )
        np.testing.assert_allclose(
            once.interval(method=method), rows.interval(method=method)
        )

    @pytest.mark.parametrize(
        ("parameter", "value", "error", "message"),
        [
            ("confidence_level", 95, ValueError, "strictly between 0 and 1. Got 95"),
            ("confidence_level", 0, ValueError, "strictly between 0 and 1. Got 0"),
            ("confidence_level", 1, ValueError, "strictly between 0 and 1. Got 1"),
            ("confidence_level", np.nan, ValueError, "between 0 and 1. Got nan"),
            ("confidence_level", "0.9", TypeError, "between 0 and 1. Got '0.9'"),
            ("method", "wald", ValueError, "'clopper_pearson', 'normal'. Got 'wald'"),
        ],
    )
    def test_bad_arguments(self, curve, parameter, value, error, message):
        name = f"The '{parameter}' parameter of ReliabilityCurve.interval must be.*"
        with pytest.raises(error, match=name + message):
            curve.interval(**{parameter: value})


class TestError:
    @pytest.mark.parametrize(
        "kwargs",
        [
            {},
            {"norm": "l1"},
            {"norm": "max"},
            {"squared": True},
            {"debias": True},
            {"debias": True, "squared": True},
        ],
        ids=str,
    )
    @pytest.mark.parametrize(
        "bins",
        [{}, {"bin_size": 7}, {"n_bins": 9}, {"n_bins": 4, "strategy": "uniform"}],
        ids=str,
    )
    def test_it_is_the_calibration_error(self, bins, kwargs):
        if not bins and kwargs == {"debias": True}:
            pytest.skip("the debiased error in automatic bins joins other estimates")
        y, q = make_calibrated_pairs(200, k=0.1, random_state=0)
        curve = adaptive_reliability_curve(y, q.round(1), **bins)
        expected = calibration_error(y, q.round(1), **bins, **kwargs)
        assert curve.error(**kwargs) == pytest.approx(expected, abs=1e-15)

    def test_it_is_the_calibration_error_of_weighted_pooled_classes(self):
        rng = np.random.default_rng(0)
        y, proba = rng.integers(0, 3, 50), rng.dirichlet([1, 1, 1], 50)
        kwargs = {"sample_weight": rng.integers(0, 4, 50)}
        curve = adaptive_reliability_curve(y, proba, **kwargs)
        for debias in (False, True):
            square = {"debias": debias, "squared": True}
            expected = calibration_error(y, proba, **square, **kwargs)
            assert curve.error(**square) == pytest.approx(expected, abs=1e-14)

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"norm": "l3"}, ValueError, "The 'norm' parameter of Rel.*Got 'l3'"),
            ({"squared": 1}, TypeError, "The 'squared' parameter of Rel.*Got 1"),
            ({"norm": "l1", "squared": True}, ValueError, "'squared' .* Rel.*'l2'"),
            ({"norm": "max", "debias": True}, ValueError, "'debias' .* Rel.*'l2'"),
        ],
    )
    def test_bad_arguments(self, arguments, error, message):
        with pytest.raises(error, match=message):
            curve_by_hand().error(**arguments)

    def test_debias_needs_two_pairs_in_every_bin(self):
        curve = adaptive_reliability_curve([0, 1], [0.1, 0.9], bin_size=1)
        message = "parameter of ReliabilityCurve.error needs.*weight 1 in bin 0 of 2"
        with pytest.raises(ValueError, match=message):
            curve.error(debias=True)


class TestExport:
    COLUMNS = (
        "prob_pred",
        "prob_true",
        "weight",
        "standard_error",
        "proba_min",
        "proba_max",
    )

    def test_the_old_name_of_n_pairs_warns(self):
        curve = adaptive_reliability_curve([0, 1, 1], [0.2, 0.4, 0.6], bin_size=3)
        with pytest.warns(FutureWarning, match="n_samples is n_pairs since 0.10"):
            assert curve.n_samples == curve.n_pairs == 3

    def test_frame_without_pandas_and_polars_says_what_to_do(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        monkeypatch.setitem(sys.modules, "polars", None)
        message = r"ReliabilityCurve.frame .*`pip install pandas`, or use to_dict\(\)"
        with pytest.raises(ImportError, match=message):
            curve_by_hand().frame()


def test_the_size_of_a_curve_does_not_depend_on_the_number_of_rows():
    sizes = []
    for n in (300, 3000):
        rng = np.random.default_rng(0)
        proba = rng.dirichlet([1, 1, 1], n)
        y = rng.integers(0, 3, n)
        curve = adaptive_reliability_curve(y, proba, n_bins=10)
        expected = calibration_error(y, proba, n_bins=10, debias=True)
        loaded = pickle.loads(pickle.dumps(curve))
        assert loaded.error(debias=True) == curve.error(debias=True) == expected
        sizes.append(len(pickle.dumps(curve)))
    assert abs(sizes[1] - sizes[0]) < 100


def test_bins_of_one_row_have_a_curve_without_a_debiased_error():
    curve = adaptive_reliability_curve(
        [0, 1], np.eye(2), multi_class="pooled", n_bins=4
    )
    for each in (curve, pickle.loads(pickle.dumps(curve))):
        assert each.error() == 0
        with pytest.raises(ValueError, match="ReliabilityCurve.error needs|one group"):
            each.error(debias=True)


@pytest.mark.parametrize(("n_groups", "most"), [(8, 0.05), (40, 0.08), (300, 0.07)])
def test_groups_make_the_intervals_of_bins_valid(n_groups, most):
    """Rows of a group share half of their deviations; few groups are conservative."""
    rng, outside = np.random.default_rng(n_groups), []
    groups = np.repeat(np.arange(n_groups), 30)
    for _ in range(100):
        q = rng.beta(0.8, 0.8, groups.size)
        alike = rng.random(n_groups)[groups]
        chance = np.where(rng.random(groups.size) < 0.5, alike, rng.random(groups.size))
        y = chance < q
        curve = adaptive_reliability_curve(y, q, n_bins=8, groups=groups)
        low, high = curve.interval()
        band = curve.consistency_band()
        outside.append(
            (
                ((curve.prob_pred < low) | (curve.prob_pred > high)).mean(),
                ((curve.prob_true < band[0]) | (curve.prob_true > band[1])).mean(),
            )
        )
    assert (np.mean(outside, axis=0) < most).all()
    plain = adaptive_reliability_curve(y, q, n_bins=8)
    assert plain.prob_true.tolist() == curve.prob_true.tolist()
    assert (high - low > np.subtract(*plain.interval()[::-1])).mean() > 0.5


def test_intervals_of_copied_rows_are_at_least_those_of_the_rows():
    rng = np.random.default_rng(0)
    q = rng.random(400)
    y = rng.random(400) < q
    low, high = adaptive_reliability_curve(y, q, n_bins=4).interval()
    row = np.repeat(np.arange(400), 25)
    copies = adaptive_reliability_curve(y[row], q[row], n_bins=4, groups=row)
    found = copies.interval()
    assert found[0] == pytest.approx(low, abs=0.012)
    assert found[1] == pytest.approx(high, abs=0.012)
    single = adaptive_reliability_curve(y, q, n_bins=4, groups=np.arange(400))
    assert single.interval()[0].tolist() == low.tolist()
