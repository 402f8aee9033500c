"""Coverage and width of corrected counts, over random samples of labelled documents.

    python benchmarks/corrected_counts.py --part generated [--splits 300]

Parts: generated, counts, real, periods, design and heavy, each of four minutes
or less of one core. Their rows replace those of the same part in
corrected_counts.csv (counts of whole corpora), corrected_counts_periods.csv,
corrected_counts_design.csv, corrected_counts_heavy.csv (heavy tails).

For each cell, documents are drawn at random to be labelled, and the share of samples
is reported in which the 95% interval contains the true count: by ``corrected_count``
(score, and Student's t), by the labels alone (Wilson's interval with the correction for
finite populations for counts of 0 and 1, otherwise Student's), by PPI++ as published
(normal, without that correction), and by the model's own distribution, uncorrected.
Widths are mean widths divided by that of the labels alone.

The real part takes

- entities of LitBank and GUM, counted by an AntecedentRanker (LitBank: two halves, each
  by the ranker of the other one; GUM: the ranker of a quarter counts the others), and
  by the number of different first words of mentions;
- GUM's countries that are the subject of a verb: entities of all countries, and
  documents with the United States, by the same ranker;
- tags of UD English EWT, with an HMM that was trained on 30 sentences, and of ARK
  tweets, with an HMM of 100 tweets.

Data are fetched where they are not there yet.
"""

import functools
import itertools
import time
import warnings
import zlib
from functools import cache

import _study
import numpy as np
from _common import print_table, read_csv, versions, write_csv
from events import truth
from scipy.special import expit, logit, stdtrit
from scipy.stats import t as student

from skcalib.coref import AntecedentFeatures, AntecedentRanker
from skcalib.counts import choose_documents, corrected_count
from skcalib.datasets import fetch_corpus
from skcalib.events import EventCounter, EventRule
from skcalib.sequence import HMMTagger

NUMBERS = (10, 20, 50, 100)
Z = 1.959964


# Corpora: true counts, the model's expectations, the variance the model gives them


def generated(temperature):
    def corpus(rng):
        proba = rng.beta(0.2, 0.8, 400)
        truth = rng.random(400) < proba
        f = expit(logit(np.clip(proba, 1e-9, 1 - 1e-9)) / temperature)
        return truth, f, f * (1 - f)

    return corpus


def silent(rng):
    truth = np.zeros(2000)
    truth[rng.choice(2000, 42, replace=False)] = 1
    return truth, np.zeros(2000), np.zeros(2000)


def right_and_certain(rng):
    truth = rng.random(1000) < 0.3
    f = np.where(rng.random(1000) < 0.03, ~truth, truth).astype(float)
    return truth, f, f * (1 - f)


def useless(rng):
    f = rng.beta(1, 3, 400)
    return rng.random(400) < 0.25, f, f * (1 - f)


def rare(rng):
    proba = rng.beta(0.1, 2.4, 2000)
    return rng.random(2000) < proba, proba**1.5, proba**1.5 * (1 - proba**1.5)


def counts_with_size(spread, bias=0.6):
    """Counts that grow with lognormal sizes; the model misses some."""

    def corpus(rng):
        size = np.exp(rng.normal(0, spread, 400))
        truth = rng.poisson(20 * size)
        f = bias * rng.gamma(20, truth / 20 + 0.1)
        return truth, f, f

    return corpus


def overrated(rng):
    """The model counts 20 events in 5% of the documents, which are like the others."""
    truth = rng.poisson(0.3 * np.exp(rng.normal(0, 0.7, 2000)))
    f = np.where(rng.random(2000) < 0.05, 20, truth) * rng.gamma(4, 0.25, 2000)
    return truth, f, f


def useless_counts(rng):
    return rng.poisson(8, 400), rng.poisson(8, 400) * 0.5, np.full(400, 4.0)


GENERATED = {
    "generated, T=.25": generated(0.25),
    "generated, T=.6": generated(0.6),
    "generated, T=1": generated(1),
    "generated, T=2": generated(2),
    "model says 0, truth 2%": silent,
    "97% right and certain": right_and_certain,
    "useless probabilities": useless,
    "rare, 4%": rare,
}
COUNTS = {
    "counts, sizes vary little": counts_with_size(0.3),
    "counts, sizes vary": counts_with_size(1.0),
    "counts, a few huge documents": counts_with_size(1.8),
    "useless counts": useless_counts,
    "counts, 5% overrated": overrated,
}


