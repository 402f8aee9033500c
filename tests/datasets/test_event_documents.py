"""Generated news: its form, and that its truth is the truth."""

import datetime

import pytest

from skcalib.datasets import make_event_documents


@pytest.fixture(scope="module")
def data():
    return make_event_documents(300, return_scores=True, random_state=0)


def words_of(document, column):
    return [x for sentence in document.sentences for x in getattr(sentence, column)]


def test_sentences_are_parsed_as_universal_dependencies(data):
    roles = set()
    for document in data[0]:
        for sentence in document.sentences:
            (root,) = [i for i, head in enumerate(sentence.head) if head == -1]
            assert sentence.upos[root] == "VERB"
            assert sentence.deprel[root] == "root"
            assert sentence.form[0][0].isupper()
            assert sentence.form[-1] == "."
            roles |= set(sentence.deprel)
            for i, role in enumerate(sentence.deprel):
                head = sentence.head[i]
                if role in ("amod", "det", "case"):
                    assert head > i
                elif role != "root":
                    assert head == root
            passive = "aux:pass" in sentence.deprel
            assert passive == ("obl:agent" in sentence.deprel)
            assert passive == ("nsubj:pass" in sentence.deprel)
            if passive:
                by = sentence.form.index("by")
                agent = sentence.head[by]
                assert sentence.deprel[agent] == "obl:agent"
                assert sentence.lemma[root] == "attack"
    assert roles == {
        *("root", "punct", "nsubj", "obj", "det", "amod"),
        *("nsubj:pass", "aux:pass", "case", "obl:agent"),
    }


def test_mentions_end_with_their_heads(data):
    for document, scores in zip(data[0], data[2], strict=True):
        assert len(scores) == len(document.mentions) == len(document.entities)
        assert len(document.mentions) == 2 * len(document.sentences)
        upos = words_of(document, "upos")
        for mention in document.mentions:
            assert mention.head == mention.end - 1
            assert upos[mention.head] in ("NOUN", "PROPN", "PRON")
            assert all(
                tag in ("DET", "ADJ") for tag in upos[mention.start : mention.head]
            )


def test_events_are_those_of_the_entities(data):
    """Read the events from words and entities, by hand."""
    code_of = {"Bolivia": "BOL", "Bolivian": "BOL", "France": "FRA", "French": "FRA"}
    code_of |= {"Kenya": "KEN", "Kenyan": "KEN", "Norway": "NOR", "Norwegian": "NOR"}
    n_events = 0
    for document, events in zip(data[0], data[1], strict=True):
        form = words_of(document, "form")
        entities = {}
        for j, mention in enumerate(document.mentions):
            sentence = document.sentences[j // 2]
            attacked = "attacked" in sentence.form
            passive = "by" in sentence.form
            entity = entities.setdefault(document.entities[j], [False, set()])
            entity[0] |= attacked and passive == j % 2
            entity[1] |= {code_of.get(w) for w in form[mention.start : mention.end]}
        found = {}
        for is_agent, codes in entities.values():
            codes.discard(None)
            if is_agent and len(codes) == 1:
                (code,) = codes
                found[code] = found.get(code, 0) + 1
        assert found == events
        n_events += sum(found.values())
    assert n_events > 100


def test_dates_lie_in_the_span():
    first = datetime.date(1990, 1, 1)
    documents, _ = make_event_documents(400, n_days=10, mean_mentions=2, random_state=0)
    days = {(document.date - first).days for document in documents}
    assert days == set(range(10))
    assert {len(document.mentions) for document in documents} == {2}


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"n_documents": 0}, ValueError),
        ({"mean_mentions": 1}, ValueError),
        ({"n_days": 0}, ValueError),
        ({"n_days": 10**30}, ValueError),
        ({"random_state": "x"}, ValueError),
    ],
)
def test_parameters_are_checked(params, error):
    (name,) = params
    with pytest.raises(error, match=f"'{name}' parameter of make_event_documents"):
        make_event_documents(**params)
