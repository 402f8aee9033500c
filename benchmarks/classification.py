"""Naive Bayes against logistic regression on messages with and without a smiley.

    SKCALIB_DATA=... python benchmarks/classification.py [--subset all] [--draws 3]

Section 4.1 of Nguyen and O'Connor (2015) on the messages that are available. The
features are binary unigrams. The smoothing or C of each model is chosen inside each
training fold, by F1 as in the paper, and by log likelihood. Probabilities are computed
by cross-validation. Writes the table and the figure. --draws: number of random draws of
the messages without a smiley, for the variation over draws. The main table is for the
first draw.
"""

import time

import _study
import numpy as np
from _common import RESULTS, low_text, p_text, print_table, versions, write_csv
from joblib import Parallel, delayed
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from skcalib import ReliabilityDisplay, calibration_error, calibration_error_interval
from skcalib.datasets import fetch_emoticon_tweets
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
N_FOLDS = 10

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


def load(subset, seed, n_most):
    """Return messages and labels, the first of each where `n_most` limits them."""
    texts, y = fetch_emoticon_tweets(
        subset=subset, random_state=seed, return_X_y=True, download_if_missing=False
    )
    texts = np.array(texts, dtype=object)
    if n_most is not None:
        each = [np.flatnonzero(y == label)[: n_most // 2] for label in (0, 1)]
        kept = np.sort(np.concatenate(each))
        texts, y = texts[kept], y[kept]
    return texts, y


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


def run(subset, n_draws, parallel, n_most=None):
    """Return labels, probabilities and settings of each model on each draw."""
    data = [load(subset, seed, n_most) for seed in range(n_draws)]
    keys = [(m, s) for m in MODELS for s in SCORINGS]
    cases = [(key, texts, y) for texts, y in data for key in keys]
    found = parallel(delayed(out_of_fold)(*key, texts, y) for key, texts, y in cases)
    draws = {key: [] for key in keys}
    for (key, _, y), (proba, chosen) in zip(cases, found, strict=True):
        draws[key].append((y, proba, chosen))
    return draws


def draw_figure(draws, path):
    """Draw the paper's two models side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10.4, 6.2), layout="constrained")
    for ax, model in zip(axes, PAPER, strict=True):
        y, proba, _ = draws[model, "F1"][0]
        bin_size = len(y) // N_BINS
        display = ReliabilityDisplay.from_predictions(
            y, proba, bin_size=bin_size, name=model, ax=ax
        )
        # The same scale, or the shapes of the two cannot be compared.
        display.count_ax_.set_ylim(0.8, len(y) / 4)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(arguments=None):
    parser = _study.parser_of(__doc__)
    parser.add_argument("--subset", nargs="*", default=["all", "tweets"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, help="messages to take, to try it out")
    options = parser.parse_args(arguments)
    start, rows, spreads = time.perf_counter(), [], []
    with Parallel(n_jobs=options.jobs) as parallel:
        for subset in options.subset:
            draws = run(subset, options.draws, parallel, options.most)
            for (model, scoring), found in draws.items():
                rows.append(row(subset, model, scoring, *found[0]))
            if options.draws > 1:
                spreads += spread(subset, draws)
            if subset == options.subset[0]:
                draw_figure(draws, RESULTS / "classification.png")
    print_table(rows)
    if spreads:
        print_table(spreads)
    print(f"{time.perf_counter() - start:.0f} s")
    note = f"out of {N_FOLDS} folds, plug-in and debiased error in {N_BINS} bins, "
    note += versions("numpy", "scipy", "scikit-learn", "matplotlib")
    write_csv("classification.csv", rows, note)
    if spreads:
        note = f"mean and standard deviation over {options.draws} draws; " + note
        write_csv("classification_draws.csv", spreads, note)


if __name__ == "__main__":
    main()
