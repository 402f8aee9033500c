"""What generated documents with coreference share: two mentions in each sentence."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

import numpy as np

from ..documents import Document, Mention, Sentence
from ..posteriors import AntecedentPosterior


def antecedent_scores(
    link: np.ndarray, new: np.ndarray, further: np.ndarray
) -> np.ndarray:
    """Return the scores that a posterior takes: links to mentions before, NEW.

    `link` has the score of each pair of mentions, `new` that of NEW of each mention,
    `further` what each sentence between takes from the links of a mention.
    """
    sentence = np.arange(len(link)) // 2
    distance = np.abs(np.subtract.outer(sentence, sentence))
    scores = link + further[:, np.newaxis] * distance
    np.fill_diagonal(scores, new)
    scores[np.triu_indices_from(scores, 1)] = -np.inf
    return scores


def draw_entities(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the entity of each mention: the index of its first one."""
    return AntecedentPosterior([scores]).sample(1, rng)[0][0]


def make_document(
    i: int,
    date: datetime.date | None,
    parts: Iterable[tuple[Sentence, list[tuple[int, int]]]],
    entities: np.ndarray,
) -> Document:
    """Return document `i` of sentences and the spans of their mentions, heads last."""
    sentences, mentions = [], []
    n_words = 0
    for sentence, spans in parts:
        sentences.append(sentence)
        for start, end in spans:
            last = n_words + end
            mentions.append(Mention(n_words + start, last, last - 1))
        n_words += len(sentence)
    return Document(f"generated-{i}", date, sentences, mentions, entities.tolist())
