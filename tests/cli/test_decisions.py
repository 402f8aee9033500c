"""Decisions of the commands, and whether every output says the same."""

import csv
import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, norm

from skcalib.metrics import calibration_error_interval
from skcalib.rates import threshold_for_precision
from skcalib.recalibration import calibration_decisions

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_draws(monkeypatch):
    """Give each test the same random numbers in any order of the tests."""
    monkeypatch.setattr(f"{__name__}.RNG", np.random.default_rng(0))


def write(path, **columns):
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def one_line(text):
    return " ".join(html.unescape(re.sub(r"<[^>]*>|\\|\*\*", " ", text)).split())


def outputs(run, *command):
    """Return terminal with standard error, page and Markdown as lines, and the JSON."""
    pages = ("--html", "page.html", "--markdown", "page.md")
    figure = ["--no-figure"] * (command[0] == "report")
    _, text, error = run(*command, *pages, *figure)
    _, numbers, _ = run(*command, "--json")
    files = [Path(name).read_text("utf-8") for name in ("page.html", "page.md")]
    return [one_line(each) for each in (text + error, *files)], json.loads(numbers)


def answers(n=600, shift=0.0, **columns):
    """Return columns of n answers with probabilities that are `shift` too high."""
    q = RNG.uniform(0.5, 1, n)
    y = (RNG.random(n) < q - shift).astype(int)
    names = [f"q{k}" for k in range(n)]
    return {"question": names, "correct": y, "confidence": q} | columns


@pytest.mark.parametrize(
    ("n", "shift", "kind", "words"),
    [
        (600, 0.2, "overconfident", "The model is overconfident:"),
        (600, -0.15, "underconfident", "The model is underconfident:"),
        (600, 0.0, "calibrated", "No miscalibration is shown:"),
        (4, 0.0, "too few", "Too few answers to test calibration:"),
    ],
)
def test_every_output_of_a_report_has_the_decision(run, n, shift, kind, words):
    file = write("a.csv", **answers(n, shift))
    texts, found = outputs(run, "report", file)
    assert found["decisions"]["calibration"] == kind
    assert all(words in text for text in texts)
    recalibrate = found["decisions"]["recalibrate"]
    assert recalibrate == ("one map" if abs(shift) else "no")
    assert ("- Recalibrate:" in texts[0]) == (recalibrate == "one map")


def test_a_mean_outside_of_its_interval_is_said_where_the_test_does_not_reject(run):
    """A calibrated sample whose combined p-value is .11: such samples are 2 of 100."""
    rng = np.random.default_rng(269)
    q = rng.uniform(0.5, 1, 300)
    file = write("a.csv", correct=(rng.random(300) < q) * 1, confidence=q)
    texts, found = outputs(run, "report", file)
    assert found["decisions"]["calibration"] == "calibrated"
    assert found["overall"]["verdict"] == "too high"
    assert all("test of all probabilities does not reject (p =" in t for t in texts)


def test_parts_that_differ_have_a_map_each(run):
    part = np.repeat(["a", "b"], 400)
    columns = answers(800, subject=part)
    q = columns["confidence"]
    columns["correct"] = (RNG.random(800) < q - np.where(part == "a", 0.25, 0)) * 1
    texts, found = outputs(run, "report", write("a.csv", **columns), "--by", "subject")
    assert found["decisions"]["recalibrate"] == "by part"
    assert all("A difference of the curves by subject is shown" in t for t in texts)
    assert all("by it, and recalibrate it by subject." in text for text in texts)
    expected = calibration_decisions(columns["correct"], q, parts=part)
    assert found["by"]["one_map_pvalue"] == pytest.approx(expected.one_map_pvalue)
    assert found["decisions"]["parts"]["a"]["calibration"] == "overconfident"


def test_a_confidence_that_ranks_in_reverse_is_not_recalibrated(run):
    columns = answers(600, subject=np.repeat(["a", "b"], 300))
    q = columns["confidence"]
    columns["correct"] = (RNG.random(600) < 1.2 - q) * 1
    file = write("a.csv", **columns)
    texts, found = outputs(run, "report", file, "--by", "subject")
    assert found["decisions"]["calibration"] == "overconfident"
    assert found["decisions"]["recalibrate"] == "no"
    assert all("ranks wrong above right answers" in text for text in texts)
    assert all("whether outcomes or confidences are reversed" in t for t in texts)
    assert not any("Recalibrate" in t or "Collect more answers of" in t for t in texts)


