"""Documents: what readers give, what coreference and event counting read."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, Self

import numpy as np

from ._noun_phrases import noun_phrases
from ._spacy import sentence_columns
from ._trees import check_parses

__all__ = ["Document", "Mention", "Sentence", "mentions_from_parse"]

# What a column that is not given holds for each word.
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
    """Hold a sentence as columns, one entry for each word.

    Columns have the names of CoNLL-U. Any sequence is taken and kept as a tuple; a
    column that is not given holds ``"_"``, as in a file that leaves it out.

    Parameters
    ----------
    form : sequence of str
        Words as they stand in the text.
    lemma : sequence of str, default=()
        Base forms.
    upos : sequence of str, default=()
        Universal part-of-speech tags.
    xpos : sequence of str, default=()
        Part-of-speech tags of the language.
    feats : sequence of str, default=()
        Morphological features.
    head : sequence of int, default=()
        Index, in the sentence and from 0, of the word that each word depends on; -1
        for a root, and for every word where no parse is given.
    deprel : sequence of str, default=()
        Names of the dependencies.
    misc : sequence of str, default=()
        Whatever else is noted of a word.
    sent_id : str, default=None
        Name of the sentence.
    text : str, default=None
        The sentence before it was cut into words.
    comments : sequence of str, default=()
        Comment lines of the file, with their ``#``.

    See Also
    --------
    Document : Sentences that belong together.
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
                object.__setattr__(self, name, (missing,) * n)
            elif len(column) != n:
                raise ValueError(
                    f"The {name!r} parameter of Sentence must have an entry for each "
                    f"of the {n} words. Got {len(column)}."
                )
        _keep_tuple(self, "comments", of=str)
        for i, head in enumerate(self.head):
            if not isinstance(head, (int, Integral)) or not -1 <= head < n or head == i:
                raise ValueError(
                    "The 'head' parameter of Sentence must give each word the index "
                    f"of another word, from 0 to {n - 1}, or -1. Got {head!r} for "
                    f"word {i}."
                )

    def __len__(self) -> int:
        return len(self.form)

    def __repr__(self) -> str:
        words = " ".join(self.form)
        start = words if len(words) <= 40 else f"{words[:37]}..."
        return f"Sentence({start!r}, {_count(len(self), 'word')})"


@dataclass(frozen=True)
class Mention:
    """Point to the words of a document that name an entity.

    Words are counted from 0 over the whole document, across its sentences.

    Parameters
    ----------
    start : int
        First word.
    end : int
        One past the last word.
    head : int, default=None
        The word that the others depend on. None: not known.
    attributes : dict, default={}
        Whatever else is known of the mention.

    See Also
    --------
    Document : What mentions point into.

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
                raise TypeError(
                    f"The {name!r} parameter of Mention must be an integer. Got "
                    f"{value!r} instead."
                )
        if not 0 <= self.start < self.end:
            raise ValueError(
                "Mention must have 0 <= start < end. Got "
                f"start={self.start!r} and end={self.end!r}."
            )
        if self.head is not None and not self.start <= self.head < self.end:
            raise ValueError(
                "The 'head' parameter of Mention must be a word from start to "
                f"end - 1, so from {self.start} to {self.end - 1}. Got {self.head!r}."
            )


@dataclass(frozen=True, repr=False)
class Document:
    """Hold the sentences of a document and what is known of it.

    Parameters
    ----------
    id : str
        Name of the document. None: it has none.
    date : datetime.date, default=None
        The day it was written or published; a text as "1990-01-03" and a
        `numpy.datetime64` become one. None or NaT: not known.
    sentences : sequence of Sentence, default=()
        Sentences in order.
    mentions : sequence of Mention, default=()
        Mentions of entities, in order.
    entities : sequence, default=()
        Entity of each mention; mentions of the same entity have equal entries. None:
        not known.
    metadata : dict, default={}
        Whatever else is known of the document.

    See Also
    --------
    Sentence : One of its sentences.
    skcalib.datasets.read_conllu : Documents from a file.
    skcalib.datasets.to_sequences : Words and tags of documents, for taggers.
    mentions_from_parse : Mentions of a document that has none.

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
                "Document must have an entity for each mention. Got "
                f"{len(self.mentions)} mentions and {len(self.entities)} entities."
            )

    @classmethod
    def from_spacy(
        cls, doc: Any, *, id: str | None = None, date: datetime.date | None = None
    ) -> Self:
        """Take the words, tags and parses of a spaCy Doc.

        Parameters
        ----------
        doc : spacy.tokens.Doc
            A text that went through a pipeline, or was annotated by hand.
        id : str, default=None
            Name of the document.
        date : datetime.date, default=None
            The day it was written or published.

        Returns
        -------
        document : Document
            The document without mentions, see :func:`mentions_from_parse`. Word i is
            token i of `doc`, white space that spaCy has for a token included.

        Notes
        -----
        A Doc without sentence boundaries is one sentence. Labels of dependencies are
        kept as they are: those of spaCy's English models differ from universal ones,
        and what reads documents here understands both where it matters. spaCy is not
        imported; ``pip install skcalib[spacy]`` installs it.

        Examples
        --------
        >>> import spacy  # doctest: +SKIP
        >>> from skcalib.documents import Document
        >>> nlp = spacy.load("en_core_web_sm")  # doctest: +SKIP
        >>> Document.from_spacy(nlp("It rains."), id="note-1")  # doctest: +SKIP
        Document('note-1', no date, 1 sentence, 3 words)
        """
        sentences = [Sentence(**columns) for columns in sentence_columns(doc)]
        return cls(id, date, sentences)

    @property
    def n_words(self) -> int:
        """Number of words of all sentences."""
        return sum(map(len, self.sentences))

    def __repr__(self) -> str:
        date = "no date" if self.date is None else self.date.isoformat()
        parts = [repr(self.id), date, _count(len(self.sentences), "sentence")]
        parts.append(_count(self.n_words, "word"))
        if self.mentions:
            parts.append(_count(len(self.mentions), "mention"))
        return f"Document({', '.join(parts)})"


