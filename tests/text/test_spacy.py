"""Documents from spaCy, and from what has the attributes of its Doc."""

import datetime
from dataclasses import dataclass, field

import pytest

from skcalib.documents import Document, mentions_from_parse
from skcalib.events import EventRule

WORDS = ["The", "town", "was", "attacked", "by", "Iran", ".", "They", "left"]
HEADS = [1, 3, 3, 3, 3, 4, 3, 8, 8]
DEPS = ["det", "nsubjpass", "auxpass", "ROOT", "agent", "pobj", "punct"]
DEPS += ["nsubj", "ROOT"]
POS = ["DET", "NOUN", "AUX", "VERB", "ADP", "PROPN", "PUNCT", "PRON", "VERB"]
LEMMAS = ["the", "town", "be", "attack", "by", "Iran", ".", "they", "leave"]


@dataclass
class Token:
    """What is read of a token."""

    i: int
    text: str
    lemma_: str = ""
    pos_: str = ""
    tag_: str = ""
    morph: str = ""
    dep_: str = ""
    head: "Token" = field(default=None, repr=False)


class Doc:
    """A Doc as far as it is read."""

    def __init__(self, tokens, bounds):
        self.tokens, self.bounds = tokens, bounds

    def __len__(self):
        return len(self.tokens)

    def __iter__(self):
        return iter(self.tokens)

    @property
    def sents(self):
        if self.bounds is None:
            raise ValueError("[E030] Sentence boundaries unset.")
        for start, end in self.bounds:
            yield self.tokens[start:end]


def stand_in():
    tokens = [
        Token(i, *columns)
        for i, columns in enumerate(
            zip(WORDS, LEMMAS, POS, POS, ["_"] * 9, DEPS, strict=True)
        )
    ]
    for token, head in zip(tokens, HEADS, strict=True):
        token.head = tokens[head]
    return Doc(tokens, [(0, 7), (7, 9)])


def real():
    spacy = pytest.importorskip("spacy")
    vocab = spacy.blank("en").vocab
    return spacy.tokens.Doc(
        vocab, words=WORDS, heads=HEADS, deps=DEPS, pos=POS, tags=POS, lemmas=LEMMAS
    )


@pytest.fixture(params=[stand_in, real])
def doc(request):
    return request.param()


def test_columns(doc):
    date = datetime.date(1990, 1, 3)
    document = Document.from_spacy(doc, id="a", date=date)
    assert (document.id, document.date) == ("a", date)
    first, second = document.sentences
    assert first.form + second.form == tuple(WORDS)
    assert first.lemma == ("the", "town", "be", "attack", "by", "Iran", ".")
    assert first.upos == first.xpos == tuple(POS[:7])
    assert first.feats == ("_",) * 7
    assert first.head == (1, 3, 3, -1, 3, 4, 3)
    assert second.head == (1, -1)
    assert first.deprel == tuple(DEPS[:7])
    assert document.mentions == ()


def test_its_labels_are_understood(doc):
    document = mentions_from_parse(Document.from_spacy(doc, id="a"))
    words = [" ".join(WORDS[m.start : m.end]) for m in document.mentions]
    assert words == ["The town", "Iran", "They"]
    rule = EventRule()
    evidence = rule.evidence(document)
    assert evidence.agent.tolist() == [False, True, False]
    assert [rule.codes[code] for code in evidence.code if code >= 0] == ["IRN"]
    assert rule.may_match(document)


def test_without_boundaries_it_is_one_sentence():
    tokens = [Token(0, "It"), Token(1, "rains")]
    for token in tokens:
        token.head = token
    document = Document.from_spacy(Doc(tokens, None))
    (sentence,) = document.sentences
    assert sentence.form == ("It", "rains")
    assert sentence.head == (-1, -1)
    assert sentence.upos == ("_", "_")
    with pytest.raises(ValueError, match="sentence 0 of document None has none"):
        mentions_from_parse(document)
    assert Document.from_spacy(Doc([], None)).sentences == ()


def test_a_blank_pipeline():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    (sentence,) = Document.from_spacy(nlp("It rains.")).sentences
    assert sentence.form == ("It", "rains", ".")
    nlp.add_pipe("sentencizer")
    document = Document.from_spacy(nlp("It rains. It pours."))
    assert [s.form[1] for s in document.sentences] == ["rains", "pours"]
    assert Document.from_spacy(nlp("")).sentences == ()


def test_a_head_in_another_sentence():
    doc = stand_in()
    doc.tokens[8].head = doc.tokens[3]
    message = r"from_spacy.*Token 8 .'left'. has its head, token 3, in another"
    with pytest.raises(ValueError, match=message):
        Document.from_spacy(doc)


@pytest.mark.parametrize("value", ["It rains.", None, ["It", "rains"]])
def test_what_is_no_doc(value):
    name = type(value).__name__
    with pytest.raises(TypeError, match=f"'doc'.*must be a spaCy Doc. Got {name}"):
        Document.from_spacy(value)
