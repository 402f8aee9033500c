"""Calibration error of the probability behind a share of samples."""

import itertools
import pickle
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from skcalib import ReliabilityDisplay
from skcalib.metrics import calibration_error, calibration_error_interval
from skcalib.queries import Answers, ClassQuery
from skcalib.scorers import compare_calibration, make_calibration_scorer


def outcomes_of_a_question(p, right, k):
    """Return the probability of each (agreeing draws, label), for one of several p."""
    return {
        (s, y): float(np.mean(binom.pmf(s, k, p) * np.where(y, right, 1 - right)))
        for s in range(k + 1)
        for y in (0, 1)
    }


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 0.0), (0.1, 0.01)])
@pytest.mark.parametrize("k", [2, 3])
def test_the_mean_square_over_all_outcomes_is_the_squared_error(k, shift, expected):
    # three questions in one bin, in which the mean of p - y is `shift`
    p = np.array([0.2, 0.7])
    chance = outcomes_of_a_question(p, p - shift, k)
    mean = 0.0
    for outcome in itertools.product(chance, repeat=3):
        s, y = np.array(outcome).T
        weight = np.prod([chance[each] for each in outcome])
        mean += weight * calibration_error(
            y, s / k, n_draws=k, bin_size=6, squared=True
        )
    assert mean == pytest.approx(expected, abs=1e-14)


def square_by_loops(y, s, k, rows):
    """Return the sum of T_v with the share of v, by loops over the left-out draws."""
    weight, residual = {}, {}
    for i in rows:
        for draw in [1] * s[i] + [0] * (k - s[i]):
            key = s[i] - draw, i
            weight[key] = weight.get(key, 0) + 1 / k
            residual[key] = residual.get(key, 0) + (draw - y[i]) / k
    total = 0.0
    for v in range(k):
        own = [i for i in rows if (v, i) in weight]
        pairs = [(i, j) for i in own for j in own if i != j]
        products = sum(residual[v, i] * residual[v, j] for i, j in pairs)
        number = sum(weight[v, i] * weight[v, j] for i, j in pairs)
        total += sum(weight[v, i] for i in own) * products / number
    return total / len(rows)


def test_the_square_is_the_jackknifed_sum_over_the_counts_of_the_other_draws():
    rng = np.random.default_rng(0)
    k, n = 4, 40
    p = rng.beta(1, 1, n)
    y, s = rng.random(n) < p, rng.binomial(k, p)
    rows = range(n)
    whole = square_by_loops(y, s, k, rows)
    without = [square_by_loops(y, s, k, [j for j in rows if j != i]) for i in rows]
    expected = n * whole - (n - 1) * np.mean(without)
    found = calibration_error(
        y, s / k, n_draws=k, n_bins=k, strategy="uniform", squared=True
    )
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("k", [3, 20])
def test_a_calibrated_model_has_no_error_on_average_but_its_shares_do(k):
    rng = np.random.default_rng(1)
    squares, rejected, of_share = [], 0, 0
    for _ in range(150):
        p = rng.beta(0.8, 0.8, 500)
        y, share = rng.random(500) < p, rng.binomial(k, p) / k
        squares.append(calibration_error(y, share, n_draws=k, squared=True))
        rejected += calibration_error_interval(y, share, n_draws=k).pvalue < 0.05
        with warns_of(3) if k == 3 else nullcontext():
            of_share += calibration_error_interval(y, share).pvalue < 0.05
    assert abs(np.mean(squares)) < 3 * np.std(squares) / 150**0.5
    assert 1 <= rejected <= 17  # 0.1% and 99.9% quantiles of 150 draws of .05
    # Shares are multiples of 1/k, so that 0 and 1 count as rounded.
    assert of_share > 25


def warns_of(k):
    return pytest.warns(UserWarning, match=f"pass n_draws={k}")


def data(n=400, k=6, seed=3):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 1, n)
    return rng.random(n) < p**2, rng.binomial(k, p) / k, rng


def numbers(y, share, **params):
    found = calibration_error_interval(y, share, n_draws=6, **params)
    error = calibration_error(y, share, n_draws=6, **params)
    return [error, found.estimate, found.low, found.high, found.pvalue]


def test_automatic_bins_are_the_bins_of_the_interval():
    error, estimate, low, high, _ = numbers(*data()[:2])
    assert error == estimate
    assert 0 < low < estimate < high
    assert 0.1 < estimate < 0.25  # the root of the mean of (p - p^2)^2 is 0.18


def test_rows_of_integer_weight_are_repeated_rows():
    y, share, rng = data()
    weight = rng.integers(0, 3, y.size)
    repeated = numbers(np.repeat(y, weight), np.repeat(share, weight))
    np.testing.assert_allclose(numbers(y, share, sample_weight=weight), repeated)


