"""The README says what the benchmark measured, and old addresses lead to pages."""

import ast
import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "peers.csv"


def rows_of_the_readme():
    text = (ROOT / "README.rst").read_text("utf-8")
    table = text.partition("\nSpeed\n")[2].split("\nwork  ")[1]
    rows = [re.split(" {2,}", line) for line in table.splitlines()]
    return [row for row in rows if len(row) == 6 and not row[0].startswith("=")][1:]


@pytest.mark.skipif(not RESULTS.exists(), reason="results are not in the sdist")
def test_the_readme_gives_the_times_of_the_benchmark():
    with RESULTS.open(encoding="utf-8") as file:
        measured = {
            (row["work"], f"{int(row['n']):,} {row['unit']}", row["by"]): row
            for row in csv.DictReader(line for line in file if line[0] != "#")
            if row["by"] == "1000 graphs" or row["by"] == row["package"]
        }
    for (work, size, by), row in list(measured.items()):
        if by == "1000 graphs":
            measured[work, size, "scipy"] = row
    rows = rows_of_the_readme()
    assert 5 <= len(rows) <= 8
    for work, size, mine, peer, its, ratio in rows:
        here = float(measured[work, size, "skcalib"]["milliseconds"])
        there = float(measured[work, size, peer]["milliseconds"])
        shown = [float(cell.replace(",", "")) for cell in (mine, its, ratio)]
        assert shown == pytest.approx([here, there, there / here], rel=0.01)
    # At least one row in which another package is faster.
    assert min(float(row[5].replace(",", "")) for row in rows) < 1


def test_an_address_that_moved_leads_to_a_page():
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text("utf-8"))
    (moved,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MOVED"
    )
    for old, new in moved.items():
        page, _, anchor = new.partition("#")
        source = ROOT / "docs" / Path(page).with_suffix(".rst")
        assert not (ROOT / "docs" / f"{old}.rst").exists()
        # An anchor is a title, or a label, in lower case and with hyphens.
        text = source.read_text("utf-8").lower()
        assert anchor in re.sub(r"[^a-z]+", "-", text), new
