"""What the commands say and decide about a confidence, and their Markdown."""

import html
import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from skcalib.cli import _blocks as b
from skcalib.metrics import calibration_error_interval, confidence_ranking


def write(name, y, q, **columns):
    """Write a table with a confidence for each answer; return its name."""
    columns = {"question": range(len(y)), "correct": y, "confidence": q} | columns
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def one_line(text):
    return " ".join(text.split())


def drawn(power, n=400, seed=0):
    """Draw answers of a model that states q and is right with probability q^power."""
    rng = np.random.default_rng(seed)
    q = rng.beta(4, 2, n).round(3)
    return (rng.random(n) < q**power).astype(int), q


@pytest.mark.parametrize(
    ("y", "q", "words"),
    [
        (*([0, 1] * 200, [0.9] * 400), "is miscalibrated and ranks nothing"),
        (*([0, 1] * 200, [0.6, 0.4] * 200), "and ranks wrong above right answers"),
    ],
)
def test_one_line_says_whether_it_is_calibrated_and_ranks(run, y, q, words):
    file = write("a.csv", y, q)
    _, out, _ = run("report", file, "--no-figure", "--html", "page.html")
    assert words in one_line(out)
    assert words in Path("page.html").read_text()


@pytest.mark.parametrize("size", [1, 4])
def test_a_model_has_one_calibration_error_in_all_commands(run, size):
    passage = np.arange(400) // size
    found = {}
    for name, power in (("a", 3), ("b", 1)):
        y, q = drawn(power)
        write(f"{name}.csv", y, q, passage=passage)
        groups = passage if size > 1 else None
        found[name] = calibration_error_interval(y, q, groups=groups).estimate
    options = ("--groups", "passage") if size > 1 else ()
    report = json.loads(run("report", "a.csv", *options, "--json")[1])
    assert report["calibration_error"]["estimate"] == pytest.approx(found["a"])
    compare = json.loads(run("compare", "a.csv", "b.csv", *options, "--json")[1])
    (difference,) = compare["calibration"]
    for each, name in zip(compare["confidence"], "ab", strict=True):
        assert each["calibration_error"]["estimate"] == pytest.approx(found[name])
        assert difference["calibration_error"][name] == pytest.approx(found[name])
    _, out, _ = run("compare", "a.csv", "b.csv", *options)
    assert f"{found['a']:.3f}" in out
    assert "plug-in" not in out


def test_the_json_has_the_ranking_without_the_arrays_of_the_curve(run):
    y, q = drawn(2)
    groups = np.arange(400) // 4
    file = write("a.csv", y, q, source=groups)
    found = json.loads(run("report", file, "--groups", "source", "--json")[1])
    expected = confidence_ranking(y, q, groups=groups).to_dict()
    auroc = found["ranking"]["auroc"]
    assert auroc["estimate"] == pytest.approx(roc_auc_score(y, q))
    assert auroc == pytest.approx(expected["auroc"])
    curve = {"coverage", "risk", "risk_low", "risk_high"}
    assert found["ranking"].keys() == expected.keys() - curve
    interval = calibration_error_interval(y, q, groups=groups)
    assert found["calibration_error"]["low"] == pytest.approx(interval.low)


def test_the_expected_ece_is_exact_if_each_bin_has_one_probability(run):
    """All labels of 4 and 5 answers are enumerated."""
    q = np.array([0.3] * 4 + [0.85] * 5)
    expected = 0.0
    for labels in product((0, 1), repeat=q.size):
        y = np.array(labels)
        chance = np.where(y == 1, q, 1 - q).prod()
        expected += chance * sum(abs((q - y)[q == each].sum()) for each in set(q)) / 9
    found = json.loads(run("report", write("a.csv", [0, 1] * 4 + [1], q), "--json")[1])
    assert found["ece_expected"] == pytest.approx(expected, rel=1e-9)


# Decisions


