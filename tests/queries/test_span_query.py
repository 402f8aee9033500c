"""SpanQuery: entities by enumeration over all taggings, and through every door."""

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.metrics import brier_score_loss
from sklearn.pipeline import make_pipeline

from skcalib import make_calibration_scorer
from skcalib.datasets import read_conll_columns
from skcalib.metrics import calibration_error, calibration_error_interval
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import SpanQuery
from skcalib.scorers import make_query_scorer
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]
BILOU = ["O", "B-X", "I-X", "L-X", "U-X", "U-Y"]

# The shape of an entity as a pattern over its tags and the one behind, "." at the end.
PATTERNS = {
    "BIO": r"B-{0} (I-{0} )*(?!I-{0} )",
    "BILOU": r"(U-{0} )|(B-{0} (I-{0} )*L-{0} )",
}


def read_off(tags, scheme, labels=("X", "Y")):
    """Return the entities of a tagging by matching the pattern at every token."""
    found = set()
    for label, start in itertools.product(labels, range(len(tags))):
        text = "".join(f"{tag} " for tag in tags[start:])
        match = re.match(PATTERNS[scheme].format(label), text)
        if match:
            found.add((start, start + match[0].count(" "), label))
    return found


def asked(answers):
    return [
        (int(i), int(start), int(stop), str(label))
        for i, (start, stop), label in zip(
            answers.groups, answers.item, answers.label, strict=True
        )
    ]


def same_answers(found, expected):
    assert asked(found) == asked(expected)
    assert found.y_true.tolist() == expected.y_true.tolist()
    np.testing.assert_allclose(found.y_proba, expected.y_proba, atol=1e-12)
    assert found.n_unseen == expected.n_unseen


def chain(seed, lengths, n_tags):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=(n, n_tags)) * 2 for n in lengths]
    return scores, rng.normal(size=(n_tags, n_tags))


# Against the definition: sums over all taggings


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("scheme", "classes"), [("BIO", BIO), ("BILOU", BILOU)])
def test_probabilities_are_sums_over_all_taggings(scheme, classes, seed):
    scores, moves = chain(seed, (4, 0, 1, 3), len(classes))
    rng = np.random.default_rng(seed)
    gold = [rng.choice(classes, len(each)).tolist() for each in scores]
    gold[0] = classes[1:5]  # the labels have both ends of their entities
    query = SpanQuery(scheme=scheme, spans="all", max_length=4)
    posterior = LinearChainPosterior(scores, moves)
    answers = query.from_posterior(gold, posterior, classes)
    expected = dict.fromkeys(asked(answers), 0.0)
    # all spans of 4 + 1 + 3 tokens of two labels
    assert len(expected) == len(answers) == 2 * (10 + 1 + 6)
    for i, each in enumerate(scores):
        paths = list(itertools.product(range(len(classes)), repeat=len(each)))
        weight = softmax(
            [
                sum(each[t, k] for t, k in enumerate(path))
                + sum(moves[a, b] for a, b in itertools.pairwise(path))
                for path in paths
            ]
        )
        for path, w in zip(paths, weight, strict=True):
            for entity in read_off([classes[k] for k in path], scheme):
                expected[(i, *entity)] += w
    np.testing.assert_allclose(answers.y_proba, list(expected.values()), atol=1e-12)
    truth = [tuple(key[1:]) in read_off(gold[key[0]], scheme) for key in expected]
    assert answers.y_true.tolist() == truth


@given(st.lists(st.sampled_from(BIO), min_size=1, max_size=7))
def test_gold_in_bio_is_read_strictly(tags):
    check_gold(tags, "BIO")


@given(st.lists(st.sampled_from([*BILOU, "B-Y", "L-Y"]), min_size=1, max_size=7))
def test_gold_in_bilou_is_read_strictly(tags):
    check_gold(tags, "BILOU")


def check_gold(tags, scheme):
    n = len(tags)
    spans = [
        (a, b, label, 0.5)
        for a in range(n)
        for b in range(a + 1, n + 1)
        for label in "XY"
    ]
    others = ["B-X", "I-X", "B-Y", "I-Y"]
    if scheme == "BILOU":
        others += ["L-X", "L-Y"]
    answers = SpanQuery(scheme=scheme).from_proba([tags, others], [spans, []])
    true = {key[1:] for key in asked(answers.take(answers.y_true == 1))}
    assert true == read_off(tags, scheme)


