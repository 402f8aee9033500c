"""Interval of the calibration error, and the test of perfect calibration."""

import itertools
import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import case
from scipy.stats import beta, binom, binomtest, kstest, norm

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import (
    CalibrationErrorInterval,
    calibration_error,
    calibration_error_interval,
)

FEW = (
    "ignore:.*(no test of perfect calibration|effective groups|inside the bins)"
    ":UserWarning"
)

NUMBERS = ("estimate", "plug_in", "low", "high", "pvalue", "n_bins")
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def numbers(interval):
    return [getattr(interval, name) for name in NUMBERS]


def loss_and_noise(q, size):
    """Return the mean variance of q inside bins, and the null deviation of T."""
    cuts = np.arange(1, max(1, q.size // size)) * size
    bins = np.split(np.sort(q), cuts)
    loss = sum(b.size * b.var() for b in bins) / q.size
    variances = [
        2 * b.size * (b.size - 1) * (np.mean(b * (1 - b)) / (b.size - 1)) ** 2
        for b in bins
    ]
    return loss, math.sqrt(sum(variances)) / q.size


class TestCoverage:
    """Label frequencies that no setting of the interval was chosen by.

    Rates are of 400 data sets: their standard error is sqrt(.05 * .95 / 400) = .011.
    """

    FREQUENCIES = {
        "wave": lambda q: np.clip(q + 0.08 * np.sin(9 * q), 0, 1),
        "step": lambda q: np.where((q > 0.3) & (q < 0.6), q + 0.15, q),
        "calibrated": lambda q: q,
    }

    @pytest.mark.parametrize(
        "name",
        [
            pytest.param("wave", marks=pytest.mark.slow),
            "step",
            pytest.param("calibrated", marks=pytest.mark.slow),
        ],
    )
    def test_the_true_error_is_inside_as_often_as_it_says(self, name):
        frequency = self.FREQUENCIES[name]
        grid = beta.ppf((np.arange(10**5) + 0.5) / 10**5, 2, 3)
        truth = math.sqrt(np.mean((grid - frequency(grid)) ** 2))
        rng = np.random.default_rng(7)
        covered = rejected = 0
        for _ in range(400):
            q = rng.beta(2, 3, 800)
            found = calibration_error_interval(rng.random(800) < frequency(q), q)
            covered += found.low <= truth <= found.high
            rejected += found.pvalue < 0.05
        assert covered / 400 == pytest.approx(0.95, abs=0.015 + 2 * 0.011)
        if name == "calibrated":
            assert rejected / 400 == pytest.approx(0.05, abs=2 * 0.011)
        else:
            assert rejected > 120


class TestScore:
    def test_the_default_is_automatic_bins_at_95_percent(self):
        y, q = make_calibrated_pairs(1010, random_state=0)
        found = calibration_error_interval(y, q)
        assert (found.bin_size, found.confidence_level) == (25, 0.95)
        assert (found.n_bins, found.n_pairs, found.n_groups) == (40, 1010, None)
        assert found.method == "score"
        assert found.n_samples is None
        asked = calibration_error_interval(y, q, bin_size=25, confidence_level=0.95)
        assert (found.high, found.pvalue) == (asked.high, asked.pvalue)

    @pytest.mark.filterwarnings(FEW)
    @pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.1, 2), (0.02, 0.92), (5, 5)])
    @pytest.mark.parametrize("n", [2, 10, 100, 1000, 10_000])
    def test_automatic_bins_lose_little_to_the_spread_inside_them(self, n, a, b):
        y, q = make_calibrated_pairs(n, a=a, b=b, random_state=0)
        size = calibration_error_interval(y, q).bin_size
        widest = max(2, round(0.8 * math.sqrt(n)))
        assert min(widest, 5) <= size <= widest
        if size > 5:
            loss, noise = loss_and_noise(q, size)
            assert loss <= 0.1 * noise
        if size < widest:
            loss, noise = loss_and_noise(q, round(size * 1.25) + 1)
            # the next size that was tried may be a little smaller than that
            assert loss > 0.05 * noise
        weighted = calibration_error_interval(
            y.repeat(2), q.repeat(2), sample_weight=np.full(2 * n, 0.5)
        )
        assert weighted.bin_size == size

    def test_automatic_bins_of_a_constant_are_the_widest(self):
        y = np.arange(400) % 3 == 0
        assert calibration_error_interval(y, np.full(400, 0.3)).bin_size == 16

    @pytest.mark.parametrize("weight", [1e3, 1e6])
    def test_automatic_bins_are_not_too_many(self, weight, monkeypatch):
        # heavy rows next to each other ask for bins that are narrow beside them
        monkeypatch.setattr("skcalib.metrics._bins._MOST_BINS", 500)
        y, q = make_calibrated_pairs(100, random_state=0)
        found = calibration_error_interval(y, q, sample_weight=np.full(100, weight))
        assert 100 <= found.n_bins <= 500

    @pytest.mark.parametrize(
        ("a", "b"), [pytest.param(0.5, 0.5, marks=pytest.mark.slow), (0.02, 0.92)]
    )
    def test_automatic_bins_of_very_many_pairs_are_as_those_of_single_ones(self, a, b):
        # from 2 ** 18 pairs on, their leading bits decide
        y, q = make_calibrated_pairs(300_000, a=a, b=b, random_state=0)
        size = calibration_error_interval(y, q).bin_size
        loss, noise = loss_and_noise(q, size)
        assert loss <= 0.101 * noise
        if size < round(0.8 * math.sqrt(300_000)):
            loss, noise = loss_and_noise(q, round(1.25 * size) + 1)
            assert loss > 0.09 * noise
        once = calibration_error_interval(y, q, sample_weight=np.ones(300_000))
        assert once.bin_size == size
        assert numbers(once) == pytest.approx(numbers(calibration_error_interval(y, q)))

    @pytest.mark.parametrize("digits", [1, 17])
    @pytest.mark.parametrize("bin_size", [2, 20, 77])
    @pytest.mark.parametrize("k", [0, 0.1])
    def test_its_points_are_calibration_errors(self, k, bin_size, digits):
        y, q = make_calibrated_pairs(700, k=k, random_state=0)
        q = q.round(digits)
        found = calibration_error_interval(y, q, bin_size=bin_size)
        debiased = calibration_error(y, q, bin_size=bin_size, debias=True)
        assert found.estimate == pytest.approx(debiased, abs=1e-12)
        plain = calibration_error(y, q, bin_size=bin_size)
        assert found.plug_in == pytest.approx(plain, abs=1e-14)

    @pytest.mark.parametrize("digits", [1, 2, 17])
    @pytest.mark.parametrize("k", [0, 0.01, 0.02, 0.03])
    def test_zero_is_inside_exactly_where_calibration_is_not_rejected(self, k, digits):
        seen = set()
        for seed in range(10):
            y, q = make_calibrated_pairs(300, k=k, random_state=seed)
            for level in LEVELS:
                found = calibration_error_interval(
                    y, q.round(digits), confidence_level=level
                )
                assert (found.low == 0) == (found.pvalue >= 1 - level)
                seen.add(found.low == 0)
        assert seen == {True, False}

    def test_a_higher_level_holds_a_lower_one(self):
        for seed in range(30):
            y, q = make_calibrated_pairs(200, k=0.05, random_state=seed)
            several = [
                calibration_error_interval(y, q, confidence_level=level)
                for level in LEVELS
            ]
            assert (np.diff([i.low for i in several]) <= 0).all()
            assert (np.diff([i.high for i in several]) >= 0).all()
            assert len({i.pvalue for i in several}) == 1

    def test_the_level_is_a_fraction_of_one(self):
        # .9 means 1.645 standard errors; not .9 per cent, and not 99.9 per cent
        y, q = make_calibrated_pairs(100_000, k=0.1, random_state=0)
        wide, narrow = (
            calibration_error_interval(y, q, confidence_level=level)
            for level in (0.95, 0.9)
        )
        above = (each.high - each.estimate for each in (narrow, wide))
        assert next(above) / next(above) == pytest.approx(1.6449 / 1.9600, rel=0.02)

    @pytest.mark.parametrize("n_positive", [512, 520, 530, 540])
    @pytest.mark.parametrize("bin_size", [20, 100, 500, 1000])
    def test_a_constant_has_the_p_value_of_its_frequency(self, bin_size, n_positive):
        # Of 1,000 rows of .5, however they are cut: the two-sided test of a proportion.
        y = np.arange(1000) < n_positive
        found = calibration_error_interval(y, np.full(1000, 0.5), bin_size=bin_size)
        expected = 2 * norm.sf((n_positive - 500) / math.sqrt(250))
        assert found.pvalue == pytest.approx(expected, abs=0.01)

    @pytest.mark.parametrize("n_levels", [None, 16])
    @pytest.mark.slow
    def test_its_p_values_are_uniform_on_calibrated_data(self, n_levels):
        rng = np.random.default_rng(1)
        q = rng.random(600) if n_levels is None else rng.integers(1, 17, 600) / 17
        p_values = [
            calibration_error_interval(rng.random(600) < q, q).pvalue
            for _ in range(1000)
        ]
        for level in (0.01, 0.05):
            n = np.count_nonzero(np.less_equal(p_values, level))
            # fails for one seed in a thousand
            assert binomtest(n, 1000, level, alternative="greater").pvalue > 1e-3
        # not too small; too large by what the kinds of probabilities differ
        assert kstest(p_values, "uniform", alternative="greater").pvalue > 1e-3
        assert kstest(p_values, "uniform").statistic < 0.08

    def test_two_columns_are_the_binary_problem(self):
        y, q = make_calibrated_pairs(300, k=0.1, random_state=0)
        found = calibration_error_interval(y, np.column_stack([1 - q, q]))
        assert found == calibration_error_interval(y, q)

    def test_top_label_takes_a_pair_a_row(self):
        rng = np.random.default_rng(0)
        proba, y = rng.dirichlet([1, 1, 1], 300), rng.integers(0, 3, 300)
        found = calibration_error_interval(y, proba, multi_class="top_label")
        right = proba.argmax(axis=1) == y
        assert found == calibration_error_interval(right, proba.max(axis=1))

    @pytest.mark.parametrize("level", LEVELS)
    def test_uncertain_data_do_not_give_a_single_point(self, level):
        # one bin, whose mean probability and mean label all but agree
        y, q = make_calibrated_pairs(999, k=0.1, random_state=1)
        found = calibration_error_interval(y, q, bin_size=1000, confidence_level=level)
        assert found.plug_in < 0.002
        assert found.high > 0.002


