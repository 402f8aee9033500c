"""Metadata, README and API page say the same as the code."""

import configparser
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path

import skcalib
from skcalib._results import Result

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "skcalib"


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def requirements(text: str, operator: str) -> dict[str, tuple[int, ...]]:
    """Map each requirement to its version, as numbers without trailing zeros."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.split(operator) for line in lines if line and line[0] != "#"]
    return {name: version_numbers(version) for name, version in pairs}


def version_numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def test_the_lowest_versions_tested_are_the_floors():
    config = configparser.ConfigParser()
    config.read_string(read("setup.cfg"))
    floors = requirements(config["options"]["install_requires"], ">=")
    assert requirements(read(".ci/lowest.txt"), "==") == floors


def test_files_name_the_version_of_the_code():
    lines = {
        "CITATION.cff": "version: {}",
        ".ci/conda/recipe.yaml": "  version: {}",
        "docs/_static/switcher.json": '    "version": "{}",',
        "docs/changelog.rst": "{}",
    }
    for file, line in lines.items():
        assert line.format(skcalib.__version__) in read(file).splitlines(), file


def test_the_conda_recipe_needs_what_the_package_needs():
    text = read(".ci/conda/recipe.yaml")
    (least,) = re.findall('python_min: "(.*)"', text)
    text = text.replace("${{ python_min }}", least)
    run = text.partition("  run:\n")[2].partition("tests:")[0]
    # conda-forge calls the package without its graphical toolkits "matplotlib-base".
    lines = re.sub("^ *- |-base", "", run, flags=re.MULTILINE).replace(" >=", ">=")
    config = configparser.ConfigParser()
    config.read_string(read("setup.cfg"))
    floors = requirements(config["options"]["install_requires"], ">=")
    assert requirements(lines, ">=") == {**floors, "python": (3, 11)}


def test_the_installed_version_is_the_one_of_the_code():
    assert importlib.metadata.version("skcalib") == skcalib.__version__


def test_the_built_package_has_links():
    lines = importlib.metadata.metadata("skcalib").get_all("Project-URL") or []
    links = dict(line.split(", ") for line in lines)
    assert set(links) == {"Source", "Documentation", "Changelog", "Issues"}
    assert links == tomllib.loads(read("pyproject.toml"))["project"]["urls"]


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_every_data_file_is_installed():
    config = configparser.ConfigParser()
    config.read_string(read("setup.cfg"))
    installed = {
        path
        for package, patterns in config["options.package_data"].items()
        for pattern in patterns.split()
        for path in ROOT.joinpath(*package.split(".")).glob(pattern)
    }
    files = (path for path in PACKAGE.rglob("*") if path.is_file())
    data = {path for path in files if path.suffix not in (".py", ".pyc")}
    assert data == installed


def test_the_readme_gives_each_command_once_on_a_line_of_its_own():
    lines = [line.strip() for line in read("README.rst").splitlines()]
    for command in (
        "pip install . && skcalib demo",
        'pip install -e ".[test]" && pytest',
    ):
        assert lines.count(command) == 1, command


def rooms() -> list[str]:
    folders = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    modules = [path.stem for path in PACKAGE.glob("*.py")]
    names = [r for r in folders + modules if not r.startswith("_")]
    return sorted(f"skcalib.{r}" for r in [*names, "_result_classes"])


def public_names() -> list[str]:
    return [f"{r}.{n}" for r in rooms() for n in importlib.import_module(r).__all__]


def documented_names() -> list[str]:
    """Read docs/api: the entries of each autosummary after its currentmodule."""
    names, module, listing = [], None, False
    pages = sorted((ROOT / "docs" / "api").glob("*.rst"))
    for line in "\n".join(page.read_text("utf-8") for page in pages).splitlines():
        if line.startswith(".. "):
            listing = line == ".. autosummary::"
            if line.startswith(".. currentmodule::"):
                module = line.split()[-1]
        elif listing and re.fullmatch(r"    \w+", line):
            names.append(f"{module}.{line.strip()}")
    return names


def resolve(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_the_api_page_lists_every_public_name_once_and_no_other():
    assert sorted(documented_names()) == sorted(public_names())


def test_the_top_level_hands_out_names_of_the_rooms_only():
    handed_out = {name.rpartition(".")[2]: resolve(name) for name in public_names()}
    strays = [
        name
        for name in skcalib.__all__
        if name != "__version__"
        and getattr(skcalib, name) is not handed_out.get(name)
        and not inspect.ismodule(getattr(skcalib, name))
    ]
    assert strays == []


def all_subclasses(kind: type) -> set[type]:
    direct = kind.__subclasses__()
    return {*direct, *(each for sub in direct for each in all_subclasses(sub))}


def test_every_class_of_results_is_documented():
    for module in pkgutil.walk_packages(skcalib.__path__, "skcalib."):
        if module.name != "skcalib.__main__":
            importlib.import_module(module.name)
    documented = {resolve(name) for name in public_names()}
    assert [
        f"{kind.__module__}.{kind.__name__}"
        for kind in all_subclasses(Result) - documented
        if not kind.__subclasses__()
        and kind.__module__.startswith("skcalib.")
        and not kind.__name__.startswith("_")
        # the old name of ReliabilityDisplay with by=
        and kind.__name__ != "ReliabilityPanelsDisplay"
    ] == []


def missing_sections(obj: object) -> list[str]:
    """Name the numpydoc sections that a function or class ought to have and lacks."""
    doc = inspect.getdoc(obj) or ""
    found = re.findall(r"^(\w[\w ]*)\n-+$", doc, flags=re.MULTILINE)
    wanted = ["Examples"]
    # A result object documents its attributes instead.
    if inspect.signature(obj).parameters and "Attributes" not in found:
        wanted.append("Parameters")
    if inspect.isfunction(obj):
        wanted.append("Returns")
    return [section for section in wanted if section not in found]


def test_every_public_function_and_class_documents_itself():
    # Other objects, such as scorers, are documented by their classes.
    objects = {name: resolve(name) for name in public_names()}
    missing = {
        name: missing_sections(obj)
        for name, obj in objects.items()
        if inspect.isfunction(obj) or inspect.isclass(obj)
    }
    assert len(missing) > 100
    assert {name: sections for name, sections in missing.items() if sections} == {}


def test_the_page_for_developers_names_files_and_names_that_exist():
    page = read("docs/developers/index.rst")
    folders = ("skcalib", "tests", "benchmarks", "docs")
    paths = [path for f in folders for path in (ROOT / f).rglob("*.*")]
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in paths]
    named = set(re.findall(r"[\w/]+\.(?:py|rst|toml|txt)\b", page))
    assert len(named) > 40
    assert {n for n in named if not any(f.endswith(f"/{n}") for f in files)} == set()
    code = "\n".join(p.read_text("utf-8") for p in paths if p.suffix == ".py")
    names = re.findall(r"``@?(?:\w+\.)*(\w+)(?:\([^`]*\))?``", page)
    assert len(names) > 100
    # Versions are MAJOR.MINOR.PATCH.
    assert set(names) - set(re.findall(r"\w+", code)) <= {"PATCH"}
