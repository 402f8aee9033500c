"""The command line and its command ``skcalib report``."""

import gzip
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from cases import case
from scipy.stats import binom, binomtest

import skcalib
from skcalib.metrics import calibration_error_interval, score_decomposition

N = 200


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture(scope="module")
def q(y):
    return np.random.default_rng(1).beta(1 + y, 2 - y).round(4)


def delimited(columns, delimiter=","):
    rows = zip(*columns.values(), strict=True)
    lines = [columns, *rows]
    return "".join(delimiter.join(map(str, line)) + "\n" for line in lines)


def json_lines(columns):
    rows = zip(*columns.values(), strict=True)
    return "".join(
        json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows
    )


def write(name, text):
    """Write a file and return its name."""
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


@pytest.fixture
def columns(y, q):
    return {"y": y.tolist(), "q": q.tolist()}


@pytest.fixture
def file(columns):
    return write("answers.csv", delimited(columns))


# The numbers


def test_ece_and_mce_are_of_distances_in_ten_equal_bins(numbers, file, y, q):
    cell = np.clip(np.ceil(q * 10).astype(int) - 1, 0, 9)
    distances = [abs((q - y)[cell == k].sum()) for k in range(10)]
    found = numbers(file)
    assert found["ece"] == pytest.approx(sum(distances) / N)
    assert found["mce"] == pytest.approx(max(distances / np.bincount(cell)))


def test_the_brier_score_is_taken_apart_as_in_the_metric(run, numbers, file, y, q):
    found = numbers(file)["brier"]
    assert found["adaptive"]["score"] == pytest.approx(np.mean((q - y) ** 2))
    assert found["adaptive"] == pytest.approx(score_decomposition(y, q).to_dict())
    expected = score_decomposition(y, q, method="isotonic").to_dict()
    assert found["isotonic"] == pytest.approx(expected)
    run("report", file, "--no-figure", "--html", "page.html")
    out = Path("page.html").read_text("utf-8")
    # On the page, the printed parts make up the printed score.
    whole = float(re.search(r"Brier score</th><td[^>]*>(0\.\d{4})<", out)[1])
    sums = re.findall(r"Brier score = (0\.\d{4}) (.*)</p>", out)
    assert len(sums) == 2
    for first, rest in sums:
        terms = re.findall(r"([+-]) (0\.\d{4})", rest)
        assert len(terms) == 2
        total = float(first) + sum(float(sign + number) for sign, number in terms)
        assert total == pytest.approx(whole, abs=2.1e-4)


def test_each_tenth_of_the_probabilities_is_compared_with_its_outcomes(
    numbers, file, y, q
):
    regions = numbers(file)["regions"]
    assert len(regions) == 10
    for k, region in enumerate(regions):
        inside = (q > k / 10) & (q <= (k + 1) / 10)
        assert (region["from"], region["to"]) == pytest.approx((k / 10, (k + 1) / 10))
        assert region["n"] == inside.sum()
        assert region["mean_probability"] == pytest.approx(q[inside].mean())
        assert region["frequency"] == pytest.approx(y[inside].mean())
        wilson = binomtest(int(y[inside].sum()), int(inside.sum())).proportion_ci(
            method="wilson"
        )
        ends = region["frequency_low"], region["frequency_high"]
        assert ends == pytest.approx((wilson.low, wilson.high), abs=1e-9)
        expected = "fits"
        if q[inside].mean() > wilson.high:
            expected = "too high"
        elif q[inside].mean() < wilson.low:
            expected = "too low"
        assert region["verdict"] == expected


def test_more_than_twenty_stated_probabilities_go_into_tenths(numbers):
    for n_values, n_regions in [(20, 20), (21, 10)]:
        with case(n_values):
            q = np.linspace(0.01, 0.99, n_values).round(4).tolist()
            columns = {"y": [0, 1] * n_values, "q": q * 2}
            regions = numbers(write("many.csv", delimited(columns)))["regions"]
            assert len(regions) == n_regions


