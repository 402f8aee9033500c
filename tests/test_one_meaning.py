"""Scorers and displays report the numbers of the metrics."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from skcalib.metrics import calibration_error, calibration_error_interval
from skcalib.plot import ReliabilityDisplay
from skcalib.scorers import make_calibration_scorer


def of_classes():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(4, 0.5), 300)
    return rng.integers(0, 4, 300), proba


@pytest.mark.parametrize("settings", [{}, {"bin_size": 50}])
@pytest.mark.parametrize("debias", [False, True])
def test_the_scorer_agrees(debias, settings):
    X, y = load_digits(return_X_y=True)
    model = GaussianNB().fit(X[:900], y[:900])
    score = make_calibration_scorer(debias=debias, **settings)(model, X[900:], y[900:])
    proba = model.predict_proba(X[900:])
    expected = calibration_error(y[900:], proba, debias=debias, **settings)
    assert -score == pytest.approx(expected, rel=1e-10)


def test_the_display_agrees():
    y, q = of_classes()
    display = ReliabilityDisplay.from_predictions(y, q)
    interval = calibration_error_interval(y, q)
    assert display.error.estimate == pytest.approx(interval.estimate, rel=1e-12)
    error = calibration_error(y, q, debias=True)
    assert interval.estimate == pytest.approx(error, rel=1e-12)
