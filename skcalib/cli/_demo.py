"""``skcalib demo``: comparison of models on available data."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..datasets import fetch_corpus, make_tagged_sentences
from ..metrics import (
    CalibrationErrorInterval,
    calibration_error,
    calibration_error_interval,
)
from ..plot import ReliabilityDisplay, _style
from ..queries import TagQuery
from ..rates import accuracy_interval
from ..rates._accuracy import AccuracyInterval
from ..scorers import log_likelihood_scorer
from ..sequence import CRFTagger, HMMTagger, TokenFeatures
from ._blocks import Steps, as_text, bracketed, ends, p_text, text_columns
from ._report import ENOUGH_FOR_ISOTONIC, error_ends
from ._shared import check_files


def run_demo(options: Namespace) -> None:
    """Print the table of the demo and draw its figure into a folder."""
    if options.data == "classification":
        _compare_classifiers(options.output)
    else:
        _compare_taggers(options.data, options.output)


# p-values below this show a miscalibration of a model.
SIGNIFICANT = 0.05


class MeasuredModel(NamedTuple):
    """A model of the demo with its numbers, and with its row of the table by column.

    `unit` is the plural of what `n` counts.
    """

    name: str
    n: int
    unit: str
    accuracy: AccuracyInterval
    error: CalibrationErrorInterval
    is_tagger: bool = False
    cells: dict[str, str] = {}


def demo_steps(models: list[MeasuredModel]) -> list[str]:
    """Return what to do now about several models, one sentence or two each."""
    off = [each for each in models if each.error.pvalue < SIGNIFICANT]
    names: dict[str, list[str]] = {}
    for each in off:
        # Models with the same advice share a sentence.
        names.setdefault(_how_to_recalibrate_model(each), []).append(each.name)
    steps = [f"Recalibrate {'; '.join(some)}: {how}" for how, some in names.items()]
    steps += [
        f"Leave {each.name} as it is: no miscalibration is shown. An error of up to "
        f"{each.error.high:.3f} is compatible with the data."
        for each in models
        if each not in off
    ]
    widest = max(models, key=lambda each: each.error.high - each.error.low)
    steps.append(
        "To halve the width of an interval, collect four times the data: for "
        f"{widest.name}, whose calibration error has the widest interval, about "
        f"{3 * widest.n:,} more {widest.unit}."
    )
    best = min(models, key=lambda each: each.error.estimate)
    accuracy, error = best.accuracy.to_dict(), best.error.to_dict()
    steps.append(
        f"Quote, for example: {best.name}, accuracy {accuracy['estimate']:.3f} (95% "
        f"interval {ends(accuracy, '.3f')}); calibration error {error['estimate']:.3f} "
        f"(95% interval {error_ends(error)}, debiased root mean square); {best.n:,} "
        f"{best.unit} that the model was not fitted to."
    )
    return steps


def _how_to_recalibrate_model(model: MeasuredModel) -> str:
    if model.is_tagger:
        how = "fit one temperature with skcalib.recalibration.TemperatureScaling"
    elif model.n >= ENOUGH_FOR_ISOTONIC:
        how = "use sklearn.calibration.CalibratedClassifierCV(model, method='isotonic')"
    else:
        how = (
            "use sklearn.calibration.CalibratedClassifierCV(model, method='sigmoid'); "
            "isotonic regression needs about a thousand rows"
        )
    return f"{how}. Measure the result on {model.unit} that it was not fitted to."


# Classifiers, on data sets of scikit-learn.

N_FOLDS = 10


def _measure_classifier(
    data: str, name: str, y: np.ndarray, proba: np.ndarray
) -> MeasuredModel:
    predicted = proba.argmax(axis=1)
    accuracy = accuracy_interval(predicted == y)
    confidence = float(proba.max(axis=1).mean())
    error = calibration_error_interval(y, proba)
    direction = "not shown to be off"
    if error.pvalue < SIGNIFICANT:
        # Miscalibration can be in both directions and cancel in the mean.
        direction = "right on average"
        if not accuracy.low <= confidence <= accuracy.high:
            over = confidence > accuracy.estimate
            direction = "overconfident" if over else "underconfident"
    cells = {
        "data": data,
        "model": name,
        "accuracy": f"{accuracy.estimate:.3f}",
        "F1": f"{f1_score(y, predicted, average='macro'):.3f}",
        "calibration error": _cell(error, ".3f"),
        "p": p_text(error.pvalue),
        "confidence": f"{confidence:.3f}",
        "confidence is": direction,
    }
    return MeasuredModel(
        f"{name} on {data}", y.size, "rows", accuracy, error, cells=cells
    )


def _figure_in(folder: Path, name: str) -> Path:
    """Return the path of the figure in a folder, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    check_files([], [("the figure", folder / name)])
    return folder / name


