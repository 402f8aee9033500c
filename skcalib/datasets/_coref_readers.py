"""Reader of coreference in the columns of CoNLL-2011 and 2012.

Reader of the coreference layer of LitBank.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_choice
from ..documents import Document, Mention, Sentence
from ._lines import (
    Block,
    Brackets,
    Line,
    TextFile,
    lines_of,
    malformed,
    opened,
    opened_zip,
    warn_of_repeated,
)

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
    fetch_litbank : Download the corpus.
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
            documents = [
                _litbank_document(
                    name, f"{path}, {name}", lambda n: _member(archive, n), predicative
                )
                for name in sorted(archive.namelist())
                if name.endswith(".ann")
            ]
    else:
        names = sorted(map(str, path.glob("*.ann"))) if path.is_dir() else [str(path)]
        documents = [_litbank_document(n, n, _text, predicative) for n in names]
    if not documents:
        raise FileNotFoundError(f"{path} has no .ann file.")
    return documents


def _member(archive: zipfile.ZipFile, name: str) -> TextIO:
    try:
        file = archive.open(name)
    except KeyError:
        raise FileNotFoundError(f"{archive.filename} has no {name!r}.") from None
    return io.TextIOWrapper(file, "utf-8-sig", newline="\n")


def _text(name: str) -> TextIO:
    return open(name, encoding="utf-8-sig", newline="\n")


class Row(NamedTuple):
    """A row of a ``.ann`` file, and its place."""

    number: int
    cells: list[str]


def _litbank_document(
    name: str, source: str, open_file: Callable[[str], TextIO], predicative: str
) -> Document:
    """Return the document of a ``.ann`` file, which messages call `source`."""
    with open_file(name) as file:
        rows = [Row(n, text.split("\t")) for n, text in lines_of(file, source) if text]
    with open_file(name.removesuffix(".ann") + ".txt") as file:
        there = source.removesuffix(".ann") + ".txt"
        lines = [line.text for line in lines_of(file, there) if line.text.strip()]
    sentences = [Sentence(line.split()) for line in lines]
    mentions = _litbank_mentions(source, rows, sentences)
    entities = _litbank_entities(source, rows, set(mentions), predicative)
    # a stable order: by words, then as in the file
    kept = sorted(
        (key for key in mentions if key in entities),
        key=lambda key: (mentions[key].start, -mentions[key].end),
    )
    return Document(
        Path(name).stem,
        None,
        sentences,
        [mentions[key] for key in kept],
        [entities[key] for key in kept],
    )


def _litbank_mentions(
    source: str, rows: list[Row], sentences: list[Sentence]
) -> dict[str, Mention]:
    offsets = [0]
    for sentence in sentences:
        offsets.append(offsets[-1] + len(sentence))
    words = [word for sentence in sentences for word in sentence.form]
    found: dict[str, Mention] = {}
    for number, cells in rows:
        if cells[0] != "MENTION":
            continue
        if len(cells) != 9:
            malformed(source, number, "9 columns of a MENTION", f"{len(cells)}")
        _, key, *numbers, text, etype, form = cells
        if key in found:
            malformed(source, number, "a mention's id once", f"{key!r} again")
        if not all(re.fullmatch("[0-9]{1,9}", each) for each in numbers):
            malformed(source, number, "sentences and words in numbers", repr(numbers))
        s0, t0, s1, t1 = map(int, numbers)
        inside = s0 < len(sentences) and s1 < len(sentences)
        start = offsets[s0] + t0 if inside else 0
        end = offsets[s1] + t1 + 1 if inside else 0
        if not inside or words[start:end] != text.split() or not text.split():
            there = " ".join(words[start:end])
            malformed(source, number, f"the words of the text, {there!r}", repr(text))
        found[key] = Mention(start, end, None, {"etype": etype, "form": form})
    return found


def _litbank_entities(
    source: str, rows: list[Row], mentions: set[str], predicative: str
) -> dict[str, str]:
    """Return the entity of each mention: its chain, or its own id if it has none."""
    chain: dict[str, str] = {}
    tied: dict[str, str] = {}
    for number, cells in rows:
        if cells[0] == "MENTION":
            continue
        _check_tie(source, number, cells, mentions)
        if cells[0] != "COREF":
            tied[cells[1]] = cells[2]
        elif cells[1] in chain:
            malformed(source, number, "one chain for a mention", f"{cells[1]!r} again")
        else:
            chain[cells[1]] = cells[2]
    entities = {key: chain.get(key, key) for key in mentions}
    for key in tied.keys() - chain.keys():
        if predicative == "drop":
            del entities[key]
        elif predicative == "link":
            end = _end_of_ties(key, tied, chain)
            entities[key] = chain.get(end, end)
    return entities


def _check_tie(source: str, number: int, cells: list[str], mentions: set[str]) -> None:
    kind = cells[0]
    if kind not in ("COREF", "COP", "APPOS"):
        malformed(source, number, "MENTION, COREF, COP or APPOS", repr(kind))
    if len(cells) != 3:
        malformed(source, number, f"3 columns of {kind}", f"{len(cells)}")
    for key in cells[1:2] if kind == "COREF" else cells[1:]:
        if key not in mentions:
            malformed(source, number, "the id of a mention", repr(key))


def _end_of_ties(key: str, tied: dict[str, str], chain: dict[str, str]) -> str:
    """Follow ties to a mention in a chain of coreference, or to the last mention."""
    seen: set[str] = set()
    while key not in chain and key in tied:
        if key in seen:  # the ties form a cycle
            return min(seen)
        seen.add(key)
        key = tied[key]
    return key
