"""
Decomposing scores of several models
====================================

A proper score such as the Brier score or the log score rewards both discrimination and
calibration. Isotonic regression separates the two (Dimitriadis, Gneiting and Jordan,
2021): the score is the calibration minus the discrimination plus the uncertainty of the
labels. Two models with the same score may have very different components.
"""

# %%
# Seven classifiers are trained on the same generated data and predict 4,000 new cases.

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

X, y = make_classification(
    6000,
    n_informative=6,
    n_redundant=10,
    n_clusters_per_class=3,
    flip_y=0.1,
    random_state=3,
)
X, X_test, y, y_test = train_test_split(X, y, test_size=4000, random_state=0)
models = {
    "random forest": RandomForestClassifier(random_state=0),
    "5 neighbours": KNeighborsClassifier(5),
    "50 neighbours": KNeighborsClassifier(50),
    "boosting": HistGradientBoostingClassifier(max_iter=400, random_state=0),
    "logistic regression": LogisticRegression(max_iter=1000),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "naive Bayes": GaussianNB(),
}


def ask(model):
    """Return the probability of the second class for the new cases."""
    return model.fit(X, y).predict_proba(X_test)[:, 1]


proba = {name: ask(model) for name, model in models.items()}

# %%
# The probabilities of each classifier are also recalibrated by a logistic curve, which
# is fitted by cross-validation. The curve is increasing, so the order of the cases does
# not change.

mapped = {
    name: ask(CalibratedClassifierCV(model, method="sigmoid", cv=5, ensemble=False))
    for name, model in models.items()
}

# %%
# The following table shows the components of the Brier score.

import pandas as pd

from skcalib.metrics import score_decomposition


def take_apart(proba, score):
    """Return a table of the components with one row per model."""
    rows = [
        score_decomposition(y_test, q, score=score, method="isotonic").to_dict()
        for q in proba.values()
    ]
    return pd.DataFrame(rows, index=list(proba))


before, after = take_apart(proba, "brier"), take_apart(mapped, "brier")
before[["score", "calibration", "discrimination", "uncertainty"]].round(4)

# %%
# Models with better discrimination are higher in the figure, and models with better
# calibration are further to the left. Models on the same grey line have the same score.
# Boosting has the same discrimination as the forest, and the tree has the same
# discrimination as logistic regression, but both are strongly overconfident.
# Recalibration moves the models to the left (open points), except for logistic
# regression, which is calibrated already. It does not move them up or down, because an
# increasing function does not change the discrimination.

import matplotlib.pyplot as plt
import numpy as np

INK, GREY, BLUE, ORANGE = "#222222", "#9a9a9a", "#0072b2", "#e69f00"

fig, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
ax.set(xlim=(0, 0.0275), ylim=(0.081, 0.1465))

uncertainty = before["uncertainty"].iloc[0]
right = ax.get_xlim()[1]
for score in np.arange(0.11, 0.20, 0.01):
    start = uncertainty - score
    ax.plot([0, right], [start, start + right], color="#e3e3e3", lw=1, zorder=0)
    if 0.081 < start + right < 0.145:
        place = (right, start + right)
        ax.text(*place, f" {score:.2f}", color=GREY, va="center", fontsize=9)
ax.text(1.0, 1.005, "Brier\nscore", transform=ax.transAxes, color=GREY, fontsize=9)

ax.hlines(
    before["discrimination"],
    after["calibration"],
    before["calibration"],
    color=BLUE,
    lw=1,
    alpha=0.5,
    zorder=1,
)
style = {"ls": "", "marker": "o", "mec": BLUE}
ax.plot("calibration", "discrimination", data=before, c=BLUE, label="raw", **style)
style |= {"c": "white", "label": "recalibrated"}
ax.plot("calibration", "discrimination", data=after, **style)
for name, row in before.iterrows():
    ax.annotate(
        name,
        (row["calibration"], row["discrimination"]),
        {"random forest": (0, 10), "logistic regression": (0, -11)}.get(name, (9, 0)),
        textcoords="offset points",
        va="center",
    )
ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
ax.set(
    xlabel="calibration loss (0 is best)",
    ylabel="discrimination: improvement over the base rate",
)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The score is also the sum of two losses: calibration and refinement, which can only be
# reduced by better features or models. For the log score, the tree and the five nearest
# neighbours have a large calibration loss. Some of their probabilities of 0 and 1 are
# wrong, and each of these costs 36 (minus the log of machine epsilon, at which the
# probability is clipped).

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for ax, score in zip(axes, ["brier", "log"], strict=True):
    table = take_apart(proba, score)[::-1]
    ax.barh(table.index, table["refinement"], color=BLUE, label="refinement")
    ax.barh(
        table.index,
        table["calibration"],
        left=table["refinement"],
        color=ORANGE,
        label="calibration",
    )
    ax.axvline(table["uncertainty"].iloc[0], color=INK, lw=1, ls=":")
    ax.set(xlabel={"brier": "Brier score", "log": "log score"}[score])
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
axes[0].text(
    uncertainty - 0.002, -0.35, "base rate", ha="right", va="center", color=INK
)
axes[1].legend(frameon=False, loc="upper right")

# %%
# Isotonic regression fits part of the label noise. On small samples, calibration and
# discrimination are therefore biased upwards. The interval of
# :func:`~skcalib.metrics.calibration_error_interval` accounts for the noise.
