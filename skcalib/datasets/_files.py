"""Files of the data sets: the registry, the folder, and downloads that continue.

``data/files.toml`` lists the files and ``data/*.rst`` describe the data sets.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import re
import tempfile
import time
import tomllib
from collections.abc import Iterable
from http.client import HTTPException
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from sklearn.utils import Bunch

from .._errors import ParameterTypeError, warn
from .._validation import check_choice, check_integer, check_real
from ._lines import opened_zip

VARIABLE = "SKCALIB_DATA"

# Logs downloads, as the fetchers of scikit-learn do.
_LOGGER = logging.getLogger("skcalib.datasets")

# Names of the kinds of checksums in messages.
KINDS = {
    "sha256": "SHA256",
    "git_blob": "git blob id",
    "members_sha256": "SHA256 of its members' checksums",
}

PathLike = str | os.PathLike[str]


class RemoteFile(NamedTuple):
    """An entry of the registry; a file that is not published has an empty `url`.

    `size` is the number of bytes after which a download stops.
    """

    folder: str
    name: str
    url: str
    checksum: str
    kind: str
    size: int
    members: str = ""
    instead: str = ""

    def check(self, path: Path) -> None:
        """Raise an OSError if the file at `path` is a different file."""
        if self.kind == "members_sha256":
            found = members_sha256(path, self.members)
        else:
            found = git_blob_id(path) if self.kind == "git_blob" else sha256_of(path)
        if found != self.checksum:
            raise OSError(f"its {KINDS[self.kind]} is {found}, not {self.checksum}")


class DataSet(NamedTuple):
    """The files of a data set by name, and the names of the files of each subset."""

    files: dict[str, RemoteFile]
    subsets: dict[str, list[str]]


def sha256_of(path: Path) -> str:
    """Return the SHA256 of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob_id(path: Path) -> str:
    """Return the git blob id of the content of a file."""
    # Git puts this header before the content.
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()


def members_of(path: Path, pattern: str) -> dict[str, bytes]:
    """Return the members of a zip archive with matching names, keyed by group 1."""
    with opened_zip(path) as archive:
        found = (re.fullmatch(pattern, name) for name in archive.namelist())
        return {match[1]: archive.read(match[0]) for match in found if match}


def members_sha256(path: Path, pattern: str) -> str:
    """Return the SHA256 of the SHA256s of members, in the order of their names.

    All archives of the same files have the same value.
    """
    members = members_of(path, pattern)
    digests = (hashlib.sha256(members[name]).digest() for name in sorted(members))
    return hashlib.sha256(b"".join(digests)).hexdigest()


# Fields of an entry that have the same names in the registry.
OTHER_FIELDS = {"size", "members", "instead"}


@functools.cache
def data_set(name: str) -> DataSet:
    """Return the entry of a data set in the registry."""
    entry = registry()[name]
    files = {}
    for file, fields in entry.get("files", {}).items():
        (kind,) = KINDS.keys() & fields.keys()
        url = fields.get("url", entry.get("url", "") + fields.get("path", file))
        further = {key: fields[key] for key in fields.keys() & OTHER_FIELDS}
        files[file] = RemoteFile(name, file, url, fields[kind], kind, **further)
    return DataSet(files, entry["subsets"])


@functools.cache
def registry() -> dict[str, dict]:
    return tomllib.loads(_data_file("files.toml"))


def description(name: str) -> str:
    """Return the text about a data set: origin, sizes, licence, what to cite."""
    return _data_file(f"{name}.rst")


def as_bunch(
    name: str,
    paths: Iterable[Path],
    return_X_y: bool,
    data: Any,
    target: Any,
    **further: Any,
) -> Any:
    """Return what a fetcher returns: a Bunch, or data and target."""
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        **further,
        DESCR=description(name),
        filenames=[str(path) for path in paths],
    )


def _data_file(name: str) -> str:
    return (resources(__package__) / "data" / name).read_text("utf-8")


