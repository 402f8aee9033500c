"""Readers of harnesses give what stands in the files that `harness_files` describes."""

import json
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from harness_files import FILES, PAIRS, fingerprints, write_archive, write_zstandard

from skcalib import read_evaluation
from skcalib.cli import main
from skcalib.evaluation import align_evaluations, read_evaluations
from skcalib.evaluation._evaluation import _RULES
from skcalib.evaluation._inspect_metrics import measure
from skcalib.evaluation._read import READERS

ROOT = Path(__file__).parents[2]

NAN = np.nan

# The twelve answers of each system, and the probability of the answer given.
TERN = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0]
HERON = [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1]
TERN_PROBA = [0.9, 0.8, 0.4, 0.7, 0.5, 0.6, 0.85, 0.55, 0.95, 0.65, 0.75, 0.45]
HERON_PROBA = [0.85, 0.95, 0.7, 0.8, 0.6, 0.9, 0.75, 0.65, 0.9, 0.45, 0.8, 0.7]

LETTERS = "CABDACBDABCD"
TIME = "2026-01-05T10-00-00.000000"
INSPECT = "inspect/velia_heron.json"
SAMPLES = f"lm_eval/tern/samples_velia_{TIME}.jsonl"
SUMS = f"lm_eval/tern/samples_sums_{TIME}.jsonl"
READING = f"lm_eval/tern/samples_reading_{TIME}.jsonl"
DETAILS = f"lighteval/details/tern/{TIME}/details_velia_0_{TIME}.parquet"
OPEN = f"lighteval/details/tern/{TIME}/details_open_0_{TIME}.parquet"
OLD = "2024-08-01T10-00-00.000000"
OLD_DETAILS = f"lighteval/details/tern/{OLD}/details_velia_0_{OLD}.parquet"


def need(path):
    """Skip a test of a file that was not written, for want of a library."""
    if not path.exists():
        pytest.skip(f"{path.name} needs pyarrow or zstandard")
    return path


def changed(path, folder, change):
    """Write a changed copy of a JSON file, or of the JSON lines of a file."""
    text = path.read_text("utf-8")
    copy = folder / path.name
    if path.suffix == ".jsonl" and text.startswith("{"):
        rows = [json.loads(line) for line in text.splitlines()]
        rows = change(rows) or rows
        copy.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        value = json.loads(text)
        copy.write_text(json.dumps(change(value) or value), "utf-8")
    return copy


def by_question(evaluation, values):
    """Return values in the order of the questions, which are numbered in the file."""
    order = np.argsort([int(q.rpartition(".")[2]) for q in evaluation.question])
    return values[order].tolist()


# What a new reader must come with


def test_every_reader_has_files_of_two_systems():
    assert set(FILES) == {reader.NAME for reader in READERS}
    assert all(len(pair) == 2 for pair in PAIRS.values())


def test_every_reader_has_a_rule_for_unanswered_questions():
    assert set(_RULES) == {reader.NAME for reader in READERS}


@pytest.mark.parametrize(
    "path", ["docs/guide/answer_files.rst", "docs/guide/compare.rst"]
)
def test_the_guide_names_every_format(path):
    text = " ".join((ROOT / path).read_text("utf-8").split())
    assert [reader.NAME for reader in READERS if reader.NAME not in text] == []


def test_the_help_text_and_the_docstring_name_every_format(capsys):
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    # The list of options has all formats without being edited.
    described = capsys.readouterr().out.partition("options:")[0].partition("Measure")[2]
    for text in (described, read_evaluation.__doc__):
        words = " ".join(text.split())
        assert [reader.NAME for reader in READERS if reader.NAME not in words] == []


@pytest.mark.parametrize("option", ["score", "filter", "split", "model"])
@pytest.mark.parametrize("format", FILES)
def test_a_choice_that_a_file_does_not_have_is_an_error(files, format, option):
    name = PAIRS[format][0]
    path = need(files / name)
    options = FILES[format][name] | {option: "no such name"}
    with pytest.raises(ValueError, match=f"'{option}' parameter"):
        read_evaluation(path, **options)


@pytest.mark.parametrize(
    ("format", "name"), [(format, name) for format in FILES for name in FILES[format]]
)
def test_each_file_is_recognised_by_one_reader(files, format, name):
    path = need(files / name)
    evaluation = read_evaluation(path, **FILES[format][name])
    assert evaluation.format == format
    same = read_evaluation(path, format=format, **FILES[format][name])
    np.testing.assert_array_equal(same.score, evaluation.score)
    assert evaluation.notes


# Common questions with a score in both files, and questions of the first file whose
# right answer and prompt are known.
COMMON = {
    "lm-evaluation-harness": (12, 12, 12),
    "inspect_ai": (11, 12, 12),
    "HELM": (10, 10, 10),
    "lighteval": (12, 12, 12),
    "HLE": (12, 11, 0),
    "simple-evals": (12, 12, 0),
    "promptfoo": (12, 0, 0),
    "deepeval": (8, 12, 12),
    "OpenAI evals": (11, 11, 11),
    "Every Eval Ever": (12, 12, 12),
    "decision models": (12, 12, 12),
}


@pytest.mark.parametrize("format", FILES)
def test_two_systems_have_the_same_right_answers_and_prompts(files, format):
    n, n_answers, n_prompts = COMMON[format]
    systems = {
        name: read_evaluation(need(files / name), **FILES[format][name])
        for name in PAIRS[format]
    }
    assert len(align_evaluations(systems, missing="drop")) == n
    tern = PAIRS[format][0]
    golds, prompts = fingerprints(systems[tern])
    assert (len(golds), len(prompts)) == (n_answers, n_prompts)
    if n_answers:
        other = systems[tern].right_answer.copy()
        other[:] = "another answer"
        systems[tern] = replace(systems[tern], right_answer=other)
        with pytest.raises(ValueError, match="with different right answers"):
            align_evaluations(systems, missing="drop")


# lm-evaluation-harness


def test_options_of_lm_eval(files):
    tern = read_evaluation(files / SAMPLES)
    heron = read_evaluation(files / SAMPLES.replace("tern", "heron"))
    for evaluation, scores, proba in ((tern, TERN, TERN_PROBA), (heron, HERON, None)):
        assert evaluation.score.tolist() == scores
        np.testing.assert_allclose(evaluation.proba, proba or HERON_PROBA, atol=1e-6)
    assert (tern.model, tern.task) == ("example/tern", "velia")
    assert "".join("ABCD"[k] for k in tern.gold) == LETTERS
    expected = [1 / 30, 1 / 30, 0.9, 1 / 30]
    np.testing.assert_allclose(tern.option_proba[0], expected, atol=1e-6)
    assert tern.groups["subject"].tolist() == ["geography"] * 6 + ["history"] * 6
    assert tern.groups["source"].tolist() == [f"p{k // 2 + 1}" for k in range(12)]


@pytest.mark.parametrize(
    ("score", "lengths"), [("acc_norm", [13, 12, 7, 9]), ("acc_bytes", [13, 12, 8, 9])]
)
def test_normalised_options_of_lm_eval(files, score, lengths):
    # Lengths of "the Amber Sea", "the Grey Sea", "the Øre", "the Sound".
    found = read_evaluation(files / SAMPLES, score=score).option_proba[3]
    expected = np.array([0.1, 0.1, 0.1, 0.7]) ** (1 / np.array(lengths))
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-6)


def test_filters_of_lm_eval(files):
    strict = read_evaluation(files / SUMS, filter="strict-match")
    assert strict.score.tolist() == [1, 0, 0, 1, 1, 0]
    assert strict.status.tolist()[2:6:3] == ["unparseable"] * 2
    assert strict.counts() == {"answered": 4, "unparseable": 2}
    flexible = read_evaluation(files / SUMS, filter="flexible-extract")
    assert flexible.score.tolist() == [1, 0, 1, 1, 1, 0]
    assert any("6 rows of other filters" in note for note in flexible.notes)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        ("em", [0, 1, 0, 0, 1, 0]),
        ("f1", [0.67, 1, 0.67, 0, 1, 0.5]),
        (None, [0, 1, 0, 0, 1, 0]),
    ],
)
def test_f1_of_each_answer_is_a_score_of_lm_eval(files, score, expected):
    evaluation = read_evaluation(files / READING, score=score)
    assert evaluation.score.tolist() == expected
    assert any("40 questions; this one has 6" in note for note in evaluation.notes)
    with pytest.raises(ValueError, match=r"'score'.*\['em', 'f1'\]"):
        read_evaluation(files / READING, score="acc")


def test_old_files_of_lm_eval(files):
    array = read_evaluation(files / "lm_eval/old/pretrained__tern_velia.jsonl")
    assert array.score.tolist() == TERN[:6]
    np.testing.assert_allclose(array.proba, TERN_PROBA[:6], atol=1e-6)
    assert array.question.tolist() == list("012345")
    golds, prompts = fingerprints(array)
    assert golds == dict(zip("012345", "201302", strict=True))
    assert len(set(prompts.values())) == 6
    path = files / f"lm_eval/old/samples_sums_{OLD}.jsonl"
    for name, scores in (("0", [1, 0, 0, 1, 1, 0]), ("1", [1, 0, 1, 1, 1, 0])):
        assert read_evaluation(path, filter=name).score.tolist() == scores


def set_all(**values):
    """Return a function that sets entries of each row."""

    def change(rows):
        for row in rows:
            row.update(values)

    return change


