"""Temperatures that are fitted to few held-out sentences.

    SKCALIB_DATA=... python benchmarks/few_sentences.py

For models of made-up sentences and of tweets (tuning) and of web text (testing), a
temperature is fitted to 5 to 200 held-out sentences and evaluated on the others: the
fraction of samples in which the log likelihood is lower than without recalibration, and
its mean and lowest change per sentence. The same numbers are computed for the
temperature of maximum likelihood. The rate of the prior was chosen on the models for
tuning. A model takes half a minute to two minutes.
"""

import warnings
import zlib

import _study  # noqa: F401
import numpy as np
from _common import print_table, versions, write_csv
from scipy.interpolate import CubicSpline
from sklearn.pipeline import make_pipeline

from skcalib import CRFTagger, HMMTagger, TokenFeatures
from skcalib.datasets import fetch_corpus, make_tagged_sentences
from skcalib.recalibration import _likelihood
from skcalib.recalibration._held_out import held_out

NAME = "few_sentences.csv"
SIZES = (5, 10, 50, 200)
N_REPLICATES = 1000

# Logarithms of temperatures at which the likelihoods of sentences are computed.
GRID = np.linspace(np.log(0.05), np.log(20), 61)
MOST = 1500  # held-out sentences


def made_up():
    X, y = make_tagged_sentences(1000 + MOST, random_state=0)
    return (X[:1000], y[:1000]), (X[1000:], y[1000:])


def tweets():
    return [
        fetch_corpus(
            "ark_twitter_pos", subset=s, return_X_y=True, download_if_missing=False
        )
        for s in ("train", "test")
    ]


def web_text():
    train, test = (
        fetch_corpus(
            "ud_english_ewt", subset=s, return_X_y=True, download_if_missing=False
        )
        for s in ("train", "test")
    )
    return [part[::3] for part in train], test


def hmm(pseudocount):
    return HMMTagger(pseudocount)


def crf(c2):
    return make_pipeline(TokenFeatures("basic"), CRFTagger(c2=c2, max_iterations=60))


# Corpora, and the models of each: a function and its strength of regularisation.
MODELS = {
    "tuning": [
        ("made-up", made_up, "HMM", (hmm, 1.0)),
        ("made-up", made_up, "HMM", (hmm, 0.1)),
        ("made-up", made_up, "HMM", (hmm, 0.01)),
        ("tweets", tweets, "HMM", (hmm, 1.0)),
        ("tweets", tweets, "HMM", (hmm, 0.05)),
        ("tweets", tweets, "HMM", (hmm, 0.001)),
        ("tweets", tweets, "CRF", (crf, 1.0)),
        ("tweets", tweets, "CRF", (crf, 0.01)),
    ],
    "testing": [
        ("web text", web_text, "HMM", (hmm, 1.0)),
        ("web text", web_text, "HMM", (hmm, 0.1)),
        ("web text", web_text, "HMM", (hmm, 0.03)),
        ("web text", web_text, "HMM", (hmm, 0.01)),
        ("web text", web_text, "HMM", (hmm, 0.003)),
        ("web text", web_text, "CRF", (crf, 1.0)),
        ("web text", web_text, "CRF", (crf, 0.01)),
    ],
}


def curves(model, X, y):
    """Return the log likelihood of each sentence at the temperatures of the grid."""
    parts = held_out(model, X, y, None, np.arange(min(len(y), MOST)))
    tempered = [parts.posterior.tempered(float(t)) for t in np.exp(GRID)]
    return np.stack([each.log_proba(parts.structures) for each in tempered], axis=1)


def fitted(total, rate):
    """Return the log temperature that is fitted to a sum of curves."""
    curve = CubicSpline(GRID, total)
    _likelihood._PRIOR_RATE = rate
    found = _likelihood.best_temperature(
        lambda t: float(curve(np.log(t))), *np.exp(GRID[[0, -1]])
    )
    return np.log(found[0])


def cells(kind, corpus, name, strength, by_sentence, n_replicates=N_REPLICATES):
    """Return a row for each number of held-out sentences."""
    rate = _likelihood._PRIOR_RATE
    every = by_sentence.sum(axis=0)
    best = fitted(every, 0.0)
    mean = CubicSpline(GRID, every / len(by_sentence))
    rows = []
    for n in SIZES:
        seed = zlib.crc32(f"{kind} {corpus} {name} {strength} {n}".encode())
        rng = np.random.default_rng(seed)
        log_t, gain = np.zeros((2, n_replicates)), np.zeros((2, n_replicates))
        for i in range(n_replicates):
            some = rng.choice(len(by_sentence), n, replace=False)
            total = by_sentence[some].sum(axis=0)
            others = CubicSpline(GRID, (every - total) / (len(by_sentence) - n))
            for k, each in enumerate((0.0, rate)):
                log_t[k, i] = fitted(total, each)
                gain[k, i] = others(log_t[k, i]) - others(0.0)
        worse = (gain < 0).mean(axis=1)
        error = np.sqrt((worse * (1 - worse)).max() / n_replicates)
        rows.append(
            {
                "models": kind,
                "corpus": corpus,
                "model": f"{name} {strength:g}",
                "sentences": n,
                "replicates": n_replicates,
                "best_temperature": f"{np.exp(best):.3f}",
                "best_gain": f"{float(mean(best) - mean(0.0)):.3f}",
                "worse_ml": f"{worse[0]:.3f}",
                "worse": f"{worse[1]:.3f}",
                "standard_error": f"{error:.3f}",
                "gain_ml": f"{gain[0].mean():.3f}",
                "gain": f"{gain[1].mean():.3f}",
                "lowest_gain_ml": f"{gain[0].min():.2f}",
                "lowest_gain": f"{gain[1].min():.2f}",
                "sd_log_temperature_ml": f"{log_t[0].std():.3f}",
                "sd_log_temperature": f"{log_t[1].std():.3f}",
            }
        )
    _likelihood._PRIOR_RATE = rate
    return rows


def main():
    warnings.simplefilter("ignore")  # ends of the grid
    rows = []
    for kind, models in MODELS.items():
        for corpus, load, name, (make, strength) in models:
            train, (X, y) = load()
            by_sentence = curves(make(strength).fit(*train), X, y)
            rows += cells(kind, corpus, name, strength, by_sentence)
            print_table(rows[-len(SIZES) :])
    rows = sorted(rows, key=lambda r: (r["models"], r["corpus"], r["model"]))
    write_csv(NAME, rows, versions("numpy", "scipy", "python-crfsuite"))


if __name__ == "__main__":
    main()
