"""Counts of events over time, with what coreference does not know: real documents.

    SKCALIB_DATA=... python benchmarks/events.py [--part muc3 state_union samples ...]
        [--parsed FOLDER] [--other FILE] [--cache FOLDER] [--jobs 1]

Section 6 of Nguyen and O'Connor (2015). A ranker is trained on GUM, on the mentions
that the parses suggest (entities are those of the annotated mentions with the same
head), recalibrated on GUM's development documents, and asked about:

- `muc3`: 1,614 dated reports on Latin America, 1988 to 1990, lower-cased: who attacks,
  by month and quarter, for actors (groups mostly) and for countries; 100 samples a
  document. With --other, another parse of the reports: how much do counts differ?
- `countries`: the 20 most frequent countries of these reports by month, as in the
  appendix, and how many changes between months are clear;
- `samples`: the same with 10 samples (footnote 11), and with entities for documents;
- `state_union`: addresses to Congress, 1945 to 2006, in passages of 40 sentences:
  countries by five years and by year, and Yugoslavia and NATO;
- `gum`: held-out documents with gold mentions and entities: how often do the intervals
  contain the true count?
- `mentions`: how many of GUM's annotated mentions does the parse suggest?
- `errors`: are uncertain answers wrong more often? Section 6.2 says so of a calibrated
  model. A ranker is trained on a part of GUM and of LitBank (mentions given) and
  recalibrated on 20 other documents. Its best clustering answers three questions about
  each of the remaining documents: is an entity of this country the subject of a verb
  (GUM), how many entities are there, and which mentions are one entity? The error is
  compared with the error that the posterior expects, by thirds of the expectation, and
  by rank correlation with an interval from a bootstrap over documents.

`benchmarks/parse_corpora.py` makes the parses of the first four; --parsed names its
output folder if that is not the folder of the data sets. Parts without a parse are left
out. Writes tables and figures, and prints what took how long: about 14 minutes on one
core.
"""

import dataclasses
import datetime
import os
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Memory
from scipy.special import ndtr
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, TemperatureScaling
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import fetch_corpus
from skcalib.documents import mentions_from_parse
from skcalib.events import AffiliationLexicon, CountryLexicon, EventCounter, EventRule
from skcalib.plot import EventCountDisplay
from skcalib.posteriors import AntecedentPosterior
from skcalib.significance import paired_bootstrap_test

N_ITERATIONS = 60

VIOLENT = frozenset(
    (
        "attack",
        "bomb",
        "raid",
        "assault",
        "ambush",
        "kill",
        "invade",
        "murder",
        "kidnap",
    )
    + ("shell", "strafe", "storm", "shoot", "assassinate", "destroy", "wound", "fire")
    + ("strike", "seize", "occupy")
)
# Who acts in these reports, written for this benchmark.
ACTORS = AffiliationLexicon(
    {
        "FMLN": ["FMLN", "Farabundo Marti", "Farabundo Marti front"],
        "Salvadoran forces": [
            "Atlacatl battalion",
            "Salvadoran army",
            "Salvadoran armed forces",
            "Salvadoran air force",
        ],
        "army, police": ["army", "armed forces", "soldiers", "troops", "police"],
        "guerrillas": ["guerrillas", "guerrilla", "rebels", "rebel", "subversives"],
        "terrorists": ["terrorists", "terrorist"],
        "Shining Path": ["Shining Path", "Sendero Luminoso", "senderistas"],
        "MRTA": ["MRTA", "Tupac Amaru"],
        "ELN": ["ELN", "army of national liberation"],
        "FARC": ["FARC", "revolutionary armed forces of Colombia"],
        "drug traffickers": [
            "drug traffickers",
            "drug trafficking",
            "Medellin cartel",
            "Extraditables",
            "drug mafia",
        ],
        "Contras": ["Contras", "contra"],
        "United States": ["United States", "U.S.", "American", "Americans"],
    }
)


@contextmanager
def timed(title):
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    print(
        f"{title}: {time.perf_counter() - wall:.1f} s, "
        f"CPU of this process {time.process_time() - cpu:.1f} s",
        flush=True,
    )


# Training


