"""Thresholds with a wanted precision, against populations whose precision is known."""

import re

import numpy as np
import pytest
from scipy.stats import beta

from skcalib.rates import threshold_for_precision


def draw(rng, n, shift=0.0):
    """Draw probabilities that are too high by a shift of the log odds."""
    q = rng.beta(2, 1, n)
    odds = np.log(q / (1 - q)) - shift
    return rng.random(n) < 1 / (1 + np.exp(-odds)), q


def true_precision(threshold, shift=0.0):
    """Return the precision above a threshold in the population of `draw`."""
    q = np.linspace(np.clip(threshold, 1e-9, 1 - 1e-6), 1 - 1e-9, 20_001)
    density = beta.pdf(q, 2, 1)
    odds = np.log(q / (1 - q)) - shift
    return float((density / (1 + np.exp(-odds))).sum() / density.sum())


@pytest.mark.parametrize("shift", [pytest.param(0.0, marks=pytest.mark.slow), 0.7])
def test_the_precision_in_new_data_is_reached_as_often_as_stated(shift):
    rng = np.random.default_rng(0)
    reached = []
    for _ in range(300):
        y, q = draw(rng, 800, shift)
        found = threshold_for_precision(
            y, q, precision=0.8, confidence_level=0.9
        ).threshold
        reached.append(true_precision(found, shift) >= 0.8)
    assert np.mean(reached) >= 0.9


@pytest.mark.slow
def test_dependent_answers_of_a_group_are_taken_into_account():
    rng = np.random.default_rng(1)
    found = {False: [], True: []}
    for _ in range(150):
        y, q = draw(rng, 100)
        y, q = np.repeat(y, 8), np.repeat(q, 8)
        groups = np.repeat(np.arange(100), 8)
        for use in found:
            try:
                threshold = threshold_for_precision(
                    y,
                    q,
                    precision=0.75,
                    confidence_level=0.9,
                    groups=groups if use else None,
                ).threshold
            except ValueError:
                threshold = 1.0
            found[use].append(true_precision(threshold) >= 0.75)
    assert np.mean(found[True]) >= 0.88
    assert np.mean(found[False]) < 0.85


@pytest.mark.slow
def test_more_labels_find_a_lower_threshold():
    rng = np.random.default_rng(2)
    found = [
        threshold_for_precision(*draw(rng, n), precision=0.85).threshold
        for n in (500, 5000, 50_000)
    ]
    best = next(t for t in np.arange(0.001, 1, 0.001) if true_precision(t) >= 0.85)
    assert found == sorted(found, reverse=True)
    assert best < found[-1] < best + 0.03


def test_the_numbers_belong_to_the_threshold():
    rng = np.random.default_rng(3)
    y, q = draw(rng, 3000)
    q = q.round(2)  # ties stay together
    found = threshold_for_precision(y, q, precision=0.8)
    selected = q >= found.threshold
    assert found.n_selected == selected.sum()
    assert found.estimate == y[selected].mean()
    assert found.share_selected == selected.mean()
    n, k = int(selected.sum()), int(y[selected].sum())
    assert found.low == pytest.approx(beta.ppf(0.05 / 4, k, n - k + 1))
    assert found.high == pytest.approx(beta.ppf(1 - 0.05 / 4, k + 1, n - k))
    assert found.low >= 0.8


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(4)
    y, q = draw(rng, 2000)
    q = q.round(2)
    order = rng.permutation(2000)
    first = threshold_for_precision(y, q, precision=0.8)
    assert threshold_for_precision(y[order], q[order], precision=0.8) == first


def test_wrong_answers_at_the_top_do_not_end_the_search():
    y = np.r_[np.zeros(10), np.ones(2000), np.zeros(500)]
    q = np.linspace(1, 0.5, y.size)
    found = threshold_for_precision(y, q, precision=0.9)
    assert 1500 < found.n_selected < 2250


def test_all_answers_may_be_selected():
    found = threshold_for_precision(np.ones(200), np.linspace(1, 0, 200), precision=0.9)
    assert (found.threshold, found.n_selected, found.high) == (0.0, 200, 1.0)


