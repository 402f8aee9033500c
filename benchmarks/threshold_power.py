"""How often is a threshold found with few answers? Bounds of the literature.

    python benchmarks/threshold_power.py

Answers have probabilities of a beta distribution, and are right with these
probabilities ('calibrated'), with smaller ones ('overconfident'), or nearly always if
the probability is high ('two kinds'). In 'limit' and 'waves', no threshold has the
wanted precision, though all or some answers nearly do. The bets were chosen with these
populations. Four others are for testing, and were written down before any result:

- stated: six levels, most often the highest ones, with an accuracy below their value
- steep: uniform probabilities, and a logistic chance to be right
- decline: a chance that falls linearly, so that the most confident half has the wanted
  precision, and no larger share
- tail: calibrated, but one in thirty answers is the most confident one and right with
  a chance of one half

A rule is wrong if the true precision at its threshold is smaller than the wanted one;
at most 5% may be wrong.
"""

from zlib import crc32

import _study  # noqa: F401
import numpy as np
from _common import print_table, versions, write_csv
from scipy.special import betainc, expit, logit

from skcalib.rates._precision import _by_bets, _by_sequences, _find, _sizes

ERROR = 0.05
SIZES, WANTED, SAMPLES, TESTED = (50, 100, 200, 500), (0.8, 0.9), 200, 400
POPULATIONS = dict.fromkeys(
    ("calibrated", "overconfident", "two kinds", "limit", "waves"), "tuning"
) | dict.fromkeys(("stated", "steep", "decline", "tail"), "testing")
# Populations in which some threshold has the precision.
REACHED = "calibrated", "overconfident", "two kinds", "stated", "steep", "decline"


def draw(rng, n, population, wanted):
    """Return the chances to be right and the probabilities, highest first."""
    if population == "stated":
        levels = np.array([1.0, 0.95, 0.9, 0.8, 0.7, 0.5])
        chances = np.array([0.95, 0.88, 0.82, 0.75, 0.65, 0.55])
        at = np.sort(rng.choice(6, n, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05]))
        return chances[at], levels[at]
    if population in ("steep", "decline"):
        q = -np.sort(-rng.random(n))
        if population == "steep":
            return expit(12 * (q - 0.4)), q
        return wanted + 0.03 - 0.12 * (1 - q), q
    q = -np.sort(-rng.beta(4, 1, n))
    if population == "tail":
        first = rng.binomial(n, 1 / 30)
        rest = 0.99 * q[: n - first]
        tail = -np.sort(-rng.uniform(0.99, 1, first))
        return np.append(np.full(first, 0.5), rest), np.append(tail, rest)
    if population == "calibrated":
        return q, q
    if population == "overconfident":
        return expit(logit(np.clip(q, 1e-9, 1 - 1e-9)) - 1), q
    if population == "two kinds":
        return np.where(q > 0.75, 0.98, 0.6), q
    if population == "limit":
        return np.full(n, wanted - 0.002), q
    high = (20 * q).astype(int) % 2 == 1
    return np.where(high, wanted + 0.05, wanted - 0.1), q


def one_sequence(y, q, wanted, error):
    """Start at 1.6 times the smallest number that can pass; Clopper-Pearson."""
    sizes = _sizes(q, int(np.ceil(np.log(error) / np.log(wanted))), 16)
    right = np.cumsum(y)
    return last_of_sequence(
        sizes,
        lambda n: betainc(max(right[n - 1], 1e-9), n - right[n - 1] + 1, wanted),
        error,
    )


def bentkus(y, q, wanted, error):
    """Bentkus' bound is e times the binomial tail of Clopper and Pearson."""
    return one_sequence(y, q, wanted, error / np.e)