def entities_of(fetch, subset):
    """True numbers of entities; a model that takes equal first words as one entity."""

    def corpus(rng):
        del rng
        documents, y = fetch(subset=subset, return_X_y=True)
        truth = np.array([len(set(np.asarray(each).tolist())) for each in y])
        f = np.array([n_first_words(document) for document in documents], dtype=float)
        return truth, f, f

    return corpus


def n_first_words(document):
    words = [word.lower() for sent in document.sentences for word in sent.form]
    return len({words[mention.start] for mention in document.mentions})


def tag_counts(data, tag):
    """Tags per document of the others; a model trained on 30 sentences."""

    def corpus(rng):
        groups = np.array(data.groups)
        train = rng.choice(np.flatnonzero(groups < 40), 30, replace=False)
        tagger = HMMTagger(1.0)
        tagger.fit([data.data[i] for i in train], [data.target[i] for i in train])
        rest = np.flatnonzero(groups >= 40)
        marginals = tagger.predict_proba([data.data[i] for i in rest])
        column = list(tagger.classes_).index(tag)
        p = [each[:, column] for each in marginals]
        document = groups[rest] - 40
        truth = [sum(each == tag for each in data.target[i]) for i in rest]
        f, variance = ([sum(v) for v in u] for u in (p, [q * (1 - q) for q in p]))
        return tuple(np.bincount(document, each) for each in (truth, f, variance))

    return corpus


