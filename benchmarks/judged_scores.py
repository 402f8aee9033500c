"""Coverage and width of accuracies from a judge's verdicts and a few labels.

    python benchmarks/judged_scores.py [--replicates 2000] [--part PART]

Parts: judges, clusters, real, differences. Their rows replace those of the same part in
judged_scores.csv. The judges take about two minutes of one core with 2,000 replicates,
and all four parts less than two minutes with 300. Every fourth replicate has a
difference.

judges: five judges with given prevalence, sensitivity and specificity grade 2,000
items, and 20 to 300 of them have labels. clusters: accuracy, sensitivity and
specificity vary over 200 clusters of items, and all items of 5, 10 or 20 clusters have
labels. real: GPT-4, davinci and BEM as judges of the answers of five systems to 301
questions of Natural Questions [Kamalloo et al. 2023], resampled to 2,000 items.
differences: two systems whose answers the same judge grades.

A coverage is the share of replicates in which the 95% interval contains the true
accuracy: that of the superpopulation, and for 'items' the mean label of the 2,000
items. Widths are means of the intervals cut to [0, 1]. PPI++ as published is that of
ppi-python, to which tests compare it. The package truescore (ppi_estimate) is measured
where it is installed, with a tenth of the replicates.
"""

import csv
import gzip
import os
import time
import warnings
from functools import partial
from pathlib import Path

import _study
import numpy as np
from _common import print_table, read_csv, versions, write_csv
from scipy.special import ndtri, stdtrit

from skcalib.counts import corrected_count
from skcalib.rates import accuracy_interval
from skcalib.rates._judged import regression_interval
from skcalib.rates._strata import Labels, Strata, strata_of, stratified_interval

try:
    from truescore import ppi_estimate
except ImportError:
    ppi_estimate = None

N = 2000
LEVEL = 0.95
WEIGHT = np.full(N, 1 / N)

# Prevalence, sensitivity, specificity.
JUDGES = {
    "p=.7 sens=.95 spec=.6": (0.7, 0.95, 0.6),
    "p=.9 sens=.97 spec=.5": (0.9, 0.97, 0.5),
    "p=.8 sens=.99 spec=.97": (0.8, 0.99, 0.97),
    "p=.05 sens=.8 spec=.97": (0.05, 0.8, 0.97),
    "p=.6 sens=.7 spec=.6": (0.6, 0.7, 0.6),
}
SMALL_SHARE = 10  # a slow peer sees one in so many replicates


class Tally:
    """Coverage and mean width of several intervals."""

    def __init__(self):
        self.found = {}

    def add(self, name, ends, truth):
        low, high = max(ends[0], -1.0), min(ends[1], 1.0)
        if not (np.isfinite(low) and np.isfinite(high)):
            low, high = 0.0, 1.0
        covers = low - 1e-9 <= truth <= high + 1e-9
        self.found.setdefault(name, []).append((covers, high - low))

    def rows(self, part, cell, n):
        for name, each in self.found.items():
            covers, width = np.mean(each, axis=0)
            yield {
                "part": part,
                "cell": cell,
                "n": n,
                "interval": name,
                "coverage": round(float(covers), 4),
                "width": round(float(width), 4),
                "replicates": len(each),
            }


def table_of(y, verdict, labelled):
    """Return the strata of binary labels and verdicts, by counting."""
    size = np.bincount(verdict, minlength=2)
    number = np.bincount(verdict[labelled], minlength=2)
    right = np.bincount(verdict[labelled], y[labelled], 2)
    share = np.where(number > 0, right / np.maximum(number, 1), 0.5)
    shares = np.column_stack([1 - share, share])
    return Strata(size / size.sum(), size, number, number / np.maximum(size, 1),
                  shares, np.array([0.0, 1.0]))  # fmt: skip


def add_independent(tally, y, verdict, rows, truth, labels_only, slow):
    """Add all intervals of one replicate with independent items."""
    strata = table_of(y, verdict, rows)
    labels = Labels(verdict, y, (0.0, 1.0), WEIGHT, np.ones(N), None)
    for population, goal in (("superpopulation", truth), ("items", y.mean())):
        ends = stratified_interval(labels, strata, population, LEVEL)[:2]
        tally.add(f"post-stratified, {population}", ends, goal)
    known = int(y[rows].sum()), len(rows)
    if known not in labels_only:
        found = accuracy_interval([1] * known[0] + [0] * (known[1] - known[0]))
        labels_only[known] = found.low, found.high
    tally.add("labels only", labels_only[known], truth)
    f = verdict.astype(float)
    share, half = f.mean(), 1.96 * np.sqrt(f.var() / N)
    tally.add("judge only", (share - half, share + half), truth)
    human = np.where(np.isin(np.arange(N), rows), y, np.nan)
    ours = regression(f, human)
    tally.add("PPI++ with t", around(ours, len(rows)), truth)
    tally.add("PPI++, score", (max(ours.low, 0), min(ours.high, 1)), truth)
    tally.add("PPI++ as published", published(ours), truth)
    if ppi_estimate is not None and slow:
        found = ppi_estimate(f, y[rows], rows, alpha=1 - LEVEL)
        low, high = found.low, found.high
        tally.add("truescore, ppi_estimate", (max(low, 0), min(high, 1)), truth)


