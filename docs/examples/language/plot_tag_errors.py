"""
The error of each tag and of each pair of tags
==============================================

One number for a tagger hides which of its tags can be believed. Figure 4 of Nguyen and
O'Connor (2015) has the calibration error of every tag, and of pairs of tags at two
words in a row, of a hidden Markov model and of a conditional random field. Here it is
on generated sentences, with intervals.
"""

# %%
# A hidden Markov model with a pseudocount of 1 and a CRF on the words alone.

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
# The most frequent tag stands at the left; at the right are the means over the five
# most frequent ones and over all. The CRF is compared with the HMM tag by tag, with
# p-values adjusted for the number of tags. Hollow points are not significantly
# different.

TagErrorDisplay.from_estimators(
    taggers, X[test], y[test], reference="HMM", random_state=0
)

# %%
# Pairs of tags
# -------------
#
# Is this word a determiner and the next one a noun? The probability of a pair is the
# posterior's, not the product of two marginals. The thirty most frequent pairs are
# measured and ten of them drawn.

TagErrorDisplay.from_estimators(
    taggers, X[test], y[test], query=TagPairQuery(top=30), max_labels=10
)

# %%
# Known and unknown words
# -----------------------
#
# A word outside the vocabulary tells an HMM nothing, and its neighbours have to do. The
# filled points are the words that the taggers have seen in training.

display = TagErrorDisplay.from_estimators(
    taggers, X[test], y[test], known=taggers["HMM"].vocabulary_, top=8
)

# %%
# The numbers behind the points:

columns = ["name", "words", "label", "n_pairs", "estimate", "low", "high"]
display.frame()[columns].head()
