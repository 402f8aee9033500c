"""Coreference links predicted in new text, against enumeration of all choices."""

import itertools

import numpy as np
import pytest

from skcalib.experimental import predicted_links
from skcalib.posteriors import AntecedentPosterior


def draw(seed, n):
    return np.tril(np.random.default_rng(seed).normal(0, 1.5, (n, n)))


def enumerated_pairs(scores):
    """Return the probability of each pair by the sum over all choices."""
    n = len(scores)
    proba = [np.exp(row[: j + 1]) for j, row in enumerate(scores)]
    proba = [row / row.sum() for row in proba]
    total = np.zeros((n, n))
    for choice in itertools.product(*(range(j + 1) for j in range(n))):
        labels = []
        for j, k in enumerate(choice):
            labels.append(j if k == j else labels[k])
        p = np.prod([proba[j][k] for j, k in enumerate(choice)])
        total += p * np.equal.outer(labels, labels)
    return total


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.6])
def test_pairs_have_the_probability_of_the_enumeration(threshold):
    scores = [draw(0, 5), draw(1, 4)]
    links = predicted_links(
        AntecedentPosterior(scores), kind="pair", threshold=threshold
    )
    expected = [
        (i, j, k, each[j, k])
        for i, each in enumerate(map(enumerated_pairs, scores))
        for j in range(len(each))
        for k in range(j)
        if each[j, k] >= threshold
    ]
    got = zip(links.document, links.mention, links.antecedent, strict=True)
    assert [tuple(map(int, row)) for row in got] == [row[:3] for row in expected]
    np.testing.assert_allclose(links.proba, [row[3] for row in expected], atol=1e-12)


def test_the_best_antecedents_and_their_softmax():
    scores = [draw(2, 6)]
    links = predicted_links(AntecedentPosterior(scores))
    expected = []
    for j, row in enumerate(scores[0]):
        p = np.exp(row[: j + 1]) / np.exp(row[: j + 1]).sum()
        if p.argmax() != j:
            expected.append((j, p.argmax(), p.max()))
    assert len(expected) > 1
    np.testing.assert_array_equal(links.mention, [row[0] for row in expected])
    np.testing.assert_array_equal(links.antecedent, [row[1] for row in expected])
    np.testing.assert_allclose(links.proba, [row[2] for row in expected])


def test_clusters_of_the_best_antecedents_are_the_map_clusters():
    posterior = AntecedentPosterior(
        [draw(s, 12) for s in range(5)] + [np.zeros((0, 0))]
    )
    for found, expected in zip(
        predicted_links(posterior).clusters(), posterior.map_clusters(), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    pairs = predicted_links(posterior, kind="pair").clusters()
    for found, expected in zip(pairs, posterior.map_clusters(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_higher_threshold_gives_smaller_entities():
    posterior = AntecedentPosterior([draw(7, 20)])
    links = predicted_links(posterior, kind="pair", threshold=0.1)
    n = [len(set(links.above(t).clusters()[0])) for t in (0.1, 0.4, 0.7, 1.0)]
    assert n == sorted(n)
    assert n[0] < n[-1] == 20


def test_names_go_with_the_links():
    posterior = AntecedentPosterior([[[0, 0], [3, 0]], [[0]]])
    links = predicted_links(posterior, mentions=[[(0, 1), (4, 6)], ["x"]])
    assert links.records()[0]["mention_name"] == (4, 6)
    assert links.records()[0]["antecedent_name"] == (0, 1)
    assert links.frame().shape == (1, 6)


def test_documents_without_links():
    links = predicted_links(AntecedentPosterior([np.zeros((0, 0)), [[0.0]]]))
    assert len(links) == 0
    assert [each.tolist() for each in links.clusters()] == [[], [0]]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"kind": "link"}, "'kind' .* Got 'link'"),
        ({"threshold": 2}, "'threshold' .* Got 2"),
        ({"mentions": 3}, "'mentions' .* Got 3"),
    ],
)
def test_errors_name_the_argument(kwargs, message):
    with pytest.raises(ValueError, match=message):
        predicted_links(AntecedentPosterior([draw(0, 3)]), **kwargs)


def test_scores_instead_of_a_posterior_are_an_error():
    with pytest.raises(TypeError, match="AntecedentPosterior. Got list"):
        predicted_links([draw(0, 3)])