def without(*names):
    """Return a function that deletes entries of each row."""

    def change(rows):
        for row in rows:
            for name in names:
                row.pop(name, None)

    return change


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (without("filtered_resps"), {"format": "lm-evaluation-harness"}, "no 'doc_id'"),
        (set_all(metrics=["mcc"], mcc=[1, 0]), {}, r"only the metrics \['mcc'\]"),
        (set_all(acc="x"), {}, None),
        (without("arguments"), {"score": "acc_norm"}, "must be 'acc', since line 1 "),
        (set_all(filtered_resps=[["nan", "x"]] * 4), {}, "finite log-likelihoods"),
        (set_all(arguments=[["q", " "]] * 4), {"score": "acc_norm"}, "empty option"),
        (set_all(), {"split": "test"}, "does not apply to files of lm-eval"),
    ],
)
def test_errors_of_lm_eval(files, tmp_path, change, options, message):
    path = changed(files / SAMPLES, tmp_path, change)
    if message is None:  # another metric is taken if the first one is not a number
        with pytest.raises(ValueError, match=r"\['acc_norm', 'acc_bytes'\]"):
            read_evaluation(path)
        return
    with pytest.raises(ValueError, match=message):
        read_evaluation(path, **options)


def test_what_lm_eval_may_leave_out(files, tmp_path):
    path = changed(files / SAMPLES, tmp_path, without("doc", "prompt_hash", "metrics"))
    evaluation = read_evaluation(path)  # beside no file of results
    assert (evaluation.model, evaluation.task) == (None, "velia")
    assert fingerprints(evaluation)[1] == {}
    for text in ("word", ["-1", "True"], [["x", "True"], ["y", "False"]]):
        path = changed(files / SAMPLES, tmp_path, set_all(filtered_resps=text))
        assert not read_evaluation(path).has_proba
    path = changed(files / SAMPLES, tmp_path, set_all(target="9"))
    assert read_evaluation(path).gold is None
    path = changed(files / SAMPLES, tmp_path, lambda rows: rows[0].update(target="x"))
    assert read_evaluation(path).gold.tolist()[:2] == [-1, 0]
    path = changed(files / SAMPLES, tmp_path, set_all(doc_hash="x"))
    assert read_evaluation(path).question[1] == "x#1"
    assert read_evaluation(path.rename(tmp_path / "other.jsonl")).task is None


# Probabilities of four options with the question, and without it. The ratios are 1, 2,
# 1/2 and 1: the first option is the most probable one, and the second has the largest.
WITH = np.array([0.5, 0.25, 0.125, 0.125])
WITHOUT = np.array([0.5, 0.125, 0.25, 0.125])


def lm_samples(folder, proba, rows, texts="wxyz", delimiter=" ", n_texts=1):
    """Write rows of lm-evaluation-harness with the log-likelihoods of options."""
    with np.errstate(divide="ignore"):
        pairs = [[repr(float(x)), "False"] for x in np.log(proba)]
    arguments = {
        f"gen_args_{k}": {"arg_0": "q", "arg_1": f"{delimiter}{text}"}
        for k, text in enumerate([*texts] * n_texts)
    }
    path = folder / "samples_made_2026.jsonl"
    common = {"filtered_resps": pairs, "resps": [], "arguments": arguments}
    lines = [json.dumps({"doc_id": k} | common | row) for k, row in enumerate(rows)]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("n_texts", [0, 2])
def test_log_likelihoods_without_the_question_are_no_options(tmp_path, n_texts):
    rows = [
        {"target": "0", "acc": 1, "acc_norm": 1, "acc_mutual_info": 0},
        {"target": "1", "acc": 0, "acc_norm": 0, "acc_mutual_info": 1},
        {"target": "2", "acc": 0, "acc_norm": 0, "acc_mutual_info": 0},
    ]
    path = lm_samples(tmp_path, [*WITH, *WITHOUT], rows, n_texts=n_texts)
    found = read_evaluation(path)
    np.testing.assert_allclose(found.option_proba, [WITH] * 3)
    assert found.gold.tolist() == [0, 1, 2]
    found = read_evaluation(path, score="acc_mutual_info")
    np.testing.assert_allclose(found.option_proba, [np.array([1, 2, 0.5, 1]) / 4.5] * 3)
    assert found.score.tolist() == [0, 1, 0]
    assert "minus those without the question" in found.notes[-1]
    if n_texts:  # options of one character
        found = read_evaluation(path, score="acc_norm")
        np.testing.assert_allclose(found.option_proba, [WITH] * 3)


def test_log_likelihoods_without_the_question_may_be_left_out(tmp_path):
    rows = [{"target": "0", "acc": 1, "acc_mutual_info": 0}]
    path = lm_samples(tmp_path, WITH, rows, n_texts=2)
    np.testing.assert_allclose(read_evaluation(path).option_proba, [WITH])
    found = read_evaluation(path, score="acc_mutual_info")
    assert not found.has_proba
    assert "There are no probabilities." in found.notes[-1]
    path = lm_samples(tmp_path, [*WITH, 0.5], rows, n_texts=0)  # not twice as many
    assert not read_evaluation(path, score="acc_mutual_info").has_proba


def test_exact_match_is_about_the_right_option_only(tmp_path):
    rows = [{"target": "0", "acc": 1, "exact_match": 0}]
    path = lm_samples(tmp_path, WITH, rows)
    assert read_evaluation(path).proba.tolist() == pytest.approx([0.5])
    assert not read_evaluation(path, score="exact_match").has_proba


# Log-likelihoods of -2, -4 and -3. Per character of "a", "bbb" and "cc" they are -2,
# -4/3 and -3/2, and with a blank before each option -1, -1 and -1: a tie.
@pytest.mark.parametrize(
    ("delimiter", "config", "lengths"),
    [
        (" ", {}, [1, 3, 2]),
        ("", {}, [1, 3, 2]),
        ("\n", {"target_delimiter": "\n"}, [1, 3, 2]),
        (" ", {"target_delimiter": ""}, [2, 4, 3]),  # the options begin with a blank
    ],
)
def test_lengths_are_without_the_delimiter(tmp_path, delimiter, config, lengths):
    proba = np.exp([-2, -4, -3])
    rows = [{"target": "1", "acc_norm": 1, "acc_bytes": 1}]
    path = lm_samples(tmp_path, proba, rows, ["a", "bbb", "cc"], delimiter)
    results = {"configs": {"made": config}}
    (tmp_path / "results_2026.json").write_text(json.dumps(results))
    expected = proba ** (1 / np.array(lengths))
    for score in ("acc_norm", "acc_bytes"):
        found = read_evaluation(path, score=score).option_proba[0]
        np.testing.assert_allclose(found, expected / expected.sum())


def test_a_blank_may_belong_to_the_options(tmp_path):
    # Without a file of results, the scores tell how long the options are. Of "a" and
    # "bbb", -1.1/1 is below -3/3; with the blanks, -1.1/2 is above -3/4.
    proba = np.exp([-1.1, -3])
    for right, lengths in ((1, [1, 3]), (0, [2, 4])):
        rows = [{"target": str(right), "acc_norm": 1}]
        path = lm_samples(tmp_path, proba, rows, ["a", "bbb"])
        expected = proba ** (1 / np.array(lengths))
        found = read_evaluation(path, score="acc_norm").option_proba[0]
        np.testing.assert_allclose(found, expected / expected.sum())


def test_a_probability_may_be_zero(tmp_path):
    rows = [{"target": str(k), "acc": int(k == 1)} for k in range(3)]
    found = read_evaluation(lm_samples(tmp_path, [0.2, 0.6, 0], rows))
    np.testing.assert_allclose(found.option_proba, [[0.25, 0.75, 0]] * 3)
    found = read_evaluation(lm_samples(tmp_path, [0, 0, 0], rows))
    assert not found.has_proba  # of options that are all impossible
    rows = [{"target": "0", "acc": 1, "acc_mutual_info": 1}]
    both = lm_samples(tmp_path, [0.6, 0, 0.3, 0], rows, n_texts=2, texts="wx")
    assert not read_evaluation(both, score="acc_mutual_info").has_proba
    np.testing.assert_allclose(read_evaluation(both).option_proba, [[1, 0]])


@pytest.mark.parametrize(
    ("target", "gold"),
    [("1", 1), ("x", 1), (" x", 1), ("[1, 2]", -1), ("4", -1), ("v", -1)],
)
def test_right_options_of_lm_eval(tmp_path, target, gold):
    rows = [{"target": "0", "acc": 1}, {"target": target, "acc": 0}]
    found = read_evaluation(lm_samples(tmp_path, WITH, rows))
    assert found.gold.tolist() == [0, gold]
    assert found.has_proba


def test_a_number_may_be_the_text_of_another_option(tmp_path):
    rows = [{"target": "0", "acc": 0}, {"target": "1", "acc": 1}]
    found = read_evaluation(lm_samples(tmp_path, WITH, rows, "1023"))
    assert found.gold is None
    assert found.has_proba


