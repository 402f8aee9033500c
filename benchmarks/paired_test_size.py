"""Type I error rates of paired tests with few items and unequal groups.

    python benchmarks/paired_test_size.py --part items-tuning [--replicates 2000]

The parts are items, groups and empty. Each has a version -tuning (distributions used to
choose the rule of ``method="auto"``) and a version -testing (distributions that were
not used for the choice). A distribution takes at most two minutes on one core. New
results replace the corresponding rows of the table.

Each cell contains the fraction of replicates with p < .05 for two systems with the same
expectation, for the default method, for the bootstrap without sign flips (``exact``,
``saddlepoint`` or ``monte_carlo``) and for the permutation test. It also contains the
power of the default method and of the permutation test if system A has a true lead.
Standard errors of error rates are computed for a rate of .05.

The parts calibration-tuning and calibration-testing compute the same for
``compare_calibration``, for models with the same calibration error.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
import zlib

import numpy as np
from _common import print_table, read_csv, versions, write_csv
from scipy import special

from skcalib.scorers import compare_calibration
from skcalib.significance import paired_bootstrap_test, permutation_test

N_RESAMPLES = 2000
LEVEL = 0.05
NAME = "paired_test_size.csv"


# Items. Each law returns statistics of A and B and the name of the metric.


def difference(draw):
    """Return a distribution of scores whose differences have mean 0 and sd 1."""

    def law(n, rng, lead):
        shared = rng.normal(size=n)
        return shared + draw(n, rng) + lead, shared, "mean"

    return law


def normal(n, rng):
    return rng.normal(size=n)


def laplace(n, rng):
    return rng.laplace(size=n) / np.sqrt(2)


def uniform(n, rng):
    return rng.uniform(-np.sqrt(3), np.sqrt(3), n)


def student(n, rng):
    return rng.standard_t(4, n) / np.sqrt(2)


def exponential(n, rng):
    """Skewed: equal on average, but not exchangeable, which no test here allows for."""
    return rng.exponential(size=n) - 1


def half_zero(n, rng):
    return np.where(rng.random(n) < 0.5, rng.normal(size=n), 0) * np.sqrt(2)


def right_or_wrong(n, rng, lead):
    shared = rng.normal(size=(n, 1))
    skill = shared + 0.9 * rng.normal(size=(n, 2)) + [lead, 0]
    return *(skill > 0).astype(int).T, "mean"


def rated(n, rng, lead):
    """Ratings from 1 to 5."""
    shared = rng.normal(size=(n, 1))
    skill = shared + 0.8 * rng.normal(size=(n, 2)) + [lead, 0]
    return *np.clip(np.rint(3 + skill), 1, 5).T, "mean"


def tokens(n, rng, lead):
    length = 1 + rng.negative_binomial(3, 0.15, n)
    skill = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 2)) + [lead, 0]
    chance = special.expit(2 + skill)
    return *(np.stack([rng.binomial(length, c), length], 1) for c in chance.T), "ratio"


def entities(n, rng, lead, mean=1.5):
    gold = rng.poisson(mean, n)
    skill = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 2)) + [lead, 0]
    systems = []
    for score in skill.T:
        correct = rng.binomial(gold, special.expit(1 + score))
        wrong = rng.poisson(0.4 * mean * special.expit(-score))
        systems.append(np.stack([correct, correct + wrong, gold], 1))
    return *systems, "f1"


def brier(n, rng, lead):
    """Squared errors of two equally noisy probabilities."""
    truth = rng.normal(0, 1.5, n)
    y = rng.random(n) < special.expit(truth)
    noise = rng.normal(0, 0.8, (n, 2)) * [1 - lead, 1]
    return *((special.expit(truth[:, None] + noise) - y[:, None]).T ** 2), "mean"


ITEMS = {
    "tuning": {
        "normal": difference(normal),
        "Laplace": difference(laplace),
        "right or wrong": right_or_wrong,
        "tokens": tokens,
        "entities": entities,
    },
    "testing": {
        "uniform": difference(uniform),
        "Student, 4 df": difference(student),
        "half zero": difference(half_zero),
        "exponential": difference(exponential),
        "ratings": rated,
        "Brier": brier,
    },
}


# Groups: documents of unequal sizes with an effect of mean 0 on the gain.


def zipf_sizes(n_groups, rng):
    return np.minimum(rng.zipf(1.6, n_groups), 200)


def lognormal_sizes(n_groups, rng):
    return np.ceil(rng.lognormal(1.5, 1.2, n_groups)).astype(int)


def in_documents(sizes, statistic, effect_of):
    """Return a distribution of rows whose systems have an effect of each document."""

    def law(n_groups, rng, lead):
        groups = np.repeat(np.arange(n_groups), sizes(n_groups, rng))
        n = groups.size
        effect = effect_of((n_groups, 2), rng)[groups]
        shared = rng.normal(size=(n_groups, 1))[groups] + rng.normal(size=(n, 1))
        skill = 0.7 * shared + effect + [lead, 0]
        if statistic == "mean":
            return *(skill + 0.5 * rng.normal(size=(n, 2))).T, "mean", groups
        if statistic == "ratio":
            length = 1 + rng.poisson(8, n)
            chance = special.expit(1.5 + skill)
            columns = [np.stack([rng.binomial(length, c), length], 1) for c in chance.T]
            return *columns, "ratio", groups
        gold, columns = rng.poisson(1.0, n), []
        for score in skill.T:
            correct = rng.binomial(gold, special.expit(1 + score))
            wrong = rng.poisson(0.5 * special.expit(-score))
            columns.append(np.stack([correct, correct + wrong, gold], 1))
        return *columns, "f1", groups

    return law


def normal_effect(shape, rng):
    return 0.5 * rng.normal(size=shape)


def rare_effect(shape, rng):
    """One document in five is far off for one system or the other."""
    return np.where(rng.random(shape) < 0.2, rng.laplace(size=shape), 0)


GROUPS = {
    "tuning": {
        f"Zipf(1.6), {statistic}": in_documents(zipf_sizes, statistic, normal_effect)
        for statistic in ("mean", "ratio", "f1")
    },
    "testing": {
        "Zipf(1.6), rare effects, mean": in_documents(zipf_sizes, "mean", rare_effect),
        "Zipf(1.6), rare effects, f1": in_documents(zipf_sizes, "f1", rare_effect),
        "lognormal, ratio": in_documents(lognormal_sizes, "ratio", normal_effect),
    },
}


# Nine items in ten are empty.


def mostly_empty(law):
    def emptied(n, rng, lead):
        a, b, statistic = law(n, rng, lead)
        empty = rng.random(n) < 0.9
        empty[:2] = False  # the metric has to be defined
        a[empty] = b[empty] = 0
        return a, b, statistic

    return emptied


def one_entity(n, rng, lead):
    """One entity or none to a sentence, as in short texts."""
    gold = 1 + (rng.random(n) < 0.1)
    skill = rng.normal(size=(n, 1)) + rng.normal(size=(n, 2)) + [lead, 0]
    systems = []
    for score in skill.T:
        correct = rng.binomial(gold, special.expit(0.5 + score))
        guessed = correct + (rng.random(n) < 0.2)
        systems.append(np.stack([correct, guessed, gold], 1))
    return *systems, "f1"


def unknown_words(n, rng, lead):
    """Right unknown words of one or two in a sentence."""
    number = 1 + (rng.random(n) < 0.3)
    skill = rng.normal(size=(n, 1)) + rng.normal(size=(n, 2)) + [lead, 0]
    columns = (
        np.stack([rng.binomial(number, c), number], 1) for c in special.expit(skill).T
    )
    return *columns, "ratio"


EMPTY = {
    "tuning": {"tokens": mostly_empty(tokens), "entities": mostly_empty(entities)},
    "testing": {
        "unknown words": mostly_empty(unknown_words),
        "one entity": mostly_empty(one_entity),
    },
}

# Two models with the same calibration error: labels, both probabilities, groups.


def sentences(n, mean_length, rng):
    return np.repeat(np.arange(n), 1 + rng.poisson(mean_length, n))


def alike(scale, noise, sentence_noise):
    """Return a distribution of exchangeable models, each with its own noise."""

    def law(n, rng):
        groups = sentences(n, 11, rng)
        score = rng.normal(0, 1.5, groups.size)
        truth = score + 0.5 * rng.normal(size=n)[groups]
        y = rng.random(groups.size) < special.expit(truth)
        models = [
            scale
            * (
                score
                + sentence_noise * rng.normal(size=n)[groups]
                + noise * rng.normal(size=groups.size)
            )
            for _ in range(2)
        ]
        return y, *special.expit(models), groups

    return law


def apart(shift):
    """Return a distribution of models, one as much too high as the other too low."""

    def law(n, rng):
        groups = sentences(n, 11, rng)
        truth = rng.normal(0, 1.5, groups.size) + 0.5 * rng.normal(size=n)[groups]
        y = rng.random(groups.size) < special.expit(truth)
        noise = 0.2 * rng.normal(size=(2, groups.size))
        return y, *special.expit(truth + noise + [[shift], [-shift]]), groups

    return law


def stated_levels(n, rng):
    """Answers in tenths, a little too high."""
    groups = sentences(n, 2, rng)
    truth = rng.normal(0, 1.5, groups.size)
    y = rng.random(groups.size) < special.expit(truth)
    noise = 0.8 * rng.normal(size=(2, groups.size)) + 0.4
    return y, *special.expit(truth + noise).round(1), groups


def single_rows(n, rng):
    y, a, b, _ = alike(1.5, 0.5, 0.0)(n, rng)
    return y, a, b, None


CALIBRATION = {
    "tuning": {
        "alike, noisy": alike(1.0, 0.3, 0.6),
        "alike, too sharp": alike(2.0, 0.2, 0.2),
        "alike, calibrated": alike(1.0, 0.0, 0.15),
        "apart by .5": apart(0.5),
    },
    "testing": {
        "apart by 1": apart(1.0),
        "apart by 2": apart(2.0),
        "stated levels": stated_levels,
        "rows without groups": single_rows,
    },
}
N_SENTENCES = (30, 100)
CALIBRATION_NAME = "calibration_comparison_size.csv"


def calibration_cell(kind, name, n, n_replicates):
    rng = np.random.default_rng(zlib.crc32(f"calibration {kind} {name} {n}".encode()))
    p, brier, agree = [], [], True
    for _ in range(n_replicates):
        y, a, b, groups = CALIBRATION[kind][name](n, rng)
        found = compare_calibration(
            y.astype(int), a, b, groups=groups, n_resamples=199, random_state=rng
        )
        p.append(found.pvalue)
        brier.append(found.brier_pvalue)
        agree &= (found.low <= 0 <= found.high) == (found.pvalue >= LEVEL * (1 - 1e-12))
    # 10 of 200 p-values are at most .05
    return {
        "laws": kind,
        "law": name,
        "n": n,
        "replicates": n_replicates,
        "size": f"{(np.array(p) <= LEVEL).mean():.4f}",
        "size_brier": f"{(np.array(brier) < LEVEL).mean():.4f}",
        "standard_error": f"{np.sqrt(LEVEL * (1 - LEVEL) / n_replicates):.4f}",
        "agree": agree,
    }


N_OF_PART = {
    "items": (5, 10, 20, 50, 100),
    "groups": (5, 10, 20, 50, 100, 300, 600),
    "empty": (50, 200, 500, 1000),
}
LAWS = {"items": ITEMS, "groups": GROUPS, "empty": EMPTY}


def p_values(data, rng):
    a, b, statistic, *groups = data
    kwargs = {"statistic": statistic, "random_state": rng, "n_resamples": N_RESAMPLES}
    if groups:
        kwargs["groups"] = groups[0]
    default = paired_bootstrap_test(a, b, **kwargs)
    before = paired_bootstrap_test(a, b, method=method_before(a, b, data[2]), **kwargs)
    swapped = permutation_test(a, b, **kwargs)
    return default, before, swapped


def method_before(a, b, statistic):
    """Return the method that the default took, one as precise where it is slow."""
    if statistic == "mean" and is_whole(a) and is_whole(b):
        return "exact"
    same = statistic == "mean" or (statistic == "ratio" and (a[:, 1] == b[:, 1]).all())
    return "saddlepoint" if same and len(a) >= 30 else "monte_carlo"


def is_whole(stats):
    return bool((stats == np.rint(stats)).all())


def cell(part, kind, name, n, n_replicates):
    law = LAWS[part][kind][name]
    seed = zlib.crc32(f"{part} {kind} {name} {n}".encode())
    rng = np.random.default_rng(seed)
    p, effective, flipped, agree = [], [], 0, True
    for _ in range(n_replicates):
        default, before, swapped = p_values(law(n, rng, 0.0), rng)
        p.append([default.pvalue, before.pvalue, swapped.pvalue])
        effective.append(default.n_effective_groups)
        flipped += default.method == "sign_flips"
        low, high = default.confidence_interval
        agree &= (low <= 0 <= high) == (default.pvalue >= LEVEL * (1 - 1e-12))
    size = (np.array(p) < LEVEL).mean(axis=0)
    # a lead that is found now and then
    lead = {"items": 2.5, "groups": 4.0, "empty": 10.0}[part] / np.sqrt(n)
    n_leading = n_replicates // 4
    power = []
    for _ in range(n_leading):
        data = law(n, rng, lead)
        default, _, swapped = p_values(data, rng)
        power.append([default.pvalue, swapped.pvalue])
    power = (np.array(power) < LEVEL).mean(axis=0)
    return {
        "laws": kind,
        "part": part,
        "law": name,
        "n": n,
        "effective": f"{np.median(effective):.1f}",
        "replicates": n_replicates,
        "size": f"{size[0]:.4f}",
        "standard_error": f"{np.sqrt(LEVEL * (1 - LEVEL) / n_replicates):.4f}",
        "size_bootstrap": f"{size[1]:.4f}",
        "size_permutation": f"{size[2]:.4f}",
        "sign_flips": f"{flipped / n_replicates:.2f}",
        "agree": agree,
        "power": f"{power[0]:.3f}",
        "power_permutation": f"{power[1]:.3f}",
        "power_standard_error": f"{0.5 / np.sqrt(n_leading):.3f}",
    }


def write(name, rows, key):
    """Write rows, and those of the table that they do not replace, in order."""
    new = {tuple(str(row[k]) for k in key) for row in rows}
    old = [row for row in read_csv(name)[1] if tuple(row[k] for k in key) not in new]
    numbered = {k: i for i, k in enumerate([*KINDS, *LAWS])}
    rows = sorted(
        [*rows, *old],
        key=lambda row: [
            int(row[k]) if k == "n" else (numbered.get(row[k], 0), row[k]) for k in key
        ],
    )
    note = f"{N_RESAMPLES} resamples where drawn; " + versions("numpy", "scipy")
    write_csv(name, rows, note, keeps_rows=bool(old))


KINDS = ("tuning", "testing")


QUICK = [
    {
        "args": ["--part", "items-tuning", "--law", "right or wrong", "--n", "5"],
        "files": {
            "paired_test_size.csv": {"keys": ["laws", "part", "law", "n", "replicates"]}
        },
    },
    {
        "args": [
            "--part",
            "calibration-testing",
            "--law",
            "rows without groups",
            "--n",
            "30",
            "--replicates",
            "1000",
        ],
        "files": {
            "calibration_comparison_size.csv": {
                "keys": ["laws", "law", "n", "replicates"]
            }
        },
    },
]


def main():
    parts = [f"{part}-{kind}" for kind in KINDS for part in (*LAWS, "calibration")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=parts, required=True)
    parser.add_argument("--law", help="only this distribution of the part")
    parser.add_argument("--n", type=int, help="only this number of items or groups")
    parser.add_argument("--replicates", type=int, default=2000)
    options = parser.parse_args()
    # too few items are part of the study
    warnings.simplefilter("ignore", UserWarning)
    start = time.perf_counter()
    part, kind = options.part.split("-")
    of_calibration = part == "calibration"
    laws = CALIBRATION[kind] if of_calibration else LAWS[part][kind]
    sizes = N_SENTENCES if of_calibration else N_OF_PART[part]
    rows = []
    for name in [options.law] if options.law else laws:
        for n in [options.n] if options.n else sizes:
            if of_calibration:
                rows.append(calibration_cell(kind, name, n, options.replicates))
            else:
                rows.append(cell(part, kind, name, n, options.replicates))
            print_table(rows[-1:])
    print(f"{time.perf_counter() - start:.0f} s")
    if options.replicates < 1000:
        return
    if of_calibration:
        write(CALIBRATION_NAME, rows, ("laws", "law", "n"))
    else:
        write(NAME, rows, ("laws", "part", "law", "n"))


if __name__ == "__main__":
    main()