def hedged(y, q, wanted, error):
    """Capital with bets of Waudby-Smith and Ramdas (2024), eq. 26, one sequence."""
    sizes = _sizes(q, int(np.ceil(np.log(error) / np.log(wanted))), 16)
    rng = np.random.default_rng(y.size)

    def pvalue(n):
        x = rng.permutation(y[:n]).astype(float)
        t = np.arange(1, n + 1)
        mean = (0.5 + np.cumsum(x)) / (t + 1)
        square = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
        before = np.append(0.25, square[:-1])
        bet = np.minimum(np.sqrt(2 * np.log(1 / error) / (n * before)), 0.75 / wanted)
        return np.exp(-np.cumsum(np.log1p(bet * (x - wanted))).max())

    return last_of_sequence(sizes, pvalue, error)


def last_of_sequence(sizes, pvalue, error):
    if not sizes.size:
        return 0
    passed = 0
    start = sizes[min(np.searchsorted(sizes, 1.6 * sizes[0]), sizes.size - 1)]
    for n in sizes[sizes >= start]:
        if pvalue(int(n)) > error:
            break
        passed = int(n)
    return passed


RULES = {
    "threshold_for_precision": lambda y, q, p, e: _find(y, q, None, p, e)[1],
    "four sequences, Clopper-Pearson": lambda y, q, p, e: _by_sequences(
        y, q, None, p, e
    )[1],
    "one sequence, Clopper-Pearson": one_sequence,
    "one sequence, Bentkus": bentkus,
    "one sequence, hedged capital": hedged,
    "all thresholds, mixture of bets": lambda y, q, p, e: _by_bets(y, q, None, p, e)[1],
}


def power_rows():
    rows = []
    for population, part in POPULATIONS.items():
        # hedged capital is slow, and its samples say enough about it
        rules = {k: f for k, f in RULES.items() if part == "tuning" or f is not hedged}
        n_samples = SAMPLES if part == "tuning" else TESTED
        for wanted in WANTED:
            chance, values = draw(
                np.random.default_rng(0), 1_000_000, population, wanted
            )
            precision = np.cumsum(chance) / np.arange(1, chance.size + 1)
            for n in SIZES:
                rng = np.random.default_rng(crc32(f"{population}{wanted}{n}".encode()))
                found = {rule: [] for rule in rules}
                for _ in range(n_samples):
                    chance, q = draw(rng, n, population, wanted)
                    y = rng.random(n) < chance
                    for rule, function in rules.items():
                        m = function(y, q, wanted, ERROR)
                        last = np.searchsorted(-values, -q[m - 1], "right") if m else 0
                        wrong = m > 0 and precision[max(last, 1) - 1] < wanted
                        found[rule].append((m > 0, m / n, wrong))
                for rule, each in found.items():
                    some, share, wrong = np.mean(each, axis=0)
                    rows.append(
                        {
                            "part": part,
                            "population": population,
                            "precision": wanted,
                            "n": n,
                            "rule": rule,
                            "found": f"{some:.3f}",
                            "share selected": f"{share:.3f}",
                            "wrong": f"{wrong:.3f}",
                            "samples": n_samples,
                        }
                    )
    return rows


def mean_rows(rows):
    """Return means of the populations with a threshold, and the largest error."""
    means = []
    for part, n, rule in dict.fromkeys((r["part"], r["n"], r["rule"]) for r in rows):
        some = [r for r in rows if (r["part"], r["n"], r["rule"]) == (part, n, rule)]
        real = [r for r in some if r["population"] in REACHED]
        means.append(
            {
                "part": part,
                "n": n,
                "rule": rule,
                "found": f"{np.mean([float(r['found']) for r in real]):.2f}",
                "share selected": (
                    f"{np.mean([float(r['share selected']) for r in real]):.3f}"
                ),
                "largest share wrong": max(r["wrong"] for r in some),
                "cells": len(real),
            }
        )
    return means


def main():
    means = mean_rows(power_rows())
    print_table(means)
    write_csv("threshold_power.csv", means, versions("numpy", "scipy"))


if __name__ == "__main__":
    main()
