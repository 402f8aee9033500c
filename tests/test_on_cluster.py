"""Documents and folds go to a cluster through joblib, with the same results."""

import joblib
import numpy as np
import pytest

from skcalib.coref import SampledCorefPairs
from skcalib.datasets import make_event_documents, make_tagged_sentences
from skcalib.events import EventCounter, EventRule
from skcalib.sequence import HMMTagger, cross_val_marginals
from skcalib.significance import resample_training

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("workers")),
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    return [np.tril(rng.normal(size=(n, n))) for n in rng.integers(0, 12, 30)]


@pytest.mark.parametrize("method", ["sample", "exact"])
def test_pairs_of_mentions(cluster, scores, method, capsys):
    step = SampledCorefPairs(n_samples=50, method=method, random_state=3)
    expected = step.transform(scores)
    with joblib.parallel_config(backend="dask", verbose=10):
        found = step.transform(scores)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    shown = capsys.readouterr()
    assert "DaskDistributedBackend with 2 concurrent workers" in shown.out + shown.err
    assert "30 out of  30" in shown.out + shown.err  # progress


def test_folds_of_a_tagger(cluster):
    X, y = make_tagged_sentences(60, random_state=0)
    expected, _ = cross_val_marginals(HMMTagger(), X, y, cv=3)
    with joblib.parallel_config(backend="dask"):
        found, _ = cross_val_marginals(HMMTagger(), X, y, cv=3)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_counts_of_events(cluster):
    documents, _, scores = make_event_documents(40, return_scores=True, random_state=0)
    counter = EventCounter(EventRule(), method="sample", random_state=0)
    expected = counter.count(documents, scores)
    assert expected.monte_carlo_error.max() > 0
    with joblib.parallel_config(backend="dask"):
        found = counter.count(documents, scores)
    assert found.to_dict() == expected.to_dict()


def test_systems_from_resampled_training_sets(cluster):
    X, y = make_tagged_sentences(60, random_state=0)
    expected = resample_training(HMMTagger(), X, y, n_models=4, random_state=0)
    with joblib.parallel_config(backend="dask"):
        found = resample_training(HMMTagger(), X, y, n_models=4, random_state=0)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(
            one.emission_log_proba_, other.emission_log_proba_
        )
