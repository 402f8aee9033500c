"""The significance studies of Berg-Kirkpatrick et al. (2012) on free data.

    SKCALIB_DATA=... python benchmarks/significance.py [--jobs 2]

1. Natural systems: entity F1 of the seven teams of WNUT 2017, and expert scores of ten
   translations of WMT 2020: gain against confidence, all pairs.
2. Synthetic systems: hidden Markov models and conditional random fields trained on
   resamples of UD English EWT, of three sizes each; token accuracy of universal tags;
   thresholds of pairs of one model and of two, at several sizes of the test set, and
   at one size in each genre. The same models on names in tweets, by F1.
3. Whether p < .05 predicts a win on new data: the other half of the same texts, other
   genres of EWT, GUM.

The script writes tables and figures in about ten minutes on one core.
"""

import time
from itertools import combinations, product

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed
from scipy.special import ndtr, ndtri
from sklearn.pipeline import make_pipeline

from skcalib import CRFTagger, HMMTagger, TokenFeatures
from skcalib.datasets import fetch_corpus, to_sequences
from skcalib.metrics import accuracy_statistics, span_statistics
from skcalib.significance import compare_systems, resample_training
from skcalib.significance import test_size_curve as size_curve

MODELS = {"HMM": HMMTagger(0.1), "CRF": CRFTagger(c2=0.1, max_iterations=60)}
# Sentences that each model is trained on, so that the accuracies of both overlap.
TRAINED_ON = {"HMM": (12544, 10_000, 8000), "CRF": (8000, 6272, 4181)}


def shape(sentence, t):
    """Return what is seen of a word whose spelling may be new."""
    word = sentence[t]
    return {
        "lower": word.lower(),
        "capital": word[:1].isupper(),
        "upper": word.isupper(),
        "suffix": word[-3:],
    }


# The same for names in tweets, most of which no training part has.
NAME_MODELS = {
    "HMM": HMMTagger(0.1),
    "CRF": make_pipeline(TokenFeatures(shape), CRFTagger(c2=1.0, max_iterations=60)),
}
TRAINED_ON_NAMES = {"HMM": (5138,), "CRF": (5138, 4000, 3000)}
SIZES = (100, 250, 500, 1000, 2077, 4078)
NAME_SIZES = (500, 1000, 2000, 4001)
# Sentences of each genre, of which the smallest kept has a few more.
GENRE_SIZE = 130
SPLITS = 20
# Of p-values, where the paper looks at how often a gain holds up.
EDGES = (0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1)


N_MODELS, REPEATS = 18, 10


# Natural systems


def natural():
    """Return the comparison of the systems of each shared task."""
    wnut = fetch_corpus("system_outputs", subset="wnut17", download_if_missing=False)
    entities = {
        name: span_statistics(wnut.target, tags) for name, tags in wnut.data.items()
    }
    wmt = fetch_corpus("system_outputs", subset="wmt20", download_if_missing=False)
    params = {"n_resamples": 100_000, "random_state": 0}
    return {
        "WNUT 2017": compare_systems(entities, statistic="f1", **params),
        "WMT 2020": compare_systems(wmt.data, statistic="mean", **params),
    }


def rows_of_pairs(task, comparison, scale):
    return [
        {
            "task": task,
            "A": a,
            "B": b,
            "gain": f"{scale * (0 - comparison.gain[k]):+.3f}",  # A over B
            "p": f"{comparison.pvalue[k]:.3g}",
            "p (Holm)": f"{comparison.pvalue_adjusted[k]:.3g}",
            "method": comparison.method[k],
        }
        for k, (a, b) in enumerate(comparison.pairs)
    ]


# Synthetic systems


def load():
    """Return the training sentences, and the test sentences with their genres."""
    train = fetch_corpus(
        "ud_english_ewt", subset="train", column="upos", download_if_missing=False
    )
    texts = []
    for subset in ("test", "dev"):
        web = fetch_corpus(
            "ud_english_ewt", subset=subset, column="upos", download_if_missing=False
        )
        genres = [web.documents[g].id.split("-")[0] for g in web.groups]
        texts.append((web.data, web.target, [f"EWT {genre}" for genre in genres]))
    for subset in ("test", "dev"):
        documents = fetch_corpus("gum", subset=subset, download_if_missing=False).data
        X, y = to_sequences(documents, "upos")
        genres = [d.id.split("_")[1] for d in documents for _ in d.sentences]
        texts.append((X, y, [f"GUM {genre}" for genre in genres]))
    X, y, genre = (sum(parts, []) for parts in zip(*texts, strict=True))
    return train.data, train.target, X, y, np.array(genre)


