"""
For data scientists
===================

Are the probabilities of a scikit-learn classifier calibrated, and what can be done if
they are not? This walk-through computes probabilities by cross-validation, plots a
reliability curve, tests the calibration, chooses a model by its calibration, and
recalibrates a model. The data are generated.
"""

# %%
# Out-of-fold probabilities
# -------------------------
# Calibration must be measured on rows to which the model was not fitted.

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(
    3000, n_features=20, n_informative=5, n_redundant=10, random_state=0
)
models = {"naive Bayes": GaussianNB(), "logistic": LogisticRegression()}
proba = {
    name: cross_val_predict(model, X, y, method="predict_proba")[:, 1]
    for name, model in models.items()
}

# %%
# The reliability curve
# ---------------------
# Naive Bayes counts the same evidence several times and is overconfident.

from skcalib import ReliabilityDisplay, calibration_error_interval

display = ReliabilityDisplay.from_predictions(y, proba)

# %%
# The calibration error
# ---------------------
# Compute the calibration error with its interval, and test perfect calibration.

for name, each in proba.items():
    result = calibration_error_interval(y, each)
    verdict = "rejected" if result.pvalue < 0.05 else "not rejected"
    print(
        f"{name}: {result.estimate:.3f} [{result.low:.3f}, {result.high:.3f}]", verdict
    )

# %%
# If rows depend on each other, such as several rows of one customer, pass ``groups``.
# For a comparison with other reports, compute the expected calibration error (ECE) with
# its usual bins.

from skcalib import calibration_error

ece = calibration_error(
    y, proba["naive Bayes"], n_bins=15, strategy="uniform", norm="l1"
)
print(f"ECE {ece:.3f}")

# %%
# How much can recalibration improve?
# -----------------------------------
# The Brier score is decomposed into calibration, which recalibration can reduce, and
# refinement, which it cannot reduce.

from skcalib.metrics import score_decomposition

parts = score_decomposition(y, proba["naive Bayes"])
print(f"calibration {parts.calibration:.4f}, refinement {parts.refinement:.4f}")

# %%
# Choose a model by calibration
# -----------------------------
# The scorer can be passed to ``GridSearchCV`` and ``cross_validate``. It returns the
# negative error, because scikit-learn maximises scores.

from sklearn.model_selection import GridSearchCV

from skcalib import calibration_error_scorer

search = GridSearchCV(
    GaussianNB(),
    {"var_smoothing": [1e-9, 1e-2, 1e-1, 1.0]},
    scoring={"log": "neg_log_loss", "calibration": calibration_error_scorer},
    refit="log",
).fit(X, y)
results = search.cv_results_
for k, value in enumerate(results["param_var_smoothing"]):
    log, calibration = results["mean_test_log"][k], results["mean_test_calibration"][k]
    print(f"{value:g}: log {log:.3f}, calibration {calibration:.3f}")

# %%
# Recalibrate
# -----------
# Use isotonic regression if the rarer label occurs in about 300 rows or more. If it
# occurs less often, use ``method="sigmoid"`` or a temperature. The recalibrated
# probabilities are computed by cross-validation, too.

from sklearn.calibration import CalibratedClassifierCV

isotonic = CalibratedClassifierCV(GaussianNB(), method="isotonic")
proba["recalibrated"] = cross_val_predict(isotonic, X, y, method="predict_proba")[:, 1]
display = ReliabilityDisplay.from_predictions(
    y, {name: proba[name] for name in ("naive Bayes", "recalibrated")}
)

# %%
# Both models predict the same rows, so a paired test shows whether the difference of
# their errors is significant.

from skcalib.scorers import compare_calibration

result = compare_calibration(
    y, proba["naive Bayes"], proba["recalibrated"], random_state=0
)
low, high = result.confidence_interval
print(f"difference {result.difference:.3f} [{low:.3f}, {high:.3f}]")
print(f"p = {result.pvalue:.2g}")
