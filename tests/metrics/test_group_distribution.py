"""How groups enter the distribution of the debiased square."""

import numpy as np
import pytest
from scipy.special import ndtr

from skcalib._pairs import check_pairs
from skcalib.metrics import calibration_error_interval
from skcalib.metrics._bins import Binning
from skcalib.metrics._grouped_bins import GroupedBins, GroupedRows


def zipf_groups(seed, n_groups=80):
    """Return labels, probabilities and groups of very different sizes."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.zipf(1.7, n_groups), 60)
    groups = np.repeat(np.arange(n_groups), sizes)
    q = rng.beta(0.5, 1, groups.size)
    effect = 0.1 * rng.normal(size=n_groups)[groups]
    return (rng.random(groups.size) < q + effect).astype(int), q, groups


def test_each_group_is_left_out_of_all_sums():
    y, q, groups = zipf_groups(0)
    (pairs,) = check_pairs(y, q, groups=groups)
    bins = GroupedBins(GroupedRows(pairs), Binning(40, None, "quantile"))
    e = bins.entries
    residual, count = (e.table(each).toarray() for each in (e.residual, e.count))
    expected = []
    for left in range(residual.shape[0]):
        r, n = np.delete(residual, left, 0), np.delete(count, left, 0)
        products = r.sum(0) ** 2 - (r**2).sum(0)
        pairs_of_rows = n.sum(0) ** 2 - (n**2).sum(0)
        expected.append(n.sum(0) @ (products / pairs_of_rows) / n.sum())
    np.testing.assert_allclose(bins.squares_left_out(), expected, rtol=1e-9)


def test_the_effective_number_of_groups_is_that_of_equal_ones():
    y, q, groups = zipf_groups(1)
    size = np.bincount(groups)
    found = calibration_error_interval(y, q, groups=groups)
    assert found.n_effective_groups == pytest.approx(size.sum() ** 2 / (size @ size))
    alone = calibration_error_interval(y, q, groups=np.arange(y.size))
    assert alone.n_effective_groups == alone.n_groups == y.size
    assert calibration_error_interval(y, q).n_effective_groups is None


def test_fewer_than_ten_effective_groups_give_a_warning():
    y, q, _ = zipf_groups(2)
    y, q = np.tile(y, 3)[:200], np.tile(q, 3)[:200]
    sizes = np.r_[100, np.full(50, 2)]
    with pytest.warns(UserWarning, match=r"is based on 3\.9 effective groups"):
        calibration_error_interval(y, q, groups=np.repeat(np.arange(51), sizes))


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.4])
def test_errors_of_unequal_groups_are_covered(rho):
    # probabilities of a group are alike; the frequency is 1 - (1 - q)^1.5
    node = (np.arange(100_000) + 0.5) / 100_000
    truth = np.sqrt(np.mean((1 - (1 - node) ** 1.5 - node) ** 2))
    covered = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        sizes = np.ceil(rng.lognormal(1.2, 0.9, 120)).astype(int)
        groups = np.repeat(np.arange(120), sizes)

        def uniform(share, groups=groups, rng=rng):
            own, common = rng.normal(size=groups.size), rng.normal(size=120)[groups]
            return ndtr(np.sqrt(1 - share) * own + np.sqrt(share) * common)

        q = uniform(0.5)
        y = (uniform(rho) < 1 - (1 - q) ** 1.5).astype(int)
        found = calibration_error_interval(y, q, groups=groups)
        covered += found.low <= truth <= found.high
    # the standard error of 500 is .010
    assert covered / 500 > 0.93 - 2 * 0.010
