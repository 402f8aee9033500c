"""`report --save` and `--check`: a saved threshold, and new answers that check it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from skcalib.rates import accuracy_interval, threshold_for_precision

HEADER = ["question", "correct", "confidence", "user"]


def write(path, counts, header=HEADER):
    """Write answers: from each confidence, the numbers of right and wrong ones."""
    rows = [
        (right, q)
        for q, (n_right, n_wrong) in counts.items()
        for right in [1] * n_right + [0] * n_wrong
    ]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows((f"q{k}", *row, f"u{k // 4}") for k, row in enumerate(rows))
    return path, *np.array(rows, float).T


OLD = {0.95: (290, 10), 0.7: (70, 30), 0.4: (20, 30)}


@pytest.fixture
def saved(run):
    path, y, q = write("old.csv", OLD)
    code, out, err = run("report", path, "--no-figure", "--save", "threshold.json")
    assert (code, err) == (0, "")
    assert out.endswith("threshold: threshold.json\n")
    return threshold_for_precision(y, q, precision=0.9)


def test_the_saved_threshold_is_that_of_the_function(saved):
    assert json.loads(Path("threshold.json").read_text()) == {
        "kind": "threshold of skcalib report",
        "threshold": saved.threshold,
        "accuracy": 0.9,
        "confidence_level": 0.95,
        "n": 450,
        "probability": "confidence",
    }


@pytest.mark.parametrize(
    ("counts", "verdict", "status", "text"),
    [
        ((190, 10), "accepted", 0, "is accepted: of the 200 answers with a"),
        ((150, 50), "rejected", 1, "is rejected: of the 200 answers with a"),
        ((182, 18), "too few", 0, "There are too few answers to check the threshold"),
    ],
)
def test_new_answers_accept_or_reject_the_threshold(
    run, saved, counts, verdict, status, text
):
    right, wrong = counts
    write("new.csv", {0.97: (right - 5, wrong), 0.95: (5, 0), 0.94: (0, 100)})
    command = ("report", "new.csv", "--no-figure", "--check", "threshold.json")
    code, out, err = run(*command, "--markdown", "new.md", "--html", "new.html")
    said = "skcalib report: --check: rejected for new.csv\n" if status else ""
    assert (code, err) == (status, said)
    found = json.loads(run(*command[:2], *command[3:], "--json")[1])["check"]
    assert (found["verdict"], found["n"], found["share"]) == (verdict, 200, 2 / 3)
    assert found["estimate"] == right / 200
    for end, tail in (("low", 0.025), ("high", 0.975)):  # mid-P
        above = binom.sf(right, 200, found[end]) + binom.pmf(right, 200, found[end]) / 2
        assert above == pytest.approx(tail, rel=1e-6)
    for each in (out, Path("new.md").read_text(), Path("new.html").read_text()):
        assert text in " ".join(each.split())


def test_groups_of_new_answers_widen_the_interval(run, saved):
    _, y, q = write("new.csv", {0.97: (180, 20), 0.3: (50, 50)})
    command = ("report", "new.csv", "--check", "threshold.json", "--groups", "user")
    found = json.loads(run(*command, "--json")[1])["check"]
    groups = np.arange(y.size) // 4
    expected = accuracy_interval(y[q > 0.9], groups=groups[q > 0.9])
    assert found["low"] == pytest.approx(expected.low, rel=1e-9)


def test_without_an_answer_from_the_threshold_nothing_is_known(run, saved):
    write("new.csv", {0.9: (40, 10)})
    command = ("report", "new.csv", "--check", "threshold.json")
    code, out, _ = run(*command, "--no-figure")
    assert code == 0
    assert "too few answers to check the threshold of threshold.json: none has" in (
        " ".join(out.split())
    )
    found = json.loads(run(*command, "--json")[1])["check"]
    expected = {"estimate": None, "low": 0, "high": 1, "verdict": "too few"}
    assert {name: found[name] for name in expected} == expected


def test_each_of_several_systems_is_checked(run, saved):
    write("good.csv", {0.97: (195, 5), 0.5: (50, 50)})
    write("bad.csv", {0.97: (150, 50), 0.5: (50, 50)})
    command = ("report", "good.csv", "bad.csv", "--no-figure")
    code, out, err = run(*command, "--check", "threshold.json")
    assert (code, err) == (1, "skcalib report: --check: rejected for bad.csv\n")
    assert "is accepted" in out
    assert "is rejected" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threshold", "wrong.json: --check needs a file that skcalib report --save"),
        ("[1]", "wrote. It is no JSON object."),
        ('{"threshold": 0.5}', "wrote. It is another one."),
        ({"threshold": 1.5}, "needs a number in [0, 1] as 'threshold'. Got 1.5."),
        ({"accuracy": None}, "needs a number in [0, 1] as 'accuracy'. Got None."),
        ({"probability": "p"}, "threshold of wrong.json was chosen, 'p'. Got 'conf"),
    ],
)
def test_files_without_a_threshold_are_errors(run, saved, text, message):
    if isinstance(text, dict):
        text = json.dumps(json.loads(Path("threshold.json").read_text()) | text)
    Path("wrong.json").write_text(text)
    code, out, err = run("report", "old.csv", "--no-figure", "--check", "wrong.json")
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--save", "a.json", "--check", "threshold.json"), "exclude each other"),
        (("--save", "old.csv"), "--save must not be a file that is read"),
        (("--alone", "0.999", "--save", "a.json"), "Nothing is saved."),
        (("--check", "none.json"), "No such file or directory: 'none.json'"),
    ],
)
def test_wrong_options_are_errors(run, saved, options, message):
    code, _, err = run("report", "old.csv", "--no-figure", *options)
    assert code == 2
    assert message in err
    assert not Path("a.json").exists()


def test_a_threshold_needs_one_system_with_probabilities(run, saved):
    write("new.csv", OLD)
    _, _, err = run("report", "old.csv", "new.csv", "--no-figure", "--save", "a.json")
    assert "--save needs one system. Got 2." in err
    write("none.csv", {2: (10, 10)}, ["question", "correct", "length", "user"])
    command = ("report", "none.csv", "--no-figure", "--check", "threshold.json")
    assert "--check needs answers with probabilities" in run(*command)[2]


def test_an_agreement_is_another_probability(run, saved):
    with open("samples.csv", "w", newline="") as file:
        rows = [(f"q{k // 3}", "A", int(k % 7 > 0)) for k in range(60)]
        csv.writer(file).writerows([("question", "answer", "correct"), *rows])
    options = ("--confidence", "agreement", "--prediction", "answer", "--no-figure")
    code, _, err = run("report", "samples.csv", *options, "--check", "threshold.json")
    assert code == 2
    assert "was chosen, 'confidence'. Got 'agreement of samples'. If this is its" in err
