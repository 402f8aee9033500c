"""Coverage of the default interval on many distributions.

    python benchmarks/interval_coverage.py tuning testing certain constant
        [--replicates 2000] [--grouped-replicates 1000] [--only TEXT] [--package NAME]

tuning, testing: for each cell of _interval_cells.py, the proportion of samples whose
interval contains the error of the population, the proportions that miss it on either
side, the mean width, and the proportion with p < 0.05. The cells of `testing` were not
used to choose the method. certain, certain-testing: the same where labels hardly vary.
repeated-groups, testing-repeated-groups: the same for groups whose rows have the same
probability and label. constant: the same if all probabilities are equal, computed from
the exact binomial distribution. --package measures another installed copy of the
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

from skcalib.metrics import calibration_error_interval


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    makers = {
        "tuning": cells_of.tuning_rows,
        "testing": cells_of.testing_rows,
        "tuning-groups": cells_of.tuning_groups,
        "testing-groups": cells_of.testing_groups,
        "repeated-groups": cells_of.repeated_groups,
        "testing-repeated-groups": cells_of.testing_repeated_groups,
        "certain": cells_of.certain_rows,
        "certain-testing": cells_of.certain_testing,
    }
    parser.add_argument("tables", nargs="+", choices=[*makers, "constant"])
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
            rows = constant_rows(options, interval)
        note = f"shares in %; {time.perf_counter() - start:.0f} s; "
        note += versions("numpy", "scipy")
        print(note, flush=True)
        if options.package == "skcalib" and not options.only:
            write_csv(f"interval_{table.replace('-', '_')}.csv", rows, note)


if __name__ == "__main__":
    main()
