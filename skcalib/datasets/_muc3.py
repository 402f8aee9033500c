"""MUC-3: dated reports on violence in Latin America, 1988 to 1990."""

from __future__ import annotations

import datetime
from typing import Any, Literal, Unpack, overload
from xml.etree import ElementTree

from sklearn.utils import Bunch

from .._errors import public
from .._validation import check_bool, check_choice
from ..documents import Document
from ._files import DataHome, FetchOptions, PathLike, data_set, description, members_of
from ._parsed_texts import find_parse, read_texts

SUBSETS = ("dev", "tst1", "tst2", "tst3", "tst4")
XHTML = "{http://www.w3.org/1999/xhtml}"
# The reports are from 1988 to 1990; the year 2011 in one of them is an error.
LAST_YEAR = 1991


class Muc3Options(FetchOptions, total=False):
    """The parameters of `fetch_muc3` besides `return_X_y`."""

    parsed: bool | PathLike | None
    mentions: bool


@overload
def fetch_muc3(
    *, return_X_y: Literal[True], **options: Unpack[Muc3Options]
) -> tuple[list[Document], None]: ...
@overload
def fetch_muc3(*, return_X_y: bool = ..., **options: Unpack[Muc3Options]) -> Bunch: ...
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
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    check_bool(mentions, name="mentions")
    parses = find_parse(parsed, "muc3", home, mentions=mentions)
    (file,) = data_set("muc3").files.values()
    path = home.fetch(file)
    texts = members_of(path, file.members)
    names = sorted(texts)
    chosen = [subset in ("all", name.split("/")[0]) for name in names]
    reports = [_report(texts[name]) for name in names]
    documents = read_texts(reports, chosen, parses, mentions=mentions)
    if return_X_y:
        return documents, None
    return Bunch(
        data=documents,
        target=None,
        parsed=bool(parses),
        DESCR=description("muc3"),
        filenames=[str(each) for each in (path, *parses)],
    )


def _report(content: bytes) -> Document:
    page = ElementTree.fromstring(content)
    meta = {each.get("name"): each.get("content") for each in page.iter(XHTML + "meta")}
    paragraphs = (
        " ".join("".join(p.itertext()).split()) for p in page.iter(XHTML + "p")
    )
    metadata = {
        "place": meta["DC.coverage"],
        "paragraphs": tuple(text for text in paragraphs if text),
    }
    if "DC.date" in meta:
        metadata["dateCreated"] = meta["DC.date"]
    date = _date(meta.get("DC.date"))
    return Document(meta["DC.identifier"], date, metadata=metadata)


def _date(text: str | None) -> datetime.date | None:
    date = None if text is None else datetime.date.fromisoformat(text)
    return date if date is not None and date.year < LAST_YEAR else None
