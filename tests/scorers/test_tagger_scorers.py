"""Scorers of taggers: sentences in, one number a fold out."""

import itertools
import math

import numpy as np
import pytest
import sklearn
import sklearn_crfsuite
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline

from skcalib import ReliabilityDisplay
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import calibration_error
from skcalib.queries import ClassQuery, TagQuery
from skcalib.scorers import (
    calibration_error_scorer,
    log_likelihood_scorer,
    make_calibration_scorer,
    make_query_scorer,
)
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], [], ["dogs", "bark"], ["it"]]
Y = [["D", "N", "V"], ["D", "N", "V"], [], ["N", "V"], ["N"]]
TRUTH = [["D", "N", "V"], ["D", "N", "N"], [], ["V", "V"], ["D"]]
EPS = np.finfo(float).eps
FOLDS = KFold(3, shuffle=True, random_state=0)

MODELS = [
    HMMTagger(0.1),
    CRFTagger(c2=0.1),
    make_pipeline(TokenFeatures("basic"), CRFTagger(c2=0.1)),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=["hmm", "crf", "pipeline"])


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_sentences(60, mean_length=6, n_words=80, random_state=0)


def fitted(model):
    return clone(model).fit(X, Y)


def pairs_of(tagger, X, y, tag=None):
    """Return the pairs (is it the tag, its probability), one loop at a time."""
    classes = tagger.classes_.tolist()
    asked = [tag] if tag else sorted({*classes, *itertools.chain.from_iterable(y)})
    pairs = [
        (label == each, row[classes.index(each)] if each in classes else 0.0)
        for proba, tags in zip(tagger.predict_proba(X), y, strict=True)
        for row, label in zip(proba, tags, strict=True)
        for each in asked
    ]
    return map(np.array, zip(*pairs, strict=True))


def repeat(sentences, weight):
    return [s for s, w in zip(sentences, weight, strict=True) for _ in range(w)]


def repeated_pairs(query, tagger, X, y, weight):
    """Return the pairs of a query with those of each sentence repeated.

    Repeating the sentences instead might round a probability differently in each copy.
    """
    answers = query(tagger, X, y)
    times = np.asarray(weight)[answers.groups]
    return np.repeat(answers.y_true, times), np.repeat(answers.y_proba, times)


# Calibration error


@each_model
@pytest.mark.parametrize("tag", [None, "N"])
def test_the_score_is_minus_the_error_of_the_pairs(model, tag):
    tagger = fitted(model)
    y, q = pairs_of(tagger, X, TRUTH, tag)
    scorer = make_calibration_scorer(TagQuery(tag), bin_size=3)
    expected = -calibration_error(y, q, bin_size=3)
    assert scorer(tagger, X, TRUTH) == pytest.approx(expected)
    assert expected < 0


@each_model
def test_by_default_a_tagger_is_asked_for_every_tag(model):
    tagger = fitted(model)
    expected = make_calibration_scorer(TagQuery())(tagger, X, TRUTH)
    assert calibration_error_scorer(tagger, X, TRUTH) == expected
    assert make_calibration_scorer()(tagger, X, TRUTH) == expected


@each_model
def test_a_search_is_seen_through(model):
    search = GridSearchCV(model, {}, cv=2).fit(X, Y)
    expected = calibration_error_scorer(search.best_estimator_, X, TRUTH)
    assert calibration_error_scorer(search, X, TRUTH) == expected


@each_model
def test_any_metric_of_pairs_makes_a_scorer(model):
    tagger = fitted(model)
    y, q = pairs_of(tagger, X, TRUTH)
    scorer = make_query_scorer(brier_score_loss, greater_is_better=False)
    assert scorer(tagger, X, TRUTH) == pytest.approx(-np.mean((q - y) ** 2))


@pytest.mark.parametrize("params", [{"multi_class": "pooled"}, {"pos_label": "N"}])
def test_settings_of_classifiers_are_refused_for_taggers(params):
    with pytest.raises(ValueError, match="for classifiers only.* Pass a TagQuery"):
        make_calibration_scorer(**params)(fitted(MODELS[0]), X, TRUTH)


WEIGHT = [2, 0, 3, 1, 4]


@each_model
@pytest.mark.parametrize("tag", [None, "N", "top"])
def test_a_weight_of_a_sentence_is_its_repetition(model, tag):
    tagger, query = fitted(model), TagQuery(tag)
    scorer = make_calibration_scorer(query, bin_size=3)
    pairs = repeated_pairs(query, tagger, X, TRUTH, WEIGHT)
    found = scorer(tagger, X, TRUTH, sample_weight=WEIGHT)
    assert found == pytest.approx(-calibration_error(*pairs, bin_size=3))