def test_the_guide_shows_what_is_printed(run):
    page = Path(__file__).parents[2] / "docs" / "guide" / "language_models.rst"
    rng = np.random.default_rng(0)
    stated = np.array([50, 60, 70, 75, 80, 85, 90, 95, 98, 100])
    share = np.array([3, 5, 6, 6, 10, 14, 13, 25, 10, 8]) / 100
    said = rng.choice(stated, 2000, p=share)
    right = rng.random(2000) < 0.5 + 0.8 * (said / 100 - 0.5) ** 1.1
    file = write(
        "answers.jsonl",
        json_lines({"correct": right.tolist(), "confidence": said.tolist()}),
    )
    _, out, _ = run("report", file, "--percent", "--no-figure")
    shown = page.read_text("utf-8")
    for line in out.splitlines():
        assert not line or f"    {line}\n" in shown


def test_the_level_can_be_chosen(numbers, file, y, q):
    found = numbers(file, "--confidence-level", 0.5)
    interval = calibration_error_interval(y, q, confidence_level=0.5)
    assert found["calibration_error"]["high"] == pytest.approx(interval.high)
    # The lower end of the mid-P interval: P(more) + P(as many) / 2 is a quarter.
    binomial = binom(N, found["overall"]["frequency_low"])
    assert binomial.sf(y.sum()) + binomial.pmf(y.sum()) / 2 == pytest.approx(0.25)


# The forms of a file


FORMS = {
    "plain.csv": "y,q\n1,0.5\n0,0.25\n1,1\n",
    "windows.csv": "\ufeffy,q\r\n1,0.5\r\n0,0.25\r\n1,1\r\n",
    "old_mac.csv": "y,q\r1,0.5\r0,0.25\r1,1\r",
    "quoted.csv": '"y","q","text"\n"1","0.5","a, ""b"""\n0,0.25,"c\nd"\n1,1,\n',
    "spaces.csv": " y , q \n 1 , 0.5 \n0,0.25\n1, 1\n",
    "blank_lines.csv": "y,q\n1,0.5\n\n0,0.25\n\n1,1\n\n",
    "no_last_newline.csv": "y,q\n1,0.5\n0,0.25\n1,1",
    "exponents.csv": "y,q\n1,5e-1\n0,.25\n1,1.\n",
    "index.csv": ",y,q\n0,1,0.5\n1,0,0.25\n2,1,1\n",
    "no_name.csv": ",y,q,\n0,1,0.5,\n1,0,0.25,\n2,1,1,\n",
    "words.csv": "y,q\nTrue,0.5\nfalse,0.25\nTRUE,1\n",
    "yes.csv": "y,q\nyes,0.5\nno,0.25\nY,1\n",
    "right.csv": "y,q\ncorrect,0.5\nincorrect,0.25\nright,1\n",
    "signs.csv": "y,q\n1,0.5\n-1,0.25\n1,1\n",
    "floats.csv": "y,q\n1.0,0.5\n0.0,0.25\n1.00,1\n",
    "numbers.jsonl": '{"y": 1, "q": 0.5}\n{"y": 0, "q": 0.25}\n{"y": 1, "q": 1}\n',
    "strings.jsonl": '{"y":"1","q":"0.5"}\n{"y":"0","q":"0.25"}\n{"q":"1","y":"1"}\n',
    "booleans.jsonl": '{"y":true,"q":0.5}\n\n{"y":false,"q":0.25}\n{"y":true,"q":1}\n',
    "windows.jsonl": '\ufeff{"y":1,"q":0.5}\r\n{"y":0,"q":0.25}\r\n{"y":1,"q":1}\r\n',
    "more.jsonl": '{"y":1,"q":0.5,"x":[1,{}]}\n{"y":0,"q":0.25}\n{"y":1,"q":1.0}\n',
    "semicolons.csv": "y;q\n1;0,5\n0;0,25\n1;1\n",
    "tabs.csv": "y\tq\n1\t0.5\n0\t0.25\n1\t1\n",
    "commas.tsv": "y,q\n1,0.5\n0,0.25\n1,1\n",
    "pipes.txt": "y|q\n1|0.5\n0|0.25\n1|1\n",
    "array.json": '[{"y":1,"q":0.5},{"y":0,"q":0.25},\n{"y":1,"q":1}]',
    "any_name": "y,q\n1,0.5\n0,0.25\n1,1\n",
    "separator.jsonl": '{"y":1,"q":0.5,"t":"\u2028"}\n{"y":0,"q":0.25}\n{"y":1,"q":1}',
}


