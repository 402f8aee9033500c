"""Out-of-fold marginals: the folds by hand, columns where they belong."""

import copy
from collections import Counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
)
from sklearn.pipeline import make_pipeline

from skcalib.coref import AntecedentFeatures, AntecedentRanker, SampledCorefPairs
from skcalib.datasets import make_coref_documents, make_tagged_sentences
from skcalib.experimental import ArcQuery, TreePosterior
from skcalib.queries import CorefPairQuery
from skcalib.recalibration import TemperatureScaling
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures, cross_val_marginals

FOLDS = KFold(3, shuffle=True, random_state=0)
MODELS = [HMMTagger(0.1), make_pipeline(TokenFeatures("basic"), CRFTagger(c2=0.1))]
each_model = pytest.mark.parametrize("model", MODELS, ids=["hmm", "pipeline"])


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_sentences(40, mean_length=6, n_words=80, random_state=1)


def by_hand(model, X, y, splits, classes):
    """Fit each fold and put each column where its label is, one number at a time."""
    entries = [None] * len(X)
    for train, test in splits:
        tagger = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        known = tagger.classes_.tolist()
        for i in test:
            (proba,) = tagger.predict_proba([X[i]])
            entries[i] = [
                [
                    row[known.index(label)] if label in known else 0.0
                    for label in classes
                ]
                for row in proba
            ]
    return entries


def same_entries(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, np.reshape(b, a.shape), atol=1e-12)


def labels_of(y):
    return sorted({label for tags in y for label in tags})


@each_model
def test_each_sentence_is_judged_by_a_tagger_that_did_not_see_it(model, corpus):
    X, y = corpus
    proba, classes = cross_val_marginals(model, X, y, cv=FOLDS)
    assert classes.tolist() == labels_of(y)
    same_entries(proba, by_hand(model, X, y, FOLDS.split(X), labels_of(y)))


@each_model
def test_two_processes_give_the_same(model, corpus):
    one, _ = cross_val_marginals(model, *corpus, cv=FOLDS)
    two, _ = cross_val_marginals(model, *corpus, cv=FOLDS, n_jobs=2)
    same_entries(two, one)


def test_folds_may_be_a_number_indices_or_masks(corpus):
    """As scikit-learn's cross_validate takes them."""
    expected, _ = cross_val_marginals(MODELS[0], *corpus, cv=KFold(4))
    each = np.arange(len(corpus[0]))
    splits = list(KFold(4).split(corpus[0]))
    masks = [(np.isin(each, train), np.isin(each, test)) for train, test in splits]
    for cv in (4, splits, masks):
        same_entries(cross_val_marginals(MODELS[0], *corpus, cv=cv)[0], expected)


def test_groups_are_for_the_splitter(corpus):
    X, y = corpus
    groups = np.repeat(np.arange(8), 5)
    proba, classes = cross_val_marginals(
        MODELS[0], X, y, cv=GroupKFold(4), groups=groups
    )
    splits = GroupKFold(4).split(X, groups=groups)
    same_entries(proba, by_hand(MODELS[0], X, y, splits, classes.tolist()))


@each_model
def test_columns_stay_in_place_where_a_fold_lacks_a_label(model):
    """'B' is in the first two sentences only, that is in no training of fold 0."""
    X = [["x", "b"], ["x", "b"], ["x", "z"], ["y", "z"]]
    y = [["A", "B"], ["A", "B"], ["A", "Z"], ["A", "Z"]]
    proba, classes = cross_val_marginals(model, X, y, cv=KFold(2))
    assert classes.tolist() == ["A", "B", "Z"]
    assert [p.shape for p in proba] == [(2, 3)] * 4
    for entry, lacking in zip(proba, [1, 1, 2, 2], strict=True):
        assert (entry[:, lacking] == 0).all()
        np.testing.assert_allclose(entry.sum(axis=1), 1)
    same_entries(proba, by_hand(model, X, y, KFold(2).split(X), "ABZ"))


@each_model
def test_there_is_an_entry_for_empty_sentences_and_equal_lengths(model):
    X, y = [["a", "b"], [], ["a", "b"], ["b", "a"]], [["A", "B"], [], *[["A", "B"]] * 2]
    proba, _ = cross_val_marginals(model, X, y, cv=2)
    assert proba.dtype == object
    assert proba.shape == (4,)
    assert [p.shape for p in proba] == [(2, 2), (0, 2), (2, 2), (2, 2)]


def test_the_estimator_is_not_fitted_and_nothing_modified(corpus):
    X, y = copy.deepcopy(corpus)
    model = HMMTagger()
    cross_val_marginals(model, X, y, cv=2)
    assert not hasattr(model, "classes_")
    assert (X, y) == corpus


def test_a_search_within_chooses_in_each_fold(corpus):
    search = GridSearchCV(HMMTagger(), {"pseudocount": [0.1, 100]}, cv=2)
    found, _ = cross_val_marginals(search, *corpus, cv=FOLDS)
    expected, _ = cross_val_marginals(HMMTagger(0.1), *corpus, cv=FOLDS)
    same_entries(found, expected)


# Coreference models and parsers

COREF_MODELS = {
    "ranker": AntecedentRanker(C=0.1),
    "sampled pairs": make_pipeline(
        AntecedentRanker(C=0.1), SampledCorefPairs(50, random_state=0)
    ),
    "temperature": TemperatureScaling(AntecedentRanker(C=0.1), cv=2),
    "search": GridSearchCV(AntecedentRanker(), {"C": [0.1, 1.0]}, cv=2),
}


