"""Counts of resamples have the multinomial law, whichever way they are made."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from skcalib.significance._resamples import (
    resample_counts,
    resample_distinct_sums,
    resample_sums,
)

# 59 items are drawn by index, from 60 on by cells.
SIZES = (3, 59, 60, 400)


def all_counts(n, b, seed=0, **kwargs):
    chunks = resample_counts(n, b, np.random.default_rng(seed), **kwargs)
    return np.concatenate([chunk.copy() for chunk in chunks])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("b", [1, 70])
def test_every_resample_has_n_items(n, b):
    counts = all_counts(n, b, block=7 * n)
    assert counts.shape == (b, n)
    assert (counts.sum(axis=1) == n).all()
    assert (counts >= 0).all()


@pytest.mark.parametrize("n", SIZES)
def test_counts_of_one_item_are_binomial(n):
    # a few cells of each row, which are nearly independent of each other
    counts = all_counts(n, 40_000)[:, : max(1, n // 20)].astype(int)
    largest = 4
    seen = np.bincount(np.minimum(counts, largest).ravel(), minlength=largest + 1)
    law = binom.pmf(np.arange(largest), n, 1 / n)
    law = np.append(law, 1 - law.sum())[: min(n, largest) + 1]
    assert chisquare(seen[: law.size], law / law.sum() * seen.sum()).pvalue > 1e-3


@pytest.mark.parametrize("n", [60, pytest.param(400, marks=pytest.mark.slow)])
def test_counts_of_two_items_have_the_covariance_of_draws(n):
    b = 60_000
    counts = all_counts(n, b).astype(float)
    # Var of the sum of half of the items: n/4, by which all covariances are -1/n
    half = counts[:, : n // 2].sum(axis=1)
    assert half.var() == pytest.approx(n / 4, rel=5 * np.sqrt(2 / b))
    assert half.mean() == pytest.approx(n / 2, abs=5 * np.sqrt(n / 4 / b))


@pytest.mark.parametrize("n", [59, 300])
def test_sums_are_those_of_the_counts(n):
    columns = np.random.default_rng(1).integers(0, 9, (n, 3))
    sums = resample_sums(columns, 50, np.random.default_rng(2))
    assert (sums == all_counts(n, 50, seed=2) @ columns).all()


def test_large_whole_numbers_are_summed_exactly():
    columns = np.full((100, 1), 2**24 + 1)
    sums = resample_sums(columns, 20, np.random.default_rng(0))
    assert (sums == 100 * (2**24 + 1)).all()


@pytest.mark.parametrize("times", [[900, 60, 40], [1] * 40 + [2] * 40])
def test_distinct_rows_stand_for_their_copies(times):
    times = np.array(times)
    rows = np.random.default_rng(3).integers(0, 5, (len(times), 2)).astype(float)
    b, n = 30_000, times.sum()
    sums = resample_distinct_sums(rows, times, b, np.random.default_rng(4))
    mean = times @ rows
    covariance = np.cov(rows.T, fweights=times, ddof=0) * n
    error = 5 * np.sqrt(np.diag(covariance) / b)
    assert (np.abs(sums.mean(axis=0) - mean) < error).all()
    assert np.cov(sums.T) == pytest.approx(covariance, rel=0.06, abs=0.03 * n)