def test_the_threshold_is_that_of_the_function(run):
    columns = answers(600, subject=np.repeat(["a", "b", "c"], [300, 220, 80]))
    columns["correct"][520:] = RNG.random(80) < 0.3
    y, q = columns["correct"], columns["confidence"]
    file = write("a.csv", **columns)
    texts, found = outputs(run, "report", file, "--by", "subject", "--alone", "0.8")
    expected = threshold_for_precision(y[:300], q[:300], precision=0.8)
    of_parts = found["decisions"]["parts"]
    assert of_parts["a"]["threshold"] == pytest.approx(expected.threshold)
    assert of_parts["c"]["threshold"] is None
    whole = threshold_for_precision(y, q, precision=0.8)
    assert found["alone"]["threshold"]["low"] == pytest.approx(whole.low)
    at, rate = whole.threshold, whole.estimate
    said = f"From a stated probability of {at:.3f}, {rate:.3f} of the answers are right"
    assert all(said in text for text in texts)
    at = np.floor(1000 * expected.threshold) / 1000
    row = f"{at:.3f} ({expected.share_selected:.0%})"
    assert all(row in text for text in texts)
    gate = ("report", file, "--no-figure", "--fail-if", "not-alone")
    assert run(*gate, "--alone", "0.8")[0] == 0
    status, _, error = run(*gate, "--alone", "0.99")
    said = "no probability is shown from which 0.99 of the answers are right"
    assert (status, error) == (1, f"skcalib report: not-alone: a.csv: {said}\n")


def test_a_part_that_cannot_stand_alone_fails_the_condition(run):
    """All answers of a are right, and half of the answers of b, at one probability."""
    y, part = [1] * 900 + [0, 1] * 20, ["a"] * 900 + ["b"] * 40
    file = write("a.csv", correct=y, confidence=[0.95] * 940, subject=part)
    gate = ("report", file, "--fail-if", "not-alone")
    texts, found = outputs(run, *gate)
    assert not found["fail_if"]["is_met"]
    at = "Passed (not-alone): from the probability 0.950, 0.9 of the answers are right"
    assert all(f"{at}." in text for text in texts[1:])
    texts, found = outputs(run, *gate, "--by", "subject")
    assert found["fail_if"]["is_met"]
    assert all("Not for b: by subject, no probability" in text for text in texts)
    said = "no probability is shown from which 0.9 of the answers are right for b"
    assert f"not-alone: a.csv: {said}" in texts[0]
    assert all(f"Failed (not-alone): {said}." in text for text in texts[1:])


def test_systems_of_one_table_have_a_report_each(run):
    """System a is right in 95 of 100 answers, and b in 50."""
    y = [1] * 95 + [0] * 5 + [0, 1] * 50
    names, model = [f"q{k}" for k in range(100)] * 2, ["a"] * 100 + ["b"] * 100
    file = write(
        "x.csv", question=names, model=model, correct=y, confidence=[0.9] * 200
    )
    texts, found = outputs(run, "report", file, "--by", "model")
    assert [each["accuracy"]["estimate"] for each in found] == [0.95, 0.5]
    assert [each["n_samples"] for each in found] == [100, 100]
    assert all("by" not in each for each in found)
    assert "0.725" not in texts[0]  # the mean of both systems
    assert re.search(r"a +100 +0\.950 +0\.\d+ to 0\.\d+ ", texts[0])
    assert all("The model is overconfident" in text for text in texts[1:])


