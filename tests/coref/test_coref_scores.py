"""Cluster metrics: published values, definitions by brute force, and laws."""

import itertools
import json
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st

from skcalib.coref import coref_scores


def clusters(text):
    """Return clusters written as 'ab c': a letter is a mention."""
    return [set(part) for part in text.split()]


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0


# Cases of the reference scorer's test suite, (recall, precision) there as here.
REFERENCE = [
    ("a bc def", "a bc def", {"muc": (1, 1), "b3": (1, 1), "ceafe": (1, 1)}),
    ("a bc def", "a de", {"muc": (1 / 3, 1), "b3": (7 / 18, 1), "ceafe": (0.6, 0.9)}),
    (
        "a bc def",
        "a bcx defy z",
        {"muc": (1, 3 / 5), "b3": (1, (4 + 7 / 12) / 9), "ceafe": (0.88571, 0.66429)},
    ),
    (
        "a bc def",
        "a bcx dy z",
        {"muc": (1 / 3, 1 / 3), "b3": (10 / 18, 17 / 42), "ceafe": (0.73333, 0.55)},
    ),
    (
        "a bc def",
        "a bcxB dy z",
        {"muc": (1 / 3, 1 / 4), "b3": (5 / 9, 5 / 16), "ceafe": (0.68889, 0.51667)},
    ),
    (
        "a bc def",
        "a bcx dy Bz",
        {"muc": (1 / 3, 1 / 4), "b3": (5 / 9, 17 / 48), "ceafe": (0.73333, 0.55)},
    ),
    ("a bc def", "a b c d e f", {"muc": (0, 0), "b3": (3 / 6, 1)}),
    ("a bc def", "abcdef", {"muc": (1, 3 / 5), "b3": (1, 14 / 36)}),
    ("a bc def", "a b d e x y z", {"muc": (0, 0), "b3": (13 / 36, 4 / 7)}),
    ("a bc def", "abdexyz", {"muc": (1 / 3, 1 / 6), "b3": (17 / 36, 6 / 49)}),
    ("abcde fg hijkl", "abcde fghijkl", {"muc": (1, 9 / 10), "b3": (1, 16 / 21)}),
    ("abcde fg hijkl", "abcdehijkl fg", {"muc": (1, 9 / 10), "b3": (1, 7 / 12)}),
    ("abcd", "ab cd", {"muc": (2 / 3, 1)}),
    ("ab cd", "abcd", {"muc": (1, 2 / 3)}),
    ("abc", "ab", {"muc": (1 / 2, 1)}),
]


@pytest.mark.parametrize(("true", "pred", "expected"), REFERENCE)
def test_cases_of_the_reference_scorer(true, pred, expected):
    scores = coref_scores([clusters(true)], [clusters(pred)])
    for name, (recall, precision) in expected.items():
        assert scores[name].recall == pytest.approx(recall, abs=5e-6)
        assert scores[name].precision == pytest.approx(precision, abs=5e-6)
        assert scores[name].f1 == pytest.approx(f1(precision, recall), abs=5e-6)


@pytest.mark.parametrize(
    ("pred", "expected"),
    [
        ("abcde fghijkl", [0.947, 0.865, 0.733, 0.833]),
        ("abcdehijkl fg", [0.947, 0.737, 0.667, 0.583]),
        ("abcdefghijkl", [0.900, 0.545, 0.294, 0.417]),
        ("a b c d e f g h i j k l", [0, 0.400, 0.178, 0.250]),
    ],
)
def test_table_of_luo(pred, expected):
    """F1 of four answers to one key, Luo (2005)."""
    scores = coref_scores([clusters("abcde fg hijkl")], [clusters(pred)])
    found = [scores[name].f1 for name in ("muc", "b3", "ceafe", "ceafm")]
    assert found == pytest.approx(expected, abs=6e-4)


def test_example_of_lea():
    """By hand: {a b c} in two parts, {d e f g} with three of its six pairs."""
    scores = coref_scores([clusters("abc defg")], [clusters("ab cd fgh i")])
    # key: 3 * 1/3 + 4 * (1 of 6 pairs, fg) over 7
    assert scores["lea"].recall == pytest.approx((3 / 3 + 4 / 6) / 7)
    # response: ab is right, cd wrong, fgh one pair of three, i no mention of the key
    assert scores["lea"].precision == pytest.approx((2 + 0 + 3 / 3 + 0) / 8)


