"""spaCy's scores in, entities out; the real library where it is installed."""

import importlib.util
from types import SimpleNamespace

import pytest

from skcalib.experimental import PredictedEntities, from_spacy_beam, to_spacy


def fake_ner(beams):
    """Return what is used of spaCy's EntityRecognizer."""
    return SimpleNamespace(
        beam_parse=lambda docs, beam_width, beam_density: beams[: len(docs)],
        moves=SimpleNamespace(get_beam_parses=lambda beam: beam),
    )


def test_the_probability_of_an_entity_is_the_sum_over_the_parses_that_have_it():
    beam = [
        (0.5, [(0, 2, "PER"), (3, 4, "ORG")]),
        (0.2, [(0, 2, "PER")]),
        (0.1, [(0, 1, "PER"), (3, 4, "ORG")]),
    ]
    found = from_spacy_beam(fake_ner([beam, []]), ["a", "b"])
    expected = {(0, 2, "PER"): 0.7, (3, 4, "ORG"): 0.6, (0, 1, "PER"): 0.1}
    got = {row[:3]: row[3] for row in found[0]}
    assert got == pytest.approx({key: p / 0.8 for key, p in expected.items()})
    assert found[1] == []


def test_something_else_than_a_recogniser_is_an_error():
    with pytest.raises(TypeError, match="'ner' .* Got int"):
        from_spacy_beam(3, [])
    with pytest.raises(TypeError, match="'beam_width' "):
        from_spacy_beam(fake_ner([]), [], beam_width=1.5)


ENTITIES = PredictedEntities.from_spans(
    [[(0, 2, "PER", 0.9)], [], [(0, 1, "LOC", 0.25)]],
    tokens=[["Ada", "Bell", "sang"], ["no"], ["Bo"]],
)


@pytest.mark.skipif(
    importlib.util.find_spec("spacy") is not None, reason="spaCy is installed"
)
def test_without_spacy_the_error_says_what_to_do():
    with pytest.raises(ImportError, match=r"pip install skcalib\[spacy\].*records"):
        to_spacy(ENTITIES, [])


def real_docs():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    return nlp, [
        spacy.tokens.Doc(nlp.vocab, words=list(words)) for words in ENTITIES.tokens
    ]


def test_entities_are_written_into_documents():
    _, docs = real_docs()
    to_spacy(ENTITIES, docs)
    found = [[(e.start, e.end, e.label_, e._.proba) for e in d.ents] for d in docs]
    assert found == ENTITIES.spans()
    to_spacy(ENTITIES, docs, spans_key="sc")
    for doc, rows in zip(docs, ENTITIES.spans(), strict=True):
        group = doc.spans["sc"]
        assert [(e.start, e.end, e.label_) for e in group] == [r[:3] for r in rows]
        assert group.attrs["scores"].tolist() == [row[3] for row in rows]


def test_documents_with_other_tokens_are_an_error():
    _, docs = real_docs()
    with pytest.raises(ValueError, match=r"\[3, 1, 1\] tokens. Got documents with \[3"):
        to_spacy(ENTITIES, docs[:2])


def test_the_beam_of_a_real_recogniser():
    nlp, docs = real_docs()
    ner = nlp.add_pipe("ner")
    ner.add_label("PER")
    nlp.initialize()
    found = from_spacy_beam(ner, docs, beam_width=8, beam_density=0.0)
    for doc, rows in zip(docs, found, strict=True):
        assert all(0 <= p <= 1 and stop <= len(doc) for _, stop, _, p in rows)
    assert any(found)
