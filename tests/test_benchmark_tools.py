"""The size of the code is counted, and constants of the interval are replaced."""

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

FILES = {
    "__init__.py": (
        '"""A package."""\n\n'
        "from . import tools\n"
        "from ._core import double, spare\n\n"
        "alias = tools\n"
        '__all__ = ["double"]\n'
    ),
    "_core.py": (
        "# ruff: noqa: F401\n"
        "import os  # noqa: F401\n\n\n"
        "# A comment.\n"
        "def double(x):  # another one\n"
        '    """Return\n    the double."""\n'
        "    return 2 * x\n\n\n"
        f"def spare({', '.join('abcdefghijklm')}):\n    return (\n        a\n    )\n"
    ),
    "tools/__init__.py": (
        "from .._core import double\n\nLEVEL = 1\n__all__: list[str] = []\n\n\n"
        "class Tool:\n"
        f"    def use(self, {', '.join('abcdefghijkl')}):\n        pass\n"
    ),
}


@pytest.fixture
def tool(monkeypatch):
    """Return a function that imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.fixture
def checkout(tmp_path):
    """Return a folder with a small package."""
    for name, text in FILES.items():
        path = tmp_path / "skcalib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def test_size_of_a_small_package(tool, checkout):
    sizes = tool("code_size").sizes(checkout)
    assert list(sizes) == ["top", "tools", "all"]
    # spare is imported; tools and its alias are modules
    assert sizes["top"] == {
        "modules": 2,
        "code lines": 4 + 7,
        "statements": 5 + 6,
        "comments per 100": f"{100 * 2 / 11:.2f}",
        "longest module": 7,
        "public names": 1,
        "stable names": 1,
        "beyond __all__": 1,
        "parameters > 12": 1,
    }
    # double, LEVEL and Tool; self is not counted as a parameter
    assert sizes["tools"]["beyond __all__"] == 3
    assert sizes["tools"]["parameters > 12"] == 0
    assert sizes["all"]["modules"] == 3
    assert sizes["all"]["code lines"] == 11 + 6


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
        with (
            pytest.raises(AttributeError),
            parts.replaced([(path, parts.giving(0.0))]),
        ):
            pass
    with pytest.raises(ModuleNotFoundError):
        parts.locate("_no_module.function")
