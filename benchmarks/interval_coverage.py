"""Coverage of the true calibration error by its intervals.

    python benchmarks/interval_coverage.py [PART ...] [--replicates 2000]
        [--grouped-replicates 1000] [--jobs 2] [--only-default]

methods: probabilities q are drawn from a Beta distribution, and labels are positive
with probability t(q). The true error is the root of E (q - t(q))^2, without bins. The
table has the proportion of samples whose interval contains the true error, the mean
width, and the proportion with p < 0.05. The default interval is compared with a closed
form with bins of 20 and of 200 (normal distribution, equal tails), with Algorithm 2
(500 replicates). --only-default measures
the default interval again, on the same samples.

tuning, testing: the same of the default interval for each cell of _interval_cells.py,
and the proportions that miss the error on either side. The cells of `testing` were not
used to choose the method. tuning-groups, testing-groups: rows in groups. certain,
certain-testing: the labels hardly vary. repeated-groups, testing-repeated-groups:
groups whose rows have the same probability and label. "above .001" is the share of the
samples with p < .05 whose lower end is above .001. "rmse" is the root mean square error
of the estimate, and "rmse of T" that of the root of T in bins of the same size.

carrying: the warning that few rows carry the error. With one positive label in 1,000,
nearly the whole squared error may be in two or three rows with high probabilities. Many
samples have none of them, and no interval can know of them. The table has cells of that
kind and other cells: coverage, and the share of samples with a warning among those
whose interval covers the true error and among those whose interval misses it (150
replicates).
"""

import operator
import time
import warnings

import _interval_cells as cells_of
import _study
import numpy as np
from _common import RESULTS, print_table, read_csv, versions, write_csv
from _interval_cells import FREQUENCIES, SHAPES, SIZES, generators
from joblib import Parallel, delayed
from scipy import special
from scipy.stats import chi2

from skcalib.metrics import calibration_error, calibration_error_interval

# Methods


