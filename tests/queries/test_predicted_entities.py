"""Entities predicted in new text, against enumeration of all taggings."""

import itertools

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skcalib.datasets import read_conll_columns
from skcalib.experimental import PredictedEntities, predicted_entities
from skcalib.posteriors import LinearChainPosterior
from skcalib.sequence import HMMTagger

CLASSES = {
    "BIO": ["O", "B-x", "I-x", "B-y", "I-y"],
    "BILOU": ["O", "B-x", "I-x", "L-x", "U-x"],
    "BIOES": ["O", "B-x", "I-x", "E-x", "S-x"],
}


def read(tags, scheme):
    """Return the entities of a tagging, by a reader written for these tests only."""
    found, open_at, label = set(), None, None
    tags = [tag.replace("E-", "L-").replace("S-", "U-") for tag in tags] + ["O"]
    for t, tag in enumerate(tags):
        prefix, name = tag[0], tag[2:]
        goes_on = open_at is not None and prefix in "IL" and name == label
        if open_at is not None and not goes_on:
            if scheme == "BIO":
                found.add((open_at, t, label))
            open_at = None
        if goes_on and prefix == "L":
            found.add((open_at, t + 1, label))
            open_at = None
        if prefix == "U":
            found.add((t, t + 1, name))
        if prefix == "B":
            open_at, label = t, name
    return found


def enumerated(posterior, classes, scheme):
    """Return the probability of each entity by the sum over all taggings."""
    total = {}
    n = int(posterior.lengths[0])
    paths = list(itertools.product(range(len(classes)), repeat=n))
    same = posterior.log_transition, posterior.log_start, posterior.log_end
    copies = LinearChainPosterior([posterior.log_emission] * len(paths), *same)
    every = copies.log_proba(paths)
    for path, p in zip(paths, np.exp(every).tolist(), strict=True):
        for entity in read([classes[k] for k in path], scheme):
            total[entity] = total.get(entity, 0.0) + p
    return total


def draw(seed, n, n_tags=5, scale=2.0):
    rng = np.random.default_rng(seed)
    return LinearChainPosterior(
        [rng.normal(0, scale, (n, n_tags))],
        rng.normal(0, scale, (n_tags, n_tags)),
        rng.normal(0, 1, n_tags),
        rng.normal(0, 1, n_tags),
    )


@pytest.mark.parametrize("scheme", ["BIO", "BILOU", "BIOES"])
@pytest.mark.parametrize("threshold", [0.02, 0.3, 0.6])
def test_spans_above_a_threshold_are_those_of_the_enumeration(scheme, threshold):
    for seed in range(3):
        posterior = draw(seed, 4)
        classes = CLASSES[scheme]
        expected = {
            entity: p
            for entity, p in enumerated(posterior, classes, scheme).items()
            if p >= threshold
        }
        found = predicted_entities(
            posterior, classes, scheme=scheme, threshold=threshold
        )
        got = {row[:3]: row[3] for row in found.spans()[0]}
        assert got.keys() == expected.keys()
        assert all(got[key] == pytest.approx(expected[key], abs=1e-10) for key in got)


@pytest.mark.parametrize(
    ("scheme", "path"), [("BIO", "BIIIO"), ("BILOU", "BIILO"), ("BIOES", "BIIEO")]
)
def test_a_long_entity_whose_tags_are_nearly_certain_is_found(scheme, path):
    """Tokens are independent, with the odds e^8 of their tag over each other tag."""
    classes = CLASSES[scheme]
    scores = np.zeros((5, 5))
    scores[range(5), [[tag[0] for tag in classes].index(prefix) for prefix in path]] = 8
    found = predicted_entities(
        LinearChainPosterior([scores]), classes, scheme=scheme, threshold=0.5
    )
    one, other = np.exp(8) / (np.exp(8) + 4), 1 / (np.exp(8) + 4)
    # In BIO the entity ends where the next tag is not I-x.
    expected = one**4 * (1 - other if scheme == "BIO" else 1)
    assert found.spans() == [[(0, 4, "x", pytest.approx(expected))]]


@pytest.mark.parametrize("scheme", ["BIO", "BILOU", "BIOES"])
def test_entities_of_the_best_tagging_have_the_probability_of_the_enumeration(scheme):
    n_found = 0
    for seed in range(5):
        posterior = draw(seed, 4)
        classes = CLASSES[scheme]
        best = read([classes[k] for k in posterior.viterbi()[0]], scheme)
        expected = enumerated(posterior, classes, scheme)
        found = predicted_entities(posterior, classes, scheme=scheme)
        got = {row[:3]: row[3] for row in found.spans()[0]}
        assert got.keys() == best
        assert all(got[key] == pytest.approx(expected[key], abs=1e-10) for key in got)
        n_found += len(got)
    assert n_found > 4


def test_one_label_is_chosen():
    posterior = draw(3, 40)
    every = predicted_entities(posterior, CLASSES["BIO"], threshold=0.1)
    some = predicted_entities(posterior, CLASSES["BIO"], threshold=0.1, label="y")
    assert set(every.label) == {"x", "y"}
    np.testing.assert_array_equal(some.proba, every.proba[every.label == "y"])


