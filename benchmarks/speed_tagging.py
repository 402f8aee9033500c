"""Speed of tag marginals beside CRFsuite's, on the test tweets of the ARK corpus.

    SKCALIB_DATA=... python benchmarks/speed_tagging.py

The same fitted model, attribute dicts in, CPU time of one thread, the best of
interleaved rounds. The largest difference of a marginal is printed too.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np
from _common import print_table, versions, write_csv

from skcalib.datasets import fetch_ark_twitter_pos
from skcalib.sequence import CRFTagger, TokenFeatures

N_ROUNDS = 15


def cpu_times(functions):
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(N_ROUNDS):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return best


def largest_difference(ours, theirs, classes):
    return max(
        abs(marginal[t, k] - token[label])
        for marginal, sentence in zip(ours, theirs, strict=True)
        for t, token in enumerate(sentence)
        for k, label in enumerate(classes)
    )


def compare(template, train, test):
    features = TokenFeatures(template)
    tagger = CRFTagger(c2=0.1).fit(features.transform(train[0]), train[1])
    items = list(features.transform(test[0]))
    crf = tagger.crf_
    crf.predict_marginals(items)  # opens the model
    best = cpu_times(
        {
            "CRFsuite, dicts": lambda: crf.predict_marginals(items),
            "skcalib": lambda: tagger.predict_proba(items),
            "skcalib, scores only": lambda: tagger.posterior(items),
            "CRFsuite, best path": lambda: crf.predict(items),
            "skcalib, best path": lambda: tagger.predict(items),
        }
    )
    difference = largest_difference(
        tagger.predict_proba(items), crf.predict_marginals(items), tagger.classes_
    )
    print(f"{template}: largest difference of a marginal {difference:.1e}")
    n_tokens = sum(map(len, test[0]))
    return [
        {
            "features": template,
            "function": name,
            "ms": f"{1e3 * seconds:.1f}",
            "tokens_per_s": round(n_tokens / seconds),
            "CRFsuite_over_it": f"{best['CRFsuite, dicts'] / seconds:.1f}",
        }
        for name, seconds in best.items()
    ]


def main():
    train = fetch_ark_twitter_pos(subset="train", return_X_y=True)
    test = fetch_ark_twitter_pos(subset="test", return_X_y=True)
    rows = [row for t in ("basic", "advanced") for row in compare(t, train, test)]
    print_table(rows)
    note = f"best of {N_ROUNDS} interleaved rounds, CPU time, one thread; " + versions(
        "numpy", "scipy", "sklearn-crfsuite", "python-crfsuite"
    )
    print(note)
    write_csv("speed_tagging.csv", rows, note)
    assert np.isfinite([float(row["ms"]) for row in rows]).all()


if __name__ == "__main__":
    main()
