"""One contract for the steps of coreference: scikit-learn's where it can be run."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from estimators import check_without_data
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from skcalib.coref import AntecedentFeatures, AntecedentRanker, SampledCorefPairs
from skcalib.datasets import make_coref_documents

STEPS = [
    AntecedentFeatures(2**10),
    AntecedentRanker(0.1),
    SampledCorefPairs(20, random_state=0),
]
PIPES = [make_pipeline(*STEPS[:2]), make_pipeline(*STEPS)]
FOLDS = KFold(3, shuffle=True, random_state=0)


def name_of(estimator):
    steps = getattr(estimator, "steps", [("", estimator)])
    return "-".join(type(step).__name__ for _, step in steps)


each_step = pytest.mark.parametrize("step", STEPS, ids=name_of)
each_pipe = pytest.mark.parametrize("pipe", PIPES, ids=name_of)


@pytest.fixture(scope="module")
def data():
    return make_coref_documents(18, mean_mentions=6, random_state=0)


@pytest.fixture(scope="module")
def features(data):
    return STEPS[0].transform(data[0])


@pytest.fixture(scope="module")
def inputs(data, features):
    """Return what each step takes."""
    scores = clone(STEPS[1]).fit(features, data[1]).transform(features)
    return dict(zip(map(name_of, STEPS), (data[0], features, scores), strict=True))


def same_arrays(found, expected, atol=0.0):
    assert found.dtype == expected.dtype == object
    assert found.shape == expected.shape
    for a, b in zip(found, expected, strict=True):
        if isinstance(a, csr_array):
            a, b = a.toarray(), b.toarray()
        np.testing.assert_allclose(a, b, atol=atol)


@each_step
def test_scikit_learns_own_checks_pass(step):
    check_without_data(clone(step))


@each_step
def test_scikit_learn_takes_none_for_a_classifier(step):
    """It would read ragged labels as multilabel ones and stratify them."""
    assert not is_classifier(step)
    assert get_tags(step).input_tags.two_d_array is False
    is_ranker = isinstance(step, AntecedentRanker)
    assert get_tags(step).target_tags.required is is_ranker
    assert get_tags(step).requires_fit is is_ranker


@each_step
def test_transform_gives_an_entry_a_document(step, inputs, data):
    X = inputs[name_of(step)]
    fitted = clone(step).fit(X, data[1])
    found = fitted.transform(X)
    assert found.shape == (len(X),)
    same_arrays(fitted.fit_transform(X, data[1]), found, 1e-12)
    for i in (0, 5):  # a document by itself, and documents of equal size
        alone = fitted.transform(X[i : i + 1])
        assert alone.shape == (1,)
        if not isinstance(step, SampledCorefPairs):  # whose streams are by place
            same_arrays(alone, found[i : i + 1])
    same_arrays(fitted.transform([X[0], X[0]])[:1], found[:1])


@each_step
def test_nothing_is_modified(step, inputs, data):
    X, y = inputs[name_of(step)], data[1]
    given = copy.deepcopy((X, y))
    fitted = clone(step).fit(X, y)
    before = pickle.dumps(fitted)
    fitted.transform(X)
    assert pickle.dumps(fitted) == before
    for a, b in zip(y, given[1], strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(X, given[0], strict=True):
        if isinstance(a, csr_array):
            a, b = a.toarray(), b.toarray()
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@each_step
def test_training_twice_and_a_pickle_give_the_same(step, inputs, data):
    X, y = inputs[name_of(step)], data[1]
    fitted = clone(step).fit(X, y)
    found = fitted.transform(X)
    same_arrays(clone(step).fit(X, y).transform(X), found)
    same_arrays(fitted.fit(X, y).transform(X), found)
    same_arrays(pickle.loads(pickle.dumps(fitted)).transform(X), found)


@pytest.mark.parametrize(
    "ask", ["transform", "predict", "predict_proba", "posterior", "score"]
)
def test_asking_a_ranker_before_fit_is_an_error(ask, features, data):
    more = (data[1],) if ask == "score" else ()
    ranker = clone(AntecedentRanker().fit(features, data[1]))
    with pytest.raises(NotFittedError, match="This AntecedentRanker .* not fitted"):
        getattr(ranker, ask)(features, *more)


def test_a_ranker_needs_labels_and_knows_its_number_of_features(features, data):
    with pytest.raises(ValueError, match="requires y to be passed"):
        AntecedentRanker().fit(features, None)
    ranker = AntecedentRanker().fit(features, data[1])
    assert ranker.n_features_in_ == ranker.coef_.size == 2**10
    with pytest.raises(ValueError, match="1024 columns. Got 16 for document 0"):
        ranker.predict(AntecedentFeatures(16).transform(data[0]))


# Weights and margins


def test_a_weight_of_a_document_is_its_repetition(features, data):
    X, y = features, data[1]
    weight = np.arange(len(y)) % 3
    times = np.repeat(np.arange(len(y)), weight)
    many = X[times], [y[i] for i in times]
    settings = {"C": 0.1, "tol": 1e-8, "max_iter": 1000}
    found = AntecedentRanker(**settings).fit(X, y, sample_weight=weight)
    expected = AntecedentRanker(**settings).fit(*many)
    assert found.loss_ == pytest.approx(expected.loss_, rel=1e-9)
    same_arrays(found.transform(X), expected.transform(X), 1e-3)
    assert found.score(X, y, weight) == pytest.approx(found.score(*many))
    assert found.score(X, y, np.ones(len(y))) == found.score(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1], "a weight for each of the 18"),
        ([-1.0] * 18, "not negative. Got -1.0 in row 0"),
        ([0] * 18, "zero in every row"),
    ],
)
def test_weights_are_checked(weight, message, features, data):
    with pytest.raises(ValueError, match=message):
        AntecedentRanker().fit(features, data[1], sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        AntecedentRanker().fit(features, data[1]).score(features, data[1], weight)


def test_margins_move_the_choice(features, data):
    """A dear false NEW gives fewer entities, a dear false link more; none is log."""
    X, y = features, data[1]

    def n_entities(margin):
        ranker = AntecedentRanker(0.1, loss="softmax_margin", margin=margin).fit(X, y)
        return sum(np.unique(labels).size for labels in ranker.predict(X))

    assert n_entities((0, 8, 0)) < n_entities((0, 0, 0)) < n_entities((8, 0, 0))
    plain = AntecedentRanker(0.1).fit(X, y)
    none = AntecedentRanker(0.1, loss="softmax_margin", margin=(0, 0, 0)).fit(X, y)
    same_arrays(none.transform(X), plain.transform(X), 1e-12)


@pytest.mark.parametrize(
    ("margin", "error", "message"),
    [
        ((1, 2), ValueError, "three numbers .* Got"),
        (3, ValueError, "three numbers"),
        ((1, 2, "x"), TypeError, "must be a number"),
        ((1, 2, -1), ValueError, "must be a number"),
    ],
)
def test_margins_are_checked(margin, error, message, features, data):
    ranker = AntecedentRanker(margin=margin)
    with pytest.raises(
        error, match=f"'margin' parameter of AntecedentRanker.*{message}"
    ):
        ranker.fit(features, data[1])


# Model selection


@each_pipe
def test_cross_validation_scores_each_fold(pipe, data):
    X, y = data
    expected = []
    for train, test in FOLDS.split(X):
        model = clone(pipe).fit([X[i] for i in train], [y[i] for i in train])
        expected.append(model.score([X[i] for i in test], [y[i] for i in test]))
    found = cross_val_score(pipe, X, y, cv=FOLDS)
    np.testing.assert_allclose(found, expected)
    by_number = cross_val_score(pipe, X, y, cv=3)
    np.testing.assert_allclose(by_number, cross_val_score(pipe, X, y, cv=KFold(3)))


@each_pipe
def test_a_search_around_a_search_predicts(pipe, data):
    X, y = data
    search = GridSearchCV(Pipeline([("all", pipe)]), {}, cv=2).fit(X, y)
    model = clone(pipe).fit(X, y)
    same_arrays(search.predict_proba(X), model.predict_proba(X))
    same_arrays(search.predict(X), model.predict(X))


def test_the_weight_of_documents_is_routed(data, features):
    X, y = features, data[1]
    weight = np.arange(18) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = AntecedentRanker(0.1).set_fit_request(sample_weight=True)
        ranker = ranker.set_score_request(sample_weight=True)
        params = {"sample_weight": weight}
        found = cross_validate(ranker, X, y, cv=FOLDS, params=params)
    expected = []
    for train, test in FOLDS.split(X):
        model = AntecedentRanker(0.1).fit(
            X[train], [y[i] for i in train], weight[train]
        )
        expected.append(model.score(X[test], [y[i] for i in test], weight[test]))
    np.testing.assert_allclose(found["test_score"], expected)
