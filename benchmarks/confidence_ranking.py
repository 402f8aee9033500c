"""Do the intervals of confidence_ranking cover?

    python benchmarks/confidence_ranking.py

A population is a list of quantiles of the confidences of right and of wrong answers,
from which samples are drawn with replacement, so that its numbers are known. The
intervals were chosen with the tuning populations. The testing populations were written
down before any interval was computed for them:

- gamma, logistic, student: gamma distributions of different shapes, logistic
  distributions, and Student's t distributions with 3 degrees of freedom
- overconfident: normal distributions, but some wrong answers are the most confident
- stated: six levels, most often the highest ones, as language models state them
- ten levels: ten levels, with equal shares of the wrong answers

After the upper ends of areas had been changed because of the overconfident population,
two fresh populations were added: Laplace and Weibull distributions in which 0.5% and
0.8% of the wrong answers are the most confident answers.

In tuning populations, answers of a group share a normal effect on whether they are
right (correlation 0.5 of the latent variables) and one on the confidence (0.3). In
testing populations, the share of right answers of a group has a beta distribution
(correlation 0.2 of right answers), and half of the confidences of a group have the same
quantile.
"""

from functools import cache
from itertools import product
from zlib import crc32

import _study  # noqa: F401
import numpy as np
from _common import versions, write_csv
from scipy.special import betaincinv, gammaincinv, logit, ndtr, ndtri, stdtrit

from skcalib.metrics import _confidence_ranking, confidence_ranking
from skcalib.metrics._confidence_ranking import (
    _answers_by_level,
    _compare,
    simultaneous_band,
)

FAMILIES = {
    "binormal": "tuning",
    "lehmann": "tuning",
    "beta": "tuning",
    "unequal": "tuning",
    "mixture": "tuning",
    "levels": "tuning",
    "gamma": "testing",
    "logistic": "testing",
    "student": "testing",
    "overconfident": "testing",
    "stated": "testing",
    "ten levels": "testing",
    "laplace": "fresh",
    "weibull": "fresh",
}
GROUPED_FAMILIES = ("binormal", "gamma", "overconfident", "stated")
PART_SIZES = {"tuning": (50,), "testing": (50, 200, 1000, 5000), "fresh": (50, 1000)}
PAIRED_SIZES = (50, 200, 1000)
ACCURACIES, AUROCS, GROUPED_AUROCS = (0.3, 0.7, 0.97), (0.5, 0.8, 0.99), (0.6, 0.9)
SAMPLES, GROUPED, PAIRED, BANDS = 2000, 1000, 2000, 1000

# Coverages of the curve in simulations of its numbers, instead of 200.
POINTS = 50
N_QUANTILES = 100_001
# Continuous confidences and the ends of levels, for confidences with levels.
LEVELS = {
    "levels": ("binormal", (-0.5, 0.5, 1.2, 2.0)),
    # shares .05, .05, .1, .2, .3 and .3 of the wrong answers
    "stated": ("binormal", tuple(ndtri([0.05, 0.1, 0.2, 0.4, 0.7]))),
    "ten levels": ("logistic", tuple(logit(np.arange(1, 10) / 10))),
}
NAMES = ("accuracy", "auroc", "aurc", "excess_aurc")
Z = 1.959964


@cache
def standard(family):
    """Return the quantiles that do not depend on the AUROC, ascending."""
    u = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    if family in ("lehmann", "beta"):
        return u
    if family in ("gamma", "weibull"):  # exponential
        return gammaincinv(1, u)
    if family == "laplace":
        return np.sign(u - 0.5) * -np.log1p(-np.abs(2 * u - 1))
    if family == "student":
        return stdtrit(3, u)
    return logit(u) if family == "logistic" else ndtri(u)


def quantiles(family, shift, auroc):
    """Return confidences of right and of wrong answers, ascending."""
    z = standard(family)
    if family == "lehmann":
        return z ** np.exp(-shift), z
    if family == "beta":
        return betaincinv(2 + shift, 2, z), betaincinv(2, 2 + shift, z)
    if family == "unequal":
        return 0.5 * z + shift, z
    if family == "mixture":  # two normal distributions each
        right = np.sort(np.concatenate([z[::2] + shift, z[::2] / 2 + 2 * shift]))
        return right, np.sort(np.concatenate([z[::2], 2 * z[::2]]))
    if family == "gamma":
        return gammaincinv(1 + shift, standard("beta")), z
    if family == "overconfident":  # they cause a quarter of the errors of the ranking
        return z + shift, overconfident(z, (1 - auroc) / 4)
    if family == "laplace":
        return z + shift, overconfident(z, 0.005)
    if family == "weibull":
        return z**0.7 * np.exp(shift), overconfident(z**0.7, 0.008)
    return z + shift, z


