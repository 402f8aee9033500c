"""Arrays as libraries have them that need not be installed."""

import numpy as np
import pytest


class _Tensor:
    """A tensor as PyTorch's: its entries are tensors, each equal to itself only."""

    dtype = "torch.int64"
    device = "cpu"

    def __init__(self, values):
        self.values = np.asarray(values, dtype=np.int64)
        self.ndim = self.values.ndim

    def __dlpack_device__(self):
        return 1, 0

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self.values)

    def __getitem__(self, key):
        return _Tensor(self.values[key])

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def detach(self):
        return self


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
def tensor():
    return _Tensor


@pytest.fixture(scope="session")
def arrow():
    return _ArrowArray
