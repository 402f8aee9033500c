"""``skcalib compare``: what it prints, its errors and its exit status."""

import csv
import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from cases import case

from skcalib.cli import main
from skcalib.significance import compare_systems


def write_table(path, columns):
    rows = zip(*columns.values(), strict=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return str(path)


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    ease = rng.random(120)
    return {
        "base": (rng.random(120) < ease).astype(int),
        "tuned": (rng.random(120) < ease**0.3).astype(int),
    }


@pytest.fixture
def files(tmp_path, scores):
    """Return a file of each system, in different orders, with subjects and sources."""
    paths = []
    rng = np.random.default_rng(1)
    for name, right in scores.items():
        order = rng.permutation(120)
        columns = {
            "id": [f"q{k}" for k in order],
            "correct": right[order],
            "subject": [f"s{k % 3}" for k in order],
            "source": [f"src{k % 20}" for k in order],
        }
        paths.append(write_table(tmp_path / f"{name}.csv", columns))
    return paths


def run(capsys, *arguments):
    status = main(["compare", *map(str, arguments)])
    return status, capsys.readouterr()


def as_json(capsys, *arguments):
    status, out = run(capsys, *arguments, "--json")
    assert status == 0, out.err
    return json.loads(out.out)


def test_two_files_are_matched_by_id_and_tested(capsys, files, scores):
    found = as_json(capsys, *files)
    expected = compare_systems(scores)
    pair = found["pairs"][0]
    assert (pair["a"], pair["b"]) == ("base", "tuned")
    assert pair["gain"] == pytest.approx(scores["tuned"].mean() - scores["base"].mean())
    assert pair["pvalue"] == pytest.approx(float(expected.pvalue[0]))
    assert pair["wins"] == ((scores["tuned"] > scores["base"]).sum())
    assert found["metric"] == "accuracy"
    assert found["n"] == 120
    assert found["only_in"] == {"base": 0, "tuned": 0}
    for k, system in enumerate(found["systems"]):
        assert system["score"] == pytest.approx(expected.score[k])
        assert (system["low"], system["high"]) == (expected.low[k], expected.high[k])


def test_groups_and_subjects(capsys, files, scores):
    found = as_json(capsys, *files, "--groups", "source", "--by", "subject")
    expected = compare_systems(scores, groups=np.arange(120) % 20)
    assert found["pairs"][0]["pvalue"] == pytest.approx(float(expected.pvalue[0]))
    assert found["n_groups"] == 20
    rows = {row["value"]: row for row in found["by"]["rows"]}
    assert {value: row["n"] for value, row in rows.items()} == dict.fromkeys(
        ("s0", "s1", "s2"), 40
    )
    # Holm: the smallest p-value times 3, never below the ones before it.
    by_p = sorted(rows.values(), key=lambda row: row["pvalue"])
    assert by_p[0]["pvalue_adjusted"] == pytest.approx(min(3 * by_p[0]["pvalue"], 1))
    assert by_p[2]["pvalue_adjusted"] >= by_p[1]["pvalue_adjusted"]


def test_a_part_with_one_group_is_an_error(capsys, tmp_path):
    """As in the report: the answers of one group may all depend on each other."""
    paths = []
    for name in ("old", "new"):
        columns = {
            "id": range(90),
            "correct": [int(name == "new" or k % 3 == 0) for k in range(90)],
            "subject": ["law"] * 60 + ["art"] * 30,
            "passage": ["only"] * 60 + [f"p{k // 3}" for k in range(30)],
        }
        paths.append(write_table(tmp_path / f"{name}.csv", columns))
    status, out = run(capsys, *paths, "--by", "subject", "--groups", "passage")
    assert (status, out.out) == (2, "")
    assert "--by subject, value law: --groups needs rows of at least two" in out.err
    assert "Got 'only' in every row" in out.err
    # Groups that are the parts themselves are compared question by question.
    rows = as_json(capsys, *paths, "--by", "subject", "--groups", "subject")["by"]
    assert [row["n"] for row in rows["rows"]] == [60, 30]


@pytest.mark.parametrize("n_groups", [4, 6, 9])
def test_groups_too_few_for_the_correction_are_said(capsys, tmp_path, n_groups):
    """The smallest p-values of sign flips are 2^-3, 2^-5 and, as mid-p, 2^-9.

    At 0.05, the first cannot reject, and three times the second cannot.
    """
    k = np.arange(5 * n_groups)
    columns = {"id": k, "src": k % n_groups, "old": k * 0, "new": k * 0 + 1}
    columns["half"] = (k < 2 * n_groups).astype(int)
    path = write_table(tmp_path / "wide.csv", columns)
    options = ("--groups", "src", "--systems", "old,half,new")
    text = " ".join(run(capsys, path, *options)[1].out.split())
    assert ("Too few groups differ to reject at 0.05" in text) == (n_groups == 4)
    said = "With so few groups no p-value is below 0.031. Some of the 3 pairs cannot"
    assert (said in text) == (n_groups == 6)
    assert ("With so few groups" in text) == (n_groups == 6)
    # One pair needs no correction.
    text = run(capsys, path, "--groups", "src", "--systems", "old,new")[1].out
    assert "With so few groups" not in text


def test_too_few_differing_questions_are_said(capsys, tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path, n_wrong in zip(paths, (3, 0), strict=True):
        correct = np.r_[np.zeros(n_wrong), np.ones(100 - n_wrong)].astype(int)
        write_table(path, {"question": np.arange(100), "correct": correct})
    found = as_json(capsys, *paths)
    assert found["smallest_pvalue"] == 0.125
    text = " ".join(run(capsys, *paths)[1].out.split())
    assert "Too few questions differ to reject at 0.05" in text


def test_probabilities_are_compared(capsys, tmp_path, scores):
    paths = []
    for name, right in scores.items():
        proba = 0.3 + 0.5 * right + 0.001 * np.arange(120)
        columns = {
            "id": [f"q{k}" for k in range(120)],
            "correct": right,
            "confidence": proba,
        }
        paths.append(write_table(tmp_path / f"{name}.csv", columns))
    found = as_json(capsys, *paths)
    brier = found["calibration"][0]["brier"]
    a, b = (
        ((0.3 + 0.5 * y + 0.001 * np.arange(120) - y) ** 2).mean()
        for y in scores.values()
    )
    assert (brier["a"], brier["b"]) == pytest.approx((a, b))
    assert brier["difference"] == pytest.approx(b - a)
    assert brier["low"] <= b - a <= brier["high"]
    error = found["calibration"][0]["calibration_error"]
    assert error["low"] <= error["difference"] <= error["high"]


def test_margin_and_level_of_three_systems(capsys, tmp_path):
    path, names = systems_of_questions(tmp_path, 3)
    options = ("--systems", ",".join(names), "--margin", "0.1")
    options += ("--confidence-level", "0.9")
    found = as_json(capsys, path, *options)
    out = run(capsys, path, *options)[1].out
    pairs = tables_of_text(out)[1]
    decisions = [
        [
            "yes" if pair[key] else "not shown"
            for key in ("is_noninferior", "is_equivalent")
        ]
        for pair in found["pairs"]
    ]
    assert [row[-2:] for row in pairs] == decisions
    assert len({each for row in decisions for each in row}) == 2
    assert re.search(r" adjusted .* not inferior +equivalent$", out, re.MULTILINE)
    words = " ".join(out.split())
    assert "do not differ significantly at 0.1 with Holm's correction" in words
    assert "The margin is 0.1." in words


def repeated(tmp_path, n_samples):
    rng = np.random.default_rng(2)
    paths = []
    for name, a in (("one", 1.0), ("two", 2.0)):
        chance = np.repeat(rng.beta(a, 1, 30), n_samples)
        columns = {
            "id": np.repeat([f"q{k}" for k in range(30)], n_samples),
            "correct": (rng.random(chance.size) < chance).astype(int),
        }
        paths.append(write_table(tmp_path / f"{name}.csv", columns))
    return paths


def test_pass_at_k(capsys, tmp_path):
    paths = repeated(tmp_path, 4)
    found = as_json(capsys, *paths, "--pass-at", "2")
    assert found["metric"] == "pass@2"
    mean = as_json(capsys, *paths)["systems"][0]["score"]
    once = as_json(capsys, *paths, "--pass-at", "1")["systems"][0]["score"]
    assert once == pytest.approx(mean)
    every = as_json(capsys, *paths, "--pass-all", "2")
    assert every["metric"] == "pass^2"
    assert every["systems"][0]["score"] < mean < found["systems"][0]["score"]
    status, out = run(capsys, *paths, "--pass-at", "5")
    assert status == 2
    assert (
        "--pass-at 5 needs 5 samples of each question. one has fewer of 30" in out.err
    )


CONLL = (
    "EU B-ORG {0}\nrejects O {1}\n\nParis B-LOC {2}\nsleeps O {3}\n\nBonn B-LOC {4}\n"
)


def test_entities(capsys, tmp_path):
    good, bad = tmp_path / "good.conll", tmp_path / "bad.conll"
    good.write_text(CONLL.format("B-ORG", "O", "B-LOC", "O", "B-LOC"))
    bad.write_text(CONLL.format("B-ORG", "O", "B-PER", "O", "O"))
    found = as_json(capsys, bad, good)
    assert found["metric"] == "F1"
    assert [each["score"] for each in found["systems"]] == [pytest.approx(0.4), 1]
    assert found["n"] == 3
    other = tmp_path / "other.conll"
    other.write_text(
        CONLL.format("B-ORG", "O", "B-LOC", "O", "B-LOC").replace("EU", "UN")
    )
    status, out = run(capsys, good, other)
    assert status == 2
    assert "must have the same tokens. 1 of 3 sentences differ" in out.err
    assert "'UN' and 'EU'" in out.err
    assert run(capsys, good, other, "--mismatch", "keep")[0] == 0


def sentences(labels, predicted):
    """Return a file of one-token sentences, two documents after each other."""
    lines = []
    for k, (gold, tag) in enumerate(zip(labels, predicted, strict=True)):
        if k in (0, len(labels) // 2):
            lines.append("-DOCSTART- -X- O\n")
        lines.append(f"w{k} {gold} {tag}\n")
    return "\n".join(lines)


def test_entities_by_document(capsys, tmp_path):
    gold = ["B-X"] * 20
    better = ["B-X"] * 20
    # five of ten entities of the first document are found, all of the second
    worse = ["O"] * 5 + ["B-X"] * 15
    paths = []
    for name, tags in (("worse", worse), ("better", better)):
        paths.append(tmp_path / f"{name}.conll")
        paths[-1].write_text(sentences(gold, tags))
    found = as_json(capsys, *paths, "--groups", "document")
    assert found["n_groups"] == 2
    # two documents, of which only one differs, show nothing
    assert found["pairs"][0]["pvalue"] == 1
    rows = as_json(capsys, *paths, "--by", "document")["by"]["rows"]
    assert [row["score_a"] for row in rows] == [pytest.approx(2 / 3), 1]
    assert [row["n"] for row in rows] == [10, 10]
    status, out = run(capsys, *paths, "--by", "document")
    assert status == 0
    shown = [line.split()[:2] for line in out.out.splitlines()]
    assert [cells for cells in shown if cells in (["0", "10"], ["1", "10"])] != []
    # the same labels in a file
    labels = tmp_path / "documents.txt"
    labels.write_text("first\n" * 10 + "second\n" * 10)
    again = as_json(capsys, *paths, "--by", labels)["by"]["rows"]
    assert [row["value"] for row in again] == ["first", "second"]
    assert [row["gain"] for row in again] == [row["gain"] for row in rows]


def test_wrong_labels_of_sentences_are_errors(capsys, tmp_path):
    paths, labels = [tmp_path / "a.conll", tmp_path / "b.conll"], tmp_path / "labels"
    for path in paths:
        path.write_text(CONLL.format("B-ORG", "O", "B-LOC", "O", "B-LOC"))
    cases = [
        ("document", None, "--groups document needs at least two documents"),
        (labels, None, "--groups must be a file with a label for each sentence, or 'd"),
        (labels, "a\nb\n", "--groups must have a line with a label for each of the 3"),
        (labels, "a\n\nb\n", "has 3 lines, 1 of them empty"),
    ]
    for given, text, error in cases:
        with case(error):
            if text is not None:
                labels.write_text(text)
            status, out = run(capsys, *paths, "--groups", given)
            assert status == 2
            assert error in out.err


def test_translations_need_a_reference_of_the_same_length(capsys, tmp_path):
    pytest.importorskip("sacrebleu")
    for name, text in (("a.txt", "x\ny\n"), ("b.txt", "x\n"), ("ref.txt", "x\nz\n")):
        (tmp_path / name).write_text(text)
    a, b, ref = (str(tmp_path / name) for name in ("a.txt", "b.txt", "ref.txt"))
    status, out = run(capsys, a, b, "--metric", "bleu", "--reference", ref)
    assert status == 2
    assert "must have a line for each of the 2 lines" in out.err


def test_a_lower_ter_is_called_better(capsys, tmp_path):
    pytest.importorskip("sacrebleu")
    right, wrong = "one two three four\n", "one two three five\n"
    texts = {
        "ref": right * 12,
        "bad": wrong * 10 + right * 2,
        "good": wrong + right * 11,
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    ref, bad, good = (tmp_path / f"{name}.txt" for name in texts)
    options = ("--metric", "ter", "--reference", ref)
    words = " ".join(run(capsys, bad, good, *options)[1].out.split())
    assert "good is better than bad" in words
    assert (
        "good is better (lower) on 9 sentences, worse (higher) on 0, the same on 3"
        in (words)
    )
    found = as_json(capsys, bad, good, *options)["pairs"][0]
    assert (found["wins"], found["losses"]) == (0, 9)
    (tmp_path / "copy.txt").write_text(texts["ref"])
    out = run(capsys, bad, good, ref, *options)[1]
    assert "ref.txt is both a reference and a system." in out.err
    table = run(capsys, bad, good, tmp_path / "copy.txt", *options)[1].out
    assert "copy has the best possible score. Is it a copy of the reference?" in table
    assert "higher  lower" in table
    assert "wins" not in table


def test_several_metrics_are_one_table_with_signatures_in_all_outputs(capsys, tmp_path):
    metrics = pytest.importorskip("sacrebleu.metrics")
    words = "the small cat sat on the old mat today"
    # More characters of b are right and fewer words: BLEU and chrF do not agree.
    others = words.replace("small", "overwhelmingly"), words.replace("cat", "cats")
    others = others[0], others[1].replace("mat", "mats")
    lines = {"ref": [words] * 60}
    for name, other, n in zip("ab", others, (45, 50), strict=True):
        lines[name] = [other] * n + [words] * (60 - n)
    for name, text in lines.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(text) + "\n")
    paths = [tmp_path / f"{name}.txt" for name in ("a", "b")]
    page, brief = tmp_path / "page.html", tmp_path / "brief.md"
    reference = ("--reference", tmp_path / "ref.txt")
    given = (*paths, "--metric", "BLEU,chrF", "chrF++", "ter", *reference)
    found = as_json(capsys, *given)["metrics"]
    both = metrics.CHRF(), metrics.CHRF(word_order=2)
    theirs = [metrics.BLEU(), *both, metrics.TER()]
    for metric, each in zip(theirs, found, strict=True):
        for system in each["systems"]:
            expected = metric.corpus_score(lines[system["name"]], [lines["ref"]])
            assert system["score"] == expected.score
        assert each["signature"] == f"{expected.name}|{metric.get_signature()}"
    status, out = run(capsys, *given, "--html", page, "--markdown", brief)
    assert status == 0
    rows = list(csv.DictReader(run(capsys, *given, "--csv")[1].out.split("\n")))
    assert [row["metric"] for row in rows] == ["BLEU", "chrF2", "chrF2++", "TER"]
    for row, each in zip(rows, found, strict=True):
        a, b = each["systems"]
        ends = [row[f"{end}_{name}"] for name in "ab" for end in ("low", "high")]
        assert ends == [str(s[end]) for s in (a, b) for end in ("low", "high")]
        assert row["signature"] == each["signature"]
        for text in (out.out, html.unescape(page.read_text("utf-8"))):
            assert each["signature"] in text
        assert each["signature"].replace("|", r"\|") in brief.read_text("utf-8")
    text = " ".join(out.out.split())
    assert "The metrics do not agree which system is better: b and a." in text
    assert "No p is corrected for the 4 metrics" in text
    assert "TER: b is worse than a: difference +" in text
    ((*_, difference),) = (
        line.split() for line in out.out.split("\n") if line.startswith("  difference")
    )
    assert float(difference) == round(float(rows[3]["gain"]), 2) > 0
    ter = " ".join(run(capsys, *paths, "--metric", "ter", *reference)[1].out.split())
    assert "b is worse than a: difference +" in ter
    assert "gain" not in ter


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("--metric bleu,f1", "--metric f1 excludes other metrics"),
        ("--metric bleu,rouge", "--metric must be one of f1, bleu"),
        ("--metric bleu ter --margin 1", "--margin needs a single --metric"),
        ("--metric bleu ter --fail-if worse", "--fail-if needs a single --metric"),
        ("--metric chrf --tokenize zh", "--tokenize acts on --metric bleu and ter"),
        ("--metric f1 --tokenize zh", "--tokenize does not apply to --metric f1"),
        ("--tokenize zh", "--tokenize needs --metric"),
        ("--metric bleu --tokenize thai", "--tokenize must be one of none, zh"),
    ],
)
def test_metrics_and_tokenisers_that_do_not_fit_are_errors(
    capsys, tmp_path, options, error
):
    pytest.importorskip("sacrebleu")
    for name in ("a", "b", "ref"):
        (tmp_path / name).write_text("one two\n" * 3)
    given = [tmp_path / "a", tmp_path / "b", *options.split()]
    if "--metric" in given:
        given += ["--reference", tmp_path / "ref"]
    status, out = run(capsys, *given)
    assert (status, error in out.err) == (2, True), out.err


def test_a_text_without_spaces_gives_a_warning_unless_the_metric_splits_it(
    capsys, tmp_path
):
    pytest.importorskip("sacrebleu")
    texts = {
        "ref": "我们今天去了公园玩。\n他买了一本 IBM 的书。\n",
        "a": "我们今天去公园玩。\n他买 IBM 的书。\n",
        "de": "Wir waren im Park mit Frau 王小明 aus China.\nEr las.\n",
        "split": "我们 今天 去了 公园 玩 。\n他 买了 一本 书 。\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    warns = "hardly any spaces between words"
    for options, reference, expected in (
        ("--metric bleu", "ref", True),
        ("--metric bleu --tokenize intl", "ref", True),
        ("--metric bleu --tokenize zh", "ref", False),
        ("--metric bleu --tokenize char", "ref", False),
        ("--metric ter", "ref", True),
        ("--metric ter --tokenize zh", "ref", False),
        ("--metric chrf", "ref", False),
        ("--metric chrf++", "ref", True),
        ("--metric bleu", "de", False),
        ("--metric bleu", "split", False),
    ):
        with case(options):
            given = (
                tmp_path / "a",
                *options.split(),
                "--reference",
                tmp_path / reference,
            )
            found = as_json(capsys, *given)
            assert (warns in str(found.get("warnings"))) == expected
            assert (warns in " ".join(run(capsys, *given)[1].out.split())) == expected


def test_the_lowest_edit_rate_is_the_best_system(capsys, tmp_path):
    pytest.importorskip("sacrebleu")
    right = "one two three four five six\n"
    wrong = "one two three nine nine nine\n"
    n_wrong = {"ref": 0, "middle": 12, "worst": 30, "best": 1}
    for name, n in n_wrong.items():
        (tmp_path / f"{name}.txt").write_text(wrong * n + right * (30 - n))
    ref, *paths = (tmp_path / f"{name}.txt" for name in n_wrong)
    options = ("--metric", "ter", "--reference", ref)
    found = as_json(capsys, *paths, *options)
    letters = {each["name"]: each["letters"] for each in found["systems"]}
    assert letters == {"best": "a", "middle": "b", "worst": "c"}
    assert found["not_separated"] == [["best"], ["middle"], ["worst"]]
    table = run(capsys, *paths, *options)[1].out.split("\n")[5:8]
    assert [line.split()[0] for line in table] == ["best", "middle", "worst"]
    # In 12 of 30 sentences, 3 of 6 words are wrong: 100 * 36 / 180 is 20.
    assert table[1].split(" (baseline) ")[1].split()[0] == "20.00"


def test_a_file_that_was_probably_not_meant_gives_a_note(capsys, tmp_path):
    gold, paths = ["B-X", "O"] * 10, []
    for name, tags in (("same", ["O", *gold[1:]]), ("other", ["B-Y", "O"] * 10)):
        paths.append(tmp_path / f"{name}.conll")
        paths[-1].write_text(sentences(gold, tags))
    assert as_json(capsys, *paths)["notes"] == [
        "other has entities of types that the right tags do not have: Y.",
        "other has no right entity.",
    ]
    pytest.importorskip("sacrebleu")
    lines = [f"a{k} b{k} c{k} d{k} e{k}\n" for k in range(20)]
    for name, text in (
        ("ref", lines),
        ("same", ["x\n", *lines[1:]]),
        ("reversed", lines[::-1]),
    ):
        (tmp_path / f"{name}.txt").write_text("".join(text))
    paths = [tmp_path / "same.txt", tmp_path / "reversed.txt"]
    reference = ("--reference", tmp_path / "ref.txt")
    notes = as_json(capsys, *paths, "--metric", "bleu", *reference)["notes"]
    assert notes == [
        "reversed has a BLEU of 0.00. Are its lines in the order of the reference?"
    ]


def test_a_column_of_right_answers_leads_to_the_option_gold(capsys, tmp_path):
    paths = [
        write_table(
            tmp_path / f"{name}.csv",
            {"id": [1, 2], "prediction": list("AB"), "gold": list("AC")},
        )
        for name in ("one", "two")
    ]
    status, out = run(capsys, *paths)
    assert status == 2
    assert "name the column of right answers with --gold" in " ".join(out.err.split())


def test_wrong_options_are_errors(capsys, files):
    cases = [
        ("--margin 5", "Divide percentage points by 100: 0.05."),
        ("--power 0", "--power must be above 0"),
        ("--power 5", "Divide percentage points by 100: 0.05."),
        ("--pass-at 1 --pass-all 2", "--pass-at and --pass-all exclude"),
        ("--pass-at 0", "--pass-at must be at least 1"),
        ("--groups nosuch", "nosuch"),
    ]
    for options, error in cases:
        with case(options):
            status, out = run(capsys, *files, *options.split())
            assert status == 2
            assert error in out.err
            assert "Traceback" not in out.err


def test_right_answers_that_differ_are_an_error(capsys, tmp_path):
    paths = [
        write_table(
            tmp_path / f"{name}.csv",
            {"id": list("abcdef"), "correct": [1, 0, 1, 1, 0, 1], "gold": list(gold)},
        )
        for name, gold in (("one", "xxyyxx"), ("two", "xxyxxx"))
    ]
    columns = ("--score", "correct")
    status, out = run(capsys, *paths, *columns)
    assert status == 2
    assert "--mismatch must be 'drop' or 'keep'" in out.err
    assert "1 of 6 questions with different right answers" in out.err
    found = as_json(capsys, *paths, *columns, "--mismatch", "drop")
    assert found["n"] == 5


# The sentences agree with the tables


def systems_of_questions(tmp_path, n_systems):
    """Write a table of some systems that answer 80 questions with rising success."""
    rng = np.random.default_rng(n_systems)
    ease = rng.random(80)
    columns = {"question": [f"q{k}" for k in range(80)]}
    for k in rng.permutation(n_systems):
        columns[f"s{k}"] = (rng.random(80) < ease ** (2 / (1 + k))).astype(int)
    columns["subject"] = ["law" if k % 4 else "art" for k in range(80)]
    return write_table(tmp_path / "wide.csv", columns), list(columns)[1:-1]


def tables_of_page(page):
    """Return the cells of each table, without its header."""
    return [
        [
            re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
            for row in re.findall(r"<tr>(<th.*?)</tr>", table)
        ]
        for table in re.findall(r"<tbody>(.*?)</tbody>", page)
    ]


def tables_of_text(text):
    """Return the cells of each run of lines with several columns."""
    runs = [[]]
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if len(cells) > 2 and not line.startswith("note"):
            runs[-1].append(cells)
        elif runs[-1]:
            runs.append([])
    return [run[1:] for run in runs if run]


def check_sentences(words, tables, found, n_systems):
    n_pairs = n_systems * (n_systems - 1) // 2
    adjusted = {(p["a"], p["b"]): p["pvalue_adjusted"] for p in found["pairs"]}
    separated = {pair for pair, p in adjusted.items() if p <= 0.05}
    assert len(adjusted) == n_pairs
    systems, *others = tables
    names = [row[0].removesuffix(" (baseline)") for row in systems]
    shown = [float(row[1]) for row in systems]
    assert shown == sorted(shown, reverse=True)
    assert f"accuracy of {n_systems} systems on the same 80 questions" in words
    for a, b in adjusted:
        letters = [set(systems[names.index(name)][3]) for name in (a, b)]
        assert bool(letters[0] & letters[1]) == ((a, b) not in separated)
    pairs, by, *_ = others  # a page has also a table of settings
    assert f"{len(separated)} of {n_pairs} pairs differ significantly" in words
    says_baseline = "The table has the pairs with the baseline" in words
    assert says_baseline == (len(pairs) < n_pairs)
    assert len(pairs) == (n_systems - 1 if says_baseline else n_pairs)
    if says_baseline:
        assert f"--csv and --json give all {n_pairs}" in words
    for row in pairs:
        b, a = row[0].split(" - ")
        scores = [shown[names.index(name)] for name in (a, b)]
        assert float(row[1]) == pytest.approx(scores[1] - scores[0], abs=1.01e-3)
        gain = (int(row[5]) - int(row[6])) / 80
        assert float(row[1]) == pytest.approx(gain, abs=5.01e-4)
        low, high = map(float, row[2].split(" to "))
        assert low <= float(row[1]) <= high
    n_significant = sum(float(row[-1].strip("< ")) <= 0.05 for row in by)
    are = "is" if n_significant == 1 else "are"
    said = f"{n_significant} of {len(by)} gains over {found['baseline']} {are} signif"
    assert said in words
    assert ("Do not report a gain: none is significant" in words) == (not separated)


@pytest.mark.parametrize("n_systems", [3, 6, 7, 16, 17])
def test_no_sentence_contradicts_a_table(capsys, tmp_path, n_systems):
    path, names = systems_of_questions(tmp_path, n_systems)
    page = tmp_path / "page.html"
    options = ("--systems", ",".join(names), "--by", "subject", "--html", page)
    found = as_json(capsys, path, *options)
    _, out = run(capsys, path, *options)
    check_sentences(
        " ".join(out.out.split()), tables_of_text(out.out), found, n_systems
    )
    text = html.unescape(page.read_text("utf-8"))
    check_sentences(text, tables_of_page(text), found, n_systems)


@pytest.mark.parametrize("is_better", [True, False, None])
def test_the_sentences_about_one_pair_agree_with_its_numbers(
    capsys, tmp_path, is_better
):
    k = np.arange(60)
    change = {True: k % 3 == 0, False: k % 3 == 1, None: k < 0}[is_better]
    columns = {"question": k, "old": k % 3 == 1, "new": (k % 3 == 1) ^ change}
    columns = {name: np.asarray(each).astype(int) for name, each in columns.items()}
    path, page = write_table(tmp_path / "wide.csv", columns), tmp_path / "page.html"
    _, out = run(capsys, path, "--systems", "old,new", "--html", page)
    for text in (" ".join(out.out.split()), html.unescape(page.read_text("utf-8"))):
        gain, low, high = map(
            float, re.search(r"gain (\S+) \(95% (\S+) to (\S+)\)", text).groups()
        )
        wins, losses, same = map(
            int,
            re.search(
                r"new scores higher on (\d+) questions?, lower on (\d+), the same on "
                r"(\d+)",
                text,
            ).groups(),
        )
        assert wins + losses + same == 60
        assert gain == pytest.approx((wins - losses) / 60, abs=5e-4)
        assert ("new is better than old" in text) == (low > 0) == (is_better is True)
        assert ("new is worse than old" in text) == (high < 0) == (is_better is False)
        assert ("new and old do not differ significantly" in text) == (
            is_better is None
        )
        assert ("Do not report a gain" in text) == (is_better is None)


def test_a_value_with_one_question_is_too_few(capsys, tmp_path):
    columns = {
        "question": range(9),
        "old": [1, 0, 1, 0, 1, 0, 1, 0, 1],
        "new": [1] * 9,
        "subject": ["law"] * 8 + ["art"],
    }
    path = write_table(tmp_path / "wide.csv", columns)
    _, out = run(capsys, path, "--systems", "old,new", "--by", "subject")
    assert re.search(r"^art +1 +too few$", out.out, re.MULTILINE)
    assert "0 of 1 gains over old are significant" in " ".join(out.out.split())


# Files that do not fit, and what a file says about its questions


def numbered(path, right, **more):
    """Write scores of questions that are named by their row numbers."""
    return write_table(path, {"id": range(len(right)), "correct": right, **more})


def test_other_subjects_of_the_same_questions_are_an_error(capsys, tmp_path, scores):
    subject = np.array([f"s{k % 3}" for k in range(120)])
    order = np.random.default_rng(2).permutation(120)
    first = numbered(tmp_path / "a.csv", scores["base"], subject=subject)
    other = scores["tuned"][order]
    second = numbered(tmp_path / "b.csv", other, subject=subject[order])
    status, out = run(capsys, first, second)
    assert status == 2
    n = (subject != subject[order]).sum()
    assert f"{n} of 120 questions with different values of 'subject'" in out.err
    assert "questions in different orders" in out.err
    found = as_json(capsys, first, second, "--mismatch", "keep")
    assert any(f"{n} of 120 questions" in note for note in found["notes"])


def test_row_numbers_without_anything_else_give_a_note(capsys, tmp_path, scores):
    paths = [numbered(tmp_path / f"{n}.csv", right) for n, right in scores.items()]
    (note,) = as_json(capsys, *paths)["notes"]
    assert note.startswith("The questions are named by numbers without gaps")
    subject = [f"s{k % 3}" for k in range(120)]
    paths = [
        numbered(tmp_path / f"{name}.csv", right, subject=subject)
        for name, right in scores.items()
    ]
    assert as_json(capsys, *paths)["notes"] == []


def test_passages_that_are_not_used_as_groups_give_a_note(capsys, tmp_path, scores):
    columns = {"question": range(120), "passage": np.arange(120) // 3, **scores}
    path = write_table(tmp_path / "a.csv", columns)
    words = " ".join(as_json(capsys, path, "--systems", "base,tuned")["notes"])
    assert "The 120 questions have 40 values of 'passage'." in words
    assert "add --groups passage." in words
    options = ("--systems", "base,tuned", "--groups", "passage")
    found = as_json(capsys, path, *options)
    assert found["n_groups"] == 40
    assert not any("--groups" in note for note in found["notes"])


def test_percentages_are_an_error(capsys, tmp_path, scores):
    names = [f"q{k}" for k in range(120)]
    proba = np.linspace(10, 90, 120).round(1)
    paths = []
    for name in scores:
        columns = {"id": names, "correct": scores[name], "confidence": proba}
        paths.append(write_table(tmp_path / f"{name}.csv", columns))
    message = run(capsys, *paths)[1].err
    assert "Use --percent if probabilities run from 0 to 100" in message


def test_a_column_with_a_value_for_each_question_has_no_parts(capsys, files):
    message = run(capsys, *files, "--by", "id")[1].err
    assert "--by must have values that several questions share. Got 120" in message


def test_too_many_systems_are_an_error(capsys, tmp_path):
    columns = {"system": [f"q{k // 2}" for k in range(300)], "correct": [0, 1] * 150}
    path = write_table(tmp_path / "a.csv", columns | {"id": [0, 1] * 150})
    message = run(capsys, path)[1].err
    assert "compare needs at most 100 systems. Got 150, such as 'q0'." in message


def test_tokens_that_differ_and_are_kept_give_a_note(capsys, tmp_path):
    gold, tags = ["B-X", "O"] * 10, ["O", *["B-X", "O"] * 9, "O"]
    for name, text in (("a", sentences(gold, gold)), ("b", sentences(gold, tags))):
        (tmp_path / f"{name}.conll").write_text(text)
    changed = (tmp_path / "b.conll").read_text().replace("w1 ", "other ")
    (tmp_path / "b.conll").write_text(changed)
    paths = [tmp_path / "a.conll", tmp_path / "b.conll"]
    assert "--mismatch keep ignores it" in run(capsys, *paths)[1].err
    notes = as_json(capsys, *paths, "--mismatch", "keep")["notes"]
    assert any("1 of 20 sentences have other tokens than" in note for note in notes)


def test_several_references_are_used_together(capsys, tmp_path):
    sacrebleu = pytest.importorskip("sacrebleu")
    lines = {
        "ref": ["the cat sat on the mat"] * 8,
        "more": ["a cat was on the mat today"] * 8,
        "a": ["the cat was on the mat"] * 6 + ["a dog sat on the mat"] * 2,
        "b": ["a cat was on a mat today"] * 8,
    }
    for name, text in lines.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(text) + "\n")
    path = {name: tmp_path / f"{name}.txt" for name in lines}
    options = ("--metric", "bleu", "--reference", path["ref"])
    found = as_json(capsys, path["a"], path["b"], *options, "--reference", path["more"])
    references = [lines["ref"], lines["more"]]
    expected = [sacrebleu.corpus_bleu(lines[n], references).score for n in "ab"]
    assert [each["score"] for each in found["systems"]] == pytest.approx(expected)
    assert found["reference"] == f"{path['ref']}, {path['more']}"


def test_one_sentence_and_one_group_are_errors(capsys, tmp_path):
    pytest.importorskip("sacrebleu")
    for name, text in (("ref", "a b c d\n"), ("a", "a b c e\n"), ("b", "a b c d\n")):
        (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / f"{name}3.txt").write_text(text * 3)
    (tmp_path / "groups.txt").write_text("g\ng\ng\n")
    options = ("--metric", "bleu", "--reference")
    paths = [tmp_path / f"{name}.txt" for name in ("a", "b")]
    status, out = run(capsys, *paths, *options, tmp_path / "ref.txt")
    assert (status, "Traceback" in out.err) == (2, False)
    paths = [tmp_path / f"{name}3.txt" for name in ("a", "b")]
    groups = ("--groups", tmp_path / "groups.txt")
    status, out = run(capsys, *paths, *options, tmp_path / "ref3.txt", *groups)
    assert (status, "needs at least two groups" in out.err) == (2, True)


@pytest.mark.parametrize(
    "first", ["#begin document (a); part 000", "# newdoc id = a", "# sent_id = 1"]
)
def test_files_of_coreference_are_answered_with_what_to_call(capsys, tmp_path, first):
    path = tmp_path / "key.conll"
    path.write_text(f"{first}\na 0 0 Ada (0)\n", "utf-8")
    status, out = run(capsys, path)
    assert (status, "coref_scores measures" in out.err) == (2, True)
    status, out = run(capsys, path, "--metric", "coref")
    assert (status, "statistic=coref_f1" in out.err) == (2, True)


def test_probabilities_of_the_same_labels_are_compared_by_the_brier_score(run):
    """Squared errors of 0.25 and of 0.01 on each question; 10% are positive."""
    labels = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0] * 2
    for name, off in (("a", 0.5), ("b", 0.1)):
        rows = [f"t{i},{y},{abs(y - off):g}" for i, y in enumerate(labels)]
        Path(f"{name}.csv").write_text("\n".join(["id,label,probability", *rows]))
    found = json.loads(run("compare", "a.csv", "b.csv", "--json")[1])
    assert (found["metric"], found["lower_is_better"]) == ("Brier score", True)
    assert [each["score"] for each in found["systems"]] == pytest.approx([0.25, 0.01])
    (pair,) = found["pairs"]
    assert pair["gain"] == pytest.approx(-0.24)
    assert pair["pvalue"] < 0.001
    assert found["decisions"]["better"] == "b"
    assert len(found["calibration"]) == 1
    text = run("compare", "a.csv", "b.csv")[1]
    assert "b is better than a: difference -0.24" in text
    assert "accuracy" not in text


def test_standard_errors_of_grades_are_in_grades(tmp_path, capsys):
    # Means 1, 5, 3, 3 of two samples each have the variance 8/3.
    columns = {"question": list("aabbccdd"), "score": [1, 1, 5, 5, 3, 3, 2, 4]}
    paths = [write_table(tmp_path / f"{name}.csv", columns) for name in "xy"]
    assert main(["compare", *paths, "--scale", "1", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["repeats"][0]
    assert found["standard_error"] == pytest.approx((8 / 3 / 4) ** 0.5)
    # The variance of the last question is 2, and of the others 0.
    assert found["within"] == pytest.approx(2 / 4)
    assert f"{(8 / 3 / 4) ** 0.5:.4f}" in found["advice"]
    path = write_table(
        tmp_path / "z.csv", {"id": columns["question"], "correct": columns["score"]}
    )
    assert main(["report", path, "--scale", "1", "5", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)["repeats"]
    assert reported["standard_error"] == pytest.approx(found["standard_error"])
    assert reported["within"] == pytest.approx(found["within"])


def test_empty_lines_of_the_reference_are_noted(tmp_path, capsys):
    pytest.importorskip("sacrebleu")
    line = "the small cat sat on the old mat"
    lines = {"ref": [line] * 8 + [""], "a": [line] * 9, "b": [line[4:]] * 8 + [""]}
    for name, texts in lines.items():
        (tmp_path / name).write_text("\n".join(texts) + "\n")
    a, b, ref = (tmp_path / name for name in ("a", "b", "ref"))
    found = as_json(capsys, a, b, "--metric", "ter", "--reference", ref)
    assert f"{ref} has 1 empty line of 9." in found["notes"]
    assert "b has 1 empty line of 9." in found["notes"]


def test_scores_on_another_scale_are_named(tmp_path, capsys):
    columns = {"question": list("abc"), "A": [0.5, 0.2, 1], "B": [0.3, 1.016, 0.9]}
    status, out = run(capsys, write_table(tmp_path / "comet.csv", columns))
    assert status == 2
    assert "in 'B'. Got '1.016' in line 3. Rescale other scores to [0, 1]" in out.err
    assert "the scale of grades with --scale." in out.err


def test_mid_p_of_metrics_is_named(tmp_path, capsys):
    pytest.importorskip("sacrebleu")
    words = ["the", "small", "cat", "sat", "on", "the", "old", "mat"]
    lines = {name: [] for name in ("ref", "a", "b")}
    for k in range(8):  # the second system lacks another number of words in each line
        lines["ref"].append(" ".join(words))
        lines["a"].append(" ".join(words))
        lines["b"].append(" ".join(words[k % 3 + 1 :]))
    for name, texts in lines.items():
        (tmp_path / name).write_text("\n".join(texts) + "\n")
    (tmp_path / "groups").write_text("".join(f"{k}\n" for k in range(8)))
    a, b, ref, groups = (tmp_path / name for name in ("a", "b", "ref", "groups"))
    options = "--metric", "ter", "--reference", ref, "--groups", groups
    (pair,) = as_json(capsys, a, b, *options)["pairs"]
    # Two of 2^8 signs are as extreme, and ties count by half.
    assert pair["pvalue"] == pytest.approx(2 / 2**8 / 2)
    assert pair["method"] == "sign flips with mid-p"
    # Seven of eight lines with the same difference: without mid-p.
    same = [" ".join(words[2:])] * 7 + [" ".join(words)]
    b.write_text("\n".join(same) + "\n")
    (pair,) = as_json(capsys, a, b, *options)["pairs"]
    assert pair["pvalue"] == pytest.approx(2 / 2**7)
    assert pair["method"] == "sign flips"


def test_systems_of_a_file_of_promptfoo_are_chosen(capsys):
    files = Path(__file__).parents[1] / "evaluation" / "files"
    names = "example:heron,example:tern"
    found = as_json(capsys, files / "promptfoo" / "both.json", "--systems", names)
    assert ",".join(each["name"] for each in found["systems"]) == names


def test_a_scale_of_grades_does_not_apply_to_tags(tmp_path, capsys):
    """Files of tags are recognised without --metric."""
    path = tmp_path / "tags"
    for name, tag in (("old", "B-PER"), ("new", "O")):
        path.with_name(name).write_text(f"Ada B-PER {tag}\nsaw O O\n\n")
    files = [str(path.with_name(name)) for name in ("old", "new")]
    status, out = run(capsys, *files, "--scale", "1", "5")
    assert status == 2
    assert "--scale does not apply to --metric f1." in out.err