ILL_FORMED = [
    # I after O, at the start, after another label: part of no entity
    ("BIO", ["I-X", "O", "I-X", "B-X", "I-Y", "B-Y"], {(3, 4, "X"), (5, 6, "Y")}),
    ("BIO", ["B-X", "B-X", "I-X"], {(0, 1, "X"), (1, 3, "X")}),
    # a B that is not closed, an L that closes nothing, an I after O
    ("BILOU", ["B-X", "O", "L-X", "I-X", "U-X", "B-X", "I-X"], {(4, 5, "X")}),
    ("BILOU", ["B-X", "B-X", "L-X", "B-X", "L-Y", "B-Y"], {(1, 3, "X")}),
]


@pytest.mark.parametrize(("scheme", "tags", "entities"), ILL_FORMED)
def test_tags_that_fit_no_entity_are_part_of_none(scheme, tags, entities):
    """By hand, in y and in the prediction alike."""
    assert read_off(tags, scheme) == entities
    check_gold(tags, scheme)
    classes = sorted(set(tags))
    scores = np.full((len(tags), len(classes)), -3.0)
    scores[np.arange(len(tags)), [classes.index(tag) for tag in tags]] = 3.0
    posterior = LinearChainPosterior([scores], np.zeros((len(classes),) * 2))
    answers = SpanQuery(scheme=scheme).from_posterior([tags], posterior, classes)
    assert {key[1:] for key in asked(answers)} == entities
    assert answers.y_true.all()
    assert (answers.y_proba > 0.9).all()


# By hand: two sentences, scores that leave each token free


def independent(rows):
    """Return a posterior of tokens that do not depend on each other."""
    with np.errstate(divide="ignore"):
        scores = [np.log(np.array(each, dtype=float)) for each in rows]
    n_tags = scores[0].shape[1]
    return LinearChainPosterior(scores, np.zeros((n_tags, n_tags)))


CLASSES = ["B-P", "I-P", "O"]
FREE = independent([[[0.8, 0, 0.2], [0.1, 0.6, 0.3]], [[0.3, 0.1, 0.6]]])
GOLD = [["B-P", "I-P"], ["O"]]


def test_the_token_behind_a_span_counts():
    query = SpanQuery(spans="all", max_length=2)
    answers = query.from_posterior(GOLD, FREE, CLASSES)
    assert asked(answers) == [
        (0, 0, 1, "P"),
        (0, 0, 2, "P"),
        (0, 1, 2, "P"),
        (1, 0, 1, "P"),
    ]
    # B and then anything but I; B I; B at the end of a sentence
    expected = [0.8 * 0.4, 0.8 * 0.6, 0.1, 0.3]
    np.testing.assert_allclose(answers.y_proba, expected, atol=1e-12)
    assert answers.y_true.tolist() == [0, 1, 0, 0]


def test_predicted_spans_are_those_of_the_best_tagging():
    answers = SpanQuery().from_posterior(GOLD, FREE, CLASSES)
    assert asked(answers) == [(0, 0, 2, "P")]
    np.testing.assert_allclose(answers.y_proba, [0.48], atol=1e-12)
    assert answers.item.shape == (1, 2)
    assert answers.item.dtype.kind == "i"


def test_gold_does_not_choose_the_spans():
    nothing = [["O", "O"], ["B-P"]]
    for spans in ("predicted", "all"):
        query = SpanQuery(spans=spans, max_length=2)
        found = query.from_posterior(nothing, FREE, CLASSES)
        expected = query.from_posterior(GOLD, FREE, CLASSES)
        assert asked(found) == asked(expected)
        assert found.y_proba.tolist() == expected.y_proba.tolist()
        assert found.y_true.tolist() != expected.y_true.tolist()


def test_longer_spans_than_max_length_are_not_asked_for():
    answers = SpanQuery(max_length=1).from_posterior(GOLD, FREE, CLASSES)
    assert len(answers) == 0


