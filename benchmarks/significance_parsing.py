"""Gain against p-value for two kinds of parsers (Berg-Kirkpatrick et al. 2012).

    pip install spacy
    SKCALIB_DATA=... python benchmarks/significance_parsing.py

Parsers of two kinds are trained on resamples of the training part of UD English EWT:
the log-linear model of arcs of trees.py, which predicts the most probable tree, and
spaCy's transition-based parser, as in parse_corpora.py, but with few parameters and
without a tagger. Both see the words and the universal tags of the treebank. All pairs
are compared on the 2,077 sentences of the test part, as in Figures 3 and 5 of the
paper, and on samples of these sentences. Labels are compared without subtypes.

Run time on one core: about ten minutes.
"""

from itertools import combinations

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from parse_corpora import PARSER, new_pipeline
from significance import draw_sizes, kind_of, pairs_by_kind, score, threshold_row
from spacy.tokens import Doc
from spacy.training import Example
from trees import LONGEST, Sentence, TreePosterior, features, scores_of
from trees import train as train_arcs

from skcalib.datasets import fetch_corpus
from skcalib.metrics import attachment_statistics
from skcalib.significance import compare_systems

# Sentences that each parser is trained on, so that the scores of both kinds overlap.
TRAINED_ON = {
    "graph": (4000, 3200, 2500, 2000, 1500),
    "transition": (1800, 1650, 1500, 1350, 1200),
}
N_EPOCHS = {"graph": 2, "transition": 3}
N_MODELS = 20
# 690 is the size of the test set in the paper
SIZES = (100, 250, 690, 1000, 2077)
REPEATS = 10
BATCH = 16
RATE = 0.002

CONFIG = f"""
[nlp]
lang = "en"
pipeline = ["parser"]

[components]

{PARSER}
[components.parser.model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[components.parser.model.tok2vec.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 64
attrs = ["NORM", "SUFFIX", "POS"]
rows = [2000, 1000, 50]
include_static_vectors = false

[components.parser.model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 64
depth = 2
window_size = 1
maxout_pieces = 3
"""


def load(subset):
    documents = fetch_corpus(
        "ud_english_ewt", subset=subset, download_if_missing=False
    ).documents
    return [s for d in documents for s in d.sentences if len(s)]


# Parsers: each function returns heads (from 0, root -1), and labels or None


def graph(train, test, seed):
    short = [Sentence(s) for s in train if len(s) <= LONGEST]
    weights = train_arcs(short, N_EPOCHS["graph"])
    arcs = (features(Sentence(s)) for s in test)
    trees = TreePosterior(scores_of(weights, arcs)).best_tree()
    return [tree - 1 for tree in trees], None


def as_doc(vocab, sentence, annotated=False):
    truth = {}
    if annotated:
        truth["heads"] = [h if h >= 0 else i for i, h in enumerate(sentence.head)]
        truth["deps"] = list(sentence.deprel)
    return Doc(vocab, list(sentence.form), pos=list(sentence.upos), **truth)


def transition(train, test, seed):
    nlp, rng = new_pipeline(CONFIG, seed)
    examples = [
        Example(as_doc(nlp.vocab, s), as_doc(nlp.vocab, s, annotated=True))
        for s in train
    ]
    optimizer = nlp.initialize(lambda: examples)
    n_epochs = N_EPOCHS["transition"]
    order = np.concatenate([rng.permutation(len(examples)) for _ in range(n_epochs)])
    starts = range(0, len(order), BATCH)
    for step, start in enumerate(starts):
        optimizer.learn_rate = RATE * min((step + 1) / 50, 1) * (1 - step / len(starts))
        batch = [examples[i] for i in order[start : start + BATCH]]
        nlp.update(batch, sgd=optimizer, drop=0.1)
    docs = list(nlp.pipe(as_doc(nlp.vocab, s) for s in test))
    # a root is its own head in spaCy
    heads = [[-1 if w.head.i == w.i else w.head.i for w in doc] for doc in docs]
    return heads, [[w.dep_.lower() for w in doc] for doc in docs]


MODELS = {"graph": graph, "transition": transition}


def without_subtypes(labels):
    return [[label.split(":")[0] for label in each] for each in labels]


