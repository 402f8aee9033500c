"""Coverage of the default interval on many distributions, beside another version's.

    python benchmarks/interval_validity.py tuning|testing|grid|constant|groups|testing-groups
        [--replicates 2000] [--beside PACKAGE] [--only TEXT] [--name FILE]

Prints and writes, for each cell, the share of samples whose interval contains the error
of the population, the shares missed from below and above, the mean width, and the share
with p < 0.05. --beside names another installed copy of the package, for widths.
"""

import argparse
import importlib
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
import time
import warnings
import zlib

import interval_cells as cells_of
import numpy as np
from _common import print_table, versions, write_csv
from coverage import LAWS, SHAPES, SIZES, true_error
from scipy.stats import binom

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import calibration_error_interval


def grid_cells():
    """Return the 36 cells of coverage.py."""
    for shape, (a, b) in SHAPES.items():
        for law in LAWS:
            for n in SIZES:

                def draw(rng, a=a, b=b, law=law, n=n):
                    y, q = make_calibrated_pairs(
                        n, a=a, b=b, transform=LAWS[law], random_state=rng
                    )
                    return y, q, None

                yield cells_of.Cell(
                    f"{shape}, {law}, {n}", draw, true_error(shape, law)
                )


def measure(cell, n_replicates, beside, n_beside):
    """Return a row of the table."""
    seeds = np.random.SeedSequence(zlib.crc32(cell.name.encode())).spawn(n_replicates)
    found, other, effective = [], [], []
    for number, seed in enumerate(seeds):
        y, q, groups = cell.draw(np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = calibration_error_interval(y, q, groups=groups)
            found.append((r.low, r.high, r.p_value))
            effective.append(getattr(r, "n_effective_groups", None) or np.nan)
            if beside is not None and number < n_beside:
                b = beside(y, q, groups=groups)
                other.append((b.low, b.high, b.p_value))
    row = summary(cell, np.array(found))
    if cell.grouped:
        row["effective"] = (
            f"{np.nanmean(effective):.1f}" if np.isfinite(effective).any() else ""
        )
    if beside is not None:
        o = np.array(other)
        was = summary(cell, o)
        f = np.array(found)[: o.shape[0]]
        before = (o[:, 1] - o[:, 0]).mean()
        row |= {
            "was": was["coverage"],
            "was width": was["width"],
            "ratio": f"{(f[:, 1] - f[:, 0]).mean() / before:.3f}" if before > 0 else "",
            "was p<.05": was["p<.05"],
        }
    return row


def summary(cell, found):
    low, high, p = found.T
    below, above = cell.truth > high, cell.truth < low
    covered = 1 - (below | above).mean()
    bound = 0.95 if not cell.grouped else 0.93
    return {
        "cell": cell.name,
        "error": f"{cell.truth:.4f}",
        "coverage": f"{100 * covered:.1f}",
        "se": f"{100 * np.sqrt(max(covered * (1 - covered), bound * 0.0005) / p.size):.1f}",
        "low too high": f"{100 * above.mean():.1f}",
        "high too low": f"{100 * below.mean():.1f}",
        "width": f"{(high - low).mean():.4f}",
        "p<.05": f"{100 * (p < 0.05).mean():.1f}",
    }


def constant_rows(cases):
    """Return the exact coverage where all probabilities are equal."""
    rows = []
    for n, q, p in cases:
        covered = width = rejected = 0.0
        first, last = (int(binom.ppf(tail, n, p)) for tail in (1e-7, 1 - 1e-7))
        for k in range(first, last + 1):
            y = (np.arange(n) < k).astype(int)
            r = calibration_error_interval(y, np.full(n, q))
            chance = binom.pmf(k, n, p)
            covered += chance * (r.low <= abs(q - p) <= r.high)
            width += chance * (r.high - r.low)
            rejected += chance * (r.p_value < 0.05)
        row = {"n": n, "q": q, "p": p, "coverage": f"{100 * covered:.1f}"}
        rows.append(row | {"width": f"{width:.4f}", "p<.05": f"{100 * rejected:.1f}"})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which")
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--beside")
    parser.add_argument("--beside-replicates", type=int, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=10**9)
    parser.add_argument("--name")
    options = parser.parse_args()
    start = time.perf_counter()
    if options.which == "constant":
        rows = constant_rows(cells_of.CONSTANT)
        print_table(rows)
    else:
        beside = None
        if options.beside:
            module = importlib.import_module(f"{options.beside}.metrics")
            beside = module.calibration_error_interval
        makers = {
            "tuning": cells_of.tuning_rows,
            "groups": cells_of.tuning_groups,
            "grid": grid_cells,
        }
        if hasattr(cells_of, "testing_rows"):
            makers |= {
                "testing": cells_of.testing_rows,
                "testing-groups": cells_of.testing_groups,
            }
        rows = []
        for cell in makers[options.which]():
            if options.only not in cell.name:
                continue
            size = cell.draw(np.random.default_rng(0))[0].size
            if size > options.most:
                continue
            rows.append(
                measure(cell, options.replicates, beside, options.beside_replicates)
            )
            shown = rows[-1]
            if len(rows) == 1:
                print(" " * 34, *[f"{k:>12}" for k in list(shown)[1:]])
            print(
                f"{shown['cell']:34}",
                *[f"{v:>12}" for v in list(shown.values())[1:]],
                flush=True,
            )
    print(f"{time.perf_counter() - start:.0f} s")
    if options.name:
        note = f"{options.replicates} replicates; " + versions("numpy", "scipy")
        write_csv(options.name, rows, note)


if __name__ == "__main__":
    main()