@pytest.mark.parametrize(
    ("row", "is_kept"),
    [
        ({"target": "0", "acc": 1}, True),
        ({"target": "0", "acc": 0}, False),
        ({"target": "1", "acc": 0}, True),
        ({"target": "1", "acc": 1}, False),
        ({"target": "x", "acc": 1}, False),
        ({"target": "[1, 0]", "acc": 1}, True),
        ({"target": "[1, 0]", "acc": 0}, False),
        ({"target": "[1, 2]", "acc": 1}, False),
        ({"target": "[1, 2]", "acc": 0}, True),
        ({"target": "unknown", "acc": 1}, True),
        ({"target": "unknown", "acc": 0.5}, False),
    ],
)
def test_a_score_is_that_of_the_most_probable_option(tmp_path, row, is_kept):
    rows = [{"target": "0", "acc": 1}, row, {"target": "2", "acc": 0}]
    found = read_evaluation(lm_samples(tmp_path, WITH, rows))
    assert found.score.tolist() == [1, row["acc"], 0]
    assert found.has_proba == is_kept
    if is_kept:
        np.testing.assert_allclose(found.proba, [0.5] * 3)
        return
    assert np.isnan(found.proba).all()
    assert found.option_proba is None
    assert "In 1 of 3 rows, the score is not that of the most prob" in found.notes[-1]
    assert "answers: line 2 of samples_made_2026.jsonl." in found.notes[-1]
    assert not any("softmax" in note for note in found.notes)


def test_rows_that_contradict_their_scores_are_counted(tmp_path):
    rows = [{"target": "0", "acc": 0}] * 5
    note = read_evaluation(lm_samples(tmp_path, WITH, rows)).notes[-1]
    assert "In 5 of 5 rows" in note
    assert "line 1 of samples_made_2026.jsonl, line 2 of" in note
    assert "line 3 of samples_made_2026.jsonl and others. Choose" in note


@pytest.mark.parametrize("second", [0.4, 0.4 * (1 - 1e-7), 0.4 * (1 + 1e-7)])
@pytest.mark.parametrize("target", ["0", "1"])
@pytest.mark.parametrize("score", [0, 1])
def test_harnesses_choose_among_ties(tmp_path, second, target, score):
    rows = [{"target": target, "acc": score}]
    found = read_evaluation(lm_samples(tmp_path, [0.4, second, 0.2], rows))
    np.testing.assert_allclose(found.proba, [0.4], rtol=1e-6)


def test_right_answers_and_prompts_of_lm_eval_are_those_of_one_filter(files):
    golds, prompts = fingerprints(read_evaluation(files / SUMS, filter="strict-match"))
    assert sorted(golds.values()) == sorted(f"#### {n}" for n in (5, 15, 21, 26, 42, 9))
    assert all(len(prompt) == 64 for prompt in prompts.values())


# inspect_ai


@pytest.mark.parametrize("name", ["velia_tern.json", "velia_tern.eval"])
def test_log_of_inspect_with_a_refusal_and_an_error(files, name):
    evaluation = read_evaluation(files / "inspect" / name)
    assert evaluation.question.tolist() == [str(k) for k in range(1, 13)]
    expected = [*TERN[:10], 0, NAN]
    np.testing.assert_array_equal(evaluation.score, expected)
    np.testing.assert_array_equal(evaluation.proba, [*TERN_PROBA[:10], NAN, NAN])
    assert evaluation.status.tolist() == ["answered"] * 10 + ["refused", "error"]
    assert evaluation.groups["passage"].tolist() == [
        f"p{k // 2 + 1}" for k in range(12)
    ]
    assert fingerprints(evaluation)[0]["1"] == "C"


def test_a_log_of_inspect_need_not_have_a_version(files, tmp_path):
    def change(log):
        del log["version"]

    path = changed(files / "inspect/velia_heron.json", tmp_path, change)
    assert read_evaluation(path).format == "inspect_ai"


@pytest.mark.parametrize(
    "name", ["velia_heron.json", "running_heron.eval", "zstandard_heron.eval"]
)
def test_logs_of_inspect_in_another_order(files, name):
    evaluation = read_evaluation(need(files / "inspect" / name))
    assert evaluation.question.tolist()[:4] == ["4", "1", "8", "2"]
    assert by_question(evaluation, evaluation.score) == HERON
    assert by_question(evaluation, evaluation.proba)[:9] == HERON_PROBA[:9]
    assert evaluation.counts() == {"answered": 11, "unparseable": 1}
    assert evaluation.status[9] == "unparseable"  # the tenth question
    assert (evaluation.model, evaluation.task) == ("example/heron", "velia")


def test_epochs_of_inspect(files):
    evaluation = read_evaluation(files / "inspect/epochs_tern.json")
    assert (len(evaluation), evaluation.n_questions) == (18, 6)
    assert evaluation.repeat.tolist() == [0] * 6 + [1] * 6 + [2] * 6
    assert evaluation.score.reshape(3, 6).T.tolist() == [
        [1, 1, 1],
        [1, 1, 0],
        [0, 0, 0],
        [1, 0, 1],
        [0, 0, 1],
        [1, 1, 1],
    ]


def test_old_log_of_inspect(files):
    evaluation = read_evaluation(files / "inspect/old_tern.json")
    np.testing.assert_array_equal(evaluation.score, [1, 0.5, 0, 1, NAN])
    assert evaluation.counts() == {"answered": 4, "unscored": 1}
    assert "The status of the run is 'cancelled'." in evaluation.notes


def test_log_of_inspect_with_several_scores(files):
    path = files / "inspect/graded_tern.json"
    style = read_evaluation(path, score="grader/style")
    np.testing.assert_array_equal(style.score, [1, 0.5, 0, NAN])
    assert style.proba.tolist() == [0.9, 0.8, 0.4, 0.7]
    assert style.status.tolist() == ["answered"] * 3 + ["unscored"]
    assert read_evaluation(path, score="grader/fact").score.tolist() == [1, 1, 0, 1]
    assert "The log is marked as invalidated." in style.notes


def test_a_probability_of_inspect_is_read_before_a_confidence(files, tmp_path):
    def change(samples):
        for sample in samples:
            for score in sample["scores"].values():
                score["metadata"] = {"confidence": 0.25, "probability": 0.75}
        return samples

    path = changed(files / "inspect/velia_heron.json", tmp_path, of_samples(change))
    evaluation = read_evaluation(path)
    assert set(evaluation.proba) == {0.75}
    assert "The probability is 'probability', not 'confidence'" in evaluation.notes[-1]
    plain = read_evaluation(files / "inspect/velia_heron.json")
    assert plain.notes == ("The score is 'letter'.",)


def of_samples(change):
    """Return a function that changes the samples of a log."""

    def change_log(log):
        log["samples"] = change(log["samples"])

    return change_log


# Confidences as they are stated, and as probabilities if numbers run from 0 to 1.
STATED = [
    (0.9, 0.9),
    ("0.9", 0.9),
    ("90%", 0.9),
    (" 90 % ", 0.9),
    ("0.5%", 0.005),
    (1, 1),
    ("1", 1),
    ("0", 0),
    ("9e-1", 0.9),
    (None, NAN),
    ("", NAN),
    (" ", NAN),
]


def state(value, **others):
    """Return a function that lets all scores of a log state a confidence."""

    def change(samples):
        for sample in samples:
            for score in sample["scores"].values():
                score["metadata"] = {"confidence": value} | others
        return samples

    return of_samples(change)


@pytest.mark.parametrize(("value", "expected"), STATED)
def test_a_confidence_of_inspect_may_be_a_text(files, tmp_path, value, expected):
    path = changed(files / "inspect/velia_heron.json", tmp_path, state(value))
    found = read_evaluation(path)
    np.testing.assert_allclose(found.proba, [expected] * 12)
    assert found.notes == ("The score is 'letter'.",)
    score = SimpleNamespace(value="C", metadata={"confidence": value})
    scores = [SimpleNamespace(sample_id=k, score=score) for k in range(5)]
    assert measure(scores, "confidence")["n"] == 5 * (expected == expected)


@pytest.mark.parametrize("value", ["high", "C", "yes", True, [0.5], "1_0", "0.9.1"])
def test_a_confidence_of_inspect_in_words_is_no_probability(files, tmp_path, value):
    path = changed(files / "inspect/velia_heron.json", tmp_path, state(value))
    found = read_evaluation(path)
    assert not found.has_proba
    assert found.score.tolist() == read_evaluation(files / INSPECT).score.tolist()
    assert "12 of 12 samples state no number, and so have no p" in found.notes[-1]
    assert f"Got {{'confidence': {value!r}}}, for example" in found.notes[-1]
    # The number beside it is read.
    change = state(value, certainty="75%")
    path = changed(files / "inspect/velia_heron.json", tmp_path, change)
    assert set(read_evaluation(path).proba) == {0.75}


def test_a_confidence_of_inspect_may_be_in_the_value(files, tmp_path):
    def change(samples):
        for sample in samples:
            score = sample["scores"]["letter"]
            score["value"] = {"right": score["value"], "confidence": "80%"}
            score["metadata"] = {"confidence": None}
        return samples

    path = changed(files / "inspect/velia_heron.json", tmp_path, of_samples(change))
    assert set(read_evaluation(path).proba) == {0.8}


