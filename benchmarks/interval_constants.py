"""Find the constants of the score interval and of its test again.

    python benchmarks/interval_constants.py [combined weights least curves]
        [--replicates 300] [--grouped-replicates 150]

combined: quantiles of the half-Cauchy combination on calibrated samples, for the five
kinds of probabilities of the errors in _interval_cells.py at 100 and 500 rows, beside
the table _COMBINED. The combination is not corrected by the table here.

weights: power of the test at size .05 as a function of the six weights (ROW_WEIGHTS),
in steps of .1. Power is the mean over the errors of _interval_cells.py (ERRORS at 100
and 500 rows, and CURVES), with critical values from as many calibrated samples. "worst
ratio" is the mean of the four smallest ratios to the best of the other tests in
interval_test.py (of the errors that this test detects in 20 to 98% of the samples). The
standard error of a difference is smaller than that of a mean, since all weights are
measured on the same samples. The table has the weights of the package, single
statistics, and the thirty best weights by power and by worst ratio. The ranks are among
all 3,004 weights.

least: rejection rate of calibrated samples of few rows, by the number of rows, for the
same kinds of probabilities. With fewer than LEAST_UNITS rows, the package gives no
p-value.

curves: coverage and width as functions of the other constants (CONSTANTS), in the cells
that the method was chosen on (the tuning cells of _interval_cells.py), with the same
samples for all values. A coverage has a standard error of 1.3 points for 300 replicates
and 1.8 for 150. interval_constants_cells.csv has each cell, with the shares of samples
whose interval contains the error only with today's value ("lost") or only with the
other one ("gained"), and interval_constants.csv the summary.

This is the only script that names private attributes of the interval. An attribute is
replaced by a pair (path, make): the path leads from `skcalib.metrics` to the attribute,
and `make(original)` returns what takes its place. A path that does not exist is an
error.

It takes about nine minutes on one core, of which the first three tables take three.
"""

import functools
import importlib
import itertools
import time
import warnings
from contextlib import contextmanager
from inspect import getattr_static

import _interval_cells as cells_of
import _study
import numpy as np
from _common import print_table, read_csv, versions, write_csv
from _interval_cells import generators
from interval_test import others_of, power

from skcalib.metrics import calibration_error_interval

TODAY = "today"
N_ROWS = (100, 500)
N_NULL = 500  # samples of each kind of probabilities and size
N_POWER = 200  # samples of each error and size
FEW_ROWS = (2, 3, 4, 5, 6, 8, 12, 20)
CELLS, SUMMARY = "interval_constants_cells.csv", "interval_constants.csv"

# Values of the constants beside today's.
VALUES = {"_GUESSED": (1 / 3, 1.0, 1.5), "_TRUSTED": (1.0, 5.0), "_LOSS": (0.03, 0.3)}
WITH_GROUPS = {"floor of slope_of": (0.0, 0.3), "_SEEN": (0.3, 0.45, 0.8, 1.0)}


# ---------------------------------------------------------------- private attributes


UNIFORM, COMBINED = "_score_interval._UNIFORM", "_score_interval._COMBINED"
WEIGHTS, SKEWED = "_score_interval.ROW_WEIGHTS", "_score_interval._SKEWED"
COMBINE, SLOPE_OF = "_score_interval.combine", "_score_interval.slope_of"
ENDS = "_score_interval.SquareDistribution.interval"
TRUST = "_score_interval.trust_in"


def to(value):
    """Replace a constant."""
    return lambda _: value


def giving(value):
    """Replace a function by one that returns a value."""
    return lambda _: lambda *_arguments, **_options: value


def floor_of_slope(floor):
    """Replace the floor of `slope_of`, as a share of the guess."""

    def make(original):
        def slope(seen, square, deviation, linear):
            guess = original(seen, -1.0, deviation, linear)
            if guess <= 0 or square <= 0:
                return guess
            trust = value_at(TRUST)(square, deviation)
            return max(trust * seen / square + (1 - trust) * guess, floor * guess)

        return slope

    return make


