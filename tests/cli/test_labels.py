"""`--labels` of report and compare: numbers by question, and errors of label files."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from skcalib.metrics import calibration_error_interval
from skcalib.rates import judged_accuracy, judged_difference

N = 300


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


@pytest.fixture
def truth():
    """Return what people and a judge say about the answers of two systems."""
    rng = np.random.default_rng(0)
    right = rng.random((2, N)) < [[0.55], [0.65]]
    judge = np.where(right, rng.random((2, N)) < 0.95, rng.random((2, N)) < 0.35)
    proba = np.round(np.where(right, 0.8, 0.55) + rng.uniform(-0.15, 0.15, (2, N)), 3)
    return right.astype(int), judge.astype(int), proba


@pytest.fixture
def files(truth):
    """Write a file for each system, in different orders."""
    _, judge, proba = truth
    for k, name in enumerate(("old", "new")):
        order = np.random.default_rng(k + 1).permutation(N)
        header = ["question_id", "correct", "confidence", "passage"]
        rows = [
            (f"q{j}", judge[k, j], proba[k, j], f"p{j // 5}") for j in order.tolist()
        ]
        write(f"{name}.csv", header, rows)
    return "old.csv", "new.csv"


@pytest.fixture
def labelled():
    return np.random.default_rng(7).choice(N, 60, replace=False)


@pytest.fixture
def labels(truth, labelled):
    right = truth[0][0]
    rows = [(f"q{j}", right[j]) for j in labelled]
    return write("people.csv", ["question", "score"], rows)


def human_of(right, labelled):
    human = np.full(N, np.nan)
    human[labelled] = right[labelled]
    return human


def as_json(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_report_has_the_numbers_of_the_function(run, truth, files, labels, labelled):
    found = as_json(run, "report", files[0], "--labels", labels)["judged"]
    human = human_of(truth[0][0], labelled)
    expected = judged_accuracy(truth[1][0], human)
    for name in ("estimate", "low", "high", "uncorrected", "equivalent_labels"):
        assert found[name] == pytest.approx(getattr(expected, name), rel=1e-9)
    assert found["sensitivity"]["high"] == pytest.approx(expected.sensitivity.high)
    items = judged_accuracy(truth[1][0], human, population="items")
    assert found["items"]["low"] == pytest.approx(items.low, rel=1e-9)
    error = calibration_error_interval(
        truth[0][0][np.sort(labelled)], truth[2][0][np.sort(labelled)]
    )
    assert found["calibration_error"]["n"] == 60
    assert found["calibration_error"]["high"] == pytest.approx(error.high, rel=1e-6)


def test_report_groups_are_those_of_the_option(run, truth, files, labels, labelled):
    arguments = ("report", files[0], "--labels", labels, "--groups", "passage")
    found = as_json(run, *arguments)["judged"]
    expected = judged_accuracy(
        truth[1][0], human_of(truth[0][0], labelled), groups=np.arange(N) // 5
    )
    assert found["high"] == pytest.approx(expected.high, rel=1e-9)
    assert found["n_groups"] == expected.n_groups


def test_inclusion_weights_labels_of_a_verdict(run, truth, files, labelled):
    right = truth[0][0]
    chance = np.where(labelled % 2, 0.5, 0.1)
    rows = [(f"q{j}", right[j], c) for j, c in zip(labelled, chance, strict=True)]
    path = write("drawn.csv", ["question", "score", "inclusion"], rows)
    found = as_json(run, "report", files[0], "--labels", path)["judged"]
    inclusion = np.ones(N)
    inclusion[labelled] = chance
    expected = judged_accuracy(
        truth[1][0], human_of(right, labelled), inclusion_probability=inclusion
    )
    assert found["estimate"] == pytest.approx(expected.estimate, rel=1e-9)
    assert found["low"] == pytest.approx(expected.low, rel=1e-9)


def test_labels_of_samples_name_the_sample(run):
    rows = [(f"q{k // 2}", k % 3 > 0) for k in range(40)]
    write("twice.csv", ["question_id", "correct"], rows)
    header = ["question", "repeat", "score"]
    people = [("q0", 0, 0), ("q0", 1, 1), ("q3", 1, "yes"), ("q7", 0, "no")]
    write("people.csv", header, people)
    found = as_json(run, "report", "twice.csv", "--labels", "people.csv")["judged"]
    assert (found["n_labelled"], found["n_groups"]) == (4, 3)
    write("people.csv", ["question", "score"], [("q0", 1)])
    _, _, err = run("report", "twice.csv", "--labels", "people.csv")
    assert "line 2: question 'q0' has several samples in twice.csv. Name one of" in err
    write("people.csv", header, [("q0", 5, 1)])
    _, _, err = run("report", "twice.csv", "--labels", "people.csv")
    assert "has no sample '5'" in err
    write("people.csv", header, [("q0", 0, 1), ("q0", 1, 0), ("q0", 0, 1)])
    _, _, err = run("report", "twice.csv", "--labels", "people.csv")
    assert "'q0, sample 0' is in lines 2 and 4. Give each answer one label" in err


def test_labels_are_joined_by_the_column_of_samples(run):
    # The judge is right about each answer: whoever joins by position finds errors.
    right = {(f"q{i}", str(s)): i * s % 2 for i in range(40) for s in (1, 2, 3)}
    rows = [(*key, score) for key, score in right.items()]
    np.random.default_rng(0).shuffle(rows)
    write("answers.csv", ["question", "epoch", "correct"], rows)
    people = [(f"q{i}", "1", i % 2) for i in range(40)]
    for name in ("repeat", "sample", "trial"):
        write("people.csv", ["question", name, "score"], people)
        found = as_json(run, "report", "answers.csv", "--labels", "people.csv")
        rates = [found["judged"][name] for name in ("sensitivity", "specificity")]
        assert [rate["estimate"] for rate in rates] == [1, 1]
    write("answers.csv", ["question", "epoch", "correct"], [("q1", 1, 1), ("q1", 1, 0)])
    _, _, err = run("report", "answers.csv", "--labels", "people.csv")
    assert "Got the sample '1' of question 'q1' twice" in err


def test_numbers_of_samples_begin_with_0_or_1(run):
    # Samples 0 and 2 of each question are right; there is no column of samples.
    rows = [(f"q{i}", int(s != 1)) for i in range(20) for s in range(3)]
    write("answers.csv", ["question", "correct"], rows)
    command = "report", "answers.csv", "--labels", "people.csv"
    header = ["question", "repeat", "score"]
    for first in (0, 1):
        people = [(q, k % 3 + first, score) for k, (q, score) in enumerate(rows)]
        write("people.csv", header, people)
        assert as_json(run, *command)["judged"]["sensitivity"]["estimate"] == 1
    write("people.csv", header, [("q0", 1, 1), ("q1", 2, 0)])
    code, _, err = run(*command)
    assert code == 2
    assert "line 2: sample '1' of question 'q0' is ambiguous" in err
    assert "from 0 than if they are numbered from 1. Add a column sample" in err


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (
            ["question", "score"],
            [("zz", 1), ("q1", 0)],
            "1 of 2 labels are of names that old.csv does not have: zz (line 2). The",
        ),
        (["question", "score"], [("q1", 1), ("q1", 0)], "'q1' is in lines 2 and 3."),
        (["question", "score"], [("q1", 1.5)], "in [0, 1]. Got '1.5' in line 2"),
        (
            ["question", "score"],
            [("q1", "maybe")],
            "must have 1 or 0, yes or no, or a score in [0, 1]. Got 'maybe' in",
        ),
        (["question", "score"], [("", 1)], "line 2: a label needs a question"),
        (["question", "score"], [("q1",)], "2 cells in each line, as in the first"),
        (["question", "score"], [], "wrong.csv: must contain rows. It has none"),
        (["question", "score"], [("q1", "")], "no row with a score"),
        (["question", "score"], [("q1", 1)], "at least two rows. Got 1 of 300"),
        (["id", "score"], [("q1", 1)], "needs the columns question and score. Got id"),
        (
            ["question", "score", "inclusion"],
            [("q1", 1, 0)],
            "line 2: inclusion must be above 0",
        ),
        (["question", "system", "score"], [("q1", "x", 1)], "no label of old.csv"),
    ],
)
def test_errors_of_label_files_name_line_and_question(
    run, files, header, rows, message
):
    path = write("wrong.csv", header, rows)
    code, out, err = run("report", files[0], "--labels", path)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_rows_without_names_are_not_matched_by_position(run, labels):
    write("plain.csv", ["correct"], [(k % 2,) for k in range(20)])
    code, _, err = run("report", "plain.csv", "--labels", labels)
    assert code == 2
    assert "Rows are not matched by position" in err


def test_unlabelled_verdicts_are_noted(run, files, truth):
    judged_right = np.flatnonzero(truth[1][0] == 1)[:10]
    write("people.csv", ["question", "score"], [(f"q{j}", 1) for j in judged_right])
    _, out, err = run("report", files[0], "--labels", "people.csv", "--no-figure")
    assert "No item with the verdict 0 has a label" in out
    assert "Warning" not in err


# compare


@pytest.fixture
def expected_gain(truth, labelled):
    humans = [human_of(right, labelled) for right in truth[0]]
    return judged_difference(*truth[1], *humans)


def by_column(truth, labelled):
    rows = [(f"q{j}", *truth[0][:, j]) for j in labelled]
    return [write("wide.csv", ["question", "old", "new"], rows)]


def by_system(truth, labelled):
    rows = [
        (f"q{j}", name, truth[0][k, j])
        for k, name in enumerate(("old", "new"))
        for j in labelled
    ]
    return [write("long.csv", ["question", "system", "score"], rows)]


def by_file(truth, labelled):
    header = ["question", "score"]
    return [
        write(f"{name}.people.csv", header, [(f"q{j}", truth[0][k, j]) for j in chosen])
        for k, (name, chosen) in enumerate([("old", labelled), ("new", labelled[::-1])])
    ]


@pytest.mark.parametrize(
    "form", [by_column, by_system, pytest.param(by_file, marks=pytest.mark.slow)]
)
def test_compare_corrects_the_gain(run, truth, files, labelled, expected_gain, form):
    paths = form(truth, labelled)
    options = [word for path in paths for word in ("--labels", path)]
    (found,) = as_json(run, "compare", *files, *options)["judged"]
    assert (found["a"], found["b"]) == ("old", "new")
    for name in ("estimate", "low", "high", "uncorrected", "n_labelled"):
        assert found[name] == pytest.approx(getattr(expected_gain, name), rel=1e-9)
    code, out, _ = run("compare", *files, *options)
    assert code == 0
    assert f"{expected_gain.estimate:+.3f}" in out
    assert "gain by people" in out


def test_steps_say_how_many_labels_halve_the_width(run, truth, files, labelled, labels):
    """A judge that always says the same is worth nothing: four times the labels."""
    for name in ("old", "new"):
        rows = [(f"q{j}", 1) for j in range(3000)]
        write(f"same.{name}.csv", ["question_id", "correct"], rows)
    rows = [(f"q{j}", j % 2, j % 3 > 0) for j in range(60)]
    path = write("wide.csv", ["question", "same.old", "same.new"], rows)
    command = ("compare", "same.old.csv", "same.new.csv", "--labels", path)
    out = " ".join(run(*command)[1].split())
    assert "about 240 questions in all: 60 of 3,000 have a label" in out
    # The sampling of 300 answers alone leaves more than half of the width.
    out = run("report", files[0], "--no-figure", "--labels", labels)[1]
    assert "Labels alone cannot halve the width" in " ".join(out.split())


def test_power_is_that_of_the_labels(run):
    """People prefer the new system on 2 of 6 questions, and the old one on 1."""
    for name in ("old", "new"):
        rows = [(f"q{j}", 1) for j in range(3000)]
        write(f"same.{name}.csv", ["question_id", "correct"], rows)
    rows = [(f"q{j}", j % 2, j % 3 > 0) for j in range(60)]
    path = write("wide.csv", ["question", "same.old", "same.new"], rows)
    command = "compare", "same.old.csv", "same.new.csv", "--labels", path
    (found,) = as_json(run, *command, "--power", "0.124")["power"]
    # The variance of differences is 1/2 - 1/36, and 2.80 is z(.975) + z(.8).
    expected = 2.80 * ((1 / 2 - 1 / 36) / 60) ** 0.5
    assert found["detectable_gain"] == pytest.approx(expected, rel=0.03)
    assert found["labels_needed"] == pytest.approx(240, rel=0.05)
    assert "questions_needed" not in found
    out = " ".join(run(*command, "--power", "0.124")[1].split())
    assert "these 60 labelled questions detect a true gain of 0.24" in out
    out = " ".join(run(*command, "--power", "0.01")[1].split())
    assert "A gain of 0.01 also needs more questions." in out
    # From labels of a single group, nothing is known about the variance.
    header = ["question", "passage", "same.old", "same.new"]
    rows = [(f"q{j}", f"p{j // 60}", 1, j % 2) for j in range(3000)]
    command = "compare", write("answers.csv", header, rows), "--labels", path
    out = " ".join(run(*command, "--groups", "passage", "--power", "0.1")[1].split())
    assert "these 60 labelled questions cannot detect any gain" in out


def test_margin_names_both_systems_of_a_pair(run):
    """Only C is shown to lose less than a tenth, and only to B."""
    rng = np.random.default_rng(3)
    rate = {"A": 0.6, "B": 0.5, "C": 0.6}
    table = np.array([rng.random(400) < p for p in rate.values()]).astype(int).T
    rows = [(f"q{j}", *row) for j, row in enumerate(table.tolist())]
    write("three.csv", ["question", *rate], rows)
    write("people.csv", ["question", *rate], rows[:100])
    command = "compare", "three.csv", "--labels", "people.csv", "--margin", "0.1"
    low = {(e["a"], e["b"]): e["low"] for e in as_json(run, *command)["judged"]}
    shown = [f"{b} than {a}" for (a, b), end in low.items() if end > -0.1]
    assert 0 < len(shown) < 3
    out = " ".join(run(*command)[1].split())
    assert f"worse by less than 0.1, or better: {'; '.join(shown)}." in out


def test_parts_say_what_they_use(run, truth, labels, labelled):
    (path,) = by_column(truth, labelled)
    rows = [(f"q{j}", *truth[1][:, j], j % 2) for j in range(N)]
    write("wide2.csv", ["question", "old", "new", "kind"], rows)
    command = "compare", "wide2.csv", "--labels", path, "--by", "kind"
    code, out, _ = run(*command, "--html", "page.html")
    assert code == 0
    assert "by kind, judge only" in out
    page = Path("page.html").read_text("utf-8")
    assert "Gain by the judge of each part with its interval" in page
    rows = [(f"q{j}", truth[1][0, j], j % 2) for j in range(N)]
    write("kinds.csv", ["question", "correct", "kind"], rows)
    command = "report", "kinds.csv", "--labels", labels, "--by", "kind", "--no-figure"
    assert "by the labels alone" in " ".join(run(*command)[1].split())


def test_advice_if_all_answers_have_a_label(run):
    rows = [(f"q{j // 2}", j % 2, j % 3 > 0) for j in range(40)]
    write("answers.csv", ["question", "sample", "correct"], rows)
    rows = [(f"q{j // 2}", j % 2, j % 4 > 0) for j in range(40)]
    write("people.csv", ["question", "sample", "score"], rows)
    command = "report", "answers.csv", "--labels", "people.csv", "--no-figure"
    out = " ".join(run(*command)[1].split())
    assert "40 answers, 40 of them with a label" in out
    assert "All 40 answers have a label. A narrower interval needs more answers" in out


def test_errors_name_what_works_instead(run, files, labels):
    path = write("of_x.csv", ["question", "system", "score"], [("q1", "x", 1)])
    _, _, err = run("report", files[0], "--labels", path)
    assert "Its column system has x. Write old there, or name the system in" in err
    for name in ("a", "b"):
        rows = [(f"q{k // 2}", k % 2) for k in range(20)]
        write(f"{name}.csv", ["question_id", "correct"], rows)
    _, _, err = run("compare", "a.csv", "b.csv", "--labels", labels)
    assert "judged_difference, with an entry for each sample and the questions" in err


def test_compare_joins_labels_by_the_column_of_samples(run):
    rows = [(f"q{j}", 2, j % 2) for j in range(40)]
    header = ["question", "sample", "score"]
    for name in ("old", "new"):
        write(f"{name}.csv", ["question", "sample", "correct"], rows)
        path = write(f"{name}.people.csv", header, rows[:20])
    options = "--labels", "old.people.csv", "--labels", "new.people.csv"
    (found,) = as_json(run, "compare", "old.csv", "new.csv", *options)["judged"]
    assert found["n_labelled"] == 20
    write(path, header, [("q0", 1, 1)])
    _, _, err = run("compare", "old.csv", "new.csv", *options)
    assert "line 2: question 'q0' has no sample '1' in new. Name one of 2" in err


@pytest.mark.parametrize("is_verdict", [True, False])
def test_labels_on_a_scale_have_the_results_of_shares_in_grades(run, is_verdict):
    rng = np.random.default_rng(5)
    share = rng.choice([0, 1] if is_verdict else np.arange(5) / 4, (2, 200))
    judge = np.where(rng.random((2, 200)) < 0.8, share, np.roll(share, 7, axis=1))
    header = ["question", "A", "B"]
    for name, low, span in (("shares", 0, 1), ("grades", 1, 4)):
        for path, table, n in (("judge", judge, 200), ("people", share, 50)):
            rows = [(f"q{j}", *(low + span * table[:, j])) for j in range(n)]
            write(f"{name}.{path}.csv", header, rows)
    options = "--margin", "0.1", "--power", "0.1"
    plain = as_json(
        run, "compare", "shares.judge.csv", "--labels", "shares.people.csv", *options
    )
    options = "--margin", "0.4", "--power", "0.4", "--scale", "1", "5"
    found = as_json(
        run, "compare", "grades.judge.csv", "--labels", "grades.people.csv", *options
    )
    (shares,), (grades,) = plain["judged"], found["judged"]
    for name in ("estimate", "low", "high", "uncorrected", "standard_error"):
        assert grades[name] == pytest.approx(4 * shares[name])
    assert grades["equivalent_labels"] == pytest.approx(shares["equivalent_labels"])
    (shares,), (grades,) = plain["power"], found["power"]
    assert grades["detectable_gain"] == pytest.approx(4 * shares["detectable_gain"])
    assert grades["labels_needed"] == shares["labels_needed"]
    for path, table, n in (("one.csv", judge, 200), ("of.csv", share, 50)):
        rows = [(f"q{j}", 1 + 4 * table[0, j]) for j in range(n)]
        write(path, ["question", "score"], rows)
    command = "report", "one.csv", "--labels", "of.csv", "--scale", "1", "5"
    grades = as_json(run, *command)["judged"]
    human = human_of(np.resize(share[0], N), np.arange(50))[:200]
    shares, own = (
        judged_accuracy(judge[0], human, **of) for of in ({}, {"population": "items"})
    )
    for name in ("estimate", "low", "high", "uncorrected"):
        assert grades[name] == pytest.approx(1 + 4 * getattr(shares, name))
    assert grades["items"]["low"] == pytest.approx(1 + 4 * own.low)
    assert grades["labels_only"]["high"] == pytest.approx(
        1 + 4 * shares.labels_only.high
    )
    out = " ".join(run(*command, "--no-figure")[1].split())
    assert f"The mean grade by people is {grades['estimate']:.3f}" in out
    assert "mean grade by people (" in out


def test_reversed_labels_give_a_note(run, truth, files, labelled):
    right = 1 - truth[0]
    for k, name in enumerate(("old", "new")):
        rows = [(f"q{j}", right[k, j]) for j in labelled]
        path = write(f"{name}.people.csv", ["question", "score"], rows)
        found = as_json(run, "report", files[k], "--labels", path)["judged"]
        assert "The judge's scores are higher where the labels are lower" in str(found)
    options = "--labels", "old.people.csv", "--labels", "new.people.csv"
    (found,) = as_json(run, "compare", *files, *options)["judged"]
    notes = [note.partition(":")[0] for note in found["notes"]]
    assert notes == ["old", "new"]


def test_compare_needs_to_know_the_systems_of_labels(run, files, labels):
    code, _, err = run("compare", *files, "--labels", labels)
    assert code == 2
    assert "must name the system of each label" in err
    code, _, err = run("compare", *files, *["--labels", labels] * 3)
    assert "once for each of the 2 systems" in err


def test_compare_needs_labels_of_the_same_questions_or_of_different_ones(run, files):
    header = ["question", "system", "score"]
    rows = [("q1", "old", 1), ("q2", "old", 0), ("q2", "new", 1), ("q3", "new", 1)]
    path = write("few.csv", header, rows)
    code, _, err = run("compare", *files, "--labels", path)
    assert code == 2
    assert "Got 1 with labels of both, and 2 with a label of one. Remove" in err
    path = write("few.csv", header, rows[1:3])
    _, _, err = run("compare", *files, "--labels", path)
    assert "--labels must have scores of both answers in at least two rows" in err
    path = write("few.csv", header, [rows[0], rows[1], rows[3]])
    _, _, err = run("compare", *files, "--labels", path)
    assert "new: --labels must have scores of an item in at least two rows" in err


@pytest.fixture
def separate(truth):
    """Write labels of 40 questions of each system; one judge never said no there."""
    _, judge, _ = truth
    yes = np.flatnonzero(judge[1] == 1)
    rows = {"new": yes[:40], "old": np.setdiff1d(np.arange(N), yes[:40])[:40]}
    human = np.full((2, N), np.nan)
    labels = []
    for k, name in enumerate(("old", "new")):
        human[k, rows[name]] = truth[0][k, rows[name]]
        labels += [(f"q{j}", name, truth[0][k, j]) for j in rows[name]]
    write("two.csv", ["question", "system", "score"], labels)
    return human


def test_compare_adds_the_errors_of_labels_of_different_questions(
    run, truth, files, separate
):
    (found,) = as_json(run, "compare", *files, "--labels", "two.csv")["judged"]
    with pytest.warns(UserWarning, match="^judge_b: No item with the verdict 0"):
        expected = judged_difference(*truth[1], *separate, labels="separate")
    for name in ("estimate", "low", "high", "n_labelled", "labels"):
        assert found[name] == pytest.approx(getattr(expected, name))
    unlabelled, note = found["notes"]
    assert unlabelled.startswith("new: No item with the verdict 0 has a label.")
    assert note == (
        "The labels of old and new are of different questions: the errors of both add "
        "up."
    )
    code, out, _ = run("compare", *files, "--labels", "two.csv", "--html", "page.html")
    assert code == 0
    assert "80 of 300 have a label" in " ".join(out.split())
    assert "questions with labels of one system each" in Path("page.html").read_text(
        "utf-8"
    )


def test_a_pair_of_verdicts_without_labels_names_the_systems(run, truth, files):
    judge = truth[1]
    rows = [(f"q{j}", *truth[0][:, j]) for j in np.flatnonzero(judge[0] == judge[1])]
    path = write("wide.csv", ["question", "old", "new"], rows)
    (found,) = as_json(run, "compare", *files, "--labels", path)["judged"]
    assert found["notes"][0].startswith(
        "No item with the verdict 0 of old and 1 of new, 1 of old and 0 of new has a"
    )


def test_fail_if_follows_the_labels(run):
    """The judge favours the old system, and people do not."""
    judge = {"old": np.arange(N) < 200, "new": np.arange(N) < 150}
    for name, right in judge.items():
        rows = [(f"q{j}", int(right[j])) for j in range(N)]
        write(f"{name}.csv", ["question_id", "correct"], rows)
    rows = [(f"q{j}", int(j % 2), int(j % 2)) for j in range(0, N, 5)]
    write("wide.csv", ["question", "old", "new"], rows)
    command = ("compare", "old.csv", "new.csv", "--fail-if", "worse")
    assert run(*command)[0] == 1
    assert run(*command, "--labels", "wide.csv")[0] == 0
    command = (*command[:-1], "not-better", "--labels", "wide.csv")
    assert run(*command)[0] == 1
