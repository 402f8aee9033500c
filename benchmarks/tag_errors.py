"""Which tags does the CRF predict with better calibrated probabilities? Figure 4.

    SKCALIB_DATA=... python benchmarks/tag_errors.py [--corpus ark wsj ewt]

Figure 4 of Nguyen and O'Connor (2015) with a test for each tag and each of the 100 most
frequent pairs of tags; the curves of a single tag of the thesis, Figures 4.1 to 4.6;
and its ablation of the CRF's attributes by group. Settings and sizes of training sets
are those that benchmarks/tagging.py chose on the development parts (tagging.csv).
Writes four tables and three figures.

The whole takes about 20 minutes of one core.
"""

import re
import time

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Memory
from sklearn.pipeline import make_pipeline
from tagging import CORPORA, N_PAIRS, chosen_model
from tagging import load as load_parts

from skcalib import (
    CRFTagger,
    ReliabilityDisplay,
    TokenFeatures,
    calibration_error,
    calibration_error_interval,
)
from skcalib.plot import TagErrorDisplay
from skcalib.queries import TagPairQuery, TagQuery
from skcalib.scorers import log_likelihood_scorer

ROLES = {
    "HMM": "HMM, by accuracy",
    "CRF as accurate": "CRF basic as accurate as the HMM",
    "CRF basic": "CRF basic, by accuracy",
    "CRF advanced": "CRF advanced, by accuracy",
}
FIGURE_4 = ("HMM", "CRF as accurate")
CURVES = ("HMM", "CRF basic", "CRF advanced")
FIGURES = {"wsj": "4.1 to 4.3", "ark": "4.4 to 4.6"}  # of the thesis
TESTED = {"ewt": 4}  # every so many-th test sentence
ADJUSTMENTS = ("holm", "bh")
LEVEL, N_RESAMPLES = 0.05, 2000
HIGHEST = 0.14  # error that Figure 4 shows

# Groups of the attributes of TokenFeatures("advanced") beside the word itself.
GROUPS = {
    "lower case": r"lower",
    "context": r"word[+-]\d",
    "shape": r"shape",
    "length": r"length",
    "prefixes": r"prefix\d",
    "suffixes": r"suffix\d",
}
ABLATED = {"ark": 1, "wsj": 2}  # every so many-th training sentence
PENALTIES = (0.03, 0.1, 0.3)


def load(corpus):
    """Return training, development and test part, the last with fewer sentences."""
    *parts, (X, y) = load_parts(corpus)
    step = TESTED.get(corpus, 1)
    return [*parts, (X[::step], y[::step])]


def figure_4(corpus, models):
    """Return the display of the tags and the display of the pairs."""
    X, y = load(corpus)[2]
    return {
        asked: TagErrorDisplay.from_estimators(
            {name: models[name] for name in FIGURE_4},
            X,
            y,
            query=query,
            averages=(5,) if asked == "tags" else (5, N_PAIRS),
            reference="HMM",
            n_resamples=N_RESAMPLES,
            random_state=0,
            max_labels=50 if asked == "tags" else 30,
        )
        for asked, query in (("tags", TagQuery()), ("pairs", TagPairQuery(top=N_PAIRS)))
    }


def p_values(display):
    """Return the comparisons that there are, with their adjusted p-values."""
    (found,) = display.comparison.values()
    by_rule = {}
    for adjust in ADJUSTMENTS:
        display.adjust = adjust
        (listed,) = display.to_dict()["comparison"].values()
        by_rule[adjust] = [None if c is None else c["pvalue_adjusted"] for c in listed]
    display.adjust = ADJUSTMENTS[0]
    return found, by_rule


def rows_of_labels(corpus, asked, display):
    hmm, crf = (display.error[name]["all"] for name in FIGURE_4)
    found, adjusted = p_values(display)
    rows = []
    for k, label in enumerate(display.label):
        if found[k] is None or display.count[k] == 0:
            continue
        row = {
            "corpus": corpus,
            "asked": asked,
            "label": " ".join(label) if asked == "pairs" else label,
            "count": int(display.count[k]),
        }
        for name, error in (("HMM", hmm[k]), ("CRF", crf[k])):
            row |= _study.interval_cells(error, f"{name} ")
        row |= {
            "difference": f"{found[k].difference:+.4f}",
            "difference low": f"{found[k].low:+.4f}",
            "difference high": f"{found[k].high:+.4f}",
            "p": f"{found[k].pvalue:.5f}",
            "p, Holm": f"{adjusted['holm'][k]:.5f}",
            "p, BH": f"{adjusted['bh'][k]:.5f}",
            "Brier difference": f"{found[k].brier_difference:+.5f}",
            "Brier p": f"{found[k].brier_pvalue:.2g}",
        }
        rows.append(row)
    return rows