def test_the_usual_forms_of_a_file_are_read(numbers):
    for name, text in FORMS.items():
        with case(name):
            found = numbers(write(name, text))
            assert found["n"] == 3
            assert found["overall"]["frequency"] == pytest.approx(2 / 3)
            assert found["overall"]["mean_probability"] == pytest.approx(1.75 / 3)


def test_a_column_that_says_what_was_right_comes_before_labels(run, y, q):
    names = itertools.product(
        ["label", "y_true", "target"], ["correct", "is_correct", "Correctness"]
    )
    for label, truth in names:
        with case(f"{label}, {truth}"):
            columns = {label: 1 - y, truth: y, "confidence": q, "id": range(N)}
            file = write("both.csv", delimited(columns))
            code, out, err = run("report", file, "--no-figure")
            assert code == 0
            # Graded answers have an accuracy, and labels a frequency.
            assert f"accuracy is {y.mean():.3f} (" in " ".join(out.split())
            assert err == ""
            _, out, err = run("report", file, "--no-figure", "--y-true", label)
            assert f"frequency is {1 - y.mean():.3f} (" in " ".join(out.split())
            assert err == ""


def test_mixed_units_are_an_error_whatever_the_option(run):
    cases = [
        (["87%", "0.87", "92%", "0.5"], "'87%' in line 2, .*'0.87' in line 3"),
        (["0.87", "87%", "1", "0"], "'87%' in line 3, .*'0.87' in lin"),
    ]
    for cells, message in cases:
        file = write("mixed.csv", delimited({"y": [1, 0, 1, 0], "q": cells}))
        for options in ((), ("--percent",)):
            with case(f"{cells}, {options}"):
                code, out, err = run("report", file, *options)
                assert (code, out) == (2, "")
                assert re.search(message, err)
                assert "in one unit" in err
                assert "--percent" not in err


def test_percentages_of_a_rare_class_are_read_as_the_option_says(run):
    # Of rare classes, most percentages are below 1: the mean of four is 1.95%.
    cells = [0.1, 0.2, 0.3, 7.2]
    file = write("rare.csv", delimited({"y": [0, 0, 1, 0], "q": cells}))
    code, out, err = run("report", file, "--percent", "--json")
    assert (code, json.loads(out)["overall"]["mean_probability"]) == (
        0,
        pytest.approx(0.0195),
    )
    assert "3 of 4 cells of 'q' are below 1 and are read as less than 1%" in err
    _, _, err = run("report", file)
    assert "'7.2' in line 5" in err
    assert "in one unit. Use --percent if probabilities run from 0 to 100." in err
    file = write("rarer.csv", delimited({"y": [0, 0, 1, 0], "q": cells[:3] + [1]}))
    code, out, err = run("report", file, "--percent", "--json")
    assert (code, json.loads(out)["overall"]["mean_probability"]) == (
        0,
        pytest.approx(0.004),
    )
    assert "No cell of 'q' is above 1, and 1 is read as 1%." in err


def test_a_few_percentages_below_1_are_read_with_a_note(run):
    file = write("small.csv", delimited({"y": [1, 0, 1, 0], "q": [90, 80, 0.5, 60]}))
    code, out, err = run("report", file, "--percent", "--no-figure")
    assert code == 0
    assert "mean probability is 0.576," in " ".join(out.split())
    assert "1 of 4 cells of 'q' are below 1 and are read as less than 1%" in err


# Groups, parts and missing cells


