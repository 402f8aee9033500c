"""The metric of inspect_ai, and the files that the guide shows for two harnesses."""

import configparser
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from skcalib import calibration_error_interval, read_evaluation
from skcalib.evaluation._inspect_metrics import measure
from skcalib.metrics import confidence_ranking

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "language_models.rst"
NAN = float("nan")


def needs(name):
    missing = find_spec(name) is None
    return pytest.mark.skipif(missing, reason=f"{name} is not installed")


def block_with(text):
    """Return the code block of the guide that contains a text."""
    pattern = r"^\.\. code-block:: \w+\n\n((?:    .*\n|\n)+)"
    blocks = re.findall(pattern, GUIDE.read_text("utf-8"), re.MULTILINE)
    (block,) = [block for block in blocks if text in block]
    return dedent(block)


def run(folder, *command):
    """Run a module in a folder, without access to a network."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answers(values, confidences, ids=None):
    """Return scores as inspect_ai passes them."""
    ids = range(len(values)) if ids is None else ids
    return [
        SimpleNamespace(
            sample_id=name,
            score=SimpleNamespace(value=value, metadata={"stated": confidence}),
        )
        for value, confidence, name in zip(values, confidences, ids, strict=True)
    ]


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.choice([0.5, 0.7, 0.8, 0.9], n)
    return (rng.random(n) < confidence - 0.2).astype(float), confidence


def test_numbers_are_those_of_the_functions():
    right, confidence = drawn(200)
    values = np.where(right == 1, "C", "I").tolist()
    found = measure(answers(values, confidence.tolist()), "stated")
    interval = calibration_error_interval(right, confidence)
    assert [found["error"], found["low"], found["high"]] == [
        interval.estimate,
        interval.low,
        interval.high,
    ]
    assert found["pvalue"] == interval.pvalue < 0.01
    assert found["auroc"] == pytest.approx(roc_auc_score(right, confidence), abs=1e-12)
    assert found["auroc_low"] < found["auroc"] < found["auroc_high"]
    assert (found["n"], found["n_missing"]) == (200, 0)
    assert {type(each) for each in found.values()} == {float}


def test_missing_confidences_are_counted_and_left_out():
    right, confidence = drawn(50)
    scores = answers(right.tolist(), confidence.tolist())
    values, stated = ["C", "I", NAN, "N", "C"], [None, NAN, 0.5, 0.5, NAN]
    odd = answers(values, stated, list("abcde"))
    odd[0].score.metadata = None
    odd[1].score.metadata = {"confidence": 0.5}
    found = measure(scores + odd, "stated")
    # N is a wrong answer for inspect_ai.
    expected = measure(scores + answers([0.0], [0.5], "d"), "stated")
    assert found.pop("n_missing") == 4
    assert expected.pop("n_missing") == 0
    assert found == expected
    assert found["n"] == 51


def test_epochs_of_a_sample_are_a_group():
    right, confidence = drawn(60)
    names = np.arange(60).tolist()
    once = measure(answers(right, confidence, names), "stated")
    thrice = measure(
        answers(np.tile(right, 3), np.tile(confidence, 3), names * 3), "stated"
    )
    groups = np.tile(names, 3)
    ranking = confidence_ranking(
        np.tile(right, 3), np.tile(confidence, 3), groups=groups
    )
    assert thrice["auroc_low"] == ranking.auroc.low
    assert thrice["auroc"] == pytest.approx(once["auroc"], abs=1e-12)
    # Copies of the same answers are no further information.
    independent = calibration_error_interval(np.tile(right, 3), np.tile(confidence, 3))
    width = thrice["high"] - thrice["low"]
    assert width > 1.3 * (independent.high - independent.low)
    assert width > 0.9 * (once["high"] - once["low"])


def test_names_of_samples_are_compared_as_texts():
    # as the reducers of inspect_ai do
    right, confidence = drawn(40)
    names = [*range(20), *map(str, range(20))]
    texts = [str(name) for name in names]
    found = measure(answers(right, confidence, names), "stated")
    assert found == measure(answers(right, confidence, texts), "stated")
    assert found["low"] != measure(answers(right, confidence), "stated")["low"]


@pytest.mark.parametrize("value", ["C", "I"])
def test_answers_that_are_all_right_or_all_wrong_have_no_auroc(value):
    found = measure(answers([value] * 30, [0.8] * 30), "stated")
    assert np.isnan([found["auroc"], found["auroc_low"], found["auroc_high"]]).all()
    assert found["low"] <= found["error"] <= found["high"]
    # The only probability is off by .2, or by .8.
    assert found["error"] == pytest.approx(0.2 if value == "C" else 0.8, abs=0.01)


@pytest.mark.parametrize(
    ("scores", "n", "n_missing"),
    [
        ([], 0, 0),
        (answers(["C", "I"], [None, None]), 0, 2),
        (answers(["C"], [0.5]), 1, 0),
        (answers(["C", "I", "C"], [0.5, 0.5, 0.6], ["a", "a", "a"]), 3, 0),
    ],
)
def test_fewer_than_two_samples_have_counts_only(scores, n, n_missing):
    found = measure(scores, "stated")
    assert (found.pop("n"), found.pop("n_missing")) == (n, n_missing)
    assert np.isnan(list(found.values())).all()
    assert len(found) == 7


@pytest.mark.parametrize(
    ("value", "confidence", "problem"),
    [
        ("C", 90, r"must contain a confidence in \[0, 1\] .* Got 90.0 in sample 'q2'"),
        ("C", "high", "number from 0 to 1. Got 'high' in sample 'q2'"),
        ("P", 0.5, "must be right or wrong. Got a score of 0.5 in sample 'q2'"),
        ({"a": 1}, 0.5, "Got {'a': 1} in sample 'q2'"),
    ],
)
def test_an_error_names_the_sample(value, confidence, problem):
    scores = answers(["C", value, "I"], [0.5, confidence, 0.6], ["q1", "q2", "q3"])
    with pytest.raises(ValueError, match=problem):
        measure(scores, "stated")


def test_a_partial_score_without_a_confidence_is_only_counted():
    right, confidence = drawn(20)
    scores = answers([*right, "P"], [*confidence, None])
    found = measure(scores, "stated")
    assert (found["n"], found["n_missing"]) == (20, 1)


def test_the_entry_point_is_the_module_and_imports_no_computation():
    config = configparser.ConfigParser()
    config.read(GUIDE.parents[2] / "setup.cfg", "utf-8")
    target = config["options.entry_points"]["inspect_ai"].split()[-1]
    assert target == measure.__module__
    code = (
        f"import sys, {target}\n"
        "print(*{'scipy', 'sklearn', 'skcalib.metrics'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.fixture(scope="module")
def inspect_log(tmp_path_factory):
    """Run the task of the guide, and give its log."""
    folder = tmp_path_factory.mktemp("inspect")
    folder.joinpath("stated.py").write_text(block_with("@task"), "utf-8")
    common = ("--display", "none", "--log-format", "json", "--epochs", "2")
    run(folder, "inspect_ai", "eval", "stated.py", *common, "--log-dir", "logs")
    (log,) = folder.glob("logs/*.json")
    return log


def calibration_of(log):
    scores = json.loads(log.read_text("utf-8"))["results"]["scores"]
    (found,) = [
        {name: each["value"] for name, each in score["metrics"].items()}
        for score in scores
        if "n_missing" in score["metrics"]
    ]
    return found


@needs("inspect_ai")
def test_inspect_ai_writes_what_the_report_computes(inspect_log):
    found = calibration_of(inspect_log)
    evaluation = read_evaluation(inspect_log).answered()
    interval = calibration_error_interval(
        evaluation.score, evaluation.proba, groups=evaluation.question
    )
    # The file of a log has all digits.
    assert found["error"] == pytest.approx(interval.estimate, rel=1e-12)
    assert found["low"] == pytest.approx(interval.low, rel=1e-12)
    assert found["high"] == pytest.approx(interval.high, rel=1e-12)
    auroc = roc_auc_score(evaluation.score, evaluation.proba)
    assert found["auroc"] == pytest.approx(auroc, rel=1e-12)
    # Every tenth sum has no confidence, in both epochs.
    assert (found["n"], found["n_missing"]) == (180, 20)


@needs("inspect_ai")
def test_inspect_ai_computes_the_metric_for_a_log_without_it(inspect_log):
    folder = inspect_log.parent.parent
    text = block_with("@task").replace("accuracy(), calibration", "accuracy()")
    folder.joinpath("without.py").write_text(text, "utf-8")
    common = ("--display", "none", "--log-format", "json", "--log-dir", "without")
    run(folder, "inspect_ai", "eval", "without.py", *common)
    (log,) = folder.glob("without/*.json")
    assert "n_missing" not in log.read_text("utf-8")
    block = block_with("inspect score LOG").replace("\\\n", "")
    command = block.strip().splitlines()[-1]
    command = command.replace("NEW_LOG", "scored.json").replace("LOG", str(log))
    run(folder, "inspect_ai", *command.split()[1:])
    found = calibration_of(folder / "scored.json")
    assert (found["n"], found["n_missing"]) == (90, 10)
    shown = block_with("auroc_low").split()
    for name in ("error", "low", "high", "auroc", "auroc_low", "auroc_high"):
        assert shown[shown.index(name) + 1] == f"{found[name]:.3f}"


@pytest.fixture
def lm_eval_folder(tmp_path):
    """Write the recipe of the guide, and questions with two to four options."""
    tmp_path.joinpath("skc.py").write_text(block_with("def process_results"), "utf-8")
    tmp_path.joinpath("sums.yaml").write_text(block_with("metric_list"), "utf-8")
    questions = [
        {
            "question": f"{k} + {k} =",
            "options": [str(2 * k + d) for d in range(2 + k % 3)],
            "answer": 0,
        }
        for k in range(60)
    ]
    lines = "".join(json.dumps(each) + "\n" for each in questions)
    tmp_path.joinpath("sums.jsonl").write_text(lines, "utf-8")
    return tmp_path


def test_the_functions_of_the_recipe_measure_the_chosen_option(lm_eval_folder):
    recipe = {}
    exec(lm_eval_folder.joinpath("skc.py").read_text("utf-8"), recipe)
    # Options of probability 1/4 and 3/4; the constant cancels.
    results = [(np.log(1) - 700, False), (np.log(3) - 700, True)]
    found = recipe["process_results"]({"answer": 0}, results)
    assert found == {"acc": 0, "calibration_error": (0, pytest.approx(0.75))}
    found = recipe["process_results"]({"answer": 1}, results)
    assert found == {"acc": 1, "calibration_error": (1, pytest.approx(0.75))}
    right, confidence = drawn(100)
    pairs = list(zip(right.tolist(), confidence.tolist(), strict=True))
    expected = calibration_error_interval(right, confidence).estimate
    assert recipe["calibration_error"](pairs) == expected > 0


@needs("lm_eval")
def test_lm_evaluation_harness_writes_what_the_report_computes(lm_eval_folder):
    command = block_with("lm_eval --model").splitlines()[0]
    run(lm_eval_folder, *command.split())
    (results,) = lm_eval_folder.glob("out/*/results_*.json")
    (samples,) = lm_eval_folder.glob("out/*/samples_sums_*.jsonl")
    found = json.loads(results.read_text("utf-8"))["results"]["sums"]
    evaluation = read_evaluation(samples).answered()
    interval = calibration_error_interval(evaluation.score, evaluation.proba)
    assert found["calibration_error,none"] == pytest.approx(interval.estimate, rel=1e-9)
    assert found["acc,none"] == pytest.approx(evaluation.score.mean())
    assert found["calibration_error_stderr,none"] == "N/A"
    assert len(evaluation) == 60
