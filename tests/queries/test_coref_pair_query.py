"""CorefPairQuery: pairs by loops over mentions, through every door; the scorers."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, SampledCorefPairs
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import make_coref_documents
from skcalib.metrics import calibration_error, calibration_error_interval
from skcalib.posteriors import AntecedentPosterior
from skcalib.queries import CorefPairQuery
from skcalib.scorers import (
    calibration_error_scorer,
    log_likelihood_scorer,
    make_calibration_scorer,
    make_query_scorer,
)
from skcalib.sequence import cross_val_marginals

EPS = np.finfo(float).eps


@pytest.fixture(scope="module")
def data():
    """Return documents, entities, scores; some documents have no pair."""
    documents, y, scores = make_coref_documents(
        10, mean_mentions=8, return_scores=True, random_state=2
    )
    return documents, y, scores


@pytest.fixture(scope="module")
def scored(data):
    scores = [np.zeros((0, 0)), *data[2], np.zeros((1, 1))]
    return scores, [[], *data[1], [7]]


@pytest.fixture(scope="module")
def pipe(data):
    model = make_pipeline(
        AntecedentFeatures(2**12),
        AntecedentRanker(0.1),
        SampledCorefPairs(method="exact"),
    )
    return model.fit(data[0][:6], data[1][:6])


def rows(y, matrices, min_proba=None):
    """Return (document, place, truth, probability) of all pairs, one at a time."""
    found = []
    for d, (labels, q) in enumerate(zip(y, matrices, strict=True)):
        pairs = itertools.combinations(range(len(labels)), 2)
        for place, (i, j) in enumerate(pairs):
            if min_proba is None or q[i, j] >= min_proba:
                found.append((d, place, int(labels[i] == labels[j]), float(q[i, j])))
    return found


def as_rows(answers):
    columns = (answers.groups, answers.item, answers.y_true, answers.y_proba)
    return list(zip(*(column.tolist() for column in columns), strict=True))


# The pairs


@pytest.mark.parametrize("min_proba", [None, 0, 0.02, 0.5, 1])
def test_every_door_gives_the_pairs(scored, min_proba):
    scores, y = scored
    posterior = AntecedentPosterior(scores)
    matrices = posterior.pair_marginals()
    expected = rows(y, matrices, min_proba)
    query = CorefPairQuery(min_proba)
    vectors = [
        squareform(m, checks=False) if len(m) > 1 else np.zeros(0) for m in matrices
    ]
    for answers in (
        query(SampledCorefPairs(method="exact"), scores, y),
        query.from_posterior(y, posterior),
        query.from_posterior(y, posterior, None),
        query.from_proba(y, vectors),
        query.from_proba(y, [v.tolist() for v in vectors], classes=None),
        query.from_proba(y, np.array([*vectors, None], dtype=object)[:-1]),
    ):
        assert as_rows(answers) == expected
        assert (answers.label == 1).all()
        assert answers.n_unseen == 0
        assert len(answers.label) == len(expected) == len(answers)


def test_a_sampled_model_is_asked_for_its_own_probabilities(scored):
    scores, y = scored
    model = SampledCorefPairs(50, random_state=0)
    expected = np.concatenate(list(model.transform(scores)))
    assert CorefPairQuery()(model, scores, y).y_proba.tolist() == expected.tolist()


def test_estimators_are_seen_through(data, pipe):
    documents, y, _ = data
    features = AntecedentFeatures(2**12).transform(documents)
    ranker = pipe[1]
    search = GridSearchCV(pipe, {}, cv=2).fit(documents[:6], y[:6])
    query = CorefPairQuery(0.05)
    expected = as_rows(query.from_posterior(y, ranker.posterior(features)))
    for model, X in (
        (pipe, documents),
        (pipe[:-1], documents),
        (ranker, features),
        (search, documents),
    ):
        assert as_rows(query(model, X, y)) == expected


class OnlyPosterior(BaseEstimator):
    def posterior(self, X):
        return AntecedentPosterior(X)


def test_a_posterior_is_enough(scored):
    scores, y = scored
    found = CorefPairQuery()(OnlyPosterior(), scores, y)
    assert as_rows(found) == as_rows(
        CorefPairQuery()(SampledCorefPairs(method="exact"), scores, y)
    )


def test_entities_may_have_any_names():
    proba = [[0.1, 0.2, 0.3]]
    for labels in ([4, 7, 4], ["a", "b", "a"], [("x", 1), 0, ("x", 1)]):
        assert CorefPairQuery().from_proba([labels], proba).y_true.tolist() == [0, 1, 0]


@given(st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=4), st.data())
def test_the_pairs_of_any_documents(y, draw):
    sizes = [len(labels) * (len(labels) - 1) // 2 for labels in y]
    some = st.floats(0, 1)
    proba = [draw.draw(st.lists(some, min_size=n, max_size=n)) for n in sizes]
    answers = CorefPairQuery(0.3).from_proba(y, proba)
    expected = [
        (d, place, labels[i] == labels[j], proba[d][place])
        for d, labels in enumerate(y)
        for place, (i, j) in enumerate(itertools.combinations(range(len(labels)), 2))
        if proba[d][place] >= 0.3
    ]
    assert as_rows(answers) == expected


def test_right_probabilities_stay_right_where_q_is_chosen_and_not_where_y_is():
    """Choosing by q leaves the true model calibrated; choosing by y does not."""
    _, y, scores = make_coref_documents(400, return_scores=True, random_state=5)
    posterior = AntecedentPosterior(scores)
    chosen = CorefPairQuery(0.02).from_posterior(y, posterior)
    everything = CorefPairQuery().from_posterior(y, posterior)
    assert 0 < len(chosen) < len(everything)

    def error(answers):
        return calibration_error(
            answers.y_true,
            answers.y_proba,
            bin_size=2000,
            debias=True,
            groups=answers.groups,
        )

    by_truth = everything.take((everything.y_true == 1) | (everything.y_proba > 0.5))
    assert error(everything) < 0.02
    assert error(chosen) < 0.03
    with pytest.warns(UserWarning, match="selected by their labels"):
        assert error(by_truth) > 0.2


def test_single_precision_stays():
    q = np.array([0.25, 0.5, 0.75], dtype=np.float32)
    answers = CorefPairQuery().from_proba([[0], [0, 0, 1]], [np.zeros(0), q])
    assert answers.y_proba.dtype == np.float32


def test_a_little_above_one_is_rounding():
    answers = CorefPairQuery().from_proba([[0, 0]], [[1 + 1e-15]])
    assert answers.y_proba.tolist() == [1]


# What is refused


@pytest.mark.parametrize(
    ("y", "proba", "error", "message"),
    [
        ([[0, 0]], 3, TypeError, "an entry for each document. Got int"),
        (3, [[0.5]], TypeError, "an entry for each document. Got int"),
        ([[0, 0]], [[0.5], []], ValueError, "for 2 documents and labels for 1"),
        ([[0, 0], 5], [[0.5], []], TypeError, "Got int 5 for document 1"),
        (["ab"], [[0.5]], TypeError, "Got str 'ab' for document 0"),
        ([[0, 0]], [[0.5, 0.5]], ValueError, r"1 prob.* document 0.* shape \(2,\)"),
        ([[0, 0]], [np.eye(2)], ValueError, r"shape \(2, 2\).*squareform"),
        ([[0], [0, 0]], [[], [1.5]], ValueError, "Got 1.5 in document 1, pair 0"),
        ([[0, 0, 1]], [[0, np.nan, 0]], ValueError, "Got nan in document 0, pair 1"),
        ([[0, 0]], [["x"]], ValueError, "contain numbers, .* Got .* for document 0"),
        ([[0, 0], [0, 0, 1]], [[1], [[1], [0, 1]]], ValueError, "numbers.*document 1"),
        ([[0, np.nan]], [[0.5]], ValueError, "Got nan for mention 1 of document 0"),
        ([[0, None]], [[0.5]], ValueError, "entity .* Got None for mention 1 of docum"),
    ],
)
def test_bad_input_is_named(y, proba, error, message):
    with pytest.raises(error, match=f"CorefPairQuery.from_proba.*{message}"):
        CorefPairQuery().from_proba(y, proba)


@pytest.mark.parametrize(
    ("min_proba", "error"), [(-0.1, ValueError), (2, ValueError), ("x", TypeError)]
)
def test_min_proba_is_a_probability(min_proba, error):
    with pytest.raises(error, match="'min_proba' parameter of CorefPairQuery"):
        CorefPairQuery(min_proba)


def test_other_models_are_refused(scored):
    scores, y = scored
    with pytest.raises(ValueError, match="have predict_proba or a posterior. Got Ante"):
        CorefPairQuery()(AntecedentFeatures(), scores, y)
    with pytest.raises(TypeError, match="must be an AntecedentPosterior. Got list"):
        CorefPairQuery().from_posterior(y, scores)
    with pytest.raises(ValueError, match=r"2 mentions of document 0. Got 1"):
        CorefPairQuery().from_posterior([[0]], AntecedentPosterior([np.zeros((2, 2))]))


def test_no_pair_is_no_error_to_measure():
    answers = CorefPairQuery().from_proba([[], [0]], [[], []])
    assert len(answers) == 0
    with pytest.raises(ValueError, match="no document may have two mentions"):
        calibration_error_scorer(
            SampledCorefPairs(method="exact"), [np.zeros((1, 1))], [[0]]
        )
    with pytest.raises(ValueError, match="no document may have two mentions"):
        make_calibration_scorer(CorefPairQuery(0.9))(
            SampledCorefPairs(method="exact"), [np.zeros((2, 2))], [[0, 0]]
        )


def test_ties_at_zero_do_not_depend_on_the_order_of_documents(data):
    """Sampling leaves many pairs at exactly 0, which straddle the bins."""
    _, y, scores = data
    proba = list(SampledCorefPairs(30, random_state=0).transform(scores))
    answers = CorefPairQuery().from_proba(y, proba)
    assert (answers.y_proba == 0).mean() > 0.1
    expected = calibration_error(answers.y_true, answers.y_proba, bin_size=20)
    rng = np.random.default_rng(0)
    for _ in range(5):
        order = rng.permutation(len(y))
        answers = CorefPairQuery().from_proba(
            [y[i] for i in order], [proba[i] for i in order]
        )
        found = calibration_error(answers.y_true, answers.y_proba, bin_size=20)
        assert found == pytest.approx(expected, abs=1e-12)


# Scorers


def test_the_default_of_a_coreference_model(data, pipe):
    documents, y, _ = data
    answers = CorefPairQuery()(pipe, documents, y)
    expected = -calibration_error(answers.y_true, answers.y_proba)
    for model, X in ((pipe, documents), (pipe[1], pipe[:1].transform(documents))):
        assert calibration_error_scorer(model, X, y) == pytest.approx(expected)
        assert make_calibration_scorer()(model, X, y) == pytest.approx(expected)
    brier = make_query_scorer(brier_score_loss, greater_is_better=False)
    assert brier(pipe, documents, y) == pytest.approx(pipe.score(documents, y))


def test_settings_of_classifiers_are_refused(data, pipe):
    scorer = make_calibration_scorer(multi_class="pooled")
    with pytest.raises(ValueError, match="for classifiers.* Pass a CorefPairQuery"):
        scorer(pipe, *data[:2])


def test_a_weight_of_a_document_is_its_repetition(data):
    _, y, scores = data
    weight = np.arange(len(y)) % 3
    times = np.repeat(np.arange(len(y)), weight)
    model = SampledCorefPairs(method="exact")
    many = [scores[i] for i in times], [y[i] for i in times]
    for scorer in (
        calibration_error_scorer,
        make_calibration_scorer(CorefPairQuery(0.05), bin_size=10, debias=True),
        log_likelihood_scorer,
    ):
        found = scorer(model, scores, y, sample_weight=weight)
        if "debias" not in repr(scorer):  # copies of a document are no other ones
            assert found == pytest.approx(scorer(model, *many))
        assert np.isfinite(found)


def test_the_likelihood_is_of_whole_clusterings(data, pipe):
    documents, y, _ = data
    posterior = pipe[1].posterior(pipe[:1].transform(documents))
    expected = posterior.log_proba(y).mean()
    assert log_likelihood_scorer(pipe, documents, y) == pytest.approx(expected)
    assert log_likelihood_scorer(pipe[:-1], documents, y) == pytest.approx(expected)


def test_an_impossible_clustering_costs_epsilon_a_mention():
    scores = [[[0, 0], [-np.inf, 0]], [[0, 0], [0, 0]]]
    found = log_likelihood_scorer(
        SampledCorefPairs(method="exact"), scores, [[0, 0], [0, 0]]
    )
    assert found == pytest.approx((2 * np.log(EPS) + np.log(0.5)) / 2)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_pipeline_is_tuned_by_calibration_and_by_score(data, pipe, n_jobs):
    documents, y, _ = data
    grid = {"antecedentranker__C": [1e-4, 0.1]}
    scoring = {
        "error": calibration_error_scorer,
        "likely": make_calibration_scorer(CorefPairQuery(0.02)),
        "log": log_likelihood_scorer,
    }
    search = GridSearchCV(
        clone(pipe), grid, cv=2, scoring=scoring, refit="log", n_jobs=n_jobs
    ).fit(documents, y)
    assert search.best_params_ == {"antecedentranker__C": 0.1}
    half = len(y) // 2
    model = clone(pipe).set_params(antecedentranker__C=1e-4)
    model.fit(documents[half:], y[half:])
    for name, scorer in scoring.items():
        found = search.cv_results_[f"split0_test_{name}"][0]
        assert found == pytest.approx(scorer(model, documents[:half], y[:half]))
    plain = GridSearchCV(clone(pipe), grid, cv=2, n_jobs=n_jobs).fit(documents, y)
    expected = cross_val_score(model, documents, y, cv=2)
    np.testing.assert_allclose(
        [plain.cv_results_[f"split{k}_test_score"][0] for k in (0, 1)], expected
    )


def test_without_probabilities_no_query_is_known():
    scorer = make_calibration_scorer()
    with pytest.raises(ValueError, match="not a classifier"):
        scorer(OnlyPosterior(), [], [])


@pytest.mark.parametrize("min_proba", [None, 0.1])
def test_sampled_probabilities_of_a_calibrated_model_are_calibrated(min_proba):
    """Without the number of samples, p-values were below 1e-300.

    Pairs near `min_proba` are selected because their samples agree, which would be an
    error of the model if the sample that is left out decided the selection.
    """
    query, squares, rejected = CorefPairQuery(min_proba), [], 0
    for seed in range(60):
        _, y, scores = make_coref_documents(40, return_scores=True, random_state=seed)
        answers = query(SampledCorefPairs(20, random_state=seed), scores, y)
        assert answers.n_draws == 20
        given = answers.y_true, answers.y_proba
        found = calibration_error_interval(*given, groups=answers.groups)
        rejected += found.pvalue < 0.05
        squares.append(
            calibration_error(*given, groups=answers.groups, squared=True, n_bins=10)
        )
    assert abs(np.mean(squares)) < 3 * np.std(squares) / 60**0.5
    assert rejected <= 9  # 99.9% quantile of 60 draws of .05


def test_the_number_of_samples_is_seen_through_steps_folds_and_files(data, pipe):
    documents, y, scores = data
    sampled = make_pipeline(pipe[0], pipe[1], SampledCorefPairs(30, random_state=0))
    for model in (sampled, GridSearchCV(sampled, {}, cv=2).fit(documents[:6], y[:6])):
        assert CorefPairQuery()(model, documents, y).n_draws == 30
    proba, _ = cross_val_marginals(sampled, documents, y, cv=2, n_jobs=2)
    proba = pickle.loads(pickle.dumps(proba))
    assert CorefPairQuery().from_proba(y, proba).n_draws == 30
    proba[0] = SampledCorefPairs(20).transform(scores[:1])[0]
    with pytest.raises(ValueError, match="'proba'.* same number .*Got 20 and 30"):
        CorefPairQuery().from_proba(y, proba)


def test_pairs_taken_by_their_share_are_those_of_min_proba():
    _, y, scores = make_coref_documents(60, return_scores=True, random_state=0)
    model = SampledCorefPairs(20, random_state=1)
    answers = CorefPairQuery()(model, scores, y)
    taken = answers.take(answers.y_proba >= 0.1)
    asked = CorefPairQuery(min_proba=0.1)(model, scores, y)
    found, expected = (
        calibration_error_interval(each.y_true, each.y_proba, groups=each.groups)
        for each in (taken, asked)
    )
    assert found.n_pairs == expected.n_pairs < len(answers)
    assert found.low == expected.low
    # the labels come from the scores: the model is calibrated
    assert found.pvalue == pytest.approx(expected.pvalue)
    assert found.pvalue > 0.05


def test_mentions_without_an_entity_are_not_one_entity():
    y, proba = [["-", "-", "1"]], [np.full(3, 0.5)]
    with pytest.raises(ValueError, match="mention 0 of document 0: leave mentions"):
        CorefPairQuery().from_proba(y, proba)
