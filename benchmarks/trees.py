"""Is a dependency parser calibrated? Arcs and subtrees in UD English EWT.

    SKCALIB_DATA=... python benchmarks/trees.py

A log-linear scorer of arcs is trained on words and universal tags of 5,000 sentences by
the gradient of the likelihood of whole trees, and a temperature is fitted on the dev
part. Tags are those of the treebank.
"""

import time
from zlib import crc32

import _study
import numpy as np
from _common import print_table, versions, write_csv

from skcalib import TemperatureScaling, calibration_error_interval
from skcalib.datasets import fetch_corpus
from skcalib.experimental import ArcQuery, SubtreeQuery, TreePosterior

BITS = 20
LONGEST = 60  # words of a training sentence


class Sentence:
    """Codes of words and tags, and true heads."""

    def __init__(self, sentence):
        self.words = np.array(
            [0, *(1 + crc32(w.lower().encode()) % (2**31) for w in sentence.form)]
        )
        self.tags = np.array([0, *(1 + crc32(t.encode()) % 997 for t in sentence.upos)])
        self.heads = np.array(sentence.head, dtype=np.intp) + 1
        self.is_verb = np.array([tag == "VERB" for tag in sentence.upos])


def load(subset, most=None):
    """Return the sentences of a part of the treebank."""
    documents = fetch_corpus("ud_english_ewt", subset=subset).documents
    found = [
        Sentence(sentence)
        for document in documents
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
                **_study.interval_cells(found),
                "seconds": f"{time.perf_counter() - start:.1f}",
            }
        )
    return rows


def main():
    start = time.perf_counter()
    sentences = [s for s in load("train", 5000) if s.heads.size <= LONGEST]
    weights = train(sentences, 3)
    print(f"trained in {time.perf_counter() - start:.0f} s", flush=True)
    dev, test = load("dev"), load("test")
    model = TemperatureScaling(Parser(), cv="prefit").fit(
        scores_of(weights, map(features, dev)), [s.heads for s in dev]
    )
    before = TreePosterior(scores_of(weights, map(features, test)))
    rows = []
    for name, temperature in (("as trained", 1.0), ("tempered", model.temperature_)):
        rows += calibration_rows(name, temperature, before.tempered(temperature), test)
    print_table(rows)
    write_csv("trees.csv", rows, versions("numpy", "scipy"))


if __name__ == "__main__":
    main()
