"""Speed of taggers beside CRFsuite, hmmlearn and nltk, on the test set of EWT.

    SKCALIB_DATA=... python benchmarks/speed_tagging.py
    python benchmarks/speed_tagging.py posterior cost

Parts, all of them where none is named:

- `crf`: the same model of CRFsuite, asked for the tag probabilities by CRFsuite and by
  skcalib, from attribute dicts and from sparse matrices;
- `hmm`: the same hidden Markov model in hmmlearn and nltk, and their training;
- `posterior`: what else a posterior answers, beside a pass for token marginals and
  beside the least that a pass can cost: two matrix products and an exponential of the
  same sizes;
- `cost`: token marginals against the number of tags and the length of sequences.

CPU time of one thread, the best of interleaved rounds. The last two need no data.
hmmlearn and nltk need not be there. Models are trained with few iterations: speed does
not depend on the weights.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from itertools import chain

import numpy as np
from _common import RESULTS, best_times, print_table, versions, write_csv

from skcalib.datasets import fetch_ud_english_ewt
from skcalib.posteriors import LinearChainPosterior
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures

N_ROUNDS = 9
N_ITERATIONS = 20
TEMPLATES = ("basic", "advanced")
HOW = f"CPU time, one thread, best of {N_ROUNDS} interleaved rounds"


def cpu_times(functions):
    return best_times(functions, N_ROUNDS, clock=time.process_time)


def load():
    train = fetch_ud_english_ewt(subset="train", return_X_y=True)
    return train, fetch_ud_english_ewt(subset="test", return_X_y=True)


# CRF


def largest_difference(ours, theirs, classes):
    return max(
        abs(marginal[t, k] - token[label])
        for marginal, sentence in zip(ours, theirs, strict=True)
        for t, token in enumerate(sentence)
        for k, label in enumerate(classes)
    )


def walk(sentences):
    """Look at every attribute, the least that reading dicts can take."""
    return list(chain.from_iterable(map(dict.values, chain.from_iterable(sentences))))


def compare(template, train, test):
    dicts, hashed = TokenFeatures(template), TokenFeatures(template, output="sparse")
    tagger = CRFTagger(c2=0.1, max_iterations=N_ITERATIONS)
    tagger.fit(dicts.transform(train[0]), train[1])
    of_sparse = CRFTagger(c2=0.1, max_iterations=N_ITERATIONS)
    of_sparse.fit(hashed.transform(train[0]), train[1])
    items, matrices = list(dicts.transform(test[0])), hashed.transform(test[0])
    crf = tagger.crf_
    difference = largest_difference(
        tagger.predict_proba(items), crf.predict_marginals(items), tagger.classes_
    )
    print(f"{template}: largest difference of a marginal {difference:.1e}")

    def single(model, X):
        model.set_params(dtype=np.float32).predict_proba(X)
        model.set_params(dtype=np.float64)

    best = cpu_times(
        {
            "CRFsuite, dicts": lambda: crf.predict_marginals(items),
            "dicts": lambda: tagger.predict_proba(items),
            "dicts, float32": lambda: single(tagger, items),
            "sparse": lambda: of_sparse.predict_proba(matrices),
            "sparse, float32": lambda: single(of_sparse, matrices),
            "dicts, scores only": lambda: tagger.posterior(items),
            "dicts, looked at only": lambda: walk(items),
            "CRFsuite, best path": lambda: crf.predict(items),
            "dicts, best path": lambda: tagger.predict(items),
            "words to dicts": lambda: dicts.transform(test[0]),
            "words to sparse": lambda: hashed.transform(test[0]),
        }
    )
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


def time_crf():
    train, test = load()
    rows = [row for t in TEMPLATES for row in compare(t, train, test)]
    print_table(rows)
    n_tags = len(set(chain.from_iterable(train[1])))
    note = (
        f"{HOW}; EWT test set, {n_tags} tags; CRFs of all of EWT train, but "
        f"{N_ITERATIONS} iterations only; "
    ) + versions("numpy", "scipy", "sklearn-crfsuite", "python-crfsuite")
    print(note)
    write_csv("speed_tagging.csv", rows, note)


# HMM


PSEUDOCOUNT = 0.1
N_NLTK = 20  # sentences: nltk takes its time


def hmmlearn_functions(tagger, sentences):
    """Return the same model in hmmlearn, for words that are numbered already."""
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(
        n_components=tagger.classes_.size, implementation="scaling", init_params=""
    )
    model.startprob_ = np.exp(tagger.start_log_proba_)
    model.transmat_ = np.exp(tagger.transition_log_proba_)
    model.emissionprob_ = np.exp(tagger.emission_log_proba_)
    model.n_features = model.emissionprob_.shape[1]
    known = tagger.vocabulary_
    words = chain.from_iterable(sentences)
    numbers = np.array([[known.get(word, len(known))] for word in words])
    lengths = list(map(len, sentences))
    ours = np.concatenate(list(tagger.predict_proba(sentences)))
    difference = abs(ours - model.predict_proba(numbers, lengths)).max()
    print(f"hmmlearn: largest difference of a marginal {difference:.1e}")
    return {
        "hmmlearn, marginals": lambda: model.predict_proba(numbers, lengths),
        "hmmlearn, best path": lambda: model.decode(numbers, lengths),
    }


def nltk_training(train):
    """Return training in nltk."""
    from nltk.probability import LidstoneProbDist
    from nltk.tag.hmm import HiddenMarkovModelTrainer

    tagged = [list(zip(*pair, strict=True)) for pair in zip(*train, strict=True)]

    def fit():
        return HiddenMarkovModelTrainer().train_supervised(
            tagged, estimator=lambda freq, bins: LidstoneProbDist(freq, 0.1, bins)
        )

    return fit


def nltk_functions(train, sentences, n_sentences=N_NLTK):
    """Return training in nltk, and its passes and best paths of some sentences."""
    fit = nltk_training(train)
    model = fit()
    unlabelled = [[(word, None) for word in words] for words in sentences[:n_sentences]]

    def passes():
        for words in unlabelled:
            # its only way to marginals, without a public name
            model._forward_probability(words)
            model._backward_probability(words)

    def paths():
        return [model.best_path([word for word, _ in words]) for words in unlabelled]

    return {
        "nltk, training": fit,
        "nltk, marginals": passes,
        "nltk, best path": paths,
    }


def time_hmm():
    train, test = load()
    tagger = HMMTagger(PSEUDOCOUNT).fit(*train)
    single = HMMTagger(PSEUDOCOUNT, dtype=np.float32).fit(*train)
    functions = {
        "marginals": lambda: tagger.predict_proba(test[0]),
        "marginals, float32": lambda: single.predict_proba(test[0]),
        "best path": lambda: tagger.predict(test[0]),
        "training": lambda: HMMTagger(PSEUDOCOUNT).fit(*train),
    }
    try:
        functions |= hmmlearn_functions(tagger, test[0])
    except ImportError:
        print("hmmlearn is missing")
    try:
        functions |= nltk_functions(train, test[0])
    except ImportError:
        print("nltk is missing")
    best = cpu_times(functions)
    size = dict.fromkeys(functions, sum(map(len, test[0])))
    size |= dict.fromkeys(["training", "nltk, training"], sum(map(len, train[0])))
    few = ["nltk, marginals", "nltk, best path"]
    size |= dict.fromkeys(few, sum(map(len, test[0][:N_NLTK])))
    rows = []
    for name, seconds in best.items():
        ours = name.split(", ")[-1] if name.startswith(("hmm", "nltk")) else name
        each = seconds / size[name]
        rows.append(
            {
                "function": name,
                "ms": f"{1e3 * seconds:.1f}",
                "tokens_per_s": round(1 / each),
                "over_ours": f"{each / (best[ours] / size[ours]):.2f}",
            }
        )
    print_table(rows)
    note = (
        f"{HOW}; EWT test set, {tagger.classes_.size} tags, trained on EWT train; "
        "over_ours: time a token, as a multiple of that of the same function of "
        f"skcalib; nltk's of the first {N_NLTK} sentences; hmmlearn with "
        "implementation='scaling' and numbered words; "
    ) + versions("numpy", "scipy", "hmmlearn", "nltk")
    print(note)
    write_csv("speed_hmm.csv", rows, note)


# Posterior


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
    note = f"{HOW}; scores drawn; " + versions("numpy", "scipy")
    print(note)
    write_csv("speed_posterior.csv", rows, note)


# Cost


N_TOKENS = 20_000
TAGS = (5, 12, 17, 25, 50, 100, 200)
LENGTHS = (1, 2, 5, 10, 20, 50, 100, 1000, 10_000)


def cost_row(n_tags, length):
    rng = np.random.default_rng(0)
    emission = 2 * rng.normal(size=(N_TOKENS, n_tags))
    transition = rng.normal(size=(n_tags, n_tags))
    lengths = np.full(N_TOKENS // length, length)
    posterior, single = (
        LinearChainPosterior(emission, transition, lengths=lengths, dtype=dtype)
        for dtype in (np.float64, np.float32)
    )
    rows, table, buffer = np.exp(emission), np.exp(transition), np.empty_like(emission)

    def products():
        np.matmul(rows, table, out=buffer)
        np.matmul(rows, table.T, out=buffer)
        np.exp(emission, out=buffer)

    best = cpu_times(
        {
            "float64": posterior.token_marginals,
            "float32": single.token_marginals,
            "two products and exp": products,
        }
    )
    speed = {f"{name}, tokens_per_s": round(N_TOKENS / s) for name, s in best.items()}
    over = best["float64"] / best["two products and exp"]
    return {"tags": n_tags, "length": length} | speed | {"over": f"{over:.1f}"}


def draw_cost(by_tags, by_length, note):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, rows, x in zip(
        panels, (by_tags, by_length), ("tags", "length"), strict=True
    ):
        names = [name for name in rows[0] if name.endswith("tokens_per_s")]
        for name, mark in zip(names, "os^", strict=True):
            speed = [row[name] for row in rows]
            label = name.removesuffix(", tokens_per_s")
            axes.loglog([row[x] for row in rows], speed, mark + "-", ms=4, label=label)
        axes.grid(alpha=0.3)
    panels[0].set(xlabel="tags (sentences of 20)", ylabel="tokens per second")
    panels[1].set(xlabel="length of sentences (17 tags)")
    panels[0].legend(frameon=False)
    figure.suptitle(f"Token marginals of {N_TOKENS:,} tokens", fontsize="medium")
    figure.savefig(RESULTS / "speed_cost.png", dpi=100, metadata={"Description": note})
    print("written: speed_cost.png")


def time_cost():
    by_tags = [cost_row(n_tags, 20) for n_tags in TAGS]
    by_length = [cost_row(17, length) for length in LENGTHS]
    rows = by_tags + by_length
    print_table(rows)
    note = f"{HOW}; {N_TOKENS} tokens, scores drawn; " + versions("numpy", "matplotlib")
    print(note)
    write_csv("speed_cost.csv", rows, note)
    draw_cost(by_tags, by_length, note)


PARTS = {
    "crf": time_crf,
    "hmm": time_hmm,
    "posterior": time_posterior,
    "cost": time_cost,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parts = parser.parse_args().parts
    if not set(parts) <= set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}")
    for part in parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
