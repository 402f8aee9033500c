"""Counts of events over time, with what coreference does not know: real documents.

    SKCALIB_DATA=... python benchmarks/events.py [--part muc3 ewt gum] [--jobs 2]

Section 6 of Nguyen and O'Connor (2015). A ranker is trained on GUM, on the mentions
that the parses suggest (entities are those of the annotated mentions with the same
head), recalibrated on GUM's development documents, and asked about:

- `muc3`: 1,614 dated reports on Latin America, 1988 to 1990, with an automatic parse of
  lower-cased text: who attacks, by month and quarter, for actors (groups mostly) and
  for countries; 100 samples a document;
- `ewt`: weblogs and newsgroups with gold parses, 2003 to 2006: any verb, and verbs of
  speech. What is counted are subjects of verbs, not attacks, of which there are none;
- `gum`: held-out documents with gold mentions and entities: how often do the intervals
  hold the true count?

Writes tables and figures; prints what took how long.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import dataclasses
import time
import warnings
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
from _common import RESULTS, print_table, versions, write_csv
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, TemperatureScaling
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import fetch_gum, fetch_muc3, fetch_ud_english_ewt, read_conllu
from skcalib.documents import mentions_from_parse
from skcalib.events import (
    AffiliationLexicon,
    CountryLexicon,
    EventCounter,
    EventRule,
)
from skcalib.plot import EventCountDisplay

N_SAMPLES = 100
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
SPEECH = frozenset(
    ("say", "tell", "announce", "declare", "claim", "report", "state", "ask", "warn")
    + ("deny", "admit", "explain", "argue", "suggest", "insist", "note", "add", "call")
    + ("promise", "demand", "urge", "speak", "talk", "criticize", "condemn")
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
NO_COREFERENCE = -1e9


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
    bunch = fetch_gum(subset=part)
    documents, labels = bunch.data, bunch.target
    if mentions == "parse":
        pairs = [suggested(d, e) for d, e in zip(documents, labels, strict=True)]
        documents, labels = zip(*pairs, strict=True)
    if lowercase:
        documents = [lower(document) for document in documents]
    return list(documents), list(labels)


def train(*, lowercase, mentions):
    """Return features and a recalibrated ranker in a row."""
    features = AntecedentFeatures()
    X, y = gum("train", lowercase=lowercase, mentions=mentions)
    ranker = AntecedentRanker(0.3, max_iter=60, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker.fit(features.transform(X), y)
    X, y = gum("dev", lowercase=lowercase, mentions=mentions)
    scaled = TemperatureScaling(ranker, cv="prefit").fit(features.transform(X), y)
    print(
        f"temperature {scaled.temperature_:.2f}, offset {scaled.new_offset_:+.2f}",
        flush=True,
    )
    return make_pipeline(features, scaled)


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
    scores = np.full((n, n), NO_COREFERENCE)
    scores[np.diag_indices(n)] = 0.0
    return scores


def muc3(n_jobs):
    model = train(lowercase=True, mentions="parse")
    with timed("reading MUC-3"):
        reports = fetch_muc3(parsed=True, mentions=True).data
    dated = [report for report in reports if report.date is not None]
    print(f"{len(dated)} of {len(reports)} reports have a date")
    rows, answers = [], {}
    for verbs, title in ((["attack"], "attack"), (VIOLENT, "violent verbs")):
        for lexicon, who in ((ACTORS, "actors"), (CountryLexicon(), "countries")):
            rule = EventRule(verbs, lexicon=lexicon, lowercase=True)
            kept = [report for report in dated if rule.may_match(report)]
            for freq in ("month", "quarter"):
                counter = EventCounter(
                    rule,
                    n_samples=N_SAMPLES,
                    freq=freq,
                    method="sample",
                    random_state=0,
                    n_jobs=n_jobs,
                )
                name = f"{title}, {who}, by {freq}"
                with timed(f"{name}: {len(kept)} reports may match"):
                    counts = counter.count(dated, model)
                without = counter.count(kept, [alone(report) for report in kept])
                answers[title, who, freq] = counts, without
                rows += frame_rows(counts, verbs=title, who=who, freq=freq)
    summary = [
        total(title, who, *answers[title, who, "month"])
        for title, who, freq in answers
        if freq == "month"
    ]
    print_table(summary)
    note = versions("numpy", "scipy", "skcalib")
    write_csv("events_muc3.csv", rows, note)
    write_csv("events_muc3_total.csv", summary, note)
    ask(answers["violent verbs", "actors", "month"][0])
    draw_muc3(answers)


def total(title, who, counts, without):
    """Return what coreference adds, all periods and actors together."""
    mean, best, bare = counts.mean.sum(), counts.map_count.sum(), without.mean.sum()
    some = counts.mean > 0.5
    return {
        "verbs": title,
        "who": who,
        "mean": f"{mean:.1f}",
        "1-best": f"{best:.0f}",
        "no coreference": f"{bare:.1f}",
        "mean of its sd": f"{counts.sd[some].mean():.2f}",
        "Monte Carlo error": f"{counts.monte_carlo_error[some].mean():.3f}",
    }


def ask(counts):
    """Print who attacked more often in the month of the offensive, and what is open."""
    print("November 1989:")
    for pair in (("FMLN", "army, police"), ("FMLN", "guerrillas")):
        print(" ", counts.compare(*pair, "1989-11"))
    print("December 1989 against United States:")
    print(" ", counts.compare("United States", "army, police", "1989-12"))
    for each in counts.uncertain_documents()[:10]:
        link = each.links[0] if each.links else None
        why = (
            f"{link.agent_text!r} ~ {link.other_text!r} {link.proba:.2f}"
            if link
            else ""
        )
        print(f"  {each.id} {each.country} {each.proba:.2f} {why}")


def draw_muc3(answers):
    counts = answers["violent verbs", "actors", "month"][0]
    display = EventCountDisplay.from_counts(counts, top=6, method="quantile")
    display.figure_.savefig(RESULTS / "events_muc3.png", dpi=110)
    plt.close(display.figure_)


# Web text


def dated_ewt():
    """Return weblogs and newsgroups of all parts of EWT with the parse's mentions."""
    documents = []
    for subset in ("train", "dev", "test"):
        for name in fetch_ud_english_ewt(subset=subset).filenames:
            documents += read_conllu(name)
    kept = [d for d in documents if d.date and d.id.startswith(("weblog", "newsgroup"))]
    return [mentions_from_parse(document) for document in kept]


