"""
Calibration error of tags and of pairs of tags
==============================================

A single calibration error for a tagger does not show which tags are miscalibrated.
Figure 4 of Nguyen and O'Connor (2015) shows the calibration error of each tag, and of
each pair of tags of adjacent words, for a hidden Markov model and a conditional random
field. This example repeats the figure with generated sentences and adds intervals.
"""

# %%
# Train a hidden Markov model with a pseudocount of 1, and a CRF with words as features.

from skcalib import CRFTagger, HMMTagger
from skcalib.datasets import make_tagged_sentences
from skcalib.plot import TagErrorDisplay
from skcalib.queries import TagPairQuery

X, y = make_tagged_sentences(700, random_state=0)
train, test = slice(0, 400), slice(400, 700)
taggers = {
    "HMM": HMMTagger(pseudocount=1.0).fit(X[train], y[train]),
    "CRF": CRFTagger(c2=0.03).fit(X[train], y[train]),
}

# %%
# Tags
# ----
#
# The most frequent tag is on the left. On the right are the means over the five most
# frequent tags and over all tags. The CRF is compared with the HMM for each tag, and
# the p-values are adjusted for the number of tags. Hollow points are not significantly
# different.

TagErrorDisplay.from_estimators(
    taggers, X[test], y[test], reference="HMM", random_state=0
)

# %%
# Pairs of tags
# -------------
#
# An example of a query for a pair is "Is this word a determiner and the next word a
# noun?" The probability of a pair is computed from the posterior and is not the product
# of two marginals. The errors of the thirty most frequent pairs are computed, and ten
# of them are drawn.

TagErrorDisplay.from_estimators(
    taggers, X[test], y[test], query=TagPairQuery(top=30), max_labels=10
)

# %%
# Known and unknown words
# -----------------------
#
# A word outside the vocabulary is not informative for an HMM, which then relies on the
# neighbouring words. The filled points are the words of the training data.

display = TagErrorDisplay.from_estimators(
    taggers, X[test], y[test], known=taggers["HMM"].vocabulary_, top=8
)

# %%
# ``frame`` returns the numbers of the figure.

columns = ["name", "words", "label", "n_pairs", "estimate", "low", "high"]
display.frame()[columns].head()