@pytest.mark.parametrize(
    ("y", "q", "message"),
    [
        ([1] * 10, np.linspace(0.9, 1, 10), "at least 33 answers, .* there are 10"),
        ([0, 1] * 200, np.linspace(0, 1, 400), "The highest is 0.[0-9]+, at the thr"),
        ([1, 0], [0.5], "same length"),
        ([1, 0], [0.5, 1.5], "'y_proba' .* 1.5"),
        ([1, 0], [[0.5, 0.5], [0.1, 0.9]], r"one probability .* shape \(2, 2\)"),
        (["a", "b"], [0.5, 0.6], "'y_true' "),
    ],
)
def test_errors_say_what_is_needed(y, q, message):
    with pytest.raises(ValueError, match=message):
        threshold_for_precision(y, q, precision=0.9)


def test_no_message_contradicts_itself():
    raised = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        q = rng.random(3000)
        y = rng.random(3000) < q
        try:
            found = threshold_for_precision(y, q, precision=0.95)
        except ValueError as error:
            raised += 1
            message = str(error)
            stated = re.search(
                r"highest is (\S+), at the threshold (\S+) with (\d+) of 3000", message
            )
            assert stated, message
            bound, threshold, n = (float(each) for each in stated.groups())
            assert bound < 0.95, message
            # the stated threshold selects n answers and has the stated bound
            assert np.sort(q)[-int(n)] == pytest.approx(threshold, abs=1e-4)
            k = y[np.argsort(-q)[: int(n)]].sum()
            assert beta.ppf(0.05 / 4, k, n - k + 1) == pytest.approx(bound, abs=1e-3)
        else:
            assert found.low >= 0.95
    assert 40 < raised < 60


def capital(k, n, p):
    """Return the capital after k of n right answers, by numerical integration."""
    # of (1 - x) ** -0.75; the substitution t = (1 - x) ** 0.25 removes the pole
    t = (np.arange(200_000) + 0.5) / 200_000 * (1 - p) ** 0.25
    x = 1 - t**4
    return float(
        np.mean(
            np.exp(k * np.log(x / p) + (n - k) * 4 * np.log(t)) * (1 - p) ** (k - n)
        )
    )


def test_the_bounds_of_few_answers_are_where_the_capital_has_grown():
    rng = np.random.default_rng(5)
    y, q = draw(rng, 150)
    q = q.round(2)
    found = threshold_for_precision(y, q, precision=0.7)
    selected = q >= found.threshold
    n, k = int(selected.sum()), int(y[selected].sum())
    assert found.n_selected == n
    assert capital(k, n, 0.7) > 20
    assert capital(k, n, found.low) == pytest.approx(20, rel=1e-4)
    assert capital(n - k, n, 1 - found.high) == pytest.approx(20, rel=1e-4)
    # no lower threshold has this capital
    for lower in np.unique(q[~selected]):
        assert capital(y[q >= lower].sum(), (q >= lower).sum(), 0.7) < 20


def test_the_fewest_answers_that_suffice_are_those_of_the_message():
    with pytest.raises(ValueError, match="at least 33 answers"):
        threshold_for_precision(np.ones(32), np.linspace(0, 1, 32), precision=0.9)
    found = threshold_for_precision(np.ones(33), np.linspace(0, 1, 33), precision=0.9)
    assert found.n_selected == 33
    assert capital(33, 33, 0.9) > 20 > capital(32, 32, 0.9)


def test_few_answers_reach_the_precision_as_often_as_stated():
    rng = np.random.default_rng(6)
    missed, n_found = 0, 0
    for _ in range(400):
        y, q = draw(rng, 100)
        try:
            found = threshold_for_precision(y, q, precision=0.8, confidence_level=0.9)
        except ValueError:
            continue
        n_found += 1
        missed += true_precision(found.threshold) < 0.8
    assert n_found > 150
    assert missed / 400 <= 0.1


def test_many_equal_probabilities_are_where_the_tests_begin():
    # 900 tied answers of 1800, which are right more often than the others
    y = np.r_[np.arange(900) % 20 > 0, np.arange(900) % 2 > 0]
    q = np.r_[np.ones(900), np.linspace(0.9, 0.5, 900)]
    found = threshold_for_precision(y, q, precision=0.9)
    assert 900 <= found.n_selected < 1100
