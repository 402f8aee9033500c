"""Pair probabilities in a pipeline: sampled, exact, and as a transformer."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import squareform
from sklearn.base import clone

from skcalib import SampledCorefPairs
from skcalib.coref import AntecedentFeatures, _pairs
from skcalib.datasets import make_coref_documents
from skcalib.posteriors import AntecedentPosterior


@pytest.fixture(scope="module")
def data():
    _, y, scores = make_coref_documents(12, return_scores=True, random_state=1)
    scores += [np.zeros((0, 0)), np.zeros((1, 1)), np.zeros((2, 2))]
    return scores, [*y, [], [0], [0, 0]]


def test_exact_pairs_are_those_of_the_posterior(data):
    found = SampledCorefPairs(method="exact").transform(data[0])
    pairs = AntecedentPosterior(data[0]).pair_marginals()
    assert found.shape == (15,)
    for vector, matrix in zip(found, pairs, strict=True):
        n = len(matrix)
        expected = [matrix[i, j] for i in range(n) for j in range(i + 1, n)]
        assert vector.tolist() == expected
    np.testing.assert_array_equal(
        squareform(found[0]) + np.eye(len(pairs[0])), pairs[0]
    )


def test_sampled_pairs_come_near_them(data):
    n = 4000
    found = SampledCorefPairs(n, random_state=0).transform(data[0])
    exact = SampledCorefPairs(method="exact").transform(data[0])
    for sampled, q in zip(found, exact, strict=True):
        sd = np.sqrt(q * (1 - q) / n)
        assert (np.abs(sampled - q) <= 5 * sd + 1 / n).all()
        assert np.allclose(sampled * n, np.rint(sampled * n))


@pytest.mark.parametrize("other", [{"n_jobs": 2}, {"n_jobs": 1}])
def test_samples_depend_on_the_seed_but_not_on_n_jobs(data, other):
    found = SampledCorefPairs(20, random_state=5).transform(data[0])
    again = SampledCorefPairs(20, random_state=5, **other).transform(data[0])
    for a, b in zip(found, again, strict=True):
        assert (a == b).all()


def test_a_document_keeps_its_stream_when_more_follow(data):
    few = SampledCorefPairs(20, random_state=5).transform(data[0][:3])
    more = SampledCorefPairs(20, random_state=5).transform(data[0])
    assert all((a == b).all() for a, b in zip(few, more[:3], strict=True))


def test_blocks_do_not_matter(data, monkeypatch):
    found = SampledCorefPairs(50, random_state=5).transform(data[0])
    monkeypatch.setattr(_pairs, "BLOCK", 200)
    blocks = SampledCorefPairs(50, random_state=5).transform(data[0])
    assert all((a == b).all() for a, b in zip(found, blocks, strict=True))


@pytest.mark.parametrize("decoding", ["map", "mbr"])
def test_predict_decodes(data, decoding):
    found = SampledCorefPairs(decoding=decoding, n_jobs=2).predict(data[0])
    expected = getattr(AntecedentPosterior(data[0]), f"{decoding}_clusters")()
    assert [e.tolist() for e in found] == [e.tolist() for e in expected]


class TestScore:
    def test_minus_the_brier_score(self, data):
        scores, y = data
        pairs = SampledCorefPairs(method="exact")
        q = np.concatenate(list(pairs.predict_proba(scores)))
        truth = [
            y[d][i] == y[d][j]
            for d in range(len(y))
            for i in range(len(y[d]))
            for j in range(i + 1, len(y[d]))
        ]
        assert pairs.score(scores, y) == pytest.approx(-np.mean((q - truth) ** 2))

    @pytest.mark.parametrize("label", [None, np.nan, pd.NA, [0]])
    def test_labels_that_cannot_be_compared(self, label):
        with pytest.raises(ValueError, match="'y' .* Got .* mention 1"):
            SampledCorefPairs(2).score([np.zeros((2, 2))], [[0, label]])

    def test_weights_are_repetitions(self, data):
        scores, y = data
        weight = np.arange(len(y)) % 3
        pairs = SampledCorefPairs(method="exact")
        repeated = [i for i, w in enumerate(weight) for _ in range(w)]
        expected = pairs.score([scores[i] for i in repeated], [y[i] for i in repeated])
        assert pairs.score(scores, y, sample_weight=weight) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("y", "weight", "message"),
        [
            ([[0, 0]], None, "each of the 2 documents. Got 1"),
            ([[0, 0], [0]], None, r"2 mentions of document 1. Got 1"),
            ([[0, 0], [0, 0]], [1], "'sample_weight' .* each of the 2"),
            ([[0, 0], [0, 0]], [0, 0], "'sample_weight' .* zero in every row"),
            ([[0, 0], [0, 0]], ["a", 1], "'sample_weight' .* must contain numbers"),
        ],
    )
    def test_refused(self, y, weight, message):
        with pytest.raises(ValueError, match=message):
            SampledCorefPairs(2).score([np.zeros((2, 2))] * 2, y, weight)


def test_it_works_without_fit_and_is_cloned(data):
    pairs = SampledCorefPairs(7, method="exact", decoding="mbr", random_state=3)
    assert clone(pairs).get_params() == pairs.get_params()
    assert pairs.fit(None) is pairs
    tags = pairs.__sklearn_tags__()
    assert tags.requires_fit is False
    assert tags.input_tags.two_d_array is False


@pytest.mark.parametrize(
    ("params", "call", "error"),
    [
        ({"n_samples": 0}, "fit", ValueError),
        ({"n_samples": 1.5}, "transform", TypeError),
        ({"method": "mcmc"}, "transform", ValueError),
        ({"decoding": "best"}, "predict", ValueError),
        ({"random_state": -1}, "transform", ValueError),
    ],
)
def test_parameters_are_checked(params, call, error):
    (name,) = params
    with pytest.raises(error, match=f"'{name}' parameter of SampledCorefPairs must be"):
        getattr(SampledCorefPairs(**params), call)([np.zeros((2, 2))])


def test_verbose_prints_the_progress_over_documents(capsys):
    SampledCorefPairs(10).transform([np.zeros((2, 2))] * 2)
    assert capsys.readouterr() == ("", "")
    SampledCorefPairs(10, verbose=10).transform([np.zeros((2, 2))] * 2)
    assert "2 out of   2" in "".join(capsys.readouterr())


@pytest.mark.parametrize("method", ["transform", "predict_proba", "predict"])
def test_what_is_not_scores_is_named(method):
    documents, _ = make_coref_documents(2, random_state=0)
    features = AntecedentFeatures(2**4).transform(documents)
    step = SampledCorefPairs(2)
    expected = (
        f"'X' parameter of SampledCorefPairs.{method} must contain a matrix of "
        "antecedent scores for each document, as returned by "
        "AntecedentRanker.transform. Got "
    )
    with pytest.raises(TypeError, match=f"{expected}Document as entry 0"):
        getattr(step, method)(documents)
    with pytest.raises(TypeError, match=f"{expected}csr_array as entry 0"):
        getattr(step, method)(features)


def test_scores_of_another_shape_are_named():
    message = "'X' parameter of SampledCorefPairs.transform .* square.* document 1"
    with pytest.raises(ValueError, match=message):
        SampledCorefPairs(2).transform([np.zeros((2, 2)), np.zeros((2, 3))])


def test_the_default_is_exact_unless_a_number_of_samples_is_given(data):
    exact = SampledCorefPairs(method="exact").transform(data[0])
    found = SampledCorefPairs().transform(data[0])
    assert np.concatenate(found).tolist() == np.concatenate(exact).tolist()
    few = np.concatenate(SampledCorefPairs(7, random_state=0).transform(data[0]))
    assert np.abs(few * 7 - np.rint(few * 7)).max() < 1e-12
    many = SampledCorefPairs(method="sample", random_state=0).transform(data[0])
    expected = SampledCorefPairs(1000, random_state=0).transform(data[0])
    assert np.concatenate(many).tolist() == np.concatenate(expected).tolist()