def test_greedy_pairs_of_clusters_are_not_enough():
    # greedy takes (0123, 0145)? then 456 is left with 6: less than the best
    scores = coref_scores([clusters("0123 456")], [clusters("0145 23 6")])
    best = 2 * 2 / (4 + 2) + 2 * 2 / (3 + 4)
    assert scores["ceafe"].recall == pytest.approx(best / 2)
    assert scores["ceafe"].precision == pytest.approx(best / 3)


# Expected (recall, precision, F1) of BLANC and CEAFm in the reference scorer's tests.
BLANC = [
    ("a bc def", "a bc def", (1, 1, 1)),
    ("a bc def", "a de", (0.21591, 1, 0.35385)),
    ("a bc def", "a bcx defy z", (1, 0.42593, 0.59717)),
    ("a bc def", "a bcx dy z", (0.35227, 0.27206, 0.30357)),
    ("a bc def", "a bcxB dy z", (0.35227, 0.19048, 0.24716)),
    ("a bc def", "a bcx dy Bz", (0.35227, 0.20870, 0.25817)),
    ("a bc def", "a b c d e f", (0.5, 0.36667, 0.42308)),
    ("a bc def", "abcdef", (0.5, 0.13333, 0.21053)),
    ("a bc def", "a b d e x y z", (0.22727, 0.11905, 0.15625)),
    ("a bc def", "abdexyz", (0.125, 0.02381, 0.04)),
    # links of one kind only in the key
    ("abcdef", "abcdef", (1, 1, 1)),
    ("abcdef", "a b c d e f", (0, 0, 0)),
    ("abcdef", "ab cde f", (0.26667, 1, 0.42105)),
    ("abcdef", "abcxyz", (0.2, 0.2, 0.2)),
    ("abcdef", "a b c x y z", (0, 0, 0)),
    ("abcdef", "ab cxy z", (0.06667, 0.25, 0.10526)),
    ("a b c d e f", "a b c d e f", (1, 1, 1)),
    ("a b c d e f", "abcdef", (0, 0, 0)),
    ("a b c d e f", "ab cde f", (0.73333, 1, 0.84615)),
    ("a b c d e f", "a b c x y z", (0.2, 0.2, 0.2)),
    ("a b c d e f", "abcxyz", (0, 0, 0)),
    ("a b c d e f", "ab cxy z", (0.13333, 0.18182, 0.15385)),
]
CEAFM = [
    ("a bc def", "a bc def", (1, 1, 1)),
    ("a bc def", "a de", (0.5, 1, 0.66667)),
    ("a bc def", "a bcx defy z", (1, 0.66667, 0.8)),
    ("a bc def", "a bcx dy z", (0.66667, 0.57143, 0.61538)),
    ("a bc def", "a bcxB dy z", (0.66667, 0.5, 0.57143)),
    ("a bc def", "a bcx dy Bz", (0.66667, 0.5, 0.57143)),
]


def test_blanc_and_ceafm_of_the_reference_scorer():
    cases = [("blanc", *case) for case in BLANC] + [("ceafm", *case) for case in CEAFM]
    for name, true, pred, expected in cases:
        with case(f"{name}, {true}, {pred}"):
            recall, precision, score = expected
            found = coref_scores([clusters(true)], [clusters(pred)])[name]
            assert found == pytest.approx((precision, recall, score), abs=5e-6)


def test_blanc_of_gold_mentions_is_the_mean_of_two_f1_scores():
    """By hand, with the counts of links of Recasens and Hovy (2011).

    Of the 15 pairs of abc def against ab cdef, ab, de, df, ef are together in both
    (of 6 and 7), and 6 of the others are apart in both (of 9 and 8).
    """
    scores = coref_scores([clusters("abc def")], [clusters("ab cdef")])
    precision = (4 / 7 + 6 / 8) / 2
    recall = (4 / 6 + 6 / 9) / 2
    f = (2 * 4 / (6 + 7) + 2 * 6 / (9 + 8)) / 2
    assert scores["blanc"] == pytest.approx((precision, recall, f))


