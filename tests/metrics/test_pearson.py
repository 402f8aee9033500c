"""Tails of the distribution with three given moments, against scipy's."""

import pytest
from cases import case
from scipy.stats import norm, pearson3

from skcalib.metrics._score_interval import MOST, tail_above

SKEWNESS = [-2.0, -0.5, -0.01, 0.01, 0.3, 1.0, 2.5]
PLACES = [-2.0, -0.7, 0.0, 0.4, 1.5, 4.0]


def test_tails_are_those_of_pearsons_third_type():
    for place in PLACES:
        for skewness in SKEWNESS:
            with case(f"{place}, {skewness}"):
                distribution = pearson3(skewness)
                assert tail_above(place, skewness) == pytest.approx(
                    distribution.sf(place), rel=1e-6
                )
                # the tail below is the tail above of the mirror image
                assert tail_above(-place, -skewness) == pytest.approx(
                    distribution.cdf(place), rel=1e-6
                )


def test_hardly_any_skewness_is_none():
    assert tail_above(1.5, 1e-5) == norm.sf(1.5)


def test_more_skewness_than_of_one_squared_normal_counts_as_that():
    assert tail_above(2.0, 50.0) == tail_above(2.0, MOST)
