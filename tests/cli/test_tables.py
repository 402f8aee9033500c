"""Tables as input of the commands: one rule for all formats, columns and commands."""

import csv
import json
from pathlib import Path

import pytest

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet")


def write(name, rows):
    """Write objects as a table in the format of the suffix; return the name."""
    suffix = Path(name).suffix
    if suffix in (".csv", ".tsv"):
        with open(name, "w", newline="", encoding="utf-8") as file:
            mark = "," if suffix == ".csv" else "\t"
            writer = csv.DictWriter(file, list(rows[0]), delimiter=mark)
            writer.writeheader()
            writer.writerows(rows)
    elif suffix == ".json":
        Path(name).write_text(json.dumps(rows))
    elif suffix == ".jsonl":
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(rows), name)
    return name


def answers(system):
    """Return the rows of a system: 60 questions of 20 passages and three subjects."""
    return [
        {
            "id": f"q{k}",
            "correct": (7 * k + 3 * system) % 5 // 2 % 2,
            "confidence": 0.3 + (k % 3 + system) / 10,
            "subject": ("NA", "law", "null")[k % 3],
            "passage": k // 3,
        }
        for k in range(60)
    ]


def as_json(run, *arguments):
    """Return the JSON that a command prints, without names of files."""
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    for system in found.get("systems", [found]):
        system.pop("files", None)
        system.pop("file", None)
    return found


@pytest.mark.parametrize("suffix", FORMATS[1:])
def test_all_formats_give_the_same_report(run, suffix):
    found = [
        as_json(
            run,
            *("report", write(f"a.{each}", answers(0))),
            *("--by", "subject", "--groups", "passage"),
        )
        for each in ("csv", suffix)
    ]
    assert found[0] == found[1]
    assert list(found[0]["by"]["values"]) == ["NA", "law", "null"]


