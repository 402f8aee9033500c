"""Arrays as libraries have them that need not be installed."""

import pytest


class _Scalar:
    """A scalar of pyarrow, which is not what it holds."""


class _ArrowArray:
    """An array as pyarrow's: iterating it gives pyarrow's scalars."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, key):
        self.values[key]
        return _Scalar()

    def to_pylist(self):
        return list(self.values)


@pytest.fixture(scope="session")
def arrow():
    return _ArrowArray
