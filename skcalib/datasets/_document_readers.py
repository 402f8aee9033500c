"""Readers of documents with mentions: CoNLL-U, CoNLL-2012 and LitBank.

The brackets of mentions in CoNLL-U and CoNLL-2012 are read at the end of the file.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from urllib.parse import unquote

from .._errors import ParameterError, ParameterTypeError, public, warn
from .._validation import check_choice
from ..documents import Document, Mention, Sentence
from ..text._trees import find_cycle, head_of_span
from ._lines import (
    Block,
    Line,
    TextFile,
    blocks_of,
    interned,
    lines_of,
    opened,
    opened_zip,
)

WORD_ID = re.compile(r"[1-9][0-9]*")
RANGE_OR_EMPTY_NODE = re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")
META = re.compile(r"# *meta::(\S+) *= *(.*)")
NEWDOC = re.compile(r"# *newdoc(\s|$)")

# The names of the documents of the English Web Treebank contain the date. The text
# after the day is not always a time of day, so it is not read.
EIGHT_DIGITS = "([0-9]{4})([0-9]{2})([0-9]{2})"
WEB_DATE = re.compile(rf"(?:weblog|newsgroup)-.*?_{EIGHT_DIGITS}(?:_|[0-9]{{6}})")
ANSWERS_DATE = re.compile(rf"answers-{EIGHT_DIGITS}")


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
    # Without a header, the whole bracket is the name of the entity.
    fields: tuple[str, ...] = ("GRP",)
    for block in blocks_of(path):
        sentence, brackets = _sentence(block)
        if not drafts or any(map(NEWDOC.match, sentence.comments)):
            drafts.append(Draft())
        # The header stands at the first document of a file and is valid for all.
        header = _comment_value(sentence.comments, "global.Entity")
        if header is not None:
            fields = tuple(header.split("-"))
        spans = Brackets(fields)
        for text, line, start, end in brackets:
            offset = drafts[-1].n_words
            spans.read(text, line, offset + start, offset + end)
        drafts[-1].add(sentence, spans.finish(), is_parsed=True)
    warn_of_repeated(drafts)
    return [_conllu_document(draft) for draft in drafts]


@dataclass
class Draft:
    """The sentences and mentions of a document that is being read."""

    sentences: list[Sentence] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    repeated: list[tuple[Span, Span]] = field(default_factory=list)
    n_words: int = 0

    def add(self, sentence: Sentence, spans: list[Span], *, is_parsed: bool) -> None:
        """Add the next sentence and its spans, with heads if it has a parse.

        Of several spans with the same words, which follow each other, the first is
        added, and the others are kept with it in `repeated`.
        """
        last = None
        for span in spans:
            if last and (last.start, last.end) == (span.start, span.end):
                self.repeated.append((last, span))
                continue
            last = span
            mention = Mention(span.start, span.end)
            if is_parsed:
                mention = self._parsed(span, sentence)
            self.mentions.append(mention)
            self.entities.append(span.entity)
        self.sentences.append(sentence)
        self.n_words += len(sentence)

    def _parsed(self, span: Span, sentence: Sentence) -> Mention:
        # Spans count the words of the document, heads the words of the sentence.
        start, end = span.start - self.n_words, span.end - self.n_words
        head = head_of_span(sentence.head, sentence.upos, start, end)
        if head is not None:
            head += self.n_words
        return Mention(span.start, span.end, head, span.attributes)


def _conllu_document(draft: Draft) -> Document:
    """Return a document; comments of its first sentence are its metadata."""
    comments = draft.sentences[0].comments
    name = _comment_value(comments, "newdoc id")
    found = map(META.match, comments)
    metadata = {match[1]: match[2].strip() for match in found if match}
    created = metadata.get("dateCreated")
    date = _date_of_id(name or "") if created is None else _day(created)
    return Document(
        name, date, draft.sentences, draft.mentions, draft.entities, metadata
    )


def _sentence(block: Block) -> tuple[Sentence, list[tuple[str, Line, int, int]]]:
    """Return a sentence, and its brackets of mentions with the words they are at."""
    texts = (line.text for line in block)
    comments = list(takewhile(lambda text: text.startswith("#"), texts))
    words: list[tuple[Line, list[str]]] = []
    brackets = []
    for line in block[len(comments) :]:
        row = _row(line)
        start = end = len(words)
        if not RANGE_OR_EMPTY_NODE.fullmatch(row[0]):
            end = start + 1
            if row[0] != str(end):
                expected = f"a word with id {end}, a range or an empty node"
                line.malformed(expected, f"id {row[0]!r}")
            words.append((line, row))
        if "-" not in row[0]:  # A range repeats words that follow.
            # An empty node is no word, so a span of empty nodes has no words.
            found = re.findall(r"(?:^|\|)Entity=([^|]*)", row[9])
            brackets += [(text, line, start, end) for text in found]
    if not words:
        block[-1].malformed("a word", "the end of the sentence")
    heads = [_head(line, row, len(words)) for line, row in words]
    cycle = find_cycle(heads)
    if cycle:
        got = "a word that depends on itself"
        words[cycle[0]][0].malformed("heads that lead to the root", got)
    columns = list(zip(*(row for _, row in words), strict=True))
    sentence = Sentence(
        form=interned(columns[1]),
        lemma=interned(columns[2]),
        upos=interned(columns[3]),
        xpos=interned(columns[4]),
        feats=interned(columns[5]),
        head=heads,
        deprel=interned(columns[7]),
        misc=columns[9],  # Most entries differ, so that interning saves nothing.
        sent_id=_comment_value(comments, "sent_id"),
        text=_comment_value(comments, "text"),
        comments=comments,
    )
    return sentence, brackets


def _row(line: Line) -> list[str]:
    row = line.text.split("\t")
    if len(row) != 10:
        line.malformed("10 columns with tabs between them", f"{len(row)}")
    if "" in row:
        got = f"nothing in column {row.index('') + 1}"
        line.malformed("10 columns that are not empty", got)
    return row


def _head(line: Line, row: list[str], n_words: int) -> int:
    """Return the head of a word as an index from 0, -1 for the root."""
    text = row[6]
    is_number = text == "0" or WORD_ID.fullmatch(text)
    # int() raises an error for very long numerals.
    if not is_number or len(text) > 9 or int(text) > n_words or text == row[0]:
        expected = f"the id of another word, at most {n_words}, or 0 as head"
        line.malformed(expected, repr(text))
    return int(text) - 1


def _comment_value(comments: Sequence[str], key: str) -> str | None:
    """Return the value after ``# key =``."""
    for comment in comments:
        name, equals, value = comment[1:].partition("=")
        if equals and name.strip() == key:
            return value.strip()
    return None


