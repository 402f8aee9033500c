"""
The error at every bin size
===========================

One calibration error says little without its bin size. Seen at all of them, beside the
debiased error, noise and miscalibration part ways (Figures 4.7 to 4.11 of Nguyen's
thesis).
"""

# %%
# Three models on the same 50,000 cases: one calibrated, one whose probabilities are not
# extreme enough, one whose are too extreme. As the data are generated, the frequency
# behind each probability is known, and with it the true error.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from skcalib.datasets import make_calibrated_pairs
from skcalib.plot import BinSizeDisplay

y_true, frequency = make_calibrated_pairs(50_000, random_state=0)
odds = logit(frequency.clip(1e-12, 1 - 1e-12))
models = {"calibrated": frequency, "shy": expit(odds / 2), "bold": expit(1.5 * odds)}
true_error = {
    name: np.sqrt(np.mean((q - frequency) ** 2)) for name, q in models.items()
}

# %%
# The plain error (full lines) of narrow bins is noise in all three. It falls as bins
# widen, to the true error (dotted), and beyond: in very wide bins errors of both signs
# cancel. The debiased error (dashed) is near the true one from the narrowest bins on.

display = BinSizeDisplay.from_predictions(y_true, models, true_error=true_error)
display.ax_.set_title("Bins of 2 to 32,768 pairs")

# %%
# Where few bins are left, it matters where they are cut. The error changes its sign in
# the middle, and is averaged away in a bin across it. Bins of more than 16,667 cases
# are two; as the cut between them moves to the middle, the error comes to light again.

BinSizeDisplay.from_predictions(
    y_true,
    models["shy"],
    bin_sizes=np.arange(500, 25_001, 500),
    true_error=true_error["shy"],
    xscale="linear",
)

# %%
# With bins of the root of the sample size the plain error of the calibrated model goes
# to zero, slowly, as the sample grows; that of the others does not. The bands are one
# standard deviation of the subsamples.

few = {name: models[name] for name in ("calibrated", "shy")}
BinSizeDisplay.from_subsamples(
    y_true,
    few,
    sample_sizes=[250, 500, 1000, 2000, 4000, 8000, 16_000],
    bin_size="sqrt",
    true_error={name: true_error[name] for name in few},
    random_state=0,
)
plt.show()
