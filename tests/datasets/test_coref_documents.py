"""Generated documents: their form, and that their truth is the truth."""

import numpy as np
import pytest

from skcalib.datasets import make_coref_documents
from skcalib.metrics import calibration_error
from skcalib.posteriors import AntecedentPosterior


def test_documents_mentions_and_entities():
    X, y, scores = make_coref_documents(
        30, mean_mentions=8, return_scores=True, random_state=0
    )
    assert [document.id for document in X[:2]] == ["generated-0", "generated-1"]
    for document, labels, matrix in zip(X, y, scores, strict=True):
        n = len(document.mentions)
        assert labels.shape == (n,)
        assert matrix.shape == (n, n)
        assert n == 2 * len(document.sentences)
        assert list(document.entities) == labels.tolist()
        assert (labels[labels] == labels).all()
        words = [word for s in document.sentences for word in s.form]
        tags = [tag for s in document.sentences for tag in s.upos]
        for mention in document.mentions:
            phrase = words[mention.start : mention.end]
            assert mention.head == mention.end - 1
            assert tags[mention.head] in ("PRON", "PROPN", "NOUN")
            assert (phrase[0] == "the") == (tags[mention.head] == "NOUN")


@pytest.mark.slow
def test_sizes_have_the_mean():
    X, _ = make_coref_documents(2000, mean_mentions=6, random_state=0)
    sizes = np.array([len(document.mentions) for document in X])
    # twice a Poisson number of mean 2, and 2
    assert abs(sizes.mean() - 6) < 5 * np.sqrt(8 / 2000)


def test_probabilities_of_the_true_scores_are_calibrated():
    _, y, scores = make_coref_documents(400, return_scores=True, random_state=0)
    posterior = AntecedentPosterior(scores)
    upper = [np.triu_indices(len(labels), 1) for labels in y]
    truth, proba = (
        np.concatenate([matrix[at] for matrix, at in zip(matrices, upper, strict=True)])
        for matrices in (
            [np.equal.outer(labels, labels) for labels in y],
            posterior.pair_marginals(),
        )
    )
    assert 0.02 < truth.mean() < 0.5
    error = calibration_error(truth, proba, debias=True, bin_size=2000)
    assert error < 0.015
    colder = posterior.tempered(0.5).pair_marginals()
    sharp = np.concatenate([m[at] for m, at in zip(colder, upper, strict=True)])
    assert calibration_error(truth, sharp, debias=True, bin_size=2000) > 2 * error
    # the numbers of entities are as many as expected
    pmf = posterior.n_entities_pmf()
    mean = np.array([np.arange(len(p)) @ p for p in pmf])
    var = sum(np.arange(len(p)) ** 2 @ p - m**2 for p, m in zip(pmf, mean, strict=True))
    found = sum(len(set(labels.tolist())) for labels in y)
    assert abs(found - mean.sum()) < 4 * np.sqrt(var)


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"n_documents": 0}, ValueError),
        ({"mean_mentions": 1}, ValueError),
        ({"mean_mentions": "20"}, TypeError),
        ({"random_state": "x"}, ValueError),
    ],
)
def test_parameters_are_checked(params, error):
    (name,) = params
    with pytest.raises(error, match=f"'{name}' parameter of make_coref_documents"):
        make_coref_documents(**params)
