"""Readers that give the words and tags of sentences, which taggers take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .._validation import check_choice, check_integer
from ..documents import Document
from ._lines import Block, blocks_of, interned, lines_of, opened, refuse

MISSING = "_"
TAG_COLUMNS = ("xpos", "upos", "lemma", "feats", "deprel")


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
        sentences.append([interned(row[column] for row in rows) for column in wanted])
    X = [columns[0] for columns in sentences]
    return X, None if label is None else [columns[1] for columns in sentences]


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
    TypeError
        What is given are no documents.
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
    wanted = f"The 'documents' parameter of {caller} must be a sequence of documents."
    if isinstance(documents, Document):
        raise TypeError(f"{wanted} Got one document: put it into a list.")
    if not isinstance(documents, Iterable):
        raise TypeError(f"{wanted} Got {type(documents).__name__}.")
    X, y = [], []
    for i, document in enumerate(documents):
        if not isinstance(document, Document):
            raise TypeError(f"{wanted} Got {type(document).__name__} as document {i}.")
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
            X.append(interned(word for word, _ in kept))
            y.append(interned(tag for _, tag in kept))
    return X, y


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