class DataHome:
    """The folder of the data sets, and the treatment of missing files.

    The parameters are the same as for the fetchers. The folder is `data_home` if given,
    otherwise the value of the environment variable ``SKCALIB_DATA`` if set, otherwise
    ``~/skcalib_data``. It does not need to exist.
    """

    def __init__(
        self,
        data_home: PathLike | None,
        download_if_missing: bool,
        n_retries: int,
        delay: float,
    ):
        if data_home is None:
            # An empty variable counts as not set.
            data_home = os.environ.get(VARIABLE) or "~/skcalib_data"
        if not isinstance(data_home, (str, os.PathLike)):
            raise ParameterTypeError(
                "data_home",
                f"must be None or the path of a folder. Got {data_home!r} instead.",
            )
        self.folder = Path(data_home).expanduser()
        self.download_if_missing = download_if_missing
        self.n_retries = check_integer(n_retries, minimum=0, name="n_retries")
        self.delay = check_real(delay, low=0, high=3600, name="delay")

    def path(self, file: RemoteFile) -> Path:
        """Return the path of a file, which need not exist."""
        return self.folder / file.folder / file.name

    def fetch_subset(self, name: str, subset: str) -> list[Path]:
        """Return the paths of the files of a subset of a data set."""
        subsets = data_set(name).subsets
        check_choice(subset, tuple(subsets), name="subset")
        found = []
        for file in subsets[subset]:
            # A subset may have files of other data sets, "DATA SET/FILE".
            folder, _, own = file.rpartition("/")
            found.append(self.fetch(data_set(folder or name).files[own]))
        return found

    def fetch(self, file: RemoteFile) -> Path:
        """Return the path of a file, which is downloaded if needed and allowed.

        An existing file with another checksum belongs to the user and is not changed.
        """
        path = self.path(file)
        if file.instead and not path.exists():
            other = data_set(file.folder).files[file.instead]
            if self.path(other).exists():
                file, path = other, self.path(other)
        if not path.exists():
            self._download(file, path)
            return path
        try:
            file.check(path)
        except OSError as error:
            download = f", so that {file.url} can be downloaded" if file.url else ""
            raise OSError(
                f"{path} is not the file expected there: {_clause(error)}. Move it "
                f"away{download}, or pass another 'data_home'."
            ) from error
        return path

    def _download(self, file: RemoteFile, path: Path) -> None:
        if not self.download_if_missing:
            raise OSError(
                f"{path} does not exist, and download_if_missing=False. Pass "
                f"download_if_missing=True, or put {file.url} there, or name the "
                f"folder that contains it with 'data_home' or {VARIABLE}."
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _LOGGER.info("Downloading %s to %s", file.url, path)
            _download(file, path, self.n_retries, self.delay)
        except (OSError, HTTPException) as error:
            raise OSError(
                f"Could not download {file.url}: {_clause(error)}. Try again later, or "
                f"get the file some other way and put it at {path}."
            ) from error


def _clause(error: Exception) -> str:
    return str(error).strip().rstrip(".")


# Downloads.

_SECONDS_OF_SILENCE = 60.0
_BLOCK = 2**16
_PARTIAL_CONTENT = 206
_RANGE_NOT_SATISFIABLE = 416


class _TooLargeError(OSError):
    """The server sends another file, of which nothing is kept."""


def _download(file: RemoteFile, path: Path, n_retries: int, delay: float) -> None:
    """Download a file, check it, and move it to `path`.

    What an interrupted download has received is kept beside `path`, and the next
    download asks the server for the rest. During a download the part is in a folder of
    its own, so that two processes never write to the same file.
    """
    part = path.with_name(f"{path.name}.part")
    with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
        own = Path(folder) / path.name
        with contextlib.suppress(FileNotFoundError):
            part.replace(own)
        try:
            _retry(file, own, n_retries, delay)
        except BaseException:  # KeyboardInterrupt is the most likely one.
            if own.exists() and own.stat().st_size:
                own.replace(part)
            raise
        file.check(own)
        own.replace(path)


def _retry(file: RemoteFile, path: Path, n_retries: int, delay: float) -> None:
    for n_left in range(n_retries, -1, -1):
        try:
            _receive(file.url, path, file.size)
            return
        except _TooLargeError:  # Another try would receive the same.
            path.unlink()
            raise
        except (OSError, HTTPException):
            if not n_left:
                raise
            warn(f"Retry downloading {file.url}")
            time.sleep(delay)


def _receive(url: str, path: Path, size: int) -> None:
    """Download a file of at most `size` bytes, or the rest of its beginning `path`."""
    done = path.stat().st_size if path.exists() else 0
    request = Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urlopen(request, timeout=_SECONDS_OF_SILENCE)
    except HTTPError as error:
        error.close()
        if error.code != _RANGE_NOT_SATISFIABLE or not done:
            raise
        # What is here is as long as the file, or longer.
        path.unlink()
        return _receive(url, path, size)
    # A server that cannot send a part sends the whole file, with status 200.
    mode = "ab" if response.status == _PARTIAL_CONTENT else "wb"
    with response, path.open(mode) as file:
        while block := response.read(_BLOCK):
            if file.tell() + len(block) > size:
                raise _TooLargeError(f"the server sends more than {size:,} bytes")
            file.write(block)
        if response.length:
            raise OSError(f"the connection ended {response.length} bytes too early")
    return None