@each_model
@pytest.mark.parametrize("n_empty", [1, 2])
def test_an_empty_sentence_at_the_end_may_have_a_weight(model, n_empty):
    tagger = fitted(model)
    empty = [[]] * n_empty
    found = calibration_error_scorer(
        tagger, X + empty, TRUTH + empty, sample_weight=WEIGHT + [7] * n_empty
    )
    expected = calibration_error_scorer(tagger, X, TRUTH, sample_weight=WEIGHT)
    assert found == pytest.approx(expected)


@each_model
def test_empty_sentences_do_not_count(model):
    tagger = fitted(model)
    some = [i for i, sentence in enumerate(X) if sentence]
    expected = calibration_error_scorer(
        tagger, [X[i] for i in some], [TRUTH[i] for i in some]
    )
    assert calibration_error_scorer(tagger, X, TRUTH) == pytest.approx(expected)


@each_model
def test_an_unseen_tag_makes_the_error_greater_and_finite(model):
    tagger = fitted(model)
    worse = [["Q", "Q", "Q"], *Y[1:]]
    scorer = make_calibration_scorer(bin_size=3)
    assert -1 <= scorer(tagger, X, worse) < scorer(tagger, X, Y) <= 0


@each_model
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cross_validation_scores_the_held_out_sentences(model, corpus, n_jobs):
    X, y = corpus
    scorer = make_calibration_scorer(TagQuery("NN"), bin_size=20)
    found = cross_val_score(model, X, y, cv=FOLDS, scoring=scorer, n_jobs=n_jobs)
    expected = []
    for train, test in FOLDS.split(X):
        tagger = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        truth, q = pairs_of(tagger, [X[i] for i in test], [y[i] for i in test], "NN")
        expected.append(-calibration_error(truth, q, bin_size=20))
    np.testing.assert_allclose(found, expected)


def test_weights_are_routed_to_the_scorer(corpus):
    X, y = corpus
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    params = {"sample_weight": weight}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_calibration_scorer(bin_size=20)
        scorer.set_score_request(sample_weight=True)
        found = cross_validate(MODELS[0], X, y, cv=FOLDS, scoring=scorer, params=params)
    expected = []
    for train, test in FOLDS.split(X):
        tagger = clone(MODELS[0]).fit([X[i] for i in train], [y[i] for i in train])
        held_out = [X[i] for i in test], [y[i] for i in test]
        pairs = repeated_pairs(TagQuery(), tagger, *held_out, weight[test])
        expected.append(-calibration_error(*pairs, bin_size=20))
    np.testing.assert_allclose(found["test_score"], expected)


def test_sklearn_crfsuites_own_tagger_can_be_scored():
    items = TokenFeatures("basic").transform(X)
    ours = fitted(MODELS[1])
    theirs = sklearn_crfsuite.CRF(c2=0.1, all_possible_transitions=True)
    theirs.fit(list(items), Y)
    for scorer in (
        make_calibration_scorer(n_bins=1),
        make_query_scorer(brier_score_loss, query=TagQuery()),
    ):
        found = scorer(theirs, items, TRUTH)
        assert found == pytest.approx(scorer(ours, X, TRUTH), abs=1e-6)


# Log likelihood


def log_proba_of(tagger, sentence, tags):
    """Return the log probability of a tagging among all, by enumeration."""
    posterior = tagger.posterior([sentence])
    scores = {
        path: posterior.log_start[path[0]]
        + posterior.log_end[path[-1]]
        + sum(posterior.log_emission[t, tag] for t, tag in enumerate(path))
        + sum(posterior.log_transition[pair] for pair in itertools.pairwise(path))
        for path in itertools.product(range(posterior.n_tags), repeat=len(sentence))
    }
    path = tuple(tagger.classes_.tolist().index(tag) for tag in tags)
    return scores[path] - logsumexp(list(scores.values()))


@pytest.mark.parametrize("tagger", MODELS[:2], ids=["hmm", "crf"])
def test_the_log_likelihood_is_the_mean_over_sentences(tagger):
    tagger = fitted(tagger)
    expected = [
        log_proba_of(tagger, words, tags) if words else 0.0
        for words, tags in zip(X, TRUTH, strict=True)
    ]
    assert log_likelihood_scorer(tagger, X, TRUTH) == pytest.approx(np.mean(expected))


def test_the_log_likelihood_is_crfsuites():
    tagger = fitted(MODELS[1])
    crfsuite = tagger.crf_.tagger_
    expected = []
    for words, tags in zip(X, TRUTH, strict=True):
        crfsuite.set([{"word": word} for word in words])
        expected.append(math.log(crfsuite.probability(tags)) if words else 0.0)
    found = log_likelihood_scorer(tagger, X, TRUTH)
    assert found == pytest.approx(np.mean(expected), abs=1e-6)


