"""Statistics that harnesses wrote, computed again from their files of answers.

    SKCALIB_DATA=... python benchmarks/harness_statistics.py

Reads the evaluations below SKCALIB_DATA/evaluation, and writes a table of what each
harness printed of a file and what follows from `skcalib.read_evaluation`. Statistics of
a generated file are computed from it by the harness's formulas.
"""

import json
import os
from pathlib import Path

import numpy as np
from _common import print_table, versions, write_csv

from skcalib import calibration_error, read_evaluation
from skcalib.evaluation._files import Archive

DATA = Path(os.environ["SKCALIB_DATA"], "evaluation")

# What the functions that HELM 0.5.16 calls (get_ece_em, get_ece and get_selective_stats
# of uncertainty-calibration 0.1.4) return for trial 0, split test of the generated run.
HELM_CALIBRATION = {
    "ece_10_bin": 0.18450260968256788,
    "ece_1_bin": 0.06944807788685098,
    "selective_cov_acc_area": 0.6289181948791197,
    "selective_acc@10": 0.8333333333333334,
}


def only(pattern):
    (path,) = DATA.glob(pattern)
    return path


def standard_error(score):
    return score.std(ddof=1) / np.sqrt(score.size)


def question_means(evaluation):
    codes = np.unique(evaluation.question, return_inverse=True)[1]
    return np.bincount(codes, evaluation.score) / np.bincount(codes)


def clustered_error(score, cluster):
    codes = np.unique(cluster, return_inverse=True)[1]
    sums = np.bincount(codes, score - score.mean())
    return np.sqrt(sums.size / (sums.size - 1) * sums @ sums) / score.size


def brier(evaluation):
    pairs = zip(evaluation.option_proba, evaluation.gold, strict=True)
    return np.mean([((p - np.eye(p.size)[gold]) ** 2).sum() for p, gold in pairs])


def header(path):
    """Return the head of an archive of inspect_ai."""
    with Archive(path) as archive:
        return archive.json("header.json")


def lm_eval():
    path = only("lm_eval/replayed/llama-13b-prompt0/samples_mmlu_anatomy*.jsonl")
    (results,) = path.parent.glob("results_*.json")
    wrote = json.loads(results.read_text())["results"]["mmlu_anatomy"]
    found = read_evaluation(path)
    yield "acc", wrote["acc,none"], found.score.mean()
    yield "acc_stderr", wrote["acc_stderr,none"], standard_error(found.score)
    yield "brier_score", wrote["brier_score,none"], brier(found)
    path = only("lm_eval/replayed/6b_finetuning/samples_*.jsonl")
    (results,) = path.parent.glob("results_*.json")
    wrote = json.loads(results.read_text())["results"]["gsm8k"]
    found = read_evaluation(path, filter="strict-match")
    yield (
        "exact_match,strict-match",
        wrote["exact_match,strict-match"],
        found.score.mean(),
    )
    error = wrote["exact_match_stderr,strict-match"]
    yield "exact_match_stderr,strict-match", error, standard_error(found.score)


def inspect_ai():
    path = only("inspect/replayed/2026-11-22T02-30-37*.eval")
    found = read_evaluation(path)
    for each in header(path)["results"]["scores"]:
        for metric in each["metrics"].values():
            value = {
                "accuracy": found.score.mean(),
                "stderr": clustered_error(found.score, found.groups["src"])
                if "cluster" in metric["params"]
                else standard_error(found.score),
            }.get(metric["name"])
            if value is not None:
                by = "".join(f", cluster={c}" for c in metric["params"].values())
                yield metric["name"] + by, metric["value"], value
    path = only("inspect/replayed/2026-11-22T02-30-49*.eval")
    means = question_means(read_evaluation(path))
    metrics = header(path)["results"]["scores"][0]["metrics"]
    yield "accuracy, 5 epochs", metrics["accuracy"]["value"], means.mean()
    yield "stderr, 5 epochs", metrics["stderr"]["value"], standard_error(means)


