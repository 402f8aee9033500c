"""``skcalib demo``: comparison of classifiers on data sets of scikit-learn."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..metrics import CalibrationErrorInterval, calibration_error_interval
from ..plot import ReliabilityDisplay, _style
from ..rates import accuracy_interval
from ..rates._accuracy import AccuracyInterval
from ..recalibration._decisions import ENOUGH_FOR_ISOTONIC
from ._blocks import ONE_LOOK, Steps, Table, as_text, ends, error_ends, p_text
from ._figures import save_figure
from ._report_texts import FEW
from ._shared import check_files

FIGURE = Path("skcalib-demo", "reliability.png")
N_FOLDS = 10

# p-values below this show a miscalibration of a model.
SIGNIFICANT = 0.05

_INTRODUCTION = (
    f"Out-of-fold probabilities ({N_FOLDS} folds) on two data sets of scikit-learn.\n"
    "The calibration error is the root mean square distance between a probability and\n"
    "how often it comes true, with a 95% interval; p tests perfect calibration.\n"
)


class Predictions(NamedTuple):
    """Probabilities of models on held-out data."""

    title: str
    y: np.ndarray
    proba: dict[str, np.ndarray]
    classes: np.ndarray


class MeasuredModel(NamedTuple):
    """A model with its numbers on `n` rows, `n_rarest` of which have one class."""

    name: str
    n: int
    n_rarest: int
    accuracy: AccuracyInterval
    error: CalibrationErrorInterval
    confidence: float
    f1: float

    def cells(self) -> dict[str, str]:
        """Return the row of the table by column."""
        model, _, data = self.name.partition(" on ")
        direction = "not shown to be off"
        if self.error.pvalue < SIGNIFICANT:
            # Miscalibration can be in both directions and cancel in the mean.
            direction = "right on average"
            # The mean probability has no sampling error here, so that the interval of
            # the accuracy decides.
            if not self.accuracy.low <= self.confidence <= self.accuracy.high:
                over = self.confidence > self.accuracy.estimate
                direction = "overconfident" if over else "underconfident"
        return {
            "data": data,
            "model": model,
            "accuracy": f"{self.accuracy.estimate:.3f}",
            "F1": f"{self.f1:.3f}",
            "calibration error": f"{self.error.estimate:.3f} "
            f"[{self.error.low:.3f}, {self.error.high:.3f}]",
            "p": p_text(self.error.pvalue),
            "confidence": f"{self.confidence:.3f}",
            "confidence is": direction,
        }


def run_demo(options: Namespace) -> None:
    """Print the table of the demo and draw its figure into a folder."""
    FIGURE.parent.mkdir(exist_ok=True)
    check_files([], [("the figure", FIGURE)])
    print(_INTRODUCTION)
    # Ten fits per model take a few seconds, after the introduction is on the screen.
    found = list(_of_classifiers())
    # The figure needs neither a screen nor pyplot's state.
    figure = _style.new_figure(_style.PAGE, 4.2, _style.empty_figure())
    panels = _style.panel_axes(figure, range(len(found)), len(found))
    for ax, each in zip(panels.values(), found, strict=True):
        ReliabilityDisplay.from_predictions(
            each.y, each.proba, labels=each.classes, ax=ax
        )
        ax.set_title(f"{each.title}, {len(each.classes)} classes")
    models = [_measured(each, name) for each in found for name in each.proba]
    cells = [model.cells() for model in models]
    rows = [list(row.values()) for row in cells]
    # A terminal has no place for the F1.
    print(as_text([Table(list(cells[0]), rows, spare=(3,), is_left=True)]))
    save_figure(figure, FIGURE)
    print(
        "\nNaive Bayes assumes independent features, so it counts the same evidence "
        "several\ntimes and is overconfident."
    )
    print(as_text([Steps(demo_steps(models))]))
    print("\n'skcalib report FILE' measures predictions of your own.")
    print(f"Figure: {FIGURE}")


def _of_classifiers() -> Iterator[Predictions]:
    """Yield out-of-fold probabilities of classifiers on data sets of scikit-learn."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    # Naive Bayes is known for probabilities near 0 and 1 (Zadrozny and Elkan, 2001).
    classifiers = {"naive Bayes": GaussianNB(), "logistic regression": logistic}
    data = {"breast cancer": load_breast_cancer, "digits": load_digits}
    for title, load in data.items():
        X, y = load(return_X_y=True)
        proba = {
            # Probabilities of rows that a model was fitted to would look overconfident
            # or perfect.
            name: cross_val_predict(model, X, y, cv=N_FOLDS, method="predict_proba")
            for name, model in classifiers.items()
        }
        yield Predictions(title, y, proba, np.unique(y))


def _measured(data: Predictions, name: str) -> MeasuredModel:
    proba = data.proba[name]
    predicted = data.classes[proba.argmax(axis=1)]
    return MeasuredModel(
        f"{name} on {data.title}",
        data.y.size,
        int(np.unique(data.y, return_counts=True)[1].min()),
        accuracy_interval(predicted == data.y),
        calibration_error_interval(data.y, proba, labels=data.classes),
        float(proba.max(axis=1).mean()),
        float(f1_score(data.y, predicted, average="macro")),
    )


def demo_steps(models: list[MeasuredModel]) -> list[str]:
    """Return what to do now about several models, one sentence or two each."""
    off = [each for each in models if each.error.pvalue < SIGNIFICANT]
    names: dict[str, list[str]] = {}
    for each in off:
        # Models with the same advice share a sentence.
        names.setdefault(_how_to_recalibrate(each), []).append(each.name)
    steps = [f"Recalibrate {'; '.join(some)}: {how}" for how, some in names.items()]
    steps += [
        f"Leave {each.name} as it is: no miscalibration is shown. An error of up to "
        f"{each.error.high:.3f} is compatible with the data."
        for each in models
        if each not in off
    ]
    # One number for all models: it suffices for the others.
    widest = max(models, key=lambda each: each.error.high - each.error.low)
    steps.append(
        "To halve the width of an interval, collect four times the data: for "
        f"{widest.name}, whose calibration error has the widest interval, about "
        f"{3 * widest.n:,} more rows. {ONE_LOOK}"
    )
    # An example of a sentence, not a choice of a model by its error.
    best = min(models, key=lambda each: each.error.estimate)
    accuracy, error = best.accuracy, best.error
    steps.append(
        f"Quote, for example: {best.name}, accuracy {accuracy.estimate:.3f} (95% "
        f"interval {ends(accuracy, '.3f')}); calibration error {error.estimate:.3f} "
        f"(95% interval {error_ends(error)}, debiased root mean square); {best.n:,} "
        "rows that the model was not fitted to."
    )
    return steps


def _how_to_recalibrate(model: MeasuredModel) -> str:
    method, few = "isotonic", ""
    if model.n_rarest < ENOUGH_FOR_ISOTONIC:
        method, few = "sigmoid", f"; {FEW}"
    return (
        f"use sklearn.calibration.CalibratedClassifierCV(model, method={method!r})"
        f"{few}. Measure the result on rows that it was not fitted to."
    )
