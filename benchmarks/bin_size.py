"""Calibration error against bin size and sample size, and bins of a skewed tag.

    SKCALIB_DATA=... python benchmarks/bin_size.py

Figures 4.7 to 4.11 of the thesis (section 4.3, generated pairs), and Figure 1 of the
paper (one tag's probabilities in bins of equal width and of equal size).

The thesis states these settings: 10^5 pairs; bin sizes 2^1 to 2^16, and 10^3 to 5 10^4
in steps of 10^3; sample sizes from 10^4 to 5 10^4 with the root of the sample size as
the bin size; k = 0.1. It does not state the parameters of the Beta distribution, the
step of the sample sizes, and the k of Figure 4.9. It plots mean squares, and the
figures here plot their roots; the tables contain both. Figure 1 of the paper is for
Wall Street Journal text; here it is for an HMM on English web text.
"""

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv

from skcalib import HMMTagger, ReliabilityDisplay
from skcalib.datasets import fetch_corpus, make_calibrated_pairs
from skcalib.metrics import bin_size_curve, sample_size_curve
from skcalib.plot import BinSizeDisplay
from skcalib.queries import TagQuery

SHAPES = {"U": (0.5, 0.5), "skewed": (0.1, 2.0), "tag": (0.02, 0.92)}
DISTORTIONS = (0.0, 0.1)
N_PAIRS = 100_000
DOUBLED = 2 ** np.arange(1, 17)
STEPPED = np.arange(1_000, 50_001, 1_000)
SAMPLE_SIZES = np.arange(10_000, 50_001, 2_000)
POOL = 1_000_000  # pairs that samples are drawn from
SAMPLE_BINS = ("sqrt", 100)
SEED = 0

TAG = "NN"
BINS = {
    "width .02": {"strategy": "uniform", "n_bins": 50},
    "width .1": {"strategy": "uniform", "n_bins": 10},
    "1,000 pairs": {"bin_size": 1000},
}

STYLE = [
    "tableau-colorblind10",
    {"font.size": 10, "axes.grid": True, "grid.alpha": 0.3},
]
DPI = 90


def generate(shape, k, n):
    """Return labels, probabilities, the true error, and the variance of a label."""
    a, b = SHAPES[shape]
    y, q, frequency = make_calibrated_pairs(
        n, a=a, b=b, k=k, return_frequency=True, random_state=SEED
    )
    truth = float(np.sqrt(np.mean((q - frequency) ** 2)))
    return y, q, truth, float(np.mean(frequency * (1 - frequency)))


def size_rows(figure, shape, k, truth, curve, noise):
    return [
        {
            "figure": figure,
            "q": shape,
            "k": k,
            "true_error": f"{truth:.5f}",
            "bin_size": size,
            "n_bins": n_bins,
            "plug_in": f"{plug_in:.5f}",
            "debiased": f"{debiased:.5f}",
            "plug_in_square": f"{plug_in**2:.3e}",
            "debiased_square": f"{square:.3e}",
            "noise_square": f"{noise * n_bins / N_PAIRS:.3e}",
        }
        for size, n_bins, plug_in, debiased, square in zip(
            curve.bin_size,
            curve.n_bins,
            curve.plug_in,
            curve.debiased,
            curve.debiased_square,
            strict=True,
        )
    ]


