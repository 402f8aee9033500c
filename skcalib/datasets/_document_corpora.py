"""Corpora of documents: GUM and LitBank with coreference, MUC-3 and State of the Union.

The latter two are dated texts, joined with parses that the user made of them.
"""

from __future__ import annotations

import datetime
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .._errors import ParameterError, ParameterTypeError, public
from .._validation import check_bool, check_choice, check_integer
from ..documents import Document, mentions_from_parse
from ._document_readers import PREDICATIVE, read_conllu, read_litbank
from ._files import DataHome, PathLike, as_bunch, data_set, members_of, registry

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
    documents = read_conllu(paths[0])
    return as_bunch("gum", paths, return_X_y, documents, _first_mentions(documents))


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
        problem = f"must be an integer from 0 to {N_FOLDS - 1}. Got {fold} instead."
        raise ParameterError("fold", problem)
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    names = _members(subset, fold)
    files = data_set("litbank").files
    if home.path(files[ARCHIVE]).exists():
        paths = [home.fetch(files[ARCHIVE])]
        found = read_litbank(paths[0], predicative=predicative)
        by_name = {document.id: document for document in found}
        documents = [by_name[name] for name in names]
    else:
        # Only the files of the subset are downloaded.
        documents, paths = [], []
        for name in names:
            paths += [home.fetch(files[name + end]) for end in (".ann", ".txt")]
            documents += read_litbank(paths[-2], predicative=predicative)
    target = _first_mentions(documents)
    return as_bunch("litbank", paths, return_X_y, documents, target)


def _members(subset: str, fold: int) -> list[str]:
    """Return the names of the documents of a subset, in order."""
    # The registry has the test part of each fold. The dev part of a fold is the test
    # part of the fold before.
    wanted = {
        "all": range(N_FOLDS),
        "test": [fold],
        "dev": [(fold - 1) % N_FOLDS],
        "train": [(fold + k) % N_FOLDS for k in range(1, N_FOLDS - 1)],
    }
    order, folds = data_set("litbank")
    files = {file for k in wanted[subset] for file in folds[str(k)]}
    return [name.removesuffix(".ann") for name in order if name in files]


def _first_mentions(documents: list[Document]) -> list[np.ndarray]:
    """Return the index of the first mention of each mention's entity."""
    found = []
    for document in documents:
        first: dict[Any, int] = {}
        for i, entity in enumerate(document.entities):
            first.setdefault(entity, i)
        labels = [first[entity] for entity in document.entities]
        found.append(np.array(labels, dtype=np.intp))
    return found


SUFFIXES = (".conllu", ".conllu.gz")
SCRIPT = "benchmarks/parse_corpora.py"


def find_parse(
    parsed: bool | PathLike | None, data_set: str, home: DataHome, *, mentions: bool
) -> list[Path]:
    """Return the CoNLL-U files with the parses; an empty list for the text alone."""
    own = home.folder / data_set / f"{data_set}_parsed.conllu.gz"
    # Parses are not in the registry: they depend on the user's parser.
    if parsed is None:
        parsed = own.exists()
    if isinstance(parsed, bool):
        if not parsed and mentions:
            problem = f"needs documents with parses if it is True. {_remedy(home)}."
            raise ParameterError("mentions", problem)
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
    kept: Sequence[Document], texts: Sequence[Document], files: Sequence[Path]
) -> list[Document]:
    """Return the kept ones of all texts with the sentences of their parses."""
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
    missing = [text.id for text in kept if text.id not in parses]
    if missing:
        raise ParameterError(
            "parsed",
            f"must have a parse of each of the {len(kept)} texts. Got no parse of "
            f"{len(missing)} of them, such as {missing[0]!r}, in "
            f"{', '.join(map(str, files))}. Parse these texts as well, or choose a "
            "subset that is parsed.",
        )
    # The date and the metadata are those of the data set, not of the parse.
    return [
        replace(parses[text.id], date=text.date, metadata=text.metadata)
        for text in kept
    ]


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