class TestInvariance:
    @pytest.mark.parametrize("digits", [1, 2, 17])
    @pytest.mark.parametrize("method", ["score", "simulation"])
    def test_the_order_of_rows_does_not_matter(self, method, digits):
        y, q = make_calibrated_pairs(300, k=0.05, random_state=0)
        q = q.round(digits)
        kwargs = {"method": method, "n_samples": 100, "random_state": 0}
        expected = calibration_error_interval(y, q, **kwargs)
        for seed in range(10):
            o = np.random.default_rng(seed).permutation(300)
            assert calibration_error_interval(y[o], q[o], **kwargs) == expected

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    @pytest.mark.parametrize("digits", [0, 1, 17])
    @pytest.mark.parametrize("bin_size", ["auto", 7])
    @pytest.mark.parametrize("seed", range(5))
    def test_an_integer_weight_equals_repetition(self, seed, bin_size, digits):
        y, q = make_calibrated_pairs(60, k=0.1, random_state=seed)
        q = q.round(digits)
        weight = np.random.default_rng(seed).integers(0, 5, 60)
        found = calibration_error_interval(
            y, q, sample_weight=weight, bin_size=bin_size
        )
        expected = calibration_error_interval(
            y.repeat(weight), q.repeat(weight), bin_size=bin_size
        )
        assert numbers(found) == pytest.approx(numbers(expected), rel=1e-8, abs=1e-8)

    def test_rows_of_zero_weight_vanish(self):
        y, q = make_calibrated_pairs(200, k=0.05, random_state=0)
        weight = (np.arange(200) % 3 > 0).astype(float)
        found = calibration_error_interval(y, q, sample_weight=weight)
        expected = calibration_error_interval(y[weight > 0], q[weight > 0])
        assert numbers(found) == pytest.approx(numbers(expected), rel=1e-9)
        assert found.n_pairs == expected.n_pairs

    @pytest.mark.slow
    def test_ties_are_close_to_their_neighbours(self):
        # seventeen levels, or those moved by a millionth: bins of 20 differ little
        rng = np.random.default_rng(0)
        q = rng.integers(1, 16, 3000) / 16
        y = (rng.random(3000) < q - 0.05).astype(int)
        # In random order inside a level, bins of equal q give the noise of a draw:
        # the mean over orders is what many draws have on average.
        how = {"bin_size": 20, "squared": True, "debias": True}
        tied = calibration_error(y, q, **how)
        moved = [
            calibration_error(y, q + 1e-6 * rng.random(3000), **how) for _ in range(200)
        ]
        se = np.std(moved) / math.sqrt(200)
        assert abs(tied - np.mean(moved)) < 5 * se + 1e-6

    @pytest.mark.parametrize("n_rows", [None, 1, 3])
    @pytest.mark.parametrize("n", [30, 100, 1000])
    def test_it_does_not_jump_where_every_mean_is_exact(self, n, n_rows):
        # Half of the rows of .5 are positive. A billionth off, the upper end is the
        # same to a billionth or so.
        y = np.arange(n) % 2
        groups = None if n_rows is None else np.arange(n) // n_rows
        exact = calibration_error_interval(y, np.full(n, 0.5), groups=groups)
        moved = calibration_error_interval(y, np.full(n, 0.5 + 1e-9), groups=groups)
        assert exact.high == pytest.approx(moved.high, rel=1e-3)
        assert exact.low == moved.low == 0


