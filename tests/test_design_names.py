"""The names of the package in a script as scikit-learn's users write it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skcalib import (
    AntecedentRanker,
    CRFTagger,
    HMMTagger,
    SampledCorefPairs,
    calibration_error,
    calibration_error_scorer,
    make_calibration_scorer,
)
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import make_coref_documents
from skcalib.scorers import adaptive_reliability_curve_scorer

FOLDS = StratifiedKFold(3)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def held_out(model, X, y):
    """Yield the labels and the probabilities of each fold."""
    for train, test in FOLDS.split(X, y):
        yield y[test], model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]


def error_of(y, q, bin_size):
    """Compute Algorithm 1 of Nguyen and O'Connor (2015)."""
    order = np.argsort(q, kind="stable")
    cuts = np.arange(1, len(q) // bin_size) * bin_size
    parts = np.split(order, cuts)
    square = sum(len(b) * (y[b].mean() - q[b].mean()) ** 2 for b in parts)
    return np.sqrt(square / len(q))


def test_the_metric_is_that_of_the_paper():
    # Means of q are .2 and 23/30, and frequencies are 1/3 and 2/3.
    error = calibration_error(
        [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9], bin_size=3
    )
    assert error == pytest.approx(np.sqrt(((2 / 15) ** 2 + 0.1**2) / 2))


def test_all_spellings_of_a_scorer_give_minus_the_error_of_the_paper(cancer):
    X, y = cancer
    model = LogisticRegression()  # its probabilities are distinct
    scorer = make_scorer(
        calibration_error,
        greater_is_better=False,
        response_method="predict_proba",
        bin_size=40,
    )
    expected = [-error_of(*fold, 40) for fold in held_out(model, X, y)]
    for scoring in (scorer, make_calibration_scorer(bin_size=40)):
        found = cross_val_score(model, X, y, cv=FOLDS, scoring=scoring)
        np.testing.assert_allclose(found, expected)
    found = cross_val_score(model, X, y, cv=FOLDS, scoring=calibration_error_scorer)
    expected = [-calibration_error(*fold) for fold in held_out(model, X, y)]
    np.testing.assert_allclose(found, expected)


def test_a_scorer_of_predicted_labels_is_told(cancer):
    scorer = make_scorer(calibration_error, greater_is_better=False)
    message = 'response_method="predict_proba".* hard_labels=True'
    with pytest.warns(UserWarning, match=message):
        cross_val_score(GaussianNB(), *cancer, scoring=scorer)
    # A share of the predictions is wrong, and hard labels have two values.
    meant = make_scorer(calibration_error, hard_labels=True, n_bins=1)
    found = cross_val_score(GaussianNB(), *cancer, cv=FOLDS, scoring=meant)
    expected = [
        abs((q > 0.5).mean() - y.mean()) for y, q in held_out(GaussianNB(), *cancer)
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("make", [make_scorer, make_calibration_scorer])
def test_a_search_takes_the_model_with_the_smallest_error(cancer, make):
    X, y = cancer
    C = [1e-5, 1e-2, 1.0]
    scorer = make_calibration_scorer(bin_size=40)
    if make is make_scorer:
        params = {"response_method": "predict_proba", "greater_is_better": False}
        scorer = make_scorer(calibration_error, bin_size=40, **params)
    model = LogisticRegression()
    search = GridSearchCV(model, {"C": C}, scoring=scorer, cv=FOLDS).fit(X, y)
    errors = [
        np.mean([error_of(*fold, 40) for fold in held_out(model.set_params(C=c), X, y)])
        for c in C
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], -np.array(errors))
    assert search.best_params_ == {"C": C[int(np.argmin(errors))]}


def test_the_curve_as_a_scorer_gives_the_scores_of_scikit_learn(cancer):
    scoring = ["neg_brier_score", "neg_log_loss"]
    theirs = cross_validate(GaussianNB(), *cancer, cv=FOLDS, scoring=scoring)
    ours = cross_validate(
        GaussianNB(), *cancer, cv=FOLDS, scoring=adaptive_reliability_curve_scorer
    )
    np.testing.assert_allclose(ours["test_brier"], -theirs["test_neg_brier_score"])
    np.testing.assert_allclose(ours["test_log"], -theirs["test_neg_log_loss"])
    surplus = [q.mean() - y.mean() for y, q in held_out(GaussianNB(), *cancer)]
    np.testing.assert_allclose(ours["test_surplus"], surplus)
    assert (ours["test_error"] < ours["test_plug_in"]).all()


SCRIPT = """
from sklearn.calibration import calibration_curve
model = GaussianNB().fit(X[::2], y[::2])
fig, ax = plt.subplots()
first = CalibrationDisplay.from_estimator(
    model, X, y, n_bins=10, strategy="uniform", name="bayes", ax=ax, c="red", marker="s"
)
y_prob = model.predict_proba(X)[:, 1]
second = CalibrationDisplay.from_predictions(
    y, y_prob=y_prob, strategy="uniform", pos_label=1, ref_line=False, linestyle=":"
)
prob_true, prob_pred = calibration_curve(y, y_prob, strategy="quantile")
third = CalibrationDisplay(prob_true, prob_pred, y_prob, estimator_name="own")
third.plot(ax=ax, name="again", color="green", linewidth=3)
found = [
    [d.line_.get_xydata(), d.prob_true, d.prob_pred, d.y_prob, d.ax_ is ax]
    for d in (first, second, third)
]
names = first.estimator_name, third.estimator_name
looks = [
    *(first.line_.get_color(), first.line_.get_marker()),
    *(second.line_.get_linestyle(), second.ax_.get_ylabel()),
    *(third.line_.get_color(), third.line_.get_linewidth()),
]
"""


def test_a_script_with_scikit_learns_display_changes_its_import_only(cancer):
    found = []
    for line in (
        "from sklearn.calibration import CalibrationDisplay",
        "from skcalib import ReliabilityDisplay as CalibrationDisplay",
    ):
        names = dict(
            zip(("X", "y"), cancer, strict=True), plt=plt, GaussianNB=GaussianNB
        )
        exec(line + SCRIPT, names)
        found.append(names)
    theirs, ours = found
    assert ours["names"] == theirs["names"] == ("bayes", "own")
    assert ours["looks"] == theirs["looks"]
    for values in zip(ours["found"], theirs["found"], strict=True):
        for one, other in zip(*values, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)


# Words that are ambiguous, in sentences of one word.
WORDS = ["run", "dog", "go"]


@pytest.fixture(scope="module")
def one_word():
    rng = np.random.default_rng(0)
    word = rng.integers(0, 3, 120)
    is_noun = rng.random(120) < np.array([0.4, 0.95, 0.1])[word]
    X = [[WORDS[w]] for w in word]
    return X, [["N" if noun else "V"] for noun in is_noun], word, is_noun


def proba_of_noun(word, is_noun, asked, pseudocount):
    """Compute P(N | word) by Bayes' rule from smoothed counts."""
    joint = []
    for label in (True, False):
        n = (is_noun == label).sum()
        counts = np.bincount(word[is_noun == label], minlength=3)
        # The words are three and the unknown one.
        emission = (counts + pseudocount) / (n + 4 * pseudocount)
        joint.append((n + pseudocount) * emission)
    return (joint[0] / (joint[0] + joint[1]))[asked]


def test_an_hmm_in_a_search_has_the_error_worked_by_hand(one_word):
    X, y, word, is_noun = one_word
    half = np.arange(120) < 60
    grid = {"tagger__pseudocount": [0.1, 30.0]}
    search = GridSearchCV(
        Pipeline([("same", FunctionTransformer()), ("tagger", HMMTagger())]),
        grid,
        scoring=calibration_error_scorer,
        cv=[(np.flatnonzero(half), np.flatnonzero(~half))],
    ).fit(X, y)
    errors = []
    for pseudocount in grid["tagger__pseudocount"]:
        noun = proba_of_noun(word[half], is_noun[half], word[~half], pseudocount)
        q = np.r_[noun, 1 - noun]
        truth = np.r_[is_noun[~half], ~is_noun[~half]]
        # Few distinct probabilities are bins of their own.
        frequency = [truth[np.isclose(q, value)].mean() for value in q]
        errors.append(np.sqrt(np.mean((q - frequency) ** 2)))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], -np.array(errors))
    assert search.best_params_ == {"tagger__pseudocount": 0.1}
    expected = proba_of_noun(word, is_noun, word, 0.1)
    found = np.concatenate(search.predict_proba(X))
    np.testing.assert_allclose(found, np.c_[expected, 1 - expected])


