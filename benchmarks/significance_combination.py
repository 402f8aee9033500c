"""Combinations of the systems of WMT 2017, as in Figure 4 of Berg-Kirkpatrick et al.

    SKCALIB_DATA=... python benchmarks/significance_combination.py [--quick]

13 of the 31 systems of Figure 4 are combinations of systems. The paper does not say how
they were built. Here, a combination chooses one of the translations of its systems for
each segment, the one with the highest mean BLEU (of the segment) against the
translations of its other systems, without looking at the reference. There are 16
combinations: five random sets of 4, of 8 and of 12 systems, and all 16 systems. Gain in
BLEU against confidence, for all pairs of systems and of combinations.

The script writes tables and a figure in about four minutes on one core. --quick uses
few segments, takes half a minute, and writes nothing.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import time

import numpy as np
from _common import RESULTS, print_table, versions, write_csv
from significance_translation import group_of, largest_open, load

from skcalib.plot import SignificanceDisplay
from skcalib.significance import (
    bleu,
    bleu_statistics,
    borderline_threshold,
    compare_systems,
)

SIZES, N_SETS = (4, 8, 12), 5
SYSTEMS, COMBINATIONS = "systems", "combinations"
PART, OTHER = "combination and part", "combination and other"
RANGES = ((0.04, 0.06), (0.01, 0.1))


def agreement(outputs):
    """Return BLEU of each segment of each system against each other system."""
    names = list(outputs)
    found = np.zeros((len(names), len(names), len(outputs[names[0]])))
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j:
                found[i, j] = bleu(bleu_statistics(outputs[a], outputs[b]))
    return found


def combined(agreement, parts):
    """Return the system that each segment is taken from, the first one of equals."""
    inside = agreement[np.ix_(parts, parts)]
    return np.array(parts)[inside.sum(axis=1).argmax(axis=0)]


def draw_sets(n_systems):
    """Return the systems of each combination by its name."""
    rng = np.random.default_rng(0)
    sets = {
        f"{size} systems, {k + 1}": sorted(rng.choice(n_systems, size, replace=False))
        for size in SIZES
        for k in range(N_SETS)
    }
    return sets | {f"all {n_systems} systems": list(range(n_systems))}


def kind_of(a, b, parts):
    """Return the kind of a pair, from the names of the systems of combinations."""
    if a in parts and b in parts:
        return COMBINATIONS
    if a in parts or b in parts:
        whole, other = (a, b) if a in parts else (b, a)
        return PART if other in parts[whole] else OTHER
    return SYSTEMS


def threshold_rows(gain, pvalue, kinds):
    """Return thresholds of each kind of pairs."""
    rows = []
    for kind in (SYSTEMS, COMBINATIONS, PART, OTHER):
        of_kind = kinds == kind
        open_gains = np.abs(gain[of_kind & (pvalue > 0.05)])
        row = {
            "pairs": kind,
            "number of pairs": int(of_kind.sum()),
            "p below .05": int((pvalue[of_kind] < 0.05).sum()),
            "largest gain with p above .05": f"{open_gains.max(initial=0):.2f}",
        }
        for low, high in RANGES:
            some = of_kind & (pvalue >= low) & (pvalue <= high)
            name = f"p {low:g} to {high:g}"
            row[f"threshold, {name}"] = ""
            row[f"pairs, {name}"] = int(some.sum())
            if some.any():
                found, _ = borderline_threshold(
                    gain[some], pvalue[some], low=low, high=high
                )
                row[f"threshold, {name}"] = f"{found:.2f}"
        rows.append(row)
    return rows


def draw(comparison, kinds, path):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    shown = np.isin(kinds, [SYSTEMS, COMBINATIONS])
    names = {SYSTEMS: "different groups", COMBINATIONS: COMBINATIONS}
    SignificanceDisplay.from_pvalues(
        comparison.gain[shown],
        comparison.pvalue[shown],
        kind=[
            "same group"
            if kind == SYSTEMS and group_of(a) == group_of(b)
            else names[kind]
            for kind, (a, b) in zip(kinds, comparison.pairs, strict=True)
            if kind in names
        ],
        ax=ax,
        metric_name="BLEU",
    )
    ax.set_title("WMT 2017, systems and combinations")
    # What is far above every threshold only squeezes the curve.
    ax.set_xlim(right=min(ax.get_xlim()[1], 3 * largest_open(comparison)))
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="try it out")
    quick = parser.parse_args(arguments).quick
    start = time.perf_counter()
    reference, outputs = load(200 if quick else None)
    names = list(outputs)
    found = agreement(outputs)
    print(f"agreement of systems: {time.perf_counter() - start:.0f} s", flush=True)
    statistics = {name: bleu_statistics(outputs[name], reference) for name in names}
    single = np.array(list(statistics.values()))
    rows, parts = [], {}
    for name, places in draw_sets(len(names)).items():
        chosen = combined(found, places)
        statistics[name] = single[chosen, np.arange(chosen.size)]
        parts[name] = [names[k] for k in places]
    score = {name: bleu(each.sum(axis=0)) for name, each in statistics.items()}
    for name in statistics:
        best = max(map(score.get, parts.get(name, [name])))
        rows.append(
            {
                "system": name,
                "BLEU": f"{score[name]:.2f}",
                "best part": f"{best:.2f}",
                "parts": " ".join(parts.get(name, [])),
            }
        )
    print_table(rows)
    comparison = compare_systems(statistics, statistic=bleu, random_state=0)
    kinds = np.array([kind_of(a, b, parts) for a, b in comparison.pairs])
    thresholds = threshold_rows(comparison.gain, comparison.pvalue, kinds)
    print_table(thresholds)
    print(f"{time.perf_counter() - start:.0f} s")
    if quick:
        return
    note = versions("skcalib", "numpy", "sacrebleu")
    write_csv("significance_combination.csv", thresholds, note)
    write_csv("significance_combination_systems.csv", rows, note)
    draw(comparison, kinds, RESULTS / "significance_combination.png")


if __name__ == "__main__":
    main()
