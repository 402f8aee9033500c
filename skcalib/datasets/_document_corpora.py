"""Corpora of documents: GUM and LitBank with coreference, MUC-3 and State of the Union.

The latter two are dated texts, joined with parses that the user made of them. The
functions return the fields of the Bunch of `fetch_corpus`; their keywords are options.
"""

from __future__ import annotations

import datetime
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .._errors import ParameterError, ParameterTypeError
from .._validation import check_bool, check_choice, check_integer
from ..documents import Document, mentions_from_parse
from ._document_readers import PREDICATIVE, read_conllu, read_litbank
from ._files import Corpus, PathLike, members_of

N_FOLDS = 10
# One archive with all files of LitBank.
ARCHIVE = "litbank_coref.zip"


def documents(corpus: Corpus) -> dict[str, Any]:
    """Return the documents of a file in CoNLL-U, with their entities."""
    (path,) = corpus.fetch_subset()
    return _with_entities(read_conllu(path))


def litbank(
    corpus: Corpus, *, fold: int = 0, predicative: str = "singleton"
) -> dict[str, Any]:
    """Return the documents of a part of a fold of LitBank, with their entities."""
    check_choice(predicative, PREDICATIVE, name="predicative")
    fold = check_integer(fold, minimum=0, maximum=N_FOLDS - 1, name="fold")
    names = _members(corpus, fold)
    if corpus.path(ARCHIVE).exists():
        found = read_litbank(corpus.fetch(ARCHIVE), predicative=predicative)
        by_name = {document.id: document for document in found}
        return _with_entities([by_name[name] for name in names])
    # Only the files of the subset are downloaded.
    found = []
    for name in names:
        path = corpus.fetch(f"{name}.ann")
        corpus.fetch(f"{name}.txt")
        found += read_litbank(path, predicative=predicative)
    return _with_entities(found)


def _members(corpus: Corpus, fold: int) -> list[str]:
    """Return the names of the documents of a subset, in order."""
    # The registry has the test part of each fold. The dev part of a fold is the test
    # part of the fold before.
    wanted = {
        "all": range(N_FOLDS),
        "test": [fold],
        "dev": [(fold - 1) % N_FOLDS],
        "train": [(fold + k) % N_FOLDS for k in range(1, N_FOLDS - 1)],
    }
    folds = corpus.entry["folds"]
    files = {file for k in wanted[corpus.subset] for file in folds[str(k)]}
    return [
        name.removesuffix(".ann") for name in corpus.entry["files"] if name in files
    ]


def _with_entities(found: list[Document]) -> dict[str, Any]:
    """Return documents, and the first mention of the entity of each mention."""
    target = []
    for document in found:
        first: dict[Any, int] = {}
        for i, entity in enumerate(document.entities):
            first.setdefault(entity, i)
        labels = [first[entity] for entity in document.entities]
        target.append(np.array(labels, dtype=np.intp))
    return {"data": found, "target": target}


SUFFIXES = (".conllu", ".conllu.gz")
SCRIPT = "benchmarks/parse_corpora.py"


def _find_parse(
    corpus: Corpus, parsed: bool | PathLike | None, *, mentions: bool
) -> list[Path]:
    """Return the CoNLL-U files with the parses; an empty list for the text alone."""
    own = corpus.home / corpus.name / f"{corpus.name}_parsed.conllu.gz"
    remedy = (
        f"Make a parse with 'python {SCRIPT} --output {corpus.home}' (a script of the "
        "source repository, which needs spaCy), or pass the path of your parse as "
        "'parsed'"
    )
    # Parses are not in the registry: they depend on the user's parser.
    if parsed is None:
        parsed = own.exists()
    if not isinstance(parsed, (bool, str, os.PathLike)):
        raise ParameterTypeError(
            "parsed",
            "must be None, True, False, or the path of a CoNLL-U file or of a folder "
            f"with such files. Got {parsed!r} instead.",
        )
    if parsed is False:
        if mentions:
            problem = f"needs documents with parses if it is True. {remedy}."
            raise ParameterError("mentions", problem)
        return []
    path = own if parsed is True else Path(parsed).expanduser()
    found = [path] if path.exists() else []
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.name.endswith(SUFFIXES))
    if not found:
        raise OSError(
            f"{path} does not exist, or is a folder without files that end in "
            f"{' or '.join(SUFFIXES)}. {remedy}, or pass parsed=False for the text "
            "alone."
        )
    return found


