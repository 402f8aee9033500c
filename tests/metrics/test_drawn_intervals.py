"""Basic bootstrap of the debiased square."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from skcalib._pairs import check_pairs
from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import calibration_error, calibration_error_interval
from skcalib.metrics._bins import Binning, bins_of
from skcalib.metrics._grouped_bins import GroupedBins, GroupedRows
from skcalib.metrics._interval import basic_interval, pivots_of_bins, pivots_of_groups

FEW = "ignore:.*(no test of perfect calibration|effective groups):UserWarning"


def pairs_of(y, q, **kwargs):
    (pairs,) = check_pairs(y, q, **kwargs)
    return pairs


def bootstrap(y, q, **kwargs):
    kwargs = {"n_samples": 500, "random_state": 0, **kwargs}
    return calibration_error_interval(y, q, method="bootstrap", **kwargs)


class TestPivotsOfBins:
    Y = np.array([0, 0, 1, 0, 1, 1, 1])
    Q = np.array([0.2, 0.2, 0.2, 0.2, 0.7, 0.7, 0.7])

    def exact(self):
        """Return every value of the pivot with its chance: 4 rows of .2, 3 of .7."""
        values = {}
        plug_in = 4 / 7 * (0.2 - 1 / 4) ** 2 + 3 / 7 * (0.7 - 1) ** 2
        for k in range(5):
            p = k / 4
            # all three of the other bin come true, as seen
            square = 4 / 7 * ((0.2 - p) ** 2 - p * (1 - p) / 3) + 3 / 7 * 0.3**2
            values[round(square - plug_in, 12)] = binom(4, 1 / 4).pmf(k)
        return values

    def test_it_draws_labels_in_every_bin(self):
        sums = bins_of(pairs_of(self.Y, self.Q), Binning(None, 2, "uniform"))
        drawn = pivots_of_bins(sums, 20_000, np.random.default_rng(0)).round(12)
        exact = self.exact()
        assert set(drawn) <= set(exact)
        for value, chance in exact.items():
            error = np.sqrt(chance * (1 - chance) / 20_000)
            assert abs(np.mean(drawn == value) - chance) < 5 * error
        # unbiased where the frequencies seen are the truth
        assert sum(v * c for v, c in exact.items()) == pytest.approx(0, abs=1e-12)


class TestPivotsOfGroups:
    Y = np.array([0, 1, 1, 0, 1, 0])
    Q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.8])
    GROUPS = np.array([0, 0, 1, 1, 1, 2])

    def exact(self):
        """Return every value of the pivot of three groups drawn from three."""
        r = [(self.Q - self.Y)[g == self.GROUPS].sum() for g in range(3)]
        n = [np.sum(g == self.GROUPS) for g in range(3)]
        plug_in = (sum(r) / sum(n)) ** 2
        values = []
        for drawn in itertools.product(range(3), repeat=3):
            several = list(itertools.permutations(drawn, 2))
            square = sum(r[a] * r[b] for a, b in several)
            square /= sum(n[a] * n[b] for a, b in several)
            values.append(square - plug_in)
        return np.array(values)

    def test_it_draws_whole_groups(self):
        pairs = pairs_of(self.Y, self.Q, groups=self.GROUPS)
        bins = GroupedBins(GroupedRows(pairs), Binning(6, None, "quantile"))
        drawn = pivots_of_groups(bins, 20_000, np.random.default_rng(0)).round(10)
        exact, chances = np.unique(self.exact().round(10), return_counts=True)
        assert set(drawn) == set(exact)
        for value, chance in zip(exact, chances / 27, strict=True):
            error = np.sqrt(chance * (1 - chance) / 20_000)
            assert abs(np.mean(drawn == value) - chance) < 5 * error


def test_the_interval_is_turned_round_the_estimate():
    pivots = np.arange(-10, 11) / 100
    # .09 + .10 = .19 above, .09 - .10 < 0 below
    assert basic_interval(0.09, pivots, 1 - 1e-12) == pytest.approx((0, 0.19**0.5))
    assert basic_interval(0.09, pivots, 0.5) == pytest.approx((0.04**0.5, 0.14**0.5))


class TestInterval:
    @pytest.mark.parametrize("grouped", [False, True])
    def test_it_has_the_points_and_the_p_value_of_the_score(self, grouped):
        y, q = make_calibrated_pairs(600, k=0.1, random_state=0)
        groups = np.arange(600) // 3 if grouped else None
        found = bootstrap(y, q, groups=groups)
        score = calibration_error_interval(y, q, groups=groups)
        for name in ("estimate", "plug_in", "p_value", "bin_size", "n_bins"):
            assert getattr(found, name) == getattr(score, name)
        assert (found.method, found.n_samples) == ("bootstrap", 500)
        assert found.low < found.estimate < found.high
        assert found.low == pytest.approx(score.low, abs=0.03)
        assert found.high == pytest.approx(score.high, abs=0.03)

    def test_the_seed_decides(self):
        y, q = make_calibrated_pairs(300, k=0.1, random_state=0)
        assert bootstrap(y, q) == bootstrap(y, q)
        assert bootstrap(y, q) != bootstrap(y, q, random_state=1)

    @pytest.mark.parametrize("digits", [1, 17])
    def test_an_integer_weight_equals_repetition(self, digits):
        y, q = make_calibrated_pairs(80, k=0.1, random_state=0)
        q, weight = q.round(digits), np.arange(80) % 4
        found = bootstrap(y, q, sample_weight=weight)
        expected = bootstrap(y.repeat(weight), q.repeat(weight))
        assert (found.low, found.high) == pytest.approx(
            (expected.low, expected.high), rel=1e-9
        )

    def test_the_rows_of_a_matrix_are_drawn_whole(self):
        rng = np.random.default_rng(0)
        proba = rng.dirichlet(np.ones(4), 300)
        y = (rng.random(300)[:, None] > proba.cumsum(axis=1)).sum(axis=1)
        found = bootstrap(y, proba, labels=range(4))
        assert found.n_groups == 300
        whole = np.repeat(np.arange(300), 4)
        flat = bootstrap(
            (np.arange(4) == y[:, None]).ravel(), proba.ravel(), groups=whole
        )
        assert (found.low, found.high) == pytest.approx((flat.low, flat.high))

    def test_blocks_do_not_matter(self, monkeypatch):
        y, q = make_calibrated_pairs(300, k=0.1, random_state=0)
        expected = bootstrap(y, q)
        monkeypatch.setattr("skcalib.metrics._interval._BLOCK", 100)
        found = bootstrap(y, q)
        assert found.low == pytest.approx(expected.low)
        assert found.high == pytest.approx(expected.high)

    @pytest.mark.slow
    def test_a_large_error_is_covered(self):
        # 200 data sets: standard error .015 at .95
        truth = 0.0821  # of k = .1 under Beta(.5, .5), by numerical integration
        covered = 0
        for seed in range(200):
            y, q = make_calibrated_pairs(2000, k=0.1, random_state=seed)
            found = bootstrap(y, q)
            covered += found.low <= truth <= found.high
        assert covered / 200 == pytest.approx(0.95, abs=0.05)

    @pytest.mark.filterwarnings(FEW)
    @pytest.mark.filterwarnings("ignore:The interval is based on")
    def test_groups_that_never_meet_again_are_no_error(self):
        y, q = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.9]
        found = bootstrap(y, q, groups=[0, 1, 0, 1], bin_size=4)
        assert np.isfinite([found.low, found.high]).all()
        assert found.estimate <= calibration_error(y, q, bin_size=4) + 1e-12
