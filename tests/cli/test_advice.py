"""What the commands advise follows from their numbers."""

import csv
import os
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from skcalib.datasets import make_calibrated_pairs

OUTPUTS = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "system_outputs")


def one_line(text):
    return " ".join(text.split())


def systems(folder, *shares, n=400, groups=1):
    """Write a file for each share of right answers; return their names."""
    names = []
    for k, share in enumerate(shares):
        right = np.random.default_rng(k).permutation(n) < share * n
        path = folder / f"system{k}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "correct", "source"])
            writer.writerows(
                (f"q{i}", int(y), i // groups) for i, y in enumerate(right)
            )
        names.append(str(path))
    return names


def test_the_gain_that_is_found_is_the_one_of_the_power(run, folder):
    files = systems(folder, 0.5, 0.7)
    text = one_line(run("compare", *files, "--power")[1])
    power = re.search(r"questions detect a true gain of (0\.\d+) with 80%", text)[1]
    assert f"questions detect a true gain of about {power} between" in text
    assert "p-values and intervals are for one planned look" in text
    (more,) = re.findall(r"Half of it needs about ([\d,]+) questions", text)
    n = int(more.replace(",", ""))
    half = float(power) / 2
    asked = one_line(run("compare", *files, "--power", f"{half:.4f}")[1])
    (needed,) = re.findall(r"would need about ([\d,]+) questions", asked)
    assert n == pytest.approx(int(needed.replace(",", "")), rel=0.03)


def test_no_gain_above_the_largest_score_is_promised(run, folder):
    files = []
    for name, right in (("a", "101101"), ("b", "110110"), ("c", "011011")):
        rows = [f"q{k},{float(y) * 0.9}" for k, y in enumerate(right)]
        path = folder / f"{name}.csv"
        path.write_text("\n".join(["id,correct", *rows]))
        files.append(str(path))
    text = one_line(run("compare", *files)[1])
    assert "detect a true gain of" not in text
    assert "cannot detect any gain" in one_line(run("compare", *files, "--power")[1])


def test_no_gain_is_promised_where_no_pvalue_can_be_small(run, folder):
    files = systems(folder, 0.2, 0.8, n=40, groups=10)
    text = one_line(run("compare", *files, "--groups", "source")[1])
    assert "Do not report a gain: none is significant." in text
    assert "80% power" not in text


@pytest.mark.parametrize(
    ("n", "k", "words"), [(3000, 0.3, "IsotonicRegression"), (3000, 0.0, None)]
)
def test_a_report_advises_recalibration_only_after_a_miscalibration(
    run, folder, n, k, words
):
    y_true, y_proba = make_calibrated_pairs(n, k=k, random_state=0)
    path = folder / "answers.csv"
    rows = [
        f"{y},{q!r}" for y, q in zip(y_true.tolist(), y_proba.tolist(), strict=True)
    ]
    path.write_text("\n".join(["correct,probability", *rows]))
    steps = one_line(
        run("report", path, "--no-figure")[1].partition("what to do now")[2]
    )
    assert (words in steps) if words else ("Recalibrate" not in steps)
    assert f"collect about {3 * n:,} more questions: {4 * n:,} in all" in steps
    assert "p-values and intervals are for one planned look" in steps
    assert "- Quote: accuracy 0." in steps


def test_wrong_zeros_are_clipped_at_their_share_of_errors(run, folder):
    # 3 of 1,999 zeros are wrong: 3.5 / 2,000 = 0.00175.
    rows = ["1,0"] * 3 + ["0,0"] * 1996 + ["1,0.1234"] * 123 + ["0,0.1234"] * 877
    (folder / "a.csv").write_text("\n".join(["label,p", *rows]))
    out = one_line(run("report", "a.csv", "--no-figure")[1])
    assert "- Recalibrate: clip all probabilities to [0.002, 0.998], and repeat" in out
    assert "3 of 1,999 cases with probability 0 are positive" in out


def test_log_odds_of_a_rare_class_are_clipped_below_its_frequency(run, folder):
    # 20 of 2,000 labels are positive: a hundredth of 0.01.
    rows = ["1,0.2"] * 20 + ["0,0.2"] * 980 + ["0,0.0"] * 1000
    (folder / "a.csv").write_text("\n".join(["label,p", *rows]))
    out = one_line(run("report", "a.csv", "--no-figure")[1])
    assert "log-odds of the probabilities, clipped to [0.0001, 0.9999];" in out
    (folder / "a.csv").write_text("\n".join(["label,p", *rows[:1000]]))
    out = one_line(run("report", "a.csv", "--no-figure")[1])
    assert "log-odds of the probabilities; isotonic regression needs about 300" in out


def test_the_guide_shows_what_a_comparison_prints(run, folder):
    # MMLU, two prompts: 213 questions right by both, 48 and 37 by one of them only.
    both, later, earlier, neither = (1, 1), (0, 1), (1, 0), (0, 0)
    rows = [both] * 213 + [later] * 48 + [earlier] * 37 + [neither] * 311
    for k, name in enumerate(("llama-13b-prompt0", "llama-13b-prompt3")):
        lines = [f"q{i},{row[k]}" for i, row in enumerate(rows)]
        (folder / f"{name}.csv").write_text("\n".join(["id,correct", *lines]))
    files = ("llama-13b-prompt0.csv", "llama-13b-prompt3.csv")
    _, out, _ = run("compare", *files)
    page = Path(__file__).parents[2] / "docs" / "guide" / "compare.rst"
    shown = page.read_text("utf-8")
    for line in out.splitlines():
        assert not line or f"    {line}\n" in shown


@pytest.mark.skipif(
    not OUTPUTS.is_dir(), reason="SKCALIB_DATA does not name a folder with outputs"
)
def test_the_guide_shows_what_a_comparison_of_taggers_prints(run, folder):
    files = {
        "spinningbytes.conll": "wnut17_spinningbytes.txt",
        "uh_ritual.conll": "wnut17_uh_ritual.txt",
        "gold.conll": "wnut17_gold_emerging.test.annotated",
    }
    for name, source in files.items():
        (folder / name).write_bytes((OUTPUTS / source).read_bytes())
    *systems, reference = files
    _, out, _ = run("compare", *systems, "--reference", reference)
    page = Path(__file__).parents[2] / "docs" / "guide" / "compare.rst"
    verdict = out.partition("Test:")[0].rstrip()
    assert textwrap.indent(verdict, "    ") in page.read_text("utf-8")


def test_probabilities_of_the_other_class_are_not_recalibrated(run, folder):
    rng = np.random.default_rng(0)
    q = rng.random(300).round(3)
    y = (rng.random(300) < q).astype(int)
    rows = [f"{label},{1 - p:.3f}" for label, p in zip(y, q, strict=True)]
    (folder / "a.csv").write_text("\n".join(["label,p", *rows]))
    out = one_line(run("report", "a.csv", "--no-figure")[1])
    assert "Positive labels have lower probabilities than the others (AUROC 0." in out
    assert "as the probabilities of another class do. Name the label" in out
    assert "Recalibrate" not in out
    assert "agreement of sampled answers" not in out


def test_the_printed_threshold_is_not_above_the_real_one(run, folder):
    """200 right answers at .99962, which rounds to 1.000; 100 others are wrong."""
    rows = ["1,0.99962"] * 200 + ["0,0.2"] * 100
    (folder / "a.csv").write_text("\n".join(["correct,p", *rows]))
    out = one_line(run("report", "a.csv", "--no-figure")[1])
    assert "From a stated probability of 0.99962, 1.000 of the answers" in out


def test_the_base_rate_of_a_rare_class_is_no_decision_about_cases(run, folder):
    """20 of 1,000 cases are positive, of which 15 have a probability of .3."""
    rows = ["1,0.3"] * 15 + ["0,0.3"] * 100 + ["1,0.01"] * 5 + ["0,0.01"] * 880
    (folder / "a.csv").write_text("\n".join(["label,p", *rows]))
    command = ("report", "a.csv", "--no-figure", "--fail-if", "not-alone")
    code, out, _ = run(*command)
    text = "Without a threshold, 0.980 of the cases are negative"
    assert (code, text in one_line(out)) == (1, True)
    code, out, _ = run(*command, "--alone", "0.98")
    out = one_line(out)
    assert code == 0
    assert "Up to a stated probability of 0.010, 0.994 of the cases are neg" in out
    assert "these are 88% of all and 25% of the positive ones." in out


@pytest.mark.parametrize("is_rare", [True, False])
def test_the_tenth_of_a_rare_class_is_divided(run, folder, is_rare):
    q = [np.linspace(0.0002, 0.0004, 600), np.linspace(0.002, 0.008, 300)]
    q = np.concatenate([*q, np.linspace(0.02, 0.08, 95), np.linspace(0.52, 0.58, 5)])
    y = (np.arange(1000) % 100 == 99).astype(int)
    q, y = (q, y) if is_rare else (1 - q, 1 - y)
    rows = [f"{a},{b:.6g}" for a, b in zip(y, q, strict=True)]
    (folder / "a.csv").write_text("\n".join(["label,p", *rows]))
    out = run("report", "a.csv", "--no-figure")[1]
    found = re.findall(r"^([\d.]+) to ([\d.]+) +(\d+) +(\S+)", out, re.MULTILINE)
    expected = [
        ("0.0", "0.001", "600", "0.0003"),
        ("0.001", "0.01", "300", "0.005"),
        ("0.01", "0.1", "95", "0.050"),
        ("0.5", "0.6", "5", "0.550"),
    ]
    if not is_rare:
        expected = [
            ("0.4", "0.5", "5", "0.450"),
            ("0.9", "0.99", "95", "0.950"),
            ("0.99", "0.999", "300", "0.995"),
            ("0.999", "1.0", "600", "1.000"),
        ]
    assert found == expected