def closed_form(y, q, size):
    """Return low, high and p-value by a normal distribution of the debiased square.

    The interval solves (T - x)^2 = 1.96^2 (tau + 4 kappa x). The p-value is computed
    from a chi-squared distribution with three matched moments. If it is at least 0.05,
    low is 0.
    """
    order = np.argsort(q)
    q, r = q[order], q[order] - y[order]
    start = np.arange(max(1, q.size // size)) * size
    n = np.diff(np.r_[start, q.size])
    mean, square = (np.add.reduceat(x, start) / n for x in (r, r * r))
    chance = np.add.reduceat(q * (1 - q), start) / n
    s2, w = (square - mean**2) * n / (n - 1), n / q.size
    variance = (n * s2 + chance) / ((n + 1) * n)
    z, t = special.ndtri(0.975), w @ (mean**2 - s2 / n)
    tau, kappa = 2 * w**2 @ variance**2, (w**2 * mean**2) @ variance / (w @ mean**2)
    half = z * np.sqrt(max(tau + 4 * kappa * t + 4 * z**2 * kappa**2, 0))
    second, third = 2 * w**2 @ (chance / n) ** 2, 8 * w**3 @ (chance / n) ** 3
    nu = 8 * second**3 / third**2
    p_value = chi2.sf(nu + t * np.sqrt(2 * nu / second), nu)
    low, high = np.sqrt(np.maximum(t + 2 * z**2 * kappa + np.array([-half, half]), 0))
    return (0.0 if p_value >= 0.05 else max(low, 1e-16)), high, p_value


CLOSED_FORMS = {"closed form, bins of 20": 20, "closed form, bins of 200": 200}

# Replicates of the other methods, whose coverage is far from 95% or known.
N_COMPARED = 500

METHODS = {
    "score": {},
    "Algorithm 2, bins of 200": {
        "method": "simulation",
        "bin_size": 200,
        "n_samples": 300,
    },
    "Algorithm 2, auto bins": {"method": "simulation", "n_samples": 300},
}


def true_error(shape, kind):
    a, b = SHAPES[shape]
    q = np.random.default_rng(12345).beta(a, b, 4_000_000)
    return float(np.sqrt(np.mean((q - FREQUENCIES[kind](q)) ** 2)))


def replicate(shape, kind, n, methods, seed, number):
    """Return (low, high, p_value) of each method on one sample."""
    a, b = SHAPES[shape]
    rng = np.random.default_rng(seed)
    q = rng.beta(a, b, n)
    y = (rng.random(n) < FREQUENCIES[kind](q)).astype(int)
    found = {}
    for name, settings in METHODS.items():
        if name in methods and (name == "score" or number < N_COMPARED):
            r = calibration_error_interval(y, q, random_state=rng, **settings)
            found[name] = r.low, r.high, r.pvalue
    for name, size in CLOSED_FORMS.items():
        if name in methods and number < N_COMPARED:
            found[name] = closed_form(y, q, size)
    return found


def cell(shape, kind, n, methods, n_replicates, parallel):
    """Return a row for each method."""
    truth = true_error(shape, kind)
    key = [list(SHAPES).index(shape), list(FREQUENCIES).index(kind), n]
    seeds = np.random.SeedSequence(key).spawn(n_replicates)
    several = parallel(
        delayed(replicate)(shape, kind, n, methods, seed, k)
        for k, seed in enumerate(seeds)
    )
    rows = []
    for method in methods:
        found = [results[method] for results in several if method in results]
        low, high, p_value = np.array(found).T
        covered = (low <= truth) & (truth <= high)
        rows.append(
            {
                "q": shape,
                "labels": kind,
                "n": n,
                "true_error": f"{truth:.4f}",
                "method": method,
                "replicates": len(found),
                "coverage": f"{100 * covered.mean():.2f}",
                "width": f"{(high - low).mean():.5f}",
                "rejected": f"{100 * (p_value < 0.05).mean():.2f}",
            }
        )
    return rows


def methods(options):
    names = ["score"] if options.only_default else [*METHODS, *CLOSED_FORMS]
    rows = []
    with Parallel(n_jobs=options.jobs, batch_size=20) as parallel:
        for shape in SHAPES:
            for kind in FREQUENCIES:
                for n in SIZES:
                    new = cell(shape, kind, n, names, options.replicates, parallel)
                    print_table(new)
                    rows += new
    if options.only_default:
        key = operator.itemgetter("q", "labels", "n", "method")
        new = {tuple(map(str, key(row))): row for row in rows}
        rows = [new.get(key(row), row) for row in read_csv("coverage.csv")[1]]
    error = 100 * np.sqrt(0.95 * 0.05 / options.replicates)
    note = (
        f"{options.replicates} replicates, standard error {error:.2f} points at 95%; "
        f"coverage and rejected in %; {versions('numpy', 'scipy')}; "
        "Algorithm 2 with 300 draws"
    )
    write_csv("coverage.csv", rows, note, keeps_rows=options.only_default)
    draw(rows)


def draw(rows):
    """Draw coverage and width in every cell."""
    import matplotlib.pyplot as plt

    cells = list(dict.fromkeys((r["q"], r["labels"], int(r["n"])) for r in rows))
    value = {
        (r["q"], r["labels"], int(r["n"]), r["method"]): (
            float(r["coverage"]),
            float(r["width"]),
        )
        for r in rows
    }
    styles = {
        "score": ("o", "C0", "score, default"),
        "closed form, bins of 20": ("^", "C1", "closed form, bins of 20"),
        "closed form, bins of 200": ("v", "C4", "closed form, bins of 200"),
        "Algorithm 2, bins of 200": ("s", "C3", "Algorithm 2, bins of 200"),
    }
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(10, 7.5), sharex=True, layout="constrained"
    )
    places = np.arange(len(cells))
    for method, (marker, color, label) in styles.items():
        found = np.array([value[(*c, method)] for c in cells])
        kwargs = {"color": color, "label": label, "marker": marker, "ls": "", "ms": 5}
        top.plot(places, np.maximum(found[:, 0], 78), **kwargs)
        bottom.plot(places, found[:, 1], **kwargs)
    top.axhspan(94, 96, color="0.9", zorder=0)
    top.axhline(95, color="0.6", lw=0.8, zorder=0)
    top.set(ylabel="coverage of the true error, %", ylim=(77, 100.8))
    top.set_yticks([78, 80, 85, 90, 95, 100], ["78 or less", 80, 85, 90, 95, 100])
    bottom.set(ylabel="mean width", yscale="log")
    bottom.set_xticks(places, [f"{n:,}" for *_, n in cells], rotation=90, fontsize=7)
    shapes = {"U": "(.5, .5)", "skewed": "(.1, 2)", "tag": "(.02, .92)"}
    names = [f"Beta\n{shapes[q]}\n{kind}" for q, kind, n in cells if n == SIZES[0]]
    for k, name in enumerate(names):
        at = 3 * k + 1
        top.text(
            at,
            101.2,
            name.replace("temperature", "temp."),
            ha="center",
            va="bottom",
            fontsize=7.5,
        )
        for ax in (top, bottom):
            ax.axvline(at + 1.5, color="0.85", lw=0.8, zorder=0)
    bottom.set_xlabel("number of pairs")
    handles = top.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, fontsize=8.5)
    figure.savefig(RESULTS / "coverage.png", dpi=110)


