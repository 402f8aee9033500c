"""Clones on resamples: what they are trained on, and that n_jobs plays no part."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from skcalib import HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.significance import resample_training


class Keeper(BaseEstimator):
    """Keep what it is given."""

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return self


X = [[f"w{i}"] * (i % 3 + 1) for i in range(50)]
Y = [[f"t{i}"] * (i % 3 + 1) for i in range(50)]


def test_rows_of_X_and_y_stay_together():
    keeper = Keeper(depth=3)
    models = resample_training(keeper, X, Y, n_models=4, random_state=0)
    assert len(models) == 4
    assert not hasattr(keeper, "X_")
    for model in models:
        assert model.depth == 3
        assert len(model.X_) == 50
        pairs = [
            (x[0][1:], y[0][1:], len(x) == len(y))
            for x, y in zip(model.X_, model.y_, strict=True)
        ]
        assert all(x == y and same for x, y, same in pairs)
        # with replacement: all 50 at once would be a wonder (1e-20)
        assert 20 < len({x for x, *_ in pairs}) < 45
    draws = [[x[0] for x in model.X_] for model in models]
    assert len({tuple(draw) for draw in draws}) == 4


def test_sizes_of_each_model():
    models = resample_training(
        Keeper(), X, Y, n_models=3, sizes=[1.0, 0.1, 80], random_state=0
    )
    assert [len(model.X_) for model in models] == [50, 5, 80]
    models = resample_training(Keeper(), X, Y, n_models=2, sizes=7, random_state=0)
    assert [len(model.X_) for model in models] == [7, 7]


def test_the_result_depends_on_the_seed_alone():
    found = []
    for seed, n_jobs in ((1, None), (1, 2), (2, None)):
        # processes take seconds to start
        with parallel_config("threading"):
            models = resample_training(
                Keeper(), X, Y, n_models=3, random_state=seed, n_jobs=n_jobs
            )
        found.append([model.X_ for model in models])
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_the_first_models_do_not_depend_on_their_number():
    few = resample_training(Keeper(), X, Y, n_models=2, random_state=0)
    many = resample_training(Keeper(), X, Y, n_models=5, random_state=0)
    assert [m.X_ for m in few] == [m.X_ for m in many[:2]]


def test_arrays_and_taggers():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(60, 2)), np.arange(60) % 2
    before = A.copy()
    models = resample_training(
        LogisticRegression(), A, b, n_models=2, random_state=np.random.RandomState(0)
    )
    assert all(model.coef_.shape == (1, 2) for model in models)
    assert np.array_equal(A, before)
    sentences, tags = make_tagged_sentences(40, random_state=0)
    (tagger,) = resample_training(
        HMMTagger(), sentences, tags, n_models=1, random_state=0
    )
    assert tagger.score(sentences, tags) > 0.5


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_models": 0}, ValueError, "'n_models'"),
        ({"n_models": 2.0}, TypeError, "'n_models'"),
        ({"n_models": 2, "sizes": [1]}, ValueError, "each of the 2 models. Got 1"),
        ({"n_models": 1, "sizes": 1.5}, ValueError, r"fractions in \(0, 1\]. Got 1.5"),
        ({"n_models": 1, "sizes": 0}, ValueError, "'sizes'"),
        ({"n_models": 1, "sizes": "all"}, TypeError, "'sizes'.*'all'"),
        ({"n_models": 1, "sizes": np.array(3)}, TypeError, "'sizes'.*array\\(3\\)"),
        ({"n_models": 1, "random_state": "0"}, ValueError, "'random_state'"),
    ],
)
def test_what_is_refused(params, error, message):
    with pytest.raises(error, match=message):
        resample_training(Keeper(), X, Y, **params)


@pytest.mark.parametrize(
    ("samples", "labels", "error", "message"),
    [
        (X, Y[:-1], ValueError, "Got 50 and 49"),
        ([], [], ValueError, "at least one sample"),
        (np.array(3), Y, TypeError, "'X' parameter of resample_training.*ndarray"),
        ("text", Y, TypeError, "'X' parameter of resample_training.*str"),
    ],
)
def test_which_data_are_refused(samples, labels, error, message):
    with pytest.raises(error, match=message):
        resample_training(Keeper(), samples, labels, n_models=1)
