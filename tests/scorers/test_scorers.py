"""Scorers in scikit-learn's model selection, with weights and metadata routing."""

import functools
import pickle
import pydoc
import re

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LearningCurveDisplay,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skcalib.metrics import calibration_error
from skcalib.plot import (
    BinSizeDisplay,
    ReliabilityDisplay,
    TagErrorDisplay,
)
from skcalib.queries import Answers, ClassQuery, TagQuery
from skcalib.scorers import (
    adaptive_reliability_curve_scorer,
    calibration_error_scorer,
    log_likelihood_scorer,
    make_calibration_scorer,
    make_query_scorer,
    make_reliability_curve_scorer,
)

FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def binary():
    return make_classification(
        301, 5, n_informative=3, flip_y=0.2, class_sep=0.7, random_state=0
    )


@pytest.fixture(scope="module")
def three_classes():
    return make_classification(
        301, 5, n_informative=3, n_classes=3, class_sep=0.7, random_state=0
    )


def adaptive_error(y, q, bin_size):
    """Algorithm 1 of Nguyen and O'Connor (2015), for probabilities without ties."""
    order = np.argsort(q)
    cuts = np.arange(1, max(1, len(q) // bin_size)) * bin_size
    bins = zip(np.split(y[order], cuts), np.split(q[order], cuts), strict=True)
    return np.sqrt(sum(len(b) * (b.mean() - p.mean()) ** 2 for b, p in bins) / len(q))


def folds_of(model, X, y):
    """Yield the labels and probabilities of each held-out fold, and their rows."""
    for train, test in FOLDS.split(X):
        fitted = clone(model).fit(X[train], y[train])
        yield y[test], fitted.predict_proba(X[test]), test


def test_the_score_is_minus_the_error_of_each_held_out_fold(binary):
    found = cross_val_score(
        GaussianNB(), *binary, cv=FOLDS, scoring=make_calibration_scorer(bin_size=20)
    )
    expected = [
        -adaptive_error(y, proba[:, 1], 20)
        for y, proba, _ in folds_of(GaussianNB(), *binary)
    ]
    np.testing.assert_allclose(found, expected)


def test_by_default_the_bins_are_the_metrics(binary):
    found = cross_val_score(
        GaussianNB(), *binary, cv=FOLDS, scoring=calibration_error_scorer
    )
    expected = [
        -calibration_error(y, proba[:, 1])
        for y, proba, _ in folds_of(GaussianNB(), *binary)
    ]
    np.testing.assert_allclose(found, expected)


def test_several_classes_are_pooled(three_classes):
    found = cross_val_score(
        GaussianNB(),
        *three_classes,
        cv=FOLDS,
        scoring=make_calibration_scorer(bin_size=30),
    )
    expected = [
        -adaptive_error(np.eye(3)[y].ravel(), proba.ravel(), 30)
        for y, proba, _ in folds_of(GaussianNB(), *three_classes)
    ]
    np.testing.assert_allclose(found, expected)


def test_class_wise_is_the_mean_of_the_errors_of_the_classes(three_classes):
    scorer = make_calibration_scorer(multi_class="class_wise", bin_size=10)
    found = cross_val_score(GaussianNB(), *three_classes, cv=FOLDS, scoring=scorer)
    expected = [
        -np.mean([adaptive_error(y == k, proba[:, k], 10) for k in range(3)])
        for y, proba, _ in folds_of(GaussianNB(), *three_classes)
    ]
    np.testing.assert_allclose(found, expected)


def test_top_label_scores_the_confidence_in_the_predicted_class(three_classes):
    scorer = make_calibration_scorer(multi_class="top_label", bin_size=10)
    found = cross_val_score(GaussianNB(), *three_classes, cv=FOLDS, scoring=scorer)
    expected = [
        -adaptive_error(y == proba.argmax(axis=1), proba.max(axis=1), 10)
        for y, proba, _ in folds_of(GaussianNB(), *three_classes)
    ]
    np.testing.assert_allclose(found, expected)


def test_pos_label_chooses_the_class_by_its_name(three_classes):
    X, y = three_classes
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    scorer = make_calibration_scorer(pos_label="versicolor", bin_size=10)
    found = cross_val_score(GaussianNB(), X, names, cv=FOLDS, scoring=scorer)
    expected = [
        -adaptive_error(y == "versicolor", proba[:, 1], 10)
        for y, proba, _ in folds_of(GaussianNB(), X, names)
    ]
    np.testing.assert_allclose(found, expected)


def test_debiasing_multiplies_pairs_of_different_rows_only(three_classes):
    X, y = three_classes
    model = GaussianNB().fit(X[::3], y[::3])
    X, y = X[1::3], y[1::3]
    residual = model.predict_proba(X) - np.eye(3)[y]
    # One bin holds all pairs; take every product of residuals from two rows.
    products = np.multiply.outer(residual, residual)
    apart = ~np.eye(len(y), dtype=bool)
    expected = products.transpose(0, 2, 1, 3)[apart].mean()
    scorer = make_calibration_scorer(bin_size=3 * len(y), debias=True, squared=True)
    assert scorer(model, X, y) == pytest.approx(-expected)


def test_a_query_of_the_users_own_is_asked(binary):
    class Contrary:
        def __call__(self, estimator, X, y):
            n = len(y)
            q = estimator.predict_proba(X)[:, 0]
            return Answers(1 - y, q, np.arange(n), np.zeros(n), np.zeros(n))

    X, y = binary
    model = GaussianNB().fit(X, y)
    found = make_calibration_scorer(Contrary(), bin_size=50)(model, X, y)
    expected = -adaptive_error(1 - y, model.predict_proba(X)[:, 0], 50)
    assert found == pytest.approx(expected)


def test_any_metric_of_truth_and_probability_becomes_a_scorer(binary):
    ours = make_query_scorer(brier_score_loss, greater_is_better=False)
    found = cross_validate(
        GaussianNB(),
        *binary,
        cv=FOLDS,
        scoring={"ours": ours, "theirs": "neg_brier_score"},
    )
    np.testing.assert_allclose(found["test_ours"], found["test_theirs"])


def test_parameters_reach_the_metric_with_the_sign_asked_for(binary):
    def share_above(y_true, y_proba, *, threshold):
        return np.mean(y_proba > threshold)

    X, y = binary
    model = GaussianNB().fit(X, y)
    expected = np.mean(model.predict_proba(X)[:, 1] > 0.9)
    assert make_query_scorer(share_above, threshold=0.9)(model, X, y) == expected
    negated = make_query_scorer(share_above, threshold=0.9, greater_is_better=False)
    assert negated(model, X, y) == -expected


def test_several_scorers_of_both_libraries_work_side_by_side(three_classes):
    scoring = {
        "calibration": make_calibration_scorer(bin_size=20),
        "likelihood": log_likelihood_scorer,
        "accuracy": "accuracy",
        "log_loss": "neg_log_loss",
    }
    found = cross_validate(GaussianNB(), *three_classes, cv=FOLDS, scoring=scoring)
    alone = cross_val_score(
        GaussianNB(), *three_classes, cv=FOLDS, scoring=scoring["calibration"]
    )
    np.testing.assert_array_equal(found["test_calibration"], alone)
    np.testing.assert_allclose(found["test_likelihood"], found["test_log_loss"])


GRID = {"logisticregression__C": [1e-3, 1e-1, 10]}


def test_grid_search_takes_the_model_with_the_least_error(binary):
    scorer = make_calibration_scorer(bin_size=20)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(model, GRID, cv=FOLDS, scoring=scorer, n_jobs=2).fit(*binary)
    expected = [
        np.mean(
            [
                -adaptive_error(y, proba[:, 1], 20)
                for y, proba, _ in folds_of(model.set_params(**{name: value}), *binary)
            ]
        )
        for name, values in GRID.items()
        for value in values
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.best_index_ == np.argmax(expected)
    X, y = binary
    proba = search.predict_proba(X)[:, 1]
    assert search.score(X, y) == pytest.approx(-adaptive_error(y, proba, 20))


def test_grid_search_of_several_metrics_refits_by_the_one_named(binary):
    scoring = {"calibration": calibration_error_scorer, "accuracy": "accuracy"}
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1e-4, 1e-1, 10]},
        cv=FOLDS,
        scoring=scoring,
        refit="calibration",
    ).fit(*binary)
    scores = search.cv_results_["mean_test_calibration"]
    assert search.best_index_ == scores.argmax()
    assert scores.max() < 0


