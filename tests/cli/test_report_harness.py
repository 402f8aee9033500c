"""`skcalib report` on files of evaluation harnesses."""

import csv
import json
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from harness_files import SOURCE

DATA = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "evaluation")

needs_files = pytest.mark.skipif(
    not DATA.is_dir(), reason="SKCALIB_DATA does not name a folder with evaluations"
)


def only(pattern):
    (path,) = DATA.glob(pattern)
    return path


def write_inspect(path, values, model="m", task="t"):
    """Write a log; a value that is None is a sample with an error."""
    samples = [
        {
            "id": k,
            "epoch": 1,
            "metadata": {"subject": "ab"[k % 2]},
            **({"error": {"message": "x"}, "scores": {}} if value is None else {}),
            **({"scores": {"s": {"value": value}}} if value is not None else {}),
        }
        for k, value in enumerate(values)
    ]
    log = {"version": 2, "eval": {"model": model, "task": task}, "samples": samples}
    Path(path).write_text(json.dumps(log))
    return path


@pytest.mark.parametrize(
    ("policy", "n", "estimate"),
    [
        ((), 9, 6 / 9),  # inspect: N is wrong, errors are in no metric
        (("--unanswered", "wrong"), 10, 6 / 10),
        (("--unanswered", "drop"), 8, 6 / 8),
        (("--unanswered", "separate"), 8, 6 / 8),
    ],
)
def test_what_is_not_answered_counts_as_chosen(run, numbers, policy, n, estimate):
    file = write_inspect("log.json", ["C"] * 6 + ["I"] * 2 + ["N", None])
    found = numbers(file, *policy)
    assert found["unanswered"] == {"unparseable": 1, "error": 1}
    assert found["n_skipped"] == 10 - n
    assert (found["n"], found["accuracy"]["estimate"]) == (n, pytest.approx(estimate))
    if "separate" in policy:
        assert found["accuracy_if_wrong"]["estimate"] == pytest.approx(0.6)
    _, out, _ = run("report", file, *policy)
    assert re.search(r"unanswered +1 unparseable, 1 error; \d left out", out)
    assert found["unanswered_rule"][:20] in out


def test_repeated_questions_are_groups(numbers):
    columns = "question,correct,confidence\n"
    rows = [f"q{k},{k % 2},0.{5 + k % 4}\n" for k in range(40)]
    Path("once.csv").write_text(columns + "".join(rows))
    Path("often.csv").write_text(columns + "".join(rows * 10))
    once, often = numbers("once.csv"), numbers("often.csv")
    assert (often["n"], often["n_samples"]) == (40, 400)
    assert often["accuracy"]["estimate"] == once["accuracy"]["estimate"]
    assert often["calibration_error"]["n_groups"] == 40
    width = [e["accuracy"]["high"] - e["accuracy"]["low"] for e in (once, often)]
    assert width[1] == pytest.approx(width[0], rel=0.1)


def test_p_values_of_parts_are_adjusted_by_holms_rule(numbers):
    rng = np.random.default_rng(0)
    q = rng.uniform(0.3, 0.9, 600)
    subject = np.repeat(["a", "b", "c"], 200)
    y = rng.random(600) < np.where(subject == "a", q / 2, q)
    lines = [f"{s},{int(t)},{p}\n" for s, t, p in zip(subject, y, q, strict=True)]
    Path("a.csv").write_text("subject,correct,confidence\n" + "".join(lines))
    parts = numbers("a.csv", "--by", "subject")["by"]["values"]
    p = np.array([part["calibration_error"]["p_value"] for part in parts.values()])
    adjusted = [part["p_value_adjusted"] for part in parts.values()]
    order = p.argsort()
    expected = np.maximum.accumulate(p[order] * [3, 2, 1]).clip(0, 1)
    np.testing.assert_allclose(np.array(adjusted)[order], expected)


@pytest.mark.parametrize(
    ("n_groups", "verdict"), [(4, "too few groups"), (5, "too high")]
)
def test_fewer_than_five_groups_have_no_verdict(run, numbers, n_groups, verdict):
    # Half of the answers of each group are right, and .6 is stated. If groups differ
    # by +-.1 at random, four of them have the same sign in 1 of 8 samples.
    group, right = np.divmod(np.arange(40 * n_groups), 40)
    lines = [f"{y % 2},0.6,{g}\n" for y, g in zip(right, group, strict=True)]
    Path("g.csv").write_text("correct,p,g\n" + "".join(lines))
    found = numbers("g.csv", "--groups", "g")
    assert found["overall"]["verdict"] == verdict
    assert [row["verdict"] for row in found["regions"]] == [verdict]
    text = run("report", "g.csv", "--groups", "g")[1]
    assert ("too few groups: a verdict needs 5 groups" in text) == (n_groups == 4)


