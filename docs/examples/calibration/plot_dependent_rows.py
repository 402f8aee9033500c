"""
Intervals for dependent rows
============================

The labels of the tokens of one document, or of several answers to one question, are
correlated. An interval that assumes independent rows is too narrow, and the test
rejects perfect calibration too often.
"""

# %%
# The documents have very different lengths. The model is calibrated on average, but its
# probabilities are randomly too high in some documents and too low in others.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from skcalib import calibration_error_interval


def draw_documents(seed, n_documents=150):
    rng = np.random.default_rng(seed)
    lengths = np.ceil(rng.lognormal(1.5, 1, n_documents)).astype(int)
    document = np.repeat(np.arange(n_documents), lengths)
    y_proba = rng.uniform(0.2, 0.9, document.size)
    # over all documents the mean frequency is the probability, to one hundredth
    shift = rng.normal(0, 1.2, n_documents)[document]
    frequency = expit(1.24 * logit(y_proba) + shift)
    return (rng.random(document.size) < frequency).astype(int), y_proba, document


y_true, y_proba, document = draw_documents(16)
alone = calibration_error_interval(y_true, y_proba)
grouped = calibration_error_interval(y_true, y_proba, groups=document)
print(f"rows:      p = {alone.pvalue:.3f}")
print(f"documents: p = {grouped.pvalue:.3f}")
print(
    f"{grouped.n_groups} documents of these lengths tell as much as "
    f"{grouped.n_effective_groups:.0f} of one length"
)

# %%
# Thirty corpora are drawn in the same way. If an interval does not contain 0, perfect
# calibration is rejected. At a confidence level of 95%, this should happen for one or
# two of thirty corpora.

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(8, 4), layout="constrained")
for ax, name in zip(axes, ("rows as independent", "documents as groups"), strict=True):
    for seed in range(30):
        y_true, y_proba, document = draw_documents(seed)
        groups = document if name == "documents as groups" else None
        result = calibration_error_interval(y_true, y_proba, groups=groups)
        color = "C3" if result.low > 0 else "C0"
        ax.vlines(seed, result.low, result.high, color=color)
        ax.plot(seed, result.estimate, "o", color=color, markersize=3)
    ax.set(title=name, xlabel="corpus")
axes[0].set_ylabel("calibration error, 95% interval")
