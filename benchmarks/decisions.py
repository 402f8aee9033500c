"""Does calibration help to decide?

    SKCALIB_DATA=... python benchmarks/decisions.py [--cache FOLDER]

Nguyen and O'Connor (2015) ask in their conclusion whether calibrated probabilities help
decisions that rely on expectations, such as minimum Bayes risk (MBR) decoding. The best
structure as a whole does not change with the temperature; the decisions by marginals
do. Measured here: the accuracy of tags (tweets, web text), the F1 of names in tweets,
and the CoNLL F1 of coreference (GUM, LitBank), with the paired bootstrap over sentences
or documents. Ten minutes of one core.

All temperatures are fitted on the development parts. Models are those of tagging.py and
entities.py.
"""

import functools

import _study
import entities
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Memory
from tagging import chosen_model, load

from skcalib import AntecedentRanker, TemperatureScaling
from skcalib.coref import AntecedentFeatures, coref_f1, coref_statistics
from skcalib.datasets import fetch_corpus
from skcalib.metrics import accuracy_statistics, span_statistics
from skcalib.queries import SpanQuery
from skcalib.queries._query import last_step, transform_before
from skcalib.significance import paired_bootstrap_test

TAGGERS = (
    "HMM, untuned",
    "HMM, by likelihood",
    "CRF basic, untuned",
    "CRF basic, unregularised",
    "CRF advanced, unregularised",
    "CRF advanced, by likelihood",
)
NAMERS = (
    "HMM, pseudocount 1",
    "HMM, pseudocount 0.01",
    "CRF basic, c2 = 0.03",
    "CRF advanced, c2 = 0.1",
    "CRF advanced, c2 = 0",
)
LONGEST_NAME = 6  # tokens
RANKERS = {"by CoNLL F1": "softmax_margin", "by likelihood": "log"}
CORPORA = {
    "litbank": (functools.partial(fetch_corpus, "litbank"), 1),
    "gum": (functools.partial(fetch_corpus, "gum"), 4),
}  # and training step
RANKED = (
    ("litbank", "by likelihood"),
    ("gum", "by likelihood"),
    ("litbank", "by CoNLL F1"),
)
N_ITERATIONS = 60  # of rankers


def scaled(model, dev):
    return TemperatureScaling(model, cv="prefit").fit(*dev)


def posterior_tags(model, X):
    """Return the most probable tag of each token."""
    best = last_step(model).posterior(transform_before(model, X)).posterior_decode()
    classes = np.asarray(model.classes_)
    return [classes[path].tolist() for path in best]


def tags(corpus, role, fit):
    train, dev, test = load(corpus)
    model = fit(corpus, role)
    after = scaled(model, dev)
    X, y = test
    taggings = {
        "best structure": [list(each) for each in model.predict(X)],
        "marginals": posterior_tags(model, X),
        "marginals, tempered": posterior_tags(after, X),
    }
    systems = {name: accuracy_statistics(y, each) for name, each in taggings.items()}
    return rows_of("tags", corpus, role, after, systems, "ratio")


# Names


def probable_spans(model, X, y):
    """Return the spans that are asked for, and the number of true ones by sentence."""
    answers = SpanQuery(spans="all", max_length=LONGEST_NAME)(model, X, y)
    outside = [["O"] * len(tags) for tags in y]
    return answers, span_statistics(y, outside)[:, 2]


def counts_above(answers, n_true, threshold):
    """Return the numbers of correct, predicted and true names in each sentence."""
    chosen = answers.y_proba > threshold
    rows = answers.groups[chosen]
    n = len(n_true)
    correct = np.bincount(rows, answers.y_true[chosen], n).astype(int)
    return np.column_stack([correct, np.bincount(rows, minlength=n), n_true])


def best_threshold(answers):
    """Return the threshold with the largest F1 that the model expects.

    Spans above 1/2 never overlap; spans above a smaller threshold may.
    """
    q = np.sort(answers.y_proba)[::-1]
    expected = 2 * np.cumsum(q) / (np.arange(1, q.size + 1) + q.sum())
    return min(float(q[np.argmax(expected)]) * (1 - 1e-12), 0.5)


