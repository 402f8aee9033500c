"""Speed of tag marginals beside CRFsuite's, on the test tweets of the ARK corpus.

    SKCALIB_DATA=... python benchmarks/speed_tagging.py
    python benchmarks/speed_tagging.py --posterior

The same fitted model, attribute dicts in, CPU time of one thread, the best of
interleaved rounds. The largest difference of a marginal is printed too. Then what else
a posterior answers, beside a pass for token marginals and beside the least that a pass
can cost: two matrix products and an exponential of the same sizes. `--posterior` runs
this part alone, which needs no data.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time

import numpy as np
from _common import print_table, versions, write_csv

from skcalib.datasets import fetch_ark_twitter_pos
from skcalib.posteriors import LinearChainPosterior
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


# name: lengths of the sequences, number of tags
CASES = {
    "2000 sentences, 48 tags": (None, 48),
    "2000 sentences, 17 tags": (None, 17),
    "10,000 tokens, 17 tags": ([10_000], 17),
    "10,000 tokens, 48 tags": ([10_000], 48),
}


def draw(lengths, n_tags):
    rng = np.random.default_rng(0)
    if lengths is None:
        lengths = np.clip(rng.geometric(1 / 12, size=2000), 1, 80)
    emission = 2 * rng.normal(size=(np.sum(lengths), n_tags))
    transition = rng.normal(size=(n_tags, n_tags))
    pairs = rng.integers(n_tags, size=(100, 2))
    spans = [[(n // 3, [0] * min(3, n - n // 3))] for n in lengths]
    return lengths, emission, transition, pairs, spans


def posterior_case(name, lengths, n_tags):
    lengths, emission, transition, pairs, spans = draw(lengths, n_tags)
    posterior, single = (
        LinearChainPosterior(emission, transition, lengths=lengths, dtype=dtype)
        for dtype in (np.float64, np.float32)
    )
    table, buffer = np.exp(transition), np.empty_like(emission)
    rows = np.exp(emission)

    def products():
        np.matmul(rows, table, out=buffer)
        np.matmul(rows, table.T, out=buffer)
        np.exp(emission, out=buffer)

    best = cpu_times(
        {
            "two products and exp": products,
            "token marginals": posterior.token_marginals,
            "token marginals, float32": single.token_marginals,
            "100 chosen pairs": lambda: posterior.pair_marginals(pairs),
            "expected transitions": posterior.expected_transitions,
            "a span of each sequence": lambda: posterior.span_marginals(spans),
            "entropy": posterior.entropy,
            "10 samples": lambda: posterior.sample(10, random_state=0),
            "best path": posterior.viterbi,
            "5 best paths": lambda: posterior.k_best(5),
        }
    )
    return [
        {
            "scores": name,
            "function": function,
            "ms": f"{1e3 * seconds:.1f}",
            "tokens_per_s": round(len(emission) / seconds),
            "over_token_marginals": f"{seconds / best['token marginals']:.2f}",
            "over_products": f"{seconds / best['two products and exp']:.1f}",
        }
        for function, seconds in best.items()
    ]


def time_posterior():
    rows = [row for name, case in CASES.items() for row in posterior_case(name, *case)]
    print_table(rows)
    note = f"best of {N_ROUNDS} interleaved rounds, CPU time, one thread; " + versions(
        "numpy", "scipy"
    )
    print(note)
    write_csv("speed_posterior.csv", rows, note)


def time_taggers():
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posterior", action="store_true", help="no taggers")
    if not parser.parse_args().posterior:
        time_taggers()
    time_posterior()


if __name__ == "__main__":
    main()
