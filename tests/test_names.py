"""Names are loaded at their first use, and found at their old path with a warning."""

import importlib
import importlib.machinery
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import skcalib.evaluation
import skcalib.experimental
import skcalib.rates
from skcalib import _names, _result_classes

API = Path(__file__).parents[1] / "docs" / "api"
MOVED = [
    ("skcalib.queries", "predicted_links", skcalib.experimental),
    ("skcalib.queries", "PredictedLinks", _result_classes),
    ("skcalib.posteriors", "TreePosterior", skcalib.experimental),
    ("skcalib.counts", "LabelsOnly", _result_classes),
    ("skcalib.evaluation", "AccuracyInterval", _result_classes),
    ("skcalib.evaluation", "AlignedEvaluations", _result_classes),
    ("skcalib.events", "EventEvidence", skcalib.experimental),
    ("skcalib.metrics", "BinSizeCurve", _result_classes),
    ("skcalib.significance", "McNemarResult", _result_classes),
]


@pytest.mark.parametrize(("module", "name", "home"), MOVED)
def test_an_old_path_warns_and_gives_the_same_object(module, name, home):
    old = importlib.import_module(module)
    assert name not in old.__all__
    with pytest.warns(
        FutureWarning, match=rf"{module}\.{name} will be removed in version"
    ) as seen:
        found = getattr(old, name)
    assert found is getattr(home, name)
    assert seen[0].filename == __file__


def test_functions_of_rates_are_found_in_evaluation_without_a_warning():
    for name in skcalib.rates.__all__:
        assert name not in skcalib.evaluation.__all__
        found = getattr(skcalib.evaluation, name)
        assert found is getattr(skcalib.rates, name)


def test_an_import_from_an_old_path_warns_in_its_line():
    with pytest.warns(
        FutureWarning, match="Import it from skcalib.experimental"
    ) as seen:
        from skcalib.posteriors import TreePosterior  # noqa: F401
    assert {each.filename for each in seen} == {__file__}


def test_a_name_that_never_existed_is_an_attribute_error():
    for module in {module for module, *_ in MOVED}:
        with pytest.raises(AttributeError, match=r"has no attribute 'no_such_name'"):
            getattr(importlib.import_module(module), "no_such_name")  # noqa: B009


def imported_by(code: str, *names: str) -> str:
    """Return which of the modules are imported after the code has run, or its error."""
    code += (
        "\nimport sys"
        f"\nprint([name for name in {names} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stderr.strip()


def test_the_package_imports_no_library_by_itself():
    assert imported_by("import skcalib", "numpy", "scipy", "skcalib.metrics") == "[]"


def test_an_error_and_its_figure_do_not_import_scikit_learn():
    code = """
import numpy as np
from skcalib import ReliabilityDisplay, calibration_error, calibration_error_interval
y, q = np.arange(40) % 2, np.linspace(0.1, 0.9, 40)
calibration_error(y, q)
calibration_error_interval(y, q)
"""
    names = ("sklearn", "scipy.stats", "pandas", "matplotlib", "skcalib.significance")
    assert imported_by(code, *names) == "[]"


@pytest.mark.parametrize("options", [["--version"], ["compare", "--help"]])
def test_help_and_version_import_no_command(options):
    code = f"""
from skcalib.cli import main
try:
    main({options})
except SystemExit:
    pass
"""
    names = ("sklearn", "scipy.special", "skcalib.cli._compare", "skcalib.metrics")
    assert imported_by(code, *names) == "[]"


def test_a_report_of_a_table_does_not_import_scikit_learn(tmp_path):
    table = tmp_path / "answers.csv"
    table.write_text("correct,confidence\n" + "1,.9\n0,.2\n1,.6\n" * 10, "utf-8")
    code = (
        "from skcalib.cli import main\n"
        f"assert main(['report', {str(table)!r}, '--no-figure']) == 0"
    )
    names = ("sklearn", "scipy.stats", "pandas", "matplotlib")
    assert imported_by(code, *names) == "[]"


def test_a_name_is_stored_at_its_first_use():
    code = """
import skcalib.metrics as metrics
assert "calibration_error" not in vars(metrics)
assert vars(metrics).get("calibration_error", metrics.calibration_error)
assert vars(metrics)["calibration_error"] is metrics.calibration_error
"""
    assert imported_by(code) == "[]"


def test_names_for_type_checkers_are_the_public_names():
    loaded_late = 0
    for name in set(dir(skcalib)) - set(skcalib.__all__) - {"documents"}:
        module = importlib.import_module(f"skcalib.{name}")
        homes = _names._homes(module.__name__)
        assert {each for each in homes if each[0] != "_"} == set(module.__all__)
        loaded_late += 1
    assert loaded_late == 16


def test_a_package_without_source_files_is_an_error(monkeypatch):
    module = types.ModuleType("without_source")
    module.__spec__ = importlib.machinery.ModuleSpec("without_source", None)
    monkeypatch.setitem(sys.modules, "without_source", module)
    find, _ = _names.load_late("without_source")
    with pytest.raises(ImportError, match="without_source needs its source files"):
        find("name")


def entries_of(page):
    """Return the names that a page of the API reference lists."""
    text = (API / f"{page}.rst").read_text("utf-8")
    return re.findall(r"^    (\w+)$", text, flags=re.MULTILINE)


def test_the_api_index_counts_the_names_of_each_page():
    text = (API / "index.rst").read_text("utf-8")
    rows = re.findall(r"\* - :doc:`(\w+)`\n      - .*\n      - (\d+)\n", text)
    assert {page for page, _ in rows} == {p.stem for p in API.glob("*.rst")} - {"index"}
    for page, number in rows:
        assert int(number) == len(entries_of(page)), page
