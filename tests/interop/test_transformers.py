"""Token classification models: pieces into words, schemes, and the pipeline's dicts."""

import itertools

import numpy as np
import pytest
from scipy.special import softmax

from skcalib.experimental import PredictedEntities, from_pipeline, predicted_entities
from skcalib.interop import from_transformers, scheme_transitions
from skcalib.posteriors import LinearChainPosterior

ID2LABEL = {0: "O", 1: "B-x", 2: "I-x"}
WORD_IDS = [
    [None, 0, 0, 1, 2, 2, 2, None],
    [None, 0, None, None, None, None, None, None],
]


def draw(seed=0):
    return np.random.default_rng(seed).normal(0, 2, (2, 8, 3))


@pytest.mark.parametrize(
    ("pieces", "combine"),
    [
        ("first", lambda rows: rows[0]),
        ("mean", lambda rows: rows.mean(axis=0)),
        ("product", lambda rows: rows.prod(axis=0) / rows.prod(axis=0).sum()),
    ],
)
def test_the_pieces_of_a_word_are_combined(pieces, combine):
    logits = draw()
    posterior, classes = from_transformers(
        logits, WORD_IDS, ID2LABEL, pieces=pieces, scheme=None
    )
    assert classes == ["O", "B-x", "I-x"]
    proba = softmax(logits, axis=2)
    expected = [
        [combine(proba[0, 1:3]), combine(proba[0, 3:4]), combine(proba[0, 4:7])],
        [combine(proba[1, 1:2])],
    ]
    for found, rows in zip(posterior.token_marginals(), expected, strict=True):
        np.testing.assert_allclose(found, rows, atol=1e-12)


def test_inconsistent_taggings_are_impossible():
    logits = draw(1)
    posterior, classes = from_transformers(logits, WORD_IDS, ID2LABEL)
    proba = softmax(logits, axis=2)[0, [1, 3, 4]]
    total = {}
    for path in itertools.product(range(3), repeat=3):
        fits = path[0] != 2 and (0, 2) not in itertools.pairwise(path)
        total[path] = np.prod(proba[np.arange(3), path]) * fits
    norm = sum(total.values())
    for path, p in total.items():
        found = np.exp(posterior[:1].log_proba([list(path)])[0])
        assert found == pytest.approx(p / norm, abs=1e-12)
    entities = predicted_entities(posterior, classes, threshold=0.01)
    key = next(row for row in entities.spans()[0] if row[:2] == (1, 2))
    assert key[3] == pytest.approx(
        sum(p for path, p in total.items() if path[1] == 1 and path[2] != 2) / norm
    )


def test_a_list_of_sentences_and_float32_are_accepted():
    logits = draw()
    whole, _ = from_transformers(logits, WORD_IDS, ID2LABEL)
    listed, _ = from_transformers(
        [each.astype(np.float32) for each in logits], WORD_IDS, list(ID2LABEL.values())
    )
    for a, b in zip(whole.token_marginals(), listed.token_marginals(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_logits_of_any_size_do_not_overflow():
    logits = np.zeros((1, 2, 3))
    logits[0, :, 1] = [1e4, -1e4]
    posterior, _ = from_transformers(logits, [[0, 1]], ID2LABEL, scheme=None)
    np.testing.assert_allclose(
        posterior.token_marginals()[0], [[0, 1, 0], [0.5, 0, 0.5]], atol=1e-12
    )


@pytest.mark.parametrize("pieces", ["first", "mean", "product"])
def test_a_sentence_without_words(pieces):
    posterior, _ = from_transformers(
        np.zeros((1, 2, 3)), [[None, None]], ID2LABEL, pieces=pieces
    )
    assert posterior.lengths.tolist() == [0]


@pytest.mark.parametrize("scheme", ["BIO", None])
def test_no_sentences(scheme):
    posterior, classes = from_transformers([], [], ID2LABEL, scheme=scheme)
    assert len(posterior) == 0
    assert predicted_entities(posterior, classes).records() == []


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"word_ids": [[None, 0], [0]]}, "Add None for the padding, or cut the logits"),
        ({"word_ids": WORD_IDS[:1]}, "'word_ids' .* each of the 2 sentences. Got 1"),
        ({"n_words": [4, 1]}, "Word 3 of sentence 0 does not have a piece"),
        ({"n_words": [2, 1]}, "'n_words' .* Got 2 for sentence 0, .* to 3 words"),
        ({"n_words": [2]}, "'n_words' .* each of the 2 sentences"),
        ({"id2label": {0: "O"}}, "'id2label' .* each of the 3 tags. Got 1"),
        ({"id2label": {0: "O", 2: "B-x"}}, r"'id2label' .* the keys \[0, 2\]"),
        ({"id2label": list("OAB")}, "'id2label' .* Got 'A'.* Pass the `scheme`"),
        ({"id2label": {"O": 0, "B-x": 1, "I-x": 2}}, "like id2label, .* keys .'O'"),
        ({"id2label": ["O", "I-x", "I-y"]}, "No valid tagging has 'I-x', 'I-y'"),
        ({"scheme": "BILOU"}, "No valid tagging has 'B-x', 'I-x'.* `scheme`"),
        ({"pieces": "last"}, "'pieces' .* Got 'last'"),
        ({"logits": np.zeros((2, 8))}, r"'logits' .* Got shape \(2, 8\)"),
    ],
)
def test_errors_name_the_argument(kwargs, message):
    given = {"logits": draw(), "word_ids": WORD_IDS, "id2label": ID2LABEL, **kwargs}
    with pytest.raises(ValueError, match=message):
        from_transformers(**given)


