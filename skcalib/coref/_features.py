"""Features of mentions and their possible antecedents.

The properties of the mentions of a document form a table of integers. Each feature is
a hash of some columns of this table, for a mention and an antecedent or for NEW.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from scipy.sparse import csr_array

from .._compat import RaggedTransformer
from .._errors import ParameterError, public
from .._results import object_array
from .._validation import check_integer
from ..text._documents import Document, Mention, Words, check_documents, words_of

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
OPENING, CLOSING = frozenset(("\u201c", "``")), frozenset(("\u201d", "''"))

# Multiplier of the hash, and bounds of the groups of distances.
MIX = np.uint64(0x9E3779B97F4A7C15)
BOUNDS = np.array([1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200])


class AntecedentFeatures(RaggedTransformer):
    """Compute features of mentions and their possible antecedents.

    This transformer is stateless: `fit` only checks the parameter. The annotated
    entities of a document and the attributes of its mentions are not used.

    Parameters
    ----------
    n_features : int, default=2**20
        Number of columns, which must be a power of two. Features are hashed to columns.

    See Also
    --------
    AntecedentRanker : Model of antecedents that uses these features.

    Notes
    -----
    Each feature is an indicator of a combination of properties. The properties of a
    mention and an antecedent are

    - the kinds of both mentions (name, noun, type of pronoun),
    - their distance in sentences and in mentions,
    - whether they share words, have the same head or have the same text, and whether
      the antecedent is the nearest mention with this head or text,
    - number, gender, determiner, syntactic role and speaker,
    - the words of the heads, and
    - whether one mention contains the other.

    The choice NEW means that a mention starts a new entity. The features of this choice
    are combinations of properties of the mention: its kind, head, role and neighbouring
    words, whether its words occur in an earlier mention, and others.

    Examples
    --------
    >>> from skcalib.coref import AntecedentFeatures
    >>> from skcalib.datasets import make_coref_documents
    >>> X, y = make_coref_documents(2, random_state=0)
    >>> features = AntecedentFeatures().transform(X)
    >>> len(X[0].mentions), features[0].shape
    (8, (36, 1048576))
    """

    def __init__(self, n_features: int = 2**20):
        self.n_features = n_features

    @public
    def fit(self, X: Sequence[Document], y: object = None) -> AntecedentFeatures:
        """Check the parameter.

        This method does not learn anything from the data.

        Parameters
        ----------
        X : sequence of Document
            Ignored.
        y : None
            Ignored.

        Returns
        -------
        self : AntecedentFeatures
            The transformer.
        """
        self._check_params()
        return self

    def _check_params(self) -> int:
        size = check_integer(self.n_features, minimum=2, name="n_features")
        if size & (size - 1) or size > 2**30:
            problem = f"must be a power of two, at most 2**30. Got {size} instead."
            raise ParameterError("n_features", problem)
        return size

    @public
    def transform(self, X: Sequence[Document]) -> np.ndarray:
        """Compute the features of the possible antecedents of each mention.

        Parameters
        ----------
        X : sequence of Document
            Documents whose mentions are sorted by their first word. If two mentions
            begin at the same word, the longer mention must come first.

        Returns
        -------
        features : ndarray of shape (n_documents,), object
            A CSR array for each document, with n_i * (n_i + 1) / 2 rows. The rows of a
            mention are its possible antecedents in order, followed by NEW: (mention 0,
            NEW), (mention 1, antecedent 0), (mention 1, NEW), (mention 2, antecedent
            0), and so on.

        Raises
        ------
        ValueError
            If the mentions of a document are not in order, or if a mention ends after
            the last word. The message names the document.
        """
        size = self._check_params()
        documents = check_documents(X, "X")
        words = list(map(words_of, documents))
        for i, (document, each) in enumerate(zip(documents, words, strict=True)):
            _check_mentions(document.mentions, each.starts[-1], i)
        tables = list(map(describe, documents, words))
        return object_array([_features(table, size) for table in tables])


def _check_mentions(mentions: Sequence[Mention], n_words: int, i: int) -> None:
    place = [(m.start, -m.end) for m in mentions]
    late = [j for j in range(1, len(place)) if place[j] < place[j - 1]]
    if late:
        raise ParameterError(
            "X",
            "must have mentions in the order of their first words, longer mentions "
            f"first. Mention {late[0]} of document {i} must come earlier.",
        )
    last = max((m.end for m in mentions), default=0)
    if last > n_words:
        raise ParameterError(
            "X",
            f"must have mentions within the document. A mention of document {i} ends "
            f"at word {last}, but the document has {n_words} words.",
        )


def _features(table: dict[str, np.ndarray], size: int) -> csr_array:
    """Return the features of a document, with one row per antecedent and for NEW."""
    n = len(table["overlap"])
    if n == 0:
        return csr_array((0, size))
    j, k = np.tril_indices(n)
    link = enumerate(_link_templates(table, j, k))
    # NEW has one fewer template, so a constant feature fills the row.
    new = [*enumerate(_new_templates(table), 100), (99, (np.zeros(n),))]
    codes = np.stack([_hashed(t, size, *columns) for t, columns in link], axis=1)
    codes[j == k] = np.stack([_hashed(t, size, *c) for t, c in new], axis=1)
    # Each row has one feature for each template.
    ends = np.arange(0, codes.size + 1, codes.shape[1], dtype=np.int32)
    parts = (np.ones(codes.size), codes.ravel(), ends)
    return csr_array(parts, shape=(len(codes), size))


def _hashed(template: int, size: int, *columns: np.ndarray) -> np.ndarray:
    # The template is part of the hash: equal values of two templates are two features.
    code = np.full(columns[0].shape, template + 1, dtype=np.uint64)
    for column in columns:
        code = (code ^ column.astype(np.uint64)) * MIX
        code ^= code >> np.uint64(29)
    code = code * MIX
    # The highest bits are mixed best.
    return (code >> np.uint64(64 - (size.bit_length() - 1))).astype(np.int32)


def _bucket(distance: np.ndarray) -> np.ndarray:
    return np.searchsorted(BOUNDS, distance, side="right")


def _latest(values: np.ndarray) -> np.ndarray:
    """Return, for each entry, the index of the last equal entry before it, or -1."""
    order = np.argsort(values, kind="stable")
    # Equal values are neighbours in the order of their places.
    again = np.flatnonzero(np.diff(values[order]) == 0)
    found = np.full(values.size, -1)
    found[order[again + 1]] = order[again]
    return found


def _link_templates(
    table: dict[str, np.ndarray], j: np.ndarray, k: np.ndarray
) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield combinations of properties of mentions j and their antecedents k."""
    a = {name: column[j] for name, column in table.items() if name != "overlap"}
    b = {name: column[k] for name, column in table.items() if name != "overlap"}
    # Both kinds in one number; there are fewer than 32.
    kinds = a["kind"] * 32 + b["kind"]
    sentences = _bucket(a["sentence"] - b["sentence"])
    between = _bucket(j - k)
    same_text, same_head = a["text"] == b["text"], a["head"] == b["head"]
    nearest_text = k == _latest(table["text"])[j]
    nearest_head = k == _latest(table["head"])[j]
    shared = table["overlap"][j, k]
    subset = (shared == a["size"]) + 2 * (shared == b["size"])
    match = same_text + 2 * same_head + 4 * np.minimum(shared, 2) + 16 * subset
    inside = (b["start"] <= a["start"]) & (b["end"] >= a["end"])
    speaker = (a["speaker"] == b["speaker"]) + 2 * (a["speaker"] == table["speaker"][0])
    quote = (a["quote"] > 0) + 2 * (b["quote"] > 0) + 4 * (a["quote"] == b["quote"])
    agree = a["number"] * 16 + b["number"] * 4
    gender = a["gender"] * 4 + b["gender"]
    lexical = np.where(a["kind"] > NOUN, a["form"], a["head"])
    other = np.where(b["kind"] > NOUN, b["form"], b["head"])
    near = np.minimum(a["sentence"] - b["sentence"], 2)
    yield kinds, sentences
    yield kinds, between
    yield kinds, match, nearest_text + 2 * nearest_head
    yield kinds, match, sentences
    yield a["kind"], same_text, same_head, a["length"], b["length"]
    yield kinds, inside, near, a["role"]
    yield kinds, agree, gender
    yield a["form"], b["form"], speaker, quote, near
    yield kinds, quote, nearest_text, near
    yield lexical, other
    yield a["kind"], other
    yield lexical, b["kind"], near
    yield kinds, a["role"], b["role"], near
    yield kinds, a["determiner"], b["determiner"], same_head
    yield a["kind"], a["tag"], b["tag"], same_head
    yield a["head"], same_text, same_head
    yield a["kind"], a["governor"], b["governor"]
    yield kinds, b["role"], between
    yield kinds, a["start"] == b["end"], a["before"], inside


