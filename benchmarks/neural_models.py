"""Do the probabilities of neural models hold? Entities and links in GUM.

    SKCALIB_DATA=... python benchmarks/neural_models.py [--quick] [--stage links]

Small models are trained on one core: taggers of torch with a CRF layer (pytorch-crf)
and with one softmax per piece of a word, spaCy's entity recogniser with a beam, and a
scorer of antecedents. Their outputs go through `skcalib.interop`. Entities are the
mentions of GUM that contain no other, with the four most frequent types. A temperature
and the threshold for a precision are chosen on the development part, and all numbers
are of the test part. Needs torch, pytorch-crf and spacy.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import random
import time
from collections import Counter

import numpy as np
import spacy
import torch
import torchcrf
from _common import print_table, read_csv, versions, write_csv
from scipy.optimize import minimize_scalar
from spacy.training import Example

from skcalib import calibration_error_interval
from skcalib.datasets import fetch_gum
from skcalib.evaluation import accuracy_interval, threshold_for_precision
from skcalib.experimental import predicted_links
from skcalib.interop import (
    from_antecedent_scores,
    from_pytorch_crf,
    from_spacy_beam,
    from_transformers,
)
from skcalib.queries import Answers, CorefPairQuery, SpanQuery, TagQuery
from skcalib.recalibration import fit_temperature

N_TYPES = 4
PIECE = 4  # letters in a piece of a word
TAGGER_PRECISION, LINK_PRECISION = 0.7, 0.7


def load(subset):
    """Return documents, and tokens, BIO tags and the document of their sentences."""
    documents = fetch_gum(subset=subset).data
    X, y, origin = [], [], []
    for number, document in enumerate(documents):
        tokens = [word for sentence in document.sentences for word in sentence.form]
        tags = ["O"] * len(tokens)
        spans = {(m.start, m.end): m.attributes.get("etype") for m in document.mentions}
        taken = set()
        for start, end in sorted(spans, key=lambda span: span[1] - span[0]):
            if taken.isdisjoint(range(start, end)) and end - start <= 8:
                taken.update(range(start, end))
                tags[start:end] = ["B"] + ["I"] * (end - start - 1)
                for t in range(start, end):
                    tags[t] += f"-{spans[start, end]}"
        first = 0
        for sentence in document.sentences:
            last = first + len(sentence)
            if last > first:
                X.append(tokens[first:last])
                y.append(tags[first:last])
                origin.append(number)
            first = last
    return documents, X, y, np.array(origin)


def keep_types(y, types):
    """Make tags of other types O."""
    return [[tag if tag[2:] in types else "O" for tag in tags] for tags in y]


def pieces_of(word):
    return [word[k : k + PIECE] for k in range(0, len(word), PIECE)]


class Encoder(torch.nn.Module):
    """Embeddings of tokens and their endings, a BiLSTM, and scores of tags."""

    def __init__(self, n_words, n_ends, n_tags, size=64):
        super().__init__()
        self.words = torch.nn.Embedding(n_words, size, padding_idx=0)
        self.ends = torch.nn.Embedding(n_ends, 32, padding_idx=0)
        self.lstm = torch.nn.LSTM(size + 32, size, batch_first=True, bidirectional=True)
        self.drop = torch.nn.Dropout(0.3)
        self.scores = torch.nn.Linear(2 * size, n_tags)

    def forward(self, words, ends):
        x = self.drop(torch.cat([self.words(words), self.ends(ends)], dim=-1))
        return self.scores(self.drop(self.lstm(x)[0]))


class Vocabulary:
    """Numbers of tokens and of their endings; 0 is padding, 1 unknown."""

    def __init__(self, sentences):
        count = Counter(token.lower() for tokens in sentences for token in tokens)
        kept = [token for token, n in count.items() if n > 1]
        self.words = {token: k + 2 for k, token in enumerate(kept)}
        ends = {self.ending(token) for tokens in sentences for token in tokens}
        self.ends = {end: k + 2 for k, end in enumerate(sorted(ends))}

    @staticmethod
    def ending(token):
        shape = "X" if token[:1].isupper() else "d" if token[:1].isdigit() else "x"
        return shape + token[-3:].lower()

    def encode(self, sentences):
        n = max(map(len, sentences))
        words, ends = np.zeros((2, len(sentences), n), dtype=np.int64)
        for i, tokens in enumerate(sentences):
            words[i, : len(tokens)] = [self.words.get(t.lower(), 1) for t in tokens]
            ends[i, : len(tokens)] = [self.ends.get(self.ending(t), 1) for t in tokens]
        return torch.tensor(words), torch.tensor(ends)


def batches(n, size):
    return [np.arange(k, min(k + size, n)) for k in range(0, n, size)]


def mixed_batches(lengths, size, rng):
    """Return batches of sentences of similar lengths, in random order."""
    order = np.argsort(lengths + rng.normal(0, 2, len(lengths)))
    parts = [order[k : k + size] for k in range(0, len(order), size)]
    return [parts[k] for k in rng.permutation(len(parts))]


class TorchTagger:
    """A tagger of words with a CRF layer, or of pieces with one softmax each."""

    def __init__(self, kind, classes):
        self.kind, self.classes = kind, classes
        self.place = {tag: k for k, tag in enumerate(classes)}

    def inputs(self, X):
        """Return what the encoder reads, and the word of each piece."""
        if self.kind == "crf":
            return X, None
        cut = [[pieces_of(word) for word in tokens] for tokens in X]
        flat = [[piece for pieces in each for piece in pieces] for each in cut]
        ids = [[k for k, pieces in enumerate(each) for _ in pieces] for each in cut]
        return flat, ids

    def targets(self, tags, ids, n):
        found = np.full(n, -100)
        codes = [self.place[tag] for tag in tags]
        if ids is None:
            found[: len(codes)] = codes
        else:
            for t, word in enumerate(ids):
                is_first = t == 0 or ids[t - 1] != word
                if is_first or self.kind == "all pieces":
                    found[t] = codes[word]
        return found

    def fit(self, X, y, n_epochs):
        torch.manual_seed(0)
        rng = np.random.default_rng(0)
        tokens, ids = self.inputs(X)
        self.vocabulary = Vocabulary(tokens)
        sizes = len(self.vocabulary.words) + 2, len(self.vocabulary.ends) + 2
        self.encoder = Encoder(*sizes, len(self.classes))
        self.crf = torchcrf.CRF(len(self.classes), batch_first=True)
        parameters = [*self.encoder.parameters(), *self.crf.parameters()]
        optimizer = torch.optim.Adam(parameters, lr=0.004)
        for _ in range(n_epochs):
            self.encoder.train()
            for rows in mixed_batches(np.array([*map(len, X)]), 32, rng):
                some = [tokens[i] for i in rows]
                scores = self.encoder(*self.vocabulary.encode(some))
                n = scores.shape[1]
                goal = torch.tensor(
                    np.array([self.targets(y[i], ids and ids[i], n) for i in rows])
                )
                if self.kind == "crf":
                    mask = goal >= 0
                    loss = -self.crf(scores, goal.clamp(min=0), mask, "token_mean")
                else:
                    loss = torch.nn.functional.cross_entropy(
                        scores.flatten(0, 1), goal.flatten()
                    )
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(parameters, 5.0)
                optimizer.step()
        return self

    @torch.no_grad()
    def posterior(self, X, pieces="first"):
        """Return the posterior of the sentences, by `skcalib.interop`."""
        self.encoder.eval()
        tokens, ids = self.inputs(X)
        rows = []
        for part in batches(len(X), 256):
            some = [tokens[i] for i in part]
            scores = self.encoder(*self.vocabulary.encode(some))
            rows += [scores[k, : len(each)] for k, each in enumerate(some)]
        if ids is None:
            return from_pytorch_crf(self.crf, rows)
        lengths = list(map(len, X))
        return from_transformers(
            rows, ids, self.classes, pieces=pieces, n_words=lengths
        )[0]


def by_document(answers, origin):
    """Return answers whose groups are documents, since new text is new documents."""
    groups = origin[answers.groups]
    return Answers(answers.y_true, answers.y_proba, groups, answers.item, answers.label)


def best_temperature(log_likelihood):
    """Return the temperature of the highest log likelihood."""
    found = minimize_scalar(
        lambda log_t: -log_likelihood(np.exp(log_t)), bounds=(-2, 2), method="bounded"
    )
    return float(np.exp(found.x))


def measured(model, question, when, answers):
    """Return a row: the calibration error with its interval."""
    found = calibration_error_interval(
        answers.y_true, answers.y_proba, groups=answers.groups
    )
    return {
        "model": model,
        "question": question,
        "when": when,
        "n": len(answers),
        "mean proba": f"{answers.y_proba.mean():.3f}",
        "frequency": f"{answers.y_true.mean():.3f}",
        "error": f"{found.estimate:.4f}",
        "low": f"{found.low:.4f}",
        "high": f"{found.high:.4f}",
    }


def selected(model, question, precision, dev, test):
    """Return a row: the threshold chosen on dev, share and precision on test."""
    row = {"model": model, "question": question, "wanted": precision}
    try:
        found = threshold_for_precision(
            dev.y_true, dev.y_proba, precision=precision, groups=dev.groups
        )
    except ValueError:
        return row | dict.fromkeys(
            ["threshold", "n", "share", "precision", "low", "high", "all"], "none"
        )
    above = test.take(test.y_proba >= found.threshold)
    interval = accuracy_interval(above.y_true, groups=above.groups)
    return row | {
        "threshold": f"{found.threshold:.3f}",
        "n": len(above),
        "share": f"{len(above) / len(test):.3f}",
        "precision": f"{interval.estimate:.3f}",
        "low": f"{interval.low:.3f}",
        "high": f"{interval.high:.3f}",
        "all": f"{test.y_true.mean():.3f}",
    }


def mean_of_marginals(posterior, classes, answers):
    """Return the answers with means of the token marginals, as tools report them."""
    place = {tag: k for k, tag in enumerate(classes)}
    marginals = posterior.token_marginals()
    mean = []
    rows = zip(answers.groups, answers.item, answers.label, strict=True)
    for i, (start, stop), label in rows:
        tags = [f"B-{label}", *[f"I-{label}"] * (stop - start - 1)]
        chosen = [place[tag] for tag in tags]
        mean.append(marginals[i][np.arange(start, stop), chosen].mean())
    return Answers(answers.y_true, mean, answers.groups, answers.item, answers.label)


def taggers(train, dev, test, origins, classes, n_epochs, rows, thresholds, pieces):
    place = {tag: k for k, tag in enumerate(classes)}
    for kind in ("crf", "first piece", "all pieces"):
        start = time.perf_counter()
        tagger = TorchTagger(kind, classes).fit(*train, n_epochs)
        name = "CRF" if kind == "crf" else f"softmax, {kind}"
        print(f"{name}: trained in {time.perf_counter() - start:.0f} s", flush=True)
        how = ["first"] if kind == "crf" else ["first", "mean", "product"]
        for combine in how:
            posteriors = [tagger.posterior(X, combine) for X, _ in (dev, test)]
            best = fit_temperature(posteriors[0], dev[1], classes)
            if kind != "crf":
                top = by_document(
                    TagQuery("top").from_posterior(test[1], posteriors[1], classes),
                    origins[1],
                )
                found = calibration_error_interval(
                    top.y_true, top.y_proba, groups=top.groups
                )
                test_paths = [[place[tag] for tag in tags] for tags in test[1]]
                log_likelihood = posteriors[1].log_proba(test_paths).sum()
                pieces.append(
                    {
                        "trained on": kind,
                        "pieces": combine,
                        "accuracy": f"{top.y_true.mean():.4f}",
                        "log likelihood per token": f"{log_likelihood / len(top):.4f}",
                        "error": f"{found.estimate:.4f}",
                        "low": f"{found.low:.4f}",
                        "high": f"{found.high:.4f}",
                        "temperature": f"{best:.2f}",
                    }
                )
            if combine != "first" or kind == "all pieces":
                continue
            for when, t in (("before", 1.0), ("after", best)):
                both = [posterior.tempered(t) for posterior in posteriors]
                found = [
                    SpanQuery().from_posterior(y, posterior, classes)
                    for (_, y), posterior in zip((dev, test), both, strict=True)
                ]
                answers = [*map(by_document, found, origins)]
                top = by_document(
                    TagQuery("top").from_posterior(test[1], both[1], classes),
                    origins[1],
                )
                label = f"{when}" if t == 1 else f"{when}, T = {t:.2f}"
                rows.append(measured(name, "tokens, best tag", label, top))
                rows.append(measured(name, "entities", label, answers[1]))
                if t == 1:
                    mean = mean_of_marginals(both[1], classes, found[1])
                    mean = by_document(mean, origins[1])
                    rows.append(measured(name, "entities, mean of tokens", label, mean))
            thresholds.append(selected(name, "entities", TAGGER_PRECISION, *answers))


def spacy_ner(train, dev, test, origins, n_epochs, rows, thresholds):
    spacy.util.fix_random_seed(0)
    random.seed(0)
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("beam_ner", config={"beam_width": 8, "beam_update_prob": 0.5})

    def docs(X):
        return [spacy.tokens.Doc(nlp.vocab, words=tokens) for tokens in X]

    def biluo(tags):
        ends = zip(tags, [*tags[1:], "O"], strict=True)
        return [
            tag
            if tag == "O"
            else {"BI": "B", "BO": "U", "II": "I", "IO": "L"}[
                tag[0] + ("I" if after == f"I-{tag[2:]}" else "O")
            ]
            + tag[1:]
            for tag, after in ends
        ]

    examples = [
        Example.from_dict(doc, {"entities": biluo(tags)})
        for doc, tags in zip(docs(train[0]), train[1], strict=True)
    ]
    start = time.perf_counter()
    nlp.initialize(lambda: examples[:500])
    for label in {tag[2:] for tags in train[1] for tag in tags if tag != "O"}:
        ner.add_label(label)
    for _ in range(n_epochs):
        random.shuffle(examples)
        for batch in spacy.util.minibatch(examples, 64):
            nlp.update(batch, drop=0.2)
    print(f"spaCy: trained in {time.perf_counter() - start:.0f} s", flush=True)
    answers = []
    for (X, y), origin in zip((dev, test), origins, strict=True):
        found = from_spacy_beam(ner, docs(X), beam_width=16)
        answers.append(by_document(SpanQuery().from_proba(y, found), origin))
    likely = [each.take(each.y_proba >= 0.5) for each in answers]
    rows.append(measured("spaCy beam", "entities in the beam", "before", answers[1]))
    rows.append(measured("spaCy beam", "entities, q >= .5", "before", likely[1]))
    thresholds.append(selected("spaCy beam", "entities", TAGGER_PRECISION, *likely))


class AntecedentScorer(torch.nn.Module):
    """Scores of antecedents by a network on pairs of mentions; the dummy scores 0."""

    def __init__(self, vocabulary, size=48):
        super().__init__()
        self.vocabulary = vocabulary
        self.words = torch.nn.Embedding(len(vocabulary.words) + 2, size)
        self.mention = torch.nn.Linear(2 * size, size)
        self.pair = torch.nn.Sequential(
            torch.nn.Linear(3 * size + 6, size),
            torch.nn.ReLU(),
            torch.nn.Linear(size, 1),
        )

    def forward(self, document):
        tokens = [w.lower() for s in document.sentences for w in s.form]
        ids = torch.tensor([self.vocabulary.words.get(w, 1) for w in tokens])
        table = self.words(ids)
        mentions = document.mentions
        heads = torch.stack(
            [table[m.start if m.head is None else m.head] for m in mentions]
        )
        means = torch.stack([table[m.start : m.end].mean(dim=0) for m in mentions])
        x = torch.tanh(self.mention(torch.cat([heads, means], dim=1)))
        n = len(mentions)
        later, earlier = np.tril_indices(n, -1)
        text = np.array([" ".join(tokens[m.start : m.end]) for m in mentions])
        head = np.array(
            [tokens[m.start if m.head is None else m.head] for m in mentions]
        )
        kind = np.array([str(m.attributes.get("etype")) for m in mentions])
        gap = later - earlier
        features = np.column_stack(
            [
                text[later] == text[earlier],
                head[later] == head[earlier],
                kind[later] == kind[earlier],
                np.log1p(gap) / 5,
                gap == 1,
                gap < 10,
            ]
        )
        pairs = torch.cat(
            [
                x[later],
                x[earlier],
                x[later] * x[earlier],
                torch.tensor(features, dtype=torch.float32),
            ],
            dim=1,
        )
        scores = torch.full((n, n + 1), -1e4)
        scores[later, earlier] = self.pair(pairs).squeeze(1)
        scores[:, n] = 0.0  # the dummy
        return scores


def labels_of(document):
    return np.unique(document.entities, return_inverse=True)[1]


def best_links(y, posterior):
    """Return answers: is a mention the same entity as its best antecedent?"""
    links = predicted_links(posterior)
    pairs = posterior.pair_marginals()
    place = [*zip(links.document, links.mention, links.antecedent, strict=True)]
    return Answers(
        [int(y[i][j] == y[i][k]) for i, j, k in place],
        [pairs[i][j, k] for i, j, k in place],
        links.document,
        np.column_stack([links.antecedent, links.mention]),
        np.ones(len(links), dtype=int),
    )


def coreference(documents, n_epochs, rows, thresholds):
    train, dev, test = (
        [d for d in part if 2 <= len(d.mentions) <= 300][:80] for part in documents
    )
    torch.manual_seed(0)
    words = [s.form for d in train for s in d.sentences]
    model = AntecedentScorer(Vocabulary(words))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    for _ in range(n_epochs):
        for i in rng.permutation(len(train)):
            scores = model(train[i])
            labels = labels_of(train[i])
            n = len(labels)
            gold = np.tril(np.equal.outer(labels, labels), -1)
            gold = np.column_stack([gold, ~gold.any(axis=1)])
            kept = scores.masked_fill(~torch.tensor(gold), -1e4)
            loss = (scores.logsumexp(1) - kept.logsumexp(1)).sum() / n
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"coreference: trained in {time.perf_counter() - start:.0f} s", flush=True)
    with torch.no_grad():
        posteriors = [
            from_antecedent_scores([model(d) for d in part]) for part in (dev, test)
        ]
    y = [[labels_of(d) for d in part] for part in (dev, test)]
    best = best_temperature(
        lambda t: float(posteriors[0].tempered(t).log_proba(y[0]).sum())
    )
    query = CorefPairQuery(min_proba=0.02)
    for when, t in (("before", 1.0), (f"after, T = {best:.2f}", best)):
        answers = [
            query.from_posterior(labels, posterior.tempered(t))
            for labels, posterior in zip(y, posteriors, strict=True)
        ]
        rows.append(measured("antecedents", "pairs, q >= .02", when, answers[1]))
        links = [
            best_links(labels, posterior.tempered(t))
            for labels, posterior in zip(y, posteriors, strict=True)
        ]
        rows.append(measured("antecedents", "links", when, links[1]))
    thresholds.append(selected("antecedents", "links", LINK_PRECISION, *links))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="train on little data")
    parser.add_argument("--stage", choices=["taggers", "links", "spaCy"])
    arguments = parser.parse_args()
    quick = arguments.quick
    torch.set_num_threads(1)
    parts = [load(subset) for subset in ("train", "dev", "test")]
    count = Counter(
        tag[2:]
        for _, _, y, _ in parts[:1]
        for tags in y
        for tag in tags
        if tag[0] == "B"
    )
    types = [name for name, _ in count.most_common(N_TYPES)]
    classes = ["O", *(f"{p}-{name}" for name in sorted(types) for p in "BI")]
    train, dev, test = ((X, keep_types(y, types)) for _, X, y, _ in parts)
    origins = [origin for *_, origin in parts[1:]]
    size = 300 if quick else 2000
    order = np.random.default_rng(0).permutation(len(train[0]))[:size]
    train = tuple([each[i] for i in order] for each in train)
    documents = [documents for documents, *_ in parts]
    if quick:
        documents = [part[:8] for part in documents]
    rows, thresholds, pieces = [], [], []
    note = f"{versions('skcalib', 'numpy', 'torch', 'pytorch-crf', 'spacy')}; "
    note += f"{size} sentences of GUM for training, types {', '.join(types)}"
    n_epochs = {"taggers": 3 if quick else 5, "spaCy": 4, "links": 3}
    stages = {
        "taggers": lambda n: taggers(
            train, dev, test, origins, classes, n, rows, thresholds, pieces
        ),
        "links": lambda n: coreference(documents, n, rows, thresholds),
        "spaCy": lambda n: spacy_ner(train, dev, test, origins, n, rows, thresholds),
    }
    tables = {"models": rows, "thresholds": thresholds, "pieces": pieces}
    for stage in [arguments.stage] if arguments.stage else stages:
        stages[stage](n_epochs[stage])
    for name, table in tables.items():
        if arguments.stage:  # other rows stay as they were
            new = {next(iter(row.values())) for row in table}
            _, old = read_csv(f"neural_{name}.csv")
            table = [row for row in old if next(iter(row.values())) not in new] + table
        print_table(table)
        if not quick:
            kept = arguments.stage is not None
            write_csv(f"neural_{name}.csv", table, note, keeps_rows=kept)


if __name__ == "__main__":
    main()
