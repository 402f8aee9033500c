"""The hidden Markov model: every probability by hand, sentences by enumeration."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

from skcalib.sequence import HMMTagger

# Counts, in the order of the tags D, N, V and the words a, bark, dog, dogs, the:
#   start       D 2, N 1, V 0
#   D -> N 2;   N -> V 1;   ends: N 2, V 1
#   D: the 1, a 1;   N: dog 2, dogs 1;   V: bark 1
X = [["the", "dog"], ["a", "dog"], [], ["dogs", "bark"]]
Y = [["D", "N"], ["D", "N"], [], ["N", "V"]]
STARTS = [2, 1, 0]
MOVES = [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
ENDS = [0, 2, 1]
WORDS = [[1, 0, 0, 0, 1, 0], [0, 0, 2, 1, 0, 0], [0, 1, 0, 0, 0, 0]]


def smoothed(counts, pseudocount):
    """Add the pseudocount to each count and divide by the sum, without rounding."""
    total = sum(counts) + len(counts) * F(pseudocount)
    return [(count + F(pseudocount)) / total for count in counts]


def as_log(probabilities):
    return [-math.inf if p == 0 else math.log(p) for p in probabilities]


def same_rows(found, counts, pseudocount):
    expected = [as_log(smoothed(row, pseudocount)) for row in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("pseudocount", [1, F(1, 10), 25])
def test_every_probability_is_a_smoothed_relative_frequency(pseudocount):
    tagger = HMMTagger(float(pseudocount)).fit(X, Y)
    pseudocount = F(float(pseudocount))
    same_rows([tagger.start_log_proba_], [STARTS], pseudocount)
    same_rows(tagger.transition_log_proba_, MOVES, pseudocount)
    same_rows(tagger.emission_log_proba_, WORDS, pseudocount)


def test_words_and_tags_are_in_order_and_the_unknown_word_is_last():
    tagger = HMMTagger().fit(X, Y)
    assert tagger.classes_.tolist() == ["D", "N", "V"]
    assert tagger.vocabulary_ == {"a": 0, "bark": 1, "dog": 2, "dogs": 3, "the": 4}
    assert tagger.emission_log_proba_.shape == (3, 6)


def test_emissions_may_have_their_own_pseudocount():
    tagger = HMMTagger(2.0, emission_pseudocount=0.5).fit(X, Y)
    same_rows([tagger.start_log_proba_], [STARTS], 2)
    same_rows(tagger.transition_log_proba_, MOVES, 2)
    same_rows(tagger.emission_log_proba_, WORDS, F(1, 2))


def test_an_emission_pseudocount_of_zero_is_not_taken_for_none():
    tagger = HMMTagger(2.0, emission_pseudocount=0).fit(X, Y)
    same_rows(tagger.emission_log_proba_, WORDS, 0)


def test_an_unknown_word_counts_as_the_words_that_occur_once():
    # "a" and "the" occur once, with D; "dogs" with N; "bark" with V
    once = [[*row[:-1], count] for row, count in zip(WORDS, [2, 1, 1], strict=True)]
    tagger = HMMTagger(0.5, unknown_words="once").fit(X, Y)
    same_rows(tagger.emission_log_proba_, once, F(1, 2))
    same_rows(tagger.transition_log_proba_, MOVES, F(1, 2))
    same_rows(HMMTagger().fit(X, Y).emission_log_proba_, once, F(1, 100))
    plain = HMMTagger(unknown_words="pseudocount").fit(X, Y)
    same_rows(plain.emission_log_proba_, WORDS, F(1, 100))


def test_repeated_sentences_keep_the_count_of_an_unknown_word():
    # Every count doubles but that of the unknown word, from the words that occur twice.
    twice = [
        [*(2 * count for count in row[:-1]), once]
        for row, once in zip(WORDS, [2, 1, 1], strict=True)
    ]
    tagger = HMMTagger(0.5, unknown_words="once").fit(X + X, Y + Y)
    same_rows(tagger.emission_log_proba_, twice, F(1, 2))


def test_unknown_words_is_one_of_two_names():
    with pytest.raises(ValueError, match="'unknown_words'.*'once', 'pseudocount'"):
        HMMTagger(unknown_words="suffix").fit(X, Y)


@pytest.mark.parametrize("pseudocount", [1, F(1, 4)])
def test_an_end_state_is_one_more_thing_that_follows_a_tag(pseudocount):
    tagger = HMMTagger(float(pseudocount), end_state=True).fit(X, Y)
    moves = [[*row, end] for row, end in zip(MOVES, ENDS, strict=True)]
    found = np.column_stack([tagger.transition_log_proba_, tagger.end_log_proba_])
    same_rows(found, moves, pseudocount)


def test_without_an_end_state_ending_costs_nothing():
    assert HMMTagger().fit(X, Y).end_log_proba_.tolist() == [0, 0, 0]


def joint(words, tags, pseudocount, end_state):
    """Return P(words, tags) from the counts above, without rounding."""
    places = {"a": 0, "bark": 1, "dog": 2, "dogs": 3, "the": 4}
    moves = [[*r, e] for r, e in zip(MOVES, ENDS, strict=True)] if end_state else MOVES
    p = smoothed(STARTS, pseudocount)[tags[0]]
    for before, after in itertools.pairwise(tags):
        p *= smoothed(moves[before], pseudocount)[after]
    for word, tag in zip(words, tags, strict=True):
        p *= smoothed(WORDS[tag], pseudocount)[places.get(word, 5)]
    return p * smoothed(moves[tags[-1]], pseudocount)[3] if end_state else p


SENTENCES = [["the", "dogs", "bark"], ["dog"], ["cats", "meow", "the", "a"]]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("pseudocount", [F(1), F(1, 8)])
@pytest.mark.parametrize("end_state", [False, True])
def test_probabilities_sum_over_all_taggings(sentence, pseudocount, end_state):
    tagger = HMMTagger(float(pseudocount), end_state=end_state).fit(X, Y)
    table = {
        tags: joint(sentence, tags, pseudocount, end_state)
        for tags in itertools.product(range(3), repeat=len(sentence))
    }
    total = sum(table.values())
    expected = [
        [float(sum(p for t, p in table.items() if t[i] == k) / total) for k in range(3)]
        for i in range(len(sentence))
    ]
    np.testing.assert_allclose(tagger.predict_proba([sentence])[0], expected)
    log_z = tagger.posterior([sentence]).log_partition()
    assert log_z == pytest.approx([math.log(total)])
    best = max(table, key=table.get)
    assert tagger.predict([sentence])[0] == ["DNV"[k] for k in best]


# Without smoothing


def test_without_smoothing_what_never_occurred_is_impossible():
    tagger = HMMTagger(0).fit(X, Y)
    same_rows([tagger.start_log_proba_], [STARTS], 0)
    same_rows(tagger.transition_log_proba_[:2], MOVES[:2], 0)
    assert (tagger.transition_log_proba_[2] == -np.inf).all()  # V only ever ends
    proba = tagger.predict_proba([["the", "dog"], ["dogs", "bark"]])
    np.testing.assert_array_equal(proba[0], [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(proba[1], [[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("ask", ["predict", "predict_proba"])
def test_without_smoothing_an_unknown_word_makes_its_sentence_impossible(ask):
    tagger = HMMTagger(0).fit(X, Y)
    with pytest.raises(ValueError, match="no tagging of sequence 1"):
        getattr(tagger, ask)([["the", "dog"], ["the", "cat"]])


def test_smoothed_emissions_let_an_unknown_word_pass():
    """D N has 2/3 * 2/8 * 1/9 = 1/54, N V has 1/3 * 1/9 * 1/7 = 1/189: 7 to 2."""
    tagger = HMMTagger(0, emission_pseudocount=1).fit(X, Y)
    proba = tagger.predict_proba([["the", "cat"]])[0]
    np.testing.assert_allclose(proba, [[7 / 9, 2 / 9, 0], [0, 7 / 9, 2 / 9]])


@pytest.mark.parametrize("pseudocount", [1e-300, 1e12])
def test_extreme_pseudocounts_give_probabilities(pseudocount):
    proba = HMMTagger(pseudocount).fit(X, Y).predict_proba(SENTENCES)
    for each in proba:
        np.testing.assert_allclose(each.sum(axis=1), 1)


def test_an_immense_pseudocount_believes_nothing():
    proba = HMMTagger(1e12).fit(X, Y).predict_proba([["the", "dog"]])[0]
    np.testing.assert_allclose(proba, np.full((2, 3), 1 / 3), atol=1e-10)


# Manners


def test_fitting_again_forgets():
    tagger = HMMTagger().fit(X, Y).fit([["x"]], [["A"]])
    assert tagger.classes_.tolist() == ["A"]
    assert tagger.vocabulary_ == {"x": 0}


def test_case_is_kept():
    assert HMMTagger().fit([["The", "the"]], [["A", "B"]]).vocabulary_.keys() == {
        "The",
        "the",
    }


# What is refused


@pytest.mark.parametrize(
    ("token", "name"),
    [(7, "int 7"), (None, "None"), (b"a", "bytes"), ({"w": 1}, "dict"), (1.5, "float")],
)
@pytest.mark.parametrize("ask", ["fit", "predict"])
def test_a_token_that_is_no_word_is_named_by_sentence_and_place(token, name, ask):
    words = [["a", "b"], ["a", token]]
    tagger = HMMTagger().fit([["a"]], [["A"]])
    more = ([["A", "B"]] * 2,) if ask == "fit" else ()
    with pytest.raises(TypeError, match=f"{name}.* in sentence 1, token 1"):
        getattr(tagger, ask)(words, *more)


@pytest.mark.parametrize(
    ("parameter", "value", "error", "message"),
    [
        ("pseudocount", -1, ValueError, r"a number in \[0, 1e\+12\]. Got -1"),
        ("pseudocount", math.nan, ValueError, "Got nan"),
        ("pseudocount", math.inf, ValueError, "Got inf"),
        ("pseudocount", "1", TypeError, "Got '1'"),
        ("pseudocount", True, TypeError, "Got True"),
        ("emission_pseudocount", -0.5, ValueError, "Got -0.5"),
        ("emission_pseudocount", "auto", TypeError, "Got 'auto'"),
        ("end_state", "no", TypeError, "must be True or False. Got 'no'"),
        ("decoding", "best", ValueError, "one of 'viterbi', 'posterior'. Got 'best'"),
    ],
)
def test_parameters_are_checked_at_fit(parameter, value, error, message):
    tagger = HMMTagger(**{parameter: value})
    with pytest.raises(error, match=f"'{parameter}' parameter of HMMTagger.*{message}"):
        tagger.fit(X, Y)
