"""Figures 2 and 8 of Berg-Kirkpatrick et al. (2012) on free data: gain against p-value.

    pip install nltk rouge-score
    SKCALIB_DATA=... python benchmarks/significance_texts.py

summaries: sentences of GUM are extracted until they have 30 words, by eight rules and
by rankers that are trained on resamples of the training part (ridge regression and
boosted trees; the target is ROUGE-1 of a sentence against the first summary). The
score of a document of the development and test parts is ROUGE-1 (F1, stemmed) of the
extract, as the mean over five human summaries.

constituents: probabilistic context-free grammars, plain and with the labels of parents,
are read off resamples of NLTK's sample of the Wall Street Journal, and parse the gold
tags of sentences of up to 20 tokens in its last 40 files. The score is F1 of labelled
brackets.

Run time on one core: one minute for summaries, ten minutes for constituents.
"""

import re
import zipfile
from collections import Counter

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from nltk import Tree
from nltk.tree import chomsky_normal_form, collapse_unary
from rouge_score.rouge_scorer import RougeScorer
from significance import kind_of, pairs_by_kind
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from skcalib.datasets import fetch_corpus
from skcalib.significance import borderline_threshold, compare_systems

N_MODELS = 12
# Few pairs have p-values between .04 and .06, as in the paper.
BORDERS = {"low": 0.01, "high": 0.1}
N_WORDS, MOST_TOKENS = 30, 20
RULES = {
    "lead": lambda x: np.arange(len(x)),
    "random": lambda x: np.random.default_rng(len(x)).permutation(len(x)),
    "longest": lambda x: np.argsort(-x[:, 1]),
    "centroid": lambda x: np.argsort(-x[:, 2]),
    "degree": lambda x: np.argsort(-x[:, 3]),
    "weight": lambda x: np.argsort(-x[:, 4]),
    "capitals": lambda x: np.argsort(-x[:, 5]),
    "lead+centroid": lambda x: np.argsort(-x[:, 2] - x[:, 0]),
}
RANKERS = {
    "ridge": lambda: Ridge(10.0),
    "boosting": lambda: HistGradientBoostingRegressor(max_leaf_nodes=8, random_state=0),
}
ROUGE = RougeScorer(["rouge1"], use_stemmer=True)


