"""Named estimators on one test set: the same as their statistics by hand."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcalib import HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import brier_statistics, tag_statistics
from skcalib.significance import compare_systems, significance_table


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(600, 6, random_state=0)
    return X[:300], y[:300], X[300:], y[300:]


@pytest.fixture(scope="module")
def candidates(data):
    X, y, *_ = data
    some = {
        "constant": DummyClassifier(),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
        "search": GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=3),
    }
    return {name: each.fit(X, y) for name, each in some.items()}


def test_accuracy_of_classifiers(candidates, data):
    _, _, X, y = data
    result = significance_table(candidates, X, y)
    right = {name: each.predict(X) == y for name, each in candidates.items()}
    expected = compare_systems(right, statistic="mean")
    assert result.to_dict() == expected.to_dict()
    assert result.metric == pytest.approx([m.score(X, y) for m in candidates.values()])
    assert ("constant", "pipeline") in result.significant()


def test_token_accuracy_of_taggers():
    X, y = make_tagged_sentences(150, random_state=0)
    taggers = {
        str(pseudocount): HMMTagger(pseudocount).fit(X[:60], y[:60])
        for pseudocount in (0.01, 1.0, 30.0)
    }
    groups = np.repeat(np.arange(30), 3)
    result = significance_table(taggers, X[60:], y[60:], groups=groups)
    scores = [tagger.score(X[60:], y[60:]) for tagger in taggers.values()]
    assert result.metric == pytest.approx(scores)
    assert result.statistic == "ratio"
    assert (result.n_items, result.n_groups) == (90, 30)
    f1 = significance_table(
        taggers, X[60:], y[60:], statistics=partial(tag_statistics, which="NN")
    )
    assert f1.statistic == "f1"


def test_probabilities_and_another_metric(candidates, data):
    _, _, X, y = data
    result = significance_table(
        candidates,
        X,
        y,
        statistics=brier_statistics,
        response_method="predict_proba",
        adjust="bh",
    )
    expected = [
        np.mean((each.predict_proba(X)[:, 1] - y) ** 2) for each in candidates.values()
    ]
    assert result.metric == pytest.approx(expected)
    assert result.adjust == "bh"


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"response_method": "score"}, ValueError, "'response_method'"),
        ({"statistics": "f1"}, TypeError, "'statistics'.*callable"),
        (
            {"statistics": lambda y, z: np.ones((len(y), 4))},
            ValueError,
            "statistics with 4 columns. Pass the metric as 'statistic'",
        ),
    ],
)
def test_what_is_refused(candidates, data, params, error, message):
    _, _, X, y = data
    with pytest.raises(error, match=message):
        significance_table(candidates, X, y, **params)


def test_which_estimators_are_refused(candidates, data):
    _, _, X, y = data
    with pytest.raises(ValueError, match="at least two fitted estimators"):
        significance_table({"one": candidates["search"]}, X, y)
    with pytest.raises(ValueError, match="'estimators'.*mapping"):
        significance_table(list(candidates.values()), X, y)
    with pytest.raises(NotFittedError):
        significance_table({**candidates, "new": GaussianNB()}, X, y)
