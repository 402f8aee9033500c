"""Numbers of the guide are those of committed CSVs, in tables and in sentences."""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = [ROOT / "docs" / name for name in ("guide", "experiments")]
PAGES = {
    path.name: path
    for folder in FOLDERS
    for path in sorted(folder.glob("*.rst"))
    if path.stem != "index"
}
BENCHMARKS = ROOT / "benchmarks"
RESULTS = BENCHMARKS / "results"

# Tables by page and first headings, and why their numbers are not in a CSV.
NOT_MEASURED = {
    ("sentences.rst", "Claim | Rule"): "claims and their rules",
    ("choosing.rst", "Goal | Method"): "settings and sizes of bins",
    ("data.rst", "name | data"): "sizes of data sets, which tests check",
    ("event_corpora.rst", "the paper | free data"): "sentences about the tables below",
    ("speed_tables.rst", "what | unit"): "planned from measured costs",
    ("speed_tables.rst", "what | 100 mentions"): "planned from measured costs",
    ("paired_tests.rst", 'metric | ``method="auto"`` uses'): "about, for all data",
    ("theory.rst", "part | exact (up to rounding)"): "confidence levels",
}

# Pages whose tables have names of functions, schemes and options, and no measurements.
PAGES_OF_NAMES = {
    "coming_from.rst",
    "counting.rst",
    "documents_to_label.rst",
    "harness_statistics.rst",
    "your_model.rst",
}

# Tables whose rows take numbers from several rows of a CSV. The numbers of a row are in
# the CSV, but not in one row of it. The first column has the names of rows.
PIVOTED = {
    ("sentences.rst", "world | miscalibrated"),
    ("sentences.rst", "world | claim"),
    ("bin_size.rst", "bin size | calibrated: plug-in square"),
    ("coref_corpora.rst", "offset of NEW | LitBank, by CoNLL F1"),
    ("count_coverage.rst", "Corpus | sd, mix .5"),
    ("count_coverage.rst", "Corpus | corrected"),
    ("judged_coverage.rst", "interval | 20 labels"),
    ("interval_coverage.rst", "interval | lowest"),
    ("interval_coverage.rst", "probabilities | labels"),
    ("paired_tests.rst", "metric | sentences"),
    ("paired_tests.rst", "design effect | sentences as groups"),
    ("significance_studies.rst", "sentences | threshold, same model"),
    ("significance_studies.rst", "tweets | threshold, same model"),
    ("significance_studies.rst", "sentences | UAS, same model"),
    ("significance_studies.rst", "genre | tokens per sentence"),
    ("significance_studies.rst", "p | EWT, other half"),
    ("speed.rst", "work | size"),
    ("speed_tables.rst", "function | 10^5"),
    ("speed_tables.rst", "function | 10^5 pairs"),
    ("speed_tables.rst", "function | 10^2 documents"),
    ("speed_tables.rst", "mentions | 100 samples"),
    ("speed_tables.rst", " | basic"),
}