class Stored(ClassifierMixin, BaseEstimator):
    """A classifier with given probabilities."""

    def __init__(self, proba=None, classes=None):
        self.proba = proba
        self.classes_ = classes

    def predict_proba(self, X):
        return self.proba

    def __sklearn_is_fitted__(self):
        return True


def stored(n, n_classes, kind):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(n_classes), n)
    y = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, n_classes - 1)
    names = np.array(["a", "b", "c"][:n_classes]).astype(kind) if kind else None
    classes = np.arange(n_classes) if names is None else names
    return Stored(proba, classes), classes[y]


@pytest.mark.parametrize("kind", [None, str, object])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"bin_size": 20, "debias": True},
        {"bin_size": 20, "debias": True, "multi_class": "pooled"},
        {"n_bins": 5, "multi_class": "top_label"},
        {"n_bins": 5, "multi_class": "class_wise"},
        {"n_bins": 5, "strategy": "uniform", "norm": "max"},
    ],
    ids=repr,
)
def test_the_scorer_is_the_metric(params, n_classes, kind):
    model, y = stored(500, n_classes, kind)
    expected = -calibration_error(y, model.proba, **params)
    found = make_calibration_scorer(**params)(model, None, y)
    assert found == pytest.approx(expected, rel=1e-13)
    weight = np.random.default_rng(1).integers(0, 3, y.size)
    expected = -calibration_error(y, model.proba, sample_weight=weight, **params)
    found = make_calibration_scorer(**params)(model, None, y, sample_weight=weight)
    assert found == pytest.approx(expected, rel=1e-13)