def bin_sizes():
    """Return the rows of Figures 4.7 to 4.9, and draw them."""
    rows, names = [], [f"Beta{parameters}" for parameters in SHAPES.values()]
    doubled, axes = plt.subplots(
        1, 2, figsize=(11, 4.4), layout="constrained", sharey=True
    )
    for ax, k in zip(axes, DISTORTIONS, strict=True):
        curves, truths = [], []
        for shape in SHAPES:
            y, q, truth, noise = generate(shape, k, N_PAIRS)
            curve = bin_size_curve(y, q, bin_sizes=DOUBLED)
            figure = "4.7" if k == 0 else ""
            rows += size_rows(figure, shape, k, truth, curve, noise)
            curves.append(curve)
            truths.append(truth)
        truth = truths if k else 0.0
        BinSizeDisplay(curve=curves, true_error=truth, name=names).plot(ax)
        ax.legend(fontsize="small", loc="upper right")
    axes[0].set_title("Calibrated (Figure 4.7)")
    axes[1].set_title(f"Uncalibrated, k = {DISTORTIONS[1]}")
    _study.save(doubled, "bin_size_doubled.png", DPI)
    stepped, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for ax, k, figure in zip(axes, DISTORTIONS, ("4.8", "4.9"), strict=True):
        y, q, truth, noise = generate("U", k, N_PAIRS)
        curve = bin_size_curve(y, q, bin_sizes=STEPPED)
        rows += size_rows(figure, "U", k, truth, curve, noise)
        BinSizeDisplay(curve=curve, true_error=truth).plot(ax, xscale="linear")
        ax.set_ylim(bottom=-0.001 if k == 0 else 0)
    axes[0].set_title("Calibrated (Figure 4.8)")
    axes[1].set_title(f"Uncalibrated, k = {DISTORTIONS[1]} (Figure 4.9)")
    _study.save(stepped, "bin_size_stepped.png", DPI)
    return rows


def sample_sizes(n_repeats):
    """Return the rows of Figures 4.10 and 4.11, and draw them."""
    rows = []
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for ax, k, number in zip(axes, DISTORTIONS, ("4.10", "4.11"), strict=True):
        y, q, truth, _ = generate("U", k, POOL)
        curves = [
            sample_size_curve(
                y,
                q,
                sample_sizes=SAMPLE_SIZES,
                bin_size=bin_size,
                n_repeats=n_repeats,
                random_state=SEED,
            )
            for bin_size in SAMPLE_BINS
        ]
        for bins, curve in zip(SAMPLE_BINS, curves, strict=True):
            rows += sample_rows(number, k, truth, bins, curve)
        names = ["bins of the root", f"bins of {SAMPLE_BINS[1]}"]
        BinSizeDisplay(curve=curves, true_error=truth, name=names).plot(
            ax, xscale="linear"
        )
        ax.set(xlabel="Sample size (pairs)", xticks=SAMPLE_SIZES[::5])
    # Use the same scale for both errors, without space between them.
    axes[0].set_ylim(-0.002, 0.058)
    axes[1].set_ylim(0.060, 0.120)
    axes[0].set_title("Calibrated (Figure 4.10)")
    axes[1].set_title(f"Uncalibrated, k = {DISTORTIONS[1]} (Figure 4.11)")
    for ax, place in zip(axes, ("upper right", "lower right"), strict=True):
        ax.legend(fontsize="small", loc=place)
    _study.save(figure, "sample_size.png", DPI)
    return rows


def sample_rows(figure, k, truth, bins, curve):
    means = {
        name: getattr(curve, name).mean(axis=1) for name in ("plug_in", "debiased")
    }
    deviations = {
        name: getattr(curve, name).std(axis=1, ddof=1)
        for name in ("plug_in", "debiased")
    }
    return [
        {
            "figure": figure if bins == "sqrt" else "",
            "k": k,
            "true_error": f"{truth:.5f}",
            "bins": bins,
            "sample_size": n,
            "bin_size": curve.bin_size[i],
            "plug_in": f"{means['plug_in'][i]:.5f}",
            "plug_in_deviation": f"{deviations['plug_in'][i]:.5f}",
            "debiased": f"{means['debiased'][i]:.5f}",
            "debiased_deviation": f"{deviations['debiased'][i]:.5f}",
        }
        for i, n in enumerate(curve.sample_size)
    ]


