"""Metrics take tensors, array-API arrays and columns, and return plain numbers."""

import json

import numpy as np
import pytest

from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    bin_size_curve,
    calibration_error,
    calibration_error_interval,
    sample_size_curve,
    score_decomposition,
)

RNG = np.random.default_rng(0)
N = 400
Q = RNG.random(N).round(2)
Y = (RNG.random(N) < Q).astype(int)
WEIGHT = RNG.integers(0, 3, N).astype(float)
GROUPS = np.arange(N) // 5
PROBA = RNG.dirichlet(np.ones(3), N)
CLASSES = RNG.integers(0, 3, N)

METRICS = {
    "error": lambda c: calibration_error(c(Y), c(Q)),
    "weighted error": lambda c: calibration_error(c(Y), c(Q), sample_weight=c(WEIGHT)),
    "grouped error": lambda c: calibration_error(
        c(Y), c(Q), debias=True, groups=c(GROUPS)
    ),
    "pooled error": lambda c: calibration_error(
        c(CLASSES), c(PROBA), labels=c(np.arange(3))
    ),
    "each class": lambda c: calibration_error(
        c(CLASSES), c(PROBA), multi_class="per_class"
    ).tolist(),
    "curve": lambda c: adaptive_reliability_curve(
        c(Y), c(Q), sample_weight=c(WEIGHT)
    ).to_dict(),
    "interval": lambda c: calibration_error_interval(
        c(Y), c(Q), groups=c(GROUPS)
    ).to_dict(),
    "decomposition": lambda c: score_decomposition(
        c(Y), c(Q), sample_weight=c(WEIGHT)
    ).to_dict(),
    "bin sizes": lambda c: bin_size_curve(c(Y), c(Q), bin_sizes=[10, 50]).to_dict(),
    "sample sizes": lambda c: sample_size_curve(
        c(Y), c(Q), sample_sizes=[100, 200], random_state=0
    ).to_dict(),
    "sketch": lambda c: ReliabilitySketch().update(c(Y), c(Q), c(WEIGHT)).to_dict(),
}


def by_torch(array):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.tensor(array)


def by_torch_with_gradient(array):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.tensor(array, requires_grad=array.dtype.kind == "f")


def by_array_api(array):
    strict = pytest.importorskip("array_api_strict", reason="no array_api_strict")
    return strict.asarray(array)


def by_polars(array):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.Series(array) if array.ndim == 1 else polars.DataFrame(array)


def by_pandas(array):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    if array.ndim == 1:
        return pandas.Series(array, index=np.arange(array.size)[::-1])
    return pandas.DataFrame(array)


def by_pandas_extension(array):
    return by_pandas(array).convert_dtypes()


SOURCES = [
    by_torch,
    by_torch_with_gradient,
    by_array_api,
    by_polars,
    by_pandas,
    by_pandas_extension,
]


@pytest.mark.filterwarnings("ignore:y_true and y_proba have the same index")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("metric", METRICS)
def test_the_numbers_are_those_of_numpy_and_plain(metric, source):
    found = METRICS[metric](source)
    assert found == METRICS[metric](np.asarray)
    json.dumps(found)  # neither tensors nor NumPy's numbers


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_tensors_of_low_precision(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    q = torch.tensor(Q).to(getattr(torch, name))
    found = calibration_error(Y, q, bin_size=50)
    exact = np.asarray(q.to(torch.float64))
    assert found == pytest.approx(calibration_error(Y, exact, bin_size=50), abs=1e-7)


class OnDevice:
    """What a tensor in the memory of a GPU says of itself."""

    device = "cuda:0"

    def __len__(self):
        return N

    def __dlpack_device__(self):
        return (2, 0)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


@pytest.mark.parametrize("name", ["y_true", "y_proba", "sample_weight"])
def test_what_is_on_a_device_has_to_be_copied_first(name):
    arguments = {"y_true": Y, "y_proba": Q, "sample_weight": WEIGHT, name: OnDevice()}
    expected = (
        f"'{name}' parameter of .* on cuda:0. Copy it first, .* with `.cpu\\(\\)`"
    )
    with pytest.raises(TypeError, match=expected):
        calibration_error(**arguments)
    with pytest.raises(TypeError, match=expected):
        ReliabilitySketch().update(**arguments)


def test_a_tensor_without_data_is_refused():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(TypeError, match="OnDevice|Tensor on meta"):
        calibration_error(Y, torch.empty(N, device="meta"))


def test_a_gradient_is_left_alone():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    q = torch.tensor(Q, requires_grad=True)
    calibration_error(Y, q)
    assert q.requires_grad
    assert q.grad is None