def test_a_label_is_asked_for_alone():
    scores, moves = chain(0, (4, 3), 5)
    posterior = LinearChainPosterior(scores, moves)
    gold = [["B-X", "I-X", "O", "B-Y"], ["O"] * 3]
    every = SpanQuery(spans="all", max_length=3)
    both = every.from_posterior(gold, posterior, BIO)
    for label in "XY":
        query = SpanQuery(label, spans="all", max_length=3)
        found = query.from_posterior(gold, posterior, BIO)
        same_answers(found, both.take(both.label == label))
        assert found.y_true.sum() == 1


def test_a_bare_prefix_is_a_label_of_no_letters():
    answers = SpanQuery().from_posterior([["B", "I"], ["O"]], FREE, ["B", "I", "O"])
    assert answers.label.tolist() == [""]
    assert answers.y_true.tolist() == [1]


# Labels and tags that the model did not see


def test_an_unseen_label_is_asked_for_at_every_span():
    gold = [["B-Q", "I-Q"], ["B-P"]]
    query = SpanQuery(spans="all", max_length=2)
    answers = query.from_posterior(gold, FREE, CLASSES)
    assert len(answers) == 8
    assert answers.n_unseen == 4
    unseen = answers.label == "Q"
    assert (answers.y_proba[unseen] == 0).all()
    assert answers.y_true[unseen].tolist() == [0, 1, 0, 0]
    assert SpanQuery().from_posterior(gold, FREE, CLASSES).n_unseen == 0
    alone = SpanQuery("Q", spans="all", max_length=2)
    same_answers(alone.from_posterior(gold, FREE, CLASSES), answers.take(unseen))


def test_without_a_tag_that_goes_on_entities_are_single_tokens():
    posterior = independent([[[0.7, 0.3], [0.4, 0.6]]])
    query = SpanQuery(spans="all", max_length=2)
    answers = query.from_posterior([["B-P", "I-P"]], posterior, ["B-P", "O"])
    assert asked(answers) == [(0, 0, 1, "P"), (0, 0, 2, "P"), (0, 1, 2, "P")]
    np.testing.assert_allclose(answers.y_proba, [0.7, 0.0, 0.4], atol=1e-12)
    assert answers.y_true.tolist() == [0, 1, 0]
    assert answers.n_unseen == 0


# Every door

X = [["Ann", "Lee", "met", "Bob"], [], ["Paris", "slept"], ["Bob"]]
Y = [["B-P", "I-P", "O", "B-P"], [], ["B-L", "O"], ["B-P"]]
QUERIES = pytest.mark.parametrize(
    "query",
    [SpanQuery(), SpanQuery("P"), SpanQuery(spans="all", max_length=3)],
    ids=["predicted", "label", "all"],
)
TAGGERS = pytest.mark.parametrize(
    "tagger",
    [HMMTagger(0.1), CRFTagger(c2=0.1), HMMTagger(0.1, decoding="posterior")],
    ids=["hmm", "crf", "posterior"],
)


@TAGGERS
@QUERIES
def test_all_doors_ask_the_same(tagger, query):
    tagger.fit(X, Y)
    found = query(tagger, X, Y)
    assert found.y_true.sum() == (4 if query.label is None else 3)
    if tagger.decoding == "viterbi":
        posterior = tagger.posterior(X)
        same_answers(query.from_posterior(Y, posterior, tagger.classes_), found)
    listed = [[] for _ in X]
    for (i, *span), q in zip(asked(found), found.y_proba, strict=True):
        listed[i].append((*span, q))
    same_answers(query.from_proba(Y, listed), found)


def test_spans_from_anywhere_stay_in_their_order():
    spans = [[(3, 4, "P", 0.2), (0, 2, "P", 0.9)], [], [(0, 1, "L", 1)], []]
    answers = SpanQuery().from_proba(Y, spans)
    assert asked(answers) == [(0, 3, 4, "P"), (0, 0, 2, "P"), (2, 0, 1, "L")]
    assert answers.y_proba.tolist() == [0.2, 0.9, 1.0]
    assert answers.y_true.tolist() == [1, 1, 1]
    only = SpanQuery("P", max_length=1).from_proba(Y, spans)
    assert asked(only) == [(0, 3, 4, "P")]


