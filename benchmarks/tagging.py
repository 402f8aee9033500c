"""HMM against CRF, and what one temperature does to both.

    SKCALIB_DATA=... python benchmarks/tagging.py [--corpus ark wsj ewt] [--jobs 2]

Section 4.2 of Nguyen and O'Connor (2015) and the thesis, 4.1 and 4.2, on corpora that
can be had. Each model is trained at several strengths of regularisation; the strength
is chosen on the development part, by accuracy as there, and by log likelihood beside
it; the temperature is fitted on the development part too. Errors are of the test part.
Writes five tables and two figures.

CRFsuite's L-BFGS stops after a number of iterations; weakly regularised models have not
converged by then, which regularises them a little.
"""

import functools
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, read_csv, versions, write_csv
from joblib import Parallel, delayed
from scipy import special
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skcalib import (
    CRFTagger,
    HMMTagger,
    ReliabilityDisplay,
    TemperatureScaling,
    TokenFeatures,
    calibration_error,
    calibration_error_interval,
)
from skcalib.datasets import fetch_corpus
from skcalib.queries import TagQuery
from skcalib.queries._query import last_step, transform_before
from skcalib.scorers import log_likelihood_scorer

PSEUDOCOUNTS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001, 0.0001)
PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.0)
STRENGTHS = {"HMM": PSEUDOCOUNTS, "CRF basic": PENALTIES, "CRF advanced": PENALTIES}
N_ITERATIONS = 60  # of L-BFGS
UNTUNED = 1.0  # of both
PARTS = (1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
POOLED_BIN_SIZE = 5000
N_PAIRS = 100  # most frequent pairs of tags in the test part, as in Figure 4 (b)
LEAST = 0.01  # pair probabilities that are looked at for what is impossible


@dataclass(frozen=True)
class Corpus:
    """Where the sentences come from, and what is asked of them."""

    title: str
    fetch: object
    tag: str
    bin_size: int  # of single tags and pairs
    step: int = 1  # every so many-th sentence is trained on


CORPORA = {
    "ark": Corpus(
        "tweets (ARK)", functools.partial(fetch_corpus, "ark_twitter_pos"), "V", 500
    ),
    "wsj": Corpus(
        "newspaper (WSJ sample)",
        functools.partial(fetch_corpus, "wsj_sample"),
        "NN",
        500,
    ),
    "ewt": Corpus(
        "web text (UD EWT)",
        functools.partial(fetch_corpus, "ud_english_ewt"),
        "NN",
        1000,
        3,
    ),
}


@dataclass(frozen=True)
class Job:
    """One model to train and measure."""

    corpus: str
    family: str
    strength: float
    part: float = 1.0

    @property
    def cost(self):
        tokens = {"ark": 1, "wsj": 6, "ewt": 6.5}[self.corpus]
        kind = {"HMM": 0.2, "CRF basic": 1, "CRF advanced": 2}[self.family]
        return tokens * kind * self.part


def load(corpus):
    """Return training, development and test part."""
    settings = CORPORA[corpus]
    parts = []
    for subset in ("train", "dev", "test"):
        X, y = settings.fetch(subset=subset, return_X_y=True, download_if_missing=False)
        step = settings.step if subset == "train" else 1
        parts.append((X[::step], y[::step]))
    return parts


def make_model(job):
    if job.family == "HMM":
        return HMMTagger(job.strength)
    template = job.family.split()[1]
    crf = CRFTagger(c2=job.strength, max_iterations=N_ITERATIONS)
    return make_pipeline(TokenFeatures(template), crf)


def chosen_model(corpus, role):
    """Return a model of the main table (tagging.csv), trained again."""
    _, rows = read_csv("tagging.csv")
    (row,) = [r for r in rows if (r["corpus"], r["model"]) == (corpus, role)]
    family = next(family for family in STRENGTHS if role.startswith(family))
    job = Job(corpus, family, float(row["pseudocount or c2"]))
    X, y = load(corpus)[0]
    chosen = some_sentences(len(X), int(row["sentences"]))
    return make_model(job).fit([X[i] for i in chosen], [y[i] for i in chosen])


def some_sentences(n, n_chosen):
    """Return the numbers of sentences from all over a part."""
    return np.sort(np.random.default_rng(0).permutation(n)[:n_chosen])


def frequent_pairs(y):
    counts = Counter(pair for tags in y for pair in zip(tags, tags[1:], strict=False))
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:N_PAIRS]