def _date_of_id(id_: str) -> datetime.date | None:
    found = WEB_DATE.match(id_) or ANSWERS_DATE.match(id_)
    return None if found is None else _day("-".join(found.groups()))


def _day(text: str) -> datetime.date | None:
    # fromisoformat also accepts other formats, such as the days of weeks.
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        with contextlib.suppress(ValueError):
            return datetime.date.fromisoformat(text)
    return None


BEGIN = re.compile(r"#begin document \((.*)\);? *(?:part +([0-9]{1,9}))?\s*")
# A bracket of an entity in the last column: (1 or (1) or 1).
ONE_BRACKET = re.compile(r"\([^()|]+\)?|[^()|]+\)")
NOTHING = ("", "-", "_")


@public
def read_conll2012(path: TextFile) -> list[Document]:
    r"""Read documents with coreference in the columns of CoNLL-2011 and 2012.

    Parameters
    ----------
    path : str, Path or text file
        File in UTF-8. If its name ends in ``.gz``, it is uncompressed.

    Returns
    -------
    documents : list of Document
        One document for each part: `id` is the name of the document and
        ``metadata["part"]`` the number of the part, if there is one. Mentions are in
        the order of their first words. If several mentions have the same first word,
        longer mentions come first. `entities` are the numbers in the file, as str.

    Raises
    ------
    ValueError
        If a line is malformed. The message names the file, the number of the line,
        what was expected and what was found.

    See Also
    --------
    read_conllu : Documents in CoNLL-U, with mentions in ``Entity=``.
    read_litbank : Documents of LitBank.

    Notes
    -----
    Columns are separated by tabs or by runs of blanks. The first twelve are document,
    part, number of the word, word, tag, parse bit, lemma, frameset, sense, speaker,
    named entity and arguments. The last column is coreference, where an empty cell,
    ``-`` and ``_`` mean no mention. Words, tags, lemmas and speakers (``Speaker=`` in
    `misc`) are kept. Files of the reference scorer [1]_ have five columns: the first
    four and coreference. As in the scorer, the number of the word is not checked in
    these files, and brackets may follow each other without a bar, as in ``(1(2``.

    There are no dependencies, so mentions have no head. Mentions that are annotated
    twice are treated as in :func:`read_conllu`.

    References
    ----------
    .. [1] S. Pradhan, X. Luo, M. Recasens, E. Hovy, V. Ng and M. Strube (2014).
       "Scoring coreference partitions of predicted mentions: a reference
       implementation". ACL. https://github.com/conll/reference-coreference-scorers

    Examples
    --------
    >>> import io
    >>> from skcalib.datasets import read_conll2012
    >>> rows = ["toy 0 0 Ada NNP * - - - - * (1)", "toy 0 1 rests VBZ * - - - - * -"]
    >>> text = ["#begin document (toy); part 000", *rows, "", "#end document"]
    >>> (document,) = read_conll2012(io.StringIO("\n".join(text)))
    >>> document
    Document('toy', no date, 1 sentence, 2 words, 1 mention)
    >>> document.mentions[0].start, document.entities[0]
    (0, '1')
    """
    with opened(path) as (file, source):
        parts = [
            (name, {} if part is None else {"part": part}, _conll2012_draft(blocks))
            for name, part, blocks in _conll2012_parts(file, source)
        ]
    warn_of_repeated([draft for _, _, draft in parts])
    return [
        Document(name, None, draft.sentences, draft.mentions, draft.entities, metadata)
        for name, metadata, draft in parts
    ]


