"""Generated news with events and known counts and coreference."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_bool, check_integer, check_real
from ..documents import Sentence
from ._coref_documents import antecedent_scores, draw_entities, make_document

# Code, name and adjective of each country.
COUNTRIES = {
    "BOL": ("Bolivia", "Bolivian"),
    "FRA": ("France", "French"),
    "KEN": ("Kenya", "Kenyan"),
    "NOR": ("Norway", "Norwegian"),
}

# Kinds of mentions, with their probabilities as subjects and as objects: "they", "the
# rebels", "Kenyan rebels", "Kenya", "the town".
PRONOUN, GROUP, AFFILIATED, NAME, PLACE = range(5)
SUBJECT = (0.4, 0.25, 0.25, 0.1, 0.0)
OBJECT = (0.15, 0.15, 0.2, 0.15, 0.35)

# (form, lemma)
GROUPS = (("rebels", "rebel"), ("soldiers", "soldier"), ("officials", "official"))
PLACES = (("town", "town"), ("base", "base"), ("bridge", "bridge"), ("port", "port"))
VERBS = (("met", "meet"), ("praised", "praise"), ("left", "leave"), ("saw", "see"))
ATTACK = ("attacked", "attack")
P_ATTACK, P_PASSIVE = 0.3, 0.25

# Score of a link by the kinds of a mention (row) and its antecedent (column) if their
# words and countries, if any, do not differ; and score of NEW.
LINK = np.array(
    [
        [1.5, 1.5, 1.5, -0.5, -4.0],
        [0.0, 3.0, 2.0, -2.0, -6.0],
        [0.0, 1.0, 3.5, 0.5, -6.0],
        [-1.0, -2.0, 0.5, 5.0, -6.0],
        [-4.0, -6.0, -6.0, -6.0, 4.0],
    ]
)
NEW = np.array([0.0, 1.0, 1.5, 1.5, 1.5])
OTHER_WORD, OTHER_COUNTRY = -3.5, -5.0
FURTHER = np.array([-0.7, -0.2, -0.1, -0.02, -0.1])  # for each sentence between


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Words and countries of the mentions of a document, two per sentence.

    `word` and `country` are -1 if a mention does not have one.
    """

    kind: np.ndarray
    word: np.ndarray
    country: np.ndarray


Events = list[dict[str, int]]


