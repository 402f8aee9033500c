"""What the readers find is what the harnesses themselves read and compute.

Each test needs the harness that it names, and is skipped without it. `.ci/harnesses`
installs them.
"""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from harness_files import FILES

from skcalib import read_evaluation

DATA = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "evaluation", "inspect")
LOGS = {
    **FILES["inspect_ai"],
    "inspect/graded_tern.json": {"score": "grader/style"},
    **{str(path): {} for path in sorted(DATA.glob("*/*")) if path.is_file()},
}

# The harnesses and what they import warn of their own future.
pytestmark = pytest.mark.filterwarnings("ignore")


def softmax(values):
    weights = np.exp(values - np.max(values))
    return weights / weights.sum()


def assert_options(evaluation, expected, score):
    """Assert that the options' probabilities are those that the score goes by."""
    found = np.concatenate(evaluation.option_proba)
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-9)
    np.testing.assert_array_equal(evaluation.score, score)
    best = [proba.argmax() for proba in evaluation.option_proba]
    np.testing.assert_array_equal(best == evaluation.gold, evaluation.score)
    assert 0 < np.mean(score) < 1


def assert_like_inspect(evaluation, log, name):
    """Assert that an evaluation has what inspect_ai reads of a log."""
    scorer = pytest.importorskip("inspect_ai.scorer")
    to_float = scorer.value_to_float()
    name, _, key = name.partition("/")
    rows, scored = [], []
    for sample in log.samples:
        score = (sample.scores or {}).get(name)
        value = float("nan")
        if score is not None:
            value = to_float(score.value[key] if key else score.value)
            scored.append(
                scorer.SampleScore(score=scorer.Score(value=value), sample_id=sample.id)
            )
        stated = {} if score is None else score.metadata or {}
        if key:
            stated = score.value
        rows.append(
            {
                "question": str(sample.id),
                "repeat": sample.epoch - 1,
                "score": value,
                "proba": float(stated.get("confidence", "nan")),
                "target": sample.target,
                "failed": sample.error is not None,
            }
        )
    # inspect_ai sorts the samples of an archive.
    rows.sort(key=lambda row: (row["question"], row["repeat"]))
    column = {each: [row[each] for row in rows] for each in rows[0]}
    evaluation = evaluation.take(np.lexsort((evaluation.repeat, evaluation.question)))
    for each in ("question", "repeat", "score", "proba"):
        np.testing.assert_array_equal(getattr(evaluation, each), column[each])
    targets = [t if isinstance(t, str) else json.dumps(t) for t in column["target"]]
    assert evaluation.right_answer.tolist() == targets
    assert (evaluation.status == "error").tolist() == column["failed"]
    if not np.isnan([each.score.value for each in scored]).any():
        accuracy = scorer.accuracy()(scored)
        assert np.nanmean(evaluation.score) == pytest.approx(accuracy, rel=1e-12)


@pytest.mark.parametrize("name", LOGS)
def test_logs_are_read_as_by_inspect_ai(files, tmp_path, name):
    read_eval_log = pytest.importorskip("inspect_ai.log").read_eval_log
    path = files / name
    if not path.exists():
        pytest.skip("zstandard is not installed")
    source = path
    if name == "inspect/old_tern.json":
        # inspect_ai itself reads no sample of this age that was not scored.
        content = json.loads(path.read_text("utf-8"))
        for sample in content["samples"]:
            if sample["score"] is None:
                del sample["score"]
        source = tmp_path / path.name
        source.write_text(json.dumps(content), "utf-8")
    log = read_eval_log(str(source))
    names = [name for each in log.samples or [] for name in each.scores or {}]
    if not names:
        problem = "never scored" if log.samples else "--no-log-samples"
        with pytest.raises(ValueError, match=problem):
            read_evaluation(path)
        return
    score = LOGS[name].get("score")
    evaluation = read_evaluation(path, score=score)
    assert (evaluation.model, evaluation.task) == (log.eval.model, log.eval.task)
    assert_like_inspect(evaluation, log, score or names[0])


