"""The command ``skcalib count``."""

import csv
import datetime
import json
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import case

from skcalib.counts import corrected_count

N = 60


def write(name, header, rows):
    """Write a CSV file and return its name."""
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return name


@pytest.fixture
def numbers(run):
    """Give the object that `skcalib count --json` prints."""

    def numbers(*arguments):
        code, out, err = run("count", *arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return numbers


@pytest.fixture
def error(run):
    """Give the message of a command that fails."""

    def error(*arguments):
        code, out, err = run("count", *arguments)
        assert (code, out) == (2, "")
        return err

    return error


@pytest.fixture
def documents():
    """Documents d0, d1, ... whose every third one has a label."""
    rng = np.random.default_rng(0)
    proba = rng.beta(0.5, 1, N).round(3)
    truth = (rng.random(N) < proba).astype(int)
    years = np.repeat([2019, 2020, 2021], N // 3)
    return [
        [f"d{k}", f"{years[k]}-0{1 + k % 9}-11", "AB"[k % 2], proba[k], truth[k]]
        for k in range(N)
    ]


HEADER = ["id", "date", "paper", "p", "label"]


def labelled(documents, keep):
    """Return rows whose label is empty unless `keep` is true for their number."""
    return [[*row[:4], row[4] if keep(k) else ""] for k, row in enumerate(documents)]


@pytest.fixture
def corpus(documents):
    return write("docs.csv", HEADER, labelled(documents, lambda k: k % 3 == 0))


def test_all_documents_labelled_give_the_exact_count(run, numbers, documents):
    file = write("docs.csv", HEADER, documents)
    true = sum(row[4] for row in documents)
    found = numbers(file, "--date", "date", "--by", "paper")
    assert [found[k] for k in ("estimate", "low", "high")] == [true] * 3
    assert list(found["labels_only"].values()) == [true] * 3
    for row in found["table"]:
        part = [
            d[4]
            for d in documents
            if d[1].startswith(row["period"]) and d[2] == row["by"]
        ]
        assert (row["low"], row["high"]) == (sum(part), sum(part))
        assert row["n_documents"] == row["n_labelled"] == len(part)
    _, out, _ = run("count", file)
    assert "without sampling error" in out


def test_labels_that_differ_from_the_model_by_one_add_one_per_document(numbers):
    # All residuals are zero at slope 1, so that the count is that of the model plus N.
    rows = [[k, 2 * k, 2 * k + 1 if k % 2 else ""] for k in range(12)]
    file = write("docs.csv", ["id", "expected", "label"], rows)
    found = numbers(file)
    assert found["uncorrected"] == sum(2 * k for k in range(12)) == 132
    assert found["estimate"] == pytest.approx(132 + 12)


def strata_rows():
    """10 documents, 5 labels, 2 of them yes; 20 documents, 5 labels, 1 of them yes."""
    small = ["yes", "yes", "no", "no", "no", *[""] * 5]
    large = ["yes", "no", "no", "no", "no", *[""] * 15]
    cells = [("small", 0.5, label) for label in small]
    cells += [("large", 0.25, label) for label in large]
    return [[f"d{k}", 0.3, *cell] for k, cell in enumerate(cells)]


@pytest.mark.parametrize("option", ["--strata region", "--inclusion pi"])
def test_strata_and_inclusion_probabilities_weight_the_labels(numbers, option):
    # 10 * 2/5 + 20 * 1/5
    header = ["id", "p", "region", "pi", "label"]
    file = write("docs.csv", header, strata_rows())
    found = numbers(file, *option.split())
    assert found["estimate"] == pytest.approx(8)
    assert found["labels_only"]["estimate"] == pytest.approx(8)
    assert len(found["warnings"]) == 1
    assert found["warnings"][0].startswith("'p' is 0.3 for every document.")


def test_the_numbers_are_those_of_corrected_count(numbers, corpus, documents):
    y = [row[4] if k % 3 == 0 else np.nan for k, row in enumerate(documents)]
    f = [row[3] for row in documents]
    year = [row[1][:4] for row in documents]
    found = numbers(corpus, "--date", "date", "--trend", "--confidence-level", 0.9)
    expected = corrected_count(y, f, periods=year, confidence_level=0.9).to_dict()
    table = expected.pop("table")
    del expected["estimand"]
    assert {name: found[name] for name in expected} == expected
    for name, column in table.items():
        assert [row[name] for row in found["table"]] == column
    slope = corrected_count(y, f, periods=year, estimand="trend", confidence_level=0.9)
    trend = found["trend"][0]
    assert trend["estimate"] == pytest.approx(slope.estimate)
    assert (trend["low"], trend["high"]) == pytest.approx((slope.low, slope.high))


def test_mean_is_the_share_of_documents(numbers, corpus):
    count, mean = numbers(corpus), numbers(corpus, "--mean")
    for name in ("estimate", "low", "high", "uncorrected"):
        assert mean[name] == pytest.approx(count[name] / N)


def counts_of_years(counts):
    """Return documents, all labelled, so many of which are 1 in each year."""
    rows = []
    for year, (n_yes, n_no) in counts.items():
        rows += [[year, 0.5 + 0.01 * (k % 7), 1] for k in range(n_yes)]
        rows += [[year, 0.4 + 0.01 * (k % 7), 0] for k in range(n_no)]
    return write("years.csv", ["year", "p", "label"], rows)


def test_trends_of_the_command_the_function_and_by_hand_are_equal(run, numbers):
    years = {2000: (6, 1), 2001: (4, 2), 2005: (5, 5)}
    file = counts_of_years(years)
    rows = [
        (year, label)
        for year, numbers_of in years.items()
        for label, n in zip((1, 0), numbers_of, strict=True)
        for _ in range(n)
    ]
    year, label = np.transpose(rows)
    said = "3 periods without documents count as 0 in the trend"
    for empty, expected in (("zero", -8.5 / 17.5), ("unobserved", -1 / 14)):
        option = [] if empty == "zero" else ["--empty-periods", empty]
        found = numbers(file, "--date", "year", "--trend", *option)
        assert found["trend"][0]["estimate"] == pytest.approx(expected)
        is_said = any(said in sentence for sentence in found["warnings"])
        assert is_said == (empty == "zero")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", said)
            result = corrected_count(
                label, label, periods=year, estimand="trend", empty_periods=empty
            )
        assert result.estimate == pytest.approx(expected)
    _, out, _ = run("count", file, "--date", "year", "--trend")
    assert "pass --empty-periods unobserved" in " ".join(out.split())


def test_a_year_without_documents_has_no_share_in_the_trend(numbers):
    file = counts_of_years({2000: (3, 1), 2002: (1, 3), 2003: (5, 5)})
    found = numbers(file, "--date", "year", "--trend", "--mean")
    # Shares 3/4, 1/4, 1/2 at times 0, 2, 3
    assert found["warnings"] == []
    slope = np.polyfit([0, 2, 3], [0.75, 0.25, 0.5], 1)[0]
    assert found["trend"][0]["estimate"] == pytest.approx(slope)


def test_trends_of_groups_add_up_to_that_of_the_corpus(numbers, corpus):
    found = numbers(corpus, "--date", "date", "--trend", "--by", "paper")["trend"]
    assert [each["by"] for each in found] == [None, "A", "B"]
    assert found[1]["uncorrected"] + found[2]["uncorrected"] == pytest.approx(
        found[0]["uncorrected"]
    )


def test_names_and_order_of_periods_are_those_of_the_standard_library(numbers):
    names = {
        "day": lambda day: day.isoformat(),
        "week": lambda day: "{}-W{:02}".format(*day.isocalendar()[:2]),
        "month": lambda day: f"{day:%Y-%m}",
        "quarter": lambda day: f"{day.year}Q{-(-day.month // 3)}",
        "year": lambda day: str(day.year),
    }
    first = datetime.date(2019, 11, 1)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        steps = rng.integers(500 // 3**seed + 1, size=8).tolist()
        days = [first + datetime.timedelta(step) for step in steps]
        rows = [[day, 0.1 + 0.1 * k, k % 2] for k, day in enumerate(days)]
        file = write("docs.csv", ["date", "p", "label"], rows)
        n_days = (max(days) - min(days)).days + 1
        between = [min(days) + datetime.timedelta(k) for k in range(n_days)]
        for freq, name in names.items():
            with case(f"{freq}, seed {seed}"):
                found = numbers(file, "--date", "date", "--freq", freq)
                expected = dict.fromkeys(map(name, between), 0)
                for day in days:
                    expected[name(day)] += 1
                table = [(row["period"], row["n_documents"]) for row in found["table"]]
                assert table == [item for item in expected.items() if item[1]]
                n_empty = list(expected.values()).count(0)
                assert found["n_periods_without_documents"] == n_empty


@pytest.mark.parametrize(
    ("date", "freq", "expected"),
    [
        ("03/04/2020", "year", "--date-format %d/%m/%Y or --date-format %m/%d/%Y"),
        ("2020-13-01", "year", "'2020-13-01' is not a date: month must be in 1..12"),
        ("last year", "year", "Got 'last year'"),
        ("2020", "month", "'2020' does not say which month it is"),
        ("2020Q2", "month", "'2020Q2' does not say which month it is"),
        ("2020-02", "week", "'2020-02' does not say which week it is"),
        ("0020-02-01", "day", "are 730,487 periods of a day"),
        ("", "year", "Got an empty cell in line 5"),
        ("2020-05-31 to 2021-06-02", "year", "Got '2020-05-31 to 2021-06-02'"),
        ("2021-01-01 garbage", "year", "Got '2021-01-01 garbage'"),
    ],
)
def test_dates_that_cannot_be_read_are_named(error, date, freq, expected):
    rows = [["2020-02-02", 0.1 * k, k % 2] for k in range(10)]
    rows[3][0] = date
    file = write("docs.csv", ["date", "p", "label"], rows)
    found = error(file, "--date", "date", "--freq", freq)
    assert expected in found
    assert "line 5" in found


@pytest.mark.parametrize(
    "time", ["T23:30:00-05:00", " 23:30", "T10", "T235959Z", " 00:00:00.123456 +01"]
)
def test_a_time_may_follow_a_day(numbers, time):
    rows = [[f"2020-02-0{k % 2 + 1}{time}", 0.1 * k, k % 2] for k in range(10)]
    file = write("docs.csv", ["date", "p", "label"], rows)
    table = numbers(file, "--date", "date", "--freq", "day")["table"]
    assert [row["period"] for row in table] == ["2020-02-01", "2020-02-02"]


@pytest.mark.parametrize(
    ("date_format", "freq", "expected"),
    [
        ("%Y", "month", "'2020' does not say which month it is"),
        ("%m.%Y", "day", "'02.2020' does not say which day it is"),
        ("%m.%Y", "month", None),
        ("%d.%m.%y", "week", None),
        ("%d. %B", "year", "--date-format %d. %B does not have a year, as %Y."),
    ],
)
def test_a_date_format_says_the_period(run, date_format, freq, expected):
    day = datetime.date(2020, 2, 3).strftime(date_format)
    rows = [[day, 0.1 * k, k % 2] for k in range(10)]
    file = write("docs.csv", ["date", "p", "label"], rows)
    options = ("--date", "date", "--date-format", date_format, "--freq", freq)
    code, _, error = run("count", file, *options)
    assert code == (2 if expected else 0)
    assert (expected or "") in error


def test_a_period_without_a_label_has_no_interval(run, numbers, documents):
    rows = labelled(documents, lambda k: k % 3 == 0 and not 20 <= k < 40)
    file = write("docs.csv", HEADER, rows)
    table = numbers(file, "--date", "date")["table"]
    assert [row["n_labelled"] for row in table] == [7, 0, 6]
    assert [row["low"] is None for row in table] == [False, True, False]
    _, out, _ = run("count", file, "--date", "date")
    assert "3 periods, 1 without a label" in out
    assert "1 of 3 rows have no labelled document." in out
    words = " ".join(out.split())
    assert "draw within periods: skcalib sample docs.csv --n 60 --proba p " in words
    assert "--date date --freq year" in words


def test_a_sample_in_the_folder_is_named_if_it_was_not_passed(run, documents):
    rows = [[*row[:2], row[3]] for row in documents]
    file = write("docs.csv", ["id", "date", "p"], rows)
    run("sample", file, "--n", "20", "--proba", "p")
    _, out, _ = run("count", file)
    words = " ".join(out.split())
    assert "docs.sample.csv and docs.design.csv are in this folder" in words
    assert (
        "skcalib count docs.csv --labels docs.sample.csv --design docs.design.csv "
        "--proba p"
    ) in words
    assert "skcalib sample" not in words


def test_pos_label_that_no_label_has_is_an_error(error, numbers, documents):
    words = ["protest", "other"]
    rows = [
        [*row[:4], words[k % 2] if k < 20 else ""] for k, row in enumerate(documents)
    ]
    file = write("docs.csv", HEADER, rows)
    message = error(file, "--pos-label", "protst")
    assert (
        "docs.csv: --pos-label must be a label of 'label', which contains other, "
        "protest. Got 'protst'."
    ) in " ".join(message.split())
    # A sample without any positive document is possible.
    rows = [[*row[:4], "other" if k < 40 else ""] for k, row in enumerate(documents)]
    found = numbers(write("none.csv", HEADER, rows), "--pos-label", "protest")
    assert found["labels_only"]["estimate"] == 0


def test_labels_above_one_of_a_model_of_probabilities(run, error, documents):
    rows = [
        [*row[:4], 100 * row[4] if k % 3 else ""] for k, row in enumerate(documents)
    ]
    file = write("docs.csv", HEADER, rows)
    message = " ".join(error(file).split())
    assert "column 'label': labels must be 0 or 1 or between them" in message
    assert "labels are above 1: 100 in line" in message
    assert "(id d4), " in message
    assert "--pos-label" in message
    write("counts.csv", ["id", "date", "paper", "expected", "label"], rows)
    assert run("count", "counts.csv")[1].startswith("counts.csv: ")


def test_labels_by_the_model_give_a_warning_everywhere(run, numbers, documents):
    chosen = sorted(range(N), key=lambda k: -documents[k][3])[:19]
    file = write("docs.csv", HEADER, labelled(documents, lambda k: k in chosen))
    found = numbers(file)
    assert "If they were chosen by the model or by a keyword" in found["warnings"][0]
    assert "their 'p' is larger than that of the corpus" in found["warnings"][0]
    assert "--inclusion or --design" in found["warnings"][0]
    _, out, _ = run("count", file, "--html", "page.html")
    assert "Do not quote the interval before the warnings are resolved" in out
    assert "Quote:" not in out
    assert "chosen by the model or by a keyword" in " ".join(out.split())
    assert "chosen by the model or by a keyword" in Path("page.html").read_text("utf-8")


def changed(documents, row, column, value):
    rows = labelled(documents, lambda k: k % 3 == 0)
    rows[row][column] = value
    return write("docs.csv", HEADER, rows)


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (3, "", "column 'p' must have a value for every document, including labelled"),
        (3, "nan", "Got an empty cell in line 9"),
        (3, "1.2", "Got '1.2' in line 9, which is outside [0, 1]"),
        (3, "high", "Got 'high' in line 9, which is not a number"),
        (4, "maybe", "must have 1 or 0, yes or no, or a count. Got 'maybe' in line 9"),
        (4, "-1", "Got '-1' in line 9"),
        (4, "inf", "Got 'inf' in line 9"),
    ],
)
def test_cells_that_cannot_be_read_are_named(error, documents, column, value, expected):
    assert expected in error(changed(documents, 7, column, value))


def test_an_inclusion_probability_of_zero_names_the_document(error):
    rows = strata_rows()
    rows[12][3] = 0
    file = write("docs.csv", ["id", "p", "region", "pi", "label"], rows)
    found = error(file, "--inclusion", "pi")
    assert "--inclusion or --design must be positive" in found
    assert "Got 0 in line 14 (id d12)" in found


def test_two_possible_columns_are_an_error_that_names_both(error):
    rows = [[0.1, 0.2, k % 2] for k in range(10)]
    file = write("docs.csv", ["p", "score", "label"], rows)
    assert "'score' and 'p' may each be meant. Choose --proba COL" in error(file)
    file = write("docs.csv", ["p", "gold", "label"], rows)
    assert "'label' and 'gold' may each be meant. Choose --label COL" in error(file)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--trend", "--trend needs --date COL"),
        ("--empty-periods zero", "--empty-periods applies to --trend of counts"),
        ("--freq month", "--freq needs --date COL"),
        ("--proba p --expected p", "--proba and --expected exclude each other"),
        ("--by colour", "--by must name a column. Got 'colour'"),
        ("--label p", "--label and --proba must be different columns. Got 'p'"),
        ("--by p", "column 'p' is read as numbers and as names"),
        ("--html no/page.html", "No such file or directory: 'no/page.html'"),
        ("--missing drop", "--missing drop needs --labels or --design"),
    ],
)
def test_wrong_options_are_named(error, corpus, arguments, expected):
    proba = () if "--proba" in arguments else ("--proba", "p")
    assert expected in error(corpus, *proba, *arguments.split())