def names(role, fit, parts):
    """Return the rows of one tagger: tags by marginals, and names by probability."""
    model = fit(role)
    after = scaled(model, parts["dev"])
    X, y = parts["same sections"]
    by_tags = {
        "best structure": [list(each) for each in model.predict(X)],
        "marginals": posterior_tags(model, X),
        "marginals, tempered": posterior_tags(after, X),
    }
    systems = {name: span_statistics(y, each) for name, each in by_tags.items()}
    rows = rows_of("names, by tags", "btc", role, after, systems, "f1")
    systems = {"best structure": systems["best structure"]}
    expected = dict(systems)
    for suffix, each in (("", model), (", tempered", after)):
        answers, n_true = probable_spans(each, X, y)
        systems["marginals" + suffix] = counts_above(answers, n_true, 0.5)
        threshold = best_threshold(answers)
        expected["marginals" + suffix] = counts_above(answers, n_true, threshold)
    rows += rows_of("names, above 1/2", "btc", role, after, systems, "f1")
    return rows + rows_of("names, expected F1", "btc", role, after, expected, "f1")


# Coreference


def ranked(corpus, loss):
    """Return a ranker, and its features of the development and test parts."""
    fetch, step = CORPORA[corpus]
    features = AntecedentFeatures()
    parts = {}
    for part in ("train", "dev", "test"):
        found = fetch(subset=part)
        some = slice(None, None, step if part == "train" else 1)
        parts[part] = features.transform(found.data[some]), found.target[some]
    ranker = AntecedentRanker(0.3, loss=loss, max_iter=N_ITERATIONS, tol=1e-6)
    ranker.fit(*parts["train"])
    after = scaled(ranker, parts["dev"])
    X, y = parts["test"]
    return y, ranker.posterior(X), after.posterior(X), after.temperature_


def coreference(corpus, role, rank):
    y, before, after, temperature = rank(corpus, RANKERS[role])
    clusterings = {
        "best structure": before.map_clusters(),
        "best structure, tempered": after.map_clusters(),
        "marginals": before.mbr_clusters(),
        "marginals, tempered": after.mbr_clusters(),
    }
    rows = []
    for metric in ("conll", "pairwise"):
        systems = {
            name: coref_statistics(y, each, metric=metric)
            for name, each in clusterings.items()
        }
        task = f"coreference, {metric}"
        rows += rows_of(task, corpus, role, temperature, systems, coref_f1)
    return rows


# Rows

PAIRS = (
    ("marginals", "best structure"),
    ("marginals, tempered", "marginals"),
    ("marginals, tempered", "best structure"),
    ("best structure, tempered", "best structure"),
)


def rows_of(task, corpus, role, temperature, systems, statistic):
    """Return a row with the scores and the tests of some decodings."""
    temperature = getattr(temperature, "temperature_", temperature)
    row = {
        "task": task,
        "corpus": corpus,
        "model": role,
        "items": len(systems["marginals"]),
        "temperature": f"{temperature:.2f}",
    }
    for name in (*dict.fromkeys(a for pair in PAIRS for a in pair[::-1]),):
        row[name] = ""
    for a, b in PAIRS:
        title = f"{a} - {b}"
        row |= {f"{title}{end}": "" for end in ("", ": low", ": high", ": p")}
        if a not in systems:
            continue
        found = paired_bootstrap_test(
            systems[a], systems[b], statistic=statistic, random_state=0
        )
        low, high = found.confidence_interval
        row[a] = f"{100 * found.score_a:.2f}"
        row[b] = f"{100 * found.score_b:.2f}"
        row[title] = f"{100 * found.statistic:+.2f}"
        row[f"{title}: low"] = f"{100 * low:+.2f}"
        row[f"{title}: high"] = f"{100 * high:+.2f}"
        row[f"{title}: p"] = f"{found.pvalue:.2g}"
    return [row]


def decoding(fit, rank):
    rows = []
    for corpus in ("ark", "ewt"):
        for role in TAGGERS:
            rows += tags(corpus, role, fit)
    for corpus, role in RANKED:
        rows += coreference(corpus, role, rank)
    parts = entities.load()
    for role in NAMERS:
        rows += names(
            role, lambda role: entities.MODELS[role].fit(*parts["train"]), parts
        )
    print_table(rows)
    note = (
        "scores and gains in points of 100; paired bootstrap, items are sentences or "
        "documents, 95% intervals; "
        + versions("numpy", "scipy", "scikit-learn", "sklearn-crfsuite")
    )
    write_csv("decoding.csv", rows, note)


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--cache", help="folder to keep models in")
    memory = Memory(parser.parse_args().cache, verbose=0)
    decoding(memory.cache(chosen_model), memory.cache(ranked))


if __name__ == "__main__":
    main()