@pytest.mark.parametrize("value", [90, "90", "150%", "-1%", "inf"])
def test_a_confidence_of_inspect_is_at_most_one(files, tmp_path, value):
    path = changed(files / "inspect/velia_heron.json", tmp_path, state(value))
    with pytest.raises(ValueError, match=r"probability in \[0, 1\] in each row\. Got"):
        read_evaluation(path)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(80, 0.8), ("80", 0.8), ("80%", 0.8), (" 80 %", 0.8), ("0.8", 0.008), ("", NAN)],
)
def test_confidences_of_hle_run_to_100(files, tmp_path, value, expected):
    def change(content):
        for entry in content.values():
            entry["judge_response"]["confidence"] = value

    path = changed(files / "hle/judged_heron.json", tmp_path, change)
    np.testing.assert_allclose(read_evaluation(path).proba, [expected] * 12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda samples: [], "which has none. Run the evaluation without"),
        (lambda samples: [{"epoch": 1}], "samples with an id"),
        (
            lambda samples: [{**s, "scores": {"letter": 1}} for s in samples],
            "never scored",
        ),
        (lambda samples: [*samples, samples[2]], "second sample 3 of velia_tern"),
    ],
)
def test_errors_of_inspect(files, tmp_path, change, message):
    path = changed(files / "inspect/velia_tern.json", tmp_path, of_samples(change))
    with pytest.raises(ValueError, match=message):
        read_evaluation(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_of_one_name_the_last_is_read(files, tmp_path):
    path = tmp_path / "twice.eval"
    shutil.copy(files / "inspect/velia_tern.eval", path)
    with zipfile.ZipFile(path, "a") as archive:
        name = "samples/3_epoch_1.json"
        sample = json.loads(archive.read(name))
        next(iter(sample["scores"].values()))["value"] = "P"
        archive.writestr(name, json.dumps(sample))
    once, twice = map(read_evaluation, [files / "inspect/velia_tern.eval", path])
    is_changed = twice.question == "3"
    assert twice.score[is_changed].tolist() == [0.5]
    others = ~is_changed
    np.testing.assert_array_equal(twice.score[others], once.score[others])
    assert "1 samples are in the archive twice: the last one is read" in str(
        twice.notes
    )


def write_log(path, values, results=None, confidences=None):
    """Write a log of inspect_ai with one scorer `match` and no epochs."""
    stated = confidences or [None] * len(values)
    samples = [
        {
            "id": k,
            "scores": {"match": {"value": value, "metadata": {"confidence": c}}},
        }
        for k, (value, c) in enumerate(zip(values, stated, strict=True))
    ]
    log = {"version": 2, "eval": {"model": "m"}, "samples": samples}
    if results is not None:
        log["results"] = {"scores": results}
    path.write_text(json.dumps(log))
    return path


@pytest.mark.parametrize(
    ("reducer", "name", "stated", "note"),
    [
        (
            "mode",
            "match",
            0.5,
            "an accuracy of 0.500 with the reducer 'mode'. The mean",
        ),
        (None, "match", 0.8, "an accuracy of 0.800. The mean score of its samples is"),
        ("mean", "match", 0.75, None),
        ("mode", "other", 0.5, None),
    ],
)
def test_an_accuracy_of_the_log_that_differs_is_named(
    tmp_path, reducer, name, stated, note
):
    metrics = {"accuracy": {"name": "accuracy", "value": stated}}
    results = [{"name": name, "scorer": name, "reducer": reducer, "metrics": metrics}]
    path = write_log(tmp_path / "a.json", ["C", "C", "I", "C"], results)
    notes = " ".join(read_evaluation(path).notes)
    assert ("states an accuracy" in notes) == (note is not None)
    assert (note or "") in notes


def test_a_category_may_count_as_right(tmp_path):
    path = write_log(tmp_path / "a.json", ["left", "right", None, "left"])
    found = read_evaluation(path, pos_label="left")
    assert found.score[[0, 1, 3]].tolist() == [1, 0, 1]
    assert np.isnan(found.score[2])
    with pytest.raises(ValueError, match="contains left, right. Got 'both'"):
        read_evaluation(path, pos_label="both")


@pytest.mark.parametrize("kind", ["log", "correct", "score"])
def test_grades_are_shares_of_their_scale(tmp_path, kind):
    path = write_log(tmp_path / "a.json", [1, 3, 10])
    if kind != "log":
        path = tmp_path / "a.csv"
        path.write_text(f"id,{kind}\na,1\nb,3\nc,10\n")
    score = read_evaluation(path, scale=(1, 10)).score
    assert score == pytest.approx([0, 2 / 9, 1])
    with pytest.raises(ValueError, match=r"1 to 9.* 10 in sample 2|\[1, 9\].*'10' in"):
        read_evaluation(path, scale=(1, 9))
    with pytest.raises(ValueError, match="'scale'.*two numbers. Got 9 and 1"):
        read_evaluation(path, scale=(9, 1))
    with pytest.raises(ValueError, match="'scale'.*two numbers. Got '15'"):
        read_evaluation(path, scale="15")
    with pytest.raises(ValueError, match="'pos_label'.*does not apply to grades"):
        read_evaluation(path, scale=(1, 10), pos_label="1")


def test_confidences_of_a_log_may_be_percentages(tmp_path):
    path = write_log(tmp_path / "a.json", ["C", "I"], confidences=[90, "45%"])
    assert read_evaluation(path, percent=True).proba.tolist() == [0.9, 0.45]
    path = write_log(tmp_path / "a.json", ["C", "I"], confidences=[0.9, 0.5])
    found = read_evaluation(path, percent=True)
    assert found.proba.tolist() == pytest.approx([0.009, 0.005])
    assert "No confidence is above 1, and 1 is read as 1%." in found.notes


def test_parameters_for_tables_and_percentages_are_refused_for_other_files(files):
    path = files / SAMPLES
    with pytest.raises(ValueError, match="'columns'.*lm-evaluation-harness. Got 'acc'"):
        read_evaluation(path, columns={"score": "acc"})
    with pytest.raises(ValueError, match="'percent'.*does not apply to files of lm"):
        read_evaluation(path, percent=True)


def test_short_texts_and_integers_in_the_metadata_of_inspect_are_groups(
    files, tmp_path
):
    def change(samples):
        kept = {"subject": "law", "year": 2024}
        others = {"text": "x" * 101, "score": 0.5, "list": [1], "none": None}
        return [{**sample, "metadata": kept | others} for sample in samples]

    path = changed(files / "inspect/velia_tern.json", tmp_path, of_samples(change))
    groups = read_evaluation(path).groups
    assert {k: set(v) for k, v in groups.items()} == {
        "subject": {"law"},
        "year": {"2024"},
    }


def test_what_inspect_may_leave_out(files, tmp_path):
    def change(samples):
        for sample in samples:
            del sample["metadata"], sample["input"], sample["epoch"]
            sample["output"] = None
        return samples

    path = changed(files / "inspect/velia_tern.json", tmp_path, of_samples(change))
    evaluation = read_evaluation(path)
    assert evaluation.groups == {}
    assert set(evaluation.repeat) == {0}
    assert evaluation.status[10] == "unparseable"  # nothing says that it was refused


def test_a_zip_archive_of_another_kind_is_no_log(tmp_path):
    write_archive(tmp_path / "a.zip", {"a.txt": "a"})
    with pytest.raises(ValueError, match="which is none of these"):
        read_evaluation(tmp_path / "a.zip")


# HELM


def test_run_folder_of_helm(files):
    evaluation = read_evaluation(files / "helm/tern", split="test")
    assert evaluation.question.tolist() == [f"id{k}" for k in range(3, 13)]
    assert evaluation.score.tolist() == TERN[2:]
    assert evaluation.proba.tolist() == TERN_PROBA[2:]
    assert evaluation.model == "example/tern"
    assert set(evaluation.groups["subject"]) == {"islands"}
    assert evaluation.notes[2:] == (
        "2 rows of perturbed questions are left out.",
        "2 rows of other splits than 'test' are left out.",
    )
    golds, prompts = fingerprints(evaluation)
    assert golds["id3"] == '["seven"]'
    assert prompts["id3"].startswith('["How many islands belong to Velia?", ["three"')
    path = files / "helm/tern/per_instance_stats.json"
    assert read_evaluation(path, split="valid").score.tolist() == TERN[:2]


def test_trials_of_helm_without_log_probabilities(files):
    evaluation = read_evaluation(files / "helm/local")
    assert evaluation.repeat.tolist() == [0] * 6 + [1] * 6
    # In the second trial, the answer to the seventh question is wrong too.
    assert evaluation.score.tolist() == [*TERN[2:8], 0, 1, 0, 1, 0, 0]
    assert not evaluation.has_proba
    assert [note.split(",")[0] for note in evaluation.notes] == [
        "The score is 'exact_match'.",
        "All log-probabilities are 0",
    ]


def rename_scores(rows):
    for row in rows:
        for stat in row["stats"]:
            stat["name"]["name"] = stat["name"]["name"].replace("exact_match", "f1")


def drop_last_scores(rows):
    rows[-1]["stats"] = rows[-1]["stats"][:1]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (set_all(stats=1), {}, "must contain statistics. Got none in entry 0"),
        (set_all(stats=[{"mean": 1}]), {}, "statistic without name in entry 0"),
        (rename_scores, {}, r"statistics \['f1', 'logprob'.*'quasi_f1'\]"),
        (drop_last_scores, {}, "'exact_match', which instance 'id8' lacks"),
        (set_all(train_trial_index=-1), {}, "number the trials from 0. Got -1"),
        (set_all(), {"filter": "x"}, "does not apply to files of HELM"),
    ],
)
def test_errors_of_helm(files, tmp_path, change, options, message):
    path = files / "helm/local/per_instance_stats.json"
    path = changed(path, tmp_path, change)
    with pytest.raises(ValueError, match=message):
        read_evaluation(path, **options)