def test_report_fails_if_the_interval_is_above_the_limit(run):
    y, q = drawn(3)
    file = write("a.csv", y, q)
    low = calibration_error_interval(y, q).low
    assert low > 0.02
    for options, met in (
        (("--fail-if", "miscalibrated"), True),
        (("--max-error", low * 0.99), True),
        (("--max-error", low * 1.01), False),
    ):
        status, out, err = run("report", file, *options, "--json")
        assert status == int(met)
        assert json.loads(out)["fail_if"]["is_met"] is met
        assert err.count(f": {file}: calibration error") == int(met)


def test_a_condition_that_cannot_be_tested_is_said(run):
    file = write("a.csv", [0, 1, 0], [0.9, 0.9, 0.8])
    command = ("report", file, "--no-figure", "--fail-if", "miscalibrated")
    status, _, err = run(*command)
    assert status == 0
    assert "miscalibrated: a.csv: not met. Too few answers to test" in err
    Path("b.csv").write_text("question,correct\n1,1\n2,0\n")
    status, out, err = run("report", "b.csv", *command[2:])
    assert (status, out) == (2, "")
    assert "b.csv: --fail-if and --max-error need answers with prob" in err
    status, out, err = run("report", file, "b.csv", *command[2:])
    assert (status, out) == (2, "")
    assert "b.csv: --fail-if and" in err
    status, _, err = run(*command, "--max-error", "0.1")
    assert (status, "exclude each other" in err) == (2, True)
    assert "at least 0 and below 1" in run(*command[:3], "--max-error", 5)[2]


def test_compare_fails_if_a_system_is_worse_calibrated(run):
    y, q = drawn(1)
    old = write("old.csv", y, q)
    again = (np.random.default_rng(5).random(400) < q).astype(int)
    same = write("same.csv", again, q)
    new = write("new.csv", y, (q**0.2).round(4))
    command = ("compare", old, same, new, "--fail-if", "worse-calibrated")
    status, out, err = run(*command, "--json")
    assert (status, err) == (1, "skcalib compare: worse-calibrated: new\n")
    found = json.loads(out)
    assert found["fail_if"]["systems"] == ["new"]
    # Two p-values with Holm's correction.
    tests = [each["calibration_error"] for each in found["calibration"]]
    small, large = sorted(each["pvalue"] for each in tests)
    adjusted = sorted(each["pvalue_adjusted"] for each in tests)
    assert adjusted == pytest.approx([2 * small, max(2 * small, large)])
    for each, name in zip(found["confidence"], ("old", "same", "new"), strict=True):
        y, q = np.loadtxt(f"{name}.csv", delimiter=",", skiprows=1).T[1:]
        auroc = confidence_ranking(y, q).auroc
        assert each["ranking"]["auroc"] == pytest.approx(auroc.to_dict())
        error = calibration_error_interval(y, q).to_dict()
        assert each["calibration_error"] == pytest.approx(error)
    assert run("compare", new, old, *command[4:])[0] == 0


# Agreement of samples


SAMPLES = {
    "capital of Peru": ("Lima", ["Lima", "lima.", "Cusco", "Lima"]),
    "7 + 1": ("8", ["9", "8", "9"]),
    "2 + 2": ("4", ["4", "4"]),
    "a tie": ("x", ["y", "x"]),
}


def write_samples(name, samples):
    rows = ["question,correct,answer,gold,kind"]
    for k, (question, (gold, answers)) in enumerate(samples.items()):
        for answer in answers:
            right = int(answer.casefold().strip(".") == gold.casefold())
            rows.append(f"{question},{right},{answer},{gold},kind {k % 2}")
    Path(name).write_text("\n".join(rows) + "\n")
    return name


