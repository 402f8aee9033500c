"""The files of all harnesses, written once."""

import pytest
from harness_files import write_files


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Give a folder with the files that `harness_files` describes."""
    return write_files(tmp_path_factory.mktemp("harnesses"))
