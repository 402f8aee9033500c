"""The translation studies of Berg-Kirkpatrick et al. (2012) on WMT 2017.

    SKCALIB_DATA=... python benchmarks/significance_translation.py

1. Figures 2 to 4: gain against confidence in BLEU, chrF and TER, for all 120 pairs.
2. Figure 9: the threshold of BLEU on test sets of several sizes.
3. P-values and computing time of the permutation test of BLEU and of the approximate
   randomisation of sacrebleu. The best of the 16 systems is compared with each of the
   others, on all segments and on the first 300 segments. On the first 300, not all
   p-values have the smallest possible value.

4. System combinations, as 13 of the 31 systems of Figure 4. The paper does not say how
   they were built. Here, a combination chooses one of the translations of its systems
   for each segment, the one with the highest mean BLEU (of the segment) against the
   translations of its other systems, without looking at the reference. There are 16
   combinations: five random sets of 4, of 8 and of 12 systems, and all 16 systems.

The script writes tables and two figures in about eight minutes on one core.
"""

import gzip
import os
import time
from pathlib import Path

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv

from skcalib.significance import (
    bleu,
    bleu_statistics,
    borderline_threshold,
    chrf,
    chrf_statistics,
    compare_systems,
    permutation_test,
    ter,
    ter_statistics,
)
from skcalib.significance import test_size_curve as size_curve

METRICS = {
    "BLEU": (bleu_statistics, bleu),
    "chrF": (chrf_statistics, chrf),
    "TER": (ter_statistics, ter),
}
SIZES = (100, 250, 500, 1000, 2000, 3004)
N_FLIPS, FEW = 10_000, 300


def load():
    """Return the references, and the translations of each system by name."""
    home = Path(os.environ.get("SKCALIB_DATA", "~/skcalib_data")).expanduser()
    path = home / "wmt17_en_de" / "outputs.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        header, *lines = (line.rstrip("\n").split("\t") for line in file)
    reference, *outputs = zip(*lines, strict=True)
    return reference, dict(zip(header[1:], outputs, strict=True))


def group_of(name):
    """Return the research group that submitted a system."""
    if name.startswith("online-"):
        return name
    return name.split("-")[0].split(".")[0]


def pair_rows(metric, comparison):
    return [
        {
            "metric": metric,
            "A": a,
            "B": b,
            "group": "same" if group_of(a) == group_of(b) else "different",
            "gain": f"{0 - comparison.gain[k]:+.3f}",  # A over B
            "p": f"{comparison.pvalue[k]:.3g}",
            "p (Holm)": f"{comparison.pvalue_adjusted[k]:.3g}",
            "method": comparison.method[k],
        }
        for k, (a, b) in enumerate(comparison.pairs)
    ]


def threshold_cells(gain, pvalue):
    """Return how many pairs are real, and the thresholds of a metric."""
    open_gains = np.abs(gain[pvalue > 0.05])
    cells = {
        "p below .05": int((pvalue < 0.05).sum()),
        "largest gain with p above .05": f"{open_gains.max(initial=0):.2f}",
    }
    for low, high in ((0.04, 0.06), (0.01, 0.1)):
        inside = (pvalue >= low) & (pvalue <= high)
        name = f"p {low:g} to {high:g}"
        cells[f"threshold, {name}"] = ""
        cells[f"pairs, {name}"] = int(inside.sum())
        if inside.any():
            found, _ = borderline_threshold(gain, pvalue, low=low, high=high)
            cells[f"threshold, {name}"] = f"{found:.2f}"
    return cells


def threshold_row(metric, comparison):
    cells = threshold_cells(comparison.gain, comparison.pvalue)
    return {
        "metric": metric,
        "pairs": len(comparison.pairs),
        "p below .05": cells.pop("p below .05"),
        "after Holm": int((comparison.pvalue_adjusted < 0.05).sum()),
        **cells,
    }