def helm():
    folder = only("helm/mmlu-subject=philosophy*")
    stats = json.loads((folder / "stats.json").read_text())
    (wrote,) = {
        s["mean"]
        for s in stats
        if (s["name"]["name"], s["name"]["split"]) == ("exact_match", "test")
        and "perturbation" not in s["name"]
    }
    yield "exact_match", wrote, read_evaluation(folder, split="test").score.mean()
    # No run with log-probabilities, of which alone HELM has these, is among the data.
    run = read_evaluation(only("helm/generated/*"), split="test")
    trial = run.take(run.repeat == 0)
    for n_bins, strategy in ((10, "quantile"), (1, "uniform")):
        error = calibration_error(
            trial.score, trial.proba, n_bins=n_bins, strategy=strategy, norm="l1"
        )
        name = f"ece_{n_bins}_bin"
        yield f"{name} (generated run)", HELM_CALIBRATION[name], error
    order = np.argsort(-trial.proba)
    accuracy = np.cumsum(trial.score[order]) / np.arange(1, order.size + 1)
    for name, value in (
        ("selective_cov_acc_area", accuracy.mean()),
        ("selective_acc@10", accuracy[order.size // 10]),
    ):
        yield f"{name} (generated run)", HELM_CALIBRATION[name], value


def lighteval():
    run = "llama-13b-prompt1"
    results = json.loads(only(f"lighteval/results/{run}/*.json").read_text())
    found = read_evaluation(only(f"lighteval/details/{run}/*medicine*.parquet"))
    wrote = results["results"][found.task]
    yield "acc", wrote["acc"], found.score.mean()
    yield "acc_stderr", wrote["acc_stderr"], standard_error(found.score)


def calib_err_of_hle(evaluation):
    """Return the root mean square gap of bins of 100, without the last bin.

    The judge's 100 for answers that state no confidence counts, as in the harness.
    """
    judged = evaluation.scored("drop")
    proba = np.where(np.isnan(judged.proba), 1.0, judged.proba)
    order = np.argsort(proba, kind="stable")
    gaps = [
        (proba[rows] - judged.score[rows]).mean()
        for rows in np.split(order, np.arange(100, order.size, 100))
    ]
    n_counted = order.size // 100 - 1
    return np.sqrt(100 / order.size * np.square(gaps[:n_counted]).sum())


def hle():
    truth = json.loads(only("hle/judged_generated.truth.json").read_text())
    found = read_evaluation(only("hle/judged_generated.json"))
    accuracy = found.score.sum() / truth["n_questions"]
    yield "accuracy", truth["accuracy_of_harness"], accuracy
    yield (
        "calib_err (generated file)",
        truth["calib_err_of_harness"],
        calib_err_of_hle(found),
    )


def simple_evals():
    wrote = json.loads(only("simple_evals/mmlu.json").read_text())
    score = read_evaluation(only("simple_evals/mmlu_allresults.json")).score
    yield "score", wrote["score"], score.mean()
    yield "score:std", wrote["score:std"], score.std()


def promptfoo():
    path = only("promptfoo/business_two_models.json")
    prompts = json.loads(path.read_text())["results"]["prompts"]
    name = "Meta-Llama-3_1-70B-Instruct"
    passed = read_evaluation(path, model=name).score.sum()
    yield "testPassCount", prompts[0]["metrics"]["testPassCount"], passed


def deepeval():
    path = only("deepeval/biology_llama.json")
    (wrote,) = json.loads(path.read_text())["metricsScores"]
    score = read_evaluation(path).scored().score
    yield "passes", wrote["passes"], score.sum()
    yield "mean of scores", np.mean(wrote["scores"]), score.mean()


def openai_evals():
    path = only("openai_evals/computer_science_gemini.jsonl")
    last = json.loads(path.read_text().splitlines()[-1])
    score = read_evaluation(path).scored().score
    yield "accuracy", last["final_report"]["accuracy"], score.mean()


HARNESSES = {
    "lm-evaluation-harness": lm_eval,
    "inspect_ai": inspect_ai,
    "HELM": helm,
    "lighteval": lighteval,
    "HLE": hle,
    "simple-evals": simple_evals,
    "promptfoo": promptfoo,
    "deepeval": deepeval,
    "OpenAI evals": openai_evals,
}


def main():
    rows = [
        {
            "harness": harness,
            "statistic": name,
            "written": repr(float(wrote)),
            "computed": repr(float(value)),
        }
        for harness, statistics in HARNESSES.items()
        for name, wrote, value in statistics()
    ]
    print_table(rows)
    write_csv("harness_statistics.csv", rows, versions("skcalib", "numpy"))


if __name__ == "__main__":
    main()