def pair_truth(y, pairs):
    """Return an array (n_places, n_pairs) of which pair stands where."""
    rows = [pair for tags in y for pair in zip(tags, tags[1:], strict=False)]
    place = {pair: k for k, pair in enumerate(pairs)}
    truth = np.zeros((len(rows), len(pairs)), dtype=bool)
    for i, pair in enumerate(rows):
        if pair in place:
            truth[i, place[pair]] = True
    return truth


def stack(entries, width):
    return np.concatenate([np.reshape(entry, (-1, width)) for entry in entries])


def pair_probabilities(model, X, pairs):
    """Return probabilities (n_places, n_pairs); 0 for a tag that the model lacks."""
    known = set(np.asarray(model.classes_).tolist())
    has = np.array([a in known and b in known for a, b in pairs])
    asked = [pair for pair, is_known in zip(pairs, has, strict=True) if is_known]
    tagger, before = last_step(model), transform_before(model, X)
    found = stack(tagger.predict_pair_marginals(before, asked), len(asked))
    proba = np.zeros((found.shape[0], len(pairs)))
    proba[:, has] = found
    return proba


def errors_by_column(truth, proba, bin_size):
    return np.array(
        [
            calibration_error(t, q, bin_size=bin_size, pos_label=True)
            for t, q in zip(truth.T, proba.T, strict=True)
        ]
    )


def answers_of(proba, classes, y):
    """Return truth and probability (n_tokens, n_tags), sentences, tags."""
    answers = TagQuery().from_proba(y, proba, classes)
    n_tags = answers.y_true.size // sum(map(len, y))
    shape = (-1, n_tags)
    return {
        "truth": answers.y_true.reshape(shape).astype(bool),
        "proba": answers.y_proba.reshape(shape),
        "groups": answers.groups.reshape(shape)[:, 0],
        "tags": answers.label[:n_tags],
    }


def measure(job, model, X, y, train):
    """Return the numbers of one fitted model on the test part."""
    corpus = CORPORA[job.corpus]
    proba = model.predict_proba(X)
    table = answers_of(proba, model.classes_, y)
    truth, q = table["truth"], table["proba"]
    best = q.argmax(axis=1)
    pairs = frequent_pairs(y)
    vocabulary = {word for sentence in train[0] for word in sentence}
    return {
        **table,
        "accuracy": model.score(X, y),
        "sure": q.max(axis=1),
        "right": truth[np.arange(len(q)), best],
        "known": np.array([word in vocabulary for words in X for word in words]),
        "likelihood": log_likelihood_scorer(model, X, y),
        "plug-in": calibration_error(
            truth.ravel(), q.ravel(), bin_size=POOLED_BIN_SIZE, pos_label=True
        ),
        "tag errors": errors_by_column(truth, q, corpus.bin_size),
        "pairs": pairs,
        "pair errors": errors_by_column(
            pair_truth(y, pairs), pair_probabilities(model, X, pairs), corpus.bin_size
        ),
    }


def all_tags_error(table, rows=slice(None)):
    truth, q = table["truth"][rows], table["proba"][rows]
    groups = np.repeat(table["groups"][rows], truth.shape[1])
    return calibration_error_interval(
        truth.ravel(), q.ravel(), groups=groups, pos_label=True
    )


def run(job):
    """Return a job's model measured before and after, with intervals."""
    start = time.perf_counter()
    train, dev, test = load(job.corpus)
    n_train = round(job.part * len(train[0]))
    chosen = some_sentences(len(train[0]), n_train)
    part = [[column[i] for i in chosen] for column in train]
    model = make_model(job).fit(*part)
    scaled = TemperatureScaling(model, cv="prefit").fit(*dev)
    found = {
        "job": job,
        "n_train": n_train,
        "temperature": scaled.temperature_,
        "unreachable": scaled.n_unreachable_,
        "dev accuracy": model.score(*dev),
        "dev likelihood": scaled.log_likelihood_[0],
        "before": measure(job, model, *test, part),
        "after": measure(job, scaled, *test, part),
    }
    for key in ("before", "after"):
        found[key]["interval"] = all_tags_error(found[key])
    if job.strength == UNTUNED and job.part == 1:
        found["rivals"] = compare(job, model, scaled, dev, test)
    found["seconds"] = time.perf_counter() - start
    return found


