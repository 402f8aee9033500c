"""Coreference: calibration of pairs of mentions, and scores of clusterings.

    SKCALIB_DATA=... python benchmarks/coref.py [--corpus gum litbank] [--jobs 2]
    CONLL2012=FOLDER python benchmarks/coref.py --corpus ontonotes

The script repeats Section 5 of Nguyen and O'Connor (2015) on free corpora with gold
mentions: GUM (the released test documents) and LitBank (fold 0 of ten). The strength of
the penalty and the loss are chosen on the development part, by CoNLL F1 and by the
likelihood of the true clusterings. The temperature and the offset of NEW are also
fitted on the development part. All numbers of the first table are for the test part.
The script writes three tables and a figure. OntoNotes needs an agreement with the LDC:
FOLDER has the folders train, development and test of CoNLL-2012 with its gold files.
"""

import functools
import os
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from skcalib import (
    AntecedentRanker,
    ReliabilityDisplay,
    TemperatureScaling,
    calibration_error,
    calibration_error_interval,
)
from skcalib.coref import AntecedentFeatures, SampledCorefPairs, coref_scores
from skcalib.datasets import fetch_corpus, read_conll2012
from skcalib.posteriors import AntecedentPosterior
from skcalib.queries import CorefPairQuery


def ontonotes(subset):
    folder = Path(os.environ["CONLL2012"], {"dev": "development"}.get(subset, subset))
    paths = sorted(folder.rglob("*gold_conll"))
    data = [document for path in paths for document in read_conll2012(path)]
    return SimpleNamespace(data=data, target=[each.entities for each in data])


CORPORA = {
    "litbank": functools.partial(fetch_corpus, "litbank"),
    "gum": functools.partial(fetch_corpus, "gum"),
    "ontonotes": ontonotes,
}
STRENGTHS = (0.03, 0.1, 0.3)
LOSSES = ("log", "softmax_margin")
N_ITERATIONS = 60
BIN_SIZE = 5000  # of the plain error of all pairs, as in the paper
LEAST = 0.02  # pairs below are nearly all base rate
SAMPLES = (10, 100, 1000)
OFFSETS = (-2.0, -1.0, 0.0, 1.0, 2.0)


def load(corpus):
    """Return for each part the features of documents and their clusterings."""
    features = AntecedentFeatures()
    parts = {}
    for part in ("train", "dev", "test"):
        found = CORPORA[corpus](subset=part)
        X = features.transform(found.data)
        parts[part] = X, found.target
    return parts


def train(corpus, loss, C):
    """Fit a ranker; return it with its scores on the development part."""
    (X, y), (X_dev, y_dev), _ = load(corpus).values()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = AntecedentRanker(C, loss=loss, max_iter=N_ITERATIONS, tol=1e-6)
        ranker.fit(X, y)
    posterior = ranker.posterior(X_dev)
    row = {
        "corpus": corpus,
        "loss": loss,
        "C": C,
        "dev CoNLL": 100 * coref_scores(y_dev, posterior.map_clusters())["conll_f1"],
        "dev log likelihood": ranker.score(X_dev, y_dev),
    }
    print(row, flush=True)
    return ranker, row


def pair_error(y, posterior, min_proba):
    """Return the error of pairs, documents as groups, with its interval."""
    answers = CorefPairQuery(min_proba).from_posterior(y, posterior)
    return calibration_error_interval(
        answers.y_true, answers.y_proba, groups=answers.groups
    )


def clustering_columns(y, labels):
    """Return F1 by all scores, with and without singletons."""
    columns = {}
    for suffix, drop in (("", False), (", no singletons", True)):
        found = coref_scores(y, labels, drop_singletons=drop)
        for name in ("pairwise", "muc", "b3", "ceafe", "lea"):
            columns[name + suffix] = f"{100 * found[name].f1:.2f}"
        columns["conll" + suffix] = f"{100 * found['conll_f1']:.2f}"
    return columns