@pytest.fixture(scope="module")
def documents():
    return make_coref_documents(12, random_state=0)


@pytest.mark.parametrize("ranker", COREF_MODELS.values(), ids=COREF_MODELS)
def test_pairs_of_mentions_come_from_the_other_folds(documents, ranker):
    X, y = documents
    model = make_pipeline(AntecedentFeatures(), ranker)
    proba, classes = cross_val_marginals(model, X, y, cv=3)
    assert classes is None
    for test in (range(4), range(4, 8), range(8, 12)):
        train = [i for i in range(12) if i not in test]
        fold = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        expected = fold.predict_proba([X[i] for i in test])
        same_entries([proba[i] for i in test], expected)
    answers = CorefPairQuery().from_proba(y, proba)
    assert len(answers) == sum(len(each) * (len(each) - 1) // 2 for each in y)


class DistanceParser(BaseEstimator):
    """Parser whose score of an arc is the log frequency of its offset in training."""

    def fit(self, X, y):
        offsets = [h - d for heads in y for d, h in enumerate(heads, 1) if h]
        self.counts_ = Counter(offsets)
        return self

    def posterior(self, X):
        return TreePosterior([self._scores(len(words)) for words in X])

    def _scores(self, n):
        offset = np.arange(n + 1) - np.arange(1, n + 1)[:, np.newaxis]
        counts = np.vectorize(lambda k: self.counts_[k] + 1)(offset)
        counts[:, 0] = 1  # the root
        return np.log(counts)


def test_heads_of_words_come_from_the_other_folds():
    X = [["a", "b"], ["a", "b", "c"], ["a", "b"], ["a", "b", "c"]]
    y = [[2, 0], [0, 1, 2], [0, 1], [2, 3, 0]]
    proba, classes = cross_val_marginals(DistanceParser(), X, y, cv=2)
    assert classes is None
    # The other fold has the offsets -1 (once) and +1 (twice): for two words, the scores
    # of the arcs 1 <- 2 and 2 <- 1 have weights 3 and 2, and each root has weight 1.
    np.testing.assert_allclose(proba[0], [[0.4, 0, 0.6], [0.6, 0.4, 0]])
    answers = ArcQuery(arcs="all").from_proba(y, proba)
    assert answers.y_true.sum() == 10


def test_documents_need_as_many_clusterings(documents):
    X, y = documents
    model = make_pipeline(AntecedentFeatures(), AntecedentRanker())
    with pytest.raises(ValueError, match="X has 12, y has 11"):
        cross_val_marginals(model, X, y[:-1], cv=3)


# What is refused


@pytest.mark.parametrize(
    ("cv", "place"),
    [
        (RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), "Sentence 0 is in 2"),
        (PredefinedSplit([-1] + [0] * 20 + [1] * 19), "Sentence 0 is in 0"),
        ([([0, 1], [2, 3]), ([2, 3], [3])], "Sentence 0 is in 0"),
    ],
)
def test_each_sentence_must_be_tested_once(corpus, cv, place):
    with pytest.raises(
        ValueError, match=f"'cv' parameter .* exactly one fold. {place}"
    ):
        cross_val_marginals(MODELS[0], *corpus, cv=cv)


def test_there_must_be_a_fold(corpus):
    with pytest.raises(ValueError, match="'cv' parameter of cross_val_marginals"):
        cross_val_marginals(MODELS[0], *corpus, cv=[])


@pytest.mark.parametrize(
    "fold",
    [[40], [-1], [0.5], [[0, 1]], ["a"], np.zeros(3, dtype=bool), np.array(3)],
    ids=repr,
)
@pytest.mark.parametrize("turned", [False, True])
def test_folds_must_be_numbers_of_sentences(corpus, fold, turned):
    cv = [(fold, [0, 1])[:: -1 if turned else 1]]
    with pytest.raises(ValueError, match="'cv' .* indices of sentences from 0 to 39"):
        cross_val_marginals(MODELS[0], *corpus, cv=cv)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([0, 1], [2, 99])], r"masks of length 40. Got 99\.$"),
        ([1, 2], r"must yield pairs \(train, test\). Got 1\.$"),
    ],
)
def test_the_wrong_part_of_a_fold_is_named(corpus, cv, message):
    with pytest.raises(ValueError, match=f"'cv' .*{message}"):
        cross_val_marginals(MODELS[0], *corpus, cv=cv)


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([["a"]] * 3, [["A"]] * 2, ValueError, "3 sentences in X and 2 in y"),
        ([["a"], ["a", "b"]], [["A"]] * 2, ValueError, "Sentence 1 has 2 tokens and 1"),
        ([["a"]] * 2, None, ValueError, "requires y"),
        ([], [], ValueError, "needs at least one sentence with a token"),
        ([["a"]] * 2, [["A"], [1]], ValueError, "labels of one type"),
    ],
)
def test_sentences_and_labels_are_checked(X, y, error, message):
    with pytest.raises(error, match=f"cross_val_marginals.*{message}|{message}"):
        cross_val_marginals(HMMTagger(), X, y, cv=2)


def test_it_says_how_far_the_folds_are_when_asked(capsys):
    X, y = [["the", "dog"], ["a", "dog"]], [["D", "N"]] * 2
    cross_val_marginals(HMMTagger(), X, y, cv=2)
    assert capsys.readouterr() == ("", "")
    cross_val_marginals(HMMTagger(), X, y, cv=2, verbose=10)
    assert "2 out of   2" in "".join(capsys.readouterr())
