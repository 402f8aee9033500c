"""Warnings point at the line outside the package that called a public function."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

import skcalib
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import make_event_documents, make_tagged_sentences
from skcalib.metrics import (
    ReliabilitySketch,
    calibration_error,
    calibration_error_interval,
)
from skcalib.plot import ReliabilityDisplay
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import ClassQuery, TagQuery
from skcalib.rates import accuracy_interval
from skcalib.recalibration import TemperatureScaling, fit_temperature
from skcalib.scorers import calibration_error_scorer, compare_calibration
from skcalib.significance import (
    borderline_threshold,
    compare_systems,
    paired_bootstrap_test,
)

PACKAGE = Path(skcalib.__file__).parent


def test_one_function_of_the_package_warns():
    """Elsewhere, a number of frames would have to be counted by hand."""
    found = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if "warnings.warn(" in path.read_text(encoding="utf-8")
    ]
    assert found == ["_errors.py"]


class HalfClassifier(GaussianNB):
    """A classifier whose probabilities sum to 1/2."""

    def predict_proba(self, X):
        return super().predict_proba(X) / 2


def calls():
    """Yield a name, a call that warns, and the beginning of the warning."""
    rng = np.random.default_rng(0)
    y, q = rng.integers(0, 2, 40), rng.random(40)
    groups = np.arange(40) % 6
    rows = np.full((40, 3), 0.3)
    X, classes = load_iris(return_X_y=True)
    half = HalfClassifier().fit(X, classes)
    sentences, tags = make_tagged_sentences(12, random_state=0)
    crf = skcalib.CRFTagger(max_iterations=9).fit(sentences, tags)
    posterior = LinearChainPosterior([np.zeros((6, 2))] * 2, np.zeros((2, 2)))
    documents, _ = make_event_documents(4, random_state=0)
    entities = [document.entities for document in documents]
    ranker = skcalib.AntecedentRanker(max_iter=1)
    features = AntecedentFeatures().fit(documents).transform(documents)
    sketch = ReliabilitySketch().update(y[:3], q[:3])
    yield "hard", lambda: calibration_error(y, y), "All probabilities"
    yield "sums", lambda: calibration_error(y + groups % 2, rows), "The probabilities"
    yield (
        "groups",
        lambda: calibration_error_interval(y, q, groups=groups),
        "The interval is based on 6",
    )
    yield "rows", lambda: calibration_error_interval(y[:3], q[:3]), "There is no test"
    yield "sketch", lambda: sketch.interval(), "There is no test"
    yield (
        "display",
        lambda: ReliabilityDisplay.from_predictions(y, q, groups=groups),
        "The interval is based on 6",
    )
    yield (
        "panels",
        lambda: ReliabilityDisplay.from_predictions(y[:8], q[:8], by=[1, 2] * 4),
        "There is no test of perfect calibration of 1 .and 1 more",
    )
    yield "classes", lambda: ClassQuery().from_proba(y + groups % 2, rows), "The prob"
    yield "query", lambda: ClassQuery()(half, X, classes), "The probabilities"
    yield (
        "tag query",
        lambda: TagQuery().from_proba([["A", "B"]], [np.full((2, 2), 0.4)]),
        "The probabilities",
    )
    yield "scorer", lambda: calibration_error_scorer(half, X, classes), "The prob"
    yield (
        "comparison",
        lambda: compare_calibration(y[:4], q[:4], 1 - q[:4], n_resamples=9),
        "compare_calibration: with 4 rows",
    )
    yield (
        "temperature",
        lambda: fit_temperature(posterior, [["A"] * 6, ["C"] * 6], ["A", "B"]),
        "1 of 2 sentences are left out",
    )
    yield (
        "scaling",
        lambda: TemperatureScaling(crf, "prefit", bounds=(0.999, 1.001)).fit(
            sentences, tags
        ),
        "The likelihood of TemperatureScaling",
    )
    yield "ranker", lambda: ranker.fit(features, entities), "AntecedentRanker did not"
    yield (
        "bootstrap",
        lambda: paired_bootstrap_test([1, 1, 0, 1], [0, 1, 0, 1]),
        "paired_bootstrap_test: the systems differ in so few",
    )
    yield (
        "systems",
        lambda: compare_systems(
            {k: rng.integers(0, 2, 60) for k in range(4)},
            method="monte_carlo",
            n_resamples=9,
        ),
        "compare_systems: n_resamples=9",
    )
    yield (
        "threshold",
        lambda: borderline_threshold([0.1, 0.2, 0.3], [0.04, 0.05, 0.06]),
        "The threshold of borderline_threshold",
    )
    yield (
        "accuracy",
        lambda: accuracy_interval(y, groups=np.zeros(40)),
        "All scores are in one group",
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [pytest.param(call, message, id=name) for name, call, message in calls()],
)
def test_a_warning_points_at_the_caller(call, message):
    with pytest.warns(Warning, match=message) as caught:
        call()
    assert {each.filename for each in caught} == {__file__}


def test_a_warning_of_a_scorer_points_at_the_cross_validation():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_score(HalfClassifier(), X, y, scoring=calibration_error_scorer)
    names = [Path(each.filename).parts for each in caught]
    assert len(names) == 5
    assert all("sklearn" in parts and "skcalib" not in parts for parts in names)
