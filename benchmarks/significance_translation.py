"""The translation studies of Berg-Kirkpatrick et al. (2012) on WMT 2017.

    SKCALIB_DATA=... python benchmarks/significance_translation.py [--quick]

1. Figures 2 to 4: gain against confidence in BLEU, chrF and TER, for all 120 pairs.
2. Figure 9: the threshold of BLEU on test sets of several sizes.
3. P-values and computing time of the permutation test of BLEU and of the approximate
   randomisation of sacrebleu. The best of the 16 systems is compared with each of the
   others, on all segments and on the first 300 segments. On the first 300, not all
   p-values have the smallest possible value.

The script writes tables and a figure in about four minutes on one core. --quick uses
one metric and few segments, takes a few seconds, and writes nothing.
"""

import argparse
import gzip
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import time
from pathlib import Path

import numpy as np
from _common import RESULTS, print_table, versions, write_csv

from skcalib.plot import SignificanceDisplay
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


def load(most=None):
    """Return the references, and the translations of each system by name."""
    home = Path(os.environ.get("SKCALIB_DATA", "~/skcalib_data")).expanduser()
    path = home / "wmt17_en_de" / "outputs.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        header, *lines = (line.rstrip("\n").split("\t") for line in file)
    reference, *outputs = zip(*lines[:most], strict=True)
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


def threshold_row(metric, comparison):
    """Return the threshold of a metric, and how many pairs are real."""
    row = {
        "metric": metric,
        "pairs": len(comparison.pairs),
        "p below .05": int((comparison.pvalue < 0.05).sum()),
        "after Holm": int((comparison.pvalue_adjusted < 0.05).sum()),
        "largest gain with p above .05": f"{largest_open(comparison):.2f}",
    }
    for low, high in ((0.04, 0.06), (0.01, 0.1)):
        inside = (comparison.pvalue >= low) & (comparison.pvalue <= high)
        name = f"p {low:g} to {high:g}"
        row[f"threshold, {name}"] = ""
        row[f"pairs, {name}"] = int(inside.sum())
        if inside.any():
            threshold, _ = borderline_threshold(
                comparison.gain, comparison.pvalue, low=low, high=high
            )
            row[f"threshold, {name}"] = f"{threshold:.2f}"
    return row


def largest_open(comparison):
    return float(np.abs(comparison.gain[comparison.pvalue > 0.05]).max(initial=0))


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


def draw(comparisons, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for ax, (metric, comparison) in zip(axes, comparisons.items(), strict=True):
        SignificanceDisplay.from_pvalues(
            comparison.gain,
            comparison.pvalue,
            kind=[
                "same group" if group_of(a) == group_of(b) else "different groups"
                for a, b in comparison.pairs
            ],
            ax=ax,
            metric_name=metric,
        )
        ax.set_title(f"WMT 2017, {metric}")
        # What is far above every threshold only squeezes the curve.
        ax.set_xlim(right=min(ax.get_xlim()[1], 4 * largest_open(comparison)))
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="try it out")
    quick = parser.parse_args(arguments).quick
    start = time.perf_counter()
    reference, outputs = load(300 if quick else None)
    metrics = ["BLEU"] if quick else list(METRICS)
    n_flips = 500 if quick else N_FLIPS
    pairs, thresholds, comparisons, statistics = [], [], {}, {}
    for metric in metrics:
        count, statistic = METRICS[metric]
        statistics[metric] = {
            name: count(text, reference) for name, text in outputs.items()
        }
        comparison = compare_systems(
            statistics[metric], statistic=statistic, random_state=0
        )
        comparisons[metric] = comparison
        pairs += pair_rows(metric, comparison)
        thresholds.append(threshold_row(metric, comparison))
        print(f"{metric}: {time.perf_counter() - start:.0f} s", flush=True)
    sizes = size_rows(statistics["BLEU"], (100, 250) if quick else SIZES)
    first = {name: text[:FEW] for name, text in outputs.items()}
    few, _ = permutation_rows(reference[:FEW], first, n_flips)
    flips, seconds = permutation_rows(reference, outputs, n_flips)
    flips = few + flips
    for rows in (thresholds, sizes, flips):
        print_table(rows)
    note = versions("skcalib", "numpy", "sacrebleu")
    timed = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    print(timed)
    print(f"{time.perf_counter() - start:.0f} s")
    if quick:
        return
    write_csv("significance_wmt17.csv", pairs, note)
    write_csv("significance_wmt17_thresholds.csv", thresholds, note)
    write_csv("significance_wmt17_sizes.csv", sizes, note)
    write_csv(
        "significance_wmt17_flips.csv", flips, f"{n_flips} flips; {timed}; {note}"
    )
    draw(comparisons, RESULTS / "significance_wmt17.png")


if __name__ == "__main__":
    main()
