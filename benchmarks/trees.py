"""Is a dependency parser calibrated? Arcs and subtrees in UD English EWT.

    SKCALIB_DATA=... python benchmarks/trees.py [--quick]

A log-linear scorer of arcs is trained on words and universal tags of 5,000 sentences by
the gradient of the likelihood of whole trees, and a temperature is fitted on the dev
part. Tags and, for events, relation labels of words are those of the treebank. --quick
trains on fewer sentences, and writes nothing.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import decimal
import time
import tracemalloc
from zlib import crc32

import numpy as np
from _common import best_times, low_text, print_table, versions, write_csv

from skcalib import TemperatureScaling, calibration_error_interval
from skcalib.datasets import fetch_ud_english_ewt
from skcalib.experimental import ArcQuery, SubtreeQuery, TreePosterior

BITS = 20
LONGEST = 60  # words of a training sentence
N_SAMPLES = 50


class Sentence:
    """Codes of words and tags, true heads, and what counts as an event."""

    def __init__(self, sentence, document):
        self.words = np.array(
            [0, *(1 + crc32(w.lower().encode()) % (2**31) for w in sentence.form)]
        )
        self.tags = np.array([0, *(1 + crc32(t.encode()) % 997 for t in sentence.upos)])
        self.heads = np.array(sentence.head, dtype=np.intp) + 1
        self.is_verb = np.array([tag == "VERB" for tag in sentence.upos])
        self.roles = [
            np.flatnonzero([label.split(":")[0] == role for label in sentence.deprel])
            for role in ("nsubj", "obj")
        ]
        self.document = document


def load(subset, most=None):
    """Return the sentences of a part of the treebank."""
    documents = fetch_ud_english_ewt(subset=subset).documents
    found = [
        Sentence(sentence, i)
        for i, document in enumerate(documents)
        for sentence in document.sentences
        if len(sentence)
    ]
    return found[:most]


def features(sentence):
    """Return hashed features of each arc, (n, n + 1, n_features)."""
    n = sentence.heads.size
    d, h = np.arange(1, n + 1)[:, np.newaxis], np.arange(n + 1)[np.newaxis]
    tags = np.concatenate([sentence.tags, [998]])
    words = sentence.words
    direction = np.where(h == 0, 0, np.sign(d - h)) + 1
    distance = np.digitize(np.abs(d - h), [1, 2, 3, 4, 5, 7, 10, 15, 25])
    place = direction * 10 + distance
    td, th, wd, wh = tags[d], tags[h], words[d], words[h]
    pair = td * 1009 + th
    near_d = tags[d - 1] * 1013 + tags[d + 1]
    near_h = tags[h - 1] * 1013 + tags[h + 1]
    verbs = np.concatenate([[0], np.cumsum(np.r_[False, sentence.is_verb])])
    between = np.minimum(np.abs(verbs[d] - verbs[h]), 3)
    templates = [
        pair,
        pair * 31 + place,
        wd * 7 + direction,
        wd * 1009 + th * 3 + direction,
        wh * 1009 + td * 3 + direction,
        wd * 31 + wh * 17 + direction,
        pair * 65537 + near_d * 3 + direction,
        pair * 65537 + near_h * 3 + direction,
        pair * 131071 + tags[d - 1] * 1013 + tags[h - 1] + direction * 7,
        pair * 131071 + tags[d + 1] * 1013 + tags[h + 1] + direction * 7,
        pair * 31 + between * 5 + direction,
        place * 31 + between,
        wd * 31 + place,
    ]
    columns = []
    for k, code in enumerate(templates):
        code = np.broadcast_to(code, (n, n + 1)).astype(np.uint64)
        code = (code + np.uint64(k + 1)) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
        code *= np.uint64(0xBF58476D1CE4E5B9)
        columns.append((code >> np.uint64(64 - BITS)).astype(np.int32))
    return np.stack(columns, axis=-1)


def scores_of(weights, arcs):
    return [weights[each].sum(axis=2) for each in arcs]


def train(sentences, n_epochs, rate=0.3, size=32):
    """Return weights by AdaGrad on the log probability of the true trees."""
    rng = np.random.default_rng(0)
    arcs = [features(each) for each in sentences]
    weights, squares = np.zeros(2**BITS), np.full(2**BITS, 1e-8)
    for epoch in range(n_epochs):
        total = 0.0
        for rows in np.array_split(
            rng.permutation(len(sentences)), max(1, len(sentences) // size)
        ):
            some = [arcs[i] for i in rows]
            heads = [sentences[i].heads for i in rows]
            posterior = TreePosterior(scores_of(weights, some))
            gradient = np.zeros(2**BITS)
            for ids, proba, truth in zip(
                some, posterior.arc_marginals(), heads, strict=True
            ):
                left = -proba
                left[np.arange(truth.size), truth] += 1
                part = np.repeat(left.ravel(), ids.shape[2])
                gradient += np.bincount(ids.ravel(), part, minlength=2**BITS)
            total += posterior.log_proba(heads).sum()
            used = gradient != 0
            squares[used] += gradient[used] ** 2
            weights[used] += rate * gradient[used] / np.sqrt(squares[used])
        print(
            f"epoch {epoch + 1}: {total / len(sentences):.2f} per sentence", flush=True
        )
    return weights


class Parser:
    """A trained parser; X are arrays of scores."""

    def posterior(self, X):
        return TreePosterior(X)


def uas(trees, sentences):
    right = sum((t == s.heads).sum() for t, s in zip(trees, sentences, strict=True))
    return right / sum(s.heads.size for s in sentences)


def n_events(heads, sentence):
    """Return the number of verbs with a subject and an object, of trees (k, n)."""
    heads = np.atleast_2d(heads)
    found = np.ones((len(heads), sentence.heads.size), dtype=bool)
    for words in sentence.roles:
        has_one = np.zeros((len(heads), sentence.heads.size + 1), dtype=bool)
        for word in words:
            has_one[np.arange(len(heads)), heads[:, word]] = True
        found &= has_one[:, 1:]
    return (found & sentence.is_verb).sum(axis=1)


def event_row(name, posterior, trees, sentences):
    """Return counts of events by the true trees, the best ones and samples."""
    document = np.array([s.document for s in sentences])
    n = document.max() + 1
    gold = np.bincount(document, [n_events(s.heads, s)[0] for s in sentences], n)
    best = np.bincount(
        document,
        [n_events(t, s)[0] for t, s in zip(trees, sentences, strict=True)],
        n,
    )
    drawn = np.zeros((n, N_SAMPLES))
    samples = posterior.sample(N_SAMPLES, random_state=0)
    for some, sentence in zip(samples, sentences, strict=True):
        drawn[sentence.document] += n_events(some, sentence)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=1)
    total = drawn.sum(axis=0)
    long = gold + best > 0
    inside = (low <= gold) & (gold <= high)
    return {
        "posterior": name,
        "true": int(gold.sum()),
        "best trees": int(best.sum()),
        "mean": f"{total.mean():.1f}",
        "low": f"{np.quantile(total, 0.025):.0f}",
        "high": f"{np.quantile(total, 0.975):.0f}",
        "documents with events": int(long.sum()),
        "true count in interval": f"{inside[long].mean():.3f}",
        "best count is true": f"{(best == gold)[long].mean():.3f}",
    }


def calibration_rows(name, temperature, posterior, sentences):
    gold = [s.heads for s in sentences]
    trees = posterior.best_tree()
    shared = {
        "posterior": name,
        "temperature": f"{temperature:.2f}",
        "UAS best": f"{uas(trees, sentences):.4f}",
        "UAS expected arcs": f"{uas(posterior.mbr_trees(), sentences):.4f}",
        "log proba": f"{posterior.log_proba(gold).mean():.2f}",
    }
    queries = {
        "predicted arcs": ArcQuery(),
        "all arcs": ArcQuery(arcs="all"),
        "predicted subtrees of 2+": SubtreeQuery(min_length=2),
        "all spans of 2 to 5": SubtreeQuery(spans="all", min_length=2, max_length=5),
    }
    rows = []
    for title, query in queries.items():
        start = time.perf_counter()
        answers = query.from_posterior(gold, posterior)
        found = calibration_error_interval(
            answers.y_true, answers.y_proba, groups=answers.groups
        )
        rows.append(
            shared
            | {
                "query": title,
                "pairs": len(answers),
                "share of yes": f"{answers.y_true.mean():.4f}",
                "mean probability": f"{answers.y_proba.mean():.4f}",
                "error": f"{found.estimate:.4f}",
                "low": low_text(found.low),
                "high": f"{found.high:.4f}",
                "seconds": f"{time.perf_counter() - start:.1f}",
            }
        )
    return rows, event_row(name, posterior, trees, sentences)


def plain_loop(scores):
    """Return marginals of arcs, one sentence at a time."""
    found = []
    for each in scores:
        n = len(each)
        weights = np.exp(each - each.max())
        weights[np.arange(n), np.arange(1, n + 1)] = 0
        words = weights[:, 1:]
        matrix = np.diag(words.sum(axis=1)) - words
        matrix[:, 0] = weights[:, 0]
        inverse = np.linalg.inv(matrix)
        proba = np.zeros_like(each)
        for d in range(n):
            proba[d, 0] = weights[d, 0] * inverse[0, d]
            for h in range(n):
                if h != d:
                    own = inverse[d, d] if d else 0.0
                    other = inverse[h, d] if h else 0.0
                    proba[d, h + 1] = weights[d, h + 1] * (own - other)
        found.append(proba)
    return found


def speed_rows(n_sentences):
    rng = np.random.default_rng(0)
    rows = []
    for scale in (1, 5):
        scores = [rng.normal(size=(25, 26)) * scale for _ in range(n_sentences)]
        posterior = TreePosterior(scores)
        times = best_times(
            {
                "batched": posterior.arc_marginals,
                "loop": lambda scores=scores: plain_loop(scores),
            },
            2,
        )
        tracemalloc.start()
        posterior.arc_marginals()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append(
            {
                "sentences": n_sentences,
                "words": 25,
                "sd of scores": scale,
                "seconds": f"{times['batched']:.3f}",
                "plain loop": f"{times['loop']:.3f}",
                "ratio": f"{times['loop'] / times['batched']:.1f}",
                "peak MB": f"{peak / 1e6:.0f}",
            }
        )
    return rows


def sampling_rows(n=60):
    """Time samples of a sentence, also if pairs of words favour a cycle."""
    rows = []
    for cycles in (0, 5, 20, 200):
        scores = np.random.default_rng(n).normal(size=(n, n + 1))
        paired = np.arange(n)
        scores[paired, (paired ^ 1) + 1] += cycles
        for single_root in (True, False):
            posterior = TreePosterior([scores], single_root=single_root)
            for size in (1, 200):
                draw = {"": lambda p=posterior, k=size: p.sample(k, random_state=0)}
                rows.append(
                    {
                        "words": n,
                        "added to cycles": cycles,
                        "single root": single_root,
                        "samples": size,
                        "ms per sample": f"{1e3 * best_times(draw, 5)[''] / size:.2f}",
                    }
                )
    return rows


def log_z_in_decimals(scores):
    """Return log Z with a single root, to 60 digits, without subtraction."""
    n = len(scores)
    weights = [[decimal.Decimal(x).exp() for x in row] for row in scores.tolist()]
    product = decimal.Decimal(1)
    for k in range(n - 1):
        left = range(k + 1, n)
        total = sum(weights[k][j + 1] for j in left)
        product *= total
        for i in left:
            share = weights[i][k + 1] / total
            for j in [0, *(j + 1 for j in left if j != i)]:
                weights[i][j] += share * weights[k][j]
    return (product * weights[n - 1][0]).ln()


def precision_rows():
    """Compare 100 words with decimals of 60 digits."""
    decimal.getcontext().prec = 60
    decimal.getcontext().Emin, decimal.getcontext().Emax = -(10**9), 10**9
    rng = np.random.default_rng(1)
    rows = []
    for name, scores in {
        "normal, sd 1": rng.normal(size=(100, 101)),
        "normal, sd 10": rng.normal(size=(100, 101)) * 10,
        "uniform in +-1000": rng.uniform(-1000, 1000, size=(100, 101)),
    }.items():
        posterior = TreePosterior([scores])
        log_z = log_z_in_decimals(scores)
        (proba,) = posterior.arc_marginals()
        error = 0.0
        between = np.abs(proba - 0.5)
        for place in np.argsort(between.ravel())[:3]:
            d, h = divmod(int(place), 101)
            without = scores.copy()
            without[d, h] = -1e6
            exact = 1 - (log_z_in_decimals(without) - log_z).exp()
            error = max(error, abs(float(exact) - proba[d, h]))
        found = decimal.Decimal(posterior.log_partition()[0])
        rows.append(
            {
                "scores": name,
                "log Z": f"{float(log_z):.6g}",
                "relative error of log Z": f"{float(abs(found / log_z - 1)):.1e}",
                "error of marginals near 1/2": f"{error:.1e}",
            }
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part, no CSV")
    quick = parser.parse_args().quick
    tables = {
        "trees_speed.csv": speed_rows(1000),
        "trees_sampling.csv": sampling_rows(),
        "trees_precision.csv": precision_rows(),
    }
    for rows in tables.values():
        print_table(rows)
    start = time.perf_counter()
    sentences = [
        s for s in load("train", 2000 if quick else 5000) if s.heads.size <= LONGEST
    ]
    weights = train(sentences, 2 if quick else 3)
    print(f"trained in {time.perf_counter() - start:.0f} s", flush=True)
    most = 300 if quick else None
    dev, test = load("dev", most), load("test", most)
    model = TemperatureScaling(Parser(), cv="prefit").fit(
        scores_of(weights, map(features, dev)), [s.heads for s in dev]
    )
    before = TreePosterior(scores_of(weights, map(features, test)))
    rows, events = [], []
    for name, temperature in (("as trained", 1.0), ("tempered", model.temperature_)):
        posterior = before.tempered(temperature)
        some, event = calibration_rows(name, temperature, posterior, test)
        rows += some
        events.append(event)
    tables |= {"trees.csv": rows, "trees_events.csv": events}
    print_table(rows)
    print_table(events)
    if not quick:
        note = versions("numpy", "scipy")
        for name, each in tables.items():
            write_csv(name, each, note)


if __name__ == "__main__":
    main()
