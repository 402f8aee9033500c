"""Reader of CoNLL-U: documents with parses, dates and mentions."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._trees import find_cycle
from ..documents import Document, Mention, Sentence
from ._brackets import Brackets, Span, as_mention
from ._lines import Block, blocks_of, interned

WORD_ID = re.compile(r"[1-9][0-9]*")
RANGE_OR_EMPTY_NODE = re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")
META = re.compile(r"# *meta::(\S+) *= *(.*)")

# The English Web Treebank has its dates in the names of documents. What follows the
# day is not always a time of day, so it is not read.
WEB_DATE = re.compile(r"(?:weblog|newsgroup)-.*?_([0-9]{8})(?:_|[0-9]{6})")
ANSWERS_DATE = re.compile(r"answers-([0-9]{8})")


def read_conllu(path: Any) -> list[Document]:
    r"""Read the documents of a file in CoNLL-U.

    Parameters
    ----------
    path : str, Path or text file
        The file, in UTF-8; one whose name ends in ``.gz`` is uncompressed.

    Returns
    -------
    documents : list of Document
        A document begins at each ``# newdoc``; without any, all sentences are one
        document, whose `id` is None.

    Raises
    ------
    ValueError
        A line is malformed: the message has the file, the number of the line, what
        was expected and what stands there.

    See Also
    --------
    to_sequences : Words and tags of documents, for taggers.
    read_conll_columns : Words and tags of a file of columns.
    read_conll2012 : Documents with coreference in the columns of CoNLL-2012.

    Notes
    -----
    Words and the basic dependencies are read. Multiword tokens (``1-2``) and empty
    nodes (``8.1``) are left out, the ninth column is not read. Lines may end in CR LF
    and the last blank line may be missing.

    Mentions are read from ``Entity=`` in the last column, as in CorefUD and GUM: all
    mentions in the order of their first words, longer ones first, with the entity's
    name in `entities`. What a bracket says besides is named by ``# global.Entity``,
    and stands in the mention's `attributes`; without that line, all of it is the name.
    The head is the word that depends on one outside, no punctuation if possible. Parts
    of a discontinuous mention (``1[1/2]``) are one mention from the first word to the
    last, with the spans of words in ``attributes["parts"]``. Of two mentions of the
    same words the first is kept, with a warning; mentions of an empty node alone are
    left out, as the node is. ``SplitAnte=`` and ``Bridge=`` stay in `misc`.

    Lines ``# meta::name = value`` of a document give its `metadata`. Its `date` is
    that of ``# meta::dateCreated = YYYY-MM-DD``, else the eight digits in the name of
    a weblog, newsgroup or answers document of the English Web Treebank, else None;
    digits that are no day give None.

    Examples
    --------
    >>> import io
    >>> from skcalib.datasets import read_conllu
    >>> rows = ["1 It it PRON PRP _ 2 nsubj _ _", "2 rains rain VERB VBZ _ 0 root _ _"]
    >>> lines = ["# newdoc id = note-1", "# meta::dateCreated = 2004-11-17"]
    >>> text = "\n".join(lines + [row.replace(" ", "\t") for row in rows])
    >>> (document,) = read_conllu(io.StringIO(text))
    >>> document
    Document('note-1', 2004-11-17, 1 sentence, 2 words)
    >>> document.sentences[0].xpos, document.sentences[0].head
    (('PRP', 'VBZ'), (1, -1))
    """
    drafts: list[Draft] = []
    fields: tuple[str, ...] = ("GRP",)
    for block in blocks_of(path, caller="read_conllu"):
        sentence = _sentence(block)
        if not drafts or any(map(_is_newdoc, sentence.comments)):
            drafts.append(Draft())
        fields = _entity_fields(sentence, fields)
        spans = _spans(block, fields, drafts[-1].n_words)
        drafts[-1].add(sentence, spans)
    return [draft.document() for draft in drafts]


@dataclass
class Draft:
    """A document that is being read."""

    sentences: list[Sentence] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    n_words: int = 0

    def add(self, sentence: Sentence, spans: list[Span]) -> None:
        """Take the next sentence and its spans."""
        for span in spans:
            self.mentions.append(as_mention(span, sentence, self.n_words))
            self.entities.append(span.entity)
        self.sentences.append(sentence)
        self.n_words += len(sentence)

    def document(self) -> Document:
        """Return the document; the comments of its first sentence are about it."""
        comments = self.sentences[0].comments
        id_ = _comment_value(comments, "newdoc id")
        found = map(META.match, comments)
        metadata = {match[1]: match[2].strip() for match in found if match}
        created = metadata.get("dateCreated")
        date = _date_of_id(id_ or "") if created is None else _day(created)
        return Document(
            id_, date, self.sentences, self.mentions, self.entities, metadata
        )


def _sentence(block: Block) -> Sentence:
    comments = []
    words: list[list[str]] = []
    numbers: list[int] = []
    for number, text in block.lines:
        if text.startswith("#") and not words:
            comments.append(text)
            continue
        row = text.split("\t")
        _check_row(block, number, row)
        if RANGE_OR_EMPTY_NODE.fullmatch(row[0]):
            continue
        if row[0] != str(len(words) + 1):
            expected = f"a word with id {len(words) + 1}, a range or an empty node"
            block.refuse(number, expected, f"id {row[0]!r}")
        words.append(row)
        numbers.append(number)
    if not words:
        block.refuse(block.lines[-1].number, "a word", "the end of the sentence")
    heads = [
        _head(block, number, row, len(words))
        for number, row in zip(numbers, words, strict=True)
    ]
    _check_tree(block, numbers, heads)
    columns = list(zip(*words, strict=True))
    return Sentence(
        form=interned(columns[1]),
        lemma=interned(columns[2]),
        upos=interned(columns[3]),
        xpos=interned(columns[4]),
        feats=interned(columns[5]),
        head=heads,
        deprel=interned(columns[7]),
        misc=columns[9],
        sent_id=_comment_value(comments, "sent_id"),
        text=_comment_value(comments, "text"),
        comments=comments,
    )


def _check_row(block: Block, number: int, row: list[str]) -> None:
    if len(row) != 10:
        block.refuse(number, "10 columns with tabs between them", f"{len(row)}")
    if "" in row:
        expected = "10 columns that are not empty"
        block.refuse(number, expected, f"nothing in column {row.index('') + 1}")


def _head(block: Block, number: int, row: list[str], n_words: int) -> int:
    """Return the head of a word as an index from 0, -1 for the root."""
    text = row[6]
    is_number = text == "0" or WORD_ID.fullmatch(text)
    # Nobody writes sentences of a billion words, but int() refuses long numerals.
    if not is_number or len(text) > 9 or int(text) > n_words or text == row[0]:
        expected = f"the id of another word, at most {n_words}, or 0 as head"
        block.refuse(number, expected, repr(text))
    return int(text) - 1


def _check_tree(block: Block, numbers: list[int], heads: list[int]) -> None:
    """Raise if a word depends on itself by way of others."""
    cycle = find_cycle(heads)
    if cycle:
        expected = "heads that lead to the root"
        block.refuse(numbers[cycle[0]], expected, "a word that depends on itself")


def _is_newdoc(comment: str) -> bool:
    return re.match(r"# *newdoc(\s|$)", comment) is not None


def _comment_value(comments: Sequence[str], key: str) -> str | None:
    """Return what stands after ``# key =``."""
    for comment in comments:
        name, equals, value = comment[1:].partition("=")
        if equals and name.strip() == key:
            return value.strip()
    return None


def _entity_fields(sentence: Sentence, before: tuple[str, ...]) -> tuple[str, ...]:
    """Return what stands in the brackets of entities: the last header holds."""
    header = _comment_value(sentence.comments, "global.Entity")
    return before if header is None else tuple(header.split("-"))


def _spans(block: Block, fields: tuple[str, ...], offset: int) -> list[Span]:
    brackets = Brackets(fields, block)
    word = offset
    for number, text in block.lines:
        id_, _, columns = text.partition("\t")
        if text.startswith("#") or "-" in id_:  # a range takes no word
            continue
        is_empty = "." in id_
        for item in columns.rpartition("\t")[2].split("|"):
            if item.startswith("Entity="):
                end = word if is_empty else word + 1
                brackets.read(item.removeprefix("Entity="), number, word, end)
        word += not is_empty
    return brackets.finish()


def _date_of_id(id_: str) -> datetime.date | None:
    found = WEB_DATE.match(id_) or ANSWERS_DATE.match(id_)
    if found is None:
        return None
    digits = found[1]
    return _day(f"{digits[:4]}-{digits[4:6]}-{digits[6:]}")


def _day(text: str) -> datetime.date | None:
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None
