"""Bins of many pairs by counting are those of the sort."""

import math
from functools import cache

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    _binning,
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)
from skcalib.metrics._bins import sum_bins
from skcalib.metrics._counting import count_bins
from skcalib.metrics._sorted_pairs import SortedRows

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


def rank_bounds(bin_size):
    return np.r_[np.arange(max(1, N // bin_size)) * bin_size, N]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "bin_size",
    [500, *(pytest.param(b, marks=pytest.mark.slow) for b in (1783, 100_000, N))],
)
def test_the_sums_are_those_of_the_sort(shape, dtype, bin_size):
    q = SHAPES[shape]().astype(dtype)
    positive_q = q[np.random.default_rng(3).random(N) < q]
    bounds = rank_bounds(bin_size)
    found = count_bins(q, positive_q, bounds)
    expected = sum_bins(SortedRows(q, positive_q), bounds)
    for name in ("weight", "y", "low", "high"):
        given, wanted = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(given, wanted, rtol=1e-12, err_msg=name)
    for name in ("q", "qq", "yq"):
        given, wanted = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(given, wanted, rtol=1e-11, err_msg=name)
    n_pairs = expected.weight * (expected.weight - 1)
    given, wanted = found.pair_residual / n_pairs, expected.pair_residual / n_pairs
    np.testing.assert_allclose(given, wanted, atol=1e-15)


@pytest.mark.parametrize("share", [0, 1])
def test_labels_may_be_all_the_same(share):
    q = SHAPES["skew"]()
    positive_q = q[: share * N]
    found = count_bins(q, positive_q, rank_bounds(1000))
    expected = sum_bins(SortedRows(q, positive_q), rank_bounds(1000))
    np.testing.assert_array_equal(found.y, expected.y)
    np.testing.assert_allclose(found.pair_residual, expected.pair_residual, atol=1e-9)


@pytest.mark.parametrize("shape", ["skew", "rounded", "minus zeros"])
def test_squares_are_left_out_where_nobody_asks(shape):
    q = SHAPES[shape]()
    positive_q = q[np.random.default_rng(3).random(N) < q]
    found = count_bins(q, positive_q, rank_bounds(1000), squares=False)
    full = count_bins(q, positive_q, rank_bounds(1000))
    for name in ("weight", "y", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(full, name))
    # sums of q may be added in another way
    np.testing.assert_allclose(found.q, full.q, rtol=1e-12)


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
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"bin_size": 5000},
        {"n_bins": 15},
        {"n_bins": 15, "strategy": "uniform"},
        {"n_bins": 100, "strategy": "uniform"},
    ],
    ids=str,
)
def test_a_curve_of_many_rows_is_that_of_the_sort(kwargs, rounded, dtype, monkeypatch):
    y, q = make_calibrated_pairs(300_000, a=0.1, b=2, k=0.05, random_state=0)
    q = (q.round(2) if rounded else q).astype(dtype)
    counted = adaptive_reliability_curve(y, q, **kwargs)
    monkeypatch.setattr(_binning, "counting_pays", lambda n, n_bins: False)
    expected = adaptive_reliability_curve(y, q, **kwargs)
    for name in expected.frame():
        given, wanted = getattr(counted, name), getattr(expected, name)
        np.testing.assert_allclose(given, wanted, rtol=1e-10, err_msg=name)
    for debias in (False, True):
        error = expected.error(debias=debias)
        assert counted.error(debias=debias) == pytest.approx(error, abs=1e-10)


@pytest.mark.parametrize("bin_size", ["auto", 2000])
def test_an_interval_of_many_rows_is_that_of_the_sort(bin_size, monkeypatch):
    y, q = make_calibrated_pairs(300_000, k=0.02, random_state=0)
    found = []
    for pays in (True, False):
        for module in (_binning,):
            monkeypatch.setattr(module, "counting_pays", lambda n, k, pays=pays: pays)
        found.append(calibration_error_interval(y, q, bin_size=bin_size))
    counted, expected = found
    assert counted.bin_size == expected.bin_size
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
