"""TagPairQuery: two tokens in a row, by hand, by enumeration, through every door."""

import itertools
import re

import numpy as np
import pytest
from scipy.special import softmax

from skcalib import ReliabilityDisplay
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import TagPairQuery
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

X = [["the", "dog", "barks"], [], ["dogs", "bark"], ["it"]]
Y = [["D", "N", "V"], [], ["N", "V"], ["N"]]

# By hand: three places where two tokens stand in a row, in two of the sentences.
TAGS = [["D", "N", "D"], [], ["N"], ["D", "D"]]
PAIRS = [("D", "N"), ("D", "D")]
PROBA = [[[0.7, 0.2], [0.0, 0.1]], [], [], [[0.3, 0.6]]]

DOORS = pytest.mark.parametrize(
    "query",
    [
        TagPairQuery(),
        TagPairQuery(top=2),
        TagPairQuery([("N", "V"), ("D", "N")]),
        TagPairQuery([("V", "V")]),
    ],
    ids=["all", "top", "two", "never"],
)
TAGGERS = pytest.mark.parametrize(
    "tagger", [HMMTagger(0.1), CRFTagger(c2=0.1)], ids=["hmm", "crf"]
)


def same_answers(found, expected):
    for name in ("y_true", "groups", "item", "label"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    np.testing.assert_allclose(found.y_proba, expected.y_proba, atol=1e-12)
    assert found.n_unseen == expected.n_unseen


# By hand


def test_each_pair_is_asked_for_at_every_two_tokens():
    answers = TagPairQuery(PAIRS).from_proba(TAGS, PROBA, PAIRS)
    assert answers.y_true.tolist() == [1, 0, 0, 0, 0, 1]
    assert answers.y_proba.tolist() == [0.7, 0.2, 0.0, 0.1, 0.3, 0.6]
    assert answers.label.tolist() == PAIRS * 3
    assert answers.n_unseen == 0


def test_a_place_is_that_of_its_second_token():
    answers = TagPairQuery(PAIRS[:1]).from_proba(TAGS, PROBA, PAIRS)
    assert answers.groups.tolist() == [0, 0, 3]
    assert answers.item.tolist() == [1, 2, 1]


def test_columns_may_come_in_any_order():
    turned = [np.reshape(part, (-1, 2))[:, ::-1] for part in PROBA]
    found = TagPairQuery(PAIRS).from_proba(TAGS, turned, PAIRS[::-1])
    same_answers(found, TagPairQuery(PAIRS).from_proba(TAGS, PROBA, PAIRS))


def test_a_query_for_all_pairs_asks_for_those_that_are_given():
    found = TagPairQuery().from_proba(TAGS, PROBA, PAIRS)
    same_answers(found, TagPairQuery(PAIRS).from_proba(TAGS, PROBA, PAIRS))


# The most frequent pairs

MANY = [["A", "B", "A", "B"], ["B", "B"], ["C", "A", "B"], ["B", "A"]]
# A B three times, B A twice, then B B and C A once each


@pytest.mark.parametrize("top", [1, 2, 3, 4, 9])
def test_the_most_frequent_pairs_are_counted_in_y(top):
    proba = [np.full((len(tags) - 1, 3, 3), 1 / 9) for tags in MANY]
    answers = TagPairQuery(top=top).from_proba(MANY, proba)
    expected = [("A", "B"), ("B", "A"), ("B", "B"), ("C", "A")][:top]
    assert answers.label[: len(expected)].tolist() == expected
    assert len(answers) == 7 * len(expected)
    assert answers.y_true.sum() == sum([3, 2, 1, 1][:top])


def test_neither_probabilities_nor_the_order_of_sentences_choose_the_pairs():
    rng = np.random.default_rng(0)
    proba = [rng.dirichlet(np.ones(9), len(t) - 1).reshape(-1, 3, 3) for t in MANY]
    order = [3, 1, 0, 2]
    found = TagPairQuery(top=3).from_proba(
        [MANY[i] for i in order], [proba[i] for i in order]
    )
    expected = TagPairQuery(top=3).from_proba(MANY, proba)
    assert found.label[:3].tolist() == expected.label[:3].tolist()
    for new, old in enumerate(order):
        mine, theirs = found.groups == new, expected.groups == old
        assert found.y_proba[mine].tolist() == expected.y_proba[theirs].tolist()
        assert found.y_true[mine].tolist() == expected.y_true[theirs].tolist()


# Against the definition: sums over all taggings


def enumerated(scores, moves, place, pair):
    """Return the probability of a pair at two places, over all taggings."""
    n, n_tags = scores.shape
    paths = list(itertools.product(range(n_tags), repeat=n))
    weight = softmax(
        [
            sum(scores[t, k] for t, k in enumerate(path))
            + sum(moves[a, b] for a, b in itertools.pairwise(path))
            for path in paths
        ]
    )
    here = [path[place - 1 : place + 1] == pair for path in paths]
    return weight[here].sum()


@pytest.mark.parametrize("query", [TagPairQuery(), TagPairQuery([("b", "a")])])
def test_probabilities_are_sums_over_all_taggings(query):
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=(n, 3)) for n in (4, 1, 2)]
    moves = rng.normal(size=(3, 3))
    y = [list("abca"), ["b"], ["b", "a"]]
    answers = query.from_posterior(y, LinearChainPosterior(scores, moves), list("abc"))
    expected = [
        enumerated(scores[i], moves, t, ("abc".index(a), "abc".index(b)))
        for i, t, (a, b) in zip(
            answers.groups, answers.item, answers.label, strict=True
        )
    ]
    np.testing.assert_allclose(answers.y_proba, expected, atol=1e-12)
    truth = [
        tuple(y[i][t - 1 : t + 1]) == pair
        for i, t, pair in zip(answers.groups, answers.item, answers.label, strict=True)
    ]
    assert answers.y_true.tolist() == truth


