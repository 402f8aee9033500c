"""Word alignment: AER and p-values of resampled aligners.

    SKCALIB_DATA=... python benchmarks/word_alignment.py

The texts are two translations of the New Testament in the public domain, the King James
Version in English and Reina-Valera 1909 in Spanish. They are in the Debian packages
sword-text-kjv and sword-text-sparv, which install them in /usr/share/sword. Make this
folder, or a link to it, available as "sword" in the data home. In both texts, words
carry the numbers of the Greek words that they translate (Strong's numbers), so that
links of words are known. A link is possible if both words have a number in common. It
is sure if both are the only words of their verses with this number. Links of words
without a number are not counted, because nothing is known about them.

Figure 7 of Berg-Kirkpatrick et al. (2012): IBM Model 1, a hidden Markov model, and
hidden Markov models in both directions are trained on resamples of 6,955 verses and of
fewer. Gain in AER against confidence on the other 1,000 verses, for all pairs.
The script writes tables and a figure in about eight minutes on one core.
"""

import os
import re
import struct
import time
import zlib
from collections import Counter
from itertools import product
from pathlib import Path

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv

from skcalib.metrics import alignment_statistics
from skcalib.posteriors import LinearChainPosterior
from skcalib.significance import compare_systems
from skcalib.significance import test_size_curve as size_curve

TEXTS = {"en": "engKJV2006eb", "es": "spaRV1909eb"}
TOKEN = re.compile(r"(<w [^>]*>)|(</w>)|<[^>]*>|([^\W_]+(?:['’-][^\W_]+)*)")
NOTE = re.compile(r"<note.*?</note>|<title.*?</title>", re.DOTALL)
N_TEST, N_SYSTEMS, N_ITERATIONS = 1000, 16, 5
SMOOTHING, P_NULL = 0.001, 0.2
MODELS = ("Model 1", "HMM", "HMM, both")
KINDS = ("same model", "HMM and HMM, both", "Model 1 and HMM")
# The posterior probabilities of both directions, multiplied, of a predicted link.
LEAST_PRODUCT = 0.25
SIZES = (100, 250, 500, 1000)
# Each system is trained on this share of the verses of the system before, so that the
# error rates of the models overlap.
SHARE = {"Model 1": 0.88, "HMM": 0.75, "HMM, both": 0.75}


# Texts


def read_verses(module):
    """Return the New Testament of a SWORD module of type zText, by verse."""
    home = Path(os.environ.get("SKCALIB_DATA", "~/skcalib_data")).expanduser()
    base = home / "sword" / "modules" / "texts" / "ztext" / module
    blocks, packed, places = (
        (base / f"nt.{ending}").read_bytes() for ending in ("bzs", "bzz", "bzv")
    )
    books = [
        zlib.decompress(packed[start : start + size])
        for start, size, _ in struct.iter_unpack("<III", blocks)
    ]
    return [
        books[book][start : start + size].decode() if size else ""
        for book, start, size in struct.iter_unpack("<IIH", places)
    ]


def read_words(verse):
    """Return the words of a verse and the numbers of each, () if it has none."""
    numbers, words, found = (), [], []
    for opened, closed, word in TOKEN.findall(NOTE.sub(" ", verse)):
        if opened or closed:
            numbers = tuple(re.findall(r"strong:(\w+)", opened))
        elif word:
            words.append(word.lower())
            found.append(numbers)
    return words, found


def links_of(source, target):
    """Return sure links and possible links, from the numbers of the words."""
    count = [Counter(x for each in side for x in each) for side in (source, target)]
    sure, possible = set(), set()
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            if shared := set(one) & set(other):
                possible.add((i, j))
                if any(count[0][x] == count[1][x] == 1 for x in shared):
                    sure.add((i, j))
    return sure, possible


class Corpus:
    """Verses with words on both sides, shuffled: words, numbers and gold links."""

    def __init__(self):
        verses = [
            tuple(map(read_words, pair))
            for pair in zip(*map(read_verses, TEXTS.values()), strict=True)
        ]
        verses = [(a, b) for a, b in verses if a[0] and b[0]]
        order = np.random.default_rng(0).permutation(len(verses))
        verses = [verses[k] for k in order]
        self.words = {
            side: [verse[k][0] for verse in verses] for k, side in enumerate(TEXTS)
        }
        self.known = [
            tuple(np.array([bool(x) for x in side[1]]) for side in verse)
            for verse in verses
        ]
        links = [links_of(a[1], b[1]) for a, b in verses]
        self.sure, self.possible = map(list, zip(*links, strict=True))

    def __len__(self):
        return len(self.sure)


