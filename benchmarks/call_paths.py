"""How far a call walks through the package: files, functions, depth, switches.

For each of a few typical calls, a tracer on `sys.setprofile` records every call of a
Python function of skcalib:

- files: modules with a function that was called,
- functions: distinct functions, also nested ones, comprehensions and generators,
- depth: the deepest nesting of functions of skcalib,
- switches: how often a call enters another file than the call before.

Writes results/call_paths.csv. ``--package DIR`` measures another checkout, whose rows
are kept beside those of this one under the name given by ``--name``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "call_paths.csv"
FIELDS = ("version", "call", "files", "functions", "depth", "switches")


class Tracer:
    """Records the calls of functions whose file lies below a folder."""

    def __init__(self, folder: Path):
        self.folder = str(folder)
        self.functions: set[Any] = set()
        self.files: set[str] = set()
        self.depth = self.deepest = self.switches = 0
        self._last = ""

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if not code.co_filename.startswith(self.folder):
            return
        if event == "return":
            self.depth -= 1
            return
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        self.functions.add(code)
        self.files.add(code.co_filename)
        if self._last not in ("", code.co_filename):
            self.switches += 1
        self._last = code.co_filename


def measure(call: Callable[[], Any], folder: Path) -> dict[str, int]:
    """Return the counts of one call, after one that fills caches and imports."""
    call()
    tracer = Tracer(folder)
    sys.setprofile(tracer)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {
        "files": len(tracer.files),
        "functions": len(tracer.functions),
        "depth": tracer.deepest,
        "switches": tracer.switches,
    }


def calls() -> dict[str, Callable[[], Any]]:
    """Return the typical calls by name, on generated data."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    import skcalib
    from skcalib.coref import AntecedentFeatures, AntecedentRanker
    from skcalib.datasets import (
        make_calibrated_pairs,
        make_event_documents,
        make_tagged_sentences,
    )
    from skcalib.events import EventCounter, EventRule

    y, q = make_calibrated_pairs(1000, random_state=0)
    X = q.reshape(-1, 1)
    model = LogisticRegression().fit(X, y)
    sentences, tags = make_tagged_sentences(60, random_state=0)
    crf = skcalib.CRFTagger(max_iterations=10).fit(sentences, tags)
    documents, _ = make_event_documents(5, random_state=0)
    ranker = make_pipeline(AntecedentFeatures(), AntecedentRanker(max_iter=20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few iterations are enough here
        ranker.fit(documents, [document.entities for document in documents])
    counter = EventCounter(EventRule(), freq="year", random_state=0)
    right = np.random.default_rng(0).integers(0, 2, (2, 500))
    return {
        "calibration_error": lambda: skcalib.calibration_error(y, q),
        "calibration_error_scorer": lambda: skcalib.calibration_error_scorer(
            model, X, y
        ),
        "ReliabilityDisplay.from_estimator": lambda: (
            skcalib.ReliabilityDisplay.from_estimator(model, X, y)
        ),
        "CRFTagger.predict_proba": lambda: crf.predict_proba(sentences),
        "EventCounter.count": lambda: counter.count(documents, ranker),
        "paired_bootstrap_test": lambda: skcalib.paired_bootstrap_test(*right),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, help="folder that holds skcalib/")
    parser.add_argument("--name", default="now", help="name of the version")
    arguments = parser.parse_args()
    if arguments.package is not None:
        sys.path.insert(0, str(arguments.package.resolve()))
    import matplotlib

    import skcalib

    matplotlib.use("Agg")
    folder = Path(skcalib.__file__).parent
    kept = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = [r for r in csv.DictReader(file) if r["version"] != arguments.name]
    rows = [
        {"version": arguments.name, "call": name, **measure(call, folder)}
        for name, call in calls().items()
    ]
    for row in rows:
        print(*(row[field] for field in FIELDS), sep="\t")
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *rows])


if __name__ == "__main__":
    main()
