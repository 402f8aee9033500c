"""Files that contain several answers to a question."""

import json

import numpy as np
import pytest

from skcalib import read_evaluation
from skcalib.rates import sampled_confidence

# The responses of a model to three sums, the right sum, and the most frequent answer.
SUMS = [
    (["It is #5.", "It is #5", "So #6"], "5", "5"),
    (["I say #1,000", "It is #12", "No idea"], "1000", "1,000"),
    (["It is #8.", "It is #9", "It is #9!"], "8", "9"),
]
PATTERN = r"#(-?[0-9,]+)|^(never)$"
CONFIG = {
    "metric_list": [{"metric": "exact_match", "regexes_to_ignore": [","]}],
    "filter_list": [
        {
            "name": "vote",
            "filter": [
                {"function": "regex", "regex_pattern": PATTERN},
                {"function": "majority_vote"},
                {"function": "take_first"},
            ],
        },
        {
            "name": "first",
            "filter": [
                {"function": "regex", "regex_pattern": PATTERN},
                {"function": "take_first"},
            ],
        },
        {"name": "all", "filter": [{"function": "regex", "regex_pattern": PATTERN}]},
    ],
}


def written(folder, config=CONFIG, sums=SUMS, metric="exact_match"):
    """Write samples and results of lm-evaluation-harness; return the samples."""
    rows = []
    for name in ("vote", "first"):
        for k, (responses, target, most) in enumerate(sums):
            kept = most if name == "vote" else responses[0].split("#")[-1].rstrip(".")
            right = float(kept.replace(",", "") == target)
            rows.append(
                {
                    "doc_id": k,
                    "target": target,
                    "resps": [responses],
                    "filtered_resps": [kept],
                    "filter": name,
                    "metrics": [metric],
                    metric: right,
                }
            )
    path = folder / "samples_sums_2026-01-05T10-00-00.000000.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    if config is not None:
        results = folder / "results_2026-01-05T10-00-00.000000.json"
        results.write_text(json.dumps({"configs": {"sums": config}}))
    return path


def changed(**filter):
    """Return the configuration with another step 'regex'."""
    config = json.loads(json.dumps(CONFIG))
    for each in config["filter_list"]:
        each["filter"][0] |= filter
    return config


FEW = pytest.mark.filterwarnings("ignore:.*no test of perfect calibration:UserWarning")


@FEW
@pytest.mark.parametrize("name", ["vote", "first"])
def test_responses_of_lm_eval_are_filtered_and_scored(tmp_path, name):
    evaluation = read_evaluation(written(tmp_path), filter=name)
    assert len(evaluation) == 3
    result = sampled_confidence(evaluation)
    assert result.answer.tolist() == ["5", "1,000", "9"]
    assert result.share.tolist() == [2 / 3, 1 / 3, 2 / 3]
    right = [[1, 1, 0], [1, 0, 0], [1, 0, 0]]
    found = result.calibration_error_interval()
    given = result.calibration_error_interval(right)
    assert repr(found) == repr(given)


def test_responses_that_no_filter_reduces_are_the_answers(tmp_path):
    path = written(tmp_path, None)
    rows = [json.loads(line) for line in path.read_text().splitlines()][:3]
    for row in rows:
        row["filtered_resps"] = [[text[-2:] for text in row["resps"][0]]]
        row["exact_match"] = 0.5
    path.write_text("\n".join(map(json.dumps, rows)))
    result = sampled_confidence(read_evaluation(path))
    assert result.answer.tolist() == ["5.", "00", "8."]
    with pytest.raises(ValueError, match="'right'.*must contain 0 and 1. Got nan"):
        result.calibration_error_interval()


def test_responses_without_a_filter_are_the_answers(tmp_path):
    sums = [(["5", "5", "6"], "5", "5"), (["8", "9", "9"], "8", "9")]
    evaluation = read_evaluation(written(tmp_path, None, sums), filter="first")
    result = sampled_confidence(evaluation)
    assert result.answer.tolist() == ["5", "9"]
    scores = [each.scores for each in evaluation._response]
    assert scores == [[1, 1, 0], [1, 0, 0]]


def test_scores_of_another_metric_are_known_of_one_answer(tmp_path):
    path = written(tmp_path, CONFIG, metric="math_verify")
    scores = {
        name: [each.scores for each in read_evaluation(path, filter=name)._response]
        for name in ("vote", "first")
    }
    none = np.nan
    assert np.array_equal(
        scores["vote"], [[1, 1, none], [1, none, none], [none, 0, 0]], equal_nan=True
    )
    assert np.array_equal(
        scores["first"], [[1, 1, none], [1, none, none], [1, none, none]], True
    )


