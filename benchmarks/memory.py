"""Peak memory of the main functions against the size of their input.

    python benchmarks/memory.py [--largest 100000000] [--quick]

Each case is a process of its own that makes its input, notes its memory, calls the
function and notes the peak (VmHWM of /proc, so Linux only). `extra` is the peak less
what was there before the call, the input included, and `per_input` is its multiple of
the input. The last column says what limits a function on one machine. It takes about
ten minutes.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _common import print_table, versions, write_csv

from skcalib.coref import SampledCorefPairs
from skcalib.counts import choose_documents, corrected_count
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    bin_size_curve,
    brier_statistics,
    calibration_error,
    calibration_error_interval,
    sample_size_curve,
    score_decomposition,
)
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import ClassQuery
from skcalib.rates import (
    accuracy_interval,
    judged_accuracy,
    pass_at_k,
    sample_variance,
    threshold_for_precision,
)
from skcalib.scorers import compare_calibration
from skcalib.sequence import CRFTagger, HMMTagger
from skcalib.significance import (
    compare_scores,
    compare_systems,
    mcnemar_test,
    paired_bootstrap_test,
    permutation_test,
)

PAIRS = [10**5, 10**6, 10**7, 10**8]
DOCUMENTS = [10**2, 10**3, 10**4]
TAGS, MENTIONS, TOKENS = 12, 50, 20
CHUNK = 10**6


def pairs(n):
    rng = np.random.default_rng(0)
    q = rng.random(n) ** 6
    return (rng.random(n) < q).astype(np.int8), q


def on_pairs(function, *, weighted=False, grouped=0, **options):
    """Return a case of a function of labels and probabilities."""

    def make(n):
        given = dict(options)
        if weighted:
            given["sample_weight"] = np.random.default_rng(1).random(n)
        if grouped:
            given["groups"] = np.arange(n) // grouped
        return measured(function, *pairs(n), **given)

    return make


def measured(function, *columns, **named):
    """Return the size of the arrays that a call takes, and the call."""
    arrays = [each for each in (*columns, *named.values()) if hasattr(each, "nbytes")]
    size = sum(array.nbytes for array in arrays)
    return size, lambda: function(*columns, **named)


def scores(n, n_systems=2):
    """Return the scores of systems on n items, 0 or 1."""
    rng = np.random.default_rng(2)
    level = rng.random(n)
    return [(rng.random(n) < level).astype(float) for _ in range(n_systems)]


def on_scores(function, *, columns=1, groups=0, **options):
    """Return a case of a test of two systems, with columns of statistics."""

    def make(n):
        given = dict(options)
        if groups:
            given["groups"] = np.arange(n) // groups
        a, b = scores(n)
        if columns > 1:
            a, b = (np.column_stack([x] + [np.ones(n)] * (columns - 1)) for x in (a, b))
        return measured(function, a, b, **given)

    return make


def on_systems(function, **options):
    def make(n):
        a, b = scores(n)
        return a.nbytes + b.nbytes, lambda: function({"a": a, "b": b}, **options)

    return make


def on_one_system(function, name=None, each=0, **options):
    """Return a case of a function of scores; `name` is the option of their groups."""

    def make(n):
        given = dict(options)
        if name is not None:
            given[name] = np.arange(n) // each
        return measured(function, scores(n, 1)[0], **given)

    return make


def on_counts(n):
    n_right = np.random.default_rng(2).integers(0, 11, n)
    return measured(pass_at_k, n_right, np.full(n, 10), k=5)


def labelled(n, n_labels=500):
    y, q = pairs(n)
    labels = np.full(n, np.nan)
    rows = np.random.default_rng(3).choice(n, n_labels, replace=False)
    labels[rows] = y[rows]
    return labels, q


def on_labels(function, *, reverse=False, **options):
    def make(n):
        columns = labelled(n)
        return measured(function, *(columns[::-1] if reverse else columns), **options)

    return make


def on_uncertainty(n):
    q = pairs(n)[1]
    return measured(choose_documents, np.sqrt(q * (1 - q)), 500, random_state=0)


def two_models(n):
    y, q = pairs(n)
    return measured(compare_calibration, y, q, q**1.1, random_state=0)


def on_classes(n):
    proba = np.random.default_rng(4).dirichlet(np.full(10, 0.2), n // 10)
    y = proba.cumsum(axis=1).argmax(axis=1) % 10
    y[:10] = np.arange(10)
    return measured(ClassQuery().from_proba, y, proba)


def pooled(function, **options):
    def make(n):
        proba = np.random.default_rng(4).dirichlet(np.full(10, 0.2), n // 10)
        y = np.random.default_rng(5).integers(0, 10, n // 10)
        return measured(function, y, proba, labels=np.arange(10), **options)

    return make


def sketched(n):
    def run():
        sketch = ReliabilitySketch()
        for start in range(0, n, CHUNK):
            sketch.update(*pairs(min(CHUNK, n - start)))
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
SORTED = "copies to sort, 8 bytes a pair; less where bins are wide"
PERMUTED = "a permutation, and the columns in its order"
GROUPED = "columns of 8 bytes: order, bin and residual of each pair"
PASSED = "a few columns"
OF_OUTPUT = "the output"
OF_SCORES = "the output and the scores behind it"
CASES = {
    "calibration_error, auto bins": (on_pairs(calibration_error), PAIRS, SORTED),
    "calibration_error, bins of 100": (
        on_pairs(calibration_error, bin_size=100),
        PAIRS,
        SORTED,
    ),
    "calibration_error, weights": (
        on_pairs(calibration_error, weighted=True),
        PAIRS[:-1],
        PERMUTED,
    ),
    "calibration_error, debias": (
        on_pairs(calibration_error, debias=True),
        MOST,
        SORTED,
    ),
    "calibration_error, debias, groups of 10": (
        on_pairs(calibration_error, debias=True, grouped=10),
        MOST,
        GROUPED,
    ),
    "calibration_error, 10 classes": (pooled(calibration_error), MOST, SORTED),
    "calibration_error, 10 classes, debias": (
        pooled(calibration_error, debias=True),
        MOST,
        GROUPED,
    ),
    "adaptive_reliability_curve": (
        on_pairs(adaptive_reliability_curve),
        PAIRS,
        SORTED,
    ),
    "adaptive_reliability_curve, 10 classes": (
        pooled(adaptive_reliability_curve),
        MOST,
        GROUPED,
    ),
    "calibration_error_interval": (
        on_pairs(calibration_error_interval),
        PAIRS,
        SORTED,
    ),
    "calibration_error_interval, weights": (
        on_pairs(calibration_error_interval, weighted=True),
        MOST,
        PERMUTED,
    ),
    "calibration_error_interval, groups of 10": (
        on_pairs(calibration_error_interval, grouped=10),
        MOST,
        GROUPED,
    ),
    "calibration_error_interval, 10 classes": (
        pooled(calibration_error_interval),
        MOST,
        GROUPED,
    ),
    "score_decomposition, adaptive": (on_pairs(score_decomposition), MOST, SORTED),
    "score_decomposition, isotonic": (
        on_pairs(score_decomposition, method="isotonic"),
        MOST,
        "values and blocks of the regression",
    ),
    "brier_statistics": (on_pairs(brier_statistics), MOST, OF_OUTPUT),
    "bin_size_curve": (
        on_pairs(bin_size_curve, bin_sizes=[100, 1000, 10_000]),
        MOST,
        SORTED,
    ),
    "sample_size_curve": (
        on_pairs(
            sample_size_curve, sample_sizes=[10**4, 10**6], n_repeats=5, random_state=0
        ),
        MOST,
        "the largest sample",
    ),
    "ReliabilitySketch, chunks of 10^6": (
        sketched,
        PAIRS,
        "nothing: a chunk and 13 MB of tables",
    ),
    "ClassQuery.from_proba, 10 classes": (on_classes, MOST, OF_OUTPUT),
    "compare_calibration": (two_models, [10**6], PERMUTED),
    "mcnemar_test": (on_scores(mcnemar_test), MOST, PASSED),
    "paired_bootstrap_test, mean": (on_scores(paired_bootstrap_test), MOST, PASSED),
    "paired_bootstrap_test, mean, groups of 10": (
        on_scores(paired_bootstrap_test, groups=10),
        MOST,
        PASSED,
    ),
    "paired_bootstrap_test, ratio": (
        on_scores(paired_bootstrap_test, columns=2, statistic="ratio"),
        MOST,
        PASSED,
    ),
    "permutation_test, mean": (on_scores(permutation_test), MOST, PASSED),
    "compare_scores": (on_systems(compare_scores), MOST, PASSED),
    "compare_systems": (on_systems(compare_systems, statistic="mean"), MOST, PASSED),
    "accuracy_interval": (on_one_system(accuracy_interval), MOST, PASSED),
    "accuracy_interval, groups of 10": (
        on_one_system(accuracy_interval, "groups", 10),
        MOST,
        PASSED,
    ),
    "accuracy_interval, questions of 10": (
        on_one_system(accuracy_interval, "questions", 10),
        MOST,
        PASSED,
    ),
    "pass_at_k": (on_counts, MOST, PASSED),
    "sample_variance": (on_one_system(sample_variance, "question", 10), MOST, PASSED),
    "threshold_for_precision": (
        on_pairs(threshold_for_precision, precision=0.5),
        MOST,
        PERMUTED,
    ),
    "judged_accuracy": (on_labels(judged_accuracy, reverse=True), MOST, PERMUTED),
    "corrected_count": (on_labels(corrected_count), MOST, PERMUTED),
    "choose_documents": (on_uncertainty, MOST, PASSED),
    "HMMTagger.predict_proba": (tagged(HMMTagger()), DOCUMENTS, OF_SCORES),
    "CRFTagger.predict_proba": (
        tagged(CRFTagger(max_iterations=5)),
        DOCUMENTS,
        OF_SCORES,
    ),
    "pair_marginals, all": (
        tag_pairs,
        DOCUMENTS,
        "tags squared a token; iter_pair_marginals holds a part",
    ),
    "pair_marginals, two pairs": (
        chosen_tag_pairs,
        DOCUMENTS,
        "the passes over all tags",
    ),
    "SampledCorefPairs, sample": (mention_pairs("sample"), DOCUMENTS, OF_OUTPUT),
    "SampledCorefPairs, exact": (mention_pairs("exact"), DOCUMENTS, OF_OUTPUT),
}


def memory(field):
    """Return a field of the process status in bytes."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def run_case(name, n):
    make, _, _ = CASES[name]
    size, function = make(n)
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # forget the peak so far
    before = memory("VmRSS")
    start = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - start
    assert result is not None
    extra = memory("VmHWM") - before
    return {
        "input_mib": round(size / 2**20, 1),
        "extra_mib": round(extra / 2**20, 1),
        "per_input": f"{extra / size:.2f}" if size else "",
        "seconds": round(seconds, 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=PAIRS[-1])
    parser.add_argument("--quick", action="store_true", help="small sizes, no CSV")
    parser.add_argument("--case", help="run one case in this process")
    parser.add_argument("--size", type=int)
    args = parser.parse_args()
    if args.case:
        print(json.dumps(run_case(args.case, args.size)))
        return
    rows = []
    for name, (_, sizes, limit) in CASES.items():
        most = 10**6 if args.quick else args.largest
        for n in (n for n in sizes if n <= most):
            command = [sys.executable, __file__, "--case", name, "--size", str(n)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(
                {"function": name, "n": n, **json.loads(done.stdout), "limit": limit}
            )
            print(name, n, done.stdout.strip(), flush=True)
    print_table(rows)
    if not args.quick:
        write_csv("memory.csv", rows, versions("numpy", "scipy", "scikit-learn"))


if __name__ == "__main__":
    main()