def test_empty_sentences_and_text_without_entities():
    scores = [np.zeros((0, 3)), np.array([[9.0, 0, 0]]), np.zeros((0, 3))]
    posterior = LinearChainPosterior(scores)
    found = predicted_entities(posterior, ["O", "B-x", "I-x"], tokens=[[], ["a"], []])
    assert len(found) == 0
    assert found.records() == []
    assert found.tags() == [[], ["O"], []]
    assert found.frame().shape == (0, 6)


def test_above_is_the_same_as_a_threshold():
    posterior = draw(5, 30)
    low = predicted_entities(posterior, CLASSES["BIO"], threshold=0.05)
    high = predicted_entities(posterior, CLASSES["BIO"], threshold=0.4)
    assert low.above(0.4).spans() == high.spans()


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("BIO", ["B-x", "I-x", "I-x", "B-y", "O"]),
        ("BILOU", ["B-x", "I-x", "L-x", "U-y", "O"]),
        ("BIOES", ["B-x", "I-x", "E-x", "S-y", "O"]),
    ],
)
def test_tags_of_a_scheme(scheme, expected):
    spans = [[(3, 4, "y", 0.7), (0, 3, "x", 0.6)]]
    entities = PredictedEntities.from_spans(spans, lengths=[5])
    assert entities.tags(scheme) == [expected]


@pytest.mark.parametrize("delimiter", [None, "\t"])
def test_conll_columns_are_read_back(tmp_path, delimiter):
    tokens = [["Ada", "Bell", "sang"], ["no"], ["Bo"]]
    spans = [[(0, 2, "PER", 0.91)], [], [(0, 1, "LOC", 0.5)]]
    entities = PredictedEntities.from_spans(spans, tokens=tokens)
    path = tmp_path / "entities.conll"
    path.write_text(entities.to_conll(delimiter=delimiter) + "\n", encoding="utf-8")
    X, y = read_conll_columns(path, label=1, delimiter=delimiter)
    assert [list(each) for each in X] == tokens
    assert [list(each) for each in y] == entities.tags()
    assert "Bell I-PER 0.9100" in " ".join(path.read_text("utf-8").split())


def test_entities_with_a_common_token_have_no_tags():
    spans = [[], [(0, 2, "x", 0.4), (1, 2, "y", 0.4)]]
    entities = PredictedEntities.from_spans(spans, lengths=[0, 2])
    with pytest.raises(ValueError, match=r"token 1 in sentence 1: .*above\(0.5\)"):
        entities.tags()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"threshold": 0}, "'threshold' .* positive number. Got 0"),
        ({"threshold": 1.5}, r"'threshold' .* in \[0, 1\]. Got 1.5"),
        ({"label": "z"}, r"'label' .*\['x', 'y'\]. Got 'z'"),
        ({"scheme": "IOB1"}, "'scheme' .* Got 'IOB1'"),
        ({"tokens": [["a"]]}, "'tokens'. Sentence 0 has 1 words and 3 tokens"),
        ({"tokens": []}, "same length. Got: tokens has 0, posterior has 1"),
        ({"classes": ["O", "B-x"]}, "'classes' .* each of the 5 tags"),
        ({"classes": list("OBILU")}, "'classes' .* Got 'L'"),
        ({"classes": ["O", "I-x", "B-y", "I-y", "I-z"]}, "has 'I-x', 'I-z'.* 'IOB1'"),
    ],
)
def test_errors_name_the_argument(kwargs, message):
    kwargs = {"classes": CLASSES["BIO"], **kwargs}
    with pytest.raises(ValueError, match=message):
        predicted_entities(draw(0, 3), **kwargs)


def test_a_tagger_in_place_of_its_posterior_is_an_error():
    tagger = HMMTagger().fit([["Ada", "saw"]], [["B-PER", "O"]])
    for model in (tagger, make_pipeline(tagger)):
        with pytest.raises(TypeError, match=r"posterior\(X\) .*classes_.* 'classes'"):
            predicted_entities(model, [["Ada"]])


def test_something_else_than_a_posterior_is_an_error():
    with pytest.raises(TypeError, match="LinearChainPosterior. Got list"):
        predicted_entities([[1.0]], ["O"])


@pytest.mark.parametrize(
    ("spans", "kwargs", "message"),
    [
        ([[(0, 3, "x", 0.5)]], {"lengths": [2]}, "'spans' .* stop 3 in span 0"),
        ([[(0, 1, "x", 1.5)]], {"lengths": [2]}, r"'spans' .*\[0, 1\]. Got 1.5"),
        ([[]], {}, "needs 'tokens' or 'lengths'"),
        ([[]], {"tokens": []}, "'tokens' .* each of the 1 sentences"),
    ],
)
def test_errors_of_spans_from_elsewhere(spans, kwargs, message):
    with pytest.raises(ValueError, match=message):
        PredictedEntities.from_spans(spans, **kwargs)
