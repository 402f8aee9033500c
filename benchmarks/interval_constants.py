"""Find the constants of the score interval and of its test again.

    python benchmarks/interval_constants.py [combined weights growth least curves]
        [--replicates 300] [--grouped-replicates 150]

combined: quantiles of the Cauchy combination on calibrated samples, for the five kinds
of probabilities of the errors in _interval_cells.py at 100 and 500 rows, beside the
table _ROW_COMBINED. The combination is not corrected by the table here.

weights: power of the test at size .05 as a function of the six weights (ROW_WEIGHTS),
in steps of .1. Power is the mean over the errors of _interval_cells.py (ERRORS at 100
and 500 rows, and CURVES), with critical values from as many calibrated samples. "worst
ratio" is the mean of the four smallest ratios to the best of the other tests in
interval_test.py (of the errors that this test detects in 20 to 98% of the samples). The
standard error of a difference is smaller than that of a mean, since all weights are
measured on the same samples. The table has the weights of the package, single
statistics, and the thirty best weights by power and by worst ratio. The ranks are among
all 3,004 weights.

growth: the growth of the variance of T with the squared error, divided by its growth
for errors that are proportional to the noise, for the distributions of
method_coverage.py. _GUESSED is the guess of this fraction.

least: rejection rate of calibrated samples of few rows, by the number of rows, for the
same kinds of probabilities. With fewer than LEAST_UNITS rows, the package gives no
p-value.

curves: coverage and width as functions of the other constants of _interval_parts.py, in
the cells that the method was chosen on (the tuning cells of _interval_cells.py), with
the same samples for all values. A coverage has a standard error of 1.3 points for 300
replicates and 1.8 for 150. interval_constants_cells.csv has each cell ("lost" and
"gained" as in interval_ablation.py), interval_constants.csv the summary.

It takes about nine minutes on one core, of which the first four tables take three.
"""

import argparse
import itertools
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings

import _interval_cells as cells_of
import _interval_parts as parts_of
import numpy as np
from _common import print_table, read_csv, versions, write_csv
from interval_coverage import generators
from interval_test import others_of, power
from method_coverage import FREQUENCIES, SHAPES, SIZES

TODAY = "today"
N_ROWS = (100, 500)
N_NULL = 500  # samples of each kind of probabilities and size
N_POWER = 200  # samples of each error and size
N_GROWTH = 20
FEW_ROWS = (2, 3, 4, 5, 6, 8, 12, 20)
CELLS, SUMMARY = "interval_constants_cells.csv", "interval_constants.csv"

# Values of the constants beside today's.
VALUES = {
    "_GUESSED": (1 / 3, 1.0, 1.5),
    "_TRUSTED": (1.0, 5.0),
    "_LOSS": (0.03, 0.3),
}
WITH_GROUPS = {"floor of slope_of": (0.0, 0.3), "_SEEN": (0.3, 0.45, 0.8, 1.0)}


# ---------------------------------------------------------------- the test


def kinds():
    """Return the kinds of probabilities of the errors, by name."""
    return {
        name.rpartition(", ")[2] if "step" not in name else "U(.2, .8)": law
        for name, law, _ in cells_of.ERRORS
    }


def samples(cell, n):
    """Yield the labels and probabilities of n samples."""
    for rng in generators(cell.name, n):
        y, q, _ = cell.draw(rng)
        yield y, q


def p_values(drawn):
    """Return the p-values that the test combines, one row per sample.

    A p-value without weight in a sample is NaN.
    """
    found = []
    for y, q in drawn:
        p, weights, _ = parts_of.arguments_of(parts_of.COMBINE, y, q)
        found.append(np.where(np.array(weights) > 0, p, np.nan))
    return np.array(found)


def statistics(p, weights):
    """Return the weighted means of the terms of the Cauchy combination."""
    used = ~np.isnan(p)
    terms = np.where(used, np.tan(np.pi * (0.5 - np.clip(p, 1e-15, 0.99))), 0)
    return (terms @ weights) / np.maximum(used @ weights, 1e-9)


def combined(p, weights):
    """Return the combination of p-values, without a correction."""
    found = 0.5 - np.arctan(statistics(p, weights)) / np.pi
    # as the package does it
    return np.where(np.nanmin(p, axis=1) >= 0.99, 1.0, found)


