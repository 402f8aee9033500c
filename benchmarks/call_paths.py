"""How far a call walks through the package: files, functions, depth, switches.

For each of a few typical calls, a tracer on `sys.setprofile` records every call of a
Python function of skcalib:

- files: modules with a function that was called,
- functions: distinct functions, also nested ones and generators,
- depth: the deepest nesting of functions of skcalib,
- switches: how often a call enters another file than the call before.

Comprehensions are left out: some versions of Python call them as functions.

Writes results/call_paths.csv. ``--package DIR`` measures another checkout, whose rows
are kept beside those of this one under the name given by ``--name``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import print_table, read_csv, versions, write_csv

NAME = "call_paths.csv"
N_QUESTIONS = 300
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


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
        if code.co_name in COMPREHENSIONS:
            return
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


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the typical calls by name, on generated data; files are in `folder`."""
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
    groups = np.arange(1000) // 4
    tables, samples = write_tables(folder, right), write_samples(folder, right)
    return {
        "calibration_error": lambda: skcalib.calibration_error(y, q),
        "calibration_error_interval": lambda: skcalib.calibration_error_interval(y, q),
        "calibration_error_interval, groups": lambda: (
            skcalib.calibration_error_interval(y, q, groups=groups)
        ),
        "calibration_error_scorer": lambda: skcalib.calibration_error_scorer(
            model, X, y
        ),
        "ReliabilityDisplay.from_estimator": lambda: (
            skcalib.ReliabilityDisplay.from_estimator(model, X, y)
        ),
        "ReliabilityDisplay.from_predictions": lambda: (
            skcalib.ReliabilityDisplay.from_predictions(y, q)
        ),
        "CRFTagger.predict_proba": lambda: crf.predict_proba(sentences),
        "EventCounter.count": lambda: counter.count(documents, ranker),
        "paired_bootstrap_test": lambda: skcalib.paired_bootstrap_test(*right),
        "skcalib compare, two CSV files": lambda: run_compare(tables),
        "skcalib compare, two lm-eval files": lambda: run_compare(samples),
    }


def run_compare(files: list[str]) -> None:
    """Run the command, without its output."""
    from skcalib.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        main(["compare", *files])


def write_tables(folder: Path, right: Any) -> list[str]:
    """Write one CSV of 300 rows with an answer per row for each system."""
    files = []
    for k, correct in enumerate(right[:, :N_QUESTIONS]):
        path = folder / f"system_{k}.csv"
        rows = "".join(f"{i},{int(c)}\n" for i, c in enumerate(correct))
        path.write_text(f"question,correct\n{rows}")
        files.append(str(path))
    return files


def write_samples(folder: Path, right: Any) -> list[str]:
    """Write one file of 300 samples of lm-evaluation-harness for each system.

    Each question has two choices. The second one is right, and its log-likelihood is
    the larger one if the system is right.
    """
    files = []
    for k, correct in enumerate(right[:, :N_QUESTIONS]):
        path = folder / f"samples_task_{k}.jsonl"
        with path.open("w") as file:
            for i, c in enumerate(correct):
                file.write(json.dumps(sample_of(i, int(c))) + "\n")
        files.append(str(path))
    return files


def sample_of(i: int, correct: int) -> dict[str, Any]:
    """Return a sample as the harness writes it."""
    question, choices = f"Question {i}?", ["no", "yes"]
    likelihoods = [[str(-1.5 - i % 4 / 10 - correct), "False"], ["-2.0", "False"]]
    return {
        "doc_id": i,
        "doc": {"question": question, "choices": choices, "answer": 1},
        "target": "1",
        "arguments": {
            f"gen_args_{j}": {"arg_0": question, "arg_1": f" {choice}"}
            for j, choice in enumerate(choices)
        },
        "resps": [[each] for each in likelihoods],
        "filtered_resps": likelihoods,
        "filter": "none",
        "metrics": ["acc"],
        "acc": float(correct),
    }


QUICK = [{"files": {"call_paths.csv": {"keys": ["version", "call"]}}}]


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
    kept = [r for r in read_csv(NAME)[1] if r["version"] != arguments.name]
    with tempfile.TemporaryDirectory() as files:
        rows = [
            {"version": arguments.name, "call": name, **measure(call, folder)}
            for name, call in calls(Path(files)).items()
        ]
    print_table(rows)
    note = versions("numpy", "scipy", "scikit-learn")
    # the other rows are those of other checkouts
    other = arguments.package is not None
    write_csv(NAME, [*kept, *rows], note, keeps_rows=other)


if __name__ == "__main__":
    main()