def test_a_pipeline_and_a_search_have_the_log_likelihood_of_their_tagger():
    expected = log_likelihood_scorer(fitted(MODELS[1]), X, TRUTH)
    assert log_likelihood_scorer(fitted(MODELS[2]), X, TRUTH) == expected
    search = GridSearchCV(MODELS[2], {}, cv=2).fit(X, Y)
    assert log_likelihood_scorer(search, X, TRUTH) == expected


@each_model
def test_an_unseen_tag_costs_machine_epsilon_a_token(model):
    tagger = fitted(model)
    unseen = ["D", "Q", "V"]
    found = log_likelihood_scorer(tagger, X[:1], [unseen])
    assert found == pytest.approx(3 * math.log(EPS))


def test_an_impossible_tagging_costs_machine_epsilon_a_token():
    """Without smoothing 'D' never follows 'N'."""
    tagger = HMMTagger(0, emission_pseudocount=1).fit(X, Y)
    found = log_likelihood_scorer(tagger, [["dog", "the"]], [["N", "D"]])
    assert found == pytest.approx(2 * math.log(EPS))


@each_model
def test_no_sentence_costs_more_than_that_however_improbable(model):
    tagger = fitted(model)
    sentence = ["the", "dog"] * 200
    found = log_likelihood_scorer(tagger, [sentence], [["V", "D"] * 200])
    assert 400 * math.log(EPS) <= found < -100


@each_model
def test_a_weighted_log_likelihood_is_that_of_repeated_sentences(model):
    tagger = fitted(model)
    found = log_likelihood_scorer(tagger, X, TRUTH, sample_weight=WEIGHT)
    expected = log_likelihood_scorer(tagger, repeat(X, WEIGHT), repeat(TRUTH, WEIGHT))
    assert found == pytest.approx(expected)


@each_model
def test_sentences_without_tokens_have_log_likelihood_zero(model):
    assert log_likelihood_scorer(fitted(model), [[], []], [[], []]) == 0


@each_model
def test_the_log_likelihood_is_at_most_zero_in_cross_validation(model, corpus):
    found = cross_val_score(model, *corpus, cv=FOLDS, scoring=log_likelihood_scorer)
    assert found.shape == (3,)
    assert (found < 0).all()
    assert np.isfinite(found).all()


@each_model
def test_labels_that_do_not_fit_the_sentences_are_refused(model):
    with pytest.raises(ValueError, match="1 tags for sequence 3, which has 2 tokens"):
        log_likelihood_scorer(fitted(model), X, [*TRUTH[:3], ["N"], ["D"]])


def test_a_tagger_without_a_posterior_is_refused_with_its_name():
    items = TokenFeatures("basic").transform(X)
    crf = sklearn_crfsuite.CRF().fit(list(items), Y)
    with pytest.raises((TypeError, ValueError), match="log_likelihood_scorer.*CRF"):
        log_likelihood_scorer(crf, items, TRUTH)


# Choosing a model


def score_of_folds(model, corpus, scorer):
    X, y = corpus
    scores = []
    for train, test in FOLDS.split(X):
        tagger = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        scores.append(scorer(tagger, [X[i] for i in test], [y[i] for i in test]))
    return np.mean(scores)


