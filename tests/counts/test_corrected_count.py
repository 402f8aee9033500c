"""Corrected counts against enumeration, survey formulas and worked tables."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import t as student

from skcalib.counts import corrected_count
from skcalib.counts._estimates import Sample, unseen_sizes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

Y = np.array([0.0, 3, 1, 0, 2, 5, 1, 4])
F = np.array([0.5, 2.5, 1.5, 0.25, 1, 3.5, 2, 2])


def labels(y, rows):
    found = np.full(len(y), np.nan)
    found[list(rows)] = np.asarray(y, dtype=float)[list(rows)]
    return found


def variance_of_mean(values, n):
    """(1 - n / N) S^2 / n of a simple random sample, in rational numbers."""
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    square = sum((v - mean) ** 2 for v in exact) / (len(exact) - 1)
    return (1 - Fraction(n, len(exact))) * square / n


# All samples of small populations


@pytest.mark.parametrize("slope", [0, 1, 0.75])
def test_all_simple_random_samples(slope):
    found = [
        corrected_count(labels(Y, rows), F, slope=slope)
        for rows in combinations(range(8), 5)
    ]
    assert np.mean([each.estimate for each in found]) == pytest.approx(16, abs=1e-10)
    expected = 64 * variance_of_mean(Y - slope * F, 5)
    variance = np.mean([each.standard_error**2 for each in found])
    assert variance == pytest.approx(float(expected), abs=1e-10)
    assert np.var([each.estimate for each in found]) == pytest.approx(float(expected))


@pytest.mark.parametrize("slope", [0, 1])
def test_all_stratified_samples(slope):
    strata = np.repeat(["a", "b"], [3, 5])
    samples = product(combinations(range(3), 2), combinations(range(3, 8), 3))
    found = [
        corrected_count(labels(Y, a + b), F, strata=strata, slope=slope)
        for a, b in samples
    ]
    e = Y - slope * F
    expected = 9 * variance_of_mean(e[:3], 2) + 25 * variance_of_mean(e[3:], 3)
    estimates = [each.estimate for each in found]
    assert np.mean(estimates) == pytest.approx(16, abs=1e-10)
    assert np.var(estimates) == pytest.approx(float(expected), abs=1e-10)
    variance = np.mean([each.standard_error**2 for each in found])
    assert variance == pytest.approx(float(expected), abs=1e-10)


def test_all_samples_of_clusters():
    groups = np.repeat(["u", "v", "w", "x"], 2)
    found = [
        corrected_count(
            labels(Y, np.flatnonzero(np.isin(groups, chosen))),
            F,
            groups=groups,
            slope=1,
        )
        for chosen in combinations("uvwx", 3)
    ]
    sums = (Y - F).reshape(4, 2).sum(axis=1)
    expected = float(16 * variance_of_mean(sums, 3))
    estimates = [each.estimate for each in found]
    assert np.mean(estimates) == pytest.approx(16, abs=1e-10)
    assert np.var(estimates) == pytest.approx(expected, abs=1e-10)
    variance = np.mean([each.standard_error**2 for each in found])
    assert variance == pytest.approx(expected, abs=1e-10)
    assert {each.n_groups for each in found} == {3}


def test_contrasts_are_linear():
    everywhere = (-np.inf, np.inf)
    y = labels(Y, [0, 1, 3, 4, 6])

    def estimate(weight):
        return corrected_count(y, F, weight=weight, bounds=everywhere).estimate

    first = np.repeat([1.0, 0], 4)
    difference = estimate(first) - 2 * estimate(1 - first)
    assert estimate(3 * first - 2) == pytest.approx(difference, abs=1e-10)


# Formulas


def test_difference_estimator_by_hand():
    # e = -1/2, 1/2, -1/2, 1, 3/2: mean 2/5, sum of squares of deviations 16/5.
    rows = [0, 1, 2, 4, 5]
    result = corrected_count(labels(Y, rows), F, slope=1, method="t")
    assert result.estimate == pytest.approx(13.25 + 8 * 0.4, abs=1e-10)
    variance = 64 * (1 - 5 / 8) * (3.2 / 4) / 5
    assert result.standard_error == pytest.approx(np.sqrt(variance), abs=1e-10)
    length = student.ppf(0.975, 4) * np.sqrt(variance)
    assert result.high == pytest.approx(16.45 + length, abs=1e-10)
    assert result.low == pytest.approx(16.45 - length, abs=1e-10)
    assert result.uncorrected == 13.25
    assert result.labels_only.estimate == pytest.approx(8 * 11 / 5, abs=1e-10)


@pytest.mark.parametrize(
    ("lam", "published"),
    [(0, 1.75), (0.4, 1.8166666666666667), (1, 1.9166666666666667)],
)
def test_equal_to_ppi_python(lam, published):
    # ppi_mean_pointestimate(y, f, rest, lam=lam) of ppi-python 0.2.3
    y = [2.0, 0, 1, 3, 5, 0, 1, 2] + [np.nan] * 12
    f = [1.5, 0.5, 1.25, 2, 4, 0.75, 0.5, 1]
    rest = [0.5, 1, 2.5, 3, 0.25, 1.75, 2, 0.5, 0.75, 1.5, 4.5, 1]
    result = corrected_count(y, f + rest, slope=lam * 20 / 12, estimand="mean")
    assert result.estimate == pytest.approx(published, abs=1e-10)
    if lam == 0:
        # Its normal interval divides by n instead of n - 1, for an infinite population.
        error = (2.8318708261295527 - 0.6681291738704471) / 2 / ndtri(0.975)
        finite = np.sqrt(8 / 7 * (1 - 8 / 20))
        assert result.standard_error == pytest.approx(error * finite, abs=1e-10)


def test_best_slope_is_least_squares():
    rng = np.random.default_rng(1)
    f = rng.uniform(0, 40, 40)
    y = rng.poisson(f) * 1.0
    rows = np.arange(15)
    slope = np.polyfit(f[rows], y[rows], 1)[0]
    result = corrected_count(labels(y, rows), f, slope="best")
    assert result.slope == pytest.approx(slope, abs=1e-10)
    regression = 40 * y[rows].mean() + slope * (f.sum() - 40 * f[rows].mean())
    assert result.estimate == pytest.approx(regression, abs=1e-10)
    shrunk = corrected_count(labels(y, rows), f).slope
    assert min(slope, 1) < shrunk < max(slope, 1)


def test_unequal_probabilities_by_hand():
    pi = np.array([0.5, 1, 0.5, 0.75, 0.75, 1, 0.25, 0.25])
    rows = [0, 1, 3, 4, 5]
    d = 1 / pi[rows]
    e = (Y - F)[rows]
    result = corrected_count(
        labels(Y, rows), F, inclusion_probability=pi, slope=1, method="t"
    )
    mean = (d @ e) / d.sum()
    assert result.estimate == pytest.approx(F.sum() + 8 * mean, abs=1e-10)
    # Documents drawn with certainty have no part in the variance.
    u, keep = (8 / d.sum()) * d * (e - mean), 1 - pi[rows]
    centre = (keep @ u) / keep.sum()
    variance = 3 / 2 * (keep @ (u - centre) ** 2)
    assert result.standard_error == pytest.approx(np.sqrt(variance), abs=1e-10)


def test_a_stratum_with_one_document_that_was_not_certain_keeps_the_variance_finite():
    # In the first stratum one label was certain and one was not.
    y = np.array([2, 0, np.nan, np.nan, 3, 1, 4, np.nan, np.nan])
    pi = np.repeat([1, 0.5, 0.6], [1, 3, 5])
    result = corrected_count(
        y,
        np.repeat([1.0, 2.0], [4, 5]),
        strata=np.repeat(["a", "b"], [4, 5]),
        inclusion_probability=pi,
        slope=1,
    )
    # Its own variance is unknown. That of the second stratum, whose errors are 1, -1
    # and 2, is the least: the weights 1 / pi of all labels sum to 8 and not to 9.
    e, d = np.array([1, -1, 2]), 9 / 8 / 0.6
    variance = 3 / 2 * 0.4 * d**2 * ((e - e.mean()) ** 2).sum()
    assert np.sqrt(variance) - 1e-10 <= result.standard_error < np.inf


def test_size_gives_the_ratio_estimator():
    size = np.array([2.0, 5, 3, 1, 4, 6, 2, 4])
    rows = [1, 2, 3, 5, 7]
    result = corrected_count(labels(Y, rows), F, size=size, slope=0)
    ratio = Y[rows].sum() / size[rows].sum()
    assert result.estimate == pytest.approx(27 * ratio, abs=1e-10)
    e = Y[rows] - ratio * size[rows]
    variance = (1 - 5 / 8) * 5 / 4 * (27 / size[rows].sum()) ** 2 * (e @ e)
    assert result.standard_error == pytest.approx(np.sqrt(variance), abs=1e-10)


@pytest.mark.parametrize(("large", "ratio"), [(1, 1.0), (4, 1.7)])
def test_samples_without_large_documents_have_wider_intervals(large, ratio):
    # The mean of f^1.5 is 1 in the sample, and in the corpus 0.9 + 0.1 * large^1.5.
    f = np.r_[np.ones(90), np.full(10, large)]
    y_true = labels(np.tile([0.0, 2.0], 50), np.arange(20))
    result = corrected_count(y_true, f, slope=1)
    # Contributions are -+ sqrt(1 - 0.2) / 0.2 * 20 / 19, one unseen error 4.47.
    variance, error = ratio * 20 * 20 * (20 / 19) ** 2, np.sqrt(20)
    # Ten fitted counts exceed those of all labels. Their standard deviation is half of
    # the excess.
    variance += (10 * (large - 1) / 2) ** 2
    q, x = student.ppf(0.975, 19), result.high - result.estimate
    k = (error**3 / 2) / (variance + error**2 / 2)
    # The documents with events have a mean count of 2. One that the model misses, with
    # the probability exp(-f), has the weight 1/8.
    missed, chance = 2 * error, 0.9 * np.exp(-1) + 0.1 * np.exp(-large)
    k = max(k, (chance * missed**3 / 8) / (variance + chance * missed**2 / 8))
    assert x**2 == pytest.approx(q**2 * (variance + k * x))


def test_a_negative_slope_of_counts_is_not_used():
    y = np.array([9.0, 7, 6, 4, 3, 1, np.nan, np.nan])
    result = corrected_count(y, np.arange(8.0))
    assert result.slope == 0
    assert result.labels_only == (result.estimate, result.low, result.high)
    assert corrected_count(y, np.arange(8.0), slope="best").slope < -1.5
    # Counts with an upper bound keep the slope of the prior and the labels.
    assert corrected_count(y, np.arange(8.0), bounds=(0, 9)).slope < 0


@pytest.mark.parametrize(("largest", "is_used"), [(9, True), (40, False)])
def test_a_label_above_every_fitted_count_excludes_a_saturated_model(largest, is_used):
    # The model stops at 10, and its fitted counts at about 10 times the slope.
    f = np.r_[np.arange(11.0), np.full(9, 10)]
    y = np.r_[np.arange(10.0), largest, np.full(9, np.nan)]
    assert (corrected_count(y, f).slope != 0) == is_used


def test_many_labels_above_every_fitted_count_are_part_of_the_variance():
    # Half of the labels are twice the fitted counts, and the other half are 0.
    f = np.r_[np.arange(10.0), np.full(90, 10)]
    y = np.r_[np.arange(10.0), np.tile([0.0, 20], 20), np.full(50, np.nan)]
    assert corrected_count(y, f).slope != 0


@pytest.mark.parametrize("periods", [None, np.arange(400) % 2])
def test_documents_beyond_all_labels_may_have_no_events(periods):
    # The model is right about the eight labels and all documents but 20, to which it
    # gives 20 events.
    truth = np.where(np.arange(400) % 4 < 2, 0.0, 1)
    f = np.where(np.arange(400) < 380, truth, 20)
    result = corrected_count(labels(truth, range(8)), f, periods=periods)
    assert result.low < 200 < result.estimate - 300
    if periods is not None:
        assert (result.table["low"] < 100).all()


@pytest.mark.parametrize("n_others", [0, 30])
def test_a_model_that_agrees_with_few_events_may_miss_others(n_others):
    # Two of 20 labelled documents have 10 and 14 events, as the model says.
    y, f = np.zeros(100), np.full(100, 0.001)
    y[[0, 1]] = f[[0, 1]] = 10, 14
    f[20 : 20 + n_others] = 10
    result = corrected_count(labels(y, range(20)), f)
    # The variance is nearly 0: 3.84 documents with 12 events in the limit of normal
    # errors, each with the standard deviation of one weight, sqrt(1 - 0.2) / 0.2. The
    # model finds at least a third of the events.
    q = student.ppf(0.975, 18)
    most = 2 * (24 + 10 * n_others)
    expected = min(q**2 * 12 * np.sqrt(0.8) / 0.2, most)
    assert result.high - result.estimate == pytest.approx(expected, rel=0.02)


def test_sizes_replace_fitted_counts_in_the_variance_ratio():
    # The variances are 1 in the sample and 8^(4/3) = 16 in the rest of the corpus.
    size = np.repeat([1.0, 8.0], 10)
    sample = replace(sample_of(np.ones(20), 10, np.full(20, 0.5)), size=size)
    assert unseen_sizes(sample, np.ones(20), np.ones(20))[0] == pytest.approx(8.5)


def test_no_error_seen_is_the_rule_of_three():
    # The arm x solves x^2 = q^2 (u x - x^2 / n) with u the weight of one document.
    result = corrected_count(labels(np.zeros(1000), range(60)), np.zeros(1000))
    u = np.sqrt(1 - 0.06) / 0.06
    q = student.ppf(0.975, 59)
    assert result.estimate == result.low == 0
    assert result.high == pytest.approx(q**2 * u / (1 + q**2 / 60), abs=1e-10)


def test_score_interval_of_labels_is_close_to_wilson():
    y = np.zeros(100_000)
    y[:60] = 1
    result = corrected_count(labels(y, range(200)), np.zeros(100_000), estimand="mean")
    q, p, n = 1.96, 0.3, 200
    middle = (p + q * q / (2 * n)) / (1 + q * q / n)
    half = q * np.sqrt(p * (1 - p) / n + (q / (2 * n)) ** 2) / (1 + q * q / n)
    assert result.low == pytest.approx(middle - half, abs=0.002)
    assert result.high == pytest.approx(middle + half, abs=0.002)


def test_all_documents_labelled():
    result = corrected_count(Y, F)
    assert (result.estimate, result.low, result.high) == pytest.approx((16, 16, 16))
    assert result.standard_error == 0
    assert result.equivalent_labels == 8


def test_mean_is_the_count_divided():
    y = labels(Y > 1, [0, 1, 2, 4, 5, 6])
    count = corrected_count(y, F / 4)
    mean = corrected_count(y, F / 4, estimand="mean")
    for name in ("estimate", "low", "high", "standard_error", "uncorrected"):
        assert getattr(mean, name) == pytest.approx(getattr(count, name) / 8)
    assert mean.equivalent_labels == pytest.approx(count.equivalent_labels)


def test_useless_slope_is_worth_the_labels():
    result = corrected_count(labels(Y, range(6)), F, slope=0)
    assert result.equivalent_labels == pytest.approx(6)
    assert result.labels_only == pytest.approx(
        (result.estimate, result.low, result.high)
    )


def test_good_model_is_worth_more_labels():
    rng = np.random.default_rng(3)
    y = rng.poisson(20, 400) * 1.0
    f = y + rng.normal(0, 1, 400)
    result = corrected_count(labels(y, range(40)), f, bounds=(0, 100))
    # 1 / n - 1 / N falls by the ratio of variances, about 20.
    assert 150 < result.equivalent_labels < 350


def test_interval_does_not_contradict_the_labels():
    y = labels([1.0] * 10, range(7))
    result = corrected_count(y, np.full(10, 0.1))
    assert result.low >= 7
    assert result.high <= 10


def test_order_of_documents_does_not_matter():
    rng = np.random.default_rng(5)
    order = rng.permutation(8)
    y, pi = labels(Y, [0, 2, 3, 5, 6, 7]), np.linspace(0.4, 0.9, 8)
    first = corrected_count(y, F, inclusion_probability=pi)
    second = corrected_count(y[order], F[order], inclusion_probability=pi[order])
    assert (first.low, first.high) == pytest.approx((second.low, second.high))


# Periods and other domains


def periods_by_hand():
    period = np.repeat([1990, 1991], 4)
    y = labels(Y, [0, 1, 2, 4, 5, 6])
    return y, period


def test_periods_by_hand():
    y, period = periods_by_hand()
    result = corrected_count(y, F, periods=period, slope=1, method="t")
    # 1990: e = -1/2, 1/2, -1/2; 1991: 1, 3/2, -1.
    means = [-1 / 6, 1 / 2]
    squares = (1 / 9 + 4 / 9 + 1 / 9) + (1 / 4 + 1 + 9 / 4)
    error = np.sqrt(16 * (1 / 4) * (squares / 4) / 3)
    # The labels of 1991 have a variance of 7/4, more than the pooled 25/24, which has
    # the weight of eight labels against their three.
    errors = np.array([error, error * np.sqrt((8 + 3 * (7 / 4) / (25 / 24)) / 11)])
    table = result.table
    expected = [4.75 + 4 * means[0], 8.5 + 4 * means[1]]
    assert table["period"].tolist() == [1990, 1991]
    assert table["estimate"] == pytest.approx(expected, abs=1e-10)
    assert table["standard_error"] == pytest.approx(errors, abs=1e-10)
    assert table["uncorrected"] == pytest.approx([4.75, 8.5])
    assert table["n_labelled"].tolist() == [3, 3]
    # 1990 is at its lower bound, the 4 that its labels have found.
    lengths = student.ppf(0.975, 4) * errors
    assert table["low"] == pytest.approx([4, max(10.5 - lengths[1], 8)])
    assert table["high"] == pytest.approx(expected + lengths, abs=1e-10)


def test_periods_add_up_when_they_are_strata():
    y, period = periods_by_hand()
    result = corrected_count(y, F, periods=period, strata=period, slope=1)
    assert result.table["estimate"].sum() == pytest.approx(result.estimate, abs=1e-10)


def test_rows_for_periods_and_other_labels():
    rng = np.random.default_rng(6)
    y, f = rng.poisson(2, 60) * 1.0, rng.uniform(0, 4, 60)
    period, region = np.arange(60) % 3, np.where(np.arange(60) < 30, "n", "s")
    table = corrected_count(y, f, periods=period, by=region).table
    assert table["period"].tolist() == [0, 0, 1, 1, 2, 2]
    assert table["by"].tolist() == ["n", "s"] * 3
    truth = [y[(period == p) & (region == r)].sum() for p in range(3) for r in "ns"]
    assert table["estimate"] == pytest.approx(truth)
    assert table["low"] == pytest.approx(truth)


def test_period_without_labels():
    y, period = periods_by_hand()
    period = np.where(np.arange(8) == 3, 1989, period)
    table = corrected_count(y, F, periods=period, slope=1).table
    assert np.isnan(table["low"]).tolist() == [True, False, False]
    # Its model count, corrected by the mean error of all labels, 1/6.
    assert table["estimate"][0] == pytest.approx(0.25 + 1 / 6, abs=1e-10)


@pytest.mark.parametrize("given", ["groups", "size"])
def test_domains_of_groups_or_sizes_add_up(given):
    y, period = periods_by_hand()
    y = labels(Y, [0, 1, 2, 3, 4, 5])
    values = np.repeat(list("abcd"), 2) if given == "groups" else np.arange(1.0, 9)
    period = period[[0, 4, 1, 5, 2, 6, 3, 7]]
    result = corrected_count(y, F, periods=period, slope=0.5, **{given: values})
    assert result.table["estimate"].sum() == pytest.approx(result.estimate, abs=1e-10)


def sampled_corpus(n_labelled=40):
    rng = np.random.default_rng(0)
    f = rng.random(200)
    y = (rng.random(200) < f).astype(float)
    return labels(y, rng.choice(200, n_labelled, replace=False)), f


@pytest.mark.parametrize("method", ["score", "t"])
def test_groups_of_one_document_change_nothing(method):
    y, f = sampled_corpus()
    period = np.arange(200) % 4
    options = {"periods": period, "method": method}
    alone = corrected_count(y, f, **options)
    grouped = corrected_count(y, f, groups=np.arange(200), **options)
    assert grouped.n_groups == 40
    for name in ("estimate", "low", "high", "standard_error", "labels_only"):
        assert getattr(grouped, name) == getattr(alone, name)
        if name != "labels_only":
            assert grouped.table[name].tolist() == alone.table[name].tolist()


@pytest.mark.parametrize("method", ["score", "t"])
def test_copies_of_documents_as_groups_have_a_wider_interval(method):
    y, f = (np.repeat(each, 3) for each in sampled_corpus())
    options = {"method": method, "slope": 1.0}
    alone = corrected_count(y, f, **options)
    grouped = corrected_count(y, f, groups=np.repeat(np.arange(200), 3), **options)
    assert grouped.low < alone.low < alone.high < grouped.high
    # Three copies of each document: three times the total and its standard error.
    single = corrected_count(*sampled_corpus(), **options)
    assert grouped.standard_error == pytest.approx(3 * single.standard_error)
    width, of_single = grouped.high - grouped.low, single.high - single.low
    if method == "t":
        assert width == pytest.approx(3 * of_single)
    else:
        # Single documents have a binomial variance, which is smaller by the factor
        # 1 + t^2 / 40 at the ends of the interval. Groups do not have it.
        tight = 1 + student.ppf(0.975, 39) ** 2 / 40
        assert width == pytest.approx(3 * of_single * np.sqrt(tight), rel=0.01)


def test_a_tuned_slope_costs_a_degree_of_freedom():
    y, f = sampled_corpus(12)
    for slope, freedom in (("best", 10), ("shrunk", 10), (0.8, 11)):
        half = {
            level: corrected_count(
                y,
                f,
                slope=slope,
                method="t",
                bounds=(-np.inf, np.inf),
                confidence_level=level,
            )
            for level in (0.5, 0.95)
        }
        widths = [each.high - each.low for each in half.values()]
        expected = student.ppf(0.975, freedom) / student.ppf(0.75, freedom)
        assert widths[1] / widths[0] == pytest.approx(expected)


def sample_of(expected, n, probability):
    """Return a sample of the first n documents."""
    return Sample(
        rows=np.arange(n),
        y=expected[:n],
        expected=expected,
        size=np.ones(expected.size),
        probability=probability,
        strata=np.zeros(expected.size, dtype=int),
        groups=None,
        low=np.zeros(expected.size),
        high=np.full(expected.size, np.inf),
        unit=1.0,
        slope=1.0,
    )


def unseen(expected, n, probability):
    """Return ratio and largest share for labels of the first n documents."""
    expected = np.array(expected, dtype=float)
    sample = sample_of(expected, n, probability)
    return unseen_sizes(sample, expected, np.ones(expected.size))


def test_a_sample_of_large_counts_does_not_shorten_the_interval():
    """The variance ratio of corpus and sample is at least 1.

    Errors grow with the count to the power 1.5: the sample has counts of 4 and a
    variance of 8, or counts of 1 and a variance of 1.
    """

    def ratio(drawn, rest):
        return unseen(np.repeat([drawn, rest], 10), 10, np.full(20, 0.5))[0]

    assert ratio(1, 4) == pytest.approx((1 + 8) / 2)
    assert ratio(4, 1) == 1


def test_a_certain_document_has_no_share_in_the_variance_of_the_design():
    """Documents have the variances 1, 1, 1 and 8 and the weights (1 - pi) / pi."""
    found = unseen([1, 1, 1, 4], 2, np.array([1, 0.5, 0.5, 0.2]))
    assert found[1] == pytest.approx(8 * 4 / (0 + 1 + 1 + 8 * 4))


def test_labels_of_documents_without_an_expected_count_show_no_events_of_others():
    # No labelled document has an expected count or a count. The other documents have
    # the fitted counts 2 and half of them as standard deviation.
    expected = np.repeat([0.0, 2.0], [30, 10])
    result = corrected_count(labels(np.zeros(40), range(20)), expected, slope=1)
    variance, q = (10 * 2 / 2) ** 2, student.ppf(0.975, 19)
    # One document that was missed would have 2 events.
    w, chance = 2 * np.sqrt(1 - 0.5) / 0.5, (3 + np.exp(-2)) / 4
    k = (chance * w**3 / 8) / (variance + chance * w**2 / 8)
    x = result.high - result.estimate
    assert result.estimate == 20
    assert x**2 == pytest.approx(q**2 * (variance + k * x))


# Periods 0, 1 and 5 with the counts 6, 4 and 5, by different labels.
GAPS = {
    "integers": [2000, 2001, 2005],
    "whole floats": [2000.0, 2001.0, 2005.0],
    "years": ["2000", "2001", "2005"],
    "quarters": ["1999Q4", "2000Q1", "2001Q1"],
    "months": ["1999-11", "1999-12", "2000-04"],
    "weeks": ["2020-W52", "2020-W53", "2021-W04"],
    "days": ["1999-12-31", "2000-01-01", "2000-01-05"],
    "dates": [date(1999, 12, 31), date(2000, 1, 1), date(2000, 1, 5)],
    "first days of months": [date(1999, 11, 1), date(1999, 12, 1), date(2000, 4, 1)],
    "last days of months": [date(1999, 11, 30), date(1999, 12, 31), date(2000, 4, 30)],
    "first days of years": np.array(["2000", "2001", "2005"], "M8[Y]").astype("M8[ns]"),
    "days of one weekday": [date(2020, 12, 23), date(2020, 12, 30), date(2021, 1, 27)],
    "pandas": pd.PeriodIndex(["2000Q4", "2001Q1", "2002Q1"], freq="Q"),
}


@pytest.fixture
def trend():
    """Return the trend of eight labelled documents with sums of 6, 4 and 5."""
    y = np.array([2, 4, 3, 1, 0, 1, 2, 2])

    def trend(labels, **options):
        periods = np.repeat(np.asarray(labels), [2, 3, 3])
        return corrected_count(y, F, periods=periods, estimand="trend", **options)

    return trend


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", GAPS)
def test_a_period_without_documents_counts_0_in_the_trend(trend, kind):
    # Times 0 to 5: deviations -5/2, -3/2, ..., 5/2, sum of squares 35/2.
    with pytest.warns(UserWarning, match="^3 periods without documents count as 0"):
        found = trend(GAPS[kind])
    assert found.estimate == pytest.approx((-15 - 6 + 12.5) / 17.5)
    # Times 0, 1, 5: deviations -2, -1, 3, sum of squares 14. No warning.
    found = trend(GAPS[kind], empty_periods="unobserved")
    assert found.estimate == pytest.approx((-12 - 4 + 15) / 14)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "f"],
        ["1999", "2000-01", "2004"],
        ["1990-11", "1990-12", "1990-16"],
        [True, True, False],
    ],
)
def test_other_labels_have_no_gaps(trend, labels):
    expected = [6, 4, 5] if labels[0] != labels[1] else [5, 10]
    slope = np.polyfit(range(len(expected)), expected, 1)[0]
    assert trend(labels).estimate == pytest.approx(slope)


@pytest.mark.filterwarnings("error")
def test_equal_steps_have_no_gaps(trend):
    for years in ([2000, 2004, 2008], ["2000", "2004", "2008"]):
        # Deviations -4, 0, 4 years, sum of squares 32: the slope is per year.
        assert trend(years).estimate == pytest.approx((-24 + 20) / 32)
    # Numbers that are not whole are times without a unit.
    assert trend([0.5, 1.0, 4.0]).estimate == pytest.approx(
        np.polyfit([0.5, 1, 4], [6, 4, 5], 1)[0]
    )


def test_the_number_of_empty_periods_is_limited(trend):
    assert trend([0, 1, 11_999]).estimate < 0
    with pytest.raises(ValueError, match=r"'periods'.*12,000.*12,001.*unobserved"):
        trend([0, 1, 12_000])
    assert trend([0, 1, 12_000], empty_periods="unobserved").estimate < 0
    assert trend([0, 12_000, 24_000]).estimate < 0


def test_trend_is_a_contrast_of_periods():
    period = np.repeat([1, 2, 4], [3, 2, 3])
    y, everywhere = labels(Y, [0, 1, 3, 5, 6]), (-np.inf, np.inf)
    options = {"bounds": everywhere, "slope": 0.5}
    # Times 1 to 4: deviations -3/2, -1/2, 1/2, 3/2, sum of squares 5.
    # Times 1, 2, 4: deviations -4/3, -1/3, 5/3 from their mean, sum of squares 14/3.
    weights = {"zero": [-0.3, -0.1, 0.3], "unobserved": [-4 / 14, -1 / 14, 5 / 14]}
    for empty, each in weights.items():
        trend = corrected_count(
            y, F, periods=period, estimand="trend", empty_periods=empty, **options
        )
        contrast = corrected_count(y, F, weight=np.repeat(each, [3, 2, 3]), **options)
        for name in ("estimate", "low", "high", "uncorrected"):
            assert getattr(trend, name) == pytest.approx(getattr(contrast, name))


def test_empty_periods_is_for_trends(trend):
    with pytest.raises(ValueError, match="'empty_periods'.*'zero', 'unobserved'"):
        trend([1, 2, 3], empty_periods="0")
    with pytest.raises(ValueError, match="'empty_periods'.*estimand='trend' only"):
        corrected_count(Y, F, empty_periods="unobserved")


# Input and result


def test_boolean_and_missing_labels():
    y = np.array([True, None, False, True, False, True, None, False], dtype=object)
    as_numbers = np.array([1, np.nan, 0, 1, 0, 1, np.nan, 0])
    first, second = corrected_count(y, F / 4), corrected_count(as_numbers, F / 4)
    assert first == second


def test_inputs_are_not_modified():
    y, f = labels(Y, range(6)), F.copy()
    before = y.copy()
    corrected_count(y, f)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(f, F)


def test_a_corpus_of_counts_that_was_drawn_completely_has_no_sampling_error():
    y = np.tile([0.0, 1, 2, 5, 0, 3, 1], 3)
    result = corrected_count(y, y + 0.1, inclusion_probability=np.ones(21))
    assert (result.low, result.estimate, result.high) == (36, 36, 36)


def test_two_fully_labelled_periods_are_compared_by_hand():
    year = ["2020"] * 8 + ["2021"] * 5
    place = (["A", "B"] * 7)[:13]
    y = np.array([1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0])
    found = corrected_count(y, y / 2, periods=year, compare=("2020", "2021"), by=place)
    assert (found.estimate, found.low, found.high, found.pvalue) == (4, 4, 4, 0)
    # A: labels 1 1 1 0 minus 0 0 0; B: 1 0 1 1 minus 1 1
    assert found.table["estimate"].tolist() == [3, 1]
    options = {"periods": year, "compare": ("2020", "2021")}
    per_month = corrected_count(y, y / 2, lengths=np.array([12, 5]), **options)
    assert per_month.estimate == pytest.approx(6 / 12 - 2 / 5)
    share = corrected_count(y, y / 2, estimand="mean", by=place, **options)
    assert share.estimate == pytest.approx(6 / 8 - 2 / 5)
    assert share.table["estimate"] == pytest.approx([3 / 4 - 0, 3 / 4 - 2 / 2])


def test_a_mean_of_no_documents_is_undefined_and_its_count_is_0():
    year = np.repeat([1, 2], 6)
    place = np.array(["A", "B"] * 3 + ["A", "C"] * 3)
    y = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1])
    options = {"periods": year, "compare": (1, 2), "by": place}
    said = "2 of 3 rows of the table have a period without documents: B; C. The mean"
    with pytest.warns(UserWarning, match=said):
        found = corrected_count(y, y / 2, estimand="mean", **options).table
    # A: 1/3 in the first year and 2/3 in the second one
    assert found["estimate"] == pytest.approx([-1 / 3, np.nan, np.nan], nan_ok=True)
    for name in ("low", "high", "pvalue", "pvalue_adjusted", "uncorrected"):
        assert np.isnan(found[name]).tolist() == [False, True, True]
    assert found["pvalue_adjusted"][0] == found["pvalue"][0]
    counts = corrected_count(y, y / 2, **options).table
    assert counts["estimate"].tolist() == [-1, 2, -2]


@pytest.mark.parametrize("method", ["score", "t"])
def test_the_pvalue_is_the_level_at_which_the_interval_ends_at_0(method):
    rng = np.random.default_rng(3)
    f = rng.beta(0.4, 1, 600)
    y = np.where(rng.random(600) < 0.3, rng.random(600) < f, np.nan)
    year = np.repeat([1, 2, 3], 200)
    options = {"periods": year, "compare": (1, 3), "method": method}
    found = corrected_count(y, f, **options)
    edge = corrected_count(y, f, confidence_level=1 - found.pvalue, **options)
    assert min(abs(edge.low), abs(edge.high)) < 1e-6
    weight = (year == 1) * 1.0 - (year == 3)
    assert corrected_count(y, f, weight=weight, method=method).low == found.low
    other = corrected_count(y, f, **{**options, "compare": (3, 1)})
    assert other.estimate == pytest.approx(-found.estimate)
    assert other.pvalue == pytest.approx(found.pvalue)


def test_a_trend_of_partial_periods_is_that_of_full_ones():
    # 3 events in half of a year, then 6 and 12 in full years
    y = np.repeat([1.0, 0, 1, 0, 1, 0], [3, 1, 6, 1, 12, 1])
    year = np.repeat([2000, 2001, 2003], [4, 7, 13])
    options = {"periods": year, "estimand": "trend", "empty_periods": "unobserved"}
    found = corrected_count(y, y, lengths=(6, 12, 12), **options)
    slope = np.polyfit([0, 1, 3], [6, 6, 12], 1)[0]
    assert found.estimate == found.low == pytest.approx(slope)
    for wrong in ((6, 12), (0, 12, 12), "year", (6, 12, np.nan)):
        with pytest.raises((ValueError, TypeError), match="'lengths'"):
            corrected_count(y, y, lengths=wrong, **options)


def test_a_period_without_labels_is_not_compared():
    f = np.tile([0.1, 0.6, 0.9], 20)
    y = np.r_[np.tile([0, 1, 1], 10), np.full(30, np.nan)]
    options = {"periods": np.repeat([1, 2], 30), "compare": (1, 2)}
    with pytest.warns(UserWarning, match="has no interval and no p-value"):
        found = corrected_count(y, f, inclusion_probability=0.5, **options)
    assert np.isnan([found.low, found.high, found.pvalue]).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"compare": (1, 3)}, "two of the periods .* Got 3"),
        ({"compare": (1, 1)}, "two different periods. Got 1 twice"),
        ({"compare": 1}, "must be a pair of periods"),
        ({"compare": (1, 2), "periods": None}, "must be given with 'periods'"),
        ({"compare": (1, 2), "lengths": (0, 1)}, "'lengths'"),
        ({"lengths": (1, 1)}, "'lengths' .*applies to 'compare' and"),
        ({"compare": (1, 2), "estimand": "trend"}, "'compare' .*counts and means"),
    ],
)
def test_wrong_comparisons_of_periods_are_errors(params, message):
    y = np.tile([0.0, 1, 1], 4)
    with pytest.raises((ValueError, TypeError), match=message):
        corrected_count(y, y, **{"periods": np.repeat([1, 2], 6), **params})
