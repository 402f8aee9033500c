"""Files of corpora: toy ones where real ones would be, and the real ones."""

import hashlib
import os
from pathlib import Path

import pytest

from skcalib.datasets._files import KINDS, registry


@pytest.fixture
def expect(monkeypatch):
    """Make the registry expect a content, or a checksum of the file's own kind."""

    def expect_it(corpus, name, content=b"", *, checksum=None, **changes):
        files = registry()[corpus]["files"]
        kept = {k: v for k, v in files[name].items() if checksum or k not in KINDS}
        if checksum:
            (kind,) = KINDS.keys() & kept.keys()
            changes[kind] = checksum
        else:
            changes["sha256"] = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(files, name, kept | changes)

    return expect_it


@pytest.fixture
def put(expect, tmp_path):
    """Put a content into the data home `tmp_path`, where the registry expects it."""

    def put_it(corpus, name, content):
        content = content if isinstance(content, bytes) else content.encode()
        expect(corpus, name, content)
        path = tmp_path / corpus / name
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
    """Skip a test if files of a corpus, or some of them, are not in the folder."""

    def need_it(corpus, *names):
        for name in names or registry()[corpus]["files"]:
            if not (real_home / corpus / name).exists():
                pytest.skip(f"{corpus}/{name} is not in SKCALIB_DATA")

    return need_it