regression = partial(
    regression_interval, groups=None, population="superpopulation", level=LEVEL
)


def around(found, n):
    """Return Student's interval of PPI++."""
    half = stdtrit(n - 2, 0.975) * found.standard_error
    return found.estimate - half, found.estimate + half


def published(found):
    """Return the interval of PPI++ of Angelopoulos et al.: normal, cut to [0, 1]."""
    return tuple(np.clip(around(found, np.inf), 0.0, 1.0))


def judges(replicates):
    for cell, (prevalence, sensitivity, specificity) in JUDGES.items():
        for n in (20, 50, 100, 300):
            rng = np.random.default_rng([n, *map(ord, cell)])
            tally, known = Tally(), {}
            for k in range(replicates):
                y = (rng.random(N) < prevalence).astype(float)
                chance = np.where(y == 1, sensitivity, 1 - specificity)
                verdict = (rng.random(N) < chance).astype(int)
                rows = rng.choice(N, n, replace=False)
                slow = k % SMALL_SHARE == 0
                add_independent(tally, y, verdict, rows, prevalence, known, slow)
            yield from tally.rows("judges", cell, n)


CLUSTERED = ("p=.7 sens=.95 spec=.6", "p=.9 sens=.97 spec=.5", "p=.6 sens=.7 spec=.6")


def beta_of(rng, mean, correlation, size):
    total = 1 / correlation - 1
    return rng.beta(mean * total, (1 - mean) * total, size)


def clusters(replicates):
    sizes = {"equal": np.full(200, 10)}
    zipf = 1 / np.arange(1, 201) ** 0.6
    sizes["Zipf"] = np.maximum(1, np.rint(zipf / zipf.sum() * N)).astype(int)
    for kind, size in sizes.items():
        code = np.repeat(np.arange(200), size)
        for cell in CLUSTERED:
            for n in (5, 10, 20):
                rng = np.random.default_rng([n, *map(ord, cell + kind)])
                tally = Tally()
                for k in range(replicates):
                    add_clustered(tally, rng, code, n, JUDGES[cell], k)
                yield from tally.rows("clusters", f"{kind}, {cell}", n)


def add_clustered(tally, rng, code, n, rates, k):
    """Add all intervals of one replicate whose labels are those of n clusters."""
    prevalence, sensitivity, specificity = rates
    p, sens, spec = (
        beta_of(rng, mean, correlation, 200)[code]
        for mean, correlation in (
            (prevalence, 0.2),
            (sensitivity, 0.1),
            (specificity, 0.1),
        )
    )
    y = (rng.random(code.size) < p).astype(float)
    verdict = (rng.random(code.size) < np.where(y == 1, sens, 1 - spec)).astype(int)
    chosen = rng.choice(200, n, replace=False)
    has = np.isin(code, chosen)
    human = np.where(has, y, np.nan)
    weight = np.full(code.size, 1 / code.size)
    for groups, name in ((code, "post-stratified, groups"), (None, "without groups")):
        labels = Labels(verdict, human, (0.0, 1.0), weight, np.ones(code.size), groups)
        strata = strata_of(labels, LEVEL)
        for population in ("superpopulation", "items"):
            if groups is None and population == "items":
                continue
            truth = y.mean() if population == "items" else prevalence
            ends = stratified_interval(labels, strata, population, LEVEL)[:2]
            tally.add(f"{name}, {population}", ends, truth)
    alone = accuracy_interval(y[has], groups=code[has])
    tally.add("labels only, groups", (alone.low, alone.high), prevalence)
    f = verdict.astype(float)
    ours = regression(f, human)
    tally.add("PPI++ as published", published(ours), prevalence)
    if ppi_estimate is not None and k % SMALL_SHARE == 0:
        found = ppi_estimate(f, y[has], np.flatnonzero(has), clusters=code)
        ends = max(found.low, 0), min(found.high, 1)
        tally.add("truescore, clusters", ends, prevalence)


