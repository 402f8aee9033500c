"""Time and memory of counting events.

    python benchmarks/speed_events.py [--rounds 5]

Documents and scores are generated (two mentions per sentence), so that no data are
needed. The times are CPU times of one thread, per document: of `EventCounter.count` for
documents that pass the filter, by mentions and samples; of the filter, for documents
without a country; and of `EventRule.evidence`. The peak memory of a call is that of
tracemalloc; the size of the counts is that of their pickle.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pickle
import time
import tracemalloc

from _common import best_times, print_table, versions, write_csv

from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventRule

MENTIONS = (50, 150, 300, 600)
SAMPLES = (100, 1000)
N_DOCUMENTS = 12
# The lexicon does not know it, so that no document passes the filter.
NOWHERE = {"XXX": ("Xyland", "Xylandish")}


def counter(n_samples):
    return EventCounter(EventRule(), n_samples=n_samples, random_state=0)


def generate(n_documents, mentions, **options):
    documents, _, scores = make_event_documents(
        n_documents,
        mean_mentions=mentions,
        return_scores=True,
        random_state=mentions,
        **options,
    )
    return documents, scores


def calls():
    """Return the functions that are timed, and how many documents each works on."""
    functions, n_documents = {}, {}
    for mentions in MENTIONS:
        data = generate(N_DOCUMENTS, mentions)
        for n_samples in SAMPLES:
            key = "count", mentions, n_samples
            functions[key] = lambda data=data, n=n_samples: counter(n).count(*data)
            n_documents[key] = N_DOCUMENTS
    foreign = generate(100, 300, countries=NOWHERE)
    functions["filter", 300, 100] = lambda: counter(100).count(*foreign)
    n_documents["filter", 300, 100] = 100
    short, _ = generate(200, 10)
    rule = EventRule()
    functions["rule", 10, 0] = lambda: [rule.evidence(document) for document in short]
    n_documents["rule", 10, 0] = 200
    return functions, n_documents


def times(n_rounds):
    functions, n_documents = calls()
    best = best_times(functions, n_rounds, clock=time.process_time)
    return [
        {
            "what": what,
            "mentions": mentions,
            "samples": n_samples,
            "ms_per_document": f"{1e3 * seconds / n_documents[key]:.3g}",
        }
        for key, seconds in best.items()
        for what, mentions, n_samples in [key]
    ]


def memory():
    rows = []
    for n in (4, 40):
        data = generate(n, 150)
        tracemalloc.start()
        counts = counter(10_000).count(*data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append(
            {
                "documents": n,
                "mentions": 150,
                "samples": 10_000,
                "peak_mb": f"{peak / 1e6:.1f}",
                "stored_kb_per_document": f"{len(pickle.dumps(counts)) / n / 1e3:.1f}",
            }
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    n_rounds = parser.parse_args().rounds
    note = (
        f"one thread, {N_DOCUMENTS} documents, best of {n_rounds} interleaved rounds; "
        f"{versions('numpy', 'scipy')}"
    )
    for name, rows in (
        ("speed_events.csv", times(n_rounds)),
        ("speed_events_memory.csv", memory()),
    ):
        print_table(rows)
        write_csv(name, rows, note)


if __name__ == "__main__":
    main()