def test_many_sentences_are_computed_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 5, 30)
    posterior = LinearChainPosterior(
        [rng.normal(size=(n, 3)) for n in lengths], rng.normal(size=(3, 3))
    )
    y = [rng.choice(list("abcd"), n).tolist() for n in lengths]
    expected = TagPairQuery().from_posterior(y, posterior, list("abc"))
    monkeypatch.setattr("skcalib.queries._labels._AT_ONCE", 50)
    same_answers(TagPairQuery().from_posterior(y, posterior, list("abc")), expected)
    whole = np.concatenate(posterior.pair_marginals())
    kept = expected.take([set(pair) <= set("abc") for pair in expected.label])
    np.testing.assert_allclose(kept.y_proba, whole.ravel(), atol=1e-12)


# Labels that the model did not see

UNSEEN = [["D", "X"], ["D", "N", "X"]]
FULL = [np.full((1, 2, 2), 0.25), np.full((2, 2, 2), 0.25)]


def test_pairs_with_an_unseen_label_have_probability_zero():
    answers = TagPairQuery().from_proba(UNSEEN, FULL, classes=["D", "N"])
    assert len(answers) == 3 * 9
    assert answers.n_unseen == 3 * 5
    unseen = np.array(["X" in pair for pair in answers.label])
    assert (answers.y_proba[unseen] == 0).all()
    assert (answers.y_proba[~unseen] == 0.25).all()
    assert answers.label[answers.y_true == 1].tolist() == [
        ("D", "X"),
        ("D", "N"),
        ("N", "X"),
    ]


def test_an_unseen_pair_can_be_asked_for_and_be_the_most_frequent():
    for query in (TagPairQuery([("D", "X")]), TagPairQuery(top=1)):
        tags = [["D", "X"], ["D", "X", "D"]]
        answers = query.from_proba(tags, FULL, classes=["D", "N"])
        assert answers.y_true.tolist() == [1, 1, 0]
        assert answers.y_proba.tolist() == [0, 0, 0]
        assert answers.n_unseen == 3


@TAGGERS
def test_a_tagger_is_asked_for_labels_it_never_saw(tagger):
    answers = TagPairQuery()(tagger.fit(X, Y), [["the", "end"]], [["D", "E"]])
    assert (len(answers), answers.n_unseen) == (16, 7)
    assert answers.label[answers.y_true == 1].tolist() == [("D", "E")]


# Every door


@TAGGERS
@DOORS
def test_all_doors_ask_the_same(tagger, query):
    tagger.fit(X, Y)
    found = query(tagger, X, Y)
    table = tagger.predict_pair_marginals(X)
    same_answers(query.from_proba(Y, table, classes=tagger.classes_), found)
    posterior = tagger.posterior(X)
    same_answers(query.from_posterior(Y, posterior, tagger.classes_), found)
    pairs = list(itertools.product("DNV", repeat=2))
    columns = tagger.predict_pair_marginals(X, pairs)
    same_answers(query.from_proba(Y, columns, pairs), found)


def test_columns_are_named_by_the_query_or_in_place_of_classes():
    expected = TagPairQuery(PAIRS).from_proba(TAGS, PROBA, PAIRS)
    same_answers(TagPairQuery(PAIRS).from_proba(TAGS, PROBA), expected)
    same_answers(TagPairQuery(PAIRS).from_proba(TAGS, PROBA, classes=PAIRS), expected)
    same_answers(TagPairQuery().from_proba(TAGS, PROBA, classes=PAIRS), expected)
    tags = sorted({tag for pair in PAIRS for tag in pair})
    same_answers(TagPairQuery(PAIRS).from_proba(TAGS, PROBA, tags), expected)
    same_answers(TagPairQuery(PAIRS).from_proba(TAGS, PROBA, classes=tags), expected)


