"""The inventory of the papers names objects, pages and files that there are."""

import csv
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "developers" / "papers.rst"
COLUMNS = ["no.", "item", "name", "page", "test or result", "state"]


def rows():
    """Return the rows of all tables of the page."""
    lines = PAGE.read_text("utf-8").splitlines()
    cells = [line.strip() for line in lines if re.match(r" +\d", line)]
    return list(csv.DictReader(cells, COLUMNS, skipinitialspace=True))


ROWS = rows()


def found(path):
    """Return the object of a dotted path that begins with a module of skcalib."""
    parts = path.split(".")
    value = importlib.import_module(".".join(parts[:2]))
    for part in parts[2:]:
        value = getattr(value, part)
    return value


def test_there_is_a_row_for_each_item():
    assert [int(row["no."]) for row in ROWS] == list(range(1, 156))
    assert all(None not in row.values() and None not in row for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["no."])
def test_a_row_names_what_there_is(row):
    for path in re.findall(r":(?:func|class|meth):`~(skcalib[\w.]+)`", row["name"]):
        assert callable(found(path))
    (page,) = re.findall(r"^:doc:`/([\w/]+)`$", row["page"])
    assert (ROOT / "docs" / f"{page}.rst").is_file()
    for name in re.findall(r"``([^`]+)``", row["test or result"]):
        folder = ROOT if name.startswith("tests/") else ROOT / "benchmarks" / "results"
        assert (folder / name).is_file(), name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["no."])
def test_a_state_that_is_not_works_has_a_reason(row):
    assert re.fullmatch(r"works|(in part|missing): \w.{15,}", row["state"])
    if row["state"] == "works":
        assert row["test or result"] != "–"
