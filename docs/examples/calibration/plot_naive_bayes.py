"""
Naive Bayes against logistic regression
=======================================

Naive Bayes takes its features as independent given the class. Where they are not, it
counts the same evidence several times and is too sure of itself. Logistic regression
has the same form and no such assumption (section 4.1 of Nguyen and O'Connor, 2015).
Here both meet pictures of handwritten digits, whose pixels are far from independent.
"""

# %%
# Out of fold, so that no model is asked about what it has seen.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(return_X_y=True)
models = {
    "naive Bayes": GaussianNB(),
    "logistic regression": make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
}
proba = {
    name: cross_val_predict(model, X, y, cv=10, method="predict_proba")
    for name, model in models.items()
}

# %%
# Every class against the rest, 17,970 pairs of a question and its probability. The ten
# pairs of one digit are dependent; the interval in the legend knows.

from skcalib import ReliabilityDisplay

display = ReliabilityDisplay.from_predictions(y, proba)

# %%
# What does it mean for the answers that the models would give? Asked whether its most
# probable class is right, naive Bayes says more than 99% in nine cases of ten, and is
# right in eight.

display = ReliabilityDisplay.from_predictions(y, proba, multi_class="top_label")

# %%
# The numbers behind a figure are one call away.

display.frame().round(3)