def test_scorers_have_names_for_displays(binary):
    names = [calibration_error_scorer, log_likelihood_scorer]
    names += [make_query_scorer(brier_score_loss, greater_is_better=False)]
    assert [scorer.__name__ for scorer in names] == [
        "neg_calibration_error",
        "log_likelihood",
        "neg_brier_score_loss",
    ]
    display = LearningCurveDisplay.from_estimator(
        GaussianNB(),
        *binary,
        scoring=calibration_error_scorer,
        cv=2,
        train_sizes=[50, 100],
    )
    assert display.ax_.get_ylabel() == "Negative calibration error"


# Several numbers of a curve


def numbers_of(y, q, n_bins):
    """Compute the numbers of a curve by their definitions, for distinct q."""
    order = np.argsort(q)
    residuals = [q[rows] - y[rows] for rows in np.array_split(order, n_bins)]
    gaps = np.array([r.mean() for r in residuals])
    share = np.array([r.size for r in residuals]) / len(q)
    squares = [
        (np.outer(r, r).sum() - r @ r) / (r.size * (r.size - 1)) for r in residuals
    ]
    return {
        "error": np.sqrt(max(share @ squares, 0)),
        "plug_in": np.sqrt(share @ gaps**2),
        "surplus": q.mean() - y.mean(),
        "brier": brier_score_loss(y, q),
        "log": log_loss(y, q),
        **{f"gap_{k + 1}": gap for k, gap in enumerate(gaps)},
    }


@pytest.mark.parametrize("n_bins", [1, 3, 5])
def test_cross_validation_returns_the_numbers_of_the_curve_of_each_fold(binary, n_bins):
    scorer = make_reliability_curve_scorer(n_bins=n_bins)
    found = cross_validate(GaussianNB(), *binary, cv=FOLDS, scoring=scorer)
    folds = folds_of(GaussianNB(), *binary)
    expected = [numbers_of(y, proba[:, 1], n_bins) for y, proba, _ in folds]
    keys = {key for key in found if key.startswith("test_")}
    assert keys == {f"test_{key}" for key in expected[0]}
    for key in expected[0]:
        values = [numbers[key] for numbers in expected]
        np.testing.assert_allclose(found[f"test_{key}"], values, atol=1e-12)


