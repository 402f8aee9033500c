"""Generated tagged sentences: reproducible, like text, and not a first-order chain."""

from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from skcalib.datasets import make_tagged_sentences


@pytest.fixture(scope="module")
def sentences():
    return make_tagged_sentences(2000, random_state=0)


def test_every_sentence_ends_in_its_only_full_stop(sentences):
    X, y = sentences
    assert all(words[-1] == tags[-1] == "." for words, tags in zip(X, y, strict=True))
    assert all("." not in tags[:-1] for tags in y)


@pytest.mark.parametrize("mean_length", [3, 8, 25])
def test_the_mean_length(mean_length):
    X, _ = make_tagged_sentences(3000, mean_length=mean_length, random_state=0)
    lengths = np.array([len(words) for words in X])
    standard_error = lengths.std() / np.sqrt(3000)
    assert abs(lengths.mean() - mean_length) <= 4 * standard_error
    assert lengths.min() >= 3


def test_words_are_ambiguous_and_some_are_new(sentences):
    X, y = sentences
    tags_of = defaultdict(set)
    for words, tags in zip(X, y, strict=True):
        for word, tag in zip(words, tags, strict=True):
            tags_of[word].add(tag)
    tokens = [word for words in X for word in words]
    assert 0.2 < np.mean([len(tags_of[word]) > 1 for word in tokens]) < 0.6
    known = {word for words in X[:1000] for word in words}
    new = np.mean([word not in known for words in X[1000:] for word in words])
    assert 0.05 < new < 0.25


def test_few_words_are_most_of_the_text(sentences):
    X, _ = sentences
    words, counts = np.unique([w for words in X for w in words], return_counts=True)
    counts = np.sort(counts)[::-1]
    assert counts[:100].sum() > 0.4 * counts.sum()
    assert (counts == 1).mean() > 0.3


def test_spelling_tells_the_tag(sentences):
    X, y = sentences
    suffixes = defaultdict(set)
    for words, tags in zip(X, y, strict=True):
        for word, tag in list(zip(words, tags, strict=True))[1:]:
            assert word[0].isupper() == (tag == "NNP")
            assert word.isdigit() == (tag == "CD")
            if tag not in ("NNP", "DT", "IN", "MD", "PRP", "CC"):
                suffixes[tag].add(word[-2:])
    assert suffixes["VBD"] == suffixes["VBN"] == {"ed"}
    assert {ending[-1] for ending in suffixes["VBZ"]} == {"s"}
    assert "ly" in suffixes["RB"]


def test_first_words_begin_with_a_capital_unless_an_hmm_is_to_fit():
    X, _ = make_tagged_sentences(200, random_state=0)
    assert all(words[0][0].isupper() or words[0].isdigit() for words in X)
    X, y = make_tagged_sentences(200, order=1, random_state=0)
    firsts = [words[0] for words, tags in zip(X, y, strict=True) if tags[0] == "DT"]
    assert not any(word[0].isupper() for word in firsts)


def agreement(order):
    """Return the p-value that verb and noun agree across an adverb by chance."""
    _, y = make_tagged_sentences(5000, order=order, random_state=0)
    table = np.zeros((2, 2))
    for tags in y:
        for noun, adverb, verb in zip(tags, tags[1:], tags[2:], strict=False):
            if adverb == "RB" and noun in ("NN", "NNS") and verb in ("VBZ", "VBP"):
                table[int(noun == "NN"), int(verb == "VBZ")] += 1
    assert table.sum() > 200
    return chi2_contingency(table).pvalue


def test_tags_depend_on_the_tag_two_back():
    assert agreement(order=2) < 1e-30


def test_tags_of_order_one_do_not():
    assert agreement(order=1) > 0.01


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"n_sentences": 0}, ValueError),
        ({"mean_length": 2}, ValueError),
        ({"n_words": 49}, ValueError),
        ({"order": 3}, ValueError),
        ({"order": True}, ValueError),
        ({"order": np.array([1, 2])}, ValueError),
        ({"random_state": -1}, ValueError),
    ],
)
def test_parameters_are_checked(kwargs, error):
    (name,) = kwargs
    message = f"The '{name}' parameter of make_tagged_sentences must be"
    with pytest.raises(error, match=message):
        make_tagged_sentences(**kwargs)