def test_groups_are_what_was_drawn(numbers, error):
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(20), 5)
    p = rng.random(100).round(2)
    y = (rng.random(100) < p).astype(float)
    y[group % 2 == 1] = np.nan
    cells = ["" if np.isnan(each) else int(each) for each in y]
    header = ["paper", "p", "label"]
    file = write("docs.csv", header, zip(group, p, cells, strict=True))
    expected = corrected_count(y, p, groups=group)
    found = numbers(file, "--groups", "paper")
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))
    cells[3] = ""
    file = write("docs.csv", header, zip(group, p, cells, strict=True))
    assert "line 5 has no label" in error(file, "--groups", "paper")


def test_sizes_change_the_estimate_as_in_corrected_count(numbers):
    rng = np.random.default_rng(2)
    size = rng.integers(1, 50, 80)
    f = (0.3 * size).round(1)
    y = np.where(np.arange(80) % 2, rng.poisson(0.4 * size), np.nan)
    cells = ["" if np.isnan(each) else int(each) for each in y]
    header = ["expected", "words", "label"]
    file = write("docs.csv", header, zip(f, size, cells, strict=True))
    expected = corrected_count(y, f, size=size)
    assert numbers(file, "--size", "words")["low"] == pytest.approx(expected.low)
    assert numbers(file)["low"] != pytest.approx(expected.low)


