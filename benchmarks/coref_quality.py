"""Clusterings and pair probabilities of the ranker, on GUM and LitBank.

    SKCALIB_DATA=... python benchmarks/coref_quality.py [--loss log]

Mentions are given, singletons kept. GUM: the released test documents; LitBank: fold 0.
CoNLL F1 of the best antecedents; calibration error (debiased, over documents) and Brier
score of all pairs; time and memory of training.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import resource
import time

import numpy as np
from _common import print_table, versions, write_csv
from scipy.spatial.distance import squareform

from skcalib import AntecedentRanker, calibration_error
from skcalib.coref import AntecedentFeatures, SampledCorefPairs, coref_scores
from skcalib.datasets import fetch_gum, fetch_litbank


def evaluate(fetch, loss, C):
    train, test = fetch(subset="train"), fetch(subset="test")
    features = AntecedentFeatures()
    start = time.process_time()
    ranker = AntecedentRanker(C, loss=loss, max_iter=60, tol=1e-6)
    X = features.transform(train.data)
    ranker.fit(X, train.target)
    seconds = time.process_time() - start
    scores = ranker.transform(features.transform(test.data))
    proba = SampledCorefPairs(method="exact").transform(scores)
    truth = [squareform(np.equal.outer(e, e), checks=False) for e in test.target]
    groups = np.repeat(np.arange(len(proba)), [each.size for each in proba])
    truth, q = np.concatenate(truth), np.concatenate(list(proba))
    found = coref_scores(test.target, SampledCorefPairs().predict(scores))
    error = calibration_error(truth, q, debias=True, groups=groups)
    return {
        "corpus": fetch.__name__.removeprefix("fetch_"),
        "loss": loss,
        "MUC": f"{100 * found['muc'].f1:.2f}",
        "B3": f"{100 * found['b3'].f1:.2f}",
        "CEAFe": f"{100 * found['ceafe'].f1:.2f}",
        "CoNLL": f"{100 * found['conll_f1']:.2f}",
        "pairs": q.size,
        "CalibErr": f"{error:.4f}",
        "Brier": f"{np.mean((q - truth) ** 2):.4f}",
        "train_cpu_s": f"{seconds:.0f}",
        "GiB": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--loss", choices=("log", "softmax_margin"), default=None)
    chosen = parser.parse_args().loss
    rows = [
        evaluate(fetch, loss, C=0.3)
        for fetch in (fetch_litbank, fetch_gum)
        for loss in ("log", "softmax_margin")
        if chosen in (None, loss)
    ]
    print_table(rows)
    write_csv("coref_quality.csv", rows, versions("numpy", "scipy", "skcalib"))


if __name__ == "__main__":
    main()
