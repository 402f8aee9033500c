"""The temperature of a posterior from elsewhere."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from skcalib.posteriors import LinearChainPosterior
from skcalib.recalibration import fit_temperature

CLASSES = ["O", "B-x", "I-x"]


def draw(seed=0, factor=2.0):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(0, 2, (n, 3)) for n in rng.integers(1, 15, 60)]
    paths = LinearChainPosterior(scores).sample(1, random_state=0)
    y = [[CLASSES[k] for k in path[0]] for path in paths]
    return [factor * each for each in scores], y


@pytest.mark.usefixtures("without_prior")
def test_the_temperature_maximises_the_likelihood_of_the_tokens():
    scores, y = draw()
    rows = np.concatenate(scores)
    codes = np.array([CLASSES.index(tag) for tags in y for tag in tags])

    def loss(log_t):
        proba = log_softmax(rows / np.exp(log_t), axis=1)
        return -proba[np.arange(codes.size), codes].sum()

    expected = np.exp(minimize_scalar(loss, bounds=(-2, 2), method="bounded").x)
    found = fit_temperature(LinearChainPosterior(scores), y, CLASSES)
    assert found == pytest.approx(expected, rel=1e-4)
    assert 1.7 < found < 2.4


def test_sentences_that_are_impossible_are_left_out_with_a_warning():
    scores, y = draw()
    expected = fit_temperature(LinearChainPosterior(scores), y, CLASSES)
    scores += [np.array([[0.0, -np.inf, 0.0]]), np.zeros((1, 3))]
    y += [["B-x"], ["B-y"]]
    posterior = LinearChainPosterior(scores)
    with pytest.warns(UserWarning, match="2 of 62 sentences .* is sentence 60"):
        assert fit_temperature(posterior, y, CLASSES) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([["O"]], CLASSES, "'posterior' .* Sentence 0 has 1 labels and 2 tokens"),
        ([["O", "O"]], CLASSES[:2], "Got 3 columns, and 'classes' has length 2"),
        ([["O", "B-y"]], CLASSES, "'y_true' .* whose true tagging is possible"),
        ([[0, 1]], CLASSES, r"sentence 0 has the tags \[0, 1\], and the classes are"),
    ],
)
def test_errors_name_the_argument(y, classes, message):
    with pytest.raises(ValueError, match=message):
        fit_temperature(LinearChainPosterior([np.zeros((2, 3))]), y, classes)


def test_what_is_no_posterior_is_named():
    with pytest.raises(TypeError, match="'posterior'.*Got int"):
        fit_temperature(3, [["a"]], ["a"])