def _conll2012_parts(
    file: TextIO, source: str
) -> Iterator[tuple[str, int | None, list[Block]]]:
    """Yield the name, the part (if any) and the sentences between begin and end."""
    open_part: tuple[str, int | None] | None = None
    blocks: list[Block] = []
    for line in lines_of(file, source):
        begin = BEGIN.fullmatch(line.text)
        if line.is_blank():
            blocks.append([])
        elif open_part is None:
            if begin is None:
                expected = "#begin document (NAME); part NUMBER"
                line.malformed(expected, repr(line.text))
            part = None if begin[2] is None else int(begin[2])
            open_part, blocks = (begin[1], part), [[]]
        elif line.text.startswith("#end document"):
            yield *open_part, [block for block in blocks if block]
            open_part = None
        elif line.text.startswith("#begin document"):
            line.malformed("#end document before", repr(line.text))
        else:
            blocks[-1].append(line)
    if open_part is not None:
        line.malformed("#end document", "the end of the file")


def _conll2012_draft(blocks: list[Block]) -> Draft:
    draft = Draft()
    for block in blocks:
        rows = [_conll2012_row(line, i) for i, line in enumerate(block)]
        brackets = Brackets(("entity",))
        pairs = zip(block, rows, strict=True)
        for word, (line, row) in enumerate(pairs, draft.n_words):
            for text in _brackets(row[-1]):
                brackets.read(text, line, word, word + 1)
        sentence = Sentence(
            [row[3] for row in rows],
            lemma=[_or_missing(row[6]) for row in rows],
            xpos=[_or_missing(row[4]) for row in rows],
            misc=[_or_missing(row[9], "Speaker=") for row in rows],
        )
        draft.add(sentence, brackets.finish(), is_parsed=False)
    return draft


def _brackets(cell: str) -> list[str]:
    """Return the brackets of a cell, with or without bars between them."""
    # A cell that is not made of brackets is returned whole, for the error message.
    found: list[str] = []
    for text in cell.split("|") if cell not in NOTHING else ():
        several = ONE_BRACKET.findall(text)
        found += several if several and "".join(several) == text else [text]
    return found


