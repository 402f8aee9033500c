"""Type I error rates of paired tests with few items and unequal groups.

    python benchmarks/paired_test_size.py [items-tuning ...] [--replicates 2000]

The parts are items, groups, empty, ties (few items) and skewed (equal means, but not
exchangeable: rare large differences). Each has a version -tuning (distributions used to
choose the rule of ``method="auto"``) and a version -testing (distributions that were
not used for the choice). The part skewed is an exception: most of its distributions
were known when the rule for skewness was chosen. A distribution takes at most two
minutes on one core. New results replace the corresponding rows of the table.

Each cell contains the fraction of replicates with p < .05 for two systems with the same
expectation, for the default method, for the bootstrap without sign flips (``exact``,
``saddlepoint`` or ``monte_carlo``) and for the permutation test. It also contains the
power of the default method and of the permutation test if system A has a true lead.
Standard errors of error rates are computed for a rate of .05.

The parts calibration-tuning and calibration-testing contain the rejection rate of
``compare_calibration``, and coverage and mean width of its interval, for models whose
errors in the population are known. They also contain the rejection rate of the test of
the Brier scores and, if the errors differ, of a jackknife test of the difference of
debiased squares. The tuning distributions were used while the method was developed.
"""

import warnings
import zlib
from functools import cache

import _study
import numpy as np
from _common import print_table, read_csv, versions, write_csv
from scipy import optimize, special, stats

from skcalib.scorers import compare_calibration
from skcalib.scorers._calibration_comparison import FOR_INTERVAL, _bins, check_pairs
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


def chi_square(n, rng):
    return (rng.chisquare(1, n) - 1) / np.sqrt(2)


def gamma(n, rng):
    return (rng.gamma(0.3, size=n) - 0.3) / np.sqrt(0.3)


def lognormal(n, rng):
    return (rng.lognormal(size=n) / np.exp(0.5) - 1) / np.sqrt(np.e - 1)


def heavy(n, rng):
    """Symmetric, without a variance."""
    return rng.standard_t(2, n) / 1.5


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


def five_or_one(n, rng, lead):
    """A scores 4, B mostly 5 and else 1."""
    return 4 + 2 * lead + np.zeros(n), np.where(rng.random(n) < 0.75, 5.0, 1.0), "mean"


def all_or_nothing(n, rng, lead):
    """F1 of a document: that of B is 1 or 0."""
    a = np.minimum(rng.beta(20, 5, n) + lead / 2, 1)
    return a, (rng.random(n) < 0.8).astype(float), "mean"


def rare_losses(n, rng, lead):
    """Four items in five are ties; A gains 1 often or loses 4 seldom."""
    d = np.where(rng.random(n) < 0.8, 1.0, -4.0)
    return 5 + np.where(rng.random(n) < 0.8, 0, d) + lead, np.full(n, 5.0), "mean"


def long_losses(n, rng, lead):
    """B loses most names of rare long sentences. All systems guess as many as gold."""
    is_long = rng.random(n) < 0.02
    gold = np.where(is_long, 10, 1 + rng.poisson(0.5, n))
    chance = 0.6 + lead / 4, np.where(is_long, 0.1, 0.6 + 0.1 / 1.47)
    return *(np.stack([rng.binomial(gold, c), gold, gold], 1) for c in chance), "f1"


def only_wins(n, rng, lead):
    """Ties in three items of four; A wins the others if it leads."""
    d = np.where((rng.random(n) < 0.5) & (lead == 0), -1, 1)
    d = d * (rng.random(n) < 0.25)
    return (d > 0).astype(int), (d < 0).astype(int), "mean"


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


TIES = {
    "tuning": {"right or wrong": right_or_wrong},
    "testing": {"ratings": rated, "wins and ties": only_wins},
}

SKEWED = {
    "tuning": {
        "chi-square, 1 df": difference(chi_square),
        "gamma, shape .3": difference(gamma),
        "Laplace": difference(laplace),
    },
    "testing": {
        "lognormal": difference(lognormal),
        "4 against 5 or 1": five_or_one,
        "F1 of documents, 0 or 1": all_or_nothing,
        "rare losses": rare_losses,
        "long losses": long_losses,
        "half zero": difference(half_zero),
        "Student, 2 df": difference(heavy),
    },
}

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


def skewed_effect(shape, rng):
    """The effect of a document on system A only, with mean 0 and rare large values."""
    return (rng.lognormal(size=shape) / np.exp(0.5) - 1) * [1, 0]


