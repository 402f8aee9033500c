"""
Risk and coverage
=================

If only the most confident answers of a classifier are used, fewer of them are wrong.
The risk-coverage curve shows how much fewer.
"""

# %%
# Both classifiers recognize handwritten digits in cross-validation. Naive Bayes has
# more wrong answers, and half of its probabilities are 1, up to rounding.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from skcalib.plot import RiskCoverageDisplay

X, y = load_digits(return_X_y=True)
models = {
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(C=1e-4, max_iter=1000),
}
results = {
    name: cross_validate(model, X, y, return_estimator=True, return_indices=True)
    for name, model in models.items()
}
display = RiskCoverageDisplay.from_cv_results(results, X, y, precision=0.9)

# %%
# The dashed lines are the thresholds above which at least 90% of new answers are right,
# with 95% confidence. The numbers of a curve are in its ranking:

display.curve[1]
