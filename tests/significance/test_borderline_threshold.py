"""The threshold: by hand, closed at both ends, and what it refuses."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcalib.significance import borderline_threshold


def test_quantile_by_hand():
    # borderline gains 1 .. 11; the 95th percentile lies at 1 + 0.95 * 10
    gains = [99, *range(1, 12), 98]
    pvalues = [0.07, *[0.05] * 11, 0.03]
    assert borderline_threshold(gains, pvalues) == (10.5, 11)


def test_both_ends_belong_to_the_interval():
    gains = np.arange(12.0)
    pvalues = np.r_[[0.04] * 6, [0.06] * 6]
    assert borderline_threshold(gains, pvalues).n_pairs == 12
    outside = np.r_[np.nextafter(0.04, 0), pvalues, np.nextafter(0.06, 1)]
    assert borderline_threshold(np.r_[50, gains, 50], outside).n_pairs == 12


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 0.12)), min_size=1, max_size=60),
    st.floats(0, 1),
)
def test_at_most_its_share_of_borderline_gains_is_above(pairs, quantile):
    gains, pvalues = np.array(pairs).T
    borderline = np.sort(np.abs(gains[(pvalues >= 0.04) & (pvalues <= 0.06)]))
    if not borderline.size:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threshold, n_pairs = borderline_threshold(gains, pvalues, quantile=quantile)
    assert n_pairs == borderline.size
    # linear between the two order statistics around (n - 1) q
    place = (n_pairs - 1) * quantile
    low, high = borderline[int(np.floor(place))], borderline[int(np.ceil(place))]
    expected = low + (place - np.floor(place)) * (high - low)
    assert threshold == pytest.approx(expected, abs=1e-12)


def test_few_pairs_warn_with_their_number():
    with pytest.warns(UserWarning, match="from 9 borderline pairs"):
        assert borderline_threshold(np.ones(9), np.full(9, 0.05)) == (1, 9)
    borderline_threshold(np.ones(10), np.full(10, 0.05))


@pytest.mark.parametrize(
    ("gains", "pvalues", "params", "message"),
    [
        ([1.0], [0.5], {}, r"p-value in \[0.04, 0.06\]. Got none among 1"),
        ([1.0, 2.0], [0.05], {}, "gains has 2, pvalues has 1"),
        ([np.nan], [0.05], {}, "'gains'.*nan in row 0"),
        ([1.0, 1.0], [0.05, 1.5], {}, "'pvalues'.*1.5 in row 1"),
        ([[1.0]], [[0.05]], {}, "'gains'.*sequence of numbers"),
        (["a"], [0.05], {}, "'gains'.*must contain numbers"),
        ([10**400, 1], [0.05, 0.05], {}, "'gains'.*must contain numbers"),
        ([1.0], [0.05], {"low": 0.07}, "'high'.*0.06"),
        ([1.0], [0.05], {"quantile": 2}, "'quantile'"),
    ],
)
def test_what_is_refused(gains, pvalues, params, message):
    with pytest.raises(ValueError, match=message):
        borderline_threshold(gains, pvalues, **params)