def test_half_precision_of_a_posterior_is_kept():
    scores = [np.zeros((3, 2))]
    posterior = LinearChainPosterior(scores, np.zeros((2, 2)), dtype=np.float32)
    answers = TagPairQuery().from_posterior([["D", "N", "N"]], posterior, ["D", "N"])
    assert answers.y_proba.dtype == np.float32
    assert answers.y_proba.tolist() == [0.25] * 8


# Scorers and plots


def test_displays_take_the_query():
    tagger = HMMTagger(0.1).fit(X * 10, Y * 10)
    query = TagPairQuery(top=2)
    display = ReliabilityDisplay.from_estimator(tagger, X * 10, Y * 10, query=query)
    assert display.curve.n_pairs == 2 * 30
    panels = ReliabilityDisplay.from_estimator(
        tagger, X * 10, Y * 10, query=query, by="label"
    )
    assert set(panels.name) == {("N", "V"), ("D", "N")}


# What is refused


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"pairs": PAIRS, "top": 2}, ValueError, "'pairs' or 'top', not both"),
        ({"top": 0}, ValueError, "an integer of at least 1. Got 0"),
        ({"top": "5"}, TypeError, "an integer of at least 1. Got '5'"),
        ({"pairs": []}, ValueError, "at least one pair. Got none"),
        ({"pairs": "DN"}, TypeError, "a list of (label, next label). Got 'DN'"),
        ({"pairs": ["DN"]}, ValueError, "Got 'DN' as pair 0"),
        ({"pairs": [("D", "N", "V")]}, ValueError, "Got ('D', 'N', 'V') as pair 0"),
        ({"pairs": [*PAIRS, ("D", "N")]}, ValueError, "repeats a pair"),
        ({"pairs": [(["D"], ["N"])]}, TypeError, "must contain pairs of labels. Got"),
    ],
)
def test_what_is_no_query_is_refused(params, error, message):
    with pytest.raises(error, match=re.escape(message)):
        TagPairQuery(**params)


@pytest.mark.parametrize(
    ("tags", "proba", "pairs", "message"),
    [
        (TAGS[1:3], PROBA[1:3], PAIRS, "a sentence with at least two tokens"),
        (TAGS, PROBA, PAIRS[:1], "Got 1 pairs and 2 columns"),
        (TAGS, PROBA, None, "Sentence 0 has 3 labels and shape (2, 2)"),
        (TAGS, [PROBA[0], [], [], []], PAIRS, "Sentence 3 has 2 labels"),
        (TAGS, PROBA[:2], PAIRS, "Got 2 and 4"),
        (TAGS, [*PROBA[:3], [[0.3, 1.6]]], PAIRS, "1.6 in sentence 3, token 1"),
        ([["D", None, "D"], *TAGS[1:]], PROBA, PAIRS, "Token 1 of sentence 0 has None"),
    ],
)
def test_probabilities_that_do_not_fit_the_tags_are_refused(
    tags, proba, pairs, message
):
    with pytest.raises(ValueError, match=re.escape(message)):
        TagPairQuery().from_proba(tags, proba, pairs)


def test_pairs_that_cannot_be_answered_are_refused():
    with pytest.raises(ValueError, match="Got 'Q' in .'Q', 'N'."):
        TagPairQuery([("Q", "N")]).from_proba(TAGS, PROBA, PAIRS)
    with pytest.raises(ValueError, match="Got no column for .'N', 'D'."):
        TagPairQuery([("N", "D")]).from_proba(TAGS, PROBA, PAIRS)


def test_an_estimator_and_a_posterior_have_to_fit():
    with pytest.raises(ValueError, match="must have a posterior method. Got Token"):
        TagPairQuery()(TokenFeatures(), X, Y)
    tagger = HMMTagger(0.1).fit(X, Y)
    with pytest.raises(ValueError, match="Sentence 2 has 1 labels and 2 tokens"):
        TagPairQuery()(tagger, X, [Y[0], [], ["N"], ["N"]])
    with pytest.raises(TypeError, match="must be a LinearChainPosterior. Got list"):
        TagPairQuery().from_posterior(TAGS, PROBA, ["D", "N"])


def test_queries_of_one_meaning_are_equal():
    assert TagPairQuery([["D", "N"]]) == TagPairQuery((("D", "N"),))
    assert TagPairQuery(top=5) != TagPairQuery(top=6)
    assert repr(TagPairQuery(top=5)) == "TagPairQuery(pairs=None, top=5)"
