"""
Which bins?
===========

Three models in three reliability diagrams: a rare class, a shift, and a jump. From left
to right: the automatic bins of this package, ten bins of equal width, and isotonic
regression, which needs no bins (the CORP diagram of Dimitriadis, Gneiting and Jordan,
2021). The grey lines are the true curves, where they are known.

Bins of equal numbers alone would hide the upper range of the rare class in one point.
In bins of equal width, a point may stand for one row. Isotonic regression cannot show a
jump downwards. See :doc:`/guide/choosing`.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import cross_val_predict

from skcalib import ReliabilityDisplay

rng = np.random.default_rng(0)
X, y = make_classification(1000, weights=[0.95], random_state=0)
forest = RandomForestClassifier(random_state=0)
q = cross_val_predict(forest, X, y, method="predict_proba")[:, 1]
cases = [("rare class", y, q, None)]
for name, n, true in (
    ("shift", 1000, lambda q: expit(logit(q) - 0.5)),
    ("jump", 2000, lambda q: q - 0.2 * ((q > 0.6) & (q < 0.7))),
):
    q = rng.beta(3, 1.5, n)
    cases.append((name, (rng.random(n) < true(q)).astype(int), q, true))
fig, axes = plt.subplots(3, 3, figsize=(7.5, 7.5), layout="constrained")
grid = np.linspace(0.001, 0.999, 999)
for (name, y, q, true), row in zip(cases, axes, strict=True):
    ReliabilityDisplay.from_predictions(y, q, counts=False, ax=row[0])
    CalibrationDisplay.from_predictions(y, q, n_bins=10, ax=row[1])
    order = np.argsort(q)
    fitted = IsotonicRegression().fit_transform(q, y)
    row[2].plot([0, 1], [0, 1], ":k")
    row[2].step(q[order], fitted[order], where="mid")
    row[2].set(aspect="equal")
    for ax in row:
        if true is not None:
            ax.plot(grid, true(grid), color="0.7", zorder=0)
        if ax.get_legend() is not None:
            ax.get_legend().remove()
        ax.set(xlabel="", ylabel="", title="")
    row[0].set_ylabel(name)
for ax, title in zip(
    axes[0], ("automatic bins", "equal width", "isotonic"), strict=True
):
    ax.set_title(title)
