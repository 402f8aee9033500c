"""MUC-3: dated reports on violence in Latin America, 1988 to 1990."""

from __future__ import annotations

import datetime
import hashlib
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sklearn.utils import Bunch

from .._validation import check_choice
from ..documents import Document, mentions_from_parse
from ._conllu import read_conllu
from ._home import Checksum, DataHome, RemoteFile, opened_zip

MUC3 = "muc3"
SUBSETS = ("dev", "tst1", "tst2", "tst3", "tst4")

REPORT = re.compile(r"(?:.*/)?((?:dev|tst[1-4])/[^/]+)\.xhtml")


def _texts(path: Path) -> dict[str, bytes]:
    """Return the reports by folder and name, whatever folder they are all in."""
    with opened_zip(path) as archive:
        found = map(REPORT.fullmatch, archive.namelist())
        return {match[1]: archive.read(match[0]) for match in found if match}


def _sha256_of_reports(path: Path) -> str:
    """Return the SHA256 of the checksums of the reports, in the order of their names.

    The archive of a commit has the same files every time, not always the same bytes.
    """
    texts = _texts(path)
    digests = (hashlib.sha256(texts[name]).digest() for name in sorted(texts))
    return hashlib.sha256(b"".join(digests)).hexdigest()


# A commit never changes, a branch does.
REPORTS = RemoteFile(
    MUC3,
    "muc3_xhtml.zip",
    "https://github.com/dstl/muc3/archive/7a530d842a55be0654dfd0817dc6cdc1a7202c97.zip",
    "310c96d6dabda1b227ee4d427fba90a272495be0cfb691f438a2a79fff593476",
    Checksum("SHA256 of the reports' checksums", _sha256_of_reports),
)
PARSE = RemoteFile(
    MUC3,
    "muc3_parsed.conllu.gz",
    None,
    "ca94fbf591fe99696f5fc76da596445193c8789a76e9e5c0cce3f692b8be9d2c",
)

XHTML = "{http://www.w3.org/1999/xhtml}"
# The reports are of 1988 to 1990; one says 2011, which is a slip.
LAST_YEAR = 1991

DESCR = """\
MUC-3, the reports of the third and fourth Message Understanding Conferences
============================================================================

1700 reports of radio and press, translated into English, on violence in Latin America,
in upper case. 1614 have a date, from April 1988 to June 1990 (345 in November 1989),
and all a place. 'dev' has 1300 reports, 'tst1' to 'tst4' 100 each, 'all' every one.

There may be an automatic parse beside the reports, of lower-cased text: Universal
Dependencies, 26033 sentences, 617358 words. Its quality on this text was not measured;
on lower-cased web text the parser has a labelled attachment score of 79, on GUM of 82.
It is not published, and not to be passed on.

Source: https://github.com/dstl/muc3, an edition of the data of the NIST MUC project,
http://www-nlpir.nist.gov/related_projects/muc/.

Licence: public domain; the edition is CC0 1.0.

Please cite: B. Sundheim (1991). "Overview of the third Message Understanding
Evaluation and Conference". MUC-3.
"""


def fetch_muc3(
    *,
    subset: str = "all",
    parsed: bool | None = None,
    mentions: bool = False,
    data_home: Any = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Any:
    """Load dated reports on violence in Latin America, 1988 to 1990.

    Parameters
    ----------
    subset : {'all', 'dev', 'tst1', 'tst2', 'tst3', 'tst4'}, default='all'
        Which part: 1700, 1300 or 100 reports.
    parsed : bool, default=None
        Whether documents have sentences with parses, of lower-cased text; the parse is
        read from ``muc3_parsed.conllu.gz``, which is not published. None: if that file
        is there. False: the reports as they are.
    mentions : bool, default=False
        Whether documents with parses have mentions, those of
        :func:`~skcalib.documents.mentions_from_parse`.
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
        A dictionary with attributes: `data` (list of Document), with dates and
        ``metadata["place"]``; `parsed`, whether they have parses. Those without have no
        sentences, but ``metadata["paragraphs"]`` (tuple of str). `target`, which is
        None; `DESCR`, where the data come from, their licence, what to cite;
        `filenames`, the files read.

    Raises
    ------
    OSError
        A file is missing and may not or cannot be downloaded, or has another checksum.
    ValueError
        A parameter is not as described, or `mentions` are asked for and there are no
        parses.

    See Also
    --------
    skcalib.documents.Document.from_spacy : Documents from a parser of your own.
    skcalib.events.EventRule : Which actors did what.

    Notes
    -----
    Public domain. A file at ``<data_home>/muc3/`` is used if its reports have the right
    checksum; another file of that name raises an OSError and is left as it is. A report
    whose date is missing or impossible has None.

    Examples
    --------
    >>> from skcalib.datasets import fetch_muc3
    >>> reports = fetch_muc3(subset="tst1", parsed=False)  # doctest: +SKIP
    >>> reports.data[0].date, reports.data[0].metadata["place"]  # doctest: +SKIP
    (datetime.date(1989, 11, 9), 'MADRID')
    """
    caller = "fetch_muc3"
    check_choice(subset, ("all", *SUBSETS), name="subset", caller=caller)
    home = DataHome(data_home, download_if_missing, n_retries, delay, caller)
    if parsed is None:
        parsed = home.has(PARSE)
    if mentions and not parsed:
        raise ValueError(
            f"mentions=True of {caller} needs documents with parses. Give each text to "
            "a parser, and the result to Document.from_spacy and mentions_from_parse."
        )
    if parsed and not home.has(PARSE):
        raise OSError(
            f"{home.path(PARSE)} does not exist, and the parse is not published. Pass "
            f"parsed=False to {caller} and parse the text, or name the folder that has "
            "it by 'data_home'."
        )
    path = home.fetch(PARSE if parsed else REPORTS)
    documents = _parsed_documents(path, subset) if parsed else _reports(path, subset)
    if mentions:
        documents = [mentions_from_parse(document) for document in documents]
    if return_X_y:
        return documents, None
    return Bunch(
        data=documents,
        target=None,
        parsed=bool(parsed),
        DESCR=DESCR,
        filenames=[str(path)],
    )


def _parsed_documents(path: Path, subset: str) -> list[Document]:
    return [
        document
        for document in read_conllu(path)
        if subset in ("all", str(document.id).partition("-")[0].lower())
    ]


def _reports(path: Path, subset: str) -> list[Document]:
    texts = _texts(path)
    chosen = [name for name in sorted(texts) if subset in ("all", name.split("/")[0])]
    return [_report(texts[name]) for name in chosen]


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
