"""Attributes of words: the templates, a function of one's own, hashing."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.pipeline import make_pipeline

from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

SENTENCE = ["The", "dogs", "of", "McDonald's", "sold", "B2B-99"]


def first_two_letters(sentence, t):
    return {"start": sentence[t][:2], "last": t == len(sentence) - 1}


def test_the_basic_template_is_the_word_as_it_is():
    found = TokenFeatures("basic").transform([SENTENCE])[0]
    assert found == [{"word": word} for word in SENTENCE]


def test_the_advanced_template_in_full():
    assert TokenFeatures("advanced").transform([SENTENCE])[0][3] == {
        "word": "McDonald's",
        "lower": "mcdonald's",
        "shape": "XxXx'x",
        "length": "10",
        "word-2": "dogs",
        "word-1": "of",
        "word+1": "sold",
        "word+2": "B2B-99",
        "prefix1": "M",
        "prefix2": "Mc",
        "prefix3": "McD",
        "prefix4": "McDo",
        "suffix1": "s",
        "suffix2": "'s",
        "suffix3": "d's",
        "suffix4": "ld's",
    }


@pytest.mark.parametrize(
    ("word", "shape"),
    [("B2B-99", "X0X-0"), ("dogs", "x"), ("USA", "X"), ("...", "..."), ("3.14", "0.0")],
)
def test_a_shape_shortens_runs_of_a_kind(word, shape):
    assert TokenFeatures("advanced").transform([[word]])[0][0]["shape"] == shape


ODD = ["", "e\u0301", "\U0001f600", "\ud800", "x:y", "a" * 50, "İ"]


def test_a_word_has_its_attributes_wherever_it_is():
    """By the definition, for each token by itself."""
    X = [["a", "dog", "a"], [], ["dog"], [*SENTENCE, "dog"], ODD, ODD[::-1]]
    found = TokenFeatures("advanced").transform(X)
    for sentence, rows in zip(X, found, strict=True):
        line = ["<border>"] * 2 + sentence + ["<border>"] * 2
        for t, (word, row) in enumerate(zip(sentence, rows, strict=True)):
            assert row["word"] == word
            assert row["lower"] == word.lower()
            assert row["length"] == str(len(word))
            around = [row[f"word{i:+d}"] for i in (-2, -1, 1, 2)]
            assert around == [*line[t : t + 2], *line[t + 3 : t + 5]]
            sizes = range(1, min(4, len(word)) + 1)
            affixes = {f"prefix{i}": word[:i] for i in sizes}
            affixes |= {f"suffix{i}": word[len(word) - i :] for i in sizes}
            assert {k: v for k, v in row.items() if "fix" in k} == affixes
            assert len(row) == 8 + 2 * len(sizes)


@pytest.mark.parametrize("template", ["basic", "advanced"])
def test_changing_a_token_changes_no_other_one(template):
    X = [["a", "a"], ["a"]]
    features = TokenFeatures(template)
    first = features.transform(X)
    first[0][0]["word"] = "changed"
    first[0][0]["new"] = "b"
    again = features.transform(X)
    assert first[0][1]["word"] == first[1][0]["word"] == "a"
    assert "new" not in first[0][1]
    assert again[0][0]["word"] == "a"
    assert "new" not in again[0][0]


@pytest.mark.parametrize("template", ["basic", "advanced"])
def test_words_of_numpy_become_str(template):
    (token,) = TokenFeatures(template).transform([np.array(["dog"])])[0]
    assert {type(value) for value in token.values()} == {str}


def test_a_template_may_be_a_function():
    found = TokenFeatures(first_two_letters).transform([["dogs", "bark"]])[0]
    assert found == [{"start": "do", "last": False}, {"start": "ba", "last": True}]


def test_there_is_an_entry_for_each_sentence_whatever_the_lengths():
    for X in ([["a", "b"], ["c", "d"]], [["a"], []], [[]], []):
        found = TokenFeatures("basic").transform(X)
        assert found.shape == (len(X),)
        assert found.dtype == object
        assert [len(entry) for entry in found] == [len(sentence) for sentence in X]


def test_nothing_need_be_fitted():
    features = TokenFeatures("basic")
    assert features.fit([["a"]]) is features
    assert features.fit([["a"]], [["A"]]) is features
    assert TokenFeatures("basic").fit_transform([["a"]])[0] == [{"word": "a"}]


def test_the_words_are_not_modified():
    X = [["a", "b"], []]
    before = copy.deepcopy(X)
    TokenFeatures("advanced", output="sparse").transform(X[:1])
    TokenFeatures("advanced").transform(X)
    assert before == X


# Hashing


@pytest.mark.parametrize("template", ["basic", "advanced", first_two_letters])
def test_sparse_output_is_scikit_learns_hashing_of_the_dicts(template):
    dicts = TokenFeatures(template).transform([SENTENCE, ["a"]])
    found = TokenFeatures(template, output="sparse").transform([SENTENCE, ["a"]])
    hasher = FeatureHasher(2**20, alternate_sign=False)
    for matrix, rows in zip(found, dicts, strict=True):
        assert sparse.issparse(matrix)
        assert matrix.format == "csr"
        assert abs(matrix - hasher.transform(rows)).sum() == 0


@pytest.mark.parametrize("template", ["basic", "advanced", first_two_letters])
def test_text_that_cannot_be_hashed_is_named(template):
    X = [["a"], ["b", "\ud800"]]
    with pytest.raises(ValueError, match=r"sentence 1, token [01]: output='sparse'"):
        TokenFeatures(template, output="sparse").transform(X)


def test_changing_a_sparse_sentence_changes_no_other_one():
    first, second = TokenFeatures("basic", output="sparse").transform([["a"], ["a"]])
    first.data[:] = 7
    first.indices[:] = 0
    assert second.data.tolist() == [1]
    assert second.indices.tolist() != [0]


def test_an_empty_sentence_is_a_sparse_matrix_without_rows():
    found = TokenFeatures("basic", output="sparse").transform([["a"], []])
    assert [matrix.shape for matrix in found] == [(1, 2**20), (0, 2**20)]


# Sentences in other containers


def test_sentences_may_be_arrays_and_tuples():
    expected = [{"word": "a"}, {"word": "b"}]
    for sentence in (("a", "b"), np.array(["a", "b"]), np.array(["a", "b"], object)):
        assert TokenFeatures("basic").transform([sentence])[0] == expected


@pytest.mark.parametrize("index", [[5, 6], [1, 0]])
def test_a_pandas_series_is_read_in_its_order_not_by_its_index(index):
    """Grouping a table into sentences leaves such indices."""
    sentence = pd.Series(["a", "b"], index=index)
    assert TokenFeatures("basic").transform([sentence])[0] == [
        {"word": "a"},
        {"word": "b"},
    ]


# Manners in scikit-learn


def test_pandas_output_leaves_ragged_features_alone():
    with sklearn.config_context(transform_output="pandas"):
        found = TokenFeatures("basic").fit_transform([["a", "b"], ["c"]])
        assert type(found) is np.ndarray
        tagger = make_pipeline(TokenFeatures("basic"), CRFTagger())
        tagger.fit([["a", "b"], ["c"]], [["A", "B"], ["A"]])
        assert tagger.predict_proba([["a"]])[0].shape == (1, 2)


def test_a_pipeline_may_begin_with_another_transformer():
    lower = sklearn.preprocessing.FunctionTransformer(
        lambda X: [[word.lower() for word in sentence] for sentence in X]
    )
    tagger = make_pipeline(lower, HMMTagger()).fit([["A", "b"]], [["A", "B"]])
    assert set(tagger[-1].vocabulary_) == {"a", "b"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"template": "all"}, "'template' .* one of 'basic', 'advanced'. Got 'all'"),
        ({"template": None}, "'template' .* Got None"),
        ({"output": "csr"}, "'output' .* one of 'dict', 'sparse'. Got 'csr'"),
        ({"output": None}, "'output' .* Got None"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        TokenFeatures(**settings).transform([["a"]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("the dog", "Got str"),
        (["the dog"], "Got str 'the dog' as sentence 0"),
        ([["a"], 5], "Got int 5 as sentence 1"),
        ([["a"], ["b", 5]], "Got int 5 in sentence 1, token 1"),
        ([[{"word": "a"}]], "Got dict .* in sentence 0, token 0"),
        (pd.DataFrame({"w": ["a"]}), "Got a table of shape"),
        ((s for s in [["a"]]), "Got generator"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_sentences_of_words_is_refused(X, message):
    with pytest.raises(TypeError, match=message):
        TokenFeatures().transform(X)


@pytest.mark.parametrize(
    "row", [None, "word", {"f": ["x"]}, {"f": None}, {"f": {"g": "x"}}], ids=repr
)
def test_what_cannot_be_hashed_is_named_by_sentence_and_token(row):
    def template(sentence, t):
        return row if sentence[t] == "bad" else {"f": "x"}

    message = re.escape(
        f"sentence 1, token 1: output='sparse' takes dicts of str and "
        f"numbers. Got {row!r}"
    )
    with pytest.raises(TypeError, match=message):
        TokenFeatures(template, output="sparse").transform([["a"], ["b", "bad"]])


def test_a_dict_that_contains_itself_cannot_be_hashed():
    row = {}
    row["f"] = row
    with pytest.raises(TypeError, match="cannot be hashed at sentence 0, token 0"):
        TokenFeatures(lambda *_: row, output="sparse").transform([["a"]])


def test_an_error_of_the_template_is_left_alone():
    def template(sentence, t):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="^mine$"):
        TokenFeatures(template, output="sparse").transform([["a"]])


@pytest.mark.parametrize("params", [{"template": "best"}, {"output": "frame"}])
def test_fit_checks_the_parameters(params):
    with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of Token"):
        TokenFeatures(**params).fit(None)
