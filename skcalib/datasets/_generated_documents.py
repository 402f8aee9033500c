"""Generated documents with known distributions of coreference and of events.

Each sentence has two mentions. Entities are drawn from the softmax of known scores of
antecedents. Words do not depend on entities, so these scores define the true posterior.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._errors import public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_bool, check_integer, check_real
from ..documents import Document, Mention, Sentence
from ..posteriors import AntecedentPosterior

# (form, lemma, upos, xpos) of a word, and the same with its head and relation.
Word = tuple[str, str, str, str]
Row = tuple[str, str, str, str, int, str]
# The columns of a sentence, and the first words and ends of its two mentions.
Clause = tuple[dict[str, Any], list[tuple[int, int]]]

# Relations of the words before the head of a phrase.
MODIFIERS = {"DET": "det", "ADJ": "amod"}


def _clause(
    first: list[Word], verb: tuple[str, str], second: list[Word], *, passive: bool
) -> Clause:
    """Return a sentence with the form and lemma of its verb and two mentions."""
    # "was" comes before the verb, which is the root, and "by" after it.
    root = len(first) + passive
    begin = root + 1 + passive
    last = begin + len(second) - 1
    rows = _attached(first, len(first) - 1, root, "nsubj:pass" if passive else "nsubj")
    if passive:
        was = "were" if first[-1][3] in ("NNS", "PRP") else "was"
        rows.append((was, "be", "AUX", "VBD", root, "aux:pass"))
    rows.append((*verb, "VERB", "VBN" if passive else "VBD", -1, "root"))
    if passive:
        rows.append(("by", "by", "ADP", "IN", last, "case"))
    rows += _attached(second, last, root, "obl:agent" if passive else "obj")
    rows.append((".", ".", "PUNCT", ".", root, "punct"))
    names = ("form", "lemma", "upos", "xpos", "head", "deprel")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return columns, [(0, len(first)), (begin, last + 1)]


def _attached(phrase: list[Word], last: int, head: int, role: str) -> list[Row]:
    """Return the words of a phrase whose head is its last word, at `last`."""
    *modifiers, own = phrase
    rows = [(*word, last, MODIFIERS[word[2]]) for word in modifiers]
    return [*rows, (*own, head, role)]


def _antecedent_scores(
    link: np.ndarray, new: np.ndarray, further: np.ndarray
) -> np.ndarray:
    """Return the scores of the antecedents of a document's mentions, and of NEW.

    `link` contains the score of each pair of mentions and `new` the score of NEW for
    each mention. `further` is added to the links of a mention for each sentence in
    between.
    """
    sentence = np.arange(len(link)) // 2
    distance = np.abs(np.subtract.outer(sentence, sentence))
    scores = link + further[:, np.newaxis] * distance
    np.fill_diagonal(scores, new)
    # A mention has no antecedent after itself.
    scores[np.triu_indices_from(scores, 1)] = -np.inf
    return scores


def _draw_entities(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the entity of each mention, as the index of its first mention."""
    return AntecedentPosterior([scores]).sample(1, rng)[0][0]


def _make_document(
    i: int, date: datetime.date | None, clauses: Iterable[Clause], entities: np.ndarray
) -> Document:
    """Return document `i`, in which the last word of each mention is its head."""
    sentences, mentions = [], []
    n_words = 0
    for columns, spans in clauses:
        sentences.append(Sentence(**columns))
        for start, end in spans:
            last = n_words + end
            mentions.append(Mention(n_words + start, last, last - 1))
        n_words += len(sentences[-1])
    return Document(f"generated-{i}", date, sentences, mentions, entities.tolist())


# Documents with coreference.

# Kinds of mentions with their probabilities, tags, and words by gender.
PRONOUN, NAME, NOUN = range(3)
SHARES = (0.4, 0.3, 0.3)
TAGS = (("PRON", "PRP"), ("PROPN", "NNP"), ("NOUN", "NN"))
WORDS = (
    (("she",), ("he",), ("it",)),
    (
        ("Ada", "Ida", "Mary", "Rosa", "Vera"),
        ("Bo", "Hugo", "Karl", "Otto", "Tom"),
        ("Arcadia", "Lodz", "Mars", "Nord", "Rome"),
    ),
    (
        ("queen", "mother", "sister", "actress"),
        ("king", "father", "brother", "monk"),
        ("ship", "town", "house", "company"),
    ),
)
VERBS = ("saw", "left", "praised", "feared", "bought", "found")

