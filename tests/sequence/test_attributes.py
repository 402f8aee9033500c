"""What a token's attributes are: CRFsuite's rules, in training and in prediction."""

import re

import numpy as np
import pytest
import sklearn_crfsuite
from cases import case
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skcalib.sequence import CRFTagger, _attributes
from skcalib.sequence._attributes import AttributeIndex, as_items

NAMES = ["f", "f:x", "f:y", "g", "f:x:y", "word:the", ":", "f:", "x", "a:b"]


def matrix_of(*tokens):
    """Return the rows of tokens as dicts of attribute weights."""
    matrix = AttributeIndex(NAMES).matrix([list(tokens)])
    assert sparse.issparse(matrix)
    assert matrix.shape == (len(tokens), len(NAMES))
    return [
        {name: weight for name, weight in zip(NAMES, row, strict=True) if weight}
        for row in matrix.toarray().tolist()
    ]


TOKENS = {
    "a str value is part of the name": ({"f": "x"}, {"f:x": 1}),
    "a number is the weight": ({"f": 2.5}, {"f": 2.5}),
    "an int is a number": ({"f": 3}, {"f": 3}),
    "a numpy number is one": ({"f": np.float32(0.5)}, {"f": 0.5}),
    "a numpy integer is one": ({"f": np.int64(2)}, {"f": 2}),
    "a numpy str is a str": ({"f": np.str_("x")}, {"f:x": 1}),
    "True is 1": ({"f": True}, {"f": 1}),
    "False is 0": ({"f": False}, {}),
    "a numpy bool is a bool": ({"f": np.True_}, {"f": 1}),
    "a list has a name each": ({"f": ["x", "y"]}, {"f:x": 1, "f:y": 1}),
    "a set has a name each": ({"f": {"x", "y"}}, {"f:x": 1, "f:y": 1}),
    "a list may repeat": ({"f": ["x", "x"]}, {"f:x": 2}),
    "an empty list has none": ({"f": []}, {}),
    "a dict is one more level": ({"f": {"x": 2.0}}, {"f:x": 2}),
    "and one more": ({"f": {"x": {"y": True}}}, {"f:x:y": 1}),
    "a str in a dict in a dict": ({"f": {"x": "y"}}, {"f:x:y": 1}),
    "a colon in the value": ({"f": "x:y"}, {"f:x:y": 1}),
    "a colon in the key": ({"f:x": "y"}, {"f:x:y": 1}),
    "a name with colons and a weight": ({"f:x:y": 0.5}, {"f:x:y": 0.5}),
    "two ways to one name add up": ({"a:b": 1.0, "a": "b"}, {"a:b": 2}),
    "an empty key and value": ({"": ""}, {":": 1}),
    "an empty value": ({"f": ""}, {"f:": 1}),
    "a token without attributes": ({}, {}),
    "an unknown attribute": ({"f": "z", "z": 1.0, "q": ["z"]}, {}),
    "names in a list": (["f", "g"], {"f": 1, "g": 1}),
    "names twice in a list": (["f", "f"], {"f": 2}),
    "names in a set": ({"f", "g"}, {"f": 1, "g": 1}),
    "a str is a word": ("the", {"word:the": 1}),
    "an unknown word": ("an", {}),
}


def test_a_token_becomes_a_row():
    for token, expected in TOKENS.values():
        with case(token):
            assert matrix_of(token) == [expected]


def test_it_becomes_the_same_row_beside_tokens_of_another_kind():
    for token, expected in TOKENS.values():
        with case(token):
            assert matrix_of("the", token, {"f": ["x"]}) == [
                {"word:the": 1},
                expected,
                {"f:x": 1},
            ]


def test_training_reads_a_token_as_prediction_does():
    """Zero weights are kept in training, where they name an attribute."""
    for token, _ in TOKENS.values():
        with case(token):
            ((flat,),) = as_items([[token]])
            known = {name: w for name, w in flat.items() if w and name in NAMES}
            assert [known] == matrix_of(token)


