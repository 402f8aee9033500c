"""Decisions about answers with probabilities, and rounded probabilities."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2_contingency
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from skcalib.metrics import calibration_error_interval
from skcalib.rates import threshold_for_precision
from skcalib.recalibration import calibration_decisions
from skcalib.recalibration._decisions import one_map_p_value


def test_equal_probabilities_have_the_chi_squared_test_of_equal_frequencies():
    table = np.array([[30, 70], [45, 75], [20, 90]])
    part = np.repeat([0, 1, 2], table.sum(axis=1))
    y = np.concatenate([np.repeat([1, 0], row) for row in table])
    found = one_map_p_value(y, np.full(y.size, 0.3), part)
    expected = chi2_contingency(table, correction=False).pvalue
    assert found == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_groups_have_nearly_the_same_test():
    rng = np.random.default_rng(0)
    q, part = rng.beta(2, 1, 3000), rng.integers(0, 3, 3000)
    y = (rng.random(3000) < expit(logit(q) + 0.15 * part)).astype(int)
    alone = one_map_p_value(y, q, part)
    grouped = one_map_p_value(y, q, part, np.arange(3000))
    assert np.log(grouped) == pytest.approx(np.log(alone), rel=0.1)


def test_rows_that_repeat_each_other_count_once():
    rng = np.random.default_rng(1)
    q, part = rng.beta(2, 1, 900), rng.integers(0, 3, 900)
    y = (rng.random(900) < q).astype(int)
    once = one_map_p_value(y, q, part, np.arange(900))
    again = one_map_p_value(*(x.repeat(4) for x in (y, q, part, np.arange(900))))
    assert again == pytest.approx(once, rel=1e-6)


@pytest.mark.parametrize("n", [3, 400])
def test_parts_without_labels_that_vary_are_not_tested(n):
    y = np.r_[np.arange(n) % 2, np.ones(50, dtype=int)]
    part = np.repeat([0, 1], [n, 50])
    assert one_map_p_value(y, np.full(y.size, 0.6), part) is None


def world(seed, by_part):
    """Five parts of 120 answers with stated confidences that are .08 too high."""
    rng = np.random.default_rng(seed)
    part = np.repeat(np.arange(5), 120)
    q = rng.choice([0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95], 600)
    true = expit(logit(q - 0.08) + by_part * (part - 2))
    return (rng.random(600) < true).astype(int), q, part


@pytest.mark.parametrize(("by_part", "low", "high"), [(0, 0.015, 0.085), (0.4, 0.9, 1)])
def test_parts_of_one_curve_seldom_differ_and_others_are_found(by_part, low, high):
    """200 samples, standard error 1.5 points at 5%."""
    found = [one_map_p_value(*world(seed, by_part)) for seed in range(200)]
    assert low <= np.mean(np.array(found) < 0.05) <= high


# The decisions of one set of answers


def drawn(name, n=1500, seed=0):
    """Return outcomes, probabilities and parts of a world with known truth."""
    rng = np.random.default_rng(seed)
    q, part = rng.uniform(0.5, 1, n), rng.integers(0, 3, n)
    true = {
        "calibrated": q,
        "overconfident": q - 0.1,
        "underconfident": np.minimum(q + 0.1, 1),
        "not of one kind": expit(logit(0.75) + 0.2 * (logit(q) - logit(0.75))),
        "by part": expit(logit(q) + 0.8 * (part - 1)),
    }[name]
    return (rng.random(n) < true).astype(int), q, part


@pytest.mark.parametrize("name", ["calibrated", "overconfident", "underconfident"])
def test_each_kind_is_decided(name):
    y, q, part = drawn(name)
    found = calibration_decisions(y, q, parts=part, precision=0.8)
    assert found.calibration == name
    assert found.recalibrate == ("no" if name == "calibrated" else "one map")
    error = calibration_error_interval(y, q)
    assert (found.pvalue, found.n) == (error.pvalue, 1500)
    assert found.frequency_low < found.frequency == y.mean() < found.frequency_high
    expected = threshold_for_precision(y, q, precision=0.8)
    assert found.threshold.threshold == expected.threshold
    assert f"calibration={name!r}" in repr(found)


def test_a_flat_curve_around_the_mean_is_not_of_one_kind():
    y, q, _ = drawn("not of one kind")
    found = calibration_decisions(y, q)
    assert (found.calibration, found.recalibrate) == ("not of one kind", "one map")
    assert found.one_map_pvalue is None


def test_parts_that_differ_are_recalibrated_by_part():
    y, q, part = drawn("by part")
    found = calibration_decisions(y, q, parts=np.array(["a", "b", "c"])[part])
    assert found.recalibrate == "by part"
    assert found.one_map_pvalue == one_map_p_value(y, q, part)


@pytest.mark.parametrize(
    ("n_right", "expected"), [(299, "logistic"), (300, "isotonic")]
)
def test_the_rarer_label_decides_between_isotonic_and_logistic(n_right, expected):
    y = np.repeat([1, 0], [n_right, 9000])
    found = calibration_decisions(y, np.tile([0.2, 0.3, 0.4], 3100)[: y.size])
    assert (found.recalibrate, found.map) == ("one map", expected)


def test_isotonic_regression_is_better_where_it_is_advised():
    """The curve has a step, which the logistic map cannot fit."""
    rng = np.random.default_rng(0)
    error = {}
    for n in (1000, 40_000):
        odds = rng.normal(-5.5, 1.9, n)  # 1.5% positive
        true, q = expit(odds), expit(odds + np.sign(odds + 4))
        y = (rng.random(n) < true).astype(int)
        terms = logit(q)[:, np.newaxis]
        logistic = LogisticRegression(C=1e6).fit(terms, y).predict_proba(terms)[:, 1]
        isotonic = IsotonicRegression().fit_transform(q, y)
        for name, map_ in (("logistic", logistic), ("isotonic", isotonic)):
            error[n, name] = np.sqrt(np.mean((map_ - true) ** 2))
        advised = calibration_decisions(y, q).map
        assert advised == min(("logistic", "isotonic"), key=lambda k: error[n, k])
        assert advised == ("logistic" if n == 1000 else "isotonic")


def test_certain_probabilities_that_are_wrong_are_clipped_first():
    """Three of 2,000 zeros are wrong; elsewhere, frequencies are the probabilities."""
    q = np.repeat([0.0, 0.1234, 0.4567], [2000, 1000, 1000])
    y = np.concatenate([np.arange(m) < k for m, k in ((2000, 3), (1000, 123))])
    y = np.r_[y, np.arange(1000) < 457].astype(int)
    found = calibration_decisions(y, q)
    assert (found.recalibrate, found.map) == ("one map", "clip")
    found = calibration_decisions(y, q.clip(3.5 / 2001))
    assert (found.calibration, found.map) == ("calibrated", None)


def test_a_precision_that_is_not_reached_gives_no_threshold():
    y, q, _ = drawn("overconfident")
    assert calibration_decisions(y, q, precision=0.99).threshold is None


def test_few_groups_are_too_few():
    y, q, _ = drawn("overconfident", 200)
    found = calibration_decisions(y, q, groups=np.arange(200) // 50)
    assert (found.calibration, found.n_groups) == ("too few", 4)
    assert np.isnan(found.pvalue)
    assert found.to_dict()["recalibrate"] == "no"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"precision": 1.5}, "'precision' .* in \\(0, 1\\)|precision"),
        ({"parts": [0, 1]}, "'parts' .* one entry for each of the 3 rows"),
        ({"y_proba": [[0.5], [0.5], [0.5]]}, "y_proba"),
        ({"y_proba": [0.5, 0.5, 2]}, "y_proba"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    given = {"y_true": [0, 1, 1], "y_proba": [0.2, 0.5, 0.9], **change}
    with pytest.raises(ValueError, match=message):
        calibration_decisions(**given)


# Rounded probabilities


def rounded(step, n=400, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.beta(5, 1.2, n)
    return (rng.random(n) < true).astype(int), np.round(true / step) * step


@pytest.mark.filterwarnings("ignore:Only .* rows carry the error")
@pytest.mark.parametrize("step", [0.1, 0.05, 0.01])
def test_rounded_probabilities_are_seldom_rejected(step):
    """200 samples, standard error 1.5 points at 5%."""
    found = [calibration_error_interval(*rounded(step, seed=k)) for k in range(200)]
    assert np.mean([each.pvalue < 0.05 for each in found]) < 0.085
    used = [each.rounded_to for each in found]
    assert set(used) <= {None, step}
    assert step in used


def test_the_test_of_rounded_probabilities_replaces_0_and_1():
    q = np.repeat([0.0, 0.25, 0.75, 1.0], 100)
    counts = (3, 25, 75, 90)
    y = np.concatenate([np.arange(100) < k for k in counts]).astype(int)
    found = calibration_error_interval(y, q)
    # 3% of the labels at 0 are positive: 0.025 at most; 90% at 1: 0.975 at least.
    replaced = np.repeat([0.025, 0.25, 0.75, 0.975], 100)
    expected = calibration_error_interval(y, replaced)
    assert found.rounded_to == 0.05
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    # The estimate is about the probabilities as they are.
    assert found.estimate > expected.estimate
    weighted = calibration_error_interval(
        *(np.tile(x, 2) for x in (y, q)), sample_weight=np.full(800, 0.5)
    )
    assert weighted.pvalue == pytest.approx(found.pvalue, rel=1e-6)


@pytest.mark.filterwarnings("ignore:All prob.* multiples of 1/300", "ignore:Only")
@pytest.mark.parametrize("k", [100, 256, 300, 400, 512])
def test_shares_of_any_number_of_trees_are_rounded_probabilities(k):
    """Calibrated probabilities of a rare class, rounded to multiples of 1/k."""
    n_rejected = n_wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        proba = rng.beta(0.3, 20, 6000)
        y, q = rng.random(6000) < proba, np.rint(proba * k) / k
        found = calibration_error_interval(y, q)
        n_rejected += found.pvalue < 0.05
        n_wrong += y[q == 0].any()
        if y[q == 0].any():
            assert found.rounded_to == pytest.approx(1 / k)
    assert n_wrong >= 5
    assert n_rejected <= 6  # the 99% quantile of 40 draws of .05


@pytest.mark.parametrize(
    "q", [[0.0, 1.0, 1.0, 0.0, 1.0], [0.5, 1, 1, 0.5, 1], [0.333, 0.1234, 1, 0, 1]]
)
def test_other_certain_probabilities_are_exact(q):
    proba = np.tile(q, 8)
    y = (proba > 0.4).astype(int)
    y[:3] = 1 - y[:3]  # one of them is certain
    found = calibration_error_interval(y, proba, hard_labels=True)
    assert found.rounded_to is None
    assert found.pvalue < 1e-300


def test_groups_and_float32_have_the_same_rule():
    y, q = rounded(0.05)
    y[q == 1] = np.arange((q == 1).sum()) > 0
    q32 = q.astype(np.float32)
    alone, groups, short = (
        calibration_error_interval(y, q, groups=np.arange(400)),
        calibration_error_interval(y, q, groups=np.arange(400) // 4),
        calibration_error_interval(y, q32),
    )
    assert alone.pvalue == pytest.approx(short.pvalue, rel=1e-3)
    assert alone.rounded_to == groups.rounded_to == short.rounded_to == 0.05
    assert groups.pvalue > 1e-4