def test_each_row_as_a_group_is_the_same_as_no_groups():
    y, share, _ = data()
    alone = numbers(y, share, groups=np.arange(y.size))
    np.testing.assert_allclose(numbers(y, share), alone)


def test_a_repeated_question_in_one_group_counts_once():
    y, share, _ = data()
    groups = np.tile(np.arange(y.size), 3)
    found = calibration_error_interval(
        np.tile(y, 3), np.tile(share, 3), n_draws=6, groups=groups
    )
    once = calibration_error_interval(y, share, n_draws=6)
    assert found.n_groups == y.size
    assert found.high - found.low > 0.8 * (once.high - once.low)


def test_the_number_of_draws_may_differ_by_row():
    rng = np.random.default_rng(5)
    p = rng.beta(1, 1, 4000)
    k = rng.integers(2, 30, 4000)
    y, share = rng.random(4000) < p, rng.binomial(k, p) / k
    found = calibration_error_interval(y, share, n_draws=k)
    assert found.low == 0
    assert found.high < 0.05
    same = calibration_error(y[:500], np.rint(share[:500] * 8) / 8, n_draws=8)
    of_array = calibration_error(
        y[:500], np.rint(share[:500] * 8) / 8, n_draws=np.full(500, 8)
    )
    assert of_array == same


def test_shares_in_single_precision_are_accepted():
    y, share, _ = data()
    single = calibration_error(y, share.astype(np.float32), n_draws=6)
    assert single == calibration_error(y, share, n_draws=6)


def test_plug_in_is_the_error_of_the_share():
    y, share, _ = data()
    found = calibration_error_interval(y, share, n_draws=6)
    with warns_of(6):
        assert found.plug_in == calibration_error(y, share)


@pytest.mark.parametrize("function", [calibration_error, calibration_error_interval])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_draws": 1}, "integer of at least 2. Got 1.0 in row 0"),
        ({"n_draws": 2.5}, "integer of at least 2"),
        ({"n_draws": np.nan}, "integer of at least 2"),
        ({"n_draws": 5}, r"integer. Got 0.\d+ times 5 in row 0"),
        ({"n_draws": [6, 6]}, r"Got shape \(2,\)"),
        ({"n_draws": 6, "multi_class": "pooled"}, "multi_class"),
    ],
)
def test_bad_draws_raise_an_error(function, params, message):
    y, share, _ = data()
    share[0] = 1 / 6
    with pytest.raises(ValueError, match=message):
        function(y, share, **params)


@pytest.mark.parametrize(
    ("function", "params", "message"),
    [
        (calibration_error, {"norm": "l1"}, "'norm'.*must be 'l2'"),
        (calibration_error, {"debias": False}, "'debias'.*must be True"),
        (calibration_error_interval, {"method": "simulation"}, "'method'.*'score'"),
    ],
)
def test_other_estimates_raise_an_error(function, params, message):
    y, share, _ = data()
    with pytest.raises(ValueError, match=message):
        function(y, share, n_draws=6, **params)


def test_a_matrix_raises_an_error():
    y, share, _ = data()
    with pytest.raises(ValueError, match="n_draws"):
        calibration_error(y, np.c_[1 - share, share], n_draws=6)


def test_the_row_in_the_message_counts_rows_without_weight():
    y, share, _ = data()
    weight = np.ones(y.size)
    weight[:3], share[5] = 0, 0.3
    with pytest.raises(ValueError, match="0.3 times 6 in row 5"):
        calibration_error(y, share, n_draws=6, sample_weight=weight)


