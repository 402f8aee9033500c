"""Does the confidence of a name hold? Predicted names in the Broad Twitter Corpus.

    SKCALIB_DATA=... python benchmarks/entities.py [--jobs 2]

Taggers are trained on six of eight tweets of sections a, b and g, temperatures are
fitted on the seventh, and the names that are found in the eighth are asked for, as are
those found in sections f and h, whose writers are others. The probability that exactly
these tokens are a name (SpanQuery) stands beside the product of the marginals of its
tokens. Writes a table and a figure.
"""

import time

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from sklearn.pipeline import make_pipeline

from skcalib import (
    CRFTagger,
    HMMTagger,
    ReliabilityDisplay,
    TemperatureScaling,
    TokenFeatures,
    calibration_error_interval,
)
from skcalib.datasets import fetch_corpus
from skcalib.queries import SpanQuery

EIGHTHS = {"train": range(6), "dev": [6], "same sections": [7]}
N_ITERATIONS = 100
MODELS = {
    "HMM, pseudocount 1": HMMTagger(1.0),
    "HMM, pseudocount 0.01": HMMTagger(0.01),
    "CRF basic, c2 = 1": CRFTagger(c2=1.0, max_iterations=N_ITERATIONS),
    "CRF basic, c2 = 0.03": CRFTagger(c2=0.03, max_iterations=N_ITERATIONS),
    "CRF advanced, c2 = 1": make_pipeline(
        TokenFeatures("advanced"), CRFTagger(c2=1.0, max_iterations=N_ITERATIONS)
    ),
    "CRF advanced, c2 = 0.1": make_pipeline(
        TokenFeatures("advanced"), CRFTagger(c2=0.1, max_iterations=N_ITERATIONS)
    ),
    "CRF advanced, c2 = 0": make_pipeline(
        TokenFeatures("advanced"), CRFTagger(c2=0.0, max_iterations=N_ITERATIONS)
    ),
}
DRAWN = ("HMM, pseudocount 0.01", "CRF advanced, c2 = 0.1", "CRF advanced, c2 = 0")


def load():
    """Return the parts: trained on, fitted on, and the two that are tested."""
    X, y = fetch_corpus("broad_twitter_entities", subset="train", return_X_y=True)
    parts = {
        part: ([X[i] for i in rows], [y[i] for i in rows])
        for part, eighths in EIGHTHS.items()
        for rows in [[i for i in range(len(X)) if i % 8 in eighths]]
    }
    others = [
        fetch_corpus("broad_twitter_entities", subset=subset, return_X_y=True)
        for subset in ("dev", "test")
    ]
    columns = zip(*others, strict=True)
    parts["other sections"] = tuple(sum(lists, []) for lists in columns)
    return parts


def product_of_marginals(answers, proba, classes):
    """Return what many tools give for a name: its tokens' marginals, multiplied."""
    place = {tag: k for k, tag in enumerate(classes)}
    q = np.empty(len(answers.y_proba))
    for r, (i, (start, stop), label) in enumerate(
        zip(answers.groups, answers.item, answers.label, strict=True)
    ):
        inside = place.get(f"I-{label}")
        q[r] = proba[i][start, place[f"B-{label}"]]
        q[r] *= np.prod(proba[i][start + 1 : stop, inside])
        if stop < len(proba[i]):
            q[r] *= 1 - proba[i][stop, inside]
    return q


def evaluate(name, parts):
    """Return the rows of a model and the answers that are drawn."""
    start = time.perf_counter()
    model = MODELS[name].fit(*parts["train"])
    scaled = TemperatureScaling(model, cv="prefit").fit(*parts["dev"])
    rows, drawn = [], {}
    n_gold = {part: n_names(parts[part][1]) for part in parts}
    for part in ("same sections", "other sections"):
        X, y = parts[part]
        before, after = SpanQuery()(model, X, y), SpanQuery()(scaled, X, y)
        naive = product_of_marginals(
            before, model.predict_proba(X), model.classes_.tolist()
        )
        row = {"model": name, "tested on": part, "names found": len(before.y_true)}
        row["precision"] = f"{before.y_true.mean():.3f}"
        row["recall"] = f"{before.y_true.sum() / n_gold[part]:.3f}"
        row["temperature"] = f"{scaled.temperature_:.2f}"
        for title, q, answers in (
            ("span", before.y_proba, before),
            ("product", naive, before),
            ("tempered", after.y_proba, after),
        ):
            found = calibration_error_interval(answers.y_true, q, groups=answers.groups)
            row[f"{title}: confidence"] = f"{q.mean():.3f}"
            row |= _study.interval_cells(found, f"{title}: ")
        rows.append(row)
        drawn[part] = before, after
    print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    return rows, drawn


def n_names(y):
    return sum(tag.startswith("B-") for tags in y for tag in tags)


def draw(drawn):
    figure, axes = plt.subplots(1, len(DRAWN), figsize=(12, 5.2), layout="constrained")
    for ax, name in zip(axes, DRAWN, strict=True):
        before, after = drawn[name]["same sections"]
        for title, answers in (("before", before), ("tempered", after)):
            ReliabilityDisplay.from_predictions(
                answers.y_true,
                answers.y_proba,
                groups=answers.groups,
                name=title,
                ax=ax,
            )
        ax.set_title(name)
    _study.save(figure, "entities.png", 90)


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    n_jobs = parser.parse_args().jobs
    parts = load()
    found = Parallel(n_jobs)(delayed(evaluate)(name, parts) for name in MODELS)
    rows = [row for rows, _ in found for row in rows]
    print_table(rows)
    write_csv("entities.csv", rows, versions("numpy", "scipy", "sklearn-crfsuite"))
    draw(dict(zip(MODELS, (drawn for _, drawn in found), strict=True)))


if __name__ == "__main__":
    main()
