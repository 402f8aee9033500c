"""Peak memory of the main functions against the size of their input.

    python benchmarks/memory.py [--largest 100000000] [--quick]

Each case is a process of its own that makes its input, notes its memory, calls the
function and notes the peak (VmHWM of /proc, so Linux only). `extra` is the peak less
what was there before the call, the input included. The last column says what limits a
function on one machine.
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
from skcalib.datasets import make_tagged_sentences
from skcalib.metrics import (
    ReliabilitySketch,
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
)
from skcalib.posteriors import LinearChainPosterior
from skcalib.sequence import CRFTagger, HMMTagger

PAIRS = [10**5, 10**6, 10**7, 10**8]
DOCUMENTS = [10**2, 10**3, 10**4]
TAGS, MENTIONS, TOKENS = 12, 50, 20
CHUNK = 10**6


def pairs(n):
    rng = np.random.default_rng(0)
    q = rng.random(n) ** 6
    return (rng.random(n) < q).astype(np.int8), q


def on_pairs(function, *, weighted=False, **kwargs):
    def make(n):
        y, q = pairs(n)
        if weighted:
            kwargs["sample_weight"] = np.random.default_rng(1).random(n)
        size = sum(array.nbytes for array in (y, q, kwargs.get("sample_weight", y[:0])))
        return size, lambda: function(y, q, **kwargs)

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


OF_PAIRS = "copies to sort, 8 bytes a pair; less where bins are wide"
OF_OUTPUT = "the output"
OF_SCORES = "the output and the scores behind it"
CASES = {
    "calibration_error, auto bins": (on_pairs(calibration_error), PAIRS, OF_PAIRS),
    "calibration_error, bins of 100": (
        on_pairs(calibration_error, bin_size=100),
        PAIRS,
        OF_PAIRS,
    ),
    "calibration_error, weights": (
        on_pairs(calibration_error, weighted=True),
        PAIRS[:-1],
        "the permutation that weights need",
    ),
    "adaptive_reliability_curve": (
        on_pairs(adaptive_reliability_curve),
        PAIRS,
        OF_PAIRS,
    ),
    "calibration_error_interval": (
        on_pairs(calibration_error_interval),
        PAIRS,
        OF_PAIRS,
    ),
    "ReliabilitySketch, chunks of 10^6": (
        sketched,
        PAIRS,
        "nothing: a chunk and 13 MB of tables",
    ),
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
    return {
        "input_mib": round(size / 2**20, 1),
        "extra_mib": round((memory("VmHWM") - before) / 2**20, 1),
        "seconds": round(seconds, 2),
    }


QUICK = [
    {
        "args": ["--largest", "1000000"],
        "keep": {
            "CASES": [
                "calibration_error, auto bins",
                "pair_marginals, two pairs",
            ]
        },
        "files": {
            "memory.csv": {
                "keys": ["function", "n", "limit"],
                "timed": ["extra_mib", "seconds"],
            }
        },
    }
]


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
        most = sizes[1] if args.quick else args.largest
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
