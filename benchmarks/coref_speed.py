"""Speed of exact pair probabilities and of 1000 sampled clusterings.

    SKCALIB_DATA=... python benchmarks/coref_speed.py

The documents have the sizes of the hundred documents of LitBank (4,354,026 pairs).
Scores are random, with entities about as large as in the corpus. One thread is used.
'exact' and 'sampled' are the methods of this package, from scores to probabilities of
pairs. 'graphs' samples the same number of clusterings with one call of scipy's
connected_components per clustering, as in the published procedure, on some of the
documents. The script also prints the sampling error.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _common import best_times, print_table, versions, write_csv
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from skcalib.coref import SampledCorefPairs
from skcalib.datasets import fetch_litbank
from skcalib.posteriors import AntecedentPosterior

N_SAMPLES = 1000
N_ROUNDS = 3
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


def main():
    sizes = [len(labels) for labels in fetch_litbank(subset="all").target]
    scores = draw_scores(sizes)
    exact = SampledCorefPairs(method="exact")
    sampled = SampledCorefPairs(N_SAMPLES, random_state=0)
    times = {
        "exact": lambda: exact.transform(scores),
        "exact, square": lambda: AntecedentPosterior(scores).pair_marginals(),
        "sampled": lambda: sampled.transform(scores),
    }
    best = best_times(times, N_ROUNDS)
    some = scores[GRAPHS]
    part = best_times(
        {"graphs": lambda: graphs(some), "exact": lambda: exact.transform(some)},
        N_ROUNDS,
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
    print_table(rows)
    write_csv("coref_speed.csv", rows, versions("numpy", "scipy", "skcalib"))


if __name__ == "__main__":
    main()
