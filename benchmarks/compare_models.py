"""Error rates, power and coverage of the comparison of models and of other methods.

    python benchmarks/compare_models.py [PART ...]

The parts are tests, clusters, gains, scores, passages, metrics and passes. Without
arguments, all parts run in about 40 minutes. Results for independent answers are exact
(by enumeration of all tables). The other results are simulated, and the table contains
the number of replicates and the standard error.
"""

import sys
import zlib

import numpy as np
from _common import RESULTS, print_table, read_csv, versions, write_csv
from scipy.stats import binom, norm
from scipy.stats import t as student

from skcalib.metrics._dependence import sandwich
from skcalib.metrics._frequency_intervals import frequency_interval
from skcalib.rates import accuracy_interval, pass_at_k
from skcalib.significance import compare_systems
from skcalib.significance._gains import flipped_gain, mcnemar_gains, table_moments

N_REPLICATES = 1000

# Questions, p(only the first right), p(only the second right).
SIZE = [(20, 0.15, 0.15), (100, 0.1, 0.1), (100, 0.03, 0.03), (500, 0.1, 0.1)]
SIZE += [(500, 0.02, 0.02)]
POWER = [(20, 0.35, 0.05), (100, 0.17, 0.06), (500, 0.10, 0.06), (500, 0.03, 0.01)]


def zipf(n, n_groups, exponent=1.1):
    """Return sizes of groups that fall as a power of their rank."""
    weight = 1 / np.arange(1, n_groups + 1) ** exponent
    size = np.maximum(1, np.rint(weight / weight.sum() * n)).astype(int)
    size[0] += n - size.sum()
    return size


GROUPS = {
    "20 alone": np.ones(20, dtype=int),
    "100 alone": np.ones(100, dtype=int),
    "5 x 4": np.full(5, 4),
    "20 x 5": np.full(20, 5),
    "100 in 15 Zipf": zipf(100, 15),
    "50 x 10": np.full(50, 10),
    "500 in 40 Zipf": zipf(500, 40),
}


def standard_error(share, n):
    return np.sqrt(share * (1 - share) / n)


# --- Independent answers, exact


def tables(n, p, q):
    """Return all numbers of wins and losses, and the chance of each."""
    discordant = np.repeat(np.arange(n + 1), np.arange(1, n + 2))
    wins = np.concatenate([np.arange(d + 1) for d in range(n + 1)])
    chance = binom.pmf(discordant, n, p + q) * binom.pmf(wins, discordant, q / (p + q))
    kept = chance > 1e-12
    return wins[kept], (discordant - wins)[kept], chance[kept]


def other_pvalues(wins, losses, n):
    """Return p-values of other tests: exact, paired t, unpaired z."""
    discordant, gain = wins + losses, (wins - losses) / n
    exact = np.minimum(1, 2 * binom.cdf(np.minimum(wins, losses), discordant, 0.5))
    variance = (discordant / n - gain**2) * n / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        paired = 2 * student.sf(np.abs(gain) / np.sqrt(variance / n), n - 1)
        # the share on which both are right is taken as .5 less that of the losses
        first, second = 0.5, 0.5 + gain
        spread = (first * (1 - first) + second * (1 - second)) / (n - 1)
        unpaired = 2 * norm.sf(np.abs(gain) / np.sqrt(np.maximum(spread, 1e-12)))
    return {
        "McNemar exact": exact,
        "paired t": np.where(gain == 0, 1, np.nan_to_num(paired)),
        "unpaired z": unpaired,
    }