def size_rows(statistics, sizes):
    rows = []
    for size in sizes:
        curve = size_curve(
            statistics,
            sizes=[size],
            statistic=bleu,
            n_repeats=max(1, min(5, len(next(iter(statistics.values()))) // size)),
            random_state=size,
        )
        threshold = curve.threshold[0]
        rows.append(
            {
                "segments": size,
                "threshold": "" if threshold is None else f"{threshold:.3f}",
                "borderline pairs": int(curve.n_borderline[0]),
                "p below .05": f"{curve.power[0]:.3f}",
                "samples": curve.n_repeats,
            }
        )
        print(f"{size} segments: {rows[-1]['threshold']}", flush=True)
    return rows


def sacrebleu_test(reference, outputs, best, n_flips):
    """Return sacrebleu's p-value for each system against the best, and the seconds."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    named = [(best, list(outputs[best]))]
    named += [(name, list(text)) for name, text in outputs.items() if name != best]
    start = time.perf_counter()
    test = PairedTest(
        named, {"BLEU": BLEU()}, [list(reference)], "ar", n_samples=n_flips, n_jobs=1
    )
    _, scores = test()
    seconds = time.perf_counter() - start
    found = zip(scores["System"], scores["BLEU"], strict=True)
    return {name: each.p_value for name, each in list(found)[1:]}, seconds


def permutation_rows(reference, outputs, n_flips):
    """Return the p-values of both packages, and their times."""
    start = time.perf_counter()
    counted = {name: bleu_statistics(text, reference) for name, text in outputs.items()}
    counting = time.perf_counter() - start
    best = max(counted, key=lambda name: bleu(counted[name].sum(axis=0)))
    peers, their_seconds = sacrebleu_test(reference, outputs, best, n_flips)
    rows = []
    own_seconds = 0.0
    for name, theirs in peers.items():
        start = time.perf_counter()
        found = permutation_test(
            counted[best],
            counted[name],
            statistic=bleu,
            n_resamples=n_flips,
            random_state=0,
        )
        own_seconds += time.perf_counter() - start
        p = found.pvalue
        middle = (p + theirs) / 2
        error = np.sqrt(2 * middle * (1 - middle) / n_flips)
        rows.append(
            {
                "segments": len(reference),
                "best": best,
                "system": name,
                "gain": f"{found.statistic:+.3f}",
                "p": f"{p:.4g}",
                "p, sacrebleu": f"{theirs:.4g}",
                "difference in standard errors": f"{(p - theirs) / error:+.2f}",
            }
        )
    seconds = {"counting n-grams": counting, "15 tests": own_seconds}
    seconds["sacrebleu, both"] = their_seconds
    return rows, seconds


# Combinations

SET_SIZES, N_SETS = (4, 8, 12), 5
SYSTEMS, COMBINATIONS = "systems", "combinations"
PART, OTHER = "combination and part", "combination and other"


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
        for size in SET_SIZES
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


def combination_rows(gain, pvalue, kinds):
    """Return thresholds of each kind of pairs."""
    return [
        {
            "pairs": kind,
            "number of pairs": int((kinds == kind).sum()),
            **threshold_cells(gain[kinds == kind], pvalue[kinds == kind]),
        }
        for kind in (SYSTEMS, COMBINATIONS, PART, OTHER)
    ]


def combinations(statistics, outputs):
    """Compare systems and combinations of systems by BLEU."""
    names, found = list(outputs), agreement(outputs)
    single, statistics = np.array(list(statistics.values())), dict(statistics)
    parts = {}
    for name, places in draw_sets(len(names)).items():
        chosen = combined(found, places)
        statistics[name] = single[chosen, np.arange(chosen.size)]
        parts[name] = [names[k] for k in places]
    score = {name: bleu(each.sum(axis=0)) for name, each in statistics.items()}
    rows = [
        {
            "system": name,
            "BLEU": f"{score[name]:.2f}",
            "best part": f"{max(map(score.get, parts.get(name, [name]))):.2f}",
            "parts": " ".join(parts.get(name, [])),
        }
        for name in statistics
    ]
    print_table(rows)
    comparison = compare_systems(statistics, statistic=bleu, random_state=0)
    kinds = np.array([kind_of(a, b, parts) for a, b in comparison.pairs])
    figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    names = {SYSTEMS: "different groups", COMBINATIONS: COMBINATIONS}
    kind = [
        "same group"
        if kind == SYSTEMS and group_of(pair[0]) == group_of(pair[1])
        else names.get(kind)
        for kind, pair in zip(kinds, comparison.pairs, strict=True)
    ]
    _study.draw_pairs(
        ax, comparison, kind, "BLEU", "WMT 2017, systems and combinations", 3
    )
    _study.save(figure, "significance_combination.png")
    return combination_rows(comparison.gain, comparison.pvalue, kinds)


def main():
    start = time.perf_counter()
    reference, outputs = load()
    pairs, thresholds, statistics = [], [], {}
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for ax, (metric, (count, statistic)) in zip(axes, METRICS.items(), strict=True):
        statistics[metric] = {
            name: count(text, reference) for name, text in outputs.items()
        }
        comparison = compare_systems(
            statistics[metric], statistic=statistic, random_state=0
        )
        pairs += pair_rows(metric, comparison)
        thresholds.append(threshold_row(metric, comparison))
        kind = [f"{row['group']} groups" for row in pair_rows(metric, comparison)]
        kind = [name.replace("same groups", "same group") for name in kind]
        _study.draw_pairs(ax, comparison, kind, metric, f"WMT 2017, {metric}", 4)
        print(f"{metric}: {time.perf_counter() - start:.0f} s", flush=True)
    _study.save(figure, "significance_wmt17.png")
    sizes = size_rows(statistics["BLEU"], SIZES)
    first = {name: text[:FEW] for name, text in outputs.items()}
    few, _ = permutation_rows(reference[:FEW], first, N_FLIPS)
    flips, seconds = permutation_rows(reference, outputs, N_FLIPS)
    of_kinds = combinations(statistics["BLEU"], outputs)
    timed = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    note = versions("skcalib", "numpy", "sacrebleu")
    for name, rows, start_of_note in (
        ("wmt17", pairs, ""),
        ("wmt17_thresholds", thresholds, ""),
        ("wmt17_sizes", sizes, ""),
        ("wmt17_flips", few + flips, f"{N_FLIPS} flips; {timed}; "),
        ("combination", of_kinds, ""),
    ):
        print_table(rows)
        write_csv(f"significance_{name}.csv", rows, start_of_note + note)


if __name__ == "__main__":
    main()