# Scores by the kind of the mention: score of a link to an equal word, of a link to
# another word of the same gender, of NEW, and of each sentence between.
LIKE = np.array([1.5, 4.0, 2.5])
OTHER = np.array([1.5, -2.0, -0.5])
NEW = np.array([0.5, 1.0, 1.0])
FURTHER = np.array([-0.4, -0.02, -0.1])
OTHER_NAME = -4.0  # of two names that differ
OTHER_GENDER = -5.0


@public
def make_coref_documents(
    n_documents: int = 100,
    *,
    mean_mentions: float = 20.0,
    return_scores: bool = False,
    random_state: RandomStateLike = None,
) -> Any:
    """Generate documents with mentions and known probabilities of coreference.

    Parameters
    ----------
    n_documents : int, default=100
        Number of documents.
    mean_mentions : float, default=20.0
        Mean number of mentions of a document, at least 2.
    return_scores : bool, default=False
        Whether the true scores of antecedents are also returned.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the documents.

    Returns
    -------
    X : list of Document
        Documents with tags and parses. Each sentence has two mentions.
    y : list of ndarray of shape (n_i,), int
        Entity of each mention: the index of its first mention.
    scores : list of ndarray of shape (n_i, n_i)
        Scores of the antecedents, the input of `AntecedentPosterior`. The true entities
        are one sample from the posterior that the scores define. Only returned if
        `return_scores` is True.

    See Also
    --------
    make_calibrated_pairs : Labels and probabilities whose calibration is known.
    make_tagged_sentences : Sentences with part-of-speech tags.

    Notes
    -----
    The documents are generated as follows:

    1. A document has 1 + Poisson((mean_mentions - 2) / 2) sentences "mention verb
       mention .". A mention is a pronoun (probability 0.4), a name or "the" with a noun
       (0.3 each), of one of three genders. Its word is drawn uniformly.
    2. The score of an antecedent depends on the kinds of both mentions and on whether
       their words and genders agree, and decreases with the number of sentences between
       them. The score of starting a new entity depends on the kind of the mention.
       Different names and different genders have low scores, so they are rarely in one
       entity.
    3. Antecedents are drawn from the softmax of the scores of each mention, and linked
       mentions form an entity.

    Words do not depend on entities, so the softmax is the true posterior, and the
    probabilities of pairs computed from these scores are calibrated.

    Examples
    --------
    >>> from skcalib.datasets import make_coref_documents
    >>> X, y = make_coref_documents(3, random_state=0)
    >>> X[0]
    Document('generated-0', no date, 4 sentences, 21 words, 8 mentions)
    >>> y[0].shape
    (8,)
    """
    n = check_integer(n_documents, minimum=1, name="n_documents")
    mean = check_real(mean_mentions, low=2, high=1e5, name="mean_mentions")
    rng = as_generator(random_state)
    documents, scores, labels = [], [], []
    for i in range(n):
        n_sentences = 1 + int(rng.poisson((mean - 2) / 2))
        kind = rng.choice(3, size=2 * n_sentences, p=SHARES)
        gender = rng.integers(3, size=2 * n_sentences)
        word = [
            WORDS[k][g][rng.integers(len(WORDS[k][g]))]
            for k, g in zip(kind.tolist(), gender.tolist(), strict=True)
        ]
        verb = rng.choice(VERBS, size=n_sentences).tolist()
        scores.append(_coref_scores(kind, gender, np.array(word)))
        labels.append(_draw_entities(scores[-1], rng).astype(int))
        phrases = list(map(_coref_phrase, kind.tolist(), word))
        clauses = map(_coref_clause, phrases[::2], verb, phrases[1::2])
        documents.append(_make_document(i, None, clauses, labels[-1]))
    if check_bool(return_scores, name="return_scores"):
        return documents, labels, scores
    return documents, labels


def _coref_scores(kind: np.ndarray, gender: np.ndarray, word: np.ndarray) -> np.ndarray:
    like = np.equal.outer(word, word)
    link = np.where(like, LIKE[kind, np.newaxis], OTHER[kind, np.newaxis])
    names = kind == NAME
    link[np.logical_and.outer(names, names) & ~like] = OTHER_NAME
    link[np.not_equal.outer(gender, gender)] = OTHER_GENDER
    return _antecedent_scores(link, NEW[kind], FURTHER[kind])


def _coref_phrase(kind: int, word: str) -> list[Word]:
    """Return the words of a mention, the head last."""
    head = (word, word, *TAGS[kind])
    return [("the", "the", "DET", "DT"), head] if kind == NOUN else [head]


