"""Laws of coreference: documents have no order, entities no names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib.coref import (
    AntecedentFeatures,
    AntecedentRanker,
    SampledCorefPairs,
    coref_scores,
)
from skcalib.datasets import make_coref_documents

SEEDS = st.integers(0, 10_000)
RANDOM = st.randoms(use_true_random=False)

few = settings(max_examples=15)


@st.composite
def labelled(draw):
    """Draw two clusterings of each of some documents."""
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=5))
    labels = [
        draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
        for n in [*sizes, *sizes]
    ]
    return labels[: len(sizes)], labels[len(sizes) :]


def scores_of(lengths, seed):
    rng = np.random.default_rng(seed)
    return [np.tril(rng.normal(size=(n, n)) * 3) for n in lengths]


def close(found, expected, atol=1e-12):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def same_scores(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


class TestScores:
    @few
    @given(data=labelled(), drop=st.booleans(), random=RANDOM)
    def test_order_and_repetition_of_documents(self, data, drop, random):
        y, z = data
        expected = coref_scores(y, z, drop_singletons=drop)
        order = random.sample(range(len(y)), len(y))
        mixed = [y[i] for i in order], [z[i] for i in order]
        for found in (mixed, (y * 3, z * 3)):
            same_scores(coref_scores(*found, drop_singletons=drop), expected)

    @few
    @given(data=labelled(), drop=st.booleans())
    def test_names_of_entities(self, data, drop):
        y, z = data
        renamed = [[f"entity {9 - label}" for label in labels] for labels in z]
        moved = [[label + 100 * i for label in labels] for i, labels in enumerate(y)]
        same_scores(
            coref_scores(moved, renamed, drop_singletons=drop),
            coref_scores(y, z, drop_singletons=drop),
        )

    @few
    @given(data=labelled(), random=RANDOM)
    def test_order_of_mentions(self, data, random):
        y, z = data
        orders = [random.sample(range(len(labels)), len(labels)) for labels in y]
        mixed = [
            [
                [labels[j] for j in order]
                for labels, order in zip(each, orders, strict=True)
            ]
            for each in data
        ]
        same_scores(coref_scores(*mixed), coref_scores(y, z))

    @few
    @given(data=labelled())
    def test_the_truth_is_perfect_and_nothing_is_better(self, data):
        for each in (coref_scores(data[0], data[0]), coref_scores(*data)):
            assert all(
                np.all((np.array(v) >= 0) & (np.array(v) <= 1)) for v in each.values()
            )
        perfect = coref_scores(data[0], data[0])["b3"]
        assert perfect == ((1, 1, 1) if any(data[0]) else (0, 0, 0))


class TestPairs:
    @few
    @given(data=labelled(), seed=SEEDS, random=RANDOM)
    def test_exact_pairs_follow_their_documents(self, data, seed, random):
        y = data[0]
        step, scores = SampledCorefPairs(method="exact"), scores_of(map(len, y), seed)
        order = random.sample(range(len(y)), len(y))
        mixed = [scores[i] for i in order]
        expected = step.predict_proba(scores)
        close(step.predict_proba(mixed), expected[order])
        clusters = step.predict(scores)
        close(step.predict(mixed), clusters[order])
        close(
            step.predict_proba([s.astype(np.float32) for s in scores]), expected, 1e-5
        )
        if sum(len(labels) > 1 for labels in y):
            renamed = [[5 - label for label in y[i]] for i in order]
            assert step.score(mixed, renamed) == pytest.approx(step.score(scores, y))

    @few
    @given(data=labelled(), seed=SEEDS)
    def test_sampled_pairs_are_shares_of_the_samples(self, data, seed):
        scores = scores_of(map(len, data[0]), seed)
        step = SampledCorefPairs(n_samples=7, random_state=seed)
        for found in step.predict_proba(scores):
            np.testing.assert_allclose(found * 7, np.round(found * 7), atol=1e-12)
        close(step.transform(scores), step.predict_proba(scores))


@pytest.fixture(scope="module")
def corpus():
    return make_coref_documents(8, mean_mentions=5, random_state=0)


class TestRanker:
    @few
    @given(order=st.permutations(range(8)))
    def test_features_scores_and_clusters_follow_their_documents(self, corpus, order):
        documents, y = corpus
        step = AntecedentFeatures(2**8)
        X = step.transform(documents)
        ranker = AntecedentRanker(0.1).fit(X, y)
        mixed = step.transform([documents[i] for i in order])
        for a, i in zip(mixed, order, strict=True):
            assert abs(a - X[i]).sum() == 0
        close(ranker.transform(mixed), ranker.transform(X)[list(order)])
        close(ranker.predict(mixed), ranker.predict(X)[list(order)])
        proba = ranker.predict_proba(X)
        close(ranker.predict_proba(mixed), proba[list(order)])
        y_mixed = [[-label for label in y[i]] for i in order]
        assert ranker.score(mixed, y_mixed) == pytest.approx(ranker.score(X, y))
