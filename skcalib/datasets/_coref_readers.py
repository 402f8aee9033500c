"""Reader of coreference in the columns of CoNLL-2011 and 2012."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from .._errors import public
from ..documents import Document, Mention, Sentence
from ._brackets import Brackets, warn_of_repeated
from ._lines import Block, Line, TextFile, lines_of, malformed, opened

BEGIN = re.compile(r"#begin document \((.*)\);? *(?:part +([0-9]{1,9}))?\s*")
# A bracket of an entity in the last column: (1 or (1) or 1).
BRACKET = re.compile(r"\([^()|]+\)?|[^()|]+\)")
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
        repeated: list[str] = []
        documents = [
            _conll2012_document(source, repeated, *part)
            for part in _conll2012_parts(file, source)
        ]
    warn_of_repeated(repeated)
    return documents


def _conll2012_parts(
    file: TextIO, source: str
) -> Iterator[tuple[str, int | None, list[list[Line]]]]:
    """Yield the name, the part (if any) and the sentences between begin and end."""
    open_part: tuple[str, int | None] | None = None
    blocks: list[list[Line]] = [[]]
    number = 0
    for number, text in lines_of(file, source):
        begin = BEGIN.fullmatch(text)
        if not text.strip():
            blocks.append([])
        elif open_part is None:
            if begin is None:
                expected = "#begin document (NAME); part NUMBER"
                malformed(source, number, expected, repr(text))
            part = None if begin[2] is None else int(begin[2])
            open_part, blocks = (begin[1], part), [[]]
        elif text.startswith("#end document"):
            yield *open_part, [block for block in blocks if block]
            open_part = None
        elif text.startswith("#begin document"):
            malformed(source, number, "#end document before", repr(text))
        else:
            blocks[-1].append(Line(number, text))
    if open_part is not None:
        malformed(source, number, "#end document", "the end of the file")


def _conll2012_document(
    source: str,
    repeated: list[str],
    name: str,
    part: int | None,
    blocks: list[list[Line]],
) -> Document:
    sentences, mentions, entities = [], [], []
    n_words = 0
    for lines in blocks:
        block = Block(source, lines)
        rows = [_conll2012_row(block, i, *line) for i, line in enumerate(lines)]
        brackets = Brackets(("entity",), block, repeated)
        for i, (line, row) in enumerate(zip(lines, rows, strict=True), n_words):
            for text in _brackets(row[-1]):
                brackets.read(text, line.number, i, i + 1)
        for span in brackets.finish():
            mentions.append(Mention(span.start, span.end))
            entities.append(span.entity)
        sentences.append(
            Sentence(
                [row[3] for row in rows],
                lemma=[_or_missing(row[6]) for row in rows],
                xpos=[_or_missing(row[4]) for row in rows],
                misc=[_speaker(row[9]) for row in rows],
            )
        )
        n_words += len(rows)
    metadata = {} if part is None else {"part": part}
    return Document(name, None, sentences, mentions, entities, metadata)


def _brackets(cell: str) -> list[str]:
    """Return the brackets of a cell, with or without bars between them."""
    found: list[str] = []
    for text in cell.split("|") if cell not in NOTHING else ():
        several = BRACKET.findall(text)
        found += several if several and "".join(several) == text else [text]
    return found


def _conll2012_row(block: Block, place: int, number: int, text: str) -> list[str]:
    row = text.split("\t") if "\t" in text else text.split()
    if len(row) < 12:
        simple = text.split()
        if len(simple) != 5:
            expected = "at least 12 columns, or the 5 of the reference scorer"
            block.malformed(number, expected, f"{len(row)}")
        return [*simple[:4], *"_" * 8, simple[4]]
    if row[2] != str(place):
        block.malformed(number, f"word number {place}", repr(row[2]))
    if not row[3]:
        block.malformed(number, "a word in column 4", "nothing")
    return row


def _or_missing(text: str) -> str:
    return "_" if text in NOTHING else text


def _speaker(text: str) -> str:
    return "_" if text in NOTHING else f"Speaker={text}"