def combined_rows():
    weights = np.array(parts_of.value_at(parts_of.WEIGHTS))
    at = np.array(parts_of.value_at(parts_of.UNIFORM))
    table = np.array(parts_of.value_at(parts_of.COMBINED))
    found = []
    for name, law in kinds().items():
        for n in N_ROWS:
            cell = cells_of.rows(f"{name}, right", law, cells_of.same, n)
            found.append(combined(p_values(samples(cell, N_NULL)), weights))
    each = np.array([np.quantile(values, at) for values in found])
    every = np.concatenate(found)
    rows = []
    for k in range(1, at.size - 1):
        # the share of samples below the quantile of the table has this error
        below = (every <= table[k]).mean()
        rows.append(
            {
                "uniform": f"{at[k]:g}",
                "_ROW_COMBINED": f"{table[k]:g}",
                "found": f"{np.quantile(every, at[k]):.3f}",
                "lowest kind": f"{each[:, k].min():.3f}",
                "highest kind": f"{each[:, k].max():.3f}",
                "share below _ROW_COMBINED": f"{below:.4f}",
                "se": f"{np.sqrt(at[k] * (1 - at[k]) / every.size):.4f}",
                "share below uniform": f"{(every <= at[k]).mean():.4f}",
            }
        )
    return rows


def grid():
    """Return weights in steps of .1, those of the package first."""
    tenths = np.array(
        [w for w in itertools.product(range(11), repeat=6) if sum(w) == 10]
    )
    own = np.array(parts_of.value_at(parts_of.WEIGHTS))
    same = np.abs(tenths / 10 - own).max(axis=1) < 1e-9
    return np.concatenate([[own], tenths[~same] / 10])


def weights_rows():
    weights, powers, best = grid().T, [], []
    errors = [(*error, n) for error in cells_of.ERRORS for n in N_ROWS]
    for name, law, frequency, n in [*errors, *cells_of.CURVES]:
        right = cells_of.rows(f"{name}, null", law, cells_of.same, n)
        wrong = cells_of.rows(f"{name}, error", law, frequency, n)
        drawn = [list(samples(cell, N_POWER)) for cell in (right, wrong)]
        null, error = (statistics(p_values(each), weights) for each in drawn)
        powers.append(power(null, error))
        others = ([list(others_of(y, q).values()) for y, q in each] for each in drawn)
        best.append(power(*map(np.array, others)).max())
    powers, best = np.array(powers), np.array(best)
    ratio = np.sort((powers / best[:, np.newaxis])[(best > 20) & (best < 98)], axis=0)
    mean, worst = powers.mean(axis=0), ratio[:4].mean(axis=0)
    se = np.sqrt((powers * (100 - powers) / N_POWER).sum(axis=0)) / len(powers)
    ranks = [(-each).argsort(kind="stable").argsort() + 1 for each in (mean, worst)]
    shown = (np.minimum(*ranks) <= 30) | (weights.max(axis=0) == 1)
    shown[0] = True  # of the package
    return [
        {
            "mean residual": f"{w[0]:.2f}",
            "slope": f"{w[1]:.2f}",
            "smooth, 4": f"{w[2]:.2f}",
            "smooth, 8": f"{w[3]:.2f}",
            "square": f"{w[4]:.2f}",
            "least probable": f"{w[5]:.2f}",
            "of the package": "yes" if k == 0 else "",
            "power": f"{mean[k]:.1f}",
            "se": f"{se[k]:.1f}",
            "lowest power": f"{powers[:, k].min():.1f}",
            "worst ratio": f"{worst[k]:.2f}",
            "rank": ranks[0][k],
            "rank of worst": ranks[1][k],
        }
        for k, w in enumerate(weights.T)
        if shown[k]
    ]


def least_rows():
    combine, rows = parts_of.value_at(parts_of.COMBINE), []
    for n in FEW_ROWS:
        shares = {}
        for name, law in kinds().items():
            cell, rejected = cells_of.rows(f"{name}, few", law, cells_of.same, n), 0
            for rng in generators(cell.name, N_NULL):
                y, q, _ = cell.draw(rng)
                rejected += (
                    combine(*parts_of.arguments_of(parts_of.COMBINE, y, q)) < 0.05
                )
            shares[name] = 100 * rejected / N_NULL
        most = max(shares, key=shares.get)
        row = {"n": n, "mean size": f"{np.mean(list(shares.values())):.1f}"}
        row |= {"lowest": f"{min(shares.values()):.1f}"}
        row |= {"highest": f"{shares[most]:.1f}", "of kind": most}
        rows.append(row | {"se of one": f"{100 * (0.05 * 0.95 / N_NULL) ** 0.5:.1f}"})
    return rows


