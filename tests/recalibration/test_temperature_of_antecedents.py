"""Temperature and offset of NEW: where they are, and what goes through them."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from cases import case
from estimators import check_without_data
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, HMMTagger, SampledCorefPairs, TemperatureScaling
from skcalib.coref import AntecedentFeatures, coref_scores
from skcalib.datasets import make_coref_documents, make_tagged_sentences
from skcalib.metrics import calibration_error
from skcalib.posteriors import AntecedentPosterior
from skcalib.queries import CorefPairQuery
from skcalib.scorers import calibration_error_scorer, log_likelihood_scorer

pytestmark = pytest.mark.usefixtures("without_prior")

EXACT = SampledCorefPairs(method="exact")


@pytest.fixture(scope="module")
def data():
    return make_coref_documents(
        60, mean_mentions=10, return_scores=True, random_state=0
    )


@pytest.fixture(scope="module")
def features(data):
    return AntecedentFeatures(2**12).transform(data[0])


@pytest.fixture(scope="module")
def model(data, features):
    ranker = AntecedentRanker(0.1)
    return TemperatureScaling(ranker, cv=3).fit(features[:40], data[1][:40])


def fit(scores, y, **params):
    weight = params.pop("sample_weight", None)
    scaling = TemperatureScaling(EXACT, cv="prefit", **params)
    return scaling.fit(scores, y, sample_weight=weight)


def log_likelihood(scores, y, temperature, offset):
    posterior = AntecedentPosterior(scores).tempered(temperature, offset)
    return posterior.log_proba(y).sum()


def drawn(seed, scale=2.0, n_documents=5):
    """Return scores that have little to do with the labels, with some forbidden."""
    rng = np.random.default_rng(seed)
    scores, y = [], []
    for n in rng.integers(0, 9, n_documents):
        s = rng.normal(size=(n, n)) * scale
        s[rng.random((n, n)) < 0.2] = -np.inf
        s[np.diag_indices(n)] = rng.normal(size=n) * scale
        s[np.triu_indices(n, 1)] = 0
        y.append(rng.integers(0, 3, n))
        scores.append(s)
    return scores, y


def reachable(scores, y):
    return np.isfinite(AntecedentPosterior(scores).log_proba(y))


# Where they are


def test_two_kinds_of_mentions_have_a_closed_form():
    """Links of log odds 2 hold in 7 of 8, of log odds -1 in 2 of 8.

    2 / T - offset = log 7 and -1 / T - offset = log 1/3.
    """
    scores = [[[0, 0], [s, 0.0]] for s in [2] * 8 + [-1] * 8]
    y = [[0, 0]] * 7 + [[0, 1]] + [[0, 0]] * 2 + [[0, 1]] * 6
    found = fit(scores, y)
    temperature = 3 / (logit(7 / 8) - logit(2 / 8))
    offset = 2 / temperature - logit(7 / 8)
    assert found.temperature_ == pytest.approx(temperature, abs=1e-6)
    assert found.new_offset_ == pytest.approx(offset, abs=1e-6)
    before = log_likelihood(scores, y, 1, 0) / 16
    after = log_likelihood(scores, y, temperature, offset) / 16
    assert found.log_likelihood_ == pytest.approx((before, after))
    assert type(found.new_offset_) is type(found.temperature_) is float


@pytest.mark.parametrize(
    "distortion",
    [
        (2.0, -1.0),
        *(
            pytest.param(d, marks=pytest.mark.slow)
            for d in ((0.5, 0.7), (1, 2), (5, -3))
        ),
    ],
)
def test_the_place_is_that_of_a_general_search(data, distortion):
    """Within 1e-6 of a search in two dimensions on the posterior's own numbers."""
    _, y, scores = data
    factor, shift = distortion
    scores = [s * factor - shift * np.eye(len(s)) for s in scores]

    def loss(x):
        return -log_likelihood(scores, y, float(np.exp(x[0])), float(x[1]))

    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
    general = minimize(
        loss, [np.log(factor), shift / factor], method="Nelder-Mead", options=options
    )
    found = fit(scores, y)
    assert np.log(found.temperature_) == pytest.approx(general.x[0], abs=1e-6)
    assert found.new_offset_ == pytest.approx(general.x[1], abs=1e-6)
    assert found.log_likelihood_[1] * len(y) == pytest.approx(-general.fun, abs=1e-8)