def test_the_numbers_of_one_probability_are_those_worked_by_hand(binary):
    class Constant(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.tile([0.7, 0.3], (len(X), 1))

    y = np.repeat([0, 1], 5)
    found = adaptive_reliability_curve_scorer(Constant(), np.zeros((10, 1)), y)
    # Five residuals are .3 and five are -.7: their sum is -2, and the sum of their
    # squares is 2.9. All rows have one probability, so every bin has the same gap.
    expected = {"error": np.sqrt((2**2 - 2.9) / 90), "plug_in": 0.2, "surplus": -0.2}
    expected |= {"brier": 0.29, "log": -(np.log(0.3) + np.log(0.7)) / 2}
    assert found == pytest.approx(expected | {f"gap_{k}": -0.2 for k in range(1, 6)})


def test_a_curve_has_one_kind_of_pairs(three_classes):
    X, y = three_classes
    model = GaussianNB().fit(X, y)
    proba = model.predict_proba(X)
    scorer = make_reliability_curve_scorer(multi_class="top_label")
    top = numbers_of((proba.argmax(axis=1) == y).astype(int), proba.max(axis=1), 5)
    assert scorer(model, X, y) == pytest.approx(top)
    scorer = make_reliability_curve_scorer(ClassQuery(2), n_bins=4)
    assert scorer(model, X, y) == pytest.approx(numbers_of(y == 2, proba[:, 2], 4))
    pooled = adaptive_reliability_curve_scorer(model, X, y)
    expected = numbers_of(np.eye(3)[y].ravel(), proba.ravel(), 5)
    error = calibration_error(y, proba, n_bins=5, debias=True)
    # Only pairs of different rows are multiplied.
    assert pooled == pytest.approx(expected | {"error": error, "surplus": 0})


@pytest.mark.filterwarnings("ignore:All probabilities of the .* rows are 0 or 1")
def test_a_tree_of_hard_probabilities_has_all_bins(binary):
    found = cross_validate(
        DecisionTreeClassifier(random_state=0),
        *binary,
        scoring=adaptive_reliability_curve_scorer,
        error_score="raise",
    )
    assert all(len(found[f"test_gap_{k}"]) == 5 for k in range(1, 6))
    assert found["test_brier"].min() > 0


def test_reversed_probabilities_of_a_model_give_a_warning_unless_it_chose_the_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    model = LogisticRegression().fit(X, y)
    with pytest.warns(UserWarning, match="Positive labels are rarer where probab"):
        calibration_error_scorer(model, X, 1 - y)
    make_calibration_scorer(ClassQuery(multi_class="top_label"))(model, X, 1 - y)


def test_a_fold_that_is_too_small_is_named(binary):
    X, y = binary
    model = GaussianNB().fit(X, y)
    adaptive_reliability_curve_scorer(model, X[:10], y[:10])
    message = (
        r"'n_bins' parameter of make_reliability_curve_scorer must be so small .* at "
        r"least two samples. Got 5 bins for pairs with a total weight of 9\. Use fewer"
    )
    for rows, weight in ((9, None), (10, np.r_[np.ones(9), 0])):
        with pytest.raises(ValueError, match=message):
            adaptive_reliability_curve_scorer(
                model, X[:rows], y[:rows], sample_weight=weight
            )


def test_a_search_by_a_number_of_the_curve_needs_a_function(binary):
    search = GridSearchCV(
        GaussianNB(),
        {"var_smoothing": [1e-9, 10.0]},
        cv=FOLDS,
        scoring=adaptive_reliability_curve_scorer,
        refit=lambda results: results["mean_test_brier"].argmin(),
    ).fit(*binary)
    brier = [
        np.mean(
            [
                brier_score_loss(y, proba[:, 1])
                for y, proba, _ in folds_of(GaussianNB(var_smoothing=value), *binary)
            ]
        )
        for value in (1e-9, 10.0)
    ]
    assert search.best_index_ == np.argmin(brier)
    np.testing.assert_allclose(search.cv_results_["mean_test_brier"], brier)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_bins": 0}, ValueError, "'n_bins' parameter of make_reliability_curve"),
        ({"n_bins": None}, TypeError, "'n_bins' parameter"),
        ({"multi_class": "class_wise"}, ValueError, "'pooled', 'top_label'. Got 'cla"),
        ({"query": "tag"}, TypeError, "'query' parameter"),
        ({"query": TagQuery(), "pos_label": 1}, ValueError, "Set them in the query"),
        ({"bin_size": 20}, TypeError, "unexpected keyword argument 'bin_size'"),
    ],
    ids=repr,
)
def test_a_curve_of_settings_that_make_no_sense_is_refused(params, error, message):
    with pytest.raises(error, match=message):
        make_reliability_curve_scorer(**params)


