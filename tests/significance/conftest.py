"""The laws of small resamples, listed in whole numbers."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod

import pytest


def ratio(sums):
    return Fraction(sums[0], sums[1]) if sums[1] else Fraction(0)


def f1(sums):
    below = sums[1] + sums[2]
    return Fraction(2 * sums[0], below) if below else Fraction(0)


METRICS = {"mean": ratio, "ratio": ratio, "f1": f1}


def with_number(stats, statistic):
    """Return rows of Python integers; of 'mean' with the number of items beside."""
    if statistic == "mean":
        return [(int(x), 1) for x in stats]
    return [tuple(int(x) for x in row) for row in stats]


def law_of_gains(stats_a, stats_b, statistic, groups=None):
    """Return d, and the chance of each d* over all n^n resamples."""
    metric = METRICS[statistic]
    a, b = with_number(stats_a, statistic), with_number(stats_b, statistic)
    if groups is not None:
        a, b = by_group(a, groups), by_group(b, groups)
    rows = list(zip(a, b, strict=True))
    n = len(rows)

    def gain(drawn):
        first = [sum(column) for column in zip(*(x for x, _ in drawn), strict=True)]
        second = [sum(column) for column in zip(*(y for _, y in drawn), strict=True)]
        return metric(first) - metric(second)

    law = Counter()
    for drawn in combinations_with_replacement(range(n), n):
        ways = factorial(n) // prod(factorial(k) for k in Counter(drawn).values())
        law[gain([rows[i] for i in drawn])] += Fraction(ways, n**n)
    return gain(rows), law


def by_group(rows, groups):
    sums = {}
    for row, group in zip(rows, groups, strict=True):
        old = sums.get(group, (0,) * len(row))
        sums[group] = tuple(x + y for x, y in zip(old, row, strict=True))
    return list(sums.values())


def listed_p_value(stats_a, stats_b, statistic, alternative, groups=None):
    """Return the p-value over all n^n resamples as a Fraction."""
    d, law = law_of_gains(stats_a, stats_b, statistic, groups)
    events = {
        "greater": lambda x: x >= 2 * d,
        "less": lambda x: x <= 2 * d,
        "two-sided": lambda x: abs(x - d) >= abs(d),
    }
    return sum(chance for x, chance in law.items() if events[alternative](x))


@pytest.fixture(scope="session")
def listed():
    return listed_p_value


@pytest.fixture(scope="session")
def listed_law():
    return law_of_gains


def big_convolution(differences, threshold):
    """Return P(sum of n draws >= threshold): one power of a large whole number."""
    n, low = len(differences), min(differences)
    bits = 8 * (n * n.bit_length() // 8 + 2)
    one_draw = sum(
        k << (bits * (value - low)) for value, k in Counter(differences).items()
    )
    above = one_draw**n >> (bits * max(threshold - n * low, 0))
    size = bits // 8
    digits = above.to_bytes(-(-above.bit_length() // bits) * size, "little")
    ways = sum(
        int.from_bytes(digits[k : k + size], "little")
        for k in range(0, len(digits), size)
    )
    return Fraction(ways, n**n)


@pytest.fixture(scope="session")
def convolved():
    return big_convolution
