"""Code that was written for sklearn-crfsuite, with CRFTagger in place of CRF."""

import pickle
from collections import Counter

import numpy as np
import pytest
import sklearn_crfsuite
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV
from sklearn_crfsuite import metrics

from skcalib.sequence import CRFTagger

WEATHER = [
    {"walk": 1, "shop": 0.5},
    {"walk": 1},
    {"shop": 0.5, "clean": 0.5},
    {"clean": 1, "shop": 0.1},
    {},
    {"солнце": "не светит", "clean": 1},
]
STATES = ["sunny", "sunny", "rainy", "rainy", "sunny", "rainy"]
X, Y = [WEATHER] * 4, [STATES] * 4


@pytest.fixture(scope="module")
def tagger():
    return CRFTagger("lbfgs", c1=0.1, c2=0.1, max_iterations=100).fit(X, Y)


@pytest.fixture(scope="module")
def crf(tagger):
    params = {"c1": 0.1, "c2": 0.1, "max_iterations": 100}
    return sklearn_crfsuite.CRF("lbfgs", all_possible_transitions=True, **params).fit(
        X, Y
    )


def test_the_tutorial_of_sklearn_crfsuite(tagger):
    labels = list(tagger.classes_)
    labels.remove("rainy")
    found = tagger.predict(X)
    assert metrics.flat_f1_score(Y, found, average="weighted", labels=labels) == 1
    report = metrics.flat_classification_report(Y, found, labels=labels, digits=3)
    assert "sunny" in report
    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=labels)
    search = RandomizedSearchCV(
        CRFTagger(algorithm="lbfgs", all_possible_transitions=True),
        {"c1": [0.0, 0.1], "c2": [0.1, 1.0]},
        cv=2,
        n_iter=2,
        scoring=scorer,
        random_state=0,
    ).fit(X, Y)
    assert search.best_score_ == 1
    (pair, weight), *_ = Counter(tagger.transition_features_).most_common(1)
    assert set(pair) <= {"sunny", "rainy"}
    assert weight == max(tagger.transition_features_.values())


def test_predictions_are_lists_of_labels(tagger, crf):
    found = tagger.predict([WEATHER, WEATHER[:2], []])
    assert found.shape == (3,)
    assert list(found) == [crf.predict_single(s) for s in (WEATHER, WEATHER[:2], [])]
    assert all(type(label) is str for labels in found for label in labels)
    assert tagger.predict_single(WEATHER) == found[0]


def test_marginals_of_one_sentence_are_dicts(tagger, crf):
    found = tagger.predict_marginals_single(WEATHER)
    expected = crf.predict_marginals_single(WEATHER)
    assert [list(token) for token in found] == [["rainy", "sunny"]] * len(WEATHER)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)
    (arrays,) = tagger.predict_marginals([WEATHER])
    assert [list(token.values()) for token in found] == arrays.tolist()
    assert tagger.predict_marginals_single([]) == []


def test_attributes_of_the_fitted_model(tagger, crf):
    assert tagger.crf_.tagger_.labels() == crf.tagger_.labels()
    assert tagger.crf_.size_ == len(tagger.model_bytes_) == crf.size_
    assert set(tagger.attributes_) == set(crf.attributes_)
    assert tagger.state_features_ == pytest.approx(crf.state_features_, abs=1e-6)
    assert tagger.transition_features_ == pytest.approx(crf.transition_features_)
    ours, theirs = (m.training_log_.iterations for m in (tagger, crf))
    assert [i["loss"] for i in ours] == [i["loss"] for i in theirs]


@pytest.mark.parametrize("name", ["crf_", "state_features_", "transition_features_"])
def test_attributes_before_fit(name):
    assert not hasattr(CRFTagger(), name)
    with pytest.raises(NotFittedError):
        getattr(CRFTagger(), name)


