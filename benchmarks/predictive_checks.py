"""Do models generate structures like the observed ones? Posterior predictive checks.

    SKCALIB_DATA=... python benchmarks/predictive_checks.py [--quick] [--cache FOLDER]

Nguyen and O'Connor (2015) relate their method to posterior predictive checks.
Statistics of samples from the posterior (numbers of nouns and of verbs,
numbers and lengths of names, numbers of entities, singletons and mentions of the
largest entity) are compared with the test parts, before and after one temperature.
Models are those of tagging.py, entities.py and decoding.py.

Takes 3 minutes of one core, most of it for training. --quick takes a minute: tags of
tweets only, nothing written. Writes predictive_checks.csv and a figure.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import time

import entities
import matplotlib.pyplot as plt
import numpy as np
from _common import RESULTS, print_table, versions, write_csv
from decoding import RANKED, RANKERS, ranked, scaled
from joblib import Memory
from tagging import chosen_model, load

from skcalib.experimental import PredictiveCheckDisplay, posterior_predictive_check
from skcalib.queries._query import last_step, transform_before

N_SAMPLES = 400
TAGGERS = (
    "HMM, untuned",
    "HMM, by likelihood",
    "CRF basic, by likelihood",
    "CRF advanced, unregularised",
    "CRF advanced, by likelihood",
)
NAMERS = ("HMM, pseudocount 0.01", "CRF advanced, c2 = 0.1", "CRF advanced, c2 = 0")

DRAWN = {("by likelihood", "1", name) for name in ("entities", "largest entity")}


def is_start(tags):
    return np.char.startswith(np.asarray(tags, dtype=str), "B-")


STATISTICS = {
    "tags": {
        "verbs": lambda tags: (tags == "V").sum(),
        "nouns": lambda tags: (tags == "N").sum(),
        "kinds of tags": lambda tags: len(set(tags.tolist())),
    },
    "names": {
        "names": lambda tags: is_start(tags).sum(),
        "tokens in names": lambda tags: (np.asarray(tags) != "O").sum(),
    },
    "coreference": {
        "entities": lambda labels: np.unique(labels).size,
        "singletons": lambda labels: (sizes(labels) == 1).sum(),
        "largest entity": lambda labels: sizes(labels).max(initial=0),
    },
}


def sizes(labels):
    return np.unique(labels, return_counts=True)[1]


def tag_checks(task, corpus, role, models, X, y):
    """Yield the rows and the checks of a tagger before and after a temperature."""
    for when, model in models.items():
        posterior = last_step(model).posterior(transform_before(model, X))
        samples = posterior.sample(N_SAMPLES, random_state=0)
        for name, statistic in STATISTICS[task].items():
            check = posterior_predictive_check(
                y, samples, statistic, classes=model.classes_
            )
            yield row_of(task, corpus, role, when, name, check), check


def row_of(task, corpus, role, when, statistic, check):
    return {
        "task": task,
        "corpus": corpus,
        "model": role,
        "temperature": when,
        "statistic": statistic,
        "items": check.observed.size,
        "observed": f"{check.observed.sum():.0f}",
        "expected": f"{check.mean.sum():.1f}",
        "p": f"{check.pvalue:.4f}",
        "p of spread": f"{check.spread_pvalue:.4f}",
        "covered, %": f"{100 * check.coverage:.1f}",
        "so if the model is right, %": f"{100 * check.expected_coverage:.1f}",
        "standard error, %": f"{100 * check.standard_error:.1f}",
        "mean pit": f"{check.pit.mean():.3f}",
    }


def draw(checks, path):
    figure, axes = plt.subplots(
        1, len(checks), figsize=(4.6 * len(checks), 4), layout="constrained"
    )
    for ax, ((title, name), check) in zip(
        np.atleast_1d(axes), checks.items(), strict=True
    ):
        PredictiveCheckDisplay.from_check(check, name=name.capitalize(), ax=ax)
        ax.set_title(title, fontsize="medium")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cache", help="folder to keep models in")
    options = parser.parse_args()
    memory = Memory(options.cache, verbose=0)
    fit, rank = memory.cache(chosen_model), memory.cache(ranked)
    start = time.perf_counter()
    rows, drawn = [], {}
    _, dev, (X, y) = load("ark")
    for role in TAGGERS:
        model = fit("ark", role)
        models = {"1": model, "fitted": scaled(model, dev)}
        rows += [row for row, _ in tag_checks("tags", "ark", role, models, X, y)]
    print(f"tags: {time.perf_counter() - start:.0f} s in all", flush=True)
    if not options.quick:
        parts = entities.load()
        X, y = parts["same sections"]
        for role in NAMERS:
            model = entities.MODELS[role].fit(*parts["train"])
            models = {"1": model, "fitted": scaled(model, parts["dev"])}
            rows += [row for row, _ in tag_checks("names", "btc", role, models, X, y)]
        print(f"names: {time.perf_counter() - start:.0f} s in all", flush=True)
        for corpus, role in RANKED:
            y, before, after, _ = rank(corpus, RANKERS[role])
            for when, posterior in (("1", before), ("fitted", after)):
                samples = posterior.sample(N_SAMPLES, random_state=0)
                for name, statistic in STATISTICS["coreference"].items():
                    check = posterior_predictive_check(y, samples, statistic)
                    rows.append(row_of("coreference", corpus, role, when, name, check))
                    if (role, when, name) in DRAWN:
                        drawn[f"{corpus}, {role}", name] = check
        print(f"coreference: {time.perf_counter() - start:.0f} s in all", flush=True)
    print_table(rows)
    if not options.quick:
        note = f"{N_SAMPLES} samples; " + versions("numpy", "scipy", "sklearn-crfsuite")
        write_csv("predictive_checks.csv", rows, note)
        draw(drawn, RESULTS / "predictive_checks.png")


if __name__ == "__main__":
    main()