@pytest.mark.parametrize("suffix", ["json", "eval"])
def test_every_kind_of_value_is_read_as_by_inspect_ai(tmp_path, suffix):
    inspect = pytest.importorskip("inspect_ai.log")
    scorer = pytest.importorskip("inspect_ai.scorer")
    values = ["C", "I", "P", "N", True, False, 1, 0, 0.25, "yes", "No", "true", "0.5"]
    samples = [
        inspect.EvalSample(
            id=k // 2 if k % 3 else f"q{k}",
            epoch=1 + k % 2,
            input=f"Question {k // 2}",
            target=["a", "b"] if k == 4 else "a",
            scores={
                "made": scorer.Score(
                    value=value, metadata={"confidence": k / 20} if k % 4 else None
                )
            },
        )
        for k, value in enumerate(values)
    ]
    failed = {"message": "no", "traceback": "", "traceback_ansi": ""}
    samples.append(
        inspect.EvalSample(id="x", epoch=1, input="", target="", error=failed)
    )
    about = {
        "created": "2026-01-05T10:00:00+00:00",
        "task": "made",
        "model": "example/tern",
        "dataset": inspect.EvalDataset(),
        "config": inspect.EvalConfig(),
    }
    path = tmp_path / f"log.{suffix}"
    log = inspect.EvalLog(eval=inspect.EvalSpec(**about), samples=samples)
    inspect.write_eval_log(log, str(path))
    log = inspect.read_eval_log(str(path))
    evaluation = read_evaluation(path)
    assert len(evaluation) == len(values) + 1
    assert_like_inspect(evaluation, log, "made")


# Tasks of lm-evaluation-harness by what precedes an option: a blank that the harness
# adds, one of the option's own beside it, or nothing.
TASKS = {
    "added": (" ", "", ["acc", "acc_norm", "acc_bytes", "exact_match"]),
    "own": (" ", " ", ["acc", "acc_norm", "acc_bytes"]),
    "bare": ("", "", ["acc", "acc_norm", "acc_bytes"]),
    "bare_own": ("", " ", ["acc", "acc_norm", "acc_bytes"]),
    "mutual": (" ", "", ["acc", "acc_norm", "acc_bytes", "acc_mutual_info"]),
    "bare_mutual": ("", " ", ["acc", "acc_bytes", "acc_mutual_info"]),
}


def options_of(k, blank):
    """Return the three or four options of a question, of different lengths."""
    letters = ["a", "ééé", "bb", "éa", "cccccc"]
    return [blank + letters[(k + 2 * j) % 5] + str(j) for j in range(3 + k % 2)]


def drawn(context, text):
    """Return a log-likelihood that depends on the request alone."""
    seed = hashlib.sha256(f"{context}|{text}".encode()).digest()
    return -len(text) * np.random.default_rng(list(seed)).exponential()


@pytest.fixture(scope="module")
def samples_of_tasks(tmp_path_factory):
    """Let lm-evaluation-harness run the tasks and write its files of samples."""
    lm_eval = pytest.importorskip("lm_eval")
    datasets = pytest.importorskip("datasets")
    api = pytest.importorskip("lm_eval.api.task")
    tracker = pytest.importorskip("lm_eval.loggers").EvaluationTracker

    class Drawn(pytest.importorskip("lm_eval.api.model").LM):
        def loglikelihood(self, requests, **_):
            return [(drawn(*request.args[:2]), False) for request in requests]

        def generate_until(self, requests, **_):
            raise NotImplementedError

        loglikelihood_rolling = generate_until

    def task(name, delimiter, blank, metrics):
        questions = [
            {"question": f"{k} =", "options": options_of(k, blank), "answer": k % 3}
            for k in range(60)
        ]
        config = {
            "task": name,
            "custom_dataset": lambda: {"test": datasets.Dataset.from_list(questions)},
            "test_split": "test",
            "output_type": "multiple_choice",
            "doc_to_text": "{{question}}",
            "doc_to_choice": lambda doc: doc["options"],
            "doc_to_target": "answer",
            "target_delimiter": delimiter,
            "metric_list": [
                {"metric": each, "aggregation": "mean", "higher_is_better": True}
                for each in metrics
            ],
        }
        return api.ConfigurableTask(config=config)

    folder = tmp_path_factory.mktemp("lm_eval")
    written = tracker(output_path=str(folder))
    tasks = [task(name, *about) for name, about in TASKS.items()]
    results = lm_eval.simple_evaluate(model=Drawn(), tasks=tasks, bootstrap_iters=0)
    samples = results.pop("samples")
    written.save_results_aggregated(results=results, samples=samples)
    for name, rows in samples.items():
        written.save_results_samples(name, rows)
    return folder, results["results"]