# Cells


def measure(cell, n_replicates):
    """Return a row of the table of coverage."""
    found, effective = [], []
    for rng in generators(cell.name, n_replicates):
        y, q, groups = cell.draw(rng)
        r = calibration_error_interval(y, q, groups=groups)
        alone = calibration_error(
            y, q, groups=groups, bin_size=r.bin_size, debias=True, pos_label=1
        )
        found.append((r.low, r.high, r.pvalue, r.estimate, alone))
        effective.append(getattr(r, "n_effective_groups", None) or np.nan)
    low, high, p, *estimates = np.array(found).T
    rejected = p < 0.05
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
        "p<.05": f"{100 * rejected.mean():.1f}",
        "above .001": f"{100 * (low > 0.001)[rejected].mean():.1f}"
        if rejected.any()
        else "",
    } | {
        name: f"{np.sqrt(np.mean((found - cell.truth) ** 2)):.4f}"
        for name, found in zip(("rmse", "rmse of T"), estimates, strict=True)
    }


def carrying_cells():
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


def many(make):
    """Return the function that measures the cells of a table."""

    def rows(options):
        found = []
        for cell in make():
            n = options.grouped_replicates if cell.grouped else options.replicates
            found.append(measure(cell, n))
            print(*found[-1].values(), flush=True)
        return found

    return rows


def carrying(options):
    rows = [row_of(cell, min(options.replicates, 150)) for cell in carrying_cells()]
    print_table(rows)
    return rows


TABLES = {
    "tuning": many(cells_of.tuning_rows),
    "testing": many(cells_of.testing_rows),
    "tuning-groups": many(cells_of.tuning_groups),
    "testing-groups": many(cells_of.testing_groups),
    "repeated-groups": many(cells_of.repeated_groups),
    "testing-repeated-groups": many(cells_of.testing_repeated_groups),
    "certain": many(cells_of.certain_rows),
    "certain-testing": many(cells_of.certain_testing),
    "carrying": carrying,
}


def main():
    parser = _study.parser_of(__doc__)
    parts = ["methods", *TABLES]
    parser.add_argument("parts", nargs="*", default=parts, metavar="part")
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--grouped-replicates", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-default", action="store_true")
    options = parser.parse_args()
    # the warning of few groups
    warnings.simplefilter("ignore", UserWarning)
    for part in options.parts:
        start = time.perf_counter()
        if part == "methods":
            methods(options)
            continue
        rows = TABLES[part](options)
        note = f"shares in %; {time.perf_counter() - start:.0f} s; "
        note += versions("numpy", "scipy")
        write_csv(f"interval_{part.replace('-', '_')}.csv", rows, note)


if __name__ == "__main__":
    main()
