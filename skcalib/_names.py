"""Names of the package and its subpackages, which are loaded when they are first used.

Importing scikit-learn takes a second, and nobody needs all subpackages. The
``__init__.py`` of a subpackage therefore imports its names for type checkers only, and
`load_late` finds them at run time. Names that moved still import from their old path,
with a FutureWarning.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache

#: Modules that export names which the subpackage of their definition exported once:
#: the release in which the old path goes (None if it stays), and what to do instead.
MOVED: dict[str, tuple[str | None, str]] = {
    "skcalib.experimental": (
        "0.13",
        "Import it from skcalib.experimental, where names may change in any release.",
    ),
    "skcalib._result_classes": (
        "0.12",
        "Functions return this class, and nobody needs to import it.",
    ),
    "skcalib.rates": (None, ""),
}

#: Functions by their old path: the function that replaced them, and its first argument.
REPLACED = {
    "skcalib.datasets": {
        f"fetch_{corpus}": ("fetch_corpus", corpus)
        for corpus in (
            *("ark_twitter_pos", "emoticon_tweets", "gum", "litbank", "muc3"),
            *("system_outputs", "ud_english_ewt", "wsj_sample"),
        )
    }
}

#: Objects by their old path, and what to do instead. Functions warn when called.
OLD = {
    "skcalib.plot.ReliabilityPanelsDisplay": (
        "skcalib.plot._reliability.ReliabilityPanelsDisplay",
        "Use ReliabilityDisplay with by=.",
    ),
    "skcalib.significance.ScoreComparison": (
        "skcalib.significance._system_comparison.SystemComparison",
        "Use SystemComparison.",
    ),
    **{
        f"skcalib.significance.{name}": (f"skcalib.significance._old_names.{name}", "")
        for name in ("compare_metrics", "compare_scores", "significance_table")
    },
}


def load_late(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names load late.

    The source of the ``__init__.py`` tells where a name is: its imports for type
    checkers are the only list. A name is stored in the package at its first use.
    """
    module = sys.modules[package]

    def find(name: str) -> object:
        home = _homes(package).get(name)
        if home is None:
            return _find_moved(package, name)
        value: object
        if home == package:
            value = importlib.import_module(f"{package}.{name}")
        else:
            value = getattr(importlib.import_module(home), name)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        public = [name for name in _homes(package) if not name.startswith("_")]
        return sorted({*module.__all__, *public})

    return find, names


@cache
def _homes(module: str) -> dict[str, str]:
    """Return the module of each name that a module imports from the package."""
    spec = importlib.util.find_spec(module)
    source = None
    if spec is not None and spec.loader is not None:
        source = spec.loader.get_source(module)  # type: ignore[attr-defined]
    if spec is None or source is None:
        raise ImportError(f"{module} needs its source files, which were not installed")
    return {
        alias.name: importlib.util.resolve_name(
            "." * node.level + (node.module or ""), spec.parent
        )
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }


def _find_moved(module: str, name: str) -> object:
    """Return a name that a module exported once, with a warning."""
    if name in REPLACED.get(module, ()):
        return _replaced(module, name, *REPLACED[module][name])
    if f"{module}.{name}" in OLD:
        path, remedy = OLD[f"{module}.{name}"]
        if remedy:
            _warn(module, name, "0.13", remedy)
        home, _, old = path.rpartition(".")
        return getattr(importlib.import_module(home), old)
    for home, (removed_in, remedy) in MOVED.items():
        defined_in = _homes(home).get(name, "").rpartition(".")[0]
        # skcalib.evaluation contained the functions of skcalib.rates.
        if module == defined_in.replace("skcalib.rates", "skcalib.evaluation"):
            if removed_in is not None:
                _warn(module, name, removed_in, remedy)
            return getattr(importlib.import_module(home), name)
    problem, hint = f"module {module!r} has no attribute {name!r}", _hint(name)
    # Python replaces the message of an AttributeError in `from ... import name`, which
    # importlib looks up. For hasattr, it must be an AttributeError.
    if hint and sys._getframe(2).f_globals.get("__name__") == "importlib._bootstrap":
        raise ImportError(hint)
    raise AttributeError(f"{problem}. {hint}" if hint else problem)


def _hint(name: str) -> str:
    """Return where a name is that a module does not have, or an empty text."""
    if name == "CalibrationDisplay":
        return (
            "skcalib does not have a CalibrationDisplay. Its reliability diagram is "
            "skcalib.ReliabilityDisplay; CalibrationDisplay is in sklearn.calibration."
        )
    homes = _homes("skcalib")
    packages = [f"skcalib.{each}" for each, home in homes.items() if home == "skcalib"]
    for package in ["skcalib", *packages]:
        if not name.startswith("_") and name in _homes(package):
            return f"{name} is in {package}: from {package} import {name}"
    return ""


def _warn(module: str, name: str, removed_in: str, remedy: str) -> None:
    from ._errors import warn

    warn(
        f"{module}.{name} will be removed in version {removed_in}. {remedy}",
        FutureWarning,
    )


def _replaced(module: str, name: str, new: str, first: str) -> Callable[..., object]:
    """Return an old function, which warns when it is called and calls the new one."""

    def function(*args: object, **kwargs: object) -> object:
        _warn(module, name, "0.13", f"Use {new}({first!r}, ...).")
        return getattr(sys.modules[module], new)(first, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    return function