def test_the_confidence_may_be_the_share_of_samples_that_agree(run):
    file = write_samples("samples.csv", SAMPLES)
    options = ("--confidence", "agreement", "--prediction", "answer")
    found = json.loads(run("report", file, *options, "--by", "kind", "--json")[1])
    # Lima is right with 3 of 4 samples, 9 is wrong with 2 of 3, 4 is right with 2 of 2,
    # and y is wrong with 1 of 2.
    assert (found["n"], found["n_samples"], found["n_groups"]) == (4, 4, None)
    assert found["accuracy"]["estimate"] == 0.5
    mean = found["overall"]["mean_probability"]
    assert mean == pytest.approx((3 / 4 + 2 / 3 + 1 + 1 / 2) / 4)
    assert found["ranking"]["auroc"]["estimate"] == 1
    assert found["notes"][-1].startswith("The 4 answers are the most frequent of 2-4 ")
    assert {k: each["n"] for k, each in found["by"]["values"].items()} == {
        "kind 0": 2,
        "kind 1": 2,
    }


def test_agreement_needs_several_samples_and_their_answers(run):
    file = write_samples("samples.csv", SAMPLES | {"one": ("1", ["1"])})
    command = ("report", file, "--confidence", "agreement")
    status, _, err = run(*command)
    assert (status, "needs --prediction COL" in err) == (2, True)
    command += ("--prediction", "answer")
    status, _, err = run(*command)
    assert (status, "at least two samples of each question. Got one" in err) == (
        2,
        True,
    )
    assert "of question 'one'" in err
    assert "exclude each other" in run(*command, "--y-proba", "correct")[2]


