"""Time and memory of the package. Each part writes a table speed_*.csv or the like.

    SKCALIB_DATA=... python benchmarks/speed.py [PART ...] [--largest 100000000]

calibration: metrics, as ratios to one np.sort of the same array, beside scikit-learn's
calibration_curve with as many quantile bins and, if it is installed and for fewer than
10^7 pairs, the smooth error of relplot. `per_interval` is the time divided by the time
of the score interval of as many independent rows. Memory is the peak allocation of a
call, divided by the size of the probabilities.

commands: imports, help and commands on large files, each in a process of its own.

taggers: the probabilities of the same CRF by CRFsuite and by skcalib, from attribute
dicts and from sparse matrices, on the test set of UD English EWT (CPU time).

coreference: exact probabilities of the pairs of documents with the sizes of LitBank's,
beside 1,000 sampled clusterings by this package and by one call of scipy's
connected_components per clustering, as in the published procedure ('graphs').

significance: exact and saddlepoint p-values beside 10^7 Monte Carlo resamples
(extrapolated), real-valued scores beside scipy's permutation test, and all pairs of 36
systems.

events: `EventCounter.count` per document, by mentions and samples; the filter; the rule
(CPU time).

memory: peak memory (VmHWM of /proc, so Linux only) against the size of the input, in a
process of its own. `extra` is the peak less what was there before the call, the input
included, and `per_input` is its multiple of the input. Needs up to 4 GB for --largest.

Times are the best of interleaved rounds in one process and one thread. The parts take
about half an hour together.
"""

import argparse
import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import contextlib
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from functools import partial
from itertools import chain
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from _common import best_times, print_table, versions, write_csv
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import permutation_test as peer
from sklearn.calibration import calibration_curve

from skcalib.coref import SampledCorefPairs
from skcalib.datasets import fetch_corpus, make_event_documents, make_tagged_sentences
from skcalib.events import EventCounter, EventRule
from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)
from skcalib.posteriors import AntecedentPosterior, LinearChainPosterior
from skcalib.sequence import CRFTagger, HMMTagger, TokenFeatures
from skcalib.significance import (
    compare_systems,
    paired_bootstrap_test,
    permutation_test,
)


def traced(function):
    """Return the peak of allocated memory in bytes, and the result."""
    tracemalloc.start()
    result = function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, result


# Calibration

BIN_SIZE = 5000
POWERS = (5, 6, 7)  # of ten, numbers of pairs
# rows, classes and concentration of the probabilities
MATRICES = [(100_000, 10, 0.3), (33_306, 47, 0.05), (10_000, 100, 0.1)]


def skewed_pairs(n):
    rng = np.random.default_rng(0)
    q = rng.beta(0.1, 2, n)
    return (rng.random(n) < q).astype(int), q


def uniform_pairs(n, digits=17):
    rng = np.random.default_rng(0)
    q = rng.random(n).round(digits)
    return (rng.random(n) < q).astype(int), q


def tag_matrix(n=33_306, n_tags=47, concentration=0.05):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(n_tags, concentration), n)
    drawn = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return np.minimum(drawn, n_tags - 1), proba


def one_vs_rest(y, proba):
    return (y[:, np.newaxis] == np.arange(proba.shape[1])).ravel(), proba.ravel()