# Numbers of sentences that are not measured: page, source, numbers.
OTHER_SOURCES = [
    ("answer_files.rst", "limits of archives", "64 256"),
    ("answer_files.rst", "a version of Python, an example, a date", "3.14 90 13"),
    ("bin_size.rst", "size of a corpus", "25,094"),
    ("choosing.rst", "machine epsilon and its logarithm", "2.2e-16 36"),
    ("classifiers.rst", "an example", "70%"),
    ("coming_from.rst", "largest exponent of a float, rounding error", "709 1e-15"),
    ("compare.rst", "an example", "85%"),
    ("compare.rst", "an exit status", "130"),
    ("coref_corpora.rst", "the paper", "4.3"),
    ("coref_corpora.rst", "settings", "177 5000"),
    ("coreference.rst", "an example", "90% 25%"),
    ("count_coverage.rst", "standard error of 95% in 300 samples", "1.3"),
    ("counting.rst", "an example", "335"),
    ("documents_to_label.rst", "quantile of the chi-square distribution", "3.84"),
    ("emoticons.rst", "settings", "5000 454"),
    ("emoticons.rst", "size of the corpus", "35,873"),
    ("emoticons.rst", "mean difference in classification_draws.csv", "3.5"),
    ("emoticons.rst", "F1 and accuracy if all are positive", "66.7 50%"),
    ("event_corpora.rst", "the paper", "193,403"),
    ("event_corpora.rst", "sizes of the corpora and the list", "1,614 29,885 235"),
    ("event_corpora.rst", "settings", "3,750"),
    ("hmm_crf.rst", "the paper", "88.7%"),
    ("hmm_crf.rst", "sizes of the corpora", "7,152 5,964 25,094"),
    ("judged_coverage.rst", "size of nq301_judges", "301"),
    ("language_models.rst", "an example", ".056"),
    ("names_in_tweets.rst", "ratios of errors in entities.csv", "1.5"),
    ("names_in_tweets.rst", "sizes of the corpora", "3,854 4,001"),
    ("significance_studies.rst", "sizes of the corpora", "1,287 1,418"),
    ("significance_studies.rst", "comment of wmt17_flips.csv", "0.62 23.0"),
    ("significance_studies.rst", "the paper", "1.20 1.51 21"),
    ("significance_studies.rst", "comment of word_alignment_systems", "7,516 26,735"),
    ("significance_studies.rst", "Figure 7 of the paper", "1.12"),
    ("speed.rst", "the paper", "193,403"),
    ("speed.rst", "planned from measured costs", "82 5.5"),
    ("speed.rst", "resolutions of float32 and of the sketch", "1e-6 4e-6"),
    ("speed_tables.rst", "attributes of the sentences, rounded", "350,000"),
    ("speed_tables.rst", "planned from costs and bounds", ".0006 .0025 2.6 26"),
    ("speed_tables.rst", "printed by speed.py taggers", "8e-15"),
    ("speed_tables.rst", "ratios for ten times as many resamples", "80,000"),
    ("speed_tables.rst", "sizes of the corpora", "25,094 4,354,026"),
    ("speed_tables.rst", "the paper", "193,403"),
    ("taggers.rst", "settings", "10,000"),
    ("trees.rst", "settings", "1e-11 25"),
    ("which_test.rst", "exact p-values of the sign test", "0.2405 0.1633"),
    ("which_test.rst", "pairs of 36 systems", "630"),
]

NUMBER = re.compile(
    r"(?<![\w.^])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:e[-+]?\d+)?(?![\w^]|\.\d)"
)
# Shares may be per cent in the other place; seconds of a CSV may be milliseconds.
SCALES = (1.0, 100.0, 0.01, 1000.0)


# The role ``cell``: `number <file | cells of the row | column>`.
CELL = re.compile(r":cell:`([^`<]+?)\s*<([^`>]+)>`")
# The role ``measured``: `file, file`.
MEASURED = re.compile(r":measured:`([^`]+)`")
# Years and small counts need no source, and a confidence level is a setting.
LEVELS = (90, 95, 99)


@dataclass(frozen=True)
class Table:
    """A list-table of a page."""

    page: str
    csvs: list[str]
    rows: list[list[str]]

    @property
    def key(self):
        return self.page, " | ".join(self.rows[0][:2])


def csvs_of(text):
    """Return the CSVs that the roles of a text name."""
    return [name for names in MEASURED.findall(text) for name in names.split(", ")]


def tables_of(page):
    """Yield the list-tables of a page."""
    lines = PAGES[page].read_text("utf-8").split("\n")
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
        yield Table(page, csvs_of(line), rows)


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
    text = PAGES[page].read_text("utf-8")
    names = {path.name for path in RESULTS.glob("*.csv") if path.name in text}
    for script in re.findall(r"benchmarks/(\w+\.py)", text):
        source = (BENCHMARKS / script).read_text("utf-8")
        starts = tuple(re.findall(r'f"(\w+)\{', source))
        for path in RESULTS.glob("*.csv"):
            if path.name in source or (starts and path.stem.startswith(starts)):
                names.add(path.name)
    return sorted(names)


