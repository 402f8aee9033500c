"""
Reliability by group
====================

A model may be calibrated over all cases, but not for each group. If it is overconfident
on some texts and underconfident on others, the errors cancel in a pooled curve.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# The logits of the probabilities are multiplied by 0.6 on letters and by 1.6 on tweets.
# The probabilities of news are not changed.

import numpy as np
from scipy.special import expit, logit

from skcalib import ReliabilityDisplay
from skcalib.datasets import make_calibrated_pairs

y_true, right = make_calibrated_pairs(6000, a=1, b=1, random_state=0)
genre = np.random.default_rng(0).choice(["letters", "news", "tweets"], y_true.size)
factor = np.select([genre == "letters", genre == "tweets"], [0.6, 1.6], 1.0)
y_proba = expit(factor * logit(right))

# %%
# Over all genres the probabilities look nearly calibrated. The shaded band contains 95%
# of the frequencies in each bin if every probability is right.

ReliabilityDisplay.from_predictions(y_true, y_proba, consistency_band=True)

# %%
# Within the genres, the probabilities are miscalibrated. On tweets, the model is
# overconfident: the curve is above the diagonal on the left and below it on the right.
# On letters, the model is underconfident.

ReliabilityDisplay.from_predictions(y_true, y_proba, by=genre)

# %%
# A panel for each tag
# --------------------
#
# The answers of a tagger or classifier can be divided by label. The title of the figure
# states how many labels are not shown.

from skcalib import HMMTagger
from skcalib.datasets import make_tagged_sentences

X, y = make_tagged_sentences(900, random_state=0)
tagger = HMMTagger(pseudocount=0.1).fit(X[:400], y[:400])
display = ReliabilityDisplay.from_estimator(
    tagger, X[400:], y[400:], by="label", max_panels=6
)

# %%
# The following table contains the numbers of all groups.

display.frame()[["group", "prob_pred", "prob_true", "band_low", "band_high"]].head()
