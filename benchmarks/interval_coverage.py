"""Coverage of the default interval, and power of its test, on many distributions.

    python benchmarks/interval_coverage.py tuning testing constant power
        [--replicates 2000] [--grouped-replicates 1000] [--only TEXT] [--package NAME]

tuning, testing: for each cell of _interval_cells.py, the proportion of samples whose
interval contains the error of the population, the proportions that miss it on either
side, the mean width, and the proportion with p < 0.05. The cells of `testing` were not
used to choose the method. constant: the same if all probabilities are equal, computed
from the exact binomial distribution. power: the test of perfect calibration compared
with other tests of the same size. --package measures another installed copy of the
package and writes nothing.
"""

import argparse
import importlib
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
import zlib

import _interval_cells as cells_of
import numpy as np
from _common import print_table, versions, write_csv
from scipy.stats import binom

from skcalib._pairs import check_pairs
from skcalib.metrics import calibration_error_interval
from skcalib.metrics._bins import FOR_INTERVAL, bins_of
from skcalib.metrics._score_interval import distribution_of_bins


def generators(name, n):
    """Return n generators for a name, the same in every run."""
    seeds = np.random.SeedSequence(zlib.crc32(name.encode())).spawn(n)
    return map(np.random.default_rng, seeds)


def measure(cell, n_replicates, interval):
    """Return a row of the table of coverage."""
    found, effective = [], []
    for rng in generators(cell.name, n_replicates):
        y, q, groups = cell.draw(rng)
        r = interval(y, q, groups=groups)
        found.append((r.low, r.high, r.pvalue))
        effective.append(getattr(r, "n_effective_groups", None) or np.nan)
    low, high, p = np.array(found).T
    too_low, too_high = cell.truth > high, cell.truth < low
    covered = 1 - (too_low | too_high).mean()
    # the error of a share that is 0 or 1 is not known to be 0
    spread = max(covered * (1 - covered), 0.95 * 0.05 / 10)
    return {
        "cell": cell.name,
        "effective groups": f"{np.mean(effective):.1f}" if cell.grouped else "",
        "true_error": f"{cell.truth:.4f}",
        "replicates": n_replicates,
        "coverage": f"{100 * covered:.1f}",
        "se": f"{100 * np.sqrt(spread / n_replicates):.1f}",
        "low end too high": f"{100 * too_high.mean():.1f}",
        "high end too low": f"{100 * too_low.mean():.1f}",
        "width": f"{(high - low).mean():.4f}",
        "p<.05": f"{100 * (p < 0.05).mean():.1f}",
    }


def coverage_rows(cells, options, interval):
    rows = []
    for cell in cells:
        if options.only not in cell.name:
            continue
        n = options.grouped_replicates if cell.grouped else options.replicates
        rows.append(measure(cell, n, interval))
        if len(rows) == 1:
            print(" " * 38, *[f"{name:>16}" for name in list(rows[0])[1:]])
        print(f"{cell.name:38}", *[f"{v:>16}" for v in list(rows[-1].values())[1:]])
    return rows


def constant_rows(_, interval):
    """Return the exact coverage where all probabilities are equal."""
    rows = []
    for n, q, p in cells_of.CONSTANT:
        covered = width = rejected = 0.0
        first, last = (int(binom.ppf(tail, n, p)) for tail in (1e-7, 1 - 1e-7))
        for k in range(first, last + 1):
            r = interval((np.arange(n) < k).astype(int), np.full(n, q))
            chance = binom.pmf(k, n, p)
            covered += chance * (r.low <= abs(q - p) <= r.high)
            width += chance * (r.high - r.low)
            rejected += chance * (r.pvalue < 0.05)
        row = {"n": n, "q": q, "p": p, "true_error": f"{abs(q - p):.4f}"}
        row |= {"coverage": f"{100 * covered:.1f}", "width": f"{width:.4f}"}
        rows.append(row | {"p<.05": f"{100 * rejected:.1f}"})
    print_table(rows)
    return rows


