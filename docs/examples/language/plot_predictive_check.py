"""
Posterior predictive checks of a coreference model
==================================================

A posterior can be right about every pair of mentions and wrong about a whole document.
A posterior predictive check compares any statistic of samples from the posterior with
its observed value. In this example, the statistic is the number of entities with a
single mention. The documents are generated, so the true model is known.
"""

# %%
# Draw samples from two models. The first model has the scores that generated the
# documents. The scores of the second model are too high for new entities.

import numpy as np

from skcalib.datasets import make_coref_documents
from skcalib.experimental import PredictiveCheckDisplay, posterior_predictive_check
from skcalib.posteriors import AntecedentPosterior


def n_singletons(labels):
    return (np.unique(labels, return_counts=True)[1] == 1).sum()


_, y, scores = make_coref_documents(100, return_scores=True, random_state=0)
right = AntecedentPosterior(scores)
biased = right.tempered(1.0, new_offset=1.0)
checks = {
    name: posterior_predictive_check(
        y, posterior.sample(300, random_state=0), n_singletons
    )
    for name, posterior in {"right": right, "biased": biased}.items()
}

# %%
# The right model
# ---------------
#
# Nearly all observed values are inside their intervals, as expected.

PredictiveCheckDisplay.from_check(checks["right"], name="Singletons")

# %%
# The biased model
# ----------------
#
# The biased model expects about 50% more singletons than there are.

PredictiveCheckDisplay.from_check(checks["biased"], name="Singletons")

# %%
# Print the observed and the expected numbers of singletons, with the p-values.

for name, check in checks.items():
    print(f"{name}: {check.observed.sum():.0f}, expected {check.mean.sum():.0f}")
    print(f"  p = {check.pvalue:.3f}, p of the spread = {check.spread_pvalue:.3f}")