def test_labels_that_are_no_answers_have_two_thresholds(run):
    q = np.repeat([0.02, 0.5, 0.98], 200)
    y = np.r_[np.arange(200) < 4, np.arange(200) % 2, np.arange(200) > 4].astype(int)
    file = write("mails.csv", spam=y, p=q)
    command = ("report", file, "--y-true", "spam", "--y-proba", "p", "--no-figure")
    text = one_line(run(*command)[1])
    assert "From a stated probability of 0.980, 0.975 of the cases are posit" in text
    assert "Up to a stated probability of 0.020, 0.980 of the cases are neg" in text
    found = json.loads(run(*command[:-1], "--json")[1])["alone"]
    assert found["threshold"]["threshold"] == 0.98
    assert found["negative"]["threshold"] == pytest.approx(0.02)


def test_a_wrong_certain_answer_on_a_grid_is_a_rounded_one(run):
    """At the stated levels, as many answers are right as stated; 1 of 40 is not."""
    levels = np.repeat([0.5, 0.75, 0.95, 1.0], 40)
    y = np.concatenate([np.arange(40) < k for k in (20, 30, 38, 39)]).astype(int)
    file = write("a.csv", correct=y, confidence=levels)
    texts, found = outputs(run, "report", file, "--fail-if", "miscalibrated")
    assert found["decisions"]["calibration"] == "calibrated"
    assert found["calibration_error"]["rounded_to"] == 0.05
    assert {row["verdict"] for row in found["regions"]} == {"fits"}
    assert (
        "takes 1 as 0.975 or more and 0 as 0.025 or less: 1 of 40 answers" in texts[0]
    )
    levels[0] = 0.5123
    file = write("b.csv", correct=y, confidence=levels)
    texts, found = outputs(run, "report", file)
    assert found["decisions"]["calibration"] == "not of one kind"
    said = "miscalibrated (1 of 40 answers with probability 1 is wrong)"
    assert all(said in text for text in texts)


def test_a_right_answer_contradicts_the_probability_0(run):
    """Of 20 answers with probability 0, 2 are right and 18 are wrong."""
    y = [1, 1] + [0] * 18 + [0] + [1] * 19 + [0, 1] * 20
    q = [0] * 20 + [1] * 20 + [0.5123] * 40
    texts, found = outputs(run, "report", write("a.csv", correct=y, confidence=q))
    said = (
        "(1 of 20 answers with probability 1 is wrong and 2 of 20 answers with "
        "probability 0 are right)"
    )
    assert all(said in text for text in texts)
    assert (found["n_certain"], found["n_certain_wrong"]) == (40, 3)
    assert (found["n_zero"], found["n_zero_positive"]) == (20, 2)
    texts, _ = outputs(run, "report", write("b.csv", y_true=y, y_proba=q))
    assert all("2 of 20 cases with probability 0 are positive" in t for t in texts)


def test_the_share_of_the_answers_that_stand_alone_is_of_all_answers(run):
    """Of 1,000 answers, 450 have a probability, and 250 of these have 0.95."""
    y = [0, 1] * 100 + [1] * 250 + [1] * 550
    q = [0.5] * 200 + [0.95] * 250 + [""] * 550
    file = write("a.csv", correct=y, confidence=q)
    texts, found = outputs(run, "report", file, "--skip-missing")
    assert "these are 25% of all" in texts[0]
    assert "25% of the answers" in texts[1]
    assert found["alone"]["threshold"]["share_selected"] == 0.25


def test_answers_without_a_confidence_stand_beside_the_others(run):
    columns = answers(300)
    none = np.arange(300) % 3 == 0
    columns["correct"] = np.where(none, np.arange(300) % 5 == 0, columns["correct"])
    y, q = columns["correct"], columns["confidence"]
    columns["confidence"] = np.where(none, "", q.astype(str))
    table = write("a.csv", **columns)
    texts, found = outputs(run, "report", table, "--skip-missing")
    expected = calibration_decisions(y[~none], q[~none])
    assert found["overall"]["frequency"] == pytest.approx(expected.frequency)
    said = f"of the 200 answers with a probability is {expected.frequency:.3f} ("
    others = f"accuracy of the 100 without one is {y[none].mean():.3f} ("
    for text in texts:
        assert said in text
        assert others in text


# Labels of people against a judge


