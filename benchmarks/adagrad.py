"""Is a CRF trained with AdaGrad calibrated otherwise than one trained with L-BFGS?

    SKCALIB_DATA=... python benchmarks/adagrad.py

The thesis trains its CRF with L2-regularised AdaGrad on batches of 100 sentences. This
script trains the basic CRF on the ARK tweets in this way: its features are pairs of a
word and a tag that occur in the training part, and pairs of tags. The gradient is the
difference between the observed numbers of features and their expectations under
`LinearChainPosterior`. The objective, the accuracy and the calibration of the test part
are measured after some epochs, and of CRFsuite's L-BFGS and stochastic gradient
descent (l2sgd) with the same features and penalty. Takes two minutes.
"""

import _study
import numpy as np
from _common import print_table, versions, write_csv
from tagging import load

from skcalib import CRFTagger, TokenFeatures, calibration_error_interval
from skcalib.posteriors import LinearChainPosterior
from skcalib.queries import TagQuery

PENALTIES = (0.03, 0.3)  # c2: chosen by likelihood in tagging.py, and ten times that
EPOCHS = (1, 3, 10, 30, 100)
ITERATIONS = {"lbfgs": (60, 1000), "l2sgd": (1000,)}
BATCH, STEP, TINY = 100, 0.5, 1e-8


class Weights:
    """Weights of words with tags (n_words + 1, n_tags) and of pairs of tags."""

    def __init__(self, X, y):
        self.words = {
            word: i for i, word in enumerate(sorted({w for s in X for w in s}))
        }
        self.tags = sorted({tag for tags in y for tag in tags})
        self.state = np.zeros((len(self.words) + 1, len(self.tags)))
        self.pairs = np.zeros((len(self.tags), len(self.tags)))
        self.used = np.zeros(self.state.shape, dtype=bool)
        for sentence, tags in zip(X, y, strict=True):
            self.used[self.rows(sentence), self.columns(tags)] = True

    def rows(self, sentence):
        # the last row belongs to unknown words, and stays 0
        return [self.words.get(word, len(self.words)) for word in sentence]

    def columns(self, tags):
        return [self.tags.index(tag) for tag in tags]

    def posterior(self, X):
        return LinearChainPosterior([self.state[self.rows(s)] for s in X], self.pairs)

    def objective(self, X, y, c2):
        """Return the penalised log likelihood that CRFsuite maximises as well."""
        likely = self.posterior(X).log_proba([self.columns(tags) for tags in y])
        return likely.sum() - c2 * ((self.state**2).sum() + (self.pairs**2).sum())

    def gradient(self, X, y, c2):
        """Return the gradients of the objective of some sentences."""
        posterior = self.posterior(X)
        state, pairs = np.zeros_like(self.state), -posterior.expected_transitions()
        marginals = posterior.token_marginals()
        for sentence, tags, expected in zip(X, y, marginals, strict=True):
            rows, columns = self.rows(sentence), self.columns(tags)
            np.add.at(state, (rows, columns), 1)
            np.subtract.at(state, rows, expected)
            np.add.at(pairs, (columns[:-1], columns[1:]), 1)
        state[~self.used] = 0
        return state - 2 * c2 * self.state, pairs - 2 * c2 * self.pairs


def adagrad(X, y, c2):
    """Yield the number of epochs and the weights after these epochs."""
    weights, rng = Weights(X, y), np.random.default_rng(0)
    parameters = weights.state, weights.pairs
    squares = [np.zeros_like(each) for each in parameters]
    for epoch in range(1, max(EPOCHS) + 1):
        order = rng.permutation(len(X))
        for start in range(0, len(X), BATCH):
            batch = order[start : start + BATCH]
            some = [X[i] for i in batch], [y[i] for i in batch]
            found = weights.gradient(*some, c2 * len(batch) / len(X))
            for each, square, slope in zip(parameters, squares, found, strict=True):
                square += slope**2
                each += STEP * slope / (np.sqrt(square) + TINY)
        if epoch in EPOCHS:
            yield epoch, weights


def from_crfsuite(X, y, algorithm, iterations, c2):
    """Return the weights of CRFsuite's model."""
    weights = Weights(X, y)
    items = TokenFeatures("basic").transform(X)
    crf = CRFTagger(algorithm=algorithm, c2=c2, max_iterations=iterations)
    crf.fit(items, y)
    for (attribute, tag), weight in crf.state_features_.items():
        word = attribute.removeprefix("word:")
        weights.state[weights.words[word], weights.tags.index(tag)] = weight
    for (first, second), weight in crf.transition_features_.items():
        where = weights.tags.index(first), weights.tags.index(second)
        weights.pairs[where] = weight
    return weights


def row(c2, name, n, weights, train, test):
    """Return the numbers of a model."""
    X, y = test
    posterior = weights.posterior(X)
    answers = TagQuery().from_posterior(y, posterior, weights.tags)
    result = calibration_error_interval(
        answers.y_true, answers.y_proba, groups=answers.groups
    )
    truth = np.concatenate(y)
    best = np.array(weights.tags)[np.concatenate(posterior.viterbi())]
    marginals = np.concatenate(posterior.token_marginals())
    likely = np.array(weights.tags)[marginals.argmax(axis=1)] == truth
    return {
        "c2": c2,
        "algorithm": name,
        "epochs": n,
        "objective": f"{weights.objective(*train, c2):.1f}",
        "accuracy": f"{(best == truth).mean():.4f}",
        "surplus": f"{marginals.max(axis=1).mean() - likely.mean():+.4f}",
        **_study.interval_cells(result),
    }


def main():
    train, _, test = load("ark")
    rows = []
    for c2 in PENALTIES:
        for name, numbers in ITERATIONS.items():
            for n in numbers:
                weights = from_crfsuite(*train, name, n, c2)
                rows.append(row(c2, name, n, weights, train, test))
        for epoch, weights in adagrad(*train, c2):
            rows.append(row(c2, "AdaGrad", epoch, weights, train, test))
    print_table(rows)
    note = f"AdaGrad with batches of {BATCH} sentences and step {STEP}; objective is "
    note += "the penalised log likelihood of the training part; "
    write_csv("adagrad.csv", rows, note + versions("numpy", "sklearn-crfsuite"))


if __name__ == "__main__":
    main()