# Weights


SCORERS = {
    "default": calibration_error_scorer,
    "fixed bins": make_calibration_scorer(bin_size=25),
    "ECE": make_calibration_scorer(n_bins=10, strategy="uniform", norm="l1"),
    "debiased": make_calibration_scorer(bin_size=25, debias=True, squared=True),
    "class-wise": make_calibration_scorer(multi_class="class_wise"),
    "top label": make_calibration_scorer(multi_class="top_label"),
    "debiased top label": make_calibration_scorer(
        multi_class="top_label", debias=True, squared=True
    ),
    "likelihood": log_likelihood_scorer,
    "Brier": make_query_scorer(brier_score_loss),
    "curve": adaptive_reliability_curve_scorer,
}


@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
@pytest.mark.parametrize("data", ["binary", "three_classes"])
def test_a_whole_weight_is_as_good_as_repetition(request, data, scorer):
    X, y = request.getfixturevalue(data)
    model = GaussianNB().fit(X, y)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    expected = scorer(model, X[rows], y[rows])
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(expected)
    assert scorer(model, X, y) != pytest.approx(expected)


def test_weights_may_be_a_list(binary):
    X, y = binary
    model = GaussianNB().fit(X, y)
    expected = calibration_error_scorer(model, X, y)
    ones = [1] * len(y)
    assert calibration_error_scorer(model, X, y, sample_weight=ones) == expected


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(10), "a weight for each of the 301 samples"),
        (np.ones(302), "a weight for each of the 301 samples"),
        (np.ones((301, 1)), r"Got shape \(301, 1\)"),
        (np.zeros(301), "zero"),
        (np.r_[-1, np.ones(300)], "not negative"),
        (np.r_[np.nan, np.ones(300)], "finite"),
    ],
)
@pytest.mark.parametrize("scorer", [calibration_error_scorer, log_likelihood_scorer])
def test_weights_that_make_no_sense_are_refused(binary, scorer, weight, message):
    X, y = binary
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match=f"'sample_weight' parameter of .*{message}"):
        scorer(model, X, y, sample_weight=weight)


def weighted_folds(X, y, weight, alike):
    """Score each fold by hand, with its weights in training and, if alike, in test."""
    for train, test in FOLDS.split(X):
        model = GaussianNB().fit(X[train], y[train], sample_weight=weight[train])
        repeats = weight[test].astype(int) if alike else 1
        rows = np.repeat(test, repeats)
        proba = model.predict_proba(X[rows])[:, 1]
        yield -calibration_error(y[rows], proba, bin_size=20)


@pytest.fixture
def weight(binary):
    return np.random.default_rng(1).integers(1, 4, len(binary[1])).astype(float)


def test_a_grid_search_fitted_with_weights_scores_with_them(binary, weight):
    scorer = make_calibration_scorer(bin_size=20)
    search = GridSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9]}, cv=FOLDS, scoring=scorer
    ).fit(*binary, sample_weight=weight)
    expected = np.mean(list(weighted_folds(*binary, weight, True)))
    assert search.best_score_ == pytest.approx(expected)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def routed(binary, scorer, **metadata):
    model = GaussianNB().set_fit_request(sample_weight=True)
    return cross_val_score(model, *binary, cv=FOLDS, scoring=scorer, params=metadata)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("requested", [True, False])
def test_weights_are_used_if_and_only_if_requested(binary, weight, requested):
    scorer = make_calibration_scorer(bin_size=20)
    scorer.set_score_request(sample_weight=requested)
    found = routed(binary, scorer, sample_weight=weight)
    np.testing.assert_allclose(
        found, list(weighted_folds(*binary, weight, alike=requested))
    )


