"""Who does what a verb says: subjects, by-phrases, relative pronouns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._parse import Parse

PASSIVE = frozenset(("aux:pass", "nsubj:pass", "csubj:pass"))
RELATIVE = frozenset(("who", "whom", "which", "that"))


@dataclass(frozen=True)
class AgentRules:
    """Which constructions count."""

    passive: bool
    relative_pronouns: bool
    conjuncts: bool

    def agents(self, parse: Parse, verbs: list[int]) -> set[int]:
        """Return the words that are agents of verbs, over all the document."""
        found = set()
        for verb in verbs:
            for word in self._agents_of(parse, verb):
                found.add(word)
                if self.conjuncts:
                    found.update(_with_label(parse, word, "conj"))
        return found

    def _agents_of(self, parse: Parse, verb: int) -> Iterator[int]:
        is_passive = _is_passive(parse, verb)
        if not is_passive:
            for word, of in self._subjects(parse, verb):
                yield _resolved(parse, word, of) if self.relative_pronouns else word
        if self.passive:
            yield from _with_label(parse, verb, "obl:agent")
            if is_passive:
                yield from _by_phrases(parse, verb)

    def _subjects(self, parse: Parse, verb: int) -> list[tuple[int, int]]:
        """Return subjects, each with the verb that it depends on."""
        while True:
            subjects = _with_label(parse, verb, "nsubj")
            above = parse.heads[verb] if parse.deprel[verb] == "conj" else -1
            if subjects or not self.conjuncts or above < 0:
                return [(word, verb) for word in subjects]
            if _is_passive(parse, above):
                return []
            verb = above


def _with_label(parse: Parse, word: int, label: str) -> list[int]:
    return [child for child in parse.children[word] if parse.deprel[child] == label]


def _is_passive(parse: Parse, verb: int) -> bool:
    labels = {parse.deprel[child] for child in parse.children[verb]}
    # features of automatic parses err: a subject goes before them
    if not PASSIVE.isdisjoint(labels) or "nsubj" in labels:
        return not PASSIVE.isdisjoint(labels)
    # the village attacked by rebels
    reduced = parse.deprel[verb] == "acl" and parse.xpos[verb] == "VBN"
    return reduced or "Voice=Pass" in parse.feats[verb]


def _by_phrases(parse: Parse, verb: int) -> Iterator[int]:
    for word in _with_label(parse, verb, "obl"):
        cases = _with_label(parse, word, "case")
        if any(parse.form[case].lower() == "by" for case in cases):
            yield word


def _resolved(parse: Parse, word: int, verb: int) -> int:
    """Return what a relative pronoun stands for, any other word as it is."""
    if not _is_relative(parse, word):
        return word
    while parse.heads[verb] >= 0:
        if parse.deprel[verb] == "acl:relcl":
            return parse.heads[verb]
        verb = parse.heads[verb]
    return word


def _is_relative(parse: Parse, word: int) -> bool:
    if parse.form[word].lower() not in RELATIVE:
        return False
    feats = parse.feats[word]
    return "PronType=Rel" in feats or "PronType=" not in feats