def _fetch_texts(
    home: DataHome,
    name: str,
    read: Callable[[str, bytes], Document],
    is_chosen: Callable[[str], bool],
    *,
    parsed: bool | PathLike | None,
    mentions: bool,
    return_X_y: bool,
) -> Any:
    """Return the chosen texts of an archive, with parses if there are files of them."""
    check_bool(mentions, name="mentions")
    # Before the download, which would be in vain if a parse is missing.
    parses = find_parse(parsed, name, home, mentions=mentions)
    (file,) = data_set(name).files.values()
    path = home.fetch(file)
    members = members_of(path, file.members)
    # Archives list the same members in different orders.
    texts = {member: read(member, members[member]) for member in sorted(members)}
    found = [text for member, text in texts.items() if is_chosen(member)]
    if parses:
        found = with_parses(found, list(texts.values()), parses)
    if mentions:
        found = [mentions_from_parse(text) for text in found]
    paths = [path, *parses]
    return as_bunch(name, paths, return_X_y, found, None, parsed=bool(parses))


SUBSETS = ("dev", "tst1", "tst2", "tst3", "tst4")
XHTML = "{http://www.w3.org/1999/xhtml}"
# The reports are from 1988 to 1990; the year 2011 in one of them is an error.
LAST_YEAR = 1991


