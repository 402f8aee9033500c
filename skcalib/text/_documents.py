"""Documents, their sentences and mentions, and their words as columns."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from numbers import Integral
from operator import attrgetter
from typing import Any, Self

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public

# Entry of each word in a column that is not given.
MISSING = {
    "lemma": "_",
    "upos": "_",
    "xpos": "_",
    "feats": "_",
    "head": -1,
    "deprel": "_",
    "misc": "_",
}


@dataclass(frozen=True, repr=False, slots=True)
class Sentence:
    """Represent a sentence as columns with one entry per word.

    Columns have the names of CoNLL-U. Any sequence is accepted and stored as a tuple. A
    column that is not given is filled with ``"_"``, as in a file without this column.

    Parameters
    ----------
    form : sequence of str
        Words as they are written in the text.
    lemma : sequence of str, default=()
        Base forms.
    upos : sequence of str, default=()
        Universal part-of-speech tags.
    xpos : sequence of str, default=()
        Part-of-speech tags of the language.
    feats : sequence of str, default=()
        Morphological features.
    head : sequence of int, default=()
        Index of the word that each word depends on, counted from 0 within the
        sentence. It is -1 for a root, and for every word if there is no parse.
    deprel : sequence of str, default=()
        Labels of the dependencies.
    misc : sequence of str, default=()
        Other annotations of the words.
    sent_id : str, default=None
        Name of the sentence.
    text : str, default=None
        Text of the sentence before tokenisation.
    comments : sequence of str, default=()
        Comment lines of the file, including the ``#``.

    See Also
    --------
    Document : Sentences of one document.
    skcalib.datasets.read_conllu : Documents from a file.

    Examples
    --------
    >>> from skcalib.documents import Sentence
    >>> sentence = Sentence(
    ...     ["Rebels", "attacked", "Arcadia"],
    ...     upos=["NOUN", "VERB", "PROPN"],
    ...     head=[1, -1, 1],
    ...     deprel=["nsubj", "root", "obj"],
    ... )
    >>> sentence
    Sentence('Rebels attacked Arcadia', 3 words)
    >>> sentence.upos
    ('NOUN', 'VERB', 'PROPN')
    >>> sentence.xpos
    ('_', '_', '_')
    """

    form: Sequence[str]
    lemma: Sequence[str] = ()
    upos: Sequence[str] = ()
    xpos: Sequence[str] = ()
    feats: Sequence[str] = ()
    head: Sequence[int] = ()
    deprel: Sequence[str] = ()
    misc: Sequence[str] = ()
    sent_id: str | None = None
    text: str | None = None
    comments: Sequence[str] = ()

    def __post_init__(self) -> None:
        n = len(_keep_tuple(self, "form", of=str))
        for name, missing in MISSING.items():
            column = _keep_tuple(self, name, of=None if name == "head" else str)
            if not column:
                # The way to set an attribute of a frozen dataclass.
                object.__setattr__(self, name, (missing,) * n)
            elif len(column) != n:
                raise ParameterError(
                    name,
                    f"must have an entry for each of the {n} words. Got {len(column)}.",
                    "Sentence",
                )
        _keep_tuple(self, "comments", of=str)
        # Longer cycles are found where parses are used.
        for i, head in enumerate(self.head):
            if not isinstance(head, (int, Integral)) or not -1 <= head < n or head == i:
                raise ParameterError(
                    "head",
                    "must give each word the index of another word, from 0 to "
                    f"{n - 1}, or -1. Got {head!r} for word {i}.",
                    "Sentence",
                )

    def __len__(self) -> int:
        return len(self.form)

    def __repr__(self) -> str:
        words = " ".join(self.form)
        start = words if len(words) <= 40 else f"{words[:37]}..."
        return f"Sentence({start!r}, {_count(len(self), 'word')})"


@dataclass(frozen=True)
class Mention:
    """Represent the words of a document that refer to an entity.

    Words are counted from 0 over the whole document, across its sentences.

    Parameters
    ----------
    start : int
        Index of the first word.
    end : int
        Index of the last word plus one.
    head : int, default=None
        Index of the word on which the other words depend. If None, the head is unknown.
    attributes : dict, default={}
        Other information about the mention.

    See Also
    --------
    Document : Sentences and mentions of a document.

    Examples
    --------
    >>> from skcalib.documents import Mention
    >>> Mention(2, 5, head=4)
    Mention(start=2, end=5, head=4, attributes={})
    """

    start: int
    end: int
    head: int | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("start", "end", "head"):
            value = getattr(self, name)
            is_integer = isinstance(value, (int, Integral))  # int is found fast
            if not is_integer and (name != "head" or value is not None):
                raise ParameterTypeError(
                    name, f"must be an integer. Got {value!r} instead.", "Mention"
                )
        if not 0 <= self.start < self.end:
            raise ValueError(
                "Mention must have 0 <= start < end. Got "
                f"start={self.start!r} and end={self.end!r}."
            )
        if self.head is not None and not self.start <= self.head < self.end:
            raise ParameterError(
                "head",
                f"must be a word from start to end - 1, so from {self.start} to "
                f"{self.end - 1}. Got {self.head!r}.",
                "Mention",
            )


@dataclass(frozen=True, repr=False)
class Document:
    """Represent a document: its sentences, mentions and entities.

    Parameters
    ----------
    id : str or None
        Name of the document, if there is one.
    date : datetime.date, default=None
        Day on which the document was written or published. A string such as
        "1990-01-03" and a `numpy.datetime64` are converted. If None or NaT, the date is
        unknown.
    sentences : sequence of Sentence, default=()
        Sentences in order.
    mentions : sequence of Mention, default=()
        Mentions of entities, in order.
    entities : sequence, default=()
        Entity of each mention. Mentions of the same entity have equal entries. An entry
        is None if the entity is unknown.
    metadata : dict, default={}
        Other information about the document.

    See Also
    --------
    Sentence : Columns of one sentence.
    skcalib.datasets.read_conllu : Documents from a file.
    skcalib.datasets.to_sequences : Words and tags of documents, for taggers.
    mentions_from_parse : Mentions found in the parses of a document.

    Examples
    --------
    >>> import datetime
    >>> from skcalib.documents import Document, Sentence
    >>> document = Document(
    ...     "news-1",
    ...     datetime.date(1990, 1, 3),
    ...     [Sentence(["Rebels", "attacked", "Arcadia"]), Sentence(["It", "fell"])],
    ... )
    >>> document
    Document('news-1', 1990-01-03, 2 sentences, 5 words)
    >>> document.n_words
    5
    """

    id: str | None
    date: datetime.date | None = None
    sentences: Sequence[Sentence] = ()
    mentions: Sequence[Mention] = ()
    entities: Sequence[Any] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _keep_tuple(self, "sentences", of=Sentence)
        _keep_tuple(self, "mentions", of=Mention)
        _keep_tuple(self, "entities")
        object.__setattr__(self, "date", _as_date(self.date))
        if len(self.mentions) != len(self.entities):
            raise ValueError(
                "Document must have one entity per mention. Got "
                f"{len(self.mentions)} mentions and {len(self.entities)} entities."
            )

    @classmethod
    @public
    def from_spacy(
        cls, doc: Any, *, id: str | None = None, date: datetime.date | None = None
    ) -> Self:
        """Convert a spaCy Doc with its words, tags and parses.

        Parameters
        ----------
        doc : spacy.tokens.Doc
            Text that a spaCy pipeline has processed, or that was annotated by hand.
        id : str, default=None
            Name of the document.
        date : datetime.date, default=None
            Day on which the document was written or published.

        Returns
        -------
        document : Document
            Document without mentions (see :func:`mentions_from_parse`). Word i is token
            i of `doc`. White space tokens are kept.

        Notes
        -----
        A Doc without sentence boundaries becomes one sentence. Dependency labels are
        not changed. Functions of this package that use them accept universal labels and
        the labels of spaCy's English models. spaCy is not imported;
        ``pip install skcalib[spacy]`` installs it.

        Examples
        --------
        >>> import spacy  # doctest: +SKIP
        >>> from skcalib.documents import Document
        >>> nlp = spacy.load("en_core_web_sm")  # doctest: +SKIP
        >>> Document.from_spacy(nlp("It rains."), id="note-1")  # doctest: +SKIP
        Document('note-1', no date, 1 sentence, 3 words)
        """
        return cls(id, date, list(spacy_sentences(doc)))

    @property
    def n_words(self) -> int:
        """Number of words in all sentences."""
        return sum(map(len, self.sentences))

    @public
    def clusters(self) -> list[list[tuple[int, int]]]:
        """Return the mentions of each entity, for coreference metrics.

        Returns
        -------
        clusters : list of list of tuple
            For each entity, the (start, end) of its mentions, where `end` is the index
            of the last word plus one. Entities are in the order of their first
            mentions. :func:`~skcalib.coref.coref_scores` takes a list with these
            clusters for each document.

        Raises
        ------
        ValueError
            If the entity of a mention is None.

        Examples
        --------
        >>> from skcalib.documents import Document, Mention
        >>> mentions = [Mention(0, 2), Mention(3, 4), Mention(5, 6)]
        >>> document = Document("news-1", mentions=mentions, entities=["a", "b", "a"])
        >>> document.clusters()
        [[(0, 2), (5, 6)], [(3, 4)]]
        """
        found: dict[Any, list[tuple[int, int]]] = {}
        both = zip(self.mentions, self.entities, strict=True)
        for j, (mention, entity) in enumerate(both):
            if entity is None:
                raise ValueError(
                    "Document.clusters needs the entity of each mention. Got None for "
                    f"mention {j} of document {self.id!r}."
                )
            found.setdefault(entity, []).append((mention.start, mention.end))
        return list(found.values())

    # Stored in __dict__, which is why this class has no slots.
    @cached_property
    def _words(self) -> Words:
        return Words.of(self.sentences)

    def __getstate__(self) -> dict[str, Any]:
        # Columns are computed again where they are needed.
        return {k: value for k, value in vars(self).items() if k != "_words"}

    def __repr__(self) -> str:
        date = "no date" if self.date is None else self.date.isoformat()
        parts = [repr(self.id), date, _count(len(self.sentences), "sentence")]
        parts.append(_count(self.n_words, "word"))
        if self.mentions:
            parts.append(_count(len(self.mentions), "mention"))
        return f"Document({', '.join(parts)})"


# Columns that are concatenated over sentences without a change.
_TEXT_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "misc")


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Represent the words of a document as columns over all sentences.

    `form`, `lemma`, `upos`, `xpos`, `feats`, `deprel` and `misc` are the columns of the
    sentences. `head` contains word indices in the document, -1 for a root. `sentence`
    contains the sentence of each word, and `starts` the first word of each sentence,
    followed by the number of words.
    """

    form: tuple[str, ...]
    lemma: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    deprel: tuple[str, ...]
    misc: tuple[str, ...]
    head: tuple[int, ...]
    sentence: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Words:
        """Return the columns of sentences that follow each other."""
        starts, head, number = [0], [], []
        for s, sentence in enumerate(sentences):
            start = starts[-1]
            head += [start + h if h >= 0 else -1 for h in sentence.head]
            number += [s] * len(sentence.form)
            starts.append(start + len(sentence.form))
        columns = {
            name: tuple(chain.from_iterable(map(attrgetter(name), sentences)))
            for name in _TEXT_COLUMNS
        }
        return cls(
            **columns, head=tuple(head), sentence=tuple(number), starts=tuple(starts)
        )