@pytest.fixture
def judged():
    """Write files of a judge that prefers the second system, and people's labels."""
    a, b = RNG.random((2, 400)) < 0.6
    judge = b | (RNG.random(400) < 0.5)
    names = [f"q{k}" for k in range(400)]
    for system, right in (("a", a), ("b", judge)):
        columns = {"question": names, "correct": right * 1, "topic": ["x", "y"] * 200}
        write(f"{system}.csv", **columns, confidence=RNG.uniform(0.4, 0.9, 400))
    write("people.csv", question=names[:120], a=a[:120] * 1, b=b[:120] * 1)
    write("of_b.csv", question=names[:120], score=b[:120] * 1)
    return ("compare", "a.csv", "b.csv", "--labels", "people.csv")


def test_the_gain_by_people_decides_in_every_output(run, judged):
    texts, found = outputs(run, *judged, "--fail-if", "not-better")
    assert found["decisions"]["better"] is None
    assert found["decisions"]["evidence"] == "labels of people"
    (pair,) = found["judged"]
    gain = f"gain {pair['estimate']:+.3f} (95% {pair['low']:+.3f} to"
    for text in texts:
        said = "By the labels of people, b and a do not differ significantly"
        assert f"{said}: {gain}" in text
        assert "b is better" not in text
        assert "accuracy by the judge" in text
        assert re.search("(not-better: |Failed .not-better.: )b", text)
    assert "Do not report a gain" in texts[0]
    assert "let people label more questions: 120 of 400 have a label" in texts[0]
    _, out, _ = run(*judged, "--csv")
    (row,) = csv.DictReader(out.splitlines())
    assert float(row["people_gain"]) == pytest.approx(pair["estimate"])
    assert (row["n"], row["n_labelled"]) == ("400", "120")


def test_a_report_with_labels_is_about_people(run, judged):
    texts, found = outputs(run, "report", "b.csv", "--labels", "of_b.csv")
    rate = found["judged"]
    start = f"The accuracy by people is {rate['estimate']:.3f} (95% interval"
    human = np.genfromtxt("of_b.csv", delimiter=",", skip_header=1, usecols=1)
    q = np.genfromtxt("b.csv", delimiter=",", skip_header=1, usecols=3)[:120]
    expected = calibration_error_interval(human.astype(int), q)
    assert found["calibration_error"]["high"] == pytest.approx(expected.high)
    for text in texts:
        assert start in text
        assert "Of the 120 answers with a label and a probability:" in text
    assert "let people label more answers: 120 of 400 have a label" in texts[0]


def test_labels_of_one_system_only_are_counted_as_not_used(run, judged):
    rows = list(csv.reader(Path("people.csv").read_text().splitlines()))
    for row in rows[1:31]:
        row[2] = ""
    Path("people.csv").write_text("\n".join(map(",".join, rows)))
    texts, _ = outputs(run, *judged)
    assert all("30 labels of a and b are not used: the question" in t for t in texts)


def test_several_judged_pairs_have_bonferronis_correction(run):
    right = RNG.random((3, 300)) < 0.5
    names = [f"q{k}" for k in range(300)]
    columns = {name: each * 1 for name, each in zip("abc", right, strict=True)}
    write("wide.csv", question=names, **columns)
    some = {name: each[:60] for name, each in columns.items()}
    write("people.csv", question=names[:60], **some)
    command = ("compare", "wide.csv", "--systems", "a,b,c", "--labels", "people.csv")
    texts, found = outputs(run, *command)
    for pair in found["judged"]:
        assert pair["decisive"]["low"] < pair["low"] < pair["high"]
    assert all("Bonferroni's correction for 3 pairs" in text for text in texts)
    assert all("share a letter" not in text for text in texts)


# Comparisons


