"""The prior of the temperature: few held-out sentences change little."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from skcalib.coref import SampledCorefPairs
from skcalib.posteriors import LinearChainPosterior
from skcalib.recalibration import TemperatureScaling, fit_temperature

RATE = 8.0  # theory, (T1)


def sentences(n, n_right, log_odds=2.0):
    """Return scores of one token and two tags, and tags, of which some are right."""
    scores = [np.array([[log_odds, 0.0]])] * n
    return scores, [["a"]] * n_right + [["b"]] * (n - n_right)


def fitted(n, n_right):
    scores, y = sentences(n, n_right)
    return fit_temperature(LinearChainPosterior(scores), y, ["a", "b"])


def slope(log_t, n, n_right, log_odds=2.0):
    """Return the derivative of the log likelihood in the log temperature."""
    z = log_odds / np.exp(log_t)
    return z * (n * expit(z) - n_right)


@pytest.mark.parametrize(("n", "n_right"), [(200, 150), (1000, 750), (400, 390)])
def test_the_slope_of_the_log_likelihood_is_the_rate_of_the_prior(n, n_right):
    best = np.log(2 / np.log(n_right / (n - n_right)))
    sign = np.sign(best)
    expected = brentq(
        lambda x: slope(x, n, n_right) - sign * RATE, *sorted((0.0, best))
    )
    found = np.log(fitted(n, n_right))
    assert found == pytest.approx(expected, abs=1e-4)
    assert 0 < abs(found) < abs(best)


@pytest.mark.parametrize(("n", "n_right"), [(4, 3), (40, 33), (40, 38), (10, 10)])
def test_few_sentences_keep_the_model(n, n_right):
    assert abs(slope(0.0, n, n_right)) < RATE
    assert fitted(n, n_right) == 1


def test_coreference_has_the_same_prior_of_the_temperature():
    """Without offset, documents of two mentions are sentences of two tags."""
    scores = [np.array([[0.0, 0.0], [2.0, 0.0]])] * 200
    y = [[0, 0]] * 150 + [[0, 1]] * 50
    model = TemperatureScaling(
        SampledCorefPairs(method="exact"), cv="prefit", offset_bounds=(0, 0)
    ).fit(scores, y)
    assert model.temperature_ == pytest.approx(fitted(200, 150), rel=1e-5)
    few = TemperatureScaling(
        SampledCorefPairs(method="exact"), cv="prefit", offset_bounds=(0, 0)
    ).fit(scores[:8], [[0, 0]] * 6 + [[0, 1]] * 2)
    assert few.temperature_ == 1
    assert few.log_likelihood_[0] == few.log_likelihood_[1]


def test_a_large_weight_gives_the_maximum_of_the_likelihood():
    scores, y = [np.array([[0.0, 0.0], [2.0, 0.0]])] * 4, [[0, 0]] * 3 + [[0, 1]]
    model = TemperatureScaling(
        SampledCorefPairs(method="exact"), cv="prefit", offset_bounds=(0, 0)
    ).fit(scores, y, sample_weight=np.full(4, 1e6))
    assert model.temperature_ == pytest.approx(2 / np.log(3), rel=1e-4)


def test_right_taggings_only_give_no_extreme_temperature_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted(100, 100)
    assert found == pytest.approx(
        np.exp(brentq(lambda x: slope(x, 100, 100) + RATE, -3, 0)), rel=1e-4
    )
    assert 0.5 < found < 1
