"""Statistics of coreference metrics: summed, they are the scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.coref import coref_f1, coref_scores, coref_statistics

METRICS = ("pairwise", "muc", "b3", "ceafe", "ceafm", "lea")

labels = st.integers(0, 6).flatmap(
    lambda n: st.tuples(*2 * [st.lists(st.integers(0, 4), min_size=n, max_size=n)])
)
corpus = st.lists(labels, min_size=1, max_size=4)


@given(corpus, st.booleans())
def test_sums_give_the_scores(documents, drop):
    y_true, y_pred = map(list, zip(*documents, strict=True))
    scores = coref_scores(y_true, y_pred, drop_singletons=drop)
    for metric in METRICS:
        counts = coref_statistics(y_true, y_pred, metric=metric, drop_singletons=drop)
        assert counts.shape == (len(documents), 4)
        right_pred, n_pred, right_true, n_true = counts.sum(axis=0)
        precision, recall, f1 = scores[metric]
        assert right_pred == pytest.approx(precision * n_pred, abs=1e-12)
        assert right_true == pytest.approx(recall * n_true, abs=1e-12)
        assert coref_f1(counts.sum(axis=0)) == pytest.approx(f1, abs=1e-12)
    counts = coref_statistics(y_true, y_pred, drop_singletons=drop)
    assert counts.shape == (len(documents), 12)
    assert coref_f1(counts.sum(axis=0)) == pytest.approx(scores["conll_f1"], abs=1e-12)


@given(corpus)
def test_sums_of_both_kinds_of_links_give_blanc(documents):
    y_true, y_pred = map(list, zip(*documents, strict=True))
    counts = coref_statistics(y_true, y_pred, metric="blanc")
    assert counts.shape == (len(documents), 8)
    sums = counts.sum(axis=0)
    if sums[3] and sums[7]:
        expected = coref_scores(y_true, y_pred)["blanc"].f1
        assert coref_f1(sums) == pytest.approx(expected, abs=1e-12)


def test_many_sums_at_once():
    sums = np.array([[1, 2, 1, 3], [0, 4, 0, 4], [0, 0, 0, 0]])
    assert coref_f1(sums) == pytest.approx([0.4, 0, 0])
    assert coref_f1(np.zeros((0, 8))).shape == (0,)


def test_lists_of_clusters():
    counts = coref_statistics([[{"Ada", "she"}]], [[{"Ada", "she", "it"}]], metric="b3")
    assert counts.ravel() == pytest.approx([4 / 3, 3, 2, 2])


def test_what_is_refused():
    with pytest.raises(TypeError, match="'drop_singletons'.* of coref_statistics"):
        coref_statistics([[0]], [[0]], drop_singletons=1)
    with pytest.raises(ValueError, match="at least one document"):
        coref_statistics([], [])
    for odd in ("abcd", list("abcd"), [[1], [1, 2]]):
        with pytest.raises(ValueError, match="'sums' .* must contain numbers. Got"):
            coref_f1(odd)