@pytest.mark.parametrize(
    ("task", "score"), [(task, each) for task in TASKS for each in TASKS[task][2]]
)
def test_probabilities_are_what_lm_eval_compares(samples_of_tasks, task, score):
    folder, results = samples_of_tasks
    (path,) = folder.glob(f"*/samples_{task}_2*.jsonl")
    evaluation = read_evaluation(path, score=score)
    assert evaluation.score.mean() == pytest.approx(results[task][f"{score},none"])
    if score == "exact_match":
        assert not evaluation.has_proba
        return
    delimiter, blank, _ = TASKS[task]
    expected, scores = [], []
    for k in range(60):
        texts = options_of(k, blank)
        values = np.array([drawn(f"{k} =", delimiter + each) for each in texts])
        if score == "acc_mutual_info":
            values -= [drawn("", delimiter + each) for each in texts]
        elif score != "acc":
            lengths = [
                each.encode() if score == "acc_bytes" else each for each in texts
            ]
            values /= list(map(len, lengths))
        expected.append(softmax(values))
        scores.append(values.argmax() == k % 3)
    assert_options(evaluation, expected, scores)


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [
        (None, {}),
        ("LogProbCharNorm", {}),
        ("LogProbCharNorm", {"ignore_first_space": True}),
        ("LogProbTokenNorm", {}),
        ("LogProbPMINorm", {}),
    ],
)
@pytest.mark.parametrize("blank", ["", " "])
def test_probabilities_are_what_lighteval_compares(tmp_path, rule, parameters, blank):
    metrics = pytest.importorskip("lighteval.metrics.dynamic_metrics")
    rules = pytest.importorskip("lighteval.metrics.normalizations")
    response_of = pytest.importorskip("lighteval.models.model_output").ModelResponse
    doc_of = pytest.importorskip("lighteval.tasks.requests").Doc
    datasets = pytest.importorskip("datasets")
    norm = getattr(rules, rule)(**parameters) if rule else None
    metric = metrics.LogLikelihoodAccMetric(norm)
    rows, expected, scores = [], [], []
    for k in range(60):
        texts = options_of(k, blank)
        doc = doc_of(query=f"{k} =", choices=texts, gold_index=k % 3, id=str(k))
        values = [drawn(f"{k} =", each) for each in texts]
        others = [drawn("", each) for each in texts] if "PMI" in str(rule) else []
        response = response_of(
            logprobs=values + others,
            output_tokens=[[1] * (1 + len(each) // 2) for each in texts],
        )
        scores.append(metric.sample_level_fn.compute(doc, response))
        tokens = response.output_tokens
        args = (values, others, texts, tokens)
        taken = rules.normalize_log_probs(norm, *args) if norm else values
        expected.append(softmax(np.array(taken)))
        names = {metric.metric_name: scores[-1]}
        rows.append(
            {"doc": asdict(doc), "model_response": asdict(response), "metric": names}
        )
    path = tmp_path / "details_made_0_2026.parquet"
    datasets.Dataset.from_list(rows).to_parquet(str(path))
    assert_options(read_evaluation(path), expected, scores)