def test_groups_widen_the_interval_as_in_the_metric(numbers, columns, y, q):
    columns["document"] = [f"d{k // 4}" for k in range(N)]
    found = numbers(write("docs.csv", delimited(columns)), "--groups", "document")
    expected = calibration_error_interval(y, q, groups=np.arange(N) // 4)
    assert found["calibration_error"] == pytest.approx(expected.to_dict())
    assert found["calibration_error"]["n_groups"] == N // 4


def test_each_value_of_a_column_is_reported_by_itself(run, numbers, columns, y, q):
    columns["variant"] = ["old" if k % 2 else "new, shiny" for k in range(N)]
    file = write("models.jsonl", json_lines(columns))
    found = numbers(file, "--by", "variant")
    assert found["n"] == N
    assert found["by"]["column"] == "variant"
    for name, part in (("new, shiny", slice(0, N, 2)), ("old", slice(1, N, 2))):
        expected = calibration_error_interval(y[part], q[part]).to_dict()
        assert found["by"]["values"][name]["calibration_error"] == pytest.approx(
            expected
        )
    _, out, _ = run("report", file, "--by", "variant", "--no-figure")
    assert re.search(r"^new, shiny +100 ", out, re.MULTILINE)


def test_the_first_attempt_names_all_kinds_of_cells_that_cannot_be_read(run):
    cells = ["90%", "", "high", "1.5", "0.5"]
    file = write("bad.csv", delimited({"y": [1, 0, "maybe", 1, 0], "q": cells}))
    code, out, err = run("report", file)
    assert (code, out) == (2, "")
    assert err.count(file) == 1
    for place in (
        "'maybe' in line 4",
        "'90%' in line 2",
        "an empty cell of 'q' in line 3",
        "'high' in line 4",
        "'1.5' in line 5",
    ):
        assert place in err
    file = write("two.csv", delimited({"y": [1, 0, 1], "q": ["90%", "", "high"]}))
    _, _, err = run("report", file, "--percent", "--skip-missing")
    assert "'high' in line 4, which is not a number" in err
    assert "empty" not in err
    assert "'90%'" not in err


def test_control_characters_of_a_value_do_not_reach_the_terminal(run, folder):
    values = ["\x1b[31mred", "a\u202eb", "c\nskcalib", "plain é"]
    columns = {"y": [0, 1] * 8, "q": [0.3, 0.6] * 8, "m": sorted(values * 4)}
    file = write("evil.jsonl", json_lines(columns))
    code, out, _ = run("report", file, "--by", "m")
    assert code == 0
    for shown in ("\\x1b[31mred", "a\\u202eb", "c\\nskcalib", "plain é"):
        assert f"\n{shown} " in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    _, _, err = run("report", file, "--y-true", "\x1b]0;gone")
    assert "\x1b" not in err
    svg = folder / "a.svg"
    run("report", file, "--by", "m", "--output", svg)
    assert "\u202e" not in svg.read_text("utf-8")


def test_many_parts_are_rows_of_one_figure(run, numbers, folder):
    sizes = [2] * 12 + [4, 6] * 6
    part = [f"p{k}" for k, size in enumerate(sizes) for _ in range(size)]
    columns = {"y": [0, 1] * (len(part) // 2), "q": [0.5] * len(part), "m": part}
    file = write("many.csv", delimited(columns))
    code, out, err = run("report", file, "--by", "m", "--output", "a.svg")
    assert code == 0
    assert len(re.findall(r"^p\d+ ", out, re.MULTILINE)) == 24
    assert err == ""
    drawn = set(re.findall(r"<!-- (p\d+)", (folder / "a.svg").read_text("utf-8")))
    assert drawn == {f"p{k}" for k in range(24)}
    assert len(numbers(file, "--by", "m")["by"]["values"]) == 24


def test_rows_with_an_empty_cell_are_left_out_and_counted(run, numbers, columns, y, q):
    columns = {key: list(column) for key, column in columns.items()}
    columns["note"] = [""] * N  # an empty cell that nobody reads is none
    for row in (3, 50):
        columns["q"][row] = ""
    columns["y"][7] = "  "
    file = write("gaps.csv", delimited(columns))
    found = numbers(file, "--skip-missing")
    assert (found["n"], found["n_skipped"]) == (N - 1, 1)
    keep = ~np.isin(np.arange(N), (3, 50, 7))
    assert found["overall"]["frequency"] == pytest.approx(y[keep].mean())
    assert found["without_probability"]["estimate"] == y[[3, 50]].mean()
    _, out, _ = run("report", file, "--skip-missing", "--no-figure")
    assert out.startswith("1 row with an empty cell left out\n")


def test_not_a_number_is_an_empty_cell(run, numbers):
    cases = [
        ("nan.csv", "y,q\n1,0.5\n1,nan\nNaN,0.5\n0,0.5\n"),
        (
            "nan.jsonl",
            '{"y":1,"q":0.5}\n{"y":1,"q":NaN}\n{"y":NaN,"q":1}\n{"y":0,"q":1}',
        ),
    ]
    for name, text in cases:
        with case(name):
            found = numbers(write(name, text), "--skip-missing")
            assert (found["n"], found["n_skipped"]) == (3, 1)
            code, _, err = run("report", name)
            assert code == 2
            assert re.search(
                rf"{name}: must .*an empty cell of .y. in line [234]( |\.$)", err
            )
            assert "--skip-missing" in err


# Cases at the edge


@pytest.mark.parametrize(
    ("y", "q"),
    [
        ([0, 1] * 10, [0.5] * 20),
        pytest.param([1] * 20, [0.9] * 20, marks=pytest.mark.slow),
        pytest.param([0] * 20, [0] * 20, marks=pytest.mark.slow),
        pytest.param([1] * 20, [1] * 20, marks=pytest.mark.slow),
        ([0, 1, 0], [1e-300, 5e-324, 1e-12]),
        ([0, 1], [0.2, 0.5]),
        pytest.param([1, 0] * 10, [1, 0] * 10, marks=pytest.mark.slow),
        ([0, 1] * 10, [1, 0] * 10),
    ],
    ids=[
        "constant",
        "one class",
        "all false, all 0",
        "all true, all 1",
        "tiny",
        "two rows",
        "always right",
        "always wrong",
    ],
)
def test_odd_predictions_have_a_report_and_a_figure(run, numbers, y, q):
    file = write("odd.csv", delimited({"y": y, "q": q}))
    found = numbers(file)
    error = found["calibration_error"]
    assert 0 <= error["low"] <= error["high"] <= 1
    assert error["low"] - 1e-15 <= error["estimate"] <= error["high"]
    assert found["overall"]["mean_probability"] == pytest.approx(np.mean(q))
    assert "NaN" not in json.dumps(found)
    code, out, err = run("report", file)
    assert (code, err) == (0, "")
    assert out.endswith("figure: odd.reliability.png\n")


# The figure


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.png", b"\x89PNG"),
        ("a.svg", b"<?xml"),
        pytest.param("a.pdf", b"%PDF", marks=pytest.mark.slow),
    ],
)
def test_the_figure_has_the_format_of_its_suffix(run, folder, file, name, start):
    code, out, _ = run("report", file, "--output", name)
    assert code == 0
    assert f"figure: {name}" in out
    assert (folder / name).read_bytes().startswith(start)


def test_a_figure_that_cannot_be_written_loses_no_numbers(run, monkeypatch, file):
    for options in [(), ("--json", "--output", "a.png")]:
        with case(options):

            def no_space(*args, **kwargs):
                raise OSError(28, "No space left on device")

            monkeypatch.setattr("matplotlib.figure.Figure.savefig", no_space)
            code, out, err = run("report", file, *options)
            assert code == 2
            assert "No space left on device" in err
            assert "debiased" in out or json.loads(out)["n"] == N
            assert "figure: " not in out


@pytest.mark.parametrize(
    "name",
    [
        "_private",
        "$x_{$",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("été", "a b", "odd%name")),
    ],
)
def test_any_name_of_a_file_and_a_part_can_be_drawn(run, columns, name):
    columns["by"] = [name] * N
    file = write(f"{name}.csv", delimited(columns))
    for arguments in ((file,), (file, "--by", "by")):
        code, out, err = run("report", *arguments)
        assert (code, err) == (0, "")
        assert out.endswith(f"figure: {name}.reliability.png\n")


