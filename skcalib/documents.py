"""Documents: what readers give, what coreference and event counting read."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

__all__ = ["Document", "Mention", "Sentence"]

TEXT_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "misc")


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
        n = len(self.form)
        for name in TEXT_COLUMNS:
            self._keep(name, getattr(self, name), missing=("_",) * n)
        self._keep("head", self.head, missing=(-1,) * n)
        for i, head in enumerate(self.head):
            if not isinstance(head, Integral) or not -1 <= head < n or head == i:
                raise ValueError(
                    "The 'head' parameter of Sentence must give each word the index "
                    f"of another word, from 0 to {n - 1}, or -1. Got {head!r} for "
                    f"word {i}."
                )
        object.__setattr__(self, "comments", tuple(self.comments))

    def _keep(self, name: str, values: Any, *, missing: tuple) -> None:
        """Store a column as a tuple that is as long as the sentence."""
        if isinstance(values, str):
            raise TypeError(
                f"The {name!r} parameter of Sentence must be a sequence with an entry "
                f"for each word. Got the string {values!r:.50}."
            )
        column = tuple(values) or missing
        if len(column) != len(missing):
            raise ValueError(
                f"The {name!r} parameter of Sentence must have an entry for each of "
                f"the {len(missing)} words. Got {len(column)}."
            )
        object.__setattr__(self, name, column)

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
        The day it was written or published. None: not known.
    sentences : sequence of Sentence, default=()
        Sentences in order.
    mentions : sequence of Mention, default=()
        Mentions of entities, in order.
    entities : sequence, default=()
        Entity of each mention; mentions of the same entity have equal entries.
    metadata : dict, default={}
        Whatever else is known of the document.

    See Also
    --------
    Sentence : One of its sentences.
    skcalib.datasets.read_conllu : Documents from a file.
    skcalib.datasets.to_sequences : Words and tags of documents, for taggers.

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
        for name in ("sentences", "mentions", "entities"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.mentions) != len(self.entities):
            raise ValueError(
                "Document must have an entity for each mention. Got "
                f"{len(self.mentions)} mentions and {len(self.entities)} entities."
            )

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


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