# CRFsuite takes numpy's str and bool, and empty names; not a word for a token.
THEIRS = {k: v for k, v in TOKENS.items() if not isinstance(v[0], str)}


@pytest.mark.parametrize("token", [t for t, _ in THEIRS.values()], ids=list(THEIRS))
def test_crfsuite_reads_a_token_as_we_do(token):
    """Each attribute has its own evidence, so the marginal shows what was read."""
    items = [[{name: 1.0 + i} for i, name in enumerate(NAMES)]]
    tags = [["A", "B"] * (len(NAMES) // 2)]
    tagger = CRFTagger(c2=0.001).fit(items, tags)
    assert sorted(tagger.attributes_) == sorted(NAMES)
    expected = tagger.crf_.predict_marginals([[token]])[0][0]["A"]
    found = tagger.predict_proba([[token]])[0][0, 0]
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_sentence_is_a_row_after_the_other_and_an_empty_one_no_row():
    index = AttributeIndex(["word:a", "word:b"])
    matrix = index.matrix([["a", "z"], [], ["b"]])
    assert matrix.toarray().tolist() == [[1, 0], [0, 0], [0, 1]]


def test_tokens_are_not_modified():
    token = {"f": ["x", "x"], "g": {"x": 1.0}}
    list(as_items([[token]]))
    matrix_of(token)
    assert token == {"f": ["x", "x"], "g": {"x": 1.0}}


# However tokens are looked up

names = st.sampled_from(["f", "g", "f:x", "word", "a", "x", "", ":", "z"])
values = st.one_of(
    names, st.floats(-3, 3), st.booleans(), st.integers(-3, 3), st.just("the")
)


def rows_by_hand(sentences):
    """Add up the weights of each name as the rules say."""
    rows = []
    for token in (token for sentence in sentences for token in sentence):
        row = dict.fromkeys(NAMES, 0.0)
        for key, value in token.items():
            name = f"{key}:{value}" if isinstance(value, str) else key
            if name in row:
                row[name] += 1.0 if isinstance(value, str) else float(value)
        rows.append(list(row.values()))
    return np.array(rows).reshape(len(rows), len(NAMES))


@given(st.lists(st.lists(st.dictionaries(names, values, max_size=5), max_size=4)))
def test_dicts_of_any_keys_and_values(sentences):
    index = AttributeIndex(NAMES)
    for _ in range(2):  # the second time there is a table
        found = index.matrix(sentences).toarray()
        np.testing.assert_allclose(found, rows_by_hand(sentences), atol=1e-12)


def test_attributes_too_many_for_a_table_are_found_all_the_same(monkeypatch):
    monkeypatch.setattr(_attributes, "_TABLE_SIZE", -(10**9))
    test_dicts_of_any_keys_and_values()
    words = AttributeIndex(NAMES).matrix([["the", "an"]]).toarray()
    assert words.sum(axis=1).tolist() == [1, 0]


def test_the_limit_of_a_table_is_on_its_cells(monkeypatch):
    # a row for unknown keys and for each of 3, a column for others and for 4 values
    names = [f"{key}:{value}" for key in "abc" for value in range(4)]
    for cells, fits in ((20, True), (19, False)):
        monkeypatch.setattr(_attributes, "_TABLE_SIZE", cells - 16 * len(names))
        table = AttributeIndex(names)._table_of("abc")
        assert (table is not None) == fits


@pytest.mark.parametrize(
    "text", ["\ud800", "e\u0301", "\u00e9", "\U0001f600", "", "a\0b", "x" * 999]
)
def test_text_of_any_kind_may_be_asked(text):
    """Composed and combining letters are different words."""
    index = AttributeIndex(["word:\u00e9", "word:", "word:\U0001f600"])
    known = float(text in ("\u00e9", "", "\U0001f600"))
    for token in (text, {"word": text}, {"word": [text]}):
        assert index.matrix([[token]]).sum() == known


def test_training_reads_one_sentence_at_a_time():
    items = as_items([[{"f": "x"}], [{"f": None}]])
    assert next(items) == [{"f:x": 1.0}]
    with pytest.raises(TypeError, match="sentence 1, token 0"):
        next(items)


# What is refused, the same in fit and predict, with the place


def nested(depth):
    token = {"x": 1.0}
    for _ in range(depth - 1):
        token = {"f": token}
    return token


CYCLE: dict = {"f": "x"}
CYCLE["g"] = CYCLE

REFUSED = {
    "nan": ({"f": np.nan}, ValueError, "the weight of 'f' must be finite. Got nan"),
    "inf": ({"f": np.inf}, ValueError, "the weight of 'f' must be finite. Got inf"),
    "minus inf": ({"f": -np.inf}, ValueError, "'f' must be finite. Got -inf"),
    "numpy nan": ({"f": np.float32("nan")}, ValueError, "'f' must be finite. Got"),
    "nested nan": ({"f": {"x": np.nan}}, ValueError, "must be finite. Got nan"),
    "None": ({"f": None}, TypeError, "value of 'f' must be a str, a number, .*None"),
    "bytes not in UTF-8": ({"f": b"\xff"}, ValueError, "can't decode byte 0xff"),
    "array": ({"f": np.ones(2)}, TypeError, "value of 'f' must be .* ndarray"),
    "a number in a list": ({"f": ["x", 1]}, TypeError, "attributes must be str. Got 1"),
    "a number too great": ({"f": 10**400}, ValueError, "'f' must be finite"),
    "a number as key": ({1: "x"}, TypeError, "must be str"),
    "a number as key of a number": ({1: 2.0}, TypeError, "must be str"),
    "a number as inner key": ({"f": {1: 2.0}}, TypeError, "must be str"),
    "a number as token": (3, TypeError, "token must be a str or a dict .* int 3"),
    "None as token": (None, TypeError, "token must be a str or a dict .* None"),
    "bytes as token": (b"the", TypeError, "token must be a str or a dict .* bytes"),
    "a dict in itself": (CYCLE, ValueError, "nested more than 100 levels deep"),
    "3,000 dicts": (nested(3000), ValueError, "nested more than 100 levels deep"),
    "a number as name": (["f", 1], TypeError, "attributes must be str. Got 1"),
}


def test_predict_names_what_it_cannot_read_and_where():
    where = "parameter of CRFTagger.predict cannot be read at sentence 1, token 2: "
    for known in ("f", "h"):
        tagger = CRFTagger().fit([[{known: 1.0}, {"g": 1.0}]], [["A", "B"]])
        for token, error, message in REFUSED.values():
            with (
                case(f"{known}, {message}"),
                pytest.raises(error, match=where + ".*" + message),
            ):
                tagger.predict([[{"g": 1.0}], [{"f": 1.0}, {}, token]])


def test_fit_names_what_it_cannot_read_and_where():
    where = "parameter of CRFTagger.fit cannot be read at sentence 1, token 2: "
    labels = [["A"], ["A", "B", "A"]]
    for token, error, message in REFUSED.values():
        with case(message), pytest.raises(error, match=where + ".*" + message):
            CRFTagger().fit([[{"g": 1.0}], [{}, {}, token]], labels)


@pytest.mark.parametrize("text", ["a\0b", "\ud800"], ids=["nul", "surrogate"])
def test_text_that_crfsuite_cannot_store_is_refused_with_its_place(text):
    """It cuts a name at NUL, so that different words would be one."""
    where = "CRFTagger.fit cannot be read at sentence 0, token 1"
    with pytest.raises(ValueError, match=re.escape(where)):
        CRFTagger().fit([["ok", text]], [["A", "B"]])


def test_the_library_that_we_follow_is_the_one_we_think():
    """A str as a token is its letters to CRFsuite, the reason for ours being a word."""
    crf = sklearn_crfsuite.CRF().fit([["ab", "b"]], [["A", "B"]])
    assert {name for name, _ in crf.state_features_} == {"a", "b"}


def test_a_hundred_levels_of_dicts_are_read():
    tagger = CRFTagger().fit([[nested(100), "b"]], [["A", "B"]])
    assert sorted(tagger.attributes_) == ["f:" * 99 + "x", "word:b"]
