"""Speed of the calibration metrics, as ratios to one np.sort of the same array.

    python benchmarks/speed_calibration.py [--quick]

Times are the best of interleaved rounds in one process and one thread. The peers are
scikit-learn's calibration_curve with the same number of quantile bins and, if they are
installed and for fewer than 10^7 pairs, the equal-width errors of netcal and
torchmetrics (15 bins) and the smooth error of relplot. `per_interval` is the time
divided by the time of the score interval of as many independent rows. Memory is the
peak allocation of a call, divided by the size of the probabilities. The labels, also of
8 bytes each, are part of the input but not of this size.
"""

import argparse
import contextlib
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tracemalloc

import numpy as np
from _common import best_times, print_table, versions, write_csv
from sklearn.calibration import calibration_curve

from skcalib.metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)

BIN_SIZE = 5000
POWERS = (5, 6, 7)  # of ten, numbers of pairs
# rows, classes and concentration of the probabilities
MATRICES = [(100_000, 10, 0.3), (33_306, 47, 0.05)]


def skewed_pairs(n):
    rng = np.random.default_rng(0)
    q = rng.beta(0.1, 2, n)
    return (rng.random(n) < q).astype(int), q


def uniform_pairs(n):
    rng = np.random.default_rng(0)
    q = rng.random(n)
    return (rng.random(n) < q).astype(int), q


def tag_matrix(n=33_306, n_tags=47, concentration=0.05):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(n_tags, concentration), n)
    drawn = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return np.minimum(drawn, n_tags - 1), proba


def one_vs_rest(y, proba):
    return (y[:, np.newaxis] == np.arange(proba.shape[1])).ravel(), proba.ravel()


def functions(y, proba, labels):
    """Return what is timed: the pairs of scikit-learn are made before."""
    keys = {} if labels is None else {"labels": labels}
    flat_y, flat_q = (y, proba) if labels is None else one_vs_rest(y, proba)
    n_bins = max(1, flat_q.size // BIN_SIZE)
    timed = {
        "np.sort": lambda: np.sort(flat_q),
        "error": lambda: calibration_error(y, proba, bin_size=BIN_SIZE, **keys),
        "error auto": lambda: calibration_error(y, proba, **keys),
        "debiased": lambda: calibration_error(
            y, proba, bin_size=BIN_SIZE, debias=True, **keys
        ),
        "curve": lambda: adaptive_reliability_curve(
            y, proba, bin_size=BIN_SIZE, **keys
        ),
        "sklearn quantile": lambda: calibration_curve(
            flat_y, flat_q, n_bins=n_bins, strategy="quantile"
        ),
    }
    timed |= peers(flat_y, flat_q)
    # of independent rows, also for a matrix
    timed["score interval"] = lambda: calibration_error_interval(flat_y, flat_q)
    if labels is not None:
        timed["score interval, pooled"] = lambda: calibration_error_interval(
            y, proba, **keys
        )
    else:
        groups = np.arange(y.size) // 10
        timed["score interval, groups of 10"] = lambda: calibration_error_interval(
            y, proba, groups=groups
        )
        timed["debiased, groups of 10"] = lambda: calibration_error(
            y, proba, debias=True, groups=groups
        )
        weight = np.ones(y.size)
        timed["error, weights"] = lambda: calibration_error(
            y, proba, bin_size=BIN_SIZE, sample_weight=weight
        )
    return timed


def peers(y, q):
    """Return what installed peers take the time of, below 10^7 pairs."""
    timed = {}
    if q.size > 2_000_000:
        return timed
    with contextlib.suppress(ImportError):
        from netcal.metrics import ECE

        timed["netcal ECE"] = lambda: ECE(15).measure(q, y)
    with contextlib.suppress(ImportError):
        import relplot

        timed["relplot smECE"] = lambda: relplot.smECE(q, y)
    with contextlib.suppress(ImportError):
        import torch
        from torchmetrics.functional.classification import binary_calibration_error

        torch.set_num_threads(1)
        tensors = torch.from_numpy(q.copy()), torch.from_numpy(y.astype(int))
        timed["torchmetrics l2"] = lambda: binary_calibration_error(*tensors, norm="l2")
    return timed


def peak_ratio(function, size):
    """Return the peak of allocated memory over the size of the input."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out 10^7 pairs")
    quick = parser.parse_args().quick
    cases = {
        f"10^{k}": (*skewed_pairs(10**k), None)
        for k in (POWERS[:2] if quick else POWERS)
    }
    cases["10^6, uniform"] = (*uniform_pairs(10**6), None)
    for n, n_tags, concentration in MATRICES:
        matrix = tag_matrix(n, n_tags, concentration)
        cases[f"{n} x {n_tags}"] = (*matrix, np.arange(n_tags))
    rows = []
    for case, (y, proba, labels) in cases.items():
        timed = functions(y, proba, labels)
        best = best_times(timed, n_rounds=3 if proba.size > 10**6 else 10)
        for name, seconds in best.items():
            memory = peak_ratio(timed[name], proba.nbytes)
            rows.append(
                {
                    "case": case,
                    "function": name,
                    "seconds": f"{seconds:.4f}",
                    "per_sort": f"{seconds / best['np.sort']:.2f}",
                    "sklearn_over_it": f"{best['sklearn quantile'] / seconds:.1f}",
                    "per_interval": f"{seconds / best['score interval']:.2f}",
                    "peak_memory_per_input": f"{memory:.2f}",
                }
            )
    print_table(rows)
    note = f"bins of {BIN_SIZE}, best of interleaved rounds, one thread; " + versions(
        "numpy", "scipy", "scikit-learn", "netcal", "relplot", "torchmetrics"
    )
    print(note)
    if not quick:
        write_csv("speed_calibration.csv", rows, note)


if __name__ == "__main__":
    main()