def test_example_of_the_reference_implementation():
    """Pradhan et al. (2014): key abc defg, response ab cd fghi."""
    scores = coref_scores([clusters("abc defg")], [clusters("ab cd fghi")])
    # abc with ab and defg with fghi: 2 + 2 mentions of 7 and 8
    assert scores["ceafm"] == pytest.approx((4 / 8, 4 / 7, 8 / 15))
    # links ab, fg of 8 and 9; of the 9 pairs of a, b, c with d, f, g all but cd are
    # apart in both, of 20 and 12
    expected = ((2 / 8 + 8 / 20) / 2, (2 / 9 + 8 / 12) / 2, (4 / 17 + 16 / 32) / 2)
    assert scores["blanc"] == pytest.approx(expected)


def test_one_mention_has_no_links():
    scores = coref_scores([clusters("a")], [clusters("a")])
    assert scores["blanc"] == (0, 0, 0)
    assert scores["ceafm"] == (1, 1, 1)


def links(cluster):
    return set(map(frozenset, itertools.combinations(cluster, 2)))


def spanning(cluster, others):
    """Count the links of a cluster that survive in the other side, as MUC does."""
    parts = [part for other in others if (part := cluster & other)]
    n_parts = len(parts) + len(cluster - set().union(*others))
    return len(cluster) - n_parts


def by_definition(true, pred):
    """Return numerators and denominators of each metric, as its paper writes it."""
    found = {}
    for side, (own, other) in {"p": (pred, true), "r": (true, pred)}.items():
        own_links = set().union(*map(links, own))
        other_links = set().union(*map(links, other))
        found["pairwise", side] = len(own_links & other_links), len(own_links)
        found["muc", side] = (
            sum(spanning(c, other) for c in own),
            sum(len(c) - 1 for c in own),
        )
        mentions = [(m, c) for c in own for m in c]
        home = {m: c for c in other for m in c}
        found["b3", side] = (
            sum(Fraction(len(c & home.get(m, set())), len(c)) for m, c in mentions),
            len(mentions),
        )
        found["lea", side] = (
            sum(
                len(c)
                * (
                    Fraction(
                        sum(len(links(c) & links(o)) for o in other), len(links(c))
                    )
                    if len(c) > 1
                    else int(c in other)
                )
                for c in own
            ),
            len(mentions),
        )
    small, large = sorted((true, pred), key=len)
    orders = list(itertools.permutations(large, len(small)))
    aligned = [list(zip(small, order, strict=True)) for order in orders]
    best = max(
        sum(Fraction(2 * len(a & b), len(a) + len(b)) for a, b in pairs)
        for pairs in aligned
    )
    found["ceafe", "p"] = best, len(pred)
    found["ceafe", "r"] = best, len(true)
    common = max(sum(len(a & b) for a, b in pairs) for pairs in aligned)
    found["ceafm", "p"] = common, sum(map(len, pred))
    found["ceafm", "r"] = common, sum(map(len, true))
    for side, (own, other) in {"p": (pred, true), "r": (true, pred)}.items():
        apart, other_apart = map(links_between, (own, other))
        found["between", side] = len(apart & other_apart), len(apart)
    return found


def links_between(sets):
    together = set().union(*map(links, sets))
    return links(set().union(*sets)) - together


def mean_of_links(within, between):
    """Return BLANC from (correct, all) of both sides, as the scorer averages."""
    kinds = []
    for p, r in (within, between):
        precision, recall = (a / b if b else 0.0 for a, b in (p, r))
        kinds.append((precision, recall, f1(precision, recall)))
    there = [
        kind for kind, (_, r) in zip(kinds, (within, between), strict=True) if r[1]
    ]
    return tuple(map(np.mean, zip(*there, strict=True))) if there else (0, 0, 0)


labelled = st.lists(st.integers(0, 4), max_size=7)
document = labelled.flatmap(
    lambda true: st.tuples(
        st.just(true),
        st.lists(st.integers(0, 4), min_size=len(true), max_size=len(true)),
        st.sets(st.integers(0, 6), max_size=3),
        st.sets(st.integers(0, 6), max_size=3),
    )
)


def sets_of(labels, left_out):
    return [
        {m for m, label in enumerate(labels) if label == k} - left_out
        for k in sorted(set(labels))
    ]