# ---------------------------------------------------------------- the distribution of T


def fraction(q, frequency, rng):
    """Return the growth of the variance of T over that of the guess with _GUESSED = 1.

    The guess is computed from a sample of labels, as in the package.
    """
    p = frequency(q)
    y = (rng.random(q.size) < p).astype(int)
    *_, deviation, linear = parts_of.arguments_of(parts_of.SLOPE_OF, y, q)
    d = q - p
    growth = np.mean(p * (1 - p) * d**2) / np.mean(d**2) / q.size
    return growth / (deviation / linear * deviation / 2)


def growth_rows():
    rows = []
    for shape, (a, b) in SHAPES.items():
        for labels, frequency in FREQUENCIES.items():
            if labels == "calibrated":
                continue
            for n in SIZES:
                found = [
                    fraction(rng.beta(a, b, n), frequency, rng)
                    for rng in generators(f"{shape}, {labels}, {n}", N_GROWTH)
                ]
                row = {"probabilities": shape, "labels": labels, "n": n}
                row |= {"fraction": f"{np.mean(found):.3f}"}
                row |= {"se": f"{np.std(found, ddof=1) / N_GROWTH**0.5:.3f}"}
                row |= {"least": f"{min(found):.3f}", "most": f"{max(found):.3f}"}
                rows.append(row)
    return rows


# ---------------------------------------------------------------- curves


def text_of(value):
    return f"{value:.3g}"


def curve_cells(options):
    """Return the rows of each cell and value."""
    rows = []
    for values, cells, n in (
        (VALUES, cells_of.tuning_rows(), options.replicates),
        (WITH_GROUPS, cells_of.tuning_groups(), options.grouped_replicates),
    ):
        variants = {TODAY: []}
        for name in values:
            for value in values[name]:
                variant = f"{name} = {text_of(value)}"
                variants[variant] = parts_of.with_constant(name, value)
        kind = "rows" if values is VALUES else "groups"
        for cell in cells:
            rows += [{"set": kind} | r for r in parts_of.compare(cell, n, variants)]
            print(cell.name, flush=True)
    return rows


def curves(rows):
    """Return a row for each value of each constant, today's among them."""
    found = []
    for kind, values in (("rows", VALUES), ("groups", WITH_GROUPS)):
        mine = [row for row in rows if row["set"] == kind]
        by_name = {row["variant"]: row for row in parts_of.summaries(mine)}
        for name, others in values.items():
            today = parts_of.value_of(name)
            for value in sorted({*others, today}):
                key = TODAY if value == today else f"{name} = {text_of(value)}"
                row = {k: v for k, v in by_name[key].items() if k != "variant"}
                start = {"constant": name, "value": text_of(value), "set": kind}
                is_today = "yes" if value == today else ""
                found.append(start | {"of the package": is_today} | row)
    return found


TABLES = {
    "combined": combined_rows,
    "weights": weights_rows,
    "growth": growth_rows,
    "least": least_rows,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choices = [*TABLES, "curves", "summary"]
    parser.add_argument("tables", nargs="*", help=f"some of {choices}")
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--grouped-replicates", type=int, default=150)
    options = parser.parse_args()
    # the warning of few groups
    warnings.simplefilter("ignore", UserWarning)
    for table in options.tables or [*TABLES, "curves"]:
        start = time.perf_counter()
        if table in TABLES:
            rows = TABLES[table]()
        elif table == "curves":
            cells = curve_cells(options)
        else:
            note, cells = read_csv(CELLS)
        if table != "summary":
            note = f"{time.perf_counter() - start:.0f} s; {versions('numpy', 'scipy')}"
        if table in TABLES:
            name = f"interval_{table}.csv"
        else:
            rows, name = curves(cells), SUMMARY
            if table == "curves":
                write_csv(CELLS, cells, f"shares in %; {note}")
        print_table(rows)
        write_csv(name, rows, note)


if __name__ == "__main__":
    main()
