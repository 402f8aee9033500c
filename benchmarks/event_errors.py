"""Are uncertain answers wrong more often? Gold coreference of GUM and LitBank.

    SKCALIB_DATA=... python benchmarks/event_errors.py [--quick]

Section 6.2 of Nguyen and O'Connor (2015) says of a calibrated model that the more
uncertain a prediction is, the more likely it is to be wrong, and looks at articles with
a probability near one half. Here the truth is known. A ranker is trained on a part of
each corpus (mentions given) and recalibrated on 20 other documents. Its best clustering
answers three questions about each of the remaining documents:

- event: is an entity of this country the subject of a verb? (GUM; a document and a
  country each; wrong or right)
- entities: how many are there? (error per mention)
- pairs: which mentions are one entity? (share of wrong pairs)

The error is compared with the error that the posterior expects, by thirds of the
expectation, and by rank correlation with an interval from a bootstrap over documents.
Two minutes on one core; --quick: fewer documents, nothing is written.
"""

import _study
import numpy as np
from _common import print_table, versions, write_csv
from _events import fit, gum, timed, truth
from scipy.special import ndtr
from scipy.stats import spearmanr

from skcalib import TemperatureScaling
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import fetch_litbank
from skcalib.events import EventCounter, EventRule

N_RESAMPLES = 1000
N_TUNE = 20
N_ITERATIONS = 40


def gum_parts():
    """Return the documents to learn from, and the others, with their entities."""
    learn = [gum(part, lowercase=False, mentions="gold") for part in ("dev", "test")]
    documents, labels = (sum(both, []) for both in zip(*learn, strict=True))
    return (documents, labels), gum("train", lowercase=False, mentions="gold")


def litbank_parts():
    found = fetch_litbank(subset="all")
    order = np.random.default_rng(0).permutation(len(found.data)).tolist()
    parts = order[:30], order[30:]
    return [([found.data[i] for i in p], [found.target[i] for i in p]) for p in parts]


def answered(parts, n_documents):
    """Return the documents to ask about, their entities and their posterior."""
    (learn, learn_y), (others, others_y) = parts
    features = AntecedentFeatures()
    ranker = fit(
        features.transform(learn[:n_documents]), learn_y[:n_documents], N_ITERATIONS
    )
    tune = features.transform(others[:N_TUNE])
    scaled = TemperatureScaling(ranker, cv="prefit").fit(tune, others_y[:N_TUNE])
    stop = None if n_documents is None else N_TUNE + n_documents
    documents, labels = others[N_TUNE:stop], others_y[N_TUNE:stop]
    posterior = scaled.posterior(features.transform(documents))
    return documents, labels, posterior


# Questions: arrays of the document, the expected error and the error of each answer


def event_answers(documents, labels, posterior):
    rule = EventRule(None)
    counter = EventCounter(rule, n_samples=1000, freq=None, random_state=0)
    found = counter.count(documents, posterior).probabilities()
    proba = {
        (i, country): p
        for i, country, p in zip(
            found["document"], found["country"], found["proba"], strict=True
        )
    }
    best = posterior.map_clusters()
    rows = []
    for i, document in enumerate(documents):
        says, is_so = truth(rule, document, best[i]), truth(rule, document, labels[i])
        # what is neither found nor possible was not asked
        for country in sorted({c for k, c in proba if k == i} | set(says) | set(is_so)):
            p = proba.get((i, country), 0.0)
            expected = 1 - p if country in says else p
            rows.append((i, expected, (country in says) != (country in is_so)))
    return np.array(rows, dtype=float)


def number_of_entities(documents, labels, posterior):
    rows = []
    best = posterior.map_clusters()
    for i, pmf in enumerate(posterior.n_entities_pmf()):
        value = np.arange(pmf.size)
        answer, n = np.unique(best[i]).size, len(labels[i])
        expected = pmf @ np.abs(value - answer)
        rows.append((i, expected / n, abs(np.unique(labels[i]).size - answer) / n))
    return np.array(rows)


def wrong_pairs(documents, labels, posterior):
    rows = []
    best = posterior.map_clusters()
    for i, q in enumerate(posterior.pair_marginals()):
        pairs = np.tril_indices(len(q), -1)
        says, is_so = (
            np.equal.outer(clusters, clusters)[pairs]
            for clusters in (np.asarray(best[i]), np.asarray(labels[i]))
        )
        expected = np.where(says, 1 - q[pairs], q[pairs]).mean()
        rows.append((i, expected, np.mean(says != is_so)))
    return np.array(rows)


# Tables


def row_of(corpus, question, answers):
    """Return rank correlation and the errors by thirds of the expected error."""
    document, expected, error = answers.T
    names = np.unique(document)
    own = [np.flatnonzero(document == name) for name in names]
    rng = np.random.default_rng(0)
    order = np.argsort(expected, kind="stable")
    thirds = np.array_split(order, 3)
    rho, means = statistics(expected, error, thirds)
    place = np.empty(len(order), dtype=int)
    for k, third in enumerate(thirds):
        place[third] = k
    drawn = []
    for _ in range(N_RESAMPLES):
        rows = np.concatenate([own[k] for k in rng.integers(len(own), size=len(own))])
        parts = [np.flatnonzero(place[rows] == k) for k in range(3)]
        drawn.append(np.r_[statistics(expected[rows], error[rows], parts)])
    drawn = np.array(drawn)
    low, high = np.nanpercentile(drawn, (2.5, 97.5), axis=0)
    z = rho / np.nanstd(drawn[:, 0])
    row = {
        "corpus": corpus,
        "question": question,
        "documents": len(names),
        "answers": len(answers),
        "rank correlation": f"{rho:.2f}",
        "low": f"{low[0]:.2f}",
        "high": f"{high[0]:.2f}",
        "p": f"{2 * ndtr(-abs(z)):.2g}",
    }
    for k, name in enumerate(("certain", "middle", "uncertain")):
        row[f"error, {name}, %"] = f"{100 * means[k]:.2f}"
        row[f"interval, {name}"] = f"{100 * low[k + 1]:.2f}-{100 * high[k + 1]:.2f}"
        row[f"expected, {name}, %"] = f"{100 * expected[thirds[k]].mean():.2f}"
    return row


def statistics(expected, error, thirds):
    """Return the rank correlation, and the mean error of each third."""
    means = [error[third].mean() if third.size else np.nan for third in thirds]
    return spearmanr(expected, error).statistic, means


CORPORA = {
    "GUM": (
        gum_parts,
        {"event": event_answers, "entities": number_of_entities, "pairs": wrong_pairs},
    ),
    "LitBank": (litbank_parts, {"entities": number_of_entities, "pairs": wrong_pairs}),
}


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = []
    for corpus, (parts, questions) in CORPORA.items():
        with timed(corpus):
            found = answered(parts(), 12 if quick else None)
            rows += [
                row_of(corpus, name, ask(*found)) for name, ask in questions.items()
            ]
    print_table(rows)
    if not quick:
        write_csv("event_errors.csv", rows, versions("numpy", "scipy", "skcalib"))


if __name__ == "__main__":
    main()
