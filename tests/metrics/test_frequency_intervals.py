"""The band of perfect calibration, against the exact distribution of the positives."""

import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy.stats import binom

from skcalib.metrics import ReliabilityCurve, adaptive_reliability_curve
from skcalib.metrics._frequency_intervals import brentq

SHAPES = {
    "tag": (0.02, 0.92),
    "skew": (0.1, 2),
    "ends": (0.5, 0.5),
    "even": (1, 1),
    "sure": (5, 1),
}


def exact_distribution(q):
    """Give the chance of each number of positives: one coin after the other."""
    distribution = np.ones(1)
    for chance in q:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return distribution


def tails(q, low, high):
    """Give the exact chances of a frequency below and above the band."""
    distribution = exact_distribution(q)
    frequency = np.arange(distribution.size) / (distribution.size - 1)
    below, above = frequency < low - 1e-12, frequency > high + 1e-12
    return distribution[below].sum(), distribution[above].sum()


def exact_ends(q, level):
    """Give the central interval of the number of positives."""
    below = np.cumsum(exact_distribution(q))
    tail = (1 - level) / 2
    return np.searchsorted(below, tail, "right"), np.searchsorted(below, 1 - tail)


def bins_of(q, **bins):
    """Give the band of each bin beside the probabilities that are in it."""
    curve = adaptive_reliability_curve(np.zeros(len(q)), q, **bins)
    cuts = np.cumsum(curve.weight).astype(int)[:-1]
    level = 0.95
    return zip(np.split(np.sort(q), cuts), *curve.consistency_band(level), strict=True)


def one_bin(q, level=0.95, **params):
    curve = adaptive_reliability_curve(np.zeros(len(q)), q, n_bins=1, **params)
    low, high = curve.consistency_band(level)
    return float(low[0]), float(high[0])


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("n", "bin_size"), [(500, 20), (500, 42), (400, 100)])
def test_bins_by_rank_have_the_tails_of_the_exact_distribution(shape, n, bin_size):
    rng = np.random.default_rng(0)
    for _ in range(4):
        for q, low, high in bins_of(rng.beta(*shape, n), bin_size=bin_size):
            assert max(tails(q, low, high)) <= 0.026
            first, last = exact_ends(q, 0.95)
            # Nearly as narrow: less than a pair wider at each end.
            assert low * q.size > first - 1.1
            assert high * q.size < last + 1.1


def test_one_probability_has_the_quantiles_of_the_binomial_distribution():
    for n in [1, 2, 7, 40, 300]:
        for q in [1e-4, 0.045, 0.3, 0.47, 0.91, 0.999]:
            for level in [0.5, 0.9, 0.99]:
                with case(f"{n}, {q}, {level}"):
                    low, high = one_bin(np.full(n, q), level)
                    tail = (1 - level) / 2
                    first, last = binom.ppf([tail, 1 - tail], n, q)
                    assert np.ceil(low * n - 1e-9) == first
                    assert np.floor(high * n + 1e-9) == last


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_bin_of_everything_has_nearly_the_tails_of_the_exact_distribution(shape):
    rng = np.random.default_rng(1)
    for n in (5, 20, 60):
        for _ in range(20):
            q = rng.beta(*shape, n)
            assert max(tails(q, *one_bin(q))) <= 0.05


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_sure_pairs_move_the_band_and_do_not_widen_it(sure):
    rare = np.full(50, 0.02)
    low, high = one_bin(np.r_[np.full(50, sure), rare])
    alone_low, alone_high = one_bin(rare)
    assert high == pytest.approx((50 * sure + 50 * alone_high) / 100, abs=0.002)
    assert low == pytest.approx((50 * sure + 50 * alone_low) / 100, abs=0.01)


@pytest.mark.parametrize("q", [1e-300, 1e-12, 1e-6, 1 - 1e-6, 1 - 1e-12])
def test_the_band_of_a_tiny_chance_has_a_width(q):
    low, high = one_bin(np.full(100, q))
    assert 0 <= low <= q <= high <= 1
    assert 0 < high - low <= 0.01


def test_only_what_is_certain_has_no_width():
    assert one_bin(np.zeros(9)) == (0, 0)
    assert one_bin(np.ones(9)) == (1, 1)
    assert one_bin(np.array([0.0, 0.0, 1.0, 1.0])) == (0.5, 0.5)


@pytest.mark.filterwarnings("ignore:A confidence_level of")
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.floats(0.01, 0.999),
    st.integers(1, 5),
)
def test_the_band_is_in_the_unit_interval_around_the_mean(q, level, n_bins):
    curve = adaptive_reliability_curve(np.zeros(len(q)), q, n_bins=n_bins)
    low, high = curve.consistency_band(level)
    assert np.all((low >= 0) & (low <= curve.prob_pred))
    assert np.all((high <= 1) & (high >= curve.prob_pred))
    wider_low, wider_high = curve.consistency_band((1 + level) / 2)
    assert np.all((wider_low <= low + 1e-9) & (wider_high >= high - 1e-9))


@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=30))
def test_negatives_have_the_mirrored_band(q):
    low, high = one_bin(np.array(q))
    mirrored_low, mirrored_high = one_bin(1 - np.array(q))
    assert (mirrored_low, mirrored_high) == pytest.approx((1 - high, 1 - low), abs=1e-7)


