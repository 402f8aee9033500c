"""Committed results are those of the code: digests, and quick reruns."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
CHECK = BENCHMARKS / "check_results.py"

# A package with two metrics, and a script that uses one of them.
FILES = {
    "script.py": "'A script.'\nfrom package.metrics import first\nprint(first(2))\n",
    "package/__init__.py": "from .metrics import first, second\n__all__ = ['first']\n",
    "package/metrics/__init__.py": (
        "from ._first import first\nfrom ._second import second\n"
    ),
    "package/metrics/_first.py": (
        "from .._base import scale\n\n"
        "def first(x):\n    '''Return a number.'''\n    return scale * x\n"
    ),
    "package/metrics/_second.py": "def second(x):\n    return x\n",
    "package/_base.py": "scale = 3  # a comment\n",
}


@pytest.fixture
def modules(monkeypatch):
    """Return the modules _digest, check_results and _common of the benchmarks."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return [
        importlib.import_module(name)
        for name in ("_digest", "check_results", "_common")
    ]


@pytest.fixture
def digest(tmp_path, modules):
    """Return a function that gives the script's digest after some files change."""

    def of(changed):
        for name, text in (FILES | changed).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        code = modules[0].Code(tmp_path)
        return modules[0].total(code.digests("script"))

    return of


def replaced(name, old, new):
    assert old in FILES[name]
    return {name: FILES[name].replace(old, new)}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("package/_base.py", "a comment", "another comment"),
        ("package/_base.py", "scale = 3", "scale   =   3"),
        ("package/metrics/_first.py", "Return a number", "Return its triple"),
        ("package/metrics/_second.py", "return x", "return 2 * x"),
        ("package/__init__.py", "['first']", "['first', 'second']"),
        ("package/metrics/__init__.py", "from ._second import second\n", ""),
        ("script.py", "A script", "The script"),
        ("script.py", "print", "QUICK = [{}]\nprint"),
    ],
)
def test_digest_ignores_what_cannot_change_a_number(digest, name, old, new):
    assert digest(replaced(name, old, new)) == digest({})


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("package/_base.py", "3", "4"),
        ("package/_base.py", "3", "3.0"),
        ("package/metrics/_first.py", "scale * x", "x * scale"),
        ("package/metrics/__init__.py", "._first import", "._second import second as"),
        ("package/__init__.py", "__all__", "import os\nos.nice(1)\n__all__"),
        ("script.py", "first(2)", "first(3)"),
    ],
)
def test_digest_changes_with_the_code_that_a_script_reaches(digest, name, old, new):
    assert digest(replaced(name, old, new)) != digest({})


@pytest.mark.parametrize(
    "imported",
    [
        "import package.metrics as m\nprint(m.first(2))",
        "from package import metrics\nprint(metrics.first(2))",
        "from package import first\nprint(first(2))",
        "def f():\n    from package.metrics._first import first\n    return first",
    ],
)
def test_imports_are_followed_name_by_name(digest, modules, tmp_path, imported):
    digest({"script.py": imported})
    reached = modules[0].Code(tmp_path).reached("script")
    assert reached == ["package._base", "package.metrics._first", "script"]


def test_imports_for_type_checkers_are_not_followed(digest, modules, tmp_path):
    text = "import typing\nif typing.TYPE_CHECKING:\n    import package._base\n"
    digest({"script.py": text})
    assert modules[0].Code(tmp_path).reached("script") == ["script"]


def test_digest_depends_on_the_modules_that_an_interval_needs(modules):
    reached = modules[0].code().reached("pooled_bin_size")
    assert "skcalib.metrics._calibration_error" in reached
    # neither of another subpackage nor of another metric
    assert not any(name.startswith("skcalib.coref") for name in reached)
    assert "skcalib.metrics._interval" not in reached


@pytest.mark.parametrize(
    ("new", "old", "is_same"),
    [
        ("0.0181", "0.0182", True),
        ("0.0181", "0.0183", False),
        ("0.207 / 0.335", "0.208 / 0.334", True),
        ("0.207 / 0.335", "0.207 / 0.337", False),
        ("8.8e-58", "8.9e-58", True),
        ("8.8e-58", "8.8e-57", False),
        ("-0.000", "0.000", True),
        ("1053", "1054", False),
        ("[0.000, 0.056]", "(0.000, 0.056]", False),
        ("0.1", "", False),
    ],
)
def test_cells_are_equal_within_the_last_printed_digit(modules, new, old, is_same):
    cells = {"error": new}, {"error": old}
    assert modules[1].same(*cells, "error", {"keys": []}) is is_same