def summary(corpus, asked, rows):
    """Return how often each model is better, and how often significantly so."""
    sign = np.sign([float(row["difference"]) for row in rows])
    cells = {
        "corpus": corpus,
        "asked": asked,
        "labels": len(rows),
        "CRF better": int((sign < 0).sum()),
        "HMM better": int((sign > 0).sum()),
    }
    for title, column in (
        ("unadjusted", "p"),
        ("Holm", "p, Holm"),
        ("BH", "p, BH"),
        ("Brier, unadjusted", "Brier p"),
    ):
        found = np.array([float(row[column]) for row in rows]) < LEVEL
        if column == "Brier p":
            sign = np.sign([float(row["Brier difference"]) for row in rows])
        cells[f"CRF significantly better, {title}"] = int((found & (sign < 0)).sum())
        cells[f"HMM significantly better, {title}"] = int((found & (sign > 0)).sum())
    return cells


def draw_figure_4(displays, asked):
    figure, axes = plt.subplots(
        len(displays), 1, figsize=(13, 4 * len(displays)), layout="constrained"
    )
    for ax, (corpus, both) in zip(np.atleast_1d(axes), displays.items(), strict=True):
        both[asked].plot(ax, max_labels=50 if asked == "tags" else 30)
        ax.set_title(CORPORA[corpus].title)
        ax.legend(loc="upper right", fontsize="small")
        # a few intervals of rare labels are much longer
        ax.set_ylim(top=HIGHEST)
    _study.save(
        figure, {"tags": "tag_errors.png", "pairs": "tag_pair_errors.png"}[asked]
    )


# The curves of a single tag


def single_tag(corpus, models):
    """Return a row for each model, and the answers that are drawn."""
    settings = CORPORA[corpus]
    X, y = load(corpus)[2]
    rows, drawn = [], {}
    for name in CURVES:
        answers = TagQuery(settings.tag)(models[name], X, y)
        pairs = answers.y_true, answers.y_proba
        plug_in = calibration_error(*pairs, bin_size=settings.bin_size)
        found = calibration_error_interval(*pairs, groups=answers.groups)
        rows.append(
            {
                "corpus": corpus,
                "figures": FIGURES[corpus],
                "tag": settings.tag,
                "model": name,
                "accuracy": f"{models[name].score(X, y):.4f}",
                "frequency": f"{answers.y_true.mean():.4f}",
                "mean probability": f"{answers.y_proba.mean():.4f}",
                "plug-in": f"{plug_in:.4f}",
                "squared": f"{plug_in**2:.6f}",
                **_study.interval_cells(found),
            }
        )
        drawn[name] = answers
    return rows, drawn


def draw_curves(answers):
    figure, axes = plt.subplots(
        len(answers), len(CURVES), figsize=(12, 5 * len(answers)), layout="constrained"
    )
    for row, (corpus, drawn) in zip(np.atleast_2d(axes), answers.items(), strict=True):
        settings = CORPORA[corpus]
        for ax, (name, each) in zip(row, drawn.items(), strict=True):
            ReliabilityDisplay.from_predictions(
                each.y_true,
                each.y_proba,
                groups=each.groups,
                bin_size=settings.bin_size,
                name=name,
                ax=ax,
            )
            ax.set_title(f"{settings.title}: is it {settings.tag}?")
    _study.save(figure, "single_tag.png")


# The ablation


class SomeGroups:
    """Template of the word and of some groups of the advanced attributes."""

    def __init__(self, groups):
        self.groups = tuple(groups)
        self._pattern = re.compile("|".join(["word", *(GROUPS[g] for g in groups)]))
        self._last = None, None

    def __call__(self, sentence, t):
        if self._last[0] is not sentence:
            (rows,) = TokenFeatures("advanced").transform([sentence])
            self._last = sentence, rows
        row = self._last[1][t]
        return {key: row[key] for key in row if self._pattern.fullmatch(key)}