def _conll2012_row(line: Line, place: int) -> list[str]:
    text = line.text
    # With tabs, a cell may be empty or contain blanks.
    row = text.split("\t") if "\t" in text else text.split()
    if len(row) < 12:
        simple = text.split()
        if len(simple) != 5:
            expected = "at least 12 columns, or the 5 of the reference scorer"
            line.malformed(expected, f"{len(row)}")
        # The number of the word is not checked, as in the reference scorer.
        return [*simple[:4], *"_" * 8, simple[4]]
    if row[2] != str(place):
        line.malformed(f"word number {place}", repr(row[2]))
    if not row[3]:
        line.malformed("a word in column 4", "nothing")
    return row


def _or_missing(text: str, before: str = "") -> str:
    return "_" if text in NOTHING else before + text


PREDICATIVE = ("singleton", "link", "drop")


@public
def read_litbank(
    path: str | os.PathLike[str], *, predicative: str = "singleton"
) -> list[Document]:
    r"""Read documents with coreference in the format of LitBank.

    Parameters
    ----------
    path : str or Path
        A ``.ann`` file with its ``.txt`` file beside it, or a folder or a zip archive
        of such pairs, which are read in the order of their names.
    predicative : {'singleton', 'link', 'drop'}, default='singleton'
        Treatment of mentions that are linked to another mention only by a copula or an
        apposition and are in no coreference chain ("my brother was *a sailor*"). With
        'singleton', each is an entity of its own, as in the CoNLL files of the corpus.
        With 'link', each belongs to the entity of the mention that it is linked to.
        With 'drop', they are left out.

    Returns
    -------
    documents : list of Document
        Documents, whose `id` is the name of the file. The `attributes` of a mention are
        its ``etype`` (PER, FAC, GPE, LOC, VEH, ORG) and its ``form`` (PROP, NOM, PRON).
        Mentions are in the order of their first words. If several mentions have the
        same first word, longer mentions come first.

    Raises
    ------
    FileNotFoundError
        If a file is missing, or if there is no ``.ann`` file in the folder or the
        archive.
    OSError
        If a file that ends in ``.zip`` is not a complete zip archive.
    ValueError
        If a row is malformed, or if its words differ from the text. The message
        names the file, the number of the line, what was expected and what was found.

    See Also
    --------
    fetch_corpus : Download the corpus.
    read_conllu : Documents in CoNLL-U, with mentions in ``Entity=``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skcalib.datasets import read_litbank
    >>> rows = ["MENTION T1 0 0 0 0 Ada PER PROP", "COREF T1 Ada-0"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "toy.txt").write_text("Ada rests .")
    ...     text = "\n".join(rows).replace(" ", "\t")
    ...     _ = Path(folder, "toy.ann").write_text(text)
    ...     (document,) = read_litbank(folder)
    >>> document
    Document('toy', no date, 1 sentence, 3 words, 1 mention)
    >>> document.entities
    ('Ada-0',)
    """
    check_choice(predicative, PREDICATIVE, name="predicative")
    wanted = "must be a str or a Path: a .ann file, a folder or a zip archive. Got"
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterTypeError("path", f"{wanted} {type(path).__name__} instead.")
    path = Path(path)
    if path.is_file() and path.suffix not in (".ann", ".zip"):
        raise ParameterError("path", f"{wanted} {str(path)!r} instead.")
    if path.suffix == ".zip":
        with opened_zip(path) as archive:
            names = sorted(n for n in archive.namelist() if n.endswith(".ann"))
            documents = [
                _litbank_document(zipfile.Path(archive, n), f"{path}, {n}", predicative)
                for n in names
            ]
    else:
        files = sorted(path.glob("*.ann")) if path.is_dir() else [path]
        documents = [_litbank_document(each, str(each), predicative) for each in files]
    if not documents:
        raise FileNotFoundError(f"{path} has no .ann file.")
    return documents


# A row of a ``.ann`` file: its line and its cells.
Row = tuple[Line, list[str]]


