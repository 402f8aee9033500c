"""Calibration error of probabilities that are shares of k samples of a model.

    SKCALIB_DATA=... python benchmarks/sampled_confidence.py [generated] [again]
        [files]

generated: the probability p that a sample is the answer A, and not B, is Beta(.8, .8).
The right answer is drawn by p (calibrated), by expit(.6 logit p) (overconfident), by
expit(1.6 logit p) (underconfident), or each answer is right with its probability minus
.1 (too high). 'fixed': the answer A is judged. 'chosen': the most frequent of the k
samples is judged. The target sqrt(sum P(v) (E[p - y | v])^2) and the true error of p
are integrals. again: the settings of the lowest coverage and of a mean square that is
two standard errors from the target, and their neighbours, with other seeds and more
replicates. files: responses of four systems as samples.
"""

import os
from pathlib import Path

import _study
import numpy as np
from _common import print_table, versions, write_csv
from scipy.special import betaincinv, expit, logit
from scipy.stats import binom

from skcalib import calibration_error, calibration_error_interval
from skcalib.evaluation import read_evaluation
from skcalib.metrics._bins import check_binning
from skcalib.metrics._draws import bins_of_draws
from skcalib.rates import sampled_confidence

SHAPE = 0.8
MODELS = ("calibrated", "overconfident", "underconfident", "too high")
DRAWS = (3, 5, 10, 20, 100)
# Number of replicates of the calibrated model and of the others.
REPLICATES = {
    (200, "fixed"): (1500, 1000),
    (200, "chosen"): (1500, 300),
    (1000, "fixed"): (1000, 1000),
    (1000, "chosen"): (1000, 200),
    (5000, "fixed"): (1000, 400),
    (5000, "chosen"): (400, 100),
}
# Settings that are repeated with other seeds, and the number of replicates.
AGAIN = [
    *(("overconfident", k, 1000, "fixed") for k in (5, 10, 20)),
    *(("overconfident", 10, n, "fixed") for n in (200, 5000)),
    ("overconfident", 10, 1000, "chosen"),
    *(("calibrated", k, 200, "fixed") for k in (3, 5, 10)),
]
N_AGAIN = 4000
AUTOMATIC = check_binning("auto", None, "quantile")


def right_of_a(model, p):
    """Return the probability that A is right, for the probability p of a sample."""
    if model == "overconfident":
        return expit(0.6 * logit(p))
    if model == "underconfident":
        return expit(1.6 * logit(p))
    return np.maximum(p - 0.1, 0) if model == "too high" else p


def right_of_b(model, p):
    """Return the probability that B is right."""
    return 1 - right_of_a(model, p) if model != "too high" else np.maximum(0.9 - p, 0)


def truths(model, k, choice):
    """Return the true error of p, and the target of the estimate."""
    nodes, weight = np.polynomial.legendre.leggauss(1000)
    p, weight = betaincinv(SHAPE, SHAPE, (nodes + 1) / 2), weight / 2
    gap_a, gap_b = p - right_of_a(model, p), 1 - p - right_of_b(model, p)
    v = np.arange(k)[:, np.newaxis]  # number of A among k - 1 samples
    joint = binom.pmf(v, k - 1, p) * weight
    if choice == "fixed":
        error = float(weight @ gap_a**2)
        chance, mean = joint.sum(axis=1), joint @ gap_a
    else:
        # With equal numbers, each answer is the first one in half of the cases.
        is_a = np.where(2 * v == k - 1, 0.5, 2 * v > k - 1)
        error = float((joint * (is_a * gap_a**2 + (1 - is_a) * gap_b**2)).sum())
        chance = (joint * is_a).sum(axis=1) + (joint * (1 - is_a)).sum(axis=1)[::-1]
        mean = (joint * is_a) @ gap_a + ((joint * (1 - is_a)) @ gap_b)[::-1]
    some = chance > 0
    return error**0.5, float((mean[some] ** 2 / chance[some]).sum()) ** 0.5


def one_sample(model, k, n, choice, rng):
    """Return the judged labels, the shares, the interval, and the square."""
    p, u = rng.beta(SHAPE, SHAPE, n), rng.random(n)
    p = np.clip(p, 1e-12, 1 - 1e-12)
    a = right_of_a(model, p)
    if choice == "fixed":
        y, share = u < a, rng.binomial(k, p) / k
        found = calibration_error_interval(y, share, n_draws=k)
        return y, share, found, calibration_error(y, share, n_draws=k, squared=True)
    is_b = (u >= a) & (u < a + right_of_b(model, p))
    draws = (rng.random((n, k)) >= p[:, np.newaxis]).astype(int)  # 0 is A
    right = np.where(draws == 0, (u < a)[:, np.newaxis], is_b[:, np.newaxis])
    result = sampled_confidence(draws)
    found = result.calibration_error_interval(right)
    square = bins_of_draws(result._rows(right)[1], AUTOMATIC).debiased_square
    return right[np.arange(n), result.chosen], result.share, found, square


