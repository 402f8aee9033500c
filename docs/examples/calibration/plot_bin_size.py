"""
Calibration error and bin size
==============================

The plain calibration error depends on the bin size. This example plots plain and
debiased errors at many bin sizes, which separates noise from miscalibration (Figures
4.7 to 4.11 of Nguyen's thesis).
"""

# %%
# Three models predict the same 50,000 cases. One is calibrated, one is underconfident,
# and one is overconfident. Since the data are generated, the true frequency for each
# probability and the true error are known.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit

from skcalib.datasets import make_calibrated_pairs
from skcalib.plot import BinSizeDisplay

y_true, frequency = make_calibrated_pairs(50_000, random_state=0)
odds = logit(frequency.clip(1e-12, 1 - 1e-12))
models = {
    "calibrated": frequency,
    "underconfident": expit(odds / 2),
    "overconfident": expit(1.5 * odds),
}
true_error = {
    name: np.sqrt(np.mean((q - frequency) ** 2)) for name, q in models.items()
}

# %%
# For narrow bins, the plain error (solid lines) of all three models is mostly noise. It
# decreases with the bin size to the true error (dotted) and below it, because errors of
# opposite sign cancel in very wide bins. The debiased error (dashed) is close to the
# true error even for the narrowest bins.

display = BinSizeDisplay.from_predictions(y_true, models, true_error=true_error)
display.ax_.set_title("Bins of 2 to 32,768 pairs")

# %%
# With few bins, the positions of the cuts matter. The error changes its sign in the
# middle, and it cancels in a bin that contains the middle. With more than 16,667 cases
# per bin there are two bins. The error increases again as the cut between them moves to
# the middle.

BinSizeDisplay.from_predictions(
    y_true,
    models["underconfident"],
    bin_sizes=np.arange(500, 25_001, 500),
    true_error=true_error["underconfident"],
    xscale="linear",
)

# %%
# If the bin size is the square root of the sample size, the plain error of the
# calibrated model slowly converges to zero as the sample grows. The errors of the other
# models do not. The bands are one standard deviation over the subsamples.

few = {name: models[name] for name in ("calibrated", "underconfident")}
BinSizeDisplay.from_subsamples(
    y_true,
    few,
    sample_sizes=[250, 500, 1000, 2000, 4000, 8000, 16_000],
    bin_size="sqrt",
    true_error={name: true_error[name] for name in few},
    random_state=0,
)
plt.show()
