"""What is known of each mention of a document, as arrays of integers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from ..documents import Document, Mention

PERSONAL = {
    "i": "i me my mine myself 'm",
    "we": "we us our ours ourselves 's",
    "you": "you your yours yourself yourselves thou thee thy thine ya y'all",
    "he": "he him his himself",
    "she": "she her hers herself",
    "it": "it its itself 't",
    "they": "they them their theirs themselves 'em",
    "relative": "who whom whose which what",
    "that": "that this",
    "those": "those these",
    "place": "here there where",
    "one": "one oneself each another other others",
}
PRONOUN = {form: name for name, forms in PERSONAL.items() for form in forms.split()}
KINDS = ("name", "noun", *PERSONAL)
NAME, NOUN = 0, 1


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FEMALE = _words(
    "mrs miss ms lady madam madame queen princess woman girl mother sister daughter "
    "aunt wife niece grandmother mama mamma mum mom widow actress duchess countess "
    "women girls sisters daughters she her herself"
)
MALE = _words(
    "mr sir lord king prince man boy father brother son uncle husband nephew "
    "grandfather papa dad gentleman fellow captain colonel duke count monsieur men "
    "boys brothers sons gentlemen he him his himself"
)
DETERMINERS = {
    "definite": "the",
    "indefinite": "a an some any no every each another",
    "demonstrative": "this that these those such",
    "possessive": "my our your his her its their",
}
DETERMINER = {
    form: i for i, forms in enumerate(DETERMINERS.values(), 1) for form in forms.split()
}
# A phrase's last word before one of these is its head, where there is no parse.
AFTER_HEAD = _words(
    ", ; : ( -- - of in on at to from by with for who whom whose which that and or "
    "where when as about over under behind beyond upon near into"
)
NO_CONTENT = _words(
    "the a an this that these those my our your his her its their 's ' of in and , . "
    "- \" to for at on `` ''"
)


@lru_cache(maxsize=2**17)
def number_of(text: str) -> int:
    """Return the same number for the same text, in any process."""
    return crc32(text.encode("utf-8", "surrogatepass"))


class Words:
    """The words of a document in one row."""

    def __init__(self, document: Document):
        self.form: list[str] = []
        self.upos: list[str] = []
        self.xpos: list[str] = []
        self.feats: list[str] = []
        self.deprel: list[str] = []
        self.head: list[int] = []
        self.sentence: list[int] = []
        self.speaker: list[str] = []
        for s, sentence in enumerate(document.sentences):
            offset = len(self.form)
            for name in ("form", "upos", "xpos", "feats", "deprel"):
                getattr(self, name).extend(getattr(sentence, name))
            self.head += [offset + h if h >= 0 else -1 for h in sentence.head]
            self.sentence += [s] * len(sentence)
            self.speaker += _speakers(sentence)
        self.lower = [form.lower() for form in self.form]
        self.quote = _quotes(self.form)


def _speakers(sentence: Any) -> list[str]:
    whole = ""
    for comment in sentence.comments:
        found = re.match(r"# *speaker *= *(.*)", comment)
        if found:
            whole = found[1]
    return [
        item.removeprefix("Speaker=") if item.startswith("Speaker=") else whole
        for item in sentence.misc
    ]


OPENING, CLOSING = frozenset(("\u201c", "``")), frozenset(("\u201d", "''"))


def _quotes(forms: list[str]) -> list[int]:
    """Return for each word which quotation it stands in, 0 outside."""
    found, number, inside = [], 0, False
    for form in forms:
        if form in OPENING or (form == '"' and not inside):
            number, inside = number + 1, True
        elif form in CLOSING or form == '"':
            inside = False
        found.append(number * inside)
    return found


def head_word(words: Words, mention: Mention) -> int:
    """Return the head of a mention, guessed where it is not known."""
    if mention.head is not None:
        return mention.head
    for t in range(mention.start + 1, mention.end):
        if words.lower[t] in AFTER_HEAD:
            return t - 1
    return mention.end - 1


def describe(document: Document) -> dict[str, np.ndarray]:
    """Return arrays with an entry for each mention."""
    words = Words(document)
    columns: dict[str, list[int]] = {}
    content: list[set[int]] = []
    for mention in document.mentions:
        row, inside = _describe(words, mention)
        content.append(inside)
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    table = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    table["overlap"] = _overlap(content)
    return table


def _describe(words: Words, mention: Mention) -> tuple[dict[str, int], set[int]]:
    head = head_word(words, mention)
    lower = words.lower[mention.start : mention.end]
    kind = _kind(words, mention, head)
    inside = [word for word in lower if word not in NO_CONTENT] or lower
    governor = words.head[head]
    row = {
        "start": mention.start,
        "end": mention.end,
        "sentence": words.sentence[head],
        "kind": kind,
        "form": number_of(lower[0]) if kind > NOUN else 1,
        "head": number_of(words.lower[head]),
        "text": number_of(KINDS[kind] if kind > NOUN else " ".join(inside)),
        "first": number_of(lower[0]),
        "determiner": DETERMINER.get(lower[0], 0),
        "number": _number(words, mention, head, kind),
        "gender": _gender(lower),
        "role": number_of(words.deprel[head].split(":")[0]),
        "governor": number_of(words.lower[governor]) if governor >= 0 else 0,
        "tag": number_of(words.xpos[head]),
        "before": number_of(words.lower[mention.start - 1]) if mention.start else 0,
        "after": (
            number_of(words.lower[mention.end]) if mention.end < len(words.form) else 0
        ),
        "speaker": number_of(words.speaker[head]),
        "quote": words.quote[head],
        "length": min(mention.end - mention.start, 6),
        "size": len(set(inside)),
    }
    return row, set(map(number_of, inside))


def _kind(words: Words, mention: Mention, head: int) -> int:
    if mention.end - mention.start == 1 and words.lower[head] in PRONOUN:
        return KINDS.index(PRONOUN[words.lower[head]])
    if words.upos[head] != "_":
        return NAME if words.upos[head] == "PROPN" else NOUN
    return NAME if words.form[head][:1].isupper() else NOUN


def _number(words: Words, mention: Mention, head: int, kind: int) -> int:
    """Return 1 for singular, 2 for plural, 0 for what may be either."""
    if kind > NOUN:
        plural = {"we": 2, "they": 2, "those": 2, "you": 0, "relative": 0}
        return plural.get(KINDS[kind], 1)
    if "and" in words.lower[mention.start : mention.end]:
        return 2
    if "Number=" in words.feats[head]:
        return 1 if "Number=Sing" in words.feats[head] else 2
    return 2 if words.lower[head].endswith("s") and kind == NOUN else 1


def _gender(lower: list[str]) -> int:
    """Return 1 for female, 2 for male, 3 for it, 0 if not known."""
    if lower in (["it"], ["its"], ["itself"]):
        return 3
    return next((1 if w in FEMALE else 2 for w in lower if w in FEMALE | MALE), 0)


def _overlap(content: list[set[int]]) -> np.ndarray:
    """Return how many content words each two mentions share."""
    column = {word: i for i, word in enumerate(sorted(set().union(*content)))}
    has = np.zeros((len(content), len(column)), dtype=np.float32)
    for j, inside in enumerate(content):
        has[j, [column[word] for word in inside]] = 1
    return (has @ has.T).astype(np.int64)