def tests():
    rows = []
    for kind, cells in (("size", SIZE), ("power", POWER)):
        for n, p, q in cells:
            wins, losses, chance = tables(n, p, q)
            pvalue = mcnemar_gains(wins, losses, n).pvalue
            row = {"kind": kind, "questions": n, "first": p, "second": q}
            row["skcalib"] = f"{chance[pvalue <= 0.05].sum():.4f}"
            for name, other in other_pvalues(wins, losses, n).items():
                row[name] = f"{chance[other <= 0.05].sum():.4f}"
            rows.append(row)
    worst = max(
        (float(chance[mcnemar_gains(w, x, n).pvalue <= 0.05].sum()), n, d)
        for n in (5, 8, 12, 17, 20, 30, 50, 100, 200)
        for d in np.arange(0.04, 0.97, 0.04)
        for w, x, chance in [tables(n, d / 2, d / 2)]
    )
    note = (
        "exact rejection rates at .05; largest over 5 to 200 questions and shares of "
        f"discordant questions .04 to .96: {worst[0]:.4f} ({worst[1]} questions, "
        f"{worst[2]:.2f}); {versions('skcalib', 'numpy', 'scipy')}"
    )
    print_table(rows)
    print(note)
    write_csv("compare_models_tests.csv", rows, note)


# --- Groups


def answers(size, a, b, n_samples, rng):
    """Return scores of two systems; a Beta(b, a) share of each group's wins."""
    groups = np.repeat(np.arange(size.size), size)
    share = rng.beta(a, b, size.size)[groups]
    n = groups.size
    discordant = rng.random(n) < 0.3
    wins = discordant & (rng.random(n) < share)
    both = rng.random(n) < 0.5
    first = np.where(discordant, ~wins, both).astype(float)
    second = np.where(discordant, wins, both).astype(float)
    if n_samples > 1:
        scores = [
            rng.binomial(n_samples, 0.1 + 0.8 * x) / n_samples for x in (first, second)
        ]
        first, second = scores
    return first, second, groups


def clustered_t(first, second, groups):
    """Return the p-value of the CR1 error with t(G - 1)."""
    difference = second - first
    sums = np.bincount(groups, difference - difference.mean())
    n_groups = sums.size
    error = np.sqrt(n_groups / (n_groups - 1) * sums @ sums) / difference.size
    if error == 0:
        return 1.0
    return 2 * student.sf(abs(difference.mean()) / error, n_groups - 1)