class TestErrorsInsideBins:
    """Upper ends of narrow bins, and the warning of different estimates."""

    def by_turns(self, every, n=2000):
        rng = np.random.default_rng(0)
        q = rng.uniform(0.25, 0.75, n)
        error = np.where(q // every % 2 == 0, 0.2, -0.2)
        return (rng.random(n) < q - error).astype(int), q

    def test_errors_that_narrow_bins_show_warn_and_are_below_the_upper_end(self):
        # eight rows have errors of the same sign
        y, q = self.by_turns(0.002)
        with pytest.warns(UserWarning, match=r"in bins of 36 pairs and 0\.\d+ in bins"):
            result = calibration_error_interval(y, q)
        narrow = calibration_error_interval(y, q, bin_size=5)
        assert result.estimate < 0.1 < narrow.estimate
        assert narrow.low < 0.2 < narrow.high
        assert result.high > narrow.estimate

    def test_nobody_sees_errors_that_change_from_row_to_row(self):
        y, q = self.by_turns(0.0002)
        result = calibration_error_interval(y, q)
        assert result.high < 0.1
        assert result.pvalue > 0.05

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
    def test_the_upper_end_is_at_least_that_of_narrow_bins_at_a_lower_level(
        self, seed, level
    ):
        y, q = make_calibrated_pairs(1500, k=0.05, random_state=seed)
        with warnings.catch_warnings(action="ignore"):
            result = calibration_error_interval(y, q, confidence_level=level)
        lower = 2 * norm.cdf(0.4 * norm.ppf((1 + level) / 2)) - 1
        for factor in (4, 16):
            size = max(5, result.bin_size // factor)
            narrow = calibration_error_interval(
                y, q, bin_size=size, confidence_level=lower
            )
            assert result.high >= narrow.estimate
            assert result.high >= narrow.high - 1e-9

    def test_a_given_bin_size_is_used_for_both_ends(self):
        y, q = self.by_turns(0.002)
        result = calibration_error_interval(y, q, bin_size=36)
        assert result.high < 0.1


class TestRareLabels:
    """One probability for all: what comes out is a binomial number of positives."""

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    # before the mean of all rows was looked at, these were .82 to .90
    @pytest.mark.parametrize(
        ("n", "q", "p"),
        [
            (100, 0.0, 0.1),
            (100, 0.001, 0.05),
            (1000, 0.001, 0.005),
            pytest.param(1000, 0.01, 0.02, marks=pytest.mark.slow),
            (1000, 0.999, 0.995),
        ],
    )
    @pytest.mark.parametrize("grouped", [False, True])
    def test_the_error_is_covered(self, n, q, p, grouped):
        groups = np.arange(n) if grouped else None
        covered = 0.0
        first, last = (int(binom.ppf(tail, n, p)) for tail in (1e-6, 1 - 1e-6))
        for k in range(first, last + 1):
            y = (np.arange(n) < k).astype(int)
            found = calibration_error_interval(y, np.full(n, q), groups=groups)
            chance = binom.pmf(k, n, p)
            covered += chance * (found.low <= abs(q - p) <= found.high)
        assert 0.94 < covered < 0.985

    @pytest.mark.parametrize(("n", "k", "q"), [(200, 1, 0.001), (1000, 2, 0.01)])
    def test_the_high_end_is_at_least_as_far_as_wilsons(self, n, k, q):
        y = (np.arange(n) < k).astype(int)
        found = calibration_error_interval(y, np.full(n, q), bin_size=n)
        wilson = binomtest(k, n).proportion_ci(method="wilson")
        furthest = max(wilson.high - q, q - wilson.low)
        assert 0.98 * furthest < found.high < 1.3 * furthest

    @pytest.mark.parametrize("tiny", [1e-20, 1e-200, 1e-310])
    def test_hardly_any_variance_does_not_overflow(self, tiny):
        found = calibration_error_interval(
            [0] * 50 + [1] * 50, [tiny] * 50 + [1.0] * 50
        )
        # all came as it was said; a label may still have come one time in 40
        assert found.low == 0
        assert 0.025 <= (1 - found.high) ** 100 <= 0.050001

    def test_sharp_labels_are_not_taken_for_rare_ones(self):
        y, q = make_calibrated_pairs(1000, a=0.02, b=0.02, random_state=0)
        found = calibration_error_interval(y, q)
        # half of the labels are positive, yet hardly one is uncertain
        assert found.high < binomtest(int(y.sum()), 1000).proportion_ci().high - 0.5


class TestFewRows:
    """With fewer than five independent rows or groups there is no test."""

    @staticmethod
    def rejections(q):
        """Return the probability that calibrated labels are rejected at level .05."""
        total = 0.0
        for y in itertools.product([0, 1], repeat=q.size):
            chance = np.prod(np.where(y, q, 1 - q))
            total += chance * (calibration_error_interval(y, q).pvalue < 0.05)
        return total

    @pytest.mark.parametrize("n", [5, 6])
    def test_enumerated_labels_are_rejected_at_most_as_often_as_the_level(self, n):
        rng = np.random.default_rng(20 + n)
        designs = [rng.random(n), rng.beta(0.5, 0.5, n), rng.beta(5, 2, n)]
        # the p-value is approximate, so that .05 may be exceeded a little
        assert max(map(self.rejections, designs)) <= 0.055

    @pytest.mark.parametrize("method", ["score", "simulation"])
    @pytest.mark.parametrize(
        ("y", "q"),
        [
            ([0, 1, 1], [0.2, 0.7, 0.9]),
            ([1, 1, 1, 1], [0.01, 0.02, 0.03, 0.04]),
            ([1, 1, 1, 1], [0.0] * 4),
            ([0, 1], [0.3, 0.4]),
            ([0, 0], [0.3, 0.3]),
            ([1, 1], [0.0, 1.0]),
        ],
    )
    def test_rows(self, y, q, method):
        message = f"no test .* at least 5 .* there are {len(y)} rows. The p-value is"
        with pytest.warns(UserWarning, match=message):
            found = calibration_error_interval(
                y, q, method=method, n_samples=100, random_state=0
            )
        assert math.isnan(found.pvalue)
        assert found.low == 0 <= found.high <= 1
        assert math.isnan(found.to_dict()["p_value"])
        assert f"pvalue=nan (no test of {len(y)} rows)" in repr(found)
        (words,) = found._in_words()
        assert words.startswith("There is no test of perfect calibration: it needs")

    @pytest.mark.filterwarnings("ignore:The interval is based on:UserWarning")
    def test_groups(self):
        y, q = make_calibrated_pairs(100, k=0.5, random_state=0)
        groups = np.arange(100) % 4
        with pytest.warns(UserWarning, match="there are 4 groups"):
            found = calibration_error_interval(y, q, groups=groups)
        assert math.isnan(found.pvalue)
        assert found.low == 0
        five = calibration_error_interval(y, q, groups=np.arange(100) % 5)
        assert 0 < five.pvalue < 1

    @pytest.mark.filterwarnings("ignore:The interval is based on:UserWarning")
    def test_pooled_classes_of_few_rows(self):
        proba = [[0.2, 0.7, 0.1], [0.5, 0.2, 0.3], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]]
        with pytest.warns(UserWarning, match="there are 4 rows"):
            found = calibration_error_interval([0, 1, 2, 0], proba)
        assert math.isnan(found.pvalue)

    def test_a_weight_is_a_number_of_rows(self):
        y, q = [0, 1, 1], [0.2, 0.7, 0.9]
        weighted = calibration_error_interval(y, q, sample_weight=[2, 2, 1])
        repeated = calibration_error_interval(
            [0, 0, 1, 1, 1], [0.2] * 2 + [0.7] * 2 + [0.9]
        )
        assert weighted.pvalue == pytest.approx(repeated.pvalue, rel=1e-12)
        with pytest.warns(UserWarning, match="there are 4.5 rows"):
            calibration_error_interval(y, q, sample_weight=[2, 1.5, 1])


# Distributions of probabilities, and label frequencies, that no setting was chosen by.
LAWS = {
    "triangular": (lambda rng: rng.triangular(0, 0.3, 1, 600), lambda q: q**1.3),
    "power": (lambda rng: rng.power(3, 600), lambda q: 1 - (1 - q) ** 1.4),
    "levels": (
        lambda rng: rng.choice([0.1, 0.35, 0.6, 0.85], 600, p=[0.4, 0.1, 0.2, 0.3]),
        lambda q: 0.8 * q + 0.15,
    ),
}


@pytest.mark.parametrize("law", LAWS)
class TestGroupsOfRows:
    @pytest.fixture
    def data(self, law):
        rng = np.random.default_rng(11)
        q = LAWS[law][0](rng)
        return (rng.random(600) < LAWS[law][1](q)).astype(int), q

    def test_groups_of_one_row_give_the_interval_without_groups(self, data):
        y, q = data
        groups = np.random.default_rng(12).permutation(600)
        found = calibration_error_interval(y, q, groups=groups)
        expected = calibration_error_interval(y, q)
        assert replace(found, n_groups=None, n_effective_groups=None) == expected
        assert (found.n_groups, found.n_effective_groups) == (600, 600)

    @pytest.mark.filterwarnings(FEW)
    def test_copies_of_rows_as_groups_carry_no_more_information(self, data):
        def width(*args, **kwargs):
            found = calibration_error_interval(*args, **kwargs)
            return found.high - found.low

        y, q = data
        copies, groups = (np.tile(y, 3), np.tile(q, 3)), np.tile(np.arange(600), 3)
        as_groups = width(*copies, groups=groups)
        # if copies count as independent rows, the width is divided by about sqrt(3)
        assert width(*copies, bin_size=34) < 0.7 * as_groups
        assert as_groups == pytest.approx(width(y, q), rel=0.3)


class TestSmallestPValue:
    @pytest.mark.parametrize(
        "draw",
        [
            lambda rng: rng.power(3, 200),
            lambda rng: rng.choice([0.1, 0.5], 200),
            lambda rng: np.full(200, 0.3),
            lambda rng: rng.choice([0.0, 1.0], 200),
            lambda rng: np.r_[0, rng.random(199)],
        ],
    )
    @pytest.mark.parametrize("groups", [None, np.arange(200) // 2])
    def test_no_p_value_is_zero(self, draw, groups):
        q = draw(np.random.default_rng(3))
        for n_positive in (1, 100, 200):
            found = calibration_error_interval(
                np.arange(200) < n_positive,
                q,
                sample_weight=np.full(200, 1e3),
                groups=groups,
                pos_label=1,
                hard_labels=True,
            )
            assert 0 < found.pvalue < 0.05

    @pytest.mark.filterwarnings("ignore:Positive labels are rarer")
    def test_a_p_value_that_underflows_is_the_smallest_normal_float(self):
        # 1,000 right answers of probability 1e-6: a chance of 1e-6000
        q = np.r_[np.full(1000, 1e-6), np.linspace(0.1, 0.9, 1000)]
        y = np.r_[np.ones(1000, int), np.arange(1000) % 2]
        for groups in (None, np.arange(2000) // 2):
            found = calibration_error_interval(y, q, groups=groups)
            assert 0 < found.pvalue <= 1e-100
        found = calibration_error_interval(y, q)
        assert found.pvalue == np.finfo(float).tiny
        assert "pvalue < 1e-300, plug_in" in repr(found)
        assert "(p-value < 1e-300)." in found._in_words()[0]
        assert "<td>&lt; 1e-300</td>" in found._repr_html_()

    @pytest.mark.slow
    def test_ten_million_rows(self):
        rng = np.random.default_rng(8)
        q = rng.gamma(2, 0.1, 10**7).clip(0, 1)
        y = rng.random(q.size) < np.sqrt(q)
        assert calibration_error_interval(y, q).pvalue == np.finfo(float).tiny


class TestExtremes:
    @pytest.mark.filterwarnings("ignore:All probabilities of")
    @pytest.mark.parametrize("groups", [None, np.arange(60) // 3])
    def test_zeros_and_ones_that_are_right_have_no_error(self, groups):
        y = np.arange(60) % 2
        found = calibration_error_interval(y, y.astype(float), groups=groups)
        assert (found.estimate, found.plug_in, found.low) == (0, 0, 0)
        assert found.pvalue == 1

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    @pytest.mark.parametrize("q", [0.0, 1.0])
    def test_what_cannot_happen_is_rejected(self, q):
        found = calibration_error_interval([int(1 - q)] * 60, [q] * 60)
        assert found.pvalue == np.finfo(float).tiny
        assert (found.estimate, found.high) == (1, 1)
        # a frequency as low as this gives 60 of 60 one time in 40, or in 20
        assert 0.025 <= found.low**60 <= 0.05

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    def test_what_cannot_happen_is_rejected_in_groups(self):
        groups = np.arange(200) // 2
        found = calibration_error_interval([1] * 200, [0.0] * 200, groups=groups)
        assert found.pvalue < 1e-6
        assert found.low > 0.9

    @pytest.mark.parametrize("n_rows", [1, 2, 10])
    def test_not_to_see_what_is_rare_is_no_evidence(self, n_rows):
        # no positive in 100 rows of .001: what is right is so 9 times in 10
        groups = np.arange(100) // n_rows
        for names in (None, groups):
            found = calibration_error_interval([0] * 100, [0.001] * 100, groups=names)
            assert found.pvalue > 0.05
            assert found.low == 0
            # the frequency may well be .01, and by the rule of three it may be .03
            assert found.high > 0.0015

    @pytest.mark.parametrize("exponent", [-20, -50, -100, -110, -160, -200, -310])
    @pytest.mark.parametrize("groups", [None, np.arange(100) // 2])
    def test_tiny_probabilities_of_what_never_happens_are_fine(self, exponent, groups):
        q = np.full(100, 10.0**exponent)
        found = calibration_error_interval([0] * 100, q, groups=groups)
        assert found.pvalue > 0.05
        assert found.low == 0

    @pytest.mark.parametrize("exponent", [-20, -50, -100, -110, -160, -200, -310])
    @pytest.mark.parametrize("groups", [None, np.arange(100) // 2])
    def test_tiny_probabilities_of_what_happens_are_rejected(self, exponent, groups):
        q = np.full(100, 10.0**exponent)
        found = calibration_error_interval([1] * 100, q, groups=groups)
        assert found.pvalue < 1e-6
        n = 100 if groups is None else 50
        assert found.low**n > 0.02

    @pytest.mark.filterwarnings("ignore:All probabilities of")
    @pytest.mark.parametrize(
        ("y", "q"),
        [
            ([0, 1] * 50, [0.5] * 100),
            ([0] * 100, [0.5] * 100),
            ([0, 1] * 50, [0.0] * 50 + [1.0] * 50),
            ([0, 1] * 50, [1e-12] * 99 + [1.0]),
        ],
    )
    @pytest.mark.parametrize("method", ["score", "simulation"])
    def test_degenerate_data_give_an_interval(self, y, q, method):
        found = calibration_error_interval(
            y, q, method=method, n_samples=100, random_state=0
        )
        assert np.isfinite(numbers(found)).all()
        assert 0 <= found.low <= found.high <= 1
        assert 0 <= found.pvalue <= 1

    def test_a_surely_wrong_constant_has_its_distance(self):
        # q = .5 where nothing happens: the error is .5, and a root of a 5% quantile
        # of a frequency of 0 in 1000, .003, is all that may be missing
        found = calibration_error_interval([0] * 1000, [0.5] * 1000)
        assert found.pvalue < 1e-12
        assert found.estimate == pytest.approx(0.5, abs=1e-12)
        assert 0.47 < found.low <= 0.5 <= found.high < 0.53

    @pytest.mark.parametrize(
        ("arguments", "weight"),
        [
            ({"y_true": [1], "y_proba": [0.5]}, "1"),
            ({"sample_weight": [0.5, 1]}, "1.5"),
        ],
    )
    def test_it_needs_two_pairs(self, arguments, weight):
        data = {"y_true": [0, 1], "y_proba": [0.3, 0.4], **arguments}
        message = "calibration_error_interval needs at least two pairs.*weight of "
        with pytest.raises(ValueError, match=message + weight):
            calibration_error_interval(**data)


class TestSimulation:
    KWARGS = {"method": "simulation", "bin_size": 100}

    def draws(self, y, q, n_samples, seed):
        """Return errors of simulated frequencies, by hand."""
        order = np.argsort(q)
        mean_q = q[order].reshape(-1, 100).mean(axis=1)
        p = y[order].reshape(-1, 100).mean(axis=1)
        rng = np.random.default_rng(seed)
        drawn = rng.normal(size=(n_samples, p.size)) * np.sqrt(p * (1 - p) / 100) + p
        return np.sqrt(np.mean((np.clip(drawn, 0, 1) - mean_q) ** 2, axis=1))

    @pytest.mark.parametrize("k", [0, 0.1])
    @pytest.mark.parametrize("level", [0.5, 0.95])
    def test_it_is_the_published_algorithm(self, k, level):
        n_samples = 20_000
        y, q = make_calibrated_pairs(1000, k=k, random_state=0)
        found = calibration_error_interval(
            y,
            q,
            n_samples=n_samples,
            confidence_level=level,
            random_state=1,
            **self.KWARGS,
        )
        errors = self.draws(y, q, n_samples, seed=2)
        # Two means of 20,000 draws differ by sqrt(2 / 20000) = .01 sd or so, two
        # standard deviations by .7% or so.
        sd = errors.std(ddof=1)
        assert found.estimate == pytest.approx(errors.mean(), abs=0.05 * sd)
        half = norm.ppf((1 + level) / 2) * sd
        assert found.high - found.estimate == pytest.approx(half, rel=0.04)
        assert found.estimate - found.low == pytest.approx(half, rel=0.04)

    def test_its_draws_are_clipped_to_the_unit_interval(self):
        # One bin with q = 0 and p = .2, sd = sqrt(.16 / 5): an error is max(0, X), of
        # mean p Phi(p / sd) + sd phi(p / sd). The mean of |X| is .012 more.
        found = calibration_error_interval(
            [1, 0, 0, 0, 0], [0.0] * 5, method="simulation", bin_size=5, random_state=0
        )
        sd = math.sqrt(0.16 / 5)
        expected = 0.2 * norm.cdf(0.2 / sd) + sd * norm.pdf(0.2 / sd)
        # 10,000 draws of sd .17 or so
        assert found.estimate == pytest.approx(expected, abs=4 * 0.0017)

    def test_its_centre_adds_the_noise_to_the_plain_error(self):
        # Mean square of the simulated errors: plain square plus mean p (1 - p) / 100,
        # where no frequency is so near 0 or 1 that draws are clipped.
        rng = np.random.default_rng(0)
        q = np.linspace(0.3, 0.7, 2000)
        y = rng.random(2000) < q
        found = calibration_error_interval(y, q, random_state=0, **self.KWARGS)
        p = y.reshape(-1, 100).mean(axis=1)
        noise = np.mean(p * (1 - p)) / 100
        sd = (found.high - found.low) / 2 / 1.96
        square = found.estimate**2 + sd**2
        assert square == pytest.approx(found.plug_in**2 + noise, rel=0.01)

    @pytest.mark.parametrize(
        "source", [lambda: 7, lambda: np.random.RandomState(7), lambda: _generator(7)]
    )
    def test_the_same_seed_gives_the_same(self, source):
        y, q = make_calibrated_pairs(500, random_state=0)
        kwargs = {"n_samples": 200, **self.KWARGS}
        first, second = (
            calibration_error_interval(y, q, random_state=source(), **kwargs)
            for _ in range(2)
        )
        other = calibration_error_interval(y, q, random_state=8, **kwargs)
        assert first == second != other

    @pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
    def test_a_source_of_draws_moves_on(self, source):
        y, q = make_calibrated_pairs(500, random_state=0)
        kwargs = {"n_samples": 200, "random_state": source(7), **self.KWARGS}
        first, second = (
            calibration_error_interval(y, q, **kwargs).estimate for _ in range(2)
        )
        assert first != second

    def test_the_global_state_of_numpy_is_left_alone(self):
        y, q = make_calibrated_pairs(500, random_state=0)
        np.random.seed(3)  # noqa: NPY002
        before = np.random.get_state()[1].tolist()  # noqa: NPY002
        calibration_error_interval(y, q, n_samples=50, **self.KWARGS)
        assert np.random.get_state()[1].tolist() == before  # noqa: NPY002

    def test_its_p_value_and_plug_in_are_those_of_the_score_method(self):
        y, q = make_calibrated_pairs(1000, k=0.05, random_state=0)
        found = calibration_error_interval(
            y, q, n_samples=50, random_state=0, **self.KWARGS
        )
        score = calibration_error_interval(y, q, bin_size=100)
        assert (found.pvalue, found.plug_in) == (score.pvalue, score.plug_in)

    def test_its_automatic_bins_are_those_of_the_error(self):
        y, q = make_calibrated_pairs(1000, random_state=0)
        found = calibration_error_interval(y, q, method="simulation", n_samples=50)
        assert found.bin_size == 63  # 1000 ** .6 = 63.1
        assert found.plug_in == calibration_error(y, q)

    @pytest.mark.filterwarnings(FEW)
    def test_its_ends_stay_in_the_unit_interval(self):
        found = calibration_error_interval(
            [0, 1], [0.3, 0.4], method="simulation", random_state=0
        )
        assert found.low == 0
        nearly = calibration_error_interval(
            [0, 1, 1, 1, 1], [0.0] * 5, method="simulation", bin_size=5, random_state=0
        )
        assert nearly.high == 1

    def test_it_takes_no_groups(self):
        with pytest.raises(
            ValueError, match="'score' if 'groups' is given: 'simulation' takes"
        ):
            calibration_error_interval(
                [0, 1], [0.3, 0.4], groups=[0, 1], method="simulation"
            )


def _generator(seed):
    return np.random.default_rng(seed)


class TestArguments:
    def test_a_wrong_one_is_named(self):
        cases = [
            ("confidence_level", 95, ValueError, "strictly between 0 and 1. Got 95"),
            ("confidence_level", 90.0, ValueError, "strictly between 0 and 1. Got 90"),
            ("confidence_level", 0, ValueError, "strictly between 0 and 1. Got 0"),
            ("confidence_level", 1.0, ValueError, "strictly between 0 and 1. Got 1.0"),
            ("confidence_level", np.nan, ValueError, "between 0 and 1. Got nan"),
            ("confidence_level", True, TypeError, "between 0 and 1. Got True"),
            ("confidence_level", "0.9", TypeError, "between 0 and 1. Got '0.9'"),
            (
                "method",
                "wald",
                ValueError,
                "'score', 'simulation'.*Got 'wald'",
            ),
            (
                "method",
                None,
                ValueError,
                "'score', 'simulation'.*Got None",
            ),
            ("n_samples", 1, ValueError, "an integer of at least 2. Got 1"),
            ("n_samples", 1e4, TypeError, "an integer of at least 2. Got 10000.0"),
            ("bin_size", 1, ValueError, "an integer of at least 2. Got 1"),
            ("bin_size", 0, ValueError, "an integer of at least 1. Got 0"),
            ("bin_size", 20.0, TypeError, "an integer of at least 1. Got 20.0"),
            ("bin_size", "sqrt", ValueError, "'auto' or an integer.*Got 'sqrt'"),
            ("multi_class", "both", ValueError, "'pooled', 'top_label'.*Got 'both'"),
        ]
        y, q = [0, 1] * 30, np.linspace(0, 1, 60)
        for parameter, value, error, message in cases:
            name = f"The '{parameter}' parameter of calibration_error_interval must"
            with (
                case(f"{parameter}={value!r}"),
                pytest.raises(error, match=f"{name} be.*{message}"),
            ):
                calibration_error_interval(y, q, **{parameter: value})

    @pytest.mark.parametrize("seed", [-1, "0", 0.5, True])
    def test_a_source_of_draws_that_is_none_is_named(self, seed):
        message = "The 'random_state' parameter of calibration_error_interval must be"
        with pytest.raises(ValueError, match=f"{message}.*Got {seed!r}"):
            calibration_error_interval(
                [0, 1], [0.1, 0.9], method="simulation", random_state=seed
            )

    @pytest.mark.parametrize("multi_class", ["class_wise", "per_class"])
    def test_one_interval_cannot_be_of_every_class(self, multi_class):
        message = (
            "calibration_error_interval returns one interval.*pass y_true == label"
        )
        with pytest.raises(ValueError, match=message):
            calibration_error_interval(
                [0, 1], [[0.1, 0.9], [0.2, 0.8]], multi_class=multi_class
            )

    def test_inputs_are_not_modified(self):
        y, q = make_calibrated_pairs(300, random_state=0)
        q[:3] = [-0.0, 1.0, 1 + 1e-12]
        arguments = {"sample_weight": np.arange(300) % 3, "groups": np.arange(300) // 2}
        arrays = y, q, *arguments.values()
        copies = [array.copy() for array in arrays]
        for array in arrays:
            array.flags.writeable = False
        calibration_error_interval(y, q, **arguments)
        for array, copied in zip(arrays, copies, strict=True):
            assert array.tobytes() == copied.tobytes()


class TestExport:
    @pytest.fixture
    def interval(self):
        return CalibrationErrorInterval(
            estimate=0.05,
            low=0.01,
            high=0.25,
            pvalue=0.0123,
            plug_in=0.0625,
            method="score",
            confidence_level=0.9,
            bin_size=20,
            n_bins=5,
            n_pairs=100,
            n_groups=None,
            n_effective_groups=None,
            n_samples=None,
        )

    def test_its_repr_shows_that_it_is_open_at_zero(self, interval):
        opened = replace(interval, low=float(np.finfo(float).eps))
        assert "(0.0500 (0, 0.2500], pvalue" in repr(opened)
        closed = replace(interval, low=0.0)
        assert "(0.0500 [0.0000, 0.2500], pvalue" in repr(closed)

    def test_its_repr_names_groups_and_draws(self):
        y, q = make_calibrated_pairs(100, random_state=0)
        grouped = calibration_error_interval(y, q, groups=np.arange(100) // 2)
        assert repr(grouped).endswith("n_pairs=100, n_groups=50)")
        drawn = calibration_error_interval(y, q, method="simulation", n_samples=50)
        assert repr(drawn).endswith("n_pairs=100, n_samples=50)")

    def test_to_dict_is_json(self):
        y, q = make_calibrated_pairs(100, random_state=0)
        for kwargs in [{}, {"groups": q}, {"method": "simulation"}]:
            found = calibration_error_interval(y, q, **kwargs).to_dict()
            assert json.loads(json.dumps(found)) == found


def test_it_warns_if_few_rows_carry_the_error():
    # 998 right rows and two of probability .8 whose labels are negative
    q, y = np.r_[np.full(998, 1e-4), 0.8, 0.8], np.zeros(1000, dtype=int)
    with pytest.warns(UserWarning, match=r"Only .* rows carry the error"):
        calibration_error_interval(y, q, pos_label=1)


def test_probabilities_of_the_other_class_give_a_warning():
    rng = np.random.default_rng(0)
    q = rng.random(100)
    y = (rng.random(100) < q).astype(int)
    calibration_error_interval(y, q)
    with pytest.warns(UserWarning, match="Positive labels are rarer .* 'pos_label'"):
        calibration_error_interval(y, 1 - q)
    with pytest.warns(UserWarning, match="Positive labels are rarer"):
        calibration_error_interval(y, q, pos_label=0)
    # A top label that ranks wrong above right answers is no other class.
    top = np.c_[q, 1 - q]
    right = np.where(q > 0.5, 0, 1)
    y = np.where(np.maximum(q, 1 - q) > 0.75, 1 - right, right)
    calibration_error_interval(y, top, multi_class="top_label")


def test_rows_in_another_order_give_a_warning():
    rng = np.random.default_rng(0)
    q = pd.Series(rng.random(60), index=[f"r{k}" for k in range(60)])
    y = (pd.Series(rng.random(60), index=q.index) < q).astype(int)
    calibration_error_interval(y, q)
    calibration_error_interval(y.reset_index(drop=True), q)  # indexes of no relation
    with pytest.warns(UserWarning, match="same index in different orders"):
        calibration_error_interval(y.sort_index(), q.sort_values())


def test_the_level_of_a_test_as_confidence_level_gives_a_warning():
    rng = np.random.default_rng(0)
    q = rng.random(60)
    with pytest.warns(UserWarning, match="0.05 is unusual. .* pass 0.95"):
        calibration_error_interval(rng.random(60) < q, q, confidence_level=0.05)


def test_an_error_of_rare_positives_stands_beside_their_expected_and_true_number():
    y, q = [1] * 6 + [0] * 594, [0.004] * 300 + [0.006] * 300
    result = calibration_error_interval(y, q)
    assert ", expected=3.0, found=6, " in repr(result)
    assert (result.expected, result.found) == (pytest.approx(3), 6)
    assert "sum to 3.0 positives, and 6 of 600 pairs are" in result._repr_html_()
    common = calibration_error_interval(1 - np.array(y), q)
    weighted = calibration_error_interval(y, q, sample_weight=[2] * 600)
    both = calibration_error_interval(
        y, np.c_[1 - np.array(q), q], multi_class="pooled"
    )
    for other in (common, weighted, both):
        assert "found" not in repr(other)