@pytest.mark.usefixtures("routing")
def test_weights_nobody_spoke_of_are_an_error(binary, weight):
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        routed(binary, make_calibration_scorer(), sample_weight=weight)


@pytest.mark.usefixtures("routing")
def test_weights_may_have_another_name(binary, weight):
    scorer = make_calibration_scorer(bin_size=20)
    scorer.set_score_request(sample_weight="frequency")
    ones = np.ones_like(weight)
    found = routed(binary, scorer, sample_weight=ones, frequency=weight)
    expected = [
        -calibration_error(y, proba[:, 1], bin_size=20, sample_weight=weight[rows])
        for y, proba, rows in folds_of(GaussianNB(), *binary)
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.usefixtures("routing")
def test_several_scorers_may_differ_in_what_they_request(binary, weight):
    scoring = {
        "with": make_calibration_scorer(bin_size=20).set_score_request(
            sample_weight=True
        ),
        "without": make_calibration_scorer(bin_size=20).set_score_request(
            sample_weight=False
        ),
    }
    model = GaussianNB().set_fit_request(sample_weight=True)
    found = cross_validate(
        model, *binary, cv=FOLDS, scoring=scoring, params={"sample_weight": weight}
    )
    for name, alike in (("with", True), ("without", False)):
        expected = list(weighted_folds(*binary, weight, alike))
        np.testing.assert_allclose(found[f"test_{name}"], expected)


@pytest.mark.usefixtures("routing")
def test_a_grid_search_passes_weights_to_the_scorer_that_requests_them(binary, weight):
    scorer = make_calibration_scorer(bin_size=20).set_score_request(sample_weight=True)
    model = GaussianNB().set_fit_request(sample_weight=True)
    search = GridSearchCV(model, {"var_smoothing": [1e-9]}, cv=FOLDS, scoring=scorer)
    search.fit(*binary, sample_weight=weight)
    expected = np.mean(list(weighted_folds(*binary, weight, True)))
    assert search.best_score_ == pytest.approx(expected)


def test_the_request_returns_the_scorer_and_shows_in_its_routing():
    scorer = make_calibration_scorer()
    assert scorer.set_score_request(sample_weight=True) is scorer
    requests = scorer.get_metadata_routing().score.requests
    assert requests == {"sample_weight": True}


# Scorers as objects


@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
def test_a_scorer_survives_pickling(binary, scorer):
    X, y = binary
    model = GaussianNB().fit(X, y)
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy(model, X, y) == scorer(model, X, y)
    assert repr(copy) == repr(scorer)


def test_a_clone_has_a_request_of_its_own():
    scorer = make_calibration_scorer().set_score_request(sample_weight="w")
    search = GridSearchCV(GaussianNB(), {}, scoring=scorer)
    copy = clone(search).scoring
    assert copy.get_metadata_routing().score.requests == {"sample_weight": "w"}
    copy.set_score_request(sample_weight=True)
    assert scorer.get_metadata_routing().score.requests == {"sample_weight": "w"}


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        (make_calibration_scorer(), "make_calibration_scorer()"),
        (
            make_calibration_scorer(bin_size=20, multi_class="class_wise"),
            "make_calibration_scorer(bin_size=20, multi_class='class_wise')",
        ),
        (
            make_calibration_scorer(ClassQuery("yes"), norm="l1"),
            "make_calibration_scorer(query=ClassQuery(pos_label='yes', "
            "multi_class=None), norm='l1')",
        ),
        (log_likelihood_scorer, "log_likelihood_scorer()"),
        (
            make_query_scorer(log_loss, normalize=False),
            "log_loss_scorer(normalize=False)",
        ),
        (
            make_reliability_curve_scorer(multi_class="top_label", n_bins=3),
            "make_reliability_curve_scorer(n_bins=3, multi_class='top_label')",
        ),
        (
            adaptive_reliability_curve_scorer,
            "adaptive_reliability_curve_scorer()",
        ),
        (calibration_error_scorer, "calibration_error_scorer()"),
    ],
)
def test_a_scorer_shows_how_it_was_made(scorer, expected):
    assert repr(scorer) == expected


# Log likelihood


