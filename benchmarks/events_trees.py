"""Counts of events with sampled parses and clusterings: which source moves them more?

    SKCALIB_DATA=... python benchmarks/events_trees.py [--part gum muc3]

Parses are sampled from the parser of `trees.py`, which is trained on 5,000 sentences of
UD English EWT, at the temperature fitted on EWT's dev part. Only heads are sampled:
tags and dependency labels are those of the data. Clusterings come from the ranker of
`events.py`, with 100 samples per document. The variance of each count is split into
parser, coreference and interaction, corrected for the finite numbers of samples.

- `gum`: GUM's dev and test documents with gold mentions, tags and labels. Counted are
  the entities of a country that are the subject of a verb, with gold parses, with the
  best trees of the parser, and with 50 sampled trees.
- `muc3`: reports by quarter, violent verbs, actors and countries, 20 trees.

The rows of a part replace those of the same corpus.
"""

import _study
import matplotlib.pyplot as plt
import numpy as np
import trees
from _common import print_table, read_csv, versions, write_csv
from events import ACTORS, LEAST, VIOLENT, gum, scored, timed, train
from joblib import Memory

from skcalib import TemperatureScaling
from skcalib.datasets import fetch_corpus
from skcalib.events import CountryLexicon, EventCounter, EventRule
from skcalib.experimental import TreePosterior

N_SAMPLES = 100
N_TREES = {"gum": 50, "muc3": 20}
QUESTIONS = {
    who: EventRule(VIOLENT, lexicon=lexicon, lowercase=True)
    for who, lexicon in (("actors", ACTORS), ("countries", CountryLexicon()))
}
PARTS = ("parser", "coreference", "interaction")
COLORS = ("#0072b2", "#e69f00", "#999999")


# Parses


def train_parser():
    """Return weights of arcs, and a temperature."""
    sentences = trees.load("train", 5000)
    kept = [s for s in sentences if s.heads.size <= trees.LONGEST]
    weights = trees.train(kept, 3)
    dev = trees.load("dev")
    scores = trees.scores_of(weights, map(trees.features, dev))
    model = TemperatureScaling(trees.Parser(), cv="prefit")
    return weights, model.fit(scores, [s.heads for s in dev]).temperature_


def parses(documents, parser, n_trees):
    """Return the best parse of each document, and sampled parses."""
    weights, temperature = parser
    found = []
    for i, document in enumerate(documents):
        own = [trees.Sentence(sentence) for sentence in document.sentences]
        posterior = TreePosterior(trees.scores_of(weights, map(trees.features, own)))
        samples = posterior.tempered(temperature).sample(n_trees, random_state=i)
        best = posterior.best_tree()
        found.append((best, [list(parse) for parse in zip(*samples, strict=True)]))
    return found


def of_parses(counter, documents, posterior, found):
    """Return counts with the parses of the data, the best trees and sampled trees."""
    best, samples = [[each] for each, _ in found], [each for _, each in found]
    given = (None, best, samples)
    return [counter.count(documents, posterior, each) for each in given]


# The parts of the variance


def parts_of(counts, n_trees):
    """Return the parts of each variance by the method of moments."""
    parser, coreference, interaction = (
        counts.variance_components()[name] for name in PARTS
    )
    trees_left, samples_left = n_trees / (n_trees - 1), N_SAMPLES / (N_SAMPLES - 1)
    interaction = interaction * trees_left * samples_left
    parser = parser * trees_left - interaction / N_SAMPLES
    coreference = coreference * samples_left - interaction / n_trees
    return np.array([parser, coreference, interaction])


def split_row(corpus, who, own, best, counts, n_trees):
    """Return how the variance of counts is split, for cells that are not near 0.

    own, best : counts with the parses of the data, and with the best trees.
    """
    others = [at_cells(counts, each, each.mean) for each in (own, best)]
    some = np.max([counts.mean, *others], axis=0) > LEAST
    parts = parts_of(counts, n_trees)[:, some]
    gap = np.abs(others[0] - others[1])[some]
    sd = np.sqrt(np.maximum(parts, 0)).mean(axis=1)
    share = 100 * parts.sum(axis=1) / parts.sum()
    return {
        "corpus": corpus,
        "who": who,
        "trees": n_trees,
        "cells": int(some.sum()),
        "mean, parse of the data": f"{others[0][some].mean():.2f}",
        "mean, best trees": f"{others[1][some].mean():.2f}",
        "mean, sampled trees": f"{counts.mean[some].mean():.2f}",
        "mean difference of both parses": f"{gap.mean():.2f}",
        "sd, parse of the data": f"{at_cells(counts, own, own.sd)[some].mean():.2f}",
        "sd": f"{np.sqrt(parts.sum(axis=0)).mean():.2f}",
        **{f"sd of {name}": f"{sd[k]:.2f}" for k, name in enumerate(PARTS)},
        **{f"{name}, %": f"{share[k]:.1f}" for k, name in enumerate(PARTS)},
    }


