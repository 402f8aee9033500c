"""How often is a threshold found with few answers? Bounds of the literature.

    python benchmarks/threshold_power.py [--quick]

Answers have probabilities of a beta distribution, and are right with these
probabilities ('calibrated'), with smaller ones ('overconfident'), or nearly always if
the probability is high ('two kinds'). In 'limit' and 'waves', no threshold has the
wanted precision, though all or some answers nearly do. A rule is wrong if the true
precision at its threshold is smaller than the wanted one; at most 5% may be wrong.
--quick has few samples, and writes nothing.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from zlib import crc32

import numpy as np
from _common import print_table, versions, write_csv
from scipy.special import betainc, expit, logit

from skcalib.evaluation import threshold_for_precision
from skcalib.rates._precision import _by_bets, _by_sequences, _sizes

ERROR = 0.05
SIZES, WANTED, SAMPLES = (50, 100, 200, 500), (0.8, 0.9), 200
POPULATIONS = ("calibrated", "overconfident", "two kinds", "limit", "waves")


def draw(rng, n, population, wanted):
    """Return the chances to be right and the probabilities, highest first."""
    q = -np.sort(-rng.beta(4, 1, n))
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
    return last_of_sequence(
        sizes,
        lambda n: betainc(max(y[:n].sum(), 1e-9), n - y[:n].sum() + 1, wanted),
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


def skcalib(y, q, wanted, error):
    try:
        return threshold_for_precision(
            y, q, precision=wanted, confidence_level=1 - error
        ).n_selected
    except ValueError:
        return 0


RULES = {
    "threshold_for_precision": skcalib,
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
    for population in POPULATIONS:
        for wanted in WANTED:
            chance, values = draw(
                np.random.default_rng(0), 1_000_000, population, wanted
            )
            precision = np.cumsum(chance) / np.arange(1, chance.size + 1)
            for n in SIZES:
                rng = np.random.default_rng(crc32(f"{population}{wanted}{n}".encode()))
                found = {rule: [] for rule in RULES}
                for _ in range(SAMPLES):
                    chance, q = draw(rng, n, population, wanted)
                    y = rng.random(n) < chance
                    for rule, function in RULES.items():
                        m = function(y, q, wanted, ERROR)
                        last = np.searchsorted(-values, -q[m - 1], "right") if m else 0
                        wrong = m > 0 and precision[max(last, 1) - 1] < wanted
                        found[rule].append((m > 0, m / n, wrong))
                for rule, each in found.items():
                    some, share, wrong = np.mean(each, axis=0)
                    rows.append(
                        {
                            "population": population,
                            "precision": wanted,
                            "n": n,
                            "rule": rule,
                            "found": f"{some:.3f}",
                            "share selected": f"{share:.3f}",
                            "wrong": f"{wrong:.3f}",
                            "samples": SAMPLES,
                        }
                    )
    return rows


def mean_rows(rows):
    """Return means of the populations with a threshold, and the largest error."""
    means = []
    for n in SIZES:
        for rule in RULES:
            some = [r for r in rows if r["rule"] == rule and r["n"] == n]
            real = [r for r in some if r["population"] in POPULATIONS[:3]]
            means.append(
                {
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part, no CSV")
    quick = parser.parse_args().quick
    if quick:
        globals()["SAMPLES"] = 20
    rows = power_rows()
    means = mean_rows(rows)
    print_table(means)
    if not quick:
        note = versions("numpy", "scipy")
        write_csv("threshold_power_cells.csv", rows, note)
        write_csv("threshold_power.csv", means, note)


QUICK = [
    {
        "set": {"SIZES": (50, 100), "SAMPLES": 50},
        "files": {
            "threshold_power_cells.csv": {
                "keys": ["population", "precision", "n", "rule"],
                "within": {"found": 0.25, "share selected": 0.25, "wrong": 0.15},
                "free": ["samples"],
            },
            "threshold_power.csv": {
                "keys": ["n", "rule"],
                "within": {
                    "found": 0.15,
                    "share selected": 0.15,
                    "largest share wrong": 0.15,
                },
            },
        },
    }
]


if __name__ == "__main__":
    main()