def test_gains_of_parts_are_compared_by_cochrans_q(run):
    part = np.repeat(["x", "y", "z"], 100)
    old = (np.arange(300) % 2 == 0) * 1
    new = np.where((part == "x") & (np.arange(300) % 100 < 60), 1, old)
    for name, right in (("old", old), ("new", new)):
        names = [f"q{k}" for k in range(300)]
        right = np.where(np.arange(300) % 7 == 0, name == "old", right) * 1
        write(f"{name}.csv", question=names, correct=right, part=part)
    texts, found = outputs(run, "compare", "old.csv", "new.csv", "--by", "part")
    rows = [row for row in found["by"]["rows"] if row["low"] < row["high"]]
    gain, low, high = (
        np.array([row[k] for row in rows]) for k in ("gain", "low", "high")
    )
    weight = (2 * norm.ppf(0.975) / (high - low)) ** 2
    square = weight @ (gain - np.average(gain, weights=weight)) ** 2
    ((b, pvalue),) = (each.values() for each in found["by"]["homogeneity"])
    assert (b, pvalue) == ("new", pytest.approx(chi2.sf(square, len(rows) - 1)))
    assert all("A difference of the gains of new by part is" in text for text in texts)


def test_the_verdict_about_several_systems_comes_first(run):
    names = [f"q{k}" for k in range(400)]
    rates = {"low": 0.3, "high": 0.9, "middle": 0.6}
    columns = {
        name: (np.arange(400) * 7 % 400 < 400 * r) * 1 for name, r in rates.items()
    }
    write("wide.csv", question=names, **columns)
    texts, found = outputs(run, "compare", "wide.csv")
    assert found["decisions"]["better"] == "high"
    for text in texts:
        assert text.index("high is better than every other system") < text.index(
            "0.900"
        )


# What was left out


def many_notes(command):
    """Write files with something to note; return a command and its notes."""
    columns = answers(40)
    if command == "report":
        columns["correct"] = ["", *columns["correct"][1:]]
        columns["probability"] = columns["confidence"]
        return [write("a.csv", **columns), "--skip-missing"], [
            "1 row with an empty cell left out",
            "not 'confidence'",
        ]
    write("a.csv", question=columns["question"], correct=columns["correct"])
    write("b.csv", question=columns["question"][5:], correct=columns["correct"][5:])
    notes = ["b lacks 5 of 40 questions ('q0', 'q1', 'q2', ...): left out"]
    return ["a.csv", "b.csv", "--missing", "drop"], notes


@pytest.mark.parametrize("command", ["report", "compare"])
def test_each_note_is_in_each_output(run, command):
    options, notes = many_notes(command)
    texts, found = outputs(run, command, *options)
    texts.append(" ".join(found["notes"]))
    if command == "compare":
        _, out, error = run(command, *options, "--csv")
        texts.append(error)
        assert next(csv.DictReader(out.splitlines()))["n"] == "35"
    for note in notes:
        assert all(note in text for text in texts), note


def test_a_page_names_all_options_and_the_condition(run):
    options = ("--alone", "0.7", "--skip-missing", "--max-error", "0.9")
    file = write("a.csv", **answers(60))
    (_, text, _), found = outputs(run, "report", file, *options)
    error = found["calibration_error"]
    ends = f"{error['estimate']:.3f} (95% {error['low']:.3f} to {error['high']:.3f})"
    for said in ("--alone 0.7", "--skip-missing given", "--max-error 0.9"):
        assert said in text
    said = "Passed (calibration error above 0.9): calibration error"
    assert f"{said} {ends}, p = " in text
    for package in ("numpy", "scipy", "scikit-learn", "matplotlib"):
        assert re.search(rf"{package} \d", text)


@pytest.mark.parametrize("more", [{"gold": list("abcd") * 2}, {}])
def test_names_that_begin_again_in_each_subject_are_an_error(run, more):
    """Four questions of each of two subjects are eight questions, not four."""
    gold = {"gold": [*more["gold"][:4], *"dcba"]} if more else {}
    names = ["q0", "q1", "q2", "q3"] * 2
    subject = ["law"] * 4 + ["maths"] * 4
    for name in "ab":
        write(
            f"{name}.csv", question=names, subject=subject, correct=[0, 1] * 4, **gold
        )
    both = "'a' and 'd'" if more else "'law' and 'maths'"
    for command in (["report", "a.csv"], ["compare", "a.csv", "b.csv"]):
        code, _, error = run(*command, "--by", "subject")
        assert code == 2
        assert "'q0'" in error
        assert both in error
        assert "join the part and the name" in error


