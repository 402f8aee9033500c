"""Scores of antecedents in the layouts of several libraries, worked by hand."""

import numpy as np
import pytest
from scipy.special import softmax

from skcalib.interop import from_antecedent_scores, labels_from_clusters


def draw(seed=0, n=5):
    return np.tril(np.random.default_rng(seed).normal(0, 2, (n, n)), -1)


def expected(scores, new=0.0):
    """Return the probabilities of antecedents, by one softmax for each mention."""
    n = len(scores)
    table = np.zeros((n, n))
    for j in range(n):
        row = softmax([*scores[j, :j], new if np.isscalar(new) else new[j]])
        table[j, : j + 1] = row
    return table


@pytest.mark.parametrize("dummy", ["last", "first"])
def test_dense_scores_with_a_dummy_column(dummy):
    scores = draw()
    masked = np.where(np.tri(5, k=-1, dtype=bool), scores, -1e4)  # as s2e-coref does
    new = np.zeros((5, 1))
    given = np.hstack([masked, new] if dummy == "last" else [new, masked])
    posterior = from_antecedent_scores([given], dummy=dummy)
    np.testing.assert_allclose(posterior.antecedent_proba()[0], expected(scores))


def test_the_dummy_has_the_score_zero_without_a_column():
    scores = draw()
    posterior = from_antecedent_scores([scores, np.zeros((0, 0))], n_dummies=0)
    np.testing.assert_allclose(posterior.antecedent_proba()[0], expected(scores))
    assert posterior.lengths.tolist() == [5, 0]


def test_what_is_not_before_a_mention_is_not_read():
    given = np.full((5, 6), 7.0)
    given[:, :5] = np.where(np.tri(5, k=-1, dtype=bool), draw(), np.nan)
    given[:, 5] = 0
    posterior = from_antecedent_scores([given])
    np.testing.assert_allclose(posterior.antecedent_proba()[0], expected(draw()))


def test_candidates_are_put_in_their_places():
    scores, rng = draw(1, 6), np.random.default_rng(2)
    k = 3
    kept = np.full((6, 6), -np.inf)
    places, given = np.zeros((6, k), dtype=int), np.zeros((6, k + 1))
    for j in range(6):
        chosen = rng.permutation(j)[:k]
        # padding of AllenNLP and stanza: any index, score -inf or masked by its place
        places[j] = [*chosen, *[j] * (k - len(chosen))]
        given[j, 1:] = [*scores[j, chosen], *[5.0] * (k - len(chosen))]
        kept[j, chosen] = scores[j, chosen]
    posterior = from_antecedent_scores([given], [places], dummy="first")
    np.testing.assert_allclose(posterior.antecedent_proba()[0], expected(kept))


def test_masked_padding_may_repeat_a_candidate():
    # e2e-coref sets the indices of padding to 0, and masks their scores.
    scores = np.array([[0, -np.inf, -np.inf], [0, 1.5, -np.inf], [0, 0.5, 2.0]])
    places = [[0, 0], [0, 0], [1, 0]]
    posterior = from_antecedent_scores([scores], [places], dummy="first")
    expected = softmax([[1.5, -np.inf, 0], [2.0, 0.5, 0]], axis=1)
    found = posterior.antecedent_proba()[0]
    np.testing.assert_allclose(found[1, :2], expected[0, [0, 2]])
    np.testing.assert_allclose(found[2], expected[1])


def test_two_dummies_are_added_up():
    scores = draw(3, 4)
    two = np.random.default_rng(4).normal(0, 1, (4, 2))
    posterior = from_antecedent_scores(
        [np.hstack([two, scores])], dummy="first", n_dummies=2
    )
    new = np.log(np.exp(two).sum(axis=1))
    np.testing.assert_allclose(posterior.antecedent_proba()[0], expected(scores, new))


def test_masked_choices_are_impossible():
    given = np.array([[-1e4, -1e4, 0.0], [-10_000.5, -1e4, 0.0]])
    posterior = from_antecedent_scores([given])
    assert posterior.n_unreachable([["a", "a"]])[0] == 1


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (([np.zeros(3)],), {}, r"'scores' .* Got shape \(3,\) .* into a list"),
        (([np.zeros((3, 9))],), {}, "Got 8 columns for the 3 mentions of document 0"),
        (([np.zeros((2, 2))], [[[0]]]), {}, r"'antecedents' .* \(1, 1\) and \(2, 1\)"),
        (([np.zeros((2, 2))], []), {}, "'antecedents' .* each of the 1 documents"),
        (([np.zeros((3, 3))], [[[0, 0], [0, 0], [0, 1]]]), {}, "mention 0 twice for"),
        (([np.zeros((3, 2))], [[[0], [0], [37]]]), {}, "Got 37 for mention 2 of doc"),
        (([np.zeros((3, 2))], [[[0], [0], [0.5]]]), {}, r"Got 0.5 at position \[2, 0"),
        (([],), {"dummy": "middle"}, "'dummy' .* Got 'middle'"),
        (([],), {"n_dummies": -1}, "'n_dummies' .* Got -1"),
    ],
)
def test_errors_name_the_argument(args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        from_antecedent_scores(*args, **kwargs)


def test_labels_of_clusters_in_json():
    found = labels_from_clusters([[[[4, 5], [0, 1]], [[2, 2]]], []])
    assert found.mentions == [[(0, 1), (2, 2), (4, 5)], []]
    assert found.labels == [[0, 1, 0], []]
    assert found.n_missing == 0


def test_labels_of_the_mentions_that_a_model_kept():
    clusters = [[[(0, 1), (4, 5), (9, 9)], [(2, 2), (7, 8)]]]
    mentions = [np.array([[0, 1], [2, 2], [3, 3], [4, 5], [6, 6]])]
    found = labels_from_clusters(clusters, mentions)
    assert found.labels == [[0, 1, 2, 0, 3]]
    assert found.n_missing == 2


def test_equal_mentions_are_one_entity():
    found = labels_from_clusters([[[(0, 1), (4, 5)]]], [[(0, 1), (3, 3)] * 2])
    assert found.labels == [[0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([[[[0, 1]], [[0, 1]]]],), r"\(0, 1\) of document 0 is in clusters 0 and 1"),
        (([[]], []), "'mentions' .* each of the 1 documents. Got 0"),
    ],
)
def test_errors_of_clusters(args, message):
    with pytest.raises(ValueError, match=message):
        labels_from_clusters(*args)


@pytest.mark.parametrize("clusters", [3, "ab", [3]])
def test_clusters_of_no_document_are_a_type_error(clusters):
    with pytest.raises(TypeError, match="'clusters' .* list of clusters for each doc"):
        labels_from_clusters(clusters)
