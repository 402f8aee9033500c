"""Small posteriors with every clustering, and a rule that needs no parse."""

import datetime
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from skcalib.documents import Document, Mention, Sentence


class MarkedRule:
    """Read agents and actors from attributes of mentions."""

    def may_match(self, document):
        return any(mention.attributes.get("agent") for mention in document.mentions)

    def evidence(self, document):
        codes = ("AAA", "BBB", "CCC")
        numbers = {**{code: k for k, code in enumerate(codes)}, None: -1, "two": -2}
        said = [mention.attributes for mention in document.mentions]
        return SimpleNamespace(
            agent=np.array([bool(each.get("agent")) for each in said], dtype=bool),
            code=np.array([numbers[each.get("code")] for each in said], dtype=int),
            codes=codes,
        )


def _document(agent, code, *, date=(1990, 1, 3), name="news"):
    """Return a document of one-word mentions; `code` holds codes or None."""
    words = [f"word{j}" for j in range(len(agent))]
    mentions = [
        Mention(j, j + 1, j, {"agent": bool(a), "code": c})
        for j, (a, c) in enumerate(zip(agent, code, strict=True))
    ]
    day = None if date is None else datetime.date(*date)
    sentences = [Sentence(words)] if words else []
    return Document(name, day, sentences, mentions, range(len(words)))


def _random_proba(rng, n, zeros=0.3):
    """Return antecedent probabilities, some of them 0."""
    proba = rng.random((n, n)) ** 3 * (rng.random((n, n)) >= zeros)
    proba[np.triu_indices(n, 1)] = 0
    empty = proba.sum(axis=1) == 0
    proba[empty, np.flatnonzero(empty)] = 1
    return proba / proba.sum(axis=1, keepdims=True)


def _every_count(proba, agent, code, n_codes):
    """Yield (counts of events of each actor, probability) of all antecedents.

    As the definition says: code -1 is no actor, -2 several.
    """
    n = len(proba)
    for choice in itertools.product(*(range(j + 1) for j in range(n))):
        p = np.prod([proba[j, k] for j, k in enumerate(choice)])
        entity = list(range(n))
        for j, k in enumerate(choice):
            entity[j] = j if k == j else entity[k]
        counts = [0] * n_codes
        for e in set(entity):
            members = [j for j in range(n) if entity[j] == e]
            actors = {code[j] for j in members} - {-1}
            if any(agent[j] for j in members) and len(actors) == 1 and actors != {-2}:
                counts[actors.pop()] += 1
        yield tuple(counts), float(p)


def _as_table(pairs):
    """Return probabilities by outcome, without those of 0."""
    table = {}
    for key, p in pairs:
        table[key] = table.get(key, 0) + p
    return {key: p for key, p in table.items() if p > 0}


@pytest.fixture(scope="session")
def marked_rule():
    return MarkedRule()


@pytest.fixture(scope="session")
def make_document():
    return _document


@pytest.fixture(scope="session")
def random_proba():
    return _random_proba


@pytest.fixture(scope="session")
def every_count():
    return lambda *args: _as_table(_every_count(*args))


@pytest.fixture(scope="session")
def as_log():
    def as_log(proba):
        with np.errstate(divide="ignore"):
            return np.log(proba)

    return as_log
