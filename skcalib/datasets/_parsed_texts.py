"""Texts of a data set, joined with parses that the user made of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._errors import ParameterError, ParameterTypeError
from ..documents import Document, mentions_from_parse
from ._conllu import read_conllu
from ._files import DataHome, PathLike

SUFFIXES = (".conllu", ".conllu.gz")
SCRIPT = "benchmarks/parse_corpora.py"


def find_parse(
    parsed: bool | PathLike | None, data_set: str, home: DataHome, *, mentions: bool
) -> list[Path]:
    """Return the CoNLL-U files with the parses; an empty list for the text alone."""
    own = home.folder / data_set / f"{data_set}_parsed.conllu.gz"
    if parsed is None:
        parsed = own.exists()
    if isinstance(parsed, bool):
        if not parsed and mentions:
            raise ParameterError(
                "mentions",
                f"needs documents with parses if it is True. {_remedy(home)}.",
            )
        if parsed and not own.exists():
            raise OSError(
                f"{own} does not exist, and no parse is published. {_remedy(home)}, "
                "or pass parsed=False for the text alone."
            )
        return [own] if parsed else []
    if not isinstance(parsed, (str, os.PathLike)):
        raise ParameterTypeError(
            "parsed",
            "must be None, True, False, or the path of a CoNLL-U file or of a folder "
            f"with such files. Got {parsed!r} instead.",
        )
    return _files_at(Path(parsed).expanduser(), home)


def _files_at(path: Path, home: DataHome) -> list[Path]:
    if not path.exists():
        raise OSError(f"{path}, the value of 'parsed', does not exist. {_remedy(home)}")
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.name.endswith(SUFFIXES))
    if not found:
        raise OSError(
            f"{path}, the value of 'parsed', is a folder without files that end in "
            f"{' or '.join(SUFFIXES)}. {_remedy(home)}"
        )
    return found


def _remedy(home: DataHome) -> str:
    return (
        f"Make a parse with 'python {SCRIPT} --output {home.folder}' (a script of the "
        "source repository, which needs spaCy), or pass the path of your parse as "
        "'parsed'"
    )


def with_parses(
    texts: Sequence[Document], chosen: Sequence[bool], files: Sequence[Path]
) -> list[Document]:
    """Return the chosen texts with the sentences and mentions of their parses."""
    parses = _parses(files)
    unknown = parses.keys() - {text.id for text in texts}
    if unknown:
        name = min(unknown, key=str)
        raise ParameterError(
            "parsed",
            f"must have parses of the texts of this data set, with the same '# newdoc "
            f"id', for example {texts[0].id!r}. Got a parse of {name!r} in "
            f"{', '.join(map(str, files))}.",
        )
    kept = [text for text, is_chosen in zip(texts, chosen, strict=True) if is_chosen]
    missing = [text.id for text in kept if text.id not in parses]
    if missing:
        raise ParameterError(
            "parsed",
            f"must have a parse of each of the {len(kept)} texts. Got no parse of "
            f"{len(missing)} of them, such as {missing[0]!r}, in "
            f"{', '.join(map(str, files))}. Parse these texts as well, or choose a "
            "subset that is parsed.",
        )
    return [_joined(text, parses[text.id]) for text in kept]


def _parses(files: Sequence[Path]) -> dict[Any, Document]:
    documents = [document for file in files for document in read_conllu(file)]
    for name, n in Counter(document.id for document in documents).most_common(1):
        if n > 1:
            raise ParameterError(
                "parsed",
                f"must have one parse of each text. Got {n} parses of {name!r} in "
                f"{', '.join(map(str, files))}.",
            )
    return {document.id: document for document in documents}


def _joined(text: Document, parse: Document) -> Document:
    return replace(
        text,
        sentences=parse.sentences,
        mentions=parse.mentions,
        entities=parse.entities,
    )


def read_texts(
    texts: Sequence[Document],
    chosen: Sequence[bool],
    files: Sequence[Path],
    *,
    mentions: bool,
) -> list[Document]:
    """Return the chosen texts, with parses if there are files of them."""
    if files:
        found = with_parses(texts, chosen, files)
    else:
        found = [text for text, kept in zip(texts, chosen, strict=True) if kept]
    return [mentions_from_parse(text) for text in found] if mentions else found