class Direction:
    """Pairs of words of each verse, to align each target word with a source word.

    `pairs` contains a number for each pair of words, with one row per target word. The
    first column is for the empty word, to which words without a translation belong.
    """

    def __init__(self, source, target):
        sides, ids = {"source": source, "target": target}, {}
        for name, verses in sides.items():
            number = {}
            ids[name] = [
                np.array([number.setdefault(word, len(number) + 1) for word in verse])
                for verse in verses
            ]
            if name == "target":
                self.n_words = len(number)
        codes = [
            np.concatenate([[0], s]) + t[:, np.newaxis] * 2**32
            for s, t in zip(ids["source"], ids["target"], strict=True)
        ]
        flat, place = np.unique(
            np.concatenate([each.ravel() for each in codes]), return_inverse=True
        )
        self.source_of = flat % 2**32  # of each pair
        ends = np.cumsum([each.size for each in codes])[:-1]
        self.pairs = [
            part.reshape(each.shape)
            for part, each in zip(np.split(place, ends), codes, strict=True)
        ]

    def batches(self, verses):
        """Return the pairs of verses by length of the source: rows and lengths."""
        by_length = {}
        for k in verses:
            by_length.setdefault(self.pairs[k].shape[1], []).append(self.pairs[k])
        return [
            (np.concatenate(some), np.array([len(each) for each in some]))
            for some in by_length.values()
        ]


# Models


class Aligner:
    """IBM Model 1, then a hidden Markov model if there are jumps."""

    def __init__(self, direction, use_jumps):
        self.direction = direction
        self.use_jumps = use_jumps
        self.proba = np.full(direction.source_of.size, 1 / direction.n_words)
        self.jumps = None  # weights of -200 to 200 words

    def posterior(self, pairs, lengths):
        """Return the posterior over source words, 0 is the empty word."""
        n = pairs.shape[1] - 1
        emission = np.log(self.proba[pairs])
        if self.jumps is None:
            return LinearChainPosterior(emission, lengths=lengths)
        at = np.arange(n)
        weights = self.jumps[200 + at - np.arange(-1, n)[:, np.newaxis]]
        # the row of the empty word does not know the position of the last word
        rows = np.vstack([np.ones(n), weights])
        rows *= (1 - P_NULL) / rows.sum(axis=1, keepdims=True)
        moves = np.log(np.column_stack([np.full(n + 2, P_NULL), rows]))
        return LinearChainPosterior(
            emission, np.delete(moves, 1, axis=0), moves[1], lengths=lengths
        )

    def fit(self, verses):
        batches = self.direction.batches(verses)
        for step in range(N_ITERATIONS * (1 + self.use_jumps)):
            counts, jumps = np.zeros(self.proba.size), np.full(401, 0.5)
            for pairs, lengths in batches:
                posterior = self.posterior(pairs, lengths)
                marginals = np.concatenate(posterior.token_marginals())
                counts += np.bincount(pairs.ravel(), marginals.ravel(), counts.size)
                if step >= N_ITERATIONS - 1 and self.use_jumps:
                    moved = posterior.expected_transitions()[1:, 1:]
                    at = np.arange(len(moved))
                    widths = (200 + at - at[:, np.newaxis]).ravel()
                    jumps += np.bincount(widths, moved.ravel(), jumps.size)
            source = self.direction.source_of
            total = np.bincount(source, counts) + SMOOTHING * self.direction.n_words
            self.proba = (counts + SMOOTHING) / total[source]
            if step >= N_ITERATIONS - 1 and self.use_jumps:
                self.jumps = jumps / jumps.sum()
        return self

    def marginals(self, verses):
        """Return an array (n_target, n_source + 1) per verse."""
        pairs = [self.direction.pairs[k] for k in verses]
        return [self.posterior(x, [len(x)]).token_marginals()[0] for x in pairs]


def best_links(marginals):
    """Return the most probable source word of each target word, if it is not empty."""
    return [
        {(int(i) - 1, j) for j, i in enumerate(each.argmax(axis=1)) if i}
        for each in marginals
    ]


def links_of_both(forward, backward):
    """Return the links that are probable in both directions (Liang et al., 2006)."""
    return [
        set(map(tuple, np.argwhere(a[:, 1:].T * b[:, 1:] > LEAST_PRODUCT).tolist()))
        for a, b in zip(forward, backward, strict=True)
    ]


