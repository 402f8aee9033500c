"""Coverage of the true calibration error by the intervals.

    python benchmarks/coverage.py [--replicates 2000] [--jobs 2] [--special]

Probabilities are drawn from a Beta law, labels with probability t(q), and the true
error is the root of E (q - t(q))^2 over the Beta law, unbinned. Prints and writes the
share of replicates whose interval holds it, the mean width, and how often p < 0.05.

--special: instead, probabilities of seventeen values, as language models state them,
and sentences whose labels share a latent effect.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from functools import lru_cache

import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from scipy.special import expit, logit, ndtri

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import calibration_error_interval

SHAPES = {"U": (0.5, 0.5), "skewed": (0.1, 2.0), "tag": (0.02, 0.92)}
SIZES = (1_000, 10_000, 100_000)


def shifted(k):
    def law(q):
        return np.where(q <= 0.5, np.maximum(0, q - k), np.minimum(1, q + k))

    return law


def sharpened(q):
    # Beta draws may be 0 or 1 to the last bit, where the logit is infinite.
    with np.errstate(divide="ignore"):
        return expit(1.5 * logit(q))


LAWS = {
    "calibrated": lambda q: q,
    "k=.02": shifted(0.02),
    "k=.1": shifted(0.1),
    "temperature 1.5": sharpened,
}

METHODS = {
    "score": {},
    "Algorithm 2, bins of 200": {
        "method": "simulation",
        "bin_size": 200,
        "n_samples": 300,
    },
    "Algorithm 2, auto bins": {"method": "simulation", "n_samples": 300},
}


def true_error(shape, law):
    a, b = SHAPES[shape]
    q = np.random.default_rng(12345).beta(a, b, 4_000_000)
    return float(np.sqrt(np.mean((q - LAWS[law](q)) ** 2)))


def replicate(shape, law, n, seed):
    """Return (low, high, p_value) of each method on one sample."""
    a, b = SHAPES[shape]
    rng = np.random.default_rng(seed)
    y, q = make_calibrated_pairs(n, a=a, b=b, transform=LAWS[law], random_state=rng)
    results = [
        calibration_error_interval(y, q, random_state=rng, **settings)
        for settings in METHODS.values()
    ]
    return [(r.low, r.high, r.p_value) for r in results]


def cell(shape, law, n, n_replicates, parallel):
    """Return a row for each method."""
    truth = true_error(shape, law)
    key = [list(SHAPES).index(shape), list(LAWS).index(law), n]
    seeds = np.random.SeedSequence(key).spawn(n_replicates)
    found = np.array(
        parallel(delayed(replicate)(shape, law, n, seed) for seed in seeds)
    )
    rows = []
    for k, method in enumerate(METHODS):
        low, high, p_value = found[:, k].T
        covered = (low <= truth) & (truth <= high)
        rows.append(
            {
                "q": shape,
                "labels": law,
                "n": n,
                "true_error": f"{truth:.4f}",
                "method": method,
                "coverage": f"{100 * covered.mean():.2f}",
                "width": f"{(high - low).mean():.5f}",
                "rejected": f"{100 * (p_value < 0.05).mean():.2f}",
            }
        )
    return rows


LEVELS = (
    np.array([0, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 100]) / 100
)
LEVEL_WEIGHTS = np.array([1, 1, 2, 2, 3, 2, 2, 3, 5, 8, 10, 12, 15, 12, 12, 8, 3])


def stated(law, seed, n=2500):
    """Return one sample of stated confidences, and the true error of their law."""
    rng, chance = np.random.default_rng(seed), LEVEL_WEIGHTS / LEVEL_WEIGHTS.sum()
    frequency = LAWS[law](LEVELS)
    drawn = rng.choice(LEVELS.size, n, p=chance)
    y = (rng.random(n) < frequency[drawn]).astype(int)
    truth = float(np.sqrt(chance @ (LEVELS - frequency) ** 2))
    return y, LEVELS[drawn], None, truth


def sentences(temperature, seed, n_sentences=200, length=12):
    """Return sentences whose labels have a correlation of 0.5 in the latent normal.

    A label is 1 where a standard normal, half of whose variance the sentence shares,
    lies below the quantile of the true probability; said is a sharper one.
    """
    rng = np.random.default_rng(seed)
    true = rng.beta(0.5, 0.5, (n_sentences, length)).clip(1e-9, 1 - 1e-9)
    latent = rng.normal(size=(n_sentences, 1)) + rng.normal(size=(n_sentences, length))
    y = (latent / np.sqrt(2) < ndtri(true)).astype(int)
    said = expit(temperature * logit(true))
    groups = np.repeat(np.arange(n_sentences), length)
    return y.ravel(), said.ravel(), groups, true_error_of_sentences(temperature)


@lru_cache
def true_error_of_sentences(temperature):
    true = np.random.default_rng(12345).beta(0.5, 0.5, 4_000_000).clip(1e-9, 1 - 1e-9)
    return float(np.sqrt(np.mean((expit(temperature * logit(true)) - true) ** 2)))


def special_replicate(make, argument, seed, grouped):
    y, q, groups, truth = make(argument, seed)
    groups = groups if grouped else None
    result = calibration_error_interval(y, q, groups=groups)
    return result.low <= truth <= result.high, result.high - result.low, result.p_value


def special(n_replicates, parallel):
    """Return a row for each special case."""
    cases = [("17 values", stated, law, False) for law in LAWS]
    for temperature in (1.0, 1.6):
        for grouped in (True, False):
            cases.append(("sentences", sentences, temperature, grouped))
    rows = []
    for k, (name, make, argument, grouped) in enumerate(cases):
        seeds = np.random.SeedSequence(k).spawn(n_replicates)
        found = parallel(
            delayed(special_replicate)(make, argument, seed, grouped) for seed in seeds
        )
        covered, width, p_value = np.array(found).T
        rows.append(
            {
                "case": name,
                "law or temperature": argument,
                "groups": grouped,
                "coverage": f"{100 * covered.mean():.2f}",
                "width": f"{width.mean():.5f}",
                "rejected": f"{100 * (p_value < 0.05).mean():.2f}",
            }
        )
    print_table(rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--special", action="store_true")
    options = parser.parse_args()
    error = 100 * np.sqrt(0.95 * 0.05 / options.replicates)
    note = (
        f"{options.replicates} replicates, standard error {error:.2f} points at 95%; "
    )
    note += "coverage and rejected in %; " + versions("numpy", "scipy")
    if options.special:
        with Parallel(n_jobs=options.jobs, batch_size=20) as parallel:
            rows = special(options.replicates, parallel)
        write_csv("coverage_special.csv", rows, note)
        return
    start, rows = time.perf_counter(), []
    with Parallel(n_jobs=options.jobs, batch_size=20) as parallel:
        for shape in SHAPES:
            for law in LAWS:
                for n in SIZES:
                    new = cell(shape, law, n, options.replicates, parallel)
                    print_table(new)
                    rows += new
    note += "; Algorithm 2 with 300 draws"
    print(f"{note}; {time.perf_counter() - start:.0f} s")
    write_csv("coverage.csv", rows, note)


if __name__ == "__main__":
    main()
