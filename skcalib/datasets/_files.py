"""Files of the data sets: registry, folder and downloads.

``data/files.toml`` lists the files and ``data/*.rst`` describe the data sets.

Downloads that continue where an earlier one stopped.
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
from collections.abc import Callable, Iterable
from http.client import HTTPException, HTTPResponse
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from sklearn.utils import Bunch

from .._errors import ParameterTypeError, warn
from .._validation import check_choice, check_integer, check_real
from ._lines import opened_zip

_SECONDS_OF_SILENCE = 60.0

_BLOCK = 2**16

_RANGE_NOT_SATISFIABLE = 416


def download(
    url: str,
    path: Path,
    check: Callable[[Path], None],
    *,
    size: int,
    n_retries: int,
    delay: float,
) -> None:
    """Download a file of at most `size` bytes, check it, and move it to `path`.

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
            _retry(url, own, size, n_retries, delay)
        except BaseException:  # KeyboardInterrupt is the most likely one.
            if own.exists() and own.stat().st_size:
                own.replace(part)
            raise
        check(own)
        own.replace(path)


class _TooLargeError(OSError):
    """The server sends another file, of which nothing is kept."""


def _retry(url: str, path: Path, size: int, n_retries: int, delay: float) -> None:
    for n_left in range(n_retries, -1, -1):
        try:
            _receive(url, path, size)
            return
        except _TooLargeError:
            path.unlink()
            raise
        except (OSError, HTTPException):
            if not n_left:
                raise
            warn(f"Retry downloading {url}")
            time.sleep(delay)


def _receive(url: str, path: Path, size: int) -> None:
    """Download a file, or the rest of it if `path` is its beginning."""
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
    with response:
        # A server that cannot send a part sends the whole file, with status 200.
        with path.open("ab" if response.status == 206 else "wb") as file:
            _copy(response, file, size)
        if response.length:
            raise OSError(f"the connection ended {response.length} bytes too early")
    return None


def _copy(response: HTTPResponse, file: BinaryIO, size: int) -> None:
    """Copy a response to the end of a file of at most `size` bytes."""
    n = file.tell()
    while block := response.read(_BLOCK):
        n += len(block)
        if n > size:
            raise _TooLargeError(f"the server sends more than {size:,} bytes")
        file.write(block)


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
        found = self._checksum_of(path)
        if found != self.checksum:
            raise OSError(f"its {KINDS[self.kind]} is {found}, not {self.checksum}")

    def _checksum_of(self, path: Path) -> str:
        if self.kind == "members_sha256":
            return members_sha256(path, self.members)
        return git_blob_id(path) if self.kind == "git_blob" else sha256_of(path)


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
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        for block in iter(lambda: file.read(2**20), b""):
            digest.update(block)
    return digest.hexdigest()


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


@functools.cache
def data_set(name: str) -> DataSet:
    """Return the entry of a data set in the registry."""
    entry = _registry()[name]
    files = {
        file: _remote_file(name, file, entry.get("url", ""), dict(fields))
        for file, fields in entry.get("files", {}).items()
    }
    return DataSet(files, entry["subsets"])


@functools.cache
def _registry() -> dict[str, dict]:
    return tomllib.loads(_data_file("files.toml"))


def _remote_file(
    folder: str, name: str, base: str, fields: dict[str, Any]
) -> RemoteFile:
    (kind,) = KINDS.keys() & fields.keys()
    checksum = fields.pop(kind)
    url = fields.pop("url", base + fields.pop("path", name))
    return RemoteFile(folder, name, url, checksum, kind, **fields)


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

    The parameters are the same as for the fetchers.
    """

    def __init__(
        self,
        data_home: PathLike | None,
        download_if_missing: bool,
        n_retries: int,
        delay: float,
    ):
        self.folder = get_data_home(data_home)
        self.download_if_missing = download_if_missing
        self.n_retries = check_integer(n_retries, minimum=0, name="n_retries")
        self.delay = check_real(delay, low=0, high=3600, name="delay")

    def path(self, file: RemoteFile) -> Path:
        """Return the path of a file, which need not exist."""
        return self.folder / file.folder / file.name

    def has(self, file: RemoteFile) -> bool:
        """Return whether the file exists, whatever its content."""
        return self.path(file).exists()

    def fetch_subset(self, name: str, subset: str) -> list[Path]:
        """Return the paths of the files of a subset of a data set."""
        subsets = data_set(name).subsets
        check_choice(subset, tuple(subsets), name="subset")
        found = []
        for file in subsets[subset]:
            folder, _, own = file.rpartition("/")
            found.append(self.fetch(data_set(folder or name).files[own]))
        return found

    def fetch(self, file: RemoteFile) -> Path:
        """Return the path of a file, which is downloaded if needed and allowed.

        An existing file with another checksum belongs to the user and is not changed.
        """
        if file.instead and not self.has(file):
            other = data_set(file.folder).files[file.instead]
            file = other if self.has(other) else file
        path = self.path(file)
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
            download(
                file.url,
                path,
                file.check,
                size=file.size,
                n_retries=self.n_retries,
                delay=self.delay,
            )
        except (OSError, HTTPException) as error:
            raise OSError(
                f"Could not download {file.url}: {_clause(error)}. Try again later, or "
                f"get the file some other way and put it at {path}."
            ) from error


def _clause(error: Exception) -> str:
    return str(error).strip().rstrip(".")


def get_data_home(data_home: PathLike | None) -> Path:
    """Return the folder of the data sets.

    The folder is the argument if given, otherwise the value of the environment variable
    ``SKCALIB_DATA`` if set, otherwise ``~/skcalib_data``. It does not need to exist.
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or "~/skcalib_data"
    if not isinstance(data_home, (str, os.PathLike)):
        raise ParameterTypeError(
            "data_home",
            f"must be None or the path of a folder. Got {data_home!r} instead.",
        )
    return Path(data_home).expanduser()
