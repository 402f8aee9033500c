"""What every test gets."""

import gc
import os
import sys

import numpy as np
import pytest
from hypothesis import settings

# A slow machine is no reason to fail; and a failure has to be there at the next run.
# `.ci/run` asks for the thorough profile, with 100 examples of each property.
settings.register_profile("thorough", deadline=None, derandomize=True)
settings.register_profile("skcalib", settings.get_profile("thorough"), max_examples=20)
settings.load_profile("skcalib")

# No test opens a window.
os.environ["MPLBACKEND"] = "Agg"


# Garbage is not collected among the thousands of tests that stay until the end.
gc.disable()


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


class FakeTensor:
    """A tensor as PyTorch has it, for where PyTorch is not installed.

    NumPy cannot read gradients and bfloat16, entries are tensors, and tensors are
    hashed by what they are, not by what they hold.
    """

    __hash__ = object.__hash__

    def __init__(self, values, dtype=None, requires_grad=False):
        self.values = np.asarray(values)
        self.dtype = dtype or f"torch.{self.values.dtype}"
        self.requires_grad = requires_grad

    def __dlpack_device__(self):
        return 1, 0

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.array(self.values, dtype=dtype)

    def detach(self):
        return FakeTensor(self.values, self.dtype)

    def float(self):
        return FakeTensor(self.values, "torch.float32", self.requires_grad)

    def tolist(self):
        return self.values.tolist()

    def item(self):
        return self.values.item()

    def __len__(self):
        return len(self.values)

    def __getitem__(self, key):
        return FakeTensor(self.values[key], self.dtype, self.requires_grad)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __eq__(self, other):
        return FakeTensor(self.values == np.asarray(other))

    def __bool__(self):
        return bool(self.values)

    @property
    def shape(self):
        return self.values.shape

    @property
    def ndim(self):
        return self.values.ndim


def torch_tensor(values, dtype=None, requires_grad=False):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    kind = getattr(torch, dtype.split(".")[1]) if dtype else None
    return torch.tensor(values, dtype=kind, requires_grad=requires_grad)


@pytest.fixture(params=[FakeTensor, torch_tensor], ids=["fake", "torch"])
def tensor(request):
    """Return a function that makes tensors: tensor(values, dtype, requires_grad)."""
    return request.param
