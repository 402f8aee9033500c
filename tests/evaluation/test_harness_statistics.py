"""What harnesses print of their own files is computed again from what is read."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from skcalib import calibration_error, read_evaluation
from skcalib.rates import sampled_confidence

DATA = Path(os.environ.get("SKCALIB_DATA", "nowhere"), "evaluation")

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="SKCALIB_DATA does not name a folder with evaluations"
)


def standard_error(score):
    return score.std(ddof=1) / np.sqrt(score.size)


def only(pattern):
    (path,) = DATA.glob(pattern)
    return path


def brier_of_options(evaluation):
    right = [
        np.eye(p.size)[g]
        for p, g in zip(evaluation.option_proba, evaluation.gold, strict=True)
    ]
    return np.mean(
        [
            ((p - r) ** 2).sum()
            for p, r in zip(evaluation.option_proba, right, strict=True)
        ]
    )


def lm_eval_results(path):
    (results,) = path.parent.glob("results_*.json")
    return json.loads(results.read_text())["results"]


@pytest.mark.parametrize("run", ["llama-13b-prompt0", "llama-13b-prompt3"])
def test_multiple_choice_of_lm_eval(run):
    paths = sorted(DATA.glob(f"lm_eval/replayed/{run}/samples_*.jsonl"))
    assert len(paths) == 5
    for path in paths:
        evaluation = read_evaluation(path)
        expected = lm_eval_results(path)[evaluation.task]
        assert evaluation.score.mean() == expected["acc,none"]
        assert standard_error(evaluation.score) == pytest.approx(
            expected["acc_stderr,none"], rel=1e-12
        )
        assert brier_of_options(evaluation) == pytest.approx(
            expected["brier_score,none"], rel=1e-7
        )
        right = np.array([p.argmax() for p in evaluation.option_proba])
        np.testing.assert_array_equal(right == evaluation.gold, evaluation.score)


@pytest.mark.parametrize("score", ["acc", "acc_norm", "acc_bytes"])
def test_normalised_scores_of_lm_eval_follow_their_own_options(score):
    path = only("lm_eval/generated/generated/samples_lengths_*.jsonl")
    evaluation = read_evaluation(path, score=score)
    expected = lm_eval_results(path)["lengths"]
    assert evaluation.score.mean() == expected[f"{score},none"]
    assert standard_error(evaluation.score) == pytest.approx(
        expected[f"{score}_stderr,none"], rel=1e-12
    )
    best = np.array([p.argmax() for p in evaluation.option_proba])
    np.testing.assert_array_equal(best == evaluation.gold, evaluation.score)


@pytest.mark.parametrize("run", ["6b_finetuning", "175b_verification"])
@pytest.mark.parametrize("name", ["strict-match", "flexible-extract"])
def test_one_filter_of_lm_eval_is_read(run, name):
    path = only(f"lm_eval/replayed/{run}/samples_gsm8k_*.jsonl")
    evaluation = read_evaluation(path, filter=name)
    expected = lm_eval_results(path)["gsm8k"]
    assert len(evaluation) == evaluation.n_questions == 150
    assert evaluation.score.mean() == expected[f"exact_match,{name}"]
    with pytest.raises(ValueError, match="'strict-match', 'flexible-extract'"):
        read_evaluation(path)


def test_lm_eval_without_names_of_filters_or_as_one_array():
    truth = json.loads(only("lm_eval/generated/old/truth.json").read_text())
    path = only("lm_eval/generated/old/samples_gsm8k_*.jsonl")
    for number, key in enumerate(("first_filter_correct", "second_filter_correct")):
        evaluation = read_evaluation(path, filter=str(number))
        assert len(evaluation) == truth["no_filter_key"]["n_questions"]
        assert evaluation.score.sum() == truth["no_filter_key"][key]
    array = read_evaluation(only("lm_eval/generated/old/pretrained__*.jsonl"))
    assert (len(array), array.score.sum()) == (60, truth["array"]["n_correct"])


def test_lm_eval_says_that_the_file_is_cut():
    evaluation = read_evaluation(only("lm_eval/found/samples_*.jsonl"))
    assert any("5000" in note and "10" in note for note in evaluation.notes)


@pytest.mark.parametrize("start", ["2026-11-22T02-30-37", "2026-11-22T02-30-42"])
def test_archive_of_inspect_with_clusters(start):
    pytest.importorskip("zstandard")
    path = only(f"inspect/replayed/{start}*.eval")
    evaluation = read_evaluation(path)
    assert evaluation.score.size == 200
    mean = evaluation.score.mean()
    source = np.unique(evaluation.groups["src"], return_inverse=True)[1]
    sums = np.bincount(source, evaluation.score - mean)
    clustered = np.sqrt(sums.size / (sums.size - 1) * sums @ sums) / 200
    expected = {"2026-11-22T02-30-37": (0.47, 0.021646477773531635)}.get(start)
    if expected is not None:
        assert (mean, pytest.approx(clustered, rel=1e-12)) == expected


def test_log_of_inspect_with_refusals_and_an_error():
    path = only("inspect/replayed/*philosophy*.json")
    evaluation = read_evaluation(path)
    expected = json.loads(path.read_text())["results"]["scores"][0]["metrics"]
    assert evaluation.counts() == {"answered": 57, "refused": 2, "error": 1}
    scored = evaluation.score[~np.isnan(evaluation.score)]
    assert scored.mean() == expected["accuracy"]["value"]
    assert standard_error(scored) == pytest.approx(expected["stderr"]["value"])


def test_epochs_of_inspect_are_repeats():
    pytest.importorskip("zstandard")
    evaluation = read_evaluation(only("inspect/replayed/2026-11-22T02-30-49*.eval"))
    assert (len(evaluation), evaluation.n_questions) == (330, 66)
    assert set(evaluation.repeat) == {0, 1, 2, 3, 4}
    question = np.unique(evaluation.question, return_inverse=True)[1]
    means = np.bincount(question, evaluation.score) / 5
    assert means.mean() == pytest.approx(0.7393939393939393, rel=1e-15)
    assert standard_error(means) == pytest.approx(0.045078475364189616, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*no test of perfect calibration:UserWarning")
def test_epochs_of_inspect_are_sampled_answers():
    pytest.importorskip("zstandard")
    evaluation = read_evaluation(only("inspect/found/log_streaming.eval"))
    # 'No' and 'No.', both right; 'No', wrong, and 'Yes.', right
    result = sampled_confidence(evaluation)
    assert result.answer.tolist() == ["No", "No"]
    assert result.share.tolist() == [1, 0.5]
    found = result.calibration_error_interval()
    given = result.calibration_error_interval([[1, 1], [0, 1]])
    assert repr(found) == repr(given)
    with pytest.raises(ValueError, match="file contains the answers. Got 'HLE'"):
        sampled_confidence(read_evaluation(only("hle/judged_generated.json")))


def test_four_responses_of_lm_eval_are_scored_as_by_its_filters():
    path = only("lm_eval/replayed/four-samples/samples_*.jsonl")
    expected = lm_eval_results(path)["gsm8k_self_consistency"]
    for name in ("score-first", "maj@4"):
        evaluation = read_evaluation(path, filter=name)
        result = sampled_confidence(evaluation)
        assert set(result.n_draws) == {4}
        right = np.array(result._right)
        first = right[:, 0].mean()
        most = right[np.arange(40), result.chosen].mean()
        assert first == expected["exact_match,score-first"]
        assert most == expected["exact_match,maj@4"]


def test_logs_of_inspect_that_hold_no_score_say_so():
    with pytest.raises(ValueError, match="never scored"):
        read_evaluation(only("inspect/found/2025-02-11*.eval"))
    with pytest.raises(ValueError, match="--no-log-samples"):
        read_evaluation(only("inspect/found/*no-samples.json"))


@pytest.mark.parametrize("split", ["valid", "test"])
def test_run_folder_of_helm(split):
    folder = only("helm/generated/*")
    truth = json.loads((folder / "truth.json").read_text())[split]
    evaluation = read_evaluation(folder, split=split)
    assert (len(evaluation), evaluation.n_questions) == (
        truth["n_rows"],
        truth["n_questions"],
    )
    assert evaluation.score.mean() == pytest.approx(truth["accuracy"], rel=1e-15)
    assert evaluation.proba.mean() == pytest.approx(truth["mean_probability"])
    brier = ((evaluation.proba - evaluation.score) ** 2).mean()
    assert brier == pytest.approx(truth["brier"])
    assert any("perturbed" in note for note in evaluation.notes)


def test_helm_without_log_probabilities_has_no_probabilities():
    folder = only("helm/mmlu-subject=philosophy*")
    with pytest.raises(ValueError, match=r"'split'.*\['test', 'valid'\]"):
        read_evaluation(folder)
    evaluation = read_evaluation(folder, split="test")
    assert not evaluation.has_proba
    stats = json.loads((folder / "stats.json").read_text())
    (expected,) = {
        s["mean"]
        for s in stats
        if s["name"]["name"] == "exact_match"
        and s["name"]["split"] == "test"
        and "perturbation" not in s["name"]
    }
    assert evaluation.score.mean() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("trial", "ten_bins", "one_bin", "area", "top"),
    [
        (0, 0.18450260968256788, 0.06944807788685098, 0.6289181948791197, 5 / 6),
        (1, 0.1492698202357514, 0.13968650307292307, 0.8146162091430094, 1.0),
    ],
)
def test_calibration_metrics_of_helm(trial, ten_bins, one_bin, area, top):
    # The values are those of the functions that HELM 0.5.16 calls, in
    # uncertainty-calibration 0.1.4: get_ece_em, get_ece and get_selective_stats.
    evaluation = read_evaluation(only("helm/generated/*"), split="test")
    evaluation = evaluation.take(evaluation.repeat == trial)
    pairs = evaluation.score, evaluation.proba
    found = calibration_error(*pairs, n_bins=10, strategy="quantile", norm="l1")
    assert found == pytest.approx(ten_bins, rel=1e-14)
    found = calibration_error(*pairs, n_bins=1, strategy="uniform", norm="l1")
    assert found == pytest.approx(one_bin, rel=1e-14)
    right = evaluation.score[np.argsort(-evaluation.proba)]
    accuracy = np.cumsum(right) / np.arange(1, right.size + 1)
    assert accuracy.mean() == pytest.approx(area, rel=1e-14)
    assert accuracy[right.size // 10] == pytest.approx(top, rel=1e-14)


def test_calibration_error_of_hle():
    evaluation = read_evaluation(only("hle/judged_generated.json")).scored("drop")
    truth = json.loads(only("hle/judged_generated.truth.json").read_text())
    # The truth has the formula of the script, with ties in the order of the file. It
    # counts the judge's 100 for answers that state no confidence.
    proba = np.where(np.isnan(evaluation.proba), 1.0, evaluation.proba)
    order = np.argsort(proba, kind="stable")
    n_bins = order.size // 100
    total = 0.0
    for rows in np.split(order, 100 * np.arange(1, n_bins))[:-1]:
        total += rows.size * (proba[rows] - evaluation.score[rows]).mean() ** 2
    assert np.sqrt(total / order.size) == pytest.approx(
        truth["calib_err_of_harness"], rel=1e-14
    )


def test_judged_answers_of_hle():
    evaluation = read_evaluation(only("hle/judged_generated.json"))
    truth = json.loads(only("hle/judged_generated.truth.json").read_text())
    stated = ~np.isnan(evaluation.proba)
    assert len(evaluation) == truth["n_judged"]
    assert evaluation.score.sum() == truth["n_correct"]
    assert (~stated).sum() == truth["unstated"]
    assert evaluation.proba[stated].mean() == pytest.approx(
        truth["mean_confidence_stated"]
    )


@pytest.mark.parametrize("run", ["llama-13b-prompt1", "llama-13b-prompt6"])
def test_details_of_lighteval(run):
    pytest.importorskip("pyarrow")
    results = json.loads(only(f"lighteval/results/{run}/*.json").read_text())["results"]
    for path in DATA.glob(f"lighteval/details/{run}/*.parquet"):
        evaluation = read_evaluation(path)
        expected = results[evaluation.task]
        assert evaluation.score.mean() == pytest.approx(expected["acc"], rel=1e-15)
        assert standard_error(evaluation.score) == pytest.approx(expected["acc_stderr"])


def test_details_of_older_lighteval():
    pytest.importorskip("pyarrow")
    evaluation = read_evaluation(only("lighteval/generated_old/*.parquet"))
    assert (len(evaluation), evaluation.score.sum()) == (80, 51)


@pytest.mark.parametrize("name", ["mmlu", "simpleqa"])
def test_results_of_simple_evals(name):
    evaluation = read_evaluation(only(f"simple_evals/{name}_allresults.json"))
    expected = json.loads(only(f"simple_evals/{name}.json").read_text())
    assert evaluation.score.mean() == pytest.approx(expected["score"], rel=1e-15)
    assert evaluation.score.std() == pytest.approx(expected["score:std"])


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_systems_of_promptfoo(suffix):
    path = only(f"promptfoo/business_two_models.{suffix}")
    summary = json.loads(only("promptfoo/business_two_models.json").read_text())
    prompts = summary["results"]["prompts"]
    names = ["Meta-Llama-3_1-70B-Instruct", "gemini-1.5-flash-002"]
    passed = [read_evaluation(path, model=name).score.sum() for name in names]
    assert passed == [p["metrics"]["testPassCount"] for p in prompts]
    with pytest.raises(ValueError, match="'model'.*gemini-1.5-flash-002"):
        read_evaluation(path)


@pytest.mark.parametrize("name", ["llama", "gemini"])
def test_test_run_of_deepeval(name):
    path = only(f"deepeval/biology_{name}.json")
    (expected,) = json.loads(path.read_text())["metricsScores"]
    evaluation = read_evaluation(path)
    assert np.nansum(evaluation.score) == expected["passes"]
    assert evaluation.counts().get("error", 0) == expected["errors"]


@pytest.mark.parametrize("name", ["llama", "gemini"])
def test_log_of_openai_evals(name):
    path = only(f"openai_evals/computer_science_{name}.jsonl")
    last = json.loads(path.read_text().splitlines()[-1])
    evaluation = read_evaluation(path)
    assert np.nanmean(evaluation.score) == last["final_report"]["accuracy"]
    assert evaluation.n_questions == 60


def test_evaluations_in_another_order_are_aligned_by_question():
    pytest.importorskip("zstandard")
    paths = sorted(DATA.glob("inspect/replayed/*mmlu-pro-law*.eval"))
    a, b = (read_evaluation(path) for path in paths)
    assert not np.array_equal(a.question, b.question)
    left, right = a.aligned(b)
    np.testing.assert_array_equal(left.question, right.question)
    assert left.score.mean() == pytest.approx(a.score.mean())
