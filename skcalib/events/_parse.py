"""The words of a document in one row, with trees that have been looked at."""

from __future__ import annotations

from bisect import bisect_right

from .._trees import check_parses, children_of, head_of_span
from ..documents import Document

# Labels of other schemes (spaCy's English models), where they only differ in name.
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


class Parse:
    """Columns of a document, words counted over all sentences.

    Raises where the parse of a sentence is broken, or missing where it is needed: in
    the sentences that have mentions.
    """

    def __init__(self, document: Document, caller: str):
        self.document = document
        self.form: list[str] = []
        self.lemma: list[str] = []
        self.upos: list[str] = []
        self.xpos: list[str] = []
        self.feats: list[str] = []
        self.deprel: list[str] = []
        self.heads: list[int] = []
        self.offsets = [0]
        for sentence in document.sentences:
            offset = self.offsets[-1]
            for name in ("form", "lemma", "upos", "xpos", "feats", "deprel"):
                getattr(self, name).extend(getattr(sentence, name))
            self.heads += [offset + h if h >= 0 else -1 for h in sentence.head]
            self.offsets.append(offset + len(sentence))
        needed = self._sentences_with_mentions(caller)
        check_parses(document, caller=caller, needed=needed)
        self._rename()
        self.children = children_of(self.heads)
        self.mention_heads = [
            self._head_of(mention.head, mention.start, mention.end)
            for mention in document.mentions
        ]

    def _sentences_with_mentions(self, caller: str) -> set[int]:
        n_words = len(self.form)
        for i, mention in enumerate(self.document.mentions):
            if mention.end > n_words:
                raise ValueError(
                    f"{caller} needs mentions inside the document. Mention {i} of "
                    f"document {self.document.id!r} ends at {mention.end}, after the "
                    f"last of {n_words} words."
                )
        return {
            bisect_right(self.offsets, mention.start) - 1
            for mention in self.document.mentions
        }

    def _head_of(self, head: int | None, start: int, end: int) -> int:
        if head is None:
            head = head_of_span(self.heads, self.upos, start, end)
        return start if head is None else head

    def _rename(self) -> None:
        """Turn labels of other schemes, if there are any, into universal ones."""
        self.deprel = [SAME_AS.get(label, label) for label in self.deprel]
        for word, label in enumerate(self.deprel):
            preposition = self.heads[word]
            if label != "pobj" or preposition < 0:
                continue
            if self.deprel[preposition] not in PREPOSITION:
                continue
            above = self.heads[preposition]
            new = PREPOSITION[self.deprel[preposition]]
            if new is None:
                of_noun = above >= 0 and self.upos[above] in NOMINAL
                new = "nmod" if of_noun else "obl"
            self.heads[word], self.deprel[word] = above, new
            self.heads[preposition], self.deprel[preposition] = word, "case"