def _two_panels() -> Any:
    """Return a figure, which needs neither a screen nor pyplot's state."""
    figure = _style.new_figure(_style.PAGE, 4.2, _style.empty_figure())
    _style.panel_axes(figure, range(2), 2)
    return figure


def _compare_classifiers(output: Path) -> None:
    path = _figure_in(output, "reliability.png")
    data = {"breast cancer": load_breast_cancer, "digits": load_digits}
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    classifiers = {"naive Bayes": GaussianNB(), "logistic regression": logistic}
    print(
        f"Out-of-fold probabilities ({N_FOLDS} folds) on two data sets of scikit-learn."
        "\nThe calibration error is the root mean square distance between a "
        "probability and\nhow often it comes true, with a 95% interval; p tests "
        "perfect calibration.\n"
    )
    models: list[MeasuredModel] = []
    figure = _two_panels()
    for ax, (title, load) in zip(figure.axes, data.items(), strict=True):
        X, y = load(return_X_y=True)
        proba = {
            name: cross_val_predict(model, X, y, cv=N_FOLDS, method="predict_proba")
            for name, model in classifiers.items()
        }
        models += [_measure_classifier(title, name, y, q) for name, q in proba.items()]
        ReliabilityDisplay.from_predictions(y, proba, ax=ax)
        ax.set_title(f"{title}, {len(np.unique(y))} classes")
    _print_table(models)
    figure.savefig(path, dpi=200, bbox_inches="tight")
    print(
        "\nNaive Bayes assumes independent features, so it counts the same evidence "
        "several\ntimes and is overconfident."
    )
    _print_steps(models)
    print(f"\n'skcalib report FILE' measures predictions of your own.\nFigure: {path}")


def _cell(error: CalibrationErrorInterval, digits: str) -> str:
    return f"{error.estimate:{digits}} {bracketed(error.to_dict(), digits)}"


def _print_table(models: list[MeasuredModel]) -> None:
    rows: list[Iterable[str]] = [models[0].cells, *(m.cells.values() for m in models)]
    print("\n".join(text_columns(rows, is_left=True)))


def _print_steps(models: list[MeasuredModel]) -> None:
    print(as_text([Steps(demo_steps(models))]))


# Taggers, on tweets or generated sentences.

# Bin size of the single query "is it V?", as in the Twitter experiment of the thesis.
BIN_SIZE = 500
PENALTIES = [3.0, 1.0, 0.3, 0.1, 0.03, 0.01]
PSEUDOCOUNTS = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003]


@dataclass(frozen=True)
class _Corpus:
    """Tagged sentences in three parts, and the tag of the single query."""

    title: str
    train: tuple[list, list]
    dev: tuple[list, list]
    test: tuple[list, list]
    tag: str


def _read_corpus(data: str) -> _Corpus:
    if data == "tagged":  # for machines without network access
        X, y = make_tagged_sentences(1800, random_state=0)
        cuts = (slice(0, 1000), slice(1000, 1300), slice(1300, 1800))
        train, dev, test = ((X[cut], y[cut]) for cut in cuts)
        return _Corpus("generated sentences", train, dev, test, tag="NN")
    # The split of the thesis.
    train, dev, test = (
        fetch_corpus("ark_twitter_pos", subset=subset, return_X_y=True)
        for subset in ("train", "dev", "test")
    )
    return _Corpus("tweets (Gimpel et al. 2011)", train, dev, test, tag="V")


def _taggers() -> dict[str, tuple[Any, dict[str, list[float]]]]:
    """Return the estimators and their candidate settings."""
    return {
        "HMM, pseudocount 1": (HMMTagger(), {}),
        "HMM, tuned": (
            HMMTagger(),
            {"pseudocount": PSEUDOCOUNTS, "emission_pseudocount": PSEUDOCOUNTS},
        ),
        "CRF, basic": (
            make_pipeline(TokenFeatures("basic"), CRFTagger()),
            {"crftagger__c2": PENALTIES},
        ),
        "CRF, advanced": (
            make_pipeline(TokenFeatures("advanced"), CRFTagger()),
            {"crftagger__c2": PENALTIES},
        ),
    }