def test_the_rule_of_the_metric_must_give_the_scores_of_the_file(tmp_path):
    # Without the rule for commas, 1,000 is not 1000.
    config = CONFIG | {"metric_list": []}
    evaluation = read_evaluation(written(tmp_path, config), filter="vote")
    scores = [each.scores for each in evaluation._response]
    assert np.isnan(scores).sum() == 4


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        changed(regex_pattern="#(-?[0-9]{1,3})"),  # which finds another answer
        changed(regex_pattern="#((?:-?[0-9,]+)+)"),  # which may need very long
        changed(regex_pattern="#([0-9"),
        changed(regex_pattern=None),
        changed(function="custom"),
    ],
)
def test_answers_that_the_filter_did_not_find_are_not_used(tmp_path, config):
    evaluation = read_evaluation(written(tmp_path, config), filter="vote")
    assert evaluation.score.tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="contains the answers. Got 'lm-evaluation-"):
        sampled_confidence(evaluation)


def test_steps_of_filters_of_lm_eval(tmp_path):
    steps = [
        {"function": "regex", "regex_pattern": "is (.*)", "group_select": -1},
        {"function": "lowercase"},
        {"function": "remove_whitespace"},
        {"function": "take_first"},
    ]
    config = {"filter_list": [{"name": "first", "filter": steps}]}
    path = written(tmp_path, config, [(["is A, is B", "is b", "A"], "b", "b")])
    rows = [json.loads(line) for line in path.read_text().splitlines()][1:]
    rows[0] |= {"filtered_resps": ["a, is b"]}
    path.write_text(json.dumps(rows))
    result = sampled_confidence(read_evaluation(path, filter="first"))
    # "a, is b", "b" and no match
    assert result.cluster[0].tolist() == [0, 1, 2]


def promptfoo(answers):
    tests = [
        {"promptIdx": 0, "vars": {"q": q}, "success": right, "response": {"output": a}}
        for q, a, right in answers
    ]
    failed = {"promptIdx": 0, "vars": {"q": "1"}, "success": False, "failureReason": 2}
    return [*tests, failed]


def simple_evals(answers):
    pages = [
        f"<p>Extracted Answer: {a}</p>\n<p>Score: {float(right)}</p>"
        for _, a, right in answers
    ]
    talks = [[{"content": q}] for q, _, _ in answers]
    return {"htmls": pages, "convos": talks, "metrics": {}}


def deepeval(answers):
    cases = [
        {
            "name": q,
            "actualOutput": a,
            "metricsData": [{"name": "m", "score": float(right)}],
        }
        for q, a, right in answers
    ]
    return {"testCases": cases}


def every_eval_ever(answers):
    return [
        {
            "schema_version": "instance_level_eval_0.2.2",
            "evaluation_id": "e",
            "model_id": "m",
            "evaluation_name": "n",
            "sample_id": q,
            "answer_attribution": [
                {"extracted_value": "none yet", "is_terminal": False},
                {"extracted_value": a, "is_terminal": True},
            ],
            "evaluation": {"score": float(right), "is_correct": right},
        }
        for q, a, right in answers
    ]


@pytest.mark.parametrize(
    "harness", [promptfoo, simple_evals, deepeval, every_eval_ever]
)
def test_repeats_of_other_harnesses_are_sampled_answers(tmp_path, harness):
    answers = [
        ("1", "Lima", True),
        ("2", "Rome", False),
        ("1", "lima.", True),
        ("2", "Oslo", True),
        ("2", "Rome", False),
        ("1", "Quito", False),
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(harness(answers)))
    result = sampled_confidence(read_evaluation(path))
    assert result.answer.tolist() == ["Lima", "Rome"]
    assert result.share.tolist() == [2 / 3, 2 / 3]
    assert [list(map(bool, each)) for each in result._right] == [
        [True, True, False],
        [False, True, False],
    ]


def test_answers_of_a_table_are_samples(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question,said,gold\n1,a,a\n2,b,a\n1,b,a\n2,b,a\n1,a,a\n")
    columns = {"prediction": "said", "gold": "gold"}
    result = sampled_confidence(read_evaluation(path, columns=columns))
    assert result.answer.tolist() == ["a", "b"]
    assert result.share.tolist() == [2 / 3, 1]