@pytest.mark.parametrize("data", ["binary", "three_classes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_log_likelihood_is_minus_the_log_loss(request, data, weighted):
    X, y = request.getfixturevalue(data)
    model = GaussianNB().fit(X[::2], y[::2])
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    found = log_likelihood_scorer(model, X, y, sample_weight=weight)
    expected = -log_loss(y, model.predict_proba(X), sample_weight=weight)
    assert found == pytest.approx(expected)


class Fixed(GaussianNB):
    """A classifier that gives the same probabilities to every sample."""

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))


def test_a_class_unseen_in_training_costs_a_finite_log_likelihood():
    X = np.arange(4.0)[:, None]
    model = Fixed().fit(X, [0, 1, 0, 1])
    found = log_likelihood_scorer(model, X, [0, 1, 1, 2])
    # Probability 0 counts as the machine epsilon, as in scikit-learn's log_loss.
    truth = [0.25, 0.75, 0.75, np.finfo(float).eps]
    assert found == pytest.approx(np.mean(np.log(truth)))


@pytest.mark.parametrize(
    ("y", "errors"),
    [([0, 1, 1, 2], [0, 0.25, 0.25]), ([1, 1, 1, 1], [0.25, 0.25])],
)
def test_class_wise_counts_classes_unseen_in_training_or_in_the_test_fold(y, errors):
    X = np.arange(4.0)[:, None]
    model = Fixed().fit(X, [0, 1, 0, 1])
    scorer = make_calibration_scorer(multi_class="class_wise", bin_size=4)
    assert scorer(model, X, y) == pytest.approx(-np.mean(errors))


def test_a_model_that_is_always_right_has_a_log_likelihood_of_0():
    X = np.arange(4.0)[:, None]
    model = GaussianNB().fit(X, ["only"] * 4)
    assert log_likelihood_scorer(model, X, ["only"] * 4) == 0


# What is refused