def _choose(
    model: Any, grid: dict[str, list[float]], corpus: _Corpus
) -> dict[str, Any]:
    """Return the settings with the highest likelihood of the development part."""
    if not grid:
        return {}
    X = [*corpus.train[0], *corpus.dev[0]]
    y = [*corpus.train[1], *corpus.dev[1]]
    # -1 marks rows that are never held out.
    fold = np.repeat([-1, 0], [len(corpus.train[0]), len(corpus.dev[0])])
    search = GridSearchCV(
        model,
        grid,
        scoring=log_likelihood_scorer,
        cv=PredefinedSplit(fold),
        refit=False,
        n_jobs=-1,
    )
    return search.fit(X, y).best_params_


def _tag_probabilities(
    corpus: _Corpus,
) -> dict[str, tuple[Any, dict[str, Any], np.ndarray]]:
    """Return each fitted model, its settings and its probabilities on the test part."""
    found = {}
    for name, (model, grid) in _taggers().items():
        print(f"  {name} ...", flush=True)
        settings = _choose(model, grid, corpus)
        fitted = clone(model).set_params(**settings).fit(*corpus.train)
        found[name] = (fitted, settings, fitted.predict_proba(corpus.test[0]))
    return found


def _measure_tagger(
    name: str, model: Any, settings: dict[str, Any], proba: Any, corpus: _Corpus
) -> MeasuredModel:
    X, y = corpus.test
    tokens, pairs, one = (
        TagQuery(tag).from_proba(y, proba, model.classes_)
        for tag in ("top", None, corpus.tag)
    )
    accuracy = accuracy_interval(tokens.y_true, groups=tokens.groups)
    error = calibration_error_interval(pairs.y_true, pairs.y_proba, groups=pairs.groups)
    square = calibration_error(one.y_true, one.y_proba, bin_size=BIN_SIZE, squared=True)
    shown = [f"{key.split('__')[-1]}={value:g}" for key, value in settings.items()]
    cells = {
        "model": name,
        "settings": ", ".join(shown).replace("emission_pseudocount", "emissions"),
        "accuracy": f"{accuracy.estimate:.3f}",
        "confidence": f"{tokens.y_proba.mean():.3f}",
        "error over all tags": _cell(error, ".4f"),
        "squared error": f"{square:.6f}",
    }
    return MeasuredModel(
        name, len(X), "sentences", accuracy, error, is_tagger=True, cells=cells
    )


def _compare_taggers(data: str, output: Path) -> None:
    path = _figure_in(output, f"{data}.png")
    corpus = _read_corpus(data)
    n_tokens = sum(map(len, corpus.test[0]))
    print(
        f"Part-of-speech tags of {corpus.title}: {len(corpus.train[0])} sentences to "
        f"learn from,\n{len(corpus.dev[0])} to choose settings by their likelihood, "
        f"{len(corpus.test[0])} ({n_tokens} tokens) to test."
    )
    found = _tag_probabilities(corpus)
    models = [_measure_tagger(name, *each, corpus) for name, each in found.items()]
    print()
    _print_table(models)
    print(
        "\naccuracy, confidence: of the best tag of a token; a confidence above the "
        "accuracy\n  is overconfidence\n"
        "error over all tags: root mean square, debiased, over all pairs of a token "
        "and a tag;\n  95% interval, sentences as groups of dependent pairs\n"
        f"squared error: of the query 'is it {corpus.tag}?', bins of {BIN_SIZE}"
    )
    _draw_taggers(found, corpus, path)
    _print_steps(models)
    print(f"\nFigure: {path}")


def _draw_taggers(found: dict[str, Any], corpus: _Corpus, path: Path) -> None:
    figure = _two_panels()
    titles = {None: "all tags", corpus.tag: f"is it {corpus.tag}?"}
    for ax, (tag, title) in zip(figure.axes, titles.items(), strict=True):
        for name, (model, _, proba) in found.items():
            answers = TagQuery(tag).from_proba(corpus.test[1], proba, model.classes_)
            ReliabilityDisplay.from_predictions(
                answers.y_true,
                answers.y_proba,
                groups=answers.groups,
                bin_size="auto" if tag is None else BIN_SIZE,
                name=name,
                ax=ax,
            )
        ax.set_title(title)
    figure.savefig(path, dpi=200, bbox_inches="tight")
