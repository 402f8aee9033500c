"""Error rates of the paired tests and coverage of their intervals.

    python benchmarks/significance_errors.py [--replicates 2000] [--jobs 2]

Two exchangeable systems share the difficulty of each sentence, so that their outputs
are correlated, as for real systems. For each metric and number of sentences, the script
prints and writes the fraction of replicates with p < .05 and p < .01 for four tests:
the two-sided bootstrap, 'greater' with a direction fixed in advance, 'greater' with
pairs ordered by their gain, and the permutation test. It also treats the tokens of
sentences as items and as groups, and computes how often the interval contains a true
gain that is not 0.
"""

import time

import _study
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from scipy import special

from skcalib.significance import paired_bootstrap_test, permutation_test

SIZES = (50, 200, 1000)
N_RESAMPLES = 2000
N_TOKEN_SENTENCES = 300


def abilities(n, rng, lead):
    """Return a latent score for each sentence and system; `lead` is A's."""
    shared = 0.8 * rng.normal(size=(n, 1))
    return shared + 0.5 * rng.normal(size=(n, 2)) + np.array([lead, 0])


def accuracy(n, rng, lead=0.0):
    correct = (abilities(n, rng, lead) > special.ndtri(0.15)).astype(int)
    return correct[:, 0], correct[:, 1], "mean"


def token_accuracy(n, rng, lead=0.0):
    length = 1 + rng.negative_binomial(3, 0.15, n)
    chance = special.expit(2.2 + abilities(n, rng, lead))
    a, b = (np.stack([rng.binomial(length, c), length], 1) for c in chance.T)
    return a, b, "ratio"


def f1(n, rng, lead=0.0):
    gold = rng.poisson(1.5, n)
    systems = []
    for score in abilities(n, rng, lead).T:
        correct = rng.binomial(gold, special.expit(1 + score))
        wrong = rng.poisson(0.6 * special.expit(-score))
        systems.append(np.stack([correct, correct + wrong, gold], 1))
    return *systems, "f1"


def bleu_like(n, rng, lead=0.0):
    """Return matches and n-grams of orders 1 to 4, and the lengths of both texts."""
    reference = 5 + rng.negative_binomial(4, 0.2, n)
    systems = []
    for score in abilities(n, rng, lead).T:
        length = np.maximum(4, reference + rng.integers(-3, 4, n))
        chance, left, columns = special.expit(0.4 + 0.6 * score), length, []
        for order in range(4):
            left = rng.binomial(left, chance ** (1 if order == 0 else 0.8))
            columns.append(left)
        totals = [length - order for order in range(4)]
        systems.append(np.stack([*columns, *totals, length, reference], 1))
    return *systems, bleu


def bleu(sums):
    """Return the geometric mean of precisions times the brevity penalty."""
    precision = np.maximum(sums[..., :4], 0.5) / sums[..., 4:8]
    short = np.minimum(0, 1 - sums[..., 9] / sums[..., 8])
    return np.exp(np.log(precision).mean(axis=-1) + short)


METRICS = {
    "0/1 accuracy": accuracy,
    "token accuracy": token_accuracy,
    "F1": f1,
    "BLEU-like": bleu_like,
}

# The published procedure, as precise as can be; what the default does with few items
# is in paired_test_size.py.
RESAMPLES = {"0/1 accuracy": "exact", "token accuracy": "saddlepoint"}