# Constants of the distribution of T, with their paths (the floor is in `slope_of`).
CONSTANTS = {
    "_GUESSED": ["_score_interval._GUESSED"],
    "floor of slope_of": [SLOPE_OF],
    "_TRUSTED": ["_score_interval._TRUSTED"],
    "_LOSS": ["_bins._LOSS"],
    "_SEEN": ["_grouped_bins._SEEN"],
}
FLOOR = 0.1  # written in `slope_of`


def with_constant(name, value):
    """Return the replacements that give a constant another value."""
    make = floor_of_slope(value) if name == "floor of slope_of" else to(value)
    return [(path, make) for path in CONSTANTS[name]]


def value_of(name):
    """Return the value of a constant in the package."""
    return FLOOR if name == "floor of slope_of" else value_at(CONSTANTS[name][0])


@functools.cache
def module_of(name):
    return importlib.import_module(f"skcalib.metrics.{name}")


@functools.cache
def locate(path):
    """Return the owner of an attribute and its name; an error if there is none."""
    first, *middle, last = path.split(".")
    owner = functools.reduce(getattr, middle, module_of(first))
    getattr_static(owner, last)
    return owner, last


def value_at(path):
    return getattr(*locate(path))


@contextmanager
def replaced(replacements):
    """Replace attributes for the time of a block."""
    kept = []
    try:
        for path, make in replacements:
            owner, last = locate(path)
            original = getattr_static(owner, last)
            kept.append((owner, last, original))
            setattr(owner, last, make(original))
        yield
    finally:
        for owner, last, original in reversed(kept):
            setattr(owner, last, original)