def antecedents(documents, y, n_parts, parts):
    """Posteriors by rankers of one part of the documents, for all other documents."""
    X, found = AntecedentFeatures().transform(documents), {}
    for part in parts:
        own = range(part, len(X), n_parts)
        ranker = AntecedentRanker(0.3, max_iter=15, tol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fifteen steps are enough
            ranker.fit([X[i] for i in own], [y[i] for i in own])
        others = [i for i in range(len(X)) if i not in own]
        posterior = ranker.posterior([X[i] for i in others])
        found |= {i: posterior[k : k + 1] for k, i in enumerate(others)}
    return [(documents[i], y[i], found[i]) for i in sorted(found)]


@cache
def litbank():
    data = fetch_corpus("litbank", subset="all")
    return antecedents(data.data, data.target, 2, (0, 1))


@cache
def gum():
    parts = [fetch_corpus("gum", subset=subset) for subset in ("train", "dev", "test")]
    documents = [document for part in parts for document in part.data]
    return antecedents(documents, [e for part in parts for e in part.target], 4, (0,))


def ranked_entities(load):
    """Numbers of entities, expected by the ranker."""

    def corpus(rng):
        del rng
        rows = []
        for _, entities, posterior in load():
            (pmf,) = posterior.n_entities_pmf()
            k = np.arange(pmf.size)
            mean = k @ pmf
            rows.append((np.unique(entities).size, mean, (k - mean) ** 2 @ pmf))
        return tuple(np.array(rows).T)

    return corpus


def events_of_gum(unit, country):
    """Countries that are the subject of a verb: entities of all, documents of one."""

    def corpus(rng):
        del rng
        rule, rows = EventRule(None), []
        counter = EventCounter(rule, freq=None, unit=unit, random_state=0)
        for document, entities, posterior in gum():
            true = truth(rule, document, entities)
            counts = counter.count([document], posterior)
            own = np.isin(counts.country, [country]) if country else slice(None)
            n = true.get(country, 0) if country else sum(true.values())
            n = min(n, 1) if unit == "documents" else n
            rows.append((n, counts.mean[own].sum(), (counts.sd[own] ** 2).sum()))
        return tuple(np.array(rows).T)

    return corpus


def tweets(tag, *, has):
    """Tags of tweets (or tweets with the tag); an HMM of 100 tweets."""

    def corpus(rng):
        data = fetch_corpus("ark_twitter_pos", subset="train")
        X, y = data.data, data.target
        train = set(rng.choice(len(X), 100, replace=False).tolist())
        tagger = HMMTagger(1.0).fit([X[i] for i in train], [y[i] for i in train])
        rest = [i for i in range(len(X)) if i not in train]
        column = list(tagger.classes_).index(tag)
        p = [each[:, column] for each in tagger.predict_proba([X[i] for i in rest])]
        truth = np.array([list(y[i]).count(tag) for i in rest])
        if has:
            f = np.array([1 - np.prod(1 - q) for q in p])
            return truth > 0, f, f * (1 - f)
        f, variance = np.array([(q.sum(), (q * (1 - q)).sum()) for q in p]).T
        return truth, f, variance

    return corpus


def real_corpora():
    tagged = fetch_corpus("ud_english_ewt", subset="train", column="upos")
    return {
        "LitBank entities, ranker": ranked_entities(litbank),
        "GUM entities, ranker": ranked_entities(gum),
        "GUM events, all countries": events_of_gum("entities", None),
        "GUM documents, USA": events_of_gum("documents", "USA"),
        "ARK verbs, HMM of 100": tweets("V", has=False),
        "ARK tweets with !, HMM of 100": tweets("!", has=True),
        "LitBank entities, equal words": entities_of(
            functools.partial(fetch_corpus, "litbank"), "all"
        ),
        "GUM entities, equal words": entities_of(
            functools.partial(fetch_corpus, "gum"), "train"
        ),
        "EWT verbs, HMM of 30": tag_counts(tagged, "VERB"),
        "EWT proper nouns, HMM of 30": tag_counts(tagged, "PROPN"),
    }


# Intervals


def labels_alone(y, rows):
    """Return the ends of the interval of the total by the labels alone."""
    size, n = len(y), len(rows)
    seen, share = y[rows], 1 - len(rows) / len(y)
    if np.isin(y, (0, 1)).all():
        p, q = seen.mean(), Z * np.sqrt(share)
        middle = (p + q * q / (2 * n)) / (1 + q * q / n)
        half = q * np.sqrt(p * (1 - p) / n + (q / (2 * n)) ** 2) / (1 + q * q / n)
    else:
        middle = seen.mean()
        half = student.ppf(0.975, n - 1) * seen.std(ddof=1) * np.sqrt(share / n)
    return size * (middle - half), size * (middle + half)


def ppi_plus_plus(y, f, rows):
    """Return the ends of the interval of PPI++, equal to those of ppi-python 0.2.3."""
    size, n = len(y), len(rows)
    rest = np.ones(size, dtype=bool)
    rest[rows] = False
    m = int(rest.sum())
    variance = f.var(ddof=1)
    slope = 0.0
    if variance > 0:
        covariance = np.cov(y[rows], f[rows], ddof=0)[0, 1]
        slope = np.clip(covariance / ((1 + n / m) * variance), 0, 1)
    e = y[rows] - slope * f[rows]
    mean = slope * f[rest].mean() + e.mean()
    error = np.sqrt(slope**2 * f[rest].var() / m + e.var() / n)
    return size * (mean - Z * error), size * (mean + Z * error)


def uncorrected(f, variance):
    half = Z * np.sqrt(variance.sum())
    return f.sum() - half, f.sum() + half


def percent(values):
    return round(100 * float(np.mean(values)), 1)


def cell(name, corpus, n, n_splits):
    rng = np.random.default_rng(zlib.crc32(f"{name} {n}".encode()))
    truth, f, variance = corpus(np.random.default_rng(zlib.crc32(name.encode())))
    y, total = truth.astype(float), float(truth.sum())
    ends = {key: [] for key in ("score", "t", "labels", "ppi++", "uncorrected")}
    n_warned = 0
    for _ in range(n_splits):
        rows = rng.choice(len(y), n, replace=False)
        y_true = np.full(len(y), np.nan)
        y_true[rows] = y[rows]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            score = corrected_count(y_true, f)
            n_warned += any("One " in str(w.message)[:4] for w in caught)
            by_t = corrected_count(y_true, f, method="t")
        ends["score"].append((score.low, score.high))
        ends["t"].append((by_t.low, by_t.high))
        ends["labels"].append(labels_alone(y, rows))
        ends["ppi++"].append(ppi_plus_plus(y, f, rows))
        ends["uncorrected"].append(uncorrected(f, variance))
    row = {"corpus": name, "n_documents": len(y), "truth": int(total), "n": n}
    widths = {}
    for key, pairs in ends.items():
        low, high = np.array(pairs).T
        row[f"coverage {key}"] = percent((low <= total) & (total <= high))
        widths[key] = np.mean(high - low)
    for key in ("score", "t", "ppi++", "uncorrected"):
        row[f"width {key}"] = round(float(widths[key] / widths["labels"]), 2)
    row["% warned of one document"] = percent(n_warned / n_splits)
    return row


def totals(corpora, n_splits):
    for name, corpus in corpora.items():
        for n in NUMBERS:
            if not (n == 100 and name.startswith("LitBank")):  # the whole corpus
                yield cell(name, corpus, n, n_splits)


# Periods


def drifting(n_documents, n_periods, drift):
    def corpus(rng):
        period = np.arange(n_documents) * n_periods // n_documents
        proba = rng.beta(0.2, 0.8, n_documents)
        temperature = np.geomspace(0.4, 2, n_periods)[period] if drift else 0.4
        f = expit(logit(np.clip(proba, 1e-9, 1 - 1e-9)) / temperature)
        return rng.random(n_documents) < proba, f, period

    return corpus


PERIODS = {
    "4 periods, 48 labels, strata, drift": (drifting(400, 4, True), 48, True),
    "12 periods, 48 labels, equal": (drifting(400, 12, False), 48, False),
    "12 periods, 96 labels, strata, drift": (drifting(400, 12, True), 96, True),
    "8 periods, 40 labels, strata, rare": (None, 40, True),
}


def rare_periods(rng):
    proba = rng.beta(0.1, 2.4, 960)
    return rng.random(960) < proba, proba**1.5, np.arange(960) // 120


def period_cell(name, n_splits):
    corpus, n, with_strata = PERIODS[name]
    corpus = corpus or rare_periods
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    truth, f, period = corpus(rng)
    y, n_periods = truth.astype(float), period.max() + 1
    totals = np.bincount(period, y)
    time_of = np.arange(n_periods) - np.arange(n_periods).mean()
    trend = time_of @ totals / (time_of @ time_of)
    covered, widths = [], []
    of_trend, n_empty = [], 0
    model_sd = np.sqrt(np.bincount(period, f * (1 - f)))
    model_miss = np.abs(np.bincount(period, f) - totals) > Z * model_sd
    for _ in range(n_splits):
        if with_strata:
            strata = period
            rows = choose_documents(
                np.ones(len(y)), n, strata=period, random_state=rng
            ).index
        else:
            strata, rows = None, rng.choice(len(y), n, replace=False)
        y_true = np.full(len(y), np.nan)
        y_true[rows] = y[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = corrected_count(
                y_true, f, strata=strata, periods=period, estimand="trend"
            )
        low, high = found.table["low"], found.table["high"]
        has = ~np.isnan(low)
        n_empty += (~has).sum()
        covered.append(np.where(has, (low <= totals) & (totals <= high), np.nan))
        widths.append(np.nanmean(high - low))
        of_trend.append(found.low <= trend <= found.high)
    by_period = np.nanmean(covered, axis=0)
    return {
        "cell": name,
        "coverage": percent(by_period),
        "coverage of the worst period": percent(by_period.min()),
        "mean width": round(float(np.mean(widths)), 1),
        "mean count": round(float(totals.mean()), 1),
        "% without labels": percent(n_empty / (n_splits * n_periods)),
        "% uncorrected": percent(~model_miss),
        "coverage of the trend": percent(of_trend),
    }


# Designs


def design_cell(name, corpus, n, n_splits):
    truth, f, variance = corpus(np.random.default_rng(zlib.crc32(name.encode())))
    y, total = truth.astype(float), float(truth.sum())
    sd = np.sqrt(variance)
    strata = np.argsort(np.argsort(sd)) * 5 // len(sd)
    designs = {
        "equal": {"sd": np.ones(len(y))},
        "sd, mix .5": {"sd": sd},
        "sd, mix .2": {"sd": sd, "mix": 0.2},
        "five strata of sd": {"sd": sd, "strata": strata},
        "sd squared, mix .5": {"sd": variance},
    }
    rows = []
    for design, arguments in designs.items():
        rng = np.random.default_rng(zlib.crc32(f"{name} {design}".encode()))
        found = []
        for _ in range(n_splits):
            choice = choose_documents(n=n, random_state=rng, **arguments)
            y_true = np.full(len(y), np.nan)
            y_true[choice.index] = y[choice.index]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = corrected_count(
                    y_true,
                    f,
                    inclusion_probability=choice.inclusion_probability,
                    strata=arguments.get("strata"),
                )
            found.append((result.estimate, result.low, result.high))
        estimate, low, high = np.array(found).T
        rows.append(
            {
                "corpus": name,
                "n": n,
                "design": design,
                "coverage": percent((low <= total) & (total <= high)),
                "width": np.mean(high - low),
                "rmse": np.sqrt(np.mean((estimate - total) ** 2)),
            }
        )
    width, rmse = rows[0]["width"], rows[0]["rmse"]
    for row in rows:
        row["width"] = round(float(row["width"] / width), 2)
        row["rmse"] = round(float(row["rmse"] / rmse), 2)
    return rows


DESIGNS = (
    "generated, T=.25",
    "generated, T=1",
    "counts, sizes vary",
    "counts, a few huge documents",
)


# Heavy tails: few documents have most of the events. A corpus also has known sizes.


def zipf(rng, n):
    k = np.arange(1, 501.0)
    return rng.choice(k, n, p=k**-2.2 / (k**-2.2).sum())


def half_missed(rng):
    truth, own = np.zeros(1500), rng.choice(1500, 75, replace=False)
    truth[own] = 1 + rng.geometric(1 / 12, 75)
    f = np.zeros(1500)
    f[own[::2]] = truth[own[::2]]
    return truth, f, f, np.exp(rng.normal(5.5, 0.8, 1500)) + truth


def zipf_model(model):
    def corpus(rng):
        size = zipf(rng, 1500)
        truth = rng.poisson(2 * size)
        f = model(rng, 2 * size)
        return truth, f, f, 20 * size

    return corpus


def few_of_many(rng):
    truth, own = np.zeros(8000), rng.choice(8000, 20, replace=False)
    truth[own] = rng.integers(1, 30, 20)
    f = 0.02 * rng.gamma(0.05, 20, 8000)
    f[own] += truth[own] * rng.uniform(0.25, 0.75, 20)
    return truth, f, f, np.exp(rng.normal(5.5, 0.8, 8000)) + 5 * truth


def negative_binomial(rng):
    mean = rng.gamma(0.15, 5 / 0.15, 1500)
    f = 0.6 * mean * rng.gamma(4, 0.25, 1500) + 0.05
    return rng.poisson(mean), f, f, np.exp(rng.normal(5, 0.5, 1500)) + 10 * mean


HEAVY = {
    "5% have all events, half missed": half_missed,
    "Zipf, anti-correlated": zipf_model(lambda rng, mean: np.maximum(0.5, 40 - mean)),
    "Zipf, saturated at 10": zipf_model(lambda rng, mean: np.minimum(mean, 10)),
    "Zipf, good model": zipf_model(lambda rng, mean: mean * rng.gamma(8, 0.1, 1500)),
    "20 of 8,000 have 1 to 29 events": few_of_many,
    "negative binomial": negative_binomial,
}


def heavy_designs(f, variance, size):
    """Return the arguments of choose_documents, by design."""
    even = np.ones(len(f))
    strata = np.argsort(np.argsort(f)) * 5 // len(f)
    return {
        "equal": {"sd": even},
        "sd, mix .5": {"sd": np.sqrt(variance)},
        "five strata of f": {"sd": even, "strata": strata},
        "size, mix .5": {"sd": None, "size": size},
    }


def skewness(y, pi, n):
    """Return the skewness of the estimate from n labels, drawn with replacement."""
    p = pi / pi.sum()
    z = y / p - y.sum()
    return (p @ z**3) / (p @ z**2) ** 1.5 / np.sqrt(n)


def skewness_class(value):
    return next(name for limit, name in SKEWNESS if value < limit)


SKEWNESS = ((0.5, "below .5"), (1, ".5 to 1"), (2, "1 to 2"), (np.inf, "above 2"))


def expanded_t(values, f, pi, strata, slope):
    """Return the ends of Student's interval of a difference estimator.

    A slope of 0 is the Horvitz-Thompson estimator. strata: of the labelled documents.
    """
    e = (values - slope * f[0]) / pi
    variance, n = 0.0, len(e)
    for h in np.unique(strata):
        own = e[strata == h]
        if own.size > 1:
            free = max(1 - pi[strata == h].mean(), 0)
            variance += own.size * own.var(ddof=1) * free
    middle = slope * f[1] + e.sum()
    half = stdtrit(n - 1, 0.975) * np.sqrt(variance)
    return middle - half, middle + half


def greg_slope(y, f, pi):
    d = 1 / pi
    x = f - d @ f / d.sum()
    return (d * x) @ y / max((d * x) @ x, 1e-12)


def heavy_cell(name, corpus, design, n, n_splits):
    population = np.random.default_rng(zlib.crc32(name.encode()))
    truth, f, variance, size = corpus(population)
    y, total = np.asarray(truth, dtype=float), float(np.sum(truth))
    arguments = heavy_designs(f, variance, size)[design]
    strata = arguments.get("strata", np.zeros(len(y), dtype=int))
    rng = np.random.default_rng(zlib.crc32(f"{name} {design} {n}".encode()))
    ends = {key: [] for key in ("corrected", "labels", "HT t", "GREG t", "PPI++")}
    warned = []
    for _ in range(n_splits):
        choice = choose_documents(n=n, random_state=rng, **arguments)
        rows, pi = choice.index, choice.inclusion_probability
        y_true = np.full(len(y), np.nan)
        y_true[rows] = y[rows]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = corrected_count(
                y_true, f, inclusion_probability=pi, strata=arguments.get("strata")
            )
        warned.append(any(str(w.message).startswith("One ") for w in caught))
        ends["corrected"].append((found.low, found.high))
        ends["labels"].append(found.labels_only[1:])
        parts = y[rows], (f[rows], f.sum()), pi[rows], strata[rows]
        slope = greg_slope(y[rows], f[rows], pi[rows])
        ends["HT t"].append(expanded_t(*parts, 0))
        ends["GREG t"].append(expanded_t(*parts, slope))
        if design == "equal":
            ends["PPI++"].append(ppi_plus_plus(y, f, rows))
    row = {
        "corpus": name,
        "design": design,
        "n": n,
        "skewness": skewness_class(skewness(y, pi, n)),
    }
    low, high = np.array(ends["labels"]).T
    width = np.mean(high - low)
    for key, pairs in ends.items():
        low, high = np.array(pairs or [(np.nan, np.nan)]).T
        inside = (low <= total) & (total <= high)
        row[f"coverage {key}"] = percent(inside) if pairs else ""
        if key == "corrected":
            row["width"] = round(float(np.mean(high - low) / width), 2)
            for group, use in (("missed", ~inside), ("covered", inside)):
                share = percent(np.array(warned)[use]) if use.any() else ""
                row[f"% warned if {group}"] = share
    return row


HEAVY_DESIGNS = ("equal", "sd, mix .5", "five strata of f", "size, mix .5")
HEAVY_CELLS = itertools.product(HEAVY, HEAVY_DESIGNS, (20, 50, 200))


def main():
    parser = _study.parser_of(__doc__)
    parts = ("generated", "counts", "real", "periods", "design", "heavy")
    parser.add_argument("--part", choices=parts, required=True)
    parser.add_argument("--splits", type=int, default=300)
    options = parser.parse_args()
    start, n_splits = time.process_time(), options.splits
    name, key = "corrected_counts.csv", "corpus"
    if options.part == "periods":
        name, key = "corrected_counts_periods.csv", "cell"
        rows = [period_cell(each, n_splits) for each in PERIODS]
    elif options.part == "heavy":
        name = "corrected_counts_heavy.csv"
        rows = [heavy_cell(k, HEAVY[k], *rest, n_splits) for k, *rest in HEAVY_CELLS]
    elif options.part == "design":
        name, corpora = "corrected_counts_design.csv", {**GENERATED, **COUNTS}
        cells = [design_cell(each, corpora[each], 50, n_splits) for each in DESIGNS]
        rows = [row for found in cells for row in found]
    else:
        corpora = {"generated": GENERATED, "counts": COUNTS}.get(options.part)
        rows = list(totals(corpora or real_corpora(), n_splits))
    print_table(rows)
    new = {row[key] for row in rows}
    kept = [row for row in read_csv(name)[1] if row[key] not in new]
    note = f"{n_splits} samples per cell, 95% intervals; {versions('numpy', 'scipy')}"
    write_csv(name, [*kept, *rows], note, keeps_rows=bool(kept))
    print(f"{time.process_time() - start:.0f} s of CPU time")


if __name__ == "__main__":
    main()