SETTINGS = {
    "l2sgd": {
        "calibration_eta": 0.2,
        "calibration_rate": 3.0,
        "calibration_samples": 2,
        "calibration_candidates": 2,
        "calibration_max_trials": 3,
    },
    "pa": {"pa_type": 2, "c": 0.01, "error_sensitive": False, "averaging": False},
    "arow": {"variance": 0.1, "gamma": 2.0},
}
CHANGES = [(a, name) for a, settings in SETTINGS.items() for name in settings]


def weights(algorithm, **settings):
    """Return the weights after two iterations."""
    if algorithm == "l2sgd":  # a small penalty leaves the learning rate as it is
        settings = {"c2": 1.0, **settings}
    tagger = CRFTagger(algorithm, max_iterations=2, **settings).fit(X, Y)
    return tagger.state_weights_, tagger.transition_weights_


@pytest.mark.parametrize(("algorithm", "name"), CHANGES)
def test_every_setting_reaches_its_algorithm(algorithm, name):
    found = weights(algorithm, **{name: SETTINGS[algorithm][name]})
    assert not all(map(np.array_equal, found, weights(algorithm)))


def test_bytes_are_text_in_utf_8():
    """In names and values, at fit and at predict."""
    text = [{"солнце": "не светит", "a": ["x"]}, {"b": 1.0}]
    raw = [{"солнце": "не светит".encode(), b"a": [b"x"]}, {b"b": 1.0}]
    expected = CRFTagger().fit([text], [["A", "B"]])
    found = CRFTagger().fit([raw], [["A", "B"]])
    assert found.model_bytes_ == expected.model_bytes_
    for sentence in (text, raw):
        np.testing.assert_array_equal(
            found.predict_proba([sentence])[0], expected.predict_proba([text])[0]
        )


# The file of the model


def test_a_model_is_written_and_read_by_its_name(tmp_path):
    path = tmp_path / "weather.crfsuite"
    tagger = CRFTagger(model_filename=str(path)).fit(X, Y)
    assert path.read_bytes() == tagger.model_bytes_
    crf = sklearn_crfsuite.CRF(model_filename=str(path))
    assert crf.predict_single(WEATHER) == STATES
    read = CRFTagger(model_filename=path)
    assert read.score(X, Y) == 1
    assert read.training_log_ is None
    np.testing.assert_array_equal(
        read.predict_proba(X[:1])[0], tagger.predict_proba(X[:1])[0]
    )
    path.unlink()
    assert pickle.loads(pickle.dumps(read)).predict_single(WEATHER) == STATES


def test_without_its_file_a_tagger_is_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        CRFTagger(model_filename=tmp_path / "none").predict(X)


@pytest.mark.parametrize("content", [b"host", b"lCRF" * 20, b""])
def test_a_file_that_is_no_model_is_named(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="'model_filename' .* CRFsuite. .*notes.txt"):
        CRFTagger(model_filename=path).predict(X)


def test_a_damaged_model_gives_probabilities_or_an_error_that_names_it(tmp_path):
    path = tmp_path / "damaged.crfsuite"
    whole = CRFTagger(model_filename=path).fit(X, Y).model_bytes_
    rng = np.random.default_rng(0)
    messages = []
    for _ in range(150):
        data = bytearray(whole)
        for at in rng.integers(len(data), size=rng.integers(1, 4)):
            data[at] = rng.integers(256)
        if rng.random() < 0.2:
            del data[rng.integers(len(data)) :]
        path.write_bytes(data)
        try:
            proba = CRFTagger(model_filename=path).predict_proba(X[:1])[0]
        except ValueError as error:
            messages.append(str(error))
        else:
            np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert 20 < len(messages) < 150
    assert [each for each in messages if "'model_filename'" not in each] == []
    assert [each for each in messages if "damaged.crfsuite" not in each] == []


def test_the_folder_of_the_model_is_checked_before_training(tmp_path):
    path = tmp_path / "none" / "model"
    with pytest.raises(ValueError, match="'model_filename' .* folder that exists"):
        CRFTagger(model_filename=path).fit(X, Y)
