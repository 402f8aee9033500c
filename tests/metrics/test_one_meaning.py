"""At the same bins every function reports the same debiased error."""

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    adaptive_reliability_curve,
    bin_size_curve,
    calibration_error,
    calibration_error_interval,
)

SIZE = 30


def binary():
    return make_calibrated_pairs(600, k=0.15, random_state=0)


def of_classes():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(4, 0.5), 300)
    return rng.integers(0, 4, 300), proba


DATA = {"binary": binary, "four classes": of_classes}


@pytest.mark.filterwarnings("ignore:The probabilities in")
@pytest.mark.parametrize("digits", [1, 17])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_error_interval_and_curves_agree(name, grouped, weighted, digits):
    y, q = DATA[name]()
    q = q.round(digits)
    data = {}
    if weighted:
        data["sample_weight"] = np.random.default_rng(1).integers(1, 4, y.size)
    curve = adaptive_reliability_curve(y, q, bin_size=SIZE, **data)
    if grouped:
        data["groups"] = np.arange(y.size) // 3
    debiased = calibration_error(y, q, bin_size=SIZE, debias=True, **data)
    plain = calibration_error(y, q, bin_size=SIZE, **data)
    interval = calibration_error_interval(y, q, bin_size=SIZE, **data)
    sizes = bin_size_curve(y, q, bin_sizes=[SIZE], debias=True, **data)
    assert debiased > 0.05
    assert interval.estimate == pytest.approx(debiased, rel=1e-10)
    assert interval.plug_in == pytest.approx(plain, rel=1e-12)
    assert sizes.error[0] == pytest.approx(debiased, rel=1e-10)
    assert curve.error() == pytest.approx(plain, rel=1e-12)
    if not grouped:
        assert curve.error(debias=True) == pytest.approx(debiased, rel=1e-10)


def test_pooled_pairs_of_a_row_are_one_group():
    y, q = of_classes()
    found = calibration_error(y, q, debias=True, bin_size=SIZE)
    rows = calibration_error(y, q, debias=True, bin_size=SIZE, groups=np.arange(300))
    truth = (y[:, np.newaxis] == np.arange(4)).ravel()
    apart = calibration_error(truth, q.ravel(), debias=True, bin_size=SIZE)
    assert found == rows
    assert found != pytest.approx(apart, rel=1e-4)
