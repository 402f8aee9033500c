"""Warning that few rows carry the error, of intervals that miss and that cover.

    python benchmarks/interval_carrying.py [--replicates 150]

With one positive label in 1,000, nearly the whole squared error may be in two or three
rows with high probabilities. Many samples have none of them, and no interval can know
of them. The table has cells of that kind, and cells without it from _interval_cells.py:
coverage, the share of samples with a warning among those whose interval covers the true
error and among those whose interval misses it.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings

import _interval_cells as cells_of
import numpy as np
from _common import print_table, versions, write_csv
from interval_coverage import generators

from skcalib.metrics import calibration_error_interval


def cells():
    """Return cells in which few rows carry the error, and cells of other kinds."""
    rare, half = cells_of.beta(0.5, 1500), cells_of.scaled(0.5)
    three = cells_of.mixture([rare, cells_of.uniform(0.3, 0.9)], [0.997, 0.003])
    two = cells_of.mixture([rare, cells_of.beta(2, 2)], [0.998, 0.002])
    found = [
        cells_of.rows("3 in 1,000 at U(.3,.9), half", three, half, n)
        for n in (1000, 2000, 5000)
    ]
    found += [
        cells_of.rows("2 in 1,000 at Beta(2,2), half", two, half, n)
        for n in (1000, 5000)
    ]
    return found + cells_of.testing_rows()[::3] + cells_of.certain_rows()[1::3]


def row_of(cell, n):
    inside, warned = np.zeros((2, n), dtype=bool)
    for k, rng in enumerate(generators(cell.name, n)):
        y, q, _ = cell.draw(rng)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            r = calibration_error_interval(y, q, pos_label=1, hard_labels=True)
        inside[k] = r.low <= cell.truth <= r.high
        warned[k] = any("carry the error" in str(each.message) for each in found)
    missed = ~inside
    return {
        "cell": cell.name,
        "true_error": f"{cell.truth:.4f}",
        "replicates": n,
        "coverage": f"{100 * inside.mean():.1f}",
        "warned of covering": f"{100 * warned[inside].mean():.1f}",
        "warned of missing": f"{100 * warned[missed].mean():.1f}"
        if missed.any()
        else "",
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replicates", type=int, default=150)
    options = parser.parse_args()
    start = time.perf_counter()
    rows = [row_of(cell, options.replicates) for cell in cells()]
    print_table(rows)
    note = f"shares in %; {time.perf_counter() - start:.0f} s; "
    write_csv("interval_carrying.csv", rows, note + versions("numpy", "scipy"))


if __name__ == "__main__":
    main()