def pair_columns(y, posterior):
    """Return what the pairs' probabilities are worth."""
    columns = {}
    for suffix, least in (("", 0.0), (f", q > {LEAST}", LEAST)):
        answers = CorefPairQuery(least or None).from_posterior(y, posterior)
        truth, q = answers.y_true, answers.y_proba
        found = calibration_error_interval(truth, q, groups=answers.groups)
        columns["pairs" + suffix] = len(q)
        columns["base rate" + suffix] = f"{truth.mean():.4f}"
        columns["mean q" + suffix] = f"{q.mean():.4f}"
        columns["plug-in" + suffix] = (
            f"{calibration_error(truth, q, bin_size=BIN_SIZE):.4f}"
        )
        cells = _study.interval_cells(found)
        columns |= {name + suffix: cell for name, cell in cells.items()}
        columns["Brier" + suffix] = f"{np.mean((q - truth) ** 2):.4f}"
    return columns


def evaluate(corpus, title, model, row, parts):
    """Return the row of a model of the first table, before or after scaling."""
    X, y = parts["test"]
    posterior = model.posterior(X)
    return {
        "corpus": corpus,
        "model": title,
        "loss": row["loss"],
        "C": row["C"],
        "temperature": f"{getattr(model, 'temperature_', 1.0):.3f}",
        "new_offset": f"{getattr(model, 'new_offset_', 0.0):+.3f}",
        **clustering_columns(y, posterior.map_clusters()),
        "conll, mbr": (
            f"{100 * coref_scores(y, posterior.mbr_clusters())['conll_f1']:.2f}"
        ),
        "log likelihood of a mention": f"{model.score(X, y):.4f}",
        **pair_columns(y, posterior),
        **entity_columns(y, posterior),
    }


def entity_columns(y, posterior):
    """Return how many documents have a number of entities within the 95% range."""
    true, expected, covered, proba = 0, 0.0, [], []
    for labels, pmf in zip(y, posterior.n_entities_pmf(), strict=True):
        n_true = np.unique(labels).size
        low, high = np.searchsorted(np.cumsum(pmf), [0.025, 0.975])
        true, expected = true + n_true, expected + np.arange(pmf.size) @ pmf
        covered.append(low <= n_true <= high)
        proba.append(pmf[low : high + 1].sum())
    return {
        "entities": true,
        "entities expected": f"{expected:.0f}",
        "documents covered, %": f"{100 * np.mean(covered):.0f}",
        "so if the model is right, %": f"{100 * np.mean(proba):.0f}",
    }


def samples(corpus, model, parts):
    """Return what drawn clusterings lose against the exact probabilities."""
    X, y = parts["test"]
    scores = model.transform(X)
    exact = np.concatenate(list(SampledCorefPairs(method="exact").transform(scores)))
    rows = []
    for n in (None, *SAMPLES[::-1]):
        method = (
            SampledCorefPairs(method="exact")
            if n is None
            else SampledCorefPairs(n, random_state=0)
        )
        start = time.process_time()
        proba = method.transform(scores)
        seconds = time.process_time() - start
        answers = CorefPairQuery().from_proba(y, proba)
        truth, q = answers.y_true, answers.y_proba
        rows.append(
            {
                "corpus": corpus,
                "samples": "exact" if n is None else n,
                "cpu_s": f"{seconds:.2f}",
                "rms off": f"{np.sqrt(np.mean((q - exact) ** 2)):.5f}",
                "q = 0, %": f"{100 * np.mean(q == 0):.1f}",
                "of these true, %": (
                    f"{100 * truth[q == 0].mean():.2f}" if np.any(q == 0) else ""
                ),
                "plug-in": f"{calibration_error(truth, q, bin_size=BIN_SIZE):.4f}",
                "Brier": f"{np.mean((q - truth) ** 2):.5f}",
            }
        )
    return rows


