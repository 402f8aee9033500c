"""
Equal-width against adaptive bins
=================================

The probabilities of one tag crowd near 0 and 1. Bins of equal width leave a few cases
to each bin in the middle, where their bars are wide, and put nearly everything into the
first and the last; bins of equal size follow the data (Figure 1 of Nguyen and O'Connor,
2015).
"""

# %%
# Calibrated predictions, skewed like those of a tag.

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
# The error in the legend is the same in all three: its bins are its own, since an error
# that depends on how a picture is drawn would be no property of the model.
