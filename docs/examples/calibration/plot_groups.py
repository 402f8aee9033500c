"""
A panel for each group
======================

A model can be right on the whole and wrong in its parts: where it is overconfident on
some texts and underconfident on others, the two cancel in a pooled curve.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# Probabilities whose logits are half too small on letters and half too large on tweets,
# with news in between.

import numpy as np
from scipy.special import expit, logit

from skcalib import ReliabilityDisplay
from skcalib.datasets import make_calibrated_pairs
from skcalib.plot import ReliabilityPanelsDisplay

y_true, right = make_calibrated_pairs(6000, a=1, b=1, random_state=0)
genre = np.random.default_rng(0).choice(["letters", "news", "tweets"], y_true.size)
factor = np.select([genre == "letters", genre == "tweets"], [0.6, 1.6], 1.0)
y_proba = expit(factor * logit(right))

# %%
# All together they look nearly calibrated. The shaded band is where 95% of the
# frequencies fall if every probability is right, bin by bin.

ReliabilityDisplay.from_predictions(y_true, y_proba, consistency_band=True)

# %%
# By genre they do not. Below the diagonal at the right and above it at the left a model
# is overconfident, as on tweets; the other way round it is too careful.

ReliabilityPanelsDisplay.from_predictions(y_true, y_proba, by=genre)

# %%
# A panel for each tag
# --------------------
#
# The answers of a tagger or classifier can be divided by what was asked. What there is
# no room for is counted in the title.

from skcalib import HMMTagger
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(900, random_state=0)
tagger = HMMTagger(pseudocount=0.1).fit(X[:400], y[:400])
display = ReliabilityPanelsDisplay.from_estimator(
    tagger, X[400:], y[400:], max_panels=6
)

# %%
# The numbers behind the panels, of all groups:

display.frame()[["group", "prob_pred", "prob_true", "band_low", "band_high"]].head()
