"""Bins of many pairs by counting are those of the sort."""

import math
from functools import cache

import numpy as np
import pytest
from cases import case

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
    score_decomposition,
)

N = 2**18 + 37


@cache
def beta(a, b, seed=0):
    return np.random.default_rng(seed).beta(a, b, N)


def some(values, others, share=0.3):
    """Replace a share of the values."""
    return np.where(np.random.default_rng(1).random(N) < share, others, values)


SHAPES = {
    "U": lambda: beta(0.5, 0.5),
    "skew": lambda: beta(0.1, 2),
    "uniform": lambda: beta(1, 1),
    "near one": lambda: 1 - beta(0.1, 2),
    "rounded": lambda: beta(0.5, 0.5).round(3),
    "two decimals": lambda: beta(0.1, 2).round(2),
    "all equal": lambda: np.full(N, 0.3),
    "all zero": lambda: np.zeros(N),
    "all one": lambda: np.ones(N),
    "zeros and ones": lambda: beta(1, 1).round(),
    "minus zeros": lambda: some(beta(0.5, 0.5), -0.0),
    "zeros of both signs": lambda: some(np.zeros(N), -0.0),
    "denormals": lambda: some(beta(1, 1) * 1e-310, beta(1, 1, seed=2)),
    "smallest and largest": lambda: some(np.full(N, 5e-324), np.nextafter(1, 0)),
    "neighbours": lambda: some(np.full(N, 0.5), np.nextafter(0.5, 1), 0.5),
    "ascending": lambda: np.sort(beta(0.5, 0.5)),
    "descending": lambda: np.sort(beta(0.5, 0.5))[::-1],
    "every second": lambda: np.repeat(beta(0.5, 0.5), 2)[::2],
}


def labels_of(q):
    return (np.random.default_rng(3).random(N) < q).astype(int)


def check_curves(y, q, **bins):
    """Compare counted bins with sorted ones: pairs with weights are sorted."""
    ones = np.ones(len(q))
    found = adaptive_reliability_curve(y, q, pos_label=1, **bins)
    expected = adaptive_reliability_curve(y, q, pos_label=1, sample_weight=ones, **bins)
    for name in expected.frame():
        given, wanted = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(given, wanted, rtol=1e-11, err_msg=name)
    for debias in (False, True):
        given, wanted = found.error(debias=debias), expected.error(debias=debias)
        assert given == pytest.approx(wanted, abs=1e-12)
    found, expected = (
        score_decomposition(y, q, pos_label=1, sample_weight=weight, **bins)
        for weight in (None, ones)
    )
    for name, wanted in expected.to_dict().items():
        if isinstance(wanted, float):
            given = getattr(found, name)
            assert given == pytest.approx(wanted, rel=1e-10, abs=1e-14), name


@pytest.mark.filterwarnings("ignore:All probabilities of")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_sums_are_those_of_the_sort(shape, slow):
    for dtype in (np.float64, np.float32):
        q = SHAPES[shape]().astype(dtype)
        for bin_size in (1783, 100_000, N) if slow else (1000,):
            with case(f"{dtype.__name__}, {bin_size}"):
                check_curves(labels_of(q), q, bin_size=bin_size)


def test_many_bins_of_equal_width_are_sorted():
    q = SHAPES["uniform"]()
    check_curves(labels_of(q), q, n_bins=300, strategy="uniform")


@pytest.mark.parametrize("label", [0, 1])
def test_labels_may_be_all_the_same(label):
    check_curves(np.full(N, label), SHAPES["skew"](), bin_size=1000)


@pytest.mark.filterwarnings("ignore:All probabilities of")
@pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_many_rows_have_the_error_that_their_interpolated_sums_give(
    shape, dtype, bin_means, cut_rows
):
    q = SHAPES[shape]().astype(dtype)
    y = np.random.default_rng(4).random(N) < 0.8 * q
    cuts = cut_rows(N, 1783)  # N ** .6 = 1783.0
    mean_q, mean_y = bin_means(y, q, cuts)
    distance, size = np.abs(mean_q - mean_y), np.diff(cuts)
    expected = math.sqrt(np.average(distance**2, weights=size))
    assert calibration_error(y, q) == pytest.approx(expected, abs=1e-10)
    expected = np.average(distance, weights=size)
    assert calibration_error(y, q, norm="l1") == pytest.approx(expected, abs=1e-10)
    assert calibration_error(y, q, norm="max") == (
        pytest.approx(distance.max(), abs=1e-10)
    )


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)]
)
def test_a_curve_of_many_rows_is_that_of_the_sort(rounded, dtype):
    y, q = make_calibrated_pairs(300_000, a=0.1, b=2, k=0.05, random_state=0)
    q = (q.round(2) if rounded else q).astype(dtype)
    cases = [
        {},
        {"bin_size": 5000},
        {"bin_size": 100},  # too small to be counted
        {"n_bins": 15},
        {"n_bins": 15, "strategy": "uniform"},
        {"n_bins": 100, "strategy": "uniform"},
    ]
    for bins in cases:
        with case(bins):
            check_curves(y, q, **bins)


@pytest.mark.parametrize("bin_size", ["auto", 2000])
def test_an_interval_of_many_rows_is_that_of_the_sort(bin_size):
    y, q = make_calibrated_pairs(300_000, k=0.02, random_state=0)
    counted = calibration_error_interval(y, q, bin_size=bin_size)
    ones = np.ones(len(q))
    expected = calibration_error_interval(y, q, bin_size=bin_size, sample_weight=ones)
    assert counted.bin_size == expected.bin_size
    for name in ("estimate", "plug_in", "low", "high"):
        assert getattr(counted, name) == pytest.approx(getattr(expected, name))


def test_an_interval_with_automatic_bins_may_be_counted():
    rng = np.random.default_rng(0)
    # Bins of nearly equal probabilities have the largest size, here above 1000.
    q = 0.3 + 1e-6 * rng.random(1_700_000)
    y = rng.random(q.size) < 0.301
    counted = calibration_error_interval(y, q)
    expected = calibration_error_interval(y, q, sample_weight=np.ones(q.size))
    assert counted.bin_size == expected.bin_size > 1000
    for name in ("estimate", "plug_in", "low", "high"):
        assert getattr(counted, name) == pytest.approx(getattr(expected, name))


def test_pooled_classes_of_many_rows_are_those_of_the_long_list():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([0.3, 0.3, 0.3], 100_000)
    y = (rng.random(100_000)[:, None] > proba.cumsum(axis=1)).sum(axis=1)
    indicator = y[:, None] == np.arange(3)
    expected = calibration_error(indicator.ravel(), proba.ravel(), bin_size=1000)
    found = calibration_error(y, proba, bin_size=1000)
    assert found == pytest.approx(expected, abs=1e-12)
