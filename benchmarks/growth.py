"""How the time of public functions grows: n, 10 n and 100 n.

    python benchmarks/growth.py

A row is a function on n rows, items, tokens or mentions: the processor time (best of
three, or one run above a second), and the power of n from the second time to the last.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import time
import warnings
from functools import partial

import numpy as np
from _common import best_times, print_table, versions, write_csv

from skcalib import SampledCorefPairs, counts, metrics, rates, recalibration, scorers
from skcalib import significance as tests
from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior

MOST = 1.2  # power with which a function needs a reason
REASONS = {
    "judged_accuracy": "arrays that are larger than the cache",
    "corrected_count": "sorts, in arrays that are larger than the cache",
    "mbr_clusters": "each step looks at all pairs of mentions",
    "pairs of mentions": "the result has all pairs of mentions",
    "SampledCorefPairs": "the result has all pairs of mentions",
    "n systems": "n systems have n (n - 1) / 2 pairs",
}
interval, ranking = metrics.calibration_error_interval, metrics.confidence_ranking


def pairs(n):
    rng = np.random.default_rng(n)
    q = rng.random(n) ** 3
    return rng.random(n) < q, q


def tens(y):
    return np.arange(y.size) // 10


def few(y):
    return np.where(tens(y) < y.size // 100, y, np.nan)


def classes(n, k):
    rng = np.random.default_rng(n)
    return rng.permutation(n) % k, rng.dirichlet(np.full(k, 0.2), n)


def systems(n, k=2):
    rng = np.random.default_rng(n)
    return {str(i): rng.lognormal(0, 0.5, n) for i in range(k)}


def chain(n):
    scores = np.random.default_rng(n).normal(size=(n, 20))
    return LinearChainPosterior(scores, np.zeros((20, 20)), lengths=[20] * (n // 20))


def mentions(n):
    return np.tril(np.random.default_rng(n).normal(size=(n, n)))


# The smallest size, what makes the arguments, and the functions.
CASES = [
    (10**4, pairs, {
        "calibration_error": metrics.calibration_error,
        "calibration_error_interval": interval,
        "interval, two decimals": lambda y, q: interval(y, q.round(2)),
        "interval, tens": lambda y, q: interval(y, q, groups=tens(y)),
        "tens, two decimals": lambda y, q: interval(y, q.round(2), groups=tens(y)),
        "adaptive_reliability_curve": metrics.adaptive_reliability_curve,
        "score_decomposition": metrics.score_decomposition,
        "confidence_ranking": ranking,
        "confidence_ranking, tens": lambda y, q: ranking(y, q, groups=tens(y)),
        "compare_calibration": lambda y, q: scorers.compare_calibration(y, q, q**0.9),
        "accuracy_interval": lambda y, _: rates.accuracy_interval(y, groups=tens(y)),
        "threshold": partial(rates.threshold_for_precision, precision=0.9),
        "calibration_decisions": recalibration.calibration_decisions,
        "judged_accuracy": lambda y, q: rates.judged_accuracy(q, few(y)),
        "corrected_count": lambda y, q: counts.corrected_count(few(y), q),
    }),
    (10**3, lambda n: classes(n, 10), {"ten classes pooled": interval}),
    (3, lambda n: classes(500, n), {"n classes pooled": interval}),
    (10**4, lambda n: (systems(n),), {
        "compare_systems, 0 and 1": lambda scores: tests.compare_systems(
            {name: score > 1 for name, score in scores.items()}
        ),
        "compare_systems": tests.compare_systems,
        "permutation_test": lambda scores: tests.permutation_test(*scores.values()),
        "paired_bootstrap_test": lambda s: tests.paired_bootstrap_test(*s.values()),
    }),
    (2, lambda n: (systems(500, n),), {"n systems": tests.compare_systems}),
    (10**3, lambda n: (chain(n),), {
        "tags of sentences": lambda posterior: posterior.token_marginals(),
        "pairs of tags": lambda posterior: posterior.pair_marginals(),
    }),
    (20, lambda n: ([mentions(n)],), {
        "pairs of mentions": lambda x: AntecedentPosterior(x).pair_marginals(),
        "mbr_clusters": lambda x: AntecedentPosterior(x).mbr_clusters(),
        "SampledCorefPairs": SampledCorefPairs(random_state=0).transform,
    }),
]  # fmt: skip


def main():
    rows = []
    for least, make, functions in CASES:
        for name, function in functions.items():
            spent = []
            for given in map(make, [least, 10 * least, 100 * least]):
                call = {0: lambda f=function, given=given: f(*given)}
                with warnings.catch_warnings(action="ignore"):
                    once = best_times(call, 1, time.process_time)[0]
                    more = best_times(call, 2 * (once < 1), time.process_time)[0]
                spent.append(min(once, more))
            power = np.log10(spent[2] / spent[1])
            row = {"function": name, "n": least}
            row |= {f"ms, {10**k} n": f"{1e3 * t:.3g}" for k, t in enumerate(spent)}
            row["power"] = f"{power:.2f}"
            rows.append(row | {"reason": REASONS.get(name, "") if power > MOST else ""})
    print_table(rows)
    write_csv("growth.csv", rows, f"processor time; {versions('numpy', 'scipy')}")


if __name__ == "__main__":
    main()