def test_the_band_does_not_depend_on_the_labels():
    q = np.random.default_rng(0).beta(0.5, 0.5, 300)
    zeros, ones = np.zeros(300), np.ones(300)
    for one, other in zip(
        adaptive_reliability_curve(zeros, q).consistency_band(),
        adaptive_reliability_curve(ones, q).consistency_band(),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_weights_are_frequencies():
    rng = np.random.default_rng(0)
    q, y = rng.beta(0.5, 0.5, 200), rng.integers(0, 2, 200)
    weight = rng.integers(0, 4, 200)
    rows = np.repeat(np.arange(200), weight)
    found = adaptive_reliability_curve(y, q, n_bins=6, sample_weight=weight)
    expected = adaptive_reliability_curve(y[rows], q[rows], n_bins=6)
    for one, other in zip(
        found.consistency_band(), expected.consistency_band(), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)


def coverage(draw, n_replicates, rng, **bins):
    """Give the share of frequencies in the band, and its standard error."""
    share = []
    for _ in range(n_replicates):
        q = draw()
        curve = adaptive_reliability_curve(rng.random(q.size) < q, q, **bins)
        low, high = curve.consistency_band()
        inside = (curve.prob_true >= low - 1e-12) & (curve.prob_true <= high + 1e-12)
        share.append(inside.mean())
    return np.mean(share), np.std(share) / np.sqrt(n_replicates)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((0.5, 0.5), marks=pytest.mark.slow),
        pytest.param((1, 1), marks=pytest.mark.slow),
        (0.1, 2),
    ],
)
def test_of_calibrated_frequencies_as_many_are_inside_as_the_exact_law_says(shape):
    rng = np.random.default_rng(0)
    q = rng.beta(*shape, 600)
    expected = np.mean([1 - sum(tails(*each)) for each in bins_of(q, bin_size=60)])
    found, error = coverage(lambda: q, 200, rng, bin_size=60)
    assert expected >= 0.95
    assert abs(found - expected) <= 3 * error


@pytest.mark.slow
def test_wide_bins_have_the_level_asked_for():
    rng = np.random.default_rng(1)
    found, error = coverage(lambda: rng.random(20_000), 200, rng, n_bins=4)
    # One of 5,000 pairs at each end: 0.0002 of 0.03, less than a point of coverage.
    assert 0.95 - 3 * error <= found <= 0.96 + 3 * error


def test_a_divided_class_varies_as_the_whole_class_does():
    # Each of ten bins has a tenth of 1,000 rows, and the frequency of all of them.
    q = np.full(1000, 0.3)
    curve = adaptive_reliability_curve(np.arange(1000) < 290, q, bin_size=100)
    low, high = curve.consistency_band()
    first, last = binom.ppf([0.025, 0.975], 1000, 0.3)
    np.testing.assert_array_equal(np.ceil(low * 1000 - 1e-9), np.full(10, first))
    np.testing.assert_array_equal(np.floor(high * 1000 + 1e-9), np.full(10, last))


@pytest.mark.slow
def test_few_distinct_probabilities_keep_the_level():
    rng = np.random.default_rng(2)
    levels = np.linspace(0.1, 0.9, 17)
    found, error = coverage(lambda: rng.choice(levels, 1000), 200, rng, bin_size=50)
    assert 0.95 - 3 * error <= found <= 0.98


def test_many_pairs_are_counted_to_the_same_band():
    q = np.random.default_rng(0).beta(0.1, 2, 300_000)
    some = adaptive_reliability_curve(np.zeros(q.size), q, n_bins=50)
    sorted_path = adaptive_reliability_curve(
        np.zeros(q.size), q, n_bins=50, sample_weight=np.ones(q.size)
    )
    for one, other in zip(
        some.consistency_band(), sorted_path.consistency_band(), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_curve_made_by_hand_has_binomial_bands():
    ones = np.ones(1)
    curve = ReliabilityCurve(
        prob_true=0.5 * ones,
        prob_pred=0.3 * ones,
        weight=40 * ones,
        standard_error=0 * ones,
        proba_min=0.1 * ones,
        proba_max=0.6 * ones,
        bin_size=None,
        n_pairs=40,
    )
    low, high = curve.consistency_band()
    assert (low[0], high[0]) == pytest.approx(one_bin(np.full(40, 0.3)))


@pytest.mark.parametrize("level", [0, 1, 95, -0.1])
def test_a_level_outside_0_and_1_is_refused(level):
    curve = adaptive_reliability_curve([0, 1], [0.2, 0.8])
    with pytest.raises(ValueError, match="'confidence_level' .*consistency_band"):
        curve.consistency_band(level)


@given(
    st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.sampled_from([1e-3, 1e-14])
)
def test_a_root_is_that_of_scipy(coefficients, xtol):
    def function(x, shift):
        return np.polyval(coefficients, x) + np.tanh(9 * x) + shift

    shift = -np.mean([function(-1, 0), function(1, 0)])
    if function(-1, shift) * function(1, shift) < 0:
        root = brentq(function, -1, 1, (shift,), xtol=xtol)
        assert root == optimize.brentq(function, -1, 1, (shift,), xtol=xtol)
