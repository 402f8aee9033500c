"""Functions that compare_systems replaced give its results, with a warning."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from skcalib import significance
from skcalib.evaluation import evaluation_of
from skcalib.metrics import accuracy_statistics, brier_statistics
from skcalib.significance import SystemComparison, compare_systems

RIGHT = np.random.default_rng(0).random((2, 60)) < [[0.6], [0.8]]
SCORES = dict(zip("ab", RIGHT.astype(float), strict=True))
COUNTS = {name: np.c_[right, right, right * 0 + 1] for name, right in SCORES.items()}


def old(name, *args, **kwargs):
    warning = f"significance.{name} will be removed in version 0.13. Use compare_system"
    with pytest.warns(FutureWarning, match=warning):
        return getattr(significance, name)(*args, **kwargs)


@pytest.mark.parametrize("settings", [{}, {"adjust": None, "confidence_level": 0.9}])
def test_scores_and_metrics_are_compared_by_the_new_function(settings):
    found = old("compare_scores", SCORES, **settings)
    assert found.to_dict() == compare_systems(SCORES, **settings).to_dict()
    evaluations = {
        name: evaluation_of(right, question=list(map(str, range(60))))
        for name, right in SCORES.items()
    }
    found = old("compare_scores", evaluations, groups=np.arange(60) // 3)
    expected = compare_systems(SCORES, groups=np.arange(60) // 3)
    assert found.pvalue.tolist() == expected.pvalue.tolist()
    found = old("compare_metrics", COUNTS, statistic="f1", **settings)
    expected = compare_systems(COUNTS, statistic="f1", random_state=0, **settings)
    assert found.to_dict() == expected.to_dict()


def test_scores_of_another_range_are_an_error():
    with pytest.raises(ValueError, match="compare_scores .* 3.0 in row 1 of 'b'"):
        old("compare_scores", {"a": [1, 0], "b": [1, 3]})
    with pytest.raises(ValueError, match="'largest' .* Got 1, and"):
        old("compare_metrics", SCORES, statistic=lambda sums: 100 * sums[..., 0])


def test_estimators_are_compared_by_the_statistics_of_their_predictions():
    X, y = make_classification(600, 6, random_state=0)
    models = {"bernoulli": BernoulliNB(), "gaussian": GaussianNB()}
    for model in models.values():
        model.fit(X[:300], y[:300])
    X, y = X[300:], y[300:]
    found = old("significance_table", models, X, y)
    right = {m: accuracy_statistics(y, e.predict(X)) for m, e in models.items()}
    assert found.to_dict() == compare_systems(right, statistic="mean").to_dict()
    found = old(
        "significance_table",
        models,
        X,
        y,
        statistics=brier_statistics,
        response_method="predict_proba",
    )
    scores = [np.mean((m.predict_proba(X)[:, 1] - y) ** 2) for m in models.values()]
    assert found.score == pytest.approx(scores)


def test_there_is_one_class_of_results():
    with pytest.warns(FutureWarning, match="ScoreComparison .* Use SystemComparison"):
        assert significance.ScoreComparison is SystemComparison