# What goes wrong


# The text of a table, or of JSON lines, and the message about it.
CSV_ERRORS = [
    ("y,q,q\n1,0.5,0.5\n", "must name each column once. Got 'q' twice"),
    ("a,b\n1,0.5\n", r"--y-true must .* columns are a, b"),
    ("y,q\n1,1\nmaybe,1\n", "'y'. Got 'maybe' in line 3"),
    ("y,q\n1,1\n1,high\n", "'q'. Got 'high' in line 3"),
    ("y,q\n1,1\n0,55\n", r"'55' in line 3, .*\[0, 1\]. Use --percent"),
    ("y,q\n1,1\n0,1e9\n", r"'1e9' in line 3, .*\[0, 1\]"),
    ("y,q\n1,1\n0,-0.5\n", r"'-0.5' in line 3, .*\[0, 1\]"),
    ("y,q\n1,nan\n", "an empty cell of 'q' in line 2"),
    ("y,q\n1,50%\n", "'50%' in line 2.* use --percent"),
    ("y,q,é\n1,1,1\n".encode("latin-1"), "must be a text file in UTF-8"),
    ("y,q\n1,1\n".encode("utf-16"), "must be a text file in UTF-8"),
    ("y,q\n1,2.2\n0,-1.5\n", "logits by scipy.special.expit"),
    ("y,q\n1,-0.1\n0,-2\n", "by exp"),
    ("answer,gold,q\nA,B,1\n", "add a column 'correct' with 1 for each right answer"),
    ('y,q\n1,"0.5\n0,0.5\n', "must close each quote. The row that begins in line 2"),
]
JSON_ERRORS = [
    ("\n\n", "must contain rows"),
    ('{"y":1,"q":true}\n{"y":0,"q":0}', "'true' in line 1, which is not a number"),
    (
        '{"y":1,"q":[0.5]}\n{"y":1,"q":0.5}',
        r"'\[0.5\]' in line 1, which is not a number",
    ),
    ('{"y":[1],"q":0.5}\n{"y":1,"q":0.5}', r"'y'. Got '\[1\]' in line 1"),
    ('{"y":1,"q":1e999}\n{"y":1,"q":1}', r"'Infinity' in line 1, .*\[0, 1\]"),
    ('{"y":1,"q":1}\n{y:1}\n', "a.jsonl must contain valid JSON. Got line 2:"),
    ('{"y":1,"q":1}\n[1, 2]\n', "Got list in number 2"),
    ('{"y":1,"q":1},\n{"y":0,"q":1}\n', "contain valid JSON. Extra data at column 14"),
    ("{}\n{}\n", "--y-true must .* Its columns are "),
    ('{"y":1,"q":' + "1" * 5000 + "}", "valid JSON"),
    ('{"y":1,"q":' + "[" * 99999, "too deeply"),
]
OTHER_FILES = [
    ("a.xlsx", b"\xd0\xcf\x11", "must be a text file in UTF-8, a parq"),
    ("answers", "", "must contain rows. It is empty"),
    ("a.tsv", "y\tq\n1\t0.5\n0\n", "2 cells .* Got 1 in line 3"),
    ("a.csv.gz", gzip.compress(b"y,q\n1,1\n"), "with gunzip"),
]
# The text of a table, options, and the message.
ERRORS_OF_OPTIONS = [
    ("y,q\n,\n", "--skip-missing", "needs an answer with a score"),
    ("y,q,m\n1,0.5,a\n1,0.5,b\n0,0.5,a\n", "--by m", "each value. Got one row of 'b'"),
    ("y,q,g\n1,1,a\n0,1,\n", "--groups g", "no empty cells .* cell of 'g' in line 3"),
    ("q,judge,human\n.2,0,\n.9,1,1\n", "", "--labels.* count FILE --mean --proba"),
    ("q,score,y\n.2,0,\n.9,1,1\n", "", "'y' in line 2. .*--labels.* count FILE --m"),
    ("y,q\n0,\n1,.9\n", "", "cell of 'q' in line 2.$"),
    ("y,q\n1,50\n0,101\n", "--percent", r"'101' in line 3, .* outside \[0, 100\]"),
    ("y,q\n1,1\n0,0\n", "--y-true q --y-proba q", "name different columns .*'q' for"),
    ("y,q,g\n1,1,a\n0,0.5,a\n", "--groups g", "at least two groups. Got 'a' in every"),
]


