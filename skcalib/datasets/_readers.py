"""Readers of annotated text: a malformed line is named by its file and number."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, TextIO

from .._trees import find_cycle
from .._validation import check_choice, check_integer
from ..documents import Document, Mention, Sentence
from ._mentions import Brackets, Span, as_mention

MISSING = "_"
# What reading a compressed file raises where bytes are wrong or missing.
DAMAGED = (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError)
TAG_COLUMNS = ("xpos", "upos", "lemma", "feats", "deprel")

WORD_ID = re.compile(r"[1-9][0-9]*")
RANGE_OR_EMPTY_NODE = re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")
META = re.compile(r"# *meta::(\S+) *= *(.*)")

# The English Web Treebank has its dates in the names of documents. What follows the
# day is not always a time of day, so it is not read.
WEB_DATE = re.compile(r"(?:weblog|newsgroup)-.*?_([0-9]{8})(?:_|[0-9]{6})")
ANSWERS_DATE = re.compile(r"answers-([0-9]{8})")


class Line(NamedTuple):
    """A line without its end, and where it stands."""

    number: int
    text: str


class Block(NamedTuple):
    """Lines of a sentence, and the name of the file for messages."""

    source: str
    lines: list[Line]

    def refuse(self, number: int, expected: str, got: str) -> NoReturn:
        """Raise for a malformed line."""
        refuse(self.source, number, expected, got)


def refuse(source: str, number: int, expected: str, got: str) -> NoReturn:
    raise ValueError(f"{source}, line {number}: expected {expected}, got {got}.")


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
        sentence = _conllu_sentence(block)
        if not drafts or any(map(_is_newdoc, sentence.comments)):
            drafts.append(Draft())
        fields = _entity_fields(sentence, fields)
        spans = _conllu_spans(block, fields, drafts[-1].n_words)
        drafts[-1].add(sentence, spans)
    return [_document(draft) for draft in drafts]


def read_conll_columns(
    path: Any, *, token: int = 0, label: int | None = 1, delimiter: str | None = "\t"
) -> tuple[list[list[str]], list[list[str]] | None]:
    r"""Read tokens and labels of a file with one token a line.

    A blank line ends a sentence. Quotes are tokens like any other and ``#`` begins no
    comment.

    Parameters
    ----------
    path : str, Path or text file
        The file, in UTF-8; one whose name ends in ``.gz`` is uncompressed.
    token : int, default=0
        Column of the tokens; a negative number counts from the last one.
    label : int, default=1
        Column of the labels. None: there are none to read.
    delimiter : str, default='\t'
        What stands between columns. None: any white space.

    Returns
    -------
    X : list of list of str
        Tokens of each sentence.
    y : list of list of str
        Labels of each sentence. None if `label` is.

    Raises
    ------
    ValueError
        A line has another number of columns than the first one, too few, or an empty
        token or label: the message has the file and the number of the line.

    See Also
    --------
    read_conllu : Documents of a file in CoNLL-U.

    Examples
    --------
    >>> import io
    >>> from skcalib.datasets import read_conll_columns
    >>> text = "It\tO\nrains\tV\n\n#wet\t#\n"
    >>> read_conll_columns(io.StringIO(text))
    ([['It', 'rains'], ['#wet']], [['O', 'V'], ['#']])
    """
    caller = "read_conll_columns"
    wanted = [_check_column(token, name="token", caller=caller)]
    if label is not None:
        wanted.append(_check_column(label, name="label", caller=caller))
    if delimiter is not None and (not isinstance(delimiter, str) or not delimiter):
        raise ValueError(
            f"The 'delimiter' parameter of {caller} must be a string that is not "
            f"empty, or None for white space. Got {delimiter!r} instead."
        )
    width: int | None = None
    sentences = []
    for block in blocks_of(path, caller=caller):
        rows = [line.text.split(delimiter) for line in block.lines]
        width = width or len(rows[0])
        _check_rows(block, rows, wanted, width)
        sentences.append([_interned(row[column] for row in rows) for column in wanted])
    X = [columns[0] for columns in sentences]
    return X, None if label is None else [columns[1] for columns in sentences]


def to_sequences(
    documents: Iterable[Document], column: str = "xpos"
) -> tuple[list[list[str]], list[list[str]]]:
    """Turn documents into the words and tags that taggers take.

    Parameters
    ----------
    documents : iterable of Document
        Documents, as a reader gives them.
    column : {'xpos', 'upos', 'lemma', 'feats', 'deprel'}, default='xpos'
        The column that holds the tags.

    Returns
    -------
    X : list of list of str
        Words of each sentence, of one document after the other.
    y : list of list of str
        Tags of each sentence.

    Raises
    ------
    ValueError
        A word has no tag, ``"_"``; which in 'feats' says that it has no features, and
        is kept.

    See Also
    --------
    read_conllu : Documents of a file in CoNLL-U.

    Examples
    --------
    >>> from skcalib.datasets import to_sequences
    >>> from skcalib.documents import Document, Sentence
    >>> sentence = Sentence(["It", "rains"], xpos=["PRP", "VBZ"])
    >>> to_sequences([Document("note-1", sentences=[sentence])])
    ([['It', 'rains']], [['PRP', 'VBZ']])
    """
    caller = "to_sequences"
    check_choice(column, TAG_COLUMNS, name="column", caller=caller)
    if isinstance(documents, Document):
        raise TypeError(
            f"The 'documents' parameter of {caller} must be a sequence of documents. "
            "Got one document: put it into a list."
        )
    X, y = [], []
    for i, document in enumerate(documents):
        for j, sentence in enumerate(document.sentences):
            tags = list(getattr(sentence, column))
            if column != "feats" and MISSING in tags:
                raise ValueError(
                    f"{caller} needs a tag for each word in column {column!r}. Word "
                    f"{tags.index(MISSING)} of sentence {j} ({sentence.sent_id}) of "
                    f"document {i} ({document.id}) has none."
                )
            X.append(list(sentence.form))
            y.append(tags)
    return X, y


def read_penn_trees(path: Any) -> tuple[list[list[str]], list[list[str]]]:
    """Read words and tags of the trees of a Penn Treebank file (``.mrg``).

    Traces, whose tag is ``-NONE-``, are dropped, and sentences of nothing else.
    """
    X: list[list[str]] = []
    y: list[list[str]] = []
    for leaves in _trees(path):
        kept = [(word, tag) for tag, word in leaves if tag != "-NONE-"]
        if kept:
            X.append(_interned(word for word, _ in kept))
            y.append(_interned(tag for _, tag in kept))
    return X, y


# Lines and blocks.


@contextlib.contextmanager
def opened(path: Any, *, caller: str) -> Iterator[tuple[TextIO, str]]:
    """Give a text file and its name; a file that came open stays open."""
    if hasattr(path, "read") and isinstance(path.read(0), str):
        yield path, str(getattr(path, "name", "<text>"))
        return
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"The 'path' parameter of {caller} must be a str, a Path or a file opened "
            f"as text. Got {type(path).__name__} instead."
        )
    opener: Callable[..., Any] = gzip.open if str(path).endswith(".gz") else open
    # newline="\n": a lone carriage return ends no line.
    with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:
        yield file, str(path)


def lines_of(file: TextIO, source: str) -> Iterator[Line]:
    number = 0
    try:
        for number, text in enumerate(file, start=1):
            yield Line(number, text.rstrip("\r\n"))
    except UnicodeDecodeError as error:
        # Text is decoded ahead of the lines it is cut into.
        after = f"{source}, after line {number}"
        message = f"{after}: expected {error.encoding}, got {error.reason}."
        raise ValueError(message) from error
    except DAMAGED as error:
        after = f"{source}, after line {number}"
        raise ValueError(f"{after}: expected a whole file, got {error!r}.") from error


def blocks_of(path: Any, *, caller: str) -> Iterator[Block]:
    """Give the runs of lines that are not blank."""
    with opened(path, caller=caller) as (file, source):
        block: list[Line] = []
        for line in lines_of(file, source):
            if line.text.strip():
                block.append(line)
            elif block:
                yield Block(source, block)
                block = []
        if block:
            yield Block(source, block)


# Columns.


def _check_column(value: Any, *, name: str, caller: str) -> int:
    return check_integer(value, minimum=-1000, name=name, caller=caller)


def _check_rows(
    block: Block, rows: list[list[str]], wanted: list[int], width: int
) -> None:
    least = max(column + 1 if column >= 0 else -column for column in wanted)
    for line, row in zip(block.lines, rows, strict=True):
        if len(row) < least:
            block.refuse(line.number, f"at least {least} columns", f"{len(row)}")
        if len(row) != width:
            expected = f"{width} columns as in the first line"
            block.refuse(line.number, expected, f"{len(row)}")
        if not all(row[column] for column in wanted):
            block.refuse(line.number, "a token and a label", repr(line.text))


# Documents.


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


# CoNLL-U.


def _conllu_sentence(block: Block) -> Sentence:
    comments = []
    words: list[list[str]] = []
    numbers: list[int] = []
    for number, text in block.lines:
        if text.startswith("#") and not words:
            comments.append(text)
            continue
        row = text.split("\t")
        _check_conllu_row(block, number, row)
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
        form=_interned(columns[1]),
        lemma=_interned(columns[2]),
        upos=_interned(columns[3]),
        xpos=_interned(columns[4]),
        feats=_interned(columns[5]),
        head=heads,
        deprel=_interned(columns[7]),
        misc=columns[9],
        sent_id=_comment_value(comments, "sent_id"),
        text=_comment_value(comments, "text"),
        comments=comments,
    )


def _interned(column: Iterable[str]) -> list[str]:
    """Return a column in which equal strings are one object, as in all others.

    It takes a fraction of the memory, and a dict that has such a string finds it by
    comparing pointers.
    """
    return list(map(sys.intern, column))


def _check_conllu_row(block: Block, number: int, row: list[str]) -> None:
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


def _conllu_spans(block: Block, fields: tuple[str, ...], offset: int) -> list[Span]:
    brackets = Brackets(fields, block.refuse)
    word = offset
    for number, text in block.lines:
        row = text.split("\t")
        if text.startswith("#") or "-" in row[0]:  # a range takes no word
            continue
        is_empty = "." in row[0]
        for item in row[9].split("|"):
            if item.startswith("Entity="):
                end = word if is_empty else word + 1
                brackets.read(item.removeprefix("Entity="), number, word, end)
        word += not is_empty
    return brackets.finish()


def _document(draft: Draft) -> Document:
    comments = draft.sentences[0].comments
    id_ = _comment_value(comments, "newdoc id")
    found = map(META.match, comments)
    metadata = {match[1]: match[2].strip() for match in found if match}
    created = metadata.get("dateCreated")
    date = _date_of_id(id_ or "") if created is None else _day(created)
    return Document(
        id_, date, draft.sentences, draft.mentions, draft.entities, metadata
    )


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


# Penn Treebank.


def _trees(path: Any) -> Iterator[list[tuple[str, str]]]:
    """Give the (tag, word) leaves of each tree."""
    with opened(path, caller="read_penn_trees") as (file, source):
        # Each open bracket: its line, its atoms, whether it has brackets inside.
        stack: list[tuple[int, list[str], list[bool]]] = []
        leaves: list[tuple[str, str]] = []
        for number, text in lines_of(file, source):
            for atom in re.findall(r"[()]|[^\s()]+", text):
                if atom == "(":
                    if stack:
                        stack[-1][2].append(True)
                    stack.append((number, [], []))
                elif not stack:
                    refuse(source, number, "an opening bracket", repr(atom))
                elif atom != ")":
                    stack[-1][1].append(atom)
                else:
                    _close(source, number, *stack.pop()[1:], leaves)
                    if not stack:
                        yield leaves
                        leaves = []
        if stack:
            expected = "a closing bracket for each one that opens"
            refuse(source, stack[-1][0], expected, "one that is never closed")


def _close(
    source: str,
    number: int,
    atoms: list[str],
    inside: list[bool],
    leaves: list[tuple[str, str]],
) -> None:
    """Take a closed bracket: a leaf, or a label, which may be empty, over others."""
    if not inside and len(atoms) == 2:
        leaves.append((atoms[0], atoms[1]))
    elif not inside or len(atoms) > 1:
        expected = "(TAG word) or a label and brackets"
        refuse(source, number, expected, f"{' '.join(atoms)!r} in a bracket")