def _coref_clause(first: list[Word], verb: str, second: list[Word]) -> Clause:
    columns, spans = _clause(first, (verb, verb), second, passive=False)
    del columns["lemma"]  # These documents have no lemmas.
    return columns, spans


# Documents with events.

FIRST_DAY = datetime.date(1990, 1, 1)

# Name and adjective of each country by its code.
COUNTRIES = {
    "BOL": ("Bolivia", "Bolivian"),
    "FRA": ("France", "French"),
    "KEN": ("Kenya", "Kenyan"),
    "NOR": ("Norway", "Norwegian"),
}

# Kinds of mentions, with their probabilities as subjects and as objects: "they", "the
# rebels", "Kenyan rebels", "Kenya", "the town".
THEY, GROUP, AFFILIATED, COUNTRY, PLACE = range(5)
SUBJECT = (0.4, 0.25, 0.25, 0.1, 0.0)
OBJECT = (0.15, 0.15, 0.2, 0.15, 0.35)

# (form, lemma)
GROUPS = (("rebels", "rebel"), ("soldiers", "soldier"), ("officials", "official"))
PLACES = (("town", "town"), ("base", "base"), ("bridge", "bridge"), ("port", "port"))
ACTS = (("met", "meet"), ("praised", "praise"), ("left", "leave"), ("saw", "see"))
ATTACK = ("attacked", "attack")
P_ATTACK, P_PASSIVE = 0.3, 0.25

# Score of a link by the kinds of a mention (row) and its antecedent (column) if their
# words and countries, if any, do not differ; scores of NEW and of each sentence
# between.
EVENT_LINK = np.array(
    [
        [1.5, 1.5, 1.5, -0.5, -4.0],
        [0.0, 3.0, 2.0, -2.0, -6.0],
        [0.0, 1.0, 3.5, 0.5, -6.0],
        [-1.0, -2.0, 0.5, 5.0, -6.0],
        [-4.0, -6.0, -6.0, -6.0, 4.0],
    ]
)
EVENT_NEW = np.array([0.0, 1.0, 1.5, 1.5, 1.5])
EVENT_FURTHER = np.array([-0.7, -0.2, -0.1, -0.02, -0.1])
OTHER_WORD, OTHER_COUNTRY = -3.5, -5.0


@public
def make_event_documents(
    n_documents: int = 100,
    *,
    mean_mentions: float = 10.0,
    n_days: int = 365,
    return_scores: bool = False,
    random_state: RandomStateLike = None,
) -> Any:
    """Generate dated documents with events and known counts.

    Parameters
    ----------
    n_documents : int, default=100
        Number of documents.
    mean_mentions : float, default=10.0
        Mean number of mentions of a document, at least 2.
    n_days : int, default=365
        Number of days from 1 January 1990. The dates of the documents are drawn
        uniformly from them.
    return_scores : bool, default=False
        Whether the true scores of antecedents are also returned.
    random_state : int, RandomState, Generator or None, default=None
        Random state used to draw the documents.

    Returns
    -------
    documents : list of Document
        Documents with tags, lemmas and parses (as in Universal Dependencies), mentions
        and true entities. Each sentence has two mentions.
    events : list of dict
        For each document, a dict from the code of a country to the number of entities
        that attack somebody and are affiliated with this country only.
    scores : list of ndarray of shape (n_i, n_i)
        Scores of the antecedents, the input of `AntecedentPosterior`. The true entities
        are one sample from the posterior that the scores define. Only returned if
        `return_scores` is True.

    See Also
    --------
    make_coref_documents : Documents with coreference but without events.
    skcalib.events.EventCounter : Count the events of documents.

    Notes
    -----
    The documents are generated as follows:

    1. A document has 1 + Poisson((mean_mentions - 2) / 2) sentences "subject verb
       object ." A mention is "they", a group ("the rebels"), a group of a country
       ("Kenyan rebels"), a country, or (objects only) a place. The verb is "attacked"
       with probability 0.3. A quarter of these sentences are passive: "The port was
       attacked by rebels."
    2. The score of an antecedent depends on the kinds, words and countries of both
       mentions and decreases with the number of sentences between them.
    3. Antecedents are drawn from the softmax of the scores of each mention, and linked
       mentions form an entity.

    Words do not depend on entities, so the softmax is the true posterior, and the
    distribution of counts that it implies is correct. An entity may combine words and
    countries that do not occur together in real text.

    Examples
    --------
    >>> from skcalib.datasets import make_event_documents
    >>> documents, events = make_event_documents(3, random_state=4)
    >>> documents[0]
    Document('generated-0', 1990-02-22, 6 sentences, 36 words, 12 mentions)
    >>> events
    [{'KEN': 1}, {}, {}]
    """
    n = check_integer(n_documents, minimum=1, name="n_documents")
    mean = check_real(mean_mentions, low=2, high=1e5, name="mean_mentions")
    most = (datetime.date.max - FIRST_DAY).days + 1
    days = check_integer(n_days, minimum=1, maximum=most, name="n_days")
    rng = as_generator(random_state)
    documents, events, scores = [], [], []
    for i in range(n):
        n_sentences = 1 + int(rng.poisson((mean - 2) / 2))
        kind, word, country = _draw_mentions(n_sentences, rng)
        attack = rng.random(n_sentences) < P_ATTACK
        passive = attack & (rng.random(n_sentences) < P_PASSIVE)
        act = rng.integers(len(ACTS), size=n_sentences)
        scores.append(_event_scores(kind, word, country))
        labels = _draw_entities(scores[-1], rng)
        # The agent of a passive sentence is its second mention.
        agents = 2 * np.flatnonzero(attack) + passive[attack]
        events.append(_events(labels, agents, country))
        verbs = [ATTACK if attack[s] else ACTS[act[s]] for s in range(n_sentences)]
        mentions = kind.tolist(), word.tolist(), country.tolist()
        phrases = list(map(_event_phrase, *mentions))
        clauses = map(
            _event_clause, phrases[::2], verbs, phrases[1::2], passive.tolist()
        )
        date = FIRST_DAY + datetime.timedelta(days=int(rng.integers(days)))
        documents.append(_make_document(i, date, clauses, labels))
    if check_bool(return_scores, name="return_scores"):
        return documents, events, scores
    return documents, events