# The most probable outcome of these three answers.
THREE = "y,q,m\n0,0.2,few\n1,0.7,few\n1,0.9,few\n"


def texts_of(run, *arguments):
    """Return the text and the page of a report, and its numbers."""
    code, out, err = run("report", *arguments, "--no-figure", "--html", "p.html")
    assert (code, err) == (0, "")
    found = json.loads(run("report", *arguments, "--json")[1])
    return " ".join(out.split()), Path("p.html").read_text("utf-8"), found


def test_fewer_than_five_answers_are_not_tested(run, folder):
    Path("a.csv").write_text(THREE)
    text, page, found = texts_of(run, "a.csv")
    error = found["calibration_error"]
    assert error["p_value"] is None
    assert error["low"] == 0
    for shown in (text, page):
        assert "Too few answers to test calibration: at least 5 independent" in shown
        assert "rejected" not in shown
        assert "Recalibrate" not in shown
        assert "confident" not in shown
    assert "perfect calibration not tested too few answers" in text


def test_a_part_with_few_answers_is_not_tested_and_not_counted(run, folder):
    many = "".join(f"0,0.{6 + k % 4},many\n" for k in range(40))
    Path("a.csv").write_text(THREE + many)
    text, page, found = texts_of(run, "a.csv", "--by", "m")
    parts = found["by"]["values"]
    assert parts["few"]["calibration_error"]["p_value"] is None
    assert parts["few"]["p_value_adjusted"] is None
    # Only one part is tested, so that its p-value is not multiplied.
    p = parts["many"]["calibration_error"]["p_value"]
    assert parts["many"]["p_value_adjusted"] == p < 0.05
    assert "Perfect calibration is rejected for 1 of 1" in text
    assert re.search(r" few 3 0\.667 .* too few none many 40", text)
    (row,) = re.findall(r'<tr><th scope="row">few</th>.*?</tr>', page)
    assert "too few" in row


