"""Addresses of presidents of the United States to Congress, 1945 to 2006."""

from __future__ import annotations

import datetime
import re
from typing import Any, Literal, TypedDict, Unpack, overload

from sklearn.utils import Bunch

from .._errors import public
from .._validation import check_bool
from ..documents import Document
from ._files import DataHome, PathLike, data_set, description, members_of
from ._parsed_texts import find_parse, read_texts

# All other texts are in UTF-8.
ENCODINGS = {
    "1954-Eisenhower": "latin-1",
    "1970-Nixon": "cp950",
    "1971-Nixon": "cp950",
    "1972-Nixon": "cp950",
    "1973-Nixon": "cp950",
    "1974-Nixon": "cp950",
}
# Dates that are not in the texts.
DATES = {
    "1956-Eisenhower": "1956-01-05",
    "1957-Eisenhower": "1957-01-10",
    "1958-Eisenhower": "1958-01-09",
    "1959-Eisenhower": "1959-01-09",
    "1960-Eisenhower": "1960-01-07",
    "1962-Kennedy": "1962-01-11",
    "1963-Kennedy": "1963-01-14",
    "1978-Carter": "1978-01-19",
    "1979-Carter": "1979-01-23",
    "1980-Carter": "1980-01-23",
}
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAY = re.compile(rf"\b({'|'.join(MONTHS)}) ([0-9]{{1,2}}), ([0-9]{{4}})\b")
N_HEADING = 300  # number of characters that contain the date


class StateUnionOptions(TypedDict, total=False):
    """The parameters of `fetch_state_union` besides `return_X_y`."""

    parsed: bool | PathLike | None
    mentions: bool
    data_home: PathLike | None
    download_if_missing: bool
    n_retries: int
    delay: float


@overload
def fetch_state_union(
    *, return_X_y: Literal[True], **options: Unpack[StateUnionOptions]
) -> tuple[list[Document], None]: ...
@overload
def fetch_state_union(
    *, return_X_y: bool = ..., **options: Unpack[StateUnionOptions]
) -> Bunch: ...
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
    >>> from skcalib.datasets import fetch_state_union
    >>> address = fetch_state_union(parsed=False).data[-1]  # doctest: +SKIP
    >>> address.id, address.date  # doctest: +SKIP
    ('2006-GWBush', datetime.date(2006, 1, 31))
    """
    home = DataHome(data_home, download_if_missing, n_retries, delay)
    check_bool(mentions, name="mentions")
    parses = find_parse(parsed, "state_union", home, mentions=mentions)
    (file,) = data_set("state_union").files.values()
    path = home.fetch(file)
    texts = members_of(path, r"(?:.*/)?([0-9]{4}-[^/]+)\.txt")
    addresses = [_address(name, texts[name]) for name in sorted(texts)]
    everything = [True] * len(addresses)
    documents = read_texts(addresses, everything, parses, mentions=mentions)
    if return_X_y:
        return documents, None
    return Bunch(
        data=documents,
        target=None,
        parsed=bool(parses),
        DESCR=description("state_union"),
        filenames=[str(each) for each in (path, *parses)],
    )


def _address(name: str, content: bytes) -> Document:
    text = content.decode(ENCODINGS.get(name, "utf-8"))
    lines = (" ".join(line.split()) for line in text.splitlines())
    metadata = {
        "president": name.split("-")[1],
        "paragraphs": tuple(line for line in lines if line),
    }
    return Document(name, _date(name, text), metadata=metadata)


def _date(name: str, text: str) -> datetime.date:
    if name in DATES:
        return datetime.date.fromisoformat(DATES[name])
    found = DAY.search(text[:N_HEADING])
    if found is None:
        raise ValueError(
            f"{name}.txt: expected a date in the first {N_HEADING} characters, got "
            f"{text[:80]!r}."
        )
    return datetime.date(int(found[3]), MONTHS.index(found[1]) + 1, int(found[2]))
