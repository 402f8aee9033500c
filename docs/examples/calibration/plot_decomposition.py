"""
What a score is made of
=======================

A proper score such as the Brier score or the log score rewards two things at once: to
know which cases are which, and to be honest about how sure one is. Isotonic regression
takes them apart (Dimitriadis, Gneiting and Jordan, 2021): the score is calibration,
less discrimination, plus the uncertainty of the labels. Two models of the same score
may be in need of very different care.
"""

# %%
# Seven classifiers of the same generated data, asked about 4,000 new cases.

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
# And each again, its probabilities mapped by a logistic curve that is fitted out of
# fold. The map is increasing, so the order of the cases stays as it is.

mapped = {
    name: ask(CalibratedClassifierCV(model, method="sigmoid", cv=5, ensemble=False))
    for name, model in models.items()
}

# %%
# The parts of the Brier score.

import pandas as pd

from skcalib.metrics import score_decomposition


def take_apart(proba, score):
    """Return a table with a row for each model."""
    rows = [
        score_decomposition(y_test, q, score=score, method="isotonic").to_dict()
        for q in proba.values()
    ]
    return pd.DataFrame(rows, index=list(proba))


before, after = take_apart(proba, "brier"), take_apart(mapped, "brier")
before[["score", "calibration", "discrimination", "uncertainty"]].round(4)

# %%
# Upwards a model knows more, to the left it says so more honestly, and along a grey
# line both are worth the same. Boosting knows as much as the forest, and the tree as
# much as logistic regression, but both are far too sure. The map moves models to the
# left (open points; only logistic regression has nothing to gain) and neither up nor
# down: discrimination is what no increasing map can change.

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
ax.plot("calibration", "discrimination", data=after, c="white", label="mapped", **style)
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
    xlabel="calibration: lost by not being honest (0 is best)",
    ylabel="discrimination: known beyond the base rate",
)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The same score as a sum of what is lost: refinement, which only better evidence can
# lower, and calibration. The log score takes certainty at its word: the tree and the
# five neighbours give probabilities of 0 and 1, are wrong about some of them, and pay
# 36 for each (minus the log of machine epsilon, where it is cut off).

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
# Isotonic regression follows the noise of the labels a little, so that calibration and
# discrimination are somewhat too large on small samples; the interval of
# :func:`~skcalib.metrics.calibration_error_interval` allows for it.