def _with_parses(texts: list[Document], files: list[Path]) -> list[Document]:
    """Return the texts with the sentences of their parses."""
    documents = [document for file in files for document in read_conllu(file)]
    counts = Counter(document.id for document in documents)
    where = ", ".join(map(str, files))
    for name, n in counts.most_common(1):
        if n > 1:
            raise ParameterError(
                "parsed",
                f"must have one parse of each text. Got {n} parses of {name!r} in "
                f"{where}.",
            )
    missing = [text.id for text in texts if text.id not in counts]
    if missing:
        raise ParameterError(
            "parsed",
            f"must have a parse of each of the {len(texts)} texts. Got no parse of "
            f"{len(missing)} of them, such as {missing[0]!r}, in {where}: parses have "
            "the '# newdoc id' of their texts. Parse these texts as well, or choose a "
            "subset that is parsed.",
        )
    # The date and the metadata are those of the data set, not of the parse.
    parses = {document.id: document for document in documents}
    return [
        replace(parses[text.id], date=text.date, metadata=text.metadata)
        for text in texts
    ]


def texts(
    corpus: Corpus, *, parsed: bool | PathLike | None = None, mentions: bool = False
) -> dict[str, Any]:
    """Return the texts of an archive, with parses if there are files of them."""
    check_bool(mentions, name="mentions")
    # Before the download, which would be in vain if a parse is missing.
    parses = _find_parse(corpus, parsed, mentions=mentions)
    (path,) = corpus.fetch_subset()
    members = members_of(path, corpus.entry["files"][path.name]["members"])
    read = _report if corpus.name == "muc3" else _address
    # Archives list the same members in different orders. The name of a report begins
    # with its folder, such as "dev/".
    chosen = [
        read(corpus, member, members[member])
        for member in sorted(members)
        if corpus.subset in ("all", member.partition("/")[0])
    ]
    if parses:
        chosen = _with_parses(chosen, parses)
    if mentions:
        chosen = [mentions_from_parse(text) for text in chosen]
    corpus.paths += parses
    return {"data": chosen, "target": None, "parsed": bool(parses)}


XHTML = "{http://www.w3.org/1999/xhtml}"
# The reports are from 1988 to 1990; the year 2011 in one of them is an error.
LAST_YEAR = 1990


def _report(_: Corpus, __: str, content: bytes) -> Document:
    page = ElementTree.fromstring(content)
    meta = {each.get("name"): each.get("content") for each in page.iter(XHTML + "meta")}
    paragraphs = (
        " ".join("".join(p.itertext()).split()) for p in page.iter(XHTML + "p")
    )
    metadata = {
        "place": meta["DC.coverage"],
        "paragraphs": tuple(text for text in paragraphs if text),
    }
    date = None
    created = meta.get("DC.date")
    if created is not None:
        metadata["dateCreated"] = created
        date = datetime.date.fromisoformat(created)
        if date.year > LAST_YEAR:
            date = None
    return Document(meta["DC.identifier"], date, metadata=metadata)


def _address(corpus: Corpus, name: str, content: bytes) -> Document:
    entry = corpus.entry
    text = content.decode(entry["encodings"].get(name, "utf-8"))
    lines = (" ".join(line.split()) for line in text.splitlines())
    metadata = {
        "president": name.split("-")[1],
        "paragraphs": tuple(line for line in lines if line),
    }
    return Document(name, entry["dates"][name], metadata=metadata)