def overconfident(wrong, share):
    """Return quantiles of wrong answers, a share of which are above all others."""
    first = int(wrong.size * share)
    return np.append(wrong[first:], 1e9 + np.arange(first))


def auroc_of(right, wrong):
    places = [np.searchsorted(wrong, right, side) for side in ("left", "right")]
    return float(np.mean(places)) / wrong.size


@cache
def population(family, auroc):
    """Return the quantiles of a population with this AUROC before rounding."""
    own, cuts = LEVELS.get(family, (family, None))
    low, high = 0.0, 60.0 if own == "beta" else 20.0
    for _ in range(40):
        middle = (low + high) / 2
        below = auroc_of(*quantiles(own, middle, auroc)) < auroc
        low, high = (middle, high) if below else (low, middle)
    found = quantiles(own, low, auroc)
    return found if cuts is None else tuple(np.digitize(x, cuts) for x in found)


@cache
def truth(family, accuracy, auroc):
    """Return the ranking of a population, as that of very many answers."""
    right, wrong = population(family, auroc)
    weight = np.repeat([accuracy / right.size, (1 - accuracy) / wrong.size], right.size)
    y = np.repeat([1, 0], right.size)
    score = np.concatenate([right, wrong])
    _confidence_ranking._N_POINTS = 2
    return confidence_ranking(
        y, score, coverages=[0.8], accuracies=[0.9], sample_weight=weight * 1e10
    )