def _draw_mentions(
    n_sentences: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the kind, word and country of mentions; -1 for no word or no country."""
    n = 2 * n_sentences
    kind = np.empty(n, dtype=np.intp)
    kind[::2] = rng.choice(5, size=n_sentences, p=SUBJECT)
    kind[1::2] = rng.choice(5, size=n_sentences, p=OBJECT)
    group = rng.integers(len(GROUPS), size=n)
    place = rng.integers(len(PLACES), size=n)
    country = rng.integers(len(COUNTRIES), size=n)
    is_group = (kind == GROUP) | (kind == AFFILIATED)
    word = np.where(is_group, group, np.where(kind == PLACE, place, -1))
    return kind, word, np.where((kind == AFFILIATED) | (kind == COUNTRY), country, -1)


def _event_scores(
    kind: np.ndarray, word: np.ndarray, country: np.ndarray
) -> np.ndarray:
    link = EVENT_LINK[np.ix_(kind, kind)]
    for value, penalty in ((word, OTHER_WORD), (country, OTHER_COUNTRY)):
        known = value >= 0
        differ = np.not_equal.outer(value, value) & np.logical_and.outer(known, known)
        link += penalty * differ
    return _antecedent_scores(link, EVENT_NEW[kind], EVENT_FURTHER[kind])


def _events(
    labels: np.ndarray, agents: np.ndarray, country: np.ndarray
) -> dict[str, int]:
    """Return the number of entities with an agent and one country, by its code."""
    found: dict[str, int] = {}
    for entity in np.unique(labels[agents]).tolist():
        own = set(country[labels == entity].tolist()) - {-1}
        if len(own) == 1:
            code = list(COUNTRIES)[own.pop()]
            found[code] = found.get(code, 0) + 1
    return found


def _event_phrase(kind: int, word: int, country: int) -> list[Word]:
    """Return the words of a mention, the head last."""
    # The country -1 of mentions without one is not used.
    name, adjective = list(COUNTRIES.values())[country]
    if kind == THEY:
        return [("they", "they", "PRON", "PRP")]
    if kind == COUNTRY:
        return [(name, name, "PROPN", "NNP")]
    if kind == PLACE:
        head = (*PLACES[word], "NOUN", "NN")
    else:
        head = (*GROUPS[word], "NOUN", "NNS")
    if kind == AFFILIATED:
        return [(adjective, adjective, "ADJ", "JJ"), head]
    return [("the", "the", "DET", "DT"), head]


def _event_clause(
    first: list[Word], verb: tuple[str, str], second: list[Word], passive: bool
) -> Clause:
    if second[-1][3] == "PRP":  # "they" as object
        second = [("them", *second[-1][1:])]
    columns, spans = _clause(first, verb, second, passive=passive)
    start, *others = columns["form"]
    columns["form"] = (start[0].upper() + start[1:], *others)
    return columns, spans