def words_of(document: Document) -> Words:
    """Return the words of a document as columns, computed once for each document."""
    return document._words


def spacy_sentences(doc: Any) -> Iterator[Sentence]:
    """Yield the sentences of a spaCy Doc."""
    if isinstance(doc, str) or not hasattr(doc, "sents"):
        problem = f"must be a spaCy Doc. Got {type(doc).__name__} instead."
        raise ParameterTypeError("doc", problem)
    try:
        spans = list(doc.sents)
    except ValueError:  # There are no sentence boundaries.
        spans = [doc] if len(doc) else []
    # What a pipeline does not annotate is an empty string.
    for tokens in map(list, spans):
        yield Sentence(
            form=[token.text for token in tokens],
            lemma=[token.lemma_ or "_" for token in tokens],
            upos=[token.pos_ or "_" for token in tokens],
            xpos=[token.tag_ or "_" for token in tokens],
            feats=[str(token.morph) or "_" for token in tokens],
            head=_heads(tokens),
            deprel=[token.dep_ or "_" for token in tokens],
        )


def _heads(tokens: list[Any]) -> list[int]:
    """Return heads as indices in the sentence. In spaCy a root is its own head."""
    place = {token.i: n for n, token in enumerate(tokens)}
    heads = []
    for n, token in enumerate(tokens):
        head = place.get(token.head.i)
        if head is None:
            raise ParameterError(
                None,
                "needs each head in the same sentence as its dependent. Token "
                f"{token.i} ({token.text!r}) has its head, token {token.head.i}, in "
                "another sentence. Let the parser set the sentence boundaries.",
            )
        heads.append(-1 if head == n else head)
    return heads