class Shares(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are the column of X."""

    def fit(self, X, y):
        self.classes_ = np.array([False, True])
        return self

    def predict_proba(self, X):
        return np.c_[1 - X[:, 0], X[:, 0]]


def test_the_scorer_and_the_display_have_the_error_of_the_function():
    y, share, _ = data()
    model = Shares().fit(share[:, np.newaxis], y)
    expected = calibration_error(y, share, n_draws=6)
    scorer = make_calibration_scorer(n_draws=6)
    assert scorer(model, share[:, np.newaxis], y) == -expected
    assert repr(scorer) == "make_calibration_scorer(n_draws=6)"
    display = ReliabilityDisplay.from_predictions(y, share, n_draws=6)
    assert display.error == calibration_error_interval(y, share, n_draws=6)
    with pytest.raises(ValueError, match="debias"):
        make_calibration_scorer(n_draws=6, debias=False)


def test_the_number_of_draws_of_the_answers_is_that_of_the_scorer():
    y, share, _ = data()

    def query(estimator, X, y):
        rows = np.arange(y.size)
        return Answers(y, share, rows, 0 * rows, 0 * rows, n_draws=6).take(rows)

    expected = calibration_error(y, share, n_draws=6)
    assert make_calibration_scorer(query)(None, share, y) == -expected
    with pytest.raises(ValueError, match="'norm'.*must be 'l2'"):
        make_calibration_scorer(query, norm="l1")(None, share, y)
    with pytest.raises(ValueError, match="'n_draws'.*at least 2"):
        Answers([1], [0.5], [0], [0], [0], n_draws=1)


def test_displays_of_estimators_have_the_error_of_the_function():
    y, share, _ = data()
    X = share[:, np.newaxis]
    model = Shares().fit(X, y)
    expected = calibration_error_interval(y, share, n_draws=6)

    def query(estimator, X, y):
        answers = ClassQuery()(estimator, X, y)
        answers.n_draws = 6
        return answers

    asked = {"query": query}
    assert ReliabilityDisplay.from_estimator(model, X, y, **asked).error == expected
    half = np.arange(y.size) % 2 == 0
    test = [np.flatnonzero(half), np.flatnonzero(~half)]
    found = {"estimator": [model] * 2, "indices": {"train": test[::-1], "test": test}}
    folds = ReliabilityDisplay.from_cv_results(found, X, y, **asked)
    assert folds.error.estimate == pytest.approx(expected.estimate, rel=1e-9)
    by = np.where(half, "a", "b")
    for panels in (
        ReliabilityDisplay.from_predictions(y, share, by=by, n_draws=6),
        ReliabilityDisplay.from_estimator(model, X, y, by=by, **asked),
        ReliabilityDisplay.from_cv_results(found, X, y, by=by, **asked),
    ):
        for name, rows in zip("ab", test, strict=True):
            part = calibration_error_interval(y[rows], share[rows], n_draws=6)
            error = panels.error[panels.name.index(name)]
            assert error.estimate == pytest.approx(part.estimate, rel=1e-9, abs=1e-12)
            assert error.high == pytest.approx(part.high, rel=1e-9)
    with pytest.raises(ValueError, match=r"Got 0.\d+ times 5\.$"):
        ReliabilityDisplay.from_predictions(y, share, by=by, n_draws=5)


@pytest.mark.parametrize(
    "function",
    [
        make_calibration_scorer,
        partial(ReliabilityDisplay.from_predictions, [0, 1], [[0.5, 0.5], [0, 1]]),
    ],
)
def test_the_most_frequent_class_is_chosen_from_the_draws(function):
    with pytest.raises(ValueError, match="'top_label': the class is chosen from"):
        function(multi_class="top_label", n_draws=2)


@pytest.mark.parametrize("k", [3, 6, 8, 15, 64, 300])
def test_shares_of_samples_are_recognised(k):
    rng = np.random.default_rng(0)
    p = rng.beta(0.8, 0.8, 300)
    y, share = rng.random(300) < p, rng.binomial(k, p) / k
    for q in (share, share.astype(np.float32)):
        with warns_of(k):
            calibration_error(y, q)
    with warns_of(k):
        ReliabilityDisplay.from_predictions(y, share)


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 10, 20, 40, 100, 200, 1000, 10_000])
def test_rounded_probabilities_are_not_shares(steps):
    rng = np.random.default_rng(0)
    p = rng.beta(0.8, 0.8, 300)
    q = np.rint(p * steps) / steps
    for each in (q, q.astype(np.float32)):
        calibration_error(rng.random(300) < p, each, hard_labels=steps == 1)


def test_probabilities_of_answers_carry_the_number_of_their_samples():
    y, share, _ = data()
    rows = np.arange(y.size)
    answers = Answers(y, share, rows, 0 * rows, 0 * rows, n_draws=6)
    q = pickle.loads(pickle.dumps(answers)).y_proba
    expected = calibration_error_interval(y, share, n_draws=6)
    assert calibration_error_interval(y, q) == expected
    assert calibration_error(y, q, squared=True) == calibration_error(
        y, share, n_draws=6, squared=True
    )
    assert ReliabilityDisplay.from_predictions(y, q).error == expected
    half = rows % 2 == 0
    assert calibration_error_interval(y[half], q[half]) == calibration_error_interval(
        y[half], share[half], n_draws=6
    )
    found = compare_calibration(y, q, np.full(y.size, 0.5), random_state=0)
    assert found.error_a == expected.estimate
    # Errors of the share, as published, and results of arithmetic.
    for params in ({"debias": False}, {"norm": "l1"}):
        with warns_of(6):
            plain = calibration_error(y, share, **params)
        assert calibration_error(y, q, **params) == plain
    assert repr(1 - q) == repr(1 - share)
    with warns_of(6):
        calibration_error(y, np.clip(q, 0, 1))


def test_the_expected_number_of_positives_is_the_sum_of_the_shares():
    """3 questions with a share of .2, and 97 without an agreeing draw."""
    share = np.repeat([0.2, 0], [3, 97])
    result = calibration_error_interval(np.arange(100) < 1, share, n_draws=5)
    assert (result.expected, result.found) == (pytest.approx(0.6), pytest.approx(1))
    assert ", expected=0.6, found=1, " in repr(result)