def load_names():
    """Return tweets with names: training part, then development and test part."""
    parts = [
        fetch_corpus("broad_twitter_entities", subset=subset, download_if_missing=False)
        for subset in ("train", "test", "dev")
    ]
    train, *tests = [(part.data, part.target) for part in parts]
    X, y = (sum(texts, []) for texts in zip(*tests, strict=True))
    return *train, X, y


def train_one(models, name, k, size, X, y, X_test, y_test, count):
    """Return name and statistics of a model trained on a resample."""
    start = time.perf_counter()
    # no two systems on the same resample
    seed = 1000 * list(models).index(name) + k
    (model,) = resample_training(
        models[name], X, y, n_models=1, sizes=size, random_state=seed
    )
    found = count(y_test, model.predict(X_test))
    return f"{name} {k}", size, found, time.perf_counter() - start


def score(statistics):
    """Return accuracy or F1, from the sums of their statistics."""
    right, *totals = statistics.sum(axis=0)
    return len(totals) * right / sum(totals)


def synthetic(n_jobs, models, trained_on, X, y, X_test, y_test, count):
    """Return the statistics of every system by name, and what it was trained on."""
    jobs = [
        (name, k, trained_on[name][k % len(trained_on[name])])
        for name in models
        for k in range(N_MODELS)
    ]
    # the longest first
    jobs.sort(key=lambda job: (job[0] != "CRF", -job[2]))
    systems, sizes = {}, {}
    with Parallel(n_jobs=n_jobs, return_as="generator") as parallel:
        tasks = (
            delayed(train_one)(models, *job, X, y, X_test, y_test, count)
            for job in jobs
        )
        for name, size, found, seconds in parallel(tasks):
            systems[name], sizes[name] = found, size
            print(f"{name}, {size}: {score(found):.4f}, {seconds:.0f} s", flush=True)
    names = sorted(systems, key=lambda name: (name[:3], int(name.split()[1])))
    return {name: systems[name] for name in names}, sizes


def kind_of(pair):
    """Return whether the names of two systems begin with the same model."""
    same = len({name.split()[0] for name in pair}) == 1
    return "same model" if same else "different models"


def pairs_by_kind(systems):
    """Yield the pairs of systems of one model, and those of two."""
    for kind in ("same model", "different models"):
        yield kind, [p for p in combinations(systems, 2) if kind_of(p) == kind]


def threshold_row(systems, pairs, size, statistic, repeats):
    """Return the threshold of pairs at one size of the test set."""
    curve = size_curve(
        systems,
        sizes=[size],
        statistic=statistic,
        pairs=pairs,
        n_repeats=repeats,
        random_state=size,
    )
    threshold = curve.threshold[0]
    return {
        "threshold": "" if threshold is None else f"{100 * threshold:.3f}",
        "borderline pairs": int(curve.n_borderline[0]),
        "mean p": f"{curve.mean_pvalue[0]:.4f}",
        "power": f"{curve.power[0]:.4f}",
        "subsamples": curve.n_repeats,
    }