@pytest.mark.parametrize(
    ("new", "is_same"),
    [("9.9", True), ("0.2", True), ("11.5", False), ("0.0", False)],
)
def test_times_are_equal_within_a_factor_of_10(modules, new, is_same):
    spec = {"keys": [], "timed": ["seconds"]}
    cells = {"seconds": new}, {"seconds": "1.0"}
    assert modules[1].same(*cells, "seconds", spec) is is_same


@pytest.mark.parametrize(
    ("new", "old", "is_same"),
    [
        ("90.0", "95.0", True),
        ("89.9", "95.0", False),
        ("0.90", "0.95", True),
        ("0.899", "0.95", False),
    ],
)
@pytest.mark.parametrize("replicates", [100, "n"])
def test_shares_of_fewer_replicates_are_equal_within_two_standard_errors(
    modules, replicates, new, old, is_same
):
    # 100 replicates: with two more of each kind, the share is 97 of 104, and its
    # standard error 2.5 points
    spec = {"keys": [], "sampled": {"coverage": replicates}}
    cells = {"coverage": new, "n": "100"}, {"coverage": old, "n": "2000"}
    assert modules[1].same(*cells, "coverage", spec) is is_same


def test_only_rows_with_the_same_keys_are_compared(modules, tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("# note\nname,error\na,0.1\nb,0.2\n", "utf-8")
    new.write_text("# note\nname,error\nb,0.2\n", "utf-8")
    assert modules[1].differences(new, old, {"keys": ["name"]}) == []
    new.write_text("# note\nname,error\nb,0.2\nc,0.2\n", "utf-8")
    (line,) = modules[1].differences(new, old, {"keys": ["name"]})
    assert "('c',)" in line
    new.write_text("# note\nname,error\n", "utf-8")
    assert modules[1].differences(new, old, {"keys": ["name"]})


def test_a_table_names_its_script_and_its_options(modules, tmp_path, monkeypatch):
    _digest, check, common = modules
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["pooled_bin_size.py", "--repeats", "10"])
    monkeypatch.setattr(common, "START", float("inf"))
    common.write_csv("a.csv", [{"n": 1, "error": ".5"}], "numpy 2.4")
    lines = (tmp_path / "a.csv").read_text("utf-8").splitlines()
    assert lines[:2] == ["# numpy 2.4", "# benchmarks/pooled_bin_size.py --repeats 10"]
    total = _digest.total(_digest.code().digests("pooled_bin_size"))
    assert check.header_of(tmp_path / "a.csv") == ("pooled_bin_size", total)
    assert common.read_csv("a.csv") == ("numpy 2.4", [{"n": "1", "error": ".5"}])


def test_rows_of_an_earlier_run_keep_its_digest(modules, tmp_path, monkeypatch):
    _, check, common = modules
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["pooled_bin_size.py"])
    (tmp_path / "a.csv").write_text(f"# note\n{common.DIGEST}old\nn\n1\n", "utf-8")
    common.write_csv("a.csv", [{"n": 1}, {"n": 2}], "note", keeps_rows=True)
    assert check.header_of(tmp_path / "a.csv") == ("pooled_bin_size", "old")


def test_no_digest_of_code_that_was_changed_while_it_ran(
    modules, tmp_path, monkeypatch
):
    _, check, common = modules
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["pooled_bin_size.py"])
    monkeypatch.setattr(common, "START", 0.0)
    common.write_csv("a.csv", [{"n": 1}], "note")
    assert check.header_of(tmp_path / "a.csv") == ("pooled_bin_size", None)


def test_every_result_has_a_quick_row_of_its_script(modules):
    check = modules[1]
    made = {}
    for script, runs in check.quick_runs().items():
        for run in runs:
            for name in run["files"]:
                assert made.setdefault(name, script) == script
    for path in sorted(check.RESULTS.glob("*.csv")):
        assert check.header_of(path)[0] == made.get(path.name), path.name


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(CHECK), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.slow
def test_all_results_are_fresh():
    done = run()
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.slow
def test_files_that_are_called_older_are_older(modules):
    older = modules[1].OLDER
    done = run("--older")
    assert done.stdout.split() == sorted(older)
    assert all(reason.endswith(".") for reason in older.values())


@pytest.mark.slow
def test_quick_rows_equal_the_committed_ones():
    names = ["pooled_bin_size.csv"]
    if "SKCALIB_DATA" in os.environ:
        names += ["entities.csv", "skewed_tag.csv"]
    before = {name: (BENCHMARKS / "results" / name).read_bytes() for name in names}
    done = run("--quick", *names)
    assert done.returncode == 0, done.stdout
    assert all(f"{name}: equal" in done.stdout for name in names)
    for name, content in before.items():
        assert (BENCHMARKS / "results" / name).read_bytes() == content