def test_dates_of_a_parquet_file_are_read(numbers, corpus):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(corpus, parse_dates=["date"])
    frame["day"] = frame["date"].dt.date
    frame.to_parquet("same.parquet")
    expected = numbers(corpus, "--date", "date")["table"]
    assert numbers("same.parquet", "--date", "date")["table"] == expected
    assert numbers("same.parquet", "--date", "day")["table"] == expected


def test_names_of_the_figure_are_no_formulas(run):
    names = ["$\\frac{1$", "US$5_x and $10"]
    rows = [
        [k, k % 10 / 10, k % 2, names[k % 2], f"20{k % 5 + 10}-01-01"]
        for k in range(40)
    ]
    write("docs.csv", ["id", "p", "label", "paper", "date"], rows)
    options = ("--by", "paper", "--date", "date", "--html", "page.html")
    code, _, err = run("count", "docs.csv", *options)
    assert (code, err) == (0, "")
    # The letters of an SVG are drawn. A comment before them says what they are.
    page = Path("page.html").read_text("utf-8")
    assert all(f"<!-- {name} -->" in page for name in names)


def test_the_figure_has_at_most_six_groups_and_says_so(run, documents):
    rows = labelled(documents, lambda k: k % 3 == 0)
    for k, row in enumerate(rows):
        row[2] = f"paper {k % 8}"
    file = write("docs.csv", HEADER, rows)
    options = ("--by", "paper", "--date", "date", "--html", "page.html")
    _, _, err = run("count", file, *options)
    assert "the figure shows the 6 largest of the 8 values of 'paper'" in err


