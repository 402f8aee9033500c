"""Generated pairs have the law that they are said to have."""

import math

import numpy as np
import pytest
from scipy.stats import kstest

from skcalib.datasets import make_calibrated_pairs


def distorted(q, k):
    """The label frequency of one probability, as in section 4.3 of the thesis."""
    return max(0, q - k) if q <= 0.5 else min(1, q + k)


class TestPairs:
    @pytest.mark.parametrize("k", [0, 0.02, 0.1, 0.5])
    def test_frequencies_follow_the_rule(self, k):
        _, q, frequency = make_calibrated_pairs(
            2000, k=k, return_frequency=True, random_state=0
        )
        expected = [distorted(value, k) for value in q]
        np.testing.assert_allclose(frequency, expected, atol=1e-15)

    @pytest.mark.parametrize("k", [0, 0.02, 0.1, 0.5])
    @pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.1, 2)])
    def test_labels_occur_as_often_as_the_frequencies_say(self, a, b, k):
        y, q, t = make_calibrated_pairs(
            100_000, a=a, b=b, k=k, return_frequency=True, random_state=1
        )
        for low, high in [(0, 1), (0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.9)]:
            inside = (q >= low) & (q <= high)
            excess = (y - t)[inside].sum()
            assert abs(excess) <= 5 * math.sqrt((t * (1 - t))[inside].sum())
        assert not y[t == 0].any()
        assert y[t == 1].all()

    @pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.1, 2), (3, 1)])
    def test_probabilities_have_the_beta_law(self, a, b):
        # fails once in a thousand seeds
        _, q = make_calibrated_pairs(5000, a=a, b=b, random_state=2)
        assert kstest(q, "beta", args=(a, b)).pvalue > 1e-3

    def test_the_default_is_ten_thousand_calibrated_pairs(self):
        y, q, t = make_calibrated_pairs(return_frequency=True, random_state=0)
        assert y.shape == q.shape == t.shape == (10_000,)
        assert (q == t).all()
        assert kstest(q, "beta", args=(0.5, 0.5)).pvalue > 1e-3


class TestSeeds:
    def test_the_distortion_does_not_change_the_probabilities(self):
        _, plain = make_calibrated_pairs(50, random_state=3)
        _, distorted_q = make_calibrated_pairs(50, k=0.1, random_state=3)
        np.testing.assert_array_equal(plain, distorted_q)


class TestArguments:
    @pytest.mark.parametrize(
        ("parameter", "value", "error", "message"),
        [
            ("n_samples", 10.0, TypeError, "an integer of at least 1. Got 10.0"),
            ("a", 0, ValueError, r"a number in \[1e-06, 1e\+06\]. Got 0"),
            ("b", -1, ValueError, r"a number in \[1e-06, 1e\+06\]. Got -1"),
            ("k", -0.1, ValueError, r"a number in \[0, 0.5\]. Got -0.1"),
            ("k", 0.6, ValueError, r"a number in \[0, 0.5\]. Got 0.6"),
            ("k", None, TypeError, r"a number in \[0, 0.5\]. Got None"),
        ],
    )
    def test_a_wrong_one_is_named(self, parameter, value, error, message):
        name = f"The '{parameter}' parameter of make_calibrated_pairs must be.*"
        with pytest.raises(error, match=name + message):
            make_calibrated_pairs(**{parameter: value})

    @pytest.mark.parametrize(
        ("transform", "error", "message"),
        [
            (lambda q: q + 1, ValueError, "must return 10 .*values from 1.* to"),
            (lambda q: q * np.nan, ValueError, "values from nan to nan"),
            (lambda q: q[:5], ValueError, r"shape \(5,\)"),
            (lambda q: ["a"] * 10, ValueError, "type <U1"),
            (0.5, TypeError, "must be a callable or None. Got 0.5"),
        ],
    )
    def test_what_are_no_frequencies_is_an_error(self, transform, error, message):
        with pytest.raises(error, match=f"'transform'.*{message}"):
            make_calibrated_pairs(10, transform=transform, random_state=0)

    def test_one_distortion_is_enough(self):
        with pytest.raises(ValueError, match="takes 'k' or 'transform', not both"):
            make_calibrated_pairs(10, k=0.1, transform=np.square)


def test_a_function_may_give_the_frequencies():
    y, q, t = make_calibrated_pairs(
        50_000, transform=np.square, return_frequency=True, random_state=0
    )
    np.testing.assert_array_equal(t, q**2)
    assert abs((y - t).sum()) <= 5 * math.sqrt((t * (1 - t)).sum())