def tag_bins():
    """Return the bins of one tag's probabilities, and draw them."""
    tagger = HMMTagger(1.0).fit(
        *fetch_corpus("ud_english_ewt", subset="train", return_X_y=True)
    )
    test = fetch_corpus("ud_english_ewt", subset="test", return_X_y=True)
    answers = TagQuery(TAG)(tagger, *test)
    y, q = answers.y_true, answers.y_proba
    figure, axes = plt.subplots(
        2,
        1 + len(BINS),
        figsize=(13, 5.6),
        layout="constrained",
        sharex=True,
        height_ratios=(2, 1),
    )
    draw_probabilities(axes[:, 0], q)
    rows = []
    for k, (name, bins) in enumerate(BINS.items(), start=1):
        curve = draw_bins(axes[:, k], name, bins, y, q)
        rows += bin_rows(name, curve)
    axes[0, 1].set_ylabel("Label frequency, 95% interval")
    axes[1, 1].set_ylabel("Pairs in the bin")
    for ax in axes[:, 2:].ravel():
        ax.set_ylabel("")
    _study.save(figure, "skewed_tag.png", DPI)
    return rows, q.size


def draw_bins(axes, name, bins, y, q):
    """Draw the bins as points with bars, and below them their pairs."""
    points, counts = axes
    display = ReliabilityDisplay.from_predictions(y, q, ax=points, counts=False, **bins)
    points.get_legend().remove()
    curve, color = display.curve, display.line_.get_color()
    display.line_.set_linestyle("none")
    stems = counts.stem(curve.prob_pred, curve.weight, bottom=1, basefmt=" ")
    stems.markerline.set(color=color, markersize=4)
    stems.stemlines.set(color=color, linewidth=1)
    counts.set(yscale="log", ylim=(1, 50_000), xlabel=f"Probability of {TAG}")
    share = 100 * curve.weight[0] / curve.weight.sum()
    title = f"{name}: {curve.n_bins} bins,\nthe first has {share:.0f}% of the pairs"
    points.set(aspect="auto", xlabel="", title=title)
    return curve


def draw_probabilities(axes, q):
    """Draw how often each probability was given: in cells of .02, and sorted."""
    top, below = axes
    top.hist(q, bins=np.linspace(0, 1, 51), color="0.5")
    top.set(yscale="log", ylim=(1, 50_000), ylabel="Pairs in cells of .02")
    share = 100 * np.mean(q <= 0.02)
    top.set_title(f"{q.size:,} probabilities of {TAG},\n{share:.0f}% up to .02")
    below.plot(np.sort(q), np.arange(1, q.size + 1) / q.size, color="0.3")
    below.set(ylim=(0, 1.02), ylabel="Share below", xlabel=f"Probability of {TAG}")


def bin_rows(name, curve):
    low, high = curve.interval()
    return [
        {
            "bins": name,
            "bin": b,
            "mean_probability": f"{curve.prob_pred[b]:.4f}",
            "label_frequency": f"{curve.prob_true[b]:.4f}",
            "pairs": int(curve.weight[b]),
            "low": f"{low[b]:.4f}",
            "high": f"{high[b]:.4f}",
        }
        for b in range(curve.n_bins)
    ]


def main(n_repeats=20):
    used = versions("numpy", "scipy", "matplotlib")
    with plt.style.context(STYLE):
        note = f"{N_PAIRS:,} pairs, seed {SEED}; {used}"
        write_csv("bin_size.csv", bin_sizes(), note)
        note = f"{n_repeats} samples from {POOL:,} pairs of the U-shaped law; {used}"
        write_csv("sample_size.csv", sample_sizes(n_repeats), note)
        rows, n = tag_bins()
    print_table(rows)
    note = (
        f"HMM on UD English EWT, tag {TAG} at the {n:,} words of the test part; {used}"
    )
    write_csv("skewed_tag.csv", rows, note)


if __name__ == "__main__":
    _study.parser_of(__doc__).parse_args()
    main()
