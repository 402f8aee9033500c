"""Files of data sets: toy ones where real ones would be, and the real ones."""

import hashlib
import os
from pathlib import Path

import pytest

from skcalib.datasets._files import data_set


@pytest.fixture
def expect(monkeypatch):
    """Make the registry expect a content, or a checksum; give the entry."""

    def expect_it(folder, name, content=b"", **changes):
        changes.setdefault("checksum", hashlib.sha256(content).hexdigest())
        files = data_set(folder).files
        monkeypatch.setitem(files, name, files[name]._replace(**changes))
        return files[name]

    return expect_it


@pytest.fixture
def put(expect, tmp_path):
    """Put a content into the data home `tmp_path`, where the registry expects it."""

    def put_it(folder, name, content):
        content = content if isinstance(content, bytes) else content.encode()
        remote = expect(folder, name, content)
        path = tmp_path / remote.folder / remote.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    return put_it


@pytest.fixture(scope="session")
def real_home():
    """Give the folder of the real data sets."""
    if not os.environ.get("SKCALIB_DATA"):
        pytest.skip("SKCALIB_DATA names no folder of data sets")
    return Path(os.environ["SKCALIB_DATA"])


@pytest.fixture(scope="session")
def need(real_home):
    """Skip a test if files of a data set, or some of them, are not in the folder."""

    def need_it(data_set_name, *names):
        files = data_set(data_set_name).files
        for file in (files[name] for name in names or files):
            if not (real_home / file.folder / file.name).exists():
                pytest.skip(f"{file.folder}/{file.name} is not in SKCALIB_DATA")

    return need_it
