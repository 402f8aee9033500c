"""Coverage of the true calibration error by the intervals.

    python benchmarks/method_coverage.py [--replicates 2000] [--jobs 2] [--only-default]
    python benchmarks/method_coverage.py --figure

Probabilities q are drawn from a Beta distribution, and labels are positive with
probability t(q). The true error is the root of E (q - t(q))^2 over the Beta
distribution, without bins. The script prints and writes the proportion of replicates
whose interval contains the true error, the mean width, and the proportion with p <
0.05. The default interval is compared with a closed form with bins of 20 and of 200
(normal distribution, equal tails), with Algorithm 2 (500 replicates), and with the
basic bootstrap (200 replicates).

--only-default: measure only the default interval, on the same samples.
--figure: only draw the committed CSV.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import operator
import time

import numpy as np
from _common import RESULTS, print_table, read_csv, versions, write_csv
from joblib import Parallel, delayed
from scipy import special
from scipy.stats import chi2

from skcalib.datasets import make_calibrated_pairs
from skcalib.metrics import calibration_error_interval

SHAPES = {"U": (0.5, 0.5), "skewed": (0.1, 2.0), "tag": (0.02, 0.92)}
SIZES = (1_000, 10_000, 100_000)


def shifted(k):
    def frequency(q):
        return np.where(q <= 0.5, np.maximum(0, q - k), np.minimum(1, q + k))

    return frequency


def sharpened(q):
    # Beta draws may be 0 or 1 to the last bit, where the logit is infinite.
    with np.errstate(divide="ignore"):
        return special.expit(1.5 * special.logit(q))


FREQUENCIES = {
    "calibrated": lambda q: q,
    "k=.02": shifted(0.02),
    "k=.1": shifted(0.1),
    "temperature 1.5": sharpened,
}


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
N_COMPARED, N_BOOTSTRAPPED = 500, 200

METHODS = {
    "score": {},
    "Algorithm 2, bins of 200": {
        "method": "simulation",
        "bin_size": 200,
        "n_samples": 300,
    },
    "Algorithm 2, auto bins": {"method": "simulation", "n_samples": 300},
    "basic bootstrap": {"method": "bootstrap", "n_samples": 1000},
}


def true_error(shape, kind):
    a, b = SHAPES[shape]
    q = np.random.default_rng(12345).beta(a, b, 4_000_000)
    return float(np.sqrt(np.mean((q - FREQUENCIES[kind](q)) ** 2)))


def replicate(shape, kind, n, methods, seed, number):
    """Return (low, high, p_value) of each method on one sample."""
    a, b = SHAPES[shape]
    rng = np.random.default_rng(seed)
    y, q = make_calibrated_pairs(
        n, a=a, b=b, transform=FREQUENCIES[kind], random_state=rng
    )
    found = {}
    last = {"score": np.inf, "basic bootstrap": N_BOOTSTRAPPED}
    for name, settings in METHODS.items():
        if name in methods and number < last.get(name, N_COMPARED):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-default", action="store_true")
    parser.add_argument("--figure", action="store_true")
    options = parser.parse_args()
    error = 100 * np.sqrt(0.95 * 0.05 / options.replicates)
    note = (
        f"{options.replicates} replicates, standard error {error:.2f} points at 95%; "
    )
    note += "coverage and rejected in %; " + versions("numpy", "scipy")
    if options.figure:
        draw()
        return
    methods = [*METHODS, *CLOSED_FORMS]
    if options.only_default:
        methods = ["score"]
    start, rows = time.perf_counter(), []
    with Parallel(n_jobs=options.jobs, batch_size=20) as parallel:
        for shape in SHAPES:
            for kind in FREQUENCIES:
                for n in SIZES:
                    new = cell(shape, kind, n, methods, options.replicates, parallel)
                    print_table(new)
                    rows += new
    note += "; Algorithm 2 with 300 draws, bootstrap with 1,000"
    print(f"{note}; {time.perf_counter() - start:.0f} s")
    if options.only_default:
        key = operator.itemgetter("q", "labels", "n", "method")
        new = {tuple(map(str, key(row))): row for row in rows}
        rows = [new.get(key(row), row) for row in read_csv("coverage.csv")[1]]
    write_csv("coverage.csv", rows, note, keeps_rows=options.only_default)
    draw()


def draw():
    """Draw coverage and relative width in every cell from the CSV."""
    import matplotlib.pyplot as plt

    _, rows = read_csv("coverage.csv")
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
        "basic bootstrap": ("x", "C7", "basic bootstrap"),
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


if __name__ == "__main__":
    main()