@public
def fetch_muc3(
    *,
    subset: str = "all",
    parsed: bool | PathLike | None = None,
    mentions: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load dated reports on violence in Latin America, 1988 to 1990.

    Parameters
    ----------
    subset : {'all', 'dev', 'tst1', 'tst2', 'tst3', 'tst4'}, default='all'
        Part of the corpus. 'all' contains 1700 reports, 'dev' 1300, and each test set
        100.
    parsed : bool, str or Path, default=None
        CoNLL-U file with parses of the reports, or folder of such files. If True, the
        file ``<data_home>/muc3/muc3_parsed.conllu.gz`` is used, which the script
        ``benchmarks/parse_corpora.py`` of the source repository writes. If None, this
        file is used if it exists. If False, documents have no parses.
    mentions : bool, default=False
        Whether documents with parses have the mentions found by
        :func:`~skcalib.documents.mentions_from_parse` instead of the mentions in the
        file.
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
        Dictionary-like object with the following attributes. `data` is a list of
        Document. The documents have dates, ``metadata["place"]`` and
        ``metadata["paragraphs"]`` (tuple of str), and sentences if they have parses.
        `parsed` (bool) indicates whether the documents have parses. `target` is None.
        `DESCR` describes the origin of the data, their licence and how to cite them.
        `filenames` contains the paths of the files that were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, if `mentions` is True and there are no
        parses, or if the parses do not belong to the reports.

    See Also
    --------
    fetch_state_union : Addresses of presidents of the United States by year.
    skcalib.documents.Document.from_spacy : Create documents with another parser.
    skcalib.events.EventRule : Find the agents of events and their actors.

    Notes
    -----
    The data are in the public domain. A file in ``<data_home>/muc3/`` is used if its
    reports have the expected checksum. If the checksum differs, an OSError is raised
    and the file is not changed. The date of a report is None if it is missing or
    impossible.

    Parses and reports are matched by document id (``# newdoc id = DEV-MUC3-0001``). The
    parses must contain all reports of the subset and no other documents.

    Examples
    --------
    >>> from skcalib.datasets import fetch_muc3
    >>> reports = fetch_muc3(subset="tst1", parsed=False)  # doctest: +SKIP
    >>> reports.data[0].date, reports.data[0].metadata["place"]  # doctest: +SKIP
    (datetime.date(1989, 11, 9), 'MADRID')
    """
    check_choice(subset, ("all", *SUBSETS), name="subset")
    return _fetch_texts(
        DataHome(data_home, download_if_missing, n_retries, delay),
        "muc3",
        _report,
        # The name of a report begins with its folder, such as "dev/".
        lambda name: subset in ("all", name.split("/")[0]),
        parsed=parsed,
        mentions=mentions,
        return_X_y=return_X_y,
    )


def _report(_: str, content: bytes) -> Document:
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
        if date.year >= LAST_YEAR:
            date = None
    return Document(meta["DC.identifier"], date, metadata=metadata)


MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAY = re.compile(rf"\b({'|'.join(MONTHS)}) ([0-9]{{1,2}}), ([0-9]{{4}})\b")
N_HEADING = 300  # number of characters that contain the date


@public
def fetch_state_union(
    *,
    parsed: bool | PathLike | None = None,
    mentions: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load 65 addresses of presidents of the United States, 1945 to 2006.

    Parameters
    ----------
    parsed : bool, str or Path, default=None
        CoNLL-U file with parses of the addresses, or folder of such files. If True, the
        file ``<data_home>/state_union/state_union_parsed.conllu.gz`` is used, which the
        script ``benchmarks/parse_corpora.py`` of the source repository writes. If None,
        this file is used if it exists. If False, documents have no parses.
    mentions : bool, default=False
        Whether documents with parses have the mentions found by
        :func:`~skcalib.documents.mentions_from_parse` instead of the mentions in the
        file.
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
        Dictionary-like object with the following attributes. `data` is a list of
        Document. The documents have dates, ``metadata["president"]`` and
        ``metadata["paragraphs"]`` (tuple of str, whose first entry is the title), and
        sentences if they have parses. `parsed` (bool) indicates whether the documents
        have parses. `target` is None. `DESCR` describes the origin of the data, their
        licence and how to cite them. `filenames` contains the paths of the files that
        were read.

    Raises
    ------
    OSError
        If a file is missing and downloads are not allowed or fail, or if a file does
        not have the expected checksum.
    ValueError
        If a parameter is not as described, if `mentions` is True and there are no
        parses, or if the parses do not belong to the addresses.

    See Also
    --------
    fetch_muc3 : Reports on violence in Latin America by month.
    skcalib.events.EventCounter : Counts of events by year.

    Notes
    -----
    The data are in the public domain. A file in ``<data_home>/state_union/`` is used if
    it has the expected checksum. If the checksum differs, an OSError is raised and the
    file is not changed.

    Parses and addresses are matched by document id (``# newdoc id = 1945-Truman``),
    which is the name of the file. The parses must contain all addresses and no other
    documents.

    Examples
    --------
    >>> from skcalib.experimental import fetch_state_union
    >>> address = fetch_state_union(parsed=False).data[-1]  # doctest: +SKIP
    >>> address.id, address.date  # doctest: +SKIP
    ('2006-GWBush', datetime.date(2006, 1, 31))
    """
    return _fetch_texts(
        DataHome(data_home, download_if_missing, n_retries, delay),
        "state_union",
        _address,
        lambda name: True,
        parsed=parsed,
        mentions=mentions,
        return_X_y=return_X_y,
    )


def _address(name: str, content: bytes) -> Document:
    entry = registry()["state_union"]
    text = content.decode(entry["encodings"].get(name, "utf-8"))
    lines = (" ".join(line.split()) for line in text.splitlines())
    metadata = {
        "president": name.split("-")[1],
        "paragraphs": tuple(line for line in lines if line),
    }
    date = entry["dates"].get(name) or _date_of_speech(name, text)
    return Document(name, date, metadata=metadata)


def _date_of_speech(name: str, text: str) -> datetime.date:
    # Later dates are those of events.
    found = DAY.search(text[:N_HEADING])
    if found is None:
        raise ValueError(
            f"{name}.txt: expected a date in the first {N_HEADING} characters, got "
            f"{text[:80]!r}."
        )
    return datetime.date(int(found[3]), MONTHS.index(found[1]) + 1, int(found[2]))