def replicate(name, n, seed):
    """Return p-values of each test on one data set."""
    rng = np.random.default_rng(seed)
    a, b, statistic = METRICS[name](n, rng)
    method = RESAMPLES.get(name, "monte_carlo")
    kwargs = {"statistic": statistic, "n_resamples": N_RESAMPLES, "method": method}
    both = paired_bootstrap_test(a, b, random_state=rng, **kwargs)
    first, second = (a, b) if both.statistic >= 0 else (b, a)
    ordered = paired_bootstrap_test(
        first, second, alternative="greater", random_state=rng, **kwargs
    ).pvalue
    # the other way round, twice a negative gain is reached more often than not
    fixed = ordered if both.statistic >= 0 else 1.0
    kwargs |= {"n_resamples": N_RESAMPLES // 2, "method": "auto"}
    swapped = permutation_test(a, b, random_state=rng, **kwargs)
    return both.pvalue, fixed, ordered, swapped.pvalue


TESTS = ("two-sided", "greater, fixed", "greater, ordered by gain", "swap, two-sided")


def error_rows(n_replicates, parallel):
    rows = []
    for k, name in enumerate(METRICS):
        for n in SIZES:
            seeds = np.random.SeedSequence([k, n]).spawn(n_replicates)
            found = np.array(
                parallel(delayed(replicate)(name, n, seed) for seed in seeds)
            )
            for test, p in zip(TESTS, found.T, strict=True):
                rows.append(row_of(name, n, test, p))
            print_table(rows[-len(TESTS) :])
    return rows


def row_of(name, n, test, p):
    """Return a row: the share of replicates below .05 and .01, with errors."""
    rate, error = (p < 0.05).mean(), np.sqrt(0.05 * 0.95 / p.size)
    return {
        "metric": name,
        "n": n,
        "test": test,
        "replicates": p.size,
        "below_05": f"{rate:.4f}",
        "standard_error": f"{error:.4f}",
        "below_01": f"{(p < 0.01).mean():.4f}",
    }


def tokens(variance, rng, n=N_TOKEN_SENTENCES):
    """Return correctness of tokens of two systems, and their sentences.

    On the latent scale a token has variance 1, its sentence `variance`, and half of
    that more for each system.
    """
    sentence = np.repeat(np.arange(n), 1 + rng.poisson(15, n))
    shared = np.sqrt(variance) * rng.normal(size=(n, 1))
    own = np.sqrt(variance / 2) * rng.normal(size=(n, 2))
    token = 0.6 * rng.normal(size=(sentence.size, 1))
    latent = (shared + own)[sentence] + token
    latent += 0.8 * rng.normal(size=(sentence.size, 2))
    correct = (latent > -1.2 * np.sqrt(1 + 1.5 * variance)).astype(int)
    return correct[:, 0], correct[:, 1], sentence


def token_replicate(variance, seed):
    rng = np.random.default_rng(seed)
    a, b, sentence = tokens(variance, rng)
    grouped = paired_bootstrap_test(a, b, groups=sentence, method="saddlepoint")
    plain = paired_bootstrap_test(a, b, method="exact")
    swapped = permutation_test(a, b, groups=sentence)
    effect = (grouped.standard_error / plain.standard_error) ** 2
    return grouped.pvalue, plain.pvalue, swapped.pvalue, effect


# Variances that give design effects of the gain near 1, 3 and 7.
TOKEN_TESTS = ("bootstrap of sentences", "bootstrap of tokens", "swap of sentences")
VARIANCES = (0.0, 0.6, 3.2)


def token_rows(n_replicates, parallel):
    rows = []
    for variance in VARIANCES:
        seeds = np.random.SeedSequence(int(100 * variance)).spawn(n_replicates)
        found = np.array(
            parallel(delayed(token_replicate)(variance, seed) for seed in seeds)
        )
        name = f"tokens, design effect {found[:, 3].mean():.1f}"
        for test, p in zip(TOKEN_TESTS, found[:, :3].T, strict=True):
            rows.append(row_of(name, N_TOKEN_SENTENCES, test, p))
    print_table(rows)
    return rows


def cover_replicate(name, n, lead, seed):
    rng = np.random.default_rng(seed)
    a, b, statistic = METRICS[name](n, rng, lead)
    method = RESAMPLES.get(name, "monte_carlo")
    result = paired_bootstrap_test(
        a,
        b,
        statistic=statistic,
        method=method,
        n_resamples=N_RESAMPLES,
        random_state=rng,
    )
    return *result.confidence_interval, result.pvalue


def true_gain(name, lead):
    """Return the gain on two million sentences."""
    a, b, statistic = METRICS[name](2_000_000, np.random.default_rng(0), lead)
    result = paired_bootstrap_test(
        a, b, statistic=statistic, method="monte_carlo", n_resamples=1
    )
    return result.statistic


def coverage_rows(n_replicates, parallel, lead=0.3):
    rows = []
    for k, name in enumerate(METRICS):
        truth = true_gain(name, lead)
        for n in SIZES:
            seeds = np.random.SeedSequence([9, k, n]).spawn(n_replicates)
            found = parallel(
                delayed(cover_replicate)(name, n, lead, seed) for seed in seeds
            )
            low, high, p = np.array(found).T
            rows.append(
                {
                    "metric": name,
                    "n": n,
                    "true_gain": f"{truth:.4f}",
                    "replicates": n_replicates,
                    "coverage": f"{((low <= truth) & (truth <= high)).mean():.4f}",
                    "standard_error": f"{np.sqrt(0.05 * 0.95 / n_replicates):.4f}",
                    "width": f"{(high - low).mean():.4f}",
                    "found": f"{(p < 0.05).mean():.4f}",
                }
            )
    print_table(rows)
    return rows


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    with Parallel(n_jobs=options.jobs, batch_size=20) as parallel:
        rows = error_rows(options.replicates, parallel)
        rows += token_rows(options.replicates // 2, parallel)
        coverage = coverage_rows(options.replicates // 2, parallel)
    note = f"{N_RESAMPLES} resamples where drawn; " + versions("numpy", "scipy")
    print(f"{note}; {time.perf_counter() - start:.0f} s")
    if options.replicates >= 1000:
        write_csv("significance_errors.csv", rows, note)
        write_csv("significance_coverage.csv", coverage, note)


if __name__ == "__main__":
    main()
