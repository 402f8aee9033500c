"""Speed of the paired bootstrap relative to other implementations.

    python benchmarks/speed_significance.py [--quick]

Exact and saddlepoint p-values are compared with 10^7 Monte Carlo resamples of this
package, for 0/1 accuracy and for token accuracy. The time of the resamples is
extrapolated from a smaller number, to which it is proportional. The Monte Carlo method
with 1, 3 and 30 columns is compared with scipy.stats.bootstrap (one pair, 3 columns)
and with a loop that gathers rows by index. The script also measures one pair of 2,000
items with 10^6 resamples of F1, including the peak of allocated memory, and all pairs
of 36 systems on 2,077 items by each metric. Rounds are interleaved in one process with
one thread, and the best time of each is reported.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import tracemalloc

import numpy as np
from _common import best_times, print_table, versions, write_csv
from scipy.stats import bootstrap

from skcalib.significance import compare_systems, paired_bootstrap_test
from skcalib.significance._resamples import resample_sums

SIZES = (100, 2000, 24_000)
MANY = 10**7


def accuracies(n, rng):
    a = rng.binomial(1, 0.9, n)
    return a, np.where(rng.random(n) < 0.9, a, rng.binomial(1, 0.85, n)), "mean"


def token_accuracies(n, rng):
    length = 1 + rng.negative_binomial(3, 0.15, n)
    a, b = (np.stack([rng.binomial(length, p), length], 1) for p in (0.93, 0.925))
    return a, b, "ratio"


def entities(n, rng):
    gold = rng.poisson(1.5, n)
    systems = []
    for chance in (0.8, 0.78):
        correct = rng.binomial(gold, chance)
        systems.append(np.stack([correct, correct + rng.poisson(0.3, n), gold], 1))
    return systems


def row(case, n, function, seconds, reference):
    return {
        "case": case,
        "n": n,
        "function": function,
        "milliseconds": f"{1000 * seconds:.3g}",
        "ratio_to_first": f"{seconds / reference:.3g}",
    }


def without_resampling(n_rounds):
    """Time exact and saddlepoint p-values against extrapolated Monte Carlo."""
    rows = []
    for name, make in (("accuracy", accuracies), ("token accuracy", token_accuracies)):
        for n in SIZES:
            a, b, statistic = make(n, np.random.default_rng(n))
            drawn = max(1000, 20_000_000 // n)

            def run(a=a, b=b, statistic=statistic, **kwargs):
                return paired_bootstrap_test(a, b, statistic=statistic, **kwargs)

            methods = ["saddlepoint"] + (["exact"] if name == "accuracy" else [])
            functions = {m: lambda m=m, run=run: run(method=m) for m in methods}
            functions["monte_carlo"] = lambda run=run, k=drawn: run(
                method="monte_carlo", n_resamples=k, random_state=0
            )
            best = best_times(functions, n_rounds)
            best["monte_carlo"] *= MANY / drawn
            for method, seconds in best.items():
                label = method if method != "monte_carlo" else "monte_carlo, b=10^7"
                rows.append(row(name, n, label, seconds, best["saddlepoint"]))
    return rows


def gather(columns, n_resamples, rng):
    """Return sums by a loop over resamples that gathers rows."""
    n = len(columns)
    return np.stack(
        [columns[rng.integers(0, n, n)].sum(axis=0) for _ in range(n_resamples)]
    )


def f1_gain(correct_a, guessed_a, correct_b, guessed_b, gold, axis=-1):
    a, x, b, y, g = (
        s.sum(axis=axis) for s in (correct_a, guessed_a, correct_b, guessed_b, gold)
    )
    return 2 * a / (x + g) - 2 * b / (y + g)


def resampling(n_rounds, n=2000, n_resamples=2000):
    """Time count matrices against gathering by index, and a test against scipy."""
    rows, rng = [], np.random.default_rng(0)
    for m in (1, 3, 30):
        columns = rng.integers(0, 30, (n, m)).astype(float)
        functions = {
            "counts @ columns": lambda x=columns: resample_sums(x, n_resamples, rng),
            "index gather loop": lambda x=columns: gather(x, n_resamples, rng),
        }
        best = best_times(functions, n_rounds)
        for name, seconds in best.items():
            reference = best["counts @ columns"]
            rows.append(row(f"sums of {m} columns", n, name, seconds, reference))
    a, b = entities(n, rng)
    data = tuple(x.astype(float) for x in (a[:, 0], a[:, 1], b[:, 0], b[:, 1], a[:, 2]))

    def ours():
        paired_bootstrap_test(
            a, b, statistic="f1", method="monte_carlo", n_resamples=n_resamples
        )

    def scipys():
        bootstrap(
            data,
            f1_gain,
            n_resamples=n_resamples,
            paired=True,
            vectorized=True,
            method="basic",
            batch=200,
        )

    best = best_times(
        {"paired_bootstrap_test": ours, "scipy.stats.bootstrap": scipys}, n_rounds
    )
    for name, seconds in best.items():
        reference = best["paired_bootstrap_test"]
        rows.append(row("F1 of one pair", n, name, seconds, reference))
    return rows


def million(n=2000):
    """Time a million resamples of one pair, then repeat with memory traced."""
    a, b = entities(n, np.random.default_rng(1))
    kwargs = {"statistic": "f1", "method": "monte_carlo", "n_resamples": 10**6}
    start = time.perf_counter()
    paired_bootstrap_test(a, b, **kwargs)
    seconds = time.perf_counter() - start
    tracemalloc.start()
    paired_bootstrap_test(a, b, **kwargs)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    label = f"b=10^6, peak {peak:.0f} MiB"
    return [row("F1 of one pair", n, label, seconds, seconds)]


def many_systems(n_rounds, n=2077, n_systems=36):
    """Time all pairs of systems whose quality differs by a little each."""
    rng = np.random.default_rng(2)
    length = 1 + rng.negative_binomial(3, 0.15, n)
    gold = rng.poisson(1.5, n)
    systems = {"mean": {}, "ratio": {}, "f1": {}}
    for k in range(n_systems):
        right = rng.binomial(length, 0.9 + 0.001 * k)
        found = rng.binomial(gold, 0.7 + 0.003 * k)
        systems["mean"][k] = right
        systems["ratio"][k] = np.stack([right, length], 1)
        guessed = found + rng.poisson(0.3, n)
        systems["f1"][k] = np.stack([found, guessed, gold], 1)
    functions = {
        statistic: lambda statistic=statistic, named=named: compare_systems(
            named, statistic=statistic, random_state=0
        )
        for statistic, named in systems.items()
    }
    best = best_times(functions, n_rounds)
    case = f"{n_systems * (n_systems - 1) // 2} pairs of systems"
    return [row(case, n, name, best[name], best["mean"]) for name in best]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out 10^6 resamples")
    quick = parser.parse_args().quick
    n_rounds = 3 if quick else 10
    rows = without_resampling(n_rounds) + resampling(n_rounds)
    if not quick:
        rows += million() + many_systems(3)
    print_table(rows)
    note = "best of interleaved rounds, one thread; " + versions("numpy", "scipy")
    print(note)
    if not quick:
        write_csv("speed_significance.csv", rows, note)


if __name__ == "__main__":
    main()