def _litbank_document(
    path: Path | zipfile.Path, source: str, predicative: str
) -> Document:
    """Return the document of a ``.ann`` file, which messages call `source`."""
    with path.open("r", encoding="utf-8-sig", newline="\n") as file:
        lines = [line for line in lines_of(file, source) if line.text]
        rows = [(line, line.text.split("\t")) for line in lines]
    text = path.parent / f"{path.stem}.txt"  # type: ignore[operator]
    if not text.exists():
        raise FileNotFoundError(f"{text} does not exist.")
    with text.open("r", encoding="utf-8-sig", newline="\n") as file:
        there = source.removesuffix(".ann") + ".txt"
        words = [line.text.split() for line in lines_of(file, there)]
    sentences = [Sentence(each) for each in words if each]
    # The rows of both kinds may be in any order: ties need all mentions.
    found = [row for row in rows if row[1][0] == "MENTION"]
    ties = [row for row in rows if row[1][0] != "MENTION"]
    mentions = _litbank_mentions(found, sentences)
    entities = _litbank_entities(ties, set(mentions), predicative)
    # The sort is stable: mentions of the same words stay in the order of the file.
    kept = sorted(
        (key for key in mentions if key in entities),
        key=lambda key: (mentions[key].start, -mentions[key].end),
    )
    own, labels = [mentions[key] for key in kept], [entities[key] for key in kept]
    return Document(path.stem, None, sentences, own, labels)


def _litbank_mentions(rows: list[Row], sentences: list[Sentence]) -> dict[str, Mention]:
    offsets = [0, *accumulate(map(len, sentences))]
    words = [word for sentence in sentences for word in sentence.form]
    found: dict[str, Mention] = {}
    for line, cells in rows:
        if len(cells) != 9:
            line.malformed("9 columns of a MENTION", f"{len(cells)}")
        _, key, *numbers, text, etype, form = cells
        if key in found:
            line.malformed("a mention's id once", f"{key!r} again")
        if not all(re.fullmatch("[0-9]{1,9}", each) for each in numbers):
            line.malformed("sentences and words in numbers", repr(numbers))
        # Sentences and words of the first and the last word, both inclusive.
        s0, t0, s1, t1 = map(int, numbers)
        inside = s0 < len(sentences) and s1 < len(sentences)
        start = offsets[s0] + t0 if inside else 0
        end = offsets[s1] + t1 + 1 if inside else 0
        if not inside or words[start:end] != text.split() or not text.split():
            there = " ".join(words[start:end])
            line.malformed(f"the words of the text, {there!r}", repr(text))
        found[key] = Mention(start, end, None, {"etype": etype, "form": form})
    return found


def _litbank_entities(
    ties: list[Row], mentions: set[str], predicative: str
) -> dict[str, str]:
    """Return the entity of each mention: its chain, or its own id if it has none."""
    chain: dict[str, str] = {}
    tied: dict[str, str] = {}
    for line, cells in ties:
        _check_tie(line, cells, mentions)
        if cells[0] != "COREF":
            tied[cells[1]] = cells[2]
        elif cells[1] in chain:
            line.malformed("one chain for a mention", f"{cells[1]!r} again")
        else:
            chain[cells[1]] = cells[2]
    if predicative == "drop":
        mentions = {key for key in mentions if key in chain or key not in tied}
    ends = {key: key for key in mentions}
    if predicative == "link":
        ends = {key: _end_of_ties(key, tied, chain) for key in mentions}
    return {key: chain.get(end, end) for key, end in ends.items()}


def _check_tie(line: Line, cells: list[str], mentions: set[str]) -> None:
    kind = cells[0]
    if kind not in ("COREF", "COP", "APPOS"):
        line.malformed("MENTION, COREF, COP or APPOS", repr(kind))
    if len(cells) != 3:
        line.malformed(f"3 columns of {kind}", f"{len(cells)}")
    # COREF ties a mention to the name of a chain, the others tie two mentions.
    for key in cells[1:2] if kind == "COREF" else cells[1:]:
        if key not in mentions:
            line.malformed("the id of a mention", repr(key))


def _end_of_ties(key: str, tied: dict[str, str], chain: dict[str, str]) -> str:
    """Follow ties to a mention in a chain of coreference, or to the last mention."""
    seen: set[str] = set()
    while key not in chain and key in tied:
        if key in seen:  # In a cycle of ties, all mentions get the same end.
            return min(seen)
        seen.add(key)
        key = tied[key]
    return key


