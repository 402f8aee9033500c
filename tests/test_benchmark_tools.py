"""Constants of the score interval can be replaced."""

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def tool(monkeypatch):
    """Return a function that imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


def test_every_constant_of_the_interval_is_found_and_put_back(tool):
    parts = tool("interval_constants")
    rng = np.random.default_rng(0)
    q = rng.random(200)
    y = (rng.random(200) < q).astype(int)
    before = parts.calibration_error_interval(y, q)
    for name in parts.CONSTANTS:
        with parts.replaced(parts.with_constant(name, 0.5)):
            assert name == "floor of slope_of" or parts.value_of(name) == 0.5
    assert parts.calibration_error_interval(y, q) == before


def test_the_floor_of_the_benchmark_is_that_of_the_package(tool):
    parts = tool("interval_constants")
    slope, arguments = parts.value_at(parts.SLOPE_OF), (-1.0, 1e-2, 1e-3, 1e-2)
    with parts.replaced(parts.with_constant("floor of slope_of", parts.FLOOR)):
        same = parts.value_at(parts.SLOPE_OF)(*arguments)
    with parts.replaced(parts.with_constant("floor of slope_of", 0.3)):
        other = parts.value_at(parts.SLOPE_OF)(*arguments)
    assert same == slope(*arguments) < other


def test_an_attribute_that_does_not_exist_is_an_error(tool):
    parts = tool("interval_constants")
    for path in ("_score_interval.no_function", "_score_interval.Levels.no_method"):
        with pytest.raises(AttributeError), parts.replaced([(path, parts.giving(0.0))]):
            pass
    with pytest.raises(ModuleNotFoundError):
        parts.locate("_no_module.function")
