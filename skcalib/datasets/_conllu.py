"""Reader of CoNLL-U: documents with parses, dates and mentions."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .._errors import public
from ..documents import Document, Mention, Sentence
from ..text._trees import find_cycle
from ._lines import (
    Block,
    Brackets,
    Span,
    TextFile,
    as_mention,
    blocks_of,
    interned,
    warn_of_repeated,
)

WORD_ID = re.compile(r"[1-9][0-9]*")
RANGE_OR_EMPTY_NODE = re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")
META = re.compile(r"# *meta::(\S+) *= *(.*)")

# The names of the documents of the English Web Treebank contain the date. The text
# after the day is not always a time of day, so it is not read.
WEB_DATE = re.compile(r"(?:weblog|newsgroup)-.*?_([0-9]{8})(?:_|[0-9]{6})")
ANSWERS_DATE = re.compile(r"answers-([0-9]{8})")


@public
def read_conllu(path: TextFile) -> list[Document]:
    r"""Read the documents of a file in CoNLL-U.

    Parameters
    ----------
    path : str, Path or text file
        File in UTF-8. If its name ends in ``.gz``, it is uncompressed.

    Returns
    -------
    documents : list of Document
        Documents of the file. A document begins at each ``# newdoc`` line. Without such
        lines, all sentences form one document, whose `id` is None.

    Raises
    ------
    ValueError
        If a line is malformed. The message names the file, the number of the line,
        what was expected and what was found.

    See Also
    --------
    to_sequences : Words and tags of documents, for taggers.
    read_conll_columns : Words and tags of a file of columns.
    read_conll2012 : Documents with coreference in the columns of CoNLL-2012.

    Notes
    -----
    Words and the basic dependencies are read. Multiword tokens (``1-2``) and empty
    nodes (``8.1``) are left out, and the ninth column is not read. Lines may end in CR
    LF and the last blank line may be missing.

    Mentions are read from ``Entity=`` in the last column, as in CorefUD and GUM. They
    are in the order of their first words. If several mentions have the same first word,
    longer mentions come first. The names of their entities are in `entities`. The line
    ``# global.Entity`` names the other fields of a bracket, which become the mention's
    `attributes`. Without that line, the whole bracket is the name. The head is the
    first word that depends on a word outside the mention. Punctuation marks are used
    only if there is no other such word. Parts of a discontinuous mention (``1[1/2]``)
    are one mention from the first word to the last, with the spans of words in
    ``attributes["parts"]``. If two mentions have the same words, the first is kept, and
    one warning per file gives the number of mentions that were left out. Mentions that
    contain only empty nodes are left out. ``SplitAnte=`` and ``Bridge=`` are kept in
    `misc`.

    Lines ``# meta::name = value`` of a document give its `metadata`. The `date` is read
    from ``# meta::dateCreated = YYYY-MM-DD``. Without that line, it is read from the
    eight digits in the name of a weblog, newsgroup or answers document of the English
    Web Treebank. It is None if there is neither, or if the digits are not a valid day.

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
    repeated: list[str] = []
    for block in blocks_of(path):
        sentence = _sentence(block)
        if not drafts or any(map(_is_newdoc, sentence.comments)):
            drafts.append(Draft())
        fields = _entity_fields(sentence, fields)
        brackets = Brackets(fields, block, repeated)
        drafts[-1].add(sentence, _spans(brackets, drafts[-1].n_words))
    warn_of_repeated(repeated)
    return [draft.document() for draft in drafts]


@dataclass
class Draft:
    """A document that is being read."""

    sentences: list[Sentence] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    n_words: int = 0

    def add(self, sentence: Sentence, spans: list[Span]) -> None:
        """Add the next sentence and its spans."""
        for span in spans:
            self.mentions.append(as_mention(span, sentence, self.n_words))
            self.entities.append(span.entity)
        self.sentences.append(sentence)
        self.n_words += len(sentence)

    def document(self) -> Document:
        """Return the document; comments of its first sentence are its metadata."""
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
            block.malformed(number, expected, f"id {row[0]!r}")
        words.append(row)
        numbers.append(number)
    if not words:
        block.malformed(block.lines[-1].number, "a word", "the end of the sentence")
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
        block.malformed(number, "10 columns with tabs between them", f"{len(row)}")
    if "" in row:
        expected = "10 columns that are not empty"
        block.malformed(number, expected, f"nothing in column {row.index('') + 1}")


def _head(block: Block, number: int, row: list[str], n_words: int) -> int:
    """Return the head of a word as an index from 0, -1 for the root."""
    text = row[6]
    is_number = text == "0" or WORD_ID.fullmatch(text)
    # int() raises an error for very long numerals.
    if not is_number or len(text) > 9 or int(text) > n_words or text == row[0]:
        expected = f"the id of another word, at most {n_words}, or 0 as head"
        block.malformed(number, expected, repr(text))
    return int(text) - 1


def _check_tree(block: Block, numbers: list[int], heads: list[int]) -> None:
    """Raise an error if a word depends on itself through other words."""
    cycle = find_cycle(heads)
    if cycle:
        expected = "heads that lead to the root"
        block.malformed(numbers[cycle[0]], expected, "a word that depends on itself")


def _is_newdoc(comment: str) -> bool:
    return re.match(r"# *newdoc(\s|$)", comment) is not None


def _comment_value(comments: Sequence[str], key: str) -> str | None:
    """Return the value after ``# key =``."""
    for comment in comments:
        name, equals, value = comment[1:].partition("=")
        if equals and name.strip() == key:
            return value.strip()
    return None


def _entity_fields(sentence: Sentence, before: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the fields of brackets from the most recent header."""
    header = _comment_value(sentence.comments, "global.Entity")
    return before if header is None else tuple(header.split("-"))


def _spans(brackets: Brackets, offset: int) -> list[Span]:
    word = offset
    for number, text in brackets.block.lines:
        id_, _, columns = text.partition("\t")
        if text.startswith("#") or "-" in id_:  # a range is not a word
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