def resample(n, model, k):
    """Return n, n / 2 or n / 4 indices, drawn with replacement."""
    return np.random.default_rng([model, k]).integers(n, size=n // 2 ** (k % 3))


def rouge(text, summaries):
    return np.mean([ROUGE.score(s, text)["rouge1"].fmeasure for s in summaries])


def load_summaries(*subsets):
    """Return the sentences of each document of GUM, and its summaries."""
    parts = [fetch_corpus("gum", subset=s, download_if_missing=False) for s in subsets]
    documents = [document for part in parts for document in part.data]
    texts = [[sentence.text for sentence in d.sentences] for d in documents]
    names = [f"summary{k}" for k in range(1, 6)]
    # "(human1) " is the name of the author
    return texts, [
        [
            re.sub(r"^\(\w+\) ", "", d.metadata[name])
            for name in names
            if name in d.metadata
        ]
        for d in documents
    ]


def features_of(sentences, tfidf):
    """Return place, length, three weights of words, and capitals of the sentences."""
    words = tfidf.transform(sentences)
    mean = np.asarray(words.mean(axis=0)).ravel()
    columns = [
        1 / np.arange(1, len(sentences) + 1),
        [len(text.split()) for text in sentences],
        words @ mean,
        (words @ words.T).sum(axis=1),
        words.sum(axis=1),
        [sum(word[:1].isupper() for word in text.split()) for text in sentences],
    ]
    return np.column_stack([np.asarray(column).ravel() for column in columns])


def extract(sentences, order):
    """Return the first sentences of an order, in the order of the text."""
    n_words = np.cumsum([len(sentences[i].split()) for i in order])
    chosen = order[: 1 + np.searchsorted(n_words, N_WORDS)]
    return " ".join(sentences[i] for i in sorted(chosen))


def summaries():
    """Return the ROUGE-1 of each document by system, and the statistic."""
    texts, targets = load_summaries("train")
    new_texts, new_targets = load_summaries("dev", "test")
    tfidf = TfidfVectorizer(stop_words="english").fit(map(" ".join, texts))
    X = [features_of(text, tfidf) for text in texts]
    y = [
        np.array([rouge(sentence, target[:1]) for sentence in text])
        for text, target in zip(texts, targets, strict=True)
    ]
    orders = dict(RULES)
    for number, (name, ranker) in enumerate(RANKERS.items()):
        for k in range(N_MODELS):
            drawn = resample(len(X), number, k)
            model = ranker().fit(
                *(np.concatenate([z[i] for i in drawn]) for z in (X, y))
            )
            orders[f"{name} {k}"] = lambda x, m=model: np.argsort(-m.predict(x))
    new = [
        (text, target, features_of(text, tfidf))
        for text, target in zip(new_texts, new_targets, strict=True)
    ]
    systems = {
        name: np.array(
            [rouge(extract(text, order(x)), target) for text, target, x in new]
        )
        for name, order in orders.items()
    }
    return systems, "mean"


# Constituents


def load_trees():
    """Return trees over tags, without traces, for training and for testing."""
    (path,) = fetch_corpus(
        "wsj_sample", subset="all", download_if_missing=False
    ).filenames
    parts = [], []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if found := re.fullmatch(r"treebank/combined/wsj_(\d{4})\.mrg", name):
                text = archive.read(name).decode("ascii")
                for tree in re.split(r"^(?=\()", text, flags=re.MULTILINE):
                    if tree.strip() and (clean := cleaned(Tree.fromstring(tree))):
                        parts[int(found[1]) >= 160].append(clean)
    return parts


def cleaned(tree):
    """Return a tree whose leaves are tags, None if it has only traces."""
    if isinstance(tree[0], str):
        return None if tree.label() == "-NONE-" else Tree(tree.label(), [tree.label()])
    children = [child for child in map(cleaned, tree) if child is not None]
    label = re.split("[-=|]", tree.label())[0] or "TOP"
    return Tree(label, children) if children else None


def brackets(tree, start=0):
    """Return the labelled spans of a tree and where it ends; tags are no brackets."""
    found, end = Counter(), start
    for child in tree:
        if isinstance(child, str):
            return Counter(), start + 1
        inside, end = brackets(child, end)
        found += inside
    if tree.label() != "TOP":
        found[tree.label(), start, end] += 1
    return found, end


class Grammar:
    """Rules with two children, and their log probabilities, by label.

    A chain of labels with one child each is one label. It ends in a tag or in a rule.
    """

    def __init__(self, trees, parents):
        counts = Counter()
        for tree in trees:
            tree = tree.copy(deep=True)
            collapse_unary(tree, collapsePOS=True, collapseRoot=True)
            chomsky_normal_form(tree, horzMarkov=1, vertMarkov=parents)
            for node in tree.subtrees(lambda node: len(node) == 2):
                counts[node.label(), node[0].label(), node[1].label()] += 1
            counts[tree.label(),] += 1
        self.labels = sorted({label for rule in counts for label in rule})
        place = {label: k for k, label in enumerate(self.labels)}
        rules = sorted([place[label] for label in r] for r in counts if len(r) == 3)
        self.head, self.left, self.right = np.array(rules).T
        n = np.array([counts[tuple(self.labels[k] for k in rule)] for rule in rules])
        total = np.bincount(self.head, weights=n, minlength=len(self.labels))
        self.log_p = np.log(n / total[self.head])
        self.heads, self.starts = np.unique(self.head, return_index=True)
        with np.errstate(divide="ignore"):
            roots = np.array([counts[label,] for label in self.labels])
            self.root = np.log(roots / len(trees))
        self.tag = np.array(
            [label.split("+")[-1].split("^")[0] for label in self.labels]
        )

    def parse(self, tags):
        """Return the spans of the most probable tree (algorithm of CKY)."""
        n = len(tags)
        # best[i, j]: log probability of each label for the tags i to j - 1
        best = np.full((n, n + 1, len(self.labels)), -np.inf)
        for i, tag in enumerate(tags):
            best[i, i + 1, self.tag == tag] = 0
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                sums = self._sums(best, i, i + width).max(axis=0)
                best[i, i + width, self.heads] = np.maximum.reduceat(sums, self.starts)
        scores = self.root + best[0, n]
        found = Counter()
        if np.isfinite(scores.max()):
            self._trace(best, scores.argmax(), 0, n, found)
        return found

    def _sums(self, best, i, j, rules=slice(None)):
        """Return the log probability of each rule at each split."""
        left = best[i, i + 1 : j][:, self.left[rules]]
        right = best[i + 1 : j, j][:, self.right[rules]]
        return left + right + self.log_p[rules]

    def _trace(self, best, label, i, j, found):
        names = self.labels[label].split("|")[0].split("^")[0].split("+")
        if "|" not in self.labels[label]:  # not an inner label of a rule
            for name in names[: len(names) - (j - i == 1)]:
                if name != "TOP":
                    found[name, i, j] += 1
        if j - i > 1:
            rules = np.flatnonzero(self.head == label)
            sums = self._sums(best, i, j, rules)
            split, rule = np.unravel_index(sums.argmax(), sums.shape)
            middle = i + 1 + split
            self._trace(best, self.left[rules[rule]], i, middle, found)
            self._trace(best, self.right[rules[rule]], middle, j, found)


def constituents():
    """Return the statistics of brackets by system, and the statistic."""
    train, test = load_trees()
    test = [tree for tree in test if 2 <= len(tree.leaves()) <= MOST_TOKENS]
    gold = [brackets(tree)[0] for tree in test]
    systems = {}
    for parents, kind in enumerate(("plain", "parents")):
        for k in range(N_MODELS):
            drawn = resample(len(train), parents, k)
            grammar = Grammar([train[i] for i in drawn], parents)
            parsed = [grammar.parse(tree.leaves()) for tree in test]
            counts = np.array(
                [
                    [(a & b).total(), a.total(), b.total()]
                    for a, b in zip(gold, parsed, strict=True)
                ]
            )
            systems[f"{kind} {k}"] = counts
    return systems, "f1"


def rows_of(task, comparison):
    """Return a row for each kind of pairs: how many differ, and the thresholds."""
    rows = []
    for kind, pairs in pairs_by_kind(comparison.names):
        own = [k for k, pair in enumerate(comparison.pairs) if pair in set(pairs)]
        p, gain = comparison.pvalue[own], 100 * np.abs(comparison.gain[own])
        threshold = borderline_threshold(gain, p, **BORDERS)
        row = {
            "task": task,
            "pairs": kind,
            "number": len(own),
            "items": comparison.n_items,
            "lowest score": f"{100 * comparison.score.min():.2f}",
            "highest score": f"{100 * comparison.score.max():.2f}",
            "p below .05": int((p < 0.05).sum()),
            "largest gain with p above .05": f"{gain[p > 0.05].max():.2f}",
            "pairs with p from .01 to .1": threshold.n_pairs,
            "threshold": f"{threshold.threshold:.2f}",
        }
        rows.append(row)
    return rows


TASKS = {summaries: "ROUGE-1, points", constituents: "F1 of brackets, points"}


def main():
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    rows = []
    for ax, (task, metric) in zip(axes, TASKS.items(), strict=True):
        systems, statistic = task()
        comparison = compare_systems(systems, statistic=statistic, random_state=0)
        rows += rows_of(task.__name__, comparison)
        kind = list(map(kind_of, comparison.pairs))
        title = f"{task.__name__}, {comparison.n_items} items"
        _study.draw_pairs(ax, comparison, kind, metric, title, 2, 100, **BORDERS)
    print_table(rows)
    write_csv("significance_texts.csv", rows, versions("numpy", "nltk", "rouge-score"))
    _study.save(figure, "significance_texts.png")


if __name__ == "__main__":
    _study.parser_of(__doc__).parse_args()
    main()
