"""Files of the corpora: the registry, the folder of the data sets, and downloads.

``data/files.toml`` is the registry and ``data/*.rst`` describe the corpora.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import re
import tempfile
import tomllib
from http.client import HTTPException
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from sklearn.datasets import fetch_file

from .._errors import ParameterTypeError
from .._validation import check_choice, check_integer, check_real
from ._lines import opened_zip

VARIABLE = "SKCALIB_DATA"

# Logs downloads, as the fetchers of scikit-learn do.
_LOGGER = logging.getLogger("skcalib.datasets")

PathLike = str | os.PathLike[str]


# Names of the kinds of checksums in messages.
KINDS = {
    "sha256": "SHA256",
    "git_blob": "git blob id",
    "members_sha256": "SHA256 of its members' checksums",
}


def checksum(path: Path, kind: str, members: str = "") -> str:
    """Return a checksum of a file, or of the members of an archive with these names.

    All archives of the same members have the same 'members_sha256'.
    """
    content = path.read_bytes()
    if kind == "git_blob":
        # Git puts this header before the content.
        content = b"blob %d\0" % len(content) + content
        return hashlib.sha1(content, usedforsecurity=False).hexdigest()
    if kind == "members_sha256":
        found = members_of(path, members)
        digests = (hashlib.sha256(found[name]).digest() for name in sorted(found))
        content = b"".join(digests)
    return hashlib.sha256(content).hexdigest()


def _check(path: Path, entry: dict[str, str]) -> None:
    """Raise an OSError if the file at `path` is not the one of an entry."""
    (kind,) = KINDS.keys() & entry.keys()
    found = checksum(path, kind, entry.get("members", ""))
    if found != entry[kind]:
        raise OSError(f"its {KINDS[kind]} is {found}, not {entry[kind]}")


def members_of(path: Path, pattern: str) -> dict[str, bytes]:
    """Return the members of a zip archive with matching names, keyed by group 1."""
    with opened_zip(path) as archive:
        found = (re.fullmatch(pattern, name) for name in archive.namelist())
        return {match[1]: archive.read(match[0]) for match in found if match}


@functools.cache
def registry() -> dict[str, dict[str, Any]]:
    """Return the entry of each corpus by name."""
    return tomllib.loads(data_file("files.toml"))


def data_file(name: str) -> str:
    return (resources(__package__) / "data" / name).read_text("utf-8")


class Corpus:
    """A corpus in the folder of the data sets, where missing files are downloaded.

    The parameters are those of `fetch_corpus`. The folder is `data_home` if given,
    otherwise the value of the environment variable ``SKCALIB_DATA`` if set, otherwise
    ``~/skcalib_data``. It does not need to exist. `paths` are the files that were read.
    """

    def __init__(
        self,
        name: str,
        subset: str,
        data_home: PathLike | None,
        download_if_missing: bool,
        n_retries: int,
        delay: float,
    ):
        self.name = check_choice(name, tuple(registry()), name="name")
        self.entry = registry()[name]
        subsets = tuple(self.entry["subsets"])
        if subset == "train" and "train" not in subsets:
            subset = subsets[0]
        self.subset = check_choice(subset, subsets, name="subset")
        if data_home is None:
            # An empty variable counts as not set.
            data_home = os.environ.get(VARIABLE) or "~/skcalib_data"
        if not isinstance(data_home, (str, os.PathLike)):
            raise ParameterTypeError(
                "data_home",
                f"must be None or the path of a folder. Got {data_home!r} instead.",
            )
        self.home = Path(data_home).expanduser()
        self.download_if_missing = download_if_missing
        self.n_retries = check_integer(n_retries, minimum=0, name="n_retries")
        self.delay = check_real(delay, low=0, high=3600, name="delay")
        self.paths: list[Path] = []

    def description(self) -> str:
        """Return the text about the data: origin, sizes, licence, what to cite."""
        name = self.entry.get("description", self.name).format(subset=self.subset)
        return data_file(f"{name}.rst")

    def fetch_subset(self) -> list[Path]:
        """Return the paths of the files of the subset."""
        for file in self.entry["subsets"][self.subset]:
            self.fetch(file)
        return self.paths

    def path(self, file: str) -> Path:
        """Return the path of a file, which need not exist."""
        # A subset may have files of other corpora, "CORPUS/FILE".
        return self.home / (file if "/" in file else f"{self.name}/{file}")

    def fetch(self, file: str) -> Path:
        """Return the path of a file, which is downloaded if needed and allowed.

        An existing file with another checksum belongs to the user and is not changed.
        """
        path = self.path(file)
        corpus = registry()[path.parent.name]
        entry = corpus["files"][path.name]
        if not path.exists() and "instead" in entry:
            other = path.with_name(entry["instead"])
            if other.exists():
                path, entry = other, corpus["files"][other.name]
        url = entry.get("url", corpus.get("url", "") + entry.get("path", path.name))
        self.paths.append(path)
        if not path.exists():
            self._download(url, path, entry)
            return path
        try:
            _check(path, entry)
        except OSError as error:
            download = f", so that {url} can be downloaded" if url else ""
            raise OSError(
                f"{path} is not the file expected there: {_clause(error)}. Move it "
                f"away{download}, or pass another 'data_home'."
            ) from error
        return path

    def _download(self, url: str, path: Path, entry: dict[str, str]) -> None:
        if not self.download_if_missing:
            raise OSError(
                f"{path} does not exist, and download_if_missing=False. Pass "
                f"download_if_missing=True, or put {url} there, or name the "
                f"folder that contains it with 'data_home' or {VARIABLE}."
            )
        retries = {"n_retries": self.n_retries, "delay": self.delay}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _LOGGER.info("Downloading %s to %s", url, path)
            # A folder of its own: nothing is at `path` before it has been checked.
            with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
                received = fetch_file(url, folder, path.name, **retries)
                _check(received, entry)
                received.replace(path)
        except (OSError, HTTPException) as error:
            raise OSError(
                f"Could not download {url}: {_clause(error)}. Try again later, or get "
                f"the file some other way and put it at {path}."
            ) from error


def _clause(error: Exception) -> str:
    return str(error).strip().rstrip(".")