def lower(document):
    sentences = [
        dataclasses.replace(s, form=[form.lower() for form in s.form])
        for s in document.sentences
    ]
    return dataclasses.replace(document, sentences=sentences)


def suggested(document, entities):
    """Return the document with the parse's mentions, and entities by their heads."""
    found = mentions_from_parse(document)
    of_head = {
        m.head: entity
        for m, entity in zip(document.mentions, entities, strict=True)
        if m.head is not None
    }
    labels = [of_head.get(m.head, f"alone-{i}") for i, m in enumerate(found.mentions)]
    return found, np.unique(np.array(labels, dtype=str), return_inverse=True)[1]


def gum(part, *, lowercase, mentions):
    """Return documents and labels: gold mentions, or those of the parse."""
    bunch = fetch_corpus("gum", subset=part)
    documents, labels = bunch.data, bunch.target
    if mentions == "parse":
        pairs = [suggested(d, e) for d, e in zip(documents, labels, strict=True)]
        documents, labels = zip(*pairs, strict=True)
    if lowercase:
        documents = [lower(document) for document in documents]
    return list(documents), list(labels)


def fit(X, y, n_iterations=N_ITERATIONS):
    """Return a ranker fitted to features and entities."""
    ranker = AntecedentRanker(0.3, max_iter=n_iterations, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ranker.fit(X, y)


def train(*, lowercase, mentions):
    """Return features and a recalibrated ranker in a row."""
    features = AntecedentFeatures()
    X, y = gum("train", lowercase=lowercase, mentions=mentions)
    ranker = fit(features.transform(X), y)
    X, y = gum("dev", lowercase=lowercase, mentions=mentions)
    scaled = TemperatureScaling(ranker, cv="prefit").fit(features.transform(X), y)
    print(
        f"temperature {scaled.temperature_:.2f}, offset {scaled.new_offset_:+.2f}",
        flush=True,
    )
    return make_pipeline(features, scaled)


# Truth


def truth(rule, document, entities):
    """Return the true number of entities of each country that are a subject."""
    evidence, found = rule.evidence(document), {}
    for entity in set(np.asarray(entities).tolist()):
        members = np.asarray(entities) == entity
        codes = set(evidence.code[members].tolist()) - {-1}
        if len(codes) == 1 and min(codes) >= 0 and evidence.agent[members].any():
            country = evidence.codes[codes.pop()]
            found[country] = found.get(country, 0) + 1
    return found


# Counting

N_SAMPLES = 100
QUESTIONS = {
    (title, who): EventRule(verbs, lexicon=lexicon, lowercase=True)
    for title, verbs in (("attack", ["attack"]), ("violent verbs", VIOLENT))
    for who, lexicon in (("actors", ACTORS), ("countries", CountryLexicon()))
}
FEW, MANY = 10, 2_000  # samples, beside 100; the many stand for the exact posterior
PASSAGE = 40  # sentences
LEAST = 0.5  # mean of a count that is looked at in comparisons
MOST = 20  # countries by month, as in the appendix
BY_YEAR = 10  # countries by year, beside the two of Figure 6
SIDES = ("YUG", "IGONAT")  # Figure 6, bottom


class MissingParse(OSError):
    """The parse of a corpus is not there."""


class Run:
    """The options of a run, and what they mean for parts."""

    def __init__(self, options):
        self.n_jobs = options.jobs
        self.parsed, self.other = options.parsed, options.other
        self.train = Memory(options.cache, verbose=0).cache(train)

    def model(self, *, lowercase, mentions):
        with timed("training"):
            return self.train(lowercase=lowercase, mentions=mentions)

    def parse_of(self, name):
        """Return the file with the parse of a corpus."""
        home = Path(os.environ.get("SKCALIB_DATA", "~/skcalib_data")).expanduser()
        path = (self.parsed or home) / name / f"{name}_parsed.conllu.gz"
        if not path.exists():
            raise MissingParse(f"{path} does not exist: run parse_corpora.py")
        return path

    def counter(self, rule, freq, n_samples=N_SAMPLES, **options):
        options = {"random_state": 0, "n_jobs": self.n_jobs, **options}
        options.setdefault("method", "sample")
        return EventCounter(rule, n_samples=n_samples, freq=freq, **options)

    def write(self, name, rows, note=""):
        print_table(rows[:8])
        write_csv(name, rows, note + versions("numpy", "scipy", "skcalib"))


# Counting


def frame_rows(counts, **columns):
    frame = counts.frame(method="quantile")
    return [
        {**columns, **{k: _shown(v) for k, v in row.items()}}
        for row in frame.to_dict("records")
    ]


def _shown(value):
    return f"{value:.3f}" if isinstance(value, float) else value


def alone(document):
    """Return scores under which no mention has an antecedent."""
    n = len(document.mentions)
    return np.where(np.eye(n, dtype=bool), 0.0, -np.inf)


def scored(model, documents, rules):
    """Return posteriors of documents, computed where a rule may match."""
    kept = [i for i, d in enumerate(documents) if any(r.may_match(d) for r in rules)]
    scores = [alone(document) for document in documents]
    with timed(f"scores of {len(kept)} of {len(documents)} documents"):
        features = model[:-1].transform([documents[i] for i in kept])
        found = model[-1].posterior(features).log_scores
    for i, matrix in zip(kept, found, strict=True):
        scores[i] = matrix
    return AntecedentPosterior(scores)


def dated_reports(parsed):
    with timed("reading MUC-3"):
        reports = fetch_corpus("muc3", subset="all", parsed=parsed, mentions=True).data
    return [report for report in reports if report.date is not None]


def count_reports(run, model, parsed):
    """Return counts of each question by month and by quarter, and without links."""
    reports = dated_reports(parsed)
    posterior = scored(model, reports, QUESTIONS.values())
    without = AntecedentPosterior([alone(report) for report in reports])
    answers = {}
    for question, rule in QUESTIONS.items():
        with timed(", ".join(question)):
            answers[question] = (
                run.counter(rule, "month").count(reports, posterior),
                run.counter(rule, "quarter").count(reports, posterior),
                run.counter(rule, "quarter").count(reports, without),
            )
    return answers


def muc3(run):
    parsed = run.parse_of("muc3")
    model = run.model(lowercase=True, mentions="parse")
    answers = count_reports(run, model, parsed)
    rows = [
        row
        for (title, who), (by_month, by_quarter, _) in answers.items()
        for freq, counts in (("month", by_month), ("quarter", by_quarter))
        for row in frame_rows(counts, verbs=title, who=who, freq=freq)
    ]
    run.write("events_muc3.csv", rows)
    run.write(
        "events_muc3_total.csv",
        [total(*question, *found) for question, found in answers.items()],
    )
    found = [answers]
    if run.other:
        found.append(count_reports(run, model, run.other))
        rows = [
            two_parses(question, *(parse[question][1] for parse in found))
            for question in QUESTIONS
        ]
        run.write("events_parsers.csv", rows)
    draw_muc3(run, found)


def total(title, who, by_month, by_quarter, without):
    """Return what coreference adds, and which changes between quarters are open."""
    some = by_month.mean > LEAST
    n_changes, n_open = changes(by_quarter)
    return {
        "verbs": title,
        "who": who,
        "mean": f"{by_month.mean.sum():.1f}",
        "1-best": f"{by_month.map_count.sum():.0f}",
        "no coreference": f"{without.mean.sum():.1f}",
        "mean of its sd": f"{by_month.sd[some].mean():.2f}",
        "Monte Carlo error": f"{by_month.monte_carlo_error[some].mean():.3f}",
        "changes of the 1-best": n_changes,
        "with overlapping intervals": n_open,
    }


def changes(counts, country=None):
    """Return how often the 1-best count changes to the next period, and is open."""
    kept = slice(None) if country is None else counts.country == country
    ends = counts.interval(method="normal")
    best, low, high = (
        each[kept].reshape(len(counts.periods), -1)
        for each in (counts.map_count, *ends)
    )
    moved = best[1:] != best[:-1]
    overlap = (low[1:] <= high[:-1]) & (low[:-1] <= high[1:])
    return int(moved.sum()), int((moved & overlap).sum())


def draw_muc3(run, found):
    """Draw actors by month, and as in Figure 6, by one parse or two."""
    counts = found[0]["violent verbs", "actors"][0]
    display = EventCountDisplay.from_counts(counts, top=6, method="quantile")
    _study.save(display.figure_, "events_muc3.png", 110)
    panels = [("countries", ("SLV", "USA"), "Countries", found[0])]
    for parse, title in zip(found, ("Two sides", "Another parser"), strict=False):
        panels.append(("actors", ("FMLN", "army, police"), title, parse))
    size = (7.2, 2.6 * len(panels))
    figure, axes = plt.subplots(len(panels), 1, figsize=size, layout="constrained")
    for ax, (who, names, title, parse) in zip(axes, panels, strict=True):
        counts = parse["violent verbs", who][1]
        known = [name for name in names if name in counts.countries]
        EventCountDisplay.from_counts(counts, countries=known, method="normal", ax=ax)
        ax.set_title(title, fontsize="medium")
    _study.save(figure, "events_figure6.png", 110)


# Countries by month


def most_frequent(counts, n):
    """Return the countries with the largest expected counts, in order."""
    sums = {c: counts.mean[counts.country == c].sum() for c in counts.countries}
    return sorted(sums, key=lambda c: -sums[c])[:n]


def countries(run):
    parsed = run.parse_of("muc3")
    model = run.model(lowercase=True, mentions="parse")
    reports = dated_reports(parsed)
    rules = {
        title: EventRule(verbs, lowercase=True)
        for title, verbs in (
            ("attack", ["attack"]),
            ("violent verbs", VIOLENT),
            ("any verb", None),
        )
    }
    posterior = scored(model, reports, rules.values())
    without = AntecedentPosterior([alone(report) for report in reports])
    rows, totals = [], []
    for title, rule in rules.items():
        with timed(title):
            counts = run.counter(rule, "month").count(reports, posterior)
            separate = run.counter(rule, "month").count(reports, without)
        names = most_frequent(counts, MOST)
        rows += [
            row for row in frame_rows(counts, verbs=title) if row["country"] in names
        ]
        totals += [
            of_country(title, rank, name, counts, separate)
            for rank, name in enumerate(names, 1)
        ]
        if title != "attack":  # too few events
            file = f"events_countries_{title.split()[0]}.png"
            draw_countries(run, counts, names, file)
    run.write("events_countries.csv", totals)
    run.write("events_countries_months.csv", rows)


def draw_countries(run, counts, names, file):
    """Draw small panels, as in the appendix, whose axes have room for one event."""
    with plt.rc_context({"font.size": 7}):
        display = EventCountDisplay.from_counts(counts, countries=names, n_columns=4)
        display.figure_.set_size_inches(8.6, 9)
        for k, ax in enumerate(display.axes_.values()):
            ax.set_ylim(top=max(1.05, ax.get_ylim()[1]))
            ax.set_ylabel(ax.get_ylabel() if k % 4 == 0 else "")
            ax.tick_params(labelsize=6)
        _study.save(display.figure_, file, 110)


def of_country(title, rank, name, counts, separate):
    """Return the counts of one country over all months, and its open changes."""
    own = counts.country == name
    low, high = counts.interval(method="quantile")
    n_changes, n_open = changes(counts, name)
    return {
        "verbs": title,
        "rank": rank,
        "country": name,
        "mean": f"{counts.mean[own].sum():.2f}",
        "1-best": f"{counts.map_count[own].sum():.0f}",
        "no coreference": f"{separate.mean[separate.country == name].sum():.0f}",
        "months with a mean above .5": int((counts.mean[own] > LEAST).sum()),
        "months with the interval [0, 0]": int((high[own] == 0).sum()),
        "months with an interval above 0": int((low[own] > 0).sum()),
        "changes of the 1-best": n_changes,
        "with overlapping intervals": n_open,
    }


# Two parsers


def of_document(counts):
    """Return the probability of an event for each document and actor."""
    found = counts.probabilities()
    names = zip(found["id"], found["country"], strict=True)
    return dict(zip(names, found["proba"], strict=True))


def cells_of(counts, periods, countries):
    """Return mean and sd by period and actor, 0 where an actor is never found."""
    place = {
        cell: k
        for k, cell in enumerate(zip(counts.period, counts.country, strict=True))
    }
    own = [place.get((t, c)) for t in periods for c in countries]
    return [
        np.array([0.0 if k is None else values[k] for k in own])
        for values in (counts.mean, counts.sd)
    ]


def two_parses(question, first, second):
    """Return how far counts by two parses of the same documents are apart."""
    countries = sorted({*first.countries, *second.countries})
    mean, sd = cells_of(first, first.periods, countries)
    other_mean, other_sd = cells_of(second, first.periods, countries)
    some = np.maximum(mean, other_mean) > LEAST
    gap = np.abs(mean - other_mean)[some]
    spread = np.hypot(sd, other_sd)[some]
    a, b = of_document(first), of_document(second)
    names = sorted({name for name, _ in {**a, **b}})
    sums = [
        np.array([sum(found.get((name, c), 0.0) for c in countries) for name in names])
        for found in (a, b)
    ]
    test = paired_bootstrap_test(*sums, random_state=0)
    pair = np.corrcoef(mean[some], other_mean[some]) if some.sum() > 2 else None
    sure = [{key for key, proba in found.items() if proba > 0.5} for found in (a, b)]
    return {
        "verbs": question[0],
        "who": question[1],
        "total": f"{mean.sum():.1f}",
        "total, other parse": f"{other_mean.sum():.1f}",
        "p of the difference": f"{test.pvalue:.1g}",
        "cells": int(some.sum()),
        "correlation": "" if pair is None else f"{pair[0, 1]:.3f}",
        "mean difference of a cell": f"{gap.mean():.2f}",
        "mean sd of coreference": f"{np.mean((sd + other_sd)[some]) / 2:.2f}",
        "cells apart by > 1.96 sd": int((gap > 1.96 * spread).sum()),
        "events found by either": len(sure[0] | sure[1]),
        "by both": len(sure[0] & sure[1]),
    }


# Few samples


def samples(run):
    """Compare 10 and 100 samples with many, and entities with documents."""
    parsed = run.parse_of("muc3")
    model = run.model(lowercase=True, mentions="parse")
    reports = dated_reports(parsed)
    rules = {who: QUESTIONS["violent verbs", who] for who in ("actors", "countries")}
    kept = [r for r in reports if any(rule.may_match(r) for rule in rules.values())]
    posterior = scored(model, kept, rules.values())
    n_seeds = 10
    rows, units = [], []
    for who, rule in rules.items():
        counter = run.counter(rule, "quarter", MANY)
        with timed(f"{who}, {MANY} samples"):
            exact = counter.count(kept, posterior)
        for n in (FEW, N_SAMPLES):
            with timed(f"{who}, {n_seeds} times {n} samples"):
                found = [
                    run.counter(rule, "quarter", n, random_state=seed).count(
                        kept, posterior
                    )
                    for seed in range(n_seeds)
                ]
            rows.append({"who": who, "samples": n, **noise(found, exact)})
        entities = run.counter(rule, "quarter", unit="entities").count(kept, posterior)
        units.append({"who": who, **documents_and_entities(exact, entities)})
    run.write(
        "events_samples.csv", rows, f"{n_seeds} seeds; reference: {MANY} samples; "
    )
    run.write("events_units.csv", units)


def noise(found, exact):
    """Return how counts from few samples differ from those from many."""
    some = exact.mean > LEAST
    mean = np.array([counts.mean[some] for counts in found])
    sd = np.array([counts.sd[some] for counts in found])
    error = np.sqrt(np.mean((mean - exact.mean[some]) ** 2))
    low, high = exact.interval(method="normal")
    ends = np.array([counts.interval(method="normal") for counts in found])[..., some]
    far = np.abs(ends - np.array([low, high])[:, some])
    alike = [np.corrcoef(row, exact.mean[some])[0, 1] for row in mean]
    width = (ends[:, 1] - ends[:, 0]).sum(axis=1) / (high - low)[some].sum()
    inside = np.abs(mean - exact.mean[some]) <= 1.96 * sd
    return {
        "cells": int(some.sum()),
        "mean count": f"{exact.mean[some].mean():.2f}",
        "posterior sd": f"{exact.sd[some].mean():.3f}",
        "rms error of the mean": f"{error:.3f}",
        "as share of the sd": f"{error / np.sqrt(np.mean(exact.sd[some] ** 2)):.3f}",
        "largest error": f"{np.abs(mean - exact.mean[some]).max():.2f}",
        "width of the interval, ratio": f"{np.mean(width):.3f}",
        "its sd between seeds": f"{width.std():.3f}",
        "mean shift of an end": f"{far.mean():.3f}",
        "intervals with the exact mean, %": f"{100 * inside.mean():.1f}",
        "correlation of the means": f"{np.mean(alike):.4f}",
    }


def documents_and_entities(documents, entities):
    """Return how counts of documents and of entities go together."""
    some = documents.mean > LEAST
    return {
        "cells": int(some.sum()),
        "documents": f"{documents.mean.sum():.1f}",
        "entities": f"{entities.mean.sum():.1f}",
        "correlation": (
            f"{np.corrcoef(documents.mean[some], entities.mean[some])[0, 1]:.4f}"
        ),
        "sd of documents": f"{documents.sd[some].mean():.3f}",
        "sd of entities": f"{entities.sd[some].mean():.3f}",
    }


# Addresses


def five_years():
    """Return periods of five years, the first from 1945."""
    return {
        f"{year}-{str(year + 4)[2:]}": (
            datetime.date(year, 1, 1),
            datetime.date(year + 4, 12, 31),
        )
        for year in range(1945, 2010, 5)
    }


def passages(document):
    """Yield parts of an address that are as long as the documents of GUM."""
    for start in range(0, len(document.sentences), PASSAGE):
        yield mentions_from_parse(
            dataclasses.replace(
                document,
                id=f"{document.id}, sentence {start + 1}",
                sentences=document.sentences[start : start + PASSAGE],
            )
        )


def state_union(run):
    parsed = run.parse_of("state_union")
    model = run.model(lowercase=False, mentions="parse")
    with timed("reading the addresses"):
        found = fetch_corpus("state_union", parsed=parsed).data
        documents = [part for address in found for part in passages(address)]
    posterior = scored(model, documents, [EventRule(None)])
    separate = AntecedentPosterior([alone(document) for document in documents])
    rows, totals = [], []
    for verbs, title in (
        (["attack"], "attack"),
        (VIOLENT, "violent verbs"),
        (None, "any verb"),
    ):
        rule = EventRule(verbs)
        with timed(title):
            counts = run.counter(rule, five_years()).count(documents, posterior)
        best, mean = counts.map_count.sum(), counts.mean.sum()
        without = run.counter(rule, None).count(documents, separate).mean.sum()
        totals.append(
            {
                "verbs": title,
                "passages": len(documents),
                "mean": f"{mean:.1f}",
                "1-best": int(best),
                "no coreference": f"{without:.1f}",
            }
        )
        rows += frame_rows(counts, verbs=title)
    run.write("events_state_union.csv", rows)
    run.write("events_state_union_total.csv", totals)
    with timed("any verb, by year"):
        counts = run.counter(rule, "year").count(documents, posterior)
    sides = [c for c in SIDES if c in counts.countries]
    names = [*dict.fromkeys([*most_frequent(counts, BY_YEAR), *sides])]
    rows = [row for row in frame_rows(counts) if row["country"] in names]
    run.write("events_state_union_years.csv", rows)
    for side in sides:
        print(side, [(r["period"], r["mean"]) for r in rows if r["country"] == side])
    display = EventCountDisplay.from_counts(counts, countries=names[:6] + sides)
    _study.save(display.figure_, "events_state_union.png", 110)


# Coverage


def gum_coverage(run):
    """Count countries that are the subject of a verb, a document at a time."""
    model = run.model(lowercase=False, mentions="gold")
    rows = []
    rule = EventRule(None)
    for part in ("dev", "test"):
        documents, labels = gum(part, lowercase=False, mentions="gold")
        true = [truth(rule, d, e) for d, e in zip(documents, labels, strict=True)]
        counter = run.counter(rule, None, 1000, unit="entities", method="auto")
        n = inside_normal = inside = spread = 0
        for document, found in zip(documents, true, strict=True):
            counts = counter.count([document], model)
            for level, name in ((0.95, "quantile"), (0.95, "normal")):
                low, high = counts.interval(level, method=name)
                for c, a, b in zip(counts.country, low, high, strict=True):
                    ok = a <= found.get(c, 0) <= b
                    if name == "quantile":
                        n, inside = n + 1, inside + ok
                    else:
                        inside_normal += ok
            spread += np.sum(counts.sd > 0.05)
        rows.append(
            {
                "part": part,
                "document x country": n,
                "of these open (sd > 0.05)": int(spread),
                "covered by quantiles, %": f"{100 * inside / n:.1f}",
                "covered by the normal interval, %": f"{100 * inside_normal / n:.1f}",
            }
        )
    run.write("events_gum.csv", rows)


def parsed_mentions(run):
    """Compare the mentions that a parse suggests with the annotated ones."""
    keys = {"head": lambda m: m.head, "all words": lambda m: (m.start, m.end)}
    rows = []
    for part in ("dev", "test"):
        documents, _ = gum(part, lowercase=False, mentions="gold")
        for name, key in keys.items():
            n_both = n_gold = n_found = 0
            for document in documents:
                gold = document.mentions
                found = mentions_from_parse(document).mentions
                # one to one: a second mention with the same head finds no partner
                n_both += len({key(m) for m in gold} & {key(m) for m in found})
                n_gold, n_found = n_gold + len(gold), n_found + len(found)
            rows.append(
                {
                    "part": part,
                    "equal": name,
                    "mentions": n_gold,
                    "recall, %": f"{100 * n_both / n_gold:.1f}",
                    "precision, %": f"{100 * n_both / n_found:.1f}",
                }
            )
    run.write("events_mentions.csv", rows)


# Errors

N_RESAMPLES = 1000
N_TUNE = 20
RANKER_ITERATIONS = 40


def gum_parts():
    """Return the documents to learn from, and the others, with their entities."""
    learn = [gum(part, lowercase=False, mentions="gold") for part in ("dev", "test")]
    documents, labels = (sum(both, []) for both in zip(*learn, strict=True))
    return (documents, labels), gum("train", lowercase=False, mentions="gold")


def litbank_parts():
    found = fetch_corpus("litbank", subset="all")
    order = np.random.default_rng(0).permutation(len(found.data)).tolist()
    parts = order[:30], order[30:]
    return [([found.data[i] for i in p], [found.target[i] for i in p]) for p in parts]


def answered(parts):
    """Return the documents to ask about, their entities and their posterior."""
    (learn, learn_y), (others, others_y) = parts
    features = AntecedentFeatures()
    ranker = fit(features.transform(learn), learn_y, RANKER_ITERATIONS)
    tune = features.transform(others[:N_TUNE])
    scaled = TemperatureScaling(ranker, cv="prefit").fit(tune, others_y[:N_TUNE])
    documents, labels = others[N_TUNE:], others_y[N_TUNE:]
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


def errors(run):
    rows = []
    for corpus, (parts, questions) in CORPORA.items():
        found = answered(parts())
        rows += [
            row_of(corpus, name, about(*found)) for name, about in questions.items()
        ]
    run.write("event_errors.csv", rows)


PARTS = {
    "muc3": muc3,
    "countries": countries,
    "samples": samples,
    "state_union": state_union,
    "gum": gum_coverage,
    "mentions": parsed_mentions,
    "errors": errors,
}


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--parsed", type=Path, help="output of parse_corpora.py")
    parser.add_argument("--other", type=Path, help="another parse of MUC-3, to compare")
    parser.add_argument("--cache", help="folder that keeps trained rankers")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    run = Run(options)
    for part in options.part:
        with timed(part):
            try:
                PARTS[part](run)
            except MissingParse as error:
                print(f"{part} is left out: {error}")


if __name__ == "__main__":
    main()
