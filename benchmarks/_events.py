"""What the benchmarks of section 6 share: verbs, actors, a ranker trained on GUM."""

import dataclasses
import time
import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skcalib import AntecedentRanker, TemperatureScaling
from skcalib.coref import AntecedentFeatures
from skcalib.datasets import fetch_gum
from skcalib.documents import mentions_from_parse
from skcalib.events import AffiliationLexicon

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
    bunch = fetch_gum(subset=part)
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