def cluster_bootstrap(first, second, groups, rng):
    """Return whether the percentile interval of 500 draws of groups excludes 0."""
    sums = np.bincount(groups, second - first)
    size = np.bincount(groups)
    drawn = rng.integers(0, size.size, (500, size.size))
    means = sums[drawn].sum(axis=1) / size[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return low > 0 or high < 0


def default_test(first, second, groups, n_samples, rng):
    """Return p-value and smallest p-value of compare_systems, without its intervals."""
    alone = groups[-1] + 1 == groups.size
    if alone and n_samples == 1:
        wins = np.array([(second > first).sum()])
        losses = np.array([(first > second).sum()])
        return mcnemar_gains(wins, losses, groups.size).pvalue[0], 0.0
    sums = np.rint(n_samples * np.bincount(groups, second - first))
    pvalue, _, smallest = flipped_gain(sums, rng)
    return pvalue, smallest


def clusters():
    rng = np.random.default_rng(0)
    rows = []
    for kind, (a, b), n_replicates in (
        ("size", (1, 1), 4 * N_REPLICATES),
        ("power", (1.5, 0.75), 2 * N_REPLICATES),
    ):
        for name, size in GROUPS.items():
            for n_samples in (1, 8):
                count = np.zeros(5)
                for _ in range(n_replicates):
                    x, y, groups = answers(size, a, b, n_samples, rng)
                    pvalue, least = default_test(x, y, groups, n_samples, rng)
                    count += (
                        pvalue <= 0.05,
                        clustered_t(x, y, groups) <= 0.05,
                        cluster_bootstrap(x, y, groups, rng),
                        clustered_t(x, y, np.arange(groups.size)) <= 0.05,
                        least > 0.05,
                    )
                share = count / n_replicates
                row = {"kind": kind, "groups": name, "samples": n_samples}
                names = ("skcalib", "CR1 t", "cluster bootstrap", "paired t")
                row |= {k: f"{v:.3f}" for k, v in zip(names, share, strict=False)}
                row["cannot reject"] = f"{share[4]:.3f}"
                row["se"] = f"{standard_error(share[0], n_replicates):.3f}"
                rows.append(row)
                print(row, flush=True)
    note = (
        f"rejections at .05, {4 * N_REPLICATES} replicates for the size and "
        f"{2 * N_REPLICATES} for the power; {versions('skcalib', 'numpy')}"
    )
    write_csv("compare_models_clusters.csv", rows, note)


# --- Intervals of gains


def gains():
    rng = np.random.default_rng(1)
    rows = []
    for n, p, q in SIZE + POWER:
        wins, losses, chance = tables(n, p, q)
        pvalue, moments = (
            mcnemar_gains(wins, losses, n).pvalue,
            table_moments(wins, losses, n),
        )
        low, high = moments.limits((wins - losses) / n, pvalue, 0.95)
        inside = (low <= q - p + 1e-12) & (q - p <= high + 1e-12)
        row = {"questions": f"{n} {p} {q}", "coverage": f"{chance[inside].sum():.4f}"}
        row |= {"width": f"{chance @ (high - low):.4f}", "se": "0"}
        rows.append(row)
    for name, size in GROUPS.items():
        for a, b in ((1, 1), (1.5, 0.75)):
            true = 0.3 * (2 * a / (a + b) - 1)
            inside, width = [], []
            for _ in range(N_REPLICATES // 2):
                x, y, groups = answers(size, a, b, 1, rng)
                found = compare_systems({"a": x, "b": y}, groups=groups)
                inside.append(found.gain_low[0] <= true <= found.gain_high[0])
                width.append(found.gain_high[0] - found.gain_low[0])
            share = np.mean(inside)
            row = {"questions": f"{name}, share Beta({a}, {b})"}
            row |= {"coverage": f"{share:.4f}", "width": f"{np.mean(width):.4f}"}
            rows.append(row | {"se": f"{standard_error(share, len(inside)):.4f}"})
    print_table(rows)
    note = (
        "intervals of gains at .95; groups simulated, "
        f"{N_REPLICATES // 2} replicates; {versions('skcalib', 'numpy')}"
    )
    write_csv("compare_models_gains.csv", rows, note)


# --- Intervals of scores


def scores():
    rng = np.random.default_rng(2)
    rows = []
    for n in (15, 20, 30, 50, 100, 200, 1000):
        ends = [accuracy_interval(np.arange(n) < k) for k in range(n + 1)]
        low, high = np.array([(e.low, e.high) for e in ends]).T
        grid = np.r_[0.5, 0.9, 0.98, 0.99, np.linspace(0.5, 0.99, 246)]
        chance = binom.pmf(np.arange(n + 1), n, grid[:, np.newaxis])

        def covers(low, high, chance=chance, p=grid[:, np.newaxis]):
            return (chance * ((low <= p) & (p <= high))).sum(axis=1)

        cover, seen = covers(low, high), np.arange(n + 1) / n
        peers = {
            method: frequency_interval(seen, n, 0.95, method)
            for method in ("wilson", "clopper_pearson")
        }
        exact = peers["clopper_pearson"]
        # the first four accuracies
        widths = {
            method: chance[:4] @ (ends[1] - ends[0])
            for method, ends in {"mid-P": (low, high), **peers}.items()
        }
        row = {"answers": n, "accuracy": ".5 .9 .98 .99"}
        row["coverage"] = " ".join(f"{c:.3f}" for c in cover[:4])
        row |= {"least over .5 to .99": f"{min(cover):.3f}", "t": "", "se": "0"}
        row["width"] = " ".join(f"{w:.3f}" for w in widths["mid-P"])
        row["Wilson, least"] = f"{covers(*peers['wilson']).min():.3f}"
        row["Clopper-Pearson, least"] = f"{covers(*exact).min():.3f}"
        wide = " ".join(f"{w:.3f}" for w in widths["clopper_pearson"])
        rows.append(row | {"Clopper-Pearson, width": wide})
    for name, size in list(GROUPS.items())[3:]:
        for accuracy in (0.5, 0.9, 0.98):
            groups = np.repeat(np.arange(size.size), size)
            inside, width = np.zeros(2), 0.0
            for _ in range(N_REPLICATES):
                share = rng.beta(4 * accuracy, 4 * (1 - accuracy), size.size)
                right = rng.random(groups.size) < share[groups]
                found = accuracy_interval(right, groups=groups)
                inside[0] += found.low <= accuracy <= found.high
                width += (found.high - found.low) / N_REPLICATES
                mean = right.mean()
                sums = np.bincount(groups, right - mean)
                error = np.sqrt(size.size / (size.size - 1) * sums @ sums) / right.size
                half = student.ppf(0.975, size.size - 1) * error
                inside[1] += abs(mean - accuracy) <= half
            share, other = inside / N_REPLICATES
            row = dict.fromkeys(rows[0], "") | {"answers": name, "accuracy": accuracy}
            row |= {"coverage": f"{share:.3f}", "t": f"{other:.3f}"}
            row["se"] = f"{standard_error(share, N_REPLICATES):.3f}"
            rows.append(row | {"width": f"{width:.3f}"})
    print_table(rows)
    note = (
        f"intervals of an accuracy at .95; groups have ICC .2, {N_REPLICATES} "
        f"replicates, t is that of CR1; {versions('skcalib', 'numpy')}"
    )
    write_csv("compare_models_scores.csv", rows, note)


# --- Accuracy on passages of unequal sizes


def zipf_sizes(n, most=100, exponent=1.6):
    values = np.arange(1, most + 1)
    chance = np.cumsum(values**-exponent)
    return lambda rng: 1 + np.searchsorted(chance / chance[-1], rng.random(n))


def lognormal_sizes(n, deviation):
    return lambda rng: np.ceil(rng.lognormal(1, deviation, n)).astype(int)


def pareto_sizes(n):
    return lambda rng: np.minimum(np.ceil(rng.pareto(1.2, n)), 120).astype(int) + 1


def given(*sizes):
    return lambda rng: np.concatenate([np.full(n, size) for n, size in sizes])


def beta_rates(accuracy, icc):
    """Return rates of passages with a Beta distribution and this correlation."""

    def draw(rng, n):
        if icc == 1:
            return (rng.random(n) < accuracy).astype(float)
        total = 1 / icc - 1 if icc else 1e9
        return rng.beta(total * accuracy, total * (1 - accuracy), n)

    return draw


def normal_rates(accuracy, rho):
    """Return rates of passages from a Gaussian copula with correlation rho."""

    def draw(rng, n):
        shift = np.sqrt(rho) * rng.normal(size=n)
        return norm.cdf((norm.ppf(accuracy) - shift) / np.sqrt(1 - rho))

    return draw


def hard_passages(accuracy, share):
    """Return rates of .3 in a share of hard passages, and of one other value."""
    other = (accuracy - 0.3 * share) / (1 - share)
    return lambda rng, n: np.where(rng.random(n) < share, 0.3, other)


def passage_cells():
    """Return name, use, accuracy, sizes and rates of cells.

    The cells of `testing` were not used to choose the method.
    """
    cells = []
    for n, accuracy, icc in (
        *((n, 0.9, 0.5) for n in (50, 100, 200)),
        *((n, 0.8, 0.5) for n in (50, 100)),
        *((n, 0.9, 0.25) for n in (100, 200)),
        *((n, 0.9, 1) for n in (50, 100)),
    ):
        draw = beta_rates(accuracy, icc)
        name = f"{n} Zipf, correlation {icc}"
        cells.append((name, "tuning", accuracy, zipf_sizes(n), draw))
    draw = beta_rates(0.9, 0.5)
    for n in (50, 100, 200):
        name = f"{n} lognormal, correlation .5"
        cells.append((name, "tuning", 0.9, lognormal_sizes(n, 1), draw))
    for n in (20, 50, 200):
        name = f"{n} of 5, correlation .5"
        cells.append((name, "tuning", 0.9, given((n, 5)), draw))
    geometric = lambda n: lambda rng: rng.geometric(0.1, n)  # noqa: E731
    few_large = given((40, 3), (2, 60))
    for name, accuracy, sizes, draw in (
        ("30 geometric, copula .5", 0.85, geometric(30), normal_rates(0.85, 0.5)),
        ("80 geometric, copula .8", 0.85, geometric(80), normal_rates(0.85, 0.8)),
        ("60 Pareto, copula .6", 0.93, pareto_sizes(60), normal_rates(0.93, 0.6)),
        ("150 Pareto, copula .6", 0.93, pareto_sizes(150), normal_rates(0.93, 0.6)),
        ("150 Pareto, copula .9", 0.7, pareto_sizes(150), normal_rates(0.7, 0.9)),
        ("40 Pareto, 30% hard", 0.6, pareto_sizes(40), hard_passages(0.6, 0.3)),
        ("300 Pareto, 5% hard", 0.92, pareto_sizes(300), hard_passages(0.92, 0.05)),
        ("40 of 3 and 2 of 60", 0.85, few_large, beta_rates(0.85, 0.3)),
        ("12 of 8, copula .4", 0.9, given((12, 8)), normal_rates(0.9, 0.4)),
        ("8 of 20, correlation .3", 0.8, given((8, 20)), beta_rates(0.8, 0.3)),
        ("30 of 2, correlation 1", 0.95, given((30, 2)), beta_rates(0.95, 1)),
        ("40 of 3 and 2 of 60, 0", 0.85, few_large, beta_rates(0.85, 0)),
        ("100 Zipf, correlation 0", 0.9, zipf_sizes(100), beta_rates(0.9, 0)),
        (
            "60 lognormal, correlation 0",
            0.7,
            lognormal_sizes(60, 1.2),
            beta_rates(0.7, 0),
        ),
    ):
        cells.append((name, "testing", accuracy, sizes, draw))
    return cells


def squared_residuals(right, groups):
    """Return Wilson's interval by the squared residuals of the groups (CR2)."""
    size, mean = np.bincount(groups).astype(float), right.mean()
    variance, freedom = sandwich(np.bincount(groups, right - mean), size)
    odd = right.size * min(mean, 1 - mean)
    unit = mean * (1 - mean) / right.size
    ratio = odd * variance / unit if unit > 0 else 0
    ratio = (ratio + size @ size / right.size / 2) / (odd + 0.5)
    ratio *= (student.ppf(0.975, freedom) / norm.ppf(0.975)) ** 2
    return frequency_interval(mean, right.size / ratio, 0.95, "wilson")


def passages():
    n_replicates = 2 * N_REPLICATES
    rows = []
    for name, use, accuracy, sizes, draw in passage_cells():
        rng = np.random.default_rng(zlib.crc32(f"{name}, {accuracy}".encode()))
        ends = np.zeros((n_replicates, 4))
        for k in range(n_replicates):
            size = sizes(rng)
            groups = np.repeat(np.arange(size.size), size)
            right = (rng.random(groups.size) < draw(rng, size.size)[groups]) * 1.0
            found = accuracy_interval(right, groups=groups)
            ends[k] = found.low, found.high, *squared_residuals(right, groups)
        row = {"passages": name, "accuracy": accuracy, "used for": use}
        for low, high, what in ((*ends.T[:2], ""), (*ends.T[2:], "CR2: ")):
            share = ((low <= accuracy) & (accuracy <= high)).mean()
            row |= {
                f"{what}coverage": f"{100 * share:.1f}",
                f"{what}low end too high": f"{100 * (low > accuracy).mean():.1f}",
                f"{what}width": f"{(high - low).mean():.4f}",
            }
            if not what:
                row["se"] = f"{100 * standard_error(share, n_replicates):.1f}"
        rows.append(row)
        print_table(rows[-1:])
    note = (
        "95% intervals of an accuracy; shares in %; CR2: the same interval by the "
        f"squared residuals of the passages; {n_replicates} replicates; "
        f"{versions('numpy')}"
    )
    write_csv("compare_models_passages.csv", rows, note)


# --- F1 of sentences or documents of n entities; a share of wrong ones is guessed

SENTENCES = {
    "one entity, missed": (lambda n: given((n, 1)), beta_rates, 0),
    "one entity, wrong": (lambda n: given((n, 1)), beta_rates, 1),
    "short and long": (
        lambda n: given((n - n // 6, 2), (n // 6, 12)),
        normal_rates,
        0.5,
    ),
    "Pareto sizes": (pareto_sizes, normal_rates, 0.5),
    "documents": (lambda n: given((n // 2, 20), (n - n // 2, 60)), beta_rates, 0.5),
}


def metrics():
    rows = []
    for name, (sizes, rates, share) in SENTENCES.items():
        for accuracy in (0.02, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999):
            for n in (6, 20, 50, 200, 1000):
                seed = zlib.crc32(f"{name} {accuracy} {n}".encode())
                rng = np.random.default_rng(seed)
                true = 2 * accuracy / (1 + accuracy + (1 - accuracy) * share)
                ends, draw = np.zeros((N_REPLICATES, 4)), rates(accuracy, 0.2)
                for k in range(N_REPLICATES):
                    size = sizes(n)(rng)
                    right = rng.binomial(size, draw(rng, n))
                    guessed = right + rng.binomial(size - right, share)
                    f1 = {"f1": np.column_stack([right, guessed, size])}
                    found = compare_systems(f1, statistic="f1")
                    left = guessed + size - guessed.sum() - size.sum()
                    without = 2 * (right - right.sum()) / np.where(left, left, 1)
                    half = student.ppf(0.975, n - 1) * without.std() * np.sqrt(n - 1)
                    ends[k] = found.low[0], found.high[0], *found.score + [-half, half]
                low, high, *t = ends.clip(0, 1).T
                row = {"sentences": name, "n": n, "right": accuracy}
                row["F1"] = f"{true:.4f}"
                for key, a, b in (("", low, high), ("t: ", *t)):
                    covered = ((a <= true + 1e-12) & (true <= b + 1e-12)).mean()
                    row[f"{key}coverage"] = f"{covered:.3f}"
                    row[f"{key}width"] = f"{(b - a).mean():.4f}"
                error = standard_error(float(row["coverage"]), N_REPLICATES)
                rows.append(row | {"se": f"{error:.3f}"})
        print_table(rows[-35:])
    note = (
        "95% intervals of an F1; t: Student's interval of the jackknife in [0, 1]; "
        f"{N_REPLICATES} replicates; {versions('skcalib', 'numpy')}"
    )
    write_csv("compare_models_metrics.csv", rows, note)


# --- pass@k


CHANCES = {
    "Beta(.6, .4)": lambda rng, n: rng.beta(0.6, 0.4, n),
    "Beta(2, 6)": lambda rng, n: rng.beta(2, 6, n),
    "Beta(.3, 2.7)": lambda rng, n: rng.beta(0.3, 2.7, n),
    ".2 or .9": lambda rng, n: rng.choice([0.2, 0.9], n),
    "0, .5 or 1": lambda rng, n: rng.choice([0, 0.5, 1], n),
    "mostly .02": lambda rng, n: np.where(rng.random(n) < 0.9, 0.02, 0.7),
    "all .3": lambda rng, n: np.full(n, 0.3),
}


def passes():
    n_replicates = 1000
    rows = []
    for name, draw in CHANCES.items():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        p = draw(rng, 500_000)
        cells = []
        for n in (15, 30, 100):
            for m, k in ((1, 1), (4, 1), (4, 4), (8, 4), (16, 8), (64, 16)):
                for all_of in (False, True) if k > 1 else (False,):
                    true = (p**k).mean() if all_of else (1 - (1 - p) ** k).mean()
                    inside = np.zeros(2)
                    width = np.zeros(2)
                    for _ in range(n_replicates):
                        right = rng.binomial(m, draw(rng, n))
                        found = pass_at_k(right, m, k=k, all_of=all_of)
                        inside[0] += found.low - 1e-9 <= true <= found.high + 1e-9
                        half = student.ppf(0.975, n - 1) * found.standard_error
                        inside[1] += abs(found.estimate - true) <= half
                        width += found.high - found.low, 2 * half
                    cells.append((all_of, n, *(inside / n_replicates), *width))
        for all_of in (False, True):
            for n in (15, 30, 100):
                part = np.array([c[2:] for c in cells if c[:2] == (all_of, n)])
                rows.append(
                    {
                        "chances": name,
                        "score": "pass^k" if all_of else "pass@k",
                        "questions": n,
                        "cells": len(part),
                        "mean coverage": f"{part[:, 0].mean():.3f}",
                        "least": f"{part[:, 0].min():.2f}",
                        "t: mean": f"{part[:, 1].mean():.3f}",
                        "t: least": f"{part[:, 1].min():.2f}",
                        "width": f"{part[:, 2].mean() / n_replicates:.3f}",
                    }
                )
                print(rows[-1], flush=True)
    note = (
        f"intervals of pass@k and pass^k at .95; samples and k: 1 1, 4 1, 4 4, 8 4, "
        f"16 8, 64 16; {n_replicates} replicates a cell, se .007 near .95; t over "
        f"questions; {versions('skcalib', 'numpy')}"
    )
    write_csv("compare_models_passes.csv", rows, note)


def page():
    """Write the tables of the guide."""
    _, exact = read_csv("compare_models_tests.csv")
    _, grouped = read_csv("compare_models_clusters.csv")
    if not exact or not grouped:
        return
    lines = [".. Written by benchmarks/run.py compare_models.", ""]
    lines += ["Rejections at .05 where nothing differs (size), and power, exact for"]
    lines += ["independent questions:", ""]
    lines += [".. csv-table:: :measured:`compare_models_tests.csv`"]
    lines += ["    :header-rows: 1", ""]
    names = ["kind", "questions", "first", "second", "skcalib"]
    names += ["McNemar exact", "paired t", "unpaired z"]
    lines.append("    " + ",".join(names))
    lines += ["    " + ",".join(row[name] for name in names) for row in exact]
    note, _ = read_csv("compare_models_clusters.csv")
    lines += ["", f"and in groups ({note.partition(';')[0].partition(', ')[2]}):", ""]
    lines += [".. csv-table:: :measured:`compare_models_clusters.csv`"]
    lines += ["    :header-rows: 1", ""]
    lines.append("    " + ",".join(grouped[0]))
    lines += ["    " + ",".join(row.values()) for row in grouped]
    path = RESULTS / "compare_models.rst"
    path.write_text("\n".join(lines) + "\n")
    print(f"written: {path.name}")


PARTS = (tests, clusters, gains, scores, passages, metrics, passes)


def main():
    wanted = sys.argv[1:] or [part.__name__ for part in PARTS]
    for part in PARTS:
        if part.__name__ in wanted:
            part()
    page()


if __name__ == "__main__":
    main()
