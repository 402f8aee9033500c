"""Laws of one temperature: sentences have no order, tags no names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior
from skcalib.recalibration import TemperatureScaling

SEEDS = st.integers(0, 10_000)
LENGTHS = (3, 1, 5, 2, 4, 3)

few = settings(max_examples=10)


class Scores(BaseEstimator):
    """A tagger whose X are the scores of tokens."""

    def __init__(self, transition, classes):
        self.transition, self.classes = transition, classes

    def fit(self, X, y):
        self.classes_ = np.array(self.classes)
        return self

    def posterior(self, X):
        return LinearChainPosterior(list(X), self.transition)


def draw(seed):
    """Return scores that are wrong by a factor, and tags drawn from the right ones."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, 3)) for n in LENGTHS]
    transition = rng.normal(size=(3, 3))
    right = LinearChainPosterior(X, transition).tempered(1.5)
    return X, [each[0] for each in right.sample(1, random_state=seed)], transition


def fitted(X, y, transition, classes=(0, 1, 2), **kwargs):
    model = Scores(transition, classes).fit(X, y)
    return TemperatureScaling(model, cv="prefit").fit(X, y, **kwargs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@few
@given(seed=SEEDS)
def test_order_names_and_weights(seed):
    X, y, transition = draw(seed)
    rng = np.random.default_rng(seed)
    expected = fitted(X, y, transition)
    order = rng.permutation(len(X))
    mixed = fitted([X[i] for i in order], [y[i] for i in order], transition)
    assert mixed.temperature_ == pytest.approx(expected.temperature_, rel=1e-6)
    new = rng.permutation(3)  # new[k] is now tag k
    old = np.argsort(new)
    renamed = fitted(
        [table[:, new] for table in X],
        [old[tags] for tags in y],
        transition[np.ix_(new, new)],
    )
    assert renamed.temperature_ == pytest.approx(expected.temperature_, rel=1e-6)
    weight = rng.integers(0, 3, len(X))
    weight[0] += 1
    times = np.repeat(np.arange(len(X)), weight)
    weighted = fitted(X, y, transition, sample_weight=weight)
    many = fitted([X[i] for i in times], [y[i] for i in times], transition)
    assert weighted.temperature_ == pytest.approx(many.temperature_, rel=1e-6)
    single = fitted(
        [table.astype(np.float32) for table in X], y, transition.astype(np.float32)
    )
    assert single.temperature_ == pytest.approx(expected.temperature_, rel=1e-3)


@few
@given(
    seed=SEEDS,
    temperature=st.floats(0.2, 5.0),
    again=st.floats(0.2, 5.0),
    offset=st.floats(-3, 3),
)
def test_temperatures_multiply(seed, temperature, again, offset):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, 3)) for n in LENGTHS]
    chain = LinearChainPosterior(X, rng.normal(size=(3, 3)))
    tables = [np.tril(rng.normal(size=(n, n))) for n in LENGTHS]
    links = AntecedentPosterior(tables)
    for posterior, name in ((chain, "token_marginals"), (links, "pair_marginals")):
        twice = posterior.tempered(temperature).tempered(again)
        once = posterior.tempered(temperature * again)
        for a, b in zip(getattr(twice, name)(), getattr(once, name)(), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
    back = links.tempered(1.0, offset).tempered(1.0, -offset)
    for a, b in zip(back.pair_marginals(), links.pair_marginals(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