def is_close(number, value, half):
    """Return whether a number is a value, rounded as the number is.

    The sign is that of the order of two systems, which a page may turn round.
    """
    x, own_half = number
    value, half = np.asarray(value), np.asarray(half)
    found = np.zeros(value.shape, dtype=bool)
    for scale in SCALES:
        # a finer value of the CSV is rounded too
        own = half * scale
        slack = own_half + np.where(own < 0.99 * own_half, own, 0)
        found |= np.abs(abs(x) - np.abs(value) * scale) <= slack * (1 + 1e-6)
    return found


def rows_with(number, name):
    """Return the rows of a CSV that have a number."""
    values, halves, rows = numbers_of_csv(name)
    return set(rows[is_close(number, values, halves)].tolist())


def in_one_row(numbers, names):
    """Return whether a row of one of the CSVs has all numbers."""
    return any(
        set.intersection(*(rows_with(number, name) for number in numbers))
        for name in names
    )


@cache
def records(name):
    """Return the rows of a committed CSV as mappings from column to cell."""
    with (RESULTS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def has_cell(row, cell):
    """Return whether a row has a cell, or one that begins as the cell before `*`."""
    if cell.endswith("*"):
        return any(value.startswith(cell[:-1]) for value in row.values())
    return cell in row.values()


def named_cell(target):
    """Return the cell of a CSV that a role names: `file | cells of the row | column`.

    A cell `Beta*` stands for each cell that begins with "Beta". `min column` and `max
    column` are the ends of the column over several rows, `sum column` is its sum, and
    `count` is the number of rows.
    """
    name, *cells, column = (part.strip() for part in target.split("|"))
    rows = [row for row in records(name) if all(has_cell(row, cell) for cell in cells)]
    assert rows, f"no row of {name} has the cells {cells}"
    if column == "count" and column not in rows[0]:
        return str(len(rows))
    end, _, rest = column.partition(" ")
    if column not in rows[0] and end in ("min", "max", "sum"):
        values = [row[rest] for row in rows if numbers_in(row[rest])]
        if end == "sum":
            return f"{sum(map(float, values)):.6f}"
        return {"min": min, "max": max}[end](values, key=lambda x: numbers_in(x)[0])
    found = {row[column] for row in rows}
    assert len(found) == 1, f"{target} names {len(found)} different cells"
    return found.pop()


def split_page(page):
    """Return the paragraphs of sentences of a page, and its code, output and tables."""
    sentences, others, indent, is_doctest = [], [], None, False
    for line in PAGES[page].read_text("utf-8").split("\n"):
        text, depth = line.strip(), len(line) - len(line.lstrip())
        if indent is not None and text and depth <= indent:
            indent = None
        is_doctest = bool(text) and (is_doctest or text.startswith(">>>"))
        if indent is not None or is_doctest:
            others.append(line)
        elif text.endswith("::") or re.match(r"\.\. (?!\[)", text):
            indent = depth
        else:
            sentences.append(line)
    return re.split(r"\n\s*\n", "\n".join(sentences)), "\n".join(others)


def numbers_in_sentences(paragraph):
    """Return the numbers of a paragraph that need a source."""
    names = r"``[^`]*``|:[\w:]+:`[^`]*`|\[\w+\]_|#\d+|\b[A-Z]\w*(-\w+)+"
    text = re.sub(names, "", paragraph)
    text = re.sub(rf"\b({'|'.join(map(str, LEVELS))})%", "", text)
    return [
        (x, half)
        for x, half in numbers_in(text)
        if x != int(x) or (abs(x) > 12 and not 1900 < x < 2100)
    ]


TABLES = {
    f"{table.page}: {' | '.join(table.rows[0])} | {k}": table
    for page in sorted(PAGES.keys() - PAGES_OF_NAMES)
    for k, table in enumerate(tables_of(page))
    if any(numbers_in(cell) for row in table.rows[1:] for cell in row)
}


@pytest.mark.parametrize("name", TABLES, ids=lambda name: name.partition(":")[0])
def test_numbers_of_a_table_are_in_a_csv_of_its_caption(name):
    table = TABLES[name]
    if table.key in NOT_MEASURED:
        return
    names = table.csvs
    assert names, f"the caption of {table.key} names no CSV by :measured:"
    for row in table.rows[1:]:
        numbers = [number for cell in row for number in numbers_in(cell)]
        if table.key in PIVOTED:
            (pivoted,) = names
            numbers = [number for cell in row[1:] for number in numbers_in(cell)]
            lost = [x for x, half in numbers if not rows_with((x, half), pivoted)]
            assert not lost, f"{row} has {lost}, which are not in {pivoted}"
        elif numbers:
            assert in_one_row(numbers, names), f"no row of {names} has all of {row}"


@pytest.mark.parametrize("page", PAGES)
def test_figures_of_results_say_what_they_were_measured_with(page):
    lines = PAGES[page].read_text("utf-8").split("\n")
    starts = [i for i, line in enumerate(lines) if "benchmarks/results/" in line]
    for start in starts:
        if not re.match(r"\.\. (figure|image)::", lines[start]):
            continue
        end = next(
            i for i in range(start + 1, len(lines)) if lines[i][:1] not in ("", " ")
        )
        caption = "\n".join(lines[start:end])
        assert csvs_of(caption), f"{lines[start]} has no :measured: in its caption"


def test_tables_that_scripts_write_say_what_they_were_measured_with():
    for path in RESULTS.glob("*.rst"):
        lines = path.read_text("utf-8").splitlines()
        tables = [line for line in lines if re.match(r"\.\. \w+-table::", line)]
        assert tables
        assert all(map(csvs_of, tables)), path.name


@pytest.mark.parametrize("page", PAGES)
def test_numbers_of_sentences_have_a_source(page):
    paragraphs, others = split_page(page)
    own = np.array(numbers_in(others)).reshape(-1, 2).T
    texts = [text for where, _, text in OTHER_SOURCES if where == page]
    known = {x for text in texts for x, _ in numbers_in(text)}
    lost = [
        f"{number[0]:g} in: {' '.join(paragraph.split())[:60]} ..."
        for paragraph in paragraphs
        for number in numbers_in_sentences(paragraph)
        if number[0] not in known
        and not is_close(number, *own).any()
        and not any(rows_with(number, name) for name in cited(page))
    ]
    assert not lost, f"no source for {lost}"


@pytest.mark.parametrize("page", PAGES)
def test_numbers_that_name_a_cell_are_in_it(page):
    for number, target in CELL.findall(PAGES[page].read_text("utf-8")):
        cell = named_cell(" ".join(target.split()))
        (found,) = numbers_in(number)
        values = numbers_in(cell)
        assert any(is_close(found, *value) for value in values), (
            f"{page} has {number}, and {target} has {cell}"
        )


def test_other_sources_are_of_numbers_in_their_pages():
    for page, _, text in OTHER_SOURCES:
        found = {x for p in split_page(page)[0] for x, _ in numbers_in_sentences(p)}
        assert {x for x, _ in numbers_in(text)} <= found, page


def test_a_cell_is_found_by_its_row_and_column():
    assert named_cell("tagging.csv | ark | HMM, untuned | low") == "0.0318"
    assert named_cell("events_mentions.csv | test | max recall, %") == "86.7"
    assert named_cell("compare_models_passes.csv | Beta* | min least") == "0.92"
    assert named_cell("interval_tuning.csv | count") == "26"
    total = named_cell("events_gum.csv | sum document x country")
    assert float(total) == 61 + 64
    with pytest.raises(AssertionError, match="names 2 different cells"):
        named_cell("events_mentions.csv | test | recall, %")


def test_exceptions_are_tables_that_there_are():
    keys = {table.key for table in TABLES.values()}
    assert keys >= {*NOT_MEASURED, *PIVOTED}


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
    numbers = numbers_in("0.651 -0.141 0.0339 [0.0318, 0.0361] 0.83")
    assert in_one_row(numbers, ["tagging.csv"])
    for wrong in ("0.652", "0.0363", "0.0212"):
        assert not in_one_row([*numbers, *numbers_in(wrong)], ["tagging.csv"])


@pytest.mark.parametrize(("text", "cell"), [("1e-15", "8e-15"), ("5e-121", "0.0")])
def test_a_tiny_number_is_not_equal_to_another_one(text, cell):
    (number,), ((value, _),) = numbers_in(text), numbers_in(cell)
    assert is_close(number, number[0], 0.0)
    assert not is_close(number, value, 0.0)
