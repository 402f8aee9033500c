"""Where data sets are kept, and how a file gets there."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.datasets import fetch_file

from .._validation import check_integer, check_real

VARIABLE = "SKCALIB_DATA"

# Says what is downloaded to those who ask for it, as scikit-learn's fetchers do.
_LOGGER = logging.getLogger("skcalib.datasets")

# What zipfile raises where bytes are wrong, or one that it cannot unpack (encrypted).
BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    UnicodeDecodeError,
)


class Checksum(NamedTuple):
    """A kind of checksum: what messages call it, and how a file gets it."""

    name: str
    of: Callable[[Path], str]


def sha256_of(path: Path) -> str:
    """Return the SHA256 of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob_id(path: Path) -> str:
    """Return the name that git gives to the content of a file."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        for block in iter(lambda: file.read(2**20), b""):
            digest.update(block)
    return digest.hexdigest()


SHA256 = Checksum("SHA256", sha256_of)
GIT_BLOB = Checksum("git blob id", git_blob_id)


class RemoteFile(NamedTuple):
    """A file of a data set: its place in the data home, where it is from, its checksum.

    One that is not published has no `url`.
    """

    folder: str
    name: str
    url: str | None
    checksum: str
    kind: Checksum = SHA256

    def check(self, path: Path) -> None:
        """Raise if the file at `path` is another one."""
        found = self.kind.of(path)
        if found != self.checksum:
            raise OSError(f"its {self.kind.name} is {found}, not {self.checksum}")


class DataHome:
    """The folder of the data sets, and what to do where a file is missing.

    The parameters are those of the fetcher `caller`.
    """

    def __init__(
        self,
        data_home: Any,
        download_if_missing: bool,
        n_retries: int,
        delay: float,
        caller: str,
    ):
        self.folder = get_data_home(data_home, caller=caller)
        self.download_if_missing = download_if_missing
        self.n_retries = check_integer(
            n_retries, minimum=0, name="n_retries", caller=caller
        )
        self.delay = check_real(delay, low=0, high=3600, name="delay", caller=caller)
        self.caller = caller

    def path(self, file: RemoteFile) -> Path:
        """Return where a file is, or would be."""
        return self.folder / file.folder / file.name

    def has(self, file: RemoteFile) -> bool:
        """Return whether there is a file, the right one or not."""
        return self.path(file).exists()

    def fetch(self, file: RemoteFile) -> Path:
        """Return the path of a file, downloaded if need be and allowed.

        A wrong file that was there before is the user's, so it stays.
        """
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
                f"{path} does not exist, and {self.caller} was told not to download "
                f"it. Pass download_if_missing=True, or put {file.url} there, or name "
                f"the folder that has it by 'data_home' or {VARIABLE}."
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _LOGGER.info("Downloading %s to %s", file.url, path)
            fetch_file(
                file.url,
                folder=path.parent,
                local_filename=file.name,
                sha256=file.checksum if file.kind is SHA256 else None,
                n_retries=self.n_retries,
                delay=self.delay,
            )
            try:
                file.check(path)
            except OSError:
                path.unlink()
                raise
        except (OSError, HTTPException) as error:
            raise OSError(
                f"{self.caller} could not download {file.url}: {_clause(error)}. Try "
                f"again later, or get the file some other way and put it at {path}."
            ) from error


def _clause(error: Exception) -> str:
    return str(error).strip().rstrip(".")


def get_data_home(data_home: Any, *, caller: str) -> Path:
    """Return the folder of the data sets.

    It is the argument, else what the environment variable ``SKCALIB_DATA`` says, else
    ``~/skcalib_data``. The folder need not exist.
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or "~/skcalib_data"
    if not isinstance(data_home, (str, os.PathLike)):
        raise TypeError(
            f"The 'data_home' parameter of {caller} must be None or the path of a "
            f"folder. Got {data_home!r} instead."
        )
    return Path(data_home).expanduser()


@contextlib.contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Give an open zip archive; one that cannot be read is an OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BAD_ZIP as error:
        raise OSError(
            f"{path} is no zip archive, or not a whole one: {error}."
        ) from error
