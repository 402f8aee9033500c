"""Documents with mentions and entities: GUM and LitBank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._errors import ParameterError, public
from .._validation import check_choice, check_integer
from ..documents import Document
from ._conllu import read_conllu
from ._coref_readers import PREDICATIVE, read_litbank
from ._files import DataHome, PathLike, as_bunch, data_set

N_FOLDS = 10
# One archive with all files of LitBank.
ARCHIVE = "litbank_coref.zip"


@public
def fetch_gum(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load English texts of many genres with parses, dates and coreference.

    Parameters
    ----------
    subset : {'train', 'dev', 'test'}, default='train'
        Part of the corpus: 177, 30 or 30 documents.
    data_home : str or Path, default=None
        Folder of the data sets. If None, the environment variable ``SKCALIB_DATA`` is
        used, or ``~/skcalib_data`` if it is not set.
    download_if_missing : bool, default=True
        If False, an OSError is raised if a file is missing.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        Number of retries if a download fails.
    delay : float, default=1.0
        Seconds between retries.

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of Document)
        are the documents, with sentences, parses and mentions. `target` (list of
        ndarray of int) is the entity of each mention, as the index of the first mention
        of the entity. `DESCR` describes the origin of the data, their licence and how
        to cite them. `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_litbank : Fiction with coreference.
    read_conllu : The documents of any file in CoNLL-U.

    Notes
    -----
    The licence of the whole corpus is CC BY-NC-SA 4.0, for non-commercial use. A file
    at ``<data_home>/gum/`` is used if it has the right checksum. A file of that name
    with another checksum raises an OSError and is not changed. The train file may also
    be ``en_gum-ud-train.rebuilt.conllu``, which ``benchmarks/build_gum_train.py`` puts
    together from the documents of the release.

    Examples
    --------
    >>> from skcalib.datasets import fetch_gum
    >>> gum = fetch_gum(subset="test")  # doctest: +SKIP
    >>> len(gum.data), sum(len(text.mentions) for text in gum.data)  # doctest: +SKIP
    (30, 7927)
    """
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    paths = home.fetch_subset("gum", subset)
    return _coref_bunch(read_conllu(paths[0]), paths, "gum", return_X_y)


@public
def fetch_litbank(
    *,
    subset: str = "train",
    fold: int = 0,
    predicative: str = "singleton",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load English fiction with coreference.

    Parameters
    ----------
    subset : {'train', 'dev', 'test', 'all'}, default='train'
        Part of a fold: 80, 10 or 10 documents, or all 100.
    fold : int, default=0
        Fold, from 0 to 9. Each document is in the test part of one of the ten folds.
    predicative : {'singleton', 'link', 'drop'}, default='singleton'
        Treatment of mentions that are linked to other mentions only by a copula or an
        apposition, see :func:`read_litbank`.
    data_home : str or Path, default=None
        Folder of the data sets. If None, the environment variable ``SKCALIB_DATA`` is
        used, or ``~/skcalib_data`` if it is not set.
    download_if_missing : bool, default=True
        If False, an OSError is raised if a file is missing.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    n_retries : int, default=3
        Number of retries if a download fails.
    delay : float, default=1.0
        Seconds between retries.

    Returns
    -------
    data : Bunch
        Dictionary-like object with the following attributes. `data` (list of Document)
        are the documents, with mentions. `target` (list of ndarray of int) is the
        entity of each mention, as the index of the first mention of the entity. `DESCR`
        describes the origin of the data, their licence and how to cite them.
        `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, or if a line of a file is malformed.

    See Also
    --------
    fetch_gum : Texts of many genres, with parses.
    read_litbank : Documents of files in the same format.

    Notes
    -----
    The licence is CC BY 4.0. There are two files per document, 2 MB in total, in
    ``<data_home>/litbank/``. Existing files are used if they have the right checksums.
    The folder may contain a zip archive ``litbank_coref.zip`` of these 200 files
    instead. A file with one of these names and another checksum raises an OSError and
    is not changed.

    Examples
    --------
    >>> from skcalib.datasets import fetch_litbank
    >>> novels = fetch_litbank(subset="all")  # doctest: +SKIP
    >>> len(novels.data), sum(len(novel.mentions) for novel in novels.data)
    ... # doctest: +SKIP
    (100, 29103)
    """
    check_choice(subset, ("train", "dev", "test", "all"), name="subset")
    check_choice(predicative, PREDICATIVE, name="predicative")
    fold = check_integer(fold, minimum=0, name="fold")
    if fold >= N_FOLDS:
        raise ParameterError(
            "fold", f"must be an integer from 0 to {N_FOLDS - 1}. Got {fold} instead."
        )
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    names = _members(subset, fold)
    files = data_set("litbank").files
    if home.has(files[ARCHIVE]):
        paths = [home.fetch(files[ARCHIVE])]
        found = read_litbank(paths[0], predicative=predicative)
        by_name = {document.id: document for document in found}
        documents = [by_name[name] for name in names]
    else:
        paths = [
            home.fetch(files[name + end]) for name in names for end in (".ann", ".txt")
        ]
        documents = [
            document
            for path in paths[::2]  # of .ann and .txt
            for document in read_litbank(path, predicative=predicative)
        ]
    return _coref_bunch(documents, paths, "litbank", return_X_y)


def _members(subset: str, fold: int) -> list[str]:
    """Return the names of the documents of a subset, in order."""
    wanted = {
        "all": range(N_FOLDS),
        "test": [fold],
        "dev": [(fold - 1) % N_FOLDS],
        "train": [(fold + k) % N_FOLDS for k in range(1, N_FOLDS - 1)],
    }
    tests = data_set("litbank").subsets
    files = {file for k in wanted[subset] for file in tests[str(k)]}
    order = data_set("litbank").files
    return [name.removesuffix(".ann") for name in order if name in files]


def _coref_bunch(
    documents: list[Document], paths: list[Path], name: str, return_X_y: bool
) -> Any:
    """Return documents and the entities of their mentions."""
    target = [_first_mentions(document) for document in documents]
    return as_bunch(name, paths, return_X_y, documents, target)


def _first_mentions(document: Document) -> np.ndarray:
    """Return the index of the first mention of each mention's entity."""
    first: dict[Any, int] = {}
    for i, entity in enumerate(document.entities):
        first.setdefault(entity, i)
    return np.array([first[entity] for entity in document.entities], dtype=np.intp)
