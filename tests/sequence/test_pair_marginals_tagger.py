"""Pairs of tags as a tagger gives them."""

import itertools

import numpy as np
import pytest
from cases import case
from sklearn.base import clone

from skcalib.sequence import CRFTagger, HMMTagger

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], [], ["dogs", "bark"], ["it"]]
Y = [["D", "N", "V"], ["D", "N", "V"], [], ["N", "V"], ["N"]]
NEW = [["the", "mouse"], [], ["cat"], ["a", "dog", "of", "war"]]
TAGS = ["D", "N", "V"]

each_tagger = pytest.mark.parametrize(
    "tagger", [HMMTagger(0.1), CRFTagger(c2=0.1)], ids=["HMM", "CRF"]
)


def fitted(tagger, y=Y):
    return clone(tagger).fit(X, y)


def pairs_by_enumeration(posterior, n):
    """Sum the probabilities of all taggings of a sentence of n tokens."""
    table = np.zeros((n - 1, 3, 3))
    for path in itertools.product(range(3), repeat=n):
        p = np.exp(posterior.log_proba([path])[0])
        for t, (a, b) in enumerate(itertools.pairwise(path)):
            table[t, a, b] += p
    return table


@each_tagger
def test_all_pairs_are_sums_over_taggings(tagger):
    tagger = fitted(tagger)
    found = tagger.predict_pair_marginals(NEW)
    assert found.shape == (4,)
    assert found.dtype == object
    for i in (0, 3):
        expected = pairs_by_enumeration(tagger.posterior(NEW)[i : i + 1], len(NEW[i]))
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


@each_tagger
def test_chosen_pairs_are_in_the_order_asked(tagger):
    tagger = fitted(tagger)
    pairs = [("N", "V"), ("D", "N"), ("V", "V"), ("N", "V")]
    whole = tagger.predict_pair_marginals(NEW)
    found = tagger.predict_pair_marginals(NEW, pairs)
    for chosen, table in zip(found, whole, strict=True):
        expected = np.array(
            [[row[TAGS.index(a), TAGS.index(b)] for a, b in pairs] for row in table]
        )
        np.testing.assert_allclose(chosen, expected.reshape(-1, 4), atol=1e-14)


@each_tagger
def test_short_sentences_have_no_rows(tagger):
    tagger = fitted(tagger)
    sentences = [[], ["dog"], ["the", "dog"], ["the", "cat"]]
    assert [p.shape for p in tagger.predict_pair_marginals(sentences)] == [
        (0, 3, 3),
        (0, 3, 3),
        (1, 3, 3),
        (1, 3, 3),
    ]
    found = tagger.predict_pair_marginals(sentences, np.array([["D", "N"]]))
    assert [p.shape for p in found] == [(0, 1), (0, 1), (1, 1), (1, 1)]
    assert tagger.predict_pair_marginals(sentences[2:]).shape == (2,)
    assert [p.shape for p in tagger.predict_pair_marginals(sentences, [])] == [
        (0, 0),
        (0, 0),
        (1, 0),
        (1, 0),
    ]


def test_labels_may_be_numbers():
    code = {"D": 7, "N": 5, "V": 3}
    tagger = fitted(HMMTagger(0.1), [[code[tag] for tag in tags] for tags in Y])
    found = tagger.predict_pair_marginals(NEW, [(7, 5)])
    expected = fitted(HMMTagger(0.1)).predict_pair_marginals(NEW, [("D", "N")])
    np.testing.assert_allclose(found[3], expected[3], atol=1e-14)


@each_tagger
def test_pairs_that_do_not_fit_are_refused(tagger):
    cases = [
        ([("D", "X")], ValueError, r"labels of classes_, \['D', 'N', 'V'\]. Got 'X'"),
        ([("D", "N"), (0, 1)], ValueError, "Got 0 in pair 1"),
        (["DN"], ValueError, "list of .label, next label.. Got 'DN' as pair 0"),
        ([("D", "N"), ("D",)], ValueError, r"Got \('D',\) as pair 1"),
        ("DN", TypeError, "list of .label, next label.. Got 'DN'"),
        (3, TypeError, "list of .label, next label.. Got 3"),
        (np.array(3), TypeError, r"list of .label, next label.. Got array\(3\)"),
        ([3], ValueError, "list of .label, next label.. Got 3 as pair 0"),
        ([{"D", "N"}], ValueError, "list of .label, next label.. Got .* as pair 0"),
        ([("D", ["N"])], ValueError, r"labels of classes_.* Got \['N'\] in pair 0"),
    ]
    for pairs, error, message in cases:
        with case(pairs):
            name = type(tagger).__name__
            with pytest.raises(
                error, match=f"{name}.predict_pair_marginals .*{message}"
            ):
                fitted(tagger).predict_pair_marginals(NEW, pairs)
