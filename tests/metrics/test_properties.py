"""Laws that hold for all data."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"

EPS = np.finfo(np.float64).eps

# Values that meet each other, the ends, and all between, down to denormals.
LEVELS = st.sampled_from([0.0, -0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
PROBABILITIES = st.one_of(LEVELS, st.floats(0, 1))
# Eighths look like shares of eight samples.
pytestmark = pytest.mark.filterwarnings("ignore:All probabilities are multiples")
EIGHTHS = st.integers(0, 8).map(lambda i: i / 8)
NORMS = st.sampled_from(["l1", "l2", "max"])
SQUARE = {"debias": True, "squared": True}


@st.composite
def pairs(draw, probabilities=PROBABILITIES, min_size=1, max_size=30):
    """Draw labels, probabilities and a bin size that may exceed their number."""
    rows = st.tuples(st.integers(0, 1), probabilities)
    y, q = zip(*draw(st.lists(rows, min_size=min_size, max_size=max_size)), strict=True)
    return np.array(y), np.array(q), draw(st.integers(1, len(q) + 3))


@st.composite
def pairs_and(draw, another, **kwargs):
    """Draw pairs and something else for each row."""
    y, q, size = draw(pairs(**kwargs))
    values = draw(st.lists(another, min_size=y.size, max_size=y.size))
    return y, q, size, np.array(values)


class TestError:
    @given(pairs())
    def test_norms_are_ordered_and_in_the_unit_interval(self, data):
        y, q, size = data
        l1, l2, most = (
            calibration_error(y, q, bin_size=size, norm=norm)
            for norm in ("l1", "l2", "max")
        )
        assert 0 <= l1 <= l2 + 2 * EPS
        assert l2 <= most + 2 * EPS
        assert most <= 1 + 2 * EPS

    @given(pairs(), NORMS, st.randoms(use_true_random=False))
    def test_the_order_of_rows_does_not_matter(self, data, norm, random):
        y, q, size = data
        order = random.sample(range(y.size), y.size)
        found = calibration_error(y[order], q[order], bin_size=size, norm=norm)
        assert found == calibration_error(y, q, bin_size=size, norm=norm)

    @given(pairs_and(st.integers(0, 4)), NORMS)
    def test_an_integer_weight_equals_repetition(self, data, norm):
        y, q, size, weight = data
        assume(weight.any())
        kwargs = {"bin_size": size, "norm": norm}
        found = calibration_error(y, q, sample_weight=weight, **kwargs)
        expected = calibration_error(y.repeat(weight), q.repeat(weight), **kwargs)
        assert found == pytest.approx(expected, abs=1e-13)

    @given(pairs_and(st.integers(0, 4)))
    def test_an_integer_weight_equals_repetition_in_products(self, data):
        y, q, size, weight = data
        assume(weight.sum() > 1)
        kwargs = {"bin_size": size + 1, **SQUARE}
        found = calibration_error(y, q, sample_weight=weight, **kwargs)
        expected = calibration_error(y.repeat(weight), q.repeat(weight), **kwargs)
        assert found == pytest.approx(expected, abs=1e-13)

    @given(pairs_and(st.integers(0, 3)), st.integers(1, 9))
    def test_a_weight_may_be_split_over_equal_rows(self, data, n_bins):
        y, q, _, weight = data
        assume(weight.any())
        found = calibration_error(
            np.r_[y, y], np.r_[q, q], sample_weight=np.r_[weight, weight], n_bins=n_bins
        )
        expected = calibration_error(y, q, sample_weight=2 * weight, n_bins=n_bins)
        assert found == pytest.approx(expected, abs=1e-13)

    @given(pairs(), st.integers(2, 5), NORMS)
    def test_copies_of_all_rows_in_larger_bins_change_nothing(self, data, m, norm):
        y, q, size = data
        found = calibration_error(
            y.repeat(m), q.repeat(m), bin_size=m * size, norm=norm
        )
        expected = calibration_error(y, q, bin_size=size, norm=norm)
        assert found == pytest.approx(expected, abs=1e-13)

    @given(pairs(probabilities=EIGHTHS), st.integers(1, 9), NORMS)
    def test_the_opposite_question_has_the_same_error(self, data, n_bins, norm):
        y, q, _ = data
        n_bins = np.gcd(y.size, n_bins).item()  # bins of equal size mirror each other
        found = calibration_error(1 - y, 1 - q, n_bins=n_bins, norm=norm)
        expected = calibration_error(y, q, n_bins=n_bins, norm=norm)
        assert found == pytest.approx(expected, abs=1e-14)

    @given(pairs(), NORMS)
    def test_one_bin_compares_two_means(self, data, norm):
        y, q, _ = data
        found = calibration_error(y, q, n_bins=1, norm=norm)
        assert found == pytest.approx(abs(y.mean() - q.mean()), abs=1e-14)

    @given(pairs(), NORMS)
    def test_float32_agrees_with_float64(self, data, norm):
        # Rounding may tie what differs, so both get what float32 can hold.
        y, q, size = data
        q = q.astype(np.float32)
        found = calibration_error(y, q, bin_size=size, norm=norm)
        expected = calibration_error(y, q.astype(float), bin_size=size, norm=norm)
        assert found == pytest.approx(expected, abs=1e-6)

    @given(pairs(min_size=2))
    def test_a_group_for_each_row_is_no_group(self, data):
        y, q, size = data
        kwargs = {"bin_size": size + 1, **SQUARE}
        found = calibration_error(y, q, groups=np.arange(y.size), **kwargs)
        expected = calibration_error(y, q, **kwargs)
        assert found == pytest.approx(expected, abs=1e-13)

    @given(pairs(min_size=2))
    def test_the_debiased_square_is_at_most_the_largest_product(self, data):
        y, q, size = data
        square = calibration_error(y, q, bin_size=size + 1, **SQUARE)
        assert abs(square) <= np.max((y - q) ** 2) + 4 * EPS


class TestCurve:
    @given(pairs())
    def test_bins_follow_each_other_and_lose_nothing(self, data):
        y, q, size = data
        curve = adaptive_reliability_curve(y, q, bin_size=size)
        assert curve.n_bins == max(1, y.size // size)
        assert (curve.weight[:-1] == size).all()
        assert curve.weight.sum() == y.size
        assert (curve.proba_max[:-1] <= curve.proba_min[1:]).all()
        assert (curve.proba_min[0], curve.proba_max[-1]) == (q.min(), q.max())
        assert curve.weight @ curve.prob_true == pytest.approx(y.sum())
        assert curve.weight @ curve.prob_pred == pytest.approx(q.sum())

    @given(pairs(), st.integers(1, 12))
    def test_each_mean_lies_in_its_bin(self, data, n_bins):
        y, q, size = data
        for kwargs in (
            {"bin_size": size},
            {"n_bins": n_bins},
            {"n_bins": n_bins, "strategy": "uniform"},
        ):
            curve = adaptive_reliability_curve(y, q, **kwargs)
            assert (curve.proba_min <= curve.prob_pred).all()
            assert (curve.prob_pred <= curve.proba_max).all()
            assert ((curve.prob_true >= 0) & (curve.prob_true <= 1)).all()

    @given(pairs(), st.integers(1, 40))
    def test_a_number_of_bins_is_kept(self, data, n_bins):
        y, q, _ = data
        weight = adaptive_reliability_curve(y, q, n_bins=n_bins).weight
        sizes = [part.size for part in np.array_split(q, n_bins)]
        assert weight.tolist() == [size for size in sizes if size]

    @pytest.mark.filterwarnings("ignore:A confidence_level of")
    @given(
        pairs(),
        st.sampled_from(["wilson", "clopper_pearson", "normal"]),
        st.floats(0.01, 0.99),
    )
    def test_intervals_hold_their_frequency(self, data, method, level):
        y, q, size = data
        curve = adaptive_reliability_curve(y, q, bin_size=size)
        low, high = curve.interval(level, method=method)
        assert (low >= 0).all()
        assert (low <= curve.prob_true + EPS).all()
        assert (curve.prob_true <= high + EPS).all()
        assert (high <= 1).all()


@pytest.mark.filterwarnings(FEW)
class TestInterval:
    @pytest.mark.filterwarnings("ignore:A confidence_level of")
    @given(
        pairs_and(st.integers(0, 6), min_size=2), st.booleans(), st.floats(0.01, 0.99)
    )
    def test_its_numbers_make_sense(self, data, grouped, level):
        y, q, size, groups = data
        assume(not grouped or np.unique(groups).size > 1)
        kwargs = {"bin_size": "auto"} if grouped else {"bin_size": size + 1}
        found = calibration_error_interval(
            y, q, groups=groups if grouped else None, confidence_level=level, **kwargs
        )
        assert 0 <= found.low <= found.high <= 1
        assert 0 <= found.estimate <= 1 + 2 * EPS
        assert found.low - EPS <= found.estimate <= found.high + 1e-7
        is_tested = (np.unique(groups).size if grouped else y.size) >= 5
        assert np.isnan(found.pvalue) == (not is_tested)
        assert not is_tested or 0 < found.pvalue <= 1
        assert (found.low == 0) == (not found.pvalue < 1 - level)

    @pytest.mark.filterwarnings("ignore:A confidence_level of")
    @given(pairs(min_size=2), st.floats(0.01, 0.98), st.floats(0.01, 0.98))
    def test_a_higher_level_holds_a_lower_one(self, data, one, other):
        y, q, size = data
        narrow, wide = (
            calibration_error_interval(y, q, bin_size=size + 1, confidence_level=level)
            for level in sorted([one, other])
        )
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12

    @given(pairs(min_size=2), st.randoms(use_true_random=False))
    def test_the_order_of_rows_does_not_matter(self, data, random):
        y, q, size = data
        order = random.sample(range(y.size), y.size)
        found = calibration_error_interval(y[order], q[order], bin_size=size + 1)
        expected = calibration_error_interval(y, q, bin_size=size + 1)
        np.testing.assert_equal(found.to_dict(), expected.to_dict())

    @given(pairs_and(st.integers(0, 4), probabilities=EIGHTHS))
    @example((np.array([1, 0]), np.array([0.5, 0.5]), 2, np.array([1, 1])))
    def test_an_integer_weight_equals_repetition(self, data):
        y, q, size, weight = data
        assume(weight.sum() > 1)
        found = calibration_error_interval(
            y, q, sample_weight=weight, bin_size=size + 1
        )
        expected = calibration_error_interval(
            y.repeat(weight), q.repeat(weight), bin_size=size + 1
        )
        for name in ("estimate", "plug_in", "low", "high", "p_value"):
            value = getattr(expected, name)
            got = getattr(found, name)
            assert got == pytest.approx(value, abs=1e-7, nan_ok=True), name


@pytest.mark.filterwarnings(FEW)
class TestExtremes:
    TINY = (1.1e-308, 1e-200, 1e-20, 5e-324)
    WEIGHTS = (1000.0, 1e-32, 1e-26, 1e-29, 1e-15, 10_000.0)

    @pytest.mark.parametrize("q", TINY)
    def test_an_event_that_was_all_but_excluded(self, q):
        found = calibration_error_interval([1] * 5, [q] * 5)
        assert found.pvalue < 1e-100
        assert 0 < found.low <= found.high == 1

    @given(
        st.lists(
            st.tuples(
                st.integers(0, 1),
                st.integers(0, 320).map(lambda k: 10.0**-k),
                st.integers(-30, 3).map(lambda k: 10.0**k),
                st.integers(0, 2),
            ),
            min_size=2,
            max_size=12,
        ),
        st.booleans(),
    )
    def test_any_weights_and_probabilities_have_a_finite_interval(self, rows, grouped):
        y, q, weight, groups = map(np.array, zip(*rows, strict=True))
        groups = groups if grouped else None
        try:
            found = calibration_error_interval(
                y, q, sample_weight=weight, groups=groups, bin_size=5, pos_label=1
            )
        except ValueError as error:
            assert "calibration_error_interval" in str(error)  # noqa: PT017
        else:
            assert 0 <= found.low <= found.high <= 1
            assert np.isnan(found.pvalue) or 0 < found.pvalue <= 1

    def test_an_error_whose_square_is_close_to_the_smallest_number(self):
        # the square of the squared error is zero in float64
        for q in (1e-81, 1e-100, 1e-150, 1e-161):
            found = calibration_error_interval(
                [1, 0], [1.0, q], sample_weight=[1.0, 10.0], bin_size=5
            )
            assert 0 <= found.low <= found.high <= 1

    def test_weights_of_very_different_size_have_a_finite_interval(self):
        found = calibration_error_interval(
            [1, 0, 1, 1, 0],
            [0.001, 1e-32, 1e-117, 1e-35, 1e-25],
            sample_weight=[1e-22, 1e-08, 1e-13, 1e-21, 100.0],
            bin_size=5,
        )
        assert 0 <= found.low <= found.high <= 1

    def test_a_weight_that_is_lost_in_the_sum_is_none(self):
        y, q = [1, 0, 1, 1, 0, 1], [0.4, 0.2, 0.4, 0.2, 0.8, 0.2]
        kept = [weight if weight > 1 else 0 for weight in self.WEIGHTS]
        found, expected = (
            calibration_error(y, q, sample_weight=weight, bin_size=5)
            for weight in (self.WEIGHTS, kept)
        )
        assert found == expected
        with pytest.raises(ValueError, match="needs rows of at least two groups"):
            calibration_error(
                y, q, sample_weight=self.WEIGHTS, groups=y, bin_size=5, debias=True
            )