def templates():
    return {
        "the word alone": (),
        **{f"with {group}": (group,) for group in GROUPS},
        "all groups": tuple(GROUPS),
        **{
            f"without {group}": tuple(g for g in GROUPS if g != group)
            for group in GROUPS
        },
    }


def ablated(corpus, groups):
    """Return the CRF whose c2 makes the development part most likely, and its c2."""
    (X, y), dev, _ = load(corpus)
    step = ABLATED[corpus]
    # transformed once for all strengths
    features = TokenFeatures(SomeGroups(groups))
    rows, dev_rows = features.transform(X[::step]), features.transform(dev[0])
    models = [
        CRFTagger(c2=c2, max_iterations=60).fit(rows, y[::step]) for c2 in PENALTIES
    ]
    scores = [log_likelihood_scorer(model, dev_rows, dev[1]) for model in models]
    best = int(np.argmax(scores))
    return models[best], PENALTIES[best], len(rows)


def ablation_row(corpus, name, groups, fit):
    settings = CORPORA[corpus]
    crf, c2, n = fit(corpus, groups)
    model = make_pipeline(TokenFeatures(SomeGroups(groups)), crf)
    X, y = load(corpus)[2]
    one, every, top = (
        query(model, X, y)
        for query in (TagQuery(settings.tag), TagQuery(), TagQuery("top"))
    )
    found = {
        title: calibration_error_interval(a.y_true, a.y_proba, groups=a.groups)
        for title, a in (("all tags", every), ("one tag", one))
    }
    bin_size = settings.bin_size
    row = {
        "corpus": corpus,
        "attributes": name,
        "sentences": n,
        "c2": f"{c2:g}",
        "accuracy": f"{top.y_true.mean():.4f}",
        "surplus": f"{top.y_proba.mean() - top.y_true.mean():+.4f}",
        "log likelihood": f"{log_likelihood_scorer(model, X, y):.3f}",
        "tag": settings.tag,
        "squared, one tag": (
            f"{calibration_error(one.y_true, one.y_proba, bin_size=bin_size) ** 2:.6f}"
        ),
        "sharpness, one tag": f"{one.y_proba.var():.4f}",
    }
    for title, each in found.items():
        row |= _study.interval_cells(each, f"{title}: ")
    return row


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--cache", help="folder to keep models and tests in")
    options = parser.parse_args()
    memory = Memory(options.cache, verbose=0)
    fit, fit_ablated = memory.cache(chosen_model), memory.cache(ablated)
    test = memory.cache(figure_4, ignore=["models"])
    start = time.perf_counter()
    labels, counts, curves, parts = [], [], [], []
    displays, drawn = {}, {}
    for corpus in options.corpus:
        roles = ROLES if corpus in FIGURES else FIGURE_4
        models = {name: fit(corpus, ROLES[name]) for name in roles}
        displays[corpus] = test(corpus, models)
        for asked, display in displays[corpus].items():
            rows = rows_of_labels(corpus, asked, display)
            labels += rows
            counts.append(summary(corpus, asked, rows))
        if corpus in FIGURES:
            rows, drawn[corpus] = single_tag(corpus, models)
            curves += rows
        print(f"{corpus}: {time.perf_counter() - start:.0f} s in all", flush=True)
    for corpus in ABLATED:
        parts += [
            ablation_row(corpus, name, groups, fit_ablated)
            for name, groups in templates().items()
        ]
        print(f"ablation: {time.perf_counter() - start:.0f} s in all", flush=True)
    tables = {
        "tag_errors.csv": labels,
        "tag_errors_summary.csv": counts,
        "single_tag.csv": curves,
        "tag_ablation.csv": parts,
    }
    for name, rows in tables.items():
        if rows and name != "tag_errors.csv":
            print_table(rows)
    note = (
        "groups = sentence; 'difference' is CRF - HMM, of the debiased errors; "
        f"{N_RESAMPLES} resamples for Brier scores; "
        + versions("numpy", "scipy", "scikit-learn", "sklearn-crfsuite")
    )
    for name, rows in tables.items():
        write_csv(name, rows, note)
    draw_figure_4(displays, "tags")
    draw_figure_4(displays, "pairs")
    draw_curves(drawn)


if __name__ == "__main__":
    main()