def draw(rng, n, family, accuracy, auroc, sizes=None, n_confidences=1):
    """Return labels, confidences and groups of a sample with both kinds of answers."""
    while True:
        groups, u = None, rng.random((n_confidences, n))
        if n_confidences > 1:  # correlated, with a common part
            u = ndtr((ndtri(u) + rng.normal(size=n)) / np.sqrt(2))
        if sizes is None:
            y = rng.random(n) < accuracy
        else:
            n_groups = max(10, n // 10)
            shares = 1 / np.arange(1, n_groups + 1) if sizes == "Zipf" else None
            shares = None if shares is None else shares / shares.sum()
            groups = rng.choice(n_groups, n, p=shares)
            y, u = grouped(rng, groups, u, FAMILIES[family], accuracy)
        if 0 < y.sum() < n and (groups is None or np.ptp(groups) > 0):
            break
    at = np.minimum((u * N_QUANTILES).astype(np.intp), N_QUANTILES - 1)
    auroc = np.broadcast_to(auroc, n_confidences)
    scores = []
    for rows, each in zip(at, auroc, strict=True):
        right, wrong = population(family, float(each))
        scores.append(np.where(y, right[rows], wrong[rows]))
    return y, scores[0] if n_confidences == 1 else scores, groups


def grouped(rng, groups, u, part, accuracy):
    """Return labels and quantiles of confidences, which depend on the groups."""
    n_groups = groups.max() + 1
    if part == "tuning":
        both = rng.normal(size=n_groups)[groups] + rng.normal(size=groups.size)
        effect = rng.normal(size=(len(u), n_groups))[:, groups]
        u = ndtr(np.sqrt(0.3) * effect + np.sqrt(0.7) * ndtri(u))
        return both < np.sqrt(2) * ndtri(accuracy), u
    chance = rng.beta(4 * accuracy, 4 * (1 - accuracy), n_groups)  # correlation 1 / 5
    own = rng.random((len(u), n_groups))[:, groups]
    u = np.where(rng.random(u.shape) < 0.5, own, u)
    return rng.random(groups.size) < chance[groups], u


def delong(y, score):
    """Return the AUROC with its ends by the Wald interval of DeLong et al."""
    value, _, variance = placements(y, score)
    half = Z * np.sqrt(variance)
    return value, max(value - half, 0), min(value + half, 1)


def placements(y, score):
    right, wrong = np.sort(score[y]), np.sort(score[~y])

    def share(x, among):
        ends = [np.searchsorted(among, x, side) for side in ("left", "right")]
        return (ends[0] + ends[1]) / 2 / among.size

    found = np.empty(y.size)
    found[y], found[~y] = share(score[y], wrong), 1 - share(score[~y], right)
    return found[y].mean(), found, variance_of(y, found)


def variance_of(y, found):
    parts = [found[kind] for kind in (y, ~y)]
    return sum(p.var(ddof=1) / p.size if p.size > 1 else 0.0 for p in parts)


def numbers(ranking):
    found = {name: getattr(ranking, name) for name in NAMES}
    found["accuracy at 0.8"] = ranking.accuracy_at[0.8]
    found["coverage at 0.9"] = ranking.coverage_at[0.9]
    return found


def coverage_row(family, n, accuracy, auroc, sizes, n_samples):
    true = {k: float(v) for k, v in numbers(truth(family, accuracy, auroc)).items()}
    _confidence_ranking._N_POINTS = POINTS
    key = f"{family} {n} {accuracy} {auroc} {sizes}"
    rng = np.random.default_rng(crc32(key.encode()))
    hits, widths = dict.fromkeys(true, 0), dict.fromkeys(true, 0.0)
    wald, wald_width = 0, 0.0
    for _ in range(n_samples):
        y, score, groups = draw(rng, n, family, accuracy, auroc, sizes)
        ranking = confidence_ranking(
            y, score, coverages=[0.8], accuracies=[0.9], groups=groups
        )
        for name, each in numbers(ranking).items():
            hits[name] += each.low - 1e-9 <= true[name] <= each.high + 1e-9
            widths[name] += each.high - each.low
        _, low, high = delong(y, score)
        wald += low - 1e-9 <= true["auroc"] <= high + 1e-9
        wald_width += high - low
    return {
        "groups": sizes or "none",
        "part": FAMILIES[family],
        "distribution": family,
        "n": n,
        "share right": accuracy,
        "AUROC": auroc,
        **{f"{name} covered": f"{hit / n_samples:.4f}" for name, hit in hits.items()},
        "DeLong covered": f"{wald / n_samples:.4f}",
        "AUROC width": f"{widths['auroc'] / n_samples:.4f}",
        "DeLong width": f"{wald_width / n_samples:.4f}",
        "AURC width": f"{widths['aurc'] / n_samples:.4f}",
        "samples": n_samples,
    }


def coverage_cells():
    found = []
    for sizes in (None, "equal", "Zipf"):
        aurocs = AUROCS if sizes is None else GROUPED_AUROCS
        for family in FAMILIES if sizes is None else GROUPED_FAMILIES:
            part = FAMILIES[family]
            for n in PART_SIZES[part]:
                pairs = list(product(ACCURACIES, aurocs))
                if part == "fresh":
                    pairs = pairs[::2]
                elif part == "tuning" or sizes or n >= 5000:
                    pairs = pairs[:: len(aurocs) + 1] + pairs[-1:]
                n_samples = SAMPLES if sizes is None else GROUPED
                cells = [(family, n, *pair, sizes, n_samples) for pair in pairs]
                found += dict.fromkeys(cells)
    return found


COVERED = [
    f"{name} covered" for name in (*NAMES, "accuracy at 0.8", "coverage at 0.9")
] + ["DeLong covered"]


def summary_rows(rows):
    """Return the mean and the least coverage of each number over the cells."""
    keys = dict.fromkeys((r["groups"], r["part"], r["n"]) for r in rows)
    found = []
    for groups, part, n in keys:
        some = [
            r for r in rows if (r["groups"], r["part"], r["n"]) == (groups, part, n)
        ]
        for column in COVERED:
            values = np.array([float(r[column]) for r in some])
            found.append(
                {
                    "groups": groups,
                    "part": part,
                    "n": n,
                    "number": column.removesuffix(" covered"),
                    "cells": values.size,
                    "mean": f"{values.mean():.3f}",
                    "least": f"{values.min():.3f}",
                    "below 0.935": int((values < 0.935).sum()),
                }
            )
    return found


def paired_cells():
    aurocs = ((0.8, 0.8), (0.75, 0.85))
    return [
        (family, n, accuracy, both, sizes)
        for sizes in (None, "equal", "Zipf")
        for family in ("binormal", "stated")
        for n in PAIRED_SIZES
        for accuracy in ACCURACIES[1:]
        for both in (aurocs if family == "binormal" else aurocs[:1])
    ]


def paired_row(family, n, accuracy, aurocs, sizes):
    """Return how often a paired test rejects, for equal and different AUROCs."""
    rng = np.random.default_rng(
        crc32(f"{family} {sizes} {n} {accuracy} {aurocs}".encode())
    )
    found = []
    for _ in range(PAIRED):
        y, scores, groups = draw(rng, n, family, accuracy, aurocs, sizes, 2)
        if groups is not None:  # numbers of the groups without gaps
            groups = np.unique(groups, return_inverse=True)[1]
        one, two = (_answers_by_level(y, each, None, groups) for each in scores)
        test = _compare(one, two, 0.95)
        place = [placements(y, each)[1] for each in scores]
        error = np.sqrt(variance_of(y, place[0] - place[1]))
        z = abs(test.difference) / error if error > 0 else 0.0
        found.append((test.pvalue, test.aurc_pvalue, 2 * ndtr(-z)))
    shares = (np.array(found) < 0.05).mean(axis=0)
    return {
        "groups": sizes or "none",
        "part": FAMILIES[family],
        "distribution": family,
        "n": n,
        "share right": accuracy,
        "AUROCs": f"{aurocs[0]} and {aurocs[1]}",
        "AUROC rejected": f"{shares[0]:.3f}",
        "AURC rejected": f"{shares[1]:.3f}",
        "DeLong rejected": f"{shares[2]:.3f}",
        "samples": PAIRED,
    }


def band_cells():
    return [
        (family, n, accuracy, sizes)
        for sizes in (None, "Zipf")
        for family in ("gamma", "stated")
        for n in dict.fromkeys((PAIRED_SIZES[0], PAIRED_SIZES[-1]))
        for accuracy in ACCURACIES[1:2]
    ]


def band_row(family, n, accuracy, sizes):
    """Return how often bands contain the curve of the population."""
    answers = truth(family, accuracy, 0.8)._answers
    _confidence_ranking._N_POINTS = POINTS
    ends = np.append(0, answers.end) / answers.total
    wrong = np.append(0, np.cumsum(answers.wrong)) / answers.total
    rng = np.random.default_rng(crc32(f"{family} {n} {accuracy} {sizes}".encode()))
    found = []
    for _ in range(BANDS):
        y, score, groups = draw(rng, n, family, accuracy, 0.8, sizes)
        each = confidence_ranking(y, score, groups=groups)
        risk = np.interp(each.coverage, ends, wrong) / each.coverage
        bands = (each.risk_low, each.risk_high), simultaneous_band(each)
        inside = [(low <= risk + 1e-9) & (risk <= high + 1e-9) for low, high in bands]
        widths = [(high - low).mean() for low, high in bands]
        found.append((inside[0].mean(), inside[0].all(), inside[1].all(), *widths))
    means = np.mean(found, axis=0)
    return {
        "groups": sizes or "none",
        "part": FAMILIES[family],
        "distribution": family,
        "n": n,
        "share right": accuracy,
        "pointwise: one coverage": f"{means[0]:.3f}",
        "pointwise: all coverages": f"{means[1]:.3f}",
        "simultaneous: all coverages": f"{means[2]:.3f}",
        "pointwise width": f"{means[3]:.3f}",
        "simultaneous width": f"{means[4]:.3f}",
        "samples": BANDS,
    }


def rows_of(function, cells):
    rows = []
    for cell in cells:
        found = function(*cell)
        rows += found if isinstance(found, list) else [found]
        print(*rows[-1].values(), flush=True)
    return rows


def main():
    rows = rows_of(coverage_row, coverage_cells())
    tables = {
        "": summary_rows(rows),
        "_cells": rows,
        "_paired": rows_of(paired_row, paired_cells()),
        "_bands": rows_of(band_row, band_cells()),
    }
    for name, table in tables.items():
        write_csv(f"confidence_ranking{name}.csv", table, versions("numpy", "scipy"))


if __name__ == "__main__":
    main()