def trade(corpus, title, model, parts):
    """Return F1 and calibration as the offset of NEW moves."""
    X, y = parts["dev"]
    scores = model.transform(X)
    rows = []
    for offset in OFFSETS:
        posterior = AntecedentPosterior(scores).tempered(1.0, offset)
        found = coref_scores(y, posterior.map_clusters())
        rows.append(
            {
                "corpus": corpus,
                "model": title,
                "offset of NEW": offset,
                "muc": f"{100 * found['muc'].f1:.2f}",
                "b3": f"{100 * found['b3'].f1:.2f}",
                "ceafe": f"{100 * found['ceafe'].f1:.2f}",
                "conll": f"{100 * found['conll_f1']:.2f}",
                "error": f"{pair_error(y, posterior, 0.0).estimate:.4f}",
                "error, q > 0.02": f"{pair_error(y, posterior, LEAST).estimate:.4f}",
            }
        )
    return rows


def draw(drawn):
    """Figure 5: label frequency against the probability of a pair."""
    size = (6.5 * len(drawn), 7)
    figure, axes = plt.subplots(1, len(drawn), figsize=size, layout="constrained")
    for ax, (corpus, models) in zip(np.atleast_1d(axes), drawn.items(), strict=True):
        for title, (y, posterior) in models.items():
            answers = CorefPairQuery().from_posterior(y, posterior)
            ReliabilityDisplay.from_predictions(
                answers.y_true,
                answers.y_proba,
                bin_size=BIN_SIZE,
                groups=answers.groups,
                name=title,
                ax=ax,
            )
        ax.set_title(corpus)
        ax.legend(loc="upper left", fontsize=7)
    _study.save(figure, "coref.png", 110)


def study(corpus, trained):
    """Return the tables of a corpus and the posteriors that are drawn."""
    parts = load(corpus)
    by_f1 = max(trained, key=lambda pair: pair[1]["dev CoNLL"])
    by_likelihood = max(trained, key=lambda pair: pair[1]["dev log likelihood"])
    rows, trades, drawn = [], [], {}
    for title, (ranker, row) in (
        ("by CoNLL F1", by_f1),
        ("by likelihood", by_likelihood),
    ):
        scaled = TemperatureScaling(ranker, cv="prefit").fit(*parts["dev"])
        rows.append(evaluate(corpus, title, ranker, row, parts))
        rows.append(evaluate(corpus, f"{title}, scaled", scaled, row, parts))
        trades += trade(corpus, title, ranker, parts)
        X, y = parts["test"]
        drawn[title] = y, ranker.posterior(X)
        drawn[f"{title}, scaled"] = y, scaled.posterior(X)
    return rows, samples(corpus, by_likelihood[0], parts), trades, drawn


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--corpus", nargs="+", choices=list(CORPORA), default=None)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    corpora = chosen.corpus or ["litbank", "gum"]
    asked = [(each, loss, C) for each in corpora for loss in LOSSES for C in STRENGTHS]
    trained = Parallel(chosen.jobs)(delayed(train)(*each) for each in asked)
    tables = ([], [], [])
    drawn = {}
    for corpus in corpora:
        of_corpus = [pair for pair in trained if pair[1]["corpus"] == corpus]
        *found, drawn[corpus] = study(corpus, of_corpus)
        for table, rows in zip(tables, found, strict=True):
            table += rows
    note = versions("numpy", "scipy", "skcalib")
    for name, rows in (
        ("coref_samples.csv", tables[1]),
        ("coref_offsets.csv", tables[2]),
    ):
        print_table(rows)
        write_csv(name, rows, note)
    for row in tables[0]:
        print(
            *(f"{name}: {value}" for name, value in row.items()), sep="\n", end="\n\n"
        )
    write_csv("coref.csv", tables[0], note)
    draw(drawn)


if __name__ == "__main__":
    main()