@public
def make_event_documents(
    n_documents: int = 100,
    *,
    mean_mentions: float = 10.0,
    countries: Mapping[str, tuple[str, str]] | None = None,
    start: datetime.date = datetime.date(1990, 1, 1),
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
    countries : mapping of str to (str, str), default=None
        Name and adjective (one word each) of each country by its code. If None, four
        countries with ISO 3166 codes are used.
    start : datetime.date, default=datetime.date(1990, 1, 1)
        First day of the period.
    n_days : int, default=365
        Number of days. The dates of the documents are drawn uniformly from them.
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
    days = check_integer(n_days, minimum=1, name="n_days")
    first_day = _check_days(start, days)
    codes = _check_countries(COUNTRIES if countries is None else countries)
    rng = as_generator(random_state)
    documents, events, scores = [], [], []
    for i in range(n):
        n_sentences = 1 + int(rng.poisson((mean - 2) / 2))
        phrases = _draw_phrases(n_sentences, len(codes), rng)
        attack = rng.random(n_sentences) < P_ATTACK
        passive = attack & (rng.random(n_sentences) < P_PASSIVE)
        verb = rng.integers(len(VERBS), size=n_sentences)
        scores.append(_scores(phrases))
        labels = draw_entities(scores[-1], rng)
        agents = 2 * np.flatnonzero(attack) + passive[attack]
        events.append(_events(labels, agents, phrases.country, list(codes)))
        said = [ATTACK if attack[s] else VERBS[verb[s]] for s in range(n_sentences)]
        parts = (
            _sentence(phrases, s, said[s], bool(passive[s]), codes)
            for s in range(n_sentences)
        )
        date = first_day + datetime.timedelta(days=int(rng.integers(days)))
        documents.append(make_document(i, date, parts, labels))
    if check_bool(return_scores, name="return_scores"):
        return documents, events, scores
    return documents, events


def _check_days(start: Any, n_days: int) -> datetime.date:
    """Return the first day, without its time if it has one."""
    if not isinstance(start, datetime.date):
        raise ParameterTypeError("start", f"must be a datetime.date. Got {start!r}.")
    if isinstance(start, datetime.datetime):
        start = start.date()
    most = (datetime.date.max - start).days + 1
    if n_days > most:
        raise ParameterError(
            "n_days",
            f"must be at most {most}, because there are no more days from {start} on. "
            f"Got {n_days}.",
        )
    return start


def _check_countries(countries: Any) -> dict[str, tuple[str, str]]:
    if not isinstance(countries, Mapping) or not countries:
        raise ParameterTypeError(
            "countries",
            "must be a mapping of codes to names and adjectives. Got "
            f"{countries!r:.80}.",
        )
    for code, words in countries.items():
        is_pair = isinstance(words, (tuple, list)) and len(words) == 2
        fits = is_pair and all(isinstance(w, str) and w.split() == [w] for w in words)
        if not fits:
            raise ParameterError(
                "countries",
                "must be a mapping of codes to a name and an adjective, one word each. "
                f"Got {words!r:.80} for {code!r}.",
            )
    return dict(countries)


def _draw_phrases(
    n_sentences: int, n_countries: int, rng: np.random.Generator
) -> _Phrases:
    n = 2 * n_sentences
    kind = np.empty(n, dtype=np.intp)
    kind[::2] = rng.choice(5, size=n_sentences, p=SUBJECT)
    kind[1::2] = rng.choice(5, size=n_sentences, p=OBJECT)
    group = rng.integers(len(GROUPS), size=n)
    place = rng.integers(len(PLACES), size=n)
    country = rng.integers(n_countries, size=n)
    is_group = (kind == GROUP) | (kind == AFFILIATED)
    word = np.where(is_group, group, np.where(kind == PLACE, place, -1))
    is_country = (kind == AFFILIATED) | (kind == NAME)
    return _Phrases(kind, word, np.where(is_country, country, -1))


def _scores(phrases: _Phrases) -> np.ndarray:
    kind = phrases.kind
    link = LINK[np.ix_(kind, kind)]
    for value, penalty in (
        (phrases.word, OTHER_WORD),
        (phrases.country, OTHER_COUNTRY),
    ):
        known = value >= 0
        differ = np.not_equal.outer(value, value) & np.logical_and.outer(known, known)
        link = link + penalty * differ
    return antecedent_scores(link, NEW[kind], FURTHER[kind])


def _events(
    labels: np.ndarray, agents: np.ndarray, country: np.ndarray, codes: list[str]
) -> dict[str, int]:
    """Return the number of entities with an agent and one country, by its code."""
    found: dict[str, int] = {}
    for entity in np.unique(labels[agents]).tolist():
        own = set(country[labels == entity].tolist()) - {-1}
        if len(own) == 1:
            code = codes[own.pop()]
            found[code] = found.get(code, 0) + 1
    return found


# (form, lemma, upos, xpos) of a word, and the same with its head and relation.
Word = tuple[str, str, str, str]
Row = tuple[str, str, str, str, int, str]

# Relations of the words before the head of a phrase.
MODIFIERS = {"DET": "det", "ADJ": "amod"}


def _phrase(
    phrases: _Phrases, j: int, codes: Mapping[str, tuple[str, str]]
) -> list[Word]:
    """Return the words of a mention, the head last."""
    kind = int(phrases.kind[j])
    if kind == PRONOUN:
        return [("them" if j % 2 else "they", "they", "PRON", "PRP")]
    if kind == NAME:
        name = list(codes.values())[phrases.country[j]][0]
        return [(name, name, "PROPN", "NNP")]
    if kind == PLACE:
        head = (*PLACES[phrases.word[j]], "NOUN", "NN")
    else:
        head = (*GROUPS[phrases.word[j]], "NOUN", "NNS")
    if kind == AFFILIATED:
        adjective = list(codes.values())[phrases.country[j]][1]
        return [(adjective, adjective, "ADJ", "JJ"), head]
    return [("the", "the", "DET", "DT"), head]


def _attached(phrase: list[Word], last: int, head: int, role: str) -> list[Row]:
    """Return the words of a phrase whose head is its last word, at `last`."""
    *modifiers, own = phrase
    rows = [(*word, last, MODIFIERS[word[2]]) for word in modifiers]
    return [*rows, (*own, head, role)]


def _sentence(
    phrases: _Phrases,
    s: int,
    said: tuple[str, str],
    passive: bool,
    codes: Mapping[str, tuple[str, str]],
) -> tuple[Sentence, list[tuple[int, int]]]:
    """Return a sentence, and the first words and ends of its two mentions."""
    first, second = (_phrase(phrases, j, codes) for j in (2 * s, 2 * s + 1))
    # "was" comes before the verb, which is the root, and "by" after it
    root = len(first) + passive
    begin = root + 1 + passive
    last = begin + len(second) - 1
    subject = "nsubj:pass" if passive else "nsubj"
    rows = _attached(first, len(first) - 1, root, subject)
    if passive:
        was = "were" if first[-1][3] in ("NNS", "PRP") else "was"
        rows.append((was, "be", "AUX", "VBD", root, "aux:pass"))
    rows.append((*said, "VERB", "VBN" if passive else "VBD", -1, "root"))
    if passive:
        rows.append(("by", "by", "ADP", "IN", last, "case"))
    rows += _attached(second, last, root, "obl:agent" if passive else "obj")
    rows.append((".", ".", "PUNCT", ".", root, "punct"))
    form, lemma, upos, xpos, head, deprel = zip(*rows, strict=True)
    form = (form[0][0].upper() + form[0][1:], *form[1:])
    sentence = Sentence(
        form, lemma=lemma, upos=upos, xpos=xpos, head=head, deprel=deprel
    )
    return sentence, [(0, len(first)), (begin, begin + len(second))]
