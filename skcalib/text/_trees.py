"""Dependency trees: lists with the head of each word, -1 for a root."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence

from .._errors import ParameterError
from ._documents import Document

__all__ = [
    "DocumentTree",
    "check_parses",
    "children_of",
    "find_cycle",
    "head_of_span",
]

# Labels of spaCy's English models that only differ from universal ones in name.
SAME_AS = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "relcl": "acl:relcl",
    "rcmod": "acl:relcl",
    "poss": "nmod:poss",
    "nn": "compound",
}
PREPOSITION = {"agent": "obl:agent", "prep": None}
NOMINAL = ("NOUN", "PROPN", "PRON", "ADJ", "NUM")


class DocumentTree:
    """Trees of all sentences of a document, with universal labels.

    `words` contains the columns of the document, some of which are also attributes.
    `deprel` and `heads` are in Universal Dependencies. `children` contains the words
    that depend on each word, and `mention_heads` the head of each mention. The
    constructor raises an error if a parse is not a tree, or if a sentence with mentions
    does not have a parse.
    """

    def __init__(self, document: Document):
        self.words = words = document._words
        self.form, self.upos = words.form, words.upos
        self.xpos, self.feats = words.xpos, words.feats
        self.starts = words.starts
        self.heads = list(words.head)
        check_parses(document, needed=_sentences_with_mentions(document))
        self.deprel = self._universal_labels(words.deprel)
        self.children = children_of(self.heads)
        self.mention_heads = [
            self._head_of(mention.head, mention.start, mention.end)
            for mention in document.mentions
        ]

    def _head_of(self, head: int | None, start: int, end: int) -> int:
        if head is None:
            head = head_of_span(self.heads, self.upos, start, end)
        return start if head is None else head

    def _universal_labels(self, labels: Sequence[str]) -> list[str]:
        """Return universal labels, and move prepositions below their nouns."""
        deprel = [SAME_AS.get(label, label) for label in labels]
        for word, label in enumerate(deprel):
            preposition = self.heads[word]
            if label != "pobj" or preposition < 0:
                continue
            if deprel[preposition] not in PREPOSITION:
                continue
            above = self.heads[preposition]
            new = PREPOSITION[deprel[preposition]]
            if new is None:
                of_noun = above >= 0 and self.upos[above] in NOMINAL
                new = "nmod" if of_noun else "obl"
            self.heads[word], deprel[word] = above, new
            self.heads[preposition], deprel[preposition] = word, "case"
        return deprel


def _sentences_with_mentions(document: Document) -> set[int]:
    starts = document._words.starts
    for i, mention in enumerate(document.mentions):
        if mention.end > starts[-1]:
            raise ParameterError(
                None,
                f"needs mentions inside the document. Mention {i} of document "
                f"{document.id!r} ends at {mention.end}, after the last of "
                f"{starts[-1]} words.",
            )
    return {bisect_right(starts, mention.start) - 1 for mention in document.mentions}


def check_parses(document: Document, *, needed: Collection[int] | None = None) -> None:
    """Raise an error if a parse contains a cycle or if a required parse is missing.

    `needed` are the indices of sentences that need a parse. If None, all sentences do.
    """
    for s, sentence in enumerate(document.sentences):
        heads = sentence.head
        if len(heads) > 1 and max(heads) < 0 and (needed is None or s in needed):
            raise ParameterError(
                None,
                f"needs parses, and {_place(document, s)} has none: all heads are "
                "-1. Parse the text, for example with spaCy and Document.from_spacy, "
                "or read a file that has parses.",
            )
        cycle = find_cycle(heads)
        if cycle:
            words = ", ".join(f"{i} ({sentence.form[i]!r})" for i in sorted(cycle))
            raise ParameterError(
                None,
                f"needs parses that are trees. In {_place(document, s)} these "
                f"words depend on each other in a circle: {words}.",
            )


def _place(document: Document, s: int) -> str:
    name = document.sentences[s].sent_id
    named = "" if name is None else f" ({name})"
    return f"sentence {s}{named} of document {document.id!r}"


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, or an empty list for a tree."""
    reaches_root = [False] * len(heads)
    for start in range(len(heads)):
        path: list[int] = []
        word = start
        while word >= 0 and not reaches_root[word]:
            if len(path) > len(heads):
                return list(dict.fromkeys(path[path.index(word) :]))
            path.append(word)
            word = heads[word]
        for word in path:
            reaches_root[word] = True
    return []


def children_of(heads: Sequence[int]) -> list[list[int]]:
    """Return the words that depend on each word, in order."""
    children: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head >= 0:
            children[head].append(word)
    return children


def head_of_span(
    heads: Sequence[int], upos: Sequence[str], start: int, end: int
) -> int | None:
    """Return the first word of a span whose head is outside, if possible no PUNCT."""
    outside = [t for t in range(start, end) if not start <= heads[t] < end]
    words = [t for t in outside if upos[t] != "PUNCT"]
    return next(iter(words or outside), None)
