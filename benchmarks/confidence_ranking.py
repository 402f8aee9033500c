"""Do the intervals of confidence_ranking cover, and how fast are they?

    python benchmarks/confidence_ranking.py [--quick]

A population is a list of quantiles of the confidences of right and of wrong answers,
from which samples are drawn with replacement, so that its numbers are known. The
intervals were chosen with the populations 'binormal' and 'lehmann'; the others are for
testing. Answers of a group share a normal effect on whether they are right
(correlation 0.5 of the latent variables) and one on the confidence (0.3). MAPIE is
compared if it is installed. --quick has few samples, and writes nothing.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from functools import cache
from zlib import crc32

import numpy as np
from _common import best_times, print_table, versions, write_csv
from scipy.special import betaincinv, ndtr, ndtri
from sklearn.metrics import roc_auc_score

from skcalib.metrics import _confidence_ranking, confidence_ranking
from skcalib.metrics._confidence_ranking import (
    _answers_by_level,
    _auroc,
    simultaneous_band,
)

FAMILIES = {
    "binormal": "tuning",
    "lehmann": "tuning",
    "beta": "testing",
    "unequal": "testing",
    "mixture": "testing",
    "levels": "testing",
}
SIZES, GROUPED_SIZES = (50, 200, 1000, 5000), (50, 200, 1000)
TUNING_SIZES = (50, 1000)
ACCURACIES, AUROCS, GROUPED_AUROCS = (0.3, 0.7, 0.97), (0.5, 0.8, 0.99), (0.6, 0.9)
SAMPLES, GROUPED, PAIRED, BANDS, BOOTSTRAPPED = 700, 250, 400, 60, 100
N_SPEED = 1_000_000

# Coverages of the curve in simulations of its numbers, instead of 200.
POINTS = 50
N_QUANTILES = 100_001
CUTS = (-0.5, 0.5, 1.2, 2.0)
NAMES = ("accuracy", "auroc", "aurc", "excess_aurc")
Z = 1.959964


def quantiles(family, shift):
    """Return confidences of right and of wrong answers, ascending."""
    u = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    z = ndtri(u)
    if family in ("binormal", "levels"):
        right, wrong = z + shift, z
    elif family == "lehmann":
        right, wrong = u ** np.exp(-shift), u
    elif family == "beta":
        right, wrong = betaincinv(2 + shift, 2, u), betaincinv(2, 2 + shift, u)
    elif family == "unequal":
        right, wrong = 0.5 * z + shift, z
    else:  # mixtures of two normal distributions
        right = np.sort(np.concatenate([z[::2] + shift, z[::2] / 2 + 2 * shift]))
        wrong = np.sort(np.concatenate([z[::2], 2 * z[::2]]))
    if family == "levels":
        right, wrong = np.digitize(right, CUTS), np.digitize(wrong, CUTS)
    return right, wrong


def auroc_of(right, wrong):
    places = [np.searchsorted(wrong, right, side) for side in ("left", "right")]
    return float(np.mean(places)) / wrong.size


@cache
def population(family, auroc):
    """Return the quantiles of a population with this AUROC before rounding."""
    own = "binormal" if family == "levels" else family
    low, high = 0.0, 60.0 if own == "beta" else 12.0
    for _ in range(40):
        middle = (low + high) / 2
        below = auroc_of(*quantiles(own, middle)) < auroc
        low, high = (middle, high) if below else (low, middle)
    return quantiles(family, low)


@cache
def truth(family, accuracy, auroc):
    """Return the ranking of a population, as that of very many answers."""
    right, wrong = population(family, auroc)
    weight = np.repeat([accuracy / right.size, (1 - accuracy) / wrong.size], right.size)
    y = np.repeat([1, 0], right.size)
    score = np.concatenate([right, wrong])
    _confidence_ranking._N_POINTS = 5000
    return confidence_ranking(y, score, sample_weight=weight * 1e10)


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
            both = rng.normal(size=n_groups)[groups] + rng.normal(size=n)
            y = both < np.sqrt(2) * ndtri(accuracy)
            effect = rng.normal(size=(n_confidences, n_groups))[:, groups]
            u = ndtr(np.sqrt(0.3) * effect + np.sqrt(0.7) * ndtri(u))
        if 0 < y.sum() < n and (groups is None or np.ptp(groups) > 0):
            break
    at = np.minimum((u * N_QUANTILES).astype(np.intp), N_QUANTILES - 1)
    auroc = np.broadcast_to(auroc, n_confidences)
    scores = []
    for rows, each in zip(at, auroc, strict=True):
        right, wrong = population(family, float(each))
        scores.append(np.where(y, right[rows], wrong[rows]))
    return y, scores[0] if n_confidences == 1 else scores, groups


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
        for name, each in numbers(confidence_ranking(y, score, groups=groups)).items():
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


def coverage_rows():
    cells = [
        (family, n, accuracy, auroc, None, SAMPLES)
        for family, part in FAMILIES.items()
        for n in (SIZES if part == "testing" else TUNING_SIZES)
        for accuracy in ACCURACIES
        for auroc in AUROCS
    ]
    cells += [
        (family, n, accuracy, auroc, sizes, GROUPED)
        for sizes in ("equal", "Zipf")
        for family in ("binormal", "beta", "levels")
        for n in GROUPED_SIZES
        for accuracy in ACCURACIES
        for auroc in GROUPED_AUROCS
    ]
    rows = []
    for cell in cells:
        rows.append(coverage_row(*cell))
        print(*rows[-1].values(), flush=True)
    return rows


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


def bootstrap_rows():
    """Compare the widths of intervals with those of the percentile bootstrap."""
    rows = []
    for family in ("beta", "levels"):
        for n in (50, 200):
            for accuracy in ACCURACIES[1:]:
                rng = np.random.default_rng(crc32(f"{family} {n} {accuracy}".encode()))
                true = float(truth(family, accuracy, 0.75).auroc)
                _confidence_ranking._N_POINTS = POINTS
                ends = {"skcalib": [], "DeLong": [], "bootstrap": []}
                for _ in range(BOOTSTRAPPED):
                    y, score, _ = draw(rng, n, family, accuracy, 0.75)
                    each = confidence_ranking(y, score).auroc
                    ends["skcalib"].append((each.low, each.high))
                    ends["DeLong"].append(delong(y, score)[1:])
                    values = []
                    for _ in range(300):
                        at = rng.integers(0, n, n)
                        if 0 < y[at].sum() < n:
                            values.append(placements(y[at], score[at])[0])
                    ends["bootstrap"].append(np.quantile(values, [0.025, 0.975]))
                for name, each in ends.items():
                    low, high = np.array(each).T
                    rows.append(
                        {
                            "distribution": family,
                            "n": n,
                            "share right": accuracy,
                            "interval": name,
                            "covered": f"{((low <= true) & (true <= high)).mean():.3f}",
                            "width": f"{(high - low).mean():.3f}",
                            "samples": BOOTSTRAPPED,
                        }
                    )
    return rows


def paired_rows():
    """Return how often a paired test rejects, for equal and different AUROCs."""
    rows = []
    _confidence_ranking._N_POINTS = 2
    for sizes in (None, "equal", "Zipf"):
        for n in GROUPED_SIZES:
            for accuracy in ACCURACIES:
                for aurocs in ((0.6, 0.6), (0.8, 0.8), (0.9, 0.9), (0.75, 0.85)):
                    key = f"{sizes} {n} {accuracy} {aurocs}"
                    rng = np.random.default_rng(crc32(key.encode()))
                    found = []
                    n_samples = PAIRED if sizes is None else PAIRED // 2
                    for _ in range(n_samples):
                        y, scores, groups = draw(
                            rng, n, "binormal", accuracy, aurocs, sizes, 2
                        )
                        one, two = (
                            confidence_ranking(
                                y, each, groups=groups, coverages=[], accuracies=[]
                            )
                            for each in scores
                        )
                        test = one.compare(two)
                        place = [placements(y, each)[1] for each in scores]
                        error = np.sqrt(variance_of(y, place[0] - place[1]))
                        z = abs(test.difference) / error if error > 0 else 0.0
                        found.append((test.pvalue, test.aurc_pvalue, 2 * ndtr(-z)))
                    shares = (np.array(found) < 0.05).mean(axis=0)
                    rows.append(
                        {
                            "groups": sizes or "none",
                            "n": n,
                            "share right": accuracy,
                            "AUROCs": f"{aurocs[0]} and {aurocs[1]}",
                            "AUROC rejected": f"{shares[0]:.3f}",
                            "AURC rejected": f"{shares[1]:.3f}",
                            "DeLong rejected": f"{shares[2]:.3f}",
                            "samples": n_samples,
                        }
                    )
                    print(*rows[-1].values(), flush=True)
    return rows


def band_rows():
    """Return how often bands contain the curve of the population."""
    rows = []
    for sizes in (None, "Zipf"):
        for family in ("beta", "levels"):
            for n in GROUPED_SIZES:
                for accuracy in ACCURACIES:
                    answers = truth(family, accuracy, 0.75)._answers
                    _confidence_ranking._N_POINTS = 200 if sizes is None else POINTS
                    ends = np.append(0, answers.end) / answers.total
                    wrong = np.append(0, np.cumsum(answers.wrong)) / answers.total
                    rng = np.random.default_rng(crc32(f"{family} {n} {sizes}".encode()))
                    found = []
                    for _ in range(BANDS):
                        y, score, groups = draw(rng, n, family, accuracy, 0.75, sizes)
                        each = confidence_ranking(y, score, groups=groups)
                        risk = np.interp(each.coverage, ends, wrong) / each.coverage
                        bands = (each.risk_low, each.risk_high), simultaneous_band(each)
                        inside = [
                            (low <= risk + 1e-9) & (risk <= high + 1e-9)
                            for low, high in bands
                        ]
                        widths = [(high - low).mean() for low, high in bands]
                        found.append(
                            (
                                inside[0].mean(),
                                inside[0].all(),
                                inside[1].all(),
                                *widths,
                            )
                        )
                    means = np.mean(found, axis=0)
                    rows.append(
                        {
                            "groups": sizes or "none",
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
                    )
                    print(*rows[-1].values(), flush=True)
    return rows


def torch_uncertainty_area(y, score):
    """Return AURC().compute() of torch-uncertainty 0.13.0."""
    errors = ~y[np.argsort(-score, kind="stable")]
    n = y.size
    rates = np.cumsum(errors) / np.arange(1, n + 1)
    return np.trapezoid(rates, np.arange(1, n + 1) / n) / (1 - 1 / n)


def mapie_auarc(y, score):
    """Return auarc of MAPIE 1.6.0."""
    right = y[np.argsort(-score, kind="stable")]
    return float(np.mean(np.cumsum(right) / np.arange(1, y.size + 1)))


def peer_rows():
    """Return the largest differences from other packages, over 50 samples."""
    try:
        from mapie.metrics.uncertainty import auarc

        checked = "installed package"
    except ImportError:
        auarc, checked = mapie_auarc, "formula"
    _confidence_ranking._N_POINTS = 200
    rng = np.random.default_rng(0)
    rows = {}

    def add(package, name, ties, how, value):
        key = package, name, ties
        row = rows.setdefault(key, {"compared with": how, "largest difference": 0.0})
        row["largest difference"] = max(row["largest difference"], abs(float(value)))

    for k in range(50):
        for ties in ("none", "5 levels"):
            family = "levels" if ties != "none" else "binormal"
            y, score, _ = draw(rng, (20, 300, 5000)[k % 3], family, 0.7, 0.75)
            if ties == "none":
                score = score + 1e-9 * rng.random(score.size)
            each = confidence_ranking(y, score)
            aurc, n = float(each.aurc), y.size
            add(
                "scikit-learn",
                "roc_auc_score",
                ties,
                "installed package",
                each.auroc - roc_auc_score(y, score),
            )
            add("MAPIE", "1 - auarc", ties, checked, aurc - 1 + auarc(y, score))
            theirs = torch_uncertainty_area(y, score)
            add("torch-uncertainty", "AURC", ties, "formula", aurc - theirs)
            # The trapezium has half of the first and of the last error rate.
            ordered = y[np.argsort(-score, kind="stable")]
            half = ((1 - ordered[0]) + (1 - y.mean())) / 2
            converted = (theirs * (n - 1) + half) / n
            name = "AURC, with the first and last point"
            add("torch-uncertainty", name, ties, "formula", aurc - converted)
    return [
        {"package": p, "number": name, "ties": ties}
        | {**row, "largest difference": f"{row['largest difference']:.1e}"}
        for (p, name, ties), row in rows.items()
    ]


def speed_rows(n):
    rng = np.random.default_rng(0)
    score = rng.beta(4, 1, n)
    y = rng.random(n) < score
    groups, other = rng.integers(0, n // 10, n), score + rng.normal(size=n)
    _confidence_ranking._N_POINTS = 200
    one, two = confidence_ranking(y, score), confidence_ranking(y, other)
    works = {
        "np.sort": lambda: np.sort(score),
        "np.sort(kind='stable')": lambda: np.sort(score, kind="stable"),
        "np.argsort": lambda: np.argsort(score),
        "roc_auc_score": lambda: roc_auc_score(y, score),
        "AUROC with interval": lambda: _auroc(
            _answers_by_level(y, score, None, None), 0.95
        ),
        "confidence_ranking": lambda: confidence_ranking(y, score),
        "confidence_ranking with groups": lambda: confidence_ranking(
            y, score, groups=groups
        ),
        "simultaneous band": lambda: simultaneous_band(one),
        "compare": lambda: one.compare(two),
    }
    times = best_times(works, 3)
    unit, other_unit = times["np.argsort"], times["np.sort(kind='stable')"]
    return [
        {
            "work": name,
            "answers": n,
            "seconds": f"{seconds:.4f}",
            "times np.argsort": f"{seconds / unit:.1f}",
            "times stable np.sort": f"{seconds / other_unit:.1f}",
        }
        for name, seconds in times.items()
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part, no CSV")
    if parser.parse_args().quick:
        globals().update(SIZES=(50,), TUNING_SIZES=(50,), GROUPED_SIZES=(50,))
        globals().update(SAMPLES=20, GROUPED=20, PAIRED=20, BANDS=20, BOOTSTRAPPED=5)
        rows = coverage_rows()
        tables = [summary_rows(rows), bootstrap_rows(), paired_rows(), band_rows()]
        for table in [*tables, peer_rows(), speed_rows(100_000)]:
            print_table(table)
        return
    note = versions("numpy", "scipy", "scikit-learn")
    write_csv("confidence_ranking_speed.csv", speed_rows(N_SPEED), note)
    write_csv("confidence_ranking_peers.csv", peer_rows(), note)
    write_csv("confidence_ranking_widths.csv", bootstrap_rows(), note)
    rows = coverage_rows()
    write_csv("confidence_ranking_cells.csv", rows, note)
    write_csv("confidence_ranking.csv", summary_rows(rows), note)
    write_csv("confidence_ranking_paired.csv", paired_rows(), note)
    write_csv("confidence_ranking_bands.csv", band_rows(), note)


QUICK = [
    {
        "set": {
            "SIZES": (50,),
            "TUNING_SIZES": (50,),
            "GROUPED_SIZES": (50,),
            "SAMPLES": 40,
            "GROUPED": 20,
            "PAIRED": 40,
            "BANDS": 20,
            "BOOTSTRAPPED": 10,
        },
        "files": {
            "confidence_ranking_speed.csv": {
                "keys": ["work", "answers"],
                "timed": ["seconds", "times np.argsort", "times stable np.sort"],
            },
            "confidence_ranking_peers.csv": {
                "keys": ["package", "number", "ties"],
                "within": {"largest difference": 1e-12},
                "free": ["compared with"],
            },
            "confidence_ranking_widths.csv": {
                "keys": ["distribution", "n", "share right", "interval"],
                "within": {"covered": 0.5, "width": 0.2},
                "free": ["samples"],
            },
            "confidence_ranking_cells.csv": {
                "keys": ["groups", "distribution", "n", "share right", "AUROC"],
                "within": {
                    "accuracy covered": 0.3,
                    "auroc covered": 0.3,
                    "aurc covered": 0.3,
                    "excess_aurc covered": 0.3,
                    "accuracy at 0.8 covered": 0.3,
                    "coverage at 0.9 covered": 0.3,
                    "DeLong covered": 0.4,
                    "AUROC width": 0.2,
                    "DeLong width": 0.2,
                    "AURC width": 0.2,
                },
                "free": ["samples"],
            },
            "confidence_ranking.csv": {
                "keys": ["groups", "part", "n", "number"],
                "free": ["cells", "mean", "least", "below 0.935"],
            },
            "confidence_ranking_paired.csv": {
                "keys": ["groups", "n", "share right", "AUROCs"],
                "within": {
                    "AUROC rejected": 0.3,
                    "AURC rejected": 0.3,
                    "DeLong rejected": 0.4,
                },
                "free": ["samples"],
            },
            "confidence_ranking_bands.csv": {
                "keys": ["groups", "distribution", "n", "share right"],
                "within": {
                    "pointwise: one coverage": 0.3,
                    "pointwise: all coverages": 0.4,
                    "simultaneous: all coverages": 0.3,
                    "pointwise width": 0.2,
                    "simultaneous width": 0.2,
                },
                "free": ["samples"],
            },
        },
    }
]


if __name__ == "__main__":
    main()