def test_an_impossible_sentence_is_named():
    scores = [np.zeros((2, 3)), np.full((1, 3), -np.inf)]
    posterior = LinearChainPosterior(scores, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="equence 1"):
        SpanQuery(spans="all", max_length=1).from_posterior(GOLD, posterior, CLASSES)


def test_spans_have_their_columns_in_a_frame():
    frame = SpanQuery().from_posterior(GOLD, FREE, CLASSES).frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame[["start", "stop"]].to_numpy().tolist() == [[0, 2]]
    assert "item" not in frame


# Scorers and plots


def test_scorers_take_the_query_and_weights_repeat_sentences():
    tagger = HMMTagger(0.5).fit(X, Y)
    query = SpanQuery(spans="all", max_length=2)
    answers = query(tagger, X, Y)
    scorer = make_calibration_scorer(query, bin_size=3)
    expected = -calibration_error(answers.y_true, answers.y_proba, bin_size=3)
    assert scorer(tagger, X, Y) == pytest.approx(expected)
    scorer = make_query_scorer(brier_score_loss, query=query)
    weighted = scorer(tagger, X, Y, sample_weight=[2, 1, 0, 1])
    rows = [0, 0, 1, 3]
    repeated = scorer(tagger, [X[i] for i in rows], [Y[i] for i in rows])
    assert weighted == pytest.approx(repeated)


def test_a_scorer_says_that_nothing_was_predicted():
    tagger = HMMTagger(0.1).fit(X, Y)
    scorer = make_calibration_scorer(SpanQuery("L"))
    with pytest.raises(ValueError, match="There are no answers from which"):
        scorer(tagger, X[3:], Y[3:])


# What is refused


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"spans": "all"}, ValueError, "needs 'max_length'"),
        ({"scheme": "IOB"}, ValueError, "'IOB' can mean 'IOB1' or 'IOB2'"),
        ({"max_length": 0}, ValueError, "an integer of at least 1. Got 0"),
        ({"label": 3}, TypeError, "a str such as 'PER', or None. Got 3"),
    ],
)
def test_what_is_no_query_is_refused(params, error, message):
    with pytest.raises(error, match=re.escape(message)):
        SpanQuery(**params)


@pytest.mark.parametrize(
    ("gold", "classes", "message"),
    [
        ([["B-P", "S-P"], ["O"]], CLASSES, "'y_true' .* 'BIO', such as .* Got 'S-P'"),
        (GOLD, ["B-P", "E-P", "O"], "'classes' .* 'BIO', such as .* Got 'E-P'"),
        (GOLD, ["B-P", "I-P", "O-P"], "Got 'O-P'"),
        ([["B-P"], ["O"]], CLASSES, "Sentence 0 has 1 labels and 2 tokens"),
        ([["B-P", None], ["O"]], CLASSES, "Token 1 of sentence 0 has None"),
        (GOLD[:1], CLASSES, "Got 2 and 1"),
        (GOLD, CLASSES[:2], "Got 3 columns, and 'classes' has length 2"),
    ],
)
def test_tags_that_are_not_of_the_scheme_are_refused(gold, classes, message):
    with pytest.raises(ValueError, match=message):
        SpanQuery().from_posterior(gold, FREE, classes)


def test_tags_that_are_no_str_are_refused():
    with pytest.raises(ValueError, match="such as 'O', 'B-PER', 'I-PER'. Got [012]"):
        SpanQuery().from_posterior([[1, 2], [0]], FREE, [0, 1, 2])
    message = "Got 1 for token 0 of sentence 0. Map tag indices to their labels"
    with pytest.raises(ValueError, match=message):
        SpanQuery().from_posterior([[1, 2], [0]], FREE, ["O", "B-x", "I-x"])


def test_a_label_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="entity label of the model or in y.*Got 'Z'"):
        SpanQuery("Z").from_posterior(GOLD, FREE, CLASSES)