GROUPS = {
    "tuning": {
        f"Zipf(1.6), {statistic}": in_documents(zipf_sizes, statistic, normal_effect)
        for statistic in ("mean", "ratio", "f1")
    },
    "testing": {
        "Zipf(1.6), rare effects, mean": in_documents(zipf_sizes, "mean", rare_effect),
        "Zipf(1.6), rare effects, f1": in_documents(zipf_sizes, "f1", rare_effect),
        "lognormal, ratio": in_documents(lognormal_sizes, "ratio", normal_effect),
        "Zipf(1.6), skewed effects, mean": in_documents(
            zipf_sizes, "mean", skewed_effect
        ),
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

# Two models. Each law returns labels of A, probabilities of A and of B, groups, and
# labels of B if they differ. The difference of the errors is known.


def labels(true, rng):
    return (rng.random(true.shape) < true).astype(int)


def rows_of(a, b):
    """Return a distribution of independent rows with true frequencies in [.2, .8]."""

    def law(n, rng):
        true = 0.2 + 0.6 * rng.random(n)
        return labels(true, rng), a(true), b(true), None

    return law


def too_high(shift):
    return lambda true: true + shift


def too_steep(error):
    return lambda true: true + (true - 0.5) * error * np.sqrt(12) / 0.6


def top_tenth(true):
    """Too high by .2 for the largest tenth of the probabilities, else right."""
    return np.where(true > 0.74, true + 0.2, true)


def less_sharp(n, rng):
    """Two calibrated models; B does not know a half of what A knows."""
    known = rng.random((2, n))
    true = 0.1 + 0.4 * known.sum(axis=0)
    return labels(true, rng), true, 0.3 + 0.4 * known[0], None


@cache
def flat_as_sharp(sharp, scale=1.5):
    """Return the factor below 1 that gives logits the error of a factor above 1."""
    error = error_of_logits(sharp, scale)
    return optimize.brentq(lambda f: error_of_logits(f, scale) - error, 0.1, 1)


def error_of_logits(factor, scale):
    """Return the error of logits that are multiplied by a factor."""
    x, w = np.polynomial.hermite_e.hermegauss(200)
    square = (special.expit(factor * scale * x) - special.expit(scale * x)) ** 2
    return np.sqrt(w @ square / w.sum())


def sharp_and_flat(n, rng):
    """Logits times 1.5 and times the number below 1 with the same error."""
    score = rng.normal(0, 1.5, n)
    y = labels(special.expit(score), rng)
    return y, *special.expit(np.multiply.outer([1.5, flat_as_sharp(1.5)], score)), None


def verbal_levels(n, rng):
    """Rows with five levels."""
    truth = rng.normal(0, 1.5, n)
    said = special.expit(truth + 0.7 * rng.normal(size=(2, n)) + 0.3)
    levels = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    return labels(special.expit(truth), rng), *levels[(said * 5).astype(int)], None


def classes(n_classes, n_rows=1):
    """Return exchangeable models of several classes; groups of rows share an effect."""

    def law(n, rng):
        groups = np.repeat(np.arange(n), n_rows)
        score = rng.normal(0, 1.2, (groups.size, n_classes))
        effect = 0.5 * rng.normal(size=(n, n_classes))[groups]
        true = special.softmax(score + (n_rows > 1) * effect, axis=1)
        y = (rng.random((groups.size, 1)) > true.cumsum(axis=1)).sum(axis=1)
        noise = 0.4 * rng.normal(size=(2, *score.shape))
        models = special.softmax(1.3 * score + noise, axis=2)
        y = np.minimum(y, n_classes - 1)
        return y, *models, groups if n_rows > 1 else None

    return law


def sentences(n, mean_length, rng):
    return np.repeat(np.arange(n), 1 + rng.poisson(mean_length, n))


def alike(scale, noise, sentence_noise, sizes=lambda n, rng: sentences(n, 11, rng)):
    """Return a distribution of exchangeable models, each with its own noise."""

    def law(n, rng):
        groups = sizes(n, rng)
        score = rng.normal(0, 1.5, groups.size)
        truth = score + 0.5 * rng.normal(size=n)[groups]
        models = [
            scale
            * (
                score
                + sentence_noise * rng.normal(size=n)[groups]
                + noise * rng.normal(size=groups.size)
            )
            for _ in range(2)
        ]
        return labels(special.expit(truth), rng), *special.expit(models), groups

    return law


def apart(shift):
    """Return a distribution of models, one as much too high as the other too low."""

    def law(n, rng):
        groups = sentences(n, 11, rng)
        truth = rng.normal(0, 1.5, groups.size) + 0.5 * rng.normal(size=n)[groups]
        noise = 0.2 * rng.normal(size=(2, groups.size))
        models = special.expit(truth + noise + [[shift], [-shift]])
        return labels(special.expit(truth), rng), *models, groups

    return law


def stated_levels(n, rng):
    """Answers in tenths, a little too high."""
    groups = sentences(n, 2, rng)
    truth = rng.normal(0, 1.5, groups.size)
    noise = 0.8 * rng.normal(size=(2, groups.size)) + 0.4
    models = special.expit(truth + noise).round(1)
    return labels(special.expit(truth), rng), *models, groups


def single_rows(n, rng):
    return *alike(1.5, 0.5, 0.0)(n, rng)[:3], None


def nearly_certain(n, rng):
    """A says 90%, B says 100%, and 95% of the answers are right."""
    return labels(np.full(n, 0.95), rng), np.full(n, 0.9), np.ones(n), None


def own_answers(n, rng):
    """Each model has answers of its own; .05 too high, and .1 too low."""
    difficulty = rng.normal(size=n)
    true = 0.3 + 0.4 * special.expit(difficulty + rng.normal(0, 1, (2, n)))
    y = labels(true, rng)
    return y[0], true[0] + 0.05, true[1] - 0.1, None, y[1]


def rare(n, rng):
    """Labels of 3%; the probabilities are half as large again, and half as large."""
    true = np.minimum(0.02 * np.exp(rng.normal(0, 0.9, n)), 0.5)
    return labels(true, rng), 1.5 * true, 0.5 * true, None


def repeated(n, rng):
    """Ten identical answers to each question; .1 too high, and .1 too low."""
    y, a, b, _ = rows_of(too_high(0.1), too_high(-0.1))(n, rng)
    groups = np.repeat(np.arange(n), 10)
    return y[groups], a[groups], b[groups], groups


def zipf_groups(n, rng):
    return np.repeat(np.arange(n), zipf_sizes(n, rng))


# Distribution, true difference of the errors, and numbers of rows or groups.
ROWS = (300, 1000, 5000)
CALIBRATION = {
    "tuning": {
        "A .08 too high, B right": (rows_of(too_high(0.08), too_high(0)), 0.08, ROWS),
        "both right, B less sharp": (less_sharp, 0, ROWS),
        "A .06 too high, B .06 too low": (
            rows_of(too_high(0.06), too_high(-0.06)),
            0,
            (100, *ROWS),
        ),
        "A .06 too high, B too steep": (
            rows_of(too_high(0.06), too_steep(0.06)),
            0,
            ROWS,
        ),
        "A too sharp, B too flat": (sharp_and_flat, 0, ROWS),
        "alike, noisy": (alike(1.0, 0.3, 0.6), 0, (30, 100)),
        "alike, too sharp": (alike(2.0, 0.2, 0.2), 0, (30, 100)),
        "alike, calibrated": (alike(1.0, 0.0, 0.15), 0, (30, 100)),
        "apart by .5": (apart(0.5), 0, (30, 100)),
        "verbal levels": (verbal_levels, 0, (300,)),
        "3 classes": (classes(3), 0, (300,)),
        "20 classes": (classes(20), 0, (100,)),
        "90% and 100%, 95% right": (nearly_certain, 0, (30, 100, 300)),
        "A .1 too high, B .05 too low": (
            rows_of(too_high(0.1), too_high(-0.05)),
            0.05,
            ROWS,
        ),
    },
    "testing": {
        "apart by 1": (apart(1.0), 0, (30, 100)),
        "apart by 2": (apart(2.0), 0, (30, 100)),
        "stated levels": (stated_levels, 0, (30, 100)),
        "rows without groups": (single_rows, 0, (30, 100)),
        "A .1 too high, B .05 too high": (
            rows_of(too_high(0.1), too_high(0.05)),
            0.05,
            (300, 5000),
        ),
        "A too steep, B wrong in a tenth": (
            rows_of(too_steep(0.2 * np.sqrt(0.1)), top_tenth),
            0,
            (300, 5000),
        ),
        "own answers": (own_answers, -0.05, (300, 5000)),
        "rare labels": (rare, 0, (1000, 5000)),
        "repeated answers": (repeated, 0, (30, 100)),
        "Zipf groups": (alike(1.3, 0.3, 0.4, zipf_groups), 0, (100, 300)),
        "4 classes in groups": (classes(4, 8), 0, (30, 100)),
    },
}
CALIBRATION_NAME = "calibration_comparison_size.csv"


def jackknife_p_value(y, a, b, groups, labels):
    """Return the p-value of the difference of debiased squares by the jackknife."""
    pairs = [
        check_pairs(own, q, groups=groups, labels=labels)[0]
        for own, q in zip(y, (a, b), strict=True)
    ]
    bins = [_bins(each, FOR_INTERVAL) for each in pairs]
    without = bins[0].squares_left_out() - bins[1].squares_left_out()
    n, value = without.size, bins[0].debiased_square - bins[1].debiased_square
    variance = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    return 2 * stats.t.sf(abs(value) / np.sqrt(max(variance, 1e-300)), n - 1)


def calibration_cell(kind, name, n, n_replicates):
    rng = np.random.default_rng(zlib.crc32(f"calibration {kind} {name} {n}".encode()))
    law, difference, _ = CALIBRATION[kind][name]
    p, covered, width, agree = [], 0, 0.0, True
    for _ in range(n_replicates):
        y, a, b, groups, *own = law(n, rng)
        classes = list(range(a.shape[1])) if a.ndim > 1 else None
        found = compare_calibration(
            y,
            a,
            b,
            groups=groups,
            y_true_b=own[0] if own else None,
            labels=classes,
            pos_label=None if classes else 1,
            random_state=rng,
        )
        jackknife = 1.0
        if difference:
            labels_of = y, own[0] if own else y
            jackknife = jackknife_p_value(labels_of, a, b, groups, classes)
        p.append([found.pvalue, jackknife, found.brier_pvalue])
        covered += found.low - 1e-12 <= difference <= found.high + 1e-12
        width += found.high - found.low
        agree &= (found.low <= 0 <= found.high) == (found.pvalue >= LEVEL * (1 - 1e-12))
    rejected = (np.array(p) < LEVEL).mean(axis=0)
    return {
        "laws": kind,
        "law": name,
        "n": n,
        "difference": f"{difference:g}",
        "replicates": n_replicates,
        "rejected": f"{rejected[0]:.4f}",
        "coverage": f"{covered / n_replicates:.4f}",
        "standard_error": f"{np.sqrt(LEVEL * (1 - LEVEL) / n_replicates):.4f}",
        "width": f"{width / n_replicates:.4f}",
        "rejected_jackknife": f"{rejected[1]:.4f}" if difference else "",
        "rejected_brier": f"{rejected[2]:.4f}",
        "agree": agree,
    }


N_OF_PART = {
    "items": (5, 10, 20, 50, 100),
    "groups": (5, 10, 20, 50, 100, 300, 600),
    "empty": (50, 200, 500, 1000),
    "ties": (8, 15),
    "skewed": (8, 15, 30, 100),
}
LAWS = {
    "items": ITEMS,
    "groups": GROUPS,
    "empty": EMPTY,
    "ties": TIES,
    "skewed": SKEWED,
}


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
        flipped += default.method in ("sign_flips", "hall")
        low, high = default.confidence_interval
        agree &= (low <= 0 <= high) == (default.pvalue >= LEVEL * (1 - 1e-12))
    size = (np.array(p) < LEVEL).mean(axis=0)
    # a lead that is found now and then
    lead = {"groups": 4.0, "empty": 10.0}.get(part, 2.5) / np.sqrt(n)
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


def main():
    parts = [f"{part}-{kind}" for kind in KINDS for part in (*LAWS, "calibration")]
    parser = _study.parser_of(__doc__)
    parser.add_argument("parts", nargs="*", default=parts, metavar="part", help=parts)
    parser.add_argument("--replicates", type=int, default=2000)
    options = parser.parse_args()
    # too few items are part of the study
    warnings.simplefilter("ignore", UserWarning)
    for part, kind in (name.split("-") for name in options.parts):
        rows = []
        if part == "calibration":
            for name, (_, _, sizes) in CALIBRATION[kind].items():
                for n in sizes:
                    rows.append(calibration_cell(kind, name, n, options.replicates))
                    print_table(rows[-1:])
            write(CALIBRATION_NAME, rows, ("laws", "law", "n"))
            continue
        for name in LAWS[part][kind]:
            for n in N_OF_PART[part]:
                rows.append(cell(part, kind, name, n, options.replicates))
                print_table(rows[-1:])
        write(NAME, rows, ("laws", "part", "law", "n"))


if __name__ == "__main__":
    main()
