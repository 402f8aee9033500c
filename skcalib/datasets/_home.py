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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
)


def data_home(data_home: Any = None) -> Path:
    """Return the folder of the data sets.

    It is the argument, else what the environment variable ``SKCALIB_DATA`` says, else
    ``~/skcalib_data``. The folder need not exist.
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or "~/skcalib_data"
    if not isinstance(data_home, (str, os.PathLike)):
        raise TypeError(
            "The 'data_home' parameter must be None or the path of a folder. "
            f"Got {data_home!r} instead."
        )
    return Path(data_home).expanduser()


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set: its name here, where it is from, its checksum.

    Without a checksum who asked for the file has to look at it.
    """

    folder: str
    name: str
    url: str
    sha256: str | None

    def locate(
        self,
        *,
        data_home: Path,
        download_if_missing: bool,
        n_retries: int,
        delay: float,
        caller: str,
    ) -> Path:
        """Return the path of the file, downloaded if need be and allowed."""
        n_retries = check_integer(n_retries, minimum=0, name="n_retries", caller=caller)
        delay = check_real(delay, low=0, high=3600, name="delay", caller=caller)
        path = data_home / self.folder / self.name
        if path.exists():
            self._check(path)
            return path
        if not download_if_missing:
            raise OSError(
                f"{path} does not exist, and {caller} was told not to download it. "
                f"Pass download_if_missing=True, or put {self.url} there, or name "
                f"the folder that has it by 'data_home' or {VARIABLE}."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        _LOGGER.info("Downloading %s to %s", self.url, path)
        try:
            fetch_file(
                self.url,
                folder=path.parent,
                local_filename=self.name,
                sha256=self.sha256,
                n_retries=n_retries,
                delay=delay,
            )
        except OSError as error:
            raise OSError(
                f"{caller} could not download {self.url}: {error} Try again later, "
                f"or get the file some other way and put it at {path}."
            ) from error
        return path

    def _check(self, path: Path) -> None:
        """Raise if the file is another one; it is the user's, so it stays."""
        if self.sha256 is None:
            return
        found = _sha256(path)
        if found != self.sha256:
            raise OSError(
                f"{path} is not the file expected there: its SHA256 is {found}, not "
                f"{self.sha256}. Move it away, so that {self.url} can be downloaded, "
                "or pass another 'data_home'."
            )


@contextlib.contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Give an open zip archive; one that cannot be read is an OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BAD_ZIP as error:
        raise OSError(
            f"{path} is no zip archive, or not a whole one: {error}. Get it again, or "
            "move it away."
        ) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob_id(path: Path) -> str:
    """Return the name that git gives to the content of a file."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        for block in iter(lambda: file.read(2**20), b""):
            digest.update(block)
    return digest.hexdigest()
