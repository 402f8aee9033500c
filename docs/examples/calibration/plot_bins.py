"""
Equal-width bins and adaptive bins
==================================

Most probabilities of a single tag are close to 0 or 1. If bins have equal width, the
first and the last bin contain nearly all cases, and the bins in the middle contain few
cases and have wide intervals. Bins of equal size adapt to the data (Figure 1 of Nguyen
and O'Connor, 2015).
"""

# %%
# Generate calibrated predictions that are as skewed as the probabilities of a tag.

import matplotlib.pyplot as plt

from skcalib import ReliabilityDisplay
from skcalib.datasets import make_calibrated_pairs

y_true, y_proba = make_calibrated_pairs(20_000, a=0.1, b=0.4, random_state=0)

fig, axes = plt.subplots(1, 3, figsize=(11, 5), layout="constrained")
settings = {
    "equal width 0.02": {"strategy": "uniform", "n_bins": 50},
    "equal width 0.1": {"strategy": "uniform", "n_bins": 10},
    "adaptive, 1,000 each": {"bin_size": 1000},
}
for ax, (title, bins) in zip(axes, settings.items(), strict=True):
    ReliabilityDisplay.from_predictions(y_true, y_proba, ax=ax, **bins)
    ax.set_title(title)

# %%
# The error is the same in all three panels. It is computed with separate
# bins, so that it does not depend on the bins of the figure.