def test_nan_is_no_word_like_none():
    logits = draw()
    floats = np.array(WORD_IDS, dtype=float)
    found, _ = from_transformers(logits, floats, ID2LABEL)
    expected, _ = from_transformers(logits, WORD_IDS, ID2LABEL)
    for a, b in zip(found.token_marginals(), expected.token_marginals(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_bfloat16_is_read(tensor):
    logits = np.rint(draw())
    tensors = [tensor(each, "torch.bfloat16") for each in logits]
    found, _ = from_transformers(tensors, WORD_IDS, ID2LABEL)
    expected, _ = from_transformers(logits, WORD_IDS, ID2LABEL)
    for a, b in zip(found.token_marginals(), expected.token_marginals(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("BIO", ["O", "B-x", "I-x", "B-y", "I-y"]),
        ("BILOU", ["O", "B-x", "I-x", "L-x", "U-x"]),
        ("BIOES", ["O", "B-x", "I-x", "E-x", "S-x"]),
    ],
)
def test_taggings_that_are_possible_are_made_of_entities(scheme, tags):
    paths = list(itertools.product(range(5), repeat=4))
    posterior = LinearChainPosterior(
        [np.zeros((4, 5))] * len(paths), *scheme_transitions(tags, scheme)
    )
    found = np.isfinite(posterior.log_proba(paths)).tolist()
    possible = 0
    for path, is_possible in zip(paths, found, strict=True):
        possible += is_possible
        text = " ".join(tags[k][0] for k in path).replace("E", "L").replace("S", "U")
        if scheme != "BIO":  # one label: the letters decide
            rest = text.replace(" ", "")
            for word in ("BIIL", "BIL", "BL", "U", "O"):
                rest = rest.replace(word, "")
            assert is_possible == (rest == "")
    assert possible > 20


OFFSETS = [[(0, 3), (4, 12), (13, 18), (18, 19)]]


def entity(start, end, score=0.9, group="PER"):
    return {"entity_group": group, "score": score, "start": start, "end": end}


def test_entities_of_the_pipeline_are_spans_of_tokens():
    found = from_pipeline([[entity(0, 12), entity(13, 18, 0.5, "ORG")]], OFFSETS)
    assert found == [[(0, 2, "PER", 0.9), (2, 3, "ORG", 0.5)]]
    entities = PredictedEntities.from_spans(found, lengths=[4])
    assert entities.tags() == [["B-PER", "I-PER", "B-ORG", "O"]]


def test_an_entity_inside_a_token_takes_the_whole_token_if_asked():
    results = [[entity(4, 8), entity(8, 12, 0.95)]]
    with pytest.raises(ValueError, match=r"from character 4 to 8.*'expand'"):
        from_pipeline(results, OFFSETS)
    found = from_pipeline(results, OFFSETS, alignment="expand")
    assert found == [[(1, 2, "PER", 0.95)]]


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([[{"entity": "B-PER", "score": 0.9, "start": 0, "end": 3}]], "aggregation_st"),
        ([entity(0, 3)], r"pass \[results\]"),
        ([], "'offsets' .* each of the 0 texts. Got 1"),
        ([[entity(30, 32)]], "from character 30 to 32"),
        ([[entity(0, 3), entity(4, 12, np.nan)]], "Got nan for characters 4 to 12 of"),
        ([[entity(0, 12, 2.0)]], r"'results' .* in \[0, 1\]. Got 2.0 .* of text 0"),
        ([[entity(0, 12, -0.5)]], r"'results' .* in \[0, 1\]. Got -0.5"),
        ([[entity(0, 12, "0.5")]], "'results' .* Got .*'0.5'.* in text 0"),
        ([[entity(0, None)]], "'results' .* Got .*None.* in text 0"),
        ([[entity(0.5, 12)]], "'results' .* Got .*0.5.* in text 0"),
        ([[3]], "'results' .* Got 3 in text 0"),
    ],
)
def test_errors_of_the_pipeline(results, message):
    with pytest.raises(ValueError, match=message):
        from_pipeline(results, OFFSETS)


def test_nan_is_named_with_its_sentence():
    logits = [np.zeros((2, 3)), np.full((1, 3), np.nan)]
    with pytest.raises(ValueError, match="'logits'.*row 0 of sentence 1"):
        from_transformers(logits, [[0, 1], [0]], ID2LABEL)


@pytest.mark.parametrize(("results", "offsets"), [(3, []), ([], 3), ({}, [])])
def test_results_of_a_pipeline_are_lists(results, offsets):
    with pytest.raises(TypeError, match="of from_pipeline must be a list with"):
        from_pipeline(results, offsets)


def test_probabilities_in_place_of_logits_give_a_warning():
    logits = np.random.default_rng(0).normal(size=(2, 4, 3))
    words = [[None, 0, 1, None]] * 2
    from_transformers(logits, words, ["O", "B-PER", "I-PER"])
    with pytest.warns(UserWarning, match="rows of 'logits' are probabilities"):
        from_transformers(softmax(logits, axis=2), words, ["O", "B-PER", "I-PER"])
