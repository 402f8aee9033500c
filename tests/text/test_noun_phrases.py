"""Mentions from parses: phrases worked by hand, and how many of GUM are found."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.datasets import fetch_corpus
from skcalib.documents import Document, Mention, Sentence, mentions_from_parse

HOME = Path(os.environ.get("SKCALIB_DATA", "nowhere"))


def parse(text):
    """Make a sentence of FORM/UPOS/HEAD/DEPREL[/FEATS], heads from 1."""
    rows = [word.split("/") for word in text.split()]
    return Sentence(
        [row[0] for row in rows],
        upos=[row[1] for row in rows],
        head=[int(row[2]) - 1 for row in rows],
        deprel=[row[3] for row in rows],
        feats=[row[4] if len(row) > 4 else "_" for row in rows],
    )


def phrases(text, **kwargs):
    sentence = parse(text)
    document = mentions_from_parse(Document("a", sentences=[sentence]), **kwargs)
    return [" ".join(sentence.form[m.start : m.end]) for m in document.mentions]


WORKED = {
    # a subtree, nested ones, without the preposition
    "the/DET/2/det president/NOUN/6/nsubj of/ADP/5/case the/DET/5/det "
    "country/NOUN/2/nmod left/VERB/0/root": [
        "the president of the country",
        "the country",
    ],
    # the possessive is of the phrase, and so is who has
    "Ada/PROPN/3/nmod:poss 's/PART/1/case dog/NOUN/4/nsubj barked/VERB/0/root": [
        "Ada 's dog",
        "Ada 's",
    ],
    "her/PRON/2/nmod:poss dog/NOUN/0/root": ["her dog", "her"],
    # compounds and names are one
    "San/PROPN/2/compound Salvador/PROPN/3/compound police/NOUN/0/root": [
        "San Salvador police"
    ],
    "Ada/PROPN/0/root King/PROPN/1/flat": ["Ada King"],
    # coordination: each on its own
    "rebels/NOUN/0/root and/CCONJ/4/cc many/ADJ/4/amod troops/NOUN/1/conj": [
        "rebels",
        "many troops",
    ],
    # an apposition stands beside it, a relative clause belongs to it
    "Ada/PROPN/0/root ,/PUNCT/4/punct a/DET/4/det countess/NOUN/1/appos": [
        "Ada",
        "a countess",
    ],
    "troops/NOUN/0/root who/PRON/3/nsubj/PronType=Rel took/VERB/1/acl:relcl "
    "it/PRON/3/obj": ["troops who took it", "it"],
    # a predicate: not the whole clause
    "He/PRON/4/nsubj is/AUX/4/cop a/DET/4/det spy/NOUN/0/root now/ADV/4/advmod "
    "./PUNCT/4/punct": ["He", "a spy"],
    # punctuation inside and at the ends
    '"/PUNCT/2/punct Ada/PROPN/0/root "/PUNCT/2/punct': ["Ada"],
    "old/ADJ/4/amod ,/PUNCT/3/punct tired/ADJ/1/conj men/NOUN/0/root": [
        "old , tired men"
    ],
    # nobody: expletives, questions
    "It/PRON/2/expl rains/VERB/0/root": [],
    "What/PRON/2/nsubj/PronType=Int fell/VERB/0/root": [],
    "That/PRON/2/nsubj/PronType=Dem fell/VERB/0/root": ["That"],
    # no words of the phrase beyond a gap
    "a/DET/3/det review/VERB/0/root book/NOUN/2/obj": ["book"],
    # labels of spaCy's English models
    "the/DET/2/det leader/NOUN/5/nsubjpass of/ADP/2/prep Iraq/PROPN/3/pobj "
    "fell/VERB/0/ROOT": ["the leader of Iraq", "Iraq"],
    "men/NOUN/0/ROOT who/PRON/3/nsubj fell/VERB/1/relcl": ["men who fell"],
}


@pytest.mark.parametrize(("text", "expected"), WORKED.items())
def test_phrases(text, expected):
    assert phrases(text) == expected


def test_relative_pronouns_if_wanted():
    text = "men/NOUN/0/root who/PRON/3/nsubj/PronType=Rel fell/VERB/1/acl:relcl"
    assert phrases(text, relative_pronouns=True) == ["men who fell", "who"]
    bare = text.replace("/PronType=Rel", "")
    assert phrases(bare) == ["men who fell"]
    assert phrases(bare, relative_pronouns=True) == ["men who fell", "who"]


def test_words_are_counted_over_the_document():
    sentences = [parse("It/PRON/2/nsubj fell/VERB/0/root")] * 2
    old = Document("a", None, sentences, [Mention(0, 2)], ["e"], {"place": "here"})
    new = mentions_from_parse(old)
    assert new.mentions == (Mention(0, 1, 0), Mention(2, 3, 2))
    assert new.entities == (None, None)
    assert (new.id, new.sentences, new.metadata) == ("a", old.sentences, old.metadata)
    assert old.mentions == (Mention(0, 2),)


def test_nothing_to_find():
    assert mentions_from_parse(Document("a")).mentions == ()
    assert phrases("Yes/INTJ/0/root") == []


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ([-1, -1, -1], "sentence 1 of document 'a' has none"),
        ([1, 2, 0], r"in a circle: 0 \('x'\), 1 \('y'\), 2 \('z'\)"),
        ([-1, 2, 1], r"in a circle: 1 \('y'\), 2 \('z'\)"),
    ],
)
def test_a_parse_that_is_missing_or_broken(head, message):
    good = parse("It/PRON/2/nsubj fell/VERB/0/root")
    document = Document("a", sentences=[good, Sentence(list("xyz"), head=head)])
    with pytest.raises(
        ValueError, match=f"mentions_from_parse needs parses.*{message}"
    ):
        mentions_from_parse(document)


def test_a_list_is_no_document():
    with pytest.raises(TypeError, match="'document'.*must be a Document. Got list"):
        mentions_from_parse([])


@given(st.data())
def test_any_tree_has_mentions_with_their_heads(data):
    n = data.draw(st.integers(1, 10))
    order = data.draw(st.permutations(range(n)))
    head = [-1] * n
    for place, word in enumerate(order[1:], start=1):
        head[word] = order[data.draw(st.integers(0, place - 1))]
    tags = st.sampled_from(["NOUN", "PRON", "VERB", "PUNCT"])
    labels = st.sampled_from(["nsubj", "nmod", "case", "punct", "conj", "acl:relcl"])
    upos = data.draw(st.lists(tags, min_size=n, max_size=n))
    deprel = data.draw(st.lists(labels, min_size=n, max_size=n))
    sentence = Sentence(list("abcdefghij"[:n]), upos=upos, head=head, deprel=deprel)
    mentions = mentions_from_parse(Document("a", sentences=[sentence])).mentions
    heads = sorted(mention.head for mention in mentions)
    assert heads == [i for i in range(n) if upos[i] in ("NOUN", "PRON")]
    assert len({(m.start, m.end) for m in mentions}) == len(mentions)
    assert [(m.start, -m.end) for m in mentions] == sorted(
        (m.start, -m.end) for m in mentions
    )
    for mention in mentions:
        ends = (mention.start, mention.end - 1)
        assert all(upos[i] != "PUNCT" for i in ends)


def test_the_share_of_mentions_by_hand_that_are_found():
    if not (HOME / "gum").exists():
        pytest.skip("GUM is not here")
    documents = fetch_corpus("gum", subset="test", download_if_missing=False).data
    spans = heads = n_gold = n_found = 0
    for gold in documents:
        found = mentions_from_parse(gold)
        by_hand, by_parse = (
            {(m.start, m.end): m.head for m in each.mentions} for each in (gold, found)
        )
        spans += len(by_hand.keys() & by_parse.keys())
        heads += len(set(by_hand.values()) & set(by_parse.values()))
        n_gold += len(by_hand)
        n_found += len(by_parse)
    assert n_gold == 7927
    assert spans / n_gold > 0.8
    assert spans / n_found > 0.85
    assert heads / n_gold > 0.86