# Mentions in brackets: ``(12`` opens one, ``12)`` closes it, ``(12)`` does both.

BRACKET = re.compile(r"(\()?([^()|]+)(\))?")
# Numbers have at most nine digits, because int() raises an error for long numbers.
PART = re.compile(r"(.+)\[([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\]")


class Span(NamedTuple):
    """Words of a mention, its entity, and the line where it opens.

    `end` is -1 while the bracket is open. `order` is the number of brackets of the
    sentence that opened before.
    """

    start: int
    end: int
    order: int
    entity: str
    line: Line
    attributes: dict[str, Any]


class Brackets:
    """Spans of a sentence, from the brackets of its lines in order.

    Words are counted over the document. `fields` are the names of the fields that
    hyphens separate in an opening bracket, with the entity first.
    """

    def __init__(self, fields: Sequence[str]):
        self.fields = fields
        self.open: dict[str, list[Span]] = {}
        self.parts: dict[str, list[Span]] = {}
        self.closed: list[Span] = []
        self.n_opened = 0

    def read(self, text: str, line: Line, start: int, end: int) -> None:
        """Read the brackets of a word: spans open at `start` and close at `end`."""
        place = 0
        for match in BRACKET.finditer(text):
            opens, name, closes = match[1], match[2], match[3]
            if match.start() != place or not (opens or closes):
                break
            if opens:
                name = self._open(name, line, start)
            if closes:
                self._close(name, line, end)
            place = match.end()
        if place != len(text):
            line.malformed("brackets like (1 or 1) or (1)", repr(text))

    def _open(self, text: str, line: Line, start: int) -> str:
        # The last field may contain hyphens; elsewhere they are percent-encoded.
        name, *values = text.split("-", len(self.fields) - 1)
        known = zip(self.fields[1:], map(unquote, values), strict=False)
        span = Span(start, -1, self.n_opened, name, line, dict(known))
        self.open.setdefault(name, []).append(span)
        self.n_opened += 1
        return name

    def _close(self, name: str, line: Line, end: int) -> None:
        # An entity may be nested in itself: the last opened bracket is closed first.
        if not self.open.get(name):
            line.malformed(f"({name} before {name})", "none that is open")
        span = self.open[name].pop()._replace(end=end)
        # The parts of a discontinuous mention, 1[1/2] and 1[2/2], become one span.
        part = PART.fullmatch(name)
        if part is None:
            self.closed.append(span)
            return
        parts = self.parts.setdefault(part[1], [])
        parts.append(span)
        number, n_parts = int(part[2]), int(part[3])
        if number != len(parts) or number > n_parts:
            line.malformed(f"part {len(parts)} of {part[1]}", f"{name})")
        if number == n_parts:
            words = tuple((each.start, each.end) for each in self.parts.pop(part[1]))
            attributes = parts[0].attributes | {"parts": words}
            whole = parts[0]._replace(entity=part[1], end=end, attributes=attributes)
            self.closed.append(whole)

    def finish(self) -> list[Span]:
        """Return the spans of a complete sentence in order.

        Spans that contain only empty nodes are left out.
        """
        for name, spans in self.open.items():
            if spans:
                expected = f"{name}) in the sentence of ({name}"
                spans[-1].line.malformed(expected, "its end")
        for name, parts in self.parts.items():
            parts[-1].line.malformed(f"all parts of {name}", f"{len(parts)}")
        spans = [span for span in self.closed if span.start < span.end]
        return sorted(spans, key=lambda s: (s.start, -s.end, s.order))


def warn_of_repeated(drafts: Sequence[Draft]) -> None:
    """Warn once per file, with the first repeated mention and the number of them."""
    repeated = [pair for draft in drafts for pair in draft.repeated]
    if not repeated:
        return
    (first, second), more = repeated[0], len(repeated) - 1
    count = f" This is true of {more} more mention{'s' * (more > 1)}." if more else ""
    warn(
        f"{second.line.source}, line {second.line.number}: two mentions of the same "
        f"words, with entities {first.entity!r} and {second.entity!r}. The first "
        f"mention is kept.{count}"
    )
