"""Every number in a table of the guide is in a committed CSV that its page cites."""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guide"
BENCHMARKS = ROOT / "benchmarks"
RESULTS = BENCHMARKS / "results"

# Tables by page and first headings, and why their numbers are not in a CSV.
NOT_MEASURED = {
    ("choosing.rst", "Goal | Method"): "settings and sizes of bins",
    ("data.rst", "function | data"): "sizes of data sets, which their fetchers check",
    ("event_corpora.rst", "the paper | free data"): "sentences about the tables below",
    ("scale.rst", "what | unit"): "planned from the costs measured above",
    ("scale.rst", "what | 100 mentions"): "planned from the costs measured above",
    ("theory.rst", "part | exact (up to rounding)"): "confidence levels",
}

# Pages whose tables have names of functions, schemes and options, and no measurements.
PAGES_OF_NAMES = {"coming_from.rst", "counting.rst"}

# Tables whose rows take numbers from several rows of a CSV. The numbers of a row are in
# this CSV, but not in one row of it. The first column has the names of rows.
PIVOTED = {
    ("bin_size.rst", "model | rows × classes"): "pooled_bin_size.csv",
    ("bin_size.rst", "bin size | calibrated: plug-in square"): "bin_size.csv",
    ("coref_corpora.rst", "offset of NEW | LitBank, by CoNLL F1"): "coref_offsets.csv",
    ("corrected_counts.rst", "Corpus | sd, mix .5"): "corrected_counts_design.csv",
    ("corrected_counts.rst", "Corpus | corrected"): "corrected_counts.csv",
    ("event_corpora.rst", "question | 2003"): "events_ewt.csv",
    ("judged.rst", "interval | 20 labels"): "judged_scores_summary.csv",
    ("intervals.rst", "interval | lowest"): "coverage.csv",
    ("intervals.rst", "probabilities | labels"): "coverage.csv",
    ("scale.rst", "function | 10^5 pairs"): "memory.csv",
    ("scale.rst", "function | 10^2 documents"): "memory.csv",
    ("significance.rst", "metric | sentences"): "significance_errors.csv",
    (
        "significance.rst",
        "design effect | sentences as groups",
    ): "significance_errors.csv",
    (
        "significance_studies.rst",
        "sentences | threshold, same model",
    ): "significance_sizes.csv",
    (
        "significance_studies.rst",
        "tweets | threshold, same model",
    ): "significance_names.csv",
    (
        "significance_studies.rst",
        "genre | tokens per sentence",
    ): "significance_genres.csv",
    (
        "significance_studies.rst",
        "p | EWT, other half",
    ): "significance_prediction.csv",
    ("speed.rst", "function | 10^5"): "speed_calibration.csv",
    ("speed.rst", "mentions | 100 samples"): "speed_events.csv",
    ("speed.rst", " | basic"): "speed_tagging.csv",
}

NUMBER = re.compile(
    r"(?<![\w.^])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:e[-+]?\d+)?(?![\w^]|\.\d)"
)
# Shares may be per cent in the other place; seconds of a CSV may be milliseconds.
SCALES = (1.0, 100.0, 0.01, 1000.0)


@dataclass(frozen=True)
class Table:
    """A list-table of a page."""

    page: str
    rows: list[list[str]]

    @property
    def key(self):
        return self.page, " | ".join(self.rows[0][:2])


def tables_of(page):
    """Yield the list-tables of a page."""
    lines = (GUIDE / page).read_text("utf-8").split("\n")
    for start, line in enumerate(lines):
        if not line.lstrip().startswith(".. list-table::"):
            continue
        indent = len(line) - len(line.lstrip())
        rows = []
        for text in lines[start + 1 :]:
            if text.strip() and len(text) - len(text.lstrip()) <= indent:
                break
            row, cell = re.match(r"\s*\* -(.*)", text), re.match(r"\s+-( .*)?$", text)
            if row:
                rows.append([row[1].strip()])
            elif rows and cell:
                rows[-1].append((cell[1] or "").strip())
            elif rows and text.strip():
                rows[-1][-1] += " " + text.strip()
        yield Table(page, rows)


def numbers_in(text):
    """Return the numbers of a text, each with half a unit of its last decimal."""
    found = []
    for each in NUMBER.findall(text.replace("−", "-")):
        mantissa, _, exponent = each.partition("e")
        decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
        found.append((float(each.replace(",", "")), 0.5 * 10.0**-decimals))
    return found


