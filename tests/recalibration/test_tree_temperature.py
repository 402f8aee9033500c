"""One temperature for the trees of a parser."""

import numpy as np
import pytest

from skcalib import TemperatureScaling
from skcalib.experimental import TreePosterior


class Parser:
    def posterior(self, X):
        return TreePosterior(X)

    def predict(self, X):
        return self.posterior(X).best_tree()


def test_temperature_of_trees_drawn_from_the_posterior_is_found():
    rng = np.random.default_rng(0)
    true = [rng.normal(size=(7, 8)) for _ in range(400)]
    gold = [drawn[0] for drawn in TreePosterior(true).sample(1, random_state=1)]
    strong = [2.5 * scores for scores in true]
    model = TemperatureScaling(Parser(), cv="prefit").fit(strong, gold)
    assert model.temperature_ == pytest.approx(2.5, rel=0.1)
    assert model.log_likelihood_[1] > model.log_likelihood_[0]
    found = model.posterior(strong[:3])
    assert isinstance(found, TreePosterior)
    expected = TreePosterior(strong[:3]).tempered(model.temperature_)
    np.testing.assert_allclose(found.log_scores[0], expected.log_scores[0])


@pytest.mark.usefixtures("without_prior")
def test_impossible_trees_are_left_out_and_counted():
    forbidden = np.zeros((3, 4))
    forbidden[1, 1] = -np.inf
    gold = [[2, 0, 2], [0, 1, 1], [2, 0, 2]]
    scores = [np.zeros((3, 4)), forbidden, np.eye(3, 4)]
    with pytest.warns(UserWarning, match="highest at"):
        model = TemperatureScaling(Parser(), cv="prefit").fit(scores, gold)
    assert model.n_unreachable_ == 1