def at_cells(counts, others, values):
    """Return values of other counts in the order of the cells of counts."""
    keys = zip(others.period, others.country, strict=True)
    found = dict(zip(keys, values, strict=True))
    cells = zip(counts.period, counts.country, strict=True)
    return np.array([found.get(cell, 0.0) for cell in cells])


# MUC-3


def muc3(fit, fit_parser):
    model = fit(lowercase=True, mentions="parse")
    reports = fetch_corpus("muc3", subset="all", parsed=True, mentions=True).data
    reports = [
        report
        for report in reports
        if report.date and any(rule.may_match(report) for rule in QUESTIONS.values())
    ]
    posterior = scored(model, reports, QUESTIONS.values())
    n_trees = N_TREES["muc3"]
    with timed(f"{n_trees} trees of the sentences of {len(reports)} reports"):
        found = parses(reports, fit_parser(), n_trees)
    rows, shown = [], {}
    for who, rule in QUESTIONS.items():
        with timed(who):
            counter = EventCounter(rule, method="sample", random_state=0)
            results = of_parses(counter, reports, posterior, found)
        rows.append(split_row("MUC-3", who, *results, n_trees))
        shown[who] = results[-1]
    draw(shown["actors"], n_trees)
    return rows


def draw(counts, n_trees):
    """Draw the parts of the variance of the quarterly counts of each actor."""
    parts = parts_of(counts, n_trees).reshape(3, len(counts.periods), -1).mean(axis=1)
    mean = counts.mean.reshape(len(counts.periods), -1).mean(axis=0)
    order = [k for k in np.argsort(parts.sum(axis=0)) if mean[k] > LEAST]
    figure, ax = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    left = np.zeros(len(order))
    for name, part, color in zip(PARTS, parts, COLORS, strict=True):
        width = np.maximum(part[order], 0)
        ax.barh(range(len(order)), width, left=left, color=color, label=name)
        left += width
    names = [f"{counts.countries[k]} (mean {mean[k]:.1f})" for k in order]
    ax.set_yticks(range(len(order)), names)
    ax.set_xlabel("variance of the number of reports per quarter, mean over quarters")
    ax.legend(loc="lower right", frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    _study.save(figure, "events_trees.png", 110)


# GUM


def gum_parses(fit, fit_parser):
    model = fit(lowercase=False, mentions="gold")
    rule, documents = EventRule(None), []
    for part in ("dev", "test"):
        documents += gum(part, lowercase=False, mentions="gold")[0]
    posterior = scored(model, documents, [rule])
    n_trees = N_TREES["gum"]
    with timed(f"{n_trees} trees of the sentences of {len(documents)} documents"):
        found = parses(documents, fit_parser(), n_trees)
    counter = EventCounter(
        rule, freq=None, unit="entities", method="sample", random_state=0
    )
    with timed("all documents"):
        results = of_parses(counter, documents, posterior, found)
    return [split_row("GUM", "countries", *results, n_trees)]


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--part", nargs="+", choices=["gum", "muc3"])
    parser.add_argument("--cache", help="folder that keeps trained models")
    options = parser.parse_args()
    memory = Memory(options.cache, verbose=0)
    fits = memory.cache(train), memory.cache(train_parser)
    for part in options.part or ["gum", "muc3"]:
        with timed(part):
            rows = gum_parses(*fits) if part == "gum" else muc3(*fits)
        print_table(rows)
        _, old = read_csv("events_trees.csv")
        old = [row for row in old if row["corpus"] != rows[0]["corpus"]]
        rows = sorted(old + rows, key=lambda row: (row["corpus"], row["who"]))
        note = versions("numpy", "scipy", "skcalib")
        write_csv("events_trees.csv", rows, note, keeps_rows=bool(old))


if __name__ == "__main__":
    main()