def generated_row(model, k, n, choice, n_replicates, seed=()):
    """Return the error of the share and the cross-fitted error."""
    rng = np.random.default_rng([MODELS.index(model), k, n, choice == "chosen", *seed])
    error, target = truths(model, k, choice)
    plain, rejected, squares, inside, size, wide, fixed = ([] for _ in range(7))
    for i in range(n_replicates):
        y, share, found, square = one_sample(model, k, n, choice, rng)
        if i < 200:
            of_share = calibration_error_interval(y, share)
            plain.append(of_share.estimate**2)
            rejected.append(of_share.pvalue < 0.05)
            fixed.append(calibration_error(y, share, n_draws=k, squared=True))
        squares.append(square)
        inside.append(found.low <= target <= found.high)
        size.append(found.pvalue < 0.05)
        wide.append(found.high - found.low)
    mean = float(np.mean(squares))
    deviation = float(np.std(squares, ddof=1)) / n_replicates**0.5
    row = {
        "model": model,
        "choice": choice,
        "k": k,
        "n": n,
        "true error": f"{error:.4f}",
        "target": f"{target:.4f}",
        "error of the share": f"{np.mean(plain) ** 0.5:.4f}",
        "share rejected": f"{np.mean(rejected):.3f}",
        "cross-fitted": f"{np.sign(mean) * abs(mean) ** 0.5:.4f}",
        "deviations": f"{(mean - target**2) / deviation:.2f}",
        "taken as fixed": f"{np.sign(np.mean(fixed)) * abs(np.mean(fixed)) ** 0.5:.4f}",
        "coverage": f"{np.mean(inside):.3f}",
        "rejected": f"{np.mean(size):.3f}",
        "width": f"{np.mean(wide):.4f}",
        "replicates": n_replicates,
    }
    print(*row.values(), flush=True)
    return row


def generated_rows():
    """Return a row for each model, number of samples and of questions, and choice."""
    rows = []
    for (n, choice), sizes in REPLICATES.items():
        for model in MODELS:
            for k in DRAWS:
                number = sizes[model != "calibrated"]
                # half a million answers in each sample
                few = 4 if choice == "chosen" and n * k >= 500_000 else 1
                rows.append(generated_row(model, k, n, choice, number // few))
    return rows


def rows_again():
    """Return rows of some settings with other seeds."""
    return [generated_row(*setting, N_AGAIN, seed=(1,)) for setting in AGAIN]


def file_rows():
    """Return the errors of the four responses to the questions of GSM8K."""
    folder = Path(os.environ["SKCALIB_DATA"]) / "evaluation/lm_eval/replayed"
    (path,) = (folder / "four-samples").glob("samples_*.jsonl")
    samples = read_evaluation(path, filter="maj@4")._samples().values()
    answers, right = [s.answers for s in samples], [s.scores for s in samples]
    rows = []
    for k in (2, 3, 4):
        result = sampled_confidence([each[:k] for each in answers])
        found = result.calibration_error_interval([each[:k] for each in right])
        given = [r[j] for r, j in zip(right, result.chosen, strict=True)]
        of_share = calibration_error_interval(given, result.share)
        rows.append(
            {
                "samples": k,
                "questions": found.n_pairs,
                "accuracy": f"{np.mean(given):.3f}",
                "mean share": f"{result.share.mean():.3f}",
                "error of the share": f"{of_share.estimate:.4f}",
                "share low": f"{of_share.low:.4f}",
                "cross-fitted": f"{found.estimate:.4f}",
                "low": f"{found.low:.4f}",
                "high": f"{found.high:.4f}",
                "p": f"{found.pvalue:.2g}",
                "mean shrunk": f"{result.shrunk.mean():.3f}",
                "error of shrunk": (
                    f"{calibration_error_interval(given, result.shrunk).estimate:.4f}"
                ),
            }
        )
    return rows


PARTS = {
    "generated": ("sampled_confidence.csv", generated_rows),
    "again": ("sampled_confidence_again.csv", rows_again),
    "files": ("sampled_confidence_files.csv", file_rows),
}


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    for part in parser.parse_args().parts:
        name, rows_of = PARTS[part]
        rows = rows_of()
        print_table(rows)
        write_csv(name, rows, versions("numpy", "scipy"))


if __name__ == "__main__":
    main()