def trained(train, test):
    """Return the statistics of the systems for UAS and for LAS, and a table."""
    heads = [s.head for s in test]
    labels = without_subtypes(s.deprel for s in test)
    words = [s.form for s in test]
    uas, las, rows = {}, {}, []
    for k in range(N_MODELS):
        for number, model in enumerate(MODELS):
            size = TRAINED_ON[model][k % len(TRAINED_ON[model])]
            seed = 1000 * number + k  # no two systems on the same resample
            drawn = np.random.default_rng(seed).integers(len(train), size=size)
            found, found_labels = MODELS[model]([train[i] for i in drawn], test, seed)
            name = f"{model} {k}"
            uas[name] = attachment_statistics(heads, found)
            scored = attachment_statistics(heads, found, words=words)
            row = {
                "system": name,
                "sentences": size,
                "UAS": f"{score(uas[name]):.4f}",
                "UAS without punctuation": f"{score(scored):.4f}",
                "LAS": "",
            }
            if found_labels is not None:
                las[name] = attachment_statistics(
                    heads,
                    found,
                    labels_true=labels,
                    labels_pred=without_subtypes(found_labels),
                )
                row["LAS"] = f"{score(las[name]):.4f}"
            rows.append(row)
    rows.sort(key=lambda row: row["system"].split()[0])
    systems = {row["system"]: uas[row["system"]] for row in rows}
    return systems, las, rows


# Comparisons


def kinds_of_pairs(uas, las):
    """Yield each kind of pairs with its statistics and its pairs."""
    for kind, pairs in pairs_by_kind(uas):
        yield f"UAS, {kind}", uas, pairs
    for model in MODELS:
        own = [name for name in uas if name.startswith(model)]
        yield f"UAS, {model}", uas, list(combinations(own, 2))
    yield "LAS, transition", las, list(combinations(las, 2))


def standard_error(a, b):
    """Return the standard error of the gain, from independent sentences."""
    gain, n = (a[:, 0] - b[:, 0]).sum() / a[:, 1].sum(), a[:, 1].sum()
    return np.sqrt(((a[:, 0] - b[:, 0] - gain * a[:, 1]) ** 2).sum()) / n


def summary_rows(uas, las):
    """Return what the gains of each kind of pairs need to be significant."""
    rows = []
    for kind, systems, pairs in kinds_of_pairs(uas, las):
        comparison = compare_systems(systems, statistic="ratio")
        place = {pair: k for k, pair in enumerate(comparison.pairs)}
        own = [place[pair] for pair in pairs]
        p, gain = comparison.pvalue[own], 100 * np.abs(comparison.gain[own])
        errors = [standard_error(systems[a], systems[b]) for a, b in pairs]
        row = {
            "pairs": kind,
            "number": len(pairs),
            "p below .05": int((p < 0.05).sum()),
            "p (Holm) below .05": int((comparison.pvalue_adjusted[own] < 0.05).sum()),
            "median gain": f"{np.median(gain):.3f}",
            "standard error": f"{100 * np.mean(errors):.3f}",
            "smallest gain with p below .05": "",
            "largest gain with p above .05": "",
        }
        if (p < 0.05).any():
            row["smallest gain with p below .05"] = f"{gain[p < 0.05].min():.3f}"
        if (p > 0.05).any():
            row["largest gain with p above .05"] = f"{gain[p > 0.05].max():.3f}"
        rows.append(row)
    return rows


def size_rows(uas, las):
    """Return thresholds by kind of pairs and size of the test set."""
    rows = []
    n_test = len(next(iter(uas.values())))
    for kind, systems, pairs in kinds_of_pairs(uas, las):
        for size in SIZES:
            # larger subsamples differ less, and have more borderline pairs
            repeats = max(1, min(REPEATS, n_test // size))
            found = threshold_row(systems, pairs, size, "ratio", repeats)
            rows.append({"pairs": kind, "sentences": size, **found})
    return rows


def draw(uas, rows):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    comparison = compare_systems(uas, statistic="ratio")
    kind = list(map(kind_of, comparison.pairs))
    title = f"UD EWT test part, {comparison.n_items} sentences"
    _study.draw_pairs(axes[0], comparison, kind, "UAS, points", title, scale=100)
    draw_sizes(axes[1], rows, "threshold, points of UAS", "UAS, ")
    _study.save(figure, "significance_parsing.png")


def main():
    uas, las, systems = trained(load("train"), load("test"))
    tables = {
        "significance_parsing_systems.csv": systems,
        "significance_parsing.csv": summary_rows(uas, las),
        "significance_parsing_sizes.csv": size_rows(uas, las),
    }
    for name, rows in tables.items():
        print_table(rows)
        write_csv(name, rows, versions("numpy", "scipy", "spacy"))
    draw(uas, tables["significance_parsing_sizes.csv"])


if __name__ == "__main__":
    main()