@pytest.mark.parametrize("suffix", FORMATS[1:])
def test_all_formats_give_the_same_comparison(run, suffix):
    options = ("--by", "subject", "--groups", "passage")
    found = [
        as_json(
            run,
            "compare",
            *(write(f"{name}.{each}", answers(k)) for k, name in enumerate("ab")),
            *options,
        )
        for each in ("csv", suffix)
    ]
    assert found[0] == found[1]
    assert found[0]["n_groups"] == 20
    assert [row["value"] for row in found[0]["by"]["rows"]] == ["NA", "law", "null"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_labels_may_be_a_table_of_any_format(run, suffix):
    write("a.csv", answers(0))
    words = ("yes", "y", "T", "right", "correct", "true")
    others = ("no", "N", "f", "wrong", "incorrect", "false")
    rows = [
        {"question": f"q{k}", "score": (words if k % 3 else others)[k % 6]}
        for k in range(30)
    ]
    numbers = [
        {"question": f"q{k}", "score": int(k % 3 > 0), "note": "a"} for k in range(30)
    ]
    write("numbers.csv", numbers)
    expected = as_json(run, "report", "a.csv", "--labels", "numbers.csv")
    people = write(f"people.{suffix}", rows)
    assert as_json(run, "report", "a.csv", "--labels", people) == expected
    write("b.csv", answers(1))
    wide = [{"question": r["question"], "a": r["score"], "b": r["score"]} for r in rows]
    ones = [
        {"question": r["question"], "a": r["score"], "b": r["score"]} for r in numbers
    ]
    write("ones.csv", ones)
    both = ("compare", "a.csv", "b.csv", "--labels")
    expected = as_json(run, *both, "ones.csv")["judged"]
    assert as_json(run, *both, write(f"wide.{suffix}", wide))["judged"] == expected


# Words for missing values


def documents(country):
    return [
        {"id": name, "p": 0.1 + k / 10, "country": name, "label": k % 2}
        for k, name in enumerate(country)
    ]


COUNTRIES = ("NA", "ZA", "KE", "null", "None", "nan", "N/A", "")


def test_a_country_may_be_called_na(run, folder):
    rows = documents(COUNTRIES[:-1])
    corpus = write("docs.csv", rows)
    found = as_json(run, "count", corpus, "--by", "country")
    assert {row["by"] for row in found["table"]} == set(COUNTRIES[:-1])
    labels = [{"id": row["id"], "label": row["label"]} for row in rows]
    write("labels.csv", labels)
    as_json(run, "count", corpus, "--labels", "labels.csv", "--id", "id")
    arguments = ("--n", 4, "--equal", "--strata", "country")
    strata = [row | {"country": ("NA", "ZA")[k % 2]} for k, row in enumerate(rows)]
    code, _, _ = run("sample", write("strata.csv", strata), *arguments)
    assert code == 0
    assert ",NA\n" in Path("strata.design.csv").read_text()
    for name in COUNTRIES[:-1]:
        assert f"{name}," in Path("strata.design.csv").read_text()


@pytest.mark.parametrize("command", ["count", "sample"])
def test_an_empty_cell_of_a_name_is_missing(run, command):
    options = ("--by", "country") if command == "count" else ("--n", 4, "--equal")
    options = (*options, "--strata", "country") if command == "sample" else options
    rows = [row | {"id": k} for k, row in enumerate(documents(COUNTRIES))]
    code, _, err = run(command, write("docs.csv", rows), *options)
    assert code == 2
    assert "Got an empty cell in line 9" in err


@pytest.mark.parametrize("word", ["NA", "null", "N/A", "none", "nan"])
def test_a_number_may_be_missing_by_a_word(run, word):
    rows = documents("abcdef")
    rows[2]["label"] = word
    found = as_json(run, "count", write("docs.csv", rows))
    assert found["n_labelled"] == 5
    rows[3]["p"] = word
    code, _, err = run("count", write("docs.csv", rows))
    assert code == 2
    assert "Got an empty cell in line 5" in err
    people = [{"question": f"q{k}", "score": word if k == 9 else 1} for k in range(10)]
    write("people.csv", people)
    write("a.csv", answers(0))
    found = as_json(run, "report", "a.csv", "--labels", "people.csv")
    assert found["judged"]["n_labelled"] == 9


def test_compare_needs_a_name_in_each_row(run):
    rows = answers(0)
    rows[4]["subject"] = rows[5]["subject"] = ""
    files = write("a.csv", rows), write("b.csv", answers(1))
    code, _, err = run("compare", *files, "--by", "subject")
    assert code == 2
    assert "a.csv: a has 2 rows with an empty cell in column 'subject'" in err
    assert run("compare", *files)[0] == 0
    rows[5]["subject"] = "law"
    write("a.csv", rows)
    assert "a has 1 row with an empty" in run("compare", *files, "--by", "subject")[2]


# What goes wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "a.csv", "--by", "Subject"), "--by must name a column. Got 'Subj"),
        (("compare", "a.csv", "b.csv", "--by", "Subject"), "--by must name a column."),
        (("compare", "a.csv", "b.csv", "--groups", "z"), "--groups must name a column"),
        (("compare", "a.csv", "b.csv", "--question", "z"), "--question must name a co"),
        (
            ("compare", "a.csv", "b.csv", "--question", "correct"),
            "--question must name different columns for score and question. Got 'corr",
        ),
        (("report", "a.csv", "--by", "correct"), "score and groups. Got 'correct'"),
        (("report", "a.csv", "--model", "nobody"), "--model does not apply to a"),
        (("compare", "a.csv", "b.csv", "--model", "nobody"), "--model does not apply"),
        (("compare", "a.csv", "b.csv", "--gold", "subject"), "--gold must name a col"),
        (("count", "a.csv", "--by", "Subject"), "Did you mean 'subject'?"),
    ],
)
def test_errors_name_the_option_and_the_file_once(run, arguments, message):
    write("a.csv", answers(0))
    write("b.csv", answers(1))
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("a.csv") == 1
    assert "Subject" not in arguments or "Did you mean 'subject'?" in err


def test_two_scores_of_one_system_in_each_file_are_not_four_systems(run):
    for name in "ab":
        rows = [{"id": k, "em": k % 2, "f1": k % 3 / 2} for k in range(20)]
        write(f"{name}.jsonl", rows)
        rows = [
            {"id": k, "evaluation": {"score": k % 2, "is_correct": k % 2 > 0}}
            for k in range(20)
        ]
        write(f"nested_{name}.jsonl", rows)
    code, _, err = run("compare", "a.jsonl", "b.jsonl")
    assert code == 2
    assert "a.jsonl and b.jsonl both have the columns of scores 'em', 'f1'" in err
    assert "choose one with --score" in err
    found = as_json(run, "compare", "a.jsonl", "b.jsonl", "--score", "em")
    assert [each["name"] for each in found["systems"]] == ["a", "b"]
    code, _, err = run("compare", "nested_a.jsonl", "nested_b.jsonl")
    assert code == 2
    assert "--systems must name the columns of the systems, or --score the" in err
    assert "2 systems or 2 scores of one system" in err


def test_a_value_called_nan_does_not_upset_the_order_of_values(run):
    rows = documents("abcd")
    for row, value in zip(rows, ("2", "nan", "1", "10"), strict=True):
        row["country"] = value
    found = as_json(run, "count", write("docs.csv", rows), "--by", "country")
    assert [row["by"] for row in found["table"]] == ["1", "10", "2", "nan"]