def sizes_rows(systems, n_test, sizes, statistic="ratio"):
    """Return thresholds of pairs of one model and of two, by size of the test set."""
    rows = []
    for kind, pairs in pairs_by_kind(systems):
        for size in [size for size in sizes if size <= n_test]:
            # larger subsamples differ less, and have more borderline pairs
            repeats = max(1, min(REPEATS, n_test // size))
            found = threshold_row(systems, pairs, size, statistic, repeats)
            rows.append({"pairs": kind, "sentences": size, **found})
    return rows


def genre_rows(systems, genre):
    """Return thresholds at one size of the test set, by genre."""
    rows = []
    for name in np.unique(genre):
        inside = np.flatnonzero(genre == name)
        if inside.size < GENRE_SIZE:
            continue
        part = {system: stats[inside] for system, stats in systems.items()}
        for kind, pairs in pairs_by_kind(part):
            repeats = max(1, min(REPEATS, inside.size // GENRE_SIZE))
            found = threshold_row(part, pairs, GENRE_SIZE, "ratio", repeats)
            accuracy = np.mean([score(stats) for stats in part.values()])
            rows.append(
                {
                    "genre": name,
                    "sentences": GENRE_SIZE,
                    "of": inside.size,
                    "tokens per sentence": f"{part_length(part):.1f}",
                    "mean accuracy": f"{accuracy:.3f}",
                    "pairs": kind,
                    **found,
                }
            )
    return rows


def part_length(systems):
    """Return the mean number of tokens per sentence."""
    return next(iter(systems.values()))[:, 1].mean()


# New data


def accuracies(systems, rows):
    return np.array([np.divide(*stats[rows].sum(axis=0)) for stats in systems.values()])


def outcomes(systems, old, new):
    """Return p on the old sentences, whether the winner wins on the new, expectation.

    The expectation is that of a normal gain with a flat prior: the winner's gain on new
    sentences of the same kind varies by their number too.
    """
    comparison = compare_systems(
        {name: stats[old] for name, stats in systems.items()},
        statistic="ratio",
        adjust=None,
    )
    first, second = np.triu_indices(len(systems), 1)
    accuracy = accuracies(systems, new)
    new_gain = accuracy[second] - accuracy[first]
    p = comparison.pvalue
    wins = np.where(new_gain == 0, 0.5, np.sign(new_gain) == np.sign(comparison.gain))
    z = -ndtri(np.clip(p, 1e-300, 1) / 2)
    expected = ndtr(z / np.sqrt(1 + len(old) / len(new)))
    differs = comparison.gain != 0
    return p[differs], wins[differs], expected[differs]


def in_order(systems, genre):
    """Yield the kind of new data, and the outcomes, of every split."""
    rng = np.random.default_rng(0)
    web = np.flatnonzero(np.char.startswith(genre, "EWT"))
    other = np.flatnonzero(np.char.startswith(genre, "GUM"))
    for _ in range(SPLITS):
        mixed = rng.permutation(web)
        half = mixed.size // 2
        yield "EWT, other half", outcomes(systems, mixed[:half], mixed[half:])
        yield "EWT half -> GUM", outcomes(systems, mixed[:half], other)
    names = [name for name in np.unique(genre) if np.sum(genre == name) >= 40]
    sources = [name for name in names if name.startswith("EWT")]
    for source in sources:
        rows = np.flatnonzero(genre == source)
        for _ in range(SPLITS // 4):
            mixed = rng.permutation(rows)
            half = mixed.size // 2
            yield "genre, other half", outcomes(systems, mixed[:half], mixed[half:])
    for source, target in product(sources, names):
        if source == target:
            continue
        kind = "other EWT genre" if target.startswith("EWT") else "GUM genre"
        rows, new = (np.flatnonzero(genre == name) for name in (source, target))
        # as many as a half has, so that the p-values are alike
        rows = rng.permutation(rows)[: rows.size // 2]
        yield kind, outcomes(systems, rows, new)


def prediction_rows(systems, genre):
    """Return how often the winner wins again, by p-value and kind of new data."""
    found = {}
    for kind, outcome in in_order(systems, genre):
        found.setdefault(kind, []).append(outcome)
    rows = []
    for kind, each in found.items():
        p, wins, expected = (np.concatenate(x) for x in zip(*each, strict=True))
        for low, high in [*zip(EDGES[:-1], EDGES[1:], strict=True), (0, 0.05)]:
            inside = (p > low) & (p <= high) if low else p <= high
            if inside.any():
                rows.append(
                    {
                        "new data": kind,
                        "p": f"{low:g} to {high:g}",
                        "comparisons": int(inside.sum()),
                        "mean 1 - p/2": f"{1 - p[inside].mean() / 2:.3f}",
                        "wins again": f"{wins[inside].mean():.3f}",
                        "expected of i.i.d.": f"{expected[inside].mean():.3f}",
                    }
                )
    return rows


# Figures


def draw_natural(comparisons):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    teams, translations = comparisons.items()
    _study.draw_pairs(axes[0], teams[1], None, "entity F1, points", teams[0], scale=100)
    kind = [
        " and ".join(
            sorted({"human" if x.startswith("Human") else "machine" for x in pair})
        )
        for pair in translations[1].pairs
    ]
    _study.draw_pairs(axes[1], translations[1], kind, "MQM score", translations[0])
    _study.save(figure, "significance_natural.png")


def draw_sizes(ax, rows, label, prefix=""):
    """Draw the thresholds of both kinds of pairs by the size of the test set."""
    for marker, name in zip("o^", ("same model", "different models"), strict=True):
        own = [row for row in rows if row["pairs"] == prefix + name]
        own = [row for row in own if row["threshold"]]
        x = [row["sentences"] for row in own]
        y = [float(row["threshold"]) for row in own]
        ax.plot(x, y, marker=marker, label=name)
    ax.set(xscale="log", yscale="log", xlabel="sentences in the test set", ylabel=label)
    sizes = sorted({row["sentences"] for row in rows})
    ax.set_xticks(sizes, labels=list(map(str, sizes)))
    ax.xaxis.minorticks_off()
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("{x:g}")
    ax.tick_params(axis="y", which="minor", labelsize=7)
    ax.legend()


def draw_synthetic(comparison, rows):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    kind = list(map(kind_of, comparison.pairs))
    title = f"UD EWT test part, {comparison.n_items} sentences"
    _study.draw_pairs(
        axes[0], comparison, kind, "token accuracy, points", title, scale=100
    )
    draw_sizes(axes[1], rows, "threshold, points of accuracy")
    _study.save(figure, "significance_synthetic.png")


def draw_genres(rows):
    names = list(dict.fromkeys(row["genre"] for row in rows))
    figure, ax = plt.subplots(
        figsize=(6.2, 1.2 + 0.25 * len(names)), layout="constrained"
    )
    for marker, kind in zip("o^", ("same model", "different models"), strict=True):
        line = [row for row in rows if row["pairs"] == kind and row["threshold"]]
        ax.plot(
            [float(row["threshold"]) for row in line],
            [names.index(row["genre"]) for row in line],
            marker,
            label=kind,
        )
    ax.set_yticks(range(len(names)), labels=names)
    ax.set(
        xlabel=f"threshold, points of accuracy, {rows[0]['sentences']} sentences",
        xlim=(0, None),
    )
    ax.invert_yaxis()
    ax.grid(axis="y", alpha=0.3)
    ax.legend(fontsize=8)
    _study.save(figure, "significance_genres.png")


def draw_prediction(rows):
    figure, ax = plt.subplots(figsize=(6.2, 4.6), layout="constrained")
    ax.plot((0.5, 1), (0.5, 1), "--", color="0.6", label="as if nothing else differed")
    kinds = list(dict.fromkeys(row["new data"] for row in rows))
    for marker, kind in zip("os^Dv", kinds, strict=False):
        line = [
            row for row in rows if row["new data"] == kind and row["p"] != "0 to 0.05"
        ]
        ax.plot(
            [float(row["expected of i.i.d."]) for row in line],
            [float(row["wins again"]) for row in line],
            marker=marker,
            label=kind,
        )
    ax.set(
        xlabel="wins expected on new data of the same kind, from p",
        ylabel="wins on new data",
    )
    ax.legend(fontsize=8)
    _study.save(figure, "significance_prediction.png")


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    n_jobs = parser.parse_args().jobs
    start = time.perf_counter()
    comparisons = natural()
    tables = {
        "natural": [
            row
            for (task, comparison), scale in zip(
                comparisons.items(), (100, 1), strict=True
            )
            for row in rows_of_pairs(task, comparison, scale)
        ]
    }
    *train, X, y, genre = load()
    systems, sizes = synthetic(
        n_jobs, MODELS, TRAINED_ON, *train, X, y, accuracy_statistics
    )
    # the test part comes first, then the development part: both are unseen
    n_test = int(np.char.startswith(genre, "EWT").sum())
    web = {name: stats[:n_test] for name, stats in systems.items()}
    comparison = compare_systems(
        {name: stats[:2077] for name, stats in systems.items()}, statistic="ratio"
    )
    tables["systems"] = [
        {"system": name, "sentences": sizes[name], "accuracy": f"{metric:.4f}"}
        for name, metric in zip(comparison.names, comparison.metric, strict=True)
    ]
    tables["sizes"] = sizes_rows(web, n_test, SIZES)
    tables["genres"] = genre_rows(systems, genre)
    tables["prediction"] = prediction_rows(systems, genre)
    names, sizes = synthetic(
        n_jobs, NAME_MODELS, TRAINED_ON_NAMES, *load_names(), span_statistics
    )
    tables["names_systems"] = [
        {"system": name, "sentences": sizes[name], "F1": f"{score(stats):.4f}"}
        for name, stats in names.items()
    ]
    n_names = len(next(iter(names.values())))
    tables["names"] = sizes_rows(names, n_names, NAME_SIZES, "f1")
    note = versions("numpy", "scipy", "scikit-learn", "sklearn-crfsuite")
    for name, rows in tables.items():
        print_table(rows)
        write_csv(f"significance_{name}.csv", rows, note)
    n_real = int(np.sum(comparison.pvalue_adjusted <= 0.05))
    print(f"{n_real} of {len(comparison.pairs)} pairs survive Holm's rule")
    draw_natural(comparisons)
    draw_synthetic(comparison, tables["sizes"])
    draw_genres(tables["genres"])
    draw_prediction(tables["prediction"])
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
