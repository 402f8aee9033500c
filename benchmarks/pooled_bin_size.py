"""Rules for the automatic bin size of pooled classes, on data of known error.

    python benchmarks/pooled_bin_size.py [--repeats 10]

Pooling the classes of n rows gives n K pairs, but the labels of a row are a single
draw. Each rule gives a bin size for n and K. The plain calibration error at this size
is compared with the true root mean square error over all pairs. Models:

- one class: .9 for one class at random, the rest spread evenly; right half the time.
- overconfident, underconfident: labels are drawn from softmax(z), probabilities are
  softmax(1.5 z) or softmax(z / 1.5), where z is normal with standard deviation 2.5.
- calibrated: labels are drawn from the probabilities. The true error is 0, and the
  estimates are noise. Their ratio is to the error of the overconfident model.
- tagger: as the last two, with z of standard deviation 6 and frequent and rare classes,
  so that the largest probability of most rows is near 1; 33,306 rows of 47 classes, as
  the part-of-speech tags of the paper.

Writes benchmarks/results/pooled_bin_size.csv.
"""

import _study
import numpy as np
from _common import print_table, versions, write_csv
from scipy.special import softmax

from skcalib.metrics import calibration_error

RULES = {
    "pairs ** .6": lambda n, k: (n * k) ** 0.6,
    "pairs ** .5": lambda n, k: (n * k) ** 0.5,
    "rows ** .6": lambda n, k: n**0.6,
    "pairs ** .6 / K": lambda n, k: (n * k) ** 0.6 / k,
}
SHAPES = [
    (1000, 10),
    (10_000, 10),
    (1000, 100),
    (10_000, 100),
    (1000, 1000),
    (200, 5000),
]
TAGS = (33_306, 47)
SCALES = {"overconfident": 1.5, "underconfident": 1 / 1.5, "calibrated": 1.0}
SEED = 0


def one_class(n, k, rng):
    """Return probabilities and true probabilities of a model that is .4 too sure."""
    q, p = np.full((n, k), 0.1 / (k - 1)), np.full((n, k), 0.5 / (k - 1))
    top = (np.arange(n), rng.integers(0, k, n))
    q[top], p[top] = 0.9, 0.5
    return q, p


def softmax_model(n, k, rng, scale, spread=2.5, prior=0.0):
    """Return probabilities and true probabilities of a model of one temperature."""
    logits = rng.normal(scale=spread, size=(n, k)) - prior * np.log1p(np.arange(k))
    return softmax(scale * logits, axis=1), softmax(logits, axis=1)


def models():
    """Yield model, rows, classes and the function that draws probabilities."""
    for n, k in SHAPES:
        yield "one class", n, k, one_class
        for name, scale in SCALES.items():
            yield name, n, k, lambda n, k, rng, s=scale: softmax_model(n, k, rng, s)
    for name, scale in SCALES.items():
        yield (
            f"tagger, {name}",
            *TAGS,
            lambda n, k, rng, s=scale: softmax_model(n, k, rng, s, 6, 2.0),
        )


def draw_labels(p, rng):
    """Return a class for each row of probabilities."""
    below = p.cumsum(axis=1) < rng.random(p.shape[0])[:, np.newaxis] * (1 - 1e-12)
    return below.sum(axis=1)


def measure(draw, n, k, repeats):
    """Return the mean true square and the mean plain error of each rule."""
    truth, found = [], {rule: [] for rule in RULES}
    for seed in range(repeats):
        rng = np.random.default_rng([SEED, n, k, seed])
        q, p = draw(n, k, rng)
        y = draw_labels(p, rng)
        truth.append(np.mean((q - p) ** 2))
        for rule, size in RULES.items():
            bins = max(2, round(size(n, k)))
            error = calibration_error(
                y, q, multi_class="pooled", labels=range(k), bin_size=bins
            )
            found[rule].append(error)
    return float(np.mean(truth)), {r: float(np.mean(e)) for r, e in found.items()}


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    rows, scale = [], 1.0
    for name, n, k, draw in models():
        square, found = measure(draw, n, k, repeats)
        truth = square**0.5
        if name.endswith("overconfident"):
            scale = truth  # the calibrated model of this shape comes after it
        for rule, error in found.items():
            rows.append(
                {
                    "model": name,
                    "rows": n,
                    "classes": k,
                    "rule": rule,
                    "bin_size": max(2, round(RULES[rule](n, k))),
                    "truth": f"{truth:.5f}",
                    "plain": f"{error:.5f}",
                    "ratio": f"{error / (truth or scale):.3f}",
                }
            )
    print_table(rows)
    note = f"{repeats} data sets each, seed {SEED}; {versions('numpy')}"
    write_csv("pooled_bin_size.csv", rows, note)


if __name__ == "__main__":
    main()
