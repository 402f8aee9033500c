"""``skcalib demo``: naive Bayes against logistic regression, on real data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .metrics import calibration_error_interval
from .plot import ReliabilityDisplay
from .plot._figures import blank_axes

__all__ = ["print_table", "run_demo"]

N_FOLDS = 10


def _models() -> dict[str, Any]:
    return {
        "naive Bayes": GaussianNB(),
        "logistic regression": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
    }


def _row(data: str, model: str, y: np.ndarray, proba: np.ndarray) -> tuple[str, ...]:
    """Return the cells of one line of the table."""
    predicted = proba.argmax(axis=1)
    accuracy = accuracy_score(y, predicted)
    confidence = float(proba.max(axis=1).mean())
    result = calibration_error_interval(y, proba)
    # Each sample is right or wrong: the noise of the accuracy decides what is told.
    noise = 1.96 * np.sqrt(accuracy * (1 - accuracy) / y.size)
    direction = "as it should be"
    if abs(confidence - accuracy) > noise:
        direction = "overconfident" if confidence > accuracy else "underconfident"
    return (
        data,
        model,
        f"{accuracy:.3f}",
        f"{f1_score(y, predicted, average='macro'):.3f}",
        f"{result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]",
        f"{result.p_value:.2g}",
        f"{confidence:.3f}",
        direction,
    )


HEADER = (
    "data",
    "model",
    "accuracy",
    "F1",
    "calibration error",
    "p",
    "confidence",
    "confidence is",
)


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Print rows of cells in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        print("  ".join(cell.ljust(width) for cell, width in cells).rstrip())


def run_demo(output: Path) -> None:
    """Print the table and draw the figure into a folder."""
    output.mkdir(parents=True, exist_ok=True)
    data = {"breast cancer": load_breast_cancer, "digits": load_digits}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    print(
        f"Out-of-fold probabilities ({N_FOLDS} folds) on two data sets of scikit-learn."
        "\nThe calibration error is the root mean square distance between a "
        "probability and\nhow often it comes true, with a 95% interval; p tests "
        "perfect calibration.\n"
    )
    rows: list[tuple[str, ...]] = [HEADER]
    panels = blank_axes(len(data))
    for ax, (title, load) in zip(panels, data.items(), strict=True):
        X, y = load(return_X_y=True)
        proba = {
            name: cross_val_predict(model, X, y, cv=folds, method="predict_proba")
            for name, model in _models().items()
        }
        rows += [_row(title, name, y, found) for name, found in proba.items()]
        ReliabilityDisplay.from_predictions(y, proba, ax=ax)
        ax.set_title(f"{title}, {len(np.unique(y))} classes")
    print_table(rows)
    path = output / "reliability.png"
    panels[0].figure.savefig(path, dpi=120, bbox_inches="tight")
    print(
        "\nNaive Bayes takes features as independent, so it counts the same evidence "
        "several\ntimes and is too sure of itself.\n"
        f"Figure: {path}"
    )
