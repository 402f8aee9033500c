"""Two models' calibration errors: by the rule, and how often it errs."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.metrics import brier_score_loss

from skcalib._result_classes import CalibrationComparison
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import brier_statistics, calibration_error
from skcalib.scorers import compare_calibration
from skcalib.significance import paired_bootstrap_test


@pytest.fixture(scope="module")
def data():
    y, right = make_calibrated_pairs(900, random_state=0)
    return y, right, expit(3 * logit(right))


def test_models_may_have_labels_of_their_own():
    y_true, q = make_calibrated_pairs(600, random_state=0)
    other, q_other = make_calibrated_pairs(600, random_state=1)
    result = compare_calibration(y_true, q, q_other**2, y_true_b=other, random_state=0)
    assert result.error_a == pytest.approx(calibration_error(y_true, q))
    assert result.error_b == pytest.approx(calibration_error(other, q_other**2))
    assert result.brier_b == pytest.approx(np.mean((other - q_other**2) ** 2))
    assert result.pvalue < 0.01


def test_errors_and_scores_are_the_metrics(data):
    y, a, b = data
    result = compare_calibration(y, a, b, n_resamples=99, bin_size=60, random_state=0)
    assert result.error_a == pytest.approx(calibration_error(y, a, bin_size=60))
    assert result.error_b == pytest.approx(calibration_error(y, b, bin_size=60))
    assert result.difference == result.error_a - result.error_b
    assert result.brier_a == pytest.approx(brier_score_loss(y, a))
    assert result.brier_difference == pytest.approx(
        brier_score_loss(y, a) - brier_score_loss(y, b)
    )
    score = paired_bootstrap_test(brier_statistics(y, a), brier_statistics(y, b))
    assert result.brier_pvalue == pytest.approx(score.pvalue)
    assert result.brier_low == pytest.approx(score.confidence_interval[0])


def test_a_worse_model_is_found(data):
    y, a, b = data
    result = compare_calibration(y, a, b, random_state=0)
    assert result.pvalue < 0.005
    assert result.high < 0
    one_sided = {
        side: compare_calibration(y, a, b, alternative=side, random_state=0).pvalue
        for side in ("greater", "less")
    }
    assert one_sided["less"] <= result.pvalue
    assert one_sided["greater"] > 0.9


@pytest.mark.slow
def test_resamples_of_groups_by_hand():
    """Of models that err to different sides: p and interval from |d* - d|."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), rng.integers(20, 30, 12))
    true = rng.random(groups.size)
    y = (rng.random(groups.size) < true).astype(int)
    q = expit(logit(true) + 1), expit(logit(true) - 0.8)
    b = 4000
    result = compare_calibration(
        y, *q, groups=groups, bin_size=10, n_resamples=b, random_state=1
    )
    d = result.difference
    away = []
    for _ in range(b):
        drawn = rng.integers(12, size=12)
        rows = np.concatenate([np.flatnonzero(groups == g) for g in drawn])
        one, two = (calibration_error(y[rows], x[rows], bin_size=10) for x in q)
        away.append(abs(one - two - d))
    expected = np.mean(np.array(away) >= abs(d))
    assert 0.02 < expected < 0.98
    # both are drawn: 5 standard errors of their difference
    error = np.sqrt(2 * expected * (1 - expected) / b)
    assert abs(result.pvalue - expected) < 5 * error
    half = np.quantile(away, 0.95)
    assert result.high - d == pytest.approx(half, rel=0.06)
    assert d - result.low == pytest.approx(result.high - d)
    assert result.n_items == 12