@pytest.mark.parametrize(
    "scorer",
    [log_likelihood_scorer, calibration_error_scorer],
    ids=["likelihood", "error"],
)
@pytest.mark.parametrize(
    ("model", "name", "grid"),
    [
        (HMMTagger(), "pseudocount", [1e-6, 0.1, 100.0]),
        (CRFTagger(), "c2", [1e-6, 0.1, 100.0]),
    ],
    ids=["hmm", "crf"],
)
def test_a_search_takes_the_parameter_that_scores_best(
    model, name, grid, scorer, corpus
):
    search = GridSearchCV(model, {name: grid}, cv=FOLDS, scoring=scorer).fit(*corpus)
    expected = [
        score_of_folds(clone(model).set_params(**{name: value}), corpus, scorer)
        for value in grid
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.best_params_ == {name: grid[int(np.argmax(expected))]}


@pytest.mark.parametrize("model", MODELS[:2], ids=["hmm", "crf"])
def test_the_likelihood_takes_neither_the_loosest_nor_the_tightest(model, corpus):
    name = "pseudocount" if isinstance(model, HMMTagger) else "c2"
    grid = {name: [1e-9, 0.1, 1e4]}
    search = GridSearchCV(model, grid, cv=FOLDS, scoring=log_likelihood_scorer)
    assert search.fit(*corpus).best_params_ == {name: 0.1}


def test_several_scorers_at_once(corpus):
    scoring = {
        "error": calibration_error_scorer,
        "likelihood": log_likelihood_scorer,
        "noun": make_calibration_scorer(TagQuery("NN")),
    }
    found = cross_validate(MODELS[2], *corpus, cv=FOLDS, scoring=scoring)
    for name in scoring:
        assert found[f"test_{name}"].shape == (3,)
        assert np.isfinite(found[f"test_{name}"]).all()


# Reliability diagrams


@pytest.mark.filterwarnings(FEW)
@each_model
def test_a_tagger_has_a_reliability_diagram(model):
    display = ReliabilityDisplay.from_estimator(
        fitted(model), X, TRUTH, query=TagQuery("N"), bin_size=3
    )
    y, q = pairs_of(fitted(model), X, TRUTH, "N")
    order = np.argsort(q, kind="stable")
    expected = [part.mean() for part in np.split(q[order], [3, 6])]
    np.testing.assert_allclose(display.curve.prob_pred, expected)
    assert display.curve.weight.tolist() == [3, 3, 3]
    assert display.curve.n_pairs == len(y) == 9
    assert display.name == type(model).__name__


@pytest.mark.filterwarnings(FEW)
@each_model
def test_by_default_the_diagram_is_of_every_tag(model):
    display = ReliabilityDisplay.from_estimator(fitted(model), X, TRUTH)
    assert display.curve.weight.sum() == 9 * 3


@pytest.mark.filterwarnings(FEW)
@each_model
def test_a_diagram_takes_the_weight_of_sentences(model):
    tagger = fitted(model)
    query = TagQuery("N")
    found = ReliabilityDisplay.from_estimator(
        tagger, X, TRUTH, query=query, sample_weight=WEIGHT, bin_size=3
    )
    pairs = repeated_pairs(query, tagger, X, TRUTH, WEIGHT)
    expected = ReliabilityDisplay.from_predictions(*pairs, bin_size=3)
    np.testing.assert_allclose(found.curve.prob_true, expected.curve.prob_true)
    np.testing.assert_allclose(found.curve.weight, expected.curve.weight)


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize("empty", [X + [[]], [[], *X]])
def test_a_diagram_with_weights_takes_empty_sentences(empty):
    """Wherever they stand."""
    truth = TRUTH + [[]] if empty[-1] == [] else [[], *TRUTH]
    display = ReliabilityDisplay.from_estimator(
        fitted(MODELS[0]), empty, truth, sample_weight=[1] * 6
    )
    assert display.curve.weight.sum() == 9 * 3


@each_model
def test_the_diagram_of_held_out_sentences_pools_the_folds(model, corpus):
    X, y = corpus
    results = cross_validate(
        model, X, y, cv=FOLDS, return_estimator=True, return_indices=True
    )
    display = ReliabilityDisplay.from_cv_results(results, X, y, query=TagQuery("NN"))
    n_tokens = sum(map(len, y))
    assert display.curve.weight.sum() == n_tokens
    share = np.average(display.curve.prob_true, weights=display.curve.weight)
    nouns = sum(tags.count("NN") for tags in y)
    assert share == pytest.approx(nouns / n_tokens)


def test_sentences_tested_twice_are_dependent_pairs(corpus):
    X, y = corpus
    results = cross_validate(
        MODELS[0],
        X,
        y,
        cv=RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
        return_estimator=True,
        return_indices=True,
    )
    display = ReliabilityDisplay.from_cv_results(results, X, y, query=TagQuery("NN"))
    assert display.curve.weight.sum() == 2 * sum(map(len, y))


def test_a_query_for_classifiers_does_not_fit_a_tagger():
    with pytest.raises((TypeError, ValueError), match="ClassQuery"):
        ReliabilityDisplay.from_estimator(
            fitted(MODELS[0]), X[:1], Y[:1], query=ClassQuery("N")
        )


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([], ValueError, "'y_true' parameter of log_likelihood_scorer is empty"),
        (None, TypeError, "an entry for each sentence. Got NoneType"),
        ([["D", None, "V"]], ValueError, "Token 1 of sentence 0 has None"),
        ([1], ValueError, "a sequence of labels for each sentence. Got int 1"),
        (["DNV"], ValueError, "a sequence of labels for each sentence. Got str 'DNV'"),
    ],
)
def test_the_likelihood_of_what_is_no_tagging_is_refused(y, error, message):
    sentences = X[:1] if y else []
    with pytest.raises(error, match=message):
        log_likelihood_scorer(fitted(HMMTagger()), sentences, y)