@pytest.mark.parametrize(
    ("spans", "error", "message"),
    [
        ([[(1, 1, "P", 0.5)], []], ValueError, "start 1 and stop 1 in span 0 of sen"),
        ([[], [(-1, 1, "P", 0.5)]], ValueError, "start -1 and stop 1 in span 0 of"),
        ([[(0, 1, "P", 1.5)], []], ValueError, "Got 1.5 in span 0 of sentence 0"),
        ([[(0, 1, "P", np.nan)], []], ValueError, "Got nan in span 0 of sentence 0"),
        ([[(0, 1, "P")], []], ValueError, "(start, stop, label, probability)"),
        ([[(0, 1, 0.5, "P")], []], ValueError, "as span 0 of sentence 0"),
        ([[(0, 1, "P", "0.5")], []], ValueError, "as span 0 of sentence 0"),
        ([[(0.0, 1, "P", 0.5)], []], ValueError, "as span 0 of sentence 0"),
        ([[(0, 1, "P", 0.5)] * 2, []], ValueError, "twice: span 1 of sentence 0"),
        ([[], 3], TypeError, "Got 3 for sentence 1"),
        ([[]], ValueError, "Got 1 and 2"),
        (None, TypeError, "must be a list with an entry for each sentence. Got None"),
    ],
)
def test_spans_that_do_not_fit_the_sentences_are_refused(spans, error, message):
    with pytest.raises(error, match=re.escape(message)):
        SpanQuery().from_proba(GOLD, spans)


def test_an_estimator_without_a_posterior_is_refused():
    with pytest.raises(ValueError, match="must have a posterior method. Got Token"):
        SpanQuery()(TokenFeatures(), X, Y)


# On tweets with their entities


@pytest.mark.slow
def test_entities_in_tweets():
    """The Broad Twitter Corpus: laws of probabilities, and a calibrated model."""
    folder = Path(os.environ.get("SKCALIB_DATA", "nowhere")) / "emoticon_tweets"
    if not (folder / "btc_a.conll").exists():
        pytest.skip("SKCALIB_DATA names no folder with emoticon_tweets/btc_a.conll")
    words, tags = [], []
    for part in "ab":
        found = read_conll_columns(folder / f"btc_{part}.conll")
        words += found[0]
        tags += found[1]
    test = np.arange(len(words)) % 3 == 0
    train = [[each[i] for i in np.flatnonzero(~test)] for each in (words, tags)]
    held_out = [[each[i] for i in np.flatnonzero(test)] for each in (words, tags)]
    model = make_pipeline(TokenFeatures("basic"), CRFTagger(c2=0.03)).fit(*train)
    predicted = SpanQuery()(model, *held_out)
    assert len(predicted) > 50
    result = calibration_error_interval(
        predicted.y_true, predicted.y_proba, groups=predicted.groups
    )
    assert np.isfinite([result.estimate, result.low, result.high]).all()
    assert 0 < predicted.y_true.mean() < 1
    every = SpanQuery(spans="all", max_length=5)(model, *held_out)
    assert ((every.y_proba >= 0) & (every.y_proba <= 1)).all()
    frame = every.frame()
    by_span = frame.groupby(["groups", "start", "stop"])["y_proba"].sum()
    assert by_span.max() <= 1 + 1e-9
    # what is expected of all spans comes near what there is
    assert every.y_proba.sum() == pytest.approx(every.y_true.sum(), rel=0.25)
    # a predicted span has the probability that it has among all spans
    place = dict(zip(asked(every), every.y_proba, strict=True))
    for key, q in zip(asked(predicted), predicted.y_proba, strict=True):
        if key[2] - key[1] <= 5:
            assert place[key] == pytest.approx(q, abs=1e-12)


def test_the_door_for_probabilities_is_that_of_other_queries():
    gold, proba = [["B-PER", "I-PER", "O"]], [[(0, 2, "PER", 0.7)]]
    found = SpanQuery().from_proba(y_true=gold, proba=proba, classes=None)
    assert found.y_proba.tolist() == [0.7]


IOBES = {"U-PER": "S-PER", "L-PER": "E-PER"}


