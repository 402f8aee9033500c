"""Probabilities of stretches of tokens, and of entities in BIO and BILOU."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.posteriors import LinearChainPosterior

K = 3


def every_span(n, rng):
    """Return all stretches of n tokens with random sets of tags, and as sets."""
    spans = []
    for start in range(n):
        for stop in range(start + 1, n + 1):
            allowed = rng.random((stop - start, K)) < 0.6
            spans.append((start, [set(np.flatnonzero(row)) for row in allowed]))
    return spans


def by_enumeration(every, span):
    start, tags = span
    inside = [
        all(path[start + k] in some for k, some in enumerate(tags))
        for path in every.paths
    ]
    return every.proba[inside].sum()


def test_spans_are_sums_over_the_paths_through_the_sets(any_chain, every_path):
    emissions, *rest = any_chain
    rng = np.random.default_rng(0)
    spans = [every_span(len(e), rng) for e in emissions]
    found = LinearChainPosterior(*any_chain).span_marginals(spans)
    assert [f.shape for f in found] == [(len(s),) for s in spans]
    for emission, some, proba in zip(emissions, spans, found, strict=True):
        every = every_path(emission, *rest)
        expected = [by_enumeration(every, span) for span in some]
        np.testing.assert_allclose(proba, expected, atol=1e-10)


# Entities, defined by what can be read off a path

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def entities_in_bio(tags):
    """Return (start, stop, type) of each entity: B, then I of the same type."""
    found = []
    for start, tag in enumerate(tags):
        if tag[0] == "B":
            stop = start + 1
            while stop < len(tags) and tags[stop] == "I" + tag[1:]:
                stop += 1
            found.append((start, stop, tag[2:]))
    return found


def span_of_entity_in_bio(start, stop, kind, n):
    tags = [{BIO.index("B-" + kind)}]
    tags += [{BIO.index("I-" + kind)}] * (stop - start - 1)
    if stop < n:
        tags.append(set(range(len(BIO))) - {BIO.index("I-" + kind)})
    return start, tags


BILOU = ["O", "B-X", "I-X", "L-X", "U-X"]


def entities_in_bilou(tags):
    """Return (start, stop, type) of each entity: U, or B, any number of I, and L."""
    text = "".join(tag[0] for tag in tags)
    found = []
    for start, stop in itertools.combinations(range(len(tags) + 1), 2):
        inner = text[start:stop]
        if inner == "U" or (len(inner) > 1 and inner == f"B{'I' * (len(inner) - 2)}L"):
            found.append((start, stop, "X"))
    return found


def span_of_entity_in_bilou(start, stop, kind, n):
    if stop - start == 1:
        return start, [BILOU.index("U-" + kind)]
    inside = [BILOU.index("I-" + kind)] * (stop - start - 2)
    return start, [BILOU.index("B-" + kind), *inside, BILOU.index("L-" + kind)]


@pytest.mark.parametrize(
    ("labels", "kinds", "entities", "span_of"),
    [
        (BIO, "XY", entities_in_bio, span_of_entity_in_bio),
        (BILOU, "X", entities_in_bilou, span_of_entity_in_bilou),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_exactly_one_entity_of_a_type(
    every_path, labels, kinds, entities, span_of, seed
):
    """Not only in valid paths: a stray I may follow anything here."""
    rng = np.random.default_rng(seed)
    n = 4
    emission = rng.normal(size=(n, 5)) * 2
    transition, start, end = (
        rng.normal(size=shape) * 2 for shape in [(5, 5), (5,), (5,)]
    )
    transition[0, 2] = -np.inf
    every = every_path(emission, transition, start, end)
    asked = [
        (a, b, kind)
        for kind in kinds
        for a, b in itertools.combinations(range(n + 1), 2)
    ]
    expected = dict.fromkeys(asked, 0.0)
    for path, p in zip(every.paths, every.proba, strict=True):
        for entity in entities([labels[tag] for tag in path]):
            expected[entity] += p
    posterior = LinearChainPosterior([emission], transition, start, end)
    (found,) = posterior.span_marginals([[span_of(*each, n) for each in asked]])
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-12)
    assert found.max() > 0.01


# Laws


@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.5, 5.0, 100.0, 1000.0]),
    start=st.integers(0, 3),
    size=st.integers(1, 3),
)
def test_all_label_sequences_of_a_span_sum_to_one(
    random_chain, seed, scale, start, size
):
    posterior = LinearChainPosterior(*random_chain(seed, scale, 0.3, lengths=(6,)))
    sequences = itertools.product(range(K), repeat=size)
    (found,) = posterior.span_marginals([[(start, tags) for tags in sequences]])
    assert found.sum() == pytest.approx(1, abs=1e-10)


# Ways to say it


def test_indices_sets_and_masks_say_the_same(random_chain):
    posterior = LinearChainPosterior(*random_chain(0, lengths=(4,)))
    same = [
        (1, [0, 2]),
        (1, (0, 2)),
        (1, np.array([0, 2])),
        (1, [{0}, [2]]),
        (np.int64(1), [frozenset({0}), np.array([2])]),
        (1, np.array([[True, False, False], [False, False, True]])),
        [1, iter([0, 2])],
    ]
    (found,) = posterior.span_marginals([same])
    assert len(set(found.tolist())) == 1


def test_everything_allowed_is_certain_and_nothing_allowed_impossible(random_chain):
    posterior = LinearChainPosterior(*random_chain(0, lengths=(4,)))
    spans = [(0, [range(3)] * 4), (0, np.ones((4, 3), dtype=bool)), (2, [0, []])]
    (found,) = posterior.span_marginals([spans])
    np.testing.assert_allclose(found, [1, 1, 0], atol=1e-13)


def test_sequences_may_have_no_spans(random_chain):
    posterior = LinearChainPosterior(*random_chain(0, lengths=(2, 0, 3)))
    assert [f.shape for f in posterior.span_marginals([[], [], []])] == [(0,)] * 3
    found = posterior.span_marginals([[], (), [(0, 1)]])
    assert [f.shape for f in found] == [(0,), (0,), (1,)]
    assert LinearChainPosterior([], np.zeros((2, 2))).span_marginals([]) == []


# Numbers of any size


def test_long_spans_of_ten_thousand_tokens():
    rng = np.random.default_rng(0)
    posterior = LinearChainPosterior(
        [rng.normal(size=(10_000, 2)), np.zeros((3, 2))], np.eye(2)
    )
    whole, part = (0, [{0, 1}] * 10_000), (4000, [0] * 3)
    found = posterior.span_marginals([[whole, part], [(0, [0, 0, 0])]])
    assert found[0][0] == pytest.approx(1, abs=1e-9)
    tokens = posterior.token_marginals()[0]
    table = posterior.pair_marginals()[0]
    step = table[4001, 0, 0] / tokens[4001, 0]
    assert found[0][1] == pytest.approx(table[4000, 0, 0] * step)


def test_an_unlikely_span_becomes_certain_where_nothing_else_can_end():
    """Tag 1 has exp(-100) a token, but only tag 1 may end."""
    emission = np.tile([0.0, -100.0], (30, 1))
    transition = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    posterior = LinearChainPosterior([emission], transition, None, [-np.inf, 0])
    (found,) = posterior.span_marginals([[(0, [1] * 30), (3, [1, 1]), (3, [0, 0])]])
    np.testing.assert_allclose(found, [1, 1, 0])


# What is refused


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([[]], "entry for each of the 2 sequences. Got 1"),
        ([[], [(0, [0, 1])]], "tokens 0 to 1 as span 0 of sequence 1, which has 1"),
        ([[(0, 0), (-1, 0)], []], "tokens -1 to -1 as span 1 of sequence 0"),
        ([[(2, 0)], []], "tokens 2 to 2 as span 0 of sequence 0, which has 2 tokens"),
        ([[(0, 2)], []], "from 0 to 1. Got 2 in span 0 of sequence 0"),
        ([[(0, [0, {-1}])], []], "from 0 to 1. Got -1 in span 0 of sequence 0"),
        ([[(0, [])], []], "at least one token. Got none in span 0 of sequence 0"),
        ([[], [(0, ["B"])]], "a tag index or a set of them .* Got 'B' in span 0 of"),
        ([[(0, "BI")], []], "a tag index or a set of them .* Got 'BI' in span 0"),
        ([[(0, [0.5])], []], "a tag index or a set of them .* Got 0.5"),
        ([[(0, [{0.5}])], []], "a tag index or a set of them .* Got {0.5}"),
        ([[(0, [[True, False]])], []], "a set of them .* Got .True, False. in span"),
        ([[(0, [True])], []], "a tag index or a set of them .* Got True"),
        ([[(0, np.array(1))], []], r"Got array\(1\) in span 0 of seq"),
        ([[(0.0, 1)], []], r"\(first token, tags of each token\) .* as span 0 of"),
        ([[(0, 1, 1)], []], r"\(first token, tags of each token\)"),
        ([[3], []], r"\(first token, tags of each token\) .* Got 3 as span 0"),
        ([[(0, np.ones((1, 3), bool))], []], r"\(n_tokens, 2\). Got shape \(1, 3\)"),
    ],
)
def test_spans_that_do_not_fit_are_refused(spans, message):
    posterior = LinearChainPosterior(
        [np.zeros((2, 2)), np.zeros((1, 2))], np.zeros((2, 2))
    )
    expected = f"'spans' parameter of LinearChainPosterior.span_marginals .*{message}"
    with pytest.raises(ValueError, match=expected):
        posterior.span_marginals(spans)


@pytest.mark.parametrize("spans", [None, 3, "spans", np.array(3), {0: []}, iter([[]])])
def test_spans_that_are_no_list_are_refused(spans):
    posterior = LinearChainPosterior([np.zeros((2, 2))], np.zeros((2, 2)))
    with pytest.raises(TypeError, match="'spans' .* list with the spans of each"):
        posterior.span_marginals(spans)


def test_an_entry_that_is_no_list_of_spans_is_named():
    posterior = LinearChainPosterior([np.zeros((2, 2))] * 2, np.zeros((2, 2)))
    for entry, shown in ((3, "3"), (np.array(3), r"array\(3\)")):
        with pytest.raises(TypeError, match=f"'spans' .* Got {shown} for sequence 1"):
            posterior.span_marginals([[], entry])
