"""posterior_predictive_check: values by hand, exact distributions, exact p-values."""

import re

import numpy as np
import pytest

from skcalib.datasets import make_coref_documents
from skcalib.experimental import entity_count_coverage, posterior_predictive_check
from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior


def n_clusters(labels):
    return np.unique(labels).size


def test_values_and_p_values_by_hand():
    samples = [[[0, 0], [0, 1], [1, 1], [1, 1]], [[0, 1], [1, 1], [0, 0], [0, 0]]]
    found = posterior_predictive_check(
        [[1, 1], [0, 0]], samples, np.sum, confidence_level=0.5
    )
    assert found.observed.tolist() == [2, 0]
    assert found.mean.tolist() == [5 / 4, 3 / 4]
    # the second document's values are 1, 2, 0, 0
    assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [2, 1])
    assert found.proba.tolist() == [1, 3 / 4]
    assert found.pit.tolist() == [(2 + 1) / 4, 1 / 4]
    assert found.coverage == 1
    # totals: observed 2; samples 1, 3, 2, 2
    assert found.pvalue == min(1, 2 * min(4, 4) / 5)
    assert found.n_samples == 4


def test_p_value_counts_the_samples_that_are_as_extreme():
    drawn = [[[k] for k in range(99)]]
    for value, p in ((98, 2 * 2 / 100), (99, 2 / 100), (-5, 2 / 100), (49, 1.0)):
        found = posterior_predictive_check([[value]], drawn, np.sum)
        assert found.pvalue == pytest.approx(p), value


@pytest.mark.slow
def test_counts_of_entities_agree_with_their_exact_distribution():
    _, y, scores = make_coref_documents(30, return_scores=True, random_state=0)
    posterior = AntecedentPosterior(scores).tempered(1, 0.5)
    exact = entity_count_coverage(y, posterior)
    samples = posterior.sample(4000, random_state=0)
    found = posterior_predictive_check(y, samples, n_clusters)
    assert found.observed.tolist() == exact.n_true.tolist()
    error = found.standard_deviation / np.sqrt(4000)
    assert np.all(np.abs(found.mean - exact.mean) < 5 * error)
    np.testing.assert_allclose(found.pit, exact.pit, atol=0.04)
    assert found.expected_coverage == pytest.approx(exact.expected_coverage, abs=0.01)


def test_p_values_are_uniform_if_the_posterior_is_right():
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=(6, 3)) for _ in range(5)]
    posterior = LinearChainPosterior(scores, rng.normal(size=(3, 3)))
    drawn = posterior.sample(400 * 20, random_state=1)
    p = []
    for k in range(400):
        part = [each[20 * k : 20 * (k + 1)] for each in drawn]
        found = posterior_predictive_check(
            [each[0] for each in part], [each[1:] for each in part], np.sum
        )
        p.append([found.pvalue, found.spread_pvalue])
    for level in (0.1, 0.2, 0.5):
        share = (np.array(p) <= level + 1e-12).mean(axis=0)
        # ties make the first conservative
        assert np.all(share < level + 4 * np.sqrt(level / 400)), level
    assert abs(share[1] - 0.5) < 0.1


def test_spread_finds_values_that_vary_too_much_about_a_right_total():
    rng = np.random.default_rng(0)
    samples = [rng.integers(0, 2, (199, 50)) for _ in range(40)]
    wide = [np.arange(50) < 25 + (-1) ** i * 12 for i in range(40)]
    found = posterior_predictive_check([w.astype(int) for w in wide], samples, np.sum)
    assert found.pvalue > 0.05
    assert found.spread_pvalue == 2 / 200
    same = [np.arange(50) % 2 for i in range(40)]
    narrow = posterior_predictive_check(same, samples, np.sum)
    assert narrow.spread_pvalue == 2 / 200
    assert narrow.coverage == 1


def test_statistics_of_taggings_get_the_names_of_tags():
    seen = []

    def n_names(tags):
        seen.append(tags.tolist())
        return sum(tag.startswith("B-") for tag in tags)

    samples = [np.array([[0, 1], [1, 2]]), np.zeros((2, 0), dtype=int)]
    found = posterior_predictive_check(
        [["O", "B-P"], []], samples, n_names, classes=["O", "B-P", "I-P"]
    )
    assert seen[:3] == [["O", "B-P"], ["O", "B-P"], ["B-P", "I-P"]]
    assert found.mean.tolist() == [1, 0]
    assert found.spread_pvalue == 1


def test_results_give_a_table_and_sentences():
    samples = [[[0, 0], [0, 1]], [[1, 1], [1, 1]]]
    found = posterior_predictive_check([[0, 1], [1, 1]], samples, np.sum)
    assert found.frame().shape == (2, 7)
    assert found.to_dict()["observed"] == [1, 2]
    assert "The total is 3. The posterior expects 2.5" in found._repr_html_()
    assert repr(found).startswith("PredictiveCheck(observed=3, expected=2.5, pvalue=")


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"statistic": "sum"}, TypeError, "must be a callable. Got str"),
        ({"statistic": lambda s: s}, ValueError, "for sequence 0"),
        ({"statistic": lambda s: np.nan}, ValueError, "Got nan for sequence 0"),
        ({"samples": [[[0, 0]] * 2]}, ValueError, "Got 1, and 2 in y_true"),
        ({"samples": []}, ValueError, "Got 0, and 2 in y_true"),
        ({"samples": 3}, TypeError, "pass the result of its method 'sample'"),
        (
            {"samples": [[[0, 0]] * 2, [[0]] * 2]},
            ValueError,
            "Got shape (2, 1) for sequence 1, which has 2 labels in y_true",
        ),
        ({"samples": [[[0, 0]] * 2, [[0, 0]] * 3]}, ValueError, "for sequence 1"),
        ({"samples": [[[0, 0]]] * 2}, ValueError, "and at least 2"),
        ({"classes": ["A"]}, ValueError, "Got int64 from 0 to 1 for sequence 0"),
        ({"confidence_level": 1}, ValueError, "strictly between 0 and 1"),
    ],
)
def test_errors_name_what_is_wrong(params, error, message):
    settings = {
        "samples": [[[0, 1], [1, 1]]] * 2,
        "statistic": np.sum,
        **params,
    }
    with pytest.raises(error, match=re.escape(message)):
        posterior_predictive_check([[0, 1], [1, 0]], **settings)


def test_events_below_the_quantiles_of_a_number_have_the_probability_of_the_level():
    # a true value at each of the 20 places among 19 samples
    truth = np.arange(20)[:, np.newaxis] + 0.5
    samples = np.tile(np.arange(1.0, 20)[:, np.newaxis], (20, 1, 1))
    pit = posterior_predictive_check(truth, samples, np.sum).pit
    levels = np.arange(1, 20) / 20
    assert np.mean(pit[:, np.newaxis] <= levels, axis=0) == pytest.approx(levels)