def test_samples_under_several_conditions_are_of_one_question_with_a_note(run):
    names, heat = ["q0", "q1", "q2"] * 2, ["cold"] * 3 + ["hot"] * 3
    write("a.csv", question=names, heat=heat, correct=[0, 1, 1, 1, 1, 0])
    code, text, error = run("report", "a.csv", "--by", "heat")
    assert code == 0
    assert "6 samples of 3 questions" in text
    assert "'q0' with the values of 'heat' 'cold' and 'hot'" in error


@pytest.mark.parametrize(
    ("scores", "said", "share"),
    [
        # The means of the questions are equal, so that only samples vary.
        ([1, 0] * 10, "More samples help as much as more questions. 100% of", 1),
        # All samples of a question are equal, so that only questions vary.
        ([1, 1, 0, 0] * 5, "use more questions. 0% of the variance", 0),
    ],
)
def test_report_and_compare_say_the_same_about_more_samples(run, scores, said, share):
    names = [f"q{k // 2}" for k in range(20)]
    for name in "ab":
        write(f"{name}.csv", question=names, correct=scores)
    texts, found = outputs(run, "report", "a.csv")
    assert found["repeats"]["share_of_samples"] == share
    compared, pairs = outputs(run, "compare", "a.csv", "b.csv")
    assert pairs["repeats"][0]["share_of_samples"] == share
    assert all(said in text for text in (texts[0], texts[1], *compared))
    # The standard error is of the mean score, and not of pass@2.
    texts, found = outputs(run, "compare", "a.csv", "b.csv", "--pass-at", "2")
    assert "repeats" not in found
    assert not any("standard error" in text for text in texts)


@pytest.mark.parametrize(("n", "is_said"), [(9, False), (10, True)])
def test_the_width_of_an_interval_of_few_answers_is_not_predicted(run, n, is_said):
    names = [f"q{k}" for k in range(n)]
    for name, score in (("a", [0, 1] * 9), ("b", [1, 0] * 9)):
        write(f"{name}.csv", question=names, correct=score[:n])
    found = json.loads(run("compare", "a.csv", "b.csv", "--json")[1])
    assert (found["decisions"]["more"] is not None) == is_said
    texts, _ = outputs(
        run, "report", write("a.csv", correct=[0, 1] * 4 + [1] * (n - 8))
    )
    assert all(("halve the width" in text) == is_said for text in texts[:2])


def test_a_list_of_probabilities_beside_the_outcome_is_read(run):
    """The largest of each list: 0.8 is right in 3 of 4 answers, 0.6 in 2 of 4."""
    options = ["[0.8, 0.2]", "[0.4, 0.6]"] * 4
    right = [1, 1, 1, 0, 1, 1, 0, 0]
    file = write("a.csv", correct=right, probabilities=options)
    texts, found = outputs(run, "report", file)
    assert found["overall"]["mean_probability"] == pytest.approx(0.7)
    rows = [(row["from"], row["frequency"]) for row in found["regions"]]
    assert rows == [(0.6, 0.5), (0.8, 0.75)]
    note = "The probability is the largest of 'probabilities' in each row."
    assert all(note in text for text in texts)
    # The largest of two probabilities is not that of the label 1.
    labels = write("b.csv", y_true=right, probabilities=options)
    assert "have no probabilities" in one_line(run("report", labels)[1])


@pytest.mark.parametrize("name", ["prob A", "modelConfidence", "Certainty"])
def test_a_note_names_columns_that_may_be_probabilities(run, name):
    columns = {"correct": [0, 1] * 10, name: [0.5, 0.9] * 10, "problem": range(20)}
    texts, found = outputs(run, "report", write("a.csv", **columns))
    assert found["notes"][0].startswith(
        f"Not read, but perhaps probabilities: '{name}'."
    )
    assert all(found["notes"][0] in text for text in texts)


def test_columns_of_confidences_are_no_systems(run):
    columns = {"question": [f"q{k}" for k in range(20)]}
    columns |= {"a_correct": [0, 1] * 10, "b_correct": [1] * 20}
    columns |= {"a confidence": [0.5, 0.9] * 10, "b conf": [0.8, 0.9] * 10}
    texts, found = outputs(run, "compare", write("a.csv", **columns))
    assert [each["name"] for each in found["systems"]] == ["a_correct", "b_correct"]
    assert all("'a confidence', 'b conf'" in text for text in texts)


