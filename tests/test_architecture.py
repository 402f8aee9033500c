"""Rooms import downwards only, and every door has its names."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import skcalib

PACKAGE = Path(__file__).parent.parent / "skcalib"
FILES = sorted(PACKAGE.rglob("*.py"))

# A room imports rooms of a lower rank and itself. Other private modules at the top
# (`_validation`, `_compat`, ...) are the ground: rank -1, open to all.
RANKS = {
    "metrics": 0,
    "posteriors": 0,
    "significance": 0,
    "documents": 0,
    "queries": 1,
    "scorers": 2,
    "sequence": 2,
    "coref": 2,
    "datasets": 2,
    "recalibration": 3,
    "events": 3,
    "plot": 4,
    "__init__": 5,
    "_demo": 6,
    "_report": 6,
    "_demo_tagging": 7,
    "_cli": 8,
    "__main__": 9,
}
GROUND = -1


@dataclass(frozen=True)
class Import:
    """One imported name, where it stands and whether it waits for a call."""

    name: str
    line: int
    in_function: bool
    only_for_types: bool


def rank(room: str) -> int:
    if room not in RANKS and room.startswith("_"):
        return GROUND
    assert room in RANKS, f"skcalib.{room} has no rank: give it one in RANKS"
    return RANKS[room]


def room_of_file(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def room_of_name(name: str) -> str:
    """Give the room of a dotted name under skcalib; names of the root are its own."""
    room = name.split(".")[1] if "." in name else "__init__"
    is_room = room in RANKS or re.match("_[^_]", room)
    return room if is_room else "__init__"


def imported_names(node: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parents, base]).rstrip(".")
    return [f"{base}.{alias.name}" for alias in node.names]


def imports(source: str, package: str) -> Iterator[Import]:
    """Yield every import of a source text that belongs to `package`."""

    def walk(node: ast.AST, in_function: bool, only_for_types: bool):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in imported_names(node, package):
                yield Import(name, node.lineno, in_function, only_for_types)
        in_function |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(node, ast.If):
            only_for_types |= ast.unparse(node.test).endswith("TYPE_CHECKING")
        for child in ast.iter_child_nodes(node):
            yield from walk(child, in_function, only_for_types)

    yield from walk(ast.parse(source), False, False)


def imports_of_file(path: Path) -> list[Import]:
    package = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
    return list(imports(path.read_text("utf-8"), package))


def goes_up(room: str, imported: Import) -> bool:
    if imported.name.split(".")[0] != "skcalib":
        return False
    other = room_of_name(imported.name)
    if other == room:
        return False
    if rank(other) == GROUND:
        return False
    return rank(other) >= rank(room)


def is_stray_matplotlib(room: str, imported: Import) -> bool:
    if imported.name.split(".")[0] not in ("matplotlib", "mpl_toolkits"):
        return False
    return room != "plot" or not (imported.in_function or imported.only_for_types)


def is_private_sklearn(imported: Import) -> bool:
    top, *rest = imported.name.split(".")
    return top == "sklearn" and any(part.startswith("_") for part in rest)


def places(path: Path, found: list[Import]) -> list[str]:
    where = path.relative_to(PACKAGE.parent)
    return [f"{where}:{imported.line} imports {imported.name}" for imported in found]


@pytest.fixture(params=FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def path(request):
    return request.param


def test_a_room_imports_only_rooms_of_a_lower_rank(path):
    room = room_of_file(path)
    assert places(path, [i for i in imports_of_file(path) if goes_up(room, i)]) == []


def test_matplotlib_is_imported_in_functions_of_plot_only(path):
    room = room_of_file(path)
    stray = [i for i in imports_of_file(path) if is_stray_matplotlib(room, i)]
    assert places(path, stray) == []


def test_private_sklearn_names_are_imported_in_compat_only(path):
    if path == PACKAGE / "_compat.py":
        pytest.skip("the one place for them")
    private = [i for i in imports_of_file(path) if is_private_sklearn(i)]
    assert places(path, private) == []


def test_importing_skcalib_does_not_import_matplotlib():
    code = "import sys, skcalib; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


DOORS = ["skcalib"] + sorted(
    f"skcalib.{room}"
    for room in RANKS
    if (PACKAGE / room / "__init__.py").is_file() or (PACKAGE / f"{room}.py").is_file()
    if not room.startswith("_")
)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_all_and_its_names_exist(door):
    module = importlib.import_module(door)
    names = module.__all__
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(set(names)) == len(names)


def test_every_room_has_a_rank():
    assert {rank(room_of_file(path)) for path in FILES} <= {GROUND, *RANKS.values()}


def test_every_folder_of_the_package_has_an_init():
    folders = {path.parent for path in FILES}
    assert [str(f) for f in folders if not (f / "__init__.py").is_file()] == []


def test_the_installed_package_is_the_one_read_here():
    assert Path(skcalib.__file__).parent.samefile(PACKAGE)


# The rules themselves, on sources made up for them.


@pytest.mark.parametrize(
    ("source", "package", "expected"),
    [
        ("import skcalib.plot", "skcalib", ["skcalib.plot"]),
        ("from skcalib import plot", "skcalib.metrics", ["skcalib.plot"]),
        ("from . import _bins", "skcalib.metrics", ["skcalib.metrics._bins"]),
        ("from ._bins import cut", "skcalib.metrics", ["skcalib.metrics._bins.cut"]),
        ("from ..plot import X", "skcalib.metrics", ["skcalib.plot.X"]),
        ("from .. import plot", "skcalib.metrics", ["skcalib.plot"]),
        ("def f():\n    import a, b", "skcalib", ["a", "b"]),
    ],
)
def test_imports_are_read_whatever_their_form(source, package, expected):
    assert [i.name for i in imports(source, package)] == expected


@pytest.mark.parametrize(
    ("room", "source", "expected"),
    [
        ("metrics", "from skcalib.plot import ReliabilityDisplay", True),
        ("metrics", "def f():\n    from skcalib.queries import Answers", True),
        ("metrics", "from skcalib import calibration_error", True),
        ("metrics", "from skcalib._validation import check", False),
        ("metrics", "from skcalib.metrics._bins import cut", False),
        ("scorers", "from skcalib.datasets import make_calibrated_pairs", True),
        ("scorers", "from skcalib.metrics import calibration_error", False),
        ("_validation", "from skcalib.metrics import calibration_error", True),
        ("_cli", "from skcalib import __version__", False),
    ],
)
def test_the_rank_rule_tells_up_from_down(room, source, expected):
    (imported,) = imports(source, "skcalib")
    assert goes_up(room, imported) is expected


@pytest.mark.parametrize(
    ("room", "source", "expected"),
    [
        ("plot", "import matplotlib.pyplot as plt", True),
        ("plot", "def f():\n    import matplotlib.pyplot as plt", False),
        ("plot", "if TYPE_CHECKING:\n    from matplotlib.axes import Axes", False),
        ("metrics", "def f():\n    from matplotlib import pyplot", True),
        ("metrics", "import numpy", False),
    ],
)
def test_the_matplotlib_rule_tells_lazy_from_eager(room, source, expected):
    (imported,) = imports(source, "skcalib")
    assert is_stray_matplotlib(room, imported) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from sklearn.utils._param_validation import Interval", True),
        ("from sklearn.utils import _safe_indexing", True),
        ("from sklearn.utils import check_array", False),
        ("from skcalib._compat import Interval", False),
    ],
)
def test_the_sklearn_rule_tells_private_from_public(source, expected):
    (imported,) = imports(source, "skcalib")
    assert is_private_sklearn(imported) is expected
