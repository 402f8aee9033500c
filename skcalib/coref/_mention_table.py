"""Properties of the mentions of a document, as arrays of integers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from ..text import Document, Mention, Words

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
# Without a parse, the head of a phrase is its last word before one of these.
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
    """Return a hash of the text that is equal in all processes."""
    return crc32(text.encode("utf-8", "surrogatepass"))


class WordTable:
    """Properties of words that are used only for features."""

    def __init__(self, document: Document, words: Words):
        self.words = words
        self.lower = [form.lower() for form in self.words.form]
        self.quote = _quotes(self.words.form)
        self.speaker = _speakers(document, words)


def _speakers(document: Document, words: Words) -> list[str]:
    """Return the speaker of each word, "" if it is unknown."""
    of_sentence = []
    for sentence in document.sentences:
        whole = ""
        for comment in sentence.comments:
            found = re.match(r"# *speaker *= *(.*)", comment)
            if found:
                whole = found[1]
        of_sentence.append(whole)
    return [
        item.removeprefix("Speaker=") if item.startswith("Speaker=") else of_sentence[s]
        for item, s in zip(words.misc, words.sentence, strict=True)
    ]


OPENING, CLOSING = frozenset(("\u201c", "``")), frozenset(("\u201d", "''"))


def _quotes(forms: Sequence[str]) -> list[int]:
    """Return the number of the quotation of each word, 0 outside quotations."""
    found, number, inside = [], 0, False
    for form in forms:
        if form in OPENING or (form == '"' and not inside):
            number, inside = number + 1, True
        elif form in CLOSING or form == '"':
            inside = False
        found.append(number * inside)
    return found


def _head_word(table: WordTable, mention: Mention) -> int:
    """Return the head of a mention, or a guess if the head is unknown."""
    if mention.head is not None:
        return mention.head
    for t in range(mention.start + 1, mention.end):
        if table.lower[t] in AFTER_HEAD:
            return t - 1
    return mention.end - 1


def describe(document: Document, words: Words) -> dict[str, np.ndarray]:
    """Return arrays with one entry per mention, and the overlap of each pair."""
    table = WordTable(document, words)
    columns: dict[str, list[int]] = {}
    content: list[set[int]] = []
    for mention in document.mentions:
        row, inside = _describe(table, mention)
        content.append(inside)
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    found = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    found["overlap"] = _overlap(content)
    return found


def _describe(table: WordTable, mention: Mention) -> tuple[dict[str, int], set[int]]:
    words, start, end = table.words, mention.start, mention.end
    head = _head_word(table, mention)
    lower = table.lower[start:end]
    kind = _kind(table, mention, head)
    inside = [word for word in lower if word not in NO_CONTENT] or lower
    governor = words.head[head]
    row = {
        "start": start,
        "end": end,
        "sentence": words.sentence[head],
        "kind": kind,
        "form": number_of(lower[0]) if kind > NOUN else 1,
        "head": number_of(table.lower[head]),
        "text": number_of(KINDS[kind] if kind > NOUN else " ".join(inside)),
        "first": number_of(lower[0]),
        "determiner": DETERMINER.get(lower[0], 0),
        "number": _number(table, mention, head, kind),
        "gender": _gender(lower),
        "role": number_of(words.deprel[head].split(":")[0]),
        "governor": number_of(table.lower[governor]) if governor >= 0 else 0,
        "tag": number_of(words.xpos[head]),
        "before": number_of(table.lower[start - 1]) if start else 0,
        "after": number_of(table.lower[end]) if end < len(table.lower) else 0,
        "speaker": number_of(table.speaker[head]),
        "quote": table.quote[head],
        "length": min(end - start, 6),
        "size": len(set(inside)),
    }
    return row, set(map(number_of, inside))


def _kind(table: WordTable, mention: Mention, head: int) -> int:
    if mention.end - mention.start == 1 and table.lower[head] in PRONOUN:
        return KINDS.index(PRONOUN[table.lower[head]])
    upos = table.words.upos[head]
    if upos != "_":
        return NAME if upos == "PROPN" else NOUN
    return NAME if table.words.form[head][:1].isupper() else NOUN


def _number(table: WordTable, mention: Mention, head: int, kind: int) -> int:
    """Return 1 for singular, 2 for plural, 0 if it may be either."""
    if kind > NOUN:
        plural = {"we": 2, "they": 2, "those": 2, "you": 0, "relative": 0}
        return plural.get(KINDS[kind], 1)
    if "and" in table.lower[mention.start : mention.end]:
        return 2
    feats = table.words.feats[head]
    if "Number=" in feats:
        return 1 if "Number=Sing" in feats else 2
    return 2 if table.lower[head].endswith("s") and kind == NOUN else 1


def _gender(lower: list[str]) -> int:
    """Return 1 for female, 2 for male, 3 for neuter (it), 0 if unknown."""
    if lower in (["it"], ["its"], ["itself"]):
        return 3
    return next((1 if w in FEMALE else 2 for w in lower if w in FEMALE | MALE), 0)


def _overlap(content: list[set[int]]) -> np.ndarray:
    """Return the number of content words that each pair of mentions shares."""
    column = {word: i for i, word in enumerate(sorted(set().union(*content)))}
    has = np.zeros((len(content), len(column)), dtype=np.float32)
    for j, inside in enumerate(content):
        has[j, [column[word] for word in inside]] = 1
    return (has @ has.T).astype(np.int16)
