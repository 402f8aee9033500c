"""
Naive Bayes and logistic regression
===================================

Naive Bayes assumes that the features are independent given the class. If they are not,
the same evidence is counted several times, and the model is overconfident. Logistic
regression has the same form without this assumption (section 4.1 of Nguyen and
O'Connor, 2015). This example compares both on images of handwritten digits, whose
pixels are highly dependent.
"""

# %%
# The probabilities are computed by cross-validation, so that each case is predicted by
# a model that was not trained on it.

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
# The one-vs-rest problems of all classes give 17,970 pairs. The ten pairs of one digit
# depend on each other, and the interval of the error accounts for this.

from skcalib import ReliabilityDisplay

display = ReliabilityDisplay.from_predictions(y, proba)

# %%
# The next figure considers only the most probable class. In nine of ten cases, naive
# Bayes gives it a probability of more than 99%, but only eight of ten predictions are
# right.

display = ReliabilityDisplay.from_predictions(y, proba, multi_class="top_label")

# %%
# ``frame`` returns the numbers of the figure.

display.frame().round(3)
