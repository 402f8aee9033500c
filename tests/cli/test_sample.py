"""The command ``skcalib sample``, and the way back to ``skcalib count``."""

import csv
import json
import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest

from skcalib.counts import corrected_count

N = 120


def write(name, header, rows):
    """Write a CSV file and return its name."""
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return name


def read(name):
    """Return the rows of a CSV file as dicts."""
    with open(name, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def documents():
    """Rows of documents, and the true label of each id."""
    rng = np.random.default_rng(0)
    proba = rng.beta(0.5, 1, N).round(3)
    truth = rng.random(N) < proba
    quarters = np.repeat(["2020-01-31", "2020-05-01", "2020-11-30"], N // 3)
    rows = [
        [f"d{k}", quarters[k], f"text {k}, with a comma", proba[k], 10 + k % 7]
        for k in range(N)
    ]
    return rows, {f"d{k}": int(each) for k, each in enumerate(truth)}


HEADER = ["id", "date", "text", "p", "words"]


@pytest.fixture
def corpus(documents):
    return write("docs.csv", HEADER, documents[0])


@pytest.fixture
def annotate(documents):
    """Fill in the labels of a sample, in another order; return its rows."""

    def annotate(name="docs.sample.csv", change=None):
        rows = read(name)[::-1]
        for row in rows:
            row["label"] = documents[1][row["id"]]
        rows = rows if change is None else change(rows)
        write(name, list(rows[0]), [row.values() for row in rows])
        return rows

    return annotate


@pytest.fixture
def drawn(run, corpus):
    """Draw 60 documents of the corpus, in strata of quarters."""
    options = ("--n", 60, "--date", "date", "--freq", "quarter")
    code, out, err = run("sample", corpus, *options)
    assert (code, err) == (0, "")
    return out


COUNT = ("docs.csv", "--labels", "docs.sample.csv", "--design", "docs.design.csv")


@pytest.fixture
def error(run):
    """Give the message of a command that fails."""

    def error(*arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        return err

    return error


def test_annotators_do_not_see_the_model(drawn):
    rows = read("docs.sample.csv")
    assert len(rows) == 60
    assert list(rows[0]) == ["id", "date", "text", "words", "label"]
    assert {row["label"] for row in rows} == {""}
    assert all(row["text"] == f"text {row['id'][1:]}, with a comma" for row in rows)
    assert "they do not see p" in drawn


def test_labels_of_the_corpus_are_not_shown_and_are_mentioned(run):
    rows = [[f"d{k}", 0.1 * (k % 10), k % 2 if k < 25 else ""] for k in range(40)]
    with open("docs.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "p", "label"], *rows])
    _, out, _ = run("sample", "docs.csv", "--n", "20", "--equal")
    assert "they see id, label (empty)\n  they do not see p, label (of docs.csv)" in out
    with open("docs.sample.csv", encoding="utf-8-sig") as file:
        _, *drawn = csv.reader(file)
    assert {row[-1] for row in drawn} == {""}
    n = sum(int(row[0].removeprefix("d")) < 25 for row in drawn)
    said = f"25 documents of docs.csv have a label. {n} of them are drawn"
    assert said in " ".join(out.split())


def test_the_design_has_every_document_and_adds_up_to_the_draws(drawn):
    rows = read("docs.design.csv")
    assert [row["id"] for row in rows] == [f"d{k}" for k in range(N)]
    chosen = {row["id"] for row in read("docs.sample.csv")}
    assert {row["id"] for row in rows if row["drawn"] == "1"} == chosen
    for stratum in ("2020Q1", "2020Q2", "2020Q4"):
        part = [row for row in rows if row["stratum"] == stratum]
        assert len(part) == N // 3
        total = sum(float(row["inclusion_probability"]) for row in part)
        assert total == pytest.approx(sum(int(row["drawn"]) for row in part))
        assert f"{stratum} {round(total)} of 40" in drawn


def test_probabilities_follow_the_doubt_half_of_them_evenly(run, corpus, documents):
    run("sample", corpus, "--n", 30)
    p = np.array([row[3] for row in documents[0]])
    sd = np.sqrt(p * (1 - p))
    expected = 30 * (0.5 / N + 0.5 * sd / sd.sum())
    found = [float(r["inclusion_probability"]) for r in read("docs.design.csv")]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("options", ["--size words", "--sd words", "--expected words"])
def test_probabilities_follow_a_size_or_an_expected_count(
    run, corpus, documents, options
):
    assert run("sample", corpus, "--n", 30, *options.split())[0] == 0
    words = np.array([row[4] for row in documents[0]])
    found = [float(r["inclusion_probability"]) for r in read("docs.design.csv")]
    np.testing.assert_allclose(found, 30 * (0.5 / N + 0.5 * words / words.sum()))


def test_probabilities_follow_a_size_and_a_standard_deviation(run, corpus, documents):
    options = ("--size", "words", "--sd", "p")
    assert run("sample", corpus, "--n", 30, *options)[0] == 0
    p, words = (np.array([row[k] for row in documents[0]]) for k in (3, 4))
    found = [float(r["inclusion_probability"]) for r in read("docs.design.csv")]
    expected = 30 * (0.5 / N + p / p.sum() / 4 + words / words.sum() / 4)
    np.testing.assert_allclose(found, expected)


def test_the_same_seed_draws_the_same_documents(run, corpus):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        output = ("--output", f"{name}.sample.csv", "--random-state", seed)
        run("sample", corpus, "--n", 30, *output)
    a, b, c = (Path(f"{name}.sample.csv").read_text("utf-8") for name in "abc")
    assert a == b != c


@pytest.mark.slow
def test_documents_are_drawn_as_often_as_the_design_says(run, tmp_path):
    rows = [[k, p] for k, p in enumerate([0.5, 0.5, 0.9, 0.9, 0.99, 0.01, 0.2, 0.3])]
    y = np.array([1, 0, 1, 1, 1, 0, 1, 0])
    file = write("docs.csv", ["id", "p"], rows)
    n_draws, times, totals = 400, np.zeros(8), []
    for seed in range(n_draws):
        output = tmp_path / f"{seed}.csv"
        options = ("--n", 3, "--random-state", seed, "--output", output)
        assert run("sample", file, *options)[0] == 0
        design = read(tmp_path / f"{seed}.design.csv")
        pi = np.array([float(row["inclusion_probability"]) for row in design])
        drawn = np.array([int(row["drawn"]) for row in design])
        assert drawn.sum() == 3
        times += drawn
        totals.append((drawn * y / pi).sum())
    error = np.sqrt(pi * (1 - pi) / n_draws)
    assert (np.abs(times / n_draws - pi) < 4 * error).all()
    # The expanded labels add up to the true count on average.
    error = np.std(totals) / np.sqrt(n_draws)
    assert abs(np.mean(totals) - y.sum()) < 4 * error


def test_the_way_back_gives_the_count_of_the_drawn_documents(run, drawn, annotate):
    rows = annotate()
    command = shlex.split(drawn.strip().splitlines()[-1])
    code, out, err = run(*command[1:], "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    design = read("docs.design.csv")
    label = {row["id"]: row["label"] for row in rows}
    expected = corrected_count(
        [label.get(row["id"], np.nan) for row in design],
        [float(row["p"]) for row in read("docs.csv")],
        inclusion_probability=[float(r["inclusion_probability"]) for r in design],
        strata=[row["stratum"] for row in design],
        periods=[row["stratum"] for row in design],
    )
    assert (found["low"], found["high"]) == (expected.low, expected.high)
    assert [row["high"] for row in found["table"]] == expected.table["high"].tolist()
    assert found["design"]["strata"] == ["2020Q1", "2020Q2", "2020Q4"]
    assert found["design"]["n_drawn"] == 60


def test_the_order_of_the_corpus_does_not_matter(run, corpus, drawn, annotate):
    annotate()
    code, out, _ = run("count", *COUNT, "--json")
    assert code == 0
    rows = read(corpus)
    order = np.random.default_rng(1).permutation(N)
    write("docs.csv", HEADER, [list(rows[k].values()) for k in order])
    _, again, _ = run("count", *COUNT, "--json")
    first, second = json.loads(out), json.loads(again)
    assert first["low"] == pytest.approx(second["low"], rel=1e-9)
    assert first["estimate"] == pytest.approx(second["estimate"], rel=1e-9)


@pytest.mark.parametrize("kind", ["empty", "no row"])
def test_a_drawn_document_without_a_label_is_an_error_or_left_out(
    run, error, drawn, annotate, kind
):
    def skip(rows):
        if kind == "no row":
            return rows[3:]
        for row in rows[:3]:
            row["label"] = ""
        return rows

    skipped = read("docs.sample.csv")[::-1][:3]
    annotate(change=skip)
    message = error("count", *COUNT)
    assert "3 of 60 drawn documents have no label" in message
    assert all(f"(id {row['id']})" in message for row in skipped)
    assert "the sample is no longer random" in message
    assert "--missing drop" in message
    code, out, _ = run("count", *COUNT, "--missing", "drop", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["n_labelled"], found["design"]["n_drawn_without_label"]) == (57, 3)
    assert found["notes"][0].startswith("3 of 60 drawn documents have no label")
    assert not any("add up to" in each for each in found["warnings"])


def test_dropped_documents_leave_the_probabilities_of_a_smaller_sample(run):
    # 10 equal draws of 40, 8 labelled with 2 yes: as 8 equal draws, 40 * 2 / 8 = 10.
    file = write("docs.csv", ["id", "p"], [[k, 0.5] for k in range(40)])
    run("sample", file, "--n", 10, "--equal")
    rows = read("docs.sample.csv")
    for k, row in enumerate(rows):
        row["label"] = "" if k < 2 else int(k < 4)
    write("docs.sample.csv", list(rows[0]), [row.values() for row in rows])
    _, out, _ = run("count", *COUNT, "--missing", "drop", "--json")
    assert json.loads(out)["labels_only"]["estimate"] == pytest.approx(10)


def test_labels_without_a_design_are_joined_by_id(run, drawn, annotate):
    annotate()
    code, out, _ = run("count", "docs.csv", "--labels", "docs.sample.csv", "--json")
    found = json.loads(out)
    assert (code, found["n_labelled"]) == (0, 60)
    assert found["design"]["inclusion_probability"] == "equal"
    assert "docs.design.csv is beside the labels" in found["notes"][0]


def wrong(change):
    def apply(rows):
        change(rows)
        return rows

    return apply


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda rows: rows[4].update(id="D 4"),
            "1 of 60 labels are of names that docs.csv does not have: D 4 (line 6)",
        ),
        (lambda rows: rows[4].update(id=rows[2]["id"]), "is in lines 4 and 6. Keep"),
        (lambda rows: rows[4].update(label="perhaps"), "a count. Got 'perhaps' in"),
    ],
)
def test_wrong_rows_of_annotators_are_named(error, drawn, annotate, change, expected):
    annotate(change=wrong(change))
    assert expected in error("count", *COUNT)


def test_a_label_of_a_document_that_was_not_drawn_is_an_error(
    error, drawn, annotate, documents
):
    rows = annotate()
    other = next(i for i in documents[1] if i not in {row["id"] for row in rows})
    rows[0]["id"] = other
    write("docs.sample.csv", list(rows[0]), [row.values() for row in rows])
    message = error("count", *COUNT)
    line = int(other[1:]) + 2
    assert "1 of 60 labels are of documents that were not drawn" in message
    assert f"line {line} (id {other})" in message


def test_a_design_of_another_corpus_is_an_error(error, corpus, drawn, annotate):
    annotate()
    rows = read(corpus)
    write("docs.csv", HEADER, [list(row.values()) for row in rows[2:]])
    message = error("count", *COUNT)
    assert "2 documents of the design are not in the corpus, and 0 documents" in message


def test_files_are_not_overwritten(error, corpus, drawn, annotate):
    annotate()
    before = Path("docs.sample.csv").read_bytes()
    message = error("sample", corpus, "--n", 30)
    assert "docs.sample.csv exists, and may have labels" in message
    assert Path("docs.sample.csv").read_bytes() == before
    assert "must not be a file that is read" in error(
        "sample", corpus, "--n", 30, "--output", corpus
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--n 121", "--n must be at most the number of documents, 120. Got 121"),
        ("--n 5 --date date --freq quarter", "--n must be at least 6, for two"),
        ("--n 5 --proba p --expected p", "--proba and --expected exclude each other"),
        ("--n 5 --size words --equal", "--size and --equal exclude each other"),
        ("--n 5 --id text,", "--id must name a column. Got 'text,'"),
        ("--n 5 --id date", "date '2020-01-31' is in lines"),
        ("--n 5 --columns a,b", "--columns must name a column. Got 'a'"),
        ("--n 5 --output sample.txt", "--output must end in .csv or .tsv"),
        ("--n 5 --output no/s.csv", "No such file or directory: 'no/s.csv'"),
        ("--n 5 --random-state -1", "--random-state must not be negative. Got -1"),
        ("--n 5 --freq year", "--freq needs --date COL"),
    ],
)
def test_wrong_options_are_named(error, corpus, arguments, expected):
    assert expected in error("sample", corpus, *arguments.split())
    assert not Path("docs.sample.csv").exists()


def test_a_corpus_without_ids_or_a_model_says_what_to_add(error):
    file = write("docs.csv", ["text", "p"], [[f"text {k}", 0.5] for k in range(20)])
    assert "--id must name the column of document ids" in error(
        "sample", file, "--n", 5
    )
    file = write("docs.csv", ["id", "text"], [[k, f"text {k}"] for k in range(20)])
    assert "Pass --equal for equal probabilities" in error("sample", file, "--n", 5)


def test_few_labels_and_rare_documents_bring_the_advice_of_equal_probabilities(run):
    file = write("docs.csv", ["id", "p"], [[k, 0.5] for k in range(100)])
    assert "fewer than 50 labels" in run("sample", file, "--n", 20)[1]
    file = write("rare.csv", ["id", "p"], [[k, 0.01] for k in range(100)])
    out = " ".join(run("sample", file, "--n", 60)[1].split())
    assert "the model expects 1.0% of the documents" in out
    out = run("sample", file, "--n", 60, "--equal", "--output", "e.csv")[1]
    assert "Consider" not in out


@pytest.mark.slow
def test_intervals_contain_the_true_count_as_often_as_they_say(
    run, corpus, annotate, documents
):
    true, n_inside, n_draws = sum(documents[1].values()), 0, 100
    for seed in range(n_draws):
        options = ("--n", 60, "--equal", "--random-state", seed)
        run("sample", corpus, *options, "--output", f"{seed}.csv")
        annotate(f"{seed}.csv")
        labels = ("--labels", f"{seed}.csv", "--design", f"{seed}.design.csv")
        found = json.loads(run("count", corpus, *labels, "--json")[1])
        n_inside += found["low"] <= true <= found["high"]
    # 88 or fewer of 100 have probability 0.4% at a coverage of 95%.
    assert n_inside > 88


GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "counting.rst"
CODE = (
    r"\.\. code-block:: (python|shell)\n\n((?:    .*\n|\n)+)"
    r"(?:\.\. code-block:: text\n\n((?:    .*\n|\n)+))?"
)


def test_the_guide_page_shows_what_the_commands_print(run):
    names = {}
    for kind, code, printed in re.findall(CODE, GUIDE.read_text("utf-8")):
        if kind == "python":
            exec(textwrap.dedent(code), names)
            continue
        status, out, err = run(*code.split()[1:])
        assert (status, err) == (0, "")
        assert out.strip() == textwrap.dedent(printed).strip()
    assert names["truth"].sum() == 335
    assert len(names["rows"]) == 240