def mentions_from_parse(
    document: Document, *, relative_pronouns: bool = False
) -> Document:
    """Give a document the mentions that its parses suggest.

    Parameters
    ----------
    document : Document
        A document with parses, of Universal Dependencies or of spaCy's English models.
        Mentions that it has are replaced.
    relative_pronouns : bool, default=False
        Whether "who" in "troops who attacked" is a mention.

    Returns
    -------
    document : Document
        The document with mentions in the order of their first words, longer ones first.
        Their entities are None: not known.

    Raises
    ------
    ValueError
        A sentence has no parse, or words that depend on each other in a circle.

    See Also
    --------
    Document.from_spacy : Documents with parses, from text.
    skcalib.events.EventRule : Which mentions are agents of an event.

    Notes
    -----
    Each noun, name and pronoun (NOUN, PROPN, PRON) is the head of a mention, except
    inside a name or a compound (`flat`, `fixed`, `goeswith`, `compound`), expletives
    (`expl`), and pronouns that ask or begin a relative clause.

    The words are those of the head's subtree that stand together with it, without
    prepositions, conjunctions and what they add, appositions, adverbs, parentheses and
    punctuation at the ends; and, where the head is the predicate of a clause, without
    the rest of the clause. Relative clauses belong to the mention, and so does a
    possessive ``'s``.

    Of the mentions annotated in GUM (237 documents) 88% have the head of one of these,
    81% also its words; of these 93% and 87% are there. Most of the others are inside
    compounds, numbers and verbs.

    Examples
    --------
    >>> from skcalib.documents import Document, Sentence, mentions_from_parse
    >>> sentence = Sentence(
    ...     ["Rebels", "in", "the", "hills", "attacked", "it"],
    ...     upos=["NOUN", "ADP", "DET", "NOUN", "VERB", "PRON"],
    ...     head=[4, 3, 3, 0, -1, 4],
    ...     deprel=["nsubj", "case", "det", "nmod", "root", "obj"],
    ... )
    >>> document = mentions_from_parse(Document("a", sentences=[sentence]))
    >>> [" ".join(sentence.form[m.start : m.end]) for m in document.mentions]
    ['Rebels in the hills', 'the hills', 'it']
    """
    caller = "mentions_from_parse"
    if not isinstance(document, Document):
        raise TypeError(
            f"The 'document' parameter of {caller} must be a Document. Got "
            f"{type(document).__name__} instead."
        )
    check_parses(document, caller=caller)
    mentions = []
    offset = 0
    for sentence in document.sentences:
        for phrase in noun_phrases(sentence, relative_pronouns=relative_pronouns):
            start, end, head = (offset + word for word in phrase)
            mentions.append(Mention(start, end, head))
        offset += len(sentence)
    return replace(document, mentions=mentions, entities=[None] * len(mentions))


def _as_date(date: Any) -> datetime.date | None:
    """Return a date of Python, None for a missing one; a datetime stays one."""
    day = date
    if isinstance(date, str):
        with contextlib.suppress(ValueError):
            day = datetime.date.fromisoformat(date)
    elif isinstance(date, np.datetime64):
        day = date.astype("datetime64[D]").item()
    if day is None or day != day:  # NaT of numpy and of pandas
        return None
    if not isinstance(day, datetime.date):
        raise TypeError(
            "The 'date' parameter of Document must be None, a datetime.date or text as "
            f"'1990-01-03'. Got {date!r} instead."
        )
    return day


def _keep_tuple(owner: Any, name: str, *, of: type | None = None) -> tuple:
    """Store a sequence that a frozen object was given as a tuple, and return it."""
    values = getattr(owner, name)
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