def test_a_run_of_helm_without_the_other_files(files, tmp_path):
    path = changed(
        files / "helm/local/per_instance_stats.json", tmp_path, rename_scores
    )
    evaluation = read_evaluation(path, score="quasi_f1")
    assert (evaluation.model, evaluation.groups) == (None, {})
    assert fingerprints(evaluation) == ({}, {})


# lighteval


def test_details_of_lighteval(files):
    evaluation = read_evaluation(need(files / DETAILS))
    assert evaluation.score.tolist() == TERN
    np.testing.assert_allclose(evaluation.proba, TERN_PROBA, atol=1e-6)
    assert "".join("ABCD"[k] for k in evaluation.gold) == LETTERS
    assert (evaluation.model, evaluation.task) == ("tern", "velia|0")
    assert evaluation.groups["subject"].tolist() == ["geography"] * 6 + ["history"] * 6
    assert fingerprints(evaluation)[0]["0"] == "2"
    assert fingerprints(evaluation)[1]["0"].startswith("What is the capital of Velia?")


# Log-likelihoods of three texts. They are -1, -4/3 and -1 per character, and -2, -4/3
# and -3/2 without the first blanks. Per token they are -2, -1 and -3. Minus those
# without the question, they are -1/2, -1 and -1/4.
CHOICES = [" a", "bbb", " cc"]
LOGS = [-2.0, -4.0, -3.0]
MINUS = ", minus those without the question"
UNCONDITIONED = [-1.5, -3.0, -2.75]
CHAR = "acc:logprob_normalization=LogProbCharNorm(name='norm', ignore_first_space={})"


