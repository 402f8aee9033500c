"""LitBank: coreference in a hundred novels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._validation import check_choice, check_integer
from ..documents import Document
from ._coref_readers import PREDICATIVE, read_litbank
from ._home import DataHome, RemoteFile
from ._litbank_table import TABLE

LITBANK = "litbank"
N_FOLDS = 10

# A commit never changes, a branch does.
LITBANK_URL = (
    "https://raw.githubusercontent.com/dbamman/litbank/"
    "3e50db0ffc033d7ccbb94f4d88f6b99210328ed8/coref/tsv/"
)
# All files in one archive, which is not published.
ARCHIVE = RemoteFile(
    LITBANK,
    "litbank_coref.zip",
    None,
    "827bd48f7d53cd18b0a98c6789185b8b4e7cc7ffb8e2200dbeb19243bb439af3",
)

DESCR = """\
LitBank, coreference
====================

About 2000 words each of a hundred works of English fiction, 1719 to 1922, with people,
places, facilities, organisations and vehicles and who is who. 29103 mentions of 7927
entities, 5763 of them mentioned once; 4354026 pairs of mentions, 633658 of one entity;
210532 words. Pronouns are mentions, noun phrases of other kinds are not.

Ten folds of ten documents: fold k tests on its own ten, 'dev' has those of the fold
before it, 'train' the other eighty. 'all' has every document.

692 mentions are tied to another one by a copula or an apposition and are in no chain
of coreference: see read_litbank for what they may count as.

Source: https://github.com/dbamman/litbank, coref/tsv; the folds are those of
https://github.com/dbamman/lrec2020-coref.

Licence: Creative Commons Attribution 4.0 (CC BY 4.0). The texts are in the public
domain.

Please cite: D. Bamman, O. Lewke, A. Mansoor (2020). "An annotated dataset of
coreference in English literature". LREC.
"""


class Member(NamedTuple):
    """A document of the corpus: its name, its fold, its files."""

    name: str
    fold: int
    files: tuple[RemoteFile, RemoteFile]


def _members() -> list[Member]:
    lines = TABLE.split("\n")[:-1]
    members = []
    for head, ann, txt in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name, fold = head.split()
        files = tuple(
            RemoteFile(LITBANK, name + suffix, LITBANK_URL + name + suffix, sha256)
            for suffix, sha256 in ((".ann", ann), (".txt", txt))
        )
        members.append(Member(name, int(fold), (files[0], files[1])))
    return members


def fetch_litbank(
    *,
    subset: str = "train",
    fold: int = 0,
    predicative: str = "singleton",
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load English fiction with coreference.

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'all'}, default='train'
        Which part of a fold: 80, 10 or 10 documents, or all 100.
    fold : int, default=0
        Which of the ten folds, from 0 to 9; each document is tested in one of them.
    predicative : {'singleton', 'link', 'drop'}, default='singleton'
        What becomes of mentions that only a copula or an apposition ties to others, see
        :func:`read_litbank`.
    data_home : str or Path, default=None
        Folder of the data sets. None: the environment variable ``SKCALIB_DATA``, else
        ``~/skcalib_data``.
    download_if_missing : bool, default=True
        If False, raise an OSError where a file is missing.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        How often to try again when a download fails.
    delay : float, default=1.0
        Seconds between the tries.

    Returns
    -------
    data : Bunch
        A dictionary with attributes: `data` (list of Document), with mentions; `target`
        (list of ndarray of int), the entity of each mention, as the index of its first
        one; `DESCR`, where the data come from, their licence, what to cite;
        `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or a line of a file is malformed.

    See Also
    --------
    fetch_gum : Texts of many genres, with parses.
    read_litbank : Documents of files in the same format.

    Notes
    -----
    CC BY 4.0. Two files a document, 2 MB in all, go to ``<data_home>/litbank/``; files
    there are used if they have the right checksums, and so is one archive with all of
    them, ``litbank_coref.zip``. Another file of those names raises an OSError and is
    left as it is.

    Examples
    --------
    >>> from skcalib.datasets import fetch_litbank
    >>> novels = fetch_litbank(subset="all")  # doctest: +SKIP
    >>> len(novels.data), sum(len(novel.mentions) for novel in novels.data)
    ... # doctest: +SKIP
    (100, 29103)
    """
    caller = "fetch_litbank"
    check_choice(subset, ("train", "dev", "test", "all"), name="subset", caller=caller)
    check_choice(predicative, PREDICATIVE, name="predicative", caller=caller)
    fold = check_integer(fold, minimum=0, name="fold", caller=caller)
    if fold >= N_FOLDS:
        raise ValueError(
            f"The 'fold' parameter of {caller} must be an integer from 0 to "
            f"{N_FOLDS - 1}. Got {fold} instead."
        )
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    chosen = [member for member in _members() if _is_in(member, subset, fold)]
    if home.has(ARCHIVE):
        paths = [home.fetch(ARCHIVE)]
        found = read_litbank(paths[0], predicative=predicative)
        by_name = {document.id: document for document in found}
        documents = [by_name[member.name] for member in chosen]
    else:
        paths = [home.fetch(file) for member in chosen for file in member.files]
        documents = [
            document
            for path in paths[::2]  # of .ann and .txt
            for document in read_litbank(path, predicative=predicative)
        ]
    return coref_bunch(documents, paths, DESCR, return_X_y)


def _is_in(member: Member, subset: str, fold: int) -> bool:
    distance = (fold - member.fold) % N_FOLDS
    return subset == "all" or subset == {0: "test", 1: "dev"}.get(distance, "train")


def coref_bunch(
    documents: list[Document], paths: list[Path], descr: str, return_X_y: bool
) -> Any:
    """Return documents and the entities of their mentions."""
    target = [first_mentions(document) for document in documents]
    if return_X_y:
        return documents, target
    return Bunch(
        data=documents, target=target, DESCR=descr, filenames=list(map(str, paths))
    )


def first_mentions(document: Document) -> np.ndarray:
    """Return the index of the first mention of each mention's entity."""
    first: dict[Any, int] = {}
    for i, entity in enumerate(document.entities):
        first.setdefault(entity, i)
    return np.array([first[entity] for entity in document.entities], dtype=np.intp)