def test_compare_reads_percentages_and_other_words_for_right(run):
    names = [f"q{k}" for k in range(20)]
    words = ["bad", "good"] * 10
    for name in "ab":
        write(f"{name}.csv", question=names, grade=words, confidence=[40, 90] * 10)
    command = ["compare", "a.csv", "b.csv", "--score", "grade"]
    _, _, error = run(*command)
    assert "Name the label that counts as right with --pos-label." in error
    assert "Use --percent if probabilities run from 0 to 100." in error
    options = ["--pos-label", "good", "--percent"]
    _, found = outputs(run, *command, *options)
    # The answers are the same, so that their probabilities are compared. Of 0.4 and
    # 0.9, none and all are right: (0.4^2 + 0.1^2) / 2.
    scores = [each["score"] for each in found["systems"]]
    assert scores == pytest.approx([0.085, 0.085])
    for name in "ab":
        write(f"{name}.csv", question=names, grade=words)
    assert "--percent needs probabilities" in run(*command, *options)[2]


def test_words_among_probabilities_are_missing_and_named(run):
    """Of twelve cells, two are words, and ten are percentages."""
    q = ["not sure", 80, 90, "?", *[60, 70] * 4]
    file = write("a.csv", correct=[0, 1] * 6, confidence=q)
    command = ("report", file, "--percent")
    assert "'not sure' in line 2, which is not a number" in run(*command)[2]
    texts, found = outputs(run, *command, "--skip-missing")
    assert (found["n"], found["overall"]["n"]) == (12, 10)
    assert found["overall"]["mean_probability"] == pytest.approx(0.69)
    said = "2 of 12 cells of 'confidence' are words without a probability, such as"
    assert all(f"{said} 'not sure' in line 2." in text for text in texts)


def test_agreement_does_not_read_the_stated_confidence(run):
    """Two of three samples agree, and the stated confidence is not a number."""
    columns = {"question": ["a", "a", "a", "b", "b", "b"], "answer": list("xxyzzu")}
    columns |= {"correct": [1, 1, 0, 0, 0, 0], "confidence": ["90%", "high"] * 3}
    file = write("a.csv", **columns)
    options = ("--confidence", "agreement", "--prediction", "answer")
    texts, found = outputs(run, "report", file, *options)
    assert found["overall"]["mean_probability"] == pytest.approx(2 / 3)
    assert found["accuracy"]["estimate"] == 0.5
    assert not any("count as samples" in text for text in texts)


def test_percentages_of_inspect_have_a_hint(run):
    entry = {"value": 1, "metadata": {"confidence": 80}}
    samples = [{"id": k, "epoch": 1, "scores": {"s": entry}} for k in range(3)]
    log = {"version": 2, "status": "success", "eval": {}, "samples": samples}
    Path("a.json").write_text(json.dumps(log))
    said = "Got 80 in sample 2. Use --percent if confidences run from 0 to 100."
    assert said in run("report", "a.json")[2]
    assert run("report", "a.json", "--percent", "--no-figure")[0] == 0


def test_a_condition_names_the_side_on_which_labels_may_be_decided(run):
    """Of 400 cases at 0.02, none is positive; of 400 at 0.5, half are."""
    labels = [0] * 400 + [0, 1] * 200
    file = write("a.csv", label=labels, probability=[0.02] * 400 + [0.5] * 400)
    command = ("report", file, "--no-figure", "--fail-if", "not-alone")
    run(*command, "--markdown", "a.md")
    said = "**Passed (not-alone): up to the probability 0.020, 0.9 are negative.**"
    assert said in Path("a.md").read_text("utf-8")
    labels = [0, 1] * 400
    file = write("b.csv", label=labels, probability=[0.02] * 400 + [0.5] * 400)
    status, _, error = run("report", file, "--no-figure", "--fail-if", "not-alone")
    assert status == 1
    assert "no probability is shown that selects so that 0.9 of the cases" in error