def details(folder, score, rows, **response):
    """Write details of lighteval; a row is the right option and its score."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    answer = {"logprobs": LOGS, "output_tokens": [[1], [1, 2, 3, 4], [1]]} | response
    table = [
        {
            "doc": {"id": str(k), "choices": CHOICES, "gold_index": right},
            "metric": {score: value, "none": None},
            "model_response": answer,
        }
        for k, (right, value) in enumerate(rows)
    ]
    path = folder / "details_made_0_now.parquet"
    pq.write_table(pa.Table.from_pylist(table), path)
    return path


@pytest.mark.parametrize(
    ("score", "logs", "best", "how"),
    [
        ("acc", LOGS, 0, ""),
        ("loglikelihood_acc", LOGS, 0, ""),
        ("acc:logprob_normalization=None", LOGS, 0, ""),
        ("acc_norm", [-2, -4 / 3, -3 / 2], 1, " per character"),
        (CHAR.format(True), [-2, -4 / 3, -3 / 2], 1, " per character"),
        ("acc_norm", [-1, -4 / 3, -1], 0, " per character"),
        (CHAR.format(False), [-1, -4 / 3, -1], 2, " per character"),
        ("acc_norm_token", [-2, -1, -3], 1, " per token"),
        ("acc:logprob_normalization=LogProbTokenNorm()", [-2, -1, -3], 1, " per token"),
        ("acc_norm_pmi", [-0.5, -1, -0.25], 2, MINUS),
        ("acc:logprob_normalization=LogProbPMINorm()", [-0.5, -1, -0.25], 2, MINUS),
    ],
)
def test_normalised_scores_of_lighteval(tmp_path, score, logs, best, how):
    wrong = int(np.argmin(logs))
    rows = [([best], 1), ([wrong, best], 1), ([wrong], 0)]
    path = details(tmp_path, score, rows, unconditioned_logprobs=UNCONDITIONED)
    found = read_evaluation(path)
    expected = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(found.option_proba, [expected] * 3)
    np.testing.assert_allclose(found.proba, [expected.max()] * 3)
    assert found.gold.tolist() == [best, -1, wrong]
    note = f"Probabilities are the softmax of the options' log-likelihoods{how}."
    assert found.notes == (f"The score is {score!r}. {note}",)


def test_log_likelihoods_without_the_question_may_follow_in_lighteval(tmp_path):
    both = LOGS + UNCONDITIONED
    for score, logs, best in (("acc", LOGS, 0), ("acc_norm_pmi", [-0.5, -1, -0.25], 2)):
        path = details(tmp_path, score, [([best], 1)], logprobs=both)
        expected = np.exp(logs) / np.exp(logs).sum()
        np.testing.assert_allclose(read_evaluation(path).option_proba, [expected])


@pytest.mark.parametrize(
    ("score", "response"),
    [
        ("acc_norm_token", {"output_tokens": None}),
        ("acc_norm_token", {"output_tokens": [[1], [], [1]]}),
        ("acc_norm_token", {"output_tokens": [[1]]}),
        ("acc_norm_pmi", {}),
        ("acc_norm_pmi", {"unconditioned_logprobs": [-1.0]}),
    ],
)
def test_a_normalised_score_needs_what_it_divides_by(tmp_path, score, response):
    found = read_evaluation(details(tmp_path, score, [([0], 1)], **response))
    assert not found.has_proba
    assert "the file lacks. There are no probabilities." in found.notes[-1]


def test_other_metrics_of_lighteval_have_no_probability(tmp_path):
    # The right option is the second of the three, so it is among the best two.
    for score, value in (("recall@2", 1), ("normalized_mc_prob", 0.3), ("acc", 1)):
        found = read_evaluation(details(tmp_path, score, [([2], value), ([0], 1)]))
        assert not found.has_proba
        assert "In 1 of 2 rows" in found.notes[-1]
        assert "row 0 of details_made_0_now.parquet" in found.notes[-1]


def test_a_probability_of_lighteval_may_be_zero(tmp_path):
    logs = [-1.0, -np.inf, -1.0]
    found = read_evaluation(details(tmp_path, "acc", [([0], 1)], logprobs=logs))
    assert found.option_proba[0].tolist() == [0.5, 0, 0.5]


def test_details_of_lighteval_with_reduced_samples(files):
    path = need(files / OPEN)
    with pytest.raises(ValueError, match=r"'avg@n:n=4', 'pass@k:k=2&n=4'"):
        read_evaluation(path)
    evaluation = read_evaluation(path, score="avg@n:n=4")
    np.testing.assert_array_equal(evaluation.score, [1, 0.5, 0.25, 0, NAN])
    assert evaluation.counts() == {"answered": 4, "unscored": 1}
    assert not evaluation.has_proba


def test_old_details_of_lighteval(files):
    path = need(files / OLD_DETAILS)
    evaluation = read_evaluation(path)
    assert evaluation.score.tolist() == TERN[:6]
    np.testing.assert_allclose(evaluation.proba, TERN_PROBA[:6], atol=1e-6)
    assert evaluation.question[0] == "What is the capital of Velia?"
    assert evaluation.model == "tern"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": {"acc": None}}, "metrics of each answer. Got none in row 0 of"),
        ({"metric": 1}, "a question and its metrics. Got none in row 0 of"),
        ({"doc": {"id": None}}, "a question and its metrics. Got none in row 0 of"),
    ],
)
def test_errors_of_lighteval(tmp_path, change, message):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    row = {"doc": {"id": "0"}, "model_response": {"text": ["a"]}, "metric": {"acc": 1}}
    path = tmp_path / "details_task_0_now.parquet"
    pq.write_table(pa.Table.from_pylist([row | change]), path)
    with pytest.raises(ValueError, match=message):
        read_evaluation(path)
    pq.write_table(pa.Table.from_pylist([row]), path)
    assert read_evaluation(path).model == tmp_path.name  # no folder of a run


def test_parquet_files_need_pyarrow(files, monkeypatch):
    path = need(files / DETAILS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        read_evaluation(path)


def test_a_parquet_file_that_is_cut_is_an_error(files, tmp_path):
    path = tmp_path / "cut.parquet"
    path.write_bytes(need(files / DETAILS).read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"complete parquet file. Got cut\.parquet"):
        read_evaluation(path)


# HLE


def test_judged_answers_of_hle(files):
    evaluation = read_evaluation(files / "hle/judged_tern.json")
    np.testing.assert_array_equal(evaluation.score, [*TERN[:11], NAN])
    # The eleventh answer states no confidence, for which the judge writes 100.
    np.testing.assert_array_equal(evaluation.proba, [*TERN_PROBA[:10], NAN, NAN])
    assert evaluation.counts() == {"answered": 11, "unscored": 1}
    assert evaluation.scored().score.tolist() == TERN  # not judged counts as wrong
    assert evaluation.answered().proba.tolist() == TERN_PROBA[:10]
    assert evaluation.model == "example/tern"
    assert any("1 answers do not state" in note for note in evaluation.notes)
    heron = read_evaluation(files / "hle/judged_heron.json")
    assert heron.proba.tolist() == HERON_PROBA
    assert list(fingerprints(heron)[0].values())[:2] == ["Tamris", "the Ysse"]


def test_a_confidence_of_100_is_stated_if_hle_keeps_no_texts(files, tmp_path):
    def change(content):
        for entry in content.values():
            entry["response"] = ""
            entry["judge_response"]["confidence"] = 100

    path = changed(files / "hle/judged_heron.json", tmp_path, change)
    assert read_evaluation(path).proba.tolist() == [1.0] * 12


def test_confidences_of_hle(files, tmp_path):
    def change(content):
        for k, entry in enumerate(content.values()):
            entry["judge_response"]["confidence"] = ["80%", None, 60][k % 3]
            entry["model"] = str(k)

    path = changed(files / "hle/judged_heron.json", tmp_path, change)
    evaluation = read_evaluation(path)
    np.testing.assert_array_equal(evaluation.proba[:3], [0.8, NAN, 0.6])
    assert evaluation.model is None

    def damage(content):
        next(iter(content.values()))["judge_response"]["confidence"] = "high"

    path = changed(files / "hle/judged_heron.json", tmp_path, damage)
    with pytest.raises(ValueError, match="from 0 to 100. Got 'high' in question"):
        read_evaluation(path)


# simple-evals


def test_results_of_simple_evals(files):
    evaluation = read_evaluation(files / "simple_evals/velia_tern_allresults.json")
    assert evaluation.score.tolist() == [*TERN[:10], 0, 0]
    assert evaluation.status.tolist() == ["answered"] * 10 + ["unparseable"] * 2
    assert list(fingerprints(evaluation)[0].values()) == list(LETTERS)
    expected = json.loads((files / "simple_evals/velia_tern.json").read_text())
    assert evaluation.score.mean() == pytest.approx(expected["score"], rel=1e-15)
    simple = read_evaluation(files / "simple_evals/simpleqa_tern_allresults.json")
    assert simple.score.tolist() == [1, 0, 1, 0, 1, 0]
    assert simple.notes[-1].startswith("16.7% of the answers were not attempted")


def test_repeats_and_pages_without_a_score_of_simple_evals(files, tmp_path):
    def change(content):
        for name in ("htmls", "convos"):
            content[name] *= 2
        content["htmls"][0] = None
        content["convos"][1][0]["content"] = [{"text": "an image"}]

    path = changed(files / "simple_evals/velia_tern_allresults.json", tmp_path, change)
    evaluation = read_evaluation(path)
    assert evaluation.repeat.tolist() == [0] * 12 + [1] * 12
    assert evaluation.status[0] == "unscored"
    assert evaluation.question[1] == "[{'text': 'an image'}]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"htmls": 1}, "must contain the lists 'htmls' and 'convos'"),
        ({"htmls": []}, "Got 0 pages and 12 conversations"),
        ({"convos": [[]] * 12}, "a first message. Got none in entry 0"),
    ],
)
def test_errors_of_simple_evals(files, tmp_path, change, message):
    path = files / "simple_evals/velia_tern_allresults.json"
    path = changed(path, tmp_path, lambda content: {**content, **change})
    with pytest.raises(ValueError, match=message):
        read_evaluation(path)


# promptfoo


@pytest.mark.parametrize("name", ["tern.json", "both.json", "both.jsonl"])
def test_results_of_promptfoo(files, name):
    evaluation = read_evaluation(files / "promptfoo" / name, model="example:tern")
    np.testing.assert_array_equal(evaluation.score, [*TERN[:10], NAN, NAN])
    assert evaluation.counts() == {"answered": 10, "error": 2}
    assert evaluation.scored().score.tolist() == [*TERN[:10], 0, 0]
    assert evaluation.groups["subject"].tolist() == ["geography"] * 6 + ["history"] * 6
    assert json.loads(evaluation.question[0])["qid"] == "velia-1"


def test_systems_and_prompts_of_promptfoo(files):
    both = read_evaluations(files / "promptfoo/both.json")
    assert list(both) == ["example:tern", "example:heron"]
    assert both["example:heron"].score.tolist() == HERON
    # Two prompts of one provider, and three questions with two repeats.
    prompts = read_evaluations(files / "promptfoo/prompts_tern.jsonl")
    assert list(prompts) == [
        "example:tern | {{question}}",
        "example:tern | Be brief. {{question}}",
    ]
    for evaluation in prompts.values():
        assert evaluation.score.tolist() == [1, 1, 0, 1, 1, 0]
        assert evaluation.repeat.tolist() == [0, 0, 0, 1, 1, 1]
    old = read_evaluation(files / "promptfoo/version2_tern.json")
    assert old.score.tolist() == TERN[:5]


def promptfoo(folder, rows, name="made.json", **content):
    """Write results of promptfoo; each row changes a result that passed."""
    result = {
        "provider": {"id": "p", "label": ""},
        "prompt": {"raw": "Say a", "label": "Say {{v}}"},
        "promptIdx": 0,
        "vars": {},
        "success": True,
        "response": {"output": "a"},
    }
    rows = [result | row for row in rows]
    kept = [{k: v for k, v in row.items() if v is not None} for row in rows]
    path = folder / name
    path.write_text(json.dumps(content or {"results": {"version": 3, "results": kept}}))
    return path


CASES = [
    ({"description": "a"}, {"description": "b"}),
    ({"description": "a"}, {}),
    ({"assert": [{"type": "equals", "value": "a"}]}, {"assert": []}),
    ({"assert": [{"value": "a"}]}, {"assert": [{"value": "b"}]}),
    ({"metadata": {"strategy": "plain"}}, {"metadata": {"strategy": "jailbreak"}}),
    ({"options": {"prefix": "Please"}}, {"options": {}}),
    ({"threshold": 0.5}, {"threshold": 0.9}),
]


@pytest.mark.parametrize("values", [{}, {"v": "a"}])
@pytest.mark.parametrize(("one", "other"), CASES)
def test_a_question_of_promptfoo_is_its_test_case(tmp_path, values, one, other):
    cases = [{"vars": values, **case} for case in (one, other)] * 2  # two repeats
    rows = [{"vars": values, "testCase": case} for case in cases]
    found = read_evaluation(promptfoo(tmp_path, rows))
    assert (found.n_questions, found.repeat.tolist()) == (2, [0, 0, 1, 1])
    # In another file, one of them is the same question.
    path = promptfoo(tmp_path, [{**rows[1], "success": False}], "other.json")
    assert read_evaluation(path).question.tolist() == found.question[[1]].tolist()


def test_variables_of_promptfoo_are_those_of_the_test_case(tmp_path):
    rows = [
        {"vars": {"v": "a", "_conversation": [k]}, "testCase": {"vars": {"v": "a"}}}
        for k in range(3)
    ]
    assert read_evaluation(promptfoo(tmp_path, rows)).n_questions == 1
    rows = [{"vars": None, "testCase": {"vars": {"v": k}}} for k in range(3)]
    assert read_evaluation(promptfoo(tmp_path, rows)).question[2] == '{"v": 2}'
    rows = [{"vars": None, "testCase": {"description": str(k)}} for k in range(3)]
    assert read_evaluation(promptfoo(tmp_path, rows)).n_questions == 3


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ({}, {"provider": {"id": "q"}, "promptIdx": 1}, ["p", "q"]),
        ({}, {"provider": "q", "promptIdx": 1}, ["p", "q"]),
        (
            {"provider": {"id": "p", "label": "cold"}},
            {"provider": {"id": "p", "label": "hot"}, "promptIdx": 1},
            ["p | cold", "p | hot"],
        ),
        (
            {},
            {"prompt": {"label": "Tell {{v}}"}, "promptIdx": 1},
            ["p | Say {{v}}", "p | Tell {{v}}"],
        ),
        ({}, {"promptIdx": 1}, ["p | 0", "p | 1"]),
        # Version 2 does not number the prompts.
        (
            {"prompt": {"raw": "Say a", "display": "Say {{v}}"}, "promptIdx": None},
            {"prompt": {"raw": "Do a", "display": "Do {{v}}"}, "promptIdx": None},
            ["p | Say {{v}}", "p | Do {{v}}"],
        ),
        (
            {"prompt": {"raw": "Say a", "id": "3f"}, "promptIdx": None},
            {"prompt": {"raw": "Do a", "id": "4e"}, "promptIdx": None},
            ["p | 3f", "p | 4e"],
        ),
    ],
)
def test_systems_of_promptfoo(tmp_path, one, other, names):
    rows = [{**row, "vars": {"v": k}} for k in range(3) for row in (one, other)]
    rows[1] = rows[1] | {"success": False}
    found = read_evaluations(promptfoo(tmp_path, rows))
    assert list(found) == names
    assert [each.score.tolist() for each in found.values()] == [[1, 1, 1], [0, 1, 1]]
    assert all(each.n_questions == 3 for each in found.values())


def test_version_2_of_promptfoo(tmp_path):
    prompt = {"prompt": {"raw": "Say a", "display": "Say {{v}}"}, "promptIdx": None}
    failed = {"success": False, "error": "API error: 429", "gradingResult": None}
    wrong = {"success": False, "error": "Expected b", "gradingResult": {"pass": False}}
    changes = [{}, wrong, failed, {}]
    rows = [prompt | each | {"vars": {"v": str(k)}} for k, each in enumerate(changes)]
    found = read_evaluation(promptfoo(tmp_path, rows))
    np.testing.assert_array_equal(found.score, [1, 0, NAN, 1])
    assert found.status.tolist()[2] == "error"
    assert (found.model, found.question[0]) == ("p", '{"v": "0"}')


@pytest.mark.parametrize(
    "wrap",
    [
        lambda rows: {"data": {"results": {"version": 2, "results": rows}}},
        lambda rows: {"data": {"results": rows}},
        lambda rows: {"results": rows, "config": {}},
        lambda rows: {"results": {"results": rows}, "config": {}},
    ],
)
def test_shared_results_of_promptfoo(tmp_path, wrap):
    row = {"prompt": {"raw": "a"}, "provider": {"id": "p"}, "success": True}
    row |= {"promptIdx": 0, "testCase": {"vars": {"v": "a"}}}
    path = promptfoo(tmp_path, [], **wrap([row, row]))
    found = read_evaluation(path)
    assert (found.format, found.n_questions, len(found)) == ("promptfoo", 1, 2)


def test_scores_of_promptfoo(files):
    path = files / "promptfoo/heron.json"
    assert read_evaluation(path, score="score").score.tolist() == HERON
    short = read_evaluation(path, score="short").score
    assert short.tolist() == [0.5, 1, 1] * 4
    with pytest.raises(ValueError, match=r"\['accuracy', 'short'\]. Got 'long'"):
        read_evaluation(path, score="long")


def test_what_promptfoo_may_leave_out(files, tmp_path):
    def change(content):
        for row in content["results"]["results"]:
            row |= {"provider": "p", "prompt": "q", "namedScores": None}
            del row["testCase"]

    path = changed(files / "promptfoo/heron.json", tmp_path, change)
    evaluation = read_evaluation(path)
    assert (evaluation.model, evaluation.groups) == ("p", {})

    def damage(content):
        content["results"]["results"][1]["vars"] = None

    path = changed(files / "promptfoo/heron.json", tmp_path, damage)
    with pytest.raises(ValueError, match="variables of a test. Got entry 1"):
        read_evaluation(path)


# Decision models

DECISIONS = "decisions/systemone_tern.jsonl"


@pytest.mark.parametrize(
    ("name", "score", "proba"),
    [(DECISIONS, TERN, TERN_PROBA), ("decisions/openai_heron.jsonl", HERON, None)],
)
def test_answers_of_decision_models(files, name, score, proba):
    evaluation = read_evaluation(files / name)
    assert evaluation.score.tolist() == score
    # Each answer has another confidence, which is not read.
    np.testing.assert_allclose(evaluation.proba, proba or HERON_PROBA)
    assert evaluation.question.tolist()[:4] == [
        *("velia-1: team", "velia-1: urgent", "velia-1: mood"),
        "velia-2: team",
    ]
    assert evaluation.groups["kind"].tolist() == ["choice", "predicate", "score"] * 4
    assert evaluation.groups["channel"].tolist()[:4] == ["mail"] * 3 + ["web"]
    # billing of billing, technical, sales; true; the second level of three
    assert evaluation.gold.tolist()[:3] == [0, 1, 1]
    for k, options in enumerate(evaluation.option_proba):
        assert options.sum() == pytest.approx(1)
        assert evaluation.proba[k] in options
        if score[k]:
            assert options[evaluation.gold[k]] == evaluation.proba[k]


def decide(tmp_path, answers, **row):
    path = tmp_path / "decisions.json"
    path.write_text(json.dumps([{"id": "a", "answers": answers, **row}]))
    return path


def test_labels_are_options_yes_or_no_or_numbers_of_levels(tmp_path):
    half = {"type": "predicate", "probability": 0.5}
    for label, score in (("yes", 1), (1, 1), (True, 1), ("no", 0), (False, 0)):
        found = read_evaluation(decide(tmp_path, [half], gold=label))
        assert (found.score.tolist(), found.proba.tolist()) == ([score], [0.5])
    third = {"type": "score", "probabilities": {"1": 0.7, "0": 0.1, "2": 0.2}}
    for legend, label in (({}, 1), ({"1": "fair"}, "fair"), ({"1": "fair"}, "1")):
        answer = {"q": {**third, "legend": legend}}
        found = read_evaluation(decide(tmp_path, answer, labels={"q": label}))
        assert (found.score.tolist(), found.gold.tolist()) == ([1], [1])
    # Stars from 1 to 3 are labels, not numbers of levels.
    stars = {"q": {**third, "legend": {"0": "1", "1": "2", "2": "3"}}}
    found = read_evaluation(decide(tmp_path, stars, labels={"q": 1}))
    assert (found.score.tolist(), found.gold.tolist()) == ([0], [0])
    with pytest.raises(ValueError, match=r"options \['1', '2', '3'\]. Got 0"):
        read_evaluation(decide(tmp_path, stars, labels={"q": 0}))


def test_a_decision_need_not_be_the_most_probable_option(tmp_path):
    # The probability is that of the choice, which the score is about.
    answer = {"type": "choice", "probabilities": {"a": 0.7, "b": 0.3}, "choice": "b"}
    for label, score in (("a", 0), ("b", 1)):
        path = decide(tmp_path, {"q": answer}, labels={"q": label})
        found = read_evaluation(path)
        assert (found.score.tolist(), found.proba.tolist()) == ([score], [0.3])


def test_refusals_and_answers_without_a_label_are_counted(tmp_path):
    rows = [
        {"answers": [{"type": kind, "probability": 0.9, "name": None}], "gold": label}
        for kind, label in (("predicate", 1), ("refusal", 1), ("predicate", None))
    ]
    path = tmp_path / "decisions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_evaluation(path)
    assert found.question.tolist() == ["0: 0", "1: 0", "2: 0"]
    assert found.counts() == {"answered": 1, "refused": 1, "unscored": 1}
    assert found.groups["kind"].tolist() == ["predicate"] * 3
    np.testing.assert_array_equal(found.proba, [0.9, NAN, 0.9])
    assert found.scored().score.tolist() == [1]
    assert found.scored("wrong").score.tolist() == [1, 0, 0]


CHOICE = {"type": "choice", "choice": "a", "probabilities": {"a": 0.7, "b": 0.3}}


@pytest.mark.parametrize(
    ("answer", "labels", "message"),
    [
        (CHOICE, {}, "must have gold labels: 'labels'"),
        (CHOICE, {"q": "c"}, r"options \['a', 'b'\]. Got 'c' for the question 'q'"),
        (CHOICE, {"team": "a"}, r"label of 'team' and answers to \['q'\] in entry 0"),
        (CHOICE | {"choice": "c"}, {"q": "a"}, "Got 'c'"),
        (CHOICE | {"probabilities": {"a": 0.7}}, {"q": "a"}, "with a sum of 1"),
        (CHOICE | {"probabilities": {"a": "1"}}, {"q": "a"}, r"and \{'a': '1'\} for"),
        ({"type": "noul", "noul": 1.5}, {"q": True}, r"in \[0, 1\]"),
        ({"type": "noul", "noul": None}, {"q": True}, "Got the type 'noul' and"),
        ({"type": "score", "probabilities": {"x": 1.0}}, {"q": 0}, "type 'score' and"),
    ],
)
def test_what_answers_of_decision_models_must_have(tmp_path, answer, labels, message):
    with pytest.raises(ValueError, match=message):
        read_evaluation(decide(tmp_path, {"q": answer}, labels=labels))


# Every Eval Ever


def test_instances_of_every_eval_ever(files):
    folder = files / "every_eval_ever"
    evaluation = read_evaluation(folder / "tern_samples.jsonl")
    assert evaluation.score.tolist() == TERN
    assert evaluation.question.tolist() == [f"velia-{k}" for k in range(1, 13)]
    assert (evaluation.model, evaluation.task) == ("example/tern", "velia")
    assert evaluation.groups["subject"].tolist() == ["geography"] * 6 + ["history"] * 6
    assert not evaluation.has_proba
    # An aggregate names the file of its instances, by the path in the datastore.
    same = read_evaluation(folder / "tern.json")
    assert same.score.tolist() == TERN


def test_metrics_of_every_eval_ever(files):
    path = files / "every_eval_ever/metrics_tern_samples.jsonl"
    found = read_evaluation(path, filter="velia:f1", score="score")
    expected = [r or 0.25 + 0.05 * k for k, r in enumerate(TERN)]
    np.testing.assert_allclose(found.score, expected)
    assert found.notes[1:] == (
        "12 rows of other results than 'velia:f1' are left out.",
        "'is_correct' and 'score' differ in 4 of 12 rows.",
    )
    # The last sample timed out; the file gives it a score.
    assert found.counts() == {"answered": 11, "error": 1}
    assert len(found.scored()) == 12


def test_tasks_of_every_eval_ever_may_have_the_same_numbers(files, tmp_path):
    def change(rows):
        rows[6:] = [
            {**row, "evaluation_name": "coast", "sample_id": f"velia-{k}"}
            for k, row in enumerate(rows[6:], 1)
        ]

    path = changed(files / "every_eval_ever/tern_samples.jsonl", tmp_path, change)
    found = read_evaluation(path)
    assert found.question.tolist()[5:7] == ["velia: velia-6", "coast: velia-1"]
    assert (found.task, found.n_questions) == (None, 12)


@pytest.mark.parametrize(
    "named", [None, "data/velia/missing_samples.jsonl", "tern.json"]
)
def test_an_aggregate_without_its_instances_is_an_error(files, tmp_path, named):
    def change(content):
        content["detailed_evaluation_results"]["file_path"] = named

    path = changed(files / "every_eval_ever/tern.json", tmp_path, change)
    with pytest.raises(ValueError, match="which contains averages only. Pass the file"):
        read_evaluation(path)


# deepeval


def test_test_run_of_deepeval(files):
    path = files / "deepeval/velia_tern.json"
    evaluation = read_evaluation(path, score="Letter match")
    assert evaluation.question.tolist() == [f"velia-{k}" for k in range(1, 13)]
    # The metric did not run on the ninth case.
    expected = [*TERN[:8], NAN, 1, NAN, NAN]
    np.testing.assert_array_equal(evaluation.score, expected)
    assert evaluation.status.tolist()[8:] == [
        "unscored",
        "answered",
        "unscored",
        "error",
    ]
    assert evaluation.model == "example/tern"
    relevancy = read_evaluation(path, score="Answer Relevancy").score
    np.testing.assert_allclose(relevancy, 0.5 + 0.04 * np.arange(12))


def test_unnamed_cases_of_deepeval_are_matched_by_their_input(files, tmp_path):
    tern, heron = (
        files / f"deepeval/unnamed_{name}.json" for name in ("tern", "heron")
    )
    evaluations = {path.stem: read_evaluation(path) for path in (tern, heron)}
    first, second = (e.question.tolist() for e in evaluations.values())
    assert first[0] == "What is the capital of Velia?"
    assert set(first) == set(second)
    assert first != second  # test_case_0 is another question in the other file
    known = {name: fingerprints(e)[0] for name, e in evaluations.items()}
    assert set(known["unnamed_tern"]) == set(first)
    assert len(align_evaluations(evaluations, missing="drop")) == 9

    def change(content):
        for case in content["testRunData"]["testCases"]:
            case["expectedOutput"] = "E"

    other = changed(heron, tmp_path, change)
    assert main(["compare", str(tern), str(other), "--missing", "drop"]) == 2
    assert main(["compare", str(tern), str(heron), "--missing", "drop"]) == 0


def test_errors_of_deepeval(files, tmp_path):
    path = changed(
        files / "deepeval/unnamed_tern.json",
        tmp_path,
        lambda content: {"testRunData": {"testCases": [3]}},
    )
    with pytest.raises(ValueError, match="must contain test cases. Got 3 in entry 0"):
        read_evaluation(path)


# OpenAI evals


def test_log_of_openai_evals(files):
    evaluation = read_evaluation(files / "openai_evals/velia_tern.jsonl")
    np.testing.assert_array_equal(evaluation.score, [*TERN[:10], 0, NAN])
    assert evaluation.counts() == {"answered": 11, "error": 1}
    assert (evaluation.model, evaluation.task) == ("example/tern", "velia.dev.v0")
    golds, prompts = fingerprints(evaluation)
    assert list(golds.values()) == list(LETTERS[:11])
    assert "What is the capital of Velia?" in prompts["velia.dev.0"]
    heron = read_evaluation(files / "openai_evals/velia_heron.jsonl")
    assert heron.question[0] == "velia.dev.3"
    assert by_question(heron, heron.score) == HERON


def test_graded_log_of_openai_evals(files):
    evaluation = read_evaluation(files / "openai_evals/graded_tern.jsonl")
    np.testing.assert_array_equal(evaluation.score, [1, 0.5, 0, 1, NAN])
    assert evaluation.counts() == {"answered": 4, "unscored": 1}
    assert evaluation.model == "example/tern, example/judge"


def test_events_of_openai_evals(files, tmp_path):
    path = files / "openai_evals/graded_tern.jsonl"

    def damage(rows):
        del rows[2]["data"]["score"]

    with pytest.raises(
        ValueError, match=r"'score' in each event 'metrics'. Got line 3"
    ):
        read_evaluation(changed(path, tmp_path, damage))

    def repeat(rows):
        rows[0]["spec"]["completion_fns"] = None
        return [*rows[:3], *rows[1:]]

    evaluation = read_evaluation(changed(path, tmp_path, repeat))
    assert evaluation.model is None
    with pytest.raises(ValueError, match=r"Got sample 0 of question 'velia-graded"):
        evaluation.aligned(evaluation)


# Files


def test_files_may_begin_with_a_byte_order_mark(files, tmp_path):
    shutil.copytree(files / "helm/tern", tmp_path / "run")
    for path in (tmp_path / "run").iterdir():
        path.write_text("\ufeff" + path.read_text("utf-8"), "utf-8")
    assert read_evaluation(tmp_path / "run", split="test").model == "example/tern"


def test_an_unpacked_archive_has_a_largest_size(files, tmp_path, monkeypatch):
    monkeypatch.setattr("skcalib.evaluation._files._SMALLEST_LIMIT", 2**20)
    monkeypatch.setattr("skcalib.evaluation._files._LARGEST_RATIO", 1)
    log = json.loads((files / "inspect/velia_tern.json").read_text("utf-8"))
    members = {"header.json": json.dumps({**log, "samples": []})}
    for sample in log["samples"]:
        sample["store"] = " " * 90_000
        members[f"samples/{sample['id']}_epoch_1.json"] = json.dumps(sample)
    path = tmp_path / "large.eval"
    write_archive(path, members)
    # Eleven samples of 90 kB are below 2**20 bytes, and twelve are above.
    message = (
        r"samples/12_epoch_1\.json .* archive unpacks to more than 1,048,576 bytes"
    )
    with pytest.raises(ValueError, match=message):
        read_evaluation(path)
    del members["samples/12_epoch_1.json"]
    write_archive(path, members)
    assert len(read_evaluation(path)) == 11
    monkeypatch.setattr("skcalib.evaluation._files._LARGEST_MEMBER", 90_000)
    message = r"samples/1_epoch_1\.json .*, which unpacks to more than 90,000 bytes"
    with pytest.raises(ValueError, match=message):
        read_evaluation(path)


def test_an_archive_of_unknown_compression_is_an_error(files, tmp_path):
    data = bytearray((files / "inspect/velia_tern.eval").read_bytes())
    data[8:10] = data[data.rindex(b"PK\x01\x02") + 10 :][:2] = b"\x63\x00"
    start = data.index(b"PK\x01\x02")
    while start >= 0:
        data[start + 10 : start + 12] = b"\x63\x00"
        start = data.find(b"PK\x01\x02", start + 4)
    path = tmp_path / "a.eval"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="header.json of a.eval, which cannot be unp"):
        read_evaluation(path)


@pytest.mark.skipif(
    hasattr(zipfile, "ZIP_ZSTANDARD"), reason="Python decodes Zstandard itself"
)
def test_zstandard_is_needed_before_python_3_14(files, tmp_path, monkeypatch):
    path = need(files / "inspect/zstandard_heron.eval")
    write_zstandard(tmp_path / "a.eval", {"header.json": "{}" + " " * 2**26})
    with pytest.raises(ValueError, match="unpacks to more than 67,108,864 bytes"):
        read_evaluation(tmp_path / "a.eval", format="inspect_ai")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(
        ImportError, match=r"from 3\.14 on. Run `pip install zstandard`"
    ):
        read_evaluation(path)


def test_progress_is_printed(files, capsys, monkeypatch):
    monkeypatch.setattr("skcalib.evaluation._files._SAID_EACH", 5)
    read_evaluation(files / SAMPLES, verbose=1)
    read_evaluation(files / "inspect/velia_tern.eval", verbose=1)
    read_evaluation(files / "hle/judged_tern.json", verbose=1)
    assert capsys.readouterr().err.splitlines() == [
        f"5 rows of {Path(SAMPLES).name} read",
        f"10 rows of {Path(SAMPLES).name} read",
        "5 rows of velia_tern.eval read",
        "10 rows of velia_tern.eval read",
        "reading judged_tern.json, 0 MB",
    ]


def test_results_without_single_answers_are_named(files, tmp_path):
    with pytest.raises(ValueError, match="averages only.*--log_samples"):
        read_evaluation(files / f"lm_eval/tern/results_{TIME}.json")
    stat = {"name": {"name": "exact_match"}, "count": 3, "sum": 2, "mean": 0.7}
    for content, message in (
        ({"accuracy": 0.7, "score": 0.7, "score:std": 0.4}, "averages.*_allresults"),
        ({"score": 0.7, "score:std": 0.4}, "averages.*_allresults"),
        ({"version": 2, "eval": {}, "testCases": []}, "of inspect_ai or of deepeval:"),
        ([{**stat, "sum_squared": 2}], "averages only. Pass per_instance_stats.json"),
        ({"name": "mmlu", "adapter_spec": {}}, "has none. Pass per_instance_stats"),
    ):
        (tmp_path / "a.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match=message):
            read_evaluation(tmp_path / "a.json")


def test_compressed_files_are_named(tmp_path):
    (tmp_path / "a.json.gz").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(ValueError, match="compressed by gzip. Got a.json.gz"):
        read_evaluation(tmp_path / "a.json.gz")


def test_a_format_that_does_not_exist_is_an_error(files):
    with pytest.raises(ValueError, match="'format'.*one of .*'HELM'.*Got 'helm'"):
        read_evaluation(files / SAMPLES, format="helm")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("C", 1), ("P", 0.5), ("no", 0), ("0.25", 0.25), (True, 1), (None, NAN)],
)
def test_verdicts_in_words_and_letters(files, tmp_path, value, expected):
    def change(log):
        log["samples"][0]["scores"]["letter"]["value"] = value

    path = changed(files / "inspect/velia_tern.json", tmp_path, change)
    np.testing.assert_array_equal(read_evaluation(path).score[0], expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("perhaps", "a number or a verdict as the score. Got 'perhaps' in sample 1 of"),
        (2, r"a score in \[0, 1\] in each row. Got 2.0 in sample 1 of"),
        (10**400, r"score in \[0, 1\] in each row. Got 1000+.* in sample 1 of"),
    ],
)
def test_scores_that_are_none(files, tmp_path, value, message):
    def change(log):
        log["samples"][0]["scores"]["letter"]["value"] = value

    path = changed(files / "inspect/velia_tern.json", tmp_path, change)
    with pytest.raises(ValueError, match=message):
        read_evaluation(path)