def functions(y, proba, labels):
    """Return what is timed: the pairs of scikit-learn are made before."""
    keys = {} if labels is None else {"labels": labels}
    flat_y, flat_q = (y, proba) if labels is None else one_vs_rest(y, proba)
    n_bins = max(1, flat_q.size // BIN_SIZE)
    timed = {
        "np.sort": lambda: np.sort(flat_q),
        "error": lambda: calibration_error(y, proba, bin_size=BIN_SIZE, **keys),
        "error auto": lambda: calibration_error(y, proba, **keys),
        "debiased": lambda: calibration_error(
            y, proba, bin_size=BIN_SIZE, debias=True, **keys
        ),
        "curve": lambda: adaptive_reliability_curve(
            y, proba, bin_size=BIN_SIZE, **keys
        ),
        "sklearn quantile": lambda: calibration_curve(
            flat_y, flat_q, n_bins=n_bins, strategy="quantile"
        ),
    }
    if flat_q.size <= 2_000_000:
        with contextlib.suppress(ImportError):
            import relplot

            timed["relplot smECE"] = lambda: relplot.smECE(flat_q, flat_y)
    # of independent rows, also for a matrix
    timed["score interval"] = lambda: calibration_error_interval(flat_y, flat_q)
    if labels is not None:
        timed["score interval, pooled"] = lambda: calibration_error_interval(
            y, proba, **keys
        )
    else:
        groups = np.arange(y.size) // 10
        timed["score interval, groups of 10"] = lambda: calibration_error_interval(
            y, proba, groups=groups
        )
        timed["debiased, groups of 10"] = lambda: calibration_error(
            y, proba, debias=True, groups=groups
        )
        weight = np.ones(y.size)
        timed["error, weights"] = lambda: calibration_error(
            y, proba, bin_size=BIN_SIZE, sample_weight=weight
        )
    return timed


def calibration():
    cases = {f"10^{k}": (*skewed_pairs(10**k), None) for k in POWERS}
    cases["30000"] = (*skewed_pairs(30_000), None)
    cases["10^6, uniform"] = (*uniform_pairs(10**6), None)
    cases["300000, 2 digits"] = (*uniform_pairs(300_000, digits=2), None)
    for n, n_tags, concentration in MATRICES:
        matrix = tag_matrix(n, n_tags, concentration)
        cases[f"{n} x {n_tags}"] = (*matrix, np.arange(n_tags))
    rows = []
    for case, (y, proba, labels) in cases.items():
        timed = functions(y, proba, labels)
        best = best_times(timed, n_rounds=3 if proba.size > 10**6 else 10)
        rows += [
            {
                "case": case,
                "function": name,
                "seconds": f"{seconds:.4f}",
                "per_sort": f"{seconds / best['np.sort']:.2f}",
                "per_interval": f"{seconds / best['score interval']:.2f}",
                "peak_memory_per_input": f"{traced(timed[name])[0] / proba.nbytes:.2f}",
            }
            for name, seconds in best.items()
        ]
    packages = versions("numpy", "scipy", "scikit-learn", "relplot")
    yield "speed_calibration.csv", rows, f"bins of {BIN_SIZE}; {packages}"


# Commands

ROUNDS = 7
PYTHON = [sys.executable, "-c"]
COMMAND = [sys.executable, "-m", "skcalib"]
BASE = "import sklearn.linear_model"
STARTS = {
    name: [*PYTHON, name]
    for name in [
        BASE,
        "import skcalib",
        "from skcalib import calibration_error, ReliabilityDisplay",
        "from skcalib import HMMTagger, CRFTagger",
    ]
}
STARTS |= {
    f"skcalib {options}": [*COMMAND, *options.split()]
    for options in ["--version", "--help", "compare --help"]
}
# The command, its files ("a", "b") and the number of rows of each file.
RUNS = [
    ("report a.csv", 1_000),
    ("report a.csv", 1_000_000),
    ("report a.csv", 5_000_000),
    ("report quoted.csv", 1_000_000),
    ("report a.jsonl", 1_000_000),
    ("compare a.csv b.csv --question question", 1_000),
    ("compare a.csv b.csv --question question", 100_000),
    ("compare a.csv b.csv --question question", 1_000_000),
]


def timed(command, folder):
    """Run a command; return seconds, processor seconds and its peak memory in GiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command}: {errors.decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def starts(folder):
    best = {}
    for _ in range(ROUNDS):
        for name, command in STARTS.items():
            best[name] = min(best.get(name, (np.inf,)), timed(command, folder))
    base = best[BASE][0]
    return [
        command_row(name, "", *found, found[0] / base) for name, found in best.items()
    ]


def command_row(name, n, seconds, processor, peak, ratio=""):
    return {
        "work": name,
        "n": n,
        "seconds": f"{seconds:.2f}",
        "processor_seconds": f"{processor:.2f}",
        "peak_gib": f"{peak:.2f}",
        "per_import": ratio and f"{ratio:.2f}",
    }


def write_answers(path, n, seed):
    """Write answers to the same questions, of a system that is too confident."""
    ease = np.random.default_rng(0).normal(1, 2, n)
    rng = np.random.default_rng([1, seed])
    confidence = np.round(1 / (1 + np.exp(-ease - rng.normal(0, 0.5, n))), 4)
    correct = (rng.random(n) < confidence**1.2).astype(int)
    rows = zip(range(n), correct.tolist(), confidence.tolist(), strict=True)
    text = ',"two\nlines"' * (path.stem == "quoted")
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write(f"question,correct,confidence{text}\n")
            file.writelines(f"{i},{y},{q}{text}\n" for i, y, q in rows)
        else:
            file.writelines(
                f'{{"question": "{i}", "correct": {y}, "confidence": {q}}}\n'
                for i, y, q in rows
            )


def runs(folder):
    for options, n in RUNS:
        for seed, name in enumerate(options.split()[1:3]):
            if "." in name:
                # The memory of this process would count as that of the command.
                with Pool(1) as pool:
                    pool.apply(write_answers, (folder / name, n, seed))
        measured = timed([*COMMAND, *options.split()], folder)
        yield command_row(f"skcalib {options}", n, *measured)


def commands():
    with tempfile.TemporaryDirectory() as name:
        rows = [*starts(name), *runs(Path(name))]
    packages = versions("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")
    yield "speed_commands.csv", rows, f"one thread; {packages}"


# Taggers

N_ITERATIONS = 20
TEMPLATES = ("basic", "advanced")


def load():
    train = fetch_corpus("ud_english_ewt", subset="train", return_X_y=True)
    return train, fetch_corpus("ud_english_ewt", subset="test", return_X_y=True)


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

    best = best_times(
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
        },
        9,
        time.process_time,
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


def taggers():
    train, test = load()
    rows = [row for t in TEMPLATES for row in compare(t, train, test)]
    note = f"EWT test set; CRFs of all of EWT train, {N_ITERATIONS} iterations only; "
    note += versions("numpy", "scipy", "sklearn-crfsuite", "python-crfsuite")
    yield "speed_tagging.csv", rows, note


# Coreference

N_SAMPLES = 1000
GRAPHS = slice(0, 100, 25)


def draw_scores(sizes, seed=0):
    """Return scores under which a mention has some forty others in its entity."""
    rng = np.random.default_rng(seed)
    scores = []
    for n in sizes:
        drawn = np.tril(rng.normal(scale=3, size=(n, n)))
        drawn[np.diag_indices(n)] += 4
        scores.append(drawn)
    return scores


def graphs(scores):
    """Return pair probabilities by the components of one graph a sample."""
    rng = np.random.default_rng(0)
    found = []
    for proba in AntecedentPosterior(scores).antecedent_proba():
        n = len(proba)
        sums = proba.cumsum(axis=1)
        count = np.zeros((n, n))
        for _ in range(N_SAMPLES):
            uniform = rng.random(n) * sums[:, -1]
            choice = np.minimum((sums <= uniform[:, np.newaxis]).sum(axis=1), n - 1)
            graph = coo_array((np.ones(n), (np.arange(n), choice)), shape=(n, n))
            labels = connected_components(graph, directed=False)[1]
            count += labels[:, np.newaxis] == labels
        found.append(count / N_SAMPLES)
    return found


def coreference():
    sizes = [len(labels) for labels in fetch_corpus("litbank", subset="all").target]
    scores = draw_scores(sizes)
    exact = SampledCorefPairs(method="exact")
    sampled = SampledCorefPairs(N_SAMPLES, random_state=0)
    times = {
        "exact": lambda: exact.transform(scores),
        "exact, square": lambda: AntecedentPosterior(scores).pair_marginals(),
        "sampled": lambda: sampled.transform(scores),
    }
    best = best_times(times, 3)
    some = scores[GRAPHS]
    part = best_times(
        {"graphs": lambda: graphs(some), "exact": lambda: exact.transform(some)}, 3
    )
    q = np.concatenate(list(exact.transform(scores)))
    off = np.abs(np.concatenate(list(sampled.transform(scores))) - q)
    ratio = part["graphs"] / part["exact"]
    rows = [
        {
            "method": name,
            "seconds": f"{t:.3f}",
            "times exact": f"{t / best['exact']:.1f}",
        }
        for name, t in best.items()
    ]
    rows.append(
        {
            "method": f"graphs (on {len(some)} documents)",
            "seconds": f"{part['graphs']:.3f}",
            "times exact": f"{ratio:.1f}",
        }
    )
    print(f"{len(sizes)} documents, {q.size} pairs, mean {q.mean():.3f}")
    print(
        f"sampled: off by {off.max():.3f} at most, {np.sqrt((off**2).mean()):.4f} rms"
    )
    yield "coref_speed.csv", rows, versions("numpy", "scipy", "skcalib")


# Significance

TESTED = (100, 2000, 24_000)
MANY = 10**7


def accuracies(n, rng):
    a = rng.binomial(1, 0.9, n)
    return a, np.where(rng.random(n) < 0.9, a, rng.binomial(1, 0.85, n)), "mean"


def token_accuracies(n, rng):
    length = 1 + rng.negative_binomial(3, 0.15, n)
    a, b = (np.stack([rng.binomial(length, p), length], 1) for p in (0.93, 0.925))
    return a, b, "ratio"


def test_rows(case, n, best):
    first = next(iter(best.values()))
    return [
        {
            "case": case,
            "n": n,
            "function": function,
            "milliseconds": f"{1000 * seconds:.3g}",
            "ratio_to_first": f"{seconds / first:.3g}",
        }
        for function, seconds in best.items()
    ]


def without_resampling(n_rounds):
    """Time exact and saddlepoint p-values against extrapolated Monte Carlo."""
    rows = []
    for name, make in (("accuracy", accuracies), ("token accuracy", token_accuracies)):
        for n in TESTED:
            a, b, statistic = make(n, np.random.default_rng(n))
            drawn = max(1000, 20_000_000 // n)
            run = partial(paired_bootstrap_test, a, b, statistic=statistic)
            methods = ["saddlepoint"] + (["exact"] if name == "accuracy" else [])
            functions = {method: partial(run, method=method) for method in methods}
            functions["monte_carlo"] = partial(
                run, method="monte_carlo", n_resamples=drawn, random_state=0
            )
            best = best_times(functions, n_rounds)
            best["monte_carlo, b=10^7"] = best.pop("monte_carlo") * MANY / drawn
            rows += test_rows(name, n, best)
    return rows


def real_scores(n_rounds):
    """Time tests of real-valued scores beside scipy, extrapolated to 10^4 swaps."""
    for n in (1000, 10_000, 100_000):
        rng = np.random.default_rng(n)
        a, drawn = rng.beta(2, 1, n), max(20, 10**6 // n)
        b = np.clip(a + rng.normal(0.1 / np.sqrt(n), 0.1, n), 0, 1)
        how = {"permutation_type": "samples", "n_resamples": drawn}
        functions = {
            "permutation_test": partial(permutation_test, a, b),
            "compare_systems": partial(compare_systems, {"a": a, "b": b}),
            "scipy.stats.permutation_test": partial(peer, (a - b,), np.mean, **how),
        }
        best = best_times(functions, n_rounds)
        best["scipy.stats.permutation_test"] *= 10_000 / drawn
        yield from test_rows("real scores", n, best)


def many_systems(n_rounds, n=2077, n_systems=36):
    """Time all pairs of systems whose quality differs by a little each."""
    rng = np.random.default_rng(2)
    length = 1 + rng.negative_binomial(3, 0.15, n)
    gold = rng.poisson(1.5, n)
    systems = {"mean": {}, "ratio": {}, "f1": {}}
    for k in range(n_systems):
        right = rng.binomial(length, 0.9 + 0.001 * k)
        found = rng.binomial(gold, 0.7 + 0.003 * k)
        systems["mean"][k] = right
        systems["ratio"][k] = np.stack([right, length], 1)
        guessed = found + rng.poisson(0.3, n)
        systems["f1"][k] = np.stack([found, guessed, gold], 1)
    functions = {
        name: partial(compare_systems, named, statistic=name, random_state=0)
        for name, named in systems.items()
    }
    return test_rows("630 pairs of systems", n, best_times(functions, n_rounds))


def significance():
    rows = without_resampling(10) + [*real_scores(3), *many_systems(3)]
    yield "speed_significance.csv", rows, versions("numpy", "scipy")


# Events

SIZES_OF_TEXTS = (50, 150, 300, 600)
SAMPLES = (100, 1000)
N_DOCUMENTS = 12
# The lexicon does not know it, so that no document passes the filter.
NOWHERE = {"XXX": ("Xyland", "Xylandish")}


def counter(n_samples):
    return EventCounter(EventRule(), n_samples=n_samples, random_state=0)


def generate(n_documents, mentions, **options):
    documents, _, scores = make_event_documents(
        n_documents,
        mean_mentions=mentions,
        return_scores=True,
        random_state=mentions,
        **options,
    )
    return documents, scores


def calls():
    """Return the functions that are timed, and how many documents each works on."""
    functions, n_documents = {}, {}
    for mentions in SIZES_OF_TEXTS:
        data = generate(N_DOCUMENTS, mentions)
        for n_samples in SAMPLES:
            key = "count", mentions, n_samples
            functions[key] = lambda data=data, n=n_samples: counter(n).count(*data)
            n_documents[key] = N_DOCUMENTS
    foreign = generate(100, 300, countries=NOWHERE)
    functions["filter", 300, 100] = lambda: counter(100).count(*foreign)
    n_documents["filter", 300, 100] = 100
    short, _ = generate(200, 10)
    rule = EventRule()
    functions["rule", 10, 0] = lambda: [rule.evidence(document) for document in short]
    n_documents["rule", 10, 0] = 200
    return functions, n_documents


def event_times(n_rounds=5):
    functions, n_documents = calls()
    best = best_times(functions, n_rounds, clock=time.process_time)
    return [
        {
            "what": what,
            "mentions": mentions,
            "samples": n_samples,
            "ms_per_document": f"{1e3 * seconds / n_documents[key]:.3g}",
        }
        for key, seconds in best.items()
        for what, mentions, n_samples in [key]
    ]


def events():
    note = f"{N_DOCUMENTS} documents; {versions('numpy', 'scipy')}"
    yield "speed_events.csv", event_times(), note


# Memory

PAIRS = [10**5, 10**6, 10**7, 10**8]
N_SENTENCES = [10**2, 10**3, 10**4]
TAGS, MENTIONS, TOKENS = 12, 50, 20
CHUNK = 10**6


def mostly_low_pairs(n):
    rng = np.random.default_rng(0)
    q = rng.random(n) ** 6
    return (rng.random(n) < q).astype(np.int8), q


def measured(function, *columns, **named):
    """Return the size of the arrays that a call takes, and the call."""
    arrays = [each for each in (*columns, *named.values()) if hasattr(each, "nbytes")]
    size = sum(array.nbytes for array in arrays)
    return size, lambda: function(*columns, **named)


def on_pairs(function, *, weighted=False, grouped=0, **options):
    """Return a case of a function of labels and probabilities."""

    def make(n):
        given = dict(options)
        if weighted:
            given["sample_weight"] = np.random.default_rng(1).random(n)
        if grouped:
            given["groups"] = np.arange(n) // grouped
        return measured(function, *mostly_low_pairs(n), **given)

    return make


def ten_classes(n):
    proba = np.random.default_rng(4).dirichlet(np.full(10, 0.2), n // 10)
    y = np.random.default_rng(5).integers(0, 10, n // 10)
    return measured(calibration_error_interval, y, proba, labels=np.arange(10))


def scores(n):
    """Return the scores of two systems on n items, 0 or 1."""
    rng = np.random.default_rng(2)
    level = rng.random(n)
    return [(rng.random(n) < level).astype(float) for _ in range(2)]


def two_tests(n):
    return measured(paired_bootstrap_test, *scores(n))


def two_systems(n):
    a, b = scores(n)
    return 2 * a.nbytes, lambda: compare_systems({"a": a, "b": b}, statistic="mean")


def sketched(n):
    def run():
        sketch = ReliabilitySketch()
        for start in range(0, n, CHUNK):
            sketch.update(*mostly_low_pairs(min(CHUNK, n - start)))
        return sketch.error()

    return 0, run


def tagged(tagger):
    def make(n):
        X, y = make_tagged_sentences(n, random_state=0)[:2]
        fitted = tagger.fit(X[:100], y[:100])
        size = sum(sys.getsizeof(token) for sentence in X for token in sentence)
        return size, lambda: fitted.predict_proba(X)

    return make


def tag_pairs(n):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n * TOKENS, TAGS))
    lengths = np.full(n, TOKENS)
    posterior = LinearChainPosterior(scores, np.zeros((TAGS, TAGS)), lengths=lengths)
    return scores.nbytes, posterior.pair_marginals


def chosen_tag_pairs(n):
    size, all_pairs = tag_pairs(n)
    return size, lambda: all_pairs.__self__.pair_marginals(pairs=[(0, 1), (2, 3)])


def mention_pairs(method):
    def make(n):
        rng = np.random.default_rng(0)
        scores = [rng.normal(size=(MENTIONS, MENTIONS)) for _ in range(n)]
        scores = [np.tril(s) for s in scores]
        step = SampledCorefPairs(n_samples=10, method=method, random_state=0)
        return sum(s.nbytes for s in scores), lambda: step.transform(scores)

    return make


MOST = [10**7]
MEMORY = {
    "calibration_error, auto bins": (on_pairs(calibration_error), PAIRS),
    "calibration_error, bins of 100": (
        on_pairs(calibration_error, bin_size=100),
        PAIRS,
    ),
    "calibration_error, weights": (
        on_pairs(calibration_error, weighted=True),
        PAIRS[:-1],
    ),
    "adaptive_reliability_curve": (on_pairs(adaptive_reliability_curve), PAIRS),
    "calibration_error_interval": (on_pairs(calibration_error_interval), PAIRS),
    "calibration_error_interval, groups of 10": (
        on_pairs(calibration_error_interval, grouped=10),
        MOST,
    ),
    "calibration_error_interval, 10 classes": (ten_classes, MOST),
    "ReliabilitySketch, chunks of 10^6": (sketched, PAIRS),
    "paired_bootstrap_test, mean": (two_tests, MOST),
    "compare_systems": (two_systems, MOST),
    "HMMTagger.predict_proba": (tagged(HMMTagger(1.0)), N_SENTENCES),
    "CRFTagger.predict_proba": (
        tagged(CRFTagger(c2=1.0, max_iterations=5)),
        N_SENTENCES,
    ),
    "pair_marginals, all": (tag_pairs, N_SENTENCES),
    "pair_marginals, two pairs": (chosen_tag_pairs, N_SENTENCES),
    "SampledCorefPairs, sample": (mention_pairs("sample"), N_SENTENCES),
    "SampledCorefPairs, exact": (mention_pairs("exact"), N_SENTENCES),
}


def status(field):
    """Return a field of the process status in bytes."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def run_case(name, n):
    make, _ = MEMORY[name]
    size, function = make(n)
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # forget the peak so far
    before = status("VmRSS")
    start = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - start
    assert result is not None
    extra = status("VmHWM") - before
    return {
        "input_mib": round(size / 2**20, 1),
        "extra_mib": round(extra / 2**20, 1),
        "per_input": f"{extra / size:.2f}" if size else "",
        "seconds": round(seconds, 2),
    }


def memory(largest=PAIRS[-1]):
    rows = []
    for name, (_, sizes) in MEMORY.items():
        for n in (n for n in sizes if n <= largest):
            command = [sys.executable, __file__, "--case", name, str(n)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append({"function": name, "n": n, **json.loads(done.stdout)})
            print(name, n, done.stdout.strip(), flush=True)
    yield "memory.csv", rows, versions("numpy", "scipy", "scikit-learn")


PARTS = {
    "calibration": calibration,
    "commands": commands,
    "taggers": taggers,
    "coreference": coreference,
    "significance": significance,
    "events": events,
    "memory": memory,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="part")
    parser.add_argument("--largest", type=int, help="pairs of memory")
    parser.add_argument("--case", nargs=2, help="memory of one case in this process")
    options = parser.parse_args()
    if options.case:
        name, n = options.case
        print(json.dumps(run_case(name, int(n))))
        return
    for part in options.parts:
        sized = part == "memory" and options.largest
        for name, rows, note in PARTS[part](*([options.largest] if sized else [])):
            print_table(rows)
            write_csv(name, rows, f"best of interleaved rounds, one thread; {note}")


if __name__ == "__main__":
    main()
