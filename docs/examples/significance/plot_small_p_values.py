"""
P-values with and without resampling
====================================

A Monte Carlo p-value from b resamples is never below 1 / (b + 1), whatever the gain. If
the metric is a ratio of sums, no resampling is needed.
"""

# %%
# Two taggers are compared on the same 400 sentences in 25 comparisons. The gain of the
# first tagger increases from one comparison to the next. The p-value of the difference
# in token accuracy is computed by two methods.

import matplotlib.pyplot as plt
import numpy as np

from skcalib.significance import paired_bootstrap_test

rng = np.random.default_rng(0)
length = rng.integers(5, 30, 400)
hard = rng.normal(size=400)
methods = {
    "saddlepoint": {},
    "monte_carlo": {"n_resamples": 2000},
}
gains, pvalues = [], {method: [] for method in methods}
for lead in np.linspace(0.0, 0.5, 25):
    a, b = (
        np.column_stack([rng.binomial(length, 1 / (1 + np.exp(hard - s))), length])
        for s in (2 + lead, 2)
    )
    for method, settings in methods.items():
        result = paired_bootstrap_test(
            a, b, statistic="ratio", method=method, random_state=0, **settings
        )
        pvalues[method].append(result.pvalue)
    gains.append(result.statistic)

# %%
# Both methods agree if p is large. For p below 1 / 2,000, no resample is extreme, and
# the Monte Carlo p-value stays at its lower bound.

fig, ax = plt.subplots(layout="constrained")
gains = 100 * np.array(gains)
order = np.argsort(gains)
ax.plot(gains[order], np.array(pvalues["saddlepoint"])[order], label="saddlepoint")
ax.plot(gains, pvalues["monte_carlo"], "s", mfc="none", label="2,000 resamples")
ax.axhline(1 / 2001, color="0.6", ls=":", label="1 / 2,001")
ax.set(yscale="log", xlabel="gain, points of token accuracy", ylabel="p-value")
ax.legend()
plt.show()