@cache
def numbers_of_csv(name):
    """Return the numbers of a committed CSV: values, halves of a unit, and rows."""
    with (RESULTS / name).open(newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    found = [
        (value, half, i)
        for i, row in enumerate(csv.reader(lines[1:]))
        for cell in row
        for value, half in numbers_in(cell)
    ]
    return np.array(found).reshape(-1, 3).T


@cache
def cited(page):
    """Return the CSVs that a page names, and those of the benchmarks that it names."""
    text = (GUIDE / page).read_text("utf-8")
    names = {path.name for path in RESULTS.glob("*.csv") if path.name in text}
    for script in re.findall(r"benchmarks/(\w+\.py)", text):
        source = (BENCHMARKS / script).read_text("utf-8")
        starts = tuple(re.findall(r'f"(\w+)\{', source))
        for path in RESULTS.glob("*.csv"):
            if path.name in source or (starts and path.stem.startswith(starts)):
                names.add(path.name)
    return sorted(names)


def rows_with(number, name):
    """Return the rows of a CSV that have a number, rounded as the number is.

    The sign is that of the order of two systems, which a page may turn round.
    """
    x, half = number
    values, halves, rows = numbers_of_csv(name)
    is_there = np.zeros(values.size, dtype=bool)
    for scale in SCALES:
        # a finer value of the CSV is rounded too
        own = halves * scale
        slack = half + np.where(own < 0.99 * half, own, 0)
        is_there |= np.abs(abs(x) - np.abs(values) * scale) <= slack + 1e-12
    return set(rows[is_there].tolist())


def in_one_row(numbers, names):
    """Return whether a row of one of the CSVs has all numbers."""
    return any(
        set.intersection(*(rows_with(number, name) for number in numbers))
        for name in names
    )


TABLES = {
    f"{table.page}: {' | '.join(table.rows[0])} | {k}": table
    for page in sorted({path.name for path in GUIDE.glob("*.rst")} - PAGES_OF_NAMES)
    for k, table in enumerate(tables_of(page))
    if any(numbers_in(cell) for row in table.rows[1:] for cell in row)
}


@pytest.mark.parametrize("name", TABLES, ids=lambda name: name.partition(":")[0])
def test_numbers_of_a_table_are_in_a_csv_of_its_page(name):
    table = TABLES[name]
    if table.key in NOT_MEASURED:
        return
    names = cited(table.page)
    assert names, f"{table.page} has a table of numbers and names no CSV"
    for row in table.rows[1:]:
        numbers = [number for cell in row for number in numbers_in(cell)]
        if table.key in PIVOTED:
            pivoted = PIVOTED[table.key]
            numbers = [number for cell in row[1:] for number in numbers_in(cell)]
            lost = [x for x, half in numbers if not rows_with((x, half), pivoted)]
            assert not lost, f"{row} has {lost}, which are not in {pivoted}"
        elif numbers:
            assert in_one_row(numbers, names), f"no row of {names} has all of {row}"


def test_exceptions_are_tables_that_there_are():
    keys = {table.key for table in TABLES.values()}
    assert keys >= {*NOT_MEASURED, *PIVOTED}
    assert all((RESULTS / name).exists() for name in PIVOTED.values())


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.0181 [0.0156, 0.0206]", [0.0181, 0.0156, 0.0206]),
        ("-.0047, +0.5 or 1,078,855", [-0.0047, 0.5, 1078855]),
        ("6.271e-02 of 87%, v1.2 and 10^5.", [0.06271, 87]),
        ("B3, 33306 x 47 or 1.", [33306, 47, 1]),
    ],
)
def test_numbers_are_read_from_text(text, values):
    assert [value for value, _ in numbers_in(text)] == pytest.approx(values)


def test_a_number_that_is_wrong_or_of_another_row_is_missing():
    # of the untuned HMM on tweets
    numbers = numbers_in("0.651 -0.141 0.0339 [0.0318, 0.0360] 0.83")
    assert in_one_row(numbers, ["tagging.csv"])
    for wrong in ("0.652", "0.0361", "0.0212"):
        assert not in_one_row([*numbers, *numbers_in(wrong)], ["tagging.csv"])