@settings(max_examples=6)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 3.0]))
def test_nothing_on_a_dense_grid_is_better(seed, scale):
    """Whatever the shape: there may be several maxima in the temperature."""
    scores, y = drawn(seed, scale)
    keep = reachable(scores, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(scores, y, bounds=(0.05, 20), offset_bounds=(-4, 4))
    assert found.n_unreachable_ == (~keep).sum()
    scores = [s for s, k in zip(scores, keep, strict=True) if k]
    y = [labels for labels, k in zip(y, keep, strict=True) if k]
    best = max(
        log_likelihood(scores, y, t, o)
        for t in np.geomspace(0.05, 20, 25)
        for o in np.linspace(-4, 4, 9)
    )
    after = found.log_likelihood_[1] * len(y)
    assert after >= best - 1e-9
    assert after >= log_likelihood(scores, y, 1, 0) - 1e-9
    there = log_likelihood(scores, y, found.temperature_, found.new_offset_)
    assert after == pytest.approx(there, abs=1e-9)


def test_the_higher_of_two_maxima():
    """A mention with two true antecedents likes two temperatures; a grid sees both."""
    rows = [[0.0, 0, 0], [-5, 0, 0], [9, 6, 8.6]]
    other = [[0.0, 0], [1.0, 0]]
    scores = [rows] * 3 + [other] * 4
    y = [[0, 1, 1]] * 3 + [[0, 0]] * 2 + [[0, 1]] * 2
    grid = np.geomspace(0.05, 50, 400)
    values = np.array([log_likelihood(scores, y, t, 0) for t in grid])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(scores, y, bounds=(0.05, 50), offset_bounds=(0, 0))
    assert found.log_likelihood_[1] * len(y) >= values.max() - 1e-9
    assert found.new_offset_ == 0


@pytest.mark.parametrize(
    ("temperature", "offset"),
    [
        (0.5, -1.0),
        pytest.param(1.0, 0.0, marks=pytest.mark.slow),
        pytest.param(2, 1.5, marks=pytest.mark.slow),
    ],
)
def test_known_ones_are_found_again(temperature, offset):
    """Within three standard errors, by the curvature of the log likelihood."""
    _, y, scores = make_coref_documents(120, return_scores=True, random_state=3)
    # at the temperature and offset these are the true scores again
    scores = [
        temperature * (s - offset * np.eye(len(s)))
        for s in (np.where(np.isneginf(s), 0, s) for s in scores)
    ]
    found = fit(scores, y)
    at = np.array([np.log(temperature), offset])

    def value(x):
        return log_likelihood(scores, y, float(np.exp(x[0])), float(x[1]))

    h = 1e-2
    step = np.eye(2) * h
    curvature = np.array(
        [
            [
                value(at + a + b)
                - value(at + a - b)
                - value(at - a + b)
                + value(at - a - b)
                for b in step
            ]
            for a in step
        ]
    ) / (4 * h * h)
    error = np.array([np.log(found.temperature_), found.new_offset_]) - at
    # squared distance in standard errors: chi square of two degrees, 0.999 quantile
    assert error @ -curvature @ error < 13.8


def test_without_offset_the_best_antecedents_stay(data):
    _, y, scores = data
    found = fit([3 * s for s in scores], y, offset_bounds=(0, 0))
    assert found.new_offset_ == 0
    assert found.temperature_ > 2
    expected = AntecedentPosterior(scores).map_clusters()
    for a, b in zip(found.predict([3 * s for s in scores]), expected, strict=True):
        assert a.tolist() == b.tolist()


def test_an_offset_may_change_the_best_clustering(data):
    _, y, scores = data
    shifted = [s - 3 * np.eye(len(s)) for s in scores]
    found = fit(shifted, y)
    before = coref_scores(y, AntecedentPosterior(shifted).map_clusters())["conll_f1"]
    assert coref_scores(y, found.predict(shifted))["conll_f1"] > before + 0.05


@pytest.mark.slow
def test_pairs_are_better_calibrated_on_other_documents():
    _, y, scores = make_coref_documents(300, return_scores=True, random_state=1)
    scores = [2.5 * s + np.eye(len(s)) for s in scores]
    found = TemperatureScaling(EXACT).fit(scores[:150], y[:150])

    def error(estimator):
        answers = CorefPairQuery()(estimator, scores[150:], y[150:])
        return calibration_error(answers.y_true, answers.y_proba, bin_size=1000)

    assert error(found) < error(EXACT) / 2


# At the ends, and what is left out


def test_an_offset_at_an_end_warns():
    cases = [
        ([0, 0], {}, -10, "end of 'offset_bounds'.*every mention"),
        ([0, 1], {}, 10, "end of 'offset_bounds'.*all mentions are new"),
        ([0, 0], {"offset_bounds": (-2, 3)}, -2, "highest at -2"),
    ]
    for labels, params, expected, message in cases:
        with case(f"{labels}, {params}"):
            scores = [[[0, 0], [2.0, 0]], [[0, 0], [1.0, 0]]]
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                found = fit(scores, [labels] * 2, **params)
            assert found.new_offset_ == expected
            assert any(re.search(message, str(w.message)) for w in seen)
            assert {w.category for w in seen} == {ConvergenceWarning}
            assert {w.filename for w in seen} == {__file__}  # whoever called fit


def test_a_temperature_at_an_end_warns():
    cases = [
        ([[0, 0], [0, 0]], 0.1, "end of 'bounds'.*the most probable"),
        ([[0, 1], [0, 1]], 3, "end of 'bounds'.*do not identify"),
    ]
    for labels, expected, message in cases:
        with case(labels):
            scores = [[[0, 0], [2.0, 0]], [[0, 0], [1.0, 0]]]
            with pytest.warns(ConvergenceWarning, match=message):
                found = fit(scores, labels, offset_bounds=(0, 0), bounds=(0.1, 3))
            assert found.temperature_ == expected


def test_where_there_is_no_choice_nothing_changes():
    cases = [
        ([np.zeros((1, 1))] * 3, [[0]] * 3),
        ([np.zeros((0, 0)), [[0, 0], [-np.inf, 0]]], [[], [0, 1]]),
        ([[[0, 0], [0, -np.inf]]], [["a", "a"]]),
    ]
    for scores, y in cases:
        with case(y):
            found = fit(scores, y)
            assert (found.temperature_, found.new_offset_) == (1, 0)
            assert found.log_likelihood_ == (0, 0)


def test_clusterings_of_probability_zero_are_counted(data):
    _, y, scores = data
    expected = fit(scores, y)
    bad = np.array([[0, 0], [-np.inf, 0.0]])
    found = fit([bad, *scores, bad], [[0, 0], *y, ["a", "a"]])
    assert found.n_unreachable_ == 2
    assert found.temperature_ == expected.temperature_
    assert found.new_offset_ == expected.new_offset_
    assert found.log_likelihood_ == expected.log_likelihood_
    with pytest.raises(ValueError, match="All 2 have probability 0"):
        fit([bad] * 2, [[0, 0]] * 2)


def test_scores_of_any_size():
    scores = [[[0, 0], [1000 * s, 0.0]] for s in [2] * 8 + [-1] * 8]
    y = [[0, 0]] * 7 + [[0, 1]] + [[0, 0]] * 2 + [[0, 1]] * 6
    found = fit(scores, y, bounds=(0.01, 1e5))
    temperature = 3000 / (logit(7 / 8) - logit(2 / 8))
    assert found.temperature_ == pytest.approx(temperature, rel=1e-6)


# Weights, order, jobs, folds


def test_a_weight_is_a_repetition(data):
    _, y, scores = data
    scores = [2 * s for s in scores]
    weight = np.arange(len(y)) % 3
    times = np.repeat(np.arange(len(y)), weight)
    found = fit(scores, y, sample_weight=weight)
    many = fit([scores[i] for i in times], [y[i] for i in times])
    assert found.temperature_ == pytest.approx(many.temperature_, rel=1e-6)
    assert found.new_offset_ == pytest.approx(many.new_offset_, abs=1e-6)
    assert found.log_likelihood_ == pytest.approx(many.log_likelihood_)


def test_weights_reach_the_ranker(data, features):
    y = data[1]
    weight = np.arange(len(y)) % 3
    scaling = TemperatureScaling(AntecedentRanker(0.1), cv=2)
    found = scaling.fit(features, y, sample_weight=weight)
    times = np.repeat(np.arange(len(y)), weight)
    whole = AntecedentRanker(0.1).fit(features[times], [y[i] for i in times])
    expected = whole.score(features, y)
    assert found.estimator_.score(features, y) == pytest.approx(expected, rel=1e-4)
    assert found.score(features, y, weight) == pytest.approx(
        found.score(features[times], [y[i] for i in times])
    )


def test_the_order_of_documents_and_the_names_of_entities_do_not_matter(data):
    _, y, scores = data
    one = fit(scores, y)
    other = fit(scores[::-1], [[f"e{k}" for k in labels] for labels in y[::-1]])
    assert one.temperature_ == pytest.approx(other.temperature_, rel=1e-7)
    assert one.new_offset_ == pytest.approx(other.new_offset_, abs=1e-7)


def test_folds_are_pooled(data, features):
    y = data[1]
    folds = list(KFold(3, shuffle=True, random_state=0).split(y))
    found = TemperatureScaling(AntecedentRanker(0.1), cv=folds).fit(features, y)
    scores, labels = [], []
    for train, test in folds:
        part = AntecedentRanker(0.1).fit(features[train], [y[i] for i in train])
        scores += list(part.transform(features[test]))
        labels += [y[i] for i in test]
    expected = fit(scores, labels)
    assert found.temperature_ == pytest.approx(expected.temperature_)
    assert found.new_offset_ == pytest.approx(expected.new_offset_)


# What goes through


def test_it_has_the_methods_of_a_ranker(data, features, model):
    y = data[1]
    assert model.temperature_ != 1
    X = features[40:]
    posterior = model.estimator_.posterior(X)
    expected = posterior.tempered(model.temperature_, model.new_offset_)
    for found, scores in zip(model.transform(X), expected.log_scores, strict=True):
        np.testing.assert_array_equal(found, scores)
    for found, matrix in zip(
        model.predict_proba(X), expected.pair_marginals(), strict=True
    ):
        np.testing.assert_array_equal(found, matrix[np.triu_indices(len(matrix), 1)])
    for found, labels in zip(model.predict(X), expected.map_clusters(), strict=True):
        np.testing.assert_array_equal(found, labels)
    n = expected.lengths.sum()
    assert model.score(X, y[40:]) == pytest.approx(expected.log_proba(y[40:]).sum() / n)
    assert repr(model.posterior(X)) == repr(expected)
    for name in ("predict_marginals", "predict_pair_marginals"):
        assert not hasattr(model, name)
        assert not hasattr(TemperatureScaling(AntecedentRanker()), name)
    for name in ("predict", "predict_proba", "transform", "score", "posterior"):
        assert hasattr(TemperatureScaling(AntecedentRanker()), name)


@pytest.mark.parametrize("method", ["exact", "sample"])
def test_scores_from_anywhere_go_through_pairs(data, method):
    _, y, scores = data
    pairs = SampledCorefPairs(30, method=method, decoding="mbr", random_state=0)
    found = TemperatureScaling(pairs, cv=4).fit([2 * s for s in scores], y)
    again = fit([2 * s for s in scores], y)
    assert found.temperature_ == pytest.approx(again.temperature_)
    X = [2 * s for s in scores[:9]]
    tempered = AntecedentPosterior(X).tempered(found.temperature_, found.new_offset_)
    for name in ("transform", "predict_proba", "predict"):
        expected = getattr(pairs, name)(tempered.log_scores)
        for a, b in zip(getattr(found, name)(X), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    assert found.score(X, y[:9]) == pairs.score(tempered.log_scores, y[:9])
    frozen = TemperatureScaling(FrozenEstimator(pairs), cv=2)
    frozen.fit([2 * s for s in scores], y)
    np.testing.assert_array_equal(frozen.transform(X)[0], found.transform(X)[0])


def test_it_stands_in_a_pipeline_or_around_one(data, features, model):
    documents, y, _ = data
    inside = make_pipeline(
        AntecedentFeatures(2**12),
        TemperatureScaling(AntecedentRanker(0.1), cv=3),
        EXACT,
    ).fit(documents[:40], y[:40])
    around = TemperatureScaling(
        make_pipeline(AntecedentFeatures(2**12), AntecedentRanker(0.1)), cv=3
    ).fit(documents[:40], y[:40])
    everything = TemperatureScaling(
        make_pipeline(AntecedentFeatures(2**12), AntecedentRanker(0.1), EXACT), cv=3
    ).fit(documents[:40], y[:40])
    at_the_end = make_pipeline(
        AntecedentFeatures(2**12), TemperatureScaling(AntecedentRanker(0.1), cv=3)
    ).fit(documents[:40], y[:40])
    expected = model.predict_proba(features[40:])
    for pipe in (inside, around, everything, at_the_end):
        for a, b in zip(pipe.predict_proba(documents[40:]), expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        ll = log_likelihood_scorer(pipe, documents[40:], y[40:])
        assert ll == pytest.approx(log_likelihood_scorer(model, features[40:], y[40:]))
        error = calibration_error_scorer(pipe, documents[40:], y[40:])
        by_hand = calibration_error_scorer(model, features[40:], y[40:])
        assert error == pytest.approx(by_hand)
    brier = inside.score(documents[40:], y[40:])
    assert everything.score(documents[40:], y[40:]) == pytest.approx(brier)
    mean = model.score(features[40:], y[40:])
    assert around.score(documents[40:], y[40:]) == pytest.approx(mean)


def test_a_search_tunes_what_is_within(data):
    documents, y, _ = data
    pipe = make_pipeline(
        AntecedentFeatures(2**12), TemperatureScaling(AntecedentRanker(), cv=2), EXACT
    )
    grid = {"temperaturescaling__estimator__C": [1e-3, 0.3]}
    search = GridSearchCV(pipe, grid, scoring=log_likelihood_scorer, cv=2)
    search.fit(documents[:30], y[:30])
    assert search.best_params_ == {"temperaturescaling__estimator__C": 0.3}
    inner = GridSearchCV(AntecedentRanker(), {"C": [1e-3, 0.3]}, cv=2)
    X = AntecedentFeatures(2**12).transform(documents)
    around = TemperatureScaling(inner, cv=2)
    assert hasattr(around, "predict_proba")
    around.fit(X[:30], y[:30])
    assert around.predict_proba(X[30:31])[0].ndim == 1


def test_the_data_are_not_changed_and_a_pickle_predicts_as_before(
    data, features, model
):
    _, y, scores = data
    given = copy.deepcopy((scores, y))
    fit(scores, y)
    for a, b in zip([*scores, *y], [*given[0], *given[1]], strict=True):
        np.testing.assert_array_equal(a, b)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict_proba(features[:1])[0], model.predict_proba(features[:1])[0]
    )


@pytest.mark.parametrize("estimator", [AntecedentRanker(), EXACT])
def test_scikit_learns_own_checks_pass(estimator):
    check_without_data(TemperatureScaling(clone(estimator)))


# What is refused


def test_offset_bounds_are_checked():
    cases = [
        ((1.0, 2.0), ValueError, "low <= 0 <= high. Got .1.0, 2.0"),
        ((-1.0,), ValueError, "must be two offsets .low, high."),
        (3.0, ValueError, "must be two offsets"),
        (("a", 1.0), TypeError, "'offset_bounds' .* a number"),
    ]
    for offset_bounds, error, message in cases:
        with case(offset_bounds), pytest.raises(error, match=message):
            fit([np.zeros((2, 2))], [[0, 0]], offset_bounds=offset_bounds)


def test_what_is_not_fitted_or_fits_not(features):
    with pytest.raises(NotFittedError):
        TemperatureScaling(AntecedentRanker(), cv=2).predict(features)
    with pytest.raises(NotFittedError):
        TemperatureScaling(AntecedentRanker(), cv="prefit").fit(
            features[:2], [[0] * 4] * 2
        )
    with pytest.raises(ValueError, match="2 mentions of document 0. Got 1"):
        fit([np.zeros((2, 2))], [[0]])


@pytest.mark.parametrize("cv", [3, "prefit"])
def test_a_wrong_clustering_is_named_by_its_place_among_all(cv):
    scores, y = [np.zeros((2, 2))] * 9, [[0, 0]] * 8 + [[0]]
    with pytest.raises(ValueError, match="'y' .* of TemperatureScaling.fit .*ment 8"):
        TemperatureScaling(EXACT, cv=cv).fit(scores, y)


def test_another_estimator_starts_anew():
    X, y = make_tagged_sentences(30, random_state=0)
    scaling = TemperatureScaling(HMMTagger(), cv=2).fit(X, y)
    scaling.set_params(estimator=EXACT).fit(
        [np.zeros((2, 2))] * 4, [[0, 0], [0, 1]] * 2
    )
    assert not hasattr(scaling, "classes_")
    assert scaling.set_params(estimator=HMMTagger()).fit(X, y).classes_.size > 1
    assert not hasattr(scaling, "new_offset_")


class Neural(BaseEstimator):
    """Someone's model: documents are numbers, scores are looked up."""

    def __init__(self, table):
        self.table = table

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def posterior(self, X):
        return AntecedentPosterior([self.table[i] for i in X])

    def predict(self, X):
        return self.posterior(X).map_clusters()


def test_any_model_with_a_posterior_of_antecedents(data):
    _, y, scores = data
    scores = [2 * s for s in scores]
    model = Neural(scores).fit(None, None)
    found = TemperatureScaling(model, cv="prefit").fit(range(60), y)
    expected = fit(scores, y)
    assert found.temperature_ == pytest.approx(expected.temperature_)
    for a, b in zip(found.predict(range(9)), expected.predict(scores[:9]), strict=True):
        np.testing.assert_array_equal(a, b)
