"""Errors of resamples: calibration_error with the counts as weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.metrics import calibration_error
from skcalib.metrics._binning import Binning
from skcalib.metrics._pairs import check_pairs
from skcalib.metrics._resampled_error import ResampledError


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 3)),
        min_size=2,
        max_size=40,
    ),
    st.integers(1, 12),
)
def test_counts_are_weights(rows, bin_size):
    y, q, count = np.array(rows).T
    if not count.any():
        return
    (pairs,) = check_pairs(y, q / 5, caller="test")
    binning = Binning(bin_size, None, "quantile")
    (found,) = ResampledError(pairs, np.arange(y.size), binning)(count[np.newaxis])
    expected = calibration_error(y, q / 5, bin_size=bin_size, sample_weight=count)
    assert found == pytest.approx(expected, abs=1e-12)


def test_items_of_several_pairs():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], 60)
    y = rng.integers(0, 3, 60)
    (pairs,) = check_pairs(y, proba, caller="test")
    counts = rng.multinomial(20, np.full(20, 1 / 20), 4)
    sentence = np.repeat(np.arange(20), 3)
    error = ResampledError(pairs, np.repeat(sentence, 3), Binning(25, None, "quantile"))
    expected = [
        calibration_error(y, proba, bin_size=25, sample_weight=count[sentence])
        for count in counts
    ]
    assert error(counts) == pytest.approx(expected, abs=1e-12)
