"""Laws of taggers: sentences have no order, tags no names, probabilities sum to one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures, cross_val_marginals

TAGS = "ABC"
# Each word at home in one tag, and now and then in another.
TOKENS = st.tuples(st.sampled_from("abcxyz"), st.sampled_from(TAGS))
SENTENCES = st.lists(TOKENS, max_size=5)
# Every tag begins a corpus, so that none is unknown.
START = [[(tag.lower(), tag) for tag in TAGS]]
CORPORA = st.lists(SENTENCES, min_size=1, max_size=6).map(lambda more: START + more)
NEW = st.lists(st.lists(st.sampled_from("abcxyz?"), max_size=6), max_size=6)
RANDOM = st.randoms(use_true_random=False)

TAGGERS = [
    HMMTagger(0.5),
    HMMTagger(0.5, end_state=True, decoding="posterior"),
    CRFTagger(c2=0.5),
]

each_tagger = pytest.mark.parametrize(
    "tagger", TAGGERS, ids=["HMM", "HMM with end", "CRF"]
)
few = settings(max_examples=15)


def parts(corpus):
    return (
        [[word for word, _ in sentence] for sentence in corpus],
        [[tag for _, tag in sentence] for sentence in corpus],
    )


def close(found, expected, atol=1e-12):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def tolerance(tagger):
    """Return how far training may stop from the optimum, wherever it begins."""
    return 1e-3 if isinstance(tagger, CRFTagger) else 1e-12


@each_tagger
@few
@given(corpus=CORPORA, X=NEW, random=RANDOM)
def test_marginals_sum_to_one_and_follow_their_sentences(tagger, corpus, X, random):
    tagger = clone(tagger).fit(*parts(corpus))
    proba = tagger.predict_proba(X)
    for table in proba:
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
    pairs = [(a, b) for a in TAGS for b in TAGS]
    pair_proba = tagger.predict_pair_marginals(X, pairs)
    for table, sentence in zip(pair_proba, X, strict=True):
        assert table.shape == (max(len(sentence) - 1, 0), 9)
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
    order = random.sample(range(len(X)), len(X))
    mixed = [X[i] for i in order]
    close(tagger.predict_proba(mixed), proba[order])
    close(tagger.predict_pair_marginals(mixed, pairs), pair_proba[order])
    tags = tagger.predict(X)
    assert [list(each) for each in tagger.predict(mixed)] == [
        list(tags[i]) for i in order
    ]
    both = tagger.predict_proba([*X, *mixed])
    close(both, [*proba, *proba[order]])


@each_tagger
@few
@given(corpus=CORPORA, X=NEW, random=RANDOM)
def test_order_of_training_sentences(tagger, corpus, X, random):
    order = random.sample(corpus, len(corpus))
    expected = clone(tagger).fit(*parts(corpus)).predict_proba(X)
    found = clone(tagger).fit(*parts(order)).predict_proba(X)
    close(found, expected, tolerance(tagger))


@each_tagger
@few
@given(corpus=CORPORA, X=NEW)
def test_names_of_tags(tagger, corpus, X):
    """Other names, in another order, are columns in another order."""
    names = dict(zip(TAGS, ("zero", "one", "two"), strict=True))
    renamed = [[(word, names[tag]) for word, tag in each] for each in corpus]
    expected = clone(tagger).fit(*parts(corpus)).predict_proba(X)
    tagger = clone(tagger).fit(*parts(renamed))
    assert list(tagger.classes_) == ["one", "two", "zero"]
    columns = [list(tagger.classes_).index(names[tag]) for tag in TAGS]
    found = [table[:, columns] for table in tagger.predict_proba(X)]
    close(found, expected, tolerance(tagger))


@few
@given(corpus=CORPORA, X=NEW, m=st.integers(2, 4), end_state=st.booleans())
def test_a_corpus_m_times_outweighs_m_times_the_pseudocount(corpus, X, m, end_state):
    once = HMMTagger(0.5, end_state=end_state).fit(*parts(corpus))
    many = HMMTagger(0.5 * m, end_state=end_state).fit(*parts(corpus * m))
    close(many.predict_proba(X), once.predict_proba(X))


@pytest.mark.parametrize("template", ["basic", "advanced"])
@pytest.mark.parametrize("output", ["dict", "sparse"])
@few
@given(X=NEW, random=RANDOM)
def test_features_of_a_sentence_are_its_own(template, output, X, random):
    features = TokenFeatures(template, output=output)
    order = random.sample(range(len(X)), len(X))
    expected, found = features.transform(X), features.transform([X[i] for i in order])
    for a, i in zip(found, order, strict=True):
        if output == "dict":
            assert list(a) == list(expected[i])
        else:
            assert (a != expected[i]).nnz == 0


@few
@given(corpus=st.lists(SENTENCES, min_size=4, max_size=8), random=RANDOM)
def test_out_of_fold_marginals_follow_their_sentences(corpus, random):
    corpus = [START[0], *corpus]
    fold = [k % 2 for k in range(len(corpus))]

    def out_of_fold(order):
        folds = [[k for k, i in enumerate(order) if fold[i] == f] for f in (0, 1)]
        cv = [(folds[0], folds[1]), (folds[1], folds[0])]
        X, y = parts([corpus[i] for i in order])
        if any(not any(y[k] for k in each) for each in folds):
            return None
        return cross_val_marginals(HMMTagger(0.5), X, y, cv=cv)

    order = random.sample(range(len(corpus)), len(corpus))
    expected, found = out_of_fold(range(len(corpus))), out_of_fold(order)
    if expected is None:
        assert found is None
        return
    (proba, classes), (mixed, same_classes) = expected, found
    assert list(same_classes) == list(classes)
    close(mixed, proba[order])
    for table in proba:
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