def _new_templates(table: dict[str, np.ndarray]) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield combinations of properties of mentions, for NEW."""
    kind = table["kind"]
    place = np.arange(len(kind))
    seen_text = _latest(table["text"]) >= 0
    seen_head = _latest(table["head"]) >= 0
    earlier = np.tril(table["overlap"], -1)
    seen = seen_text + 2 * seen_head + 4 * (earlier.max(axis=1) > 0)
    whole = (earlier.max(axis=1) == table["size"]) * 1
    yield kind, seen
    yield kind, seen, table["determiner"]
    yield kind, table["role"]
    yield kind, table["head"]
    yield kind, table["first"]
    yield kind, table["length"], seen
    yield kind, _bucket(place)
    yield kind, _bucket(table["sentence"])
    yield kind, table["governor"]
    yield kind, table["before"]
    yield kind, table["after"]
    yield kind, table["tag"], table["determiner"]
    yield table["form"], table["role"]
    yield kind, table["number"], table["gender"]
    yield kind, whole, seen
    yield table["head"], seen
    yield kind, np.minimum(place, 3)
    yield table["text"], seen_text


@lru_cache(maxsize=2**17)
def number_of(text: str) -> int:
    """Return a hash of the text that is equal in all processes."""
    return crc32(text.encode("utf-8", "surrogatepass"))


class WordTable:
    """Properties of words that are used only for features."""

    def __init__(self, document: Document, words: Words):
        self.words = words
        self.lower = [form.lower() for form in words.form]
        self.quote = _quotes(words.form)
        self.speaker = _speakers(document, words)


def _speakers(document: Document, words: Words) -> list[str]:
    """Return the speaker of each word, "" if it is unknown."""
    of_sentence = []
    for sentence in document.sentences:
        found = [re.match(r"# *speaker *= *(.*)", c) for c in sentence.comments]
        of_sentence.append(next((f[1] for f in reversed(found) if f), ""))
    return [
        item.removeprefix("Speaker=") if item.startswith("Speaker=") else of_sentence[s]
        for item, s in zip(words.misc, words.sentence, strict=True)
    ]


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
    # Without a parse, the head is guessed from the words.
    if mention.head is not None:
        return mention.head
    for t in range(mention.start + 1, mention.end):
        if table.lower[t] in AFTER_HEAD:
            return t - 1
    return mention.end - 1


def describe(document: Document, words: Words) -> dict[str, np.ndarray]:
    """Return arrays with one entry per mention, and the overlap of each pair."""
    table = WordTable(document, words)
    described = [_describe(table, mention) for mention in document.mentions]
    rows = [row for row, _ in described]
    names = rows[0] if rows else ()
    found = {n: np.array([row[n] for row in rows], dtype=np.int64) for n in names}
    found["overlap"] = _overlap([inside for _, inside in described])
    return found


def _describe(table: WordTable, mention: Mention) -> tuple[dict[str, int], set[int]]:
    words, start, end = table.words, mention.start, mention.end
    head = _head_word(table, mention)
    lower = table.lower[start:end]
    kind = _kind(table, mention, head)
    # A mention of function words only, such as a pronoun, keeps them.
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
    # Names that end in s are usually singular.
    return 2 if table.lower[head].endswith("s") and kind == NOUN else 1


def _gender(lower: list[str]) -> int:
    """Return 1 for female, 2 for male, 3 for neuter (it), 0 if unknown."""
    if lower in (["it"], ["its"], ["itself"]):
        return 3
    return next((1 if w in FEMALE else 2 for w in lower if w in FEMALE | MALE), 0)


def _overlap(content: list[set[int]]) -> np.ndarray:
    """Return the number of content words that each pair of mentions shares."""
    column = {word: i for i, word in enumerate(sorted(set().union(*content)))}
    # A product of matrices counts the common words of all pairs at once.
    has = np.zeros((len(content), len(column)), dtype=np.float32)
    for j, inside in enumerate(content):
        has[j, [column[word] for word in inside]] = 1
    return (has @ has.T).astype(np.int16)