def real(replicates):
    folder = Path(os.environ.get("SKCALIB_DATA", Path.home() / "skcalib_data"))
    path = folder / "evaluation/sets/nq301_judges.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for judge, cut in (("gpt4", 0.5), ("davinci", 0.5), ("bem", 0.5)):
        pairs = np.array([(r["human"], r[judge]) for r in rows if r[judge]], float)
        right, verdicts = pairs[:, 0], (pairs[:, 1] > cut).astype(int)
        for n in (20, 50, 100, 300):
            rng = np.random.default_rng([n, *map(ord, judge)])
            tally, known = Tally(), {}
            for k in range(replicates):
                drawn = rng.integers(right.size, size=N)
                y, verdict = right[drawn], verdicts[drawn]
                chosen = rng.choice(N, n, replace=False)
                slow = k % SMALL_SHARE == 0
                add_independent(tally, y, verdict, chosen, right.mean(), known, slow)
            yield from tally.rows("real", judge, n)


# Two systems: accuracies; sensitivity and specificity of the judge.
PAIRS = {
    "p=.70 .74, sens=.9 spec=.85": (0.7, 0.74, 0.9, 0.85),
    "p=.70 .74, sens=.75 spec=.7": (0.7, 0.74, 0.75, 0.7),
    "p=.92 .93, sens=.97 spec=.5": (0.92, 0.93, 0.97, 0.5),
    "p=.92 .93, sens=.99 spec=.98": (0.92, 0.93, 0.99, 0.98),
}


def differences(replicates):
    for cell, (first, second, sensitivity, specificity) in PAIRS.items():
        for n in (30, 100, 300):
            rng = np.random.default_rng([n, *map(ord, cell)])
            tally = Tally()
            for _ in range(max(1, replicates // 4)):
                y, verdict = two_systems(rng, first, second, sensitivity, specificity)
                add_difference(tally, rng, y, verdict, n, second - first)
            yield from tally.rows("differences", cell, n)


def two_systems(rng, first, second, sensitivity, specificity):
    """Return right answers and verdicts; difficulty and half the errors are shared."""
    difficulty = rng.normal(size=N)
    own = rng.normal(size=(2, N))
    limit = ndtri(np.array([[first], [second]]))
    y = np.sqrt(0.6) * difficulty + np.sqrt(0.4) * own < limit
    u = np.where(rng.random((2, N)) < 0.5, rng.random(N), rng.random((2, N)))
    return y.astype(float), np.where(y, u < sensitivity, u >= specificity).astype(int)


def add_difference(tally, rng, y, verdict, n, truth):
    d, f = y[1] - y[0], (verdict[1] - verdict[0]).astype(float)
    has = np.isin(np.arange(N), rng.choice(N, n, replace=False))
    human = np.where(has, d, np.nan)
    code = np.unique(2 * verdict[0] + verdict[1], return_inverse=True)[1]
    labels = Labels(code, human, (-1.0, 0.0, 1.0), WEIGHT, np.ones(N), None)
    strata = strata_of(labels, LEVEL)
    for population, goal in (("superpopulation", truth), ("items", d.mean())):
        ends = stratified_interval(labels, strata, population, LEVEL)[:2]
        tally.add(f"post-stratified, {population}", ends, goal)
    half = 1.96 * np.sqrt(f.var() / N)
    tally.add("judge only", (f.mean() - half, f.mean() + half), truth)
    for method in ("score", "t"):
        found = corrected_count(
            human, f, estimand="mean", bounds=(-1, 1), method=method
        )
        name = f"corrected_count, {method}, items"
        tally.add(name, (found.low, found.high), d.mean())
    ours = regression(f, human, low=-1.0)
    tally.add("PPI++ with t", around(ours, n), truth)
    tally.add("PPI++, score", (ours.low, ours.high), truth)


PARTS = {"judges": judges, "clusters": clusters, "real": real}
PARTS["differences"] = differences


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--replicates", type=int, default=2000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.process_time()
    parts = [options.part] if options.part else list(PARTS)
    rows = [row for part in parts for row in PARTS[part](options.replicates)]
    kept = [row for row in read_csv("judged_scores.csv")[1] if row["part"] not in parts]
    every = sorted([*kept, *rows], key=lambda row: list(PARTS).index(row["part"]))
    used = versions("numpy", "scipy", "truescore")
    keeps = {"keeps_rows": bool(kept)}
    write_csv("judged_scores.csv", every, f"95% intervals; {used}", **keeps)
    note = "least and mean of the cells"
    write_csv("judged_scores_summary.csv", summary(every), note, **keeps)
    print_table(summary(rows))
    print(f"{time.process_time() - start:.0f} s of CPU time")


def summary(rows):
    """Return the least coverage and the mean width over cells."""
    cells = {}
    for row in rows:
        key = row["part"], row["interval"], int(row["n"])
        cells.setdefault(key, []).append(row)
    return [
        {
            "part": part,
            "interval": interval,
            "n": n,
            "least": min(float(row["coverage"]) for row in each),
            "width": round(float(np.mean([float(row["width"]) for row in each])), 4),
        }
        for (part, interval, n), each in sorted(cells.items())
    ]


if __name__ == "__main__":
    main()