def test_swaps_of_groups_by_hand():
    """Of models that err alike: p and interval from all swaps of whole sentences."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(8), rng.integers(9, 14, 8))
    true = rng.random(groups.size)
    y = (rng.random(groups.size) < true).astype(int)
    q = np.stack([true ** rng.uniform(3, 6, groups.size) for _ in range(2)])
    b = 20_000
    result = compare_calibration(
        y, *q, groups=groups, bin_size=10, n_resamples=b, random_state=1
    )
    swapped = []
    for turned in product([False, True], repeat=8):
        at = np.array(turned)[groups]
        one, two = np.where(at, q[::-1], q)
        errors = [calibration_error(y, x, bin_size=10) for x in (one, two)]
        swapped.append(abs(errors[0] - errors[1]))
    swapped = np.array(swapped)
    expected = np.mean(swapped >= abs(result.difference) - 1e-12)
    assert 0.02 < expected < 0.98
    error = np.sqrt(expected * (1 - expected) / b)
    assert abs(result.pvalue - expected) < 5 * error
    half = np.sort(swapped)[-13]  # one in twenty of 256 are as far
    assert result.high - result.difference == pytest.approx(half, rel=0.1)


@pytest.mark.parametrize(
    "seed",
    [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))],
)
def test_p_value_and_interval_agree(seed):
    rng = np.random.default_rng(seed)
    true = rng.random(200)
    y = (rng.random(200) < true).astype(int)
    models = [expit(logit(true) * t + rng.normal(0, 0.5, 200)) for t in (0.7, 1.2)]
    if seed % 2:
        models = [expit(logit(true) + rng.normal(0, 1, 200)) for _ in range(2)]
    for level in (0.5, 0.8, 0.9, 0.95):
        result = compare_calibration(
            y, *models, n_resamples=199, confidence_level=level, random_state=seed
        )
        inside = result.low <= 0 <= result.high
        assert inside == (result.pvalue >= (1 - level) * (1 - 1e-12))


@pytest.mark.filterwarnings("ignore:compare_calibration. with:UserWarning")
@pytest.mark.parametrize("n", [4, 5])
def test_few_rows_are_compared_by_swaps(n):
    y, a = np.array([1, 0, 1, 0, 1])[:n], np.array([0.9, 0.1, 0.9, 0.2, 0.8])[:n]
    b = 1 - a
    # every resample of such models has nearly the same difference
    result = compare_calibration(y, a, b, bin_size=2, n_resamples=4000, random_state=0)
    distances = []
    for turned in product([False, True], repeat=n):
        one, two = np.where(turned, [b, a], [a, b])
        errors = [calibration_error(y, q, bin_size=2) for q in (one, two)]
        distances.append(abs(errors[0] - errors[1]))
    expected = np.mean(np.array(distances) >= abs(result.difference) - 1e-12)
    assert result.pvalue == pytest.approx(expected, abs=0.02)
    assert expected > 0.05
    assert result.low <= 0 <= result.high


def test_few_groups_are_said(data):
    y, a, b = data
    with pytest.warns(UserWarning, match="with 4 groups, .*below 0.125"):
        compare_calibration(y, a, b, groups=np.arange(900) % 4, n_resamples=50)


def test_equal_models_have_a_p_value_of_one(data):
    y, a, _ = data
    result = compare_calibration(y, a, a, random_state=0)
    assert (result.pvalue, result.brier_pvalue) == (1, 1)
    assert result.confidence_interval == (0, 0)


def test_changing_places_changes_signs(data):
    y, a, b = data
    one = compare_calibration(y, a, b, n_resamples=200, random_state=0)
    two = compare_calibration(y, b, a, n_resamples=200, random_state=0)
    assert one.difference == -two.difference
    assert one.pvalue == two.pvalue
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    less = compare_calibration(
        y, a, b, n_resamples=200, random_state=0, alternative="less"
    )
    greater = compare_calibration(
        y, b, a, n_resamples=200, random_state=0, alternative="greater"
    )
    assert less.pvalue == greater.pvalue


def test_the_order_of_rows_plays_no_part(data):
    y, a, b = data
    order = np.random.default_rng(0).permutation(900)
    groups = np.arange(900) // 9
    for extra in ({}, {"groups": groups}):
        moved = {key: x[order] for key, x in extra.items()}
        one = compare_calibration(y, a, b, n_resamples=99, random_state=0, **extra)
        two = compare_calibration(
            y[order], a[order], b[order], n_resamples=99, random_state=0, **moved
        )
        assert one.pvalue == two.pvalue
        assert one.low == pytest.approx(two.low, abs=1e-12)
        assert one.brier_pvalue == pytest.approx(two.brier_pvalue, rel=1e-9)


def test_several_classes():
    rng = np.random.default_rng(0)
    a = rng.dirichlet([1, 1, 1], 300)
    y = (rng.random(300)[:, np.newaxis] > a.cumsum(axis=1)).sum(axis=1)
    b = np.sqrt(a) / np.sqrt(a).sum(axis=1, keepdims=True)
    pooled = compare_calibration(y, a, b, n_resamples=300, random_state=0)
    assert pooled.error_a == pytest.approx(calibration_error(y, a))
    assert pooled.n_items == 300
    assert pooled.brier_a == pytest.approx(((np.eye(3)[y] - a) ** 2).sum(1).mean())
    top = compare_calibration(
        y, a, b, multi_class="top_label", n_resamples=99, random_state=0
    )
    assert top.error_b == pytest.approx(
        calibration_error(y, b, multi_class="top_label")
    )


def test_dict_frame_and_repr(data):
    y, a, b = data
    result = compare_calibration(y, a, b, n_resamples=99, random_state=0)
    assert isinstance(result, CalibrationComparison)
    assert result.frame()["pvalue"].tolist() == [result.pvalue]
    assert result.to_dict()["n_resamples"] == 99
    assert "n_items=900, n_resamples=99)" in repr(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"proba_b": [0.5]}, r"\(900,\) in 'proba_a' and \(1,\) in 'proba_b'"),
        ({"proba_b": np.full(900, 1.5)}, "'proba_b'.*1.5 in row 0"),
        ({"y_true": np.zeros(3)}, "y_true has 3"),
        ({"groups": np.zeros(900)}, "at least two groups. Got 1"),
        ({"groups": [0]}, "'groups'.*900 rows. Got 1"),
        ({"alternative": "better"}, "'alternative'"),
        ({"confidence_level": 1.0}, "'confidence_level'"),
        ({"n_resamples": 0}, "'n_resamples'"),
        ({"bin_size": "wide"}, "'bin_size'"),
        ({"multi_class": "per_class"}, "'multi_class'.*'per_class'"),
    ],
)
def test_what_is_refused(data, change, message):
    y, a, b = data
    params = {"y_true": y, "proba_a": a, "proba_b": b, **change}
    with pytest.raises(ValueError, match=message):
        compare_calibration(**params)


def exchangeable_models(rng, n_sentences):
    """Return labels, two equally wrong models, and the sentence of each row."""
    lengths = 1 + rng.poisson(11, n_sentences)
    sentence = np.repeat(np.arange(n_sentences), lengths)
    score = rng.normal(0, 1.5, sentence.size)
    y = rng.random(sentence.size) < expit(
        score + rng.normal(size=n_sentences)[sentence]
    )
    models = [
        expit(
            score
            + rng.normal(0, 0.6, n_sentences)[sentence]
            + rng.normal(0, 0.3, sentence.size)
        )
        for _ in range(2)
    ]
    return y.astype(int), *models, sentence


@pytest.mark.slow
def test_type_one_error():
    """At a level of .05, within two standard errors of .04 to .06."""
    rng = np.random.default_rng(1)
    n_runs, rejected, brier = 400, 0, 0
    for _ in range(n_runs):
        y, a, b, sentence = exchangeable_models(rng, 100)
        result = compare_calibration(
            y, a, b, groups=sentence, n_resamples=199, random_state=rng
        )
        rejected += result.pvalue <= 0.05
        brier += result.brier_pvalue <= 0.05
    error = np.sqrt(0.05 * 0.95 / n_runs)
    assert abs(rejected / n_runs - 0.05) <= 0.01 + 2 * error
    assert abs(brier / n_runs - 0.05) <= 0.013 + 2 * error


@pytest.mark.slow
def test_type_one_error_of_models_that_err_to_different_sides():
    """By symmetry both have the same error; to swap them takes it away."""
    rng = np.random.default_rng(2)
    n_runs, rejected = 400, 0
    for _ in range(n_runs):
        score = rng.normal(0, 1.5, 1200)
        y = (rng.random(1200) < expit(score)).astype(int)
        models = [expit(score + s + rng.normal(0, 0.2, 1200)) for s in (0.5, -0.5)]
        result = compare_calibration(y, *models, n_resamples=199, random_state=rng)
        rejected += result.pvalue <= 0.05
    error = np.sqrt(0.05 * 0.95 / n_runs)
    assert abs(rejected / n_runs - 0.05) <= 0.01 + 2 * error