def arguments_of(path, y, q):
    """Return the arguments of the first call of a function in the interval of a sample.

    Later calls are for narrower bins. The ends of the interval are not searched for.
    """
    kept = []

    def make(original):
        def call(*arguments):
            kept.append(arguments)
            return original(*arguments)

        return call

    with replaced([(path, make), (ENDS, giving((0.0, 0.0)))]):
        calibration_error_interval(y, q)
    return kept[0]


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

    A p-value without weight is NaN. The last number is what the skewness adds.
    """
    found = []
    for y, q in drawn:
        p, weights = arguments_of(COMBINE, y, q)
        v = q * (1 - q)
        more = (v @ (1 - 2 * q)) ** 2 / v.sum() ** 3 / value_at(SKEWED)
        found.append([*np.where(np.array(weights) > 0, p, np.nan), more])
    return np.array(found)


def statistics(p, weights):
    """Return the weighted means of the terms of the half-Cauchy combination."""
    p, more = p[:, :-1], p[:, -1:]
    used, weights = ~np.isnan(p), weights.reshape(6, -1)
    terms = np.where(used, 1 / np.tan(np.pi * np.clip(p, 1e-15, 1) / 2), 0)
    mean = (terms @ weights) / np.maximum(used @ weights, 1e-9)
    return ((mean + more * terms[:, :1]) / (1 + more)).squeeze()


def combined(p, weights):
    return 1 - 2 * np.arctan(statistics(p, weights)) / np.pi


def combined_rows():
    weights = np.array(value_at(WEIGHTS))
    at = np.array(value_at(UNIFORM))
    table = np.array(value_at(COMBINED))
    found = []
    for name, law in kinds().items():
        for n in N_ROWS:
            cell = cells_of.rows(f"{name}, right", law, cells_of.same, n)
            found.append(combined(p_values(samples(cell, N_NULL)), weights))
    each = np.array([np.quantile(values, at) for values in found])
    every = np.concatenate(found)
    rows = []
    for k in range(1, at.size - 1):
        below = (every <= table[k]).mean()
        rows.append(
            {
                "uniform": f"{at[k]:g}",
                "_COMBINED": f"{table[k]:g}",
                "found": f"{np.quantile(every, at[k]):.3f}",
                "lowest kind": f"{each[:, k].min():.3f}",
                "highest kind": f"{each[:, k].max():.3f}",
                "share below _COMBINED": f"{below:.4f}",
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
    own = np.array(value_at(WEIGHTS))
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
    combine, rows = value_at(COMBINE), []
    for n in FEW_ROWS:
        shares = {}
        for name, law in kinds().items():
            cell, rejected = cells_of.rows(f"{name}, few", law, cells_of.same, n), 0
            for rng in generators(cell.name, N_NULL):
                y, q, _ = cell.draw(rng)
                rejected += combine(*arguments_of(COMBINE, y, q)) < 0.05
            shares[name] = 100 * rejected / N_NULL
        most = max(shares, key=shares.get)
        row = {"n": n, "mean size": f"{np.mean(list(shares.values())):.1f}"}
        row |= {"lowest": f"{min(shares.values()):.1f}"}
        row |= {"highest": f"{shares[most]:.1f}", "of kind": most}
        rows.append(row | {"se of one": f"{100 * (0.05 * 0.95 / N_NULL) ** 0.5:.1f}"})
    return rows


# ---------------------------------------------------------------- the distribution of T


def compare(cell, n, variants):
    """Return a row for each variant, from the same samples of a cell.

    `variants` are replacements by name; the first one is the reference.
    """
    found = {name: [] for name in variants}
    for rng in generators(cell.name, n):
        y, q, groups = cell.draw(rng)
        for name, replacements in variants.items():
            with replaced(replacements):
                r = calibration_error_interval(y, q, groups=groups)
            found[name].append(
                (r.low <= cell.truth <= r.high, r.high - r.low, r.pvalue)
            )
    rows, reference = [], None
    for name, values in found.items():
        inside, width, p = np.array(values, dtype=float).T
        if reference is None:
            reference = inside, width.mean()
        rows.append(
            {
                "cell": cell.name,
                "true_error": f"{cell.truth:.4f}",
                "replicates": n,
                "variant": name,
                "coverage": f"{100 * inside.mean():.1f}",
                "lost": f"{100 * (reference[0] > inside).mean():.1f}",
                "gained": f"{100 * (reference[0] < inside).mean():.1f}",
                "width / reference": f"{width.mean() / reference[1]:.3f}",
                "p<.05": f"{100 * (p < 0.05).mean():.1f}",
            }
        )
    return rows


def summaries(rows, level=95):
    """Return a row for each variant, over the cells of `rows` (rows of `compare`)."""
    names = list(dict.fromkeys(row["variant"] for row in rows))
    reference = {
        r["cell"]: float(r["coverage"]) for r in rows if r["variant"] == names[0]
    }
    found = []
    for name in names:
        mine = [row for row in rows if row["variant"] == name]
        covered = np.array([float(row["coverage"]) for row in mine])
        before = np.array([reference[row["cell"]] for row in mine])
        width = np.array([float(row["width / reference"]) for row in mine])
        rejected = np.array([float(row["p<.05"]) for row in mine])
        wrong = np.array([float(row["true_error"]) > 0 for row in mine])
        low, worst = int(covered.argmin()), int((covered - before).argmin())
        change = ""
        if covered[worst] < before[worst]:
            change = f"{before[worst]:.1f} -> {covered[worst]:.1f}"
        found.append(
            {
                "variant": name,
                "cells": len(mine),
                "replicates": mine[0]["replicates"],
                "lowest coverage": f"{covered[low]:.1f}",
                "of cell": mine[low]["cell"],
                "worst change": change,
                "in cell": mine[worst]["cell"] if change else "",
                "mean distance": f"{np.abs(covered - level).mean():.2f}",
                "mean width ratio": f"{width.mean():.3f}",
                "largest width ratio": f"{width.max():.3f}",
                "power": f"{rejected[wrong].mean():.1f}" if wrong.any() else "",
                "highest size": f"{rejected[~wrong].max():.1f}"
                if (~wrong).any()
                else "",
            }
        )
    return found


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
                variants[variant] = with_constant(name, value)
        kind = "rows" if values is VALUES else "groups"
        for cell in cells:
            rows += [{"set": kind} | r for r in compare(cell, n, variants)]
            print(cell.name, flush=True)
    return rows


def curves(rows):
    """Return a row for each value of each constant, today's among them."""
    found = []
    for kind, values in (("rows", VALUES), ("groups", WITH_GROUPS)):
        mine = [row for row in rows if row["set"] == kind]
        by_name = {row["variant"]: row for row in summaries(mine)}
        for name, others in values.items():
            today = value_of(name)
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
    "least": least_rows,
}


def main():
    parser = _study.parser_of(__doc__)
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
