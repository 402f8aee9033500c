"""A guard of the package's own speed; not part of the tests.

    pip install pytest-benchmark
    pytest benchmarks/test_speed.py --benchmark-autosave
    pytest benchmarks/test_speed.py --benchmark-compare --benchmark-compare-fail=min:20%

The second line on the old code, the third on the new, on one machine: times are
compared with those saved last. No data have to be there.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest

pytest.importorskip("pytest_benchmark")

from skcalib.coref import AntecedentFeatures, AntecedentRanker, coref_scores
from skcalib.datasets import (
    make_calibrated_pairs,
    make_coref_documents,
    make_event_documents,
    make_tagged_sentences,
)
from skcalib.events import EventCounter, EventRule
from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
    score_decomposition,
)
from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior
from skcalib.queries import SpanQuery, TagQuery
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

PAIRS = make_calibrated_pairs(300_000, a=0.1, b=2, random_state=0)
WEIGHT = np.ones(PAIRS[0].size)
GROUPS = np.arange(PAIRS[0].size) // 20


@pytest.mark.parametrize(
    "measure",
    [
        calibration_error,
        adaptive_reliability_curve,
        calibration_error_interval,
        score_decomposition,
    ],
    ids=lambda measure: measure.__name__,
)
def test_metrics(benchmark, measure):
    benchmark(measure, *PAIRS)


def test_error_with_weights(benchmark):
    benchmark(calibration_error, *PAIRS, sample_weight=WEIGHT)


def test_interval_with_groups(benchmark):
    y, q = (column[:50_000] for column in PAIRS)
    benchmark(calibration_error_interval, y, q, groups=GROUPS[:50_000])


def test_error_of_all_tags(benchmark):
    proba = np.random.default_rng(0).dirichlet(np.full(40, 0.05), 10_000)
    benchmark(calibration_error, np.arange(10_000) % 40, proba, labels=np.arange(40))


@pytest.fixture(scope="module")
def chain():
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.geometric(1 / 12, size=1000), 1, 80)
    emission = 2 * rng.normal(size=(lengths.sum(), 40))
    return LinearChainPosterior(emission, rng.normal(size=(40, 40)), lengths=lengths)


@pytest.mark.parametrize(
    "name", ["token_marginals", "expected_transitions", "viterbi", "entropy"]
)
def test_chain(benchmark, chain, name):
    benchmark(getattr(chain, name))


def test_samples_of_a_chain(benchmark, chain):
    benchmark(chain.sample, 10, random_state=0)


@pytest.fixture(scope="module")
def tagged():
    return make_tagged_sentences(1000, random_state=0)


def test_hmm_training(benchmark, tagged):
    benchmark(HMMTagger().fit, *tagged)


def test_hmm_marginals(benchmark, tagged):
    benchmark(HMMTagger().fit(*tagged).predict_proba, tagged[0])


def test_crf_marginals(benchmark, tagged):
    items = list(TokenFeatures("advanced").transform(tagged[0]))
    tagger = CRFTagger(max_iterations=5).fit(items, tagged[1])
    benchmark(tagger.predict_proba, items)


def test_tag_query(benchmark, tagged):
    tagger = HMMTagger().fit(*tagged)
    proba = tagger.predict_proba(tagged[0])
    benchmark(TagQuery().from_proba, tagged[1], proba, tagger.classes_)


def test_span_query(benchmark):
    words = ["a", "b", "c", "d", "e", "f"] * 3
    tags = ["B-PER", "I-PER", "O", "B-LOC", "O", "O"] * 3
    tagger = HMMTagger().fit([words] * 50, [tags] * 50)
    benchmark(SpanQuery(), tagger, [words] * 50, [tags] * 50)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    return [np.tril(rng.normal(scale=3, size=(n, n))) for n in (50, 100, 200, 400)]


@pytest.mark.parametrize("name", ["pair_marginals", "n_entities_pmf", "map_clusters"])
def test_antecedents(benchmark, scores, name):
    benchmark(getattr(AntecedentPosterior(scores), name))


def test_samples_of_clusterings(benchmark, scores):
    benchmark(AntecedentPosterior(scores).sample, 100, random_state=0)


def test_scores_of_clusterings(benchmark, scores):
    drawn = AntecedentPosterior(scores).sample(2, random_state=0)
    first, second = ([labels[k] for labels in drawn] for k in (0, 1))
    benchmark(coref_scores, first, second)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ranker_training(benchmark):
    documents, y = make_coref_documents(20, random_state=0)
    features = AntecedentFeatures(2**12).transform(documents)
    benchmark(AntecedentRanker(max_iter=20).fit, features, y)


def test_event_counts(benchmark):
    documents, _, found = make_event_documents(100, return_scores=True, random_state=0)
    counter = EventCounter(EventRule(), random_state=0)
    benchmark(counter.count, documents, AntecedentPosterior(found))