def write_responses(score, metric, filters=("vote",)):
    """Write a file of lm-evaluation-harness with three responses to each question."""
    rows = [
        {
            "doc_id": k,
            "target": gold,
            "resps": [texts],
            "filter": name,
            metric: score(k),
        }
        | {
            "filtered_resps": [
                max(texts, key=texts.count) if name == "vote" else texts[0]
            ]
        }
        for name in filters
        for k, (gold, texts) in enumerate([("a", ["b", "a", "a"]), ("b", ["c"] * 3)])
    ]
    Path("samples.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "report", "samples.jsonl", "--confidence", "agreement"


def test_agreement_of_the_responses_of_a_harness(run):
    command = write_responses(lambda k: 1.0 - k, "judged")
    found = json.loads(run(*command, "--json")[1])
    assert (found["n"], found["accuracy"]["estimate"]) == (2, 0.5)
    assert found["overall"]["mean_probability"] == pytest.approx((2 / 3 + 1) / 2)
    command = write_responses(lambda k: 0.0, "judged", ["first"])
    status, _, err = run(*command)
    assert (status, "a majority vote with --filter" in err) == (2, True)
    assert "another answer to question '0'" in err
    # The rule of an exact match is known: the first answer is wrong, the others right.
    command = write_responses(lambda k: 0.0, "exact_match", ["first"])
    found = json.loads(run(*command, "--json")[1])
    assert found["accuracy"]["estimate"] == 0.5
    assert "does not apply" in run(*command, "--prediction", "answer")[2]


def test_agreement_needs_a_file_with_answers(run):
    entry = {"response": "Confidence: 9%", "judge_response": {"correct": "yes"}}
    Path("judged.json").write_text(json.dumps({"q": entry}))
    status, _, err = run("report", "judged.json", "--confidence", "agreement")
    assert (status, "agreement: the file must be" in err) == (2, True)
    assert "contains the answers. Got 'HLE'" in err


# Markdown


def test_marks_and_links_of_github_are_escaped():
    text = "<b> a|b *c* _d_ `e` [f](http://g) @h #1 www.i.org GH-2 :j: \x1b \\ ~k~ $l$"
    assert b.as_markdown("@t", [b.Paragraph(text)]) == (
        "## @&#8203;t\n\n&lt;b&gt; a\\|b \\*c\\* \\_d\\_ \\`e\\` "
        "\\[f\\](http:&#8203;//g) @&#8203;h #&#8203;1 www&#8203;.i.org GH&#8203;-2 "
        ":&#8203;j: \\\\x1b \\\\ \\~k\\~ \\$l\\$\n"
    )
    for text in ("- a", "1. a", "# a", "+ a", "=="):
        written = b.Paragraph(text).markdown()
        assert written.replace("\\", "", 1) == text != written


# One system


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_one_file_of_translations_has_a_score_with_an_interval(run, metric):
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    rng = np.random.default_rng(0)
    words = np.array(list("abcdefghijkl"))
    right = [words[rng.integers(0, 12, rng.integers(6, 14))] for _ in range(150)]
    wrong = [np.where(rng.random(r.size) < 0.2, rng.choice(words), r) for r in right]
    lines = [[" ".join(each) for each in text] for text in (right, wrong)]
    for name, text in zip(("ref.txt", "one.txt"), lines, strict=True):
        Path(name).write_text("\n".join(text) + "\n")
    command = ("compare", "one.txt", "--metric", metric, "--reference", "ref.txt")
    status, out, _ = run(*command, "--html", "page.html", "--markdown", "summary.md")
    assert status == 0
    assert "of one system on 150 sentences" in out
    (system,) = json.loads(run(*command, "--json")[1])["systems"]
    peer = getattr(sacrebleu, {"chrf": "CHRF"}.get(metric, metric.upper()))()
    expected = peer.corpus_score(lines[1], [lines[0]], n_bootstrap=1000)
    assert system["score"] == pytest.approx(expected.score)
    # sacrebleu gives half of the width of its bootstrap interval.
    half = (system["high"] - system["low"]) / 2
    assert half == pytest.approx(expected._ci, rel=0.15)
    for option in (("--margin", "1"), ("--fail-if", "worse"), ("--power",), ("--csv",)):
        status, _, err = run(*command, *option)
        assert (status, f"{option[0]} needs a second file" in err) == (2, True)


@pytest.mark.parametrize(("n_wrong", "more"), [(0, "50 more"), (5, "150 more")])
def test_twice_the_sentences_halve_the_width_of_an_interval_at_its_end(
    run, n_wrong, more
):
    tags = ["B-LOC"] * n_wrong + ["B-PER"] * (50 - n_wrong)
    Path("tags.txt").write_text("".join(f"Ann B-PER {tag}\n\n" for tag in tags))
    status, out, _ = run("compare", "tags.txt", "--metric", "f1")
    assert (status, f"collect about {more} sentences" in " ".join(out.split())) == (
        0,
        True,
    )


def test_a_condition_that_is_given_twice_is_an_error(run):
    conditions = ("--fail-if", "worse-calibrated", "--fail-if", "worse")
    status, _, err = run("compare", "a.csv", "b.csv", *conditions)
    assert (status, "--fail-if is given twice" in err) == (2, True)


def test_every_output_of_a_comparison_has_its_notes(run, folder):
    rows = [f"{k},{k % 2},{k % 3 // 2},0.7,{'ab'[k % 2]}" for k in range(40)]
    (folder / "wide.csv").write_text("\n".join(["id,one,two,three,part", *rows]))
    command = ("compare", "wide.csv")
    (*_, note) = json.loads(run(*command, "--json")[1])["notes"]
    assert note.startswith("The systems are the columns 'one', 'two'. Not taken")
    _, out, err = run(*command, "--csv")
    assert out.startswith("a,b,score_a,")
    assert err.endswith(f"skcalib compare: {note}\n")
    options = ("--by", "part", "--html", "p.html", "--markdown", "p.md")
    _, out, _ = run(*command, *options)
    (*_, note) = json.loads(run(*command, *options, "--json")[1])["notes"]
    page, summary = (Path(name).read_text("utf-8") for name in ("p.html", "p.md"))
    assert note in one_line(out)
    assert note in html.unescape(page)
    assert note in summary.replace("\\", "")
    assert "\n### by part\n" in summary


def test_notes_are_in_the_summary_of_a_pull_request(run, folder):
    rows = [f"{k % 2},{k % 10 + 1}" for k in range(60)]
    (folder / "ten.csv").write_text("\n".join(["correct,confidence", *rows]))
    run("report", "ten.csv", "--percent", "--no-figure", "--markdown", "ten.md")
    assert "is above 10, and 10 is read as 10%" in (folder / "ten.md").read_text(
        "utf-8"
    )
