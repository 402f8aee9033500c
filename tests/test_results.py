"""Committed results of benchmarks say with which version they were measured."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skcalib

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
RESULTS = BENCHMARKS / "results"


@pytest.fixture
def common(monkeypatch):
    """Return the module _common of the benchmarks."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("_common")


@pytest.fixture
def table(common, tmp_path, monkeypatch):
    """Return the path of a table that a script writes with options."""
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["benchmarks/tagging.py", "--data", str(tmp_path), "--part", "a b"]
    )
    common.write_csv("a.csv", [{"n": 1, "error": ".5"}], "10 replicates; numpy 2.4")
    return tmp_path / "a.csv"


def numbers_of(version):
    """Return a version as numbers; a development version is before its release."""
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    return numbers, "dev" not in version


@pytest.mark.parametrize(
    "path", sorted(RESULTS.glob("*.csv")), ids=lambda path: path.stem
)
def test_a_table_has_one_header_line(common, path):
    header = common.header_of(path)
    versions = [numbers_of(each) for each in header["version"].split(" to ")]
    assert versions == sorted(versions)
    assert versions[-1] <= numbers_of(skcalib.__version__)
    dates = header["date"].split(" to ")
    assert dates == sorted(dates)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates)
    script = header["command"].partition(" ")[0]
    assert (BENCHMARKS / f"{script}.py").exists()
    second = path.read_text("utf-8").splitlines()[1]
    assert not second.startswith("#")


def test_a_header_contains_version_date_command_machine_and_note(common, table):
    lines = table.read_text("utf-8").splitlines()
    assert lines[1:] == ["n,error", "1,.5"]
    start, note = lines[0].split("; ", 1)
    version, date, command, machine = start.removeprefix("# skcalib ").split(", ")
    assert version == skcalib.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    # only the last part of a path of this machine
    run = "python benchmarks/run.py tagging"
    assert command == f"{run} --data {table.parent.name} --part 'a b'"
    assert re.fullmatch(r"\S+ \d+ cores", machine)
    assert note == "10 replicates; numpy 2.4"
    assert common.header_of(table)["machine"] == machine
    assert common.read_csv("a.csv") == (note, [{"n": "1", "error": ".5"}])


def test_rows_of_an_earlier_run_keep_its_version_and_date(common, table):
    for version, date in (("0.7.0", "2025-01-31"), ("0.7.0 to 0.8.0", "2025-01-31")):
        start = f"# skcalib {version}, {date}, python benchmarks/run.py tagging, x86-64"
        table.write_text(f"{start}; numpy 2.4\nn\n1\n", "utf-8")
        common.write_csv("a.csv", [{"n": 1}, {"n": 2}], "numpy 2.4", keeps_rows=True)
        header = common.header_of(table)
        assert header["version"] == f"0.7.0 to {skcalib.__version__}"
        assert re.fullmatch(r"2025-01-31 to \d{4}-\d\d-\d\d", header["date"])
    common.write_csv("a.csv", [{"n": 1}], "numpy 2.4")
    assert common.header_of(table)["version"] == skcalib.__version__


def test_another_first_line_is_an_error(common, table):
    table.write_text("# numpy 2.4\nn\n1\n", "utf-8")
    with pytest.raises(ValueError, match=r"a\.csv begins with '# numpy 2\.4', which"):
        common.header_of(table)


def test_the_readme_says_what_its_times_were_measured_with(common):
    version = common.header_of(RESULTS / "peers.csv")["version"]
    text = " ".join((ROOT / "README.rst").read_text("utf-8").split())
    assert f"measured with skcalib {version} (``benchmarks/results/peers.csv``)" in text


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / "run.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_benchmarks_are_listed_described_and_run():
    listed = run().stdout.splitlines()
    assert "bin_size" in {line.split()[0] for line in listed}
    assert all(len(line.split()) > 3 for line in listed)
    described = run("--describe", "bin_size").stdout
    assert any(described.splitlines()[0] in line for line in listed)
    done = run("bin_size", "--help")
    assert done.stdout.startswith("usage: bin_size.py")
    failed = run("bin_size", "--no-option")
    assert failed.returncode == 2


def test_benchmarks_of_a_release_exist(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    tool = importlib.import_module("run")
    assert tool.SCRIPTS.keys() >= {*tool.RELEASE, *tool.TIMED}
