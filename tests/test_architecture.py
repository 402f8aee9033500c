"""Imports run downwards, between subpackages and between modules, without circles."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import skcalib

PACKAGE = Path(__file__).parent.parent / "skcalib"
PAGE = PACKAGE.parent / "docs" / "developers" / "index.rst"

# A subpackage or module at the top imports only those of a lower number, and itself.
# Private modules at the top have 0 and are open to all.
FLOORS = {
    "metrics": 1,
    "posteriors": 1,
    "text": 1,
    "rates": 2,
    "documents": 2,
    "queries": 2,
    "evaluation": 3,
    "counts": 3,
    "significance": 4,
    "scorers": 5,
    "sequence": 5,
    "coref": 5,
    "datasets": 5,
    "interop": 6,
    "recalibration": 6,
    "events": 6,
    "plot": 7,
    "experimental": 8,
    "_result_classes": 8,
    "cli": 8,
    "__init__": 9,
    "__main__": 10,
}


@dataclass(frozen=True)
class Import:
    """One import of a module: who imports what, in which line, and when.

    `is_late` imports, in functions or for type checkers, do not run with the module.
    """

    importer: str
    name: str
    line: int = 0
    is_late: bool = False

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.name}"


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
PUBLIC = [n for n in PATHS if not any(p.startswith("_") for p in n.split("."))]


def read_imports(source: str, importer: str, is_package: bool) -> Iterator[Import]:
    """Yield the imports of a source text, including those for type checkers only."""
    package = importer.split(".") if is_package else importer.split(".")[:-1]

    def names(node: ast.Import | ast.ImportFrom) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        base = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*base, node.module or ""]).strip(".")
        return [f"{base}.{alias.name}" for alias in node.names]

    def walk(node: ast.AST, is_late: bool) -> Iterator[Import]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in names(node):
                yield Import(importer, name, node.lineno, is_late)
        is_late = is_late or isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.If):
            is_late = is_late or "TYPE_CHECKING" in ast.unparse(node.test)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, is_late)

    yield from walk(ast.parse(source), False)


def module_of(name: str) -> str:
    """Return the module of skcalib that a dotted name is, or is an attribute of."""
    while name not in PATHS:
        name = name.rpartition(".")[0]
    return name


def top_of(name: str) -> str:
    """Return the subpackage, or the module at the top, of a module."""
    return name.split(".")[1] if "." in name else "__init__"


def floor(name: str) -> int:
    top = top_of(name)
    if top not in FLOORS and top.startswith("_"):
        return 0
    assert top in FLOORS, f"skcalib.{top} has no floor: give it one in FLOORS"
    return FLOORS[top]


IMPORTS = [
    each
    for name, path in PATHS.items()
    for each in read_imports(path.read_text("utf-8"), name, path.stem == "__init__")
]
INTERNAL = [
    Import(each.importer, module_of(each.name), each.line, each.is_late)
    for each in IMPORTS
    if each.name.split(".")[0] == "skcalib"
]


def find_cycle(edges: list[Import]) -> list[str]:
    graph: dict[str, set[str]] = {}
    for edge in edges:
        if edge.importer != edge.name:
            graph.setdefault(edge.importer, set()).add(edge.name)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_subpackages_import_only_lower_floors():
    up = [
        str(each)
        for each in INTERNAL
        if top_of(each.importer) != top_of(each.name)
        and floor(each.importer) > 0
        and floor(each.name) >= floor(each.importer)
    ]
    # The command line prints the version, which stands at the top.
    assert [each for each in up if not each.startswith("skcalib.cli")] == []


@pytest.mark.skipif(not PAGE.exists(), reason="needs the documentation")
def test_the_page_for_developers_shows_the_same_floors():
    lines = re.findall(r"^    ([1-8])  (.+?)  ", PAGE.read_text("utf-8"), re.MULTILINE)
    shown = {name: int(n) for n, names in lines for name in names.split(", ")}
    assert shown == {n: floor for n, floor in FLOORS.items() if not n.startswith("_")}


def test_modules_at_the_bottom_import_no_subpackage():
    assert [
        str(each) for each in INTERNAL if floor(each.importer) == 0 < floor(each.name)
    ] == []


def test_modules_import_each_other_without_circles():
    # In a function or for a type checker only, the circle would be the same.
    assert find_cycle(INTERNAL) == []


def test_a_public_module_has_no_public_names_beyond_all():
    # `from .module import name` in an __init__ binds the submodule too.
    for name in PUBLIC:
        module = importlib.import_module(name)
        beyond = {
            each
            for each, value in vars(module).items()
            if not each.startswith("_") and not isinstance(value, ModuleType)
        }
        assert beyond - set(module.__all__) == set(), name


def test_matplotlib_is_not_imported_with_a_module():
    assert [
        str(each)
        for each in IMPORTS
        if each.name.split(".")[0] in ("matplotlib", "mpl_toolkits")
        and not (each.is_late and top_of(each.importer) in ("plot", "cli"))
    ] == []


def test_private_names_of_scikit_learn_are_imported_in_compat_only():
    assert [
        str(each)
        for each in IMPORTS
        if each.name.split(".")[0] == "sklearn"
        and any(part.startswith("_") for part in each.name.split("."))
        and each.importer != "skcalib._compat"
    ] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import skcalib.plot", ["skcalib.plot"]),
        ("from skcalib import plot", ["skcalib.plot"]),
        ("from . import _bins", ["skcalib.metrics._bins"]),
        ("from ._bins import cut", ["skcalib.metrics._bins.cut"]),
        ("from ..plot import X", ["skcalib.plot.X"]),
        ("from .. import plot", ["skcalib.plot"]),
        ("def f():\n    import a, b", ["a", "b"]),
        ("if TYPE_CHECKING:\n    from ..plot import X", ["skcalib.plot.X"]),
    ],
)
def test_imports_are_read_in_every_form(source, expected):
    found = read_imports(source, "skcalib.metrics._curve", False)
    assert [each.name for each in found] == expected


def test_imports_and_displays_need_neither_matplotlib_nor_a_neural_library():
    names = ["matplotlib", "torch", "spacy", "transformers", "stanza", "flair"]
    code = (
        "import importlib, sys\n"
        f"for name in {PUBLIC}:\n"
        "    module = importlib.import_module(name)\n"
        "    [getattr(module, each) for each in module.__all__]\n"
        "module = importlib.import_module('skcalib')\n"
        "module.ReliabilityDisplay([0.2], [0.3], name='points')\n"
        f"names = {[*names, 'tensorflow']}\n"
        "sys.exit(str([n for n in names if n in sys.modules] or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_every_folder_of_the_package_has_an_init():
    folders = {path.parent for path in PATHS.values()}
    assert [str(f) for f in folders if not (f / "__init__.py").is_file()] == []


def test_the_installed_package_is_the_one_read_here():
    assert Path(skcalib.__file__).parent.samefile(PACKAGE)
