"""Generated documents with mentions and a known distribution of coreference."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._errors import public
from .._parallel import RandomStateLike, as_generator
from .._validation import check_bool, check_integer, check_real
from ..documents import Document, Mention, Sentence
from ..posteriors import AntecedentPosterior

# Kinds of mentions with their probabilities, and their words by gender.
PRONOUN, NAME, NOUN = range(3)
SHARES = (0.4, 0.3, 0.3)
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
# another word of the same gender, and of NEW.
LIKE = (1.5, 4.0, 2.5)
OTHER = (1.5, -2.0, -0.5)
NEW = (0.5, 1.0, 1.0)
OTHER_NAME = -4.0  # of two names that differ
OTHER_GENDER = -5.0
FURTHER = (-0.4, -0.02, -0.1)  # for each sentence between


Labels = list[np.ndarray]


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
        n_mentions = 2 * (1 + int(rng.poisson((mean - 2) / 2)))
        kind = rng.choice(3, size=n_mentions, p=SHARES)
        gender = rng.integers(3, size=n_mentions)
        word = [
            WORDS[k][g][rng.integers(len(WORDS[k][g]))]
            for k, g in zip(kind.tolist(), gender.tolist(), strict=True)
        ]
        verb = rng.choice(VERBS, size=n_mentions // 2).tolist()
        scores.append(_scores(kind, gender, np.array(word)))
        labels.append(draw_entities(scores[-1], rng).astype(int))
        parts = _sentences(kind.tolist(), word, verb)
        documents.append(make_document(i, None, parts, labels[-1]))
    if check_bool(return_scores, name="return_scores"):
        return documents, labels, scores
    return documents, labels


def _scores(kind: np.ndarray, gender: np.ndarray, word: np.ndarray) -> np.ndarray:
    like = np.equal.outer(word, word)
    link = np.where(like, *(np.take(x, kind)[:, np.newaxis] for x in (LIKE, OTHER)))
    names = kind == NAME
    link[np.logical_and.outer(names, names) & ~like] = OTHER_NAME
    link[np.not_equal.outer(gender, gender)] = OTHER_GENDER
    return antecedent_scores(link, np.take(NEW, kind), np.take(FURTHER, kind))


def _sentences(
    kind: list[int], word: list[str], verb: list[str]
) -> Iterator[tuple[Sentence, list[tuple[int, int]]]]:
    """Yield sentences, and the first words and ends of their two mentions."""
    phrases = [
        ["the", w] if k == NOUN else [w] for k, w in zip(kind, word, strict=True)
    ]
    for s, each in enumerate(verb):
        pair = slice(2 * s, 2 * s + 2)
        first, second = map(len, phrases[pair])
        spans = [(0, first), (first + 1, first + 1 + second)]
        yield _sentence(phrases[pair], each, kind[pair]), spans


TAGS = (("PRON", "PRP"), ("PROPN", "NNP"), ("NOUN", "NN"))


def _sentence(phrases: list[list[str]], verb: str, kind: list[int]) -> Sentence:
    at = len(phrases[0])
    rows: list[tuple[str, str, str, int, str]] = []
    for phrase, k, role in zip(phrases, kind, ("nsubj", "obj"), strict=True):
        end = len(rows) + len(phrase)
        if len(phrase) == 2:
            rows.append(("the", "DET", "DT", end - 1, "det"))
        rows.append((phrase[-1], *TAGS[k], at, role))
        if role == "nsubj":
            rows.append((verb, "VERB", "VBD", -1, "root"))
    rows.append((".", "PUNCT", ".", at, "punct"))
    form, upos, xpos, head, deprel = zip(*rows, strict=True)
    return Sentence(form, upos=upos, xpos=xpos, head=head, deprel=deprel)


# Functions shared by all generated documents: two mentions in each sentence.


def antecedent_scores(
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
    scores[np.triu_indices_from(scores, 1)] = -np.inf
    return scores


def draw_entities(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the entity of each mention, as the index of its first mention."""
    return AntecedentPosterior([scores]).sample(1, rng)[0][0]


def make_document(
    i: int,
    date: datetime.date | None,
    parts: Iterable[tuple[Sentence, list[tuple[int, int]]]],
    entities: np.ndarray,
) -> Document:
    """Return document `i` from sentences and mention spans with final heads."""
    sentences, mentions = [], []
    n_words = 0
    for sentence, spans in parts:
        sentences.append(sentence)
        for start, end in spans:
            last = n_words + end
            mentions.append(Mention(n_words + start, last, last - 1))
        n_words += len(sentence)
    return Document(f"generated-{i}", date, sentences, mentions, entities.tolist())