@given(st.lists(document, max_size=3), st.booleans())
def test_sums_of_the_definitions(documents, drop):
    """Different mentions on the two sides, singletons or not, several documents."""
    sides, sums = ([], []), {}
    for true, pred, no_true, no_pred in documents:
        pair = [
            [cluster for cluster in sets_of(*side) if cluster]
            for side in ((true, no_true), (pred, no_pred))
        ]
        for side, each in zip(sides, pair, strict=True):
            side.append(each)
        if drop:
            pair = [[c for c in each if len(c) > 1] for each in pair]
        for key, counts in by_definition(*pair).items():
            before = sums.get(key, (0, 0))
            sums[key] = (before[0] + counts[0], before[1] + counts[1])
    scores = coref_scores(*sides, drop_singletons=drop)
    for name in ("pairwise", "muc", "b3", "ceafe", "ceafm", "lea"):
        p, r = (
            float(Fraction(n) / d) if d else 0.0
            for n, d in (sums.get((name, side), (0, 0)) for side in "pr")
        )
        assert scores[name] == pytest.approx((p, r, f1(p, r)), abs=1e-12)
    within, between = (
        [sums.get((name, side), (0, 0)) for side in "pr"]
        for name in ("pairwise", "between")
    )
    expected = mean_of_links(within, between)
    assert scores["blanc"] == pytest.approx(expected, abs=1e-12)
    mean = np.mean([scores[name].f1 for name in ("muc", "b3", "ceafe")])
    assert scores["conll_f1"] == pytest.approx(mean)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9))
def test_labels_are_clusters_of_places(pairs):
    true, pred = [t for t, _ in pairs], [p for _, p in pairs]
    as_labels = coref_scores([np.array(true, dtype=int)], [pred])
    as_sets = coref_scores([sets_of(true, set())], [sets_of(pred, set())])
    assert as_labels == as_sets
    swapped = coref_scores([pred], [true])
    for name in ("pairwise", "muc", "b3", "ceafe", "ceafm", "lea"):
        p, r, f = as_labels[name]
        assert swapped[name] == pytest.approx((r, p, f))
    if len(set(true)) < len(true):
        assert coref_scores([true], [true])["conll_f1"] == 1


@pytest.mark.parametrize("column", [np.array, pd.Series, tuple])
def test_labels_in_columns(column):
    expected = coref_scores([[0, 0, 1]], [[0, 1, 1]])
    assert coref_scores([column([0, 0, 1])], [column([0, 1, 1])]) == expected


def test_labels_in_tensors(tensor):
    expected = coref_scores([[0, 0, 1]], [[0, 1, 1]])
    assert coref_scores([tensor([0, 0, 1])], [tensor([0, 1, 1])]) == expected


@pytest.mark.parametrize("column", [np.array, pd.Series, tuple])
def test_clusters_in_columns(column):
    expected = coref_scores([clusters("01 2")], [clusters("0 12")])
    true, pred = [column([0, 1]), column([2])], [column([0]), column([1, 2])]
    assert coref_scores([true], [pred]) == expected


def test_mentions_may_be_lists_as_in_json():
    true = json.loads("[[[[0, 1], [4, 5]], [[7, 9]]]]")
    pred = json.loads("[[[[0, 1]], [[4, 5], [7, 9]]]]")
    as_tuples = [[[(0, 1), (4, 5)], [(7, 9)]]], [[{(0, 1)}, {(4, 5), (7, 9)}]]
    expected = coref_scores(*as_tuples)
    assert 0 < expected["conll_f1"] < 1
    assert coref_scores(true, pred) == expected
    assert coref_scores(true, as_tuples[1]) == expected
    spans = [[np.array([[0, 1], [4, 5]]), np.array([[7, 9]])]]
    assert coref_scores(spans, pred) == expected
    nested = [[[[[0, 1], [2, 3]]]]]  # a mention of several parts
    assert coref_scores(nested, nested)["b3"].f1 == 1
    with pytest.raises(ValueError, match=r"Got \(0, 1\) again in cluster 1"):
        coref_scores([[[[0, 1]], [[0, 1]]]], pred)