@pytest.mark.parametrize("name", ["IOBES", "bioes"])
@pytest.mark.parametrize("spans", ["predicted", "all"])
def test_iobes_is_bilou_with_other_letters(name, spans):
    classes = ["O", "B-PER", "I-PER", "L-PER", "U-PER"]
    scores = np.random.default_rng(0).normal(size=(3, 6, 5))
    posterior = LinearChainPosterior(list(scores), np.zeros((5, 5)))
    y = [["U-PER", "O", "B-PER", "I-PER", "L-PER", "O"]] * 3
    found = [
        SpanQuery(scheme=scheme, spans=spans, max_length=3).from_posterior(
            [[names.get(tag, tag) for tag in tags] for tags in y],
            posterior,
            [names.get(tag, tag) for tag in classes],
        )
        for scheme, names in (("BILUO", {}), (name, IOBES))
    ]
    assert found[0].y_true.sum() > 0 or spans == "predicted"
    for column in ("y_true", "y_proba", "item", "groups"):
        np.testing.assert_array_equal(*(getattr(a, column) for a in found))


IOB1 = [["I-PER", "O", "I-LOC", "B-LOC"], ["O"]]
SAYS_IOB1 = r"has 'I-PER',.*convert_tags.* 'IOB1'\.$"


@pytest.mark.parametrize(
    ("scheme", "tags", "n_lost"),
    [
        ("BIO", "O I-PER", 1),
        ("BIO", "I-", 1),
        ("BILOU", "I-PER I-PER", 2),
        ("BILOU", "B-PER O", 1),
        ("BILOU", "L-PER U-LOC", 1),
        ("IOBES", "B-PER E-LOC", 2),
    ],
)  # seqeval 1.2.2 in strict mode reads U-LOC and no other entity
def test_malformed_tags_in_y_are_not_part_of_an_entity(scheme, tags, n_lost):
    y, spans = [tags.split()], [(0, 1, "PER", 0.5), (1, 2, "LOC", 0.75)]
    message = f"^{n_lost} of {len(y[0])} tags in y_true .* No valid tagging has"
    with pytest.warns(UserWarning, match=message):
        answers = SpanQuery(scheme=scheme).from_proba(y, [spans[: len(y[0])]])
    assert answers.y_true.tolist() == [0, int("U-LOC" in y[0])][: len(y[0])]


def test_iob1_tags_in_y_give_a_warning_that_names_the_scheme():
    with pytest.warns(UserWarning, match=f"^1 of 5 tags in y_true .*{SAYS_IOB1}"):
        SpanQuery().from_proba(IOB1, [[(3, 4, "LOC", 0.5)], []])


def test_classes_without_a_beginning_are_an_error():
    tagger = CRFTagger().fit([["Ada", "saw", "Rome", "Bonn"], ["x"]], IOB1)
    with pytest.raises(ValueError, match=f"'classes' .*{SAYS_IOB1}"):
        SpanQuery()(tagger, [["Ada"]], [["O"]])


def test_iob1_labels_with_probabilities_of_spans():
    answers = SpanQuery(scheme="IOB1").from_proba(
        [["I-PER", "B-PER", "I-PER"]], [[(0, 1, "PER", 0.5), (0, 3, "PER", 0.25)]]
    )
    assert answers.y_true.tolist() == [1, 0]


@pytest.mark.parametrize("scheme", ["IOB1", "IOE1", "IOE2"])
def test_schemes_without_probabilities_name_the_conversion(scheme):
    posterior = LinearChainPosterior([np.zeros((1, 2))], np.zeros((2, 2)))
    with pytest.raises(ValueError, match=f"Got '{scheme}'. Convert .*convert_tags"):
        SpanQuery(scheme=scheme).from_posterior([["O"]], posterior, ["O", "I-PER"])


def test_other_labels_of_entities_give_a_warning():
    gold = [["B-PER", "O"]] * 4
    tagger = HMMTagger().fit([["Ada", "ran"]] * 4, [["B-NAME", "O"]] * 4)
    with pytest.warns(UserWarning, match=r"y has \['PER'\], and the model \['NAME'\]"):
        SpanQuery()(tagger, [["Ada", "ran"]] * 4, gold)


def test_spans_with_other_names_of_labels_give_a_warning():
    with pytest.warns(
        UserWarning, match=r"y has \['PER'\], and the model \['PERSON'\]"
    ):
        SpanQuery().from_proba([["B-PER", "I-PER"]], [[(0, 2, "PERSON", 0.9)]])
