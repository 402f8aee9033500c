"""Readers that return the words and tags of sentences, the input of taggers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_bool, check_choice, check_integer
from ..documents import Document
from ._lines import Block, TextFile, blocks_of, interned

MISSING = "_"
DOCUMENT_START = "-DOCSTART-"
NO_DOCUMENTS = "must be a sequence of documents."
TAG_COLUMNS = ("xpos", "upos", "lemma", "feats", "deprel")


@public
def read_conll_columns(
    path: TextFile,
    *,
    token: int = 0,
    label: int | None = 1,
    delimiter: str | None = "\t",
    return_documents: bool = False,
) -> tuple[Any, ...]:
    r"""Read tokens and labels of a file with one token per line.

    A blank line ends a sentence. Quotes are ordinary tokens and ``#`` does not begin a
    comment.

    Parameters
    ----------
    path : str, Path or text file
        File in UTF-8. A file whose name ends in ``.gz`` is decompressed.
    token : int, default=0
        Column of the tokens. A negative number counts from the last column.
    label : int, default=1
        Column of the labels. If None, no labels are read.
    delimiter : str, default='\t'
        Separator of the columns. If None, any white space separates them, as in the
        files of CoNLL-2003.
    return_documents : bool, default=False
        Whether to also return the document of each sentence, for example for use as
        `groups` of an interval or a test.

    Returns
    -------
    X : list of list of str
        Tokens of each sentence.
    y : list of list of str
        Labels of each sentence, or None if `label` is None.
    documents : list of int
        Number of the document of each sentence, from 0, determined by the
        ``-DOCSTART-`` lines. Only returned if `return_documents` is true.

    Raises
    ------
    ValueError
        If the number of columns of a line differs from the first line or is too small,
        or if a token or label is empty. The message names the file and the number of
        the line.

    See Also
    --------
    read_conllu : Documents of a file in CoNLL-U.

    Notes
    -----
    Lines may end in LF, CR LF or CR. A line whose token is ``-DOCSTART-`` marks the
    beginning of a document, as in CoNLL-2003, and is skipped.

    Examples
    --------
    >>> import io
    >>> from skcalib.datasets import read_conll_columns
    >>> text = "It\tO\nrains\tV\n\n#wet\t#\n"
    >>> read_conll_columns(io.StringIO(text))
    ([['It', 'rains'], ['#wet']], [['O', 'V'], ['#']])
    """
    wanted = [check_integer(token, minimum=-1000, name="token")]
    if label is not None:
        wanted.append(check_integer(label, minimum=-1000, name="label"))
    if delimiter is not None and (not isinstance(delimiter, str) or not delimiter):
        raise ParameterError(
            "delimiter",
            "must be a string that is not empty, or None for white space. "
            f"Got {delimiter!r} instead.",
        )
    return_documents = check_bool(return_documents, name="return_documents")
    width: int | None = None
    sentences: list[list[list[str]]] = []
    documents: list[int] = []
    number, starts = 0, False
    for block in blocks_of(path, newline=None):
        rows = [line.text.split(delimiter) for line in block]
        # Some files have no blank line after -DOCSTART-.
        if _starts_document(rows[0], token):
            del rows[0], block[0]
            # Sentences before the first mark and after it are in different documents.
            starts = bool(sentences)
        if not rows:
            continue
        number, starts = number + starts, False
        documents.append(number)
        width = width or len(rows[0])
        _check_rows(block, rows, wanted, width, delimiter)
        sentences.append([interned(row[column] for row in rows) for column in wanted])
    X = [columns[0] for columns in sentences]
    y = None if label is None else [columns[1] for columns in sentences]
    return (X, y, documents) if return_documents else (X, y)


def _starts_document(row: list[str], token: int) -> bool:
    """Return whether a row marks the beginning of a document, with or without tags."""
    # The line may have fewer columns and other separators than the rows.
    inside = -len(row) <= token < len(row)
    return (row[token] if inside else row[0]).split()[:1] == [DOCUMENT_START]


def _check_rows(
    block: Block,
    rows: list[list[str]],
    wanted: list[int],
    width: int,
    delimiter: str | None,
) -> None:
    # Negative columns count from the last one.
    least = max(column + 1 if column >= 0 else -column for column in wanted)
    for line, row in zip(block, rows, strict=True):
        if len(row) < least:
            got = f"{len(row)}"
            if len(row) == 1 and len(line.text.split()) >= least:
                got += f" with delimiter={delimiter!r}: pass delimiter=None for blanks"
            line.malformed(f"at least {least} columns", got)
        if len(row) != width:
            expected = f"{width} columns as in the first line"
            line.malformed(expected, f"{len(row)}")
        if not all(row[column] for column in wanted):
            line.malformed("a token and a label", repr(line.text))


@public
def to_sequences(
    documents: Iterable[Document], column: str = "xpos"
) -> tuple[list[list[str]], list[list[str]]]:
    """Convert documents to words and tags, the input of taggers.

    Parameters
    ----------
    documents : iterable of Document
        Documents with sentences.
    column : {'xpos', 'upos', 'lemma', 'feats', 'deprel'}, default='xpos'
        Column that contains the tags.

    Returns
    -------
    X : list of list of str
        Words of each sentence, one document after the other.
    y : list of list of str
        Tags of each sentence.

    Raises
    ------
    TypeError
        If `documents` does not consist of documents.
    ValueError
        If the tag of a word is missing (``"_"``). In 'feats', ``"_"`` means that the
        word has no features, and no error is raised.

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
    check_choice(column, TAG_COLUMNS, name="column")
    if not isinstance(documents, Iterable):
        is_one = isinstance(documents, Document)
        got = "one document: put it into a list" if is_one else type(documents).__name__
        raise ParameterTypeError("documents", f"{NO_DOCUMENTS} Got {got}.")
    X, y = [], []
    for i, document in enumerate(documents):
        if not isinstance(document, Document):
            got = f"{type(document).__name__} as document {i}"
            raise ParameterTypeError("documents", f"{NO_DOCUMENTS} Got {got}.")
        for j, sentence in enumerate(document.sentences):
            tags = list(getattr(sentence, column))
            if column != "feats" and MISSING in tags:
                raise ParameterError(
                    None,
                    f"needs a tag for each word in column {column!r}. Word "
                    f"{tags.index(MISSING)} of sentence {j} ({sentence.sent_id}) of "
                    f"document {i} ({document.id}) has none.",
                )
            X.append(list(sentence.form))
            y.append(tags)
    return X, y


def read_penn_trees(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return words and tags of trees of the Penn Treebank, one at each unindented line.

    Traces (tag ``-NONE-``) are dropped, and so are sentences that consist of them.
    """
    X: list[list[str]] = []
    y: list[list[str]] = []
    for tree in re.split(r"^(?=\()", text, flags=re.MULTILINE):
        leaves = re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree)
        # Traces are positions in the syntax, not words of the text.
        kept = [(word, tag) for tag, word in leaves if tag != "-NONE-"]
        if kept:
            X.append(interned(word for word, _ in kept))
            y.append(interned(tag for _, tag in kept))
    return X, y
