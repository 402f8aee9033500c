"""Taggers on real tweets: counts as published, probabilities as CRFsuite's."""

import os
from collections import Counter, defaultdict
from itertools import chain

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from skcalib.datasets import fetch_corpus
from skcalib.metrics import calibration_error
from skcalib.queries import TagQuery
from skcalib.scorers import log_likelihood_scorer
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures, cross_val_marginals

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("SKCALIB_DATA"),
        reason="SKCALIB_DATA does not name a folder that has the tweets",
    ),
]


def load(subset):
    return fetch_corpus(
        "ark_twitter_pos", subset=subset, download_if_missing=False, return_X_y=True
    )


@pytest.fixture(scope="module")
def train():
    return load("train")


@pytest.fixture(scope="module")
def held_out():
    return load("test")


@pytest.fixture(scope="module")
def hmm(train):
    return HMMTagger(0.1).fit(*train)


@pytest.fixture(scope="module")
def crf(train):
    return make_pipeline(TokenFeatures(), CRFTagger()).fit(*train)


def test_the_data_have_the_published_size():
    """Owoputi et al. (2013), Table 1: 1827 tweets of 26,594 tokens; 547 of 7,707."""
    parts = [load(subset) for subset in ("train", "dev", "test")]
    assert sum(len(y) for _, y in parts) == 1827
    assert sum(len(tags) for _, y in parts for tags in y) == 26_594
    X, y = load("daily547")
    assert (len(X), sum(map(len, X)), sum(map(len, y))) == (547, 7707, 7707)


def test_there_are_25_tags(hmm, crf):
    """As many as the tagset of Gimpel et al. (2011) has."""
    assert hmm.classes_.size == crf.classes_.size == 25


def test_a_crf_of_simple_features_tags_four_tokens_of_five(crf, held_out):
    assert 0.80 < crf.score(*held_out) < 0.87


def test_the_hmm_tags_fewer_right_than_the_crf(hmm, crf, held_out):
    assert 0.6 < hmm.score(*held_out) < crf.score(*held_out)


def test_crf_marginals_are_crfsuites(crf, held_out):
    X = held_out[0]
    items = crf[:-1].transform(X)
    tagger = crf[-1]
    theirs = tagger.crf_.predict_marginals(items)
    for found, expected in zip(tagger.predict_proba(items), theirs, strict=True):
        table = [[token[label] for label in tagger.classes_] for token in expected]
        np.testing.assert_allclose(found, table, atol=1e-6)


def test_crf_paths_are_crfsuites(crf, held_out):
    items = crf[:-1].transform(held_out[0])
    theirs = crf[-1].crf_.predict(items)
    for found, expected in zip(crf[-1].predict(items), theirs, strict=True):
        assert found == list(expected)


def plain_log_partition(hmm, words):
    """Sum over taggings in logarithms, one word after another."""
    unknown = len(hmm.vocabulary_)
    columns = [hmm.vocabulary_.get(word, unknown) for word in words]
    emission = hmm.emission_log_proba_.T[columns]
    alpha = hmm.start_log_proba_ + emission[0]
    for row in emission[1:]:
        moved = alpha[:, np.newaxis] + hmm.transition_log_proba_
        alpha = logsumexp(moved, axis=0) + row
    return logsumexp(alpha + hmm.end_log_proba_)


def test_hmm_likelihoods_are_those_of_a_plain_recursion(hmm, held_out):
    X = held_out[0][:100]
    expected = [plain_log_partition(hmm, words) for words in X]
    np.testing.assert_allclose(hmm.posterior(X).log_partition(), expected, rtol=1e-12)


def test_emission_probabilities_are_shares_of_the_counts(hmm, train):
    """'the' as a determiner, counted here."""
    pairs = [p for x, y in zip(*train, strict=True) for p in zip(x, y, strict=True)]
    n_tag = sum(tag == "D" for _, tag in pairs)
    n_both = pairs.count(("the", "D"))
    n_words = len({word for word, _ in pairs}) + 1
    found = hmm.emission_log_proba_[
        hmm.classes_.tolist().index("D"), hmm.vocabulary_["the"]
    ]
    assert np.exp(found) == pytest.approx((n_both + 0.1) / (n_tag + 0.1 * n_words))


def test_the_defaults_tag_better_than_the_most_frequent_tag_of_each_word(
    crf, train, held_out
):
    counts, tags = defaultdict(Counter), Counter(chain.from_iterable(train[1]))
    for word, tag in zip(*map(chain.from_iterable, train), strict=True):
        counts[word.lower()][tag] += 1
    right = [
        counts.get(word.lower(), tags).most_common(1)[0][0] == tag
        for word, tag in zip(*map(chain.from_iterable, held_out), strict=True)
    ]
    assert np.mean(right) == pytest.approx(0.704, abs=0.001)
    assert HMMTagger().fit(*train).score(*held_out) > np.mean(right) + 0.05
    assert CRFTagger().fit(*train).score(*held_out) > np.mean(right) + 0.05
    assert crf.score(*held_out) > np.mean(right) + 0.15


def test_small_pseudocounts_are_too_sure_and_large_ones_too_timid(train, held_out):
    def surplus(pseudocount):
        answers = TagQuery("top")(HMMTagger(pseudocount).fit(*train), *held_out)
        return answers.y_proba.mean() - answers.y_true.mean()

    assert surplus(1e-4) > 0.02
    assert surplus(100.0) < -0.02


def test_the_crf_is_better_calibrated_than_the_hmm(hmm, crf, held_out):
    """As Nguyen and O'Connor (2015), section 4.2, found on newspaper text."""

    def error(tagger):
        answers = TagQuery()(tagger, *held_out)
        return calibration_error(answers.y_true, answers.y_proba, bin_size=1000)

    assert error(crf) < error(hmm)


def test_the_likelihood_chooses_a_pseudocount_between_the_extremes(train):
    search = GridSearchCV(
        HMMTagger(),
        {"pseudocount": [1e-6, 0.1, 100.0]},
        cv=KFold(3, shuffle=True, random_state=0),
        scoring=log_likelihood_scorer,
    )
    assert search.fit(*train).best_params_ == {"pseudocount": 0.1}


def test_out_of_fold_marginals_cover_every_token(train):
    X, y = train
    proba, classes = cross_val_marginals(HMMTagger(0.1), X, y, cv=5)
    assert [p.shape for p in proba] == [(len(tags), 25) for tags in y]
    np.testing.assert_allclose(np.concatenate(proba).sum(axis=1), 1)
    right = np.concatenate([classes[p.argmax(axis=1)] for p in proba])
    assert np.mean(right == np.concatenate(y)) > 0.6


def test_hashed_features_tag_as_well_as_named_ones(crf, train, held_out):
    hashed = make_pipeline(
        TokenFeatures("advanced", output="sparse"), CRFTagger(c2=0.1)
    ).fit(*train)
    assert hashed.score(*held_out) == pytest.approx(crf.score(*held_out), abs=0.01)