# Recalibration of single marginals


def isotonic(truth, q):
    return IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(q, truth)


class Platt:
    """A logistic regression on the logit of the probability."""

    def __init__(self, truth, q):
        self.constant = None
        if truth.all() or not truth.any():
            self.constant = truth.mean()
        else:
            self.model = LogisticRegression(C=1e6).fit(self._scores(q), truth)

    @staticmethod
    def _scores(q):
        return special.logit(np.clip(q, 1e-12, 1 - 1e-12))[:, np.newaxis]

    def predict(self, q):
        if self.constant is not None:
            return np.full(q.size, self.constant)
        return self.model.predict_proba(self._scores(q))[:, 1]


def map_columns(method, truth, q, new):
    """Fit a map for each column of q, and apply it to new."""
    columns = [
        method(t, column).predict(after)
        for t, column, after in zip(truth.T, q.T, new.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def renormalise(q, fallback):
    total = q.sum(axis=1, keepdims=True)
    return np.where(total > 0, q / np.where(total > 0, total, 1), fallback)


def with_columns(table, tags):
    """Return truth and probability in columns for all of some tags."""
    order = {tag: k for k, tag in enumerate(table["tags"].tolist())}
    n = len(table["proba"])
    truth, q = np.zeros((n, len(tags)), dtype=bool), np.zeros((n, len(tags)))
    for k, tag in enumerate(tags):
        if tag in order:
            truth[:, k] = table["truth"][:, order[tag]]
            q[:, k] = table["proba"][:, order[tag]]
    return truth, q


def compare(job, model, scaled, dev, test):
    """Return a row for each way to recalibrate one model."""
    known = answers_of(model.predict_proba(dev[0]), model.classes_, dev[1])
    asked = answers_of(model.predict_proba(test[0]), model.classes_, test[1])
    cooled = answers_of(scaled.predict_proba(test[0]), model.classes_, test[1])
    tags = sorted({*known["tags"].tolist(), *asked["tags"].tolist()})
    dev_truth, dev_q = with_columns(known, tags)
    truth, q = with_columns(asked, tags)
    pairs = frequent_pairs(test[1])
    dev_pairs = pair_truth(dev[1], pairs), pair_probabilities(model, dev[0], pairs)
    r = pair_probabilities(model, test[0], pairs)
    versions_of = {
        "none": (q, r),
        "temperature": (
            with_columns(cooled, tags)[1],
            pair_probabilities(scaled, test[0], pairs),
        ),
    }
    for name, method in {"isotonic": isotonic, "Platt": Platt}.items():
        single = map_columns(method, dev_truth, dev_q, q)
        double = map_columns(method, *dev_pairs, r)
        versions_of[name] = single, double
        versions_of[f"{name}, renormalised"] = renormalise(single, q), double
    places = pair_places(pairs, tags, test[1])
    bin_size = CORPORA[job.corpus].bin_size
    asked_pairs = pair_truth(test[1], pairs)
    return [
        {
            "corpus": job.corpus,
            "model": job.family,
            "recalibration": name,
            **rival_cells(truth, a, asked["groups"]),
            **incoherence(a, b, *places),
            "top 100 pairs": f"{errors_by_column(asked_pairs, b, bin_size).mean():.4f}",
        }
        for name, (a, b) in versions_of.items()
    ]


def pair_places(pairs, tags, y):
    """Return the tokens that begin a pair, and the columns of both tags of pairs."""
    ends = np.cumsum([len(each) for each in y])
    first = np.ones(ends[-1], dtype=bool)
    first[ends - 1] = False
    columns = np.array([[tags.index(a), tags.index(b)] for a, b in pairs])
    return np.flatnonzero(first), columns[:, 0], columns[:, 1]


def rival_cells(truth, q, groups):
    """Return how good the marginals of single tags are."""
    each = np.repeat(groups, truth.shape[1])
    result = calibration_error_interval(
        truth.ravel(), q.ravel(), groups=each, pos_label=True
    )
    right = truth[np.arange(len(q)), q.argmax(axis=1)]
    return {
        **_study.interval_cells(result),
        "token log likelihood": f"{np.log(np.clip(q[truth], 1e-6, 1)).mean():.4f}",
        "accuracy of best marginal": f"{right.mean():.4f}",
    }


def incoherence(q, r, tokens, left, right):
    """Return how far marginals are from those of one distribution."""
    most = np.minimum(q[tokens][:, left], q[tokens + 1][:, right])
    impossible = (r > most + 1e-6)[r > LEAST]
    off = np.abs(q.sum(axis=1) - 1)
    return {
        "mean |sum - 1|": f"{off.mean():.4f}",
        "largest |sum - 1|": f"{off.max():.3f}",
        "pairs above a tag of theirs, %": f"{100 * impossible.mean():.1f}",
    }


# Tables


def surplus(table, rows=slice(None)):
    """Return the confidence in the best tag less how often it is right."""
    return table["sure"][rows].mean() - table["right"][rows].mean()


def sweep_row(found):
    before, after = found["before"], found["after"]
    return {
        "corpus": found["job"].corpus,
        "model": found["job"].family,
        "pseudocount or c2": f"{found['job'].strength:g}",
        "sentences": found["n_train"],
        "dev accuracy": f"{found['dev accuracy']:.4f}",
        "dev log likelihood": f"{found['dev likelihood']:.3f}",
        "accuracy": f"{before['accuracy']:.4f}",
        "confidence - accuracy": f"{surplus(before):+.4f}",
        "all tags": f"{before['interval'].estimate:.4f}",
        "temperature": f"{found['temperature']:.3f}",
        "confidence - accuracy after": f"{surplus(after):+.4f}",
        "all tags after": f"{after['interval'].estimate:.4f}",
        "unreachable": found["unreachable"],
    }


def single_query(table, job):
    corpus = CORPORA[job.corpus]
    return table["tag errors"][table["tags"].tolist().index(corpus.tag)]


def unknown_cells(table, prefix=""):
    cells = {}
    for name, rows in {"known": table["known"], "unknown": ~table["known"]}.items():
        cells[f"{prefix}{name} words"] = f"{all_tags_error(table, rows).estimate:.4f}"
        cells[f"{prefix}{name} surplus"] = f"{surplus(table, rows):+.3f}"
    return cells


def model_row(role, found):
    """Return a row of the main table."""
    job, before, after = found["job"], found["before"], found["after"]
    row = {
        "corpus": job.corpus,
        "model": role,
        "pseudocount or c2": f"{job.strength:g}",
        "sentences": found["n_train"],
        "accuracy": f"{before['accuracy']:.4f}",
        "accuracy after": f"{after['accuracy']:.4f}",
        "temperature": f"{found['temperature']:.3f}",
    }
    for prefix, table in (("", before), ("after: ", after)):
        row |= {
            f"{prefix}surplus": f"{surplus(table):+.4f}",
            **_study.interval_cells(table["interval"], prefix),
            f"{prefix}plug-in": f"{table['plug-in']:.4f}",
            f"{prefix}one tag": f"{single_query(table, job):.4f}",
            f"{prefix}top 5 pairs": f"{table['pair errors'][:5].mean():.4f}",
            f"{prefix}top 100 pairs": f"{table['pair errors'].mean():.4f}",
            f"{prefix}log likelihood": f"{table['likelihood']:.3f}",
            **unknown_cells(table, prefix),
        }
    return row


def pick(results, family, by):
    return max((r for r in results if r["job"].family == family), key=lambda r: r[by])


def roles(results, parts):
    """Return the models of the main table by name."""
    at = {(r["job"].family, r["job"].strength): r for r in results}
    hmm = pick(results, "HMM", "dev accuracy")
    chosen = {
        "HMM, untuned": at["HMM", UNTUNED],
        "HMM, by accuracy": hmm,
        "HMM, by likelihood": pick(results, "HMM", "dev likelihood"),
        "CRF basic as accurate as the HMM": min(
            [*parts, pick(results, "CRF basic", "dev accuracy")],
            key=lambda r: abs(r["dev accuracy"] - hmm["dev accuracy"]),
        ),
    }
    for family in ("CRF basic", "CRF advanced"):
        chosen |= {
            f"{family}, untuned": at[family, UNTUNED],
            f"{family}, unregularised": at[family, 0.0],
            f"{family}, by accuracy": pick(results, family, "dev accuracy"),
            f"{family}, by likelihood": pick(results, family, "dev likelihood"),
        }
    return chosen


RIVALS = (
    "CRF basic as accurate as the HMM",
    "CRF basic, by accuracy",
    "CRF advanced, by accuracy",
)


def versus(corpus, chosen):
    """Return how often each of the paper's two models is better, and the errors."""
    hmm = chosen["HMM, by accuracy"]
    rows, errors = [], []
    for other in RIVALS:
        for when in ("before", "after"):
            names, tags, common, pairs = side_by_side(hmm[when], chosen[other][when])
            asked = {"corpus": corpus, "CRF": other}
            asked["temperature"] = "1" if when == "before" else "fitted"
            rows.append(asked | versus_cells(tags, common, pairs))
            if (other, when) == (RIVALS[0], "before"):
                for name, (x, z) in zip(names, [*tags, *pairs], strict=True):
                    row = {"corpus": corpus, "asked": name}
                    errors.append(row | {"HMM": f"{x:.4f}", "CRF": f"{z:.4f}"})
    return rows, errors


def side_by_side(hmm, crf):
    """Return tags and pairs; errors of tags, of the five commonest ones, of pairs."""
    counts = dict(zip(hmm["tags"].tolist(), hmm["truth"].sum(axis=0), strict=True))
    tags = [tag for tag in counts if counts[tag]]
    columns = [
        model["tag errors"][[model["tags"].tolist().index(tag) for tag in tags]]
        for model in (hmm, crf)
    ]
    by_tag = np.stack(columns, axis=1)
    by_pair = np.stack([hmm["pair errors"], crf["pair errors"]], axis=1)
    names = [*tags, *(f"{left} {right}" for left, right in hmm["pairs"])]
    common = sorted(range(len(tags)), key=lambda k: -counts[tags[k]])[:5]
    return names, by_tag, by_tag[common], by_pair


def versus_cells(tags, common, pairs):
    return {
        "tags": len(tags),
        "tags, CRF better": int((tags[:, 1] < tags[:, 0]).sum()),
        **mean_cells("5 tags", common),
        "pairs": len(pairs),
        "pairs, CRF better": int((pairs[:, 1] < pairs[:, 0]).sum()),
        "pairs, HMM better": int((pairs[:, 1] > pairs[:, 0]).sum()),
        **mean_cells("5 pairs", pairs[:5]),
        **mean_cells("100 pairs", pairs),
    }


def mean_cells(what, errors):
    hmm, crf = errors.mean(axis=0)
    return {f"mean of {what}, HMM": f"{hmm:.4f}", f"mean of {what}, CRF": f"{crf:.4f}"}


# Figures


def draw_sweep(results):
    """Draw signed confidence and error by regularisation, before and after."""
    names = list(dict.fromkeys(r["job"].corpus for r in results))
    figure, axes = plt.subplots(
        2, len(names), figsize=(3.6 * len(names), 6), sharex=True, squeeze=False,
        sharey="row", layout="constrained",
    )  # fmt: skip
    for column, name in enumerate(names):
        for k, family in enumerate(STRENGTHS):
            line = [
                r
                for r in results
                if (r["job"].corpus, r["job"].family) == (name, family)
            ]
            line.sort(key=lambda r: r["job"].strength)
            x = [max(r["job"].strength, 5e-5) for r in line]
            for when, style in (("before", "-o"), ("after", "--")):
                label = family if when == "before" else f"{family}, one temperature"
                values = (
                    [surplus(r[when]) for r in line],
                    [r[when]["interval"].estimate for r in line],
                )
                for ax, y in zip(axes[:, column], values, strict=True):
                    ax.plot(x, y, style, color=f"C{k}", ms=3, lw=1.2, label=label)
        axes[0, column].axhline(0, color="0.6", lw=0.8)
        axes[0, column].set_title(CORPORA[name].title)
        axes[1, column].set(xscale="log", xlabel="pseudocount or c2 (left end: 0)")
        axes[1, column].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("confidence - accuracy")
    axes[1, 0].set_ylabel("error over all tags")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    _study.save(figure, "tagging.png", 90)


def draw_curves(chosen_by_corpus):
    """Draw the curves of the paper's Figure 3, over all tags.

    Bins are those of single tags: with larger ones nearly all are of tags that are out
    of the question, and nothing is seen of the others.
    """
    shown = ("HMM, by accuracy", "CRF basic as accurate as the HMM")
    n = len(chosen_by_corpus)
    figure, axes = plt.subplots(
        1, n, figsize=(4 * n, 5.2), squeeze=False, layout="constrained"
    )
    for ax, (name, chosen) in zip(axes[0], chosen_by_corpus.items(), strict=True):
        for role in shown:
            table = chosen[role]["before"]
            ReliabilityDisplay.from_predictions(
                table["truth"].ravel().astype(int),
                table["proba"].ravel(),
                groups=np.repeat(table["groups"], table["truth"].shape[1]),
                bin_size=CORPORA[name].bin_size,
                name=role.split(",")[0].split(" as ")[0],
                ax=ax,
            )
        ax.set_title(CORPORA[name].title)
    _study.save(figure, "tagging_curves.png", 90)


def in_parallel(parallel, jobs, what):
    """Return the results of jobs, the longest first, and show how far they are."""
    jobs = sorted(jobs, key=lambda job: -job.cost)
    start, results = time.perf_counter(), []
    for found in parallel(delayed(run)(job) for job in jobs):
        results.append(found)
        job = found["job"]
        print(
            f"{what} {len(results)}/{len(jobs)}: {job.corpus} {job.family} "
            f"{job.strength:g}, {job.part:.2f} of the data, {found['seconds']:.0f} s; "
            f"{time.perf_counter() - start:.0f} s in all",
            flush=True,
        )
    return results


def one_corpus(corpus, parallel):
    """Return the results of the sweep, and the models of the main table."""
    jobs = [
        Job(corpus, family, strength)
        for family, strengths in STRENGTHS.items()
        for strength in strengths
    ]
    results = in_parallel(parallel, jobs, "sweep")
    best = pick(results, "CRF basic", "dev accuracy")["job"]
    jobs = [Job(corpus, "CRF basic", best.strength, part) for part in PARTS]
    parts = in_parallel(parallel, jobs, "parts")
    return results, parts, roles(results, parts)


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--corpus", nargs="*", default=list(CORPORA), choices=CORPORA)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.filterwarnings("default")
    note = (
        f"at most {N_ITERATIONS} L-BFGS iterations; bins of {POOLED_BIN_SIZE} "
        "pairs for 'plug-in', of 1000 (ewt) or 500 for single tags and pairs; 'error': "
        "debiased, with its 95% interval, groups = sentence; "
        + versions("numpy", "scipy", "scikit-learn", "sklearn-crfsuite", "matplotlib")
    )
    tables = {"": [], "_sweep": [], "_pairs": [], "_each": [], "_rivals": []}
    everything, chosen_by_corpus = [], {}
    with Parallel(n_jobs=options.jobs, return_as="generator") as parallel:
        for corpus in options.corpus:
            results, parts, chosen = one_corpus(corpus, parallel)
            everything += results
            chosen_by_corpus[corpus] = chosen
            tables["_sweep"] += [sweep_row(r) for r in [*results, *parts]]
            tables[""] += [model_row(role, r) for role, r in chosen.items()]
            counts, errors = versus(corpus, chosen)
            tables["_pairs"] += counts
            tables["_each"] += errors
            tables["_rivals"] += [
                row for r in results if "rivals" in r for row in r["rivals"]
            ]
            # After each corpus, so that a run cut short leaves what it has.
            for name, rows in tables.items():
                write_csv(f"tagging{name}.csv", rows, note)
    for name, rows in tables.items():
        if name != "_each":
            print_table(rows)
    draw_sweep(everything)
    draw_curves(chosen_by_corpus)


if __name__ == "__main__":
    main()