def test_many_equal_clusters_need_little_memory():
    """All mentions alone, but for one pair that is joined wrongly."""
    n = 4000
    true, pred = np.arange(n), np.arange(n)
    pred[1] = 0
    tracemalloc.start()
    scores = coref_scores([true], [pred])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    best = n - 2 + 2 * 1 / (1 + 2)
    assert scores["ceafe"].precision == pytest.approx(best / (n - 1), rel=1e-12)
    assert scores["ceafe"].recall == pytest.approx(best / n, rel=1e-12)
    assert peak < n * n  # a matrix takes eight times as much


class TestSingletons:
    def test_all_of_them_right(self):
        scores = coref_scores([[0, 1, 2]], [[5, 6, 7]])
        assert scores["muc"] == scores["pairwise"] == (0, 0, 0)
        assert scores["b3"] == scores["ceafe"] == scores["lea"] == (1, 1, 1)
        assert scores["conll_f1"] == pytest.approx(2 / 3)

    def test_dropped_from_both_sides(self):
        # {c} and {d e}: the pair d e of the answer stays, and is wrong
        scores = coref_scores(
            [clusters("ab c d e")], [clusters("ab c de")], drop_singletons=True
        )
        assert scores["b3"] == pytest.approx((0.5, 1, 2 / 3))
        assert scores["ceafe"] == pytest.approx((0.5, 1, 2 / 3))

    def test_nothing_left(self):
        scores = coref_scores([[0, 1]], [[0, 1]], drop_singletons=True)
        assert scores["b3"] == (0, 0, 0)
        assert scores["conll_f1"] == 0


@pytest.mark.parametrize("pred", [[[]], [[], []], []])
def test_nothing(pred):
    true = [[] for _ in pred]
    scores = coref_scores(true, pred)
    assert scores["conll_f1"] == 0
    assert all(scores[name] == (0, 0, 0) for name in scores if name != "conll_f1")


def test_no_answer_has_precision_0():
    scores = coref_scores([clusters("ab c")], [[]])
    assert scores["b3"] == scores["muc"] == (0, 0, 0)


def test_documents_are_added_up_not_averaged():
    scores = coref_scores([[0, 0], [0, 0, 0, 0]], [[0, 1], [0, 0, 0, 0]])
    assert scores["muc"] == pytest.approx((1, 3 / 4, 6 / 7))
    assert scores["pairwise"].recall == pytest.approx(6 / 7)


def test_refused():
    cases = [
        ([[0, 0]], [[]], ValueError, "Got 2 in y_true and 0 in y_pred for document 0"),
        ([[0]], [], ValueError, "as many clusterings in y_true as .* Got 1 and 0"),
        (3, [[0]], TypeError, "'y_true' parameter of coref_scores .* Got int"),
        ([[0]], {1, 2}, TypeError, "'y_pred' parameter of coref_scores .* Got set"),
        ([0, 1], [[0], [0]], TypeError, "Got int as document 0 of the 'y_true'"),
        ([[0]], ["a"], TypeError, "Got str as document 0 of the 'y_pred'"),
        ([[0]], [{0}], TypeError, "Got set as document 0 of the 'y_pred'"),
        ([[0]], [[{0}]], TypeError, "Got labels in y_true and clusters in y_pred"),
        ([[0, {1}]], [[0, 1]], TypeError, "both labels and clusters in document 0"),
        ([[0, np.nan]], [[0, 1]], ValueError, "Got nan as the label of mention 1"),
        ([[0, pd.NA]], [[0, 1]], ValueError, "Got <NA> as the label of mention 1"),
        (np.array([0, 1]), [[0], [0]], TypeError, "Got int64 as document 0 of the"),
        ([np.array(0)], [[0]], TypeError, "Got ndarray as document 0 of the 'y_true'"),
        (np.array(0), [[0]], TypeError, "'y_true' parameter .* Got ndarray"),
        ([[{1, 2}, {2}]], [[{1}]], ValueError, "Got 2 again in cluster 1 of doc"),
        ([[[1, 1]]], [[{1}]], ValueError, "Got 1 again in cluster 0"),
        ([[{1}]], [[{1}, set()]], ValueError, "Got none in cluster 1 of document 0"),
        ([[[{"a": 1}]]], [[{1}]], TypeError, r"hashable.* Got {'a': 1} in cluster 0"),
    ]
    for true, pred, error, message in cases:
        with case(f"{true}, {pred}"), pytest.raises(error, match=message):
            coref_scores(true, pred)