def statistics_of(y, q, interval):
    """Return statistics of perfect calibration that are large where it fails."""
    order = np.argsort(q, kind="stable")
    residual, variance = (y - q)[order], (q * (1 - q)).sum()
    path = np.r_[0, np.cumsum(residual)] / np.sqrt(variance)
    (pairs,) = check_pairs(y, q)
    distribution = distribution_of_bins(bins_of(pairs, FOR_INTERVAL))
    lean = 1 - 2 * q
    return {
        "default": -interval(y, q).pvalue,
        "square alone": -distribution.p_value(True),
        "Kolmogorov-Smirnov": np.abs(path).max(),
        "Kuiper": path.max() - path.min(),
        "Spiegelhalter": abs((y - q) @ lean) / np.sqrt(lean**2 @ (q * (1 - q))),
    }


def power_rows(options, interval):
    """Return the power at size .05, the critical values from as many null samples.

    Every statistic rejects in 5% of calibrated samples with the same probabilities.
    """
    rows = []
    for name, probabilities, frequency in cells_of.ERRORS:
        for n in (100, 500):
            samples = {}
            for kind, truth in (("null", cells_of.same), ("error", frequency)):
                cell = cells_of.rows(f"{name}, {kind}", probabilities, truth, n)
                drawn = (
                    cell.draw(r) for r in generators(cell.name, options.replicates)
                )
                found = [statistics_of(y, q, interval) for y, q, _ in drawn]
                samples[kind] = {k: np.array([f[k] for f in found]) for k in found[0]}
            size = (samples["null"]["default"] > -0.05).mean()
            row = {"error": name, "n": n, "p<.05 if right": f"{100 * size:.1f}"}
            for key, values in samples["error"].items():
                critical = np.quantile(samples["null"][key], 0.95, method="higher")
                row[key] = f"{100 * (values > critical).mean():.1f}"
            rows.append(row)
            print_table(rows[-1:])
    return rows


QUICK = [
    {
        "args": ["constant", "power"],
        "keep": {"cells_of.CONSTANT": [0, 1, 2], "cells_of.ERRORS": [0]},
        "files": {
            "interval_constant.csv": {"keys": ["n", "q", "p"]},
            "interval_power.csv": {"keys": ["error", "n"]},
        },
    },
    {
        "args": ["tuning", "testing", "tuning-groups", "testing-groups"],
        "keep": {
            "cells_of.tuning_rows": [0],
            "cells_of.testing_rows": [0],
            "cells_of.tuning_groups": [0],
            "cells_of.testing_groups": [0],
        },
        "files": {
            "interval_tuning.csv": {"keys": ["cell"]},
            "interval_testing.csv": {"keys": ["cell"]},
            "interval_tuning_groups.csv": {"keys": ["cell"]},
            "interval_testing_groups.csv": {"keys": ["cell"]},
        },
    },
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    makers = {
        "tuning": cells_of.tuning_rows,
        "testing": cells_of.testing_rows,
        "tuning-groups": cells_of.tuning_groups,
        "testing-groups": cells_of.testing_groups,
    }
    parser.add_argument("tables", nargs="+", choices=[*makers, "constant", "power"])
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--grouped-replicates", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--package", default="skcalib")
    options = parser.parse_args()
    # the warning of few groups
    warnings.simplefilter("ignore", UserWarning)
    interval = calibration_error_interval
    if options.package != "skcalib":
        metrics = importlib.import_module(f"{options.package}.metrics")
        interval = metrics.calibration_error_interval
    for table in options.tables:
        start = time.perf_counter()
        if table in makers:
            rows = coverage_rows(makers[table](), options, interval)
        else:
            make = constant_rows if table == "constant" else power_rows
            rows = make(options, interval)
        note = f"shares in %; {time.perf_counter() - start:.0f} s; "
        note += versions("numpy", "scipy")
        print(note, flush=True)
        if options.package == "skcalib" and not options.only:
            write_csv(f"interval_{table.replace('-', '_')}.csv", rows, note)


if __name__ == "__main__":
    main()
