"""How often a gain that is none is called real, and a true one is in the interval."""

import numpy as np
import pytest
from scipy.special import expit

from skcalib.significance import paired_bootstrap_test

# right answers of few sentences may differ in five or less
pytestmark = pytest.mark.filterwarnings(
    "ignore:paired_bootstrap_test. the systems differ in so few"
)


def abilities(n, rng, lead=0.0):
    shared = 0.8 * rng.normal(size=(n, 1))
    return shared + 0.5 * rng.normal(size=(n, 2)) + np.array([lead, 0])


def accuracy(n, rng, lead=0.0):
    correct = (abilities(n, rng, lead) > -1).astype(int)
    return correct[:, 0], correct[:, 1], "mean"


def token_accuracy(n, rng, lead=0.0):
    length = 1 + rng.negative_binomial(3, 0.15, n)
    chance = expit(2.2 + abilities(n, rng, lead))
    a, b = (np.stack([rng.binomial(length, c), length], 1) for c in chance.T)
    return a, b, "ratio"


def f1(n, rng, lead=0.0):
    gold = rng.poisson(1.5, n)
    systems = []
    for score in abilities(n, rng, lead).T:
        correct = rng.binomial(gold, expit(1 + score))
        wrong = rng.poisson(0.6 * expit(-score))
        systems.append(np.stack([correct, correct + wrong, gold], 1))
    return *systems, "f1"


def bleu(sums):
    """Return a geometric mean of two precisions, less a penalty for short texts."""
    precision = (sums[..., 0] * sums[..., 1] / sums[..., 2] ** 2) ** 0.5
    return precision * np.exp(np.minimum(0, 1 - sums[..., 3] / sums[..., 2]))


def bleu_like(n, rng, lead=0.0):
    reference = 5 + rng.negative_binomial(4, 0.2, n)
    systems = []
    for score in abilities(n, rng, lead).T:
        length = np.maximum(4, reference + rng.integers(-3, 4, n))
        first = rng.binomial(length, expit(0.4 + 0.6 * score))
        second = rng.binomial(first, expit(0.2 + 0.6 * score))
        systems.append(np.stack([first, second, length, reference], 1))
    return *systems, bleu


def rejections(draw, n, n_replicates, test=paired_bootstrap_test, **kwargs):
    rng = np.random.default_rng(n)
    p_values = []
    for _ in range(n_replicates):
        a, b, statistic = draw(n, rng)
        result = test(a, b, statistic=statistic, random_state=rng, **kwargs)
        p_values.append(result.pvalue)
    rate = np.mean(np.array(p_values) < 0.05)
    return rate, np.sqrt(0.05 * 0.95 / n_replicates)


@pytest.mark.parametrize(
    ("draw", "n"),
    [(accuracy, 200), pytest.param(token_accuracy, 50, marks=pytest.mark.slow)],
)
def test_two_sided_tests_err_as_often_as_they_say(draw, n):
    rate, error = rejections(draw, n, 300)
    assert abs(rate - 0.05) < 0.013 + 2 * error


@pytest.mark.slow
@pytest.mark.parametrize("draw", [accuracy, token_accuracy, f1, bleu_like])
@pytest.mark.parametrize("n", [50, 200, 1000])
def test_the_error_rates_of_every_metric(draw, n):
    kwargs = {"n_resamples": 1000}
    if draw in (f1, bleu_like):
        kwargs["method"] = "monte_carlo"
    rate, error = rejections(draw, n, 1000, **kwargs)
    # few items of 0 and 1 have few p-values, and may err less often
    low = 0.02 if (draw, n) == (accuracy, 50) else 0.037
    assert low - 2 * error < rate < 0.063 + 2 * error


@pytest.mark.slow
@pytest.mark.parametrize("draw", [accuracy, token_accuracy, f1])
def test_the_interval_holds_a_true_gain(draw):
    a, b, statistic = draw(1_000_000, np.random.default_rng(0), 0.3)
    kwargs = {"statistic": statistic}
    truth = paired_bootstrap_test(
        a, b, method="monte_carlo", n_resamples=1, **kwargs
    ).statistic
    if statistic == "f1":
        kwargs |= {"method": "monte_carlo", "n_resamples": 1000}
    held = 0
    for seed in range(1000):
        a, b, _ = draw(200, np.random.default_rng(seed), 0.3)
        result = paired_bootstrap_test(a, b, random_state=seed, **kwargs)
        low, high = result.confidence_interval
        held += low <= truth <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.013 + 2 * 0.0069)