def test_a_crf_of_single_words_is_a_logistic_regression(one_word):
    X, y, _, is_noun = one_word
    tagger = CRFTagger(c2=0.5, all_possible_states=True, epsilon=1e-9, delta=1e-9)
    found = np.concatenate(tagger.fit(X, y).predict_marginals(X))
    # CRFsuite's penalty is c2 times the squared weights, of two tags: a difference d
    # of the weights of a word costs c2 d^2 / 2.
    model = LogisticRegression(C=1 / 0.5, fit_intercept=False, tol=1e-9)
    words = OneHotEncoder().fit_transform(X)
    expected = model.fit(words, ~is_noun).predict_proba(words)
    assert tagger.classes_.tolist() == ["N", "V"]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_sampled_pairs_in_a_search_are_those_worked_by_hand():
    # The pairs have probabilities .8, .3 + .3 * .8 and .3 + .3 * .8.
    with np.errstate(divide="ignore"):
        scores = np.log([[1, 0, 0], [0.8, 0.2, 0], [0.3, 0.3, 0.4]])
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), SampledCorefPairs(random_state=0)),
        {"sampledcorefpairs__n_samples": [2000, 3000]},
        scoring=make_calibration_scorer(n_bins=1),
        cv=2,
    ).fit([scores] * 6, [[0, 0, 1]] * 6)
    error = (0.8 + 0.54 + 0.54 - 1) / 3
    # The mean of at least 2,000 samples has a standard deviation below .01.
    found = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, -error, atol=0.03)
    proba = search.predict_proba([scores])[0]
    np.testing.assert_allclose(proba, [0.8, 0.54, 0.54], atol=0.04)


def test_a_search_for_the_ranker_of_sampled_pairs():
    documents, y = make_coref_documents(40, random_state=0)
    X = AntecedentFeatures(2**12).transform(documents)
    search = GridSearchCV(
        make_pipeline(AntecedentRanker(), SampledCorefPairs(2000, random_state=0)),
        {"antecedentranker__C": [1e-9, 1.0]},
        scoring=make_calibration_scorer(n_bins=1),
        cv=[(np.arange(20), np.arange(20, 40))],
    ).fit(X, y)
    # Without weights, all earlier mentions and NEW are equally probable. By induction,
    # every pair then has the probability 1/2.
    same = np.concatenate(
        [
            np.equal.outer(k, k)[np.triu_indices(len(k), 1)]
            for k in map(np.array, y[20:])
        ]
    )
    found = search.cv_results_["mean_test_score"]
    assert found[0] == pytest.approx(-(0.5 - same.mean()), abs=0.01)
    assert search.best_params_ == {"antecedentranker__C": 1.0}