def test_one_frequency_has_one_interval(run, folder):
    Path("a.csv").write_text("y,q\n" + "1,0.9\n" * 3)
    text, _, found = texts_of(run, "a.csv")
    # The lower end p of the mid-P interval of 3 of 3: p^3 / 2 is .025.
    assert pytest.approx(0.3684, abs=5e-5) == 0.05 ** (1 / 3)
    assert text.count("0.368 to 1.000") == 4  # verdict, quote, and two tables
    assert "0.439" not in text
    (row,), whole = found["regions"], found["accuracy"]
    for end in ("low", "high"):
        assert row[f"frequency_{end}"] == whole[end]


def test_the_table_of_a_page_shows_that_an_interval_excludes_zero(run, folder):
    # p = .023, and the lower end would be printed as 0
    rows = "".join(f"{int(7 * k % 20 < 14)},0.{8 + k % 2},x\n" for k in range(40))
    Path("a.csv").write_text("y,q,m\n" + rows)
    text, page, found = texts_of(run, "a.csv", "--by", "m")
    assert 0 < found["calibration_error"]["low"] < 0.0005
    assert "0.000 to" not in text
    assert "0.000 to" not in page
    assert page.count("above 0 to") == 5  # card, quote, two tables, and figure
    assert "an interval that begins with (0 excludes 0" in page


def test_what_is_wrong_with_a_file_is_said_with_its_place(run, folder):
    cases = [("a.csv", text, "", message) for text, message in CSV_ERRORS]
    cases += [("a.jsonl", text, "", message) for text, message in JSON_ERRORS]
    cases += [(name, text, "", message) for name, text, message in OTHER_FILES]
    cases += [("a.csv", *each) for each in ERRORS_OF_OPTIONS]
    for name, text, options, message in cases:
        with case(f"{text!r:.60}, {options}, {message}"):
            write(name, text)
            code, out, err = run("report", name, *options.split())
            assert (code, out) == (2, "")
            assert err.startswith("skcalib report: error: ")
            assert err.count(name) == 1
            assert err.count("\n") == 1
            assert re.search(message, err)
            assert [path.name for path in folder.iterdir()] == [name]
            Path(name).unlink()


def test_what_is_wrong_with_an_option_is_said(run, file):
    least = "0.9999999999999999"
    cases = [
        ("--confidence-level", "nan", "--confidence-level must be"),
        ("--confidence-level", least, f"--confidence-level must be .* Got {least}"),
        ("--confidence-level", "high", "invalid float value: 'high'"),
        ("--output", "none/a.png", "No such file .*none/a.png"),
    ]
    for option, value, message in cases:
        with case(f"{option} {value}"):
            code, out, err = run("report", file, option, value)
            assert (code, out) == (2, "")
            assert re.search(message, err)
            assert "Traceback" not in err


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"{skcalib.__version__}\n", "")