class Untagged:
    """Has what a classifier has, but does not say that it is one."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), KMeans(2), Untagged()], ids=lambda e: type(e)
)
def test_what_is_no_classifier_needs_a_query(binary, estimator):
    if hasattr(estimator, "fit"):
        estimator.fit(*binary)
    message = f"{type(estimator).__name__}.* not a classifier.* Pass .* 'query'"
    with pytest.raises(ValueError, match=message):
        calibration_error_scorer(estimator, *binary)


class Tagging(BaseEstimator):
    """A tagger of another package: it has a posterior, but no predict_marginals."""

    classes_ = np.array(["D", "N"])

    def posterior(self, X):
        return None

    def predict_proba(self, X):
        return [np.tile([0.25, 0.75], (len(sentence), 1)) for sentence in X]


def test_another_tagger_with_a_posterior_is_not_coreference():
    X, y = [["a", "b"]], [["D", "N"]]
    message = "No query is known for Tagging.* Use TagQuery"
    for scorer in (calibration_error_scorer, log_likelihood_scorer):
        with pytest.raises(ValueError, match=message):
            scorer(Tagging(), X, y)
    found = make_calibration_scorer(TagQuery("N"), bin_size=2)(Tagging(), X, y)
    assert found == pytest.approx(-0.25)


def test_with_a_query_anything_that_has_probabilities_will_do(binary):
    X, y = binary
    found = make_calibration_scorer(ClassQuery(), bin_size=len(y))(Untagged(), X, y)
    assert found == pytest.approx(-abs(y.mean() - 0.5))


def test_a_classifier_without_probabilities_is_refused(binary):
    with pytest.raises(ValueError, match="must have predict_proba. Got LinearSVC"):
        calibration_error_scorer(LinearSVC().fit(*binary), *binary)


@pytest.mark.parametrize("name", ["beta", "labels", "groups", "sample_weight"])
def test_an_unknown_parameter_is_an_error(name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument {name!r}"):
        make_calibration_scorer(**{name: 3})


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"norm": "l3"}, ValueError, "'norm' parameter"),
        ({"bin_size": 0}, ValueError, "'bin_size' parameter"),
        ({"bin_size": 2.5}, TypeError, "'bin_size' parameter"),
        ({"bin_size": 1, "debias": True}, ValueError, "'bin_size' of at least 2"),
        ({"bin_size": 5, "n_bins": 3}, ValueError, "'bin_size' or 'n_bins', not both"),
        ({"strategy": "uniform"}, ValueError, "needs 'n_bins'"),
        ({"norm": "l1", "debias": True}, ValueError, "needs norm='l2'"),
        ({"debias": 1}, TypeError, "must be True or False"),
        ({"multi_class": "none"}, ValueError, "'multi_class' parameter"),
        ({"multi_class": "per_class"}, ValueError, "'class_wise'. Got 'per_class'"),
        ({"multi_class": "pooled", "pos_label": 1}, ValueError, "not both"),
        ({"query": ClassQuery(), "pos_label": 1}, ValueError, "Set them in the query"),
    ],
    ids=repr,
)
def test_a_setting_that_makes_no_sense_is_refused_when_the_scorer_is_made(
    params, error, message
):
    with pytest.raises(error, match=message):
        make_calibration_scorer(**params)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_a_number_of_bins_may_be_debiased(binary, strategy):
    scorer = make_calibration_scorer(n_bins=2, strategy=strategy, debias=True)
    X, y = binary
    model = LogisticRegression().fit(X, y)
    assert -1 <= scorer(model, X, y) <= 0


def test_a_metric_has_to_be_callable():
    with pytest.raises(TypeError, match=re.escape("callable. Got 'brier' instead")):
        make_query_scorer("brier")


def test_a_metric_gives_one_number(binary):
    model = GaussianNB().fit(*binary)
    scorer = make_query_scorer(lambda y, q: q)
    with pytest.raises(TypeError, match=r"must return a number. Got ndarray of shape"):
        scorer(model, *binary)


def test_a_partial_metric_has_the_name_of_the_metric():
    scorer = make_query_scorer(functools.partial(brier_score_loss, pos_label=1))
    assert repr(scorer) == "brier_score_loss_scorer()"


@pytest.mark.parametrize("query", [ClassQuery, "label", 3])
def test_what_is_no_query_is_refused_when_the_scorer_is_made(query):
    for make in (
        functools.partial(make_query_scorer, brier_score_loss),
        make_calibration_scorer,
    ):
        with pytest.raises(TypeError, match="'query' parameter of make_.* such as Tag"):
            make(query=query)


@pytest.mark.parametrize("query", [ClassQuery, "label"])
def test_displays_refuse_what_is_no_query_too(binary, query):
    model = GaussianNB().fit(*binary)
    results = cross_validate(model, *binary, return_estimator=True, return_indices=True)
    for draw, what in (
        (ReliabilityDisplay.from_estimator, model),
        (ReliabilityDisplay.from_cv_results, results),
        (BinSizeDisplay.from_estimator, model),
        (TagErrorDisplay.from_estimators, {"a": model}),
    ):
        message = f"'query' parameter of {draw.__qualname__} must be a query"
        with pytest.raises(TypeError, match=message):
            draw(what, *binary, query=query)


def test_a_query_returns_answers(binary):
    scorer = make_calibration_scorer(lambda estimator, X, y: (y, y))
    with pytest.raises(TypeError, match="'query' parameter .* return Answers.* tuple"):
        scorer(GaussianNB().fit(*binary), *binary)


@pytest.mark.parametrize(
    "scorer",
    [calibration_error_scorer, make_calibration_scorer(ClassQuery(), n_bins=5)],
)
def test_help_says_the_sign_the_bins_and_what_is_scored(scorer):
    text = pydoc.render_doc(scorer, renderer=pydoc.plaintext)
    words = " ".join(text.split())
    for part in (
        "negated so that greater is better",
        "automatic bins",
        "the second of two classes",
    ):
        assert part in words
    assert pickle.loads(pickle.dumps(scorer)).__doc__ == scorer.__doc__


@pytest.mark.parametrize(
    "scorer", [log_likelihood_scorer, make_query_scorer(brier_score_loss)]
)
def test_help_of_other_scorers_says_the_sign(scorer):
    text = pydoc.render_doc(scorer, renderer=pydoc.plaintext)
    assert "greater is better" in text
    assert "estimator, X, y, *, sample_weight=None" in text