def ewt(n_jobs):
    model = train(lowercase=False, mentions="parse")
    with timed("reading EWT"):
        documents = dated_ewt()
    rows = []
    for verbs, title in ((None, "any verb"), (SPEECH, "verbs of speech")):
        counter = EventCounter(
            EventRule(verbs),
            n_samples=N_SAMPLES,
            freq="year",
            method="sample",
            random_state=0,
            n_jobs=n_jobs,
        )
        with timed(f"{title}: {len(documents)} documents"):
            counts = counter.count(documents, model)
        rows += frame_rows(counts, verbs=title)
    write_csv("events_ewt.csv", rows, versions("numpy", "scipy", "skcalib"))


# Coverage


def gum_coverage(n_jobs):
    """Count countries that are the subject of a verb, a document at a time."""
    model = train(lowercase=False, mentions="gold")
    rows = []
    rule = EventRule(None)
    for part in ("dev", "test"):
        documents, labels = gum(part, lowercase=False, mentions="gold")
        true = [truth(rule, d, e) for d, e in zip(documents, labels, strict=True)]
        counter = EventCounter(
            rule,
            n_samples=1000,
            freq=None,
            unit="entities",
            random_state=0,
            n_jobs=n_jobs,
        )
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
    print_table(rows)
    write_csv("events_gum.csv", rows, versions("numpy", "scipy", "skcalib"))


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


PARTS = {"muc3": muc3, "ewt": ewt, "gum": gum_coverage}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    for part in chosen.part:
        with timed(part):
            PARTS[part](chosen.jobs)


if __name__ == "__main__":
    main()