def predict(model, directions, train, test):
    """Train a model and return the links of the test verses."""
    found = [
        Aligner(each, model != "Model 1").fit(train).marginals(test)
        for each in directions[: 1 + (model == "HMM, both")]
    ]
    return links_of_both(*found) if len(found) == 2 else best_links(*found)


def count(corpus, test, links):
    """Return the statistics of links between words with numbers."""
    known = [corpus.known[k] for k in test]
    links = [
        {(i, j) for i, j in each if source[i] and target[j]}
        for each, (source, target) in zip(links, known, strict=True)
    ]
    gold = ([links[k] for k in test] for links in (corpus.sure, corpus.possible))
    return alignment_statistics(*gold, links)


def error_rate(statistics):
    found, total = statistics.sum(axis=0)
    return 100 * (1 - found / total)


def train_all(corpus, directions, test, train):
    """Return the statistics of each system by name, and a row about each."""
    systems, rows = {}, []
    start = time.perf_counter()
    for model, k in product(MODELS, range(N_SYSTEMS)):
        seed = 100 * MODELS.index(model) + k  # no two systems on the same resample
        size = round(len(train) * SHARE[model] ** k)
        drawn = np.random.default_rng(seed).choice(train, size)
        links = predict(model, directions, drawn, test)
        name = f"{model} {k}"
        systems[name] = count(corpus, test, links)
        rows.append(
            {
                "system": name,
                "model": model,
                "trained on": size,
                "links": sum(map(len, links)),
                "AER": f"{error_rate(systems[name]):.3f}",
            }
        )
        spent = time.perf_counter() - start
        print(f"{name}: {rows[-1]['AER']}, {spent:.0f} s", flush=True)
    return systems, rows


# Significance


def model_of(system):
    return system.rpartition(" ")[0]


def kind_of(a, b):
    if model_of(a) == model_of(b):
        return "same model"
    if "Model 1" in (model_of(a), model_of(b)):
        return "Model 1 and HMM"
    return "HMM and HMM, both"


def threshold_rows(systems):
    """Return the threshold of AER by kind of pairs and size of the test set."""
    names = list(systems)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    rows = []
    for kind in KINDS:
        some = [(a, b) for a, b in pairs if kind == kind_of(a, b)]
        for size in SIZES:
            curve = size_curve(
                systems,
                sizes=[size],
                statistic="ratio",
                pairs=some,
                n_repeats=max(1, min(10, len(systems[names[0]]) // size)),
                random_state=size,
            )
            threshold = curve.threshold[0]
            rows.append(
                {
                    "pairs": kind,
                    "verses": size,
                    "number of pairs": len(some),
                    "threshold": "" if threshold is None else f"{100 * threshold:.2f}",
                    "borderline pairs": int(curve.n_borderline[0]),
                    "p below .05": f"{curve.power[0]:.3f}",
                    "samples": curve.n_repeats,
                }
            )
            print(f"{kind}, {size} verses: {rows[-1]['threshold']}", flush=True)
    return rows


def draw(systems):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for ax, size in zip(axes, (SIZES[0], SIZES[-1]), strict=True):
        some = {name: rows[:size] for name, rows in systems.items()}
        comparison = compare_systems(some, statistic="ratio", random_state=0)
        kind = [kind_of(*pair) for pair in comparison.pairs]
        title = f"Word alignment, {size} verses"
        _study.draw_pairs(ax, comparison, kind, "AER, points", title, 3, 100)
    _study.save(figure, "word_alignment.png")


def main():
    start = time.perf_counter()
    corpus = Corpus()
    directions = [
        Direction(corpus.words["en"], corpus.words["es"]),
        Direction(corpus.words["es"], corpus.words["en"]),
    ]
    test, train = np.arange(N_TEST), np.arange(N_TEST, len(corpus))
    print(f"read {len(corpus)} verses in {time.perf_counter() - start:.0f} s")
    systems, trained = train_all(corpus, directions, test, train)
    sizes = threshold_rows(systems)
    seconds = time.perf_counter() - start
    links = [sum(len(each[k]) for k in test) for each in (corpus.sure, corpus.possible)]
    note = f"{links[0]} sure and {links[1]} possible links; {seconds:.0f} s; "
    note += versions("skcalib", "numpy")
    for name, rows in (("systems", trained), ("sizes", sizes)):
        print_table(rows)
        write_csv(f"word_alignment_{name}.csv", rows, note)
    draw(systems)


if __name__ == "__main__":
    main()
