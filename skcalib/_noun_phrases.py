"""Noun phrases of a parsed sentence: the subtrees of nouns, names and pronouns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ._trees import children_of

__all__ = ["NounPhrase", "noun_phrases"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEADS = frozenset(("NOUN", "PROPN", "PRON"))
# Words inside a name, and words that name nothing. As in a mention, labels of spaCy's
# English models stand beside universal ones.
NO_HEADS = frozenset(("compound", "expl", "fixed", "flat", "goeswith", "nn"))
# Relative where features do not tell; "that" may as well be a demonstrative.
RELATIVE = frozenset(("which", "who", "whom", "whose"))
# What depends on a head and is not of the phrase: prepositions, other phrases in a row,
# and the rest of a clause whose predicate the head is.
OUTSIDE = _words(
    "advcl advmod appos aux auxpass case cc ccomp conj cop csubj csubjpass dep "
    "discourse dislocated expl intj mark nsubj nsubjpass obj obl orphan parataxis "
    "punct reparandum vocative xcomp dobj iobj"
)
INSIDE = frozenset(("cc:preconj",))
# Not of a phrase at any depth.
ASIDE = frozenset(("appos", "parataxis"))


class NounPhrase(NamedTuple):
    """Words of a sentence from `start` to `end` - 1, and the one the others hang on."""

    start: int
    end: int
    head: int


def noun_phrases(sentence: Any, *, relative_pronouns: bool) -> list[NounPhrase]:
    """Return the phrases of a sentence whose parse is a tree.

    They come in the order of their first words, longer ones first.
    """
    children = children_of(sentence.head)
    phrases = [
        _phrase(sentence, children, head)
        for head in _heads(sentence, relative_pronouns)
    ]
    # no two have the same words, for no two heads are in each other's subtree
    return sorted(phrases, key=lambda phrase: (phrase.start, -phrase.end))


def _heads(sentence: Any, relative_pronouns: bool) -> Iterator[int]:
    for i, (upos, deprel) in enumerate(
        zip(sentence.upos, sentence.deprel, strict=True)
    ):
        if upos not in HEADS or deprel.partition(":")[0] in NO_HEADS:
            continue
        if upos != "PRON" or _refers(sentence, i, relative_pronouns):
            yield i


def _refers(sentence: Any, i: int, relative_pronouns: bool) -> bool:
    """Return False for pronouns that ask or, unless wanted, begin a relative clause."""
    feats = sentence.feats[i]
    if "PronType=Int" in feats:
        return False
    if "PronType=Rel" in feats:
        return relative_pronouns
    is_known = "PronType=" in feats
    return is_known or relative_pronouns or sentence.form[i].lower() not in RELATIVE


def _phrase(sentence: Any, children: list[list[int]], head: int) -> NounPhrase:
    """Return the words without a gap around a head that are of its subtree."""
    kept = {head}
    pending = [
        child
        for child in children[head]
        if _is_inside(sentence.deprel[child], after=child > head)
    ]
    while pending:
        word = pending.pop()
        kept.add(word)
        pending += [c for c in children[word] if sentence.deprel[c] not in ASIDE]
    start, end = head, head + 1
    while start - 1 in kept:
        start -= 1
    while end in kept:
        end += 1
    while start < head and sentence.upos[start] == "PUNCT":
        start += 1
    while end - 1 > head and sentence.upos[end - 1] == "PUNCT":
        end -= 1
    return NounPhrase(start, end, head)


def _is_inside(deprel: str, *, after: bool) -> bool:
    name = deprel.partition(":")[0]
    if name == "case":  # the possessive stands after its head
        return after
    return deprel in INSIDE or name not in OUTSIDE
