"""Counts that answers to a query expect, by sample and by document."""

import numpy as np
import pytest

from skcalib import HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import ClassQuery, SpanQuery, TagPairQuery, TagQuery


@pytest.fixture(scope="module")
def tagged():
    X, y = make_tagged_sentences(120, random_state=0)
    tagger = HMMTagger(0.1).fit(X[:30], y[:30])
    return tagger, X[30:], y[30:]


def test_tags_are_counted_by_sentence(tagged):
    tagger, X, y = tagged
    counts = TagQuery("NN")(tagger, X, y).expected_counts(len(X))
    column = list(tagger.classes_).index("NN")
    expected = [rows[:, column].sum() for rows in tagger.predict_proba(X)]
    assert counts.expected == pytest.approx(expected)
    assert counts.true.tolist() == [list(tags).count("NN") for tags in y]
    assert counts.document.tolist() == list(range(90))


def test_pairs_of_tags_are_counted_by_document(tagged):
    tagger, X, y = tagged
    document = np.repeat(["b", "a", "c"], 30)
    answers = TagPairQuery([("DT", "NN")])(tagger, X, y)
    counts = answers.expected_counts(documents=document)
    assert counts.document.tolist() == ["b", "a", "c"]
    pairs = [sum(pair == ("DT", "NN") for pair in zip(t, t[1:])) for t in y]  # noqa: B905
    assert counts.true.tolist() == np.reshape(pairs, (3, 30)).sum(axis=1).tolist()
    by_sentence = answers.expected_counts(90).expected
    assert counts.expected == pytest.approx(by_sentence.reshape(3, 30).sum(axis=1))


def test_all_spans_give_the_expected_number_of_entities():
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=(n, 3)) for n in (3, 1, 4)]
    moves = np.array([[0.0, 0, -np.inf], [0, 0, 1], [0, 0, 1]])
    posterior = LinearChainPosterior(scores, moves, [0, 0, -np.inf])
    classes = ["O", "B-PER", "I-PER"]
    y = [["B-PER", "I-PER", "B-PER"], ["O"], ["O", "B-PER", "O", "O"]]
    query = SpanQuery(spans="all", max_length=4)
    counts = query.from_posterior(y, posterior, classes).expected_counts(3)
    # In BIO each entity has one B.
    begins = [rows[:, 1].sum() for rows in posterior.token_marginals()]
    assert counts.expected == pytest.approx(begins)
    assert counts.true.tolist() == [2, 0, 1]


def test_samples_without_an_answer_have_a_count_of_0():
    answers = SpanQuery().from_proba(
        [["O"], ["B-X"], ["O"]], [[], [(0, 1, "X", 0.4)], []]
    )
    assert answers.expected_counts(3).expected.tolist() == [0, 0.4, 0]
    found = answers.expected_counts(documents=[5, 5, 7])
    assert found.document.tolist() == [5, 7]
    assert found.expected.tolist() == [0.4, 0]


def test_one_label_of_several():
    proba = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]]
    answers = ClassQuery().from_proba(["N", "V"], proba, classes=["A", "N", "V"])
    assert answers.expected_counts(2).expected == pytest.approx([1, 1])
    found = answers.expected_counts(2, label="N")
    assert found.expected.tolist() == [0.2, 0.5]
    assert found.true.tolist() == [1, 0]
    with pytest.raises(
        ValueError, match=r"'label'.*answers, \['A', 'N', 'V'\]. Got 'X'"
    ):
        answers.expected_counts(2, label="X")


def test_a_label_may_be_a_pair(tagged):
    tagger, X, y = tagged
    several = TagPairQuery([("DT", "NN"), ("NN", "VB")])(tagger, X, y)
    one = TagPairQuery([("DT", "NN")])(tagger, X, y)
    found = several.expected_counts(90, label=("DT", "NN"))
    assert found.expected == pytest.approx(one.expected_counts(90).expected)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "either 'n_groups'.*or 'documents'.*Got n_groups=None"),
        ({"n_groups": 2, "documents": ["a", "b"]}, "either"),
        ({"n_groups": 1}, "'n_groups'.*Answers.expected_counts.*2 samples.*Got 1"),
        ({"documents": ["a"]}, "'documents'.*2 samples.*Got 1"),
        ({"n_groups": -1}, "'n_groups'.*at least 0"),
    ],
)
def test_wrong_arguments(arguments, problem):
    answers = ClassQuery("N").from_proba(
        ["N", "V"], [[0.7, 0.3], [0.2, 0.8]], ["N", "V"]
    )
    with pytest.raises(ValueError, match=problem):
        answers.expected_counts(**arguments)