def check_document(document: Any, function: str | None = None) -> None:
    """Raise an error if the parameter `document` of `function` is not a document."""
    if not isinstance(document, Document):
        problem = f"must be a Document. Got {type(document).__name__} instead."
        raise ParameterTypeError("document", problem, function)


def check_documents(documents: Any, name: str) -> list[Document]:
    """Return a list of documents, received as the parameter `name`."""
    if isinstance(documents, (Document, str)) or not isinstance(documents, Iterable):
        problem = f"must be a sequence of documents. Got {type(documents).__name__}."
        raise ParameterTypeError(name, problem)
    found = list(documents)
    for i, document in enumerate(found):
        if not isinstance(document, Document):
            raise ParameterTypeError(
                name,
                "must contain objects of the class Document. Got "
                f"{type(document).__name__} as document {i}.",
            )
    return found


def _as_date(date: Any) -> datetime.date | None:
    """Return the date as one of Python, None if it is missing."""
    day = date
    if isinstance(date, str):
        with contextlib.suppress(ValueError):
            day = datetime.date.fromisoformat(date)
    elif isinstance(date, np.datetime64):
        # Only days become dates; finer units become datetimes or integers.
        day = date.astype("datetime64[D]").item()
    if day is None or day != day:  # NaT of numpy and of pandas
        return None
    if not isinstance(day, datetime.date):
        raise ParameterTypeError(
            "date",
            "must be None, a datetime.date or a string such as '1990-01-03'. Got "
            f"{date!r} instead.",
            "Document",
        )
    return day


def _keep_tuple(owner: Any, name: str, *, of: type | None = None) -> tuple:
    """Store a sequence of a frozen object as a tuple, and return it."""
    values = getattr(owner, name)
    # A str is a sequence of characters, but never a column of words.
    try:
        items = None if isinstance(values, str) else tuple(values)
    except TypeError:
        items = None
    if items is None:
        raise TypeError(f"{_wanted(owner, name)}. Got {values!r:.50} instead.")
    if of is not None and set(map(type, items)) - {of}:  # other types, or subclasses
        for i, item in enumerate(items):
            if not isinstance(item, of):
                raise TypeError(
                    f"{_wanted(owner, name)} of {of.__name__}. Got {item!r:.50} as "
                    f"item {i}."
                )
    object.__setattr__(owner, name, items)
    return items


def _wanted(owner: Any, name: str) -> str:
    return f"The {name!r} parameter of {type(owner).__name__} must be a sequence"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