# The page


class Tags(HTMLParser):
    """The tags of a page that are open, and those that load or run something."""

    void = ("meta", "br", "img", "link", "use", "path", "defs", "rect", "cc:work")

    def __init__(self):
        super().__init__()
        self.names, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href")]


def test_the_page_is_self_contained_and_escapes_the_file(run):
    evil = '<script>alert("1")</script><img src=x onerror=alert(1)>\u202e'
    rows = [
        {"correct": k % 2, "p": [0.2, 0.7][k % 2], "m": f"{evil}{k % 2}"}
        for k in range(40)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    Path("a <b>.jsonl").write_text(text)
    code, out, _ = run("report", "a <b>.jsonl", "--by", "m", "--html", "page.html")
    assert code == 0
    assert out.endswith("page: page.html\n")
    page = Path("page.html").read_text("utf-8")
    tags = Tags()
    tags.feed(page)
    assert "svg" in tags.names
    assert re.search("<!-- Accuracy -->.*<!-- Count -->", page, re.DOTALL)
    assert not tags.names & {"script", "img", "iframe", "link", "object"}
    assert all(link.startswith("#") for link in tags.links)
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    for word in ("prefers-color-scheme: dark", "@media print", "viewport"):
        assert word in page


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_page_that_cannot_be_written_loses_no_numbers(run):
    file = write_inspect("log.json", ["C", "I"] * 5)
    code, out, err = run("report", file, "--html", "/dev/full")
    assert code == 2
    assert "The accuracy is 0.500 (" in out
    assert "No space left" in err


# Genuine files


@needs_files
@pytest.mark.parametrize(
    ("pattern", "options", "n", "has_proba"),
    [
        ("lm_eval/replayed/llama-13b-prompt0/samples_mmlu_anatomy*", (), 150, True),
        (
            "lm_eval/replayed/6b_finetuning/samples_*",
            ("--filter", "strict-match"),
            150,
            False,
        ),
        ("inspect/replayed/*philosophy*.json", (), 59, False),
        pytest.param(
            "helm/generated/*", ("--split", "test"), None, True, marks=pytest.mark.slow
        ),
        ("hle/judged_generated.json", (), None, True),
        pytest.param(
            "hle/judged_plaut_truthfulqa_gpt-4-turbo.json",
            (),
            None,
            True,
            marks=pytest.mark.slow,
        ),
        ("simple_evals/mmlu_allresults.json", (), None, False),
        (
            "promptfoo/business_two_models.json",
            ("--model", "gemini-1.5-flash-002"),
            60,
            False,
        ),
        ("deepeval/biology_llama.json", (), 39, False),
        ("openai_evals/computer_science_gemini.jsonl", (), 58, False),
        pytest.param(
            "lighteval/details/llama-13b-prompt1/*medicine*",
            (),
            None,
            True,
            marks=pytest.mark.slow,
        ),
        ("inspect/replayed/2026-11-22T02-30-49*.eval", (), 66, False),
    ],
)
def test_genuine_files_have_a_report(run, numbers, pattern, options, n, has_proba):
    if pattern.endswith("medicine*"):
        pytest.importorskip("pyarrow")
    if pattern.endswith(".eval"):
        pytest.importorskip("zstandard")
    path = only(pattern)
    found = numbers(path, *options)
    assert n is None or found["n"] == n
    assert (found["calibration_error"] is not None) == has_proba
    code, out, _ = run("report", path, *options, "--html", "page.html")
    assert code == 0
    assert found["format"] in out
    assert "what to do now" in out


# Decision models

TEAMS = ["billing", "technical", "sales"]


def decisions(n=600, seed=0):
    """Return calibrated answers to a choice, with the confidence of System One.

    The confidence is a statistic of the shape of the distribution: 0 if it is flat, and
    1 if an option has all the probability.
    """
    rng = np.random.default_rng(seed)
    for k in range(n):
        p = rng.dirichlet(np.ones(3)).round(4)
        choice, confidence = TEAMS[p.argmax()], round((3 * p.max() - 1) / 2, 4)
        probabilities = dict(zip(TEAMS, p.tolist(), strict=True))
        gold = str(rng.choice(TEAMS, p=p / p.sum()))
        yield f"m{k}", choice, gold, probabilities, confidence


def test_a_calibrated_decision_model_is_not_underconfident(numbers, run):
    answers = list(decisions())
    with open("answers.jsonl", "w") as file:
        for name, choice, gold, probabilities, confidence in answers:
            answer = {"type": "choice", "choice": choice, "confidence": confidence}
            answer["probabilities"] = probabilities
            row = {"id": name, "labels": {"team": gold}, "answers": {"team": answer}}
            file.write(json.dumps({**row, "model": "m"}) + "\n")
    found = numbers("answers.jsonl")
    assert found["format"] == "decision models"
    assert found["overall"]["verdict"] == "fits"
    assert found["calibration_error"]["p_value"] > 0.05
    for name in ("probability", "probabilities"):
        with open("table.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["choice", "gold", "confidence", name])
            for _, choice, gold, p, confidence in answers:
                cell = json.dumps(p) if name == "probabilities" else max(p.values())
                table.writerow([choice, gold, confidence, cell])
        options = ("table.csv", "--gold", "gold", "--prediction", "choice", "--json")
        code, out, err = run("report", *options)
        assert code == 0
        assert re.search(f"The probability is .*{name!r}.*, not 'confidence'", err)
        assert json.loads(out)["overall"] == found["overall"]
        wrong = json.loads(run("report", *options, "--y-proba", "confidence")[1])
        assert wrong["overall"]["verdict"] == "too low"


def test_each_kind_of_question_has_its_report(numbers, run):
    kinds = {
        "urgent": {"type": "noul", "noul": 0.8},
        "mood": {"type": "score", "probabilities": {"0": 0.3, "1": 0.7}},
    }
    rows = [
        {"id": k, "labels": {"urgent": k % 5 > 0, "mood": int(k % 3 > 0)}}
        for k in range(30)
    ]
    text = "".join(json.dumps(row | {"answers": kinds}) + "\n" for row in rows)
    for name in ("a.jsonl", "b.jsonl"):
        Path(name).write_text(text)
    found = numbers("a.jsonl", "--groups", "item")
    assert (found["n"], found["n_groups"]) == (60, 30)
    by = found["by"]["values"]
    assert by["predicate"]["accuracy"]["estimate"] == 0.8
    assert by["score"]["accuracy"]["estimate"] == pytest.approx(2 / 3)
    assert numbers("a.jsonl", "--by", "name")["by"]["column"] == "name"
    _, out, _ = run("compare", "a.jsonl", "b.jsonl")
    assert "by kind" in out


def test_a_table_of_answers_is_told_its_options(run):
    Path("a.csv").write_text("choice,gold,p\na,b,0.5\nb,b,0.5\n")
    code, _, err = run("report", "a.csv")
    assert code == 2
    assert "right answers with --gold and the model's with --prediction" in err
    code, _, err = run("report", "a.csv", "--gold", "gold")
    assert "a.csv: needs --gold and --prediction together" in err
    code, _, err = run("report", "a.csv", "--gold", "gold", "--prediction", "choise")
    assert "--prediction must name a column" in err


def test_folders_of_every_eval_ever_are_two_systems(run):
    for name in ("tern", "heron"):
        folder = Path(name)
        folder.mkdir()
        source = SOURCE / "every_eval_ever" / f"{name}_samples.jsonl"
        shutil.copy(source, folder / "1f0e_samples.jsonl")
    code, out, _ = run("compare", "tern", "heron", "--json")
    assert code == 0
    systems = json.loads(out)["systems"]
    assert [system["name"] for system in systems] == ["example/tern", "example/heron"]


def test_samples_without_an_attribute_are_no_group_and_a_part_of_their_own(
    run, numbers
):
    for name, right in (("one", "CICICIIC"), ("two", "CCCCIICC")):
        path = Path(write_inspect(f"{name}.json", right, model=name))
        log = json.loads(path.read_text())
        for sample in log["samples"][:3]:
            sample["metadata"] = {}
        path.write_text(json.dumps(log))
    assert list(numbers("one.json", "--by", "subject")["by"]["values"]) == [
        "(no subject)",
        "b",
        "a",
    ]
    _, out, _ = run("compare", "one.json", "two.json", "--by", "subject", "--json")
    rows = json.loads(out)["by"]["rows"]
    assert [(row["value"], row["n"]) for row in rows][0] == ("(no subject)", 3)
    for command in (["report", "one.json"], ["compare", "one.json", "two.json"]):
        code, out, error = run(*command, "--groups", "subject")
        assert (code, out) == (2, "")
        said = (
            "--groups subject needs a group for each question. 3 of 8 have no subject"
        )
        assert said in error


def test_a_folder_names_the_files_that_it_leaves_out(run, numbers):
    folder = Path("logs")
    folder.mkdir()
    write_inspect(folder / "a.json", ["C", "I", "C"] * 8, model="a")
    write_inspect(folder / "b.json", ["C", "C", "I"] * 8, model="b")
    write_inspect(folder / "failed.json", [None] * 5, model="c")
    write_inspect(folder / "none.json", [], model="d")
    write_inspect(folder / "one.json", ["C"], model="e")
    (folder / "settings.json").write_text("{}")
    (folder / "cut.eval").write_bytes(b"PK\x03\x04 and no end")
    (folder / "cut.json").write_text('{"version": 2, "eval": {"model": "f"}, "sa')
    (folder / "empty.eval").write_text("")
    code, out, err = run("compare", folder)
    assert (code, err) == (0, "")
    assert "accuracy of 2 systems on the same 24 questions" in out
    left = re.findall(r"Left out: logs/(\S+?)[.,]?\s", out)
    assert left[:2] == ["cut.eval", "cut.json"]
    assert left[2:] == ["empty.eval", "failed.json", "none.json", "one.json"]
    found = numbers(folder)
    assert [each["model"] for each in found] == ["a", "b", "e"]
    assert str(found[0]["notes"]).count("Left out") == 5
    code, out, err = run("report", folder / "a.json", folder / "failed.json")
    assert (code, out) == (2, "")
    assert "failed.json must be a log with scores. It was never scored." in err
    Path("failed").mkdir()
    shutil.copy(folder / "failed.json", "failed")
    for command in ("report", "compare"):
        code, out, err = run(command, "failed")
        assert (code, out) == (2, "")
        assert "failed has no file with scores. Left out: failed/failed.json." in err


def write_samples(path, right):
    """Write samples of lm-evaluation-harness with the score exact_match."""
    rows = [
        {"doc_id": k, "doc": {"q": k}, "target": "1", "filter": "none", "resps": []}
        | {"filtered_resps": ["1"], "exact_match": float(each)}
        for k, each in enumerate(right)
    ]
    Path(path).write_text("\n".join(map(json.dumps, rows)))


def test_of_two_runs_in_one_folder_the_later_is_taken_and_said(run, numbers):
    Path("a").mkdir()
    Path("b").mkdir()
    first, later = (f"2026-01-0{day}T00-00-00.000000.jsonl" for day in (1, 2))
    write_samples(f"a/samples_t1_{first}", [1, 0] * 10)
    write_samples(f"a/samples_t1_{later}", [1, 1] * 10)
    write_samples(f"a/samples_t2_{first}", [1, 0] * 10)
    write_samples(f"b/samples_t1_{first}", [1, 0] * 10)
    write_samples(f"b/samples_t2_{first}", [0, 0] * 10)
    found = numbers("a")
    assert (found["n"], found["accuracy"]["estimate"]) == (40, 0.75)
    said = f"Left out: a/samples_t1_{first}, an earlier run than a/samples_t1_{later}."
    assert said in found["notes"]
    code, out, _ = run("compare", "a", "b")
    assert (code, "on the same 40 questions" in out) == (0, True)
    assert said in " ".join(out.split())
    # Files that the command names are all meant.
    for time in (first, later):
        results = Path(f"a/results_{time.removesuffix('l')}")
        results.write_text(json.dumps({"model_name": "m"}))
    code, _, err = run("compare", *sorted(Path("a").glob("samples*")), "b")
    assert code == 2
    assert f"samples_t1_{first} and a/samples_t1_{later} are two runs of the" in err


def test_a_partial_score_leaves_only_its_probability_out(numbers, run):
    answers = [("C", 0.9), ("C", 0.8), ("I", 0.3), ("I", 0.6), ("C", 0.7)] * 6

    def log(path, answers):
        scores = [
            {"s": {"value": v, "metadata": {"confidence": c}}} for v, c in answers
        ]
        samples = [{"id": k, "scores": each} for k, each in enumerate(scores)]
        content = {"version": 2, "eval": {"model": "m"}, "samples": samples}
        Path(path).write_text(json.dumps(content))
        return path

    whole = numbers(log("whole.json", answers))
    found = numbers(log("partial.json", [*answers, ("P", 0.5)]))
    assert found["calibration_error"] == whole["calibration_error"]
    assert found["accuracy"]["estimate"] == pytest.approx(18.5 / 31)
    note = "1 of 31 answers with a probability has a score other than 0 and 1"
    assert note in str(found["notes"])
    path = log("many.json", [*answers, *[("P", 0.5)] * 4])
    assert numbers(path)["calibration_error"] is None
    out = run("report", path, "--no-figure")[1]
    assert "Some scores are not 0 or 1" in " ".join(out.split())


def test_one_answer_has_an_accuracy(run, numbers):
    Path("one.csv").write_text("y,q\n1,0.5\n")
    found = numbers("one.csv")
    # Jeffreys' limit of 1 of 1 would be .15; the limit of the exact mid-p test is .05.
    assert found["accuracy"] == {"estimate": 1.0, "low": pytest.approx(0.05), "high": 1}
    assert "One answer is too few" in run("report", "one.csv")[1]


def test_means_and_gains_of_grades_are_in_their_unit(run, numbers):
    grades = [(1, 2), (3, 5), (4, 4), (2, 5), (5, 5), (1, 3), (2, 2), (4, 5)] * 3
    rows = [f"q{k},{a},{b}\n" for k, (a, b) in enumerate(grades)]
    Path("g.csv").write_text(f"question,old,new\n{''.join(rows)}")
    old, new = np.array(grades).mean(axis=0)
    found = numbers("g.csv", "--scale", 1, 5, "--y-true", "new")
    assert found["accuracy"]["estimate"] == pytest.approx(new)
    out = run("report", "g.csv", "--scale", 1, 5, "--y-true", "new")[1]
    assert f"The mean grade is {new:.3f}" in out
    assert "Grades are not right or wrong: calibration is not measured" in (
        " ".join(out.split())
    )
    options = ("--scale", 1, 5, "--margin", 0.5, "--power", 1)
    found = json.loads(run("compare", "g.csv", *options, "--json")[1])
    shares = [f"q{k},{(a - 1) / 4},{(b - 1) / 4}\n" for k, (a, b) in enumerate(grades)]
    Path("s.csv").write_text(f"question,old,new\n{''.join(shares)}")
    options = ("--margin", 0.125, "--power", 0.25, "--json")
    expected = json.loads(run("compare", "s.csv", *options)[1])
    assert [each["score"] for each in found["systems"]] == pytest.approx([old, new])
    assert found["systems"][0]["low"] == 1 + 4 * expected["systems"][0]["low"]
    gain, share = found["pairs"][0], expected["pairs"][0]
    for name in ("gain", "low", "high", "margin"):
        assert gain[name] == pytest.approx(4 * share[name])
    for name in ("pvalue", "noninferiority_pvalue"):
        assert gain[name] == share[name]
    assert (
        found["decisions"]["more"]["needed_for_half"]
        == (expected["decisions"]["more"]["needed_for_half"])
    )
    power, other = found["power"][0], expected["power"][0]
    assert power["detectable_gain"] == pytest.approx(4 * other["detectable_gain"])
    assert power["questions_needed"] == other["questions_needed"]
    code, _, err = run("compare", "g.csv", "--scale", 1, 5, "--margin", 4)
    assert code == 2
    assert "--margin must be above 0 and below 4, for example 0.08. Got 4." in err


def test_a_scheme_of_tags_is_read_as_convert_tags_writes_it(run):
    from skcalib.sequence import convert_tags

    gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "B-LOC"]] * 5
    answers = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]] * 5
    found = {}
    for scheme in ("BIO", "iobes", "BILOU", "IOE2"):
        tags = [convert_tags(each, "BIO", scheme) for each in (gold, answers)]
        lines = [
            "".join(f"w {a} {b}\n" for a, b in zip(*pair, strict=True))
            for pair in zip(*tags, strict=True)
        ]
        Path("a.txt").write_text("\n".join(lines))
        options = ("--metric", "f1", "--scheme", scheme, "--json")
        (system,) = json.loads(run("compare", "a.txt", *options)[1])["systems"]
        found[scheme] = system["score"]
    # 10 of 10 answers and of 15 entities are right.
    assert found == dict.fromkeys(found, 0.8)
    code, _, err = run("compare", "a.txt", "--scheme", "iob")
    assert (code, "--scheme must say which scheme is meant" in err) == (2, True)


def test_a_column_of_annotators_is_a_second_factor(run):
    rows = [f"q{k // 3},a{k % 3},{k % 4 > 0:d}\n" for k in range(60)]
    Path("a.csv").write_text(f"question,annotator,correct\n{''.join(rows)}")
    note = "'annotator' may be a second factor: the intervals are for these annotators."
    assert note in run("report", "a.csv")[2]
    assert note not in run("report", "a.csv", "--groups", "annotator")[2]