def test_the_first_documents_are_not_taken_for_a_sample(run, documents):
    rows = labelled(documents, lambda k: k < 30)
    words = " ".join(run("count", write("docs.csv", HEADER, rows))[1].split())
    assert "The labelled documents are the first 30 of the file." in words
    rows = labelled(documents, lambda k: k % 3 == 0)
    assert "are the first" not in run("count", write("docs.csv", HEADER, rows))[1]


def test_the_word_none_is_a_label_if_a_label_is_named(numbers, documents):
    words = {0: "none", 1: "protest"}
    rows = [
        [*row[:4], words[int(row[4])] if k % 3 == 0 else ""]
        for k, row in enumerate(documents)
    ]
    found = numbers(write("docs.csv", HEADER, rows), "--pos-label", "protest")
    expected = numbers(
        write("01.csv", HEADER, labelled(documents, lambda k: k % 3 == 0))
    )
    assert found["n_labelled"] == expected["n_labelled"]
    assert found["estimate"] == expected["estimate"]


def proposed(text, command):
    """Return the arguments of a command that a text proposes in a line or more."""
    found = re.search(rf"skcalib ({command} (?:.+\n?)+?)(?=- |\n|\Z)", text)
    return shlex.split(found[1])


def fill_in(sample):
    """Write labels into a sample."""
    with open(sample, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    write(sample, header, [[*row[:-1], k % 3] for k, row in enumerate(rows)])


def test_proposed_commands_run_as_printed_and_repeat_the_options(run):
    # No column has a usual name, and dates are ambiguous without their format.
    days = [f"0{1 + k % 9}.0{1 + k % 8}.2020" for k in range(N)]
    header = ["nr", "datum", "m", "events"]
    rows = [[k, days[k], 0.1 * (k % 7), k % 3 if k % 8 < 3 else ""] for k in range(N)]
    corpus = write("docs.csv", header, rows)
    options = ("--id", "nr", "--expected", "m", "--date", "datum", "--freq", "month")
    options = (*options, "--date-format", "%d.%m.%Y")
    months = [f"2020-0{k}" for k in range(1, 9)]

    def check(text):
        """Run the proposed sample, label it, and run the count that it proposes."""
        code, out, err = run(*proposed(text, "sample"))
        assert (code, err) == (0, "")
        count = proposed(out, "count")
        fill_in(count[count.index("--labels") + 1])
        code, out, err = run(*count, "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert found["design"]["strata"] == months
        assert [row["period"] for row in found["table"]] == months
        assert found["model"] == {"column": "m", "kind": "expected count"}

    code, text, _ = run("count", corpus, "--label", "events", *options)
    assert code == 0
    check(text)
    # A sample in the folder is not replaced.
    _, text, _ = run("count", corpus, "--label", "events", *options)
    assert "--output docs.periods.csv" in " ".join(text.split())
    check(text)


def test_a_proposed_count_repeats_what_is_estimated(run):
    rows = [[k, 0.1 * (k % 7)] for k in range(N)]
    corpus = write("docs.csv", ["nr", "m"], rows)
    options = ("--id", "nr", "--expected", "m", "--mean", "--confidence-level", 0.9)
    _, text, _ = run("count", corpus, *options)
    assert run(*proposed(text, "sample"))[0] == 0
    fill_in("docs.sample.csv")
    _, text, _ = run("count", corpus, *options)
    code, out, _ = run(*proposed(text, "count"), "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["estimand"], found["confidence_level"]) == ("mean", 0.9)


def test_a_proposed_sample_has_two_documents_of_each_period(run):
    first = datetime.date(2020, 1, 1)
    days = [first + datetime.timedelta(k // 3) for k in range(240)]
    rows = [
        [k, days[k], 0.1 * (k % 7), k % 2 if k % 4 == 0 else ""] for k in range(240)
    ]
    corpus = write("docs.csv", ["id", "date", "p", "label"], rows)
    _, text, _ = run("count", corpus, "--date", "date", "--freq", "day")
    command = proposed(text, "sample")
    assert command[command.index("--n") + 1] == "160"
    assert run(*command)[0] == 0


def test_a_line_does_not_end_within_an_option(run):
    write("docs.csv", ["nr", "p"], [[k, 0.01 * k] for k in range(N)])
    assert run("sample", "docs.csv", "--n", 20, "--id", "nr")[0] == 0
    for n in range(20, 40):  # the number of letters moves the end of the line
        name = n * "p"
        write("docs.csv", ["nr", name], [[k, 0.01 * k] for k in range(N)])
        options = ("--id", "nr", "--proba", name, "--confidence-level", 0.9)
        _, text, _ = run("count", "docs.csv", *options)
        assert "--confidence-level 0.9" in " ".join(text.split())


def test_decisions_are_those_of_the_table_of_trends(run, numbers, corpus):
    rows = [
        [2000 + k % 4, "AB"[k % 2], 0.2 * (k % 4), int(k % 4 > 1)] for k in range(N)
    ]
    file = write("years.csv", ["year", "paper", "p", "label"], rows)
    options = ("--date", "year", "--trend", "--by", "paper")
    decisions = numbers(file, *options)["decisions"]["trend"]
    assert decisions == {"all": "rises", "A": "rises", "B": "rises"}
    _, text, _ = run("count", file, *options)
    assert len(re.findall(r"^(?:all|A|B) .* rises$", text, re.MULTILINE)) == 3
    options = ("--date", "date", "--trend", "--by", "paper")
    decisions = numbers(corpus, *options)["decisions"]["trend"]
    _, text, _ = run("count", corpus, *options)
    for name, verdict in decisions.items():
        assert re.search(rf"^{name} .* {verdict}$", text, re.MULTILINE)
    assert numbers(corpus)["decisions"] == {"trend": None}


def test_a_part_with_the_name_of_the_whole_does_not_replace_it(numbers):
    rows = [[2000 + k % 4, ["all", "B"][k % 2], 0.5, int(k % 4 > 1)] for k in range(N)]
    rows = [[*row[:3], 1 - row[3] if row[1] == "all" else row[3]] for row in rows]
    file = write("years.csv", ["year", "paper", "p", "label"], rows)
    found = numbers(file, "--date", "year", "--trend", "--by", "paper")
    whole = found["trend"][0]
    is_open = whole["low"] <= 0 <= whole["high"]
    assert found["decisions"]["trend"]["all"] == (
        "not shown" if is_open else "rises" if whole["low"] > 0 else "falls"
    )


def test_notes_are_in_the_text_the_json_and_the_page(run, numbers, documents):
    rows = labelled(documents, lambda k: k < 20)
    for k, row in enumerate(rows):
        row[2] = f"paper {k % 8}"
    file = write("docs.csv", HEADER, rows)
    options = ("--date", "date", "--by", "paper")
    said = ["are the first 20 of the file", "rows have no labelled document"]
    notes = numbers(file, *options)["notes"]
    _, text, err = run("count", file, *options, "--csv", "t.csv", "--html", "p.html")
    page = Path("p.html").read_text("utf-8")
    for each in said:
        assert sum(each in note for note in notes) == 1
        assert each in " ".join(text.split())
        assert each in page
    drawn = "the figure shows the 6 largest of the 8 values of"
    assert drawn in err
    assert drawn in page


def test_the_page_lists_options_and_versions(run, corpus):
    options = ("--date", "date", "--by", "paper", "--trend", "--proba", "p")
    run("count", corpus, *options, "--html", "page.html")
    page = Path("page.html").read_text("utf-8")
    for option in ("--date", "--freq", "--by", "--trend", "--proba", "--html"):
        assert f">{option}<" in page
    for name in ("skcalib", "Python", "numpy", "scipy"):
        assert re.search(rf">{name}</th><td[^>]*>\d", page)
    assert ">--mean<" not in page


def test_a_group_without_documents_in_a_period_has_no_difference_of_means(run, numbers):
    # B has no documents in 2000, and C has no label there
    each = ["A,2000,1", "A,2001,0", "B,2001,1", "C,2000,", "C,2001,1"] * 4
    rows = [[*part.split(","), 0.5] for part in each]
    file = write("docs.csv", ["paper", "year", "label", "p"], rows)
    options = ("--date", "year", "--by", "paper", "--compare", 2000, 2001, "--mean")
    found = numbers(file, *options)
    _, a, b, c = found["comparison"]["differences"]
    assert (a["estimate"], a["pvalue"], a["pvalue_adjusted"]) == (1, 0, 0)
    assert (b["estimate"], b["low"], b["pvalue"], b["verdict"]) == (
        *[None] * 3,
        "not shown",
    )
    assert c["estimate"] is not None
    assert c["low"] is None
    said = [
        "has no documents, so that its mean and the difference are undefined: B.",
        "has no label, so that the difference has no interval and no p-value: C.",
    ]
    for each in said:
        assert sum(each in note for note in found["notes"]) == 1
    _, text, _ = run("count", file, *options)
    assert re.search(r"^B( +none){5} +not shown$", text, re.MULTILINE)
    assert "nan" not in text


@pytest.mark.parametrize("option", ["--by", "--label", "--size", "--strata"])
def test_the_column_of_the_model_that_another_option_names(error, corpus, option):
    said = error(corpus, option, "p")
    assert "--proba or --expected must name the column of the model's" in said
    assert f"since {option} names 'p', which has a usual name" in said


def test_a_sample_within_rows_gives_each_row_an_interval(run, numbers):
    # "B 1" to "B 3" have few documents in 2001, and a sample misses them
    papers = ["A"] * 60 + ["B 1"] * 3 + ["B 2"] * 2 + ["B 3"]
    rows = [
        [f"d{year}{k}", year, paper, 0.3 + 0.1 * (k % 4), k % 2 if k < 30 else ""]
        for year in (2000, 2001)
        for k, paper in enumerate(papers)
    ]
    file = write("docs.csv", HEADER, rows)
    for dates, within in (
        (["--date", "date"], "periods and 'paper'"),
        ([], "'paper'"),
    ):
        _, out, _ = run("count", file, *dates, "--by", "paper")
        text = " ".join(out.split())
        said = f"For an interval in each row, draw within {within}: skcalib sample "
        assert said in text
        words = shlex.split(text.split(said)[1].split(" - ")[0])
        name = f"s{len(dates)}.csv"
        words = [*words, "--output", name] if "--output" not in words else words
        output = words[words.index("--output") + 1]
        code, _, err = run("sample", *words)
        assert (code, err) == (0, "")
        with open(output, encoding="utf-8-sig") as source:
            sample = list(csv.reader(source))
        write(
            output, sample[0], [[*row[:-1], k % 2] for k, row in enumerate(sample[1:])]
        )
        design = f"{output.removesuffix('.csv')}.design.csv"
        files = ["--labels", output, "--design", design]
        table = numbers(file, *dates, "--by", "paper", *files)["table"]
        assert len(table) == (8 if dates else 4)
        for row in table:
            assert row["n_labelled"] >= min(2, row["n_documents"])
            assert row["low"] is not None


def test_a_warning_about_several_estimates_is_issued_once(numbers):
    # One label has most of the variance of all estimates.
    rows = [[1990 + k // 50, "AB"[k % 2], 2, 2 if k % 2 else ""] for k in range(200)]
    rows[0][3], rows[101][3] = 1, 60
    file = write("docs.csv", ["year", "paper", "n", "label"], rows)
    options = (file, "--expected", "n", "--date", "year", "--trend", "--by", "paper")
    found = numbers(*options, "--compare", 1991, 1992)["warnings"]
    said = [each for each in found if each.startswith("One labelled document has")]
    assert len(said) == 1
    assert "about the count, trend, trend of A, trend of B, difference; the" in said[0]


def test_the_csv_has_trends_and_differences(run, numbers, corpus):
    options = (corpus, "--date", "date", "--by", "paper", "--trend")
    options = (*options, "--compare", 2019, 2021)
    found = numbers(*options)
    run("count", *options, "--csv", "t.csv")
    with open("t.csv") as file:
        rows = list(csv.DictReader(file))
    by_kind = {}
    for row in rows:
        by_kind.setdefault(row["estimand"], []).append(row)
    assert list(by_kind) == ["count", "trend", "2019 minus 2021"]
    expected = zip(
        by_kind.values(),
        (found["table"], found["trend"], found["comparison"]["differences"]),
        strict=True,
    )
    for written, printed in expected:
        for row, each in zip(written, printed, strict=True):
            assert row["by"] == (each["by"] or "")
            assert float(row["estimate"]) == each["estimate"]
            assert row["verdict"] == each.get("verdict", "")


def test_the_figure_marks_partial_periods_and_rows_without_labels(run):
    months = [f"{year}-{month:02}" for year in (2000, 2001) for month in range(1, 13)]
    rows = [[month, paper, 0.5, 1] for month in months[:18] for paper in "AB"]
    rows += [["1999-12", paper, 0.5, ""] for paper in "AC"]
    write("docs.csv", ["date", "paper", "p", "label"], rows)
    for by in ([], ["--by", "paper"]):
        run("count", "docs.csv", "--date", "date", *by, "--html", "p.html")
        page = Path("p.html").read_text("utf-8")
        assert re.findall(r"<!-- (\d{4}\*?) -->", page)[:3] == [
            "1999*",
            "2000",
            "2001*",
        ]
        assert "* 1999: 1 of 12 months; 2001: 6 of 12 months -->" in page
        assert "<!-- without a label (no interval) -->" in page


def test_numbers_that_only_differ_from_0_by_rounding_are_0(run, corpus):
    rows = [[2000 + k % 3, 0.1, 1] for k in range(30)]
    file = write("years.csv", ["year", "p", "label"], rows)
    _, text, _ = run("count", file, "--date", "year", "--trend", "--mean")
    assert re.search(r"^all +\+0 +\+0 to \+0 +\+0 +1 +not shown$", text, re.MULTILINE)
    _, text, _ = run("count", corpus, "--mean")
    assert "the model's mean, corrected by 20 of 60" in " ".join(text.split())


def test_lengths_of_periods_may_be_given(numbers, error):
    # 2, 4 and 3 reports in 6, 12 and 9 months
    years = {2000: (2, 3), 2001: (4, 1), 2002: (3, 2)}
    options = (counts_of_years(years), "--date", "year", "--trend")
    compared = ("--compare", 2000, 2001)
    found = numbers(*options, *compared, "--lengths", "6,12,9")
    assert found["trend"][0]["estimate"] == pytest.approx(0)
    assert found["comparison"]["months"] == [6, 12]
    assert found["comparison"]["differences"][0]["estimate"] == pytest.approx(0)
    assert found["partial_periods"] == "2000: 6 of 12 months; 2002: 9 of 12 months"
    assert numbers(*options)["trend"][0]["estimate"] == pytest.approx(0.5)
    few = (counts_of_years({2000: (6, 6), 2001: (3, 2)}), *options[1:])
    said = "2001 has 5 documents, fewer than half of the 12 of 2000. If a part of it"
    assert said in numbers(*few)["notes"][-1]
    assert not any(said in each for each in numbers(*few, "--mean")["notes"])
    counts_of_years(years)
    for wrong in ("6,12", "6,12,a", "6,12,-1", "0,1,1", "1,1,nan"):
        said = error(*options, "--lengths", wrong)
        assert "--lengths must have 3 positive numbers" in said
    assert "--lengths applies to counts" in error(
        *options, "--lengths", "6,12,9", "--mean"
    )


def test_a_group_that_begins_later_has_its_own_time(run, numbers):
    # A has two documents in each month from 1988 to 1990, and B from July 1989 on
    months = [(year, month) for year in (1988, 1989, 1990) for month in range(1, 13)]
    rows = [
        [f"{year}-{month:02}", paper, 0.5, 1]
        for paper in "AB"
        for year, month in months
        if paper == "A" or (year, month) >= (1989, 7)
        for _ in range(2)
    ]
    file = write("docs.csv", ["date", "paper", "p", "label"], rows)
    options = (file, "--date", "date", "--by", "paper", "--trend")
    counts = {"zero": [0, 12, 24], "unobserved": [24, 24]}
    for empty, of_b in counts.items():
        found = numbers(*options, "--empty-periods", empty)
        _, a, b = found["trend"]
        assert a["estimate"] == pytest.approx(0)
        slope = np.polyfit(range(len(of_b)), of_b, 1)[0]
        assert b["estimate"] == pytest.approx(slope)
        assert b["is_scaled"] == (empty == "unobserved")
        said = "earlier than the corpus: B (1989-07-01 to 1990-12-01)"
        assert sum(said in note for note in found["notes"]) == (empty == "zero")
    # B is in one year
    _, found = numbers(*options, "--freq", "month")["trend"][1:]
    assert found["verdict"] == "rises"


def test_verdicts_on_trends_allow_for_the_number_of_groups(run, numbers):
    rng = np.random.default_rng(1)
    n_years, names = 6, [f"paper {k:02}" for k in range(12)]
    rows = [
        [2000 + int(rng.integers(n_years)), name, 0.5, int(rng.random() < 0.5)]
        for name in names
        for _ in range(40)
    ]
    # Half of the documents of each paper have a label.
    rows = [[*row[:3], row[3] if k % 2 else ""] for k, row in enumerate(rows)]
    file = write("docs.csv", ["year", "paper", "p", "label"], rows)
    options = (file, "--date", "year", "--by", "paper", "--trend")
    whole, *found = numbers(*options)["trend"]
    assert whole["pvalue_adjusted"] == whole["pvalue"]
    # Holm: the smallest of m p-values is multiplied by m, the next one by m - 1, ...
    order = sorted(found, key=lambda each: each["pvalue"])
    least = 0.0
    for k, each in enumerate(order):
        least = max(least, min(1, (len(names) - k) * each["pvalue"]))
        assert each["pvalue_adjusted"] == pytest.approx(least)
        is_outside = not each["low"] <= 0 <= each["high"]
        assert is_outside == (each["pvalue"] < 0.05)
        assert (each["verdict"] != "not shown") == (least <= 0.05)
    assert order[0]["pvalue"] < 0.05 < order[0]["pvalue_adjusted"]
    _, text, _ = run("count", *options)
    assert "use p-values after Holm's correction" in " ".join(text.split())


def test_two_periods_are_compared_per_month_and_trends_of_partial_years_do_not_rise(
    run, numbers
):
    days = ["1989-12", *(f"1990-{k % 12 + 1:02}" for k in range(12))]
    rows = [[day, "AB"[k % 2], 0.5 + 0.01 * k, 1] for k, day in enumerate(days)]
    file = write("docs.csv", ["date", "paper", "p", "label"], rows)
    options = ("--date", "date", "--compare", 1989, 1990)
    found = numbers(file, *options, "--trend", "--by", "paper")
    comparison = found["comparison"]
    assert comparison["months"] == [1, 12]
    # 1 report in a month of 1989, and 12 in the 12 months of 1990
    whole, *papers = comparison["differences"]
    assert (whole["by"], whole["estimate"]) == (None, pytest.approx(0))
    assert [each["estimate"] for each in papers] == pytest.approx([0.5, -0.5])
    assert found["trend"][0]["estimate"] == pytest.approx(0)
    assert found["trend"][0]["is_scaled"]
    assert found["decisions"]["trend"]["all"] == "not shown"
    verdicts = [each["verdict"] for each in comparison["differences"]]
    assert verdicts == ["not shown", "more", "fewer"]
    assert found["partial_periods"] == "1989: 1 of 12 months"
    _, text, _ = run("count", file, *options)
    assert "count of 1989 minus that of 1990, per month (1 and 12 months)" in text
    share = numbers(file, *options, "--mean")["comparison"]
    assert share["months"] is None
    # one report on every day until 3 February 1990
    first = datetime.date(1988, 1, 1)
    days = [first + datetime.timedelta(k) for k in range(366 + 365 + 34)]
    write("days.csv", ["date", "p", "label"], [[day, 0.5, 1] for day in days])
    options = ("days.csv", "--date", "date", "--compare", 1989, 1990, "--trend")
    found = numbers(*options)
    assert found["partial_periods"] == "1990: 1.12 of 12 months"
    assert found["comparison"]["differences"][0]["estimate"] == pytest.approx(0)
    # 366, 365 and 34 * 365 / 34
    assert found["trend"][0]["estimate"] == pytest.approx(-0.5)
    _, text, _ = run("count", *options)
    assert re.search(r"^all +-0.5 +-0.5 to -0.5 ", text, re.MULTILINE)
    assert "Counts of partial periods are scaled to full ones" in " ".join(text.split())
    compared = ("--freq", "month", "--compare", "1990-01", "1990-02")
    found = numbers("days.csv", "--date", "date", *compared)
    assert found["partial_periods"] == "1990-02: 3.26 of 30.4 days"
    assert found["comparison"]["months"] == pytest.approx([1, 3 / 28])
    status, _, error = run("count", file, "--date", "date", "--compare", 1990, 1991)
    assert status == 2
    assert "--compare must have two different periods" in error
    assert "1989, 1990. Got '1990' and '1991'" in error
